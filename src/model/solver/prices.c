/*-------------------------------------------------------------------------
 *
 * model/solver/prices.c
 *		Prices of limited resources, and the bound that they prove.
 *
 * With a price on each limited resource, every unit goes where its cost and its payments are
 * least.  For one limit, with all other prices as they are, the right price is found as a
 * greedy does it: units in the order of what they save for each byte, until the room is used
 * up; the price of a byte is the saving of the first unit that does not fit.  This is done for
 * one limit after the other, until the bound rises no further:
 *
 *		L(p) = sum over units of min over tiers of (cost + p use) - sum of p limit
 *
 * This is a lower bound of every placement that keeps the limits, whatever the prices are: it
 * pays for its uses no more than p limit, and each unit pays at least its minimum.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <string.h>

#include "src/model/solver/private.h"

/* A sweep that raises the bound by less than this share is the last one. */
#define LEAST_RISE 1e-6
#define MAX_SWEEPS 4

/*
 * A climb keeps some of its last direction, and makes smaller steps after a few that have gained
 * less than a share of the remaining gap.
 */
#define MEMORY 0.5
#define PATIENCE 6
#define LEAST_GAIN 1e-4

/* The saving of a unit for each byte, or other limited resource, and the amount it takes. */
typedef struct Wish
{
	double		density;
	double		use;
} Wish;

static void
swap_wishes(Wish *a, Wish *b)
{
	Wish		wish = *a;

	*a = *b;
	*b = wish;
}

static double
middle_of(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * The density of the first wish, in descending order, that does not fit into the room; 0:
 * all fit.  By selection, since there may be many; the order of the wishes changes.
 */
static double
density_of_last(Wish *wishes, int n, double room)
{
	while (n > 0)
	{
		double		pivot = middle_of(wishes[0].density, wishes[n / 2].density,
									  wishes[n - 1].density);
		double		above = 0.0;
		double		same = 0.0;
		int			nabove = 0;
		int			nsame = 0;

		for (int i = 0; i < n; i++)
		{
			if (wishes[i].density < pivot)
				continue;
			swap_wishes(&wishes[i], &wishes[nabove + nsame]);
			if (wishes[nabove + nsame].density > pivot)
			{
				above += wishes[nabove + nsame].use;
				swap_wishes(&wishes[nabove + nsame], &wishes[nabove]);
				nabove++;
			}
			else
			{
				same += wishes[nabove + nsame].use;
				nsame++;
			}
		}
		if (above > room)
			n = nabove;
		else if (above + same > room)
			return pivot;
		else
		{
			room -= above + same;
			wishes += nabove + nsame;
			n -= nabove + nsame;
		}
	}
	return 0.0;
}

/* The price of one row, all others as they are; priced follows. */
static void
set_price(const TierSolverModel *model, int row, Wish *wishes, double *price, double *priced)
{
	int			ntiers = model->ntiers;
	int			tier = row / model->nresources;
	double		room = model->limit[row] - model->fixed[row];
	double		change;
	int			nwishes = 0;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		const double *cells = &priced[(size_t) unit * ntiers];
		double		use = tier_solver_use(model, unit, tier)[row % model->nresources];
		double		other = INFINITY;
		double		saved;

		if (!(use > 0.0) || isinf(cells[tier]))
			continue;
		for (int t = 0; t < ntiers; t++)
			if (t != tier && cells[t] < other)
				other = cells[t];
		saved = other - (cells[tier] - price[row] * use);
		if (isinf(other))
			room -= use;		/* has no choice */
		else if (saved > 0.0)
		{
			wishes[nwishes].density = saved / use;
			wishes[nwishes++].use = use;
		}
	}
	change = density_of_last(wishes, nwishes, room) - price[row];
	if (change == 0.0)
		return;
	price[row] += change;
	for (int unit = 0; unit < model->nunits; unit++)
		priced[tier_solver_cell(model, unit, tier)] +=
			change * tier_solver_use(model, unit, tier)[row % model->nresources];
}

/*
 * The cost of each unit on each tier at the prices, and the bound that this proves, less the
 * rounding error of sums of that length.  used: the amounts that units take where each is
 * cheapest.
 */
