/*-------------------------------------------------------------------------
 *
 * model/share.h
 *		How databases share a tier that is too small for all of them: by price.
 *
 * Each says how many bytes it would have there at which price, in device time that a byte
 * saves.  The price is the one at which all of these together just fit: each byte goes to
 * who saves most by it, whoever came first.  Since demand falls with the price, and steps
 * are divisible, that is the optimum of the linear relaxation of placing the relations of
 * all databases at once, with one limit.
 *
 * Nothing here searches: the same demands have the same price and the same shares.  And who asks
 * says more for what he has there than for the same if he had it elsewhere, as a placement does
 * (TIER_PLACEMENT_DOUBT), so that what has moved is not sent back.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SHARE_H
#define TIER_SHARE_H

#include <stdbool.h>

/* More steps would tell apart what loads are not known well enough for. */
#define TIER_SHARE_STEPS 24

/* Of a tier that is shared, so much is given to nobody: shares vary within it. */
#define TIER_SHARE_SLACK 0.05

/* Who would have so many bytes, as long as a byte costs less than it saves. */
typedef struct TierShareStep
{
	double		bytes;			/* positive and finite */
	double		price;			/* device-seconds per hour and byte; positive */
	double		largest;		/* of these, in one piece; 0: can be split */
} TierShareStep;

/* What one database wants of a tier.  The highest prices come first. */
typedef struct TierShareDemand
{
	double		kept_bytes;		/* stay at any price; at least 0 */
	int			nsteps;
	TierShareStep steps[TIER_SHARE_STEPS];
} TierShareDemand;

/*
 * One demand from many: sorts the steps, and merges neighbors until there are
 * TIER_SHARE_STEPS.  Bytes, and what all of them together save, stay the same.  A step without
 * bytes or a positive, finite price wants nothing.  Changes what it is given.
 */
extern void tier_share_gather(TierShareDemand *demand, double kept_bytes,
							  TierShareStep *steps, int nsteps);

/* All that it wants, at any price. */
extern double tier_share_wanted(const TierShareDemand *demand);

/*
 * The price at which the demands fit into the capacity without TIER_SHARE_SLACK of it, and what
 * each database gets at it; 0 where all fits into the whole, and then everybody gets what he
 * wants.  Equal prices are served in proportion.  Holds of every answer: a share is at
 * least what is kept; the shares are not more than the capacity, unless what is kept is; nobody
 * gets more than he wants; and no step gets a part for which its largest piece would have to be
 * split.
 */
extern double tier_share_clear(const TierShareDemand *demands, int n, double capacity_bytes,
							   double *shares);

/*
 * How much a database may have that has used_bytes now: its share; and what it has stays as long
 * as it is not more by what the slack would give it.  So shares that vary a little, as loads do,
 * move nothing to and fro, and together all have room.
 */
extern double tier_share_allows(double used_bytes, double share_bytes);

#endif							/* TIER_SHARE_H */
