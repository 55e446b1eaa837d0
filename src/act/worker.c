/*-------------------------------------------------------------------------
 *
 * act/worker.c
 *		The worker of a database: one cycle, and its state.
 *
 * A worker is started by the launcher (act/launcher.c), connects to one database,
 * takes a sample, migrates if that is due, and ends, as autovacuum's workers do.  A
 * permanent worker for each database would use up max_worker_processes, would be in the
 * way of DROP DATABASE for ever, and would have to survive whatever happens to the
 * extension in its database; one that ends need not.
 *
 * While it runs, its slot in shared memory is its own (TierDatabaseSlot, guarded by
 * tier_shmem->lock). A callback at its exit completes the slot, however the worker ends.  After a
 * crash, shared memory is new.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/act/claims.h"
#include "src/act/freeze.h"
#include "src/act/level.h"
#include "src/act/run.h"
#include "src/act/verify.h"
#include "src/act/worker.h"
#include "src/base/attempt.h"
#include "src/base/idle.h"
#include "src/base/left_out.h"
#include "src/base/session_settings.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/decide/wear.h"
#include "src/move/pending_file.h"
#include "src/move/throttle.h"
#include "src/observe/standby_reads.h"

/*
 * A database without the extension is looked at again after this time; CREATE EXTENSION notifies
 * the launcher at once.
 */
#define NO_EXTENSION_INTERVAL_MS (10 * 60 * 1000)

/* A sample takes less; a transaction that stays open after it is not waited for. */
#define SAMPLER_PATIENCE_MS 5000

/*
 * When the last sample was begun.  Of this process; set by each sample, 0 before
 * the first, and looked at only while moves are made.
 */
static TimestampTz last_sample_at = 0;

/* ---------------------------------------------------------------------
 * Slots
 * ---------------------------------------------------------------------
 */

/* As much of it as there is room for, by whole characters. */
static void
set_error(TierDatabaseSlot *slot, const char *error)
{
	int			length = pg_mbcliplen(error, strlen(error), TIER_ERROR_LENGTH - 1);

	memcpy(slot->last_error, error, length);
	slot->last_error[length] = '\0';
}

void
tier_worker_end_cycle(TierDatabaseSlot *slot, TierWorkerState state, const char *error)
{
	TimestampTz now = GetCurrentTimestamp();
	int64		interval_ms = (int64) tier_sample_interval_s * 1000;

	slot->state = state;
	slot->pid = 0;
	slot->is_moving = false;
	slot->finished_at = now;
	slot->failures = state == TIER_WORKER_FAILED ? slot->failures + 1 : 0;
	set_error(slot, error);
	if (state == TIER_WORKER_FAILED)
		slot->next_run_at =
			TimestampTzPlusMilliseconds(now, tier_left_out_backoff_ms(slot->failures));
	else if (state == TIER_WORKER_WAITING)
		slot->next_run_at = Max(now, TimestampTzPlusMilliseconds(slot->started_at, interval_ms));
	else
		slot->next_run_at = TimestampTzPlusMilliseconds(now, NO_EXTENSION_INTERVAL_MS);

	/* A call while it ran asks for another cycle, but not of what fails. */
	if (slot->notified && state != TIER_WORKER_FAILED)
		slot->next_run_at = now;
	tier_shmem_wake_launcher();
}

/* ---------------------------------------------------------------------
 * Starting
 * ---------------------------------------------------------------------
 */

void
tier_worker_use_own_settings(void)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{TIER_COMPAT_TRANSACTION_TIMEOUT, "0"},
		{"lock_timeout", "10s"},	/* a lock on the extension's tables must
									 * not hold the worker, and its snapshot,
									 * for ever */
		{"synchronous_commit", "local"},
		{"vacuum_cost_delay", "2ms"},	/* as autovacuum has it */
	};

	for (int i = 0; i < (int) lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_OVERRIDE);
}

void
tier_worker_describe(BackgroundWorker *worker, const char *name, const char *function)
{
	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker->bgw_library_name, TIER_LIBRARY_NAME, sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, function, sizeof(worker->bgw_function_name));
	strlcpy(worker->bgw_name, name, BGW_MAXLEN);
	strlcpy(worker->bgw_type, name, BGW_MAXLEN);
}

