/*-------------------------------------------------------------------------
 *
 * move/wal_images.h
 *		Compressing the images of pages that a move writes to the WAL.
 *
 * A move logs every page that it copies.  With lz4 or zstd that takes a fraction of the
 * bytes, at about the same CPU, since less has to be checksummed and written.  Only the
 * records of the mover are compressed: the server's setting is as before around them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WAL_IMAGES_H
#define TIER_WAL_IMAGES_H

#include "postgres.h"

#include "access/xlogdefs.h"

/* The state of one copy; initially all zero. */
typedef struct TierWalImages
{
	bool		is_known;		/* what follows was looked up */
	bool		may_compress;	/* all readers of our WAL can decompress */
	uint64		logged_blocks;	/* since that was looked up */
	int			plain_batches;	/* to log as they are, before compression is
								 * tried again */
} TierWalImages;

/*
 * Sets how the images of the next record are compressed, in this process, and returns the
 * setting that tier_wal_images_end() restores, also after an error.  May ereport(ERROR).  The
 * administrator's lz4 or zstd is left as it is; pglz costs more CPU than a copy.
 */
extern int	tier_wal_images_begin(TierWalImages *images);

/*
 * Restores the setting.  After a record of nblocks images, from start to end; nblocks is 0 if
 * there was none.  Incompressible images suspend further attempts for some time.
 */
extern void tier_wal_images_end(TierWalImages *images, int setting, int nblocks,
								XLogRecPtr start, XLogRecPtr end);

#endif							/* TIER_WAL_IMAGES_H */
