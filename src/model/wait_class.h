/*-------------------------------------------------------------------------
 *
 * model/wait_class.h
 *		Maps a wait event to the kind of file that is waited for.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WAITCLASS_H
#define TIER_WAITCLASS_H

#include <stdbool.h>

typedef enum TierWaitClass
{
	TIER_WAIT_CPU,				/* works, or waits unseen by the server */
	TIER_WAIT_RELATION,			/* files of relations */
	TIER_WAIT_WAL,
	TIER_WAIT_TEMP,				/* files of sorts, hashes, tuple stores */
	TIER_WAIT_SLRU,				/* pg_xact, pg_subtrans, pg_multixact ... */
	TIER_WAIT_OTHER_IO,			/* other files */
	TIER_WAIT_LOCK,				/* locks that SQL can take */
	TIER_WAIT_LWLOCK,			/* the server's own short locks */
	TIER_WAIT_OTHER,
	TIER_WAIT_CLASSES
} TierWaitClass;

/*
 * The class of a wait event by its names as in pg_stat_activity; both NULL:
 * no wait.  Names are those of PostgreSQL 15 to 19; one that is not known goes
 * by its type.
 */
extern TierWaitClass tier_wait_classify(const char *type, const char *event);

/* "cpu", "relations", "wal", ...; as in the column wait_class. */
extern const char *tier_wait_class_name(TierWaitClass wait_class);

#endif							/* TIER_WAITCLASS_H */
