/*-------------------------------------------------------------------------
 *
 * observe/delta.h
 *		Growth of counters and files since the last sample.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DELTA_H
#define TIER_DELTA_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/relation_state.h"
#include "src/observe/access_counts.h"
#include "src/observe/merge_input.h"

/*
 * Fills period.delta with the growth of all counters since `before`; true when they were reset or
 * went back.
 */
extern bool tier_delta_of_counters(TierRelationState *state, const TierCounters *before);

/*
 * Returns true if `at` is so long before the last sample that the counters of that time have
 * been reported.
 */
extern bool tier_delta_has_come(TimestampTz at, const TierMergeInput *input);

/*
 * Blocks that were added were not read, though the server counts them so.
 *
 * The file grows at once, the counters when the transaction ends.  So growth that no counter
 * shows yet is kept until one does, however many samples later; meanwhile, reads that are
 * known to be those of others are not discounted.  Growth is discarded when no process is left
 * that may report it, so that it does not cancel true reads later; counts that a crash or a
 * reset has removed are never reported.
 *
 * Subtracts such blocks from period.delta, and sets stored.unclaimed_*; after the size of the
 * file is known.  `count` NULL: no tracked plan has read it.  was_emptied: a crash or a reset
 * has removed the counters.
 */
extern void tier_delta_discount_growth(TierRelationState *state, const TierRelationState *before,
									   const TierAccessCount *count, Oid table_oid,
									   bool was_emptied, const TierMergeInput *input);

#endif							/* TIER_DELTA_H */
