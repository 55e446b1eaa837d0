/*-------------------------------------------------------------------------
 *
 * act/migrate.c
 *		Doing what the policies ask for, and what is advised: load, decide, act.
 *
 * Runs in the worker and in sessions that CALL migrate.  All tiering policies are
 * evaluated on one snapshot and one moment; then each relation is moved by
 * act/move.c, which checks again, since by then the world may have changed.  Fullness
 * policies have their turn as soon as a tier is too full, once what is due to leave it has
 * gone; the advice comes last, and sees what has been done.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/base/transaction.h"
#include "src/act/batch.h"
#include "src/act/claims.h"
#include "src/act/due.h"
#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/act/migrate.h"
#include "src/act/move.h"
#include "src/act/patience.h"
#include "src/act/plan.h"
#include "src/decide/partition.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"

/* In the log. */
#define CAUSE "tiering policies"

/* The batch of a run begins with its first move. */
static void
begin_batch(TierMigrateSummary *summary)
{
	summary->batch_id = tier_batch_begin(CAUSE, summary->due_relations, summary->due_bytes,
										 &summary->counts);
}

/*
 * Has it to wait for a move window?  Then it is counted as such.  In the memory context
 * of the run.
 */
static bool
has_to_wait(const TierDueJob *job, const TierSet *set, Oid relation_oid, bool by_worker,
			TierMigrateSummary *summary)
{
	TierPlannedMove planned;
	TierMoveStart start;

	if (!tier_due_plan(job, relation_oid, by_worker, &planned))
		return false;
	start = tier_gate_ask(set, &planned);
	if (start.may_begin)
		return false;
	if (summary->counts.waiting++ == 0)
		summary->why_waiting = start.reason;
	return true;
}

/* A run, and what has become of it so far. */
typedef struct Run
{
	const TierSet *set;
	const Oid  *backoff;		/* relations that failed lately, sorted */
	int			nbackoff;
	bool		by_worker;
	bool		ignore_windows;
	const TierIdle *idle;
	MemoryContext context;		/* of the run, and of its lists */
	MemoryContext step;			/* reset before each move */
	TierPatience *patience;		/* with what is locked; of the worker */
	TierPass	plan;			/* what fails before its move, */
	TierPass	moves;			/* and what fails in it without a record */
	bool		is_over;		/* the extension is not what it was */
	List	   *done;			/* OIDs of what was moved */
	List	   *in_vain;		/* and of what could not be */
	int			nlimited;		/* relations that are not returned because of
								 * the limit */
	uint32		limited_hash;	/* of their OIDs */
	char	   *limited_name;	/* of the first */
	const TierDueJob *jobs;
	int			njobs;
	const TierFullnessRun *how; /* for fullness policies, but for its lists */
	List	   *first;			/* names of tiers from which something goes
								 * first; NIL once that is done */
	bool		has_emptied;	/* all of these policies have had their turn */
	List	   *stuck;			/* names of tiers that have stayed above their
								 * marks then */
	int			emptied_done;	/* length of `done` after that */
	int64		emptied_us;		/* when, by tier_clock_monotonic_us */
	int64		looked_us;		/* when is_too_full() has looked last */
	int			looked_moves;	/* and after how many moves */
	TierMigrateSummary *summary;
} Run;

/* Another one that does not return, for log_limited(). */
static void
note_limited(Run *run, Oid relation_oid)
{
	TierRelationInfo info;

	if (!tier_relation_lookup(relation_oid, &info))
		return;
	if (run->nlimited++ == 0)
		run->limited_name = MemoryContextStrdup(run->context, info.name);
	run->limited_hash = hash_combine(run->limited_hash, murmurhash32(relation_oid));
}

/*
 * What the worker does not return is in the log once, and again only when it is something
 * else: a run comes every few minutes.
 */
