/*-------------------------------------------------------------------------
 *
 * storage/page_cache.h
 *		The part of a relation's file that is in the page cache of the system.
 *
 * Runs in any process connected to the cluster.  The only state is, in each
 * process, which system call works; it is found out by the first look and does
 * not change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PAGECACHE_H
#define TIER_PAGECACHE_H

#include "postgres.h"

#include "common/relpath.h"
#include "storage/block.h"

#include "src/compat.h"

/* The result of one look; if that returned false, it means nothing. */
typedef struct TierPagecacheLook
{
	int64		cached_bytes;	/* of the range; of a large one an estimate */
	int			files;			/* how often a file was opened for it */
} TierPagecacheLook;

/*
 * Looks at a range of blocks of the main fork of a relation of any database; blocks beyond the
 * end of the file are not cached.  Returns false if it is not known, because this system has
 * neither cachestat(2) nor mincore(2), or does not permit them for these files, or the file is
 * gone.
 *
 * Small ranges are looked at as a whole; of large ones pieces that are spread
 * over them evenly from a random start.  So the cost is bounded: about a millisecond, and
 * LOOK_PIECES files opened.
 *
 * No lock, and nothing stays open or allocated.  Reads no data, and brings nothing
 * into the page cache.  Errors only for memory, file descriptors and interrupts.
 */
extern bool tier_pagecache_look(RelFileLocator file, BlockNumber first_block,
								BlockNumber nblocks, TierPagecacheLook *look);

/*
 * Returns true if the kernel counts, for a process that reads, the bytes of the files that
 * came from the device beneath the tablespace.  True only for file systems of which that is
 * known: for ZFS threads of the kernel read, on btrfs the bytes may be compressed ones, and a
 * network is no device.  No memory, no error: may be called in an abort.
 */
extern bool tier_pagecache_counts_readers(Oid tablespace_oid);

/* "cachestat", "mincore", or NULL: which of them the next look would use. */
extern const char *tier_pagecache_method(void);

#endif							/* TIER_PAGECACHE_H */
