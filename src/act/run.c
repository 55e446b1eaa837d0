/*-------------------------------------------------------------------------
 *
 * act/run.c
 *		A run: carrying the plan out.
 *
 * Runs in the worker and in sessions that CALL migrate() or apply_placement(). The plan
 * (act/plan.h) is made from one state; then its moves are made one after the other, in its order.
 * Each move is a series of transactions, and is checked again before it (act/recheck.h). A
 * relation that fails does not stop the others.  A relation is tried once in a run.
 *
 * A new plan is made when the plan is outdated: a tier has become too full, or was not emptied
 * enough by the planned moves; or the plan is old.
 *
 * A move for a tiering policy uses the rights of the role that made the policy; a move of
 * apply_placement(), those of the caller.  Automatic moves by the load use those of the owner of
 * the relation: a role without CREATE on a tablespace gets no room there by heating a table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "src/act/batch.h"
#include "src/act/claims.h"
#include "src/act/level.h"
#include "src/act/run.h"
#include "src/act/run_state.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/move/pending_file.h"

/* A plan is not made again before the run has taken so many times as long as the plan. */
#define LEAST_USE_OF_PLAN 10

/* ---------------------------------------------------------------------
 * The walk
 * ---------------------------------------------------------------------
 */

/*
 * Returns true if a tier is above the mark of its fullness policy that the plan does not expect
 * to be above it after this entry.
 */
static bool
is_too_full(TierRun *run, const TierPlanEntry *entry)
{
	const TierSet *set = run->plan->set;
	bool		is_any = false;
	ListCell   *cell;

	MemoryContextReset(run->step);
	MemoryContextSwitchTo(run->step);
	foreach(cell, tier_levels_above_now())
	{
		int			tier = tier_set_find_tier(set, lfirst(cell));
		bool		is_held_up = false;
		ListCell   *other;

		foreach(other, run->emptyings)
		{
			const TierEmptying *emptying = lfirst(other);

			is_held_up = is_held_up ||
				(strcmp(NameStr(emptying->tier_name), lfirst(cell)) == 0 &&
				 emptying->held_up != NULL);
		}
		is_any = is_any || (!is_held_up && (tier < 0 || !bms_is_member(tier, entry->above)));
	}
	tier_transaction_commit();
	MemoryContextSwitchTo(run->context);
	return is_any;
}

/* Returns true if the plan is outdated.  Called after a move. */
static bool
is_outdated(TierRun *run, const TierPlanEntry *entry)
{
	int64		age_us = tier_clock_monotonic_us() - run->planned_us;

	if (run->options.apply != NULL)
		return false;

	/*
	 * The first time at once; but a tier may be above its mark again after
	 * each move.
	 */
	if (run->was_too_full && age_us <= LEAST_USE_OF_PLAN * run->planning_us)
		return false;
	run->was_too_full = is_too_full(run, entry);
	return run->was_too_full ||
		age_us > Max(tier_migrate_interval_s * USECS_PER_SEC,
					 LEAST_USE_OF_PLAN * run->planning_us);
}

static bool
is_switched_off(const TierRun *run, const TierPlanEntry *entry)
{
	return run->options.by_worker &&
		tier_batch_is_switched_off(entry->source == TIER_SOURCE_ADVICE ?
								   TIER_AUTO_MIGRATE_PLACEMENT : TIER_AUTO_MIGRATE_POLICIES);
}

/* Entry i, if it is its turn. */
static void
visit(TierRun *run, int i)
{
	TierPlanEntry *entry = &run->plan->entries[i];
	int			ended = run->ended;

	CHECK_FOR_INTERRUPTS();
	run->recheck.next = i;
	if (run->emptying != NULL && (entry->source != TIER_SOURCE_FULLNESS ||
								  entry->policy_id != run->emptying->policy_id))
		tier_run_end_emptying(run);
	if (i == run->plan->cut_at && run->tried > 0)
		run->is_stale = true;
	if (run->is_stale)
		return;
	run->recheck.next = i + 1;
	if (entry->source == TIER_SOURCE_ADVICE)
		tier_run_begin_advice(run);
	if (!tier_run_is_to_try(entry) || (entry->source == TIER_SOURCE_ADVICE && run->skips_advice))
		return;
	run->is_over = is_switched_off(run, entry);
	if (run->is_over)
		return;
	if (entry->source == TIER_SOURCE_FULLNESS && !tier_run_begin_emptying(run, entry))
		return;
	tier_debug_point(entry->source == TIER_SOURCE_FULLNESS ? "leaving" : "between_moves");
	tier_run_take_turn(run, entry);
	if (entry->source == TIER_SOURCE_FULLNESS)
		tier_debug_point("looked_at");
	if (run->idle != NULL && run->idle->is_due())
		run->idle->run();
	MemoryContextSwitchTo(run->context);
	if (!run->is_over && run->tried > 0 && run->ended > ended && is_outdated(run, entry))
		run->is_stale = true;
}

