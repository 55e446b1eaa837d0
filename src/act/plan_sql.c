/*-------------------------------------------------------------------------
 *
 * act/plan_sql.c
 *		The plan as rows: what is stored, with what holds at this moment; and made anew.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "commands/tablespace.h"
#include "fmgr.h"
#include "utils/timestamp.h"

#include "src/act/gate.h"
#include "src/act/plan.h"
#include "src/base/by_oid.h"
#include "src/base/sql.h"
#include "src/move/progress.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"

PG_FUNCTION_INFO_V1(tier_stored_plan);
PG_FUNCTION_INFO_V1(tier_made_plan);

/* What holds at this moment, and is no part of the plan. */
typedef struct Moment
{
	TierFailedMove *failed;		/* by OID */
	int			nfailed;
	TierRunningMove *running;
	int			nrunning;
	bool		worker_moves;
	const char *worker_text;
} Moment;

/* In the current memory context. */
static void
load_moment(Moment *moment)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	tier_catalog_enter(&scope);
	moment->failed = tier_catalog_load_failed_moves(context, &moment->nfailed);
	moment->running = tier_catalog_load_running_moves(context, &moment->nrunning);
	tier_catalog_leave(&scope);
	moment->worker_text = tier_gate_worker_text(&moment->worker_moves);
	if (!moment->worker_moves)
		moment->worker_text = psprintf("waiting for CALL tiered_storage.migrate(): %s",
									   moment->worker_text);
}

/* A move of the plan as it is shown. */
typedef struct Shown
{
	TierStoredMove move;
	double		bytes;
	TierPlanState state;
	const char *reason;
	int			failures;
	TimestampTz next_attempt_at;
	const char *last_error;
} Shown;

static void
put_name(TierResultRow *row, int column, const char *name)
{
	if (name != NULL)
		tier_row_name(row, column, name);
}

static void
put_move(TierResultRow *row, const Shown *shown, int place)
{
	const TierStoredMove *move = &shown->move;
	static const char *const sources[] = {
		[TIER_SOURCE_AGE] = "age",
		[TIER_SOURCE_USE] = "use",
		[TIER_SOURCE_RETURN] = "return",
		[TIER_SOURCE_FULLNESS] = "fullness",
		[TIER_SOURCE_ADVICE] = "advice",
		[TIER_SOURCE_REQUEST] = "request",
	};
	static const char *const states[] = {
		[TIER_PLAN_RUNNING] = "running",
		[TIER_PLAN_READY] = "ready",
		[TIER_PLAN_WAITING] = "waiting",
		[TIER_PLAN_FAILED] = "failed",
	};

	tier_row_clear(row);
	tier_row_datum(row, 0, Int32GetDatum(place));
	tier_row_datum(row, 1, ObjectIdGetDatum(move->relation_oid));
	put_name(row, 2, move->from_tier);
	put_name(row, 3, move->to_tier);
	put_name(row, 4, get_tablespace_name(move->from_tablespace_oid));
	if (OidIsValid(move->to_tablespace_oid))
		put_name(row, 5, get_tablespace_name(move->to_tablespace_oid));
	tier_row_datum(row, 6, Int64GetDatum((int64) shown->bytes));
	tier_row_text(row, 7, sources[move->source]);
	if (move->policy_id != 0)
		tier_row_datum(row, 8, Int32GetDatum(move->policy_id));
	tier_row_text(row, 9, states[shown->state]);
	tier_row_text(row, 10, shown->reason);
	tier_row_datum(row, 11, Int32GetDatum(shown->failures));
	tier_row_time(row, 12, shown->next_attempt_at);
	tier_row_text(row, 13, shown->last_error);
	tier_row_time(row, 14, move->planned_at);
	tier_row_put(row);
}

/* How far it is, and what it waits for. */
static const char *
running_text(const TierRunningMove *move)
{
	bool		is_waiting = strcmp(move->phase,
									tier_progress_phase_name(TIER_PHASE_WAITING)) == 0;
	char	   *waits_for = is_waiting ? tier_progress_waits_for(TIER_PHASE_WAITING) : NULL;

	if (waits_for != NULL)
		return move->blocks == NULL ? psprintf("waiting: %s", waits_for) :
			psprintf("waiting: %s; %s", waits_for, move->blocks);
	return move->blocks == NULL ? move->phase : psprintf("%s: %s", move->phase, move->blocks);
}

static TierPlanSource
source_of(const TierRunningMove *move)
{
	if (move->policy_id == 0)
		return move->is_advised ? TIER_SOURCE_ADVICE : TIER_SOURCE_REQUEST;
	return move->policy_kind == TIER_POLICY_FULLNESS ? TIER_SOURCE_FULLNESS : TIER_SOURCE_AGE;
}

