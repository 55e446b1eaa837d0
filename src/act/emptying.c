/*-------------------------------------------------------------------------
 *
 * act/emptying.c
 *		A tier that a run empties, and the result of its policy.
 *
 * Several processes may empty the same tier, as tablespaces belong to all databases.  Each of
 * them counts the announced moves of the others as made (act/level.h) before it begins a move, so
 * the tier is not emptied twice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/act/emptying.h"
#include "src/catalog/tables.h"

TierEmptying *
tier_emptying_find(List **emptyings, const TierPlan *plan, int policy_id)
{
	TierEmptying *emptying;
	ListCell   *cell;

	foreach(cell, *emptyings)
	{
		emptying = lfirst(cell);
		if (emptying->policy_id == policy_id)
			return emptying;
	}
	emptying = palloc0(sizeof(TierEmptying));
	emptying->policy_id = policy_id;
	for (int i = 0; i < plan->nfullness; i++)
		if (plan->fullness[i].policy.policy_id == policy_id)
			emptying->tier_name = plan->fullness[i].policy.tier_name;
	*emptyings = lappend(*emptyings, emptying);
	return emptying;
}

void
tier_emptying_record_plan(const TierPlan *plan, const List *begun)
{
	TierCatalogScope scope;

	if (plan->nfullness == 0 || !tier_catalog_try_enter(&scope))
		return;
	for (int i = 0; i < plan->nfullness; i++)
	{
		const TierPlanFullness *fullness = &plan->fullness[i];
		const char *summary = fullness->closed == NULL ? fullness->summary :
		psprintf("%s; %s", fullness->summary, fullness->closed);

		if (!list_member_int(begun, fullness->policy.policy_id))
		{
			TierPolicyResult result = {
				-1, -1, fullness->share, fullness->leaving, tier_catalog_clip(summary)
			};

			tier_catalog_policy_evaluated(fullness->policy.policy_id, &result);
		}
	}
	tier_catalog_leave(&scope);
}
