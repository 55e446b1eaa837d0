/*-------------------------------------------------------------------------
 *
 * act/move_sql.c
 *		The procedures that move relations: check, call, return.
 *
 * Access is controlled by the EXECUTE privilege on each function (none is granted to PUBLIC)
 * and, for relations of other roles, by the checks of server/relation.c for the calling role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "src/base/clock.h"
#include "src/catalog/tables.h"
#include "src/model/effect.h"
#include "src/base/settings.h"
#include "src/decide/policy_preview.h"
#include "src/decide/wear.h"
#include "src/act/plan_notice.h"
#include "src/act/batch.h"
#include "src/act/call.h"
#include "src/act/foresee.h"
#include "src/act/move.h"
#include "src/act/run.h"
#include "src/move/pending_file.h"
#include "src/move/progress.h"
#include "src/server/relation.h"
#include "src/base/sql.h"
#include "src/base/transaction.h"

PG_FUNCTION_INFO_V1(tier_move_relation);
PG_FUNCTION_INFO_V1(tier_migrate);
PG_FUNCTION_INFO_V1(tier_mover_progress);
PG_FUNCTION_INFO_V1(tier_effect_verdict);

static void
report_failures(const TierMoveReport *first, int failed, int all)
{
	TierObstacle why = first->why;

	if (failed > 1)
		why.detail = psprintf("%s%s%d of %d relations could not be moved; see "
							  "tiered_storage.moves.", why.detail ? why.detail : "",
							  why.detail ? " " : "", failed, all);
	tier_obstacle_report(ERROR, &why, psprintf("could not move %s: %s", first->relation_name,
											   why.message));
}

/*
 * A call ends after so many times the relations that it began with: an index may be rebuilt again
 * and again.
 */
#define MOST_RELATIONS 10

/* The moves of one CALL. */
typedef struct Moved
{
	int			relations;
	char	   *first;			/* "table s.t"; NULL: nothing was moved */
	Oid			first_oid;
	Oid			from_oid;		/* tablespaces; 0: more than one */
	Oid			to_oid;
	double		bytes;
	double		lock_held_ms;	/* the longest */
} Moved;

static void
add_moved(Moved *moved, const TierRelationInfo *member, Oid to_oid, double bytes)
{
	if (moved->relations++ == 0)
	{
		moved->first_oid = member->relation_oid;
		moved->first = psprintf("%s %s", tier_relation_kind_name(member->kind), member->name);
		moved->from_oid = member->tablespace_oid;
		moved->to_oid = to_oid;
	}
	if (moved->from_oid != member->tablespace_oid)
		moved->from_oid = InvalidOid;
	if (moved->to_oid != to_oid)
		moved->to_oid = InvalidOid;
	moved->bytes += bytes;
}

static char *
place_text(Oid tablespace_oid)
{
	return !OidIsValid(tablespace_oid) ? "several tablespaces" :
		psprintf("tablespace \"%s\"", tier_tablespace_name(tablespace_oid));
}

/* NULL, or the warning: a move between two tablespaces of one device does not change the cost. */
static const char *
one_device_text(const TierMoveCall *call, const Moved *moved)
{
	if (!OidIsValid(moved->from_oid) || !OidIsValid(moved->to_oid) ||
		!tier_device_is_shared(tier_call_device(call, moved->from_oid),
							   tier_call_device(call, moved->to_oid)))
		return NULL;
	return "Both are on the same device: nothing gets faster or cheaper.";
}

/*
 * One line for the whole call, which may be one of many in a script.  It is identical to that of
 * the server's log, so that either is complete.
 */
static void
report_moved(const TierMoveCall *call, const Moved *moved, int failed, char *time)
{
	const char *detail = one_device_text(call, moved);

	if (moved->relations > 0 && tier_log_moves)
		ereport(NOTICE,
				(errmsg("moved %s%s from %s to %s: %s in %s, locked for %s%.3f ms",
						moved->first,
						moved->relations == 1 ? "" :
						psprintf(" and %d more", moved->relations - 1),
						place_text(moved->from_oid), place_text(moved->to_oid),
						tier_size_text(moved->bytes),
						time, moved->relations == 1 ? "" : "at most ", moved->lock_held_ms),
				 detail == NULL ? 0 : errdetail("%s", detail)));
	if (moved->relations == 0 && failed == 0)
		ereport(NOTICE, (errmsg("nothing is moved: %s", tier_call_nothing_text(call))));
}

