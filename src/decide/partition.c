/*-------------------------------------------------------------------------
 *
 * decide/partition.c
 *		Loads what a policy is on into the snapshot that model/policy.c decides on.
 *
 * Everything is read from the system catalogs under the current snapshot,
 * without a lock on the tables: a partition that is attached, detached or
 * dropped meanwhile is seen or not seen, and the move that follows checks
 * again under its lock.
 *
 * The bounds of a leaf are the tightest of all levels of the tree that are
 * range-partitioned by the same column as the top; other levels (hash, list,
 * another column) only pass them on, and so does a default partition.  A default
 * partition that nothing above bounds has no age; what hangs below it has the bounds that
 * it has itself.
 *
 * A policy that does not ask for the age can be on any table: then its leaves are all that
 * a query of the table reads, which are its partitions, or itself with all that inherit
 * from it; and what their bounds are does not matter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/decide/partition.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_reason.h"
#include "src/server/distributed.h"
#include "src/server/file_size.h"

/* The range-partitioned level that a bound belongs to. */
typedef struct KeyLevel
{
	bool		is_key;			/* ranges of the policy's column */
	bool		is_multicolumn; /* then rows may equal the upper bound */
} KeyLevel;

/* While a tree is walked. */
typedef struct TreeWalk
{
	const TierPartitionKey *key;	/* NULL: the age does not matter, or there
									 * is none */
	const TierPolicyRow *group; /* a policy on several tables, or NULL */
	bool		has_no_age;		/* though the age matters */
	HTAB	   *seen;			/* OIDs of leaves of the group */
	List	   *only;			/* NIL: all leaves are visited; else, for each
								 * that is, the list of it and what it is a
								 * partition of, upwards */
	bool		only_inherits;	/* one of these is none, but inherits */
	TierLeaf   *leaves;
	int			n;
	int			capacity;
} TreeWalk;

/* The bound specification of a partition, or NULL when it is none (any more). */
static PartitionBoundSpec *
read_bound(Oid relation_oid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation_oid));
	PartitionBoundSpec *spec = NULL;
	Datum		datum;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	datum = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound, &isnull);
	if (!isnull)
		spec = castNode(PartitionBoundSpec, stringToNode(TextDatumGetCString(datum)));
	ReleaseSysCache(tuple);
	return spec;
}

static bool
datum_is_of_type(const List *datums, Oid type_oid)
{
	const PartitionRangeDatum *datum;

	if (datums == NIL)
		return false;
	datum = linitial_node(PartitionRangeDatum, datums);
	return datum->kind != PARTITION_RANGE_DATUM_VALUE ||
		(IsA(datum->value, Const) &&
		 getBaseType(castNode(Const, datum->value)->consttype) == type_oid);
}

static bool
is_range_of_type(const PartitionBoundSpec *spec, Oid type_oid)
{
	return spec->strategy == PARTITION_STRATEGY_RANGE &&
		datum_is_of_type(spec->lowerdatums, type_oid) &&
		datum_is_of_type(spec->upperdatums, type_oid);
}

/* Narrows the bounds of `partition` to those of this level. */
static void
apply_bound(TierPartition *partition, const TierPartitionKey *key, const KeyLevel *level,
			const PartitionBoundSpec *spec)
{
	PartitionRangeDatum *lower;
	PartitionRangeDatum *upper;
	int64		us;

	/*
	 * Nothing is locked: by now the partition may hang below another parent,
	 * with bounds of another shape or type.  Then it has no age.
	 */
	if (!spec->is_default && level->is_key && !is_range_of_type(spec, key->type_oid))
	{
		partition->lower_kind = partition->upper_kind = TIER_BOUND_NONE;
		return;
	}

	/* A default partition has the bounds of what it is in, if any. */
	if (spec->is_default)
	{
		if (partition->upper_kind != TIER_BOUND_FINITE)
			partition->lower_kind = partition->upper_kind = TIER_BOUND_NONE;
		return;
	}
	if (!level->is_key)
		return;

	/* What is above says nothing; these bounds do. */
	if (partition->upper_kind == TIER_BOUND_NONE)
		partition->lower_kind = partition->upper_kind = TIER_BOUND_OPEN;

	lower = linitial_node(PartitionRangeDatum, spec->lowerdatums);
	upper = linitial_node(PartitionRangeDatum, spec->upperdatums);
	if (lower->kind == PARTITION_RANGE_DATUM_VALUE &&
		tier_partition_bound_time(key, castNode(Const, lower->value), TIER_END_LOWER, &us) &&
		(partition->lower_kind != TIER_BOUND_FINITE || us > partition->lower_us))
	{
		partition->lower_kind = TIER_BOUND_FINITE;
		partition->lower_us = us;
	}
	if (upper->kind != PARTITION_RANGE_DATUM_VALUE)
		return;
	if (!tier_partition_bound_time(key, castNode(Const, upper->value),
								   level->is_multicolumn ? TIER_END_UPPER_INCLUSIVE :
								   TIER_END_UPPER, &us))
	{
		if (!tier_partition_bound_is_endless(castNode(Const, upper->value)))
			partition->has_odd_upper = true;
	}
	else if (partition->upper_kind != TIER_BOUND_FINITE || us < partition->upper_us)
	{
		partition->upper_kind = TIER_BOUND_FINITE;
		partition->upper_us = us;
	}
}

