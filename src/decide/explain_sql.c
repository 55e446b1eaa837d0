/*-------------------------------------------------------------------------
 *
 * decide/explain_sql.c
 *		What the plan of a statement reads of each relation, node by node.
 *
 * A plan has costs, and costs are pages and CPU in one.  So while a statement is planned here, a
 * hook notes how many pages of the table and of the index each path by an index was
 * reckoned with; it asks the access method again, and goes on as cost_index() does.  The
 * plan's index scans find theirs by index and cost.  Of other nodes the plan itself
 * says enough.  How often a node runs comes from the nodes above it.
 *
 * The hook is installed by the first call, and does nothing but while it plans.  What this
 * takes is priced by explain_tiers() in SQL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/resource.h>

#include "access/amapi.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/builtins.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "src/base/refuse.h"
#include "src/compat.h"
#include "src/base/sql.h"
#include "src/server/relation.h"
#include "src/storage/page_cache.h"

PG_FUNCTION_INFO_V1(tier_plan_reads);

/* One scan by an index, in blocks, as the planner has reckoned it. */
typedef struct IndexReads
{
	Oid			index_oid;
	Cost		total_cost;
	double		random;			/* of the table */
	double		sequential;
	double		index;
} IndexReads;

static List *noted = NIL;		/* of IndexReads *, since planning began */
static MemoryContext noting = NULL; /* theirs; NULL: nothing is noted */
static set_rel_pathlist_hook_type previous_hook = NULL;
static bool has_hook = false;

/* A call, and on the way down its plan how often the node runs. */
typedef struct Walk
{
	TierResultRow *row;
	const List *noted;
	bool		executed;
	double		share;			/* of the misses came from devices; -1: not
								 * known */
	int64	   *twice;			/* misses that an InitPlan and who asked for
								 * it first both have */
	bool		is_empty;		/* no row so far */
	bool		is_measured;	/* for all rows */
	PlanState  *parent;			/* NULL: it is the top */
	double		loops;			/* in each process */
	double		processes;
	double		fraction;		/* of its rows are asked for */
} Walk;

/* ---------------------------------------------------------------------
 * While it is planned
 * ---------------------------------------------------------------------
 */

/* How often it will run: as get_loop_count(), for the rarest of the relations around it. */
static double
loops_of_path(PlannerInfo *root, const Path *path)
{
	double		loops = 0.0;
	int			relid = -1;

	while (path->param_info != NULL &&
		   (relid = bms_next_member(path->param_info->ppi_req_outer, relid)) >= 0)
	{
		RelOptInfo *outer = root->simple_rel_array[relid];

		if (outer != NULL && (loops == 0.0 || outer->rows < loops))
			loops = outer->rows;
	}
	return Max(loops, 1.0);
}

/* As in cost_index(), in pages. */
static void
note_index_path(PlannerInfo *root, RelOptInfo *rel, IndexPath *path)
{
	IndexOptInfo *index = path->indexinfo;
	IndexReads *reads = MemoryContextAlloc(noting, sizeof(IndexReads));
	MemoryContext context;
	double		loops = loops_of_path(root, &path->path);
	double		unseen = path->path.pathtype == T_IndexOnlyScan ? 1.0 - rel->allvisfrac : 1.0;
	double		correlation;
	double		least;
	double		most;
	Selectivity selectivity;
	Cost		startup_cost;
	Cost		total_cost;

	((amcostestimate_function) index->amcostestimate) (root, path, loops, &startup_cost,
													   &total_cost, &selectivity, &correlation,
													   &reads->index);
	least = ceil(selectivity * rel->pages);
	most = index_pages_fetched(clamp_row_est(selectivity * rel->tuples) * loops, rel->pages,
							   index->pages, root) / loops;
	if (loops > 1.0)
	{
		least = index_pages_fetched(least * loops, rel->pages, index->pages, root) / loops;
		reads->index = index_pages_fetched(reads->index * loops, index->pages, index->pages,
										   root) / loops;
	}
	correlation *= correlation;
	reads->index_oid = index->indexoid;
	reads->total_cost = path->path.total_cost;
	reads->sequential = loops > 1.0 ? 0.0 : unseen * correlation * Max(least - 1.0, 0.0);
	reads->random = unseen * (most + correlation * (least - most)) - reads->sequential;
	context = MemoryContextSwitchTo(noting);
	noted = lappend(noted, reads);
	MemoryContextSwitchTo(context);
}

