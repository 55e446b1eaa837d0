/*-------------------------------------------------------------------------
 *
 * act/new_partitions.h
 *		Setting where new partitions are created.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACT_NEW_PARTITIONS_H
#define TIER_ACT_NEW_PARTITIONS_H

#include "postgres.h"

#include "src/decide/new_partitions.h"

/*
 * Sets what is pending, and gives back what is to be, one relation in a transaction of its
 * own, with a lock that is asked for once and no longer than that of a move; what was not
 * to be had is left to the next run.  Says what was done, in the log if by_worker, and, if
 * not by_worker, what waits.  Only what is urgent while moves are paused, or while all move
 * windows are closed or the server is under pressure, unless ignore_windows.  In a
 * nonatomic context, outside of a scope, with no lock held.
 */
extern void tier_new_partitions_run(TierBirthplace *places, int n, const TierSet *set,
									bool by_worker, bool ignore_windows);

/* What it would do, or would if it had not to wait, each a NOTICE.  In a transaction. */
extern void tier_new_partitions_announce(const TierBirthplace *places, int n,
										 const TierSet *set, bool ignore_windows);

/*
 * What speaks against setting it now, in words that follow its reason; "": nothing, or
 * nothing is to be set.  In a transaction, outside of a scope; in the current memory context.
 */
extern const char *tier_new_partitions_outlook(const TierBirthplace *place,
											   const TierSet *set);

#endif							/* TIER_ACT_NEW_PARTITIONS_H */
