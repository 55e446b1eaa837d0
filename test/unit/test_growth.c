/*-------------------------------------------------------------------------
 *
 * test_growth.c
 *		Tests of src/model/growth.c: what goes on growing.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "src/model/growth.h"
#include "tap.h"

#define MINUTE INT64_C(60000000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Any moment but 0, which is no time. */
#define START (1000 * DAY)

#define GB 1e9

static void
grow(TierEvidence *evidence, int64_t at, double bytes)
{
	tier_evidence_note(evidence, START, at, 300.0, 0.0, 0.0, bytes);
}

/* So many bytes a day, each hour, from the start on. */
static void
grow_steadily(TierEvidence *evidence, int days, double bytes_per_day)
{
	for (int64_t at = START + HOUR; at <= START + days * DAY; at += HOUR)
		grow(evidence, at, bytes_per_day / 24.0);
}

static bool
is_about(double value, double expected, double share)
{
	return fabs(value - expected) <= fabs(expected) * share;
}

static void
test_rate(void)
{
	TierEvidence evidence = {0};
	TierEvidence other = {0};

	ok(tier_growth_rate(&evidence, START) == 0.0, "nothing is known, nothing grows");

	grow_steadily(&evidence, 10, 24.0 * GB);
	ok(is_about(tier_growth_rate(&evidence, START + 10 * DAY), GB, 0.1),
	   "steady growth: %g", tier_growth_rate(&evidence, START + 10 * DAY));
	ok(is_about(tier_growth_rate(&evidence, START + 14 * DAY), GB * 4.0 / 8.0, 0.2),
	   "it fades when it has ended");
	ok(tier_growth_rate(&evidence, START + 40 * DAY) == 0.0, "and is forgotten");

	other = evidence;
	grow(&other, START + 10 * DAY, 5000.0 * GB);
	ok(is_about(tier_growth_rate(&other, START + 10 * DAY), GB, 0.2),
	   "a load on top is not extrapolated: %g", tier_growth_rate(&other, START + 10 * DAY));
	memset(&other, 0, sizeof(other));
	for (int day = 1; day <= 30; day++)
	{
		for (int hour = 1; hour <= 24; hour++)
			grow(&other, START + day * DAY + hour * HOUR, GB);
		if (day % 7 == 0)
			grow(&other, START + day * DAY + 24 * HOUR, -7.0 * 24.0 * GB);
		if (day >= 8)
			ok(tier_growth_rate(&other, START + (day + 1) * DAY) == 0.0,
			   "what is emptied each week does not grow: day %d", day);
	}

	memset(&other, 0, sizeof(other));
	for (int minute = 1; minute <= 8; minute++)
		grow(&other, START + minute * MINUTE, GB);
	ok(tier_growth_rate(&other, START + 10 * MINUTE) == 0.0, "a load is no growth");
	ok(tier_growth_rate(&other, START + 5 * DAY) == 0.0, "nor is it days later");

	memset(&other, 0, sizeof(other));
	for (int day = 0; day < 20; day++)
	{
		grow(&other, START + day * DAY + HOUR, -7.0 * GB);
		grow(&other, START + day * DAY + 3 * HOUR, 3.0 * GB);
		grow(&other, START + day * DAY + 16 * HOUR, 4.0 * GB);
	}
	ok(tier_growth_rate(&other, START + 20 * DAY) == 0.0,
	   "what is emptied each day and filled again does not grow");

	memset(&other, 0, sizeof(other));
	for (int day = 0; day < 20; day++)
		grow(&other, START + day * DAY + HOUR, 24.0 * GB);
	ok(is_about(tier_growth_rate(&other, START + 20 * DAY), GB, 0.15),
	   "a nightly load does: %g", tier_growth_rate(&other, START + 20 * DAY));

	memset(&other, 0, sizeof(other));
	grow_steadily(&other, 10, -24.0 * GB);
	ok(tier_growth_rate(&other, START + 10 * DAY) == 0.0, "what shrinks does not grow");
	grow(&other, START + 10 * DAY, NAN);
	grow(&other, START + 10 * DAY, INFINITY);
	ok(tier_growth_rate(&other, START + 10 * DAY) == 0.0, "no nonsense in, none out");
}

/* A partition a day; with `retention`, the oldest is dropped each day. */
static double
rate_of_partitions(bool retention, int days)
{
	TierEvidence tablespace = {0};

	for (int day = 0; day < days; day++)
		for (int hour = 1; hour <= 24; hour++)
		{
			int64_t		at = START + day * DAY + hour * HOUR;

			grow(&tablespace, at, GB);
			if (retention && hour == 24)
				grow(&tablespace, at, -24.0 * GB);
		}
	return tier_growth_rate(&tablespace, START + days * DAY);
}

static void
test_tablespace(void)
{
	TierEvidence evidence = {0};

	ok(is_about(rate_of_partitions(false, 20), GB, 0.15),
	   "a partition a day: as much as comes, %g", rate_of_partitions(false, 20));
	ok(fabs(rate_of_partitions(true, 20)) < 0.1 * GB,
	   "with the oldest dropped, next to nothing: %g", rate_of_partitions(true, 20));

	grow(&evidence, START + HOUR, 700.0 * GB);
	ok(tier_growth_rate(&evidence, START + 2 * DAY) == 0.0, "a restore is no growth");
	ok(tier_growth_hours_until(100.0, 5.0) == 20.0 && tier_growth_hours_until(0.0, 5.0) == 0.0 &&
	   tier_growth_hours_until(-1.0, 0.0) == 0.0 && isinf(tier_growth_hours_until(100.0, 0.0)) &&
	   isinf(tier_growth_hours_until(100.0, NAN)), "hours until it is full");
}

static void
test_random(void)
{
	bool		sane = true;

	for (int k = 0; k < 2000; k++)
	{
		TierEvidence evidence = {0};
		int64_t		now = START;
		double		most = 0.0;

		for (int i = 0; i < 200; i++)
		{
			double		bytes = (random_unit() - 0.4) * GB;
			double		rate;

			now += (int64_t) (random_unit() * random_unit() *
							  (double) (random_int(2) ? DAY : HOUR));
			most += fabs(bytes);
			grow(&evidence, now, bytes);
			rate = tier_growth_rate(&evidence, now);
			sane &= isfinite(rate) && rate >= 0.0 &&
				rate * ((double) (now - START) / HOUR) <= most * 200.0;
		}
	}
	ok(sane, "whatever happens, a rate is finite and not negative");
}

int
main(void)
{
	test_random();
	test_rate();
	test_tablespace();
	return done();
}
