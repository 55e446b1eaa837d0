/*-------------------------------------------------------------------------
 *
 * act/launcher.c
 *		The launcher: which database gets a worker, and when.
 *
 * One process for the cluster, a static background worker.  It is connected to no
 * database, reads pg_database, and starts a worker (act/worker.c) for each database
 * whose time has come, at most tiered_storage.max_workers at once, not counting those
 * that move something.  It is started when recovery has ended, so on a standby there
 * is none until promotion.  It decides nothing about placement.
 *
 * It gives the slots out (TierDatabaseSlot, base/shmem.h, guarded by
 * tier_shmem->lock) and makes one STARTING; from there on the slot is the worker's,
 * until that has ended its cycle.  The lock is never held while anything is started.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/act/launcher.h"
#include "src/act/worker.h"
#include "src/base/idle.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/base/transaction.h"
#include "src/move/throttle.h"
#include "src/server/waits.h"

/*
 * How often the launcher looks for new and dropped databases.  Before it starts
 * a worker the list must not be older than FRESH_SCAN_MS, so that it does not
 * start one for a database that has just been dropped.
 */
#define DATABASE_SCAN_INTERVAL_MS (60 * 1000)
#define FRESH_SCAN_MS 500

/* If there are more databases than slots, so many in a scan take those of others. */
#define MOST_TURNS 8

/* Cycles for the sake of new policies have at least this distance, however many are added. */
#define NEW_POLICY_MS 10000

/* A worker that was registered must have begun within this time. */
#define START_TIMEOUT_MS (60 * 1000)

static void
launcher_exit(int code, Datum argument)
{
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	tier_shmem->launcher_pid = 0;
	tier_shmem->launcher_latch = NULL;
	LWLockRelease(tier_shmem->lock);
}

/*
 * Gives each database that can have a worker a slot, and frees the others.  If there are too many
 * databases, those without the extension take turns, in the order of their OIDs.
 */
static void
scan_databases(void)
{
	static Oid	last_given = InvalidOid;
	List	   *known = NIL;
	int			first = 0;
	int			left;
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

		if (form->datallowconn && !form->datistemplate &&
			form->datconnlimit != TIER_COMPAT_INVALID_DATABASE)
			known = lappend_oid(known, form->oid);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	PopActiveSnapshot();
	list_sort(known, list_oid_cmp);
	while (first < list_length(known) && list_nth_oid(known, first) <= last_given)
		first++;
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		TierDatabaseSlot *slot = &tier_shmem->databases[i];

		if (!list_member_oid(known, slot->database_oid) &&
			slot->state != TIER_WORKER_STARTING && slot->state != TIER_WORKER_RUNNING)
			slot->database_oid = InvalidOid;
	}
	tier_shmem->database_overflow = list_length(known) > TIER_MAX_DATABASES;
	left = !tier_shmem->database_overflow ? list_length(known) :
		Max(MOST_TURNS, TIER_MAX_DATABASES - tier_shmem->ndatabases);
	for (int i = 0; i < list_length(known) && left > 0; i++)
	{
		Oid			database_oid = list_nth_oid(known, (first + i) % list_length(known));

		if (tier_shmem_slot(database_oid, false) != NULL ||
			tier_shmem_slot(database_oid, true) == NULL)
			continue;
		last_given = database_oid;
		left--;
	}
	LWLockRelease(tier_shmem->lock);
	CommitTransactionCommand();
}

/*
 * A pause is a file, which DROP EXTENSION leaves.  It goes when each database has been found to be
 * without the extension since that was asked for.
 */
static void
forget_pause(void)
{
	TimestampTz paused_at = tier_throttle_paused_at();
	bool		is_obeyed;

	if (paused_at == 0)
		return;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	is_obeyed = tier_shmem->database_overflow || tier_shmem->ndatabases == 0;
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		const TierDatabaseSlot *slot = &tier_shmem->databases[i];

		is_obeyed |= OidIsValid(slot->database_oid) &&
			(slot->state != TIER_WORKER_NO_EXTENSION || slot->started_at <= paused_at);
	}
	LWLockRelease(tier_shmem->lock);
	if (!is_obeyed)
		tier_throttle_forget_pause();
}

/*
 * When a slot that is not at work is due: by the settings in force now, and at once if the clock
 * was set back.
 */
