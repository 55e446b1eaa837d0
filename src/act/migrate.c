/*-------------------------------------------------------------------------
 *
 * act/migrate.c
 *		Doing what the policies ask for, and what is advised: load, decide, act.
 *
 * Runs in the worker and in sessions that CALL migrate.  All tiering policies are
 * evaluated on one snapshot and one moment; then each relation is moved by
 * act/move.c, which checks again, since by then the world may have changed.  Fullness
 * policies and the advice come after them, and see what they have done.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "commands/tablespace.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/act/batch.h"
#include "src/act/foresee.h"
#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/act/migrate.h"
#include "src/act/move.h"
#include "src/act/new_partitions.h"
#include "src/act/patience.h"
#include "src/decide/partition.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_return.h"
#include "src/move/pending_file.h"
#include "src/server/processes.h"
#include "src/server/relation.h"
#include "src/base/shmem.h"
#include "src/base/sql.h"
#include "src/base/transaction.h"

/* In the log. */
#define CAUSE "tiering policies"

/* What to move of one leaf, with the evaluation that says so. */
typedef struct Job
{
	const TierEvaluation *evaluation;
	const TierLeaf *leaf;
	List	   *members;		/* OIDs: the leaf, indexes of it, or some of
								 * them; the leaf first */
} Job;

static int
compare_jobs(const void *a, const void *b)
{
	const Job  *left = a;
	const Job  *right = b;

	if (left->leaf->info.relation_oid != right->leaf->info.relation_oid)
		return left->leaf->info.relation_oid < right->leaf->info.relation_oid ? -1 : 1;
	return left->evaluation->policy->policy_id - right->evaluation->policy->policy_id;
}

/* One relation that a policy would move. */
typedef struct Claim
{
	Oid			relation_oid;
	int			to_tier;
	const TierEvaluation *evaluation;
} Claim;

/* By relation; the one that decides comes first. */
static int
compare_claims(const void *a, const void *b)
{
	const Claim *left = a;
	const Claim *right = b;

	if (left->relation_oid != right->relation_oid)
		return left->relation_oid < right->relation_oid ? -1 : 1;
	if (left->to_tier != right->to_tier)
		return right->to_tier - left->to_tier;
	return left->evaluation->policy->policy_id - right->evaluation->policy->policy_id;
}

static int
compare_claimed(const void *key, const void *claim)
{
	Oid			relation_oid = *(const Oid *) key;
	Oid			claimed_oid = ((const Claim *) claim)->relation_oid;

	return relation_oid < claimed_oid ? -1 : relation_oid > claimed_oid;
}

/* Of all that policies would move, each relation once, with the policy that decides. */
static Claim *
decide_claims(const Job *jobs, int njobs, int *nclaims)
{
	Claim	   *claims;
	int			n = 0;
	int			kept = 0;

	for (int i = 0; i < njobs; i++)
		n += list_length(jobs[i].leaf->pending);
	claims = palloc_extended(sizeof(Claim) * Max(n, 1), MCXT_ALLOC_HUGE);
	n = 0;
	for (int i = 0; i < njobs; i++)
	{
		ListCell   *cell;

		foreach(cell, jobs[i].leaf->pending)
			claims[n++] = (Claim)
		{
			lfirst_oid(cell),
				tier_partition_target(jobs[i].evaluation, jobs[i].leaf, lfirst_oid(cell)),
				jobs[i].evaluation
		};
	}
	qsort(claims, n, sizeof(Claim), compare_claims);
	for (int i = 0; i < n; i++)
		if (kept == 0 || claims[kept - 1].relation_oid != claims[i].relation_oid)
			claims[kept++] = claims[i];
	*nclaims = kept;
	return claims;
}

/*
 * All that is due.  Table and index for itself, one policy decides: of those that would
 * move it the one for the slowest tier, which is the policy for the greatest age; of
 * several for one tier, the oldest policy.  When that has moved it, no policy would
 * move it again.
 */
