/*-------------------------------------------------------------------------
 *
 * model/solver/greedy.c
 *		Placements by simple rules, and improving any placement step by step.
 *
 * Several simple placements are made:
 *
 *		stay	everybody stays, only units without a permitted tier move
 *		greedy	units choose one after the other, in each of three orders:
 *				by cost saved for what they use against the next best tier, the
 *				same against the worst tier, and by cost saved in all
 *
 * and improved by single moves.  They are where
 * the search starts from, and what remains when no placement keeps all limits.
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
#include <stdlib.h>
#include <string.h>

#include "src/model/solver/private.h"

/* Rounds of greedy that try to give a room back before everybody stays. */
#define MAX_HOLD_ROUNDS 16

/* Improvement ends after so many rounds. */
#define MAX_IMPROVE_ROUNDS 8

/* One unit in an order; a larger key comes first, never NaN. */
typedef struct Ranked
{
	double		key;
	bool		at_home;		/* is on the tier it wants */
	int			unit;
} Ranked;

typedef enum RankBy
{
	RANK_BY_USE_TO_NEXT,
	RANK_BY_USE_TO_WORST,
	RANK_TOTAL_TO_NEXT,
} RankBy;

#define NUM_RANKINGS 3

typedef enum UnitState
{
	UNIT_CHOOSES,
	UNIT_STRANDED,				/* found no room and is counted at home */
	UNIT_HELD,					/* its room at home is set aside beforehand */
} UnitState;


/*-------------------------------------------------------------------------
 * Room
 *-------------------------------------------------------------------------
 */

/* A little less than what is kept in the end, for used is added up and down. */
static bool
within(const TierSolverModel *model, int row, double used)
{
	double		limit = model->limit[row];

	return used <= limit + 0.5 * TIER_SOLVER_SLACK * limit;
}

static bool
has_room(const TierSolverModel *model, const double *used, int unit, int tier)
{
	for (int r = 0; r < model->nresources; r++)
	{
		int			row = tier * model->nresources + r;
		double		use = tier_solver_use(model, unit, tier, r);

		/* What needs nothing has room also where there is too much already. */
		if (use > 0.0 && !within(model, row, used[row] + use))
			return false;
	}
	return true;
}

static void
add_use(const TierSolverModel *model, double *used, int unit, int tier,
		double sign)
{
	for (int r = 0; r < model->nresources; r++)
		used[tier * model->nresources + r] += sign * tier_solver_use(model, unit, tier, r);
}

static bool
is_over_full(const TierSolverModel *model, const double *used, int tier)
{
	for (int r = 0; r < model->nresources; r++)
		if (!within(model, tier * model->nresources + r, used[tier * model->nresources + r]))
			return true;
	return false;
}

/* Is a unit, which is counted there, on a tier with too much of what it uses? */
static bool
is_squeezed(const TierSolverModel *model, const double *used, int unit, int tier)
{
	for (int r = 0; r < model->nresources; r++)
	{
		int			row = tier * model->nresources + r;

		if (!within(model, row, used[row]) &&
			tier_solver_use(model, unit, tier, r) > 0.0)
			return true;
	}
	return false;
}

/* What a unit uses of a tier, all resources together. */
static double
load_on(const TierSolverModel *model, int unit, int tier)
{
	double		load = 0.0;

	for (int r = 0; r < model->nresources; r++)
		load += model->weight[r] * tier_solver_use(model, unit, tier, r);
	return load;
}


/*-------------------------------------------------------------------------
 * What a unit wants
 *-------------------------------------------------------------------------
 */

/*
 * The price for comparisons.  An unknown price is no reason to leave a tier
 * and none to go there.
 */
static double
comparable_price(const TierSolverModel *model, int unit, int tier)
{
	const double *prices = model->problem->price;
	double		price = prices == NULL ? 0.0 : prices[(size_t) unit * model->ntiers + tier];

	if (price > 0.0)
		return price;
	return tier == tier_solver_home(model, unit) ? 0.0 : INFINITY;
}

