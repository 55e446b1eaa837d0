/*-------------------------------------------------------------------------
 *
 * observe/access_plan.c
 *		What one running plan reads of each of its relations.
 *
 * Runs in every backend and parallel worker whose plan is watched.  The
 * server counts for each relation, in the memory of the process, how many
 * blocks were asked for and how many of them were hits.  The difference
 * around a run of the plan is what was read meanwhile.  A plan that another
 * one runs meanwhile (functions, triggers) takes the counting over as long as
 * it runs, watched or not; so no block counts twice.
 *
 * A relation that all nodes of the plan ask for in the same order needs no
 * more than that.  One that is scanned in two ways, or scanned and changed,
 * is measured around each call of its scan nodes, which are made to call
 * measure_node() instead of themselves; what they did not read, where
 * rows are changed or locked, and by rechecks of concurrent updates, was read.
 *
 * Relations that the plan has open are reached through their relcache entry,
 * which stays where it is while they are open.  TOAST tables, their indexes and the
 * indexes of tables that are changed are looked up by OID.  No pointer to
 * counters is kept: they move when the server hands them on.
 *
 * Partitions that rows are routed to are known only when the first row has come.
 * What they read until then is inferred: what this process read
 * meanwhile, less what all other relations of the plan have, and at most
 * what the partitions' counters show.
 *
 * How much of that came from a device, and not from the page cache, the kernel
 * counts for each process.  It is asked only when something was read, and believed
 * for plans that read in sequence: of random reads it counts what is read
 * ahead of them as well.
 *
 * Memory: the struct is taken from a list of spare ones; what does not fit in
 * it is in the memory context of the execution.  That context calls us when
 * it goes, which is what ends each watch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/resource.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "access/tsmapi.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_statistic.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/execnodes.h"
#include "nodes/memnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/observe/access_counts.h"
#include "src/observe/access_plan.h"
#include "src/storage/page_cache.h"
#include "src/model/split.h"

/* Plans with no more than this need no memory of their own. */
#define INLINE_USES 12
#define INLINE_MEASURES 8

/* A bitmap scan with more indexes than this less one has the others' descents as random. */
#define MAX_MEASURES_OF_NODE 4

/*
 * A plan with more relations than this is not interrupted by what runs within
 * it, which counts as its own: each row could run something.
 */
#define MAX_INTERRUPTED_USES 32

/* A plan with more is not watched: the end of it is not quite linear. */
#define MAX_USES 4096

/* Spare structs that are kept: as deep as functions usually nest. */
#define MAX_SPARE_PLANS 8

/* A plan's reads from devices count if at least this share of what it missed was in sequence. */
#define SEQUENTIAL_SHARE 0.9

/* See share_is_its_own(). */
#define OWN_SHARE 0.9

#define RUSAGE_BLOCK_BYTES 512	/* of ru_inblock, on Linux */

#define ORDER_BIT(order) (1 << (order))
#define NO_USE (-1)

/* One relation in a plan. */
typedef struct RelationUse
{
	Oid			relation_oid;
	Relation	rel;			/* open as long as the plan is, or NULL */
	Oid			tablespace_oid; /* InvalidOid: of one that is not open */
	int			next;			/* in the same bucket, NO_USE: none */
	int			orders;			/* ORDER_BIT of all orders it is read in */
	bool		is_changed;		/* blocks may be added to it */
	bool		is_late;		/* was not there when the plan began to run */

	/* INDEX: the table it leads to; VALUES: the index; GAPS: see passes() */
	int			table_use;
	int			index_use;
	double		pages;			/* 0: unknown */
	double		correlation;	/* of an index */

	TierCompatBlockCounts base; /* when counting began or went on */
	TierCompatBlockCounts own;	/* what was counted until then */
	int64		measured_fetched;	/* of own, what its nodes have */
	int64		measured_hit;
	double		sequential;		/* of own misses, when the plan has ended */
} RelationUse;

/* What one node reads of one relation that others read as well. */
typedef struct NodeMeasure
{
	PlanState  *node;
	ExecProcNodeMtd real;		/* what measure_node() stands for */
	int			use;
	TierSplitOrder order;
	int64		fetched;
	int64		hit;
} NodeMeasure;

