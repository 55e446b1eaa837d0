/*-------------------------------------------------------------------------
 *
 * storage/page_cache.c
 *		The part of a relation's file that is in the page cache of the system.
 *
 * cachestat(2) counts the resident pages of a range of an open file; it came
 * with Linux 6.5, later than the headers of many systems that it runs on, so
 * its number and structures are our own.  Where it is missing or forbidden,
 * mincore(2) on a mapping that is never touched says the same page by page.
 * Both require the right to write to the file, or its ownership, which the server
 * has; mincore without it would call every page resident.
 *
 * A file that is removed while we look keeps its space until it is closed, so
 * each is open only for the look itself.
 *
 * The walk through resident pages costs some 10 ns for each, which adds up in
 * a terabyte: ranges beyond WHOLE_BYTES are sampled.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/storage/device.h"
#include "src/storage/page_cache.h"
#include "src/storage/store.h"
#include "src/server/wal.h"

/* Up to here all of a range is looked at, by either way. */
#define CACHESTAT_WHOLE_BYTES	(INT64CONST(4) * 1024 * 1024 * 1024)
#define MINCORE_WHOLE_BYTES		(INT64CONST(128) * 1024 * 1024)

/* Pieces of larger ranges and their size; one piece in each equal part of the range. */
#define LOOK_PIECES				256
#define PIECE_BYTES				(512 * 1024)

#define NOT_KNOWN				(-1)
#define NO_FILE					(-2)

#define SEGMENT_BYTES			((int64) RELSEG_SIZE * BLCKSZ)

typedef enum Method
{
	METHOD_UNPROBED,
	METHOD_NONE,
	METHOD_MINCORE,
	METHOD_CACHESTAT,
} Method;

#ifdef __linux__

#ifndef __NR_cachestat
#define __NR_cachestat 451		/* the same on all architectures */
#endif

/* In the kernel's include/uapi/linux/magic.h; ext2 and ext3 are the same as ext4. */
#define EXT4_MAGIC 0xEF53
#define XFS_MAGIC 0x58465342

#ifndef OVERLAYFS_SUPER_MAGIC
#define OVERLAYFS_SUPER_MAGIC 0x794c7630
#endif

/* As in the kernel's include/uapi/linux/mman.h. */
typedef struct CachestatRange
{
	uint64		offset;
	uint64		length;			/* 0: to the end of the file */
} CachestatRange;

typedef struct Cachestat
{
	uint64		cached_pages;
	uint64		dirty_pages;
	uint64		writeback_pages;
	uint64		evicted_pages;
	uint64		recently_evicted_pages;
} Cachestat;

/* Pages of one call of mincore: a page of results. */
#define MINCORE_PAGES			4096

/*
 * The method that works here, once known.  A kernel may have the call and a container's
 * seccomp filter forbid it; that does not change during the life of the process.
 */
static Method probed_method = METHOD_UNPROBED;

static Method
probe_method(void)
{
	CachestatRange range = {0, 1};
	Cachestat	answer;

	/* With an invalid descriptor: EBADF if the call exists. */
	if (syscall(__NR_cachestat, -1, &range, &answer, 0) < 0 && errno == EBADF)
		return METHOD_CACHESTAT;
	return METHOD_MINCORE;
}

static Method
current_method(void)
{
	if (tier_debug_skips("pagecache"))
		return METHOD_NONE;
	if (tier_debug_skips("cachestat"))
		return METHOD_MINCORE;
	if (probed_method == METHOD_UNPROBED)
		probed_method = probe_method();
	return probed_method;
}

/* Resident bytes of a range of an open file, or NOT_KNOWN. */
static int64
cachestat_bytes(int fd, int64 offset, int64 length, int64 page_bytes)
{
	CachestatRange range = {(uint64) offset, (uint64) length};
	Cachestat	answer;

	if (syscall(__NR_cachestat, fd, &range, &answer, 0) != 0)
		return NOT_KNOWN;
	return (int64) answer.cached_pages * page_bytes;
}

static int64
mincore_bytes(int fd, int64 offset, int64 length, int64 page_bytes)
{
	unsigned char resident[MINCORE_PAGES];
	int64		begin = offset - offset % page_bytes;
	int64		end = offset + length;
	int64		pages = 0;

	while (begin < end)
	{
		size_t		bytes = (size_t) Min(end - begin, MINCORE_PAGES * page_bytes);
		void	   *map = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, (off_t) begin);
		int			n = (int) ((bytes + page_bytes - 1) / page_bytes);
		int			rc;

		if (map == MAP_FAILED)
			return NOT_KNOWN;
		rc = mincore(map, bytes, resident);
		(void) munmap(map, bytes);
		if (rc != 0)
			return NOT_KNOWN;
		for (int i = 0; i < n; i++)
			pages += resident[i] & 1;
		begin += bytes;
	}
	return pages * page_bytes;
}

/*
 * Resident bytes of a part of one segment, or NOT_KNOWN, or NO_FILE.
 *
 * On overlayfs the pages belong to the file below, which cachestat does not
 * see, and a mapping does.
 */
