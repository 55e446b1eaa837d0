/*-------------------------------------------------------------------------
 *
 * model/solver/private.h
 *		Declarations shared by the parts of the solver.  For this directory only.
 *
 * A row is one limit: tier * nresources + resource.  A cell is unit * ntiers + tier.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SOLVER_PRIVATE_H
#define TIER_SOLVER_PRIVATE_H

#include <math.h>

#include "src/model/solver/solver.h"

#define TIER_SOLVER_MAX_ROWS (TIER_SOLVER_MAX_TIERS * TIER_SOLVER_MAX_RESOURCES)

/*
 * Costs above this are forbidden, uses are cut to it, and uses below the other one are none:
 * so that no quotient, product or sum is infinite.
 */
#define TIER_SOLVER_HUGE 1e100
#define TIER_SOLVER_TINY 1e-100

/* Limits are kept to this share of themselves, when all is added up at the end. */
#define TIER_SOLVER_SLACK 1e-12

/* A unit is large where it takes more than this share of a limit. */
#define TIER_SOLVER_LARGE 0.05

/* Objectives that differ by less than this share are the same. */
#define TIER_SOLVER_ROUNDING 1e-9

/* The problem, without values that its contract forbids. */
typedef struct TierSolverModel
{
	const TierSolverProblem *problem;
	int			nunits;
	int			ntiers;
	int			nresources;
	int			nrows;
	double	   *cost;			/* INFINITY: not there, or alone too large */
	double	   *use;
	int		   *start;			/* -1: on none */
	bool	   *is_free;		/* by unit: has a tier where it may be */
	double		limit[TIER_SOLVER_MAX_ROWS];
	double		fixed[TIER_SOLVER_MAX_ROWS];	/* used by those that stay */
	double		weight[TIER_SOLVER_MAX_RESOURCES];	/* 1 / use of all units */
	bool		ranks_anew;		/* those that leave a full tier, as each one
								 * leaves */
	bool		interrupted;
} TierSolverModel;

/* A tier for each unit, and the resulting totals. */
typedef struct TierSolverPlacement
{
	int		   *tier;
	double		used[TIER_SOLVER_MAX_ROWS];
	int			misplaced;		/* free units that must not be where they are */
	double		overflow;		/* weighted use beyond limits */
	double		cost;
} TierSolverPlacement;

/* A unit with a key to sort by. */
typedef struct TierSolverRanked
{
	double		key;
	int			unit;
} TierSolverRanked;

static inline size_t
tier_solver_cell(const TierSolverModel *model, int unit, int tier)
{
	return (size_t) unit * model->ntiers + tier;
}

/* INFINITY: must not be there. */
static inline double
tier_solver_cost(const TierSolverModel *model, int unit, int tier)
{
	return tier < 0 ? INFINITY : model->cost[tier_solver_cell(model, unit, tier)];
}

/* The uses of all resources by one unit on a tier. */
static inline const double *
tier_solver_use(const TierSolverModel *model, int unit, int tier)
{
	return model->use + tier_solver_cell(model, unit, tier) * model->nresources;
}

/* The largest share of a limit that a unit takes on a tier. */
static inline double
tier_solver_share(const TierSolverModel *model, int unit, int tier)
{
	double		share = 0.0;

	for (int r = 0; r < model->nresources; r++)
	{
		double		limit = model->limit[tier * model->nresources + r];

		if (limit > 0.0)
			share = fmax(share, tier_solver_use(model, unit, tier)[r] / limit);
	}
	return share;
}

/* Asks whether to go on; false once interrupted. */
extern bool tier_solver_go_on(TierSolverModel *model);

extern void *tier_solver_alloc(const TierSolverModel *model, size_t n, size_t size);

/* The largest key first; ties by unit. */
extern void tier_solver_sort(TierSolverRanked *ranked, int n);

/*
 * Improves the price of each row, starting from its present value, and sets the cost of each
 * cell with all prices.  Returns the bound that follows: no placement that keeps the limits
 * costs less.  Fewer steps make the bound weaker.
 *
 * target: a cost that is known to be feasible.
 */
extern double tier_solver_set_prices(TierSolverModel *model, double target, int steps,
									 double *price, double *priced);

/* Puts a unit on another tier, sums included. */
extern void tier_solver_move(const TierSolverModel *model, TierSolverPlacement *placement,
							 int unit, int tier);

/* Adds everything up anew, so that rounding does not add up. */
extern void tier_solver_measure(const TierSolverModel *model, TierSolverPlacement *placement);

/* Returns true if all limits are kept, and all units are where they may be. */
extern bool tier_solver_keeps_limits(const TierSolverPlacement *placement);

/*
 * Exchanges both if the other one keeps the limits and is better; says whether it did.  One
 * that does not keep them may have put units where there is no room.
 */
extern bool tier_solver_offer(TierSolverPlacement *best, TierSolverPlacement *other);

/*
 * Makes a placement better by single moves.  Tiers that have too much lose units to those that
 * have room, and no unit enters them.
 */
extern void tier_solver_improve(TierSolverModel *model, TierSolverPlacement *placement);

/* Makes a new placement from the costs of units at the prices. */
extern void tier_solver_round_off(TierSolverModel *model, const double *priced,
								  TierSolverPlacement *placement);

/* The few units that are large on each tier, in all combinations, the rest greedily. */
extern void tier_solver_try_large(TierSolverModel *model, const double *price, double *priced,
								  TierSolverPlacement *best, TierSolverPlacement *other);

/* Single units on other tiers, those first that lose least by it at the prices. */
extern void tier_solver_try_options(TierSolverModel *model, double *price, double *priced,
									TierSolverPlacement *best, TierSolverPlacement *other);

#endif							/* TIER_SOLVER_PRIVATE_H */