static Job *
collect_jobs(TierEvaluation **evaluations, int nevaluations, int *njobs, int *nleaves)
{
	Job		   *jobs;
	Claim	   *claims;
	int			nclaims;
	int			n = 0;
	int			kept = 0;

	for (int i = 0; i < nevaluations; i++)
		n += evaluations[i]->nleaves;
	jobs = palloc_extended(sizeof(Job) * Max(n, 1), MCXT_ALLOC_HUGE);
	n = 0;
	for (int i = 0; i < nevaluations; i++)
	{
		for (int j = 0; j < evaluations[i]->nleaves; j++)
		{
			if (evaluations[i]->leaves[j].verdict != TIER_VERDICT_DUE &&
				evaluations[i]->leaves[j].verdict != TIER_VERDICT_RETURNS)
				continue;
			jobs[n].evaluation = evaluations[i];
			jobs[n].members = NIL;
			jobs[n++].leaf = &evaluations[i]->leaves[j];
		}
	}
	qsort(jobs, n, sizeof(Job), compare_jobs);
	claims = decide_claims(jobs, n, &nclaims);
	*nleaves = 0;
	for (int i = 0; i < n; i++)
	{
		ListCell   *cell;

		foreach(cell, jobs[i].leaf->pending)
		{
			Oid			relation_oid = lfirst_oid(cell);
			const Claim *claim = bsearch(&relation_oid, claims, nclaims, sizeof(Claim),
										 compare_claimed);

			if (claim->evaluation == jobs[i].evaluation)
				jobs[i].members = lappend_oid(jobs[i].members, relation_oid);
		}
		if (jobs[i].members == NIL)
			continue;
		if (kept == 0 ||
			jobs[kept - 1].leaf->info.relation_oid != jobs[i].leaf->info.relation_oid)
			(*nleaves)++;
		jobs[kept++] = jobs[i];
	}
	*njobs = kept;
	return jobs;
}

/* The tier that a member of the job goes to. */
static const TierTier *
target_of(const Job *job, const TierSet *set, Oid member_oid)
{
	return &set->tiers[tier_partition_target(job->evaluation, job->leaf, member_oid)];
}

static void
warn_no_tablespace(const TierRelationInfo *info, const TierTier *tier, int level)
{
	ereport(level,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not move %s: tier \"%s\" has no tablespace", info->name,
					NameStr(tier->name)),
			 errhint("Give it one with tiered_storage.alter_tier().")));
}

/* What windows have to know of the move of a relation; false: it has gone. */
static bool
plan_of(const Job *job, Oid relation_oid, bool by_worker, TierPlannedMove *planned)
{
	TierRelationInfo info;

	if (!tier_relation_lookup(relation_oid, &info))
		return false;
	*planned = (TierPlannedMove)
	{
		.from_tablespace_oid = info.tablespace_oid,
			.to_tablespace_oid = tier_partition_tablespace(job->leaf, relation_oid),
			.bytes = (double) tier_relation_disk_bytes(&info),
			.by_worker = by_worker,
			.is_optional = job->leaf->verdict == TIER_VERDICT_RETURNS
	};
	return true;
}

/* The move of one member of the job, without its batch. */
static TierMoveRequest
request_for(const Job *job, const TierSet *set, Oid relation_oid)
{
	const TierPolicyRow *policy = job->evaluation->policy;
	TierMoveRequest request = {0};
	TierRelationInfo info;

	request.relation_oid = relation_oid;
	request.tablespace_oid = tier_partition_tablespace(job->leaf, relation_oid);

	/* It is there, and only its TOAST table has to follow. */
	if (tier_relation_lookup(relation_oid, &info) &&
		tier_set_tier_of_tablespace(set, info.tablespace_oid) ==
		tier_partition_target(job->evaluation, job->leaf, relation_oid))
		request.tablespace_oid = info.tablespace_oid;
	request.for_owner = !OidIsValid(policy->created_by);
	request.requester_oid = request.for_owner ? job->leaf->info.owner_oid : policy->created_by;
	request.policy_id = policy->policy_id;
	request.predicted_s_per_hour = NAN;
	request.reason = job->leaf->reason;
	request.allow_lock = tier_move_max_lock_time_s != 0;
	request.limit_lock_time = true;
	request.is_optional = job->leaf->verdict == TIER_VERDICT_RETURNS;
	request.mark = job->leaf->verdict == TIER_VERDICT_RETURNS ? TIER_MARK_STAY : TIER_MARK_NONE;
	return request;
}

/* All policies on one snapshot, of one moment. */
static TierEvaluation **
evaluate(const TierPolicyRow *policies, int n, const TierSet *set, const TierPins *pins)
{
	TierEvaluation **evaluations = palloc(sizeof(TierEvaluation *) * Max(n, 1));
	TierUses   *uses = tier_uses_load(policies, n);
	TimestampTz now = tier_clock_now();

	for (int i = 0; i < n; i++)
		evaluations[i] = tier_partition_evaluate(&policies[i], set, pins, uses, now);
	tier_policy_find_returns(evaluations, n, set, pins, now, tier_fullness_flight);
	return evaluations;
}

