/*-------------------------------------------------------------------------
 *
 * act/lock_wait_budget.c
 *		How long relations that are locked are waited for in vain, for each owner.
 *
 * See act/lock_wait_budget.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/compat.h"
#include "src/act/lock_wait_budget.h"
#include "src/base/debug.h"

/* So long for each owner in one run, which comes every few minutes. */
#define PATIENCE_MS 60000.0

typedef struct Wasted
{
	Oid			owner_oid;
	double		ms;
} Wasted;

static Wasted *
find_wasted(const TierLockWaitBudget *budget, Oid owner_oid)
{
	ListCell   *cell;

	foreach(cell, budget->wasted)
	{
		Wasted	   *wasted = lfirst(cell);

		if (wasted->owner_oid == owner_oid)
			return wasted;
	}
	return NULL;
}

void
tier_lock_wait_spend(TierLockWaitBudget *budget, Oid owner_oid, double ms)
{
	MemoryContext old_context = MemoryContextSwitchTo(budget->context);
	Wasted	   *wasted = find_wasted(budget, owner_oid);

	if (wasted == NULL)
	{
		wasted = palloc0(sizeof(Wasted));
		wasted->owner_oid = owner_oid;
		budget->wasted = lappend(budget->wasted, wasted);
	}
	wasted->ms += ms;
	MemoryContextSwitchTo(old_context);
}

bool
tier_lock_wait_is_spent(const TierLockWaitBudget *budget, Oid owner_oid)
{
	const Wasted *wasted = find_wasted(budget, owner_oid);

	return wasted != NULL &&
		(wasted->ms >= PATIENCE_MS || tier_debug_skips("owner_patience"));
}
