/*-------------------------------------------------------------------------
 *
 * decide/policy_preview.h
 *		Previews a tiering policy that is about to be added or altered.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_PREVIEW_H
#define TIER_POLICY_PREVIEW_H

#include "postgres.h"

#include "src/decide/partition.h"

/*
 * Evaluates the policy as if it were stored, among the others: in the place of the one with its
 * number, or as a new one if that is 0.  Outside of a scope; changes nothing.  The result is in
 * the current memory context, and refers to the policy.
 */
extern TierEvaluation *tier_policy_preview(const TierPolicyRow *policy, const TierSet *set);

/*
 * Raises an error if the policy would move to an object store what is still written; and, unless
 * evaluation is NULL, if it can move nothing, because all its relations, and those created for it
 * later, are on slower tiers than its own.
 */
extern void tier_policy_refuse(const TierPolicyRow *policy, const TierEvaluation *evaluation,
							   const TierSet *set);

/* Warns of the policy, if there is one, by which the next run moves the relation. */
extern void tier_policy_warn_due(Oid relation_oid, const TierSet *set, const TierPins *pins);

/* When the worker evaluates a policy for the first time, to the second. */
extern TimestampTz tier_policy_first_at(const TierPolicyRow *policy);

/* Raises an error unless there is a condition, and all of them can be true. */
extern void tier_policy_check_conditions(const TierPolicyRow *policy);

#endif							/* TIER_POLICY_PREVIEW_H */
