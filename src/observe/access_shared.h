/*-------------------------------------------------------------------------
 *
 * observe/access_shared.h
 *		What plans read of each relation, in memory shared with the sampler.
 *
 * Without shared_preload_libraries it does not exist.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_SHARED_H
#define TIER_ACCESS_SHARED_H

#include "postgres.h"

#include "src/model/split.h"

/* Reserves and attaches to the shared memory; only while preloading. */
extern void tier_access_shared_init(void);

/* Is it there?  What is below "where it exists" may only be called if so. */
extern bool tier_access_shared_exists(void);

/*
 * Is somebody going to ask for what this backend counts?  That is so when a
 * sample of this database was taken since the start of the server, and not
 * too long ago.  Cheap enough for every statement.
 */
extern bool tier_access_shared_wanted(void);

/*
 * The kernel has counted reads from a device for a process.  As long as it has
 * not, since the start of the server, that it counted none may mean that it does
 * not count.
 */
extern void tier_access_shared_saw_device(void);

/*
 * A plan of this process is executed without being counted in the statistics of the server
 * (track_counts is off).
 */
extern void tier_access_shared_note_uncounted(void);

typedef struct TierAccessStatus
{
	bool		exists;			/* preloaded */
	bool		covered;
	int			entries;		/* relations of all databases */
	int			max_entries;
	double		dropped;		/* reads of this database that found no room */
} TierAccessStatus;

extern TierAccessStatus tier_access_shared_status(void);

/* ---------------------------------------------------------------------
 * Where it exists
 * ---------------------------------------------------------------------
 */

typedef enum TierAccessAdded
{
	TIER_ACCESS_ADDED,
	TIER_ACCESS_LOCKED,			/* by somebody else; only without waiting */
	TIER_ACCESS_FULL			/* no room: see tier_access_shared_drop */
} TierAccessAdded;

/* Adds what plans of this database have read of a relation. */
extern TierAccessAdded tier_access_shared_add(Oid relation_oid, const TierSplitPlans *plans,
											  bool wait);

/* Counts reads of this database that found no room. */
extern void tier_access_shared_drop(double reads);

/* A transaction that has drained has committed: from its take on all is counted. */
extern void tier_access_shared_cover(void);

/* One relation's, as taken. */
typedef struct TierAccessCount
{
	Oid			relation_oid;	/* the first field, by which they are sorted */
	TierSplitPlans plans;		/* all of it, that is what came since the last
								 * take, and what was carried over then */
	TierSplitPlans young;		/* what came since, and what was carried over
								 * a few seconds ago: the statistics may not
								 * have it yet */
	int64		young_since_us; /* when the first of that was taken */
} TierAccessCount;

typedef struct TierAccessTaken
{
	bool		covered;		/* counted without a gap since the last take
								 * that was committed */
	double		dropped;		/* reads that found no room since then */
	bool		uncounted;		/* the statistics have not counted all plans
								 * since then */
	bool		device_seen;	/* `measured` of the counts can be believed */
	double		worker_bytes;	/* read from devices by I/O workers, for
								 * whichever database, since the last take;
								 * only when draining */
	int			n;
	TierAccessCount *counts;	/* ordered by OID */
} TierAccessTaken;

/*
 * The two steps of a take; see tier_access_counts_take, which is for everybody
 * else.  The first fills in all but the counts; drained: this transaction has
 * drained before.  Returns false if there is no line for this database; else, when
 * draining, the database is not covered any more.  Does not fail.
 */
extern bool tier_access_shared_take_database(TierAccessTaken *taken, bool drain, bool drained);
extern void tier_access_shared_take_entries(TierAccessTaken *taken, bool drain);

/*
 * Gives back what came too early for the statistics, for the next take, which may give it
 * back again while it is young; replaces what was given back before.  since_us: the count's
 * young_since_us; 0: it is not young any more then.
 */
extern void tier_access_shared_carry(Oid relation_oid, const TierSplitPlans *plans,
									 int64 since_us);

#endif							/* TIER_ACCESS_SHARED_H */
