/*-------------------------------------------------------------------------
 *
 * observe/access_relations.c
 *		Finding the relations that a plan reads, and the order of reading.
 *
 * Runs in every backend and parallel worker, once for each plan that is watched, before it
 * runs; the overhead of watching is mostly here.  So catalog data are cached in small tables
 * of the process, which invalidation empties.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "access/tsmapi.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_statistic.h"
#include "common/hashfn.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "src/observe/access_plan.h"
#include "src/observe/access_plan_private.h"

/*---------------------------------------------------------------------
 * Cached catalog data, which each plan needs
 *---------------------------------------------------------------------
 */

#define CORRELATION_SLOTS 128
#define TOAST_SLOTS 128

typedef struct CorrelationSlot
{
	Oid			index_oid;
	double		correlation;
} CorrelationSlot;

typedef struct ToastSlot
{
	Oid			toast_oid;
	Oid			index_oid;
} ToastSlot;

static CorrelationSlot correlations[CORRELATION_SLOTS];
static ToastSlot toast_indexes[TOAST_SLOTS];

static void
forget_correlations(Datum arg, int cache_id, uint32 hash_value)
{
	memset(correlations, 0, sizeof(correlations));
}

static void
forget_toast_index(Datum arg, Oid relation_oid)
{
	ToastSlot  *slot = &toast_indexes[relation_oid % TOAST_SLOTS];

	if (!OidIsValid(relation_oid))
		memset(toast_indexes, 0, sizeof(toast_indexes));
	else if (slot->toast_oid == relation_oid)
		slot->toast_oid = InvalidOid;
}

static void
prepare_caches(void)
{
	static bool is_prepared = false;

	if (is_prepared)
		return;
	CacheRegisterSyscacheCallback(STATRELATTINH, forget_correlations, (Datum) 0);
	CacheRegisterRelcacheCallback(forget_toast_index, (Datum) 0);
	is_prepared = true;
}

/*
 * The correlation of an index with the order of its table, as the planner computes it: that of
 * the first column; three quarters of it if there are more columns.  0 where it is unknown, or
 * the index has no order.
 */
static double
read_correlation(Relation index)
{
	HeapTuple	tuple;
	AttStatsSlot slot;
	AttrNumber	column = index->rd_index->indkey.values[0];
	Oid			relation_oid = column == 0 ? RelationGetRelid(index) : index->rd_index->indrelid;
	Oid			less;
	double		correlation = 0.0;

	if (index->rd_rel->relam != BTREE_AM_OID)
		return 0.0;
	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relation_oid),
							Int16GetDatum(column == 0 ? 1 : column), BoolGetDatum(false));
	if (!HeapTupleIsValid(tuple))
		return 0.0;
	less = get_opfamily_member(index->rd_opfamily[0], index->rd_opcintype[0],
							   index->rd_opcintype[0], BTLessStrategyNumber);
	if (OidIsValid(less) &&
		get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, less, ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers > 0)
			correlation = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	ReleaseSysCache(tuple);
	return index->rd_index->indnkeyatts > 1 ? correlation * 0.75 : correlation;
}

static double
correlation_of(Relation index)
{
	CorrelationSlot *slot = &correlations[RelationGetRelid(index) % CORRELATION_SLOTS];

	if (slot->index_oid != RelationGetRelid(index))
	{
		double		correlation = read_correlation(index);

		/* Reading may have made us forget: so it is written after. */
		slot->index_oid = RelationGetRelid(index);
		slot->correlation = correlation;
	}
	return slot->correlation;
}

/* The valid one of a TOAST table's indexes. */
static Oid
read_toast_index(Oid toast_oid)
{
	Relation	toast = RelationIdGetRelation(toast_oid);
	Oid			index_oid = InvalidOid;
	List	   *indexes;
	ListCell   *cell;

	if (toast == NULL)
		return InvalidOid;
	indexes = RelationGetIndexList(toast);
	foreach(cell, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple))
			continue;
		if (((Form_pg_index) GETSTRUCT(tuple))->indisvalid)
			index_oid = lfirst_oid(cell);
		ReleaseSysCache(tuple);
	}
	list_free(indexes);
	RelationClose(toast);
	return index_oid;
}

