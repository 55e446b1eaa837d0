/*-------------------------------------------------------------------------
 *
 * observe/standby_reads.c
 *		Reads of standbys, pulled and added to those of this server.
 *
 * The worker compares a standby's counters with those of the last pull and adds the growth to
 * standby_reads.  The next sample takes it from there as if it had happened on this server.  So
 * a reset, a restart or the removal of a standby is never a step backwards of a relation's
 * counters here.
 *
 * A standby is asked outside of any transaction: however long it takes, no process waits for a
 * lock or a snapshot of ours.  The decision whether the standby may be asked, and storing the
 * answer, are two short transactions; between them the standby may be removed, or the
 * extension dropped.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/left_out.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/observe/standby_reads.h"
#include "src/server/processes.h"
#include "src/server/remote.h"

/* No further standby is asked in a cycle that has asked for so long. */
#define LONGEST_PULL_S 20

/* More than any database of use has; what a standby may make us remember. */
#define MOST_RELATIONS 1000000
#define MOST_TABLESPACES 10000

/* Sums of counters of many standbys stay below the limits of a bigint. */
#define LARGEST_COUNTER (INT64CONST(1) << 53)

typedef struct Pull
{
	MemoryContext context;		/* of all of this */
	int64		began_us;		/* monotonic */
	char	   *database;
	TierStandby *standbys;
	char	  **problems;		/* why each is not to be asked, or NULL */
	int			nstandbys;
	const TierStandby *standby; /* that is asked */
	TierStandbyAnswer answer;	/* of it */
	int			max_counters;
	int			max_places;
	bool		has_function;	/* the standby, which tells of directories */
	XLogRecPtr	asked_lsn;

	/* Before a move, when nothing else is asked. */
	char	   *users_sql;
	int64		held_ms;		/* -1: no transaction has locked any of the
								 * relations */
} Pull;

/*---------------------------------------------------------------------
 * Queries
 *---------------------------------------------------------------------
 */

/*
 * All may set it, and Citus, if it is there, then hides no shard from the query on pg_class;
 * without Citus it is nothing.
 */
static const char identity_sql[] =
"SELECT c.system_identifier, pg_catalog.pg_is_in_recovery(), d.oid, "
"pg_catalog.set_config('citus.override_table_visibility', 'off', false), "
"CASE WHEN pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') "
"THEN s.setting::pg_catalog.int8 ELSE -2::pg_catalog.int8 END "
"FROM pg_catalog.pg_control_system() c, pg_catalog.pg_database d, pg_catalog.pg_settings s "
"WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() "
"AND s.name OPERATOR(pg_catalog.=) 'max_standby_streaming_delay'";
static const Oid identity_types[] = {INT8OID, BOOLOID, OIDOID, TEXTOID, INT8OID};

/* Of a group of locks: how long the oldest transaction that has one of them has been open. */
#define HELD_MS \
	"GREATEST(pg_catalog.max((pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() " \
	"OPERATOR(pg_catalog.-) a.xact_start) OPERATOR(pg_catalog.*) 1000::pg_catalog.float8)" \
	"::pg_catalog.int8), 0::pg_catalog.int8)"

#define HELD_FROM \
	"FROM pg_catalog.pg_locks l " \
	"JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) l.pid " \
	"WHERE l.locktype OPERATOR(pg_catalog.=) 'relation' " \
	"AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database d " \
	"WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()) " \
	"AND a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid() " \
	"AND a.backend_type OPERATOR(pg_catalog.<>) 'startup'"

static const char counters_sql[] =
"WITH held AS MATERIALIZED (SELECT l.relation, " HELD_MS " AS ms " HELD_FROM
" GROUP BY l.relation) "
"SELECT c.oid, pg_catalog.pg_stat_get_numscans(c.oid), "
"pg_catalog.pg_stat_get_tuples_returned(c.oid), pg_catalog.pg_stat_get_blocks_fetched(c.oid), "
"pg_catalog.pg_stat_get_blocks_hit(c.oid), COALESCE(h.ms, -1::pg_catalog.int8) "
"FROM pg_catalog.pg_class c LEFT JOIN held h ON h.relation OPERATOR(pg_catalog.=) c.oid "
"WHERE c.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid "
"AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,i,m,t}'::pg_catalog.\"char\"[]) "
"AND (pg_catalog.pg_stat_get_blocks_fetched(c.oid) OPERATOR(pg_catalog.>) 0::pg_catalog.int8 "
"OR h.relation IS NOT NULL) ORDER BY c.oid";
static const Oid counters_types[] = {OIDOID, INT8OID, INT8OID, INT8OID, INT8OID, INT8OID};

/* For a list of relations; returns a row if one of them is locked. */
#define USERS_SQL \
	"SELECT " HELD_MS " " HELD_FROM \
	" AND l.relation OPERATOR(pg_catalog.=) ANY ('{%s}'::pg_catalog.oid[]) " \
	"HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0::pg_catalog.int8"