/* Of two tiers whose costs count as equal, is a the better one? */
static bool
is_preferable(const TierSolverModel *model, int unit, int a, int b)
{
	double		price_a = comparable_price(model, unit, a);
	double		price_b = comparable_price(model, unit, b);
	int			home = tier_solver_home(model, unit);
	double		cost_a;
	double		cost_b;

	if (price_a != price_b)
		return price_a < price_b;
	if (a == home || b == home)
		return a == home;

	cost_a = tier_solver_cost(model, unit, a);
	cost_b = tier_solver_cost(model, unit, b);
	if (cost_a != cost_b)
		return cost_a < cost_b;
	return a < b;
}

/*
 * The best tier with room beside what is used already, -1 if there is none.
 * Without `used`, the tier that the unit wants most.
 */
static int
choose_tier(const TierSolverModel *model, int unit, const double *used)
{
	bool		possible[TIER_SOLVER_MAX_TIERS];
	double		least = INFINITY;
	int			choice = -1;

	for (int tier = 0; tier < model->ntiers; tier++)
	{
		double		cost = tier_solver_cost(model, unit, tier);

		possible[tier] = !isinf(cost) &&
			(used == NULL || has_room(model, used, unit, tier));
		if (possible[tier] && cost < least)
			least = cost;
	}
	if (isinf(least))
		return -1;

	for (int tier = 0; tier < model->ntiers; tier++)
	{
		if (!possible[tier] ||
			tier_solver_cost(model, unit, tier) > least + tier_solver_epsilon(model))
			continue;
		if (choice < 0 || is_preferable(model, unit, tier, choice))
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
rank_key(const TierSolverModel *model, int unit, RankBy by)
{
	double		best = INFINITY;
	double		next = INFINITY;
	double		worst = 0.0;
	double		load;
	double		saved;
	int			best_tier = -1;

	for (int tier = 0; tier < model->ntiers; tier++)
	{
		double		cost = tier_solver_friction_cost(model, unit, tier);

		if (isinf(cost) || !tier_solver_fits_alone(model, unit, tier))
			continue;
		if (cost < best)
		{
			next = best;
			best = cost;
			best_tier = tier;
		}
		else if (cost < next)
			next = cost;
		if (cost > worst)
			worst = cost;
	}

	if (best_tier < 0)
		return 0.0;
	if (isinf(next))
		return INFINITY;

	saved = (by == RANK_BY_USE_TO_WORST ? worst : next) - best;
	if (by == RANK_TOTAL_TO_NEXT || saved <= 0.0)
		return saved;
	load = load_on(model, unit, best_tier);
	return load > 0.0 ? saved / load : INFINITY;
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

/* To be released by the caller. */
static Ranked *
rank_units(const TierSolverModel *model, RankBy by)
{
	Ranked	   *order = tier_solver_alloc(model->run, model->nunits, sizeof(Ranked));

	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			wanted = choose_tier(model, unit, NULL);

		order[unit].key = rank_key(model, unit, by);
		order[unit].at_home = wanted >= 0 && wanted == tier_solver_home(model, unit);
		order[unit].unit = unit;
	}
	qsort(order, model->nunits, sizeof(Ranked), compare_ranked);
	tier_solver_spend(model->run, 2.0 * model->nunits * model->ntiers);
	return order;
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
let_units_choose(const TierSolverModel *model, const Ranked *order,
				 UnitState *state, TierSolverPlacement *placement)
{
	memset(placement->used, 0, sizeof(placement->used));

	for (int unit = 0; unit < model->nunits; unit++)
	{
		if (state[unit] != UNIT_HELD)
			continue;
		placement->tier[unit] = tier_solver_home(model, unit);
		add_use(model, placement->used, unit, placement->tier[unit], 1.0);
	}

	for (int i = 0; i < model->nunits; i++)
	{
		int			unit = order[i].unit;
		int			tier;

		if (state[unit] == UNIT_HELD)
			continue;
		tier = choose_tier(model, unit, placement->used);
		state[unit] = tier < 0 ? UNIT_STRANDED : UNIT_CHOOSES;
		if (tier < 0)
			tier = tier_solver_home(model, unit);
		placement->tier[unit] = tier;
		if (tier >= 0)
			add_use(model, placement->used, unit, tier, 1.0);
	}
	tier_solver_spend(model->run, (double) model->nunits * model->ntiers);
}

/*
 * Did somebody take, in moving, the room of a unit that has to stay?  Then
 * hold such units where they are, or, as a last resort, all; true if there
 * were any.
 */
static bool
hold_stranded(const TierSolverModel *model, bool all,
			  const TierSolverPlacement *placement, UnitState *state)
{
	bool		over_full[TIER_SOLVER_MAX_TIERS] = {false};
	bool		violated[TIER_SOLVER_MAX_TIERS] = {false};
	bool		any = false;

	for (int tier = 0; tier < model->ntiers; tier++)
		over_full[tier] = is_over_full(model, placement->used, tier);

	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			tier = placement->tier[unit];

		if (tier >= 0 && tier != tier_solver_home(model, unit) &&
			over_full[tier] && is_squeezed(model, placement->used, unit, tier))
			violated[tier] = any = true;
	}
	if (!any)
		return false;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			home = tier_solver_home(model, unit);

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
place_in_order(const TierSolverModel *model, const Ranked *order,
			   UnitState *state, TierSolverPlacement *placement)
{
	int			round = 0;

	do
		let_units_choose(model, order, state, placement);
	while (hold_stranded(model, ++round > MAX_HOLD_ROUNDS, placement, state));
}

void
tier_solver_placement_measure(const TierSolverModel *model,
							  TierSolverPlacement *placement)
{
	placement->homeless = 0;
	placement->overflow = 0.0;
	placement->cost = 0.0;
	placement->friction = 0.0;
	memset(placement->used, 0, sizeof(placement->used));

	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			tier = placement->tier[unit];

		if (tier >= 0)
			add_use(model, placement->used, unit, tier, 1.0);
		if (tier < 0 || isinf(tier_solver_cost(model, unit, tier)))
		{
			placement->homeless++;
			continue;
		}
		placement->cost += tier_solver_cost(model, unit, tier);
		if (tier != tier_solver_home(model, unit))
			placement->friction += tier_solver_epsilon(model);
	}

	for (int row = 0; row < model->nrows; row++)
	{
		double		limit = model->limit[row];

		if (placement->used[row] > limit + TIER_SOLVER_SLACK * limit)
			placement->overflow += (placement->used[row] - limit) *
				model->weight[row % model->nresources];
	}
	tier_solver_spend(model->run, model->nunits);
}

bool
tier_solver_placement_is_better(const TierSolverPlacement *a,
								const TierSolverPlacement *b)
{
	double		sum_a = a->cost + a->friction;
	double		sum_b = b->cost + b->friction;

	if (a->homeless != b->homeless)
		return a->homeless < b->homeless;
	if (fabs(a->overflow - b->overflow) >
		TIER_SOLVER_SLACK * (a->overflow + b->overflow))
		return a->overflow < b->overflow;
	return sum_b - sum_a > TIER_SOLVER_ROUNDING * sum_b;
}


/*-------------------------------------------------------------------------
 * Improving a placement
 *-------------------------------------------------------------------------
 */

static void
move_unit(const TierSolverModel *model, TierSolverPlacement *placement, int unit,
		  int tier)
{
	if (placement->tier[unit] >= 0)
		add_use(model, placement->used, unit, placement->tier[unit], -1.0);
	placement->tier[unit] = tier;
	add_use(model, placement->used, unit, tier, 1.0);
}

/* Moves a unit to the best tier with room; true if that is another one. */
static bool
improve_by_move(const TierSolverModel *model, TierSolverPlacement *placement,
				int unit)
{
	int			from = placement->tier[unit];
	int			to;

	if (from >= 0)
		add_use(model, placement->used, unit, from, -1.0);
	to = choose_tier(model, unit, placement->used);
	if (from >= 0)
		add_use(model, placement->used, unit, from, 1.0);

	if (to < 0 || to == from)
		return false;
	move_unit(model, placement, unit, to);
	return true;
}

/* From tiers that are too full, those leave first that gain least. */
static void
relieve(const TierSolverModel *model, const Ranked *order,
		TierSolverPlacement *placement)
{
	for (int i = model->nunits - 1; i >= 0; i--)
	{
		int			unit = order[i].unit;
		int			tier = placement->tier[unit];

		if (tier >= 0 && is_over_full(model, placement->used, tier))
			(void) improve_by_move(model, placement, unit);
	}
	tier_solver_spend(model->run, (double) model->nunits * model->ntiers);
}

/*
 * Each step leads to a placement that is better and has room for those who
 * move.
 */
static void
improve_in_order(const TierSolverModel *model, const Ranked *order,
				 TierSolverPlacement *placement)
{
	bool		improved = true;

	relieve(model, order, placement);

	for (int round = 0; improved && round < MAX_IMPROVE_ROUNDS; round++)
	{
		improved = false;
		for (int i = 0; i < model->nunits; i++)
		{
			if (!tier_solver_spend(model->run, model->ntiers))
				return;
			if (improve_by_move(model, placement, order[i].unit))
				improved = true;
		}
	}
}

void
tier_solver_improve(const TierSolverModel *model, TierSolverPlacement *placement)
{
	Ranked	   *order = rank_units(model, RANK_BY_USE_TO_NEXT);

	improve_in_order(model, order, placement);
	tier_solver_release(model->run, order);
	tier_solver_placement_measure(model, placement);
}

void
tier_solver_settle(const TierSolverModel *model, TierSolverPlacement *placement)
{
	bool		changed = true;

	for (int round = 0; changed && round < MAX_IMPROVE_ROUNDS; round++)
	{
		changed = false;
		for (int unit = 0; unit < model->nunits; unit++)
			if (improve_by_move(model, placement, unit))
				changed = true;
		if (!tier_solver_spend(model->run, (double) model->nunits * model->ntiers))
			break;
	}
	tier_solver_placement_measure(model, placement);
}


/*-------------------------------------------------------------------------
 * Several placements
 *-------------------------------------------------------------------------
 */

void
tier_solver_stay(const TierSolverModel *model, bool improved,
				 TierSolverPlacement *placement)
{
	Ranked	   *order = rank_units(model, RANK_BY_USE_TO_NEXT);
	UnitState  *state = tier_solver_alloc(model->run, model->nunits, sizeof(UnitState));

	for (int unit = 0; unit < model->nunits; unit++)
	{
		int			home = tier_solver_home(model, unit);

		state[unit] = home >= 0 && !isinf(tier_solver_cost(model, unit, home)) ?
			UNIT_HELD : UNIT_CHOOSES;
	}
	place_in_order(model, order, state, placement);
	if (improved)
		improve_in_order(model, order, placement);
	tier_solver_placement_measure(model, placement);
	tier_solver_release(model->run, state);
	tier_solver_release(model->run, order);
}

void
tier_solver_greedy(const TierSolverModel *model, TierSolverPlacement *best,
				   TierSolverPlacement *other)
{
	UnitState  *state = tier_solver_alloc(model->run, model->nunits, sizeof(UnitState));

	for (int by = 0; by < NUM_RANKINGS; by++)
	{
		Ranked	   *order = rank_units(model, (RankBy) by);

		for (int unit = 0; unit < model->nunits; unit++)
			state[unit] = UNIT_CHOOSES;
		place_in_order(model, order, state, other);
		improve_in_order(model, order, other);
		tier_solver_placement_measure(model, other);
		tier_solver_release(model->run, order);

		if (tier_solver_placement_is_better(other, best))
		{
			TierSolverPlacement swap = *best;

			*best = *other;
			*other = swap;
		}
		if (!tier_solver_spend(model->run, 0.0))
			break;
	}
	tier_solver_release(model->run, state);
}

int
tier_solver_pushed_out(const TierSolverModel *model,
					   const TierSolverPlacement *placement, int *pushed_out_of)
{
	Ranked	   *order = rank_units(model, RANK_BY_USE_TO_NEXT);
	double		filled[TIER_SOLVER_MAX_ROWS] = {0.0};
	int			count = 0;

	for (int i = 0; i < model->nunits; i++)
	{
		int			unit = order[i].unit;
		int			tier = placement->tier[unit];
		int			wanted = choose_tier(model, unit, NULL);
		bool		pushed = false;

		if (tier >= 0 && tier == wanted)
			pushed = !has_room(model, filled, unit, tier);
		else if (wanted >= 0)
			pushed = !has_room(model, placement->used, unit, wanted);
		if (tier >= 0)
			add_use(model, filled, unit, tier, 1.0);

		pushed_out_of[unit] = pushed ? wanted : -1;
		count += pushed;
	}
	tier_solver_release(model->run, order);
	return count;
}
