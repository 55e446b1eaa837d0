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
 * Asks the policies what they take from tiers, and bring, as far ahead as growth is looked
 * at.  The units, their growth, tiers and pins are there.  Needs an active snapshot, must
 * not be called inside a catalog scope.
 */
extern void tier_advice_load_growth(TierAdvice *advice, TimestampTz now);

/* Adds it up to the forecast of each tier; after each change of a tier's figures. */
extern void tier_advice_forecast(TierAdvice *advice);

/*
 * By how many bytes a unit grows until then, on that tier; where it is, less what goes
 * there meanwhile.
 */
extern double tier_advice_grown(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/* By how many bytes a tier grows as things are. */
extern double tier_advice_growth_per_hour(const TierAdvice *advice, int tier);

/*
 * Days until nothing more fits on a tier, and until its reserve is reached, if nothing is
 * moved; INFINITY: never.
 */
extern double tier_advice_days_until_full(const TierAdvice *advice, int tier);
extern double tier_advice_days_until_reserve(const TierAdvice *advice, int tier);

#endif							/* TIER_DECIDE_GROWTH_H */
