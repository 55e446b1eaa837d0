/*-------------------------------------------------------------------------
 *
 * model/order.h
 *		In which order moves can be made so that no tier ever overflows.
 *
 * Pure, like the solver: plain numbers in, plain numbers out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ORDER_H
#define TIER_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* The tier at the other end is not one of those whose room is known. */
#define TIER_ORDER_ELSEWHERE (-1)

typedef struct TierOrderMove
{
	int			from;			/* tier, or TIER_ORDER_ELSEWHERE */
	int			to;				/* tier, another one than from */
	double		size;			/* bytes that it needs there, >= 0 */
	double		gain;			/* value, in any unit; may be negative */
	double		freed;			/* bytes that it leaves where it was, >= 0 */
	double		bytes;			/* bytes that it copies, >= 0: counted by the
								 * limit */
} TierOrderMove;

/*
 * room: bytes that may be added to each tier before the first move; negative: so many must leave
 * it before anything arrives; may be INFINITY.  A move needs its size on its target, and
 * afterwards leaves the bytes it freed on its source.
 *
 * Chooses moves that together copy at most max_bytes: first those that empty tiers that are too
 * full, then those with the largest value per byte.  Each comes with the moves that have to leave
 * its tier to make room for it, of which those with the largest value per byte (the least cost)
 * go first.  Moves that do not fit are passed over.  Fills in `order`, caller's array of nmoves,
 * and returns how many were chosen: they can be made one after the other.  A circle of full tiers
 * cannot be resolved, and the order is not proven to be the best.
 *
 * scratch: caller's, of TIER_ORDER_SCRATCH(nmoves) bytes.
 */
#define TIER_ORDER_SCRATCH(nmoves) ((size_t) 24 * (nmoves))

extern int	tier_order(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
					   double max_bytes, int *order, void *scratch);

/*
 * Some moves gain nothing and are only made for the room that they leave: helps, by number.  Puts
 * each of them just before the first move of the order that needs its room, so that no half-done
 * state lasts long.  A helper that none of them needs is spare if its source tier is not too full
 * without it and missed[] is set for that tier: a unit should have come there and is not in the
 * order, so the room would be of no use.  Spare moves go behind the others, and set missed[] of
 * their target.  Returns how many moves are not spare; they can be made in their new order.
 *
 * O(N * helpers), bounded.
 */
extern int	tier_order_spare(const TierOrderMove *moves, int *order, int n,
							 const double *room, int ntiers, const bool *helps, bool *missed);

#endif							/* TIER_ORDER_H */
