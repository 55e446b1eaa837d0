/*-------------------------------------------------------------------------
 *
 * observe/merge.c
 *		What happened since the last sample: growth, use, rates.
 *
 * Two passes over all relations.  The first compares each with what is
 * remembered of it; when it has ended, each table knows whether one of its
 * indexes was scanned.  The second splits the reads of those that were active,
 * and advances their rates.
 *
 * Counters only ever grow, but for resets and crash restarts, where they start
 * from zero: a counter below its last value is taken as new growth from zero.
 * After a reset a counter may already have passed its old value; then the
 * growth is underestimated, never overestimated.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_class.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/spccache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/model/evidence.h"
#include "src/model/heat.h"
#include "src/observe/access.h"
#include "src/observe/collect.h"
#include "src/observe/merge.h"
#include "src/server/file_size.h"
#include "src/server/processes.h"

/* A resident share that changed by less does not justify a row version. */
#define RESIDENCY_TOLERANCE_BUFFERS 64

/* The time since the last sample. */
typedef struct MergePeriod
{
	TimestampTz start;			/* of the statistics, if this is the first one */
	TimestampTz complete_since; /* see complete_since() */
	bool		was_emptied;	/* a crash in it has taken all counters */
} MergePeriod;

/* ---------------------------------------------------------------------
 * First pass: what is remembered, and what grew
 * ---------------------------------------------------------------------
 */

/*
 * Since when the cumulative statistics of this database count: their last
 * reset, else the creation of the database's directory.  A crash empties them
 * without a trace in the database's own entry; that of the archiver has one.
 */
static TimestampTz
statistics_since(void)
{
	PgStat_StatDBEntry *entry = pgstat_fetch_stat_dbentry(MyDatabaseId);
	TimestampTz now = tier_clock_now();
	TimestampTz emptied_at = pgstat_fetch_stat_archiver()->stat_reset_timestamp;
	struct stat st;
	char		path[MAXPGPATH];

	if (entry != NULL && entry->stat_reset_timestamp != 0)
		return Min(Max(entry->stat_reset_timestamp, emptied_at), now);

	/* The first thing written into a new database's directory. */
	snprintf(path, sizeof(path), "%s/PG_VERSION", DatabasePath);
	if (stat(path, &st) == 0)
		return Min(Max(time_t_to_timestamptz(st.st_mtime), emptied_at), now);
	return now;
}

/*
 * Since when these statistics have counted all that was done.  What was done on the server that
 * this one has taken over from, or from which it was restored, they have not: theirs are of a
 * standby, or of nobody, until it was promoted.  That is when the history of its timeline was
 * written; a copy of it may be younger, and where there is none nothing is known.
 */
static TimestampTz
complete_since(TimestampTz counting_since)
{
	TimestampTz now = tier_clock_now();
	char		path[MAXPGPATH];
	TimeLineID	timeline;
	struct stat st;

	if (RecoveryInProgress())
		return counting_since;
	timeline = GetWALInsertionTimeLine();
	if (timeline <= 1)
		return counting_since;
	TLHistoryFilePath(path, timeline);
	if (stat(path, &st) != 0)
		return now;
	return Min(Max(time_t_to_timestamptz(st.st_mtime + 1), counting_since), now);
}

/* Since when the counters of a relation count that period. */
static TimestampTz
since_reset(const TierRelationState *state, TimestampTz period_start, const TierMergeInput *input)
{
	if (input->last_sample_at != 0)
		return period_start;
	return Min(Max(period_start, state->stored.counters.reset_at), input->now);
}

/*
 * Since when what the statistics do not show of a relation is known not to have
 * happened: since they count, and since it is there.
 */
static TimestampTz
proven_since(const TierRelationId *id, const TierMergeInput *input, TimestampTz period_start)
{
	TimestampTz written_at;

	if (input->last_sample_at != 0)
		return input->now;
	written_at = tier_file_written_at(id->tablespace_oid, id->file_number);
	return written_at == 0 ? input->now : Min(Max(period_start, written_at), input->now);
}

