/*-------------------------------------------------------------------------
 *
 * decide/policy_group.h
 *		Which tables a policy on a schema, or on a pattern of names, is on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_GROUP_H
#define TIER_POLICY_GROUP_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/hsearch.h"

#include "src/catalog/tables.h"
#include "src/server/relation.h"

typedef struct TierGroup
{
	List	   *tables;			/* OIDs, sorted: partitioned and other tables,
								 * materialized views; no partitions */
	HTAB	   *taken;			/* by OID: what a nearer policy is on, of them
								 * or below */
	bool		is_administrator;	/* the role of the policy */
} TierGroup;

/*
 * Finds the group of each policy that is on one, as there are tables now: permanent ones,
 * that are no partitions, belong to no extension and are not the system's.  The nearest
 * policy takes a table, with its partitions and what inherits from it: an enabled one on
 * the table or on a table above it; then those on a pattern of names; then those on a schema
 * alone.  What the role of a policy has no right on it does not take.  Reads catalogs
 * without locks; an active snapshot.  In the current memory context.
 */
extern void tier_groups_find(TierPolicyRow *policies, int npolicies);

/* May the role of the policy, which is on a group, have it moved? */
extern bool tier_group_allows(const TierPolicyRow *policy, const TierRelationInfo *info);

/* Does a nearer policy decide about it? */
extern bool tier_group_is_taken(const TierPolicyRow *policy, Oid relation_oid);

/* The role that owns the schema. */
extern Oid	tier_group_schema_owner(Oid schema_oid);

/*
 * Does the policy mean anything that is there, so that it can be evaluated?
 */
extern bool tier_policy_has_target(const TierPolicyRow *policy);

#endif							/* TIER_POLICY_GROUP_H */
