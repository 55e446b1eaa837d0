/*-------------------------------------------------------------------------
 *
 * move/online/give_way.c
 *		Giving way to other processes between batches and attempts.
 *
 * Between two batches of a copy, under AccessShareLock, tier_online_watch() looks for every
 * reason to end the transaction: another process waits for the relation or for this process,
 * moves are paused, readers of the WAL do not keep up, DROP EXTENSION.  Between two attempts,
 * with nothing locked, tier_online_backoff_step() waits.  Both continue to read the WAL,
 * because unread WAL may be removed, and the settings of a reload take effect.  A pause ends
 * the move of a worker in either (tier_throttle_check_pause()).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/latch.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/transaction.h"
#include "src/move/online/state.h"
#include "src/move/pace.h"
#include "src/move/pending_file.h"
#include "src/move/space.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"

/* The interval of checks for waiting processes, a pause and changed settings. */
#define WATCH_INTERVAL_MS 20

/*
 * The interval of reading the WAL, at most.  It is also read when the server has switched to
 * the next segment, because from then on a checkpoint can remove unread WAL.
 */
#define WAL_INTERVAL_MS 500

/* The interval of checks by a mover that is paused, or has lost its place. */
#define QUEUE_INTERVAL_MS 200

void
tier_online_set_phase(TierOnline *move, TierPhase phase)
{
	move->phase = phase;
	tier_progress_set(TIER_PROGRESS_PHASE, phase);
}

static void
obey_reload(void)
{
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/* Waits; a reload of the configuration takes effect. */
static void
wait_ms(long milliseconds)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	obey_reload();
}

bool
tier_online_read_wal(TierOnline *move)
{
	if (move->copy == NULL)
		return true;
	move->wal_read_at = tier_clock_monotonic_us();
	return tier_copy_read_wal(move->copy) != TIER_WAL_LOST;
}

/* The WAL must be read all the time.  False when some of it is lost. */
static bool
keep_up(TierOnline *move)
{
	if (move->copy == NULL ||
		(tier_clock_monotonic_us() < move->wal_read_at + WAL_INTERVAL_MS * 1000 &&
		 !tier_copy_is_behind(move->copy)))
		return true;
	return tier_online_read_wal(move);
}

/*
 * Returns true if a reader does not keep up with the WAL, of which a copy writes more.  Looked
 * at as often as the WAL is read.  Without a copy there is nothing to hold up: the caller
 * decides whether one begins, and reading blocks again after the swap writes no WAL.
 */
static bool
is_held_up(TierOnline *move)
{
	int64		now = tier_clock_monotonic_us();

	if (!move->request->waits_for_wal_readers || move->copy == NULL)
		return false;
	if (move->lag_looked_at != 0 && now < move->lag_looked_at + WAL_INTERVAL_MS * 1000 &&
		!tier_debug_skips("lag_interval"))
		return move->held_up_since != 0;
	move->lag_looked_at = now;
	move->wal_lag = tier_wal_lag();
	if (move->wal_lag.reader == TIER_WAL_NOBODY)
		move->held_up_since = 0;
	else if (move->held_up_since == 0)
		move->held_up_since = now;
	return move->held_up_since != 0;
}

static bool
is_held_up_too_long(const TierOnline *move)
{
	return tier_clock_monotonic_us() >=
		move->held_up_since + TIER_LAG_TIMEOUT_S * INT64CONST(1000000);
}

bool
tier_online_idle_is_due(const TierOnline *move)
{
	return move->request->idle != NULL && move->request->idle->is_due();
}

/* Returns true if another process waits for one of the relations, or for this process. */
static bool
has_waiters(const TierOnline *move)
{
	if (tier_relation_has_waiters(move->request->relation_oid))
		return true;
	for (int i = 0; i < move->nparts; i++)
		if (tier_relation_has_waiters(move->parts[i].relation_oid))
			return true;
	return false;
}

/*
 * Raises an error when a disk is about to be full, which others would feel, too: one
 * that is full of WAL stops the server.
 */
static void
require_room(TierOnline *move)
{
	TierObstacle shortage;

	if (move->unlooked_bytes < TIER_SPACE_STEP_BYTES)
		return;
	move->unlooked_bytes = 0;
	shortage = tier_space_look(move->request->tablespace_oid, move->request->reserve_bytes);
	tier_obstacle_throw(&shortage);
}

TierStepResult
tier_online_watch(TierOnline *move)
{
	require_room(move);
	do
	{
		int64		now = tier_clock_monotonic_us();

		CHECK_FOR_INTERRUPTS();
		if (now >= move->watched_at + WATCH_INTERVAL_MS * 1000)
		{
			move->watched_at = now;
			obey_reload();
			tier_pace_look();
			tier_throttle_check_pause();
			if (tier_pending_extension_is_wanted())
				return TIER_STEP_ABANDONED;
			if (tier_throttle_is_paused() || is_held_up(move) ||
				tier_online_idle_is_due(move) || tier_transaction_is_old() ||
				(has_waiters(move) && !tier_debug_skips("give_way")))
				return TIER_STEP_AGAIN;
		}
		if (!keep_up(move))
			return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
		if (now >= move->throttled_until)
			return TIER_STEP_GO_ON;
		wait_ms(Min(WATCH_INTERVAL_MS, (long) ((move->throttled_until - now) / 1000 + 1)));
	} while (true);
}

