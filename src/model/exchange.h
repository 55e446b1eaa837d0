/*-------------------------------------------------------------------------
 *
 * model/exchange.h
 *		Relations that are nearly equal do not change places.
 *
 * Pure, like the solver.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_EXCHANGE_H
#define TIER_EXCHANGE_H

#include "src/model/placement_problem.h"

/*
 * What each kind of cost is worth in the objective.  Device time and waiting are known
 * to a share only, TIER_PLACEMENT_DOUBT, which is taken off what they gain.
 */
typedef struct TierExchangeWeights
{
	TierPlacementWeights of;	/* but for the queue */
	double		occupied[TIER_SOLVER_MAX_TIERS];	/* of the queue, by the
													 * slope that it has on
													 * each tier */
} TierExchangeWeights;

/*
 * Takes moves back that bring one unit to a tier for which others leave it, where the
 * one is not worth more than those, with all that is doubtful to its
 * disadvantage.  The limits are kept.  tier: by unit, changed; returns how many moves
 * were taken back.
 */
extern int	tier_exchange_undo(const TierPlacementProblem *problem,
							   const TierPlacementLimits *limits,
							   const TierExchangeWeights *weights, int *tier);

#endif							/* TIER_EXCHANGE_H */
