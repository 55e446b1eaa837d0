/*-------------------------------------------------------------------------
 *
 * act/fullness.h
 *		Emptying tiers that are too full.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACT_FULLNESS_H
#define TIER_ACT_FULLNESS_H

#include "postgres.h"

#include "src/base/left_out.h"
#include "src/base/sql.h"
#include "src/act/move.h"
#include "src/act/patience.h"
#include "src/decide/fullness.h"
#include "src/move/online.h"

typedef struct TierFullnessRun
{
	const Oid  *moved;			/* by tiering policies in this run, sorted:
								 * nothing is moved twice */
	int			nmoved;
	const Oid  *returning;		/* what these bring back, sorted */
	int			nreturning;
	const Oid  *in_vain;		/* these could not move it in this run,
								 * sorted: it may leave all the same */
	int			nin_vain;
	const Oid  *backoff;		/* relations that failed lately, sorted */
	int			nbackoff;
	const List *not_yet;		/* names of tiers that have no turn */
	bool		ignore_windows; /* begins also while move windows are closed */
	bool		by_worker;		/* respects auto_migrate, and limits the time
								 * for what an owner has locked */
	const TierIdle *idle;		/* NULL: nothing else to do */
	TierPass   *plan;			/* what fails before its move, and in it */
	TierPass   *moves;			/* without a record; set where it acts */
	TierPatience *patience;		/* of the whole run, with what owners have
								 * locked; the same */
} TierFullnessRun;

typedef struct TierFullnessSummary
{
	int			policies;		/* that are enabled */
	int			disabled;
	int			failed;			/* could not be evaluated */
	int			too_full;		/* tiers from which something had to leave */
	int			busy;			/* of these, another process empties */
	int			leaving;		/* relations that had to */
	TierMoveCounts counts;		/* waiting: have to leave, but not now */
	char	   *why_waiting;	/* of the first of them; NULL: none waits */
	int64		batch_id;		/* of these moves; 0: none was begun; of
								 * several the last one */
	int			batches;		/* that were begun */
	List	   *tried;			/* OIDs: moved, or could not be; in the memory
								 * context of the caller */
	bool		is_over;		/* the extension is not what it was, and
								 * nothing more is moved */
} TierFullnessSummary;

/* Adds what the policy is, and whether it asks for moves. */
extern void tier_fullness_count(TierFullnessSummary *summary,
								const TierFullnessEvaluation *evaluation);

/* Adds what came of another one, after the first. */
extern void tier_fullness_add(TierFullnessSummary *sum, const TierFullnessSummary *more);

/*
 * Evaluates the policies, records what they say, and moves what has to leave, as one
 * batch; how full a tier is is asked again before each move.  One process at a time
 * empties a tier, of all databases.  Expectations as of tier_move_one.
 */
extern TierFullnessSummary tier_fullness_run(const TierFullnessRun *run);

/*
 * Puts rows of evaluate_policies(), and sets any if there are some.  Returns the number of
 * fullness policies.
 */
extern int	tier_fullness_put(TierResultRow *row, bool *any);

#endif							/* TIER_ACT_FULLNESS_H */
