/*-------------------------------------------------------------------------
 *
 * act/plan_make.c
 *		The plan: all moves that are wanted, in their order.
 *
 * See act/plan.h.  First the moves of tiering policies, in the order of act/policy_candidates.c;
 * in between, as soon as a tier is too full, the moves that leave it; then the advised moves.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/snapmgr.h"

#include "src/act/claims.h"
#include "src/act/gate.h"
#include "src/act/plan_state.h"
#include "src/base/settings.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"

/*
 * How often a plan evaluates the tiers that become too full in the course of it, which takes as
 * long as an advice; the last time at its end.
 */
#define MOST_FORETOLD 8

/* ---------------------------------------------------------------------
 * The sources
 * ---------------------------------------------------------------------
 */

/* Moves to tiers that are too full come after the moves that leave these. */
static bool
is_too_full(const TierPlanning *planning)
{
	if (planning->options->begun != NIL && planning->nforetold == 0)
		return true;
	return bms_nonempty_difference(bms_difference(tier_foresight_above(planning->foresight),
												  planning->first), planning->stuck);
}

static TierPlanSource
source_of(const TierPolicyCandidate *job)
{
	if (job->leaf->verdict == TIER_VERDICT_RETURNS)
		return TIER_SOURCE_RETURN;
	return tier_policy_asks_for_use(job->evaluation->policy) ? TIER_SOURCE_USE : TIER_SOURCE_AGE;
}

static void
add_member(void *argument)
{
	TierPlanItem *item = argument;
	TierPlanning *planning = item->planning;
	const TierPolicyCandidate *job = item->job;
	Oid			relation_oid = item->relation_oid;
	TierPlan   *plan = planning->plan;
	TierMoveRequest request = tier_policy_candidate_request(job, planning->set, relation_oid);
	TierPlanSource source = source_of(job);
	int			to_tier;
	TierPlanEntry *entry;
	TierRelationInfo info;
	TierProspect prospect;

	if (source == TIER_SOURCE_RETURN)
		planning->returning = lappend_oid(planning->returning, relation_oid);
	if (tier_plan_was_tried(planning, relation_oid))
		return;
	tier_foresight_choose(planning->foresight, &request);
	to_tier = tier_partition_target(job->evaluation, job->leaf, relation_oid);
	entry = tier_plan_begin_entry(planning, &request, source, to_tier, &info);
	if (entry == NULL)
		return;
	entry->job = job;
	if (source == TIER_SOURCE_RETURN && entry->state == TIER_PLAN_READY &&
		entry->bytes > plan->left_bytes)
	{
		entry->is_beyond_limit = true;
		tier_plan_set_waiting(entry, tier_plan_limit_text(entry, plan->left_bytes));
		tier_plan_note_above(planning);
		return;
	}
	prospect = tier_plan_judge(planning, entry, &request, &info);
	tier_plan_note_above(planning);
	if (prospect.obstacle.message != NULL)
		tier_plan_set_in_vain(planning, relation_oid);
	if (!prospect.begins)
		return;
	planning->begun = lappend_oid(planning->begun, relation_oid);

	/*
	 * A move that does not begin, as in a pause, takes nothing of the limit.
	 */
	if (source == TIER_SOURCE_RETURN && planning->held_up == NULL)
		plan->left_bytes -= entry->bytes;
}

static void
add_due(TierPlanning *planning, const TierPolicyCandidates *due)
{
	for (int i = 0; i < due->njobs; i++)
	{
		ListCell   *cell;

		if (!due->jobs[i].comes_first)
			planning->first = NULL;
		if (is_too_full(planning))
		{
			if (planning->nforetold < MOST_FORETOLD - 1)
				tier_plan_add_leaving(planning);
			else if (planning->plan->cut_at < 0)
				planning->plan->cut_at = planning->plan->n;
		}
		foreach(cell, due->jobs[i].members)
		{
			TierPlanItem item = {
				.planning = planning,.relation_oid = lfirst_oid(cell),.job = &due->jobs[i]
			};

			(void) tier_plan_add(&item, add_member);
		}
	}
}

/* ---------------------------------------------------------------------
 * The plan
 * ---------------------------------------------------------------------
 */

static const char *
held_up_text(const TierSet *set)
{
	char	   *conflict;

	if (RecoveryInProgress())
		return "waiting: the server is in recovery";
	if (tier_throttle_is_paused())
		return "waiting: moves are paused, see resume()";
	conflict = tier_claims_find_conflict(set);
	return conflict == NULL ? NULL : psprintf("waiting: %s", conflict);
}

/* Loads the record of moves; with the bytes that may still be moved today. */
static void
load_record(TierPlanning *planning)
{
	TierCatalogScope scope;
	List	   *oids = NIL;
	Oid		   *running;
	int			nrunning;

	tier_catalog_enter(&scope);
	if (planning->options->by_worker)
		planning->backoff = tier_catalog_load_backoff(planning->context, &planning->nbackoff);
	running = tier_catalog_load_running(planning->context, &nrunning);
	if (tier_move_limit_per_day_mb >= 0)
		planning->plan->left_bytes = Max(tier_return_limit_left(), 0.0);
	tier_catalog_leave(&scope);
	for (int i = 0; i < nrunning && planning->options->apply == NULL; i++)
		oids = lappend_oid(oids, running[i]);
	tier_plan_add_tried(planning, oids, false);
}

