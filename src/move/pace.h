/*-------------------------------------------------------------------------
 *
 * move/pace.h
 *		How fast a copy is for users of the server to bear it.
 *
 * With tiered_storage.move_max_slowdown.  The law is model/copy_rate.h; here are the clock,
 * the looks at what users wait for, and the rests.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PACE_H
#define TIER_PACE_H

#include "postgres.h"

/*
 * A look at what users do; whoever copies calls this between two batches, and while it
 * waits for the next one, every few ms.
 */
extern void tier_pace_look(void);

/*
 * Until when to wait after so many bytes, by tier_clock_monotonic_us; 0: it need not.
 * `until` is what other limits say, and limit_mb the least of these, or INFINITY.
 */
extern int64 tier_pace_charge(int64 bytes, int64 until, double limit_mb);

#endif							/* TIER_PACE_H */