static void
log_limited(const Run *run)
{
	TierDatabaseSlot *slot;
	uint32		hash = run->nlimited == 0 ? 0 : Max(run->limited_hash, 1);
	bool		is_new = false;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(MyDatabaseId, false);
	if (slot != NULL)
	{
		is_new = slot->limited_hash != hash;
		slot->limited_hash = hash;
	}
	LWLockRelease(tier_shmem->lock);
	if (is_new && run->nlimited > 0)
		ereport(LOG,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg_plural("%d relation does not return today: %s",
							   "%d relations do not return today, the first of them %s",
							   run->nlimited, run->nlimited, run->limited_name),
				 errdetail("tiered_storage.move_limit_per_day is %d MB.",
						   tier_move_limit_per_day_mb)));
}

/* Moves what was just decided again. */
static void
move_member(Run *run, TierDueDecision *decision)
{
	TierMigrateSummary *summary = run->summary;
	TierMoveRequest request = tier_due_request(&decision->now, decision->set,
											   decision->relation_oid);
	Oid			owner_oid = decision->now.leaf->info.owner_oid;
	TierMoveReport report;

	if (summary->batch_id == 0)
		begin_batch(summary);
	if (OidIsValid(decision->returns_to))
		request.tablespace_oid = decision->returns_to;
	request.batch_id = summary->batch_id;
	request.obeys_windows = !run->ignore_windows;
	request.only_if_free = run->by_worker && tier_patience_is_over(run->patience, owner_oid);
	request.is_wanted = tier_due_is_still;
	request.argument = decision;
	request.idle = run->idle;
	request.counts = &summary->counts;
	request.is_one_of_many = true;
	report = tier_move_one(&request);
	if (report.unrecorded != NULL)
		(void) tier_pass_failed(&run->moves, decision->relation_oid, NULL, report.unrecorded);
	else
		tier_move_warn(&report, run->by_worker);
	if (report.state == TIER_STATE_DONE)
		run->done = lappend_oid(run->done, decision->relation_oid);
	else if (report.state == TIER_STATE_SKIPPED || report.state == TIER_STATE_FAILED)
		run->in_vain = lappend_oid(run->in_vain, decision->relation_oid);
	if (report.state == TIER_STATE_WAITING && summary->counts.waiting++ == 0)
		summary->why_waiting = report.error;
	if (tier_move_was_busy(&report))
		tier_patience_spend(run->patience, owner_oid, report.worked_ms);
}

/* What a run does with a relation when its turn has come. */
typedef enum MemberState
{
	MEMBER_MOVES,
	MEMBER_WAITS,
	MEMBER_STAYS,				/* counted as not moved */
	MEMBER_UNWANTED				/* by now, or nothing is wanted any more */
} MemberState;

/* What plan_step() is given, and what it finds. */
typedef struct Member
{
	Run		   *run;
	const TierDueJob *job;
	TierDueDecision decision;
	MemberState state;
} Member;

/* Is there a tablespace for it, and a move window, and is it still due? */
static void
plan_step(void *argument)
{
	Member	   *member = argument;
	Run		   *run = member->run;
	TierDueDecision *decision = &member->decision;
	Oid			relation_oid = decision->relation_oid;
	TierRelationInfo info;

	tier_debug_relation("plan", relation_oid);
	member->state = MEMBER_STAYS;
	if (!OidIsValid(tier_partition_tablespace(member->job->leaf, relation_oid)))
	{
		if (tier_relation_lookup(relation_oid, &info))
			tier_due_warn_no_tablespace(&info, tier_due_target(member->job, run->set,
															   relation_oid),
										run->by_worker ? LOG : WARNING);
		return;
	}
	member->state = MEMBER_WAITS;
	if (!run->ignore_windows && has_to_wait(member->job, run->set, relation_oid, run->by_worker,
											run->summary))
		return;
	member->state = MEMBER_UNWANTED;
	MemoryContextReset(run->step);
	MemoryContextSwitchTo(run->step);
	if (!tier_due_decide_again(decision))
		return;
	MemoryContextSwitchTo(run->context);
	member->state = MEMBER_STAYS;
	if (bsearch(&relation_oid, run->backoff, run->nbackoff, sizeof(Oid), oid_cmp) != NULL ||
		!OidIsValid(tier_partition_tablespace(decision->now.leaf, relation_oid)))
		return;
	if (!tier_due_is_within_limit(&decision->now, relation_oid, run->by_worker))
	{
		note_limited(run, relation_oid);
		return;
	}
	member->state = run->ignore_windows ||
		!has_to_wait(&decision->now, decision->set, relation_oid, run->by_worker, run->summary) ?
		MEMBER_MOVES : MEMBER_WAITS;
}

