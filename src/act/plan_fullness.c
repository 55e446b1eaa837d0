/*-------------------------------------------------------------------------
 *
 * act/plan_fullness.c
 *		The part of the plan that fullness policies ask for.
 *
 * Tiers are emptied from the slowest on, which makes room for the next.  After each relation that
 * leaves, the next one is decided again, on a forecast of the fullness of the tier.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/act/plan_state.h"
#include "src/base/by_oid.h"
#include "src/server/relation.h"
#include "src/storage/file_size.h"

/*
 * How urgent its moves are: until the tier is below its high watermark, including the bytes about
 * to arrive.
 */
static TierPressing
pressing_of(const TierFullnessEvaluation *evaluation)
{
	const TierFullnessProblem *problem = &evaluation->problem;

	return tier_fullness_bytes(&problem->level) > problem->level.capacity_bytes * problem->high ?
		TIER_PRESSING_YES : TIER_PRESSING_NO;
}

static TierMoveRequest
request_of(const TierFullnessEvaluation *evaluation, int i)
{
	TierMoveRequest request = {0};

	request.relation_oid = evaluation->members[i].unit->relation_oid;
	request.tablespace_oid = evaluation->members[i].to_tablespace;
	request.requester_oid = evaluation->members[i].owner_oid;
	request.for_owner = true;
	request.policy_id = evaluation->policy->policy_id;
	request.policy_kind = TIER_POLICY_FULLNESS;
	request.mark = TIER_MARK_HIGH;
	request.pressing = pressing_of(evaluation);
	request.predicted_s_per_hour = -evaluation->units[i].lost_s;
	request.reason = tier_fullness_reason(evaluation, i);
	return request;
}

/* One evaluation of the relations that leave. */
typedef struct Look
{
	TierPlanning *planning;
	TierFullnessQuestion question;
	List	   *leaving;		/* OIDs */
} Look;

/* Adds the unit if it leaves, now or after its wait. */
static void
add_leaving(void *argument)
{
	TierPlanItem *item = argument;
	TierPlanning *planning = item->planning;
	const char *closed = item->closed;
	TierMoveRequest request = request_of(item->evaluation, item->member);
	TierRelationInfo info;
	TierPlanEntry *entry;

	tier_foresight_choose(planning->foresight, &request);
	entry = tier_plan_begin_entry(planning, &request, TIER_SOURCE_FULLNESS,
								  tier_set_tier_of_tablespace(planning->set,
															  request.tablespace_oid), &info);
	if (entry == NULL)
		return;
	if (closed != NULL && entry->state == TIER_PLAN_READY)
		tier_plan_set_waiting(entry, planning->held_up == NULL ? pstrdup(closed) :
							  planning->held_up);
	else
		item->answer = tier_plan_judge(planning, entry, &request, &info).comes;
	tier_plan_note_above(planning);
}

static bool
add(const Look *look, TierFullnessEvaluation *evaluation, int i, const char *closed)
{
	TierPlanItem item = {
		.planning = look->planning,.evaluation = evaluation,.member = i,.closed = closed,
		.relation_oid = evaluation->members[i].unit->relation_oid
	};

	return tier_plan_add(&item, add_leaving);
}

/* The coldest of those that leave; -1: none. */
static int
next_leaving(const TierFullnessResult *result)
{
	for (int i = 0; i < result->norder; i++)
		if (result->verdicts[result->order[i]] == TIER_FULLNESS_LEAVES)
			return result->order[i];
	return -1;
}

/* As if unit i had left. */
static void
take_away(TierFullnessEvaluation *evaluation, int i)
{
	const TierFullnessUnit *unit = &evaluation->units[i];
	TierFullnessProblem *problem = &evaluation->problem;

	problem->level.own_bytes -= unit->own_bytes;
	problem->level.disk_bytes -= unit->disk_bytes;
	problem->target_bytes -= unit->target_bytes;
	problem->has_begun = true;
}

