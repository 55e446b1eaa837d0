/*-------------------------------------------------------------------------
 *
 * act/emptying.c
 *		A tier that a run empties: its lock, and what the policy says afterwards.
 *
 * A tier is emptied by one process at a time: tablespaces belong to all databases, and
 * two workers that see the same tier too full would empty it twice.  So who begins takes
 * a lock of the session on each of the tier's tablespaces, known to nobody else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_tablespace.h"
#include "storage/lock.h"

#include "src/compat.h"
#include "src/act/emptying.h"
#include "src/act/level.h"
#include "src/base/transaction.h"
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
	{
		const TierPlanFullness *fullness = &plan->fullness[i];

		if (fullness->policy.policy_id != policy_id)
			continue;
		emptying->tier_name = fullness->policy.tier_name;
		emptying->summary = pstrdup(fullness->summary);
		emptying->share = fullness->share;
		emptying->leaving = fullness->leaving;
	}
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
tier_emptying_record_plan(const TierPlan *plan, const List *emptyings)
{
	TierCatalogScope scope;

	if (plan->nfullness == 0 || !tier_catalog_try_enter(&scope))
		return;
	for (int i = 0; i < plan->nfullness; i++)
	{
		const TierPlanFullness *fullness = &plan->fullness[i];
		const char *summary = fullness->closed == NULL ? fullness->summary :
		psprintf("%s; %s", fullness->summary, fullness->closed);
		const ListCell *cell;
		bool		is_emptied = false;

		foreach(cell, emptyings)
			is_emptied = is_emptied ||
			((const TierEmptying *) lfirst(cell))->policy_id == fullness->policy.policy_id;
		if (!is_emptied)
			tier_catalog_fullness_evaluated(fullness->policy.policy_id, fullness->share,
											fullness->leaving,
											tier_catalog_clip(summary));
	}
	tier_catalog_leave(&scope);
}

/* How full the tier is at this moment, 1 being full; NaN: it has gone. */
static double
share_of(const TierSet *set, const char *tier_name)
{
	const TierFullnessQuestion question = {.flight = tier_fullness_flight};
	int			tier = tier_set_find_tier(set, tier_name);
	TierFullnessLevel level;

	if (tier < 0 || set->tiers[tier].capacity_bytes <= 0)
		return NAN;
	level = tier_fullness_level(set, tier, &question);
	return tier_fullness_bytes(&level) / level.capacity_bytes;
}

/* "; 3 relations have left, now 79.5% full; 2 relations have not left: ..." */
static char *
text_of(const TierEmptying *emptying, double share)
{
	int			stayed = emptying->stayed + emptying->waiting;
	const char *left = "";
	const char *rest = "";

	if (emptying->moved > 0)
		left = psprintf("; %d %s left, now %.1f%% full", emptying->moved,
						emptying->moved == 1 ? "relation has" : "relations have", 100.0 * share);
	if (emptying->is_busy)
		rest = "; another process is emptying it";
	else if (emptying->held_up != NULL)
		rest = psprintf("; %s", emptying->held_up);
	else if (stayed > 0)
		rest = psprintf("; %d %s not left: %s", stayed,
						stayed == 1 ? "relation has" : "relations have",
						emptying->why_stayed);
	return psprintf("%s%s%s", emptying->summary, left, rest);
}

void
tier_emptying_record_end(const TierEmptying *emptying)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	const TierSet *set = tier_catalog_tiers_now();
	double		share;

	if (set == NULL || !tier_catalog_try_enter(&scope))
		return;
	share = share_of(set, NameStr(emptying->tier_name));
	tier_catalog_fullness_evaluated(emptying->policy_id, emptying->share, emptying->leaving,
									tier_catalog_clip(text_of(emptying, share)));
	tier_catalog_leave(&scope);
	tier_transaction_commit();
	MemoryContextSwitchTo(context);
}
