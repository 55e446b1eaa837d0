/*-------------------------------------------------------------------------
 *
 * model/placement.c
 *		Which placement is the best one: what is wished for, what is limited,
 *		and what waiting in a queue adds, on top of the solver.
 *
 * The solver minimises a sum over units.  Waiting in a queue is no such sum: it
 * grows with everything that is on the device.  But it is convex in how much of
 * its time the device is occupied, and that is a sum.  So the queue is replaced
 * by its tangent at some occupation, which makes each unit pay for what it makes
 * the others wait; the solver finds the best placement at these prices; if
 * that occupies a device more than was assumed, its price was too low.  So the
 * occupation at which both agree is closed in on, from both sides.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "src/model/cost.h"
#include "src/model/exchange.h"
#include "src/model/feasible.h"
#include "src/model/number.h"
#include "src/model/placement.h"

#define S_PER_HOUR 3600.0

#define MAX_ROUNDS 8
#define IMPROVING_PASSES 8

/* An occupation that changes by less than this changes nothing. */
#define SAME_UTILISATION 0.01

/*
 * Up to this occupation a queue is no reason for anything: else relations would
 * be spread over equal devices for seconds, and spread anew as loads vary.
 */
#define QUIET_UTILISATION 0.3

/*
 * Beyond this occupation tangents are not told apart: with three clients or more, they have
 * nine tenths of the slope that a queue has at most.
 */
#define FULL_UTILISATION 2.0

/* Rounding in sums of what is there now must not make it too much. */
#define ROUNDING 1e-9

/* MONEY: time counts for this share of the price at most. */
#define TIME_SHARE_OF_MONEY 1e-3

/*
 * Scratch of one tier_placement_solve().  totals are those of the placement that was
 * looked at last; tier is the solver's last answer; feasible is
 * a placement that keeps the limits, and start the one of now, with units that are
 * nowhere as in that.
 */
typedef struct Work
{
	const TierPlacementProblem *problem;
	double		clients;
	double		quiet_s;		/* the queue at QUIET_UTILISATION, */
	double		quiet_slope;	/* and its slope */
	TierPlacementWeights weights;
	double	   *cost;
	double	   *use;
	double	   *limit;			/* work->kept, as the solver wants it */
	double	   *utilisation;
	double	   *at_least;		/* between these the utilisation is looked for */
	double	   *at_most;
	double	   *got;			/* utilisation with the last ones; negative:
								 * none yet */
	double	   *expected_s;		/* occupations to begin with */
	double	   *solved_s;		/* occupation that the tangents led to */
	double	   *slope;
	int		   *tier;
	int		   *feasible;
	int		   *start;
	TierPlacementLimits asked[TIER_SOLVER_MAX_TIERS];
	TierPlacementLimits kept[TIER_SOLVER_MAX_TIERS];
	TierPlacementTotals *now;	/* of start */
	TierPlacementTotals *totals;
} Work;

/* The best answer so far; means nothing until it exists. */
typedef struct Best
{
	bool		exists;
	int		   *tier;
	double		objective;
} Best;

static bool
is_finite(double value)
{
	return value >= -DBL_MAX && value <= DBL_MAX;
}

/* What is not finite says that a unit may not be there; it is there all the same. */
static double
finite_or_0(double value)
{
	return is_finite(value) ? value : 0.0;
}

static double
queue_slope(const Work *work, double utilisation)
{
	if (utilisation <= QUIET_UTILISATION)
		return 0.0;
	return tier_cost_queue_slope(utilisation, work->clients) - work->quiet_slope;
}

/* As waiting counts: what is above the tangent at QUIET_UTILISATION.  Convex. */
static double
queue_cost(const Work *work, double utilisation)
{
	if (utilisation <= QUIET_UTILISATION)
		return 0.0;
	return tier_cost_queue_s(utilisation, work->clients) - work->quiet_s -
		work->quiet_slope * S_PER_HOUR * (utilisation - QUIET_UTILISATION);
}

/* May it be chosen for the unit?  Nobody enters a tier that remains too full. */
static bool
may_take(const Work *work, int unit, int tier)
{
	return tier_placement_may_live(work->problem, unit, tier) &&
		(tier == work->start[unit] || tier == work->feasible[unit] ||
		 work->kept[tier].of[TIER_RESOURCE_BYTES] <= work->asked[tier].of[TIER_RESOURCE_BYTES]);
}

