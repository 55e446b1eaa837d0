/*-------------------------------------------------------------------------
 *
 * decide/partition.c
 *		Evaluates the policies on the present partitions.
 *
 * decide/partition_tree.c loads the leaves and their bounds; this module adds their places and
 * their use, and decides.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/decide/partition.h"
#include "src/decide/policy_group.h"
#include "src/server/distributed.h"
#include "src/storage/file_size.h"

/* A superuser has separated the TOAST table from its table: the next move heals that. */
static bool
toast_is_elsewhere(const TierRelationInfo *info, const TierSet *set, int to_tier)
{
	TierRelationInfo toast;

	return OidIsValid(info->toast_oid) && tier_relation_lookup(info->toast_oid, &toast) &&
		tier_set_tier_of_tablespace(set, toast.tablespace_oid) != to_tier;
}

/*
 * Decides whether a relation of the leaf that is on `from_tier` (-1: on none) goes to the
 * policy's tier.  A policy brings nothing back: a relation on a slower tier stays there, so that
 * no policy repeats the moves of another.  Tiers are ordered, also those of one rank.
 */
static void
add_pending(TierLeaf *leaf, const TierSet *set, const TierPins *pins, Oid relation_oid,
			int from_tier, int to_tier)
{
	const TierPinned *pinned;

	if (from_tier >= to_tier)
		return;
	pinned = tier_pins_against(pins, set, relation_oid, to_tier);
	if (pinned == NULL)
		leaf->pending = lappend_oid(leaf->pending, relation_oid);
	else if (leaf->pinned == NULL)
		leaf->pinned = pinned;
}

/*
 * Why the leaf and its indexes stay where they are; NULL: they may move.  A relation that an
 * extension has created is moved only to a tier to which it is pinned.
 */
static const char *
why_immovable(const TierLeaf *leaf, const TierPins *pins)
{
	const char *why = tier_relation_why_never(&leaf->info);

	if (why != NULL || leaf->pending == NIL ||
		tier_pins_find(pins, leaf->info.relation_oid) != NULL)
		return why;
	return tier_relation_why_of_extension(&leaf->info);
}

/* Finds the relations of the leaf and its indexes that are not on the tier, and their places. */
static void
locate_leaf(TierLeaf *leaf, const TierEvaluation *evaluation, const TierSet *set,
			const TierPins *pins)
{
	int			to_tier = evaluation->to_tier;

	leaf->from_tier = tier_set_tier_of_tablespace(set, leaf->info.tablespace_oid);
	if (leaf->partition.is_foreign)
		return;
	if (leaf->from_tier == to_tier && toast_is_elsewhere(&leaf->info, set, to_tier))
		add_pending(leaf, set, pins, leaf->info.relation_oid, -1, to_tier);
	else
		add_pending(leaf, set, pins, leaf->info.relation_oid, leaf->from_tier, to_tier);
	if (evaluation->policy->include_indexes)
	{
		List	   *indexes = tier_relation_indexes(leaf->info.relation_oid);
		ListCell   *cell;

		foreach(cell, indexes)
		{
			TierRelationInfo index;

			if (tier_relation_lookup(lfirst_oid(cell), &index))
				add_pending(leaf, set, pins, index.relation_oid,
							tier_set_tier_of_tablespace(set, index.tablespace_oid),
							evaluation->index_tier);
		}
	}
	leaf->immovable = why_immovable(leaf, pins);
	leaf->partition.is_immovable = leaf->immovable != NULL;
	leaf->partition.pinned_elsewhere = leaf->pending == NIL && leaf->pinned != NULL;
	leaf->partition.on_slower_tier = leaf->pending == NIL && leaf->pinned == NULL &&
		leaf->from_tier > to_tier;
	leaf->partition.on_target = leaf->pending == NIL && leaf->pinned == NULL &&
		leaf->from_tier <= to_tier;
}

