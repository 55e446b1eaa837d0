/*-------------------------------------------------------------------------
 *
 * observe/delta.h
 *		By how much counters and files have grown since the last sample.
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

/* Is that long enough before the last sample that counters of then have come? */
extern bool tier_delta_has_come(TimestampTz at, const TierMergeInput *input);

/*
 * Blocks that were added were not read, though the server counts them so.
 *
 * The file grows at once, the counters when the transaction ends.  So growth that
 * no counter has yet is kept until one does, however many samples later; while it may
 * still come, what is known to be true reads of others is left alone.  Growth is
 * given up when nobody is left who may count it, so that it does not swallow true reads
 * later on; and what a crash or a reset took from the counters never comes.
 *
 * Takes them out of period.delta, and sets stored.unclaimed_*; after the size of the file is
 * known.  `count` NULL: no plan that was tracked has read it.  was_emptied: a crash or a reset has
 * taken the counters.
 */
extern void tier_delta_discount_growth(TierRelationState *state, const TierRelationState *before,
									   const TierAccessCount *count, Oid table_oid,
									   bool was_emptied, const TierMergeInput *input);

#endif							/* TIER_DELTA_H */
