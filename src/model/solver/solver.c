/*-------------------------------------------------------------------------
 *
 * model/solver/solver.c
 *		Placement as a multiple-choice knapsack: each unit gets one tier.
 *
 * The order of things:
 *
 *		1. Everybody stays, as the placement to beat.  With not too many units
 *		   also what greedy rules make.
 *		2. The dual bounds what is possible and leads to a placement.
 *		3. What the bound has not decided is searched.
 *		4. If no placement keeps all limits, the best of 1. says which of them
 *		   cannot be kept.  They get as much as it needs of them, nobody may
 *		   enter there, and 2. and 3. are done again for the rest.
 *		5. Where costs are the same, the price decides, or nobody moves.
 *
 * Staying is the one to beat, and each step only replaces a placement by a
 * better one, so the answer is never worse than no move at all.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/solver/private.h"

/* Above this number of units the greedy placements are left out. */
#define MAX_GREEDY_UNITS 3000

/* They are made when there is so much effort for each option: they take a tenth of it. */
#define GREEDY_EFFORT 1000.0

/*
 * Once the gap is good enough the search still goes on for so much, a few
 * milliseconds: that is all a problem of few units takes to its optimum.
 */
#define POLISH_EFFORT 3e5

/* Of all effort, for finding any placement that keeps the limits. */
#define FUTILE_SHARE 0.3

/*
 * With more units than this in the core, that many that matter most are searched
 * by themselves first, with so much effort.
 */
#define MAX_BIG_UNITS 1000
#define BIG_UNITS_EFFORT 8e6

/* A limit that cannot be kept may be exceeded by so much more than it has to be. */
#define GIVE_WAY 5e-3

/* Effort between two questions whether to go on, about a millisecond. */
#define POLL_EFFORT 1e5

/* So that what is reported is finite, whatever the numbers were. */
#define MAX_REPORTED 1e300

/*
 * One attempt at placing all units within limits.  core, dual and option are only
 * there within place_all(); best is the answer so far, and only gets better.
 */
typedef struct Attempt
{
	const TierSolverModel *model;
	double		limit[TIER_SOLVER_MAX_ROWS];
	bool		barred[TIER_SOLVER_MAX_ROWS];
	unsigned char *held;		/* by unit */
	TierSolverCore *core;
	TierSolverDual *dual;
	TierSolverPlacement *best;
	TierSolverPlacement *other; /* scratch */
	int		   *option;			/* by unit of the core: scratch */
	bool		is_solved;		/* the dual, to the end */
	double		bound;			/* in the unit of the core */
	double		best_cost;		/* the same; INFINITY: best is no solution */
	bool		limit_hit;
	int			nactive;
	long		nnodes;
} Attempt;


/*-------------------------------------------------------------------------
 * Memory, and how long it may take
 *-------------------------------------------------------------------------
 */

void *
tier_solver_alloc(TierSolverRun *run, size_t n, size_t size)
{
	size_t		bytes = n * size;

	return run->problem->alloc(bytes > 0 ? bytes : 1);
}

void
tier_solver_release(TierSolverRun *run, void *ptr)
{
	run->problem->release(ptr);
}

bool
tier_solver_spend(TierSolverRun *run, double options)
{
	run->effort += options;
	if (run->effort >= run->next_poll)
	{
		run->next_poll = run->effort + POLL_EFFORT;
		if (!run->interrupted && run->problem->interrupted != NULL)
			run->interrupted = run->problem->interrupted(run->problem->interrupted_argument);
	}
	return !run->interrupted;
}


/*-------------------------------------------------------------------------
 * The model
 *-------------------------------------------------------------------------
 */

static TierSolverObstacle
find_obstacle(const TierSolverModel *model, int unit)
{
	bool		pinned = tier_solver_pin(model, unit) >= 0;
	bool		permitted = false;

	for (int tier = 0; tier < model->ntiers; tier++)
	{
		if (isinf(tier_solver_cost(model, unit, tier)))
			continue;
		permitted = true;
		if (tier_solver_fits_alone(model, unit, tier))
			return TIER_SOLVER_NO_OBSTACLE;
	}
	if (pinned)
		return permitted ? TIER_SOLVER_PIN_TOO_LARGE : TIER_SOLVER_PIN_FORBIDDEN;
	return permitted ? TIER_SOLVER_TOO_LARGE : TIER_SOLVER_FORBIDDEN;
}

