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

/* Of so many cheaper plans, one is watched; what that costs, bench/instructions says. */
#define TIER_TRACK_GROUP Max(tier_debug_constant(track_group, 10), 1)
#define TIER_TRACK_SHARE (1.0 / TIER_TRACK_GROUP)

/* Installs the executor hooks and their shared memory; only while preloading. */
extern void tier_access_init(void);

#endif							/* TIER_ACCESS_H */
