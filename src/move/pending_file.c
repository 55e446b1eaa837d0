/*-------------------------------------------------------------------------
 *
 * move/pending_file.c
 *		Registering, adopting and removing new files that no relation uses yet.
 *
 * A new file belongs to no relation yet, so nothing would remove it after a crash.  So it is
 * registered in _tiered_storage.move_file, and the registration is committed before the file
 * is created.  This module is the only code that removes files, and it must never remove one
 * that a relation uses.
 *
 * Liveness.  The mover holds locks from before the registration until it is done with the files:
 * one on the number of each, and one on the relation (that is what excludes a second mover).
 * They are locks of the session and of the user lock method, since those alone outlast a
 * rollback; and they end with the process, after its exit callback.  So a process that is granted
 * the lock on a file knows that its mover has exited or given it up, and that no process will
 * begin to use the file: only the one who created it does that.  Neither a PID nor a list of
 * processes says that; both can be older than the data that they are compared with.
 *
 * Use.  The row of a file is deleted by the transaction that makes the file a relation's, so
 * that no snapshot shows a file that is both registered and in use, or neither.  A sweep first
 * gets the lock, then takes a new snapshot, whatever isolation level the caller has, and with
 * it reads the row again and looks for the file in pg_class (move/pending_row.c,
 * move/file_use.c).
 *
 * Reuse of the number.  File numbers only increase, even across a crash, and one is chosen
 * only if there is no such file.  So a row without a file is deleted by the next sweep, long
 * before the counter has wrapped around.
 *
 * DROP EXTENSION would remove the rows.  The mover keeps it waiting by a lock on the guard
 * (tier_catalog_guard_oid), notices soon that another session waits, and removes its file
 * first.  A rollback releases that lock; it is taken again at the beginning of the next
 * transaction, and if that fails, the file is removed at once.  If the server crashes in just
 * that moment, or the extension is dropped while there are leftovers of an earlier crash, they
 * are found by orphaned_files() alone.
 *
 * ALTER DATABASE SET TABLESPACE takes a leftover along, if it is in the database's
 * default tablespace; so that one is stored as 0, as pg_class does.  Rows that
 * pg_upgrade has brought along are of another system: its files stay behind.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogutils.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/storage.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/catalog/tables.h"
#include "src/base/debug.h"
#include "src/move/file_use.h"
#include "src/move/pending_file.h"
#include "src/move/pending_row.h"
#include "src/server/processes.h"
#include "src/server/relation.h"

/* The files of one sweep; the next sweep removes the rest. */
#define MAX_SWEPT 1000

/* The number of attempts to find a free number; a conflict is very unlikely. */
#define MAX_NUMBERS 10

/* Third parts of the lock tags, which have pg_class as their class. */
#define LOCK_OF_FILE 1
#define LOCK_OF_RELATION 2

/*
 * The files that this process has registered and not yet released.  Local memory; other
 * processes see the locks.  A lock tag means something while its has_... is true, or its place
 * is below nfiles.  The first two are set by tier_pending_register() and unset by
 * tier_pending_release() alone, whatever is rolled back in between; has_guard also by every
 * rollback, after which tier_pending_hold_extension() sets it again.  The OIDs and the
 * locators are those of the last registration, and mean nothing before the first one.
 */
static struct
{
	bool		has_relation;	/* the lock `relation` is held */
	int			nfiles;			/* the first locks of `file` are held */
	bool		has_guard;		/* the lock `guard` is held */
	LOCKTAG		relation;
	LOCKTAG		file[TIER_RELATION_MAX_PARTS];
	LOCKTAG		guard;
	Oid			extension_oid;
	Oid			table_oid;		/* of move_file */
	RelFileLocator locator[TIER_RELATION_MAX_PARTS];
}			held;

/*
 * Files that are registered already, for relations that the same call moves next: one flush of
 * the WAL for them all.  Each has its lock, as those of `held`, unless the session has given up
 * all its advisory locks meanwhile.  Their rows may have gone with the extension.  Few, since the
 * table of locks is shared: three tables with their TOAST.
 */
#define MOST_SPARES 9

static struct
{
	int			relations;		/* that are expected to follow */
	int			n;
	LOCKTAG		tag[MOST_SPARES];
	RelFileLocator locator[MOST_SPARES];
}			spare;

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

/* A rollback releases all locks of the server's own lock method. */
static void
note_lost_guard(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT)
		held.has_guard = false;
}

