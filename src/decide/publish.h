/*-------------------------------------------------------------------------
 *
 * decide/publish.h
 *		What a database tells the others about its tiers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PUBLISH_H
#define TIER_PUBLISH_H

/*
 * Publishes what this database has on each of its tiers and wants of it (base/cluster.h), if
 * the library was preloaded.  Reads only; needs an active snapshot; outside of a scope.
 */
extern void tier_publish_own(void);

#endif							/* TIER_PUBLISH_H */
