/*-------------------------------------------------------------------------
 *
 * server/time_zone.c
 *		Time zones as UTC offsets, for modules that do not use the server's time zone code.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgtime.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/server/time_zone.h"

#define EPOCH_DIFFERENCE_S \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

/* No zone has changed its clocks as often as that within days. */
#define MOST_PERIODS 16

/*
 * Where clocks are put forward, they skip times that a timestamp can have all the same: the
 * server interprets them as without the change.  So they come after some that are greater.
 */
static TimestampTz
mind_skipped(Timestamp local, TimestampTz instant, bool is_end)
{
	pg_time_t	time = (pg_time_t) (instant / USECS_PER_SEC + EPOCH_DIFFERENCE_S) -
	2 * SECS_PER_DAY;

	for (int i = 0; i < MOST_PERIODS; i++)
	{
		long		before_s;
		long		after_s;
		int			before_is_summer;
		int			after_is_summer;
		pg_time_t	boundary;
		TimestampTz begin;
		TimestampTz skipped_us;

		if (pg_next_dst_boundary(&time, &before_s, &before_is_summer, &boundary, &after_s,
								 &after_is_summer, session_timezone) <= 0)
			break;
		time = boundary;
		begin = (boundary - EPOCH_DIFFERENCE_S) * USECS_PER_SEC;
		skipped_us = (after_s - before_s) * USECS_PER_SEC;
		if (begin > instant)
			break;
		if (skipped_us <= 0)
			continue;
		if (local < begin + after_s * USECS_PER_SEC)
			instant = is_end ? instant : begin;
		else if (is_end)
			instant = Max(instant, begin + skipped_us - 1);
	}
	return instant;
}

bool
tier_time_zone_bound(Timestamp local, bool is_end, TimestampTz *instant)
{
	struct pg_tm tm;
	fsec_t		fraction;

	if (timestamp2tm(local, NULL, &tm, &fraction, NULL, NULL) != 0)
		return false;

	/*
	 * By itself, the server raises an error for what leaves the calendar by
	 * that.
	 */
	*instant = local + DetermineTimeZoneOffset(&tm, session_timezone) * USECS_PER_SEC;
	*instant = mind_skipped(local, *instant, is_end);
	return true;
}

char *
tier_time_zone_text(const char *name, TimestampTz moment)
{
	pg_tz	   *tz = pg_tzset(name);
	pg_time_t	time = (pg_time_t) (moment / USECS_PER_SEC + EPOCH_DIFFERENCE_S);
	struct pg_tm *tm = pg_localtime(&time, tz != NULL ? tz : pg_tzset("GMT"));
	char		written[64];

	if (tm == NULL || pg_strftime(written, sizeof(written), "%Y-%m-%d %H:%M %Z", tm) == 0)
		return pstrdup("?");
	return pstrdup(written);
}
