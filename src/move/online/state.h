/*-------------------------------------------------------------------------
 *
 * move/online/state.h
 *		Shared state of the online mover.  For move/online/ only.
 *
 *		protocol.c		the steps in their order; retries; the result
 *		steps.c			the steps that need the relation: register, copy,
 *						catch up, swap
 *		residency.c		the steps for shared buffers: noting blocks before the copy,
 *						and reading them again
 *		give_way.c		waits between two batches and between two
 *						attempts: WAL, pauses, rate limit, others who wait
 *		transaction.c	a transaction for each step, and the removal of
 *						unused files
 *
 * Why it is done in this way is at the top of protocol.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ONLINE_STATE_H
#define TIER_ONLINE_STATE_H

#include "postgres.h"

#include "storage/block.h"
#include "utils/palloc.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/model/blockset.h"
#include "src/move/copy.h"
#include "src/move/online.h"
#include "src/move/progress.h"
#include "src/server/relation.h"
#include "src/server/wal_lag.h"

/* The result of a step: how to continue. */
typedef enum TierStepResult
{
	TIER_STEP_GO_ON,			/* the step is complete */
	TIER_STEP_AGAIN,			/* it was interrupted; commit, and repeat it */
	TIER_STEP_BUSY,				/* a lock was not granted: back off, and
								 * repeat it */
	TIER_STEP_RESTART,			/* the copy must be begun again, in a new file */
	TIER_STEP_NOT_NEEDED,
	TIER_STEP_REFUSED,
	TIER_STEP_UNWANTED,
	TIER_STEP_HELD_UP,			/* readers of the WAL do not catch up */
	TIER_STEP_ABANDONED,		/* the extension is being dropped */
	TIER_STEP_FAILED,
} TierStepResult;

/* Why an attempt was given up. */
typedef enum TierBusyReason
{
	TIER_BUSY_LOCK,				/* was not granted */
	TIER_BUSY_ROW,				/* another transaction has locked the row of
								 * pg_class */
	TIER_BUSY_WORK,				/* too much was left to do */
	TIER_BUSY_CALLER,			/* has said why */
} TierBusyReason;

/* A file that is exchanged. */
typedef struct TierOnlinePart
{
	Oid			relation_oid;
	bool		is_heap;
	RelFileLocator source;		/* the relation's, compared after each lock */
	RelFileLocator target;

	/*
	 * Source blocks that were in shared buffers when the copy began, and
	 * still or again when it was complete.  The second moment alone is not
	 * enough, because it includes blocks that the copy itself has read. Set
	 * by the residency steps.
	 */
	TierBlockSet resident_before;
	TierBlockSet resident;
	BlockNumber prewarmed;		/* as far as that */
} TierOnlinePart;

/*
 * One online move, in the memory of its process, which alone reads and changes it.  There is
 * at most one in a process, and no lock.  Other processes see only its progress
 * (move/progress.h) and the registrations of its files (move/pending_file.h).
 *
 * Three fields say whose the new files are, and with them the exit callback knows
 * whether to remove them.  They are true of all parts or of none: the parts are
 * registered, swapped and dropped in one transaction each.
 *
 *	is_registered	set by the register step; unset by the commit of the swap,
 *					which deletes the rows, or when the rows have been deleted
 *					after the files.
 *	has_files		set by the copy step just before it creates the files; unset
 *					by the commit of the swap, from which on the files are the
 *					relations', or when the files have been dropped.
 *	is_swapping		set by the swap step when it has changed pg_class; true from
 *					there to the end of that transaction only.
 *
 * The fields of one copy (parts, copy, made_files, began_at) are set again when the copy is
 * begun again.  The moments of a swap are 0 until that event has come, and mean nothing while
 * no swap is being attempted; protocol.c clears them before each attempt.
 */
typedef struct TierOnline
{
	/* Set when the move begins. */
	const TierOnlineRequest *request;
	TierOnlineReport *report;
	MemoryContext context;		/* outlives transactions, not the move */
	MemoryContext caller_context;	/* for the report */

	/* The files; by the register step. */
	int			nparts;
	TierOnlinePart parts[TIER_RELATION_MAX_PARTS];
	bool		is_registered;	/* the targets have rows in move_file */
	bool		has_files;		/* the targets may exist, and are not in use */
	bool		made_files;		/* we have made the targets, or tried to */
	bool		is_swapping;	/* this transaction has changed pg_class */
	bool		is_swapped;		/* the targets are in use, that is committed */
	TierCopy   *copy;			/* NULL: not begun, or ended */

	/* How the last step ended. */
	ErrorData  *error;			/* the last one that was caught, or NULL */
	char	   *restart_reason; /* after TIER_STEP_RESTART: words that can
								 * follow "it " */
	TierBusyReason busy_reason; /* after TIER_STEP_BUSY */
	char	   *why_wait;		/* of TIER_BUSY_CALLER */
	TierPhase	phase;			/* as shown, but for waiting in it */

	/* Retries. */
	long		backoff_ms;		/* before the next attempt */
	int			busy;			/* attempts in a row without a lock */
	int64		may_queue_at;	/* not before that for the strong lock */

	/* Moments, all by tier_clock_monotonic_us. */
	int64		began_at;		/* of this copy */
	int64		watched_at;		/* last look for others who wait */
	int64		wal_read_at;	/* means nothing while copy is NULL */
	int64		throttled_until;	/* by the rate limit; 0: no wait */

	int64		unlooked_bytes; /* written since the last look for room */

	/*
	 * The reader of the WAL that holds the move up, when it was last looked
	 * at, and since when it does so: both by tier_clock_monotonic_us, the
	 * latter 0 while there is none.
	 */
	TierWalLag	wal_lag;
	int64		lag_looked_at;
	int64		held_up_since;
	bool		has_told_lag;	/* to whom the session belongs */

	/* Of the swap in this transaction. */
	int64		asked_at;
	int64		locked_at;		/* 0: not granted */
	int64		committing_at;
	int64		released_at;	/* just before the lock is released */
	int64		flush_us;		/* under the lock, before the commit */
	int64		cpu_at_lock_us; /* tier_clock_cpu_us, then */
	int64		cpu_at_release_us;
} TierOnline;

