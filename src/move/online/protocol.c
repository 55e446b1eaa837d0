/*-------------------------------------------------------------------------
 *
 * move/online/protocol.c
 *		The online move: its steps, in their order.
 *
 * Runs in the worker and in sessions that CALL move_relation or migrate.  Each
 * step is one or more transactions (move/online/step_transaction.c); the numbers are
 * those in copy_and_swap():
 *
 *	1 register	The numbers of the new files are written down, before there are any.
 *	2, 4 residency
 *				The blocks in shared buffers are noted: before the copy, and after it.
 *				Nothing is locked; the pass over all headers may take long.
 *	3 copy		Under AccessShareLock, without snapshot and transaction ID, so
 *				that vacuum is not held up.  Others who wait for the relation, or
 *				for our transaction, are seen soon (move/online/give_way.c): we
 *				commit, they go on, and later we go on where we were.
 *	5 catch up	The same, until next to nothing is left to do.  Nothing that
 *				takes long is between this and the swap, or a busy relation
 *				would never be caught up with.
 *	6 ask		Asks the caller whether the move is still wanted, and allowed now.
 *	7 swap		With nothing locked, ACCESS EXCLUSIVE is asked for.  When it is
 *				granted, the TOAST table and its index are locked without waiting,
 *				everything is checked again, and the pg_class rows
 *				claimed without waiting; the rest of the WAL is read, the last
 *				blocks are copied, pg_class is changed, the registrations of the
 *				new files deleted, commit.
 *	8 back off	If that was not possible: with nothing locked, until its time is over
 *				or few others have the relation locked; then 5 again.
 *	9 prewarm	The blocks that were in shared buffers are read again, from the new file.
 *
 * The files of a table, its TOAST table and that table's index are exchanged in one
 * transaction, so that they are never in two tablespaces: PostgreSQL itself does not create
 * such tables, and pg_upgrade loses one.
 *
 * The mover never waits for a lock while it holds one on the relation or its table.  A session
 * that waits for the mover while the mover waits for it would be a deadlock.  Even without
 * one, the early deadlock check would fail a session that has read the table in its
 * transaction and now wants to alter it, as soon as the mover queues for a stronger lock.  So
 * the AccessShareLock is released before the strong lock is requested; changes in between are
 * in the WAL, or are found by the checks at the grant.
 *
 * Each attempt is a separate transaction, so that a failed one releases its transaction ID: an
 * old one would keep vacuum from cleaning up.
 *
 * Why the result is the relation is in docs/internals/online-move.md.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/move/online/state.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"

/*
 * Pause before the second attempt for a lock, doubled each time, and its limits:
 * in all we are about as patient as the copy has taken, since it is thrown away
 * when we are not.  A vacuum of the table may take long, too.
 */
#define FIRST_BACKOFF_MS 20
#define LONGEST_BACKOFF_MS 5000
#define LONGEST_PATIENT_BACKOFF_MS (5 * 60 * 1000)

/*
 * After a pause of so many times the wait for the strong lock, the lock is queued for again;
 * before that, it is taken only if it is free.  While our request is queued, new requests of
 * others queue behind it, or are refused.
 */
#define PAUSES_PER_QUEUE 19

/* The number of restarts of a copy because the file was rewritten meanwhile. */
#define MAX_RESTARTS 5

/* ---------------------------------------------------------------------
 * Retries
 * ---------------------------------------------------------------------
 */

/* The pause after so many attempts in a row, when the copy has taken so long. */
static long
backoff_after(int attempts, int64 spent_ms)
{
	int64		patient_ms = Min(spent_ms / TIER_LOCK_ATTEMPTS, LONGEST_PATIENT_BACKOFF_MS);
	int64		longest_ms = Max(LONGEST_BACKOFF_MS, patient_ms);

	return (long) Min((int64) FIRST_BACKOFF_MS << Min(attempts - 1, 14), longest_ms);
}

