/*-------------------------------------------------------------------------
 *
 * move/online.c
 *		Moving one relation to another file while it is used.
 *
 * Runs in the worker and in sessions that CALL move_relation or migrate.  The
 * protocol, each step one or more transactions:
 *
 *	register	The number of the new file is written down, before there is one.
 *	residency	What is in shared buffers is noted: before the copy, and after it.
 *				Nothing is locked; the pass over all headers may take long.
 *	copy		Under AccessShareLock, without snapshot and transaction ID, so
 *				that vacuum is not held up.  Whoever waits for the relation, or
 *				for our transaction, is seen within WATCH_INTERVAL_MS and let
 *				in: we commit, and go on where we were.
 *	catch up	The same, until next to nothing is left to do.  Nothing that
 *				takes long is between this and the next step, or a busy relation
 *				would never be caught up with.
 *	swap		With nothing locked, ACCESS EXCLUSIVE is asked for.  When it is
 *				granted, everything is checked again, and the pg_class row
 *				claimed without waiting; the rest of the WAL is read, the last
 *				blocks are copied, pg_class is changed, the registration of the
 *				new file deleted, commit.
 *	prewarm		What was in shared buffers is read again, from the new file.
 *
 * We never wait for a lock while we hold one on the relation or its table.  Two
 * sessions of which one waits for us, and we for it, would be a deadlock; and
 * even without one, the early deadlock check would fail a user who has read the
 * table in his transaction and now wants to alter it, as soon as we queue for a
 * stronger lock.  So the AccessShareLock is given up before the strong lock is
 * asked for, and what happens in between is in the WAL, or is found by the checks
 * at the grant.
 *
 * A failed attempt is a transaction of its own, so that its ID is gone: an old
 * one would keep vacuum from cleaning up.
 *
 * The file that is being made belongs to no transaction.  It is removed by
 * discard() after an error, by exit_callback() when the process ends, and by the
 * next sweep (move/pending_file.c) after a crash; always in a committed
 * transaction with an ID, so that standbys and crash recovery remove it, too.
 *
 * DROP EXTENSION waits for us, since it would take the registration away.  We see
 * it, remove the file, and end the move.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/model/blockset.h"
#include "src/server/buffers.h"
#include "src/base/clock.h"
#include "src/move/copy.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/move/online.h"
#include "src/move/pending_file.h"
#include "src/move/progress.h"
#include "src/server/relation.h"
#include "src/move/space.h"
#include "src/move/throttle.h"
#include "src/base/transaction.h"

/* How soon we notice that somebody waits for us, or a pause, or a setting. */
#define WATCH_INTERVAL_MS 20

/*
 * How often WAL is read, at the latest; and when the server has gone on to the
 * next segment, since from then on a checkpoint can remove what is not read.
 */
#define WAL_INTERVAL_MS 500

/*
 * Pause before the second attempt for a lock, doubled each time, and its limits:
 * in all we are about as patient as the copy has taken, since it is thrown away
 * when we are not.  A vacuum of the table may take long, too.
 */
#define FIRST_PAUSE_MS 20
#define LONGEST_PAUSE_MS 5000
#define LONGEST_PATIENT_PAUSE_MS (5 * 60 * 1000)

/* Catching up ends with so few blocks left, or after so many rounds. */
#define FEW_BLOCKS 16
#define MAX_ROUNDS 20
#define ROUND_STEP_BLOCKS 128

/* How often a copy is begun again because the file was rewritten meanwhile. */
#define MAX_RESTARTS 5

static const char *const lost_wal = "was changed, and WAL that says where was removed too early";

/* What a step says about how to go on. */
typedef enum Verdict
{
	GO_ON,						/* the step is complete */
	AGAIN,						/* it was interrupted; commit, and repeat it */
	BUSY,						/* a lock was not granted: pause, and repeat */
	RESTART,					/* the copy is worth nothing */
	NOT_NEEDED,
	REFUSED,
	UNWANTED,
	ABANDONED,					/* the extension is being dropped */
	FAILED,
} Verdict;

/* Why an attempt was given up. */
typedef enum BusyReason
{
	BUSY_LOCK,					/* was not granted */
	BUSY_ROW,					/* of pg_class has somebody else */
	BUSY_WORK,					/* too much was left to do */
} BusyReason;

