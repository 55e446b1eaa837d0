/*-------------------------------------------------------------------------
 *
 * catalog/policy_rows.c
 *		The store of policies.  See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/base/attempt.h"
#include "src/catalog/tables.h"

#define PROPERTY(field, column_type) \
	{.name = #field, .type = (column_type), .offset = offsetof(TierPolicyRow, field)}
#define OPTIONAL(field, column_type) \
	{.name = #field, .type = (column_type), .offset = offsetof(TierPolicyRow, field), \
		.has = offsetof(TierPolicyRow, has_##field)}

const TierColumn tier_policy_properties[TIER_POLICY_PROPERTIES] = {
	OPTIONAL(move_after, INTERVALOID),
	OPTIONAL(index_tier, NAMEOID),
	OPTIONAL(idle_for, INTERVALOID),
	OPTIONAL(no_writes_for, INTERVALOID),
	PROPERTY(below_reads_per_hour, TIER_FLOAT8_OR_NAN),
	PROPERTY(key_unit, TEXTOID),
	PROPERTY(time_zone, TEXTOID),
	PROPERTY(include_indexes, BOOLOID),
	PROPERTY(return_when_reads_per_hour, TIER_FLOAT8_OR_NAN),
	OPTIONAL(return_after, INTERVALOID),
	OPTIONAL(return_tier, NAMEOID),
};

/*
 * Whether policy p may be on the relation (0: any).  A row has its OID, or after a restore its
 * name.  The test avoids the look-ups that the view needs for each row.
 */
#define OF_RELATION(oid) \
	"(" oid " = 0 OR p.relation_oid = " oid " OR p.relation_name = " \
	"(SELECT c.relname FROM _tiered_storage.relation_entry(" oid ") c))"

TierPolicyRow *
tier_catalog_load_policies_of(MemoryContext context, int policy_id, Oid relation_oid,
							  int *npolicies)
{
	static const TierColumn fields[] = {
		TIER_FIELD(TierPolicyRow, policy_id, INT4OID),
		TIER_FIELD(TierPolicyRow, relation_oid, OIDOID),
		TIER_FIELD(TierPolicyRow, relation_name, TEXTOID),
		TIER_FIELD(TierPolicyRow, tier_name, NAMEOID),
		TIER_FIELD(TierPolicyRow, created_by, OIDOID),
		TIER_FIELD(TierPolicyRow, is_enabled, BOOLOID),
		TIER_FIELD(TierPolicyRow, owner_oid, OIDOID),
		TIER_FIELD(TierPolicyRow, is_group, BOOLOID),
		TIER_FIELD(TierPolicyRow, schema_oid, OIDOID),
		TIER_FIELD(TierPolicyRow, added_at, TIMESTAMPTZOID),
	};
	MemoryContext old_context;
	StringInfoData sql;
	TierPolicyRow *policies;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT v.policy_id, v.relation::pg_catalog.oid, "
						   "v.relation_name, v.tier_name, v.created_by_oid, v.enabled, "
						   "COALESCE(g.owner_oid, CASE WHEN p.system_identifier = $1 "
						   "THEN p.owner_oid ELSE 0 END), "
						   "p.relation_oid = 0, g.schema_oid, p.created_at, ");
	tier_columns_append(&sql, "p.", tier_policy_properties, TIER_POLICY_PROPERTIES);
	appendStringInfoString(&sql, " FROM _tiered_storage.policies v "
						   "JOIN _tiered_storage.policy p ON p.policy_id = v.policy_id "
						   "LEFT JOIN _tiered_storage.policy_schemas g "
						   "ON g.policy_id = v.policy_id "
						   "WHERE ($2 = 0 OR p.policy_id = $2) AND " OF_RELATION("$3") " "
						   "ORDER BY v.policy_id");
	*npolicies = (int) tier_query(sql.data, tier_arg_int8((int64) GetSystemIdentifier()),
								  tier_arg_int4(policy_id), tier_arg_oid(relation_oid));
	policies = TIER_ROWS(context, TierPolicyRow, fields, *npolicies);
	old_context = MemoryContextSwitchTo(context);
	for (int i = 0; i < *npolicies; i++)
		tier_columns_load(&policies[i], tier_policy_properties, TIER_POLICY_PROPERTIES, i,
						  lengthof(fields) + 1);
	MemoryContextSwitchTo(old_context);
	return policies;
}

TierPolicyRow *
tier_catalog_load_policies(MemoryContext context, int *npolicies)
{
	return tier_catalog_load_policies_of(context, 0, InvalidOid, npolicies);
}

/*
 * Runs a statement in which %s stands for the columns of the properties, and then for their
 * parameters, which come after those that are given.
 */
static uint64
run_with_properties(const char *sql, const TierPolicyRow *row, const TierValue *fixed, int nfixed)
{
	TierValue	values[FUNC_MAX_ARGS];
	StringInfoData columns;
	StringInfoData parameters;

	initStringInfo(&columns);
	initStringInfo(&parameters);
	memcpy(values, fixed, sizeof(TierValue) * nfixed);
	tier_columns_args(row, tier_policy_properties, TIER_POLICY_PROPERTIES, values + nfixed);
	tier_columns_append(&columns, "", tier_policy_properties, TIER_POLICY_PROPERTIES);
	tier_columns_append_parameters(&parameters, nfixed + 1, TIER_POLICY_PROPERTIES);
	return tier_catalog_run(psprintf(sql, columns.data, parameters.data), values,
							nfixed + TIER_POLICY_PROPERTIES);
}