static const Oid users_types[] = {INT8OID};

/*
 * A standby that is behind may be at a time before CREATE EXTENSION, and the owner of the
 * database may have had a schema and a function of these names by then.
 */
static const char is_ours_sql[] =
"SELECT EXISTS (SELECT FROM pg_catalog.pg_proc p "
"JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace "
"JOIN pg_catalog.pg_depend d ON d.objid OPERATOR(pg_catalog.=) p.oid "
"JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid "
"WHERE p.proname OPERATOR(pg_catalog.=) 'tablespace_devices'::pg_catalog.name "
"AND p.pronargs OPERATOR(pg_catalog.=) 0::pg_catalog.int2 "
"AND n.nspname OPERATOR(pg_catalog.=) '_tiered_storage'::pg_catalog.name "
"AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass "
"AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass "
"AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog.\"char\" "
"AND e.extname OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.name)";
static const Oid is_ours_types[] = {BOOLOID};

static const char places_sql[] =
"SELECT d.tablespace_oid, COALESCE(d.path_exists AND d.writable, false), "
"d.file_system_id, d.free_bytes, d.total_bytes, pg_catalog.pg_last_wal_replay_lsn(), "
"pg_catalog.pg_last_xact_replay_timestamp() "
"FROM _tiered_storage.tablespace_devices() d ORDER BY d.tablespace_oid";
static const Oid places_types[] = {OIDOID, BOOLOID, INT8OID, INT8OID, INT8OID, PG_LSNOID,
TIMESTAMPTZOID};

/* An answer that cannot be one is no answer at all. */
static void
refuse_answer(void)
{
	tier_remote_fail("the answer has a value that is not valid");
}

static void
take_identity(TierRemote *remote, void *argument)
{
	Pull	   *pull = argument;
	TierStandbyAnswer *answer = &pull->answer;

	answer->problem = NULL;
	if (tier_remote_int64(remote, 0) != (int64) GetSystemIdentifier())
		answer->problem = "the connection leads to another cluster";
	else if (!tier_remote_bool(remote, 1))
		answer->problem = "the connection leads to a server that is not a standby";
	answer->is_no_standby = answer->problem != NULL;
	if (answer->problem == NULL && tier_remote_oid(remote, 2) != MyDatabaseId)
		answer->problem = "the connection leads to another database";
	answer->conflict_delay_ms = tier_remote_int64(remote, 4);
	if (answer->conflict_delay_ms < -2 || answer->conflict_delay_ms > LARGEST_COUNTER)
		refuse_answer();
}

static int64
counter_of(TierRemote *remote, int column)
{
	int64		counter = tier_remote_int64(remote, column);

	if (counter < 0 || counter > LARGEST_COUNTER)
		refuse_answer();
	return counter;
}

static void
take_counters(TierRemote *remote, void *argument)
{
	Pull	   *pull = argument;
	TierStandbyAnswer *answer = &pull->answer;
	TierStandbyCounters *counters;
	Oid			relation_oid = tier_remote_oid(remote, 0);

	if (relation_oid < FirstNormalObjectId ||
		(answer->ncounters > 0 &&
		 relation_oid <= answer->counters[answer->ncounters - 1].relation_oid))
		refuse_answer();
	if (answer->ncounters == pull->max_counters)
	{
		pull->max_counters *= 2;
		answer->counters = repalloc_huge(answer->counters,
										 sizeof(TierStandbyCounters) * pull->max_counters);
	}
	counters = &answer->counters[answer->ncounters++];
	counters->relation_oid = relation_oid;
	counters->scans = counter_of(remote, 1);
	counters->tuples_read = counter_of(remote, 2);
	counters->blocks_fetched = counter_of(remote, 3);
	counters->blocks_hit = counter_of(remote, 4);
	counters->held_ms = tier_remote_int64(remote, 5) < 0 ? -1 : counter_of(remote, 5);
}

static void
take_is_ours(TierRemote *remote, void *argument)
{
	Pull	   *pull = argument;

	pull->has_function = tier_remote_bool(remote, 0);
}

/* -1: not reported. */
static int64
amount_of(TierRemote *remote, int column)
{
	return Max(tier_remote_int64_or(remote, column, -1), -1);
}

