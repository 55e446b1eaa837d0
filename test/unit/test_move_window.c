/*-------------------------------------------------------------------------
 *
 * test_move_window.c
 *		Tests of when moves may begin.  Prints TAP; run it by test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/move_window.h"

#define HOUR INT64_C(3600000000)
#define MINUTE INT64_C(60000000)
#define EVERY_DAY 0x7f

/* Days since 2000-01-01 of days in 2026: a Sunday each, on which clocks change. */
#define FORWARD_DAY 9584		/* 2026-03-29, at 02:00, from +1 to +2 */
#define BACK_DAY 9794			/* 2026-10-25, at 03:00, from +2 to +1 */

static const TierZonePeriod berlin_periods[] = {
	{0, HOUR},
	{FORWARD_DAY * TIER_US_PER_DAY + HOUR, 2 * HOUR},
	{BACK_DAY * TIER_US_PER_DAY + HOUR, HOUR},
};
static const TierZone berlin = {berlin_periods, 3};

static const TierZonePeriod utc_period = {0, 0};
static const TierZone utc = {&utc_period, 1};

/* UTC */
static int64_t
at(int day, int hour, int minute)
{
	return day * TIER_US_PER_DAY + hour * HOUR + minute * MINUTE;
}

static TierWindow
window(int days, int from_hour, int from_minute, int to_hour, int to_minute)
{
	TierWindow	result = {0};

	result.days = days;
	result.starts_us = from_hour * HOUR + from_minute * MINUTE;
	result.ends_us = to_hour * HOUR + to_minute * MINUTE;
	result.max_bytes = INFINITY;
	return result;
}

/* The one that begins on that day, UTC; all zero: none does. */
static TierOpening
opening_on(const TierWindow *of, const TierZone *zone, int day)
{
	TierOpening openings[40];
	TierOpening none = {0};
	int			n = tier_window_openings(of, zone, at(day - 10, 0, 0), at(day + 10, 0, 0),
										 openings, 40);

	for (int i = 0; i < n; i++)
		if (openings[i].opens_us >= at(day, 0, 0) && openings[i].opens_us < at(day + 1, 0, 0))
			return openings[i];
	return none;
}

static bool
is_from_to(TierOpening opening, int64_t opens, int64_t closes)
{
	return opening.opens_us == opens && opening.closes_us == closes;
}

static void
test_days(void)
{
	TierWindow	day = window(EVERY_DAY, 8, 0, 12, 0);
	TierWindow	night = window(1 << 0, 22, 0, 6, 0);
	TierWindow	whole = window(EVERY_DAY, 0, 0, 24, 0);
	TierOpening openings[40];

	ok(is_from_to(opening_on(&day, &utc, 9700), at(9700, 8, 0), at(9700, 12, 0)), "by day");
	ok(tier_window_openings(&day, &utc, at(9700, 9, 0), at(9702, 9, 0), openings, 40) == 3,
	   "what is open, and what opens before the end");
	ok(tier_window_openings(&day, &utc, at(9700, 12, 0), at(9702, 8, 0), openings, 40) == 1,
	   "its end does not belong to it, nor does the end that was asked for");
	ok(tier_window_openings(&day, &utc, at(9700, 9, 0), at(9800, 0, 0), openings, 4) == 4,
	   "no more than there is room for");

	/* 9585 and 9795 are Mondays. */
	ok(is_from_to(opening_on(&night, &utc, FORWARD_DAY + 1), at(FORWARD_DAY + 1, 22, 0),
				  at(FORWARD_DAY + 2, 6, 0)), "over midnight, on the day on which it starts");
	ok(opening_on(&night, &utc, FORWARD_DAY).closes_us == 0 &&
	   opening_on(&night, &utc, FORWARD_DAY + 2).closes_us == 0, "on no other day");
	ok(tier_window_openings(&night, &utc, at(FORWARD_DAY + 2, 5, 59), at(FORWARD_DAY + 2, 6, 0),
							openings, 40) == 1, "open after midnight");
	ok(is_from_to(opening_on(&whole, &utc, 9700), at(9700, 0, 0), at(9701, 0, 0)), "a day");
	ok(opening_on(&night, &utc, -40).opens_us == at(-40, 22, 0),
	   "a Monday before the axis begins");
}

