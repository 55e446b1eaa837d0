/*-------------------------------------------------------------------------
 *
 * catalog/policy.c
 *		The store of policies.  See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/catalog/tables.h"

static char *
text_column(uint64 row, int column)
{
	bool		isnull;
	Datum		datum = tier_catalog_datum(row, column, &isnull);

	return isnull ? NULL : TextDatumGetCString(datum);
}

/* False, and *interval zero, where there is none. */
static bool
interval_column(uint64 row, int column, Interval *interval)
{
	bool		isnull;
	Datum		datum = tier_catalog_datum(row, column, &isnull);

	if (!isnull)
		*interval = *DatumGetIntervalP(datum);
	return !isnull;
}

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
	"v.include_indexes, v.age_from = 'newest', v.key_unit, v.key_epoch, v.key_shift, "
	"v.time_zone, "
	"v.created_by_oid, v.enabled, v.key_shift IS NOT NULL, "
	"COALESCE(g.owner_oid, CASE WHEN p.system_identifier = $1 THEN p.owner_oid ELSE 0 END), "
	"v.idle_for, v.no_writes_for, v.below_reads_per_hour, v.index_tier, "
	"p.relation_oid = 0, p.schema_oid IS NOT NULL, g.schema_oid, "
	"v.names_like, "
	"p.return_reads_per_hour, p.return_after, p.return_tier "
	"FROM _tiered_storage.policies v "
	"JOIN _tiered_storage.policy p ON p.policy_id = v.policy_id "
	"LEFT JOIN _tiered_storage.policy_schemas g ON g.policy_id = v.policy_id "
	"WHERE ($2 = 0 OR p.policy_id = $2) AND ($3 = 0 OR " OF_RELATION("$3") ") "
	"ORDER BY v.policy_id";
	static const Oid types[] = {INT8OID, INT4OID, OIDOID};
	Datum		values[3];
	MemoryContext old_context;
	TierPolicyRow *policies;
	uint64		n;
	bool		isnull;

	values[0] = Int64GetDatum((int64) GetSystemIdentifier());
	values[1] = Int32GetDatum(policy_id);
	values[2] = ObjectIdGetDatum(relation_oid);
	n = tier_catalog_execute(sql, 3, types, values, NULL);
	old_context = MemoryContextSwitchTo(context);
	policies = palloc0(sizeof(TierPolicyRow) * Max(n, 1));
	for (uint64 i = 0; i < n; i++)
	{
		TierPolicyRow *policy = &policies[i];
		Datum		relation;
		Datum		epoch;
		Datum		shift;
		Datum		creator;
		Datum		reads;
		Datum		tier;
		Datum		schema;

		policy->policy_id = DatumGetInt32(tier_catalog_datum(i, 1, &isnull));
		relation = tier_catalog_datum(i, 2, &isnull);
		policy->relation_oid = isnull ? InvalidOid : DatumGetObjectId(relation);
		policy->relation_name = text_column(i, 3);
		policy->tier_name = *DatumGetName(tier_catalog_datum(i, 4, &isnull));
		policy->has_move_after = interval_column(i, 5, &policy->move_after);
		policy->include_indexes = DatumGetBool(tier_catalog_datum(i, 6, &isnull));
		policy->age_from_newest = DatumGetBool(tier_catalog_datum(i, 7, &isnull));
		policy->key.unit = text_column(i, 8);
		epoch = tier_catalog_datum(i, 9, &isnull);
		policy->key.has_epoch = !isnull;
		policy->key.epoch = isnull ? 0 : DatumGetTimestampTz(epoch);
		shift = tier_catalog_datum(i, 10, &isnull);
		policy->key.shift = isnull ? 0 : DatumGetInt32(shift);
		policy->time_zone = text_column(i, 11);
		creator = tier_catalog_datum(i, 12, &isnull);
		policy->created_by = isnull ? InvalidOid : DatumGetObjectId(creator);
		policy->is_enabled = DatumGetBool(tier_catalog_datum(i, 13, &isnull));
		policy->key_counts = DatumGetBool(tier_catalog_datum(i, 14, &isnull));
		policy->owner_oid = DatumGetObjectId(tier_catalog_datum(i, 15, &isnull));
		policy->has_idle_for = interval_column(i, 16, &policy->idle_for);
		policy->has_no_writes_for = interval_column(i, 17, &policy->no_writes_for);
		reads = tier_catalog_datum(i, 18, &isnull);
		policy->below_reads_per_hour = isnull ? NAN : DatumGetFloat8(reads);
		tier = tier_catalog_datum(i, 19, &isnull);
		policy->has_index_tier = !isnull;
		if (!isnull)
			policy->index_tier = *DatumGetName(tier);
		policy->is_group = DatumGetBool(tier_catalog_datum(i, 20, &isnull));
		policy->has_schema = DatumGetBool(tier_catalog_datum(i, 21, &isnull));
		schema = tier_catalog_datum(i, 22, &isnull);
		policy->schema_oid = isnull ? InvalidOid : DatumGetObjectId(schema);
		policy->names_like = text_column(i, 23);
		reads = tier_catalog_datum(i, 24, &isnull);
		policy->return_reads_per_hour = isnull ? NAN : DatumGetFloat8(reads);
		policy->has_return_after = interval_column(i, 25, &policy->return_after);
		tier = tier_catalog_datum(i, 26, &isnull);
		policy->has_return_tier = !isnull;
		if (!isnull)
			policy->return_tier = *DatumGetName(tier);
	}
	MemoryContextSwitchTo(old_context);
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
	"move_after, include_indexes, age_from, key_unit, key_epoch, key_shift, time_zone, " \
	"idle_for, no_writes_for, below_reads_per_hour, index_tier, " \
	"return_reads_per_hour, return_after, return_tier"
