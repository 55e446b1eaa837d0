/*-------------------------------------------------------------------------
 *
 * move/copy_blocks.c
 *		Copying the files of a relation, block for block, while they are used.
 *
 * Runs in the mover.  Knows files, blocks and WAL, not relations: locks and
 * catalogs are the caller's (move/online/steps.c).  The files of a table, its TOAST
 * table and the index of that are copied one after the other, in bulk; one reading of
 * the WAL serves all of them, so that each is followed while the next is copied.
 *
 * Why the copy is true.  Crash recovery may lose everything that is not in the WAL, so a file
 * that has an image of each block, plus every change that the WAL names after the image was
 * taken, is one that recovery could have produced itself.  A page is read under a share lock,
 * so a change is either in the image, or its WAL record comes after the beginning of our
 * reading.  The record names the block, and the whole block is copied again.  Blocks are taken
 * from the set of changed blocks before they are copied, so that a change that is read about
 * later puts it back.
 *
 * Exceptions:
 * - Hint bits and killed index items change a page under a share lock and
 *   without WAL.  They may be lost, or half there, as in a crash.
 * - Before 19 heap records that clear a bit of the visibility map do not name
 *   its page.  So a changed heap block means that its map page has changed.
 * - The free space map is not logged, and its contents are only hints.  Each of its blocks is
 *   copied once.
 * - Blocks are added to a file before the first record names them, or none ever does.  The
 *   ends of all forks are compared, instead of read from the WAL.
 * - A truncation names no block.  The target is cut at least as short, its maps
 *   with it by the server's own rules; what the source has beyond is copied
 *   again, and all of its visibility map.
 *
 * At the end, when the source is locked against changes, all that can be compared quickly is
 * compared (tier_copy_difference).  A relation of a few blocks is then copied once more as a
 * whole, instead of reading its changes from the WAL: SET TABLESPACE does the same.
 *
 * How the target is written.  The bulk copy bypasses the shared buffers, so that it evicts no
 * other pages, and is synced at the end.  From the first catch-up on, all writes go through
 * shared buffers, because two paths to one block would conflict.  Either way every block is in
 * the WAL, for standbys and backups.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogutils.h"
#include "catalog/storage.h"
#include "catalog/storage_xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/move/copy.h"
#include "src/move/copy_state.h"
#include "src/base/debug.h"
#include "src/move/segment_file.h"
#include "src/move/wal_images.h"

/* The forks that are copied, in the order of the bulk copy. */
static const ForkNumber copied_forks[] = {MAIN_FORKNUM, VISIBILITYMAP_FORKNUM, FSM_FORKNUM};

/* ---------------------------------------------------------------------
 * Blocks
 * ---------------------------------------------------------------------
 */

static BlockNumber
source_blocks(const CopiedFile *file, ForkNumber fork)
{
	SMgrRelation source = tier_compat_smgropen(file->source);

	if (fork != MAIN_FORKNUM && !smgrexists(source, fork))
		return 0;
	return smgrnblocks(source, fork);
}

/*
 * An image of a block as of now.  Without the relation, so that its statistics
 * do not count us as its users.  The server itself reads the maps like this,
 * since a torn page of them is no damage.
 */
