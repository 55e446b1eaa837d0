/*-------------------------------------------------------------------------
 *
 * server/counting.h
 *		Whose work the statistics of the server do not count.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COUNTING_H
#define TIER_COUNTING_H

#include "postgres.h"

/*
 * Whose work in this database is not counted, as track_counts is off for them by ALTER ROLE
 * or ALTER DATABASE: "role \"app\"", or NULL: for nobody.  What a session has set for
 * itself is not seen.  Needs a transaction.  Result in the current memory context.
 */
extern char *tier_uncounted_roles(void);

#endif							/* TIER_COUNTING_H */