/* A disabled policy is as if it were not there. */
static int
keep_enabled(TierPolicyRow *policies, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
		if (policies[i].is_enabled)
			policies[kept++] = policies[i];
	return kept;
}

TierDueMove *
tier_migrate_due(const TierSet *set, const TierPins *pins, int *n)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	TierDueMove *due;
	Job		   *jobs;
	int			npolicies;
	int			njobs;
	int			nleaves;
	int			most = 0;

	tier_catalog_enter(&scope);
	policies = tier_catalog_load_policies(context, &npolicies);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	tier_groups_find(policies, npolicies);
	npolicies = keep_enabled(policies, npolicies);
	jobs = collect_jobs(evaluate(policies, npolicies, set, pins), npolicies, &njobs, &nleaves);
	for (int i = 0; i < njobs; i++)
		most += list_length(jobs[i].members);
	due = palloc_extended(sizeof(TierDueMove) * Max(most, 1), MCXT_ALLOC_HUGE);
	*n = 0;
	for (int i = 0; i < njobs; i++)
	{
		ListCell   *cell;

		foreach(cell, jobs[i].members)
		{
			CHECK_FOR_INTERRUPTS();
			due[*n].returns = jobs[i].leaf->verdict == TIER_VERDICT_RETURNS;
			due[*n].request = request_for(&jobs[i], set, lfirst_oid(cell));
			due[(*n)++].to_tier = tier_partition_target(jobs[i].evaluation, jobs[i].leaf,
														lfirst_oid(cell));
		}
	}
	return due;
}

/* Bytes that may be moved today by nothing but the load. */
static double
left_of_limit(void)
{
	return tier_move_limit_per_day_mb * 1024.0 * 1024.0 - tier_catalog_bytes_moved_by_advice();
}

/*
 * May so much return today?  As with what is advised, within a limit of bytes a day.  A person
 * is told at once, the log at the end of the run.  planned_bytes: what a dry run has of that
 * already.
 */
static bool
is_within_limit(const Job *job, Oid relation_oid, bool by_worker, double planned_bytes)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	double		left_bytes;

	if (job->leaf->verdict != TIER_VERDICT_RETURNS || tier_move_limit_per_day_mb < 0 ||
		!tier_relation_lookup(relation_oid, &info) || !tier_catalog_try_enter(&scope))
		return true;
	left_bytes = left_of_limit() - planned_bytes;
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (tier_relation_disk_bytes(&info) <= left_bytes)
		return true;
	if (!by_worker)
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("%s does not return today", info.name),
				 errdetail("tiered_storage.move_limit_per_day is %d MB, of which %s are left.",
						   tier_move_limit_per_day_mb, tier_size_text(Max(left_bytes, 0.0)))));
	return false;
}

/* A dry run, and what it has come to so far. */
typedef struct DryRun
{
	const TierSet *set;
	const TierPins *pins;
	TierForesight *foresight;
	bool		ignore_windows;
	double		return_bytes;	/* of what would return */
	List	   *done;			/* OIDs of what would be moved */
	List	   *in_vain;		/* and of what could not be */
} DryRun;

/* What the run would do about one member of a job that has a tablespace to go to. */
static void
announce_member(DryRun *run, const Job *job, Oid relation_oid)
{
	const TierForeseenRun how = {.ignore_windows = run->ignore_windows};
	TierMoveRequest request = request_for(job, run->set, relation_oid);
	char	   *target = get_tablespace_name(request.tablespace_oid);
	const char *waiting;
	TierProspect prospect;

	if (!tier_foresee_prospect(run->foresight, &request, run->pins, &how, &prospect))
		return;
	if (prospect.obstacle.message != NULL)
	{
		run->in_vain = lappend_oid(run->in_vain, relation_oid);
		tier_foresee_warn(&prospect);
		return;
	}
	if (prospect.begins)
	{
		run->done = lappend_oid(run->done, relation_oid);
		if (job->leaf->verdict == TIER_VERDICT_RETURNS)
			run->return_bytes += prospect.bytes;
	}
	waiting = tier_foresee_waiting(&prospect.start);
	ereport(NOTICE,
			(errmsg("would move %s %s to tier \"%s\"",
					tier_relation_kind_name(prospect.info.kind), prospect.info.name,
					NameStr(target_of(job, run->set, relation_oid)->name)),
			 errdetail("Tablespace \"%s\"; %s.%s", target ? target : "?", job->leaf->reason,
					   waiting == NULL ? "" : psprintf(" Now it would be %s.", waiting))));
}

