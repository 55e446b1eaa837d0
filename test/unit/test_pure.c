/*-------------------------------------------------------------------------
 *
 * test_pure.c
 *		Tests of the modules that know nothing of PostgreSQL: heat, cost,
 *		policy and solver.  Prints TAP; run it by test/unit/run.
 *
 * Numbers in fixtures were computed by hand; the arithmetic is beside them.
 * Random instances come from a fixed seed, so a failure repeats.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tier_cost.h"
#include "tier_heat.h"
#include "tier_policy.h"
#include "tier_solver.h"


/*-------------------------------------------------------------------------
 * TAP, comparisons, random numbers
 *-------------------------------------------------------------------------
 */

static int	tests_run = 0;
static int	tests_failed = 0;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
ok(bool passed, const char *format,...)
{
	va_list		args;

	tests_run++;
	if (!passed)
		tests_failed++;
	printf("%sok %d - ", passed ? "" : "not ", tests_run);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

/* Equal but for rounding. */
static bool
near(double a, double b)
{
	if (a == b)
		return true;
	if (!isfinite(a) || !isfinite(b))
		return false;
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static void
is(double got, double expected, const char *name)
{
	bool		passed = near(got, expected);

	ok(passed, "%s", name);
	if (!passed)
		printf("#      got: %.17g\n# expected: %.17g\n", got, expected);
}

static uint64_t random_state;

/* splitmix64 */
static uint64_t
random_bits(void)
{
	uint64_t	z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 <= result < below */
static int
random_int(int below)
{
	return (int) (random_bits() % (uint64_t) below);
}

static double
random_unit(void)
{
	return (double) (random_bits() >> 11) / 9007199254740992.0;
}


/*-------------------------------------------------------------------------
 * Heat
 *-------------------------------------------------------------------------
 */

static bool
is_sane(double value)
{
	return value >= 0.0 && value <= DBL_MAX;
}

static void
test_heat_counter_delta(void)
{
	ok(tier_heat_counter_delta(100, 150, false) == 50, "delta: growth");
	ok(tier_heat_counter_delta(100, 100, false) == 0, "delta: standstill");
	ok(tier_heat_counter_delta(100, 30, false) == 30,
	   "delta: a counter that went backwards was reset");
	ok(tier_heat_counter_delta(100, 150, true) == 150,
	   "delta: a known reset counts all that is there now");
	ok(tier_heat_counter_delta(0, INT64_MAX, false) == INT64_MAX,
	   "delta: largest growth");
	ok(tier_heat_counter_delta(INT64_MIN, INT64_MAX, false) == INT64_MAX,
	   "delta: a negative start does not overflow");
	ok(tier_heat_counter_delta(5, -1, false) == 0 &&
	   tier_heat_counter_delta(5, INT64_MIN, true) == 0 &&
	   tier_heat_counter_delta(-10, -5, false) == 0,
	   "delta: never negative");
}

static void
test_heat_advance(void)
{
	/* One half-life, 80 events/h before and 40 events in 2 h: (80 + 20) / 2 */
	is(tier_heat_advance(80.0, 40.0, 7200.0, 7200.0), 50.0,
	   "advance: after one half-life old and new weigh the same");
	/* Two half-lives: 80 / 4 + 3 / 4 * 20 */
	is(tier_heat_advance(80.0, 40.0, 7200.0, 3600.0), 35.0,
	   "advance: two half-lives");
	is(tier_heat_advance(80.0, 0.0, 3600.0, 3600.0), 40.0,
	   "advance: without events the rate halves in a half-life");
	is(tier_heat_advance(20.0, 40.0, 7200.0, 86400.0), 20.0,
	   "advance: a constant rate stays what it is");

	is(tier_heat_advance(80.0, 40.0, 0.0, 3600.0), 80.0,
	   "advance: no time, no change");
	is(tier_heat_advance(80.0, 40.0, -5.0, 3600.0), 80.0,
	   "advance: negative time, no change");
	is(tier_heat_advance(80.0, 40.0, NAN, 3600.0), 80.0,
	   "advance: NaN time, no change");
	is(tier_heat_advance(80.0, 40.0, 7200.0, 0.0), 20.0,
	   "advance: no half-life, no memory");

	/* 1e-9 s: 3600 * 7 * ln 2 / 3600 on top of the old rate */
	is(tier_heat_advance(0.0, 7.0, 1e-9, 3600.0), 7.0 * 0.69314718055994531,
	   "advance: tiny interval keeps all digits");
	is(tier_heat_advance(0.0, 7.0, DBL_MIN * 1e-10, 3600.0),
	   7.0 * 0.69314718055994531,
	   "advance: the tiniest interval gives the limit");
	is(tier_heat_advance(80.0, 7.0, 1e15, 3600.0), 7.0 * 3600.0 / 1e15,
	   "advance: huge interval leaves its own mean");
	is(tier_heat_advance(80.0, 7.0, INFINITY, 3600.0), 0.0,
	   "advance: infinite time leaves nothing");
	is(tier_heat_advance(NAN, 40.0, 7200.0, 7200.0), 10.0,
	   "advance: a damaged rate starts anew");
	is(tier_heat_advance(80.0, -40.0, 7200.0, 7200.0), 40.0,
	   "advance: negative events count as none");
}

static void
test_heat_splitting(void)
{
	double		worst = 0.0;

	random_state = 11;
	for (int trial = 0; trial < 200; trial++)
	{
		double		start = random_unit() * 1000.0;
		double		per_hour = random_unit() * 1000.0;
		double		half_life = 60.0 * pow(10.0, random_unit() * 4.0);
		double		whole = 0.0;
		double		pieces = start;
		double		once;
		int			n = 1 + random_int(300);

		for (int i = 0; i < n; i++)
		{
			double		elapsed = random_unit() * half_life / 20.0;

			pieces = tier_heat_advance(pieces, per_hour * elapsed / 3600.0,
									   elapsed, half_life);
			whole += elapsed;
		}
		once = tier_heat_advance(start, per_hour * whole / 3600.0, whole,
								 half_life);
		worst = fmax(worst, fabs(pieces - once) / fmax(once, 1e-9));
	}
	ok(worst < 1e-12, "advance: many pieces of an interval equal the whole");
	if (worst >= 1e-12)
		printf("# relative difference %g\n", worst);
}

static void
test_heat_read(void)
{
	double		rate;

	/* Old enough to have no bias: 1 - 2^-60 is 1 - 9e-19 */
	is(tier_heat_read(80.0, 3600.0, 60.0 * 3600.0, 3600.0), 40.0,
	   "read: one idle half-life halves the rate");
	is(tier_heat_read(80.0, 0.0, 60.0 * 3600.0, 3600.0), 80.0,
	   "read: no idle time");

	/* 10 events/h from zero for one half-life: 5; the weight so far is 1/2 */
	rate = tier_heat_advance(0.0, 10.0, 3600.0, 3600.0);
	is(rate, 5.0, "read: the smoothed rate starts from zero ...");
	is(tier_heat_read(rate, 0.0, 3600.0, 3600.0), 10.0,
	   "read: ... and is freed of that");
	/* one more, idle, half-life: 2.5 of 3/4 */
	is(tier_heat_read(rate, 3600.0, 7200.0, 3600.0), 10.0 / 3.0,
	   "read: idle time belongs to the time observed");
	is(tier_heat_read(rate, 3600.0, 7200.0, 3600.0),
	   tier_heat_read(tier_heat_advance(rate, 0.0, 3600.0, 3600.0), 0.0,
					  7200.0, 3600.0),
	   "read: decay when reading equals an update without events");
	is(tier_heat_read(rate, 3600.0, 10.0, 3600.0), 2.5 / 0.5,
	   "read: observed is at least the idle time");

	rate = tier_heat_advance(0.0, 3.0, 1e-6, 86400.0);
	is(tier_heat_read(rate, 0.0, 1e-6, 86400.0), 3.0 * 3600.0 / 1e-6,
	   "read: after a tiny time the plain mean");
	is(tier_heat_read(7.0, 0.0, 0.0, 3600.0), 7.0,
	   "read: nothing observed, nothing corrected");
	is(tier_heat_read(7.0, -5.0, 60.0 * 3600.0, 3600.0), 7.0,
	   "read: negative idle time counts as none");
	is(tier_heat_read(80.0, 1e300, 1e301, 3600.0), 0.0,
	   "read: idle for ever");
}

static void
test_heat_is_robust(void)
{
	static const double odd[] = {0.0, -1.0, 1.0, DBL_MIN, 4.9e-324, DBL_MAX,
	-DBL_MAX, INFINITY, -INFINITY, NAN, 1e-300, 1e300};
	const int	n = (int) (sizeof(odd) / sizeof(odd[0]));
	int			insane = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
				for (int l = 0; l < n; l++)
				{
					if (!is_sane(tier_heat_advance(odd[i], odd[j], odd[k],
												   odd[l])))
						insane++;
					if (!is_sane(tier_heat_read(odd[i], odd[j], odd[k],
												odd[l])))
						insane++;
				}
	ok(insane == 0, "heat: no input gives a negative or infinite rate");
	is(tier_heat_advance(80.0, 0.0, 4.9e-324, 0.0), 0.0,
	   "heat: no events are none in the tiniest interval");
	/* 1e306 * 3600 / 3.6e9: the first product alone would be too large */
	is(tier_heat_advance(0.0, 1e306, 3.6e9, 3600.0), 1e300,
	   "heat: huge counts over a huge interval");
	is(tier_heat_advance(DBL_MAX, DBL_MAX, 1.0, 1.0), DBL_MAX,
	   "heat: too much is the largest number, not infinity");
}


/*-------------------------------------------------------------------------
 * Cost
 *-------------------------------------------------------------------------
 */

static const TierCostProfile hdd = {
	.random_read_ms = 12.5,
	.random_write_ms = 10.0,
	.sequential_read_mb_per_s = 128.0,
	.sequential_write_mb_per_s = 100.0,
	.fsync_ms = 8.0,
	.parallelism = 1.0,
	.price_per_gb_month = 0.02,
};

static const TierCostProfile ssd = {
	.random_read_ms = 0.125,
	.random_write_ms = 0.05,
	.sequential_read_mb_per_s = 512.0,
	.sequential_write_mb_per_s = 400.0,
	.fsync_ms = 1.0,
	.parallelism = 32.0,
	.price_per_gb_month = 0.1,
};

static void
is_split(const TierCostCounters *counters, double misses, double low,
		 double mid, double high, const char *name)
{
	TierCostAttribution a = tier_cost_attribute(counters);
	bool		passed = near(a.misses, misses) &&
	near(a.sequential_low, low) && near(a.sequential_mid, mid) &&
	near(a.sequential_high, high);

	ok(passed, "%s", name);
	if (!passed)
		printf("#      got: %g, %g <= %g <= %g\n# expected: %g, %g <= %g <= %g\n",
			   a.misses, a.sequential_low, a.sequential_mid, a.sequential_high,
			   misses, low, mid, high);
}

static void
test_cost_attribute_heap(void)
{
	TierCostCounters c = {.is_index = false,.scans = 2,.tuples_read = 20000,
		.blocks_fetched = 500,.blocks_hit = 100,.pages = 100,
	.tuples = 10000};

	/* 20000 * 100 / 10000 = 200 of 500 requests; 400 misses */
	is_split(&c, 400, 100, 160, 200, "heap: two complete scans");

	c.blocks_hit = 350;
	/* 150 misses; all 350 hits could have been random (300 of them were) */
	is_split(&c, 150, 0, 60, 150, "heap: more hits than either kind");

	c.blocks_hit = 100;
	c.tuples_read = 0;
	/* 2 scans, at least 1 block each */
	is_split(&c, 400, 0, 1.6, 2, "heap: a scan asks for a block at least");

	c.tuples_read = 1e9;
	/* (2 + 1) * 100 = 300 of 500 */
	is_split(&c, 400, 200, 240, 300, "heap: no more than the scans can read");

	c.pages = 1000;
	is_split(&c, 400, 400, 400, 400, "heap: no more than was fetched");

	c.pages = 100;
	c.scans = 0;
	c.tuples_read = 5000;
	/* 50 blocks of a scan that began before */
	is_split(&c, 400, 0, 40, 50, "heap: a scan that began before the period");

	c.tuples_read = 0;
	is_split(&c, 400, 0, 0, 0, "heap: no scan, all random");
}

static void
test_cost_attribute_heap_unknown(void)
{
	TierCostCounters c = {.is_index = false,.scans = 2,.tuples_read = 20000,
		.blocks_fetched = 500,.blocks_hit = 100,.pages = 100,
	.tuples = -1};

	/* low: 2 blocks, hits take them; mid 200 of 500; high (2 + 1) * 100 */
	is_split(&c, 400, 0, 160, 300, "heap: never analyzed");
	c.tuples = 0;
	is_split(&c, 400, 0, 160, 300, "heap: no row");
	c.blocks_hit = 0;
	is_split(&c, 500, 2, 200, 300, "heap: never analyzed, no hit");

	c.blocks_hit = 100;
	c.pages = 0;
	c.tuples = 10000;
	/* 0 .. 500 requests, 250 in the middle: 400 * 250 / 500 */
	is_split(&c, 400, 0, 200, 400, "heap: truncated since");
	c.scans = 0;
	c.tuples_read = 0;
	is_split(&c, 400, 0, 0, 0, "heap: truncated and not scanned");

	memset(&c, 0, sizeof(c));
	is_split(&c, 0, 0, 0, 0, "heap: nothing at all");
	c.blocks_hit = 10;
	c.blocks_fetched = 5;
	is_split(&c, 0, 0, 0, 0, "heap: more hits than requests");
	c.scans = NAN;
	c.tuples_read = -5;
	c.blocks_fetched = 50;
	c.pages = INFINITY;
	c.tuples = NAN;
	is_split(&c, 40, 0, 0, 0, "heap: damaged counters");
}

static void
test_cost_attribute_index(void)
{
	TierCostCounters c = {.is_index = true,.scans = 10,.tuples_read = 10,
		.blocks_fetched = 30,.blocks_hit = 20,.pages = 100,
	.tuples = 10000};

	/* 10 look-ups; high: one scan returned all ten: 9 * 100 / 10000 */
	is_split(&c, 10, 0, 0, 0.09, "index: single-row look-ups are random");

	c.tuples_read = 20010;
	c.blocks_fetched = 400;
	c.blocks_hit = 100;
	/* (20010 - 10) / 100 = 200 leaves, high 20009 / 100 */
	is_split(&c, 300, 100, 150, 200.09, "index: ranges");

	c.tuples_read = 1e9;
	/* 10 of 400 requests are random: 390 */
	is_split(&c, 300, 290, 292.5, 300, "index: one random block per scan");

	c.blocks_fetched = 5000;
	c.blocks_hit = 0;
	/* (10 + 1) * 100 */
	is_split(&c, 5000, 1100, 1100, 1100,
			 "index: no more than the scans can read");

	c.tuples = -1;
	c.tuples_read = 50;
	is_split(&c, 5000, 0, 0, 50, "index: never analyzed");
	c.tuples = 100;
	c.pages = 0;
	is_split(&c, 5000, 0, 0, 50, "index: no page");
	c.pages = 100;
	c.scans = 0;
	c.tuples_read = 0;
	is_split(&c, 5000, 0, 0, 0, "index: no scan, all random");
}

static void
test_cost_attribute_is_ordered(void)
{
	int			wrong = 0;
	int			wide = 0;
	const int	trials = 200000;

	random_state = 12;
	for (int i = 0; i < trials; i++)
	{
		TierCostCounters c;
		TierCostAttribution a;

		c.is_index = random_int(2) == 0;
		c.scans = random_int(3) ? random_int(50) : 0;
		c.tuples_read = random_int(4) ? floor(exp(random_unit() * 15.0)) : 0;
		c.blocks_fetched = floor(exp(random_unit() * 12.0));
		c.blocks_hit = floor(c.blocks_fetched * random_unit() * 1.1);
		c.pages = random_int(10) ? floor(exp(random_unit() * 10.0)) : 0;
		c.tuples = random_int(10) ? floor(exp(random_unit() * 14.0)) : -1;
		a = tier_cost_attribute(&c);

		if (!(0.0 <= a.sequential_low &&
			  a.sequential_low <= a.sequential_mid &&
			  a.sequential_mid <= a.sequential_high &&
			  a.sequential_high <= a.misses &&
			  a.misses <= c.blocks_fetched))
			wrong++;
		if (a.sequential_low < a.sequential_mid &&
			a.sequential_mid < a.sequential_high)
			wide++;
	}
	ok(wrong == 0, "attribute: 0 <= low <= mid <= high <= misses");
	ok(wide > trials / 20, "attribute: the random counters are not all trivial");
}

static void
test_cost_busy(void)
{
	TierCostLoad load = {.random_reads = 1000};

	is(tier_cost_busy_s_per_hour(&load, &hdd), 12.5, "busy: random reads");

	memset(&load, 0, sizeof(load));
	load.sequential_reads = 15625;	/* 128 MB */
	is(tier_cost_busy_s_per_hour(&load, &hdd), 1.0, "busy: sequential reads");
	is(tier_cost_busy_s_per_hour(&load, &ssd), 0.25,
	   "busy: sequential reads of an SSD");

	load.scans = 80;			/* 80 * 12.5 ms */
	is(tier_cost_busy_s_per_hour(&load, &hdd), 2.0, "busy: scans position");
	load.sequential_reads = 0;
	is(tier_cost_busy_s_per_hour(&load, &hdd), 0.0,
	   "busy: cached scans do not");

	memset(&load, 0, sizeof(load));
	load.page_writes = 300;
	is(tier_cost_busy_s_per_hour(&load, &hdd), 3.0, "busy: writes");

	load.random_reads = 1000;
	load.sequential_reads = 15625;
	load.scans = 80;
	is(tier_cost_busy_s_per_hour(&load, &hdd), 12.5 + 1.0 + 1.0 + 3.0,
	   "busy: everything adds up");

	load.random_reads = -1;
	load.sequential_reads = NAN;
	load.page_writes = INFINITY;
	is(tier_cost_busy_s_per_hour(&load, &hdd), 0.0, "busy: damaged load");
}

static void
test_cost_price_and_move(void)
{
	TierCostProfile broken = hdd;

	/* 100 GB * 0.1 / 0.8 */
	is(tier_cost_price_per_month(1e11, &ssd, 0.2), 12.5, "price: with reserve");
	is(tier_cost_price_per_month(1e11, &ssd, 0.0), 10.0,
	   "price: without reserve");
	is(tier_cost_price_per_month(1e11, &ssd, -3.0), 10.0,
	   "price: negative reserve is none");
	is(tier_cost_price_per_month(1e11, &ssd, 1.0), 1000.0,
	   "price: a reserve of everything is limited");
	is(tier_cost_price_per_month(0.0, &ssd, 0.2), 0.0, "price: no bytes");
	broken.price_per_gb_month = 0.0;
	is(tier_cost_price_per_month(1e11, &broken, 0.2), 0.0, "price: unknown");

	/* 12.8 GB / 128 MB/s + 12.8 GB / 400 MB/s */
	is(tier_cost_move_s(12.8e9, &hdd, &ssd), 100.0 + 32.0, "move: up");
	/* 12.8 GB / 512 MB/s + 12.8 GB / 100 MB/s */
	is(tier_cost_move_s(12.8e9, &ssd, &hdd), 25.0 + 128.0, "move: down");
	is(tier_cost_move_s(0.0, &hdd, &ssd), 0.0, "move: no bytes");
	is(tier_cost_move_s(NAN, &hdd, &ssd), 0.0, "move: damaged size");
	broken.sequential_read_mb_per_s = 0.0;
	ok(isinf(tier_cost_move_s(1.0, &broken, &ssd)),
	   "move: without bandwidth never");
	is(tier_cost_move_s(0.0, &broken, &ssd), 0.0,
	   "move: without bandwidth, but also without bytes");
}

static void
test_cost_page_writes(void)
{
	int			wrong = 0;

	/* 1200 changes on 100 pages, 12 checkpoints: 1200 * (1 - 1/e) */
	is(tier_cost_page_writes_per_hour(1200, 100, 12),
	   1200 * (1 - 0.36787944117144233), "writes: one change per page and cycle");
	is(tier_cost_page_writes_per_hour(1e9, 100, 12), 1200,
	   "writes: at most all pages in each checkpoint");
	ok(fabs(tier_cost_page_writes_per_hour(5, 1e9, 12) - 5) < 1e-8,
	   "writes: few changes on many pages are as many writes");
	is(tier_cost_page_writes_per_hour(100, 50, 0), 0, "writes: no checkpoint");
	is(tier_cost_page_writes_per_hour(100, 0, 12), 0, "writes: no page");
	is(tier_cost_page_writes_per_hour(0, 50, 12), 0, "writes: no change");
	is(tier_cost_page_writes_per_hour(NAN, 50, 12), 0, "writes: damaged");

	random_state = 13;
	for (int i = 0; i < 10000; i++)
	{
		double		changes = exp(random_unit() * 30.0 - 10.0);
		double		pages = floor(exp(random_unit() * 15.0));
		double		checkpoints = random_unit() * 20.0;
		double		writes = tier_cost_page_writes_per_hour(changes, pages,
															checkpoints);
		double		most = fmin(changes, pages * checkpoints);

		/* 1 - 1/e is the least share of the smaller of the two limits */
		if (!(writes <= most && writes >= 0.632 * most))
			wrong++;
	}
	ok(wrong == 0, "writes: within their limits");
}


/*-------------------------------------------------------------------------
 * Policy
 *-------------------------------------------------------------------------
 */

static TierPartition
range_partition(int64_t lower_us, int64_t upper_us)
{
	TierPartition partition;

	memset(&partition, 0, sizeof(partition));
	partition.lower_kind = TIER_BOUND_FINITE;
	partition.upper_kind = TIER_BOUND_FINITE;
	partition.lower_us = lower_us;
	partition.upper_us = upper_us;
	return partition;
}

static TierPolicyVerdict
verdict(TierPartition partition, int64_t threshold_us)
{
	TierPolicyVerdict result;

	tier_policy_evaluate(&partition, 1, threshold_us, &result);
	return result;
}

static void
test_policy_verdicts(void)
{
	TierPartition p = range_partition(100, 200);

	ok(verdict(p, 201) == TIER_VERDICT_DUE, "policy: old is due");
	ok(verdict(p, 200) == TIER_VERDICT_DUE, "policy: just old enough is due");
	ok(verdict(p, 199) == TIER_VERDICT_TOO_YOUNG, "policy: too young");
	ok(verdict(range_partition(INT64_MIN, INT64_MAX), INT64_MAX) ==
	   TIER_VERDICT_DUE, "policy: the largest times compare");
	ok(verdict(range_partition(INT64_MIN, INT64_MIN), INT64_MIN) ==
	   TIER_VERDICT_DUE, "policy: the smallest times compare");

	p.lower_kind = TIER_BOUND_OPEN;
	ok(verdict(p, 200) == TIER_VERDICT_DUE,
	   "policy: an open lower bound does not matter");
	p.is_empty = true;
	ok(verdict(p, 200) == TIER_VERDICT_DUE, "policy: nor does emptiness");

	p = range_partition(100, 200);
	p.upper_kind = TIER_BOUND_OPEN;
	ok(verdict(p, INT64_MAX) == TIER_VERDICT_OPEN_BOUND,
	   "policy: an open upper bound is never due");
	p.upper_kind = TIER_BOUND_NONE;
	ok(verdict(p, INT64_MAX) == TIER_VERDICT_DEFAULT_PARTITION,
	   "policy: a default partition is never due");
	p = range_partition(100, 200);
	p.lower_kind = TIER_BOUND_NONE;
	ok(verdict(p, INT64_MAX) == TIER_VERDICT_DEFAULT_PARTITION,
	   "policy: nor is one below it");
}

/* Each verdict hides all that come after it. */
static void
test_policy_order(void)
{
	TierPartition p = range_partition(100, 200);

	p.is_foreign = p.is_temporary = p.on_target = p.on_slower_tier = true;
	p.lower_kind = TIER_BOUND_NONE;
	p.upper_kind = TIER_BOUND_OPEN;
	ok(verdict(p, 0) == TIER_VERDICT_FOREIGN, "policy order: foreign");
	p.is_foreign = false;
	ok(verdict(p, 0) == TIER_VERDICT_TEMPORARY, "policy order: temporary");
	p.is_temporary = false;
	ok(verdict(p, 0) == TIER_VERDICT_DEFAULT_PARTITION,
	   "policy order: default");
	p.lower_kind = TIER_BOUND_FINITE;
	ok(verdict(p, 0) == TIER_VERDICT_OPEN_BOUND, "policy order: open bound");
	p.upper_kind = TIER_BOUND_FINITE;
	ok(verdict(p, 0) == TIER_VERDICT_TOO_YOUNG, "policy order: too young");
	ok(verdict(p, 200) == TIER_VERDICT_ON_TARGET, "policy order: on target");
	p.on_target = false;
	ok(verdict(p, 200) == TIER_VERDICT_ON_SLOWER_TIER,
	   "policy order: on slower tier");
	p.on_slower_tier = false;
	ok(verdict(p, 200) == TIER_VERDICT_DUE, "policy order: due");
}

static void
test_policy_many(void)
{
	TierPartition p[3];
	TierPolicyVerdict v[3];

	p[0] = range_partition(0, 100);
	p[1] = range_partition(100, 200);
	p[2] = range_partition(200, 300);
	p[1].on_target = true;
	tier_policy_evaluate(p, 3, 200, v);
	ok(v[0] == TIER_VERDICT_DUE && v[1] == TIER_VERDICT_ON_TARGET &&
	   v[2] == TIER_VERDICT_TOO_YOUNG, "policy: one verdict for each");
	v[0] = TIER_VERDICT_FOREIGN;
	tier_policy_evaluate(NULL, 0, 200, v);
	ok(v[0] == TIER_VERDICT_FOREIGN, "policy: none for no partition");
}

static void
test_policy_newest(void)
{
	TierPartition p[4];
	int64_t		reference = 42;

	ok(!tier_policy_newest(NULL, 0, &reference) && reference == 42,
	   "newest: no partition says nothing");

	p[0] = range_partition(-300, -200);
	p[1] = range_partition(-100, -50);
	p[2] = range_partition(-200, -100);
	p[3] = range_partition(-50, 50);
	ok(tier_policy_newest(p, 3, &reference) && reference == -50,
	   "newest: the latest end, also before the epoch");
	p[3].is_empty = true;
	ok(tier_policy_newest(p, 4, &reference) && reference == -50,
	   "newest: one made in advance does not count");
	p[3].is_empty = false;
	ok(tier_policy_newest(p, 4, &reference) && reference == 50,
	   "newest: it does once it holds data");
	p[3].upper_kind = TIER_BOUND_OPEN;
	p[3].lower_us = -20;
	ok(tier_policy_newest(p, 4, &reference) && reference == -20,
	   "newest: its begin where the end is open");
	p[3].lower_kind = TIER_BOUND_OPEN;
	ok(tier_policy_newest(p, 4, &reference) && reference == -50,
	   "newest: nothing where both are open");
	p[3] = range_partition(-50, 50);
	p[3].is_foreign = true;
	ok(tier_policy_newest(p, 4, &reference) && reference == -50,
	   "newest: foreign tables do not count");
	p[3].is_foreign = false;
	p[3].upper_kind = TIER_BOUND_NONE;
	ok(tier_policy_newest(p, 4, &reference) && reference == -50,
	   "newest: default partitions do not count");
	reference = 42;
	ok(!tier_policy_newest(&p[3], 1, &reference) && reference == 42,
	   "newest: a default partition alone says nothing");
}

static void
test_policy_text(void)
{
	bool		distinct = true;

	for (int a = TIER_VERDICT_DUE; a <= TIER_VERDICT_TEMPORARY; a++)
		for (int b = TIER_VERDICT_DUE; b < a; b++)
			if (strcmp(tier_policy_verdict_text((TierPolicyVerdict) a),
					   tier_policy_verdict_text((TierPolicyVerdict) b)) == 0)
				distinct = false;
	ok(distinct, "text: each verdict has its own");
	ok(strcmp(tier_policy_verdict_text(TIER_VERDICT_TEMPORARY),
			  "unknown verdict") != 0 &&
	   strcmp(tier_policy_verdict_text((TierPolicyVerdict) 99),
			  "unknown verdict") == 0, "text: never NULL");
}


/*-------------------------------------------------------------------------
 * Solver: fixtures
 *-------------------------------------------------------------------------
 */

#define MAX_UNITS 3000
#define MAX_TIERS 4
#define INF INFINITY

static int	allocations = 0;

static void *
counting_alloc(size_t bytes)
{
	void	   *ptr = malloc(bytes);

	if (bytes == 0 || ptr == NULL)
		abort();
	memset(ptr, 0x7f, bytes);	/* nobody may rely on zeros */
	allocations++;
	return ptr;
}

static void
counting_release(void *ptr)
{
	allocations--;
	free(ptr);
}

/* A problem with its arrays, and the answer. */
typedef struct Case
{
	TierSolverProblem problem;
	TierSolverResult result;
	double		cost[MAX_UNITS * MAX_TIERS];
	double		price[MAX_UNITS * MAX_TIERS];
	double		size[MAX_UNITS];
	int			current[MAX_UNITS];
	double		capacity[MAX_TIERS];
	int			tier[MAX_UNITS];
	int			pushed_out_of[MAX_UNITS];
	double		used[MAX_TIERS];
} Case;

static Case the_case;

static Case *
new_case(int ntiers)
{
	Case	   *c = &the_case;

	memset(c, 0, sizeof(*c));
	c->problem.ntiers = ntiers;
	c->problem.cost = c->cost;
	c->problem.price = c->price;
	c->problem.size = c->size;
	c->problem.current = c->current;
	c->problem.capacity = c->capacity;
	c->problem.alloc = counting_alloc;
	c->problem.release = counting_release;
	c->result.tier = c->tier;
	c->result.pushed_out_of = c->pushed_out_of;
	c->result.used = c->used;
	for (int t = 0; t < ntiers; t++)
		c->capacity[t] = INF;
	return c;
}

/* Appends a unit; its ntiers costs follow. */
static void
add_unit(Case *c, int current, double size,...)
{
	int			unit = c->problem.nunits++;
	va_list		costs;

	c->current[unit] = current;
	c->size[unit] = size;
	va_start(costs, size);
	for (int t = 0; t < c->problem.ntiers; t++)
		c->cost[unit * c->problem.ntiers + t] = va_arg(costs, double);
	va_end(costs);
}

static void
set_price(Case *c, int unit, int tier, double price)
{
	c->price[unit * c->problem.ntiers + tier] = price;
}

static void
solve(Case *c)
{
	memset(c->tier, 0x55, sizeof(c->tier));
	memset(c->pushed_out_of, 0x55, sizeof(c->pushed_out_of));
	memset(c->used, 0x55, sizeof(c->used));
	tier_solver_solve(&c->problem, &c->result);
}

/* Solves, and compares tier and pushed_out_of by unit, e.g. "0 1", "- 0". */
static void
solves_to(Case *c, TierSolverStatus status, const char *tiers,
		  const char *pushed, const char *name)
{
	char		got_tiers[64] = "";
	char		got_pushed[64] = "";
	bool		passed;

	solve(c);
	for (int u = 0; u < c->problem.nunits; u++)
	{
		const char *space = u > 0 ? " " : "";
		size_t		at = strlen(got_tiers);

		if (c->tier[u] < 0)
			snprintf(got_tiers + at, sizeof(got_tiers) - at, "%s-", space);
		else
			snprintf(got_tiers + at, sizeof(got_tiers) - at, "%s%d", space,
					 c->tier[u]);
		at = strlen(got_pushed);
		if (c->pushed_out_of[u] < 0)
			snprintf(got_pushed + at, sizeof(got_pushed) - at, "%s-", space);
		else
			snprintf(got_pushed + at, sizeof(got_pushed) - at, "%s%d", space,
					 c->pushed_out_of[u]);
	}
	passed = c->result.status == status &&
		strcmp(got_tiers, tiers) == 0 && strcmp(got_pushed, pushed) == 0;
	ok(passed, "solver: %s", name);
	if (!passed)
		printf("#      got: status %d, tiers %s, pushed out of %s\n"
			   "# expected: status %d, tiers %s, pushed out of %s\n",
			   (int) c->result.status, got_tiers, got_pushed,
			   (int) status, tiers, pushed);
}

/* Tier 0 is fast, tier 1 is slow, tier 2, if any, is slower. */
static void
test_solver_basics(void)
{
	Case	   *c = new_case(2);

	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "", "", "no unit");
	ok(c->result.objective == 0 && c->result.lower_bound == 0 &&
	   c->used[0] == 0 && c->used[1] == 0, "solver: no unit, no sums");

	add_unit(c, 1, 10.0, 1.0, 5.0);
	add_unit(c, 0, 20.0, 7.0, 3.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0 1", "- -",
			  "everybody gets the cheapest tier");
	is(c->result.objective, 4.0, "solver: objective is the sum");
	is(c->result.lower_bound, 4.0, "solver: the bound is tight then");
	ok(c->used[0] == 10 && c->used[1] == 20, "solver: used bytes");

	/* Savings per byte: 4/10, 10/20, 1/1; room for 21 */
	c = new_case(2);
	c->capacity[0] = 21;
	add_unit(c, 1, 10.0, 1.0, 5.0);
	add_unit(c, 1, 20.0, 2.0, 12.0);
	add_unit(c, 1, 1.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0 0", "0 - -",
			  "most saved per byte first");
	is(c->result.objective, 8.0, "solver: objective when constrained");
	/* fractional: nothing of unit 0 fits, 1 + 2 + 5 */
	is(c->result.lower_bound, 8.0, "solver: fractional bound, full tier");
	c->capacity[0] = 26;
	solve(c);
	/* half of unit 0 fits: 8 - 2 */
	ok(fabs(c->result.lower_bound - 6.0) < 1e-7,
	   "solver: fractional bound, half a unit");

	/* A full tier of exactly the right size */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 1, 10.0, 1.0, 5.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-", "just fits");
	c->capacity[0] = 9;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1", "0", "just does not fit");
	is(c->result.lower_bound, 5.0,
	   "solver: the bound knows who is too large alone");

	c = new_case(1);
	c->capacity[0] = 5;
	add_unit(c, 0, 5.0, 3.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-", "a single tier");
	ok(allocations == 0, "solver: all scratch memory was released");
}

static void
test_solver_displaces(void)
{
	Case	   *c = new_case(2);

	/* an idle unit fills the fast tier */
	c->capacity[0] = 10;
	add_unit(c, 0, 10.0, 0.0, 0.0);
	add_unit(c, 1, 10.0, 1.0, 9.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "an idle unit yields to a hot one");

	/* both want to be there, the one that gains less per byte yields */
	c->cost[1] = 5.0;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a warm unit yields to a hot one");
	c->cost[1] = 20.0;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "- 0",
			  "but not to a cooler one");

	/* the same gain: nobody moves for nothing, whatever the index */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 1, 10.0, 1.0, 9.0);
	add_unit(c, 0, 10.0, 1.0, 9.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "equal units do not change places");
	c->cost[1] = 9.05;
	c->problem.cost_epsilon = 0.1;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "nor for less than epsilon");
	c->problem.cost_epsilon = 0.02;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "- 0",
			  "but for more");

	/* ties are broken by index */
	c = new_case(2);
	c->capacity[0] = 10;
	for (int i = 0; i < 3; i++)
		add_unit(c, 1, 10.0, 1.0, 9.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- 0 0",
			  "of equal units the first one wins");
}

