/*-------------------------------------------------------------------------
 *
 * tier_advice.h
 *		From what was observed to where each relation should live.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ADVICE_H
#define TIER_ADVICE_H

#include "postgres.h"

#include "tier_catalog.h"
#include "tier_cost.h"

typedef enum TierConfidence
{
	TIER_CONFIDENCE_INSUFFICIENT,
	TIER_CONFIDENCE_TENTATIVE,
	TIER_CONFIDENCE_FIRM,
} TierConfidence;

/*
 * One thing to place: a table or materialized view with its TOAST table, or
 * an index.  Tiers are indexes into the set.
 */
typedef struct TierAdviceUnit
{
	Oid			relation_oid;
	char		kind;			/* relkind */
	int			current_tier;	/* -1: in no tier, then left alone */
	int			recommended_tier;
	int			wanted_tier;	/* where it would be if there were room; -1:
								 * there */
	int			policy_tier;	/* where a policy has put it, -1: no policy */
	double		size_bytes;
	TierCostLoad load;			/* middle of the attribution */
	double		sequential_low; /* blocks per hour */
	double		sequential_high;
	double		hits_per_hour;
	double		cached_fraction;
	double		observed_s;
	TierConfidence confidence;
} TierAdviceUnit;

typedef struct TierAdvice
{
	TierSet    *set;
	int			nunits;
	TierAdviceUnit *units;		/* by OID */
	double	   *available_bytes;	/* by tier: what the units may take there */
} TierAdvice;

/*
 * Looks at all relations now, together with what is remembered, and solves the
 * placement.  Reads only; must not be called inside a scope; needs an active
 * snapshot.  Result in the current memory context.
 */
extern TierAdvice *tier_advice_make(void);

/* Device-seconds per hour and money per month of a unit on a tier. */
extern double tier_advice_busy(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);
extern double tier_advice_price(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/* Device-seconds of moving it there, once; 0 for where it is. */
extern double tier_advice_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

extern const char *tier_advice_confidence_text(TierConfidence confidence);

/* One sentence with the numbers in it, for where it should be. */
extern char *tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit);

/* The statement that does it, or NULL when there is nothing to do. */
extern char *tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit);

#endif							/* TIER_ADVICE_H */