static void
add_leaf(TreeWalk *walk, const TierRelationInfo *info, const TierPartition *partition)
{
	TierLeaf   *leaf;
	bool		found = false;

	/*
	 * One that inherits from several tables of a group, or is of the group
	 * itself.
	 */
	if (walk->group != NULL)
		(void) hash_search(walk->seen, &info->relation_oid, HASH_ENTER, &found);
	if (found || (walk->group != NULL && tier_group_is_taken(walk->group, info->relation_oid)))
		return;
	if (walk->n == walk->capacity)
	{
		walk->capacity *= 2;
		walk->leaves = repalloc_huge(walk->leaves, sizeof(TierLeaf) * walk->capacity);
	}
	leaf = &walk->leaves[walk->n++];
	memset(leaf, 0, sizeof(TierLeaf));
	leaf->info = *info;
	leaf->partition = *partition;
	leaf->partition.is_foreign = info->kind == RELKIND_FOREIGN_TABLE;
	leaf->partition.is_temporary = info->persistence == RELPERSISTENCE_TEMP;
	leaf->partition.not_allowed = walk->group != NULL && !tier_group_allows(walk->group, info);
	leaf->partition.has_no_age = walk->has_no_age;
	leaf->from_tier = -1;
	leaf->pending_bytes = -1;
}

/* The partitions of a partitioned table that are visited. */
static List *
children_to_visit(const TreeWalk *walk, Oid parent_oid)
{
	List	   *children = NIL;
	ListCell   *cell;

	if (walk->only == NIL)
		return find_inheritance_children(parent_oid, NoLock);
	foreach(cell, walk->only)
	{
		const List *path = lfirst(cell);

		for (int i = 1; i < list_length(path); i++)
			if (list_nth_oid(path, i) == parent_oid)
				children = list_append_unique_oid(children, list_nth_oid(path, i - 1));
	}
	return children;
}

/* Visits the children of a partitioned table with the bounds it inherits. */
static void
walk_tree(TreeWalk *walk, Oid parent_oid, const TierPartition *inherited)
{
	KeyLevel	level = {false, false};
	List	   *children;
	ListCell   *cell;
	char		strategy;
	int			ncolumns;
	NameData	column;
	Oid			type_oid;
	bool		order_known;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();

	if (tier_partition_read_key(parent_oid, &strategy, &ncolumns, &column, &type_oid,
								&order_known))
	{
		level.is_key = walk->key != NULL && order_known &&
			strategy == PARTITION_STRATEGY_RANGE &&
			type_oid == walk->key->type_oid &&
			strcmp(NameStr(column), NameStr(walk->key->column)) == 0;
		level.is_multicolumn = ncolumns > 1;
	}

	children = children_to_visit(walk, parent_oid);
	foreach(cell, children)
	{
		TierPartition partition = *inherited;
		TierRelationInfo info;
		PartitionBoundSpec *spec;

		if (!tier_relation_lookup(lfirst_oid(cell), &info))
			continue;
		spec = read_bound(info.relation_oid);
		if (spec == NULL)
			continue;
		if (walk->key != NULL)
			apply_bound(&partition, walk->key, &level, spec);
		if (info.kind == RELKIND_PARTITIONED_TABLE)
			walk_tree(walk, info.relation_oid, &partition);
		else
			add_leaf(walk, &info, &partition);
	}
	list_free(children);
}