static void
make_model(const TierSolverProblem *problem, TierSolverRun *run,
		   TierSolverModel *model)
{
	memset(model, 0, sizeof(*model));
	model->run = run;
	model->problem = problem;
	model->nunits = problem->nunits > 0 ? problem->nunits : 0;
	model->ntiers = problem->ntiers;
	model->nresources = problem->nresources + 1;
	model->nrows = model->ntiers * model->nresources;

	for (int tier = 0; tier < model->ntiers; tier++)
		for (int r = 0; r < model->nresources; r++)
		{
			double		limit = r == 0 ? problem->capacity[tier] :
			problem->limit[tier * problem->nresources + r - 1];

			model->limit[tier * model->nresources + r] = limit > 0.0 ? limit : 0.0;
		}
	for (int r = 0; r < model->nresources; r++)
	{
		double		total = 0.0;

		for (int unit = 0; unit < model->nunits; unit++)
		{
			double		most = 0.0;

			for (int tier = 0; tier < model->ntiers; tier++)
				most = fmax(most, tier_solver_use(model, unit, tier, r));
			total += most;
		}
		model->weight[r] = total > 0.0 ? 1.0 / total : 0.0;
	}
	model->obstacle = tier_solver_alloc(run, model->nunits, 1);
	for (int unit = 0; unit < model->nunits; unit++)
	{
		model->obstacle[unit] = find_obstacle(model, unit);
		model->nobstacles += model->obstacle[unit] != TIER_SOLVER_NO_OBSTACLE;
	}
	tier_solver_spend(run, (double) model->nunits * model->ntiers * 2);
}


/*-------------------------------------------------------------------------
 * One attempt
 *-------------------------------------------------------------------------
 */

/*
 * Does a placement keep the limits of the attempt?  What units that are held
 * take beyond a limit does not count, but then nobody else may take any.
 */
static bool
is_solution(const Attempt *attempt, const TierSolverPlacement *placement)
{
	const TierSolverModel *model = attempt->model;
	double		held[TIER_SOLVER_MAX_ROWS] = {0.0};
	double		used[TIER_SOLVER_MAX_ROWS] = {0.0};

	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			tier = placement->tier[unit];
		double	   *sum = attempt->held[unit] ? held : used;

		if (!attempt->held[unit] &&
			(tier < 0 || isinf(tier_solver_cost(model, unit, tier))))
			return false;
		for (int r = 0; tier >= 0 && r < model->nresources; r++)
		{
			int			row = tier * model->nresources + r;
			double		use = tier_solver_use(model, unit, tier, r);

			if (!attempt->held[unit] && attempt->barred[row] && use > 0.0 &&
				tier != tier_solver_home(model, unit))
				return false;
			sum[row] += use;
		}
	}
	for (int row = 0; row < model->nrows; row++)
		if (used[row] > 0.0 && used[row] + held[row] >
			attempt->limit[row] + TIER_SOLVER_SLACK * attempt->limit[row])
			return false;
	return true;
}

static double
cost_in_core(const Attempt *attempt, const TierSolverPlacement *placement)
{
	return (placement->cost + placement->friction) / attempt->core->cost_scale;
}

/* other becomes what the options say; it replaces best if it is better. */
static void
offer(Attempt *attempt, const int *option)
{
	const TierSolverCore *core = attempt->core;
	TierSolverPlacement *other = attempt->other;

	memcpy(other->tier, core->decided, attempt->model->nunits * sizeof(int));
	for (int u = 0; u < core->nunits; u++)
		other->tier[core->unit[u]] = core->tier[option[u]];
	tier_solver_placement_measure(attempt->model, other);
	if (!is_solution(attempt, other))
		return;
	if (cost_in_core(attempt, other) < attempt->best_cost -
		TIER_SOLVER_ROUNDING * fabs(isinf(attempt->best_cost) ? 0.0 : attempt->best_cost))
	{
		TierSolverPlacement swap = *attempt->best;

		*attempt->best = *other;
		*other = swap;
		attempt->best_cost = cost_in_core(attempt, attempt->best);
	}
}

