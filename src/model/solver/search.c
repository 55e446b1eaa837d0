/*-------------------------------------------------------------------------
 *
 * model/solver/search.c
 *		Corrects a greedy placement: some units are put where the greedy would not put them, and
 *		the others are placed greedily as before.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "src/model/solver/private.h"

/* Combinations of the largest units, and options that all of them look at. */
#define MAX_LARGE 10
#define MAX_COMBINATIONS 1024
#define MAX_OPTIONS 2.5e5

/* Steps with all prices for each combination, which begin at the prices of all. */
#define FEW_STEPS 20

/* Options that tries of single ones may look at, once in each try: some 30 ms. */
#define MAX_TRIES 5e5

/* The units that take most of a limit, and no more than there is time for. */
static int
find_large(const TierSolverModel *model, TierSolverRanked *ranked, int *combinations)
{
	int			n = 0;
	double		most = fmin(MAX_COMBINATIONS,
							MAX_OPTIONS / ((double) model->nunits * model->ntiers));
	int			nlarge = 0;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		double		share = 0.0;

		for (int tier = 0; tier < model->ntiers; tier++)
			if (!isinf(tier_solver_cost(model, unit, tier)))
				share = fmax(share, tier_solver_share(model, unit, tier));
		if (!model->is_free[unit] || share <= TIER_SOLVER_LARGE)
			continue;
		ranked[n].unit = unit;
		ranked[n++].key = share;
	}
	tier_solver_sort(ranked, n);
	*combinations = n > 0;
	for (; nlarge < n && nlarge < MAX_LARGE && *combinations * model->ntiers <= most; nlarge++)
		*combinations *= model->ntiers;
	return nlarge;
}

/* Restricts the unit to that tier; its costs elsewhere are kept. */
static void
confine(TierSolverModel *model, int unit, int tier, double *kept)
{
	double	   *cells = &model->cost[tier_solver_cell(model, unit, 0)];

	memcpy(kept, cells, sizeof(double) * model->ntiers);
	for (int t = 0; t < model->ntiers; t++)
		if (t != tier)
			cells[t] = INFINITY;
}

static void
set_free(TierSolverModel *model, int unit, const double *kept)
{
	memcpy(&model->cost[tier_solver_cell(model, unit, 0)], kept, sizeof(double) * model->ntiers);
}

/* The large units on the tiers that the combination says. */
static void
try_combination(TierSolverModel *model, const TierSolverRanked *large, int nlarge,
				int combination, const double *price, double *priced,
				TierSolverPlacement *best, TierSolverPlacement *other)
{
	double		kept[MAX_LARGE * TIER_SOLVER_MAX_TIERS];
	double		prices[TIER_SOLVER_MAX_ROWS];
	bool		is_possible = true;

	for (int i = 0; i < nlarge; i++)
	{
		int			tier = combination % model->ntiers;

		confine(model, large[i].unit, tier, &kept[i * model->ntiers]);
		is_possible &= !isinf(tier_solver_cost(model, large[i].unit, tier));
		combination /= model->ntiers;
	}
	if (is_possible)
	{
		memcpy(prices, price, sizeof(double) * model->nrows);
		if (tier_solver_set_prices(model, best->cost, FEW_STEPS, prices, priced) < best->cost ||
			!tier_solver_keeps_limits(best))
		{
			tier_solver_round_off(model, priced, other);
			(void) tier_solver_offer(best, other);
		}
	}
	for (int i = 0; i < nlarge; i++)
		set_free(model, large[i].unit, &kept[i * model->ntiers]);
}

void
tier_solver_try_large(TierSolverModel *model, const double *price, double *priced,
					  TierSolverPlacement *best, TierSolverPlacement *other)
{
	TierSolverRanked *large = tier_solver_alloc(model, model->nunits, sizeof(TierSolverRanked));
	int			combinations;
	int			nlarge = find_large(model, large, &combinations);

	for (int i = 0; i < combinations && tier_solver_go_on(model); i++)
		try_combination(model, large, nlarge, i, price, priced, best, other);
	model->problem->release(large);
}

/*
 * Those that lose no more than what the best placement may be from the optimum, least first;
 * the "unit" of each is its cell.
 */
static int
list_options(const TierSolverModel *model, const double *priced, double most,
			 TierSolverRanked *options)
{
	int			n = 0;

	for (int unit = 0; unit < model->nunits; unit++)
	{
		const double *cells = &priced[tier_solver_cell(model, unit, 0)];
		double		least = INFINITY;

		for (int tier = 0; tier < model->ntiers; tier++)
			least = fmin(least, cells[tier]);
		for (int tier = 0; model->is_free[unit] && tier < model->ntiers; tier++)
			if (cells[tier] - least <= most)
			{
				options[n].key = least - cells[tier];
				options[n++].unit = unit * model->ntiers + tier;
			}
	}
	tier_solver_sort(options, n);
	return n;
}

/* One unit on another tier, whether it has room or not: others give way, or fill its place. */
static bool
try_option(TierSolverModel *model, int unit, int tier, TierSolverPlacement *best,
		   TierSolverPlacement *other)
{
	double		kept[TIER_SOLVER_MAX_TIERS];
	int		   *tiers = other->tier;

	memcpy(tiers, best->tier, sizeof(int) * model->nunits);
	*other = *best;
	other->tier = tiers;
	tier_solver_move(model, other, unit, tier);
	confine(model, unit, tier, kept);
	tier_solver_improve(model, other);
	set_free(model, unit, kept);
	return tier_solver_offer(best, other);
}

/*
 * Of those that give way the last one may be small, as less is to be freed then; or all are as
 * dense as possible, which leaves more room elsewhere: both orders are tried.
 */
void
tier_solver_try_options(TierSolverModel *model, double *price, double *priced,
						TierSolverPlacement *best, TierSolverPlacement *other)
{
	int			ncells = model->nunits * model->ntiers;
	TierSolverRanked *options = tier_solver_alloc(model, ncells, sizeof(TierSolverRanked));
	double		bound = tier_solver_set_prices(model, best->cost, 0, price, priced);
	double		left = MAX_TRIES;
	bool		usual = model->ranks_anew;
	bool		is_better = true;

	while (is_better && left > 0.0)
	{
		int			n = list_options(model, priced, best->cost - bound, options);

		is_better = false;
		for (int i = 0; i < n && left > 0.0 && tier_solver_go_on(model); i++)
		{
			int			unit = options[i].unit / model->ntiers;
			int			tier = options[i].unit % model->ntiers;

			for (int anew = usual; anew < 2 && best->tier[unit] != tier; anew++)
			{
				left -= ncells;
				model->ranks_anew = anew;
				is_better |= try_option(model, unit, tier, best, other);
			}
		}
	}
	model->ranks_anew = usual;
	model->problem->release(options);
}
