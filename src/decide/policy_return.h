/*-------------------------------------------------------------------------
 *
 * decide/policy_return.h
 *		What policies have moved and bring back because it is read again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_RETURN_H
#define TIER_POLICY_RETURN_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/tier_fullness.h"
#include "src/decide/partition.h"

/* A leap year: what is stored is checked for the same. */
#define TIER_LONGEST_RETURN_AFTER_S (366.0 * SECS_PER_DAY)

/* For how long the rate must have held: return_after, by default three days. */
extern double tier_policy_return_seconds(const TierPolicyRow *policy);

/*
 * Makes TIER_VERDICT_RETURNS of the verdicts on what returns now, once all policies are
 * evaluated; and adds to the reason what keeps something that is read enough.  Disabled
 * policies count for themselves alone.
 *
 * What returns was moved by that policy, and by nobody since, so that it never takes back
 * what others have moved; and it goes no further than to where no other policy
 * would move it again.  So who does what all policies ask for has nothing more to do.
 *
 * flight: what moves of other processes will have done to a tablespace.
 *
 * Outside of a scope, with an active snapshot.  What it adds lives in the current memory
 * context.
 */
extern void tier_policy_find_returns(TierEvaluation **evaluations, int n, const TierSet *set,
									 const TierPins *pins, TimestampTz now,
									 TierFullnessFlightOf flight);

#endif							/* TIER_POLICY_RETURN_H */
