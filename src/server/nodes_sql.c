/*-------------------------------------------------------------------------
 *
 * server/nodes_sql.c
 *		Asking the nodes of Citus, for a bounded time.
 *
 * A statement is sent by Citus itself, with its connections, as the current role, and with
 * what that role may do there.  The node has a timer, by which it gives up by itself.  What
 * Citus waits for without end, because a node does not even do that, is ended by timers of
 * our own.  First the connections that it has opened for the question are shut: it takes a
 * node that does not answer for one that it has lost, and has the others' answers.  It must
 * not cancel then: Citus would tell the node, over a connection for which it waits without
 * end and without regard to signals.  Only if it still waits, for something else, it is
 * cancelled, and the nodes are asked one after the other, so that the one that does not
 * answer is known by name.  If somebody else cancels the question, Citus does tell the node, at
 * the end of the transaction, with its locks held; so the timer goes on until that has ended.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/resowner.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_ask_nodes);
PG_FUNCTION_INFO_V1(tier_answer_within);

/* What Citus calls the time after which it gives up to connect. */
#define CONNECTION_TIMEOUT "citus.node_connection_timeout"

/*
 * How long a node is waited for, for a connection and for its answer: a node that works
 * answers in milliseconds, and who looks at all nodes sees the others after a moment.
 */
#define NODE_TIMEOUT_MS 5000

/* Of several nodes that have to share the time, each gets that at least. */
#define LEAST_TIME_MS 100

#define NO_ANSWER "it did not answer in time"

/* Who is asked, and what. */
typedef struct Nodes
{
	int			n;
	Datum	   *names;			/* text */
	Datum	   *ports;			/* int4 */
	char	   *command;
} Nodes;

/* One call of Citus: for those from `first`, n of them. */
typedef struct Question
{
	const Nodes *nodes;
	int			first;
	int			n;
	int			timeout_ms;
	MemoryContext context;		/* of the answers */
	bool	   *succeeded;		/* by node */
	char	  **answers;		/* NULL: none */
} Question;

/*
 * The sockets of this process by descriptor, as they were before a question; 0: none.  What
 * is there afterwards and was not is what Citus has opened for the question.  The first free
 * descriptor is what a process gets, so that only so many are looked at.
 */
static ino_t *sockets_before = NULL;
static int	nsockets = 0;

static volatile sig_atomic_t alarms = 0;	/* of a question */

/*
 * A question that has failed leaves connections to the end of the transaction, and the list of
 * sockets for then.  The timeout is that of the question.
 */
static bool has_failed = false;
static int	failed_timeout_ms = 0;
static volatile sig_atomic_t is_aborting = false;

static volatile sig_atomic_t answer_is_late = false;

/* In a signal handler, too. */
static ino_t
socket_of(int descriptor)
{
	struct stat file;

	return fstat(descriptor, &file) == 0 && S_ISSOCK(file.st_mode) ? file.st_ino : 0;
}

/* Where /proc does not say, as many as the server opens at most. */
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

/* Each node takes two connections at most, and a look-up of its name some files. */
static void
note_sockets(int nnodes)
{
	int			n = highest_descriptor() + 1 + 2 * nnodes + 64;

	/* After a question that has failed, all since then is new. */
	if (sockets_before != NULL)
		return;
	sockets_before = MemoryContextAlloc(TopMemoryContext, sizeof(ino_t) * n);
	nsockets = n;
	for (int i = 0; i < nsockets; i++)
		sockets_before[i] = socket_of(i);
}

/* What was received before can still be read. */
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

/* As the timer of statement_timeout does; whose time it was is asked afterwards. */
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

/* A session may ask itself, so these are two. */
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
 * Of the callbacks, what was registered last is called first, and this is after Citus was loaded.
 * Resources are released after all callbacks.
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