/*
 * What a move has to bring before it is worth it, in seconds per hour.  Queues are
 * left out: with those of now, nobody could leave a device that is overloaded.
 */
static double
move_s_per_hour(const Work *work, int unit, int tier)
{
	const TierPlacementProblem *problem = work->problem;
	int			from = problem->current[unit];
	size_t		first = (size_t) unit * problem->ntiers;
	double		doubt = 0;

	if (from >= 0 && from < problem->ntiers && from != tier)
		doubt = TIER_PLACEMENT_DOUBT *
			fabs(problem->busy_s[first + tier] - problem->busy_s[first + from]);
	return TIER_PLACEMENT_MOVE_MUST_PAY * problem->move_s[first + tier] / problem->horizon_hours +
		(is_finite(doubt) ? doubt : 0.0);
}

/* The part of the objective that is a sum over units. */
static double
unit_cost(const Work *work, int unit, int tier)
{
	size_t		cell = (size_t) unit * work->problem->ntiers + tier;

	return tier_placement_cost(work->problem, &work->weights, cell) +
		work->weights.busy * move_s_per_hour(work, unit, tier);
}

/* The objective of a placement, as it really is; leaves its totals in the work. */
static double
value_of(Work *work, const int *tier)
{
	const TierPlacementProblem *problem = work->problem;
	double		sum = 0;

	tier_placement_add_up(problem, tier, work->totals);
	for (int t = 0; t < problem->ntiers; t++)
		sum += work->weights.queue * queue_cost(work, work->totals[t].occupied_s / S_PER_HOUR);
	for (int u = 0; u < problem->nunits; u++)
		if (tier[u] >= 0 && tier[u] < problem->ntiers)
			sum += finite_or_0(unit_cost(work, u, tier[u]));
	return sum;
}

/* A solver's call at the work's slopes; false: it was interrupted. */
static bool
solve_tangent(Work *work, bool quick)
{
	const TierPlacementProblem *problem = work->problem;
	TierSolverProblem call = {0};
	TierSolverResult solved = {0};

	for (int u = 0; u < problem->nunits; u++)
		for (int t = 0; t < problem->ntiers; t++)
		{
			size_t		cell = (size_t) u * problem->ntiers + t;

			work->cost[cell] = !may_take(work, u, t) ? INFINITY :
				unit_cost(work, u, t) +
				work->weights.queue * work->slope[t] * problem->occupied_s[cell];
		}
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
	call.limit = work->limit;
	call.start = work->feasible;
	call.quick = quick || problem->quick;
	call.alloc = problem->alloc;
	call.release = problem->release;
	call.interrupted = problem->interrupted;
	call.interrupted_argument = problem->interrupted_argument;
	solved.tier = work->tier;
	tier_solver_solve(&call, &solved);
	return !solved.interrupted;
}

/* Is everybody where he may be, and no limit broken?  Its totals are in the work. */
static bool
is_answer(const Work *work, const int *tier)
{
	const TierPlacementProblem *problem = work->problem;

	for (int u = 0; u < problem->nunits; u++)
		if (work->feasible[u] >= 0 && tier_placement_may_live(problem, u, work->feasible[u]) &&
			(tier[u] < 0 || !may_take(work, u, tier[u])))
			return false;
	return tier_feasible_keeps(problem, work->totals, work->kept);
}

/* Would one more unit be too much there? */
static bool
exceeds_limit(const Work *work, int tier, size_t cell)
{
	for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
		if (tier_feasible_used(&work->totals[tier], (TierPlacementResource) r) +
			tier_placement_use(work->problem, cell, (TierPlacementResource) r) >
			work->kept[tier].of[r])
			return true;
	return false;
}

/*
 * Moves single units as long as that makes the objective less.  The tangents'
 * prices cannot tell units apart that are alike: all of them go, or none.
 * Leaves the totals in the work; returns the objective.
 */
