/*-------------------------------------------------------------------------
 *
 * citus/shards.c
 *		Answers the questions of server/distributed.h about shards from Citus.
 *
 * The catalog tables of Citus are read by system scans: no function of it is called, and no
 * query is planned, which it would rewrite.  A table that is not there, or has other columns,
 * has no rows.
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
#include "src/citus/shards.h"
#include "src/server/distributed.h"

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

/* Publications by which Citus copies shards that are written concurrently; on their node. */
static const char *const transfer_publications[] = {
	"citus_shard_move_publication_", "citus_shard_split_publication_"
};

/* ---------------------------------------------------------------------
 * Rows of Citus
 * ---------------------------------------------------------------------
 */

/* Of one of its tables; relation NULL: there are none. */
typedef struct Rows
{
	Relation	relation;
	SysScanDesc scan;
	HeapTuple	tuple;			/* by next_row() */
} Rows;

/* The column, if it has the type; else 0. */
static AttrNumber
column_of(Relation relation, const char *name, Oid type)
{
	AttrNumber	column = get_attnum(RelationGetRelid(relation), name);

	return column > 0 && get_atttype(RelationGetRelid(relation), column) == type ? column : 0;
}

/* Those with that key; key_column NULL: all.  The index is used if it is there. */
static Rows
begin_rows(const char *table, const char *index, const char *key_column, Oid key_type,
		   RegProcedure equal, Datum key)
{
	Rows		rows = {0};
	Oid			table_oid = get_relname_relid(table, PG_CATALOG_NAMESPACE);
	Oid			index_oid = index == NULL ? InvalidOid :
	get_relname_relid(index, PG_CATALOG_NAMESPACE);
	AttrNumber	column = 0;
	ScanKeyData scan_key;

	if (!OidIsValid(table_oid) || get_rel_relkind(table_oid) != RELKIND_RELATION)
		return rows;
	rows.relation = try_relation_open(table_oid, AccessShareLock);
	if (rows.relation == NULL)
		return rows;
	if (key_column != NULL)
	{
		column = column_of(rows.relation, key_column, key_type);
		if (column == 0)
		{
			relation_close(rows.relation, AccessShareLock);
			rows.relation = NULL;
			return rows;
		}
		ScanKeyInit(&scan_key, column, BTEqualStrategyNumber, equal, key);
	}
	rows.scan = systable_beginscan(rows.relation, index_oid, OidIsValid(index_oid), NULL,
								   column == 0 ? 0 : 1, &scan_key);
	return rows;
}

static bool
next_row(Rows *rows)
{
	CHECK_FOR_INTERRUPTS();
	rows->tuple = rows->relation == NULL ? NULL : systable_getnext(rows->scan);
	return HeapTupleIsValid(rows->tuple);
}

static void
end_rows(Rows *rows)
{
	if (rows->relation == NULL)
		return;
	systable_endscan(rows->scan);
	relation_close(rows->relation, AccessShareLock);
}

/* A field of the row; false: there is no such column, or nothing in it. */
static bool
read_field(const Rows *rows, const char *name, Oid type, Datum *value)
{
	AttrNumber	column = column_of(rows->relation, name, type);
	bool		isnull = true;

	if (column != 0)
		*value = heap_getattr(rows->tuple, column, RelationGetDescr(rows->relation), &isnull);
	return !isnull;
}

static Rows
shard_rows(int64 number)
{
	return begin_rows("pg_dist_shard", "pg_dist_shard_shardid_index", "shardid", INT8OID,
					  F_INT8EQ, Int64GetDatum(number));
}

/* The table that has a shard of this number; InvalidOid: none. */
static Oid
table_with_shard(int64 number)
{
	Rows		rows = shard_rows(number);
	Datum		value = ObjectIdGetDatum(InvalidOid);

	if (next_row(&rows))
		(void) read_field(&rows, "logicalrelid", REGCLASSOID, &value);
	end_rows(&rows);
	return DatumGetObjectId(value);
}

