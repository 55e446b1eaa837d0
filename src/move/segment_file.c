/*-------------------------------------------------------------------------
 *
 * move/segment_file.c
 *		Writing the segments of a new file around the shared buffers.
 *
 * smgrextend needs one write for each block, which is a third of the cost of a copy; these
 * functions write many blocks at once.  No other process knows the file, and smgr finds the
 * segments by their sizes, which are the same as if smgr had written them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "src/compat.h"
#include "src/move/segment_file.h"

#define WRITEBACK_BLOCKS ((8 * 1024 * 1024) / BLCKSZ)

/*
 * The limit of bytes that one sync writes.  Meanwhile the process neither reads WAL nor checks
 * for other processes that wait for it.
 */
#define SYNC_BLOCKS ((64 * 1024 * 1024) / BLCKSZ)

void
tier_segment_file_init(TierSegmentFile *writer, RelFileLocator locator)
{
	memset(writer, 0, sizeof(*writer));
	writer->locator = locator;
	writer->file = -1;
}

void
tier_segment_file_sync(TierSegmentFile *writer, bool all)
{
	if (writer->unsynced == 0 || (!all && writer->unsynced < SYNC_BLOCKS))
		return;

	/*
	 * No PANIC, as for other data: what is not on disk is thrown away with
	 * the file.
	 */
	if (FileSync(writer->file, WAIT_EVENT_DATA_FILE_IMMEDIATE_SYNC) < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not fsync file \"%s\": %m", FilePathName(writer->file))));
	writer->unsynced = 0;
}

void
tier_segment_file_close(TierSegmentFile *writer)
{
	if (writer->file >= 0)
		FileClose(writer->file);
	writer->file = -1;
	writer->unsynced = 0;
}

static void
open_segment(TierSegmentFile *writer, ForkNumber fork, BlockNumber segment)
{
	char		path[MAXPGPATH];
	size_t		length;

	if (writer->file >= 0 && writer->fork == fork && writer->segment == segment)
		return;
	tier_segment_file_sync(writer, true);
	tier_segment_file_close(writer);
	tier_compat_relation_path(path, sizeof(path), tier_compat_locator_tablespace(writer->locator),
							  MyDatabaseId,
							  tier_compat_locator_file_number(writer->locator), fork);
	length = strlen(path);
	if (segment > 0)
		snprintf(path + length, sizeof(path) - length, ".%u", segment);
	writer->file = PathNameOpenFile(path, O_RDWR | O_CREAT | PG_BINARY);
	if (writer->file < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	writer->fork = fork;
	writer->segment = segment;
}

void
tier_segment_file_append(TierSegmentFile *writer, ForkNumber fork, BlockNumber first, int n,
						 char *pages)
{
	while (n > 0)
	{
		BlockNumber place = first % (BlockNumber) RELSEG_SIZE;
		int			count = (int) Min((BlockNumber) n, RELSEG_SIZE - place);
		int			written;

		open_segment(writer, fork, first / (BlockNumber) RELSEG_SIZE);
		errno = 0;
		written = FileWrite(writer->file, pages, (size_t) count * BLCKSZ,
							(off_t) place * BLCKSZ, WAIT_EVENT_DATA_FILE_EXTEND);
		if (written != count * BLCKSZ)
		{
			if (written >= 0 || errno == 0)
				errno = ENOSPC;
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not extend file \"%s\": %m", FilePathName(writer->file)),
					 errhint("Check free disk space.")));
		}

		/*
		 * Else a sync would find all of it at once.  It is the sync that
		 * reports an error; FileWriteback() would PANIC.
		 */
		writer->unsynced += count;
		if ((place + count) % WRITEBACK_BLOCKS == 0)
			(void) sync_file_range(FileGetRawDesc(writer->file),
								   (off_t) (place + count - WRITEBACK_BLOCKS) * BLCKSZ,
								   (off_t) WRITEBACK_BLOCKS * BLCKSZ, SYNC_FILE_RANGE_WRITE);
		pages += (size_t) count * BLCKSZ;
		first += count;
		n -= count;
	}
}