static double
price_units(const TierSolverModel *model, const double *price, double *priced, double *used)
{
	const double *cost = model->cost;
	const double *use = model->use;
	int			nresources = model->nresources;
	double		paid = 0.0;
	double		refunded = 0.0;

	memcpy(used, model->fixed, sizeof(double) * model->nrows);
	for (int unit = 0; unit < model->nunits; unit++)
	{
		const double *at = price;
		const double *best_use = NULL;
		double		least = INFINITY;
		int			best = 0;

		for (int tier = 0; tier < model->ntiers; tier++)
		{
			double		total = *cost++;

			for (int r = 0; r < nresources; r++)
				total += at[r] * use[r];
			if (total < least)
			{
				least = total;
				best = tier;
				best_use = use;
			}
			*priced++ = total;
			at += nresources;
			use += nresources;
		}
		if (best_use == NULL)
			continue;
		paid += least;
		for (int r = 0; r < nresources; r++)
			used[best * nresources + r] += best_use[r];
	}
	for (int row = 0; row < model->nrows; row++)
		if (price[row] > 0.0)
			refunded += price[row] * fmax(model->limit[row] - model->fixed[row], 0.0);
	return paid - refunded - DBL_EPSILON * (paid + refunded) * (model->nunits + model->nrows);
}

/*
 * The direction is the use beyond each limit at these prices, as a share of the limit, plus a
 * part of the last direction.  Returns the square of its length.
 */
static double
turn(const TierSolverModel *model, const double *price, const double *used, double *direction)
{
	double		length = 0.0;

	for (int row = 0; row < model->nrows; row++)
	{
		double		limit = model->limit[row];

		direction[row] = !(limit > 0.0) || isinf(limit) ? 0.0 :
			used[row] / limit - 1.0 + MEMORY * direction[row];
		if (price[row] <= 0.0 && direction[row] < 0.0)
			direction[row] = 0.0;
		length += direction[row] * direction[row];
	}
	return length;
}

/*
 * Where several limits are in each other's way no single price can be raised, though all of
 * them together can.  So all are changed at once, in the direction in which limits are
 * exceeded, by as much as would lead to the best cost that is known (Polyak, 1969).
 */
static void
climb(TierSolverModel *model, double target, int steps, double bound, double *price,
	  double *priced)
{
	double		at[TIER_SOLVER_MAX_ROWS];
	double		direction[TIER_SOLVER_MAX_ROWS] = {0.0};
	double		used[TIER_SOLVER_MAX_ROWS];
	double		here;
	double		factor = 1.0;
	int			futile = 0;

	memcpy(at, price, sizeof(double) * model->nrows);
	here = price_units(model, at, priced, used);
	for (int step = 0; step < steps && target > bound && tier_solver_go_on(model); step++)
	{
		double		length = turn(model, at, used, direction);

		if (!(length > 0.0))
			break;
		for (int row = 0; row < model->nrows; row++)
			if (direction[row] != 0.0)
				at[row] = fmax(at[row] + factor * (target - here) / length * direction[row] /
							   model->limit[row], 0.0);
		here = price_units(model, at, priced, used);
		futile = here > bound + LEAST_GAIN * (target - bound) ? 0 : futile + 1;
		if (here > bound)
		{
			bound = here;
			memcpy(price, at, sizeof(double) * model->nrows);
		}
		if (futile <= PATIENCE)
			continue;
		factor /= 2.0;
		futile = 0;
		memcpy(at, price, sizeof(double) * model->nrows);
		memset(direction, 0, sizeof(direction));
		here = price_units(model, at, priced, used);
	}
}

/* Each price in turn, until the bound rises no further. */
static double
sweep(TierSolverModel *model, Wish *wishes, double *price, double *priced)
{
	double		used[TIER_SOLVER_MAX_ROWS];
	double		bound = price_units(model, price, priced, used);

	for (int i = 0; i < MAX_SWEEPS && tier_solver_go_on(model); i++)
	{
		double		before = bound;

		for (int row = 0; row < model->nrows; row++)
			if (!isinf(model->limit[row]))
				set_price(model, row, wishes, price, priced);
		bound = price_units(model, price, priced, used);
		if (bound - before <= LEAST_RISE * fabs(bound))
			break;
	}
	return bound;
}

double
tier_solver_set_prices(TierSolverModel *model, double target, int steps, double *price,
					   double *priced)
{
	Wish	   *wishes = tier_solver_alloc(model, model->nunits, sizeof(Wish));
	double		bound;

	bound = sweep(model, wishes, price, priced);
	if (target - bound > TIER_SOLVER_ROUNDING * target && steps > 0)
	{
		climb(model, target, steps, bound, price, priced);
		bound = sweep(model, wishes, price, priced);
	}
	model->problem->release(wishes);
	return bound;
}
