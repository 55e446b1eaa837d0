/*-------------------------------------------------------------------------
 *
 * server/distributed.c
 *		The questions of server/distributed.h, answered from the catalog of Citus.
 *
 * The catalog tables are in pg_catalog, where only a superuser with allow_system_table_mods
 * could put others of these names.  They are read by system scans: no function of Citus is
 * called, and no query is planned, which Citus would rewrite.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_publication.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/server/distributed.h"

PG_FUNCTION_INFO_V1(tier_distributed_table);

/* A catalog table of Citus: the column that is looked for, and what is found there. */
typedef struct Lookup
{
	const char *table;
	const char *index;
	const char *key_column;
	Oid			key_type;
	RegProcedure equal;
} Lookup;

static const Lookup shells = {
	"pg_dist_partition", "pg_dist_partition_logical_relid_index", "logicalrelid", REGCLASSOID,
	F_OIDEQ
};
static const Lookup shards = {
	"pg_dist_shard", "pg_dist_shard_shardid_index", "shardid", INT8OID, F_INT8EQ
};

/*
 * Advisory locks of Citus on a shard, by the fourth field of their tags (its
 * resource_lock.h).  Who moves, copies or splits one has them in a mode that conflicts with
 * ROW SHARE: the last one on the coordinator; and on all nodes while its writes are blocked
 * the first, or of a table that is colocated with others the second, which is on all shards
 * that have the same place in their tables.
 */
#define SHARD_METADATA_LOCK 4
#define COLOCATED_SHARDS_METADATA_LOCK 8
#define SHARD_MOVE_LOCK 16

/* Publications by which Citus copies shards that are written meanwhile; on their node. */
static const char *const transfer_publications[] = {
	"citus_shard_move_publication_", "citus_shard_split_publication_"
};

/* A catalog table of Citus that is open, and its columns. */
typedef struct Catalog
{
	Relation	relation;
	AttrNumber	key_column;
	AttrNumber	column;			/* logicalrelid */
} Catalog;

/* False: there is no such table, or it is another's, or of a Citus with other columns. */
static bool
open_catalog(const Lookup *lookup, Catalog *catalog)
{
	Oid			table_oid = get_relname_relid(lookup->table, PG_CATALOG_NAMESPACE);

	if (!OidIsValid(table_oid) || get_rel_relkind(table_oid) != RELKIND_RELATION)
		return false;
	catalog->relation = try_relation_open(table_oid, AccessShareLock);
	if (catalog->relation == NULL)
		return false;
	catalog->key_column = get_attnum(table_oid, lookup->key_column);
	catalog->column = get_attnum(table_oid, "logicalrelid");
	if (catalog->key_column > 0 &&
		get_atttype(table_oid, catalog->key_column) == lookup->key_type &&
		catalog->column > 0 && get_atttype(table_oid, catalog->column) == REGCLASSOID)
		return true;
	relation_close(catalog->relation, AccessShareLock);
	return false;
}

static Oid
logical_relation(const Catalog *catalog, HeapTuple tuple)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, catalog->column, RelationGetDescr(catalog->relation),
									 &isnull);

	return isnull ? InvalidOid : DatumGetObjectId(value);
}

