/*-------------------------------------------------------------------------
 *
 * server/wal.c
 *		The WAL of this server, read as it is written: which blocks change.
 *
 * Runs in the process that needs the changes, usually a mover.  Reads the segment files below
 * pg_wal up to what is flushed, with the server's own decoder.
 *
 * No replication slot retains the WAL.  With one, a mover that hangs, for example on a file
 * system that does not answer, would fill the disk of the server; without one, a reader that
 * is too late only has to start again.  So the reader must keep up.  The end of a checkpoint
 * removes the segments before the one in which the server was writing when it began.  A reader
 * that has read all up to the segment that is written is safe until the server comes to the
 * next one, begins a checkpoint after that, and completes it.
 *
 * That WAL was removed or its file recycled is noticed: the file is not there,
 * or the address in a page's header or the checksum of a record is wrong, and the
 * server has said that it would remove that segment.  Everything else that keeps
 * us from reading is an error.
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
#include "utils/wait_event.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/server/wal.h"

/* Known stretches without interest; older ones than these are simply read. */
#define MAX_SKIPS 64
#define RECORDS_PER_CHECK 256

/* The amount of WAL that is read in less time than its flush takes. */
#define NEAR_BYTES (64 * 1024)

typedef struct Skip
{
	XLogRecPtr	begin;
	XLogRecPtr	end;
} Skip;

/*
 * One reader.  In the memory of the process that reads, which alone uses it.  Two
 * kinds: one that follows the server (tier_wal_start), whose position only grows, and
 * one that looks back (tier_wal_open), whose position is set by each
 * tier_wal_read_stretch().
 */
struct TierWal
{
	/* Set when it is made. */
	MemoryContext context;		/* the decoder allocates when it likes to */
	MemoryContextCallback on_reset; /* of that */
	TierWalObserver observer;
	XLogReaderState *reader;
	TimeLineID	timeline;
	List	   *history;		/* of timelines, for looking back; else NIL */

	/* How far. */
	XLogRecPtr	flushed;		/* pages may be read up to here; set by each
								 * reading, before the decoder is called */
	XLogRecPtr	position;		/* all before this was read or skipped */
	XLogRecPtr	mark;			/* end of the last record of our own, by
								 * tier_wal_read_all(); 0: it was not called */

	/* The segment that was read last; kept open between two readings. */
	File		file;			/* -1: none is open */
	XLogSegNo	segment;		/* of the open file */

	/* Errors; set by callbacks of the decoder, which must not raise them. */
	bool		lost;			/* a part is gone.  Final for a reader that
								 * follows; unset by each look back */
	char	   *failure;		/* why the last read_to could not read, if
								 * nothing is gone; or NULL */
	int			failure_errno;	/* 0: no system call has failed.  Means
								 * nothing without failure */

	/* By tier_wal_skip(), in order; used up when they are reached. */
	int			nskips;
	Skip		skips[MAX_SKIPS];
};

/*
 * The reader of tier_wal_keep_up(); NULL: none.  Set by tier_wal_start(), unset by
 * tier_wal_end() or with the memory that the reader is in.
 */
static TierWal *followed = NULL;

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

/* error_number: 0 if the contents are invalid.  failure NULL: no failure. */
static void
note_failure(TierWal *wal, int error_number, char *failure)
{
	if (wal->failure != NULL)
		pfree(wal->failure);
	wal->failure = failure;
	wal->failure_errno = error_number;
}

/*
 * Reads a page, or as much of it as is flushed.  -1: there is not enough yet,
 * or (wal->lost) never will be, or (wal->failure) it cannot be read.  No error is
 * raised inside of the decoder, which could not go on then.
 */
static int
read_page(XLogReaderState *reader, XLogRecPtr page, int wanted, XLogRecPtr record, char *buffer)
{
	TierWal    *wal = reader->private_data;
	XLogSegNo	segment;
	uint32		offset = XLogSegmentOffset(page, wal_segment_size);
	int			available;
	int			got;
	int			error_number;

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
		error_number = errno;
		if (wal->file < 0 && error_number == ENOENT)
			wal->lost = true;
		else if (wal->file < 0)
			note_failure(wal, error_number,
						 psprintf("could not open file \"%s\": %s", path, strerror(error_number)));
		if (wal->file < 0)
			return -1;
	}
	errno = 0;
	got = (int) FileRead(wal->file, buffer, XLOG_BLCKSZ, offset, WAIT_EVENT_WAL_READ);
	if (got == XLOG_BLCKSZ)
		return available;

	/* A descriptor that was put away to save one is opened again by name. */
	error_number = errno;
	if (got < 0 && error_number == ENOENT)
		wal->lost = true;
	else if (got < 0)
		note_failure(wal, error_number,
					 psprintf("could not read file \"%s\": %s",
							  FilePathName(wal->file), strerror(error_number)));
	else
		note_failure(wal, 0,
					 psprintf("could not read file \"%s\": read %d of %d",
							  FilePathName(wal->file), got, XLOG_BLCKSZ));
	return -1;
}

/*
 * The decoder does not understand what follows our position.  The server says
 * which segment it removes before it does that.
 */
static void
judge_bad_record(TierWal *wal, const char *message)
{
	XLogSegNo	segment;

	/* A record that begins before may be wrong in the next one. */
	XLByteToSeg(wal->position, segment, wal_segment_size);
	if (segment <= XLogGetLastRemovedSegno() ||
		(wal->file >= 0 && wal->segment <= XLogGetLastRemovedSegno()))
		wal->lost = true;
	else
		note_failure(wal, 0,
					 psprintf("could not decode WAL after %X/%X: %s",
							  LSN_FORMAT_ARGS(wal->position), message));
}

