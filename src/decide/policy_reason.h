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

#include "src/catalog/tables.h"
#include "src/decide/policy_use.h"
#include "src/model/policy.h"

/* What a verdict on a partition rests on. */
typedef struct TierPolicyGrounds
{
	const TierPolicyRow *policy;
	const TierUses *uses;
	TierPolicyConditions conditions;
	bool		from_now;		/* the age counts from now, not from the end
								 * of the newest partition */
	int64		reference_us;	/* that is */
} TierPolicyGrounds;

/*
 * One sentence with the times and numbers that have decided.  pinned: the pin that is in
 * the way, if the verdict is that one is.
 */
extern char *tier_policy_reason(TierPolicyVerdict verdict, const TierPartition *partition,
								const TierPinned *pinned, const TierPolicyGrounds *grounds);

#endif							/* TIER_POLICY_REASON_H */
