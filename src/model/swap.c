/*-------------------------------------------------------------------------
 *
 * model/swap.c
 *		Which two units should have each other's place.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/feasible.h"
#include "src/model/swap.h"

/* Pairs in all passes: some milliseconds, in each of the placements that an advice takes. */
#define MOST_PAIRS 1e6

/* Each pass may make room for another exchange. */
#define MOST_PASSES 4

/* Less than this share of the cost is rounding. */
#define ROUNDING 1e-9

typedef struct Work
{
	const TierPlacementProblem *problem;
	const TierPlacementLimits *limits;
	const double *cost;
	TierPlacementTotals totals[TIER_SOLVER_MAX_TIERS];
	int		   *tier;
} Work;

static size_t
cell_of(const Work *work, int unit, int tier)
{
	return (size_t) unit * work->problem->ntiers + tier;
}

static bool
has_place(const Work *work, int unit)
{
	return work->tier[unit] >= 0 && work->tier[unit] < work->problem->ntiers &&
		isfinite(work->cost[cell_of(work, unit, work->tier[unit])]);
}

static void
shift(Work *work, int unit, int to)
{
	const TierPlacementProblem *problem = work->problem;

	for (int i = 0; i < 2; i++)
	{
		int			t = i == 0 ? work->tier[unit] : to;

		tier_placement_count(problem, cell_of(work, unit, t), i == 0 ? -1.0 : 1.0,
							 &work->totals[t]);
	}
	work->tier[unit] = to;
}

/* What the unit costs less there; -INFINITY: it must not be there. */
static double
gain_of(const Work *work, int unit, int to)
{
	return work->cost[cell_of(work, unit, work->tier[unit])] -
		work->cost[cell_of(work, unit, to)];
}

static bool
is_gain(const Work *work, int unit, double gain)
{
	return gain > ROUNDING * fabs(work->cost[cell_of(work, unit, work->tier[unit])]) &&
		isfinite(gain);
}

/* Both of them, or none if that breaks a limit; without another one: other < 0. */
static bool
try_exchange(Work *work, int unit, int to, int other)
{
	int			from = work->tier[unit];

	shift(work, unit, to);
	if (other >= 0)
		shift(work, other, from);
	if (tier_feasible_keeps(work->problem, work->totals, work->limits))
		return true;
	if (other >= 0)
		shift(work, other, to);
	shift(work, unit, from);
	return false;
}

/* The best that can be done for one unit. */
static bool
improve_unit(Work *work, int unit)
{
	const TierPlacementProblem *problem = work->problem;
	bool		changed = false;

	for (int t = 0; t < problem->ntiers; t++)
		if (t != work->tier[unit] && is_gain(work, unit, gain_of(work, unit, t)) &&
			try_exchange(work, unit, t, -1))
			changed = true;
	for (int other = 0; other < problem->nunits; other++)
	{
		int			to = work->tier[other];

		if (other == unit || !has_place(work, other) || to == work->tier[unit] ||
			!is_gain(work, unit, gain_of(work, unit, to) +
					 gain_of(work, other, work->tier[unit])))
			continue;
		changed |= try_exchange(work, unit, to, other);
	}
	return changed;
}

int
tier_swap_improve(const TierPlacementProblem *problem, const TierPlacementLimits *limits,
				  const double *cost, int *tier)
{
	Work		work = {.problem = problem,.limits = limits,.cost = cost,.tier = tier};
	int			changes = 0;

	if ((double) problem->nunits * problem->nunits * MOST_PASSES > MOST_PAIRS)
		return 0;
	tier_placement_add_up(problem, tier, work.totals);
	if (!tier_feasible_keeps(problem, work.totals, limits))
		return 0;
	for (int pass = 0; pass < MOST_PASSES; pass++)
	{
		int			before = changes;

		for (int u = 0; u < problem->nunits; u++)
			if (has_place(&work, u) && improve_unit(&work, u))
				changes++;
		if (changes == before)
			break;
	}
	return changes;
}
