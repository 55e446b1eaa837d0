/*-------------------------------------------------------------------------
 *
 * test_purchase.c
 *		Tests of what volumes do and cost, and of what other hardware is worth.  Prints
 *		TAP; run it by test/unit/run.
 *
 * Numbers in fixtures were computed by hand; the arithmetic is beside them.
 *
 *-------------------------------------------------------------------------
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/cost.h"
#include "src/model/purchase.h"
#include "src/model/volume.h"

static bool
same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* Exactly; what is between the members of a struct is nothing. */
static bool
has_figures(const TierCostProfile *p, const TierCostProfile *expected)
{
	return memcmp(p, expected, offsetof(TierCostProfile, calibrated)) == 0 &&
		p->calibrated == expected->calibrated;
}

/* One that is sold like gp3: 3,000 requests of 1 ms and 125 MB/s for 0.08, more for money. */
static TierVolume
sold(void)
{
	TierVolume	volume = {.endurance_dwpd = 0};

	volume.figures.random_read_ms = 1;
	volume.figures.random_write_ms = 2;
	volume.figures.sequential_read_mb_per_s = 125;
	volume.figures.sequential_write_mb_per_s = 100;
	volume.figures.scan_start_ms = 4;
	volume.figures.parallelism = 3;
	volume.figures.price_per_gb_month = 0.08;
	volume.requests = (TierVolumeRate)
	{
		0, 16000, 3000, 0.005
	};
	volume.throughput = (TierVolumeRate)
	{
		0, 1000, 125, 0.04
	};
	return volume;
}

/* Like st1: at 1,000 GB 40 requests a second of 25 ms, and 40 MB/s; by its size. */
static TierVolume
sized(void)
{
	TierVolume	volume = sold();

	volume.figures.random_read_ms = 25;
	volume.figures.random_write_ms = 25;
	volume.figures.scan_start_ms = 50;
	volume.figures.parallelism = 1;
	volume.figures.sequential_read_mb_per_s = 40;
	volume.figures.sequential_write_mb_per_s = 40;
	volume.figures.price_per_gb_month = 0.045;
	volume.figures_for_gb = 1000;
	volume.least_gb = 125;
	volume.requests = (TierVolumeRate)
	{
		0.04, 500, 0, NAN
	};
	volume.throughput = (TierVolumeRate)
	{
		0.04, 500, 0, NAN
	};
	return volume;
}

static void
test_sold(void)
{
	TierVolume	v = sold();
	TierCostProfile p = tier_volume_profile(&v, 500, NAN, NAN);

	ok(has_figures(&p, &v.figures), "sold: what comes with it are its figures");
	ok(same(tier_volume_requests(&v, 500), 3000) && same(tier_volume_throughput(&v, 1), 125),
	   "sold: of whatever size");
	/* 500 * 0.08 */
	ok(same(tier_volume_price(&v, 500, NAN, NAN), 40), "sold: the price of its GB");
	/* 40 + 3000 * 0.005 + 75 * 0.04 */
	ok(same(tier_volume_price(&v, 500, 6000, 200), 58), "sold: and of what is bought");
	p = tier_volume_profile(&v, 500, 6000, 250);
	ok(same(p.parallelism, 6) && p.random_read_ms == 1 && same(p.sequential_read_mb_per_s, 250) &&
	   same(p.sequential_write_mb_per_s, 200), "sold: more at once, none of it sooner");
}

