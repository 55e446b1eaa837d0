/*-------------------------------------------------------------------------
 *
 * observe/delta.c
 *		Growth of counters and files since the last sample.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "common/relpath.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/idle.h"
#include "src/base/settings.h"
#include "src/model/heat.h"
#include "src/observe/delta.h"
#include "src/storage/file_size.h"
#include "src/server/processes.h"

bool
tier_delta_of_counters(TierRelationState *state, const TierCounters *before)
{
	const TierCounters *now = &state->stored.counters;
	TierCounters *delta = &state->period.delta;
	bool		is_index = state->id.kind == RELKIND_INDEX;
	bool		reset = now->reset_at != before->reset_at ||
	now->scans < before->scans ||
	now->tuples_read < before->tuples_read ||
	now->blocks_fetched < before->blocks_fetched ||
	now->blocks_hit < before->blocks_hit;

	delta->scans = tier_heat_counter_delta(before->scans, now->scans, reset);
	delta->tuples_read = tier_heat_counter_delta(before->tuples_read, now->tuples_read, reset);
	delta->blocks_fetched = tier_heat_counter_delta(before->blocks_fetched, now->blocks_fetched,
													reset);
	delta->blocks_hit = tier_heat_counter_delta(before->blocks_hit, now->blocks_hit, reset);

	/* An index has this from its table, whose counters live their own life. */
	delta->row_changes = tier_heat_counter_delta(before->row_changes, now->row_changes,
												 (reset && !is_index) ||
												 now->row_changes < before->row_changes);
	delta->maintenance = tier_heat_counter_delta(before->maintenance, now->maintenance,
												 now->maintenance < before->maintenance);
	return reset;
}

bool
tier_delta_has_come(TimestampTz at, const TierMergeInput *input)
{
	return at < input->last_sample_at &&
		TimestampDifferenceExceeds(at, input->now, TIER_COUNTERS_LAG_MS);
}

/* Misses that are known to be no blocks that were added. */
static double
true_reads(const TierAccessTaken *taken, const TierAccessCount *count)
{
	if (!taken->covered || !tier_track_access || count == NULL)
		return 0.0;
	return count->plans.sequential + Max(count->plans.random - count->plans.added, 0.0);
}

/*
 * Blocks that the file has grown by since it was looked at last.  A relation that got
 * a new file in its place was written anew as a whole.
 */
static int64
count_growth(const TierRelationState *state, const TierRelationState *before)
{
	const TierRelationId *id = &state->id;
	int64		old_bytes = 0;
	int64		grown;

	if (before != NULL && (before->id.file_number == id->file_number ||
						   before->id.tablespace_oid != id->tablespace_oid))
		old_bytes = before->stored.size_bytes;
	grown = Max(state->stored.size_bytes - old_bytes, 0) / BLCKSZ;
	if (old_bytes == 0)
		grown += (tier_file_size(id->tablespace_oid, id->file_number, FSM_FORKNUM) +
				  tier_file_size(id->tablespace_oid, id->file_number,
								 VISIBILITYMAP_FORKNUM)) / BLCKSZ;
	return grown;
}

/*
 * The part of the current growth without a counter that may be counted later.  A file may have
 * been filled past the buffers: by a rewrite, which gives a relation that was known another
 * file, and by the build of an index, whose file is empty until then.  Blocks from before the
 * first sample may have been counted before a reset.
 */
static int64
expected_growth(const TierRelationState *state, const TierRelationState *before, int64 left,
				bool may_come, bool is_first_sample)
{
	const TierRelationId *id = &state->id;

	if (before != NULL)
		return before->id.file_number == id->file_number &&
			(id->kind != RELKIND_INDEX || before->stored.size_bytes > 0) ? left : 0;
	if (!is_first_sample)
		return id->kind != RELKIND_INDEX ? left : 0;
	return may_come ? Min(left, Max(state->stored.size_bytes / BLCKSZ -
									state->period.known_pages, 0)) : 0;
}

void
tier_delta_discount_growth(TierRelationState *state, const TierRelationState *before,
						   const TierAccessCount *count, Oid table_oid, bool was_emptied,
						   const TierMergeInput *input)
{
	TierRelationPeriod *period = &state->period;
	TierRelationStored *stored = &state->stored;
	int64		misses = Max(period->delta.blocks_fetched - period->delta.blocks_hit, 0);
	int64		carried = before != NULL && !was_emptied ? before->stored.unclaimed_growth : 0;
	int64		grown;
	int64		most;
	int64		fresh;
	bool		may_come = false;

	if (!TIER_COMPAT_EXTENSION_COUNTS_AS_MISS)
		return;
	grown = count_growth(state, before);
	if (grown + carried == 0)
		return;
	if (!was_emptied)
		may_come = tier_processes_may_have_extended(table_oid, grown > 0 ? input->now :
													before->stored.unclaimed_at);
	if (may_come)
		misses -= Min(misses, (int64) true_reads(input->taken, count));
	period->added_blocks = Min(grown + carried, misses);
	period->delta.blocks_fetched -= period->added_blocks;

	/* Older growth is counted first. */
	fresh = grown - Max(period->added_blocks - carried, 0);

	/* Blocks of maps may have been made without being asked for. */
	fresh -= Min(fresh, Max(grown - stored->size_bytes / BLCKSZ, 0));
	carried = Max(carried - period->added_blocks, 0);
	fresh = was_emptied ? 0 : expected_growth(state, before, fresh, may_come,
											  input->last_sample_at == 0);

	/* Together no more than the file has, or had until just now. */
	most = Max(stored->size_bytes, before != NULL ? before->stored.size_bytes : 0) / BLCKSZ;
	stored->unclaimed_growth = Min(carried + fresh, most);
	stored->unclaimed_at = fresh > 0 || may_come ? input->now :
		carried > 0 ? before->stored.unclaimed_at : 0;
	if (tier_delta_has_come(stored->unclaimed_at, input))
		stored->unclaimed_growth = 0;
}
