/*-------------------------------------------------------------------------
 *
 * act/plan_make.c
 *		The plan: all moves that are wanted, in their order.
 *
 * See act/plan.h.  First what tiering policies ask for, in the order of act/policy_candidates.c;
 * in between, as soon as a tier is too full, what leaves it; then what is advised.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/act/claims.h"
#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/act/plan_state.h"
#include "src/base/settings.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"

/*
 * So often a plan looks what leaves tiers that become too full in the course of it, which takes as
 * long as a piece of advice; the last time at its end.
 */
#define MOST_FORETOLD 8

/* ---------------------------------------------------------------------
 * The sources
 * ---------------------------------------------------------------------
 */

static void
add_running(TierPlanning *planning, const TierRunningMove *moves, int n)
{
	for (int i = 0; i < n; i++)
	{
		TierPlanEntry *entry = tier_plan_add_entry(planning, moves[i].relation_oid);

		if (entry != NULL)
			entry->state = TIER_PLAN_RUNNING;
	}
}

/* What add_leaving() is given: a TierFullnessAdd's arguments. */
typedef struct Leaving
{
	const TierFullnessEvaluation *evaluation;
	int			i;
	const char *closed;
} Leaving;

/* Does it leave, now or when what it waits for is over? */
static bool
add_leaving(TierPlanning *planning, void *argument)
{
	const Leaving *leaving = argument;
	const char *closed = leaving->closed;
	TierMoveRequest request = tier_plan_fullness_request(leaving->evaluation, leaving->i);
	int			to_tier = tier_set_tier_of_tablespace(planning->set, request.tablespace_oid);
	TierRelationInfo info;
	TierPlanEntry *entry = tier_plan_begin_entry(planning, &request, TIER_SOURCE_FULLNESS,
												 to_tier, &info);
	bool		comes = false;

	if (entry == NULL)
		return false;
	if (closed != NULL && entry->state == TIER_PLAN_READY)
		tier_plan_set_waiting(entry, planning->held_up == NULL ? pstrdup(closed) :
							  planning->held_up);
	else
		comes = tier_plan_judge(planning, entry, &request, &info).comes;
	tier_plan_note_above(planning);
	return comes;
}

/* A TierFullnessAdd. */
static bool
add_member_of_tier(void *argument, const TierFullnessEvaluation *evaluation, int i,
				   const char *closed)
{
	Leaving		leaving = {evaluation, i, closed};

	return tier_plan_add(argument, evaluation->members[i].unit->relation_oid, add_leaving,
						 &leaving);
}

/* What is looked at for that is no longer needed after it, and it may be often. */
static void
add_all_leaving(TierPlanning *planning)
{
	MemoryContext context = AllocSetContextCreate(planning->context, "tiered_storage emptying",
												  ALLOCSET_DEFAULT_SIZES);
	TierFullnessSource source = {
		.question = {.flight = tier_foresight_flight,.argument = planning->foresight,
		.begun = planning->options->begun},
		.ignore_windows = planning->options->ignore_windows,
		.add = add_member_of_tier,.argument = planning
	};
	TierFullnessQuestion *question = &source.question;
	TierCatalogScope scope;
	List	   *leaving;

	MemoryContextSwitchTo(context);
	if (planning->options->by_worker)
	{
		tier_catalog_enter(&scope);
		source.backoff = tier_catalog_load_backoff(context, &source.nbackoff);
		tier_catalog_leave(&scope);
	}
	question->moved = tier_sorted_oids(planning->begun, &question->nmoved);
	question->returning = tier_sorted_oids(planning->returning, &question->nreturning);
	question->in_vain = tier_sorted_oids(planning->in_vain, &question->nin_vain);
	question->not_yet = tier_level_names(planning->set, planning->first);
	leaving = tier_plan_add_fullness(&source, planning->plan);
	MemoryContextSwitchTo(planning->context);
	planning->nforetold++;
	planning->has_emptied = planning->first == NULL;
	planning->stuck = bms_difference(tier_foresight_above(planning->foresight), planning->first);
	planning->begun = list_concat(planning->begun, list_copy(leaving));
	planning->emptied_begun = list_length(planning->begun);
	MemoryContextDelete(context);
}

/* What waits for tiers that are too full comes after what leaves these. */
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

