/*-------------------------------------------------------------------------
 *
 * act/worker.c
 *		The launcher, and the worker of each database.
 *
 * The launcher is one process for the cluster.  It is connected to no database,
 * reads pg_database, and starts a worker for each database whose time has come,
 * at most tiered_storage.max_workers at once.  It is started when recovery has
 * ended, so on a standby there is none until promotion.
 *
 * A worker connects to one database, takes a sample, migrates if that is due,
 * and ends, as autovacuum's workers do.  A permanent worker for each database
 * would use up max_worker_processes, would be in the way of DROP DATABASE for
 * ever, and would have to survive whatever happens to the extension in its
 * database; one that ends need not.
 *
 * What they know of each other is in shared memory (TierDatabaseSlot, guarded
 * by tier_shmem->lock).  A worker's slot is completed by a callback at its
 * exit, however it ends, but for a crash, after which shared memory is new.
 * Neither process decides anything about placement.
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
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/catalog/tables.h"
#include "src/base/settings.h"
#include "src/act/migrate.h"
#include "src/act/move.h"
#include "src/move/pending_file.h"
#include "src/act/cycle.h"
#include "src/base/shmem.h"
#include "src/observe/standby.h"
#include "src/base/transaction.h"
#include "src/server/waits.h"
#include "src/act/worker.h"

#define LIBRARY_NAME "tiered_storage"

/*
 * How often the launcher looks for new and dropped databases.  Before it starts
 * a worker the list must not be older than FRESH_SCAN_MS, so that it does not
 * start one for a database that has just been dropped.
 */
#define DATABASE_SCAN_INTERVAL_MS (60 * 1000)
#define FRESH_SCAN_MS 500

/* A database without the extension is looked at again after this time; CREATE
 * EXTENSION tells the launcher at once. */
#define NO_EXTENSION_INTERVAL_MS (10 * 60 * 1000)

#define LONGEST_BACKOFF_MS (60 * 60 * 1000)

/* A worker that was registered must have begun within this time. */
#define START_TIMEOUT_MS (60 * 1000)

/* A sample takes less; a transaction that stays open after it is not waited for. */
#define SAMPLER_PATIENCE_MS 5000

/* The worker's own: when the last sample of this cycle was taken. */
static TimestampTz last_sample_at = 0;

/* ---------------------------------------------------------------------
 * Slots
 * ---------------------------------------------------------------------
 */

static void
wake_launcher(void)
{
	if (tier_shmem->launcher_pid != 0)
		SetLatch(tier_shmem->launcher_latch);
}

/*
 * Ends a cycle in the slot: the state, the next time, and what went wrong.
 * The lock is held exclusively.
 */
static void
end_cycle(TierDatabaseSlot *slot, TierWorkerState state, const char *error)
{
	TimestampTz now = GetCurrentTimestamp();
	int64		interval_ms = (int64) tier_sample_interval_s * 1000;

	slot->state = state;
	slot->pid = 0;
	slot->is_moving = false;
	slot->finished_at = now;
	switch (state)
	{
		case TIER_WORKER_FAILED:
			slot->failures++;
			for (int i = 1; i < slot->failures && interval_ms < LONGEST_BACKOFF_MS; i++)
				interval_ms *= 2;
			interval_ms = Min(interval_ms, Max(LONGEST_BACKOFF_MS, (int64) tier_sample_interval_s * 1000));
			slot->next_run_at = TimestampTzPlusMilliseconds(now, interval_ms);
			strlcpy(slot->last_error, error, TIER_ERROR_LENGTH);
			break;
		case TIER_WORKER_NO_EXTENSION:
		case TIER_WORKER_VERSION_MISMATCH:
			slot->failures = 0;
			slot->last_error[0] = '\0';
			slot->next_run_at = TimestampTzPlusMilliseconds(now, NO_EXTENSION_INTERVAL_MS);
			break;
		default:
			slot->failures = 0;
			strlcpy(slot->last_error, error, TIER_ERROR_LENGTH);
			slot->next_run_at = Max(now, TimestampTzPlusMilliseconds(slot->started_at, interval_ms));
			break;
	}

	/* Whoever called while it ran wants another cycle, but not of what fails. */
	if (slot->notified && state != TIER_WORKER_FAILED)
		slot->next_run_at = now;
	wake_launcher();
}

