/*-------------------------------------------------------------------------
 *
 * tier_advice.c
 *		Load, decide, say: the placement of all relations of a database.
 *
 * Runs in sessions, reads only.  The load of a relation is the larger of its
 * two smoothed rates, so that what is hot now counts at once and what was hot
 * lately is not forgotten; the time that statistics cannot attribute to random
 * or sequential reads is given to either in turn, and advice that depends on
 * it is tentative.
 *
 * Three rules stand above cost: a relation that has not been observed for
 * tiered_storage.observation_period is never sent to a slower tier; one that a
 * policy has moved stays where the policy wants it; one whose tablespace
 * belongs to no tier is left alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "postmaster/bgwriter.h"
#include "tier_advice.h"
#include "tier_clock.h"
#include "tier_guc.h"
#include "tier_heat.h"
#include "tier_relation.h"
#include "tier_sample.h"
#include "tier_solver.h"

/* A move pays if it has earned its cost within this time. */
#define HORIZON_HOURS (30.0 * 24.0)

/*
 * Tiers whose device time differs by less than this are equal, and the cheaper
 * one is better: 0.1 device-seconds per hour is eight random reads of a disk.
 */
#define EQUAL_COST_S_PER_HOUR 0.1

static double
seconds_between(TimestampTz from, TimestampTz to)
{
	return to <= from ? 0.0 : (double) (to - from) / USECS_PER_SEC;
}

static double
checkpoints_per_hour(void)
{
	return 3600.0 / Max(CheckPointTimeout, 1);
}

/* Adds what one relation does to the unit that it belongs to. */
static void
add_load(TierAdviceUnit *unit, const TierRelationState *state, TimestampTz now)
{
	const TierRates *rates = &state->rates;
	double		idle_s = seconds_between(state->heat_at, now);
	double		observed_s = Max(seconds_between(state->observed_since, now), TIER_SHORTEST_OBSERVATION_S);
	double		random_fast = tier_heat_read(rates->random_fast, idle_s, observed_s, TIER_HALF_LIFE_FAST_S);
	double		random_slow = tier_heat_read(rates->random_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S);
	double		sequential_fast = tier_heat_read(rates->sequential_fast, idle_s, observed_s, TIER_HALF_LIFE_FAST_S);
	double		sequential_slow = tier_heat_read(rates->sequential_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S);
	double		low = tier_heat_read(rates->sequential_low_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S);
	double		high = tier_heat_read(rates->sequential_high_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S);
	double		changes = Max(tier_heat_read(rates->changes_fast, idle_s, observed_s, TIER_HALF_LIFE_FAST_S),
							  tier_heat_read(rates->changes_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S));
	double		misses_slow = random_slow + sequential_slow;
	double		misses = Max(random_fast + sequential_fast, misses_slow);
	bool		fast = random_fast + sequential_fast > misses_slow;
	double		pages = Max(state->size_bytes, 0) / (double) BLCKSZ;

	unit->load.random_reads += fast ? random_fast : random_slow;
	unit->load.sequential_reads += fast ? sequential_fast : sequential_slow;

	/* The bounds as shares of the slow rate, applied to the rate in use. */
	if (misses_slow > 0)
	{
		unit->sequential_low += misses * Min(low / misses_slow, 1.0);
		unit->sequential_high += misses * Min(high / misses_slow, 1.0);
	}
	unit->load.scans += tier_heat_read(rates->scans_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S) *
		(state->kind == RELKIND_INDEX || misses <= 0 ? 0.0 : Min(misses / Max(misses + tier_heat_read(rates->hits_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S), 1.0), 1.0));
	unit->load.page_writes += tier_cost_page_writes_per_hour(changes, pages, checkpoints_per_hour());
	unit->hits_per_hour += tier_heat_read(rates->hits_slow, idle_s, observed_s, TIER_HALF_LIFE_SLOW_S);
	unit->size_bytes += Max(state->size_bytes, 0);
	unit->load.size_bytes = unit->size_bytes;
	unit->cached_fraction += state->cached_buffers;
}

static int
compare_units(const void *a, const void *b)
{
	Oid			left = ((const TierAdviceUnit *) a)->relation_oid;
	Oid			right = ((const TierAdviceUnit *) b)->relation_oid;

	return left < right ? -1 : left > right ? 1 : 0;
}

static TierAdviceUnit *
find_unit(const TierAdvice *advice, Oid relation_oid)
{
	TierAdviceUnit key;

	key.relation_oid = relation_oid;
	return bsearch(&key, advice->units, advice->nunits, sizeof(TierAdviceUnit), compare_units);
}

