/*-------------------------------------------------------------------------
 *
 * storage/calibrate.c
 *		Measuring the performance of a device on a scratch file.
 *
 * Each kind of access gets a share of the time, and is repeated until that is over or the
 * whole file was accessed.  Results are means, not medians, because the cost model charges
 * sums.  The file is small compared with the device, so seeks of a disk are shorter than in
 * operation, and the cache of the device may answer reads; both make the device look better
 * than it is, never worse.
 *
 * Requests that are under way at the same time need the kernel's own
 * asynchronous I/O, as a backend has no threads.  Where that is forbidden, or
 * the file system does not do it past the page cache, depth is not measured.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <time.h>
#endif

#include "common/file_utils.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "storage/fd.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "src/compat.h"
#include "src/model/cost.h"
#include "src/storage/calibrate.h"

#define CHUNK_BYTES (1024 * 1024)
#define ALIGNMENT 4096
#define LEAST_CHUNKS 4
#define LEAST_OPERATIONS 8
#define MAX_DEPTH 32
#define LONGEST_S 600.0
#define CHECKPOINT_BATCH 32
#define CHECKPOINT_GAP 64

/* The share of the time of each measurement. */
#define WRITE_SHARE 0.25
#define READ_SHARE 0.12
#define RANDOM_READ_SHARE 0.18
#define DEPTH_SHARE 0.20
#define RANDOM_WRITE_SHARE 0.05
#define CHECKPOINT_SHARE 0.07
#define SYNC_SHARE 0.15

typedef struct Scratch
{
	int			fd;
	const char *directory;		/* for messages */
	int64		blocks;			/* of 8 kB, complete */
	char	   *chunk;			/* CHUNK_BYTES, aligned */
	bool		through_cache;
	pg_prng_state prng;
	int64		written_bytes;
} Scratch;

double
tier_seconds_since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return INSTR_TIME_GET_DOUBLE(now);
}

static void
fail(const Scratch *scratch, const char *what)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s the scratch file in \"%s\": %m", what, scratch->directory)));
}

static void
transfer(Scratch *scratch, int fd, bool writes, char *data, size_t length, off_t offset)
{
	ssize_t		n;

	errno = 0;
	pgstat_report_wait_start(PG_WAIT_EXTENSION);
	n = writes ? pwrite(fd, data, length, offset) : pread(fd, data, length, offset);
	pgstat_report_wait_end();
	if (n != (ssize_t) length)
	{
		if (errno == 0)
			errno = writes ? ENOSPC : EIO;
		fail(scratch, writes ? "write" : "read");
	}
	scratch->written_bytes += writes ? length : 0;
}

static off_t
random_offset(Scratch *scratch)
{
	return (off_t) pg_prng_uint64_range(&scratch->prng, 0, scratch->blocks - 1) * BLCKSZ;
}

/* Nothing of the file is in memory afterwards.  fd goes through the page cache. */
static void
empty_cache(const Scratch *scratch, int fd, int advice)
{
	if (fsync(scratch->fd) != 0)
		fail(scratch, "synchronize");
	(void) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	(void) posix_fadvise(fd, 0, 0, advice);
}

/*---------------------------------------------------------------------
 * Contents of the file
 *---------------------------------------------------------------------
 */

/* Different each time, since a device may store equal blocks only once. */
static void
fill_randomly(Scratch *scratch)
{
	uint64	   *words = (uint64 *) scratch->chunk;

	for (size_t i = 0; i < CHUNK_BYTES / sizeof(uint64); i++)
		words[i] = pg_prng_uint64(&scratch->prng);
}

/*
 * Pages of a relation as they are, from its start again where it ends.  False
 * when there are none.
 */
static bool
fill_from_sample(Scratch *scratch, int sample_fd, off_t *position)
{
	size_t		filled = 0;
	bool		rewound = false;

	while (filled < CHUNK_BYTES)
	{
		ssize_t		n = pread(sample_fd, scratch->chunk + filled, CHUNK_BYTES - filled, *position);

		if (n > 0)
		{
			filled += n;
			*position += n;
			rewound = false;
			continue;
		}
		if (rewound || n < 0)
			return false;
		*position = 0;
		rewound = true;
	}
	return true;
}

/* ---------------------------------------------------------------------
 * Measurements
 * ---------------------------------------------------------------------
 */

