/*-------------------------------------------------------------------------
 *
 * decide/policy_shards.h
 *		What is said of a tiering policy on tables whose rows are in shards of Citus.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_SHARDS_H
#define TIER_POLICY_SHARDS_H

#include "postgres.h"

#include "src/catalog/tables.h"

/*
 * The statement that makes the same policy for the shards on all nodes, with all that was
 * given; NULL: the table is gone.
 */
extern char *tier_policy_statement_for_shards(const TierPolicyRow *policy, bool has_time_zone,
											  bool if_not_exists);

/* A policy on several tables leaves those out that are empty, as their rows are in shards. */
extern void tier_policy_notice_shells(const TierPolicyRow *policy);

#endif							/* TIER_POLICY_SHARDS_H */
