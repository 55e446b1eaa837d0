/*-------------------------------------------------------------------------
 *
 * server/relation_parts.c
 *		Parts of a relation: TOAST, indexes, partitions.
 *
 * Reads catalogs, and locks no user relation: the results may be out of date a
 * moment later, and callers check again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opclass.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "src/base/by_oid.h"
#include "src/server/relation.h"

static List *
find_indexes(Oid relation_oid, bool also_invalid)
{
	List	   *indexes = NIL;
	Relation	rel = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relation_oid));
	scan = systable_beginscan(rel, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);

		/* One that is being built, or is left over from a failed build. */
		if (!also_invalid && (!form->indisvalid || !form->indislive))
			continue;
		indexes = lappend_oid(indexes, form->indexrelid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return indexes;
}

List *
tier_relation_indexes(Oid relation_oid)
{
	return find_indexes(relation_oid, false);
}

List *
tier_relation_members(const TierRelationInfo *info, bool include_indexes, bool also_invalid)
{
	List	   *heaps = info->kind == RELKIND_PARTITIONED_TABLE ?
	tier_relation_leaves(info->relation_oid) : list_make1_oid(info->relation_oid);
	List	   *all = NIL;
	ListCell   *cell;

	foreach(cell, heaps)
	{
		all = lappend_oid(all, lfirst_oid(cell));
		if (include_indexes && info->kind != RELKIND_INDEX)
			all = list_concat(all, find_indexes(lfirst_oid(cell), also_invalid));
	}
	return all;
}

List *
tier_relation_parts(Oid relation_oid)
{
	TierRelationInfo info;
	List	   *parts = NIL;

	if (tier_relation_lookup(relation_oid, &info) && OidIsValid(info.toast_oid))
		parts = lappend_oid(tier_relation_indexes(info.toast_oid), info.toast_oid);
	return lappend_oid(parts, relation_oid);
}

List *
tier_relation_parts_elsewhere(Oid relation_oid, Oid tablespace_oid)
{
	List	   *parts = NIL;
	ListCell   *cell;

	foreach(cell, tier_relation_parts(relation_oid))
	{
		TierRelationInfo info;

		if (tier_relation_lookup(lfirst_oid(cell), &info) && info.tablespace_oid != tablespace_oid)
			parts = lappend_oid(parts, info.relation_oid);
	}
	return parts;
}

/* Returns true if it is an index of this table, and valid. */
static bool
is_index_of(Oid relation_oid, Oid table_oid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(relation_oid));
	bool		is_it = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);

		is_it = form->indrelid == table_oid && form->indisvalid;
		ReleaseSysCache(tuple);
	}
	return is_it;
}

/* Adds an expression, as it is stored, less where in a statement it stood. */
static uint64
hash_expression(HeapTuple tuple, AttrNumber column, uint64 hash)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(INDEXRELID, tuple, column, &isnull);
	char	   *tree;

	if (isnull)
		return hash_bytes_extended((const unsigned char *) "", 0, hash);
	tree = nodeToString(stringToNode(TextDatumGetCString(value)));
	return hash_bytes_extended((const unsigned char *) tree, strlen(tree), hash);
}

/* Of an attribute of pg_index that is never null. */
static Datum
index_attribute(HeapTuple tuple, AttrNumber column)
{
	bool		isnull;

	return SysCacheGetAttr(INDEXRELID, tuple, column, &isnull);
}

/*
 * Of an operator class; of one that has just been dropped the class itself.  A column that
 * becomes bigint has another class, but the same family.
 */
static Oid
family_of(Oid class_oid)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(class_oid));
	Oid			family_oid = class_oid;

	if (HeapTupleIsValid(tuple))
	{
		family_oid = ((Form_pg_opclass) GETSTRUCT(tuple))->opcfamily;
		ReleaseSysCache(tuple);
	}
	return family_oid;
}

