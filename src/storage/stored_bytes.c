/*-------------------------------------------------------------------------
 *
 * storage/stored_bytes.c
 *		What the files of a relation take on a file system that compresses.
 *
 * See storage/stored_bytes.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "src/model/compression.h"
#include "src/storage/device.h"
#include "src/storage/stored_bytes.h"

/* Of a larger relation as many, spread over it. */
#define MOST_SEGMENTS 64

/* Asked for at once. */
#define EXTENTS_AT_ONCE 512

/* By which st_blocks counts. */
#define BLOCK_BYTES 512.0

/* What is not on the device as it is said to be. */
#define NOT_THERE (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE | \
				   FIEMAP_EXTENT_UNWRITTEN)

/* Less than half of it may be anything. */
#define LEAST_KNOWN 0.5

/* The extents of one segment; how many, and in *found those that count. */
static size_t
read_extents(int file, TierExtent **found)
{
	Size		bytes = sizeof(struct fiemap) + EXTENTS_AT_ONCE * sizeof(struct fiemap_extent);
	struct fiemap *map = palloc(bytes);
	size_t		n = 0;
	uint64		start = 0;
	bool		is_last = false;

	*found = palloc(sizeof(TierExtent) * EXTENTS_AT_ONCE);
	while (!is_last)
	{
		CHECK_FOR_INTERRUPTS();
		memset(map, 0, sizeof(struct fiemap));
		map->fm_start = start;
		map->fm_length = FIEMAP_MAX_OFFSET;
		map->fm_extent_count = EXTENTS_AT_ONCE;
		if (ioctl(file, FS_IOC_FIEMAP, map) != 0 || map->fm_mapped_extents == 0)
			break;
		*found = repalloc_huge(*found, sizeof(TierExtent) * (n + EXTENTS_AT_ONCE));
		for (uint32 i = 0; i < map->fm_mapped_extents; i++)
		{
			const struct fiemap_extent *extent = &map->fm_extents[i];

			start = extent->fe_logical + extent->fe_length;
			is_last |= (extent->fe_flags & FIEMAP_EXTENT_LAST) != 0;
			if ((extent->fe_flags & NOT_THERE) == 0)
				(*found)[n++] = (TierExtent)
			{
				extent->fe_physical, extent->fe_length,
					(extent->fe_flags & FIEMAP_EXTENT_ENCODED) != 0
			};
		}
	}
	pfree(map);
	return n;
}

/* Adds one segment; *length is that of its file, 0 if it is gone. */
static void
add_segment(const char *path, bool is_btrfs, TierStoredBytes *sum, double *length)
{
	int			file = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	struct stat st;

	*length = 0;
	if (file < 0)
		return;
	if (fstat(file, &st) == 0)
		*length = (double) st.st_size;
	if (is_btrfs)
	{
		TierExtent *extents;
		size_t		n = read_extents(file, &extents);
		double		bytes;
		double		stored;

		tier_extents_add_up(extents, n, &bytes, &stored);
		sum->bytes += bytes;
		sum->stored += stored;
		pfree(extents);
	}
	else if (*length > 0)
	{
		sum->bytes += *length;
		sum->stored += st.st_blocks * BLOCK_BYTES;
	}
	CloseTransientFile(file);
}

/* path: of MAXPGPATH bytes */
static void
name_segment(char *path, const char *first, int segment)
{
	if (segment == 0)
		strlcpy(path, first, MAXPGPATH);
	else
		snprintf(path, MAXPGPATH, "%s.%d", first, segment);
}

static const char *
why_unknown(const TierDevice *device)
{
	if (device->filesystem == NULL)
		return "the file system beneath it is not known";
	if (strcmp(device->filesystem, "btrfs") == 0 || strcmp(device->filesystem, "zfs") == 0)
		return NULL;
	return psprintf("%s does not tell what it compresses", device->filesystem);
}

TierStoredBytes
tier_stored_bytes(RelFileLocator file)
{
	const TierDevice *device = tier_device_lookup(tier_compat_locator_tablespace(file), "");
	TierStoredBytes sum = {0, 0, why_unknown(device)};
	char		first[MAXPGPATH];
	char		path[MAXPGPATH];
	struct stat st;
	double		length;
	double		all = 0;
	int			nsegments = 0;
	int			step;

	if (sum.why_not != NULL)
		return sum;
	tier_compat_relation_path(first, MAXPGPATH, tier_compat_locator_tablespace(file),
							  MyDatabaseId, tier_compat_locator_file_number(file), MAIN_FORKNUM);
	name_segment(path, first, 0);
	while (stat(path, &st) == 0)
	{
		CHECK_FOR_INTERRUPTS();
		name_segment(path, first, ++nsegments);
	}
	step = (nsegments + MOST_SEGMENTS - 1) / MOST_SEGMENTS;
	for (int i = 0; i < nsegments; i += step)
	{
		name_segment(path, first, i);
		add_segment(path, strcmp(device->filesystem, "btrfs") == 0, &sum, &length);
		all += length;
	}
	if (all <= 0)
		sum.why_not = "it is empty";
	else if (sum.stored <= 0 || sum.bytes < LEAST_KNOWN * all)
		sum.why_not = "too little of it was written side by side";
	return sum;
}
