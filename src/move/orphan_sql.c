/*-------------------------------------------------------------------------
 *
 * move/orphan_sql.c
 *		SQL function: files of this database that no relation uses.
 *
 * It only reports, and removes nothing.  A crash of the server leaves such files behind if a
 * transaction had created a relation.  Files of a move are found only here if DROP EXTENSION
 * has removed their registration (move/pending_file.c).
 *
 * First the directories are listed, then pg_class is searched with snapshots that are newer,
 * so that relations that were created and committed meanwhile are seen.  A relation of an open
 * transaction is not visible in pg_class, but its file was written after the transaction
 * began.  The file of a relation that was dropped in between is missing or empty when it is
 * looked at again.
 *
 * A file with the number of a relation in another tablespace is not reported either: it may be
 * the only file of that relation, if pg_class has the wrong tablespace (pg_upgrade --swap of a
 * table that is split between tablespaces).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/twophase.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/timestamp.h"

#include "src/base/refuse.h"
#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/move/file_use.h"
#include "src/move/pending_file.h"
#include "src/storage/database_files.h"
#include "src/storage/store.h"
#include "src/server/processes.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_orphaned_files);

/* Clocks of file systems are coarse. */
#define SLACK_S 2

/* All files of one number. */
typedef struct Found
{
	Oid			tablespace_oid;
	RelFileNumber file_number;
	int64		bytes;
	time_t		written_at;		/* the last of them */
} Found;

typedef struct FoundList
{
	Found	   *items;
	int			n;
	int			capacity;
} FoundList;

static int
compare_found(const void *a, const void *b)
{
	const Found *left = a;
	const Found *right = b;

	if (left->tablespace_oid != right->tablespace_oid)
		return left->tablespace_oid < right->tablespace_oid ? -1 : 1;
	if (left->file_number != right->file_number)
		return left->file_number < right->file_number ? -1 : 1;
	return 0;
}

static Found *
add_found(FoundList *list)
{
	if (list->n == list->capacity)
	{
		list->capacity = Max(1024, list->capacity * 2);
		list->items = list->items == NULL ?
			palloc_extended(sizeof(Found) * list->capacity, MCXT_ALLOC_HUGE) :
			repalloc_huge(list->items, sizeof(Found) * list->capacity);
	}
	return memset(&list->items[list->n++], 0, sizeof(Found));
}

/* "12345", "12345_vm", "12345.1"; not those of temporary relations, nor others. */
static bool
parse_number(const char *name, RelFileNumber *number)
{
	char	   *end;
	unsigned long value;

	if (*name < '1' || *name > '9')
		return false;
	errno = 0;
	value = strtoul(name, &end, 10);
	if (errno != 0 || value > PG_UINT32_MAX || (*end != '\0' && *end != '.' && *end != '_'))
		return false;
	*number = (RelFileNumber) value;
	return true;
}

static void
list_tablespace(FoundList *list, Oid tablespace_oid)
{
	char		directory[MAXPGPATH];
	struct dirent *item;
	DIR		   *dir;

	if (!tier_store_answers(tablespace_oid))
		return;
	tier_compat_relation_path(directory, sizeof(directory), tablespace_oid, MyDatabaseId, 1,
							  MAIN_FORKNUM);
	get_parent_directory(directory);
	dir = AllocateDir(directory);
	if (dir == NULL && errno == ENOENT)
		return;
	while ((item = ReadDir(dir, directory)) != NULL)
	{
		char		path[MAXPGPATH * 2];
		struct stat status;
		RelFileNumber number;
		Found	   *found;

		CHECK_FOR_INTERRUPTS();
		snprintf(path, sizeof(path), "%s/%s", directory, item->d_name);
		if (!parse_number(item->d_name, &number) || stat(path, &status) != 0)
			continue;
		found = add_found(list);
		found->tablespace_oid = tablespace_oid;
		found->file_number = number;
		found->bytes = status.st_size;
		found->written_at = status.st_mtime;
	}
	FreeDir(dir);
}

