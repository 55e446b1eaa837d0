/*-------------------------------------------------------------------------
 *
 * act/plan.h
 *		The plan: all moves that are wanted, in their order, each with its reason and
 *		with the condition for which it waits.
 *
 * There is one plan.  A run (act/run.h) carries it out, a dry run prints it, the worker stores
 * it, and the view shows what is stored.  Policies by age and use, fullness policies and advice
 * are its sources.  It is made from one state and changes nothing.  A move is judged by the state
 * at its turn: the effect of earlier moves of the plan is counted (act/foresee.h).
 *
 * The stored plan does not depend on the moment: whether a move runs, has failed recently or is
 * held up by a pause is looked up when the plan is shown.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PLAN_H
#define TIER_PLAN_H

#include "postgres.h"

#include "nodes/bitmapset.h"

#include "src/act/apply_candidates.h"
#include "src/act/policy_candidates.h"
#include "src/act/move_request.h"
#include "src/catalog/tables.h"

typedef enum TierPlanSource
{
	TIER_SOURCE_AGE,			/* of a tiering policy, by age alone */
	TIER_SOURCE_USE,			/* the same, by use */
	TIER_SOURCE_RETURN,			/* a tiering policy brings it back */
	TIER_SOURCE_FULLNESS,
	TIER_SOURCE_ADVICE,
} TierPlanSource;

typedef enum TierPlanState
{
	TIER_PLAN_READY,			/* the next run moves it */
	TIER_PLAN_WAITING,			/* it would not begin now */
	TIER_PLAN_FAILED,			/* it was tried, and will be again later */
} TierPlanState;

typedef struct TierPlanEntry
{
	Oid			relation_oid;
	Oid			file_number;	/* that it had; 0: it has gone */
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;	/* 0: the tier has none that can be used */
	const char *from_tier;		/* NULL: none */
	const char *to_tier;
	double		bytes;
	TierPlanSource source;
	int			policy_id;		/* 0: none */
	const char *why;			/* it is to move */
	TierPlanState state;
	const char *reason;			/* why it is in this state; NULL of READY */
	TierObstacle obstacle;		/* of WAITING: the obstacle; else no message */
	bool		is_beyond_limit;	/* of move_limit_per_day, or max_bytes */
	bool		is_left;		/* of the advice: reported together with all
								 * of these */
	bool		is_void;		/* another entry has taken its place */
	TimestampTz next_attempt_at;	/* of FAILED; else 0 */

	/* For a run. */
	TierMoveRequest request;	/* without its batch */
	const TierPolicyCandidate *job; /* of tiering policies; else NULL */
	const TierCandidate *candidate; /* of ADVICE; else NULL */
	bool		waits_for_room; /* of automatic ADVICE */
	const Bitmapset *above;		/* tiers that are above the marks of their
								 * fullness policies after it */
} TierPlanEntry;

/* The options of a plan. */
typedef struct TierPlanOptions
{
	bool		by_worker;		/* it does not try relations that have failed
								 * recently */
	bool		ignore_windows; /* moves begin also while windows are closed */
	bool		refreshes;		/* not a dry run: the names of relations are
								 * brought up to date */
	struct TierToFreeze *to_freeze; /* act/freeze.h; NULL: nothing is frozen */
	const TierApplyRequest *apply;	/* of the sources only the advice, as this
									 * asks for it; NULL: all */
	List	   *tried;			/* OIDs: not again in this run, */
	List	   *in_vain;		/* nor these by tiering policies */
	List	   *begun;			/* ids of fullness policies whose tiers are
								 * being emptied in this run */
} TierPlanOptions;

/* The totals of all fullness policies. */
typedef struct TierFullnessSummary
{
	int			policies;		/* that are enabled */
	int			disabled;
	int			failed;			/* could not be evaluated */
	int			too_full;		/* tiers from which relations have to leave */
	int			leaving;		/* relations that have to */
	TierMoveCounts counts;
} TierFullnessSummary;

/* An enabled fullness policy, at the first point of the plan where it asks for moves. */
typedef struct TierPlanFullness
{
	TierFullnessRow policy;
	double		share;			/* of its tier; NaN: not known */
	int			leaving;
	const char *summary;		/* in a sentence */
	const char *closed;			/* why no relation may leave now; NULL: one
								 * may */
} TierPlanFullness;

typedef struct TierPlan
{
	const TierSet *set;
	const TierPolicyCandidates *due;	/* NULL with options->apply */
	TierPlanEntry *entries;
	int			n;
	int			cut_at;			/* from this entry on tiers would be emptied
								 * more often than is foreseen; -1: nowhere */
	const char *paused;			/* the reason of all, while moves are paused;
								 * else NULL */
	double		left_bytes;		/* of move_limit_per_day after the returns;
								 * INFINITY: no limit */
	TierFullnessSummary emptied;
	TierPlanFullness *fullness; /* those of the slowest tiers first */
	int			nfullness;
	TierApplySummary applied;	/* and of the advice, with counts of the
								 * predicted results */
	int			left_out;		/* of the advice, for room or an error */
	TierApplyRequest request;	/* of the advice; the fields below are NULL if
								 * it was not asked */
	TierAdvice *advice;
	TierCandidate *candidates;
	TierArrangement arrangement;
} TierPlan;

/*
 * Makes the plan.  NULL: the extension has gone, which is an error unless options->by_worker.
 * Outside of a scope, in a transaction; locks nothing of a user.  In the current memory context.
 */
extern TierPlan *tier_plan_make(const TierPlanOptions *options);

/* Reports the plan in NOTICEs and WARNINGs; of the advice also the moves that are left out. */
extern void tier_plan_print(TierPlan *plan);

/* Its moves as rows, *n of them. */
extern TierStoredMove *tier_plan_moves(const TierPlan *plan, int *n);

/* Stores the plan for the view, if it differs from the stored one.  In a transaction. */
extern void tier_plan_store(const TierPlan *plan);

#endif							/* TIER_PLAN_H */
