/*-------------------------------------------------------------------------
 *
 * act/run.h
 *		A run: carrying the plan out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RUN_H
#define TIER_RUN_H

#include "postgres.h"

#include "src/act/plan.h"
#include "src/move/online.h"

/* Counts of one run. */
typedef struct TierRunSummary
{
	int			due;			/* partitions */
	TierMoveCounts counts;		/* of tiering policies, like the fields below;
								 * waiting: due, but not now */
	int			no_longer_due;	/* when they could begin; in no other count */
	int			due_relations;	/* of a dry run: that would be moved for them */
	double		due_bytes;
	TimestampTz policy_due_at;	/* see TierPolicyCandidates */
	int			policies;
	int			disabled;		/* of them */
	int			failed;			/* of them: could not be evaluated */
	int			partitions;		/* that were looked at */
	char	   *why_waiting;	/* of the first relation that waits; NULL:
								 * none does */
	TierFullnessSummary emptied;	/* of fullness policies; not in the above */
	bool		placement;		/* auto_migrate says so, and
								 * move_limit_per_day is not used up */
	bool		placement_waits;	/* if so: none of it may begin now, for
									 * the reason in applied.why_waiting */
	TierApplySummary applied;	/* of the advice; not in the above */
} TierRunSummary;

/*
 * The common part of CALL migrate(), CALL apply_placement() and the worker: makes the plan,
 * stores it and carries it out, and makes a new plan when it is outdated.  A worker limits lock
 * times, respects backoff, and returns without an error when the extension has gone.  No move
 * begins while all move windows are closed, unless options->ignore_windows.  idle (may be NULL)
 * is called between moves and during them.  Strings of the summary live in the current memory
 * context.  Else as tier_move_one.
 */
extern TierRunSummary tier_run(const TierPlanOptions *options, const TierIdle *idle);

/* Prints the plan, and changes nothing. */
extern TierRunSummary tier_run_dry(const TierPlanOptions *options);

/* Of a worker that moves nothing now: only stores the plan.  In a transaction. */
extern void tier_run_plan(void);

#endif							/* TIER_RUN_H */
