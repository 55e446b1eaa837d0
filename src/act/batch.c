/*-------------------------------------------------------------------------
 *
 * act/batch.c
 *		Moves that belong together: their number, and a line in the log at both ends.
 *
 * Between two of its moves nothing in the tables shows that a batch goes on.  So its process
 * has a lock of the session on the batch, from its first move to its end, which the server
 * releases when the process ends in whatever way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_sequence.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lock.h"

#include "src/compat.h"
#include "src/act/batch.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/move/progress.h"
#include "src/move/throttle.h"

/* A batch of this process, from tier_batch_begin() to the end of tier_batch_run(). */
typedef struct Batch
{
	int64		batch_id;		/* 0: none, and the rest has no meaning */
	const char *cause;
	const TierMoveCounts *counts;
	int64		began_us;		/* by tier_clock_monotonic_us */
	double		waited_before_ms;	/* by all moves of this process until then */
	const char *cut_short;		/* why nothing more was to be tried; NULL: all
								 * was */
	bool		is_locked;		/* for the session; see batch_lock() */
	struct Batch *outer;		/* which goes on when this one ends; on the
								 * stack of tier_batch_run() */
} Batch;

static Batch current;

/*
 * A user lock outlives the rollbacks that a batch consists of, and nobody takes an object's
 * with pg_advisory_lock().  The numbers of batches come from a sequence; those of 48 bits have
 * locks of their own, and two that are further apart do not run at the same time.
 */
static LOCKTAG
batch_lock(int64 batch_id)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, SequenceRelationId, (uint32) batch_id,
					   (uint16) (batch_id >> 32));
	tag.locktag_lockmethodid = USER_LOCKMETHOD;
	return tag;
}

static void
lock_batch(int64 batch_id)
{
	LOCKTAG		tag = batch_lock(batch_id);

	current.is_locked = LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* A process that ends may be anywhere, and loses all of its locks anyway. */
static void
unlock_batch(int64 batch_id)
{
	LOCKTAG		tag = batch_lock(batch_id);

	if (current.is_locked && !proc_exit_inprogress)
		LockRelease(&tag, ExclusiveLock, true);
	current.is_locked = false;
}

bool
tier_batch_is_under_way(int64 batch_id)
{
	LOCKTAG		tag = batch_lock(batch_id);

	/* A standby allows no stronger lock on objects. */
	LOCKMODE	weak = RowShareLock;

	for (const Batch *batch = &current; batch != NULL; batch = batch->outer)
		if (batch_id == batch->batch_id)
			return true;
	if (LockAcquire(&tag, weak, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, weak, true);
	return false;
}

/*
 * Logs what came of the batch, if there is one, of what is in memory: the transaction may have
 * failed.  early: why it ended before all of it was tried; NULL: it did not.
 */
static void
end_batch(const char *early)
{
	int64		batch_id = current.batch_id;
	const TierMoveCounts *counts = current.counts;
	double		elapsed_ms = (tier_clock_monotonic_us() - current.began_us) / 1000.0;
	double		waited_ms = tier_progress_waited_ms() - current.waited_before_ms;

	if (batch_id == 0)
		return;
	unlock_batch(batch_id);
	current.batch_id = 0;
	ereport(LOG_SERVER_ONLY,
			(errmsg("tiered_storage batch " INT64_FORMAT " ends, for %s: moved %d relations, "
					INT64_FORMAT " bytes, in %s; not moved %d, waiting %d",
					batch_id, current.cause, counts->moved, counts->moved_bytes,
					tier_progress_time_text(elapsed_ms, waited_ms),
					counts->not_moved, counts->waiting),
			 early == NULL ? 0 : errdetail("It ended early: %s.", early)));
}

/* FATAL is caught by nobody; the callers of tier_batch_begin() are still on the stack. */
static void
end_at_exit(int code, Datum argument)
{
	for (;;)
	{
		end_batch("its process was terminated");
		if (current.outer == NULL)
			break;
		current = *current.outer;
	}
}

void
tier_batch_run(void (*body) (void *argument), void *argument)
{
	MemoryContext context = CurrentMemoryContext;
	Batch		outer = current;

	current = (Batch)
	{
		.outer = &outer
	};
	PG_TRY();
	{
		body(argument);
	}
	PG_CATCH();
	{
		MemoryContext error_context = MemoryContextSwitchTo(context);

		if (current.batch_id != 0)
			end_batch(CopyErrorData()->message);
		current = outer;
		MemoryContextSwitchTo(error_context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	end_batch(current.cut_short);
	current = outer;
}

int64
tier_batch_begin(const char *cause, int relations, double bytes, const TierMoveCounts *counts)
{
	static bool ends_at_exit = false;
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	int64		batch_id = 0;

	if (!ends_at_exit)
		before_shmem_exit(end_at_exit, (Datum) 0);
	ends_at_exit = true;
	if (tier_catalog_try_enter(&scope))
	{
		batch_id = tier_catalog_next_batch();
		tier_catalog_leave(&scope);
	}
	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	if (batch_id == 0)
		return 0;
	current.cause = cause;
	current.counts = counts;
	current.began_us = tier_clock_monotonic_us();
	current.waited_before_ms = tier_progress_waited_ms();
	current.cut_short = NULL;
	lock_batch(batch_id);

	/*
	 * After the line is written, an interrupt is let in: from here on it has
	 * an end.
	 */
	current.batch_id = batch_id;
	ereport(LOG_SERVER_ONLY,
			(errmsg("tiered_storage batch " INT64_FORMAT " begins, for %s: "
					"%d relations, %.0f bytes",
					batch_id, cause, relations, bytes)));
	return batch_id;
}

bool
tier_batch_may_go_on(bool by_worker)
{
	MemoryContext context = CurrentMemoryContext;
	bool		is_the_same = tier_catalog_extension_state() == TIER_EXTENSION_PRESENT;

	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	if (!is_the_same)
	{
		current.cut_short = "the extension was updated or dropped meanwhile";
		ereport(by_worker ? LOG : WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("nothing more is moved: the extension was updated or dropped meanwhile"),
				 errdetail("What is left stays where it is until the next run, "
						   "or until somebody asks for it again.")));
	}
	return is_the_same;
}

bool
tier_batch_is_switched_off(int least)
{
	tier_throttle_check_pause();
	if (tier_auto_migrate >= least)
		return false;
	current.cut_short = "auto_migrate was changed meanwhile";
	return true;
}