bool
tier_worker_start(Oid database_oid)
{
	BackgroundWorker worker;

	tier_worker_describe(&worker, "tiered_storage worker", "tier_worker_main");
	worker.bgw_flags |= TIER_COMPAT_WORKER_FLAGS;
	worker.bgw_main_arg = ObjectIdGetDatum(database_oid);
	worker.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/* ---------------------------------------------------------------------
 * One cycle
 * ---------------------------------------------------------------------
 */

/*
 * Publications may be created at any time: one of all tables includes those of the extension, and
 * stops a subscriber that does not have them.  Warned once, and again after there was none.
 */
static void
warn_of_wear_and_publication(void)
{
	TierCatalogScope scope;
	char	   *name;

	tier_catalog_enter(&scope);
	MemoryContextSwitchTo(PortalContext);
	tier_wear_warn();
	name = tier_catalog_new_publication_of_all(PortalContext);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(PortalContext);
	if (name != NULL)
		ereport(LOG,
				(errmsg("publication %s is FOR ALL TABLES and includes the tables of "
						"tiered_storage", quote_identifier(name)),
				 errdetail("Replication to a subscriber that does not have the extension stops "
						   "at the next sample."),
				 errhint("Run CREATE EXTENSION tiered_storage on each subscriber, publish FOR "
						 "TABLES IN SCHEMA, or from PostgreSQL 19 on FOR ALL TABLES EXCEPT.")));
}

static void
log_failure(const char *what, ErrorData *error)
{
	ereport(LOG,
			(errmsg("could not %s: %s", what, error->message),
			 error->detail == NULL ? 0 : errdetail_internal("%s", error->detail)));
	FreeErrorData(error);
}

/* Runs the step in a separate transaction.  Its failure is no failure of the cycle. */
static void
try_step(void (*step) (void *argument), void *argument, const char *what)
{
	ErrorData  *error;

	tier_transaction_start();
	MemoryContextSwitchTo(PortalContext);
	error = tier_attempt(step, argument);
	CommitTransactionCommand();
	if (error != NULL)
		log_failure(what, error);
}

/*
 * One transaction: takes a sample if the extension exists, unless another process is sampling.
 * *conflict: why nothing may be moved, or NULL.
 */
static TierWorkerState
sample_once(char **conflict, bool *sampled)
{
	TierExtensionState extension;

	tier_transaction_start();
	PushActiveSnapshot(GetTransactionSnapshot());
	extension = tier_catalog_extension_state();
	if (extension == TIER_EXTENSION_PRESENT)
	{
		*sampled = tier_verify_sample(SAMPLER_PATIENCE_MS);
		warn_of_wear_and_publication();
		*conflict = tier_claims_publish(tier_catalog_tiers_now());
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

	return extension == TIER_EXTENSION_PRESENT ? TIER_WORKER_WAITING :
		extension == TIER_EXTENSION_ABSENT ? TIER_WORKER_NO_EXTENSION :
		TIER_WORKER_VERSION_MISMATCH;
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
	(void) tier_verify_sample(0);
}

/* That a sample fails must not be the end of a move. */
static void
sample_between_moves(void)
{
	ErrorData  *error;
	bool		is_canceled;

	last_sample_at = GetCurrentTimestamp();
	if (tier_catalog_extension_state() != TIER_EXTENSION_PRESENT)
	{
		tier_transaction_commit();	/* releases the extension */
		return;
	}
	error = tier_attempt(sample_step, NULL);
	tier_transaction_commit();
	if (error == NULL)
		return;
	is_canceled = error->sqlerrcode == ERRCODE_QUERY_CANCELED;
	log_failure("take a sample during a move", error);
	if (is_canceled)
		QueryCancelPending = InterruptPending = true;	/* meant the move, too */
}

/* How many workers migrate now; the lock is held. */
static int
count_moving(void)
{
	int			n = 0;

	for (int i = 0; i < tier_shmem->ndatabases; i++)
		n += OidIsValid(tier_shmem->databases[i].database_oid) &&
			tier_shmem->databases[i].is_moving;
	return n;
}

/* Which tiers are above the marks of their fullness policies: bits of hashes of their names. */
static void
look_at_levels(void *argument)
{
	uint64	   *above = argument;
	ListCell   *cell;

	foreach(cell, tier_levels_above_now())
	{
		const char *name = lfirst(cell);

		*above |= UINT64CONST(1) << hash_bytes((const unsigned char *) name, strlen(name)) % 64;
	}
}

/* The same; 0: none is.  If that cannot be told, it is in the log. */
static uint64
tiers_too_full(void)
{
	uint64		above = 0;

	try_step(look_at_levels, &above, "check how full the tiers are");
	return above;
}

/*
 * True once per migrate_interval, when a new policy has its turn, and as soon as a sample finds
 * a tier too full that was not when the last run ended; if the worker may move anything at all.
 * From then on it does not count among the max_workers: a move may take hours, and wait for
 * others, but the other databases want to be sampled.  There are as many such workers at most;
 * one that finds no room asks again in the next cycle.
 */
static bool
migrate_is_due(Oid database_oid)
{
	TimestampTz now = GetCurrentTimestamp();
	TierDatabaseSlot *slot;
	bool		due = false;
	uint64		above;

	if (tier_auto_migrate == TIER_AUTO_MIGRATE_OFF)
		return false;
	above = tiers_too_full();
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL)
		slot->stays_full &= above;
	if (slot != NULL && count_moving() < tier_max_workers &&
		(slot->migrated_at > now || (above & ~slot->stays_full) != 0 ||
		 (slot->policy_due_at != 0 && now >= slot->policy_due_at) ||
		 now >= TimestampTzPlusMilliseconds(slot->migrated_at,
											(int64) tier_migrate_interval_s * 1000)))
	{
		/* In a pause, resume() lets it begin. */
		due = !tier_throttle_is_paused();
		if (due)
		{
			slot->migrated_at = slot->planned_at = now;
			slot->policy_due_at = 0;
			slot->is_moving = true;
			tier_shmem_wake_launcher();
		}
		else
			slot->was_paused = true;
	}
	LWLockRelease(tier_shmem->lock);
	return due;
}

/*
 * A tier that stays too full is not tried again before the next regular run.  A new policy
 * that the run left alone still has its first run at its own time.
 */
static void
note_run(Oid database_oid, uint64 stays_full, TimestampTz policy_due_at)
{
	TierDatabaseSlot *slot;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL)
	{
		slot->stays_full = stays_full;
		if (policy_due_at != 0 &&
			(slot->policy_due_at == 0 || policy_due_at < slot->policy_due_at))
			slot->policy_due_at = policy_due_at;
	}
	LWLockRelease(tier_shmem->lock);
}

