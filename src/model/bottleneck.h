/*-------------------------------------------------------------------------
 *
 * model/bottleneck.h
 *		Finds the limits that keep units from the tiers where they would be better.
 *
 * Pure, like the solver.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_BOTTLENECK_H
#define TIER_BOTTLENECK_H

#include "src/model/placement.h"

/* A placement to examine. */
typedef struct TierBottleneckQuestion
{
	const TierPlacementProblem *problem;
	const int  *tier;			/* by unit: where it is placed */
	double		least;			/* least gain of all units together that are
								 * kept from a tier, in the objective */
} TierBottleneckQuestion;

/*
 * `result` has the requested limits, the limits that the placement keeps, and the solution.
 * Two of its fields are replaced. pushed_out_of becomes the tier where the unit would gain
 * most, if it is allowed there and does not fit beside the units placed there. bottleneck
 * becomes the limit that a tier exceeds, or else the limit that keeps units from it, or none.
 * A unit that is not allowed on its present tier gains on any tier where it is allowed.
 */
extern void tier_bottleneck_find(const TierBottleneckQuestion *question,
								 TierPlacementResult *result);

#endif							/* TIER_BOTTLENECK_H */
