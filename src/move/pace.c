/*-------------------------------------------------------------------------
 *
 * move/pace.c
 *		The rate of a copy that limits the slowdown of users.
 *
 * Each mover works alone: its observations are in this process, and end with it.  All movers
 * of a machine use one clock, so they rest at the same time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/model/copy_rate.h"
#include "src/move/pace.h"
#include "src/move/progress.h"
#include "src/server/waits.h"

#define BYTES_PER_MB 1048576.0

/*
 * It never stops, whatever users bear: a copy takes room until it is done.  Less than a
 * hard disk does in a hundredth of its time.
 */
#define FLOOR_MB 1.0

#define CYCLE_US ((int64) (TIER_COPY_CYCLE_S * USECS_PER_SEC))
#define REST_US ((int64) (TIER_COPY_REST_S * USECS_PER_SEC))
#define SETTLE_US ((int64) (TIER_COPY_SETTLE_S * USECS_PER_SEC))

/* As for other limits of the rate: so much of the past may be made up for. */
#define SLACK_US 100000

/* Observations older than this are discarded, because the load changes. */
#define FORGET_US (60 * USECS_PER_SEC)

/* Of this process; they mean nothing while looked_at is 0, and all times are monotonic. */
static TierCopyRate rate;
static TierUserTime copying;	/* of this cycle */
static TierUserTime resting;
static int64 looked_at = 0;		/* the last look */
static uint64 done_then;		/* bytes copied by then */
static bool is_alone;			/* no users in the last cycle: it need not
								 * rest */
static bool was_limiting;		/* in this cycle */
static int64 free_at;			/* time at which the copied bytes are paid for
								 * at that rate */

static void
begin(int64 now)
{
	tier_copy_rate_init(&rate, FLOOR_MB * BYTES_PER_MB, INFINITY);
	memset(&copying, 0, sizeof(copying));
	memset(&resting, 0, sizeof(resting));
	looked_at = now;
	is_alone = false;
	was_limiting = false;
	free_at = now;
}

static void
show(void)
{
	tier_progress_set(TIER_PROGRESS_PACE, (int64) rate.rate);
	tier_progress_set(TIER_PROGRESS_SLOWDOWN, isnan(rate.slowdown) ? -1 :
					  (int64) (Max(rate.slowdown, 0.0) * 1000.0 + 0.5));
}

static void
end_cycle(void)
{
	/*
	 * A cycle in which the mover mostly waited for other processes is not
	 * evaluated.
	 */
	if (copying.looked >= (TIER_COPY_CYCLE_S - TIER_COPY_REST_S) / 2.0)
	{
		tier_copy_rate_observe(&rate, &copying, &resting, tier_move_max_slowdown, was_limiting);
		is_alone = tier_copy_is_alone(&copying, &resting);
	}
	memset(&copying, 0, sizeof(copying));
	memset(&resting, 0, sizeof(resting));
	was_limiting = false;
}

/*
 * Seconds for which the present observation is assumed to have held: since the last look, as
 * far as that is of the same part of the cycle.  The interval may include a sync of the copy:
 * a look at its end sees which users have waited for it, but it is no time of rest.
 */
static double
looked_for(int64 now, TierUserTime **time)
{
	int64		position = now % CYCLE_US;
	int64		began = now - position;
	int64		since;

	*time = position < REST_US && !is_alone ? &resting : &copying;
	if (*time == &resting)
		return looked_at >= began + SETTLE_US ? (now - looked_at) / 1e6 : 0.0;
	since = Max(looked_at, is_alone ? began : began + REST_US);
	return (now - since) / 1e6;
}

void
tier_pace_look(void)
{
	int64		now;
	int			working;
	int			waiting;
	uint64		done;
	double		seconds;
	TierUserTime *time;

	if (tier_move_max_slowdown <= 0.0)
	{
		if (looked_at != 0)
			tier_progress_set(TIER_PROGRESS_PACE, 0);
		looked_at = 0;
		return;
	}
	now = tier_clock_monotonic_us();
	if (looked_at == 0 || now > looked_at + FORGET_US)
		begin(now);
	if (now / CYCLE_US != looked_at / CYCLE_US)
		end_cycle();
	tier_waits_look(&working, &waiting, &done);
	seconds = looked_for(now, &time);
	time->looked += seconds;
	time->busy += (working + waiting) * seconds;
	time->waiting += waiting * seconds;
	if (now > looked_at && done > done_then)
		time->done += (double) (done - done_then) * seconds / ((now - looked_at) / 1e6);
	done_then = done;
	looked_at = now;
	show();
}

int64
tier_pace_charge(int64 bytes, int64 until, double limit_mb)
{
	int64		now;
	int64		position;

	if (tier_move_max_slowdown <= 0.0 || looked_at == 0)
		return 0;
	now = tier_clock_monotonic_us();
	position = now % CYCLE_US;
	tier_copy_rate_limit(&rate, Min(FLOOR_MB, limit_mb) * BYTES_PER_MB, limit_mb * BYTES_PER_MB);
	show();
	free_at = Max(free_at, now - SLACK_US) + (int64) (bytes / rate.rate * USECS_PER_SEC);
	if (free_at > now && free_at >= until)
		was_limiting = true;
	if (position < REST_US && !is_alone)
		return Max(free_at, now - position + REST_US);
	return free_at;
}
