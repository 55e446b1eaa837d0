/*-------------------------------------------------------------------------
 *
 * act/move.c
 *		Moving relations: the steps of a move.
 *
 * Runs in the worker and in sessions that CALL move_relation or migrate.  A table is moved with
 * its TOAST table and the index of that, online (move/online.h): in many transactions, with a
 * strong lock for milliseconds at the end of the last.  A relation that cannot be moved so is
 * moved by SET TABLESPACE, only if that is allowed: in one transaction, with a lock for the whole
 * copy (server/relation.c).
 *
 * One transaction before the move makes the record that others can see, and one after it
 * completes the record (act/move_record.c).  Obstacles and waits are checked in between
 * (act/move_admission.c). A crash leaves a record of a process that is gone, which the next
 * sample turns into a failure, and perhaps an orphaned file, which move/pending_file.c removes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/act/move_state.h"
#include "src/catalog/tables.h"
#include "src/move/online.h"
#include "src/move/preflight.h"
#include "src/move/progress.h"
#include "src/server/relation.h"
#include "src/move/space.h"
#include "src/move/throttle.h"
#include "src/base/transaction.h"
#include "src/storage/file_size.h"

/* Backoff before the second attempt under one lock, doubled each time, and its limit. */
#define FIRST_BACKOFF_MS 100
#define LONGEST_BACKOFF_MS 5000

/* By tier_clock_monotonic_us. */
static double
ms_since(int64 begin_us)
{
	return (double) (tier_clock_monotonic_us() - begin_us) / 1000.0;
}

/* ---------------------------------------------------------------------
 * Online
 * ---------------------------------------------------------------------
 */

bool
tier_move_is_needed(Oid relation_oid, Oid tablespace_oid)
{
	return tier_relation_parts_elsewhere(relation_oid, tablespace_oid) != NIL;
}

/* May wait for the locks of catalogs, and so be cancelled. */
static void
rebuilt_step(void *argument)
{
	TierMove   *move = argument;

	move->is_rebuilt = tier_relation_present(&move->identity, NULL) != move->request->relation_oid;
}

/* Returns true if another index has taken its place. */
static bool
is_rebuilt(TierMove *move, ErrorData **thrown)
{
	*thrown = tier_move_try(move, rebuilt_step);
	return *thrown == NULL && move->is_rebuilt;
}

/*
 * The index was not moved because it was rebuilt concurrently.  If the request is decided again
 * (is_wanted), that is reported; else tier_move_one() goes on with the new index.
 */
static void
report_rebuilt(const TierMove *move)
{
	if (move->request->is_wanted != NULL)
		tier_move_report_skipped(move->report, ERRCODE_OBJECT_IN_USE,
								 "the index was rebuilt concurrently",
								 "The next run evaluates the new index.");
	else
		move->report->state = TIER_STATE_NOT_NEEDED;
}

static void
add_online_report(TierMoveOutcome *outcome, const TierOnlineReport *part)
{
	outcome->attempts += part->attempts;
	outcome->lock_wait_ms += part->lock_wait_ms;
	outcome->copied_bytes += part->copied_bytes;
	outcome->lock_held_ms = part->lock_held_ms;
	outcome->lock_flush_ms = part->flush_ms;
}

/*
 * The relation is moved; an error after its swap does not undo that.  A cancel is thrown, but is
 * no failure of the move.
 */
static void
note_late_error(const TierMoveReport *report, ErrorData **thrown)
{
	if (*thrown == NULL || (*thrown)->sqlerrcode == ERRCODE_QUERY_CANCELED)
		return;
	ereport(LOG,
			(errmsg("error after the move of %s: %s", report->relation_name, (*thrown)->message),
			 (*thrown)->detail == NULL ? 0 : errdetail_internal("%s", (*thrown)->detail)));
	*thrown = NULL;
}