static const TierRelationState *
find_state(const TierRelationState *states, int n, Oid relation_oid)
{
	int			low = 0;
	int			high = n - 1;

	while (low <= high)
	{
		int			middle = low + (high - low) / 2;

		if (states[middle].relation_oid == relation_oid)
			return &states[middle];
		if (states[middle].relation_oid < relation_oid)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return NULL;
}

/* Tables, materialized views and their indexes are units; TOAST goes along. */
static void
build_units(TierAdvice *advice, const TierRelationState *states, int nstates, TimestampTz now)
{
	advice->units = palloc_extended(sizeof(TierAdviceUnit) * Max(nstates, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *state = &states[i];
		const TierRelationState *heap = find_state(states, nstates, state->heap_oid);
		TierAdviceUnit *unit;

		if (state->kind == RELKIND_TOASTVALUE || heap == NULL || heap->kind == RELKIND_TOASTVALUE)
			continue;
		unit = &advice->units[advice->nunits++];
		unit->relation_oid = state->relation_oid;
		unit->kind = state->kind;
		unit->current_tier = tier_set_tier_of_tablespace(advice->set, state->tablespace_oid);
		unit->policy_tier = unit->wanted_tier = -1;
		unit->observed_s = seconds_between(state->sampled_since, now);
		add_load(unit, state, now);
	}
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *state = &states[i];
		const TierRelationState *heap = find_state(states, nstates, state->heap_oid);
		TierAdviceUnit *unit;

		if (heap == NULL || (state->kind != RELKIND_TOASTVALUE && heap->kind != RELKIND_TOASTVALUE))
			continue;
		unit = find_unit(advice, state->kind == RELKIND_TOASTVALUE ? state->heap_oid : heap->heap_oid);
		if (unit != NULL)
			add_load(unit, state, now);
	}
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		unit->cached_fraction = unit->size_bytes <= 0 ? 0.0 :
			Min(1.0, unit->cached_fraction * BLCKSZ / unit->size_bytes);
	}
}

/* Marks what a policy governs and has already put on its tier. */
static void
mark_policies(TierAdvice *advice, const TierPolicyRow *policies, int npolicies)
{
	for (int i = 0; i < npolicies; i++)
	{
		int			tier = tier_set_find_tier(advice->set, NameStr(policies[i].tier_name));
		List	   *leaves = OidIsValid(policies[i].relation_oid) ? tier_relation_leaves(policies[i].relation_oid) : NIL;
		ListCell   *cell;

		foreach(cell, leaves)
		{
			List	   *members = lcons_oid(lfirst_oid(cell), policies[i].include_indexes ?
											tier_relation_indexes(lfirst_oid(cell)) : NIL);
			ListCell   *member;

			foreach(member, members)
			{
				TierAdviceUnit *unit = find_unit(advice, lfirst_oid(member));

				if (unit != NULL && unit->current_tier == tier)
					unit->policy_tier = tier;
			}
		}
	}
}

/* What the units may take on each tier: what they take now, and what is free. */
static void
compute_available(TierAdvice *advice)
{
	const TierSet *set = advice->set;

	advice->available_bytes = palloc0(sizeof(double) * Max(set->ntiers, 1));
	for (int i = 0; i < advice->nunits; i++)
		if (advice->units[i].current_tier >= 0)
			advice->available_bytes[advice->units[i].current_tier] += advice->units[i].size_bytes;
	for (int t = 0; t < set->ntiers; t++)
	{
		const TierTier *tier = &set->tiers[t];
		double		used = advice->available_bytes[t];

		if (tier->capacity_bytes < 0)
		{
			advice->available_bytes[t] = INFINITY;
			continue;
		}
		advice->available_bytes[t] = tier->capacity_bytes * (1.0 - tier->reserve_fraction);
		if (tier->free_bytes >= 0)
			advice->available_bytes[t] = Min(advice->available_bytes[t],
											 used + Max(tier->free_bytes - tier->reserve_fraction * tier->capacity_bytes, 0.0));
	}
}

double
tier_advice_busy(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return tier_cost_busy_s_per_hour(&unit->load, &advice->set->tiers[tier].profile);
}

double
tier_advice_price(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return tier_cost_price_per_month(unit->size_bytes, &advice->set->tiers[tier].profile,
									 advice->set->tiers[tier].reserve_fraction);
}

double
tier_advice_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	if (unit->current_tier < 0 || unit->current_tier == tier)
		return 0.0;
	return tier_cost_move_s(unit->size_bytes, &advice->set->tiers[unit->current_tier].profile,
							&advice->set->tiers[tier].profile);
}

/* May it live there at all? */
static bool
is_allowed(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	if (tier == unit->current_tier)
		return true;
	if (unit->current_tier < 0 || unit->policy_tier >= 0)
		return false;
	if (unit->confidence == TIER_CONFIDENCE_INSUFFICIENT &&
		advice->set->tiers[tier].rank > advice->set->tiers[unit->current_tier].rank)
		return false;
	return true;
}