static void
read_image(const TierCopy *copy, const CopiedFile *file, ForkNumber fork, BlockNumber block,
		   char *page)
{
	Buffer		buffer = ReadBufferWithoutRelcache(file->source, fork, block,
												   fork == MAIN_FORKNUM ? RBM_NORMAL :
												   RBM_ZERO_ON_ERROR,
												   copy->reading, true);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

/* Returns true if the space between pd_lower and pd_upper is unused. */
static bool
pages_are_standard(const CopiedFile *file, ForkNumber fork)
{
	return fork == MAIN_FORKNUM && file->is_heap;
}

static void
create_fork(CopiedFile *file, ForkNumber fork)
{
	if (file->target_has[fork])
		return;
	smgrcreate(tier_compat_smgropen(file->target), fork, false);
	log_smgrcreate(&file->target, fork);
	file->target_has[fork] = true;
}

/* ---------------------------------------------------------------------
 * The bulk copy
 * ---------------------------------------------------------------------
 */

/* Copies blocks of the fork to the end of the target's, n at most a step. */
static void
copy_batch(TierCopy *copy, CopiedFile *file, ForkNumber fork, BlockNumber first, int n)
{
	BlockNumber blocks[TIER_COPY_STEP_BLOCKS];
	Page		pages[TIER_COPY_STEP_BLOCKS];
	volatile int logged = 0;
	int			setting;

	for (int i = 0; i < n; i++)
	{
		blocks[i] = first + i;
		pages[i] = copy->pages + (Size) i * BLCKSZ;
		tier_blockset_remove(&file->changed[fork], blocks[i]);
		read_image(copy, file, fork, blocks[i], pages[i]);
	}

	/*
	 * A base backup that begins between the record and the writes would have
	 * neither: its checkpoint waits for us.  Whatever ends the transaction
	 * takes the flag away.
	 */
	MyProc->delayChkptFlags |= DELAY_CHKPT_START;

	/* One record, of no interest to our reading. */
	setting = tier_wal_images_begin(&copy->images);
	PG_TRY();
	{
		log_newpages(&file->target, fork, n, blocks, pages, pages_are_standard(file, fork));
		logged = n;
	}
	PG_FINALLY();
	{
		tier_wal_images_end(&copy->images, setting, logged, ProcLastRecPtr, XactLastRecEnd);
	}
	PG_END_TRY();
	tier_wal_skip(copy->wal, ProcLastRecPtr, XactLastRecEnd);

	for (int i = 0; i < n; i++)
		tier_compat_page_set_checksum(pages[i], blocks[i]);
	tier_segment_file_append(&copy->writer, fork, first, n, copy->pages);
	MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;

	/*
	 * No checkpoint waits for a sync; the server syncs the file before the
	 * swap.
	 */
	tier_segment_file_sync(&copy->writer, false);
	file->target_blocks[fork] = first + n;
}

/* The next blocks of the current file; false when nothing of it is left, and it is on disk. */
static bool
step_in_file(TierCopy *copy, CopiedFile *file, int64 *bytes)
{
	while (copy->fork_index < (int) lengthof(copied_forks))
	{
		ForkNumber	fork = copied_forks[copy->fork_index];
		BlockNumber nblocks = source_blocks(file, fork);
		int			n = (int) Min(nblocks - Min(copy->next_block, nblocks), TIER_COPY_STEP_BLOCKS);

		if (n > 0)
		{
			create_fork(file, fork);
			copy_batch(copy, file, fork, copy->next_block, n);
			copy->next_block += n;
			*bytes = (int64) n * BLCKSZ;
			return true;
		}

		/* Written around the buffers, so no checkpoint will sync it. */
		tier_segment_file_sync(&copy->writer, true);
		tier_segment_file_close(&copy->writer);
		if (file->target_has[fork] && file->target_blocks[fork] == 0)
			smgrimmedsync(tier_compat_smgropen(file->target), fork);
		copy->fork_index++;
		copy->next_block = 0;
		tier_debug_point("fork_copied");
	}
	return false;
}

bool
tier_copy_step(TierCopy *copy, int64 *bytes)
{
	*bytes = 0;
	while (copy->file_index < copy->nfiles)
	{
		CopiedFile *file = &copy->files[copy->file_index];

		/* Earlier changes of the source do not matter for the target. */
		if (copy->fork_index == 0 && copy->next_block == 0)
		{
			file->truncated_to = InvalidBlockNumber;
			tier_segment_file_init(&copy->writer, file->target);
		}
		if (step_in_file(copy, file, bytes))
		{
			tier_debug_point(psprintf("in_file_%d", copy->file_index));
			return true;
		}
		copy->file_index++;
		copy->fork_index = 0;
	}
	copy->through_buffers = true;
	return false;
}

/* ---------------------------------------------------------------------
 * Catching up
 * ---------------------------------------------------------------------
 */

static void
copy_through_buffers(TierCopy *copy, CopiedFile *file, ForkNumber fork, BlockNumber block)
{
	char	   *page = copy->pages;
	Buffer		buffer;
	int			setting;

	tier_blockset_remove(&file->changed[fork], block);
	read_image(copy, file, fork, block, page);

	create_fork(file, fork);
	if (block < file->target_blocks[fork])
		buffer = ReadBufferWithoutRelcache(file->target, fork, block, RBM_ZERO_AND_LOCK,
										   copy->writing, true);
	else
	{
		buffer = tier_compat_extend_to(file->target, fork, block, copy->writing);
		file->target_blocks[fork] = block + 1;
	}

	setting = tier_wal_images_begin(&copy->images);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, pages_are_standard(file, fork));
	END_CRIT_SECTION();
	tier_wal_images_end(&copy->images, setting, 1, ProcLastRecPtr, XactLastRecEnd);
	UnlockReleaseBuffer(buffer);
}

