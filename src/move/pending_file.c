/*-------------------------------------------------------------------------
 *
 * move/pending_file.c
 *		Files that no relation has yet: registering, adopting, removing them.
 *
 * A file that is being made belongs to no relation, so that nothing would
 * remove it after a crash.  It is registered in _tiered_storage.move_file, and
 * that is committed before it is created.  What is here is the only code that
 * removes files, and it must never remove one that a relation uses.
 *
 * Who is alive.  The mover holds two locks from before the registration until it
 * is done with the file: on the file's number, and on the relation (that is what
 * excludes a second mover).  They are locks of the session and of the user lock
 * method, since those alone outlast a rollback; and they end with the process,
 * after its exit callback.  So whoever is granted the lock on a file knows that
 * its mover is gone, or has given it up, and that nobody will begin to use the
 * file: only the one who created it does that.  Neither a PID nor a list of
 * processes says that; both can be older than what they are compared with.
 *
 * What is in use.  The row of a file is deleted by the transaction that makes the
 * file a relation's, so that no snapshot shows a file that is both registered and
 * in use, or neither.  A sweep first gets the lock, then takes a snapshot of its
 * own, whatever isolation level the caller has, and with it reads the row again
 * and looks for the file in pg_class.  All of it are scans of tables, not
 * queries: planner hooks, rules, row security and search paths of others have no
 * say in what is removed.
 *
 * What else could make or take a file of that number.  Numbers are counted up,
 * also across a crash, and one is chosen only where there is no such file.  So a
 * row without a file is deleted by the next sweep, long before the counter has
 * wrapped around.
 *
 * DROP EXTENSION would take the rows away.  The mover keeps it waiting by a lock on
 * the extension, sees soon that somebody waits, and removes its file first.  A
 * rollback lets go of that lock; it is taken again at the beginning of the next
 * transaction, and if that fails, the file is removed at once.  If the server
 * crashes in just that moment, or the extension is dropped while there are
 * leftovers of an earlier crash, they are found by orphaned_files() alone.
 *
 * ALTER DATABASE SET TABLESPACE takes a leftover along, if it is in the database's
 * default tablespace; so that one is stored as 0, as pg_class does.  Rows that
 * pg_upgrade has brought along are of another system: its files stay behind.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogutils.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "catalog/storage.h"
#include "commands/extension.h"
#include "commands/tablespace.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/catalog/tables.h"
#include "src/base/debug.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"

/* Columns of _tiered_storage.move_file. */
#define COLUMN_TABLESPACE 1
#define COLUMN_FILE 2
#define COLUMN_RELATION 3
#define COLUMN_PID 4
#define COLUMN_CREATED_AT 5
#define COLUMN_SYSTEM 6
#define NCOLUMNS 6

/* One sweep; the next one does the rest. */
#define MAX_SWEPT 1000

/* Numbers that are tried; one that is taken is next to impossible. */
#define MAX_NUMBERS 10

/* Third parts of the lock tags, which have pg_class as their class. */
#define LOCK_OF_FILE 1
#define LOCK_OF_RELATION 2

/* What this process has registered and not yet released. */
static struct
{
	bool		has_relation;	/* the lock `relation` is held */
	bool		has_file;		/* the lock `file` is held */
	bool		has_extension;	/* the lock `extension` is held; false after
								 * each rollback */
	LOCKTAG		relation;
	LOCKTAG		file;
	LOCKTAG		extension;
	Oid			extension_oid;
	Oid			table_oid;		/* of move_file */
	RelFileLocator locator;
}			held;

/* A row, as read. */
typedef struct Entry
{
	RelFileLocator file;
	Oid			stored_tablespace;	/* 0: the default one of the database */
	int			pid;
	int64		system_identifier;
	Oid			table_oid;		/* that the row is in */
	ItemPointerData tid;
	int			removed;		/* out: files with blocks that are removed */
} Entry;

/* Who uses a file. */
typedef enum FileUse
{
	FILE_UNUSED,
	FILE_IN_DOUBT,				/* an open transaction may be about to use it */
	FILE_IN_USE,
} FileUse;

