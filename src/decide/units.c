/*-------------------------------------------------------------------------
 *
 * decide/units.c
 *		The units to be placed, and the facts about each.
 *
 * model/relation_load.h computes the load of each.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/base/by_oid.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/observe/device_io.h"
#include "src/base/settings.h"
#include "src/model/evidence.h"
#include "src/model/growth.h"
#include "src/model/relation_load.h"
#include "src/server/counting.h"
#include "src/server/distributed.h"
#include "src/server/relation.h"
#include "src/storage/memory.h"
#include "src/observe/merge.h"
#include "src/observe/sample.h"
#include "src/decide/partition.h"
#include "src/decide/policy_group.h"
#include "src/decide/units.h"

const TierAdviceUnit *
tier_advice_find(const TierAdvice *advice, Oid relation_oid)
{
	return tier_by_oid_find(relation_oid, advice->units, advice->nunits, sizeof(TierAdviceUnit));
}

/* Adds the load of one relation to the unit that it belongs to. */
static void
add_load(TierAdviceUnit *unit, const TierRelationState *state, const TierRelationLoadBasis *basis)
{
	tier_relation_load_add(&unit->loads, state, basis);
	unit->size_bytes += Max(state->stored.size_bytes, 0) + Max(state->stored.maps_bytes, 0);
	unit->operations += (double) state->stored.counters.scans;
}

static TierAdviceUnit *
find_unit(TierAdvice *advice, Oid relation_oid)
{
	return unconstify(TierAdviceUnit *, tier_advice_find(advice, relation_oid));
}

static const TierRelationState *
find_state(const TierRelationState *states, int n, Oid relation_oid)
{
	return tier_by_oid_find(relation_oid, states, n, sizeof(TierRelationState));
}

/* The unit that a relation is placed with; NULL: none. */
static TierAdviceUnit *
unit_of(TierAdvice *advice, const TierRelationState *states, int nstates,
		const TierRelationState *state)
{
	const TierRelationState *heap;

	if (state->id.kind == RELKIND_TOASTVALUE)
		return find_unit(advice, state->id.heap_oid);
	heap = find_state(states, nstates, state->id.heap_oid);
	return find_unit(advice, heap != NULL && heap->id.kind == RELKIND_TOASTVALUE ?
					 heap->id.heap_oid : state->id.relation_oid);
}

/* As tier_catalog_read_bytes(). */
static double
read_bytes(const TierRelationState *states, int nstates)
{
	double		bytes = 0.0;

	for (int i = 0; i < nstates; i++)
		if (states[i].stored.rates.random_slow + states[i].stored.rates.sequential_slow > 0.0)
			bytes += (double) states[i].stored.size_bytes;
	return bytes;
}

/* Tables, materialized views and their indexes are units; TOAST goes along. */
static void
build_units(TierAdvice *advice, const TierRelationState *states, int nstates, TimestampTz now)
{
	TierMemory	memory = tier_memory_look(tier_debug_root());
	TierRelationLoadBasis basis = {
		.now = now,
		.writes_since = advice->writes_since,
		.checkpoints_per_hour = tier_checkpoints_per_hour(),
		.memory_is_new = memory.is_new,
		.memory_fills = memory.is_free && read_bytes(states, nstates) <= memory.bytes,
	};

	advice->units = palloc_extended(sizeof(TierAdviceUnit) * Max(nstates, 1),
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *state = &states[i];
		const TierRelationState *heap = find_state(states, nstates, state->id.heap_oid);
		TierAdviceUnit *unit;

		if (state->id.kind == RELKIND_TOASTVALUE || heap == NULL ||
			heap->id.kind == RELKIND_TOASTVALUE)
			continue;
		unit = &advice->units[advice->nunits++];
		unit->relation_oid = state->id.relation_oid;
		unit->heap_oid = state->id.heap_oid;
		unit->is_selected = true;
		unit->kind = state->id.kind;
		unit->current_tier = tier_set_tier_of_tablespace(advice->set, state->id.tablespace_oid);
		unit->policy_tier = unit->policy_floor = unit->pinned_tier = -1;
		unit->wanted_tier = -1;
		unit->observed_s = tier_seconds_between(state->stored.sampled_since, now);
		unit->known_s = tier_seconds_between(Max(state->stored.sampled_since,
												 advice->uses_since), now);
		unit->proven_s = Max(tier_seconds_between(Max(state->stored.proven_since,
													  advice->uses_since), now),
							 unit->known_s);
		unit->last_used_at = state->stored.last_used_at;
		unit->last_read_at = state->stored.last_read_at;
		unit->never_scanned = unit->last_read_at == 0 &&
			!tier_merge_was_scanned(state, &state->stored.counters);
		if (state->stored.placed_at != 0)
			unit->resides_s = Max(0.0, tier_cooldown_min * 60.0 -
								  tier_seconds_between(state->stored.placed_at, now));
		add_load(unit, state, &basis);
	}
	for (int i = 0; i < nstates; i++)
	{
		TierAdviceUnit *unit = unit_of(advice, states, nstates, &states[i]);

		if (unit != NULL && unit->relation_oid != states[i].id.relation_oid)
			add_load(unit, &states[i], &basis);
	}
}

