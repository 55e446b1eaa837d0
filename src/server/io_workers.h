/*-------------------------------------------------------------------------
 *
 * server/io_workers.h
 *		Bytes that the server's I/O workers have read from devices.
 *
 * From 18 on, with io_method = worker, they read ahead for other processes, and the kernel
 * counts these reads for the workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_IO_WORKERS_H
#define TIER_IO_WORKERS_H

#include "postgres.h"

#include "datatype/timestamp.h"

#define TIER_MAX_IO_WORKERS 32

typedef struct TierIoWorker
{
	int			pid;
	TimestampTz started_at;		/* tells it from an earlier one of that pid */
	int64		read_bytes;		/* from devices, including read-ahead */
} TierIoWorker;

/* As of a moment; all zero: nothing is known. */
typedef struct TierIoWorkers
{
	TimestampTz at;				/* 0: nothing is known */
	int			n;
	TierIoWorker workers[TIER_MAX_IO_WORKERS];
} TierIoWorkers;

/*
 * Reads the counters of the workers that run now.  Nothing is known if there are no I/O
 * workers, or if the kernel does not provide counters.  Takes no lock and allocates no memory.
 */
extern void tier_io_workers_read(TierIoWorkers *workers);

/*
 * Bytes read between two moments.  An underestimate if a worker has ended meanwhile; 0 if
 * nothing is known of one of the moments.  Pure arithmetic: may be called with a lock held.
 */
extern int64 tier_io_workers_bytes_between(const TierIoWorkers *before,
										   const TierIoWorkers *after);

#endif							/* TIER_IO_WORKERS_H */