/* False: nothing more is to be moved. */
static bool
run_member(Run *run, const TierDueJob *job, Oid relation_oid)
{
	Member		member = {
		.run = run,.job = job,
		.decision =
		{
			.first = job,.first_set = run->set,.relation_oid = relation_oid
		}
	};
	ErrorData  *error;

	CHECK_FOR_INTERRUPTS();
	if (run->by_worker && tier_batch_is_switched_off(TIER_AUTO_MIGRATE_POLICIES))
		return false;
	if (tier_pass_skips(&run->plan, relation_oid) || tier_pass_skips(&run->moves, relation_oid))
	{
		run->summary->counts.not_moved++;
		return true;
	}
	tier_debug_point("between_moves");
	MemoryContextSwitchTo(run->context);
	error = tier_attempt(plan_step, &member);
	if (error != NULL)
	{
		(void) tier_pass_failed(&run->plan, relation_oid, NULL, error);
		member.state = MEMBER_STAYS;
	}
	tier_transaction_commit();
	MemoryContextSwitchTo(run->context);
	switch (member.state)
	{
		case MEMBER_WAITS:
			break;
		case MEMBER_STAYS:
			run->summary->counts.not_moved++;
			break;
		case MEMBER_UNWANTED:
			run->is_over = !tier_batch_may_go_on(run->by_worker);
			if (run->is_over)
				return false;
			run->summary->no_longer_due++;
			break;
		case MEMBER_MOVES:
			move_member(run, &member.decision);
			break;
	}
	MemoryContextSwitchTo(run->context);
	return true;
}

/*
 * Moves one leaf with what goes along; a relation that fails does not stop the others.
 */
static void
run_job(Run *run, const TierDueJob *job)
{
	ListCell   *cell;

	foreach(cell, job->members)
	{
		if (!run_member(run, job, lfirst_oid(cell)))
			return;
	}
}

/*
 * Fullness policies have their turn.  What they look at is no longer needed after it, and a run
 * may have many.
 */
static void
empty_tiers(Run *run)
{
	MemoryContext context = AllocSetContextCreate(run->context, "tiered_storage emptying",
												  ALLOCSET_DEFAULT_SIZES);
	TierFullnessRun emptying = *run->how;
	TierFullnessSummary summary;
	List	   *names;

	MemoryContextSwitchTo(context);
	emptying.moved = tier_due_sorted_oids(run->done, &emptying.nmoved);
	emptying.returning = tier_due_returning_of(run->jobs, run->njobs, &emptying.nreturning);
	emptying.in_vain = tier_due_sorted_oids(run->in_vain, &emptying.nin_vain);
	emptying.not_yet = run->first;
	summary = tier_fullness_run(&emptying);
	MemoryContextSwitchTo(context);
	names = summary.is_over ? NIL : tier_levels_above_now();
	tier_transaction_commit();
	MemoryContextSwitchTo(run->context);
	summary.tried = list_copy(summary.tried);
	if (summary.why_waiting != NULL)
		summary.why_waiting = pstrdup(summary.why_waiting);
	run->stuck = NIL;
	for (int i = 0; i < list_length(names); i++)
		if (!tier_level_is_named(run->first, list_nth(names, i)))
			run->stuck = lappend(run->stuck, pstrdup(list_nth(names, i)));
	MemoryContextDelete(context);
	run->has_emptied = run->first == NIL;
	run->emptied_us = tier_clock_monotonic_us();
	run->is_over = run->is_over || summary.is_over;

	/* Nothing is moved twice in a run. */
	run->done = list_concat(run->done, summary.tried);
	run->emptied_done = list_length(run->done);
	tier_fullness_add(&run->summary->emptied, &summary);
}

/*
 * Is a tier above the mark of its fullness policy, beside those for which nothing could be done
 * a short time ago?  Looks after each move, and where nothing begins, once in a second.
 */
