/*-------------------------------------------------------------------------
 *
 * move/throttle.h
 *		Rate limits, places and the pause of the movers of this server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_THROTTLE_H
#define TIER_THROTTLE_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * All movers share tiered_storage.move_rate_limit; without preload each has it alone.  In a
 * background worker tiered_storage.worker_rate_limit counts, too, and with
 * tiered_storage.move_max_slowdown what users bear (move/pace.h).  Returns until when this
 * process has to wait after it has copied so many bytes, by tier_clock_monotonic_us; 0: no
 * wait.
 */
extern int64 tier_throttle_charge(int64 bytes);

/*
 * Takes one of tiered_storage.max_movers places; false when all are taken.  A role that is no
 * administrator has one at a time, and all such roles together leave the last one free, unless
 * there is only one.  A place that this process still has from another move is given back
 * first.  Given back by tier_throttle_leave, or at the end of the process.  Always true
 * without preload.
 */
extern bool tier_throttle_enter(Oid role_oid, bool is_administrator);
extern void tier_throttle_leave(void);

/* The number of places of other processes; 0 without preload. */
extern int	tier_throttle_others(void);

/* Why a role has to wait for a place. */
typedef enum TierThrottleWait
{
	TIER_THROTTLE_FREE,			/* it need not wait */
	TIER_THROTTLE_FULL,			/* others have all of them */
	TIER_THROTTLE_HAS_ONE,		/* the role has one, and is no administrator */
	TIER_THROTTLE_KEPT_FREE,	/* the last one is kept for administrators */
} TierThrottleWait;

/* The result that tier_throttle_enter() would have now, without taking a place. */
extern TierThrottleWait tier_throttle_ask(Oid role_oid, bool is_administrator);

/*
 * A mover that does nothing but wait, for a lock or for resume(), lets others have
 * its place: yield gives it back, resume takes one again for the same role, or is
 * false.  They do nothing in a process that has none to give.
 */
extern void tier_throttle_yield(void);
extern bool tier_throttle_resume(void);

/*
 * Returns true if all moves of this server are paused.  The pause is a file in the data
 * directory, so it survives a restart.
 */
extern bool tier_throttle_is_paused(void);

/*
 * When moves were last paused, rounded up to the next second; 0: they are not paused.  The
 * second function ends a stale pause.  For the launcher.
 */
extern TimestampTz tier_throttle_paused_at(void);
extern void tier_throttle_forget_pause(void);

/*
 * A worker blocks commands that drop, rename or copy its database.  After leave_on_pause(),
 * this process does not wait for resume(), and checks for commands that wait for the database.
 * From the first such command or pause on, leaves_because() returns the reason to leave (NULL:
 * none), and check_pause() raises it as an error with the SQLSTATE of a cancel, which ends a
 * move like any cancel.  Call check_pause() outside of critical sections and without an
 * LWLock.
 */
extern void tier_throttle_leave_on_pause(void);
extern const char *tier_throttle_leaves_because(void);
extern void tier_throttle_check_pause(void);

/* Pauses or resumes; returns false if that changes nothing. */
extern bool tier_throttle_set_paused(bool paused);

#endif							/* TIER_THROTTLE_H */