typedef struct Online
{
	const TierOnlineRequest *request;
	TierOnlineReport *report;
	MemoryContext context;		/* outlives transactions */
	MemoryContext caller_context;	/* for what is reported */
	RelFileLocator source;
	RelFileLocator target;
	bool		is_heap;
	bool		is_registered;	/* the target has a row in move_file */
	bool		has_file;		/* the target may exist, and is not in use */
	bool		made_file;		/* we have made the target, or tried to */
	bool		is_swapping;	/* this transaction has changed pg_class */
	bool		is_swapped;		/* the target is in use, that is committed */
	TierCopy   *copy;			/* NULL: not begun */

	/*
	 * Source blocks that were in shared buffers when the copy began, and
	 * still or again when it was complete.  Not those of the second moment
	 * alone: the last that we have read ourselves are among them.
	 */
	TierBlockSet resident_before;
	TierBlockSet resident;
	BlockNumber prewarmed;		/* as far as that */
	ErrorData  *error;			/* the last one that was caught */
	char	   *spoilt_by;		/* why the last copy is worth nothing */
	TierPhase	phase;
	long		pause_ms;		/* before the next attempt */
	int			busy;			/* attempts in a row without a lock */
	BusyReason	busy_reason;	/* of the last of them */

	/* Moments, all by tier_clock_monotonic_us. */
	int64		began_at;		/* of this copy */
	int64		watched_at;
	int64		wal_read_at;
	int64		throttled_until;

	int64		unlooked_bytes; /* written since the last look for room */

	/* Of the swap in this transaction. */
	int64		asked_at;
	int64		locked_at;		/* 0: not granted */
	int64		committing_at;
	int64		released_at;	/* just before the lock is released */
	int64		flush_us;		/* under the lock, before the commit */
	int64		cpu_at_lock_us; /* tier_clock_cpu_us, then */
	int64		cpu_at_release_us;
} Online;

/* The move of this process; NULL: none.  For the callbacks. */
static Online *current = NULL;

/* ---------------------------------------------------------------------
 * Transactions
 * ---------------------------------------------------------------------
 */

/*
 * What is registered must stay so, or the file would be nobody's after a crash.
 * Cleaning up goes on in any case.
 */
static bool
may_go_on(const Online *move)
{
	return !move->is_registered || move->phase == TIER_PHASE_CLEANING_UP ||
		tier_pending_hold_extension();
}

/* Runs a step and commits; an error rolls back, and is FAILED or BUSY. */
static Verdict
in_transaction(Verdict (*step) (Online *move), Online *move)
{
	volatile Verdict verdict = FAILED;
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	MemoryContextSwitchTo(move->context);
	move->is_swapping = false;
	PG_TRY();
	{
		verdict = may_go_on(move) ? step(move) : ABANDONED;
		if (verdict == BUSY || verdict == RESTART)
			tier_transaction_rollback();
		else
			tier_transaction_commit();
	}
	PG_CATCH();
	{
		move->is_swapping = false;
		MemoryContextSwitchTo(move->caller_context);
		move->error = tier_attempt_take_error();
		while (ActiveSnapshotSet() && GetActiveSnapshot() != snapshot)
			PopActiveSnapshot();	/* SPI wants to know of all */
		tier_transaction_rollback();
		verdict = FAILED;
		if (move->error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		{
			FreeErrorData(move->error);
			move->error = NULL;
			move->busy_reason = BUSY_LOCK;
			verdict = BUSY;
		}
	}
	PG_END_TRY();
	tier_relation_release_row();
	MemoryContextSwitchTo(move->context);
	return verdict;
}

/*
 * At the commit of a swap the new file becomes the relation's, whatever happens
 * to us next; and all locks are released right after.
 */
static void
transaction_callback(XactEvent event, void *argument)
{
	if (current == NULL || !current->is_swapping)
		return;
	if (event == XACT_EVENT_PRE_COMMIT)
		current->committing_at = tier_clock_monotonic_us();
	else if (event == XACT_EVENT_COMMIT)
	{
		current->released_at = tier_clock_monotonic_us();
		current->cpu_at_release_us = tier_clock_cpu_us();
		current->is_swapped = true;
		current->has_file = false;
		current->is_registered = false;
	}
}

/* Removes the file when the process ends in the middle of a move. */
static void
exit_callback(int code, Datum argument)
{
	RelFileLocator target;
	bool		has_file;

	if (current == NULL)
		return;

	/*
	 * An abort, ours or the one that follows, frees the memory that it is in
	 * before it calls transaction_callback().
	 */
	target = current->target;
	has_file = current->has_file;
	current = NULL;
	if (!has_file)
		return;
	AbortOutOfAnyTransaction();
	tier_transaction_start();

	/* Not even now for a synchronous standby that does not answer. */
	if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		synchronous_commit = SYNCHRONOUS_COMMIT_LOCAL_FLUSH;
	if (tier_copy_file_exists(target))
		(void) tier_pending_drop(target);
	CommitTransactionCommand();
}

static void
register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	before_shmem_exit(exit_callback, (Datum) 0);
	RegisterXactCallback(transaction_callback, NULL);
	registered = true;
}

/* The copy is worth nothing, and why: words that can follow "it ". */
static Verdict
restart(Online *move, const char *why)
{
	move->spoilt_by = MemoryContextStrdup(move->caller_context, why);
	return RESTART;
}

/* ---------------------------------------------------------------------
 * Waiting, and not being in the way
 * ---------------------------------------------------------------------
 */

static void
set_phase(Online *move, TierPhase phase)
{
	move->phase = phase;
	tier_progress_set(TIER_PROGRESS_PHASE, phase);
}