/* Is the leaf to be visited? */
static bool
is_among(const TreeWalk *walk, Oid leaf_oid)
{
	ListCell   *cell;

	foreach(cell, walk->only)
	{
		if (linitial_oid((const List *) lfirst(cell)) == leaf_oid)
			return true;
	}
	return walk->only == NIL;
}

/*
 * A table without rows of its own, which others inherit from, such as a hypertable of
 * TimescaleDB: there is nothing to move, but what is created for it later would be created
 * where it is.
 */
static bool
is_empty_parent(const TierRelationInfo *info, const List *all)
{
	return list_length(all) > 1 && linitial_oid(all) == info->relation_oid &&
		OidIsValid(info->file_number) &&
		tier_file_size(info->tablespace_oid, info->file_number, MAIN_FORKNUM) == 0;
}

/* A table that is not partitioned, with all that inherit from it. */
static void
walk_inheritors(TreeWalk *walk, Oid relation_oid, const TierPartition *unbounded)
{
	List	   *all = tier_relation_inheritors(relation_oid);
	ListCell   *cell;

	foreach(cell, all)
	{
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		if (is_among(walk, lfirst_oid(cell)) &&
			tier_relation_lookup(lfirst_oid(cell), &info) &&
			!is_empty_parent(&info, all))
			add_leaf(walk, &info, unbounded);
	}
	list_free(all);
}

/* A superuser has separated the TOAST table from its table: the next move heals that. */
static bool
toast_is_elsewhere(const TierRelationInfo *info, const TierSet *set, int to_tier)
{
	TierRelationInfo toast;

	return OidIsValid(info->toast_oid) && tier_relation_lookup(info->toast_oid, &toast) &&
		tier_set_tier_of_tablespace(set, toast.tablespace_oid) != to_tier;
}

/*
 * Something of the leaf that is on `from_tier` (-1: on none): shall it go to the policy's?
 * A policy brings nothing back: what is on a slower tier stays there, so that whatever
 * other policies have done is no reason to do it again.  Tiers are ordered, also those
 * of one rank.
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
 * Why the leaf and its indexes stay where they are; NULL: they need not.  What an extension
 * has made is moved by nobody who has not pinned it there.
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

/* What of the leaf and its indexes is not on the tier; where it is now. */
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

/* One table, and all that a query of it reads. */
static void
walk_table(TreeWalk *walk, Oid relation_oid)
{
	TierPartition unbounded;

	memset(&unbounded, 0, sizeof(unbounded));
	unbounded.lower_kind = unbounded.upper_kind = TIER_BOUND_OPEN;
	if (get_rel_relkind(relation_oid) == RELKIND_PARTITIONED_TABLE)
		walk_tree(walk, relation_oid, &unbounded);
	else
		walk_inheritors(walk, relation_oid, &unbounded);
}

/* What key_step() is given. */
typedef struct KeyJob
{
	Oid			relation_oid;
	const TierKeyConversion *conversion;
	TierPartitionKey key;
} KeyJob;

static void
key_step(void *argument)
{
	KeyJob	   *job = argument;

	tier_partition_check_key(job->relation_oid, job->conversion, &job->key);
}

/* Visits this leaf, and of others only those that were named before. */
static void
visit_only(TreeWalk *walk, Oid leaf_oid)
{
	walk->only = lappend(walk->only, lcons_oid(leaf_oid, get_partition_ancestors(leaf_oid)));
	walk->only_inherits |= !get_rel_relispartition(leaf_oid) && has_superclass(leaf_oid);
}

/* May the table have a leaf that is to be visited? */
static bool
is_visited(const TreeWalk *walk, Oid relation_oid)
{
	ListCell   *cell;

	foreach(cell, walk->only)
	{
		if (list_member_oid((const List *) lfirst(cell), relation_oid))
			return true;
	}
	return walk->only == NIL ||
		(walk->only_inherits && get_rel_relkind(relation_oid) != RELKIND_PARTITIONED_TABLE);
}