/* With its maps; logged. */
static void
truncate_file(RelFileLocator locator, BlockNumber nblocks)
{
	Relation	file = CreateFakeRelcacheEntry(locator);

	/* Before 17 the open file knows the entry as its owner. */
	PG_TRY();
	{
		RelationTruncate(file, nblocks);
	}
	PG_FINALLY();
	{
		FreeFakeRelcacheEntry(file);
	}
	PG_END_TRY();
}

/* Returns true if all forks have the length that this module has written. */
static bool
is_intact(const CopiedFile *file)
{
	SMgrRelation target = tier_compat_smgropen(file->target);

	for (int i = 0; i < (int) lengthof(copied_forks); i++)
	{
		ForkNumber	fork = copied_forks[i];

		if (smgrexists(target, fork) != file->target_has[fork] ||
			(file->target_has[fork] && smgrnblocks(target, fork) != file->target_blocks[fork]))
			return false;
	}
	return true;
}

/*
 * The source became shorter.  The target is cut at the same place, if it is that long, and in
 * any case its maps are cut with it: they may have been copied when the source was longer than
 * ever the target.  A page of a map that only the target has would never be copied again, and
 * its bits would be wrong for blocks that are added later.  Whatever the source has beyond
 * that point by now is new to the target.
 */
static void
follow_truncation(CopiedFile *file)
{
	BlockNumber nblocks = Min(file->truncated_to, file->target_blocks[MAIN_FORKNUM]);

	/* The server would panic if there were less than we cut. */
	if (!is_intact(file))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("the file of an unfinished move was changed by another process")));
	truncate_file(file->target, nblocks);
	file->truncated_to = InvalidBlockNumber;
	for (int i = 0; i < (int) lengthof(copied_forks); i++)
		if (file->target_has[copied_forks[i]])
			file->target_blocks[copied_forks[i]] = smgrnblocks(tier_compat_smgropen(file->target),
															   copied_forks[i]);
	if (file->is_heap && !tier_debug_skips("visibility_map"))
		for (BlockNumber block = 0; block < source_blocks(file, VISIBILITYMAP_FORKNUM); block++)
			tier_blockset_add(&file->changed[VISIBILITYMAP_FORKNUM], block);
}

/* Adds to the changed blocks those that the target does not have at all. */
static void
note_growth(CopiedFile *file, ForkNumber fork)
{
	BlockNumber nblocks = source_blocks(file, fork);

	for (BlockNumber block = file->target_blocks[fork]; block < nblocks; block++)
		tier_blockset_add(&file->changed[fork], block);

	/*
	 * A map page is changed with any of its blocks, even if it is not there.
	 * Nor does the target have it: the source gets shorter by a truncation
	 * only, and the target has followed.
	 */
	tier_blockset_truncate(&file->changed[fork], nblocks);
}

uint64
tier_copy_pending_blocks(TierCopy *copy)
{
	uint64		blocks = 0;

	for (int f = 0; f < copy->nfiles; f++)
		for (int i = 0; i < (int) lengthof(copied_forks); i++)
		{
			note_growth(&copy->files[f], copied_forks[i]);
			blocks += copy->files[f].changed[copied_forks[i]].count;
		}
	return blocks;
}

/*
 * Most tests of following the WAL have tables of a few pages, so that debug builds follow it
 * there, too, unless they are told not to.
 */