/* Waits; a reload of the configuration takes effect. */
static void
wait_ms(long milliseconds)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/* Reads the WAL, if there is a copy to read it for.  False when it is lost. */
static bool
read_on(Online *move)
{
	if (move->copy == NULL)
		return true;
	move->wal_read_at = tier_clock_monotonic_us();
	return tier_copy_read_wal(move->copy) != TIER_WAL_LOST;
}

/* The WAL must be read all the time.  False when some of it is lost. */
static bool
keep_up(Online *move)
{
	if (move->copy == NULL ||
		(tier_clock_monotonic_us() < move->wal_read_at + WAL_INTERVAL_MS * 1000 &&
		 !tier_copy_is_behind(move->copy)))
		return true;
	return read_on(move);
}

static bool
idle_is_due(const Online *move)
{
	return move->request->idle != NULL && move->request->idle->is_due();
}

/*
 * Raises an error when a disk is about to be full, which others would feel, too: one
 * that is full of WAL stops the server.
 */
static void
require_room(Online *move)
{
	TierShortage shortage;

	if (move->unlooked_bytes < TIER_SPACE_STEP_BYTES)
		return;
	move->unlooked_bytes = 0;
	shortage = tier_space_look(move->request->tablespace_oid, move->request->reserve_bytes);
	if (shortage.message != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("%s", shortage.message),
				 errhint("%s", shortage.hint)));
}

/*
 * Between two batches under AccessShareLock: GO_ON, or why the lock has to be
 * released.  Waits here when the rate limit says so.
 */
static Verdict
watch(Online *move)
{
	require_room(move);
	do
	{
		int64		now = tier_clock_monotonic_us();

		CHECK_FOR_INTERRUPTS();
		if (now >= move->watched_at + WATCH_INTERVAL_MS * 1000)
		{
			move->watched_at = now;
			if (ConfigReloadPending)
			{
				ConfigReloadPending = false;
				ProcessConfigFile(PGC_SIGHUP);
			}
			if (tier_pending_extension_is_wanted())
				return ABANDONED;
			if (tier_throttle_is_paused() || idle_is_due(move) || tier_transaction_is_old() ||
				(tier_relation_has_waiters(move->request->relation_oid) && !tier_debug_skips("give_way")))
				return AGAIN;
		}
		if (!keep_up(move))
			return restart(move, lost_wal);
		if (now >= move->throttled_until)
			return GO_ON;
		wait_ms(Min(WATCH_INTERVAL_MS, (long) ((move->throttled_until - now) / 1000 + 1)));
	} while (true);
}

static void
note_copied(Online *move, int64 bytes)
{
	move->report->copied_bytes += bytes;
	tier_progress_add(TIER_PROGRESS_BYTES_COPIED, bytes);
	tier_progress_set(TIER_PROGRESS_BLOCKS_DONE, tier_copy_done_blocks(move->copy));
	tier_space_written(bytes);
	move->unlooked_bytes += bytes;
	move->throttled_until = tier_throttle_charge(bytes);
}

/* Waits with nothing locked, and as long as moves are paused; others may have our place. */
static Verdict
rest(Online *move)
{
	int64		until = tier_clock_monotonic_us() + (int64) move->pause_ms * 1000;
	TierPhase	phase = move->phase;

	tier_throttle_yield();
	tier_debug_point("resting");
	for (;;)
	{
		int64		now = tier_clock_monotonic_us();
		bool		paused = tier_throttle_is_paused();

		CHECK_FOR_INTERRUPTS();
		if (tier_pending_extension_is_wanted() || !may_go_on(move))
			return ABANDONED;
		if (!keep_up(move))
			return restart(move, lost_wal);
		if (idle_is_due(move))
		{
			/* It may take long; tier_wal_keep_up is called there. */
			if (!read_on(move))
				return restart(move, lost_wal);
			move->request->idle->run();
			now = tier_clock_monotonic_us();
		}
		if (tier_transaction_is_old())
			tier_transaction_commit();
		if (now >= until && !paused && tier_throttle_resume())
			break;
		set_phase(move, paused ? TIER_PHASE_PAUSED : now >= until ? TIER_PHASE_QUEUED : TIER_PHASE_GIVING_WAY);
		wait_ms(paused || now >= until ? 200 : Max(1, (long) Min(WAL_INTERVAL_MS, (until - now) / 1000)));
	}

	/* The next thing is a lock, which may have to be waited for. */
	if (!read_on(move))
		return restart(move, lost_wal);
	set_phase(move, phase);
	return GO_ON;
}

/* ---------------------------------------------------------------------
 * Checks
 * ---------------------------------------------------------------------
 */

static Verdict
refuse(Online *move, const char *why, bool is_incomplete)
{
	move->report->why = MemoryContextStrdup(move->caller_context, why);
	move->report->is_incomplete = is_incomplete;
	return REFUSED;
}