/*
 * Returns true if unit i, with its present files, fits the room that there is.  Sets the size of
 * the unit to that of the files.
 */
static bool
fits(TierFullnessEvaluation *evaluation, int i, const TierRelationInfo *info)
{
	TierFullnessUnit *unit = &evaluation->units[i];
	const TierTier *target = &evaluation->advice->set->tiers[evaluation->target];
	double		bytes = tier_relation_disk_bytes(info);

	unit->target_bytes = Max(unit->target_bytes, tier_cost_stored_bytes(bytes, &target->profile));
	return unit->target_bytes <= evaluation->problem.target_bytes;
}

/* It is added, or does not fit: then it is decided again without it. */
static void
add_next(Look *look, TierFullnessEvaluation *evaluation, int i)
{
	TierRelationInfo info;

	if (tier_relation_lookup(evaluation->members[i].unit->relation_oid, &info))
	{
		if (!fits(evaluation, i, &info))
			return;
		look->leaving = lappend_oid(look->leaving, info.relation_oid);
		if (add(look, evaluation, i, NULL))
			take_away(evaluation, i);
	}
	evaluation->units[i].obstacle = TIER_FULLNESS_NOT_NOW;
	tier_fullness_arrange(&evaluation->problem, &evaluation->result);
}

static void
empty_tier(Look *look, TierFullnessEvaluation *evaluation)
{
	const TierSet *set = evaluation->advice->set;
	TierFullnessProblem *problem = &evaluation->problem;
	TierFullnessResult *result = &evaluation->result;
	int			next;

	problem->level = tier_fullness_level(set, evaluation->tier, &look->question);
	problem->level.own_bytes += evaluation->arriving_bytes;
	problem->level.disk_bytes += evaluation->arriving_bytes;
	problem->target_bytes = tier_fullness_room(evaluation, set, &look->question);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		tier_fullness_decide(problem, result);
		next = next_leaving(result);
		if (next < 0)
			break;
		if (tier_fullness_look_again(evaluation, &look->question, set, next))
			add_next(look, evaluation, next);
		else
			tier_fullness_arrange(problem, result);
	}
}

/* Those that would leave have this in common. */
static void
add_all(const Look *look, TierFullnessEvaluation *evaluation, const char *closed)
{
	const TierFullnessResult *result = &evaluation->result;

	for (int i = 0; i < result->norder; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (result->verdicts[result->order[i]] == TIER_FULLNESS_LEAVES)
			(void) add(look, evaluation, result->order[i], closed);
	}
}

/* Shows the units that have failed recently; they do not count. */
static void
add_backed_off(const Look *look, TierFullnessEvaluation *evaluation)
{
	for (int i = 0; i < evaluation->problem.nunits; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (tier_by_oid_find(evaluation->members[i].unit->relation_oid, look->question.backoff,
							 look->question.nbackoff, sizeof(TierBackoff)) != NULL)
			(void) add(look, evaluation, i, "waiting: a recent move of it failed");
	}
}

static bool
has_turn(const Look *look, const TierFullnessEvaluation *evaluation)
{
	return tier_fullness_has_turn(evaluation, &look->question) && evaluation->result.is_needed;
}

static TierPlanFullness *
find_noted(TierPlan *plan, int policy_id)
{
	for (int i = 0; i < plan->nfullness; i++)
		if (plan->fullness[i].policy.policy_id == policy_id)
			return &plan->fullness[i];
	return NULL;
}

static void
note_policy(TierPlan *plan, const TierFullnessEvaluation *evaluation)
{
	MemoryContext context = GetMemoryChunkContext(plan);
	TierPlanFullness *noted = find_noted(plan, evaluation->policy->policy_id);

	if (noted != NULL && noted->leaving > 0)
		return;
	if (noted == NULL)
	{
		plan->fullness = repalloc(plan->fullness,
								  sizeof(TierPlanFullness) * (plan->nfullness + 1));
		noted = &plan->fullness[plan->nfullness++];
	}
	noted->policy = *evaluation->policy;
	noted->share = tier_fullness_share(evaluation);
	noted->leaving = evaluation->error == NULL ? evaluation->result.nleaving : 0;
	noted->summary = MemoryContextStrdup(context, tier_fullness_summary(evaluation));
	noted->closed = NULL;
}