static void
walk(TierRun *run)
{
	for (int i = 0; i < run->plan->n && !run->is_over && !run->is_stale; i++)
		visit(run, i);
	tier_run_end_emptying(run);
	if (!run->is_over && !run->is_stale && run->plan->advice != NULL)
		tier_run_begin_advice(run);
	if (!run->is_over && !run->is_stale && run->tried > 0 && run->options.apply == NULL)
		run->is_stale = is_too_full(run, &run->plan->entries[run->plan->n - 1]);
}

/* ---------------------------------------------------------------------
 * Plans
 * ---------------------------------------------------------------------
 */

/* The result of an evaluation; n: its leaves by verdict. */
static const char *
result_of(const TierEvaluation *evaluation, const int *n)
{
	if (evaluation->error != NULL)
		return evaluation->error;
	if (evaluation->policy->on_shards && evaluation->nleaves == 0)
		return "its rows are in shards of Citus, none of which is on this node";
	return psprintf("%d of %d were due%s%s%s", n[TIER_VERDICT_DUE], evaluation->nleaves,
					n[TIER_VERDICT_RETURNS] == 0 ? "" :
					psprintf(", %d return", n[TIER_VERDICT_RETURNS]),
					n[TIER_VERDICT_PINNED] == 0 ? "" :
					psprintf(", %d pinned to another tier", n[TIER_VERDICT_PINNED]),
					n[TIER_VERDICT_ERROR] == 0 ? "" :
					psprintf(", %d left out after errors", n[TIER_VERDICT_ERROR]));
}

/* For the view of policies.  begun: ids of fullness policies whose result is known already. */
static void
record_evaluations(const TierPlan *plan, const List *begun)
{
	const TierPolicyCandidates *due = plan->due;
	TierCatalogScope scope;

	if (due == NULL || !tier_catalog_try_enter(&scope))
		return;
	for (int i = 0; i < due->nevaluations; i++)
	{
		const TierEvaluation *evaluation = due->evaluations[i];
		int			n[TIER_VERDICT_ERROR + 1] = {0};
		TierPolicyResult result = {.fill = NAN,.leaving = -1};

		for (int j = 0; j < evaluation->nleaves; j++)
			n[evaluation->leaves[j].verdict]++;
		result.due = n[TIER_VERDICT_DUE];
		result.on_target = n[TIER_VERDICT_ON_TARGET];
		result.text = result_of(evaluation, n);
		tier_catalog_policy_evaluated(evaluation->policy->policy_id, &result);
	}
	for (int i = 0; i < plan->nfullness; i++)
	{
		const TierPlanFullness *fullness = &plan->fullness[i];
		const char *summary = fullness->closed == NULL ? fullness->summary :
		psprintf("%s; %s", fullness->summary, fullness->closed);
		TierPolicyResult result = {
			-1, -1, fullness->share, fullness->leaving, tier_catalog_clip(summary)
		};

		if (!list_member_int(begun, fullness->policy.policy_id))
			tier_catalog_policy_evaluated(fullness->policy.policy_id, &result);
	}
	tier_catalog_leave(&scope);
}

static void
store_step(void *argument)
{
	tier_plan_store(argument);
}

/* That the plan is not stored is no reason not to carry it out. */
static void
store(TierPlan *plan)
{
	ErrorData  *error;

	if (plan->due == NULL)
		return;					/* only moves that are advised to a session */
	error = tier_attempt(store_step, plan);
	if (error != NULL && tier_error_is_about_all(error))
		ReThrowError(error);
	if (error != NULL)
		ereport(LOG, (errmsg("could not store the plan of moves: %s", error->message)));
}

/* False: the extension has gone. */
static bool
make_plan(TierRun *run)
{
	int64		began_us = tier_clock_monotonic_us();
	TierRunSummary *summary = run->summary;
	ListCell   *cell;

	summary->counts.waiting = summary->emptied.counts.waiting = 0;
	summary->applied.counts.waiting = 0;
	foreach(cell, run->emptyings)
		((TierEmptying *) lfirst(cell))->waiting = 0;
	MemoryContextReset(run->plan_context);
	MemoryContextSwitchTo(run->plan_context);
	run->plan = tier_plan_make(&run->options);
	if (run->plan != NULL)
	{
		tier_claims_require(run->plan->set, false);
		record_evaluations(run->plan, run->options.begun);
		store(run->plan);
	}
	tier_transaction_commit();
	MemoryContextSwitchTo(run->context);
	run->recheck = (TierRecheck)
	{
		.plan = run->plan,.begun = run->options.begun
	};
	run->planned_us = tier_clock_monotonic_us();
	run->planning_us = run->planned_us - began_us;
	run->tried = 0;
	run->is_stale = false;
	return run->plan != NULL;
}