/* The tables of a group, each by its own key, if the age matters. */
static void
walk_group(TreeWalk *walk, const TierPolicyRow *policy)
{
	ListCell   *cell;

	foreach(cell, tier_group_tables(policy))
	{
		KeyJob		job = {.relation_oid = lfirst_oid(cell),.conversion = &policy->key};

		CHECK_FOR_INTERRUPTS();
		if (!is_visited(walk, job.relation_oid))
			continue;
		walk->key = NULL;
		walk->has_no_age = false;
		if (policy->has_move_after)
		{
			ErrorData  *error = NULL;

			/* Most tables are not partitioned, and what fails is expensive. */
			walk->has_no_age = get_rel_relkind(job.relation_oid) != RELKIND_PARTITIONED_TABLE;
			if (!walk->has_no_age)
				error = tier_attempt(key_step, &job);
			if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
				ReThrowError(error);
			walk->has_no_age = walk->has_no_age || error != NULL;
			walk->key = walk->has_no_age ? NULL : &job.key;
		}
		walk_table(walk, job.relation_oid);
	}
}

static HTAB *
create_seen(void)
{
	HASHCTL		control = {.keysize = sizeof(Oid),.entrysize = sizeof(Oid)};

	control.hcxt = CurrentMemoryContext;
	return hash_create("tiered_storage leaves", 256, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * What was rolled back, or deleted, leaves blocks behind until VACUUM.  The server's count of live
 * rows may be wrong; if it is zero for what has rows, age counts from an earlier partition, and
 * less is due.  Where nothing was counted, as after a crash, blocks are taken for rows.
 */
static bool
holds_no_row(const TierRelationInfo *info)
{
	TierCompatTableStats stats;

	if (tier_file_size(info->tablespace_oid, info->file_number, MAIN_FORKNUM) == 0)
		return true;
	return tier_compat_fetch_table_stats(info->relation_oid, false, &stats) &&
		stats.live_tuples <= 0 &&
		stats.tuples_inserted + stats.tuples_updated + stats.tuples_deleted > 0;
}

/*
 * Loads the leaves of the policy's table.  leaf_oid: the others (0: of none) matter only for
 * what the age counts from.
 */
static void
load_leaves(TierEvaluation *evaluation, const TierPartitionKey *key, Oid leaf_oid,
			Oid newest_oid)
{
	const TierPolicyRow *policy = evaluation->policy;
	TreeWalk	walk = {.key = key,.capacity = 64};

	if (OidIsValid(leaf_oid) && (!policy->age_from_newest || OidIsValid(newest_oid)))
		visit_only(&walk, leaf_oid);
	if (walk.only != NIL && OidIsValid(newest_oid) && newest_oid != leaf_oid)
		visit_only(&walk, newest_oid);
	walk.leaves = palloc(sizeof(TierLeaf) * walk.capacity);
	if (tier_policy_has_group(policy))
	{
		walk.group = policy;
		walk.seen = create_seen();
		walk_group(&walk, policy);
	}
	else
		walk_table(&walk, policy->relation_oid);

	evaluation->nleaves = walk.n;
	evaluation->leaves = walk.leaves;
}

/* Where to, how much, and the reason in words. */
static void
finish_leaf(TierLeaf *leaf, const TierEvaluation *evaluation, const TierSet *set)
{
	const TierPolicyRow *policy = evaluation->policy;

	if (leaf->verdict == TIER_VERDICT_DUE)
	{
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
}

/*
 * reference - move_after, which is never later, though '1 mon -30 days' may be less than
 * nothing; nothing is old enough where that, or a step on the way there, may be before the
 * calendar begins, which is no error of the policy.  A time zone may differ from UTC by
 * a week.
 */
static TimestampTz
threshold_of(TimestampTz reference, const Interval *move_after)
{
	Interval	interval = *move_after;
	double		longest_days = fabs(interval.month * 31.0) + fabs((double) interval.day) + 8.0;
	double		longest_us = longest_days * USECS_PER_DAY + fabs((double) interval.time);

	if (longest_us > (double) reference - (double) MIN_TIMESTAMP)
		return DT_NOBEGIN;
	return Min(DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
													   TimestampTzGetDatum(reference),
													   IntervalPGetDatum(&interval))),
			   reference);
}

/* What the policy asks for, as instants.  Idleness ends when it was looked at. */
static TierPolicyConditions
conditions_of(const TierPolicyRow *policy, const TierUses *uses, TimestampTz reference,
			  TimestampTz now)
{
	TierPolicyConditions conditions;

	memset(&conditions, 0, sizeof(conditions));
	conditions.has_age = policy->has_move_after;
	if (conditions.has_age)
		conditions.age_us = threshold_of(reference, &policy->move_after);
	if (uses != NULL)
		now = tier_uses_at(uses);
	conditions.has_idle = policy->has_idle_for;
	if (conditions.has_idle)
		conditions.idle_us = threshold_of(now, &policy->idle_for);
	conditions.has_no_writes = policy->has_no_writes_for;
	if (conditions.has_no_writes)
		conditions.no_writes_us = threshold_of(now, &policy->no_writes_for);
	conditions.has_reads = !isnan(policy->below_reads_per_hour);
	conditions.below_reads_per_hour = policy->below_reads_per_hour;
	conditions.rate_us = now - tier_observation_period_min * USECS_PER_MINUTE;
	conditions.has_keep = !isnan(policy->return_reads_per_hour);
	if (conditions.has_keep)
		conditions.keep_reads_per_hour = tier_policy_keep(policy->return_reads_per_hour,
														  policy->below_reads_per_hour);
	return conditions;
}

/* A policy that is evaluated, and how far the current step is with its leaves. */
typedef struct LeafPass
{
	TierEvaluation *evaluation;
	const TierSet *set;
	const TierPins *pins;
	Oid			only_oid;		/* 0: all leaves matter */
	TierPartition *partitions;	/* by leaf, as the verdicts */
	TierPolicyVerdict *verdicts;
	TierPolicyGrounds grounds;
	TierPass	pass;
	void		(*step) (struct LeafPass *leaves, int i);
} LeafPass;

static Oid
leaf_oid(const void *argument, int i)
{
	return ((const LeafPass *) argument)->evaluation->leaves[i].info.relation_oid;
}

static void
leaf_step(void *argument, int i)
{
	LeafPass   *leaves = argument;

	if (leaves->evaluation->leaves[i].error == NULL)
		leaves->step(leaves, i);
}

static void
leave_out_leaf(void *argument, int i, char *message)
{
	TierLeaf   *leaf = &((LeafPass *) argument)->evaluation->leaves[i];

	leaf->error = message;
	leaf->pending = NIL;
}

/* A step with each leaf; one that fails is left out from then on. */
static void
for_each_leaf(LeafPass *leaves, void (*step) (LeafPass *leaves, int i))
{
	const TierEach each = {
		leaves->evaluation->nleaves, leaf_oid, leaf_step, leave_out_leaf, leaves
	};

	leaves->step = step;
	tier_pass_each(&leaves->pass, &each);
}

/* Where it is, and how it is used. */
static void
look_at_leaf(LeafPass *leaves, int i)
{
	TierEvaluation *evaluation = leaves->evaluation;
	const TierPolicyRow *policy = evaluation->policy;
	const TierUses *uses = evaluation->uses;
	TierLeaf   *leaf = &evaluation->leaves[i];

	tier_debug_relation("evaluate", leaf->info.relation_oid);
	if (!OidIsValid(leaves->only_oid) || leaf->info.relation_oid == leaves->only_oid)
		locate_leaf(leaf, evaluation, leaves->set, leaves->pins);
	leaf->partition.use = tier_uses_find(uses, leaf->info.relation_oid, policy->include_indexes);

	/* Nobody knows what is read there; what is written is written here. */
	if (tier_uses_uncounted(uses) != NULL ||
		(tier_uses_silent_standby(uses) != NULL &&
		 (policy->has_idle_for || !isnan(policy->below_reads_per_hour))))
		leaf->partition.use.is_observed = false;
	if (policy->age_from_newest && OidIsValid(leaf->info.file_number))
		leaf->partition.is_empty = holds_no_row(&leaf->info);
}

/* The leaf from which the age counts. */
static Oid
newest_of(const TierEvaluation *evaluation, int64_t reference_us)
{
	for (int i = 0; i < evaluation->nleaves; i++)
	{
		const TierLeaf *leaf = &evaluation->leaves[i];
		int64_t		instant_us;

		if (tier_policy_newest(&leaf->partition, 1, &instant_us) && instant_us == reference_us)
			return leaf->info.relation_oid;
	}
	return InvalidOid;
}

/* What is due but in use at this moment is not; and how much it was used until now. */
static void
look_at_holders(LeafPass *leaves, int i)
{
	TierLeaf   *leaf = &leaves->evaluation->leaves[i];

	if (leaves->verdicts[i] != TIER_VERDICT_DUE)
		return;
	leaf->use_counter = tier_use_counter(leaf->info.relation_oid);
	leaf->partition.use.is_held = tier_use_is_held(leaf->info.relation_oid);
	leaf->partition.use.may_be_hidden = tier_uses_hiding_since(leaves->evaluation->uses) != 0;
	leaves->partitions[i].use = leaf->partition.use;
	tier_policy_evaluate(&leaves->partitions[i], 1, &leaves->grounds.conditions,
						 &leaves->verdicts[i]);
}

static void
conclude(LeafPass *leaves, int i)
{
	TierLeaf   *leaf = &leaves->evaluation->leaves[i];

	leaf->verdict = leaves->verdicts[i];
	leaf->reason = leaf->verdict == TIER_VERDICT_IMMOVABLE ?
		psprintf("it cannot be moved: %s", leaf->immovable) :
		tier_policy_reason(leaf->verdict, &leaf->partition, leaf->pinned, &leaves->grounds);
	if (leaf->verdict == TIER_VERDICT_DUE && tier_relation_why_not_online(&leaf->info) != NULL)
		leaf->reason = psprintf("%s; but it cannot be moved online: %s", leaf->reason,
								tier_relation_why_not_online(&leaf->info));
	finish_leaf(leaf, leaves->evaluation, leaves->set);
}

static void
evaluate(TierEvaluation *evaluation, const TierSet *set, const TierPins *pins,
		 TimestampTz now, Oid leaf_oid, Oid newest_oid)
{
	const TierPolicyRow *policy = evaluation->policy;
	TierPartitionKey key;
	LeafPass	leaves = {
		.evaluation = evaluation,.set = set,.pins = pins,.only_oid = leaf_oid,
		.grounds =
		{
			.policy = policy,.uses = evaluation->uses
		}
	};
	int64_t		reference_us = now;
	bool		has_key = policy->has_move_after && !tier_policy_has_group(policy);

	if (has_key)
		tier_partition_check_key(policy->relation_oid, &policy->key, &key);
	load_leaves(evaluation, has_key ? &key : NULL, leaf_oid, newest_oid);
	tier_pass_begin(&leaves.pass, TIER_STEP_EVALUATE);
	for_each_leaf(&leaves, look_at_leaf);

	leaves.partitions = palloc(sizeof(TierPartition) * Max(evaluation->nleaves, 1));
	leaves.verdicts = palloc(sizeof(TierPolicyVerdict) * Max(evaluation->nleaves, 1));
	for (int i = 0; i < evaluation->nleaves; i++)
	{
		TierLeaf   *leaf = &evaluation->leaves[i];

		/* If age counts from an earlier one meanwhile, less is due. */
		leaf->partition.is_empty |= leaf->error != NULL;
		leaves.partitions[i] = leaf->partition;
	}
	if (policy->age_from_newest &&
		!tier_policy_newest(leaves.partitions, evaluation->nleaves, &reference_us))
		reference_us = now;
	else if (policy->age_from_newest)
		evaluation->newest_oid = newest_of(evaluation, reference_us);

	/* One row dated far into the future must not make everything due. */
	reference_us = Min(reference_us, now);
	leaves.grounds.conditions = conditions_of(policy, evaluation->uses, reference_us, now);
	evaluation->conditions = leaves.grounds.conditions;
	leaves.grounds.from_now = reference_us == now;
	leaves.grounds.reference_us = reference_us;
	tier_policy_evaluate(leaves.partitions, evaluation->nleaves, &leaves.grounds.conditions,
						 leaves.verdicts);
	if (tier_policy_asks_for_use(policy))
		for_each_leaf(&leaves, look_at_holders);
	for_each_leaf(&leaves, conclude);
	for (int i = 0; i < evaluation->nleaves; i++)
	{
		TierLeaf   *leaf = &evaluation->leaves[i];

		if (leaf->error == NULL)
			continue;
		leaf->verdict = TIER_VERDICT_ERROR;
		leaf->reason = pstrdup(leaf->error);
	}
}

/* What an extension has made is its own. */
static void
check_no_member(const TierRelationInfo *info)
{
	if (OidIsValid(getExtensionOfObject(RelationRelationId, info->relation_oid)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s belongs to an extension and cannot have a tiering policy",
						tier_relation_kind_name(info->kind), info->name)));
}

