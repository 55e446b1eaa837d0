/*-------------------------------------------------------------------------
 *
 * model/solver/solver.h
 *		Placement as a multiple-choice knapsack: each unit gets one tier.
 *
 * Pure: plain structs in, plain structs out.  No PostgreSQL header, no
 * allocation that outlives the call (scratch memory comes from the caller's
 * two callbacks), no clock, no logging, no global state.  The same problem
 * always gives the same answer.  Method and proof: docs/internals/solver.md.
 *
 * The story of model/solver, file by file:
 *
 *		solver.c	clears up the problem; everybody stays, and that is the
 *					placement to beat; then asks the files below, in this order
 *		greedy.c	units choose one after the other: a second placement to beat
 *		core.c		takes away what is decided, so that few units remain
 *		dual.c		puts prices on what is scarce: no placement can cost less
 *					than the bound that follows, and few units are undecided
 *		round.c		makes a placement of that, mostly good enough at once
 *		exact.c		searches where it is not, until the gap is small or effort,
 *					which is counted and not timed, is used up
 *
 * Where the limits cannot be kept, those that are exceeded are raised by what it
 * takes, nobody may enter there, and it is done again for the rest.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SOLVER_H
#define TIER_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

#define TIER_SOLVER_MAX_TIERS 32

/* With the size, which is resource 0 of each tier. */
#define TIER_SOLVER_MAX_RESOURCES 8

/* Default of effort, in tier options looked at: a tenth of a second. */
#define TIER_SOLVER_EFFORT 2e7

/*
 * Default of gap_wanted.  Costs come from loads that are known to 15 % at best
 * (TIER_PLACEMENT_DOUBT), so two placements that differ by less than a thirtieth of
 * that cannot be told apart by anything that is measured afterwards.
 */
#define TIER_SOLVER_GAP 5e-3

/* Why the answer is not simply "each unit on its cheapest tier". */
typedef enum TierSolverStatus
{
	TIER_SOLVER_UNCONSTRAINED,	/* no limit was in the way */
	TIER_SOLVER_CONSTRAINED,	/* some unit was pushed out of its best tier */
	TIER_SOLVER_INFEASIBLE,		/* some unit fits nowhere it may go, or may go
								 * nowhere; it stays where it is */
} TierSolverStatus;

/* Why a unit, looked at alone, has no tier to go to. */
typedef enum TierSolverObstacle
{
	TIER_SOLVER_NO_OBSTACLE,	/* it has */
	TIER_SOLVER_FORBIDDEN,		/* all its costs are infinite */
	TIER_SOLVER_TOO_LARGE,		/* exceeds a limit of each tier it may be on */
	TIER_SOLVER_PIN_FORBIDDEN,	/* the cost of its pin is infinite */
	TIER_SOLVER_PIN_TOO_LARGE,	/* exceeds a limit of its pin */
} TierSolverObstacle;

/*
 * Everything the solver may know.  The caller fills it in, and the solver changes
 * nothing of it.  Arrays by unit and tier are laid out
 * [unit * ntiers + tier], those by unit, tier and resource
 * [(unit * ntiers + tier) * nresources + resource], limits by tier and
 * resource [tier * nresources + resource].  Set to zeros what is not used.
 *
 * cost: what is minimised, in the caller's unit, the amortised cost of moving
 * there included; INFINITY where the unit may not live.  Negative, NaN and
 * values above 1e290 count as INFINITY.
 * price: decides only between tiers whose cost differs by no more than
 * cost_epsilon; 0 where unknown; NULL: all unknown.  An unknown price is no
 * reason to leave a tier and none to go there.
 * size: bytes the unit takes, 0 allowed.  Whole numbers that are together less
 * than 2^53 are summed exactly.  size_by_tier, by unit and tier, is used
 * instead where the tiers differ (compression), or NULL.
 * current: the tier the unit is on now, anything else if on none of them.
 * pinned: the tier on which the unit has to be, -1 (or no tier): free to go;
 * NULL: nobody is pinned.
 * capacity: bytes that these units together may take on the tier.  May be
 * less than what they take now (negative and NaN count as 0), may be INFINITY.
 * nresources, use, limit: what else is limited on a tier, and what the unit
 * would use of it there: busy time, bandwidth, bytes written a day.  NaN and
 * negative values count as 0.  Limits are kept to 1e-12 of themselves.
 * cost_epsilon: what a move must save at least to be worth it.
 * gap_wanted: a proven relative distance from the optimum that is good enough
 * when going on would take long; 0: TIER_SOLVER_GAP.
 * effort: how many tier options may be looked at in the search for a proof;
 * 0: TIER_SOLVER_EFFORT.  What leads to a first good answer is done anyway: some
 * passes over the units.
 * polish: of the effort, how much is spent when gap_wanted is proven; 0: a few milliseconds.
 * alloc never returns NULL.  It and interrupted may leave by longjmp: then
 * nothing is released here.
 * interrupted is asked every millisecond or so whether to stop at once, with
 * the best answer so far; NULL: never.
 */
