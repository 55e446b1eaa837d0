/*-------------------------------------------------------------------------
 *
 * base/idle.h
 *		Databases in which nothing happens: they need no samples.
 *
 * Each transaction that ends leaves the time in shared memory.  While none does, and none is
 * open, the launcher notes instead of starting a worker that nothing has happened until now, and
 * the next sample begins there: the result is that of a sample at that moment.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_IDLE_H
#define TIER_IDLE_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "src/base/shmem.h"

/*
 * After its transaction a process may keep counters for so long, when the statistics
 * are busy (PGSTAT_MAX_INTERVAL of pgstat.c).
 */
#define TIER_COUNTERS_LAG_MS 60000

/* For how long a worker need not look at a database while nothing happens in it. */
typedef enum TierRest
{
	TIER_REST_NONE,
	TIER_REST_BETWEEN_RUNS,		/* until policies are evaluated the next time */
	TIER_REST_IN_HOUR,			/* until the hour ends, which samples roll up */
} TierRest;

/* Makes this and all later processes leave the time; only while preloading. */
extern void tier_idle_init(void);

/* Set by the worker of a database: its own transactions are nothing that happens there. */
extern bool tier_idle_ignores_me;

/* By a worker whose cycle ends well: sets wake_at in its slot. */
extern void tier_idle_rest(TierRest rest);

/*
 * Returns true if the slot, which is due, needs no worker now; then it is due again after
 * sample_interval.  tier_shmem->lock is held exclusively.
 */
extern bool tier_idle_look(TierDatabaseSlot *slot, TimestampTz now);

/*
 * Until when nothing has happened in this database since the last sample; sampled_at, which is
 * the time of that sample (0: none), if nobody has looked since.  *position (may be NULL) is
 * moved on to the end of the WAL of then.
 */
extern TimestampTz tier_idle_until(TimestampTz sampled_at, XLogRecPtr *position);

#endif							/* TIER_IDLE_H */
