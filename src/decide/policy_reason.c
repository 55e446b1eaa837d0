/*-------------------------------------------------------------------------
 *
 * decide/policy_reason.c
 *		Why a partition is due under a policy, or not, in words.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "src/base/sql.h"
#include "src/decide/partition.h"

static char *
time_text(int64 us)
{
	char		buffer[MAXDATELEN + 1];
	struct pg_tm tm;
	fsec_t		fraction;
	int			zone;
	const char *zone_name;

	if (TIMESTAMP_IS_NOBEGIN(us))
		return pstrdup("all times");

	/* ISO, whatever DateStyle a session or the server has. */
	if (timestamp2tm(us, &zone, &tm, &fraction, &zone_name, NULL) != 0)
		return pstrdup("?");
	EncodeDateTime(&tm, fraction, true, zone, zone_name, USE_ISO_DATES, buffer);
	return pstrdup(buffer);
}

/* Of what depends on now, to the second. */
static char *
second_text(int64 us)
{
	int64		rest = us % USECS_PER_SEC;

	if (rest < 0)
		rest += USECS_PER_SEC;
	return time_text(TIMESTAMP_NOT_FINITE(us) ? us : us - rest);
}

static char *
interval_text(const Interval *interval)
{
	return DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(interval)));
}

/* The last time that it was read or written, of what counts for the policy; false: never. */
static bool
last_use(const TierPartitionUse *use, const TierPolicyRow *policy, int64 *us)
{
	bool		counts_reads = policy->has_idle_for;
	bool		was_used = (counts_reads && use->was_read) || use->was_written;

	if (!was_used)
		return false;
	if (!counts_reads || !use->was_read)
		*us = use->last_written_us;
	else
		*us = use->was_written ? Max(use->last_read_us, use->last_written_us) :
			use->last_read_us;
	return true;
}

/* The conditions of the policy on use, and that they hold. */
static void
append_idle_reason(StringInfo buffer, const TierPartitionUse *use, const TierPolicyRow *policy)
{
	const char *separator = buffer->len > 0 ? "; " : "";

	if (policy->has_idle_for)
		appendStringInfo(buffer, "%snot used for %s", separator,
						 interval_text(&policy->idle_for));
	else if (policy->has_no_writes_for)
		appendStringInfo(buffer, "%snot written for %s", separator,
						 interval_text(&policy->no_writes_for));
	if (policy->has_idle_for || policy->has_no_writes_for)
	{
		int64		us;

		if (last_use(use, policy, &us))
			appendStringInfo(buffer, ", last at %s", time_text(us));
		else
			appendStringInfo(buffer, ", since it is observed (%s)",
							 time_text(policy->has_idle_for ?
									   Max(use->reads_known_since_us,
										   use->writes_known_since_us) :
									   use->writes_known_since_us));
	}
	if (!isnan(policy->below_reads_per_hour))
		appendStringInfo(buffer, "%s%.1f reads per hour, below %s", buffer->len > 0 ? "; " : "",
						 use->reads_per_hour, tier_given_text(policy->below_reads_per_hour));
}

static char *
due_reason(const TierEvaluation *evaluation, const TierLeaf *leaf)
{
	const TierPolicyRow *policy = evaluation->policy;
	StringInfoData buffer;

	initStringInfo(&buffer);
	if (policy->has_move_after)
		appendStringInfo(&buffer, "all rows are before %s, that is more than %s before now (%s)",
						 time_text(leaf->partition.upper_us), interval_text(&policy->move_after),
						 second_text(evaluation->now));
	append_idle_reason(&buffer, &leaf->partition.use, policy);
	if (tier_relation_why_not_online(&leaf->info) != NULL)
		appendStringInfo(&buffer, "; but it cannot be moved online: %s",
						 tier_relation_why_not_online(&leaf->info));
	return buffer.data;
}

/* A load of older data takes less time than this. */
#define LONGEST_LOAD_US USECS_PER_DAY

/*
 * The data of a restore may have been written years ago, or in the last hour; the statistics do
 * not distinguish these.  So it counts as written, and the reason mentions the possible restore.
 */
static char *
written_reason(const TierPartitionUse *use, const Interval *interval)
{
	const char *load = use->last_written_us - use->first_seen_us > LONGEST_LOAD_US ? "" :
	psprintf("; rows loaded before the first sample (%s) count as written then",
			 time_text(use->first_seen_us));

	return psprintf("last written at %s, less than %s ago%s", time_text(use->last_written_us),
					interval_text(interval), load);
}

