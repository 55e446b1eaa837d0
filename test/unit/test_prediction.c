/*-------------------------------------------------------------------------
 *
 * test_prediction.c
 *		Tests of what clients gain by another placement.  Prints TAP; run it by
 *		test/unit/run.
 *
 * Numbers in fixtures were computed by hand; the arithmetic is beside them.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "src/model/cost.h"
#include "src/model/prediction.h"

/* Four clients; for two hours of the four they wait for devices. */
static const TierPredictionClients four = {14400, 7200, 1800, 0, 5};

/* What comes of one tier on which clients wait for so long, now and then. */
static TierPrediction
predict(const TierPredictionClients *clients, double now_s, double then_s)
{
	TierPrediction prediction = TIER_PREDICTION_UNKNOWN;
	TierPlacementTotals now = {0};
	TierPlacementTotals then = {0};

	now.wait_s = now_s;
	then.wait_s = then_s;
	tier_prediction_add(clients, &now, &then, 1, &prediction);
	return prediction;
}

static bool
same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void
test_gain(void)
{
	TierPrediction p = predict(&four, 1000, 0);

	ok(same(p.saved_s_low, 7200) && same(p.saved_s_high, 7200), "gain: all that they wait");
	ok(p.speedup_low == 1 && same(p.speedup_high, 2),
	   "gain: and twice as much gets done, if they ask for it");

	/*
	 * The model's seconds do not count, but their share: 14400 / (7200 +
	 * 3600).
	 */
	p = predict(&four, 10, 5);
	ok(same(p.saved_s_low, 3600) && same(p.speedup_high, 4.0 / 3), "gain: half of what they wait");
	p = predict(&four, 1e7, 5e6);
	ok(same(p.saved_s_low, 3600) && same(p.speedup_high, 4.0 / 3),
	   "gain: whatever the figures of a tier are");
	p = predict(&four, 1000, 1000);
	ok(p.saved_s_low == 0 && same(p.speedup_low, 1) && same(p.speedup_high, 1), "gain: none");
	p = predict(&four, 0, 0);
	ok(p.saved_s_low == 0 && p.saved_s_high == 0, "gain: none where nobody waits");
}

static void
test_loss(void)
{
	TierPredictionClients clients = four;
	TierPrediction p = predict(&four, 1000, 2000);

	/* 14400 / (7200 + 14400) */
	ok(same(p.saved_s_low, -7200) && same(p.speedup_low, 2.0 / 3) && p.speedup_high == 1,
	   "loss: they wait twice as long");
	clients.device_s = 0;
	p = predict(&clients, 1, 1001);
	ok(same(p.saved_s_low, -1000) && same(p.speedup_low, 14400.0 / 15400),
	   "loss: waits that nobody has seen become longer");
	p = predict(&four, 0, 1000);
	ok(same(p.saved_s_low, -1000), "loss: nor had the model seen them");
}

static void
test_bounds(void)
{
	TierPredictionClients clients = four;
	TierPrediction p;
	TierPrediction unknown = TIER_PREDICTION_UNKNOWN;

	/*
	 * One processor; they work for half an hour, so no more than twice as
	 * much.
	 */
	clients.device_s = 12600;
	ok(same(predict(&clients, 1, 0).speedup_high, 8), "bounds: 14400 / 1800");
	clients.processors = 1;
	ok(same(predict(&clients, 1, 0).speedup_high, 2), "bounds: no more processors than there are");
	clients.processor_s = 9000;
	ok(same(predict(&clients, 1, 0).speedup_high, 1), "bounds: they are used up");
	clients = four;
	clients.device_s = clients.active_s;
	p = predict(&clients, 1, 0);
	ok(isinf(p.speedup_high) && p.speedup_low == 1 && same(p.saved_s_high, 14400),
	   "bounds: who does nothing but wait");
	clients.device_s = 1e9;
	ok(same(predict(&clients, 1, 0).saved_s_high, 14400), "bounds: not more than all their time");
	clients.active_s = 0;
	p = predict(&clients, 1, 0);
	ok(isnan(p.saved_s_low) && isnan(p.saved_s_high) && isnan(p.speedup_low) &&
	   isnan(p.speedup_high) && isnan(unknown.saved_s_low), "bounds: nothing was measured");
	clients.active_s = NAN;
	ok(isnan(predict(&clients, 1, 0).speedup_high), "bounds: not a number");
}

/* Another load widens the range. */
static void
test_range(void)
{
	TierPrediction p = TIER_PREDICTION_UNKNOWN;
	TierPlacementTotals now = {0};
	TierPlacementTotals then = {0};

	now.wait_s = 100;
	then.wait_s = 50;
	tier_prediction_add(&four, &now, &then, 1, &p);
	then.wait_s = 150;
	tier_prediction_add(&four, &now, &then, 1, &p);
	then.wait_s = 75;
	tier_prediction_add(&four, &now, &then, 1, &p);
	/* 14400 / (7200 + 10800) */
	ok(same(p.saved_s_low, -3600) && same(p.saved_s_high, 3600) && same(p.speedup_low, 0.8) &&
	   same(p.speedup_high, 4.0 / 3), "range: from the least to the most");
}

/* Devices that get more to do make wait; the hours add up; no promise beyond the share. */
static void
test_queues(void)
{
	int			wrong = 0;
	int			too_much = 0;
	int			gains = 0;

	for (int i = 0; i < 1000; i++)
	{
		TierPrediction p = TIER_PREDICTION_UNKNOWN;
		TierPlacementTotals now[2] = {{0}};
		TierPlacementTotals then[2] = {{0}};
		double		now_s = 0;
		double		then_s = 0;
		double		device_s;
		double		speedup;

		for (int t = 0; t < 2; t++)
		{
			now[t].occupied_s = random_int(5000);
			then[t].occupied_s = 5000 * random_unit();
			now[t].wait_s = now[t].occupied_s * (1 + t);
			then[t].wait_s = then[t].occupied_s * (1 + t);
			now_s += now[t].wait_s + tier_cost_queue_s(now[t].occupied_s / 3600, 5);
		}
		tier_prediction_add(&four, now, then, 2, &p);
		if (p.saved_s_high > 7200 || p.speedup_high > 2)
			too_much++;
		speedup = p.speedup_low < 1 ? p.speedup_low : p.speedup_high;
		for (int t = 0; t < 2; t++)
			then_s += then[t].wait_s +
				tier_cost_queue_s(speedup * then[t].occupied_s / 3600, 5) / speedup;
		device_s = then_s <= now_s ? 7200 * then_s / now_s :
			7200 + fmax(then_s - now_s, 7200 * (then_s / now_s - 1));
		if (fabs(speedup * (7200 + device_s) - 14400) > 1e-6)
			wrong++;
		gains += p.speedup_high > 1;
	}
	ok(wrong == 0, "queues: the hours of the clients are used up (%d)", wrong);
	ok(too_much == 0, "queues: no more than they wait now (%d)", too_much);
	ok(gains > 100 && gains < 900, "queues: gains and losses (%d)", gains);
}

int
main(void)
{
	test_gain();
	test_loss();
	test_bounds();
	test_range();
	test_queues();
	return done();
}
