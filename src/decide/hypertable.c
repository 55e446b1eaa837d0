/*-------------------------------------------------------------------------
 *
 * decide/hypertable.c
 *		Hypertables of TimescaleDB: key, bounds of chunks, compressed rows.
 *
 * A hypertable is an empty table whose chunks inherit from it.  Its time column is in a catalog
 * of TimescaleDB, which is used only if it is a member of that extension.  The bounds of a chunk
 * are read from its CHECK constraints, which hold for its rows whatever that catalog says.  No
 * function of TimescaleDB runs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/primnodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "src/compat.h"
#include "src/decide/hypertable.h"

/* One of TimescaleDB's catalogs that is read from the first row to the last. */
typedef struct Reading
{
	Relation	catalog;
	SysScanDesc scan;
	HeapTuple	row;
} Reading;

/* False: there is no such catalog. */
static bool
begin_reading(Reading *reading, const char *name)
{
	Oid			extension_oid = get_extension_oid("timescaledb", true);
	Oid			schema_oid = get_namespace_oid("_timescaledb_catalog", true);
	Oid			catalog_oid;

	if (!OidIsValid(extension_oid) || !OidIsValid(schema_oid))
		return false;
	catalog_oid = get_relname_relid(name, schema_oid);
	if (!OidIsValid(catalog_oid) || get_rel_relkind(catalog_oid) != RELKIND_RELATION ||
		getExtensionOfObject(RelationRelationId, catalog_oid) != extension_oid)
		return false;
	if (!ConditionalLockRelationOid(catalog_oid, AccessShareLock))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("catalog \"%s\" of TimescaleDB is locked", name)));
	reading->catalog = try_relation_open(catalog_oid, NoLock);
	if (reading->catalog == NULL)
		return false;
	reading->scan = systable_beginscan(reading->catalog, InvalidOid, false, NULL, 0, NULL);
	return true;
}

static bool
read_next(Reading *reading)
{
	CHECK_FOR_INTERRUPTS();
	reading->row = systable_getnext(reading->scan);
	return HeapTupleIsValid(reading->row);
}

static void
end_reading(Reading *reading)
{
	systable_endscan(reading->scan);
	table_close(reading->catalog, AccessShareLock);
}

/* A column of the present row. */
static Datum
value_of(Reading *reading, const char *column, Oid type_oid, bool *isnull)
{
	Oid			catalog_oid = RelationGetRelid(reading->catalog);
	AttrNumber	attribute = get_attnum(catalog_oid, column);

	if (attribute <= 0 || get_atttype(catalog_oid, attribute) != type_oid)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("catalog \"%s\" of TimescaleDB has no column \"%s\" of type %s",
						RelationGetRelationName(reading->catalog), column,
						format_type_be(type_oid)),
				 errdetail("This version of TimescaleDB is not supported.")));
	return heap_getattr(reading->row, attribute, RelationGetDescr(reading->catalog), isnull);
}

static bool
is_named(Reading *reading, const char *column, const char *name)
{
	bool		isnull;
	Datum		value = value_of(reading, column, NAMEOID, &isnull);

	return !isnull && strcmp(NameStr(*DatumGetName(value)), name) == 0;
}

/* The identifier of a hypertable; 0: the table is none. */
static int32
hypertable_id(Oid relation_oid)
{
	Reading		reading;
	char	   *name = get_rel_name(relation_oid);
	char	   *schema = get_namespace_name(get_rel_namespace(relation_oid));
	int32		id = 0;

	if (name == NULL || schema == NULL || !begin_reading(&reading, "hypertable"))
		return 0;
	while (id == 0 && read_next(&reading))
	{
		bool		isnull;

		if (is_named(&reading, "table_name", name) && is_named(&reading, "schema_name", schema))
			id = DatumGetInt32(value_of(&reading, "id", INT4OID, &isnull));
	}
	end_reading(&reading);
	return id;
}