static void
test_clocks_set_forward(void)
{
	TierWindow	whole = window(EVERY_DAY, 0, 0, 24, 0);
	TierWindow	night = window(EVERY_DAY, 22, 0, 6, 0);
	TierWindow	from = window(EVERY_DAY, 2, 30, 5, 0);
	TierWindow	to = window(EVERY_DAY, 1, 0, 2, 30);
	TierWindow	within = window(EVERY_DAY, 2, 15, 2, 45);

	ok(is_from_to(opening_on(&whole, &berlin, FORWARD_DAY - 1), at(FORWARD_DAY - 1, 23, 0),
				  at(FORWARD_DAY, 22, 0)), "a day of 23 hours");
	ok(is_from_to(opening_on(&night, &berlin, FORWARD_DAY - 1), at(FORWARD_DAY - 1, 21, 0),
				  at(FORWARD_DAY, 4, 0)), "a night of seven hours");
	ok(is_from_to(opening_on(&from, &berlin, FORWARD_DAY), at(FORWARD_DAY, 1, 0),
				  at(FORWARD_DAY, 3, 0)), "a start that does not exist is when clocks are set");
	ok(is_from_to(opening_on(&to, &berlin, FORWARD_DAY), at(FORWARD_DAY, 0, 0),
				  at(FORWARD_DAY, 1, 0)), "so is an end");
	ok(opening_on(&within, &berlin, FORWARD_DAY).closes_us == 0 &&
	   opening_on(&within, &berlin, FORWARD_DAY + 1).closes_us != 0,
	   "between two times that do not exist there is none");
}

static void
test_clocks_set_back(void)
{
	TierWindow	whole = window(EVERY_DAY, 0, 0, 24, 0);
	TierWindow	night = window(EVERY_DAY, 22, 0, 6, 0);
	TierWindow	from = window(EVERY_DAY, 2, 30, 5, 0);
	TierWindow	to = window(EVERY_DAY, 1, 0, 2, 30);
	TierWindow	within = window(EVERY_DAY, 2, 15, 2, 45);

	ok(is_from_to(opening_on(&whole, &berlin, BACK_DAY - 1), at(BACK_DAY - 1, 22, 0),
				  at(BACK_DAY, 23, 0)), "a day of 25 hours");
	ok(is_from_to(opening_on(&night, &berlin, BACK_DAY - 1), at(BACK_DAY - 1, 20, 0),
				  at(BACK_DAY, 5, 0)), "a night of nine hours");
	ok(is_from_to(opening_on(&from, &berlin, BACK_DAY), at(BACK_DAY, 0, 30), at(BACK_DAY, 4, 0)),
	   "a start that exists twice is the first one");
	ok(is_from_to(opening_on(&to, &berlin, BACK_DAY - 1), at(BACK_DAY - 1, 23, 0),
				  at(BACK_DAY, 0, 30)), "so is an end");
	ok(is_from_to(opening_on(&within, &berlin, BACK_DAY), at(BACK_DAY, 0, 15),
				  at(BACK_DAY, 0, 45)), "it is open once");
	ok(tier_zone_local(&berlin, at(BACK_DAY, 0, 59)) == at(BACK_DAY, 2, 59) &&
	   tier_zone_local(&berlin, at(BACK_DAY, 1, 0)) == at(BACK_DAY, 2, 0), "what clocks show");
}

/* Days that a zone leaves out, as Samoa did when it changed sides of the date line. */
static void
test_day_left_out(void)
{
	static const TierZonePeriod periods[] = {{0, -10 * HOUR},
	{9700 * TIER_US_PER_DAY + 10 * HOUR, 14 * HOUR}};
	TierZone	zone = {periods, 2};
	TierWindow	morning = window(EVERY_DAY, 8, 0, 10, 0);
	TierWindow	night = window(EVERY_DAY, 22, 0, 2, 0);
	TierOpening openings[10];
	int			n = tier_window_openings(&morning, &zone, at(9699, 0, 0), at(9702, 0, 0),
										 openings, 10);

	/* Local day 9700 is the one. */
	ok(n == 3 && openings[0].opens_us == at(9699, 18, 0) &&
	   openings[1].opens_us == at(9700, 18, 0), "a day left out has no window");
	n = tier_window_openings(&night, &zone, at(9700, 9, 0), at(9701, 0, 0), openings, 10);
	ok(n == 2 && is_from_to(openings[0], at(9700, 8, 0), at(9700, 10, 0)) &&
	   is_from_to(openings[1], at(9700, 10, 0), at(9700, 12, 0)),
	   "a night into it ends with it, and the one out of it begins with what follows");
}

