/*-------------------------------------------------------------------------
 *
 * model/placement.h
 *		The best placement: objective and limits, on top of the solver.
 *
 * Pure, like the solver: no PostgreSQL header, memory from the caller's two
 * callbacks, the same problem always has the same answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PLACEMENT_H
#define TIER_PLACEMENT_H

#include "src/model/placement_problem.h"

/* Why a tier takes no more, or has too much; the first one that holds. */
typedef enum TierPlacementBottleneck
{
	TIER_BOTTLENECK_NONE,
	TIER_BOTTLENECK_BYTES,
	TIER_BOTTLENECK_BUSY,
	TIER_BOTTLENECK_ENDURANCE,
} TierPlacementBottleneck;

/*
 * tier, pushed_out_of are by unit, the rest by tier, all from the caller; all but tier may be
 * NULL. tier_bottleneck_find() fills in pushed_out_of: -1 for a unit on its best tier.  The
 * objective is in device-seconds per hour for TIME, in money per month for MONEY.
 *
 * asked are the limits as they should be kept, and kept those that the placement keeps: the same,
 * or the amounts that it takes, in which case keeps_limits is false.
 */
typedef struct TierPlacementResult
{
	int		   *tier;
	int		   *pushed_out_of;
	TierPlacementTotals *now;
	TierPlacementTotals *after;
	TierPlacementLimits *asked;
	TierPlacementLimits *kept;
	TierPlacementBottleneck *bottleneck;
	double		objective;
	bool		keeps_limits;
} TierPlacementResult;

/*
 * Solves it.  Guaranteed: units that may go nowhere stay; a unit that moves has room on its
 * target; a tier becomes no fuller than its limit or its present level, whichever is more, and
 * busier or more written to than that only if others would be too full otherwise: then the limit
 * of endurance is given up first, and that of device time next.  If every unit may stay and no
 * tier is too full, the objective is no worse than that of staying.
 *
 * With current = -1 for units that may live somewhere, the placement is made from scratch:
 * present places count neither in doubt nor in limits.  Moves should cost nothing then.
 */
extern void tier_placement_solve(const TierPlacementProblem *problem, TierPlacementResult *result);

#endif							/* TIER_PLACEMENT_H */