/*
 * Settings that the server, a database or a role may have must not stop launcher
 * and workers.  Before they connect, which is a transaction, too.
 */
static void
process_settings(void)
{
	static const char *const settings[][2] = {
		{"role", "none"},
		{"search_path", "pg_catalog, pg_temp"},
		{"statement_timeout", "0"},
		{TIER_COMPAT_TRANSACTION_TIMEOUT, "0"},
		{"lock_timeout", "10s"},	/* a lock on our tables must not hold us,
									 * and our snapshot, for ever */
		{"idle_in_transaction_session_timeout", "0"},
		{"idle_session_timeout", "0"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_deferrable", "off"},
		{"synchronous_commit", "local"},
	};

	for (int i = 0; i < (int) lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	tier_guc_keep_server_values();
}

/* ---------------------------------------------------------------------
 * Launcher
 * ---------------------------------------------------------------------
 */

static void
launcher_exit(int code, Datum argument)
{
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	tier_shmem->launcher_pid = 0;
	tier_shmem->launcher_latch = NULL;
	LWLockRelease(tier_shmem->lock);
}

/* Gives each database that can have a worker a slot, and frees the others. */
static void
scan_databases(void)
{
	Oid			known[TIER_MAX_DATABASES];
	int			nknown = 0;
	bool		overflow = false;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	tier_transaction_start();
	PushActiveSnapshot(GetTransactionSnapshot());
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);

		if (!form->datallowconn || form->datistemplate || form->datconnlimit == TIER_COMPAT_INVALID_DATABASE)
			continue;
		if (nknown == TIER_MAX_DATABASES)
			overflow = true;
		else
			known[nknown++] = form->oid;
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	PopActiveSnapshot();
	CommitTransactionCommand();

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		TierDatabaseSlot *slot = &tier_shmem->databases[i];
		bool		found = false;

		for (int j = 0; j < nknown && !found; j++)
			found = known[j] == slot->database_oid;
		if (!found && slot->state != TIER_WORKER_STARTING && slot->state != TIER_WORKER_RUNNING)
			slot->database_oid = InvalidOid;
	}
	for (int i = 0; i < nknown; i++)
		if (tier_shmem_slot(known[i], true) == NULL)
			overflow = true;
	tier_shmem->database_overflow = overflow;
	if (!overflow)
		tier_shmem_keep_claims(known, nknown);
	LWLockRelease(tier_shmem->lock);
}

static bool
register_worker(Oid database_oid)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION | TIER_COMPAT_WORKER_FLAGS;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, LIBRARY_NAME, sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "tier_worker_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "tiered_storage worker", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "tiered_storage worker", BGW_MAXLEN);
	worker.bgw_main_arg = ObjectIdGetDatum(database_oid);
	worker.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/*
 * When a slot that is not at work is due: by the settings in force now, and at
 * once if the clock was set back meanwhile.
 */
static TimestampTz
due_at(const TierDatabaseSlot *slot, TimestampTz now)
{
	int64		interval_ms = (int64) tier_sample_interval_s * 1000;

	if (slot->started_at > now ||
		slot->next_run_at > TimestampTzPlusMilliseconds(now, Max(LONGEST_BACKOFF_MS, interval_ms)))
		return now;
	if (slot->state == TIER_WORKER_WAITING)
		return Min(slot->next_run_at, TimestampTzPlusMilliseconds(slot->started_at, interval_ms));
	return slot->next_run_at;
}

