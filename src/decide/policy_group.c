/*-------------------------------------------------------------------------
 *
 * decide/policy_group.c
 *		Which tables a policy on a schema, or on a pattern of names, is on.
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
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/decide/policy_group.h"

static HTAB *
create_set(void)
{
	HASHCTL		control = {.keysize = sizeof(Oid),.entrysize = sizeof(Oid)};

	control.hcxt = CurrentMemoryContext;
	return hash_create("tiered_storage policy group", 256, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* The relation with all that are below it. */
static void
take(HTAB *taken, Oid relation_oid)
{
	List	   *all = tier_relation_inheritors(relation_oid);
	ListCell   *cell;

	foreach(cell, all)
		(void) hash_search(taken, &lfirst_oid(cell), HASH_ENTER, NULL);
	list_free(all);
}

static bool
has_kind(const FormData_pg_class *form)
{
	return (form->relkind == RELKIND_RELATION || form->relkind == RELKIND_PARTITIONED_TABLE ||
			form->relkind == RELKIND_MATVIEW) &&
		form->relpersistence == RELPERSISTENCE_PERMANENT && !form->relispartition;
}

static bool
matches(const TierPolicyRow *policy, const FormData_pg_class *form)
{
	if (policy->has_schema && form->relnamespace != policy->schema_oid)
		return false;
	return policy->names_like == NULL ||
		DatumGetBool(DirectFunctionCall2Coll(namelike, C_COLLATION_OID,
											 NameGetDatum(&form->relname),
											 CStringGetTextDatum(policy->names_like)));
}

/* Adds each table to the groups of all policies that it matches. */
static void
scan_tables(TierPolicyRow *policies, int npolicies)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		FormData_pg_class *form = (FormData_pg_class *) GETSTRUCT(tuple);
		bool		checked = false;

		CHECK_FOR_INTERRUPTS();
		if (!has_kind(form) || IsSystemClass(form->oid, form) || form->oid < FirstNormalObjectId)
			continue;
		for (int i = 0; i < npolicies; i++)
		{
			if (!policies[i].is_group || !matches(&policies[i], form))
				continue;
			if (!checked && OidIsValid(getExtensionOfObject(RelationRelationId, form->oid)))
				break;
			checked = true;
			policies[i].group->tables = lappend_oid(policies[i].group->tables, form->oid);
		}
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* What the policy takes from those that are less near: only what it may. */
static void
take_group(HTAB *taken, const TierPolicyRow *policy)
{
	ListCell   *cell;

	foreach(cell, policy->group->tables)
	{
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		if (tier_relation_lookup(lfirst_oid(cell), &info) && tier_group_allows(policy, &info))
			take(taken, info.relation_oid);
	}
}

void
tier_groups_find(TierPolicyRow *policies, int npolicies)
{
	HTAB	   *by_relation;
	HTAB	   *by_name;
	bool		any = false;

	for (int i = 0; i < npolicies; i++)
		any = any || policies[i].is_group;
	if (!any)
		return;
	by_relation = create_set();
	by_name = create_set();
	for (int i = 0; i < npolicies; i++)
	{
		TierPolicyRow *policy = &policies[i];

		if (policy->is_group)
		{
			policy->group = palloc0(sizeof(TierGroup));
			policy->group->taken = policy->names_like != NULL ? by_relation : by_name;
			policy->group->is_administrator = OidIsValid(policy->created_by) &&
				tier_is_administrator(policy->created_by);
		}
		else if (policy->is_enabled && OidIsValid(policy->relation_oid))
		{
			take(by_relation, policy->relation_oid);
			take(by_name, policy->relation_oid);
		}
	}
	scan_tables(policies, npolicies);
	for (int i = 0; i < npolicies; i++)
	{
		if (!policies[i].is_group)
			continue;
		list_sort(policies[i].group->tables, list_oid_cmp);
		if (policies[i].is_enabled && policies[i].names_like != NULL)
			take_group(by_name, &policies[i]);
	}
}

bool
tier_group_allows(const TierPolicyRow *policy, const TierRelationInfo *info)
{
	return policy->group->is_administrator ||
		(OidIsValid(policy->created_by) && has_privs_of_role(policy->created_by, info->owner_oid));
}

bool
tier_group_is_taken(const TierPolicyRow *policy, Oid relation_oid)
{
	return hash_search(policy->group->taken, &relation_oid, HASH_FIND, NULL) != NULL;
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
tier_policy_has_target(const TierPolicyRow *policy)
{
	if (!policy->is_group)
		return OidIsValid(policy->relation_oid);
	return !policy->has_schema || OidIsValid(policy->schema_oid);
}