bool
tier_pending_hold_extension(void)
{
	Oid			guard_oid;
	bool		exists;

	/* As long as we have the lock it cannot have been dropped. */
	if (held.has_guard)
		return true;
	guard_oid = tier_catalog_guard_oid(held.extension_oid);
	if (!OidIsValid(guard_oid))
		return false;
	SET_LOCKTAG_RELATION(held.guard, MyDatabaseId, guard_oid);
	if (LockAcquire(&held.guard, AccessShareLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	held.has_guard = true;
	AcceptInvalidationMessages();
	InvalidateCatalogSnapshot();
	exists = get_extension_oid(TIER_EXTENSION_NAME, true) == held.extension_oid &&
		tier_catalog_guard_oid(held.extension_oid) == guard_oid;

	/* The mover may wait for long now, and must not hold vacuum up. */
	InvalidateCatalogSnapshot();
	if (!exists)
		unlock(&held.has_guard, &held.guard, AccessShareLock);
	return exists;
}

bool
tier_pending_extension_is_wanted(void)
{
	return held.has_guard && tier_relation_someone_waits_for(&held.guard, &held.guard);
}

void
tier_pending_release(void)
{
	while (held.nfiles > 0)
		LockRelease(&held.file[--held.nfiles], ExclusiveLock, true);
	unlock(&held.has_relation, &held.relation, ExclusiveLock);
	unlock(&held.has_guard, &held.guard, AccessShareLock);
}

void
tier_pending_expect(int relations)
{
	spare.relations = relations;
}

void
tier_pending_release_spares(void)
{
	spare.relations = 0;
	while (spare.n > 0)
		if (tier_compat_lock_is_held(&spare.tag[--spare.n], ExclusiveLock))
			LockRelease(&spare.tag[spare.n], ExclusiveLock, true);
}

/* ---------------------------------------------------------------------
 * Dropping a file
 * ---------------------------------------------------------------------
 */

static void
report_use(RelFileLocator file, TierFileUse use)
{
	ereport(LOG,
			(errmsg("did not remove file %u in tablespace %u of an unfinished move: %s",
					tier_compat_locator_file_number(file), tier_compat_locator_tablespace(file),
					use == TIER_FILE_IN_USE ? "a relation uses it" :
					"an open transaction may be about to use it")));
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
	TierFileUse use = tier_file_use(file);

	if (use != TIER_FILE_UNUSED)
	{
		report_use(file, use);
		return false;
	}
	drop_file(file);
	return true;
}

bool
tier_pending_is_registered(RelFileLocator file)
{
	Oid			extension_oid = get_extension_oid(TIER_EXTENSION_NAME, true);
	Oid			table_oid = OidIsValid(extension_oid) ? tier_pending_table_oid(extension_oid) :
	InvalidOid;
	Relation	table = OidIsValid(table_oid) ? try_table_open(table_oid, AccessShareLock) : NULL;
	TierPendingRow row;
	bool		found;

	if (table == NULL)
		return false;
	found = tier_pending_row_find(table, file, &row);
	table_close(table, AccessShareLock);
	return found;
}

/* ---------------------------------------------------------------------
 * The mover
 * ---------------------------------------------------------------------
 */

/* The arguments and results of register_step. */
typedef struct Registration
{
	Oid			relation_oid;
	Oid			tablespace_oid;
	int			n;
	const Oid  *part_oids;
	bool		has_written;	/* out: it has to be flushed */
} Registration;

/* A free number that this session has locked, for the next of n files. */
static RelFileLocator
choose_file(Relation table, Oid tablespace_oid, LOCKTAG *tags, RelFileLocator *files, int *n)
{
	LOCKTAG    *tag = &tags[*n];

	for (int i = 0; i < MAX_NUMBERS; i++)
	{
		RelFileLocator file = tier_compat_locator(tablespace_oid, MyDatabaseId,
												  tier_compat_new_file_number(tablespace_oid));
		TierPendingRow row;

		set_file_tag(tag, file);
		if (!lock_for_session(tag))
			continue;
		files[(*n)++] = file;
		tier_debug_point("choosing");
		if (!tier_pending_row_find(table, file, &row))
			return file;
		(*n)--;
		LockRelease(tag, ExclusiveLock, true);
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not find a free file number in %d attempts", MAX_NUMBERS)));
	return files[0];			/* not reached */
}

/*
 * Makes a spare file of that tablespace the next one of the relation; false: there is none.  That
 * its row is found proves that its registration was committed, which has flushed it.
 */
static bool
take_spare(Relation table, Oid tablespace_oid)
{
	for (int i = spare.n - 1; i >= 0; i--)
	{
		LOCKTAG		tag = spare.tag[i];
		RelFileLocator file = spare.locator[i];
		TierPendingRow row;

		if (tier_compat_locator_tablespace(file) != tablespace_oid)
			continue;
		spare.n--;
		spare.tag[i] = spare.tag[spare.n];
		spare.locator[i] = spare.locator[spare.n];
		if (!tier_compat_lock_is_held(&tag, ExclusiveLock))
			continue;
		held.file[held.nfiles] = tag;
		held.locator[held.nfiles++] = file;
		if (tier_pending_row_find(table, file, &row) && row.pid == MyProcPid)
			return true;
		LockRelease(&held.file[--held.nfiles], ExclusiveLock, true);
	}
	return false;
}

/*
 * The files of the relation, and spare ones for those that are expected if none are left, so that
 * relations that go to tablespaces in turn do not register ever more.
 */
static void
register_files(Relation table, Registration *registration)
{
	Oid			tablespace_oid = registration->tablespace_oid;
	int			ahead;

	for (int i = 0; i < registration->n; i++)
		if (!take_spare(table, tablespace_oid))
		{
			tier_pending_row_insert(table, registration->part_oids[i],
									choose_file(table, tablespace_oid, held.file, held.locator,
												&held.nfiles));
			registration->has_written = true;
		}
	ahead = registration->has_written && spare.n == 0 ?
		Min(spare.relations, MOST_SPARES / registration->n) * registration->n : 0;
	for (int i = 0; i < ahead; i++)
		tier_pending_row_insert(table, InvalidOid,
								choose_file(table, tablespace_oid, spare.tag, spare.locator,
											&spare.n));
}

static void
register_step(void *argument)
{
	Registration *registration = argument;
	TierExtensionState state = tier_catalog_extension_state();
	Relation	table = NULL;

	/* The guard is locked first, and then the table, as DROP EXTENSION does. */
	if (state == TIER_EXTENSION_OTHER_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is not at the version of its library, %s",
						TIER_EXTENSION_NAME, TIER_VERSION),
				 errhint("Run ALTER EXTENSION %s UPDATE.", TIER_EXTENSION_NAME)));
	held.extension_oid = get_extension_oid(TIER_EXTENSION_NAME, true);
	held.table_oid = state == TIER_EXTENSION_PRESENT ?
		tier_pending_table_oid(held.extension_oid) : InvalidOid;
	if (OidIsValid(held.table_oid) && tier_pending_hold_extension())
		table = try_table_open(held.table_oid, RowExclusiveLock);
	if (table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("extension \"%s\" is being dropped", TIER_EXTENSION_NAME)));
	if (!tier_pending_table_is_intact(table))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table _tiered_storage.move_file was altered"),
				 errdetail("Files of unfinished moves could not be found again."),
				 errhint("Restore its columns and its only index, "
						 "or create the extension again.")));

	set_tag(&held.relation, registration->relation_oid, LOCK_OF_RELATION);
	held.has_relation = lock_for_session(&held.relation);
	if (!held.has_relation)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another process is moving it"),
				 errhint("SELECT * FROM tiered_storage.move_progress shows it.")));

	register_files(table, registration);
	table_close(table, NoLock);
}

