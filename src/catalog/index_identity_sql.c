/*-------------------------------------------------------------------------
 *
 * catalog/index_identity_sql.c
 *		A recorded move or a pin, and the index that there is now: check, call, return.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

PG_FUNCTION_INFO_V1(tier_present_relation);
PG_FUNCTION_INFO_V1(tier_present_pinned);

/* Of a row that has the identity in these columns; 0: in none. */
static Oid
present(HeapTupleHeader row, const char *const columns[TIER_IDENTITY_COLUMNS])
{
	TierIndexIdentity identity;
	Datum		values[TIER_IDENTITY_COLUMNS];
	bool		nulls[TIER_IDENTITY_COLUMNS];

	for (int i = 0; i < TIER_IDENTITY_COLUMNS; i++)
		values[i] = GetAttributeByName(row, columns[i], &nulls[i]);
	if (nulls[0])
		return InvalidOid;
	tier_catalog_read_identity(values, nulls, &identity);
	return tier_relation_present(&identity, NULL);
}

static Datum
return_oid(FunctionCallInfo fcinfo, Oid relation_oid)
{
	if (!OidIsValid(relation_oid))
		PG_RETURN_NULL();
	PG_RETURN_OID(relation_oid);
}

/* _tiered_storage.present_relation(move _tiered_storage.move) */
Datum
tier_present_relation(PG_FUNCTION_ARGS)
{
	static const char *const columns[TIER_IDENTITY_COLUMNS] = {
		"relation_oid", "table_oid", "index_name", "definition_hash", "other_indexes"
	};

	return return_oid(fcinfo, present(PG_GETARG_HEAPTUPLEHEADER(0), columns));
}

/* _tiered_storage.present_pinned(pin _tiered_storage.pin) */
Datum
tier_present_pinned(PG_FUNCTION_ARGS)
{
	static const char *const columns[TIER_IDENTITY_COLUMNS] = {
		"relation_oid", "table_oid", "relation_name", "definition_hash", "other_indexes"
	};

	return return_oid(fcinfo, present(PG_GETARG_HEAPTUPLEHEADER(0), columns));
}
