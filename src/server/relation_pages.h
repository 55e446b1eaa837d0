/*-------------------------------------------------------------------------
 *
 * server/relation_pages.h
 *		Reading some pages of a relation outside of a query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RELATION_PAGES_H
#define TIER_RELATION_PAGES_H

#include "postgres.h"

#include "storage/block.h"

/* A relation that is locked from open to close, or to the end of the transaction. */
typedef struct TierPages TierPages;

/*
 * Locks a relation of this database (AccessShareLock) without waiting for it.  Returns NULL if
 * it cannot be read, and sets *why to words that can follow "it cannot be read: ".  The result
 * is in the current memory context.
 */
extern TierPages *tier_pages_open(Oid relation_oid, const char **why);

/* Pages of the main fork when it was opened; it gets no shorter while it is locked. */
extern BlockNumber tier_pages_count(const TierPages *pages);

/* Those of a table of which the visibility map says that all rows are frozen. */
extern BlockNumber tier_pages_count_frozen(const TierPages *pages);

/*
 * Copies n pages from `first` on, all of which must exist.  Includes changes that are not
 * written to disk yet, as the pages are read through shared buffers: few of them, as by a
 * large scan.  Does not count in the statistics of the relation.
 */
extern void tier_pages_read(TierPages *pages, BlockNumber first, int n, char *bytes);

/* Returns true if another process waits for a lock on the relation; then close it soon. */
extern bool tier_pages_are_awaited(const TierPages *pages);

/*
 * Vacuums a table with its TOAST table, so that as many pages as possible are frozen; with the
 * rights of the caller, who has checked those of the one who asks.  Left out are a table that is
 * locked, and one with an index for which a vacuum may compute expressions.  No file is shrunk.
 * At top level, in a transaction without SPI and snapshots, which may end; at the return one has
 * begun.
 */
extern void tier_pages_freeze(Oid table_oid);

/*
 * While it is on, a process that waits for a lock of this one for deadlock_timeout cancels this
 * one (57014), as it cancels autovacuum.  Takes an LWLock: after an error, call it when the
 * transaction has been aborted.
 */
extern void tier_pages_yield(bool yields);

/* Releases the lock. */
extern void tier_pages_close(TierPages *pages);

#endif							/* TIER_RELATION_PAGES_H */
