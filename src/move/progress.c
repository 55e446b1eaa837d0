/*-------------------------------------------------------------------------
 *
 * move/progress.c
 *		The progress of moves, visible to other sessions.
 *
 * Uses the counters that each backend has for the progress of its command
 * (backend_progress.h), which exist without preload.  The server has no command type for
 * moves, so its views show none, and the first counter is a mark by which a move is
 * recognized.  Ends with the process at the latest.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/move/progress.h"
#include "src/server/processes.h"
#include "src/server/wal_lag.h"

#define MARK INT64CONST(0x7469657265645f31)

/* The mark is at 0. */
#define PARAM(field) ((int) (field) + 1)

/* The fields of an announcement: its mark, and its values. */
#define ANNOUNCED_MARK INT64CONST(0x7469657273706163)
#define ANNOUNCED_PARAM (TIER_PROGRESS_FIELDS + 1)
#define ANNOUNCED_TABLESPACE_PARAM (ANNOUNCED_PARAM + 1)
#define ANNOUNCED_BYTES_PARAM (ANNOUNCED_PARAM + 2)
#define ANNOUNCED_AT_PARAM (ANNOUNCED_PARAM + 3)
#define ANNOUNCED_FROM_PARAM (ANNOUNCED_PARAM + 4)
#define ANNOUNCED_LEAVING_PARAM (ANNOUNCED_PARAM + 5)

/*
 * A copy of the published numbers, because st_progress_param is write-only.  The numbers in
 * shared memory are this process's to write, by pgstat_progress_update_param(), and readable
 * by all processes, a copy at a time (tier_processes_read); each number is written separately,
 * so that a reader may see some that are newer than others.  They mean nothing without their
 * mark, which is therefore written last, and taken away first.  Announcements are written all
 * at once (tier_processes_show), since others rely on them.
 */
static int64 current[TIER_PROGRESS_FIELDS]; /* set back by
											 * tier_progress_start() */

/* By the phases of all moves of this process, and since when it is held up now; 0: it is not. */
static int64 held_us;
static int64 held_since_us;

static TierAnnouncement announced;	/* InvalidOid: none; outlives the move */

StaticAssertDecl(ANNOUNCED_LEAVING_PARAM < PGSTAT_NUM_PROGRESS_PARAM, "too many fields");

static void
show_announcement(void)
{
	int64		values[] = {
		[0] = OidIsValid(announced.tablespace_oid) ? ANNOUNCED_MARK : 0,
		[ANNOUNCED_TABLESPACE_PARAM - ANNOUNCED_PARAM] = announced.tablespace_oid,
		[ANNOUNCED_BYTES_PARAM - ANNOUNCED_PARAM] = announced.bytes,
		[ANNOUNCED_AT_PARAM - ANNOUNCED_PARAM] = announced.at_us,
		[ANNOUNCED_FROM_PARAM - ANNOUNCED_PARAM] = announced.from_oid,
		[ANNOUNCED_LEAVING_PARAM - ANNOUNCED_PARAM] = announced.leaving_bytes,
	};

	tier_processes_show(ANNOUNCED_PARAM, lengthof(values), values);
}

void
tier_progress_start(Oid relation_oid)
{
	pgstat_progress_start_command(PROGRESS_COMMAND_INVALID, relation_oid);
	memset(current, 0, sizeof(current));
	tier_progress_set(TIER_PROGRESS_STARTED, GetCurrentTimestamp());
	pgstat_progress_update_param(0, MARK);
	show_announcement();
}

/* Adds up the time that the move is held up for external reasons. */
static void
note_phase(int64 phase)
{
	int64		now_us = tier_clock_monotonic_us();

	if (held_since_us != 0)
		held_us += now_us - held_since_us;
	held_since_us = phase == TIER_PHASE_PAUSED || phase == TIER_PHASE_QUEUED ||
		phase == TIER_PHASE_WAITING ? now_us : 0;
}

double
tier_progress_waited_ms(void)
{
	return held_us / 1000.0;
}

char *
tier_progress_time_text(double elapsed_ms, double waited_ms)
{
	double		waited_s = rint(Max(waited_ms, 0.0)) / 1000.0;
	double		worked_s = Max(elapsed_ms / 1000.0 - waited_s, 0.0);

	return waited_s > 0.0 ?
		psprintf("%.3f s, paused or waiting for %.3f s", worked_s, waited_s) :
		psprintf("%.3f s", worked_s);
}

