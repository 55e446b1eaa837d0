/*-------------------------------------------------------------------------
 *
 * citus/ask.c
 *		Runs a command on nodes of Citus, for a bounded time.
 *
 * Citus sends the command, over its own connections and as the current role.  Each node has
 * a timer (answer_within) and gives up by itself.  Citus waits without end for a node that
 * does not even do that, so the asking backend has timers as well:
 *
 * - The first alarm shuts the sockets that Citus has opened for this question.  Citus then
 *   takes a silent node for lost, and returns the answers of the others.  A cancel would not
 *   do: Citus forwards it to the node over a new connection, which it waits for without end
 *   and without regard to signals.
 * - The second alarm cancels the query, because Citus waits for something else.  The nodes
 *   are then asked one after the other, so that the silent one is known by name.
 *
 * If the user cancels, Citus forwards that at the end of the transaction, with its locks
 * held.  The timer therefore runs on until the transaction has ended.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "src/citus/ask.h"

PG_FUNCTION_INFO_V1(tier_citus_answer_within);

int			tier_citus_test_node_timeout_ms = 5000;

/* How long Citus waits for a connection. */
#define CONNECTION_TIMEOUT "citus.node_connection_timeout"

/* Nodes that are asked one after the other share the time, but each gets at least this. */
#define LEAST_TIME_MS 100

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

/*
 * The inodes of this process's sockets by descriptor, before a question; 0: no socket.  Sockets
 * that are new afterwards are those that Citus has opened for the question.  A process gets the
 * lowest free descriptor, which bounds the size of the array.
 */
static ino_t *sockets_before = NULL;
static int	nsockets = 0;

static volatile sig_atomic_t alarms = 0;	/* of a question */

/*
 * A question that has failed leaves its connections open to the end of the transaction, and
 * keeps the list of sockets and the timeout for then.
 */
static bool has_failed = false;
static int	failed_timeout_ms = 0;
static volatile sig_atomic_t is_aborting = false;

static volatile sig_atomic_t answer_is_late = false;

/* Called in a signal handler, too. */
static ino_t
socket_of(int descriptor)
{
	struct stat file;

	return fstat(descriptor, &file) == 0 && S_ISSOCK(file.st_mode) ? file.st_ino : 0;
}

/* Without /proc: the most that the server opens. */
static int
highest_descriptor(void)
{
	DIR		   *directory = AllocateDir("/proc/self/fd");
	struct dirent *entry;
	int			highest = directory == NULL ? max_files_per_process : -1;

	while ((entry = ReadDirExtended(directory, "/proc/self/fd", DEBUG1)) != NULL)
		highest = Max(highest, atoi(entry->d_name));
	if (directory != NULL)
		FreeDir(directory);
	return highest;
}

/* A node takes at most two connections a command, and the look-up of its name some files. */
static void
note_sockets(int nnodes)
{
	int			n = highest_descriptor() + 1 + 4 * nnodes + 64;

	/* Sockets opened since a question that has failed still count as new. */
	if (sockets_before != NULL)
		return;
	sockets_before = MemoryContextAlloc(TopMemoryContext, sizeof(ino_t) * n);
	nsockets = n;
	for (int i = 0; i < nsockets; i++)
		sockets_before[i] = socket_of(i);
}

/* Citus can still read what has arrived. */
static void
shut_new_sockets(void)
{
	for (int i = 0; i < nsockets; i++)
	{
		ino_t		inode = socket_of(i);

		if (inode != 0 && inode != sockets_before[i])
			(void) shutdown(i, SHUT_RDWR);
	}
}

/* Cancels as statement_timeout does; the caller tells the two apart by `alarms`. */
static void
cancel_query(void)
{
	InterruptPending = true;
	QueryCancelPending = true;
	SetLatch(MyLatch);
}

static void
forget_sockets(void)
{
	ino_t	   *sockets = sockets_before;

	nsockets = 0;
	sockets_before = NULL;
	if (sockets != NULL)
		pfree(sockets);
}

static void
end_question(void)
{
	if (is_aborting)
		shut_new_sockets();
	else if (alarms++ == 0)
		shut_new_sockets();
	else
		cancel_query();
}

static void
end_answer(void)
{
	answer_is_late = true;
	cancel_query();
}

/* Separate from answer_timeout(), since a node may ask itself in one backend. */
static TimeoutId
question_timeout(void)
{
	static bool is_registered = false;
	static TimeoutId id;

	if (!is_registered)
		id = RegisterTimeout(USER_TIMEOUT, end_question);
	is_registered = true;
	return id;
}

