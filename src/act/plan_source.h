/*-------------------------------------------------------------------------
 *
 * act/plan_source.h
 *		The part of the plan that fullness policies ask for: of plan.c, by plan_fullness.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PLAN_SOURCE_H
#define TIER_PLAN_SOURCE_H

#include "postgres.h"

#include "src/act/move_request.h"
#include "src/decide/fullness.h"

struct TierPlan;

/*
 * Adds member i of the evaluation, which would leave.  Why it does not leave now, for a reason
 * that holds for all of them: `closed`; else NULL, and the answer is whether it leaves, now or
 * when what it waits for is over: then what comes next is judged by how full the tier is without
 * it.
 */
typedef bool (*TierFullnessAdd) (void *argument, const TierFullnessEvaluation *evaluation, int i,
								 const char *closed);

typedef struct TierFullnessSource
{
	TierFullnessQuestion question;	/* without backoff */
	const Oid  *backoff;		/* relations that failed lately, sorted: those
								 * that would leave are added first, and count
								 * for nothing */
	int			nbackoff;
	bool		ignore_windows;
	TierFullnessAdd add;
	void	   *argument;
} TierFullnessSource;

/*
 * What leaves tiers that are too full after the moves that were foreseen already.  Adds to
 * plan->emptied and plan->fullness; returns OIDs of what leaves.  Needs an active snapshot.
 */
extern List *tier_plan_add_fullness(TierFullnessSource *source, struct TierPlan *plan);

/* The move of member i of the evaluation; in the current memory context. */
extern TierMoveRequest tier_plan_fullness_request(const TierFullnessEvaluation *evaluation,
												  int i);

#endif							/* TIER_PLAN_SOURCE_H */
