/*-------------------------------------------------------------------------
 *
 * decide/policy_group.h
 *		Which tables a policy on a schema is on; and which shards one on a table of Citus.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_GROUP_H
#define TIER_POLICY_GROUP_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "src/catalog/tables.h"
#include "src/server/relation.h"

/*
 * Finds the group of each policy that is on one, as there are tables now: permanent ones,
 * that are no partitions, inherit from nothing, belong to no extension and are not the
 * system's.  An enabled policy on a table takes it, and what is below it, from those on its
 * schema.  The same, and on_shards, of each policy on a table whose rows are in shards of Citus:
 * these are looked for as Citus has placed them on this node, and are as near as that table.
 * Reads catalogs without locks; an active snapshot.  In the current memory context.
 */
extern void tier_groups_find(TierPolicyRow *policies, int npolicies);

/*
 * The same of one leaf: a group has no other tables than the leaf and those above it, and
 * what is taken is known of the leaf alone.  Reads no more of the catalogs than of these.
 */
extern void tier_groups_find_above(TierPolicyRow *policies, int npolicies, Oid leaf_oid);

/* Is the policy on several tables: on a group of them, or on shards? */
extern bool tier_policy_has_group(const TierPolicyRow *policy);

/*
 * OIDs, sorted, of the tables of such a policy: partitioned and other tables,
 * materialized views; no partitions, unless they are shards.  As what follows, an error if its
 * group was not found.
 */
extern const List *tier_group_tables(const TierPolicyRow *policy);

/* May the role of such a policy have it moved? */
extern bool tier_group_allows(const TierPolicyRow *policy, const TierRelationInfo *info);

/* Does a nearer policy decide about it? */
extern bool tier_group_is_taken(const TierPolicyRow *policy, Oid relation_oid);

/* The role that owns the schema. */
extern Oid	tier_group_schema_owner(Oid schema_oid);

/* Does the policy mean anything that is there, so that it can be evaluated? */
extern bool tier_policy_has_target(const TierPolicyRow *policy);

#endif							/* TIER_POLICY_GROUP_H */
