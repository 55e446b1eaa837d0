/*-------------------------------------------------------------------------
 *
 * act/policy_candidates.c
 *		The moves of tiering policies: each relation once, by the policy that decides.
 *
 * All policies are evaluated on one snapshot and one moment.  The moves may take hours; so each
 * relation is decided again (act/recheck.c) before it is moved.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/snapmgr.h"

#include "src/base/by_oid.h"
#include "src/base/clock.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/act/policy_candidates.h"
#include "src/act/level.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_preview.h"
#include "src/decide/policy_return.h"
#include "src/storage/file_size.h"

static int
compare_jobs(const void *a, const void *b)
{
	const TierPolicyCandidate *left = a;
	const TierPolicyCandidate *right = b;

	if (left->leaf->info.relation_oid != right->leaf->info.relation_oid)
		return left->leaf->info.relation_oid < right->leaf->info.relation_oid ? -1 : 1;
	return left->evaluation->policy->policy_id - right->evaluation->policy->policy_id;
}

/* By relation; the one that decides comes first. */
static int
compare_claims(const void *a, const void *b)
{
	const TierPolicyClaim *left = a;
	const TierPolicyClaim *right = b;

	if (left->relation_oid != right->relation_oid)
		return left->relation_oid < right->relation_oid ? -1 : 1;
	if (left->to_tier != right->to_tier)
		return right->to_tier - left->to_tier;
	return left->evaluation->policy->policy_id - right->evaluation->policy->policy_id;
}

/* Of all that policies would move, each relation once, with the policy that decides. */
static TierPolicyClaim *
decide_claims(const TierPolicyCandidate *jobs, int njobs, int *nclaims)
{
	TierPolicyClaim *claims;
	int			n = 0;
	int			kept = 0;

	for (int i = 0; i < njobs; i++)
		n += list_length(jobs[i].leaf->pending);
	claims = palloc_extended(sizeof(TierPolicyClaim) * Max(n, 1), MCXT_ALLOC_HUGE);
	n = 0;
	for (int i = 0; i < njobs; i++)
	{
		ListCell   *cell;

		foreach(cell, jobs[i].leaf->pending)
			claims[n++] = (TierPolicyClaim)
		{
			lfirst_oid(cell),
				tier_partition_target(jobs[i].evaluation, jobs[i].leaf, lfirst_oid(cell)),
				jobs[i].evaluation, jobs[i].leaf
		};
	}
	qsort(claims, n, sizeof(TierPolicyClaim), compare_claims);
	for (int i = 0; i < n; i++)
		if (kept == 0 || claims[kept - 1].relation_oid != claims[i].relation_oid)
			claims[kept++] = claims[i];
	*nclaims = kept;
	return claims;
}

/* All leaves of which something is due by enabled policies, *njobs of them; by leaf. */
static TierPolicyCandidate *
collect_due(TierEvaluation **evaluations, int nevaluations, int *njobs)
{
	TierPolicyCandidate *jobs;
	int			n = 0;

	for (int i = 0; i < nevaluations; i++)
		n += evaluations[i]->nleaves;
	jobs = palloc_extended(sizeof(TierPolicyCandidate) * Max(n, 1), MCXT_ALLOC_HUGE);
	n = 0;
	for (int i = 0; i < nevaluations; i++)
	{
		for (int j = 0; j < evaluations[i]->nleaves; j++)
		{
			if (!evaluations[i]->policy->is_enabled ||
				(evaluations[i]->leaves[j].verdict != TIER_VERDICT_DUE &&
				 evaluations[i]->leaves[j].verdict != TIER_VERDICT_RETURNS))
				continue;
			jobs[n].evaluation = evaluations[i];
			jobs[n].members = NIL;
			jobs[n].comes_first = false;
			jobs[n++].leaf = &evaluations[i]->leaves[j];
		}
	}
	qsort(jobs, n, sizeof(TierPolicyCandidate), compare_jobs);
	*njobs = n;
	return jobs;
}

