/*-------------------------------------------------------------------------
 *
 * tier_solver.c
 *		Placement as a multiple-choice knapsack: each unit gets one tier.
 *
 * Several simple placements are made and the best one is the answer:
 *
 *		stay	everybody stays, only units without a permitted tier move
 *		greedy	units choose one after the other, in each of three orders:
 *				by device time saved per byte against the next best tier, the
 *				same against the worst tier, and by device time saved in all
 *
 * and each is improved by single moves and by exchanges of two units.  Staying
 * is the one to beat, so the answer is never worse than no move at all.
 *
 * The known weakness of greedy: a unit that gains much per byte may leave a
 * gap that nobody fills and so shut out a larger one that gains more in all;
 * with few units this costs several per cent or more, with many it vanishes,
 * and the distance from lower_bound to objective says how much it can be.
 *
 * What must stay true of each placement, so that the advice can be carried
 * out:
 *
 * - A unit that moves has room where it goes, with everybody counted who is
 *   there in the end, also those who only stay because nothing else has room.
 * - A tier that was too full before may remain so, but takes nobody in.
 *
 * Nothing here knows what a tier is made of, nor the order or the time in
 * which somebody carries out the moves.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tier_solver.h"

/* Rounds of greedy that try to give a room back before everybody stays. */
#define MAX_HOLD_ROUNDS 16

/* Improvement ends after so many rounds, or so many pairs of units looked at. */
#define MAX_IMPROVE_ROUNDS 8
#define MAX_EXCHANGE_PAIRS 5000000L

/*
 * How often each tier's dual price is adjusted to those of the others, at most,
 * and the relative growth of the bound below which that ends.
 */
#define MAX_DUAL_ROUNDS 32
#define DUAL_GROWTH 1e-4

/* Relative differences below this are rounding and not a reason to move. */
#define ROUNDING 1e-9

/* One unit in an order; a larger key comes first, never NaN. */
typedef struct Ranked
{
	double		key;
	bool		at_home;		/* is on the tier it wants */
	int			unit;
} Ranked;

typedef enum RankBy
{
	RANK_PER_BYTE_TO_NEXT,
	RANK_PER_BYTE_TO_WORST,
	RANK_TOTAL_TO_NEXT,
} RankBy;

#define NUM_RANKINGS 3

typedef enum UnitState
{
	UNIT_CHOOSES,
	UNIT_STRANDED,				/* found no room and is counted at home */
	UNIT_HELD,					/* its room at home is set aside beforehand */
} UnitState;

/*
 * A tier for each unit, or -1.  The sums exclude units that are homeless: on
 * no tier, or on one where they may not live.
 */
typedef struct Placement
{
	int		   *tier;
	double		used[TIER_SOLVER_MAX_TIERS];
	int			homeless;
	double		overflow;		/* bytes above capacity, all tiers */
	double		cost;
	double		friction;		/* cost_epsilon for each move */
} Placement;

/* Scratch memory, nunits of each. */
typedef struct Scratch
{
	Ranked	   *order;
	UnitState  *state;
} Scratch;


/*-------------------------------------------------------------------------
 * The problem, cleaned of what its contract forbids
 *-------------------------------------------------------------------------
 */

static double
cost_on(const TierSolverProblem *problem, int unit, int tier)
{
	double		cost = problem->cost[(size_t) unit * problem->ntiers + tier];

	return cost >= 0.0 ? cost : INFINITY;	/* NaN: nothing permits it */
}

static double
size_of(const TierSolverProblem *problem, int unit)
{
	return problem->size[unit] > 0.0 ? problem->size[unit] : 0.0;
}

static double
capacity_of(const TierSolverProblem *problem, int tier)
{
	return problem->capacity[tier] > 0.0 ? problem->capacity[tier] : 0.0;
}

static double
epsilon_of(const TierSolverProblem *problem)
{
	return problem->cost_epsilon > 0.0 ? problem->cost_epsilon : 0.0;
}

/* The tier a unit is on, or -1. */
static int
home_of(const TierSolverProblem *problem, int unit)
{
	int			home = problem->current[unit];

	return (home >= 0 && home < problem->ntiers) ? home : -1;
}

/*
 * The price for comparisons.  An unknown price is no reason to leave a tier
 * and none to go there.
 */
static double
comparable_price(const TierSolverProblem *problem, int unit, int tier)
{
	double		price = problem->price[(size_t) unit * problem->ntiers + tier];

	if (price > 0.0)
		return price;
	return tier == home_of(problem, unit) ? 0.0 : INFINITY;
}

