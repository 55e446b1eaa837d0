/*-------------------------------------------------------------------------
 *
 * catalog/policy.c
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

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/catalog/tables.h"

/*
 * May policy p be that of the relation?  A row has its OID, or where it was restored its name,
 * and that is found without what the view has to look up for each of its rows.
 */
#define OF_RELATION(oid) \
	"(p.relation_oid = " oid " OR p.relation_name = " \
	"(SELECT c.relname FROM _tiered_storage.relation_entry(" oid ") c))"

TierPolicyRow *
tier_catalog_load_policies_of(MemoryContext context, int policy_id, Oid relation_oid,
							  int *npolicies)
{
	static const char sql[] =
	"SELECT v.policy_id, v.relation::pg_catalog.oid, v.relation_name, v.tier_name, "
	"v.move_after, "
	"v.include_indexes, v.key_unit, v.key_epoch, v.key_shift, "
	"v.time_zone, "
	"v.created_by_oid, v.enabled, v.key_shift IS NOT NULL, "
	"COALESCE(g.owner_oid, CASE WHEN p.system_identifier = $1 THEN p.owner_oid ELSE 0 END), "
	"v.idle_for, v.no_writes_for, v.below_reads_per_hour, v.index_tier, "
	"p.relation_oid = 0, p.schema_oid IS NOT NULL, g.schema_oid, "
	"v.names_like, "
	"p.return_reads_per_hour, p.return_after, p.return_tier, p.created_at "
	"FROM _tiered_storage.policies v "
	"JOIN _tiered_storage.policy p ON p.policy_id = v.policy_id "
	"LEFT JOIN _tiered_storage.policy_schemas g ON g.policy_id = v.policy_id "
	"WHERE ($2 = 0 OR p.policy_id = $2) AND ($3 = 0 OR " OF_RELATION("$3") ") "
	"ORDER BY v.policy_id";
	TierPolicyRow *policies;
	uint64		n;
	bool		isnull;

	n = tier_query(sql, tier_arg_int8((int64) GetSystemIdentifier()), tier_arg_int4(policy_id),
				   tier_arg_oid(relation_oid));
	policies = MemoryContextAllocZero(context, sizeof(TierPolicyRow) * Max(n, 1));
	for (uint64 i = 0; i < n; i++)
	{
		TierPolicyRow *policy = &policies[i];

		policy->policy_id = tier_get_int4(i, 1);
		policy->relation_oid = tier_get_oid(i, 2);
		policy->relation_name = tier_get_text(context, i, 3);
		policy->tier_name = tier_get_name(i, 4);
		policy->has_move_after = tier_get_interval(i, 5, &policy->move_after);
		policy->include_indexes = tier_get_bool(i, 6);
		policy->key.unit = tier_get_text(context, i, 7);
		(void) tier_catalog_datum(i, 8, &isnull);
		policy->key.has_epoch = !isnull;
		policy->key.epoch = tier_get_time(i, 8);
		policy->key.shift = tier_get_int4(i, 9);
		policy->time_zone = tier_get_text(context, i, 10);
		policy->created_by = tier_get_oid(i, 11);
		policy->is_enabled = tier_get_bool(i, 12);
		policy->key_counts = tier_get_bool(i, 13);
		policy->owner_oid = tier_get_oid(i, 14);
		policy->has_idle_for = tier_get_interval(i, 15, &policy->idle_for);
		policy->has_no_writes_for = tier_get_interval(i, 16, &policy->no_writes_for);
		policy->below_reads_per_hour = tier_get_float8(i, 17);
		policy->index_tier = tier_get_name(i, 18);
		policy->has_index_tier = NameStr(policy->index_tier)[0] != '\0';
		policy->is_group = tier_get_bool(i, 19);
		policy->has_schema = tier_get_bool(i, 20);
		policy->schema_oid = tier_get_oid(i, 21);
		policy->names_like = tier_get_text(context, i, 22);
		policy->return_reads_per_hour = tier_get_float8(i, 23);
		policy->has_return_after = tier_get_interval(i, 24, &policy->return_after);
		policy->return_tier = tier_get_name(i, 25);
		policy->has_return_tier = NameStr(policy->return_tier)[0] != '\0';
		policy->added_at = tier_get_time(i, 26);
	}
	*npolicies = (int) n;
	return policies;
}

