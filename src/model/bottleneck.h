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
	const double *least_gain;	/* by unit: its gain must exceed this; may be
								 * NULL */
} TierBottleneckQuestion;

/*
 * result has the limits that are asked for and those that the placement keeps, and what the
 * solver found; of it are replaced: pushed_out_of, by the tier where the unit would be better
 * by most, if it may be there and does not fit beside what is placed there; bottleneck, by the
 * limit that a tier is beyond, or else by what keeps units from it; where nothing does, by
 * none.  A unit that may not be where it is is better wherever it may be.
 */
extern void tier_bottleneck_find(const TierBottleneckQuestion *question,
								 TierPlacementResult *result);

#endif							/* TIER_BOTTLENECK_H */