struct TierAccessPlan
{
	MemoryContextCallback callback;
	TierAccessPlan *next_spare;
	TierAccessPlan *outer;		/* while it runs: what ran before */
	EState	   *estate;
	double		weight;
	bool		ignored;
	bool		has_run;
	bool		is_done;
	bool		has_changes;
	bool		is_parallel;	/* the counts of its workers will be added to
								 * pgBufferUsage */

	int			nuses;
	int			max_uses;
	RelationUse *uses;
	int		   *buckets;		/* as many as max_uses, first use of each;
								 * NULL: the few are searched one by one */
	int			nmeasures;
	int			max_measures;
	NodeMeasure *measures;		/* ordered by node, when all are known */
	int			last_measure;	/* the node that was asked for last */

	int			nrouted;		/* partitions known so far */
	int64		read_base;		/* blocks of all relations, as of base */
	int64		hit_base;
	int64		temp_base;
	int64		device_base;	/* read by this process from devices, bytes */

	/* While it ran: */
	int64		device_bytes;	/* read from devices */
	int64		all_misses;		/* blocks of any relation, if !is_parallel */
	int64		temp_blocks;	/* read from temporary files */
	bool		has_paused;
	int64		requests_at_pause;	/* see all_requests */
	int64		requests_at_resume;

	RelationUse inline_uses[INLINE_USES];
	NodeMeasure inline_measures[INLINE_MEASURES];
};

typedef struct WalkContext
{
	TierAccessPlan *plan;
	PlanState  *bitmap_node;	/* that the bitmap is made for */
	int			bitmap_use;		/* its table */
} WalkContext;

int			tier_access_plans_watched = 0;

/* The plan that what is read now belongs to. */
static TierAccessPlan *current_plan = NULL;

static TierAccessPlan *spare_plans = NULL;
static int	nspare_plans = 0;

static void forget_plan(void *arg);

/* ---------------------------------------------------------------------
 * What the catalogs say: remembered, since it is asked for in each plan
 * ---------------------------------------------------------------------
 */

#define CORRELATION_SLOTS 128
#define TOAST_SLOTS 128
#define TABLESPACE_SLOTS 16

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
 * How well the order of an index fits that of its table, as the planner sees
 * it: that of the first column; three quarters if there are more.  0 where it
 * is unknown, or the index has no order.
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

/* What samples observe: see observe/sample.c. */
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

static void
link_use(TierAccessPlan *plan, int use)
{
	int		   *bucket = &plan->buckets[murmurhash32(plan->uses[use].relation_oid) % plan->max_uses];

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
		if (plan->buckets != NULL)
			link_use(plan, use);
	}
	if (rel != NULL)
	{
		plan->uses[use].rel = rel;
		plan->uses[use].tablespace_oid = tier_compat_locator_tablespace(tier_compat_relation_locator(rel));
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
		NodeMeasure *measures = MemoryContextAllocHuge(plan->estate->es_query_cxt,
													   sizeof(NodeMeasure) * plan->max_measures * 4);

		memcpy(measures, plan->measures, sizeof(NodeMeasure) * plan->nmeasures);
		plan->measures = measures;
		plan->max_measures *= 4;
	}
	measure = &plan->measures[plan->nmeasures++];
	measure->node = node;
	measure->real = NULL;
	measure->use = use;
	measure->order = order;
	measure->fetched = measure->hit = 0;
}

static void
add_toast(TierAccessPlan *plan, Relation rel, bool is_changed)
{
	Oid			toast_oid = rel->rd_rel->reltoastrelid;
	Oid			index_oid = OidIsValid(toast_oid) ? toast_index_of(toast_oid) : InvalidOid;
	int			table;
	int			index;

	if (!OidIsValid(index_oid))
		return;
	table = add_use(plan, toast_oid, NULL, is_changed ? TIER_SPLIT_SINGLE : TIER_SPLIT_VALUES);
	index = add_use(plan, index_oid, NULL, is_changed ? TIER_SPLIT_SINGLE : TIER_SPLIT_INDEX);
	plan->uses[table].index_use = index;
	plan->uses[table].tablespace_oid = plan->uses[index].tablespace_oid =
		tier_compat_locator_tablespace(tier_compat_relation_locator(rel));
	plan->uses[table].is_changed |= is_changed;
	plan->uses[index].is_changed |= is_changed;
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
	add_toast(plan, rel, false);
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

/* A table whose rows are changed; DELETE leaves the indexes alone. */
static void
add_result(TierAccessPlan *plan, Relation rel, bool with_indexes)
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
			use = add_use(plan, lfirst_oid(cell), NULL, TIER_SPLIT_SINGLE);
			plan->uses[use].is_changed = true;
		}
	}
	add_toast(plan, rel, true);
}

