/*-------------------------------------------------------------------------
 *
 * act/level.h
 *		The current fullness of tiers, with the moves in progress.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_LEVEL_H
#define TIER_LEVEL_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "src/decide/tier_fullness.h"

/*
 * The bytes that moves of other processes will have added to a tablespace; the argument is
 * ignored.
 */
extern TierFullnessFlight tier_fullness_flight(Oid tablespace_oid, const void *argument);

/*
 * By how many bytes a tier of a set is above the high watermark of an enabled fullness policy;
 * -INFINITY: there is none.  Looks at its files.  In a transaction, outside of a scope.
 */
extern double tier_level_above_bytes(const TierSet *set, int tier);

/* The tiers of the set, by index, of which that is more than zero. */
extern Bitmapset *tier_levels_above(const TierSet *set);

/* The same by name, of the tiers as they are now.  In a transaction, outside of a scope. */
extern List *tier_levels_above_now(void);

/* The names of tiers of the set, copied into the current memory context. */
extern List *tier_level_names(const TierSet *set, const Bitmapset *tiers);

#endif							/* TIER_LEVEL_H */
