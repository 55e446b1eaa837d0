/*-------------------------------------------------------------------------
 *
 * act/recheck.h
 *		Checks whether a move of the plan is still wanted when its turn has come.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RECHECK_H
#define TIER_RECHECK_H

#include "postgres.h"

#include "src/act/plan.h"

/* How far a run has carried the plan out. */
typedef struct TierRecheck
{
	const TierPlan *plan;
	int			next;			/* the entry after the one whose turn it is */
	const List *begun;			/* ids of fullness policies whose tiers are
								 * being emptied */
} TierRecheck;

/*
 * Its policy may have been removed, disabled or altered since the plan was made, or the tier given
 * other tablespaces; the relation may have other bounds, or be in another place, pinned, or used;
 * the tier may be empty enough.  *request is the move as it is decided now, without its batch.
 * In a transaction, outside of a scope; in the current memory context.
 */
extern bool tier_recheck(const TierRecheck *recheck, const TierPlanEntry *entry,
						 TierMoveRequest *request);

/*
 * For tier_move_one(), which asks while it waits and copies.  The argument: a TierRecheck, for
 * the entry before its next one.
 */
extern bool tier_recheck_is_wanted(const TierMoveRequest *request);

/*
 * Returns true if the tier of a fullness policy is still above the mark up to which it is
 * emptied.
 */
extern bool tier_recheck_fullness(const TierRecheck *recheck, int policy_id);

#endif							/* TIER_RECHECK_H */
