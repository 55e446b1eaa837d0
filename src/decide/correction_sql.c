/*-------------------------------------------------------------------------
 *
 * decide/correction_sql.c
 *		What has been learned of the devices of tiers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "src/base/sql.h"
#include "src/catalog/tables.h"

PG_FUNCTION_INFO_V1(tier_tier_corrections);

Datum
tier_tier_corrections(PG_FUNCTION_ARGS)
{
	TierCatalogScope scope;
	TierResultRow row;
	TierSet    *set;

	tier_result_start(fcinfo, &row);
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(CurrentMemoryContext);
	for (int t = 0; t < set->ntiers; t++)
	{
		const TierCostCorrection *correction = &set->tiers[t].profile.correction;

		if (!(correction->measurements > 0.0))
			continue;
		tier_row_clear(&row);
		tier_row_name(&row, 0, NameStr(set->tiers[t].name));
		tier_row_datum(&row, 1, Float8GetDatum(correction->random_reads));
		tier_row_datum(&row, 2, Float8GetDatum(correction->sequential_reads));
		tier_row_datum(&row, 3, Float8GetDatum(correction->writes));
		tier_row_datum(&row, 4, Int32GetDatum((int32) correction->measurements));
		tier_row_put(&row);
	}
	tier_catalog_leave(&scope);
	return (Datum) 0;
}
