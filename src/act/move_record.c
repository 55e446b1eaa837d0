/*-------------------------------------------------------------------------
 *
 * act/move_record.c
 *		The record of a move, and its messages.
 *
 * The record is made before the move, in a separate transaction so that others see it, and
 * completed after it.  Until then the report is kept in memory, for the caller that asked for the
 * move.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "commands/tablespace.h"
#include "miscadmin.h"

#include "src/act/move.h"
#include "src/act/move_state.h"
#include "src/act/verify.h"
#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/move/progress.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"

/* ---------------------------------------------------------------------
 * Messages
 * ---------------------------------------------------------------------
 */

void
tier_move_report_thrown(TierMoveReport *report, const ErrorData *error)
{
	/* Another process that works on the relation is no failure of the move. */
	report->state = error->sqlerrcode == ERRCODE_OBJECT_IN_USE ? TIER_STATE_SKIPPED :
		TIER_STATE_FAILED;
	report->why = (TierObstacle)
	{
		.sqlstate = error->sqlerrcode,.message = tier_catalog_clip(error->message),
			.detail = error->detail ? tier_catalog_clip(error->detail) : NULL,
			.hint = error->hint ? tier_catalog_clip(error->hint) : NULL
	};

	/*
	 * Nor is it a failure if the worker leaves, whether it stops itself or is
	 * cancelled.
	 */
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED && tier_throttle_leaves_because() != NULL)
	{
		tier_move_report_skipped(report, ERRCODE_QUERY_CANCELED,
								 pstrdup(tier_throttle_leaves_because()), NULL);
		report->state = TIER_STATE_WAITING;
	}
}

void
tier_move_report_skipped(TierMoveReport *report, int sqlstate, char *message, char *hint)
{
	report->state = TIER_STATE_SKIPPED;
	report->why = (TierObstacle)
	{
		.sqlstate = sqlstate,.message = message,.hint = hint
	};
}

void
tier_move_log_done(const TierMove *move)
{
	const TierRelationInfo *info = move->info;
	const char *requester = GetUserNameFromId(move->request->requester_oid, true);

	ereport(LOG_SERVER_ONLY,
			(errmsg("moved %s %s from tablespace \"%s\" to tablespace \"%s\" for role \"%s\" "
					"in %s, locked for %.3f ms",
					tier_relation_kind_name(info->kind), info->name,
					tier_tablespace_name(info->tablespace_oid),
					tier_tablespace_name(move->request->tablespace_oid),
					requester ? requester : "?",
					tier_progress_time_text(move->outcome.elapsed_ms, move->outcome.waited_ms),
					Max(move->outcome.lock_held_ms, 0.0)),
			 errdetail("Move " INT64_FORMAT ": %s.", move->move_id, move->request->reason)));
}

void
tier_move_warn(const TierMoveReport *report, bool by_worker)
{
	if (report->state != TIER_STATE_SKIPPED && report->state != TIER_STATE_FAILED)
		return;
	tier_obstacle_report(by_worker ? LOG : WARNING, &report->why,
						 psprintf("could not move %s: %s", report->relation_name,
								  report->why.message));
}

bool
tier_move_was_busy(const TierMoveReport *report)
{
	return (report->state == TIER_STATE_SKIPPED || report->state == TIER_STATE_FAILED) &&
		report->why.sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
}

void
tier_move_count(const TierMoveRequest *request, const TierMoveReport *report)
{
	TierMoveCounts *counts = request->counts;

	if (counts == NULL)
		return;
	if (report->state == TIER_STATE_DONE)
	{
		counts->moved++;
		counts->moved_bytes += report->size_bytes;
	}
	else if (report->state == TIER_STATE_SKIPPED || report->state == TIER_STATE_FAILED)
		counts->not_moved++;
}

/* ---------------------------------------------------------------------
 * The record
 * ---------------------------------------------------------------------
 */

