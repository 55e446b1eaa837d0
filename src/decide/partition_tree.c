/*-------------------------------------------------------------------------
 *
 * decide/partition_tree.c
 *		Loads the tables of a policy into the snapshot that model/policy.c decides on.
 *
 * Everything is read from the system catalogs under the current snapshot, without a lock on the
 * tables: a partition that is attached, detached or dropped concurrently may be seen or not, and
 * the move that follows checks again under its lock.
 *
 * The bounds of a leaf are the tightest of all levels of the tree that are range-partitioned by
 * the same column as the top; other levels (hash, list, another column) only pass them on, and so
 * does a default partition.  A default partition that nothing above bounds has no age; partitions
 * below it have their own bounds.
 *
 * The chunks of a hypertable of TimescaleDB are leaves whose bounds are their constraints.
 *
 * A policy that does not ask for the age can be on any table.  Then its leaves are all tables
 * that a query of the table reads: its partitions, or the table itself with all that inherit from
 * it.  Their bounds do not matter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "src/base/attempt.h"
#include "src/decide/hypertable.h"
#include "src/decide/partition.h"
#include "src/decide/policy_group.h"
#include "src/storage/file_size.h"
#include "src/storage/store.h"

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
	List	   *only;			/* NIL: all leaves are visited; else one leaf
								 * and its ancestors */
	TierLeaf   *leaves;
	int			n;
	int			capacity;
} TreeWalk;

/* The bound specification of a partition, or NULL if it is not a partition. */
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

/* Narrows the bounds of `partition` to these; NULL: none on that side. */
static void
narrow(TierPartition *partition, const TierPartitionKey *key, const Const *lower,
	   const Const *upper, TierBoundEnd upper_end)
{
	int64		us;

	if (lower != NULL && tier_partition_bound_time(key, lower, TIER_END_LOWER, &us) &&
		(partition->lower_kind != TIER_BOUND_FINITE || us > partition->lower_us))
	{
		partition->lower_kind = TIER_BOUND_FINITE;
		partition->lower_us = us;
	}
	if (upper != NULL && tier_partition_bound_time(key, upper, upper_end, &us) &&
		(partition->upper_kind != TIER_BOUND_FINITE || us < partition->upper_us))
	{
		partition->upper_kind = TIER_BOUND_FINITE;
		partition->upper_us = us;
	}
}

/* Narrows the bounds of `partition` to those of this level. */
static void
apply_bound(TierPartition *partition, const TierPartitionKey *key, const KeyLevel *level,
			const PartitionBoundSpec *spec)
{
	PartitionRangeDatum *lower;
	PartitionRangeDatum *upper;

	/*
	 * Nothing is locked: the partition may have been attached to another
	 * parent, with bounds of another shape or type.  Then it has no age.
	 */
	if (!spec->is_default && level->is_key && !is_range_of_type(spec, key->type_oid))
	{
		partition->lower_kind = partition->upper_kind = TIER_BOUND_NONE;
		return;
	}

	/* A default partition has the bounds of its parent, if any. */
	if (spec->is_default)
	{
		if (partition->upper_kind != TIER_BOUND_FINITE)
			partition->lower_kind = partition->upper_kind = TIER_BOUND_NONE;
		return;
	}
	if (!level->is_key)
		return;

	/* The levels above have no bounds; these bounds count. */
	if (partition->upper_kind == TIER_BOUND_NONE)
		partition->lower_kind = partition->upper_kind = TIER_BOUND_OPEN;

	lower = linitial_node(PartitionRangeDatum, spec->lowerdatums);
	upper = linitial_node(PartitionRangeDatum, spec->upperdatums);
	narrow(partition, key,
		   lower->kind == PARTITION_RANGE_DATUM_VALUE ? castNode(Const, lower->value) : NULL,
		   upper->kind == PARTITION_RANGE_DATUM_VALUE ? castNode(Const, upper->value) : NULL,
		   level->is_multicolumn ? TIER_END_UPPER_INCLUSIVE : TIER_END_UPPER);
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
	if (walk->only == NIL)
		return find_inheritance_children(parent_oid, NoLock);
	for (int i = 1; i < list_length(walk->only); i++)
		if (list_nth_oid(walk->only, i) == parent_oid)
			return list_make1_oid(list_nth_oid(walk->only, i - 1));
	return NIL;
}

