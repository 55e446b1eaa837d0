/*-------------------------------------------------------------------------
 *
 * model/solver/solve.c
 *		Placement as a multiple-choice knapsack: each unit gets one tier.
 *
 * The order of things:
 *
 *		1. Each unit goes where it is cheapest, whatever the limits; tiers that have too much
 *		   hand it down.
 *		2. Prices on what is limited; each unit goes where it is cheapest then.  Tiers that have
 *		   too much hand it down, and what room is left is filled.
 *		3. A greedy goes wrong by one unit for each limit, which matters where units are
 *		   large: these, and options that hardly lose at the prices, are tried.
 *
 * Each step only replaces a placement by a better one.  The start is compared in the end, and
 * nothing grows from it: so the same costs lead to the same answer wherever everything
 * is, and the answer is never worse than the start.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "src/model/solver/private.h"

/* Steps with all prices at once; mostly much fewer are needed. */
#define STEPS 60

bool
tier_solver_go_on(TierSolverModel *model)
{
	if (!model->interrupted && model->problem->interrupted != NULL)
		model->interrupted = model->problem->interrupted(model->problem->interrupted_argument);
	return !model->interrupted;
}

void *
tier_solver_alloc(const TierSolverModel *model, size_t n, size_t size)
{
	return model->problem->alloc((n > 0 ? n : 1) * size);
}

static int
compare_ranked(const void *pa, const void *pb)
{
	const TierSolverRanked *a = pa;
	const TierSolverRanked *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

void
tier_solver_sort(TierSolverRanked *ranked, int n)
{
	qsort(ranked, n, sizeof(TierSolverRanked), compare_ranked);
}

void
tier_solver_move(const TierSolverModel *model, TierSolverPlacement *placement, int unit, int tier)
{
	int			from = placement->tier[unit];

	for (int r = 0; r < model->nresources; r++)
	{
		if (from >= 0)
			placement->used[from * model->nresources + r] -= tier_solver_use(model, unit, from)[r];
		placement->used[tier * model->nresources + r] += tier_solver_use(model, unit, tier)[r];
	}
	placement->tier[unit] = tier;
}

void
tier_solver_measure(const TierSolverModel *model, TierSolverPlacement *placement)
{
	memset(placement->used, 0, sizeof(placement->used));
	placement->misplaced = 0;
	placement->overflow = placement->cost = 0.0;
	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			tier = placement->tier[unit];

		for (int r = 0; tier >= 0 && r < model->nresources; r++)
			placement->used[tier * model->nresources + r] += tier_solver_use(model, unit, tier)[r];
		if (!isinf(tier_solver_cost(model, unit, tier)))
			placement->cost += tier_solver_cost(model, unit, tier);
		else if (model->is_free[unit])
			placement->misplaced++;
	}
	for (int row = 0; row < model->nrows; row++)
		if (placement->used[row] > model->limit[row] * (1.0 + TIER_SOLVER_SLACK))
			placement->overflow += (placement->used[row] - model->limit[row]) *
				model->weight[row % model->nresources];
}

bool
tier_solver_keeps_limits(const TierSolverPlacement *placement)
{
	return placement->misplaced == 0 && !(placement->overflow > 0.0);
}

static void
swap_placements(TierSolverPlacement *a, TierSolverPlacement *b)
{
	TierSolverPlacement swap = *a;

	*a = *b;
	*b = swap;
}

bool
tier_solver_offer(TierSolverPlacement *best, TierSolverPlacement *other)
{
	if (!tier_solver_keeps_limits(other) ||
		(tier_solver_keeps_limits(best) &&
		 best->cost - other->cost <= TIER_SOLVER_ROUNDING * best->cost))
		return false;
	swap_placements(best, other);
	return true;
}

