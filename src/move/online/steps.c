/*-------------------------------------------------------------------------
 *
 * move/online/steps.c
 *		The steps of an online move that need the relation.
 *
 * Each step runs in a separate transaction (move/online/step_transaction.c), in the order of
 * move/online/protocol.c.  Each step locks the relation and, without waiting, its TOAST table
 * and that table's index; checks after the grant that they are unchanged; and releases the
 * locks at the end of its transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
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

static TierStepResult
busy(TierOnline *move, TierBusyReason reason)
{
	move->busy_reason = reason;
	return TIER_STEP_BUSY;
}

/* The relations that are moved together, as of now. */
typedef struct Parts
{
	int			n;
	TierRelationInfo infos[TIER_RELATION_MAX_PARTS];
} Parts;

/*
 * Checks the requirements of a part.  TIER_STEP_GO_ON: they are met, and the part is added
 * unless it is already at the target.
 */
static TierStepResult
check_part(TierOnline *move, Oid part_oid, Parts *parts)
{
	const TierOnlineRequest *request = move->request;
	TierRelationInfo *info = &parts->infos[parts->n];
	const char *why;

	/*
	 * Between two looks without a lock the relation may get another TOAST
	 * table.
	 */
	if (!tier_relation_lookup(part_oid, info))
		return part_oid == request->relation_oid ? TIER_STEP_NOT_NEEDED :
			tier_online_restart(move, "was rewritten");
	if (!OidIsValid(info->file_number))
		return TIER_STEP_NOT_NEEDED;
	if (info->tablespace_oid != request->tablespace_oid && tier_debug_skips("elsewhere"))
		return TIER_STEP_NOT_NEEDED;
	if (info->tablespace_oid == request->tablespace_oid && !tier_debug_skips("tablespace"))
		return TIER_STEP_GO_ON;
	why = tier_relation_why_incomplete(info);
	if (why != NULL)
		return refuse(move, why, true);
	why = tier_relation_why_not_online(info);
	if (why != NULL)
		return refuse(move, why, false);
	parts->n++;
	return TIER_STEP_GO_ON;
}

/*
 * Everything that must be true, as of now, whatever lock we have.  A TOAST table has two
 * indexes while one of them is rebuilt.
 */
static TierStepResult
check_relation(TierOnline *move, Parts *parts)
{
	const TierOnlineRequest *request = move->request;
	TierRelationInfo info;
	List	   *part_oids;
	ListCell   *cell;

	parts->n = 0;
	if (!tier_relation_lookup(request->relation_oid, &info))
		return TIER_STEP_NOT_NEEDED;
	if (request->for_owner)
		tier_relation_check_owner(&info, request->requester_oid);
	if (!tier_debug_skips("rights"))
		tier_relation_check_move(&info, request->requester_oid, request->tablespace_oid);
	if (!tier_debug_skips("extension"))
		tier_relation_check_extension(&info, request->extension_oid);
	tier_debug_point("checked");
	part_oids = tier_relation_parts(request->relation_oid);
	if (list_length(part_oids) > TIER_RELATION_MAX_PARTS)
		return busy(move, TIER_BUSY_LOCK);
	foreach(cell, part_oids)
	{
		TierStepResult outcome = check_part(move, lfirst_oid(cell), parts);

		if (outcome != TIER_STEP_GO_ON)
			return outcome;
	}
	return parts->n > 0 ? TIER_STEP_GO_ON : TIER_STEP_NOT_NEEDED;
}

/* Returns true if these are the files that are copied. */
static bool
are_same(const TierOnline *move, const Parts *parts)
{
	if (parts->n != move->nparts)
		return false;
	for (int i = 0; i < parts->n; i++)
		if (parts->infos[i].relation_oid != move->parts[i].relation_oid ||
			!RelFileLocatorEquals(tier_relation_locator(&parts->infos[i]), move->parts[i].source))
			return false;
	return true;
}

/*
 * The same, with the locks; the files must be the same.  Waits for the lock on the relation
 * only: a process that has locked its TOAST table, as vacuum does, may keep that lock for
 * long, and meanwhile the relation would be locked.
 */
static TierStepResult
lock_and_check(TierOnline *move, LOCKMODE mode)
{
	Oid			relation_oid = move->request->relation_oid;
	Parts		parts;
	TierStepResult outcome;

	if (mode != AccessExclusiveLock)
		tier_relation_lock(relation_oid, mode, tier_move_lock_timeout_ms,
						   tier_move_lock_timeout_ms);
	else if (tier_relation_lock_exclusively(relation_oid, move->asked_at >= move->may_queue_at,
											tier_move_lock_timeout_ms, TIER_LOCK_HOLD_LIMIT_MS))
	{
		move->locked_at = tier_clock_monotonic_us();
		move->cpu_at_lock_us = tier_clock_cpu_us();
	}
	else
		return busy(move, TIER_BUSY_LOCK);
	for (int i = 0; i < move->nparts; i++)
		if (move->parts[i].relation_oid != relation_oid &&
			!ConditionalLockRelationOid(move->parts[i].relation_oid, mode))
			return busy(move, TIER_BUSY_LOCK);
	outcome = check_relation(move, &parts);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	if (!are_same(move, &parts) && !tier_debug_skips("recheck"))
		return tier_online_restart(move, "was rewritten");
	return TIER_STEP_GO_ON;
}

