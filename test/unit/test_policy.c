/*-------------------------------------------------------------------------
 *
 * test/unit/test_policy.c
 *		Idleness and heat in policies: what was not seen where nobody looked is
 *		not idle.  Prints TAP; run it by test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "src/model/policy.h"
#include "tap.h"

/* Observed since the beginning, and never used. */
static TierPartitionUse
unused(void)
{
	TierPartitionUse use = {.is_observed = true};

	use.reads_known_since_us = use.writes_known_since_us = use.rate_known_since_us = 0;
	return use;
}

static const TierPolicyConditions idle = {.has_idle = true,.idle_us = 100};
static const TierPolicyConditions no_writes = {.has_no_writes = true,.no_writes_us = 100};
static const TierPolicyConditions cold =
{.has_reads = true,.below_reads_per_hour = 5.0,.rate_us = 100};

static void
test_idle(void)
{
	TierPartitionUse use = unused();

	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_DUE, "idle: never used");
	use.was_read = true;
	use.last_read_us = 100;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_DUE, "idle: read at the instant");
	use.last_read_us = 101;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_IN_USE, "idle: read after it");
	ok(tier_policy_judge_use(&use, &no_writes) == TIER_VERDICT_DUE, "no writes: never");
	use = unused();
	use.was_written = true;
	use.last_written_us = 101;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_IN_USE, "idle: written after it");
	ok(tier_policy_judge_use(&use, &no_writes) == TIER_VERDICT_IN_USE, "no writes: written");
	use.last_written_us = 100;
	ok(tier_policy_judge_use(&use, &no_writes) == TIER_VERDICT_DUE, "no writes: at the instant");
}

static void
test_not_observed(void)
{
	TierPartitionUse use = unused();

	use.reads_known_since_us = 100;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_DUE, "observed: just long enough");
	use.reads_known_since_us = 101;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_NOT_OBSERVED, "observed: reads");
	ok(tier_policy_judge_use(&use, &no_writes) == TIER_VERDICT_DUE,
	   "observed: that of reads does not matter to writes");
	use = unused();
	use.writes_known_since_us = 101;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_NOT_OBSERVED, "observed: writes");
	ok(tier_policy_judge_use(&use, &no_writes) == TIER_VERDICT_NOT_OBSERVED,
	   "observed: nor for writes alone");
	use.was_read = true;
	use.last_read_us = 200;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_IN_USE,
	   "observed: what was seen counts, however short the time");
	use = unused();
	use.is_observed = false;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_NOT_OBSERVED &&
	   tier_policy_judge_use(&use, &no_writes) == TIER_VERDICT_NOT_OBSERVED &&
	   tier_policy_judge_use(&use, &cold) == TIER_VERDICT_NOT_OBSERVED, "observed: not at all");
}

static void
test_cold(void)
{
	TierPartitionUse use = unused();

	use.reads_per_hour = 4.9;
	ok(tier_policy_judge_use(&use, &cold) == TIER_VERDICT_DUE, "cold: below");
	use.reads_per_hour = 5.0;
	ok(tier_policy_judge_use(&use, &cold) == TIER_VERDICT_IN_USE, "cold: not below");
	use.reads_per_hour = NAN;
	ok(tier_policy_judge_use(&use, &cold) == TIER_VERDICT_IN_USE, "cold: no number is not below");
	use.reads_per_hour = 0.0;
	use.rate_known_since_us = 101;
	ok(tier_policy_judge_use(&use, &cold) == TIER_VERDICT_NOT_OBSERVED, "cold: not known");
}

static void
test_held(void)
{
	TierPartitionUse use = unused();
	TierPolicyConditions none = {.has_age = true,.age_us = 100};

	use.is_held = true;
	ok(tier_policy_judge_use(&use, &idle) == TIER_VERDICT_IN_USE &&
	   tier_policy_judge_use(&use, &no_writes) == TIER_VERDICT_IN_USE &&
	   tier_policy_judge_use(&use, &cold) == TIER_VERDICT_IN_USE, "held: in use");
	use.is_observed = false;
	ok(tier_policy_judge_use(&use, &none) == TIER_VERDICT_DUE, "use does not matter to age");
}

/* Whatever is added to the conditions, nothing that was not due becomes so. */
static void
test_all_of_them(void)
{
	int			widened = 0;
	int			due = 0;

	for (int i = 0; i < 20000; i++)
	{
		TierPartition p = {.upper_us = random_int(200),.is_foreign = random_int(20) == 0};
		TierPolicyConditions one = {0};
		TierPolicyConditions more;
		TierPolicyVerdict verdicts[2];

		p.upper_kind = random_int(8) == 0 ? TIER_BOUND_OPEN : TIER_BOUND_FINITE;
		p.use = (TierPartitionUse)
		{
			.is_observed = random_int(8) != 0,.reads_known_since_us = random_int(120),
				.writes_known_since_us = random_int(120),.rate_known_since_us = random_int(120),
				.was_read = random_int(2),.last_read_us = random_int(200),
				.was_written = random_int(2),.last_written_us = random_int(200),
				.reads_per_hour = 10.0 * random_unit(),.is_held = random_int(20) == 0
		};
		one.has_age = random_int(2);
		one.has_idle = random_int(2);
		one.has_no_writes = random_int(2);
		one.has_reads = random_int(2);
		one.age_us = one.idle_us = one.no_writes_us = one.rate_us = 100;
		one.below_reads_per_hour = 5.0;
		more = one;
		more.has_age |= random_int(2);
		more.has_idle |= random_int(2);
		more.has_no_writes |= random_int(2);
		more.has_reads |= random_int(2);
		verdicts[0] = tier_policy_evaluate(&p, &one);
		verdicts[1] = tier_policy_evaluate(&p, &more);
		due += verdicts[1] == TIER_VERDICT_DUE;
		widened += verdicts[1] == TIER_VERDICT_DUE && verdicts[0] != TIER_VERDICT_DUE;
	}
	ok(due > 100 && widened == 0, "all conditions together: a further one makes nothing due");
}

static void
test_keep(void)
{
	TierPolicyConditions conditions = {.has_age = true,.age_us = 100,.has_keep = true};
	TierPartition p = {.upper_kind = TIER_BOUND_FINITE,.upper_us = 50};

	ok(tier_policy_keep(100.0, NAN) == 50.0, "keep: half of the rate at which it returns");
	ok(tier_policy_keep(100.0, 20.0) == 20.0, "keep: as the policy says");
	conditions.keep_reads_per_hour = 50.0;
	p.use.reads_per_hour = 50.0;
	ok(tier_policy_evaluate(&p, &conditions) == TIER_VERDICT_IN_USE,
	   "keep: what is read does not leave");
	p.use.reads_per_hour = 49.9;
	ok(tier_policy_evaluate(&p, &conditions) == TIER_VERDICT_DUE, "keep: what is read less does");
	p.use.reads_per_hour = NAN;
	ok(tier_policy_evaluate(&p, &conditions) == TIER_VERDICT_IN_USE,
	   "keep: a rate that is no number is not below");
}

int
main(void)
{
	test_idle();
	test_not_observed();
	test_cold();
	test_held();
	test_all_of_them();
	test_keep();
	return done();
}
