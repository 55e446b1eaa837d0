/*-------------------------------------------------------------------------
 *
 * observe/access.c
 *		Random and sequential reads, observed in the executor: choosing the plans to watch.
 *
 * Runs in every process that executes plans.  A plan is watched with a probability that grows
 * with the planner's estimate of its cost, so that watching costs every plan about the same
 * share of its time, and all expensive plans are watched.  Counts are divided by that
 * probability.  Plans of functions and triggers are chosen separately, because a cheap plan
 * may call a function that reads much.
 *
 * All plans of ignored applications are watched, and COPY of a table, which has no plan: their
 * reads are subtracted from the server's counts, and must be complete.
 *
 * Nothing is watched while no samples are taken: see tier_access_shared_wanted().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "common/pg_prng.h"
#include "catalog/namespace.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "tcop/utility.h"
#include "utils/guc.h"

#include "src/compat.h"
#include "src/observe/access.h"
#include "src/observe/access_counts.h"
#include "src/observe/access_shared.h"
#include "src/observe/access_plan.h"
#include "src/observe/access_plan_private.h"
#include "src/observe/query_reads.h"
#include "src/base/settings.h"

static ExecutorStart_hook_type previous_executor_start = NULL;
static ExecutorRun_hook_type previous_executor_run = NULL;
static ExecutorFinish_hook_type previous_executor_finish = NULL;
static ProcessUtility_hook_type previous_process_utility = NULL;

/* Grows with each plan of this process that is watched. */
static uint64 plans_begun = 0;

static double
watch_probability(const QueryDesc *query)
{
	double		by_cost = query->plannedstmt->planTree->total_cost / TIER_COST_OF_CERTAINTY;

	/*
	 * A parallel worker has a part of the plan, at a part of its cost; but a
	 * plan that starts processes has much to do.
	 */
	if (IsParallelWorker())
		return 1.0;
	return Min(Max(by_cost, TIER_TRACK_SHARE), 1.0);
}

/*
 * Of each group of cheap plans one is chosen, at a random place.  Cheaper than a random number
 * for each, and at least as exact, whatever they read: no two of a group count.
 */
static inline bool
is_chosen(double probability)
{
	static uint32 left = 0;		/* plans of the group that are to come */
	static uint32 chosen;		/* how many will be left then */

	if (probability > TIER_TRACK_SHARE)
		return pg_prng_uint32(&pg_global_prng_state) < probability * (PG_UINT32_MAX + 1.0);
	if (left == 0)
		chosen = pg_prng_uint32(&pg_global_prng_state) % (left = TIER_TRACK_GROUP);
	return --left == chosen;
}

/* Returns true if the name is in the list.  Names are separated by commas, and trimmed. */
static pg_noinline bool
is_in_list(const char *list, const char *name)
{
	size_t		length = strlen(name);

	for (size_t n;; list += n)
	{
		size_t		trimmed;

		list += strspn(list, ", ");
		trimmed = n = strcspn(list, ",");
		if (n == 0)
			return false;
		while (list[trimmed - 1] == ' ')
			trimmed--;
		if (trimmed == length && strncmp(list, name, length) == 0)
			return true;
	}
}

/*
 * Returns true if this session's reads do not count as use.  Searches only when the name or
 * the list has changed.
 */
static inline bool
is_ignored_application(void)
{
	static char checked_name[NAMEDATALEN];
	static uint32 checked_list = 0;
	static bool is_ignored = false;

	if (unlikely(checked_list != tier_ignore_applications_version ||
				 strcmp(checked_name, application_name) != 0))
	{
		is_ignored = is_in_list(tier_ignore_applications, application_name);
		strlcpy(checked_name, application_name, sizeof(checked_name));
		checked_list = tier_ignore_applications_version;
	}
	return is_ignored;
}

