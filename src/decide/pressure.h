/*-------------------------------------------------------------------------
 *
 * decide/pressure.h
 *		Has the server enough to do without a move?
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PRESSURE_H
#define TIER_PRESSURE_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/server/wal_lag.h"

/* As of the moment in which it was loaded; not changed afterwards. */
typedef struct TierPressure
{
	TierWalLag	wal_lag;
	TierCheckpoints checkpoints;	/* of the last two checkpoint_timeout */
	double		moved_bytes;	/* in that time: their WAL is ours */
	TimestampTz rests_until;	/* after crashes of the server; 0: they do not
								 * rest */
} TierPressure;

/* Inside of a scope; the result lives in the given context. */
extern TierPressure *tier_pressure_load(MemoryContext context);

/*
 * Why nobody should begin to move something now, in words, in the current memory context;
 * NULL: nothing speaks against it.  Outside of a scope: names that the current user may not
 * know are left out.
 *
 * The WAL cannot leave the server in time, which ends with a full pg_wal and everybody at a
 * standstill: nothing is so urgent.  Or the server crashed again and again during moves, which may
 * be by what they do: a device that fails takes the whole server down.
 */
extern char *tier_pressure_stops(const TierPressure *pressure);

/* Others are slowed down by it: what leaves a tier that is too full does not wait for that. */
extern char *tier_pressure_slows(const TierPressure *pressure);

#endif							/* TIER_PRESSURE_H */
