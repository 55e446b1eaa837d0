/*-------------------------------------------------------------------------
 *
 * tier_wal.c
 *		The WAL of this server, read as it is written: which blocks change.
 *
 * Runs in the process that wants to know, usually a mover.  Reads the segment
 * files below pg_wal up to what is flushed, with the server's own decoder.
 *
 * No replication slot holds the WAL back.  A slot that is forgotten, or a mover
 * that stands still, would fill the disk; a reader that comes too late merely
 * has to start again.  That WAL was removed or its file recycled is noticed:
 * the file cannot be opened, or the address in a page's header or the checksum
 * of a record is wrong.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/rmgr.h"
#include "access/timeline.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogreader.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "tier_wal.h"

/* Known stretches without interest; older ones than these are simply read. */
#define MAX_SKIPS 64
#define RECORDS_PER_CHECK 256

typedef struct Skip
{
	XLogRecPtr	begin;
	XLogRecPtr	end;
} Skip;

struct TierWal
{
	MemoryContext context;		/* the decoder allocates when it likes to */
	TierWalObserver observer;
	XLogReaderState *reader;
	TimeLineID	timeline;
	List	   *history;		/* of timelines, for looking back; else NIL */
	XLogRecPtr	flushed;		/* pages may be read up to here */
	XLogRecPtr	position;		/* all before this was read */
	XLogRecPtr	mark;			/* end of the last mark; 0: only the first */
	File		file;			/* -1: none is open */
	XLogSegNo	segment;		/* of the open file */
	bool		lost;
	int			nskips;
	Skip		skips[MAX_SKIPS];
};

/*
 * Where a record that follows one ending here begins.  Between the pages there
 * are headers, and no record begins in one.
 */
static XLogRecPtr
record_start(XLogRecPtr position)
{
	if (position % XLOG_BLCKSZ != 0)
		return position;
	return position + (XLogSegmentOffset(position, wal_segment_size) == 0 ?
					   SizeOfXLogLongPHD : SizeOfXLogShortPHD);
}

/*
 * The timeline under whose name a segment is.  The one in which a timeline
 * begins was copied, so that it has both's.
 */
static TimeLineID
timeline_of(const TierWal *wal, XLogSegNo segment)
{
	XLogRecPtr	next;

	if (wal->history == NIL)
		return wal->timeline;
	XLogSegNoOffsetToRecPtr(segment + 1, 0, wal_segment_size, next);
	return tliOfPointInHistory(next - 1, wal->history);
}

/* ---------------------------------------------------------------------
 * The decoder's callbacks
 * ---------------------------------------------------------------------
 */

/*
 * Reads a page, or as much of it as is flushed.  -1: there is not enough yet,
 * or (wal->lost) never will be.
 */
static int
read_page(XLogReaderState *reader, XLogRecPtr page, int wanted, XLogRecPtr record, char *buffer)
{
	TierWal    *wal = reader->private_data;
	XLogSegNo	segment;
	uint32		offset = XLogSegmentOffset(page, wal_segment_size);
	int			available;

	if (page + wanted > wal->flushed)
		return -1;
	available = (int) Min(wal->flushed - page, (XLogRecPtr) XLOG_BLCKSZ);

	XLByteToSeg(page, segment, wal_segment_size);
	if (wal->file >= 0 && wal->segment != segment)
	{
		FileClose(wal->file);
		wal->file = -1;
	}
	if (wal->file < 0)
	{
		char		path[MAXPGPATH];

		XLogFilePath(path, timeline_of(wal, segment), segment, wal_segment_size);
		wal->file = PathNameOpenFile(path, O_RDONLY | PG_BINARY);
		wal->segment = segment;
	}
	if (wal->file < 0 ||
		FileRead(wal->file, buffer, XLOG_BLCKSZ, offset, WAIT_EVENT_WAL_READ) != XLOG_BLCKSZ)
	{
		wal->lost = true;
		return -1;
	}
	return available;
}

/* ---------------------------------------------------------------------
 * Records
 * ---------------------------------------------------------------------
 */

/* Writes a record that means nothing.  Its begin; *end gets its end. */
static XLogRecPtr
insert_mark(XLogRecPtr *end)
{
	char		nothing = 0;

	XLogBeginInsert();
	tier_compat_register_data(&nothing, sizeof(nothing));
	*end = XLogInsert(RM_XLOG_ID, XLOG_NOOP);
	return ProcLastRecPtr;
}

