/*-------------------------------------------------------------------------
 *
 * model/calendar.c
 *		At which hours and on which days something happens, and in bursts or not.
 *
 * See model/calendar.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "src/model/calendar.h"

void
tier_calendar_add(TierCalendar *calendar, const TierLocalHour *hour, double amount)
{
	for (int cycle = 0; cycle < TIER_CYCLES; cycle++)
	{
		TierCalendarPosition *position = &calendar->positions[cycle][hour->position[cycle]];
		bool		counted = position->days > 0 && hour->day >= position->first_day &&
		hour->day <= position->last_day;

		position->amount += amount;
		if (counted)
			continue;
		if (position->days == 0 || hour->day < position->first_day)
			position->first_day = hour->day;
		if (position->days == 0 || hour->day > position->last_day)
			position->last_day = hour->day;
		position->days++;
	}
}

bool
tier_calendar_is_empty(const TierCalendar *calendar)
{
	for (int i = 0; i < TIER_CYCLE_POSITIONS; i++)
		if (calendar->positions[TIER_HOUR_OF_DAY][i].days > 0)
			return false;
	return true;
}

double
tier_calendar_total(const TierCalendar *observed, const TierCalendar *happened, TierCycle cycle)
{
	double		total = 0.0;

	for (int i = 0; i < TIER_CYCLE_POSITIONS; i++)
		if (observed->positions[cycle][i].days > 0)
			total += happened->positions[cycle][i].amount;
	return total;
}

int
tier_calendar_busiest(const TierCalendar *observed, const TierCalendar *happened, TierCycle cycle)
{
	int			busiest = -1;
	double		most = 0.0;

	for (int i = 0; i < TIER_CYCLE_POSITIONS; i++)
	{
		double		hours = observed->positions[cycle][i].amount;
		double		amount = happened->positions[cycle][i].amount;

		if (hours > 0.0 && amount / hours > most)
		{
			most = amount / hours;
			busiest = i;
		}
	}
	return busiest;
}

static int
compare_periods(const void *a, const void *b)
{
	const TierPeriodAmount *left = a;
	const TierPeriodAmount *right = b;

	return (left->period > right->period) - (left->period < right->period);
}

size_t
tier_periods_merge(TierPeriodAmount *periods, size_t n)
{
	size_t		merged = 0;
	size_t		i = 1;

	while (i < n && periods[i - 1].period < periods[i].period)
		i++;
	if (i >= n)
		return n;
	qsort(periods, n, sizeof(TierPeriodAmount), compare_periods);
	for (i = 1; i < n; i++)
	{
		if (periods[i].period == periods[merged].period)
			periods[merged].amount += periods[i].amount;
		else
			periods[++merged] = periods[i];
	}
	return merged + 1;
}

const TierPeriodAmount *
tier_periods_peak(const TierPeriodAmount *periods, size_t n)
{
	const TierPeriodAmount *peak = periods;

	for (size_t i = 1; i < n; i++)
		if (periods[i].amount > peak->amount)
			peak = &periods[i];
	return peak;
}

/* The largest first. */
static int
compare_amounts(const void *a, const void *b)
{
	const TierPeriodAmount *left = a;
	const TierPeriodAmount *right = b;

	return (left->amount < right->amount) - (left->amount > right->amount);
}

double
tier_periods_burst_share(TierPeriodAmount *days, size_t n, int observed_days)
{
	double		busiest = ceil(observed_days / 10.0);
	double		burst = 0.0;
	double		sum = 0.0;

	qsort(days, n, sizeof(TierPeriodAmount), compare_amounts);
	for (size_t i = 0; i < n; i++)
	{
		if ((double) i < busiest)
			burst += days[i].amount;
		sum += days[i].amount;
	}
	return observed_days > 0 && sum > 0.0 ? burst / sum : NAN;
}
