/*-------------------------------------------------------------------------
 *
 * model/swap.h
 *		Which two units should have each other's place.
 *
 * The solver stops where a placement cannot be told from the best one by its bound.  What is
 * left of that may still be told by looking: among units of about the same size, one that
 * is worth less has the room of one that is worth more, and which does depends on
 * where everything was.  So pairs are compared until none should be exchanged.
 *
 * Pure, like the solver.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SWAP_H
#define TIER_SWAP_H

#include "src/model/placement_problem.h"

/*
 * Exchanges the places of two units, and moves single ones where there is room, as long as
 * that costs less.  cost: by unit and tier, INFINITY where it must not be.  The
 * limits are kept.  tier: by unit, changed; returns how often.  With so many units that it
 * would take long nothing is looked at.
 */
extern int	tier_swap_improve(const TierPlacementProblem *problem,
							  const TierPlacementLimits *limits,
							  const double *cost, int *tier);

#endif							/* TIER_SWAP_H */
