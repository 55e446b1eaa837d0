/*-------------------------------------------------------------------------
 *
 * server/file_size.c
 *		Sizes and modification times of files; see server/file_size.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/server/file_size.h"
#include "src/server/wal.h"

int64
tier_file_size(Oid tablespace_oid, Oid file_number, ForkNumber fork)
{
	char		path[MAXPGPATH];
	char		segment_path[MAXPGPATH + 16];
	int64		total = 0;

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