#define PROPERTY_TYPES \
	INTERVALOID, BOOLOID, TEXTOID, TEXTOID, TIMESTAMPTZOID, INT4OID, TEXTOID, \
	INTERVALOID, INTERVALOID, FLOAT8OID, NAMEOID, FLOAT8OID, INTERVALOID, NAMEOID

static void
put_value(Datum *values, char *nulls, int i, bool has, Datum value)
{
	values[i] = value;
	nulls[i] = has ? ' ' : 'n';
}

static void
put_properties(TierPolicyRow *row, Datum *values, char *nulls)
{
	put_value(values, nulls, 0, row->has_move_after, IntervalPGetDatum(&row->move_after));
	put_value(values, nulls, 1, true, BoolGetDatum(row->include_indexes));
	put_value(values, nulls, 2, true,
			  CStringGetTextDatum(row->age_from_newest ? "newest" : "now"));
	put_value(values, nulls, 3, row->key.unit != NULL,
			  row->key.unit ? CStringGetTextDatum(row->key.unit) : (Datum) 0);
	put_value(values, nulls, 4, row->key.has_epoch, TimestampTzGetDatum(row->key.epoch));
	put_value(values, nulls, 5, row->key_counts, Int32GetDatum(row->key.shift));
	put_value(values, nulls, 6, true, CStringGetTextDatum(row->time_zone));
	put_value(values, nulls, 7, row->has_idle_for, IntervalPGetDatum(&row->idle_for));
	put_value(values, nulls, 8, row->has_no_writes_for, IntervalPGetDatum(&row->no_writes_for));
	put_value(values, nulls, 9, !isnan(row->below_reads_per_hour),
			  Float8GetDatum(row->below_reads_per_hour));
	put_value(values, nulls, 10, row->has_index_tier, NameGetDatum(&row->index_tier));
	put_value(values, nulls, 11, !isnan(row->return_reads_per_hour),
			  Float8GetDatum(row->return_reads_per_hour));
	put_value(values, nulls, 12, row->has_return_after, IntervalPGetDatum(&row->return_after));
	put_value(values, nulls, 13, row->has_return_tier, NameGetDatum(&row->return_tier));
}

/* Is there one for this table and tier?  Then its id is the result. */
static bool
find_policy(Oid relation_oid, const NameData *tier)
{
	static const char sql[] =
	"SELECT v.policy_id FROM _tiered_storage.policies v "
	"JOIN _tiered_storage.policy p ON p.policy_id = v.policy_id "
	"WHERE v.relation::pg_catalog.oid = $1 AND v.tier_name = $2 AND " OF_RELATION("$1")
	" ORDER BY 1";
	static const Oid types[] = {OIDOID, NAMEOID};
	Datum		values[2];

	values[0] = ObjectIdGetDatum(relation_oid);
	values[1] = NameGetDatum(tier);
	return tier_catalog_execute(sql, 2, types, values, NULL) > 0;
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
	static const Oid types[] = {NAMEOID, OIDOID, TEXTOID};
	char		nulls[] = {' ', ' ', ' ', '\0'};
	Datum		values[3];

	put_value(values, nulls, 0, true, NameGetDatum(&row->tier_name));
	put_value(values, nulls, 1, row->has_schema, ObjectIdGetDatum(row->schema_oid));
	put_value(values, nulls, 2, row->names_like != NULL,
			  row->names_like ? CStringGetTextDatum(row->names_like) : (Datum) 0);
	return tier_catalog_execute(sql, 3, types, values, nulls) > 0;
}