/*
 * What is missing of each limit that has a part in a proof.  Then these limits
 * are forgotten, and the next proof is looked for.
 */
static void
find_missing(Attempt *attempt, double *missing)
{
	TierSolverCore *core = attempt->core;
	TierSolverDual *dual = attempt->dual;

	for (int row = 0; row < core->nrows; row++)
	{
		missing[row] = fmax(missing[row], core->over[row]);
		if (core->over[row] > 0.0)
			core->room[row] = INFINITY;
	}
	for (int round = 0; round < core->nrows; round++)
	{
		double		shortage = 0.0;
		bool		any = false;

		tier_solver_dual_restart(dual);
		if (tier_solver_dual_solve(dual, INFINITY) != TIER_SOLVER_DUAL_INFEASIBLE)
			break;
		shortage = tier_solver_dual_shortage(dual);
		for (int row = 0; row < core->nrows; row++)
		{
			if (!(dual->ray[row] > 0.0))
				continue;
			any = true;
			missing[row] = fmax(missing[row], fmin(shortage / dual->ray[row] * core->scale[row],
												   MAX_REPORTED));
			core->room[row] = INFINITY;
		}
		if (!any)
			break;
	}
}

static bool
is_proven(const Attempt *attempt, double gap)
{
	return !isinf(attempt->best_cost) &&
		attempt->best_cost - attempt->bound <= gap * fabs(attempt->best_cost);
}

/* The bound from the dual, and the placement closest to it. */
static bool
solve_dual(Attempt *attempt, double *dual_price, double *missing)
{
	TierSolverCore *core = attempt->core;
	TierSolverDual *dual = attempt->dual;
	TierSolverDualStatus status = tier_solver_dual_solve(dual, INFINITY);
	double		cost;

	if (status == TIER_SOLVER_DUAL_INFEASIBLE || core->overcommitted)
	{
		find_missing(attempt, missing);
		return false;
	}
	for (int row = 0; row < core->nrows; row++)
	{
		missing[row] = fmax(missing[row], core->over[row]);
		dual_price[row] = fmin(dual->price[row] * core->cost_scale / core->scale[row],
							   MAX_REPORTED);
	}
	attempt->bound = dual->bound;
	attempt->is_solved = status == TIER_SOLVER_DUAL_OPTIMAL;
	if (attempt->is_solved && tier_solver_round(dual, attempt->option, &cost))
		offer(attempt, attempt->option);
	return true;
}

/* Marks what is no part of anything better; false if nothing better exists. */
static bool
mark_losses(const Attempt *attempt, unsigned char *drop)
{
	const TierSolverCore *core = attempt->core;
	const TierSolverDual *dual = attempt->dual;

	/* Losses are at the prices of the dual, so the bound has to be its own. */
	double		most = attempt->best_cost - dual->bound;

	memset(drop, 0, core->noptions);
	for (int u = 0; !isinf(most) && u < core->nunits; u++)
	{
		double		least = INFINITY;
		bool		any = false;

		for (int o = core->first[u]; o < core->first[u + 1]; o++)
			least = fmin(least, core->cost[o] + tier_solver_dual_reduced(dual, o) - core->work[o]);
		for (int o = core->first[u]; o < core->first[u + 1]; o++)
		{
			drop[o] =
				core->cost[o] + tier_solver_dual_reduced(dual, o) - core->work[o] - least > most;
			any |= !drop[o];
		}
		if (!any)
			return false;
	}
	tier_solver_spend(core->run, core->noptions);
	return true;
}

