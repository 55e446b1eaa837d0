/*-------------------------------------------------------------------------
 *
 * model/move_window.h
 *		When moves may begin: while windows are open.
 *
 * Pure.  Times are microseconds on one axis (PostgreSQL's TimestampTz: since 2000-01-01 00:00
 * UTC).
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOVE_WINDOW_H
#define TIER_MOVE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One time that a window is open. */
typedef struct TierOpening
{
	int64_t		opens_us;
	int64_t		closes_us;		/* after opens_us */
	double		left_bytes;		/* that may still be moved in it */
	int			window;			/* for the caller; not looked at here */
} TierOpening;

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