typedef struct TierSolverProblem
{
	int			nunits;
	int			ntiers;			/* 1 .. TIER_SOLVER_MAX_TIERS */
	const double *cost;
	const double *price;
	const double *size;
	const double *size_by_tier;
	const int  *current;
	const int  *pinned;
	const double *capacity;
	int			nresources;		/* besides the size, 0 ..
								 * TIER_SOLVER_MAX_RESOURCES - 1 */
	const double *use;
	const double *limit;
	double		cost_epsilon;	/* in the unit of cost, >= 0 */
	double		gap_wanted;
	double		effort;
	double		polish;
	void	   *(*alloc) (size_t bytes);
	void		(*release) (void *ptr);
	bool		(*interrupted) (void *argument);
	void	   *interrupted_argument;
} TierSolverProblem;

/*
 * The solver fills in all of it, and reads nothing but the addresses of the arrays.
 * tier and pushed_out_of are arrays of nunits that the caller provides, used
 * one of ntiers.  The other arrays may be NULL: obstacle has nunits, and those
 * by tier and resource have ntiers * (1 + nresources) elements, with the size
 * as resource 0 of each tier: [tier * (1 + nresources) + resource].
 *
 * A unit is homeless if its tier is -1 or one where it may not live.  objective
 * and lower_bound leave out the homeless.  With TIER_SOLVER_INFEASIBLE the
 * lower bound ignores the limits, because nothing can respect them.
 *
 * pushed_out_of equals tier where a unit stays on a tier that remains too full
 * and is one of those too many.  It is -1 for a unit that may live nowhere.
 *
 * dual_price: by how much the objective would fall for one more unit of the
 * limit (cost per byte, ...), 0 where the limit is not in the way: what more of
 * it is worth.  It is exact for small changes of the relaxed problem in which
 * units may be split.  All 0 when not even that has a solution.
 * excess: by how much the placement exceeds a limit.
 * missing: limits that cannot all be kept, by the proof of that: by so much, at
 * least, each of them would have to be larger if the others of the same proof
 * were not.  0: has no part in any proof.  Units with an obstacle are counted
 * where they are, and proofs are given without them.
 */
typedef struct TierSolverResult
{
	int		   *tier;			/* chosen tier by unit, -1: has no tier */
	int		   *pushed_out_of;	/* tier it wanted but that was full, or -1 */
	double	   *used;			/* bytes by tier */
	TierSolverObstacle *obstacle;	/* by unit */
	double	   *used_of;		/* by tier and resource */
	double	   *dual_price;
	double	   *excess;
	double	   *missing;
	double		objective;		/* sum of cost of the chosen tiers */
	double		lower_bound;	/* no placement can cost less */
	double		gap;			/* (objective - lower_bound) / objective, both
								 * with cost_epsilon for each move */
	TierSolverStatus status;
	int			nobstacles;		/* units with an obstacle */
	int			nactive;		/* units for which there was a choice */
	long		nnodes;			/* of the search tree */
	double		effort;			/* tier options looked at */
	bool		limit_hit;		/* gap_wanted was not reached within effort,
								 * or a placement that keeps the limits was
								 * not found and may exist */
	bool		interrupted;
} TierSolverResult;

/*
 * Units start from where they are and from what greedy rules make of it; the
 * Lagrangian dual gives the bound, a placement close to the optimum, and what
 * is decided already; what is left is searched until the gap is proven or
 * effort is used up.
 *
 * A unit for which all tiers cost the same within cost_epsilon chooses by
 * price, and stays where it is when the price is the same too.
 *
 * Guaranteed:
 * - A unit that moves has room where it goes; a tier that is too full of
 *   something takes nobody in who would use it and never holds more than now.
 * - A unit leaves a tier that is too full only for one that has room.
 * - No more units are homeless than now.
 * - If every unit may live and fits where it is now, objective is at most the
 *   cost of no move, and with a cost_epsilon > 0 at most (ntiers + 1) *
 *   cost_epsilon more for each unit, for the sake of the price.
 * - lower_bound <= objective, and no placement that respects all limits
 *   costs less than lower_bound.
 * - With a cost_epsilon of 0, no limit_hit and no interruption the objective
 *   is within gap_wanted of the optimum.
 *
 * Not guaranteed: an order in which the moves can be carried out one by one
 * without room to spare.  With ntiers or nresources out of range nobody moves,
 * and the status is TIER_SOLVER_INFEASIBLE unless there is no unit.
 */
extern void tier_solver_solve(const TierSolverProblem *problem,
							  TierSolverResult *result);

#endif							/* TIER_SOLVER_H */
