/*-------------------------------------------------------------------------
 *
 * model/solver/core.c
 *		What there is to decide, without what is decided.
 *
 * Left out are, in this order:
 *
 * - options that alone exceed a limit, or what the units with a single option
 *   leave of it: no placement that keeps the limits contains them;
 * - rows that cannot bind, because all options that are left fit together;
 * - options that are dominated: another one costs no more and takes no more of
 *   anything.  Two tiers share no row, so that is only possible for another one
 *   that takes nothing of any row that can bind.  A mixture of several options
 *   can dominate only if all of them are of that kind, so what is known as
 *   LP-dominance removes nothing else;
 * - units with a single option.
 *
 * Each of them may make more of the others possible, so it is done again, a
 * few times.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <string.h>

#include "src/model/solver/private.h"

#define MAX_REDUCTIONS 4

/*
 * Equal costs make prices jump to and fro between equal choices; a trifle of
 * this share of what is at stake, another one for each option, prevents that.
 * Bounds are computed without it.
 */
#define TRIFLE 1e-10

/* What is known while the core is being made; `alive` is by unit and tier. */
typedef struct Reduction
{
	const TierSolverModel *model;
	const double *limit;
	const unsigned char *held;
	unsigned char *alive;
	unsigned char *count;		/* by unit: options alive; 0 for held ones */
	double		held_use[TIER_SOLVER_MAX_ROWS]; /* of units that are held */
	double		fixed[TIER_SOLVER_MAX_ROWS];	/* and of all that is decided */
	double		demand[TIER_SOLVER_MAX_ROWS];	/* all options that are left */
	bool		binding[TIER_SOLVER_MAX_ROWS];
} Reduction;

static unsigned char *
alive_of(const Reduction *reduction, int unit)
{
	return reduction->alive + (size_t) unit * reduction->model->ntiers;
}

static double
room_of(const Reduction *reduction, int row)
{
	double		room = reduction->limit[row] - reduction->fixed[row];

	/* NaN: infinite less infinite */
	return room > 0.0 ? room : isinf(reduction->limit[row]) ? INFINITY : 0.0;
}

static bool
fits_into_room(const Reduction *reduction, int unit, int tier)
{
	const TierSolverModel *model = reduction->model;

	for (int r = 0; r < model->nresources; r++)
	{
		int			row = tier * model->nresources + r;

		if (tier_solver_use(model, unit, tier, r) >
			room_of(reduction, row) + 0.5 * TIER_SOLVER_SLACK * reduction->limit[row])
			return false;
	}
	return true;
}

/* As if it were alone. */
static bool
fits_into_limit(const Reduction *reduction, int unit, int tier)
{
	const TierSolverModel *model = reduction->model;

	for (int r = 0; r < model->nresources; r++)
		if (tier_solver_use(model, unit, tier, r) >
			reduction->limit[tier * model->nresources + r])
			return false;
	return true;
}

static bool
is_barred(const Reduction *reduction, const bool *barred, int unit, int tier)
{
	const TierSolverModel *model = reduction->model;

	if (tier == tier_solver_home(model, unit))
		return false;
	for (int r = 0; r < model->nresources; r++)
		if (barred[tier * model->nresources + r] &&
			tier_solver_use(model, unit, tier, r) > 0.0)
			return true;
	return false;
}

/* What may be chosen at all, and what is used by those who may not choose. */
static void
begin_reduction(Reduction *reduction, const bool *barred, const int *tier_of)
{
	const TierSolverModel *model = reduction->model;

	memset(reduction->fixed, 0, sizeof(reduction->fixed));
	for (int unit = 0; unit < model->nunits; unit++)
	{
		unsigned char *alive = alive_of(reduction, unit);

		reduction->count[unit] = 0;
		if (reduction->held[unit])
		{
			memset(alive, 0, model->ntiers);
			for (int r = 0; r < model->nresources && tier_of[unit] >= 0; r++)
				reduction->fixed[tier_of[unit] * model->nresources + r] +=
					tier_solver_use(model, unit, tier_of[unit], r);
			continue;
		}
		for (int tier = 0; tier < model->ntiers; tier++)
		{
			alive[tier] = !isinf(tier_solver_cost(model, unit, tier)) &&
				fits_into_limit(reduction, unit, tier) &&
				!is_barred(reduction, barred, unit, tier);
			reduction->count[unit] += alive[tier];
		}
	}
	memcpy(reduction->held_use, reduction->fixed, sizeof(reduction->fixed));
}