/* The same with the decisions of each policy, for *nleaves leaves. */
static TierPolicyCandidate *
collect(TierEvaluation **evaluations, int nevaluations, int *njobs, int *nleaves)
{
	int			n;
	TierPolicyCandidate *jobs = collect_due(evaluations, nevaluations, &n);
	int			nclaims;
	TierPolicyClaim *claims = decide_claims(jobs, n, &nclaims);
	int			kept = 0;

	*nleaves = 0;
	for (int i = 0; i < n; i++)
	{
		ListCell   *cell;

		foreach(cell, jobs[i].leaf->pending)
		{
			Oid			relation_oid = lfirst_oid(cell);
			const TierPolicyClaim *claim = tier_by_oid_find(relation_oid, claims, nclaims,
															sizeof(TierPolicyClaim));

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

/* Returns true if a part of the leaf is on one of these tiers, and goes to another. */
static bool
leaves_one_of(const TierPolicyCandidate *job, const TierSet *set, const Bitmapset *tiers)
{
	ListCell   *cell;

	foreach(cell, job->members)
	{
		TierRelationInfo info;
		int			tier;

		if (!tier_relation_lookup(lfirst_oid(cell), &info))
			continue;
		tier = tier_set_tier_of_tablespace(set, info.tablespace_oid);
		if (tier >= 0 && bms_is_member(tier, tiers) &&
			tier != tier_partition_target(job->evaluation, job->leaf, lfirst_oid(cell)))
			return true;
	}
	return false;
}

static void
find_first(TierPolicyCandidates *due, const TierSet *set)
{
	due->first = tier_levels_above(set);
	for (int i = 0; i < due->njobs && due->first != NULL; i++)
	{
		CHECK_FOR_INTERRUPTS();
		due->jobs[i].comes_first = leaves_one_of(&due->jobs[i], set, due->first);
	}
}

/* How many turns an owner has had among the jobs of one class. */
typedef struct OwnerTurn
{
	struct
	{
		Oid			owner_oid;
		uint32		comes_first;
	}			key;
	Oid			leaf_oid;		/* of the last one */
	int			turn;
} OwnerTurn;

static int
compare_turns(const void *a, const void *b)
{
	const TierPolicyCandidate *left = a;
	const TierPolicyCandidate *right = b;

	if (left->comes_first != right->comes_first)
		return left->comes_first ? -1 : 1;
	if (left->turn != right->turn)
		return left->turn - right->turn;
	return compare_jobs(a, b);
}

/* A leaf that is due by several policies has one turn. */
static void
take_turns(TierPolicyCandidates *due)
{
	HASHCTL		control = {
		.keysize = sizeof(((OwnerTurn *) NULL)->key),
		.entrysize = sizeof(OwnerTurn),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *turns = hash_create("tiered_storage turns of owners", 64, &control,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);

	for (int i = 0; i < due->njobs; i++)
	{
		TierPolicyCandidate *job = &due->jobs[i];
		OwnerTurn	key = {.key = {job->leaf->info.owner_oid, job->comes_first}};
		bool		found;
		OwnerTurn  *turn = hash_search(turns, &key.key, HASH_ENTER, &found);

		if (!found)
			turn->turn = 0;
		else if (turn->leaf_oid != job->leaf->info.relation_oid)
			turn->turn++;
		turn->leaf_oid = job->leaf->info.relation_oid;
		job->turn = turn->turn;
	}
	hash_destroy(turns);
	qsort(due->jobs, due->njobs, sizeof(TierPolicyCandidate), compare_turns);
}

const TierTier *
tier_policy_candidate_target(const TierPolicyCandidate *job, const TierSet *set, Oid member_oid)
{
	return &set->tiers[tier_partition_target(job->evaluation, job->leaf, member_oid)];
}

TierMoveRequest
tier_policy_candidate_request(const TierPolicyCandidate *job, const TierSet *set, Oid relation_oid)
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
	request.is_optional = job->leaf->verdict == TIER_VERDICT_RETURNS;
	request.mark = job->leaf->verdict == TIER_VERDICT_RETURNS ? TIER_MARK_STAY : TIER_MARK_NONE;
	return request;
}

TierEvaluation **
tier_policies_evaluate(const TierPolicyRow *policies, int n, const TierSet *set,
					   const TierPins *pins)
{
	TierEvaluation **evaluations = palloc(sizeof(TierEvaluation *) * Max(n, 1));
	const TierUses *uses = tier_uses_load(policies, n);
	TimestampTz now = tier_clock_now();
	TierPass	pass;

	tier_pass_begin(&pass, TIER_STEP_EVALUATE);
	for (int i = 0; i < n; i++)
		evaluations[i] = tier_partition_evaluate(&policies[i], set, pins, uses, now);
	tier_policy_find_returns(evaluations, n, set, pins, now, tier_fullness_flight);
	tier_pass_end(&pass);
	return evaluations;
}

/*
 * Returns true if the policy is too new for the worker.  A clock that was set back delays
 * nothing.
 */
static bool
is_too_new(const TierPolicyRow *policy, TimestampTz now)
{
	return policy->added_at <= now && now < tier_policy_first_at(policy);
}

/* *policy_due_at: as in TierPolicyCandidates. */
static int
keep_enabled(TierPolicyRow *policies, int n, bool by_worker, TimestampTz *policy_due_at)
{
	TimestampTz now = GetCurrentTimestamp();
	bool		waits = by_worker && tier_auto_migrate != TIER_AUTO_MIGRATE_OFF;
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		TimestampTz first_at = tier_policy_first_at(&policies[i]);

		if (!policies[i].is_enabled)
			continue;
		if (!waits || !is_too_new(&policies[i], now))
			policies[kept++] = policies[i];
		else if (*policy_due_at == 0 || first_at < *policy_due_at)
			*policy_due_at = first_at;
	}
	return kept;
}

TierPolicyCandidates *
tier_policy_candidates_find(TierPolicyRow *policies, int npolicies, const TierSet *set,
							const TierPins *pins, bool by_worker)
{
	TierPolicyCandidates *due = palloc0(sizeof(TierPolicyCandidates));

	due->policies = npolicies;
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_groups_find(policies, due->policies);
	due->nevaluations = keep_enabled(policies, due->policies, by_worker, &due->policy_due_at);
	due->evaluations = tier_policies_evaluate(policies, due->nevaluations, set, pins);
	for (int i = 0; i < due->nevaluations; i++)
	{
		due->failed += due->evaluations[i]->error != NULL;
		due->partitions += due->evaluations[i]->nleaves;
	}
	PopActiveSnapshot();
	due->jobs = collect(due->evaluations, due->nevaluations, &due->njobs, &due->nleaves);
	find_first(due, set);
	take_turns(due);
	return due;
}

TierPolicyClaim *
tier_policy_claims(TierEvaluation **evaluations, int nevaluations, int *n)
{
	int			njobs;
	TierPolicyCandidate *jobs = collect_due(evaluations, nevaluations, &njobs);

	return decide_claims(jobs, njobs, n);
}

double
tier_return_limit_left(void)
{
	return tier_move_limit_per_day_mb * 1024.0 * 1024.0 - tier_catalog_bytes_moved_by_advice();
}

void
tier_return_warn_limit(const char *relation_name, double left_bytes)
{
	ereport(WARNING,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("%s does not return today", relation_name),
			 errdetail("tiered_storage.move_limit_per_day is %d MB, of which %s are left.",
					   tier_move_limit_per_day_mb, tier_size_text(Max(left_bytes, 0.0)))));
}

bool
tier_return_is_within_limit(Oid relation_oid, bool warns)
{
	TierCatalogScope scope;
	TierRelationInfo info;
	double		left_bytes;

	if (tier_move_limit_per_day_mb < 0 || !tier_relation_lookup(relation_oid, &info) ||
		!tier_catalog_try_enter(&scope))
		return true;
	left_bytes = tier_return_limit_left();
	tier_catalog_leave(&scope);
	if (tier_relation_disk_bytes(&info) <= left_bytes)
		return true;
	if (warns)
		tier_return_warn_limit(info.name, left_bytes);
	return false;
}

Oid *
tier_sorted_oids(const List *list, int *n)
{
	Oid		   *oids = palloc_extended(sizeof(Oid) * Max(list_length(list), 1), MCXT_ALLOC_HUGE);
	ListCell   *cell;

	*n = 0;
	foreach(cell, list)
		oids[(*n)++] = lfirst_oid(cell);
	qsort(oids, *n, sizeof(Oid), oid_cmp);
	return oids;
}