/* Everything that must be true, as of now, whatever lock we have. */
static Verdict
check_relation(Online *move, TierRelationInfo *info)
{
	const TierOnlineRequest *request = move->request;
	TierRelationInfo owner;
	const char *why;

	if (!tier_relation_lookup(request->relation_oid, info) ||
		!tier_relation_lookup(request->rights_oid, &owner) ||
		!OidIsValid(info->file_number))
		return NOT_NEEDED;
	if (info->tablespace_oid == request->tablespace_oid && !tier_debug_skips("tablespace"))
		return NOT_NEEDED;
	if (info->tablespace_oid != request->tablespace_oid && tier_debug_skips("elsewhere"))
		return NOT_NEEDED;
	if (!tier_debug_skips("rights"))
		tier_relation_check_move(&owner, request->requester_oid, request->tablespace_oid);
	if (!tier_relation_is_complete(info))
		return refuse(move, "the index is not valid: it is being built or dropped, or it is what a failed build has left", true);
	why = tier_relation_why_not_online(info);
	return why == NULL ? GO_ON : refuse(move, why, false);
}

/* The same, with the lock that this waits for; and the file must be the same. */
static Verdict
lock_and_check(Online *move, LOCKMODE mode)
{
	TierRelationInfo info;
	Verdict		verdict;

	tier_relation_lock(move->request->relation_oid, mode, tier_move_lock_timeout_ms,
					   mode == AccessExclusiveLock ? tier_move_lock_hold_limit_ms : tier_move_lock_timeout_ms);
	if (mode == AccessExclusiveLock)
	{
		move->locked_at = tier_clock_monotonic_us();
		move->cpu_at_lock_us = tier_clock_cpu_us();
	}
	verdict = check_relation(move, &info);
	if (verdict != GO_ON)
		return verdict;
	if (!RelFileLocatorEquals(tier_relation_locator(&info), move->source) && !tier_debug_skips("recheck"))
		return restart(move, "was rewritten");
	return GO_ON;
}

/* ---------------------------------------------------------------------
 * Steps
 * ---------------------------------------------------------------------
 */

/* Looks at the relation and registers its new file. */
static Verdict
register_step(Online *move)
{
	const TierOnlineRequest *request = move->request;
	TierRelationInfo info;
	Verdict		verdict = check_relation(move, &info);

	if (verdict != GO_ON)
		return verdict;
	move->is_heap = info.kind != RELKIND_INDEX;
	move->source = tier_relation_locator(&info);
	if (request->register_file)
		move->target = tier_pending_register(request->relation_oid, request->tablespace_oid);
	else
		move->target = tier_compat_locator(request->tablespace_oid, MyDatabaseId,
										   tier_compat_new_file_number(request->tablespace_oid));
	move->is_registered = request->register_file;
	move->made_file = false;
	return GO_ON;
}

static void *
resize_resident(void *argument, void *old, size_t size)
{
	MemoryContext context = argument;

	return old == NULL ? MemoryContextAllocHuge(context, size) : repalloc_huge(old, size);
}

static void
note_resident_before(void *argument, BlockNumber block)
{
	Online	   *move = argument;

	tier_blockset_add(&move->resident_before, block);
}

static void
note_resident(void *argument, BlockNumber block)
{
	Online	   *move = argument;

	if (tier_blockset_has(&move->resident_before, block))
		tier_blockset_add(&move->resident, block);
}

/* The bulk copy, or as much of it as others let us do. */
static Verdict
copy_step(Online *move)
{
	Verdict		verdict = lock_and_check(move, AccessShareLock);
	int64		bytes;

	if (verdict != GO_ON)
		return verdict;

	/* From here on no catalog is read, and nothing keeps vacuum from working. */
	InvalidateCatalogSnapshot();
	if (move->copy == NULL)
	{
		/* Not ours, and not to be removed as such. */
		if (tier_copy_file_exists(move->target))
			return restart(move, "was to get a file that somebody else has made");

		/* Before there is one: an error may come just after it was made. */
		move->has_file = move->made_file = true;
		move->copy = tier_copy_create(move->context, move->source, move->target, move->is_heap, move->is_heap);
		move->wal_read_at = tier_clock_monotonic_us();
		tier_debug_point("file_created");
	}
	move->busy = 0;
	tier_progress_set(TIER_PROGRESS_BLOCKS_TOTAL, tier_copy_source_blocks(move->copy));
	for (;;)
	{
		verdict = watch(move);
		if (verdict != GO_ON)
			return verdict;
		if (tier_copy_spoilt_by(move->copy) != NULL)
			return restart(move, tier_copy_spoilt_by(move->copy));
		if (!tier_copy_step(move->copy, &bytes))
			break;
		note_copied(move, bytes);
		tier_debug_point("copying");
	}
	tier_debug_point("copied");
	return GO_ON;
}