/*
 * Runs before the callback of Citus, since the callback that was registered last runs first and
 * Citus is preloaded.  release_callback() runs after both.
 */
static void
xact_callback(XactEvent event, void *argument)
{
	if (event != XACT_EVENT_ABORT || !has_failed)
		return;
	is_aborting = true;
	enable_timeout_every(question_timeout(),
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), failed_timeout_ms),
						 failed_timeout_ms);
}

static void
release_callback(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *argument)
{
	if (!is_top_level || !has_failed || phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	if (is_aborting)
		disable_timeout(question_timeout(), false);
	is_aborting = has_failed = false;
	forget_sockets();
}

static void
leave_to_the_end(int timeout_ms)
{
	static bool is_registered = false;

	if (!is_registered)
	{
		RegisterXactCallback(xact_callback, NULL);
		RegisterResourceReleaseCallback(release_callback, NULL);
	}
	is_registered = true;
	failed_timeout_ms = timeout_ms;
	has_failed = true;
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

/*
 * Runs a step in a subtransaction.  Returns the error that it raised, in the memory context of
 * the call, or NULL.
 */
static ErrorData *
attempt(void (*step) (Question *question), Question *question)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			level = GetCurrentTransactionNestLevel();
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		step(question);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		InterruptPending = true;	/* a cancel hides what else is pending */
		while (GetCurrentTransactionNestLevel() > level)
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* The messages of Citus (never translated) and of libpq for a connection that was shut. */
static bool
is_lost(const char *answer)
{
	return strcmp(answer, "query result unavailable") == 0 ||
		strcmp(answer, "connection lost") == 0 ||
		strstr(answer, "server closed the connection") != NULL;
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
	if (!node->succeeded && answer != NULL &&
		((alarms > 0 && is_lost(answer)) || strstr(answer, NO_ANSWER) != NULL))
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
 * The command runs with the rights of our user.  On a node that does not have the extension,
 * whoever may create a schema there could have one of this name, with functions of his own; so
 * a node is asked first whose it is.
 */
static void
ask_step(Question *question)
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

/*
 * Leaves `answer` of silent nodes NULL.  The first timeout_ms is for connections and the second
 * for the answer.  The user's cancel is rethrown.
 */
static void
ask(Question *question)
{
	TimeoutId	timeout = question_timeout();
	int			timeout_ms = question->timeout_ms;
	ErrorData  *error;

	note_sockets(question->n);
	alarms = 0;
	enable_timeout_every(timeout,
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), 2 * timeout_ms),
						 timeout_ms);
	error = attempt(ask_step, question);
	disable_timeout(timeout, false);
	if (error == NULL && !has_failed)
		forget_sockets();
	else
		leave_to_the_end(timeout_ms);
	if (alarms > 1 && error == NULL)
		QueryCancelPending = false; /* late: it would end something else */
	if (error != NULL && !(alarms > 1 && error->sqlerrcode == ERRCODE_QUERY_CANCELED))
		ReThrowError(error);
}

static int64
monotonic_ms(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return (int64) INSTR_TIME_GET_MILLISEC(now);
}

static void
ask_one_by_one(Question *question, bool share_time)
{
	TierCitusNode **nodes = question->nodes;
	int			n = question->n;
	int64		until = monotonic_ms() + question->timeout_ms;

	question->n = 1;
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		question->nodes = nodes + i;
		if (share_time)
			question->timeout_ms = Max((until - monotonic_ms()) / (n - i), LEAST_TIME_MS);
		ask(question);
	}
}

void
tier_citus_ask(TierCitusNode *nodes, int n, const char *command, bool one_by_one)
{
	TierCitusNode **active = palloc(sizeof(TierCitusNode *) * Max(n, 1));
	Question	question = {
		.nodes = active,.command = command,.context = CurrentMemoryContext,
		.timeout_ms = Max(tier_citus_test_node_timeout_ms, LEAST_TIME_MS)
	};
	bool		all_have_answered = true;

	for (int i = 0; i < n; i++)
	{
		nodes[i].succeeded = false;
		nodes[i].answer = nodes[i].is_active ? NULL : "Citus has disabled the node";
		if (nodes[i].is_active)
			active[question.n++] = &nodes[i];
	}
	if (one_by_one)
		ask_one_by_one(&question, false);
	else if (question.n > 0)
	{
		ask(&question);
		for (int i = 0; i < question.n; i++)
			all_have_answered = all_have_answered && active[i]->answer != NULL;
		if (!all_have_answered)
			ask_one_by_one(&question, true);
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
		QueryCancelPending = false; /* late, as in ask() */
	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(answer);
}