/*
 * Of a table of which builds of indexes have read all that its counters show, nothing shows
 * use.  Each reads all rows once, and counts a scan for each process.  Only indexes that may have
 * been built since the counters began have a part in them.
 */
static void
discount_builds(TierAdvice *advice, const TierSampleView *view)
{
	double	   *builds = palloc_extended(sizeof(double) * Max(advice->nunits, 1),
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		const TierAdviceUnit *heap = tier_advice_find(advice, unit->heap_oid);

		if (heap != NULL && heap != unit &&
			find_state(view->states, view->nstates, unit->relation_oid)->stored.proven_since >
			view->origin.since)
			builds[heap - advice->units]++;
	}
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];
		const TierRelationState *state = find_state(view->states, view->nstates,
													unit->relation_oid);
		const TierCounters *counters = &state->stored.counters;

		if (builds[i] > 0.0 && !unit->never_scanned &&
			unit->last_read_at <= state->stored.sampled_since &&
			counters->tuples_read <= builds[i] * state->period.live_rows &&
			counters->scans <= builds[i] * (1 + max_parallel_maintenance_workers))
		{
			unit->never_scanned = true;
			unit->last_read_at = 0;
		}
	}
	pfree(builds);
}

/* Stores the measurements up to the last sample, so that all users see the same. */
static void
mark_measured(TierAdvice *advice, const TierSampleMemory *memory,
			  const TierRelationState *states, int nstates, TimestampTz now)
{
	for (int i = 0; i < advice->nunits; i++)
		advice->units[i].random_reads = advice->units[i].sequential_reads = NAN;
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *last = find_state(memory->states, memory->nstates,
												   states[i].id.relation_oid);
		TierAdviceUnit *unit = last == NULL ? NULL : unit_of(advice, states, nstates, &states[i]);
		double		random;
		double		sequential;

		if (unit == NULL)
			continue;
		tier_relation_measured(&last->stored, now, &random, &sequential);
		unit->random_reads = (isnan(unit->random_reads) ? 0.0 : unit->random_reads) + random;
		unit->sequential_reads = (isnan(unit->sequential_reads) ? 0.0 :
								  unit->sequential_reads) + sequential;
	}
}

static void
mark_policy(TierAdviceUnit *unit, int tier)
{
	unit->policy_floor = Max(unit->policy_floor, tier);
	if (unit->current_tier == tier)
		unit->policy_tier = tier;
}

/* A unit that is still on a faster tier may stay there until it is due, or come nearer. */
static void
mark_soon(TierAdviceUnit *unit, int tier)
{
	if (unit->current_tier >= tier)
		unit->policy_floor = Max(unit->policy_floor, tier);
}

/*
 * Returns true if the rights that count for the policy suffice to move the relation to its
 * target.
 */
static bool
may_be_moved(const TierPolicyRow *policy, Oid relation_oid, Oid tablespace_oid)
{
	TierRelationInfo info;

	return OidIsValid(tablespace_oid) && tier_relation_lookup(relation_oid, &info) &&
		tier_relation_refuse(&info, OidIsValid(policy->created_by) ? policy->created_by :
							 info.owner_oid, tablespace_oid).message == NULL;
}