/* The last evaluation counts, but for tiers and relations, of which there may be more before. */
static void
note_all(TierPlan *plan, const TierFullnessEvaluation *evaluations, int n)
{
	TierFullnessSummary *emptied = &plan->emptied;
	int			too_full = 0;

	emptied->policies = emptied->disabled = emptied->failed = 0;
	if (plan->fullness == NULL)
		plan->fullness = MemoryContextAlloc(GetMemoryChunkContext(plan),
											sizeof(TierPlanFullness));
	for (int i = 0; i < n; i++)
	{
		if (!evaluations[i].policy->is_enabled)
		{
			emptied->disabled++;
			continue;
		}
		emptied->policies++;
		note_policy(plan, &evaluations[i]);
		if (evaluations[i].error != NULL)
			emptied->failed++;
		else if (evaluations[i].result.is_needed)
		{
			too_full++;
			emptied->leaving += evaluations[i].result.nleaving;
		}
	}
	emptied->too_full = Max(emptied->too_full, too_full);
}

/*
 * Returns true if a move window is open; if not, that becomes the reason for each unit that would
 * leave.
 */
static bool
is_open(const Look *look, TierFullnessEvaluation *evaluation)
{
	TierPlan   *plan = look->planning->plan;
	TierMoveStart start;

	if (look->planning->options->ignore_windows)
		return true;
	start = tier_gate_ask_any(evaluation->advice->set, TIER_PRESSING_YES);
	if (start.may_begin)
		return true;
	add_all(look, evaluation, start.reason);
	find_noted(plan, evaluation->policy->policy_id)->closed =
		MemoryContextStrdup(GetMemoryChunkContext(plan), start.reason);
	return false;
}

static void
add_fullness(Look *look)
{
	TierFullnessEvaluation *evaluations;
	int			n;

	evaluations = tier_fullness_evaluate(&look->question, &n);
	for (int i = 0; i < n && look->question.nbackoff > 0; i++)
		if (has_turn(look, &evaluations[i]))
			add_backed_off(look, &evaluations[i]);
	note_all(look->planning->plan, evaluations, n);
	for (int i = 0; i < n; i++)
		if (has_turn(look, &evaluations[i]) && is_open(look, &evaluations[i]))
			empty_tier(look, &evaluations[i]);
}

/* The data loaded here is needed only until it ends, and it may run often. */
void
tier_plan_add_leaving(TierPlanning *planning)
{
	MemoryContext context = AllocSetContextCreate(planning->context, "tiered_storage emptying",
												  ALLOCSET_DEFAULT_SIZES);
	Look		look = {
		.planning = planning,
		.question = {.flight = tier_foresight_flight,.argument = planning->foresight,
			.begun = planning->options->begun,.backoff = planning->backoff,
		.nbackoff = planning->nbackoff}
	};
	TierFullnessQuestion *question = &look.question;

	MemoryContextSwitchTo(context);
	question->moved = tier_sorted_oids(planning->begun, &question->nmoved);
	question->returning = tier_sorted_oids(planning->returning, &question->nreturning);
	question->in_vain = tier_sorted_oids(planning->in_vain, &question->nin_vain);
	question->not_yet = tier_level_names(planning->set, planning->first);
	add_fullness(&look);
	MemoryContextSwitchTo(planning->context);
	planning->nforetold++;
	planning->has_emptied = planning->first == NULL;
	planning->stuck = bms_difference(tier_foresight_above(planning->foresight), planning->first);
	planning->begun = list_concat(planning->begun, look.leaving);
	planning->emptied_begun = list_length(planning->begun);
	MemoryContextDelete(context);
}