void
tier_pending_register(Oid relation_oid, Oid tablespace_oid, int n, const Oid *part_oids,
					  RelFileLocator *files)
{
	static bool is_callback_registered = false;
	Registration registration = {relation_oid, tablespace_oid, n, part_oids, false};
	ErrorData  *error;

	if (!is_callback_registered)
	{
		RegisterXactCallback(note_lost_guard, NULL);
		is_callback_registered = true;
	}
	tier_pending_release();
	error = tier_attempt(register_step, &registration);
	if (error != NULL)
	{
		tier_pending_release();
		tier_pending_release_spares();
		ReThrowError(error);
	}

	/* No crash may lose it, whatever synchronous_commit says. */
	if (registration.has_written)
		ForceSyncCommit();
	memcpy(files, held.locator, sizeof(RelFileLocator) * n);
}

/* Returns true if this process has registered the file and holds its lock. */
static bool
has_file(RelFileLocator file)
{
	for (int i = 0; i < held.nfiles; i++)
		if (RelFileLocatorEquals(held.locator[i], file))
			return tier_compat_lock_is_held(&held.file[i], ExclusiveLock);
	return false;
}

TierPendingResult
tier_pending_adopt(RelFileLocator file)
{
	TierPendingResult result = TIER_PENDING_LOST;
	Relation	table;
	TierPendingRow row;

	if (!has_file(file))
		return TIER_PENDING_LOST;
	table = tier_pending_table_open_if_free(held.table_oid);
	if (table == NULL)
		return TIER_PENDING_BUSY;
	if (tier_pending_row_find(table, file, &row) && row.pid == MyProcPid)
		result = tier_pending_row_delete(table, &row.tid) ? TIER_PENDING_OK : TIER_PENDING_BUSY;
	table_close(table, NoLock);
	return result;
}

