/*-------------------------------------------------------------------------
 *
 * test_copy_rate.c
 *		Tests of src/model/copy_rate.c: a copy beside users of one device.
 *
 * The users are a closed network of a processor for each and one device, whose exact
 * solution is mean value analysis (Reiser and Lavenberg 1980).  A copy takes its share of
 * the device, so that users' requests take longer by 1 / (1 - share).  What a look finds is
 * drawn: each user waits for the device with the probability that the solution says, and
 * what is done comes as by a Poisson process.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "src/model/copy_rate.h"
#include "tap.h"

#define MB 1e6
#define LOOK_S 0.02

/* What the device can copy at most. */
#define DEVICE (100.0 * MB)

#define FLOOR MB

typedef struct Load
{
	int			users;
	double		work_s;			/* of a statement: processor */
	double		service_s;		/* and device, when nobody else uses it */
}			Load;

/* What a statement takes while somebody copies at that rate; *share: of it, waiting. */
static double
solve(const Load * load, double rate, double *share)
{
	double		service_s = load->service_s / fmax(1.0 - rate / DEVICE, 0.01);
	double		queue = 0.0;
	double		device_s = 0.0;

	for (int n = 1; n <= load->users; n++)
	{
		device_s = service_s * (1.0 + queue);
		queue = n * device_s / (device_s + load->work_s);
	}
	*share = device_s / (device_s + load->work_s);
	return device_s + load->work_s;
}

static double
true_slowdown(const Load * load, double rate)
{
	double		share;

	return solve(load, rate, &share) / solve(load, 0.0, &share) - 1.0;
}