/* What the run would move, and what not and why. */
static void
announce(DryRun *run, const Job *job)
{
	ListCell   *cell;

	foreach(cell, job->members)
	{
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(tier_partition_tablespace(job->leaf, lfirst_oid(cell))))
		{
			if (tier_relation_lookup(lfirst_oid(cell), &info))
				warn_no_tablespace(&info, target_of(job, run->set, lfirst_oid(cell)), WARNING);
		}
		else if (is_within_limit(job, lfirst_oid(cell), false, run->return_bytes))
			announce_member(run, job, lfirst_oid(cell));
	}
}

/* Was it used since it was found to be idle? */
static bool
was_used_meanwhile(const Job *job)
{
	const TierLeaf *leaf = job->leaf;

	return tier_policy_asks_for_use(job->evaluation->policy) &&
		leaf->verdict != TIER_VERDICT_RETURNS &&
		(tier_use_counter(leaf->info.relation_oid) != leaf->use_counter ||
		 tier_use_is_held(leaf->info.relation_oid) || tier_processes_hiding_since() != 0);
}

/* What of a job is about to be moved, and the job as it is decided by now. */
typedef struct Decision
{
	const Job  *first;			/* by the evaluation of the run */
	const TierSet *first_set;
	Oid			relation_oid;
	Job			now;			/* by decide_again(), as what follows; its
								 * members are not set */
	const TierSet *set;
} Decision;

/*
 * Of what returns: is it where the policy has moved it, and does that not ask for it to be
 * there again?  For how long it has been read is not asked again, and it goes where it was
 * decided, which other policies had a say in.
 */
static bool
may_still_return(const TierEvaluation *evaluation, const TierLeaf *leaf, const TierSet *set,
				 Oid relation_oid)
{
	TierRelationInfo info;

	return leaf->verdict != TIER_VERDICT_DUE && leaf->verdict != TIER_VERDICT_ON_TARGET &&
		leaf->verdict != TIER_VERDICT_ON_SLOWER_TIER && leaf->verdict != TIER_VERDICT_PINNED &&
		leaf->verdict != TIER_VERDICT_NO_RIGHT && leaf->verdict != TIER_VERDICT_IMMOVABLE &&
		tier_relation_lookup(relation_oid, &info) &&
		tier_set_tier_of_tablespace(set, info.tablespace_oid) ==
		tier_partition_target(evaluation, leaf, relation_oid);
}

/*
 * The policy with its group, as far as the leaf is concerned, as that is by now: by the rules
 * by which the run has found it.
 */
static const TierPolicyRow *
find_group_again(TierPolicyRow *policies, int npolicies, int policy_id, Oid leaf_oid)
{
	tier_groups_find_above(policies, npolicies, leaf_oid);
	for (int i = 0; i < npolicies; i++)
		if (policies[i].policy_id == policy_id)
			return &policies[i];
	return NULL;				/* removed meanwhile */
}

/*
 * A run may take hours: is this what its policy still asks for?  It may have been
 * removed, disabled or altered meanwhile, or the tier given other tablespaces; the
 * partition may have other bounds, or be in another place, detached, pinned, or used.  So
 * the run's evaluation is made again for the one partition.  In a transaction; result in
 * the current memory context.
 */
static bool
decide_again(Decision *decision)
{
	const Job  *first = decision->first;
	const TierPolicyRow *policy = first->evaluation->policy;
	Oid			leaf_oid = first->leaf->info.relation_oid;
	MemoryContext context = CurrentMemoryContext;
	TierEvaluation *evaluation;
	const TierLeaf *leaf;
	const TierSet *set;
	TierCatalogScope scope;
	TierPolicyRow *policies = NULL;
	TierPins   *pins;
	int			npolicies = 0;
	bool		wanted;

	if (!tier_catalog_try_enter(&scope))
		return false;
	set = tier_catalog_load_tiers(context);
	pins = tier_catalog_load_pin_of(context, decision->relation_oid);
	if (tier_policy_has_group(policy))
		policies = tier_catalog_load_policies(context, &npolicies);
	wanted = tier_catalog_policy_wants(policy, leaf_oid,
									   &target_of(first, decision->first_set,
												  decision->relation_oid)->name,
									   tier_partition_tablespace(first->leaf,
																 decision->relation_oid));
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (!wanted || was_used_meanwhile(first))
		return false;
	PushActiveSnapshot(GetTransactionSnapshot());
	if (tier_policy_has_group(policy))
		policy = find_group_again(policies, npolicies, policy->policy_id, leaf_oid);
	leaf = policy == NULL ? NULL :
		tier_partition_evaluate_leaf(policy, set, pins, first->evaluation->uses,
									 tier_clock_now(), leaf_oid,
									 first->evaluation->newest_oid, &evaluation);
	PopActiveSnapshot();
	if (leaf == NULL)
		return false;
	if (first->leaf->verdict == TIER_VERDICT_RETURNS)
	{
		decision->now = *first;
		decision->set = decision->first_set;
		return may_still_return(evaluation, leaf, set, decision->relation_oid);
	}
	decision->now = (Job)
	{
		evaluation, leaf, NIL
	};
	decision->set = set;
	return leaf->verdict == TIER_VERDICT_DUE &&
		list_member_oid(leaf->pending, decision->relation_oid);
}