/* What is remembered of the same relation. */
static void
take_over(TierRelationState *state, const TierRelationState *before, TimestampTz now)
{
	const TierRelationStored *from = &before->stored;
	TierRelationStored *to = &state->stored;
	bool		same_place = state->id.tablespace_oid == before->id.tablespace_oid;
	bool		same_file = state->id.file_number == before->id.file_number;

	to->rates = from->rates;
	to->heat_at = from->heat_at;
	to->observed_since = from->observed_since;

	/* A clock that was ahead is none to go by; see follow_clock(). */
	to->sampled_since = Min(from->sampled_since, now);
	to->proven_since = Min(from->proven_since, now);
	to->last_read_at = Min(from->last_read_at, now);
	to->last_used_at = Min(from->last_used_at, now);
	to->last_written_at = Min(from->last_written_at, now);
	to->rewritten_at = Min(from->rewritten_at, now);
	to->placed_at = same_place ? Min(from->placed_at, now) : now;
	if (same_file && same_place)
		to->os_cached_bytes = from->os_cached_bytes;
	to->source = from->source;
	to->evidence = from->evidence;
	to->past_reads = from->past_reads;
	to->past_writes = from->past_writes;
	to->totals = from->totals;

	/* A move to another tablespace gives it a new file too, but no new rows. */
	if (!same_file && same_place)
		to->rewritten_at = now;
}

bool
tier_merge_was_scanned(const TierRelationState *state, const TierCounters *counters)
{
	return state->id.kind == RELKIND_INDEX ? counters->scans > 0 : counters->tuples_read > 0;
}

/* Growth of all counters since `before`; true when they were reset or went back. */
static bool
compute_delta(TierRelationState *state, const TierCounters *before)
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

static bool
residency_moved(int32 before, int32 now)
{
	int32		difference = abs(before - now);

	return difference > RESIDENCY_TOLERANCE_BUFFERS && difference > before / 16;
}

/* Did some counter grow, here or on a standby? */
static bool
was_active(const TierRelationPeriod *period)
{
	return period->delta.scans > 0 || period->delta.blocks_fetched > 0 ||
		period->delta.row_changes > 0 ||
		period->standby.scans > 0 || period->standby.blocks_fetched > 0;
}

/*
 * What takes room beside the main fork and is moved along: a few blocks, but of many small
 * tables more than the tables.
 */
static int64
maps_bytes(const TierRelationId *id)
{
	int64		bytes = tier_file_size(id->tablespace_oid, id->file_number, FSM_FORKNUM);

	if (id->kind != RELKIND_INDEX)
		bytes += tier_file_size(id->tablespace_oid, id->file_number, VISIBILITYMAP_FORKNUM);
	if (id->persistence == RELPERSISTENCE_UNLOGGED)
		bytes += tier_file_size(id->tablespace_oid, id->file_number, INIT_FORKNUM);
	return bytes;
}

/* Is there anything to be stored? */
static bool
has_changed(const TierRelationState *state, const TierRelationState *before)
{
	return before == NULL || state->period.active ||
		memcmp(&state->stored.counters, &before->stored.counters, sizeof(TierCounters)) != 0 ||
		state->id.file_number != before->id.file_number ||
		state->id.tablespace_oid != before->id.tablespace_oid ||
		state->id.heap_oid != before->id.heap_oid ||
		state->id.name_hash != before->id.name_hash ||
		state->stored.placed_at != before->stored.placed_at ||
		state->stored.sampled_since != before->stored.sampled_since ||
		state->stored.proven_since != before->stored.proven_since ||
		state->stored.last_read_at != before->stored.last_read_at ||
		state->stored.last_used_at != before->stored.last_used_at ||
		state->stored.last_written_at != before->stored.last_written_at ||
		OidIsValid(before->stored.previous_file_number) ||
		before->stored.unclaimed_growth > 0 ||
		(state->stored.maintained_at != 0 &&
		 state->stored.maintained_at != before->stored.maintained_at) ||
		state->stored.vacuums != before->stored.vacuums || state->period.writes.wal_bytes > 0 ||
		residency_moved(before->stored.cached_buffers, state->stored.cached_buffers);
}

/* Is that long enough ago that counters of then have come? */
static bool
has_passed(TimestampTz at, const TierMergeInput *input)
{
	return at < input->last_sample_at &&
		TimestampDifferenceExceeds(at, input->now, TIER_COUNTERS_LAG_MS);
}

