/*-------------------------------------------------------------------------
 *
 * move/copy_state.h
 *		A copy in memory.  For these only:
 *
 *		copy_blocks.c		makes it
 *		copy_changes.c		what the WAL says meanwhile
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COPY_STATE_H
#define TIER_COPY_STATE_H

#include "postgres.h"

#include "storage/bufmgr.h"

#include "src/move/copy.h"
#include "src/move/segment_file.h"
#include "src/move/wal_images.h"

/*
 * One file of a copy.  A block gets into `changed` when the WAL names it, or when the source
 * is found to be longer, and leaves it just before its image is taken, never after.
 * target_has and target_blocks say what we have made of the target; that it is so on disk is
 * checked before a truncation and under the strong lock, because no other process should know
 * the file.
 */
typedef struct CopiedFile
{
	/* Set when the copy begins. */
	RelFileLocator source;
	RelFileLocator target;
	bool		is_heap;		/* and so its pages are standard ones */

	/*
	 * Changes by the WAL that are not copied yet; set by the note_...
	 * functions.
	 */
	TierBlockSet changed[MAX_FORKNUM + 1];	/* of copied_forks */
	BlockNumber truncated_to;	/* the lowest length; InvalidBlockNumber: it
								 * was not, or the target has followed */

	/* The state of the target. */
	bool		target_has[MAX_FORKNUM + 1];	/* the fork exists */
	BlockNumber target_blocks[MAX_FORKNUM + 1];
} CopiedFile;

/*
 * One copy, in the memory of the mover, which alone reads and changes it.  It outlives
 * transactions.  It has two phases: the bulk copy, in which tier_copy_step() processes the
 * files and their forks and writes around shared buffers, and then (through_buffers) catching
 * up.  The fields of the first phase are meaningless in the second one.
 */
struct TierCopy
{
	/* Set when the copy begins. */
	MemoryContext context;
	TierWal    *wal;
	bool		writes_checksums;	/* of this process, when the copy began */
	int			nfiles;
	CopiedFile	files[TIER_COPY_MAX_FILES];

	bool		switched_checksums; /* the WAL said so; never unset: the copy
									 * must restart */
	bool		takes_all;		/* the last result of tier_copy_take_all() */

	/* The bulk copy; nothing of it counts once through_buffers is set. */
	bool		through_buffers;	/* the bulk copy is complete, and synced */
	int			file_index;		/* in files */
	int			fork_index;		/* in copied_forks */
	BlockNumber next_block;		/* of that fork */
	TierSegmentFile writer;		/* of that file's target */

	TierWalImages images;

	/* Working memory. */
	BufferAccessStrategy reading;	/* a few buffers, again and again */
	BufferAccessStrategy writing;
	char	   *pages;			/* TIER_COPY_STEP_BLOCKS */
};

/* For tier_wal_start(): notes changes in the copy. */
extern TierWalObserver tier_copy_observer(TierCopy *copy);

/* Tests can make it look as if that were switched. */
extern bool tier_copy_writes_checksums(void);

#endif							/* TIER_COPY_STATE_H */
