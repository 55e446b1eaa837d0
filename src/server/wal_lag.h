/*-------------------------------------------------------------------------
 *
 * server/wal_lag.h
 *		How far readers of the WAL are behind, and whether it can be archived.
 *
 * From shared memory, without a query: movers ask in the middle of a copy.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WAL_LAG_H
#define TIER_WAL_LAG_H

#include "postgres.h"

#include "datatype/timestamp.h"

typedef enum TierWalReader
{
	TIER_WAL_NOBODY,
	TIER_WAL_STANDBY,
	TIER_WAL_SLOT,
	TIER_WAL_ARCHIVER,
} TierWalReader;

/* Who does not keep up with the WAL, so that it should not become more than it must. */
typedef struct TierWalLag
{
	TierWalReader reader;
	double		bytes;			/* of WAL that a standby has not replayed, or
								 * a slot keeps; else 0 */
	char		name[NAMEDATALEN];	/* application_name, or the slot's; else
									 * "" */
	TimestampTz failed_at;		/* of the archiver: when it last failed */
} TierWalLag;

/*
 * Is a reader of the WAL too far behind?  The connected standby that has most to replay,
 * if that is more than tiered_storage.move_max_lag; else the slot that keeps most, read or
 * not, if that is; else the archiver, if it has failed since it last succeeded.  Backups,
 * and slots that keep nothing any more, do not count.  On a standby, nobody.  What is said
 * of the archiver is as old as stats_fetch_consistency has it.
 */
extern TierWalLag tier_wal_lag(void);

/*
 * May another server replay our WAL as it is written?  True while there is a physical slot, or
 * a WAL sender that does more than a base backup.
 */
extern bool tier_wal_is_streamed(void);

/*
 * In words that can follow "waiting: ", in the current memory context; NULL for nobody.
 * Outside of a scope: what the current user may not know is left out.
 */
extern char *tier_wal_lag_text(const TierWalLag *lag);

#endif							/* TIER_WAL_LAG_H */
