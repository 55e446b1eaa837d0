/*-------------------------------------------------------------------------
 *
 * move/online/residency.c
 *		Recording the resident blocks of a relation, and reading them again.
 *
 * The resident blocks are recorded twice, with nothing locked: before the copy, and between it
 * and the first catch-up, which copies the changes meanwhile.  The pass over all buffer
 * headers may take a second.  After the swap the same blocks are read from the new file, until
 * another session wants the relation: this need not be complete.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/base/transaction.h"
#include "src/move/online/state.h"
#include "src/server/buffers.h"
#include "src/server/relation.h"

void
tier_online_init_residency(TierOnline *move)
{
	for (int i = 0; i < TIER_RELATION_MAX_PARTS; i++)
	{
		tier_copy_init_set(&move->parts[i].resident_before, move->context);
		tier_copy_init_set(&move->parts[i].resident, move->context);
	}
}

static void
note_resident_before(void *argument, BlockNumber block, int usage, bool dirty)
{
	TierOnlinePart *part = argument;

	tier_blockset_add(&part->resident_before, block);
}

static void
note_resident_after(void *argument, BlockNumber block, int usage, bool dirty)
{
	TierOnlinePart *part = argument;

	if (tier_blockset_has(&part->resident_before, block))
		tier_blockset_add(&part->resident, block);
}

TierStepResult
tier_online_residency_before_step(TierOnline *move)
{
	for (int i = 0; i < move->nparts; i++)
	{
		TierOnlinePart *part = &move->parts[i];

		tier_blockset_clear(&part->resident_before);

		/*
		 * The pass over all headers takes longer than to read a few blocks
		 * again.
		 */
		if (smgrnblocks(tier_compat_smgropen(part->source), MAIN_FORKNUM) > TIER_COPY_FEW_BLOCKS)
			tier_buffers_visit(part->source, NBuffers, note_resident_before, part);
	}
	return TIER_STEP_GO_ON;
}

TierStepResult
tier_online_residency_after_step(TierOnline *move)
{
	for (int i = 0; i < move->nparts; i++)
	{
		TierOnlinePart *part = &move->parts[i];

		tier_blockset_clear(&part->resident);
		if (part->resident_before.count > 0)
			tier_buffers_visit(part->source, NBuffers, note_resident_after, part);
		tier_debug_point("residency");
		if (!tier_online_read_wal(move))
			return tier_online_restart(move, TIER_ONLINE_LOST_WAL);
	}
	return TIER_STEP_GO_ON;
}

/* One part; false when it was interrupted. */
static bool
prewarm_part(TierOnline *move, TierOnlinePart *part)
{
	TierRelationInfo info;
	BlockNumber block = part->prewarmed;

	if (!ConditionalLockRelationOid(part->relation_oid, AccessShareLock) ||
		!tier_relation_lookup(part->relation_oid, &info) ||
		!RelFileLocatorEquals(tier_relation_locator(&info), part->target))
		return true;
	InvalidateCatalogSnapshot();
	tier_blockset_truncate(&part->resident,
						   smgrnblocks(tier_compat_smgropen(part->target), MAIN_FORKNUM));
	while ((block = tier_blockset_next(&part->resident, block)) != TIER_NO_BLOCK)
	{
		if (tier_online_watch(move) != TIER_STEP_GO_ON)
			return false;
		ReleaseBuffer(ReadBufferWithoutRelcache(part->target, MAIN_FORKNUM, block, RBM_NORMAL,
												NULL, true));
		part->prewarmed = ++block;
	}
	part->prewarmed = TIER_NO_BLOCK;
	return true;
}

/*
 * Reads the blocks that were resident, those of the table first.  If another session wants a
 * part, the step ends for good; if this process has another duty, it continues afterwards.
 */
TierStepResult
tier_online_prewarm_step(TierOnline *move)
{
	for (int i = move->nparts - 1; i >= 0; i--)
		if (move->parts[i].prewarmed != TIER_NO_BLOCK && !prewarm_part(move, &move->parts[i]))
			return tier_transaction_is_old() || tier_online_idle_is_due(move) ? TIER_STEP_AGAIN :
				TIER_STEP_GO_ON;
	return TIER_STEP_GO_ON;
}
