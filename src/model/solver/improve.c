/*-------------------------------------------------------------------------
 *
 * model/solver/improve.c
 *		Makes a placement of the cheapest tiers, and better by single moves until none gains.
 *
 * Invariant of each step: a unit that moves has room on its target, and a tier that has too much
 * of a resource takes in no unit that uses it.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "src/model/solver/private.h"

/* Each pass may make room for another step. */
#define MAX_PASSES 8

/* Fewer than these are ranked anew for each that leaves. */
#define MAX_RANKED_AGAIN 100

/* With half the slack of the final check, because `used` accumulates rounding errors. */
static bool
is_within(const TierSolverModel *model, int row, double used)
{
	return used <= model->limit[row] * (1.0 + 0.5 * TIER_SOLVER_SLACK);
}

/*
 * Returns true if the tier has too much of a resource that the unit uses, with so many more like
 * it.
 */
static bool
is_too_full(const TierSolverModel *model, const double *used, int unit, int tier, int more)
{
	const double *use = tier_solver_use(model, unit, tier);

	for (int r = 0; r < model->nresources; r++)
	{
		int			row = tier * model->nresources + r;

		if (use[r] > 0.0 && !is_within(model, row, used[row] + more * use[r]))
			return true;
	}
	return false;
}

/* Returns true if the unit is on a tier with too much of a resource that it uses. */
static bool
is_squeezed(const TierSolverModel *model, const double *used, int unit, int tier)
{
	return is_too_full(model, used, unit, tier, 0);
}

/*
 * Returns true if tier a is better than tier b.  At the same cost the price decides, or the
 * start.
 */
static bool
is_better(const TierSolverModel *model, int unit, int a, int b)
{
	const double *price = model->problem->price;
	int			start = model->start[unit];
	double		cost_a = tier_solver_cost(model, unit, a);
	double		cost_b = tier_solver_cost(model, unit, b);
	double		price_a = price == NULL ? 0.0 : price[tier_solver_cell(model, unit, a)];
	double		price_b = price == NULL ? 0.0 : price[tier_solver_cell(model, unit, b)];

	if (cost_a != cost_b)
		return cost_a < cost_b;
	price_a = price_a > 0.0 ? price_a : a == start ? 0.0 : INFINITY;
	price_b = price_b > 0.0 ? price_b : b == start ? 0.0 : INFINITY;
	if (price_a != price_b)
		return price_a < price_b;
	return a == start || (b != start && a < b);
}

/* The best tier that has room, its own if it may stay there; -1: none. */
static int
best_tier(const TierSolverModel *model, const TierSolverPlacement *placement, int unit)
{
	int			from = placement->tier[unit];
	int			best = -1;

	if (!isinf(tier_solver_cost(model, unit, from)) &&
		!is_squeezed(model, placement->used, unit, from))
		best = from;
	for (int tier = 0; tier < model->ntiers; tier++)
		if (tier != from && !isinf(tier_solver_cost(model, unit, tier)) &&
			(best < 0 || is_better(model, unit, tier, best)) &&
			!is_too_full(model, placement->used, unit, tier, 1))
			best = tier;
	return best;
}

/*
 * The gain of a unit on its best tier, for the resources it uses there; a unit that must not stay
 * goes first.
 */
static double
urgency(const TierSolverModel *model, const TierSolverPlacement *placement, int unit)
{
	double		cost = tier_solver_cost(model, unit, placement->tier[unit]);
	double		best = 0.0;

	if (isinf(cost))
		return INFINITY;
	for (int tier = 0; tier < model->ntiers; tier++)
	{
		double		gain = cost - tier_solver_cost(model, unit, tier);
		double		load = 0.0;

		for (int r = 0; gain > 0.0 && r < model->nresources; r++)
			load += model->weight[r] * tier_solver_use(model, unit, tier)[r];
		if (gain > 0.0)
			best = fmax(best, load > 0.0 ? gain / load : INFINITY);
	}
	return best;
}

/*
 * The tier that costs a unit least except its present one, of those that have room; also slower
 * ones without room, if asked for, but not where it is large.  -1: none.  loss: its loss there,
 * for each amount that it frees of the resources its tier has too much of.
 */
static int
find_exit(const TierSolverModel *model, const double *costs, bool into_full,
		  const TierSolverPlacement *placement, int unit, double *loss)
{
	const double *cells = &costs[tier_solver_cell(model, unit, 0)];
	int			from = placement->tier[unit];
	int			to = -1;
	double		freed = 0.0;

	for (int tier = 0; tier < model->ntiers; tier++)
		if (tier != from && !isinf(cells[tier]) && (to < 0 || cells[tier] < cells[to]) &&
			(!is_too_full(model, placement->used, unit, tier, 1) ||
			 (into_full && tier > from &&
			  tier_solver_share(model, unit, tier) <= TIER_SOLVER_LARGE)))
			to = tier;
	for (int r = 0; r < model->nresources; r++)
	{
		int			row = from * model->nresources + r;

		if (!is_within(model, row, placement->used[row]))
			freed += fmin(tier_solver_use(model, unit, from)[r] /
						  (placement->used[row] - model->limit[row]), 1.0);
	}
	*loss = to < 0 ? INFINITY : (cells[to] - cells[from]) / freed;
	return to;
}

