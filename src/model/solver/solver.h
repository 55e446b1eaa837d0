/*-------------------------------------------------------------------------
 *
 * model/solver/solver.h
 *		Placement as a multiple-choice knapsack: each unit gets one tier.
 *
 * Pure: plain structs in, plain structs out.  No PostgreSQL header, no clock, no
 * logging, no global state; scratch memory comes from the caller's callbacks.  The same
 * problem always gives the same answer.  Method and figures: docs/internals/solver.md.
 *
 *		solve.c		the order of things
 *		prices.c	prices of limits: of a byte, what the last unit saves for each of its bytes
 *		improve.c	rounding and single moves
 *		search.c	exchanges, and the largest units in all combinations
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SOLVER_H
#define TIER_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

#define TIER_SOLVER_MAX_TIERS 32

/* The size, resource 0, included. */
#define TIER_SOLVER_MAX_RESOURCES 8

/*
 * Everything the solver may know; it changes nothing of it.  Arrays by unit and tier are
 * laid out [unit * ntiers + tier], use is [(unit * ntiers + tier) * nresources + resource],
 * limit [tier * nresources + resource].
 *
 * cost: minimised, in the caller's unit; INFINITY where the unit must not be.  Negative, NaN and
 * values above 1e100 count as INFINITY. price: decides between tiers of the same cost; not
 * positive: unknown, which is no reason to leave a tier and none to go there; NULL: all unknown.
 * use: what the unit takes of a limited resource on a tier; NaN and negative count as 0. limit:
 * of all units on a tier together; NaN and negative count as 0, INFINITY: none.  Whole numbers
 * below 2^53 are summed exactly; limits are kept to 1e-12 of themselves. start: by unit, a
 * placement; anything that is no tier: on none. quick: without exchanges and combinations, for
 * prices rather than an answer. alloc never returns NULL.  It and interrupted may leave by
 * longjmp: nothing but memory is held.  interrupted: whether to stop, with the best answer so
 * far; NULL: never.
 */
typedef struct TierSolverProblem
{
	int			nunits;
	int			ntiers;			/* 1 .. TIER_SOLVER_MAX_TIERS */
	int			nresources;		/* 1 .. TIER_SOLVER_MAX_RESOURCES */
	const double *cost;
	const double *price;
	const double *use;
	const double *limit;
	const int  *start;
	bool		quick;
	void	   *(*alloc) (size_t bytes);
	void		(*release) (void *ptr);
	bool		(*interrupted) (void *argument);
	void	   *interrupted_argument;
} TierSolverProblem;

/*
 * tier and limit_price are arrays of the caller: by unit, and as limit is laid out.
 * limit_price: what one more of the limit would save, if units could be split; 0: the
 * limit is not in the way.  It may be NULL.
 */
typedef struct TierSolverResult
{
	int		   *tier;			/* -1: on none, as at the start */
	double	   *limit_price;
	double		objective;		/* cost of all units that fit where they are */
	double		lower_bound;	/* no placement that keeps the limits costs
								 * less */
	bool		keeps_limits;	/* and all are where they may be */
	bool		interrupted;
} TierSolverResult;

/*
 * Guaranteed:
 * - If the start keeps the limits, so does the answer, and costs no more.
 * - A unit that moves has room where it goes.  A tier that has too much of something takes
 *	 in no unit that uses it, and loses units only to tiers that have room.
 * - A unit that may be nowhere, or is alone too large for each tier, stays.
 * - A unit stays at the start where nothing is better.
 *
 * Not guaranteed: the optimum, and that limits are kept whenever they could be.
 */
extern void tier_solver_solve(const TierSolverProblem *problem, TierSolverResult *result);

#endif							/* TIER_SOLVER_H */