/* Copies again what was changed, until little is left. */
static Verdict
catch_up_step(Online *move)
{
	Verdict		verdict = lock_and_check(move, AccessShareLock);
	int64		bytes;
	int64		ignored = 0;

	if (verdict != GO_ON)
		return verdict;
	InvalidateCatalogSnapshot();
	for (int round = 0; round < MAX_ROUNDS; round++)
	{
		tier_progress_add(TIER_PROGRESS_ROUNDS, 1);
		if (tier_copy_read_all_wal(move->copy, 0, &ignored) == TIER_WAL_LOST)
			return restart(move, lost_wal);
		if (tier_copy_spoilt_by(move->copy) != NULL)
			return restart(move, tier_copy_spoilt_by(move->copy));
		move->wal_read_at = tier_clock_monotonic_us();
		if (tier_copy_pending_blocks(move->copy) <= FEW_BLOCKS && !tier_copy_was_truncated(move->copy))
			break;

		/*
		 * Only what was pending at the begin; a slow limit must not be
		 * chased.
		 */
		for (uint64 left = tier_copy_pending_blocks(move->copy); left > 0; left -= Min(left, ROUND_STEP_BLOCKS))
		{
			verdict = watch(move);
			if (verdict != GO_ON)
				return verdict;
			(void) tier_copy_catch_up(move->copy, ROUND_STEP_BLOCKS, 0, &bytes);
			note_copied(move, bytes);
			if (round > 0)
				move->throttled_until = 0;
			tier_debug_point("catching_up");
		}
		if (tier_copy_was_truncated(move->copy))
			(void) tier_copy_catch_up(move->copy, 0, 0, &bytes);
	}
	tier_debug_point("caught_up");
	return GO_ON;
}

/*
 * Have we had the lock for as long as we may?  The time of flushes does not count.
 * Asked as long as giving up is possible, after whatever may have to wait for a
 * disk or for a processor.
 */
static bool
is_too_late(const Online *move)
{
	return tier_clock_monotonic_us() > move->locked_at + move->flush_us + (int64) tier_move_lock_hold_limit_ms * 1000;
}

static Verdict
busy(Online *move, BusyReason reason)
{
	move->busy_reason = reason;
	return BUSY;
}

/* In the transaction that makes the target the relation's file. */
static Verdict
adopt_target(Online *move)
{
	if (!move->is_registered)
		return GO_ON;
	switch (tier_pending_adopt(move->target))
	{
		case TIER_PENDING_OK:
			return GO_ON;
		case TIER_PENDING_BUSY:
			return busy(move, BUSY_ROW);
		case TIER_PENDING_LOST:
			break;
	}
	return restart(move, "was not registered any more");
}

/*
 * The last changes: nobody can make any more.  GO_ON when the files can be
 * swapped.  Under ACCESS EXCLUSIVE, with a snapshot.
 */
static Verdict
complete_copy(Online *move)
{
	int64		budget_us = (int64) tier_move_lock_hold_limit_ms * 1000;
	TierRelationInfo info;
	TierWalResult result;
	Verdict		verdict;
	int64		bytes;
	char	   *difference;

	if (!tier_debug_skips("claim_row") && !tier_relation_claim_row(move->request->relation_oid))
		return busy(move, BUSY_ROW);
	verdict = adopt_target(move);
	if (verdict != GO_ON)
		return verdict;
	if (is_too_late(move))
		return busy(move, BUSY_WORK);
	result = tier_copy_read_all_wal(move->copy, move->locked_at + budget_us, &move->flush_us);
	if (result == TIER_WAL_LOST)
		return restart(move, lost_wal);
	if (result == TIER_WAL_TOO_LATE || tier_copy_was_truncated(move->copy))
		return busy(move, BUSY_WORK);
	if (!tier_copy_catch_up(move->copy, PG_UINT64_MAX, move->locked_at + move->flush_us + budget_us, &bytes))
	{
		move->report->copied_bytes += bytes;
		return busy(move, BUSY_WORK);
	}
	move->report->copied_bytes += bytes;

	/* Nothing that is quickly seen speaks against it? */
	difference = tier_copy_difference(move->copy);
	if (difference != NULL && !tier_debug_skips("compare"))
		return restart(move, psprintf("and its copy were different: %s", difference));

	/* The row is ours, so that this is true until the end. */
	if ((!tier_relation_lookup(move->request->relation_oid, &info) ||
		 !RelFileLocatorEquals(tier_relation_locator(&info), move->source)) && !tier_debug_skips("recheck"))
		return restart(move, "was rewritten");
	return is_too_late(move) ? busy(move, BUSY_WORK) : GO_ON;
}

