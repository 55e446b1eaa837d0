/*-------------------------------------------------------------------------
 *
 * catalog/standbys.h
 *		Standbys whose reads count here, and their reports (catalog/standby.c,
 *		catalog/standby_pull.c).
 *
 * Part of catalog/tables.h, which says what holds for all of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_STANDBYS_H
#define TIER_CATALOG_STANDBYS_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "datatype/timestamp.h"

#include "src/model/relation_state.h"

/* ---------------------------------------------------------------------
 * Asking them (catalog/standby_pull.c)
 * ---------------------------------------------------------------------
 */

/* A standby as it was added.  Strings live in the context that it was loaded in. */
typedef struct TierStandby
{
	char	   *name;
	char	   *conninfo;
	Oid			added_by_oid;
	char	   *added_by;		/* name of that role when it was added */
	TimestampTz added_at;
} TierStandby;

/* Of one relation, in the statistics of a standby; all are counters, from 0 on. */
typedef struct TierStandbyCounters
{
	Oid			relation_oid;
	int64		scans;
	int64		tuples_read;
	int64		blocks_fetched;
	int64		blocks_hit;
	int64		held_ms;		/* age of the oldest transaction that has it
								 * locked there, and may have reads that are
								 * not counted yet; -1: none */
} TierStandbyCounters;

/* The directory of one tablespace there. */
typedef struct TierStandbyPlace
{
	Oid			tablespace_oid;
	bool		is_usable;		/* it is there and can be written to */
	int64		file_system_id; /* 0: not told */
	int64		free_bytes;		/* negative: not told; total_bytes, too */
	int64		total_bytes;
	TimestampTz replayed_until; /* moves that had ended by then are in
								 * free_bytes; by the clock of this server */
} TierStandbyPlace;

/* The result of one pull, checked by observe/standby_reads.c. */
typedef struct TierStandbyAnswer
{
	char	   *problem;		/* NULL: the rest means something */
	bool		is_no_standby;	/* the problem is that another server answers */
	int64		conflict_delay_ms;	/* max_standby_streaming_delay there, -1:
									 * for ever; -2: it does not report
									 * transactions */
	TierStandbyCounters *counters;	/* by relation, each once */
	int			ncounters;
	TierStandbyPlace *places;	/* by tablespace, each once */
	int			nplaces;
	bool		has_places;		/* false: it does not tell, which changes
								 * nothing */
	TimestampTz asked_at;
} TierStandbyAnswer;

/*
 * Adds a standby.  Raises an error if there is one of that name, or there are too many.  The
 * caller has checked the privileges and the connection string.
 */
extern void tier_catalog_add_standby(const char *name, const char *conninfo, Oid added_by_oid);

/* The standbys that are due, in the order in which they are to be asked; *n of them. */
extern TierStandby *tier_catalog_due_standbys(MemoryContext context, int *n);

/*
 * Stores the answer, unless the standby was removed since, or removed and added again.  The
 * growth of its counters goes to the next sample; the first answer is the baseline.
 */
extern void tier_catalog_store_standby(const TierStandby *standby,
									   const TierStandbyAnswer *answer);

/*---------------------------------------------------------------------
 * Their reports (catalog/standby.c)
 *---------------------------------------------------------------------
 */

/*
 * Moves the reads that were pulled from standbys since the last sample from standby_reads to
 * period.standby of the states, which are ordered by OID; under the sampler's lock.  Reads of
 * other relations are dropped.  Does not change CurrentMemoryContext.
 */
extern void tier_catalog_take_standby_reads(TierRelationState *states, int nstates);

/* The reads of relations on standbys whose reads count. */
typedef struct TierStandbyUse
{
	TimestampTz known_since;	/* when the last of them was added; 0: none */
	const char *silent;			/* a standby without a recent report, and
								 * since when, in words; NULL: none */
	Oid		   *read;			/* sorted: read there since the last sample */
	int			nread;
} TierStandbyUse;

/* Strings in the given context.  Lately: within so many seconds. */
extern TierStandbyUse tier_catalog_load_standby_use(MemoryContext context, double lately_s);

/* The directory of a tablespace on a standby, as of its last pull. */
typedef struct TierStandbyRoom
{
	char	   *standby_name;
	bool		is_usable;		/* the directory exists and can be written to */
	double		free_bytes;		/* negative: not known; total_bytes, too */
	double		total_bytes;
	char	   *looked_at;		/* when */
} TierStandbyRoom;

/*
 * A transaction on a standby that uses a relation for so long that the replay of a strong lock
 * would have to wait for it, and then cancel it.
 */
typedef struct TierStandbyUser
{
	Oid			relation_oid;	/* 0: one of those that were asked for */
	char	   *standby_name;	/* NULL: there is none, and the other fields
								 * are meaningless */
	int64		open_ms;		/* the age of the transaction when the standby
								 * was asked */
	int64		delay_ms;		/* the delay until it is cancelled; -1: never,
								 * and replay stops meanwhile */
} TierStandbyUser;

/* Returns true if a transaction of this age counts, given the delay. */
extern bool tier_standby_is_long(int64 open_ms, int64 delay_ms);

/* All such transactions by the last pull, if that was recent; the oldest ones first. */
extern TierStandbyUser *tier_catalog_standby_users(MemoryContext context, int *nusers);

/*
 * The number of standbys; *nknown gets the number of those with a recent report on
 * transactions.
 */
extern int	tier_catalog_standbys_telling(int *nknown);

/*
 * The number of standbys that replicate from this server and were not added, and the name of
 * one of them that is not the name of an added one; NULL and 0 if there are none.  Standbys
 * that replicate from another standby are not seen.
 */
extern char *tier_catalog_unknown_standby(MemoryContext context, int *n);

/*
 * The reports of all standbys on the tablespace at their last pull, in the given context; does
 * not ask the standbys.  Free bytes exclude the bytes that this database has moved there
 * since, or is moving there in other sessions.
 */
extern TierStandbyRoom *tier_catalog_standby_rooms(MemoryContext context, Oid tablespace_oid,
												   int *nrooms);

/*
 * The number of standbys; *nknown gets the number of those that have reported the tablespace's
 * directory within a day, and whose last pull has not failed.
 */
extern int	tier_catalog_count_standbys(Oid tablespace_oid, int *nknown);

#endif							/* TIER_CATALOG_STANDBYS_H */
