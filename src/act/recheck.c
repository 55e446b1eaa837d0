/*-------------------------------------------------------------------------
 *
 * act/recheck.c
 *		Checks whether a move of the plan is still wanted when its turn has come.
 *
 * A run may take hours.  The source of a move decides again on the one relation: right before the
 * move, after the move has waited, and before each attempt to swap.  Rights, pins, windows and
 * room are checked by the mover (act/move_admission.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/act/level.h"
#include "src/act/recheck.h"
#include "src/base/clock.h"
#include "src/decide/policy_group.h"
#include "src/server/processes.h"
#include "src/server/relation.h"
#include "src/storage/file_size.h"

/* ---------------------------------------------------------------------
 * Tiering policies
 * ---------------------------------------------------------------------
 */

/* The part of a job that is about to be moved, and the job as it is decided again. */
typedef struct Decision
{
	const TierPolicyCandidate *first;	/* by the plan */
	const TierSet *first_set;
	Oid			relation_oid;
	TierPolicyCandidate now;	/* as what follows by decide_again(); its
								 * members are not set */
	const TierSet *set;
	Oid			returns_to;		/* for a return: the tablespace */
} Decision;

/* Returns true if the leaf was used since it was found to be idle. */
static bool
was_used_meanwhile(const TierPolicyCandidate *job)
{
	const TierLeaf *leaf = job->leaf;

	return tier_policy_asks_for_use(job->evaluation->policy) &&
		leaf->verdict != TIER_VERDICT_RETURNS &&
		(tier_use_counter(leaf->info.relation_oid) != leaf->use_counter ||
		 tier_use_is_held(leaf->info.relation_oid) || tier_processes_hiding_since() != 0);
}

/*
 * For a relation that returns: true if it is where the policy has moved it, and the policy does
 * not ask for it to be there again.  The duration of the reads is not checked again.  The target
 * is the one decided before, since other policies took part in that decision.
 */
static bool
may_still_return(const TierEvaluation *evaluation, const TierLeaf *leaf, const TierSet *set,
				 Oid relation_oid)
{
	TierRelationInfo info;

	return leaf->verdict != TIER_VERDICT_DUE && leaf->verdict != TIER_VERDICT_ON_TARGET &&
		leaf->verdict != TIER_VERDICT_ON_SLOWER_TIER && leaf->verdict != TIER_VERDICT_PINNED &&
		leaf->verdict != TIER_VERDICT_NO_RIGHT && leaf->verdict != TIER_VERDICT_IMMOVABLE &&
		leaf->verdict != TIER_VERDICT_ERROR &&
		tier_relation_lookup(relation_oid, &info) &&
		tier_set_tier_of_tablespace(set, info.tablespace_oid) ==
		tier_partition_target(evaluation, leaf, relation_oid);
}

/* Where it goes of the tier that was decided, as the tiers are now; 0: nowhere. */
static Oid
return_place(const Decision *decision, const TierSet *set)
{
	const TierPolicyCandidate *first = decision->first;
	const TierTier *target = tier_policy_candidate_target(first, decision->first_set,
														  decision->relation_oid);
	int			tier = tier_set_find_tier(set, NameStr(target->name));
	const TierPolicyRow *policy = first->evaluation->policy;

	return tier < 0 ? InvalidOid :
		tier_set_usable_tablespace(set, tier, OidIsValid(policy->created_by) ?
								   policy->created_by : first->leaf->info.owner_oid);
}

/*
 * The policy with its present group, as far as the leaf is concerned: by the rules by which the
 * run has found it.
 */
static const TierPolicyRow *
find_group_again(TierPolicyRow *policies, int npolicies, int policy_id, Oid leaf_oid)
{
	tier_groups_find_above(policies, npolicies, leaf_oid);
	for (int i = 0; i < npolicies; i++)
		if (policies[i].policy_id == policy_id)
			return &policies[i];
	return NULL;				/* removed concurrently */
}

