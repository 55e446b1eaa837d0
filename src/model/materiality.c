/*-------------------------------------------------------------------------
 *
 * model/materiality.c
 *		Which moves of a placement matter.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "src/model/materiality.h"

/* A move that is taken back may let others be taken back; nearly all are in the first pass. */
#define MAX_PASSES 8

typedef struct Move
{
	int			unit;
	double		gain;
	double		wait_gain;		/* in the waiting of clients, s per hour */
} Move;

typedef struct Work
{
	const TierPlacementProblem *problem;
	const TierPlacementLimits *limits;
	TierPlacementWeights weights;
	TierPlacementTotals totals[TIER_SOLVER_MAX_TIERS];
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

/*
 * The reduction of its clients' waits.  A device that reads faster and writes more slowly may
 * save much waiting, and almost no device time.
 */
static double
wait_gain_of(const Work *work, int unit, int tier)
{
	const TierPlacementProblem *problem = work->problem;
	size_t		first = (size_t) unit * problem->ntiers;

	if (problem->objective != TIER_OBJECTIVE_TIME)
		return 0.0;
	return problem->wait_s[first + problem->current[unit]] - problem->wait_s[first + tier];
}

/* The saving of the unit by its move, in the objective. */
static double
gain_of(const Work *work, int unit, int tier)
{
	const TierPlacementProblem *problem = work->problem;
	size_t		from = (size_t) unit * problem->ntiers + problem->current[unit];
	size_t		to = (size_t) unit * problem->ntiers + tier;

	return tier_placement_cost(problem, &work->weights, from) -
		tier_placement_cost(problem, &work->weights, to);
}

/*
 * Returns true if the unit may stay where it is now, beside the units that the placement has
 * there.
 */
static bool
may_stay(const Work *work, int unit)
{
	const TierPlacementProblem *problem = work->problem;
	int			tier = problem->current[unit];
	size_t		cell = (size_t) unit * problem->ntiers + tier;

	return tier_placement_may_live(problem, unit, tier) &&
		tier_placement_lacks(problem, &work->totals[tier], &work->limits[tier], cell) ==
		TIER_PLACEMENT_RESOURCES;
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

TierMaterialityDropped
tier_materiality_drop(const TierPlacementProblem *problem, const TierPlacementLimits *limits,
					  double give_up, double give_up_wait_s, int *tier)
{
	TierMaterialityDropped dropped = {0, 0.0};
	Move	   *moves = problem->alloc(sizeof(Move) * (problem->nunits > 0 ? problem->nunits : 1));
	Work		work = {.problem = problem,.limits = limits};
	int			nmoves = 0;
	int			taken_back = 1;

	work.weights = tier_placement_weights(problem);
	tier_placement_add_up(problem, tier, work.totals);
	for (int u = 0; u < problem->nunits; u++)
	{
		if (problem->current[u] < 0 || tier[u] < 0 || tier[u] == problem->current[u])
			continue;
		moves[nmoves].unit = u;
		moves[nmoves].wait_gain = fmax(0.0, wait_gain_of(&work, u, tier[u]));
		moves[nmoves++].gain = gain_of(&work, u, tier[u]);
	}
	qsort(moves, nmoves, sizeof(Move), compare_moves);
	for (int pass = 0; pass < MAX_PASSES && taken_back > 0; pass++)
	{
		taken_back = 0;
		for (int i = 0; i < nmoves; i++)
		{
			int			u = moves[i].unit;
			double		gain = fmax(0.0, moves[i].gain);

			if (tier[u] == problem->current[u] || !may_stay(&work, u) ||
				gain > give_up || moves[i].wait_gain > give_up_wait_s)
				continue;
			take_back(&work, u, &tier[u]);
			give_up -= gain;
			give_up_wait_s -= moves[i].wait_gain;
			dropped.gain += gain;
			dropped.units++;
			taken_back++;
		}
	}
	problem->release(moves);
	return dropped;
}
