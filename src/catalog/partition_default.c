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
	"SELECT DISTINCT ON (v.relation_oid) v.relation_oid, v.before_oid, v.set_oid "
	"FROM _tiered_storage.partition_defaults v "
	"WHERE v.relation_oid IS NOT NULL AND NOT v.is_void "
	"ORDER BY v.relation_oid, v.is_own DESC, v.stored_oid, v.store_oid";
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

/*
 * Before it is forgotten what a relation had, what was created below it since then, and has
 * its tablespace from there, is remembered by itself.
 */
static void
hand_down(Oid relation_oid)
{
	static const Oid types[] = {OIDOID};
	Datum		value = ObjectIdGetDatum(relation_oid);

	tier_catalog_execute("SELECT _tiered_storage.remember_partitions_below($1)", 1, types,
						 &value, NULL);
}

/* Rows of partition_default that mean relation $1. */
#define DELETE_OF_RELATION \
	"DELETE FROM _tiered_storage.partition_default p " \
	"USING _tiered_storage.partition_defaults v WHERE v.relation_oid = $1 " \
	"AND (p.relation_oid, p.database_oid, p.system_identifier, p.store_oid) " \
	"= (v.stored_oid, v.database_oid, v.system_identifier, v.store_oid)"

void
tier_catalog_forget_partition_default(Oid relation_oid)
{
	static const Oid types[] = {OIDOID};
	Datum		value = ObjectIdGetDatum(relation_oid);

	hand_down(relation_oid);
	tier_catalog_execute(DELETE_OF_RELATION, 1, types, &value, NULL);
}

/* As long as what it is below is remembered, it would be taken for created since that was set. */
static const char *const unless_parent_is_remembered =
" AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i "
"JOIN _tiered_storage.partition_defaults o ON o.relation_oid = i.inhparent "
"WHERE i.inhrelid = $1)";

static const char *const if_unchanged =
" AND COALESCE(v.before_oid, 0) = $2 AND COALESCE(v.set_oid, 0) = $3";

static void
forget_unless_below(Oid relation_oid, Oid before_oid, Oid set_oid)
{
	static const Oid types[] = {OIDOID, OIDOID, OIDOID};
	Datum		values[lengthof(types)];

	values[0] = ObjectIdGetDatum(relation_oid);
	values[1] = ObjectIdGetDatum(stored_oid(before_oid));
	values[2] = ObjectIdGetDatum(stored_oid(set_oid));
	tier_catalog_execute(psprintf("%s%s%s", DELETE_OF_RELATION, if_unchanged,
								  unless_parent_is_remembered),
						 lengthof(types), types, values, NULL);
}

void
tier_catalog_forget_unchanged_default(const TierPartitionDefault *row)
{
	hand_down(row->relation_oid);
	forget_unless_below(row->relation_oid, row->before_oid, row->set_oid);
}

void
tier_catalog_note_given_back(const TierPartitionDefault *row)
{
	static const char sql[] =
	"UPDATE _tiered_storage.partition_default p "
	"SET set_oid = p.before_oid, set_name = p.before_name "
	"FROM _tiered_storage.partition_defaults v WHERE v.relation_oid = $1 "
	"AND (p.relation_oid, p.database_oid, p.system_identifier, p.store_oid) "
	"= (v.stored_oid, v.database_oid, v.system_identifier, v.store_oid)";
	static const Oid types[] = {OIDOID};
	Datum		value = ObjectIdGetDatum(row->relation_oid);

	hand_down(row->relation_oid);
	tier_catalog_execute(sql, 1, types, &value, NULL);
	forget_unless_below(row->relation_oid, row->before_oid, row->before_oid);
}

/* Of the relation, unless it has a row already; with the condition, if only then. */
static void
insert_row(const TierPartitionDefault *row, bool if_new)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.partition_default (relation_oid, schema_name, relation_name, "
	"relation_kind, owner_name, owner_oid, system_identifier, database_oid, store_oid, "
	"before_oid, before_name, set_oid, set_name) "
	"SELECT c.oid, c.nspname, c.relname, c.relkind, pg_catalog.pg_get_userbyid(c.relowner), "
	"c.relowner, $2, $3, '_tiered_storage.partition_default'::pg_catalog.regclass, $4, "
	"(SELECT t.spcname FROM pg_catalog.pg_tablespace t WHERE t.oid = $4), $5, "
	"(SELECT t.spcname FROM pg_catalog.pg_tablespace t WHERE t.oid = $5) "
	"FROM _tiered_storage.relation_entry($1) c "
	"WHERE (NOT $6 OR (c.reltablespace IN ($5, $7) "
	"AND NOT EXISTS (SELECT FROM _tiered_storage.partition_defaults v "
	"WHERE v.relation_oid = $1 AND NOT v.is_void))) "
	"ON CONFLICT (relation_oid, database_oid, system_identifier, store_oid) DO ";
	static const char replace[] =
	"UPDATE SET before_oid = excluded.before_oid, before_name = excluded.before_name, "
	"set_oid = excluded.set_oid, set_name = excluded.set_name, is_changed = false";
	static const Oid types[] = {OIDOID, INT8OID, OIDOID, OIDOID, OIDOID, BOOLOID, OIDOID};
	Datum		values[lengthof(types)];
	Oid			set_oid = stored_oid(row->set_oid);

	values[0] = ObjectIdGetDatum(row->relation_oid);
	values[1] = Int64GetDatum((int64) GetSystemIdentifier());
	values[2] = ObjectIdGetDatum(MyDatabaseId);
	values[3] = ObjectIdGetDatum(stored_oid(row->before_oid));
	values[4] = ObjectIdGetDatum(set_oid);
	values[5] = BoolGetDatum(if_new);
	/* pg_class may name the database's own tablespace, or have none. */
	values[6] = ObjectIdGetDatum(OidIsValid(set_oid) ? set_oid : MyDatabaseTableSpace);
	tier_catalog_execute(psprintf("%s%s", sql, if_new ? "NOTHING" : replace), lengthof(types),
						 types, values, NULL);
}

void
tier_catalog_note_partition_default(const TierPartitionDefault *row)
{
	tier_catalog_forget_partition_default(row->relation_oid);
	insert_row(row, false);
}

void
tier_catalog_note_new_default(const TierPartitionDefault *row)
{
	insert_row(row, true);
}
