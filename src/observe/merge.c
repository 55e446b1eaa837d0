/*-------------------------------------------------------------------------
 *
 * observe/merge.c
 *		Merging a sample with the last one: growth, use, rates.
 *
 * Two passes over all relations.  The first compares each relation with its remembered state;
 * after it, each table knows whether one of its indexes was scanned.  The second splits the
 * reads of the active relations, and advances their rates.
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
#include "utils/timestamp.h"

#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/model/evidence.h"
#include "src/model/heat.h"
#include "src/observe/attribute.h"
#include "src/observe/collect.h"
#include "src/observe/delta.h"
#include "src/observe/merge.h"
#include "src/observe/rebuilt.h"
#include "src/server/processes.h"
#include "src/storage/file_size.h"
#include "src/storage/store.h"

/* A resident share that changed by less does not justify a row version. */
#define RESIDENCY_TOLERANCE_BUFFERS 64

/* The time since the last sample. */
typedef struct MergePeriod
{
	TimestampTz start;			/* of the statistics, if this is the first one */
	TimestampTz complete_since; /* see complete_since() */
	bool		was_emptied;	/* a crash in it has taken all counters */
} MergePeriod;

/* Both passes, and how far the current one is: after a relation that fails, it goes on. */
typedef struct Merge
{
	TierRelationState *states;
	int			nstates;
	const TierMergeInput *input;
	MergePeriod period;
	TierMergeResult result;
	TierGoneIndexes gone;
	int			i;				/* in states */
	int			j;				/* in input->last */
	int			k;				/* in input->taken */
	int			nlost;
	TierPass   *pass;
} Merge;

/*---------------------------------------------------------------------
 * First pass: remembered states, and growth
 *---------------------------------------------------------------------
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
		return Min(Max(tier_file_modified_at(&st), emptied_at), now);
	return now;
}

/*
 * When a crash took all counters; 0: it did not.  It gives those of the archiver and of the WAL
 * the same time of reset, a reset of some counters does not: then the others go on.
 */
static TimestampTz
lost_at(void)
{
	TimestampTz emptied_at = pgstat_fetch_stat_archiver()->stat_reset_timestamp;

	return emptied_at == pgstat_fetch_stat_wal()->stat_reset_timestamp ? emptied_at : 0;
}

/*
 * Since when these statistics are complete.  They do not include the activity on the server
 * that this one has taken over from or was restored from: until its promotion they are those
 * of a standby, or empty.  The promotion is when the history file of its timeline was written.
 * A copy of that file may be newer; without the file nothing is known.
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

/* Since when the statistics of a relation are complete: since they count, and since it exists. */
static TimestampTz
proven_since(const TierRelationId *id, const TierMergeInput *input, TimestampTz period_start)
{
	TimestampTz written_at;

	if (input->last_sample_at != 0)
		return input->now;
	written_at = tier_file_written_at(id->tablespace_oid, id->file_number);
	return written_at == 0 ? input->now : Min(Max(period_start, written_at), input->now);
}

/* Takes over the remembered state of the same relation. */
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
	to->past = from->past;
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

/*
 * Subtracts the reads of ignored applications that are in the counters already.  If the
 * counters have gone back, the rest of these reads is unknown, and all reads count as use.
 */
static void
leave_out_ignored(TierRelationState *state, const TierAccessCount *count)
{
	TierRelationPeriod *period = &state->period;
	TierCounters *delta = &period->delta;
	TierSplitIgnored most = {0};

	period->ignored_is_known = true;
	if (count == NULL)
		return;
	most.scans = delta->scans;
	most.tuples = delta->tuples_read;
	most.hits = Min(delta->blocks_hit, delta->blocks_fetched);
	most.misses = delta->blocks_fetched - delta->blocks_hit;
	period->ignored = tier_split_least_ignored(&count->plans.ignored, &most);
	delta->scans -= (int64) period->ignored.scans;
	delta->tuples_read -= (int64) period->ignored.tuples;
	delta->blocks_hit -= (int64) period->ignored.hits;
	delta->blocks_fetched -= (int64) (period->ignored.hits + period->ignored.misses);
}

/* Returns true if a counter has grown, here or on a standby. */
static bool
was_active(const TierRelationPeriod *period)
{
	return period->delta.scans > 0 || period->delta.blocks_fetched > 0 ||
		period->delta.row_changes > 0 ||
		period->standby.scans > 0 || period->standby.blocks_fetched > 0;
}

