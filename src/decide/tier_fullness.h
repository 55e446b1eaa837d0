/*-------------------------------------------------------------------------
 *
 * decide/tier_fullness.h
 *		Evaluates the fullness policies on the present tiers.
 *
 * The decision is that of model/fullness.h; this module provides its input: the fullness of
 * tiers, the cost of each relation elsewhere, and the obstacles to its move.
 *
 * A chain (ssd to hdd, hdd to archive) works from its end: units that will arrive on a tier count
 * as if they were there already, so that the tier makes room first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_TIER_FULLNESS_H
#define TIER_TIER_FULLNESS_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "src/decide/advice.h"
#include "src/model/fullness.h"

/*
 * Bytes by which a tablespace will be fuller when moves that are under way have ended, beside
 * what their files have there already.
 */
typedef struct TierFullnessFlight
{
	double		own_bytes;		/* of relations of this database */
	double		disk_bytes;		/* of all databases */
} TierFullnessFlight;

typedef TierFullnessFlight (*TierFullnessFlightOf) (Oid tablespace_oid, const void *argument);

/* The input of an evaluation.  OIDs are sorted. */
typedef struct TierFullnessQuestion
{
	TierFullnessFlightOf flight;	/* NULL: nothing is under way */
	const void *argument;		/* the caller's */
	const Oid  *moved;			/* by tiering policies in this run */
	int			nmoved;
	const Oid  *returning;		/* relations that these policies return, now
								 * or as soon as they may; due relations are
								 * not listed, the advice marks them */
	int			nreturning;
	const Oid  *in_vain;		/* these could not move it in this run */
	int			nin_vain;
	const TierBackoff *backoff; /* that failed lately, by OID */
	int			nbackoff;
	const List *begun;			/* ids of policies whose tiers are being
								 * emptied: to their low watermarks */
	const List *not_yet;		/* names of tiers that have no turn, so that
								 * nothing is about to leave them */
	bool		due_leave;		/* relations that a tiering policy moves next
								 * count as gone: no move is about to begin */
} TierFullnessQuestion;

/* One relation of the tier, in addition to its unit in the model. */
typedef struct TierFullnessMember
{
	const TierAdviceUnit *unit;
	Oid			owner_oid;		/* whose rights count */
	Oid			to_tablespace;	/* 0: none of the target's */
	const char *why;			/* it does not leave, in words; NULL: none */
} TierFullnessMember;

/* One policy.  The arrays belong to the evaluation. */
typedef struct TierFullnessEvaluation
{
	TierFullnessRow *policy;	/* its watermarks as of the last look */
	const TierAdvice *advice;
	int			tier;			/* indexes into the set */
	int			target;
	char	   *error;			/* why it could not be evaluated; then the
								 * fields below mean nothing */
	double		arriving_bytes; /* that another policy will move to the tier */
	double		passed_bytes;	/* of the target's arriving_bytes, what this
								 * one sends */
	TierFullnessProblem problem;	/* its units are those below */
	TierFullnessResult result;
	double		room_bytes;		/* that the target can take as it is, when
								 * this was evaluated */
	TierFullnessUnit *units;	/* the relations on the tier, by OID */
	TierFullnessMember *members;	/* the same */
} TierFullnessEvaluation;

/*
 * Evaluates all policies, those of the slowest tiers first: *n of them.  Disabled policies are
 * evaluated as if they were enabled.  Expectations as of tier_advice_load().  Result in the
 * current memory context; invalid references of a policy never raise an error.
 */
extern TierFullnessEvaluation *tier_fullness_evaluate(const TierFullnessQuestion *question,
													  int *n);

/*
 * Returns true if it is the policy's turn to move units off its tier, should the tier be too
 * full.
 */
extern bool tier_fullness_has_turn(const TierFullnessEvaluation *evaluation,
								   const TierFullnessQuestion *question);

/*
 * Looks again at member i, which is about to leave: its present owner, its target, and its
 * obstacles.  False: there is an obstacle, so that the rest has to be arranged and decided again.
 * The set as above.  Expectations as of tier_advice_load().
 */
extern bool tier_fullness_look_again(TierFullnessEvaluation *evaluation,
									 const TierFullnessQuestion *question, const TierSet *set,
									 int i);

/*
 * The present fullness of a tier.  Looks at the files of its tablespaces; the free space of its
 * file systems is as of the loading of the set.
 */
extern TierFullnessLevel tier_fullness_level(const TierSet *set, int tier,
											 const TierFullnessQuestion *question);

/*
 * How much the target may take until it is at its high watermark, or its reserve; INFINITY: it is
 * not known.  The set as above.
 */
extern double tier_fullness_room(const TierFullnessEvaluation *evaluation, const TierSet *set,
								 const TierFullnessQuestion *question);

/*
 * Shares of the tier's capacity up to which it is filled: by relations that another tier sends
 * away, and by relations that come to stay.  The latter is the low watermark of its fullness
 * policy, if it has one, which would send them away again.
 */
extern double tier_fullness_high_mark(const TierTier *tier);
extern double tier_fullness_stay_mark(const TierTier *tier);

/* How full the tier is, 1 being full. */
extern double tier_fullness_share(const TierFullnessEvaluation *evaluation);

/*
 * Bytes that file systems of a tier have free when it is at that high watermark; INFINITY: not
 * known.  After a crash, PostgreSQL needs as many as there are of WAL since the last checkpoint:
 * relations that have left the tier since then are written there again.
 */
extern double tier_fullness_crash_room(const TierFullnessLevel *level, double high);

/* Returns true if that is less than max_wal_size. */
extern bool tier_fullness_may_lack_crash_room(const TierFullnessLevel *level, double high);

/* One sentence on the policy, and a warning if the tier will be too full all the same. */
extern char *tier_fullness_summary(const TierFullnessEvaluation *evaluation);

/* Why relation i of the evaluation leaves, or does not. */
extern char *tier_fullness_reason(const TierFullnessEvaluation *evaluation, int i);

/* The verdict on it, in one or two words. */
extern const char *tier_fullness_verdict(const TierFullnessEvaluation *evaluation, int i);

#endif							/* TIER_TIER_FULLNESS_H */