static Oid
toast_index_of(Oid toast_oid)
{
	ToastSlot  *slot = &toast_indexes[toast_oid % TOAST_SLOTS];

	if (slot->toast_oid != toast_oid)
	{
		Oid			index_oid = read_toast_index(toast_oid);

		slot->toast_oid = toast_oid;
		slot->index_oid = index_oid;
	}
	return slot->index_oid;
}

/* ---------------------------------------------------------------------
 * Which relations a plan reads, and how
 * ---------------------------------------------------------------------
 */

/* Kinds of relations that samples observe: see observe/collect.c. */
static bool
is_observed(Relation rel)
{
	switch (rel->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_MATVIEW:
		case RELKIND_INDEX:
		case RELKIND_TOASTVALUE:
			return rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
				RelationGetRelid(rel) >= FirstNormalObjectId;
		default:
			return false;
	}
}

int
tier_access_relations_of_table(Oid relation_oid, Oid relation_oids[3])
{
	Relation	rel = RelationIdGetRelation(relation_oid);
	Oid			toast_oid;
	int			n = 0;

	if (rel == NULL)
		return 0;
	prepare_caches();
	toast_oid = rel->rd_rel->reltoastrelid;
	if (is_observed(rel))
		relation_oids[n++] = relation_oid;
	RelationClose(rel);
	if (n == 0 || !OidIsValid(toast_oid))
		return n;
	relation_oids[n++] = toast_oid;
	relation_oids[n] = toast_index_of(toast_oid);
	return OidIsValid(relation_oids[n]) ? n + 1 : n;
}

static void
link_use(TierAccessPlan *plan, int use)
{
	uint32		hash = murmurhash32(plan->uses[use].relation_oid);
	int		   *bucket = &plan->buckets[hash % plan->max_uses];

	plan->uses[use].next = *bucket;
	*bucket = use;
}

static void
grow_uses(TierAccessPlan *plan)
{
	MemoryContext context = plan->estate->es_query_cxt;
	int			max_uses = plan->max_uses * 4;
	RelationUse *uses = MemoryContextAllocHuge(context, sizeof(RelationUse) * max_uses);
	int		   *buckets = MemoryContextAllocHuge(context, sizeof(int) * max_uses);

	memcpy(uses, plan->uses, sizeof(RelationUse) * plan->nuses);
	memset(buckets, 0xFF, sizeof(int) * max_uses);
	plan->uses = uses;
	plan->buckets = buckets;
	plan->max_uses = max_uses;
	for (int i = 0; i < plan->nuses; i++)
		link_use(plan, i);
}

static int
find_use(const TierAccessPlan *plan, Oid relation_oid)
{
	int			use;

	if (plan->buckets == NULL)
	{
		for (use = 0; use < plan->nuses; use++)
			if (plan->uses[use].relation_oid == relation_oid)
				return use;
		return NO_USE;
	}
	use = plan->buckets[murmurhash32(relation_oid) % plan->max_uses];
	while (use != NO_USE && plan->uses[use].relation_oid != relation_oid)
		use = plan->uses[use].next;
	return use;
}

/* Notes that a relation is read in this order; rel NULL: it is not open. */
static int
add_use(TierAccessPlan *plan, Oid relation_oid, Relation rel, TierSplitOrder order)
{
	int			use = find_use(plan, relation_oid);

	if (use == NO_USE)
	{
		if (plan->nuses == plan->max_uses)
			grow_uses(plan);
		use = plan->nuses++;
		memset(&plan->uses[use], 0, sizeof(RelationUse));
		plan->uses[use].relation_oid = relation_oid;
		plan->uses[use].table_use = NO_USE;
		plan->uses[use].index_use = NO_USE;
		plan->uses[use].toast_use = NO_USE;
		if (plan->buckets != NULL)
			link_use(plan, use);
	}
	if (rel != NULL)
	{
		plan->uses[use].rel = rel;
		plan->uses[use].tablespace_oid =
			tier_compat_locator_tablespace(tier_compat_relation_locator(rel));
		plan->uses[use].is_foreign_method = rel->rd_rel->relam >= FirstNormalObjectId;
	}
	plan->uses[use].orders |= ORDER_BIT(order);
	return use;
}