/*
 * Puts the unit first that loses least now: the excess becomes smaller with each unit that
 * leaves, and a small one may be enough in the end.
 */
static void
bring_best(const TierSolverModel *model, const double *costs, bool into_full,
		   const TierSolverPlacement *placement, TierSolverRanked *ranked, int n)
{
	TierSolverRanked first;
	double		least = INFINITY;
	int			best = 0;

	for (int i = 0; i < n; i++)
	{
		int			unit = ranked[i].unit;
		double		loss;

		if (!is_squeezed(model, placement->used, unit, placement->tier[unit]))
			continue;
		(void) find_exit(model, costs, into_full, placement, unit, &loss);
		if (loss >= least)
			continue;
		least = loss;
		best = i;
	}
	first = ranked[best];
	ranked[best] = ranked[0];
	ranked[0] = first;
}

/*
 * Tiers that have too much lose the units that lose least by it, by these costs, to tiers that
 * have room; into_full: or to slower ones, which have too much then and are next.  True if
 * any has moved.
 */
static bool
relieve(TierSolverModel *model, const double *costs, bool into_full,
		TierSolverPlacement *placement)
{
	TierSolverRanked *ranked = tier_solver_alloc(model, model->nunits, sizeof(TierSolverRanked));
	bool		any = false;
	double		loss;

	for (int tier = 0; tier < model->ntiers && tier_solver_go_on(model); tier++)
	{
		int			n = 0;

		for (int unit = 0; unit < model->nunits; unit++)
		{
			if (placement->tier[unit] != tier || !model->is_free[unit] ||
				!is_squeezed(model, placement->used, unit, tier) ||
				find_exit(model, costs, into_full, placement, unit, &loss) < 0)
				continue;
			ranked[n].unit = unit;
			ranked[n++].key = -loss;
		}
		tier_solver_sort(ranked, n);
		for (int i = 0; i < n; i++)
		{
			int			unit;
			int			to;

			if (model->ranks_anew && n - i <= MAX_RANKED_AGAIN)
				bring_best(model, costs, into_full, placement, ranked + i, n - i);
			unit = ranked[i].unit;
			to = !is_squeezed(model, placement->used, unit, tier) ? -1 :
				find_exit(model, costs, into_full, placement, unit, &loss);
			if (to < 0)
				continue;
			tier_solver_move(model, placement, unit, to);
			any = true;
		}
	}
	model->problem->release(ranked);
	return any;
}

/* Moves single units to better tiers that have room. */
static bool
move_single(TierSolverModel *model, TierSolverPlacement *placement, TierSolverRanked *ranked)
{
	bool		any = false;
	int			n = 0;

	for (int unit = 0; unit < model->nunits; unit++)
		if (model->is_free[unit])
		{
			ranked[n].unit = unit;
			ranked[n++].key = urgency(model, placement, unit);
		}
	tier_solver_sort(ranked, n);
	for (int i = 0; i < n; i++)
	{
		int			unit = ranked[i].unit;
		int			from = placement->tier[unit];
		int			to = best_tier(model, placement, unit);

		if (to < 0 || to == from)
			continue;
		tier_solver_move(model, placement, unit, to);
		any = true;
	}
	return any;
}

void
tier_solver_improve(TierSolverModel *model, TierSolverPlacement *placement)
{
	TierSolverRanked *ranked = tier_solver_alloc(model, model->nunits, sizeof(TierSolverRanked));
	bool		changed = true;

	for (int pass = 0; pass < MAX_PASSES && changed && tier_solver_go_on(model); pass++)
	{
		changed = relieve(model, model->cost, false, placement);
		changed |= move_single(model, placement, ranked);
	}
	tier_solver_measure(model, placement);
	model->problem->release(ranked);
}

void
tier_solver_round_off(TierSolverModel *model, const double *priced,
					  TierSolverPlacement *placement)
{
	for (int unit = 0; unit < model->nunits; unit++)
	{
		const double *cells = &priced[(size_t) unit * model->ntiers];
		int			best = model->start[unit];

		for (int tier = 0; model->is_free[unit] && tier < model->ntiers; tier++)
			if (best < 0 || cells[tier] < cells[best])
				best = tier;
		placement->tier[unit] = best;
	}
	tier_solver_measure(model, placement);
	(void) relieve(model, priced, true, placement);
	tier_solver_improve(model, placement);
}
