/*-------------------------------------------------------------------------
 *
 * catalog/policy.c
 *		Reading and writing the policies.  See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

static char *
text_column(uint64 row, int column)
{
	bool		isnull;
	Datum		datum = tier_catalog_datum(row, column, &isnull);

	return isnull ? NULL : TextDatumGetCString(datum);
}

TierPolicyRow *
tier_catalog_load_policies(MemoryContext context, int *npolicies)
{
	MemoryContext old_context;
	TierPolicyRow *policies;
	uint64		n;
	bool		isnull;

	n = tier_catalog_execute("SELECT v.policy_id, v.relation::pg_catalog.oid, v.relation_name, v.tier_name, v.move_after, "
							 "v.include_indexes, v.age_from = 'newest', v.key_unit, v.key_epoch, v.key_shift, v.time_zone, "
							 "v.created_by_oid "
							 "FROM tiered_storage.policies v ORDER BY v.policy_id",
							 0, NULL, NULL, NULL);
	old_context = MemoryContextSwitchTo(context);
	policies = palloc0(sizeof(TierPolicyRow) * Max(n, 1));
	for (uint64 i = 0; i < n; i++)
	{
		TierPolicyRow *policy = &policies[i];
		Datum		relation;
		Datum		epoch;
		Datum		shift;
		Datum		creator;

		policy->policy_id = DatumGetInt32(tier_catalog_datum(i, 1, &isnull));
		relation = tier_catalog_datum(i, 2, &isnull);
		policy->relation_oid = isnull ? InvalidOid : DatumGetObjectId(relation);
		policy->relation_name = text_column(i, 3);
		policy->tier_name = *DatumGetName(tier_catalog_datum(i, 4, &isnull));
		policy->move_after = *DatumGetIntervalP(tier_catalog_datum(i, 5, &isnull));
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
	}
	MemoryContextSwitchTo(old_context);
	*npolicies = (int) n;
	return policies;
}

/* Is there one for this table and tier?  Then its id is the result. */
static bool
find_policy(Oid relation_oid, const NameData *tier)
{
	static const Oid types[] = {OIDOID, NAMEOID};
	Datum		values[2];

	values[0] = ObjectIdGetDatum(relation_oid);
	values[1] = NameGetDatum(tier);
	return tier_catalog_execute("SELECT policy_id FROM tiered_storage.policies "
								"WHERE relation::pg_catalog.oid = $1 AND tier_name = $2 ORDER BY 1",
								2, types, values, NULL) > 0;
}

int
tier_catalog_add_policy(const TierCatalogScope *scope, const TierPolicyRow *row, bool *existed)
{
	static const Oid types[] = {
		OIDOID, NAMEOID, NAMEOID, INT8OID, OIDOID, NAMEOID, INTERVALOID,
		BOOLOID, TEXTOID, TEXTOID, TIMESTAMPTZOID, INT4OID, TEXTOID, NAMEOID, TIMESTAMPTZOID, OIDOID,
		NAMEOID, OIDOID
	};
	char		nulls[] = "                  ";
	Datum		values[18];
	bool		counts = row->key_counts;
	NameData	schema;
	NameData	relation;
	NameData	tier = row->tier_name;
	NameData	creator;
	NameData	owner;
	Interval	move_after = row->move_after;
	bool		isnull;

	tier_catalog_names_of(row->relation_oid, &schema, &relation);
	namestrcpy(&creator, GetUserNameFromId(scope->caller, false));
	namestrcpy(&owner, GetUserNameFromId(row->owner_oid, false));

	values[0] = ObjectIdGetDatum(row->relation_oid);
	values[1] = NameGetDatum(&schema);
	values[2] = NameGetDatum(&relation);
	values[3] = Int64GetDatum((int64) GetSystemIdentifier());
	values[4] = ObjectIdGetDatum(MyDatabaseId);
	values[5] = NameGetDatum(&tier);
	values[6] = IntervalPGetDatum(&move_after);
	values[7] = BoolGetDatum(row->include_indexes);
	values[8] = CStringGetTextDatum(row->age_from_newest ? "newest" : "now");
	values[9] = row->key.unit ? CStringGetTextDatum(row->key.unit) : (Datum) 0;
	nulls[9] = row->key.unit ? ' ' : 'n';
	values[10] = TimestampTzGetDatum(row->key.epoch);
	nulls[10] = row->key.has_epoch ? ' ' : 'n';
	values[11] = Int32GetDatum(row->key.shift);
	nulls[11] = counts ? ' ' : 'n';
	values[12] = CStringGetTextDatum(row->time_zone);
	values[13] = NameGetDatum(&creator);
	values[14] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[15] = ObjectIdGetDatum(scope->caller);
	values[16] = NameGetDatum(&owner);
	values[17] = ObjectIdGetDatum(row->owner_oid);

	/*
	 * Also one that a restore has brought, and that knows the table by its
	 * name.
	 */
	*existed = find_policy(row->relation_oid, &tier);
	if (!*existed &&
		tier_catalog_execute("INSERT INTO _tiered_storage.policy (relation_oid, schema_name, relation_name, "
							 "system_identifier, database_oid, tier_name, move_after, include_indexes, "
							 "age_from, key_unit, key_epoch, key_shift, time_zone, created_by, created_at, created_by_oid, "
							 "owner_name, owner_oid) "
							 "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) "
							 "ON CONFLICT (relation_oid, tier_name, database_oid, system_identifier) DO NOTHING "
							 "RETURNING policy_id",
							 18, types, values, nulls) == 0)
	{
		/* Somebody else was faster; the snapshot may be older than that. */
		*existed = find_policy(row->relation_oid, &tier);
		if (!*existed)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not add the policy because of a concurrent change"),
					 errhint("Try again.")));
	}
	return DatumGetInt32(tier_catalog_datum(0, 1, &isnull));
}

void
tier_catalog_delete_policy(int policy_id)
{
	static const Oid types[] = {INT4OID};
	Datum		value = Int32GetDatum(policy_id);

	tier_catalog_execute("DELETE FROM _tiered_storage.policy WHERE policy_id = $1",
						 1, types, &value, NULL);
}

/* One that is just being removed need not know. */
void
tier_catalog_policy_evaluated(int policy_id, int due, int on_target, const char *result)
{
	static const Oid types[] = {INT4OID, INT4OID, INT4OID, TEXTOID};
	Datum		values[4];

	values[0] = Int32GetDatum(policy_id);
	values[1] = Int32GetDatum(due);
	values[2] = Int32GetDatum(on_target);
	values[3] = CStringGetTextDatum(result);
	tier_catalog_execute("UPDATE _tiered_storage.policy SET last_evaluated_at = now(), "
						 "last_due = $2, last_on_target = $3, last_result = $4 "
						 "WHERE policy_id = (SELECT p.policy_id FROM _tiered_storage.policy p "
						 "WHERE p.policy_id = $1 FOR UPDATE SKIP LOCKED)",
						 4, types, values, NULL);
}