static void
add_measure(TierAccessPlan *plan, PlanState *node, int use, TierSplitOrder order)
{
	NodeMeasure *measure;

	if (plan->nmeasures == plan->max_measures)
	{
		int			max_measures = plan->max_measures * 4;
		NodeMeasure *measures = MemoryContextAllocHuge(plan->estate->es_query_cxt,
													   sizeof(NodeMeasure) * max_measures);

		memcpy(measures, plan->measures, sizeof(NodeMeasure) * plan->nmeasures);
		plan->measures = measures;
		plan->max_measures = max_measures;
	}
	measure = &plan->measures[plan->nmeasures++];
	measure->node = node;
	measure->real = NULL;
	measure->use = use;
	measure->order = order;
	measure->is_mixed = false;
	measure->fetched = measure->hit = 0;
	measure->read_ahead = 0.0;
}

/* Of a table that is among the uses: `use`. */
static void
add_toast(TierAccessPlan *plan, int use, Relation rel, bool is_changed)
{
	Oid			toast_oid = rel->rd_rel->reltoastrelid;
	Oid			index_oid = OidIsValid(toast_oid) ? toast_index_of(toast_oid) : InvalidOid;
	int			table;
	int			index;

	if (!OidIsValid(index_oid))
		return;
	table = add_use(plan, toast_oid, NULL, is_changed ? TIER_SPLIT_SINGLE : TIER_SPLIT_VALUES);
	index = add_use(plan, index_oid, NULL, is_changed ? TIER_SPLIT_SINGLE : TIER_SPLIT_INDEX);
	plan->uses[use].toast_use = table;
	plan->uses[table].index_use = index;
	plan->uses[table].tablespace_oid = plan->uses[index].tablespace_oid =
		tier_compat_locator_tablespace(tier_compat_relation_locator(rel));
	plan->uses[table].is_changed |= is_changed;
	plan->uses[index].is_changed |= is_changed;
	plan->uses[table].is_foreign_method = plan->uses[index].is_foreign_method =
		rel->rd_rel->relam >= FirstNormalObjectId;
}

/* A table that a node scans; NO_USE if it is not observed. */
static int
add_table(TierAccessPlan *plan, PlanState *node, TierSplitOrder order)
{
	Relation	rel = ((ScanState *) node)->ss_currentRelation;
	int			use;

	if (rel == NULL || !is_observed(rel))
		return NO_USE;
	use = add_use(plan, RelationGetRelid(rel), rel, order);
	if (order == TIER_SPLIT_GAPS)
		plan->uses[use].pages = RelationGetNumberOfBlocks(rel);
	add_measure(plan, node, use, order);
	add_toast(plan, use, rel, false);
	return use;
}

/* An index, and the node within which it is read. */
static int
add_index(TierAccessPlan *plan, PlanState *node, Relation index)
{
	int			use;

	if (index == NULL || !is_observed(index))
		return NO_USE;
	use = add_use(plan, RelationGetRelid(index), index, TIER_SPLIT_INDEX);
	plan->uses[use].pages = index->rd_rel->relpages;
	if (node != NULL)
		add_measure(plan, node, use, TIER_SPLIT_INDEX);
	return use;
}

static void
add_index_scan(TierAccessPlan *plan, PlanState *node, Relation index)
{
	int			table = add_table(plan, node, TIER_SPLIT_BY_INDEX);
	int			use = add_index(plan, node, index);

	if (table != NO_USE && use != NO_USE)
	{
		plan->uses[use].table_use = table;
		plan->uses[use].correlation = correlation_of(index);
	}
}

