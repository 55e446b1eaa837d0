/*-------------------------------------------------------------------------
 *
 * act/batch.c
 *		Moves that belong together: their number, and a line in the log at both ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "src/compat.h"
#include "src/act/batch.h"
#include "src/base/clock.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/move/progress.h"

/* The batch of this process, from tier_batch_begin() to the end of tier_batch_run(). */
static struct
{
	int64		batch_id;		/* 0: none, and the rest has no meaning */
	const char *cause;
	const TierMoveCounts *counts;
	int64		began_us;		/* by tier_clock_monotonic_us */
	double		waited_before_ms;	/* by all moves of this process until then */
	bool		is_cut_short;	/* nothing more was to be tried: the extension
								 * is not what it was */
}			current;

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
	end_batch("its process was terminated");
}

void
tier_batch_run(void (*body) (void *argument), void *argument)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		body(argument);
	}
	PG_CATCH();
	{
		MemoryContext error_context = MemoryContextSwitchTo(context);

		if (current.batch_id != 0)
			end_batch(CopyErrorData()->message);
		MemoryContextSwitchTo(error_context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	end_batch(current.is_cut_short ? "the extension was updated or dropped meanwhile" : NULL);
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
	current.is_cut_short = false;

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
		current.is_cut_short = true;
		ereport(by_worker ? LOG : WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("nothing more is moved: the extension was updated or dropped meanwhile"),
				 errdetail("What is left stays where it is until the next run, "
						   "or until somebody asks for it again.")));
	}
	return is_the_same;
}
