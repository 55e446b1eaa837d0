/*-------------------------------------------------------------------------
 *
 * decide/explain_plan.c
 *		The reads of each relation by a plan, node by node.
 *
 * The costs of a plan combine pages and CPU.  So while a statement is planned, a hook notes the
 * number of pages of the table and of the index that each index path was costed with; it asks the
 * access method again, and goes on as cost_index() does.  Index scans of the plan find their path
 * by index and cost.  For other nodes the plan itself has enough data.  The number of runs of a
 * node follows from the nodes above it.
 *
 * The hook is installed by the first statement that is explained.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/resource.h>

#include "access/amapi.h"
#include "executor/instrument.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/decide/explain_plan.h"
#include "src/model/split.h"
#include "src/server/relation.h"
#include "src/storage/page_cache.h"

/* Index scans of which pages are noted; statements of functions are among them. */
#define MOST_NOTED 100000

/* One scan by an index, in blocks, as the planner has reckoned it. */
typedef struct IndexReads
{
	Oid			index_oid;
	Cost		total_cost;
	double		random;			/* of the table */
	double		sequential;
	double		index;
} IndexReads;

TierExplained *tier_explained = NULL;

static set_rel_pathlist_hook_type previous_hook = NULL;

/* On the way down it. */
typedef struct Walk
{
	TierExplained *explained;
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
	IndexReads *reads = palloc(sizeof(IndexReads));
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
	tier_explained->noted = lappend(tier_explained->noted, reads);
}

/* For each relation of a query, when all its paths are there. */
static void
note_relation(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *entry)
{
	MemoryContext context;
	ListCell   *cell;

	if (previous_hook != NULL)
		previous_hook(root, rel, rti, entry);
	/* Not of the statement that computes the price. */
	if (tier_explained == NULL || tier_explained->top != NULL ||
		list_length(tier_explained->noted) > MOST_NOTED)
		return;

	/*
	 * Runs after the last of its relations.  Statements that functions plan
	 * in between do not belong to it.
	 */
	if (tier_explained->planned == NULL || tier_explained->planned == root->glob)
	{
		tier_explained->planned = root->glob;
		tier_explain_count(tier_explained, false);
	}
	context = MemoryContextSwitchTo(tier_explained->context);
	foreach(cell, list_concat_copy(rel->pathlist, rel->partial_pathlist))
	{
		if (IsA(lfirst(cell), IndexPath))
			note_index_path(root, rel, lfirst(cell));
	}
	MemoryContextSwitchTo(context);
}

void
tier_explain_count(TierExplained *explained, bool ended)
{
	struct rusage usage = {0};

	(void) getrusage(RUSAGE_SELF, &usage);
	explained->misses = pgBufferUsage.shared_blks_read - ended * explained->misses;
	explained->device_blocks = usage.ru_inblock * 512.0 / BLCKSZ -
		ended * explained->device_blocks;
	explained->waits = usage.ru_nvcsw - ended * explained->waits;
	explained->elapsed_ms = tier_clock_monotonic_us() / 1e3 - ended * explained->elapsed_ms;
}

static void
end(void *explained)
{
	if (tier_explained == explained)
		tier_explained = NULL;
}

TierExplained *
tier_explain_begin(void)
{
	static bool has_hook = false;
	TierExplained *explained = palloc0(sizeof(TierExplained));

	if (!has_hook)
	{
		previous_hook = set_rel_pathlist_hook;
		set_rel_pathlist_hook = note_relation;
		has_hook = true;
	}
	explained->is_measured = true;
	explained->context = CurrentMemoryContext;
	explained->callback.func = end;
	explained->callback.arg = explained;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &explained->callback);
	tier_explain_count(explained, false);
	return tier_explained = explained;
}

/* ---------------------------------------------------------------------
 * When it is planned, or has run
 * ---------------------------------------------------------------------
 */

