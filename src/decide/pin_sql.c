/*-------------------------------------------------------------------------
 *
 * decide/pin_sql.c
 *		SQL functions on pins: check, call, return.
 *
 * Access is controlled by the EXECUTE privilege on each function (none is granted to PUBLIC)
 * and by checks of the calling role: it must be the owner of the relation or an administrator,
 * as for policies.
 *
 * A pin is one row, whatever it holds: partitions and indexes that are created later belong to
 * it.  Only indexes that are to stay on another tier than their table have a separate row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/server/relation.h"
#include "src/base/settings.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_pin);
PG_FUNCTION_INFO_V1(tier_unpin);

/* Raises an error if the extension does not move such relations. */
static void
check_kind(const TierRelationInfo *info)
{
	if (info->is_system || info->persistence == RELPERSISTENCE_TEMP ||
		!(info->kind == RELKIND_RELATION || info->kind == RELKIND_MATVIEW ||
		  info->kind == RELKIND_INDEX || info->kind == RELKIND_PARTITIONED_TABLE))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s cannot be pinned", tier_relation_kind_name(info->kind), info->name),
				 errdetail("Tables, materialized views, indexes and partitioned tables can be "
						   "pinned, unless they are temporary or the system's.")));
}

static void
check_owner(const TierRelationInfo *info)
{
	if (!tier_compat_owns_relation(info->relation_oid, GetUserId()) &&
		!tier_is_administrator(GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of %s %s", tier_relation_kind_name(info->kind),
						info->name)));
}

/* 0: for ever. */
static TimestampTz
check_until(FunctionCallInfo fcinfo)
{
	TimestampTz until;

	if (PG_ARGISNULL(2))
		return 0;
	until = PG_GETARG_TIMESTAMPTZ(2);
	if (TIMESTAMP_IS_NOEND(until))
		return 0;
	if (until <= GetCurrentTransactionStartTimestamp())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"until\" must be in the future"),
				 errhint("Omit it to pin without a time limit; unpin() removes a pin.")));
	return until;
}

/* The tier that a relation is on, or an error. */
static int
tier_of(const TierSet *set, const TierRelationInfo *info)
{
	int			tier = tier_set_tier_of_tablespace(set, info->tablespace_oid);

	if (tier < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tablespace of %s %s belongs to no tier",
						tier_relation_kind_name(info->kind), info->name),
				 errhint("Name the tier, or use tiered_storage.discover_tiers(), "
						 "add_tier() or alter_tier().")));
	return tier;
}

/*
 * The one tier that all partitions are on.  Without any it is that on which they
 * would be created.
 */
static int
tier_of_partitions(const TierSet *set, const TierRelationInfo *info, bool include_indexes)
{
	List	   *leaves = tier_relation_leaves(info->relation_oid);
	int			tier = -1;
	ListCell   *cell;

	if (leaves == NIL)
		return tier_of(set, info);
	foreach(cell, leaves)
	{
		List	   *members = lcons_oid(lfirst_oid(cell), include_indexes ?
										tier_relation_indexes(lfirst_oid(cell)) : NIL);
		ListCell   *member;

		CHECK_FOR_INTERRUPTS();
		foreach(member, members)
		{
			TierRelationInfo here;

			if (!tier_relation_lookup(lfirst_oid(member), &here))
				continue;
			if (tier < 0)
				tier = tier_of(set, &here);
			else if (tier != tier_of(set, &here))
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						 errmsg("not all of %s is on tier \"%s\"", info->name,
								NameStr(set->tiers[tier].name)),
						 errdetail("For example, %s is not.", here.name),
						 errhint("Name the tier, or pin the partitions one by one.")));
		}
		list_free(members);
	}
	return tier < 0 ? tier_of(set, info) : tier;
}

/* Indexes of the table that stay where they are, on another tier than it. */
static List *
indexes_elsewhere(const TierSet *set, Oid relation_oid, int tier)
{
	List	   *elsewhere = NIL;
	ListCell   *cell;

	foreach(cell, tier_relation_indexes(relation_oid))
	{
		TierRelationInfo index;

		if (tier_relation_lookup(lfirst_oid(cell), &index) && tier_of(set, &index) != tier)
			elsewhere = lappend_oid(elsewhere, index.relation_oid);
	}
	return elsewhere;
}

