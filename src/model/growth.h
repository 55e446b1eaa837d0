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
 * Bytes by which what is in a tablespace changes in so many hours beyond `carried`, what
 * the relations in it grow by meanwhile; may be negative.  0 while such changes came in
 * too few intervals to be told.
 */
extern double tier_growth_beyond(const TierEvidence *evidence, int64_t now, double hours,
								 double carried);

/*
 * What there will be of one tier when the forecast ends, in bytes more than now.  What
 * goes counts against what relations grow by there, and against nothing else: room that
 * is not there yet is none, and a relation that is moved away takes its growth along,
 * but leaves no room that others would have made.
 */
typedef struct TierGrowthForecast
{
	double		carried;		/* by relations, as far as nothing goes for it */
	double		share;			/* 0 to 1: that part of what they grow by */
	double		other;			/* stays with the tier, whatever is placed
								 * there */
} TierGrowthForecast;

/*
 * `beyond` as above; arrives and leaves are what policies will move to the tier and from
 * it until then.  Amounts that are not finite count as 0.
 */
extern TierGrowthForecast tier_growth_forecast(double carried, double beyond,
											   double arrives, double leaves);

/*
 * Hours until so many bytes are gone at so many bytes per hour; INFINITY: never.  0: they
 * are.
 */
extern double tier_growth_hours_until(double bytes, double bytes_per_hour);

#endif							/* TIER_GROWTH_H */