/* Notes a table for an object store that is to be frozen first. */
static TimestampTz
run_once(TierToFreeze *to_freeze)
{
	static const TierIdle idle = {sample_is_due, sample_between_moves};
	const TierPlanOptions options = {.by_worker = true,.to_freeze = to_freeze};
	TimestampTz policy_due_at;

	tier_transaction_start();

	/*
	 * SPI_finish returns to this context, when the transaction's is long
	 * gone.
	 */
	MemoryContextSwitchTo(PortalContext);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	policy_due_at = tier_run(&options, &idle).policy_due_at;
	SPI_finish();
	CommitTransactionCommand();
	pgstat_report_stat(true);
	return policy_due_at;
}

static void
migrate_once(Oid database_oid)
{
	TierToFreeze to_freeze = {0};
	TimestampTz policy_due_at = run_once(&to_freeze);

	if (OidIsValid(to_freeze.table_oid))
	{
		tier_freeze(&to_freeze);
		policy_due_at = run_once(&to_freeze);
		if (to_freeze.is_awaited)
			policy_due_at = GetCurrentTimestamp();
	}
	note_run(database_oid, tiers_too_full(), policy_due_at);
}

/* Once per migrate_interval, if no run has done it: people look at the plan. */
static bool
plan_is_due(Oid database_oid)
{
	TimestampTz now = GetCurrentTimestamp();
	TierDatabaseSlot *slot;
	bool		due;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, false);
	due = slot != NULL &&
		(slot->planned_at > now ||
		 now >= TimestampTzPlusMilliseconds(slot->planned_at,
											(int64) tier_migrate_interval_s * 1000));
	if (due)
		slot->planned_at = now;
	LWLockRelease(tier_shmem->lock);
	return due;
}