/* Visits the children of a partitioned table with the bounds it inherits. */
static void
walk_tree(TreeWalk *walk, Oid parent_oid, const TierPartition *inherited)
{
	KeyLevel	level = {false, false};
	List	   *children;
	ListCell   *cell;
	TierTableKey key;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();

	if (tier_partition_read_key(parent_oid, &key))
	{
		level.is_key = walk->key != NULL && key.order_known &&
			key.strategy == PARTITION_STRATEGY_RANGE && key.type_oid == walk->key->type_oid &&
			strcmp(NameStr(key.column), NameStr(walk->key->column)) == 0;
		level.is_multicolumn = key.ncolumns > 1;
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

/*
 * Returns true for a table without own rows, from which others inherit, such as a hypertable of
 * TimescaleDB.  There is nothing to move, but relations created for it later would be created
 * where it is.
 */
static bool
is_empty_parent(const TierRelationInfo *info, const TreeWalk *walk, const List *all)
{
	return (walk->key != NULL || list_length(all) > 1) &&
		linitial_oid(all) == info->relation_oid && OidIsValid(info->file_number) &&
		tier_store_answers(info->tablespace_oid) &&
		tier_file_size(info->tablespace_oid, info->file_number, MAIN_FORKNUM) == 0;
}

/* A leaf if it is to be visited. */
static void
visit_inheritor(TreeWalk *walk, Oid relation_oid, const List *all,
				const TierPartition *partition)
{
	TierRelationInfo info;

	if ((walk->only == NIL || linitial_oid(walk->only) == relation_oid) &&
		tier_relation_lookup(relation_oid, &info) && !is_empty_parent(&info, walk, all))
		add_leaf(walk, &info, partition);
}

/*
 * A table that is not partitioned, with all that inherit from it.  If the age matters, they are
 * chunks of a hypertable, and the compressed rows of a chunk are as old as it.
 */
static void
walk_inheritors(TreeWalk *walk, Oid relation_oid, const TierPartition *unbounded)
{
	List	   *all = tier_relation_inheritors(relation_oid);
	HTAB	   *compressed = walk->key != NULL ? tier_hypertable_compressed() : NULL;
	ListCell   *cell;

	foreach(cell, all)
	{
		TierPartition partition = *unbounded;
		List	   *lowers;
		List	   *uppers;
		ListCell   *bound;
		Oid			chunk_oid = lfirst_oid(cell);
		const TierCompressedChunk *entry = compressed == NULL ? NULL :
		hash_search(compressed, &chunk_oid, HASH_FIND, NULL);

		CHECK_FOR_INTERRUPTS();
		if (walk->only != NIL && linitial_oid(walk->only) != chunk_oid &&
			(entry == NULL || linitial_oid(walk->only) != entry->table_oid))
			continue;
		if (walk->key != NULL)
		{
			tier_hypertable_bounds(chunk_oid, NameStr(walk->key->column), walk->key->type_oid,
								   &lowers, &uppers);
			foreach(bound, lowers)
				narrow(&partition, walk->key, lfirst(bound), NULL, TIER_END_UPPER);
			foreach(bound, uppers)
				narrow(&partition, walk->key, NULL, lfirst(bound), TIER_END_UPPER);
		}
		visit_inheritor(walk, chunk_oid, all, &partition);
		if (entry != NULL)
			visit_inheritor(walk, entry->table_oid, all, &partition);
	}
	list_free(all);
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

/* The input of key_step(). */
typedef struct KeyJob
{
	Oid			relation_oid;
	const char *key_unit;
	TierPartitionKey key;
} KeyJob;

static void
key_step(void *argument)
{
	KeyJob	   *job = argument;

	tier_partition_check_key(job->relation_oid, job->key_unit, &job->key);
}

/*
 * Returns true if the table may have the leaf that is to be visited.  Tables that inherit have no
 * path.
 */
static bool
is_visited(const TreeWalk *walk, Oid relation_oid)
{
	return walk->only == NIL || list_member_oid(walk->only, relation_oid) ||
		(!get_rel_relispartition(linitial_oid(walk->only)) &&
		 has_superclass(linitial_oid(walk->only)) &&
		 get_rel_relkind(relation_oid) != RELKIND_PARTITIONED_TABLE);
}

/* The tables of a group, each by its own key, if the age matters. */
static void
walk_group(TreeWalk *walk, const TierPolicyRow *policy)
{
	ListCell   *cell;

	foreach(cell, tier_group_tables(policy))
	{
		KeyJob		job = {.relation_oid = lfirst_oid(cell),.key_unit = policy->key_unit};

		CHECK_FOR_INTERRUPTS();
		if (!is_visited(walk, job.relation_oid))
			continue;
		walk->key = NULL;
		walk->has_no_age = false;
		if (policy->has_move_after)
		{
			ErrorData  *error = NULL;

			/* Most tables are not partitioned, and an error is expensive. */
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

void
tier_partition_load_leaves(TierEvaluation *evaluation, Oid leaf_oid)
{
	const TierPolicyRow *policy = evaluation->policy;
	TreeWalk	walk = {.capacity = 64};
	TierPartitionKey key;

	if (OidIsValid(leaf_oid))
		walk.only = lcons_oid(leaf_oid, get_partition_ancestors(leaf_oid));
	walk.leaves = palloc(sizeof(TierLeaf) * walk.capacity);
	if (tier_policy_has_group(policy))
	{
		walk.group = policy;
		walk.seen = tier_relation_set();
		walk_group(&walk, policy);
	}
	else
	{
		if (policy->has_move_after)
		{
			tier_partition_check_key(policy->relation_oid, policy->key_unit, &key);
			walk.key = &key;
		}
		walk_table(&walk, policy->relation_oid);
	}
	evaluation->nleaves = walk.n;
	evaluation->leaves = walk.leaves;
}
