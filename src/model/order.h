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
	double		seconds;		/* that it takes to make it */
	double		bytes;			/* that it copies, >= 0: what a limit counts */
} TierOrderMove;

/*
 * room: bytes that may be added to each tier before the first move; negative: so
 * many must leave it before anything comes; may be INFINITY.  A move needs its size
 * there, and afterwards leaves what it freed where it was.  order: caller's array of nmoves.
 *
 * Fills in the moves that can be made, one after the other, and returns how
 * many they are; those that are left have no room whichever of the others go
 * first, as far as this has found out.  What is worth most for each second that it
 * takes comes first, so that as much as possible is gained as early as possible
 * (Smith's rule: weighted completion times, one machine).  What has no room yet is
 * counted together with what makes room for it, and these go just before it.
 *
 * Other orders are tried if that one has no room for all: what is worth least first,
 * which is what makes room, or small or large ones first.  One of them is taken if it
 * leaves tiers less overfull; else if what it makes gains more, which counts before how
 * many moves that are; else if it makes more of them.  With two tiers that is no proof
 * that there is no better order, and with more of them still less: a circle of full
 * tiers cannot be untied at all.
 *
 * scratch: caller's array of 3 * nmoves.  O(N log N + N * passes), of which
 * there are at most TIER_ORDER_PASSES, and at most TIER_ORDER_EFFORT looks for what
 * could make room.
 */
#define TIER_ORDER_PASSES 64
#define TIER_ORDER_EFFORT 10000000L

extern int	tier_order(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
					   int *order, int *scratch);

/*
 * Chooses moves that together copy at most max_bytes: what is worth most for
 * each byte first, each with what has to leave its tier to make room for it, of
 * which what is worth most for each byte (that is, costs least) goes first.  What
 * does not fit is passed over.  Fills in `order`, caller's array of nmoves, and
 * returns how many were chosen.  All of them can be made in this order: it is that of
 * tier_order() if there all of them can be made too, else that in which they were
 * chosen.
 *
 * scratch: caller's array of 3 * nmoves.  O(N log N + N * passes), and at most twice
 * TIER_ORDER_EFFORT looks for what could make room.
 */
extern int	tier_order_choose(const TierOrderMove *moves, int nmoves,
							  const double *room, int ntiers,
							  double max_bytes, int *order, int *scratch);

/*
 * Some moves gain nothing and are only made for the room that they leave: helps, by number.
 * Puts each of them just before the first move of the order that needs its room, so that
 * nothing is left half done for long.  What none of them needs is left out of the order if
 * something is missed where it leaves from, missed by tier: that should have come there and
 * is not in the order, so the room would be made for nobody.  missed is updated: what is
 * left out is missed where it would have gone.  Returns how many moves are left; they can
 * be made in their new order.
 *
 * O(N * helpers), of which at most TIER_ORDER_EFFORT is done.
 */
extern int	tier_order_spare(const TierOrderMove *moves, int *order, int n,
							 const double *room, int ntiers, const bool *helps, bool *missed);

#endif							/* TIER_ORDER_H */