/* Returns how many. */
static int
put_running(TierResultRow *row, const Moment *moment)
{
	const TierSet *set = moment->nrunning == 0 ? NULL : tier_catalog_tiers_now();

	if (set == NULL)
		return 0;
	for (int i = 0; i < moment->nrunning; i++)
	{
		const TierRunningMove *move = &moment->running[i];
		int			from = tier_set_tier_of_tablespace(set, move->from_tablespace_oid);
		int			to = tier_set_tier_of_tablespace(set, move->to_tablespace_oid);
		const Shown shown = {
			.move = {
				.relation_oid = move->relation_oid,
				.from_tablespace_oid = move->from_tablespace_oid,
				.to_tablespace_oid = move->to_tablespace_oid,
				.from_tier = tier_set_tier_name(set, from),
				.to_tier = tier_set_tier_name(set, to),
				.source = source_of(move),
				.policy_id = move->policy_id
			},
			.bytes = move->bytes,
			.state = TIER_PLAN_RUNNING,
			.reason = running_text(move),
			.failures = move->failures
		};

		put_move(row, &shown, i + 1);
	}
	return moment->nrunning;
}

static const char *
failed_text(const Shown *shown)
{
	const char *error = shown->last_error == NULL ? "" : psprintf(": %s", shown->last_error);
	const char *at = timestamptz_to_str(shown->next_attempt_at);

	if (shown->failures == 0)
		return psprintf("next attempt at %s%s", at, error);
	return psprintf("next attempt at %s after %d failure%s%s", at, shown->failures,
					shown->failures == 1 ? "" : "s", error);
}

static bool
is_running(const Moment *moment, Oid relation_oid)
{
	for (int i = 0; i < moment->nrunning; i++)
		if (moment->running[i].relation_oid == relation_oid)
			return true;
	return false;
}

/* What depends on the worker, the clock and a pause. */
static void
add_moment(const Moment *moment, Shown *shown)
{
	const TierFailedMove *failed = tier_by_oid_find(shown->move.relation_oid, moment->failed,
													moment->nfailed, sizeof(TierFailedMove));
	bool		backs_off = failed != NULL && failed->backs_off && shown->reason == NULL;

	if (failed != NULL)
	{
		shown->failures = failed->failures;
		shown->last_error = failed->error;
	}
	if (tier_throttle_is_paused())
		shown->reason = "waiting: moves are paused, see resume()";
	else if (shown->reason == NULL && !moment->worker_moves)
		shown->reason = moment->worker_text;
	else if (backs_off)
	{
		shown->state = TIER_PLAN_FAILED;
		shown->next_attempt_at = failed->next_attempt_at;
		shown->reason = failed_text(shown);
		return;
	}
	shown->state = shown->reason == NULL ? TIER_PLAN_READY : TIER_PLAN_WAITING;
	if (shown->reason == NULL)
		shown->reason = moment->worker_text;
}

/* Without what has gone, or has been moved since, or is about to be; what runs comes first. */
static void
put_moves(TierResultRow *row, const TierStoredMove *moves, int n)
{
	Moment		moment = {0};
	int			place;

	load_moment(&moment);
	place = put_running(row, &moment);
	for (int i = 0; i < n; i++)
	{
		Shown		shown = {.move = moves[i],.reason = moves[i].waits_for};
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		if (is_running(&moment, moves[i].relation_oid) ||
			!tier_relation_lookup(moves[i].relation_oid, &info) ||
			info.tablespace_oid != moves[i].from_tablespace_oid)
			continue;
		shown.bytes = (double) tier_relation_disk_bytes(&info);
		add_moment(&moment, &shown);
		put_move(row, &shown, ++place);
	}
}

/* For tests, and for who cannot wait for the worker: the plan as it is made at this moment. */
Datum
tier_made_plan(PG_FUNCTION_ARGS)
{
	const TierPlanOptions options = {.by_worker = true};
	TierCatalogScope scope;
	TierStoredMove *moves;
	TierResultRow row;
	int			n;

	tier_result_start(fcinfo, &row);
	tier_catalog_enter(&scope); /* an error if the extension has gone */
	tier_catalog_leave(&scope);
	moves = tier_plan_moves(tier_plan_make(&options), &n);
	put_moves(&row, moves, n);
	return (Datum) 0;
}

Datum
tier_stored_plan(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierStoredMove *moves;
	TierResultRow row;
	int			n;

	tier_result_start(fcinfo, &row);
	tier_catalog_enter(&scope);
	moves = tier_catalog_load_plan(context, &n);
	tier_catalog_leave(&scope);
	put_moves(&row, moves, n);
	return (Datum) 0;
}
