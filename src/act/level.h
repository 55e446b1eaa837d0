/*-------------------------------------------------------------------------
 *
 * act/level.h
 *		How full tiers are at this moment, with what is being moved.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_LEVEL_H
#define TIER_LEVEL_H

#include "postgres.h"

#include "src/decide/fullness.h"

/* What moves of other processes will have done to a tablespace; the argument is ignored. */
extern TierFullnessFlight tier_fullness_flight(Oid tablespace_oid, const void *argument);

/*
 * By how many bytes the tier of the tablespace is above the high watermark of an enabled
 * fullness policy; not above zero: it is not, or there is none.  Looks at its files.  In a
 * transaction, outside of a scope.
 */
extern double tier_level_above_mark_bytes(Oid tablespace_oid);

#endif							/* TIER_LEVEL_H */
