/*-------------------------------------------------------------------------
 *
 * server/relation_pages.h
 *		Reading some pages of a relation as they are, for what is no query on it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RELATION_PAGES_H
#define TIER_RELATION_PAGES_H

#include "postgres.h"

#include "storage/block.h"

/* One relation that is locked; from open to close, or the end of the transaction. */
typedef struct TierPages TierPages;

/*
 * Locks a relation of this database (AccessShareLock) without waiting for it.  NULL: not
 * possible, and *why in words that can follow "it cannot be read: ".  In the current memory
 * context.
 */
extern TierPages *tier_pages_open(Oid relation_oid, const char **why);

/* Pages of the main fork when it was opened; it gets no shorter while it is locked. */
extern BlockNumber tier_pages_count(const TierPages *pages);

/*
 * Copies n pages from `first` on, all of which are there, as any query reads them: what
 * somebody has changed and not written yet is in them.  Through few shared buffers, like a
 * large scan; counts for no statistics of the relation.
 */
extern void tier_pages_read(TierPages *pages, BlockNumber first, int n, char *bytes);

/* Does somebody wait for a lock on it, so that it had better be closed soon? */
extern bool tier_pages_are_awaited(const TierPages *pages);

/* The lock is released. */
extern void tier_pages_close(TierPages *pages);

#endif							/* TIER_RELATION_PAGES_H */