static void
access_executor_start(QueryDesc *query, int eflags)
{
	double		probability;
	bool		ignored;

	if (previous_executor_start != NULL)
		previous_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);

	/* Every plan pays for these tests. */
	if (unlikely(!pgstat_track_counts) && (eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		tier_access_shared_note_uncounted();
	if (!tier_track_access || (eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	ignored = is_ignored_application();
	probability = ignored ? 1.0 : watch_probability(query);
	if ((ignored || is_chosen(probability)) && tier_access_shared_wanted())
	{
		plans_begun++;
		tier_access_plan_watch(query, probability, ignored);
	}
}

/* ExecutorRun, or ExecutorFinish, which has only the first argument. */
static inline void
go_on(bool finishes, TIER_COMPAT_EXECUTOR_RUN_PARAMETERS)
{
	if (!finishes && previous_executor_run != NULL)
		previous_executor_run(TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS);
	else if (!finishes)
		standard_ExecutorRun(TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS);
	else if (previous_executor_finish != NULL)
		previous_executor_finish(query);
	else
		standard_ExecutorFinish(query);
}

/*
 * For a process with a watched plan, which may be this one or an outer one.  A separate
 * function, so that other plans do not pay for PG_TRY's stack.
 */
static pg_noinline void
go_on_watched(bool finishes, TIER_COMPAT_EXECUTOR_RUN_PARAMETERS)
{
	TierAccessPlan *plan = tier_access_plan_find(query->estate);
	TierAccessPlan *outer;

	if (plan == NULL && !tier_access_plan_is_running())
	{
		go_on(finishes, TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS);
		return;
	}
	outer = tier_access_plan_enter(plan);
	PG_TRY();
	{
		go_on(finishes, TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS);
	}
	PG_CATCH();
	{
		tier_access_plan_leave(plan, outer, true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tier_access_plan_leave(plan, outer, false);
}

static void
access_executor_run(TIER_COMPAT_EXECUTOR_RUN_PARAMETERS)
{
	if (tier_access_plans_watched > 0)
		go_on_watched(false, TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS);
	else
		go_on(false, TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS);
}

/*
 * Returns true if work or reads are left when the plan has run: changes of data-modifying CTEs
 * that were not read to the end, and AFTER triggers.
 */
static bool
has_work_to_finish(const EState *estate)
{
	ListCell   *cell;

	if (estate->es_auxmodifytables != NIL || estate->es_tuple_routing_result_relations != NIL)
		return true;
	foreach(cell, estate->es_opened_result_relations)
	{
		if (((ResultRelInfo *) lfirst(cell))->ri_TrigDesc != NULL)
			return true;
	}
	return false;
}

static void
access_executor_finish(QueryDesc *query)
{
	if (tier_access_plans_watched > 0 && has_work_to_finish(query->estate))
		go_on_watched(true, TIER_COMPAT_EXECUTOR_RUN_NOTHING);
	else
		go_on(true, TIER_COMPAT_EXECUTOR_RUN_NOTHING);
}

/* ---------------------------------------------------------------------
 * COPY table TO, of an application that is ignored
 *
 * COPY of a table, and with it pg_dump, reads without a plan: the table from its beginning to
 * its end, and for each value that is not in its row the TOAST table, by its index.  As
 * nothing else runs in the process meanwhile, the difference of the counters that it has not
 * handed on yet is the number of blocks read.  COPY of a query, and of a table whose rows are
 * not all visible to the user, has a plan.
 * ---------------------------------------------------------------------
 */

/* The table, its TOAST table and the index of that. */
#define COPY_RELATIONS 3

/* The counters of these relations before one COPY.  If the COPY fails, its reads count as use. */
typedef struct CopyReads
{
	int			n;				/* 0: it reads nothing that is observed */
	Oid			relation_oids[COPY_RELATIONS];
	TierCompatBlockCounts before[COPY_RELATIONS];
} CopyReads;

/* Locks the table as the COPY will, and raises no error that it would not. */
static void
begin_copy(CopyReads *copy, const CopyStmt *statement)
{
	Oid			relation_oid = RangeVarGetRelid(statement->relation, AccessShareLock, true);

	copy->n = 0;
	if (!OidIsValid(relation_oid))
		return;
	copy->n = tier_access_relations_of_table(relation_oid, copy->relation_oids);
	for (int i = 0; i < copy->n; i++)
		tier_compat_pending_block_counts(copy->relation_oids[i], &copy->before[i]);
}

/* The COPY has succeeded, and no watched plan has run within it. */
static void
end_copy(const CopyReads *copy)
{
	tier_access_counts_prepare(tier_access_plan_abandon);
	for (int i = 0; i < copy->n; i++)
	{
		const TierCompatBlockCounts *before = &copy->before[i];
		TierCompatBlockCounts counts;

		tier_compat_pending_block_counts(copy->relation_oids[i], &counts);
		counts.scans = Max(counts.scans - before->scans, 0);
		counts.tuples = Max(counts.tuples - before->tuples, 0);
		counts.fetched = Max(counts.fetched - before->fetched, 0);
		counts.hit = Min(Max(counts.hit - before->hit, 0), counts.fetched);
		tier_access_counts_add_ignored(copy->relation_oids[i], &counts);
	}
}

/*
 * Returns true for a COPY of a table whose reads do not count as use, unless it runs within a
 * plan that is counted, which would include them.
 */
static bool
is_ignored_copy(const Node *statement)
{
	const CopyStmt *copy;

	if (!IsA(statement, CopyStmt))
		return false;
	copy = (const CopyStmt *) statement;
	return !copy->is_from && copy->relation != NULL && tier_track_access &&
		is_ignored_application() && !tier_access_plan_is_running() &&
		tier_access_shared_wanted();
}

static void
access_process_utility(PlannedStmt *statement, const char *query, bool read_only_tree,
					   ProcessUtilityContext context, ParamListInfo parameters,
					   QueryEnvironment *environment, DestReceiver *destination,
					   QueryCompletion *completion)
{
	CopyReads	copy;
	uint64		begun = plans_begun;

	copy.n = 0;
	if (is_ignored_copy(statement->utilityStmt))
		begin_copy(&copy, (const CopyStmt *) statement->utilityStmt);

	(previous_process_utility != NULL ? previous_process_utility : standard_ProcessUtility)
		(statement, query, read_only_tree, context, parameters, environment, destination,
		 completion);

	/*
	 * If plans have run within it, their counted and uncounted reads cannot
	 * be told apart.
	 */
	if (copy.n > 0 && plans_begun == begun)
		end_copy(&copy);
}

void
tier_access_init(void)
{
	tier_access_shared_init();
	tier_query_reads_init();

	previous_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = access_executor_start;
	previous_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = access_executor_run;
	previous_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = access_executor_finish;
	previous_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = access_process_utility;
}
