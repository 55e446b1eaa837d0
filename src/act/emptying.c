/*-------------------------------------------------------------------------
 *
 * act/emptying.c
 *		A tier that a run empties: its lock, and the report of its policy.
 *
 * A tier is emptied by one process at a time: tablespaces belong to all databases, and two
 * workers that see the same tier too full would empty it twice.  So a process that begins takes a
 * session lock on each tablespace of the tier.  Only this module takes these locks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_tablespace.h"
#include "storage/lock.h"

#include "src/compat.h"
#include "src/act/emptying.h"
#include "src/catalog/tables.h"

/* Makes the lock differ from other locks of a tablespace. */
#define EMPTYING_LOCK_SUBID 1

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

static LOCKTAG
emptying_lock(Oid tablespace_oid)
{
	LOCKTAG		tag;

	/* A shared object: the same in all databases. */
	SET_LOCKTAG_OBJECT(tag, InvalidOid, TableSpaceRelationId, tablespace_oid, EMPTYING_LOCK_SUBID);
	tag.locktag_lockmethodid = USER_LOCKMETHOD;
	return tag;
}

void
tier_emptying_unlock(TierEmptying *emptying)
{
	while (emptying->nlocked > 0)
	{
		LOCKTAG		tag = emptying_lock(emptying->locked[--emptying->nlocked]);

		LockRelease(&tag, ExclusiveLock, true);
	}
}

bool
tier_emptying_lock(TierEmptying *emptying, const TierSet *set)
{
	int			tier = tier_set_find_tier(set, NameStr(emptying->tier_name));

	if (emptying->locked == NULL)
		emptying->locked = palloc(sizeof(Oid) * Max(set->ntablespaces, 1));
	else
		emptying->locked = repalloc(emptying->locked, sizeof(Oid) * Max(set->ntablespaces, 1));
	for (int i = 0; i < set->ntablespaces; i++)
	{
		LOCKTAG		tag = emptying_lock(set->tablespaces[i].oid);

		if (set->tablespaces[i].tier != tier)
			continue;
		if (LockAcquire(&tag, ExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		{
			tier_emptying_unlock(emptying);
			return false;
		}
		emptying->locked[emptying->nlocked++] = set->tablespaces[i].oid;
	}
	return true;
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
