/*-------------------------------------------------------------------------
 *
 * model/solver/private.h
 *		What the parts of the solver share.  For this directory only.
 *
 *		solver.c	the order of things, and the report
 *		greedy.c	placements by simple rules, and improving them
 *		core.c		the problem without what is decided, in shares
 *		dual.c		prices, the bound, and how the units split
 *		round.c		from there to a placement
 *		exact.c		the search tree
 *
 * A row is one limit: tier * nresources + resource, with the size as resource 0.
 * Everything is pure, as model/solver/solver.h says.  Memory comes from the problem's
 * callback, and nothing else is held, so that leaving by longjmp loses nothing
 * that the caller cannot find.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SOLVER_PRIVATE_H
#define TIER_SOLVER_PRIVATE_H

#include <math.h>

#include "src/model/solver/solver.h"

#define TIER_SOLVER_MAX_ROWS (TIER_SOLVER_MAX_TIERS * TIER_SOLVER_MAX_RESOURCES)

/* Costs and uses above this are forbidden, so that no sum is infinite. */
#define TIER_SOLVER_HUGE 1e290

/* Uses below this are nothing, so that no quotient is infinite. */
#define TIER_SOLVER_TINY 1e-280

/* Limits are kept to this share of themselves, when all is added up at the end. */
#define TIER_SOLVER_SLACK 1e-12

/* Objectives that differ by less than this share are the same. */
#define TIER_SOLVER_ROUNDING 1e-9

/*
 * How much was done, and whether to stop.  One for each tier_solver_solve(), and
 * everything has its address; only tier_solver_spend() changes it.
 */
typedef struct TierSolverRun
{
	const TierSolverProblem *problem;
	double		effort;			/* options looked at so far */
	double		next_poll;		/* effort at which to ask again */
	bool		interrupted;
} TierSolverRun;

/* Counts work; false once interrupted. */
extern bool tier_solver_spend(TierSolverRun *run, double options);

/* Memory for n elements, at least one byte; not cleared. */
extern void *tier_solver_alloc(TierSolverRun *run, size_t n, size_t size);
extern void tier_solver_release(TierSolverRun *run, void *ptr);


/*-------------------------------------------------------------------------
 * The problem, cleaned of what its contract forbids
 *-------------------------------------------------------------------------
 */

/* Made once by solver.c, and changed by nobody. */
typedef struct TierSolverModel
{
	TierSolverRun *run;
	const TierSolverProblem *problem;
	int			nunits;
	int			ntiers;
	int			nresources;		/* with the size */
	int			nrows;
	double		limit[TIER_SOLVER_MAX_ROWS];
	double		weight[TIER_SOLVER_MAX_RESOURCES];	/* 1 / what all units
													 * would use at most */
	unsigned char *obstacle;	/* by unit, TierSolverObstacle */
	int			nobstacles;
} TierSolverModel;

/* The tier a unit is on, or -1. */
static inline int
tier_solver_home(const TierSolverModel *model, int unit)
{
	int			home = model->problem->current[unit];

	return (home >= 0 && home < model->ntiers) ? home : -1;
}

/* The tier a unit is pinned to, or -1. */
static inline int
tier_solver_pin(const TierSolverModel *model, int unit)
{
	int			pin = model->problem->pinned == NULL ? -1 : model->problem->pinned[unit];

	return (pin >= 0 && pin < model->ntiers) ? pin : -1;
}

/* INFINITY: may not live there. */
static inline double
tier_solver_cost(const TierSolverModel *model, int unit, int tier)
{
	double		cost = model->problem->cost[(size_t) unit * model->ntiers + tier];
	int			pin = tier_solver_pin(model, unit);

	if (!(cost >= 0.0 && cost <= TIER_SOLVER_HUGE) || (pin >= 0 && pin != tier))
		return INFINITY;
	return cost;
}

