/*-------------------------------------------------------------------------
 *
 * observe/access_shared.h
 *		Reads of plans, by relation, in memory shared with the sampler.
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

/*
 * Returns true if the shared memory exists.  The functions below "Where it exists" may be
 * called only then.
 */
extern bool tier_access_shared_exists(void);

/*
 * Returns true if a sample will use the counts of this backend: a sample of this database was
 * taken recently, and since the start of the server.  Cheap enough for every statement.
 */
extern bool tier_access_shared_wanted(void);

/*
 * Notes that the kernel has counted reads from a device for a process.  Until that has
 * happened once since the start of the server, a count of 0 may mean that the kernel does not
 * count.
 */
extern void tier_access_shared_saw_device(void);

/*
 * Notes that a plan of this process is executed with track_counts off, so that the statistics
 * of the server do not count it.
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
	TIER_ACCESS_LOCKED,			/* by another process; only without waiting */
	TIER_ACCESS_FULL			/* no room: see tier_access_shared_drop */
} TierAccessAdded;

/* Adds what plans of this database have read of a relation. */
extern TierAccessAdded tier_access_shared_add(Oid relation_oid, const TierSplitPlans *plans,
											  bool wait);

/* Counts reads of this database that found no room. */
extern void tier_access_shared_drop(double reads);

/* Called when a transaction that has drained commits: from its take on all reads are counted. */
extern void tier_access_shared_cover(void);

/* One relation's, as taken. */
typedef struct TierAccessCount
{
	Oid			relation_oid;	/* the first field, by which they are sorted */
	TierSplitPlans plans;		/* all counts: those since the last take, and
								 * those carried over then */
	TierSplitPlans young;		/* counts since the last take, and counts
								 * carried over a few seconds ago: the
								 * statistics may lack them */
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
 * The two steps of a take, for tier_access_counts_take only.  The first fills in all but the
 * counts; drained: this transaction has drained before.  Returns false if there is no line for
 * this database; else, when draining, marks the database as not covered.  Does not fail.
 */
extern bool tier_access_shared_take_database(TierAccessTaken *taken, bool drain, bool drained);
extern void tier_access_shared_take_entries(TierAccessTaken *taken, bool drain);

/*
 * Gives back counts that are newer than the statistics, for the next take, which may give them
 * back again while they are young; replaces those given back before.  since_us: young_since_us
 * of the count; 0: it is not young at the next take.
 */
extern void tier_access_shared_carry(Oid relation_oid, const TierSplitPlans *plans,
									 int64 since_us);

#endif							/* TIER_ACCESS_SHARED_H */