static long
next_backoff_ms(const TierOnline *move)
{
	return backoff_after(move->busy, (tier_clock_monotonic_us() - move->began_at) / 1000);
}

int64
tier_online_patience_ms(int64 copy_ms)
{
	int64		patience_ms = tier_move_lock_timeout_ms;

	for (int attempts = 1; attempts < TIER_LOCK_ATTEMPTS; attempts++)
		patience_ms += backoff_after(attempts, copy_ms) + tier_move_lock_timeout_ms;
	return patience_ms;
}

/* Counts an attempt in vain; false when it was the last one. */
static bool
may_try_again(TierOnline *move)
{
	return ++move->busy < TIER_LOCK_ATTEMPTS;
}

/* A step, repeated as long as others are in the way. */
static TierStepResult
retry_step(TierOnline *move, TierStepResult (*step) (TierOnline *move))
{
	for (;;)
	{
		TierStepResult outcome = tier_online_run_step(move, step);

		if (outcome == TIER_STEP_AGAIN)
			move->backoff_ms = FIRST_BACKOFF_MS;
		else if (outcome == TIER_STEP_BUSY)
		{
			if (!may_try_again(move))
				return TIER_STEP_BUSY;
			move->backoff_ms = next_backoff_ms(move);
		}
		else
			return outcome;
		outcome = tier_online_run_step(move, tier_online_backoff_step);
		if (outcome != TIER_STEP_GO_ON)
			return outcome;
	}
}

/* ---------------------------------------------------------------------
 * One copy
 * ---------------------------------------------------------------------
 */

static void
account_for_swap(TierOnline *move)
{
	TierOnlineReport *report = move->report;
	int64		end = move->released_at != 0 ? move->released_at : tier_clock_monotonic_us();
	int64		cpu_end = move->released_at != 0 ? move->cpu_at_release_us : tier_clock_cpu_us();
	int64		wait_end = move->locked_at != 0 ? move->locked_at : end;

	report->attempts++;
	tier_progress_add(TIER_PROGRESS_ATTEMPTS, 1);
	if (move->asked_at != 0)
	{
		report->lock_wait_ms += (wait_end - move->asked_at) / 1000.0;
		/* An attempt that did not queue ends no pause. */
		move->may_queue_at = Max(move->may_queue_at,
								 wait_end + (wait_end - move->asked_at) * PAUSES_PER_QUEUE);
	}
	if (move->locked_at != 0)
	{
		double		held_ms = (end - move->locked_at) / 1000.0;
		double		cpu_ms = (cpu_end - move->cpu_at_lock_us) / 1000.0;
		double		flush_ms = move->flush_us / 1000.0;

		if (move->released_at != 0)
			flush_ms += (move->released_at - move->committing_at) / 1000.0;
		if (held_ms > report->lock_held_ms)
		{
			report->lock_held_ms = held_ms;
			report->flush_ms = flush_ms;
		}
		ereport(DEBUG1,
				(errmsg_internal("attempt %d to end the move of relation %u: "
								 "lock held %.3f ms, flushed %.3f ms, on a processor %.3f ms",
								 report->attempts, move->request->relation_oid, held_ms,
								 flush_ms, cpu_ms)));
	}
}

/* One attempt at the strong lock, and its cost. */
static TierStepResult
attempt_swap(TierOnline *move)
{
	TierStepResult outcome;

	move->asked_at = move->locked_at = move->committing_at = move->released_at = 0;
	move->flush_us = 0;
	outcome = tier_online_run_step(move, tier_online_swap_step);
	account_for_swap(move);

	/* Whatever came after the commit. */
	return move->is_swapped ? TIER_STEP_GO_ON : outcome;
}

/*
 * One copy, from its beginning to its end: steps 1 to 8 of the protocol.
 * TIER_STEP_GO_ON when the new files are the relation's; else they are to be discarded.
 */