/* ---------------------------------------------------------------------
 * Register, copy, catch up
 * ---------------------------------------------------------------------
 */

/* Looks at the relation and registers its new files. */
TierStepResult
tier_online_register_step(TierOnline *move)
{
	const TierOnlineRequest *request = move->request;
	Oid			part_oids[TIER_RELATION_MAX_PARTS];
	RelFileLocator targets[TIER_RELATION_MAX_PARTS];
	Parts		parts;
	TierStepResult outcome = check_relation(move, &parts);

	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	move->nparts = parts.n;
	for (int i = 0; i < parts.n; i++)
	{
		TierOnlinePart *part = &move->parts[i];

		part_oids[i] = part->relation_oid = parts.infos[i].relation_oid;
		part->is_heap = parts.infos[i].kind != RELKIND_INDEX;
		part->source = tier_relation_locator(&parts.infos[i]);
		part->prewarmed = 0;
		if (!request->register_file)
			targets[i] = tier_compat_locator(request->tablespace_oid, MyDatabaseId,
											 tier_compat_new_file_number(request->tablespace_oid));
	}
	if (request->register_file)
		tier_pending_register(request->relation_oid, request->tablespace_oid, parts.n,
							  part_oids, targets);
	for (int i = 0; i < parts.n; i++)
		move->parts[i].target = targets[i];
	move->is_registered = request->register_file;
	move->made_files = false;
	return TIER_STEP_GO_ON;
}

