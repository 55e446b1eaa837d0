/*-------------------------------------------------------------------------
 *
 * move/copy.h
 *		Second files with the same blocks as those of a relation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COPY_H
#define TIER_COPY_H

#include "postgres.h"

#include "storage/block.h"

#include "src/compat.h"
#include "src/model/blockset.h"
#include "src/server/wal.h"

/* Blocks that one step of the bulk copy takes, one WAL record. */
#define TIER_COPY_STEP_BLOCKS 32

typedef struct TierCopy TierCopy;

/* Those of a table: its own, that of its TOAST table, and of the index of that. */
#define TIER_COPY_MAX_FILES 3

typedef struct TierCopyFile
{
	RelFileLocator source;
	RelFileLocator target;
	bool		is_heap;		/* has a visibility map that must stay true,
								 * and standard pages */
} TierCopyFile;

/*
 * Begins a copy of each source into its target, which must not exist: it is created
 * here, and WAL-logged, in the current transaction, but it is not tied to it.  The
 * caller has made sure that the files are removed whatever happens.  They are copied
 * in this order.  Everything lives in `context`; no lock, pin or descriptor is kept
 * between calls.
 */
extern TierCopy *tier_copy_create(MemoryContext context, const TierCopyFile *files, int nfiles);

/*
 * All of these expect the caller to hold at least an AccessShareLock on each
 * relation, and to have checked after it was granted that the source is still
 * its file.
 */

/*
 * Copies the next blocks of the bulk copy, around the shared buffers of the
 * target.  False when nothing is left; the target is then on disk.  *bytes gets
 * what was copied.  Never has much to sync at once.
 */
extern bool tier_copy_step(TierCopy *copy, int64 *bytes);

/*
 * Brings the target up to date with what the WAL has said so far, through
 * shared buffers; not before tier_copy_step has said false.  At most max_blocks
 * are copied; the rest stays pending.  Stops at the deadline
 * (tier_clock_monotonic_us; 0: none) with false.
 */
extern bool tier_copy_catch_up(TierCopy *copy, uint64 max_blocks, int64 deadline_us, int64 *bytes);

/* Blocks that tier_copy_catch_up would copy now. */
extern uint64 tier_copy_pending_blocks(TierCopy *copy);

/*
 * Read the WAL so far; see tier_wal_read, tier_wal_read_all, tier_wal_is_behind,
 * tier_wal_is_near.
 */
extern TierWalResult tier_copy_read_wal(TierCopy *copy);
extern TierWalResult tier_copy_read_all_wal(TierCopy *copy, int64 deadline_us, int64 *flush_us);
extern bool tier_copy_is_near(const TierCopy *copy);
extern bool tier_copy_is_behind(const TierCopy *copy);

/*
 * Marks all blocks to be copied again, if there are so few, and returns true: then no WAL needs
 * to be read.  To be asked where nobody can change the sources any more, just before the last
 * tier_copy_catch_up(), and again before each such attempt.
 */
#define TIER_COPY_FEW_BLOCKS 16
extern bool tier_copy_take_all(TierCopy *copy);

/* A source became shorter, which the next catch-up has to follow. */
extern bool tier_copy_was_truncated(const TierCopy *copy);

/*
 * NULL, or why the copy must restart, in a new file: words that can follow "it ".
 * It was truncated during the bulk copy (afterwards tier_copy_catch_up deals with
 * that); or data checksums were switched, so that some pages of the target may have
 * been written with a checksum and some without.
 */
extern const char *tier_copy_restart_reason(const TierCopy *copy);

/* Blocks of the sources now, all forks, and blocks of the targets so far. */
extern uint64 tier_copy_source_blocks(const TierCopy *copy);
extern uint64 tier_copy_done_blocks(const TierCopy *copy);

/*
 * Nobody can change the sources any more, their WAL is read to the end, or all of them is taken
 * anew, and what was to be copied is: is that so, as far as it can be told without reading blocks?
 * All forks of both are compared as they are on disk, also with what this module
 * has made: nobody else should know the target, and who takes it for a leftover
 * would cost the relation.  NULL, or in what they differ, in the current context.
 * In all builds.
 */
extern char *tier_copy_difference(TierCopy *copy);

/* Ends the copy in memory; the file stays.  No error. */
extern void tier_copy_end(TierCopy *copy);

/* An empty set of blocks that gets its memory in `context`. */
extern void tier_copy_init_set(TierBlockSet *set, MemoryContext context);

/* Does the file, its main fork, exist? */
extern bool tier_copy_file_exists(RelFileLocator locator);

#endif							/* TIER_COPY_H */
