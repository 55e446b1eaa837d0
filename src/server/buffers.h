/*-------------------------------------------------------------------------
 *
 * server/buffers.h
 *		Counting the blocks of relation files in shared buffers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_BUFFERS_H
#define TIER_BUFFERS_H

#include "postgres.h"

#include "storage/block.h"

#include "src/compat.h"

/* A relation file (main fork) of the current database. */
typedef struct TierBufferFile
{
	Oid			tablespace_oid; /* the real one, where pg_class has 0 */
	Oid			file_number;	/* relfilenode; from the relation map for the
								 * catalogs where pg_class has 0 */
} TierBufferFile;

typedef struct TierBufferCount
{
	TierBufferFile file;
	uint32		cached;			/* buffers holding a block of it */
	uint32		dirty;			/* ... that are dirty */
	uint32		usage;			/* sum of the usage counts, saturating */
	char		status;			/* of the hash table */
} TierBufferCount;

typedef struct TierBufferScan TierBufferScan;

/*
 * When there are more buffers than 4 million (tiered_storage.test_buffer_scan_limit), so many
 * of them are looked at, each chosen at random out of an equal part of all, once
 * for the life of the server, and counts are scaled up.  The share that was looked
 * at, in (0, 1].
 */
extern double tier_buffers_share(const TierBufferScan *scan);

/* Standard error of a count that comes from such a share; 0 if it is 1. */
extern double tier_buffers_error(double count, double share);

/*
 * One pass over the buffer headers, without header locks: each header is read
 * between two reads of its state word and skipped for the count when a writer
 * was in it each of a few times, so a count can be off by the few buffers that
 * changed identity in that instant.  Counts main-fork blocks of the current
 * database only, shared catalogs and temporary relations not included.  Memory
 * is proportional to the number of relation files present in shared buffers,
 * never to the number of buffers, and lives in the current memory context.
 * Checks for interrupts.
 */
extern TierBufferScan *tier_buffers_scan(void);

/* NULL when the file has no buffer.  Oids as in TierBufferFile. */
extern const TierBufferCount *tier_buffers_find(const TierBufferScan *scan,
												Oid tablespace_oid,
												Oid file_number);

extern void tier_buffers_free(TierBufferScan *scan);

/*
 * Calls visit for each main-fork block of one file that is in shared buffers, with what the
 * header says, in no particular order; the same kind of pass as tier_buffers_scan, over at most
 * `limit` buffers.  Returns the share that was looked at, as tier_buffers_share.
 */
extern double tier_buffers_visit(RelFileLocator file, int limit,
								 void (*visit) (void *argument, BlockNumber block, int usage,
												bool dirty),
								 void *argument);

#endif							/* TIER_BUFFERS_H */