/* For relations that were added concurrently, and invalid indexes. */
static void
warn_left(const TierMoveReport *report)
{
	ereport(WARNING,
			(errmsg("%s stays where it is: %s", report->relation_name, report->why.message),
			 report->why.hint ? errhint("%s", report->why.hint) : 0));
}

static void
warn_detaching(const TierMoveCall *call)
{
	ListCell   *cell;

	if (call->info.kind != RELKIND_PARTITIONED_TABLE)
		return;
	foreach(cell, tier_relation_detaching(call->info.relation_oid))
	{
		TierRelationInfo info;

		if (tier_relation_lookup(lfirst_oid(cell), &info))
			ereport(WARNING,
					(errmsg("%s stays where it is: it is being detached", info.name),
					 errhint("If that was interrupted, complete it with "
							 "ALTER TABLE ... DETACH PARTITION %s FINALIZE.", info.name)));
	}
}

/* A requested move is made, but its wear is reported. */
static void
tell_wear(const TierMoveCall *call)
{
	const TierForesight *foresight = tier_foresight_create(call->set);
	List	   *to_tablespaces = NIL;
	ListCell   *cell;

	foreach(cell, call->relations)
	{
		TierRelationInfo member;
		TierMoveRequest request;

		CHECK_FOR_INTERRUPTS();
		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		request = tier_call_request(call, &member, foresight);
		if (tier_move_is_needed(request.relation_oid, request.tablespace_oid))
			to_tablespaces = list_append_unique_oid(to_tablespaces, request.tablespace_oid);
	}
	tier_wear_tell(call->set, to_tablespaces);
}

/*
 * Reports, relation by relation, the moves that a call would make that is not refused as a whole.
 */
static void
announce_call(const TierMoveCall *call)
{
	TierForesight *foresight = tier_foresight_create(call->set);
	TierMoveCounts counts = {0};
	Moved		moved = {0};
	ListCell   *cell;

	foreach(cell, call->relations)
	{
		TierRelationInfo member;
		TierMoveRequest request;

		CHECK_FOR_INTERRUPTS();
		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		request = tier_call_request(call, &member, foresight);
		if (!tier_move_is_needed(request.relation_oid, request.tablespace_oid))
			continue;
		tier_foresee(foresight, &request, call->pins, &counts);
		add_moved(&moved, &member, request.tablespace_oid, 0);
	}
	if (counts.moved == 0 && counts.not_moved == 0)
		ereport(NOTICE, (errmsg("nothing would be moved: %s", tier_call_nothing_text(call))));
	else
		tier_foresee_report(&counts, one_device_text(call, &moved));
}

/* A call, and the results of its relations. */
typedef struct Series
{
	TierMoveCall call;
	Moved		moved;
	int			failed;
	TierMoveReport first_failure;
	List	   *tried;
	bool		is_over;		/* the extension has gone */
} Series;

/* The ones of the list; one that fails does not stop the others. */
static void
move_these(Series *series, const List *todo)
{
	ListCell   *cell;

	foreach(cell, todo)
	{
		TierRelationInfo member;
		TierMoveRequest request;
		TierMoveReport report;

		series->is_over = !tier_batch_may_go_on(false);
		if (series->is_over)
			return;
		series->tried = lappend_oid(series->tried, lfirst_oid(cell));
		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		request = tier_call_request(&series->call, &member, NULL);
		tier_pending_expect(list_length(todo) - 1 - foreach_current_index(cell));
		report = tier_move_one(&request);
		if (report.state == TIER_STATE_DONE)
		{
			add_moved(&series->moved, &member, request.tablespace_oid, report.size_bytes);
			series->moved.lock_held_ms = Max(series->moved.lock_held_ms, report.lock_held_ms);
		}
		if (report.state != TIER_STATE_SKIPPED && report.state != TIER_STATE_FAILED)
			continue;
		if (todo != series->call.relations)
			warn_left(&report);
		else if (series->failed++ == 0)
			series->first_failure = report;
	}
}

