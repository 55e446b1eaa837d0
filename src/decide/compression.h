/*-------------------------------------------------------------------------
 *
 * decide/compression.h
 *		How each unit compresses on each tier.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DECIDE_COMPRESSION_H
#define TIER_DECIDE_COMPRESSION_H

#include "src/decide/units.h"

/*
 * Sets the ratios of the units of which there are estimates, for the tiers that compress, by
 * the algorithm of each.  On a tier that is known by its file systems to have so much used,
 * all that is there now has just that together.  Units and estimates are there, and nothing
 * of the tiers is overridden yet.
 */
extern void tier_compression_mark(TierAdvice *advice);

/* On this tier they are like all others: somebody asks what if. */
extern void tier_compression_forget(TierAdvice *advice, int tier);

/* The profile of a tier as it is for a unit: with how that one compresses there, if known. */
extern TierCostProfile tier_advice_profile(const TierAdvice *advice, const TierAdviceUnit *unit,
										   int tier);

#endif							/* TIER_DECIDE_COMPRESSION_H */
