/*-------------------------------------------------------------------------
 *
 * storage/file_size.c
 *		Sizes and modification times of files; see storage/file_size.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/server/relation.h"
#include "src/server/wal.h"
#include "src/storage/file_size.h"
#include "src/storage/store.h"

int64
tier_file_size(Oid tablespace_oid, Oid file_number, ForkNumber fork)
{
	char		path[MAXPGPATH];
	char		segment_path[MAXPGPATH + 16];
	int64		total = 0;

	if (!tier_store_answers(tablespace_oid))
		return 0;
	tier_compat_relation_path(path, sizeof(path), tablespace_oid, MyDatabaseId,
							  file_number, fork);
	for (int segment = 0;; segment++)
	{
		struct stat st;

		if (segment == 0)
			strlcpy(segment_path, path, sizeof(segment_path));
		else
			snprintf(segment_path, sizeof(segment_path), "%s.%d", path, segment);
		if (stat(segment_path, &st) != 0)
			break;
		total += st.st_size;

		tier_wal_keep_up();

		/* A segment that is not full is the last one. */
		if (st.st_size < (int64) RELSEG_SIZE * BLCKSZ)
			break;
		CHECK_FOR_INTERRUPTS();
	}
	return total;
}

TimestampTz
tier_file_modified_at(const struct stat *st)
{
	return time_t_to_timestamptz(st->st_mtim.tv_sec) + st->st_mtim.tv_nsec / 1000;
}

TimestampTz
tier_file_written_at(Oid tablespace_oid, Oid file_number)
{
	TimestampTz oldest = 0;

	if (!tier_store_answers(tablespace_oid))
		return 0;
	for (ForkNumber fork = MAIN_FORKNUM; fork <= VISIBILITYMAP_FORKNUM; fork++)
	{
		char		path[MAXPGPATH];
		struct stat st;

		tier_compat_relation_path(path, sizeof(path), tablespace_oid, MyDatabaseId,
								  file_number, fork);
		if (stat(path, &st) == 0 && (oldest == 0 || tier_file_modified_at(&st) < oldest))
			oldest = tier_file_modified_at(&st);
	}
	return oldest;
}

static int64
all_forks_bytes(const TierRelationInfo *info)
{
	int64		total = 0;

	if (OidIsValid(info->file_number))
		for (ForkNumber fork = MAIN_FORKNUM; fork <= MAX_FORKNUM; fork++)
			total += tier_file_size(info->tablespace_oid, info->file_number, fork);
	return total;
}

int64
tier_relation_disk_bytes(const TierRelationInfo *info)
{
	TierRelationInfo toast;
	int64		total = all_forks_bytes(info);

	if (OidIsValid(info->toast_oid) && tier_relation_lookup(info->toast_oid, &toast))
	{
		List	   *indexes = tier_relation_indexes(info->toast_oid);
		ListCell   *cell;

		total += all_forks_bytes(&toast);
		foreach(cell, indexes)
		{
			TierRelationInfo index;

			if (tier_relation_lookup(lfirst_oid(cell), &index))
				total += all_forks_bytes(&index);
		}
	}
	return total;
}
