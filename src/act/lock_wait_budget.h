/*-------------------------------------------------------------------------
 *
 * act/lock_wait_budget.h
 *		How long relations that are locked are waited for in vain, for each owner.
 *
 * Whoever owns relations may keep all of them locked, and the worker has others to serve.  So
 * it gives only so much time in a run to what an owner has locked.  When that is used up, it
 * still tries what nobody uses at the moment, so that relations which are locked keep none
 * that is not from being moved.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_LOCK_WAIT_BUDGET_H
#define TIER_LOCK_WAIT_BUDGET_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Of one run of one process; zeroed, but for the context, which holds the list. */
typedef struct TierLockWaitBudget
{
	MemoryContext context;
	List	   *wasted;			/* for each owner with locked relations */
} TierLockWaitBudget;

/* A relation of the owner could not be locked, which has taken so long. */
extern void tier_lock_wait_spend(TierLockWaitBudget *budget, Oid owner_oid, double ms);

/* Is only to be tried what nobody has locked, of the relations of this owner? */
extern bool tier_lock_wait_is_spent(const TierLockWaitBudget *budget, Oid owner_oid);

#endif							/* TIER_LOCK_WAIT_BUDGET_H */
