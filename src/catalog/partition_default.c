/*-------------------------------------------------------------------------
 *
 * catalog/partition_default.c
 *		The store of what was set for new partitions, and what it was before.
 *
 * See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

/* As the store has it: the database's own tablespace is none. */
static Oid
stored_oid(Oid tablespace_oid)
{
	return tablespace_oid == MyDatabaseTableSpace ? InvalidOid : tablespace_oid;
}

static Oid
loaded_oid(Oid tablespace_oid)
{
	return OidIsValid(tablespace_oid) ? tablespace_oid : MyDatabaseTableSpace;
}

TierPartitionDefault *
tier_catalog_load_partition_defaults(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT v.relation_oid, v.before_oid, v.set_oid FROM _tiered_storage.partition_defaults v "
	"WHERE v.relation_oid IS NOT NULL ORDER BY v.relation_oid";
	TierPartitionDefault *defaults;
	bool		isnull;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	defaults = MemoryContextAllocZero(context, sizeof(TierPartitionDefault) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		Datum		before;
		Datum		set;

		defaults[i].relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));

		/* What is gone cannot be given back. */
		before = tier_catalog_datum(i, 2, &isnull);
		defaults[i].before_oid = loaded_oid(isnull ? InvalidOid : DatumGetObjectId(before));
		set = tier_catalog_datum(i, 3, &isnull);
		defaults[i].set_oid = isnull ? InvalidOid : loaded_oid(DatumGetObjectId(set));
	}
	return defaults;
}

void
tier_catalog_forget_partition_default(Oid relation_oid)
{
	static const char sql[] =
	"DELETE FROM _tiered_storage.partition_default p "
	"USING _tiered_storage.partition_defaults v "
	"WHERE v.relation_oid = $1 AND (p.relation_oid, p.database_oid, p.system_identifier) "
	"= (v.stored_oid, v.database_oid, v.system_identifier)";
	static const Oid types[] = {OIDOID};
	Datum		value = ObjectIdGetDatum(relation_oid);

	tier_catalog_execute(sql, 1, types, &value, NULL);
}

void
tier_catalog_note_partition_default(const TierPartitionDefault *row)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.partition_default (relation_oid, schema_name, relation_name, "
	"relation_kind, system_identifier, database_oid, before_oid, before_name, set_oid, set_name) "
	"SELECT c.oid, n.nspname, c.relname, c.relkind, $2, $3, $4, "
	"(SELECT t.spcname FROM pg_catalog.pg_tablespace t WHERE t.oid = $4), $5, "
	"(SELECT t.spcname FROM pg_catalog.pg_tablespace t WHERE t.oid = $5) "
	"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	"WHERE c.oid = $1";
	static const Oid types[] = {OIDOID, INT8OID, OIDOID, OIDOID, OIDOID};
	Datum		values[lengthof(types)];

	tier_catalog_forget_partition_default(row->relation_oid);
	values[0] = ObjectIdGetDatum(row->relation_oid);
	values[1] = Int64GetDatum((int64) GetSystemIdentifier());
	values[2] = ObjectIdGetDatum(MyDatabaseId);
	values[3] = ObjectIdGetDatum(stored_oid(row->before_oid));
	values[4] = ObjectIdGetDatum(stored_oid(row->set_oid));
	tier_catalog_execute(sql, lengthof(types), types, values, NULL);
}

bool
tier_catalog_policy_wants_new_partitions(const TierPolicyRow *policy)
{
	static const char sql[] =
	"SELECT FROM _tiered_storage.policy p WHERE p.policy_id = $1 AND p.enabled "
	"AND p.new_partitions_on = $2 AND p.include_indexes = $3";
	static const Oid types[] = {INT4OID, NAMEOID, BOOLOID};
	Datum		values[lengthof(types)];

	values[0] = Int32GetDatum(policy->policy_id);
	values[1] = NameGetDatum(&policy->new_partitions_on);
	values[2] = BoolGetDatum(policy->include_indexes);
	return tier_catalog_execute(sql, lengthof(types), types, values, NULL) > 0;
}