static double
improve(Work *work, int *tier)
{
	const TierPlacementProblem *problem = work->problem;
	int			ntiers = problem->ntiers;
	double		objective = value_of(work, tier);
	double		queue[TIER_SOLVER_MAX_TIERS];

	for (int t = 0; t < ntiers; t++)
		queue[t] = queue_cost(work, work->totals[t].occupied_s / S_PER_HOUR);
	for (int pass = 0; pass < IMPROVING_PASSES; pass++)
	{
		bool		improved = false;

		for (int u = 0; u < problem->nunits; u++)
		{
			size_t		first = (size_t) u * ntiers;
			int			from = tier[u];
			int			best = -1;
			double		best_gain = ROUNDING * objective;
			double		cost;
			double		relief;

			if (problem->interrupted != NULL && u % 1024 == 0 &&
				problem->interrupted(problem->interrupted_argument))
				return objective;
			if (from < 0 || from >= ntiers || !tier_placement_may_live(problem, u, from))
				continue;
			cost = unit_cost(work, u, from);
			relief = queue[from] -
				queue_cost(work, (work->totals[from].occupied_s -
								  problem->occupied_s[first + from]) / S_PER_HOUR);
			for (int t = 0; t < ntiers; t++)
			{
				const TierPlacementTotals *total = &work->totals[t];
				double		saved;
				double		gain;

				if (t == from)
					continue;

				/* What it adds to the queue there can only make that less. */
				saved = cost - unit_cost(work, u, t);
				if (!(saved + work->weights.queue * relief > best_gain) ||
					!may_take(work, u, t) ||
					exceeds_limit(work, t, first + t))
					continue;
				gain = saved + work->weights.queue *
					(relief + queue[t] -
					 queue_cost(work, (total->occupied_s + problem->occupied_s[first + t]) /
								S_PER_HOUR));
				if (gain > best_gain)
				{
					best_gain = gain;
					best = t;
				}
			}
			if (best < 0)
				continue;
			tier[u] = best;
			tier_placement_count(problem, first + from, -1.0, &work->totals[from]);
			tier_placement_count(problem, first + best, 1.0, &work->totals[best]);
			queue[from] = queue_cost(work, work->totals[from].occupied_s / S_PER_HOUR);
			queue[best] = queue_cost(work, work->totals[best].occupied_s / S_PER_HOUR);
			improved = true;
		}
		if (!improved)
			break;
	}
	return value_of(work, tier);
}

/* Is any device so busy that its queue counts? */
static bool
is_crowded(const Work *work, const TierPlacementTotals *totals)
{
	for (int t = 0; t < work->problem->ntiers; t++)
		if (totals[t].occupied_s > QUIET_UTILISATION * S_PER_HOUR)
			return true;
	return false;
}

/* One call of the solver at the utilisations of the work, and what can be made of its answer. */
static bool
solve_round(Work *work, bool quick, Best *best)
{
	const TierPlacementProblem *problem = work->problem;
	double		objective;
	bool		goes_on;

	for (int t = 0; t < problem->ntiers; t++)
		work->slope[t] = work->weights.queue > 0 ? queue_slope(work, work->utilisation[t]) : 0;
	goes_on = solve_tangent(work, quick);
	objective = value_of(work, work->tier);
	for (int t = 0; t < problem->ntiers; t++)
		work->solved_s[t] = work->totals[t].occupied_s;
	if (work->weights.queue > 0 && goes_on && is_crowded(work, work->totals))
		objective = improve(work, work->tier);
	if (!is_answer(work, work->tier))
	{
		memcpy(work->tier, work->feasible, sizeof(int) * problem->nunits);
		objective = value_of(work, work->tier);
	}
	if (!best->exists || objective < best->objective)
	{
		best->exists = true;
		best->objective = objective;
		memcpy(best->tier, work->tier, sizeof(int) * problem->nunits);
	}
	return goes_on;
}

/*
 * The next utilisation to assume.  A device that gets more than was assumed was too cheap;
 * one that gets the same as with the last one gets it with what is between them.
 */
static double
next_utilisation(Work *work, int tier)
{
	double		assumed = fmin(work->utilisation[tier], FULL_UTILISATION);
	double		got = fmin(work->solved_s[tier] / S_PER_HOUR, FULL_UTILISATION);
	double		before = work->got[tier];

	work->got[tier] = got;
	if (got > assumed)
		work->at_least[tier] = assumed;
	else
		work->at_most[tier] = assumed;
	if (queue_slope(work, fmax(got, assumed)) <= 0 || fabs(got - assumed) < SAME_UTILISATION ||
		(before >= 0.0 && fabs(got - before) < SAME_UTILISATION))
		return got;
	if (got > assumed ? work->at_most[tier] >= FULL_UTILISATION : work->at_least[tier] <= 0.0)
		return (assumed + got) / 2.0;
	return (work->at_least[tier] + work->at_most[tier]) / 2.0;
}

