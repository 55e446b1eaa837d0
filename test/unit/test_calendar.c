/*-------------------------------------------------------------------------
 *
 * test_calendar.c
 *		Tests of when something happens, and whether in bursts.  Prints TAP; run it by
 *		test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/calendar.h"
#include "src/model/period.h"

/* Months of 30 days from day 0 on, a Monday. */
static TierLocalHour
local(int day, int hour)
{
	TierLocalHour result;

	result.day = day;
	result.position[TIER_HOUR_OF_DAY] = (int8_t) hour;
	result.position[TIER_DAY_OF_WEEK] = (int8_t) (day % 7 + 1);
	result.position[TIER_DAY_OF_MONTH] = (int8_t) (day % 30 + 1);
	result.position[TIER_DAYS_TO_END_OF_MONTH] = (int8_t) (29 - day % 30);
	return result;
}

static void
add(TierCalendar *calendar, int day, int hour, double amount)
{
	TierLocalHour at = local(day, hour);

	tier_calendar_add(calendar, &at, amount);
}

static void
test_positions(void)
{
	TierCalendar reads = {0};
	const TierCalendarPosition *monday = &reads.positions[TIER_DAY_OF_WEEK][1];
	const TierCalendarPosition *nine = &reads.positions[TIER_HOUR_OF_DAY][9];

	ok(tier_calendar_is_empty(&reads), "nothing was added");
	add(&reads, 0, 9, 10.0);
	add(&reads, 0, 10, 20.0);
	add(&reads, 7, 9, 30.0);
	ok(!tier_calendar_is_empty(&reads), "something was");
	ok(monday->amount == 60.0 && monday->days == 2, "three hours on two Mondays");
	ok(nine->amount == 40.0 && nine->days == 2, "two days with an hour from nine on");
	ok(reads.positions[TIER_DAY_OF_MONTH][8].amount == 30.0 &&
	   reads.positions[TIER_DAYS_TO_END_OF_MONTH][22].amount == 30.0,
	   "days of the month count from both ends");
}

/* 00:00, then 23:00 of the day before, then 00:00 again. */
static void
test_clocks_set_back(void)
{
	TierCalendar forward = {0};
	TierCalendar backward = {0};

	add(&forward, 3, 0, 1.0);
	add(&forward, 2, 23, 1.0);
	add(&forward, 3, 0, 1.0);
	ok(forward.positions[TIER_HOUR_OF_DAY][0].days == 1 &&
	   forward.positions[TIER_HOUR_OF_DAY][0].amount == 2.0,
	   "an hour that clocks show twice: one day, both amounts");
	ok(forward.positions[TIER_DAY_OF_MONTH][4].days == 1, "and that day of the month once");
	for (int day = 20; day >= 0; day--)
		for (int hour = 23; hour >= 0; hour--)
			add(&backward, day, hour, 1.0);
	ok(backward.positions[TIER_DAY_OF_WEEK][1].days == 3 &&
	   backward.positions[TIER_HOUR_OF_DAY][5].days == 21 &&
	   backward.positions[TIER_HOUR_OF_DAY][5].amount == 21.0,
	   "the latest first: the same days");
}

static void
test_busiest(void)
{
	TierCalendar observed = {0};
	TierCalendar reads = {0};

	/* A month and a half: the second half of the month was observed once. */
	for (int day = 0; day < 45; day++)
		add(&observed, day, 12, 24.0);
	ok(tier_calendar_busiest(&observed, &reads, TIER_DAY_OF_MONTH) == -1, "no reads: none");
	add(&reads, 4, 12, 100.0);
	add(&reads, 19, 12, 60.0);
	add(&reads, 34, 12, 5.0);
	ok(tier_calendar_busiest(&observed, &reads, TIER_DAY_OF_MONTH) == 20,
	   "60 in 24 hours are more than 105 in 48");
	add(&reads, 9, 12, 120.0);
	ok(tier_calendar_busiest(&observed, &reads, TIER_DAY_OF_MONTH) == 10, "the first of two");
	ok(tier_calendar_total(&observed, &reads, TIER_DAY_OF_MONTH) == 285.0, "all of it");
	add(&reads, 7, 3, 1e6);
	ok(tier_calendar_total(&observed, &reads, TIER_HOUR_OF_DAY) == 285.0 &&
	   tier_calendar_busiest(&observed, &reads, TIER_HOUR_OF_DAY) == 12,
	   "what was not observed counts nowhere");
}

static void
test_merge(void)
{
	TierPeriodAmount sorted[] = {{-5, 1.0}, {0, 2.0}, {7, 3.0}};
	TierPeriodAmount twice[] = {{1, 1.0}, {2, 1.0}, {2, 5.0}};
	TierPeriodAmount mixed[] = {
		{9, 1.0}, {-3, 2.0}, {9, 4.0}, {INT64_MAX, 1.0}, {-3, 8.0}, {9, 16.0}
	};
	const TierPeriodAmount *peak;

	ok(tier_periods_merge(NULL, 0) == 0, "no periods");
	ok(tier_periods_merge(sorted, 3) == 3 && sorted[2].amount == 3.0, "nothing to merge");
	ok(tier_periods_merge(twice, 3) == 2 && twice[1].amount == 6.0, "sorted, one twice");
	ok(tier_periods_merge(mixed, 6) == 3 && mixed[0].period == -3 && mixed[0].amount == 10.0 &&
	   mixed[1].period == 9 && mixed[1].amount == 21.0 && mixed[2].period == INT64_MAX,
	   "sorted and added up");
	peak = tier_periods_peak(mixed, 3);
	ok(peak->period == 9, "the largest");
	mixed[0].amount = 21.0;
	ok(tier_periods_peak(mixed, 3)->period == -3, "the first of two");
}

