/*-------------------------------------------------------------------------
 *
 * model/standby.c
 *		What a relation costs where standbys have devices of their own.
 *
 *-------------------------------------------------------------------------
 */
#include "src/model/number.h"
#include "src/model/standby.h"

TierCostLoad
tier_standby_load(const TierCostLoad *load, TierStandbyShare share)
{
	TierCostLoad there = *load;
	double		sequential = tier_clamp(share.sequential, 0.0, 1.0);

	there.random_reads *= tier_clamp(share.random, 0.0, 1.0);
	there.sequential_reads *= sequential;
	there.scans *= sequential;
	return there;
}

TierCostLoad
tier_standby_rest(const TierCostLoad *load, const TierStandbyShare *shares, int nshares)
{
	TierCostLoad rest = *load;
	double		random = 1.0;
	double		sequential = 1.0;

	for (int i = 0; i < nshares; i++)
	{
		random -= tier_clamp(shares[i].random, 0.0, 1.0);
		sequential -= tier_clamp(shares[i].sequential, 0.0, 1.0);
	}
	rest.random_reads *= tier_amount(random);
	rest.sequential_reads *= tier_amount(sequential);
	rest.scans *= tier_amount(sequential);
	return rest;
}

TierCost
tier_standby_cost(const TierCostLoad *load, const TierCostProfile *primary,
				  const TierCostProfile *standbys, const TierStandbyShare *shares, int nstandbys)
{
	TierCostLoad rest = tier_standby_rest(load, shares, nstandbys);
	TierCost	cost = tier_cost_on(nstandbys == 0 ? load : &rest, primary);

	for (int i = 0; i < nstandbys; i++)
	{
		TierCostLoad there = tier_standby_load(load, shares[i]);
		TierCost	standby = tier_cost_on(&there, &standbys[i]);

		cost.busy_s += standby.busy_s;
		cost.wait_s += standby.wait_s;
		cost.standby_occupied_s = tier_larger(cost.standby_occupied_s, standby.occupied_s);
	}
	return cost;
}
