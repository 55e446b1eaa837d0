/*-------------------------------------------------------------------------
 *
 * act/emptying.h
 *		A tier that a run empties, and the result of its policy.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACT_EMPTYING_H
#define TIER_ACT_EMPTYING_H

#include "postgres.h"

#include "src/act/plan.h"

/* The moves of a run for one fullness policy. */
typedef struct TierEmptying
{
	int			policy_id;
	NameData	tier_name;
	int			missed;			/* of the plan that is carried out: that were
								 * to leave, and have not */
	int			waiting;		/* moves that wait, for reasons other than
								 * held_up */
	char	   *held_up;		/* why nothing more leaves in this run; NULL:
								 * it may */
} TierEmptying;

/* That of a policy of the plan; made in the current memory context if it is not in the list. */
extern TierEmptying *tier_emptying_find(List **emptyings, const TierPlan *plan, int policy_id);

/*
 * Records the results of the policies of the plan, except those in the list of ids.  Outside of a
 * scope.
 */
extern void tier_emptying_record_plan(const TierPlan *plan, const List *begun);

#endif							/* TIER_ACT_EMPTYING_H */
