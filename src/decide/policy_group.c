/*-------------------------------------------------------------------------
 *
 * decide/policy_group.c
 *		Which tables a policy on a schema is on.
 *
 * Such a policy is on whatever is there when it is evaluated, so each table is looked at each
 * time: whether it is of the group, whether another policy is nearer, and whether the role
 * of the policy, by its OID, still owns it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "src/decide/policy_group.h"
#include "src/server/distributed.h"

typedef struct TierGroup
{
	List	   *tables;			/* OIDs, sorted: partitioned and other tables,
								 * materialized views; nothing that is below
								 * another table, unless it is a shard */
	HTAB	   *taken;			/* by OID: the tables of the group with a
								 * nearer policy, and tables below them */
	bool		is_administrator;	/* the role of the policy */
} TierGroup;

/* The scope of a search for groups. */
typedef struct Scope
{
	Oid			leaf_oid;		/* of one leaf alone; 0: all that there is */
	List	   *above;			/* the leaf and its ancestors; NIL: all */
} Scope;

/* The relation with all that are below it, as far as they are looked for. */
static void
take(HTAB *taken, const Scope *scope, Oid relation_oid)
{
	List	   *all;
	ListCell   *cell;

	if (OidIsValid(scope->leaf_oid))
	{
		if (list_member_oid(scope->above, relation_oid))
			(void) hash_search(taken, &scope->leaf_oid, HASH_ENTER, NULL);
		return;
	}
	all = tier_relation_inheritors(relation_oid);
	foreach(cell, all)
		(void) hash_search(taken, &lfirst_oid(cell), HASH_ENTER, NULL);
	list_free(all);
}

static bool
has_kind(const FormData_pg_class *form)
{
	return (form->relkind == RELKIND_RELATION || form->relkind == RELKIND_PARTITIONED_TABLE ||
			form->relkind == RELKIND_MATVIEW) &&
		form->relpersistence == RELPERSISTENCE_PERMANENT;
}

/*
 * Returns true if it belongs to an extension, or inherits from a table, or its rows are in
 * shards.
 */
static bool
belongs_to_another(Oid relation_oid)
{
	return has_superclass(relation_oid) || tier_distributed->is_shell(relation_oid) ||
		OidIsValid(getExtensionOfObject(RelationRelationId, relation_oid));
}

/* Adds a shard to the groups of all policies that are on its table. */
static void
add_shard(TierPolicyRow *policies, int npolicies, Oid relation_oid)
{
	Oid			table_oid = InvalidOid;

	for (int i = 0; i < npolicies; i++)
	{
		if (!policies[i].on_shards)
			continue;
		if (!OidIsValid(table_oid))
			table_oid = tier_distributed->placed_table_of(relation_oid);
		if (!OidIsValid(table_oid))
			return;
		if (policies[i].relation_oid == table_oid)
			policies[i].group->tables = lappend_oid(policies[i].group->tables, relation_oid);
	}
}

/* Adds the table to the groups of all policies that it matches. */
static void
add_table(TierPolicyRow *policies, int npolicies, FormData_pg_class *form)
{
	bool		checked = false;

	if (!has_kind(form) || IsSystemClass(form->oid, form) || form->oid < FirstNormalObjectId)
		return;
	add_shard(policies, npolicies, form->oid);
	if (form->relispartition)
		return;
	for (int i = 0; i < npolicies; i++)
	{
		if (!policies[i].is_group || form->relnamespace != policies[i].schema_oid)
			continue;
		if (!checked && belongs_to_another(form->oid))
			return;
		checked = true;
		policies[i].group->tables = lappend_oid(policies[i].group->tables, form->oid);
	}
}

static void
scan_tables(TierPolicyRow *policies, int npolicies)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		add_table(policies, npolicies, (FormData_pg_class *) GETSTRUCT(tuple));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

static void
look_at_tables(TierPolicyRow *policies, int npolicies, const List *tables)
{
	ListCell   *cell;

	foreach(cell, tables)
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple))
			continue;
		add_table(policies, npolicies, (FormData_pg_class *) GETSTRUCT(tuple));
		ReleaseSysCache(tuple);
	}
}

