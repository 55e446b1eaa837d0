/*-------------------------------------------------------------------------
 *
 * decide/policy_use.h
 *		The use of tables, for policies that ask for it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_USE_H
#define TIER_POLICY_USE_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/model/policy.h"
#include "src/observe/sample.h"

/* One table, with the relations that belong to it. */
typedef struct TierTableUse
{
	Oid			relation_oid;
	TierPartitionUse use;
	double		fast[2];		/* reads per hour: of the table, of its
								 * indexes */
	double		slow[2];
} TierTableUse;

/* Of all tables, each with its TOAST table and its indexes. */
typedef struct TierUses
{
	TierTableUse *tables;		/* by OID */
	int			ntables;
	const char *silent_standby; /* "standby sb1 has not told since ...", or
								 * NULL if all of them have reported */
	const char *uncounted;		/* whose use of this database the statistics
								 * do not count, or NULL */
	TimestampTz hiding_since;	/* since when a statement runs that may have
								 * used any table and hides it; 0: there is
								 * none */
	TimestampTz at;				/* when the use was looked at; 0: it was not */
} TierUses;

/* For callers without a policy that asks for use. */
extern const TierUses tier_no_uses;

/* Returns true if the policy has conditions other than the age. */
extern bool tier_policy_asks_for_use(const TierPolicyRow *policy);

/*
 * From the counters of a look, and the reports of standbys, as of now.  Result in the current
 * memory context.
 */
extern TierUses *tier_uses_create(const TierSampleView *view, const TierStandbyUse *standbys,
								  TimestampTz now);

/*
 * Loads the samples and looks at the counters since then, if an enabled or any other policy asks
 * for use, or lets tables return; else tier_no_uses.  Neither inside a scope nor without a
 * snapshot; changes nothing.
 */
extern const TierUses *tier_uses_load(const TierPolicyRow *policies, int npolicies);

/*
 * The use of one table or materialized view; the rate is that of all relations that move with it.
 */
extern TierPartitionUse tier_uses_find(const TierUses *uses, Oid relation_oid,
									   bool include_indexes);

/*
 * A number that changes as soon as any session has read or written the table; 0 if there is none.
 */
extern int64 tier_use_counter(Oid relation_oid);

/* Returns true if a transaction, which may be using it, has a lock on it. */
extern bool tier_use_is_held(Oid relation_oid);

#endif							/* TIER_POLICY_USE_H */
