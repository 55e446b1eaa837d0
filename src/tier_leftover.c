/*-------------------------------------------------------------------------
 *
 * tier_leftover.c
 *		Files of moves that did not end, and their removal.
 *
 * A file that is being made belongs to no relation, so that nothing would
 * remove it after a crash.  It is written down in tiered_storage.move_file,
 * committed before it is created; with the process that makes it, which is
 * known by its PID and start.  On a promoted standby, and after a restart, none
 * of these processes exists.
 *
 * Nobody else can have made a file of that number: numbers are counted up,
 * also across a crash, and one is chosen only where there is no such file.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "tier_attempt.h"
#include "tier_catalog.h"
#include "tier_copy.h"
#include "tier_leftover.h"

#define COLUMN_TABLESPACE 1
#define COLUMN_FILE 2
#define COLUMN_IS_USED 3

typedef struct Entry
{
	Oid			relation_oid;
	RelFileLocator file;
} Entry;

/*
 * In a subtransaction: what is thrown in a scope leaves a connection to SPI
 * open, with which the caller could not roll back.
 */
static void
change_entry(void (*step) (void *argument), Entry *entry)
{
	ErrorData  *error = tier_attempt(step, entry);

	if (error != NULL)
		ReThrowError(error);
}

static void
remember(void *argument)
{
	static const Oid types[] = {OIDOID, OIDOID, OIDOID, INT4OID};
	const Entry *entry = argument;
	TierCatalogScope scope;
	Datum		values[4];
	Oid			table_oid;

	values[0] = ObjectIdGetDatum(entry->relation_oid);
	values[1] = ObjectIdGetDatum(tier_compat_locator_tablespace(entry->file));
	values[2] = ObjectIdGetDatum(tier_compat_locator_file_number(entry->file));
	values[3] = Int32GetDatum(MyProcPid);

	/*
	 * Two that begin at the same moment must see each other: the lock comes
	 * before the snapshot, which may be that of the whole transaction.
	 */
	table_oid = get_relname_relid("move_file", get_namespace_oid("tiered_storage", true));
	if (OidIsValid(table_oid))
		LockRelationOid(table_oid, ShareRowExclusiveLock);
	tier_catalog_enter(&scope);
	if (tier_catalog_execute("INSERT INTO tiered_storage.move_file AS f "
							 "(relation_oid, tablespace_oid, file_number, pid, backend_start) "
							 "SELECT $1, $2, $3, a.pid, a.backend_start FROM pg_catalog.pg_stat_activity a "
							 "WHERE a.pid = $4 AND NOT EXISTS (SELECT FROM tiered_storage.move_file o "
							 "JOIN pg_catalog.pg_stat_activity b ON b.pid = o.pid AND b.backend_start = o.backend_start "
							 "WHERE o.relation_oid = $1 AND b.pid <> a.pid) RETURNING 1",
							 4, types, values, NULL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another process is moving it"),
				 errhint("SELECT * FROM tiered_storage.move_progress shows it.")));
	tier_catalog_leave(&scope);
}

void
tier_leftover_remember(Oid relation_oid, RelFileLocator file)
{
	Entry		entry = {relation_oid, file};

	/* Nobody may lose it in a crash, whatever synchronous_commit says. */
	ForceSyncCommit();
	change_entry(remember, &entry);
}

static void
forget(void *argument)
{
	static const Oid types[] = {OIDOID, OIDOID};
	const Entry *entry = argument;
	TierCatalogScope scope;
	Datum		values[2];

	if (!tier_catalog_try_enter(&scope))
		return;
	values[0] = ObjectIdGetDatum(tier_compat_locator_tablespace(entry->file));
	values[1] = ObjectIdGetDatum(tier_compat_locator_file_number(entry->file));
	tier_catalog_execute("DELETE FROM tiered_storage.move_file f WHERE f.tablespace_oid = $1 AND f.file_number = $2",
						 2, types, values, NULL);
	tier_catalog_leave(&scope);
}

void
tier_leftover_forget(RelFileLocator file)
{
	Entry		entry = {InvalidOid, file};

	change_entry(forget, &entry);
}

int
tier_leftover_sweep(void)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	RelFileLocator *gone;
	uint64		n;
	int			ngone = 0;
	int			removed = 0;

	if (!tier_catalog_try_enter(&scope))
		return 0;

	/*
	 * Whoever is just looking at the same row removes its file.  A process
	 * whose start we may not see counts as alive: its file may be in use.
	 */
	n = tier_catalog_execute("SELECT f.tablespace_oid, f.file_number, EXISTS (SELECT FROM pg_catalog.pg_class c "
							 "WHERE c.relfilenode = f.file_number AND f.tablespace_oid = "
							 "CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END) "
							 "FROM tiered_storage.move_file f, pg_catalog.pg_database d "
							 "WHERE d.datname = pg_catalog.current_database() AND NOT EXISTS "
							 "(SELECT FROM pg_catalog.pg_stat_activity a "
							 "WHERE a.pid = f.pid AND (a.backend_start IS NULL OR a.backend_start = f.backend_start)) "
							 "FOR UPDATE OF f SKIP LOCKED", 0, NULL, NULL, NULL);
	gone = MemoryContextAlloc(context, sizeof(RelFileLocator) * Max(n, 1));
	for (uint64 i = 0; i < n; i++)
	{
		bool		isnull;
		RelFileLocator file = tier_compat_locator(DatumGetObjectId(tier_catalog_datum(i, COLUMN_TABLESPACE, &isnull)),
												  MyDatabaseId,
												  DatumGetObjectId(tier_catalog_datum(i, COLUMN_FILE, &isnull)));

		if (DatumGetBool(tier_catalog_datum(i, COLUMN_IS_USED, &isnull)) || !tier_copy_file_exists(file))
			gone[ngone++] = file;
		else
		{
			removed += !tier_copy_file_is_empty(file);
			tier_copy_drop_file(file);
		}
	}
	tier_catalog_leave(&scope);
	for (int i = 0; i < ngone; i++)
	{
		Entry		entry = {InvalidOid, gone[i]};

		forget(&entry);
	}
	pfree(gone);
	if (removed > 0)
		ereport(LOG,
				(errmsg_plural("tiered_storage removes %d file of a move that did not end",
							   "tiered_storage removes %d files of moves that did not end",
							   removed, removed)));
	return removed;
}
