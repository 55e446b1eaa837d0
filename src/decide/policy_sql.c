/*-------------------------------------------------------------------------
 *
 * decide/policy_sql.c
 *		SQL functions on policies: check, call, return.
 *
 * Access is controlled by the EXECUTE privilege on each function (none is granted to PUBLIC)
 * and, for relations of other roles, by the checks of server/relation.c for the calling role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/base/clock.h"
#include "src/decide/partition.h"
#include "src/decide/policy_calls.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_preview.h"
#include "src/decide/policy_return.h"
#include "src/server/distributed.h"
#include "src/server/relation.h"
#include "src/base/sql.h"

/* '90' is 90 seconds.  Whole minutes and hours are written with their unit more often. */
static void
warn_without_unit(const char *name, const Interval *interval)
{
	int64		seconds = interval->time / USECS_PER_SEC;

	if (interval->month != 0 || interval->day != 0 || interval->time % USECS_PER_SEC != 0 ||
		seconds <= 0 || seconds >= SECS_PER_HOUR || seconds % SECS_PER_MINUTE == 0)
		return;
	ereport(WARNING,
			(errmsg("%s is %d s", name, (int) seconds),
			 errhint("A number without a unit is in seconds. For days, write '%d days'.",
					 (int) seconds)));
}

/* Sets a property to the argument that is given. */
static void
take_property(FunctionCallInfo fcinfo, TierPolicyRow *policy, int property)
{
	const TierColumn *column = &tier_policy_properties[property];
	Datum		value = PG_GETARG_DATUM(POLICY_PROPERTIES + property);

	if (column->type == TIER_FLOAT8_OR_NAN &&
		(!(DatumGetFloat8(value) > 0.0) || isinf(DatumGetFloat8(value))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be more than zero, and not infinite", column->name)));
	tier_column_set(policy, column, value);

	/* A return is a matter of hours. */
	if (column->type == INTERVALOID && strcmp(column->name, "return_after") != 0)
		warn_without_unit(column->name, DatumGetIntervalP(value));
}

/*
 * The zone in which dates begin and months are subtracted: that of the
 * session, unless it is named.  The worker's may be another one, and so may the
 * next session's.
 */
static char *
checked_time_zone(const char *name)
{
	pg_tz	   *zone = name == NULL ? session_timezone : pg_tzset(name);

	if (zone == NULL || !pg_tz_acceptable(zone))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", name),
				 errhint("The view pg_timezone_names lists them.")));
	return pstrdup(pg_get_timezone_name(zone));
}

/* Sets the given properties. */
static void
take_properties(FunctionCallInfo fcinfo, TierPolicyRow *policy)
{
	char	   *time_zone = policy->time_zone;

	for (int i = 0; i < TIER_POLICY_PROPERTIES; i++)
		if (!PG_ARGISNULL(POLICY_PROPERTIES + i))
			take_property(fcinfo, policy, i);
	if (!PG_ARGISNULL(POLICY_TIER))
		policy->tier_name = *PG_GETARG_NAME(POLICY_TIER);
	if (time_zone == NULL || policy->time_zone != time_zone)
		policy->time_zone = checked_time_zone(policy->time_zone);
}

/*
 * The server creates a partition in the tablespace of its parent.  One that is created where
 * the policy moves it, or on a slower tier, is never anywhere else.
 */
static void
notice_new_partitions(const TierPolicyRow *policy, const TierSet *set)
{
	TierRelationInfo info;
	Oid			faster_oid = InvalidOid;
	int			to_tier = tier_set_find_tier(set, NameStr(policy->tier_name));
	int			born;
	int			tier;

	if (!OidIsValid(policy->relation_oid) ||
		!tier_relation_lookup(policy->relation_oid, &info) ||
		info.kind != RELKIND_PARTITIONED_TABLE || tier_distributed->is_shell(info.relation_oid))
		return;
	born = tier_set_tier_of_tablespace(set, info.tablespace_oid);
	if (born < to_tier)
		return;
	for (tier = to_tier - 1; tier >= 0; tier--)
	{
		faster_oid = tier_set_usable_tablespace(set, tier, info.owner_oid);
		if (OidIsValid(faster_oid) && tier_relation_may_create(info.owner_oid, faster_oid))
			break;
	}
	if (tier < 0 || get_tablespace_name(faster_oid) == NULL)
		return;
	ereport(NOTICE,
			(errmsg("new partitions of %s are created on tier \"%s\"", info.name,
					NameStr(set->tiers[born].name)),
			 errhint("ALTER TABLE %s SET TABLESPACE %s creates them on tier \"%s\", "
					 "and moves none.",
					 info.name, quote_identifier(get_tablespace_name(faster_oid)),
					 NameStr(set->tiers[tier].name))));
}

