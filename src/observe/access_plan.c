/*-------------------------------------------------------------------------
 *
 * observe/access_plan.c
 *		The reads of one running plan, by relation.
 *
 * Runs in every backend and parallel worker with a watched plan.  The server counts for each
 * relation, in the memory of the process, the requested blocks and the hits among them.  The
 * difference around a run of the plan gives its reads.  A nested plan (of functions, triggers)
 * takes over the counting while it runs, watched or not, so that no block counts twice.
 *
 * That suffices for a relation that all nodes of the plan read in the same order.  A relation
 * that is scanned in two ways, or scanned and changed, is measured around each call of its
 * scan nodes, whose ExecProcNode is replaced by measure_node().  The rest was read where rows
 * are changed or locked, and by rechecks of concurrent updates.  Index nodes are measured for
 * another reason, too: to find the relations for which a device was read.
 *
 * Relations that the plan has open are reached through their relcache entry, which stays where
 * it is while they are open.  TOAST tables, their indexes and the indexes of tables that are
 * changed are looked up by OID.  No pointer to counters is kept, because they move when the
 * server reports them.
 *
 * Partitions that rows are routed to are known only from the first row on.  Their earlier
 * reads are inferred: the reads of this process, minus those of all other relations of the
 * plan, and at most the values of the partitions' counters.
 *
 * The kernel counts for each process which of the reads came from a device and not from the
 * page cache.  It is asked only after reads.
 *
 * Memory: the struct is taken from a list of spare ones; larger arrays are in the memory
 * context of the execution.  A callback of that context, when it is deleted, ends the watch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/resource.h>

#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/memnodes.h"
#include "nodes/pg_list.h"
#include "pgstat.h"

#include "src/compat.h"
#include "src/observe/access_counts.h"
#include "src/observe/access_plan.h"
#include "src/observe/access_plan_private.h"

/*
 * A plan with more relations than this is not interrupted by what runs within
 * it, which counts as its own: each row could run something.
 */
#define MAX_INTERRUPTED_USES 32

/* A plan with more is not watched: the time to report it is not quite linear. */
#define MAX_USES 4096

/* Spare structs that are kept: as deep as functions usually nest. */
#define MAX_SPARE_PLANS 8

#define RUSAGE_BLOCK_BYTES 512	/* of ru_inblock, on Linux */

int			tier_access_plans_watched = 0;

/* The plan to which current reads belong. */
static TierAccessPlan *current_plan = NULL;

static TierAccessPlan *spare_plans = NULL;
static int	nspare_plans = 0;

static void forget_plan(void *arg);

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

/* Grows with each block that this process reads, except those of WAL and the like. */
static inline int64
all_reads(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read +
		pgBufferUsage.temp_blks_read;
}

/* Grows with each block that this process requests. */
static inline int64
all_requests(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_written + all_reads();
}

static int64 device_bytes_known = 0;
static int64 reads_when_known = -1;

/* Bytes that this process has read from devices, including read-ahead. */
static pg_noinline int64
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

/* From here on, reads belong to the plan. */
static void
begin_reads(TierAccessPlan *plan)
{
	plan->read_base = pgBufferUsage.shared_blks_read;
	plan->hit_base = pgBufferUsage.shared_blks_hit;
	plan->temp_base = pgBufferUsage.temp_blks_read;
	plan->device_base = recent_device_bytes();
}

/*
 * Takes the reads until here.  From 17 on a block may be counted for its relation some time
 * before it is read and counted here; so neither tells when to ask.
 */
static void
end_reads(TierAccessPlan *plan, int64 misses)
{
	int64		reads = pgBufferUsage.shared_blks_read - plan->read_base;

	if (misses > 0 || reads > 0)
	{
		int64		device_bytes = ask_device_bytes() - plan->device_base;

		plan->device_bytes += Max(device_bytes, 0);
		plan->all_misses += reads;
		plan->temp_blocks += pgBufferUsage.temp_blks_read - plan->temp_base;
	}

	/* Counting may go on without being begun anew. */
	begin_reads(plan);
}

/*
 * Begins or resumes counting.  A relation that has not been read since its counters were
 * reported is connected with new ones here, where memory may be allocated; otherwise its
 * earlier counts would be missed.
 *
 * After an error nothing may be looked up: locks may be held until the abort, those of the
 * statistics among them.  Relations that the plan does not have open then keep the reads of
 * that time.
 */