static void
plan_step(void *argument)
{
	tier_run_plan();
}

static void
rest_step(void *argument)
{
	tier_idle_rest(tier_catalog_rest());
}

/* problem: the obstacle that keeps a healthy worker from moving anything, or NULL. */
static TierWorkerState
run_cycle(Oid database_oid, char **problem)
{
	bool		sampled = true;
	TierWorkerState state = sample_once(problem, &sampled);

	if (state == TIER_WORKER_WAITING)
		tier_standby_pull();
	if (state == TIER_WORKER_WAITING && *problem == NULL && migrate_is_due(database_oid))
		migrate_once(database_oid);
	else if (state == TIER_WORKER_WAITING && plan_is_due(database_oid))
		try_step(plan_step, NULL, "make the plan of moves");
	if (!sampled && *problem == NULL)
		*problem = pstrdup("no sample was taken: a transaction that has taken one is still open");
	if (state == TIER_WORKER_WAITING && *problem == NULL)
		try_step(rest_step, NULL, "find out when the next sample is needed");
	return state;
}

/* ---------------------------------------------------------------------
 * The process
 * ---------------------------------------------------------------------
 */

static bool has_connected = false;

/* Completes the slot of a worker that was terminated or died of FATAL. */
static void
worker_exit(int code, Datum database_oid)
{
	TierDatabaseSlot *slot;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(DatumGetObjectId(database_oid), false);
	if (slot != NULL && slot->pid == MyProcPid)
		tier_worker_end_cycle(slot, TIER_WORKER_FAILED, has_connected ?
							  "the worker was terminated" :
							  "the worker could not connect; see the server log");
	LWLockRelease(tier_shmem->lock);
}

/* A run that a pause has ended begins again at resume(), see tier_resume(). */
static void
worker_finish(Oid database_oid, TierWorkerState state, const char *error)
{
	TierDatabaseSlot *slot;

	/* Before another cycle can begin, which may claim something. */
	if (state == TIER_WORKER_NO_EXTENSION)
		tier_shmem_withdraw_claims(database_oid);
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL)
	{
		bool		was_moving = slot->is_moving;

		tier_worker_end_cycle(slot, state, error);
		if (was_moving && tier_throttle_leaves_because() != NULL)
		{
			slot->migrated_at = 0;
			slot->was_paused = true;
			slot->next_run_at = slot->finished_at;
		}
	}
	LWLockRelease(tier_shmem->lock);
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
		slot->wake_at = 0;
		slot->pid = MyProcPid;
		slot->started_at = GetCurrentTimestamp();
	}
	else
		slot = NULL;
	LWLockRelease(tier_shmem->lock);
	if (slot == NULL)
		proc_exit(0);			/* given up, or the database has been dropped */

	/* 2. Connect. */
	tier_left_out_is_worker();
	tier_idle_ignores_me = true;
	tier_throttle_leave_on_pause();
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	tier_worker_use_own_settings();
	tier_settings_remember();
	BackgroundWorkerInitializeConnectionByOid(database_oid, InvalidOid, 0);
	has_connected = true;
	tier_settings_restore();

	/* SPI keeps data here that must outlive transactions. */
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
		if (data->sqlerrcode == ERRCODE_QUERY_CANCELED && tier_throttle_leaves_because() != NULL)
			state = TIER_WORKER_WAITING;
		else
		{
			EmitErrorReport();
			error = data->message;
			state = TIER_WORKER_FAILED;
		}
		FlushErrorState();
		AbortOutOfAnyTransaction();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();

	worker_finish(database_oid, state, error ? error : "");
	proc_exit(0);
}
