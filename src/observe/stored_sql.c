/*-------------------------------------------------------------------------
 *
 * observe/stored_sql.c
 *		How relations do compress, by what their files take.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "src/compat.h"
#include "src/base/sql.h"
#include "src/server/relation.h"
#include "src/storage/stored_bytes.h"

PG_FUNCTION_INFO_V1(tier_measured_compression);

/* measured_compression(relation): a row of ratio and reason, one of which is NULL. */
Datum
tier_measured_compression(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	TierRelationInfo info;
	TierStoredBytes found = {0, 0, "it has no file"};

	tier_result_start(fcinfo, &row);
	tier_row_clear(&row);
	if (tier_relation_lookup(PG_GETARG_OID(0), &info) && OidIsValid(info.file_number) &&
		info.persistence != RELPERSISTENCE_TEMP)
	{
		if (!tier_relation_may_sample(&info))
			found.why_not = "permission denied";
		else
			found = tier_stored_bytes(tier_relation_locator(&info));
	}
	if (found.why_not == NULL)
		tier_row_datum(&row, 0, Float8GetDatum(found.bytes / found.stored));
	tier_row_text(&row, 1, found.why_not);
	tier_row_put(&row);
	return (Datum) 0;
}