static bool
decide_again(Decision *decision)
{
	const TierPolicyCandidate *first = decision->first;
	const TierPolicyRow *policy = first->evaluation->policy;
	Oid			leaf_oid = first->leaf->info.relation_oid;
	MemoryContext context = CurrentMemoryContext;
	TierEvaluation *evaluation;
	const TierLeaf *leaf;
	const TierSet *set;
	TierCatalogScope scope;
	TierPolicyRow *policies = NULL;
	TierPins   *pins;
	int			npolicies = 0;
	bool		wanted;

	if (!tier_catalog_try_enter(&scope))
		return false;
	set = tier_catalog_load_tiers(context);
	pins = tier_catalog_load_pin_of(context, decision->relation_oid);
	if (tier_policy_has_group(policy))
		policies = tier_catalog_load_policies(context, &npolicies);
	wanted = tier_catalog_policy_wants(policy, leaf_oid,
									   &tier_policy_candidate_target(first, decision->first_set,
																	 decision->relation_oid)->name,
									   tier_partition_tablespace(first->leaf,
																 decision->relation_oid));
	tier_catalog_leave(&scope);
	if (!wanted || was_used_meanwhile(first))
		return false;
	PushActiveSnapshot(GetTransactionSnapshot());
	if (tier_policy_has_group(policy))
		policy = find_group_again(policies, npolicies, policy->policy_id, leaf_oid);
	leaf = policy == NULL ? NULL :
		tier_partition_evaluate_leaf(policy, set, pins, first->evaluation->uses,
									 tier_clock_now(), leaf_oid, &evaluation);
	PopActiveSnapshot();
	if (leaf == NULL)
		return false;
	if (first->leaf->verdict == TIER_VERDICT_RETURNS)
	{
		decision->now = *first;
		decision->set = decision->first_set;
		decision->returns_to = return_place(decision, set);
		return OidIsValid(decision->returns_to) &&
			may_still_return(evaluation, leaf, set, decision->relation_oid);
	}
	decision->now = (TierPolicyCandidate)
	{
		.evaluation = evaluation,.leaf = leaf
	};
	decision->set = set;
	return leaf->verdict == TIER_VERDICT_DUE &&
		list_member_oid(leaf->pending, decision->relation_oid);
}

/* request: NULL, or set to the move as it is decided now. */
static bool
is_still_due(const TierPlan *plan, const TierPlanEntry *entry, TierMoveRequest *request)
{
	Decision	decision = {
		.first = entry->job,.first_set = plan->set,.relation_oid = entry->relation_oid
	};
	const TierTier *target;

	if (!decide_again(&decision))
		return false;
	target = tier_policy_candidate_target(&decision.now, decision.set, entry->relation_oid);
	if (request == NULL)
		return strcmp(NameStr(target->name), entry->to_tier) == 0;
	*request = tier_policy_candidate_request(&decision.now, decision.set, entry->relation_oid);
	if (OidIsValid(decision.returns_to))
		request->tablespace_oid = decision.returns_to;
	return true;
}

/* ---------------------------------------------------------------------
 * Fullness policies
 * ---------------------------------------------------------------------
 */

/* The policy as it is now; NULL: it is disabled or gone, or has other tiers. */
static const TierFullnessRow *
find_policy(const TierFullnessRow *rows, int n, const TierFullnessRow *policy)
{
	for (int i = 0; i < n; i++)
		if (rows[i].policy_id == policy->policy_id && rows[i].is_enabled &&
			strcmp(NameStr(rows[i].tier_name), NameStr(policy->tier_name)) == 0 &&
			strcmp(NameStr(rows[i].target_name), NameStr(policy->target_name)) == 0)
			return &rows[i];
	return NULL;
}

/*
 * Returns true if its tier, with the bytes about to arrive, is above the mark up to which it is
 * emptied.
 */
static bool
is_above(const TierFullnessRow *policy, const TierSet *set, const double *arriving_bytes,
		 bool has_begun, TierPressing *pressing)
{
	const TierFullnessQuestion question = {.flight = tier_fullness_flight};
	int			t = tier_set_find_tier(set, NameStr(policy->tier_name));
	TierFullnessLevel level;
	double		high;
	double		low;

	if (t < 0 || set->tiers[t].capacity_bytes <= 0 ||
		tier_set_find_tier(set, NameStr(policy->target_name)) < 0)
		return false;
	high = isnan(policy->high_watermark) ? set->tiers[t].high_watermark : policy->high_watermark;
	low = isnan(policy->low_watermark) ? set->tiers[t].low_watermark : policy->low_watermark;
	if (!(low > 0.0 && low < high && high <= 1.0))
		return false;
	level = tier_fullness_level(set, t, &question);
	level.own_bytes += arriving_bytes[t];
	level.disk_bytes += arriving_bytes[t];
	*pressing = tier_fullness_bytes(&level) > level.capacity_bytes * high ? TIER_PRESSING_YES :
		TIER_PRESSING_NO;
	return tier_fullness_bytes(&level) > level.capacity_bytes * (has_begun ? low : high);
}

/* The bytes that the rest of the plan still has to move from the tier of the policy. */
static void
add_arriving(const TierPlan *plan, int next, const TierFullnessRow *policy, const TierSet *set,
			 double *arriving_bytes)
{
	int			from = tier_set_find_tier(set, NameStr(policy->tier_name));
	int			to = tier_set_find_tier(set, NameStr(policy->target_name));

	for (int i = next; i < plan->n; i++)
	{
		const TierPlanEntry *entry = &plan->entries[i];
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		if (entry->source == TIER_SOURCE_FULLNESS && entry->policy_id == policy->policy_id &&
			entry->obstacle.message == NULL && entry->state != TIER_PLAN_FAILED &&
			tier_relation_lookup(entry->relation_oid, &info) &&
			tier_set_tier_of_tablespace(set, info.tablespace_oid) == from)
			arriving_bytes[to] += tier_cost_stored_bytes(tier_relation_disk_bytes(&info),
														 &set->tiers[to].profile);
	}
}

