/*-------------------------------------------------------------------------
 *
 * server/relation_rights.c
 *		Rights to move a relation, and the role that executes the move.
 *
 * A requester must have the rights for each move, which are checked before the move and again
 * under its lock.  Roles are compared by OID at the time of the check.  Tier administrators
 * are superusers and roles that may execute alter_tier(): so GRANT and REVOKE control this
 * right.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_tablespace.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/server/distributed.h"
#include "src/server/relation.h"

/*
 * The extension's own alter_tier(), or InvalidOid.  A role that may create in its
 * schema could put another function of that name there, and grant EXECUTE on that
 * one: it must not count.  No right on the schema is looked at.
 */
static Oid
administrators_function(void)
{
	Oid			extension_oid = get_extension_oid("tiered_storage", true);
	Oid			schema_oid = get_namespace_oid("tiered_storage", true);
	Oid			function_oid = InvalidOid;
	CatCList   *functions;

	if (!OidIsValid(extension_oid) || !OidIsValid(schema_oid))
		return InvalidOid;
	functions = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum("alter_tier"));
	for (int i = 0; i < functions->n_members; i++)
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(&functions->members[i]->tuple);

		if (form->pronamespace == schema_oid &&
			getExtensionOfObject(ProcedureRelationId, form->oid) == extension_oid)
			function_oid = form->oid;
	}
	ReleaseSysCacheList(functions);
	return function_oid;
}

bool
tier_is_administrator(Oid role_oid)
{
	Oid			function_oid;

	if (superuser_arg(role_oid))
		return true;
	function_oid = administrators_function();
	return OidIsValid(function_oid) && tier_compat_may_execute(function_oid, role_oid);
}

/* By what we have read of it: it may be dropped in this moment. */
static bool
is_owner(const TierRelationInfo *info, Oid role_oid)
{
	return has_privs_of_role(role_oid, info->owner_oid);
}

/* The kinds that have nothing to move; message NULL for all others. */
static TierObstacle
refuse_kind(const TierRelationInfo *info)
{
	TierObstacle refusal = {.sqlstate = ERRCODE_WRONG_OBJECT_TYPE};

	switch (info->kind)
	{
		case RELKIND_RELATION:
		case RELKIND_MATVIEW:
		case RELKIND_INDEX:
			break;
		case RELKIND_TOASTVALUE:
			refusal.message = psprintf("TOAST table %s cannot be moved by itself", info->name);
			refusal.hint = "Move the table that it belongs to.";
			break;
		case RELKIND_PARTITIONED_INDEX:
			refusal.message = psprintf("partitioned index %s has no storage to move", info->name);
			refusal.hint = "Move the partitions of its table, with their indexes.";
			break;
		default:
			refusal.message = psprintf("%s %s has no storage to move",
									   tier_relation_kind_name(info->kind), info->name);
			refusal.hint = "Tables, materialized views, indexes and partitioned tables "
				"can be moved.";
			break;
	}
	return refusal;
}

/*
 * run_command_on_placements() passes the command through format(), and would run it on all
 * shards at once, each over a separate connection.
 */
static char *
on_all_shards(const TierRelationInfo *info, const char *statement)
{
	Oid			table_oid = tier_distributed_table_with(info->relation_oid);
	char	   *name = get_rel_name(table_oid);
	char	   *schema = get_namespace_name(get_rel_namespace(table_oid));

	if (name == NULL || schema == NULL)
		return NULL;
	return psprintf("Use SELECT * FROM run_command_on_placements(%s, $$%s$$, parallel => false).",
					quote_literal_cstr(quote_qualified_identifier(schema, name)), statement);
}

TierObstacle
tier_relation_refuse_shell(const TierRelationInfo *info, const char *statement)
{
	TierObstacle refusal = {.sqlstate = ERRCODE_WRONG_OBJECT_TYPE};

	if (!tier_distributed->is_shell(info->relation_oid))
		return refusal;
	refusal.message = psprintf("%s %s has its rows in shards of Citus",
							   tier_relation_kind_name(info->kind), info->name);
	refusal.detail = pstrdup("It is empty itself; each shard is a table on one of the nodes.");
	refusal.hint = on_all_shards(info, statement);
	return refusal;
}