/* The end of it: all under ACCESS EXCLUSIVE, and quick. */
static Verdict
swap_step(Online *move)
{
	Verdict		verdict;
	int64		ignored = 0;

	/* Not even for a synchronous standby that does not answer. */
	if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		(void) set_config_option("synchronous_commit", "local", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_LOCAL, true, 0, false);

	/*
	 * 1. Fill the caches with what will be asked for again under the lock,
	 * and leave as little WAL as possible to be flushed and read there.
	 */
	{
		TierRelationInfo info;

		verdict = check_relation(move, &info);
		if (verdict != GO_ON)
			return verdict;
		InvalidateCatalogSnapshot();
	}
	if (tier_copy_read_all_wal(move->copy, 0, &ignored) == TIER_WAL_LOST)
		return restart(move, lost_wal);
	if (tier_copy_was_truncated(move->copy))
		return busy(move, BUSY_WORK);

	/* 2. The lock.  Nothing of the relation is locked by us now. */
	move->asked_at = tier_clock_monotonic_us();
	verdict = lock_and_check(move, AccessExclusiveLock);
	if (verdict != GO_ON)
		return verdict;
	tier_debug_point("locked");
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_debug_point("claiming");

	/* 3. What is left of the copy, and the other file. */
	verdict = complete_copy(move);
	if (verdict != GO_ON)
	{
		PopActiveSnapshot();
		return verdict;
	}
	tier_relation_swap_file(move->request->relation_oid, move->target);
	PopActiveSnapshot();
	move->is_swapping = true;
	tier_debug_point("swapped");
	return GO_ON;
}

/* ---------------------------------------------------------------------
 * Shared buffers
 * ---------------------------------------------------------------------
 */

/*
 * Two looks at what is resident, of which neither has anything locked: before the
 * copy, and between it and the first catching up, which makes good what changes
 * meanwhile.
 */
static Verdict
residency_before_step(Online *move)
{
	tier_blockset_clear(&move->resident_before);
	tier_buffers_visit(move->source, note_resident_before, move);
	return GO_ON;
}

static Verdict
residency_step(Online *move)
{
	tier_blockset_clear(&move->resident);
	tier_buffers_visit(move->source, note_resident, move);
	tier_debug_point("residency");
	return read_on(move) ? GO_ON : restart(move, lost_wal);
}

/*
 * Reads what was resident.  It does not matter if it is stopped, but by our own
 * doings.
 */
static Verdict
prewarm_step(Online *move)
{
	TierRelationInfo info;
	BlockNumber block = move->prewarmed;
	BlockNumber nblocks;

	if (!tier_relation_lock_if_free(move->request->relation_oid, AccessShareLock))
		return GO_ON;
	if (!tier_relation_lookup(move->request->relation_oid, &info) ||
		!RelFileLocatorEquals(tier_relation_locator(&info), move->target))
		return GO_ON;
	InvalidateCatalogSnapshot();
	nblocks = smgrnblocks(tier_compat_smgropen(move->target), MAIN_FORKNUM);
	tier_blockset_truncate(&move->resident, nblocks);
	while ((block = tier_blockset_next(&move->resident, block)) != TIER_NO_BLOCK)
	{
		if (watch(move) != GO_ON)
		{
			move->prewarmed = block;
			return tier_transaction_is_old() || idle_is_due(move) ? AGAIN : GO_ON;
		}
		ReleaseBuffer(ReadBufferWithoutRelcache(move->target, MAIN_FORKNUM, block, RBM_NORMAL, NULL, true));
		block++;
	}
	return GO_ON;
}

/* ---------------------------------------------------------------------
 * Cleaning up
 * ---------------------------------------------------------------------
 */

static Verdict
drop_file_step(Online *move)
{
	if (tier_copy_file_exists(move->target) && !tier_pending_drop(move->target))
		return FAILED;
	return GO_ON;
}

static Verdict
unregister_step(Online *move)
{
	tier_pending_unregister(move->target, move->made_file);
	return GO_ON;
}

static void
end_copy(Online *move)
{
	if (move->copy != NULL)
		tier_copy_end(move->copy);
	move->copy = NULL;
}

/*
 * Removes the new file, which is not in use.  A cancel does not stop it.  What
 * goes wrong here is in the log; the file is still registered then, and removed
 * by a sweep.
 */
static void
discard(Online *move)
{
	ErrorData  *error = move->error;

	set_phase(move, TIER_PHASE_CLEANING_UP);
	end_copy(move);
	tier_debug_point("discarding");
	move->error = NULL;
	HOLD_CANCEL_INTERRUPTS();
	if (move->has_file && in_transaction(drop_file_step, move) == GO_ON)
		move->has_file = false;
	if (move->is_registered && !move->has_file && in_transaction(unregister_step, move) == GO_ON)
		move->is_registered = false;
	tier_pending_release();

	/* An error has let go of all holds. */
	if (QueryCancelHoldoffCount > 0)
		RESUME_CANCEL_INTERRUPTS();
	if (move->error != NULL)
		ereport(LOG,
				(errmsg("could not remove the file of an unfinished move: %s", move->error->message)));
	move->error = error;
}

/* ---------------------------------------------------------------------
 * The move
 * ---------------------------------------------------------------------
 */

