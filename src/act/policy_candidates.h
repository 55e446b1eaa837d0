/*-------------------------------------------------------------------------
 *
 * act/policy_candidates.h
 *		The moves of tiering policies: each relation once, by the policy that decides.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_CANDIDATES_H
#define TIER_POLICY_CANDIDATES_H

#include "postgres.h"

#include "src/act/foresee.h"
#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/catalog/tables.h"
#include "src/decide/partition.h"

/* The relations of one leaf to move, with the evaluation that asks for it. */
typedef struct TierPolicyCandidate
{
	const TierEvaluation *evaluation;
	const TierLeaf *leaf;
	List	   *members;		/* OIDs: the leaf, indexes of it, or some of
								 * them; the leaf first */
	bool		comes_first;	/* see tier_policy_candidates_find() */
	int			turn;			/* of its owner, from 0 */
} TierPolicyCandidate;

/* All that tiering policies ask for. */
typedef struct TierPolicyCandidates
{
	int			policies;
	int			nevaluations;	/* of those that are enabled: a disabled
								 * policy is as if it were not there */
	TierEvaluation **evaluations;
	TimestampTz policy_due_at;	/* when the worker looks at the first of those
								 * that are too new for it; 0: none is */
	int			failed;			/* of them: could not be evaluated */
	int			partitions;		/* that were looked at */
	int			nleaves;		/* of them, of which something is due */
	int			njobs;
	TierPolicyCandidate *jobs;	/* in the order of a run */
	Bitmapset  *first;			/* tiers, by index, above the marks of their
								 * fullness policies, which `comes_first` of
								 * the jobs is about */
} TierPolicyCandidates;

/*
 * All policies on one snapshot, of one moment.  Policies, tiers and pins are of one scope, or a
 * policy could be of a tier that was added in between.  Reorders and drops policies of the array.
 * Outside of a scope; stores nothing.  In the current memory context.  by_worker: without
 * policies that are so new that they may still be removed (decide/policy_preview.h).
 *
 * One policy decides, for each table and each index: of those that would move it, the policy for
 * the slowest tier, which is the one for the greatest age; of several for one tier, the oldest.
 * After its move, no policy would move the relation again.
 *
 * Moves that leave a tier above the mark of its fullness policy come first.  Then the remaining
 * excess leaves the tier, and then come the other moves, which may take hours.  Within both
 * groups, owners take turns, so that no owner waits for all partitions of another.
 */
extern TierPolicyCandidates *tier_policy_candidates_find(TierPolicyRow *policies, int npolicies,
														 const TierSet *set,
														 const TierPins *pins, bool by_worker);

/* Evaluates n policies, whose groups are known, on their leaves at this moment. */
extern TierEvaluation **tier_policies_evaluate(const TierPolicyRow *policies, int n,
											   const TierSet *set, const TierPins *pins);

/* The tier that a member of the job goes to. */
extern const TierTier *tier_policy_candidate_target(const TierPolicyCandidate *job,
													const TierSet *set, Oid member_oid);

/* The move of one member of the job, without its batch. */
extern TierMoveRequest tier_policy_candidate_request(const TierPolicyCandidate *job,
													 const TierSet *set, Oid relation_oid);

/* The bytes that may still be moved today only because of the load.  In a catalog scope. */
extern double tier_return_limit_left(void);

/*
 * Returns true if so many bytes may return today: they share the daily limit with advised moves.
 * warns: warns the session; the view moves shows it in either case.
 */
extern bool tier_return_is_within_limit(Oid relation_oid, bool warns);

/* The warning for a session; left_bytes: that may still return. */
extern void tier_return_warn_limit(const char *relation_name, double left_bytes);

/* One relation that policies would move or bring back, with the one that decides. */
typedef struct TierPolicyClaim
{
	Oid			relation_oid;
	int			to_tier;		/* index into the set of the evaluations */
	const TierEvaluation *evaluation;
	const TierLeaf *leaf;
} TierPolicyClaim;

/* Of all enabled policies by these evaluations, sorted by relation, *n of them. */
extern TierPolicyClaim *tier_policy_claims(TierEvaluation **evaluations, int nevaluations,
										   int *n);

/* The OIDs of a list as a sorted array, *n of them. */
extern Oid *tier_sorted_oids(const List *list, int *n);

#endif							/* TIER_POLICY_CANDIDATES_H */
