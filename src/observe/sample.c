/*-------------------------------------------------------------------------
 *
 * observe/sample.c
 *		Taking a sample: the steps, in their order.
 *
 * Runs in the worker and in sessions (CALL sample(), and the advice, which does not store the
 * sample).  model/relation_state.h documents the state of one relation in each step.  No user
 * relation is opened or locked; files are examined by stat(), and only those of relations
 * whose counters have changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/idle.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/catalog/tables.h"
#include "src/observe/access_counts.h"
#include "src/observe/collect.h"
#include "src/observe/device_io.h"
#include "src/observe/device_reads.h"
#include "src/observe/merge.h"
#include "src/observe/sample.h"
#include "src/observe/writes.h"
#include "src/server/counting.h"

/* The relation whose totals include this one; NULL: its table does not exist. */
static TierRelationState *
unit_of(TierRelationState *states, int nstates, TierRelationState *state)
{
	TierRelationState *heap;

	if (state->id.heap_oid == state->id.relation_oid)
		return state;
	heap = tier_collect_find(states, nstates, state->id.heap_oid);
	if (state->id.kind == RELKIND_TOASTVALUE)
		return heap;
	if (heap == NULL || heap->id.kind != RELKIND_TOASTVALUE)
		return state;
	return tier_collect_find(states, nstates, heap->id.heap_oid);
}

/*
 * Adds the activity of each relation to the totals of the table that it is a part of.  After
 * tier_device_reads_correct.  A table has those of its TOAST table itself, because a rewrite
 * gives it another one.
 */
static void
add_up(TierRelationState *states, int nstates)
{
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationPeriod *period = &states[i].period;
		double		reads = period->load_random + period->load_sequential;
		TierRelationState *unit;
		TierEffectTotals *totals;

		if (!period->active && period->writes.wal_bytes <= 0)
			continue;
		unit = unit_of(states, nstates, &states[i]);
		if (unit == NULL)
			continue;
		totals = &unit->stored.totals;
		totals->random_reads += period->load_random;
		totals->sequential_reads += period->load_sequential;
		if (states[i].id.kind != RELKIND_INDEX)
			totals->scans += period->delta.scans *
				Min(reads / Max(period->delta.blocks_fetched, 1), 1.0);
		totals->page_writes += period->writes.pages;
		totals->merged_writes += period->writes.merged;
		totals->row_changes += period->delta.row_changes;
		unit->period.changed = true;
	}
}

/*
 * Stored relations that pg_class does not have; with `moved`, also those that are not where
 * the last sample or our last move saw them.
 */
static Oid *
find_gone(const TierSampleView *view, const TierSampleMemory *memory, bool moved, int *ngone)
{
	const TierRelationState *last = memory->states;
	Oid		   *gone = palloc(sizeof(Oid) * Max(memory->nstates, 1));
	int			i = 0;

	*ngone = 0;
	for (int j = 0; j < memory->nstates; j++)
	{
		while (i < view->nstates && view->states[i].id.relation_oid < last[j].id.relation_oid)
			i++;
		if (i == view->nstates || view->states[i].id.relation_oid != last[j].id.relation_oid ||
			(moved && view->states[i].id.tablespace_oid != last[j].id.tablespace_oid))
			gone[(*ngone)++] = last[j].id.relation_oid;
	}
	return gone;
}

/*
 * A standby has separate counters, which are unrelated to the stored ones, the primary's:
 * there the advice is from memory alone.
 */
static void
use_stored_counters(TierRelationState *states, int nstates,
					TierRelationState *last, int nlast)
{
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *before = tier_collect_find(last, nlast,
															states[i].id.relation_oid);

		if (before != NULL)
			states[i].stored.counters = before->stored.counters;
		else
			memset(&states[i].stored.counters, 0, sizeof(TierCounters));
	}
}

/*
 * After the clock was set back, recorded times are not comparable with it: a relation that is
 * used meanwhile would look idle for long as soon as the clock is set forward again.  So the
 * record begins anew with the current clock, and once more when that has reached the latest
 * recorded time.
 */
static void
follow_clock(TierCountsOrigin *origin, TimestampTz sampled_at, TimestampTz now)
{
	if (sampled_at > now)
	{
		origin->ahead_until = Max(origin->ahead_until, sampled_at);
		origin->since = now;
	}
	else if (origin->ahead_until != 0 && origin->ahead_until <= now)
	{
		origin->since = Max(origin->since, origin->ahead_until);
		origin->ahead_until = 0;
	}
}

/*
 * Returns true if this is another server than that of the last sample: promoted, restored or
 * upgraded.
 */
static bool
is_another_server(const TierSampleMemory *memory)
{
	return !RecoveryInProgress() && memory->sampled_at != 0 &&
		memory->origin.system_identifier != 0 &&
		(memory->origin.system_identifier != (int64) GetSystemIdentifier() ||
		 memory->origin.timeline != (int) GetWALInsertionTimeLine());
}

