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

#include "catalog/pg_extension.h"
#include "catalog/pg_sequence.h"
#include "commands/extension.h"
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

/*
 * Makes the lock differ from that of the extension itself, and from that of move windows
 * (act/gate.c).
 */
#define ALONE_LOCK_SUBID 2

/* A batch of this process, from tier_batch_begin() to the end of tier_batch_run(). */
typedef struct Batch
{
	int64		batch_id;
	const char *cause;
	const TierMoveCounts *counts;
	int64		began_us;		/* by tier_clock_monotonic_us */
	double		waited_before_ms;	/* by all moves of this process until then */
	bool		is_locked;		/* for the session; see batch_lock() */
} Batch;

static Batch batches[TIER_MOST_BATCHES];
static int	nbatches = 0;

/* Why nothing more was to be tried; NULL: all was. */
static const char *cut_short = NULL;

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

bool
tier_batch_is_under_way(int64 batch_id)
{
	LOCKTAG		tag = batch_lock(batch_id);

	/* A standby allows no stronger lock on objects. */
	LOCKMODE	weak = RowShareLock;

	for (int i = 0; i < nbatches; i++)
		if (batch_id == batches[i].batch_id)
			return true;
	if (LockAcquire(&tag, weak, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, weak, true);
	return false;
}

/*
 * Logs what came of the batch, of what is in memory: the transaction may have failed.  early: why
 * it ended before all of it was tried; NULL: it did not.
 */
static void
end_batch(const Batch *batch, const char *early)
{
	const TierMoveCounts *counts = batch->counts;
	LOCKTAG		tag = batch_lock(batch->batch_id);
	double		elapsed_ms = (tier_clock_monotonic_us() - batch->began_us) / 1000.0;
	double		waited_ms = tier_progress_waited_ms() - batch->waited_before_ms;

	/* A process that ends may be anywhere, and loses all of its locks anyway. */
	if (batch->is_locked && !proc_exit_inprogress)
		LockRelease(&tag, ExclusiveLock, true);
	ereport(LOG_SERVER_ONLY,
			(errmsg("tiered_storage batch " INT64_FORMAT " ends, for %s: moved %d relations, "
					INT64_FORMAT " bytes, in %s; not moved %d, waiting %d",
					batch->batch_id, batch->cause, counts->moved, counts->moved_bytes,
					tier_progress_time_text(elapsed_ms, waited_ms),
					counts->not_moved, counts->waiting),
			 early == NULL ? 0 : errdetail("It ended early: %s.", early)));
}

static void
end_batches(const char *early)
{
	while (nbatches > 0)
	{
		const Batch batch = batches[--nbatches];

		end_batch(&batch, early);
	}
	cut_short = NULL;
}

/* FATAL is caught by nobody; the callers of tier_batch_begin() are still on the stack. */
static void
end_at_exit(int code, Datum argument)
{
	end_batches("its process was terminated");
}

void
tier_batch_run(void (*body) (void *argument), void *argument)
{
	MemoryContext context = CurrentMemoryContext;

	Assert(nbatches == 0);
	cut_short = NULL;
	PG_TRY();
	{
		body(argument);
	}
	PG_CATCH();
	{
		MemoryContext error_context = MemoryContextSwitchTo(context);

		if (nbatches > 0)
			end_batches(CopyErrorData()->message);
		MemoryContextSwitchTo(error_context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	end_batches(cut_short);
}

int64
tier_batch_begin(const char *cause, int relations, double bytes, const TierMoveCounts *counts)
{
	static bool ends_at_exit = false;
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	int64		batch_id = 0;
	Batch	   *batch = &batches[nbatches];
	LOCKTAG		tag;

	Assert(nbatches < TIER_MOST_BATCHES);
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
	tag = batch_lock(batch_id);
	*batch = (Batch)
	{
		.batch_id = batch_id,
			.cause = cause,.counts = counts,.began_us = tier_clock_monotonic_us(),
			.waited_before_ms = tier_progress_waited_ms(),
			.is_locked = LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL
	};

	/*
	 * After the line is written, an interrupt is let in: from here on it has
	 * an end.
	 */
	nbatches++;
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
		cut_short = "the extension was updated or dropped meanwhile";
		ereport(by_worker ? LOG : WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("nothing more is moved: the extension was updated or dropped meanwhile"),
				 errdetail("What is left stays where it is until the next run, "
						   "or until it is requested again.")));
	}
	return is_the_same;
}

bool
tier_batch_is_switched_off(int least)
{
	tier_throttle_check_pause();
	if (tier_auto_migrate >= least)
		return false;
	cut_short = "auto_migrate was changed meanwhile";
	return true;
}

char *
tier_batch_policies(int64 batch_id, int *n, TierPolicyKind *kind)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	char	   *policies;

	if (batch_id == 0 || !tier_catalog_try_enter(&scope))
		return NULL;
	policies = tier_catalog_policies_of_batch(context, batch_id, n, kind);
	tier_catalog_leave(&scope);
	return policies;
}

/*
 * On the extension and known to nobody else: two batches would fill the same room.
 */
bool
tier_batch_lock_alone(LOCKTAG *tag)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, ExtensionRelationId,
					   get_extension_oid(TIER_EXTENSION_NAME, true), ALONE_LOCK_SUBID);
	tag->locktag_lockmethodid = USER_LOCKMETHOD;
	return LockAcquire(tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}
