/*-------------------------------------------------------------------------
 *
 * decide/policy_use.c
 *		The use of tables, for policies that ask for it.
 *
 * A table is used together with its TOAST table and its indexes: an index scan reads the
 * table.  A lack of counts proves a lack of use only since the time from which all use would
 * have been counted.  So each table has such a time, the latest of these: the time since when
 * no count can have been lost (TierCountsOrigin); the first sample of the table, if its
 * counters show use at an unknown time, otherwise the time from which they count; and for
 * reads the time since when the reads of all standbys are known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/base/by_oid.h"
#include "src/base/clock.h"
#include "src/compat.h"
#include "src/decide/policy_use.h"
#include "src/model/heat.h"
#include "src/observe/merge.h"
#include "src/server/counting.h"
#include "src/server/processes.h"
#include "src/server/relation.h"

const TierUses tier_no_uses = {0};

bool
tier_policy_asks_for_use(const TierPolicyRow *policy)
{
	return policy->has_idle_for || policy->has_no_writes_for ||
		!isnan(policy->below_reads_per_hour);
}

static TierTableUse *
find_table(const TierUses *uses, Oid relation_oid)
{
	return tier_by_oid_find(relation_oid, uses->tables, uses->ntables, sizeof(TierTableUse));
}

static const TierRelationState *
find_state(const TierSampleView *view, Oid relation_oid)
{
	return tier_by_oid_find(relation_oid, view->states, view->nstates,
							sizeof(TierRelationState));
}

/* The time since when a use would have been noticed. */
static TimestampTz
known_since(const TierRelationState *state, bool shows_some, TimestampTz counts_since)
{
	const TierRelationStored *stored = &state->stored;

	/* Before the first sample: the time from which the counters count. */
	return Max(shows_some ? stored->sampled_since : stored->proven_since, counts_since);
}

static void
note_read(TierPartitionUse *use, TimestampTz at)
{
	if (at == 0)
		return;
	use->last_read_us = use->was_read ? Max(use->last_read_us, at) : at;
	use->was_read = true;
}

static void
note_written(TierPartitionUse *use, TimestampTz at)
{
	if (at == 0)
		return;
	use->last_written_us = use->was_written ? Max(use->last_written_us, at) : at;
	use->was_written = true;
}

/* The table itself. */
static TierTableUse
table_use(const TierRelationState *state, TimestampTz counts_since)
{
	const TierRelationStored *stored = &state->stored;
	TierTableUse table;

	memset(&table, 0, sizeof(table));
	table.relation_oid = state->id.relation_oid;
	table.use.is_observed = counts_since != 0;
	table.use.first_seen_us = stored->sampled_since;
	table.use.reads_known_since_us =
		known_since(state, stored->last_read_at == 0 &&
					tier_merge_was_scanned(state, &stored->counters), counts_since);
	table.use.writes_known_since_us =
		known_since(state, stored->last_written_at == 0 && stored->counters.row_changes > 0,
					counts_since);
	table.use.rate_known_since_us = Max(stored->sampled_since, counts_since);
	note_written(&table.use, stored->last_written_at);

	/*
	 * Another file: TRUNCATE writes no row, and cannot be distinguished from
	 * a VACUUM FULL.
	 */
	note_written(&table.use, stored->rewritten_at);
	return table;
}

/*
 * Adds the use of the table or of a relation that belongs to it.  A relation created after the
 * table has no unknown past.
 */
static void
add_state(TierTableUse *table, const TierRelationState *state, const TierRelationState *heap,
		  TimestampTz counts_since, TimestampTz now)
{
	const TierRelationStored *stored = &state->stored;
	const TierRates *rates = &stored->rates;

	/*
	 * If it is earlier now than when the rates were there, the clock was set
	 * back.
	 */
	TimestampTz read_at = Max(now, stored->heat_at);
	double		idle_s = tier_seconds_between(stored->heat_at, read_at);
	double		observed_s = tier_seconds_between(stored->observed_since, read_at);
	int			i = state->id.kind == RELKIND_INDEX && state->id.heap_oid == heap->id.relation_oid;

	note_read(&table->use, stored->last_read_at);
	if (stored->sampled_since <= heap->stored.sampled_since)
		table->use.reads_known_since_us =
			Max(table->use.reads_known_since_us,
				known_since(state, stored->last_read_at == 0 &&
							tier_merge_was_scanned(state, &stored->counters), counts_since));
	table->fast[i] += tier_heat_read(rates->random_fast + rates->sequential_fast, idle_s,
									 observed_s, TIER_HALF_LIFE_FAST_S);
	table->slow[i] += tier_heat_read(rates->random_slow + rates->sequential_slow, idle_s,
									 observed_s, TIER_HALF_LIFE_SLOW_S);
}