/* A reason to begin again, for tier_online_restart(). */
#define TIER_ONLINE_LOST_WAL "was changed, and WAL that says where was removed too early"

/* ---------------------------------------------------------------------
 * transaction.c
 * ---------------------------------------------------------------------
 */

typedef TierStepResult (*TierStep) (TierOnline *move);

/*
 * Runs a step and commits; after TIER_STEP_BUSY and TIER_STEP_RESTART rolls back.  An error
 * rolls back, too, and is returned as TIER_STEP_FAILED with move->error, or as TIER_STEP_BUSY
 * if a lock was not granted in time.  TIER_STEP_ABANDONED instead of running it when
 * tier_online_may_go_on() says so.  No lock outlives it.
 */
extern TierStepResult tier_online_run_step(TierOnline *move, TierStep step);

/*
 * Returns false if the extension is being dropped, which would remove the registration.  Call
 * it at the beginning of each transaction.
 */
extern bool tier_online_may_go_on(const TierOnline *move);

/* The copy must be begun again, and why: words that can follow "it ". */
extern TierStepResult tier_online_restart(TierOnline *move, const char *why);

/* Once in each process, before tier_online_set_current(). */
extern void tier_online_register_callbacks(void);

/* The move of this process, whose files are removed when it exits; NULL: none. */
extern void tier_online_set_current(TierOnline *move);

/*
 * Removes the new files, which are not in use, and their registrations.  A cancel does not
 * stop it.  Errors are logged; then the files stay registered, and a sweep removes them.
 */
extern void tier_online_discard(TierOnline *move);

/* Ends the copy in memory, if there is one; the files stay. */
extern void tier_online_end_copy(TierOnline *move);

/* ---------------------------------------------------------------------
 * give_way.c
 * ---------------------------------------------------------------------
 */

extern void tier_online_set_phase(TierOnline *move, TierPhase phase);

/* Reads the WAL if there is a copy.  Returns false if unread WAL was removed. */
extern bool tier_online_read_wal(TierOnline *move);

/* Returns true if the caller of the move has another duty to run. */
extern bool tier_online_idle_is_due(const TierOnline *move);

/*
 * Between two batches under AccessShareLock: TIER_STEP_GO_ON, or why the lock has
 * to be released.  Waits here when the rate limit says so.
 */
extern TierStepResult tier_online_watch(TierOnline *move);

/* Accounts for copied bytes: in the report, the progress, the space and the rate. */
extern void tier_online_note_copied(TierOnline *move, int64 bytes);

/*
 * The time that a move waits for readers of the WAL before it gives up.  A standby that has
 * not caught up within an hour needs an administrator; meanwhile the copy takes room on the
 * new tier, and a place among the movers.
 */
#define TIER_LAG_TIMEOUT_S tier_debug_constant(lag_timeout_s, 3600)

/*
 * A step: waits for backoff_ms with nothing locked, and as long as moves are paused or
 * readers of the WAL behind; others may have our place among the movers.
 * TIER_STEP_HELD_UP: these have been for TIER_LAG_TIMEOUT_S.
 */
extern TierStepResult tier_online_backoff_step(TierOnline *move);

/*---------------------------------------------------------------------
 * steps.c, which documents each step
 *---------------------------------------------------------------------
 */

extern TierStepResult tier_online_register_step(TierOnline *move);
extern TierStepResult tier_online_copy_step(TierOnline *move);
extern TierStepResult tier_online_catch_up_step(TierOnline *move);
extern TierStepResult tier_online_ask_step(TierOnline *move);
extern TierStepResult tier_online_swap_step(TierOnline *move);

/* ---------------------------------------------------------------------
 * residency.c; likewise
 * ---------------------------------------------------------------------
 */

/* Before any of the steps. */
extern void tier_online_init_residency(TierOnline *move);

extern TierStepResult tier_online_residency_before_step(TierOnline *move);
extern TierStepResult tier_online_residency_after_step(TierOnline *move);
extern TierStepResult tier_online_prewarm_step(TierOnline *move);

#endif							/* TIER_ONLINE_STATE_H */