static void
add_wanted(TierPlanning *planning, const TierPolicyCandidates *due)
{
	TierPlan   *plan = planning->plan;

	planning->first = tier_foresight_above(planning->foresight);
	add_due(planning, due);
	planning->first = NULL;
	if (list_length(planning->begun) != planning->emptied_begun)
		planning->stuck = NULL;
	if (!planning->has_emptied || is_too_full(planning))
		tier_plan_add_leaving(planning);
	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
		return;
	plan->request = (TierApplyRequest)
	{
		.least = TIER_CONFIDENCE_FIRM,.max_bytes = plan->left_bytes,.for_owners = true,
			.by_worker = planning->options->by_worker
	};
	tier_plan_add_advised(planning);
}

/*
 * Tiers, pins and, on the same snapshot, policies, npolicies of them; false: the extension has
 * gone.
 */
static bool
load_tiers(TierPlanning *planning, TierPolicyRow **policies, int *npolicies)
{
	const TierPlanOptions *options = planning->options;
	TierCatalogScope scope;

	if (!options->by_worker)
		tier_catalog_enter(&scope);
	else if (!tier_catalog_try_enter(&scope))
		return false;
	if (options->refreshes)
	{
		tier_catalog_lock_tables();
		tier_catalog_refresh_identities();
	}
	tier_catalog_hold_snapshot(true);
	planning->plan->set = planning->set = tier_catalog_load_tiers(planning->context);
	planning->pins = tier_catalog_load_pins(planning->context);
	*policies = tier_catalog_load_policies(planning->context, npolicies);
	tier_catalog_leave(&scope);
	return true;
}

TierPlan *
tier_plan_make(const TierPlanOptions *options)
{
	TierPlan   *plan = palloc0(sizeof(TierPlan));
	TierPlanning planning = {
		.options = options,.plan = plan,.room = 64,.context = CurrentMemoryContext
	};
	TierPolicyRow *policies;
	int			npolicies;

	tier_gate_forget();
	if (!load_tiers(&planning, &policies, &npolicies))
		return NULL;
	if (options->apply == NULL)
		plan->due = tier_policy_candidates_find(policies, npolicies, plan->set, planning.pins,
												options->by_worker && options->refreshes);
	plan->entries = palloc(sizeof(TierPlanEntry) * planning.room);
	plan->cut_at = -1;
	plan->left_bytes = INFINITY;
	tier_pass_begin(&planning.pass, TIER_STEP_PLAN);
	planning.listed = tier_plan_create_list();
	tier_plan_add_tried(&planning, options->tried, false);
	tier_plan_add_tried(&planning, options->in_vain, true);
	planning.foresight = tier_foresight_create(plan->set);
	planning.held_up = options->apply == NULL ? held_up_text(plan->set) : NULL;
	plan->paused = tier_throttle_is_paused() ? planning.held_up : NULL;
	PushActiveSnapshot(GetTransactionSnapshot());
	load_record(&planning);
	if (options->apply == NULL)
		add_wanted(&planning, plan->due);
	else
	{
		plan->request = *options->apply;
		tier_plan_add_advised(&planning);
	}
	PopActiveSnapshot();
	hash_destroy(planning.listed);
	return plan;
}

/* ---------------------------------------------------------------------
 * The stored plan
 * ---------------------------------------------------------------------
 */

TierStoredMove *
tier_plan_moves(const TierPlan *plan, int *n)
{
	TierStoredMove *moves = palloc_extended(sizeof(TierStoredMove) * Max(plan->n, 1),
											MCXT_ALLOC_HUGE);

	*n = 0;
	for (int i = 0; i < plan->n; i++)
	{
		const TierPlanEntry *entry = &plan->entries[i];

		if (entry->is_void)
			continue;

		/* A pause is looked up when the plan is shown. */
		moves[(*n)++] = (TierStoredMove)
		{
			.relation_oid = entry->relation_oid,
				.from_tablespace_oid = entry->from_tablespace_oid,
				.to_tablespace_oid = entry->to_tablespace_oid,
				.from_tier = entry->from_tier,.to_tier = entry->to_tier,
				.source = (int) entry->source,.policy_id = entry->policy_id,
				.waits_for = entry->reason == plan->paused ? NULL : entry->reason
		};
	}
	return moves;
}

void
tier_plan_store(const TierPlan *plan)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	int			n;
	TierStoredMove *moves = tier_plan_moves(plan, &n);

	if (tier_catalog_try_enter(&scope))
	{
		tier_catalog_store_plan(moves, Min(n, TIER_MOST_STORED_MOVES));
		tier_catalog_leave(&scope);
	}
	MemoryContextSwitchTo(context);
	pfree(moves);
}