static void
test_solver_greedy_traps(void)
{
	Case	   *c = new_case(2);

	/* Unit 0: 2 per byte but only 2 in all; unit 1: 1 per byte, 10 in all */
	c->capacity[0] = 10;
	add_unit(c, 1, 1.0, 0.0, 2.0);
	add_unit(c, 1, 10.0, 0.0, 10.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a small dense unit does not shut out a large one");
	c->current[1] = 0;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "nor push it out");

	/* The trap beside a good move that must be made all the same */
	add_unit(c, 0, 5.0, 50.0, 1.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0 1", "0 - -",
			  "nor in the shadow of a good move");

	/*
	 * Per byte against the next best, unit 0 (0.1) comes last and falls to
	 * tier 2; against the worst it comes first.
	 */
	c = new_case(3);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	add_unit(c, 2, 10.0, 0.0, 1.0, 100.0);
	add_unit(c, 2, 10.0, 0.0, 2.0, 4.0);
	add_unit(c, 2, 10.0, 0.0, 3.0, 5.0);
	solve(c);
	is(c->result.objective, 5.0, "solver: three tiers, the optimum");
}

/*
 * A rotation that greedy finds at once and no series of single moves and
 * exchanges does: units 0 and 1 together take the place of unit 2.  Each of
 * them saves `saving`.
 */
