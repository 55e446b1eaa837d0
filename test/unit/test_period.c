/*-------------------------------------------------------------------------
 *
 * test_period.c
 *		Tests of shares of a period.  Prints TAP; run it by test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "tap.h"
#include "src/model/period.h"

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
	return done();
}
