/*-------------------------------------------------------------------------
 *
 * act/due_again.c
 *		Is what was due when a run began still due, when its turn has come?
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/base/clock.h"
#include "src/act/due.h"
#include "src/decide/policy_group.h"
#include "src/server/processes.h"

/* Was it used since it was found to be idle? */
static bool
was_used_meanwhile(const TierDueJob *job)
{
	const TierLeaf *leaf = job->leaf;

	return tier_policy_asks_for_use(job->evaluation->policy) &&
		leaf->verdict != TIER_VERDICT_RETURNS &&
		(tier_use_counter(leaf->info.relation_oid) != leaf->use_counter ||
		 tier_use_is_held(leaf->info.relation_oid) || tier_processes_hiding_since() != 0);
}

/*
 * Of what returns: is it where the policy has moved it, and does that not ask for it to be
 * there again?  For how long it has been read is not asked again, and it goes where it was
 * decided, which other policies had a say in.
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
return_place(const TierDueDecision *decision, const TierSet *set)
{
	const TierDueJob *first = decision->first;
	const TierTier *target = tier_due_target(first, decision->first_set, decision->relation_oid);
	int			tier = tier_set_find_tier(set, NameStr(target->name));
	const TierPolicyRow *policy = first->evaluation->policy;

	return tier < 0 ? InvalidOid :
		tier_set_usable_tablespace(set, tier, OidIsValid(policy->created_by) ?
								   policy->created_by : first->leaf->info.owner_oid);
}

/*
 * The policy with its group, as far as the leaf is concerned, as that is by now: by the rules
 * by which the run has found it.
 */
static const TierPolicyRow *
find_group_again(TierPolicyRow *policies, int npolicies, int policy_id, Oid leaf_oid)
{
	tier_groups_find_above(policies, npolicies, leaf_oid);
	for (int i = 0; i < npolicies; i++)
		if (policies[i].policy_id == policy_id)
			return &policies[i];
	return NULL;				/* removed meanwhile */
}

bool
tier_due_decide_again(TierDueDecision *decision)
{
	const TierDueJob *first = decision->first;
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
									   &tier_due_target(first, decision->first_set,
														decision->relation_oid)->name,
									   tier_partition_tablespace(first->leaf,
																 decision->relation_oid));
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (!wanted || was_used_meanwhile(first))
		return false;
	PushActiveSnapshot(GetTransactionSnapshot());
	if (tier_policy_has_group(policy))
		policy = find_group_again(policies, npolicies, policy->policy_id, leaf_oid);
	leaf = policy == NULL ? NULL :
		tier_partition_evaluate_leaf(policy, set, pins, first->evaluation->uses,
									 tier_clock_now(), leaf_oid,
									 first->evaluation->newest_oid, &evaluation);
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
	decision->now = (TierDueJob)
	{
		.evaluation = evaluation,.leaf = leaf
	};
	decision->set = set;
	return leaf->verdict == TIER_VERDICT_DUE &&
		list_member_oid(leaf->pending, decision->relation_oid);
}

bool
tier_due_is_still(const TierMoveRequest *request)
{
	TierDueDecision decision = *(const TierDueDecision *) request->argument;
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage decision",
												  ALLOCSET_DEFAULT_SIZES);
	bool		is_due;

	MemoryContextSwitchTo(context);
	is_due = tier_due_decide_again(&decision) &&
		strcmp(NameStr(tier_due_target(&decision.now, decision.set, decision.relation_oid)->name),
			   NameStr(tier_due_target(decision.first, decision.first_set,
									   decision.relation_oid)->name)) == 0;
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return is_due;
}