/* Finds the targets of due relations, and their bytes. */
static void
finish_leaf(TierLeaf *leaf, const TierEvaluation *evaluation, const TierSet *set)
{
	const TierPolicyRow *policy = evaluation->policy;
	Oid			role_oid = OidIsValid(policy->created_by) ? policy->created_by :
	leaf->info.owner_oid;
	ListCell   *cell;

	leaf->to_tablespace = tier_set_usable_tablespace(set, evaluation->to_tier, role_oid);
	leaf->index_tablespace = evaluation->index_tier == evaluation->to_tier ?
		leaf->to_tablespace :
		tier_set_usable_tablespace(set, evaluation->index_tier, role_oid);
	leaf->pending_bytes = 0;
	foreach(cell, leaf->pending)
	{
		TierRelationInfo info;

		if (tier_relation_lookup(lfirst_oid(cell), &info))
			leaf->pending_bytes += tier_relation_disk_bytes(&info);
	}
}

/*
 * now - age, which is never later, though '1 mon -30 days' may be less than
 * nothing; nothing is old enough where that, or a step on the way there, may be before the
 * calendar begins, which is no error of the policy.  A time zone may differ from UTC by
 * a week.
 */
static TimestampTz
threshold_of(TimestampTz now, const Interval *age)
{
	Interval	interval = *age;
	double		longest_days = fabs(interval.month * 31.0) + fabs((double) interval.day) + 8.0;
	double		longest_us = longest_days * USECS_PER_DAY + fabs((double) interval.time);

	if (longest_us > (double) now - (double) MIN_TIMESTAMP)
		return DT_NOBEGIN;
	return Min(DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
													   TimestampTzGetDatum(now),
													   IntervalPGetDatum(&interval))),
			   now);
}

/* The conditions of the policy, as instants.  Idleness is measured up to the last look. */
static TierPolicyConditions
conditions_of(const TierPolicyRow *policy, const TierUses *uses, TimestampTz now)
{
	TierPolicyConditions conditions;

	memset(&conditions, 0, sizeof(conditions));
	conditions.has_age = policy->has_move_after;
	if (conditions.has_age)
		conditions.age_us = threshold_of(now, &policy->move_after);
	if (uses->at != 0)
		now = uses->at;
	conditions.has_idle = policy->has_idle_for;
	if (conditions.has_idle)
		conditions.idle_us = threshold_of(now, &policy->idle_for);
	conditions.has_no_writes = policy->has_no_writes_for;
	if (conditions.has_no_writes)
		conditions.no_writes_us = threshold_of(now, &policy->no_writes_for);
	conditions.has_reads = !isnan(policy->below_reads_per_hour);
	conditions.below_reads_per_hour = policy->below_reads_per_hour;
	conditions.rate_us = now - tier_observation_period_min * USECS_PER_MINUTE;
	conditions.has_keep = !isnan(policy->return_when_reads_per_hour);
	if (conditions.has_keep)
		conditions.keep_reads_per_hour = tier_policy_keep(policy->return_when_reads_per_hour,
														  policy->below_reads_per_hour);
	return conditions;
}

/* A policy that is evaluated. */
typedef struct EvaluationJob
{
	TierEvaluation *evaluation;
	const TierSet *set;
	const TierPins *pins;
	Oid			leaf_oid;		/* 0: all leaves */
} EvaluationJob;

static Oid
leaf_oid(const void *argument, int i)
{
	return ((const EvaluationJob *) argument)->evaluation->leaves[i].info.relation_oid;
}

static void
leave_out_leaf(void *argument, int i, char *message)
{
	TierLeaf   *leaf = &((EvaluationJob *) argument)->evaluation->leaves[i];

	leaf->error = leaf->reason = message;
	leaf->pending = NIL;
	leaf->verdict = TIER_VERDICT_ERROR;
}

static void
look_at_use(TierLeaf *leaf, const TierEvaluation *evaluation)
{
	const TierPolicyRow *policy = evaluation->policy;
	const TierUses *uses = evaluation->uses;
	TierPartitionUse *use = &leaf->partition.use;

	*use = tier_uses_find(uses, leaf->info.relation_oid, policy->include_indexes);

	/*
	 * Reads on a standby without reports are not known; writes are made here.
	 */
	if (uses->uncounted != NULL ||
		(uses->silent_standby != NULL &&
		 (policy->has_idle_for || !isnan(policy->below_reads_per_hour))))
		use->is_observed = false;
}

