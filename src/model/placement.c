/*-------------------------------------------------------------------------
 *
 * model/placement.c
 *		The best placement: objective and limits, on top of the solver.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "src/model/placement.h"

/* MONEY: time counts for this share of the price at most. */
#define TIME_SHARE_OF_MONEY 1e-3

/* Scratch of one tier_placement_solve().  totals are those of the last answer. */
typedef struct Work
{
	const TierPlacementProblem *problem;
	TierPlacementWeights weights;
	TierPlacementLimits asked[TIER_SOLVER_MAX_TIERS];
	TierPlacementTotals totals[TIER_SOLVER_MAX_TIERS];
	double	   *cost;
	double	   *use;
	int		   *start;			/* where units are; those that are nowhere go
								 * where there is most room */
	int		   *tier;			/* the last answer */
} Work;

/* By the objective; time decides between places of the same price. */
static void
set_weights(Work *work)
{
	const TierPlacementProblem *problem = work->problem;
	double		price = 0.0;
	double		busy = 1.0;

	work->weights = tier_placement_weights(problem);
	if (problem->objective != TIER_OBJECTIVE_MONEY)
		return;
	tier_placement_add_up(problem, work->start, work->totals);
	for (int t = 0; t < problem->ntiers; t++)
	{
		price += work->totals[t].price;
		busy += work->totals[t].busy_s;
	}
	work->weights.busy = price > 0.0 ? TIME_SHARE_OF_MONEY * price / busy : 1.0;
}

static void
set_start(Work *work)
{
	const TierPlacementProblem *problem = work->problem;

	tier_placement_add_up(problem, problem->current, work->totals);
	for (int u = 0; u < problem->nunits; u++)
	{
		int			from = problem->current[u];
		double		most = -INFINITY;

		work->start[u] = from;
		for (int t = 0; from < 0 && t < problem->ntiers; t++)
		{
			double		room = problem->available_bytes[t] - work->totals[t].bytes;

			if (!tier_placement_may_live(problem, u, t) || room <= most)
				continue;
			most = room;
			work->start[u] = t;
		}
	}
}

static void
set_cells(Work *work)
{
	const TierPlacementProblem *problem = work->problem;

	for (int u = 0; u < problem->nunits; u++)
		for (int t = 0; t < problem->ntiers; t++)
		{
			size_t		cell = (size_t) u * problem->ntiers + t;

			work->cost[cell] = !tier_placement_may_live(problem, u, t) ? INFINITY :
				tier_placement_unit_cost(problem, &work->weights, u, t);
			for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
				work->use[cell * TIER_PLACEMENT_RESOURCES + r] =
					tier_placement_use(problem, cell, (TierPlacementResource) r);
		}
}

/* The solver's answer with the first so many limits. */
static void
solve(Work *work, int nlimits)
{
	const TierPlacementProblem *problem = work->problem;
	double		limit[TIER_SOLVER_MAX_TIERS * TIER_PLACEMENT_RESOURCES];
	TierSolverProblem call = {0};
	TierSolverResult solved = {0};

	for (int t = 0; t < problem->ntiers; t++)
		for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
			limit[t * TIER_PLACEMENT_RESOURCES + r] =
				r < nlimits ? work->asked[t].of[r] : INFINITY;
	call.nunits = problem->nunits;
	call.ntiers = problem->ntiers;
	call.nresources = TIER_PLACEMENT_RESOURCES;
	call.cost = work->cost;

	/*
	 * Of tiers that are equal the cheaper one; whether to go at all is
	 * another question.
	 */
	call.price = problem->objective == TIER_OBJECTIVE_TIME ? problem->price : NULL;
	call.use = work->use;
	call.limit = limit;
	call.start = work->start;
	call.quick = problem->quick;
	call.alloc = problem->alloc;
	call.release = problem->release;
	call.interrupted = problem->interrupted;
	call.interrupted_argument = problem->interrupted_argument;
	solved.tier = work->tier;
	tier_solver_solve(&call, &solved);
	tier_placement_add_up(problem, work->tier, work->totals);
}

/* Returns true if the first so many limits are kept, and no unit is where it must not be. */
static bool
is_answer(const Work *work, int nlimits)
{
	const TierPlacementProblem *problem = work->problem;

	for (int t = 0; t < problem->ntiers; t++)
		for (int r = 0; r < nlimits; r++)
			if (tier_placement_exceeds(&work->totals[t], &work->asked[t],
									   (TierPlacementResource) r))
				return false;
	for (int u = 0; u < problem->nunits; u++)
		if (work->tier[u] >= 0 && !tier_placement_may_live(problem, u, work->tier[u]))
			return false;
	return true;
}

static void
report(const Work *work, TierPlacementResult *result)
{
	const TierPlacementProblem *problem = work->problem;
	size_t		nlimits = sizeof(TierPlacementLimits) * problem->ntiers;

	memcpy(result->tier, work->tier, sizeof(int) * problem->nunits);
	if (result->now != NULL)
		tier_placement_add_up(problem, problem->current, result->now);
	if (result->after != NULL)
		memcpy(result->after, work->totals, sizeof(TierPlacementTotals) * problem->ntiers);
	if (result->asked != NULL)
		memcpy(result->asked, work->asked, nlimits);
	if (result->kept != NULL)
		for (int t = 0; t < problem->ntiers; t++)
			result->kept[t] = tier_placement_kept(&work->totals[t], &work->asked[t]);
	result->objective = 0.0;
	for (int u = 0; u < problem->nunits; u++)
	{
		double		cost = work->tier[u] < 0 ? 0.0 :
		tier_placement_unit_cost(problem, &work->weights, u, work->tier[u]);

		result->objective += isfinite(cost) ? cost : 0.0;
	}
	result->keeps_limits = tier_placement_keeps(problem, work->totals, work->asked);
}

void
tier_placement_solve(const TierPlacementProblem *problem, TierPlacementResult *result)
{
	size_t		nunits = problem->nunits;
	size_t		ncells = nunits * problem->ntiers;
	Work		work;

	memset(&work, 0, sizeof(work));
	work.problem = problem;
	work.cost = problem->alloc(sizeof(double) * ncells + 1);
	work.use = problem->alloc(sizeof(double) * ncells * TIER_PLACEMENT_RESOURCES + 1);
	work.start = problem->alloc(sizeof(int) * nunits + 1);
	work.tier = problem->alloc(sizeof(int) * nunits + 1);
	set_start(&work);
	set_weights(&work);
	set_cells(&work);
	tier_placement_ask(problem, work.asked);

	/*
	 * A full device stops those who write, a busy one makes them slow, wear
	 * takes years.
	 */
	for (int nlimits = TIER_PLACEMENT_RESOURCES; nlimits > 0; nlimits--)
	{
		solve(&work, nlimits);
		if (is_answer(&work, nlimits))
			break;
	}
	report(&work, result);
	problem->release(work.cost);
	problem->release(work.use);
	problem->release(work.start);
	problem->release(work.tier);
}