static int64
segment_bytes(const char *path, int64 offset, int64 length)
{
	int64		page_bytes = sysconf(_SC_PAGESIZE);
	int64		cached = NOT_KNOWN;
	int			fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? NO_FILE : NOT_KNOWN;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid())
	{
		struct statfs fs;
		Method		method = current_method();

		length = Min(length, st.st_size - offset);
		if (length <= 0)
			cached = 0;
		else
		{
			if (method == METHOD_CACHESTAT &&
				!(fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC))
				cached = cachestat_bytes(fd, offset, length, page_bytes);
			if (cached < 0 && method != METHOD_NONE)
				cached = mincore_bytes(fd, offset, length, page_bytes);

			/* Pages at both ends may belong to the range in part. */
			cached = Min(cached, length);
		}
	}
	CloseTransientFile(fd);
	return cached;
}

#else

static Method
current_method(void)
{
	return METHOD_NONE;
}

static int64
segment_bytes(const char *path, int64 offset, int64 length)
{
	return NOT_KNOWN;
}

#endif

bool
tier_pagecache_counts_readers(Oid tablespace_oid)
{
#ifdef __linux__
	char		path[TABLESPACE_PATH_BYTES];
	struct statfs fs;

	tier_device_tablespace_path(path, sizeof(path), tablespace_oid);
	return !tier_store_has_stalled(tablespace_oid) && statfs(path, &fs) == 0 &&
		(fs.f_type == EXT4_MAGIC || fs.f_type == XFS_MAGIC);
#else
	return false;
#endif
}

const char *
tier_pagecache_method(void)
{
	switch (current_method())
	{
		case METHOD_CACHESTAT:
			return "cachestat";
		case METHOD_MINCORE:
			return "mincore";
		case METHOD_UNPROBED:
		case METHOD_NONE:
			break;
	}
	return NULL;
}

/* Adds up the resident bytes of a range of the whole file, over its segments. */
static bool
range_bytes(const char *path, int64 offset, int64 length, TierPagecacheLook *look, int64 *cached)
{
	*cached = 0;
	while (length > 0)
	{
		int64		segment = offset / SEGMENT_BYTES;
		int64		start = offset % SEGMENT_BYTES;
		int64		part = Min(length, SEGMENT_BYTES - start);
		char		segment_path[MAXPGPATH + 16];
		int64		bytes;

		CHECK_FOR_INTERRUPTS();
		tier_wal_keep_up();
		if (segment == 0)
			strlcpy(segment_path, path, sizeof(segment_path));
		else
			snprintf(segment_path, sizeof(segment_path), "%s." INT64_FORMAT, path, segment);
		look->files++;
		bytes = segment_bytes(segment_path, start, part);
		if (bytes == NO_FILE && segment > 0)
			break;				/* it has been truncated */
		if (bytes < 0)
			return false;
		*cached += bytes;
		offset += part;
		length -= part;
	}
	return true;
}

/*
 * One piece out of each of LOOK_PIECES equal strata, at the same distance from
 * its start.
 */
static bool
sample_bytes(const char *path, int64 offset, int64 length, TierPagecacheLook *look)
{
	int64		stratum = length / LOOK_PIECES;
	int64		piece = Min(PIECE_BYTES, TYPEALIGN_DOWN(BLCKSZ, stratum / 2));
	int64		shift = (int64) (pg_prng_double(&pg_global_prng_state) * (stratum - piece));
	double		sum = 0.0;

	shift -= shift % BLCKSZ;
	for (int i = 0; i < LOOK_PIECES; i++)
	{
		int64		begin = offset + (int64) i * stratum;
		int64		cached;

		begin += shift - begin % BLCKSZ;
		if (!range_bytes(path, begin, piece, look, &cached))
			return false;
		sum += (double) cached / piece;
	}
	look->cached_bytes = (int64) (sum / LOOK_PIECES * length);
	return true;
}

bool
tier_pagecache_look(RelFileLocator file, BlockNumber first_block, BlockNumber nblocks,
					TierPagecacheLook *look)
{
	int64		offset = (int64) first_block * BLCKSZ;
	int64		length = (int64) nblocks * BLCKSZ;
	int64		whole_bytes;
	char		path[MAXPGPATH];

	memset(look, 0, sizeof(*look));
	switch (current_method())
	{
		case METHOD_CACHESTAT:
			whole_bytes = CACHESTAT_WHOLE_BYTES;
			break;
		case METHOD_MINCORE:
			whole_bytes = MINCORE_WHOLE_BYTES;
			break;
		default:
			return false;
	}
	if (tier_debug_skips("look_at_all"))
		whole_bytes = LOOK_PIECES * 4 * BLCKSZ;

	if (!tier_store_answers(tier_compat_locator_tablespace(file)))
		return false;
	tier_compat_relation_path(path, sizeof(path), tier_compat_locator_tablespace(file),
							  tier_compat_locator_database(file),
							  tier_compat_locator_file_number(file), MAIN_FORKNUM);
	if (length > whole_bytes)
		return sample_bytes(path, offset, length, look);
	return range_bytes(path, offset, length, look, &look->cached_bytes);
}