static void
add_rotation(Case *c, int fast, int slow, double saving)
{
	for (int i = 0; i < 3; i++)
	{
		int			unit = c->problem.nunits++;

		for (int t = 0; t < c->problem.ntiers; t++)
			c->cost[unit * c->problem.ntiers + t] = INF;
		c->size[unit] = i < 2 ? 4 : 10;
		c->current[unit] = i < 2 ? slow : fast;
		c->cost[unit * c->problem.ntiers + fast] = 1.0;
		c->cost[unit * c->problem.ntiers + slow] = i < 2 ? 1.0 + saving : 1.0;
	}
}

static void
test_solver_rotation(void)
{
	Case	   *c = new_case(2);

	c->capacity[0] = 10;
	c->capacity[1] = 10;
	c->problem.cost_epsilon = 0.1;
	add_rotation(c, 0, 1, 0.2);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 0 1", "- - 0",
			  "a rotation between full tiers");
	/* three moves save 0.29 together, though per byte more than unit 2 */
	c = new_case(2);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	c->problem.cost_epsilon = 0.1;
	add_rotation(c, 0, 1, 0.145);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 1 0", "0 0 -",
			  "but not for less than epsilon a move");

	/* units 3 and 4 gain the same, less than 0 and 1 */
	c = new_case(2);
	c->capacity[0] = 20;
	c->capacity[1] = 20;
	add_rotation(c, 0, 1, 9.0);
	add_unit(c, 1, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 0 1 1 0", "- - 0 0 -",
			  "beside it, equal units do not change places");

	/* unit 3 must not take the room of unit 4: unit 5 is in its way */
	c = new_case(4);
	c->capacity[0] = 100;
	c->capacity[1] = 90;
	c->capacity[2] = 10;
	c->capacity[3] = 10;
	add_rotation(c, 2, 3, 9.0);
	add_unit(c, 1, 60.0, 1.0, 99.0, INF, INF);
	add_unit(c, 0, 90.0, 1.0, 2.0, INF, INF);
	add_unit(c, 1, 30.0, INF, 2.0, INF, INF);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "2 2 3 1 0 1", "- - 2 0 - -",
			  "beside it, who has to stay keeps its room");
}