/*
 * Bytes of the other forks, which are moved with the main fork: a few blocks, but for many
 * small tables more than the tables themselves.
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

/* Returns true if the state differs from the stored one. */
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
		abs(before->stored.cached_buffers - state->stored.cached_buffers) >
		Max(RESIDENCY_TOLERANCE_BUFFERS, before->stored.cached_buffers / 16);
}

/* The TOAST table and indexes of a table are locked through it. */
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

/*
 * A vacuum of a table is counted at once; its reads only when the whole VACUUM of many tables,
 * or the autovacuum worker, has ended.
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
	else if (maintained_at != 0 && tier_delta_has_come(maintained_at, input))
		maintained_at = 0;
	stored->maintained_at = maintained_at;
}

/*
 * Compares one relation with its remembered state; before NULL: there is none, and its
 * counters have grown from those of `origin`.  Returns whether they went backwards.
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
	bool		is_back = tier_store_is_back_since(state->id.tablespace_oid,
												   input->last_sample_at);
	bool		saw_reset = false;

	if (before != NULL)
	{
		take_over(state, before, input->now);
		saw_reset = tier_delta_of_counters(state, input->by_another_server ?
										   &stored->counters : &before->stored.counters);

		/* Counters that were reset prove nothing about earlier scans. */
		period->lost_scans = saw_reset && tier_merge_was_scanned(state, &before->stored.counters);
		if (period->lost_scans || input->by_another_server)
			stored->proven_since = input->now;
	}
	else
	{
		stored->sampled_since = input->now;
		stored->observed_since = stored->heat_at = is_first_sample ? input->now : period_start;
		if (tier_merge_was_scanned(state, &stored->counters))
			stored->last_read_at = Min(period->last_scan_at, input->now);
		stored->proven_since = proven_since(&state->id, input,
											Max(period_start, merged->complete_since));
		(void) tier_delta_of_counters(state, input->by_another_server ?
									  &stored->counters : origin);

		/*
		 * Reads of its table before a new index existed do not concern the
		 * index.
		 */
		if (!is_first_sample && state->id.kind == RELKIND_INDEX)
			period->delta.row_changes = 0;
	}
	note_maintenance(state, before, input);
	if (!is_first_sample && !saw_reset && !merged->was_emptied)
		leave_out_ignored(state, count);
	period->active = was_active(period);
	period->only_ignored = !period->active && period->ignored.misses > 0.0;
	period->active |= period->only_ignored;
	period->changed = has_changed(state, before);

	/*
	 * Of the past before the first sample, rows that are there came once:
	 * that they did is no work that goes on.
	 */
	if (is_first_sample)
		period->delta.row_changes = Max(period->delta.row_changes - period->live_rows, 0);

	/*
	 * The files of an idle relation have not changed; but a relation that was
	 * busy before a crash looks idle after it, and one whose store did not
	 * answer was not looked at: by how much it has grown in this period is
	 * not known.
	 */
	if ((period->changed || merged->was_emptied || is_back) &&
		tier_store_answers(state->id.tablespace_oid))
	{
		stored->size_bytes = tier_file_size(state->id.tablespace_oid, state->id.file_number,
											MAIN_FORKNUM);

		/* Reads change no other fork. */
		stored->maps_bytes = before != NULL && !merged->was_emptied &&
			state->id.file_number == before->id.file_number &&
			stored->size_bytes == before->stored.size_bytes && period->delta.row_changes == 0 &&
			period->delta.maintenance == 0 && period->writes.wal_bytes == 0 ?
			before->stored.maps_bytes : maps_bytes(&state->id);
		period->changed = period->changed || stored->size_bytes != before->stored.size_bytes ||
			stored->maps_bytes != before->stored.maps_bytes;
	}
	else if (before != NULL)
	{
		stored->size_bytes = before->stored.size_bytes;
		stored->maps_bytes = before->stored.maps_bytes;
	}

	if (before != NULL && !is_back)
		period->size_change = stored->size_bytes - before->stored.size_bytes;
	else if (before == NULL && !is_first_sample)
		period->size_change = stored->size_bytes;

	if (period->changed)
		tier_delta_discount_growth(state, before, count, table_oid,
								   saw_reset || merged->was_emptied, input);
	if (period->active && !period->only_ignored)
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
 * Second pass: use, and rates
 * ---------------------------------------------------------------------
 */

