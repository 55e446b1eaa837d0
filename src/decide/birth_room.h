/*-------------------------------------------------------------------------
 *
 * decide/birth_room.h
 *		Is there room for new partitions on a tier?
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_BIRTH_ROOM_H
#define TIER_BIRTH_ROOM_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/model/fullness.h"

/* How full the tiers are, each looked at when somebody asks for it the first time. */
typedef struct TierBirthRooms
{
	const TierSet *set;
	TierFullnessLevel *levels;	/* by tier */
	bool	   *is_known;		/* by tier: its level is */
} TierBirthRooms;

/* In the current memory context, which all later calls allocate in as well. */
extern TierBirthRooms *tier_birth_rooms_create(const TierSet *set);

/*
 * Why nothing new should be created in the tablespace, in words, in the current memory
 * context; NULL: there is room, or nobody knows, as in what is in no tier.  is_set: new
 * partitions are created there already.  These leave at the high watermark of the tier, or
 * in its reserve, and come back below its low watermark, or that much of what the reserve
 * leaves.  Looks at the files of the tier.
 */
extern char *tier_birth_why_full(TierBirthRooms *rooms, Oid tablespace_oid, bool is_set);

#endif							/* TIER_BIRTH_ROOM_H */
