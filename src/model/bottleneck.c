/*-------------------------------------------------------------------------
 *
 * model/bottleneck.c
 *		Finds the limits that keep units from the tiers where they would be better.
 *
 * The solver's prices are the value of a limit for small units.  They are not usable here for
 * three reasons.  They do not include a unit that is larger than the room there is, since that is
 * no option for the solver.  For a small unit, they are the value of a whole GB of its like.  And
 * they belong to a placement whose minor moves are taken back afterwards.  So this module
 * examines the final placement: which units would gain elsewhere, and do not fit.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/bottleneck.h"

typedef struct Work
{
	const TierBottleneckQuestion *question;
	const TierPlacementProblem *problem;
	const TierPlacementLimits *asked;
	const TierPlacementLimits *kept;
	TierPlacementTotals totals[TIER_SOLVER_MAX_TIERS];
	TierPlacementBottleneck by[TIER_SOLVER_MAX_TIERS];	/* the limit that keeps
														 * units out */
	double		gains[TIER_SOLVER_MAX_TIERS];	/* of all of them */
	bool		is_needed[TIER_SOLVER_MAX_TIERS];	/* for one that may not
													 * stay */
	TierPlacementWeights weights;
} Work;

/* The certain saving of the unit there; 0 if its cost is not known. */
static double
gain_of(const Work *work, int unit, int tier)
{
	const TierPlacementProblem *problem = work->problem;
	double		gain =
	tier_placement_unit_cost(problem, &work->weights, unit, work->question->tier[unit]) -
	tier_placement_unit_cost(problem, &work->weights, unit, tier);

	return isfinite(gain) ? gain : 0.0;
}

/*
 * The first limit for which the unit has no room there; NONE: it has.  Of bytes the limit as
 * asked for counts: no unit comes to a tier that remains too full.
 */
static TierPlacementBottleneck
kept_out_by(const Work *work, int unit, int tier)
{
	TierPlacementLimits limit = work->kept[tier];
	int			lacks;

	limit.of[TIER_RESOURCE_BYTES] = work->asked[tier].of[TIER_RESOURCE_BYTES];
	lacks = tier_placement_lacks(work->problem, &work->totals[tier], &limit,
								 (size_t) unit * work->problem->ntiers + tier);
	return lacks == TIER_PLACEMENT_RESOURCES ? TIER_BOTTLENECK_NONE :
		(TierPlacementBottleneck) (TIER_BOTTLENECK_BYTES + lacks);
}

/*
 * The tier where the unit gains most, of the tiers where it may be; its present tier if no gain
 * counts.  A unit that may not be where it is gains by each of them.
 */
static int
best_tier(const Work *work, int unit, double *gain)
{
	const TierBottleneckQuestion *question = work->question;
	int			best = question->tier[unit];
	bool		must_leave = !tier_placement_may_live(work->problem, unit, best);

	*gain = must_leave ? -INFINITY : 0.0;
	for (int t = 0; t < work->problem->ntiers; t++)
	{
		double		other;

		if (t == question->tier[unit] || !tier_placement_may_live(work->problem, unit, t))
			continue;
		other = gain_of(work, unit, t);
		if (other > *gain)
		{
			*gain = other;
			best = t;
		}
	}
	*gain = fmax(*gain, 0.0);
	return best;
}

/* Finds the units that are kept out, by which limit, and from which tier. */
static void
find_kept(Work *work, TierPlacementResult *result)
{
	const TierBottleneckQuestion *question = work->question;
	const TierPlacementProblem *problem = work->problem;

	for (int u = 0; u < problem->nunits; u++)
	{
		TierPlacementBottleneck reason;
		double		gain;
		int			best;

		result->pushed_out_of[u] = -1;
		if (question->tier[u] < 0)
			continue;
		best = best_tier(work, u, &gain);
		if (best == question->tier[u])
			continue;
		reason = kept_out_by(work, u, best);
		if (reason == TIER_BOTTLENECK_NONE)
			continue;
		result->pushed_out_of[u] = best;
		work->gains[best] += gain;
		if (!tier_placement_may_live(problem, u, question->tier[u]))
			work->is_needed[best] = true;
		if (work->by[best] == TIER_BOTTLENECK_NONE || reason < work->by[best])
			work->by[best] = reason;
	}
}

/*
 * The limit that is exceeded, or else the one that keeps units out, if their gain is large
 * enough.
 */
static void
set_bottlenecks(const Work *work, TierPlacementResult *result)
{
	const TierPlacementProblem *problem = work->problem;

	for (int t = 0; t < problem->ntiers; t++)
	{
		result->bottleneck[t] = work->is_needed[t] || work->gains[t] > work->question->least ?
			work->by[t] : TIER_BOTTLENECK_NONE;
		for (int r = TIER_PLACEMENT_RESOURCES - 1; r >= 0; r--)
			if (work->kept[t].of[r] > work->asked[t].of[r])
				result->bottleneck[t] = TIER_BOTTLENECK_BYTES + r;
	}
	for (int u = 0; u < problem->nunits; u++)
		if (result->pushed_out_of[u] >= 0 &&
			result->bottleneck[result->pushed_out_of[u]] == TIER_BOTTLENECK_NONE)
			result->pushed_out_of[u] = -1;
}

void
tier_bottleneck_find(const TierBottleneckQuestion *question, TierPlacementResult *result)
{
	Work		work = {.question = question,.problem = question->problem,.asked = result->asked,
	.kept = result->kept};

	work.weights = tier_placement_weights(question->problem);
	tier_placement_add_up(question->problem, question->tier, work.totals);
	find_kept(&work, result);
	set_bottlenecks(&work, result);
}
