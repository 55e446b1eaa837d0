/*-------------------------------------------------------------------------
 *
 * tier_chaos.c
 *		Keeps moving random relations of a database, while its tests run.
 *
 * A part of the tests, loaded after tiered_storage into a throw-away server.
 * A launcher waits for the database to appear and starts workers in it, and new
 * ones for those that have ended.  A worker chooses relations and moves each,
 * with the engine that users get, into a new file of the same tablespace: so
 * nothing that a test can print is different afterwards, but the file's number.
 * Most of its choices are among the newest relations, as those of a test do not
 * live for long.
 *
 * tier_chaos.workers = 0 and a reload end it; what was done is in the log then.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/move/online.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);
extern PGDLLEXPORT void tier_chaos_launcher_main(Datum argument);
extern PGDLLEXPORT void tier_chaos_worker_main(Datum argument);

#define MAX_WORKERS 16
#define RELATIONS_PER_CHOICE 12
#define LONGEST_PAUSE_MS 5
#define LAUNCHER_INTERVAL_MS 100

/* Worth a line in the log, on a machine with more to do than it can. */
#define LONG_HOLD_MS 100

/*
 * Into the same tablespace, and never into one that the relation has left since
 * it was chosen; TOAST by itself; and no stop points, whose advisory locks would
 * be seen in pg_locks.
 */
#define ALWAYS_SKIPPED "tablespace,elsewhere,rights,points"

/* The newest ones, then any; the numbers are how many of each. */
#define CANDIDATES \
	"SELECT oid, CASE reltablespace WHEN 0 THEN " \
	"(SELECT dattablespace FROM pg_catalog.pg_database " \
	"WHERE datname = pg_catalog.current_database()) " \
	"ELSE reltablespace END AS tablespace, relkind FROM pg_catalog.pg_class " \
	"WHERE relpersistence = 'p' AND relkind IN ('r', 'm', 't', 'i') AND relfilenode <> 0 " \
	"AND oid >= 16384 "
#define CHOICE \
	"(SELECT * FROM (" CANDIDATES "ORDER BY oid DESC LIMIT 40) n " \
	"ORDER BY pg_catalog.random() LIMIT $1) " \
	"UNION ALL (SELECT * FROM (" CANDIDATES ") a ORDER BY pg_catalog.random() LIMIT $2)"

typedef struct Candidate
{
	Oid			relation_oid;
	Oid			tablespace_oid;
	char		kind;
} Candidate;

typedef int (*MoveFunction) (Oid relation_oid, Oid tablespace_oid, TierOnlineReport *report);

#define N_RESULTS (TIER_ONLINE_FAILED + 1)

/* What all workers did. */
typedef struct ChaosShared
{
	pg_atomic_uint64 results[N_RESULTS];
	pg_atomic_uint64 done_heap; /* of those done: tables, matviews */
	pg_atomic_uint64 done_toast;
	pg_atomic_uint64 done_index;
	pg_atomic_uint64 attempts;
	pg_atomic_uint64 restarts;
	pg_atomic_uint64 copied_bytes;
	pg_atomic_uint64 longest_hold_us;
	pg_atomic_uint64 escaped;	/* errors that no report was made of */
}			ChaosShared;

static char *chaos_database = NULL;
static char *chaos_skip = NULL;
static int	chaos_workers = 3;

static ChaosShared * shared = NULL;
static pg_prng_state prng;

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

/* ---------------------------------------------------------------------
 * Shared memory
 * ---------------------------------------------------------------------
 */

static void
request_shmem(void)
{
	if (previous_request_hook != NULL)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(ChaosShared));
}

static void
startup_shmem(void)
{
	bool		found;

	if (previous_startup_hook != NULL)
		previous_startup_hook();
	shared = ShmemInitStruct("tier_chaos", sizeof(ChaosShared), &found);
	if (found)
		return;
	for (int i = 0; i < N_RESULTS; i++)
		pg_atomic_init_u64(&shared->results[i], 0);
	pg_atomic_init_u64(&shared->done_heap, 0);
	pg_atomic_init_u64(&shared->done_toast, 0);
	pg_atomic_init_u64(&shared->done_index, 0);
	pg_atomic_init_u64(&shared->attempts, 0);
	pg_atomic_init_u64(&shared->restarts, 0);
	pg_atomic_init_u64(&shared->copied_bytes, 0);
	pg_atomic_init_u64(&shared->longest_hold_us, 0);
	pg_atomic_init_u64(&shared->escaped, 0);
}

static unsigned long long
total(pg_atomic_uint64 *counter)
{
	return (unsigned long long) pg_atomic_read_u64(counter);
}

