/*-------------------------------------------------------------------------
 *
 * citus/shards.h
 *		What Citus says of shards: the questions of server/distributed.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CITUS_SHARDS_H
#define TIER_CITUS_SHARDS_H

/* Has the core ask here from now on.  Loads its library, if it is not there yet. */
extern void tier_citus_shards_init(void);

#endif							/* TIER_CITUS_SHARDS_H */
