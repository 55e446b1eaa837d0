/*-------------------------------------------------------------------------
 *
 * storage/calibrate.h
 *		Measuring the performance of a device on a scratch file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CALIBRATE_H
#define TIER_CALIBRATE_H

#include "postgres.h"

#include "portability/instr_time.h"

/*
 * The results of a calibration.  Random access is by blocks of 8 kB.  Less than 0: not
 * measured.
 */
typedef struct TierCalibration
{
	bool		is_direct;		/* past the page cache; if not,
								 * random_write_ms and the reads in parallel
								 * are not measured */
	double		sequential_write_mb_per_s;	/* 10^6 bytes, sync included */
	double		sequential_read_mb_per_s;	/* 10^6 bytes; as a sequential
											 * scan reads */
	double		random_read_ms; /* one at a time */
	double		read_iops_32;	/* so many at a time */
	double		random_write_ms;	/* one at a time, without sync */
	double		checkpoint_write_ms;	/* of the device, for each of many
										 * that a checkpoint writes alone */
	double		fsync_ms;		/* write and fdatasync of one block */
	int64		file_bytes;
	int64		written_bytes;
	double		elapsed_s;
} TierCalibration;

/*
 * Measures the file system of a tablespace, with at most max_bytes written in one go and about
 * max_seconds in all, on a scratch file that is unlinked as soon as it is open: its space is
 * freed when this backend closes it or ends, even after an error.  With `sample_path` the file
 * is filled with pages of that file (and its neighbours in content), since a device that
 * compresses is as fast as its data are compressible; else with random bytes.  `through_cache`
 * measures with the page cache emptied before each read, because a file system that compresses
 * does not do so past it.
 *
 * Takes no lock, and checks no limit and no right: the caller has.  Checks for
 * interrupts.  The result lives in the current memory context, as does a buffer
 * of 1 MB.  Errors: the file cannot be created, written or read, which includes a
 * full disk.
 */
extern TierCalibration *tier_calibrate(Oid tablespace_oid, double max_seconds, int64 max_bytes,
									   bool through_cache, const char *sample_path);

/* Raises an error where a calibration must not last for so long, or use so few bytes. */
extern void tier_calibrate_check_limits(double max_seconds, int64 max_bytes, int64 least_bytes);

extern double tier_seconds_since(instr_time start);

#endif							/* TIER_CALIBRATE_H */
