/*-------------------------------------------------------------------------
 *
 * test_pure.c
 *		Tests of the modules that know nothing of PostgreSQL: block sets, heat,
 *		cost and policy.  Prints TAP; run it by test/unit/run.
 *
 * Numbers in fixtures were computed by hand; the arithmetic is beside them.
 * Random instances come from a fixed seed, so a failure repeats.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/blockset.h"
#include "src/model/cost.h"
#include "src/model/effect.h"
#include "src/model/fit.h"
#include "src/model/heat.h"
#include "src/model/order.h"
#include "src/model/page_writes.h"
#include "src/model/policy.h"
#include "src/model/split.h"
#include "src/model/wait_class.h"


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

	/*
	 * 1e-6 events per hour are fewer than one in a hundred years, 1e-5 are
	 * not
	 */
	is(tier_heat_read(1e-6, 0.0, 60.0 * 3600.0, 3600.0), 0.0,
	   "read: what is left of next to nothing is nothing");
	is(tier_heat_read(1e-5, 0.0, 60.0 * 3600.0, 3600.0), 1e-5,
	   "read: what comes in a lifetime is something");
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

	/* 200 of the 300 writes are 1.6384 MB in runs, at 100 MB/s. */
	load.merged_writes = 200;
	is(tier_cost_busy_s_per_hour(&load, &hdd), 12.5 + 1.0 + 1.0 + 1.0 + 1.6384 / 100,
	   "busy: merged writes cost their bytes");
	is(tier_cost_on(&load, &hdd).written_bytes, 300 * 8192.0, "busy: and are written");
	load.merged_writes = 301;
	is(tier_cost_busy_s_per_hour(&load, &hdd), 12.5 + 1.0 + 1.0 + 300 * 8192.0 / 100e6,
	   "busy: no more are merged than written");

	load.random_reads = -1;
	load.sequential_reads = NAN;
	load.page_writes = INFINITY;
	is(tier_cost_busy_s_per_hour(&load, &hdd), 0.0, "busy: damaged load");
}

