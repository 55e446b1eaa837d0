/*-------------------------------------------------------------------------
 *
 * move/segment_file.h
 *		Writing the segments of a new file around the shared buffers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SEGMENT_FILE_H
#define TIER_SEGMENT_FILE_H

#include "postgres.h"

#include "common/relpath.h"
#include "storage/block.h"
#include "storage/fd.h"

#include "src/compat.h"

/* The segment that is being written; local to the process. */
typedef struct TierSegmentFile
{
	RelFileLocator locator;		/* set by tier_segment_file_init() */
	File		file;			/* -1: none is open, and what follows means
								 * nothing */
	ForkNumber	fork;
	BlockNumber segment;
	int			unsynced;		/* blocks written since the last sync */
} TierSegmentFile;

extern void tier_segment_file_init(TierSegmentFile *writer, RelFileLocator locator);

/*
 * Adds n pages to the end of the fork, which has `first` blocks.  A complete segment is synced.
 * No other process may know the file.
 */
extern void tier_segment_file_append(TierSegmentFile *writer, ForkNumber fork,
									 BlockNumber first, int n, char *pages);

/* Syncs all written blocks to disk, or once there are many. */
extern void tier_segment_file_sync(TierSegmentFile *writer, bool all);

/* Raises no error.  Call tier_segment_file_sync() first if the file is kept. */
extern void tier_segment_file_close(TierSegmentFile *writer);

#endif							/* TIER_SEGMENT_FILE_H */
