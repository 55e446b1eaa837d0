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

#include <sys/stat.h>

#include "src/server/relation.h"

/* A move looks for room each time it has written so much. */
#define TIER_SPACE_STEP_BYTES (4 * 1024 * 1024)

/* A file system as it was when somebody looked. */
typedef struct TierRoom
{
	bool		known;
	dev_t		device;
	uint64		fs_id;			/* as in TierDevice; 0: unknown */
	double		free_bytes;
	double		total_bytes;
} TierRoom;

/*
 * What there is for a move to a tablespace, as it was when somebody looked.  The room of
 * what is not known is not judged.
 */
typedef struct TierSpace
{
	Oid			tablespace_oid;
	int64		announced_us;	/* what was announced later does not count */
	TierRoom	target;
	TierRoom	wal;			/* where pg_wal is */
	bool		together;		/* which is the same file system */
	double		others_bytes;	/* that other moves have still to write */
	double		others_there_bytes; /* of these, to the target's file system */
	double		earlier_bytes;	/* that will be there by then, by moves that
								 * come first; 0: none.  Set by the caller */
} TierSpace;

/* What a move needs of it. */
typedef struct TierSpaceNeed
{
	double		bytes;			/* on the target; with WAL, if that is there */
	double		reserve_bytes;	/* that stay free there */
	double		wal_bytes;		/* that may pile up, the others' included */
	double		own_wal_bytes;	/* of these, of this move */
	double		wal_reserve_bytes;
} TierSpaceNeed;

/*
 * Says to others that this process will write size_bytes there, so that of several that
 * begin at the same moment the first is admitted and the others count it.  They come from
 * another tablespace, which is told to those who ask how full that one will be.  Since when,
 * for tier_space_measure().
 */
extern int64 tier_space_announce(Oid tablespace_oid, Oid from_tablespace_oid,
								 int64 size_bytes);

/*
 * Looks at the file systems and at what other backends have announced before announced_us,
 * by tier_clock_monotonic_us; takes no lock.  The tablespace's OID is never 0.
 */
extern TierSpace tier_space_measure(Oid tablespace_oid, int64 announced_us);

/*
 * What a move of size_bytes needs there, if reserve_bytes of the target stay free.  Of these,
 * logged_bytes go into the WAL: all, or none of an unlogged relation.
 */
extern TierSpaceNeed tier_space_need(const TierSpace *space, double reserve_bytes,
									 double size_bytes, double logged_bytes);

/* Is there room for it in the tablespace, and for the WAL?  Who writes none needs none there. */
extern TierObstacle tier_space_shortage(const TierSpace *space, double reserve_bytes,
										double size_bytes, double logged_bytes);
extern TierObstacle tier_space_wal_shortage(const TierSpace *space, double logged_bytes);

/* Is a tablespace on the file system of this one, so that what leaves it is free here? */
extern bool tier_space_shares_room(const TierSpace *space, Oid tablespace_oid);

/* What a copy of so many bytes that are logged writes into the WAL; may something keep that? */
extern double tier_space_wal_bytes(double logged_bytes);
extern bool tier_space_wal_is_retained(void);

/*
 * The same question for the next TIER_SPACE_STEP_BYTES, which everybody who moves
 * may write before asking again.
 */
extern TierObstacle tier_space_look(Oid tablespace_oid, double reserve_bytes);

/*
 * Bytes that databases have in a tablespace, by their files, which are looked at: what the
 * last sample recorded may be long ago.  And what moves that were announced before have still
 * to write.  Not compressed.
 */
extern double tier_space_taken(const TierSpace *space, Oid tablespace_oid);

/* The latter alone, of moves that were announced before announced_us. */
extern double tier_space_arriving(Oid tablespace_oid, int64 announced_us);

/* What moves of other processes, of all databases, will have done to a tablespace. */
typedef struct TierSpaceFlight
{
	double		to_write_bytes; /* to its file system */
	double		to_write_own_bytes; /* of these, of this database's relations */
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