/* Assumes what a placement comes to. */
static void
assume(Work *work, const int *tier)
{
	tier_placement_add_up(work->problem, tier, work->totals);
	for (int t = 0; t < work->problem->ntiers; t++)
		work->utilisation[t] = work->totals[t].occupied_s / S_PER_HOUR;
}

/*
 * The best placement for these weights, in at most so many rounds.  First prices and
 * occupations have to agree, for which the solver is quick; then it does what it can, unless
 * only these are wanted.  An answer that does not keep the limits is none.
 */
static void
solve_weighted(Work *work, int rounds, bool quick, Best *best)
{
	const TierPlacementProblem *problem = work->problem;
	bool		goes_on = true;

	best->exists = false;
	for (int t = 0; t < problem->ntiers; t++)
	{
		work->utilisation[t] = work->expected_s[t] / S_PER_HOUR;
		work->at_least[t] = 0;
		work->at_most[t] = FULL_UTILISATION;
		work->got[t] = -1.0;
	}
	for (int round = 0; round < rounds && goes_on && work->weights.queue > 0; round++)
	{
		double		change = 0;
		bool		is_same = true;

		goes_on = solve_round(work, true, best);
		for (int t = 0; t < problem->ntiers; t++)
		{
			double		assumed = fmin(work->utilisation[t], FULL_UTILISATION);

			work->utilisation[t] = next_utilisation(work, t);
			change = fmax(change, fabs(work->got[t] - assumed));
			is_same &= queue_slope(work, work->utilisation[t]) == work->slope[t];
		}
		if (is_same || change < SAME_UTILISATION)
			break;
	}
	if (best->exists && (quick || !goes_on))
		return;
	if (best->exists)
		assume(work, best->tier);
	(void) solve_round(work, quick, best);
}

static void *
array(const TierPlacementProblem *problem, size_t elements, size_t size)
{
	return problem->alloc((elements > 0 ? elements : 1) * size);
}

/* What is wished for. */
static void
set_weights(Work *work)
{
	const TierPlacementProblem *problem = work->problem;
	double		price = 0;
	double		busy = 1.0;

	for (int t = 0; t < problem->ntiers; t++)
	{
		work->expected_s[t] = problem->expected_s != NULL ? problem->expected_s[t] : 0.0;
		price += work->now[t].price;
		busy += work->now[t].busy_s;
	}
	work->weights = tier_placement_weights(problem);
	if (problem->objective == TIER_OBJECTIVE_MONEY)
		work->weights.busy = price > 0 ? TIME_SHARE_OF_MONEY * price / busy : 1.0;
}

/* What is limited, and a placement that keeps it. */
static void
set_limits(Work *work)
{
	const TierPlacementProblem *problem = work->problem;

	tier_feasible_limits(problem, work->asked, work->kept, work->feasible);
	for (int t = 0; t < problem->ntiers; t++)
	{
		for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
			work->limit[t * TIER_PLACEMENT_RESOURCES + r] = work->kept[t].of[r];
	}
	for (size_t cell = 0; cell < (size_t) problem->nunits * problem->ntiers; cell++)
		for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
			work->use[cell * TIER_PLACEMENT_RESOURCES + r] =
				tier_placement_use(problem, cell, (TierPlacementResource) r);
	for (int u = 0; u < problem->nunits; u++)
		work->start[u] = problem->current[u] >= 0 ? problem->current[u] : work->feasible[u];
	tier_placement_add_up(problem, work->start, work->now);
}

/*
 * Tangents may lead astray where the curve bends much.  What is worse than what is
 * there is no advice.
 */
static void
stay_if_better(Work *work, Best *best)
{
	const TierPlacementProblem *problem = work->problem;
	double		stay = value_of(work, problem->current);

	if (!is_finite(stay) || best->objective <= stay + ROUNDING * fabs(stay) ||
		!is_answer(work, problem->current))
		return;
	memcpy(best->tier, problem->current, sizeof(int) * problem->nunits);
	best->objective = stay;
}