static FoundList
list_files(List *tablespaces)
{
	FoundList	files = {0};
	ListCell   *cell;
	int			kept = 0;

	foreach(cell, tablespaces)
		list_tablespace(&files, lfirst_oid(cell));
	if (files.n == 0)
		return files;

	/* One for each number. */
	qsort(files.items, files.n, sizeof(Found), compare_found);
	for (int i = 1; i < files.n; i++)
	{
		if (compare_found(&files.items[i], &files.items[kept]) != 0)
		{
			files.items[++kept] = files.items[i];
			continue;
		}
		files.items[kept].bytes += files.items[i].bytes;
		files.items[kept].written_at = Max(files.items[kept].written_at,
										   files.items[i].written_at);
	}
	files.n = kept + 1;
	return files;
}

/* Returns true if a relation has a file of this number, in any tablespace. */
static bool
is_used(const Found *file, List *tablespaces)
{
	ListCell   *cell;

	if (tier_file_use(tier_compat_locator(file->tablespace_oid, MyDatabaseId,
										  file->file_number)) != TIER_FILE_UNUSED)
		return true;
	foreach(cell, tablespaces)
		if (tier_file_use(tier_compat_locator(lfirst_oid(cell), MyDatabaseId,
											  file->file_number)) != TIER_FILE_UNUSED)
		return true;
	return false;
}

/* A file that was written since then may belong to an open transaction. */
static TimestampTz
oldest_transaction(void)
{
	TimestampTz oldest = GetCurrentTimestamp();

	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;

		if (tier_processes_read(i, &status) && status.st_xact_start_timestamp != 0)
			oldest = Min(oldest, status.st_xact_start_timestamp);
	}
	return oldest;
}

static bool
has_prepared_transactions(void)
{
	TierCatalogScope scope;
	bool		found;

	if (max_prepared_xacts == 0)
		return false;
	tier_catalog_enter(&scope);
	found = tier_catalog_any_prepared();
	tier_catalog_leave(&scope);
	return found;
}

static Datum
orphaned_files(PG_FUNCTION_ARGS)
{
	TimestampTz oldest = oldest_transaction();
	List	   *tablespaces = tier_tablespaces();
	FoundList	files;
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	if (has_prepared_transactions())
	{
		ereport(NOTICE,
				(errmsg("files cannot be distinguished from those of prepared transactions"),
				 errhint("Try again when SELECT * FROM pg_prepared_xacts shows none.")));
		return (Datum) 0;
	}
	files = list_files(tablespaces);
	for (int i = 0; i < files.n; i++)
	{
		const Found *file = &files.items[i];
		RelFileLocator locator = tier_compat_locator(file->tablespace_oid, MyDatabaseId,
													 file->file_number);
		TierFileRemains remains;
		char		path[MAXPGPATH];

		CHECK_FOR_INTERRUPTS();
		if (file->bytes == 0 || time_t_to_timestamptz(file->written_at + SLACK_S) >= oldest ||
			is_used(file, tablespaces))
			continue;
		tier_file_remains(locator, &remains);
		if (remains.bytes == 0)
			continue;
		tier_compat_relation_path(path, sizeof(path), file->tablespace_oid, MyDatabaseId,
								  file->file_number, MAIN_FORKNUM);
		tier_row_clear(&row);
		tier_row_name(&row, 0, get_tablespace_name(file->tablespace_oid));
		tier_row_datum(&row, 1, ObjectIdGetDatum(file->file_number));
		tier_row_text(&row, 2, path);
		tier_row_datum(&row, 3, Int64GetDatum(file->bytes));
		tier_row_time(&row, 4, time_t_to_timestamptz(file->written_at));
		tier_row_datum(&row, 5, BoolGetDatum(tier_pending_is_registered(locator)));
		tier_row_put(&row);
	}
	return (Datum) 0;
}

Datum
tier_orphaned_files(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(orphaned_files, fcinfo);
}
