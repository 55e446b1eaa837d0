/*-------------------------------------------------------------------------
 *
 * act/plan_fullness.c
 *		The part of the plan that fullness policies ask for.
 *
 * Tiers are emptied from the slowest on, which makes room for the next.  After each relation that
 * leaves it is decided again what leaves next, on a forecast of how full the tier is then.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "src/act/gate.h"
#include "src/act/plan_state.h"
#include "src/server/relation.h"

/* How much its moves press: until the tier is below its high watermark, with what will come. */
static TierPressing
pressing_of(const TierFullnessEvaluation *evaluation)
{
	const TierFullnessProblem *problem = &evaluation->problem;

	return tier_fullness_bytes(&problem->level) > problem->level.capacity_bytes * problem->high ?
		TIER_PRESSING_YES : TIER_PRESSING_NO;
}

TierMoveRequest
tier_plan_fullness_request(const TierFullnessEvaluation *evaluation, int i)
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
	if (evaluation->result.places[i] >= 0)
		problem->place_bytes[evaluation->result.places[i]] -= unit->place_bytes;
}

/*
 * Does unit i take no more than the room that there is, with the files that it has now?  The
 * unit is as large as these from then on.
 */
static bool
fits(TierFullnessEvaluation *evaluation, int i, const TierRelationInfo *info)
{
	TierFullnessUnit *unit = &evaluation->units[i];
	const TierTier *target = &evaluation->advice->set->tiers[evaluation->target];
	double		bytes = tier_relation_disk_bytes(info);
	int			place = evaluation->result.places[i];

	unit->place_bytes = Max(unit->place_bytes, bytes);
	unit->target_bytes = Max(unit->target_bytes, tier_cost_stored_bytes(bytes, &target->profile));
	return unit->target_bytes <= evaluation->problem.target_bytes &&
		(place < 0 || unit->place_bytes <= evaluation->problem.place_bytes[place]);
}

/* It is added, or does not fit: then it is decided again without it. */
static void
add_next(TierFullnessSource *source, TierFullnessEvaluation *evaluation, int i, List **leaving)
{
	TierRelationInfo info;

	if (tier_relation_lookup(evaluation->members[i].unit->relation_oid, &info))
	{
		if (!fits(evaluation, i, &info))
			return;
		*leaving = lappend_oid(*leaving, info.relation_oid);
		if (source->add(source->argument, evaluation, i, NULL))
			take_away(evaluation, i);
	}
	evaluation->units[i].obstacle = TIER_FULLNESS_NOT_NOW;
	tier_fullness_arrange(&evaluation->problem, &evaluation->result);
}

static void
empty_tier(TierFullnessSource *source, TierFullnessEvaluation *evaluation, List **leaving)
{
	const TierSet *set = evaluation->advice->set;
	TierFullnessProblem *problem = &evaluation->problem;
	TierFullnessResult *result = &evaluation->result;
	int			next;

	problem->level = tier_fullness_level(set, evaluation->tier, &source->question);
	problem->level.own_bytes += evaluation->arriving_bytes;
	problem->level.disk_bytes += evaluation->arriving_bytes;
	tier_fullness_find_room(evaluation, set, &source->question);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		tier_fullness_decide(problem, result);
		next = next_leaving(result);
		if (next < 0)
			break;
		if (tier_fullness_look_again(evaluation, &source->question, set, next))
			add_next(source, evaluation, next, leaving);
		else
			tier_fullness_arrange(problem, result);
	}
}

/* Those that would leave have this in common; NULL: those that failed lately. */
static void
add_all(const TierFullnessSource *source, const TierFullnessEvaluation *evaluation,
		const char *closed)
{
	const TierFullnessResult *result = &evaluation->result;

	for (int i = 0; i < result->norder; i++)
	{
		int			u = result->order[i];
		Oid			relation_oid = evaluation->members[u].unit->relation_oid;

		CHECK_FOR_INTERRUPTS();
		if (result->verdicts[u] != TIER_FULLNESS_LEAVES)
			continue;
		if (closed != NULL)
			(void) source->add(source->argument, evaluation, u, closed);
		else if (source->nbackoff > 0 &&
				 bsearch(&relation_oid, source->backoff, source->nbackoff, sizeof(Oid),
						 oid_cmp) != NULL)
			(void) source->add(source->argument, evaluation, u,
							   "waiting: it could not be moved lately");
	}
}

static bool
has_turn(const TierFullnessSource *source, const TierFullnessEvaluation *evaluation)
{
	return tier_fullness_has_turn(evaluation, &source->question) && evaluation->result.is_needed;
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

/* Is a move window open?  If not, that is said of each that would leave. */
static bool
is_open(const TierFullnessSource *source, TierPlan *plan,
		const TierFullnessEvaluation *evaluation)
{
	TierMoveStart start;

	if (source->ignore_windows)
		return true;
	start = tier_gate_ask_any(evaluation->advice->set, TIER_PRESSING_YES);
	if (start.may_begin)
		return true;
	add_all(source, evaluation, start.reason);
	find_noted(plan, evaluation->policy->policy_id)->closed =
		MemoryContextStrdup(GetMemoryChunkContext(plan), start.reason);
	return false;
}

List *
tier_plan_add_fullness(TierFullnessSource *source, TierPlan *plan)
{
	TierFullnessEvaluation *evaluations;
	List	   *leaving = NIL;
	int			n;

	evaluations = tier_fullness_evaluate(&source->question, &n);
	for (int i = 0; i < n && source->nbackoff > 0; i++)
		if (has_turn(source, &evaluations[i]))
			add_all(source, &evaluations[i], NULL);
	if (source->nbackoff > 0)
	{
		source->question.backoff = source->backoff;
		source->question.nbackoff = source->nbackoff;
		evaluations = tier_fullness_evaluate(&source->question, &n);
	}
	note_all(plan, evaluations, n);
	for (int i = 0; i < n; i++)
		if (has_turn(source, &evaluations[i]) && is_open(source, plan, &evaluations[i]))
			empty_tier(source, &evaluations[i], &leaving);
	return leaving;
}