static bool
is_too_full(Run *run)
{
	int64		now_us = tier_clock_monotonic_us();
	int			moves = run->summary->counts.moved + run->summary->counts.not_moved;
	bool		forgets = now_us - run->emptied_us > tier_migrate_interval_s * USECS_PER_SEC;
	bool		is_any = false;
	MemoryContext context;
	List	   *names;
	ListCell   *cell;

	if (run->looked_us != 0 && run->looked_moves == moves &&
		now_us - run->looked_us < USECS_PER_SEC)
		return false;
	run->looked_us = now_us;
	run->looked_moves = moves;
	context = AllocSetContextCreate(run->context, "tiered_storage levels",
									ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	names = tier_levels_above_now();
	tier_transaction_commit();
	foreach(cell, names)
		is_any = is_any || (!tier_level_is_named(run->first, lfirst(cell)) &&
							(forgets || !tier_level_is_named(run->stuck, lfirst(cell))));
	MemoryContextSwitchTo(run->context);
	MemoryContextDelete(context);
	return is_any;
}

/* What goes first has gone: now all tiers have their turn. */
static void
let_all_leave(Run *run)
{
	run->first = NIL;
	run->looked_us = 0;
}

/*
 * The batch.  A tier that is too full, or becomes so while others are being moved, does not wait
 * for the end of all that is due.
 */
static void
run_jobs(void *argument)
{
	Run		   *run = argument;

	for (int i = 0; i < run->njobs && !run->is_over; i++)
	{
		if (!run->jobs[i].comes_first && run->first != NIL)
			let_all_leave(run);
		if (is_too_full(run))
			empty_tiers(run);
		if (run->is_over)
			break;
		run_job(run, &run->jobs[i]);
		if (run->idle != NULL && run->idle->is_due())
			run->idle->run();
	}
	MemoryContextSwitchTo(run->context);
	if (run->by_worker)
		log_limited(run);
}

char *
tier_migrate_policies_of(int64 batch_id, int *n, TierPolicyKind *kind)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	char	   *policies;

	if (batch_id == 0 || !tier_catalog_try_enter(&scope))
		return NULL;
	policies = tier_catalog_policies_of_batch(context, batch_id, n, kind);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	return policies;
}

/* What is told of an evaluation; returning and pinned of its leaves do or are. */
static const char *
result_of(const TierEvaluation *evaluation, int due, int returning, int pinned, int failed)
{
	if (evaluation->error != NULL)
		return evaluation->error;
	if (evaluation->policy->on_shards && evaluation->nleaves == 0)
		return "its rows are in shards of Citus, none of which is on this node";
	return psprintf("%d of %d partitions are due%s%s%s", due, evaluation->nleaves,
					returning == 0 ? "" : psprintf(", %d return", returning),
					pinned == 0 ? "" : psprintf(", %d pinned to another tier", pinned),
					failed == 0 ? "" : psprintf(", %d left out after errors", failed));
}

static void
record_evaluations(const TierDue *all)
{
	TierEvaluation **evaluations = all->evaluations;
	int			n = all->nevaluations;
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	for (int i = 0; i < n; i++)
	{
		int			due = 0;
		int			on_target = 0;
		int			pinned = 0;
		int			returning = 0;
		int			failed = 0;

		for (int j = 0; j < evaluations[i]->nleaves; j++)
		{
			due += evaluations[i]->leaves[j].verdict == TIER_VERDICT_DUE;
			on_target += evaluations[i]->leaves[j].verdict == TIER_VERDICT_ON_TARGET;
			pinned += evaluations[i]->leaves[j].verdict == TIER_VERDICT_PINNED;
			returning += evaluations[i]->leaves[j].verdict == TIER_VERDICT_RETURNS;
			failed += evaluations[i]->leaves[j].verdict == TIER_VERDICT_ERROR;
		}
		tier_catalog_policy_evaluated(evaluations[i]->policy->policy_id, due, on_target,
									  result_of(evaluations[i], due, returning, pinned, failed));
	}
	tier_catalog_leave(&scope);
}

/*
 * What the load asks for, after the policies, whose moves it sees.  Within a
 * limit of bytes a day: where the advice is wrong, that is slow enough for
 * somebody to notice.
 */
