/*-------------------------------------------------------------------------
 *
 * decide/policy_shards.c
 *		Tiering policies and distributed tables of Citus.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/decide/policy_group.h"
#include "src/decide/policy_shards.h"
#include "src/server/relation.h"

void
tier_policy_notice_shells(const TierPolicyRow *policy)
{
	Oid			first_oid;
	int			n = policy->is_group ? tier_group_count_shells(policy, &first_oid) : 0;
	TierRelationInfo first;

	if (n == 0 || !tier_relation_lookup(first_oid, &first))
		return;
	ereport(NOTICE,
			(errmsg("the policy does not apply to distributed tables of Citus, but to the shards "
					"that match it"),
			 n == 1 ? errdetail("The distributed table is %s.", first.name) :
			 errdetail("The distributed tables are %s and %d more.", first.name, n - 1),
			 errhint(TIER_HINT_ON_SHARDS)));
}
