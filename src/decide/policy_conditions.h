/*-------------------------------------------------------------------------
 *
 * decide/policy_conditions.h
 *		Whether the conditions of a tiering policy can be true.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_CONDITIONS_H
#define TIER_POLICY_CONDITIONS_H

#include "postgres.h"

#include "src/catalog/tables.h"

/* Is there a condition, and are all of them such as can be true?  Else it is an error. */
extern void tier_policy_check_conditions(const TierPolicyRow *policy);

#endif							/* TIER_POLICY_CONDITIONS_H */
