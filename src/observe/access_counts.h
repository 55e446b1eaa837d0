/*-------------------------------------------------------------------------
 *
 * observe/access_counts.h
 *		What plans read of each relation, on its way from the backends to the
 *		sampler.
 *
 * Without shared_preload_libraries nothing here counts, and a take finds
 * nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_COUNTS_H
#define TIER_ACCESS_COUNTS_H

#include "postgres.h"

#include "src/model/split.h"

/* Reserves and attaches to the shared memory; only while preloading. */
extern void tier_access_counts_init(void);

/*
 * Is somebody going to ask for what this backend counts?  That is so when a
 * sample of this database was taken since the start of the server, and not
 * too long ago.  Cheap enough for every statement.
 */
extern bool tier_access_counts_wanted(void);

/*
 * Adds what one plan did with a relation.  Kept in this process until the
 * end of the transaction, but for what does not fit.  No catalog access, no
 * error, no memory; may be called while a transaction aborts.
 */
extern void tier_access_counts_add(Oid relation_oid, const TierSplitPlans *plans);

/* The same of a plan that found all in buffers, as most do: only these, weighted. */
extern void tier_access_counts_add_hits(Oid relation_oid, double hits);

/*
 * The kernel has counted reads from a device for a process.  As long as it has
 * not, since the start of the server, that it counted none may mean that it does
 * not count.
 */
extern void tier_access_counts_saw_device(void);

/*
 * Before the first add in a process: sees to it that what is counted leaves it,
 * at the ends of transactions and of the process, where before_exit is called
 * first.
 */
extern void tier_access_counts_prepare(void (*before_exit) (void));

/* Hands on what this process has counted.  Waits for locks if it has to. */
extern void tier_access_counts_flush(void);

/* One relation's, as taken. */
typedef struct TierAccessCount
{
	Oid			relation_oid;
	TierSplitPlans plans;		/* all of it, that is what came since the last
								 * take, and what was carried over then */
	TierSplitPlans fresh;		/* what came since */
} TierAccessCount;

typedef struct TierAccessTaken
{
	bool		covered;		/* counted without a gap since the last take
								 * that was committed */
	double		dropped;		/* reads that found no room since then */
	bool		device_seen;	/* `measured` of the counts can be believed */
	int			n;
	TierAccessCount *counts;	/* ordered by OID */
} TierAccessTaken;

/*
 * What was counted for this database, in the current memory context.
 * Draining, it is gone from shared memory, and counts from now on belong to the
 * next take: that one is covered if this transaction commits.  If it does not, what
 * was taken is lost, and the next take says that it is not covered.
 */
extern TierAccessTaken tier_access_counts_take(bool drain);

/*
 * Gives back what came too early for the statistics, for the next take, and
 * for that one only; replaces what was given back before.
 */
extern void tier_access_counts_carry(Oid relation_oid, const TierSplitPlans *plans);

typedef struct TierAccessStatus
{
	bool		exists;			/* preloaded */
	bool		covered;
	int			entries;		/* relations of all databases */
	int			max_entries;
	double		dropped;		/* reads of this database that found no room */
} TierAccessStatus;

extern TierAccessStatus tier_access_counts_status(void);

#endif							/* TIER_ACCESS_COUNTS_H */
