/*-------------------------------------------------------------------------
 *
 * model/move_window.h
 *		When moves may begin: hours of the day, in a time zone, on some days.
 *
 * Pure.  Times are microseconds on one axis (PostgreSQL's TimestampTz: since 2000-01-01 00:00
 * UTC). The caller knows the time zone, and passes the differences of its clocks from that axis,
 * and the moments from which on they hold.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOVE_WINDOW_H
#define TIER_MOVE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIER_US_PER_DAY INT64_C(86400000000)

/* From that moment on local time is so many microseconds ahead of UTC. */
typedef struct TierZonePeriod
{
	int64_t		from_us;		/* of the first period: means nothing, it has
								 * no beginning */
	int64_t		offset_us;		/* positive: east */
} TierZonePeriod;

typedef struct TierZone
{
	const TierZonePeriod *periods;	/* in the order of time */
	int			nperiods;		/* at least 1 */
} TierZone;

/* Its days are those on which it starts; the first bit is Monday's. */
typedef struct TierWindow
{
	int			days;
	int64_t		starts_us;		/* since midnight; 0 to a day, exclusive */
	int64_t		ends_us;		/* 0 to a day, inclusive; not after starts_us:
								 * on the next day */
	double		max_bytes;		/* of an opening; INFINITY: no limit */
} TierWindow;

/* One time that a window is open. */
typedef struct TierOpening
{
	int64_t		opens_us;
	int64_t		closes_us;		/* after opens_us */
	double		left_bytes;		/* that may still be moved in it */
	int			window;			/* for the caller; not looked at here */
} TierOpening;

/*
 * The first moment at which clocks show that local time or a later one.  So a time
 * that does not exist, as clocks are set forward, is the moment at which they are; one
 * that exists twice is the first of them.
 */
extern int64_t tier_zone_moment(const TierZone *zone, int64_t local_us);

/* The time that clocks show then. */
extern int64_t tier_zone_local(const TierZone *zone, int64_t moment_us);

/*
 * Appends, in the order of time, at most `most` openings that end after from_us and
 * begin before until_us, and returns how many these are.  An opening that is over
 * before its delay is, or that has no time on a day on which clocks are set forward,
 * does not happen.
 */
extern int	tier_window_openings(const TierWindow *window, const TierZone *zone,
								 int64_t from_us, int64_t until_us,
								 TierOpening *openings, int most);

/* Sorts openings, of several windows, by their beginning. */
extern void tier_openings_sort(TierOpening *openings, int n);

typedef enum TierWindowVerdict
{
	TIER_WINDOW_OPEN,			/* it may begin now */
	TIER_WINDOW_CLOSED,			/* no window is open */
	TIER_WINDOW_USED_UP,		/* those that are open have no bytes left for
								 * it */
	TIER_WINDOW_TOO_SHORT,		/* it would not end before they close */
} TierWindowVerdict;

typedef struct TierWindowAnswer
{
	TierWindowVerdict verdict;	/* now */
	int			opening;		/* in which it begins, now or later; -1: in
								 * none of these */
	int64_t		at_us;			/* when; means nothing without an opening */
	bool		is_too_large;	/* without an opening: for the bytes of each;
								 * else no time is long enough */
} TierWindowAnswer;

/*
 * When a move of so many bytes may begin, which takes so many seconds (NaN: not known, then any
 * time is long enough).  Openings that follow each other without a gap are one time.  The
 * openings are sorted.
 */
extern TierWindowAnswer tier_openings_ask(const TierOpening *openings, int n, int64_t now_us,
										  double bytes, double seconds);

#endif							/* TIER_MOVE_WINDOW_H */
