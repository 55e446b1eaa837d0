/*-------------------------------------------------------------------------
 *
 * model/growth.h
 *		By how much what is stored grows.
 *
 * What grows is told from what was loaded as a rate is told from an event, by the
 * number of separate intervals (model/evidence.h).  Of a table that gets a new partition
 * each day, and loses an old one, each partition grows and all together do not: so what came
 * to a tablespace and went is noted as well, and what that differs from the growth of its
 * relations counts.  Moves are no growth.
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
 * Hours until so many bytes are gone at so many bytes per hour; INFINITY: never.  0: they
 * are.
 */
extern double tier_growth_hours_until(double bytes, double bytes_per_hour);

#endif							/* TIER_GROWTH_H */