/* Of a smaller core, an option of the whole one for each unit. */
static void
translate(const Attempt *attempt, const TierSolverCore *small,
		  const int *small_option, const int *option_of)
{
	const TierSolverCore *core = attempt->core;
	int			at = 0;

	for (int u = 0; u < core->nunits; u++)
	{
		int			tier;

		attempt->option[u] = option_of[u];
		if (option_of[u] >= 0)
			continue;
		tier = small->tier[small_option[at++]];
		for (int o = core->first[u]; o < core->first[u + 1]; o++)
			if (core->tier[o] == tier)
				attempt->option[u] = o;
	}
}

static int
compare_descending(const void *pa, const void *pb)
{
	double		a = *(const double *) pa;
	double		b = *(const double *) pb;

	return (a < b) - (a > b);
}

/*
 * Marks all options but the key of units that use little of what has a price.
 * Units with ties remain as they are.
 */
static void
mark_small_units(const Attempt *attempt, unsigned char *drop)
{
	const TierSolverCore *core = attempt->core;
	const TierSolverDual *dual = attempt->dual;
	double	   *bulk = tier_solver_alloc(core->run, core->nunits, sizeof(double));
	double	   *sorted = tier_solver_alloc(core->run, core->nunits, sizeof(double));

	for (int u = 0; u < core->nunits; u++)
	{
		bulk[u] = 0.0;
		for (int o = core->first[u]; o < core->first[u + 1]; o++)
			bulk[u] = fmax(bulk[u], tier_solver_dual_reduced(dual, o) - core->work[o]);
		sorted[u] = bulk[u];
	}
	qsort(sorted, core->nunits, sizeof(double), compare_descending);
	for (int u = 0; u < core->nunits; u++)
		for (int o = core->first[u]; o < core->first[u + 1]; o++)
			drop[o] = bulk[u] <= sorted[MAX_BIG_UNITS] && dual->ntied[u] == 0 &&
				o != dual->key[u];
	tier_solver_spend(core->run, core->noptions);
	tier_solver_release(core->run, bulk);
	tier_solver_release(core->run, sorted);
}

/* Searches the core without the marked options. */
static void
search_without(Attempt *attempt, const unsigned char *drop, int *option_of,
			   TierSolverSearch *search)
{
	TierSolverRun *run = attempt->core->run;
	TierSolverCore *small = tier_solver_core_shrink(attempt->core, drop, option_of);

	search->best = tier_solver_alloc(run, small->nunits, sizeof(int));
	search->best_cost = attempt->best_cost;
	tier_solver_search(small, search);
	if (search->improved)
	{
		translate(attempt, small, search->best, option_of);
		offer(attempt, attempt->option);
	}
	attempt->nnodes += search->nnodes;
	tier_solver_release(run, search->best);
	tier_solver_core_free(small);
}

static void
search(Attempt *attempt)
{
	const TierSolverProblem *problem = attempt->model->problem;
	const TierSolverCore *core = attempt->core;
	TierSolverRun *run = core->run;
	TierSolverSearch all = {0};
	TierSolverSearch big = {0};
	unsigned char *drop = tier_solver_alloc(run, core->noptions, 1);
	int		   *option_of = tier_solver_alloc(run, core->nunits, sizeof(int));
	double		effort = problem->effort > 0.0 ? problem->effort : TIER_SOLVER_EFFORT;

	all.gap_wanted = problem->gap_wanted > 0.0 ?
		fmax(problem->gap_wanted, 2.0 * TIER_SOLVER_ROUNDING) : TIER_SOLVER_GAP;
	all.effort_limit = run->effort + effort;
	all.futile_limit = run->effort + FUTILE_SHARE * effort;
	all.polish_limit = run->effort +
		fmin(problem->polish > 0.0 ? problem->polish : POLISH_EFFORT, effort);

	/*
	 * All small units are where they are cheapest at the prices.  These are
	 * the best ones for that problem, too, so it can come as close to the
	 * bound; but what it proves is not a proof for all.
	 */
	if (core->nunits > MAX_BIG_UNITS && attempt->is_solved &&
		!is_proven(attempt, all.gap_wanted))
	{
		mark_small_units(attempt, drop);
		big.gap_wanted = 0.1 * all.gap_wanted;
		big.effort_limit = big.futile_limit = run->effort + fmin(BIG_UNITS_EFFORT, effort);
		search_without(attempt, drop, option_of, &big);
	}

	/* With very many units a single node is more than what is left to gain. */
	if (!is_proven(attempt, TIER_SOLVER_ROUNDING) &&
		!(core->noptions > all.polish_limit - run->effort &&
		  is_proven(attempt, all.gap_wanted)))
	{
		if (mark_losses(attempt, drop))
		{
			search_without(attempt, drop, option_of, &all);
			attempt->bound = fmin(fmax(attempt->bound, all.bound), attempt->best_cost);
		}
		else
			attempt->bound = attempt->best_cost;
	}
	if (isinf(attempt->best_cost) ? !all.complete : !is_proven(attempt, all.gap_wanted))
		attempt->limit_hit = true;
	tier_solver_release(run, drop);
	tier_solver_release(run, option_of);
}

