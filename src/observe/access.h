/*-------------------------------------------------------------------------
 *
 * observe/access.h
 *		Random and sequential reads, by what the executor does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_H
#define TIER_ACCESS_H

/* Installs the executor hooks and their shared memory; only while preloading. */
extern void tier_access_init(void);

#endif							/* TIER_ACCESS_H */
