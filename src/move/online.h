/*-------------------------------------------------------------------------
 *
 * move/online.h
 *		Moving one relation to another tablespace while it is used.
 *
 * The room move/ moves a relation, a table with its TOAST table and that table's index, to
 * another tablespace while it is read and written.  Before that, preflight.h checks whether
 * the move is possible, and space.h whether there is room.  tier_online_move() runs the
 * protocol (online/protocol.c): it registers the new files before it makes them
 * (pending_file.h), so that a crash leaves nothing unknown behind; copies all blocks and then,
 * read from the WAL, those that were changed meanwhile (copy.h); takes the strong lock for the
 * last of them and the change of pg_class; and reads the blocks that were in shared buffers
 * again. Meanwhile throttle.h limits the rate and the number of moves and pauses them, and
 * progress.h shows them to other sessions.  This room does not know policies, tiers or the
 * record of moves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ONLINE_H
#define TIER_ONLINE_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "src/compat.h"

/*
 * Other duties of a process that moves for hours.  Both callbacks are called between
 * transactions or under a weak lock; run is called with nothing locked, in a transaction that
 * it may commit.
 */
typedef struct TierIdle
{
	bool		(*is_due) (void);
	void		(*run) (void);
} TierIdle;

typedef struct TierOnlineRequest TierOnlineRequest;

struct TierOnlineRequest
{
	Oid			relation_oid;	/* table, materialized view or index */
	Oid			tablespace_oid;
	Oid			requester_oid;	/* whose rights count */
	bool		for_owner;		/* and who is its owner, or else an error */
	Oid			extension_oid;	/* that may have the relation, 0: none */

	/*
	 * Register the new files, so that they are found after a crash.  Only
	 * tests in a database without the extension do not.
	 */
	bool		register_file;

	double		reserve_bytes;	/* of the target's file system, stay free */

	/*
	 * Returns true if the move is still wanted, as a copy may have taken
	 * hours. Called in a separate transaction, with nothing locked, before
	 * each attempt to swap.  NULL: always wanted.
	 */
	bool		(*is_wanted) (const TierOnlineRequest *request);

	/*
	 * Returns why the files must not be swapped now, in words, or NULL.
	 * Called after is_wanted, and may commit.  NULL: no such reason.
	 */
	char	   *(*why_wait) (const TierOnlineRequest *request);
	void	   *argument;		/* the caller's */
	const TierIdle *idle;		/* NULL: nothing */

	/*
	 * An automatic move: it waits while readers of the WAL are too far behind
	 * (server/wal_lag.h).
	 */
	bool		waits_for_wal_readers;
};

typedef enum TierOnlineResult
{
	TIER_ONLINE_DONE,
	TIER_ONLINE_NOT_NEEDED,		/* it is gone, or in that tablespace */
	TIER_ONLINE_BUSY,			/* locks were not granted, or there was always
								 * too much left to do; no attempt is left */
	TIER_ONLINE_REFUSED,		/* cannot be moved online; see `why` */
	TIER_ONLINE_UNWANTED,		/* the caller has said so meanwhile */
	TIER_ONLINE_HELD_UP,		/* readers of the WAL have been behind for too
								 * long; see `why` */
	TIER_ONLINE_FAILED,			/* an error, see `error` */
} TierOnlineResult;

/* Valid whatever the result; numbers are added to the present values. */
typedef struct TierOnlineReport
{
	ErrorData  *error;			/* of FAILED, a cancel included; of DONE: an
								 * error after the swap, or NULL */
	char	   *why;			/* of REFUSED, BUSY and HELD_UP */
	const char *hint;			/* of BUSY and HELD_UP; never NULL then */
	bool		is_incomplete;	/* REFUSED: an index that is not valid */
	bool		was_told_to_wait;	/* BUSY: by the caller */
	int			attempts;		/* for the strong lock */
	double		lock_wait_ms;	/* for the strong lock, of all attempts */
	double		lock_held_ms;	/* the longest that it was held; -1: never */
	double		flush_ms;		/* of these: flushing WAL */
	int64		copied_bytes;
} TierOnlineReport;

/*
 * Moves the relation's blocks to a new file in the tablespace, block for block, while others
 * read and write it, and the blocks of its TOAST table and that table's index, if they are
 * elsewhere.  Then waits for the strong lock, at most for tiered_storage.move_lock_timeout and
 * with no other lock held, and swaps all files in one transaction under that lock.  Holds it
 * for at most TIER_LOCK_HOLD_LIMIT_MS, WAL flushes not counted.  The copy gives way to every
 * process that waits for it.
 *
 * Must be called with SPI connected non-atomically, in a transaction with no lock on a user's
 * object and no snapshot.  Commits that transaction and others, and returns in such a
 * transaction.  Errors are caught, a cancel included; then nothing has changed and the new
 * files are removed.  The report's strings are in the current memory context, which must
 * outlive transactions.
 *
 * Runs no code of the relation's owner.
 */
extern TierOnlineResult tier_online_move(const TierOnlineRequest *request,
										 TierOnlineReport *report);

/*
 * How long a move waits in total, after a copy that took copy_ms, for a relation that other
 * transactions do not release.
 */
extern int64 tier_online_patience_ms(int64 copy_ms);

#endif							/* TIER_ONLINE_H */