static void
report_record(TierWal *wal)
{
	XLogReaderState *reader = wal->reader;

	if (wal->observer.record != NULL)
	{
		wal->observer.record(wal->observer.argument, reader);
		return;
	}
	for (int id = 0; id <= XLogRecMaxBlockId(reader); id++)
	{
		RelFileLocator locator;
		ForkNumber	fork;
		BlockNumber block;

		if (XLogRecGetBlockTagExtended(reader, id, &locator, &fork, &block, NULL))
			wal->observer.block(wal->observer.argument, &locator, fork, block);
	}
	if (XLogRecGetRmid(reader) == RM_SMGR_ID &&
		(XLogRecGetInfo(reader) & ~XLR_INFO_MASK) == XLOG_SMGR_TRUNCATE)
	{
		const xl_smgr_truncate *record = (const xl_smgr_truncate *) XLogRecGetData(reader);
		RelFileLocator locator = tier_compat_truncated_locator(record);

		/* Also of a map alone, after which all of it may be different. */
		wal->observer.truncation(wal->observer.argument, &locator, record->blkno);
	}
}

/* Jumps over stretches without interest that begin just here. */
static void
skip_known(TierWal *wal)
{
	int			gone = 0;
	XLogRecPtr	target = InvalidXLogRecPtr;

	while (gone < wal->nskips && wal->skips[gone].begin <= record_start(wal->position))
	{
		if (wal->skips[gone].begin == record_start(wal->position))
		{
			wal->position = wal->skips[gone].end;
			target = record_start(wal->position);
		}
		gone++;
	}
	if (gone == 0)
		return;
	memmove(wal->skips, wal->skips + gone, sizeof(Skip) * (wal->nskips - gone));
	wal->nskips -= gone;
	if (target != InvalidXLogRecPtr)
		XLogBeginRead(wal->reader, target);
}

/*
 * Reads records that begin before `limit` and end at or before `flushed`, which
 * is flushed.
 */
static TierWalResult
read_to(TierWal *wal, XLogRecPtr limit, XLogRecPtr flushed, TimestampTz deadline)
{
	MemoryContext old_context = MemoryContextSwitchTo(wal->context);
	TierWalResult result = TIER_WAL_OK;

	wal->flushed = flushed;
	for (int n = 1;; n++)
	{
		XLogRecord *record;
		char	   *message;

		skip_known(wal);
		if (wal->lost || wal->position >= limit)
			break;
		if (n % RECORDS_PER_CHECK == 0)
		{
			CHECK_FOR_INTERRUPTS();
			if (deadline != 0 && GetCurrentTimestamp() > deadline)
			{
				result = TIER_WAL_TOO_LATE;
				break;
			}
		}
		record = XLogReadRecord(wal->reader, &message);
		if (record == NULL)
		{
			/* The rest of a record that is flushed in part comes later. */
			if (message != NULL)
				wal->lost = true;
			break;
		}
		wal->position = wal->reader->EndRecPtr;
		report_record(wal);
	}
	MemoryContextSwitchTo(old_context);
	return wal->lost ? TIER_WAL_LOST : result;
}

/* ---------------------------------------------------------------------
 * Interface
 * ---------------------------------------------------------------------
 */

/* Without a position.  In the current context, which is `context`. */
static TierWal *
create(MemoryContext context, const TierWalObserver *observer)
{
	TierWal    *wal = palloc0(sizeof(TierWal));

	wal->context = context;
	wal->observer = *observer;
	wal->file = -1;
	wal->timeline = GetWALInsertionTimeLine();
	wal->reader = XLogReaderAllocate(wal_segment_size, NULL,
									 XL_ROUTINE(.page_read = read_page), wal);
	if (wal->reader == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed while allocating a WAL reading processor.")));
	return wal;
}

TierWal *
tier_wal_start(MemoryContext context, const TierWalObserver *observer)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierWal    *wal = create(context, observer);
	XLogRecPtr	end;

	wal->position = insert_mark(&end);
	XLogBeginRead(wal->reader, wal->position);
	MemoryContextSwitchTo(old_context);
	return wal;
}