void
tier_online_note_copied(TierOnline *move, int64 bytes)
{
	move->report->copied_bytes += bytes;
	tier_progress_add(TIER_PROGRESS_BYTES_COPIED, bytes);
	tier_progress_set(TIER_PROGRESS_BLOCKS_DONE, tier_copy_done_blocks(move->copy));
	tier_space_written(bytes);
	move->unlooked_bytes += bytes;
	move->throttled_until = tier_throttle_charge(bytes);
}

/*
 * A lock request that fails makes others wait behind it in vain, and the fewer transactions
 * have the relation locked, the sooner a request is granted.  So a pause after a failed
 * request ends early when as few transactions have the relation locked as in the best moment
 * of the first part of the pause: 1 / e of it, as in the secretary problem, whose rule this
 * is.  It never ends within that part: a transaction that has ended, but has not yet released
 * its locks, is not counted, and stays so for as long as its process gets no processor.
 */
#define OBSERVED_PART 0.37

typedef struct Moment
{
	int64		observed_until;
	int			fewest;			/* lockers, until then */
} Moment;

static bool
is_good_moment(const TierOnline *move, Moment *moment, int64 now)
{
	int			lockers;

	if (move->busy == 0 || move->busy_reason != TIER_BUSY_LOCK)
		return false;
	lockers = tier_relation_count_lockers(move->request->relation_oid, AccessExclusiveLock);
	for (int i = 0; i < move->nparts; i++)
		if (move->parts[i].relation_oid != move->request->relation_oid)
			lockers += tier_relation_count_lockers(move->parts[i].relation_oid,
												   AccessExclusiveLock);
	if (now >= moment->observed_until)
		return lockers <= moment->fewest;
	moment->fewest = Min(moment->fewest, lockers);
	return false;
}

/* Notifies the client once of the reason for a wait; a worker has no client. */
static void
tell_waiting(TierOnline *move, bool is_paused, bool *has_told_pause)
{
	if (is_paused && !*has_told_pause)
		ereport(NOTICE,
				(errmsg("the move waits: moves are paused"),
				 errhint("SELECT tiered_storage.resume() lets them continue.")));
	else if (!is_paused && !move->has_told_lag)
		ereport(NOTICE,
				(errmsg("the move waits: %s", tier_wal_lag_text(&move->wal_lag)),
				 errhint("It continues when that has changed, and fails after %d s.",
						 TIER_LAG_TIMEOUT_S)));
	*has_told_pause |= is_paused;
	move->has_told_lag |= !is_paused;
}

/* The phase while the move neither copies nor requests a lock. */
static TierPhase
idle_phase(bool is_paused, bool is_held, bool is_over)
{
	if (is_paused)
		return TIER_PHASE_PAUSED;
	if (is_held)
		return TIER_PHASE_WAITING;
	return is_over ? TIER_PHASE_QUEUED : TIER_PHASE_GIVING_WAY;
}

TierStepResult
tier_online_backoff_step(TierOnline *move)
{
	int64		until = tier_clock_monotonic_us() + (int64) move->backoff_ms * 1000;
	TierPhase	phase = move->phase;
	bool		has_told_pause = false;
	Moment		moment;

	moment.observed_until = until - (int64) (move->backoff_ms * 1000 * (1.0 - OBSERVED_PART));
	moment.fewest = INT_MAX;
	tier_throttle_yield();
	tier_debug_point("backing_off");
	for (;;)
	{
		int64		now = tier_clock_monotonic_us();
		bool		paused = tier_throttle_is_paused();
		bool		held = is_held_up(move);

		CHECK_FOR_INTERRUPTS();
		tier_throttle_check_pause();
		if (held && !paused && is_held_up_too_long(move))
			return TIER_STEP_HELD_UP;
		if (tier_pending_extension_is_wanted() || !tier_online_may_go_on(move))
			return TIER_STEP_ABANDONED;
		if (!keep_up(move))
			return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
		if (tier_online_idle_is_due(move))
		{
			/* It may take long; tier_wal_keep_up is called there. */
			if (!tier_online_read_wal(move))
				return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
			move->request->idle->run();
			now = tier_clock_monotonic_us();
		}
		if (tier_transaction_is_old())
			tier_transaction_commit();
		if (now < until && is_good_moment(move, &moment, now))
			until = now;
		if (now >= until && !paused && !held && tier_throttle_resume())
			break;
		if (paused || held)
			tell_waiting(move, paused, &has_told_pause);
		tier_online_set_phase(move, idle_phase(paused, held, now >= until));
		wait_ms(paused || held || now >= until ? QUEUE_INTERVAL_MS :
				Max(1, (long) Min(move->busy > 0 ? WATCH_INTERVAL_MS : WAL_INTERVAL_MS,
								  (until - now) / 1000)));
	}

	/* The next thing is a lock, which may have to be waited for. */
	if (!tier_online_read_wal(move))
		return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
	tier_online_set_phase(move, phase);
	return TIER_STEP_GO_ON;
}