void
tier_pending_unregister(RelFileLocator file, bool is_ours)
{
	Relation	table = tier_pending_table_open_if_free(held.table_oid);
	TierFileRemains remains;
	TierPendingRow row;

	if (table == NULL)
		return;
	tier_file_remains(file, &remains);
	if (is_ours && (remains.bytes > 0 || !remains.only_first))
		ereport(LOG,
				(errmsg("%d files with number %u of an unfinished move could not be "
						"removed; this will be retried",
						remains.nfiles, tier_compat_locator_file_number(file))));
	else if (tier_pending_row_find(table, file, &row))
		(void) tier_pending_row_delete(table, &row.tid);
	table_close(table, NoLock);
}

void
tier_pending_unregister_spares(void)
{
	Relation	table = spare.n > 0 ? tier_pending_table_open_if_free(held.table_oid) : NULL;
	TierPendingRow row;

	for (int i = 0; table != NULL && i < spare.n; i++)
		if (tier_compat_lock_is_held(&spare.tag[i], ExclusiveLock) &&
			tier_pending_row_find(table, spare.locator[i], &row) && row.pid == MyProcPid)
			(void) tier_pending_row_delete(table, &row.tid);
	if (table != NULL)
		table_close(table, NoLock);
	tier_pending_release_spares();
}

/* ---------------------------------------------------------------------
 * The sweep
 * ---------------------------------------------------------------------
 */

/* The arguments and results of sweep_step. */
typedef struct Sweep
{
	TierPendingRow *row;
	bool		removes_blocks; /* out: and not an empty file, or none */
} Sweep;

/*
 * Looks at one file, with a look at everything that is newer than its lock.  The
 * order of the steps is the proof: see the top of this file.
 */
static void
sweep_step(void *argument)
{
	Sweep	   *sweep = argument;
	TierPendingRow *row = sweep->row;
	RelFileLocator file = row->file;
	Relation	table;
	TierFileRemains remains;
	LOCKTAG		tag;
	TierFileUse use;
	LockAcquireResult lock;

	/*
	 * 1. The lock, to the end of the transaction: its mover is gone.  When we
	 * have it already, the file is the one that this process is making.
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

	/* 2. The row as it is now: the file may have been unregistered. */
	table = table_open(row->table_oid, NoLock);
	if (!tier_pending_row_find_stored(table, row->stored_tablespace,
									  tier_compat_locator_file_number(file), row))
	{
		table_close(table, NoLock);
		return;
	}

	/* 3. The file as it is now, and who uses it. */
	tier_file_remains(file, &remains);
	use = tier_file_use(file);

	/* 4. It is dropped, or its row is deleted, or both are left for later. */
	if (remains.nfiles == 0 || use == TIER_FILE_IN_USE ||
		row->system_identifier != (int64) GetSystemIdentifier())
	{
		if (remains.nfiles > 0)
			ereport(LOG,
					(errmsg("removed the registration of file %u in tablespace %u, "
							"but not the file: %s",
							tier_compat_locator_file_number(file),
							tier_compat_locator_tablespace(file),
							use == TIER_FILE_IN_USE ? "a relation uses it" :
							"the registration is that of another server")));
		(void) tier_pending_row_delete(table, &row->tid);
	}
	else if (use == TIER_FILE_IN_DOUBT)
		report_use(file, use);
	else
	{
		sweep->removes_blocks = remains.bytes > 0;
		drop_file(file);
	}
	table_close(table, NoLock);
}

int
tier_pending_sweep(void)
{
	Relation	table;
	TierPendingRow *rows;
	Oid			table_oid;
	int			n;
	int			removed = 0;

	if (RecoveryInProgress() || tier_catalog_extension_state() != TIER_EXTENSION_PRESENT)
		return 0;
	table_oid = tier_pending_table_oid(get_extension_oid(TIER_EXTENSION_NAME, false));
	if (!OidIsValid(table_oid))
		return 0;
	table = tier_pending_table_open_if_free(table_oid);
	if (table == NULL)
		return 0;
	rows = tier_pending_row_read_all(table, MAX_SWEPT, &n);
	table_close(table, NoLock);

	/* Each one reads a directory, which may be large. */
	for (int i = 0; i < n && !tier_processes_database_is_wanted(); i++)
	{
		Sweep		sweep = {&rows[i], false};
		ErrorData  *error = tier_attempt(sweep_step, &sweep);

		if (error == NULL)
			removed += sweep.removes_blocks;
		else if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		else
		{
			ereport(LOG,
					(errmsg("could not remove the file of an unfinished move: %s",
							error->message),
					 error->detail == NULL ? 0 : errdetail_internal("%s", error->detail)));
			FreeErrorData(error);
		}
	}
	pfree(rows);
	if (removed > 0)
		ereport(LOG,
				(errmsg_plural("removing %d file of an unfinished move",
							   "removing %d files of unfinished moves",
							   removed, removed)));
	return removed;
}
