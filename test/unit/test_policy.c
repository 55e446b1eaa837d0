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
		tier_policy_evaluate(&p, 1, &one, &verdicts[0]);
		tier_policy_evaluate(&p, 1, &more, &verdicts[1]);
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
	TierPolicyVerdict verdict;

	ok(tier_policy_keep(100.0, NAN) == 50.0, "keep: half of the rate at which it returns");
	ok(tier_policy_keep(100.0, 20.0) == 20.0, "keep: as the policy says");
	conditions.keep_reads_per_hour = 50.0;
	p.use.reads_per_hour = 50.0;
	tier_policy_evaluate(&p, 1, &conditions, &verdict);
	ok(verdict == TIER_VERDICT_IN_USE, "keep: what is read does not leave");
	p.use.reads_per_hour = 49.9;
	tier_policy_evaluate(&p, 1, &conditions, &verdict);
	ok(verdict == TIER_VERDICT_DUE, "keep: what is read less does");
	p.use.reads_per_hour = NAN;
	tier_policy_evaluate(&p, 1, &conditions, &verdict);
	ok(verdict == TIER_VERDICT_IN_USE, "keep: a rate that is no number is not below");
}

#define DAYS 3
#define SLOTS (24 * DAYS)

/* As it is seen at the end of an hour: what was read in these hours, which lie on one axis. */
static TierReturnVerdict
seen_at(const double *hours, int until_hour)
{
	TierPolicyConditions conditions = {.has_keep = true,.keep_reads_per_hour = 50.0};
	TierPartitionUse use = {.reads_per_hour = 1000.0};
	double		slots[SLOTS];

	for (int i = 0; i < SLOTS; i++)
		slots[i] = hours[until_hour - i];
	return tier_policy_returns(&use, &conditions, slots, tier_policy_return_time(DAYS * 86400.0),
							   100.0);
}

#define AXIS (24 * 14)

/* What runs from one hour on, for so long. */
static void
run_for(double *hours, int from, int length, double rate)
{
	for (int h = from; h < from + length; h++)
		hours[h] = rate;
}

/* At how many of the moments of two weeks does it return? */
static int
moments(const double *hours)
{
	int			n = 0;

	for (int until = SLOTS - 1; until < AXIS; until++)
		n += seen_at(hours, until) == TIER_RETURN_YES;
	return n;
}

static void
test_returns(void)
{
	TierPolicyConditions conditions = {.has_keep = true,.keep_reads_per_hour = 50.0};
	TierPartitionUse use = {.reads_per_hour = 50.0};
	TierReturnTime three = tier_policy_return_time(3 * 86400.0);
	TierReturnTime none = {0, 0, 0};
	double		hours[AXIS];
	double		slots[SLOTS];

	ok(three.nparts == 3 && three.nslots == 24 && three.least_slots == 5 &&
	   tier_policy_return_time(86401.0).nparts == 2 && tier_policy_return_time(60.0).nparts == 1 &&
	   tier_policy_return_time(60.0).nslots == 1 && tier_policy_return_time(0.0).nslots == 1,
	   "returns: no part is longer than a day, and no slot longer than an hour");
	ok(tier_policy_return_time(60.0).least_slots == 1 &&
	   tier_policy_return_time(43200.0).least_slots == 3 &&
	   tier_policy_return_time(7200.0).least_slots == 2,
	   "returns: one more than a sixth of the slots");
	run_for(slots, 0, SLOTS, 100.0);
	ok(tier_policy_returns(&use, &conditions, slots, three, 100.0) == TIER_RETURN_YES,
	   "returns: it has held");
	run_for(slots, 24, 24, 99.9);
	ok(tier_policy_returns(&use, &conditions, slots, three, 100.0) == TIER_RETURN_NO,
	   "returns: not after a break");
	run_for(slots, 24, 24, 100.0);
	slots[30] = NAN;
	ok(tier_policy_returns(&use, &conditions, slots, three, 100.0) == TIER_RETURN_NO,
	   "returns: no number");
	slots[30] = 100.0;
	ok(tier_policy_returns(&use, &conditions, slots, none, 100.0) == TIER_RETURN_NO,
	   "returns: nothing is known");
	use.reads_per_hour = 49.9;
	ok(tier_policy_returns(&use, &conditions, slots, three, 100.0) == TIER_RETURN_NO,
	   "returns: not at a rate at which it leaves");

	/* Whoever works on three days in a row. */
	memset(hours, 0, sizeof(hours));
	for (int day = 5; day < 8; day++)
		run_for(hours, day * 24 + 8, 9, 290.0);
	ok(moments(hours) >= 6, "returns: three working days");
	memset(hours, 0, sizeof(hours));
	for (int day = 5; day < 8; day++)
		run_for(hours, day * 24 + 8, 5, 600.0);
	ok(moments(hours) >= 4, "returns: three mornings");
}

