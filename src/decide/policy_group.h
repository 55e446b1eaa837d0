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
 * Finds the group of each policy that is on one, from the present tables: permanent ones that are
 * not partitions, do not inherit, and belong neither to an extension nor to the system.  An
 * enabled policy on a table takes it, and the tables below it, from policies on its schema.  The
 * same, and on_shards, for each policy on a table whose rows are in shards of Citus: these are
 * looked for as Citus has placed them on this node, and are as near as that table.  Reads
 * catalogs without locks; needs an active snapshot.  In the current memory context.
 */
extern void tier_groups_find(TierPolicyRow *policies, int npolicies);

/*
 * The same for one leaf: a group has only the leaf and its ancestors, and only for these is known
 * which are taken.  Reads only their rows of the catalogs.
 */
extern void tier_groups_find_above(TierPolicyRow *policies, int npolicies, Oid leaf_oid);

/* Returns true if the policy is on several tables: on a group of them, or on shards. */
extern bool tier_policy_has_group(const TierPolicyRow *policy);

/*
 * OIDs, sorted, of the tables of such a policy: partitioned and other tables, materialized views;
 * partitions only if they are shards.  Like the functions below, an error if its group was not
 * found.
 */
extern const List *tier_group_tables(const TierPolicyRow *policy);

/* Returns true if the role of such a policy may have the relation moved. */
extern bool tier_group_allows(const TierPolicyRow *policy, const TierRelationInfo *info);

/* Returns true if a nearer policy decides about the relation. */
extern bool tier_group_is_taken(const TierPolicyRow *policy, Oid relation_oid);

/* The role that owns the schema. */
extern Oid	tier_group_schema_owner(Oid schema_oid);

/* Returns true if the object of the policy exists, so that it can be evaluated. */
extern bool tier_policy_has_target(const TierPolicyRow *policy);

#endif							/* TIER_POLICY_GROUP_H */
