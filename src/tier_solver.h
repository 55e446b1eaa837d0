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
	TIER_SOLVER_INFEASIBLE,		/* some unit fits nowhere it may go; it stays
								 * where it is */
} TierSolverStatus;

/*
 * Everything the solver may know.  Arrays by unit and tier are laid out
 * [unit * ntiers + tier].
 *
 * cost: device-seconds per hour of the unit on that tier, the amortised cost
 * of moving it there included; INFINITY where the unit may not live; never
 * negative, never NaN.
 * price: money per month of the unit on that tier; 0 where unknown.  Decides
 * only between tiers whose cost differs by no more than cost_epsilon.
 * size: bytes the unit takes.  (Compression is a later refinement and would
 * make this an array by tier.)
 * current: the tier the unit is on now, -1 if on none of them.
 * capacity: bytes that these units together may take on the tier.
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
 * Greedy by saved device time per byte: the units that gain most per byte
 * choose first; each takes its cheapest tier that still has room.  A unit for
 * which all tiers cost the same within cost_epsilon chooses by price, and
 * stays where it is when the price is the same too.  O(N log N + N T).
 */
extern void tier_solver_solve(const TierSolverProblem *problem,
							  TierSolverResult *result);

#endif							/* TIER_SOLVER_H */
