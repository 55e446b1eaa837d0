/*-------------------------------------------------------------------------
 *
 * decide/pressure.c
 *		Has the server enough to do without a move?
 *
 * All that a move copies goes into the WAL.  Where that cannot leave the server in time,
 * to standbys, readers of slots or the archive, a move fills pg_wal; where it makes
 * checkpoints come early, everybody writes more full-page images; and a device that is
 * busy all the time has none for a copy.  The first stops everybody in the end.  The others
 * make everything slower, as a tier that is full would not: there it cannot be written at all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "postmaster/bgwriter.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/decide/pressure.h"

/* Checkpoints are counted for so many checkpoint_timeouts: two timed ones, if none is forced. */
#define CHECKPOINT_PERIODS 2.0

/* What the sampler found so many samples ago says nothing of now. */
#define FRESH_SAMPLES 2.0

TierPressure *
tier_pressure_load(MemoryContext context)
{
	TierPressure *pressure = MemoryContextAllocZero(context, sizeof(TierPressure));
	double		seconds = CHECKPOINT_PERIODS * CheckPointTimeout;

	pressure->wal_lag = tier_wal_lag();
	pressure->checkpoints = tier_catalog_checkpoints_within(seconds);
	pressure->moved_bytes = tier_catalog_bytes_moved_within(seconds);
	pressure->busy = tier_catalog_load_busy(context, FRESH_SAMPLES * tier_sample_interval_s,
											&pressure->nbusy);
	return pressure;
}

/*
 * Are they forced by volume, and would be without moves?  The server forces one when there
 * are CheckPointSegments of WAL since the last (XLogCheckpointNeeded() of xlog.c).  So there
 * is as much between each two that were forced, which CHECKPOINT and backups do not need;
 * and it would have come to that without moves if the others' WAL is as much in each
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

static double
busy_fraction(const TierPressure *pressure, Oid tablespace_oid)
{
	for (int i = 0; i < pressure->nbusy; i++)
		if (pressure->busy[i].tablespace_oid == tablespace_oid)
			return pressure->busy[i].fraction;
	return 0.0;
}

static char *
busy_text(const TierSet *set, Oid tablespace_oid, double fraction)
{
	int			tier = tier_set_tier_of_tablespace(set, tablespace_oid);

	return psprintf("waiting: %s is %.0f %% busy (move_max_device_busy is %.0f %%)",
					tier < 0 ? "its device" : psprintf("tier \"%s\"",
													   NameStr(set->tiers[tier].name)),
					fraction * 100.0, tier_move_max_device_busy * 100.0);
}

char *
tier_pressure_stops(const TierPressure *pressure)
{
	return pressure->wal_lag.reader == TIER_WAL_NOBODY ? NULL :
		psprintf("waiting: %s", tier_wal_lag_text(&pressure->wal_lag));
}

char *
tier_pressure_slows(const TierPressure *pressure, const TierSet *set, Oid from_tablespace_oid,
					Oid to_tablespace_oid)
{
	Oid			places[] = {from_tablespace_oid, to_tablespace_oid};

	if (are_checkpoints_forced(pressure))
		return psprintf("waiting: the WAL forces checkpoints, %.0f of the last %.0f",
						pressure->checkpoints.requested,
						pressure->checkpoints.requested + pressure->checkpoints.timed);
	for (int i = 0; i < (int) lengthof(places); i++)
	{
		double		fraction = busy_fraction(pressure, places[i]);

		if (fraction > tier_move_max_device_busy)
			return busy_text(set, places[i], fraction);
	}
	return NULL;
}
