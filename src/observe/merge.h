/*-------------------------------------------------------------------------
 *
 * observe/merge.h
 *		Merging a sample with the last one: growth, use, rates.
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

/* The results of the merge for all relations together. */
typedef struct TierMergeResult
{
	TimestampTz complete_since; /* since when the statistics are complete for
								 * the existing relations */
	TimestampTz since;			/* the period begins: at the last sample, or
								 * when a crash took the counters after it */
	bool		began_ahead;	/* they began later than it is now: the clock
								 * was set back */
	bool		saw_reset;		/* counters went backwards */
	bool		was_emptied;	/* the statistics were reset, or lost in a
								 * crash, since the last sample */
} TierMergeResult;

/*
 * Merges the remembered states into the collected ones (both ordered by OID), and advances the
 * rates of the active relations, all but device_*.  Looks at the files of the relations that
 * changed.  A relation that fails, or that the pass skips, is left out.
 */
extern TierMergeResult tier_merge(TierRelationState *states, int nstates,
								  const TierMergeInput *input, TierPass *pass);

/* One smoothed rate, as of the end of the period, in which there were `events`. */
extern double tier_merge_advance(double rate, const TierRelationPeriod *period,
								 double events, double half_life_s);

/*
 * Returns true if these counters of the relation show a scan that found something.  The build
 * of an index on a table scans it, too, if only while it is empty.  The counters of a table's
 * indexes are not considered.
 */
extern bool tier_merge_was_scanned(const TierRelationState *state, const TierCounters *counters);

#endif							/* TIER_MERGE_H */