#define query_with_properties(sql, row, ...) \
	run_with_properties((sql), (row), (const TierValue[]) {__VA_ARGS__}, \
						(int) (sizeof((const TierValue[]) {__VA_ARGS__}) / sizeof(TierValue)))

/*
 * Returns true if there is a policy for this table or schema, and this tier; then its id is
 * the result of the query.
 */
static bool
find_same_policy(const TierPolicyRow *row)
{
	static const char sql[] =
	"SELECT v.policy_id FROM _tiered_storage.policies v "
	"JOIN _tiered_storage.policy p ON p.policy_id = v.policy_id "
	"LEFT JOIN _tiered_storage.policy_schemas g ON g.policy_id = v.policy_id "
	"WHERE v.tier_name = $2 AND " OF_RELATION("$1") " AND CASE WHEN $1 = 0 "
	"THEN g.schema_oid = $3 ELSE v.relation::pg_catalog.oid = $1 END ORDER BY 1";

	return tier_query(sql, tier_arg_oid(row->relation_oid), tier_arg_name(&row->tier_name),
					  tier_arg_oid(row->schema_oid)) > 0;
}

/* The values of a group for the columns of tier_catalog_identify(). */
static void
identify_group(const TierCatalogScope *scope, const TierPolicyRow *row, TierIdentity *identity)
{
	char	   *schema_name = get_namespace_name(row->schema_oid);

	if (schema_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("schema with OID %u does not exist", row->schema_oid)));
	namestrcpy(&identity->schema, schema_name);
	namestrcpy(&identity->relation, "");
	identity->tier = row->tier_name;
	namestrcpy(&identity->creator, GetUserNameFromId(scope->caller, false));
	namestrcpy(&identity->owner, GetUserNameFromId(row->owner_oid, false));
	identity->relation_oid = InvalidOid;
}

int
tier_catalog_policies_made_by(Oid role_oid)
{
	static const char sql[] =
	"SELECT count(*) FROM _tiered_storage.policy WHERE created_by_oid = $1";

	tier_query(sql, tier_arg_oid(role_oid));
	return (int) tier_get_int8(0, 1);
}

/* None of its tiers is removed until the end of the transaction. */
static void
hold_tiers(const TierPolicyRow *row)
{
	tier_catalog_hold_tier(&row->tier_name);
	if (row->has_index_tier)
		tier_catalog_hold_tier(&row->index_tier);
	if (row->has_return_tier)
		tier_catalog_hold_tier(&row->return_tier);
}

int
tier_catalog_add_policy(const TierCatalogScope *scope, const TierPolicyRow *row, bool *existed)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.policy (relation_oid, schema_name, relation_name, "
	"system_identifier, database_oid, tier_name, created_by, created_at, created_by_oid, "
	"owner_name, owner_oid, relation_kind, schema_oid, %s) "
	"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, %s) "
	"ON CONFLICT (relation_oid, tier_name, database_oid, system_identifier, schema_oid) "
	"DO NOTHING RETURNING policy_id";
	TierIdentity identity;

	if (row->is_group)
		identify_group(scope, row, &identity);
	else
		tier_catalog_identify(scope, row->relation_oid, row->owner_oid, &row->tier_name,
							  &identity);

	hold_tiers(row);

	/*
	 * The policy that exists may come from a restore, and have only the name
	 * of the table.
	 */
	*existed = find_same_policy(row);
	if (!*existed &&
		query_with_properties(sql, row, TIER_IDENTITY_VALUES(&identity),
							  tier_arg_name(&identity.creator), tier_arg_time(row->added_at),
							  tier_arg_oid(scope->caller), tier_arg_name(&identity.owner),
							  tier_arg_oid(row->owner_oid), tier_arg_char(row->relation_kind),
							  tier_arg_if(row->is_group, tier_arg_oid(row->schema_oid))) == 0)
	{
		/* Another session was faster; our snapshot may not show its row. */
		*existed = find_same_policy(row);
		if (!*existed)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not add the policy because of a concurrent change"),
					 errhint("Try again.")));
	}
	return tier_get_int4(0, 1);
}

void
tier_catalog_lock_policy(TierPolicyKind kind, int policy_id)
{
	tier_query(kind == TIER_POLICY_FULLNESS ?
			   "SELECT FROM _tiered_storage.fullness_policy WHERE policy_id = $1 FOR UPDATE" :
			   "SELECT FROM _tiered_storage.policy WHERE policy_id = $1 FOR UPDATE",
			   tier_arg_int4(policy_id));
}

/* A policy that is changed, and how many rows were. */
typedef struct PolicyChange
{
	const TierPolicyRow *row;
	Oid			role_oid;
	uint64		nchanged;
} PolicyChange;

