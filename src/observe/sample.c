/*-------------------------------------------------------------------------
 *
 * observe/sample.c
 *		Taking a sample: counters, files and buffers of all relations.
 *
 * Runs in the worker and in sessions (CALL sample(), and the advice, which
 * looks without storing).  One pass over pg_class, one over pg_index, one over
 * the buffer headers; the statistics are read entry by entry without building
 * the server's own snapshot of them; files are looked at by stat(), and only
 * those whose counters moved.  No relation of a user is opened or locked.
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

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "common/relpath.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/smgr.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/observe/access_counts.h"
#include "src/server/buffers.h"
#include "src/catalog/tables.h"
#include "src/base/clock.h"
#include "src/observe/device_io.h"
#include "src/base/settings.h"
#include "src/model/heat.h"
#include "src/observe/sample.h"
#include "src/observe/standby.h"
#include "src/server/file_size.h"
#include "src/observe/writes.h"

/* A resident share that moved by less than this is not worth a row version. */
#define RESIDENCY_TOLERANCE_BUFFERS 64

/* A growing array of relations. */
typedef struct RelationList
{
	TierRelationState *relations;
	Oid		   *toast_of;		/* pg_class.reltoastrelid, 0: none */
	int			n;
	int			capacity;
} RelationList;

static int
compare_states(const void *a, const void *b)
{
	Oid			left = ((const TierRelationState *) a)->relation_oid;
	Oid			right = ((const TierRelationState *) b)->relation_oid;

	return left < right ? -1 : left > right ? 1 : 0;
}

static TierRelationState *
find_relation(TierRelationState *relations, int n, Oid relation_oid)
{
	TierRelationState key;

	key.relation_oid = relation_oid;
	return bsearch(&key, relations, n, sizeof(TierRelationState), compare_states);
}

static void
append_relation(RelationList *list, Form_pg_class form)
{
	TierRelationState *state;

	if (list->n == list->capacity)
	{
		list->capacity *= 2;
		list->relations = repalloc_huge(list->relations,
										sizeof(TierRelationState) * list->capacity);
	}
	state = &list->relations[list->n++];
	memset(state, 0, sizeof(TierRelationState));
	state->relation_oid = form->oid;
	state->heap_oid = form->oid;
	state->owner_oid = form->relowner;
	state->tablespace_oid = OidIsValid(form->reltablespace) ? form->reltablespace : MyDatabaseTableSpace;
	state->file_number = form->relfilenode;
	state->kind = form->relkind;
	state->persistence = form->relpersistence;
	state->tuples = form->reltuples;
	state->size_bytes = -1;
	state->os_cached_bytes = -1;
	state->source = TIER_SOURCE_STATISTICS;
}

/* Pairs (toast table, its owner table), to be resolved when all are known. */
typedef struct ToastLink
{
	Oid			toast_oid;
	Oid			heap_oid;
} ToastLink;