/* What goes with a table is locked through it. */
static Oid
table_of(TierRelationState *states, int nstates, const TierRelationState *state)
{
	/* An index of a TOAST table is two steps away from its table. */
	for (int step = 0; step < 2 && state != NULL &&
		 state->id.heap_oid != state->id.relation_oid; step++)
	{
		const TierRelationState *table = tier_collect_find(states, nstates, state->id.heap_oid);

		if (table == NULL)
			return state->id.heap_oid;
		state = table;
	}
	return state->id.relation_oid;
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
 * How much of what grew just now, and has no counter, may have one later.  A file may
 * have been filled past the buffers: by a rewrite, which gives a relation that was known
 * another file, and by the build of an index, whose file is empty until then.  What
 * was there before the first sample may have been counted before a reset.
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

/*
 * Blocks that were added were not read, though the server counts them so.
 *
 * The file grows at once, the counters when the transaction ends.  So growth that
 * no counter has yet is kept until one does, however many samples later; while it may
 * still come, what is known to be true reads of others is left alone.  Growth is
 * given up when nobody is left who may count it, so that it does not swallow true reads
 * later on; and what a crash or a reset took from the counters never comes.
 */
static void
discount_growth(TierRelationState *state, const TierRelationState *before,
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
	if (has_passed(stored->unclaimed_at, input))
		stored->unclaimed_growth = 0;
}

/*
 * That a table was vacuumed is counted at once; what was read for it only when all of a
 * VACUUM of many tables has ended, or an autovacuum worker.
 */
static void
note_maintenance(TierRelationState *state, const TierRelationState *before,
				 const TierMergeInput *input)
{
	TierRelationStored *stored = &state->stored;
	TimestampTz maintained_at = before == NULL ? 0 : before->stored.maintained_at;

	if (state->period.delta.maintenance > 0)
		maintained_at = input->now;
	else if (maintained_at != 0 && tier_processes_may_have_vacuumed(maintained_at))
		maintained_at = input->now;
	else if (maintained_at != 0 && has_passed(maintained_at, input))
		maintained_at = 0;
	stored->maintained_at = maintained_at;
}

/* Indexes of the last sample that have gone since. */
typedef struct GoneIndexes
{
	const TierRelationState **states;
	int			n;				/* NULL among them: it was found again */
} GoneIndexes;

static GoneIndexes
find_gone_indexes(TierRelationState *states, int nstates, const TierMergeInput *input)
{
	GoneIndexes gone = {NULL, 0};

	for (int j = 0; j < input->nlast; j++)
	{
		const TierRelationState *last = &input->last[j];

		if (last->id.kind != RELKIND_INDEX ||
			tier_collect_find(states, nstates, last->id.relation_oid) != NULL)
			continue;
		if (gone.states == NULL)
			gone.states = palloc_extended(sizeof(TierRelationState *) * input->nlast,
										  MCXT_ALLOC_HUGE);
		gone.states[gone.n++] = last;
	}
	return gone;
}

/* By how much these counters have grown to those; negative: they cannot have. */
static double
distance(const TierCounters *then, const TierCounters *now)
{
	if (then->reset_at != now->reset_at || then->scans > now->scans ||
		then->tuples_read > now->tuples_read || then->blocks_fetched > now->blocks_fetched ||
		then->blocks_hit > now->blocks_hit)
		return -1.0;
	return (double) (now->scans - then->scans) + (double) (now->tuples_read - then->tuples_read) +
		(double) (now->blocks_fetched - then->blocks_fetched) +
		(double) (now->blocks_hit - then->blocks_hit);
}

/* That index is gone: is the new one of the same name, and with counters that may be its own? */
static bool
is_in_place_of(const TierRelationState *state, const TierRelationState *gone)
{
	return state->id.name_hash == gone->id.name_hash &&
		(state->stored.counters.reset_at != gone->stored.counters.reset_at ||
		 distance(&gone->stored.counters, &state->stored.counters) >= 0.0);
}

/*
 * An index that the last sample has not seen.  REINDEX CONCURRENTLY puts a new one in the place of
 * another, with its name and its counters: then that is what is remembered of it; NULL: nothing
 * is.  *copied: the counters of one that had another name, of which those of this one may be a
 * copy, or else zeros: what was ever read of that is not of this period.
 */
static const TierRelationState *
find_rebuilt(TierRelationState *state, GoneIndexes *gone, const TierCounters **copied)
{
	double		least = -1.0;

	for (int i = 0; i < gone->n; i++)
	{
		const TierRelationState *candidate = gone->states[i];
		double		grown;

		if (candidate == NULL || candidate->id.heap_oid != state->id.heap_oid)
			continue;
		if (is_in_place_of(state, candidate))
		{
			gone->states[i] = NULL;
			state->period.rebuilt_from = candidate->id.relation_oid;
			return candidate;
		}
		grown = distance(&candidate->stored.counters, &state->stored.counters);
		if (grown >= 0.0 && (least < 0.0 || grown < least))
		{
			least = grown;
			*copied = &candidate->stored.counters;
		}
	}
	return NULL;
}

/*
 * Compares one relation with what is remembered of it; before NULL: nothing, and its counters
 * have grown from those of `origin`.  Returns whether they went backwards.
 */
static bool
compare(TierRelationState *state, const TierRelationState *before, const TierCounters *origin,
		const TierAccessCount *count,
		Oid table_oid, const MergePeriod *merged, const TierMergeInput *input)
{
	TimestampTz period_start = since_reset(state, merged->start, input);
	TierRelationStored *stored = &state->stored;
	TierRelationPeriod *period = &state->period;
	bool		is_first_sample = input->last_sample_at == 0;
	bool		saw_reset = false;

	if (before != NULL)
	{
		take_over(state, before, input->now);
		saw_reset = compute_delta(state, &before->stored.counters);

		/* What they do not show any more they do not prove either. */
		period->lost_scans = saw_reset && tier_merge_was_scanned(state, &before->stored.counters);
		if (period->lost_scans)
			stored->proven_since = input->now;
	}
	else
	{
		stored->sampled_since = input->now;
		stored->observed_since = stored->heat_at = period_start;
		if (tier_merge_was_scanned(state, &stored->counters))
			stored->last_read_at = Min(period->last_scan_at, input->now);
		stored->proven_since = proven_since(&state->id, input,
											Max(period_start, merged->complete_since));
		(void) compute_delta(state, origin);

		/*
		 * What its table took before a new index was there did not concern
		 * it.
		 */
		if (!is_first_sample && state->id.kind == RELKIND_INDEX)
			period->delta.row_changes = 0;
	}
	note_maintenance(state, before, input);
	period->active = was_active(period);
	period->changed = has_changed(state, before);

	/*
	 * Of the past before the first sample, rows that are there came once:
	 * that they did is no work that goes on.
	 */
	if (is_first_sample)
		period->delta.row_changes = Max(period->delta.row_changes - period->live_rows, 0);

	/*
	 * The files of an idle relation have not changed; but who was busy before
	 * a crash looks idle after it.
	 */
	if (period->changed || merged->was_emptied || before->stored.maps_bytes < 0)
	{
		stored->size_bytes = tier_file_size(state->id.tablespace_oid, state->id.file_number,
											MAIN_FORKNUM);
		stored->maps_bytes = maps_bytes(&state->id);
		period->changed = period->changed || stored->size_bytes != before->stored.size_bytes ||
			stored->maps_bytes != before->stored.maps_bytes;
	}
	else
	{
		stored->size_bytes = before->stored.size_bytes;
		stored->maps_bytes = before->stored.maps_bytes;
	}

	if (before != NULL)
		period->size_change = stored->size_bytes - before->stored.size_bytes;
	else if (!is_first_sample)
		period->size_change = stored->size_bytes;

	if (period->changed)
		discount_growth(state, before, count, table_oid, saw_reset || merged->was_emptied, input);
	if (period->active)
	{
		if (!is_first_sample)
		{
			/* TABLESAMPLE returns rows and counts no scan. */
			period->was_scanned = period->delta.scans > 0 || period->standby.scans > 0 ||
				(state->id.kind != RELKIND_INDEX &&
				 (period->delta.tuples_read > 0 || period->standby.tuples_read > 0));
			stored->last_used_at = input->now;
			if (period->delta.row_changes > 0)
				stored->last_written_at = input->now;
		}
	}
	return saw_reset;
}

/* ---------------------------------------------------------------------
 * Second pass: which reads were use, in which order
 * ---------------------------------------------------------------------
 */

/* What the statistics say of random and sequential. */
static TierCostAttribution
attribute_by_statistics(const TierRelationState *state, const TierCounters *delta)
{
	TierCostCounters counters;

	counters.is_index = state->id.kind == RELKIND_INDEX;
	counters.scans = delta->scans;
	counters.tuples_read = delta->tuples_read;
	counters.blocks_fetched = delta->blocks_fetched;
	counters.blocks_hit = delta->blocks_hit;
	counters.pages = (double) state->stored.size_bytes / BLCKSZ;
	counters.tuples = state->id.tuples;
	return tier_cost_attribute(&counters);
}

/*
 * What came from the executor and did not fit into the counters' growth may be
 * on its way to them still: it is kept for the next sample.  What was kept
 * already is used up first, and is not kept twice.
 */
static void
carry_over(const TierAccessCount *count, double added, double used_share)
{
	const TierSplitPlans *all = &count->plans;
	const TierSplitPlans *fresh = &count->fresh;
	double		share = 1.0 - used_share;
	TierSplitPlans rest;

	rest.random = Min(Max(all->random - added, 0.0) * share, fresh->random);
	rest.sequential = Min(all->sequential * share, fresh->sequential);
	rest.random_variance = Min(all->random_variance * share, fresh->random_variance);
	rest.sequential_variance = Min(all->sequential_variance * share, fresh->sequential_variance);
	rest.added = Min(Max(all->added - added, 0.0) * share, fresh->added);
	rest.ignored = Min(all->ignored * share, fresh->ignored);
	rest.measured = Min(all->measured * share, fresh->measured);
	rest.measured_device = Min(all->measured_device * share, fresh->measured_device);
	rest.shared = Min(all->shared * share, fresh->shared);
	rest.shared_device = Min(all->shared_device * share, fresh->shared_device);
	rest.bounded = Min(all->bounded * share, fresh->bounded);
	memset(&rest.requests, 0, sizeof(rest.requests));
	if (all->bounded > 0.0)
		tier_split_add_requests(&rest.requests, &all->requests, rest.bounded / all->bounded);
	rest.hits = 0.0;
	rest.plans = Min(all->plans * share, fresh->plans);
	if (rest.random + rest.sequential + rest.ignored >= 0.5)
		tier_access_shared_carry(count->relation_oid, &rest);
}

static void
take_measured_shares(TierRelationPeriod *period, const TierSplitPlans *plans)
{
	if (plans->sequential <= 0.0)
		return;
	period->measured_part = Min(plans->measured / plans->sequential, 1.0);
	period->shared_part = Min(plans->shared / plans->sequential, 1.0 - period->measured_part);
	if (plans->measured > 0.0)
		period->measured_share = Min(plans->measured_device / plans->measured, 1.0);
	if (plans->shared > 0.0)
		period->shared_share = Min(plans->shared_device / plans->shared, 1.0);
}

/* What a plan reads that is so expensive that it is always tracked. */
static double
certain_blocks(Oid tablespace_oid)
{
	double		sequential_cost;

	get_tablespace_page_costs(tablespace_oid, NULL, &sequential_cost);
	return TIER_COST_OF_CERTAINTY / Max(sequential_cost, 1e-6);
}

/*
 * What a table has read before anybody watched was no use where it is not the work of its
 * scans, and no index was scanned: loading, building indexes and vacuuming leave such
 * reads, and queries do not.
 */
static void
leave_out_loading(TierRelationPeriod *period)
{
	TierCostAttribution *use = &period->attribution;

	period->maintenance_reads += use->misses - use->sequential_mid;
	use->misses = use->sequential_high = use->sequential_mid;
}

/*
 * What was found in shared buffers comes in one number, whoever looked for it: a load finds a
 * hundred times as much there as it misses, and would be a hundred thousand reads of an hour.
 * So of that as much as of the misses is use, and where no index has led to anything, no more
 * than what scans have seen.
 */
static double
hits_of_use(const TierRelationState *state, bool looked_up, bool is_maintenance)
{
	const TierRelationPeriod *period = &state->period;
	double		all = period->attribution.misses + period->maintenance_reads;
	double		hits = period->delta.blocks_hit;
	double		pages = Max(state->stored.size_bytes, 0) / (double) BLCKSZ;

	if (is_maintenance)
		return 0.0;
	if (all > 0.0)
		hits *= period->attribution.misses / all;
	if (!looked_up)
		hits = Min(hits, state->id.kind == RELKIND_INDEX ? 0.0 : period->delta.scans * pages);
	return hits;
}

/*
 * `count` NULL: no plan that was tracked has read this relation.  is_first: by the first
 * sample of all.  Returns whether all that was read of it here was maintenance, and no use.
 */
static bool
attribute(TierRelationState *state, const TierAccessTaken *taken, const TierAccessCount *count,
		  bool carry, bool is_first)
{
	TierRelationPeriod *period = &state->period;
	TierSplitPeriod input;
	TierSplitResult result;
	bool		is_maintenance;

	memset(&input, 0, sizeof(input));
	input.statistics = attribute_by_statistics(state, &period->delta);
	input.misses = input.statistics.misses;
	input.grown = period->added_blocks;
	input.covered = taken->covered && tier_track_access;
	input.complete = taken->dropped <= 0.0;
	input.maintained = state->stored.maintained_at != 0;

	input.is_index = state->id.kind == RELKIND_INDEX;
	input.looked_up = period->index_scanned || (input.is_index && period->delta.scans > 0);
	input.touched = input.looked_up || period->delta.scans > 0 ||
		period->delta.tuples_read > 0 || period->delta.row_changes > 0;
	input.sample_rate = tier_track_sample_rate;
	input.certain_blocks = certain_blocks(state->id.tablespace_oid);
	if (count != NULL)
		input.plans = count->plans;
	period->random_requests = TIER_SPLIT_SHARE_UNKNOWN;
	if (taken->device_seen)
		take_measured_shares(period, &input.plans);

	result = tier_split_period(&input);
	if (taken->device_seen && result.source == TIER_SOURCE_EXECUTOR)
		period->random_requests = tier_split_request_share(&input.plans);
	period->attribution = result.use;
	period->maintenance_reads = result.maintenance;
	if (is_first && count == NULL && !input.is_index && !input.looked_up)
		leave_out_loading(period);
	is_maintenance = tier_split_is_maintenance(&input);
	period->use_hits = hits_of_use(state, input.looked_up, is_maintenance);
	state->stored.source = result.source;
	if (carry && input.covered && count != NULL && result.used_share < 1.0)
		carry_over(count, result.added, result.used_share);
	return is_maintenance;
}

/*
 * Notes that somebody has read it.  A row that is fetched by its place leaves no scan, but
 * blocks that nobody has changed.  In doubt it was use: what is taken for idle is sent to
 * where its users suffer.
 */
static void
note_read(TierRelationState *state, bool is_maintenance, const TierMergeInput *input)
{
	const TierRelationPeriod *period = &state->period;
	bool		was_fetched = state->id.kind != RELKIND_INDEX && !period->index_scanned &&
	period->delta.blocks_fetched > 0 && period->delta.row_changes == 0;

	if (input->last_sample_at == 0 ||
		(is_maintenance && period->standby.scans <= 0 && period->standby.tuples_read <= 0))
		return;
	if (period->was_scanned || was_fetched)
		state->stored.last_read_at = input->now;
}

/*
 * What was pulled from standbys: the executor there does not tell us anything,
 * and their devices are none of ours.
 */
static void
add_standby_reads(TierRelationState *state)
{
	TierRelationPeriod *period = &state->period;
	const TierCounters *there = &period->standby;
	TierCostAttribution *split = &period->standby_attribution;

	if (there->scans <= 0 && there->blocks_fetched <= 0)
		return;
	*split = attribute_by_statistics(state, there);
	period->attribution.misses += split->misses;
	period->attribution.sequential_low += split->sequential_low;
	period->attribution.sequential_mid += split->sequential_mid;
	period->attribution.sequential_high += split->sequential_high;
	period->delta.scans += there->scans;
	period->delta.tuples_read += there->tuples_read;
	period->delta.blocks_fetched += there->blocks_fetched;
	period->delta.blocks_hit += there->blocks_hit;
	period->use_hits += there->blocks_hit;
}

double
tier_merge_advance(double rate, const TierRelationPeriod *period, double events,
				   double half_life_s)
{
	return tier_heat_advance(tier_heat_advance(rate, 0.0, period->idle_s, half_life_s),
							 events, period->active_s, half_life_s);
}

static void
advance_fast(double *rate, const TierRelationPeriod *period, double events)
{
	*rate = tier_merge_advance(*rate, period, events, TIER_HALF_LIFE_FAST_S);
}

static void
advance_slow(double *rate, const TierRelationPeriod *period, double events)
{
	*rate = tier_merge_advance(*rate, period, events, TIER_HALF_LIFE_SLOW_S);
}

static void
advance_rates(TierRelationStored *stored, TierRelationPeriod *period, TimestampTz period_start,
			  TimestampTz now)
{
	TierRates  *rates = &stored->rates;
	const TierCostAttribution *split = &period->attribution;
	const TierCounters *there = &period->standby;
	double		random = split->misses - split->sequential_mid;

	period->idle_s = tier_seconds_between(stored->heat_at, period_start);
	period->active_s = tier_seconds_between(Max(stored->heat_at, period_start), now);
	advance_fast(&rates->random_fast, period, random);
	advance_slow(&rates->random_slow, period, random);
	advance_fast(&rates->sequential_fast, period, split->sequential_mid);
	advance_slow(&rates->sequential_slow, period, split->sequential_mid);
	advance_slow(&rates->sequential_low_slow, period, split->sequential_low);
	advance_slow(&rates->sequential_high_slow, period, split->sequential_high);
	advance_slow(&rates->hits_slow, period, period->use_hits);
	advance_slow(&rates->scans_slow, period, period->delta.scans);
	advance_fast(&rates->changes_fast, period, period->delta.row_changes);
	advance_slow(&rates->changes_slow, period, period->delta.row_changes);
	advance_fast(&rates->page_writes_fast, period, period->writes.pages);
	advance_slow(&rates->page_writes_slow, period, period->writes.pages);
	advance_fast(&rates->merged_writes_fast, period, period->writes.merged);
	advance_slow(&rates->merged_writes_slow, period, period->writes.merged);
	advance_fast(&rates->maintenance_writes_fast, period, period->writes.maintenance_pages);
	advance_fast(&rates->wal_bytes_fast, period, period->writes.wal_bytes);
	advance_fast(&rates->image_bytes_fast, period, period->writes.image_bytes);
	advance_fast(&rates->standby_fast, period, Max(0, there->blocks_fetched - there->blocks_hit));
	advance_fast(&rates->standby_sequential_fast, period,
				 period->standby_attribution.sequential_mid);
	advance_fast(&rates->maintenance_reads_fast, period, period->maintenance_reads);
	advance_slow(&rates->maintenance_reads_slow, period, period->maintenance_reads);
	stored->heat_at = now;
}

/*
 * A table that an index leads to is read.  An index-only scan leaves no other trace of
 * it.
 */
static void
note_index_scan(TierRelationState *state, const TierMergeInput *input)
{
	if (input->last_sample_at == 0)
		return;
	state->stored.last_read_at = input->now;
	state->period.changed = true;
}

/*
 * Notes that there was use, or that the file grew, and when.  With growth alone it does not
 * begin: that would be evidence of no use at all before.  What was before the first sample is
 * noted apart.
 */
static void
note_evidence(TierRelationState *state, TimestampTz period_start, const TierMergeInput *input)
{
	const TierRelationPeriod *period = &state->period;
	TierRelationStored *stored = &state->stored;
	double		reads = period->attribution.misses;
	double		writes = (double) period->delta.row_changes + period->writes.pages;
	TimestampTz since;

	if (input->last_sample_at != 0)
	{
		tier_evidence_note(&stored->evidence, period_start, input->now, tier_evidence_interval_s,
						   reads, writes, period->size_change);
		return;
	}
	since = since_reset(state, period_start, input);
	tier_evidence_begin(&stored->evidence, input->now, tier_evidence_interval_s);
	stored->past_reads = tier_evidence_past(since, input->now, reads,
											(double) period->delta.scans + period->index_scans);
	stored->past_writes = tier_evidence_past(since, input->now, writes, period->delta.row_changes);
}

/*
 * What plans read of the relation, or NULL.  Both are ordered by OID; *k goes from
 * one relation to the next.
 */
static const TierAccessCount *
count_of(const TierAccessTaken *taken, Oid relation_oid, int *k)
{
	while (*k < taken->n && taken->counts[*k].relation_oid < relation_oid)
		(*k)++;
	return *k < taken->n && taken->counts[*k].relation_oid == relation_oid ?
		&taken->counts[*k] : NULL;
}

/*
 * Splits the reads of those that were active, and advances their rates.
 */
static void
advance_active(TierRelationState *states, int nstates, TimestampTz period_start,
			   const TierMergeInput *input)
{
	const TierAccessTaken *taken = input->taken;
	int			k = 0;

	for (int i = 0; i < nstates; i++)
	{
		TierRelationState *state = &states[i];
		TierRelationPeriod *period = &state->period;
		const TierAccessCount *count = count_of(taken, state->id.relation_oid, &k);

		if (period->index_scanned || period->held_on_standby)
			note_index_scan(state, input);
		if (period->active)
		{
			note_read(state, attribute(state, taken, count, input->carry,
									   input->last_sample_at == 0), input);
			add_standby_reads(state);
		}
		else if (input->carry && taken->covered && count != NULL)
			carry_over(count, 0.0, 0.0);
		if (period->active || period->writes.wal_bytes > 0)
		{
			advance_rates(&state->stored, period, period_start, input->now);
			note_evidence(state, period_start, input);
		}
		else if (period->size_change != 0 && state->stored.evidence.interval_s > 0.0)
			note_evidence(state, period_start, input);
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* A table was read by the scans of its indexes, too. */
static void
pass_on_lost_scans(TierRelationState *states, int nstates, TimestampTz now)
{
	for (int i = 0; i < nstates; i++)
	{
		TierRelationState *heap;

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!states[i].period.lost_scans || states[i].id.kind != RELKIND_INDEX)
			continue;
		heap = tier_collect_find(states, nstates, states[i].id.heap_oid);
		if (heap != NULL)
			heap->stored.proven_since = now;
	}
}

TierMergeResult
tier_merge(TierRelationState *states, int nstates, const TierMergeInput *input)
{
	static const TierCounters nothing;
	MergePeriod merged = {.start = statistics_since()};
	TierMergeResult result = {0};
	GoneIndexes gone = find_gone_indexes(states, nstates, input);
	int			nlost = 0;
	int			j = 0;
	int			k = 0;

	merged.complete_since = result.complete_since = complete_since(merged.start);
	result.began_ahead = merged.start >= input->now;
	if (input->last_sample_at != 0)
	{
		result.was_emptied = merged.was_emptied = merged.start > input->last_sample_at;
		merged.start = Min(input->last_sample_at, input->now);
	}

	for (int i = 0; i < nstates; i++)
	{
		TierRelationState *state = &states[i];
		const TierRelationState *before = NULL;
		const TierCounters *origin = &nothing;

		while (j < input->nlast && input->last[j].id.relation_oid < state->id.relation_oid)
			j++;
		if (j < input->nlast && input->last[j].id.relation_oid == state->id.relation_oid)
			before = &input->last[j];
		else if (gone.n > 0 && state->id.kind == RELKIND_INDEX)
			before = find_rebuilt(state, &gone, &origin);
		result.saw_reset |= compare(state, before, origin,
									count_of(input->taken, state->id.relation_oid, &k),
									table_of(states, nstates, state), &merged, input);

		if (state->period.active && state->id.kind == RELKIND_INDEX &&
			(state->period.delta.scans > 0 || state->period.standby.scans > 0))
		{
			TierRelationState *heap = tier_collect_find(states, nstates, state->id.heap_oid);

			if (heap != NULL)
			{
				heap->period.index_scanned = true;
				heap->period.index_scans += state->period.delta.scans +
					state->period.standby.scans;
			}
		}
		nlost += state->period.lost_scans && state->id.kind == RELKIND_INDEX;
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (nlost > 0)
		pass_on_lost_scans(states, nstates, input->now);
	advance_active(states, nstates, merged.start, input);
	return result;
}