/* What there is on disk of a file. */
typedef struct Remains
{
	int			nfiles;			/* segments of all forks */
	int64		bytes;
	bool		only_first;		/* nothing but the first segment of the main
								 * fork */
} Remains;

/* ---------------------------------------------------------------------
 * Locks
 * ---------------------------------------------------------------------
 */

/*
 * No lock of the server has a tag like this: relations have tags of their own
 * kind, not of objects in pg_class.  Not the tag of an advisory lock either, with
 * which a user could get into our way.
 */
static void
set_tag(LOCKTAG *tag, Oid oid, uint16 what)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, RelationRelationId, oid, what);
	tag->locktag_lockmethodid = USER_LOCKMETHOD;
}

/* The tablespace is not part of it: that two numbers are equal does no harm. */
static void
set_file_tag(LOCKTAG *tag, RelFileLocator file)
{
	set_tag(tag, tier_compat_locator_file_number(file), LOCK_OF_FILE);
}

static bool
lock_for_session(const LOCKTAG *tag)
{
	LockAcquireResult result = LockAcquire(tag, ExclusiveLock, true, true);

	if (result == LOCKACQUIRE_ALREADY_HELD)
		LockRelease(tag, ExclusiveLock, true);
	return result == LOCKACQUIRE_OK;
}

static void
unlock(bool *has, const LOCKTAG *tag, LOCKMODE mode)
{
	if (*has)
		LockRelease(tag, mode, true);
	*has = false;
}

/* A rollback lets go of all locks of the server's own lock method. */
static void
forget_extension_lock(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT)
		held.has_extension = false;
}

bool
tier_pending_hold_extension(void)
{
	bool		exists;

	/* As long as we have the lock it cannot have been dropped. */
	if (held.has_extension)
		return true;
	SET_LOCKTAG_OBJECT(held.extension, MyDatabaseId, ExtensionRelationId, held.extension_oid, 0);
	if (LockAcquire(&held.extension, AccessShareLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	held.has_extension = true;
	AcceptInvalidationMessages();
	InvalidateCatalogSnapshot();
	exists = get_extension_oid(TIER_EXTENSION_NAME, true) == held.extension_oid;

	/* The mover may wait for long now, and must not hold vacuum up. */
	InvalidateCatalogSnapshot();
	if (!exists)
		unlock(&held.has_extension, &held.extension, AccessShareLock);
	return exists;
}

bool
tier_pending_extension_is_wanted(void)
{
	return held.has_extension && tier_relation_someone_waits_for(&held.extension);
}

void
tier_pending_release(void)
{
	unlock(&held.has_file, &held.file, ExclusiveLock);
	unlock(&held.has_relation, &held.relation, ExclusiveLock);
	unlock(&held.has_extension, &held.extension, AccessShareLock);
}

/* ---------------------------------------------------------------------
 * The table
 * ---------------------------------------------------------------------
 */

/*
 * move_file of the extension as it is now; an OID of 0 when there is none.  Not
 * whatever else has that name.
 */
static Oid
find_table(Oid extension_oid)
{
	Oid			table_oid = get_relname_relid("move_file", get_namespace_oid(TIER_CATALOG_SCHEMA, true));

	if (!OidIsValid(table_oid) ||
		getExtensionOfObject(RelationRelationId, table_oid) != extension_oid)
		return InvalidOid;
	return table_oid;
}

/*
 * Is it as the install script has made it?  Superusers can alter it, and what is
 * below here relies on its columns, and on there being no index but the key.
 */
static bool
is_as_made(Relation table)
{
	static const Oid types[NCOLUMNS] = {OIDOID, OIDOID, OIDOID, INT4OID, TIMESTAMPTZOID, INT8OID};
	TupleDesc	descriptor = RelationGetDescr(table);
	List	   *indexes = RelationGetIndexList(table);
	bool		fits = descriptor->natts == NCOLUMNS && list_length(indexes) == 1 &&
	linitial_oid(indexes) == table->rd_pkindex && table->rd_rel->relkind == RELKIND_RELATION &&
	table->rd_rel->relam == HEAP_TABLE_AM_OID;

	for (int i = 0; fits && i < NCOLUMNS; i++)
		fits = TupleDescAttr(descriptor, i)->atttypid == types[i];
	list_free(indexes);
	return fits;
}

/*
 * The table, locked to the end of the transaction; NULL when it is gone, or was
 * altered.  Waits for nobody: whoever drops the extension may have it already and
 * wait for us.
 */
static Relation
open_table_if_free(Oid table_oid)
{
	Relation	table = NULL;

	if (ConditionalLockRelationOid(table_oid, RowExclusiveLock))
		table = try_table_open(table_oid, NoLock);
	if (table == NULL || is_as_made(table))
		return table;
	table_close(table, NoLock);
	ereport(LOG,
			(errmsg("table _tiered_storage.move_file was altered; files of unfinished moves are not removed")));
	return NULL;
}

static Oid
stored_tablespace(RelFileLocator file)
{
	Oid			tablespace_oid = tier_compat_locator_tablespace(file);

	return tablespace_oid == MyDatabaseTableSpace ? InvalidOid : tablespace_oid;
}

static void
read_entry(Relation table, HeapTuple tuple, Entry *entry)
{
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS];

	heap_deform_tuple(tuple, RelationGetDescr(table), values, nulls);
	entry->stored_tablespace = DatumGetObjectId(values[COLUMN_TABLESPACE - 1]);
	entry->file = tier_compat_locator(OidIsValid(entry->stored_tablespace) ?
									  entry->stored_tablespace : MyDatabaseTableSpace,
									  MyDatabaseId, DatumGetObjectId(values[COLUMN_FILE - 1]));
	entry->pid = DatumGetInt32(values[COLUMN_PID - 1]);
	entry->system_identifier = DatumGetInt64(values[COLUMN_SYSTEM - 1]);
	entry->table_oid = RelationGetRelid(table);
	entry->tid = tuple->t_self;
	entry->removed = 0;
}

/* The row as of now, by the primary key; false when there is none. */
static bool
find_row(Relation table, Oid stored_tablespace_oid, RelFileNumber file_number, Entry *entry)
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
	scan = systable_beginscan(table, table->rd_pkindex, OidIsValid(table->rd_pkindex), snapshot, 2, keys);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
		read_entry(table, tuple, entry);
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	return found;
}

