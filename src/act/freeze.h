/*-------------------------------------------------------------------------
 *
 * act/freeze.h
 *		Freezing a table before the worker moves it to an object store.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FREEZE_H
#define TIER_FREEZE_H

#include "postgres.h"

#include "src/act/move_request.h"

/* The table that a run of the worker wants frozen. */
typedef struct TierToFreeze
{
	Oid			table_oid;		/* 0: none */
	TierMoveRequest request;	/* of it, or of an index of it */
	int64		frozen;			/* its frozen pages, before the last vacuum */
	bool		is_done;		/* it was frozen as far as it can be now */
	bool		is_awaited;		/* by that run: it, or a table after it */
} TierToFreeze;

/*
 * Returns true if nothing keeps the relation from its target but that its table is not frozen,
 * and this is not all that can be done: then it waits.  The first one is noted.  In a transaction.
 */
extern bool tier_freeze_first(TierToFreeze *to_freeze, const TierMoveRequest *request,
							  const TierRelationInfo *info, const TierSet *set);

/*
 * Vacuums the noted table, until the next sample is due, if moves may begin, the requester may
 * still move it, and as long as there is room for WAL.  Of a worker at top level, without SPI, in
 * no transaction.  An error about it is logged, and then it is done.
 */
extern void tier_freeze(TierToFreeze *to_freeze);

#endif							/* TIER_FREEZE_H */
