/*-------------------------------------------------------------------------
 *
 * tier_move.c
 *		Moving relations, one transaction for each.
 *
 * Runs in the worker and in sessions that CALL move_relation or migrate.  The
 * copy is SET TABLESPACE, which locks the relation while it copies; see
 * tier_relation.c for the step under the lock.  Around it, here: is there
 * room, is it worth the lock, the record that others can see, attempts with
 * pauses in which nothing is locked and no snapshot is held.
 *
 * A move is three transactions: one makes the record, one moves, one completes
 * the record.  A crash between them leaves a record of a process that is gone,
 * which the next sample turns into a failure; the data itself is as the second
 * transaction left it, moved or not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "tier_guc.h"
#include "tier_move.h"
#include "tier_preflight.h"
#include "tier_relation.h"

/* Pause before the second attempt, doubled each time, and its limit. */
#define FIRST_PAUSE_MS 100
#define LONGEST_PAUSE_MS 5000

static double
ms_between(TimestampTz from, TimestampTz to)
{
	return to <= from ? 0.0 : (double) (to - from) / 1000.0;
}

/* ---------------------------------------------------------------------
 * The move
 * ---------------------------------------------------------------------
 */

/* Waits with nothing locked and no snapshot to hold anybody up. */
static void
pause_ms(long milliseconds)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);

	for (;;)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);

		CHECK_FOR_INTERRUPTS();
		if (left <= 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/* What happens to one relation, step by step. */
typedef struct Move
{
	const TierMoveRequest *request;
	const TierSet *set;
	const TierRelationInfo *info;
	int64		size_bytes;
	int64		move_id;
	long		pause;			/* before the next attempt, ms */
	TierObstacle obstacle;
	TierMoveTiming timing;
	TierMoveResult result;
	TierMoveOutcome outcome;
} Move;

/*
 * Runs one step in a subtransaction of its own, undone as a whole when it
 * fails.  Returns what was thrown, in the current memory context, or NULL.
 */
static ErrorData *
guarded(void (*step) (Move *move), Move *move)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			level = GetCurrentTransactionNestLevel();
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		step(move);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		while (GetCurrentTransactionNestLevel() > level)
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

static void
preflight_step(Move *move)
{
	move->obstacle = tier_preflight(move->info, move->request, move->set, move->size_bytes);
}

/* One attempt after a pause; a cancel, also during the pause, is an error. */
static void
attempt_step(Move *move)
{
	pause_ms(move->pause);
	PushActiveSnapshot(GetTransactionSnapshot());
	move->result = tier_relation_move(move->request->relation_oid, move->request->requester_oid,
									  move->request->tablespace_oid, &move->timing);
	PopActiveSnapshot();
}

static void
finish_step(Move *move)
{
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	if (move->outcome.state == NULL)
		tier_catalog_forget_move(move->move_id);
	else
		tier_catalog_finish_move(move->move_id, &move->outcome);
	if (move->result == TIER_MOVE_DONE)
		tier_catalog_note_moved(move->request->relation_oid, move->request->tablespace_oid);
	tier_catalog_leave(&scope);
}

static void
report_thrown(TierMoveReport *report, const ErrorData *error)
{
	report->state = TIER_STATE_FAILED;
	report->error = tier_catalog_clip(error->message);
	report->hint = error->hint ? tier_catalog_clip(error->hint) : NULL;
	strlcpy(report->sqlstate, unpack_sql_state(error->sqlerrcode), sizeof(report->sqlstate));
}

/* Attempts until one succeeds, fails, or enough have waited in vain. */
static ErrorData *
move_with_retries(Move *move, TierMoveReport *report)
{
	TierMoveOutcome *outcome = &move->outcome;

	for (outcome->attempts = 1;; outcome->attempts++)
	{
		ErrorData  *thrown;

		memset(&move->timing, 0, sizeof(move->timing));
		thrown = guarded(attempt_step, move);

		/* Ends the transaction at once: that is what releases the lock. */
		SPI_commit();
		outcome->lock_wait_ms += move->timing.lock_wait_ms;
		if (move->timing.locked_at != 0)
			outcome->lock_held_ms = ms_between(move->timing.locked_at, GetCurrentTimestamp());

		if (thrown != NULL && thrown->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		{
			report_thrown(report, thrown);
			return thrown;
		}
		if (thrown == NULL && move->result != TIER_MOVE_LOCK_TIMEOUT)
		{
			report->state = move->result == TIER_MOVE_DONE ? TIER_STATE_DONE : TIER_STATE_NOT_NEEDED;
			return NULL;
		}
		if (outcome->attempts >= tier_move_lock_attempts)
		{
			report->state = TIER_STATE_SKIPPED;
			report->error = psprintf("could not lock the relation within %d ms in %d %s",
									 tier_move_lock_timeout_ms, outcome->attempts,
									 outcome->attempts == 1 ? "attempt" : "attempts");
			report->hint = "Others are using it. Raise tiered_storage.move_lock_timeout or move_lock_attempts, or try again later.";
			strlcpy(report->sqlstate, "55P03", sizeof(report->sqlstate));
			return NULL;
		}
		move->pause = move->pause == 0 ? FIRST_PAUSE_MS : Min(move->pause * 2, LONGEST_PAUSE_MS);
	}
}

/* ---------------------------------------------------------------------
 * The record
 * ---------------------------------------------------------------------
 */

static const char *
tier_name_or_null(const TierSet *set, int tier)
{
	return tier < 0 ? NULL : NameStr(set->tiers[tier].name);
}

/* Makes the record and commits it; 0 when the extension has gone. */
static int64
begin_record(const TierMoveRequest *request, const TierSet *set,
			 const TierRelationInfo *info, int64 size_bytes)
{
	TierCatalogScope scope;
	TierMoveRow row;
	int64		move_id = 0;

	row.relation_oid = info->relation_oid;
	row.relation_name = info->name;
	row.kind = tier_relation_kind_name(info->kind);
	row.from_tablespace = get_tablespace_name(info->tablespace_oid);
	row.to_tablespace = get_tablespace_name(request->tablespace_oid);
	row.from_tier = tier_name_or_null(set, tier_set_tier_of_tablespace(set, info->tablespace_oid));
	row.to_tier = tier_name_or_null(set, tier_set_tier_of_tablespace(set, request->tablespace_oid));
	row.requested_by = GetUserNameFromId(request->requester_oid, true);
	row.policy_id = request->policy_id;
	row.reason = request->reason;
	row.method = "set tablespace";
	row.size_bytes = size_bytes;
	if (row.from_tablespace == NULL || row.to_tablespace == NULL || row.requested_by == NULL)
		return 0;				/* dropped in this moment */

	if (tier_catalog_try_enter(&scope))
	{
		move_id = tier_catalog_begin_move(&row);
		tier_catalog_leave(&scope);
	}
	return move_id;
}

/*
 * Completes the record.  A cancel that comes just now must not leave it
 * incomplete: it is caught, and returned to be thrown afterwards.
 */
static ErrorData *
finish_record(Move *move, const TierMoveReport *report)
{
	static const char *const states[] = {
		[TIER_STATE_DONE] = "done",
		[TIER_STATE_NOT_NEEDED] = NULL, /* somebody else was faster: no move */
		[TIER_STATE_SKIPPED] = "skipped",
		[TIER_STATE_FAILED] = "failed",
	};
	ErrorData  *thrown;

	move->outcome.state = states[report->state];
	move->outcome.error = report->error;
	move->outcome.sqlstate = report->error ? report->sqlstate : NULL;
	thrown = guarded(finish_step, move);
	if (thrown != NULL && thrown->sqlerrcode == ERRCODE_QUERY_CANCELED)
		(void) guarded(finish_step, move);
	SPI_commit();
	return thrown;
}

TierMoveReport
tier_move_one(const TierMoveRequest *request, const TierSet *set)
{
	TierMoveReport report;
	TierRelationInfo info;
	TimestampTz started_at = GetCurrentTimestamp();
	ErrorData  *thrown;
	ErrorData  *late;
	Move		move;

	memset(&report, 0, sizeof(report));
	memset(&move, 0, sizeof(move));
	move.result = TIER_MOVE_GONE;
	report.state = TIER_STATE_NOT_NEEDED;

	/* 1. Is it still there, and is there anything to do? */
	if (!tier_relation_lookup(request->relation_oid, &info))
		return report;
	report.relation_name = info.name;
	report.size_bytes = tier_relation_disk_bytes(&info);
	if (info.tablespace_oid == request->tablespace_oid)
		return report;

	/* 2. Let others see it. */
	move.request = request;
	move.set = set;
	move.info = &info;
	move.size_bytes = report.size_bytes;
	move.outcome.lock_held_ms = -1;
	move.move_id = begin_record(request, set, &info, report.size_bytes);
	SPI_commit();
	if (move.move_id == 0)
		return report;

	/* 3. Move it, unless something is in the way. */
	thrown = guarded(preflight_step, &move);
	SPI_commit();
	if (thrown != NULL)
		report_thrown(&report, thrown);
	else if (move.obstacle.message != NULL)
	{
		report.state = TIER_STATE_SKIPPED;
		report.error = move.obstacle.message;
		report.hint = move.obstacle.hint;
		strlcpy(report.sqlstate, move.obstacle.sqlstate, sizeof(report.sqlstate));
	}
	else
		thrown = move_with_retries(&move, &report);

	/* 4. What became of it. */
	move.outcome.elapsed_ms = ms_between(started_at, GetCurrentTimestamp());
	late = finish_record(&move, &report);
	if (thrown != NULL && thrown->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ThrowErrorData(thrown);
	if (late != NULL)
		ThrowErrorData(late);
	return report;
}
