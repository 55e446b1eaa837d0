/*-------------------------------------------------------------------------
 *
 * model/exchange.c
 *		Relations that are nearly equal do not change places.
 *
 * The solver stops where a placement cannot be told from the best one, and the queue of a
 * busy device multiplies small differences.  Neither is a reason to move two
 * relations that are worth about the same; but to the solver it is one.  So each
 * unit that comes to a tier is compared with those that leave it in the same
 * direction reversed, and would fit in its stead.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "src/model/exchange.h"
#include "src/model/feasible.h"

/* Pairs that are looked at: some 50 ms, with thousands of moves. */
#define MOST_PAIRS 5e6

/* Units that one can be exchanged for. */
#define MOST_PARTNERS 64

/* One move, by what it gains for each byte. */
typedef struct Move
{
	int			unit;
	double		density;
} Move;

typedef struct Work
{
	const TierPlacementProblem *problem;
	const TierPlacementLimits *limits;
	const TierExchangeWeights *weights;
	TierPlacementTotals totals[TIER_SOLVER_MAX_TIERS];
	int		   *tier;
	Move	   *in;
	Move	   *out;
	double		npairs;
} Work;

static size_t
cell_of(const Work *work, int unit, int tier)
{
	return (size_t) unit * work->problem->ntiers + tier;
}

/* What the move of a unit gains, surely; may be negative. */
static double
gain_of(const Work *work, int unit)
{
	const TierPlacementProblem *problem = work->problem;
	const TierExchangeWeights *weights = work->weights;
	int			here = problem->current[unit];
	int			there = work->tier[unit];
	size_t		from = cell_of(work, unit, here);
	size_t		to = cell_of(work, unit, there);
	double		move = TIER_PLACEMENT_MOVE_MUST_PAY * problem->move_s[to] / problem->horizon_hours;
	double		time = weights->of.busy * (problem->busy_s[from] - problem->busy_s[to]) +
	weights->occupied[here] * problem->occupied_s[from] -
	weights->occupied[there] * problem->occupied_s[to];

	return weights->of.price * (problem->price[from] - problem->price[to]) +
		time - TIER_PLACEMENT_DOUBT * fabs(time) -
		weights->of.busy * move;
}

static int
compare_moves(const void *a, const void *b)
{
	const Move *left = a;
	const Move *right = b;

	if (left->density != right->density)
		return left->density < right->density ? -1 : 1;
	return (left->unit > right->unit) - (left->unit < right->unit);
}

/* The moves from one tier to another, that gain least for each byte first. */
static int
collect(const Work *work, int from, int to, Move *moves)
{
	const TierPlacementProblem *problem = work->problem;
	int			n = 0;

	for (int u = 0; u < problem->nunits; u++)
	{
		double		bytes;

		if (problem->current[u] != from || work->tier[u] != to ||
			!tier_placement_may_live(problem, u, from))
			continue;
		bytes = problem->stored_bytes[cell_of(work, u, from < to ? from : to)];
		moves[n].unit = u;
		moves[n++].density = gain_of(work, u) / fmax(bytes, 1.0);
	}
	qsort(moves, n, sizeof(Move), compare_moves);
	return n;
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

/*
 * Lets a unit stay, and in its stead those that were to leave the tier that it comes to, the
 * dearest first, as far as they fit.  Undone if that is worse, or breaks a limit.
 */
static int
try_undo(Work *work, int unit, const Move *out, int nout)
{
	const TierPlacementProblem *problem = work->problem;
	int			to = work->tier[unit];
	int			from = problem->current[unit];
	int			partners[MOST_PARTNERS];
	int			n = 0;
	double		gain = gain_of(work, unit);

	shift(work, unit, from);
	for (int i = 0; i < nout && n < MOST_PARTNERS; i++)
	{
		int			other = out[i].unit;

		work->npairs++;
		if (work->tier[other] != from ||
			work->totals[to].bytes + problem->stored_bytes[cell_of(work, other, to)] >
			work->limits[to].of[TIER_RESOURCE_BYTES])
			continue;
		gain += gain_of(work, other);
		partners[n++] = other;
		shift(work, other, to);
		if (gain <= 0.0 && tier_feasible_keeps(problem, work->totals, work->limits))
			return n + 1;
	}
	while (n > 0)
		shift(work, partners[--n], from);
	shift(work, unit, to);
	return 0;
}

int
tier_exchange_undo(const TierPlacementProblem *problem, const TierPlacementLimits *limits,
				   const TierExchangeWeights *weights, int *tier)
{
	Work		work = {.problem = problem,.limits = limits,.weights = weights,.tier = tier};
	size_t		bytes = sizeof(Move) * (problem->nunits > 0 ? problem->nunits : 1);
	int			undone = 0;

	tier_placement_add_up(problem, tier, work.totals);
	work.in = problem->alloc(bytes);
	work.out = problem->alloc(bytes);
	for (int a = 0; a < problem->ntiers; a++)
		for (int b = 0; b < problem->ntiers; b++)
		{
			int			nin = a == b ? 0 : collect(&work, b, a, work.in);
			int			nout = nin == 0 ? 0 : collect(&work, a, b, work.out);

			/* Only the direction that gains: what comes, for what leaves. */
			for (int i = 0; i < nin && nout > 0 && work.npairs < MOST_PAIRS; i++)
				if (gain_of(&work, work.in[i].unit) > 0.0)
					undone += try_undo(&work, work.in[i].unit, work.out, nout);
		}
	problem->release(work.in);
	problem->release(work.out);
	return undone;
}
