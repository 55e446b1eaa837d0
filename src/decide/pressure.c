/*-------------------------------------------------------------------------
 *
 * decide/pressure.c
 *		Decides whether the server has too much to do for a move.
 *
 * All bytes that a move copies go into the WAL.  If the WAL cannot leave the server in time, to
 * standbys, readers of slots or the archive, a move fills pg_wal, which finally stops all
 * sessions.  If a move makes checkpoints come early, all sessions write more full-page images:
 * that is slower, but a tier that is full cannot be written at all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "postmaster/bgwriter.h"
#include "utils/timestamp.h"

#include "src/decide/pressure.h"

/* Checkpoints are counted for so many checkpoint_timeouts: two timed ones, if none is forced. */
#define CHECKPOINT_PERIODS 2.0

TierPressure *
tier_pressure_load(MemoryContext context)
{
	TierPressure *pressure = MemoryContextAllocZero(context, sizeof(TierPressure));
	double		seconds = CHECKPOINT_PERIODS * CheckPointTimeout;

	pressure->wal_lag = tier_wal_lag();
	pressure->checkpoints = tier_catalog_checkpoints_within(seconds);
	pressure->moved_bytes = tier_catalog_bytes_moved_within(seconds);
	pressure->rests_until = tier_catalog_rests_until();
	return pressure;
}

/*
 * Returns true if checkpoints are forced by volume, and would be without moves.  The server
 * forces one when there are CheckPointSegments of WAL since the last (XLogCheckpointNeeded() of
 * xlog.c).  So there is as much between each two that were forced; CHECKPOINT and backups do not
 * need it.  The same would happen without moves if the other WAL is as much in each
 * checkpoint_timeout.
 */
static bool
are_checkpoints_forced(const TierPressure *pressure)
{
	const TierCheckpoints *checkpoints = &pressure->checkpoints;
	double		forcing_bytes = (double) CheckPointSegments * wal_segment_size;
	double		others_bytes = checkpoints->wal_bytes - pressure->moved_bytes;

	return checkpoints->requested > checkpoints->timed &&
		checkpoints->wal_bytes >= Max(checkpoints->requested - 1.0, 1.0) * forcing_bytes &&
		others_bytes >= Max(checkpoints->seconds / CheckPointTimeout, 1.0) * forcing_bytes;
}

char *
tier_pressure_stops(const TierPressure *pressure)
{
	if (pressure->rests_until > GetCurrentTimestamp())
		return psprintf("waiting: the server restarted during the last moves; retry at %s",
						timestamptz_to_str(pressure->rests_until -
										   pressure->rests_until % USECS_PER_SEC));
	return pressure->wal_lag.reader == TIER_WAL_NOBODY ? NULL :
		psprintf("waiting: %s", tier_wal_lag_text(&pressure->wal_lag));
}

char *
tier_pressure_slows(const TierPressure *pressure)
{
	if (!are_checkpoints_forced(pressure))
		return NULL;
	return psprintf("waiting: the WAL forces checkpoints, %.0f of the last %.0f",
					pressure->checkpoints.requested,
					pressure->checkpoints.requested + pressure->checkpoints.timed);
}