#ifdef TIER_DEBUG
#define TAKES_FEW_BLOCKS_ANEW tier_debug_skips("follow_small")
#else
#define TAKES_FEW_BLOCKS_ANEW true
#endif

/*
 * A flush of the WAL takes longer than to copy a few blocks.  Of a source that is shorter than
 * its target only the WAL can tell where it was cut.
 */
static bool
may_take_all(TierCopy *copy)
{
	if (!TAKES_FEW_BLOCKS_ANEW || tier_copy_source_blocks(copy) > TIER_COPY_FEW_BLOCKS ||
		tier_copy_was_truncated(copy))
		return false;
	for (int f = 0; f < copy->nfiles; f++)
		for (int i = 0; i < (int) lengthof(copied_forks); i++)
			if (source_blocks(&copy->files[f], copied_forks[i]) <
				copy->files[f].target_blocks[copied_forks[i]])
				return false;
	return true;
}

bool
tier_copy_take_all(TierCopy *copy)
{
	copy->takes_all = may_take_all(copy);
	for (int f = 0; copy->takes_all && f < copy->nfiles; f++)
		for (int i = 0; i < (int) lengthof(copied_forks); i++)
		{
			CopiedFile *file = &copy->files[f];
			BlockNumber nblocks = source_blocks(file, copied_forks[i]);

			for (BlockNumber block = 0; block < nblocks; block++)
				tier_blockset_add(&file->changed[copied_forks[i]], block);
		}
	return copy->takes_all;
}

/* Changed blocks of one file, at most max_blocks; false at the deadline. */
static bool
catch_up_file(TierCopy *copy, CopiedFile *file, uint64 *max_blocks, int64 deadline_us,
			  int64 *bytes)
{
	for (int i = 0; i < (int) lengthof(copied_forks); i++)
	{
		ForkNumber	fork = copied_forks[i];
		BlockNumber block = 0;

		while (*max_blocks > 0 &&
			   (block = tier_blockset_next(&file->changed[fork], block)) != TIER_NO_BLOCK)
		{
			CHECK_FOR_INTERRUPTS();

			/* Any block may have to be read from disk. */
			if (deadline_us != 0 && tier_clock_monotonic_us() > deadline_us)
				return false;
			copy_through_buffers(copy, file, fork, block);
			(*max_blocks)--;
			*bytes += BLCKSZ;
		}
	}
	return true;
}

bool
tier_copy_catch_up(TierCopy *copy, uint64 max_blocks, int64 deadline_us, int64 *bytes)
{
	*bytes = 0;
	Assert(copy->through_buffers);
	for (int i = 0; i < copy->nfiles; i++)
		if (copy->files[i].truncated_to != InvalidBlockNumber)
			follow_truncation(&copy->files[i]);
	(void) tier_copy_pending_blocks(copy);
	for (int i = 0; i < copy->nfiles; i++)
		if (!catch_up_file(copy, &copy->files[i], &max_blocks, deadline_us, bytes))
			return false;
	return true;
}

/* ---------------------------------------------------------------------
 * Beginning and end
 * ---------------------------------------------------------------------
 */

/* Memory of block sets, which outlive transactions. */
static void *
resize_set(void *argument, void *old, size_t size)
{
	MemoryContext context = argument;

	return old == NULL ? MemoryContextAllocHuge(context, size) : repalloc_huge(old, size);
}

void
tier_copy_init_set(TierBlockSet *set, MemoryContext context)
{
	memset(set, 0, sizeof(*set));
	set->resize = resize_set;
	set->argument = context;
}

