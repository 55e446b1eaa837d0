/*-------------------------------------------------------------------------
 *
 * move/online/steps.c
 *		The steps of an online move that need the relation.
 *
 * Each runs in a transaction of its own (move/online/transaction.c), in the order that
 * move/online/protocol.c has them in.  Each locks the relation itself, checks after
 * the grant that it is what it was, and gives the lock up with its transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/move/online/state.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"

/* Catching up ends with so few blocks left, or after so many rounds. */
#define FEW_BLOCKS 16
#define MAX_ROUNDS 20
#define ROUND_STEP_BLOCKS 128

/* ---------------------------------------------------------------------
 * Checks
 * ---------------------------------------------------------------------
 */

static TierStepResult
refuse(TierOnline *move, const char *why, bool is_incomplete)
{
	move->report->why = MemoryContextStrdup(move->caller_context, why);
	move->report->is_incomplete = is_incomplete;
	return TIER_STEP_REFUSED;
}

/* Everything that must be true, as of now, whatever lock we have. */
static TierStepResult
check_relation(TierOnline *move, TierRelationInfo *info)
{
	const TierOnlineRequest *request = move->request;
	TierRelationInfo owner;
	const char *why;

	if (!tier_relation_lookup(request->relation_oid, info) ||
		!tier_relation_lookup(request->rights_oid, &owner) ||
		!OidIsValid(info->file_number))
		return TIER_STEP_NOT_NEEDED;
	if (info->tablespace_oid == request->tablespace_oid && !tier_debug_skips("tablespace"))
		return TIER_STEP_NOT_NEEDED;
	if (info->tablespace_oid != request->tablespace_oid && tier_debug_skips("elsewhere"))
		return TIER_STEP_NOT_NEEDED;
	if (request->for_owner)
		tier_relation_check_owner(&owner, request->requester_oid);
	if (!tier_debug_skips("rights"))
		tier_relation_check_move(&owner, request->requester_oid, request->tablespace_oid);
	if (!tier_debug_skips("extension"))
		tier_relation_check_extension(&owner, request->extension_oid);
	why = tier_relation_why_incomplete(info);
	if (why != NULL)
		return refuse(move, why, true);
	why = tier_relation_why_not_online(info);
	return why == NULL ? TIER_STEP_GO_ON : refuse(move, why, false);
}

/* The same, with the lock that this waits for; and the file must be the same. */
static TierStepResult
lock_and_check(TierOnline *move, LOCKMODE mode)
{
	TierRelationInfo info;
	TierStepResult outcome;

	tier_relation_lock(move->request->relation_oid, mode, tier_move_lock_timeout_ms,
					   mode == AccessExclusiveLock ? TIER_LOCK_HOLD_LIMIT_MS :
					   tier_move_lock_timeout_ms);
	if (mode == AccessExclusiveLock)
	{
		move->locked_at = tier_clock_monotonic_us();
		move->cpu_at_lock_us = tier_clock_cpu_us();
	}
	outcome = check_relation(move, &info);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	if (!RelFileLocatorEquals(tier_relation_locator(&info), move->source) &&
		!tier_debug_skips("recheck"))
		return tier_online_restart(move, "was rewritten");
	return TIER_STEP_GO_ON;
}

/* ---------------------------------------------------------------------
 * Register, copy, catch up
 * ---------------------------------------------------------------------
 */

/* Looks at the relation and registers its new file. */
TierStepResult
tier_online_register_step(TierOnline *move)
{
	const TierOnlineRequest *request = move->request;
	TierRelationInfo info;
	TierStepResult outcome = check_relation(move, &info);

	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	move->is_heap = info.kind != RELKIND_INDEX;
	move->source = tier_relation_locator(&info);
	if (request->register_file)
		move->target = tier_pending_register(request->relation_oid, request->tablespace_oid);
	else
		move->target = tier_compat_locator(request->tablespace_oid, MyDatabaseId,
										   tier_compat_new_file_number(request->tablespace_oid));
	move->is_registered = request->register_file;
	move->made_file = false;
	return TIER_STEP_GO_ON;
}