static bool
find_same_policy(const TierPolicyRow *row)
{
	return row->is_group ? find_group_policy(row) :
		find_policy(row->relation_oid, &row->tier_name);
}

/* What is stored of a group in the columns of tier_catalog_identify(). */
static void
identify_group(const TierCatalogScope *scope, const TierPolicyRow *row, TierIdentity *identity,
			   Datum *values)
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
	values[0] = ObjectIdGetDatum(InvalidOid);
	values[1] = NameGetDatum(&identity->schema);
	values[2] = NameGetDatum(&identity->relation);
	values[3] = Int64GetDatum((int64) GetSystemIdentifier());
	values[4] = ObjectIdGetDatum(MyDatabaseId);
	values[5] = NameGetDatum(&identity->tier);
}

int
tier_catalog_policies_made_by(Oid role_oid)
{
	static const char sql[] =
	"SELECT count(*) FROM _tiered_storage.policy WHERE created_by_oid = $1";
	static const Oid types[] = {OIDOID};
	Datum		value = ObjectIdGetDatum(role_oid);
	bool		isnull;

	tier_catalog_execute(sql, 1, types, &value, NULL);
	return (int) DatumGetInt64(tier_catalog_datum(0, 1, &isnull));
}

int
tier_catalog_add_policy(const TierCatalogScope *scope, const TierPolicyRow *row, bool *existed)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.policy (relation_oid, schema_name, relation_name, "
	"system_identifier, database_oid, tier_name, created_by, created_at, created_by_oid, "
	"owner_name, owner_oid, relation_kind, " PROPERTIES ", schema_oid, names_like) "
	"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
	"$13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28) "
	"ON CONFLICT (relation_oid, tier_name, database_oid, system_identifier, schema_oid, "
	"names_like) DO NOTHING "
	"RETURNING policy_id";
	static const Oid types[] = {
		OIDOID, NAMEOID, NAMEOID, INT8OID, OIDOID, NAMEOID, NAMEOID, TIMESTAMPTZOID, OIDOID,
		NAMEOID, OIDOID, CHAROID, PROPERTY_TYPES, OIDOID, TEXTOID
	};
	char		nulls[lengthof(types) + 1];
	Datum		values[lengthof(types)];
	TierPolicyRow policy = *row;
	TierIdentity identity;
	bool		isnull;

	memset(nulls, ' ', sizeof(nulls));
	if (row->is_group)
		identify_group(scope, row, &identity, values);
	else
		tier_catalog_identify(scope, row->relation_oid, row->owner_oid, &row->tier_name,
							  &identity, values);
	values[6] = NameGetDatum(&identity.creator);
	values[7] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[8] = ObjectIdGetDatum(scope->caller);
	values[9] = NameGetDatum(&identity.owner);
	values[10] = ObjectIdGetDatum(row->owner_oid);
	values[11] = CharGetDatum(row->relation_kind);
	put_properties(&policy, &values[12], &nulls[12]);
	put_value(values, nulls, lengthof(types) - 2, row->has_schema,
			  ObjectIdGetDatum(row->schema_oid));
	put_value(values, nulls, lengthof(types) - 1, row->names_like != NULL,
			  row->names_like ? CStringGetTextDatum(row->names_like) : (Datum) 0);

	tier_catalog_hold_tier(&row->tier_name);
	if (row->has_index_tier)
		tier_catalog_hold_tier(&row->index_tier);
	if (row->has_return_tier)
		tier_catalog_hold_tier(&row->return_tier);

	/*
	 * The policy that exists may come from a restore, and have only the name
	 * of the table.
	 */
	*existed = find_same_policy(row);
	if (!*existed &&
		tier_catalog_execute(sql, lengthof(types), types, values, nulls) == 0)
	{
		/* Another session was faster; our snapshot may not show its row. */
		*existed = find_same_policy(row);
		if (!*existed)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not add the policy because of a concurrent change"),
					 errhint("Try again.")));
	}
	return DatumGetInt32(tier_catalog_datum(0, 1, &isnull));
}

void
tier_catalog_lock_policy(int policy_id)
{
	static const char sql[] =
	"SELECT FROM _tiered_storage.policy WHERE policy_id = $1 FOR UPDATE";
	static const Oid types[] = {INT4OID};
	Datum		value = Int32GetDatum(policy_id);

	tier_catalog_execute(sql, 1, types, &value, NULL);
}