/* Where each order alone fails. */
static void
test_solver_orders(void)
{
	Case	   *c = new_case(2);

	/* Five small ones save 7.5, the large one 10; no exchange fits. */
	c->capacity[0] = 10;
	for (int i = 0; i < 5; i++)
		add_unit(c, 1, 1.0, 0.0, 1.5);
	add_unit(c, 1, 10.0, 0.0, 10.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 1 1 1 1 0", "0 0 0 0 0 -",
			  "one that saves more than all small ones");

	/*
	 * Tiers 0 and 1: the dense unit 0 shuts out unit 1, which only an order
	 * by the total or an exchange sets right.  Tiers 2 and 3: ten units
	 * together save more than unit 2, which only an order by byte sees. Tiers
	 * 1 and 3 have no room to spare.
	 */
	c = new_case(4);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	c->capacity[2] = 10;
	c->capacity[3] = 10;
	add_unit(c, 0, 1.0, 0.0, 2.0, INF, INF);
	add_unit(c, 1, 10.0, 0.0, 10.0, INF, INF);
	add_unit(c, 2, 10.0, INF, INF, 0.0, 12.0);
	for (int i = 0; i < 10; i++)
		add_unit(c, 3, 1.0, INF, INF, 0.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0 3 2 2 2 2 2 2 2 2 2 2",
			  "0 - 2 - - - - - - - - - -", "an exchange on top of an order");
}

