/*-------------------------------------------------------------------------
 *
 * move/file_use.h
 *		Use of a file by relations, and its segments on disk.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FILE_USE_H
#define TIER_FILE_USE_H

#include "postgres.h"

#include "src/compat.h"

/* Use of a file. */
typedef enum TierFileUse
{
	TIER_FILE_UNUSED,
	TIER_FILE_IN_DOUBT,			/* an open transaction may be about to use it */
	TIER_FILE_IN_USE,
} TierFileUse;

/*
 * As of now, not as of the caller's snapshot.  The result is stable only while no other
 * process can begin to use the file: the caller has it locked, or created it
 * (move/pending_file.c).
 */
extern TierFileUse tier_file_use(RelFileLocator file);

/* The segments of a file on disk. */
typedef struct TierFileRemains
{
	int			nfiles;			/* segments of all forks */
	int64		bytes;
	bool		only_first;		/* nothing but the first segment of the main
								 * fork */
} TierFileRemains;

/*
 * Lists the directory, because a segment in the middle may be missing.  If the directory of
 * the database does not exist, there are no segments, provided that the directory of the
 * tablespace exists or the tablespace does not: otherwise its disk may be detached and come
 * back.  Raises errors.
 */
extern void tier_file_remains(RelFileLocator file, TierFileRemains *remains);

#endif							/* TIER_FILE_USE_H */
