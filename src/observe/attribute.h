/*-------------------------------------------------------------------------
 *
 * observe/attribute.h
 *		Which of the reads of a period were use, and in which order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ATTRIBUTE_H
#define TIER_ATTRIBUTE_H

#include "postgres.h"

#include "src/model/relation_state.h"
#include "src/observe/access_counts.h"

/*
 * Splits period.delta into period.attribution, use_hits and maintenance_reads, for a relation that
 * was active.  `count` NULL: no plan that was tracked has read this relation.  carry: what the
 * counters do not know yet of that is kept for the next sample.  is_first: by the first sample of
 * all.  Returns whether all that was read of it here was maintenance, and no use.
 */
extern bool tier_attribute_reads(TierRelationState *state, const TierAccessTaken *taken,
								 const TierAccessCount *count, bool carry, bool is_first);

/*
 * Keeps for the next sample what has not come into the counters: of use, of which `used_share` and
 * `added` blocks have; and of what is ignored.  Counters that have gone back do not have it any
 * more.  What never comes into the counters takes as much use out of one sample, and no more.
 */
extern void tier_attribute_carry(const TierRelationPeriod *period, const TierAccessCount *count,
								 double added, double used_share);

/* What applications that are ignored have read is maintenance. */
extern void tier_attribute_ignored(TierRelationState *state);

/*
 * Adds what was pulled from standbys: the executor there does not tell us anything, and their
 * devices are none of ours.
 */
extern void tier_attribute_standby(TierRelationState *state);

#endif							/* TIER_ATTRIBUTE_H */