/* Is there a table that a policy can be put on, whatever it asks for? */
static void
check_kind(const TierRelationInfo *info)
{
	const char *kind = tier_relation_kind_name(info->kind);

	if (info->is_system)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s is a system relation and cannot have a tiering policy", kind,
						info->name)));
	if (info->kind != RELKIND_RELATION && info->kind != RELKIND_MATVIEW &&
		info->kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s cannot have a tiering policy", kind, info->name),
				 errdetail("A policy is for a table, a partitioned table, a table from which "
						   "others inherit, or a materialized view."),
				 info->kind != RELKIND_INDEX && info->kind != RELKIND_PARTITIONED_INDEX ? 0 :
				 errhint("Indexes are moved with their table, or with "
						 "CALL tiered_storage.move_relation().")));
	if (info->persistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("temporary table %s cannot have a tiering policy", info->name)));
	if (info->persistence == RELPERSISTENCE_UNLOGGED && info->kind == RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("unlogged table %s cannot have a tiering policy", info->name),
				 errdetail("It cannot be moved online."),
				 errhint("Move it with CALL tiered_storage.move_relation().")));
	check_no_member(info);
}

void
tier_partition_check_target(const TierRelationInfo *info, const TierPolicyRow *policy)
{
	TierPartitionKey key;

	if (!policy->has_move_after)
	{
		check_kind(info);
		return;
	}
	tier_partition_check_key(info->relation_oid, &policy->key, &key);
	check_no_member(info);
}