/* Nothing moves the unit, or a relation that belongs to it. */
static void
leave_out(TierAdvice *advice, Oid relation_oid, const char *message)
{
	const char *why = psprintf("it is left out after an error: %s", message);

	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		if (unit->immovable == NULL &&
			(unit->relation_oid == relation_oid || unit->heap_oid == relation_oid))
			unit->immovable = why;
	}
}

/* Marks the relations that a policy moves next. */
static void
mark_due(TierAdvice *advice, const TierPolicyRow *policy, const TierLeaf *leaf)
{
	ListCell   *cell;

	foreach(cell, leaf->pending)
	{
		TierAdviceUnit *unit = find_unit(advice, lfirst_oid(cell));

		if (unit != NULL && may_be_moved(policy, lfirst_oid(cell),
										 tier_partition_tablespace(leaf, lfirst_oid(cell))))
			unit->is_due = true;
	}
}

/*
 * Returns true if all rows in it will be of that age before the horizon ends.  Present use is
 * expected to continue, so a policy that asks for idleness does not move it.
 */
static bool
will_be_of_age(const TierEvaluation *evaluation, const TierLeaf *leaf, double horizon_us)
{
	return leaf->verdict == TIER_VERDICT_TOO_YOUNG &&
		(double) leaf->partition.upper_us <= (double) evaluation->conditions.age_us + horizon_us &&
		tier_policy_judge_use(&leaf->partition.use, &evaluation->conditions) == TIER_VERDICT_DUE;
}

/* Argument of mark_leaf(): the advice whose units are marked, and the evaluation. */
typedef struct Marking
{
	TierAdvice *advice;
	const TierEvaluation *evaluation;
} Marking;

static Oid
leaf_oid(const void *argument, int i)
{
	return ((const Marking *) argument)->evaluation->leaves[i].info.relation_oid;
}

/*
 * Marks the relations of a leaf that the policy wants on its tier, now or within the horizon,
 * and those that it moves next.
 */
static void
mark_leaf(void *argument, int i)
{
	const Marking *marking = argument;
	const TierEvaluation *evaluation = marking->evaluation;
	const TierLeaf *leaf = &evaluation->leaves[i];
	Oid			relation_oid = leaf->info.relation_oid;
	const TierAdviceUnit *table = tier_advice_find(marking->advice, relation_oid);
	bool		is_later = will_be_of_age(evaluation, leaf, USECS_PER_HOUR *
										  marking->advice->options.horizon_hours);
	ListCell   *cell;

	if (!(tier_policy_is_met(leaf) || is_later) || (table != NULL && table->immovable != NULL))
		return;
	tier_debug_relation("advise", relation_oid);
	foreach(cell, lcons_oid(relation_oid, evaluation->policy->include_indexes ?
							tier_relation_indexes(relation_oid) : NIL))
	{
		TierAdviceUnit *unit = find_unit(marking->advice, lfirst_oid(cell));

		if (unit != NULL)
			(is_later ? mark_soon : mark_policy)
				(unit, tier_partition_target(evaluation, leaf, lfirst_oid(cell)));
	}
	if (leaf->verdict == TIER_VERDICT_DUE)
		mark_due(marking->advice, evaluation->policy, leaf);
}

static void
leave_out_leaf(void *argument, int i, char *message)
{
	leave_out(((const Marking *) argument)->advice, leaf_oid(argument, i), message);
}

/*
 * Marks units of an age at which a policy wants them on its tier, and units that it has put
 * there.  Also marks units that will be of that age before the horizon ends, within which a move
 * has to pay: they would have to come back.  The advice places younger ones.
 */