/* The logicalrelid of the row with this key; InvalidOid: there is none. */
static Oid
find(const Lookup *lookup, Datum key)
{
	Catalog		catalog;
	Oid			index_oid;
	Oid			found = InvalidOid;
	SysScanDesc scan;
	ScanKeyData scan_key;
	HeapTuple	tuple;

	if (!open_catalog(lookup, &catalog))
		return InvalidOid;
	index_oid = get_relname_relid(lookup->index, PG_CATALOG_NAMESPACE);
	ScanKeyInit(&scan_key, catalog.key_column, BTEqualStrategyNumber, lookup->equal, key);
	scan = systable_beginscan(catalog.relation, index_oid, OidIsValid(index_oid), NULL, 1,
							  &scan_key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		found = logical_relation(&catalog, tuple);
	systable_endscan(scan);
	relation_close(catalog.relation, AccessShareLock);
	return found;
}

static Oid *
list_shells(int *n)
{
	Catalog		catalog;
	int			size = 64;
	Oid		   *all;
	SysScanDesc scan;
	HeapTuple	tuple;

	*n = 0;
	if (!open_catalog(&shells, &catalog))
		return NULL;
	all = palloc(sizeof(Oid) * size);
	scan = systable_beginscan(catalog.relation, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		if (*n == size)
		{
			size *= 2;
			all = repalloc_huge(all, sizeof(Oid) * size);
		}
		all[(*n)++] = logical_relation(&catalog, tuple);
	}
	systable_endscan(scan);
	relation_close(catalog.relation, AccessShareLock);
	if (*n > 1)
		qsort(all, *n, sizeof(Oid), oid_cmp);
	return all;
}

static Oid
table_with(Oid relation_oid)
{
	return get_rel_relkind(relation_oid) == RELKIND_INDEX ||
		get_rel_relkind(relation_oid) == RELKIND_PARTITIONED_INDEX ?
		IndexGetRelation(relation_oid, true) : relation_oid;
}

static bool
is_shell(Oid relation_oid)
{
	return OidIsValid(get_relname_relid(shells.table, PG_CATALOG_NAMESPACE)) &&
		OidIsValid(find(&shells, ObjectIdGetDatum(table_with(relation_oid))));
}

/* The table of a TOAST table, which bears its OID in its name. */
static Oid
owner_of_toast(Oid toast_oid)
{
	char	   *name = get_rel_name(toast_oid);
	Oid			owner_oid = InvalidOid;
	HeapTuple	tuple;

	if (name == NULL || sscanf(name, "pg_toast_%u", &owner_oid) != 1)
		return InvalidOid;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(owner_oid));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	if (((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid != toast_oid)
		owner_oid = InvalidOid;
	ReleaseSysCache(tuple);
	return owner_oid;
}

/* The number at the end of a shard's name, behind the last '_'; 0: there is none. */
static int64
shard_number(const char *name)
{
	const char *number = strrchr(name, '_');
	char	   *end;
	int64		value;

	if (number == NULL || number[1] < '1' || number[1] > '9')
		return 0;
	errno = 0;
	value = strtoll(number + 1, &end, 10);
	return errno == 0 && *end == '\0' ? value : 0;
}

/*
 * Is it a shard's name of this table?  Where both together would be too long, Citus puts a
 * hash of 8 digits, between two '_', in place of the end of the table's name.
 */
static bool
is_named_after(const char *shard, const char *table)
{
	size_t		suffix_length = strlen(strrchr(shard, '_'));
	size_t		name_length = strlen(shard) - suffix_length;

	if (strlen(table) + suffix_length < NAMEDATALEN)
		return strlen(table) == name_length && strncmp(shard, table, name_length) == 0;
	return name_length > 9 && strncmp(shard, table, name_length - 9) == 0;
}

/* A shard of a table, as its name says. */
typedef struct Shard
{
	Oid			relation_oid;
	Oid			table_oid;
	int64		number;
} Shard;

/* The shard that it is, or that it is an index or the TOAST table of; false: of none. */
static bool
find_shard(Oid relation_oid, Shard *shard)
{
	char	   *shard_name;
	char	   *table_name;

	if (!OidIsValid(get_relname_relid(shards.table, PG_CATALOG_NAMESPACE)))
		return false;
	shard->relation_oid = table_with(relation_oid);
	if (OidIsValid(shard->relation_oid) &&
		get_rel_relkind(shard->relation_oid) == RELKIND_TOASTVALUE)
		shard->relation_oid = owner_of_toast(shard->relation_oid);
	shard_name = OidIsValid(shard->relation_oid) ? get_rel_name(shard->relation_oid) : NULL;
	shard->number = shard_name == NULL ? 0 : shard_number(shard_name);
	if (shard->number == 0)
		return false;
	shard->table_oid = find(&shards, Int64GetDatum(shard->number));
	table_name = OidIsValid(shard->table_oid) ? get_rel_name(shard->table_oid) : NULL;
	return table_name != NULL && is_named_after(shard_name, table_name) &&
		get_rel_namespace(shard->table_oid) == get_rel_namespace(shard->relation_oid);
}

static Oid
table_of(Oid relation_oid)
{
	Shard		shard;

	return find_shard(relation_oid, &shard) ? shard.table_oid : InvalidOid;
}

static Oid
owner_of(Oid relation_oid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation_oid));
	Oid			owner_oid;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner_oid = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner_oid;
}

/* A number of a row; -1: there is no such column, or nothing in it. */
static int32
number_in(Relation relation, HeapTuple tuple, const char *column)
{
	AttrNumber	number = get_attnum(RelationGetRelid(relation), column);
	bool		isnull = true;
	Datum		value = (Datum) 0;

	if (number > 0 && get_atttype(RelationGetRelid(relation), number) == INT4OID)
		value = heap_getattr(tuple, number, RelationGetDescr(relation), &isnull);
	return isnull ? -1 : DatumGetInt32(value);
}