/*
 * The same by the file.  A row from before ALTER DATABASE SET TABLESPACE may name
 * what is the default tablespace now.
 */
static bool
find_entry(Relation table, RelFileLocator file, Entry *entry)
{
	RelFileNumber file_number = tier_compat_locator_file_number(file);

	return find_row(table, stored_tablespace(file), file_number, entry) ||
		find_row(table, tier_compat_locator_tablespace(file), file_number, entry);
}

/*
 * Deletes a row, unless that would have to wait for somebody.  Below the
 * executor: triggers, rules and publications of others have no say.
 */
static bool
delete_row(Relation table, ItemPointer tid)
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

/* ---------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------
 */

static bool
pg_class_has(Relation pg_class, Snapshot snapshot, Oid stored_tablespace_oid, RelFileLocator file)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	bool		found;

	ScanKeyInit(&keys[0], Anum_pg_class_reltablespace, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(stored_tablespace_oid));
	ScanKeyInit(&keys[1], Anum_pg_class_relfilenode, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(tier_compat_locator_file_number(file)));
	scan = systable_beginscan(pg_class, ClassTblspcRelfilenodeIndexId, true, snapshot, 2, keys);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	return found;
}

static bool
pg_class_uses(Relation pg_class, Snapshot snapshot, RelFileLocator file)
{
	Oid			tablespace_oid = tier_compat_locator_tablespace(file);

	return pg_class_has(pg_class, snapshot, tablespace_oid, file) ||
		(tablespace_oid == MyDatabaseTableSpace && pg_class_has(pg_class, snapshot, InvalidOid, file));
}

/*
 * As of now, not as of the caller's snapshot.  An MVCC snapshot sees each row
 * once, however it is updated meanwhile; one that sees what is not committed
 * finds those that may be about to use the file.
 */
