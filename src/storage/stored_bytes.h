/*-------------------------------------------------------------------------
 *
 * storage/stored_bytes.h
 *		What the files of a relation take on a file system that compresses.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_STORED_BYTES_H
#define TIER_STORED_BYTES_H

#include "postgres.h"

#include "src/compat.h"

typedef struct TierStoredBytes
{
	double		bytes;			/* of the files that were looked at, as far as
								 * it is known what they take */
	double		stored;			/* what these take */
	const char *why_not;		/* it is not known; NULL: it is */
} TierStoredBytes;

/*
 * Of the main fork of a relation of this database, by zfs' count of the blocks of a file, or
 * by where its extents lie on btrfs.  What was not written yet does not count.  Of a large
 * relation some segments are looked at.  No lock, and nothing need exist; checks for
 * interrupts.  What is allocated lives in the current context.
 */
extern TierStoredBytes tier_stored_bytes(RelFileLocator file);

#endif							/* TIER_STORED_BYTES_H */
