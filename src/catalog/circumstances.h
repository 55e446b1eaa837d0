/*-------------------------------------------------------------------------
 *
 * catalog/circumstances.h
 *		What moves have regard to: who reads the WAL, checkpoints, and wear.
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

/* ---------------------------------------------------------------------
 * Who reads the server's WAL: not on a standby
 * ---------------------------------------------------------------------
 */

/* What a check of preflight() finds of one kind of readers. */
typedef struct TierWalFinding
{
	char	   *check;			/* its name */
	char	   *finding;
	char	   *remedy;			/* NULL: nothing is wrong */
} TierWalFinding;

/*
 * Replication slots, the archive, standbys and base backups, of a move that writes so much WAL;
 * *n of them, in the given context.  What that role may not read is not told.
 */
extern TierWalFinding *tier_catalog_wal_readers(MemoryContext context, double wal_bytes,
												Oid role_oid, int *n);

/* ---------------------------------------------------------------------
 * What samples say of the last minutes (catalog/pressure.c)
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

/* What a tier's device is written and endures, as of the last sample; NaN: not known. */
typedef struct TierWear
{
	NameData	tier_name;
	char	   *device;
	double		written_bytes_per_day;	/* by everybody */
	double		moved_bytes_per_day;	/* of these by our moves */
	double		endurance_bytes_per_day;
	double		used_fraction;	/* of its life */
	bool		is_exceeded;	/* false if that is not known */
} TierWear;

/* Puts what devices were written into the ledger.  Under the sampler's lock. */
extern void tier_catalog_count_wear(const TierDevices *devices, TimestampTz at);

/* *n of them, by tier and device, in the given context. */
extern TierWear *tier_catalog_load_wear(MemoryContext context, int *n);

/* True once a day for each device: then somebody is to be told. */
extern bool tier_catalog_wear_is_news(const char *device);

#endif							/* TIER_CATALOG_CIRCUMSTANCES_H */