uint64
tier_relation_hash_index(Form_pg_index form, Datum collations, Datum classes, Datum options)
{
	const bool	flags[] = {form->indisunique, form->indnullsnotdistinct, form->indisexclusion};
	const oidvector *collation = (const oidvector *) DatumGetPointer(collations);
	const oidvector *class = (const oidvector *) DatumGetPointer(classes);
	const int2vector *option = (const int2vector *) DatumGetPointer(options);
	uint64		hash = hash_bytes_extended((const unsigned char *) form->indkey.values,
										   sizeof(int16) * form->indkey.dim1,
										   (uint64) form->indnkeyatts);

	/* The families tell the access method, too. */
	hash = hash_bytes_extended((const unsigned char *) collation->values,
							   sizeof(Oid) * collation->dim1, hash);
	for (int i = 0; i < class->dim1; i++)
	{
		Oid			family_oid = family_of(class->values[i]);

		hash = hash_bytes_extended((const unsigned char *) &family_oid, sizeof(Oid), hash);
	}
	hash = hash_bytes_extended((const unsigned char *) option->values,
							   sizeof(int16) * option->dim1, hash);
	return hash_bytes_extended((const unsigned char *) flags, sizeof(flags), hash);
}

/* False: there is no such index. */
static bool
look_at_definition(Oid index_oid, Oid *table_oid, int64 *definition_hash)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index_oid));
	Form_pg_index form;
	uint64		hash;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	hash = tier_relation_hash_index(form, index_attribute(tuple, Anum_pg_index_indcollation),
									index_attribute(tuple, Anum_pg_index_indclass),
									index_attribute(tuple, Anum_pg_index_indoption));
	hash = hash_expression(tuple, Anum_pg_index_indexprs, hash);
	*definition_hash = (int64) hash_expression(tuple, Anum_pg_index_indpred, hash);
	*table_oid = form->indrelid;
	ReleaseSysCache(tuple);
	return true;
}

void
tier_relation_identify(Oid relation_oid, TierIndexIdentity *identity)
{
	char	   *name = get_rel_name(relation_oid);

	memset(identity, 0, sizeof(*identity));
	identity->relation_oid = relation_oid;
	if (name == NULL ||
		!look_at_definition(relation_oid, &identity->table_oid, &identity->definition_hash))
		return;
	namestrcpy(&identity->name, name);
	identity->others = list_delete_oid(tier_relation_indexes(identity->table_oid), relation_oid);
	list_sort(identity->others, list_oid_cmp);
}

/*
 * OIDs do not tell which index is older, because they wrap around.  An OID that belonged to
 * another index then and belongs to a new index now is not recognized.
 */
static bool
has_taken_its_place(Oid index_oid, const TierIndexIdentity *identity)
{
	Oid			table_oid;
	int64		definition_hash;

	return !list_member_oid(identity->others, index_oid) &&
		look_at_definition(index_oid, &table_oid, &definition_hash) &&
		definition_hash == identity->definition_hash;
}

Oid
tier_relation_present(const TierIndexIdentity *identity, bool *is_uncertain)
{
	Oid			table_oid = identity->table_oid;
	Oid			schema_oid;
	Oid			index_oid;

	if (is_uncertain != NULL)
		*is_uncertain = false;

	/*
	 * REINDEX CONCURRENTLY keeps the old index, invalid, as long as a
	 * transaction may use it.
	 */
	if (!OidIsValid(table_oid) || is_index_of(identity->relation_oid, table_oid))
		return identity->relation_oid;
	schema_oid = get_rel_namespace(table_oid);
	index_oid = OidIsValid(schema_oid) ?
		get_relname_relid(NameStr(identity->name), schema_oid) : InvalidOid;
	if (!is_index_of(index_oid, table_oid))
		return identity->relation_oid;
	if (has_taken_its_place(index_oid, identity))
		return index_oid;
	if (is_uncertain != NULL)
		*is_uncertain = true;
	return identity->relation_oid;
}

/* The children of one relation, sorted: those that are just detached, or the others. */
static List *
find_children(Relation inherits, Oid parent_oid, bool detaching)
{
	List	   *children = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(parent_oid));
	scan = systable_beginscan(inherits, InheritsParentIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_inherits form = (Form_pg_inherits) GETSTRUCT(tuple);

		if (form->inhdetachpending == detaching)
			children = lappend_oid(children, form->inhrelid);
	}
	systable_endscan(scan);
	list_sort(children, list_oid_cmp);
	return children;
}