static void
test_cost_price_and_move(void)
{
	TierCostProfile broken = hdd;
	TierCostLoad idle = {0};
	TierCostLoad paid = {1000, 512000, 20, 0, 0, 0};

	/* 100 GB * 0.1 / 0.8 */
	is(tier_cost_price_per_month(1e11, &idle, &ssd, 0.2), 12.5, "price: with reserve");
	is(tier_cost_price_per_month(1e11, &idle, &ssd, 0.0), 10.0,
	   "price: without reserve");
	is(tier_cost_price_per_month(1e11, &idle, &ssd, -3.0), 10.0,
	   "price: negative reserve is none");
	is(tier_cost_price_per_month(1e11, &idle, &ssd, 1.0), 1000.0,
	   "price: a reserve of everything is limited");
	is(tier_cost_price_per_month(0.0, &idle, &ssd, 0.2), 0.0, "price: no bytes");
	broken.price_per_gb_month = 0.0;
	is(tier_cost_price_per_month(1e11, &idle, &broken, 0.2), 0.0, "price: unknown");
	/* (1000 + 20 + 512000 * 8 kB / 4 MB) * 730 h * 0.4 / 10^6 */
	broken.price_per_million_reads = 0.4;
	is(tier_cost_price_per_month(1e11, &paid, &broken, 0.2), 2020 * 730 * 0.4 / 1e6,
	   "price: of requests");

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

static TierCostLoad
estimate_writes(double changes, double pages, double checkpoints)
{
	TierCostLoad load = {.page_writes = 7,.merged_writes = 7};

	tier_cost_estimate_writes(changes, pages, checkpoints, &load);
	return load;
}

static void
test_cost_page_writes(void)
{
	TierCostLoad load = estimate_writes(1200, 100, 12);
	int			wrong = 0;

	/* 1200 changes on 100 pages, 12 checkpoints: 1200 * (1 - 1/e) */
	is(load.page_writes, 1200 * (1 - 0.36787944117144233),
	   "writes: one change per page and cycle");
	is(load.merged_writes, load.page_writes * (1 - 0.36787944117144233),
	   "writes: and the page before is written as often");
	load = estimate_writes(1e9, 100, 12);
	ok(load.page_writes == 1200 && load.merged_writes == 1200,
	   "writes: at most all pages in each checkpoint, in one run");
	load = estimate_writes(5, 1e9, 12);
	ok(fabs(load.page_writes - 5) < 1e-8 && load.merged_writes < 1e-8,
	   "writes: few changes on many pages are as many writes");
	load = estimate_writes(100, 50, 0);
	ok(load.page_writes == 0 && load.merged_writes == 0, "writes: no checkpoint");
	is(estimate_writes(100, 0, 12).page_writes, 0, "writes: no page");
	is(estimate_writes(0, 50, 12).page_writes, 0, "writes: no change");
	is(estimate_writes(NAN, 50, 12).page_writes, 0, "writes: damaged");

	random_state = 13;
	for (int i = 0; i < 10000; i++)
	{
		double		changes = exp(random_unit() * 30.0 - 10.0);
		double		pages = floor(exp(random_unit() * 15.0));
		double		checkpoints = random_unit() * 20.0;
		double		most = fmin(changes, pages * checkpoints);

		load = estimate_writes(changes, pages, checkpoints);

		/* 1 - 1/e is the least share of the smaller of the two limits */
		if (!(load.page_writes <= most && load.page_writes >= 0.632 * most &&
			  load.merged_writes >= 0 && load.merged_writes <= load.page_writes))
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
	TierPolicyConditions conditions = {.has_age = true,.age_us = threshold_us};

	return tier_policy_evaluate(&partition, &conditions);
}

static void
test_split_maintenance(void)
{
	TierSplitPeriod p = {.misses = 1e6,.covered = true,.complete = true,.touched = true,
	.sample_rate = 0.1,.certain_blocks = 1000.0};

	ok(tier_split_is_maintenance(&p), "maintenance: more than plans can have read unseen");
	p.misses = 10.0;
	ok(!tier_split_is_maintenance(&p), "maintenance: not if a plan can have read it");
	p.sample_rate = 1.0;
	ok(tier_split_is_maintenance(&p), "maintenance: all plans are seen");
	p.misses = 0.0;
	ok(!tier_split_is_maintenance(&p), "maintenance: hits are handed on late");
	p.misses = 1e6;
	p.looked_up = true;
	ok(!tier_split_is_maintenance(&p), "maintenance: a scan of an index is use");
	p.looked_up = false;
	p.plans.plans = 1.0;
	ok(!tier_split_is_maintenance(&p), "maintenance: not if a plan has read it");
	p.plans.plans = 0.0;
	p.covered = false;
	ok(!tier_split_is_maintenance(&p), "maintenance: not if nobody was watching");
	p.covered = true;
	p.complete = false;
	ok(!tier_split_is_maintenance(&p), "maintenance: not if something got lost");
	p.touched = false;
	ok(!tier_split_is_maintenance(&p), "maintenance: rows by their place");
	p.maintained = true;
	ok(tier_split_is_maintenance(&p), "maintenance: a vacuum");
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

	p.is_foreign = p.is_temporary = p.on_target = p.on_slower_tier = p.pinned_elsewhere = true;
	p.is_immovable = p.not_allowed = p.has_no_age = true;
	p.lower_kind = TIER_BOUND_NONE;
	p.upper_kind = TIER_BOUND_OPEN;
	ok(verdict(p, 0) == TIER_VERDICT_FOREIGN, "policy order: foreign");
	p.is_foreign = false;
	ok(verdict(p, 0) == TIER_VERDICT_TEMPORARY, "policy order: temporary");
	p.is_temporary = false;
	ok(verdict(p, 0) == TIER_VERDICT_IMMOVABLE, "policy order: immovable");
	p.is_immovable = false;
	ok(verdict(p, 0) == TIER_VERDICT_NO_RIGHT, "policy order: no right");
	p.not_allowed = false;
	ok(verdict(p, 0) == TIER_VERDICT_NO_AGE, "policy order: no age");
	p.has_no_age = false;
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
	ok(verdict(p, 200) == TIER_VERDICT_PINNED, "policy order: pinned");
	p.pinned_elsewhere = false;
	ok(verdict(p, 200) == TIER_VERDICT_DUE, "policy order: due");
}

/*-------------------------------------------------------------------------
 * Block sets
 *-------------------------------------------------------------------------
 */

static void *
resize_blocks(void *argument, void *old, size_t size)
{
	(*(int *) argument)++;
	return realloc(old, size);
}

#define BLOCKSET_BLOCKS 5000

/* Is the set the same as the array, by every question that it answers? */
static bool
same_blocks(TierBlockSet *set, const bool *blocks)
{
	uint64_t	count = 0;
	uint32_t	next = tier_blockset_next(set, 0);

	for (uint32_t i = 0; i < BLOCKSET_BLOCKS; i++)
	{
		if (tier_blockset_has(set, i) != blocks[i])
			return false;
		if (!blocks[i])
			continue;
		if (next != i)
			return false;
		next = tier_blockset_next(set, i + 1);
		count++;
	}
	return next == TIER_NO_BLOCK && set->count == count;
}

static void
test_blockset(void)
{
	static bool blocks[BLOCKSET_BLOCKS];
	int			resizes = 0;
	TierBlockSet set = {NULL, 0, 0, 0, resize_blocks, &resizes};
	bool		same = true;

	ok(tier_blockset_next(&set, 0) == TIER_NO_BLOCK, "an empty set has no member");
	ok(!tier_blockset_has(&set, 7), "nor has it this one");
	tier_blockset_remove(&set, 7);
	tier_blockset_truncate(&set, 0);
	tier_blockset_clear(&set);
	ok(set.count == 0 && resizes == 0, "emptying an empty set does nothing");

	memset(blocks, 0, sizeof(blocks));
	for (int i = 0; i < 3000 && same; i++)
	{
		uint32_t	block = (uint32_t) (random_unit() * BLOCKSET_BLOCKS);
		double		what = random_unit();

		if (what < 0.6)
		{
			tier_blockset_add(&set, block);
			blocks[block] = true;
		}
		else if (what < 0.99)
		{
			tier_blockset_remove(&set, block);
			blocks[block] = false;
		}
		else if (what < 0.998)
		{
			tier_blockset_truncate(&set, block);
			memset(blocks + block, 0, sizeof(bool) * (BLOCKSET_BLOCKS - block));
		}
		else
		{
			tier_blockset_clear(&set);
			memset(blocks, 0, sizeof(blocks));
		}
		same = same_blocks(&set, blocks);
	}
	ok(same, "a set is what was added and not removed");

	tier_blockset_clear(&set);
	tier_blockset_add(&set, 99999999u);
	ok(tier_blockset_next(&set, 0) == 99999999u && set.count == 1, "a block far behind");
	tier_blockset_add(&set, 63);
	ok(tier_blockset_next(&set, 0) == 63 && tier_blockset_next(&set, 64) == 99999999u,
	   "one far before it");
	free(set.words);
}

/*-------------------------------------------------------------------------
 * Order of moves
 *-------------------------------------------------------------------------
 */

/* Can they be made one after the other, each once, and none without room? */
static bool
is_possible(const TierOrderMove *moves, const int *order, int n, const double *room, int ntiers)
{
	double		left[4];
	bool		seen[64] = {false};

	for (int t = 0; t < ntiers; t++)
		left[t] = isnan(room[t]) ? 0 : room[t];
	for (int i = 0; i < n; i++)
	{
		const TierOrderMove *move = &moves[order[i]];

		if (seen[order[i]] || move->size > left[move->to])
			return false;
		seen[order[i]] = true;
		left[move->to] -= move->size;
		if (move->from >= 0)
			left[move->from] += move->freed;
	}
	return true;
}

/* How many are chosen, and which; each has room when its turn comes. */
static int
chosen_of(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
		  double max_bytes, bool *chosen)
{
	int			order[64];
	double		scratch[192];
	int			n = tier_order(moves, nmoves, room, ntiers, max_bytes, order, scratch);

	memset(chosen, 0, sizeof(bool) * (size_t) nmoves);
	for (int i = 0; i < n; i++)
		chosen[order[i]] = true;
	return n == 0 || is_possible(moves, order, n, room, ntiers) ? n : -1;
}

/* Moves within a limit, with what makes room for them. */
static void
test_order_choose(void)
{
	/*
	 * Tier 0 is full of cold things of 10, 8 and 100; 10 and 3 want to go
	 * there.
	 */
	const TierOrderMove moves[] = {
		{0, 1, 10, -1, 10, 10}, {1, 0, 10, 100, 10, 10}, {0, 1, 8, -5, 8, 8},
		{1, 0, 3, 1, 3, 3},
		{0, 1, 100, 0, 100, 100}
	};
	const TierOrderMove impossible[] = {{0, 0, 1, 1, 1, 1}, {0, 2, 1, 1, 1, 1},
	{0, 1, -1, 1, 1, -1}, {0, 1, NAN, 1, 1, NAN}, {0, 1, 1, NAN, 1, 1}};
	const double full[] = {0, INFINITY};
	const double free_room[] = {INFINITY, INFINITY};
	const double both_full[] = {0, -5};
	const double too_full[] = {-10, INFINITY};
	bool		chosen[5];

	ok(chosen_of(moves, 5, full, 2, 20, chosen) == 2 && chosen[0] && chosen[1],
	   "choose: what gains most, with what costs least to make room");
	ok(chosen_of(moves, 5, full, 2, 24, chosen) == 2 && chosen[0] && chosen[1],
	   "choose: not what has no room");
	ok(chosen_of(moves, 5, full, 2, 31, chosen) == 4 && !chosen[4],
	   "choose: two of them make room for two");
	ok(chosen_of(moves, 5, full, 2, 15, chosen) == 2 && chosen[0] && chosen[3],
	   "choose: what fits instead of what would be best");
	ok(chosen_of(moves, 5, free_room, 2, 15, chosen) == 2 &&
	   chosen[1] && chosen[3],
	   "choose: with room nothing has to leave");
	ok(chosen_of(moves, 5, free_room, 2, INFINITY, chosen) == 5,
	   "choose: without a limit all");
	ok(chosen_of(moves, 5, both_full, 2, INFINITY, chosen) == 0,
	   "choose: not what has room nowhere");
	ok(chosen_of(moves, 5, too_full, 2, 20, chosen) == 2 && chosen[0] &&
	   chosen[2],
	   "choose: nothing comes to a tier while it is too full");
	ok(chosen_of(moves, 5, too_full, 2, 24, chosen) == 3 && chosen[0] &&
	   chosen[2] && chosen[3],
	   "choose: but then what has room");
	ok(chosen_of(moves, 5, free_room, 2, 2, chosen) == 0 && !chosen[1],
	   "choose: nothing within a small limit");
	ok(chosen_of(moves, 5, free_room, 2, -1, chosen) == 0,
	   "choose: nor within a negative one");
	ok(chosen_of(impossible, 5, free_room, 2, 10, chosen) == 1 && chosen[4],
	   "choose: impossible ones are left out");
	ok(chosen_of(moves, 0, full, 2, 10, chosen) == 0 &&
	   chosen_of(moves, 5, full, 33, 10, chosen) == 0,
	   "choose: nothing to choose from");
}

/* Each has room when its turn comes, within the limit, and what is left has none. */
static bool
is_complete(const TierOrderMove *moves, int nmoves, const int *order, int n, const double *room,
			double max_bytes)
{
	double		left[4];
	bool		seen[12] = {false};

	memcpy(left, room, sizeof(left));
	for (int i = 0; i < n; i++)
	{
		const TierOrderMove *move = &moves[order[i]];

		if (seen[order[i]] || move->size > left[move->to] || move->bytes > max_bytes)
			return false;
		seen[order[i]] = true;
		left[move->to] -= move->size;
		left[move->from] += move->freed;
		max_bytes -= move->bytes;
	}
	for (int i = 0; i < nmoves; i++)
		if (!seen[i] && moves[i].size <= left[moves[i].to] && moves[i].bytes <= max_bytes)
			return false;
	return true;
}

/* No move is lost that was found to have room, whatever the order by gain comes to. */
static void
test_order_choose_random(void)
{
	int			complete = 0;
	int			several = 0;

	random_state = 19;
	for (int i = 0; i < 150000; i++)
	{
		TierOrderMove moves[12];
		int			n = 1 + random_int(12);
		int			ntiers = 2 + random_int(3);
		double		room[4];
		double		max_bytes = random_int(80);
		int			order[12];
		double		scratch[36];
		int			found;

		for (int t = 0; t < 4; t++)
			room[t] = random_int(14) - 2;
		for (int j = 0; j < n; j++)
		{
			moves[j].from = random_int(ntiers);
			moves[j].to = (moves[j].from + 1 + random_int(ntiers - 1)) % ntiers;
			moves[j].bytes = 2 * random_int(8);
			moves[j].size = moves[j].bytes / (1 + random_int(2));
			moves[j].freed = moves[j].bytes / (1 + random_int(2));
			moves[j].gain = random_int(100) - 30;
		}
		found = tier_order(moves, n, room, ntiers, max_bytes, order, scratch);
		complete += is_complete(moves, n, order, found, room, max_bytes);
		several += found > 1;
	}
	ok(complete == 150000, "choose: all that has room is there, and has it when its turn comes");
	ok(several > 50000, "choose: of many");
}

/* By how much tiers are too full. */
static double
over_by(const double *left, int ntiers)
{
	double		over = 0.0;

	for (int t = 0; t < ntiers; t++)
		if (left[t] < 0)
			over -= left[t];
	return over;
}

/* What is better: less that is too full, more gain of what gains, more moves. */
static bool
is_better_outcome(const double *a, const double *b)
{
	for (int i = 0; i < 3; i++)
		if (a[i] != b[i])
			return a[i] > b[i];
	return false;
}

/* The best that any order comes to, by trying all of them. */
static void
best_outcome(const TierOrderMove *moves, int nmoves, double *left, int ntiers, unsigned done,
			 double *best)
{
	double		outcome[3] = {-over_by(left, ntiers), 0.0, 0.0};

	for (int i = 0; i < nmoves; i++)
		if ((done & (1u << i)) != 0)
		{
			outcome[1] += moves[i].gain > 0 ? moves[i].gain : 0.0;
			outcome[2]++;
		}
	if (is_better_outcome(outcome, best))
		memcpy(best, outcome, sizeof(outcome));
	for (int i = 0; i < nmoves; i++)
	{
		if ((done & (1u << i)) != 0 || moves[i].size > left[moves[i].to])
			continue;
		left[moves[i].to] -= moves[i].size;
		if (moves[i].from >= 0)
			left[moves[i].from] += moves[i].freed;
		best_outcome(moves, nmoves, left, ntiers, done | (1u << i), best);
		left[moves[i].to] += moves[i].size;
		if (moves[i].from >= 0)
			left[moves[i].from] -= moves[i].freed;
	}
}

/* Small cases, each against all orders there are. */
static void
test_order_random(void)
{
	int			possible = 0;
	int			as_good = 0;
	int			as_empty = 0;
	int			tried = 0;
	double		gained = 0.0;
	double		most = 0.0;

	random_state = 17;
	for (; tried < 4000; tried++)
	{
		TierOrderMove moves[6];
		int			n = 1 + random_int(6);
		int			ntiers = 2 + random_int(2);
		double		room[3];
		double		left[3];
		double		best[3] = {-INFINITY, 0.0, 0.0};
		double		outcome[3] = {0.0, 0.0, 0.0};
		int			order[6];
		double		scratch[18];
		int			found;

		for (int t = 0; t < ntiers; t++)
			room[t] = left[t] = random_int(14) - 2;
		for (int j = 0; j < n; j++)
		{
			moves[j].from = random_int(ntiers);
			moves[j].to = (moves[j].from + 1 + random_int(ntiers - 1)) % ntiers;
			moves[j].size = random_int(12);
			moves[j].freed = random_int(3) > 0 ? moves[j].size : random_int(12);
			moves[j].gain = random_int(100) - 50;
			moves[j].bytes = moves[j].size;
		}
		best_outcome(moves, n, left, ntiers, 0, best);
		found = tier_order(moves, n, room, ntiers, INFINITY, order, scratch);
		possible += is_possible(moves, order, found, room, ntiers);
		for (int i = 0; i < found; i++)
		{
			left[moves[order[i]].to] -= moves[order[i]].size;
			left[moves[order[i]].from] += moves[order[i]].freed;
			outcome[1] += moves[order[i]].gain > 0 ? moves[order[i]].gain : 0.0;
		}
		outcome[0] = -over_by(left, ntiers);
		outcome[2] = found;
		as_good += !is_better_outcome(best, outcome);
		as_empty += outcome[0] == best[0];
		gained += outcome[1];
		most += best[1];
	}
	ok(possible == tried, "each order can be carried out");
	ok(as_good >= tried * 95 / 100, "nearly always no order is better (%d of %d)",
	   as_good, tried);
	ok(as_empty >= tried * 99 / 100, "nor leaves less too full (%d of %d)", as_empty, tried);
	ok(gained >= most * 0.96, "what is lost by that in one run is little (%.0f of %.0f)",
	   gained, most);
}

/* Room is made for who needs it, when he needs it, and for nobody else. */
static void
test_order_spare(void)
{
	/*
	 * Tier 0 has room for 2.  What comes there needs 10 and 3; four of 8 can
	 * leave it, the last one to tier 2, and for that one of tier 2 to tier 1.
	 */
	const TierOrderMove moves[] = {
		{1, 0, 10, 50, 10, 10}, {1, 0, 3, 5, 3, 3}, {0, 1, 8, 0, 8, 8},
		{0, 1, 8, 0, 8, 8}, {0, 1, 8, 0, 8, 8}, {0, 2, 8, 0, 8, 8},
		{2, 1, 8, 0, 8, 8}
	};
	const bool	helps[] = {false, false, true, true, true, true, true};
	const bool	none_helps[7] = {false};
	const double room[] = {2, INFINITY, 0};
	const double too_full[] = {-20, INFINITY, INFINITY};
	bool		missed[] = {true, false, false};
	bool		none_missed[] = {false, false, false};
	int			order[] = {2, 3, 4, 6, 5, 0, 1};
	int			chain[] = {6, 5, 0};
	int			chain_of_nobody[] = {6, 5};
	int			kept[] = {2, 3, 0};
	int			emptied[] = {2, 3, 4};
	int			no_helper[] = {2, 0};

	ok(tier_order_spare(moves, order, 7, room, 3, helps, missed) == 4 &&
	   order[0] == 2 && order[1] == 0 && order[2] == 3 && order[3] == 1,
	   "spare: one makes room for one, the next for the next, the others for nobody");
	ok(missed[1] && missed[2], "spare: what is left out is missed, too");
	missed[1] = missed[2] = false;
	ok(tier_order_spare(moves, chain, 3, room, 3, helps, missed) == 3 &&
	   chain[0] == 6 && chain[1] == 5 && chain[2] == 0, "spare: a chain stays one");
	ok(tier_order_spare(moves, chain_of_nobody, 2, room, 3, helps, missed) == 0,
	   "spare: or goes as a whole");
	ok(tier_order_spare(moves, kept, 3, room, 3, helps, none_missed) == 3 &&
	   kept[0] == 2 && kept[1] == 3 && kept[2] == 0,
	   "spare: if nothing is missed there is another reason");
	ok(tier_order_spare(moves, emptied, 3, too_full, 3, helps, missed) == 3,
	   "spare: a tier that is too full is emptied");
	ok(tier_order_spare(moves, no_helper, 2, room, 3, none_helps, missed) == 2,
	   "spare: what is made for itself is left alone");
	ok(tier_order_spare(moves, no_helper, 0, room, 3, helps, missed) == 0 &&
	   tier_order_spare(moves, no_helper, 2, room, 33, helps, missed) == 2,
	   "spare: nothing to do");
}

/* The gain remains, nothing overflows, and none that is left out could have stayed out before. */
static void
test_order_spare_random(void)
{
	int			possible = 0;
	int			as_good = 0;
	int			left_out = 0;
	int			later = 0;

	random_state = 23;
	for (int i = 0; i < 50000; i++)
	{
		TierOrderMove moves[10];
		bool		helps[10];
		bool		missed[3];
		double		room[3];
		int			n = 1 + random_int(10);
		int			order[10];
		int			before[10];
		double		scratch[30];
		int			found;
		int			kept;
		double		gained = 0.0;

		for (int t = 0; t < 3; t++)
			room[t] = random_int(14) - 2;
		for (int j = 0; j < n; j++)
		{
			moves[j].from = random_int(3);
			moves[j].to = (moves[j].from + 1 + random_int(2)) % 3;
			moves[j].size = moves[j].freed = moves[j].bytes = random_int(8);
			moves[j].gain = random_int(60) - 30;
			helps[j] = moves[j].gain <= 0;
		}
		found = tier_order(moves, n, room, 3, INFINITY, order, scratch);
		memcpy(before, order, sizeof(before));
		memset(missed, 0, sizeof(missed));
		for (int j = 0; j < n; j++)
		{
			bool		is_made = false;

			for (int k = 0; k < found; k++)
				is_made |= order[k] == j;
			missed[moves[j].to] |= !is_made;
		}
		kept = tier_order_spare(moves, order, found, room, 3, helps, missed);
		possible += is_possible(moves, order, kept, room, 3);
		for (int k = 0; k < found; k++)
			gained += helps[before[k]] ? 0.0 : moves[before[k]].gain;
		for (int k = 0; k < kept; k++)
			gained -= helps[order[k]] ? 0.0 : moves[order[k]].gain;
		as_good += fabs(gained) < 1e-9;
		left_out += kept < found;
		later += kept == found && memcmp(order, before, sizeof(int) * (size_t) kept) != 0;
	}
	ok(possible == 50000 && as_good == 50000, "spare: all that gains is made, and has room");
	ok(left_out > 1000 && later > 1000, "spare: of many orders (%d, %d)", left_out, later);
}

static void
test_order(void)
{
	const double infinite[] = {INFINITY, INFINITY};
	const double none[] = {0, 0};
	const double little[] = {0, 10};
	const double hostile[] = {-5, NAN};
	const TierOrderMove swap[] = {{1, 0, 10, 100, 10, 10}, {0, 1, 10, 0, 10, 10}};
	const TierOrderMove by_gain[] = {{1, 0, 10, 1, 10, 10}, {1, 0, 10, 3, 10, 10},
	{1, 0, 20, 5, 20, 20}, {0, 1, 0, 0, 0, 0}};

	/*
	 * Tier 0 has room for 10.  What gains most needs 20, for which something
	 * cold has to leave.
	 */
	const TierOrderMove make_room[] = {{1, 0, 20, 50, 20, 20}, {0, 1, 10, -5, 10, 10},
	{1, 0, 10, 10, 10, 10}, {1, 0, 0, 40, 10, 0}, {0, 1, 10, -50, 10, 10}};
	const TierOrderMove wrong[] = {{0, 0, 1, 1, 1, 1}, {0, 2, 1, 1, 1, 1},
	{5, 0, 1, 1, 1, 1},
	{0, -1, 1, 1, 1, 1}, {0, 1, -1, 1, 1, -1}, {0, 1, NAN, 1, 1, NAN},
	{0, 1, 1, NAN, 1, 1}};
	const TierOrderMove from_elsewhere[] = {{TIER_ORDER_ELSEWHERE, 1, 10, 1, 10, 10},
	{TIER_ORDER_ELSEWHERE, 1, 10, 2, 10, 10}};
	const TierOrderMove knot[] = {{1, 0, 4, 9, 4, 4}, {1, 0, 3, 1, 3, 3},
	{1, 0, 3, 1, 3, 3}};
	const TierOrderMove demoted[] = {{1, 0, 4, 9, 4, 4}, {1, 0, 3, 1, 3, 3},
	{1, 0, 3, 1, 3, 3}, {0, 1, 0, -1, 0, 0}};
	const TierOrderMove too_full[] = {{2, 1, 5, 9, 5, 5}, {0, 1, 5, -1, 5, 5},
	{1, 2, 9, 3, 0, 9}};
	const double overfull[] = {-5, 5, 9};
	const double six[] = {6, 0};
	const double ten[] = {10, INFINITY};
	int			order[64];
	double		scratch[192];

	ok(tier_order(swap, 2, infinite, 2, INFINITY, order, scratch) == 2 && order[0] == 0,
	   "with room, what gains most goes first");
	ok(tier_order(swap, 2, little, 2, INFINITY, order, scratch) == 2 &&
	   order[0] == 1 && order[1] == 0,
	   "else what makes room");
	ok(tier_order(swap, 2, none, 2, INFINITY, order, scratch) == 0,
	   "two full tiers exchange nothing");
	ok(tier_order(swap, 2, hostile, 2, INFINITY, order, scratch) == 0,
	   "no room is no room, however it is written");
	ok(tier_order(by_gain, 4, infinite, 2, INFINITY, order, scratch) == 4 && order[0] == 3 &&
	   order[1] == 1 && order[2] == 2 && order[3] == 0,
	   "by gain for each byte, what copies none before");
	ok(tier_order(make_room, 5, ten, 2, INFINITY, order, scratch) == 5 && order[0] == 3 &&
	   order[1] == 1 && order[2] == 0 && order[3] == 4 && order[4] == 2 &&
	   is_possible(make_room, order, 5, ten, 2),
	   "what makes room comes just before what it makes room for");
	ok(tier_order(wrong, 7, infinite, 2, INFINITY, order, scratch) == 1 && order[0] == 6,
	   "impossible ones are left out, an unknown gain is none");
	ok(tier_order(from_elsewhere, 2, little, 2, INFINITY, order, scratch) == 1 && order[0] == 1,
	   "what comes from elsewhere takes room, too");
	ok(tier_order(knot, 3, six, 2, INFINITY, order, scratch) == 1 && order[0] == 0,
	   "the best one rather than two small ones");
	ok(tier_order(demoted, 4, six, 2, INFINITY, order, scratch) == 2 &&
	   order[0] == 3 && order[1] == 0 &&
	   is_possible(demoted, order, 2, six, 2),
	   "but what gains nothing is made all the same");
	ok(tier_order(too_full, 3, overfull, 3, INFINITY, order, scratch) == 2 && order[0] == 1 &&
	   is_possible(too_full, order, 2, overfull, 3),
	   "and a tier that is too full is emptied before anything is gained elsewhere");
	ok(tier_order(swap, 0, none, 2, INFINITY, order, scratch) == 0 &&
	   tier_order(swap, 2, none, 0, INFINITY, order, scratch) == 0 &&
	   tier_order(swap, 2, infinite, 33, INFINITY, order, scratch) == 0, "nothing to order");
	test_order_choose();
	test_order_choose_random();
	test_order_random();
	test_order_spare();
	test_order_spare_random();
}

/*-------------------------------------------------------------------------
 * Page writes
 *-------------------------------------------------------------------------
 */

static void
test_stretches(void)
{
	const uint64_t mb = 1024 * 1024;
	bool		fits = true;
	bool		even = true;
	uint64_t	hits[10] = {0};

	ok(tier_stretch_count(100, 100, mb) == 0, "nothing was written: nothing to read");
	ok(tier_stretch_count(100, 200, 0) == 0, "nothing may be read");
	ok(tier_stretch_count(200, 100, mb) == 0, "a position in the future");
	ok(tier_stretch_count(100, 100 + mb, mb) == 1 &&
	   tier_stretch(100, 100 + mb, mb, 0, 0.5).begin == 100 &&
	   tier_stretch(100, 100 + mb, mb, 0, 0.5).end == 100 + mb, "what fits is read as it is");
	ok(tier_stretch_count(100, 101 + mb, mb) == 4, "1 MB in stretches of 256 kB");
	ok(tier_stretch_count(0, 1000 * mb, 16 * mb) == 64, "16 MB in 64");
	ok(tier_stretch_count(0, 1000 * mb, 100 * mb) == 64, "more than that makes them longer");
	ok(tier_stretch_count(0, mb, 1000) == 1, "a tiny budget is one");

	/* In order, inside their parts, of the length that was asked for. */
	random_state = 12;
	for (int round = 0; round < 2000; round++)
	{
		uint64_t	begin = random_bits() % mb;
		uint64_t	budget = 1 + random_bits() % (32 * mb);
		uint64_t	end = begin + budget + 1 + random_bits() % (round % 2 == 0 ? 10 : 1000 * mb);
		int			n = tier_stretch_count(begin, end, budget);
		uint64_t	last = begin;
		uint64_t	sum = 0;

		for (int i = 0; i < n; i++)
		{
			TierStretch stretch = tier_stretch(begin, end, budget, i,
											   (double) (random_bits() >> 11) /
											   9007199254740992.0);

			fits = fits && stretch.begin >= last && stretch.end <= end &&
				stretch.end >= stretch.begin;
			last = stretch.end;
			sum += stretch.end - stretch.begin;
		}
		fits = fits && sum <= budget && sum + (uint64_t) n > budget;
	}
	ok(fits, "stretches are in order, do not overlap, and use the budget");

	/* Each place of a part, 5 MB here, is begun at as often as any other. */
	for (int round = 0; round < 20000; round++)
	{
		TierStretch stretch = tier_stretch(0, 20 * mb, mb, round % 4,
										   (double) (random_bits() >> 11) / 9007199254740992.0);

		hits[(stretch.begin - (uint64_t) (round % 4) * 5 * mb) / (475 * mb / 1000 + 1)]++;
	}
	for (int i = 0; i < 10; i++)
		even = even && hits[i] > 1800 && hits[i] < 2200;
	ok(even, "nothing is preferred");
	ok(tier_stretch(0, 20 * mb, mb, 1, NAN).begin == 5 * mb &&
	   tier_stretch(0, 20 * mb, mb, 1, 1.0).begin == 5 * mb, "a strange random number is 0");

	is(tier_stretch_scale(100, 100), 1.0, "all was read");
	is(tier_stretch_scale(0, 0), 1.0, "all of nothing");
	is(tier_stretch_scale(100, 0), 0.0, "nothing of something");
	is(tier_stretch_scale(160, 16), 10.0, "a tenth");
	is(tier_stretch_scale(10, 16), 1.0, "never below 1");
	ok(tier_stretch_scaled(7, 1.0) == 7 && tier_stretch_scaled(7, 1.5) == 11 &&
	   tier_stretch_scaled(7, 0.0) == 0 && tier_stretch_scaled(-7, 2.0) == 0 &&
	   tier_stretch_scaled(7, NAN) == 0, "counts are rounded");
	ok(tier_stretch_scaled(INT64_MAX, 1.0) == INT64_MAX &&
	   tier_stretch_scaled(INT64_MAX, 2.0) == INT64_MAX, "and do not overflow");
	ok(tier_fair_part(10, 3, 0) == 4 && tier_fair_part(10, 3, 1) == 3 &&
	   tier_fair_part(10, 3, 2) == 3 && tier_fair_part(2, 3, 2) == 0, "parts add up");
}

/* Adds a page of a file. */
static TierPageAdded
add_page(TierPageSet *set, uint32_t file, uint32_t block)
{
	random_state = (uint64_t) file << 32 | block / TIER_PAGE_GROUP;
	return tier_page_set_add(set, (uint32_t) random_bits(), (int) (block % TIER_PAGE_GROUP));
}

/* Adds single pages of so many groups, each several times in a row of rounds. */
static double
count_pages(TierPageSet *set, uint32_t file, uint32_t pages, int rounds)
{
	double		sum = 0;

	for (int round = 0; round < rounds; round++)
		for (uint32_t i = 0; i < pages; i++)
			sum += (double) add_page(set, file, i * TIER_PAGE_GROUP + i % TIER_PAGE_GROUP).pages;
	return sum;
}

static void
test_page_set(void)
{
	static TierPageSet set;
	static TierPageSet copy;
	TierPageGroup members[TIER_PAGE_SET_MAX];
	uint32_t	n;
	double		worst = 0;

	tier_page_set_clear(&set);
	is(count_pages(&set, 1, 1000, 3), 1000, "a set that is not full is exact");
	is(count_pages(&set, 1, 1000, 1), 0, "and knows what it has");
	ok(set.level == 0 && set.count == 1000, "and all of it");
	ok(tier_page_set_add(&set, 0, 3).pages == 1 && tier_page_set_add(&set, 0, 3).pages == 0,
	   "0 is a hash, too");

	/* Stored and restored in between, it goes on as if nothing had happened. */
	n = tier_page_set_members(&set, members);
	tier_page_set_restore(&copy, set.level, members, n);
	ok(copy.count == 1001 && count_pages(&copy, 1, 1000, 1) == 0,
	   "a restored set knows the same pages");

	/*
	 * The error is that of the sample: 5 %, so never 20 % in a hundred of
	 * them.
	 */
	for (uint32_t i = 0; i < 100; i++)
	{
		tier_page_set_clear(&set);
		worst = fmax(worst, fabs(count_pages(&set, i, 50000, 2) / 50000 - 1));
	}
	ok(worst > 0 && worst < 0.20, "a full one is right within 20 %% (%.1f %%)", 100 * worst);
	ok(set.count < TIER_PAGE_SET_MAX && set.level >= 6, "and bounded");
	n = tier_page_set_members(&set, members);
	tier_page_set_restore(&copy, set.level, members, n);
	is(count_pages(&copy, 99, 50000, 1), 0, "restored, it still knows all");
	tier_page_set_clear(&set);
	is(count_pages(&set, 1, 10, 1), 10, "an empty one begins anew");

	/* What was stored may be anything. */
	for (uint32_t i = 0; i < TIER_PAGE_SET_MAX; i++)
		members[i] = (TierPageGroup)
	{
		i % 3 == 0 ? 0xffffffff - i : i, (uint16_t) (i * 77), (uint16_t) i
	};
	tier_page_set_restore(&set, 99, members, TIER_PAGE_SET_MAX);
	ok(set.level == TIER_PAGE_SET_MAX_LEVEL && set.count < TIER_PAGE_SET_MAX,
	   "strange members are left out");
	ok(tier_page_set_add(&set, 0xffffffff, 0).pages == 0 &&
	   tier_page_set_add(&set, 4000, 0).pages == (1 << 20), "and it works");
	for (uint32_t i = 0; i < 100000; i++)
		(void) tier_page_set_add(&set, i % 4096, (int) (i % TIER_PAGE_GROUP));
	ok(set.count < TIER_PAGE_SET_MAX && set.level == TIER_PAGE_SET_MAX_LEVEL,
	   "beyond the last level it begins anew");
}

/*
 * Of a file with so many pages, blocks chosen by `next` are written; the log is
 * read in stretches that are 1 / scale of it.  Returns merged / pages.
 */
typedef uint32_t (*NextBlock) (uint32_t i, uint32_t pages);

static double
merged_share(NextBlock next, uint32_t pages, uint32_t writes, int scale, double *truth)
{
	static TierPageSet set;
	bool	   *written = calloc(pages, sizeof(bool));
	int64_t		seen = 0;
	int64_t		pairs = 0;
	int64_t		far_pairs = 0;
	double		different = 0;
	double		runs = 0;

	tier_page_set_clear(&set);
	for (uint32_t i = 0; i < writes; i++)
	{
		uint32_t	block = next(i, pages);
		uint32_t	stretch = i / 30;
		TierPageAdded added;

		if (written[block])
			continue;
		written[block] = true;
		different++;
		if (i % 30 == 0)
			tier_page_set_next_stretch(&set);
		if (stretch % (uint32_t) scale != 0)
			continue;
		seen++;
		added = add_page(&set, 1, block);
		pairs += added.pairs;
		far_pairs += added.far_pairs;
	}
	for (uint32_t block = 0; block < pages; block++)
		runs += written[block] && (block == 0 || !written[block - 1]);
	free(written);
	*truth = 1 - runs / different;
	return (double) tier_page_merged(seen * scale, pairs, far_pairs, scale) /
		(double) (seen * scale);
}

static uint64_t block_state;

static uint32_t
random_block(uint32_t i, uint32_t pages)
{
	uint64_t	saved = random_state;
	uint32_t	block;

	if (i == 0)
		block_state = 4711;
	random_state = block_state;
	block = (uint32_t) (random_unit() * pages);
	block_state = random_state;
	random_state = saved;
	return block;
}

static uint32_t
next_block(uint32_t i, uint32_t pages)
{
	return i % pages;
}

/* Half of the writes append, the other half are scattered over the rest. */
static uint32_t
either_block(uint32_t i, uint32_t pages)
{
	return i % 2 == 0 ? pages - pages / 4 + i / 2 : random_block(i, pages - pages / 4);
}

static void
test_page_merged(void)
{
	static const struct
	{
		const char *what;
		NextBlock	next;
		uint32_t	pages;
		uint32_t	writes;
		int			scale;
		double		within;
	}			cases[] = {
		{"appended pages are one run", next_block, 20000, 15000, 1, 0.05},
		{"a few are, too", next_block, 1000, 300, 1, 0.02},
		{"scattered ones are not merged", random_block, 100000, 3000, 1, 0.02},
		{"dense ones are", random_block, 20000, 20000, 1, 0.05},
		{"half of them appended", either_block, 40000, 10000, 1, 0.05},
		{"a part of the log, appended", next_block, 40000, 30000, 8, 0.08},
		{"a part of the log, scattered", random_block, 100000, 10000, 4, 0.08},
		{"a part of the log, dense", random_block, 20000, 20000, 4, 0.15},
		{"a part of the log, half appended", either_block, 80000, 40000, 4, 0.10},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		double		truth;
		double		share = merged_share(cases[i].next, cases[i].pages, cases[i].writes,
										 cases[i].scale, &truth);

		ok(fabs(share - truth) <= cases[i].within, "merged: %s (%.3f, in truth %.3f)",
		   cases[i].what, share, truth);
	}
	is((double) tier_page_merged(10, 100, 0, 1.0), 10, "merged: never more than written");
	is((double) tier_page_merged(10, 0, 0, 7.0), 0, "merged: none");
	is((double) tier_page_merged(10, 3, 9, 0.0), 0, "merged: nothing was read");
}

/*-------------------------------------------------------------------------
 * Fit of devices
 *-------------------------------------------------------------------------
 */

#define MB 1048576.0

/* Equal within a tolerance, for what was rounded by hand. */
static void
about(double got, double expected, double tolerance, const char *name)
{
	bool		passed = fabs(got - expected) <= tolerance;

	ok(passed, "%s", name);
	if (!passed)
		printf("#      got: %.17g\n# expected: %.17g\n", got, expected);
}

static void
test_fit(void)
{
	TierFit		fit = {0};

	is(tier_fit_factor(&fit), 1.0, "fit: nothing known, factor 1");
	ok(tier_fit_residual(&fit) < 0.0, "fit: nothing known, no residual");
	ok(!tier_fit_is_known(&fit) && !tier_fit_explains(&fit),
	   "fit: nothing known explains nothing");

	/* y = x / 2 exactly. */
	for (int i = 1; i <= 4; i++)
		tier_fit_add(&fit, i * 100 * MB, i * 50 * MB, 1.0, 60.0, 86400.0);
	about(tier_fit_factor(&fit), 0.5, 1e-12, "fit: half of what was predicted");
	about(tier_fit_residual(&fit), 0.0, 1e-6, "fit: and nothing is left");
	ok(tier_fit_explains(&fit), "fit: it explains");

	/*
	 * x = 1, 1, 1, 1 and y = 1, 1, 1, 3: f = 6/4 = 1.5; what is left is 3 *
	 * 0.25 + 2.25 = 3 of 12: its root is 0.5.
	 */
	memset(&fit, 0, sizeof(fit));
	for (int i = 0; i < 4; i++)
		tier_fit_add(&fit, 100 * MB, i == 3 ? 300 * MB : 100 * MB, 1.0, 0.0, 86400.0);
	is(tier_fit_factor(&fit), 1.5, "fit: least squares");
	about(tier_fit_residual(&fit), 0.5, 1e-12, "fit: what is left");
	ok(tier_fit_is_known(&fit) && !tier_fit_explains(&fit),
	   "fit: half unexplained is no explanation");

	/* The same twice, a half-life apart: the older one weighs half. */
	memset(&fit, 0, sizeof(fit));
	tier_fit_add(&fit, 100 * MB, 0.0, 1.0, 0.0, 3600.0);
	tier_fit_add(&fit, 100 * MB, 300 * MB, 1.0, 3600.0, 3600.0);
	is(tier_fit_factor(&fit), 2.0, "fit: what is one half-life old weighs half");
	is(fit.periods, 1.5, "fit: so does the period");
	tier_fit_add(&fit, 100 * MB, 100 * MB, 1.0, 1.0, 0.0);
	is(tier_fit_factor(&fit), 1.0, "fit: without a half-life there is no memory");

	/* Weights: a doubtful period counts for less, one of weight 0 not at all. */
	memset(&fit, 0, sizeof(fit));
	tier_fit_add(&fit, 100 * MB, 100 * MB, 1.0, 0.0, 1.0);
	tier_fit_add(&fit, 100 * MB, 900 * MB, 0.0, 0.0, 1.0);
	is(tier_fit_factor(&fit), 1.0, "fit: weight 0 counts for nothing");
	tier_fit_add(&fit, 100 * MB, 250 * MB, 0.5, 0.0, 1.0);
	is(tier_fit_factor(&fit), 1.5, "fit: weight 0.5 counts for half");

	/* Somebody else on the device. */
	memset(&fit, 0, sizeof(fit));
	for (int i = 0; i < 10; i++)
		tier_fit_add(&fit, 0.0, 100 * MB, 1.0, 60.0, 86400.0);
	ok(tier_fit_is_known(&fit) && !tier_fit_explains(&fit),
	   "fit: reads that nobody predicted are not explained");
	is(tier_fit_factor(&fit), 1.0, "fit: and give no factor");
	is(tier_fit_residual(&fit), 1.0, "fit: all of it is left");
	tier_fit_add(&fit, MB, 1000 * MB, 1.0, 60.0, 86400.0);
	is(tier_fit_factor(&fit), TIER_FIT_MAX_FACTOR, "fit: the factor has a limit");
	ok(tier_fit_residual(&fit) > 0.9, "fit: which explains nothing");

	/* What the page cache served all of. */
	memset(&fit, 0, sizeof(fit));
	for (int i = 0; i < 10; i++)
		tier_fit_add(&fit, 100 * MB, 0.0, 1.0, 60.0, 86400.0);
	is(tier_fit_factor(&fit), 0.0, "fit: a device that did nothing has factor 0");
	ok(!tier_fit_explains(&fit), "fit: which nothing confirms");

	/* Little of it: a perfect fit of nothing. */
	memset(&fit, 0, sizeof(fit));
	for (int i = 0; i < 100; i++)
		tier_fit_add(&fit, MB, MB, 1.0, 0.0, 1.0);
	ok(!tier_fit_is_known(&fit), "fit: many periods with little load say nothing");
	memset(&fit, 0, sizeof(fit));
	tier_fit_add(&fit, 1000 * MB, 1000 * MB, 1.0, 0.0, 1.0);
	tier_fit_add(&fit, 1000 * MB, 1000 * MB, 1.0, 0.0, 1.0);
	ok(!tier_fit_is_known(&fit), "fit: two periods say nothing");
}

static void
test_fit_is_robust(void)
{
	static const double garbage[] = {
		0.0, -0.0, 1.0, -1.0, 1e-308, 1e-320, 1e15, 1e30, 1e154, 1e200, DBL_MAX, -DBL_MAX,
		INFINITY, -INFINITY, NAN
	};
	int			n = (int) (sizeof(garbage) / sizeof(garbage[0]));
	bool		sane = true;
	bool		shares = true;

	random_state = 7;
	for (int run = 0; run < 20000; run++)
	{
		TierFit		fit;
		double		residual;

		fit.xx = garbage[random_int(n)];
		fit.xy = garbage[random_int(n)];
		fit.yy = garbage[random_int(n)];
		fit.periods = garbage[random_int(n)];
		for (int i = random_int(3); i >= 0; i--)
			tier_fit_add(&fit, garbage[random_int(n)], garbage[random_int(n)],
						 garbage[random_int(n)],
						 garbage[random_int(n)], garbage[random_int(n)]);
		residual = tier_fit_residual(&fit);
		sane = sane && is_sane(fit.xx) && is_sane(fit.xy) && is_sane(fit.yy) &&
			is_sane(fit.periods) &&
			tier_fit_factor(&fit) >= 0.0 && tier_fit_factor(&fit) <= TIER_FIT_MAX_FACTOR &&
			(residual == -1.0 || is_sane(residual)) &&
			(!tier_fit_explains(&fit) ||
			 (tier_fit_is_known(&fit) && residual <= TIER_FIT_MAX_RESIDUAL));
	}
	for (int i = 0; i < n; i++)
		shares = shares && tier_fit_read_ahead(garbage[i]) >= 0.0 &&
			tier_fit_read_ahead(garbage[i]) <= 1.0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
			{
				double		random = tier_fit_random_hits(garbage[i], garbage[j], garbage[k]);
				double		sequential = tier_fit_sequential_hits(garbage[i], garbage[j],
																  garbage[k]);
				double		requests = tier_fit_scan_requests(garbage[i], garbage[j], garbage[k]);
				double		unexpected = tier_fit_unexpected_share(garbage[i], garbage[j],
																   garbage[k]);

				shares = shares && unexpected >= 0.0 && unexpected <= 1.0;
				shares = shares && requests >= 0.0 && is_sane(requests) && random >= 0.0 &&
					random <= 1.0 && sequential >= 0.0 && sequential <= 1.0;
			}
	ok(sane, "fit: garbage in, no garbage stored");
	ok(shares, "fit: a share is a share");
}

/*
 * What tier_fit_random_hits says against a simulation: reads of random blocks
 * out of a file, through a cache that holds `room` of them and evicts at random.
 */
static double
simulated_random_hits(int blocks, int room, int warm, int reads, double *before, double *after)
{
	char	   *cached = calloc(blocks, 1);
	int		   *slots = malloc(sizeof(int) * blocks);
	int			n = 0;
	int			hits = 0;

	for (int i = 0; i < warm + reads; i++)
	{
		int			block = random_int(blocks);

		if (i == warm)
			*before = (double) n / blocks;
		if (cached[block])
		{
			hits += i >= warm ? 1 : 0;
			continue;
		}
		if (n == room)
		{
			int			victim = random_int(n);

			cached[slots[victim]] = 0;
			slots[victim] = slots[--n];
		}
		cached[block] = 1;
		slots[n++] = block;
	}
	*after = (double) n / blocks;
	free(cached);
	free(slots);
	return (double) hits / reads;
}

static void
test_fit_shares(void)
{
	double		before;
	double		after;
	double		hits;

	is(tier_fit_unexpected_share(1000.0, 200.0, 800.0), 1.0,
	   "unexpected: all that was expected from the page cache");
	is(tier_fit_unexpected_share(1000.0, 200.0, 3200.0), 0.25, "unexpected: a part of it");
	is(tier_fit_unexpected_share(1000.0, 200.0, 10.0), 1.0, "unexpected: no more than all");
	is(tier_fit_unexpected_share(1000.0, 1000.5, 800.0), 0.0, "unexpected: the sum is explained");
	is(tier_fit_unexpected_share(1000.0, 0.0, 0.0), 0.0, "unexpected: by nothing we know");
	is(tier_fit_random_hits(0.3, 0.3, 5.0), 0.3,
	   "random: a cache that does not change hits with its share");
	is(tier_fit_random_hits(0.2, 0.4, 0.0), 0.3, "random: few reads, the middle");
	ok(tier_fit_random_hits(0.2, 0.4, 1000.0) > 0.399, "random: many reads, the end");

	/*
	 * Nothing evicted: 2 reads a block leave 1 - exp(-2) cached; as many
	 * missed.
	 */
	about(tier_fit_random_hits(0.0, 1.0 - exp(-2.0), 2.0), 1.0 - (1.0 - exp(-2.0)) / 2.0, 1e-12,
		  "random: what was missed is what the cache grew by");

	random_state = 42;
	hits = simulated_random_hits(20000, 20000, 0, 30000, &before, &after);
	about(tier_fit_random_hits(before, after, 30000 / 20000.0), hits, 0.01,
		  "random: as simulated, a cold cache with room for all");
	hits = simulated_random_hits(20000, 8000, 60000, 30000, &before, &after);
	about(tier_fit_random_hits(before, after, 30000 / 20000.0), hits, 0.01,
		  "random: as simulated, a full cache");
	hits = simulated_random_hits(20000, 8000, 2000, 6000, &before, &after);
	about(tier_fit_random_hits(before, after, 6000 / 20000.0), hits, 0.01,
		  "random: as simulated, a cache that fills");
	hits = simulated_random_hits(20000, 6000, 0, 60000, &before, &after);
	about(tier_fit_random_hits(before, after, 60000 / 20000.0), hits, 0.01,
		  "random: as simulated, a cold cache that fills soon");

	is(tier_fit_read_ahead(0.0), 0.0, "read-ahead: none where nothing is cached");
	is(tier_fit_read_ahead(1.0), 0.0, "read-ahead: none where all is cached");
	about(tier_fit_read_ahead(0.379), 0.684 - 0.621, 0.01,
		  "read-ahead: as measured, little cached");
	about(tier_fit_read_ahead(0.76), 0.418 - 0.24, 0.01, "read-ahead: as measured, much cached");
	is(tier_fit_scan_requests(0.0, 384.0, 128.0), 0.0, "requests of a scan: none without reads");
	is(tier_fit_scan_requests(384.0, 384.0, 128.0), 7.0,
	   "requests of a scan: 4, 16, 32, 64, 128, 128 and 12 blocks");
	is(tier_fit_scan_requests(3840.0, 384.0, 128.0), 70.0,
	   "requests of a scan: each pass begins anew");
	is(tier_fit_scan_requests(20.0, 384.0, 128.0), 2.0, "requests of a scan: of a part");
	is(tier_fit_scan_requests(6.0, 384.0, 128.0), 2.0, "requests of a scan: 4 blocks first");
	is(tier_fit_scan_requests(3.0, 100.0, 16.0), 2.0,
	   "requests of a scan: 2 blocks first, of a short read-ahead");
	is(tier_fit_scan_requests(30.0, 100.0, 16.0), 4.0,
	   "requests of a scan: 2, 4, 8 and 16 blocks");
	is(tier_fit_scan_requests(100.0, 1.0, 128.0), 100.0,
	   "requests of a scan: a file of one block");
	is(tier_fit_scan_requests(100.0, 0.0, 0.0), 100.0, "requests of a scan: nothing known");
	about(tier_fit_scan_requests(1e6, 1e6, 128.0), 1e6 / 128.0, 5.0,
		  "requests of a scan: a long one");

	is(tier_fit_sequential_hits(0.0, 1.0, 1.0), 0.0, "sequential: a cold scan finds nothing");
	is(tier_fit_sequential_hits(1.0, 1.0, 1.0), 1.0,
	   "sequential: of what is cached a scan finds all");
	is(tier_fit_sequential_hits(0.4, 1.0, 1.0), 0.4,
	   "sequential: of what is partly cached that part");
	is(tier_fit_sequential_hits(0.0, 1.0, 4.0), 0.75, "sequential: of four scans three find all");
	is(tier_fit_sequential_hits(0.4, 0.4, 3.0), 0.0,
	   "sequential: a file that does not fit is never found");
	is(tier_fit_sequential_hits(1.0, 0.0, 1.0), 0.0, "sequential: nor one that was pushed out");
	is(tier_fit_sequential_hits(0.9, 0.9, 0.1), tier_fit_sequential_hits(0.9, 0.9, 1.0),
	   "sequential: a part of a scan is like a scan");
}

/*-------------------------------------------------------------------------
 * Wait classes
 *-------------------------------------------------------------------------
 */

static void
test_wait_classes(void)
{
	static const struct
	{
		const char *type;
		const char *event;
		TierWaitClass wait_class;
	}			cases[] = {
		{NULL, NULL, TIER_WAIT_CPU},
		{"IO", "DataFileRead", TIER_WAIT_RELATION},
		{"IO", "DataFileSync", TIER_WAIT_RELATION},
		{"IO", "RelationMapWrite", TIER_WAIT_RELATION},
		{"IO", "AioIoCompletion", TIER_WAIT_RELATION},
		{"IO", "WALSync", TIER_WAIT_WAL},
		{"IO", "WalSync", TIER_WAIT_WAL},
		{"IO", "BufFileWrite", TIER_WAIT_TEMP},
		{"IO", "BuffileWrite", TIER_WAIT_TEMP},
		{"IO", "SLRURead", TIER_WAIT_SLRU},
		{"IO", "SlruRead", TIER_WAIT_SLRU},
		{"IO", "CopyFileRead", TIER_WAIT_OTHER_IO},
		{"IO", "SomethingNew", TIER_WAIT_OTHER_IO},
		{"IO", NULL, TIER_WAIT_OTHER_IO},
		{"IPC", "BufferIO", TIER_WAIT_RELATION},
		{"IPC", "BufferIo", TIER_WAIT_RELATION},
		{"IPC", "SafeSnapshot", TIER_WAIT_OTHER},
		{"LWLock", "WALWrite", TIER_WAIT_WAL},
		{"LWLock", "WALInsert", TIER_WAIT_WAL},
		{"LWLock", "XactSLRU", TIER_WAIT_SLRU},
		{"LWLock", "XactBuffer", TIER_WAIT_SLRU},
		{"LWLock", "MultiXactOffsetBuffer", TIER_WAIT_SLRU},
		{"LWLock", "BufferContent", TIER_WAIT_LWLOCK},
		{"LWLock", "AioUringCompletion", TIER_WAIT_RELATION},
		{"LWLock", "AioWorkerSubmissionQueue", TIER_WAIT_LWLOCK},
		{"LWLock", "BufferMapping", TIER_WAIT_LWLOCK},
		{"LWLock", "", TIER_WAIT_LWLOCK},
		{"Lock", "relation", TIER_WAIT_LOCK},
		{"Lock", "transactionid", TIER_WAIT_LOCK},
		{"Timeout", "PgSleep", TIER_WAIT_OTHER},
		{"Extension", "Extension", TIER_WAIT_OTHER},
		{"Client", "ClientRead", TIER_WAIT_OTHER},
		{"NoSuchType", "x", TIER_WAIT_OTHER},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(tier_wait_classify(cases[i].type, cases[i].event) == cases[i].wait_class,
		   "wait %s:%s is %s", cases[i].type == NULL ? "-" : cases[i].type,
		   cases[i].event == NULL ? "-" : cases[i].event,
		   tier_wait_class_name(cases[i].wait_class));
	for (int i = 0; i < TIER_WAIT_CLASSES; i++)
		for (int j = 0; j < i; j++)
			ok(strcmp(tier_wait_class_name((TierWaitClass) i),
					  tier_wait_class_name((TierWaitClass) j)) != 0,
			   "wait classes %d and %d have different names", i, j);
}

/*-------------------------------------------------------------------------
 * Split
 *-------------------------------------------------------------------------
 */

static double
sequential(TierSplitOrder order, double misses, double scans, double pages, double correlation)
{
	TierSplitReads reads = {0};

	reads.order = order;
	reads.fetched = misses;
	reads.misses = misses;
	reads.scans = scans;
	reads.pages = pages;
	reads.correlation = correlation;
	return tier_split_sequential(&reads);
}

static void
test_split_orders(void)
{
	TierSplitReads reads = {0};

	is(sequential(TIER_SPLIT_SCAN, 100, 1, 100, 0), 100, "split: a scan is sequential");
	is(sequential(TIER_SPLIT_SINGLE, 100, 1, 100, 1), 0, "split: single rows are not");

	/* sqrt(25 / 100) = 0.5 */
	is(sequential(TIER_SPLIT_GAPS, 25, 1, 100, 0), 12.5,
	   "split: a quarter of the table is half sequential");
	is(sequential(TIER_SPLIT_GAPS, 25, 0, 100, 0), 12.5,
	   "split: without a number of passes it is one");
	is(sequential(TIER_SPLIT_GAPS, 100, 1, 100, 0), 100, "split: all of the table is sequential");
	is(sequential(TIER_SPLIT_GAPS, 200, 1, 100, 0), 200, "split: more than the table, too");
	is(sequential(TIER_SPLIT_GAPS, 100, 100, 100, 0), 10,
	   "split: a hundred passes over a hundredth each");
	is(sequential(TIER_SPLIT_GAPS, 100, 1, 0, 0), 0,
	   "split: of a table of unknown size nothing is");
	/* Of 64 blocks that were asked for, 16 missed: sqrt(64 / 100) of these. */
	reads.order = TIER_SPLIT_GAPS;
	reads.fetched = 64;
	reads.misses = 16;
	reads.pages = 100;
	is(tier_split_sequential(&reads), 12.8, "split: the share is that of what was asked for");

	is(sequential(TIER_SPLIT_BY_INDEX, 100, 100, 1000, 1), 0,
	   "split: one row for each scan is random in any order");
	is(sequential(TIER_SPLIT_BY_INDEX, 101, 1, 1000, 1), 100,
	   "split: a range in order is sequential but for its begin");
	is(sequential(TIER_SPLIT_BY_INDEX, 101, 1, 1000, -1), 100, "split: also backwards");
	is(sequential(TIER_SPLIT_BY_INDEX, 101, 1, 1000, 0.5), 25, "split: correlation squared");
	is(sequential(TIER_SPLIT_BY_INDEX, 101, 1, 1000, 7), 100,
	   "split: a correlation beyond 1 is 1");
	is(sequential(TIER_SPLIT_BY_INDEX, 101, 1, 1000, NAN), 0, "split: an unknown one is 0");
	is(sequential(TIER_SPLIT_BY_INDEX, 5, 10, 1000, 1), 0,
	   "split: fewer reads than scans are random");

	/* 10 scans: 10 first leaves, and 2 + 3 pages above 300 leaves. */
	is(sequential(TIER_SPLIT_INDEX, 100, 10, 300, 0), 85,
	   "split: leaves beyond the first are sequential");
	is(sequential(TIER_SPLIT_INDEX, 100, 1, 100000, 0), 95,
	   "split: a descent passes four pages at most");
	is(sequential(TIER_SPLIT_INDEX, 100, 1, 1, 0), 99,
	   "split: an index of one page has none above it");
	is(sequential(TIER_SPLIT_INDEX, 3, 1, 30, 0), 0, "split: a descent is random");
	is(sequential(TIER_SPLIT_VALUES, 30, 10, 0, 0), 20,
	   "split: of a large value all but the first is sequential");

	for (int order = 0; order < TIER_SPLIT_ORDERS; order++)
	{
		const double odd[] = {-1, 0, NAN, INFINITY, -INFINITY, DBL_MAX, 3};
		bool		in_range = true;

		for (int i = 0; i < 7 * 7 * 7 * 7; i++)
		{
			double		misses = odd[i % 7];
			double		got = sequential((TierSplitOrder) order, misses, odd[i / 7 % 7],
										 odd[i / 49 % 7], odd[i / 343]);
			double		most = misses > 0 && isfinite(misses) ? misses : 0;

			in_range &= got >= 0 && got <= most;
		}
		ok(in_range, "split: order %d is within the misses for odd input", order);
	}
}

static TierSplitPeriod
split_period(double misses)
{
	TierSplitPeriod period = {0};

	period.misses = misses;
	period.statistics.misses = misses;
	period.statistics.sequential_low = misses * 0.1;
	period.statistics.sequential_mid = misses * 0.2;
	period.statistics.sequential_high = misses * 0.3;
	period.covered = period.complete = period.touched = true;
	period.certain_blocks = 1000;
	period.sample_rate = 1.0;
	return period;
}

static void
is_period(const TierSplitPeriod *period, char source, double random, double low, double mid,
		  double high, double maintenance, const char *name)
{
	TierSplitResult got = tier_split_period(period);
	bool		passed = got.source == source && near(got.use.misses, random + mid) &&
	near(got.use.sequential_low, low) && near(got.use.sequential_mid, mid) &&
	near(got.use.sequential_high, high) && near(got.maintenance, maintenance);

	ok(passed, "split: %s", name);
	if (!passed)
		printf("# source %c, use %g, sequential %g %g %g, maintenance %g\n", got.source,
			   got.use.misses,
			   got.use.sequential_low, got.use.sequential_mid, got.use.sequential_high,
			   got.maintenance);
}

/* What is ignored and not yet in the counters is kept once, and never more than there is. */
static void
test_split_ignored(void)
{
	TierSplitIgnored all = {5, 50, 500, 40, 2};
	TierSplitIgnored fresh = {2, 20, 200, 30, 1};
	TierSplitIgnored most = {4, 60, 500, -3, 0};
	TierSplitIgnored used = tier_split_least_ignored(&all, &most);
	TierSplitIgnored rest = tier_split_rest_of_ignored(&all, &used, &fresh);
	TierSplitPlans sum = {.ignored = fresh};

	is(used.scans, 4, "ignored: no more than the counters have");
	is(used.tuples, 50, "ignored: nor than there was");
	is(used.hits, 500, "ignored: all of it");
	is(used.misses, 0, "ignored: counters that make no sense");
	is(rest.scans, 1, "ignored: what is missing comes later");
	is(rest.tuples + rest.hits, 0, "ignored: what has come does not come again");
	is(rest.misses, 30, "ignored: what was kept once already is given up");
	is(rest.plans, 1, "ignored: something is left");
	is(tier_split_rest_of_ignored(&all, &all, &fresh).plans, 0, "ignored: nothing is left");
	tier_split_add_plans(&sum, &sum);
	is(sum.ignored.scans + sum.ignored.tuples + sum.ignored.hits + sum.ignored.misses,
	   2 * (2 + 20 + 200 + 30), "ignored: two add up");
	is(tier_split_misses(&sum), 60, "ignored: misses are misses");
}

static void
test_split_period(void)
{
	TierSplitPeriod period = split_period(1000);
	TierSplitResult result;

	/* No plans. */
	is_period(&period, 'e', 0, 0, 0, 0, 1000, "all plans are tracked and none read it: no use");
	period.complete = false;
	is_period(&period, 's', 800, 100, 200, 300, 0, "but some were dropped: statistics");
	period.complete = true;
	period.sample_rate = 0.1;
	is_period(&period, 's', 800, 100, 200, 300, 0,
			  "some plans are tracked, none of them read it: statistics");

	/*
	 * Of plans that read 1000 blocks for sure when tracked, 3 may not have
	 * been.
	 */
	period.misses = period.statistics.misses = 3000;
	period.certain_blocks = 1000;
	is(tier_split_period(&period).use.misses, 3000,
	   "split: three tracked plans' worth may go unseen");
	period.sample_rate = 0.9;
	is(tier_split_period(&period).use.misses, 3000, "split: at any rate");
	period.misses = period.statistics.misses = 3001;
	is_period(&period, 'e', 0, 0, 0, 0, 3001, "more than that was no plan: no use");
	period.sample_rate = 0.0;
	is(tier_split_period(&period).use.misses, 3001,
	   "split: but any number of cheap plans, if none of them is tracked");
	period.sample_rate = 0.1;
	period.complete = false;
	is(tier_split_period(&period).use.misses, 3001, "split: or if some were dropped");
	period.complete = true;
	period.looked_up = true;
	period.misses = period.statistics.misses = 30000;
	is(tier_split_period(&period).use.misses, 30000,
	   "split: plans that go by an index may read ten times what was expected");
	period.misses = period.statistics.misses = 30001;
	is_period(&period, 'e', 0, 0, 0, 0, 30001, "and not more: no use");
	period.looked_up = period.touched = false;
	period.misses = period.statistics.misses = 300;
	is(tier_split_period(&period).use.misses, 300,
	   "split: without a trace of use, some rows by their place");
	period.misses = period.statistics.misses = 301;
	is_period(&period, 'e', 0, 0, 0, 0, 301, "and not more: no use");
	period.misses = period.statistics.misses = 2;
	period.maintained = true;
	is_period(&period, 'e', 0, 0, 0, 0, 2, "none, where somebody vacuumed");
	period.maintained = false;
	period.is_index = true;
	is_period(&period, 'e', 0, 0, 0, 0, 2, "nor of an index, where any use leaves a trace");
	period.touched = true;
	is(tier_split_period(&period).use.misses, 2, "split: if it does, it is use");
	period = split_period(1000);
	period.covered = false;
	is_period(&period, 's', 800, 100, 200, 300, 0, "not covered: statistics");

	/* Exact. */
	period = split_period(1000);
	period.plans.plans = 5;
	period.plans.random = 100;
	period.plans.sequential = 500;
	is_period(&period, 'e', 100, 500, 500, 500, 400, "what plans did not read is maintenance");
	is(tier_split_period(&period).used_share, 1, "split: all of it is used");
	period.plans.random = 1500;
	is_period(&period, 'e', 750, 250, 250, 250, 0, "no more than the misses, in the same shares");
	is(tier_split_period(&period).used_share, 0.5, "split: half of it is used");
	period.misses = 0;
	is_period(&period, 'e', 0, 0, 0, 0, 0, "no misses, no use");
	is(tier_split_period(&period).used_share, 0, "split: and nothing is used");

	/* Blocks that were added: 300 of the random ones may be, 200 were. */
	period = split_period(600);
	period.plans.plans = 5;
	period.plans.random = 400;
	period.plans.sequential = 400;
	period.plans.added = 300;
	period.grown = 200;
	is_period(&period, 'e', 200, 400, 400, 400, 0, "blocks that were added are no reads");
	period.plans.added = 100;
	period.misses = 700;
	is_period(&period, 'e', 300, 400, 400, 400, 0, "no more of them than where rows were added");

	/*
	 * One INSERT in five is tracked: 500 blocks by it, for the 100 that were
	 * added.
	 */
	period = split_period(300);
	period.maintained = true;
	period.plans.plans = 1;
	period.plans.random = period.plans.added = 500;
	period.plans.random_variance = 5 * 4 * 100.0 * 100.0;
	period.grown = 100;
	is_period(&period, 'e', 0, 0, 0, 0, 300, "VACUUM read that, the sampled INSERT nothing");
	period.grown = 0;
	is_period(&period, 'e', 300, 0, 0, 0, 0, "without growth it is what the INSERT read");

	/*
	 * A sample.  Standard error of both 50, of sequential alone 40: the rest
	 * is noise up to 1.96 * 50 = 98.
	 */
	period = split_period(1000);
	period.sample_rate = 0.1;
	period.plans.plans = 100;
	period.plans.random = 300;
	period.plans.sequential = 600;
	period.plans.random_variance = 900;
	period.plans.sequential_variance = 1600;
	period.misses = 990;
	/* 900 become 990: 660 of them sequential, give or take 1.96 * 40 * 1.1. */
	is_period(&period, 'e', 330, 660 - 86.24, 660, 660 + 86.24, 0,
			  "a rest within the error is use in the same shares");
	period.maintained = true;
	is_period(&period, 'e', 300, 600 - 78.4, 600, 600 + 78.4, 90,
			  "but not where somebody vacuumed");
	period.maintained = false;
	period.misses = 900 + 299;
	/* Plans that were not tracked may have read 3 / 0.1 * 10 = 300. */
	is_period(&period, 'e', 1199 - 600 * 1199.0 / 900, 600 - 78.4, 600 * 1199.0 / 900,
			  600 + 78.4 + 299, 0,
			  "what plans that were not seen may have read is use of either kind");
	period.misses = 900 + 301;
	is_period(&period, 'e', 300, 600 - 78.4, 600, 600 + 78.4, 301,
			  "more than that is maintenance");
	period.misses = 450;
	is_period(&period, 'e', 150, 300 - 39.2, 300, 300 + 39.2, 0, "more than the misses");
	period.plans.random = 0;
	period.plans.sequential = 440;
	is_period(&period, 'e', 0, (440 - 78.4) * 450 / 440, 450, 450, 0,
			  "the bounds stay within the reads");

	/* Whatever comes in, what comes out adds up and is in order. */
	random_state = 77;
	for (int i = 0, bad = 0; i <= 20000; i++)
	{
		const double odd[] = {-1, NAN, INFINITY, 0};
		double	   *fields[] = {
			&period.misses, &period.grown, &period.sample_rate, &period.plans.random,
			&period.plans.sequential, &period.plans.random_variance,
			&period.plans.sequential_variance, &period.plans.added, &period.plans.plans,
			&period.plans.ignored.misses, &period.certain_blocks
		};
		double		misses;

		if (i == 20000)
		{
			ok(bad == 0, "split: 20000 random periods add up");
			break;
		}
		for (int f = 0; f < 11; f++)
			*fields[f] = random_int(8) == 0 ? odd[random_int(4)] :
				random_unit() * (f == 2 ? 1 : 1000);
		misses = period.misses > 0 && isfinite(period.misses) ? period.misses : 0;
		period.statistics.misses = misses;
		period.statistics.sequential_low = period.statistics.sequential_mid =
			period.statistics.sequential_high = misses / 2;
		period.covered = random_int(8) > 0;
		period.complete = random_int(2) > 0;
		period.touched = random_int(2) > 0;
		period.maintained = random_int(2) > 0;
		period.looked_up = random_int(2) > 0;
		period.is_index = random_int(2) > 0;
		result = tier_split_period(&period);
		if (!(fabs(result.use.misses + result.maintenance - misses) <= 1e-6 &&
			  result.maintenance >= 0 && result.use.sequential_low >= 0 &&
			  result.use.sequential_low <= result.use.sequential_mid &&
			  result.use.sequential_mid <= result.use.sequential_high &&
			  result.use.sequential_high <= result.use.misses + 1e-9 &&
			  result.used_share >= 0 && result.used_share <= 1))
			bad++;
	}
}

static void
is_bound(double own, double misses, double device, double temp, double want_low,
		 double want_high, const char *name)
{
	TierSplitRequests found = tier_split_bound_requests(own, misses, device, temp, 1);

	ok(found.low == want_low && found.high == want_high &&
	   found.mid >= found.low && found.mid <= found.high, "requests: %s", name);
	if (found.low != want_low || found.high != want_high)
		printf("# %g to %g\n", found.low, found.high);
}

/* Of one miss and nine of others, with what was read and how likely the one is. */
static void
is_likely(double device, double odds, double want, const char *name)
{
	TierSplitRequests found = tier_split_bound_requests(1, 10, device, 0, odds);

	ok(near(found.mid, want), "requests: %s", name);
	if (!near(found.mid, want))
		printf("# %g\n", found.mid);
}

static void
test_split_requests(void)
{
	static const double odd[] = {-1, 0, NAN, INFINITY, -INFINITY, DBL_MAX, DBL_MIN, 0.4, 3};
	TierSplitPlans plans = {0};
	bool		in_range = true;
	TierSplitRequests found;
	TierSplitRequestShare share;

	is_bound(1, 1, 0, 0, 0, 0, "a miss that reads nothing makes none");
	is_bound(1, 1, 1, 0, 1, 1, "one that reads makes one");
	is_bound(1, 1, 16, 0, 1, 1, "and no more, whatever is read ahead");
	is_bound(1, 1, 0.5, 0, 1, 1, "nor less if half of the block is read");
	is_bound(10, 10, 4, 0, 1, 4, "of ten misses as many as were read, or one");
	is_bound(10, 10, 40, 0, 1, 10, "no more than there were misses");
	is_bound(1, 2, 1, 0, 0, 1, "the miss of another relation may be what was read");
	is_bound(0.25, 1, 1, 0, 0.25, 0.25, "of the random part of a miss");
	is_bound(1, 1, 1, 1, 0, 1, "a temporary file may be what was read");
	is_bound(0, 5, 3, 0, 0, 0, "nothing of nothing");
	is_likely(2, 1, 0.2, "as likely as the others");
	is_likely(2, 9, 1, "nine times as likely");
	is_likely(1, 9, 0.5, "of one block, half as likely as all others");
	is_likely(2, 0, 0, "of what is always cached, none");
	is_likely(10, 0.1, 1, "all, if as much was read as was missed");
	for (int i = 0; i < 9 * 9 * 9 * 9; i++)
	{
		double		own = odd[i % 9];

		for (int k = 0; k < 9; k++)
		{
			found = tier_split_bound_requests(own, odd[i / 9 % 9], odd[i / 81 % 9], odd[i / 729],
											  odd[k]);
			in_range &= found.low >= 0 && found.low <= found.mid && found.mid <= found.high &&
				(found.high <= own || found.high == 0) && isfinite(found.high);
		}
	}
	ok(in_range, "requests: bounds are in order for odd input");

	share = tier_split_request_share(&plans);
	ok(share.low == 0 && share.high == 1, "requests: without plans anything may be");
	plans.random = plans.bounded = 1000;
	plans.requests.low = 200;
	plans.requests.high = 300;
	share = tier_split_request_share(&plans);
	ok(near(share.low, 0.2) && near(share.high, 0.3), "requests: of all plans, what was counted");
	plans.bounded = 500;
	share = tier_split_request_share(&plans);
	ok(near(share.low, 0.2) && near(share.high, 0.8) && near(share.known, 0.5),
	   "requests: of half of them, the rest is open");

	/*
	 * 100 reads, each of weight 10, in plans of one; Wilson's interval of 20
	 * and of 30 in 100.
	 */
	plans.bounded = 1000;
	plans.random_variance = 100 * 10 * 10;
	share = tier_split_request_share(&plans);
	ok(fabs(share.low - 0.1334) < 1e-4 && fabs(share.high - 0.3958) < 1e-4,
	   "requests: of a sample, wider by its error");
	plans.requests.mid = 250;
	share = tier_split_request_share(&plans);
	ok(near(share.counted, 0.25) && near(share.known, 100.0 / 101.0),
	   "requests: a sample of 100 weighs 100 against 1");
	plans.requests.low = plans.requests.mid = plans.requests.high = 0;
	share = tier_split_request_share(&plans);
	ok(near(share.low, 0) && fabs(share.high - 0.0370) < 1e-4,
	   "requests: none in 100 may still be some");
	plans.random = plans.bounded = plans.requests.low = plans.requests.high = 10;
	plans.random_variance = 10 * 9;
	share = tier_split_request_share(&plans);
	ok(share.low < 0.25 && near(share.high, 1), "requests: one plan says little about others");

	in_range = true;
	for (int i = 0; i < 9 * 9 * 9 * 9 * 9; i++)
	{
		plans.random = odd[i % 9];
		plans.bounded = odd[i / 9 % 9];
		plans.requests.low = odd[i / 81 % 9];
		plans.requests.high = odd[i / 729 % 9];
		plans.random_variance = odd[i / 6561];
		share = tier_split_request_share(&plans);
		in_range &= share.low >= 0 && share.low <= share.high && share.high <= 1 &&
			share.counted >= 0 && share.counted <= 1 && share.known >= 0 && share.known <= 1;
	}
	ok(in_range, "requests: shares are in order for odd input");
}

/*-------------------------------------------------------------------------
 * Effect
 *-------------------------------------------------------------------------
 */

static void
test_effect_load(void)
{
	const TierEffectTotals before = {100, 200, 10, 1000, 240, 5000};
	const TierEffectTotals after = {148, 440, 34, 1480, 288, 5024};
	TierEffectTotals back;
	TierCostLoad load = {.random_reads = 7};

	ok(tier_effect_load(&before, &after, 24 * 3600.0, true, 81920, 12, &load),
	   "effect: load of a day");
	is(load.random_reads, 2, "effect: random reads per hour");
	is(load.sequential_reads, 10, "effect: sequential reads per hour");
	is(load.scans, 1, "effect: scans per hour");
	is(load.page_writes, 20, "effect: counted page writes per hour");
	is(load.merged_writes, 2, "effect: of these merged");
	is(load.size_bytes, 81920, "effect: size");
	ok(tier_effect_load(&before, &after, 1800, false, 81920, 12, &load) &&
	   near(load.random_reads, 96) &&
	   near(load.page_writes, estimate_writes(48, 10, 12).page_writes) &&
	   near(load.merged_writes, estimate_writes(48, 10, 12).merged_writes),
	   "effect: page writes of half an hour, by changed rows");
	ok(tier_effect_load(&before, &before, 3600, true, 0, 12, &load) &&
	   load.random_reads == 0 && load.page_writes == 0,
	   "effect: nothing happened");

	load.random_reads = 7;
	ok(!tier_effect_load(&before, &after, 0, true, 0, 12, &load) &&
	   !tier_effect_load(&before, &after, -1, true, 0, 12, &load) &&
	   !tier_effect_load(&before, &after, NAN, true, 0, 12, &load),
	   "effect: no time, no load");
	for (int i = 0; i < 5; i++)
	{
		double	   *field = &((double *) &back)[i];

		back = after;
		*field = ((const double *) &before)[i] - 1;
		ok(!tier_effect_load(&before, &back, 3600, true, 0, 12, &load),
		   "effect: total %d went back", i);
		*field = NAN;
		ok(!tier_effect_load(&before, &back, 3600, true, 0, 12, &load),
		   "effect: total %d is no number", i);
		*field = INFINITY;
		ok(!tier_effect_load(&before, &back, 3600, true, 0, 12, &load),
		   "effect: total %d is infinite", i);
	}
	is(load.random_reads, 7, "effect: what cannot be told leaves the load alone");
}

static void
test_effect_device(void)
{
	/* hdd: 12.5 ms a random read, 10 ms a random write, 128 MB/s both */
	const TierEffectWork before = {10, 20, 30, 40, 50};
	const TierEffectWork after = {11, 22, 33, 44, 55};
	TierEffectWork work = {0};

	is(tier_effect_device_ms(100, 40), 40, "device: its requests took less than it was busy");
	is(tier_effect_device_ms(100, 4000), 100, "device: its requests waited in a queue");
	is(tier_effect_device_ms(100, 0), 100, "device: the time of requests is not known");

	ok(tier_effect_work_between(&before, &after, &work) && work.reads == 1 &&
	   work.read_bytes == 2 &&
	   work.writes == 3 && work.write_bytes == 4 && work.device_ms == 5, "device: work between");
	for (int i = 0; i < 5; i++)
	{
		TierEffectWork back = after;

		((double *) &back)[i] = 0;
		ok(!tier_effect_work_between(&before, &back, &work), "device: figure %d went back", i);
	}

	/* 1000 random reads of a block: 12.5 s */
	work = (TierEffectWork)
	{
		1000, 1000 * 8192.0, 0, 0, 12500
	};
	is(tier_effect_device_factor(&work, &hdd, 131072), 1,
	   "device: random reads, as the profile says");
	work.device_ms = 25000;
	is(tier_effect_device_factor(&work, &hdd, 131072), 2, "device: half as fast");
	work.device_ms = 1250;
	is(tier_effect_device_factor(&work, &hdd, 131072), 0.1, "device: ten times as fast");
	is(tier_effect_device_factor(&work, &ssd, 131072), 1250 / (1000 * ssd.random_read_ms),
	   "device: by another profile");

	/* 1000 requests of 128 kB: 131.072 MB at 128 MB/s take 1.024 s */
	work = (TierEffectWork)
	{
		1000, 1000 * 131072.0, 0, 0, 1024
	};
	is(tier_effect_device_factor(&work, &hdd, 131072), 1, "device: sequential reads");
	is(tier_effect_device_factor(&work, &hdd, 65536), 1, "device: larger requests than thought");

	/* Half of either, which are 500 * 12.5 ms + 65.536 MB. */
	work = (TierEffectWork)
	{
		1000, 500 * 8192.0 + 500 * 131072.0, 0, 0, 6250 + 512
	};
	is(tier_effect_device_factor(&work, &hdd, 131072), 1, "device: half of either");
	is(tier_effect_device_factor(&work, &hdd, 8192),
	   6762 / (12500 + (500 * 131072.0 - 500 * 8192.0) / 128e3),
	   "device: where a request is a block, each has an access");

	/* With 1000 random writes of a block, 10 s. */
	work.writes = 1000;
	work.write_bytes = 1000 * 8192.0;
	work.device_ms += 10000;
	is(tier_effect_device_factor(&work, &hdd, 131072), 1, "device: reads and writes");

	/*
	 * A WAL whose 1000 writes were cheap: nothing is known of the reads,
	 * which take 6.762 s; but of those beside 70 writes, which take 0.7 s.
	 */
	work.device_ms -= 9000;
	ok(!tier_effect_drop_writes(&work, &hdd, 131072) && work.writes == 0 &&
	   work.write_bytes == 0, "device: nobody knows what the writes have taken");
	work.writes = 70;
	work.write_bytes = 70 * 8192.0;
	work.device_ms = 6762;
	ok(tier_effect_drop_writes(&work, &hdd, 131072) &&
	   fabs(tier_effect_device_factor(&work, &hdd, 131072) - 1) < 1e-9,
	   "device: little, so the reads are known");

	/* Requests of less than a block are one access each. */
	work = (TierEffectWork)
	{
		1000, 1000 * 512.0, 0, 0, 12500
	};
	is(tier_effect_device_factor(&work, &hdd, 131072), 1, "device: small requests");

	work.reads = 99;
	ok(isnan(tier_effect_device_factor(&work, &hdd, 131072)), "device: too few requests");
	work.reads = 100;
	ok(!isnan(tier_effect_device_factor(&work, &hdd, 131072)), "device: enough requests");
	work.device_ms = 0;
	ok(isnan(tier_effect_device_factor(&work, &hdd, 131072)), "device: it took no time");
	work.device_ms = 1e300;
	is(tier_effect_device_factor(&work, &hdd, 131072), 1000, "device: as slow as it can be");
	work.device_ms = 1e-300;
	is(tier_effect_device_factor(&work, &hdd, 131072), 0.001, "device: as fast as it can be");
	work.read_bytes = NAN;
	ok(isnan(tier_effect_device_factor(&work, &hdd, 131072)), "device: no number");
}

static void
test_effect_judge(void)
{
	static const struct
	{
		double		predicted;
		double		unmoved;
		double		measured;
		TierEffectVerdict verdict;
	}			cases[] = {
		/* Saves: from half to twice of 10, give or take 5 % of 20. */
		{10, 20, 10, TIER_EFFECT_AS_PREDICTED},
		{10, 20, 15.9, TIER_EFFECT_AS_PREDICTED},
		{10, 20, 16.1, TIER_EFFECT_LESS},
		{10, 20, 20.9, TIER_EFFECT_LESS},
		{10, 20, 21.1, TIER_EFFECT_WORSE},
		{10, 30, 8.6, TIER_EFFECT_AS_PREDICTED},
		{10, 30, 8.4, TIER_EFFECT_BETTER},
		/* Is known to cost: from half to twice of it. */
		{-10, 20, 24.1, TIER_EFFECT_AS_PREDICTED},
		{-10, 20, 23.9, TIER_EFFECT_BETTER},
		{-10, 20, 40.9, TIER_EFFECT_AS_PREDICTED},
		{-10, 20, 41.1, TIER_EFFECT_WORSE},
		{-10, 20, 5, TIER_EFFECT_BETTER},
		/* Next to nothing, by 0.1 s. */
		{0, 0, 0, TIER_EFFECT_AS_PREDICTED},
		{0, 0, 0.09, TIER_EFFECT_AS_PREDICTED},
		{0, 0, 0.11, TIER_EFFECT_WORSE},
		{0, 0.11, 0, TIER_EFFECT_BETTER},
		{0.15, 0, 0.05, TIER_EFFECT_LESS},
		{0.1, 0, 0.05, TIER_EFFECT_AS_PREDICTED},
		/* Nothing was predicted. */
		{NAN, 20, 20.9, TIER_EFFECT_NO_DIFFERENCE},
		{NAN, 20, 21.1, TIER_EFFECT_WORSE},
		{NAN, 20, 18.9, TIER_EFFECT_BETTER},
		{NAN, 0, 0.1, TIER_EFFECT_NO_DIFFERENCE},
	};
	bool		monotone = true;

	for (int i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
	{
		TierEffectVerdict verdict = tier_effect_judge(cases[i].predicted, cases[i].unmoved,
													  cases[i].measured);

		ok(verdict == cases[i].verdict, "judge: %g predicted, %g to %g: %s", cases[i].predicted,
		   cases[i].unmoved, cases[i].measured, tier_effect_text(verdict));
	}
	is(tier_effect_noise(0), 0.1, "judge: noise of an idle relation");
	is(tier_effect_noise(100), 5, "judge: noise of a busy one");

	/* The more it costs, the worse is the verdict, whatever was predicted. */
	for (int i = 0; i < 1000; i++)
	{
		static const int rank[] = {[TIER_EFFECT_BETTER] = 0,[TIER_EFFECT_AS_PREDICTED] = 1,
		[TIER_EFFECT_LESS] = 2,[TIER_EFFECT_WORSE] = 3};
		double		predicted = (random_unit() - 0.5) * 40;
		double		unmoved = random_unit() * 40;
		int			last = 0;

		for (double measured = 0; measured < 200; measured += 0.5)
		{
			int			now = rank[tier_effect_judge(predicted, unmoved, measured)];

			monotone &= now >= last;
			last = now;
		}
	}
	ok(monotone, "judge: more cost is never a better verdict");
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
	test_blockset();

	test_cost_attribute_index();
	test_cost_attribute_is_ordered();
	test_cost_busy();
	test_cost_price_and_move();
	test_cost_page_writes();
	test_effect_load();
	test_effect_device();
	test_effect_judge();

	test_split_maintenance();
	test_policy_verdicts();
	test_policy_order();

	test_order();
	test_stretches();
	test_page_set();
	test_page_merged();
	test_fit();
	test_fit_is_robust();
	test_fit_shares();
	test_wait_classes();
	test_split_orders();
	test_split_ignored();
	test_split_period();
	test_split_requests();

	return done();
}