/* Leaves best as it is, or better; false if there is no solution, as is proven. */
static bool
place_all(Attempt *attempt, double *dual_price, double *missing)
{
	TierSolverRun *run = attempt->model->run;
	bool		possible;

	attempt->core = tier_solver_core_make(attempt->model, attempt->limit, attempt->barred,
										  attempt->held, attempt->best->tier);
	attempt->dual = tier_solver_dual_make(attempt->core);
	attempt->option = tier_solver_alloc(run, attempt->core->nunits, sizeof(int));
	attempt->bound = attempt->core->fixed_cost;
	attempt->best_cost = is_solution(attempt, attempt->best) ?
		cost_in_core(attempt, attempt->best) : INFINITY;
	if (attempt->core->nunits > attempt->nactive)
		attempt->nactive = attempt->core->nunits;

	possible = solve_dual(attempt, dual_price, missing);
	if (possible && !run->interrupted)
		search(attempt);
	attempt->bound *= attempt->core->cost_scale;
	tier_solver_release(run, attempt->option);
	tier_solver_dual_free(attempt->dual);
	tier_solver_core_free(attempt->core);
	return possible;
}


/*-------------------------------------------------------------------------
 * Bounds without the core
 *-------------------------------------------------------------------------
 */

/*
 * What all units cost at least with these prices of the limits: valid for any
 * prices >= 0, see model/solver/dual.c.  Without cost_epsilon.  0 is a bound, too.
 */
static double
lagrangian_bound(const TierSolverModel *model, const double *prices)
{
	double		paid = 0.0;
	double		refunded = 0.0;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		double		least = INFINITY;

		for (int tier = 0; tier < model->ntiers; tier++)
		{
			double		cost = tier_solver_cost(model, unit, tier);

			if (isinf(cost) || !tier_solver_fits_alone(model, unit, tier))
				continue;
			for (int r = 0; r < model->nresources; r++)
				cost += prices[tier * model->nresources + r] *
					tier_solver_use(model, unit, tier, r);
			least = fmin(least, cost);
		}
		paid += isinf(least) ? 0.0 : least;
	}
	for (int row = 0; row < model->nrows; row++)
		if (prices[row] > 0.0)
			refunded += prices[row] * model->limit[row];
	if (!(paid + refunded <= MAX_REPORTED))
		return 0.0;
	return paid - refunded -
		DBL_EPSILON * (paid + refunded) * (model->nunits + model->nrows);
}

/*
 * Where limits cannot be kept they bound nothing: the least cost of each unit
 * that counts in the objective.
 */
static double
bound_without_limits(const TierSolverModel *model,
					 const TierSolverPlacement *placement)
{
	double		bound = 0.0;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		double		least = INFINITY;

		if (placement->tier[unit] < 0 ||
			isinf(tier_solver_cost(model, unit, placement->tier[unit])))
			continue;
		for (int tier = 0; tier < model->ntiers; tier++)
			least = fmin(least, tier_solver_cost(model, unit, tier));
		bound += least;
	}
	return bound;
}


/*-------------------------------------------------------------------------
 * The answer
 *-------------------------------------------------------------------------
 */

static bool
is_feasible(const TierSolverPlacement *placement)
{
	return placement->homeless == 0 && !(placement->overflow > 0.0);
}

