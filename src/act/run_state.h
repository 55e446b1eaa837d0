/*-------------------------------------------------------------------------
 *
 * act/run_state.h
 *		Declarations shared by the parts of a run.  For these only:
 *
 *		run.c				makes plans, and goes through them
 *		run_turn.c			the turn of one entry of the plan
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RUN_STATE_H
#define TIER_RUN_STATE_H

#include "postgres.h"

#include "storage/lock.h"

#include "src/act/recheck.h"
#include "src/base/left_out.h"

struct TierRunSummary;

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

/* In the memory of the process that runs; nothing else sees it. */
typedef struct TierRun
{
	TierPlanOptions options;	/* of the next plan */
	const TierIdle *idle;
	struct TierRunSummary *summary;
	MemoryContext context;		/* of the run, and of its lists */
	MemoryContext plan_context; /* of the plan */
	MemoryContext step;			/* reset before each move */
	TierPlan   *plan;
	TierRecheck recheck;		/* how far it is carried out */
	int64		planned_us;		/* when, by tier_clock_monotonic_us, */
	int64		planning_us;	/* and how long that took */
	int			tried;			/* relations of this plan */
	int			ended;			/* moves of the run */
	bool		was_too_full;	/* for which the last plan was made anew */
	bool		is_stale;		/* another plan is to be made; only when
								 * relations of this one were tried, so that
								 * there is an end of it */
	bool		is_over;		/* nothing more is to be moved */
	List	   *lock_waits;		/* LockWait: for each owner with locked
								 * relations; of the worker */
	TierPass	checks;			/* entries that fail before their move, */
	TierPass	moves;			/* and those that fail in it without a record */
	List	   *emptyings;		/* TierEmptying */
	TierEmptying *emptying;		/* which tier is being emptied; NULL: none */
	bool		has_told;		/* has reported the advice, once */
	bool		skips_advice;
	bool		is_alone;		/* it has the lock, which follows */
	LOCKTAG		alone;
} TierRun;

/*
 * Returns true if a run tries the entry.  An entry that waits for a move window is checked again
 * when its turn comes.
 */
extern bool tier_run_is_to_try(const TierPlanEntry *entry);

/*
 * Moves the entry before recheck.next, if it may begin and is still asked for.
 */
extern void tier_run_take_turn(TierRun *run, TierPlanEntry *entry);

/*
 * Begins the turn of an entry of a fullness policy.  False: the tier has no turn in this run.
 * The second function ends the turn that an entry of another policy has begun, and checks whether
 * the tier was emptied enough.
 */
extern bool tier_run_begin_emptying(TierRun *run, const TierPlanEntry *entry);
extern void tier_run_end_emptying(TierRun *run);

/* Reports, once, the advised moves and those left out; checks whether any of them may begin. */
extern void tier_run_begin_advice(TierRun *run);

#endif							/* TIER_RUN_STATE_H */
