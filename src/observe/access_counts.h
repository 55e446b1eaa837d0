/*-------------------------------------------------------------------------
 *
 * observe/access_counts.h
 *		What the plans of this process read of each relation, until it is handed
 *		on.
 *
 * Without shared_preload_libraries nothing here counts, and a take finds
 * nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_COUNTS_H
#define TIER_ACCESS_COUNTS_H

#include "postgres.h"

#include "src/compat.h"
#include "src/model/split.h"
#include "src/observe/access_shared.h"

/*
 * Adds what one plan did with a relation.  Kept in this process until the
 * end of the transaction, but for what does not fit.  No catalog access, no
 * error, no memory; may be called while a transaction aborts.
 */
extern void tier_access_counts_add(Oid relation_oid, const TierSplitPlans *plans);

/* The same of a plan that found all in buffers, as most do: only these, weighted. */
extern void tier_access_counts_add_hits(Oid relation_oid, double hits);

/*
 * The server has counted this for one statement of an application that is ignored.  As long as
 * there is memory all of it is kept until the end of the transaction, when the server's own
 * counts are handed on.  No catalog access, no error.
 */
extern void tier_access_counts_add_ignored(Oid relation_oid,
										   const TierCompatBlockCounts *counts);

/*
 * Before the first add in a process: sees to it that what is counted leaves it,
 * at the ends of transactions and of the process, where before_exit is called
 * first.
 */
extern void tier_access_counts_prepare(void (*before_exit) (void));

/*
 * What was counted for this database, in the current memory context.
 * Draining, it is gone from shared memory, and counts from now on belong to the
 * next take: that one is covered if this transaction commits.  If it does not, what
 * was taken is lost, and the next take says that it is not covered.
 */
extern TierAccessTaken tier_access_counts_take(bool drain);

#endif							/* TIER_ACCESS_COUNTS_H */
