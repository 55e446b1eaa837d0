/*-------------------------------------------------------------------------
 *
 * model/policy.c
 *		Decides which partitions are due under a policy, by age, idleness and heat; and why.
 *
 * Age rests on the upper bound of a partition alone: the rows of the partition are older than its
 * upper bound, because PostgreSQL itself enforces that.  No row is read, and a partition without
 * a finite upper bound is never of age.
 *
 * Idleness rests on observation.  A lack of counts proves idleness only for the observed time: a
 * partition that was not observed for the whole time is not idle.
 *
 * This file uses neither catalogs nor the present time; it only compares times, so no value can
 * overflow.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/policy.h"

TierPolicyVerdict
tier_policy_judge_use(const TierPartitionUse *use, const TierPolicyConditions *conditions)
{
	bool		asks = conditions->has_idle || conditions->has_no_writes || conditions->has_reads;

	if (!asks)
		return TIER_VERDICT_DUE;
	if (!use->is_observed)
		return TIER_VERDICT_NOT_OBSERVED;

	/* Observed use counts, however short the time. */
	if (use->is_held || use->may_be_hidden)
		return TIER_VERDICT_IN_USE;
	if (conditions->has_idle &&
		((use->was_read && use->last_read_us > conditions->idle_us) ||
		 (use->was_written && use->last_written_us > conditions->idle_us)))
		return TIER_VERDICT_IN_USE;
	if (conditions->has_no_writes && use->was_written &&
		use->last_written_us > conditions->no_writes_us)
		return TIER_VERDICT_IN_USE;

	/* A rate that is no number is not below anything. */
	if (conditions->has_reads && !(use->reads_per_hour < conditions->below_reads_per_hour))
		return TIER_VERDICT_IN_USE;

	if (conditions->has_idle && (use->reads_known_since_us > conditions->idle_us ||
								 use->writes_known_since_us > conditions->idle_us))
		return TIER_VERDICT_NOT_OBSERVED;
	if (conditions->has_no_writes && use->writes_known_since_us > conditions->no_writes_us)
		return TIER_VERDICT_NOT_OBSERVED;
	if (conditions->has_reads && use->rate_known_since_us > conditions->rate_us)
		return TIER_VERDICT_NOT_OBSERVED;
	return TIER_VERDICT_DUE;
}

/* Judges the age of the partition.  TIER_VERDICT_DUE: all rows are old enough. */
static TierPolicyVerdict
judge_age(const TierPartition *partition, int64_t age_us)
{
	if (partition->has_no_age)
		return TIER_VERDICT_NO_AGE;
	if (partition->lower_kind == TIER_BOUND_NONE ||
		partition->upper_kind == TIER_BOUND_NONE)
		return TIER_VERDICT_DEFAULT_PARTITION;
	if (partition->upper_kind == TIER_BOUND_OPEN)
		return TIER_VERDICT_OPEN_BOUND;

	/* The upper bound is exclusive: equal to the threshold is old enough. */
	if (partition->upper_us > age_us)
		return TIER_VERDICT_TOO_YOUNG;
	return TIER_VERDICT_DUE;
}

TierPolicyVerdict
tier_policy_evaluate(const TierPartition *partition, const TierPolicyConditions *conditions)
{
	TierPolicyVerdict verdict = TIER_VERDICT_DUE;

	/* Partitions that can never be moved, whatever their age. */
	if (partition->is_foreign)
		return TIER_VERDICT_FOREIGN;
	if (partition->is_temporary)
		return TIER_VERDICT_TEMPORARY;
	if (partition->is_immovable)
		return TIER_VERDICT_IMMOVABLE;
	if (partition->not_allowed)
		return TIER_VERDICT_NO_RIGHT;

	if (conditions->has_age)
		verdict = judge_age(partition, conditions->age_us);
	if (verdict == TIER_VERDICT_DUE)
		verdict = tier_policy_judge_use(&partition->use, conditions);
	if (verdict == TIER_VERDICT_DUE && conditions->has_keep &&
		!(partition->use.reads_per_hour < conditions->keep_reads_per_hour))
		verdict = TIER_VERDICT_IN_USE;
	if (verdict != TIER_VERDICT_DUE)
		return verdict;

	/* That for which all conditions hold, but that need not move. */
	if (partition->on_target)
		return TIER_VERDICT_ON_TARGET;
	if (partition->on_slower_tier)
		return TIER_VERDICT_ON_SLOWER_TIER;
	if (partition->pinned_elsewhere)
		return TIER_VERDICT_PINNED;

	return TIER_VERDICT_DUE;
}

double
tier_policy_keep(double return_reads_per_hour, double below_reads_per_hour)
{
	return isnan(below_reads_per_hour) ? return_reads_per_hour / 2.0 : below_reads_per_hour;
}