/*
 * Since when no count can have been lost.  Another server, after a failover, a restore or an
 * upgrade, has other statistics, which do not include unreported counts of the former one; nor
 * does a server include them that does not count, or not for all roles.  A change of the
 * server or a reset of its counters loses the counts since the last sample before it.
 */
static TierCountsOrigin
origin_of(const TierSampleMemory *memory, const TierMergeResult *merged,
		  const TierAccessTaken *taken, TimestampTz now)
{
	TierCountsOrigin origin = memory->origin;

	if (RecoveryInProgress())
		return origin;
	origin.system_identifier = (int64) GetSystemIdentifier();
	origin.timeline = (int) GetWALInsertionTimeLine();
	if (memory->sampled_at == 0)
		origin.since = merged->complete_since;
	else if (origin.since == 0 || merged->was_emptied || merged->saw_reset ||
			 is_another_server(memory))
	{
		origin.since = now;

		/* Unreported uses in a short time may be ignored. */
		if (tier_seconds_between(memory->sampled_at, now) > TIER_LONGEST_GAP_S &&
			!merged->began_ahead)
			origin.lost_at = now;
	}
	if (!pgstat_track_counts || taken->uncounted || tier_uncounted_roles() != NULL)
		origin.since = origin.lost_at = now;
	follow_clock(&origin, memory->sampled_at, now);
	return origin;
}

/* The time of a look; a clock that is corrected by a little has not been set back. */
static TimestampTz
now_after(TimestampTz sampled_at)
{
	TimestampTz now = tier_clock_now();

	return sampled_at > now && sampled_at - now <= TIER_COUNTERS_LAG_MS * INT64CONST(1000) ?
		sampled_at : now;
}

TierSampleView
tier_sample_look(const TierSampleMemory *memory, const TierDevices *devices, TierWrites *writes)
{
	bool		is_sample = writes != NULL;
	TierSampleMemory until_idle = *memory;
	TierAccessTaken taken;
	TierMergeInput input;
	TierMergeResult merged;
	TierSampleView view;

	/* As if there had been a sample when nothing had happened yet. */
	until_idle.sampled_at = tier_idle_until(memory->sampled_at, NULL);
	memory = &until_idle;

	/* 1. Collect. */
	view.states = tier_collect(&view.nstates);

	/*
	 * 2. Take.  What plans have read comes after the counters: reads between
	 * the two are kept for next time.
	 */
	if (is_sample)
		tier_catalog_take_standby_reads(view.states, view.nstates);
	taken = tier_access_counts_take(is_sample);
	taken.covered = taken.covered && memory->sampled_at != 0;
	if (is_sample)
		tier_writes_count(writes, view.states, view.nstates, memory->states, memory->nstates);
	else if (RecoveryInProgress())
		use_stored_counters(view.states, view.nstates, memory->states, memory->nstates);

	/* 3. Merge. */
	view.at = now_after(memory->sampled_at);
	input.last = memory->states;
	input.nlast = memory->nstates;
	input.last_sample_at = memory->sampled_at;
	input.now = view.at;
	input.by_another_server = is_another_server(memory);
	input.taken = &taken;
	input.carry = is_sample;
	tier_pass_begin(&view.pass, TIER_STEP_SAMPLE);
	merged = tier_merge(view.states, view.nstates, &input, &view.pass);
	view.since = merged.since;
	view.saw_reset = merged.saw_reset;
	view.origin = origin_of(memory, &merged, &taken, view.at);

	/* 4. Correct. */
	if (devices != NULL)
		tier_device_reads_correct(devices, view.states, view.nstates, taken.worker_bytes,
								  tier_seconds_between(memory->sampled_at, view.at));
	return view;
}

static TierTablespaceGrowth *
find_or_add(TierGrowths *growths, Oid tablespace_oid)
{
	TierTablespaceGrowth *growth;

	/* Tablespaces are few. */
	for (int i = 0; i < growths->ntablespaces; i++)
		if (growths->tablespaces[i].tablespace_oid == tablespace_oid)
			return &growths->tablespaces[i];
	growths->tablespaces = repalloc(growths->tablespaces, sizeof(TierTablespaceGrowth) *
									(growths->ntablespaces + 1));
	growth = &growths->tablespaces[growths->ntablespaces++];
	memset(growth, 0, sizeof(*growth));
	growth->tablespace_oid = tablespace_oid;
	growth->changed = true;
	return growth;
}

/*
 * Notes in growths by how much the relations in each tablespace have grown or shrunk since the
 * last sample, with those that are new and without those that are gone.  What only went to
 * another tablespace is no change.  Without a last sample, noting begins.
 */