static FileUse
find_use(RelFileLocator file)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	SnapshotData dirty;
	FileUse		use = FILE_UNUSED;

	InitDirtySnapshot(dirty);
	if (pg_class_uses(pg_class, snapshot, file) ||
		OidIsValid(tier_compat_relation_map_filenumber_to_oid(tier_compat_locator_file_number(file), false)))
		use = FILE_IN_USE;
	else if (pg_class_uses(pg_class, &dirty, file))
		use = FILE_IN_DOUBT;
	UnregisterSnapshot(snapshot);
	table_close(pg_class, AccessShareLock);
	return use;
}

static void
report_use(RelFileLocator file, FileUse use)
{
	ereport(LOG,
			(errmsg("file %u in tablespace %u was to be removed and is kept: %s",
					tier_compat_locator_file_number(file), tier_compat_locator_tablespace(file),
					use == FILE_IN_USE ? "a relation uses it" : "an open transaction may be about to use it")));
}

/* At the commit; the caller has proven that it is unused. */
static void
drop_file(RelFileLocator file)
{
	Relation	relation = CreateFakeRelcacheEntry(file);

	(void) GetCurrentTransactionId();

	/* From 17 on it has an open file that it has not pinned, to be unpinned. */
	relation->rd_smgr = NULL;
	RelationDropStorage(relation);
	FreeFakeRelcacheEntry(relation);
}

bool
tier_pending_drop(RelFileLocator file)
{
	FileUse		use = find_use(file);

	if (use != FILE_UNUSED)
	{
		report_use(file, use);
		return false;
	}
	drop_file(file);
	return true;
}

/* Is it a segment of that number?  *is_first: the first of the main fork. */
static bool
is_segment_of(const char *name, const char *number, bool *is_first)
{
	size_t		length = strlen(number);

	if (strncmp(name, number, length) != 0 ||
		(name[length] != '\0' && name[length] != '.' && name[length] != '_'))
		return false;
	*is_first = name[length] == '\0';
	return true;
}

/*
 * By listing the directory, since a segment in the middle may be gone.  Without the
 * directory of the database there is nothing, but only if the tablespace's own is
 * there or the tablespace is not: its disk may have been taken away, and come back.
 * Errors are thrown.
 */
static void
find_remains(RelFileLocator file, Remains *remains)
{
	char		directory[MAXPGPATH];
	char		number[16];
	char		path[MAXPGPATH * 2];
	struct dirent *item;
	struct stat status;
	DIR		   *dir;

	memset(remains, 0, sizeof(*remains));
	remains->only_first = true;
	snprintf(number, sizeof(number), "%u", tier_compat_locator_file_number(file));
	tier_compat_relation_path(directory, sizeof(directory), tier_compat_locator_tablespace(file),
							  tier_compat_locator_database(file), tier_compat_locator_file_number(file),
							  MAIN_FORKNUM);
	get_parent_directory(directory);
	dir = AllocateDir(directory);
	if (dir == NULL && errno == ENOENT)
	{
		get_parent_directory(directory);
		if (stat(directory, &status) == 0 ||
			get_tablespace_name(tier_compat_locator_tablespace(file)) == NULL)
			return;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not look for file %u of an unfinished move: directory \"%s\" is missing",
						tier_compat_locator_file_number(file), directory),
				 errhint("Is its file system mounted?")));
	}
	while ((item = ReadDir(dir, directory)) != NULL)
	{
		bool		is_first;

		CHECK_FOR_INTERRUPTS();
		if (!is_segment_of(item->d_name, number, &is_first))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, item->d_name);
		if (stat(path, &status) != 0)
		{
			if (errno == ENOENT)
				continue;
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not stat file \"%s\": %m", path)));
		}
		remains->nfiles++;
		remains->bytes += status.st_size;
		remains->only_first = remains->only_first && is_first;
	}
	FreeDir(dir);
}

int64
tier_pending_bytes(RelFileLocator file)
{
	Remains		remains;

	find_remains(file, &remains);
	return remains.bytes;
}

bool
tier_pending_is_registered(RelFileLocator file)
{
	Oid			extension_oid = get_extension_oid(TIER_EXTENSION_NAME, true);
	Oid			table_oid = OidIsValid(extension_oid) ? find_table(extension_oid) : InvalidOid;
	Relation	table = OidIsValid(table_oid) ? try_table_open(table_oid, AccessShareLock) : NULL;
	Entry		entry;
	bool		found;

	if (table == NULL)
		return false;
	found = find_entry(table, file, &entry);
	table_close(table, AccessShareLock);
	return found;
}