/*
 * The limits that best cannot keep, and nobody who needs some of them comes in.
 * They are raised by a trifle more than best needs, though not above what is used
 * now: to use exactly so much again is a puzzle of which sizes add up, and would
 * leave no choice.  Who has no tier keeps none.
 */
static void
give_way(Attempt *attempt)
{
	const TierSolverModel *model = attempt->model;
	const TierSolverPlacement *best = attempt->best;
	double		now[TIER_SOLVER_MAX_ROWS] = {0.0};

	for (int unit = 0; unit < model->nunits; unit++)
		for (int r = 0; tier_solver_home(model, unit) >= 0 && r < model->nresources; r++)
			now[tier_solver_home(model, unit) * model->nresources + r] +=
				tier_solver_use(model, unit, tier_solver_home(model, unit), r);
	for (int row = 0; row < model->nrows; row++)
	{
		attempt->barred[row] =
			best->used[row] > model->limit[row] + TIER_SOLVER_SLACK * model->limit[row];
		attempt->limit[row] = !attempt->barred[row] ? model->limit[row] :
			fmax(best->used[row], fmin(now[row], best->used[row] * (1.0 + GIVE_WAY)));
	}
	for (int unit = 0; unit < model->nunits; unit++)
		attempt->held[unit] = model->obstacle[unit] != TIER_SOLVER_NO_OBSTACLE ||
			best->tier[unit] < 0 || isinf(tier_solver_cost(model, unit, best->tier[unit]));
}

static void
report(const Attempt *attempt, double bound, const double *dual_price,
	   const double *missing, TierSolverResult *result)
{
	const TierSolverModel *model = attempt->model;
	const TierSolverPlacement *best = attempt->best;
	double		sum = best->cost + best->friction;
	int			pushed;

	memcpy(result->tier, best->tier, model->nunits * sizeof(int));
	for (int tier = 0; tier < model->ntiers; tier++)
		result->used[tier] = best->used[tier * model->nresources];
	for (int unit = 0; result->obstacle != NULL && unit < model->nunits; unit++)
		result->obstacle[unit] = (TierSolverObstacle) model->obstacle[unit];
	for (int row = 0; row < model->nrows; row++)
	{
		double		over = best->used[row] - model->limit[row];

		if (result->used_of != NULL)
			result->used_of[row] = best->used[row];
		if (result->dual_price != NULL)
			result->dual_price[row] = dual_price[row];
		if (result->missing != NULL)
			result->missing[row] = missing[row];
		if (result->excess != NULL)
			result->excess[row] = over > TIER_SOLVER_SLACK * model->limit[row] ? over : 0.0;
	}
	pushed = tier_solver_pushed_out(model, best, result->pushed_out_of);

	result->objective = best->cost;
	if (!is_feasible(best))
	{
		result->status = TIER_SOLVER_INFEASIBLE;
		result->lower_bound = bound_without_limits(model, best);
		bound = result->lower_bound;
	}
	else
	{
		static const double no_prices[TIER_SOLVER_MAX_ROWS] = {0.0};

		result->status = pushed > 0 ?
			TIER_SOLVER_CONSTRAINED : TIER_SOLVER_UNCONSTRAINED;
		result->lower_bound = fmax(lagrangian_bound(model, no_prices),
								   lagrangian_bound(model, dual_price));
		bound = fmax(bound, result->lower_bound);
		result->lower_bound = fmax(result->lower_bound,
								   bound - model->nunits * tier_solver_epsilon(model));
	}

	/* The two are summed in different ways; do not let rounding show. */
	result->lower_bound = fmin(result->lower_bound, result->objective);
	result->gap = sum > 0.0 ? fmin(fmax(sum - bound, 0.0) / sum, 1.0) : 0.0;
}