TierPolicyRow *
tier_catalog_load_policies(MemoryContext context, int *npolicies)
{
	return tier_catalog_load_policies_of(context, 0, InvalidOid, npolicies);
}

/*
 * What of a policy can be altered beside its tier, in the order of these columns; three
 * statements have them.  Intervals in the values point into the row.
 */
#define PROPERTIES \
	"move_after, include_indexes, key_unit, key_epoch, key_shift, time_zone, " \
	"idle_for, no_writes_for, below_reads_per_hour, index_tier, " \
	"return_reads_per_hour, return_after, return_tier"
#define PROPERTY_VALUES(row) \
	tier_arg_if((row)->has_move_after, tier_arg_interval(&(row)->move_after)), \
	tier_arg_bool((row)->include_indexes), \
	tier_arg_text((row)->key.unit), \
	tier_arg_if((row)->key.has_epoch, tier_arg_time((row)->key.epoch)), \
	tier_arg_if((row)->key_counts, tier_arg_int4((row)->key.shift)), \
	tier_arg_text((row)->time_zone), \
	tier_arg_if((row)->has_idle_for, tier_arg_interval(&(row)->idle_for)), \
	tier_arg_if((row)->has_no_writes_for, tier_arg_interval(&(row)->no_writes_for)), \
	tier_arg_float8((row)->below_reads_per_hour), \
	tier_arg_if((row)->has_index_tier, tier_arg_name(&(row)->index_tier)), \
	tier_arg_float8((row)->return_reads_per_hour), \
	tier_arg_if((row)->has_return_after, tier_arg_interval(&(row)->return_after)), \
	tier_arg_if((row)->has_return_tier, tier_arg_name(&(row)->return_tier))

/* Is there one for this table and tier?  Then its id is the result. */
static bool
find_policy(Oid relation_oid, const NameData *tier)
{
	static const char sql[] =
	"SELECT v.policy_id FROM _tiered_storage.policies v "
	"JOIN _tiered_storage.policy p ON p.policy_id = v.policy_id "
	"WHERE v.relation::pg_catalog.oid = $1 AND v.tier_name = $2 AND " OF_RELATION("$1")
	" ORDER BY 1";

	return tier_query(sql, tier_arg_oid(relation_oid), tier_arg_name(tier)) > 0;
}

/* The same for a group of tables. */
static bool
find_group_policy(const TierPolicyRow *row)
{
	static const char sql[] =
	"SELECT v.policy_id FROM _tiered_storage.policies v "
	"JOIN _tiered_storage.policy p ON p.policy_id = v.policy_id "
	"LEFT JOIN _tiered_storage.policy_schemas g ON g.policy_id = v.policy_id "
	"WHERE p.relation_oid = 0 AND v.tier_name = $1 "
	"AND (p.schema_oid IS NULL) = ($2 IS NULL) AND ($2 IS NULL OR g.schema_oid = $2) "
	"AND v.names_like IS NOT DISTINCT FROM $3 ORDER BY 1";

	return tier_query(sql, tier_arg_name(&row->tier_name),
					  tier_arg_if(row->has_schema, tier_arg_oid(row->schema_oid)),
					  tier_arg_text(row->names_like)) > 0;
}

static bool
find_same_policy(const TierPolicyRow *row)
{
	return row->is_group ? find_group_policy(row) :
		find_policy(row->relation_oid, &row->tier_name);
}

/* What is stored of a group in the columns of tier_catalog_identify(). */
static void
identify_group(const TierCatalogScope *scope, const TierPolicyRow *row, TierIdentity *identity)
{
	char	   *schema_name = row->has_schema ? get_namespace_name(row->schema_oid) : pstrdup("");

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
	"owner_name, owner_oid, relation_kind, " PROPERTIES ", schema_oid, names_like) "
	"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
	"$13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27) "
	"ON CONFLICT (relation_oid, tier_name, database_oid, system_identifier, schema_oid, "
	"names_like) DO NOTHING "
	"RETURNING policy_id";
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
		tier_query(sql, TIER_IDENTITY_VALUES(&identity), tier_arg_name(&identity.creator),
				   tier_arg_time(row->added_at), tier_arg_oid(scope->caller),
				   tier_arg_name(&identity.owner), tier_arg_oid(row->owner_oid),
				   tier_arg_char(row->relation_kind), PROPERTY_VALUES(row),
				   tier_arg_if(row->has_schema, tier_arg_oid(row->schema_oid)),
				   tier_arg_text(row->names_like)) == 0)
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
tier_catalog_lock_policy(int policy_id)
{
	static const char sql[] =
	"SELECT FROM _tiered_storage.policy WHERE policy_id = $1 FOR UPDATE";

	tier_query(sql, tier_arg_int4(policy_id));
}

