/*-------------------------------------------------------------------------
 *
 * decide/policy_calls.h
 *		Calls about policies, with all arguments spelled out.
 *
 * What users call has the rarely used ones in an object, and alter_policy() and
 * remove_policy() are about both kinds of policies; decide/policy_calls.c spreads the
 * object and picks the kind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_CALLS_H
#define TIER_POLICY_CALLS_H

#include "postgres.h"

#include "fmgr.h"

#include "src/catalog/tables.h"

/* The argument of add_tiering_policy() behind what tier_policy_spread() takes. */
#define ADD_TIERING_POLICY_DRY_RUN 9

/* Arguments of tier_policy_prepare(); relation, move_after and tier are the first. */
enum
{
	ADD_INCLUDE_INDEXES = 3,
	ADD_AGE_FROM,
	ADD_KEY_UNIT,
	ADD_KEY_EPOCH,
	ADD_KEY_SHIFT,
	ADD_TIME_ZONE,
	ADD_IF_NOT_EXISTS,
	ADD_IDLE_FOR,				/* then no_writes_for, below_reads_per_hour */
	ADD_INDEX_TIER = ADD_IDLE_FOR + 3,
	ADD_IN_SCHEMA,
	ADD_NAMES_LIKE,
	ADD_RETURN,					/* return_when_reads_per_hour, _after, _tier */
	ADD_ON_SHARDS = ADD_RETURN + 3,
	ADD_END
};

/*
 * Arguments of tier_policy_alter(); relation, tier and policy_id, of which the first or the
 * last is given, are the first of it and of tier_policy_remove(), where if_exists follows.
 * ALTER_UNSET is an array of text without nulls.
 */
enum
{
	ALTER_ENABLED = 3,
	ALTER_MOVE_AFTER,
	ALTER_NEW_TIER,
	ALTER_INCLUDE_INDEXES,
	ALTER_AGE_FROM,
	ALTER_KEY_UNIT,
	ALTER_KEY_EPOCH,
	ALTER_KEY_SHIFT,
	ALTER_TIME_ZONE,
	ALTER_IF_EXISTS,
	ALTER_IDLE_FOR,				/* then no_writes_for, below_reads_per_hour */
	ALTER_INDEX_TIER = ALTER_IDLE_FOR + 3,
	ALTER_UNSET,
	ALTER_RETURN,				/* return_when_reads_per_hour, _after, _tier */
	ALTER_END = ALTER_RETURN + 3
};

/*
 * The same of tier_fullness_alter(); tier and policy_id, of which one is given, are the
 * first of it and of tier_fullness_remove(), where if_exists follows.
 */
enum
{
	ALTER_FULLNESS_ENABLED = 2,
	ALTER_FULLNESS_NEW_TARGET,
	ALTER_FULLNESS_HIGH,
	ALTER_FULLNESS_LOW,
	ALTER_FULLNESS_UNSET,
	ALTER_FULLNESS_IF_EXISTS,
	ALTER_FULLNESS_END
};

/* Makes the call, which has room for ADD_END arguments, of one of add_tiering_policy(). */
extern void tier_policy_spread(FunctionCallInfo fcinfo, FunctionCallInfo call);

/*
 * The policy that the call asks for, well-formed, on a relation that can have it, and such as
 * the caller may have it; it is not stored.  Also the tiers, by which this was decided.
 */
extern void tier_policy_prepare(FunctionCallInfo call, TierPolicyRow *policy, TierSet **set);

/* Stores it.  Returns its number; *existed: there was such a policy, which is an error or not. */
extern int	tier_policy_store(FunctionCallInfo call, const TierPolicyRow *policy,
							  const TierSet *set, bool *existed);

extern Datum tier_policy_alter(FunctionCallInfo fcinfo);
extern Datum tier_policy_remove(FunctionCallInfo fcinfo);
extern Datum tier_fullness_alter(FunctionCallInfo fcinfo);
extern Datum tier_fullness_remove(FunctionCallInfo fcinfo);

#endif
