/*-------------------------------------------------------------------------
 *
 * act/call.h
 *		Interprets a CALL of move_relation: its relations and their target.
 *
 * preflight() takes the same arguments and means the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CALL_H
#define TIER_CALL_H

#include "postgres.h"

#include "fmgr.h"

#include "src/act/foresee.h"
#include "src/act/move.h"
#include "src/catalog/tables.h"
#include "src/move/preflight.h"
#include "src/server/relation.h"

/* Where tables, and where indexes go. */
typedef struct TierDestination
{
	Oid			tablespace_oid; /* of a tier, which now has most free space */
	int			tier;			/* -1: the tablespace alone was named */
	bool		is_chosen;		/* the tier alone was named: for each
								 * relation, its tablespace is chosen when its
								 * turn comes */
} TierDestination;

/* Filled in once by tier_call_read(), and not changed afterwards. */
typedef struct TierMoveCall
{
	TierRelationInfo info;		/* of the relation that was named */
	TierSet    *set;
	int64		set_at;			/* monotonic, when it was loaded */
	TierPins   *pins;
	TierDestination destination[2]; /* of tables, of indexes */
	bool		include_indexes;
	bool		allow_lock;
	List	   *relations;		/* OIDs: tables before their indexes */
} TierMoveCall;

/*
 * Reads the first arguments: relation, target, include_indexes, allow_lock and index_target.
 * Raises errors for invalid arguments and for objects that do not exist.  The result lives in the
 * current memory context, for a procedure one that outlives transactions.
 */
extern void tier_call_read(FunctionCallInfo fcinfo, TierMoveCall *call);

/*
 * Why the call is refused as a whole: because of the relation that was named, or because one of
 * the checks up to TIER_CALL_LAST_CHECK refuses one of its relations; message NULL: it is not.
 */
#define TIER_CALL_LAST_CHECK TIER_CHECK_PIN

extern TierObstacle tier_call_refusal(const TierMoveCall *call);
extern TierObstacle tier_call_refusal_of(const TierMoveCall *call,
										 const TierRelationInfo *member, TierCheck check);

/* Errors for all that is refused as a whole: before anything is moved. */
extern void tier_call_check(const TierMoveCall *call);

/* If the named table has inheritors, mentions them, since the caller may have meant them, too. */
extern void tier_call_notice_inheritors(const TierMoveCall *call);

/*
 * The move of one of its relations, for the current user, to the tablespace that has most free
 * space at this moment.  Counts the earlier moves of the series unless foresight is NULL.  In a
 * transaction, outside of a scope.
 */
extern TierMoveRequest tier_call_request(const TierMoveCall *call, const TierRelationInfo *member,
										 const TierForesight *foresight);

/*
 * The relations that now belong to the call and are not on its target, except those in `tried`:
 * indexes that were created or rebuilt concurrently, partitions that were attached; and invalid
 * indexes, which cannot be moved.  In the current memory context.
 */
extern List *tier_call_left(const TierMoveCall *call, const List *tried);

/* The device of a tablespace, also of one that belongs to no tier. */
extern const TierDevice *tier_call_device(const TierMoveCall *call, Oid tablespace_oid);

/* Why there is nothing to move, in words: "table s.t is already there". */
extern char *tier_call_nothing_text(const TierMoveCall *call);

#endif							/* TIER_CALL_H */
