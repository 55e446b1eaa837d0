/*-------------------------------------------------------------------------
 *
 * decide/growth.h
 *		What fills a tier until the horizon, and when it is full.
 *
 * Bytes are those that are stored, compressed where the tier is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DECIDE_GROWTH_H
#define TIER_DECIDE_GROWTH_H

#include "postgres.h"

#include "src/decide/units.h"

/*
 * Sets how far ahead is looked, no further than back, and fills in what is known of
 * the growth of each tier.  The units' own growth, their tiers and pins are there.
 * Needs an active snapshot, must not be called inside a catalog scope.
 */
extern void tier_advice_load_growth(TierAdvice *advice, const TierGrowths *growths,
									const TierRelationState *states, int nstates,
									const TierPolicyRow *policies, int npolicies,
									const TierPins *pins, TimestampTz now);

/* Adds it up to the forecast of each tier; after each change of a tier's figures. */
extern void tier_advice_forecast(TierAdvice *advice);

/* By how many bytes a unit grows until then, on that tier. */
extern double tier_advice_grown(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/*
 * What the units may have of a tier with this capacity then, see
 * tier_advice_available(); what comes to it whatever is placed there is taken off.
 */
extern double tier_advice_limit(const TierAdvice *advice, int tier, double capacity_bytes);

/* By how many bytes a tier grows as things are; may be negative. */
extern double tier_advice_growth_per_hour(const TierAdvice *advice, int tier);

/*
 * Days until nothing more fits on a tier, and until its reserve is reached, if nothing is
 * moved; INFINITY: never.
 */
extern double tier_advice_days_until_full(const TierAdvice *advice, int tier);
extern double tier_advice_days_until_reserve(const TierAdvice *advice, int tier);

#endif							/* TIER_DECIDE_GROWTH_H */
