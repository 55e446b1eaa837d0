/*-------------------------------------------------------------------------
 *
 * move/throttle.c
 *		Rate limits, places and the pause of the movers of this server.
 *
 * Runs in movers and in sessions that pause or resume.  With preload the state
 * is in shared memory (TierMoverControl, guarded by tier_shmem->lock).
 *
 * One time implements the rate limit: when all bytes so far would have been copied at exactly
 * the limit.  Each mover advances it, and waits for it.  A change of the limit applies from
 * the next bytes on.
 *
 * The pause is a file, so that it survives a restart and works without preload, as an
 * administrator expects after stopping all moves in an emergency.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lock.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/move/pace.h"
#include "src/move/throttle.h"
#include "src/server/processes.h"

/* In the data directory, which is the working directory of all processes. */
#define PAUSE_FILE "tiered_storage.paused"

/* So much of the past may be made up for. */
#define THROTTLE_SLACK_US 100000

/*
 * All of this is of the process alone.
 *
 * As TierMoverControl.free_at, put off by tier_throttle_charge(): for a mover
 * without preload; and for the rate of workers, which each has for itself.
 */
static int64 local_free_at = 0;
static int64 worker_free_at = 0;

/* Our index in TierMoverControl.pids; -1: we have no place. */
static int	my_place = -1;

/*
 * The place was given back by tier_throttle_yield(), and tier_throttle_resume() is to
 * take one again; unset when it has, and by tier_throttle_leave().
 */
static bool my_place_is_lent = false;

/*
 * The role of the current move; set by tier_throttle_enter().  Meaningless unless this process
 * has a place or has lent it.
 */
static Oid	my_role = InvalidOid;
static bool my_role_is_administrator = false;

/*
 * Set by tier_throttle_leave_on_pause(), and why the process has to leave since then, NULL if it
 * does not; both for the life of the process.
 */
static bool leaves_on_pause = false;
static const char *leaves_because = NULL;

/* Advances the time by that of the bytes at the rate; returns until when to wait. */
static int64
put_off(int64 *free_at, int64 bytes, double limit_mb)
{
	int64		now = tier_clock_monotonic_us();

	/*
	 * Rate that was unused for long is lost.  Recently unused rate is kept,
	 * because copying takes time and waits end late.
	 */
	*free_at = Max(*free_at, now - THROTTLE_SLACK_US);
	*free_at += (int64) (bytes / Max(limit_mb * 1048576.0, 1.0) * USECS_PER_SEC);
	return *free_at;
}

/* The maximum rate of this process, by the settings; INFINITY: no limit. */
static double
limit_mb(void)
{
	double		limit = tier_move_rate_limit_mb > 0 ? tier_move_rate_limit_mb : INFINITY;

	if (tier_worker_rate_limit_mb > 0 && MyBackendType == B_BG_WORKER)
		limit = Min(limit, tier_worker_rate_limit_mb);
	return limit;
}

int64
tier_throttle_charge(int64 bytes)
{
	int64		until = 0;
	int64		own_until;

	if (tier_move_rate_limit_mb > 0 && tier_shmem != NULL)
	{
		LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
		until = put_off(&tier_shmem->movers.free_at, bytes, tier_move_rate_limit_mb);
		LWLockRelease(tier_shmem->lock);
	}
	else if (tier_move_rate_limit_mb > 0)
		until = put_off(&local_free_at, bytes, tier_move_rate_limit_mb);

	/*
	 * No session waits for the result of a background worker, ours or that of
	 * pg_cron.
	 */
	if (tier_worker_rate_limit_mb > 0 && MyBackendType == B_BG_WORKER)
	{
		own_until = put_off(&worker_free_at, bytes, tier_worker_rate_limit_mb);
		until = Max(until, own_until);
	}

	/*
	 * Max() evaluates what it returns twice, and each of these calls counts
	 * the bytes.
	 */
	own_until = tier_pace_charge(bytes, until, limit_mb());
	return Max(until, own_until);
}

static void
leave_at_exit(int code, Datum argument)
{
	tier_throttle_leave();
}

/* The reason why this role may not take a place now, if any.  The lock is held. */
static TierThrottleWait
ask(Oid role_oid, bool is_administrator, int places)
{
	int			others = 0;
	bool		is_full = true;

	for (int i = 0; i < places && is_full; i++)
		is_full = tier_shmem->movers.pids[i] != 0;
	for (int i = 0; i < TIER_MAX_MOVERS && !is_administrator; i++)
	{
		if (tier_shmem->movers.pids[i] == 0 || !OidIsValid(tier_shmem->movers.limited_roles[i]))
			continue;
		if (tier_shmem->movers.limited_roles[i] == role_oid)
			return TIER_THROTTLE_HAS_ONE;
		others++;
	}
	return is_full ? TIER_THROTTLE_FULL :
		is_administrator || others < Max(places - 1, 1) ? TIER_THROTTLE_FREE :
		TIER_THROTTLE_KEPT_FREE;
}

