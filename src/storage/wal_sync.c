/*-------------------------------------------------------------------------
 *
 * storage/wal_sync.c
 *		Measuring the write of a commit on the WAL's file system, by method.
 *
 * Works like pg_test_fsync, for the file system that pg_wal is on, also through a symbolic
 * link.  Methods take turns, so that other load affects all of them equally; the spread
 * between turns gives the error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "src/base/debug.h"
#include "src/base/sql.h"
#include "src/storage/calibrate.h"
#include "src/storage/device.h"

PG_FUNCTION_INFO_V1(tier_measure_wal_sync);

#define TURNS 5
#define LEAST_WRITES 2
#define LEAST_BYTES (4 * 1024 * 1024)

#define METHODS 4

/* Of one method; samples is 0 if the file system does not have it. */
typedef struct WalSync
{
	const char *method;			/* as wal_sync_method calls it */
	int64		samples;
	double		mean_ms;		/* a write of one WAL block that is durable */
	double		error_ms;		/* the standard error of mean_ms */
} WalSync;

typedef enum Method
{
	METHOD_FSYNC,
	METHOD_FDATASYNC,
	METHOD_OPEN_SYNC,
	METHOD_OPEN_DATASYNC,
} Method;

typedef struct Scratch
{
	int			fds[METHODS];	/* -1: not possible */
	char	   *block;			/* XLOG_BLCKSZ, aligned */
	int64		file_bytes;
	int64		offset;			/* of the next write */
	int64		written;
	int64		max_bytes;
} Scratch;

static void
fail(const char *what)
{
	if (errno == 0)
		errno = ENOSPC;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s the scratch file in \"%s\": %m", what, XLOGDIR)));
}

static void
write_block(Scratch *scratch, int fd, int64 offset)
{
	ssize_t		n;

	errno = 0;
	n = pwrite(fd, scratch->block, XLOG_BLCKSZ, offset);
	if (n != XLOG_BLCKSZ)
		fail("write");
	scratch->written += XLOG_BLCKSZ;
}

/* One file, open in each way that a method needs. */
static void
open_scratch(Scratch *scratch)
{
	char		path[MAXPGPATH];
	int			flags = O_RDWR | PG_BINARY;

	/* The server removes files with such a name when it starts. */
	snprintf(path, sizeof(path), XLOGDIR "/xlogtemp.%d.calibration", MyProcPid);
	if (unlink(path) != 0 && errno != ENOENT)
		fail("remove");
	scratch->fds[METHOD_FSYNC] = OpenTransientFile(path, flags | O_CREAT | O_EXCL);
	if (scratch->fds[METHOD_FSYNC] < 0)
		fail("create");
	scratch->fds[METHOD_FDATASYNC] = scratch->fds[METHOD_FSYNC];
	scratch->fds[METHOD_OPEN_SYNC] = scratch->fds[METHOD_OPEN_DATASYNC] = -1;
#ifdef O_SYNC
	scratch->fds[METHOD_OPEN_SYNC] = OpenTransientFile(path, flags | O_SYNC);
#endif
#ifdef O_DSYNC
	scratch->fds[METHOD_OPEN_DATASYNC] = OpenTransientFile(path, flags | O_DSYNC);
#endif
	if (unlink(path) != 0)
		fail("remove");
}

static void
close_scratch(Scratch *scratch)
{
	for (int i = METHOD_FDATASYNC; i < METHODS; i++)
		if (scratch->fds[i] >= 0)
			CloseTransientFile(scratch->fds[i]);
}

/* A segment is allocated before it is written to: no commit extends a file. */
static void
allocate(Scratch *scratch)
{
	for (int64 offset = 0; offset < scratch->file_bytes; offset += XLOG_BLCKSZ)
	{
		if (offset % (1024 * 1024) == 0)
			CHECK_FOR_INTERRUPTS();
		write_block(scratch, scratch->fds[METHOD_FSYNC], offset);
	}
	if (fsync(scratch->fds[METHOD_FSYNC]) != 0)
		fail("synchronize");
}