/* What evaluate_step() is given. */
typedef struct EvaluationJob
{
	TierEvaluation *evaluation;
	const TierSet *set;
	const TierPins *pins;
	TimestampTz now;
	Oid			leaf_oid;		/* 0: all */
	Oid			newest_oid;		/* if that alone says how old the leaf is */
} EvaluationJob;

/* When a day begins, and a month ends, is no matter of who asks. */
static void
evaluate_step(void *argument)
{
	EvaluationJob *job = argument;
	int			guc_level = NewGUCNestLevel();

	(void) set_config_option("TimeZone", job->evaluation->policy->time_zone, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	evaluate(job->evaluation, job->set, job->pins, job->now, job->leaf_oid, job->newest_oid);
	AtEOXact_GUC(false, guc_level);
}

/*
 * What runs here, in the worker as the bootstrap superuser, is code of the
 * server and ours alone, whatever a user has made of the policy's table:
 *
 * - Catalogs are read by system scans and caches, and file sizes from the file
 *   system.  No relation of a user is opened, so neither its access method nor an
 *   expression of its indexes, partition key or row policies is touched.
 * - A bound is read from pg_class by stringToNode, which copies the bytes of its
 *   datums; no input function is called.  Bounds are neither compared nor
 *   printed by operators, support or output functions of their type: they
 *   are only converted, and that by C functions for the types of
 *   decide/partition_key.c, which are built in and compared by OID, with the type
 *   that the bound itself says it has.  A domain, an enum or a type of a user is
 *   refused.
 * - There is no statement, and no name is looked up: what was stored as text
 *   is a unit, of a fixed list, and a time zone, which is a file of the server's.
 *
 * So there is nobody whose rights it would have to have.  Only the errors of
 * a policy are kept from the others.
 */
static TierEvaluation *
evaluate_policy(const TierPolicyRow *policy, const TierSet *set, const TierPins *pins,
				const TierUses *uses, TimestampTz now, Oid leaf_oid, Oid newest_oid)
{
	TierEvaluation *evaluation = palloc0(sizeof(TierEvaluation));
	EvaluationJob job = {evaluation, set, pins, now, leaf_oid, newest_oid};
	TierRelationInfo info;
	ErrorData  *error;

	evaluation->policy = policy;
	evaluation->uses = uses;
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
		evaluation->error = pstrdup("its rows are in shards of Citus since just now");
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
	return evaluate_policy(policy, set, pins, uses, now, InvalidOid, InvalidOid);
}

const TierLeaf *
tier_partition_evaluate_leaf(const TierPolicyRow *policy, const TierSet *set,
							 const TierPins *pins, const TierUses *uses, TimestampTz now,
							 Oid leaf_oid, Oid newest_oid, TierEvaluation **evaluation)
{
	*evaluation = evaluate_policy(policy, set, pins, uses, now, leaf_oid, newest_oid);

	/* It may have been dropped or emptied: then all say which one it is now. */
	if (OidIsValid(newest_oid) && (*evaluation)->newest_oid != newest_oid)
		*evaluation = evaluate_policy(policy, set, pins, uses, now, leaf_oid, InvalidOid);
	for (int i = 0; i < (*evaluation)->nleaves; i++)
		if ((*evaluation)->leaves[i].info.relation_oid == leaf_oid)
			return &(*evaluation)->leaves[i];
	return NULL;
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