/* Units with one option are decided; true if there are new ones. */
static bool
fix_single_options(Reduction *reduction, unsigned char *is_fixed)
{
	const TierSolverModel *model = reduction->model;
	bool		any = false;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		const unsigned char *alive = alive_of(reduction, unit);

		if (reduction->count[unit] != 1 || is_fixed[unit])
			continue;
		is_fixed[unit] = any = true;
		for (int tier = 0; tier < model->ntiers; tier++)
			for (int r = 0; r < model->nresources && alive[tier]; r++)
				reduction->fixed[tier * model->nresources + r] +=
					tier_solver_use(model, unit, tier, r);
	}
	return any;
}

/*
 * A unit of which no option would be left keeps all of them: then there is no
 * solution, and the dual says why.
 */
static void
remove_too_large(Reduction *reduction)
{
	const TierSolverModel *model = reduction->model;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		unsigned char *alive = alive_of(reduction, unit);
		bool		fits[TIER_SOLVER_MAX_TIERS];
		int			left = 0;

		if (reduction->count[unit] < 2)
			continue;
		for (int tier = 0; tier < model->ntiers; tier++)
		{
			fits[tier] = alive[tier] && fits_into_room(reduction, unit, tier);
			left += fits[tier];
		}
		if (left == 0 || left == reduction->count[unit])
			continue;
		for (int tier = 0; tier < model->ntiers; tier++)
			alive[tier] = fits[tier];
		reduction->count[unit] = left;
	}
}

/* A row binds if not all fits, or if what is decided exceeds it already. */
static void
find_binding_rows(Reduction *reduction)
{
	const TierSolverModel *model = reduction->model;
	double	   *demand = reduction->demand;

	memset(demand, 0, sizeof(reduction->demand));
	for (int unit = 0; unit < model->nunits; unit++)
	{
		const unsigned char *alive = alive_of(reduction, unit);

		for (int tier = 0; reduction->count[unit] > 1 && tier < model->ntiers; tier++)
			for (int r = 0; alive[tier] && r < model->nresources; r++)
				demand[tier * model->nresources + r] += tier_solver_use(model, unit, tier, r);
	}
	for (int row = 0; row < model->nrows; row++)
		reduction->binding[row] = demand[row] > 0.0 &&
			demand[row] > room_of(reduction, row);
}

static bool
takes_nothing(const Reduction *reduction, int unit, int tier)
{
	const TierSolverModel *model = reduction->model;

	for (int r = 0; r < model->nresources; r++)
		if (reduction->binding[tier * model->nresources + r] &&
			tier_solver_use(model, unit, tier, r) > 0.0)
			return false;
	return true;
}

/* Of equal ones that take nothing, the one at home stays, else the first. */
static void
remove_dominated(Reduction *reduction)
{
	const TierSolverModel *model = reduction->model;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		unsigned char *alive = alive_of(reduction, unit);
		int			home = tier_solver_home(model, unit);
		double		least = INFINITY;
		int			best = -1;

		if (reduction->count[unit] < 2)
			continue;
		for (int tier = 0; tier < model->ntiers; tier++)
		{
			double		cost = tier_solver_friction_cost(model, unit, tier);

			if (alive[tier] && takes_nothing(reduction, unit, tier) &&
				(cost < least || (cost == least && tier == home)))
			{
				least = cost;
				best = tier;
			}
		}
		for (int tier = 0; best >= 0 && tier < model->ntiers; tier++)
		{
			if (!alive[tier] || tier == best ||
				tier_solver_friction_cost(model, unit, tier) < least)
				continue;
			alive[tier] = 0;
			reduction->count[unit]--;
		}
	}
}

static void
reduce(Reduction *reduction, unsigned char *is_fixed)
{
	const TierSolverModel *model = reduction->model;

	for (int round = 0; round < MAX_REDUCTIONS; round++)
	{
		bool		fixed = fix_single_options(reduction, is_fixed);

		if (round > 0 && !fixed)
			break;
		remove_too_large(reduction);
		(void) fix_single_options(reduction, is_fixed);
		find_binding_rows(reduction);
		remove_dominated(reduction);
		if (!tier_solver_spend(model->run, 3.0 * model->nunits * model->ntiers))
			break;
	}
	(void) fix_single_options(reduction, is_fixed);
	find_binding_rows(reduction);
}