static void
add_modify_table(TierAccessPlan *plan, ModifyTableState *node)
{
	plan->has_changes = true;
	for (int i = 0; i < node->mt_nrels; i++)
		add_result(plan, node->resultRelInfo[i].ri_RelationDesc, node->operation != CMD_DELETE);
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

/* ---------------------------------------------------------------------
 * Counting
 * ---------------------------------------------------------------------
 */

static inline void
read_counts(const RelationUse *use, TierCompatBlockCounts *counts)
{
	if (use->rel != NULL)
		tier_compat_relation_block_counts(use->rel, counts);
	else
		tier_compat_pending_block_counts(use->relation_oid, counts);
}

/* Grows with each block that this process reads, but for those of WAL and the like. */
static inline int64
all_reads(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read + pgBufferUsage.temp_blks_read;
}

/* Grows with each block that anybody in this process asks for. */
static inline int64
all_requests(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_written + all_reads();
}

static int64 device_bytes_known = 0;
static int64 reads_when_known = -1;

/* What this process has had read from devices, what was read ahead included. */
static int64
ask_device_bytes(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		device_bytes_known = (int64) usage.ru_inblock * RUSAGE_BLOCK_BYTES;
	reads_when_known = all_reads();
	return device_bytes_known;
}

/* The same, without asking the kernel when nothing was read since it was asked. */
static inline int64
recent_device_bytes(void)
{
	return reads_when_known == all_reads() ? device_bytes_known : ask_device_bytes();
}

/* From here on, what is read is the plan's. */
static void
begin_reads(TierAccessPlan *plan)
{
	plan->read_base = pgBufferUsage.shared_blks_read;
	plan->hit_base = pgBufferUsage.shared_blks_hit;
	plan->temp_base = pgBufferUsage.temp_blks_read;
	if (tier_compat_reads_are_own())
		plan->device_base = recent_device_bytes();
}

/*
 * Takes what was read until here.  From 17 on a block may be counted for its relation
 * some time before it is read and counted here; so neither tells when to ask.
 */
static void
end_reads(TierAccessPlan *plan, int64 misses)
{
	int64		reads = pgBufferUsage.shared_blks_read - plan->read_base;

	if ((misses > 0 || reads > 0) && tier_compat_reads_are_own())
	{
		plan->device_bytes += Max(ask_device_bytes() - plan->device_base, 0);
		plan->all_misses += reads;
		plan->temp_blocks += pgBufferUsage.temp_blks_read - plan->temp_base;
	}

	/* Counting may go on without being begun anew. */
	begin_reads(plan);
}

/*
 * Counting begins, or goes on.  A relation that has not been read since its
 * counters were handed on is connected with them here, where memory may be
 * allocated; else what it had before would be missed.
 *
 * After an error nothing may be looked up: locks may be held until the abort,
 * those of the statistics among them.  Relations that the plan has not open then
 * keep what is read meanwhile.
 */
static void
resume_counting(TierAccessPlan *plan, bool may_look_up)
{
	int64		requests = all_requests();

	plan->requests_at_resume = requests;
	if (TIER_COMPAT_BUFFER_USAGE_IS_PROMPT && plan->has_paused && requests == plan->requests_at_pause)
		return;					/* nobody has read anything: all is as it was */
	for (int i = 0; i < plan->nuses; i++)
	{
		RelationUse *use = &plan->uses[i];

		if (!may_look_up && use->rel == NULL)
			continue;
		if (may_look_up && use->rel != NULL)
			(void) pgstat_should_count_relation(use->rel);
		read_counts(use, &use->base);
	}
	begin_reads(plan);
}

/*
 * Partitions that rows were routed to for the first time since counting went
 * on: they have a part of what this process has read meanwhile and the
 * relations that were known (known_*) have not.
 */
static void
count_new_partitions(TierAccessPlan *plan, int64 known_fetched, int64 known_misses)
{
	List	   *partitions = plan->estate->es_tuple_routing_result_relations;
	int64		misses = pgBufferUsage.shared_blks_read - plan->read_base;
	int64		fetched = misses + pgBufferUsage.shared_blks_hit - plan->hit_base;
	int			first = plan->nuses;
	double		late_fetched = 0.0;
	double		late_misses = 0.0;
	double		fetched_share;
	double		misses_share;

	for (; plan->nrouted < list_length(partitions); plan->nrouted++)
		add_result(plan, ((ResultRelInfo *) list_nth(partitions, plan->nrouted))->ri_RelationDesc, true);

	for (int i = first; i < plan->nuses; i++)
	{
		RelationUse *use = &plan->uses[i];

		use->is_late = true;
		read_counts(use, &use->own);
		late_fetched += use->own.fetched;
		late_misses += use->own.fetched - use->own.hit;
	}
	fetched = Max(fetched - known_fetched, 0);
	misses = Max(misses - known_misses, 0);
	fetched_share = late_fetched > fetched ? fetched / late_fetched : 1.0;
	misses_share = late_misses > misses ? misses / late_misses : 1.0;
	for (int i = first; i < plan->nuses; i++)
	{
		RelationUse *use = &plan->uses[i];
		double		use_misses = (use->own.fetched - use->own.hit) * misses_share;

		use->own.fetched = (int64) (Max(use->own.fetched * fetched_share, use_misses) + 0.5);
		use->own.hit = use->own.fetched - (int64) (use_misses + 0.5);
		use->own.scans = 0;
	}
}

/* Counting stops; with may_look_up, also for relations not known before. */
static void
pause_counting(TierAccessPlan *plan, bool may_look_up)
{
	int64		requests = all_requests();
	int64		fetched = 0;
	int64		misses = 0;

	plan->has_paused = true;
	plan->requests_at_pause = requests;
	if (TIER_COMPAT_BUFFER_USAGE_IS_PROMPT && requests == plan->requests_at_resume)
		return;
	for (int i = 0; i < plan->nuses; i++)
	{
		RelationUse *use = &plan->uses[i];
		TierCompatBlockCounts now;
		int64		more_fetched;
		int64		more_hit;

		if (!may_look_up && use->rel == NULL)
			continue;
		read_counts(use, &now);
		more_fetched = Max(now.fetched - use->base.fetched, 0);
		more_hit = Max(now.hit - use->base.hit, 0);
		use->own.fetched += more_fetched;
		use->own.hit += Min(more_hit, more_fetched);
		use->own.scans += Max(now.scans - use->base.scans, 0);
		use->base = now;
		fetched += more_fetched;
		misses += Max(more_fetched - more_hit, 0);
	}
	if (may_look_up && plan->has_changes &&
		list_length(plan->estate->es_tuple_routing_result_relations) > plan->nrouted)
		count_new_partitions(plan, fetched, misses);
	end_reads(plan, misses);
}

/* What belongs to the plan so far, but not to one of its measured nodes. */
static void
read_unmeasured(const TierAccessPlan *plan, const RelationUse *use, int64 *fetched, int64 *hit)
{
	*fetched = use->own.fetched - use->measured_fetched;
	*hit = use->own.hit - use->measured_hit;
	if (plan == current_plan)
	{
		TierCompatBlockCounts now;

		read_counts(use, &now);
		*fetched += now.fetched - use->base.fetched;
		*hit += now.hit - use->base.hit;
	}
}

/*
 * The callback that is registered on the memory of the execution leads to its
 * plan, so that there is no list of plans to search, or to keep right.
 */
static TierAccessPlan *
find_plan(EState *estate)
{
	for (MemoryContextCallback *callback = estate->es_query_cxt->reset_cbs;
		 callback != NULL; callback = callback->next)
		if (callback->func == forget_plan)
			return callback->arg;
	return NULL;
}

static int
compare_measures(const void *a, const void *b)
{
	uintptr_t	left = (uintptr_t) ((const NodeMeasure *) a)->node;
	uintptr_t	right = (uintptr_t) ((const NodeMeasure *) b)->node;

	return left < right ? -1 : left > right ? 1 : 0;
}

/* The first of a node's measures; most often the same as the last time. */
static NodeMeasure *
find_measures(TierAccessPlan *plan, PlanState *node)
{
	int			low = 0;
	int			high = plan->nmeasures;

	if (plan->measures[plan->last_measure].node == node)
		return &plan->measures[plan->last_measure];
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if ((uintptr_t) plan->measures[middle].node < (uintptr_t) node)
			low = middle + 1;
		else
			high = middle;
	}
	Assert(plan->measures[low].node == node);
	plan->last_measure = low;
	return &plan->measures[low];
}