/* Reads the problem, and makes its values fit to compute with. */
static void
read_problem(TierSolverModel *model)
{
	const TierSolverProblem *problem = model->problem;
	double		total[TIER_SOLVER_MAX_RESOURCES] = {0.0};
	size_t		ncells = (size_t) model->nunits * model->ntiers;

	for (int row = 0; row < model->nrows; row++)
		model->limit[row] = problem->limit[row] > 0.0 ? problem->limit[row] : 0.0;
	for (size_t i = 0; i < ncells * model->nresources; i++)
	{
		double		use = problem->use[i];

		model->use[i] = use > TIER_SOLVER_TINY ? fmin(use, TIER_SOLVER_HUGE) : 0.0;
		total[i % model->nresources] += model->use[i] / model->ntiers;
	}
	for (int r = 0; r < model->nresources; r++)
		model->weight[r] = total[r] > 0.0 ? 1.0 / total[r] : 0.0;
	for (size_t cell = 0; cell < ncells; cell++)
	{
		const double *limit = &model->limit[cell % model->ntiers * model->nresources];
		double		cost = problem->cost[cell];

		for (int r = 0; r < model->nresources; r++)
			if (model->use[cell * model->nresources + r] > limit[r])
				cost = INFINITY;
		model->cost[cell] = cost >= 0.0 && cost <= TIER_SOLVER_HUGE ? cost : INFINITY;
	}
	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			start = problem->start[unit];

		model->start[unit] = start >= 0 && start < model->ntiers ? start : -1;
		model->is_free[unit] = false;
		for (int tier = 0; tier < model->ntiers; tier++)
			model->is_free[unit] |= !isinf(tier_solver_cost(model, unit, tier));
		for (int r = 0; !model->is_free[unit] && model->start[unit] >= 0 &&
			 r < model->nresources; r++)
			model->fixed[model->start[unit] * model->nresources + r] +=
				tier_solver_use(model, unit, model->start[unit])[r];
	}
}

/* The start, improved; it is taken as well where nothing is known that keeps the limits. */
static void
offer_start(TierSolverModel *model, TierSolverPlacement *best, TierSolverPlacement *other)
{
	memcpy(other->tier, model->start, sizeof(int) * model->nunits);
	tier_solver_measure(model, other);
	tier_solver_improve(model, other);
	if (!tier_solver_offer(best, other) && !tier_solver_keeps_limits(best))
		swap_placements(best, other);
}

static void
report(const TierSolverModel *model, const TierSolverPlacement *best, const double *price,
	   double bound, TierSolverResult *result)
{
	memcpy(result->tier, best->tier, sizeof(int) * model->nunits);
	if (result->limit_price != NULL)
		memcpy(result->limit_price, price, sizeof(double) * model->nrows);
	result->objective = best->cost;
	result->keeps_limits = tier_solver_keeps_limits(best);

	/* Where limits are not kept they bound nothing. */
	result->lower_bound = result->keeps_limits ? fmin(fmax(bound, 0.0), best->cost) : 0.0;
	result->interrupted = model->interrupted;
}

void
tier_solver_solve(const TierSolverProblem *problem, TierSolverResult *result)
{
	TierSolverModel model = {.problem = problem,.nunits = problem->nunits,
		.ntiers = problem->ntiers,.nresources = problem->nresources,
	.nrows = problem->ntiers * problem->nresources};
	TierSolverPlacement best;
	TierSolverPlacement other;
	double		price[TIER_SOLVER_MAX_ROWS] = {0.0};
	size_t		ncells = (size_t) model.nunits * model.ntiers;
	double	   *priced;
	double		bound = 0.0;

	model.cost = tier_solver_alloc(&model, ncells, sizeof(double));
	model.use = tier_solver_alloc(&model, ncells * model.nresources, sizeof(double));
	model.start = tier_solver_alloc(&model, model.nunits, sizeof(int));
	model.is_free = tier_solver_alloc(&model, model.nunits, sizeof(bool));
	priced = tier_solver_alloc(&model, ncells, sizeof(double));
	best.tier = tier_solver_alloc(&model, model.nunits, sizeof(int));
	other.tier = tier_solver_alloc(&model, model.nunits, sizeof(int));
	read_problem(&model);

	/* With more tiers it matters to the others where those go that leave. */
	model.ranks_anew = model.ntiers == 2;

	/* 1. Without prices */
	tier_solver_round_off(&model, model.cost, &best);

	/* 2. Prices; better ones, once a feasible cost is known. */
	for (int i = 0; i < 2; i++)
	{
		bound = tier_solver_set_prices(&model, best.cost, STEPS, price, priced);
		tier_solver_round_off(&model, priced, &other);
		(void) tier_solver_offer(&best, &other);
	}

	if (!tier_solver_keeps_limits(&best))
		offer_start(&model, &best, &other);

	/* 3. Correct the greedy. */
	if (!problem->quick)
		tier_solver_try_large(&model, price, priced, &best, &other);
	if (!problem->quick && tier_solver_keeps_limits(&best))
		tier_solver_try_options(&model, price, priced, &best, &other);
	offer_start(&model, &best, &other);
	report(&model, &best, price, bound, result);

	problem->release(model.cost);
	problem->release(model.use);
	problem->release(model.start);
	problem->release(model.is_free);
	problem->release(priced);
	problem->release(best.tier);
	problem->release(other.tier);
}