static void
read_pg_class(RelationList *list, ToastLink **links, int *nlinks)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	Oid			our_schema = get_namespace_oid(TIER_CATALOG_SCHEMA, true);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	int			capacity = 1024;

	*nlinks = 0;
	*links = palloc(sizeof(ToastLink) * capacity);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relpersistence == RELPERSISTENCE_TEMP ||
			form->oid < FirstNormalObjectId ||
			form->relnamespace == our_schema ||
			!OidIsValid(form->relfilenode))
			continue;
		switch (form->relkind)
		{
			case RELKIND_RELATION:
			case RELKIND_MATVIEW:
			case RELKIND_INDEX:
			case RELKIND_TOASTVALUE:
				append_relation(list, form);
				break;
			default:
				continue;
		}
		if (OidIsValid(form->reltoastrelid))
		{
			if (*nlinks == capacity)
			{
				capacity *= 2;
				*links = repalloc_huge(*links, sizeof(ToastLink) * capacity);
			}
			(*links)[*nlinks].toast_oid = form->reltoastrelid;
			(*links)[(*nlinks)++].heap_oid = form->oid;
		}
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* Points each index at its table; also those of TOAST tables. */
static void
read_pg_index(TierRelationState *relations, int n)
{
	Relation	rel = table_open(IndexRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
		TierRelationState *index = find_relation(relations, n, form->indexrelid);

		if (index != NULL)
			index->heap_oid = form->indrelid;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/*
 * Drops what hangs on a relation that is not in the list, that is the TOAST
 * tables of our own tables and their indexes.
 */
static int
drop_orphans(TierRelationState *relations, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		bool		is_toast = relations[i].kind == RELKIND_TOASTVALUE;

		if (is_toast && relations[i].heap_oid == relations[i].relation_oid)
			relations[i].heap_oid = InvalidOid;
	}
	for (int i = 0; i < n; i++)
	{
		TierRelationState *heap = &relations[i];

		/* An index of a TOAST table is two steps away from its table. */
		for (int step = 0; step < 2 && heap != NULL && heap->heap_oid != heap->relation_oid; step++)
			heap = OidIsValid(heap->heap_oid) ? find_relation(relations, n, heap->heap_oid) : NULL;
		relations[i].active = heap != NULL;
	}
	for (int i = 0; i < n; i++)
	{
		if (!relations[i].active)
			continue;
		relations[i].active = false;
		relations[kept++] = relations[i];
	}
	return kept;
}

/* Fills in the cumulative counters of every relation. */
static void
read_counters(TierRelationState *relations, int n)
{
	int			guc_level = NewGUCNestLevel();

	/* Else the server would copy all of them into this backend's memory. */
	(void) set_config_option("stats_fetch_consistency", "none",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);

	for (int i = 0; i < n; i++)
	{
		TierRelationState *state = &relations[i];
		TierCompatTableStats stats;

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!tier_compat_fetch_table_stats(state->relation_oid,
										   state->kind == RELKIND_INDEX, &stats))
			continue;
		state->counters.scans = stats.scans;
		state->counters.tuples_read = stats.tuples_returned;
		state->counters.blocks_fetched = stats.blocks_fetched;
		state->counters.blocks_hit = stats.blocks_hit;
		state->counters.row_changes = stats.tuples_inserted + stats.tuples_updated + stats.tuples_deleted;
		state->vacuums = stats.vacuums;
		state->counters.maintenance = stats.maintenance;
		/* For a table: what each of its indexes has to take in. */
		state->delta.row_changes = stats.tuples_inserted + stats.tuples_updated - stats.tuples_hot_updated;
	}

	for (int i = 0; i < n; i++)
	{
		if (relations[i].kind == RELKIND_INDEX)
		{
			TierRelationState *heap = find_relation(relations, n, relations[i].heap_oid);

			relations[i].counters.row_changes = heap == NULL ? 0 : heap->delta.row_changes;
			relations[i].counters.maintenance = heap == NULL ? 0 : heap->counters.maintenance;
		}
	}
	AtEOXact_GUC(false, guc_level);
}

/*
 * Reads pg_class, the statistics and the buffer headers; ordered by OID.  Sizes are
 * not looked at.
 */