static double
write_file(Scratch *scratch, double seconds, int64 max_bytes, const char *sample_path)
{
	instr_time	start;
	double		spent = 0;
	int64		chunks = 0;
	int			sample_fd = -1;
	off_t		position = 0;

	if (sample_path != NULL)
		sample_fd = OpenTransientFile(sample_path, O_RDONLY | PG_BINARY);
	while (chunks < LEAST_CHUNKS || (spent < seconds && (chunks + 1) * CHUNK_BYTES <= max_bytes))
	{
		CHECK_FOR_INTERRUPTS();

		/* Making the data is not the device's time. */
		if (sample_fd < 0 || !fill_from_sample(scratch, sample_fd, &position))
			fill_randomly(scratch);
		INSTR_TIME_SET_CURRENT(start);
		transfer(scratch, scratch->fd, true, scratch->chunk, CHUNK_BYTES,
				 (off_t) chunks * CHUNK_BYTES);
		chunks++;
		spent += tier_seconds_since(start);
	}
	if (sample_fd >= 0)
		CloseTransientFile(sample_fd);
	INSTR_TIME_SET_CURRENT(start);
	if (fsync(scratch->fd) != 0)
		fail(scratch, "synchronize");
	spent += tier_seconds_since(start);
	scratch->blocks = chunks * (CHUNK_BYTES / BLCKSZ);
	return chunks * (double) CHUNK_BYTES / 1e6 / Max(spent, 1e-9);
}

/*
 * As a sequential scan reads: block by block through the page cache, so that requests are
 * those of the kernel's read-ahead.  Its size is the difference between a volume that is
 * limited by requests and one that is limited by bytes.
 */
static double
read_file(Scratch *scratch, double seconds, int fd)
{
	instr_time	start;
	int64		n;

	empty_cache(scratch, fd, POSIX_FADV_NORMAL);
	INSTR_TIME_SET_CURRENT(start);
	for (n = 0; n < scratch->blocks; n++)
	{
		if (n % (CHUNK_BYTES / BLCKSZ) == 0)
		{
			if (n >= LEAST_CHUNKS * (CHUNK_BYTES / BLCKSZ) &&
				tier_seconds_since(start) >= seconds)
				break;
			CHECK_FOR_INTERRUPTS();
		}
		transfer(scratch, fd, false, scratch->chunk, BLCKSZ, n * BLCKSZ);
	}
	return n * (double) BLCKSZ / 1e6 / Max(tier_seconds_since(start), 1e-9);
}

/*
 * One at a time.  Through the page cache a block must not be met twice, so
 * the number of operations is bounded by that of blocks.
 */
static double
read_randomly(Scratch *scratch, double seconds)
{
	instr_time	start;
	int64		n;

	if (scratch->through_cache)
		empty_cache(scratch, scratch->fd, POSIX_FADV_RANDOM);
	INSTR_TIME_SET_CURRENT(start);
	for (n = 0; n < LEAST_OPERATIONS || tier_seconds_since(start) < seconds; n++)
	{
		CHECK_FOR_INTERRUPTS();
		if (scratch->through_cache && n >= Max(scratch->blocks / 8, LEAST_OPERATIONS))
			break;
		transfer(scratch, scratch->fd, false, scratch->chunk, BLCKSZ, random_offset(scratch));
	}
	return tier_seconds_since(start) * 1000.0 / n;
}

/*
 * Milliseconds of a write.  With a sync one after the other, as the WAL is written: a disk need
 * not go anywhere, and only waits for the place to come round.  Else each at random.
 */
static double
write_blocks(Scratch *scratch, double seconds, bool with_sync)
{
	int64		first = random_offset(scratch) / BLCKSZ;
	instr_time	start;
	int64		n;

	fill_randomly(scratch);
	INSTR_TIME_SET_CURRENT(start);
	for (n = 0; n < LEAST_OPERATIONS || tier_seconds_since(start) < seconds; n++)
	{
		CHECK_FOR_INTERRUPTS();
		transfer(scratch, scratch->fd, true,
				 scratch->chunk + (n % (CHUNK_BYTES / BLCKSZ)) * BLCKSZ, BLCKSZ,
				 with_sync ? (first + n) % scratch->blocks * BLCKSZ : random_offset(scratch));
		if (with_sync && fdatasync(scratch->fd) != 0)
			fail(scratch, "synchronize");
	}
	return tier_seconds_since(start) * 1000.0 / n;
}