/*
 * Stands for a node's own function, and measures it.  A node within it (in a
 * subplan) takes its part for itself.
 */
static TupleTableSlot *
measure_node(PlanState *node)
{
	TierAccessPlan *plan = find_plan(node->state);
	NodeMeasure *first = find_measures(plan, node);
	int64		fetched[MAX_MEASURES_OF_NODE];
	int64		hit[MAX_MEASURES_OF_NODE];
	TupleTableSlot *slot;
	int			n;

	for (n = 0; n < MAX_MEASURES_OF_NODE && first + n < plan->measures + plan->nmeasures &&
		 first[n].node == node; n++)
		read_unmeasured(plan, &plan->uses[first[n].use], &fetched[n], &hit[n]);

	slot = first->real(node);

	for (int i = 0; i < n; i++)
	{
		RelationUse *use = &plan->uses[first[i].use];
		int64		now_fetched;
		int64		now_hit;

		read_unmeasured(plan, use, &now_fetched, &now_hit);
		first[i].fetched += now_fetched - fetched[i];
		first[i].hit += now_hit - hit[i];
		use->measured_fetched += now_fetched - fetched[i];
		use->measured_hit += now_hit - hit[i];
	}
	return slot;
}

/* Keeps the measures of relations that are read in more than one order. */
static void
start_measuring(TierAccessPlan *plan)
{
	int			kept = 0;

	for (int i = 0; i < plan->nmeasures; i++)
	{
		NodeMeasure *measure = &plan->measures[i];
		int			orders = plan->uses[measure->use].orders;

		if ((orders & (orders - 1)) == 0 || measure->order == TIER_SPLIT_SINGLE ||
			measure->node->state != plan->estate)
			continue;
		measure->real = measure->node->ExecProcNodeReal;
		plan->measures[kept++] = *measure;
	}
	plan->nmeasures = kept;
	if (kept == 0)
		return;
	qsort(plan->measures, kept, sizeof(NodeMeasure), compare_measures);
	for (int i = 0; i < kept; i++)
		plan->measures[i].node->ExecProcNodeReal = measure_node;
}

