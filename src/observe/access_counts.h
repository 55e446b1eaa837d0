/*-------------------------------------------------------------------------
 *
 * observe/access_counts.h
 *		Reads of the plans of this process, by relation, until they are passed on.
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
 * Adds the accesses of one plan to a relation.  Counts are kept in this process until the end
 * of the transaction, except those that do not fit.  No catalog access, no error, no memory;
 * may be called while a transaction aborts.
 */
extern void tier_access_counts_add(Oid relation_oid, const TierSplitPlans *plans);

/* The same for a plan that found all blocks in buffers, as most do: only its hits, weighted. */
extern void tier_access_counts_add_hits(Oid relation_oid, double hits);

/*
 * Adds what the server has counted for one statement of an ignored application.  If memory
 * suffices, all of it is kept until the end of the transaction, when the server reports its
 * own counts.  No catalog access, no error.
 */
extern void tier_access_counts_add_ignored(Oid relation_oid,
										   const TierCompatBlockCounts *counts);

/*
 * Must be called before the first add in a process: arranges that counts are passed on at the
 * end of each transaction and at the exit of the process, where before_exit is called first.
 */
extern void tier_access_counts_prepare(void (*before_exit) (void));

/*
 * Returns the counts of this database, in the current memory context.  With drain, they are
 * removed from shared memory, and later counts belong to the next take, which is covered if
 * this transaction commits.  If it does not commit, the taken counts are lost, and the next
 * take is not covered.
 */
extern TierAccessTaken tier_access_counts_take(bool drain);

#endif							/* TIER_ACCESS_COUNTS_H */
