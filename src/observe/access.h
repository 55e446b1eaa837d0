/*-------------------------------------------------------------------------
 *
 * observe/access.h
 *		Random and sequential reads, by what the executor does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_H
#define TIER_ACCESS_H

/*
 * A plan of this cost or more is always watched, a cheaper one at least with that share of
 * certainty.  About a thousand blocks in sequence, so a millisecond at least, when
 * watching it takes microseconds.
 */
#define TIER_COST_OF_CERTAINTY 1000.0

/* Installs the executor hooks and their shared memory; only while preloading. */
extern void tier_access_init(void);

#endif							/* TIER_ACCESS_H */