/* The pause after so many attempts in a row, when the copy has taken so long. */
static long
pause_after(int attempts, int64 spent_ms)
{
	int64		longest_ms = Max(LONGEST_PAUSE_MS, Min(spent_ms / tier_move_lock_attempts, LONGEST_PATIENT_PAUSE_MS));

	return (long) Min((int64) FIRST_PAUSE_MS << Min(attempts - 1, 14), longest_ms);
}

static long
next_pause_ms(const Online *move)
{
	return pause_after(move->busy, (tier_clock_monotonic_us() - move->began_at) / 1000);
}

int64
tier_online_patience_ms(int64 copy_ms)
{
	int64		patience_ms = tier_move_lock_timeout_ms;

	for (int attempts = 1; attempts < tier_move_lock_attempts; attempts++)
		patience_ms += pause_after(attempts, copy_ms) + tier_move_lock_timeout_ms;
	return patience_ms;
}

/* A step, repeated as long as others are in the way. */
static Verdict
insist(Online *move, Verdict (*step) (Online *move))
{
	for (;;)
	{
		Verdict		verdict = in_transaction(step, move);

		if (verdict == AGAIN)
			move->pause_ms = FIRST_PAUSE_MS;
		else if (verdict == BUSY)
		{
			if (++move->busy >= tier_move_lock_attempts)
				return BUSY;
			move->pause_ms = next_pause_ms(move);
		}
		else
			return verdict;
		verdict = in_transaction(rest, move);
		if (verdict != GO_ON)
			return verdict;
	}
}

static void
account_for_swap(Online *move)
{
	TierOnlineReport *report = move->report;
	int64		end = move->released_at != 0 ? move->released_at : tier_clock_monotonic_us();
	int64		cpu_end = move->released_at != 0 ? move->cpu_at_release_us : tier_clock_cpu_us();
	int64		wait_end = move->locked_at != 0 ? move->locked_at : end;

	report->attempts++;
	tier_progress_add(TIER_PROGRESS_ATTEMPTS, 1);
	if (move->asked_at != 0)
		report->lock_wait_ms += (wait_end - move->asked_at) / 1000.0;
	if (move->locked_at != 0)
	{
		double		held_ms = (end - move->locked_at) / 1000.0;
		double		cpu_ms = (cpu_end - move->cpu_at_lock_us) / 1000.0;
		double		flush_ms = move->flush_us / 1000.0;

		if (move->released_at != 0)
			flush_ms += (move->released_at - move->committing_at) / 1000.0;
		if (held_ms > report->lock_held_ms)
		{
			report->lock_held_ms = held_ms;
			report->flush_ms = flush_ms;
			report->cpu_ms = cpu_ms;
		}
		ereport(DEBUG1,
				(errmsg_internal("attempt %d to end the move of relation %u: lock held %.3f ms, flushed %.3f ms, on a processor %.3f ms",
								 report->attempts, move->request->relation_oid, held_ms, flush_ms, cpu_ms)));
	}
}

static Verdict
ask_step(Online *move)
{
	return move->request->is_wanted(move->request) ? GO_ON : UNWANTED;
}

/* From a complete copy to the other file. */
static Verdict
finish_copy(Online *move)
{
	Verdict		verdict;

	set_phase(move, TIER_PHASE_CATCHING_UP);
	if (tier_move_prewarm)
	{
		verdict = in_transaction(residency_step, move);
		if (verdict != GO_ON)
			return verdict;
	}
	for (;;)
	{
		set_phase(move, TIER_PHASE_CATCHING_UP);
		verdict = insist(move, catch_up_step);
		if (verdict != GO_ON)
			return verdict;
		if (move->request->is_wanted != NULL)
		{
			verdict = in_transaction(ask_step, move);
			if (verdict != GO_ON)
				return verdict;
		}

		set_phase(move, TIER_PHASE_SWAPPING);
		move->asked_at = move->locked_at = move->committing_at = move->released_at = 0;
		move->flush_us = 0;
		verdict = in_transaction(swap_step, move);
		account_for_swap(move);
		if (move->is_swapped)
			return GO_ON;		/* whatever came after the commit */
		if (verdict != BUSY)
			return verdict;
		if (++move->busy >= tier_move_lock_attempts)
			return BUSY;
		move->pause_ms = next_pause_ms(move);
		verdict = in_transaction(rest, move);
		if (verdict != GO_ON)
			return verdict;
	}
}

/* One copy, from its begin to its end. */
static Verdict
copy_and_swap(Online *move)
{
	Verdict		verdict;

	move->began_at = tier_clock_monotonic_us();
	verdict = in_transaction(register_step, move);
	if (verdict != GO_ON)
		return verdict;
	tier_debug_point("registered");
	set_phase(move, TIER_PHASE_COPYING);
	if (tier_move_prewarm)
	{
		verdict = in_transaction(residency_before_step, move);
		if (verdict != GO_ON)
			return verdict;
	}
	verdict = insist(move, copy_step);
	if (verdict != GO_ON)
		return verdict;
	return finish_copy(move);
}