static void
apply_advice(const TierSet *set, bool by_worker, bool ignore_windows, const TierIdle *idle,
			 TierMigrateSummary *summary)
{
	TierApplyRequest request = {0};
	TierCatalogScope scope;
	TierMoveStart start;

	request.least = TIER_CONFIDENCE_FIRM;
	request.max_bytes = INFINITY;
	request.for_owners = true;
	request.ignore_windows = ignore_windows;
	request.by_worker = by_worker;
	request.idle = idle;
	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT || !tier_catalog_try_enter(&scope))
		return;
	if (tier_move_limit_per_day_mb >= 0)
		request.max_bytes = tier_due_left_of_limit();
	tier_catalog_leave(&scope);
	summary->placement = request.max_bytes > 0;
	if (!summary->placement)
		return;

	/* What is advised need not be found out while nothing of it may begin. */
	start = tier_gate_ask_any(set, TIER_PRESSING_NO);
	if (!ignore_windows && !start.may_begin)
	{
		summary->placement_waits = true;
		summary->applied.why_waiting = start.reason;
		return;
	}
	summary->applied = tier_apply_run(&request);
}

/* What is due, of a run; see count_due(). */
typedef struct Due
{
	const TierDueJob *jobs;
	int			njobs;
	TierMigrateSummary *summary;
} Due;

static void
count_step(void *argument)
{
	const Due  *due = argument;
	TierMigrateSummary *summary = due->summary;

	for (int i = 0; i < due->njobs; i++)
	{
		ListCell   *cell;

		foreach(cell, due->jobs[i].members)
		{
			TierRelationInfo info;

			CHECK_FOR_INTERRUPTS();
			if (!tier_relation_lookup(lfirst_oid(cell), &info))
				continue;
			summary->due_relations++;
			summary->due_bytes += (double) tier_relation_disk_bytes(&info);
		}
	}
}

/* For the log, which says less if one of them cannot be looked at. */
static void
count_due(const TierDueJob *jobs, int njobs, TierMigrateSummary *summary)
{
	Due			due = {jobs, njobs, summary};
	ErrorData  *error = tier_attempt(count_step, &due);

	if (error != NULL && tier_error_is_about_all(error))
		ReThrowError(error);
}

/* ---------------------------------------------------------------------
 * The plan
 * ---------------------------------------------------------------------
 */

/* What the plan is made of. */
typedef struct State
{
	TierPlanOptions options;
	const TierSet *set;
	const TierPins *pins;
	const TierDue *due;
	Oid		   *backoff;		/* relations that failed lately, sorted */
	int			nbackoff;
} State;

/* False: the extension has gone, which is an error for a person. */
static bool
load_state(State *state, bool dry_run)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	if (!state->options.by_worker)
		tier_catalog_enter(&scope);
	else if (!tier_catalog_try_enter(&scope))
		return false;
	if (!dry_run)
		tier_catalog_refresh_identities();
	state->set = tier_catalog_load_tiers(context);
	state->pins = tier_catalog_load_pins(context);
	if (state->options.by_worker)	/* a person who asks means now */
		state->backoff = tier_catalog_load_backoff(context, &state->nbackoff);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	tier_gate_forget();
	state->due = tier_due_load(state->set, state->pins);
	return true;
}

static void
plan_all_step(void *argument)
{
	const State *state = argument;

	tier_plan_store(tier_plan_make(&state->options, state->set, state->pins, state->due));
}

/* That the plan is not stored is no reason not to carry it out. */
static void
store_plan(State *state)
{
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage plan",
												  ALLOCSET_DEFAULT_SIZES);
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = tier_attempt(plan_all_step, state);
	MemoryContextSwitchTo(old_context);
	if (error != NULL && tier_error_is_about_all(error))
		ReThrowError(error);
	if (error != NULL)
		ereport(LOG, (errmsg("could not store the plan of moves: %s", error->message)));
	MemoryContextDelete(context);
}

static void
count_policies(const TierDue *due, TierMigrateSummary *summary)
{
	summary->policies = due->policies;
	summary->disabled = due->policies - due->nevaluations;
	summary->failed = due->failed;
	summary->partitions = due->partitions;
	summary->due = due->nleaves;
}