static Datum
array_of(Datum *values, int n, Oid type_oid)
{
	return PointerGetDatum(type_oid == INT4OID ?
						   construct_array(values, n, INT4OID, sizeof(int32), true, TYPALIGN_INT) :
						   construct_array(values, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* The words of Citus, which it does not translate, and of libpq for a connection that was shut. */
static bool
says_lost(const char *answer)
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
	int			place = DatumGetInt64(SPI_getbinval(tuple, tupdesc, 1, &isnull)) - 1;
	bool		succeeded = DatumGetBool(SPI_getbinval(tuple, tupdesc, 2, &isnull));
	char	   *answer = SPI_getvalue(tuple, tupdesc, 3);

	if (place < 0 || place >= question->n)
		return;
	question->succeeded[question->first + place] = succeeded;
	if (!succeeded && answer != NULL &&
		((alarms > 0 && says_lost(answer)) || strstr(answer, NO_ANSWER) != NULL))
		answer = pstrdup(NO_ANSWER);
	question->answers[question->first + place] =
		MemoryContextStrdup(question->context, answer == NULL ? "" : answer);
}

static void
ask_step(void *argument)
{
	static const char sql[] =
	"SELECT a.place, a.success, a.result FROM pg_catalog.master_run_on_worker($1, $2, "
	"pg_catalog.array_fill($3, ARRAY[pg_catalog.cardinality($1)]), true) "
	"WITH ORDINALITY a (node_name, node_port, success, result, place)";
	Oid			types[] = {TEXTARRAYOID, INT4ARRAYOID, TEXTOID};
	Question   *question = argument;
	const Nodes *nodes = question->nodes;
	Datum		values[lengthof(types)];
	int			guc_level = NewGUCNestLevel();

	values[0] = array_of(nodes->names + question->first, question->n, TEXTOID);
	values[1] = array_of(nodes->ports + question->first, question->n, INT4OID);
	values[2] = CStringGetTextDatum(psprintf("SELECT _tiered_storage.answer_within(%d, %s)",
											 question->timeout_ms,
											 quote_literal_cstr(nodes->command)));
	if (GetConfigOption(CONNECTION_TIMEOUT, true, false) != NULL)
		(void) set_config_option(CONNECTION_TIMEOUT, psprintf("%d", question->timeout_ms),
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	if (SPI_execute_with_args(sql, lengthof(types), types, values, NULL, false, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "master_run_on_worker() is not as it was expected");
	for (uint64 i = 0; i < SPI_processed; i++)
		take_answer(question, i);
	SPI_finish();
	AtEOXact_GUC(false, guc_level);
}

/*
 * Who has no answer afterwards did not answer in time, of which as much again is for
 * connections.  A cancel of somebody else goes on to the caller.
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
	error = tier_attempt(ask_step, question);
	disable_timeout(timeout, false);
	if (error == NULL && !has_failed)
		forget_sockets();
	else
		leave_to_the_end(timeout_ms);
	if (alarms > 1 && error == NULL)
		QueryCancelPending = false; /* it was late, and would end something
									 * else */
	if (error != NULL && !(alarms > 1 && error->sqlerrcode == ERRCODE_QUERY_CANCELED))
		ReThrowError(error);
}

static void
ask_one_by_one(Question *question, bool share_time)
{
	const Nodes *nodes = question->nodes;
	int			timeout_ms = question->timeout_ms;
	int64		until = tier_clock_monotonic_us() + (int64) timeout_ms * 1000;

	question->n = 1;
	for (question->first = 0; question->first < nodes->n; question->first++)
	{
		int64		left_ms = (until - tier_clock_monotonic_us()) / 1000;

		CHECK_FOR_INTERRUPTS();
		if (share_time)
			question->timeout_ms = Max(left_ms / (nodes->n - question->first), LEAST_TIME_MS);
		ask(question);
	}
}

static bool
all_have_answered(const Question *question)
{
	for (int i = 0; i < question->nodes->n; i++)
		if (question->answers[i] == NULL)
			return false;
	return true;
}

static void
take_array(FunctionCallInfo fcinfo, int argument, Oid type_oid, Datum **values, int *n)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argument);

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a node without name or port cannot be asked")));
	if (type_oid == INT4OID)
		deconstruct_array(array, INT4OID, sizeof(int32), true, TYPALIGN_INT, values, NULL, n);
	else
		deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, values, NULL, n);
}

static void
check_citus(void)
{
	Oid			types[] = {TEXTARRAYOID, INT4ARRAYOID, TEXTARRAYOID, BOOLOID};
	List	   *name = list_make2(makeString("pg_catalog"), makeString("master_run_on_worker"));

	if (!OidIsValid(LookupFuncName(name, lengthof(types), types, true)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("there are no nodes of Citus in this database"),
				 errdetail("The extension citus has not been created.")));
}

/* _tiered_storage.ask_nodes(names, ports, command, one_by_one) */
Datum
tier_ask_nodes(PG_FUNCTION_ARGS)
{
	Question	question = {.context = CurrentMemoryContext};
	TierResultRow row;
	Nodes		nodes;
	int			nports;

	tier_result_start(fcinfo, &row);
	check_citus();
	take_array(fcinfo, 0, TEXTOID, &nodes.names, &nodes.n);
	take_array(fcinfo, 1, INT4OID, &nodes.ports, &nports);
	if (nports != nodes.n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("there must be as many ports as nodes")));
	nodes.command = text_to_cstring(PG_GETARG_TEXT_PP(2));
	question.nodes = &nodes;
	question.timeout_ms = NODE_TIMEOUT_MS;
	question.n = nodes.n;
	question.succeeded = palloc0(sizeof(bool) * Max(nodes.n, 1));
	question.answers = palloc0(sizeof(char *) * Max(nodes.n, 1));
	if (PG_GETARG_BOOL(3))
		ask_one_by_one(&question, false);
	else if (nodes.n > 0)
	{
		ask(&question);
		if (!all_have_answered(&question))
			ask_one_by_one(&question, true);
	}
	for (int i = 0; i < nodes.n; i++)
	{
		tier_row_clear(&row);
		tier_row_datum(&row, 0, Int32GetDatum(i + 1));
		tier_row_datum(&row, 1, BoolGetDatum(question.succeeded[i]));
		tier_row_text(&row, 2, question.answers[i] != NULL ? question.answers[i] :
					  NO_ANSWER);
		tier_row_put(&row);
	}
	return (Datum) 0;
}

/* NULL: no row */
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
				 errmsg("a node cannot be asked that")));
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

/* _tiered_storage.answer_within(timeout_ms, command) */
Datum
tier_answer_within(PG_FUNCTION_ARGS)
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
		QueryCancelPending = false; /* as above */
	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(answer);
}