/* Between 0 and 1, the same for the same unit and tier. */
static double
trifle_of(int unit, int tier)
{
	unsigned int h = (unsigned int) unit * 2654435761u + (unsigned int) tier * 40503u + 12345u;

	h ^= h >> 16;
	h *= 2246822519u;
	h ^= h >> 13;
	h *= 3266489917u;
	h ^= h >> 16;
	return h / 4294967296.0;
}

static TierSolverCore *
allocate(TierSolverRun *run, int nunits, int noptions, int nresources)
{
	TierSolverCore *core = tier_solver_alloc(run, 1, sizeof(TierSolverCore));

	memset(core, 0, sizeof(*core));
	core->run = run;
	core->nunits = nunits;
	core->noptions = noptions;
	core->nresources = nresources;
	core->unit = tier_solver_alloc(run, nunits, sizeof(int));
	core->first = tier_solver_alloc(run, (size_t) nunits + 1, sizeof(int));
	core->owner = tier_solver_alloc(run, noptions, sizeof(int));
	core->tier = tier_solver_alloc(run, noptions, 1);
	core->cost = tier_solver_alloc(run, noptions, sizeof(double));
	core->work = tier_solver_alloc(run, noptions, sizeof(double));
	core->use = tier_solver_alloc(run, (size_t) noptions * nresources, sizeof(double));
	core->first[0] = 0;
	return core;
}

void
tier_solver_core_free(TierSolverCore *core)
{
	TierSolverRun *run = core->run;

	tier_solver_release(run, core->unit);
	tier_solver_release(run, core->first);
	tier_solver_release(run, core->owner);
	tier_solver_release(run, core->tier);
	tier_solver_release(run, core->cost);
	tier_solver_release(run, core->work);
	tier_solver_release(run, core->use);
	if (core->decided != NULL)
		tier_solver_release(run, core->decided);
	tier_solver_release(run, core);
}

/* The mean of what a unit has at stake, 1 if that is nothing. */
static double
cost_scale_of(const Reduction *reduction, int nactive)
{
	const TierSolverModel *model = reduction->model;
	double		sum = 0.0;
	double		largest = 0.0;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		const unsigned char *alive = alive_of(reduction, unit);
		double		least = INFINITY;
		double		most = 0.0;

		if (reduction->count[unit] < 2)
			continue;
		for (int tier = 0; tier < model->ntiers; tier++)
		{
			double		cost = tier_solver_friction_cost(model, unit, tier);

			if (!alive[tier])
				continue;
			least = fmin(least, cost);
			most = fmax(most, cost);
		}
		sum += (most - least) / nactive;
		largest = fmax(largest, most);
	}
	sum = fmax(sum, 1e-12 * largest);
	return sum > 1e-280 ? sum : 1.0;
}

/* Fills in the units that have a choice, and the costs of those that have none. */
static void
fill(TierSolverCore *core, const Reduction *reduction, const int *tier_of)
{
	const TierSolverModel *model = reduction->model;
	int			at = 0;
	int			option = 0;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		const unsigned char *alive = alive_of(reduction, unit);
		int			home = tier_solver_home(model, unit);

		core->decided[unit] = reduction->held[unit] ? tier_of[unit] : -1;
		if (reduction->held[unit] && tier_of[unit] >= 0 &&
			!isinf(tier_solver_cost(model, unit, tier_of[unit])))
			core->fixed_cost += tier_solver_friction_cost(model, unit, tier_of[unit]) /
				core->cost_scale;
		for (int tier = 0; reduction->count[unit] > 0 && tier < model->ntiers; tier++)
		{
			double		cost = tier_solver_friction_cost(model, unit, tier) / core->cost_scale;

			if (!alive[tier])
				continue;
			if (reduction->count[unit] == 1)
			{
				core->decided[unit] = tier;
				core->fixed_cost += cost;
				continue;
			}
			core->owner[option] = at;
			core->tier[option] = tier;
			core->cost[option] = cost;
			core->work[option] = tier == home ? cost :
				cost + TRIFLE * (1.0 + trifle_of(unit, tier));
			for (int r = 0; r < core->nresources; r++)
			{
				int			row = tier * core->nresources + r;

				core->use[(size_t) option * core->nresources + r] =
					!reduction->binding[row] ? 0.0 :
					tier_solver_use(model, unit, tier, r) / core->scale[row];
			}
			option++;
		}
		if (reduction->count[unit] > 1)
		{
			core->unit[at++] = unit;
			core->first[at] = option;
		}
	}
}

