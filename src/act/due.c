/*-------------------------------------------------------------------------
 *
 * act/due.c
 *		What tiering policies would move now: each relation once, by the one that decides.
 *
 * All policies are evaluated on one snapshot and one moment.  What follows runs over hours, so
 * that each relation is decided again (act/due_again.c) before it is moved.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "src/base/clock.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/act/due.h"
#include "src/act/level.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_return.h"

static int
compare_jobs(const void *a, const void *b)
{
	const TierDueJob *left = a;
	const TierDueJob *right = b;

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
decide_claims(const TierDueJob *jobs, int njobs, int *nclaims)
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

TierDueJob *
tier_due_collect(TierEvaluation **evaluations, int nevaluations, int *njobs, int *nleaves)
{
	TierDueJob *jobs;
	Claim	   *claims;
	int			nclaims;
	int			n = 0;
	int			kept = 0;

	for (int i = 0; i < nevaluations; i++)
		n += evaluations[i]->nleaves;
	jobs = palloc_extended(sizeof(TierDueJob) * Max(n, 1), MCXT_ALLOC_HUGE);
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
			jobs[n].comes_first = false;
			jobs[n++].leaf = &evaluations[i]->leaves[j];
		}
	}
	qsort(jobs, n, sizeof(TierDueJob), compare_jobs);
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

/* Is anything of it on one of these tiers, and goes elsewhere? */
static bool
leaves_one_of(const TierDueJob *job, const TierSet *set, const Bitmapset *tiers)
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

Bitmapset *
tier_due_put_first(TierDueJob *jobs, int njobs, const TierSet *set)
{
	Bitmapset  *above = tier_levels_above(set);
	TierDueJob *rest;
	int			nfirst = 0;
	int			nrest = 0;

	if (above == NULL || njobs == 0)
		return above;
	rest = palloc_extended(sizeof(TierDueJob) * njobs, MCXT_ALLOC_HUGE);
	for (int i = 0; i < njobs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (leaves_one_of(&jobs[i], set, above))
		{
			jobs[nfirst] = jobs[i];
			jobs[nfirst++].comes_first = true;
		}
		else
			rest[nrest++] = jobs[i];
	}
	memcpy(&jobs[nfirst], rest, sizeof(TierDueJob) * nrest);
	pfree(rest);
	return above;
}

const TierTier *
tier_due_target(const TierDueJob *job, const TierSet *set, Oid member_oid)
{
	return &set->tiers[tier_partition_target(job->evaluation, job->leaf, member_oid)];
}

void
tier_due_warn_no_tablespace(const TierRelationInfo *info, const TierTier *tier, int level)
{
	ereport(level,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not move %s: tier \"%s\" has no tablespace", info->name,
					NameStr(tier->name)),
			 errhint("Give it one with tiered_storage.alter_tier().")));
}

bool
tier_due_plan(const TierDueJob *job, Oid relation_oid, bool by_worker, TierPlannedMove *planned)
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

TierMoveRequest
tier_due_request(const TierDueJob *job, const TierSet *set, Oid relation_oid)
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
tier_due_evaluate(const TierPolicyRow *policies, int n, const TierSet *set, const TierPins *pins)
{
	TierEvaluation **evaluations = palloc(sizeof(TierEvaluation *) * Max(n, 1));
	TierUses   *uses = tier_uses_load(policies, n);
	TimestampTz now = tier_clock_now();
	TierPass	pass;

	tier_pass_begin(&pass, TIER_STEP_EVALUATE);
	for (int i = 0; i < n; i++)
		evaluations[i] = tier_partition_evaluate(&policies[i], set, pins, uses, now);
	tier_policy_find_returns(evaluations, n, set, pins, now, tier_fullness_flight);
	tier_pass_end(&pass);
	return evaluations;
}

int
tier_due_keep_enabled(TierPolicyRow *policies, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
		if (policies[i].is_enabled)
			policies[kept++] = policies[i];
	return kept;
}