static TimestampTz
due_at(const TierDatabaseSlot *slot, TimestampTz now)
{
	int64		interval_ms = (int64) tier_sample_interval_s * 1000;

	if (Max(slot->started_at, slot->idle_until) > now ||
		slot->next_run_at >
		TimestampTzPlusMilliseconds(now, Max(TIER_LONGEST_BACKOFF_MS, interval_ms)))
		return now;
	if (slot->state == TIER_WORKER_WAITING)
	{
		TimestampTz at = Min(slot->next_run_at,
							 TimestampTzPlusMilliseconds(Max(slot->started_at, slot->idle_until),
														 interval_ms));
		int64		distance_ms = Min(NEW_POLICY_MS, tier_migrate_interval_s * 1000);

		/* A cycle that began after that moment has had its chance. */
		if (slot->policy_due_at > slot->started_at)
			at = Min(at, Max(slot->policy_due_at,
							 TimestampTzPlusMilliseconds(slot->started_at, distance_ms)));
		return at;
	}
	return slot->next_run_at;
}

/* The slot that is due first, of those not at work; *running are.  The lock is held. */
static TierDatabaseSlot *
find_next(TimestampTz now, int *running)
{
	TierDatabaseSlot *next = NULL;

	*running = 0;
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		TierDatabaseSlot *slot = &tier_shmem->databases[i];

		if (!OidIsValid(slot->database_oid))
			continue;
		if (slot->state == TIER_WORKER_STARTING || slot->state == TIER_WORKER_RUNNING)
			*running += slot->is_moving ? 0 : 1;
		else if (next == NULL || due_at(slot, now) < due_at(next, now))
			next = slot;
	}
	return next;
}

/*
 * When the next worker is to be started, at the latest at `latest`.  While all places are taken,
 * those that are due have to wait: one that ends wakes us.
 */
static TimestampTz
next_start(TimestampTz now, TimestampTz latest)
{
	const TierDatabaseSlot *next;
	int			running;

	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	next = find_next(now, &running);
	if (next != NULL && running < tier_max_workers)
		latest = Min(latest, due_at(next, now));
	LWLockRelease(tier_shmem->lock);
	return latest;
}

/* Starts the next worker that is due, if needed; false when none is due or there is no room. */
static bool
start_next_worker(void)
{
	TimestampTz now = GetCurrentTimestamp();
	TierDatabaseSlot *next;
	Oid			database_oid = InvalidOid;
	int			running;
	bool		is_idle = false;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		TierDatabaseSlot *slot = &tier_shmem->databases[i];

		if (!OidIsValid(slot->database_oid) || slot->state != TIER_WORKER_STARTING)
			continue;

		/* A clock that was set back must not prolong it. */
		slot->started_at = Min(slot->started_at, now);
		if (now > TimestampTzPlusMilliseconds(slot->started_at, START_TIMEOUT_MS))
			tier_worker_end_cycle(slot, TIER_WORKER_FAILED, "the worker did not start in time");
	}
	next = find_next(now, &running);
	if (next != NULL && running < tier_max_workers && due_at(next, now) <= now &&
		!(is_idle = tier_idle_look(next, now)))
	{
		database_oid = next->database_oid;
		next->state = TIER_WORKER_STARTING;
		next->started_at = now;
	}
	LWLockRelease(tier_shmem->lock);
	if (!OidIsValid(database_oid))
		return is_idle;

	if (!tier_worker_start(database_oid))
	{
		TierDatabaseSlot *slot;

		/* The database is well, so the pause does not grow. */
		LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
		slot = tier_shmem_slot(database_oid, true);
		slot->failures = 0;
		tier_worker_end_cycle(slot, TIER_WORKER_FAILED,
							  "no background worker is free; raise max_worker_processes");
		LWLockRelease(tier_shmem->lock);
	}
	return true;
}

void
tier_launcher_main(Datum argument)
{
	TimestampTz scanned_at = 0;

	before_shmem_exit(launcher_exit, (Datum) 0);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	tier_worker_use_own_settings();
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
		TimestampTz next_at;

		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		now = GetCurrentTimestamp();
		if (scanned_at > now ||
			now >= TimestampTzPlusMilliseconds(scanned_at,
											   next_start(now, DT_NOEND) <= now ? FRESH_SCAN_MS :
											   DATABASE_SCAN_INTERVAL_MS))
		{
			scan_databases();
			scanned_at = now;
		}
		forget_pause();
		next_at = TimestampTzPlusMilliseconds(scanned_at, DATABASE_SCAN_INTERVAL_MS);
		while (start_next_worker())
			CHECK_FOR_INTERRUPTS();

		waits_ms = tier_waits_sample();
		now = GetCurrentTimestamp();
		sleep_ms = TimestampDifferenceMilliseconds(now, next_start(now, next_at));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 waits_ms >= 0 ? Min(sleep_ms, waits_ms) : sleep_ms, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}

	/* Not 0: after pg_terminate_backend the postmaster is to start it again. */
	proc_exit(1);
}

void
tier_launcher_init(void)
{
	BackgroundWorker worker;

	tier_worker_describe(&worker, "tiered_storage launcher", "tier_launcher_main");
	worker.bgw_restart_time = 5;
	RegisterBackgroundWorker(&worker);
}