/* Moves the relations of the call; then those added concurrently, until nothing is left. */
static void
move_all(void *argument)
{
	Series	   *series = argument;
	const List *asked = series->call.relations;
	MemoryContext context = CurrentMemoryContext;

	for (const List *todo = asked; todo != NIL && !series->is_over;
		 todo = list_length(series->tried) < MOST_RELATIONS * list_length(asked) ?
		 tier_call_left(&series->call, series->tried) : NIL)
		move_these(series, todo);
	tier_pending_unregister_spares();
	tier_transaction_commit_async();
	MemoryContextSwitchTo(context);
}

Datum
tier_move_relation(PG_FUNCTION_ARGS)
{
	Series		series = {0};
	TierMoveCall *call = &series.call;
	int64		started_us = tier_clock_monotonic_us();
	double		waited_ms = tier_progress_waited_ms();

	tier_require_argument(fcinfo, 5, "dry_run");
	if (!PG_GETARG_BOOL(5))
		tier_connect_nonatomic(fcinfo, "CALL tiered_storage.move_relation");

	/* 1. Read the call.  Refuse it before anything is moved. */
	tier_call_read(fcinfo, call);
	tier_call_check(call);
	tier_call_notice_inheritors(call);
	tell_wear(call);
	if (PG_GETARG_BOOL(5))
	{
		announce_call(call);
		PG_RETURN_NULL();
	}
	tier_transaction_commit();
	tier_pending_sweep();
	tier_transaction_commit();

	/* 2. One after the other. */
	tier_batch_run(move_all, &series);
	warn_detaching(call);

	/*
	 * 3. All moves that succeeded are committed; report them, and the
	 * failures.
	 */
	if (!series.is_over || series.moved.relations > 0)
		report_moved(call, &series.moved, series.failed,
					 tier_progress_time_text((tier_clock_monotonic_us() - started_us) / 1000.0,
											 tier_progress_waited_ms() - waited_ms));
	if (series.moved.relations > 0)
		tier_policy_warn_due(series.moved.first_oid, call->set, call->pins);
	if (series.failed > 0)
		report_failures(&series.first_failure, series.failed,
						list_length(call->relations));
	tier_disconnect_nonatomic();
	PG_RETURN_NULL();
}

#define ENABLE_HINT \
	"SELECT tiered_storage.alter_policy(policy_id => ..., enabled => true) enables one."
#define EVALUATE_HINT \
	"SELECT * FROM tiered_storage.evaluate_policies() says why not, for each."

/* hint: NULL: none. */
static void
say(const char *message, const char *hint)
{
	ereport(NOTICE,
			(errmsg_internal("%s", message), hint == NULL ? 0 : errhint("%s", hint)));
}

/* Why moves wait, and the call that does not wait. */
static int
errdetail_waiting(const char *why)
{
	errdetail("%c%s.", pg_toupper((unsigned char) why[0]), why + 1);
	return errhint("CALL tiered_storage.migrate(ignore_windows => true) does not wait.");
}

/* Reports the moves that auto_migrate = placement has added to those of the policies. */
static void
report_placement(const TierRunSummary *summary, bool dry_run)
{
	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
		return;
	if (!summary->placement)
		say("no recommendation is applied: tiered_storage.move_limit_per_day is used up", NULL);
	else if (summary->placement_waits)
		ereport(NOTICE,
				(errmsg("no recommendation is applied now"),
				 errdetail_waiting(summary->applied.why_waiting)));
	else if (summary->applied.is_busy)
		say("no recommendation is applied: another batch of moves is running in this database",
			NULL);
	else if (dry_run)
		ereport(NOTICE,
				(errmsg("recommended moves: %d", summary->applied.advised),
				 tier_apply_others_detail(&summary->applied)));
	else
		tier_apply_report(&summary->applied);
}