static void
test_solver_ties(void)
{
	Case	   *c = new_case(3);

	c->problem.cost_epsilon = 0.5;
	add_unit(c, 1, 10.0, 1.0, 1.4, 1.2);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "within epsilon a unit stays");
	set_price(c, 0, 0, 3.0);
	set_price(c, 0, 1, 2.0);
	set_price(c, 0, 2, 2.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "also when another one is as cheap");
	set_price(c, 0, 2, 1.5);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "2", "-", "the price decides");
	c->cost[2] = 1.6;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "but only within epsilon");
	set_price(c, 0, 0, 0.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "an unknown price attracts nobody");
	c->cost[2] = 1.2;
	set_price(c, 0, 1, 0.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "and drives nobody away");
	c->cost[1] = 1.6;
	set_price(c, 0, 2, 0.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-",
			  "the cost decides when no price is known");
	c->cost[2] = 1.0;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-", "then the index");
	c->current[0] = -1;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-",
			  "also for a unit that is nowhere");

	/* Idle and cheaper elsewhere, but that is full */
	c = new_case(2);
	add_unit(c, 0, 10.0, 0.0, 0.0);
	set_price(c, 0, 0, 5.0);
	set_price(c, 0, 1, 1.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "an idle unit goes where it is cheap");
	c->capacity[1] = 9;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0", "1",
			  "it stays if there is no room");
}