/* Reports the result of an online move. */
static void
report_online(TierMove *move, TierOnlineResult result, TierOnlineReport *online,
			  ErrorData **thrown)
{
	TierMoveReport *report = move->report;

	switch (result)
	{
		case TIER_ONLINE_DONE:
			move->result = TIER_MOVE_DONE;
			report->state = TIER_STATE_DONE;
			note_late_error(report, thrown);
			break;
		case TIER_ONLINE_NOT_NEEDED:
			if (is_rebuilt(move, thrown))
				report_rebuilt(move);
			break;
		case TIER_ONLINE_BUSY:
			tier_move_report_skipped(report, online->was_told_to_wait ? ERRCODE_OBJECT_IN_USE :
									 ERRCODE_LOCK_NOT_AVAILABLE, online->why,
									 pstrdup(online->hint));
			if (online->was_told_to_wait)
				report->state = TIER_STATE_WAITING;
			break;
		case TIER_ONLINE_HELD_UP:
			tier_move_report_skipped(report, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
									 online->why, pstrdup(online->hint));
			report->under_pressure = true;
			break;
		case TIER_ONLINE_REFUSED:
			if (!online->is_incomplete)
				tier_move_report_skipped(report, ERRCODE_FEATURE_NOT_SUPPORTED,
										 psprintf("it cannot be moved online: %s", online->why),
										 NULL);
			else if (is_rebuilt(move, thrown))
				report_rebuilt(move);
			else if (*thrown == NULL)
				tier_move_report_skipped(report, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
										 online->why, TIER_INCOMPLETE_HINT);
			break;
		case TIER_ONLINE_UNWANTED:
			break;				/* reported by tier_move_is_still_wanted() */
		case TIER_ONLINE_FAILED:
			tier_move_report_thrown(report, online->error);
			break;
	}
}

/* Moves the relation with its TOAST table. */
static ErrorData *
move_online(TierMove *move)
{
	ErrorData  *thrown = NULL;
	TierOnlineRequest request;
	TierOnlineReport online;
	TierOnlineResult result;

	memset(&request, 0, sizeof(request));
	memset(&online, 0, sizeof(online));
	online.lock_held_ms = -1;
	request.relation_oid = move->request->relation_oid;
	request.tablespace_oid = move->request->tablespace_oid;
	request.requester_oid = move->request->requester_oid;
	request.for_owner = move->request->for_owner;
	request.extension_oid = move->extension_oid;
	request.register_file = true;
	request.reserve_bytes = tier_preflight_reserve(move->set, move->request->tablespace_oid);
	request.is_wanted = tier_move_is_still_wanted;
	request.why_wait = tier_move_why_wait;
	request.argument = move;
	request.idle = move->request->idle;
	request.waits_for_wal_readers = move->request->obeys_windows;
	result = tier_online_move(&request, &online);
	add_online_report(&move->outcome, &online);
	thrown = online.error;
	report_online(move, result, &online, &thrown);
	return thrown;
}

/* ---------------------------------------------------------------------
 * Under one lock
 * ---------------------------------------------------------------------
 */

/* One attempt after a pause; a cancel, also during the pause, is an error. */
static void
attempt_step(void *argument)
{
	TierMove   *move = argument;

	if (move->backoff_ms > 0)
		tier_throttle_yield();
	tier_move_pause_ms(move->backoff_ms);
	while (!tier_throttle_resume())
	{
		tier_progress_set(TIER_PROGRESS_PHASE, tier_throttle_is_paused() ? TIER_PHASE_PAUSED :
						  TIER_PHASE_QUEUED);
		tier_move_pause_ms(TIER_MOVE_QUEUE_INTERVAL_MS);
	}
	tier_progress_set(TIER_PROGRESS_PHASE, TIER_PHASE_LOCKED);
	tier_transaction_obey_timeout();
	move->result = tier_relation_move(move->request->relation_oid, move->request->requester_oid,
									  move->request->for_owner, move->extension_oid,
									  move->request->tablespace_oid, &move->timing);
}

