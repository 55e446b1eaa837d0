/*-------------------------------------------------------------------------
 *
 * decide/pressure.h
 *		Decides whether the server has too much to do for a move.
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
 * Why no move should begin now, in words, in the current memory context; NULL: no reason.
 * Outside of a scope: names that the current user may not know are left out.
 *
 * There are two reasons.  The WAL cannot leave the server in time, which ends with a full pg_wal
 * and all sessions at a standstill: no move is so urgent.  Or the server crashed repeatedly
 * during moves, which may be their effect: a device that fails takes the whole server down.
 */
extern char *tier_pressure_stops(const TierPressure *pressure);

/*
 * Why a move would slow others down: a move that leaves a tier that is too full does not wait for
 * that.
 */
extern char *tier_pressure_slows(const TierPressure *pressure);

#endif							/* TIER_PRESSURE_H */