/* A statement on policies that others may be changing, and how many rows it changed. */
typedef struct PolicyStatement
{
	const char *sql;
	int			nargs;
	const Oid  *types;
	const Datum *values;
	const char *nulls;
	uint64		nchanged;
} PolicyStatement;

static void
execute_step(void *argument)
{
	PolicyStatement *statement = argument;

	statement->nchanged = tier_catalog_execute(statement->sql, statement->nargs,
											   statement->types, statement->values,
											   statement->nulls);
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
	"ROW($6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) "
	"WHERE policy_id = $1";
	static const Oid types[] = {INT4OID, NAMEOID, NAMEOID, OIDOID, BOOLOID, PROPERTY_TYPES};
	char		nulls[lengthof(types) + 1];
	Datum		values[lengthof(types)];
	TierPolicyRow policy = *row;
	NameData	tier = row->tier_name;
	NameData	role;
	PolicyStatement statement = {sql, lengthof(types), types, values, nulls, 0};
	ErrorData  *error;
	bool		isnull;

	tier_catalog_hold_tier(&tier);
	if (row->has_index_tier)
		tier_catalog_hold_tier(&row->index_tier);
	if (row->has_return_tier)
		tier_catalog_hold_tier(&row->return_tier);
	if (find_same_policy(row) &&
		DatumGetInt32(tier_catalog_datum(0, 1, &isnull)) != row->policy_id)
		complain_of_duplicate(row);
	namestrcpy(&role, GetUserNameFromId(scope->caller, false));
	memset(nulls, ' ', sizeof(nulls));
	values[0] = Int32GetDatum(row->policy_id);
	values[1] = NameGetDatum(&tier);
	values[2] = NameGetDatum(&role);
	values[3] = ObjectIdGetDatum(scope->caller);
	values[4] = BoolGetDatum(row->is_enabled);
	put_properties(&policy, &values[5], &nulls[5]);

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
	static const Oid types[] = {INT4OID, BOOLOID};
	Datum		values[2];

	values[0] = Int32GetDatum(policy_id);
	values[1] = BoolGetDatum(enabled);
	return tier_catalog_execute("UPDATE _tiered_storage.policy SET enabled = $2 "
								"WHERE policy_id = $1", 2, types, values, NULL) > 0;
}

bool
tier_catalog_delete_policy(int policy_id)
{
	static const Oid types[] = {INT4OID};
	Datum		value = Int32GetDatum(policy_id);

	return tier_catalog_execute("DELETE FROM _tiered_storage.policy WHERE policy_id = $1",
								1, types, &value, NULL) > 0;
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
	static const Oid types[] = {INT4OID, INT4OID, INT4OID, TEXTOID};
	Datum		values[4];

	values[0] = Int32GetDatum(policy_id);
	values[1] = Int32GetDatum(due);
	values[2] = Int32GetDatum(on_target);
	values[3] = CStringGetTextDatum(result);
	tier_catalog_execute(sql, 4, types, values, NULL);
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
	"JOIN _tiered_storage.tier_tablespaces t ON t.tier_name = $20 "
	"WHERE p.policy_id = $1 AND p.tier_name = $2 AND t.tablespace_oid = $3 AND p.enabled "
	"AND (" PROPERTIES ") IS NOT DISTINCT FROM "
	"ROW($6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) "
	"AND (SELECT v.created_by_oid FROM _tiered_storage.policies v "
	"WHERE v.policy_id = p.policy_id) IS NOT DISTINCT FROM $21 "
	"AND ($5 = 0 OR EXISTS (SELECT FROM above a WHERE a.relation_oid = $5))";
	static const Oid types[] = {
		INT4OID, NAMEOID, OIDOID, OIDOID, OIDOID, PROPERTY_TYPES, NAMEOID, OIDOID
	};
	char		nulls[lengthof(types) + 1];
	TierPolicyRow wanted = *policy;
	Datum		values[lengthof(types)];

	memset(nulls, ' ', sizeof(nulls));
	values[0] = Int32GetDatum(policy->policy_id);
	values[1] = NameGetDatum(&wanted.tier_name);
	values[2] = ObjectIdGetDatum(tablespace_oid);
	values[3] = ObjectIdGetDatum(leaf_oid);
	values[4] = ObjectIdGetDatum(policy->on_shards ? InvalidOid : policy->relation_oid);
	put_properties(&wanted, &values[5], &nulls[5]);
	values[lengthof(types) - 2] = NameGetDatum(tier);
	put_value(values, nulls, lengthof(types) - 1, OidIsValid(policy->created_by),
			  ObjectIdGetDatum(policy->created_by));
	return tier_catalog_execute(sql, lengthof(types), types, values, nulls) > 0;
}
