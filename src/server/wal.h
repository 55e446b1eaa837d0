/*-------------------------------------------------------------------------
 *
 * server/wal.h
 *		The WAL of this server, read as it is written: which blocks change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WAL_H
#define TIER_WAL_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "access/xlogreader.h"

#include "src/compat.h"

typedef struct TierWal TierWal;

/*
 * Callbacks for each block of any file that a record names, and for each truncation of a file
 * (of its main fork, to nblocks).  They must not raise errors.
 */
typedef struct TierWalObserver
{
	void	   *argument;
	void		(*block) (void *argument, const RelFileLocator *locator,
						  ForkNumber fork, BlockNumber block);
	void		(*truncation) (void *argument, const RelFileLocator *locator,
							   BlockNumber nblocks);

	/*
	 * Data checksums are switched on or off, or begin to be.  NULL: of no
	 * interest.
	 */
	void		(*checksums) (void *argument);

	/*
	 * Where it is set it is called for each record, instead of the others: to
	 * know more than which blocks change.  The record is the decoder's
	 * current one.
	 */
	void		(*record) (void *argument, XLogReaderState *decoder);
} TierWalObserver;

typedef enum TierWalResult
{
	TIER_WAL_OK,				/* read to the limit */
	TIER_WAL_LOST,				/* a part that was not yet read is gone:
								 * nothing can be said about what changed.
								 * Final. */
	TIER_WAL_TOO_LATE,			/* stopped at the deadline; can go on */
} TierWalResult;

/*
 * Begins to read at a record that it writes for that.  Every change of a page
 * that is logged later is reported later; every earlier one is in the image of
 * the page that is read, under a share lock, after this has returned.  Memory
 * lives in `context`.  Primary only; wal_level above minimal; assigns no
 * transaction ID.  Nothing keeps the WAL but reading it often: see
 * tier_wal_read.  At most one in a process.
 */
extern TierWal *tier_wal_start(MemoryContext context, const TierWalObserver *observer);

/*
 * Reads and reports the WAL that is flushed.  A checkpoint that began when the server was
 * writing a later segment removes unread WAL when it ends.  So call this as soon as
 * tier_wal_is_behind, and before any operation that may take long.  Raises an error if a file
 * exists but cannot be read.  Checks for interrupts.
 */
extern TierWalResult tier_wal_read(TierWal *wal);

/* Returns true if the server is writing a later segment than the one that is read. */
extern bool tier_wal_is_behind(const TierWal *wal);

/*
 * Returns true if so little WAL is unread that reading all of it takes at most as long as one
 * flush.  Includes the records that are to be skipped.
 */
extern bool tier_wal_is_near(const TierWal *wal);

/*
 * Reads on if the reader is behind; for long operations of the process that has called
 * tier_wal_start.  The next tier_wal_read reports problems.  Cheap; may be called anywhere but
 * from an observer.  Checks for interrupts.
 */
extern void tier_wal_keep_up(void);

/*
 * Flushes the WAL up to now and reads exactly all of it, unless that is not done by
 * deadline_us (tier_clock_monotonic_us; 0: no limit), the time that the flush took not
 * counted.  If the caller has locked out the writers of a relation, TIER_WAL_OK means that all
 * changes of it were reported.  *flush_us gets the time of the flush added.
 */
extern TierWalResult tier_wal_read_all(TierWal *wal, int64 deadline_us, int64 *flush_us);

/* Returns true if the last tier_wal_read_all was complete. */
extern bool tier_wal_is_complete(const TierWal *wal);

/*
 * The records between the two positions are known to be of no interest: they
 * need not be read, only skipped.  From the beginning of the first to the end of the
 * last; must come in order, after the record has been inserted.
 */
extern void tier_wal_skip(TierWal *wal, XLogRecPtr begin, XLogRecPtr end);

/*
 * Opens a reader of earlier WAL, for tier_wal_read_stretch; writes nothing.  Memory lives in
 * `context`.  Primary only.
 */
extern TierWal *tier_wal_open(MemoryContext context, const TierWalObserver *observer);

/*
 * Reads the records that begin at or after `from` and before `to`, as far as they are
 * flushed.  `from` need not be the beginning of a record; may be called again with any other
 * position, also one on an earlier timeline of this server.  *first gets the beginning of the
 * first record that was read, *end the end of the last; both `from` if there was none.
 * TIER_WAL_LOST (the WAL is gone, or unreadable from *end on, which is in the log) is not
 * final here.  Checks for interrupts.
 */
extern TierWalResult tier_wal_read_stretch(TierWal *wal, XLogRecPtr from, XLogRecPtr to,
										   XLogRecPtr *first, XLogRecPtr *end);

/* Flushes the WAL up to now, and returns the flush position. */
extern XLogRecPtr tier_wal_flush(void);

/* Where the segment after the one of this position begins. */
extern XLogRecPtr tier_wal_next_segment(XLogRecPtr position);

/* Its memory goes with its context. */
extern void tier_wal_end(TierWal *wal);

#endif							/* TIER_WAL_H */