/* However much they read, and whenever somebody looks. */
static void
test_reports(void)
{
	double		hours[AXIS];
	int			one = 0;
	int			two = 0;
	int			nights = 0;
	int			short_ones = 0;

	for (int length = 1; length <= 48; length++)
	{
		memset(hours, 0, sizeof(hours));
		run_for(hours, 120, length, 1e6);
		one += moments(hours);
	}
	ok(one == 0, "reports: one that runs for two days at most");

	/* The first and the last hour of it are read in part only. */
	memset(hours, 0, sizeof(hours));
	run_for(hours, 120, 48, 1e6);
	hours[119] = hours[168] = 500.0;
	ok(moments(hours) > 0, "reports: one of more than two days is use");
	for (int apart = 1; apart < 200; apart++)
	{
		memset(hours, 0, sizeof(hours));
		hours[120] = hours[120 + apart] = 1e6;
		two += moments(hours);
	}
	ok(two == 0, "reports: two of an hour, however far apart");
	for (int apart = 1; apart <= 3; apart++)
		for (int length = 1; length <= 12; length++)
		{
			memset(hours, 0, sizeof(hours));
			run_for(hours, 120, length, 1e6);
			run_for(hours, 120 + apart * 24, length, 1e6);
			nights += moments(hours);
		}
	ok(nights == 0, "reports: two nights of half a day");

	/*
	 * Of what begins within an hour, the first and the last one have the
	 * rest.
	 */
	for (int length = 1; length < 5; length++)
	{
		memset(hours, 0, sizeof(hours));
		for (int day = 2; day < 13; day++)
			run_for(hours, day * 24 + 1, length, 1e6);
		short_ones += moments(hours);
	}
	ok(short_ones == 0, "reports: one of three hours each night, wherever the hours are cut");
}

/* Nothing leaves and returns at once, or the two would take turns. */
static void
test_exclusive(void)
{
	int			due = 0;
	int			returning = 0;
	int			both = 0;

	for (int i = 0; i < 20000; i++)
	{
		double		rate = 1.0 + random_int(100);
		double		below = random_int(2) ? NAN : rate * random_unit();
		TierReturnTime two = {2, 1, 1};
		double		held[2] = {200.0 * random_unit(), 200.0 * random_unit()};
		TierPolicyConditions conditions = {.has_age = true,.age_us = 100,.has_keep = true};
		TierPartition p = {.upper_kind = TIER_BOUND_FINITE,.upper_us = random_int(150)};
		TierPolicyVerdict verdict;
		bool		returns;

		conditions.keep_reads_per_hour = tier_policy_keep(rate, below);
		p.use.reads_per_hour = 200.0 * random_unit();
		tier_policy_evaluate(&p, 1, &conditions, &verdict);
		returns = tier_policy_returns(&p.use, &conditions, held, two, rate) != TIER_RETURN_NO;
		due += verdict == TIER_VERDICT_DUE;
		returning += returns;
		both += verdict == TIER_VERDICT_DUE && returns;
	}
	ok(due > 100 && returning > 100 && both == 0, "returns: never what is due");
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
	test_returns();
	test_reports();
	test_exclusive();
	return done();
}