static void
test_solver_zero_sizes(void)
{
	Case	   *c = new_case(2);

	c->capacity[0] = 0;
	add_unit(c, 1, 0.0, 1.0, 2.0);
	add_unit(c, 1, 0.0, 1.0, 1.0);
	add_unit(c, 1, 8.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- - 0",
			  "zero-size units need no room");
	c->capacity[0] = -5;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- - 0",
			  "negative capacity is none");
	c->capacity[0] = NAN;
	c->size[0] = NAN;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- - 0",
			  "nor is NaN a size or a capacity");
	c->size[0] = -3;
	solve(c);
	ok(c->used[0] == 0 && c->used[1] == 8,
	   "solver: a negative size counts as 0");
}

static void
test_solver_forbidden(void)
{
	Case	   *c = new_case(2);

	add_unit(c, 0, 10.0, INF, INF);
	add_unit(c, 1, 10.0, 1.0, 4.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0", "- -",
			  "a unit that may live nowhere stays");
	is(c->result.objective, 1.0, "solver: it does not count in the objective");
	is(c->result.lower_bound, 1.0, "solver: nor in the bound");
	ok(c->used[0] == 20, "solver: but its bytes do count");
	c->capacity[0] = 19;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 1", "- 0",
			  "its room is not to be had");
	c->current[0] = -1;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "- 0", "- -",
			  "nowhere and may live nowhere");

	/* must leave, and can */
	c = new_case(2);
	add_unit(c, 0, 10.0, INF, 7.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "a unit leaves where it may not live");
	/* must leave, and cannot */
	c->capacity[1] = 9;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0", "1", "unless nothing has room");
	ok(c->result.objective == 0 && c->result.lower_bound == 0,
	   "solver: the homeless count in no sum");
	c->cost[1] = NAN;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0", "-", "NaN permits nothing");
	c->cost[0] = NAN;
	c->cost[1] = 7.0;
	c->capacity[1] = 10;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-", "also not to stay");

	/* pinned: goes before one that gains more */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 1, 10.0, 1.0, 900.0);
	add_unit(c, 1, 10.0, 1.0, INF);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a unit with one possibility goes first");
	/* tier 0 cannot hold it, so tier 1 is its one possibility */
	c = new_case(2);
	c->capacity[0] = 10;
	c->capacity[1] = 20;
	add_unit(c, -1, 10.0, 4.0, 3.0);
	add_unit(c, -1, 20.0, 0.0, 1.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "1 0",
			  "a tier that is too small is no possibility");
	is(c->result.lower_bound, 5.0, "solver: nor is it for the bound");

	/* placing it makes the sum larger, for it did not count before */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 0, 10.0, 1.0, 3.0);
	add_unit(c, -1, 10.0, 5.0, INF);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a tier for each unit is worth more than any saving");

	c = new_case(2);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	add_unit(c, -1, 20.0, 1.0, 1.0);
	add_unit(c, -1, 10.0, 1.0, 2.0);
	add_unit(c, 7, 10.0, 1.0, 3.0);
	add_unit(c, -3, 10.0, 1.0, 1.5);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "- 1 0 -", "0 0 - 0",
			  "units without a tier remain so if nothing has room");
}

static void
test_solver_over_full(void)
{
	Case	   *c = new_case(2);

	c->capacity[0] = 15;
	c->capacity[1] = 5;
	add_unit(c, 0, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 3.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0", "- 0",
			  "over-full and nowhere to go: stay");
	ok(c->used[0] == 20 && c->used[1] == 0, "solver: over-full, used bytes");
	is(c->result.objective, 2.0, "solver: over-full, objective");
	is(c->result.lower_bound, 2.0, "solver: over-full, the bound ignores it");

	c->capacity[1] = 10;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "over-full and somewhere to go: the coolest leaves");
	c->capacity[0] = 20;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0 0", "- -", "full, but not over");

	/* units 0 and 1 make it too full; unit 2 would like to come in */
	c = new_case(2);
	c->capacity[0] = 15;
	c->capacity[1] = 5;
	add_unit(c, 0, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 3.0);
	add_unit(c, 1, 5.0, 1.0, 100.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0 1", "- 0 0",
			  "an over-full tier takes nobody in");

	/* only a part can leave: the coolest that fits, the hottest never */
	c = new_case(2);
	c->capacity[0] = 20;
	c->capacity[1] = 10;
	add_unit(c, 0, 10.0, 1.0, 5.0);
	add_unit(c, 0, 10.0, 1.0, 3.0);
	add_unit(c, 0, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 4.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0 1 0", "- 0 0 -",
			  "over-full: who can leaves, the rest stays");

	/* nowhere to go for unit 1, so unit 0 must not take its room */
	c = new_case(2);
	c->capacity[0] = 100;
	c->capacity[1] = 80;
	add_unit(c, 1, 80.0, 1.0, 99.0);
	add_unit(c, 0, 90.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "nobody moves into the room of one who has to stay");
	/* with room for it the same move is right */
	c->capacity[1] = 90;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "- 0",
			  "but into that of one who can leave");
}