/* From the fastest tier on: relations that leave it are about to arrive at the next. */
static bool
is_too_full(const TierRecheck *recheck, int policy_id, TierPressing *pressing)
{
	MemoryContext context = CurrentMemoryContext;
	const TierPlan *plan = recheck->plan;
	TierFullnessRow *rows;
	TierCatalogScope scope;
	double	   *arriving_bytes;
	TierSet    *set;
	int			n;

	if (!tier_catalog_try_enter(&scope))
		return false;
	set = tier_catalog_load_tiers(context);
	rows = tier_catalog_load_fullness(context, &n);
	tier_catalog_leave(&scope);
	arriving_bytes = palloc0(sizeof(double) * Max(set->ntiers, 1));
	for (int p = plan->nfullness - 1; p >= 0; p--)
	{
		const TierFullnessRow *policy = find_policy(rows, n, &plan->fullness[p].policy);
		bool		has_begun = list_member_int(recheck->begun,
												plan->fullness[p].policy.policy_id);
		bool		is_above_mark = policy != NULL &&
		is_above(policy, set, arriving_bytes, has_begun, pressing);

		if (plan->fullness[p].policy.policy_id == policy_id)
			return is_above_mark;
		if (is_above_mark)
			add_arriving(plan, recheck->next, policy, set, arriving_bytes);
	}
	return false;
}

/*
 * Returns true if the relation is in the same place with the same owner, whose rights count.  A
 * new file means that it was moved or rewritten concurrently; then it stays there.
 */
static bool
is_unchanged(const TierPlan *plan, const TierPlanEntry *entry)
{
	TierRelationInfo info;
	int			tier;

	if (!tier_relation_lookup(entry->relation_oid, &info))
		return false;
	tier = tier_set_tier_of_tablespace(plan->set, info.tablespace_oid);
	return info.file_number == entry->file_number && tier >= 0 && entry->from_tier != NULL &&
		strcmp(NameStr(plan->set->tiers[tier].name), entry->from_tier) == 0 &&
		(!entry->request.for_owner || info.owner_oid == entry->request.requester_oid);
}

/* ---------------------------------------------------------------------
 * Advice
 * ---------------------------------------------------------------------
 */

/*
 * A relation that was moved or pinned concurrently is where its owner wants it.  A tier may have
 * been given other tablespaces, or removed.
 */
static bool
is_still_advised(const TierPlan *plan, const TierPlanEntry *entry, Oid tablespace_oid)
{
	const TierAdviceUnit *unit = entry->candidate->unit;
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPins   *pins;
	bool		has_tablespace;

	if (!is_unchanged(plan, entry) || !tier_catalog_try_enter(&scope))
		return false;
	has_tablespace = tier_catalog_tier_has(entry->to_tier, tablespace_oid);
	pins = tier_catalog_load_pin_of(context, unit->relation_oid);
	tier_catalog_leave(&scope);
	return has_tablespace && tier_pins_against(pins, plan->set, unit->relation_oid,
											   unit->recommended_tier) == NULL;
}

/* ---------------------------------------------------------------------
 * All sources
 * ---------------------------------------------------------------------
 */

bool
tier_recheck(const TierRecheck *recheck, const TierPlanEntry *entry, TierMoveRequest *request)
{
	*request = entry->request;
	if (entry->job != NULL)
		return is_still_due(recheck->plan, entry, request);
	tier_move_choose(request, entry->to_tier);
	if (entry->candidate != NULL)
		return is_still_advised(recheck->plan, entry, request->tablespace_oid);
	return is_unchanged(recheck->plan, entry) &&
		is_too_full(recheck, entry->policy_id, &request->pressing);
}

bool
tier_recheck_is_wanted(const TierMoveRequest *request)
{
	const TierRecheck *recheck = request->argument;
	const TierPlanEntry *entry = &recheck->plan->entries[recheck->next - 1];
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage decision",
												  ALLOCSET_DEFAULT_SIZES);
	TierPressing pressing;
	bool		is_wanted;

	MemoryContextSwitchTo(context);
	if (entry->job != NULL)
		is_wanted = is_still_due(recheck->plan, entry, NULL);
	else if (entry->candidate != NULL)
		is_wanted = is_still_advised(recheck->plan, entry, request->tablespace_oid);
	else
		is_wanted = is_too_full(recheck, entry->policy_id, &pressing);
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return is_wanted;
}

bool
tier_recheck_fullness(const TierRecheck *recheck, int policy_id)
{
	TierPressing pressing;

	return is_too_full(recheck, policy_id, &pressing);
}
