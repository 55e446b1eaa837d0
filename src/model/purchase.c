/*-------------------------------------------------------------------------
 *
 * model/purchase.c
 *		What other hardware is worth to those who wait for it.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "src/model/cost.h"
#include "src/model/number.h"
#include "src/model/purchase.h"

#define S_PER_HOUR 3600.0

/* Money per month that is rounded to nothing. */
#define LEAST_PRICE 5e-3

static void
widen(double value, double *low, double *high)
{
	if (isnan(value))
		return;
	if (!(*low <= value))
		*low = value;
	if (!(*high >= value))
		*high = value;
}

static double
io_s(const TierPlacementTotals *totals, int ntiers, double clients)
{
	double		sum = 0.0;

	for (int t = 0; t < ntiers; t++)
		sum += tier_amount(totals[t].busy_s) +
			tier_cost_queue_s(tier_amount(totals[t].occupied_s) / S_PER_HOUR, clients);
	return sum;
}

/* The one end of the range that is not 1. */
static double
closed(const TierPrediction *prediction)
{
	return prediction->speedup_low < 1.0 ? prediction->speedup_low : prediction->speedup_high;
}

/* How many times as fast one is than another; both may have no bound. */
static double
faster(double one, double other)
{
	if (one > DBL_MAX)
		return other > DBL_MAX ? 1.0 : INFINITY;
	return one / other;
}

void
tier_purchase_add(const TierPredictionClients *clients, const TierPlacementTotals *now,
				  const TierPlacementTotals *best, const TierPlacementTotals *then, int ntiers,
				  TierPurchaseGain *gain)
{
	TierPrediction best_prediction = TIER_PREDICTION_UNKNOWN;
	TierPrediction then_prediction = TIER_PREDICTION_UNKNOWN;
	double		active_s = tier_amount(clients->active_s);
	double		waited_s;		/* for the devices that there are */
	double		saved_s;
	double		speedup;

	widen(io_s(best, ntiers, clients->number) - io_s(then, ntiers, clients->number),
		  &gain->io_s_low, &gain->io_s_high);
	if (active_s <= 0.0)
		return;
	tier_prediction_add(clients, now, best, ntiers, &best_prediction);
	tier_prediction_add(clients, now, then, ntiers, &then_prediction);
	waited_s = tier_smaller(tier_amount(clients->device_s), active_s) -
		best_prediction.saved_s_low;
	active_s -= best_prediction.saved_s_low;
	saved_s = then_prediction.saved_s_low - best_prediction.saved_s_low;
	speedup = faster(closed(&then_prediction), closed(&best_prediction));
	widen(saved_s, &gain->wait_s_low, &gain->wait_s_high);
	widen(waited_s > 0.0 ? saved_s / waited_s : 0.0, &gain->less_low, &gain->less_high);
	widen(active_s > 0.0 ? saved_s / active_s : 0.0, &gain->noticed_low, &gain->noticed_high);
	widen(1.0, &gain->speedup_low, &gain->speedup_high);
	widen(speedup, &gain->speedup_low, &gain->speedup_high);
	if (isnan(gain->speedup))
		gain->speedup = speedup;
}

int
tier_purchase_bound(const double *seconds)
{
	int			bound = -1;
	double		most = 0.0;

	for (int i = 0; i < TIER_PURCHASE_BOUNDS; i++)
		if (tier_amount(seconds[i]) > most)
		{
			most = seconds[i];
			bound = i;
		}
	return bound;
}

double
tier_purchase_performance(double speedup, double price_now, double price_then)
{
	if (!(tier_amount(speedup) > 0.0) || !(tier_amount(price_now) > 0.0) ||
		!(tier_amount(price_then) > 0.0))
		return NAN;
	return speedup * (price_now / price_then);
}

TierPurchaseVerdict
tier_purchase_verdict(const TierPurchaseGain *gain, bool is_observed, bool fits,
					  double price_delta)
{
	if (!fits)
		return TIER_PURCHASE_TOO_SMALL;
	if (!is_observed)
		return TIER_PURCHASE_NOT_OBSERVED;
	if (isnan(gain->noticed_low) || isnan(gain->noticed_high))
		return TIER_PURCHASE_DEVICES_ONLY;
	if (gain->noticed_low > -TIER_PURCHASE_NOTICED && gain->noticed_high < TIER_PURCHASE_NOTICED)
		return price_delta < -LEAST_PRICE ? TIER_PURCHASE_ENOUGH : TIER_PURCHASE_NOTHING;
	if (gain->noticed_low > -TIER_PURCHASE_NOTICED)
		return TIER_PURCHASE_FASTER;
	return gain->noticed_high < TIER_PURCHASE_NOTICED ? TIER_PURCHASE_SLOWER :
		TIER_PURCHASE_EITHER;
}