/* For each relation of a query, when all its paths are there. */
static void
note_relation(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *entry)
{
	ListCell   *cell;

	if (previous_hook != NULL)
		previous_hook(root, rel, rti, entry);
	if (noting == NULL)
		return;
	foreach(cell, list_concat_copy(rel->pathlist, rel->partial_pathlist))
	{
		if (IsA(lfirst(cell), IndexPath))
			note_index_path(root, rel, lfirst(cell));
	}
}

/* Refuses what is not one statement that is planned; rules may make several plans of it. */
static SPIPlanPtr
prepare(const char *statement)
{
	SPIPlanPtr	prepared = SPI_prepare_cursor(statement, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	List	   *sources = prepared == NULL ? NIL : SPI_plan_get_plan_sources(prepared);
	const CachedPlanSource *source = list_length(sources) == 1 ? linitial(sources) : NULL;
	bool		is_planned = source != NULL && source->query_list != NIL;
	ListCell   *cell;

	foreach(cell, is_planned ? source->query_list : NIL)
		is_planned &= lfirst_node(Query, cell)->commandType != CMD_UTILITY;
	if (!is_planned)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("explain_tiers() takes one statement that is planned"),
				 errhint("Pass a SELECT, INSERT, UPDATE, DELETE or MERGE, without EXPLAIN and "
						 "EXECUTE.")));
	return prepared;
}

/* *notes: of IndexReads *, in the given context. */
static CachedPlan *
plan_noting(SPIPlanPtr prepared, MemoryContext context, List **notes)
{
	MemoryContext outer_noting = noting;
	List	   *outer_noted = noted;
	CachedPlan *plan = NULL;

	if (!has_hook)
	{
		previous_hook = set_rel_pathlist_hook;
		set_rel_pathlist_hook = note_relation;
		has_hook = true;
	}
	noting = context;
	noted = NIL;
	PG_TRY();
	{
		plan = SPI_plan_get_cached_plan(prepared);
		*notes = noted;
	}
	PG_FINALLY();
	{
		noting = outer_noting;
		noted = outer_noted;
	}
	PG_END_TRY();
	return plan;
}

/* ---------------------------------------------------------------------
 * When it is planned, or has run
 * ---------------------------------------------------------------------
 */

/* The costs of the top of a plan may have grown since they were noted: the nearest. */
static IndexReads
find_index(const List *notes, Oid index_oid, Cost total_cost)
{
	IndexReads	nearest = {.total_cost = INFINITY,.random = 1.0,.index = 1.0};
	ListCell   *cell;

	foreach(cell, notes)
	{
		const IndexReads *reads = lfirst(cell);

		if (reads->index_oid == index_oid &&
			fabs(reads->total_cost - total_cost) < fabs(nearest.total_cost - total_cost))
			nearest = *reads;
	}
	return nearest;
}

/* Leaves of an index that have so many of its entries. */
static double
leaves_of(Oid index_oid, double entries)
{
	Relation	index = RelationIdGetRelation(index_oid);
	double		pages = index->rd_rel->relpages;

	pages = Min(ceil(pages * entries / Max(index->rd_rel->reltuples, 1.0)), pages);
	RelationClose(index);
	return Max(pages, 1.0);
}

static int64
misses_of(const PlanState *node)
{
	const BufferUsage *usage = &TIER_COMPAT_BUFFER_USAGE(node->instrument);

	return usage->shared_blks_read + usage->local_blks_read;
}

static bool
subtract_child(PlanState *node, void *misses)
{
	*(int64 *) misses -= misses_of(node);
	return false;
}

/*
 * How often what was reckoned for once is read; executed: so that all of it is what was missed.
 *
 * An InitPlan is a child of one node, and runs within another one below that, which asks for its
 * value first: the one has less than its children then, and the other one has it to give.
 */
static double
times_of(const Walk *walk, PlanState *node, double all)
{
	int64		misses;

	if (!walk->executed)
		return Max(walk->loops * walk->fraction *
				   (node->plan->parallel_aware ? 1.0 : walk->processes), 1.0 / Max(all, 1.0));
	misses = misses_of(node);
	(void) planstate_tree_walker(node, subtract_child, &misses);
	if (misses < 0)
		*walk->twice -= misses;
	else if (misses >= *walk->twice && !bms_is_empty(node->plan->allParam))
	{
		misses -= *walk->twice;
		*walk->twice = 0;
	}
	return Max(misses, 0) / Max(all, 1e-9);
}