static void
resume_counting(TierAccessPlan *plan, bool may_look_up)
{
	int64		requests = all_requests();

	plan->requests_at_resume = requests;
	if (TIER_COMPAT_BUFFER_USAGE_IS_PROMPT && plan->has_paused && !plan->ignored &&
		requests == plan->requests_at_pause)
		return;					/* no reads since: all counters are unchanged */
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
	{
		ResultRelInfo *partition = list_nth(partitions, plan->nrouted);

		tier_access_relations_add_result(plan, partition->ri_RelationDesc, true);
	}

	for (int i = first; i < plan->nuses; i++)
	{
		RelationUse *use = &plan->uses[i];

		use->is_late = true;
		read_counts(use, &use->own);
		use->base = use->own;	/* its present counts do not count again */
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

	/* For ignored applications, scans of empty tables must be known, too. */
	if (TIER_COMPAT_BUFFER_USAGE_IS_PROMPT && !plan->ignored &&
		requests == plan->requests_at_resume)
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
		use->own.tuples += Max(now.tuples - use->base.tuples, 0);
		use->base = now;
		fetched += more_fetched;
		misses += Max(more_fetched - more_hit, 0);
	}
	if (may_look_up && plan->has_changes &&
		list_length(plan->estate->es_tuple_routing_result_relations) > plan->nrouted)
		count_new_partitions(plan, fetched, misses);
	end_reads(plan, misses);
}

/* Reads of the plan so far that belong to none of its measured nodes. */
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

static int64
misses_so_far(const TierAccessPlan *plan, const RelationUse *use)
{
	int64		fetched;
	int64		hit;

	read_unmeasured(plan, use, &fetched, &hit);
	return fetched + use->measured_fetched - hit - use->measured_hit;
}

/* The reads of the plan itself, without nested plans: unwatched blocks, and bytes from devices. */
static inline int64
unwatched_misses(const TierAccessPlan *plan)
{
	return plan->all_misses - plan->watched_misses +
		(plan == current_plan ? pgBufferUsage.shared_blks_read - plan->read_base : 0);
}

static inline int64
plan_device_bytes(const TierAccessPlan *plan)
{
	int64		device_bytes = plan == current_plan ?
	recent_device_bytes() - plan->device_base : 0;

	return plan->device_bytes + Max(device_bytes, 0);
}

/*
 * The misses of a relation since the last look, up to *rest, which is reduced.  At the first
 * look in a plan, some of them may be older.
 */
static CallMisses
take_misses(TierAccessPlan *plan, int use, int64 *rest)
{
	CallMisses	call;
	int64		so_far;

	call.use = &plan->uses[use];
	so_far = misses_so_far(plan, call.use);
	call.misses = Min(Max(so_far - call.use->looked_at, 0), *rest);
	call.use->looked_at = so_far;
	*rest -= call.misses;
	return call;
}

/*
 * A call of a node has missed so many blocks, and so many were read from devices for it,
 * without the reads attributed to nodes within it.  Most calls miss one block, so that it is
 * certain whose that was; of a whole plan it hardly ever is.  Reads that cannot be attributed
 * to a relation are left to the enclosing node, or to the plan.
 *
 * A bitmap scan prefetches blocks: blocks that were read in one call and not missed may be
 * those that the next call misses.
 */
static pg_noinline void
note_requests(TierAccessPlan *plan, NodeMeasure *first, int nmeasures, int64 misses,
			  double blocks)
{
	CallMisses	calls[MAX_RELATIONS_OF_CALL];
	int			ncalls = 0;
	int			toast = NO_USE;
	double		blocks_of_call = blocks;
	double		theirs;
	double		ahead;
	int64		rest = misses;
	bool		asks_ahead = false;

	for (int i = 0; i < nmeasures; i++)
	{
		calls[ncalls++] = take_misses(plan, first[i].use, &rest);
		if (plan->uses[first[i].use].toast_use != NO_USE)
			toast = plan->uses[first[i].use].toast_use;
		asks_ahead |= first[i].order == TIER_SPLIT_GAPS;
	}
	if (rest > 0 && toast != NO_USE)
	{
		calls[ncalls++] = take_misses(plan, toast, &rest);
		calls[ncalls++] = take_misses(plan, plan->uses[toast].index_use, &rest);
	}
	blocks += first->read_ahead;
	ahead = Max(blocks - misses, 0.0);
	first->read_ahead = asks_ahead ? ahead : 0.0;
	theirs = tier_access_share_requests(calls, ncalls, misses, blocks, asks_ahead ? 0.0 : ahead);
	plan->watched_misses += misses - rest;
	plan->watched_blocks +=
		rest > 0 ? Min(theirs + first->read_ahead, blocks_of_call) : blocks_of_call;
}