/* Creates the files, empty. */
static TierStepResult
create_files(TierOnline *move)
{
	TierCopyFile files[TIER_COPY_MAX_FILES];

	StaticAssertStmt(TIER_COPY_MAX_FILES == TIER_RELATION_MAX_PARTS, "a file for each part");
	for (int i = 0; i < move->nparts; i++)
	{
		const TierOnlinePart *part = &move->parts[i];

		/* Not ours, and not to be removed as such. */
		if (tier_copy_file_exists(part->target))
			return tier_online_restart(move,
									   "was given a file number that is in use");
		files[i] = (TierCopyFile)
		{
			part->source, part->target, part->is_heap
		};
	}

	/* Before there are any: an error may come just after one was made. */
	move->has_files = move->made_files = true;
	move->copy = tier_copy_create(move->context, files, move->nparts);
	move->wal_read_at = tier_clock_monotonic_us();
	tier_debug_point("file_created");
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
		outcome = create_files(move);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;
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

/* Copies changed blocks again, until so few are left that the swap can copy them as fast. */
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
		if (move->busy == 0 && tier_copy_pending_blocks(move->copy) <= FEW_BLOCKS &&
			tier_copy_is_near(move->copy))
			break;
		if (tier_copy_read_all_wal(move->copy, 0, &ignored) == TIER_WAL_LOST)
			return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
		if (tier_copy_restart_reason(move->copy) != NULL)
			return tier_online_restart(move, tier_copy_restart_reason(move->copy));
		move->wal_read_at = tier_clock_monotonic_us();
		if (tier_copy_pending_blocks(move->copy) <= FEW_BLOCKS &&
			!tier_copy_was_truncated(move->copy))
			break;

		/*
		 * Only the blocks that were pending when the round began: with a low
		 * rate limit, changes in the meantime would never be caught up with.
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

/* Asks the caller whether the move is still wanted, and allowed at this moment. */
TierStepResult
tier_online_ask_step(TierOnline *move)
{
	const TierOnlineRequest *request = move->request;

	if (!request->is_wanted(request))
		return TIER_STEP_UNWANTED;
	move->why_wait = request->why_wait == NULL ? NULL : request->why_wait(request);
	return move->why_wait == NULL ? TIER_STEP_GO_ON : busy(move, TIER_BUSY_CALLER);
}

/*
 * Returns true if the lock has been held for the limit.  The time of flushes does not count.
 * Asked as long as giving up is possible, after whatever may have to wait for a disk or for a
 * processor.
 */
static bool
is_too_late(const TierOnline *move)
{
	return tier_clock_monotonic_us() > move->locked_at + move->flush_us +
		(int64) TIER_LOCK_HOLD_LIMIT_MS * 1000;
}

/* In the transaction that makes the targets the relations' files. */
static TierStepResult
adopt_target(TierOnline *move, RelFileLocator target)
{
	if (!move->is_registered)
		return TIER_STEP_GO_ON;
	switch (tier_pending_adopt(target))
	{
		case TIER_PENDING_OK:
			return TIER_STEP_GO_ON;
		case TIER_PENDING_BUSY:
			return busy(move, TIER_BUSY_ROW);
		case TIER_PENDING_LOST:
			break;
	}
	return tier_online_restart(move, "was no longer registered");
}

/*
 * Copies the last changes; the lock excludes further ones.  TIER_STEP_GO_ON if the files can
 * be swapped.  Under ACCESS EXCLUSIVE, with a snapshot.
 */
static TierStepResult
complete_copy(TierOnline *move)
{
	int64		budget_us = (int64) TIER_LOCK_HOLD_LIMIT_MS * 1000;
	TierWalResult result = TIER_WAL_OK;
	TierStepResult outcome;
	int64		bytes;
	bool		takes_all;
	char	   *difference;

	/* 3. The rows of pg_class, and those of the new files. */
	for (int i = 0; i < move->nparts; i++)
	{
		if (!tier_debug_skips("claim_row") &&
			!tier_relation_claim_row(move->parts[i].relation_oid))
			return busy(move, TIER_BUSY_ROW);
		outcome = adopt_target(move, move->parts[i].target);
		if (outcome != TIER_STEP_GO_ON)
			return outcome;
	}
	if (is_too_late(move))
		return busy(move, TIER_BUSY_WORK);

	/*
	 * 4. All that was changed, up to a record of our own; or all that there
	 * is, which counts as copied once: windows with a limit of bytes foresee
	 * no more.
	 */
	takes_all = tier_copy_take_all(move->copy);
	if (!takes_all)
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
	if (!takes_all)
		move->report->copied_bytes += bytes;

	/* 5. Compare the files, as far as that is quick. */
	difference = tier_copy_difference(move->copy);
	if (difference != NULL && !tier_debug_skips("compare"))
		return tier_online_restart(move, psprintf("and its copy were different: %s", difference));

	/* The rows are ours, so that this is true until the end. */
	for (int i = 0; i < move->nparts; i++)
	{
		TierRelationInfo info;

		if ((!tier_relation_lookup(move->parts[i].relation_oid, &info) ||
			 !RelFileLocatorEquals(tier_relation_locator(&info), move->parts[i].source)) &&
			!tier_debug_skips("recheck"))
			return tier_online_restart(move, "was rewritten");
	}
	return is_too_late(move) ? busy(move, TIER_BUSY_WORK) : TIER_STEP_GO_ON;
}

/*
 * Returns true if a transaction has locked a part, but not the relation, for long, as vacuum
 * does.
 */
static bool
is_part_in_use(const TierOnline *move)
{
	for (int i = 0; i < move->nparts; i++)
		if (move->parts[i].relation_oid != move->request->relation_oid &&
			tier_relation_count_lockers(move->parts[i].relation_oid, ShareUpdateExclusiveLock) > 0)
			return true;
	return false;
}

/*
 * Makes the targets the relations' files, if that is possible at this moment.  What
 * is under ACCESS EXCLUSIVE is quick.  The numbers are those of the swap in
 * docs/internals/online-move.md.
 */
TierStepResult
tier_online_swap_step(TierOnline *move)
{
	TierStepResult outcome;
	int64		ignored = 0;

	/*
	 * 0. Fill the caches for the lookups under the lock, and leave as little
	 * WAL as possible to be flushed and read there.
	 */
	{
		Parts		parts;

		outcome = check_relation(move, &parts);
		if (outcome != TIER_STEP_GO_ON)
			return outcome;
		InvalidateCatalogSnapshot();
	}
	if (!tier_copy_is_near(move->copy) &&
		tier_copy_read_all_wal(move->copy, 0, &ignored) == TIER_WAL_LOST)
		return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
	if (tier_copy_was_truncated(move->copy))
		return busy(move, TIER_BUSY_WORK);
	if (is_part_in_use(move))
		return busy(move, TIER_BUSY_LOCK);

	/* 1, 2. The lock, and the checks.  Nothing of the relation is locked now. */
	move->asked_at = tier_clock_monotonic_us();
	outcome = lock_and_check(move, AccessExclusiveLock);
	if (outcome != TIER_STEP_GO_ON)
		return outcome;
	tier_debug_point("locked");
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_debug_point("claiming");

	/* 3 to 5. The rows, and the rest of the copy. */
	outcome = complete_copy(move);
	if (outcome != TIER_STEP_GO_ON)
	{
		PopActiveSnapshot();
		return outcome;
	}

	/* 6. The other files. */
	for (int i = 0; i < move->nparts; i++)
		tier_relation_swap_file(move->parts[i].relation_oid, move->parts[i].target);
	PopActiveSnapshot();
	move->is_swapping = true;
	tier_debug_point("swapped");
	return TIER_STEP_GO_ON;
}
