/*-------------------------------------------------------------------------
 *
 * decide/visibility.c
 *		Which advised moves save less than they could, since index-only scans have to look
 *		into a table that is not vacuumed.
 *
 * What is promised of a move takes the plans, and what they read, to stay what they are.
 * A vacuum would change more than the move, so whoever reads the advice is told.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/advice.h"

static TierUnvacuumed *
load_unvacuumed(const Oid *tables, int ntables, int *n)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierUnvacuumed *unvacuumed;

	tier_catalog_enter(&scope);
	unvacuumed = tier_catalog_load_unvacuumed(context, tables, ntables,
											  TIER_ADVICE_MIN_BYTES / BLCKSZ, n);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	return unvacuumed;
}

static int
compare(const void *relation_oid, const void *unvacuumed)
{
	Oid			left = *(const Oid *) relation_oid;
	Oid			right = ((const TierUnvacuumed *) unvacuumed)->relation_oid;

	return left < right ? -1 : left > right ? 1 : 0;
}

static bool
is_asked_for(const TierAdviceUnit *unit, Oid relation_oid)
{
	return OidIsValid(relation_oid) ? unit->relation_oid == relation_oid :
		unit->is_selected && unit->recommended_tier != unit->current_tier;
}

void
tier_advice_look_at_visibility(TierAdvice *advice, Oid relation_oid)
{
	Oid		   *tables = palloc_extended(sizeof(Oid) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	TierUnvacuumed *unvacuumed;
	int			ntables = 0;
	int			n;

	for (int i = 0; i < advice->nunits; i++)
		if (is_asked_for(&advice->units[i], relation_oid))
			tables[ntables++] = advice->units[i].heap_oid;
	if (ntables > 0)
	{
		unvacuumed = load_unvacuumed(tables, ntables, &n);
		for (int i = 0; i < advice->nunits && n > 0; i++)
		{
			const TierUnvacuumed *table = bsearch(&advice->units[i].heap_oid, unvacuumed, n,
												  sizeof(TierUnvacuumed), compare);

			if (table != NULL && is_asked_for(&advice->units[i], relation_oid))
				advice->units[i].looked_into = 1.0 - table->visible_fraction;
		}
	}
	pfree(tables);
}