TierThrottleWait
tier_throttle_ask(Oid role_oid, bool is_administrator)
{
	TierThrottleWait wait;

	if (tier_shmem == NULL)
		return TIER_THROTTLE_FREE;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	wait = ask(role_oid, is_administrator, Min(tier_max_movers, TIER_MAX_MOVERS));
	LWLockRelease(tier_shmem->lock);
	return wait;
}

bool
tier_throttle_enter(Oid role_oid, bool is_administrator)
{
	static bool registered = false;
	int			places = Min(tier_max_movers, TIER_MAX_MOVERS);

	if (tier_shmem == NULL)
		return true;

	/* One that is left from another move would count for the role of that. */
	if (my_place >= 0)
		tier_throttle_leave();
	my_role = role_oid;
	my_role_is_administrator = is_administrator;
	if (!registered)
	{
		before_shmem_exit(leave_at_exit, (Datum) 0);
		registered = true;
	}
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	if (ask(role_oid, is_administrator, places) == TIER_THROTTLE_FREE)
	{
		for (my_place = 0; tier_shmem->movers.pids[my_place] != 0; my_place++)
			;
		tier_shmem->movers.pids[my_place] = MyProcPid;
		tier_shmem->movers.limited_roles[my_place] = is_administrator ? InvalidOid : role_oid;
	}
	LWLockRelease(tier_shmem->lock);
	if (my_place >= 0)
		my_place_is_lent = false;
	return my_place >= 0;
}

void
tier_throttle_leave(void)
{
	my_place_is_lent = false;
	if (my_place < 0)
		return;
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	tier_shmem->movers.pids[my_place] = 0;
	my_place = -1;
	LWLockRelease(tier_shmem->lock);
}

void
tier_throttle_yield(void)
{
	if (my_place < 0)
		return;
	tier_throttle_leave();
	my_place_is_lent = true;
}

bool
tier_throttle_resume(void)
{
	return !my_place_is_lent || tier_throttle_enter(my_role, my_role_is_administrator);
}

int
tier_throttle_others(void)
{
	int			n = 0;

	if (tier_shmem == NULL)
		return 0;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	for (int i = 0; i < TIER_MAX_MOVERS; i++)
		n += tier_shmem->movers.pids[i] != 0 && tier_shmem->movers.pids[i] != MyProcPid;
	LWLockRelease(tier_shmem->lock);
	return n;
}

bool
tier_throttle_is_paused(void)
{
	return access(PAUSE_FILE, F_OK) == 0;
}

TimestampTz
tier_throttle_paused_at(void)
{
	struct stat status;

	/*
	 * The next second, because a request made in this second may be later
	 * than the pause.
	 */
	return stat(PAUSE_FILE, &status) != 0 ? 0 : time_t_to_timestamptz(status.st_mtime + 1);
}

void
tier_throttle_forget_pause(void)
{
	(void) durable_unlink(PAUSE_FILE, LOG);
}

void
tier_throttle_leave_on_pause(void)
{
	leaves_on_pause = true;
}

const char *
tier_throttle_leaves_because(void)
{
	if (leaves_on_pause && leaves_because == NULL && tier_throttle_is_paused())
		leaves_because = "moves were paused";
	return leaves_because;
}

void
tier_throttle_check_pause(void)
{
	if (leaves_on_pause && leaves_because == NULL && tier_processes_database_is_wanted())
		leaves_because = "another session waited for the database";
	if (tier_throttle_leaves_because() != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg_internal("%s", leaves_because)));
}

bool
tier_throttle_set_paused(bool paused)
{
	int			fd;

	/* See tier_throttle_paused_at(). */
	if (tier_throttle_is_paused() == paused && (!paused || utime(PAUSE_FILE, NULL) == 0))
		return false;
	if (!paused)
	{
		if (durable_unlink(PAUSE_FILE, LOG) != 0 && errno != ENOENT)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not remove file \"%s\": %m", PAUSE_FILE)));
		return true;
	}
	fd = OpenTransientFile(PAUSE_FILE, O_CREAT | O_WRONLY | PG_BINARY);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s\": %m", PAUSE_FILE)));
	if (pg_fsync(fd) != 0)
		ereport(data_sync_elevel(ERROR),
				(errcode_for_file_access(),
				 errmsg("could not fsync file \"%s\": %m", PAUSE_FILE)));
	CloseTransientFile(fd);
	fsync_fname(".", true);
	return true;
}