/* Returns true if there is a placement of the shard on this node. */
static bool
is_placed(int64 number)
{
	Rows		group = begin_rows("pg_dist_local_group", NULL, NULL, InvalidOid, InvalidOid, 0);
	Datum		here = Int32GetDatum(-1);
	Rows		rows;
	bool		found = false;

	if (next_row(&group))
		(void) read_field(&group, "groupid", INT4OID, &here);
	end_rows(&group);
	if (DatumGetInt32(here) < 0)
		return false;
	rows = begin_rows("pg_dist_placement", "pg_dist_placement_shardid_index", "shardid", INT8OID,
					  F_INT8EQ, Int64GetDatum(number));
	while (!found && next_row(&rows))
	{
		Datum		value;

		found = read_field(&rows, "groupid", INT4OID, &value) &&
			DatumGetInt32(value) == DatumGetInt32(here);
	}
	end_rows(&rows);
	return found;
}

/* Which tables it is colocated with: their number; 0: with none. */
static int32
colocation_of(Oid table_oid)
{
	Rows		rows = begin_rows("pg_dist_partition", "pg_dist_partition_logical_relid_index",
								  "logicalrelid", REGCLASSOID, F_OIDEQ,
								  ObjectIdGetDatum(table_oid));
	Datum		value = Int32GetDatum(0);

	if (next_row(&rows))
		(void) read_field(&rows, "colocationid", INT4OID, &value);
	end_rows(&rows);
	return Max(DatumGetInt32(value), 0);
}

/* The least hash value of a shard; false: it has none. */
static bool
read_least(const Rows *rows, int64 *least)
{
	Datum		value;

	if (!read_field(rows, "shardminvalue", TEXTOID, &value))
		return false;
	*least = strtoll(TextDatumGetCString(value), NULL, 10);
	return true;
}

/* How many shards of the table have lower hash values than this one. */
static int32
place_in_table(Oid table_oid, int64 number)
{
	Rows		rows = shard_rows(number);
	int64		own = PG_INT64_MIN;
	int64		least;
	int32		place = 0;

	if (next_row(&rows))
		(void) read_least(&rows, &own);
	end_rows(&rows);
	rows = begin_rows("pg_dist_shard", "pg_dist_shard_logical_relid_index", "logicalrelid",
					  REGCLASSOID, F_OIDEQ, ObjectIdGetDatum(table_oid));
	while (next_row(&rows))
		place += read_least(&rows, &least) && least < own;
	end_rows(&rows);
	return place;
}

/* ---------------------------------------------------------------------
 * Shards
 * ---------------------------------------------------------------------
 */

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
 * Returns true if this is the name of a shard of the table.  If both together would be too long,
 * Citus puts a hash of 8 digits, between two '_', in place of the end of the table's name.
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
	char		kind = get_rel_relkind(relation_oid);
	char	   *shard_name;
	char	   *table_name;

	shard->relation_oid = kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX ?
		IndexGetRelation(relation_oid, true) : relation_oid;
	if (OidIsValid(shard->relation_oid) &&
		get_rel_relkind(shard->relation_oid) == RELKIND_TOASTVALUE)
		shard->relation_oid = owner_of_toast(shard->relation_oid);
	shard_name = OidIsValid(shard->relation_oid) ? get_rel_name(shard->relation_oid) : NULL;
	shard->number = shard_name == NULL ? 0 : shard_number(shard_name);
	if (shard->number == 0)
		return false;
	shard->table_oid = table_with_shard(shard->number);
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

static Oid
placed_table_of(Oid relation_oid)
{
	Shard		shard;

	if (!find_shard(relation_oid, &shard) || shard.relation_oid != relation_oid ||
		owner_of(relation_oid) != owner_of(shard.table_oid) || !is_placed(shard.number))
		return InvalidOid;
	return shard.table_oid;
}

/* Looks at the lock without taking it, so that no other process is kept from taking it. */
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
		is_locked_by_citus(place_in_table(shard->table_oid, shard->number), colocation_id,
						   COLOCATED_SHARDS_METADATA_LOCK);
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
		return "the shard has no placement on this node: it is being created or dropped";
	if (is_worked_on(&shard) || is_published_by_citus(shard.relation_oid))
		return "Citus moves, copies or splits the shard";
	return NULL;
}

/* With what the default says of shells. */
static TierDistributed of_citus;

void
tier_citus_shards_init(void)
{
	const TierDistributed **answers;

	load_file("$libdir/tiered_storage", false);
	answers = (const TierDistributed **) find_rendezvous_variable(TIER_DISTRIBUTED_VARIABLE);
	of_citus = **answers;
	of_citus.table_of = table_of;
	of_citus.placed_table_of = placed_table_of;
	of_citus.why_busy = why_busy;
	of_citus.is_second = true;
	*answers = &of_citus;
}