static void
log_totals(void)
{
	ereport(LOG,
			(errmsg("tier_chaos: stopped: done=%llu (heap=%llu toast=%llu index=%llu) "
					"not_needed=%llu busy=%llu refused=%llu failed=%llu escaped=%llu "
					"attempts=%llu restarts=%llu copied_mb=%llu longest_hold_us=%llu",
					total(&shared->results[TIER_ONLINE_DONE]), total(&shared->done_heap),
					total(&shared->done_toast), total(&shared->done_index),
					total(&shared->results[TIER_ONLINE_NOT_NEEDED]),
					total(&shared->results[TIER_ONLINE_BUSY]),
					total(&shared->results[TIER_ONLINE_REFUSED]),
					total(&shared->results[TIER_ONLINE_FAILED]), total(&shared->escaped),
					total(&shared->attempts), total(&shared->restarts),
					total(&shared->copied_bytes) / (1024 * 1024),
					total(&shared->longest_hold_us))));
}

/* ---------------------------------------------------------------------
 * Launcher
 * ---------------------------------------------------------------------
 */

static void
rest_ms(long milliseconds)
{
	if (milliseconds > 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 milliseconds, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

static Oid
find_database(void)
{
	Oid			database_oid = InvalidOid;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	/* Not by name in an index, which needs a database for its own catalogs. */
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
		if (strcmp(NameStr(((Form_pg_database) GETSTRUCT(tuple))->datname), chaos_database) == 0)
			database_oid = ((Form_pg_database) GETSTRUCT(tuple))->oid;
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	PopActiveSnapshot();
	CommitTransactionCommand();
	return database_oid;
}

static BackgroundWorkerHandle *
start_worker(Oid database_oid)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION |
		TIER_COMPAT_WORKER_FLAGS;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "tier_chaos", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "tier_chaos_worker_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "tier_chaos worker", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "tier_chaos worker", BGW_MAXLEN);
	worker.bgw_main_arg = ObjectIdGetDatum(database_oid);
	worker.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&worker, &handle) ? handle : NULL;
}

static bool
has_ended(BackgroundWorkerHandle *handle)
{
	pid_t		pid;

	return handle == NULL || GetBackgroundWorkerPid(handle, &pid) == BGWH_STOPPED;
}

void
tier_chaos_launcher_main(Datum argument)
{
	BackgroundWorkerHandle *handles[MAX_WORKERS] = {NULL};
	bool		was_running = false;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	MemoryContextSwitchTo(TopMemoryContext);

	for (;;)
	{
		Oid			database_oid = InvalidOid;
		int			running = 0;

		MemoryContextSwitchTo(TopMemoryContext);
		if (chaos_workers > 0)
			database_oid = find_database();
		MemoryContextSwitchTo(TopMemoryContext);
		for (int i = 0; i < MAX_WORKERS; i++)
		{
			if (has_ended(handles[i]))
			{
				if (handles[i] != NULL)
					pfree(handles[i]);
				handles[i] = i < chaos_workers && OidIsValid(database_oid) ?
					start_worker(database_oid) : NULL;
			}
			if (handles[i] != NULL)
				running++;
		}
		if (running == 0 && was_running && chaos_workers == 0)
			log_totals();
		was_running = running > 0;
		rest_ms(LAUNCHER_INTERVAL_MS);
	}
}

/* ---------------------------------------------------------------------
 * Worker
 * ---------------------------------------------------------------------
 */

static void
set(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SUSET, PGC_S_OVERRIDE);
}

/* Settings that the tests give to databases and roles are not for us. */
static void
worker_settings(void)
{
	char		skip[256];

	set("search_path", "pg_catalog, pg_temp");
	set("statement_timeout", "0");
	set(TIER_COMPAT_TRANSACTION_TIMEOUT, "0");
	set("lock_timeout", "1s");
	set("idle_in_transaction_session_timeout", "0");
	set("default_transaction_read_only", "off");
	set("default_transaction_isolation", "read committed");
	set("synchronous_commit", "local");
	set("tiered_storage.move_lock_timeout", "20ms");
	snprintf(skip, sizeof(skip), "%s,%s", ALWAYS_SKIPPED, chaos_skip);
	set("tiered_storage.debug_skip", skip);
}

static int
random_between(int low, int high)
{
	return (int) pg_prng_uint64_range(&prng, low, high);
}

/* Random relations; a transaction of its own, so that no snapshot is kept. */
static int
choose(Candidate *candidates)
{
	Oid			types[2] = {INT4OID, INT4OID};
	Datum		values[2];
	int			newest = random_between(RELATIONS_PER_CHOICE * 6 / 10,
										RELATIONS_PER_CHOICE * 9 / 10);
	int			n = 0;

	values[0] = Int32GetDatum(newest);
	values[1] = Int32GetDatum(RELATIONS_PER_CHOICE - newest);
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (SPI_execute_with_args(CHOICE, 2, types, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not choose relations");
	for (uint64 i = 0; i < SPI_processed && n < RELATIONS_PER_CHOICE; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		bool		isnull;

		candidates[n].relation_oid =
			DatumGetObjectId(SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &isnull));
		candidates[n].tablespace_oid =
			DatumGetObjectId(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &isnull));
		candidates[n].kind = DatumGetChar(SPI_getbinval(row, SPI_tuptable->tupdesc, 3, &isnull));
		n++;
	}
	SPI_finish();
	PopActiveSnapshot();
	CommitTransactionCommand();
	return n;
}