void
tier_access_relations_add_result(TierAccessPlan *plan, Relation rel, bool with_indexes)
{
	int			use;

	if (rel == NULL || !is_observed(rel))
		return;
	use = add_use(plan, RelationGetRelid(rel), rel, TIER_SPLIT_SINGLE);
	plan->uses[use].is_changed = true;
	if (with_indexes && rel->rd_rel->relhasindex)
	{
		ListCell   *cell;

		/*
		 * Most often it is known, and nothing below looks into a catalog: no
		 * copy.
		 */
		if (!rel->rd_indexvalid)
			list_free(RelationGetIndexList(rel));
		foreach(cell, rel->rd_indexlist)
		{
			int			index = add_use(plan, lfirst_oid(cell), NULL, TIER_SPLIT_SINGLE);

			plan->uses[index].is_changed = true;
		}
	}
	add_toast(plan, use, rel, true);
}

/* DELETE leaves the indexes alone. */
static void
add_modify_table(TierAccessPlan *plan, ModifyTableState *node)
{
	plan->has_changes = true;
	for (int i = 0; i < node->mt_nrels; i++)
		tier_access_relations_add_result(plan, node->resultRelInfo[i].ri_RelationDesc,
										 node->operation != CMD_DELETE);
}

static void
add_lock_rows(TierAccessPlan *plan, LockRowsState *node)
{
	ListCell   *cell;

	foreach(cell, node->lr_arowMarks)
	{
		Relation	rel = ((ExecAuxRowMark *) lfirst(cell))->rowmark->relation;

		if (rel != NULL && is_observed(rel))
			(void) add_use(plan, RelationGetRelid(rel), rel, TIER_SPLIT_SINGLE);
	}
}

typedef struct WalkContext
{
	TierAccessPlan *plan;
	PlanState  *bitmap_node;	/* that the bitmap is made for */
	int			bitmap_use;		/* its table */
} WalkContext;

static bool
add_node(PlanState *node, void *arg)
{
	WalkContext *context = arg;
	WalkContext inner = *context;
	TierAccessPlan *plan = context->plan;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_SeqScanState:
		case T_TidRangeScanState:
			(void) add_table(plan, node, TIER_SPLIT_SCAN);
			break;
		case T_SampleScanState:

			/* A method that does not choose blocks looks at all of them. */
			(void) add_table(plan, node,
							 ((SampleScanState *) node)->tsmroutine->NextSampleBlock != NULL ?
							 TIER_SPLIT_GAPS : TIER_SPLIT_SCAN);
			break;
		case T_TidScanState:
			(void) add_table(plan, node, TIER_SPLIT_SINGLE);
			break;
		case T_IndexScanState:
			add_index_scan(plan, node, ((IndexScanState *) node)->iss_RelationDesc);
			break;
		case T_IndexOnlyScanState:
			add_index_scan(plan, node, ((IndexOnlyScanState *) node)->ioss_RelationDesc);
			break;
		case T_BitmapHeapScanState:
			inner.bitmap_node = node;
			inner.bitmap_use = add_table(plan, node, TIER_SPLIT_GAPS);
			break;
		case T_BitmapIndexScanState:
			{
				int			use = add_index(plan, context->bitmap_node,
											((BitmapIndexScanState *) node)->biss_RelationDesc);

				/* It is scanned once for each pass over the table. */
				if (context->bitmap_use != NO_USE && !bms_is_empty(node->plan->extParam))
					plan->uses[context->bitmap_use].index_use = use;
			}
			break;
		case T_ModifyTableState:
			add_modify_table(plan, (ModifyTableState *) node);
			break;
		case T_LockRowsState:
			add_lock_rows(plan, (LockRowsState *) node);
			break;
		default:
			break;
	}
	return planstate_tree_walker(node, add_node, &inner);
}

void
tier_access_relations_find(TierAccessPlan *plan, PlanState *root)
{
	WalkContext context;

	prepare_caches();
	context.plan = plan;
	context.bitmap_node = NULL;
	context.bitmap_use = NO_USE;
	(void) add_node(root, &context);
}
