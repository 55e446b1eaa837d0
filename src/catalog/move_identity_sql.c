/*-------------------------------------------------------------------------
 *
 * catalog/move_identity_sql.c
 *		A recorded move, and the index that there is now: check, call, return.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

PG_FUNCTION_INFO_V1(tier_present_relation);

/* _tiered_storage.present_relation(move _tiered_storage.move) */
Datum
tier_present_relation(PG_FUNCTION_ARGS)
{
	static const char *const columns[TIER_IDENTITY_COLUMNS] = {
		"relation_oid", "table_oid", "index_name", "definition_hash", "other_indexes"
	};
	HeapTupleHeader move = PG_GETARG_HEAPTUPLEHEADER(0);
	TierIndexIdentity identity;
	Datum		values[TIER_IDENTITY_COLUMNS];
	bool		nulls[TIER_IDENTITY_COLUMNS];

	for (int i = 0; i < TIER_IDENTITY_COLUMNS; i++)
		values[i] = GetAttributeByName(move, columns[i], &nulls[i]);
	if (nulls[0])
		PG_RETURN_NULL();
	tier_catalog_read_identity(values, nulls, &identity);
	PG_RETURN_OID(tier_relation_present(&identity, NULL));
}