static void
mark_policies(TierAdvice *advice, TierPass *pass, const TierPolicyRow *policies, int npolicies,
			  const TierPins *pins, const TierUses *uses)
{
	for (int i = 0; i < npolicies; i++)
	{
		Marking		marking = {.advice = advice};
		TierEach	each = {0, leaf_oid, mark_leaf, leave_out_leaf, &marking};

		if (!policies[i].is_enabled || !tier_policy_has_target(&policies[i]))
			continue;
		marking.evaluation = tier_partition_evaluate(&policies[i], advice->set, pins, uses,
													 tier_clock_now());
		each.n = marking.evaluation->nleaves;
		tier_pass_each(pass, &each);
	}
}

/* An extension owns the relations it has created: it may drop, truncate and lock them. */
static void
mark_extensions(TierAdvice *advice)
{
	int			n;
	TierExtensionMember *members = tier_relation_extension_members(&n);

	for (int i = 0; n > 0 && i < advice->nunits; i++)
		advice->units[i].extension_oid =
			tier_relation_extension_of(members, n, advice->units[i].heap_oid);
	pfree(members);
}

/* The input for looking up each unit. */
typedef struct Looking
{
	TierAdvice *advice;
	const Oid  *shells;			/* sorted */
	int			nshells;
	bool		has_columnar;
} Looking;

static Oid
unit_oid(const void *argument, int i)
{
	return ((const Looking *) argument)->advice->units[i].relation_oid;
}

/*
 * Marks units that cannot be moved, and those that are empty because Citus has their rows
 * elsewhere.
 */
static void
look_at_unit(void *argument, int i)
{
	const Looking *looking = argument;
	TierAdviceUnit *unit = &looking->advice->units[i];
	TierRelationInfo info;

	if (unit->immovable != NULL)
		return;
	tier_debug_relation("advise", unit->relation_oid);
	if (tier_by_oid_find(unit->heap_oid, looking->shells, looking->nshells, sizeof(Oid)) != NULL)
		unit->immovable = "its rows are in shards of Citus";
	else if (looking->has_columnar && tier_relation_lookup(unit->relation_oid, &info))
		unit->immovable = tier_relation_why_never(&info);
}

static void
leave_out_unit(void *argument, int i, char *message)
{
	leave_out(((const Looking *) argument)->advice, unit_oid(argument, i), message);
}

static void
mark_immovable(TierAdvice *advice, TierPass *pass)
{
	Looking		looking = {.advice = advice};
	const TierEach each = {advice->nunits, unit_oid, look_at_unit, leave_out_unit, &looking};

	looking.shells = tier_distributed->shells(&looking.nshells);
	looking.has_columnar = OidIsValid(get_table_am_oid("columnar", true));
	tier_pass_each(pass, &each);
}

static void
mark_pins(TierAdvice *advice, const TierPins *pins)
{
	for (int i = 0; i < pins->nrelations; i++)
	{
		TierAdviceUnit *unit = find_unit(advice, pins->relations[i].relation_oid);

		if (unit == NULL)
			continue;
		unit->pinned_tier = tier_set_find_tier(advice->set, NameStr(pins->relations[i].tier_name));
	}
}

/* Everything times the factor that was asked for, but its size. */
static void
scale_loads(TierAdvice *advice, double factor)
{
	for (int i = 0; i < advice->nunits; i++)
	{
		TierRelationLoad *loads = &advice->units[i].loads;
		double		size_bytes = loads->middle.size_bytes;

		for (double *rate = (double *) loads; (void *) rate < (void *) (loads + 1); rate++)
			*rate *= factor;
		loads->middle.size_bytes = size_bytes;
	}
}

/* Units that the options leave out stay where they are. */
static void
select_units(TierAdvice *advice)
{
	const TierAdviceOptions *options = &advice->options;
	List	   *selected = NIL;
	Oid		   *oids;
	int			n = 0;
	ListCell   *cell;

	if (options->schemas == NIL && options->relations == NIL)
		return;
	foreach(cell, options->relations)
	{
		CHECK_FOR_INTERRUPTS();
		selected = list_concat(selected, tier_relation_inheritors(lfirst_oid(cell)));
	}
	oids = palloc(sizeof(Oid) * Max(list_length(selected), 1));
	foreach(cell, selected)
		oids[n++] = lfirst_oid(cell);
	qsort(oids, n, sizeof(Oid), oid_cmp);
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		CHECK_FOR_INTERRUPTS();
		if (options->schemas != NIL &&
			!list_member_oid(options->schemas, get_rel_namespace(unit->relation_oid)))
			unit->is_selected = false;
		if (options->relations != NIL &&
			tier_by_oid_find(unit->relation_oid, oids, n, sizeof(Oid)) == NULL &&
			tier_by_oid_find(unit->heap_oid, oids, n, sizeof(Oid)) == NULL)
			unit->is_selected = false;
	}
}

