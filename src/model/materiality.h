/*-------------------------------------------------------------------------
 *
 * model/materiality.h
 *		Which moves of a placement matter.
 *
 * The best placement is full of moves that together save next to nothing: a
 * reader would have to look at each, and somebody to wait for it.
 *
 * Pure, like the solver.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MATERIALITY_H
#define TIER_MATERIALITY_H

#include "src/model/placement_problem.h"

/* What was left out, in sum. */
typedef struct TierMaterialityDropped
{
	int			units;
	double		gain;			/* in the objective, >= 0 */
} TierMaterialityDropped;

/*
 * Takes moves back that gain least, as long as they gain at most `give_up` together
 * (in the objective: device-seconds per hour for TIME, else money per month), and for
 * TIME save clients at most `give_up_wait_s` of waiting per hour together;
 * and those that gain nothing and make room for nobody any more.  Never one
 * that may not stay, or whose staying takes a tier beyond the limits that the placement
 * keeps.  `least_gain`, if it is not NULL: by unit, what its move has to gain more than, for
 * TIME of either; what that leaves out is not part of `give_up`.  tier: by
 * unit, changed.
 */
extern TierMaterialityDropped tier_materiality_drop(const TierPlacementProblem *problem,
													const TierPlacementLimits *limits,
													double give_up, double give_up_wait_s,
													const double *least_gain, int *tier);

#endif							/* TIER_MATERIALITY_H */