static inline double
tier_solver_use(const TierSolverModel *model, int unit, int tier, int resource)
{
	const TierSolverProblem *problem = model->problem;
	size_t		cell = (size_t) unit * model->ntiers + tier;
	double		use;

	if (resource > 0)
		use = problem->use[cell * (model->nresources - 1) + resource - 1];
	else if (problem->size_by_tier != NULL)
		use = problem->size_by_tier[cell];
	else
		use = problem->size[unit];

	if (!(use > TIER_SOLVER_TINY))
		return 0.0;
	return use < TIER_SOLVER_HUGE ? use : TIER_SOLVER_HUGE;
}

static inline double
tier_solver_epsilon(const TierSolverModel *model)
{
	double		epsilon = model->problem->cost_epsilon;

	return epsilon > 0.0 && epsilon <= TIER_SOLVER_HUGE ? epsilon : 0.0;
}

/*
 * The cost, and cost_epsilon on top where the unit would have to move: what is
 * minimised.
 */
static inline double
tier_solver_friction_cost(const TierSolverModel *model, int unit, int tier)
{
	double		cost = tier_solver_cost(model, unit, tier);

	return tier == tier_solver_home(model, unit) ? cost :
		cost + tier_solver_epsilon(model);
}

/* Could the tier hold this unit, if it had it alone? */
static inline bool
tier_solver_fits_alone(const TierSolverModel *model, int unit, int tier)
{
	for (int r = 0; r < model->nresources; r++)
		if (tier_solver_use(model, unit, tier, r) > model->limit[tier * model->nresources + r])
			return false;
	return true;
}


/*-------------------------------------------------------------------------
 * Placements, in model/solver/greedy.c
 *-------------------------------------------------------------------------
 */

/*
 * A tier for each unit, or -1.  cost and friction exclude units that are
 * homeless: on no tier, or on one where they may not live.  Who changes tier keeps
 * up used; the other figures mean nothing until tier_solver_placement_measure().
 */
typedef struct TierSolverPlacement
{
	int		   *tier;
	double		used[TIER_SOLVER_MAX_ROWS];
	int			homeless;
	double		overflow;		/* above the limits, weighted, all rows */
	double		cost;
	double		friction;		/* cost_epsilon for each move */
} TierSolverPlacement;

extern void tier_solver_placement_measure(const TierSolverModel *model,
										  TierSolverPlacement *placement);

/* Is a better than b by more than rounding? */
extern bool tier_solver_placement_is_better(const TierSolverPlacement *a,
											const TierSolverPlacement *b);

/* Nobody moves who need not. */
extern void tier_solver_stay(const TierSolverModel *model, bool improved,
							 TierSolverPlacement *placement);

/* The best of several greedy placements and what best is; other is scratch. */
extern void tier_solver_greedy(const TierSolverModel *model,
							   TierSolverPlacement *best,
							   TierSolverPlacement *other);

/* Single moves, as long as they help. */
extern void tier_solver_improve(const TierSolverModel *model,
								TierSolverPlacement *placement);

/* Each unit to the best tier that has room; the last word on equal costs. */
extern void tier_solver_settle(const TierSolverModel *model,
							   TierSolverPlacement *placement);

/*
 * Which units did not get what they wanted; returns how many.  On a tier that
 * remains too full the units that gain least are the ones too many.
 */
extern int	tier_solver_pushed_out(const TierSolverModel *model,
								   const TierSolverPlacement *placement,
								   int *pushed_out_of);


/*-------------------------------------------------------------------------
 * The core, in model/solver/core.c
 *-------------------------------------------------------------------------
 */

/*
 * The units for which there is a choice, and of their tiers the options that
 * may be part of an optimal answer.  Uses and room are shares of the limit, so
 * that all rows are of the same magnitude; costs are multiples of cost_scale,
 * the mean of what a unit has at stake.  What is decided is taken off room and
 * counts in fixed_cost.
 *
 * Once it is made nobody changes it, but for find_missing() of solver.c, which lifts
 * limits when there is no placement, and then nothing else is asked of the core.
 */
