/*-------------------------------------------------------------------------
 *
 * storage/wal_sync.h
 *		How long a commit's write takes on the WAL's file system, by method.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WAL_SYNC_H
#define TIER_WAL_SYNC_H

#include "postgres.h"

#define TIER_WAL_SYNC_METHODS 4

/* Of one method; samples is 0 if the file system does not have it. */
typedef struct TierWalSync
{
	const char *method;			/* as wal_sync_method calls it */
	int64		samples;
	double		mean_ms;		/* a write of one WAL block that is durable */
	double		error_ms;		/* the standard error of mean_ms */
} TierWalSync;

/*
 * Measures all methods in turn, several times, with one block after the other of a file
 * in pg_wal that is allocated as a segment is.  The file has no name any more as soon as
 * it is open, and until then one that the server removes when it starts.  Writes at most
 * max_bytes, of which half are the file, in about max_seconds, but each method twice in
 * each of its turns.  Returns the bytes written.  The caller has checked rights and space.
 * Checks for interrupts.  Errors: the file cannot be created or written.
 */
extern int64 tier_wal_sync_measure(double max_seconds, int64 max_bytes,
								   TierWalSync results[TIER_WAL_SYNC_METHODS]);

#endif							/* TIER_WAL_SYNC_H */
