/*-------------------------------------------------------------------------
 *
 * model/placement_problem.c
 *		What is to be placed, what it costs on each tier, and what is limited.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "src/model/cost.h"
#include "src/model/placement_problem.h"

#define S_PER_HOUR 3600.0

/* What is not finite says that a unit may not be there; it is there all the same. */
static double
finite_or_0(double value)
{
	return isfinite(value) ? value : 0.0;
}

double
tier_placement_clients(const TierPlacementProblem *problem)
{
	return problem->clients > 0.0 ? problem->clients : INFINITY;
}

bool
tier_placement_may_live(const TierPlacementProblem *problem, int unit, int tier)
{
	size_t		cell = (size_t) unit * problem->ntiers + tier;

	return problem->allowed[cell] && isfinite(problem->busy_s[cell]) &&
		isfinite(problem->price[cell]);
}

double
tier_placement_use(const TierPlacementProblem *problem, size_t cell,
				   TierPlacementResource resource)
{
	const double *const of[TIER_PLACEMENT_RESOURCES] = {
		problem->stored_bytes, problem->occupied_s, problem->written_bytes
	};

	return of[resource][cell];
}

void
tier_placement_count(const TierPlacementProblem *problem, size_t cell, double times,
					 TierPlacementTotals *total)
{
	total->bytes += times * problem->stored_bytes[cell];
	total->occupied_s += times * problem->occupied_s[cell];
	total->written_bytes += times * problem->written_bytes[cell];
}

void
tier_placement_add_up(const TierPlacementProblem *problem, const int *tier,
					  TierPlacementTotals *totals)
{
	memset(totals, 0, sizeof(TierPlacementTotals) * problem->ntiers);
	for (int u = 0; u < problem->nunits; u++)
	{
		size_t		cell;
		TierPlacementTotals *total;

		if (tier[u] < 0 || tier[u] >= problem->ntiers)
			continue;
		cell = (size_t) u * problem->ntiers + tier[u];
		total = &totals[tier[u]];
		total->bytes += finite_or_0(problem->stored_bytes[cell]);
		total->busy_s += finite_or_0(problem->busy_s[cell]);
		total->occupied_s += finite_or_0(problem->occupied_s[cell]);
		total->wait_s += finite_or_0(problem->wait_s[cell]);
		total->written_bytes += finite_or_0(problem->written_bytes[cell]);
		total->price += finite_or_0(problem->price[cell]);
		total->units++;
	}
	for (int t = 0; t < problem->ntiers; t++)
		totals[t].queue_s = tier_cost_queue_s_per_hour(totals[t].occupied_s / S_PER_HOUR,
													   tier_placement_clients(problem));
}

TierPlacementWeights
tier_placement_weights(const TierPlacementProblem *problem)
{
	TierPlacementWeights weights = {0};

	if (problem->objective == TIER_OBJECTIVE_TIME)
		weights.busy = weights.queue = 1.0;
	else
		weights.price = 1.0;
	return weights;
}

double
tier_placement_cost(const TierPlacementProblem *problem, const TierPlacementWeights *weights,
					size_t cell)
{
	return weights->price * problem->price[cell] + weights->busy * problem->busy_s[cell];
}