/*
 * The roles that may put a policy on a group of tables: the owner of the schema, even if it has
 * tables of others, since the policy moves only relations that this owner may move;
 * administrators.
 */
static void
check_group_owner(const TierPolicyRow *policy)
{
	if (!tier_is_administrator(GetUserId()) &&
		!has_privs_of_role(GetUserId(), policy->owner_oid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of schema %s",
						quote_identifier(get_namespace_name(policy->schema_oid)))));
}

/* Owner or administrator, with the right to create on the tier.  info: NULL for a group. */
static void
check_policy_rights(const TierRelationInfo *info, const TierSet *set,
					const TierPolicyRow *policy)
{
	if (info == NULL)
		check_group_owner(policy);
	else if (!tier_compat_owns_relation(info->relation_oid, GetUserId()) &&
			 !tier_is_administrator(GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", info->name)));
	tier_require_tier_rights(set, tier_require_tier(set, NameStr(policy->tier_name)));
	if (policy->has_index_tier)
		tier_require_tier_rights(set, tier_require_tier(set, NameStr(policy->index_tier)));
	if (policy->has_return_tier)
	{
		int			to = tier_require_tier(set, NameStr(policy->return_tier));

		tier_require_tier_rights(set, to);
		if (to >= tier_require_tier(set, NameStr(policy->tier_name)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("return_tier \"%s\" is not faster than tier \"%s\"",
							NameStr(policy->return_tier), NameStr(policy->tier_name))));
	}
}

static bool
is_ours(const char *schema_name)
{
	return strcmp(schema_name, "tiered_storage") == 0 ||
		strcmp(schema_name, "_tiered_storage") == 0;
}

/* Takes in_schema. */
static void
take_group(FunctionCallInfo fcinfo, TierPolicyRow *policy)
{
	char	   *name = NameStr(*PG_GETARG_NAME(POLICY_IN_SCHEMA));

	/* The existence of a schema needs no right. */
	policy->is_group = true;
	policy->schema_oid = get_namespace_oid(name, false);
	if ((policy->schema_oid < FirstNormalObjectId && policy->schema_oid != PG_PUBLIC_NAMESPACE) ||
		isAnyTempNamespace(policy->schema_oid) || is_ours(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("schema %s cannot have a tiering policy", quote_identifier(name)),
				 errdetail("System schemas, temporary schemas and those of this extension "
						   "are excluded.")));
	policy->owner_oid = tier_group_schema_owner(policy->schema_oid);
	policy->relation_name = psprintf("%s.*", quote_identifier(name));
}

/* One table, or a group. */
static void
check_what_for(FunctionCallInfo fcinfo)
{
	bool		group = !PG_ARGISNULL(POLICY_IN_SCHEMA);

	if (group && !PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify both \"relation\" and \"in_schema\""),
				 errhint("Leave out one or the other.")));
	if (group && !PG_ARGISNULL(POLICY_ON_SHARDS) && PG_GETARG_BOOL(POLICY_ON_SHARDS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_shards requires a policy on a single table"),
				 errdetail("A policy on several tables includes the shards among them.")));
	if (!group)
		tier_require_argument(fcinfo, 0, "relation");
}

/* A policy on shards says so, and one that says so is on shards. */
static void
check_shards(const TierPolicyRow *policy, const TierRelationInfo *info, bool on_shards)
{
	bool		has_shards = tier_distributed->is_shell(info->relation_oid);

	if (has_shards == on_shards)
		return;
	if (on_shards)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s has no shards of Citus", tier_relation_kind_name(info->kind),
						info->name),
				 errhint("Omit on_shards.")));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("%s %s has its rows in shards of Citus",
					tier_relation_kind_name(info->kind), info->name),
			 errdetail("It is empty itself; each shard is a table on one of the nodes."),
			 errhint("Use tiered_storage_citus.add_tiering_policy_on_all_nodes() of the "
					 "extension \"tiered_storage_citus\", or options => '{\"on_shards\": "
					 "true}' for the shards on this node.")));
}

