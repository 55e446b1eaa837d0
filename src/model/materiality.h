/*-------------------------------------------------------------------------
 *
 * model/materiality.h
 *		Which moves of a placement matter.
 *
 * The best placement contains many moves that together save almost nothing, but each has to be
 * read, made and waited for.
 *
 * Pure, like the solver.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MATERIALITY_H
#define TIER_MATERIALITY_H

#include "src/model/placement_problem.h"

/* The sum of the moves that were taken back. */
typedef struct TierMaterialityDropped
{
	int			units;
	double		gain;			/* in the objective, >= 0 */
} TierMaterialityDropped;

/*
 * Takes back the moves that gain least, as long as they gain at most `give_up` together (in the
 * objective: device-seconds per hour for TIME, else money per month), and for TIME save clients
 * at most `give_up_wait_s` of waiting per hour together; and the moves that gain nothing, once no
 * other move needs their room.  Never takes back a move of a unit that may not stay, or whose
 * staying takes a tier beyond the limits that the placement keeps.  tier: by unit, changed.
 */
extern TierMaterialityDropped tier_materiality_drop(const TierPlacementProblem *problem,
													const TierPlacementLimits *limits,
													double give_up, double give_up_wait_s,
													int *tier);

#endif							/* TIER_MATERIALITY_H */
