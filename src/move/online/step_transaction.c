/*-------------------------------------------------------------------------
 *
 * move/online/step_transaction.c
 *		A transaction for each step, and the removal of unused files.
 *
 * The new files belong to no transaction.  They are removed by tier_online_discard() after an
 * error, by exit_callback() when the process ends, and by the next sweep (move/pending_file.c)
 * after a crash; always in a committed transaction with an ID, so that standbys and crash
 * recovery remove them, too.
 *
 * DROP EXTENSION waits for the mover, because it would remove the registrations.  The mover
 * notices it, removes the files, and ends the move.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/transaction.h"
#include "src/move/online/state.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"

/* The move of this process; NULL: none.  For the callbacks. */
static TierOnline *current = NULL;

/*
 * A registered file must stay registered, or it would be orphaned after a crash.  Cleaning up
 * continues in any case.
 */
bool
tier_online_may_go_on(const TierOnline *move)
{
	return !move->is_registered || move->phase == TIER_PHASE_CLEANING_UP ||
		tier_pending_hold_extension();
}

TierStepResult
tier_online_run_step(TierOnline *move, TierStep step)
{
	volatile TierStepResult outcome = TIER_STEP_FAILED;
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	MemoryContextSwitchTo(move->context);
	move->is_swapping = false;
	PG_TRY();
	{
		outcome = tier_online_may_go_on(move) ? step(move) : TIER_STEP_ABANDONED;
		if (outcome == TIER_STEP_BUSY || outcome == TIER_STEP_RESTART)
			tier_transaction_rollback();
		else
			tier_transaction_commit();
	}
	PG_CATCH();
	{
		move->is_swapping = false;
		MemoryContextSwitchTo(move->caller_context);
		move->error = tier_attempt_take_error();
		while (ActiveSnapshotSet() && GetActiveSnapshot() != snapshot)
			PopActiveSnapshot();	/* SPI wants to know of all */
		tier_transaction_rollback();
		outcome = TIER_STEP_FAILED;
		if (move->error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		{
			FreeErrorData(move->error);
			move->error = NULL;
			move->busy_reason = TIER_BUSY_LOCK;
			outcome = TIER_STEP_BUSY;
		}
	}
	PG_END_TRY();
	tier_relation_release_rows();
	MemoryContextSwitchTo(move->context);
	return outcome;
}

TierStepResult
tier_online_restart(TierOnline *move, const char *why)
{
	move->restart_reason = MemoryContextStrdup(move->caller_context, why);
	return TIER_STEP_RESTART;
}

/* ---------------------------------------------------------------------
 * Callbacks
 * ---------------------------------------------------------------------
 */

/*
 * At the commit of a swap the new file becomes the relation's, whatever happens
 * to us next; and all locks are released right after.
 */
static void
transaction_callback(XactEvent event, void *argument)
{
	if (current == NULL || !current->is_swapping)
		return;
	if (event == XACT_EVENT_PRE_COMMIT)
		current->committing_at = tier_clock_monotonic_us();
	else if (event == XACT_EVENT_COMMIT)
	{
		current->released_at = tier_clock_monotonic_us();
		current->cpu_at_release_us = tier_clock_cpu_us();
		current->is_swapped = true;
		current->has_files = false;
		current->is_registered = false;
	}
}

/* Removes the files when the process ends in the middle of a move. */
static void
exit_callback(int code, Datum argument)
{
	RelFileLocator targets[TIER_RELATION_MAX_PARTS];
	int			n;

	if (current == NULL)
		return;

	/*
	 * An abort, ours or the one that follows, frees the memory that it is in
	 * before it calls transaction_callback().
	 */
	n = current->has_files ? current->nparts : 0;
	for (int i = 0; i < n; i++)
		targets[i] = current->parts[i].target;
	current = NULL;
	if (n == 0)
		return;
	AbortOutOfAnyTransaction();
	tier_transaction_start();
	for (int i = 0; i < n; i++)
		if (tier_copy_file_exists(targets[i]))
			(void) tier_pending_drop(targets[i]);
	CommitTransactionCommand();
}

void
tier_online_register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	before_shmem_exit(exit_callback, (Datum) 0);
	RegisterXactCallback(transaction_callback, NULL);
	registered = true;
}

void
tier_online_set_current(TierOnline *move)
{
	current = move;
}

/* ---------------------------------------------------------------------
 * Cleaning up
 * ---------------------------------------------------------------------
 */

static TierStepResult
drop_files_step(TierOnline *move)
{
	TierStepResult outcome = TIER_STEP_GO_ON;

	for (int i = 0; i < move->nparts; i++)
		if (tier_copy_file_exists(move->parts[i].target) &&
			!tier_pending_drop(move->parts[i].target))
			outcome = TIER_STEP_FAILED;
	return outcome;
}

static TierStepResult
unregister_step(TierOnline *move)
{
	for (int i = 0; i < move->nparts; i++)
		tier_pending_unregister(move->parts[i].target, move->made_files);

	/* Whatever ends the move may end the call. */
	tier_pending_unregister_spares();
	return TIER_STEP_GO_ON;
}

void
tier_online_end_copy(TierOnline *move)
{
	if (move->copy != NULL)
		tier_copy_end(move->copy);
	move->copy = NULL;
}

void
tier_online_discard(TierOnline *move)
{
	ErrorData  *error = move->error;

	tier_online_set_phase(move, TIER_PHASE_CLEANING_UP);
	tier_online_end_copy(move);
	tier_debug_point("discarding");
	move->error = NULL;
	HOLD_CANCEL_INTERRUPTS();
	if (move->has_files && tier_online_run_step(move, drop_files_step) == TIER_STEP_GO_ON)
		move->has_files = false;
	if (move->is_registered && !move->has_files &&
		tier_online_run_step(move, unregister_step) == TIER_STEP_GO_ON)
		move->is_registered = false;
	tier_pending_release();

	/* An error has ended all holds. */
	if (QueryCancelHoldoffCount > 0)
		RESUME_CANCEL_INTERRUPTS();
	if (move->error != NULL)
		ereport(LOG,
				(errmsg("could not remove the files of an unfinished move: %s",
						move->error->message),
				 move->error->detail == NULL ? 0 :
				 errdetail_internal("%s", move->error->detail)));
	move->error = error;
}
