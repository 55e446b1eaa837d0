/*-------------------------------------------------------------------------
 *
 * move/online/residency.c
 *		What of the relation was in shared buffers, and reading it again.
 *
 * Two looks at what is resident, of which neither has anything locked: before the
 * copy, and between it and the first catching up, which makes good what changes
 * meanwhile.  The pass over all buffer headers may take a second.  After the swap the
 * same blocks are read from the new file, as long as nobody else wants the relation:
 * that does not have to be complete.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/memutils.h"
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
	tier_copy_init_set(&move->resident_before, move->context);
	tier_copy_init_set(&move->resident, move->context);
}

static void
note_resident_before(void *argument, BlockNumber block)
{
	TierOnline *move = argument;

	tier_blockset_add(&move->resident_before, block);
}

static void
note_resident_after(void *argument, BlockNumber block)
{
	TierOnline *move = argument;

	if (tier_blockset_has(&move->resident_before, block))
		tier_blockset_add(&move->resident, block);
}

TierStepResult
tier_online_residency_before_step(TierOnline *move)
{
	tier_blockset_clear(&move->resident_before);
	tier_buffers_visit(move->source, note_resident_before, move);
	return TIER_STEP_GO_ON;
}

TierStepResult
tier_online_residency_after_step(TierOnline *move)
{
	tier_blockset_clear(&move->resident);
	tier_buffers_visit(move->source, note_resident_after, move);
	tier_debug_point("residency");
	return tier_online_read_wal(move) ? TIER_STEP_GO_ON :
		tier_online_restart(move, TIER_ONLINE_LOST_WAL);
}

/*
 * Reads what was resident.  When somebody else wants the relation it ends for
 * good; when we have something else to do it goes on afterwards.
 */
TierStepResult
tier_online_prewarm_step(TierOnline *move)
{
	TierRelationInfo info;
	BlockNumber block = move->prewarmed;
	BlockNumber nblocks;

	if (!tier_relation_lock_if_free(move->request->relation_oid, AccessShareLock))
		return TIER_STEP_GO_ON;
	if (!tier_relation_lookup(move->request->relation_oid, &info) ||
		!RelFileLocatorEquals(tier_relation_locator(&info), move->target))
		return TIER_STEP_GO_ON;
	InvalidateCatalogSnapshot();
	nblocks = smgrnblocks(tier_compat_smgropen(move->target), MAIN_FORKNUM);
	tier_blockset_truncate(&move->resident, nblocks);
	while ((block = tier_blockset_next(&move->resident, block)) != TIER_NO_BLOCK)
	{
		if (tier_online_watch(move) != TIER_STEP_GO_ON)
		{
			move->prewarmed = block;
			return tier_transaction_is_old() || tier_online_idle_is_due(move) ? TIER_STEP_AGAIN :
				TIER_STEP_GO_ON;
		}
		ReleaseBuffer(ReadBufferWithoutRelcache(move->target, MAIN_FORKNUM, block, RBM_NORMAL,
												NULL, true));
		block++;
	}
	return TIER_STEP_GO_ON;
}