static void
put_read(Walk *walk, const char *node, Oid relation_oid, double random, double sequential)
{
	TierResultRow *row = walk->row;
	TierRelationInfo info = {.tablespace_oid = InvalidOid};
	bool		is_known = tier_relation_lookup(relation_oid, &info);

	if (!is_known && random <= 0.0)
		return;
	tier_row_clear(row);
	tier_row_text(row, 0, node);
	tier_row_datum(row, 1, ObjectIdGetDatum(relation_oid));
	tier_row_datum(row, 2, ObjectIdGetDatum(info.tablespace_oid));
	tier_row_datum(row, 3, Float8GetDatum(random));
	tier_row_datum(row, 4, Float8GetDatum(sequential));
	tier_row_datum(row, 5, Float8GetDatum(sequential > 0.0 ? walk->loops : 0.0));
	if (walk->share >= 0.0 && is_known && tier_pagecache_counts_readers(info.tablespace_oid))
		tier_row_datum(row, 6, Float8GetDatum(walk->share));
	else
		walk->is_measured = false;
	walk->is_empty = false;
	tier_row_put(row);
}

/* As in cost_bitmap_heap_scan(): the more of the table, the more of it in sequence. */
static void
reckon_bitmap(double pages, double tuples, IndexReads *reads)
{
	double		fetched = Min(ceil(2.0 * pages * tuples / (2.0 * pages + tuples)), pages);

	reads->sequential = fetched < 2.0 ? 0.0 : fetched * sqrt(fetched / pages);
	reads->random = fetched - reads->sequential;
}

static void
put_node_reads(Walk *walk, PlanState *node)
{
	Plan	   *plan = node->plan;
	Relation	table = NULL;
	IndexReads	reads = {0};
	const char *name;
	double		times;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_TidRangeScan:
			name = "Seq Scan";
			table = ((ScanState *) node)->ss_currentRelation;
			reads.sequential = RelationGetNumberOfBlocks(table);
			break;
		case T_TidScan:
			name = "Tid Scan";
			table = ((ScanState *) node)->ss_currentRelation;
			reads.random = plan->plan_rows;
			break;
		case T_BitmapHeapScan:
			name = "Bitmap Heap Scan";
			table = ((ScanState *) node)->ss_currentRelation;
			reckon_bitmap(Max(RelationGetNumberOfBlocks(table), 1.0),
						  outerPlan(plan)->plan_rows, &reads);
			break;
		case T_BitmapIndexScan:
			name = "Bitmap Index Scan";
			reads.index_oid = ((BitmapIndexScan *) plan)->indexid;
			reads.index = leaves_of(reads.index_oid, plan->plan_rows);
			break;
		case T_IndexScan:
			name = "Index Scan";
			table = ((ScanState *) node)->ss_currentRelation;
			reads = find_index(walk->noted, ((IndexScan *) plan)->indexid, plan->total_cost);
			reads.index_oid = ((IndexScan *) plan)->indexid;
			break;
		case T_IndexOnlyScan:
			name = "Index Only Scan";
			table = ((ScanState *) node)->ss_currentRelation;
			reads = find_index(walk->noted, ((IndexOnlyScan *) plan)->indexid, plan->total_cost);
			reads.index_oid = ((IndexOnlyScan *) plan)->indexid;
			break;
		default:

			/*
			 * By functions, of TOAST tables, of indexes that take in rows: as
			 * it was executed.
			 */
			name = "other";
			reads.random = walk->executed ? 1.0 : 0.0;
			break;
	}
	times = times_of(walk, node, reads.random + reads.sequential + reads.index);
	if (!OidIsValid(reads.index_oid) || table != NULL)
		put_read(walk, name, table == NULL ? InvalidOid : RelationGetRelid(table),
				 reads.random * times, reads.sequential * times);
	if (OidIsValid(reads.index_oid))
		put_read(walk, name, reads.index_oid, reads.index * times, 0.0);
}

/* From its parent to a node: how often does it run, and how much of it is asked for? */
static void
descend(Walk *walk, PlanState *node)
{
	const PlanState *parent = walk->parent;
	Plan	   *above = parent->plan;
	int			workers = 0;

	switch (nodeTag(above))
	{
		case T_NestLoop:
			if (node == innerPlanState(parent) && !IsA(node->plan, Material))
				walk->loops *= Max(outerPlan(above)->plan_rows, 1.0);
			break;
		case T_Limit:
			walk->fraction *= Min(above->plan_rows / Max(node->plan->plan_rows, 1.0), 1.0);
			break;
		case T_Gather:
			workers = ((Gather *) above)->num_workers;
			break;
		case T_GatherMerge:
			workers = ((GatherMerge *) above)->num_workers;
			break;
		case T_BitmapHeapScan:
			walk->processes = above->parallel_aware ? 1.0 : walk->processes;
			break;
		case T_Agg:
		case T_Sort:
		case T_Hash:
			if (!IsA(above, Agg) || ((Agg *) above)->aggstrategy != AGG_SORTED)
				walk->fraction = 1.0;
			break;
		default:
			break;
	}
	/* As get_parallel_divisor(): the leader has others to serve. */
	if (workers > 0)
		walk->processes = workers +
			(parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0.0) : 0.0);
	/* A subplan that depends on the row. */
	if (parent->subPlan != NIL && node != outerPlanState(parent) &&
		node != innerPlanState(parent) && !bms_is_empty(node->plan->extParam))
		walk->loops *= Max(above->plan_rows, 1.0);
}

