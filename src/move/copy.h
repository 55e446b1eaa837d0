/*-------------------------------------------------------------------------
 *
 * move/copy.h
 *		Copying the files of a relation, block for block, while they are used.
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

/* The files of a table: its own, and those of its TOAST table and of that table's index. */
#define TIER_COPY_MAX_FILES 3

typedef struct TierCopyFile
{
	RelFileLocator source;
	RelFileLocator target;
	bool		is_heap;		/* has a visibility map that must stay true,
								 * and standard pages */
} TierCopyFile;

/*
 * Begins a copy of each source into its target, in this order.  A target must not exist: it is
 * created here, and WAL-logged, in the current transaction, but it does not go away if the
 * transaction is rolled back.  The caller has made sure that the files are removed in any
 * case.  Everything lives in `context`; no lock, pin or descriptor is kept between calls.
 */
extern TierCopy *tier_copy_create(MemoryContext context, const TierCopyFile *files, int nfiles);

/*
 * All of these expect the caller to hold at least an AccessShareLock on each
 * relation, and to have checked after it was granted that the source is still
 * its file.
 */

/*
 * Copies the next blocks of the bulk copy, around the shared buffers of the target.  Returns
 * false if nothing is left; the target is then on disk.  *bytes gets the bytes copied.  Syncs
 * a limited amount at once.
 */
extern bool tier_copy_step(TierCopy *copy, int64 *bytes);

/*
 * Brings the target up to date with the WAL read so far, through shared buffers; only after
 * tier_copy_step has returned false.  Copies at most max_blocks; the rest stays pending.
 * Stops at the deadline (tier_clock_monotonic_us; 0: none) with false.
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
 * If the sources have at most TIER_COPY_FEW_BLOCKS blocks, marks all of them to be copied
 * again and returns true: then no WAL needs to be read.  Call it while the sources are locked
 * against changes, just before the last tier_copy_catch_up(), and again before each such
 * attempt.
 */
#define TIER_COPY_FEW_BLOCKS 16
extern bool tier_copy_take_all(TierCopy *copy);

/* Returns true if a source was truncated, which the next catch-up has to follow. */
extern bool tier_copy_was_truncated(const TierCopy *copy);

/*
 * Why the copy must restart in a new file, in words that can follow "it "; NULL if it need
 * not.  The reasons: the source was truncated during the bulk copy (tier_copy_catch_up deals
 * with later truncations); or data checksums were switched, so that some pages of the target
 * may have a checksum and others not.
 */
extern const char *tier_copy_restart_reason(const TierCopy *copy);

/* Blocks of all forks of the sources now, and of the targets so far. */
extern uint64 tier_copy_source_blocks(const TierCopy *copy);
extern uint64 tier_copy_done_blocks(const TierCopy *copy);

/*
 * Checks, without reading blocks, that the targets are complete.  The sources are locked
 * against changes, their WAL is read to the end or all of their blocks are copied again, and
 * no block is pending.  Compares all forks of both files as they are on disk, and with what
 * this module has written: another process that takes the target for a leftover and removes it
 * would destroy the relation.  Returns NULL, or the difference, in the current memory context.
 * Runs in all builds.
 */
extern char *tier_copy_difference(TierCopy *copy);

/* Ends the copy in memory; the file stays.  No error. */
extern void tier_copy_end(TierCopy *copy);

/* An empty set of blocks that gets its memory in `context`. */
extern void tier_copy_init_set(TierBlockSet *set, MemoryContext context);

/* Returns true if the main fork of the file exists. */
extern bool tier_copy_file_exists(RelFileLocator locator);

#endif							/* TIER_COPY_H */