/* Opens a table of Citus; NULL: there is none. */
static Relation
open_table(const char *name)
{
	Oid			table_oid = get_relname_relid(name, PG_CATALOG_NAMESPACE);

	if (!OidIsValid(table_oid) || get_rel_relkind(table_oid) != RELKIND_RELATION)
		return NULL;
	return try_relation_open(table_oid, AccessShareLock);
}

/* The group that this node is; -1: it is none. */
static int32
local_group(void)
{
	Relation	relation = open_table("pg_dist_local_group");
	int32		group_id = -1;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (relation == NULL)
		return -1;
	scan = systable_beginscan(relation, InvalidOid, false, NULL, 0, NULL);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		group_id = number_in(relation, tuple, "groupid");
	systable_endscan(scan);
	relation_close(relation, AccessShareLock);
	return group_id;
}

/* Is there a placement of the shard on this node? */
static bool
is_placed(int64 number)
{
	int32		group_id = local_group();
	Relation	relation = group_id < 0 ? NULL : open_table("pg_dist_placement");
	bool		found = false;
	Oid			index_oid;
	AttrNumber	column;
	SysScanDesc scan;
	ScanKeyData scan_key;
	HeapTuple	tuple;

	if (relation == NULL)
		return false;
	column = get_attnum(RelationGetRelid(relation), "shardid");
	if (column > 0 && get_atttype(RelationGetRelid(relation), column) == INT8OID)
	{
		index_oid = get_relname_relid("pg_dist_placement_shardid_index", PG_CATALOG_NAMESPACE);
		ScanKeyInit(&scan_key, column, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(number));
		scan = systable_beginscan(relation, index_oid, OidIsValid(index_oid), NULL, 1, &scan_key);
		while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
			found = number_in(relation, tuple, "groupid") == group_id;
		systable_endscan(scan);
	}
	relation_close(relation, AccessShareLock);
	return found;
}

static Oid
placed_table_of(Oid relation_oid)
{
	Shard		shard;

	if (!find_shard(relation_oid, &shard) || shard.relation_oid != relation_oid ||
		owner_of(relation_oid) != owner_of(shard.table_oid) || !is_placed(shard.number))
		return InvalidOid;
	return shard.table_oid;
}

/* The rows of one table in a table of Citus, found by its logicalrelid. */
typedef struct RowsOfTable
{
	Relation	relation;		/* NULL: there are none */
	SysScanDesc scan;
} RowsOfTable;

static RowsOfTable
begin_rows(const char *table, const char *index, Oid table_oid)
{
	RowsOfTable rows = {open_table(table), NULL};
	Oid			index_oid = get_relname_relid(index, PG_CATALOG_NAMESPACE);
	AttrNumber	column;
	ScanKeyData scan_key;

	if (rows.relation == NULL)
		return rows;
	column = get_attnum(RelationGetRelid(rows.relation), "logicalrelid");
	if (column <= 0 || get_atttype(RelationGetRelid(rows.relation), column) != REGCLASSOID)
	{
		relation_close(rows.relation, AccessShareLock);
		rows.relation = NULL;
		return rows;
	}
	ScanKeyInit(&scan_key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table_oid));
	rows.scan = systable_beginscan(rows.relation, index_oid, OidIsValid(index_oid), NULL, 1,
								   &scan_key);
	return rows;
}

static void
end_rows(RowsOfTable *rows)
{
	if (rows->relation == NULL)
		return;
	systable_endscan(rows->scan);
	relation_close(rows->relation, AccessShareLock);
}

/* Which tables it is colocated with: their number; 0: with none. */
static int32
colocation_of(Oid table_oid)
{
	RowsOfTable rows = begin_rows(shells.table, shells.index, table_oid);
	HeapTuple	tuple = rows.relation == NULL ? NULL : systable_getnext(rows.scan);
	int32		colocation_id = 0;

	if (HeapTupleIsValid(tuple))
		colocation_id = Max(number_in(rows.relation, tuple, "colocationid"), 0);
	end_rows(&rows);
	return colocation_id;
}

