/*-------------------------------------------------------------------------
 *
 * decide/policy_preview.c
 *		Previews a tiering policy that is about to be added or altered: whether its conditions
 *		can be true, and its effect.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_preview.h"
#include "src/decide/policy_return.h"

/* The calendar begins in 4714 BC. */
#define LONGEST_YEARS 6700.0

/* An infinite interval reaches back beyond the calendar, too. */
static void
check_interval(const char *argument, const Interval *interval)
{
	double		years = fabs(interval->month / 12.0) + fabs(interval->day / 365.0) +
	fabs((double) interval->time / USECS_PER_DAY / 365.0);

	if (years > LONGEST_YEARS || tier_interval_seconds(interval) < 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative or out of range",
						argument)));
}

/*
 * A session reports its use up to a minute later (PGSTAT_MAX_INTERVAL of the server): idleness
 * for less than that is not known.  '1 mon -29 days' is two days in March, and minus one in
 * February.
 */
static void
check_idle_interval(const char *argument, const Interval *interval)
{
	check_interval(argument, interval);
	if (interval->month < 0 || interval->day < 0 || interval->time < 0 ||
		tier_interval_seconds(interval) < SECS_PER_MINUTE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least a minute, without a negative part", argument),
				 errdetail("Activity of a session can appear in the statistics of the "
						   "server up to a minute late.")));
}

/* A relation must return at a rate at which it does not leave again. */
static void
check_return(const TierPolicyRow *policy)
{
	if (isnan(policy->return_when_reads_per_hour))
	{
		if (policy->has_return_after || policy->has_return_tier)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("return_after and return_tier require return_when_reads_per_hour"),
					 errhint("Specify return_when_reads_per_hour, or omit them.")));
		return;
	}
	if (policy->return_when_reads_per_hour <= policy->below_reads_per_hour)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("return_when_reads_per_hour must be above below_reads_per_hour"),
				 errdetail("A relation that returns at %s reads per hour would leave "
						   "again below %s.",
						   tier_given_text(policy->return_when_reads_per_hour),
						   tier_given_text(policy->below_reads_per_hour))));
	if (policy->has_return_after &&
		(tier_policy_return_seconds(policy) > TIER_LONGEST_RETURN_AFTER_S ||
		 tier_policy_return_seconds(policy) < SECS_PER_MINUTE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("return_after must be between a minute and a year")));
}

void
tier_policy_check_conditions(const TierPolicyRow *policy)
{
	if (!policy->has_move_after && !tier_policy_asks_for_use(policy))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the tiering policy has no condition"),
				 errdetail("It would move everything at once."),
				 errhint("Specify at least one of move_after, idle_for, no_writes_for and "
						 "below_reads_per_hour. A relation must meet all of them.")));
	if (policy->has_move_after)
		check_interval("move_after", &policy->move_after);
	else if (policy->key_unit != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key_unit requires move_after"),
				 errhint("Specify move_after, or omit it.")));
	if (policy->has_index_tier && !policy->include_indexes)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index_tier requires include_indexes"),
				 errhint("Omit it, or set include_indexes to true in options.")));
	if (policy->has_idle_for)
		check_idle_interval("idle_for", &policy->idle_for);
	if (policy->has_no_writes_for)
		check_idle_interval("no_writes_for", &policy->no_writes_for);
	check_return(policy);
}

TierEvaluation *
tier_policy_preview(const TierPolicyRow *policy, const TierSet *set)
{
	MemoryContext context = CurrentMemoryContext;
	TierEvaluation *evaluation;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	TierPins   *pins;
	int			n;
	int			own = 0;

	tier_catalog_enter(&scope);
	policies = tier_catalog_load_policies(context, &n);
	pins = tier_catalog_load_pins(context);
	tier_catalog_leave(&scope);
	while (own < n && policies[own].policy_id != policy->policy_id)
		own++;
	if (own == n)
		policies = repalloc_huge(policies, sizeof(TierPolicyRow) * ++n);
	policies[own] = *policy;
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_groups_find(policies, n);
	evaluation = tier_partition_evaluate(&policies[own], set, pins,
										 tier_uses_load(&policies[own], 1), tier_clock_now());
	PopActiveSnapshot();
	return evaluation;
}