/*
 * Notes that the relation was read.  A fetch of a row by its TID counts no scan, but blocks
 * that were not changed.  Doubtful reads count as use, because a relation that is wrongly
 * taken for idle is moved to a slower tier.
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
advance_rates(TierRelationStored *stored, TierRelationPeriod *period, TimestampTz last_sample_at,
			  TimestampTz period_start, TimestampTz now)
{
	TierRates  *rates = &stored->rates;
	const TierCostAttribution *split = &period->attribution;
	double		random = split->misses - split->sequential_mid;

	/*
	 * Of the time that a crash has lost nothing is known, nor that it was
	 * idle.
	 */
	period->idle_s = tier_seconds_between(stored->heat_at, last_sample_at);
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
	advance_fast(&rates->maintenance_reads_fast, period, period->maintenance_reads);
	stored->heat_at = now;
}

/*
 * Notes that there was use, or that the file grew, and when.  With growth alone it does not
 * begin: that would be evidence of no use at all before.
 */
static void
note_evidence(TierRelationState *state, TimestampTz period_start, const TierMergeInput *input)
{
	const TierRelationPeriod *period = &state->period;

	tier_evidence_note(&state->stored.evidence, period_start, input->now,
					   tier_test_evidence_interval_s, period->attribution.misses,
					   (double) period->delta.row_changes + period->writes.pages,
					   period->size_change);
}

/*
 * Notes what the server's statistics know of the time before the first sample, apart from the
 * rates, which begin with it.
 */
static void
note_past(TierRelationState *state, TimestampTz period_start, const TierMergeInput *input)
{
	const TierRelationPeriod *period = &state->period;
	const TierCostAttribution *split = &period->attribution;
	double		hours = tier_seconds_between(since_reset(state, period_start, input),
											 input->now) / SECS_PER_HOUR;
	TierPast   *past = &state->stored.past;

	tier_evidence_begin(&state->stored.evidence, input->now, tier_test_evidence_interval_s);
	if (!(hours > 0.0))
		return;
	past->random_reads = (split->misses - split->sequential_mid) / hours;
	past->sequential_reads = split->sequential_mid / hours;
	past->scans = period->delta.scans / hours;
}

/*
 * The reads of the relation by plans, or NULL.  Both are ordered by OID; *k goes from one
 * relation to the next.
 */
static const TierAccessCount *
count_of(const TierAccessTaken *taken, Oid relation_oid, int *k)
{
	while (*k < taken->n && taken->counts[*k].relation_oid < relation_oid)
		(*k)++;
	return *k < taken->n && taken->counts[*k].relation_oid == relation_oid ?
		&taken->counts[*k] : NULL;
}

/* Splits its reads, if it was active, and advances its rates. */
static void
advance(TierRelationState *state, const TierAccessCount *count, TimestampTz period_start,
		const TierMergeInput *input)
{
	const TierAccessTaken *taken = input->taken;
	TierRelationPeriod *period = &state->period;

	/*
	 * A table that an index leads to is read; an index-only scan leaves no
	 * other trace of it.
	 */
	if ((period->index_scanned || period->held_on_standby) && input->last_sample_at != 0)
	{
		state->stored.last_read_at = input->now;
		period->changed = true;
	}
	if (period->active && !period->only_ignored)
	{
		note_read(state, tier_attribute_reads(state, taken, count, input->carry,
											  input->last_sample_at == 0), input);
		tier_attribute_standby(state);
	}
	else if (input->carry && count != NULL)
		tier_attribute_carry(period, count, 0.0, taken->covered ? 0.0 : 1.0);
	if (period->ignored.misses > 0.0)
		tier_attribute_ignored(state);
	if (input->last_sample_at == 0)
		note_past(state, period_start, input);
	else if (period->active || period->writes.wal_bytes > 0)
	{
		advance_rates(&state->stored, period, Min(input->last_sample_at, period_start),
					  period_start, input->now);
		note_evidence(state, period_start, input);
	}
	else if (period->size_change != 0 && state->stored.evidence.interval_s > 0.0)
		note_evidence(state, period_start, input);
}