static void
judge_leaf(void *argument, int i)
{
	const EvaluationJob *job = argument;
	const TierEvaluation *evaluation = job->evaluation;
	TierLeaf   *leaf = &job->evaluation->leaves[i];
	TierPartitionUse *use = &leaf->partition.use;

	tier_debug_relation("evaluate", leaf->info.relation_oid);
	locate_leaf(leaf, evaluation, job->set, job->pins);
	look_at_use(leaf, evaluation);
	leaf->verdict = tier_policy_evaluate(&leaf->partition, &evaluation->conditions);

	/*
	 * A leaf that is in use at this moment is not due.  The counter stores
	 * its use until now.
	 */
	if (leaf->verdict == TIER_VERDICT_DUE && tier_policy_asks_for_use(evaluation->policy))
	{
		leaf->use_counter = tier_use_counter(leaf->info.relation_oid);
		use->is_held = tier_use_is_held(leaf->info.relation_oid);
		use->may_be_hidden = evaluation->uses->hiding_since != 0;
		leaf->verdict = tier_policy_evaluate(&leaf->partition, &evaluation->conditions);
	}
	leaf->reason = tier_policy_reason(evaluation, leaf);
	if (leaf->verdict == TIER_VERDICT_DUE)
		finish_leaf(leaf, evaluation, job->set);
}

static void
evaluate(EvaluationJob *job)
{
	TierEvaluation *evaluation = job->evaluation;
	const TierPolicyRow *policy = evaluation->policy;
	TierEach	each = {
		.relation_of = leaf_oid,.step = judge_leaf,.leave_out = leave_out_leaf,.argument = job
	};
	TierPass	pass;

	evaluation->conditions = conditions_of(policy, evaluation->uses, evaluation->now);
	tier_partition_load_leaves(evaluation, job->leaf_oid);
	each.n = evaluation->nleaves;
	tier_pass_begin(&pass, TIER_STEP_EVALUATE);
	tier_pass_each(&pass, &each);
}

/* Raises an error unless a policy can be put on the table, whatever its conditions. */
static void
check_kind(const TierRelationInfo *info)
{
	const char *why = NULL;

	if (info->is_system)
		why = "System relations are never moved.";
	else if (info->kind != RELKIND_RELATION && info->kind != RELKIND_MATVIEW &&
			 info->kind != RELKIND_PARTITIONED_TABLE)
		why = "A policy can be added to a table, a partitioned table, an inheritance parent or a "
			"materialized view. Indexes are moved with their table.";
	else if (info->persistence == RELPERSISTENCE_TEMP)
		why = "It is temporary.";
	else if (info->persistence == RELPERSISTENCE_UNLOGGED && info->kind == RELKIND_RELATION)
		why = "It is unlogged, so only CALL tiered_storage.move_relation() moves it.";
	else if (OidIsValid(getExtensionOfObject(RelationRelationId, info->relation_oid)))
		why = "It belongs to an extension, which manages what it has created.";
	if (why != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s cannot have a tiering policy",
						tier_relation_kind_name(info->kind), info->name),
				 errdetail("%s", why)));
}

void
tier_partition_check_target(const TierRelationInfo *info, const TierPolicyRow *policy)
{
	TierPartitionKey key;

	if (policy->has_move_after)
		tier_partition_check_key(info->relation_oid, policy->key_unit, &key);
	check_kind(info);
}