/* The highest rate at which they are slowed down by no more than that. */
static double
best_rate(const Load * load, double max_slowdown)
{
	double		low = 0.0;
	double		high = DEVICE;

	for (int i = 0; i < 60; i++)
	{
		double		middle = (low + high) / 2.0;

		if (true_slowdown(load, middle) <= max_slowdown)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The sum of twelve uniform numbers is nearly normal. */
static double
random_normal(void)
{
	double		sum = -6.0;

	for (int i = 0; i < 12; i++)
		sum += random_unit();
	return sum;
}

static TierUserTime
look(const Load * load, double rate, double seconds)
{
	TierUserTime time = {0};
	double		share;
	double		statement_s = solve(load, rate, &share);
	double		done = load->users / statement_s * seconds;

	time.looked = seconds;
	for (int i = 0; i < (int) (seconds / LOOK_S + 0.5) * load->users; i++)
	{
		time.busy += LOOK_S;
		if (random_unit() < share)
			time.waiting += LOOK_S;
	}
	time.done = fmax(done + sqrt(done) * random_normal(), 0.0);
	return time;
}

static void
cycle(TierCopyRate *rate, const Load * load, double max_slowdown)
{
	double		actual = fmin(rate->rate, DEVICE);
	TierUserTime copying = look(load, actual, TIER_COPY_CYCLE_S - TIER_COPY_REST_S);
	TierUserTime resting = look(load, 0.0, TIER_COPY_REST_S - TIER_COPY_SETTLE_S);

	tier_copy_rate_observe(rate, &copying, &resting, max_slowdown, rate->rate <= DEVICE);
}

static const Load oltp = {8, 0.002, 0.002};
static const Load light = {2, 0.010, 0.005};
static const Load no_users = {0, 0.002, 0.002};

/* A load that stays: mean slowdown, mean rate and its extremes, once it has settled. */
static void
test_steady(const Load * load, const char *what, double max_slowdown)
{
	double		best = best_rate(load, max_slowdown);
	double		sum = 0.0;
	double		slowdown = 0.0;
	double		lowest = INFINITY;
	double		highest = 0.0;
	int			cycles = 2000;
	TierCopyRate rate;

	tier_copy_rate_init(&rate, FLOOR, INFINITY);
	for (int i = 0; i < 100; i++)
		cycle(&rate, load, max_slowdown);
	for (int i = 0; i < cycles; i++)
	{
		cycle(&rate, load, max_slowdown);
		sum += rate.rate;
		slowdown += true_slowdown(load, fmin(rate.rate, DEVICE));
		lowest = fmin(lowest, rate.rate);
		highest = fmax(highest, rate.rate);
	}
	ok(slowdown / cycles <= max_slowdown * 1.1, "%s: slowed down by %.2f, and at most by %.2f",
	   what, slowdown / cycles, max_slowdown);
	ok(sum / cycles >= best * 0.5, "%s: %.1f MB/s of %.1f that are possible", what,
	   sum / cycles / MB, best / MB);
	ok(lowest >= best * 0.2 && highest <= best * 2.0,
	   "%s: between %.1f and %.1f MB/s", what, lowest / MB, highest / MB);
}

static void
test_idle(void)
{
	TierCopyRate rate;
	int			cycles = 0;

	tier_copy_rate_init(&rate, FLOOR, 64.0 * FLOOR);
	for (; rate.rate < rate.ceiling && cycles < 100; cycles++)
		cycle(&rate, &no_users, 0.25);
	ok(cycles == 3, "without users it is quadrupled in each cycle: %d", cycles);
	is(rate.slowdown, 0.0, "and slows nobody down");

	for (int i = 0; i < 100; i++)
		cycle(&rate, &oltp, 0.25);
	for (cycles = 0; rate.rate < rate.ceiling && cycles < 100; cycles++)
		cycle(&rate, &no_users, 0.25);
	ok(cycles <= 3, "also when users have gone: %d", cycles);
}

/* Users who come are not slowed down for long. */
static void
test_arrival(void)
{
	double		best = best_rate(&oltp, 0.25);
	int			cycles = 0;
	TierCopyRate rate;

	tier_copy_rate_init(&rate, FLOOR, 90.0 * MB);
	for (int i = 0; i < 20; i++)
		cycle(&rate, &no_users, 0.25);
	is(rate.rate, 90.0 * MB, "as fast as it may be");
	for (; rate.rate > best && cycles < 100; cycles++)
		cycle(&rate, &oltp, 0.25);
	ok(cycles <= 10, "it is as slow as it must be after %d cycles", cycles);
}

/* Ten cycles with users, ten without. */
static void
test_bursts(void)
{
	double		slowdown = 0.0;
	double		best = best_rate(&oltp, 0.25);
	double		alone = 0.0;
	double		beside = 0.0;
	TierCopyRate rate;

	tier_copy_rate_init(&rate, FLOOR, 40.0 * MB);
	for (int i = 0; i < 2000; i++)
	{
		bool		is_busy = i / 10 % 2 == 0;

		if (is_busy)
		{
			slowdown += true_slowdown(&oltp, rate.rate);
			beside += rate.rate;
		}
		else
			alone += rate.rate;
		cycle(&rate, is_busy ? &oltp : &no_users, 0.25);
	}
	ok(alone / 1000 >= 0.8 * 40.0 * MB, "bursts: %.1f MB/s between them", alone / 1000 / MB);
	ok(beside / 1000 <= best * 1.5 && slowdown / 1000 <= 0.5,
	   "%.1f MB/s in them, of %.1f; slowed down by %.2f", beside / 1000 / MB, best / MB,
	   slowdown / 1000);
}

/* Two copies of one device, each for itself, from different rates. */
static void
test_two(void)
{
	TierCopyRate a;
	TierCopyRate b;
	double		sums[2] = {0};
	double		slowdown = 0.0;

	tier_copy_rate_init(&a, FLOOR, 50.0 * MB);
	tier_copy_rate_init(&b, FLOOR, 50.0 * MB);
	a.rate = 40.0 * MB;
	for (int i = 0; i < 3000; i++)
	{
		double		all = fmin(a.rate + b.rate, DEVICE);
		TierUserTime copying = look(&oltp, all, TIER_COPY_CYCLE_S - TIER_COPY_REST_S);
		TierUserTime resting = look(&oltp, 0.0, TIER_COPY_REST_S - TIER_COPY_SETTLE_S);

		tier_copy_rate_observe(&a, &copying, &resting, 0.25, true);
		tier_copy_rate_observe(&b, &copying, &resting, 0.25, true);
		if (i < 1000)
			continue;
		sums[0] += a.rate;
		sums[1] += b.rate;
		slowdown += true_slowdown(&oltp, all);
	}
	ok(sums[0] > 2000 * FLOOR && sums[1] > 2000 * FLOOR,
	   "two copies: %.1f and %.1f MB/s", sums[0] / 2000 / MB, sums[1] / 2000 / MB);
	ok(slowdown / 2000 <= 0.25 * 1.2, "which together slow users down by %.2f", slowdown / 2000);
}

static void
test_edges(void)
{
	TierUserTime nothing = {0};
	TierUserTime waits = {1.0, 8.0, 8.0, 100.0};
	TierUserTime scans = {1.0, 8.0, 8.0, 0.0};
	TierCopyRate rate;

	ok(isnan(tier_copy_slowdown(&nothing, &nothing)), "nobody has looked");
	is(tier_copy_slowdown(&waits, &waits), 0.0, "as long as before");
	ok(isnan(tier_copy_slowdown(&scans, &waits)), "nothing is done");

	tier_copy_rate_init(&rate, FLOOR, FLOOR / 2.0);
	is(rate.rate, FLOOR, "the floor is what counts");
	tier_copy_rate_init(&rate, FLOOR, INFINITY);
	for (int i = 0; i < 50; i++)
		tier_copy_rate_observe(&rate, &scans, &scans, 0.25, true);
	ok(rate.rate == FLOOR && isnan(rate.slowdown), "nothing is known, nothing is done");

	tier_copy_rate_init(&rate, FLOOR, 10.0 * MB);
	for (int i = 0; i < 20; i++)
		cycle(&rate, &no_users, 0.25);
	tier_copy_rate_limit(&rate, FLOOR, 5.0 * MB);
	is(rate.rate, 5.0 * MB, "a lower limit counts at once");
	tier_copy_rate_init(&rate, FLOOR, INFINITY);
	for (int i = 0; i < 50; i++)
		tier_copy_rate_observe(&rate, &nothing, &nothing, 0.25, false);
	is(rate.rate, FLOOR, "what does not limit is not increased");
}

int
main(void)
{
	random_state = 1;
	test_edges();
	test_idle();
	test_steady(&oltp, "eight users", 0.25);
	test_steady(&light, "two users", 0.25);
	test_steady(&oltp, "eight users, more patient", 1.0);
	test_arrival();
	test_bursts();
	test_two();
	return done();
}
