/*-------------------------------------------------------------------------
 *
 * model/copy_rate.c
 *		How fast a copy may be for the users of its server to be slowed down by no
 *		more than a given share.
 *
 * See model/copy_rate.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/copy_rate.h"

/*
 * Decreased by how far users are beyond the share, and at most by half.  With a fixed factor, as
 * in TCP, the noise of the estimate would cost as much as a real excess.  DCTCP does the same for
 * the same reason (RFC 8257).  Increased by such a part of the rate that was too high.
 */
#define LARGEST_DECREASE 0.5
#define INCREASE_PART 0.1

/*
 * The counts while resting lose so much weight with each cycle: about ten cycles, twenty seconds,
 * count.  So a load that changes is compared with the recent load.
 */
#define FADE 0.9

/*
 * A decision wants enough counts for an estimate good to a tenth, or so many cycles: counts vary
 * like events, so that a hundred are good to 1 / sqrt(100).  With less than a few there is no
 * estimate.
 */
#define ENOUGH_DONE 100.0
#define LEAST_DONE 5.0
#define MOST_CYCLES 4

/* With so few processes waiting at a time, no process is kept waiting. */
#define ALONE 0.02

/* Alone, it is as fast as it may be after a few cycles. */
#define ALONE_FACTOR 4.0

static void
add(TierUserTime *sum, const TierUserTime *time, double fade)
{
	sum->looked = sum->looked * fade + time->looked;
	sum->busy = sum->busy * fade + time->busy;
	sum->waiting = sum->waiting * fade + time->waiting;
	sum->done = sum->done * fade + time->done;
}

void
tier_copy_rate_init(TierCopyRate *rate, double floor, double ceiling)
{
	TierCopyRate new_rate = {0};

	*rate = new_rate;
	rate->rate = floor;
	rate->slowdown = NAN;
	tier_copy_rate_limit(rate, floor, ceiling);
}

void
tier_copy_rate_limit(TierCopyRate *rate, double floor, double ceiling)
{
	rate->floor = floor;
	rate->ceiling = fmax(ceiling, floor);
	rate->rate = fmin(fmax(rate->rate, rate->floor), rate->ceiling);
}

bool
tier_copy_is_alone(const TierUserTime *copying, const TierUserTime *resting)
{
	return copying->waiting + resting->waiting <= ALONE * (copying->looked + resting->looked);
}

double
tier_copy_slowdown(const TierUserTime *copying, const TierUserTime *resting)
{
	if (copying->done < LEAST_DONE || resting->done < LEAST_DONE || resting->busy <= 0.0)
		return NAN;
	return copying->busy / copying->done / (resting->busy / resting->done) - 1.0;
}

static void
increase(TierCopyRate *rate)
{
	double		more = rate->step > 0.0 ? rate->rate + rate->step : rate->rate * 2.0;

	rate->rate = fmin(more, rate->ceiling);
}

static void
decrease(TierCopyRate *rate, double max_slowdown)
{
	double		part = (rate->slowdown - max_slowdown) / (rate->slowdown + max_slowdown);

	rate->step = rate->rate * INCREASE_PART;
	rate->rate = fmax(rate->rate * (1.0 - fmin(part, LARGEST_DECREASE)), rate->floor);
}

void
tier_copy_rate_observe(TierCopyRate *rate, const TierUserTime *copying,
					   const TierUserTime *resting, double max_slowdown, bool was_limiting)
{
	TierUserTime nothing = {0};

	add(&rate->resting, resting, FADE);
	add(&rate->copying, copying, 1.0);
	rate->cycles++;

	/* From this cycle alone: users that come or go are noticed at once. */
	if (tier_copy_is_alone(copying, resting))
	{
		rate->step = 0.0;
		rate->slowdown = 0.0;
		if (was_limiting)
			rate->rate = fmin(rate->rate * ALONE_FACTOR, rate->ceiling);
	}
	else
	{
		if (rate->cycles < MOST_CYCLES &&
			fmin(rate->copying.done, rate->resting.done) < ENOUGH_DONE)
			return;
		rate->slowdown = tier_copy_slowdown(&rate->copying, &rate->resting);
		if (rate->slowdown > max_slowdown)
			decrease(rate, max_slowdown);
		else if (was_limiting && !isnan(rate->slowdown))
			increase(rate);
	}
	rate->copying = nothing;
	rate->cycles = 0;
}
