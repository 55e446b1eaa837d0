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
#include "utils/builtins.h"
#include "utils/snapmgr.h"
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

static void
put_name(TierResultRow *row, int column, const char *name)
{
	if (name != NULL)
		tier_row_name(row, column, name);
}

static void
put_entry(TierResultRow *row, const TierPlanEntry *entry, int place)
{
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
	tier_row_datum(row, 1, ObjectIdGetDatum(entry->relation_oid));
	put_name(row, 2, entry->from_tier);
	put_name(row, 3, entry->to_tier);
	put_name(row, 4, get_tablespace_name(entry->from_tablespace_oid));
	if (OidIsValid(entry->to_tablespace_oid))
		put_name(row, 5, get_tablespace_name(entry->to_tablespace_oid));
	tier_row_datum(row, 6, Int64GetDatum((int64) entry->bytes));
	tier_row_text(row, 7, sources[entry->source]);
	if (entry->policy_id != 0)
		tier_row_datum(row, 8, Int32GetDatum(entry->policy_id));
	tier_row_text(row, 9, states[entry->state]);
	tier_row_text(row, 10, entry->reason);
	tier_row_datum(row, 11, Int32GetDatum(entry->failures));
	tier_row_time(row, 12, entry->next_attempt_at);
	tier_row_text(row, 13, entry->last_error);
	tier_row_time(row, 14, entry->planned_at);
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

static const char *
tier_of(const TierSet *set, Oid tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(set, tablespace_oid);

	return tier < 0 ? NULL : NameStr(set->tiers[tier].name);
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
		const TierPlanEntry entry = {
			.relation_oid = move->relation_oid,
			.from_tablespace_oid = move->from_tablespace_oid,
			.to_tablespace_oid = move->to_tablespace_oid,
			.from_tier = tier_of(set, move->from_tablespace_oid),
			.to_tier = tier_of(set, move->to_tablespace_oid),
			.bytes = move->bytes,
			.source = source_of(move),
			.policy_id = move->policy_id,
			.state = TIER_PLAN_RUNNING,
			.reason = running_text(move),
			.failures = move->failures
		};

		put_entry(row, &entry, i + 1);
	}
	return moment->nrunning;
}

static const char *
failed_text(const TierPlanEntry *entry)
{
	const char *error = entry->last_error == NULL ? "" : psprintf(": %s", entry->last_error);
	const char *at = timestamptz_to_str(entry->next_attempt_at);

	if (entry->failures == 0)
		return psprintf("next attempt at %s%s", at, error);
	return psprintf("next attempt at %s after %d failure%s%s", at, entry->failures,
					entry->failures == 1 ? "" : "s", error);
}

/* What depends on the worker and the clock. */
static void
complete_entry(const Moment *moment, TierPlanEntry *entry)
{
	if (entry->state == TIER_PLAN_FAILED)
		entry->reason = failed_text(entry);
	if (entry->state == TIER_PLAN_WAITING)
		return;
	if (!moment->worker_moves)
	{
		entry->state = TIER_PLAN_WAITING;
		entry->next_attempt_at = 0;
	}
	if (!moment->worker_moves || entry->state == TIER_PLAN_READY)
		entry->reason = moment->worker_text;
}

/* For tests, and for who cannot wait for the worker: the plan as it is made at this moment. */
Datum
tier_made_plan(PG_FUNCTION_ARGS)
{
	const TierPlanOptions options = {.by_worker = true};
	Moment		moment = {0};
	TierCatalogScope scope;
	TierResultRow row;
	TierPlan   *plan;
	int			place;

	tier_result_start(fcinfo, &row);
	tier_catalog_enter(&scope); /* an error if the extension has gone */
	tier_catalog_leave(&scope);
	plan = tier_plan_make(&options);
	load_moment(&moment);
	place = put_running(&row, &moment);
	for (int i = 0; i < plan->n; i++)
	{
		TierPlanEntry *entry = &plan->entries[i];

		if (entry->is_void || entry->state == TIER_PLAN_RUNNING)
			continue;
		complete_entry(&moment, entry);
		put_entry(&row, entry, ++place);
	}
	return (Datum) 0;
}

static bool
is_running(const Moment *moment, Oid relation_oid)
{
	for (int i = 0; i < moment->nrunning; i++)
		if (moment->running[i].relation_oid == relation_oid)
			return true;
	return false;
}

/* False: it has gone, or has been moved since, or is about to be. */
static bool
read_stored(const Moment *moment, const TierStoredMove *move, TierPlanEntry *entry)
{
	const TierFailedMove *failed = tier_by_oid_find(move->relation_oid, moment->failed,
													moment->nfailed, sizeof(TierFailedMove));
	TierRelationInfo info;

	if (is_running(moment, move->relation_oid) ||
		!tier_relation_lookup(move->relation_oid, &info) ||
		info.tablespace_oid != move->from_tablespace_oid)
		return false;
	*entry = (TierPlanEntry)
	{
		.relation_oid = move->relation_oid,
			.from_tablespace_oid = move->from_tablespace_oid,
			.to_tablespace_oid = move->to_tablespace_oid,
			.from_tier = move->from_tier,.to_tier = move->to_tier,
			.bytes = (double) tier_relation_disk_bytes(&info),
			.source = (TierPlanSource) move->source,.policy_id = move->policy_id,
			.state = move->waits_for == NULL ? TIER_PLAN_READY : TIER_PLAN_WAITING,
			.reason = move->waits_for,.planned_at = move->planned_at
	};
	if (failed != NULL)
	{
		entry->failures = failed->failures;
		entry->last_error = failed->error;
		if (failed->backs_off && entry->state == TIER_PLAN_READY)
		{
			entry->state = TIER_PLAN_FAILED;
			entry->next_attempt_at = failed->next_attempt_at;
		}
	}
	if (tier_throttle_is_paused())
	{
		entry->state = TIER_PLAN_WAITING;
		entry->next_attempt_at = 0;
		entry->reason = "waiting: moves are paused, see resume()";
	}
	return true;
}

Datum
tier_stored_plan(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	Moment		moment = {0};
	TierCatalogScope scope;
	TierStoredMove *moves;
	TierResultRow row;
	int			place;
	int			n;

	tier_result_start(fcinfo, &row);
	tier_catalog_enter(&scope);
	moves = tier_catalog_load_plan(context, &n);
	tier_catalog_leave(&scope);
	load_moment(&moment);
	place = put_running(&row, &moment);
	for (int i = 0; i < n; i++)
	{
		TierPlanEntry entry;

		CHECK_FOR_INTERRUPTS();
		if (!read_stored(&moment, &moves[i], &entry))
			continue;
		complete_entry(&moment, &entry);
		put_entry(&row, &entry, ++place);
	}
	return (Datum) 0;
}
