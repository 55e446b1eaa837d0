/*-------------------------------------------------------------------------
 *
 * server/wal_lag.h
 *		Lag of the readers of the WAL, and failures of the archiver.
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

/* The reader of the WAL that is too far behind, for which moves wait. */
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
 * Returns the reader of the WAL that is too far behind: the connected standby that has most to
 * replay, if that is more than tiered_storage.move_max_lag; else the slot that retains most,
 * in use or not, if that is more; else the archiver, if it has failed since its last success.
 * Backups and invalidated slots do not count.  On a standby there is none.  Statistics of the
 * archiver may be cached, as stats_fetch_consistency says.
 */
extern TierWalLag tier_wal_lag(void);

/*
 * Returns true if another server may replay our WAL as it is written: there is a physical
 * slot, or a WAL sender that does more than a base backup.
 */
extern bool tier_wal_is_streamed(void);

/*
 * Describes the reader in words that can follow "waiting: ", in the current memory context;
 * NULL for TIER_WAL_NOBODY.  Outside of a scope.  Details that the current user may not see
 * are left out.
 */
extern char *tier_wal_lag_text(const TierWalLag *lag);

#endif							/* TIER_WAL_LAG_H */