static void
observe_growth(TierGrowths *growths, const TierSampleMemory *memory, const TierSampleView *view)
{
	const TierRelationState *last = memory->states;
	const TierRelationState *states = view->states;
	TimestampTz since = memory->sampled_at;
	int			i = 0;

	for (int k = 0; k < growths->ntablespaces; k++)
	{
		growths->tablespaces[k].change = 0;
		growths->tablespaces[k].changed = false;
	}
	for (int j = 0; j < memory->nstates; j++)
	{
		if (j % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		while (i < view->nstates && states[i].id.relation_oid < last[j].id.relation_oid)
			i++;
		if (i == view->nstates || states[i].id.relation_oid != last[j].id.relation_oid)
			find_or_add(growths, last[j].id.tablespace_oid)->change -= last[j].stored.size_bytes;
	}
	for (i = 0; i < view->nstates; i++)
		find_or_add(growths, states[i].id.tablespace_oid)->change += states[i].period.size_change;
	for (int k = 0; k < growths->ntablespaces; k++)
	{
		TierTablespaceGrowth *growth = &growths->tablespaces[k];

		if (growth->change == 0 && !growth->changed)
			continue;
		growth->changed = true;
		tier_evidence_note(&growth->evidence, since != 0 ? Min(since, view->at) : view->at,
						   view->at, tier_test_evidence_interval_s, 0.0, 0.0, growth->change);
	}
}

/* What of a sample is not about relations. */
typedef struct Server
{
	const TierDevices *devices;
	TimestampTz since;			/* see tier_catalog_sample_load() */
	TimestampTz now;
	bool		is_another;
} Server;

static void
wear_step(void *argument)
{
	const Server *server = argument;

	tier_catalog_count_wear(server->devices, server->now);
}

static void
load_step(void *argument)
{
	const Server *server = argument;

	tier_catalog_sample_load(server->since, server->now, server->is_another);
	tier_catalog_sample_files(server->now, server->is_another);
}

static void
maintain_step(void *argument)
{
	tier_catalog_maintain_history(((const Server *) argument)->now);
}

/* What has been sampled stays when such a step fails; a later sample tries again. */
static void
try(TierPass *pass, const char *table, void (*step) (void *argument), Server *server)
{
	Oid			table_oid = get_relname_relid(table,
											  get_namespace_oid(TIER_CATALOG_SCHEMA, false));
	ErrorData  *error = tier_pass_skips(pass, table_oid) ? NULL : tier_attempt(step, server);

	if (error != NULL)
		(void) tier_pass_failed(pass, table_oid, NULL, error);
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
	TierGrowths *growths;
	Server		server;
	Oid		   *dropped;
	int			ndropped;

	/* 1. Lock the sampler, and load the remembered states. */
	tier_catalog_enter(&scope);
	tier_catalog_lock_tables();
	if (!tier_catalog_lock_sampler(patience_ms))
	{
		tier_catalog_leave(&scope);
		return false;
	}
	tier_catalog_restore_state();

	/*
	 * A transaction that may stay open locks no row.  A worker, which may
	 * sample in a subtransaction between moves, ends it at once.
	 */
	if (MyBgworkerEntry != NULL || !IsTransactionBlock())
		tier_catalog_refresh_identities();
	writes = tier_writes_begin(started_at);
	memory.states = tier_catalog_load_states(context, &memory.nstates, &memory.sampled_at,
											 &memory.origin);
	result->devices = tier_catalog_load_devices(context);
	growths = tier_catalog_load_growths(context);
	MemoryContextSwitchTo(context);

	/* 2. What happened since. */
	view = tier_sample_look(&memory, result->devices, writes);
	add_up(view.states, view.nstates);
	observe_growth(growths, &memory, &view);

	/* Each statement of ours leaves us in a context that ends with the scope. */
	MemoryContextSwitchTo(context);
	dropped = find_gone(&view, &memory, false, &ndropped);
	result->gone = find_gone(&view, &memory, true, &result->ngone);
	result->sampled_at = view.at;

	/* 3. Remember it. */
	summary.sampled_at = view.at;
	summary.saw_reset = view.saw_reset;
	summary.origin = view.origin;
	summary.relations = view.nstates;
	summary.active = 0;
	for (int i = 0; i < view.nstates; i++)
		summary.active += view.states[i].period.active ? 1 : 0;
	summary.duration_ms = tier_seconds_between(started_at, tier_clock_now()) * 1000.0;
	tier_catalog_store_sample(view.states, view.nstates, dropped, ndropped, view.since,
							  &summary, &view.pass);
	tier_catalog_store_growths(growths);
	tier_writes_end(writes);
	MemoryContextSwitchTo(context);
	tier_device_io_observe(result->devices, view.states, view.nstates, memory.sampled_at, view.at);
	tier_catalog_store_devices(result->devices);

	/* Other counters have gone on, even if nothing has happened here. */
	server.devices = result->devices;
	server.since = view.since > tier_idle_until(memory.sampled_at, NULL) ? view.since : 0;
	server.now = view.at;
	server.is_another = is_another_server(&memory);
	try(&view.pass, "device_wear", wear_step, &server);
	try(&view.pass, "load_history", load_step, &server);
	try(&view.pass, "history_hour", maintain_step, &server);
	tier_pass_end(&view.pass);
	tier_catalog_leave(&scope);
	return true;
}