static void
test_ask(void)
{
	TierOpening o[] = {
		{at(1, 22, 0), at(2, 2, 0), INFINITY, 0},
		{at(2, 1, 0), at(2, 4, 0), 100.0, 1},
		{at(2, 4, 0), at(2, 6, 0), INFINITY, 0},
		{at(3, 22, 0), at(4, 8, 0), 1000.0, 1},
	};
	TierWindowAnswer a;

	a = tier_openings_ask(o, 4, at(1, 23, 0), 50.0, 3600.0);
	ok(a.verdict == TIER_WINDOW_OPEN && a.at_us == at(1, 23, 0) && a.opening == 0, "open");
	a = tier_openings_ask(o, 4, at(1, 23, 0), 50.0, 7 * 3600.0);
	ok(a.verdict == TIER_WINDOW_OPEN, "three that follow each other are one");
	a = tier_openings_ask(o, 4, at(1, 23, 0), 101.0, 3 * 3600.0 + 1.0);
	ok(a.verdict == TIER_WINDOW_TOO_SHORT && a.at_us == at(3, 22, 0) && a.opening == 3,
	   "not by one that has no bytes for it");
	a = tier_openings_ask(o, 4, at(1, 23, 0), 101.0, 3 * 3600.0);
	ok(a.verdict == TIER_WINDOW_OPEN, "until the end, and no longer");
	a = tier_openings_ask(o, 4, at(2, 2, 0), 101.0, 60.0);
	ok(a.verdict == TIER_WINDOW_USED_UP && a.at_us == at(2, 4, 0) && a.opening == 2,
	   "open, but used up");
	a = tier_openings_ask(o, 4, at(1, 12, 0), 1.0, NAN);
	ok(a.verdict == TIER_WINDOW_CLOSED && a.at_us == at(1, 22, 0), "closed until it opens");
	a = tier_openings_ask(o, 4, at(1, 12, 0), 1.0, 11 * 3600.0);
	ok(a.verdict == TIER_WINDOW_CLOSED && a.opening == -1 && !a.is_too_large,
	   "no window is so long");
	a = tier_openings_ask(o + 3, 1, at(3, 23, 0), 1001.0, 1.0);
	ok(a.verdict == TIER_WINDOW_USED_UP && a.opening == -1 && a.is_too_large,
	   "nor has so many bytes");
	a = tier_openings_ask(o, 4, at(2, 6, 0), 1.0, NAN);
	ok(a.verdict == TIER_WINDOW_CLOSED && a.opening == 3, "what is over does not count");
	a = tier_openings_ask(NULL, 0, at(2, 6, 0), 1.0, NAN);
	ok(a.verdict == TIER_WINDOW_CLOSED && a.opening == -1, "none opens");

	/* A move that would fit into the middle of three, which begins later. */
	a = tier_openings_ask(o, 4, at(1, 12, 0), 50.0, 8 * 3600.0);
	ok(a.at_us == at(1, 22, 0), "it begins with the first of them");
}

static void
test_sort(void)
{
	TierOpening o[] = {{3, 4, 0.0, 0}, {1, 9, 0.0, 1}, {1, 5, 0.0, 2}};

	tier_openings_sort(o, 3);
	ok(o[0].window == 2 && o[1].window == 1 && o[2].window == 0, "in the order of time");
}

/* Random changes of clocks, against going through all hours. */
static void
test_random(void)
{
	bool		is_first = true;
	bool		is_sorted = true;

	for (int run = 0; run < 500; run++)
	{
		TierZonePeriod periods[4] = {{0, 0}};
		TierZone	zone = {periods, 1 + random_int(4)};
		TierWindow	some = window(1 + random_int(EVERY_DAY), random_int(24), 0, random_int(25), 0);
		TierOpening openings[60];
		int64_t		local = at(20, random_int(24), 0);
		int64_t		moment = at(15, 0, 0);
		int			n;

		for (int i = 0; i < zone.nperiods; i++)
		{
			periods[i].from_us = i == 0 ? 0 : at(17 + i, random_int(24), 0);
			periods[i].offset_us = (int) (random_unit() * 27 - 12) * HOUR;
		}
		while (tier_zone_local(&zone, moment) < local)
			moment += HOUR;
		is_first = is_first && tier_zone_moment(&zone, local) == moment;
		n = tier_window_openings(&some, &zone, at(10, 0, 0), at(30, 0, 0), openings, 60);
		for (int i = 0; i < n; i++)
			is_sorted = is_sorted && openings[i].closes_us > openings[i].opens_us &&
				openings[i].closes_us > at(10, 0, 0) && openings[i].opens_us < at(30, 0, 0) &&
				(i == 0 || openings[i].opens_us >= openings[i - 1].opens_us);
	}
	ok(is_first, "the first moment that is not before");
	ok(is_sorted, "each opening has an end after its beginning, and they are in order");
}

int
main(void)
{
	test_days();
	test_clocks_set_forward();
	test_clocks_set_back();
	test_day_left_out();
	test_ask();
	test_sort();
	test_random();
	return done();
}