/* The begin of a day and the end of a month do not depend on the session. */
static void
evaluate_step(void *argument)
{
	EvaluationJob *job = argument;
	int			guc_level = NewGUCNestLevel();

	(void) set_config_option("TimeZone", job->evaluation->policy->time_zone, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	evaluate(job);
	AtEOXact_GUC(false, guc_level);
}

/*
 * This function runs, in the worker as the bootstrap superuser, only code of the server and of
 * the extension, whatever a user has made of the policy's table:
 *
 * - Catalogs are read by system scans and caches, and file sizes from the file
 *   system.  No relation of a user is opened, so neither its access method nor an
 *   expression of its indexes, partition key or row policies is touched.
 * - A bound is read from pg_class by stringToNode, which copies the bytes of its
 *   datums; no input function is called.  Bounds are neither compared nor
 *   printed by operators, support or output functions of their type: they
 *   are only converted, and that by C functions for the types of
 *   decide/partition_key.c, which are built in and compared by OID, with the type
 *   that the bound itself has.  A domain, an enum or a type of a user is
 *   refused.
 * - There is no statement, and no name is looked up: the values stored as text
 *   are a unit, of a fixed list, and a time zone, which is a file of the server's.
 *
 * So there is no role whose rights it would have to use.  Only the errors of a policy are kept
 * from the others.
 */
static TierEvaluation *
evaluate_policy(const TierPolicyRow *policy, const TierSet *set, const TierPins *pins,
				const TierUses *uses, TimestampTz now, Oid leaf_oid)
{
	TierEvaluation *evaluation = palloc0(sizeof(TierEvaluation));
	EvaluationJob job = {evaluation, set, pins, leaf_oid};
	TierRelationInfo info;
	ErrorData  *error;

	evaluation->policy = policy;
	evaluation->uses = uses;
	evaluation->now = now;
	evaluation->to_tier = tier_set_find_tier(set, NameStr(policy->tier_name));
	if (!tier_policy_has_target(policy) ||
		(!policy->is_group && !tier_relation_lookup(policy->relation_oid, &info)))
	{
		evaluation->error = pstrdup(policy->is_group ? "the schema does not exist" :
									"the relation does not exist");
		return evaluation;
	}
	if (!tier_policy_has_group(policy) && tier_distributed->is_shell(policy->relation_oid))
	{
		evaluation->error = pstrdup("its rows were moved to shards of Citus concurrently");
		return evaluation;
	}
	evaluation->index_tier = policy->has_index_tier ?
		tier_set_find_tier(set, NameStr(policy->index_tier)) : evaluation->to_tier;
	if (evaluation->to_tier < 0 || evaluation->index_tier < 0)
	{
		evaluation->error = psprintf("tier \"%s\" does not exist",
									 evaluation->to_tier < 0 ? NameStr(policy->tier_name) :
									 NameStr(policy->index_tier));
		return evaluation;
	}

	error = tier_attempt(evaluate_step, &job);
	if (error != NULL)
	{
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		evaluation->error = tier_catalog_clip(error->message);
		evaluation->nleaves = 0;
		FreeErrorData(error);
	}
	return evaluation;
}

TierEvaluation *
tier_partition_evaluate(const TierPolicyRow *policy, const TierSet *set, const TierPins *pins,
						const TierUses *uses, TimestampTz now)
{
	return evaluate_policy(policy, set, pins, uses, now, InvalidOid);
}

const TierLeaf *
tier_partition_evaluate_leaf(const TierPolicyRow *policy, const TierSet *set,
							 const TierPins *pins, const TierUses *uses, TimestampTz now,
							 Oid leaf_oid, TierEvaluation **evaluation)
{
	*evaluation = evaluate_policy(policy, set, pins, uses, now, leaf_oid);
	return (*evaluation)->nleaves == 0 ? NULL : &(*evaluation)->leaves[0];
}

static const TierReturn *
find_return(const TierLeaf *leaf, Oid member_oid)
{
	ListCell   *cell;

	foreach(cell, leaf->returns)
	{
		const TierReturn *returning = lfirst(cell);

		if (returning->relation_oid == member_oid)
			return returning;
	}
	return NULL;
}

int
tier_partition_target(const TierEvaluation *evaluation, const TierLeaf *leaf, Oid member_oid)
{
	const TierReturn *returning = find_return(leaf, member_oid);

	if (returning != NULL)
		return returning->tier;
	return member_oid == leaf->info.relation_oid ? evaluation->to_tier : evaluation->index_tier;
}

Oid
tier_partition_tablespace(const TierLeaf *leaf, Oid member_oid)
{
	const TierReturn *returning = find_return(leaf, member_oid);

	if (returning != NULL)
		return returning->tablespace_oid;
	return member_oid == leaf->info.relation_oid ? leaf->to_tablespace : leaf->index_tablespace;
}