static void
count(const Candidate *candidate, TierOnlineResult result, const TierOnlineReport *report)
{
	uint64		held_us = report->lock_held_ms > 0 ? (uint64) (report->lock_held_ms * 1000) : 0;

	pg_atomic_fetch_add_u64(&shared->results[result], 1);
	pg_atomic_fetch_add_u64(&shared->attempts, report->attempts);
	pg_atomic_fetch_add_u64(&shared->restarts, report->restarts);
	pg_atomic_fetch_add_u64(&shared->copied_bytes, report->copied_bytes);
	if (held_us > pg_atomic_read_u64(&shared->longest_hold_us))
		pg_atomic_write_u64(&shared->longest_hold_us, held_us);
	if (result == TIER_ONLINE_DONE)
		pg_atomic_fetch_add_u64(candidate->kind == RELKIND_INDEX ? &shared->done_index :
								candidate->kind == RELKIND_TOASTVALUE ? &shared->done_toast :
								&shared->done_heap, 1);
}

static void
move_one(MoveFunction move, const Candidate *candidate)
{
	TierOnlineReport report;
	TierOnlineResult result;
	char		attempts[16];

	snprintf(attempts, sizeof(attempts), "%d", random_between(3, 6));
	set("tiered_storage.debug_lock_attempts", attempts);

	StartTransactionCommand();

	/* SPI_finish returns to this context, when the transaction's is gone. */
	MemoryContextSwitchTo(PortalContext);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	MemoryContextSwitchTo(PortalContext);
	result = move(candidate->relation_oid, candidate->tablespace_oid, &report);
	count(candidate, result, &report);
	if (report.lock_held_ms > LONG_HOLD_MS)
		ereport(LOG,
				(errmsg("tier_chaos: held for %.0f ms, of these %.0f ms for WAL",
						report.lock_held_ms, report.flush_ms)));
	if (report.error != NULL)
		ereport(LOG,
				(errmsg("tier_chaos: failed: %s: %s (relation %u of kind \"%c\")",
						unpack_sql_state(report.error->sqlerrcode), report.error->message,
						candidate->relation_oid, candidate->kind)));
	else if (result == TIER_ONLINE_REFUSED)
		ereport(DEBUG1,
				(errmsg("tier_chaos: refused: %s", report.why)));
	SPI_finish();
	CommitTransactionCommand();
	MemoryContextReset(PortalContext);
}

void
tier_chaos_worker_main(Datum argument)
{
	MoveFunction move;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(argument), InvalidOid, 0);
	worker_settings();
	pg_prng_seed(&prng, (uint64) GetCurrentTimestamp() ^ ((uint64) MyProcPid << 32));
	PortalContext = AllocSetContextCreate(TopMemoryContext, "tier_chaos worker",
										  ALLOCSET_DEFAULT_SIZES);
	move = (MoveFunction) load_external_function("tiered_storage", "tier_online_move_for_tests",
												 true, NULL);

	PG_TRY();
	{
		while (chaos_workers > 0)
		{
			Candidate	candidates[RELATIONS_PER_CHOICE];
			int			n;

			pgstat_report_activity(STATE_RUNNING, "choosing");
			n = choose(candidates);
			for (int i = 0; i < n && chaos_workers > 0; i++)
			{
				pgstat_report_activity(STATE_RUNNING, "moving");
				move_one(move, &candidates[i]);
				rest_ms(random_between(0, LONGEST_PAUSE_MS));
			}
			pgstat_report_stat(true);
			pgstat_report_activity(STATE_IDLE, NULL);
			rest_ms(n == 0 ? LAUNCHER_INTERVAL_MS : 1);
		}
	}
	PG_CATCH();
	{
		/* The launcher starts another one. */
		pg_atomic_fetch_add_u64(&shared->escaped, 1);
		PG_RE_THROW();
	}
	PG_END_TRY();
	proc_exit(0);
}

void
_PG_init(void)
{
	BackgroundWorker worker;

	if (!process_shared_preload_libraries_in_progress)
		ereport(ERROR,
				(errmsg("tier_chaos must be loaded by shared_preload_libraries")));

	DefineCustomStringVariable("tier_chaos.database",
							   "Names the database whose relations are moved.", NULL,
							   &chaos_database, "regression", PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("tier_chaos.skip",
							   "Names rules of the mover that are not to be followed.", NULL,
							   &chaos_skip, "", PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tier_chaos.workers", "Sets how many workers there are.", NULL,
							&chaos_workers, 3, 0, MAX_WORKERS, PGC_SIGHUP, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("tier_chaos");

	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shmem;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_shmem;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = 1;
	strlcpy(worker.bgw_library_name, "tier_chaos", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "tier_chaos_launcher_main",
			sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "tier_chaos launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "tier_chaos launcher", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}