/* ---------------------------------------------------------------------
 * The mover
 * ---------------------------------------------------------------------
 */

/* What register_step is called with. */
typedef struct Registration
{
	Oid			relation_oid;
	Oid			tablespace_oid;
} Registration;

static void
insert_row(Relation table, Oid relation_oid, RelFileLocator file)
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

/* A number that nobody has, and whose lock we have. */
static RelFileLocator
choose_file(Relation table, Oid tablespace_oid)
{
	for (int i = 0; i < MAX_NUMBERS; i++)
	{
		RelFileLocator file = tier_compat_locator(tablespace_oid, MyDatabaseId,
												  tier_compat_new_file_number(tablespace_oid));
		Entry		entry;

		set_file_tag(&held.file, file);
		held.has_file = lock_for_session(&held.file);
		if (held.has_file && !find_entry(table, file, &entry))
			return file;
		unlock(&held.has_file, &held.file, ExclusiveLock);
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not find a free file number in %d attempts", MAX_NUMBERS)));
	return held.locator;		/* not reached */
}

static void
register_step(void *argument)
{
	const Registration *registration = argument;
	Relation	table = NULL;

	/*
	 * The table first, which may have to be waited for; then the extension,
	 * without waiting: DROP EXTENSION locks them the other way round.
	 */
	held.extension_oid = get_extension_oid(TIER_EXTENSION_NAME, true);
	held.table_oid = OidIsValid(held.extension_oid) ? find_table(held.extension_oid) : InvalidOid;
	if (OidIsValid(held.table_oid))
		table = try_table_open(held.table_oid, RowExclusiveLock);
	if (table == NULL || !tier_pending_hold_extension())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("extension \"%s\" is being dropped", TIER_EXTENSION_NAME)));
	if (tier_catalog_extension_state() != TIER_EXTENSION_PRESENT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is not at the version of its library, %s",
						TIER_EXTENSION_NAME, TIER_VERSION),
				 errhint("Run ALTER EXTENSION %s UPDATE.", TIER_EXTENSION_NAME)));
	if (!is_as_made(table))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table _tiered_storage.move_file was altered"),
				 errdetail("Files of unfinished moves could not be found again."),
				 errhint("Give it back its columns and its one index, or create the extension again.")));

	set_tag(&held.relation, registration->relation_oid, LOCK_OF_RELATION);
	held.has_relation = lock_for_session(&held.relation);
	if (!held.has_relation)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another process is moving it"),
				 errhint("SELECT * FROM tiered_storage.move_progress shows it.")));

	held.locator = choose_file(table, registration->tablespace_oid);
	insert_row(table, registration->relation_oid, held.locator);
	table_close(table, NoLock);
}

RelFileLocator
tier_pending_register(Oid relation_oid, Oid tablespace_oid)
{
	static bool is_callback_registered = false;
	Registration registration = {relation_oid, tablespace_oid};
	ErrorData  *error;

	if (!is_callback_registered)
	{
		RegisterXactCallback(forget_extension_lock, NULL);
		is_callback_registered = true;
	}
	tier_pending_release();
	error = tier_attempt(register_step, &registration);
	if (error != NULL)
	{
		tier_pending_release();
		ReThrowError(error);
	}

	/* No crash may lose it, whatever synchronous_commit says. */
	ForceSyncCommit();
	return held.locator;
}

TierPendingResult
tier_pending_adopt(RelFileLocator file)
{
	TierPendingResult result = TIER_PENDING_LOST;
	Relation	table;
	Entry		entry;

	if (!held.has_file || !RelFileLocatorEquals(held.locator, file) ||
		!tier_compat_lock_is_held(&held.file, ExclusiveLock))
		return TIER_PENDING_LOST;
	table = open_table_if_free(held.table_oid);
	if (table == NULL)
		return TIER_PENDING_BUSY;
	if (find_entry(table, file, &entry) && entry.pid == MyProcPid)
		result = delete_row(table, &entry.tid) ? TIER_PENDING_OK : TIER_PENDING_BUSY;
	table_close(table, NoLock);
	return result;
}

