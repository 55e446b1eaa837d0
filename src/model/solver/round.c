/*-------------------------------------------------------------------------
 *
 * model/solver/round.c
 *		From prices, and units that split, to a placement.
 *
 * All units but those with ties are where they are cheapest at the prices, and
 * that nearly fits: what does not split is as good as settled.  Those that do,
 * no more than rows have a price, take the best option that has room, the
 * largest first.  If something is too full then, units leave it that lose least
 * for what they free.  What remains of room is given to those who gain most.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "src/model/solver/private.h"

/* Units that leave a row that is too full, at most. */
#define MAX_REPAIRS 60

/* A unit that could do with a cheaper option. */
typedef struct Wish
{
	double		loss;			/* at the prices: less is better */
	int			option;
} Wish;

typedef struct Rounding
{
	const TierSolverDual *dual;
	const TierSolverCore *core;
	int		   *option;
	double		used[TIER_SOLVER_MAX_ROWS];
} Rounding;

static void
add_use(Rounding *rounding, int option, double sign)
{
	const TierSolverCore *core = rounding->core;
	double	   *used = rounding->used + core->tier[option] * core->nresources;
	const double *use = core->use + (size_t) option * core->nresources;

	for (int r = 0; r < core->nresources; r++)
		used[r] += sign * use[r];
}

/* By how much a row would be too full if it had so much more. */
static double
excess_with(const Rounding *rounding, int row, double more)
{
	const TierSolverCore *core = rounding->core;
	double		excess = rounding->used[row] + more - core->room[row];

	return excess > core->slack[row] ? excess : 0.0;
}

static bool
has_room(const Rounding *rounding, int option)
{
	const TierSolverCore *core = rounding->core;
	const double *use = core->use + (size_t) option * core->nresources;

	for (int r = 0; r < core->nresources; r++)
		if (use[r] > 0.0 &&
			excess_with(rounding, core->tier[option] * core->nresources + r, use[r]) > 0.0)
			return false;
	return true;
}

static void
change_option(Rounding *rounding, int unit, int option)
{
	add_use(rounding, rounding->option[unit], -1.0);
	rounding->option[unit] = option;
	add_use(rounding, option, 1.0);
}

/* The larger the unit, the harder it is to place. */
static double
bulk_of(const Rounding *rounding, int unit)
{
	const TierSolverCore *core = rounding->core;
	double		bulk = 0.0;

	for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
		for (int r = 0; r < core->nresources; r++)
			bulk = fmax(bulk, core->use[(size_t) o * core->nresources + r]);
	return bulk;
}

/* The cheapest option at the prices that has room, or that is allowed. */
static int
best_option(const Rounding *rounding, int unit, bool with_room)
{
	const TierSolverDual *dual = rounding->dual;
	const TierSolverCore *core = rounding->core;
	double		least = INFINITY;
	int			best = -1;

	for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
	{
		double		reduced;

		if (dual->forbidden[o] || (with_room && !has_room(rounding, o)))
			continue;
		reduced = tier_solver_dual_reduced(dual, o);
		if (best < 0 || reduced < least)
		{
			least = reduced;
			best = o;
		}
	}
	return best;
}

/* Units without ties have their key; the others find a place. */
static void
place_all(Rounding *rounding)
{
	const TierSolverDual *dual = rounding->dual;
	const TierSolverCore *core = rounding->core;
	int			waiting[TIER_SOLVER_MAX_ROWS];
	double		bulk[TIER_SOLVER_MAX_ROWS];
	int			n = 0;

	memset(rounding->used, 0, sizeof(rounding->used));
	for (int unit = 0; unit < core->nunits; unit++)
	{
		rounding->option[unit] = dual->key[unit];
		if (dual->ntied[unit] == 0)
			add_use(rounding, dual->key[unit], 1.0);
	}
	for (int i = 0; i < dual->nties; i++)
	{
		int			unit = core->owner[dual->tie[i]];
		double		size = bulk_of(rounding, unit);
		bool		known = false;
		int			at = n;

		for (int k = 0; k < n; k++)
			known |= waiting[k] == unit;
		if (known)
			continue;
		for (; at > 0 && bulk[at - 1] < size; at--)
		{
			waiting[at] = waiting[at - 1];
			bulk[at] = bulk[at - 1];
		}
		waiting[at] = unit;
		bulk[at] = size;
		n++;
	}
	for (int i = 0; i < n; i++)
	{
		int			option = best_option(rounding, waiting[i], true);

		if (option < 0)
			option = best_option(rounding, waiting[i], false);
		rounding->option[waiting[i]] = option;
		add_use(rounding, option, 1.0);
	}
}

