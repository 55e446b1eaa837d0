/*-------------------------------------------------------------------------
 *
 * model/heat.c
 *		Rates that forget: exponential smoothing of counters' growth.
 *
 * The smoothed rate is the weighted mean of all events per hour so far, where
 * an event that is one half-life old weighs half as much as one of now.  With
 *
 *		x = ln 2 * elapsed / half-life		[no unit]
 *
 * the past keeps the weight exp(-x), and an interval with a constant rate r adds r * (1 -
 * exp(-x)). Both are exact for any length of the interval, so the frequency of samples does not
 * matter: many short intervals give the same rate as the one long interval that they make up.
 *
 * This file uses neither a clock nor the meaning of the counts.  No input, however large, small
 * or damaged, makes a result negative, infinite or NaN: the rate is stored, and such a value
 * would never decay.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "src/model/heat.h"

#define SECONDS_PER_HOUR 3600.0
/* Per hour: a rate of less than one event in a century counts as 0. */
#define LEAST_RATE (1.0 / (24.0 * 365.25 * 100.0))

#define LN_2 0.693147180559945309417232121458

/* A value that is positive and finite, or else 0; NaN is neither. */
static double
positive_or_zero(double value)
{
	return (value > 0.0 && value <= DBL_MAX) ? value : 0.0;
}

static double
at_most_finite(double rate)
{
	return rate < DBL_MAX ? rate : DBL_MAX;
}

/*
 * x as above: 0 for no time, INFINITY where nothing of the past is left.
 * Without a half-life there is no memory.
 */
static double
decay_exponent(double elapsed_s, double half_life_s)
{
	double		x;

	if (!(elapsed_s > 0.0))
		return 0.0;
	if (!(half_life_s > 0.0))
		return INFINITY;
	x = LN_2 * (elapsed_s / half_life_s);
	return isnan(x) ? 0.0 : x;
}

int64_t
tier_heat_counter_delta(int64_t before, int64_t now, bool reset)
{
	if (now <= 0)
		return 0;
	if (reset || now < before || before < 0)
		return now;
	return now - before;
}

double
tier_heat_advance(double rate, double events, double elapsed_s,
				  double half_life_s)
{
	double		x;
	double		added;

	rate = positive_or_zero(rate);
	events = positive_or_zero(events);
	if (!(elapsed_s > 0.0))
		return rate;

	x = decay_exponent(elapsed_s, half_life_s);

	/*
	 * added = 3600 * events * (1 - exp(-x)) / elapsed	[events per hour]
	 *
	 * In a short interval both 1 - exp(-x) and elapsed are tiny.  Below the
	 * smallest x that the division can bear, the quotient is replaced by its
	 * limit, ln 2 / half-life.
	 */
	if (events <= 0.0)
		added = 0.0;
	else if (x >= DBL_MIN)
		added = events * (SECONDS_PER_HOUR * (-expm1(-x) / elapsed_s));
	else
		added = events * (SECONDS_PER_HOUR * (LN_2 / half_life_s));

	return at_most_finite(rate * exp(-x) + added);
}

double
tier_heat_read(double rate, double idle_s, double observed_s,
			   double half_life_s)
{
	double		decayed;
	double		weight;

	decayed = positive_or_zero(rate) *
		exp(-decay_exponent(idle_s, half_life_s));

	/*
	 * Smoothing starts from a rate of 0 that was not observed.  All
	 * observations, the idle time included, weigh 1 - exp(-x) together;
	 * dividing by it makes a relation that is new here comparable with an old
	 * one.
	 */
	if (decayed < LEAST_RATE)
		return 0.0;
	if (observed_s < idle_s)
		observed_s = idle_s;
	weight = -expm1(-decay_exponent(observed_s, half_life_s));
	if (!(weight > 0.0))
		return decayed;

	return at_most_finite(decayed / weight);
}