/* ---------------------------------------------------------------------
 * Records
 * ---------------------------------------------------------------------
 */

/* Writes a record that means nothing.  Where it begins; *end gets its end. */
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
	if (tier_compat_switches_checksums(reader) && wal->observer.checksums != NULL)
		wal->observer.checksums(wal->observer.argument);
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
 * is flushed.  May end with wal->failure.
 */
static TierWalResult
read_to(TierWal *wal, XLogRecPtr limit, XLogRecPtr flushed, int64 deadline_us)
{
	MemoryContext old_context = MemoryContextSwitchTo(wal->context);
	TierWalResult result = TIER_WAL_OK;

	wal->flushed = flushed;
	note_failure(wal, 0, NULL);
	for (int n = 1;; n++)
	{
		XLogRecord *record;
		char	   *message;

		skip_known(wal);
		if (wal->lost || wal->position >= limit)
			break;
		if (n % RECORDS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();

		/* A record may be the first of a page that has to be read. */
		if (deadline_us != 0 && tier_clock_monotonic_us() > deadline_us)
		{
			result = TIER_WAL_TOO_LATE;
			break;
		}
		record = XLogReadRecord(wal->reader, &message);
		if (record == NULL)
		{
			/* The rest of a record that is flushed in part comes later. */
			if (message != NULL && wal->failure == NULL)
				judge_bad_record(wal, message);
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

/* Also when the memory goes that the reader is in: no transaction closes its file. */
static void
let_go(void *argument)
{
	TierWal    *wal = argument;

	if (wal->file >= 0)
		FileClose(wal->file);
	wal->file = -1;
	if (followed == wal)
		followed = NULL;
}

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
	wal->on_reset.func = let_go;
	wal->on_reset.arg = wal;
	MemoryContextRegisterResetCallback(context, &wal->on_reset);
	return wal;
}

/* Raises the error that has stopped read_to. */
static void
raise_failure(TierWal *wal)
{
	if (wal->failure == NULL)
		return;
	errno = wal->failure_errno;
	ereport(ERROR,
			(wal->failure_errno == 0 ? errcode(ERRCODE_DATA_CORRUPTED) : errcode_for_file_access(),
			 errmsg_internal("%s", wal->failure)));
}

TierWal *
tier_wal_start(MemoryContext context, const TierWalObserver *observer)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierWal    *wal = create(context, observer);
	XLogRecPtr	end;

	wal->position = insert_mark(&end);
	XLogBeginRead(wal->reader, wal->position);
	followed = wal;
	MemoryContextSwitchTo(old_context);
	return wal;
}

TierWalResult
tier_wal_read(TierWal *wal)
{
	XLogRecPtr	flushed = GetFlushRecPtr(NULL);
	TierWalResult result = read_to(wal, flushed, flushed, 0);

	raise_failure(wal);
	return result;
}

bool
tier_wal_is_behind(const TierWal *wal)
{
	XLogSegNo	read;
	XLogSegNo	written;

	XLByteToSeg(wal->position, read, wal_segment_size);
	XLByteToSeg(GetFlushRecPtr(NULL), written, wal_segment_size);
	return read < written;
}

bool
tier_wal_is_near(const TierWal *wal)
{
	return wal->position != InvalidXLogRecPtr &&
		GetXLogInsertRecPtr() < wal->position + NEAR_BYTES;
}

void
tier_wal_keep_up(void)
{
	XLogRecPtr	flushed;

	if (followed == NULL || !tier_wal_is_behind(followed) || tier_debug_skips("catch_up"))
		return;
	flushed = GetFlushRecPtr(NULL);
	(void) read_to(followed, flushed, flushed, 0);
}

TierWalResult
tier_wal_read_all(TierWal *wal, int64 deadline_us, int64 *flush_us)
{
	XLogRecPtr	end;
	int64		begin = tier_clock_monotonic_us();
	int64		flushed;
	TierWalResult result;

	(void) insert_mark(&end);
	wal->mark = end;
	XLogFlush(end);
	flushed = tier_clock_monotonic_us();
	*flush_us += flushed - begin;
	result = read_to(wal, end, end, deadline_us == 0 ? 0 : deadline_us + (flushed - begin));
	raise_failure(wal);

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
	note_failure(wal, 0, NULL);
	wal->flushed = GetFlushRecPtr(NULL);
	if (from >= Min(to, wal->flushed))
		return TIER_WAL_OK;

	/* Reads on from the beginning of the page that `from` is in. */
	old_context = MemoryContextSwitchTo(wal->context);
	wal->position = tier_compat_find_next_record(wal->reader, from, &message);
	MemoryContextSwitchTo(old_context);
	if (wal->position == InvalidXLogRecPtr)
		return wal->lost || wal->failure != NULL || message != NULL ? TIER_WAL_LOST : TIER_WAL_OK;
	if (wal->position >= to)
		return TIER_WAL_OK;
	*first = wal->position;
	result = read_to(wal, to, wal->flushed, 0);
	*end = wal->position;
	if (wal->failure != NULL)
	{
		ereport(LOG,
				(errmsg_internal("%s", wal->failure)));
		result = TIER_WAL_LOST;
	}
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
	let_go(wal);
	note_failure(wal, 0, NULL);
	XLogReaderFree(wal->reader);
}