static void
test_sized(void)
{
	TierVolume	v = sized();
	TierCostProfile p;

	ok(same(tier_volume_requests(&v, 2000), 80) && same(tier_volume_throughput(&v, 500), 20) &&
	   same(tier_volume_requests(&v, 1e6), 500), "sized: in proportion, up to the most");
	p = tier_volume_profile(&v, 2000, NAN, NAN);
	ok(same(p.parallelism, 2) && same(p.random_read_ms, 25) &&
	   same(p.sequential_read_mb_per_s, 80), "sized: two at once");
	p = tier_volume_profile(&v, 500, NAN, NAN);
	ok(same(p.parallelism, 1) && same(p.random_read_ms, 50) && same(p.random_write_ms, 50) &&
	   same(p.scan_start_ms, 100) && same(p.sequential_read_mb_per_s, 20),
	   "sized: one at a time, which takes longer");
	/* 1000 * 0.045, and 125 at least */
	ok(same(tier_volume_price(&v, 1000, NAN, NAN), 45) &&
	   same(tier_volume_price(&v, 10, NAN, NAN), 5.625), "sized: the least size is paid");
	/* 20 without any GB, and 0.02 with each */
	v.requests.per_gb = 0.02;
	ok(same(tier_volume_requests(&v, 2000), 60) && same(tier_volume_requests(&v, 500), 30),
	   "sized: a straight line with a base");
	v.requests.per_gb = 0.1;
	ok(same(tier_volume_requests(&v, 500), 20), "sized: never less than in proportion");
	v.figures_for_gb = NAN;
	v.requests.most = NAN;
	ok(same(tier_volume_requests(&v, 7), 40), "sized: nothing is known of sizes");
}

/* What was measured changes by as much as the list does. */
static void
test_grown(void)
{
	TierVolume	v = sized();
	TierCostProfile measured = v.figures;
	TierCostProfile p;

	measured.random_read_ms = 20;
	measured.parallelism = 4;
	measured.sequential_read_mb_per_s = 90;
	measured.price_per_gb_month = 7;
	p = tier_volume_grown(&v, &measured, 1000, 1500, NAN, NAN);
	ok(same(p.random_read_ms, 20) && same(p.parallelism, 6) &&
	   same(p.sequential_read_mb_per_s, 135) && p.price_per_gb_month == 7, "grown: by half");
	p = tier_volume_grown(&v, &measured, 1000, 100, NAN, NAN);
	ok(same(p.random_read_ms, 50) && same(p.parallelism, 1), "grown: fewer than one at once");
	v = sold();
	p = tier_volume_grown(&v, &measured, 1000, 9000, 4500, NAN);
	ok(same(p.parallelism, 6) && same(p.sequential_read_mb_per_s, 90), "grown: bought");
	p = tier_volume_grown(&v, &measured, NAN, INFINITY, NAN, NAN);
	ok(same(p.parallelism, 4), "grown: not by what is no size");
}

/* Four clients that wait for devices for two of four hours. */
static const TierPredictionClients four = {14400, 7200, 1800, 0, 5};

static TierPurchaseGain
gain(const TierPredictionClients *clients, double now_s, double best_s, double then_s)
{
	TierPurchaseGain answer = TIER_PURCHASE_UNKNOWN;
	TierPlacementTotals now = {0};
	TierPlacementTotals best = {0};
	TierPlacementTotals then = {0};

	now.wait_s = now.busy_s = now_s;
	best.wait_s = best.busy_s = best_s;
	then.wait_s = then.busy_s = then_s;
	tier_purchase_add(clients, &now, &best, &then, 1, &answer);
	return answer;
}

static void
test_gain(void)
{
	TierPredictionClients nobody = {0};
	TierPurchaseGain g = gain(&four, 1000, 500, 125);

	/* Moving saves half of 7200, the hardware three quarters of the rest. */
	ok(same(g.io_s_low, 375) && same(g.wait_s_low, 2700) && same(g.wait_s_high, 2700) &&
	   same(g.less_low, 0.75), "gain: what moving gains is not its own");
	/* 10800 / 8100, of 10800 that clients take then */
	ok(same(g.speedup, 4.0 / 3) && g.speedup_low == 1 && same(g.speedup_high, 4.0 / 3) &&
	   same(g.noticed_low, 0.25), "gain: and of all their time");
	g = gain(&four, 1000, 500, 1000);
	ok(same(g.wait_s_low, -3600) && same(g.less_high, -1) && same(g.speedup_low, 0.75) &&
	   g.speedup_high == 1, "gain: none");
	g = gain(&four, 1000, 0, 0);
	ok(g.wait_s_low == 0 && g.less_low == 0 && g.speedup == 1, "gain: nobody waits anyway");
	g = gain(&nobody, 1000, 500, 125);
	ok(same(g.io_s_high, 375) && isnan(g.wait_s_low) && isnan(g.less_high) && isnan(g.speedup),
	   "gain: of clients, nothing is known");
	nobody.active_s = NAN;
	ok(isnan(gain(&nobody, 1, 1, 1).less_low), "gain: not a number");
}