/* For tier_move_one(), which asks while it waits and copies. */
static bool
is_still_due(const TierMoveRequest *request)
{
	Decision	decision = *(const Decision *) request->argument;
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage decision",
												  ALLOCSET_DEFAULT_SIZES);
	bool		is_due;

	MemoryContextSwitchTo(context);
	is_due = decide_again(&decision) &&
		strcmp(NameStr(target_of(&decision.now, decision.set, decision.relation_oid)->name),
			   NameStr(target_of(decision.first, decision.first_set,
								 decision.relation_oid)->name)) == 0;
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return is_due;
}

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
has_to_wait(const Job *job, const TierSet *set, Oid relation_oid, bool by_worker,
			TierMigrateSummary *summary)
{
	TierPlannedMove planned;
	TierMoveStart start;

	if (!plan_of(job, relation_oid, by_worker, &planned))
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
	TierPatience patience;		/* with what is locked; of the worker */
	bool		is_over;		/* the extension is not what it was */
	List	   *done;			/* OIDs of what was moved */
	List	   *in_vain;		/* and of what could not be */
	int			nlimited;		/* relations that are not returned because of
								 * the limit */
	uint32		limited_hash;	/* of their OIDs */
	char	   *limited_name;	/* of the first */
	const Job  *jobs;
	int			njobs;
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
move_member(Run *run, Decision *decision)
{
	TierMigrateSummary *summary = run->summary;
	TierMoveRequest request = request_for(&decision->now, decision->set, decision->relation_oid);
	Oid			owner_oid = decision->now.leaf->info.owner_oid;
	TierMoveReport report;

	if (summary->batch_id == 0)
		begin_batch(summary);
	request.batch_id = summary->batch_id;
	request.obeys_windows = !run->ignore_windows;
	request.only_if_free = run->by_worker && tier_patience_is_over(&run->patience, owner_oid);
	request.is_wanted = is_still_due;
	request.argument = decision;
	request.idle = run->idle;
	request.counts = &summary->counts;
	report = tier_move_one(&request);
	tier_move_warn(&report, run->by_worker);
	if (report.state == TIER_STATE_DONE)
		run->done = lappend_oid(run->done, decision->relation_oid);
	else if (report.state == TIER_STATE_SKIPPED || report.state == TIER_STATE_FAILED)
		run->in_vain = lappend_oid(run->in_vain, decision->relation_oid);
	if (report.state == TIER_STATE_WAITING && summary->counts.waiting++ == 0)
		summary->why_waiting = report.error;
	if (tier_move_was_busy(&report))
		tier_patience_spend(&run->patience, owner_oid, report.worked_ms);
}

/* False: nothing more is to be moved. */
static bool
run_member(Run *run, const Job *job, Oid relation_oid)
{
	TierMigrateSummary *summary = run->summary;
	Decision	decision = {.first = job,.first_set = run->set,.relation_oid = relation_oid};
	MemoryContext old_context;
	TierRelationInfo info;
	bool		wanted;

	if (!OidIsValid(tier_partition_tablespace(job->leaf, relation_oid)))
	{
		if (tier_relation_lookup(relation_oid, &info))
			warn_no_tablespace(&info, target_of(job, run->set, relation_oid),
							   run->by_worker ? LOG : WARNING);
		summary->counts.not_moved++;
		return true;
	}
	CHECK_FOR_INTERRUPTS();
	if (!run->ignore_windows &&
		has_to_wait(job, run->set, relation_oid, run->by_worker, summary))
		return true;
	if (run->by_worker && tier_auto_migrate == TIER_AUTO_MIGRATE_OFF)
		return false;
	MemoryContextReset(run->step);
	old_context = MemoryContextSwitchTo(run->step);
	wanted = decide_again(&decision);
	tier_transaction_commit();
	MemoryContextSwitchTo(old_context);
	if (!wanted)
	{
		run->is_over = !tier_batch_may_go_on(run->by_worker);
		if (run->is_over)
			return false;
		summary->no_longer_due++;
		return true;
	}
	if (bsearch(&relation_oid, run->backoff, run->nbackoff, sizeof(Oid), oid_cmp) != NULL ||
		!OidIsValid(tier_partition_tablespace(decision.now.leaf, relation_oid)))
	{
		summary->counts.not_moved++;
		return true;
	}
	if (!is_within_limit(&decision.now, relation_oid, run->by_worker, 0.0))
	{
		note_limited(run, relation_oid);
		summary->counts.not_moved++;
		return true;
	}
	if (run->ignore_windows ||
		!has_to_wait(&decision.now, decision.set, relation_oid, run->by_worker, summary))
		move_member(run, &decision);
	return true;
}

/*
 * Moves one leaf with what goes along; a relation that fails does not stop the others.
 */
static void
run_job(Run *run, const Job *job)
{
	ListCell   *cell;

	foreach(cell, job->members)
	{
		if (!run_member(run, job, lfirst_oid(cell)))
			return;
	}
}

/* The batch. */
static void
run_jobs(void *argument)
{
	Run		   *run = argument;

	for (int i = 0; i < run->njobs && !run->is_over; i++)
	{
		run_job(run, &run->jobs[i]);
		if (run->idle != NULL && run->idle->is_due())
			run->idle->run();
	}
	MemoryContextSwitchTo(run->context);
	if (run->by_worker)
		log_limited(run);
}

/* What the set claims of other databases. */
static TierClaim *
claims_of(const TierSet *set)
{
	TierClaim  *claims = palloc(sizeof(TierClaim) * Max(set->ntablespaces, 1));

	for (int i = 0; i < set->ntablespaces; i++)
	{
		claims[i].tablespace_oid = set->tablespaces[i].oid;
		claims[i].database_oid = MyDatabaseId;
		claims[i].tier_name = set->tiers[set->tablespaces[i].tier].name;
		claims[i].is_weak = set->tablespaces[i].discovered;
	}
	return claims;
}

static char *
conflict_text(const TierSet *set, int conflict, Oid database_oid, const NameData *tier_name)
{
	char	   *database = get_database_name(database_oid);

	return psprintf("nothing is moved, because tablespace \"%s\" belongs to tier \"%s\" "
					"here, but to tier \"%s\" in database \"%s\"",
					NameStr(set->tablespaces[conflict].name),
					NameStr(set->tiers[set->tablespaces[conflict].tier].name),
					tier_foreign_text(NameStr(*tier_name)), database ? database : "?");
}

char *
tier_migrate_publish_claims(const TierSet *set)
{
	TierClaim  *claims = claims_of(set);
	Oid			database_oid;
	NameData	tier_name;
	int			conflict = tier_shmem_publish_claims(MyDatabaseId, claims, set->ntablespaces,
													 &database_oid, &tier_name);

	pfree(claims);
	return conflict < 0 ? NULL : conflict_text(set, conflict, database_oid, &tier_name);
}

char *
tier_migrate_find_conflict(const TierSet *set)
{
	TierClaim  *claims = claims_of(set);
	Oid			database_oid;
	NameData	tier_name;
	int			conflict = tier_shmem_find_conflict(claims, set->ntablespaces, &database_oid,
													&tier_name);

	pfree(claims);
	return conflict < 0 ? NULL : conflict_text(set, conflict, database_oid, &tier_name);
}

void
tier_migrate_require_claims(const TierSet *set, bool dry_run)
{
	char	   *conflict = dry_run ? tier_migrate_find_conflict(set) :
	tier_migrate_publish_claims(set);

	if (conflict != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("%s", conflict),
				 errdetail("A tablespace is shared by all databases, "
						   "which must agree on its tier."),
				 errhint("Use tiered_storage.alter_tier() in one of them.")));
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
result_of(const TierEvaluation *evaluation, int due, int returning, int pinned)
{
	if (evaluation->error != NULL)
		return evaluation->error;
	if (evaluation->policy->on_shards && evaluation->nleaves == 0)
		return "its rows are in shards of Citus, none of which is on this node";
	return psprintf("%d of %d partitions are due%s%s", due, evaluation->nleaves,
					returning == 0 ? "" : psprintf(", %d return", returning),
					pinned == 0 ? "" : psprintf(", %d pinned to another tier", pinned));
}

static void
record_evaluations(TierEvaluation **evaluations, int n)
{
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	for (int i = 0; i < n; i++)
	{
		int			due = 0;
		int			on_target = 0;
		int			pinned = 0;
		int			returning = 0;

		for (int j = 0; j < evaluations[i]->nleaves; j++)
		{
			due += evaluations[i]->leaves[j].verdict == TIER_VERDICT_DUE;
			on_target += evaluations[i]->leaves[j].verdict == TIER_VERDICT_ON_TARGET;
			pinned += evaluations[i]->leaves[j].verdict == TIER_VERDICT_PINNED;
			returning += evaluations[i]->leaves[j].verdict == TIER_VERDICT_RETURNS;
		}
		tier_catalog_policy_evaluated(evaluations[i]->policy->policy_id, due, on_target,
									  result_of(evaluations[i], due, returning, pinned));
	}
	tier_catalog_leave(&scope);
}

/*
 * What the load asks for, after the policies, whose moves it sees.  Within a
 * limit of bytes a day: where the advice is wrong, that is slow enough for
 * somebody to notice.  foresight: of a dry run, what it has moved before; else NULL.
 */
static void
apply_advice(const TierSet *set, TierForesight *foresight, bool by_worker, bool ignore_windows,
			 const TierIdle *idle, TierMigrateSummary *summary)
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
	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
		return;
	if (!tier_catalog_try_enter(&scope))
		return;
	if (tier_move_limit_per_day_mb >= 0)
		request.max_bytes = left_of_limit();
	tier_catalog_leave(&scope);
	request.max_bytes -= summary->would_return_bytes;
	summary->placement = request.max_bytes > 0;
	if (!summary->placement)
		return;

	/* What is advised need not be found out while nothing of it may begin. */
	start = tier_gate_ask_any(set, TIER_PRESSING_NO);
	if (foresight == NULL && !ignore_windows && !start.may_begin)
	{
		summary->placement_waits = true;
		if (summary->why_waiting == NULL)
			summary->why_waiting = start.reason;
		return;
	}
	request.foresight = foresight;
	summary->applied = foresight != NULL ? tier_apply_announce(&request) :
		tier_apply_run(&request);
}

