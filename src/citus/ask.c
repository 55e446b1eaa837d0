/*-------------------------------------------------------------------------
 *
 * citus/ask.c
 *		Runs a command on nodes of Citus, for a bounded time.
 *
 * Citus sends the command, over its own connections and as the current role.  A node that
 * cannot be reached is given up after a while, and each node has a timer (answer_within) and
 * gives up by itself.  One that is frozen holds the question up, as it does all queries of Citus.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "src/citus/ask.h"

PG_FUNCTION_INFO_V1(tier_citus_answer_within);

int			tier_citus_test_node_timeout_ms = 5000;

/* How long Citus waits for a connection. */
#define CONNECTION_TIMEOUT "citus.node_connection_timeout"

#define NO_ANSWER "it did not answer in time"
#define NOT_THERE "it does not have the extension tiered_storage_citus"

/* One call of Citus. */
typedef struct Question
{
	TierCitusNode **nodes;
	int			n;
	const char *command;
	int			timeout_ms;
	MemoryContext context;		/* of the answers */
} Question;

static volatile sig_atomic_t answer_is_late = false;

static void
end_answer(void)
{
	answer_is_late = true;
	InterruptPending = true;
	QueryCancelPending = true;
	SetLatch(MyLatch);
}

static TimeoutId
answer_timeout(void)
{
	static bool is_registered = false;
	static TimeoutId id;

	if (!is_registered)
		id = RegisterTimeout(USER_TIMEOUT, end_answer);
	is_registered = true;
	return id;
}

static void
take_answer(Question *question, uint64 row)
{
	HeapTuple	tuple = SPI_tuptable->vals[row];
	TupleDesc	tupdesc = SPI_tuptable->tupdesc;
	bool		isnull;
	int64		place = DatumGetInt64(SPI_getbinval(tuple, tupdesc, 1, &isnull)) - 1;
	TierCitusNode *node;
	const char *answer = SPI_getvalue(tuple, tupdesc, 3);

	if (place < 0 || place >= question->n)
		return;
	node = question->nodes[place];
	node->succeeded = DatumGetBool(SPI_getbinval(tuple, tupdesc, 2, &isnull));
	if (!node->succeeded && answer != NULL && strstr(answer, NO_ANSWER) != NULL)
		answer = NO_ANSWER;
	node->answer = MemoryContextStrdup(question->context, answer == NULL ? "" : answer);
}

