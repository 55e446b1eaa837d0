/*-------------------------------------------------------------------------
 *
 * decide/policy_preview.c
 *		What a tiering policy that is about to be added or altered would do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_preview.h"

TierEvaluation *
tier_policy_preview(const TierPolicyRow *policy, const TierSet *set)
{
	MemoryContext context = CurrentMemoryContext;
	TierEvaluation *evaluation;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	TierPins   *pins;
	int			n;
	int			own = 0;

	tier_catalog_enter(&scope);
	policies = tier_catalog_load_policies(context, &n);
	pins = tier_catalog_load_pins(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	while (own < n && policies[own].policy_id != policy->policy_id)
		own++;
	if (own == n)
		policies = repalloc_huge(policies, sizeof(TierPolicyRow) * ++n);
	policies[own] = *policy;
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_groups_find(policies, n);
	evaluation = tier_partition_evaluate(&policies[own], set, pins,
										 tier_uses_load(&policies[own], 1), tier_clock_now());
	PopActiveSnapshot();
	return evaluation;
}

/* Is something of it, or what is created for it, on a faster tier than that, or on none? */
static bool
may_move(const TierPolicyRow *policy, const TierEvaluation *evaluation, const TierSet *set)
{
	TierRelationInfo info;

	/* Tables of a group come and go, and are created anywhere. */
	if (tier_policy_has_group(policy) || !tier_relation_lookup(policy->relation_oid, &info) ||
		tier_set_tier_of_tablespace(set, info.tablespace_oid) <= evaluation->to_tier)
		return true;
	for (int i = 0; i < evaluation->nleaves; i++)
		if (evaluation->leaves[i].verdict != TIER_VERDICT_ON_SLOWER_TIER)
			return true;
	return false;
}

void
tier_policy_refuse_faster(const TierPolicyRow *policy, const TierEvaluation *evaluation,
						  const TierSet *set)
{
	if (evaluation->error != NULL || may_move(policy, evaluation, set))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("tier \"%s\" is faster than where %s is", NameStr(policy->tier_name),
					policy->relation_name),
			 errdetail("A tiering policy moves relations to slower tiers."),
			 errhint("tiered_storage.apply_placement() moves what is read often to a faster tier, "
					 "and a policy for a slower tier with return_when_reads_per_hour brings back "
					 "what it has moved.")));
}

TimestampTz
tier_policy_first_at(const TierPolicyRow *policy)
{
	TimestampTz at = policy->added_at + tier_migrate_interval_s * USECS_PER_SEC;

	return at + (USECS_PER_SEC - at % USECS_PER_SEC) % USECS_PER_SEC;
}