/* The number and the least hash value of a shard; false: it has none. */
static bool
read_range(Relation relation, HeapTuple tuple, int64 *number, int64 *least)
{
	Oid			table_oid = RelationGetRelid(relation);
	AttrNumber	number_column = get_attnum(table_oid, "shardid");
	AttrNumber	least_column = get_attnum(table_oid, "shardminvalue");
	bool		isnull;
	Datum		value;

	if (number_column <= 0 || get_atttype(table_oid, number_column) != INT8OID ||
		least_column <= 0 || get_atttype(table_oid, least_column) != TEXTOID)
		return false;
	value = heap_getattr(tuple, number_column, RelationGetDescr(relation), &isnull);
	if (isnull)
		return false;
	*number = DatumGetInt64(value);
	value = heap_getattr(tuple, least_column, RelationGetDescr(relation), &isnull);
	if (isnull)
		return false;
	*least = strtoll(TextDatumGetCString(value), NULL, 10);
	return true;
}

/* How many shards of its table have lower hash values. */
static int32
place_in_table(const Shard *shard)
{
	RowsOfTable rows = begin_rows(shards.table, "pg_dist_shard_logical_relid_index",
								  shard->table_oid);
	int64	   *least;
	int64		own = PG_INT64_MIN;
	int			n = 0;
	int			size = 64;
	int32		place = 0;
	HeapTuple	tuple;

	if (rows.relation == NULL)
		return 0;
	least = palloc(sizeof(int64) * size);
	while (HeapTupleIsValid(tuple = systable_getnext(rows.scan)))
	{
		int64		number;

		CHECK_FOR_INTERRUPTS();
		if (n == size)
		{
			size *= 2;
			least = repalloc_huge(least, sizeof(int64) * size);
		}
		if (!read_range(rows.relation, tuple, &number, &least[n]))
			continue;
		if (number == shard->number)
			own = least[n];
		n++;
	}
	end_rows(&rows);
	for (int i = 0; i < n; i++)
		place += least[i] < own;
	pfree(least);
	return place;
}

/* Nobody is kept from taking the lock: that it is free is not made sure by taking it. */
static bool
is_locked_by_citus(uint32 field2, uint32 field3, uint16 field4)
{
	LOCKTAG		tag;
	int			n;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, field2, field3, field4);
	pfree(GetLockConflicts(&tag, RowShareLock, &n));
	return n > 0;
}

static bool
is_worked_on(const Shard *shard)
{
	uint32		high = (uint32) (shard->number >> 32);
	uint32		low = (uint32) shard->number;
	int32		colocation_id;

	if (is_locked_by_citus(high, low, SHARD_METADATA_LOCK) ||
		is_locked_by_citus(high, low, SHARD_MOVE_LOCK))
		return true;
	colocation_id = colocation_of(shard->table_oid);
	return colocation_id > 0 &&
		is_locked_by_citus(place_in_table(shard), colocation_id, COLOCATED_SHARDS_METADATA_LOCK);
}

static bool
is_published_by_citus(Oid relation_oid)
{
	List	   *publications = tier_compat_relation_publications(relation_oid);
	bool		found = false;
	ListCell   *cell;

	foreach(cell, publications)
	{
		char	   *name = get_publication_name(lfirst_oid(cell), true);

		for (int i = 0; name != NULL && i < (int) lengthof(transfer_publications); i++)
			found = found || strncmp(name, transfer_publications[i],
									 strlen(transfer_publications[i])) == 0;
	}
	list_free(publications);
	return found;
}

static const char *
why_busy(Oid relation_oid)
{
	Shard		shard;

	if (!find_shard(relation_oid, &shard) ||
		owner_of(shard.relation_oid) != owner_of(shard.table_oid))
		return NULL;
	if (!is_placed(shard.number))
		return "Citus has no placement of the shard on this node: it arrives, or will be dropped";
	if (is_worked_on(&shard) || is_published_by_citus(shard.relation_oid))
		return "Citus moves, copies or splits the shard";
	return NULL;
}

static const TierDistributed of_citus = {
	.is_shell = is_shell,
	.shells = list_shells,
	.table_of = table_of,
	.placed_table_of = placed_table_of,
	.why_busy = why_busy,
	.table_with = table_with,
};

const TierDistributed *tier_distributed = &of_citus;

void
tier_distributed_init(void)
{
	const TierDistributed **variable =
	(const TierDistributed **) find_rendezvous_variable(TIER_DISTRIBUTED_VARIABLE);

	if (*variable == NULL)
		*variable = &of_citus;
	tier_distributed = *variable;
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