const char *
tier_relation_why_never(const TierRelationInfo *info)
{
	if (!OidIsValid(info->am_oid) || info->am_oid != get_table_am_oid("columnar", true))
		return NULL;
	return "its access method is columnar, which does not support it";
}

Oid
tier_relation_table_extension(const TierRelationInfo *info)
{
	Oid			table_oid = info->kind != RELKIND_INDEX ? info->relation_oid :
	IndexGetRelation(info->relation_oid, true);

	return OidIsValid(table_oid) ? getExtensionOfObject(RelationRelationId, table_oid) :
		InvalidOid;
}

const char *
tier_relation_why_of_extension(const TierRelationInfo *info)
{
	Oid			extension_oid = tier_relation_table_extension(info);
	char	   *name = OidIsValid(extension_oid) ? get_extension_name(extension_oid) : NULL;

	return name == NULL ? NULL : psprintf("it belongs to extension \"%s\"", name);
}

TierObstacle
tier_relation_refuse_object(const TierRelationInfo *info, Oid tablespace_oid)
{
	TierObstacle refusal = refuse_kind(info);

	if (refusal.message != NULL)
		return refusal;
	if (info->is_system)
	{
		refusal.sqlstate = ERRCODE_INSUFFICIENT_PRIVILEGE;
		refusal.message = psprintf("system relation %s cannot be moved", info->name);
		return refusal;
	}
	if (info->persistence == RELPERSISTENCE_TEMP)
	{
		refusal.sqlstate = ERRCODE_FEATURE_NOT_SUPPORTED;
		refusal.message = psprintf("temporary relation %s cannot be moved", info->name);
		refusal.hint = "Set temp_tablespaces to choose where temporary relations are created.";
		return refusal;
	}
	if (tablespace_oid == GLOBALTABLESPACE_OID)
	{
		refusal.sqlstate = ERRCODE_INVALID_PARAMETER_VALUE;
		refusal.message = pstrdup("only shared relations can be placed in pg_global tablespace");
		return refusal;
	}
	if (tier_relation_why_never(info) != NULL)
	{
		refusal.sqlstate = ERRCODE_FEATURE_NOT_SUPPORTED;
		refusal.message = psprintf("%s %s cannot be moved: %s",
								   tier_relation_kind_name(info->kind), info->name,
								   tier_relation_why_never(info));
		refusal.hint = "Its partitions, or tables, that use the access method heap can be moved.";
		return refusal;
	}
	return tier_relation_refuse_shell(info, TIER_MOVE_OF_SHARD);
}

TierObstacle
tier_relation_refuse_owner(const TierRelationInfo *info, Oid role_oid)
{
	TierObstacle refusal = {.sqlstate = ERRCODE_INSUFFICIENT_PRIVILEGE};

	if (is_owner(info, role_oid) || tier_is_administrator(role_oid))
		return refusal;
	refusal.message = psprintf("must be owner of %s %s", tier_relation_kind_name(info->kind),
							   info->name);
	refusal.hint = "The owner, or a tier administrator, can move it.";
	return refusal;
}

/* The table whose rights count. */
static Oid
table_of(const TierRelationInfo *info)
{
	Oid			table_oid = info->kind == RELKIND_INDEX ?
	IndexGetRelation(info->relation_oid, true) : info->relation_oid;

	return OidIsValid(table_oid) ? table_oid : info->relation_oid;
}

bool
tier_relation_may_sample(const TierRelationInfo *info)
{
	Oid			table_oid = table_of(info);
	bool		sees_all = check_enable_rls(table_oid, InvalidOid, true) != RLS_ENABLED;

	return (sees_all &&
			pg_class_aclcheck(table_oid, GetUserId(), ACL_SELECT) == ACLCHECK_OK) ||
		tier_relation_refuse_owner(info, GetUserId()).message == NULL;
}

bool
tier_relation_may_create(Oid role_oid, Oid tablespace_oid)
{
	return tablespace_oid == MyDatabaseTableSpace ||
		tier_compat_may_create_in_tablespace(tablespace_oid, role_oid);
}