/* A statement on policies that others may be changing, and how many rows it changed. */
typedef struct PolicyStatement
{
	const char *sql;
	const TierValue *values;
	int			nvalues;
	uint64		nchanged;
} PolicyStatement;

static void
execute_step(void *argument)
{
	PolicyStatement *statement = argument;

	statement->nchanged = tier_catalog_run(statement->sql, statement->values,
										   statement->nvalues);
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
	static const char sql[] =
	"UPDATE _tiered_storage.policy SET tier_name = $2, created_by = $3, created_by_oid = $4, "
	"enabled = $5, (" PROPERTIES ") = "
	"ROW($6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) "
	"WHERE policy_id = $1";
	NameData	role;
	const TierValue values[] = {
		tier_arg_int4(row->policy_id), tier_arg_name(&row->tier_name), tier_arg_name(&role),
		tier_arg_oid(scope->caller), tier_arg_bool(row->is_enabled), PROPERTY_VALUES(row)
	};
	PolicyStatement statement = {sql, values, lengthof(values), 0};
	ErrorData  *error;

	hold_tiers(row);
	if (find_same_policy(row) && tier_get_int4(0, 1) != row->policy_id)
		complain_of_duplicate(row);
	namestrcpy(&role, GetUserNameFromId(scope->caller, false));

	/* What another session has not committed yet, only the key knows. */
	error = tier_attempt(execute_step, &statement);
	if (error != NULL && error->sqlerrcode == ERRCODE_UNIQUE_VIOLATION)
		complain_of_duplicate(row);
	if (error != NULL)
		ReThrowError(error);
	return statement.nchanged > 0;
}

bool
tier_catalog_enable_policy(int policy_id, bool enabled)
{
	return tier_query("UPDATE _tiered_storage.policy SET enabled = $2 "
					  "WHERE policy_id = $1", tier_arg_int4(policy_id),
					  tier_arg_bool(enabled)) > 0;
}

bool
tier_catalog_delete_policy(int policy_id)
{
	return tier_query("DELETE FROM _tiered_storage.policy WHERE policy_id = $1",
					  tier_arg_int4(policy_id)) > 0;
}

void
tier_catalog_policy_evaluated(int policy_id, int due, int on_target, const char *result)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.policy_result "
	"(policy_id, last_evaluated_at, last_due, last_on_target, last_result) "
	"VALUES ($1, now(), $2, $3, $4) ON CONFLICT (policy_id) DO UPDATE SET "
	"last_evaluated_at = EXCLUDED.last_evaluated_at, last_due = EXCLUDED.last_due, "
	"last_on_target = EXCLUDED.last_on_target, last_result = EXCLUDED.last_result";

	tier_query(sql, tier_arg_int4(policy_id), tier_arg_int4(due), tier_arg_int4(on_target),
			   tier_arg_text(result));
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
	"JOIN _tiered_storage.tier_tablespaces t ON t.tier_name = $19 "
	"WHERE p.policy_id = $1 AND p.tier_name = $2 AND t.tablespace_oid = $3 AND p.enabled "
	"AND (" PROPERTIES ") IS NOT DISTINCT FROM "
	"ROW($6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) "
	"AND (SELECT v.created_by_oid FROM _tiered_storage.policies v "
	"WHERE v.policy_id = p.policy_id) IS NOT DISTINCT FROM $20 "
	"AND ($5 = 0 OR EXISTS (SELECT FROM above a WHERE a.relation_oid = $5))";

	return tier_query(sql, tier_arg_int4(policy->policy_id), tier_arg_name(&policy->tier_name),
					  tier_arg_oid(tablespace_oid), tier_arg_oid(leaf_oid),
					  tier_arg_oid(policy->on_shards ? InvalidOid : policy->relation_oid),
					  PROPERTY_VALUES(policy), tier_arg_name(tier),
					  tier_arg_if(OidIsValid(policy->created_by),
								  tier_arg_oid(policy->created_by))) > 0;
}