static TierRelationState *
collect(int *nrelations)
{
	RelationList list;
	ToastLink  *links;
	int			nlinks;
	TierBufferScan *buffers;

	list.n = 0;
	list.capacity = 1024;
	list.relations = palloc(sizeof(TierRelationState) * list.capacity);
	read_pg_class(&list, &links, &nlinks);
	qsort(list.relations, list.n, sizeof(TierRelationState), compare_states);

	for (int i = 0; i < nlinks; i++)
	{
		TierRelationState *toast = find_relation(list.relations, list.n, links[i].toast_oid);

		if (toast != NULL)
			toast->heap_oid = links[i].heap_oid;
	}
	pfree(links);
	read_pg_index(list.relations, list.n);
	list.n = drop_orphans(list.relations, list.n);
	read_counters(list.relations, list.n);

	buffers = tier_buffers_scan();
	for (int i = 0; i < list.n; i++)
	{
		TierRelationState *state = &list.relations[i];
		const TierBufferCount *count = tier_buffers_find(buffers, state->tablespace_oid,
														 state->file_number);

		memset(&state->delta, 0, sizeof(state->delta));
		if (count != NULL)
		{
			state->cached_buffers = (int32) Min(count->cached, PG_INT32_MAX);
			state->dirty_buffers = (int32) Min(count->dirty, PG_INT32_MAX);
		}
	}
	tier_buffers_free(buffers);

	*nrelations = list.n;
	return list.relations;
}

/*
 * Since when the cumulative statistics of this database count: their last
 * reset, else the creation of the database's directory.
 */
static TimestampTz
statistics_since(void)
{
	PgStat_StatDBEntry *entry = pgstat_fetch_stat_dbentry(MyDatabaseId);
	TimestampTz now = tier_clock_now();
	struct stat st;
	char		path[MAXPGPATH];

	if (entry != NULL && entry->stat_reset_timestamp != 0)
		return Min(entry->stat_reset_timestamp, now);

	/* The first thing written into a new database's directory. */
	snprintf(path, sizeof(path), "%s/PG_VERSION", DatabasePath);
	if (stat(path, &st) == 0)
		return Min(time_t_to_timestamptz(st.st_mtime), now);
	return now;
}

static double
elapsed_s(TimestampTz from, TimestampTz to)
{
	return to <= from ? 0.0 : (double) (to - from) / USECS_PER_SEC;
}

/* One smoothed rate: idle from heat_at to `from`, then `events` up to `to`. */
static double
advance(double rate, double idle_s, double active_s, double events, double half_life_s)
{
	return tier_heat_advance(tier_heat_advance(rate, 0.0, idle_s, half_life_s),
							 events, active_s, half_life_s);
}

static void
advance_rates(TierRelationState *state, TimestampTz period_start, TimestampTz now)
{
	TierRates  *rates = &state->rates;
	const TierCostAttribution *split = &state->attribution;
	double		idle_s = elapsed_s(state->heat_at, period_start);
	double		active_s = elapsed_s(Max(state->heat_at, period_start), now);
	double		random = split->misses - split->sequential_mid;

	state->idle_s = idle_s;
	state->active_s = active_s;
	rates->random_fast = advance(rates->random_fast, idle_s, active_s, random, TIER_HALF_LIFE_FAST_S);
	rates->random_slow = advance(rates->random_slow, idle_s, active_s, random, TIER_HALF_LIFE_SLOW_S);
	rates->sequential_fast = advance(rates->sequential_fast, idle_s, active_s,
									 split->sequential_mid, TIER_HALF_LIFE_FAST_S);
	rates->sequential_slow = advance(rates->sequential_slow, idle_s, active_s,
									 split->sequential_mid, TIER_HALF_LIFE_SLOW_S);
	rates->sequential_low_slow = advance(rates->sequential_low_slow, idle_s, active_s,
										 split->sequential_low, TIER_HALF_LIFE_SLOW_S);
	rates->sequential_high_slow = advance(rates->sequential_high_slow, idle_s, active_s,
										  split->sequential_high, TIER_HALF_LIFE_SLOW_S);
	rates->hits_slow = advance(rates->hits_slow, idle_s, active_s,
							   state->delta.blocks_hit, TIER_HALF_LIFE_SLOW_S);
	rates->scans_slow = advance(rates->scans_slow, idle_s, active_s,
								state->delta.scans, TIER_HALF_LIFE_SLOW_S);
	rates->changes_fast = advance(rates->changes_fast, idle_s, active_s,
								  state->delta.row_changes, TIER_HALF_LIFE_FAST_S);
	rates->changes_slow = advance(rates->changes_slow, idle_s, active_s,
								  state->delta.row_changes, TIER_HALF_LIFE_SLOW_S);
	rates->page_writes_fast = advance(rates->page_writes_fast, idle_s, active_s,
									  state->writes.pages, TIER_HALF_LIFE_FAST_S);
	rates->page_writes_slow = advance(rates->page_writes_slow, idle_s, active_s,
									  state->writes.pages, TIER_HALF_LIFE_SLOW_S);
	rates->maintenance_writes_fast = advance(rates->maintenance_writes_fast, idle_s, active_s,
											 state->writes.maintenance_pages, TIER_HALF_LIFE_FAST_S);
	rates->wal_bytes_fast = advance(rates->wal_bytes_fast, idle_s, active_s,
									state->writes.wal_bytes, TIER_HALF_LIFE_FAST_S);
	rates->image_bytes_fast = advance(rates->image_bytes_fast, idle_s, active_s,
									  state->writes.image_bytes, TIER_HALF_LIFE_FAST_S);
	rates->standby_fast = advance(rates->standby_fast, idle_s, active_s,
								  Max(0, state->standby.blocks_fetched - state->standby.blocks_hit),
								  TIER_HALF_LIFE_FAST_S);
	rates->other_fast = advance(rates->other_fast, idle_s, active_s,
								state->other_reads, TIER_HALF_LIFE_FAST_S);
	rates->other_slow = advance(rates->other_slow, idle_s, active_s,
								state->other_reads, TIER_HALF_LIFE_SLOW_S);
	state->heat_at = now;
}

