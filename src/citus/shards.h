/*-------------------------------------------------------------------------
 *
 * citus/shards.h
 *		Answers the questions of server/distributed.h about shards from Citus.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CITUS_SHARDS_H
#define TIER_CITUS_SHARDS_H

/* Has the core ask here from now on.  Loads its library, if it is not there yet. */
extern void tier_citus_shards_init(void);

#endif							/* TIER_CITUS_SHARDS_H */
