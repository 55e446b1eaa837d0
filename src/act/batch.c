/*-------------------------------------------------------------------------
 *
 * act/batch.c
 *		Moves that belong together: their number, and a line in the log at both ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/compat.h"
#include "src/act/batch.h"
#include "src/base/clock.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/move/progress.h"

/*
 * When the batch of this process began, by tier_clock_monotonic_us, and what its moves had
 * waited by then; set by tier_batch_begin(), and of no meaning before.
 */
static int64 began_us = 0;
static double waited_before_ms = 0.0;

int64
tier_batch_begin(const char *cause, int relations, double bytes)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	int64		batch_id = 0;

	if (tier_catalog_try_enter(&scope))
	{
		batch_id = tier_catalog_next_batch();
		tier_catalog_leave(&scope);
	}
	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	began_us = tier_clock_monotonic_us();
	waited_before_ms = tier_progress_waited_ms();
	if (batch_id != 0)
		ereport(LOG_SERVER_ONLY,
				(errmsg("tiered_storage batch " INT64_FORMAT " begins, for %s: "
						"%d relations, %.0f bytes",
						batch_id, cause, relations, bytes)));
	return batch_id;
}

void
tier_batch_end(int64 batch_id, const char *cause, int moved, int64 moved_bytes, int not_moved,
			   int waiting)
{
	if (batch_id == 0)
		return;
	ereport(LOG_SERVER_ONLY,
			(errmsg("tiered_storage batch " INT64_FORMAT " ends, for %s: moved %d relations, "
					INT64_FORMAT " bytes, in %s; not moved %d, waiting %d",
					batch_id, cause, moved, moved_bytes,
					tier_progress_time_text((tier_clock_monotonic_us() - began_us) / 1000.0,
											tier_progress_waited_ms() - waited_before_ms),
					not_moved, waiting)));
}

bool
tier_batch_may_go_on(bool by_worker)
{
	MemoryContext context = CurrentMemoryContext;
	bool		is_the_same = tier_catalog_extension_state() == TIER_EXTENSION_PRESENT;

	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	if (!is_the_same)
		ereport(by_worker ? LOG : WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("nothing more is moved: the extension was updated or dropped meanwhile"),
				 errdetail("What is left stays where it is until the next run, "
						   "or until somebody asks for it again.")));
	return is_the_same;
}