/* A hint: the statement that grants the right to the role. */
static char *
grant_hint(Oid role_oid, Oid tablespace_oid)
{
	char	   *tablespace_name = get_tablespace_name(tablespace_oid);

	return psprintf("GRANT CREATE ON TABLESPACE %s TO %s allows it.",
					tablespace_name == NULL ? "?" : quote_identifier(tablespace_name),
					quote_identifier(GetUserNameFromId(role_oid, false)));
}

TierObstacle
tier_relation_refuse_role(const TierRelationInfo *info, Oid role_oid, Oid tablespace_oid)
{
	TierObstacle refusal = tier_relation_refuse_owner(info, role_oid);
	char	   *tablespace_name;

	if (refusal.message != NULL || tier_relation_may_create(role_oid, tablespace_oid))
		return refusal;
	tablespace_name = get_tablespace_name(tablespace_oid);
	if (tablespace_name == NULL)
	{
		refusal.sqlstate = ERRCODE_UNDEFINED_OBJECT;
		refusal.message = psprintf("tablespace with OID %u does not exist", tablespace_oid);
		return refusal;
	}
	refusal.message = psprintf("permission denied for tablespace %s",
							   quote_identifier(tablespace_name));
	refusal.hint = grant_hint(role_oid, tablespace_oid);
	return refusal;
}

TierObstacle
tier_relation_refuse(const TierRelationInfo *info, Oid role_oid, Oid tablespace_oid)
{
	TierObstacle refusal = tier_relation_refuse_object(info, tablespace_oid);

	return refusal.message != NULL ? refusal :
		tier_relation_refuse_role(info, role_oid, tablespace_oid);
}

void
tier_obstacle_report(int level, const TierObstacle *obstacle, const char *message)
{
	ereport(level,
			(errcode(obstacle->sqlstate),
			 errmsg_internal("%s", message),
			 obstacle->detail == NULL ? 0 : errdetail_internal("%s", obstacle->detail),
			 obstacle->hint == NULL ? 0 : errhint("%s", obstacle->hint)));
}

void
tier_obstacle_throw(const TierObstacle *obstacle)
{
	if (obstacle->message != NULL)
		tier_obstacle_report(ERROR, obstacle, obstacle->message);
}

void
tier_obstacle_warn(const TierObstacle *obstacle, const char *name)
{
	tier_obstacle_report(WARNING, obstacle,
						 psprintf("would not move %s: %s", name, obstacle->message));
}

void
tier_relation_check_shell(const TierRelationInfo *info, const char *statement)
{
	TierObstacle refusal = tier_relation_refuse_shell(info, statement);

	tier_obstacle_throw(&refusal);
}

void
tier_relation_check_move(const TierRelationInfo *info, Oid role_oid, Oid tablespace_oid)
{
	TierObstacle refusal = tier_relation_refuse(info, role_oid, tablespace_oid);

	tier_obstacle_throw(&refusal);
}

void
tier_relation_check_owner(const TierRelationInfo *info, Oid role_oid)
{
	if (info->owner_oid != role_oid)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("owner of %s %s was changed concurrently",
						tier_relation_kind_name(info->kind), info->name)));
}

void
tier_relation_check_extension(const TierRelationInfo *info, Oid admitted_oid)
{
	Oid			extension_oid = tier_relation_table_extension(info);
	char	   *name;

	if (!OidIsValid(extension_oid) || extension_oid == admitted_oid)
		return;
	name = get_extension_name(extension_oid);
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("%s %s was made a member of extension \"%s\" concurrently",
					tier_relation_kind_name(info->kind), info->name, name == NULL ? "?" : name),
			 errdetail("The extension may drop, truncate or lock it at any time."),
			 errhint("It is moved only to a tier that it is pinned to.")));
}

Oid
tier_relation_choose_actor(const TierRelationInfo *info, Oid requester_oid, Oid tablespace_oid)
{
	if (tier_relation_may_create(info->owner_oid, tablespace_oid))
		return info->owner_oid;
	if (is_owner(info, requester_oid))
		return requester_oid;
	return BOOTSTRAP_SUPERUSERID;
}