static void
test_burst(void)
{
	TierPeriodAmount days[40];
	TierPeriodAmount one[] = {{1, 5.0}};

	for (int i = 0; i < 40; i++)
		days[i] = (TierPeriodAmount)
	{
		i, i % 10 == 9 ? 90.0 : 10.0
	};
	is(tier_periods_burst_share(days, 40, 40), 360.0 / 720.0, "four of 40 days");
	is(tier_periods_burst_share(days, 40, 41), 370.0 / 720.0,
	   "a tenth is rounded up");
	is(tier_periods_burst_share(days, 40, 4000), 1.0, "on no more days than that");
	is(tier_periods_burst_share(one, 1, 1), 1.0, "one day");
	ok(isnan(tier_periods_burst_share(days, 40, 0)) &&
	   isnan(tier_periods_burst_share(days, 40, -3)) &&
	   isnan(tier_periods_burst_share(days, 0, 10)),
	   "not observed, or nothing happened: not known");
}

/* Against adding up one by one, and in both orders of time. */
static void
test_random(void)
{
	bool		same = true;

	random_state = 7;
	for (int round = 0; round < 200; round++)
	{
		TierCalendar forward = {0};
		TierCalendar backward = {0};
		TierPeriodAmount periods[300];
		double		sums[100] = {0.0};
		size_t		n = (size_t) random_int(300);
		size_t		merged;
		double		largest = 0.0;

		for (size_t i = 0; i < n; i++)
		{
			periods[i] = (TierPeriodAmount)
			{
				random_int(100), (double) (1 + random_int(9))
			};
			sums[periods[i].period] += periods[i].amount;
		}
		merged = tier_periods_merge(periods, n);
		for (size_t i = 0; i < merged; i++)
		{
			same = same && periods[i].amount == sums[periods[i].period];
			sums[periods[i].period] = 0.0;
			largest = fmax(largest, periods[i].amount);
			add(&forward, (int) periods[i].period / 24, (int) periods[i].period % 24,
				periods[i].amount * random_unit());
		}
		for (int i = 0; i < 100; i++)
			same = same && sums[i] == 0.0;
		for (size_t i = merged; i-- > 0;)
			add(&backward, (int) periods[i].period / 24, (int) periods[i].period % 24, 1.0);
		for (int i = 0; i < TIER_CYCLE_POSITIONS; i++)
			same = same && forward.positions[TIER_HOUR_OF_DAY][i].days ==
				backward.positions[TIER_HOUR_OF_DAY][i].days;
		same = same && (merged == 0 || tier_periods_peak(periods, merged)->amount == largest);
	}
	ok(same, "random periods: as if added up one by one");
}

#define US INT64_C(1000000)

static void
test_share(void)
{
	ok(tier_period_share(0, 10, 0, 10 * US) == 1.0 &&
	   tier_period_share(0, 10, INT64_MIN, INT64_MAX) == 1.0 &&
	   tier_period_share(0, 10, -5 * US, 5 * US) == 0.5 &&
	   tier_period_share(0, 10, 5 * US, 50 * US) == 0.5 &&
	   tier_period_share(0, 10, 2 * US, 3 * US) == 0.1, "a share is in proportion to time");
	ok(tier_period_share(0, 10, -10 * US, 0) == 0.0 &&
	   tier_period_share(0, 10, 10 * US, 20 * US) == 0.0 &&
	   tier_period_share(0, 10, 5 * US, 5 * US) == 0.0 &&
	   tier_period_share(0, 10, 8 * US, 2 * US) == 0.0, "nothing of what is no part of it");
	ok(tier_period_share(7, 0, 7, 8) == 1.0 && tier_period_share(7, 0, 0, 7) == 0.0 &&
	   tier_period_share(7, 0, 8, 9) == 0.0 && tier_period_share(7, NAN, 0, 8) == 1.0 &&
	   tier_period_share(7, -1, 0, 8) == 1.0, "what has no length is a moment");
	ok(tier_period_share(INT64_MIN, 1e13, INT64_MIN, 0) > 0.9 &&
	   tier_period_share(INT64_MIN, INFINITY, 0, INT64_MAX) == 0.0 &&
	   tier_period_share(INT64_MAX, 10, 0, INT64_MAX) == 0.0, "the ends of all times");
}

/* However a period is cut, its parts are all of it. */
static void
test_random_shares(void)
{
	bool		whole = true;

	for (int round = 0; round < 10000; round++)
	{
		int64_t		start = (int64_t) (random_unit() * 1e12);
		double		length_s = random_unit() * (round % 3 == 0 ? 1 : 100000);
		int64_t		from = start - 10 * US;
		int64_t		end = start + (int64_t) (length_s * 1e6) + 10 * US;
		double		sum = 0.0;

		while (from < end)
		{
			int64_t		until = from + 1 + (int64_t) (random_unit() * 20000 * 1e6);
			double		share = tier_period_share(start, length_s, from, until);

			whole = whole && share >= 0.0 && share <= 1.0;
			sum += share;
			from = until;
		}
		whole = whole && fabs(sum - 1.0) < 1e-9;
	}
	ok(whole, "the parts of random periods are all of it");
}

int
main(void)
{
	test_share();
	test_random_shares();
	test_positions();
	test_clocks_set_back();
	test_busiest();
	test_merge();
	test_burst();
	test_random();
	return done();
}