/*-------------------------------------------------------------------------
 * Solver: random instances against brute force
 *-------------------------------------------------------------------------
 */

/* What is true of a placement: current or an answer. */
typedef struct Facts
{
	double		used[MAX_TIERS];
	double		cost;
	int			homeless;
	bool		fits;			/* all capacities are respected */
} Facts;

static void
find_facts(const Case *c, const int *tier, Facts *facts)
{
	int			ntiers = c->problem.ntiers;

	memset(facts, 0, sizeof(*facts));
	for (int u = 0; u < c->problem.nunits; u++)
	{
		if (tier[u] >= 0)
			facts->used[tier[u]] += c->size[u];
		if (tier[u] < 0 || isinf(c->cost[u * ntiers + tier[u]]))
			facts->homeless++;
		else
			facts->cost += c->cost[u * ntiers + tier[u]];
	}
	facts->fits = true;
	for (int t = 0; t < ntiers; t++)
		if (facts->used[t] > c->capacity[t])
			facts->fits = false;
}

/* The least cost of all placements, INFINITY if none is feasible. */
static double
brute_force(const Case *c)
{
	int			n = c->problem.nunits;
	int			ntiers = c->problem.ntiers;
	int			tier[16] = {0};
	double		best = INFINITY;

	for (;;)
	{
		Facts		facts;
		int			u = 0;

		find_facts(c, tier, &facts);
		if (facts.fits && facts.homeless == 0 && facts.cost < best)
			best = facts.cost;
		while (u < n && ++tier[u] == ntiers)
			tier[u++] = 0;
		if (u == n)
			return best;
	}
}

typedef enum Family
{
	FAMILY_TYPICAL,				/* scarce fast tiers, an ample slowest one */
	FAMILY_TIGHT,				/* every tier is scarce */
	FAMILY_WILD,				/* forbidden tiers, no tier, over-full, ties */
} Family;

#define NUM_FAMILIES 3

static const char *const family_names[] = {"typical", "tight", "wild"};

static void
random_case(Case *c, Family family, int nunits)
{
	int			ntiers = c->problem.ntiers;
	double		total = 0.0;

	for (int u = 0; u < nunits; u++)
	{
		double		reads = exp(random_unit() * 8.0);
		double		cost = 0.001 * reads;
		int			current = random_int(ntiers);
		double		size = floor(exp(random_unit() * 4.0));

		c->problem.nunits++;
		if (family == FAMILY_WILD && random_int(6) == 0)
			size = 0.0;
		if (family == FAMILY_WILD && random_int(8) == 0)
			current = -1;
		if (family == FAMILY_WILD && random_int(4) == 0)
			cost = random_int(3);
		c->size[u] = size;
		c->current[u] = current;
		total += size;
		for (int t = 0; t < ntiers; t++)
		{
			double	   *here = &c->cost[u * ntiers + t];

			*here = cost;
			if (family == FAMILY_WILD && random_int(6) == 0)
				*here = INF;
			if (family == FAMILY_WILD)
				cost = floor(cost + random_unit() * 3.0);
			else
				cost *= 1.0 + random_unit() * 9.0;
			c->price[u * ntiers + t] = random_int(3) * size;
		}
	}
	for (int t = 0; t < ntiers; t++)
		c->capacity[t] = floor(total * random_unit() *
							   (family == FAMILY_TIGHT ? 2.0 / ntiers : 1.0));
	if (family == FAMILY_TYPICAL)
		c->capacity[ntiers - 1] = INF;
}

/* What every answer must be; NULL if it is, else what it is not. */
static const char *
violation(const Case *c)
{
	int			ntiers = c->problem.ntiers;
	int			pushed = 0;
	double		sum_of_least = 0.0;
	double		allowance;
	Facts		now;
	Facts		then;

	find_facts(c, c->current, &now);
	find_facts(c, c->tier, &then);
	allowance = c->problem.cost_epsilon * (ntiers + 1) * c->problem.nunits;

	for (int u = 0; u < c->problem.nunits; u++)
	{
		int			tier = c->tier[u];
		double		least = INF;

		for (int t = 0; t < ntiers; t++)
			least = fmin(least, c->cost[u * ntiers + t]);
		sum_of_least += isinf(least) ? 0.0 : least;

		if (tier < -1 || tier >= ntiers)
			return "a tier that does not exist";
		if (c->pushed_out_of[u] < -1 || c->pushed_out_of[u] >= ntiers)
			return "pushed out of a tier that does not exist";
		if (c->pushed_out_of[u] >= 0)
		{
			pushed++;
			if (isinf(c->cost[u * ntiers + c->pushed_out_of[u]]))
				return "pushed out of a forbidden tier";
			if (c->pushed_out_of[u] == tier &&
				then.used[tier] <= c->capacity[tier])
				return "too many where there is room";
		}
		if (tier == c->current[u])
			continue;
		if (tier < 0)
			return "a unit has lost its tier";
		if (isinf(c->cost[u * ntiers + tier]))
			return "a move to a forbidden tier";
		if (then.used[tier] > c->capacity[tier])
			return "a move to a tier without room";
	}

	for (int t = 0; t < ntiers; t++)
	{
		if (c->used[t] != then.used[t])
			return "wrong sum of used bytes";
		if (then.used[t] > c->capacity[t] && then.used[t] > now.used[t])
			return "an over-full tier holds more than before";
	}
	if (!near(c->result.objective, then.cost))
		return "wrong objective";
	if (c->result.lower_bound > c->result.objective)
		return "bound above objective";
	if (then.homeless > now.homeless)
		return "more homeless than before";
	if (now.fits && now.homeless == 0 &&
		then.cost > now.cost * (1 + 1e-9) + allowance)
		return "worse than no move";
	if ((c->result.status == TIER_SOLVER_INFEASIBLE) !=
		(!then.fits || then.homeless > 0))
		return "wrong about feasibility";
	if (c->result.status == TIER_SOLVER_CONSTRAINED && pushed == 0)
		return "constrained by nothing";
	if (c->result.status == TIER_SOLVER_UNCONSTRAINED &&
		(pushed > 0 || then.cost > sum_of_least * (1 + 1e-9) + allowance))
		return "unconstrained but not the best";
	return NULL;
}

/* No unit could change to a tier with room and save more than epsilon. */
static bool
has_idle_improvement(const Case *c)
{
	int			ntiers = c->problem.ntiers;

	for (int u = 0; u < c->problem.nunits; u++)
		for (int t = 0; t < ntiers; t++)
		{
			if (t == c->tier[u] || c->used[t] + c->size[u] > c->capacity[t])
				continue;
			if (c->tier[u] < 0 ? !isinf(c->cost[u * ntiers + t]) :
				c->cost[u * ntiers + t] + c->problem.cost_epsilon * 1.000001 <
				c->cost[u * ntiers + c->tier[u]])
				return true;
		}
	return false;
}