static char *
in_use_reason(const TierPartitionUse *use, const TierEvaluation *evaluation)
{
	const TierPolicyRow *policy = evaluation->policy;
	const TierPolicyConditions *conditions = &evaluation->conditions;

	if (use->is_held)
		return pstrdup("a transaction has it locked, and may be using it");
	if (use->may_be_hidden)
		return psprintf("a statement that commits has been running since %s, and may be "
						"using it", time_text(evaluation->uses->hiding_since));
	if (conditions->has_idle && use->was_read && use->last_read_us > conditions->idle_us)
		return psprintf("last read at %s, less than %s ago", time_text(use->last_read_us),
						interval_text(&policy->idle_for));
	if (conditions->has_idle && use->was_written && use->last_written_us > conditions->idle_us)
		return written_reason(use, &policy->idle_for);
	if (conditions->has_no_writes && use->was_written &&
		use->last_written_us > conditions->no_writes_us)
		return written_reason(use, &policy->no_writes_for);
	if (conditions->has_reads && !(use->reads_per_hour < conditions->below_reads_per_hour))
		return psprintf("%.1f reads per hour, not below %s", use->reads_per_hour,
						tier_given_text(policy->below_reads_per_hour));
	return psprintf("%.1f reads per hour, not below %s, half of those at which it returns",
					use->reads_per_hour, tier_given_text(conditions->keep_reads_per_hour));
}

static char *
not_observed_reason(const TierPartitionUse *use, const TierEvaluation *evaluation)
{
	const TierPolicyRow *policy = evaluation->policy;
	const TierPolicyConditions *conditions = &evaluation->conditions;
	const TierUses *uses = evaluation->uses;
	int64		known_us = Max(use->reads_known_since_us, use->writes_known_since_us);

	if (uses->uncounted != NULL)
		return psprintf("activity of %s is not counted, as track_counts is off",
						uses->uncounted);
	if (!use->is_observed)
		return pstrdup(uses->silent_standby != NULL ? uses->silent_standby :
					   "not sampled yet");
	if (conditions->has_idle && known_us > conditions->idle_us)
		return psprintf("observed since %s only, idle_for is %s", time_text(known_us),
						interval_text(&policy->idle_for));
	if (conditions->has_no_writes && use->writes_known_since_us > conditions->no_writes_us)
		return psprintf("observed since %s only, no_writes_for is %s",
						time_text(use->writes_known_since_us),
						interval_text(&policy->no_writes_for));
	return psprintf("observed since %s only, tiered_storage.observation_period is %s",
					time_text(use->rate_known_since_us),
					GetConfigOptionByName("tiered_storage.observation_period", NULL, false));
}

/* Of verdicts that no number has decided. */
static const char *const plain_reasons[] = {
	[TIER_VERDICT_ON_TARGET] = "already on the policy's tier",
	[TIER_VERDICT_ON_SLOWER_TIER] = "already on a slower tier",
	[TIER_VERDICT_DEFAULT_PARTITION] = "default partition, its rows may have any age",
	[TIER_VERDICT_OPEN_BOUND] = "no upper bound that is a time: new rows may arrive",
	[TIER_VERDICT_FOREIGN] = "foreign table, stored elsewhere",
	[TIER_VERDICT_TEMPORARY] = "temporary table, belongs to its session",
	[TIER_VERDICT_NO_AGE] = "its table is not partitioned by a time",
};

char *
tier_policy_reason(const TierEvaluation *evaluation, const TierLeaf *leaf)
{
	const TierPolicyRow *policy = evaluation->policy;
	const TierPartition *partition = &leaf->partition;
	const char *role;

	switch (leaf->verdict)
	{
		case TIER_VERDICT_DUE:
			return due_reason(evaluation, leaf);
		case TIER_VERDICT_IN_USE:
			return in_use_reason(&partition->use, evaluation);
		case TIER_VERDICT_NOT_OBSERVED:
			return not_observed_reason(&partition->use, evaluation);
		case TIER_VERDICT_TOO_YOUNG:
			return psprintf("may hold rows up to %s, but only rows before %s, %s before now, "
							"are due", time_text(partition->upper_us),
							second_text(evaluation->conditions.age_us),
							interval_text(&policy->move_after));
		case TIER_VERDICT_IMMOVABLE:
			return psprintf("it cannot be moved: %s", leaf->immovable);
		case TIER_VERDICT_PINNED:
			return psprintf("%s is pinned to %s", leaf->pinned->pinned_as,
							NameStr(leaf->pinned->tier_name));
		case TIER_VERDICT_NO_RIGHT:
			role = OidIsValid(policy->created_by) ?
				GetUserNameFromId(policy->created_by, true) : NULL;
			return role == NULL ? pstrdup("the role of the policy no longer exists") :
				psprintf("role %s, whose rights the policy needs, does not own it", role);
		default:
			return pstrdup(plain_reasons[leaf->verdict]);
	}
}