/*
 * The cost, and cost_epsilon on top where the unit would have to move: what a
 * move must save at least to be worth it.
 */
static double
cost_with_friction(const TierSolverProblem *problem, int unit, int tier)
{
	double		cost = cost_on(problem, unit, tier);

	return tier == home_of(problem, unit) ? cost : cost + epsilon_of(problem);
}

/* The cost if the tier could hold this unit at all, else INFINITY. */
static double
cost_if_fits(const TierSolverProblem *problem, int unit, int tier)
{
	if (size_of(problem, unit) > capacity_of(problem, tier))
		return INFINITY;
	return cost_on(problem, unit, tier);
}

static bool
has_room(const TierSolverProblem *problem, const double *used, int unit,
		 int tier)
{
	return used[tier] + size_of(problem, unit) <= capacity_of(problem, tier);
}


/*-------------------------------------------------------------------------
 * What a unit wants
 *-------------------------------------------------------------------------
 */

/* Of two tiers whose costs count as equal, is a the better one? */
static bool
is_preferable(const TierSolverProblem *problem, int unit, int a, int b)
{
	double		price_a = comparable_price(problem, unit, a);
	double		price_b = comparable_price(problem, unit, b);
	int			home = home_of(problem, unit);
	double		cost_a;
	double		cost_b;

	if (price_a != price_b)
		return price_a < price_b;
	if (a == home || b == home)
		return a == home;

	cost_a = cost_on(problem, unit, a);
	cost_b = cost_on(problem, unit, b);
	if (cost_a != cost_b)
		return cost_a < cost_b;
	return a < b;
}

/*
 * The best tier with room beside what is used already, -1 if there is none.
 * Without `used`, the tier that the unit wants most.
 */
static int
choose_tier(const TierSolverProblem *problem, int unit, const double *used)
{
	double		least = INFINITY;
	int			choice = -1;

	for (int tier = 0; tier < problem->ntiers; tier++)
	{
		double		cost = cost_on(problem, unit, tier);

		if (cost < least &&
			(used == NULL || has_room(problem, used, unit, tier)))
			least = cost;
	}
	if (isinf(least))
		return -1;

	for (int tier = 0; tier < problem->ntiers; tier++)
	{
		if (cost_on(problem, unit, tier) > least + epsilon_of(problem))
			continue;
		if (used != NULL && !has_room(problem, used, unit, tier))
			continue;
		if (choice < 0 || is_preferable(problem, unit, tier, choice))
			choice = tier;
	}
	return choice;
}


/*-------------------------------------------------------------------------
 * Who chooses first
 *-------------------------------------------------------------------------
 */

/*
 * What the unit loses when it does not get its best tier.  Tiers that cannot
 * hold it are no alternative.  A unit with a single possibility goes before
 * all others, one without any last.
 */
static double
rank_key(const TierSolverProblem *problem, int unit, RankBy by)
{
	double		best = INFINITY;
	double		next = INFINITY;
	double		worst = 0.0;
	double		size = size_of(problem, unit);
	double		saved;

	for (int tier = 0; tier < problem->ntiers; tier++)
	{
		double		cost;

		if (isinf(cost_if_fits(problem, unit, tier)))
			continue;
		cost = cost_with_friction(problem, unit, tier);
		if (cost < best)
		{
			next = best;
			best = cost;
		}
		else if (cost < next)
			next = cost;
		if (cost > worst)
			worst = cost;
	}

	if (isinf(best))
		return 0.0;
	if (isinf(next))
		return INFINITY;

	saved = (by == RANK_PER_BYTE_TO_WORST ? worst : next) - best;
	if (by == RANK_TOTAL_TO_NEXT || saved <= 0.0)
		return saved;
	return size > 0.0 ? saved / size : INFINITY;
}

/*
 * A total order.  Of units that gain the same, those go first that would not
 * have to move; otherwise two of them could change places for nothing.
 */