/* Runs the command on the nodes of the question, for the answers. */
static void
run_on_nodes(Question *question, const char *command)
{
	static const char sql[] =
	"SELECT a.place, a.success, pg_catalog.btrim(a.result, E' \n') "
	"FROM pg_catalog.master_run_on_worker($1, $2, "
	"pg_catalog.array_fill($3, ARRAY[pg_catalog.cardinality($1)]), true) "
	"WITH ORDINALITY a (node_name, node_port, success, result, place)";
	Oid			types[] = {TEXTARRAYOID, INT4ARRAYOID, TEXTOID};
	Datum	   *names = palloc(sizeof(Datum) * question->n);
	Datum	   *ports = palloc(sizeof(Datum) * question->n);
	Datum		values[lengthof(types)];
	int			guc_level = NewGUCNestLevel();

	for (int i = 0; i < question->n; i++)
	{
		names[i] = CStringGetTextDatum(question->nodes[i]->name);
		ports[i] = Int32GetDatum(question->nodes[i]->port);
	}
	values[0] = PointerGetDatum(construct_array(names, question->n, TEXTOID, -1, false,
												TYPALIGN_INT));
	values[1] = PointerGetDatum(construct_array(ports, question->n, INT4OID, sizeof(int32), true,
												TYPALIGN_INT));
	values[2] = CStringGetTextDatum(command);
	if (GetConfigOption(CONNECTION_TIMEOUT, true, false) != NULL)
		(void) set_config_option(CONNECTION_TIMEOUT, psprintf("%d", question->timeout_ms),
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	if (SPI_execute_with_args(sql, lengthof(types), types, values, NULL, false, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "master_run_on_worker() returned no rows");
	for (uint64 i = 0; i < SPI_processed; i++)
		take_answer(question, i);
	SPI_finish();
	AtEOXact_GUC(false, guc_level);
}

/*
 * The command runs with the rights of the connecting user.  On a node without the extension, any
 * role that may create a schema could create one of this name, with any functions; so a node is
 * asked first whether the schema belongs to the extension.
 */
static void
ask(Question *question)
{
	static const char is_ours[] =
	"SELECT pg_catalog.count(*) FROM pg_catalog.pg_depend d "
	"JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) d.objid "
	"JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid "
	"WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass "
	"AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass "
	"AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog.\"char\" "
	"AND n.nspname OPERATOR(pg_catalog.=) '_tiered_storage_citus'::pg_catalog.name "
	"AND e.extname OPERATOR(pg_catalog.=) 'tiered_storage_citus'::pg_catalog.name";
	Question	rest = *question;

	run_on_nodes(question, is_ours);
	rest.nodes = palloc(sizeof(TierCitusNode *) * question->n);
	rest.n = 0;
	for (int i = 0; i < question->n; i++)
	{
		TierCitusNode *node = question->nodes[i];

		if (!node->succeeded)
			continue;
		if (strcmp(node->answer, "1") == 0)
		{
			node->succeeded = false;
			node->answer = NULL;
			rest.nodes[rest.n++] = node;
			continue;
		}
		node->succeeded = false;
		node->answer = NOT_THERE;
	}
	if (rest.n > 0)
		run_on_nodes(&rest, psprintf("SELECT _tiered_storage_citus.answer_within(%d, %s)",
									 question->timeout_ms,
									 quote_literal_cstr(question->command)));
}

void
tier_citus_ask(TierCitusNode *nodes, int n, const char *command, bool one_by_one)
{
	TierCitusNode **active = palloc(sizeof(TierCitusNode *) * Max(n, 1));
	int			nactive = 0;
	Question	question = {
		.command = command,.context = CurrentMemoryContext,
		.timeout_ms = Max(tier_citus_test_node_timeout_ms, 100)
	};

	for (int i = 0; i < n; i++)
	{
		nodes[i].succeeded = false;
		nodes[i].answer = nodes[i].is_active ? NULL : "Citus has disabled the node";
		if (nodes[i].is_active)
			active[nactive++] = &nodes[i];
	}
	for (int i = 0; i < nactive; i += question.n)
	{
		CHECK_FOR_INTERRUPTS();
		question.nodes = active + i;
		question.n = one_by_one ? 1 : nactive;
		ask(&question);
	}
	for (int i = 0; i < n; i++)
		if (nodes[i].answer == NULL)
			nodes[i].answer = NO_ANSWER;
}

/* The first column of the first row; NULL: there is no row, or it is null. */
static text *
run_command(const char *command)
{
	MemoryContext context = CurrentMemoryContext;
	text	   *answer = NULL;
	char	   *value;

	SPI_connect();
	if (SPI_execute(command, false, 0) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the command cannot run on a node")));
	if (SPI_tuptable != NULL && SPI_processed > 0 &&
		(value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)) != NULL)
	{
		MemoryContext spi_context = MemoryContextSwitchTo(context);

		answer = cstring_to_text(value);
		MemoryContextSwitchTo(spi_context);
	}
	SPI_finish();
	return answer;
}

/* _tiered_storage_citus.answer_within(timeout_ms, command) */
Datum
tier_citus_answer_within(PG_FUNCTION_ARGS)
{
	int			timeout_ms = Max(PG_GETARG_INT32(0), 1);
	char	   *command = text_to_cstring(PG_GETARG_TEXT_PP(1));
	TimeoutId	timeout = answer_timeout();
	MemoryContext context = CurrentMemoryContext;
	text	   *volatile answer = NULL;

	answer_is_late = false;
	enable_timeout_after(timeout, timeout_ms);
	PG_TRY();
	{
		answer = run_command(command);
		disable_timeout(timeout, false);
	}
	PG_CATCH();
	{
		disable_timeout(timeout, false);
		if (answer_is_late && geterrcode() == ERRCODE_QUERY_CANCELED)
		{
			MemoryContextSwitchTo(context);
			FlushErrorState();
			ereport(ERROR,
					(errcode(ERRCODE_QUERY_CANCELED),
					 errmsg(NO_ANSWER)));
		}
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (answer_is_late)
		QueryCancelPending = false; /* it would end something else */
	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(answer);
}
