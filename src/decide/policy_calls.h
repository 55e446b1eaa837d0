/*-------------------------------------------------------------------------
 *
 * decide/policy_calls.h
 *		Calls about policies, with all arguments spelled out.
 *
 * The functions that users call have the rarely used arguments in an object, and alter_policy()
 * and remove_policy() accept both kinds of policies; decide/policy_calls.c spreads the object and
 * picks the kind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_CALLS_H
#define TIER_POLICY_CALLS_H

#include "postgres.h"

#include "fmgr.h"

#include "src/catalog/tables.h"

/* The argument of add_tiering_policy() after those that tier_policy_spread() takes. */
#define ADD_TIERING_POLICY_DRY_RUN 8

/*
 * Arguments of calls about policies.  First the arguments that identify the policy, as in
 * remove_policy(), then its properties, and then the other arguments for adding or altering a
 * policy.
 */
enum
{
	POLICY_RELATION,
	POLICY_OF_TIER,
	POLICY_ID,
	POLICY_TIER,
	POLICY_HIGH,				/* of fullness policies, whose target is
								 * POLICY_TIER */
	POLICY_LOW,
	POLICY_PROPERTIES,			/* as tier_policy_properties; the first three
								 * are arguments of add_tiering_policy() */
	POLICY_MOVE_AFTER = POLICY_PROPERTIES,
	POLICY_INDEX_TIER,
	POLICY_IDLE_FOR,
	POLICY_ENABLED = POLICY_PROPERTIES + TIER_POLICY_PROPERTIES,
	POLICY_IF_EXISTS,
	POLICY_IN_SCHEMA,
	POLICY_ON_SHARDS,
	POLICY_IF_NOT_EXISTS,
	POLICY_ARGUMENTS
};

/*
 * Returns true if the call changes more than enabled to false.  Raises an error if it changes no
 * property of a policy of that kind.
 */
extern bool tier_policy_changes(FunctionCallInfo call, const List *unset, const char *kind);

/* No policy of that kind matches the call: a NOTICE or an error. */
extern void tier_policy_complain_of_none(FunctionCallInfo call, const char *kind, bool if_exists);

/* Makes the call, which has room for POLICY_ARGUMENTS, of one of add_tiering_policy(). */
extern void tier_policy_spread(FunctionCallInfo fcinfo, FunctionCallInfo call);

/*
 * The policy that the call asks for, well-formed, on a relation that can have it, and such as
 * the caller may have it; it is not stored.  Also the tiers, by which this was decided.
 */
extern void tier_policy_prepare(FunctionCallInfo call, TierPolicyRow *policy, TierSet **set);

/* Stores it.  Returns its number; *existed: there was such a policy, which is an error or not. */
extern int	tier_policy_store(FunctionCallInfo call, const TierPolicyRow *policy,
							  const TierSet *set, bool *existed);

/*
 * Alters the policies that the call names; returns how many.  *changed has copies (TierPolicyRow)
 * of the tiering policies that may cause new moves now; *set the tiers by which this was decided.
 */
extern Datum tier_policy_alter_call(FunctionCallInfo fcinfo, List **changed, TierSet **set);
extern Datum tier_policy_alter(FunctionCallInfo fcinfo, const List *unset, List **changed,
							   TierSet **set);
extern Datum tier_policy_remove(FunctionCallInfo fcinfo);
extern Datum tier_fullness_alter(FunctionCallInfo fcinfo, const List *unset);
extern Datum tier_fullness_remove(FunctionCallInfo fcinfo);

#endif