static bool
put_node(PlanState *node, void *arg)
{
	Walk	   *outer = arg;
	Walk		walk = *outer;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (walk.parent != NULL)
		descend(&walk, node);
	put_node_reads(&walk, node);
	walk.parent = node;
	(void) planstate_tree_walker(node, put_node, &walk);
	outer->is_measured = walk.is_measured;
	outer->is_empty = walk.is_empty;
	return false;
}

/* ---------------------------------------------------------------------
 * Running it
 * ---------------------------------------------------------------------
 */

/* What the kernel has read from devices for this process. */
static double
device_blocks(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_inblock * 512.0 / BLCKSZ : 0.0;
}

/* Blocks that workers have read, which the leader counts when they have ended. */
static bool
subtract_workers(PlanState *node, void *misses)
{
	if (IsA(node, GatherState) || IsA(node, GatherMergeState))
		for (int i = 0; outerPlanState(node)->worker_instrument != NULL &&
			 i < outerPlanState(node)->worker_instrument->num_workers; i++)
			*(int64 *) misses -= TIER_COMPAT_BUFFER_USAGE
				(&outerPlanState(node)->worker_instrument->instrument[i]).shared_blks_read;
	return planstate_tree_walker(node, subtract_workers, misses);
}

static void
run(QueryDesc *query, Walk *walk)
{
	double		blocks = -device_blocks();
	int64		misses = -pgBufferUsage.shared_blks_read;

	tier_compat_executor_run(query);
	ExecutorFinish(query);
	blocks += device_blocks();
	misses += pgBufferUsage.shared_blks_read;
	(void) subtract_workers(query->planstate, &misses);
	if (tier_compat_reads_ahead_are_own())
		walk->share = misses > 0 ? Min(blocks / misses, 1.0) : 0.0;
}

static void
put_plan(PlannedStmt *planned, const char *statement, Walk *walk)
{
	QueryDesc  *query;

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	query = CreateQueryDesc(planned, statement, GetActiveSnapshot(), InvalidSnapshot,
							None_Receiver, NULL, NULL, walk->executed ? INSTRUMENT_BUFFERS : 0);
	ExecutorStart(query, walk->executed ? 0 : EXEC_FLAG_EXPLAIN_ONLY);
	if (walk->executed)
		run(query, walk);
	(void) put_node(query->planstate, walk);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	PopActiveSnapshot();
	CommandCounterIncrement();
}

/* _tiered_storage.plan_reads(query, executed) */
static Datum
plan_reads(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierResultRow row;
	List	   *notes = NIL;
	int64		twice = 0;
	Walk		walk = {
		.row = &row,.twice = &twice,.share = -1.0,.is_empty = true,.is_measured = true,
		.loops = 1.0,.processes = 1.0,.fraction = 1.0
	};
	char	   *statement;
	CachedPlan *plan;
	ListCell   *cell;

	tier_require_argument(fcinfo, 0, "query");
	tier_require_argument(fcinfo, 1, "analyze");
	tier_result_start(fcinfo, &row);
	statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	walk.executed = PG_GETARG_BOOL(1);
	(void) SPI_connect();
	plan = plan_noting(prepare(statement), context, &notes);
	walk.noted = notes;
	foreach(cell, plan->stmt_list)
		put_plan(lfirst_node(PlannedStmt, cell), statement, &walk);
	ReleaseCachedPlan(plan, NULL);
	(void) SPI_finish();
	if (walk.is_empty)
		ereport(NOTICE, (errmsg("the statement reads no table")));
	if (!walk.is_measured)
		ereport(NOTICE,
				(walk.executed ? errmsg("what came from devices was not measured") :
				 errmsg("the blocks are the planner's estimates"),
				 errdetail("Of them the share counts that was observed on each tier to come from "
						   "devices; where nothing was, %s.", walk.executed ? "all" : "10 %")));
	return (Datum) 0;
}

Datum
tier_plan_reads(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(plan_reads, fcinfo);
}