/* Growth of all counters since `before`; true when one of them went back. */
static bool
compute_delta(TierRelationState *state, const TierCounters *before)
{
	const TierCounters *now = &state->counters;
	bool		reset = now->scans < before->scans ||
	now->tuples_read < before->tuples_read ||
	now->blocks_fetched < before->blocks_fetched ||
	now->blocks_hit < before->blocks_hit;

	state->delta.scans = tier_heat_counter_delta(before->scans, now->scans, reset);
	state->delta.tuples_read = tier_heat_counter_delta(before->tuples_read, now->tuples_read, reset);
	state->delta.blocks_fetched = tier_heat_counter_delta(before->blocks_fetched, now->blocks_fetched, reset);
	state->delta.blocks_hit = tier_heat_counter_delta(before->blocks_hit, now->blocks_hit, reset);

	/* An index has this from its table, whose counters live their own life. */
	state->delta.row_changes = tier_heat_counter_delta(before->row_changes, now->row_changes,
													   (reset && state->kind != RELKIND_INDEX) ||
													   now->row_changes < before->row_changes);
	state->delta.maintenance = tier_heat_counter_delta(before->maintenance, now->maintenance,
													   now->maintenance < before->maintenance);
	return reset;
}

/* What is remembered of the same relation, or of nothing. */
static void
take_over(TierRelationState *state, const TierRelationState *stored, TimestampTz now)
{
	state->rates = stored->rates;
	state->heat_at = stored->heat_at;
	state->observed_since = stored->observed_since;
	state->sampled_since = stored->sampled_since;
	state->last_used_at = stored->last_used_at;
	state->last_written_at = stored->last_written_at;
	state->rewritten_at = stored->rewritten_at;
	state->placed_at = state->tablespace_oid == stored->tablespace_oid ? Min(stored->placed_at, now) : now;
	if (state->file_number == stored->file_number && state->tablespace_oid == stored->tablespace_oid)
		state->os_cached_bytes = stored->os_cached_bytes;
	state->source = stored->source;
	state->totals = stored->totals;

	/* A move to another tablespace gives it a new file too, but no new rows. */
	if (state->file_number != stored->file_number &&
		state->tablespace_oid == stored->tablespace_oid)
		state->rewritten_at = now;
}

