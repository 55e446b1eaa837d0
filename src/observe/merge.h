/*-------------------------------------------------------------------------
 *
 * observe/merge.h
 *		What happened since the last sample: growth, use, rates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MERGE_H
#define TIER_MERGE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/base/left_out.h"
#include "src/model/relation_state.h"
#include "src/observe/merge_input.h"

/* What the merge has found of all of them together. */
typedef struct TierMergeResult
{
	TimestampTz complete_since; /* since when the statistics have counted all
								 * that was done to what is there */
	bool		began_ahead;	/* they began later than it is now: the clock
								 * was set back */
	bool		saw_reset;		/* counters went backwards */
	bool		was_emptied;	/* the statistics were reset, or lost in a
								 * crash, since the last sample */
} TierMergeResult;

/*
 * Merges what is remembered into what was collected (by OID, too), and advances
 * the rates of the relations that were active, all but device_*.  Looks at the
 * files of those that changed.  A relation that fails, or has failed lately by the
 * pass, is left out.
 */
extern TierMergeResult tier_merge(TierRelationState *states, int nstates,
								  const TierMergeInput *input, TierPass *pass);

/* One smoothed rate, as of the end of the period, in which there were `events`. */
extern double tier_merge_advance(double rate, const TierRelationPeriod *period,
								 double events, double half_life_s);

/*
 * Do these counters of the relation show a scan of it that found something?  The build of
 * an index on a table scans it, too, if only while it is empty.  What a table's
 * indexes show is not considered.
 */
extern bool tier_merge_was_scanned(const TierRelationState *state, const TierCounters *counters);

#endif							/* TIER_MERGE_H */