/*
 * Adds the relations that one is a partition of, or inherits from, except while it is being
 * detached.
 */
static List *
add_parents(Relation inherits, Oid relation_oid, List *above)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relation_oid));
	scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_inherits form = (Form_pg_inherits) GETSTRUCT(tuple);

		if (!form->inhdetachpending)
			above = list_append_unique_oid(above, form->inhparent);
	}
	systable_endscan(scan);
	return above;
}

List *
tier_relation_above(Oid relation_oid)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *above = list_make1_oid(relation_oid);

	for (int i = 0; i < list_length(above); i++)
	{
		CHECK_FOR_INTERRUPTS();
		above = add_parents(inherits, list_nth_oid(above, i), above);
	}
	table_close(inherits, AccessShareLock);
	return above;
}

HTAB *
tier_relation_set(void)
{
	HASHCTL		control = {.keysize = sizeof(Oid),.entrysize = sizeof(Oid)};

	control.hcxt = CurrentMemoryContext;
	return hash_create("tiered_storage relations", 256, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

List *
tier_relation_inheritors(Oid relation_oid)
{
	HTAB	   *seen = tier_relation_set();
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *all = list_make1_oid(relation_oid);

	(void) hash_search(seen, &relation_oid, HASH_ENTER, NULL);
	for (int i = 0; i < list_length(all); i++)
	{
		List	   *children = find_children(inherits, list_nth_oid(all, i), false);
		ListCell   *cell;

		CHECK_FOR_INTERRUPTS();
		foreach(cell, children)
		{
			Oid			child_oid = lfirst_oid(cell);
			bool		found;

			(void) hash_search(seen, &child_oid, HASH_ENTER, &found);
			if (!found)
				all = lappend_oid(all, child_oid);
		}
		list_free(children);
	}
	table_close(inherits, AccessShareLock);
	hash_destroy(seen);
	return all;
}

List *
tier_relation_leaves(Oid relation_oid)
{
	List	   *all = tier_relation_inheritors(relation_oid);
	List	   *leaves = NIL;
	ListCell   *cell;

	foreach(cell, all)
	{
		char		kind = get_rel_relkind(lfirst_oid(cell));

		if (kind == RELKIND_RELATION || kind == RELKIND_MATVIEW)
			leaves = lappend_oid(leaves, lfirst_oid(cell));
	}
	list_free(all);
	return leaves;
}

List *
tier_relation_detaching(Oid relation_oid)
{
	List	   *all = tier_relation_inheritors(relation_oid);
	List	   *detaching = NIL;
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	ListCell   *cell;

	foreach(cell, all)
	{
		CHECK_FOR_INTERRUPTS();
		detaching = list_concat(detaching, find_children(inherits, lfirst_oid(cell), true));
	}
	table_close(inherits, AccessShareLock);
	list_free(all);
	return detaching;
}

/* By one range of the index: extensions are few, and relations may be many. */
TierExtensionMember *
tier_relation_extension_members(int *n)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	int			size = 64;
	TierExtensionMember *members = palloc(sizeof(TierExtensionMember) * size);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	*n = 0;
	ScanKeyInit(&key, Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ExtensionRelationId));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if (form->classid != RelationRelationId || form->deptype != DEPENDENCY_EXTENSION)
			continue;
		if (*n == size)
		{
			size *= 2;
			members = repalloc_huge(members, sizeof(TierExtensionMember) * size);
		}
		members[*n].relation_oid = form->objid;
		members[(*n)++].extension_oid = form->refobjid;
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	qsort(members, *n, sizeof(TierExtensionMember), oid_cmp);
	return members;
}

Oid
tier_relation_extension_of(const TierExtensionMember *members, int n, Oid relation_oid)
{
	const TierExtensionMember *found = tier_by_oid_find(relation_oid, members, n,
														sizeof(TierExtensionMember));

	return found == NULL ? InvalidOid : found->extension_oid;
}