/* Why nothing is due; false if something is. */
static bool
report_not_due(const TierRunSummary *summary)
{
	int			enabled = summary->policies - summary->disabled;

	if (summary->due > 0)
		return false;
	if (summary->policies == 0 && (tier_auto_migrate == TIER_AUTO_MIGRATE_PLACEMENT ||
								   summary->emptied.policies + summary->emptied.disabled > 0))
		return true;			/* no worker is expected to run */
	if (enabled == 0 && summary->emptied.policies > 0)
		return true;			/* others are at work */
	if (summary->policies == 0)
		say("nothing is due: there is no tiering policy",
			"Add one with tiered_storage.add_tiering_policy(), "
			"or CALL tiered_storage.apply_placement() for recommended moves.");
	else if (enabled == 0)
		say("nothing is due: all tiering policies are disabled", ENABLE_HINT);
	else if (summary->failed == enabled)
		say("nothing is due: no tiering policy can be evaluated", EVALUATE_HINT);
	else
		say(psprintf("nothing is due; tiering policies: %d, their partitions: %d", enabled,
					 summary->partitions), summary->failed == 0 ? EVALUATE_HINT :
			psprintf("%d of the policies cannot be evaluated; "
					 "see the view tiered_storage.policies.", summary->failed));
	return true;
}

/* Reports the moves that are not made now; for advice, perhaps nothing was checked. */
static void
report_waiting(const TierRunSummary *summary)
{
	int			waiting = summary->counts.waiting + summary->emptied.counts.waiting +
	summary->applied.counts.waiting;

	if (waiting == 0)
		return;
	ereport(NOTICE,
			(errmsg_plural("%d relation is not moved now", "%d relations are not moved now",
						   waiting, waiting),
			 errdetail_waiting(summary->why_waiting)));
}

/* Reports the moves that fullness policies have added. */
static void
report_emptied(const TierFullnessSummary *emptied, bool dry_run)
{
	if (emptied->policies == 0 && emptied->disabled == 0)
		return;
	if (emptied->policies == 0)
		say("no tier is emptied: all fullness policies are disabled", ENABLE_HINT);
	else if (emptied->failed == emptied->policies)
		say("no tier is emptied: no fullness policy can be evaluated", EVALUATE_HINT);
	else if (emptied->too_full == 0)
		say(psprintf("no tier is too full; fullness policies: %d", emptied->policies),
			emptied->failed == 0 ? NULL :
			psprintf("%d of them cannot be evaluated; see the view tiered_storage.policies.",
					 emptied->failed));
	else if (dry_run)
		say(psprintf("tiers that are too full: %d; relations that have to leave: %d",
					 emptied->too_full, emptied->leaving), NULL);
	else
		say(psprintf("tiers that were too full: %d; relations moved: %d, not moved: %d",
					 emptied->too_full, emptied->counts.moved, emptied->counts.not_moved),
			emptied->counts.moved == 0 ? EVALUATE_HINT :
			psprintf("To move them back, disable the policy, "
					 "then CALL tiered_storage.undo_move(" INT64_FORMAT ").",
					 emptied->counts.batch_id));
}