/* Looks the relation up, which must be one that can have such a policy. */
static void
check_relation(TierPolicyRow *policy, TierRelationInfo *info, bool on_shards)
{
	tier_relation_require(policy->relation_oid, info);
	check_shards(policy, info, on_shards);
	tier_partition_check_target(info, policy);
	policy->owner_oid = info->owner_oid;
	policy->relation_kind = info->kind;
	policy->relation_name = info->name;
}

/*
 * A role that is no administrator has no more policies: each run evaluates all of them, before
 * those of others are carried out, which takes about a millisecond for each.  A policy on a
 * schema serves any number of tables.
 */
#define MOST_POLICIES_OF_ROLE 1000

/* With the new one. */
static void
check_number(Oid role_oid, int policies)
{
	if (policies > MOST_POLICIES_OF_ROLE)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("role \"%s\" already has %d tiering policies, which is the maximum",
						GetUserNameFromId(role_oid, false), MOST_POLICIES_OF_ROLE),
				 errhint("Use a policy for a schema, or ask an administrator to add it.")));
}

void
tier_policy_prepare(FunctionCallInfo fcinfo, TierPolicyRow *policy, TierSet **set)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	bool		on_shards = !PG_ARGISNULL(POLICY_ON_SHARDS) && PG_GETARG_BOOL(POLICY_ON_SHARDS);

	check_what_for(fcinfo);
	tier_require_argument(fcinfo, POLICY_TIER, "tier");

	memset(policy, 0, sizeof(*policy));
	policy->created_by = GetUserId();
	policy->added_at = GetCurrentTimestamp();
	policy->is_enabled = true;
	if (PG_ARGISNULL(0))
		take_group(fcinfo, policy);
	else
		policy->relation_oid = PG_GETARG_OID(0);
	policy->below_reads_per_hour = NAN;
	policy->return_when_reads_per_hour = NAN;
	policy->include_indexes = true;
	take_properties(fcinfo, policy);

	/* 1. Check the form of the policy. */
	tier_policy_check_conditions(policy);
	if (policy->is_group)
		(void) tier_partition_find_unit(policy->key_unit);
	else
		check_relation(policy, &info, on_shards);

	/* 2. Check the tier and the rights of the caller. */
	tier_catalog_enter(&scope);
	*set = tier_catalog_load_tiers(context);
	(void) tier_require_tier(*set, NameStr(policy->tier_name));
	SetUserIdAndSecContext(scope.caller, scope.caller_context);
	check_policy_rights(policy->is_group ? NULL : &info, *set, policy);
	tier_catalog_leave(&scope);
}

int
tier_policy_store(FunctionCallInfo fcinfo, const TierPolicyRow *policy, const TierSet *set,
				  bool *existed)
{
	bool		if_not_exists = !PG_ARGISNULL(POLICY_IF_NOT_EXISTS) &&
	PG_GETARG_BOOL(POLICY_IF_NOT_EXISTS);
	TierCatalogScope scope;
	int			policy_id;

	tier_catalog_enter(&scope);
	policy_id = tier_catalog_add_policy(&scope, policy, existed);
	if (!*existed && !tier_is_administrator(scope.caller))
		check_number(scope.caller, tier_catalog_policies_made_by(scope.caller));
	tier_catalog_leave(&scope);
	if (*existed)
		ereport(if_not_exists ? NOTICE : ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("table %s already has a tiering policy for tier \"%s\"%s",
						policy->relation_name,
						NameStr(policy->tier_name), if_not_exists ? ", skipping" : ""),
				 if_not_exists ? 0 :
				 errhint("Change it with tiered_storage.alter_policy(), "
						 "or use if_not_exists => true.")));
	else
		notice_new_partitions(policy, set);
	return policy_id;
}

