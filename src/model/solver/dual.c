/*-------------------------------------------------------------------------
 *
 * model/solver/dual.c
 *		The Lagrangian dual: prices of the limits, and the bound they give.
 *
 * For any prices p >= 0 of the rows, every placement that keeps the limits
 * costs at least
 *
 *		L(p) = sum over units of min over options (cost + p * use) - p * room
 *
 * because what it pays for its uses is no more than p * room.  That needs no
 * optimal p and no exact arithmetic: the bound is computed from the prices alone,
 * and what rounding can add is taken off.
 *
 * L is concave and piecewise linear, in as many dimensions as rows can bind,
 * which are few, while the units are many.  It is climbed from corner to corner, a
 * dual simplex with long steps.  A corner is where as many units as rows have a
 * price have a tie, another option exactly as cheap as the key:
 *
 *		(work + p * use)[tie] = (work + p * use)[key]		for each tie
 *
 * is a system of as many equations as prices, of a size that is the number of
 * tight limits and not that of the units.  The same matrix says how the units
 * with ties have to split for the tight rows to be just full; x is the share
 * that goes to the tie.  If all x are shares and no other row is too full, then no
 * price can be improved: the split placement costs as much as the bound.  Else a
 * direction in which L grows starts at what is wrong (a row that is too full gets a
 * price, a tie with a negative share is given up), and it is followed beyond the
 * points at which single units change their key, until L would fall: there is
 * the next corner.  Each step is one pass over the units.
 *
 * If L grows without end there is no placement at all, and the direction is the
 * proof (Farkas): with d >= 0, every placement uses more of d * row than there is.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <string.h>

#include "src/model/solver/private.h"

/* Shares, and uses as shares of a limit, are exact to that. */
#define TOLERANCE 1e-9

/* Steps: so many, and so many for each row that can bind. */
#define MAX_STEPS 100
#define MAX_STEPS_PER_ROW 20

/* What starts a step. */
typedef struct Direction
{
	double		slope;			/* of L at the start, > 0 */
	double		change[TIER_SOLVER_MAX_ROWS];	/* of the prices */
	int			row;			/* gets a price, or -1 */
	int			tie;			/* is given up (place in tie), or -1 */
} Direction;

/* Where it ends: at a tie, or where a price gets 0; step INFINITY: nowhere. */
typedef struct Stop
{
	double		step;
	double		gain;			/* of L */
	int			option;			/* the new tie, or -1 */
	int			tight;			/* place of the price, or -1 */
	int			npassed;		/* of breaks: keys that change on the way */
} Stop;