/* The bulk copy, or as much of it as others let us do. */
TierStepResult
tier_online_copy_step(TierOnline *move)
{
	TierStepResult outcome = lock_and_check(move, AccessShareLock);
	int64		bytes;

	if (outcome != TIER_STEP_GO_ON)
		return outcome;

	/* From here on no catalog is read, and nothing keeps vacuum from working. */
	InvalidateCatalogSnapshot();
	if (move->copy == NULL)
	{
		/* Not ours, and not to be removed as such. */
		if (tier_copy_file_exists(move->target))
			return tier_online_restart(move,
									   "was given a file number that somebody else has used");

		/* Before there is one: an error may come just after it was made. */
		move->has_file = move->made_file = true;
		move->copy = tier_copy_create(move->context, move->source, move->target, move->is_heap,
									  move->is_heap);
		move->wal_read_at = tier_clock_monotonic_us();
		tier_debug_point("file_created");
	}
	move->busy = 0;
	tier_progress_set(TIER_PROGRESS_BLOCKS_TOTAL, tier_copy_source_blocks(move->copy));
	for (;;)
	{
		outcome = tier_online_watch(move);
		if (outcome != TIER_STEP_GO_ON)
			return outcome;
		if (tier_copy_restart_reason(move->copy) != NULL)
			return tier_online_restart(move, tier_copy_restart_reason(move->copy));
		if (!tier_copy_step(move->copy, &bytes))
			break;
		tier_online_note_copied(move, bytes);
		tier_debug_point("copying");
	}
	tier_debug_point("copied");
	return TIER_STEP_GO_ON;
}

/* Copies again what was changed, until little is left. */
TierStepResult
tier_online_catch_up_step(TierOnline *move)
{
	TierStepResult outcome = lock_and_check(move, AccessShareLock);
	int64		bytes;
	int64		ignored = 0;

	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	InvalidateCatalogSnapshot();
	for (int round = 0; round < MAX_ROUNDS; round++)
	{
		tier_progress_add(TIER_PROGRESS_ROUNDS, 1);
		if (tier_copy_read_all_wal(move->copy, 0, &ignored) == TIER_WAL_LOST)
			return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
		if (tier_copy_restart_reason(move->copy) != NULL)
			return tier_online_restart(move, tier_copy_restart_reason(move->copy));
		move->wal_read_at = tier_clock_monotonic_us();
		if (tier_copy_pending_blocks(move->copy) <= FEW_BLOCKS &&
			!tier_copy_was_truncated(move->copy))
			break;

		/*
		 * Only what was pending when the round began: a slow rate limit must
		 * not make us chase what is changed meanwhile.
		 */
		for (uint64 left = tier_copy_pending_blocks(move->copy); left > 0;
			 left -= Min(left, ROUND_STEP_BLOCKS))
		{
			outcome = tier_online_watch(move);
			if (outcome != TIER_STEP_GO_ON)
				return outcome;
			(void) tier_copy_catch_up(move->copy, ROUND_STEP_BLOCKS, 0, &bytes);
			tier_online_note_copied(move, bytes);
			if (round > 0)
				move->throttled_until = 0;
			tier_debug_point("catching_up");
		}
		if (tier_copy_was_truncated(move->copy))
			(void) tier_copy_catch_up(move->copy, 0, 0, &bytes);
	}
	tier_debug_point("caught_up");
	return TIER_STEP_GO_ON;
}

/* ---------------------------------------------------------------------
 * Swap
 * ---------------------------------------------------------------------
 */

/* Is it still wanted?  Asks the caller of the move. */
TierStepResult
tier_online_ask_step(TierOnline *move)
{
	return move->request->is_wanted(move->request) ? TIER_STEP_GO_ON : TIER_STEP_UNWANTED;
}

/*
 * Have we had the lock for as long as we may?  The time of flushes does not count.
 * Asked as long as giving up is possible, after whatever may have to wait for a
 * disk or for a processor.
 */
static bool
is_too_late(const TierOnline *move)
{
	return tier_clock_monotonic_us() > move->locked_at + move->flush_us +
		(int64) TIER_LOCK_HOLD_LIMIT_MS * 1000;
}

static TierStepResult
busy(TierOnline *move, TierBusyReason reason)
{
	move->busy_reason = reason;
	return TIER_STEP_BUSY;
}

