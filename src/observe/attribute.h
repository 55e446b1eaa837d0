/*-------------------------------------------------------------------------
 *
 * observe/attribute.h
 *		Splitting the reads of a period into use and maintenance, and by order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ATTRIBUTE_H
#define TIER_ATTRIBUTE_H

#include "postgres.h"

#include "src/model/relation_state.h"
#include "src/observe/access_counts.h"

/*
 * Splits period.delta into period.attribution, use_hits and maintenance_reads, for a relation
 * that was active.  `count` NULL: no tracked plan has read this relation.  carry: reads that
 * are not in the counters yet are kept for the next sample.  is_first: this is the first
 * sample.  Returns true if all reads of the relation on this server were maintenance.
 */
extern bool tier_attribute_reads(TierRelationState *state, const TierAccessTaken *taken,
								 const TierAccessCount *count, bool carry, bool is_first);

/*
 * Keeps reads that are not in the counters yet for the next sample: those of use, of which
 * `used_share` and `added` blocks are there, and those of ignored applications.  Counters that
 * have gone back have lost them.  Reads that never reach the counters reduce the use of one
 * sample by as much, once.
 */
extern void tier_attribute_carry(const TierRelationPeriod *period, const TierAccessCount *count,
								 double added, double used_share);

/* Counts the reads of ignored applications as maintenance. */
extern void tier_attribute_ignored(TierRelationState *state);

/*
 * Adds the reads that were pulled from standbys.  The executor there does not report to us,
 * and their devices are not ours.
 */
extern void tier_attribute_standby(TierRelationState *state);

#endif							/* TIER_ATTRIBUTE_H */
