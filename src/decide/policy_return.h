/*-------------------------------------------------------------------------
 *
 * decide/policy_return.h
 *		Finds relations that policies have moved and that return because they are read again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_RETURN_H
#define TIER_POLICY_RETURN_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/tier_fullness.h"
#include "src/decide/partition.h"

/* A leap year: the stored value is checked against the same limit. */
#define TIER_LONGEST_RETURN_AFTER_S (366.0 * SECS_PER_DAY)

/* For how long the rate must have held: return_after, by default three days. */
extern double tier_policy_return_seconds(const TierPolicyRow *policy);

/*
 * Sets TIER_VERDICT_RETURNS for the leaves that return now, once all policies are evaluated.  For
 * a leaf that is read enough and stays, adds the obstacle to the reason.  Disabled policies are
 * evaluated alone.
 *
 * A relation returns only if that policy was the last to move it, so that the policy never
 * reverts other moves.  It goes no further than to where no other policy would move it again.  So
 * a further evaluation of all policies has nothing to do.
 *
 * flight: the bytes that moves of other processes will have added to a tablespace.
 *
 * Outside of a scope, with an active snapshot.  Strings are added in the current memory context.
 */
extern void tier_policy_find_returns(TierEvaluation **evaluations, int n, const TierSet *set,
									 const TierPins *pins, TimestampTz now,
									 TierFullnessFlightOf flight);

#endif							/* TIER_POLICY_RETURN_H */
