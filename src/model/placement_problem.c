/*-------------------------------------------------------------------------
 *
 * model/placement_problem.c
 *		The input of a placement: units, their costs on each tier, and limits.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "src/model/cost.h"
#include "src/model/placement_problem.h"

#define S_PER_HOUR 3600.0

/* Rounding in sums of the present state must not exceed a limit. */
#define ROUNDING 1e-9

/* A value that is not finite means that a unit may not be there; it may be there all the same. */
static double
finite_or_0(double value)
{
	return isfinite(value) ? value : 0.0;
}

/* The clients of the problem, as model/cost.h wants them. */
static double
clients_of(const TierPlacementProblem *problem)
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
													   clients_of(problem));
}

TierPlacementWeights
tier_placement_weights(const TierPlacementProblem *problem)
{
	TierPlacementWeights weights = {0};

	if (problem->objective == TIER_OBJECTIVE_TIME)
		weights.busy = 1.0;
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

double
tier_placement_unit_cost(const TierPlacementProblem *problem, const TierPlacementWeights *weights,
						 int unit, int tier)
{
	int			now = problem->current[unit];
	size_t		first = (size_t) unit * problem->ntiers;
	double		move = TIER_PLACEMENT_MOVE_MUST_PAY * problem->move_s[first + tier] /
	problem->horizon_hours;
	double		doubt = now < 0 || now == tier ? 0.0 : TIER_PLACEMENT_DOUBT *
	fabs(problem->busy_s[first + tier] - problem->busy_s[first + now]);

	return tier_placement_cost(problem, weights, first + tier) +
		weights->busy * (move + finite_or_0(doubt));
}

/* ---------------------------------------------------------------------
 * Limits
 * ---------------------------------------------------------------------
 */

static double
used(const TierPlacementTotals *total, TierPlacementResource resource)
{
	const double of[TIER_PLACEMENT_RESOURCES] = {
		total->bytes, total->occupied_s, total->written_bytes
	};

	return of[resource];
}

void
tier_placement_ask(const TierPlacementProblem *problem, TierPlacementLimits *asked)
{
	TierPlacementTotals now[TIER_SOLVER_MAX_TIERS];

	tier_placement_add_up(problem, problem->current, now);
	for (int t = 0; t < problem->ntiers; t++)
	{
		asked[t].of[TIER_RESOURCE_BYTES] = problem->available_bytes[t];
		asked[t].of[TIER_RESOURCE_BUSY] =
			fmax(TIER_PLACEMENT_BUSY_LIMIT * S_PER_HOUR, now[t].occupied_s) * (1.0 + ROUNDING);
		asked[t].of[TIER_RESOURCE_ENDURANCE] =
			fmax(problem->endurance_bytes_per_day[t], now[t].written_bytes) * (1.0 + ROUNDING);
	}
}

bool
tier_placement_exceeds(const TierPlacementTotals *total, const TierPlacementLimits *limit,
					   TierPlacementResource resource)
{
	return used(total, resource) > limit->of[resource] * (1.0 + ROUNDING);
}

bool
tier_placement_keeps(const TierPlacementProblem *problem, const TierPlacementTotals *totals,
					 const TierPlacementLimits *limits)
{
	for (int t = 0; t < problem->ntiers; t++)
		for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
			if (tier_placement_exceeds(&totals[t], &limits[t], (TierPlacementResource) r))
				return false;
	return true;
}

TierPlacementLimits
tier_placement_kept(const TierPlacementTotals *total, const TierPlacementLimits *asked)
{
	TierPlacementLimits kept = *asked;

	for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
		if (tier_placement_exceeds(total, asked, (TierPlacementResource) r))
			kept.of[r] = used(total, (TierPlacementResource) r);
	return kept;
}

int
tier_placement_lacks(const TierPlacementProblem *problem, const TierPlacementTotals *total,
					 const TierPlacementLimits *limit, size_t cell)
{
	TierPlacementTotals with = *total;
	int			r = 0;

	tier_placement_count(problem, cell, 1.0, &with);
	while (r < TIER_PLACEMENT_RESOURCES &&
		   !tier_placement_exceeds(&with, limit, (TierPlacementResource) r))
		r++;
	return r;
}