bool
tier_hypertable_column(Oid relation_oid, NameData *column)
{
	Reading		reading;
	int32		id = hypertable_id(relation_oid);
	int32		first = PG_INT32_MAX;
	bool		has_name = false;

	if (id == 0 || !begin_reading(&reading, "dimension"))
		return false;

	/*
	 * Of several such dimensions that with the smallest identifier is the
	 * primary one.
	 */
	while (read_next(&reading))
	{
		bool		no_id;
		int32		dimension = DatumGetInt32(value_of(&reading, "id", INT4OID, &no_id));
		bool		no_interval;
		bool		no_function;
		bool		no_name;
		Datum		of = value_of(&reading, "hypertable_id", INT4OID, &no_id);
		Datum		name = value_of(&reading, "column_name", NAMEOID, &no_name);

		(void) value_of(&reading, "interval_length", INT8OID, &no_interval);
		(void) value_of(&reading, "partitioning_func", NAMEOID, &no_function);
		if (no_id || DatumGetInt32(of) != id || no_interval || dimension >= first)
			continue;
		first = dimension;
		has_name = no_function && !no_name;
		if (has_name)
			*column = *DatumGetName(name);
	}
	end_reading(&reading);
	return has_name;
}

/* A condition of a CHECK constraint: column >= constant, column < constant, or another one. */
static void
add_condition(Node *node, AttrNumber attribute, Oid type_oid, List **lowers, List **uppers)
{
	TypeCacheEntry *type = lookup_type_cache(type_oid, TYPECACHE_BTREE_OPFAMILY);
	OpExpr	   *condition = (OpExpr *) node;
	Var		   *var;
	Const	   *value;
	int			strategy;

	if (!IsA(node, OpExpr) || list_length(condition->args) != 2 ||
		!IsA(linitial(condition->args), Var) || !IsA(lsecond(condition->args), Const))
		return;
	var = linitial_node(Var, condition->args);
	value = lsecond_node(Const, condition->args);
	if (var->varattno != attribute || value->constisnull ||
		getBaseType(value->consttype) != type_oid)
		return;
	strategy = get_op_opfamily_strategy(condition->opno, type->btree_opf);
	if (strategy == BTGreaterEqualStrategyNumber)
		*lowers = lappend(*lowers, value);
	else if (strategy == BTLessStrategyNumber)
		*uppers = lappend(*uppers, value);
}

void
tier_hypertable_bounds(Oid chunk_oid, const char *column, Oid type_oid, List **lowers,
					   List **uppers)
{
	AttrNumber	attribute = get_attnum(chunk_oid, column);
	Relation	constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData scan_key;
	SysScanDesc scan;
	HeapTuple	tuple;

	*lowers = *uppers = NIL;
	ScanKeyInit(&scan_key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(chunk_oid));
	scan = systable_beginscan(constraints, ConstraintRelidTypidNameIndexId, true, NULL, 1,
							  &scan_key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
		bool		isnull;
		Datum		conbin;
		List	   *conditions;
		ListCell   *cell;

		if (form->contype != CONSTRAINT_CHECK || !form->convalidated)
			continue;
		conbin = heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(constraints),
							  &isnull);
		if (isnull)
			continue;
		conditions = make_ands_implicit((Expr *) stringToNode(TextDatumGetCString(conbin)));
		foreach(cell, conditions)
			add_condition(lfirst(cell), attribute, type_oid, lowers, uppers);
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
}

HTAB *
tier_hypertable_compressed(void)
{
	HASHCTL		control = {.keysize = sizeof(Oid),.entrysize = sizeof(TierCompressedChunk)};
	HTAB	   *compressed;
	Reading		reading;

	if (!begin_reading(&reading, "compression_settings"))
		return NULL;
	control.hcxt = CurrentMemoryContext;
	compressed = hash_create("tiered_storage compressed chunks", 256, &control,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	while (read_next(&reading))
	{
		bool		no_chunk;
		bool		no_table;
		Datum		chunk = value_of(&reading, "relid", REGCLASSOID, &no_chunk);
		Datum		table = value_of(&reading, "compress_relid", REGCLASSOID, &no_table);
		Oid			chunk_oid = DatumGetObjectId(chunk);
		TierCompressedChunk *entry;

		if (no_chunk || no_table)
			continue;
		entry = hash_search(compressed, &chunk_oid, HASH_ENTER, NULL);
		entry->table_oid = DatumGetObjectId(table);
	}
	end_reading(&reading);
	return compressed;
}