static TierStepResult
copy_and_swap(TierOnline *move)
{
	TierStepResult outcome;

	move->began_at = tier_clock_monotonic_us();

	/* 1. Register the new files, before there are any. */
	outcome = tier_online_run_step(move, tier_online_register_step);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	tier_debug_point("registered");

	/*
	 * 2. Record the blocks in shared buffers, before the copy reads all
	 * blocks.
	 */
	tier_online_set_phase(move, TIER_PHASE_COPYING);
	outcome = tier_online_run_step(move, tier_online_residency_before_step);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;

	/* 3. Copy. */
	outcome = retry_step(move, tier_online_copy_step);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;

	/* 4. Note which of these blocks are still in shared buffers. */
	tier_online_set_phase(move, TIER_PHASE_CATCHING_UP);
	outcome = tier_online_run_step(move, tier_online_residency_after_step);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;

	for (;;)
	{
		/* 5. Copy the blocks that have changed meanwhile. */
		tier_online_set_phase(move, TIER_PHASE_CATCHING_UP);
		outcome = retry_step(move, tier_online_catch_up_step);
		if (outcome != TIER_STEP_GO_ON)
			return outcome;

		/* 6. Is the move still wanted? */
		if (move->request->is_wanted != NULL)
			outcome = tier_online_run_step(move, tier_online_ask_step);

		/* 7. Swap the files, under the strong lock. */
		if (outcome == TIER_STEP_GO_ON)
		{
			tier_online_set_phase(move, TIER_PHASE_SWAPPING);
			outcome = attempt_swap(move);
		}
		if (outcome != TIER_STEP_BUSY)
			return outcome;

		/* 8. Back off, and catch up again. */
		if (!may_try_again(move))
			return TIER_STEP_BUSY;
		move->backoff_ms = next_backoff_ms(move);
		outcome = tier_online_run_step(move, tier_online_backoff_step);
		if (outcome != TIER_STEP_GO_ON)
			return outcome;
	}
}

/* ---------------------------------------------------------------------
 * The move
 * ---------------------------------------------------------------------
 */

static void
explain_busy(TierOnline *move)
{
	TierOnlineReport *report = move->report;
	const char *attempts = move->busy == 1 ? "attempt" : "attempts";

	switch (move->busy_reason)
	{
		case TIER_BUSY_LOCK:
			report->why = psprintf("could not lock the relation within %d ms in %d %s",
								   tier_move_lock_timeout_ms, move->busy, attempts);
			report->hint = "Other sessions are using it. Raise "
				"tiered_storage.move_lock_timeout, or try again later.";
			break;
		case TIER_BUSY_ROW:
			report->why = psprintf("its row in pg_class was still locked after %d %s",
								   move->busy, attempts);
			report->hint = "An open transaction has executed a GRANT or similar on it. "
				"Try again when it has ended.";
			break;
		case TIER_BUSY_WORK:
			report->why = psprintf("after %d %s the remaining changes still did not fit into "
								   "%d ms under the lock",
								   move->busy, attempts,
								   TIER_LOCK_HOLD_LIMIT_MS);
			report->hint = "It is changed too fast. Try again at a quieter time.";
			break;
		case TIER_BUSY_CALLER:
			report->why = move->why_wait;
			report->hint = "It is tried again later.";
			report->was_told_to_wait = true;
			break;
	}
}

