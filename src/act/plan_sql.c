/*-------------------------------------------------------------------------
 *
 * act/plan_sql.c
 *		The plan as rows, made at this moment; and when the worker makes the next one.
 *
 * How a plan is shown, with what holds at the moment, is in src/sql/64_move_queue.sql.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "src/act/gate.h"
#include "src/act/plan.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_made_plan);
PG_FUNCTION_INFO_V1(tier_worker_plans);

/* Rows of the table that stores it; a time has the view. */
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
	for (int i = 0; i < n; i++)
	{
		tier_row_clear(&row);
		tier_row_datum(&row, 0, ObjectIdGetDatum(moves[i].relation_oid));
		tier_row_datum(&row, 1, Int32GetDatum(i + 1));
		tier_row_datum(&row, 2, ObjectIdGetDatum(moves[i].from_tablespace_oid));
		tier_row_datum(&row, 3, ObjectIdGetDatum(moves[i].to_tablespace_oid));
		tier_row_text(&row, 4, moves[i].from_tier);
		tier_row_text(&row, 5, moves[i].to_tier);
		tier_row_datum(&row, 6, Int32GetDatum(moves[i].source));
		tier_row_datum(&row, 7, Int32GetDatum(moves[i].policy_id));
		tier_row_text(&row, 8, moves[i].waits_for);
		tier_row_put(&row);
	}
	return (Datum) 0;
}

Datum
tier_worker_plans(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	bool		moves;

	tier_result_start(fcinfo, &row);
	tier_row_clear(&row);
	tier_row_text(&row, 1, tier_gate_worker_text(&moves));
	tier_row_datum(&row, 0, BoolGetDatum(moves));
	tier_row_put(&row);
	return (Datum) 0;
}
