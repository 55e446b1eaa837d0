/*-------------------------------------------------------------------------
 *
 * observe/access.h
 *		Random and sequential reads, observed in the executor.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_H
#define TIER_ACCESS_H

#include "src/base/debug.h"

/*
 * A plan of this cost or more is always watched; a cheaper one with a probability of at least
 * its share of this cost.  About a thousand blocks in sequence, so a millisecond at least,
 * when watching it takes microseconds.
 */
#define TIER_COST_OF_CERTAINTY 1000.0

/*
 * The share of cheaper plans that are watched.  Watching all costs 0.9 % of the throughput of
 * short queries, this share 0.4 % (bench/overhead); of 30 plans, at least one is almost always
 * seen.
 */
#define TIER_TRACK_SHARE (tier_debug_constant(track_percent, 10) / 100.0)

/* Installs the executor hooks and their shared memory; only while preloading. */
extern void tier_access_init(void);

#endif							/* TIER_ACCESS_H */
