/*-------------------------------------------------------------------------
 *
 * decide/partition.h
 *		Evaluates the policies on the present partitions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PARTITION_H
#define TIER_PARTITION_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/partition_key.h"
#include "src/decide/policy_use.h"
#include "src/model/policy.h"
#include "src/server/relation.h"

/* Something of a leaf that returns. */
typedef struct TierReturn
{
	Oid			relation_oid;
	int			tier;			/* index into the TierSet */
	Oid			tablespace_oid;
} TierReturn;

/* One leaf partition, or a table that is none, under one policy. */
typedef struct TierLeaf
{
	TierRelationInfo info;
	TierPartition partition;
	TierPolicyVerdict verdict;
	int			from_tier;		/* index into the TierSet, -1: none */
	int			return_tier;	/* of the first that returns; if something
								 * does */
	List	   *returns;		/* TierReturn: the relations that return; then
								 * the leaf is pending */
	Oid			to_tablespace;	/* 0: none of the tier's can be used */
	Oid			index_tablespace;	/* the same for indexes */
	List	   *pending;		/* OIDs: the relations of the leaf and its
								 * indexes that are on a faster tier, or none,
								 * the table first; without those pinned to
								 * another one */
	const TierPinned *pinned;	/* the first pin that was in the way, or NULL */
	const char *immovable;		/* why it cannot be moved, or NULL */
	int64		pending_bytes;	/* on disk; -1: not looked at, as it is not
								 * due */
	int64		use_counter;	/* see tier_use_counter; only if it is due and
								 * the policy asks for its use */
	const char *error;			/* why it was left out, or NULL */
	char	   *reason;
} TierLeaf;

typedef struct TierEvaluation
{
	const TierPolicyRow *policy;
	const TierUses *uses;		/* the basis of all conditions but the age */
	int			to_tier;		/* index into the TierSet */
	int			index_tier;		/* the same for indexes */
	int			nleaves;
	TierLeaf   *leaves;
	TimestampTz now;			/* from which ages count */
	TierPolicyConditions conditions;	/* as instants; unless there is an
										 * error */
	char	   *error;			/* why it could not be evaluated, or NULL */
} TierEvaluation;

/*
 * Raises an error unless a policy can be put on this relation, and with these conditions.
 * The relation exists.
 */
extern void tier_partition_check_target(const TierRelationInfo *info,
										const TierPolicyRow *policy);

/*
 * Evaluates one policy, whose group was found if it is on one: its age at `now`, and its
 * conditions on use by `uses`.  Reads catalogs and file sizes without any lock on a relation of a
 * user, and runs no code of a user.  Needs an active snapshot, must not be called inside a
 * catalog scope.  The result refers to policy and pins.  Invalid references of a policy never
 * raise an error: they are reported in ->error, or in that of a leaf that alone has failed.
 * Result in the current memory context.
 */
extern TierEvaluation *tier_partition_evaluate(const TierPolicyRow *policy,
											   const TierSet *set, const TierPins *pins,
											   const TierUses *uses, TimestampTz now);

/*
 * The same for one leaf, right before its move: NULL if it is not a leaf of the policy, or the
 * policy cannot be evaluated.
 */
extern const TierLeaf *tier_partition_evaluate_leaf(const TierPolicyRow *policy,
													const TierSet *set, const TierPins *pins,
													const TierUses *uses, TimestampTz now,
													Oid leaf_oid, TierEvaluation **evaluation);

/*
 * Loads the leaves of the policy's table or group, or only this one of them (0: all), with their
 * bounds (decide/partition_tree.c).  Error: the table has no key that tells the age.
 */
extern void tier_partition_load_leaves(TierEvaluation *evaluation, Oid leaf_oid);

/*
 * One sentence with the times and numbers that have decided on the leaf's verdict
 * (decide/policy_reason.c).
 */
extern char *tier_policy_reason(const TierEvaluation *evaluation, const TierLeaf *leaf);

/* Returns true if the leaf meets all conditions of the policy, wherever it is. */
extern bool tier_policy_is_met(const TierLeaf *leaf);

/* Where the policy wants a member of a leaf, which is the leaf itself or one of its indexes. */
extern int	tier_partition_target(const TierEvaluation *evaluation, const TierLeaf *leaf,
								  Oid member_oid);

/* And in which tablespace, if it is due; 0: none of the tier's can be used. */
extern Oid	tier_partition_tablespace(const TierLeaf *leaf, Oid member_oid);

#endif							/* TIER_PARTITION_H */