static void
take_place(TierRemote *remote, void *argument)
{
	Pull	   *pull = argument;
	TierStandbyAnswer *answer = &pull->answer;
	TierStandbyPlace *place;
	Oid			tablespace_oid = tier_remote_oid(remote, 0);
	XLogRecPtr	replayed_lsn = (XLogRecPtr) tier_remote_int64_or(remote, 5, 0);
	TimestampTz day_ago = answer->asked_at - USECS_PER_DAY;
	TimestampTz replayed_at = tier_remote_int64_or(remote, 6, day_ago);

	if (!OidIsValid(tablespace_oid) ||
		(answer->nplaces > 0 &&
		 tablespace_oid <= answer->places[answer->nplaces - 1].tablespace_oid))
		refuse_answer();
	if (answer->nplaces == pull->max_places)
	{
		pull->max_places *= 2;
		answer->places = repalloc(answer->places, sizeof(TierStandbyPlace) * pull->max_places);
	}
	place = &answer->places[answer->nplaces++];
	place->tablespace_oid = tablespace_oid;
	place->is_usable = tier_remote_bool(remote, 1);
	place->file_system_id = tier_remote_int64_or(remote, 2, 0);
	place->free_bytes = amount_of(remote, 3);
	place->total_bytes = amount_of(remote, 4);

	/* Its free bytes do not include moves that it had not replayed. */
	place->replayed_until = replayed_lsn >= pull->asked_lsn ? answer->asked_at :
		Max(Min(replayed_at, answer->asked_at), day_ago);
}

static void
require_answer(char *problem)
{
	if (problem != NULL)
		tier_remote_fail(problem);
}

/* False: it is not the standby that is meant. */
static bool
ask_identity(TierRemote *remote, Pull *pull)
{
	pull->answer.problem = "the standby did not say which cluster it belongs to";
	require_answer(tier_remote_query(remote, identity_sql, identity_types,
									 lengthof(identity_types), 1, take_identity, pull));
	return pull->answer.problem == NULL;
}

/*
 * A role that may not ask for the directories is no reason to do without the reads: those it
 * does not tell.
 */
static void
ask(TierRemote *remote, void *argument)
{
	Pull	   *pull = argument;
	TierStandbyAnswer *answer = &pull->answer;

	if (!ask_identity(remote, pull))
		return;
	require_answer(tier_remote_query(remote, counters_sql, counters_types,
									 lengthof(counters_types), MOST_RELATIONS, take_counters,
									 pull));
	pull->has_function = false;
	require_answer(tier_remote_query(remote, is_ours_sql, is_ours_types,
									 lengthof(is_ours_types), 1, take_is_ours, pull));
	answer->asked_at = GetCurrentTimestamp();
	pull->asked_lsn = GetXLogWriteRecPtr();
	if (pull->has_function)
		answer->has_places = tier_remote_query(remote, places_sql, places_types,
											   lengthof(places_types), MOST_TABLESPACES,
											   take_place, pull) == NULL;
}

/* ---------------------------------------------------------------------
 * Before and after
 * ---------------------------------------------------------------------
 */

/*
 * A role is identified by OID and name, because roles are dropped and created again, and a row
 * of a dump has the OID that a role had in another cluster.
 */
static char *
why_not_to_be_asked(const TierStandby *standby)
{
	char	   *name = GetUserNameFromId(standby->added_by_oid, true);

	if (name == NULL || strcmp(name, standby->added_by) != 0)
		return psprintf("the role that added the standby, \"%s\", has changed",
						standby->added_by);
	if (!superuser_arg(standby->added_by_oid))
		return psprintf("the role that added the standby, \"%s\", is not a superuser",
						standby->added_by);
	return NULL;
}

static void
load_due(void *argument)
{
	Pull	   *pull = argument;
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	pull->standbys = tier_catalog_due_standbys(pull->context, &pull->nstandbys);
	MemoryContextSwitchTo(pull->context);
	pull->problems = palloc0(sizeof(char *) * Max(pull->nstandbys, 1));
	for (int i = 0; i < pull->nstandbys; i++)
		pull->problems[i] = why_not_to_be_asked(&pull->standbys[i]);
	pull->database = get_database_name(MyDatabaseId);
	tier_catalog_leave(&scope);
}

static void
store_answer(void *argument)
{
	Pull	   *pull = argument;
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	tier_catalog_store_standby(pull->standby, &pull->answer);
	tier_catalog_leave(&scope);
}

/* Runs a step in a separate transaction; failures are logged.  A cancel is for the whole cycle. */
static void
in_transaction(Pull *pull, void (*step) (void *argument))
{
	ErrorData  *error;

	tier_transaction_start();
	MemoryContextSwitchTo(pull->context);
	error = tier_attempt(step, pull);
	CommitTransactionCommand();
	MemoryContextSwitchTo(pull->context);
	if (error == NULL)
		return;
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	ereport(LOG,
			(errmsg("could not pull the statistics of standbys: %s", error->message),
			 error->detail == NULL ? 0 : errdetail_internal("%s", error->detail)));
}

