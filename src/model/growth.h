/*-------------------------------------------------------------------------
 *
 * model/growth.h
 *		How much larger relations will be: what fills a tier is not what it holds
 *		today.
 *
 * What grows is told from what was loaded as a rate is told from an event, by the
 * number of separate intervals (model/evidence.h).  A relation's own growth goes
 * where it goes.  But of a table that gets a new partition each day, and loses an old
 * one, each partition grows and all together may not: so what came to and went from
 * a tablespace, whoever did it, is noted as well, and what that differs from the
 * relations' own growth stays with the tier.  Moves are no growth.
 *
 * No forecast reaches further ahead than was looked back.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_GROWTH_H
#define TIER_GROWTH_H

#include <stdint.h>

#include "src/model/evidence.h"

/*
 * Bytes per hour by which something grows, so far as that goes on: never negative; 0
 * of what was loaded once, or grows and shrinks again.
 */
extern double tier_growth_rate(const TierEvidence *evidence, int64_t now);

/*
 * Bytes per hour by which what is noted of a tablespace changes beyond `carried`, the
 * growth of the relations in it; may be negative.  0 while that happened in too
 * few intervals to be told.
 */
extern double tier_growth_beyond(const TierEvidence *evidence, int64_t now, double carried);

/* What there will be of one tier when the forecast ends, in bytes more than now. */
typedef struct TierGrowthForecast
{
	double		carried;		/* by relations, which take it along where
								 * they go */
	double		other;			/* stays with the tier; no less than -carried,
								 * since room that is not there yet is none */
} TierGrowthForecast;

/*
 * `beyond` is per hour, as above; arrives and leaves are what policies will move to
 * the tier and from it until then.  Amounts that are not finite count as 0.
 */
extern TierGrowthForecast tier_growth_forecast(double carried, double beyond, double hours,
											   double arrives, double leaves);

/*
 * Hours until so many bytes are gone at so many bytes per hour; INFINITY: never.  0: they
 * are.
 */
extern double tier_growth_hours_until(double bytes, double bytes_per_hour);

#endif							/* TIER_GROWTH_H */
