/*-------------------------------------------------------------------------
 *
 * decide/explain_sql.c
 *		explain_tiers(), and EXPLAIN (TIERS) where the server has options of extensions.
 *
 * SQL computes the price of the reads, for both.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/refuse.h"
#include "src/decide/explain_plan.h"

PG_FUNCTION_INFO_V1(tier_plan_reads);

static void
put_statement(TierExplained *explained, PlannedStmt *planned, const char *statement)
{
	QueryDesc  *query;

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	query = CreateQueryDesc(planned, statement, GetActiveSnapshot(), InvalidSnapshot,
							None_Receiver, NULL, NULL,
							explained->executed ? INSTRUMENT_BUFFERS : 0);
	tier_explain_count(explained, false);
	ExecutorStart(query, explained->executed ? 0 : EXEC_FLAG_EXPLAIN_ONLY);
	if (explained->executed)
	{
		tier_compat_executor_run(query);
		ExecutorFinish(query);
	}
	tier_explain_count(explained, true);
	tier_explain_put(explained, query->planstate);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	PopActiveSnapshot();
	CommandCounterIncrement();
}

/* Refuses anything but one statement that is planned; rules may make several plans of it. */
static void
put_query(TierExplained *explained, const char *statement)
{
	SPIPlanPtr	prepared;
	CachedPlan *plan;
	bool		is_planned;
	ListCell   *cell;

	(void) SPI_connect();
	prepared = SPI_prepare_cursor(statement, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	plan = prepared == NULL ? NULL : SPI_plan_get_cached_plan(prepared);
	is_planned = plan != NULL && plan->stmt_list != NIL;
	foreach(cell, is_planned ? plan->stmt_list : NIL)
		is_planned &= lfirst_node(PlannedStmt, cell)->commandType != CMD_UTILITY;
	if (!is_planned)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("explain_tiers() requires a single statement that can be planned"),
				 errhint("Pass a SELECT, INSERT, UPDATE, DELETE or MERGE, without EXPLAIN "
						 "or EXECUTE.")));
	tier_explained = NULL;
	foreach(cell, plan->stmt_list)
		put_statement(explained, lfirst_node(PlannedStmt, cell), statement);
	ReleaseCachedPlan(plan, NULL);
	(void) SPI_finish();
	if (!explained->is_measured)
		ereport(NOTICE,
				(explained->executed ? errmsg("reads of devices were not measured") :
				 errmsg("the blocks are the planner's estimates"),
				 errdetail("Of the blocks of each tier, the share observed so far is "
						   "assumed to come from devices, or %s where none was observed.",
						   explained->executed ? "all" : "10 %")));
}

/* _tiered_storage.plan_reads(query, executed); query null: of what EXPLAIN shows. */
static Datum
plan_reads(PG_FUNCTION_ARGS)
{
	TierExplained *explained = tier_explained;

	if (explained == NULL || explained->top == NULL)
		tier_require_argument(fcinfo, 0, "query");
	tier_require_argument(fcinfo, 1, "analyze");
	if (!PG_ARGISNULL(0))
		explained = tier_explain_begin();
	explained->executed = PG_GETARG_BOOL(1);
	tier_result_start(fcinfo, &explained->row);
	if (PG_ARGISNULL(0))
		tier_explain_put(explained, explained->top);
	else
		put_query(explained, text_to_cstring(PG_GETARG_TEXT_PP(0)));
	return (Datum) 0;
}

Datum
tier_plan_reads(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(plan_reads, fcinfo);
}

#if TIER_COMPAT_HAS_EXPLAIN_OPTIONS

#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"

/* ---------------------------------------------------------------------
 * EXPLAIN (TIERS)
 * ---------------------------------------------------------------------
 */

#define ROW_COLUMNS 7

static int	extension_id;
static explain_per_node_hook_type previous_node_hook = NULL;
static explain_per_plan_hook_type previous_plan_hook = NULL;

static void
begin_option(ExplainState * es, DefElem *option, ParseState *pstate)
{
	TierExplained *explained = NULL;

	if (defGetBoolean(option))
	{
		(void) get_extension_oid("tiered_storage", false);
		ResetPlanCache();		/* a cached plan is made anew, and noted */
		explained = tier_explain_begin();
	}
	SetExplainExtensionState(es, extension_id, explained);
}