/*
 * Stands for a node's own function, and measures it.  A node within it (in a
 * subplan) takes its part for itself.  Called for each row: what costs more than some
 * comparisons is done only where several orders have to be told apart, or
 * something was read.
 */
static TupleTableSlot *
measure_node(PlanState *node)
{
	TierAccessPlan *plan = find_plan(node->state);
	NodeMeasure *first = find_measures(plan, node);
	int64		device_bytes = plan_device_bytes(plan);
	int64		temp_blocks = pgBufferUsage.temp_blks_read;
	int64		misses = unwatched_misses(plan);
	double		watched_blocks = plan->watched_blocks;
	int64		fetched[MAX_MEASURES_OF_NODE];
	int64		hit[MAX_MEASURES_OF_NODE];
	TupleTableSlot *slot;
	int			n;

	for (n = 0; n < MAX_MEASURES_OF_NODE && first + n < plan->measures + plan->nmeasures &&
		 first[n].node == node; n++)
		if (first[n].is_mixed)
		{
			RelationUse *use = &plan->uses[first[n].use];

			read_unmeasured(plan, use, &fetched[n], &hit[n]);
			use->looked_at = misses_so_far(plan, use);
		}

	slot = first->real(node);

	misses = unwatched_misses(plan) - misses;
	if (misses > 0 && pgBufferUsage.temp_blks_read == temp_blocks)
		note_requests(plan, first, n, misses,
					  Max((double) (plan_device_bytes(plan) - device_bytes) / BLCKSZ -
						  (plan->watched_blocks - watched_blocks), 0.0));

	for (int i = 0; i < n; i++)
	{
		RelationUse *use = &plan->uses[first[i].use];
		int64		now_fetched;
		int64		now_hit;

		if (!first[i].is_mixed)
			continue;
		read_unmeasured(plan, use, &now_fetched, &now_hit);
		first[i].fetched += now_fetched - fetched[i];
		first[i].hit += now_hit - hit[i];
		use->measured_fetched += now_fetched - fetched[i];
		use->measured_hit += now_hit - hit[i];
	}
	return slot;
}

/*
 * Returns true if blocks are requested one by one, so that it is worthwhile to ask the kernel
 * about each call of a node.
 */
static bool
has_single_reads(TierSplitOrder order)
{
	return order == TIER_SPLIT_BY_INDEX || order == TIER_SPLIT_INDEX || order == TIER_SPLIT_GAPS;
}

/*
 * Keeps the measures of relations that are read in more than one order, and of nodes
 * whose reads are random.
 */
static void
start_measuring(TierAccessPlan *plan)
{
	int			kept = 0;

	for (int i = 0; i < plan->nmeasures; i++)
	{
		NodeMeasure *measure = &plan->measures[i];
		int			orders = plan->uses[measure->use].orders;

		measure->is_mixed = (orders & (orders - 1)) != 0;
		if ((!measure->is_mixed && !has_single_reads(measure->order)) ||
			measure->order == TIER_SPLIT_SINGLE || measure->node->state != plan->estate)
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
 * From the start of a plan to the end of its memory
 * ---------------------------------------------------------------------
 */

/* Reports once.  Only numbers: the relations may be closed already. */
static void
finish(TierAccessPlan *plan)
{
	if (plan->is_done)
		return;
	plan->is_done = true;
	if (plan->has_run)
		tier_access_report(plan);
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

	tier_access_counts_prepare(tier_access_plan_abandon);

	plan = allocate_plan();
	plan->estate = query->estate;
	plan->query_id = (int64) query->plannedstmt->queryId;
	plan->weight = 1.0 / probability;
	plan->ignored = ignored;
	plan->is_parallel = query->plannedstmt->parallelModeNeeded;
	plan->callback.func = forget_plan;
	plan->callback.arg = plan;
	MemoryContextRegisterResetCallback(query->estate->es_query_cxt, &plan->callback);
	tier_access_plans_watched++;

	tier_access_relations_find(plan, query->planstate);
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