/* When the first worker that does not run is due, at the latest at `latest`. */
static TimestampTz
next_due(TimestampTz now, TimestampTz latest, int *running)
{
	TimestampTz next = latest;

	*running = 0;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		const TierDatabaseSlot *slot = &tier_shmem->databases[i];

		if (!OidIsValid(slot->database_oid))
			continue;
		if (slot->state == TIER_WORKER_STARTING || slot->state == TIER_WORKER_RUNNING)
			*running += slot->is_moving ? 0 : 1;
		else
			next = Min(next, due_at(slot, now));
	}
	LWLockRelease(tier_shmem->lock);
	return next;
}

static bool
worker_is_due(TimestampTz now)
{
	int			running;
	bool		due = next_due(now, DT_NOEND, &running) <= now;

	/* Who is due while all places are taken has to wait. */
	return due && running < tier_max_workers;
}

/* Starts the next worker that is due; false when there is none or no room. */
static bool
start_next_worker(void)
{
	TimestampTz now = GetCurrentTimestamp();
	TierDatabaseSlot *next = NULL;
	Oid			database_oid = InvalidOid;
	int			running = 0;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		TierDatabaseSlot *slot = &tier_shmem->databases[i];

		if (!OidIsValid(slot->database_oid))
			continue;
		if (slot->state == TIER_WORKER_STARTING &&
			now > TimestampTzPlusMilliseconds(slot->started_at, START_TIMEOUT_MS))
			end_cycle(slot, TIER_WORKER_FAILED, "the worker did not start in time");
		if (slot->state == TIER_WORKER_STARTING || slot->state == TIER_WORKER_RUNNING)
			running += slot->is_moving ? 0 : 1;
		else if (due_at(slot, now) <= now && (next == NULL || due_at(slot, now) < due_at(next, now)))
			next = slot;
	}
	if (next != NULL && running < tier_max_workers)
	{
		database_oid = next->database_oid;
		next->state = TIER_WORKER_STARTING;
		next->started_at = now;
	}
	LWLockRelease(tier_shmem->lock);
	if (!OidIsValid(database_oid))
		return false;

	if (!register_worker(database_oid))
	{
		LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
		end_cycle(tier_shmem_slot(database_oid, true), TIER_WORKER_FAILED,
				  "no background worker is free; raise max_worker_processes");
		LWLockRelease(tier_shmem->lock);
	}
	return true;
}

/* Milliseconds until something is due; a latch may come first. */
static long
launcher_sleep_ms(TimestampTz next_scan_at)
{
	TimestampTz now = GetCurrentTimestamp();
	int			running;
	TimestampTz next = next_due(now, next_scan_at, &running);

	if (running >= tier_max_workers)
		next = next_scan_at;	/* one that ends wakes us */
	return TimestampDifferenceMilliseconds(now, next);
}

void
tier_launcher_main(Datum argument)
{
	TimestampTz scanned_at = 0;

	before_shmem_exit(launcher_exit, (Datum) 0);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	process_settings();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	tier_shmem->launcher_pid = MyProcPid;
	tier_shmem->launcher_latch = MyLatch;
	LWLockRelease(tier_shmem->lock);

	while (!ShutdownRequestPending)
	{
		TimestampTz now;
		long		waits_ms;
		long		sleep_ms;

		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		now = GetCurrentTimestamp();
		if (scanned_at > now ||
			now >= TimestampTzPlusMilliseconds(scanned_at, worker_is_due(now) ? FRESH_SCAN_MS : DATABASE_SCAN_INTERVAL_MS))
		{
			scan_databases();
			scanned_at = now;
		}
		while (start_next_worker())
			CHECK_FOR_INTERRUPTS();

		waits_ms = tier_waits_sample();
		sleep_ms = launcher_sleep_ms(TimestampTzPlusMilliseconds(scanned_at, DATABASE_SCAN_INTERVAL_MS));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 waits_ms >= 0 ? Min(sleep_ms, waits_ms) : sleep_ms, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}

	/* Not 0: after pg_terminate_backend the postmaster shall start it again. */
	proc_exit(1);
}

/* ---------------------------------------------------------------------
 * Worker
 * ---------------------------------------------------------------------
 */