double
tier_units_required_s(void)
{
	return Max(tier_observation_period_min * 60.0,
			   TIER_EVIDENCE_RATE * tier_test_evidence_interval_s);
}

/* Since when uses would have been seen. */
static void
mark_unseen(TierAdvice *advice, const TierSampleView *view, const TierStandbyUse *standbys,
			TimestampTz now)
{
	advice->uncounted = tier_uncounted_roles();
	advice->silent_standby = standbys->silent;
	advice->uses_since = Max(view->origin.lost_at, standbys->known_since);
	if (advice->uncounted != NULL || advice->silent_standby != NULL)
		advice->uses_since = now;
}

/* By the time for which it has been observed; a pin is certain. */
static TierConfidence
confidence_of(const TierAdviceUnit *unit)
{
	double		required_s = tier_units_required_s();

	if (unit->pinned_tier >= 0 || unit->known_s >= required_s)
		return TIER_CONFIDENCE_FIRM;
	return unit->known_s >= Min(TIER_PROVISIONAL_S, required_s) ?
		TIER_CONFIDENCE_TENTATIVE : TIER_CONFIDENCE_PROVISIONAL;
}

/*
 * A table of which an index is read is read; and then since when nothing was.  Of scans before the
 * first sample it may not be known when they were.
 */
static void
mark_unread(TierAdvice *advice, TimestampTz now)
{
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		TierAdviceUnit *heap = find_unit(advice, unit->heap_oid);

		if (!unit->never_scanned && heap != NULL)
			heap->never_scanned = false;
		if (heap != NULL && heap != unit)
			heap->operations += unit->operations;
		if (heap != NULL)
			heap->last_read_at = Max(heap->last_read_at, unit->last_read_at);
	}
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		unit->unread_since = unit->last_read_at;
		if (unit->last_read_at == 0)
			unit->unread_since = now - (TimestampTz) (USECS_PER_SEC *
													  (unit->never_scanned ? unit->proven_s :
													   unit->known_s));
		if (unit->unread_since != 0)
			unit->unread_since = Max(unit->unread_since, advice->uses_since);
	}
}

/*
 * The expected growth of relations of a tablespace, each for at most the time for which it was
 * observed.
 */
static double
carried_bytes(Oid tablespace_oid, const TierSampleView *view, double hours, TimestampTz now)
{
	double		bytes = 0.0;

	for (int i = 0; i < view->nstates; i++)
		if (view->states[i].id.tablespace_oid == tablespace_oid)
			bytes += tier_growth_rate(&view->states[i].stored.evidence, now) *
				Min(hours, tier_seconds_between(view->states[i].stored.sampled_since, now) /
					SECS_PER_HOUR);
	return bytes;
}

static void
load_growth(TierAdvice *advice, const TierGrowths *growths, const TierSampleView *view,
			TimestampTz now)
{
	double	   *bytes = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));
	double		hours;

	for (int i = 0; i < advice->nunits; i++)
		advice->observed_hours = Max(advice->observed_hours,
									 advice->units[i].observed_s / SECS_PER_HOUR);
	hours = Min(advice->observed_hours, advice->options.horizon_hours);
	for (int i = 0; i < growths->ntablespaces; i++)
	{
		const TierTablespaceGrowth *growth = &growths->tablespaces[i];
		int			tier = tier_set_tier_of_tablespace(advice->set, growth->tablespace_oid);
		double		carried;

		CHECK_FOR_INTERRUPTS();
		if (tier < 0)
			continue;
		carried = carried_bytes(growth->tablespace_oid, view, hours, now);
		bytes[tier] += carried + tier_growth_beyond(&growth->evidence, now, hours, carried);
	}
	advice->growth_per_hour = bytes;
	for (int t = 0; t < advice->set->ntiers; t++)
		bytes[t] = hours > 0.0 && isfinite(bytes[t]) ?
			advice->options.load_factor * Max(bytes[t], 0.0) / hours : 0.0;
}