/* Attempts until one succeeds, fails, or enough have waited in vain. */
static ErrorData *
move_with_retries(TierMove *move)
{
	TierMoveReport *report = move->report;
	TierMoveOutcome *outcome = &move->outcome;

	for (;;)
	{
		ErrorData  *thrown = tier_move_try(move, tier_move_ask_step);

		if (thrown != NULL || move->is_unwanted)
			return thrown;		/* reported */
		tier_move_run_idle(move);
		outcome->attempts++;
		memset(&move->timing, 0, sizeof(move->timing));
		thrown = tier_attempt(attempt_step, move);

		/* Ends the transaction at once, which releases the lock. */
		tier_transaction_commit();
		tier_relation_release_rows();
		outcome->lock_wait_ms += move->timing.lock_wait_ms;
		if (move->timing.locked_at != 0)
			outcome->lock_held_ms = ms_since(move->timing.locked_at);

		if (thrown != NULL && thrown->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		{
			tier_move_report_thrown(report, thrown);
			return thrown;
		}
		if (thrown == NULL && move->result != TIER_MOVE_LOCK_TIMEOUT)
		{
			report->state = move->result == TIER_MOVE_DONE ? TIER_STATE_DONE :
				TIER_STATE_NOT_NEEDED;
			return NULL;
		}
		if (outcome->attempts >= TIER_LOCK_ATTEMPTS)
		{
			tier_move_report_skipped(report, ERRCODE_LOCK_NOT_AVAILABLE,
									 psprintf("could not lock the relation within %d ms in %d %s",
											  tier_move_lock_timeout_ms, outcome->attempts,
											  outcome->attempts == 1 ? "attempt" : "attempts"),
									 "Other sessions are using it. Raise "
									 "tiered_storage.move_lock_timeout, or try again later.");
			return NULL;
		}
		move->backoff_ms = move->backoff_ms == 0 ? FIRST_BACKOFF_MS :
			Min(move->backoff_ms * 2, LONGEST_BACKOFF_MS);
	}
}

/* ---------------------------------------------------------------------
 * The move
 * ---------------------------------------------------------------------
 */

/*
 * A cancel goes on to the caller.  With a statement_timeout that may be a surprise, as
 * no statement of a move takes long by itself.
 */
static void
throw_cancel(ErrorData *error)
{
	if (StatementTimeout > 0 && error->hint == NULL &&
		TimestampDifferenceExceeds(GetCurrentStatementStartTimestamp(), GetCurrentTimestamp(),
								   StatementTimeout))
		error->hint = "statement_timeout applies to the whole CALL. Completed moves are "
			"kept. Use SET statement_timeout = 0 before the next CALL.";
	ThrowErrorData(error);
}

/* Step 3: moves the relation unless an obstacle is found.  A returned error has been reported. */
static ErrorData *
carry_out(TierMove *move, bool online)
{
	ErrorData  *thrown = NULL;

	if (!tier_move_may_begin(move, &thrown))
		return thrown;
	if (online)
		return move_online(move);
	tier_progress_set(TIER_PROGRESS_PHASE, TIER_PHASE_LOCKED);
	return move_with_retries(move);
}

/*
 * The same, for any failure: the steps run in subtransactions, but code between them, and the end
 * of each transaction, may fail, too.
 */
static ErrorData *
carry_out_safely(TierMove *move, bool online)
{
	int			level = GetCurrentTransactionNestLevel();
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	ErrorData  *volatile thrown = NULL;

	PG_TRY();
	{
		thrown = carry_out(move, online);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(move->context);
		error = tier_attempt_take_error();
		while (GetCurrentTransactionNestLevel() > level)
			RollbackAndReleaseCurrentSubTransaction();
		while (ActiveSnapshotSet() && GetActiveSnapshot() != snapshot)
			PopActiveSnapshot();	/* SPI wants to know of all */
		tier_transaction_rollback();
		tier_relation_release_rows();
		MemoryContextSwitchTo(move->context);
		if (move->report->state == TIER_STATE_DONE)
			note_late_error(move->report, &error);
		else
			tier_move_report_thrown(move->report, error);
		thrown = error;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(move->context);
	return thrown;
}

/* Leaves the queue, so that no process waits for this one.  Does nothing the second time. */
static void
step_aside(void)
{
	tier_throttle_leave();
	tier_progress_end();
	tier_gate_forget();
}

/* Steps 3 and 4; *late is an error that occurred after the move. */
static void
run_move(TierMove *move, bool online, int64 started_at, ErrorData **thrown, ErrorData **late)
{
	double		waited_ms = tier_progress_waited_ms();

	tier_progress_start(move->request->relation_oid);
	PG_TRY();
	{
		/* 3. Move it, unless something is in the way. */
		*thrown = carry_out_safely(move, online);
		step_aside();

		/* 4. The result. */
		move->outcome.elapsed_ms = ms_since(started_at);
		move->outcome.waited_ms = tier_progress_waited_ms() - waited_ms;
		move->report->worked_ms = Max(move->outcome.elapsed_ms - move->outcome.waited_ms, 0.0);
		move->report->lock_held_ms = Max(move->outcome.lock_held_ms, 0.0);
		*late = tier_move_finish_record(move);
	}
	PG_FINALLY();
	{
		step_aside();

		/*
		 * Not before: until the record has the new place, others must count
		 * the move.
		 */
		tier_space_done();
	}
	PG_END_TRY();
}

/* The input and the result of prepare_step(). */
typedef struct Preparation
{
	TierMove	move;
	TierRelationInfo info;
	const char *why_not_online;
} Preparation;

/* Steps 1 and 2: finds the work to do, and makes a record of it. */
static void
prepare_step(void *argument)
{
	Preparation *preparation = argument;
	TierMove   *move = &preparation->move;
	const TierMoveRequest *request = move->request;
	TierMoveReport *report = move->report;
	TierRelationInfo *info = &preparation->info;

	/* 1. Whether it still exists, and whether there is anything to do. */
	tier_debug_relation("move", request->relation_oid);
	report->is_gone = !tier_relation_lookup(request->relation_oid, info);
	if (report->is_gone)
		return;
	report->relation_name = info->name;
	report->size_bytes = tier_relation_disk_bytes(info);
	if (!tier_move_is_needed(request->relation_oid, request->tablespace_oid))
		return;
	preparation->why_not_online = tier_relation_why_not_online(info);
	move->set = tier_move_load_tiers(request);
	if (move->set == NULL)
		return;

	/* 2. Record it, so that others see it. */
	move->info = info;
	move->size_bytes = report->size_bytes;
	tier_relation_identify(info->relation_oid, &move->identity);
	move->outcome.lock_held_ms = -1;
	move->outcome.lock_flush_ms = -1;
	move->outcome.copied_bytes = preparation->why_not_online == NULL ? 0 : -1;
	tier_debug_point("recording");
	if (!tier_move_has_bytes_left(move))
		return;
	move->move_id =
		tier_move_begin_record(request, move->set, info, report->size_bytes,
							   preparation->why_not_online == NULL || !request->allow_lock);
}

/* An error that is not in a record. */
static void
report_unrecorded(const TierMoveRequest *request, TierMoveReport *report, ErrorData *error)
{
	if (!request->is_one_of_many || tier_error_is_about_all(error))
		ReThrowError(error);
	report->unrecorded = error;
}

/* *present is the relation, or the index that it was rebuilt as concurrently. */
static TierMoveReport
move_as_it_is(const TierMoveRequest *request, Oid *present)
{
	TierMoveReport report = {.state = TIER_STATE_NOT_NEEDED};
	Preparation preparation = {0};
	TierMove   *move = &preparation.move;
	TierRelationInfo info;
	int64		started_at = tier_clock_monotonic_us();
	bool		online;
	ErrorData  *error;
	ErrorData  *thrown = NULL;
	ErrorData  *late = NULL;

	*present = request->relation_oid;
	move->result = TIER_MOVE_GONE;
	move->request = request;
	move->context = CurrentMemoryContext;
	move->report = &report;
	error = tier_attempt(prepare_step, &preparation);
	if (error != NULL)
	{
		report_unrecorded(request, &report, error);
		tier_transaction_commit();
		MemoryContextSwitchTo(move->context);
		tier_move_report_thrown(&report, error);
		report.relation_name = psprintf("relation %u", request->relation_oid);
		tier_move_count(request, &report);
		return report;
	}
	if (move->set == NULL)
		return report;			/* there is nothing to do */

	/* The first commit of the move itself makes this one durable, too. */
	tier_transaction_commit_async();
	if (move->move_id == 0)
	{
		tier_move_count(request, &report);
		return report;
	}

	/* 3 and 4. */
	online = preparation.why_not_online == NULL;
	run_move(move, online, started_at, &thrown, &late);
	tier_move_count(request, &report);
	if (report.state == TIER_STATE_DONE && tier_log_moves)
		tier_move_log_done(move);
	if (thrown != NULL && thrown->sqlerrcode == ERRCODE_QUERY_CANCELED)
		throw_cancel(thrown);
	if (late != NULL && late->sqlerrcode == ERRCODE_QUERY_CANCELED)
		throw_cancel(late);
	if (late != NULL)
		report_unrecorded(request, &report, late);
	*present = tier_relation_present(&move->identity, NULL);
	report.is_gone = report.state == TIER_STATE_NOT_NEEDED &&
		!tier_relation_lookup(*present, &info);
	return report;
}

TierMoveReport
tier_move_one(const TierMoveRequest *request)
{
	TierMoveRequest now = *request;

	for (;;)
	{
		Oid			present;
		TierMoveReport report = move_as_it_is(&now, &present);

		if (present == now.relation_oid || report.state != TIER_STATE_NOT_NEEDED ||
			request->is_wanted != NULL)
			return report;
		CHECK_FOR_INTERRUPTS();
		now.relation_oid = present;
	}
}