/* ---------------------------------------------------------------------
 * The result
 * ---------------------------------------------------------------------
 */

/* The index that most scans of a table used tells how it was read. */
static void
summarize_index_scans(const TierAccessPlan *plan, int table, double *scans, double *correlation)
{
	int64		most = -1;

	*scans = *correlation = 0.0;
	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *index = &plan->uses[i];

		if (index->table_use != table)
			continue;
		*scans += index->own.scans;
		if (index->own.scans > most)
		{
			most = index->own.scans;
			*correlation = index->correlation;
		}
	}
}

/* How many of these blocks of a relation were sequential misses. */
static double
sequential_part(const TierAccessPlan *plan, int use, TierSplitOrder order, int64 fetched, int64 hit)
{
	const RelationUse *relation = &plan->uses[use];
	TierSplitReads reads;

	memset(&reads, 0, sizeof(reads));
	reads.order = order;
	reads.fetched = fetched;
	reads.misses = fetched - hit;
	reads.pages = relation->pages;
	if (reads.misses <= 0.0)
		return 0.0;
	switch (order)
	{
		case TIER_SPLIT_BY_INDEX:
			summarize_index_scans(plan, use, &reads.scans, &reads.correlation);
			break;
		case TIER_SPLIT_INDEX:
			reads.scans = relation->own.scans;
			break;
		case TIER_SPLIT_VALUES:
		case TIER_SPLIT_GAPS:
			if (relation->index_use != NO_USE)
				reads.scans = plan->uses[relation->index_use].own.scans;
			break;
		default:
			break;
	}
	return tier_split_sequential(&reads);
}

static int
lowest_order(int orders)
{
	int			order = 0;

	while ((orders & ORDER_BIT(order)) == 0)
		order++;
	return order;
}

static bool
is_mixed(const RelationUse *use)
{
	return (use->orders & (use->orders - 1)) != 0;
}

/* What belongs to none of its nodes that were measured. */
static int64
rest_misses(const RelationUse *use, int64 *fetched)
{
	int64		hit;

	*fetched = Max(use->own.fetched - use->measured_fetched, 0);
	hit = Max(Min(use->own.hit - use->measured_hit, *fetched), 0);
	return *fetched - hit;
}

