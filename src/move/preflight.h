/*-------------------------------------------------------------------------
 *
 * move/preflight.h
 *		Is anything in the way of a move?
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PREFLIGHT_H
#define TIER_PREFLIGHT_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/server/relation.h"

/* Why a move is not even tried; message NULL when it is. */
typedef struct TierObstacle
{
	char	   *message;
	char	   *hint;
	const char *sqlstate;
} TierObstacle;

/* Where it is to be moved, and with whose rights. */
typedef struct TierMoveTarget
{
	Oid			tablespace_oid;
	Oid			requester_oid;	/* whose rights count */
	bool		limit_lock_time;	/* what must be locked for the whole copy:
									 * tiered_storage.move_max_lock_time */
} TierMoveTarget;

/*
 * size_bytes: what the relation takes on disk, all forks and TOAST.  Takes no
 * lock on the relation; must not be called inside a scope.  Strings in the
 * current memory context.
 */
extern TierObstacle tier_preflight(const TierRelationInfo *info, const TierMoveTarget *where,
								   const TierSet *set, int64 size_bytes);

/* Bytes of the tablespace's file system that its tier keeps free; 0 if it has none. */
extern double tier_preflight_reserve(const TierSet *set, Oid tablespace_oid);

#endif							/* TIER_PREFLIGHT_H */