/* In the transaction that makes the target the relation's file. */
static TierStepResult
adopt_target(TierOnline *move)
{
	if (!move->is_registered)
		return TIER_STEP_GO_ON;
	switch (tier_pending_adopt(move->target))
	{
		case TIER_PENDING_OK:
			return TIER_STEP_GO_ON;
		case TIER_PENDING_BUSY:
			return busy(move, TIER_BUSY_ROW);
		case TIER_PENDING_LOST:
			break;
	}
	return tier_online_restart(move, "was not registered any more");
}

/*
 * The last changes: nobody can make any more.  TIER_STEP_GO_ON when the files can
 * be swapped.  Under ACCESS EXCLUSIVE, with a snapshot.
 */
static TierStepResult
complete_copy(TierOnline *move)
{
	int64		budget_us = (int64) TIER_LOCK_HOLD_LIMIT_MS * 1000;
	TierRelationInfo info;
	TierWalResult result;
	TierStepResult outcome;
	int64		bytes;
	char	   *difference;

	/* 3. The row of pg_class, and that of the new file. */
	if (!tier_debug_skips("claim_row") && !tier_relation_claim_row(move->request->relation_oid))
		return busy(move, TIER_BUSY_ROW);
	outcome = adopt_target(move);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	if (is_too_late(move))
		return busy(move, TIER_BUSY_WORK);

	/* 4. All that was changed, up to a record of our own. */
	result = tier_copy_read_all_wal(move->copy, move->locked_at + budget_us, &move->flush_us);
	if (result == TIER_WAL_LOST)
		return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
	if (result == TIER_WAL_TOO_LATE || tier_copy_was_truncated(move->copy))
		return busy(move, TIER_BUSY_WORK);
	if (!tier_copy_catch_up(move->copy, PG_UINT64_MAX,
							move->locked_at + move->flush_us + budget_us, &bytes))
	{
		move->report->copied_bytes += bytes;
		return busy(move, TIER_BUSY_WORK);
	}
	move->report->copied_bytes += bytes;

	/* 5. Does nothing that is quickly seen speak against it? */
	difference = tier_copy_difference(move->copy);
	if (difference != NULL && !tier_debug_skips("compare"))
		return tier_online_restart(move, psprintf("and its copy were different: %s", difference));

	/* The row is ours, so that this is true until the end. */
	if ((!tier_relation_lookup(move->request->relation_oid, &info) ||
		 !RelFileLocatorEquals(tier_relation_locator(&info), move->source)) &&
		!tier_debug_skips("recheck"))
		return tier_online_restart(move, "was rewritten");
	return is_too_late(move) ? busy(move, TIER_BUSY_WORK) : TIER_STEP_GO_ON;
}

/*
 * Makes the target the relation's file, if that is possible at this moment.  What
 * is under ACCESS EXCLUSIVE is quick.  The numbers are those of the swap in
 * docs/internals/online-move.md.
 */
TierStepResult
tier_online_swap_step(TierOnline *move)
{
	TierStepResult outcome;
	int64		ignored = 0;

	/* Not even for a synchronous standby that does not answer. */
	if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		(void) set_config_option("synchronous_commit", "local", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_LOCAL, true, 0, false);

	/*
	 * 0. Fill the caches with what will be asked for again under the lock,
	 * and leave as little WAL as possible to be flushed and read there.
	 */
	{
		TierRelationInfo info;

		outcome = check_relation(move, &info);
		if (outcome != TIER_STEP_GO_ON)
			return outcome;
		InvalidateCatalogSnapshot();
	}
	if (tier_copy_read_all_wal(move->copy, 0, &ignored) == TIER_WAL_LOST)
		return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
	if (tier_copy_was_truncated(move->copy))
		return busy(move, TIER_BUSY_WORK);

	/* 1, 2. The lock, and the checks.  Nothing of the relation is locked now. */
	move->asked_at = tier_clock_monotonic_us();
	outcome = lock_and_check(move, AccessExclusiveLock);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	tier_debug_point("locked");
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_debug_point("claiming");

	/* 3 to 5. The row, and what is left of the copy. */
	outcome = complete_copy(move);
	if (outcome != TIER_STEP_GO_ON)
	{
		PopActiveSnapshot();
		return outcome;
	}

	/* 6. The other file. */
	tier_relation_swap_file(move->request->relation_oid, move->target);
	PopActiveSnapshot();
	move->is_swapping = true;
	tier_debug_point("swapped");
	return TIER_STEP_GO_ON;
}
