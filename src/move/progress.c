/*-------------------------------------------------------------------------
 *
 * move/progress.c
 *		How far a move is, for other sessions to see.
 *
 * Uses the numbers that each backend has for the progress of its command
 * (backend_progress.h), which are there without preload.  The server knows no
 * command of ours, so it is "none" for its own views, and the first number is
 * a mark by which we know ours again.  Ends with the process, if not before.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/move/progress.h"

#define MARK INT64CONST(0x7469657265645f31)

/* The mark is at 0. */
#define PARAM(field) ((int) (field) + 1)

static int64 current[TIER_PROGRESS_FIELDS];

StaticAssertDecl(TIER_PROGRESS_FIELDS < PGSTAT_NUM_PROGRESS_PARAM, "too many fields");

void
tier_progress_start(Oid relation_oid)
{
	pgstat_progress_start_command(PROGRESS_COMMAND_INVALID, relation_oid);
	memset(current, 0, sizeof(current));
	tier_progress_set(TIER_PROGRESS_RELATION, relation_oid);
	tier_progress_set(TIER_PROGRESS_STARTED, GetCurrentTimestamp());
	pgstat_progress_update_param(0, MARK);
}

void
tier_progress_set(TierProgressField field, int64 value)
{
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
	pgstat_progress_update_param(0, 0);
}

bool
tier_progress_read(int pid, int64 *fields)
{
	int			n = pgstat_fetch_stat_numbackends();

	for (int i = 1; i <= n; i++)
	{
		const PgBackendStatus *status = tier_compat_backend_status(i);

		if (status == NULL || status->st_procpid != pid)
			continue;
		if (status->st_progress_param[0] != MARK)
			return false;
		for (int field = 0; field < TIER_PROGRESS_FIELDS; field++)
			fields[field] = status->st_progress_param[PARAM(field)];
		return true;
	}
	return false;
}

const char *
tier_progress_phase_name(TierPhase phase)
{
	switch (phase)
	{
		case TIER_PHASE_STARTING:
			return "starting";
		case TIER_PHASE_COPYING:
			return "copying";
		case TIER_PHASE_CATCHING_UP:
			return "catching up";
		case TIER_PHASE_SWAPPING:
			return "swapping";
		case TIER_PHASE_PREWARMING:
			return "prewarming";
		case TIER_PHASE_GIVING_WAY:
			return "giving way";
		case TIER_PHASE_PAUSED:
			return "paused";
		case TIER_PHASE_QUEUED:
			return "queued";
		case TIER_PHASE_CLEANING_UP:
			return "cleaning up";
		case TIER_PHASE_LOCKED:
			return "moving under lock";
	}
	return "?";
}