/* Mean milliseconds of one turn; *writes: how many there were. */
static double
take_turn(Scratch *scratch, Method method, double seconds, int64 *writes)
{
	int			fd = scratch->fds[method];
	instr_time	start;

	*writes = 0;
	INSTR_TIME_SET_CURRENT(start);
	while (*writes < LEAST_WRITES ||
		   (tier_seconds_since(start) < seconds && scratch->written < scratch->max_bytes))
	{
		int			rc = 0;

		CHECK_FOR_INTERRUPTS();
		pgstat_report_wait_start(PG_WAIT_EXTENSION);
		write_block(scratch, fd, scratch->offset);
		if (method == METHOD_FSYNC)
			rc = fsync(fd);
		else if (method == METHOD_FDATASYNC)
			rc = fdatasync(fd);
		pgstat_report_wait_end();
		if (rc != 0)
			fail("synchronize");
		scratch->offset = (scratch->offset + XLOG_BLCKSZ) % scratch->file_bytes;
		(*writes)++;
	}
	return tier_seconds_since(start) * 1000.0 / *writes;
}

/*
 * Measures all methods in turn, several times, with one block after the other of a file in
 * pg_wal that is allocated as a segment is.  The file is unlinked as soon as it is open, and
 * has a name until then that the server removes when it starts.  Writes at most max_bytes, of
 * which half are the file, in about max_seconds, but each method twice in each of its turns.
 * The caller has checked rights and space.  Checks for interrupts.  Errors: the file cannot be
 * created or written.
 */
static void
measure(double max_seconds, int64 max_bytes, WalSync results[METHODS])
{
	static const char *const names[] = {"fsync", "fdatasync", "open_sync", "open_datasync"};
	double		sums[METHODS] = {0};
	double		squares[METHODS] = {0};
	Scratch		scratch = {.max_bytes = max_bytes};

	scratch.block = (char *) TYPEALIGN(XLOG_BLCKSZ, (uintptr_t) palloc0(2 * XLOG_BLCKSZ));
	scratch.file_bytes = Min(wal_segment_size, max_bytes / 2);
	scratch.file_bytes -= scratch.file_bytes % XLOG_BLCKSZ;
	memset(results, 0, sizeof(WalSync) * METHODS);
	open_scratch(&scratch);
	allocate(&scratch);
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < METHODS; i++)
		{
			/*
			 * Each turn has its part of the bytes, or the last ones would
			 * have none.
			 */
			int64		writes;
			double		ms;
			int64		left = max_bytes - scratch.written;
			int			turns = (TURNS - turn) * METHODS - i;

			if (scratch.fds[i] < 0)
				continue;
			scratch.max_bytes = scratch.written + left / turns;
			ms = take_turn(&scratch, (Method) i,
						   max_seconds / (TURNS * METHODS), &writes);
			results[i].samples += writes;
			sums[i] += ms;
			squares[i] += ms * ms;
		}
	close_scratch(&scratch);
	for (int i = 0; i < METHODS; i++)
	{
		double		mean = sums[i] / TURNS;

		results[i].method = names[i];
		results[i].mean_ms = mean;
		results[i].error_ms = sqrt(Max(squares[i] / TURNS - mean * mean, 0) / (TURNS - 1));
	}
}

static void
check_place(void)
{
	const TierDevice *device;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot calibrate the WAL's device during recovery"),
				 errhint("Calibrate on the primary; a standby may have other devices.")));
	device = tier_device_of_directory(XLOGDIR, tier_debug_root());
	if (device->free_bytes >= 0 &&
		device->free_bytes - wal_segment_size < (int64) max_wal_size_mb * 1024 * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space in \"%s\" to calibrate it", XLOGDIR),
				 errdetail(INT64_FORMAT " bytes are free, and the WAL may grow to max_wal_size.",
						   device->free_bytes)));
}

/* measure_wal_sync(max_seconds, max_bytes): rows of method, ms, standard error, writes */
Datum
tier_measure_wal_sync(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	WalSync		results[METHODS];

	tier_result_start(fcinfo, &row);
	tier_calibrate_check_limits(PG_GETARG_FLOAT8(0), PG_GETARG_INT64(1), LEAST_BYTES);
	check_place();
	measure(PG_GETARG_FLOAT8(0), PG_GETARG_INT64(1), results);
	for (int i = 0; i < METHODS; i++)
	{
		if (results[i].samples == 0)
			continue;
		tier_row_clear(&row);
		tier_row_text(&row, 0, results[i].method);
		tier_row_datum(&row, 1, Float8GetDatum(results[i].mean_ms));
		tier_row_datum(&row, 2, Float8GetDatum(results[i].error_ms));
		tier_row_datum(&row, 3, Int64GetDatum(results[i].samples));
		tier_row_put(&row);
	}
	return (Datum) 0;
}