static void
explain_busy(Online *move)
{
	TierOnlineReport *report = move->report;
	const char *attempts = tier_move_lock_attempts == 1 ? "attempt" : "attempts";

	switch (move->busy_reason)
	{
		case BUSY_LOCK:
			report->why = psprintf("could not lock the relation within %d ms in %d %s",
								   tier_move_lock_timeout_ms, tier_move_lock_attempts, attempts);
			report->hint = "Others are using it. Raise tiered_storage.move_lock_timeout or move_lock_attempts, or try again later.";
			break;
		case BUSY_ROW:
			report->why = psprintf("its row of pg_class was locked after %d %s", tier_move_lock_attempts, attempts);
			report->hint = "A transaction is open that has a GRANT or the like on it. Try again when it has ended.";
			break;
		case BUSY_WORK:
			report->why = psprintf("after %d %s more was left to do than %d ms under the lock allow",
								   tier_move_lock_attempts, attempts, tier_move_lock_hold_limit_ms);
			report->hint = "It is changed too fast. Raise tiered_storage.move_lock_hold_limit, or try again at a quieter time.";
			break;
	}
}

static TierOnlineResult
conclude(Online *move, Verdict verdict)
{
	TierOnlineReport *report = move->report;

	/* Also one that came after the swap, when the move is done. */
	report->error = move->error;
	switch (verdict)
	{
		case GO_ON:
			return TIER_ONLINE_DONE;
		case NOT_NEEDED:
			return TIER_ONLINE_NOT_NEEDED;
		case REFUSED:
			return TIER_ONLINE_REFUSED;
		case UNWANTED:
			return TIER_ONLINE_UNWANTED;
		case ABANDONED:
			report->why = pstrdup("the extension is being dropped");
			report->hint = "Create it again, and repeat the move.";
			return TIER_ONLINE_BUSY;
		case RESTART:
			report->why = psprintf("%d copies of it were of no use; at the last one it %s",
								   MAX_RESTARTS + 1, move->spoilt_by);
			report->hint = "Try again when nothing rewrites it. If WAL was removed too early, raise wal_keep_size.";
			return TIER_ONLINE_BUSY;
		case BUSY:
			explain_busy(move);
			return TIER_ONLINE_BUSY;
		default:
			return TIER_ONLINE_FAILED;
	}
}

/* Copies until one copy is in place, or there is no use in another one. */
static Verdict
run_move(Online *move)
{
	Verdict		verdict;

	for (int restarts = 0;; restarts++)
	{
		verdict = copy_and_swap(move);
		if (verdict == GO_ON)
			break;
		discard(move);
		if (verdict != RESTART || restarts >= MAX_RESTARTS)
			return verdict;
		move->report->restarts++;
		tier_progress_add(TIER_PROGRESS_RESTARTS, 1);
		move->busy = 0;
	}

	end_copy(move);
	set_phase(move, TIER_PHASE_PREWARMING);
	move->pause_ms = 0;
	if (tier_move_prewarm)
		while (in_transaction(prewarm_step, move) == AGAIN && in_transaction(rest, move) == GO_ON)
			 /* go on */ ;
	tier_pending_release();
	return GO_ON;
}

#ifdef TIER_DEBUG

/*
 * For tests that load it by name: one move as above, also into the same
 * tablespace, in a database that need not have the extension.
 */
extern PGDLLEXPORT int tier_online_move_for_tests(Oid relation_oid, Oid tablespace_oid,
												  TierOnlineReport *report);

int
tier_online_move_for_tests(Oid relation_oid, Oid tablespace_oid, TierOnlineReport *report)
{
	TierOnlineRequest request;

	memset(&request, 0, sizeof(request));
	memset(report, 0, sizeof(*report));
	report->lock_held_ms = -1;
	request.relation_oid = request.rights_oid = relation_oid;
	request.tablespace_oid = tablespace_oid;
	request.requester_oid = BOOTSTRAP_SUPERUSERID;
	return tier_online_move(&request, report);
}

#endif

TierOnlineResult
tier_online_move(const TierOnlineRequest *request, TierOnlineReport *report)
{
	MemoryContext caller_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller_context, "tiered_storage move",
												  ALLOCSET_DEFAULT_SIZES);
	Online	   *move = MemoryContextAllocZero(context, sizeof(Online));
	TierOnlineResult result;

	register_callbacks();
	move->request = request;
	move->report = report;
	move->context = context;
	move->caller_context = caller_context;
	move->resident.resize = move->resident_before.resize = resize_resident;
	move->resident.argument = move->resident_before.argument = context;
	tier_progress_start(request->relation_oid);

	/* An error that leaves here comes from a rollback; the process ends soon. */
	current = move;
	PG_TRY();
	{
		Verdict		verdict = run_move(move);

		MemoryContextSwitchTo(caller_context);
		result = conclude(move, verdict);
	}
	PG_FINALLY();
	{
		current = NULL;
		tier_pending_release();
		tier_progress_end();
	}
	PG_END_TRY();
	MemoryContextDelete(context);
	return result;
}
