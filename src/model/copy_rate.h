/*-------------------------------------------------------------------------
 *
 * model/copy_rate.h
 *		How fast a copy may be for the users of its server to be slowed down by no
 *		more than a given share.
 *
 * A copy rests for a part of each cycle, and the users' work in that part is their work without
 * it.  By Little's law the mean number of their processes that work or wait is the throughput
 * times what a statement takes.  So the time that such processes spend for each thing done,
 * whatever is counted as done, is as long as a statement takes, and the quotient of two such
 * figures, with the copy and without it, is by how much it makes users wait longer.
 *
 * The rate is doubled until users are slowed down by too much, or while there are none;
 * from then on it is increased by a step and decreased by a factor (AIMD).  Several copies
 * each do this for themselves: together they slow users down by no more than that, but
 * their parts need not be the same.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COPY_RATE_H
#define TIER_COPY_RATE_H

#include <stdbool.h>

/* The cycle.  All copies of a machine rest at the same time, or they would see each other. */
#define TIER_COPY_CYCLE_S 2.0
#define TIER_COPY_REST_S 0.5

/* After a copy has paused, the device still works for it: that is not looked at. */
#define TIER_COPY_SETTLE_S 0.1

/* The users of the server: their operations, and the process seconds of these. */
typedef struct TierUserTime
{
	double		looked;			/* seconds in which users were observed */
	double		busy;			/* working, or waiting for files and the WAL */
	double		waiting;		/* of these: waiting */
	double		done;			/* a number of things, always the same kinds */
} TierUserTime;

typedef struct TierCopyRate
{
	double		floor;			/* bytes per second; > 0 */
	double		ceiling;		/* at least floor; INFINITY: none */
	double		rate;			/* from floor to ceiling */
	double		step;			/* of an increase; 0: double it */
	TierUserTime resting;		/* faded, see copy_rate.c */
	TierUserTime copying;		/* since the last decision */
	int			cycles;			/* since then */
	double		slowdown;		/* as last estimated, 0: none; NaN: not known */
} TierCopyRate;

/* A copy begins at the floor. */
extern void tier_copy_rate_init(TierCopyRate *rate, double floor, double ceiling);

/* The limits have changed. */
extern void tier_copy_rate_limit(TierCopyRate *rate, double floor, double ceiling);

/*
 * Ends a cycle with the activity of users while the copy ran, and while it rested.  Users may be
 * slowed down by that share (0.25: 1.25 s instead of 1 s).  was_limiting: whether the rate
 * limited the copy; if not, a higher rate would have no effect.
 */
extern void tier_copy_rate_observe(TierCopyRate *rate, const TierUserTime *copying,
								   const TierUserTime *resting, double max_slowdown,
								   bool was_limiting);

/*
 * By which share users were slower while copying than while resting; NaN: too little was
 * done to know.
 */
extern double tier_copy_slowdown(const TierUserTime *copying, const TierUserTime *resting);

/* Returns true if almost no process waits, so that no process has to wait longer. */
extern bool tier_copy_is_alone(const TierUserTime *copying, const TierUserTime *resting);

#endif							/* TIER_COPY_RATE_H */