/* Returns true if any policy is on several tables.  Finds out which are on shards. */
static bool
any_has_group(TierPolicyRow *policies, int npolicies)
{
	bool		any = false;

	for (int i = 0; i < npolicies; i++)
	{
		TierPolicyRow *policy = &policies[i];

		policy->on_shards = !policy->is_group && OidIsValid(policy->relation_oid) &&
			tier_distributed->is_shell(policy->relation_oid);
		any = any || tier_policy_has_group(policy);
	}
	return any;
}

/* Only a policy on a single table is nearer than a policy on shards: nothing is taken from it. */
static TierGroup *
create_group(const TierPolicyRow *policy, HTAB *taken)
{
	TierGroup  *group = palloc0(sizeof(TierGroup));

	group->taken = policy->on_shards ? tier_relation_set() : taken;
	group->is_administrator = OidIsValid(policy->created_by) &&
		tier_is_administrator(policy->created_by);
	return group;
}

/* Notes the tables that an enabled policy on one table, or on its shards, takes from groups. */
static void
take_of_table(HTAB *taken, const Scope *scope, const TierPolicyRow *policy)
{
	ListCell   *cell;

	if (!policy->is_enabled || policy->is_group || !OidIsValid(policy->relation_oid))
		return;
	if (!policy->on_shards)
	{
		take(taken, scope, policy->relation_oid);
		return;
	}
	foreach(cell, policy->group->tables)
		take(taken, scope, lfirst_oid(cell));
}

static void
find_groups(TierPolicyRow *policies, int npolicies, const Scope *scope)
{
	HTAB	   *taken;

	if (!any_has_group(policies, npolicies))
		return;
	taken = tier_relation_set();
	for (int i = 0; i < npolicies; i++)
		if (tier_policy_has_group(&policies[i]))
			policies[i].group = create_group(&policies[i], taken);
	if (OidIsValid(scope->leaf_oid))
		look_at_tables(policies, npolicies, scope->above);
	else
		scan_tables(policies, npolicies);
	for (int i = 0; i < npolicies; i++)
	{
		take_of_table(taken, scope, &policies[i]);
		if (tier_policy_has_group(&policies[i]))
			list_sort(policies[i].group->tables, list_oid_cmp);
	}
}

void
tier_groups_find(TierPolicyRow *policies, int npolicies)
{
	Scope		all = {InvalidOid, NIL};

	find_groups(policies, npolicies, &all);
}

void
tier_groups_find_above(TierPolicyRow *policies, int npolicies, Oid leaf_oid)
{
	Scope		scope = {leaf_oid, tier_relation_above(leaf_oid)};

	find_groups(policies, npolicies, &scope);
}

/* A policy whose group was not looked for is an internal error, not an empty group. */
static const TierGroup *
group_of(const TierPolicyRow *policy)
{
	if (policy->group == NULL)
		elog(ERROR, "the tables of policy %d were not looked for", policy->policy_id);
	return policy->group;
}

const List *
tier_group_tables(const TierPolicyRow *policy)
{
	return group_of(policy)->tables;
}

bool
tier_group_allows(const TierPolicyRow *policy, const TierRelationInfo *info)
{
	return group_of(policy)->is_administrator ||
		(OidIsValid(policy->created_by) && has_privs_of_role(policy->created_by, info->owner_oid));
}

bool
tier_group_is_taken(const TierPolicyRow *policy, Oid relation_oid)
{
	return hash_search(group_of(policy)->taken, &relation_oid, HASH_FIND, NULL) != NULL;
}

Oid
tier_group_schema_owner(Oid schema_oid)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema_oid));
	Oid			owner_oid;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("schema with OID %u does not exist", schema_oid)));
	owner_oid = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return owner_oid;
}

bool
tier_policy_has_group(const TierPolicyRow *policy)
{
	return policy->is_group || policy->on_shards;
}

bool
tier_policy_has_target(const TierPolicyRow *policy)
{
	return OidIsValid(policy->is_group ? policy->schema_oid : policy->relation_oid);
}