static void
test_range(void)
{
	TierPurchaseGain answer = TIER_PURCHASE_UNKNOWN;
	TierPlacementTotals now = {0};
	TierPlacementTotals then = {0};

	now.wait_s = 1000;
	then.wait_s = 500;
	tier_purchase_add(&four, &now, &now, &then, 1, &answer);
	then.wait_s = 250;
	tier_purchase_add(&four, &now, &now, &then, 1, &answer);
	/* 14400 / (14400 - 3600) */
	ok(same(answer.wait_s_low, 3600) && same(answer.wait_s_high, 5400) &&
	   same(answer.speedup, 4.0 / 3), "range: from the least to the most, work by the first");
}

static void
test_verdicts(void)
{
	TierPurchaseGain g = TIER_PURCHASE_UNKNOWN;

	ok(tier_purchase_verdict(&g, false, true, 1) == TIER_PURCHASE_NOT_OBSERVED &&
	   tier_purchase_verdict(&g, true, true, 1) == TIER_PURCHASE_DEVICES_ONLY &&
	   tier_purchase_verdict(&g, false, false, 1) == TIER_PURCHASE_TOO_SMALL,
	   "verdict: what is not known");
	g.noticed_low = -0.01;
	g.noticed_high = 0.019;
	ok(tier_purchase_verdict(&g, true, true, 1) == TIER_PURCHASE_NOTHING &&
	   tier_purchase_verdict(&g, true, true, 0) == TIER_PURCHASE_NOTHING &&
	   tier_purchase_verdict(&g, true, true, -1) == TIER_PURCHASE_ENOUGH,
	   "verdict: nobody notices");
	g.noticed_high = 0.3;
	ok(tier_purchase_verdict(&g, true, true, 1) == TIER_PURCHASE_FASTER, "verdict: faster");
	g.noticed_low = -0.3;
	ok(tier_purchase_verdict(&g, true, true, 1) == TIER_PURCHASE_EITHER, "verdict: either");
	g.noticed_high = 0;
	ok(tier_purchase_verdict(&g, true, true, -1) == TIER_PURCHASE_SLOWER, "verdict: slower");
}

static void
test_money(void)
{
	double		seconds[TIER_PURCHASE_BOUNDS] = {10, 20, 20, NAN, -5, 3};

	ok(tier_purchase_bound(seconds) == TIER_BOUND_DEVICE, "bound: by most, the first of equals");
	memset(seconds, 0, sizeof(seconds));
	ok(tier_purchase_bound(seconds) == -1, "bound: by nothing");
	/* twice the work for half the price */
	ok(same(tier_purchase_performance(2, 100, 50), 4) &&
	   same(tier_purchase_performance(1.5, 100, 150), 1), "performance: work for the price");
	ok(isnan(tier_purchase_performance(INFINITY, 1, 1)) &&
	   isnan(tier_purchase_performance(1, 0, 1)) && isnan(tier_purchase_performance(1, 1, 0)) &&
	   isnan(tier_purchase_performance(NAN, 1, 1)), "performance: not known");
}

int
main(void)
{
	test_sold();
	test_sized();
	test_grown();
	test_gain();
	test_range();
	test_verdicts();
	test_money();
	return done();
}
