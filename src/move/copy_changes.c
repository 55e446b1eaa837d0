/*-------------------------------------------------------------------------
 *
 * move/copy_changes.c
 *		Changes of the copied files, read from the WAL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "storage/bufpage.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/move/copy_state.h"

/* Heap blocks that a page of the visibility map is about, two bits each. */
#define HEAP_BLOCKS_PER_MAP_PAGE ((BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4)

/* The file of the copy that has this source; NULL: none. */
static CopiedFile *
file_of(TierCopy *copy, const RelFileLocator *source)
{
	for (int i = 0; i < copy->nfiles; i++)
		if (RelFileLocatorEquals(*source, copy->files[i].source))
			return &copy->files[i];
	return NULL;
}

static void
note_block(void *argument, const RelFileLocator *locator, ForkNumber fork, BlockNumber block)
{
	CopiedFile *file = file_of(argument, locator);

	if (file == NULL)
		return;
	if (fork == MAIN_FORKNUM)
	{
		tier_blockset_add(&file->changed[MAIN_FORKNUM], block);
		if (file->is_heap && !tier_debug_skips("visibility_map"))
			tier_blockset_add(&file->changed[VISIBILITYMAP_FORKNUM],
							  block / HEAP_BLOCKS_PER_MAP_PAGE);
	}
	else if (fork == VISIBILITYMAP_FORKNUM && !tier_debug_skips("visibility_map"))
		tier_blockset_add(&file->changed[VISIBILITYMAP_FORKNUM], block);
}

static void
note_truncation(void *argument, const RelFileLocator *locator, BlockNumber nblocks)
{
	CopiedFile *file = file_of(argument, locator);

	if (file != NULL && !tier_debug_skips("truncation"))
		file->truncated_to = Min(file->truncated_to, nblocks);
}

static void
note_checksums(void *argument)
{
	TierCopy   *copy = argument;

	copy->switched_checksums = true;
}

TierWalObserver
tier_copy_observer(TierCopy *copy)
{
	return (TierWalObserver)
	{
		copy, note_block, note_truncation, note_checksums, NULL
	};
}

TierWalResult
tier_copy_read_wal(TierCopy *copy)
{
	if (tier_debug_skips("catch_up"))
		return TIER_WAL_OK;
	return tier_wal_read(copy->wal);
}

TierWalResult
tier_copy_read_all_wal(TierCopy *copy, int64 deadline_us, int64 *flush_us)
{
	if (tier_debug_skips("catch_up"))
		return TIER_WAL_OK;
	return tier_wal_read_all(copy->wal, deadline_us, flush_us);
}

bool
tier_copy_is_near(const TierCopy *copy)
{
	return tier_wal_is_near(copy->wal);
}

bool
tier_copy_is_behind(const TierCopy *copy)
{
	return tier_wal_is_behind(copy->wal);
}

bool
tier_copy_was_truncated(const TierCopy *copy)
{
	for (int i = 0; i < copy->nfiles; i++)
		if (copy->files[i].truncated_to != InvalidBlockNumber)
			return true;
	return false;
}

bool
tier_copy_writes_checksums(void)
{
	return tier_compat_writes_checksums() != tier_debug_skips("checksums");
}

/* Returns true if the bulk copy is in the middle of this file. */
static bool
is_half_copied(const TierCopy *copy, int file_index)
{
	return !copy->through_buffers && copy->file_index == file_index &&
		(copy->fork_index > 0 || copy->next_block > 0);
}

const char *
tier_copy_restart_reason(const TierCopy *copy)
{
	for (int i = 0; i < copy->nfiles; i++)
		if (is_half_copied(copy, i) && copy->files[i].truncated_to != InvalidBlockNumber)
			return "was truncated";
	if (copy->switched_checksums || copy->writes_checksums != tier_copy_writes_checksums())
		return "was copied when data checksums were switched on or off";
	return NULL;
}