int64
tier_move_begin_record(const TierMoveRequest *request, const TierSet *set,
					   const TierRelationInfo *info, int64 size_bytes, bool online)
{
	TierCatalogScope scope;
	TierMoveRow row;
	int64		move_id = 0;

	row.relation_oid = info->relation_oid;
	row.relation_name = info->name;
	row.kind = tier_relation_kind_name(info->kind);
	row.from_tablespace = get_tablespace_name(info->tablespace_oid);
	row.to_tablespace = get_tablespace_name(request->tablespace_oid);
	row.from_tablespace_oid = info->tablespace_oid;
	row.to_tablespace_oid = request->tablespace_oid;
	row.from_tier = tier_set_tier_name(set,
									   tier_set_tier_of_tablespace(set, info->tablespace_oid));
	row.to_tier = tier_set_tier_name(set,
									 tier_set_tier_of_tablespace(set, request->tablespace_oid));
	row.requested_by = GetUserNameFromId(request->requester_oid, true);
	row.policy_id = request->policy_id;
	row.policy_kind = request->policy_kind;
	row.batch_id = request->batch_id;
	row.undo_of = request->undo_of;
	row.reason = request->reason;
	row.method = online ? "online" : "set tablespace";
	row.size_bytes = size_bytes;
	if (row.from_tablespace == NULL || row.to_tablespace == NULL || row.requested_by == NULL)
		return 0;				/* dropped in this moment */

	if (tier_catalog_try_enter(&scope))
	{
		tier_verify_expect(set, info, request->tablespace_oid,
						   &row.before_s_per_hour, &row.after_s_per_hour);
		row.predicted_s_per_hour = isnan(request->predicted_s_per_hour) ?
			row.before_s_per_hour - row.after_s_per_hour : request->predicted_s_per_hour;
		move_id = tier_catalog_begin_move(&row);
		tier_catalog_leave(&scope);
	}
	return move_id;
}

/* Reports further consequences of a move. */
static void
note_consequences(const TierMove *move)
{
	tier_debug_point("recorded");

	/* The table itself has moved, and not a part of it only. */
	if (move->outcome.state != NULL && strcmp(move->outcome.state, "done") == 0 &&
		move->info->tablespace_oid != move->request->tablespace_oid)
		tier_verify_begin(move->move_id,
						  move->request->policy_id != 0 ? 0 : move->request->batch_id,
						  move->set, move->info->relation_oid,
						  move->info->tablespace_oid, move->request->tablespace_oid);
}

static void
finish_step(void *argument)
{
	TierMove   *move = argument;
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	if (move->result == TIER_MOVE_DONE && !move->only_record)
		tier_catalog_note_moved(move->request->relation_oid, move->request->tablespace_oid);
	if (move->outcome.state == NULL)
		tier_catalog_forget_move(move->move_id);
	else
		tier_catalog_finish_move(move->move_id, &move->outcome);
	if (!move->only_record)
		note_consequences(move);
	tier_catalog_leave(&scope);
}

ErrorData *
tier_move_finish_record(TierMove *move)
{
	const TierMoveReport *report = move->report;
	static const char *const states[] = {
		[TIER_STATE_DONE] = "done",
		[TIER_STATE_NOT_NEEDED] = NULL, /* another process was faster: no move */
		[TIER_STATE_SKIPPED] = "skipped",
		[TIER_STATE_WAITING] = "skipped",
		[TIER_STATE_FAILED] = "failed",
	};
	ErrorData  *thrown;

	move->outcome.state = states[report->state];
	move->outcome.error = report->why.message;
	move->outcome.sqlstate = report->why.message == NULL ? NULL :
		pstrdup(unpack_sql_state(report->why.sqlstate));

	/* That another process is at it, or was faster, is no failure either. */
	move->outcome.is_tried_again = report->state == TIER_STATE_WAITING || move->is_above_mark ||
		(report->state == TIER_STATE_SKIPPED && report->why.sqlstate == ERRCODE_OBJECT_IN_USE);
	move->outcome.found_no_room = report->state == TIER_STATE_SKIPPED &&
		report->why.sqlstate == ERRCODE_DISK_FULL;
	move->outcome.was_paused = report->state == TIER_STATE_WAITING &&
		report->why.sqlstate == ERRCODE_QUERY_CANCELED;
	thrown = tier_attempt(finish_step, move);
	if (thrown != NULL)
	{
		move->only_record = thrown->sqlerrcode != ERRCODE_QUERY_CANCELED &&
			thrown->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE;
		(void) tier_attempt(finish_step, move);
	}

	/*
	 * A record that a crash has lost is completed by
	 * tier_catalog_refresh_identities().
	 */
	tier_transaction_commit_async();
	return thrown;
}