TierSolverCore *
tier_solver_core_make(const TierSolverModel *model, const double *limit,
					  const bool *barred, const unsigned char *held,
					  const int *tier)
{
	TierSolverRun *run = model->run;
	Reduction	reduction;
	TierSolverCore *core;
	unsigned char *is_fixed = tier_solver_alloc(run, model->nunits, 1);
	int			nactive = 0;
	int			noptions = 0;

	reduction.model = model;
	reduction.limit = limit;
	reduction.held = held;
	reduction.alive = tier_solver_alloc(run, (size_t) model->nunits * model->ntiers, 1);
	reduction.count = tier_solver_alloc(run, model->nunits, 1);
	memset(is_fixed, 0, model->nunits);
	begin_reduction(&reduction, barred, tier);
	reduce(&reduction, is_fixed);

	for (int unit = 0; unit < model->nunits; unit++)
	{
		if (reduction.count[unit] < 2)
			continue;
		nactive++;
		noptions += reduction.count[unit];
	}
	core = allocate(run, nactive, noptions, model->nresources);
	core->decided = tier_solver_alloc(run, model->nunits, sizeof(int));
	core->ntiers = model->ntiers;
	core->nrows = model->nrows;
	core->cost_scale = cost_scale_of(&reduction, nactive);
	for (int row = 0; row < core->nrows; row++)
	{
		double		over = reduction.fixed[row] - limit[row];

		core->over[row] = over > TIER_SOLVER_SLACK * limit[row] ? over : 0.0;
		if (core->over[row] > 0.0 && reduction.fixed[row] > reduction.held_use[row])
			core->overcommitted = true;
		core->scale[row] = 1.0;
		core->room[row] = INFINITY;
		core->slack[row] = 0.0;
		if (!reduction.binding[row])
			continue;
		core->nbinding++;

		/*
		 * Of a limit that is next to nothing, shares would be next to
		 * infinite.
		 */
		core->scale[row] = fmax(limit[row], 1e-9 * reduction.demand[row]);
		core->room[row] = (limit[row] - reduction.fixed[row]) / core->scale[row];
		core->slack[row] = 0.5 * TIER_SOLVER_SLACK * limit[row] / core->scale[row];
	}
	fill(core, &reduction, tier);

	tier_solver_release(run, is_fixed);
	tier_solver_release(run, reduction.alive);
	tier_solver_release(run, reduction.count);
	return core;
}

TierSolverCore *
tier_solver_core_shrink(const TierSolverCore *core, const unsigned char *drop,
						int *option_of)
{
	TierSolverCore *small;
	int			nunits = 0;
	int			noptions = 0;

	for (int u = 0; u < core->nunits; u++)
	{
		int			left = 0;

		for (int o = core->first[u]; o < core->first[u + 1]; o++)
		{
			left += !drop[o];
			if (!drop[o])
				option_of[u] = o;
		}
		if (left > 1)
		{
			option_of[u] = -1;
			nunits++;
			noptions += left;
		}
	}

	small = allocate(core->run, nunits, noptions, core->nresources);
	small->ntiers = core->ntiers;
	small->nrows = core->nrows;
	small->cost_scale = core->cost_scale;
	small->fixed_cost = core->fixed_cost;
	small->nbinding = core->nbinding;
	memcpy(small->room, core->room, sizeof(core->room));
	memcpy(small->scale, core->scale, sizeof(core->scale));
	memcpy(small->slack, core->slack, sizeof(core->slack));
	memcpy(small->over, core->over, sizeof(core->over));
	nunits = noptions = 0;
	for (int u = 0; u < core->nunits; u++)
	{
		int			only = option_of[u];

		for (int o = core->first[u]; only < 0 && o < core->first[u + 1]; o++)
		{
			if (drop[o])
				continue;
			small->owner[noptions] = nunits;
			small->tier[noptions] = core->tier[o];
			small->cost[noptions] = core->cost[o];
			small->work[noptions] = core->work[o];
			memcpy(small->use + (size_t) noptions * core->nresources,
				   core->use + (size_t) o * core->nresources,
				   core->nresources * sizeof(double));
			noptions++;
		}
		if (only < 0)
		{
			small->unit[nunits++] = core->unit[u];
			small->first[nunits] = noptions;
			continue;
		}
		small->fixed_cost += core->cost[only];
		for (int r = 0; r < core->nresources; r++)
			small->room[core->tier[only] * core->nresources + r] -=
				core->use[(size_t) only * core->nresources + r];
	}
	return small;
}
