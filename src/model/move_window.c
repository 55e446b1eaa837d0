/*-------------------------------------------------------------------------
 *
 * model/move_window.c
 *		When moves may begin: hours of the day, in a time zone, on some days.
 *
 * See model/move_window.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "src/model/move_window.h"

/* The first day of the axis is a Saturday; Monday is 0. */
#define FIRST_WEEKDAY 5

static int64_t
day_of(int64_t local_us)
{
	int64_t		day = local_us / TIER_US_PER_DAY;

	return local_us % TIER_US_PER_DAY < 0 ? day - 1 : day;
}

static int
weekday_of(int64_t day)
{
	int			weekday = (int) ((day + FIRST_WEEKDAY) % 7);

	return weekday < 0 ? weekday + 7 : weekday;
}

int64_t
tier_zone_moment(const TierZone *zone, int64_t local_us)
{
	for (int i = 0; i < zone->nperiods; i++)
	{
		int64_t		moment = local_us - zone->periods[i].offset_us;

		if (i > 0 && moment < zone->periods[i].from_us)
			moment = zone->periods[i].from_us;
		if (i == zone->nperiods - 1 || moment < zone->periods[i + 1].from_us)
			return moment;
	}
	return local_us;			/* not reached */
}

int64_t
tier_zone_local(const TierZone *zone, int64_t moment_us)
{
	int			i = 0;

	while (i + 1 < zone->nperiods && moment_us >= zone->periods[i + 1].from_us)
		i++;
	return moment_us + zone->periods[i].offset_us;
}

int
tier_window_openings(const TierWindow *window, const TierZone *zone, int64_t from_us,
					 int64_t until_us, TierOpening *openings, int most)
{
	int64_t		first = day_of(tier_zone_local(zone, from_us)) - 2;
	int64_t		last = day_of(tier_zone_local(zone, until_us)) + 1;
	int			n = 0;

	for (int64_t day = first; day <= last && n < most; day++)
	{
		int64_t		end_day = window->ends_us > window->starts_us ? day : day + 1;
		int64_t		opens;
		int64_t		closes;

		if ((window->days & (1 << weekday_of(day))) == 0)
			continue;
		opens = tier_zone_moment(zone, day * TIER_US_PER_DAY + window->starts_us);
		closes = tier_zone_moment(zone, end_day * TIER_US_PER_DAY + window->ends_us);
		if (opens >= closes || closes <= from_us || opens >= until_us)
			continue;
		openings[n].opens_us = opens;
		openings[n].closes_us = closes;
		openings[n].left_bytes = window->max_bytes;
		openings[n++].window = 0;
	}
	return n;
}

static int
compare_openings(const void *a, const void *b)
{
	const TierOpening *left = a;
	const TierOpening *right = b;

	if (left->opens_us != right->opens_us)
		return left->opens_us < right->opens_us ? -1 : 1;
	if (left->closes_us != right->closes_us)
		return left->closes_us < right->closes_us ? -1 : 1;
	return left->window - right->window;
}

void
tier_openings_sort(TierOpening *openings, int n)
{
	qsort(openings, (size_t) n, sizeof(TierOpening), compare_openings);
}

/* Why not now, of a move that cannot begin now. */
static TierWindowVerdict
verdict_now(const TierOpening *openings, int n, int64_t now_us, double bytes)
{
	TierWindowVerdict verdict = TIER_WINDOW_CLOSED;

	for (int i = 0; i < n; i++)
	{
		if (openings[i].opens_us > now_us || openings[i].closes_us <= now_us)
			continue;
		if (bytes <= openings[i].left_bytes)
			return TIER_WINDOW_TOO_SHORT;
		verdict = TIER_WINDOW_USED_UP;
	}
	return verdict;
}

TierWindowAnswer
tier_openings_ask(const TierOpening *openings, int n, int64_t now_us, double bytes, double seconds)
{
	TierWindowAnswer answer = {TIER_WINDOW_OPEN, -1, 0, true};
	double		needed_us = isnan(seconds) ? 0.0 : seconds * 1e6;
	int64_t		closes = INT64_MIN;

	for (int i = 0; i < n; i++)
	{
		if (openings[i].closes_us <= now_us || bytes > openings[i].left_bytes)
			continue;
		answer.is_too_large = false;
		if (answer.opening < 0 || openings[i].opens_us > closes)
		{
			/* A new time begins here. */
			answer.opening = i;
			answer.at_us = openings[i].opens_us > now_us ? openings[i].opens_us : now_us;
			closes = openings[i].closes_us;
		}
		else if (openings[i].closes_us > closes)
			closes = openings[i].closes_us;
		if ((double) (closes - answer.at_us) >= needed_us)
		{
			if (answer.at_us > now_us)
				answer.verdict = verdict_now(openings, n, now_us, bytes);
			return answer;
		}
	}
	answer.opening = -1;
	answer.verdict = verdict_now(openings, n, now_us, bytes);
	return answer;
}
