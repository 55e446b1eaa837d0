/*-------------------------------------------------------------------------
 *
 * move/pace.h
 *		The rate of a copy that limits the slowdown of users.
 *
 * Implements tiered_storage.move_max_slowdown.  The model is in model/copy_rate.h; here are
 * the clock, the samples of what users wait for, and the rests.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PACE_H
#define TIER_PACE_H

#include "postgres.h"

/*
 * Samples the activity of users.  A mover calls it between two batches, and every few ms while
 * it waits for the next one.
 */
extern void tier_pace_look(void);

/*
 * When the next batch may begin after so many bytes, by tier_clock_monotonic_us; 0: now.
 * `until` is the result of the other limits, and limit_mb the lowest of these, or INFINITY.
 */
extern int64 tier_pace_charge(int64 bytes, int64 until, double limit_mb);

#endif							/* TIER_PACE_H */