typedef struct TierSolverCore
{
	TierSolverRun *run;
	int			ntiers;
	int			nresources;
	int			nrows;
	int			nunits;
	int			noptions;
	int		   *unit;			/* number in the problem */
	int		   *first;			/* nunits + 1: the unit's first option */
	int		   *owner;			/* by option: unit of the core */
	unsigned char *tier;		/* by option */
	double	   *cost;			/* by option */
	double	   *work;			/* by option: the cost and a trifle that makes
								 * equal ones differ */
	double	   *use;			/* by option and resource; 0 in rows that
								 * cannot bind */
	double		room[TIER_SOLVER_MAX_ROWS]; /* INFINITY: cannot bind */
	double		slack[TIER_SOLVER_MAX_ROWS];	/* by so much room may be
												 * exceeded */
	double		scale[TIER_SOLVER_MAX_ROWS];	/* the limit: units per share */
	double		over[TIER_SOLVER_MAX_ROWS]; /* by so much, in units, what is
											 * decided exceeds the limit */
	bool		overcommitted;	/* not only by units that are held */
	int		   *decided;		/* by unit of the problem: its tier, -1 if it
								 * has a choice; NULL in a core that was
								 * shrunk */
	double		cost_scale;
	double		fixed_cost;
	int			nbinding;		/* rows that can bind */
} TierSolverCore;

/*
 * Of a model, with these limits by row instead of its own, and with the units
 * of `held` (by unit) staying where `tier` says.  Nobody enters a `barred`
 * tier, by row, who would use of it.  A unit that is not held needs an option.
 */
extern TierSolverCore *tier_solver_core_make(const TierSolverModel *model,
											 const double *limit,
											 const bool *barred,
											 const unsigned char *held,
											 const int *tier);

/*
 * The core without the options marked in `drop`; of each unit one must remain.
 * option_of, nunits of the old core, is set to the option of a unit that is no
 * longer in the new one, else to -1.
 */
extern TierSolverCore *tier_solver_core_shrink(const TierSolverCore *core,
											   const unsigned char *drop,
											   int *option_of);
extern void tier_solver_core_free(TierSolverCore *core);

static inline double
tier_solver_core_use(const TierSolverCore *core, int option, int row)
{
	return core->tier[option] == row / core->nresources ?
		core->use[(size_t) option * core->nresources + row % core->nresources] : 0.0;
}


/*-------------------------------------------------------------------------
 * The dual, in model/solver/dual.c
 *-------------------------------------------------------------------------
 */

typedef struct TierSolverBreak
{
	double		step;
	double		drop;			/* of the slope */
	double		slope;			/* of the option, for the order of equals */
	int			option;
} TierSolverBreak;

typedef enum TierSolverDualStatus
{
	TIER_SOLVER_DUAL_OPTIMAL,
	TIER_SOLVER_DUAL_CUTOFF,	/* the bound has reached what was asked */
	TIER_SOLVER_DUAL_INFEASIBLE,	/* no placement, not even with split
									 * units: ray is the proof */
	TIER_SOLVER_DUAL_GAVE_UP,	/* rounding, or interrupted; the bound holds
								 * all the same */
} TierSolverDualStatus;

/*
 * Prices of the rows, and what follows from them.  Each unit has a key, its
 * cheapest option at these prices.  As many units as rows have a price may have
 * further options that are exactly as cheap, the ties; x is the share of the
 * unit that goes there, the rest goes to the key.  See model/solver/dual.c.
 *
 * Only dual.c changes it, but for forbidden, which is the caller's; who allows an
 * option again calls tier_solver_dual_restart() and tier_solver_dual_focus().  key,
 * price, x and bound mean something after tier_solver_dual_solve(): x only if
 * that was optimal, bound unless it was infeasible, ray only if it was.
 */
