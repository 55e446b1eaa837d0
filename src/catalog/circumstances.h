/*-------------------------------------------------------------------------
 *
 * catalog/circumstances.h
 *		Conditions that moves take into account: readers of the WAL, checkpoints, and wear.
 *
 * Part of catalog/tables.h, which says what holds for all of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_CIRCUMSTANCES_H
#define TIER_CATALOG_CIRCUMSTANCES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "src/model/device_state.h"

/*---------------------------------------------------------------------
 * Readers of the server's WAL: not on a standby
 *---------------------------------------------------------------------
 */

/* The result of a check of preflight() for one kind of readers. */
typedef struct TierWalFinding
{
	char	   *check;			/* its name */
	char	   *finding;
	char	   *remedy;			/* NULL: nothing is wrong */
} TierWalFinding;

/*
 * Findings about replication slots, the archive, standbys and base backups, for a move that
 * writes so much WAL; *n of them, in the given context.  Details that the role may not see are
 * left out.
 */
extern TierWalFinding *tier_catalog_wal_readers(MemoryContext context, double wal_bytes,
												Oid role_oid, int *n);

/* ---------------------------------------------------------------------
 * Load of the last minutes, by samples (catalog/pressure.c)
 * ---------------------------------------------------------------------
 */

typedef struct TierCheckpoints
{
	double		requested;
	double		timed;
	double		wal_bytes;		/* of the whole server */
	double		seconds;		/* in which all of this was; 0: not known */
} TierCheckpoints;

/* Of the samples that began in the last seconds. */
extern TierCheckpoints tier_catalog_checkpoints_within(double seconds);

/* ---------------------------------------------------------------------
 * Wear: catalog/device_wear.c
 * ---------------------------------------------------------------------
 */

/* Writes and endurance of a tier's device, as of the last sample; NaN: not known. */
typedef struct TierWear
{
	NameData	tier_name;
	char	   *device;
	double		written_bytes_per_day;	/* by all writers */
	double		moved_bytes_per_day;	/* of these by our moves */
	double		endurance_bytes_per_day;
	double		used_fraction;	/* of its life */
	bool		is_exceeded;	/* false if that is not known */
} TierWear;

/* Adds the writes of devices to device_wear.  Under the sampler's lock. */
extern void tier_catalog_count_wear(const TierDevices *devices, TimestampTz at);

/* *n of them, by tier and device, in the given context. */
extern TierWear *tier_catalog_load_wear(MemoryContext context, int *n);

/* Returns true once a day for each device, when a warning is due. */
extern bool tier_catalog_wear_is_news(const char *device);

#endif							/* TIER_CATALOG_CIRCUMSTANCES_H */