void
tier_policy_warn_due(Oid relation_oid, const TierSet *set, const TierPins *pins)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			table_oid = IndexGetRelation(relation_oid, true);
	Oid			leaf_oid = OidIsValid(table_oid) ? table_oid : relation_oid;
	const TierEvaluation *due = NULL;
	const TierUses *uses;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	int			n;

	if (!tier_catalog_try_enter(&scope))
		return;
	policies = tier_catalog_load_policies(context, &n);
	tier_catalog_leave(&scope);
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_groups_find_above(policies, n, leaf_oid);
	uses = tier_uses_load(policies, n);
	for (int i = 0; i < n; i++)
	{
		TierEvaluation *evaluation;
		const TierLeaf *leaf = tier_partition_evaluate_leaf(&policies[i], set, pins, uses,
															tier_clock_now(), leaf_oid,
															&evaluation);

		if (leaf != NULL && policies[i].is_enabled && leaf->verdict == TIER_VERDICT_DUE &&
			list_member_oid(leaf->pending, relation_oid) &&
			(due == NULL || evaluation->to_tier > due->to_tier))
			due = evaluation;
	}
	PopActiveSnapshot();
	if (due != NULL)
		ereport(WARNING,
				(errmsg("policy %d moves %s to tier \"%s\" in the next run",
						due->policy->policy_id, due->leaves[0].info.name,
						NameStr(set->tiers[tier_partition_target(due, &due->leaves[0],
																 relation_oid)].name)),
				 errhint("tiered_storage.pin() keeps it where it is.")));
}

/* On no tier, on a faster one, or on the target, if a new one may be created on a faster one. */
static bool
is_above(int from_tier, int to_tier)
{
	return from_tier < to_tier || (from_tier == to_tier && to_tier > 0);
}

/* Returns true if a part of it, or a relation created for it, can be above its target. */
static bool
may_move(const TierPolicyRow *policy, const TierEvaluation *evaluation, const TierSet *set)
{
	TierRelationInfo info;

	/* Tables of a group come and go, and are created anywhere. */
	if (tier_policy_has_group(policy) || !tier_relation_lookup(policy->relation_oid, &info) ||
		is_above(tier_set_tier_of_tablespace(set, info.tablespace_oid), evaluation->to_tier))
		return true;
	for (int i = 0; i < evaluation->nleaves; i++)
		if (is_above(evaluation->leaves[i].from_tier, evaluation->to_tier))
			return true;
	return false;
}

void
tier_policy_refuse(const TierPolicyRow *policy, const TierEvaluation *evaluation,
				   const TierSet *set)
{
	int			tier = tier_set_find_tier(set, NameStr(policy->tier_name));

	if (tier < 0 || !set->tiers[tier].is_object_store)
		tier = policy->has_index_tier ? tier_set_find_tier(set, NameStr(policy->index_tier)) : -1;
	if (tier >= 0 && set->tiers[tier].is_object_store && !policy->has_no_writes_for)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a tiering policy for an object store needs no_writes_for"),
				 errdetail("Tier \"%s\" takes only tables without writes.",
						   NameStr(set->tiers[tier].name)),
				 errhint("Add options => '{\"no_writes_for\": \"7 days\"}', for example.")));
	if (evaluation == NULL || evaluation->error != NULL || may_move(policy, evaluation, set))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("tier \"%s\" is not slower than the tiers of %s", NameStr(policy->tier_name),
					policy->relation_name),
			 errdetail("A tiering policy moves relations to slower tiers."),
			 errhint("tiered_storage.apply_placement() moves frequently read relations to a "
					 "faster tier. A policy for a slower tier with return_when_reads_per_hour "
					 "moves its relations back.")));
}

TimestampTz
tier_policy_first_at(const TierPolicyRow *policy)
{
	TimestampTz at = policy->added_at + tier_migrate_interval_s * USECS_PER_SEC;

	return at + (USECS_PER_SEC - at % USECS_PER_SEC) % USECS_PER_SEC;
}
