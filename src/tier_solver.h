/*-------------------------------------------------------------------------
 *
 * tier_solver.h
 *		Placement as a multiple-choice knapsack: each unit gets one tier.
 *
 * Pure: plain structs in, plain structs out.  No PostgreSQL header, no
 * allocation that outlives the call (scratch memory comes from the caller's
 * two callbacks), no clock, no logging, no global state.  The same problem
 * always gives the same answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SOLVER_H
#define TIER_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

#define TIER_SOLVER_MAX_TIERS 32

/* Why the answer is not simply "each unit on its cheapest tier". */
typedef enum TierSolverStatus
{
	TIER_SOLVER_UNCONSTRAINED,	/* no capacity was in the way */
	TIER_SOLVER_CONSTRAINED,	/* some unit was pushed out of its best tier */
	TIER_SOLVER_INFEASIBLE,		/* some unit fits nowhere it may go, or may go
								 * nowhere; it stays where it is */
} TierSolverStatus;

/*
 * Everything the solver may know.  Arrays by unit and tier are laid out
 * [unit * ntiers + tier].
 *
 * cost: device-seconds per hour of the unit on that tier, the amortised cost
 * of moving it there included; INFINITY where the unit may not live; never
 * negative, never NaN.
 * price: money per month of the unit on that tier; 0 where unknown.  Decides
 * only between tiers whose cost differs by no more than cost_epsilon.  An
 * unknown price is no reason to leave a tier and none to go there.
 * size: bytes the unit takes, a whole number, 0 allowed; all together less
 * than 2^53, so that sums are exact.  (Compression is a later refinement and
 * would make this an array by tier.)
 * current: the tier the unit is on now, -1 if on none of them.
 * capacity: bytes that these units together may take on the tier.  May be
 * less than what they take now (negative counts as 0), may be INFINITY.
 * cost_epsilon: what a move must save at least to be worth it.
 */
typedef struct TierSolverProblem
{
	int			nunits;
	int			ntiers;			/* 1 .. TIER_SOLVER_MAX_TIERS */
	const double *cost;
	const double *price;
	const double *size;
	const int  *current;
	const double *capacity;
	double		cost_epsilon;	/* device-seconds per hour, >= 0 */
	void	   *(*alloc) (size_t bytes);	/* never returns NULL */
	void		(*release) (void *ptr);
} TierSolverProblem;

/*
 * tier and pushed_out_of are arrays of nunits that the caller provides, used
 * one of ntiers.
 *
 * A unit is homeless if its tier is -1 or one where it may not live.  objective
 * and lower_bound leave out the homeless.  With TIER_SOLVER_INFEASIBLE the
 * lower bound ignores the capacities, because nothing can respect them.
 *
 * pushed_out_of equals tier where a unit stays on a tier that remains too full
 * and is one of those too many.  It is -1 for a unit that may live nowhere.
 */
typedef struct TierSolverResult
{
	int		   *tier;			/* chosen tier by unit, -1: has no tier */
	int		   *pushed_out_of;	/* tier it wanted but that was full, or -1 */
	double	   *used;			/* bytes by tier */
	double		objective;		/* sum of cost of the chosen tiers */
	double		lower_bound;	/* no placement can cost less */
	TierSolverStatus status;
} TierSolverResult;

/*
 * Greedy by saved device time: the units that gain most choose first; each
 * takes its cheapest tier that still has room.  Tried in several orders, first
 * of all per byte, and improved by moving single units and by exchanging two;
 * see tier_solver.c.  A unit for which all tiers cost the same within
 * cost_epsilon chooses by price, and stays where it is when the price is the
 * same too.
 *
 * Guaranteed:
 * - A unit that moves has room where it goes; a tier that is too full takes
 *   nobody in and never holds more than now.
 * - A unit leaves a tier that is too full only for one that has room.
 * - No more units are homeless than now.
 * - If every unit may live and fits where it is now, objective is at most the
 *   cost of no move, and with a cost_epsilon > 0 at most (ntiers + 1) *
 *   cost_epsilon more for each unit, for the sake of the price.
 * - lower_bound <= objective, and no placement that respects all capacities
 *   costs less than lower_bound.
 *
 * Not guaranteed: the optimum; that a placement is found whenever one exists
 * (finding out is as hard as the optimum); an order in which the moves can be
 * carried out one by one without room to spare.
 *
 * O(N log N + N T) for each order and round, of which there are few, and a
 * number of exchanges that is bounded by a constant.
 */
extern void tier_solver_solve(const TierSolverProblem *problem,
							  TierSolverResult *result);

#endif							/* TIER_SOLVER_H */
