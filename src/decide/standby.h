/*-------------------------------------------------------------------------
 *
 * decide/standby.h
 *		What units cost on standbys of whose devices something was told.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DECIDE_STANDBY_H
#define TIER_DECIDE_STANDBY_H

#include "postgres.h"

#include "src/decide/units.h"

/* What a load of the unit costs on a tier, on all servers; see tier_standby_cost(). */
extern TierCost tier_standby_cost_of(const TierAdvice *advice, const TierAdviceUnit *unit,
									 const TierCostLoad *load, int tier);

/* Device-seconds of writing the copy on the standbys. */
extern double tier_standby_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/*
 * The standby that saves most by the unit's advice, or pays most for it, if that is more than
 * all the rest; NULL: none.
 */
extern const char *tier_standby_that_decides(const TierAdvice *advice, const TierAdviceUnit *unit,
											 int from, int to);

#endif							/* TIER_DECIDE_STANDBY_H */
