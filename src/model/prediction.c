/*-------------------------------------------------------------------------
 *
 * model/prediction.c
 *		The gain of clients by another placement, at least and at most.
 *
 * Another placement changes only the time that clients wait for devices: not the time that they
 * compute, nor the time that they wait for WAL, locks or each other.  The division of their time
 * is measured; the model predicts the factor by which one part of it changes.  So errors that the
 * model makes in both placements cancel out, and no gain is larger than the part that it comes
 * from.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "src/model/cost.h"
#include "src/model/number.h"
#include "src/model/prediction.h"

#define S_PER_HOUR 3600.0

/* A factor that is halved so often is exact. */
#define HALVINGS 60

/* A speed-up beyond it is no prediction. */
#define MOST_SPEEDUP 1e6

/* The rest of what the clients do, and the model's waits: what a speed-up depends on. */
typedef struct Work
{
	const TierPredictionClients *clients;
	const TierPlacementTotals *then;
	int			ntiers;
	double		device_s;
	double		other_s;
	double		now_s;			/* the model's waits in the placement now */
} Work;

/* The model's waits for the work of an hour, if the devices get it so many times as fast. */
static double
waits(const TierPlacementTotals *totals, int ntiers, double clients, double speedup)
{
	double		sum = 0.0;

	for (int t = 0; t < ntiers; t++)
	{
		double		utilisation = speedup * tier_amount(totals[t].occupied_s) / S_PER_HOUR;

		sum += tier_amount(totals[t].wait_s) +
			tier_cost_queue_s(utilisation, clients) / speedup;
	}
	return sum;
}

/* The time that clients wait for devices then, for the work of an hour. */
static double
device_then(const Work *work, double speedup)
{
	double		then_s = waits(work->then, work->ntiers, work->clients->number, speedup);

	if (then_s <= work->now_s)
		return work->now_s > 0.0 ? work->device_s * (then_s / work->now_s) : work->device_s;
	return work->device_s +
		tier_larger(then_s - work->now_s,
					work->now_s > 0.0 ? work->device_s * (then_s / work->now_s - 1.0) : 0.0);
}

/*
 * If each client goes on as soon as it has its answer, the clients' hours are used up:
 *
 *		s * (other + device(s)) = active
 *
 * the left side of which grows with s.  Their computation also takes a processor.
 */
static double
closed_speedup(const Work *work)
{
	double		active_s = work->other_s + work->device_s;
	double		low = 0.0;
	double		high = 1.0;
	double		processors_s = tier_amount(work->clients->processors) * S_PER_HOUR;
	double		computed_s = tier_amount(work->clients->processor_s);

	while (high < MOST_SPEEDUP && high * (work->other_s + device_then(work, high)) < active_s)
		high *= 2.0;
	if (high >= MOST_SPEEDUP)
		low = high = INFINITY;
	for (int i = 0; i < HALVINGS && high <= DBL_MAX; i++)
	{
		double		middle = (low + high) / 2.0;

		if (middle * (work->other_s + device_then(work, middle)) < active_s)
			low = middle;
		else
			high = middle;
	}

	/*
	 * If all processors are in use already, clients are not slowed down
	 * further.
	 */
	if (high > 1.0 && processors_s > 0.0 && computed_s > 0.0)
		return tier_larger(1.0, tier_smaller(high, processors_s / computed_s));
	return high;
}

static void
widen(double value, double *low, double *high)
{
	if (!(*low <= value))
		*low = value;
	if (!(*high >= value))
		*high = value;
}

void
tier_prediction_add(const TierPredictionClients *clients, const TierPlacementTotals *now,
					const TierPlacementTotals *then, int ntiers, TierPrediction *prediction)
{
	double		active_s = tier_amount(clients->active_s);
	Work		work;

	if (active_s <= 0.0)
		return;
	work.clients = clients;
	work.then = then;
	work.ntiers = ntiers;
	work.device_s = tier_smaller(tier_amount(clients->device_s), active_s);
	work.other_s = active_s - work.device_s;
	work.now_s = waits(now, ntiers, clients->number, 1.0);
	widen(work.device_s - device_then(&work, 1.0), &prediction->saved_s_low,
		  &prediction->saved_s_high);
	widen(1.0, &prediction->speedup_low, &prediction->speedup_high);
	widen(closed_speedup(&work), &prediction->speedup_low, &prediction->speedup_high);
}