/*
 * How many may wait at once: as many as are active in the busiest hour, and one for the server's
 * own writes.  Where waits were not sampled, as many as may connect.
 */
static double
clients_of(const TierAdvice *advice)
{
	double		peak = Min(advice->client_time.peak, MaxBackends);

	return 1.0 + (peak > 0.0 ? Max(peak * advice->options.load_factor, 1.0) : MaxConnections);
}

/*
 * The sampler knows the time of a relation in its place only if it has seen it elsewhere: not if
 * it was moved before its first sample, not for an index that was rebuilt since, and not after a
 * crash has lost that state.  A relation that is not where the record of its move has put it was
 * moved by hand since.
 */
static void
mark_recent(TierAdvice *advice, const TierRecentMove *moves, int n, TimestampTz now)
{
	for (int i = 0; i < n; i++)
	{
		TierAdviceUnit *unit = find_unit(advice, moves[i].relation_oid);

		if (unit != NULL)
			unit->resides_s = Max(unit->resides_s, tier_cooldown_min * 60.0 -
								  tier_seconds_between(moves[i].finished_at, now));
	}
}

void
tier_units_load(TierAdvice *advice)
{
	MemoryContext context = CurrentMemoryContext;
	TimestampTz now = tier_clock_now();
	TierCatalogScope scope;
	TierSampleMemory memory;
	TierSampleView view;
	TierPolicyRow *policies;
	TierPins   *pins;
	TierStandbyUse standbys;
	TierDevices *devices;
	TierGrowths *growths;
	TierRecentMove *recent;
	int			nrecent;
	TierPass	pass;
	int			npolicies;

	tier_catalog_enter(&scope);
	tier_catalog_hold_snapshot(true);
	advice->set = tier_catalog_load_tiers(context);
	memory.states = tier_catalog_load_states(context, &memory.nstates, &memory.sampled_at,
											 &memory.origin);
	advice->writes_since = tier_catalog_writes_since();
	standbys = tier_catalog_load_standby_use(context, TIER_LONGEST_GAP_S);
	policies = tier_catalog_load_policies(context, &npolicies);
	advice->fullness = tier_catalog_load_fullness(context, &advice->nfullness);
	pins = tier_catalog_load_pins(context);
	devices = tier_catalog_load_devices(context);
	growths = tier_catalog_load_growths(context);
	recent = tier_catalog_load_recent_moves(context, now - tier_cooldown_min * USECS_PER_MINUTE,
											now, &nrecent);
	advice->client_time = tier_catalog_client_time();
	tier_catalog_leave(&scope);

	/* A standby knows nothing of the time since, which is not idle time. */
	if (RecoveryInProgress() && memory.sampled_at != 0)
		now = memory.sampled_at;
	advice->known_until = now;
	tier_groups_find(policies, npolicies);
	advice->clients = clients_of(advice);
	view = tier_sample_look(&memory, devices, NULL);
	mark_unseen(advice, &view, &standbys, now);
	build_units(advice, view.states, view.nstates, now);
	mark_recent(advice, recent, nrecent, now);
	mark_measured(advice, &memory, view.states, view.nstates, now);
	discount_builds(advice, &view);
	mark_unread(advice, now);
	tier_pass_begin(&pass, TIER_STEP_ADVISE);
	mark_policies(advice, &pass, policies, npolicies, pins,
				  tier_uses_create(&view, &standbys, now));
	mark_pins(advice, pins);
	mark_extensions(advice);
	mark_immovable(advice, &pass);
	tier_pass_end(&pass);
	select_units(advice);
	if (advice->options.load_factor != 1.0)
		scale_loads(advice, advice->options.load_factor);
	for (int i = 0; i < advice->nunits; i++)
		advice->units[i].confidence = confidence_of(&advice->units[i]);
	load_growth(advice, growths, &view, now);
}