/* Returns true if the policy matches the arguments of the caller. */
static bool
policy_matches(const TierPolicyRow *policy, FunctionCallInfo fcinfo)
{
	/* Policies whose table is gone have no OID, which is no way to name them. */
	if (!PG_ARGISNULL(0) &&
		(!OidIsValid(PG_GETARG_OID(0)) || policy->relation_oid != PG_GETARG_OID(0)))
		return false;
	if (!PG_ARGISNULL(1) && strcmp(NameStr(policy->tier_name), NameStr(*PG_GETARG_NAME(1))) != 0)
		return false;
	if (!PG_ARGISNULL(2) && policy->policy_id != PG_GETARG_INT32(2))
		return false;
	return true;
}

/* Those that the caller asks for, and perhaps others, for policy_matches().  In a scope. */
static TierPolicyRow *
load_asked_for(FunctionCallInfo fcinfo, MemoryContext context, int *n)
{
	return tier_catalog_load_policies_of(context, PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2),
										 PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0), n);
}

/*
 * A policy whose table is gone comes into force again for a table of that name and
 * owner, so until then it is that owner's.
 */
static bool
owns_policy(const TierPolicyRow *policy, Oid role_oid)
{
	if (OidIsValid(policy->relation_oid))
		return tier_compat_owns_relation(policy->relation_oid, role_oid);
	return OidIsValid(policy->owner_oid) && has_privs_of_role(role_oid, policy->owner_oid);
}

static void
check_policy_owner(const TierPolicyRow *policy, Oid role_oid)
{
	if (owns_policy(policy, role_oid) || tier_is_administrator(role_oid))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be owner of the %s of tiering policy %d, which is on %s",
					policy->is_group ? "schema" : "table", policy->policy_id,
					policy->relation_name)));
}

static void
unset_property(TierPolicyRow *policy, const char *name)
{
	for (int i = 0; i < TIER_POLICY_PROPERTIES; i++)
	{
		const TierColumn *column = &tier_policy_properties[i];

		if (strcmp(name, column->name) != 0 ||
			(column->has == 0 && column->type != TIER_FLOAT8_OR_NAN))
			continue;
		if (column->type == TIER_FLOAT8_OR_NAN)
			*(double *) ((char *) policy + column->offset) = NAN;
		else
			*((bool *) policy + column->has) = false;
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("property \"%s\" of a tiering policy must not be null", name),
			 errhint("Conditions, index_tier and the return_ properties can be null.")));
}

/*
 * Unsets properties that a null would leave as they are.  Dependent properties are unset, too:
 * the unit of age with move_after, and the target and the delay of return with
 * return_when_reads_per_hour.
 */
static void
unset_properties(const List *unset, TierPolicyRow *policy)
{
	bool		had_age = policy->has_move_after;
	bool		returned = !isnan(policy->return_when_reads_per_hour);
	ListCell   *cell;

	foreach(cell, unset)
		unset_property(policy, lfirst(cell));
	if (had_age && !policy->has_move_after)
		policy->key_unit = NULL;
	if (returned && isnan(policy->return_when_reads_per_hour))
		policy->has_return_after = policy->has_return_tier = false;
}

static bool
is_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* A policy that a tool sets to the same values again and again does not wait again each time. */
static bool
is_changed(const TierPolicyRow *policy, TierPolicyRow altered)
{
	if (is_same_text(policy->key_unit, altered.key_unit))
		altered.key_unit = policy->key_unit;
	if (is_same_text(policy->time_zone, altered.time_zone))
		altered.time_zone = policy->time_zone;
	return policy->created_by != GetUserId() ||
		memcmp(policy, &altered, sizeof(TierPolicyRow)) != 0;
}

