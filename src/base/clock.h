/*-------------------------------------------------------------------------
 *
 * base/clock.h
 *		The current time, for all decisions and records.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CLOCK_H
#define TIER_CLOCK_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * The time by which samples and policies judge age.  Superusers can set it for
 * a session with tiered_storage.test_now, so that tests need not wait; durations
 * are always measured by the real clock.  May go back.  Error: test_now is not a
 * time.
 */
extern TimestampTz tier_clock_now(void);

/* Returns true if tiered_storage.test_now is set. */
extern bool tier_clock_is_set(void);

/*
 * Microseconds since an arbitrary moment in the past, by the monotonic clock, which cannot be
 * set: for durations, pauses and deadlines.  All processes of the machine read the same clock.
 * The value is meaningless after a reboot, so it is neither stored nor shown.
 */
extern int64 tier_clock_monotonic_us(void);

/* Microseconds of processor time that this process has used. */
extern int64 tier_clock_cpu_us(void);

/* Seconds; 0 if `to` is not after `from`. */
static inline double
tier_seconds_between(TimestampTz from, TimestampTz to)
{
	return to <= from ? 0.0 : (double) (to - from) / USECS_PER_SEC;
}

/* Defines the setting; called once, from _PG_init. */
extern void tier_clock_init(void);

#endif							/* TIER_CLOCK_H */