/* Of a relation of which not all was found in buffers: how much was read in sequence? */
static void
split_misses(TierAccessPlan *plan, int use)
{
	RelationUse *relation = &plan->uses[use];
	TierSplitOrder rest_order = is_mixed(relation) ? TIER_SPLIT_SINGLE : lowest_order(relation->orders);
	int64		fetched;
	int64		misses = rest_misses(relation, &fetched);
	double		sequential = sequential_part(plan, use, rest_order, fetched, fetched - misses);

	if (is_mixed(relation))
		for (int i = 0; i < plan->nmeasures; i++)
			if (plan->measures[i].use == use)
				sequential += sequential_part(plan, use, plan->measures[i].order,
											  plan->measures[i].fetched, plan->measures[i].hit);
	relation->sequential = Min(sequential, relation->own.fetched - relation->own.hit);
}

/* Are reads from the tablespace counted for this process?  Asked once for each of the last few. */
static bool
is_counted(Oid tablespace_oid)
{
	static struct
	{
		Oid			tablespace_oid;
		bool		is_counted;
	}			known[TABLESPACE_SLOTS];
	int			slot = tablespace_oid % TABLESPACE_SLOTS;

	if (known[slot].tablespace_oid != tablespace_oid)
	{
		known[slot].is_counted = tier_pagecache_counts_readers(tablespace_oid);
		known[slot].tablespace_oid = tablespace_oid;
	}
	return known[slot].is_counted;
}

/*
 * How many of a plan's reads came from a device, for each of its misses; -1: not
 * known.  More than 1 when it was read ahead for others, who have less then.
 *
 * Temporary files have just been written, so that few of their blocks do; if they did,
 * this is too much, and with more of them than misses it says nothing.
 */
static double
device_share(const TierAccessPlan *plan, double misses, double sequential)
{
	double		all_misses = plan->is_parallel ? misses : Max(misses, plan->all_misses);

	if (!tier_compat_reads_are_own() || plan->temp_blocks > all_misses ||
		sequential < SEQUENTIAL_SHARE * all_misses)
		return -1.0;
	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *use = &plan->uses[i];

		if (use->sequential > 0.0 && (!OidIsValid(use->tablespace_oid) || !is_counted(use->tablespace_oid)))
			return -1.0;
	}
	return (double) plan->device_bytes / BLCKSZ / all_misses;
}

/*
 * Does that share of the whole plan tell what it is for one of its relations?  It does
 * if that relation is nearly all that was read, or everything came from the
 * device, or so little that it cannot be much of this one.
 */
static bool
share_is_its_own(double share, double its_misses, double misses)
{
	return its_misses >= OWN_SHARE * misses || share >= OWN_SHARE ||
		share * misses <= (1.0 - OWN_SHARE) * its_misses;
}

/* all_misses: of all relations of the plan; share: see device_share() */
static void
report_misses(const TierAccessPlan *plan, const RelationUse *use, double all_misses, double share)
{
	double		misses = use->own.fetched - use->own.hit;
	double		random = misses - use->sequential;
	double		weight = plan->weight;
	int64		fetched;
	TierSplitPlans plans;

	memset(&plans, 0, sizeof(plans));
	plans.plans = 1.0;
	plans.hits = weight * use->own.hit;
	if (plan->ignored)
		plans.ignored = weight * misses;
	else
	{
		plans.random = weight * random;
		plans.sequential = weight * use->sequential;
		plans.random_variance = weight * (weight - 1.0) * random * random;
		plans.sequential_variance = weight * (weight - 1.0) * use->sequential * use->sequential;
		if (use->is_changed && !use->is_late)
			plans.added = weight * Min(random, rest_misses(use, &fetched));
		if (share >= 0.0 && share_is_its_own(share, misses, all_misses))
		{
			plans.measured = weight * use->sequential;
			plans.measured_device = plans.measured * share;
		}
		else if (share >= 0.0)
		{
			plans.shared = weight * use->sequential;
			plans.shared_device = plans.shared * share;
		}
	}
	tier_access_counts_add(use->relation_oid, &plans);
}