static bool
residency_moved(int32 before, int32 now)
{
	int32		difference = abs(before - now);

	return difference > RESIDENCY_TOLERANCE_BUFFERS && difference > before / 16;
}

/*
 * Blocks that were added were not read.  A relation that got a new file in its
 * place was written anew as a whole.
 */
static void
discount_growth(TierRelationState *state, const TierRelationState *before)
{
	int64		old_bytes = 0;
	int64		grown;
	int64		misses = state->delta.blocks_fetched - state->delta.blocks_hit;

	if (!TIER_COMPAT_EXTENSION_COUNTS_AS_MISS || misses <= 0)
		return;
	if (before != NULL && (before->file_number == state->file_number ||
						   before->tablespace_oid != state->tablespace_oid))
		old_bytes = before->size_bytes;
	grown = Max(state->size_bytes - old_bytes, 0) / BLCKSZ;
	if (old_bytes == 0)
		grown += (tier_file_size(state->tablespace_oid, state->file_number, FSM_FORKNUM) +
				  tier_file_size(state->tablespace_oid, state->file_number, VISIBILITYMAP_FORKNUM)) / BLCKSZ;
	state->added_blocks = Min(grown, misses);
	state->delta.blocks_fetched -= state->added_blocks;
}

/* What the statistics say of random and sequential. */
static TierCostAttribution
attribute_by_statistics(const TierRelationState *state, const TierCounters *delta)
{
	TierCostCounters counters;

	counters.is_index = state->kind == RELKIND_INDEX;
	counters.scans = delta->scans;
	counters.tuples_read = delta->tuples_read;
	counters.blocks_fetched = delta->blocks_fetched;
	counters.blocks_hit = delta->blocks_hit;
	counters.pages = (double) state->size_bytes / BLCKSZ;
	counters.tuples = state->tuples;
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
	rest.hits = 0.0;
	rest.plans = Min(all->plans * share, fresh->plans);
	if (rest.random + rest.sequential + rest.ignored >= 0.5)
		tier_access_counts_carry(count->relation_oid, &rest);
}

static void
take_measured_shares(TierRelationState *state, const TierSplitPlans *plans)
{
	if (plans->sequential <= 0.0)
		return;
	state->measured_part = Min(plans->measured / plans->sequential, 1.0);
	state->shared_part = Min(plans->shared / plans->sequential, 1.0 - state->measured_part);
	if (plans->measured > 0.0)
		state->measured_share = Min(plans->measured_device / plans->measured, 1.0);
	if (plans->shared > 0.0)
		state->shared_share = Min(plans->shared_device / plans->shared, 1.0);
}

/* `count` NULL: no plan that was tracked has read this relation. */
static void
attribute(TierRelationState *state, const TierAccessTaken *taken, const TierAccessCount *count,
		  bool carry)
{
	TierSplitPeriod period;
	TierSplitResult result;

	memset(&period, 0, sizeof(period));
	period.statistics = attribute_by_statistics(state, &state->delta);
	period.misses = period.statistics.misses;
	period.grown = state->added_blocks;
	period.covered = taken->covered && tier_track_access;
	period.complete = taken->dropped <= 0.0;
	period.maintained = state->delta.maintenance > 0;

	/*
	 * Only where somebody maintained it, reads without a trace of use are
	 * known to be no use: a few ways to a row leave none.
	 */
	period.touched = !period.maintained || state->index_scanned || state->delta.scans > 0 ||
		state->delta.tuples_read > 0 || state->delta.row_changes > 0;
	period.sample_rate = tier_track_sample_rate;
	if (count != NULL)
		period.plans = count->plans;
	if (taken->device_seen)
		take_measured_shares(state, &period.plans);

	result = tier_split_period(&period);
	state->attribution = result.use;
	state->other_reads = result.other;
	state->source = result.source;
	if (carry && period.covered && count != NULL && result.used_share < 1.0)
		carry_over(count, result.added, result.used_share);
}