static double
dot(const double *a, const double *b, int n)
{
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* prices (or a direction) times the uses of an option */
static inline double
charge(const TierSolverCore *core, const double *price, int option)
{
	int			n = core->nresources;

	return dot(price + core->tier[option] * n, core->use + (size_t) option * n, n);
}

double
tier_solver_dual_reduced(const TierSolverDual *dual, int option)
{
	return dual->core->work[option] + charge(dual->core, dual->price, option);
}

static bool
can_bind(const TierSolverCore *core, int row)
{
	return !isinf(core->room[row]);
}


/*-------------------------------------------------------------------------
 * The state
 *-------------------------------------------------------------------------
 */

TierSolverDual *
tier_solver_dual_make(const TierSolverCore *core)
{
	TierSolverRun *run = core->run;
	TierSolverDual *dual = tier_solver_alloc(run, 1, sizeof(TierSolverDual));
	size_t		n = core->nbinding;

	memset(dual, 0, sizeof(*dual));
	dual->run = run;
	dual->core = core;
	dual->forbidden = tier_solver_alloc(run, core->noptions, 1);
	dual->is_tie = tier_solver_alloc(run, core->noptions, 1);
	dual->key = tier_solver_alloc(run, core->nunits, sizeof(int));
	dual->ntied = tier_solver_alloc(run, core->nunits, 1);
	dual->live = tier_solver_alloc(run, core->nunits, sizeof(int));
	dual->passed = tier_solver_alloc(run, core->nunits, sizeof(double));
	dual->breaks = tier_solver_alloc(run, core->noptions, sizeof(TierSolverBreak));
	dual->matrix = tier_solver_alloc(run, n * n, sizeof(double));
	dual->inverse = tier_solver_alloc(run, n * n, sizeof(double));
	memset(dual->forbidden, 0, core->noptions);
	memset(dual->is_tie, 0, core->noptions);
	memset(dual->ntied, 0, core->nunits);
	tier_solver_dual_restart(dual);
	tier_solver_dual_focus(dual);
	return dual;
}

void
tier_solver_dual_free(TierSolverDual *dual)
{
	TierSolverRun *run = dual->run;

	tier_solver_release(run, dual->forbidden);
	tier_solver_release(run, dual->is_tie);
	tier_solver_release(run, dual->key);
	tier_solver_release(run, dual->ntied);
	tier_solver_release(run, dual->live);
	tier_solver_release(run, dual->passed);
	tier_solver_release(run, dual->breaks);
	tier_solver_release(run, dual->matrix);
	tier_solver_release(run, dual->inverse);
	tier_solver_release(run, dual);
}

void
tier_solver_dual_restart(TierSolverDual *dual)
{
	for (int i = 0; i < dual->nties; i++)
	{
		dual->is_tie[dual->tie[i]] = 0;
		dual->ntied[dual->core->owner[dual->tie[i]]] = 0;
	}
	dual->nties = 0;
	for (int row = 0; row < TIER_SOLVER_MAX_ROWS; row++)
		dual->place[row] = -1;
	memset(dual->price, 0, sizeof(dual->price));
	dual->fresh = true;
}

void
tier_solver_dual_focus(TierSolverDual *dual)
{
	const TierSolverCore *core = dual->core;

	dual->nlive = dual->nlive_options = 0;
	dual->dead_cost = 0.0;
	memset(dual->dead_use, 0, sizeof(dual->dead_use));
	for (int unit = 0; unit < core->nunits; unit++)
	{
		int			allowed = 0;
		int			only = -1;

		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
			if (!dual->forbidden[o])
			{
				allowed++;
				only = o;
			}
		if (allowed != 1 || dual->ntied[unit] > 0)
		{
			dual->live[dual->nlive++] = unit;
			dual->nlive_options += core->first[unit + 1] - core->first[unit];
			continue;
		}
		dual->key[unit] = only;
		dual->dead_cost += core->cost[only];
		for (int r = 0; r < core->nresources; r++)
			dual->dead_use[core->tier[only] * core->nresources + r] +=
				core->use[(size_t) only * core->nresources + r];
	}
	tier_solver_spend(dual->run, 0.5 * core->noptions);
}

static void
set_tie(TierSolverDual *dual, int place, int option)
{
	dual->tie[place] = option;
	dual->is_tie[option] = 1;
	dual->ntied[dual->core->owner[option]]++;
}

static void
unset_tie(TierSolverDual *dual, int place)
{
	int			option = dual->tie[place];

	dual->is_tie[option] = 0;
	dual->ntied[dual->core->owner[option]]--;
}

static void
set_tight(TierSolverDual *dual, int place, int row)
{
	dual->tight[place] = row;
	dual->place[row] = place;
}

static void
unset_tight(TierSolverDual *dual, int place)
{
	int			row = dual->tight[place];

	dual->price[row] = 0.0;
	dual->place[row] = -1;
}

/* The tie becomes the key of its unit, and the key a tie. */
static void
swap_key(TierSolverDual *dual, int place)
{
	int			option = dual->tie[place];
	int			unit = dual->core->owner[option];

	dual->tie[place] = dual->key[unit];
	dual->key[unit] = option;
	dual->is_tie[option] = 0;
	dual->is_tie[dual->tie[place]] = 1;
}

/* The cheapest option of a unit that it may have; false: it has none. */
static bool
choose_key(TierSolverDual *dual, int unit)
{
	const TierSolverCore *core = dual->core;
	double		least = INFINITY;
	int			key = -1;

	for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
	{
		double		reduced;

		if (dual->forbidden[o])
			continue;
		reduced = tier_solver_dual_reduced(dual, o);
		if (key < 0 || reduced < least)
		{
			least = reduced;
			key = o;
		}
	}
	dual->key[unit] = key;
	return key >= 0;
}


/*-------------------------------------------------------------------------
 * The system of equations
 *-------------------------------------------------------------------------
 */

/* What a tie uses of a row more than the key of its unit. */
static double
extra_use(const TierSolverDual *dual, int place, int row)
{
	int			option = dual->tie[place];
	int			key = dual->key[dual->core->owner[option]];

	return tier_solver_core_use(dual->core, option, row) -
		tier_solver_core_use(dual->core, key, row);
}

/* matrix is destroyed; false if it is singular. */
static bool
invert(double *matrix, double *inverse, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			inverse[i * n + j] = i == j;

	for (int column = 0; column < n; column++)
	{
		int			pivot = column;
		double		factor;

		for (int i = column + 1; i < n; i++)
			if (fabs(matrix[i * n + column]) > fabs(matrix[pivot * n + column]))
				pivot = i;
		if (!(fabs(matrix[pivot * n + column]) > 1e-14))
			return false;
		for (int j = 0; j < n && pivot != column; j++)
		{
			double		swap = matrix[pivot * n + j];

			matrix[pivot * n + j] = matrix[column * n + j];
			matrix[column * n + j] = swap;
			swap = inverse[pivot * n + j];
			inverse[pivot * n + j] = inverse[column * n + j];
			inverse[column * n + j] = swap;
		}
		factor = 1.0 / matrix[column * n + column];
		for (int j = 0; j < n; j++)
		{
			matrix[column * n + j] *= factor;
			inverse[column * n + j] *= factor;
		}
		for (int i = 0; i < n; i++)
		{
			factor = matrix[i * n + column];
			if (i == column || factor == 0.0)
				continue;
			for (int j = 0; j < n; j++)
			{
				matrix[i * n + j] -= factor * matrix[column * n + j];
				inverse[i * n + j] -= factor * inverse[column * n + j];
			}
		}
	}
	return true;
}

/* The prices at which all ties are ties; false if there are none. */
static bool
find_prices(TierSolverDual *dual)
{
	const TierSolverCore *core = dual->core;
	int			n = dual->nties;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			dual->matrix[i * n + j] = extra_use(dual, i, dual->tight[j]);
	if (!invert(dual->matrix, dual->inverse, n))
		return false;

	for (int j = 0; j < n; j++)
	{
		double		price = 0.0;

		for (int i = 0; i < n; i++)
			price += dual->inverse[j * n + i] *
				(core->work[dual->key[core->owner[dual->tie[i]]]] - core->work[dual->tie[i]]);
		if (!(price >= -1e-6 && price <= TIER_SOLVER_HUGE))
			return false;
		dual->price[dual->tight[j]] = fmax(price, 0.0);
	}
	return true;
}

/*
 * Keys that the caller forbids are replaced.  With ties the key changes places
 * with one that is allowed, if any.
 */
static void
replace_forbidden_keys_of_ties(TierSolverDual *dual)
{
	for (int i = 0; i < dual->nties; i++)
	{
		int			key = dual->key[dual->core->owner[dual->tie[i]]];

		if (dual->forbidden[key] && !dual->forbidden[dual->tie[i]])
			swap_key(dual, i);
	}
}

typedef enum Footing
{
	FOOTING_GOOD,
	FOOTING_BAD,				/* start again */
	FOOTING_NONE,				/* a unit has no option */
} Footing;

static Footing
find_keys(TierSolverDual *dual)
{
	for (int i = 0; i < dual->nlive; i++)
	{
		int			unit = dual->live[i];

		if (dual->ntied[unit] == 0)
		{
			if ((dual->fresh || dual->forbidden[dual->key[unit]]) &&
				!choose_key(dual, unit))
				return FOOTING_NONE;
			continue;
		}
		if (dual->forbidden[dual->key[unit]])
			return FOOTING_BAD;
	}
	dual->fresh = false;
	return FOOTING_GOOD;
}

static void
add_up(TierSolverDual *dual)
{
	const TierSolverCore *core = dual->core;
	int			n = core->nresources;

	memcpy(dual->usage, dual->dead_use, sizeof(dual->usage));
	for (int i = 0; i < dual->nlive; i++)
	{
		int			key = dual->key[dual->live[i]];
		double	   *usage = dual->usage + core->tier[key] * n;
		const double *use = core->use + (size_t) key * n;

		for (int r = 0; r < n; r++)
			usage[r] += use[r];
	}
}

/* How the units split. */
static void
find_shares(TierSolverDual *dual)
{
	int			n = dual->nties;

	for (int i = 0; i < n; i++)
	{
		dual->x[i] = 0.0;
		for (int j = 0; j < n; j++)
			dual->x[i] += dual->inverse[j * n + i] *
				(dual->core->room[dual->tight[j]] - dual->usage[dual->tight[j]]);
	}
}

/* Prices, keys, uses and shares that belong to the ties. */
static Footing
find_footing(TierSolverDual *dual)
{
	Footing		footing;

	replace_forbidden_keys_of_ties(dual);
	if (!find_prices(dual))
		return FOOTING_BAD;
	footing = find_keys(dual);
	if (footing != FOOTING_GOOD)
		return footing;
	add_up(dual);
	find_shares(dual);
	return FOOTING_GOOD;
}


/*-------------------------------------------------------------------------
 * What is wrong, and the direction out of it
 *-------------------------------------------------------------------------
 */

/* Prices change so that one tie gets dearer than the key, by 1 for a step of 1. */
static void
direction_of_tie(const TierSolverDual *dual, int place, double sign,
				 Direction *direction)
{
	int			n = dual->nties;

	memset(direction->change, 0, sizeof(direction->change));
	for (int j = 0; j < n; j++)
		direction->change[dual->tight[j]] = sign * dual->inverse[j * n + place];
	direction->slope = -sign * dual->x[place];
	direction->row = -1;
	direction->tie = place;
}

/* A row gets a price, and the others follow so that all ties remain. */
static void
direction_of_row(const TierSolverDual *dual, int row, double excess,
				 Direction *direction)
{
	int			n = dual->nties;

	memset(direction->change, 0, sizeof(direction->change));
	direction->change[row] = 1.0;
	for (int i = 0; i < n; i++)
	{
		double		extra = extra_use(dual, i, row);

		for (int j = 0; j < n && extra != 0.0; j++)
			direction->change[dual->tight[j]] -= dual->inverse[j * n + i] * extra;
	}
	direction->slope = excess;
	direction->row = row;
	direction->tie = -1;
}

/* By how much the split placement exceeds a row. */
static double
excess_of(const TierSolverDual *dual, int row)
{
	double		excess = dual->usage[row] - dual->core->room[row];

	for (int i = 0; i < dual->nties; i++)
		excess += dual->x[i] * extra_use(dual, i, row);
	return excess;
}

/* L rises steepest for what changes of the prices; true: replaces the best so far. */
static bool
keep_steeper(const TierSolverDual *dual, Direction *best, double *best_grade,
			 const Direction *candidate)
{
	double		norm = dot(candidate->change, candidate->change, dual->core->nrows);
	double		grade = candidate->slope * candidate->slope / fmax(norm, 1e-300);

	if (!(grade > *best_grade))
		return false;
	*best = *candidate;
	*best_grade = grade;
	return true;
}

/*
 * The best direction, false if there is none.  A unit of which the key has a
 * negative share changes it first, which changes no price; changed says so.
 */
static bool
find_direction(TierSolverDual *dual, Direction *best, bool *changed)
{
	const TierSolverCore *core = dual->core;
	Direction	candidate;
	double		best_grade = 0.0;
	bool		found = false;

	*changed = false;
	for (int i = 0; i < dual->nties; i++)
	{
		int			unit = core->owner[dual->tie[i]];
		double		rest = 1.0;
		int			largest = i;

		for (int k = 0; k < dual->nties; k++)
		{
			if (core->owner[dual->tie[k]] != unit)
				continue;
			rest -= dual->x[k];
			if (dual->x[k] > dual->x[largest])
				largest = k;
		}
		if (rest < -TOLERANCE && !dual->forbidden[dual->tie[largest]])
		{
			swap_key(dual, largest);
			*changed = true;
			return true;
		}
		if (dual->forbidden[dual->tie[i]] ? fabs(dual->x[i]) > TOLERANCE :
			dual->x[i] < -TOLERANCE)
		{
			direction_of_tie(dual, i, dual->x[i] < 0.0 ? 1.0 : -1.0, &candidate);
			found |= keep_steeper(dual, best, &best_grade, &candidate);
		}
	}
	for (int row = 0; row < core->nrows; row++)
	{
		double		excess;

		if (!can_bind(core, row) || dual->place[row] >= 0)
			continue;
		excess = excess_of(dual, row);
		if (excess > TOLERANCE)
		{
			direction_of_row(dual, row, excess, &candidate);
			found |= keep_steeper(dual, best, &best_grade, &candidate);
		}
	}
	return found;
}


/*-------------------------------------------------------------------------
 * One step
 *-------------------------------------------------------------------------
 */

/* Where a price gets 0, or a unit with ties gets another one. */
static void
find_hard_stop(TierSolverDual *dual, const Direction *direction, int skip_unit,
			   Stop *stop)
{
	const TierSolverCore *core = dual->core;

	stop->step = INFINITY;
	stop->option = stop->tight = -1;
	for (int j = 0; j < dual->nties; j++)
	{
		int			row = dual->tight[j];
		double		step;

		if (direction->change[row] >= -1e-13)
			continue;
		step = dual->price[row] / -direction->change[row];
		if (step < stop->step)
		{
			stop->step = step;
			stop->tight = j;
		}
	}
	for (int i = 0; i < dual->nties; i++)
	{
		int			unit = core->owner[dual->tie[i]];
		double		reduced = tier_solver_dual_reduced(dual, dual->key[unit]);
		double		slope = charge(core, direction->change, dual->key[unit]);

		if (unit == skip_unit)
			continue;
		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
		{
			double		drop;
			double		step;

			if (dual->forbidden[o] || dual->is_tie[o] || o == dual->key[unit])
				continue;
			drop = slope - charge(core, direction->change, o);
			if (drop <= 1e-13)
				continue;
			step = fmax(tier_solver_dual_reduced(dual, o) - reduced, 0.0) / drop;
			if (step < stop->step)
			{
				stop->step = step;
				stop->option = o;
				stop->tight = -1;
			}
		}
	}
}

/* All points before `end` at which a unit changes its key; returns how many. */
static int
find_breaks(TierSolverDual *dual, const double *change, double end)
{
	const TierSolverCore *core = dual->core;
	double		reduced[TIER_SOLVER_MAX_TIERS];
	double		slope[TIER_SOLVER_MAX_TIERS];
	bool		moves[TIER_SOLVER_MAX_TIERS] = {false};
	int			n = 0;

	for (int row = 0; row < core->nrows; row++)
		moves[row / core->nresources] |= change[row] != 0.0;
	for (int i = 0; i < dual->nlive; i++)
	{
		int			unit = dual->live[i];
		int			first = core->first[unit];
		int			count = core->first[unit + 1] - first;
		int			at = dual->key[unit] - first;
		double		lowest = 0.0;

		if (dual->ntied[unit] > 0)
			continue;
		for (int o = 0; o < count; o++)
		{
			slope[o] = moves[core->tier[first + o]] ? charge(core, change, first + o) : 0.0;
			if (o == 0 || slope[o] < lowest)
				lowest = slope[o];
		}
		if (slope[at] - lowest <= 1e-13)
			continue;			/* nothing overtakes the key */
		for (int o = 0; o < count; o++)
			reduced[o] = tier_solver_dual_reduced(dual, first + o);

		/* Along the lower envelope of the unit's lines. */
		for (;;)
		{
			double		least = end;
			int			next = -1;

			for (int o = 0; o < count; o++)
			{
				double		drop = slope[at] - slope[o];
				double		step;

				if (drop <= 1e-13 || dual->forbidden[first + o])
					continue;
				step = fmax(reduced[o] - reduced[at], 0.0) / drop;
				if (step < least || (step == least && next >= 0 && slope[o] < slope[next]))
				{
					least = step;
					next = o;
				}
			}
			if (next < 0)
				break;
			dual->breaks[n].step = least;
			dual->breaks[n].drop = slope[at] - slope[next];
			dual->breaks[n].slope = slope[next];
			dual->breaks[n].option = first + next;
			n++;
			at = next;
		}
	}
	tier_solver_spend(dual->run, dual->nlive_options);
	return n;
}

static void
swap_breaks(TierSolverBreak *a, TierSolverBreak *b)
{
	TierSolverBreak swap = *a;

	*a = *b;
	*b = swap;
}

static double
middle_of(double a, double b, double c)
{
	if (a < b)
		return b < c ? b : a < c ? c : a;
	return a < c ? a : b < c ? c : b;
}

/*
 * The break at which the slope is used up, with all that come before it in front
 * of it; n if it is not used up.  Quickselect.
 */
static int
find_last_break(TierSolverBreak *breaks, int n, double slope)
{
	int			low = 0;
	int			high = n;

	while (low < high)
	{
		double		pivot = middle_of(breaks[low].step, breaks[low + (high - low) / 2].step,
									  breaks[high - 1].step);
		double		before = 0.0;
		int			less = low; /* [low, less) is below the pivot */
		int			more = high;	/* [more, high) is above it */

		for (int i = low; i < more;)
		{
			if (breaks[i].step < pivot)
			{
				before += breaks[i].drop;
				swap_breaks(&breaks[less++], &breaks[i++]);
			}
			else if (breaks[i].step > pivot)
				swap_breaks(&breaks[--more], &breaks[i]);
			else
				i++;
		}
		if (before >= slope)
		{
			high = less;
			continue;
		}
		slope -= before;
		for (int i = less; i < more; i++)
		{
			slope -= breaks[i].drop;
			if (slope <= 0.0)
				return i;
		}
		low = more;
	}
	return low < n ? low : n;
}

static void
find_stop(TierSolverDual *dual, const Direction *direction, int skip_unit,
		  Stop *stop)
{
	int			n;
	int			last;

	find_hard_stop(dual, direction, skip_unit, stop);
	n = find_breaks(dual, direction->change, stop->step);
	last = find_last_break(dual->breaks, n, direction->slope);
	if (last < n)
	{
		stop->step = dual->breaks[last].step;
		stop->option = dual->breaks[last].option;
		stop->tight = -1;
	}
	stop->npassed = last;
	stop->gain = 0.0;
	if (isinf(stop->step))
		return;
	stop->gain = direction->slope * stop->step;
	for (int i = 0; i < last; i++)
		stop->gain -= dual->breaks[i].drop * (stop->step - dual->breaks[i].step);
}

static void
take_step(TierSolverDual *dual, const Direction *direction, const Stop *stop)
{
	const TierSolverCore *core = dual->core;
	int			place = direction->tie;

	/* The last option that a unit passes is its key. */
	for (int i = 0; i < stop->npassed; i++)
		dual->passed[core->owner[dual->breaks[i].option]] = INFINITY;
	for (int i = 0; i < stop->npassed; i++)
	{
		const TierSolverBreak *b = &dual->breaks[i];
		int			unit = core->owner[b->option];

		if (b->slope < dual->passed[unit])
		{
			dual->passed[unit] = b->slope;
			dual->key[unit] = b->option;
		}
	}
	for (int row = 0; row < core->nrows; row++)
		if (direction->change[row] != 0.0)
			dual->price[row] = fmax(dual->price[row] + stop->step * direction->change[row], 0.0);

	if (direction->row >= 0 && stop->tight >= 0)
	{
		/* One row for another */
		unset_tight(dual, stop->tight);
		set_tight(dual, stop->tight, direction->row);
	}
	else if (direction->row >= 0)
	{
		set_tight(dual, dual->nties, direction->row);
		set_tie(dual, dual->nties++, stop->option);
	}
	else if (stop->option >= 0)
	{
		/* One tie for another */
		unset_tie(dual, place);
		set_tie(dual, place, stop->option);
	}
	else
	{
		/* One row and one tie less; the last ones take their places. */
		int			last = dual->nties - 1;

		unset_tight(dual, stop->tight);
		unset_tie(dual, place);
		dual->nties--;
		dual->tie[place] = dual->tie[last];
		if (stop->tight != last)
			set_tight(dual, stop->tight, dual->tight[last]);
	}
}


/*-------------------------------------------------------------------------
 * The bound, and the proof that there is nothing to bound
 *-------------------------------------------------------------------------
 */

static void
compute_bound(TierSolverDual *dual)
{
	const TierSolverCore *core = dual->core;
	double		paid = core->fixed_cost + dual->dead_cost;
	double		refunded = 0.0;
	double		size;

	for (int row = 0; row < core->nrows; row++)
		paid += dual->price[row] * dual->dead_use[row];
	for (int i = 0; i < dual->nlive; i++)
	{
		int			unit = dual->live[i];
		double		least = INFINITY;

		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
			if (!dual->forbidden[o])
				least = fmin(least, core->cost[o] + charge(core, dual->price, o));
		paid += least;
	}
	size = paid;
	for (int row = 0; row < core->nrows; row++)
	{
		if (dual->price[row] <= 0.0)
			continue;
		refunded += dual->price[row] * core->room[row];
		size += fabs(dual->price[row] * core->room[row]);
	}
	dual->bound = paid - refunded - DBL_EPSILON * size * (core->nunits + core->nrows);
	if (!(dual->bound >= core->fixed_cost))
		dual->bound = core->fixed_cost; /* no cost is negative */
	tier_solver_spend(dual->run, dual->nlive_options);
}

double
tier_solver_dual_shortage(const TierSolverDual *dual)
{
	const TierSolverCore *core = dual->core;
	double		shortage = 0.0;

	for (int unit = 0; unit < core->nunits; unit++)
	{
		double		least = INFINITY;

		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
			if (!dual->forbidden[o])
				least = fmin(least, charge(core, dual->ray, o));
		shortage += least;
	}
	for (int row = 0; row < core->nrows; row++)
		if (dual->ray[row] > 0.0)
			shortage -= dual->ray[row] * core->room[row];
	return shortage;
}

static bool
prove_infeasible(TierSolverDual *dual, const Direction *direction)
{
	double		largest = 0.0;

	for (int row = 0; row < dual->core->nrows; row++)
		largest = fmax(largest, direction->change[row]);
	for (int row = 0; row < dual->core->nrows; row++)
	{
		double		share = direction->change[row] / largest;

		dual->ray[row] = can_bind(dual->core, row) && share > 1e-9 ? share : 0.0;
	}
	return tier_solver_dual_shortage(dual) > TOLERANCE;
}


/*-------------------------------------------------------------------------
 * The climb
 *-------------------------------------------------------------------------
 */

static TierSolverDualStatus
climb(TierSolverDual *dual, double cutoff)
{
	int			max_steps = MAX_STEPS + MAX_STEPS_PER_ROW * dual->core->nbinding;
	double		reached = -INFINITY;
	bool		restarted = dual->nties == 0;
	Direction	direction;
	Stop		stop;

	for (int step = 0; step < max_steps; step++)
	{
		Footing		footing = find_footing(dual);
		bool		changed;

		if (footing == FOOTING_NONE)
		{
			memset(dual->ray, 0, sizeof(dual->ray));
			return TIER_SOLVER_DUAL_INFEASIBLE;
		}
		if (footing == FOOTING_BAD)
		{
			if (restarted)
				return TIER_SOLVER_DUAL_GAVE_UP;
			tier_solver_dual_restart(dual);
			restarted = true;
			reached = -INFINITY;
			continue;
		}
		if (!find_direction(dual, &direction, &changed))
			return TIER_SOLVER_DUAL_OPTIMAL;
		if (changed)
			continue;

		find_stop(dual, &direction, -1, &stop);
		if (isinf(stop.step))
			return prove_infeasible(dual, &direction) ?
				TIER_SOLVER_DUAL_INFEASIBLE : TIER_SOLVER_DUAL_GAVE_UP;
		take_step(dual, &direction, &stop);
		if (dual->run->interrupted)
			return TIER_SOLVER_DUAL_GAVE_UP;

		/* The bound is only computed when it may be enough. */
		if (isinf(cutoff))
			continue;
		if (isinf(reached))
		{
			compute_bound(dual);
			reached = dual->bound;
		}
		else
			reached += stop.gain;
		if (reached < cutoff)
			continue;
		compute_bound(dual);
		reached = dual->bound;
		if (dual->bound >= cutoff)
			return TIER_SOLVER_DUAL_CUTOFF;
	}
	return TIER_SOLVER_DUAL_GAVE_UP;
}

TierSolverDualStatus
tier_solver_dual_solve(TierSolverDual *dual, double cutoff)
{
	TierSolverDualStatus status = climb(dual, cutoff);

	if (status == TIER_SOLVER_DUAL_OPTIMAL || status == TIER_SOLVER_DUAL_GAVE_UP)
		compute_bound(dual);
	if (status != TIER_SOLVER_DUAL_INFEASIBLE && dual->bound >= cutoff)
		status = TIER_SOLVER_DUAL_CUTOFF;
	return status;
}


/*-------------------------------------------------------------------------
 * Looking ahead
 *-------------------------------------------------------------------------
 */

double
tier_solver_dual_gain_without(TierSolverDual *dual, int tie)
{
	Direction	direction;
	Stop		stop;

	direction_of_tie(dual, tie, -1.0, &direction);
	find_stop(dual, &direction, dual->core->owner[dual->tie[tie]], &stop);
	return isinf(stop.step) ? INFINITY : stop.gain;
}

double
tier_solver_dual_gain_with(TierSolverDual *dual, int tie)
{
	int			unit = dual->core->owner[dual->tie[tie]];
	Direction	direction;
	Direction	part;
	Stop		stop;

	/* The key gets cheaper than all ties of the unit, and may not be chosen. */
	direction_of_tie(dual, tie, 1.0, &direction);
	direction.slope = 1.0 - dual->x[tie];
	for (int i = 0; i < dual->nties; i++)
	{
		if (i == tie || dual->core->owner[dual->tie[i]] != unit)
			continue;
		direction_of_tie(dual, i, 1.0, &part);
		direction.slope -= dual->x[i];
		for (int row = 0; row < dual->core->nrows; row++)
			direction.change[row] += part.change[row];
	}
	find_stop(dual, &direction, unit, &stop);
	return isinf(stop.step) ? INFINITY : stop.gain;
}