/* What add_member() is given. */
typedef struct Member
{
	const TierPolicyCandidate *job;
	Oid			relation_oid;
} Member;

static bool
add_member(TierPlanning *planning, void *argument)
{
	const TierPolicyCandidate *job = ((const Member *) argument)->job;
	Oid			relation_oid = ((const Member *) argument)->relation_oid;
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
		return false;
	tier_foresight_choose(planning->foresight, &request);
	to_tier = tier_partition_target(job->evaluation, job->leaf, relation_oid);
	entry = tier_plan_begin_entry(planning, &request, source, to_tier, &info);
	if (entry == NULL)
		return false;
	entry->job = job;
	if (source == TIER_SOURCE_RETURN && entry->state == TIER_PLAN_READY &&
		entry->bytes > plan->left_bytes)
	{
		entry->is_beyond_limit = true;
		tier_plan_set_waiting(entry, tier_plan_limit_text(entry, plan->left_bytes));
		tier_plan_note_above(planning);
		return false;
	}
	prospect = tier_plan_judge(planning, entry, &request, &info);
	tier_plan_note_above(planning);
	if (prospect.obstacle.message != NULL)
		tier_plan_set_in_vain(planning, relation_oid);
	if (!prospect.begins)
		return false;
	planning->begun = lappend_oid(planning->begun, relation_oid);

	/* What does not begin takes nothing of the limit, as in a pause. */
	if (source == TIER_SOURCE_RETURN && planning->held_up == NULL)
		plan->left_bytes -= entry->bytes;
	return true;
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
				add_all_leaving(planning);
			else if (planning->plan->cut_at < 0)
				planning->plan->cut_at = planning->plan->n;
		}
		foreach(cell, due->jobs[i].members)
		{
			Member		member = {&due->jobs[i], lfirst_oid(cell)};

			(void) tier_plan_add(planning, member.relation_oid, add_member, &member);
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
		return "waiting: the server is a standby, or recovers";
	if (tier_throttle_is_paused())
		return "waiting: moves are paused, see resume()";
	conflict = tier_claims_find_conflict(set);
	return conflict == NULL ? NULL : psprintf("waiting: %s", conflict);
}

/* What the record of moves says; with the bytes that may still be moved today. */
static void
load_record(TierPlanning *planning)
{
	TierCatalogScope scope;
	TierRunningMove *running;
	int			nrunning;

	tier_catalog_enter(&scope);
	planning->failed = tier_catalog_load_failed_moves(planning->context, &planning->nfailed);
	running = tier_catalog_load_running_moves(planning->context, &nrunning);
	if (tier_move_limit_per_day_mb >= 0)
		planning->plan->left_bytes = Max(tier_return_limit_left(), 0.0);
	tier_catalog_leave(&scope);
	if (planning->options->apply == NULL)
		add_running(planning, running, nrunning);
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
		add_all_leaving(planning);
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
		tier_catalog_refresh_identities();
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
 * What is stored
 * ---------------------------------------------------------------------
 */

void
tier_plan_store(const TierPlan *plan)
{
	MemoryContext context = CurrentMemoryContext;

	/* A pause is looked up when the plan is shown. */
	TierStoredMove *moves = palloc_extended(sizeof(TierStoredMove) * Max(plan->n, 1),
											MCXT_ALLOC_HUGE);
	TierCatalogScope scope;
	int			n = 0;

	for (int i = 0; i < plan->n && n < TIER_MOST_STORED_MOVES; i++)
	{
		const TierPlanEntry *entry = &plan->entries[i];

		if (entry->is_void || entry->state == TIER_PLAN_RUNNING)
			continue;
		moves[n++] = (TierStoredMove)
		{
			.relation_oid = entry->relation_oid,
				.from_tablespace_oid = entry->from_tablespace_oid,
				.to_tablespace_oid = entry->to_tablespace_oid,
				.from_tier = entry->from_tier,.to_tier = entry->to_tier,
				.source = (int) entry->source,.policy_id = entry->policy_id,
				.waits_for = entry->reason == plan->paused ? NULL : entry->reason
		};
	}
	if (tier_catalog_try_enter(&scope))
	{
		tier_catalog_store_plan(moves, n);
		tier_catalog_leave(&scope);
	}
	MemoryContextSwitchTo(context);
	pfree(moves);
}