/* The table that a relation belongs to; NULL: none that is there. */
static const TierRelationState *
table_of(const TierSampleView *view, const TierRelationState *state)
{
	/* An index of a TOAST table is two steps away. */
	for (int step = 0; step < 2 && state != NULL &&
		 state->id.heap_oid != state->id.relation_oid; step++)
		state = find_state(view, state->id.heap_oid);
	return state;
}

TierUses *
tier_uses_create(const TierSampleView *view, const TierStandbyUse *standbys, TimestampTz now)
{
	TierUses   *uses = palloc0(sizeof(TierUses));

	uses->tables = palloc_extended(sizeof(TierTableUse) * Max(view->nstates, 1), MCXT_ALLOC_HUGE);
	for (int i = 0; i < view->nstates; i++)
		if (view->states[i].id.heap_oid == view->states[i].id.relation_oid)
			uses->tables[uses->ntables++] = table_use(&view->states[i], view->origin.since);
	for (int i = 0; i < view->nstates; i++)
	{
		const TierRelationState *heap = table_of(view, &view->states[i]);
		TierTableUse *table = heap == NULL ? NULL : find_table(uses, heap->id.relation_oid);

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (table == NULL)
			continue;
		add_state(table, &view->states[i], heap, view->origin.since, now);
		table->use.reads_known_since_us = Max(table->use.reads_known_since_us,
											  standbys->known_since);

		/* Told, but not sampled yet. */
		if (tier_by_oid_find(view->states[i].id.relation_oid, standbys->read, standbys->nread,
							 sizeof(Oid)) != NULL)
			note_read(&table->use, now);
	}
	uses->silent_standby = standbys->silent;
	uses->uncounted = tier_uncounted_roles();
	uses->hiding_since = tier_processes_hiding_since();
	uses->at = now;
	return uses;
}

const TierUses *
tier_uses_load(const TierPolicyRow *policies, int npolicies)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierSampleMemory memory;
	TierStandbyUse standbys;
	TierSampleView view;
	bool		wanted = false;

	for (int i = 0; i < npolicies; i++)
		wanted = wanted || tier_policy_asks_for_use(&policies[i]) ||
			!isnan(policies[i].return_when_reads_per_hour);
	if (!wanted)
		return &tier_no_uses;
	tier_catalog_enter(&scope);
	memory.states = tier_catalog_load_states(context, &memory.nstates, &memory.sampled_at,
											 &memory.origin);
	standbys = tier_catalog_load_standby_use(context, TIER_LONGEST_GAP_S);
	tier_catalog_leave(&scope);
	view = tier_sample_look(&memory, NULL, NULL);

	/* Statistics without a sample have amounts, but not their time. */
	if (memory.sampled_at == 0)
		view.origin.since = 0;
	return tier_uses_create(&view, &standbys, view.at);
}

TierPartitionUse
tier_uses_find(const TierUses *uses, Oid relation_oid, bool include_indexes)
{
	TierPartitionUse use;
	const TierTableUse *table = find_table(uses, relation_oid);

	memset(&use, 0, sizeof(use));
	if (table == NULL)
		return use;
	use = table->use;

	/*
	 * The greater one: a rate that has just fallen, or just risen, is not
	 * low.
	 */
	use.reads_per_hour = Max(table->fast[0] + (include_indexes ? table->fast[1] : 0.0),
							 table->slow[0] + (include_indexes ? table->slow[1] : 0.0));
	return use;
}

static int64
counter_of(Oid relation_oid, bool is_index)
{
	TierCompatTableStats stats;

	if (!tier_compat_fetch_table_stats(relation_oid, is_index, &stats))
		return 0;
	return stats.scans + stats.tuples_returned + stats.tuples_inserted + stats.tuples_updated +
		stats.tuples_deleted;
}

int64
tier_use_counter(Oid relation_oid)
{
	List	   *indexes = tier_relation_indexes(relation_oid);
	int64		counter = counter_of(relation_oid, false);
	ListCell   *cell;

	foreach(cell, indexes)
		counter += counter_of(lfirst_oid(cell), true);
	return counter;
}

bool
tier_use_is_held(Oid relation_oid)
{
	List	   *holders;
	ListCell   *cell;

	if (tier_relation_count_lockers(relation_oid, AccessExclusiveLock) == 0)
		return false;
	holders = tier_relation_holders(relation_oid);
	foreach(cell, holders)
	{
		const TierHolder *holder = lfirst(cell);

		/* Autovacuum is no use. */
		if (holder->pid == 0 || OidIsValid(holder->role_oid))
			return true;
	}
	return false;
}
