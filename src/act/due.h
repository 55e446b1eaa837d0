/*-------------------------------------------------------------------------
 *
 * act/due.h
 *		What tiering policies would move now: each relation once, by the one that decides.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DUE_H
#define TIER_DUE_H

#include "postgres.h"

#include "src/act/foresee.h"
#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/catalog/tables.h"
#include "src/decide/partition.h"

/* What to move of one leaf, with the evaluation that says so. */
typedef struct TierDueJob
{
	const TierEvaluation *evaluation;
	const TierLeaf *leaf;
	List	   *members;		/* OIDs: the leaf, indexes of it, or some of
								 * them; the leaf first */
	bool		comes_first;	/* see tier_due_put_first() */
} TierDueJob;

/*
 * All policies on one snapshot, which is active, of one moment.  What comes of it, here and
 * below, is in the current memory context.
 */
extern TierEvaluation **tier_due_evaluate(const TierPolicyRow *policies, int n,
										  const TierSet *set, const TierPins *pins);

/* Keeps the enabled ones at the front, how many: a disabled policy is as if it were not there. */
extern int	tier_due_keep_enabled(TierPolicyRow *policies, int n);

/*
 * All that is due, *njobs of them, of *nleaves leaves.  Table and index for itself, one policy
 * decides: of those that would move it the one for the slowest tier, which is the policy for the
 * greatest age; of several for one tier, the oldest policy.  When that has moved it, no policy
 * would move it again.
 */
extern TierDueJob *tier_due_collect(TierEvaluation **evaluations, int nevaluations,
									int *njobs, int *nleaves);

/*
 * What leaves a tier that is above the mark of its fullness policy comes first.  Then as much
 * leaves it as is still too much, and only then comes the rest, which may take hours.  Returns
 * these tiers, by index.
 */
extern Bitmapset *tier_due_put_first(TierDueJob *jobs, int njobs, const TierSet *set);

/* The tier that a member of the job goes to. */
extern const TierTier *tier_due_target(const TierDueJob *job, const TierSet *set, Oid member_oid);

/* Says so, at the level of an ereport() that returns. */
extern void tier_due_warn_no_tablespace(const TierRelationInfo *info, const TierTier *tier,
										int level);

/* What windows have to know of the move of a relation; false: it has gone. */
extern bool tier_due_plan(const TierDueJob *job, Oid relation_oid, bool by_worker,
						  TierPlannedMove *planned);

/* The move of one member of the job, without its batch. */
extern TierMoveRequest tier_due_request(const TierDueJob *job, const TierSet *set,
										Oid relation_oid);

/* OIDs of what of the jobs returns, sorted, *n of them. */
extern Oid *tier_due_returning_of(const TierDueJob *jobs, int njobs, int *n);

/* Bytes that may be moved today by nothing but the load.  In a catalog scope. */
extern double tier_due_left_of_limit(void);

/*
 * May so much return today?  As with what is advised, within a limit of bytes a day.  A person
 * is told at once, the log at the end of the run.  planned_bytes: what a dry run has of that
 * already.
 */
extern bool tier_due_is_within_limit(const TierDueJob *job, Oid relation_oid, bool by_worker,
									 double planned_bytes);

/* One relation that a tiering policy would move now. */
typedef struct TierDueMove
{
	TierMoveRequest request;	/* its tablespace is 0 where the tier has none
								 * that can be used */
	int			to_tier;		/* index into the set */
	bool		comes_first;	/* before tiers that are too full are emptied,
								 * by which the others wait */
	bool		returns;		/* within move_limit_per_day */
} TierDueMove;

/*
 * All that tiering policies would move, *n of them, in the order of a run.  Outside of a
 * scope, with an active snapshot; changes nothing.
 */
extern TierDueMove *tier_due_list(const TierSet *set, const TierPins *pins, int *n);

/* OIDs of what tiering policies bring back, sorted, *n of them; likewise. */
extern Oid *tier_due_returning(const TierSet *set, const TierPins *pins, int *n);

/* The policy that decides about one relation, of several that would move it. */
typedef struct TierDecided
{
	Oid			relation_oid;
	int			policy_id;
	int			to_tier;		/* index into the set of the evaluations */
} TierDecided;

/*
 * Of all that enabled policies would move or bring back by these evaluations, sorted by relation,
 * *n of them.
 */
extern TierDecided *tier_due_decided(TierEvaluation **evaluations, int nevaluations, int *n);

/* The OIDs of a list as a sorted array, *n of them. */
extern Oid *tier_due_sorted_oids(const List *list, int *n);

/* What of a job is about to be moved, and the job as it is decided by now. */
typedef struct TierDueDecision
{
	const TierDueJob *first;	/* by the evaluation of the run */
	const TierSet *first_set;
	Oid			relation_oid;
	TierDueJob	now;			/* by tier_due_decide_again(), as what
								 * follows; its members are not set */
	const TierSet *set;
	Oid			returns_to;		/* of what returns: the tablespace, by now */
} TierDueDecision;

/*
 * A run may take hours: is this what its policy still asks for?  It may have been
 * removed, disabled or altered meanwhile, or the tier given other tablespaces; the
 * partition may have other bounds, or be in another place, detached, pinned, or used.  So
 * the run's evaluation is made again for the one partition.  In a transaction; result in
 * the current memory context.
 */
extern bool tier_due_decide_again(TierDueDecision *decision);

/* For tier_move_one(), which asks while it waits and copies; the argument: a TierDueDecision. */
extern bool tier_due_is_still(const TierMoveRequest *request);

#endif							/* TIER_DUE_H */