/* Completes the slot of a worker that was terminated or died of FATAL. */
static void
worker_exit(int code, Datum database_oid)
{
	TierDatabaseSlot *slot;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(DatumGetObjectId(database_oid), false);
	if (slot != NULL && slot->pid == MyProcPid)
		end_cycle(slot, TIER_WORKER_FAILED, "the worker was terminated");
	LWLockRelease(tier_shmem->lock);
}

static void
worker_finish(Oid database_oid, TierWorkerState state, const char *error)
{
	TierDatabaseSlot *slot;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL)
		end_cycle(slot, state, error);
	LWLockRelease(tier_shmem->lock);
	if (state == TIER_WORKER_NO_EXTENSION)
		tier_shmem_forget_claims(database_oid);
}

/* Claims this database's tablespaces; NULL, or why nothing may be moved. */
static char *
publish_claims(void)
{
	TierCatalogScope scope;
	TierSet    *set;

	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(PortalContext);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(PortalContext);
	return tier_migrate_publish_claims(set);
}

/*
 * One transaction: is the extension there, and if so, a sample, unless somebody
 * else is at it.  *conflict as from publish_claims.
 */
static TierWorkerState
sample_once(char **conflict, bool *sampled)
{
	TierExtensionState extension;
	TierWorkerState state = TIER_WORKER_WAITING;

	tier_transaction_start();
	PushActiveSnapshot(GetTransactionSnapshot());
	extension = tier_catalog_extension_state();
	if (extension == TIER_EXTENSION_PRESENT)
	{
		*sampled = tier_cycle_sample(SAMPLER_PATIENCE_MS);
		*conflict = publish_claims();
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	if (extension == TIER_EXTENSION_PRESENT)
	{
		tier_transaction_start();
		PushActiveSnapshot(GetTransactionSnapshot());
		tier_pending_sweep();
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	pgstat_report_stat(true);
	last_sample_at = GetCurrentTimestamp();

	if (extension == TIER_EXTENSION_ABSENT)
		state = TIER_WORKER_NO_EXTENSION;
	else if (extension == TIER_EXTENSION_OTHER_VERSION)
		state = TIER_WORKER_VERSION_MISMATCH;
	return state;
}

/* Moves may take hours, which must not keep samples from being taken. */
static bool
sample_is_due(void)
{
	TimestampTz now = GetCurrentTimestamp();

	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	return now < last_sample_at ||
		now >= TimestampTzPlusMilliseconds(last_sample_at, (int64) tier_sample_interval_s * 1000);
}

static void
sample_step(void *argument)
{
	(void) tier_cycle_sample(0);
}

/* That a sample fails must not be the end of a move. */
static void
sample_between_moves(void)
{
	ErrorData  *error;

	last_sample_at = GetCurrentTimestamp();
	if (tier_catalog_extension_state() != TIER_EXTENSION_PRESENT)
	{
		tier_transaction_commit();	/* lets go of the extension */
		return;
	}
	error = tier_attempt(sample_step, NULL);
	tier_transaction_commit();
	if (error == NULL)
		return;
	ereport(LOG,
			(errmsg("could not take a sample during a move: %s", error->message)));
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		QueryCancelPending = InterruptPending = true;	/* meant the move, too */
	FreeErrorData(error);
}

/* How many workers migrate now; the lock is held. */
static int
count_moving(void)
{
	int			n = 0;

	for (int i = 0; i < tier_shmem->ndatabases; i++)
		n += OidIsValid(tier_shmem->databases[i].database_oid) && tier_shmem->databases[i].is_moving;
	return n;
}

/*
 * True once per migrate_interval, if the worker may move anything at all.  From
 * then on it does not count among the max_workers: a move may take hours, and wait
 * for others, but the other databases want to be sampled.  There are as many such
 * workers at most; who finds no room asks again in the next cycle.
 */
static bool
migrate_is_due(Oid database_oid)
{
	TimestampTz now = GetCurrentTimestamp();
	TierDatabaseSlot *slot;
	bool		due = false;

	if (tier_auto_migrate == TIER_AUTO_MIGRATE_OFF)
		return false;
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL && count_moving() < tier_max_workers &&
		(slot->migrated_at > now ||
		 now >= TimestampTzPlusMilliseconds(slot->migrated_at, (int64) tier_migrate_interval_s * 1000)))
	{
		slot->migrated_at = now;
		slot->is_moving = true;
		due = true;
		wake_launcher();
	}
	LWLockRelease(tier_shmem->lock);
	return due;
}

static void
migrate_once(void)
{
	static const TierIdle idle = {sample_is_due, sample_between_moves};
	TierMigrateSummary summary;

	tier_transaction_start();

	/*
	 * SPI_finish returns to this context, when the transaction's is long
	 * gone.
	 */
	MemoryContextSwitchTo(PortalContext);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	summary = tier_migrate_run(false, true, &idle);
	SPI_finish();
	CommitTransactionCommand();
	pgstat_report_stat(true);
	if (summary.moved > 0)
		ereport(LOG,
				(errmsg("tiered_storage moved %d relations with " INT64_FORMAT " bytes",
						summary.moved, summary.moved_bytes)));
	if (summary.applied.moved > 0)
		ereport(LOG,
				(errmsg("tiered_storage moved %d relations with " INT64_FORMAT " bytes as advised, in batch " INT64_FORMAT,
						summary.applied.moved, summary.applied.moved_bytes, summary.applied.batch_id)));
}

/* *problem: what keeps a healthy worker from moving anything, or NULL. */
static TierWorkerState
run_cycle(Oid database_oid, char **problem)
{
	bool		sampled = true;
	TierWorkerState state = sample_once(problem, &sampled);

	if (state == TIER_WORKER_WAITING)
		tier_standby_pull();
	if (state == TIER_WORKER_WAITING && *problem == NULL && migrate_is_due(database_oid))
		migrate_once();
	if (!sampled && *problem == NULL)
		*problem = pstrdup("no sample was taken: a transaction that has taken one is still open");
	return state;
}

void
tier_worker_main(Datum argument)
{
	Oid			database_oid = DatumGetObjectId(argument);
	TierDatabaseSlot *slot;
	TierWorkerState state = TIER_WORKER_FAILED;
	char	   *volatile error = NULL;

	/* 1. The exit callback stands before the slot is claimed. */
	before_shmem_exit(worker_exit, ObjectIdGetDatum(database_oid));
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL && slot->state == TIER_WORKER_STARTING)
	{
		slot->state = TIER_WORKER_RUNNING;
		slot->notified = false;
		slot->pid = MyProcPid;
		slot->started_at = GetCurrentTimestamp();
	}
	else
		slot = NULL;
	LWLockRelease(tier_shmem->lock);
	if (slot == NULL)
		proc_exit(0);			/* given up, or the database has been dropped */

	/* 2. Connect. */
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	process_settings();
	BackgroundWorkerInitializeConnectionByOid(database_oid, InvalidOid, 0);

	/* The owner of the database may have set session_authorization, too. */
	SetSessionAuthorization(BOOTSTRAP_SUPERUSERID, true);

	/* SPI keeps what must outlive transactions here. */
	PortalContext = AllocSetContextCreate(TopMemoryContext, "tiered_storage worker",
										  ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(PortalContext);

	/* 3. One cycle; whatever goes wrong in it is in the log and in the slot. */
	PG_TRY();
	{
		char	   *problem = NULL;

		state = run_cycle(database_oid, &problem);
		error = problem;
	}
	PG_CATCH();
	{
		ErrorData  *data;

		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(TopMemoryContext);
		data = CopyErrorData();
		EmitErrorReport();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		error = data->message;
		state = TIER_WORKER_FAILED;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();

	worker_finish(database_oid, state, error ? error : "");
	proc_exit(0);
}

void
tier_worker_init(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = 5;
	strlcpy(worker.bgw_library_name, LIBRARY_NAME, sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "tier_launcher_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "tiered_storage launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "tiered_storage launcher", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}
