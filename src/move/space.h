/*-------------------------------------------------------------------------
 *
 * move/space.h
 *		Space for a move: on its target, and for the WAL that it writes.
 *
 * A full file system stops the writes of users, and a full one with pg_wal stops the server.
 * So a move begins only if there is room for all of it and for the unwritten rest of other
 * moves, and it checks again while it copies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SPACE_H
#define TIER_SPACE_H

#include "postgres.h"

#include <sys/stat.h>

#include "src/server/relation.h"

/* A move checks the space each time it has written this many bytes. */
#define TIER_SPACE_STEP_BYTES (4 * 1024 * 1024)

/* A file system at the time of a look. */
typedef struct TierRoom
{
	bool		known;
	dev_t		device;
	uint64		fs_id;			/* as in TierDevice; 0: unknown */
	double		free_bytes;
	double		total_bytes;
} TierRoom;

/* Space for a move to a tablespace, at the time of a look.  Unknown space is not checked. */
typedef struct TierSpace
{
	Oid			tablespace_oid;
	int64		announced_us;	/* announcements after that do not count */
	TierRoom	target;
	TierRoom	wal;			/* where pg_wal is */
	bool		together;		/* target and wal are on the same file system */
	double		others_bytes;	/* that other moves have still to write */
	double		others_there_bytes; /* of these, to the target's file system */
	double		earlier_bytes;	/* that earlier moves will add there; 0: none.
								 * Set by the caller */
} TierSpace;

/* The space that a move needs. */
typedef struct TierSpaceNeed
{
	double		bytes;			/* on the target; with WAL, if that is there */
	double		reserve_bytes;	/* that stay free there */
	double		wal_bytes;		/* that may pile up, the others' included */
	double		own_wal_bytes;	/* of these, of this move */
	double		wal_reserve_bytes;
} TierSpaceNeed;

/*
 * Announces that this process will write size_bytes to the tablespace, so that of several
 * moves that begin at the same moment the first is admitted and the others count it.
 * from_tablespace_oid is the source, for forecasts of its space.  Returns the time of the
 * announcement, for tier_space_measure().
 */
extern int64 tier_space_announce(Oid tablespace_oid, Oid from_tablespace_oid,
								 int64 size_bytes);

/*
 * Looks at the file systems and at announcements of other backends before announced_us, by
 * tier_clock_monotonic_us; takes no lock.  The tablespace's OID is never 0.
 */
extern TierSpace tier_space_measure(Oid tablespace_oid, int64 announced_us);

/*
 * The space for a move of size_bytes, if reserve_bytes of the target stay free.  logged_bytes
 * of them go into the WAL: all, or none for an unlogged relation.
 */
extern TierSpaceNeed tier_space_need(const TierSpace *space, double reserve_bytes,
									 double size_bytes, double logged_bytes);

/* Checks the space in the tablespace, and for the WAL; a move without WAL needs none for it. */
extern TierObstacle tier_space_shortage(const TierSpace *space, double reserve_bytes,
										double size_bytes, double logged_bytes);
extern TierObstacle tier_space_wal_shortage(const TierSpace *space, double logged_bytes);

/*
 * Returns true if a tablespace shares the file system of this one, so that a move out of it
 * frees space here.
 */
extern bool tier_space_shares_room(const TierSpace *space, Oid tablespace_oid);

/*
 * The WAL that a copy of so many logged bytes writes; and whether slots or the archiver may
 * retain it.
 */
extern double tier_space_wal_bytes(double logged_bytes);
extern bool tier_space_wal_is_retained(void);

/* Returns true if less is free for WAL than is reserved.  A signal handler may call it. */
extern bool tier_space_wal_is_short(void);

/*
 * Checks the space for the next TIER_SPACE_STEP_BYTES, which every mover may write before it
 * checks again.
 */
extern TierObstacle tier_space_look(Oid tablespace_oid, double reserve_bytes);

/*
 * Bytes of all databases in a tablespace, by the sizes of their files now, because the last
 * sample may be old; plus the unwritten bytes of moves that were announced before.
 * Uncompressed sizes.
 */
extern double tier_space_taken(const TierSpace *space, Oid tablespace_oid);

/* Only the unwritten bytes of moves that were announced before announced_us. */
extern double tier_space_arriving(Oid tablespace_oid, int64 announced_us);

/* The effect of moves of other processes, of all databases, on a tablespace. */
typedef struct TierSpaceFlight
{
	double		to_write_bytes; /* to its file system */
	double		to_write_own_bytes; /* of these, of this database's relations */
	double		leaving_bytes;	/* of all databases */
	double		leaving_own_bytes;	/* of these, of this one */
} TierSpaceFlight;

/*
 * By the current announcements; takes no lock.  What leaves counts if it was announced before
 * our own move: of two moves that each suffice to empty a tier, one goes on.
 */
extern TierSpaceFlight tier_space_flight(Oid tablespace_oid);

/* Subtracts written bytes from the announcement; and withdraws it. */
extern void tier_space_written(int64 bytes);
extern void tier_space_done(void);

/* The bytes that must stay free on the file system of pg_wal, which has total_bytes. */
extern double tier_space_wal_reserve(double total_bytes);

#endif							/* TIER_SPACE_H */