Datum
tier_migrate(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierPlanOptions options = {0};
	TierRunSummary summary;
	TierPolicyKind kind;
	char	   *policies;
	int			npolicies = 0;

	tier_require_argument(fcinfo, 0, "dry_run");
	tier_require_argument(fcinfo, 1, "ignore_windows");
	options.ignore_windows = PG_GETARG_BOOL(1);
	if (PG_GETARG_BOOL(0))
	{
		summary = tier_run_dry(&options);
		if (!report_not_due(&summary))
			ereport(NOTICE,
					(errmsg_plural("%d partition is due; relations that would be moved: %d (%s)",
								   "%d partitions are due; relations that would be moved: %d (%s)",
								   summary.due, summary.due, summary.due_relations,
								   tier_size_text(summary.due_bytes))));
		report_emptied(&summary.emptied, true);
		report_placement(&summary, true);
		PG_RETURN_NULL();
	}
	tier_connect_nonatomic(fcinfo, "CALL tiered_storage.migrate");
	summary = tier_run(&options, NULL);
	report_waiting(&summary);

	/* The results of the run are freed with the connection. */
	if (summary.applied.why_waiting != NULL)
		summary.applied.why_waiting = MemoryContextStrdup(context, summary.applied.why_waiting);
	tier_disconnect_nonatomic();
	policies = summary.counts.moved == 0 ? NULL :
		tier_batch_policies(summary.counts.batch_id, &npolicies, &kind);
	if (!report_not_due(&summary))
		ereport(NOTICE,
				(errmsg("partitions due: %d; relations moved: %d, not moved: %d%s",
						summary.due, summary.counts.moved, summary.counts.not_moved,
						summary.no_longer_due == 0 ? "" :
						psprintf(", no longer due: %d", summary.no_longer_due)),
				 summary.counts.moved == 0 ? 0 :
				 errhint("To move them back, %s%s, "
						 "then CALL tiered_storage.undo_move(" INT64_FORMAT ").",
						 npolicies > 1 ? "disable policies " : "disable the policy",
						 npolicies > 1 ? policies : "",
						 summary.counts.batch_id)));
	report_emptied(&summary.emptied, false);
	report_placement(&summary, false);
	PG_RETURN_NULL();
}

Datum
tier_mover_progress(PG_FUNCTION_ARGS)
{
	int64		fields[TIER_PROGRESS_FIELDS];
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	if (PG_ARGISNULL(0) || !tier_progress_read(PG_GETARG_INT32(0), fields))
		return (Datum) 0;
	tier_row_clear(&row);
	tier_row_text(&row, 0, tier_progress_phase_name((TierPhase) fields[TIER_PROGRESS_PHASE]));
	tier_row_datum(&row, 1, Int64GetDatum(fields[TIER_PROGRESS_BLOCKS_TOTAL]));
	tier_row_datum(&row, 2, Int64GetDatum(fields[TIER_PROGRESS_BLOCKS_DONE]));
	tier_row_datum(&row, 3, Int64GetDatum(fields[TIER_PROGRESS_BYTES_COPIED]));
	tier_row_datum(&row, 4, Int32GetDatum((int32) fields[TIER_PROGRESS_ROUNDS]));
	tier_row_datum(&row, 5, Int32GetDatum((int32) fields[TIER_PROGRESS_ATTEMPTS]));
	tier_row_datum(&row, 6, Int32GetDatum((int32) fields[TIER_PROGRESS_RESTARTS]));
	tier_row_time(&row, 7, (TimestampTz) fields[TIER_PROGRESS_STARTED]);
	tier_row_text(&row, 8, tier_progress_waits_for((TierPhase) fields[TIER_PROGRESS_PHASE]));
	if (fields[TIER_PROGRESS_PACE] > 0)
		tier_row_datum(&row, 9, Float8GetDatum((double) fields[TIER_PROGRESS_PACE]));
	if (fields[TIER_PROGRESS_PACE] > 0 && fields[TIER_PROGRESS_SLOWDOWN] >= 0)
		tier_row_datum(&row, 10, Float8GetDatum(fields[TIER_PROGRESS_SLOWDOWN] / 1000.0));
	tier_row_put(&row);
	return (Datum) 0;
}

Datum
tier_effect_verdict(PG_FUNCTION_ARGS)
{
	double		predicted_saved = PG_ARGISNULL(0) ? NAN : PG_GETARG_FLOAT8(0);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		TierEffectVerdict verdict = tier_effect_judge(predicted_saved, PG_GETARG_FLOAT8(1),
													  PG_GETARG_FLOAT8(2));

		PG_RETURN_TEXT_P(cstring_to_text(tier_effect_text(verdict)));
	}
	PG_RETURN_TEXT_P(cstring_to_text("not measured yet"));
}