TierWalResult
tier_wal_read(TierWal *wal)
{
	XLogRecPtr	flushed = GetFlushRecPtr(NULL);

	return read_to(wal, flushed, flushed, 0);
}

TierWalResult
tier_wal_read_all(TierWal *wal, int64 budget_us, int64 *flush_us)
{
	XLogRecPtr	end;
	TimestampTz begin = GetCurrentTimestamp();
	TimestampTz flushed;
	TierWalResult result;

	(void) insert_mark(&end);
	wal->mark = end;
	XLogFlush(end);
	flushed = GetCurrentTimestamp();
	*flush_us += flushed - begin;
	result = read_to(wal, end, end, budget_us == 0 ? 0 : flushed + budget_us);

	/* `end` is the end of a record, so that nothing can be missing. */
	if (result == TIER_WAL_OK && wal->position < end)
	{
		wal->lost = true;
		result = TIER_WAL_LOST;
	}
	return result;
}

bool
tier_wal_is_complete(const TierWal *wal)
{
	return !wal->lost && wal->mark != InvalidXLogRecPtr && wal->position >= wal->mark;
}

uint64
tier_wal_lag_bytes(const TierWal *wal)
{
	XLogRecPtr	now = GetXLogInsertRecPtr();

	return now > wal->position ? now - wal->position : 0;
}

void
tier_wal_skip(TierWal *wal, XLogRecPtr begin, XLogRecPtr end)
{
	/* Stretches that touch are one. */
	if (wal->nskips > 0 && record_start(wal->skips[wal->nskips - 1].end) == begin)
	{
		wal->skips[wal->nskips - 1].end = end;
		return;
	}
	if (wal->nskips < MAX_SKIPS)
	{
		wal->skips[wal->nskips].begin = begin;
		wal->skips[wal->nskips++].end = end;
	}
}

TierWal *
tier_wal_open(MemoryContext context, const TierWalObserver *observer)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierWal    *wal = create(context, observer);

	wal->history = readTimeLineHistory(wal->timeline);
	MemoryContextSwitchTo(old_context);
	return wal;
}

TierWalResult
tier_wal_read_stretch(TierWal *wal, XLogRecPtr from, XLogRecPtr to,
					  XLogRecPtr *first, XLogRecPtr *end)
{
	MemoryContext old_context;
	TierWalResult result;
	char	   *message = NULL;

	*first = *end = from;
	wal->lost = false;
	wal->flushed = GetFlushRecPtr(NULL);
	if (from >= Min(to, wal->flushed))
		return TIER_WAL_OK;

	/* Reads on from the begin of the page that `from` is in. */
	old_context = MemoryContextSwitchTo(wal->context);
	wal->position = tier_compat_find_next_record(wal->reader, from, &message);
	MemoryContextSwitchTo(old_context);
	if (wal->position == InvalidXLogRecPtr)
		return wal->lost || message != NULL ? TIER_WAL_LOST : TIER_WAL_OK;
	if (wal->position >= to)
		return TIER_WAL_OK;
	*first = wal->position;
	result = read_to(wal, to, wal->flushed, 0);
	*end = wal->position;
	return result;
}

XLogRecPtr
tier_wal_flush(void)
{
	XLogRecPtr	now = GetXLogInsertRecPtr();
	XLogRecPtr	header = XLogSegmentOffset(now, wal_segment_size) < XLOG_BLCKSZ ?
	SizeOfXLogLongPHD : SizeOfXLogShortPHD;

	/*
	 * Just after a page's header is where the next record will begin; what
	 * there is ends before the header, and nothing beyond may be flushed.
	 */
	if (now % XLOG_BLCKSZ == header)
		now -= header;
	XLogFlush(now);
	return GetFlushRecPtr(NULL);
}

XLogRecPtr
tier_wal_next_segment(XLogRecPtr position)
{
	XLogSegNo	segment;
	XLogRecPtr	next;

	XLByteToSeg(position, segment, wal_segment_size);
	XLogSegNoOffsetToRecPtr(segment + 1, 0, wal_segment_size, next);
	return next;
}

void
tier_wal_end(TierWal *wal)
{
	if (wal->file >= 0)
		FileClose(wal->file);
	wal->file = -1;
	XLogReaderFree(wal->reader);
	pfree(wal);
}
