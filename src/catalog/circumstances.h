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
 * Who reads the server's WAL (catalog/wal_readers.c): not on a standby
 * ---------------------------------------------------------------------
 */

/* Replication slots, and the one that is in most trouble, else furthest behind. */
typedef struct TierSlots
{
	int			n;
	int			idle;			/* of these: keep WAL, and nobody reads it */
	char	   *name;			/* NULL: there is none */
	char	   *wal_status;		/* as in pg_replication_slots; NULL: keeps
								 * none */
	bool		is_idle;
	double		lag_bytes;		/* of WAL that it keeps; 0: none */
} TierSlots;

/* Standbys that are connected, and the one that is furthest behind. */
typedef struct TierReplicas
{
	int			n;
	int			synchronous;	/* of these */
	char	   *name;			/* NULL: there is none */
	double		lag_bytes;		/* of WAL to replay; negative: not known */
} TierReplicas;

typedef struct TierArchive
{
	TimestampTz archived_at;	/* the last that was; 0: never */
	TimestampTz failed_at;		/* the last that was not; 0: never */
	int64		failures;
	char	   *failed_wal;		/* NULL: none */
} TierArchive;

/* Base backups under way by pg_basebackup and the like; *pid of one, *phase or NULL. */
extern int	tier_catalog_backups(MemoryContext context, int *pid, char **phase);

/* Strings in the given context. */
extern TierSlots tier_catalog_slots(MemoryContext context);
extern TierReplicas tier_catalog_replicas(MemoryContext context);
extern TierArchive tier_catalog_archive(MemoryContext context);

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
 * Wear: catalog/wear.c
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
