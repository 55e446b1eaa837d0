/*-------------------------------------------------------------------------
 *
 * storage/database_files.c
 *		Bytes that the databases of the cluster use in a tablespace; see
 *		storage/database_files.h.
 *
 * The server keeps no such counter that another database could read, and a counter of the
 * extension would miss databases without it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <sys/stat.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_tablespace_d.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/rel.h"

#include "src/base/clock.h"
#include "src/storage/database_files.h"
#include "src/storage/store.h"

/* More than the tablespaces of a usual set of tiers; with more, some are looked up again. */
#define REMEMBERED_TABLESPACES 64

/* Decisions about moves tolerate values of this age; the move looks again. */
#define LATELY_US (10 * 1000000)

typedef struct Remembered
{
	Oid			tablespace_oid;
	double		bytes;
	int64		at_us;			/* by tier_clock_monotonic_us */
} Remembered;

/* Of this process; only the first nremembered mean anything. */
static Remembered remembered[REMEMBERED_TABLESPACES];
static int	nremembered = 0;

List *
tier_tablespaces(void)
{
	Relation	catalog = table_open(TableSpaceRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	List	   *oids = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			tablespace_oid = ((Form_pg_tablespace) GETSTRUCT(tuple))->oid;

		if (tablespace_oid != GLOBALTABLESPACE_OID)
			oids = lappend_oid(oids, tablespace_oid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(oids, list_oid_cmp);
	return oids;
}

/* The number that the name begins with; 0: with none. */
static Oid
leading_number(const char *name, const char **rest)
{
	char	   *end;
	unsigned long number;

	if (name[0] < '1' || name[0] > '9')
		return InvalidOid;
	errno = 0;
	number = strtoul(name, &end, 10);
	*rest = end;
	return errno != 0 || number > OID_MAX ? InvalidOid : (Oid) number;
}

/* Temporary tables are in files called t3_16384. */
static bool
is_counted(const char *name)
{
	const char *rest;
	Oid			file_number = leading_number(name, &rest);

	return file_number >= FirstNormalObjectId || name[0] == 't';
}

/* Files come and go while we look: one that is gone has no bytes. */
static double
directory_bytes(const char *path)
{
	DIR		   *dir = AllocateDir(path);
	struct dirent *entry;
	double		bytes = 0;

	if (dir == NULL)
		return 0;
	while ((entry = ReadDirExtended(dir, path, LOG)) != NULL)
	{
		char		file[MAXPGPATH * 2];
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		if (!is_counted(entry->d_name))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (lstat(file, &st) == 0 && S_ISREG(st.st_mode))
			bytes += st.st_size;
	}
	FreeDir(dir);
	return bytes;
}

/* But those of one database. */
static double
tablespace_bytes(Oid tablespace_oid, Oid but_database_oid)
{
	char		path[MAXPGPATH];
	double		bytes = 0;
	DIR		   *dir;
	struct dirent *entry;

	if (!tier_store_answers(tablespace_oid))
		return 0;
	if (tablespace_oid == DEFAULTTABLESPACE_OID)
		strlcpy(path, "base", sizeof(path));
	else
		snprintf(path, sizeof(path), "pg_tblspc/%u/%s", tablespace_oid,
				 TABLESPACE_VERSION_DIRECTORY);
	dir = AllocateDir(path);
	if (dir == NULL)
		return 0;
	while ((entry = ReadDirExtended(dir, path, LOG)) != NULL)
	{
		char		database_path[MAXPGPATH * 2];
		const char *rest;
		Oid			database_oid = leading_number(entry->d_name, &rest);

		if (!OidIsValid(database_oid) || *rest != '\0' || database_oid == but_database_oid)
			continue;
		snprintf(database_path, sizeof(database_path), "%s/%s", path, entry->d_name);
		bytes += directory_bytes(database_path);
	}
	FreeDir(dir);
	return bytes;
}

double
tier_database_files_of_all(Oid tablespace_oid)
{
	return tablespace_bytes(tablespace_oid, InvalidOid);
}

double
tier_database_files_of_others(Oid tablespace_oid)
{
	return tablespace_bytes(tablespace_oid, MyDatabaseId);
}

double
tier_database_files_of_own(Oid tablespace_oid)
{
	char	   *path = GetDatabasePath(MyDatabaseId, tablespace_oid);
	double		bytes = tier_store_answers(tablespace_oid) ? directory_bytes(path) : 0;

	pfree(path);
	return bytes;
}

double
tier_database_files_of_others_lately(Oid tablespace_oid)
{
	int64		now_us = tier_clock_monotonic_us();
	Remembered *slot = NULL;

	for (int i = 0; i < nremembered && slot == NULL; i++)
		if (remembered[i].tablespace_oid == tablespace_oid)
			slot = &remembered[i];
	if (slot != NULL && (now_us - slot->at_us < LATELY_US ||
						 !tier_store_answers(tablespace_oid)))
		return slot->bytes;
	if (slot == NULL)
		slot = &remembered[nremembered < REMEMBERED_TABLESPACES ? nremembered++ :
						   (int) (tablespace_oid % REMEMBERED_TABLESPACES)];
	slot->tablespace_oid = InvalidOid;	/* until it is known */
	slot->bytes = tier_database_files_of_others(tablespace_oid);
	slot->at_us = now_us;
	slot->tablespace_oid = tablespace_oid;
	return slot->bytes;
}