static void *
solver_alloc(size_t bytes)
{
	return palloc_extended(Max(bytes, 1), MCXT_ALLOC_HUGE);
}

/*
 * Solves with the sequential share at `sequential` (0: low, 1: middle, 2:
 * high) and returns the tier of each unit; pushed_out_of may be NULL.
 */
static int *
solve(const TierAdvice *advice, int bound, int *pushed_out_of)
{
	int			ntiers = advice->set->ntiers;
	size_t		ncells = (size_t) Max(advice->nunits, 1) * Max(ntiers, 1);
	double	   *cost = palloc_extended(sizeof(double) * ncells, MCXT_ALLOC_HUGE);
	double	   *price = palloc_extended(sizeof(double) * ncells, MCXT_ALLOC_HUGE);
	double	   *size = palloc_extended(sizeof(double) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	int		   *current = palloc_extended(sizeof(int) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	int		   *pushed = palloc_extended(sizeof(int) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	int		   *chosen = palloc_extended(sizeof(int) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	double	   *used = palloc(sizeof(double) * Max(ntiers, 1));
	TierSolverProblem problem;
	TierSolverResult result;

	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit unit = advice->units[i];
		double		misses = unit.load.random_reads + unit.load.sequential_reads;

		if (bound != 1)
		{
			unit.load.sequential_reads = Min(bound == 0 ? unit.sequential_low : unit.sequential_high, misses);
			unit.load.random_reads = misses - unit.load.sequential_reads;
		}
		size[i] = unit.size_bytes;
		current[i] = unit.current_tier;
		for (int t = 0; t < ntiers; t++)
		{
			size_t		cell = (size_t) i * ntiers + t;

			cost[cell] = !is_allowed(advice, &unit, t) ? INFINITY :
				tier_advice_busy(advice, &unit, t) + tier_advice_move_s(advice, &unit, t) / HORIZON_HOURS;
			price[cell] = tier_advice_price(advice, &unit, t);
		}
	}
	problem.nunits = advice->nunits;
	problem.ntiers = ntiers;
	problem.cost = cost;
	problem.price = price;
	problem.size = size;
	problem.current = current;
	problem.capacity = advice->available_bytes;
	problem.cost_epsilon = EQUAL_COST_S_PER_HOUR;
	problem.alloc = solver_alloc;
	problem.release = pfree;
	result.tier = chosen;
	result.pushed_out_of = pushed_out_of != NULL ? pushed_out_of : pushed;
	result.used = used;
	if (advice->nunits > 0 && ntiers > 0)
		tier_solver_solve(&problem, &result);
	pfree(cost);
	pfree(price);
	pfree(size);
	pfree(current);
	pfree(used);
	return chosen;
}

/*
 * A standby has counters of its own, which say nothing about what is stored,
 * the primary's: there the advice is from memory alone.
 */
static void
use_stored_counters(TierRelationState *states, int nstates,
					const TierRelationState *stored, int nstored)
{
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *before = find_state(stored, nstored, states[i].relation_oid);

		if (before != NULL)
			states[i].counters = before->counters;
		else
			memset(&states[i].counters, 0, sizeof(TierCounters));
	}
}

TierAdvice *
tier_advice_make(void)
{
	TierAdvice *advice = palloc0(sizeof(TierAdvice));
	MemoryContext context = CurrentMemoryContext;
	TimestampTz now = tier_clock_now();
	TierCatalogScope scope;
	TierRelationState *stored;
	TierRelationState *states;
	TierPolicyRow *policies;
	TimestampTz last_sample_at;
	int			nstored;
	int			nstates;
	int			npolicies;
	int		   *low;
	int		   *middle;
	int		   *high;
	int		   *pushed;

	/* 1. Load: what is remembered, what is now. */
	tier_catalog_enter(&scope);
	advice->set = tier_catalog_load_tiers(context);
	stored = tier_catalog_load_states(context, &nstored, &last_sample_at);
	policies = tier_catalog_load_policies(context, &npolicies);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	states = tier_sample_collect(&nstates);
	if (RecoveryInProgress())
		use_stored_counters(states, nstates, stored, nstored);
	(void) tier_sample_merge(states, nstates, stored, nstored, last_sample_at, now,
							 tier_sample_statistics_since());
	build_units(advice, states, nstates, now);
	mark_policies(advice, policies, npolicies);
	compute_available(advice);

	/* 2. Decide, for the middle and both bounds of what is not known. */
	for (int i = 0; i < advice->nunits; i++)
		advice->units[i].confidence =
			advice->units[i].observed_s < tier_observation_period_min * 60.0 ?
			TIER_CONFIDENCE_INSUFFICIENT : TIER_CONFIDENCE_FIRM;
	pushed = palloc_extended(sizeof(int) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	low = solve(advice, 0, NULL);
	high = solve(advice, 2, NULL);
	middle = solve(advice, 1, pushed);
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		unit->recommended_tier = unit->current_tier < 0 ? -1 : middle[i];
		unit->wanted_tier = unit->current_tier < 0 ? -1 : pushed[i];
		if (unit->confidence == TIER_CONFIDENCE_FIRM && (low[i] != middle[i] || high[i] != middle[i]))
			unit->confidence = TIER_CONFIDENCE_TENTATIVE;
	}
	return advice;
}

const char *
tier_advice_confidence_text(TierConfidence confidence)
{
	switch (confidence)
	{
		case TIER_CONFIDENCE_FIRM:
			return "firm";
		case TIER_CONFIDENCE_TENTATIVE:
			return "tentative";
		case TIER_CONFIDENCE_INSUFFICIENT:
			break;
	}
	return "insufficient data";
}

/* "3 minutes", "5 hours", "12 days" */
static char *
duration_text(double seconds)
{
	if (seconds < 2 * 3600)
		return psprintf("%.0f minutes", seconds / 60);
	if (seconds < 2 * 86400)
		return psprintf("%.0f hours", seconds / 3600);
	return psprintf("%.0f days", seconds / 86400);
}

/* What it does, in numbers. */
static char *
load_text(const TierAdviceUnit *unit)
{
	double		reads = unit->load.random_reads + unit->load.sequential_reads;
	double		requests = reads + unit->hits_per_hour;

	if (reads < 0.05 && unit->load.page_writes < 0.05)
		return psprintf("it causes no I/O (%.0f%% cached)", 100.0 * unit->cached_fraction);
	return psprintf("%.0f%% of its %.0f block requests per hour miss shared buffers (%.0f random, %.0f sequential), %.0f pages per hour are written",
					requests <= 0 ? 0.0 : 100.0 * reads / requests, requests,
					unit->load.random_reads, unit->load.sequential_reads, unit->load.page_writes);
}

char *
tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	const TierTier *tiers = advice->set->tiers;
	int			from = unit->current_tier;
	int			to = unit->recommended_tier;
	StringInfoData buffer;

	if (from < 0)
		return pstrdup("its tablespace belongs to no tier");

	initStringInfo(&buffer);
	appendStringInfoString(&buffer, load_text(unit));
	if (to == from)
	{
		appendStringInfo(&buffer, "; it stays on %s, where that takes %.2f s of device time per hour",
						 NameStr(tiers[from].name), tier_advice_busy(advice, unit, from));
		if (unit->policy_tier >= 0)
			appendStringInfoString(&buffer, ", because a tiering policy has put it there");
	}
	else
	{
		double		saved = tier_advice_busy(advice, unit, from) - tier_advice_busy(advice, unit, to);
		double		cheaper = tier_advice_price(advice, unit, from) - tier_advice_price(advice, unit, to);

		if (saved > 0)
			appendStringInfo(&buffer, "; on %s this takes %.2f s of device time per hour instead of %.2f s on %s",
							 NameStr(tiers[to].name), tier_advice_busy(advice, unit, to),
							 tier_advice_busy(advice, unit, from), NameStr(tiers[from].name));
		else
			appendStringInfo(&buffer, "; on %s it costs %.4f less per month%s and %.3f s more device time per hour",
							 NameStr(tiers[to].name), cheaper,
							 tiers[to].price_is_assumed || tiers[from].price_is_assumed ? " (at assumed prices)" : "",
							 Max(-saved, 0.0));
	}
	if (unit->wanted_tier >= 0 && unit->wanted_tier != to)
		appendStringInfo(&buffer, "; %s would be better, but is full", NameStr(tiers[unit->wanted_tier].name));
	if (unit->confidence == TIER_CONFIDENCE_INSUFFICIENT)
		appendStringInfo(&buffer, "; observed for %s only", duration_text(unit->observed_s));
	else if (unit->confidence == TIER_CONFIDENCE_TENTATIVE)
		appendStringInfo(&buffer, "; depends on how many of its reads are sequential, %.0f to %.0f per hour",
						 unit->sequential_low, unit->sequential_high);
	return buffer.data;
}

char *
tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	TierRelationInfo info;

	if (unit->recommended_tier < 0 || unit->recommended_tier == unit->current_tier ||
		!tier_relation_lookup(unit->relation_oid, &info))
		return NULL;
	return psprintf("CALL tiered_storage.move_relation(%s, %s%s)",
					quote_literal_cstr(info.name),
					quote_literal_cstr(NameStr(advice->set->tiers[unit->recommended_tier].name)),
					unit->kind == RELKIND_INDEX ? "" : ", include_indexes => false");
}
