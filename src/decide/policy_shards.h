/*-------------------------------------------------------------------------
 *
 * decide/policy_shards.h
 *		Tiering policies and distributed tables of Citus.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_SHARDS_H
#define TIER_POLICY_SHARDS_H

#include "postgres.h"

#include "src/catalog/tables.h"

/* How to put a policy on the shards of a table. */
#define TIER_HINT_ON_SHARDS \
	"Use tiered_storage_citus.add_tiering_policy_on_all_nodes() of the extension " \
	"\"tiered_storage_citus\", or on_shards => true for the shards on this node."

/* Names the distributed tables that a policy on several tables leaves out, in a NOTICE. */
extern void tier_policy_notice_shells(const TierPolicyRow *policy);

#endif							/* TIER_POLICY_SHARDS_H */