static void
change_step(void *argument)
{
	static const char sql[] =
	"UPDATE _tiered_storage.policy SET tier_name = $2, created_by = $3, created_by_oid = $4, "
	"enabled = $5, created_at = $6, (%s) = ROW(%s) WHERE policy_id = $1";
	PolicyChange *change = argument;
	const TierPolicyRow *row = change->row;

	change->nchanged = query_with_properties(sql, row, tier_arg_int4(row->policy_id),
											 tier_arg_name(&row->tier_name),
											 tier_arg_name_text(GetUserNameFromId(change->role_oid,
																				  false)),
											 tier_arg_oid(change->role_oid),
											 tier_arg_bool(row->is_enabled),
											 tier_arg_time(row->added_at));
}

static void
complain_of_duplicate(const TierPolicyRow *row)
{
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_OBJECT),
			 errmsg("table %s already has a tiering policy for tier \"%s\"",
					row->relation_name, NameStr(row->tier_name)),
			 errhint("Alter that one, or remove it "
					 "with tiered_storage.remove_policy().")));
}

bool
tier_catalog_change_policy(const TierCatalogScope *scope, const TierPolicyRow *row)
{
	PolicyChange change = {row, scope->caller, 0};
	ErrorData  *error;

	hold_tiers(row);
	if (find_same_policy(row) && tier_get_int4(0, 1) != row->policy_id)
		complain_of_duplicate(row);

	/* Only the unique index finds an uncommitted row of another session. */
	error = tier_attempt(change_step, &change);
	if (error != NULL && error->sqlerrcode == ERRCODE_UNIQUE_VIOLATION)
		complain_of_duplicate(row);
	if (error != NULL)
		ReThrowError(error);
	return change.nchanged > 0;
}

bool
tier_catalog_enable_policy(int policy_id, bool enabled)
{
	return tier_query("UPDATE _tiered_storage.policy SET enabled = $2 "
					  "WHERE policy_id = $1", tier_arg_int4(policy_id),
					  tier_arg_bool(enabled)) > 0;
}

bool
tier_catalog_delete_policy(TierPolicyKind kind, int policy_id)
{
	return tier_query(kind == TIER_POLICY_FULLNESS ?
					  "DELETE FROM _tiered_storage.fullness_policy WHERE policy_id = $1" :
					  "DELETE FROM _tiered_storage.policy WHERE policy_id = $1",
					  tier_arg_int4(policy_id)) > 0;
}

void
tier_catalog_policy_evaluated(int policy_id, const TierPolicyResult *result)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.policy_result (policy_id, last_evaluated_at, last_due, "
	"last_on_target, last_fill, last_leaving, last_result) "
	"VALUES ($1, now(), NULLIF($2, -1), NULLIF($3, -1), $4, NULLIF($5, -1), $6) "
	"ON CONFLICT (policy_id) DO UPDATE SET "
	"last_evaluated_at = EXCLUDED.last_evaluated_at, last_due = EXCLUDED.last_due, "
	"last_on_target = EXCLUDED.last_on_target, last_fill = EXCLUDED.last_fill, "
	"last_leaving = EXCLUDED.last_leaving, last_result = EXCLUDED.last_result";

	tier_query(sql, tier_arg_int4(policy_id), tier_arg_int4(result->due),
			   tier_arg_int4(result->on_target), tier_arg_float8(result->fill),
			   tier_arg_int4(result->leaving), tier_arg_text(result->text));
}

bool
tier_catalog_policy_wants(const TierPolicyRow *policy, Oid leaf_oid, const NameData *tier,
						  Oid tablespace_oid)
{
	/* The leaf may hang below the table of the policy, or be it. */
	static const char sql[] =
	"WITH RECURSIVE above AS (SELECT $4 AS relation_oid UNION "
	"SELECT i.inhparent FROM pg_catalog.pg_inherits i JOIN above a "
	"ON i.inhrelid = a.relation_oid AND NOT i.inhdetachpending) "
	"SELECT FROM _tiered_storage.policy p "
	"JOIN _tiered_storage.tier_tablespaces t ON t.tier_name = $6 "
	"WHERE p.policy_id = $1 AND p.tier_name = $2 AND t.tablespace_oid = $3 AND p.enabled "
	"AND (%s) IS NOT DISTINCT FROM ROW(%s) "
	"AND (SELECT v.created_by_oid FROM _tiered_storage.policies v "
	"WHERE v.policy_id = p.policy_id) IS NOT DISTINCT FROM $7 "
	"AND ($5 = 0 OR EXISTS (SELECT FROM above a WHERE a.relation_oid = $5))";
	Oid			top_oid = policy->on_shards ? InvalidOid : policy->relation_oid;

	return query_with_properties(sql, policy, tier_arg_int4(policy->policy_id),
								 tier_arg_name(&policy->tier_name), tier_arg_oid(tablespace_oid),
								 tier_arg_oid(leaf_oid), tier_arg_oid(top_oid),
								 tier_arg_name(tier),
								 tier_arg_if(OidIsValid(policy->created_by),
											 tier_arg_oid(policy->created_by))) > 0;
}
