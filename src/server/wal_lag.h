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

/* The reader that is furthest behind. */
typedef struct TierWalLag
{
	double		bytes;			/* of WAL that it has not replayed, or keeps;
								 * 0: there is none, or none is behind */
	int			pid;			/* of the WAL sender; 0: a slot */
	char		name[NAMEDATALEN];	/* application_name, or the slot's */
} TierWalLag;

/*
 * Of connected standbys by what they have to replay, and of replication slots by what they
 * keep, read or not.  Backups, and slots that keep nothing any more, do not count.  On a
 * standby, nothing.  *standby and *slot are filled in.
 */
extern void tier_wal_lag(TierWalLag *standby, TierWalLag *slot);

/* Has the archiver failed since it last succeeded?  Then since when, else 0. */
extern TimestampTz tier_archiving_fails_since(void);

#endif							/* TIER_WAL_LAG_H */