/* How much less, all in all, would be too much if a unit changed its option? */
static double
relief_of(const Rounding *rounding, int from, int to)
{
	const TierSolverCore *core = rounding->core;
	double		relief = 0.0;

	for (int r = 0; r < core->nresources; r++)
	{
		int			row = core->tier[from] * core->nresources + r;

		relief += excess_with(rounding, row, 0.0) -
			excess_with(rounding, row, -core->use[(size_t) from * core->nresources + r]);
		row = core->tier[to] * core->nresources + r;
		relief += excess_with(rounding, row, 0.0) -
			excess_with(rounding, row, core->use[(size_t) to * core->nresources + r]);
	}
	return relief;
}

/* One unit less where too many are; false if that is not possible. */
static bool
repair(Rounding *rounding)
{
	const TierSolverDual *dual = rounding->dual;
	const TierSolverCore *core = rounding->core;
	double		best_rate = INFINITY;
	int			best = -1;

	for (int unit = 0; unit < core->nunits; unit++)
	{
		int			from = rounding->option[unit];
		double		here;
		bool		involved = false;

		for (int r = 0; r < core->nresources && !involved; r++)
			involved = core->use[(size_t) from * core->nresources + r] > 0.0 &&
				excess_with(rounding, core->tier[from] * core->nresources + r, 0.0) > 0.0;
		if (!involved)
			continue;
		here = tier_solver_dual_reduced(dual, from);
		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
		{
			double		relief;
			double		rate;

			if (o == from || dual->forbidden[o])
				continue;
			relief = relief_of(rounding, from, o);
			if (relief <= 1e-12)
				continue;
			rate = (tier_solver_dual_reduced(dual, o) - here + 1e-9) / relief;
			if (rate < best_rate)
			{
				best_rate = rate;
				best = o;
			}
		}
	}
	tier_solver_spend(rounding->dual->run, core->noptions);
	if (best < 0)
		return false;
	change_option(rounding, core->owner[best], best);
	return true;
}

static bool
fits(const Rounding *rounding)
{
	for (int row = 0; row < rounding->core->nrows; row++)
		if (excess_with(rounding, row, 0.0) > 0.0)
			return false;
	return true;
}

static int
compare_wishes(const void *pa, const void *pb)
{
	const Wish *a = (const Wish *) pa;
	const Wish *b = (const Wish *) pb;

	if (a->loss != b->loss)
		return a->loss < b->loss ? -1 : 1;
	return (a->option > b->option) - (a->option < b->option);
}

/* Who could be cheaper, in the order of what that takes of scarce room. */
static void
fill(Rounding *rounding)
{
	const TierSolverDual *dual = rounding->dual;
	const TierSolverCore *core = rounding->core;
	Wish	   *wishes = tier_solver_alloc(core->run, core->noptions, sizeof(Wish));
	int			n = 0;

	for (int unit = 0; unit < core->nunits; unit++)
	{
		int			from = rounding->option[unit];

		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
		{
			if (dual->forbidden[o] || core->cost[o] >= core->cost[from] ||
				!has_room(rounding, o))
				continue;
			wishes[n].loss = tier_solver_dual_reduced(dual, o) -
				tier_solver_dual_reduced(dual, from);
			wishes[n].option = o;
			n++;
		}
	}
	qsort(wishes, n, sizeof(Wish), compare_wishes);
	for (int i = 0; i < n; i++)
	{
		int			option = wishes[i].option;
		int			unit = core->owner[option];
		int			from = rounding->option[unit];

		if (core->cost[option] >= core->cost[from])
			continue;
		add_use(rounding, from, -1.0);
		if (has_room(rounding, option))
			rounding->option[unit] = option;
		add_use(rounding, rounding->option[unit], 1.0);
	}
	tier_solver_release(core->run, wishes);
	tier_solver_spend(core->run, core->noptions);
}

bool
tier_solver_core_check(const TierSolverCore *core, const int *option,
					   double *used, double *cost)
{
	*cost = core->fixed_cost;
	memset(used, 0, TIER_SOLVER_MAX_ROWS * sizeof(double));
	for (int unit = 0; unit < core->nunits; unit++)
	{
		int			o = option[unit];

		*cost += core->cost[o];
		for (int r = 0; r < core->nresources; r++)
			used[core->tier[o] * core->nresources + r] +=
				core->use[(size_t) o * core->nresources + r];
	}
	for (int row = 0; row < core->nrows; row++)
		if (used[row] > 0.0 && used[row] > core->room[row] + core->slack[row])
			return false;
	return true;
}

bool
tier_solver_round(const TierSolverDual *dual, int *option, double *cost)
{
	Rounding	rounding;
	int			repairs = 0;

	rounding.dual = dual;
	rounding.core = dual->core;
	rounding.option = option;
	place_all(&rounding);
	while (!fits(&rounding))
		if (repairs++ >= MAX_REPAIRS || dual->run->interrupted || !repair(&rounding))
			return false;
	fill(&rounding);
	return tier_solver_core_check(dual->core, option, rounding.used, cost);
}