/* With the caller's search_path, so that no name in it can be another's. */
static void
price(TierExplained *explained, PlanState *top, bool executed)
{
	tier_explain_count(explained, true);
	explained->planned = NULL;
	explained->top = top;
	explained->shown = NIL;
	tier_explained = explained;
	(void) SPI_connect();
	(void) SPI_execute(psprintf("SELECT node_id, CASE WHEN supposed THEN 'Supposed Tier' ELSE "
								"'Tier' END, tier, relation, random_reads, "
								"sequential_reads, device_ms FROM "
								"_tiered_storage.priced_plan(NULL, '%d')", executed), true, 0);
	MemoryContextSwitchTo(explained->context);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char	  **row = palloc(sizeof(char *) * ROW_COLUMNS);

		for (int j = 0; j < ROW_COLUMNS; j++)
			row[j] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, j + 1);
		row[2] = row[2] == NULL ? "-" : row[2];
		explained->shown = lappend(explained->shown, row);
	}
	(void) SPI_finish();
	explained->top = NULL;
}

/* Of a node; -1, which none has: the sums. */
static void
show(const TierExplained *explained, int node_id, ExplainState * es)
{
	ListCell   *cell;

	ExplainOpenGroup("Tiers", "Tiers", false, es);
	foreach(cell, explained->shown)
	{
		char	  **row = lfirst(cell);

		if (atoi(row[0]) != node_id)
			continue;
		if (es->format == EXPLAIN_FORMAT_TEXT)
		{
			ExplainIndentText(es);
			appendStringInfo(es->str, "%s: %s (%s) random=%s sequential=%s device time=%s ms\n",
							 row[1], row[2], row[3] == NULL ? "sum" : row[3], row[4], row[5],
							 row[6] == NULL ? "?" : row[6]);
			continue;
		}
		ExplainOpenGroup("Tier", NULL, true, es);
		ExplainPropertyText(row[1], row[2], es);
		if (row[3] != NULL)
			ExplainPropertyText("Relation", row[3], es);
		ExplainPropertyFloat("Random Reads", NULL, atof(row[4]), 3, es);
		ExplainPropertyFloat("Sequential Reads", NULL, atof(row[5]), 3, es);
		if (row[6] != NULL)
			ExplainPropertyFloat("Device Time", "ms", atof(row[6]), 3, es);
		ExplainCloseGroup("Tier", NULL, true, es);
	}
	ExplainCloseGroup("Tiers", "Tiers", false, es);
}

static void
show_node(PlanState *node, List *ancestors, const char *relationship, const char *plan_name,
		  ExplainState * es)
{
	TierExplained *explained = GetExplainExtensionState(es, extension_id);

	if (previous_node_hook != NULL)
		previous_node_hook(node, ancestors, relationship, plan_name, es);
	if (explained == NULL)
		return;
	if (ancestors == NIL)
		price(explained, node, es->analyze && es->buffers);
	show(explained, node->plan->plan_node_id, es);
}

static void
show_plan(PlannedStmt *planned, IntoClause * into, ExplainState * es, const char *statement,
		  ParamListInfo params, QueryEnvironment *environment)
{
	TierExplained *explained = GetExplainExtensionState(es, extension_id);

	if (previous_plan_hook != NULL)
		previous_plan_hook(planned, into, es, statement, params, environment);
	if (explained == NULL)
		return;
	ExplainPropertyText("Tier Reads", es->analyze && es->buffers ? "counted" : "estimated", es);
	show(explained, -1, es);
}

#endif

void
tier_explain_init(void)
{
#if TIER_COMPAT_HAS_EXPLAIN_OPTIONS
	extension_id = GetExplainExtensionId("tiered_storage");
	tier_compat_register_explain_option("tiers", begin_option);
	previous_node_hook = explain_per_node_hook;
	explain_per_node_hook = show_node;
	previous_plan_hook = explain_per_plan_hook;
	explain_per_plan_hook = show_plan;
#endif
}