Oid *
tier_migrate_sorted_oids(const List *list, int *n)
{
	Oid		   *oids = palloc_extended(sizeof(Oid) * Max(list_length(list), 1), MCXT_ALLOC_HUGE);
	ListCell   *cell;

	*n = 0;
	foreach(cell, list)
		oids[(*n)++] = lfirst_oid(cell);
	qsort(oids, *n, sizeof(Oid), oid_cmp);
	return oids;
}

/* Tiers that are too full, after the tiering policies, which may have made room. */
static void
empty_tiers(const Run *run, const TierFullnessRun *how, TierMigrateSummary *summary)
{
	TierFullnessRun emptying = *how;

	emptying.moved = tier_migrate_sorted_oids(run->done, &emptying.nmoved);
	emptying.in_vain = tier_migrate_sorted_oids(run->in_vain, &emptying.nin_vain);
	summary->emptied = tier_fullness_run(&emptying);
}

/* For the log. */
static void
count_due(const Job *jobs, int njobs, TierMigrateSummary *summary)
{
	for (int i = 0; i < njobs; i++)
	{
		ListCell   *cell;

		foreach(cell, jobs[i].members)
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

static TierPolicyRow *
copy_policies(const TierPolicyRow *policies, int n)
{
	TierPolicyRow *copy = palloc(sizeof(TierPolicyRow) * Max(n, 1));

	memcpy(copy, policies, sizeof(TierPolicyRow) * n);
	return copy;
}

TierMigrateSummary
tier_migrate_run(bool dry_run, bool by_worker, bool ignore_windows, const TierIdle *idle)
{
	TierMigrateSummary summary = {0};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "tiered_storage migrate",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierCatalogScope scope;
	TierSet    *set;
	TierPolicyRow *policies;
	TierPins   *pins;
	TierEvaluation **evaluations;
	Oid		   *backoff;
	Job		   *jobs;
	TierBirthplace *places;
	TierPartitionDefault *defaults;
	int			npolicies;
	int			nbackoff = 0;
	int			njobs;
	int			nplaces;
	int			ndefaults;
	Run			run = {0};
	TierFullnessRun how = {0};

	/* 1. Load. */
	if (!by_worker)
		tier_catalog_enter(&scope);
	else if (!tier_catalog_try_enter(&scope))
	{
		MemoryContextSwitchTo(old_context);
		return summary;
	}
	if (!dry_run)
		tier_catalog_refresh_identities();
	set = tier_catalog_load_tiers(context);
	policies = tier_catalog_load_policies(context, &npolicies);
	pins = tier_catalog_load_pins(context);
	backoff = tier_catalog_load_backoff(context, &nbackoff);
	defaults = tier_catalog_load_partition_defaults(context, &ndefaults);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);

	/* What a disabled policy has set stays. */
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_groups_find(policies, npolicies);
	places = tier_birthplaces_find(copy_policies(policies, npolicies), npolicies, set, defaults,
								   ndefaults, &nplaces);
	PopActiveSnapshot();
	summary.policies = npolicies;
	npolicies = keep_enabled(policies, npolicies);
	summary.disabled = summary.policies - npolicies;
	if (!by_worker)
		nbackoff = 0;			/* a person who asks means now */

	/* 2. Decide. */
	tier_gate_forget();
	PushActiveSnapshot(GetTransactionSnapshot());
	evaluations = evaluate(policies, npolicies, set, pins);
	for (int i = 0; i < npolicies; i++)
	{
		summary.failed += evaluations[i]->error != NULL;
		summary.partitions += evaluations[i]->nleaves;
	}
	PopActiveSnapshot();
	jobs = collect_jobs(evaluations, npolicies, &njobs, &summary.due);
	if (dry_run)
	{
		DryRun		dry = {
			.set = set,.pins = pins,.foresight = tier_foresight_create(set),
			.ignore_windows = ignore_windows
		};

		tier_migrate_require_claims(set, true);
		tier_new_partitions_announce(places, nplaces, set, ignore_windows);
		for (int i = 0; i < njobs; i++)
			announce(&dry, &jobs[i]);
		how.ignore_windows = ignore_windows;
		summary.would_return_bytes = dry.return_bytes;
		how.moved = tier_migrate_sorted_oids(dry.done, &how.nmoved);
		how.in_vain = tier_migrate_sorted_oids(dry.in_vain, &how.nin_vain);
		PushActiveSnapshot(GetTransactionSnapshot());
		summary.emptied = tier_fullness_announce(&how, dry.foresight);
		PopActiveSnapshot();
		apply_advice(set, dry.foresight, false, ignore_windows, NULL, &summary);
		MemoryContextSwitchTo(old_context);
		MemoryContextDelete(context);
		return summary;
	}
	tier_migrate_require_claims(set, false);
	record_evaluations(evaluations, npolicies);
	tier_transaction_commit();
	tier_pending_sweep();
	tier_transaction_commit();

	count_due(jobs, njobs, &summary);

	/* 3. Act. */
	tier_new_partitions_run(places, nplaces, set, by_worker, ignore_windows);
	run = (Run)
	{
		.set = set,.backoff = backoff,.nbackoff = nbackoff,.by_worker = by_worker,
			.ignore_windows = ignore_windows,.idle = idle,.context = context,
			.patience =
		{
			.context = context
		},.jobs = jobs,.njobs = njobs,.summary = &summary
	};
	run.step = AllocSetContextCreate(context, "tiered_storage step", ALLOCSET_DEFAULT_SIZES);
	tier_batch_run(run_jobs, &run);
	run.is_over = run.is_over || !tier_batch_may_go_on(by_worker);
	if (!run.is_over && (!by_worker || tier_auto_migrate != TIER_AUTO_MIGRATE_OFF))
	{
		how.backoff = backoff;
		how.nbackoff = nbackoff;
		how.by_worker = by_worker;
		how.ignore_windows = ignore_windows;
		how.idle = idle;
		empty_tiers(&run, &how, &summary);
	}
	if (summary.why_waiting == NULL)
		summary.why_waiting = summary.emptied.why_waiting;
	if (!run.is_over && !summary.emptied.is_over)
		apply_advice(set, NULL, by_worker, ignore_windows, idle, &summary);
	if (summary.why_waiting == NULL)
		summary.why_waiting = summary.applied.why_waiting;

	MemoryContextSwitchTo(old_context);
	if (summary.why_waiting != NULL)
		summary.why_waiting = pstrdup(summary.why_waiting);
	MemoryContextDelete(context);
	return summary;
}