static int
compare_ranked(const void *pa, const void *pb)
{
	const Ranked *a = (const Ranked *) pa;
	const Ranked *b = (const Ranked *) pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	if (a->at_home != b->at_home)
		return a->at_home ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

static void
rank_units(const TierSolverProblem *problem, RankBy by, Ranked *order)
{
	for (int unit = 0; unit < problem->nunits; unit++)
	{
		int			wanted = choose_tier(problem, unit, NULL);

		order[unit].key = rank_key(problem, unit, by);
		order[unit].at_home = wanted >= 0 && wanted == home_of(problem, unit);
		order[unit].unit = unit;
	}
	qsort(order, problem->nunits, sizeof(Ranked), compare_ranked);
}


/*-------------------------------------------------------------------------
 * One placement
 *-------------------------------------------------------------------------
 */

/*
 * Held units keep their room; the others choose in the given order.  One that
 * finds none is stranded: it stays at home without room.
 */
static void
let_units_choose(const TierSolverProblem *problem, const Ranked *order,
				 UnitState *state, Placement *placement)
{
	memset(placement->used, 0, sizeof(placement->used));

	for (int unit = 0; unit < problem->nunits; unit++)
	{
		if (state[unit] != UNIT_HELD)
			continue;
		placement->tier[unit] = home_of(problem, unit);
		placement->used[placement->tier[unit]] += size_of(problem, unit);
	}

	for (int i = 0; i < problem->nunits; i++)
	{
		int			unit = order[i].unit;
		int			tier;

		if (state[unit] == UNIT_HELD)
			continue;
		tier = choose_tier(problem, unit, placement->used);
		state[unit] = tier < 0 ? UNIT_STRANDED : UNIT_CHOOSES;
		if (tier < 0)
			tier = home_of(problem, unit);
		placement->tier[unit] = tier;
		if (tier >= 0)
			placement->used[tier] += size_of(problem, unit);
	}
}

/*
 * Did somebody take, in moving, the room of a unit that has to stay?  Then
 * hold such units where they are, or, as a last resort, all; true if there
 * were any.
 */
static bool
hold_stranded(const TierSolverProblem *problem, bool all,
			  const Placement *placement, UnitState *state)
{
	bool		violated[TIER_SOLVER_MAX_TIERS] = {false};
	bool		any = false;

	for (int unit = 0; unit < problem->nunits; unit++)
	{
		int			tier = placement->tier[unit];

		if (tier >= 0 && tier != home_of(problem, unit) &&
			placement->used[tier] > capacity_of(problem, tier))
			violated[tier] = any = true;
	}
	if (!any)
		return false;

	for (int unit = 0; unit < problem->nunits; unit++)
	{
		int			home = home_of(problem, unit);

		if (home >= 0 &&
			(all || (state[unit] == UNIT_STRANDED && violated[home])))
			state[unit] = UNIT_HELD;
	}
	return true;
}

/*
 * Each round holds at least one more unit, because a tier gets too full only
 * by units that stay; with all of them held nobody moves to a tier without
 * room.  So this ends.
 */
static void
place_in_order(const TierSolverProblem *problem, const Ranked *order,
			   UnitState *state, Placement *placement)
{
	int			round = 0;

	do
		let_units_choose(problem, order, state, placement);
	while (hold_stranded(problem, ++round > MAX_HOLD_ROUNDS, placement, state));
}

/* Nobody moves but those who have no tier, or one where they may not live. */
static void
hold_all_who_may_stay(const TierSolverProblem *problem, UnitState *state)
{
	for (int unit = 0; unit < problem->nunits; unit++)
	{
		int			home = home_of(problem, unit);

		if (home >= 0 && !isinf(cost_on(problem, unit, home)))
			state[unit] = UNIT_HELD;
		else
			state[unit] = UNIT_CHOOSES;
	}
}

static void
hold_nobody(const TierSolverProblem *problem, UnitState *state)
{
	for (int unit = 0; unit < problem->nunits; unit++)
		state[unit] = UNIT_CHOOSES;
}

static void
measure(const TierSolverProblem *problem, Placement *placement)
{
	placement->homeless = 0;
	placement->overflow = 0.0;
	placement->cost = 0.0;
	placement->friction = 0.0;
	memset(placement->used, 0, sizeof(placement->used));

	for (int unit = 0; unit < problem->nunits; unit++)
	{
		int			tier = placement->tier[unit];

		if (tier >= 0)
			placement->used[tier] += size_of(problem, unit);
		if (tier < 0 || isinf(cost_on(problem, unit, tier)))
		{
			placement->homeless++;
			continue;
		}
		placement->cost += cost_on(problem, unit, tier);
		if (tier != home_of(problem, unit))
			placement->friction += epsilon_of(problem);
	}

	for (int tier = 0; tier < problem->ntiers; tier++)
	{
		if (placement->used[tier] > capacity_of(problem, tier))
			placement->overflow += placement->used[tier] -
				capacity_of(problem, tier);
	}
}

/* Is a better than b by more than rounding and what its moves must save? */
static bool
is_better(const Placement *a, const Placement *b)
{
	double		sum_a = a->cost + a->friction;
	double		sum_b = b->cost + b->friction;

	if (a->homeless != b->homeless)
		return a->homeless < b->homeless;
	if (a->overflow != b->overflow)
		return a->overflow < b->overflow;
	return sum_b - sum_a > ROUNDING * sum_b;
}


/*-------------------------------------------------------------------------
 * Improving a placement
 *-------------------------------------------------------------------------
 */

static void
move_unit(const TierSolverProblem *problem, Placement *placement, int unit,
		  int tier)
{
	if (placement->tier[unit] >= 0)
		placement->used[placement->tier[unit]] -= size_of(problem, unit);
	placement->tier[unit] = tier;
	placement->used[tier] += size_of(problem, unit);
}

/* Moves a unit to the best tier with room; true if that is another one. */
static bool
improve_by_move(const TierSolverProblem *problem, Placement *placement,
				int unit)
{
	int			from = placement->tier[unit];
	int			to;

	if (from >= 0)
		placement->used[from] -= size_of(problem, unit);
	to = choose_tier(problem, unit, placement->used);
	if (from >= 0)
		placement->used[from] += size_of(problem, unit);

	if (to < 0 || to == from)
		return false;
	move_unit(problem, placement, unit, to);
	return true;
}

/*
 * The cheapest tier for `other` when `unit` takes its place, -1 if none has
 * room.  The place itself must get large enough by that.
 */
static int
tier_after_exchange(const TierSolverProblem *problem,
					const Placement *placement, int unit, int other)
{
	int			from = placement->tier[unit];
	int			to = placement->tier[other];
	double		size = size_of(problem, unit);
	double		other_size = size_of(problem, other);
	int			best = -1;

	if (placement->used[to] - other_size + size > capacity_of(problem, to))
		return -1;

	for (int tier = 0; tier < problem->ntiers; tier++)
	{
		double		freed = tier == from ? size : 0.0;

		if (tier == to)
			continue;
		if (placement->used[tier] - freed + other_size >
			capacity_of(problem, tier))
			continue;
		if (best < 0 || cost_with_friction(problem, other, tier) <
			cost_with_friction(problem, other, best))
			best = tier;
	}
	return best;
}

/*
 * Puts a unit in the place of another one, which moves to where the unit was
 * or to a third tier.  Takes the exchange that saves most; true if any does.
 */
static bool
improve_by_exchange(const TierSolverProblem *problem, Placement *placement,
					int unit)
{
	int			from = placement->tier[unit];
	double		cost_now;
	double		most_saved = 0.0;
	int			best_other = -1;
	int			best_tier = -1;
	int			to;

	if (from < 0 || isinf(cost_on(problem, unit, from)))
		return false;
	cost_now = cost_with_friction(problem, unit, from);

	for (int other = 0; other < problem->nunits; other++)
	{
		double		before;
		double		saved;
		int			tier;

		to = placement->tier[other];
		if (to < 0 || to == from || isinf(cost_on(problem, other, to)) ||
			!(cost_with_friction(problem, unit, to) < cost_now))
			continue;
		tier = tier_after_exchange(problem, placement, unit, other);
		if (tier < 0)
			continue;

		before = cost_now + cost_with_friction(problem, other, to);
		saved = before - cost_with_friction(problem, unit, to) -
			cost_with_friction(problem, other, tier);
		if (saved > most_saved && saved > ROUNDING * before)
		{
			most_saved = saved;
			best_other = other;
			best_tier = tier;
		}
	}
	if (best_other < 0)
		return false;

	to = placement->tier[best_other];
	move_unit(problem, placement, best_other, best_tier);
	move_unit(problem, placement, unit, to);
	return true;
}

/* From tiers that are too full, those leave first that gain least. */
static void
relieve(const TierSolverProblem *problem, const Ranked *order,
		Placement *placement)
{
	for (int i = problem->nunits - 1; i >= 0; i--)
	{
		int			unit = order[i].unit;
		int			tier = placement->tier[unit];

		if (tier >= 0 && placement->used[tier] > capacity_of(problem, tier))
			(void) improve_by_move(problem, placement, unit);
	}
}

/*
 * Each step leads to a placement that is better and has room for those who
 * move.  Exchanges are tried for units that do not have the tier they want.
 */
static void
improve(const TierSolverProblem *problem, const Ranked *order,
		Placement *placement)
{
	long		pairs_left = MAX_EXCHANGE_PAIRS;
	bool		improved = true;

	relieve(problem, order, placement);

	for (int round = 0; improved && round < MAX_IMPROVE_ROUNDS; round++)
	{
		improved = false;
		for (int i = 0; i < problem->nunits; i++)
		{
			int			unit = order[i].unit;

			if (improve_by_move(problem, placement, unit))
				improved = true;
			if (placement->tier[unit] == choose_tier(problem, unit, NULL))
				continue;
			if (pairs_left < problem->nunits)
				continue;
			pairs_left -= problem->nunits;
			if (improve_by_exchange(problem, placement, unit))
				improved = true;
		}
	}
}


/*-------------------------------------------------------------------------
 * The lower bound
 *-------------------------------------------------------------------------
 */

/* What the unit costs at least when a byte on each tier has this price. */
static double
least_cost(const TierSolverProblem *problem, int unit, const double *dual,
		   int except)
{
	double		size = size_of(problem, unit);
	double		least = INFINITY;

	for (int tier = 0; tier < problem->ntiers; tier++)
	{
		double		cost;

		if (tier == except)
			continue;
		cost = cost_if_fits(problem, unit, tier) + dual[tier] * size;
		if (cost < least)
			least = cost;
	}
	return least;
}

/*
 * The price per byte at which the tier is just full, the other prices given:
 * sort by what the units would pay for a byte, and fill the tier, the last one
 * in part.
 */
static double
dual_price(const TierSolverProblem *problem, int tier, const double *dual,
		   Ranked *order)
{
	double		capacity = capacity_of(problem, tier);
	double		demand = 0.0;
	int			n = 0;

	for (int unit = 0; unit < problem->nunits; unit++)
	{
		double		cost = cost_if_fits(problem, unit, tier);
		double		size = size_of(problem, unit);
		double		saved;

		if (isinf(cost) || size <= 0.0)
			continue;
		saved = least_cost(problem, unit, dual, tier) - cost;
		if (saved <= 0.0)
			continue;
		order[n].key = saved / size;
		order[n].at_home = false;
		order[n].unit = unit;
		n++;
		demand += size;
	}
	if (demand <= capacity)
		return 0.0;

	qsort(order, n, sizeof(Ranked), compare_ranked);
	for (int i = 0; i < n; i++)
	{
		capacity -= size_of(problem, order[i].unit);
		if (capacity < 0.0)
			return isinf(order[i].key) ? dual[tier] : order[i].key;
	}
	return 0.0;					/* only by rounding */
}

/*
 * The Lagrangian bound.  For any prices d >= 0 per byte, every placement that
 * respects the capacities costs at least
 *
 *		sum over units of min over tiers (cost + d * size)
 *		- sum over tiers of d * capacity		[device-seconds per hour]
 *
 * because what it pays for its bytes is no more than d * capacity.  Good prices
 * only make the bound better; with all of them 0 it is the sum of each unit's
 * least cost.  What rounding can add to sums of that many terms is taken off.
 */
static double
lagrangian_bound(const TierSolverProblem *problem, const double *dual)
{
	double		paid = 0.0;
	double		refunded = 0.0;

	for (int unit = 0; unit < problem->nunits; unit++)
		paid += least_cost(problem, unit, dual, -1);
	for (int tier = 0; tier < problem->ntiers; tier++)
	{
		if (dual[tier] > 0.0)
			refunded += dual[tier] * capacity_of(problem, tier);
	}
	return paid - refunded - DBL_EPSILON * (paid + refunded) *
		(problem->nunits + problem->ntiers);
}

static double
feasible_lower_bound(const TierSolverProblem *problem, Ranked *order)
{
	double		dual[TIER_SOLVER_MAX_TIERS] = {0.0};
	double		bound = lagrangian_bound(problem, dual);

	for (int round = 0; round < MAX_DUAL_ROUNDS; round++)
	{
		double		before = bound;
		double		priced;

		for (int tier = 0; tier < problem->ntiers; tier++)
			dual[tier] = dual_price(problem, tier, dual, order);
		priced = lagrangian_bound(problem, dual);
		if (priced > bound)
			bound = priced;
		if (bound - before <= DUAL_GROWTH * bound)
			break;
	}
	return bound;
}

/*
 * Where capacities cannot be kept they bound nothing: the least cost of each
 * unit that counts in the objective.
 */
static double
infeasible_lower_bound(const TierSolverProblem *problem,
					   const Placement *placement)
{
	double		bound = 0.0;

	for (int unit = 0; unit < problem->nunits; unit++)
	{
		double		least = INFINITY;

		if (placement->tier[unit] < 0 ||
			isinf(cost_on(problem, unit, placement->tier[unit])))
			continue;
		for (int tier = 0; tier < problem->ntiers; tier++)
		{
			if (cost_on(problem, unit, tier) < least)
				least = cost_on(problem, unit, tier);
		}
		bound += least;
	}
	return bound;
}


/*-------------------------------------------------------------------------
 * The answer
 *-------------------------------------------------------------------------
 */

/*
 * Which units did not get what they wanted.  On a tier that remains too full
 * the units that gain least per byte are the ones too many.
 */
static int
find_pushed_out(const TierSolverProblem *problem, const Ranked *order,
				const Placement *placement, int *pushed_out_of)
{
	double		filled[TIER_SOLVER_MAX_TIERS] = {0.0};
	int			count = 0;

	for (int i = 0; i < problem->nunits; i++)
	{
		int			unit = order[i].unit;
		int			tier = placement->tier[unit];
		int			wanted = choose_tier(problem, unit, NULL);
		bool		pushed = false;

		if (tier >= 0)
			filled[tier] += size_of(problem, unit);

		if (wanted < 0)
			pushed = false;
		else if (tier == wanted)
			pushed = filled[tier] > capacity_of(problem, tier);
		else
			pushed = !has_room(problem, placement->used, unit, wanted);

		pushed_out_of[unit] = pushed ? wanted : -1;
		count += pushed;
	}
	return count;
}

static void
report(const TierSolverProblem *problem, const Placement *placement,
	   Ranked *order, TierSolverResult *result)
{
	int			pushed;

	if (problem->nunits > 0)
		memcpy(result->tier, placement->tier, problem->nunits * sizeof(int));
	memcpy(result->used, placement->used, problem->ntiers * sizeof(double));

	rank_units(problem, RANK_PER_BYTE_TO_NEXT, order);
	pushed = find_pushed_out(problem, order, placement, result->pushed_out_of);

	result->objective = placement->cost;
	if (placement->homeless > 0 || placement->overflow > 0.0)
	{
		result->status = TIER_SOLVER_INFEASIBLE;
		result->lower_bound = infeasible_lower_bound(problem, placement);
	}
	else
	{
		result->status = pushed > 0 ?
			TIER_SOLVER_CONSTRAINED : TIER_SOLVER_UNCONSTRAINED;
		result->lower_bound = feasible_lower_bound(problem, order);
	}

	/* The two are summed in different ways; do not let rounding show. */
	if (result->lower_bound > result->objective)
		result->lower_bound = result->objective;
}

void
tier_solver_solve(const TierSolverProblem *problem, TierSolverResult *result)
{
	size_t		n = problem->nunits > 0 ? (size_t) problem->nunits : 1;
	Placement	best;
	Placement	candidate;
	Scratch		scratch;

	best.tier = problem->alloc(n * sizeof(int));
	candidate.tier = problem->alloc(n * sizeof(int));
	scratch.order = problem->alloc(n * sizeof(Ranked));
	scratch.state = problem->alloc(n * sizeof(UnitState));

	/* 1. Everybody stays who may. */
	rank_units(problem, RANK_PER_BYTE_TO_NEXT, scratch.order);
	hold_all_who_may_stay(problem, scratch.state);
	place_in_order(problem, scratch.order, scratch.state, &best);
	improve(problem, scratch.order, &best);
	measure(problem, &best);

	/* 2. Everybody chooses anew, in each order. */
	for (int by = 0; by < NUM_RANKINGS; by++)
	{
		rank_units(problem, (RankBy) by, scratch.order);
		hold_nobody(problem, scratch.state);
		place_in_order(problem, scratch.order, scratch.state, &candidate);
		improve(problem, scratch.order, &candidate);
		measure(problem, &candidate);

		if (is_better(&candidate, &best))
		{
			Placement	swap = best;

			best = candidate;
			candidate = swap;
		}
	}

	/* 3. Say what came out and what stood in the way. */
	report(problem, &best, scratch.order, result);

	problem->release(best.tier);
	problem->release(candidate.tier);
	problem->release(scratch.order);
	problem->release(scratch.state);
}
