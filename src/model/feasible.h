/*-------------------------------------------------------------------------
 *
 * model/feasible.h
 *		Which limits a placement can keep: as asked, or raised by as little as
 *		possible.
 *
 * A server with a tier that is too full needs advice most, and whatever it does may
 * break another limit.  So limits come in an order: bytes first, since a full
 * device stops those who write; then device time, which makes them slow; then
 * endurance, which takes years.  Of each the least sum over the tiers of what goes
 * beyond is looked for among placements that break the ones before it by no more
 * than they have to.
 *
 * Pure, like the solver.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FEASIBLE_H
#define TIER_FEASIBLE_H

#include "src/model/placement_problem.h"

/* What a placement takes of a resource of a tier, in the unit of the limit. */
extern double tier_feasible_used(const TierPlacementTotals *total, TierPlacementResource resource);

/* Does what each tier takes keep these limits, but for rounding? */
extern bool tier_feasible_keeps(const TierPlacementProblem *problem,
								const TierPlacementTotals *totals,
								const TierPlacementLimits *limits);

/*
 * The limits as they should be kept: the room there is, negative where even an empty tier
 * would be too full, TIER_PLACEMENT_BUSY_LIMIT and the endurance; but nobody has to leave a
 * device that is busier now, or is written to more.
 */
extern void tier_feasible_ask(const TierPlacementProblem *problem, TierPlacementLimits *asked);

/*
 * Fills asked and kept, by tier, and a placement that keeps the latter.  Who must
 * not be where he is has gone where he may be, if there is room; nobody comes to a
 * tier that remains too full.  asked and kept are equal if that placement keeps
 * what is asked.  What is beyond a limit may be half a per cent more than it has to be.
 */
extern void tier_feasible_limits(const TierPlacementProblem *problem, TierPlacementLimits *asked,
								 TierPlacementLimits *kept, int *placement);

#endif							/* TIER_FEASIBLE_H */
