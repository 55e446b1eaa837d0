/*-------------------------------------------------------------------------
 *
 * model/growth.h
 *		The growth of stored data.
 *
 * Growth is distinguished from a load like a rate from an event, by the number of separate
 * intervals (model/evidence.h).  If a table gets a new partition each day, and loses an old one,
 * each partition grows and all together do not.  So the bytes that come to a tablespace and leave
 * it are noted as well, and their difference to the growth of its relations counts.  Moves are no
 * growth.
 *
 * A forecast reaches at most as far ahead as the observation reaches back.
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
 * Bytes per hour of growth, as long as it continues: never negative; 0 after a single load, or if
 * the size grows and shrinks again.
 */
extern double tier_growth_rate(const TierEvidence *evidence, int64_t now);

/*
 * The change of the bytes in a tablespace in so many hours beyond `carried`, the growth of its
 * relations in that time; may be negative.  0 while such changes came in too few intervals for an
 * estimate.
 */
extern double tier_growth_beyond(const TierEvidence *evidence, int64_t now, double hours,
								 double carried);

/*
 * Hours until so many bytes are gone at so many bytes per hour; INFINITY: never.  0: they
 * are.
 */
extern double tier_growth_hours_until(double bytes, double bytes_per_hour);

#endif							/* TIER_GROWTH_H */
