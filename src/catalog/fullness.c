/*-------------------------------------------------------------------------
 *
 * catalog/fullness.c
 *		The store of fullness policies.  See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

static double
float8_or_nan(uint64 row, int column)
{
	bool		isnull;
	Datum		datum = tier_catalog_datum(row, column, &isnull);

	return isnull ? NAN : DatumGetFloat8(datum);
}

static Datum
nan_is_null(double value, char *null)
{
	*null = isnan(value) ? 'n' : ' ';
	return Float8GetDatum(value);
}

TierFullnessRow *
tier_catalog_load_fullness(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT policy_id, tier_name, target_name, high_watermark, low_watermark, enabled "
	"FROM _tiered_storage.fullness_policy ORDER BY policy_id";
	TierFullnessRow *rows;
	bool		isnull;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	rows = MemoryContextAllocZero(context, sizeof(TierFullnessRow) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		rows[i].policy_id = DatumGetInt32(tier_catalog_datum(i, 1, &isnull));
		rows[i].tier_name = *DatumGetName(tier_catalog_datum(i, 2, &isnull));
		rows[i].target_name = *DatumGetName(tier_catalog_datum(i, 3, &isnull));
		rows[i].high_watermark = float8_or_nan(i, 4);
		rows[i].low_watermark = float8_or_nan(i, 5);
		rows[i].is_enabled = DatumGetBool(tier_catalog_datum(i, 6, &isnull));
	}
	return rows;
}

static bool
find_fullness(const NameData *tier_name)
{
	static const char sql[] =
	"SELECT policy_id FROM _tiered_storage.fullness_policy WHERE tier_name = $1";
	static const Oid types[] = {NAMEOID};
	NameData	name = *tier_name;
	Datum		value = NameGetDatum(&name);

	return tier_catalog_execute(sql, 1, types, &value, NULL) > 0;
}

int
tier_catalog_add_fullness(const TierCatalogScope *scope, const TierFullnessRow *row,
						  bool *existed)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.fullness_policy (tier_name, target_name, high_watermark, "
	"low_watermark, created_by, created_by_oid, system_identifier, created_at) "
	"VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tier_name) DO NOTHING "
	"RETURNING policy_id";
	static const Oid types[] = {
		NAMEOID, NAMEOID, FLOAT8OID, FLOAT8OID, NAMEOID, OIDOID, INT8OID, TIMESTAMPTZOID
	};
	char		nulls[] = "        ";
	NameData	tier = row->tier_name;
	NameData	target = row->target_name;
	NameData	role;
	Datum		values[8];
	bool		isnull;

	tier_catalog_hold_tier(&tier);
	tier_catalog_hold_tier(&target);
	namestrcpy(&role, GetUserNameFromId(scope->caller, false));
	values[0] = NameGetDatum(&tier);
	values[1] = NameGetDatum(&target);
	values[2] = nan_is_null(row->high_watermark, &nulls[2]);
	values[3] = nan_is_null(row->low_watermark, &nulls[3]);
	values[4] = NameGetDatum(&role);
	values[5] = ObjectIdGetDatum(scope->caller);
	values[6] = Int64GetDatum((int64) GetSystemIdentifier());
	values[7] = TimestampTzGetDatum(GetCurrentTimestamp());
	*existed = find_fullness(&tier);
	if (!*existed && tier_catalog_execute(sql, 8, types, values, nulls) == 0)
	{
		/* Another session was faster; our snapshot may not show its row. */
		*existed = find_fullness(&tier);
		if (!*existed)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not add the policy because of a concurrent change"),
					 errhint("Try again.")));
	}
	return DatumGetInt32(tier_catalog_datum(0, 1, &isnull));
}

void
tier_catalog_lock_fullness(int policy_id)
{
	static const char sql[] =
	"SELECT FROM _tiered_storage.fullness_policy WHERE policy_id = $1 FOR UPDATE";
	static const Oid types[] = {INT4OID};
	Datum		value = Int32GetDatum(policy_id);

	tier_catalog_execute(sql, 1, types, &value, NULL);
}

bool
tier_catalog_change_fullness(const TierCatalogScope *scope, const TierFullnessRow *row,
							 bool disables_only)
{
	static const char sql[] =
	"UPDATE _tiered_storage.fullness_policy SET target_name = $2, high_watermark = $3, "
	"low_watermark = $4, enabled = $5, created_by = COALESCE($6, created_by), "
	"created_by_oid = COALESCE($7, created_by_oid), "
	"system_identifier = COALESCE($8, system_identifier) WHERE policy_id = $1";
	static const Oid types[] = {
		INT4OID, NAMEOID, FLOAT8OID, FLOAT8OID, BOOLOID, NAMEOID, OIDOID, INT8OID
	};
	char		nulls[] = "        ";
	NameData	target = row->target_name;
	NameData	role;
	Datum		values[8];

	tier_catalog_hold_tier(&target);
	namestrcpy(&role, GetUserNameFromId(scope->caller, false));
	values[0] = Int32GetDatum(row->policy_id);
	values[1] = NameGetDatum(&target);
	values[2] = nan_is_null(row->high_watermark, &nulls[2]);
	values[3] = nan_is_null(row->low_watermark, &nulls[3]);
	values[4] = BoolGetDatum(row->is_enabled);
	values[5] = NameGetDatum(&role);
	values[6] = ObjectIdGetDatum(scope->caller);
	values[7] = Int64GetDatum((int64) GetSystemIdentifier());
	if (disables_only)
		nulls[5] = nulls[6] = nulls[7] = 'n';
	return tier_catalog_execute(sql, 8, types, values, nulls) > 0;
}

bool
tier_catalog_delete_fullness(int policy_id)
{
	static const Oid types[] = {INT4OID};
	Datum		value = Int32GetDatum(policy_id);

	return tier_catalog_execute("DELETE FROM _tiered_storage.fullness_policy WHERE policy_id = $1",
								1, types, &value, NULL) > 0;
}

void
tier_catalog_fullness_evaluated(int policy_id, double fill, int leaving, const char *result)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.policy_result "
	"(policy_id, last_evaluated_at, last_fill, last_leaving, last_result) "
	"VALUES ($1, now(), $2, $3, $4) ON CONFLICT (policy_id) DO UPDATE SET "
	"last_evaluated_at = EXCLUDED.last_evaluated_at, last_fill = EXCLUDED.last_fill, "
	"last_leaving = EXCLUDED.last_leaving, last_result = EXCLUDED.last_result";
	static const Oid types[] = {INT4OID, FLOAT8OID, INT4OID, TEXTOID};
	char		nulls[] = "    ";
	Datum		values[4];

	values[0] = Int32GetDatum(policy_id);
	values[1] = nan_is_null(fill, &nulls[1]);
	values[2] = Int32GetDatum(leaving);
	values[3] = CStringGetTextDatum(result);
	tier_catalog_execute(sql, 4, types, values, nulls);
}
