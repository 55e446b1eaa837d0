/*-------------------------------------------------------------------------
 *
 * model/policy.c
 *		Which partitions are due under an age policy, and why.
 *
 * Every decision rests on the upper bound of a partition alone: what is in
 * the partition is older than its upper bound, because PostgreSQL itself
 * enforces that.  No row is looked at, and no partition without a finite
 * upper bound is ever due.
 *
 * This file knows neither catalogs nor the present time; it only compares
 * times, so no value can overflow.
 *
 *-------------------------------------------------------------------------
 */
#include <stddef.h>

#include "src/model/policy.h"

/*
 * The latest instant of which this partition is evidence; false where it is
 * evidence of none.  A foreign table holds no blocks here, so whether there
 * is a row in it is unknown.
 */
static bool
known_instant(const TierPartition *partition, int64_t *instant_us)
{
	if (partition->is_empty || partition->is_foreign)
		return false;
	if (partition->lower_kind == TIER_BOUND_NONE ||
		partition->upper_kind == TIER_BOUND_NONE)
		return false;

	if (partition->upper_kind == TIER_BOUND_FINITE)
	{
		*instant_us = partition->upper_us;
		return true;
	}
	if (partition->lower_kind == TIER_BOUND_FINITE)
	{
		*instant_us = partition->lower_us;
		return true;
	}
	return false;
}

bool
tier_policy_newest(const TierPartition *partitions, int n,
				   int64_t *reference_us)
{
	bool		found = false;
	int64_t		newest_us = 0;

	for (int i = 0; i < n; i++)
	{
		int64_t		instant_us;

		if (!known_instant(&partitions[i], &instant_us))
			continue;
		if (!found || instant_us > newest_us)
			newest_us = instant_us;
		found = true;
	}

	if (found)
		*reference_us = newest_us;
	return found;
}

static TierPolicyVerdict
evaluate_one(const TierPartition *partition, int64_t threshold_us)
{
	/* What can never be moved, whatever its age. */
	if (partition->is_foreign)
		return TIER_VERDICT_FOREIGN;
	if (partition->is_temporary)
		return TIER_VERDICT_TEMPORARY;

	/* What has no age. */
	if (partition->lower_kind == TIER_BOUND_NONE ||
		partition->upper_kind == TIER_BOUND_NONE)
		return TIER_VERDICT_DEFAULT_PARTITION;
	if (partition->upper_kind == TIER_BOUND_OPEN)
		return TIER_VERDICT_OPEN_BOUND;

	/* The upper bound is exclusive: equal to the threshold is old enough. */
	if (partition->upper_us > threshold_us)
		return TIER_VERDICT_TOO_YOUNG;

	/* What is old enough, but need not move. */
	if (partition->on_target)
		return TIER_VERDICT_ON_TARGET;
	if (partition->on_slower_tier)
		return TIER_VERDICT_ON_SLOWER_TIER;
	if (partition->pinned_elsewhere)
		return TIER_VERDICT_PINNED;

	return TIER_VERDICT_DUE;
}

void
tier_policy_evaluate(const TierPartition *partitions, int n,
					 int64_t threshold_us, TierPolicyVerdict *verdicts)
{
	for (int i = 0; i < n; i++)
		verdicts[i] = evaluate_one(&partitions[i], threshold_us);
}

const char *
tier_policy_verdict_text(TierPolicyVerdict verdict)
{
	switch (verdict)
	{
		case TIER_VERDICT_DUE:
			return "everything in it is older than the policy's age";
		case TIER_VERDICT_ON_TARGET:
			return "already on the policy's tier";
		case TIER_VERDICT_ON_SLOWER_TIER:
			return "already on a slower tier";
		case TIER_VERDICT_TOO_YOUNG:
			return "may hold rows that are younger than the policy's age";
		case TIER_VERDICT_DEFAULT_PARTITION:
			return "default partition, its rows may have any age";
		case TIER_VERDICT_OPEN_BOUND:
			return "no upper bound, new rows may arrive";
		case TIER_VERDICT_FOREIGN:
			return "foreign table, stored elsewhere";
		case TIER_VERDICT_TEMPORARY:
			return "temporary table, belongs to its session";
		case TIER_VERDICT_PINNED:
			return "pinned to another tier";
	}

	return "unknown verdict";
}