TierCopy *
tier_copy_create(MemoryContext context, const TierCopyFile *files, int nfiles)
{
	TierCopy   *copy = MemoryContextAllocZero(context, sizeof(TierCopy));
	TierWalObserver observer = tier_copy_observer(copy);
	MemoryContext old_context = MemoryContextSwitchTo(context);

	copy->context = context;
	copy->nfiles = nfiles;
	for (int i = 0; i < nfiles; i++)
	{
		CopiedFile *file = &copy->files[i];

		file->source = files[i].source;
		file->target = files[i].target;
		file->is_heap = files[i].is_heap;
		file->truncated_to = InvalidBlockNumber;
		for (int fork = 0; fork <= MAX_FORKNUM; fork++)
			tier_copy_init_set(&file->changed[fork], context);
	}
	tier_segment_file_init(&copy->writer, copy->files[0].target);
	copy->reading = GetAccessStrategy(BAS_BULKREAD);
	copy->writing = GetAccessStrategy(BAS_BULKWRITE);
	MemoryContextSwitchTo(old_context);
	copy->pages = tier_compat_alloc_io(context, (Size) TIER_COPY_STEP_BLOCKS * BLCKSZ);

	/* Before the first block is read: all that comes later will be seen. */
	copy->writes_checksums = tier_copy_writes_checksums();
	copy->wal = tier_wal_start(context, &observer);
	for (int i = 0; i < nfiles; i++)
	{
		RelationCreateStorage(copy->files[i].target, RELPERSISTENCE_PERMANENT, false);
		copy->files[i].target_has[MAIN_FORKNUM] = true;
	}
	return copy;
}

uint64
tier_copy_source_blocks(const TierCopy *copy)
{
	uint64		blocks = 0;

	for (int f = 0; f < copy->nfiles; f++)
		for (int i = 0; i < (int) lengthof(copied_forks); i++)
			blocks += source_blocks(&copy->files[f], copied_forks[i]);
	return blocks;
}

uint64
tier_copy_done_blocks(const TierCopy *copy)
{
	uint64		blocks = 0;

	for (int f = 0; f < copy->nfiles; f++)
		for (int i = 0; i < (int) lengthof(copied_forks); i++)
			blocks += copy->files[f].target_blocks[copied_forks[i]];
	return blocks;
}

/* The same of one file. */
static char *
file_difference(const CopiedFile *file)
{
	if (file->truncated_to != InvalidBlockNumber)
		return pstrdup("the copy is not complete");
	for (int fork = 0; fork <= MAX_FORKNUM; fork++)
		if (file->changed[fork].count > 0)
			return pstrdup("changed blocks of it were not copied");
	if (smgrexists(tier_compat_smgropen(file->source), INIT_FORKNUM) ||
		smgrexists(tier_compat_smgropen(file->target), INIT_FORKNUM))
		return pstrdup("it has an initialization fork");
	if (!is_intact(file))
		return pstrdup("the new file was changed by another process");
	for (int i = 0; i < (int) lengthof(copied_forks); i++)
	{
		BlockNumber nblocks = source_blocks(file, copied_forks[i]);
		BlockNumber copied = file->target_blocks[copied_forks[i]];

		if (nblocks != copied)
			return psprintf("its fork \"%s\" has %u blocks, and the copy %u",
							forkNames[copied_forks[i]], nblocks, copied);
	}
	return NULL;
}

char *
tier_copy_difference(TierCopy *copy)
{
	if (!copy->through_buffers)
		return pstrdup("the copy is not complete");
	if (tier_copy_restart_reason(copy) != NULL)
		return psprintf("it %s", tier_copy_restart_reason(copy));
	if (!copy->takes_all && !tier_debug_skips("catch_up") && !tier_wal_is_complete(copy->wal))
		return pstrdup("changes of it were not read from the WAL");
	for (int i = 0; i < copy->nfiles; i++)
	{
		char	   *difference = file_difference(&copy->files[i]);

		if (difference != NULL)
			return difference;
	}
	return NULL;
}

void
tier_copy_end(TierCopy *copy)
{
	tier_segment_file_close(&copy->writer);
	tier_wal_end(copy->wal);
	for (int i = 0; i < copy->nfiles; i++)
		for (int fork = 0; fork <= MAX_FORKNUM; fork++)
			if (copy->files[i].changed[fork].words != NULL)
				pfree(copy->files[i].changed[fork].words);
	FreeAccessStrategy(copy->reading);
	FreeAccessStrategy(copy->writing);
	pfree(copy->pages);
	pfree(copy);
}

bool
tier_copy_file_exists(RelFileLocator locator)
{
	return smgrexists(tier_compat_smgropen(locator), MAIN_FORKNUM);
}
