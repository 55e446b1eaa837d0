/*-------------------------------------------------------------------------
 *
 * server/distributed.c
 *		The callbacks of server/distributed.h, and their defaults.
 *
 * The default callbacks know only shells.  pg_dist_partition, the table of Citus that lists
 * them, is in pg_catalog, where only a superuser with allow_system_table_mods could put
 * another of this name.  It is read by system scans: no function of Citus is called, and no
 * query is planned, which Citus would rewrite.
 *
 * The library of tiered_storage_citus knows shards.  It is loaded at the first call in a
 * database that has this extension.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "src/server/distributed.h"

PG_FUNCTION_INFO_V1(tier_distributed_table);

#define SHELLS "pg_dist_partition"
#define SHELLS_INDEX "pg_dist_partition_logical_relid_index"
#define SHELLS_COLUMN "logicalrelid"

/* NULL: there is no such table, or it is another's, or of a Citus with other columns. */
static Relation
open_shells(AttrNumber *column)
{
	Oid			table_oid = get_relname_relid(SHELLS, PG_CATALOG_NAMESPACE);
	Relation	relation;

	if (!OidIsValid(table_oid) || get_rel_relkind(table_oid) != RELKIND_RELATION)
		return NULL;
	relation = try_relation_open(table_oid, AccessShareLock);
	if (relation == NULL)
		return NULL;
	*column = get_attnum(table_oid, SHELLS_COLUMN);
	if (*column > 0 && get_atttype(table_oid, *column) == REGCLASSOID)
		return relation;
	relation_close(relation, AccessShareLock);
	return NULL;
}

/* All of them, or whether relation_oid is one, if that is not 0. */
static Oid *
read_shells(Oid relation_oid, int *n)
{
	AttrNumber	column;
	Relation	relation = open_shells(&column);
	Oid			index_oid = relation == NULL ? InvalidOid :
	get_relname_relid(SHELLS_INDEX, PG_CATALOG_NAMESPACE);
	int			nkeys = OidIsValid(relation_oid) ? 1 : 0;
	int			size = 64;
	Oid		   *all;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	*n = 0;
	if (relation == NULL)
		return NULL;
	all = palloc(sizeof(Oid) * size);
	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation_oid));
	scan = systable_beginscan(relation, index_oid, nkeys > 0 && OidIsValid(index_oid), NULL,
							  nkeys, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, column, RelationGetDescr(relation), &isnull);

		CHECK_FOR_INTERRUPTS();
		if (*n == size)
		{
			size *= 2;
			all = repalloc_huge(all, sizeof(Oid) * size);
		}
		if (!isnull)
			all[(*n)++] = DatumGetObjectId(value);
	}
	systable_endscan(scan);
	relation_close(relation, AccessShareLock);
	qsort(all, *n, sizeof(Oid), oid_cmp);
	return all;
}

static Oid *
list_shells(int *n)
{
	return read_shells(InvalidOid, n);
}

Oid
tier_distributed_table_with(Oid relation_oid)
{
	return get_rel_relkind(relation_oid) == RELKIND_INDEX ||
		get_rel_relkind(relation_oid) == RELKIND_PARTITIONED_INDEX ?
		IndexGetRelation(relation_oid, true) : relation_oid;
}

static bool
is_shell(Oid relation_oid)
{
	Oid			table_oid = OidIsValid(get_relname_relid(SHELLS, PG_CATALOG_NAMESPACE)) ?
	tier_distributed_table_with(relation_oid) : InvalidOid;
	Oid		   *found;
	int			n = 0;

	found = OidIsValid(table_oid) ? read_shells(table_oid, &n) : NULL;
	if (found != NULL)
		pfree(found);
	return n > 0;
}

/*
 * Loads the library of tiered_storage_citus if that extension exists.  Returns true if it has
 * replaced the default callbacks.
 */
static bool
has_second_extension(void)
{
	if (!OidIsValid(get_relname_relid(SHELLS, PG_CATALOG_NAMESPACE)) ||
		!OidIsValid(get_extension_oid("tiered_storage_citus", true)))
		return false;
	if (!tier_distributed->is_second)
		load_file("$libdir/tiered_storage_citus", false);
	return tier_distributed->is_second;
}

static Oid
table_of(Oid relation_oid)
{
	return has_second_extension() ? tier_distributed->table_of(relation_oid) : InvalidOid;
}

static Oid
placed_table_of(Oid relation_oid)
{
	return has_second_extension() ? tier_distributed->placed_table_of(relation_oid) : InvalidOid;
}

static const char *
why_busy(Oid relation_oid)
{
	return has_second_extension() ? tier_distributed->why_busy(relation_oid) : NULL;
}

static const TierDistributed of_catalog = {
	.is_shell = is_shell,
	.shells = list_shells,
	.table_of = table_of,
	.placed_table_of = placed_table_of,
	.why_busy = why_busy,
};

const TierDistributed **tier_distributed_answers;

void
tier_distributed_init(void)
{
	tier_distributed_answers =
		(const TierDistributed **) find_rendezvous_variable(TIER_DISTRIBUTED_VARIABLE);
	if (tier_distributed == NULL)
		tier_distributed = &of_catalog;
}

/* _tiered_storage.distributed_table(relation) */
Datum
tier_distributed_table(PG_FUNCTION_ARGS)
{
	Oid			table_oid = tier_distributed->table_of(PG_GETARG_OID(0));

	if (!OidIsValid(table_oid))
		PG_RETURN_NULL();
	PG_RETURN_OID(table_oid);
}
