/*-------------------------------------------------------------------------
 *
 * move/file_use.c
 *		Use of a file by relations, and its segments on disk.
 *
 * Reads pg_class and directories, and changes nothing.  Scans the table without a query, so
 * that planner hooks, rules, row security and search paths do not affect which files are
 * removed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/genam.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/move/file_use.h"
#include "src/storage/store.h"

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
		(tablespace_oid == MyDatabaseTableSpace &&
		 pg_class_has(pg_class, snapshot, InvalidOid, file));
}

/* Of a mapped catalog, whose file numbers are not in pg_class. */
static bool
is_mapped(RelFileLocator file)
{
	RelFileNumber file_number = tier_compat_locator_file_number(file);

	return OidIsValid(tier_compat_relation_map_filenumber_to_oid(file_number, false));
}

/*
 * An MVCC snapshot sees each row once, however it is updated meanwhile; one that sees
 * uncommitted rows finds those that may be about to use the file.
 */
TierFileUse
tier_file_use(RelFileLocator file)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	SnapshotData dirty;
	TierFileUse use = TIER_FILE_UNUSED;

	InitDirtySnapshot(dirty);
	if (pg_class_uses(pg_class, snapshot, file) || is_mapped(file))
		use = TIER_FILE_IN_USE;
	else if (pg_class_uses(pg_class, &dirty, file))
		use = TIER_FILE_IN_DOUBT;
	UnregisterSnapshot(snapshot);
	table_close(pg_class, AccessShareLock);
	return use;
}

/*
 * Returns true if it is a segment of the file with that number.  *is_first: it is the first
 * one of the main fork.
 */
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

void
tier_file_remains(RelFileLocator file, TierFileRemains *remains)
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
							  tier_compat_locator_database(file),
							  tier_compat_locator_file_number(file),
							  MAIN_FORKNUM);
	get_parent_directory(directory);
	if (!tier_store_answers(tier_compat_locator_tablespace(file)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not look for file %u of an unfinished move: "
						"its file system does not answer",
						tier_compat_locator_file_number(file))));
	dir = AllocateDir(directory);
	if (dir == NULL && errno == ENOENT)
	{
		get_parent_directory(directory);
		if (stat(directory, &status) == 0 ||
			get_tablespace_name(tier_compat_locator_tablespace(file)) == NULL)
			return;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not look for file %u of an unfinished move: "
						"directory \"%s\" is missing",
						tier_compat_locator_file_number(file), directory),
				 errhint("Check that its file system is mounted.")));
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