static void
report_nothing(const TierSolverProblem *problem, TierSolverResult *result)
{
	int			nrows = 0;

	if (problem->ntiers > 0 && problem->nresources >= 0)
		nrows = problem->ntiers * (1 + problem->nresources);
	for (int unit = 0; unit < problem->nunits; unit++)
	{
		int			home = problem->current[unit];

		result->tier[unit] = home >= 0 && home < problem->ntiers ? home : -1;
		result->pushed_out_of[unit] = -1;
		if (result->obstacle != NULL)
			result->obstacle[unit] = TIER_SOLVER_FORBIDDEN;
	}
	for (int tier = 0; tier < problem->ntiers; tier++)
		result->used[tier] = 0.0;
	for (int row = 0; row < nrows; row++)
	{
		if (result->used_of != NULL)
			result->used_of[row] = 0.0;
		if (result->dual_price != NULL)
			result->dual_price[row] = 0.0;
		if (result->missing != NULL)
			result->missing[row] = 0.0;
		if (result->excess != NULL)
			result->excess[row] = 0.0;
	}
	result->objective = result->lower_bound = result->gap = 0.0;
	result->nobstacles = problem->nunits > 0 ? problem->nunits : 0;
	result->status = problem->nunits > 0 ?
		TIER_SOLVER_INFEASIBLE : TIER_SOLVER_UNCONSTRAINED;
	result->nactive = 0;
	result->nnodes = 0;
	result->effort = 0.0;
	result->limit_hit = result->interrupted = false;
}

void
tier_solver_solve(const TierSolverProblem *problem, TierSolverResult *result)
{
	TierSolverRun run = {problem, 0.0, POLL_EFFORT, false};
	TierSolverModel model;
	TierSolverPlacement best;
	TierSolverPlacement other;
	Attempt		attempt;
	double		dual_price[TIER_SOLVER_MAX_ROWS] = {0.0};
	double		missing[TIER_SOLVER_MAX_ROWS] = {0.0};
	double		bound;
	bool		greedy;

	if (problem->ntiers < 1 || problem->ntiers > TIER_SOLVER_MAX_TIERS ||
		problem->nresources < 0 || problem->nresources >= TIER_SOLVER_MAX_RESOURCES)
	{
		report_nothing(problem, result);
		return;
	}
	make_model(problem, &run, &model);
	best.tier = tier_solver_alloc(&run, model.nunits, sizeof(int));
	other.tier = tier_solver_alloc(&run, model.nunits, sizeof(int));
	memset(&attempt, 0, sizeof(attempt));
	attempt.model = &model;
	attempt.best = &best;
	attempt.other = &other;
	attempt.held = tier_solver_alloc(&run, model.nunits, 1);

	/* 1. Where everybody is, and what simple rules make of it. */
	greedy = model.nunits <= MAX_GREEDY_UNITS &&
		GREEDY_EFFORT * model.nunits * model.ntiers <=
		(problem->effort > 0.0 ? problem->effort : TIER_SOLVER_EFFORT);
	tier_solver_stay(&model, greedy, &best);
	if (greedy)
		tier_solver_greedy(&model, &best, &other);

	/* 2., 3. The best that keeps the limits. */
	memcpy(attempt.limit, model.limit, sizeof(attempt.limit));
	for (int unit = 0; unit < model.nunits; unit++)
		attempt.held[unit] = model.obstacle[unit] != TIER_SOLVER_NO_OBSTACLE;
	(void) place_all(&attempt, dual_price, missing);
	bound = attempt.bound;

	/* 4. Some cannot be kept. */
	if (!is_feasible(&best) && isinf(attempt.best_cost) && !run.interrupted)
	{
		if (!greedy)
		{
			tier_solver_improve(&model, &best);
			tier_solver_greedy(&model, &best, &other);
		}
		give_way(&attempt);
		(void) place_all(&attempt, dual_price, missing);
	}

	/* 5. The price decides between equals. */
	tier_solver_settle(&model, &best);
	report(&attempt, bound, dual_price, missing, result);
	result->nactive = attempt.nactive;
	result->nobstacles = model.nobstacles;
	result->nnodes = attempt.nnodes;
	result->effort = run.effort;
	result->limit_hit = attempt.limit_hit;
	result->interrupted = run.interrupted;

	tier_solver_release(&run, attempt.held);
	tier_solver_release(&run, best.tier);
	tier_solver_release(&run, other.tier);
	tier_solver_release(&run, model.obstacle);
}
