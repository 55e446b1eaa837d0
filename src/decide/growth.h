/*-------------------------------------------------------------------------
 *
 * decide/growth.h
 *		How fast tiers fill, and when they are full.
 *
 * Bytes are those that are stored, compressed where the tier is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DECIDE_GROWTH_H
#define TIER_DECIDE_GROWTH_H

#include "postgres.h"

#include "src/decide/units.h"

/* By how many bytes a tier grows as things are. */
extern double tier_advice_growth_per_hour(const TierAdvice *advice, int tier);

/*
 * Days until nothing more fits on a tier, and until its reserve is reached, if nothing is
 * moved; INFINITY: never.
 */
extern double tier_advice_days_until_full(const TierAdvice *advice, int tier);
extern double tier_advice_days_until_reserve(const TierAdvice *advice, int tier);

#endif							/* TIER_DECIDE_GROWTH_H */