TierMigrateSummary
tier_migrate_dry_run(bool ignore_windows)
{
	State		state = {.options = {.ignore_windows = ignore_windows}};
	TierMigrateSummary summary = {0};
	TierPlan   *plan;

	(void) load_state(&state, true);
	tier_claims_require(state.set, true);
	plan = tier_plan_make(&state.options, state.set, state.pins, state.due);
	tier_plan_print(plan);
	count_policies(state.due, &summary);
	summary.emptied = plan->emptied;
	summary.applied = plan->applied;
	summary.placement = plan->advice != NULL && plan->request.max_bytes > 0;
	return summary;
}

void
tier_migrate_plan(void)
{
	State		state = {.options = {.by_worker = true}};

	if (!load_state(&state, false))
		return;
	record_evaluations(state.due);
	store_plan(&state);
}

/* ---------------------------------------------------------------------
 * The run
 * ---------------------------------------------------------------------
 */

/* In the context of the run. */
static void
act(Run *run)
{
	TierMigrateSummary *summary = run->summary;

	tier_pass_begin(&run->plan, TIER_STEP_PLAN);
	tier_pass_begin(&run->moves, TIER_STEP_MOVE);
	tier_batch_run(run_jobs, run);
	run->is_over = run->is_over || !tier_batch_may_go_on(run->by_worker);
	if (!run->is_over && (!run->by_worker || tier_auto_migrate != TIER_AUTO_MIGRATE_OFF))
	{
		/* What has been moved since may have made room where there was none. */
		let_all_leave(run);
		if (list_length(run->done) != run->emptied_done)
			run->stuck = NIL;
		if (!run->has_emptied || is_too_full(run))
			empty_tiers(run);
	}
	if (summary->why_waiting == NULL)
		summary->why_waiting = summary->emptied.why_waiting;
	if (!run->is_over && !summary->emptied.is_over)
		apply_advice(run->set, run->by_worker, run->ignore_windows, run->idle, summary);
	if (summary->why_waiting == NULL)
		summary->why_waiting = summary->applied.why_waiting;
	tier_pass_end(&run->plan);
	tier_pass_end(&run->moves);
}

TierMigrateSummary
tier_migrate_run(bool by_worker, bool ignore_windows, const TierIdle *idle)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "tiered_storage migrate",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	State		state = {
		.options = {.by_worker = by_worker,.ignore_windows = ignore_windows}
	};
	TierMigrateSummary summary = {0};
	TierPatience patience = {.context = context};
	TierFullnessRun how = {
		.by_worker = by_worker,.ignore_windows = ignore_windows,.idle = idle,
		.patience = &patience
	};
	Run			run = {
		.by_worker = by_worker,.ignore_windows = ignore_windows,.idle = idle,
		.context = context,.patience = &patience,.how = &how,.summary = &summary
	};

	/* 1. Load and decide. */
	if (!load_state(&state, false))
	{
		MemoryContextSwitchTo(old_context);
		return summary;
	}
	count_policies(state.due, &summary);
	tier_claims_require(state.set, false);
	record_evaluations(state.due);
	store_plan(&state);
	tier_transaction_commit();
	tier_pending_sweep();
	tier_transaction_commit();
	count_due(state.due->jobs, state.due->njobs, &summary);

	/* 2. Act. */
	how.backoff = run.backoff = state.backoff;
	how.nbackoff = run.nbackoff = state.nbackoff;
	how.plan = &run.plan;
	how.moves = &run.moves;
	run.first = tier_level_names(state.set, state.due->first);
	run.set = state.set;
	run.jobs = state.due->jobs;
	run.njobs = state.due->njobs;
	run.step = AllocSetContextCreate(context, "tiered_storage step", ALLOCSET_DEFAULT_SIZES);
	act(&run);

	MemoryContextSwitchTo(old_context);
	if (summary.why_waiting != NULL)
		summary.why_waiting = pstrdup(summary.why_waiting);
	if (summary.applied.why_waiting != NULL)
		summary.applied.why_waiting = pstrdup(summary.applied.why_waiting);
	MemoryContextDelete(context);
	return summary;
}
