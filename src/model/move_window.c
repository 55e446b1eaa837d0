/*-------------------------------------------------------------------------
 *
 * model/move_window.c
 *		When moves may begin: while windows are open.
 *
 * See model/move_window.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/move_window.h"

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