/*
 * What was pulled from standbys: the executor there does not tell us anything,
 * and their devices are none of ours.
 */
static void
add_standby_reads(TierRelationState *state)
{
	const TierCounters *there = &state->standby;
	TierCostAttribution *split = &state->standby_attribution;

	if (there->scans <= 0 && there->blocks_fetched <= 0)
		return;
	*split = attribute_by_statistics(state, there);
	state->attribution.misses += split->misses;
	state->attribution.sequential_low += split->sequential_low;
	state->attribution.sequential_mid += split->sequential_mid;
	state->attribution.sequential_high += split->sequential_high;
	state->delta.scans += there->scans;
	state->delta.tuples_read += there->tuples_read;
	state->delta.blocks_fetched += there->blocks_fetched;
	state->delta.blocks_hit += there->blocks_hit;
}

/*
 * Splits the reads of those that were active, and advances their rates.  Both
 * arrays are ordered by OID.
 */
static void
advance_active(TierRelationState *current, int ncurrent, TimestampTz period_start,
			   TimestampTz now, const TierAccessTaken *taken, bool carry)
{
	int			k = 0;

	for (int i = 0; i < ncurrent; i++)
	{
		TierRelationState *state = &current[i];
		const TierAccessCount *count = NULL;

		while (k < taken->n && taken->counts[k].relation_oid < state->relation_oid)
			k++;
		if (k < taken->n && taken->counts[k].relation_oid == state->relation_oid)
			count = &taken->counts[k];

		if (state->active)
		{
			attribute(state, taken, count, carry);
			add_standby_reads(state);
		}
		else if (carry && taken->covered && count != NULL)
			carry_over(count, 0.0, 0.0);
		if (state->active || state->writes.wal_bytes > 0)
			advance_rates(state, period_start, now);
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Merges what is remembered into what was just collected, and advances the
 * rates of the relations that were active.  `taken` is what the executor did since
 * the last sample.  Returns whether counters went backwards.  With `carry`, what the
 * executor has read and the counters do not know yet is given back for the next
 * sample.
 */
static bool
merge(TierRelationState *current, int ncurrent,
	  const TierRelationState *stored, int nstored,
	  TimestampTz last_sample_at, TimestampTz now,
	  const TierAccessTaken *taken, bool carry)
{
	TimestampTz period_start = last_sample_at != 0 ? Min(last_sample_at, now) : statistics_since();
	bool		saw_reset = false;
	int			j = 0;

	for (int i = 0; i < ncurrent; i++)
	{
		TierRelationState *state = &current[i];
		const TierRelationState *before = NULL;
		static const TierCounters nothing;

		while (j < nstored && stored[j].relation_oid < state->relation_oid)
			j++;
		if (j < nstored && stored[j].relation_oid == state->relation_oid)
			before = &stored[j];

		if (before != NULL)
		{
			take_over(state, before, now);
			saw_reset |= compute_delta(state, &before->counters);
		}
		else
		{
			state->sampled_since = now;
			state->observed_since = state->heat_at = period_start;
			(void) compute_delta(state, &nothing);

			/*
			 * What its table took before a new index was there did not
			 * concern it.
			 */
			if (state->kind == RELKIND_INDEX && last_sample_at != 0)
				state->delta.row_changes = 0;
		}

		state->active = state->delta.scans > 0 || state->delta.blocks_fetched > 0 ||
			state->delta.row_changes > 0 ||
			state->standby.scans > 0 || state->standby.blocks_fetched > 0;
		state->changed = before == NULL || state->active ||
			memcmp(&state->counters, &before->counters, sizeof(TierCounters)) != 0 ||
			state->file_number != before->file_number ||
			state->tablespace_oid != before->tablespace_oid ||
			state->placed_at != before->placed_at ||
			OidIsValid(before->previous_file_number) ||
			state->vacuums != before->vacuums || state->writes.wal_bytes > 0 ||
			residency_moved(before->cached_buffers, state->cached_buffers);

		/* The file of an idle relation has not changed. */
		if (state->changed)
			state->size_bytes = tier_file_size(state->tablespace_oid,
											   state->file_number, MAIN_FORKNUM);
		else
			state->size_bytes = before->size_bytes;

		if (state->active)
		{
			discount_growth(state, before);
			if (state->kind == RELKIND_INDEX && state->delta.scans > 0)
			{
				TierRelationState *heap = find_relation(current, ncurrent, state->heap_oid);

				if (heap != NULL)
					heap->index_scanned = true;
			}
			if (last_sample_at != 0)
			{
				state->last_used_at = now;
				if (state->delta.row_changes > 0)
					state->last_written_at = now;
			}
		}
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	advance_active(current, ncurrent, period_start, now, taken, carry);
	return saw_reset;
}

/* What goes with a table is a part of it; NULL: its table is not there. */
static TierRelationState *
unit_of(TierRelationState *states, int nstates, TierRelationState *state)
{
	TierRelationState *heap;

	if (state->heap_oid == state->relation_oid)
		return state;
	heap = find_relation(states, nstates, state->heap_oid);
	if (state->kind == RELKIND_TOASTVALUE)
		return heap;
	if (heap == NULL || heap->kind != RELKIND_TOASTVALUE)
		return state;
	return find_relation(states, nstates, heap->heap_oid);
}

/*
 * Adds what each relation has done to the totals of what it is a part of.  After
 * tier_device_io_correct.  A table has those of its TOAST table itself, because
 * a rewrite gives it another one.
 */
static void
add_up(TierRelationState *states, int nstates)
{
	for (int i = 0; i < nstates; i++)
	{
		TierRelationState *state = &states[i];
		TierRelationState *unit;
		double		reads = state->load_random + state->load_sequential;

		if (!state->active && state->writes.wal_bytes <= 0)
			continue;
		unit = unit_of(states, nstates, state);
		if (unit == NULL)
			continue;
		unit->totals.random_reads += state->load_random;
		unit->totals.sequential_reads += state->load_sequential;
		if (state->kind != RELKIND_INDEX)
			unit->totals.scans += state->delta.scans * Min(reads / Max(state->delta.blocks_fetched, 1), 1.0);
		unit->totals.page_writes += state->writes.pages;
		unit->totals.row_changes += state->delta.row_changes;
		unit->changed = true;
	}
}

/*
 * Relations that are not where the last sample or our last move saw them, or
 * not at all.
 */
static Oid *
find_gone(const TierRelationState *current, int ncurrent,
		  const TierRelationState *stored, int nstored, int *ngone)
{
	Oid		   *gone = palloc(sizeof(Oid) * Max(nstored, 1));
	int			i = 0;

	*ngone = 0;
	for (int j = 0; j < nstored; j++)
	{
		while (i < ncurrent && current[i].relation_oid < stored[j].relation_oid)
			i++;
		if (i == ncurrent || current[i].relation_oid != stored[j].relation_oid ||
			current[i].tablespace_oid != stored[j].tablespace_oid)
			gone[(*ngone)++] = stored[j].relation_oid;
	}
	return gone;
}

/* Stored relations that pg_class does not know any more. */
static Oid *
find_dropped(const TierRelationState *current, int ncurrent,
			 const TierRelationState *stored, int nstored, int *ndropped)
{
	Oid		   *dropped = palloc(sizeof(Oid) * Max(nstored, 1));
	int			i = 0;

	*ndropped = 0;
	for (int j = 0; j < nstored; j++)
	{
		while (i < ncurrent && current[i].relation_oid < stored[j].relation_oid)
			i++;
		if (i == ncurrent || current[i].relation_oid != stored[j].relation_oid)
			dropped[(*ndropped)++] = stored[j].relation_oid;
	}
	return dropped;
}

/*
 * A standby has counters of its own, which say nothing about what is stored,
 * the primary's: there the advice is from memory alone.
 */
static void
use_stored_counters(TierRelationState *states, int nstates,
					TierRelationState *stored, int nstored)
{
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *before = find_relation(stored, nstored, states[i].relation_oid);

		if (before != NULL)
			states[i].counters = before->counters;
		else
			memset(&states[i].counters, 0, sizeof(TierCounters));
	}
}

TierSampleView
tier_sample_look(const TierSampleMemory *memory, const TierDevices *devices, TierWrites *writes)
{
	bool		is_sample = writes != NULL;
	TierAccessTaken taken;
	TierSampleView view;

	view.states = collect(&view.nstates);
	if (is_sample)
		tier_standby_take(view.states, view.nstates);

	/* After the counters: reads that come in between are kept for next time. */
	taken = tier_access_counts_take(is_sample);
	taken.covered = taken.covered && memory->sampled_at != 0;

	if (is_sample)
		tier_writes_count(writes, view.states, view.nstates, memory->states, memory->nstates);
	else if (RecoveryInProgress())
		use_stored_counters(view.states, view.nstates, memory->states, memory->nstates);
	view.at = tier_clock_now();
	view.saw_reset = merge(view.states, view.nstates, memory->states, memory->nstates,
						   memory->sampled_at, view.at, &taken, is_sample);
	if (devices != NULL)
		tier_device_io_correct(devices, view.states, view.nstates);
	return view;
}

bool
tier_sample_run(int patience_ms, TierSampleResult *result)
{
	MemoryContext context = CurrentMemoryContext;
	TimestampTz started_at = tier_clock_now();
	TierCatalogScope scope;
	TierSampleMemory memory;
	TierSampleView view;
	TierSampleSummary summary;
	TierWrites *writes;
	Oid		   *dropped;
	int			ndropped;

	/* 1. One sampler at a time, and then: what is remembered. */
	tier_catalog_enter(&scope);
	if (!tier_catalog_lock_sampler(patience_ms))
	{
		tier_catalog_leave(&scope);
		return false;
	}
	tier_catalog_see_latest();

	/* A transaction that may stay open keeps the rows of nobody. */
	if (!IsTransactionBlock())
		tier_catalog_refresh_identities();
	writes = tier_writes_begin(started_at);
	memory.states = tier_catalog_load_states(context, &memory.nstates, &memory.sampled_at);
	result->devices = tier_catalog_load_devices(context);
	MemoryContextSwitchTo(context);

	/* 2. What happened since. */
	view = tier_sample_look(&memory, result->devices, writes);
	add_up(view.states, view.nstates);

	/* Each statement of ours leaves us in a context that ends with the scope. */
	MemoryContextSwitchTo(context);
	dropped = find_dropped(view.states, view.nstates, memory.states, memory.nstates, &ndropped);
	result->gone = find_gone(view.states, view.nstates, memory.states, memory.nstates, &result->ngone);
	result->sampled_at = view.at;

	/* 3. Remember it. */
	summary.sampled_at = view.at;
	summary.saw_reset = view.saw_reset;
	summary.relations = view.nstates;
	summary.active = 0;
	for (int i = 0; i < view.nstates; i++)
		summary.active += view.states[i].active ? 1 : 0;
	summary.duration_ms = elapsed_s(started_at, tier_clock_now()) * 1000.0;
	tier_catalog_store_sample(view.states, view.nstates, dropped, ndropped, memory.sampled_at, &summary);
	tier_writes_end(writes);
	MemoryContextSwitchTo(context);
	tier_device_io_observe(result->devices, view.states, view.nstates, memory.sampled_at, view.at);
	tier_catalog_store_devices(result->devices);
	tier_catalog_sample_load(view.at, summary.active > 0);
	tier_catalog_maintain_history(view.at);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	return true;
}