/* The policy as it is to be, well-formed, and such as the caller may have it. */
static TierPolicyRow
altered_policy(const TierPolicyRow *policy, FunctionCallInfo fcinfo, const List *unset,
			   const TierSet *set)
{
	TierPolicyRow altered = *policy;
	TierRelationInfo info;

	if (!tier_policy_has_target(policy) ||
		(!policy->is_group && !tier_relation_lookup(policy->relation_oid, &info)))
		ereport(ERROR,
				(errcode(policy->is_group ? ERRCODE_UNDEFINED_SCHEMA : ERRCODE_UNDEFINED_TABLE),
				 errmsg("table %s of tiering policy %d does not exist",
						policy->relation_name, policy->policy_id),
				 errhint("Remove the policy with tiered_storage.remove_policy(policy_id => %d).",
						 policy->policy_id)));
	unset_properties(unset, &altered);
	if (!PG_ARGISNULL(POLICY_ENABLED))
		altered.is_enabled = PG_GETARG_BOOL(POLICY_ENABLED);
	take_properties(fcinfo, &altered);
	if (is_changed(policy, altered))
		altered.added_at = GetCurrentTimestamp();
	tier_policy_check_conditions(&altered);
	if (altered.is_group)
		(void) tier_partition_find_unit(altered.key_unit);
	else
		tier_partition_check_target(&info, &altered);
	check_policy_rights(altered.is_group ? NULL : &info, set, &altered);
	tier_policy_refuse(&altered, PG_ARGISNULL(POLICY_TIER) ? NULL :
					   tier_policy_preview(&altered, set), set);
	return altered;
}

/*
 * Disabling a policy takes only a right on the table, and does not change whose rights count.
 * Any other change may cause new moves: then the rights of the caller count, or an owner could
 * direct the rights of an administrator at the owner's table.
 */
Datum
tier_policy_alter(FunctionCallInfo fcinfo, const List *unset, List **causing, TierSet **tiers)
{
	bool		if_exists = !PG_ARGISNULL(POLICY_IF_EXISTS) && PG_GETARG_BOOL(POLICY_IF_EXISTS);
	bool		disables_only = !tier_policy_changes(fcinfo, unset, "tiering");
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	TierSet    *set;
	int			npolicies;
	int			n = 0;
	int			changed = 0;

	/*
	 * 1. Find the policies and check the rights of the caller.  Loaded under
	 * the lock: otherwise the update, which writes all properties, could undo
	 * a concurrent change.
	 */
	tier_catalog_enter(&scope);
	policies = load_asked_for(fcinfo, context, &npolicies);
	for (int i = 0; i < npolicies; i++)
		if (policy_matches(&policies[i], fcinfo))
		{
			check_policy_owner(&policies[i], scope.caller);
			tier_catalog_lock_policy(TIER_POLICY_TIERING, policies[i].policy_id);
		}
	set = tier_catalog_load_tiers(context);
	policies = load_asked_for(fcinfo, context, &npolicies);
	tier_catalog_leave(&scope);
	for (int i = 0; i < npolicies; i++)
	{
		TierPolicyRow altered;

		if (!policy_matches(&policies[i], fcinfo))
			continue;
		check_policy_owner(&policies[i], GetUserId());
		altered = disables_only ? policies[i] : altered_policy(&policies[i], fcinfo, unset, set);
		if (altered.added_at != policies[i].added_at && altered.is_enabled)
			*causing = lappend(*causing, &policies[n]);
		policies[n++] = altered;
	}

	/* 2. Remember it. */
	tier_catalog_enter(&scope);
	for (int i = 0; i < n; i++)
		changed += disables_only ? tier_catalog_enable_policy(policies[i].policy_id, false) :
			tier_catalog_change_policy(&scope, &policies[i]);
	tier_catalog_leave(&scope);
	if (changed == 0)
		tier_policy_complain_of_none(fcinfo, "tiering", if_exists);
	*tiers = set;
	PG_RETURN_INT32(changed);
}

Datum
tier_policy_remove(FunctionCallInfo fcinfo)
{
	bool		if_exists = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	int			npolicies;
	int			removed = 0;

	tier_catalog_enter(&scope);
	policies = load_asked_for(fcinfo, context, &npolicies);
	for (int i = 0; i < npolicies; i++)
	{
		if (!policy_matches(&policies[i], fcinfo))
			continue;

		check_policy_owner(&policies[i], scope.caller);
		removed += tier_catalog_delete_policy(TIER_POLICY_TIERING, policies[i].policy_id);
	}
	tier_catalog_leave(&scope);

	if (removed == 0)
		tier_policy_complain_of_none(fcinfo, "tiering", if_exists);
	PG_RETURN_INT32(removed);
}