static void
advance_step(void *argument)
{
	Merge	   *merge = argument;

	for (; merge->i < merge->nstates; merge->i++)
	{
		TierRelationState *state = &merge->states[merge->i];

		if (merge->i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!state->period.left_out)
			advance(state, count_of(merge->input->taken, state->id.relation_oid, &merge->k),
					merge->period.start, merge->input);
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

/* Compares one relation with its remembered state, or with that of the index that it replaces. */
static void
compare_next(Merge *merge)
{
	static const TierCounters nothing;
	const TierMergeInput *input = merge->input;
	TierRelationState *state = &merge->states[merge->i];
	const TierRelationState *before = NULL;
	const TierRelationState *same = NULL;
	const TierCounters *origin = &nothing;

	tier_debug_relation("sample", state->id.relation_oid);
	while (merge->j < input->nlast &&
		   input->last[merge->j].id.relation_oid < state->id.relation_oid)
		merge->j++;
	if (merge->j < input->nlast &&
		input->last[merge->j].id.relation_oid == state->id.relation_oid)
		same = &input->last[merge->j];
	before = tier_rebuilt_before(state, same, &merge->gone, &origin);
	merge->result.saw_reset |=
		compare(state, before, origin,
				count_of(input->taken, state->id.relation_oid, &merge->k),
				table_of(merge->states, merge->nstates, state), &merge->period, input);

	if (state->period.active && state->id.kind == RELKIND_INDEX &&
		(state->period.delta.scans > 0 || state->period.standby.scans > 0))
	{
		TierRelationState *heap = tier_collect_find(merge->states, merge->nstates,
													state->id.heap_oid);

		if (heap != NULL)
			heap->period.index_scanned = true;
	}
	merge->nlost += state->period.lost_scans && state->id.kind == RELKIND_INDEX;
}

/*
 * Keeps the state of the last sample, from which the next sample measures; without one, sets
 * the sizes to 0.
 */
static void
leave_out(Merge *merge)
{
	TierRelationState *state = &merge->states[merge->i];
	const TierRelationState *last =
	tier_collect_find(unconstify(TierRelationState *, merge->input->last),
					  merge->input->nlast, state->id.relation_oid);

	memset(&state->period, 0, sizeof(state->period));
	state->period.left_out = true;
	if (last != NULL)
		state->stored = last->stored;
	else
		state->stored.size_bytes = state->stored.maps_bytes = 0;
}

static void
compare_step(void *argument)
{
	Merge	   *merge = argument;

	for (; merge->i < merge->nstates; merge->i++)
	{
		if (merge->i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (tier_pass_skips(merge->pass, merge->states[merge->i].id.relation_oid))
			leave_out(merge);
		else
			compare_next(merge);
	}
}

/* A pass over all relations, but for those that fail. */
static void
for_each(Merge *merge, void (*step) (void *argument))
{
	ErrorData  *error;

	merge->i = merge->j = merge->k = 0;
	while ((error = tier_attempt(step, merge)) != NULL)
	{
		if (merge->i >= merge->nstates)
			ReThrowError(error);
		(void) tier_pass_failed(merge->pass, merge->states[merge->i].id.relation_oid, NULL,
								error);
		leave_out(merge);
		merge->i++;
	}
}

TierMergeResult
tier_merge(TierRelationState *states, int nstates, const TierMergeInput *input, TierPass *pass)
{
	Merge		merge = {
		.states = states,.nstates = nstates,.input = input,.pass = pass,
		.period =
		{
			.start = statistics_since()
		},
		.gone = tier_rebuilt_gone(states, nstates, input)
	};
	TierMergeResult *result = &merge.result;

	merge.period.complete_since = result->complete_since = complete_since(merge.period.start);
	result->began_ahead = merge.period.start >= input->now;
	if (input->last_sample_at != 0)
	{
		result->was_emptied = merge.period.was_emptied =
			merge.period.start > input->last_sample_at;
		merge.period.start = result->began_ahead ? input->last_sample_at :
			Max(input->last_sample_at, lost_at());
		result->since = merge.period.start = Min(merge.period.start, input->now);
	}
	for_each(&merge, compare_step);
	if (merge.nlost > 0)
		pass_on_lost_scans(states, nstates, input->now);
	for_each(&merge, advance_step);
	return *result;
}