typedef struct TierSolverDual
{
	TierSolverRun *run;
	const TierSolverCore *core;
	unsigned char *forbidden;	/* by option, set by the caller */
	int		   *key;			/* by unit */
	unsigned char *ntied;		/* by unit: number of ties */
	unsigned char *is_tie;		/* by option */
	double		price[TIER_SOLVER_MAX_ROWS];
	double		usage[TIER_SOLVER_MAX_ROWS];	/* of the keys */
	double		ray[TIER_SOLVER_MAX_ROWS];
	double		bound;			/* for the core, in its unit, rounded down */
	int			nties;			/* and rows with a price */
	int			tie[TIER_SOLVER_MAX_ROWS];	/* option */
	double		x[TIER_SOLVER_MAX_ROWS];
	int			tight[TIER_SOLVER_MAX_ROWS];	/* row */
	int			place[TIER_SOLVER_MAX_ROWS];	/* by row: in tight, or -1 */
	bool		fresh;			/* no unit has a key yet */
	int			nlive;			/* units with a choice, and what the others */
	int		   *live;			/* are good for: see tier_solver_dual_focus */
	int			nlive_options;
	double		dead_cost;
	double		dead_use[TIER_SOLVER_MAX_ROWS];
	double	   *matrix;
	double	   *inverse;
	TierSolverBreak *breaks;
	double	   *passed;			/* by unit: scratch */
} TierSolverDual;

extern TierSolverDual *tier_solver_dual_make(const TierSolverCore *core);
extern void tier_solver_dual_free(TierSolverDual *dual);

/* No row has a price any more. */
extern void tier_solver_dual_restart(TierSolverDual *dual);

/*
 * Looks for units with a single option that is not forbidden, and has the others
 * looked at only.  To be called after options are allowed again, and worth while
 * after many were forbidden.
 */
extern void tier_solver_dual_focus(TierSolverDual *dual);

/* Ends early when the bound reaches cutoff. */
extern TierSolverDualStatus tier_solver_dual_solve(TierSolverDual *dual,
												   double cutoff);

/*
 * By how much every placement uses more than there is, in shares, each row as
 * often as the ray says.
 */
extern double tier_solver_dual_shortage(const TierSolverDual *dual);

/* The cost of an option at the prices. */
extern double tier_solver_dual_reduced(const TierSolverDual *dual, int option);

/* How much the bound rises at once if the unit of a tie may not go there, */
extern double tier_solver_dual_gain_without(TierSolverDual *dual, int tie);

/* or may only go there. */
extern double tier_solver_dual_gain_with(TierSolverDual *dual, int tie);


/*-------------------------------------------------------------------------
 * Rounding, in model/solver/round.c
 *-------------------------------------------------------------------------
 */

/*
 * Makes a whole placement of the core from the dual's: an option for each unit
 * that is not forbidden.  True if it respects the limits; then cost is set.
 */
extern bool tier_solver_round(const TierSolverDual *dual, int *option,
							  double *cost);

/* Does this placement respect the limits?  Sets cost, and used by row. */
extern bool tier_solver_core_check(const TierSolverCore *core,
								   const int *option, double *used,
								   double *cost);


/*-------------------------------------------------------------------------
 * The search, in model/solver/exact.c
 *-------------------------------------------------------------------------
 */

/*
 * The caller sets what is "in", cleared else, and owns best; what is "out" means
 * something when tier_solver_search() returns, and only to the core it was given.
 */
typedef struct TierSolverSearch
{
	/* in */
	double		gap_wanted;
	double		effort_limit;	/* in all, of the run */
	double		futile_limit;	/* of these, while no placement is known */
	double		polish_limit;	/* of these, once gap_wanted is proven */
	double		root_bound;		/* set by the search */

	/* in and out: the best placement known, INFINITY: none */
	double		best_cost;
	int		   *best;			/* option by unit of the core */
	bool		improved;

	/* out */
	double		bound;
	long		nnodes;
	bool		complete;		/* the tree was searched to the end */
} TierSolverSearch;

extern void tier_solver_search(const TierSolverCore *core,
							   TierSolverSearch *search);

#endif							/* TIER_SOLVER_PRIVATE_H */
