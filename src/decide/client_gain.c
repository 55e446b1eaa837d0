/*-------------------------------------------------------------------------
 *
 * decide/client_gain.c
 *		The gain of clients by an advice, at least and at most.
 *
 * model/prediction.h computes it for one load; this module calls it for each end of the ranges of
 * the loads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <unistd.h>

#include "src/decide/advice.h"

/*
 * A relation that is in no tier costs the same before and after.  False: what this one
 * costs has no end.
 */
static bool
add_unit(const TierAdvice *advice, const TierAdviceUnit *unit, int tier, TierScenario scenario,
		 double factor, TierPlacementTotals *totals)
{
	TierCostLoad load;
	TierCost	cost;

	if (tier < 0)
		return true;
	load = tier_advice_load_in(unit, scenario);
	cost = tier_advice_cost_of(advice, unit, &load, tier);
	if (!isfinite(cost.busy_s) || !isfinite(cost.occupied_s) || !isfinite(cost.wait_s))
		return false;
	totals[tier].busy_s += factor * cost.busy_s;
	totals[tier].occupied_s += factor * cost.occupied_s;
	totals[tier].wait_s += factor * cost.wait_s;
	return true;
}

/* The time of clients per hour, under the load of the advice. */
static TierPredictionClients
clients_of(const TierAdvice *advice)
{
	TierPredictionClients clients = {
		.active_s = advice->client_time.active_s * advice->options.load_factor,
		.device_s = advice->client_time.device_s * advice->options.load_factor,
		.processor_s = advice->client_time.processor_s * advice->options.load_factor,
		.processors = Max((double) sysconf(_SC_NPROCESSORS_ONLN), 0.0),
		.number = advice->clients,
	};

	return clients;
}

/*
 * Busy, occupied and waiting time of each tier at one end of a range, times a factor: with the
 * units where they are, or as advised.  Units on tiers from ntiers on are left out.  False: the
 * cost of one of them is infinite.
 */
static bool
add_up(const TierAdvice *advice, TierScenario scenario, bool as_advised, double factor,
	   int ntiers, TierPlacementTotals *totals)
{
	bool		is_finite = true;

	memset(totals, 0, sizeof(TierPlacementTotals) * ntiers);
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		int			tier = as_advised ? unit->recommended_tier : unit->current_tier;

		if (tier < ntiers)
			is_finite &= add_unit(advice, unit, tier, scenario, factor, totals);
	}
	return is_finite;
}

TierPrediction
tier_advice_predict(const TierAdvice *before, const TierAdvice *after)
{
	TierPrediction prediction = TIER_PREDICTION_UNKNOWN;
	int			ntiers = Min(before->set->ntiers, after->set->ntiers);
	double		factor = before->options.load_factor > 0.0 ?
	after->options.load_factor / before->options.load_factor : 1.0;
	TierPredictionClients clients = clients_of(after);
	bool		is_finite = true;
	TierPlacementTotals *now = palloc(sizeof(TierPlacementTotals) * Max(ntiers, 1));
	TierPlacementTotals *then = palloc(sizeof(TierPlacementTotals) * Max(ntiers, 1));

	for (TierScenario s = TIER_SCENARIO_MIDDLE; s <= TIER_SCENARIO_HIGH; s++)
	{
		is_finite &= add_up(before, s, false, factor, ntiers, now);
		is_finite &= add_up(after, s, true, 1.0, ntiers, then);
		tier_prediction_add(&clients, now, then, ntiers, &prediction);
	}
	pfree(now);
	pfree(then);
	return is_finite ? prediction : (TierPrediction) TIER_PREDICTION_UNKNOWN;
}