/*
 * Milliseconds of the device for each page that a checkpoint writes alone: in the
 * order of the blocks, none beside another, through the page cache, and handed to the
 * device by as many as checkpoint_flush_after has by default.  Without the sync at
 * the end of a checkpoint, which is one for a whole file.  Less than 0: not measured.
 */
static double
write_as_checkpoint(Scratch *scratch, double seconds, int fd)
{
#ifdef HAVE_SYNC_FILE_RANGE
	instr_time	start;
	int64		block = 0;
	int64		n = 0;

	if (fd < 0 || fsync(fd) != 0)
		return -1;
	fill_randomly(scratch);
	INSTR_TIME_SET_CURRENT(start);
	while (n < LEAST_OPERATIONS || tier_seconds_since(start) < seconds)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < CHECKPOINT_BATCH; i++)
		{
			/*
			 * From 2 to CHECKPOINT_GAP blocks on, and at the end from the
			 * begin.
			 */
			block += (int64) pg_prng_uint64_range(&scratch->prng, 2, CHECKPOINT_GAP);
			if (block >= scratch->blocks)
				block = 0;
			transfer(scratch, fd, true, scratch->chunk + (n % (CHUNK_BYTES / BLCKSZ)) * BLCKSZ,
					 BLCKSZ, block * BLCKSZ);
			n++;
		}
		if (sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
							SYNC_FILE_RANGE_WAIT_AFTER) != 0)
			return -1;
	}
	return tier_seconds_since(start) * 1000.0 / n;
#else
	return -1;
#endif
}

#if defined(__linux__) && defined(SYS_io_setup)

/* Reads per second with `depth` of them under way; less than 0: impossible. */
static double
read_in_parallel(Scratch *scratch, double seconds, int depth)
{
	aio_context_t context = 0;
	struct iocb blocks[MAX_DEPTH];
	struct iocb *submit[MAX_DEPTH];
	struct io_event events[MAX_DEPTH];
	instr_time	start;
	volatile int64 done = 0;
	volatile int under_way = 0;
	volatile bool works = true;
	volatile double elapsed = 0;

	Assert(depth <= MAX_DEPTH && depth * BLCKSZ <= CHUNK_BYTES);
	if (syscall(SYS_io_setup, depth, &context) != 0)
		return -1;

	/* The kernel writes into our memory until this context is destroyed. */
	PG_TRY();
	{
		int			ready = depth;

		for (int i = 0; i < depth; i++)
		{
			memset(&blocks[i], 0, sizeof(struct iocb));
			blocks[i].aio_lio_opcode = IOCB_CMD_PREAD;
			blocks[i].aio_fildes = scratch->fd;
			blocks[i].aio_buf = (uintptr_t) (scratch->chunk + i * BLCKSZ);
			blocks[i].aio_nbytes = BLCKSZ;
			submit[i] = &blocks[i];
		}
		INSTR_TIME_SET_CURRENT(start);
		while (works && (elapsed < seconds || under_way > 0))
		{
			struct timespec timeout = {1, 0};
			long		n;

			CHECK_FOR_INTERRUPTS();
			if (elapsed < seconds && ready > 0)
			{
				for (int i = 0; i < ready; i++)
					submit[i]->aio_offset = random_offset(scratch);
				n = syscall(SYS_io_submit, context, (long) ready, submit);
				if (n != ready)
				{
					works = false;
					break;
				}
				under_way += ready;
			}
			ready = 0;
			n = syscall(SYS_io_getevents, context, 1L, (long) depth, events, &timeout);
			if (n < 0 && errno != EINTR)
			{
				works = false;
				break;
			}
			for (long i = 0; i < n; i++)
			{
				if (events[i].res != BLCKSZ)
					works = false;
				submit[ready++] = (struct iocb *) (uintptr_t) events[i].obj;
				under_way--;
				done++;
			}
			elapsed = tier_seconds_since(start);
		}
	}
	PG_FINALLY();
	{
		(void) syscall(SYS_io_destroy, context);	/* waits for requests in
													 * flight */
	}
	PG_END_TRY();
	return works && elapsed > 0 ? done / elapsed : -1;
}

