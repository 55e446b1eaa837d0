/*-------------------------------------------------------------------------
 *
 * model/materiality.c
 *		Which moves of a placement matter.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/cost.h"
#include "src/model/feasible.h"
#include "src/model/materiality.h"

#define S_PER_HOUR 3600.0

/* What was taken back may let others be taken back; nearly all are in the first pass. */
#define MAX_PASSES 8

/* Sums of what is there now must not exceed it by rounding. */
#define ROUNDING 1e-9

typedef struct Move
{
	int			unit;
	double		gain;
} Move;

typedef struct Work
{
	const TierPlacementProblem *problem;
	const TierPlacementLimits *limits;
	TierPlacementWeights weights;
	TierPlacementTotals *totals;
	const double *least_gain;	/* by unit, or NULL */
	double		budget;			/* what may still be given up */
	double		wait_budget;	/* for TIME, of what clients wait, s per hour */
} Work;

static int
compare_moves(const void *a, const void *b)
{
	const Move *left = a;
	const Move *right = b;

	if (left->gain != right->gain)
		return left->gain < right->gain ? -1 : 1;
	return left->unit < right->unit ? -1 : left->unit > right->unit;
}

static double
queue_s(const Work *work, double occupied_s)
{
	return tier_cost_queue_s(occupied_s / S_PER_HOUR, tier_placement_clients(work->problem));
}

/* By being on `tier` instead of where it is now: seconds per hour in the queues. */
static double
queue_gain_of(const Work *work, int unit, int tier)
{
	const TierPlacementProblem *problem = work->problem;
	size_t		from = (size_t) unit * problem->ntiers + problem->current[unit];
	size_t		to = (size_t) unit * problem->ntiers + tier;
	double		here_s = work->totals[problem->current[unit]].occupied_s;
	double		there_s = work->totals[tier].occupied_s;

	return queue_s(work, here_s + problem->occupied_s[from]) - queue_s(work, here_s) +
		queue_s(work, there_s - problem->occupied_s[to]) - queue_s(work, there_s);
}

/*
 * What its clients wait less.  A device that reads faster and writes more slowly may save
 * them much, and its own time next to nothing.
 */
static double
wait_gain_of(const Work *work, int unit, int tier)
{
	const TierPlacementProblem *problem = work->problem;
	size_t		first = (size_t) unit * problem->ntiers;

	if (problem->objective != TIER_OBJECTIVE_TIME)
		return 0.0;
	return problem->wait_s[first + problem->current[unit]] - problem->wait_s[first + tier] +
		queue_gain_of(work, unit, tier);
}

/* What the unit saves by that, in the objective. */
static double
gain_of(const Work *work, int unit, int tier)
{
	const TierPlacementProblem *problem = work->problem;
	size_t		from = (size_t) unit * problem->ntiers + problem->current[unit];
	size_t		to = (size_t) unit * problem->ntiers + tier;

	return tier_placement_cost(problem, &work->weights, from) -
		tier_placement_cost(problem, &work->weights, to) +
		work->weights.queue * queue_gain_of(work, unit, tier);
}

/* May it stay where it is now, beside what the placement has there? */
static bool
may_stay(const Work *work, int unit)
{
	const TierPlacementProblem *problem = work->problem;
	int			tier = problem->current[unit];
	size_t		cell = (size_t) unit * problem->ntiers + tier;

	for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
		if (tier_feasible_used(&work->totals[tier], (TierPlacementResource) r) +
			tier_placement_use(problem, cell, (TierPlacementResource) r) >
			work->limits[tier].of[r] * (1.0 + ROUNDING))
			return false;
	return tier_placement_may_live(problem, unit, tier);
}

static void
take_back(Work *work, int unit, int *tier)
{
	const TierPlacementProblem *problem = work->problem;
	int			here = problem->current[unit];
	size_t		from = (size_t) unit * problem->ntiers + here;
	size_t		to = (size_t) unit * problem->ntiers + *tier;

	tier_placement_count(problem, to, -1.0, &work->totals[*tier]);
	tier_placement_count(problem, from, 1.0, &work->totals[here]);
	*tier = here;
}

/* Is it too little to move for by itself? */
static bool
is_less_than_least(const Work *work, int unit, double gain, double wait_gain)
{
	return work->least_gain != NULL && gain <= work->least_gain[unit] &&
		wait_gain <= work->least_gain[unit];
}

/* Or with all that is given up? */
static bool
is_too_little(const Work *work, int unit, double gain, double wait_gain)
{
	return (gain <= work->budget && wait_gain <= work->wait_budget) ||
		is_less_than_least(work, unit, gain, wait_gain);
}

TierMaterialityDropped
tier_materiality_drop(const TierPlacementProblem *problem, const TierPlacementLimits *limits,
					  double give_up, double give_up_wait_s,
					  const double *least_gain, int *tier)
{
	TierMaterialityDropped dropped = {0, 0.0};
	size_t		tiers_size = sizeof(TierPlacementTotals) * problem->ntiers;
	Move	   *moves = problem->alloc(sizeof(Move) * (problem->nunits > 0 ? problem->nunits : 1));
	Work		work;

	memset(&work, 0, sizeof(work));
	work.problem = problem;
	work.limits = limits;
	work.least_gain = least_gain;
	work.budget = give_up;
	work.wait_budget = give_up_wait_s;
	work.totals = problem->alloc(tiers_size);
	work.weights = tier_placement_weights(problem);
	tier_placement_add_up(problem, tier, work.totals);
	for (int pass = 0; pass < MAX_PASSES; pass++)
	{
		int			nmoves = 0;
		int			taken_back = 0;

		for (int u = 0; u < problem->nunits; u++)
		{
			if (problem->current[u] < 0 || tier[u] < 0 || tier[u] == problem->current[u])
				continue;
			moves[nmoves].unit = u;
			moves[nmoves++].gain = gain_of(&work, u, tier[u]);
		}
		qsort(moves, nmoves, sizeof(Move), compare_moves);
		for (int i = 0; i < nmoves; i++)
		{
			int			u = moves[i].unit;
			double		gain = fmax(0.0, gain_of(&work, u, tier[u]));
			double		wait_gain = fmax(0.0, wait_gain_of(&work, u, tier[u]));
			bool		is_little = is_less_than_least(&work, u, gain, wait_gain);

			if (moves[i].gain > work.budget && least_gain == NULL)
				break;
			if (!is_too_little(&work, u, gain, wait_gain) || !may_stay(&work, u))
				continue;
			take_back(&work, u, &tier[u]);
			if (!is_little)
			{
				work.budget -= gain;
				work.wait_budget -= wait_gain;
			}
			dropped.gain += gain;
			dropped.units++;
			taken_back++;
		}
		if (taken_back == 0)
			break;
	}
	problem->release(moves);
	problem->release(work.totals);
	return dropped;
}