static void
test_solver_random(Family family, int trials)
{
	double		worst_gap = 0.0;
	double		sum_gap = 0.0;
	double		sum_bound_gap = 0.0;
	int			violations = 0;
	int			better_than_optimum = 0;
	int			bound_above_optimum = 0;
	int			idle_improvements = 0;
	int			not_repeated = 0;
	int			missed = 0;
	int			solved = 0;
	int			optimal = 0;
	int			bound_helps = 0;
	const char *first = NULL;

	random_state = 21 + (uint64_t) family;
	for (int trial = 0; trial < trials; trial++)
	{
		Case	   *c = new_case(1 + random_int(MAX_TIERS));
		int			ntiers = c->problem.ntiers;
		int			previous[16];
		const char *wrong;
		double		optimum;
		double		least = 0.0;

		random_case(c, family, 1 + random_int(ntiers == 4 ? 6 : 7));
		c->problem.cost_epsilon = trial % 4 == 0 ? 0.1 : 0.0;
		solve(c);

		wrong = violation(c);
		if (wrong != NULL)
		{
			violations++;
			if (first == NULL)
				first = wrong;
		}
		if (has_idle_improvement(c))
			idle_improvements++;

		memcpy(previous, c->tier, c->problem.nunits * sizeof(int));
		solve(c);
		if (memcmp(previous, c->tier, c->problem.nunits * sizeof(int)) != 0)
			not_repeated++;

		optimum = brute_force(c);
		if (c->result.status == TIER_SOLVER_INFEASIBLE)
		{
			if (!isinf(optimum))
				missed++;
			continue;
		}
		if (c->result.objective < optimum * (1 - 1e-9))
			better_than_optimum++;
		if (c->result.lower_bound > optimum * (1 + 1e-9) + 1e-12)
			bound_above_optimum++;
		for (int u = 0; u < c->problem.nunits; u++)
		{
			double		lowest = INF;

			for (int t = 0; t < ntiers; t++)
				lowest = fmin(lowest, c->cost[u * ntiers + t]);
			least += lowest;
		}
		if (c->result.lower_bound > least * 1.001)
			bound_helps++;
		if (c->problem.cost_epsilon > 0.0 || optimum <= 0.0)
			continue;
		solved++;
		sum_gap += c->result.objective / optimum - 1;
		sum_bound_gap += 1 - c->result.lower_bound / optimum;
		worst_gap = fmax(worst_gap, c->result.objective / optimum - 1);
		if (c->result.objective <= optimum * (1 + 1e-9))
			optimal++;
	}

	ok(violations == 0, "solver, %s: every answer keeps the promises",
	   family_names[family]);
	if (violations > 0)
		printf("# %d violations, the first: %s\n", violations, first);
	ok(better_than_optimum == 0, "solver, %s: nothing beats brute force",
	   family_names[family]);
	ok(bound_above_optimum == 0, "solver, %s: the bound is one",
	   family_names[family]);
	ok(bound_helps > trials / 20,
	   "solver, %s: the bound is often better than the sum of least costs",
	   family_names[family]);
	ok(idle_improvements == 0,
	   "solver, %s: no single move is left that would help",
	   family_names[family]);
	ok(not_repeated == 0, "solver, %s: the same problem, the same answer",
	   family_names[family]);
	ok(solved > trials / 10, "solver, %s: enough instances have a solution",
	   family_names[family]);
	ok(sum_gap <= 0.02 * solved, "solver, %s: the mean gap is below 2 %%",
	   family_names[family]);
	ok(sum_bound_gap <= 0.1 * solved,
	   "solver, %s: the bound is within 10 %% of the optimum on average",
	   family_names[family]);
	ok(missed <= trials / 50,
	   "solver, %s: a solution that exists is rarely missed",
	   family_names[family]);
	printf("# %s: greedy gap: max %.2f %%, mean %.4f %%; optimal in %.1f %% of %d;"
		   " bound below optimum: mean %.2f %%; missed solutions: %d\n",
		   family_names[family], 100 * worst_gap, 100 * sum_gap / solved,
		   100.0 * optimal / solved, solved, 100 * sum_bound_gap / solved,
		   missed);
}

/* With an ample slow tier greedy saves at least half of what can be saved. */
static void
test_solver_half_of_the_saving(void)
{
	int			wrong = 0;
	double		least_share = 1.0;

	random_state = 31;
	for (int trial = 0; trial < 3000; trial++)
	{
		Case	   *c = new_case(2);
		int			n = 1 + random_int(10);
		double		nothing = 0.0;
		double		most;

		for (int u = 0; u < n; u++)
		{
			double		cost = random_unit() * 100.0;

			add_unit(c, 1, 1.0 + random_int(30), cost * random_unit(), cost);
			nothing += cost;
		}
		c->capacity[0] = random_int(60);
		solve(c);
		most = nothing - brute_force(c);
		if (nothing - c->result.objective < most / 2 - 1e-9)
			wrong++;
		if (most > 1e-9)
			least_share = fmin(least_share,
							   (nothing - c->result.objective) / most);
	}
	ok(wrong == 0, "solver: two tiers, at least half of the possible saving");
	printf("# two tiers: worst share of the possible saving %.3f\n",
		   least_share);
}

/* Every answer is a fixed point: solved again from there, nobody moves. */
static void
test_solver_is_stable(void)
{
	int			moved = 0;

	random_state = 41;
	for (int trial = 0; trial < 2000; trial++)
	{
		Case	   *c = new_case(2 + random_int(3));
		double		first;

		random_case(c, FAMILY_TIGHT, 1 + random_int(12));
		c->problem.cost_epsilon = 0.01;
		solve(c);
		if (c->result.status == TIER_SOLVER_INFEASIBLE)
			continue;
		first = c->result.objective;
		memcpy(c->current, c->tier, sizeof(c->current));
		solve(c);
		if (memcmp(c->current, c->tier, c->problem.nunits * sizeof(int)) != 0 &&
			c->result.objective > first - 1e-9)
			moved++;
	}
	ok(moved == 0, "solver: once placed, nobody moves without a saving");
}

static void
test_solver_large(void)
{
	Case	   *c = new_case(4);
	const char *wrong;
	double		gap;

	random_state = 51;
	random_case(c, FAMILY_TYPICAL, MAX_UNITS);
	c->capacity[0] = c->capacity[1] = c->capacity[2] = 4000;
	solve(c);
	wrong = violation(c);
	gap = 1 - c->result.lower_bound / c->result.objective;
	ok(wrong == NULL, "solver: %d units keep the promises", MAX_UNITS);
	if (wrong != NULL)
		printf("# %s\n", wrong);
	ok(gap < 0.03, "solver: %d units, bound and objective within 3 %%",
	   MAX_UNITS);
	printf("# %d units, 4 tiers: %.3f %% between bound and objective\n",
		   MAX_UNITS, 100 * gap);
	ok(allocations == 0, "solver: no scratch memory is left");
}

int
main(void)
{
	test_heat_counter_delta();
	test_heat_advance();
	test_heat_splitting();
	test_heat_read();
	test_heat_is_robust();

	test_cost_attribute_heap();
	test_cost_attribute_heap_unknown();
	test_cost_attribute_index();
	test_cost_attribute_is_ordered();
	test_cost_busy();
	test_cost_price_and_move();
	test_cost_page_writes();

	test_policy_verdicts();
	test_policy_order();
	test_policy_many();
	test_policy_newest();
	test_policy_text();

	test_solver_basics();
	test_solver_displaces();
	test_solver_greedy_traps();
	test_solver_rotation();
	test_solver_orders();
	test_solver_ties();
	test_solver_zero_sizes();
	test_solver_forbidden();
	test_solver_over_full();
	for (int family = 0; family < NUM_FAMILIES; family++)
		test_solver_random((Family) family, 4000);
	test_solver_half_of_the_saving();
	test_solver_is_stable();
	test_solver_large();

	printf("1..%d\n", tests_run);
	return tests_failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