#else

static double
read_in_parallel(Scratch *scratch, double seconds, int depth)
{
	return -1;
}

#endif

/* ---------------------------------------------------------------------
 * The file
 * ---------------------------------------------------------------------
 */

/*
 * Where temporary files are: left out of base backups, and emptied when the
 * server starts, should we die before the name is gone.
 */
static int
open_scratch(const char *directory, char *path, size_t path_size, bool *is_direct)
{
	int			fd = -1;
	int			flags = O_RDWR | O_CREAT | O_EXCL | PG_BINARY;

	if (MakePGDirectory(directory) != 0 && errno != EEXIST)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", directory)));
	snprintf(path, path_size, "%s/%s%d.calibration", directory, PG_TEMP_FILE_PREFIX, MyProcPid);
	if (unlink(path) != 0 && errno != ENOENT)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", path)));
#ifdef O_DIRECT
	if (*is_direct)
	{
		fd = OpenTransientFile(path, flags | O_DIRECT);
		if (fd < 0)
			(void) unlink(path);	/* some create it before they refuse */
	}
#endif
	if (fd < 0)
	{
		*is_direct = false;
		fd = OpenTransientFile(path, flags);
	}
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s\": %m", path)));
	return fd;
}

void
tier_calibrate_check_limits(double max_seconds, int64 max_bytes, int64 least_bytes)
{
	if (!(max_seconds > 0 && max_seconds <= LONGEST_S))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time for a calibration: %g s", max_seconds),
				 errhint("max_seconds must be above 0 and at most %g.", LONGEST_S)));
	if (max_bytes < least_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("file for a calibration is too small: " INT64_FORMAT " bytes", max_bytes),
				 errhint("max_bytes must be at least " INT64_FORMAT ".", least_bytes)));
}

TierCalibration *
tier_calibrate(Oid tablespace_oid, double max_seconds, int64 max_bytes,
			   bool through_cache, const char *sample_path)
{
	TierCalibration *result = palloc0(sizeof(TierCalibration));
	Scratch		scratch;
	char		directory[MAXPGPATH];
	char		path[MAXPGPATH + 64];
	int			cached_fd;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	memset(&scratch, 0, sizeof(scratch));
	pg_prng_seed(&scratch.prng, (uint64) MyProcPid << 32 ^ (uint64) GetCurrentTimestamp());
	TempTablespacePath(directory, tablespace_oid);
	scratch.directory = directory;
	scratch.chunk = (char *) TYPEALIGN(ALIGNMENT, (uintptr_t) palloc(CHUNK_BYTES + ALIGNMENT));

	result->is_direct = !through_cache;
	scratch.fd = open_scratch(directory, path, sizeof(path), &result->is_direct);
	scratch.through_cache = !result->is_direct;
	cached_fd = OpenTransientFile(path, O_RDWR | PG_BINARY);
	if (unlink(path) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", path)));

	result->sequential_write_mb_per_s = write_file(&scratch, max_seconds * WRITE_SHARE,
												   max_bytes, sample_path);
	result->sequential_read_mb_per_s = read_file(&scratch, max_seconds * READ_SHARE,
												 cached_fd >= 0 ? cached_fd : scratch.fd);
	result->random_read_ms = read_randomly(&scratch, max_seconds * RANDOM_READ_SHARE);
	result->read_iops_32 = result->is_direct ?
		read_in_parallel(&scratch, max_seconds * DEPTH_SHARE, MAX_DEPTH) : -1;

	/* Writes into the page cache say nothing of the device without a sync. */
	result->random_write_ms = result->is_direct ?
		write_blocks(&scratch, max_seconds * RANDOM_WRITE_SHARE, false) : -1;
	result->checkpoint_write_ms = write_as_checkpoint(&scratch, max_seconds * CHECKPOINT_SHARE,
													  cached_fd);
	result->fsync_ms = write_blocks(&scratch, max_seconds * SYNC_SHARE, true);
	if (cached_fd >= 0)
		CloseTransientFile(cached_fd);
	CloseTransientFile(scratch.fd);
	result->file_bytes = scratch.blocks * BLCKSZ;
	result->written_bytes = scratch.written_bytes;
	result->elapsed_s = tier_seconds_since(start);
	return result;
}
