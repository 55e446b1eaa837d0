/*-------------------------------------------------------------------------
 *
 * move/file_use.h
 *		Who uses a file, and what of it is on disk.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FILE_USE_H
#define TIER_FILE_USE_H

#include "postgres.h"

#include "src/compat.h"

/* Who uses a file. */
typedef enum TierFileUse
{
	TIER_FILE_UNUSED,
	TIER_FILE_IN_DOUBT,			/* an open transaction may be about to use it */
	TIER_FILE_IN_USE,
} TierFileUse;

/*
 * As of now, not as of the caller's snapshot.  The answer lasts only as long as
 * nobody else can begin to use the file: the caller has it locked, or created it
 * (move/pending_file.c).
 */
extern TierFileUse tier_file_use(RelFileLocator file);

/* What there is on disk of a file. */
typedef struct TierFileRemains
{
	int			nfiles;			/* segments of all forks */
	int64		bytes;
	bool		only_first;		/* nothing but the first segment of the main
								 * fork */
} TierFileRemains;

/*
 * By listing the directory, since a segment in the middle may be gone.  Without the
 * directory of the database there is nothing, but only if the tablespace's own is
 * there or the tablespace is not: its disk may have been taken away, and come back.
 * Errors are thrown.
 */
extern void tier_file_remains(RelFileLocator file, TierFileRemains *remains);

#endif							/* TIER_FILE_USE_H */
