/*-------------------------------------------------------------------------
 *
 * act/pause_sql.c
 *		SQL functions that pause and resume the moves of the server.
 *
 * Runs in sessions.  In a pause sessions that move something wait, as their users do;
 * workers give their moves up and leave, so that their databases can be renamed, dropped
 * or copied (move/throttle.h).  pause() waits for those that are there, for a bounded time.
 * Workers that come later take samples, which is a matter of milliseconds, and move nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/procarray.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/shmem.h"
#include "src/move/progress.h"
#include "src/move/throttle.h"

/* How long pause() waits for workers; how often it cancels one that does not leave by itself. */
#define PATIENCE_MS 10000
#define CANCEL_INTERVAL_MS 1000
#define LOOK_INTERVAL_MS 20

PG_FUNCTION_INFO_V1(tier_pause);
PG_FUNCTION_INFO_V1(tier_resume);
PG_FUNCTION_INFO_V1(tier_is_paused);

/* ---------------------------------------------------------------------
 * Workers
 * ---------------------------------------------------------------------
 */

static List *
running_workers(void)
{
	List	   *pids = NIL;

	if (tier_shmem == NULL)
		return NIL;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	for (int i = 0; i < tier_shmem->ndatabases; i++)
		if (OidIsValid(tier_shmem->databases[i].database_oid) &&
			tier_shmem->databases[i].state == TIER_WORKER_RUNNING)
			pids = lappend_int(pids, tier_shmem->databases[i].pid);
	LWLockRelease(tier_shmem->lock);
	return pids;
}

/* Those that are at work still, or connected to their databases. */
static List *
still_there(List *pids)
{
	List	   *running = running_workers();
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, pids)
		if (list_member_int(running, lfirst_int(cell)) ||
			BackendPidGetProc(lfirst_int(cell)) != NULL)
		left = lappend_int(left, lfirst_int(cell));
	return left;
}

/* A process that waits for a lock, or for a disk between two checks, does not see the pause. */
static void
cancel(List *pids)
{
	ListCell   *cell;

	/* The number of one that has ended may be that of somebody else now. */
	foreach(cell, list_intersection_int(pids, running_workers()))
		(void) kill(lfirst_int(cell), SIGINT);
}

/* Waits until they have left, or for PATIENCE_MS; returns those that have not. */
static List *
wait_for_workers(List *pids)
{
	int64		now = tier_clock_monotonic_us();
	int64		until = now + PATIENCE_MS * INT64CONST(1000);
	int64		cancel_at = now + CANCEL_INTERVAL_MS * 1000;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		pids = still_there(pids);
		now = tier_clock_monotonic_us();
		if (pids == NIL || now >= until || !tier_throttle_is_paused())
			return pids;
		if (now >= cancel_at)
		{
			cancel(pids);
			cancel_at = now + CANCEL_INTERVAL_MS * 1000;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOOK_INTERVAL_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/* ---------------------------------------------------------------------
 * Remaining workers and sessions
 * ---------------------------------------------------------------------
 */

static void
tell(int level, List *pids, const char *of_one, const char *of_many, const char *hint)
{
	StringInfoData list;
	ListCell   *cell;

	if (pids == NIL)
		return;
	initStringInfo(&list);
	foreach(cell, pids)
		appendStringInfo(&list, "%s%d", list.len > 0 ? ", " : "", lfirst_int(cell));
	ereport(level,
			(errmsg("%d %s", list_length(pids), list_length(pids) == 1 ? of_one : of_many),
			 errdetail_plural("Its process is %s.", "Their processes are %s.",
							  list_length(pids), list.data),
			 errhint("%s", hint)));
}

/* ---------------------------------------------------------------------
 * SQL
 * ---------------------------------------------------------------------
 */

/* A pause is of the server, and a standby may be promoted: it is no error there. */
Datum
tier_pause(PG_FUNCTION_ARGS)
{
	bool		was_new = tier_throttle_set_paused(true);
	List	   *workers;

	if (RecoveryInProgress())
		ereport(NOTICE,
				(errmsg("moves of this standby will be paused after its promotion"),
				 errdetail("A pause applies only to the server on which it is called; "
						   "moves of the primary continue."),
				 errhint("Call it on the primary to pause moves there.")));

	/*
	 * Not while the caller has locks that others, or the workers, wait for:
	 * they would for as long.
	 */
	workers = running_workers();
	if (!IsInTransactionBlock(true))
		workers = wait_for_workers(workers);
	if (tier_throttle_is_paused())
	{
		tell(WARNING, workers, "worker has not left its database yet",
			 "workers have not left their databases yet",
			 "They leave as soon as they can; "
			 "SELECT tiered_storage.pause() waits for them again.");
		tell(NOTICE, tier_progress_sessions(),
			 "session waits with its move for tiered_storage.resume()",
			 "sessions wait with their moves for tiered_storage.resume()",
			 "A waiting session stays connected to its database. SELECT "
			 "pg_cancel_backend(pid) ends its move.");
	}
	PG_RETURN_BOOL(was_new);
}

/* The runs that the pause has ended begin again at once. */
Datum
tier_resume(PG_FUNCTION_ARGS)
{
	bool		was_paused = tier_throttle_set_paused(false);

	if (was_paused && tier_shmem != NULL)
	{
		LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
		for (int i = 0; i < tier_shmem->ndatabases; i++)
		{
			TierDatabaseSlot *slot = &tier_shmem->databases[i];

			if (!slot->was_paused)
				continue;
			slot->was_paused = false;
			slot->notified = true;	/* if it takes a sample now, after that */
			slot->next_run_at = 0;
		}
		tier_shmem_wake_launcher();
		LWLockRelease(tier_shmem->lock);
	}
	PG_RETURN_BOOL(was_paused);
}

Datum
tier_is_paused(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tier_throttle_is_paused());
}
