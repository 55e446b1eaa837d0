/*-------------------------------------------------------------------------
 *
 * catalog/compression_ratio.c
 *		How well the file systems of a tier compress.
 *
 * File systems do not report the compressed size of a single file (btrfs never, zfs with a
 * delay), but they report their used space.  So each file is assigned a share of that, by its
 * length.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_tablespace_d.h"

#include "src/base/clock.h"
#include "src/catalog/tables.h"
#include "src/storage/database_files.h"

/* With more, some are asked again. */
#define REMEMBERED_FILE_SYSTEMS 16

/* Looking at all files takes a while; both figures are of the same moment. */
#define LATELY_US (10 * 1000000)

typedef struct FileSystemUse
{
	uint64		fs_id;			/* 0: nothing is remembered */
	double		file_bytes;		/* of all databases, as long as the files are */
	double		used_bytes;
	int64		at_us;			/* by tier_clock_monotonic_us */
} FileSystemUse;

/* Of this process. */
static FileSystemUse remembered[REMEMBERED_FILE_SYSTEMS];

/* All tablespaces that are known to be on it count, of whichever tier. */
static FileSystemUse
use_of(const TierSet *set, const TierDevice *device)
{
	FileSystemUse *slot = &remembered[device->fs_id % REMEMBERED_FILE_SYSTEMS];
	int64		now_us = tier_clock_monotonic_us();
	FileSystemUse use = {device->fs_id, 0, (double) device->used_bytes, now_us};

	if (slot->fs_id == device->fs_id && now_us - slot->at_us < LATELY_US)
		return *slot;
	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].device->fs_id == device->fs_id)
			use.file_bytes += tier_database_files_of_all(set->tablespaces[i].oid);
	*slot = use;
	return use;
}

/* Returns true if an earlier tablespace of the tier is on the same file system. */
static bool
is_repeated(const TierSet *set, int tier, int tablespace)
{
	for (int i = 0; i < tablespace; i++)
		if (set->tablespaces[i].tier == tier &&
			set->tablespaces[i].device->fs_id == set->tablespaces[tablespace].device->fs_id)
			return true;
	return false;
}

double
tier_set_compression_ratio(const TierSet *set, int tier)
{
	/* Where the data directory is, there are WAL and much else. */
	uint64		data_fs_id = tier_device_lookup(DEFAULTTABLESPACE_OID, "")->fs_id;
	double		file_bytes = 0;
	double		used_bytes = 0;
	bool		shared = false;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierDevice *device = set->tablespaces[i].device;
		FileSystemUse use;

		if (set->tablespaces[i].tier != tier || device->fs_id == 0 || device->used_bytes < 0 ||
			is_repeated(set, tier, i))
			continue;
		use = use_of(set, device);
		file_bytes += use.file_bytes;
		used_bytes += use.used_bytes;
		shared |= device->fs_id == data_fs_id;
	}
	return tier_cost_ratio_of_files(file_bytes, used_bytes, shared);
}