void
tier_pending_unregister(RelFileLocator file, bool is_ours)
{
	Relation	table = open_table_if_free(held.table_oid);
	Remains		remains;
	Entry		entry;

	if (table == NULL)
		return;
	find_remains(file, &remains);
	if (is_ours && (remains.bytes > 0 || !remains.only_first))
		ereport(LOG,
				(errmsg("%d files with number %u of an unfinished move could not be removed; this is tried again",
						remains.nfiles, tier_compat_locator_file_number(file))));
	else if (find_entry(table, file, &entry))
		(void) delete_row(table, &entry.tid);
	table_close(table, NoLock);
}

/* ---------------------------------------------------------------------
 * The sweep
 * ---------------------------------------------------------------------
 */

/* Looks at one file, with a look at everything that is newer than its lock. */
static void
sweep_step(void *argument)
{
	Entry	   *entry = argument;
	RelFileLocator file = entry->file;
	Relation	table;
	Remains		remains;
	LOCKTAG		tag;
	FileUse		use;
	LockAcquireResult lock;

	/*
	 * To the end of the transaction.  When we have it already, the file is
	 * the one that this process is making.
	 */
	set_file_tag(&tag, file);
	lock = LockAcquire(&tag, ExclusiveLock, false, true);
	if (lock != LOCKACQUIRE_OK)
	{
		if (lock == LOCKACQUIRE_ALREADY_HELD)
			LockRelease(&tag, ExclusiveLock, false);
		return;
	}
	tier_debug_point("sweeping");
	table = table_open(entry->table_oid, NoLock);
	if (!find_row(table, entry->stored_tablespace, tier_compat_locator_file_number(file), entry))
	{
		table_close(table, NoLock);
		return;
	}
	find_remains(file, &remains);
	use = find_use(file);
	if (remains.nfiles == 0 || use == FILE_IN_USE ||
		entry->system_identifier != (int64) GetSystemIdentifier())
	{
		if (remains.nfiles > 0)
			ereport(LOG,
					(errmsg("file %u in tablespace %u is registered as one of an unfinished move, and is kept: %s",
							tier_compat_locator_file_number(file), tier_compat_locator_tablespace(file),
							use == FILE_IN_USE ? "a relation uses it" : "the registration is that of another server")));
		(void) delete_row(table, &entry->tid);
	}
	else if (use == FILE_IN_DOUBT)
		report_use(file, use);
	else
	{
		entry->removed = remains.bytes > 0;
		drop_file(file);
	}
	table_close(table, NoLock);
}

static Entry *
read_entries(Relation table, int *n)
{
	Entry	   *entries = palloc(sizeof(Entry) * MAX_SWEPT);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	SysScanDesc scan = systable_beginscan(table, InvalidOid, false, snapshot, 0, NULL);
	HeapTuple	tuple;

	*n = 0;
	while (*n < MAX_SWEPT && HeapTupleIsValid(tuple = systable_getnext(scan)))
		read_entry(table, tuple, &entries[(*n)++]);
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	return entries;
}

int
tier_pending_sweep(void)
{
	Relation	table;
	Entry	   *entries;
	Oid			table_oid;
	int			n;
	int			removed = 0;

	if (RecoveryInProgress() || tier_catalog_extension_state() != TIER_EXTENSION_PRESENT)
		return 0;
	table_oid = find_table(get_extension_oid(TIER_EXTENSION_NAME, false));
	if (!OidIsValid(table_oid))
		return 0;
	table = open_table_if_free(table_oid);
	if (table == NULL)
		return 0;
	entries = read_entries(table, &n);
	table_close(table, NoLock);
	for (int i = 0; i < n; i++)
	{
		ErrorData  *error = tier_attempt(sweep_step, &entries[i]);

		if (error == NULL)
			removed += entries[i].removed;
		else if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		else
		{
			ereport(LOG,
					(errmsg("could not remove the file of an unfinished move: %s", error->message)));
			FreeErrorData(error);
		}
	}
	pfree(entries);
	if (removed > 0)
		ereport(LOG,
				(errmsg_plural("tiered_storage removes %d file of a move that did not end",
							   "tiered_storage removes %d files of moves that did not end",
							   removed, removed)));
	return removed;
}
