/*-------------------------------------------------------------------------
 *
 * act/emptying.c
 *		Steps of emptying a tier, which a run and its forecast take alike.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/act/emptying.h"

void
tier_emptying_take_away(TierFullnessProblem *problem, const TierFullnessUnit *unit)
{
	problem->level.own_bytes -= unit->own_bytes;
	problem->level.disk_bytes -= unit->disk_bytes;
	problem->target_bytes -= unit->target_bytes;
	problem->has_begun = true;
}

int
tier_emptying_next(const TierFullnessResult *result)
{
	for (int i = 0; i < result->norder; i++)
		if (result->verdicts[result->order[i]] == TIER_FULLNESS_LEAVES)
			return result->order[i];
	return -1;
}

void
tier_emptying_set_aside(TierFullnessEvaluation *evaluation, int i, const char *why)
{
	evaluation->units[i].obstacle = TIER_FULLNESS_NOT_NOW;
	evaluation->members[i].why = why;
	tier_fullness_arrange(&evaluation->problem, &evaluation->result);
}

TierPressing
tier_emptying_pressing(const TierFullnessEvaluation *evaluation)
{
	const TierFullnessProblem *problem = &evaluation->problem;

	return tier_fullness_bytes(&problem->level) > problem->level.capacity_bytes * problem->high ?
		TIER_PRESSING_YES : TIER_PRESSING_NO;
}

TierMoveRequest
tier_emptying_request(const TierFullnessEvaluation *evaluation, int i)
{
	TierMoveRequest request = {0};

	request.relation_oid = evaluation->members[i].unit->relation_oid;
	request.tablespace_oid = evaluation->members[i].to_tablespace;
	request.requester_oid = evaluation->members[i].owner_oid;
	request.for_owner = true;
	request.policy_id = evaluation->policy->policy_id;
	request.policy_kind = TIER_POLICY_FULLNESS;
	request.mark = TIER_MARK_HIGH;
	request.pressing = tier_emptying_pressing(evaluation);
	request.predicted_s_per_hour = -evaluation->units[i].lost_s;
	request.reason = tier_fullness_reason(evaluation, i);
	return request;
}

bool
tier_emptying_fits(TierFullnessEvaluation *evaluation, const TierSet *set, int i,
				   const TierRelationInfo *info)
{
	TierFullnessUnit *unit = &evaluation->units[i];
	double		bytes = tier_relation_disk_bytes(info);
	int			place = evaluation->result.places[i];

	unit->place_bytes = Max(unit->place_bytes, bytes);
	unit->target_bytes = Max(unit->target_bytes,
							 tier_cost_stored_bytes(bytes,
													&set->tiers[evaluation->target].profile));
	return unit->target_bytes <= evaluation->problem.target_bytes &&
		(place < 0 || unit->place_bytes <= evaluation->problem.place_bytes[place]);
}

bool
tier_emptying_has_turn(const TierFullnessQuestion *question,
					   const TierFullnessEvaluation *evaluation)
{
	return tier_fullness_has_turn(evaluation, question) && evaluation->result.is_needed;
}
