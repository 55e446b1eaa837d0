/*-------------------------------------------------------------------------
 *
 * act/cycle.c
 *		What is done at each sample; see act/cycle.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "src/act/cycle.h"
#include "src/act/verify.h"
#include "src/catalog/tables.h"
#include "src/observe/sample.h"

bool
tier_cycle_sample(int patience_ms)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tiered_storage sample",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierSampleResult result;
	TierCatalogScope scope;
	bool		sampled;

	sampled = tier_sample_run(patience_ms, &result);
	if (sampled)
	{
		tier_catalog_enter(&scope);
		MemoryContextSwitchTo(context);
		tier_verify_run(result.devices, result.gone, result.ngone, result.sampled_at);
		tier_catalog_leave(&scope);
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return sampled;
}