/* The costs of the top of a plan may have grown since they were noted: the nearest. */
static IndexReads
find_index(const List *notes, Oid index_oid, Cost total_cost)
{
	IndexReads	nearest = {index_oid, INFINITY,.random = 1.0,.index = 1.0};
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
	double		pages;

	if (!RelationIsValid(index))	/* a hypothetical one */
		return 1.0;
	pages = index->rd_rel->relpages;
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
 * The factor for blocks estimated for one execution; executed: the factor that turns them into
 * the missed blocks of the node.
 *
 * An InitPlan is a child of one node, but runs within another node below it, the first that
 * asks for its value.  Then the first node has fewer misses than its children, and the misses
 * of the other node include those of the InitPlan.  The same holds for the query of a CTE, which
 * runs within all scans of the CTE.
 */
static double
times_of(const Walk *walk, PlanState *node, double all)
{
	int64		misses;

	if (!walk->explained->executed)
		return Max(walk->loops * walk->fraction *
				   (node->plan->parallel_aware ? 1.0 : walk->processes), 1.0 / Max(all, 1.0));
	misses = misses_of(node);
	(void) planstate_tree_walker(node, subtract_child, &misses);
	if (misses < 0)
		walk->explained->twice -= misses;
	else if (IsA(node->plan, CteScan) ||
			 (misses >= walk->explained->twice && !bms_is_empty(node->plan->allParam)))
	{
		int64		given = Min(misses, walk->explained->twice);

		misses -= given;
		walk->explained->twice -= given;
	}
	return Max(misses, 0) / Max(all, 1e-9);
}

static void
put_read(const Walk *walk, const PlanState *node, const char *name, Oid relation_oid,
		 double random, double sequential)
{
	TierExplained *explained = walk->explained;
	TierResultRow *row = &explained->row;
	TierRelationInfo info = {.tablespace_oid = InvalidOid};
	bool		is_known = tier_relation_lookup(relation_oid, &info);

	if (!is_known && random <= 0.0)
		return;
	tier_row_clear(row);
	tier_row_datum(row, 0, Int32GetDatum(node->plan->plan_node_id));
	tier_row_text(row, 1, name);
	tier_row_datum(row, 2, ObjectIdGetDatum(relation_oid));
	tier_row_datum(row, 3, ObjectIdGetDatum(info.tablespace_oid));
	tier_row_datum(row, 4, Float8GetDatum(random));
	tier_row_datum(row, 5, Float8GetDatum(sequential));
	tier_row_datum(row, 6, Float8GetDatum(sequential > 0.0 ? walk->loops : 0.0));
	tier_row_datum(row, 7, Float8GetDatum(explained->share));
	tier_row_datum(row, 8, Float8GetDatum(explained->waits));
	tier_row_datum(row, 9, Float8GetDatum(explained->elapsed_ms));
	if (explained->share < 0.0 || !is_known || !tier_pagecache_counts_readers(info.tablespace_oid))
	{
		row->nulls[7] = row->nulls[8] = true;
		explained->is_measured = false;
	}
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

/*
 * The leaves of one scan of an index after its first, which are read in order; none where each
 * value of an array begins a scan of its own.
 */
static double
leaves_in_order(const Plan *plan, double leaves)
{
	TierSplitReads reads = {TIER_SPLIT_INDEX,.misses = leaves,.scans = 1.0};
	ListCell   *cell;

	foreach(cell, IsA(plan, IndexOnlyScan) ? ((const IndexOnlyScan *) plan)->indexqual :
			IsA(plan, IndexScan) ? ((const IndexScan *) plan)->indexqualorig :
			((const BitmapIndexScan *) plan)->indexqualorig)
	{
		if (IsA(lfirst(cell), ScalarArrayOpExpr))
			return 0.0;
	}
	return tier_split_sequential(&reads);
}

/*
 * A scan of a whole table cannot miss more blocks than the table has, so often as it ran.  What
 * is more are blocks of TOAST, one value after the other, but for a few of the catalog.  Returns
 * their part of the factor.
 */
static double
put_toast_reads(const Walk *walk, const PlanState *node, Relation table, double times)
{
	Oid			toast_oid = table->rd_rel->reltoastrelid;
	double		more;

	if (!walk->explained->executed || !OidIsValid(toast_oid))
		return 0.0;
	more = times - Max(node->instrument->nloops, 1.0);
	if (more < 0.01)
		return 0.0;
	put_read(walk, node, "Seq Scan", toast_oid, more * RelationGetNumberOfBlocks(table), 0.0);
	return more;
}

static void
put_node_reads(const Walk *walk, PlanState *node)
{
	Plan	   *plan = node->plan;
	Relation	table = NULL;
	IndexReads	reads = {0};
	const char *name;
	double		times;

	if (IsA(plan, SeqScan) || IsA(plan, SampleScan) || IsA(plan, TidScan) ||
		IsA(plan, TidRangeScan) || IsA(plan, BitmapHeapScan) || IsA(plan, IndexScan) ||
		IsA(plan, IndexOnlyScan))
		table = ((ScanState *) node)->ss_currentRelation;
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_TidRangeScan:
			name = "Seq Scan";
			reads.sequential = RelationGetNumberOfBlocks(table);
			break;
		case T_TidScan:
			name = "Tid Scan";
			reads.random = plan->plan_rows;
			break;
		case T_BitmapHeapScan:
			name = "Bitmap Heap Scan";
			reckon_bitmap(Max(RelationGetNumberOfBlocks(table), 1.0),
						  outerPlan(plan)->plan_rows, &reads);
			break;
		case T_BitmapIndexScan:
			name = "Bitmap Index Scan";
			reads.index_oid = ((BitmapIndexScan *) plan)->indexid;
			reads.index = leaves_of(reads.index_oid, plan->plan_rows);
			break;
		case T_IndexScan:
		case T_IndexOnlyScan:
			name = IsA(plan, IndexScan) ? "Index Scan" : "Index Only Scan";
			reads = find_index(walk->explained->noted, IsA(plan, IndexScan) ?
							   ((IndexScan *) plan)->indexid : ((IndexOnlyScan *) plan)->indexid,
							   plan->total_cost);
			break;
		default:

			/*
			 * By functions, of TOAST tables, of indexes that take in rows: as
			 * it was executed.
			 */
			name = "other";
			reads.random = walk->explained->executed ? 1.0 : 0.0;
			break;
	}
	times = times_of(walk, node, reads.random + reads.sequential + reads.index);
	if (IsA(plan, SeqScan))
		times -= put_toast_reads(walk, node, table, times);
	if (!OidIsValid(reads.index_oid) || table != NULL)
		put_read(walk, node, name, table == NULL ? InvalidOid : RelationGetRelid(table),
				 reads.random * times, reads.sequential * times);
	if (OidIsValid(reads.index_oid))
	{
		double		leaves = leaves_in_order(plan, reads.index);

		put_read(walk, node, name, reads.index_oid, (reads.index - leaves) * times,
				 leaves * times);
	}
}

/* From its parent to a node: the number of runs, and the part of the rows that is asked for. */
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
		case T_GatherMerge:
			workers = IsA(above, Gather) ? ((Gather *) above)->num_workers :
				((GatherMerge *) above)->num_workers;
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
	Walk		walk = *(Walk *) arg;

	CHECK_FOR_INTERRUPTS();
	if (walk.explained->executed && node->instrument != NULL)
		InstrEndLoop(node->instrument);
	if (walk.parent != NULL)
		descend(&walk, node);
	put_node_reads(&walk, node);
	walk.parent = node;
	return planstate_tree_walker(node, put_node, &walk);
}

/* The kernel does not count reads of parallel workers here. */
void
tier_explain_put(TierExplained *explained, PlanState *top)
{
	Walk		walk = {.explained = explained,.loops = 1.0,.processes = 1.0,.fraction = 1.0};

	explained->share = !explained->executed || !tier_compat_reads_ahead_are_own() ||
		top->state->es_plannedstmt->parallelModeNeeded ? -1.0 :
		explained->device_blocks / Max(explained->misses, 1.0);
	(void) put_node(top, &walk);
}
