/*-------------------------------------------------------------------------
 *
 * test_move_window.c
 *		Tests of when moves may begin.  Prints TAP; run it by test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdio.h>

#include "tap.h"
#include "src/model/move_window.h"

#define HOUR INT64_C(3600000000)
#define MINUTE INT64_C(60000000)
/* UTC */
static int64_t
at(int day, int hour, int minute)
{
	return day * 24 * HOUR + hour * HOUR + minute * MINUTE;
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

int
main(void)
{
	test_ask();
	return done();
}
