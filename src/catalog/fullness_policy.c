/*-------------------------------------------------------------------------
 *
 * catalog/fullness_policy.c
 *		The store of fullness policies.  See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

TierFullnessRow *
tier_catalog_load_fullness(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT policy_id, tier_name, target_name, high_watermark, low_watermark, enabled "
	"FROM _tiered_storage.fullness_policy ORDER BY policy_id";
	static const TierColumn fields[] = {
		TIER_FIELD(TierFullnessRow, policy_id, INT4OID),
		TIER_FIELD(TierFullnessRow, tier_name, NAMEOID),
		TIER_FIELD(TierFullnessRow, target_name, NAMEOID),
		TIER_FIELD(TierFullnessRow, high_watermark, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierFullnessRow, low_watermark, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierFullnessRow, is_enabled, BOOLOID),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierFullnessRow, fields, *n);
}

static bool
find_fullness(const NameData *tier_name)
{
	static const char sql[] =
	"SELECT policy_id FROM _tiered_storage.fullness_policy WHERE tier_name = $1";
	NameData	name = *tier_name;

	return tier_query(sql, tier_arg_name(&name)) > 0;
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
	NameData	role;

	tier_catalog_hold_tier(&row->tier_name);
	tier_catalog_hold_tier(&row->target_name);
	namestrcpy(&role, GetUserNameFromId(scope->caller, false));
	*existed = find_fullness(&row->tier_name);
	if (!*existed &&
		tier_query(sql, tier_arg_name(&row->tier_name), tier_arg_name(&row->target_name),
				   tier_arg_float8(row->high_watermark), tier_arg_float8(row->low_watermark),
				   tier_arg_name(&role), tier_arg_oid(scope->caller),
				   tier_arg_int8((int64) GetSystemIdentifier()),
				   tier_arg_time(GetCurrentTimestamp())) == 0)
	{
		/* Another session was faster; our snapshot may not show its row. */
		*existed = find_fullness(&row->tier_name);
		if (!*existed)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not add the policy because of a concurrent change"),
					 errhint("Try again.")));
	}
	return tier_get_int4(0, 1);
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
	NameData	role;

	tier_catalog_hold_tier(&row->target_name);
	namestrcpy(&role, GetUserNameFromId(scope->caller, false));
	return tier_query(sql, tier_arg_int4(row->policy_id), tier_arg_name(&row->target_name),
					  tier_arg_float8(row->high_watermark), tier_arg_float8(row->low_watermark),
					  tier_arg_bool(row->is_enabled), tier_arg_if(!disables_only,
																  tier_arg_name(&role)),
					  tier_arg_if(!disables_only, tier_arg_oid(scope->caller)),
					  tier_arg_if(!disables_only,
								  tier_arg_int8((int64) GetSystemIdentifier()))) > 0;
}