/* Who is worth about the same does not change places; the objective may be a little more. */
static void
undo_exchanges(Work *work, Best *best)
{
	const TierPlacementProblem *problem = work->problem;
	TierExchangeWeights weights = {.of = work->weights};

	tier_placement_add_up(problem, best->tier, work->totals);
	for (int t = 0; t < problem->ntiers; t++)
		weights.occupied[t] = work->weights.queue *
			queue_slope(work, work->totals[t].occupied_s / S_PER_HOUR);
	if (tier_exchange_undo(problem, work->kept, &weights, best->tier) == 0)
		return;
	best->objective = value_of(work, best->tier);
}

static void
report(Work *work, const Best *best, TierPlacementResult *result)
{
	const TierPlacementProblem *problem = work->problem;
	int			ntiers = problem->ntiers;

	memcpy(result->tier, best->tier, sizeof(int) * problem->nunits);
	if (result->now != NULL)
		tier_placement_add_up(problem, problem->current, result->now);
	tier_placement_add_up(problem, best->tier, work->totals);
	if (result->after != NULL)
		memcpy(result->after, work->totals, sizeof(TierPlacementTotals) * ntiers);
	if (result->asked != NULL)
		memcpy(result->asked, work->asked, sizeof(TierPlacementLimits) * ntiers);
	if (result->kept != NULL)
		memcpy(result->kept, work->kept, sizeof(TierPlacementLimits) * ntiers);
	result->objective = best->objective;
	result->keeps_limits = tier_feasible_keeps(problem, work->totals, work->asked);
}

void
tier_placement_solve(const TierPlacementProblem *problem, TierPlacementResult *result)
{
	int			ntiers = problem->ntiers;
	size_t		ncells = (size_t) problem->nunits * ntiers;
	size_t		nlimits = (size_t) ntiers * TIER_PLACEMENT_RESOURCES;
	void	   *arrays[32];
	int			narrays = 0;
	Work		work;
	Best		best;

	memset(&work, 0, sizeof(work));
	memset(&best, 0, sizeof(best));
	work.problem = problem;
	work.clients = tier_placement_clients(problem);
	work.quiet_s = tier_cost_queue_s(QUIET_UTILISATION, work.clients);
	work.quiet_slope = tier_cost_queue_slope(QUIET_UTILISATION, work.clients);
#define ARRAY(type, n) ((type *) (arrays[narrays++] = array(problem, (n), sizeof(type))))
	work.cost = ARRAY(double, ncells);
	work.use = ARRAY(double, ncells * TIER_PLACEMENT_RESOURCES);
	work.limit = ARRAY(double, nlimits);
	work.utilisation = ARRAY(double, ntiers);
	work.at_least = ARRAY(double, ntiers);
	work.at_most = ARRAY(double, ntiers);
	work.got = ARRAY(double, ntiers);
	work.expected_s = ARRAY(double, ntiers);
	work.solved_s = ARRAY(double, ntiers);
	work.slope = ARRAY(double, ntiers);
	work.tier = ARRAY(int, problem->nunits);
	work.feasible = ARRAY(int, problem->nunits);
	work.start = ARRAY(int, problem->nunits);
	work.now = ARRAY(TierPlacementTotals, ntiers);
	work.totals = ARRAY(TierPlacementTotals, ntiers);
	best.tier = ARRAY(int, problem->nunits);
#undef ARRAY

	set_limits(&work);
	set_weights(&work);
	solve_weighted(&work, MAX_ROUNDS, problem->quick, &best);
	undo_exchanges(&work, &best);
	stay_if_better(&work, &best);
	report(&work, &best, result);
	while (narrays > 0)
		problem->release(arrays[--narrays]);
}

int
tier_placement_knee(const double *x, const double *y, int n)
{
	double		width;
	double		height;
	double		farthest = 1e-9;
	int			knee = -1;

	if (n < 3)
		return -1;
	width = x[n - 1] - x[0];
	height = y[n - 1] - y[0];
	if (!(width > 0) || !(height > 0))
		return -1;
	for (int i = 1; i < n - 1; i++)
	{
		double		distance = (y[i] - y[0]) / height - (x[i] - x[0]) / width;

		if (distance > farthest)
		{
			farthest = distance;
			knee = i;
		}
	}
	return knee;
}
