/*-------------------------------------------------------------------------
 *
 * model/standby.h
 *		What a relation costs where standbys have devices of their own.
 *
 * A standby has the same relation in the same tablespace.  What is read there is no work of
 * the primary's device, and what is written is written by both.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MODEL_STANDBY_H
#define TIER_MODEL_STANDBY_H

#include "src/model/cost.h"

/* Of the reads of a relation, the part that one standby makes: from 0 to 1. */
typedef struct TierStandbyShare
{
	double		random;
	double		sequential;
} TierStandbyShare;

/* What its device has to do: its share of the reads, and all writes, which it replays. */
extern TierCostLoad tier_standby_load(const TierCostLoad *load, TierStandbyShare share);

/* What is left for the primary's. */
extern TierCostLoad tier_standby_rest(const TierCostLoad *load, const TierStandbyShare *shares,
									  int nshares);

/*
 * The cost on a tier, of which each standby has a device of its own: busy_s and wait_s are
 * sums over all servers, a second of one counting as much as a second of another;
 * standby_occupied_s is that of the standby's device with most to do, and the rest is the
 * primary's.  Without standbys it is tier_cost_on().
 */
extern TierCost tier_standby_cost(const TierCostLoad *load, const TierCostProfile *primary,
								  const TierCostProfile *standbys,
								  const TierStandbyShare *shares, int nstandbys);

#endif							/* TIER_MODEL_STANDBY_H */
