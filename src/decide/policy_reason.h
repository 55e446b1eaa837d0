/*-------------------------------------------------------------------------
 *
 * decide/policy_reason.h
 *		Why a partition is due under a policy, or not, in words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_REASON_H
#define TIER_POLICY_REASON_H

#include "postgres.h"

#include "src/decide/partition.h"

/*
 * One sentence with the times and numbers that have decided, for leaf->verdict.  from_now:
 * reference_us, from which the age counts, is now, not the end of the newest partition.
 */
extern char *tier_policy_reason(const TierLeaf *leaf, const TierPolicyRow *policy,
								const TierUses *uses, const TierPolicyConditions *conditions,
								bool from_now, int64 reference_us);

#endif							/* TIER_POLICY_REASON_H */
