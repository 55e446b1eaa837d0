/*-------------------------------------------------------------------------
 *
 * model/growth.c
 *		The growth of stored data.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/model/growth.h"
#include "src/model/number.h"

#define S_PER_HOUR 3600.0

/* An event falls into at most so many intervals. */
#define EVENT_INTERVALS 2

/* A change per interval, and how far it is a rate. */
typedef struct Trend
{
	double		mean;
	double		weight;
} Trend;

/*
 * With `cancels`, bytes that come and go again cancel out: the intervals count by (sum x)^2 /
 * sum x^2; without, for two events, by (sum |x|)^2 / sum x^2.
 */
static Trend
trend_of(const double *change, int n, const bool *is_left_out, bool cancels)
{
	double		sum = 0.0;
	double		sizes = 0.0;
	double		squares = 0.0;
	int			counted = 0;
	Trend		trend = {0.0, 0.0};

	for (int i = 0; i < n; i++)
	{
		if (is_left_out != NULL && is_left_out[i])
			continue;
		counted++;
		sum += change[i];
		sizes += fabs(change[i]);
		squares += change[i] * change[i];
	}
	if (!(squares > 0.0))
		return trend;
	trend.mean = sum / counted;
	trend.weight = tier_evidence_weight((cancels ? sum * sum : sizes * sizes) / squares);
	return trend;
}

/*
 * Marks the intervals with the largest changes of all, into which an event may fall; with
 * `cancels` only those with additions: a relation that is emptied from time to time grows in
 * between, and not on the whole.
 */
static void
leave_event_out(const double *change, int n, bool cancels, bool *is_left_out)
{
	for (int i = 0; i < n; i++)
		is_left_out[i] = false;
	for (int k = 0; k < EVENT_INTERVALS; k++)
	{
		int			largest = -1;

		for (int i = 0; i < n; i++)
			if (!is_left_out[i] && !(cancels && change[i] <= 0.0) &&
				(largest < 0 || fabs(change[i]) > fabs(change[largest])))
				largest = i;
		if (largest >= 0)
			is_left_out[largest] = true;
	}
}

/* The trend of all intervals, or of those without an event: the more certain one. */
static Trend
find_trend(const TierEvidence *evidence, int64_t now, bool cancels)
{
	double		change[TIER_EVIDENCE_INTERVALS];
	bool		is_left_out[TIER_EVIDENCE_INTERVALS] = {false};
	double		covered_s;
	int			n = tier_evidence_growth(evidence, now, change, &covered_s);
	Trend		all = trend_of(change, n, NULL, cancels);
	Trend		rest;
	double		hours = tier_larger(covered_s, evidence->interval_s) / S_PER_HOUR;

	leave_event_out(change, n, cancels, is_left_out);
	rest = trend_of(change, n, is_left_out, cancels);
	if (cancels ? rest.weight > all.weight : all.weight == 0.0)
		all = rest;
	all.mean = n > 0 && hours > 0.0 ? all.mean * n / hours : 0.0;
	return all;
}

double
tier_growth_rate(const TierEvidence *evidence, int64_t now)
{
	Trend		trend = find_trend(evidence, now, true);

	return tier_amount(trend.mean * trend.weight);
}

double
tier_growth_beyond(const TierEvidence *evidence, int64_t now, double hours, double carried)
{
	Trend		trend = find_trend(evidence, now, false);

	return trend.weight * (trend.mean * tier_amount(hours) - tier_amount(carried));
}

double
tier_growth_hours_until(double bytes, double bytes_per_hour)
{
	if (!(bytes > 0.0))
		return 0.0;
	return bytes_per_hour > 0.0 ? bytes / bytes_per_hour : INFINITY;
}
