/*-------------------------------------------------------------------------
 *
 * act/plan_advice.c
 *		The part of the plan that is advised.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include <math.h>


#include "src/act/plan_state.h"

/* Of the advised moves, the one that a run would try. */
static TierPlanEntry *
begin_advised(TierPlanning *planning, const TierCandidate *candidate, TierMoveRequest *request,
			  TierRelationInfo *info)
{
	*request = tier_candidate_request(planning->plan->advice, candidate);
	tier_foresight_choose(planning->foresight, request);
	return tier_plan_begin_entry(planning, request, TIER_SOURCE_ADVICE,
								 candidate->unit->recommended_tier, info);
}

static void
add_candidate(void *argument)
{
	TierPlanItem *item = argument;
	TierPlanning *planning = item->planning;
	const TierCandidate *candidate = item->candidate;
	TierPlan   *plan = planning->plan;
	TierApplySummary *applied = &plan->applied;
	TierMoveRequest request;
	TierRelationInfo info;
	TierProspect prospect;
	TierPlanEntry *entry = begin_advised(planning, candidate, &request, &info);

	if (entry == NULL)
		return;
	entry->candidate = candidate;
	prospect = tier_plan_judge(planning, entry, &request, &info);
	tier_plan_note_above(planning);
	if (entry->obstacle.message != NULL)
	{
		applied->counts.not_moved++;
		if (entry->obstacle.sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED)
			entry->obstacle.hint = psprintf("%s locks it for the whole copy.",
											tier_advice_command(plan->advice, candidate->unit));
	}
	else if (prospect.begins)
	{
		applied->counts.moved++;
		applied->counts.moved_bytes += (int64) candidate->disk_bytes;
	}
	else if (applied->counts.waiting++ == 0 && entry->reason != NULL)
		applied->why_waiting = pstrdup(entry->reason);
}

/* Adds an advised move that is left out, with the reason; NULL: it has failed recently. */
static void
add_left(TierPlanning *planning, const TierCandidate *candidate, const char *reason,
		 bool is_beyond_limit)
{
	TierMoveRequest request;
	TierRelationInfo info;
	TierPlanEntry *entry = begin_advised(planning, candidate, &request, &info);

	if (entry == NULL)
		return;
	entry->candidate = candidate;
	entry->is_left = true;
	entry->is_beyond_limit = is_beyond_limit;
	if (entry->state == TIER_PLAN_FAILED)
		(void) tier_plan_judge(planning, entry, &request, &info);
	else if (is_beyond_limit)
		tier_plan_set_waiting(entry, tier_plan_limit_text(entry, planning->plan->left_bytes));
	else
		tier_plan_set_waiting(entry, reason);
	if (planning->held_up != NULL)
		tier_plan_set_waiting(entry, planning->held_up);
}

void
tier_plan_add_advised(TierPlanning *planning)
{
	TierPlan   *plan = planning->plan;
	TierArrangement *arrangement = &plan->arrangement;
	const TierCandidate *candidate;

	plan->request.foresight = planning->foresight;
	plan->request.backoff = planning->backoff;
	plan->request.nbackoff = planning->nbackoff;
	plan->advice = tier_candidates_prepare(&plan->request, &plan->applied, &plan->candidates,
										   arrangement);
	plan->left_out = plan->applied.counts.not_moved + arrangement->left_over -
		plan->applied.beyond_limit + arrangement->spare;
	plan->applied.counts.not_moved = plan->left_out;
	for (int i = 0; i < arrangement->possible; i++)
	{
		TierPlanItem item = {
			.planning = planning,.candidate = &plan->candidates[i],
			.relation_oid = plan->candidates[i].unit->relation_oid
		};

		(void) tier_plan_add(&item, add_candidate);
	}
	plan->left_bytes = Max(plan->left_bytes - (double) plan->applied.counts.moved_bytes, 0.0);
	candidate = &plan->candidates[arrangement->possible];
	for (int i = 0; i < arrangement->left_over; i++, candidate++)
		add_left(planning, candidate, "waiting: its new tier lacks room, and moves out of "
				 "that tier would not free enough", candidate->has_room);
	for (int i = 0; i < arrangement->spare; i++)
		add_left(planning, candidate++, "waiting for a dependent move", false);
	for (int i = 0; i < arrangement->failed; i++)
		add_left(planning, candidate++, NULL, false);
}