static void
pull_from(Pull *pull, int i)
{
	ErrorData  *volatile error = NULL;

	memset(&pull->answer, 0, sizeof(pull->answer));
	pull->standby = &pull->standbys[i];
	pull->answer.problem = pull->problems[i];
	if (pull->problems[i] == NULL)
	{
		pull->max_counters = pull->max_places = 64;
		pull->answer.counters = palloc(sizeof(TierStandbyCounters) * pull->max_counters);
		pull->answer.places = palloc(sizeof(TierStandbyPlace) * pull->max_places);
		PG_TRY();
		{
			tier_remote_run(pull->standby->conninfo, pull->database, ask, pull);
		}
		PG_CATCH();
		{
			MemoryContextSwitchTo(pull->context);
			if (geterrcode() == ERRCODE_QUERY_CANCELED || geterrcode() == ERRCODE_ADMIN_SHUTDOWN)
				PG_RE_THROW();
			error = tier_attempt_take_error();
			pull->answer.problem = error->message;
			pull->answer.is_no_standby = false;
		}
		PG_END_TRY();
	}
	in_transaction(pull, store_answer);
}

static Pull *
begin_pull(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "tiered_storage standbys",
												  ALLOCSET_DEFAULT_SIZES);
	Pull	   *pull = MemoryContextAllocZero(context, sizeof(Pull));

	pull->context = context;
	pull->began_us = tier_clock_monotonic_us();
	MemoryContextSwitchTo(context);
	return pull;
}

/*
 * Returns true if another standby is to be asked.  Those that are left come first the next time.
 */
static bool
goes_on(const Pull *pull, int i)
{
	return i < pull->nstandbys && !tier_processes_database_is_wanted() &&
		tier_clock_monotonic_us() - pull->began_us < LONGEST_PULL_S * 1000000;
}

void
tier_standby_pull(void)
{
	MemoryContext old_context = CurrentMemoryContext;
	Pull	   *pull = begin_pull();

	in_transaction(pull, load_due);
	for (int i = 0; goes_on(pull, i); i++)
		pull_from(pull, i);
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(pull->context);
	pgstat_report_stat(true);
}

/* ---------------------------------------------------------------------
 * Before a move
 * ---------------------------------------------------------------------
 */

static void
take_user(TierRemote *remote, void *argument)
{
	((Pull *) argument)->held_ms = counter_of(remote, 0);
}

static void
ask_users(TierRemote *remote, void *argument)
{
	Pull	   *pull = argument;

	if (ask_identity(remote, pull))
		require_answer(tier_remote_query(remote, pull->users_sql, users_types,
										 lengthof(users_types), 1, take_user, pull));
}

static void
connect_step(void *argument)
{
	Pull	   *pull = argument;

	tier_remote_run(pull->standby->conninfo, pull->database, ask_users, pull);
}

/* True: it was done, and is committed.  A cancel is thrown. */
static bool
attempt(Pull *pull, void (*step) (void *argument), ErrorData **error)
{
	MemoryContextSwitchTo(pull->context);
	*error = tier_attempt(step, pull);
	tier_transaction_commit();
	MemoryContextSwitchTo(pull->context);
	if (*error != NULL && tier_error_is_about_all(*error))
		ReThrowError(*error);
	return *error == NULL;
}

/*
 * Asks one.  That it does not answer is noted as after a pull, so that it is not waited for again
 * at each move.
 */
static void
ask_before_move(Pull *pull, int i)
{
	ErrorData  *error;

	pull->standby = &pull->standbys[i];
	pull->held_ms = -1;
	memset(&pull->answer, 0, sizeof(pull->answer));
	if (!attempt(pull, connect_step, &error))
		pull->answer.problem = error->message;
	if (pull->answer.problem != NULL)
	{
		pull->held_ms = -1;
		(void) attempt(pull, store_answer, &error);
	}
}

TierStandbyUser
tier_standby_ask_user(const List *relation_oids)
{
	MemoryContext old_context = CurrentMemoryContext;
	Pull	   *pull = begin_pull();
	TierStandbyUser user = {0};
	StringInfoData oids;
	ErrorData  *error;
	ListCell   *cell;

	initStringInfo(&oids);
	foreach(cell, relation_oids)
		appendStringInfo(&oids, "%s%u", oids.len == 0 ? "" : ",", lfirst_oid(cell));
	pull->users_sql = psprintf(USERS_SQL, oids.data);
	(void) attempt(pull, load_due, &error);
	for (int i = 0; user.standby_name == NULL && goes_on(pull, i); i++)
	{
		if (pull->problems[i] == NULL)
			ask_before_move(pull, i);
		if (pull->problems[i] != NULL || pull->held_ms < 0 ||
			!tier_standby_is_long(pull->held_ms, pull->answer.conflict_delay_ms))
			continue;
		user.standby_name = MemoryContextStrdup(old_context, pull->standby->name);
		user.open_ms = pull->held_ms;
		user.delay_ms = pull->answer.conflict_delay_ms;
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(pull->context);
	return user;
}