static TierOnlineResult
conclude(TierOnline *move, TierStepResult outcome)
{
	TierOnlineReport *report = move->report;

	/* Also one that came after the swap, when the move is done. */
	report->error = move->error;
	switch (outcome)
	{
		case TIER_STEP_GO_ON:
			return TIER_ONLINE_DONE;
		case TIER_STEP_NOT_NEEDED:
			return TIER_ONLINE_NOT_NEEDED;
		case TIER_STEP_REFUSED:
			return TIER_ONLINE_REFUSED;
		case TIER_STEP_UNWANTED:
			return TIER_ONLINE_UNWANTED;
		case TIER_STEP_HELD_UP:
			report->why = psprintf("it waited for %d s: %s", TIER_LAG_TIMEOUT_S,
								   tier_wal_lag_text(&move->wal_lag));
			report->hint = "Let the standby, slot or archive catch up, and drop an "
				"unused slot; or raise tiered_storage.move_max_lag.";
			return TIER_ONLINE_HELD_UP;
		case TIER_STEP_ABANDONED:
			report->why = pstrdup("the extension is being dropped");
			report->hint = "Create it again, and repeat the move.";
			return TIER_ONLINE_BUSY;
		case TIER_STEP_RESTART:
			report->why = psprintf("%d copies of it had to be discarded, "
								   "the last one because it %s",
								   MAX_RESTARTS + 1, move->restart_reason);
			report->hint = "Try again when nothing rewrites it. If WAL was removed too early, "
				"raise wal_keep_size.";
			return TIER_ONLINE_BUSY;
		case TIER_STEP_BUSY:
			explain_busy(move);
			return TIER_ONLINE_BUSY;
		default:
			return TIER_ONLINE_FAILED;
	}
}

/* Copies until one copy is in place, or there is no use in another one; step 9. */
static TierStepResult
run_move(TierOnline *move)
{
	TierStepResult outcome;

	for (int restarts = 0;; restarts++)
	{
		outcome = copy_and_swap(move);
		if (outcome == TIER_STEP_GO_ON)
			break;
		tier_online_discard(move);
		if (outcome != TIER_STEP_RESTART || restarts >= MAX_RESTARTS)
			return outcome;
		tier_progress_add(TIER_PROGRESS_RESTARTS, 1);
		move->busy = 0;
	}

	/* 9. Read the blocks again that were in shared buffers. */
	tier_online_end_copy(move);
	tier_online_set_phase(move, TIER_PHASE_PREWARMING);
	move->backoff_ms = 0;
	while (tier_online_run_step(move, tier_online_prewarm_step) == TIER_STEP_AGAIN &&
		   tier_online_run_step(move, tier_online_backoff_step) == TIER_STEP_GO_ON)
		 /* go on */ ;
	tier_pending_release();
	return TIER_STEP_GO_ON;
}

#ifdef TIER_DEBUG

/*
 * For tests that load it by name: one move as above, also into the same
 * tablespace, in a database that need not have the extension.
 */
extern PGDLLEXPORT int tier_online_move_for_tests(Oid relation_oid, Oid tablespace_oid,
												  TierOnlineReport *report);

int
tier_online_move_for_tests(Oid relation_oid, Oid tablespace_oid, TierOnlineReport *report)
{
	TierOnlineRequest request;

	memset(&request, 0, sizeof(request));
	memset(report, 0, sizeof(*report));
	report->lock_held_ms = -1;
	request.relation_oid = relation_oid;
	request.tablespace_oid = tablespace_oid;
	request.requester_oid = BOOTSTRAP_SUPERUSERID;
	return tier_online_move(&request, report);
}

#endif

TierOnlineResult
tier_online_move(const TierOnlineRequest *request, TierOnlineReport *report)
{
	MemoryContext caller_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller_context, "tiered_storage move",
												  ALLOCSET_DEFAULT_SIZES);
	TierOnline *move = MemoryContextAllocZero(context, sizeof(TierOnline));
	volatile TierOnlineResult result;

	tier_online_register_callbacks();
	move->request = request;
	move->report = report;
	move->context = context;
	move->caller_context = caller_context;
	tier_online_init_residency(move);
	tier_progress_start(request->relation_oid);

	/* An error that leaves here comes from a rollback; the process ends soon. */
	tier_online_set_current(move);
	PG_TRY();
	{
		TierStepResult outcome = run_move(move);

		MemoryContextSwitchTo(caller_context);
		result = conclude(move, outcome);
	}
	PG_FINALLY();
	{
		tier_online_set_current(NULL);
		tier_pending_release();
		tier_progress_end();
	}
	PG_END_TRY();
	MemoryContextDelete(context);
	return result;
}
