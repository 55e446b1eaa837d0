/*-------------------------------------------------------------------------
 *
 * act/patience.h
 *		How long relations that are locked are waited for in vain, for each owner.
 *
 * Whoever owns relations may keep all of them locked, and the worker has others to serve.  So
 * it gives only so much time in a run to what an owner has locked.  When that is used up, it
 * still tries what nobody uses at the moment, so that relations which are locked keep none
 * that is not from being moved.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PATIENCE_H
#define TIER_PATIENCE_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Of one run of one process; zeroed, but for the context, which holds the list. */
typedef struct TierPatience
{
	MemoryContext context;
	List	   *wasted;			/* for each owner with locked relations */
} TierPatience;

/* A relation of the owner could not be locked, which has taken so long. */
extern void tier_patience_spend(TierPatience *patience, Oid owner_oid, double ms);

/* Is only to be tried what nobody has locked, of the relations of this owner? */
extern bool tier_patience_is_over(const TierPatience *patience, Oid owner_oid);

#endif							/* TIER_PATIENCE_H */