/* The first plan reports the request; tiers may become too full later. */
static void
count_plan(const TierPlan *plan, bool is_first, TierRunSummary *summary)
{
	TierFullnessSummary *emptied = &summary->emptied;

	if (!is_first)
	{
		emptied->too_full = Max(emptied->too_full, plan->emptied.too_full);
		emptied->leaving = Max(emptied->leaving, plan->emptied.leaving);
		return;
	}
	summary->emptied = plan->emptied;
	if (plan->due == NULL)
		return;
	summary->policies = plan->due->policies;
	summary->policy_due_at = plan->due->policy_due_at;
	summary->disabled = plan->due->policies - plan->due->nevaluations;
	summary->failed = plan->due->failed;
	summary->partitions = plan->due->partitions;
	summary->due = plan->due->nleaves;
}

/* ---------------------------------------------------------------------
 * The run
 * ---------------------------------------------------------------------
 */

/* The batches.  Each plan but the last has had something tried, which no later plan has. */
static void
run_plans(void *argument)
{
	TierRun    *run = argument;

	do
	{
		bool		is_first = run->plan == NULL;

		if (!make_plan(run))
			return;
		count_plan(run->plan, is_first, run->summary);
		if (is_first)
		{
			tier_pending_sweep();
			tier_transaction_commit();
			tier_pass_begin(&run->checks, TIER_STEP_PLAN);
			tier_pass_begin(&run->moves, TIER_STEP_MOVE);
		}
		MemoryContextSwitchTo(run->context);
		walk(run);
	} while (run->is_stale && !run->is_over && run->tried > 0);
	tier_pass_end(&run->checks);
	tier_pass_end(&run->moves);
}

static char *
copy_text(const char *from)
{
	return from == NULL ? NULL : pstrdup(from);
}

TierRunSummary
tier_run(const TierPlanOptions *options, const TierIdle *idle)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "tiered_storage run",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierRunSummary summary = {0};
	TierRun		run = {
		.options = *options,.idle = idle,.summary = &summary,.context = context,
		.plan_context = AllocSetContextCreate(context, "tiered_storage plan",
											  ALLOCSET_DEFAULT_SIZES),
		.step = AllocSetContextCreate(context, "tiered_storage step", ALLOCSET_DEFAULT_SIZES)
	};

	run.options.refreshes = true;
	if (options->apply != NULL)
		run.is_alone = tier_batch_lock_alone(&run.alone);
	summary.applied.is_busy = options->apply != NULL && !run.is_alone;
	PG_TRY();
	{
		if (!summary.applied.is_busy)
			tier_batch_run(run_plans, &run);
	}
	PG_FINALLY();
	{
		if (run.is_alone)
			LockRelease(&run.alone, ExclusiveLock, true);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old_context);
	summary.why_waiting = copy_text(summary.why_waiting);
	summary.applied.why_waiting = copy_text(summary.applied.why_waiting);
	MemoryContextDelete(context);
	return summary;
}

/* Counts the moves that tiering policies would make now. */
static void
count_ready(const TierPlan *plan, TierRunSummary *summary)
{
	for (int i = 0; i < plan->n; i++)
	{
		const TierPlanEntry *entry = &plan->entries[i];

		if (entry->is_void || entry->state != TIER_PLAN_READY ||
			entry->source == TIER_SOURCE_FULLNESS || entry->source == TIER_SOURCE_ADVICE)
			continue;
		summary->due_relations++;
		summary->due_bytes += entry->bytes;
	}
}

TierRunSummary
tier_run_dry(const TierPlanOptions *options)
{
	TierPlan   *plan = tier_plan_make(options);
	TierRunSummary summary = {0};

	tier_claims_require(plan->set, true);
	tier_plan_print(plan);
	count_plan(plan, true, &summary);
	count_ready(plan, &summary);
	summary.applied = plan->applied;
	summary.placement = plan->advice != NULL && plan->request.max_bytes > 0;
	return summary;
}

void
tier_run_plan(void)
{
	const TierPlanOptions options = {.by_worker = true,.refreshes = true};
	TierPass	pass;
	TierPlan   *plan;

	tier_pass_begin(&pass, TIER_STEP_PLAN);
	plan = tier_plan_make(&options);
	if (plan == NULL)
		return;
	record_evaluations(plan, NIL);
	store(plan);
	tier_pass_end(&pass);
}
