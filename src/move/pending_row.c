/*-------------------------------------------------------------------------
 *
 * move/pending_row.c
 *		The rows of _tiered_storage.move_file.
 *
 * Scans the table and changes single rows without queries, so that planner hooks, rules, row
 * security and search paths do not affect which files are removed.  Snapshots are taken here,
 * as of now, whatever isolation level the caller has.  A row is stored with tablespace 0 if
 * that is the database's default one, as pg_class does, since ALTER DATABASE SET TABLESPACE
 * takes its file along.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/move/pending_row.h"

/* Columns of _tiered_storage.move_file. */
#define COLUMN_TABLESPACE 1
#define COLUMN_FILE 2
#define COLUMN_RELATION 3
#define COLUMN_PID 4
#define COLUMN_CREATED_AT 5
#define COLUMN_SYSTEM 6
#define NCOLUMNS 6

Oid
tier_pending_table_oid(Oid extension_oid)
{
	Oid			table_oid = get_relname_relid("move_file",
											  get_namespace_oid(TIER_CATALOG_SCHEMA, true));

	if (!OidIsValid(table_oid) ||
		getExtensionOfObject(RelationRelationId, table_oid) != extension_oid)
		return InvalidOid;
	return table_oid;
}

/*
 * The key, or what an unfinished REINDEX CONCURRENTLY of it has left: an invalid index without
 * expressions and predicate.
 */
static bool
is_key(Relation table, Oid index_oid)
{
	Relation	index;
	bool		is_remnant;

	if (index_oid == table->rd_pkindex)
		return true;
	index = index_open(index_oid, AccessShareLock);
	is_remnant = !index->rd_index->indisvalid &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
	index_close(index, NoLock);
	return is_remnant;
}

bool
tier_pending_table_is_intact(Relation table)
{
	static const Oid types[NCOLUMNS] = {OIDOID, OIDOID, OIDOID, INT4OID, TIMESTAMPTZOID, INT8OID};
	TupleDesc	descriptor = RelationGetDescr(table);
	List	   *indexes = RelationGetIndexList(table);
	bool		fits = descriptor->natts == NCOLUMNS && OidIsValid(table->rd_pkindex) &&
	table->rd_rel->relkind == RELKIND_RELATION && table->rd_rel->relam == HEAP_TABLE_AM_OID;
	ListCell   *cell;

	foreach(cell, indexes)
		fits = fits && is_key(table, lfirst_oid(cell));

	for (int i = 0; fits && i < NCOLUMNS; i++)
		fits = TupleDescAttr(descriptor, i)->atttypid == types[i];
	list_free(indexes);
	return fits;
}

Relation
tier_pending_table_open_if_free(Oid table_oid)
{
	Relation	table = NULL;

	if (ConditionalLockRelationOid(table_oid, RowExclusiveLock))
		table = try_table_open(table_oid, NoLock);
	if (table == NULL || tier_pending_table_is_intact(table))
		return table;
	table_close(table, NoLock);
	ereport(LOG,
			(errmsg("table _tiered_storage.move_file was altered; "
					"files of unfinished moves are not removed")));
	return NULL;
}

static Oid
stored_tablespace(RelFileLocator file)
{
	Oid			tablespace_oid = tier_compat_locator_tablespace(file);

	return tablespace_oid == MyDatabaseTableSpace ? InvalidOid : tablespace_oid;
}

void
tier_pending_row_insert(Relation table, Oid relation_oid, RelFileLocator file)
{
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS] = {false};
	HeapTuple	tuple;

	values[COLUMN_TABLESPACE - 1] = ObjectIdGetDatum(stored_tablespace(file));
	values[COLUMN_FILE - 1] = ObjectIdGetDatum(tier_compat_locator_file_number(file));
	values[COLUMN_RELATION - 1] = ObjectIdGetDatum(relation_oid);
	values[COLUMN_PID - 1] = Int32GetDatum(MyProcPid);
	values[COLUMN_CREATED_AT - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[COLUMN_SYSTEM - 1] = Int64GetDatum((int64) GetSystemIdentifier());
	tuple = heap_form_tuple(RelationGetDescr(table), values, nulls);
	CatalogTupleInsert(table, tuple);
	heap_freetuple(tuple);
	CommandCounterIncrement();
}

static void
read_row(Relation table, HeapTuple tuple, TierPendingRow *row)
{
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS];

	heap_deform_tuple(tuple, RelationGetDescr(table), values, nulls);
	row->stored_tablespace = DatumGetObjectId(values[COLUMN_TABLESPACE - 1]);
	row->file = tier_compat_locator(OidIsValid(row->stored_tablespace) ?
									row->stored_tablespace : MyDatabaseTableSpace,
									MyDatabaseId, DatumGetObjectId(values[COLUMN_FILE - 1]));
	row->pid = DatumGetInt32(values[COLUMN_PID - 1]);
	row->system_identifier = DatumGetInt64(values[COLUMN_SYSTEM - 1]);
	row->table_oid = RelationGetRelid(table);
	row->tid = tuple->t_self;
}

bool
tier_pending_row_find_stored(Relation table, Oid stored_tablespace_oid, RelFileNumber file_number,
							 TierPendingRow *row)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	list_free(RelationGetIndexList(table));
	ScanKeyInit(&keys[0], COLUMN_TABLESPACE, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(stored_tablespace_oid));
	ScanKeyInit(&keys[1], COLUMN_FILE, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(file_number));
	scan = systable_beginscan(table, table->rd_pkindex, OidIsValid(table->rd_pkindex),
							  snapshot, 2, keys);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
		read_row(table, tuple, row);
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	return found;
}

bool
tier_pending_row_find(Relation table, RelFileLocator file, TierPendingRow *row)
{
	RelFileNumber file_number = tier_compat_locator_file_number(file);

	return tier_pending_row_find_stored(table, stored_tablespace(file), file_number, row) ||
		tier_pending_row_find_stored(table, tier_compat_locator_tablespace(file),
									 file_number, row);
}

TierPendingRow *
tier_pending_row_read_all(Relation table, int most, int *n)
{
	TierPendingRow *rows = palloc(sizeof(TierPendingRow) * most);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	SysScanDesc scan = systable_beginscan(table, InvalidOid, false, snapshot, 0, NULL);
	HeapTuple	tuple;

	*n = 0;
	while (*n < most && HeapTupleIsValid(tuple = systable_getnext(scan)))
		read_row(table, tuple, &rows[(*n)++]);
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	return rows;
}

bool
tier_pending_row_delete(Relation table, ItemPointer tid)
{
	HeapTupleData tuple;
	TM_FailureData failure;
	TM_Result	result;
	Buffer		buffer;

	tuple.t_self = *tid;
	result = heap_lock_tuple(table, &tuple, GetCurrentCommandId(true), LockTupleExclusive,
							 LockWaitSkip, false, &buffer, &failure);
	ReleaseBuffer(buffer);
	if (result != TM_Ok)
		return false;
	CatalogTupleDelete(table, tid);
	CommandCounterIncrement();
	return true;
}