/* Reports once.  Only numbers: the relations may be closed already. */
static void
finish(TierAccessPlan *plan)
{
	double		misses = 0.0;
	double		sequential = 0.0;
	double		share;

	if (plan->is_done)
		return;
	plan->is_done = true;
	if (!plan->has_run)
		return;
	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *use = &plan->uses[i];

		if (use->own.fetched > use->own.hit)
		{
			split_misses(plan, i);
			misses += use->own.fetched - use->own.hit;
			sequential += use->sequential;
		}
		else if (use->own.fetched > 0)
			tier_access_counts_add_hits(use->relation_oid, plan->weight * use->own.hit);
	}
	if (misses <= 0.0)
		return;
	share = device_share(plan, misses, sequential);
	if (share > 0.0)
		tier_access_counts_saw_device();
	for (int i = 0; i < plan->nuses; i++)
		if (plan->uses[i].own.fetched > plan->uses[i].own.hit)
			report_misses(plan, &plan->uses[i], misses, share);
}

/* The memory of the execution goes. */
static void
forget_plan(void *arg)
{
	TierAccessPlan *plan = arg;

	finish(plan);
	tier_access_plans_watched--;

	/* Only where a process exits without returning through its runs. */
	if (current_plan == plan)
		current_plan = NULL;

	if (nspare_plans < MAX_SPARE_PLANS)
	{
		plan->next_spare = spare_plans;
		spare_plans = plan;
		nspare_plans++;
	}
	else
		pfree(plan);
}

static TierAccessPlan *
allocate_plan(void)
{
	TierAccessPlan *plan = spare_plans;

	if (plan == NULL)
		plan = MemoryContextAlloc(TopMemoryContext, sizeof(TierAccessPlan));
	else
	{
		spare_plans = plan->next_spare;
		nspare_plans--;
	}
	memset(plan, 0, offsetof(TierAccessPlan, inline_uses));
	plan->uses = plan->inline_uses;
	plan->max_uses = INLINE_USES;
	plan->measures = plan->inline_measures;
	plan->max_measures = INLINE_MEASURES;
	return plan;
}

void
tier_access_plan_watch(QueryDesc *query, double probability, bool ignored)
{
	TierAccessPlan *plan;
	WalkContext context;

	prepare_caches();
	tier_access_counts_prepare(tier_access_plan_abandon);

	plan = allocate_plan();
	plan->estate = query->estate;
	plan->weight = 1.0 / probability;
	plan->ignored = ignored;
	plan->is_parallel = query->plannedstmt->parallelModeNeeded;
	plan->callback.func = forget_plan;
	plan->callback.arg = plan;
	MemoryContextRegisterResetCallback(query->estate->es_query_cxt, &plan->callback);
	tier_access_plans_watched++;

	context.plan = plan;
	context.bitmap_node = NULL;
	context.bitmap_use = NO_USE;
	(void) add_node(query->planstate, &context);
	if ((plan->nuses == 0 && !plan->has_changes) || plan->nuses > MAX_USES)
		plan->is_done = true;	/* nothing to watch, or too much */
	else
		start_measuring(plan);
}

TierAccessPlan *
tier_access_plan_find(EState *estate)
{
	TierAccessPlan *plan = find_plan(estate);

	return plan == NULL || plan->is_done ? NULL : plan;
}

bool
tier_access_plan_is_running(void)
{
	return current_plan != NULL;
}

TierAccessPlan *
tier_access_plan_enter(TierAccessPlan *plan)
{
	TierAccessPlan *outer = current_plan;

	if (outer != NULL && outer->nuses > MAX_INTERRUPTED_USES)
		return outer;			/* still the current one: see leave */
	if (outer != NULL)
		pause_counting(outer, true);
	current_plan = plan;
	if (plan != NULL)
	{
		plan->outer = outer;
		plan->has_run = true;
		resume_counting(plan, true);
	}
	return outer;
}

void
tier_access_plan_leave(TierAccessPlan *plan, TierAccessPlan *outer, bool failed)
{
	if (outer != NULL && current_plan == outer)
		return;					/* was not entered */
	if (plan != NULL)
	{
		pause_counting(plan, !failed);
		plan->outer = NULL;
		if (failed)
			finish(plan);
	}
	current_plan = outer;
	if (outer != NULL)
		resume_counting(outer, !failed);
}

void
tier_access_plan_abandon(void)
{
	TierAccessPlan *plan = current_plan;

	/* After the end of the transaction its relations are closed. */
	if (plan != NULL && IsTransactionState())
		pause_counting(plan, false);
	current_plan = NULL;
	for (; plan != NULL; plan = plan->outer)
		finish(plan);
}