void
tier_progress_set(TierProgressField field, int64 value)
{
	if (field == TIER_PROGRESS_PHASE)
		note_phase(value);
	current[field] = value;
	pgstat_progress_update_param(PARAM(field), value);
}

void
tier_progress_add(TierProgressField field, int64 value)
{
	tier_progress_set(field, current[field] + value);
}

void
tier_progress_end(void)
{
	note_phase(TIER_PHASE_STARTING);
	pgstat_progress_update_param(0, 0);
}

bool
tier_progress_read(int pid, int64 *fields)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;

		if (!tier_processes_read(i, &status) || status.st_procpid != pid)
			continue;
		if (status.st_progress_param[0] != MARK)
			return false;
		for (int field = 0; field < TIER_PROGRESS_FIELDS; field++)
			fields[field] = status.st_progress_param[PARAM(field)];
		return true;
	}
	return false;
}

List *
tier_progress_sessions(void)
{
	List	   *pids = NIL;

	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;

		if (tier_processes_read(i, &status) && status.st_progress_param[0] == MARK &&
			status.st_backendType == B_BACKEND)
			pids = lappend_int(pids, status.st_procpid);
	}
	return pids;
}

/*
 * The announcement is first published without a time, and then counts as earlier than all
 * others.  Otherwise, if a process takes its time before another process announces, and
 * publishes it afterwards, neither would count the other (Lamport's bakery).
 */
int64
tier_progress_announce(const TierAnnouncement *announcement)
{
	announced = *announcement;
	announced.at_us = 0;
	show_announcement();
	if (OidIsValid(announced.tablespace_oid))
	{
		pg_memory_barrier();
		tier_debug_point("announcing");
		announced.at_us = tier_clock_monotonic_us();
		show_announcement();
		pg_memory_barrier();
	}
	return announced.at_us;
}

void
tier_progress_announced_written(int64 bytes)
{
	announced.bytes = Max(announced.bytes - bytes, 0);
	tier_processes_show(ANNOUNCED_BYTES_PARAM, 1, &announced.bytes);
}

int64
tier_progress_announced_bytes(void)
{
	return announced.bytes;
}

int64
tier_progress_announced_at(void)
{
	return OidIsValid(announced.tablespace_oid) ? announced.at_us : PG_INT64_MAX;
}

bool
tier_progress_announced(int i, int *pid, TierAnnouncement *announcement)
{
	PgBackendStatus status;

	if (!tier_processes_read(i, &status) ||
		status.st_progress_param[ANNOUNCED_PARAM] != ANNOUNCED_MARK)
		return false;
	*pid = status.st_procpid;
	announcement->tablespace_oid = (Oid) status.st_progress_param[ANNOUNCED_TABLESPACE_PARAM];
	announcement->bytes = status.st_progress_param[ANNOUNCED_BYTES_PARAM];
	announcement->at_us = status.st_progress_param[ANNOUNCED_AT_PARAM];
	announcement->from_oid = (Oid) status.st_progress_param[ANNOUNCED_FROM_PARAM];
	announcement->leaving_bytes = status.st_progress_param[ANNOUNCED_LEAVING_PARAM];
	announcement->database_oid = status.st_databaseid;
	return true;
}

const char *
tier_progress_phase_name(TierPhase phase)
{
	static const char *const names[] = {
		[TIER_PHASE_STARTING] = "starting",
		[TIER_PHASE_COPYING] = "copying",
		[TIER_PHASE_CATCHING_UP] = "catching up",
		[TIER_PHASE_SWAPPING] = "swapping",
		[TIER_PHASE_PREWARMING] = "prewarming",
		[TIER_PHASE_GIVING_WAY] = "giving way",
		[TIER_PHASE_WAITING] = "waiting",
		[TIER_PHASE_PAUSED] = "paused",
		[TIER_PHASE_QUEUED] = "queued",
		[TIER_PHASE_CLEANING_UP] = "cleaning up",
		[TIER_PHASE_LOCKED] = "moving under lock",
	};

	/* It is what another process shows. */
	return (size_t) phase < lengthof(names) ? names[phase] : "?";
}

char *
tier_progress_waits_for(TierPhase phase)
{
	TierWalLag	lag;

	if (phase != TIER_PHASE_WAITING)
		return NULL;
	lag = tier_wal_lag();
	return lag.reader != TIER_WAL_NOBODY ? tier_wal_lag_text(&lag) :
		pstrdup("the standby, slot or archive has caught up");
}
