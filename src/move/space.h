/*-------------------------------------------------------------------------
 *
 * move/space.h
 *		Room for a move: where it goes, and for the WAL that it writes.
 *
 * A file system that is full stops others' writes, and one with pg_wal on it the
 * server.  So a move is not begun without room for all of it, what others under way
 * have still to write included, and it looks again as it goes on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SPACE_H
#define TIER_SPACE_H

#include "postgres.h"

/* A move looks for room each time it has written so much. */
#define TIER_SPACE_STEP_BYTES (4 * 1024 * 1024)

/*
 * Why there is no room: message NULL when there is.  In the current memory context.
 */
typedef struct TierShortage
{
	char	   *message;
	char	   *hint;
} TierShortage;

/*
 * Is there room for size_bytes in the tablespace, of which reserve_bytes stay free,
 * and for the WAL?  They come from another tablespace, which is told to those who ask
 * how full that one will be.  Announces the move first, so that of several that begin at the
 * same moment the first is admitted and the others count it.  Looks at the file
 * systems and at what other backends announce; takes no lock.  The tablespace's OID is
 * never 0.
 */
extern TierShortage tier_space_admit(Oid tablespace_oid, Oid from_tablespace_oid,
									 double reserve_bytes, int64 size_bytes);

/*
 * The same question for the next TIER_SPACE_STEP_BYTES, which everybody who moves
 * may write before asking again.
 */
extern TierShortage tier_space_look(Oid tablespace_oid, double reserve_bytes);

/* What moves of other processes, of all databases, will have done to a tablespace. */
typedef struct TierSpaceFlight
{
	double		to_write_bytes; /* to its file system */
	double		arriving_bytes; /* of relations of this database, in all */
	double		leaving_bytes;	/* of all databases */
	double		leaving_own_bytes;	/* of these, of this one */
} TierSpaceFlight;

/* As they are announced at this moment; takes no lock. */
extern TierSpaceFlight tier_space_flight(Oid tablespace_oid);

/* So much of what was announced is written; and: nothing more is to be. */
extern void tier_space_written(int64 bytes);
extern void tier_space_done(void);

/* What stays free where pg_wal is, if total_bytes is the size of its file system. */
extern double tier_space_wal_reserve(double total_bytes);

#endif							/* TIER_SPACE_H */