/* Reports the limits of the pin: the relation is elsewhere, or others inherit from it. */
static void
notice_pinned(const TierRelationInfo *info, const TierSet *set, int tier)
{
	List	   *members = tier_relation_members(info, false, false);
	int			elsewhere = 0;
	int			present = -1;	/* the tier of the last of these */
	ListCell   *cell;
	int			n = info->kind != RELKIND_RELATION ? 0 :
	list_length(tier_relation_inheritors(info->relation_oid)) - 1;

	foreach(cell, members)
	{
		TierRelationInfo here;
		int			t;

		CHECK_FOR_INTERRUPTS();
		t = tier_relation_lookup(lfirst_oid(cell), &here) ?
			tier_set_tier_of_tablespace(set, here.tablespace_oid) : -1;
		if (t < 0 || t == tier)
			continue;
		present = t;
		elsewhere++;
	}
	if (elsewhere > 0)
		ereport(NOTICE,
				(info->kind == RELKIND_PARTITIONED_TABLE ?
				 errmsg("%d of %d partitions of %s are on another tier now", elsewhere,
						list_length(members), info->name) :
				 errmsg("%s %s is on tier \"%s\" now", tier_relation_kind_name(info->kind),
						info->name, NameStr(set->tiers[present].name)),
				 tier_auto_migrate == TIER_AUTO_MIGRATE_PLACEMENT ?
				 errdetail("The worker moves it as soon as a move window and the load allow it.") :
				 errdetail("tiered_storage.auto_migrate does not include recommendations, so "
						   "only apply_placement() moves it."),
				 errhint("CALL tiered_storage.move_relation(%s, %s) moves it at once.",
						 quote_literal_cstr(info->name),
						 quote_literal_cstr(NameStr(set->tiers[tier].name)))));
	if (n > 0)
		ereport(NOTICE,
				(errmsg_plural("only table %s is pinned, not the %d table that inherits from it",
							   "only table %s is pinned, not the %d tables that inherit from it",
							   n, info->name, n)));
}

Datum
tier_pin(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	TierPinRow	row;
	TierSet    *set;
	List	   *indexes = NIL;
	List	   *elsewhere = NIL;
	ListCell   *cell;
	int			tier;

	/* 1. Check the relation and the rights of the caller. */
	tier_require_writable("tiered_storage.pin()");
	tier_require_argument(fcinfo, 0, "relation");
	memset(&row, 0, sizeof(row));
	tier_relation_require(PG_GETARG_OID(0), &info);
	check_kind(&info);
	check_owner(&info);
	tier_relation_check_shell(&info, "SELECT tiered_storage.pin(%L, ...)");
	row.relation_oid = info.relation_oid;
	row.owner_oid = info.owner_oid;
	row.kind = info.kind;
	row.until = check_until(fcinfo);
	row.include_indexes = (PG_ARGISNULL(3) || PG_GETARG_BOOL(3)) && info.kind != RELKIND_INDEX;

	/*
	 * 2. Find the target.  Pinning a relation to its present place takes no
	 * right on the tablespace.
	 */
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	if (row.include_indexes && info.kind != RELKIND_PARTITIONED_TABLE)
		indexes = tier_relation_indexes(info.relation_oid);
	if (!PG_ARGISNULL(1))
	{
		tier = tier_require_tier(set, NameStr(*PG_GETARG_NAME(1)));
		tier_require_tier_rights(set, tier);
	}
	else if (info.kind == RELKIND_PARTITIONED_TABLE)
		tier = tier_of_partitions(set, &info, row.include_indexes);
	else
	{
		tier = tier_of(set, &info);
		if (row.include_indexes)
			elsewhere = indexes_elsewhere(set, info.relation_oid, tier);
	}
	row.tier_name = set->tiers[tier].name;

	/* 3. Store the pin.  It replaces separate pins of its indexes. */
	tier_catalog_enter(&scope);
	tier_catalog_set_pin(&scope, &row);
	foreach(cell, indexes)
		(void) tier_catalog_remove_pin(lfirst_oid(cell));
	foreach(cell, elsewhere)
	{
		TierPinRow	index = row;
		TierRelationInfo there;

		if (!tier_relation_lookup(lfirst_oid(cell), &there))
			continue;
		index.relation_oid = there.relation_oid;
		index.owner_oid = there.owner_oid;
		index.kind = there.kind;
		index.tier_name = set->tiers[tier_of(set, &there)].name;
		index.include_indexes = false;
		tier_catalog_set_pin(&scope, &index);
	}
	tier_catalog_leave(&scope);
	notice_pinned(&info, set, tier);
	PG_RETURN_INT32(1 + list_length(elsewhere));
}

Datum
tier_unpin(PG_FUNCTION_ARGS)
{
	bool		include_indexes = PG_ARGISNULL(1) || PG_GETARG_BOOL(1);
	TierCatalogScope scope;
	TierRelationInfo info;
	List	   *members;
	ListCell   *cell;
	bool		has_indexes = false;
	int			removed = 0;

	tier_require_writable("tiered_storage.unpin()");
	tier_require_argument(fcinfo, 0, "relation");
	tier_relation_require(PG_GETARG_OID(0), &info);
	check_kind(&info);
	check_owner(&info);
	members = list_make1_oid(info.relation_oid);
	if (include_indexes && info.kind != RELKIND_INDEX && info.kind != RELKIND_PARTITIONED_TABLE)
		members = list_concat(members, tier_relation_indexes(info.relation_oid));

	tier_catalog_enter(&scope);
	if (!include_indexes && tier_catalog_has_pin(info.relation_oid, &has_indexes) && has_indexes)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the pin of %s includes its indexes", info.name),
				 errhint("Omit include_indexes, and pin the indexes that are to stay.")));
	foreach(cell, members)
		removed += tier_catalog_remove_pin(lfirst_oid(cell));
	tier_catalog_leave(&scope);
	if (removed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no separate pin on %s %s",
						tier_relation_kind_name(info.kind), info.name),
				 errhint("SELECT * FROM tiered_storage.pins lists the pins.")));
	PG_RETURN_INT32(removed);
}