TierDueMove *
tier_due_list(const TierSet *set, const TierPins *pins, int *n)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	TierDueMove *due;
	TierDueJob *jobs;
	int			npolicies;
	int			njobs;
	int			nleaves;
	int			most = 0;

	tier_catalog_enter(&scope);
	policies = tier_catalog_load_policies(context, &npolicies);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	tier_groups_find(policies, npolicies);
	npolicies = tier_due_keep_enabled(policies, npolicies);
	jobs = tier_due_collect(tier_due_evaluate(policies, npolicies, set, pins), npolicies, &njobs,
							&nleaves);
	(void) tier_due_put_first(jobs, njobs, set);
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
			due[*n].comes_first = jobs[i].comes_first;
			due[*n].returns = jobs[i].leaf->verdict == TIER_VERDICT_RETURNS;
			due[*n].request = tier_due_request(&jobs[i], set, lfirst_oid(cell));
			due[(*n)++].to_tier = tier_partition_target(jobs[i].evaluation, jobs[i].leaf,
														lfirst_oid(cell));
		}
	}
	return due;
}

static int
compare_decided(const void *a, const void *b)
{
	return oid_cmp(&((const TierDecided *) a)->relation_oid,
				   &((const TierDecided *) b)->relation_oid);
}

TierDecided *
tier_due_decided(TierEvaluation **evaluations, int nevaluations, int *n)
{
	TierEvaluation **enabled = palloc(sizeof(TierEvaluation *) * Max(nevaluations, 1));
	TierDecided *decided;
	TierDueJob *jobs;
	int			nenabled = 0;
	int			njobs;
	int			nleaves;
	int			most = 0;

	for (int i = 0; i < nevaluations; i++)
		if (evaluations[i]->policy->is_enabled)
			enabled[nenabled++] = evaluations[i];
	jobs = tier_due_collect(enabled, nenabled, &njobs, &nleaves);
	for (int i = 0; i < njobs; i++)
		most += list_length(jobs[i].members);
	decided = palloc_extended(sizeof(TierDecided) * Max(most, 1), MCXT_ALLOC_HUGE);
	*n = 0;
	for (int i = 0; i < njobs; i++)
	{
		ListCell   *cell;

		foreach(cell, jobs[i].members)
			decided[(*n)++] = (TierDecided)
		{
			lfirst_oid(cell), jobs[i].evaluation->policy->policy_id,
				tier_partition_target(jobs[i].evaluation, jobs[i].leaf, lfirst_oid(cell))
		};
	}
	qsort(decided, *n, sizeof(TierDecided), compare_decided);
	return decided;
}

Oid *
tier_due_returning(const TierSet *set, const TierPins *pins, int *n)
{
	List	   *returning = NIL;
	int			ndue;
	TierDueMove *due = tier_due_list(set, pins, &ndue);

	for (int i = 0; i < ndue; i++)
		if (due[i].returns)
			returning = lappend_oid(returning, due[i].request.relation_oid);
	return tier_due_sorted_oids(returning, n);
}

double
tier_due_left_of_limit(void)
{
	return tier_move_limit_per_day_mb * 1024.0 * 1024.0 - tier_catalog_bytes_moved_by_advice();
}

bool
tier_due_is_within_limit(const TierDueJob *job, Oid relation_oid, bool by_worker,
						 double planned_bytes)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	double		left_bytes;

	if (job->leaf->verdict != TIER_VERDICT_RETURNS || tier_move_limit_per_day_mb < 0 ||
		!tier_relation_lookup(relation_oid, &info) || !tier_catalog_try_enter(&scope))
		return true;
	left_bytes = tier_due_left_of_limit() - planned_bytes;
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

Oid *
tier_due_returning_of(const TierDueJob *jobs, int njobs, int *n)
{
	List	   *members = NIL;

	for (int i = 0; i < njobs; i++)
		if (jobs[i].leaf->verdict == TIER_VERDICT_RETURNS)
			members = list_concat(members, jobs[i].members);
	return tier_due_sorted_oids(members, n);
}

Oid *
tier_due_sorted_oids(const List *list, int *n)
{
	Oid		   *oids = palloc_extended(sizeof(Oid) * Max(list_length(list), 1), MCXT_ALLOC_HUGE);
	ListCell   *cell;

	*n = 0;
	foreach(cell, list)
		oids[(*n)++] = lfirst_oid(cell);
	qsort(oids, *n, sizeof(Oid), oid_cmp);
	return oids;
}
