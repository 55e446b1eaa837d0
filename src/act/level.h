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
 * Is the tier of the tablespace above the high watermark of an enabled fullness policy?  Looks
 * at its files.  In a transaction, outside of a scope.
 */
extern bool tier_level_is_above_mark(Oid tablespace_oid);

#endif							/* TIER_LEVEL_H */
