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
	double		gain;			/* what it is worth, in any unit; may be
								 * negative */
	double		freed;			/* bytes that it leaves where it was, >= 0 */
	double		bytes;			/* that it copies, >= 0: what a limit counts */
} TierOrderMove;

/*
 * room: bytes that may be added to each tier before the first move; negative: so
 * many must leave it before anything comes; may be INFINITY.  A move needs its size
 * there, and afterwards leaves what it freed where it was.
 *
 * Chooses moves that together copy at most max_bytes: first what empties tiers that are too
 * full, then what is worth most for each byte, each with what has to leave its tier to make
 * room for it, of which what is worth most for each byte (that is, costs least) goes first.
 * What does not fit is passed over.  Fills in `order`, caller's array of nmoves, and
 * returns how many were chosen: they can be made one after the other.  A circle of full
 * tiers cannot be untied, and no proof is made that there is no better order.
 *
 * scratch: caller's, of TIER_ORDER_SCRATCH(nmoves) bytes.
 */
#define TIER_ORDER_SCRATCH(nmoves) ((size_t) 24 * (nmoves))

extern int	tier_order(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
					   double max_bytes, int *order, void *scratch);

/*
 * Some moves gain nothing and are only made for the room that they leave: helps, by number.
 * Puts each of them just before the first move of the order that needs its room, so that
 * nothing is left half done for long.  What none of them needs is left out of the order if
 * something is missed where it leaves from, missed by tier: that should have come there and
 * is not in the order, so the room would be made for nobody.  missed is updated: what is
 * left out is missed where it would have gone.  Returns how many moves are left; they can
 * be made in their new order.
 *
 * O(N * helpers), bounded.
 */
extern int	tier_order_spare(const TierOrderMove *moves, int *order, int n,
							 const double *room, int ntiers, const bool *helps, bool *missed);

#endif							/* TIER_ORDER_H */
