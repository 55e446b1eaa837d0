/*-------------------------------------------------------------------------
 *
 * server/counting.h
 *		Roles that the server's statistics do not count.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COUNTING_H
#define TIER_COUNTING_H

#include "postgres.h"

/*
 * The roles whose work in this database is not counted because ALTER ROLE or ALTER DATABASE
 * sets track_counts off, such as "role \"app\""; NULL if there are none.  Does not see what a
 * session has set itself.  Needs a transaction.  The result is in the current memory context.
 */
extern char *tier_uncounted_roles(void);

#endif							/* TIER_COUNTING_H */
