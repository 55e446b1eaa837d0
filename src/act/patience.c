/*-------------------------------------------------------------------------
 *
 * act/patience.c
 *		How long relations that are locked are waited for in vain, for each owner.
 *
 * See act/patience.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/compat.h"
#include "src/act/patience.h"
#include "src/base/debug.h"

/* So long for each owner in one run, which comes every few minutes. */
#define PATIENCE_MS 60000.0

typedef struct Wasted
{
	Oid			owner_oid;
	double		ms;
} Wasted;

static Wasted *
find_wasted(const TierPatience *patience, Oid owner_oid)
{
	ListCell   *cell;

	foreach(cell, patience->wasted)
	{
		Wasted	   *wasted = lfirst(cell);

		if (wasted->owner_oid == owner_oid)
			return wasted;
	}
	return NULL;
}

void
tier_patience_spend(TierPatience *patience, Oid owner_oid, double ms)
{
	MemoryContext old_context = MemoryContextSwitchTo(patience->context);
	Wasted	   *wasted = find_wasted(patience, owner_oid);

	if (wasted == NULL)
	{
		wasted = palloc0(sizeof(Wasted));
		wasted->owner_oid = owner_oid;
		patience->wasted = lappend(patience->wasted, wasted);
	}
	wasted->ms += ms;
	MemoryContextSwitchTo(old_context);
}

bool
tier_patience_is_over(const TierPatience *patience, Oid owner_oid)
{
	const Wasted *wasted = find_wasted(patience, owner_oid);

	return wasted != NULL &&
		(wasted->ms >= PATIENCE_MS || tier_debug_skips("owner_patience"));
}
