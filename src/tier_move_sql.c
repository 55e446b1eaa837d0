/*-------------------------------------------------------------------------
 *
 * tier_move_sql.c
 *		The procedures that move relations: check, call, return.
 *
 * What a function may do is decided by its EXECUTE privilege (nothing here is
 * granted to PUBLIC) and, where it touches a relation of somebody, by the
 * checks of tier_relation.c for the calling role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "tier_catalog.h"
#include "tier_migrate.h"
#include "tier_move.h"
#include "tier_relation.h"
#include "tier_sql.h"

PG_FUNCTION_INFO_V1(tier_move_relation);
PG_FUNCTION_INFO_V1(tier_migrate);

/* As what a procedure that commits has to be called. */
static void
connect_nonatomic(FunctionCallInfo fcinfo, const char *what)
{
	bool		atomic = !(fcinfo->context && IsA(fcinfo->context, CallContext)) ||
	castNode(CallContext, fcinfo->context)->atomic;

	if (atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block or function", what),
				 errdetail("It uses one transaction for each relation, to hold its locks as short as possible.")));
	PreventCommandDuringRecovery(what);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
}

/* The tablespace that a tier's or tablespace's name means for this relation. */
static Oid
resolve_target(const TierSet *set, const char *target)
{
	int			tier = tier_set_find_tier(set, target);
	Oid			tablespace_oid = get_tablespace_oid(target, true);
	const TierTablespace *best = NULL;

	if (tier < 0 && !OidIsValid(tablespace_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("neither a tier nor a tablespace named \"%s\" exists", target),
				 errhint("SELECT tier_name, tablespaces FROM tiered_storage.tiers lists them.")));
	if (tier < 0)
		return tablespace_oid;
	if (OidIsValid(tablespace_oid))
	{
		if (tier_set_tier_of_tablespace(set, tablespace_oid) == tier)
			return tablespace_oid;
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_ALIAS),
				 errmsg("\"%s\" is the name of a tier and of a tablespace outside of that tier", target),
				 errhint("Name the tablespace that is meant, or rename the tier with tiered_storage.alter_tier().")));
	}
	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierTablespace *candidate = &set->tablespaces[i];

		if (candidate->tier == tier &&
			(best == NULL || candidate->device->free_bytes > best->device->free_bytes))
			best = candidate;
	}
	if (best == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", target),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	return best->oid;
}

/* Everything that the call means, tables before their indexes. */
static List *
expand_relation(Oid relation_oid, char kind, bool include_indexes)
{
	List	   *heaps = kind == RELKIND_PARTITIONED_TABLE ? tier_relation_leaves(relation_oid) : list_make1_oid(relation_oid);
	List	   *all = NIL;
	ListCell   *cell;

	foreach(cell, heaps)
	{
		all = lappend_oid(all, lfirst_oid(cell));
		if (include_indexes && kind != RELKIND_INDEX)
			all = list_concat(all, tier_relation_indexes(lfirst_oid(cell)));
	}
	return all;
}

/* On which tablespace of the tier a relation is does not matter. */
static List *
without_those_on_tier(List *relations, const TierSet *set, int tier)
{
	List	   *rest = NIL;
	ListCell   *cell;

	foreach(cell, relations)
	{
		TierRelationInfo info;

		if (tier_relation_lookup(lfirst_oid(cell), &info) &&
			tier_set_tier_of_tablespace(set, info.tablespace_oid) != tier)
			rest = lappend_oid(rest, info.relation_oid);
	}
	return rest;
}

Datum
tier_move_relation(PG_FUNCTION_ARGS)
{
	TierCatalogScope scope;
	TierRelationInfo info;
	TierMoveReport report;
	TierSet    *set;
	MemoryContext context;
	char	   *target;
	Oid			tablespace_oid;
	List	   *relations;
	ListCell   *cell;
	int			failed = 0;
	TierMoveReport first_failure = {0};

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 1, "target");
	connect_nonatomic(fcinfo, "CALL tiered_storage.move_relation");
	context = CurrentMemoryContext;
	target = pstrdup(NameStr(*PG_GETARG_NAME(1)));

	/* 1. What, and where to?  Refuse before anything is moved. */
	if (!tier_relation_lookup(PG_GETARG_OID(0), &info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", PG_GETARG_OID(0))));
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	tablespace_oid = resolve_target(set, target);
	relations = expand_relation(info.relation_oid, info.kind, PG_ARGISNULL(2) || PG_GETARG_BOOL(2));
	if (info.kind == RELKIND_PARTITIONED_TABLE)
		tier_relation_check_rights(&info, GetUserId());
	else
		tier_relation_check_move(&info, GetUserId(), tablespace_oid);
	foreach(cell, relations)
	{
		TierRelationInfo member;

		if (tier_relation_lookup(lfirst_oid(cell), &member))
			tier_relation_check_move(&member, GetUserId(), tablespace_oid);
	}
	if (tier_set_find_tier(set, target) >= 0)
		relations = without_those_on_tier(relations, set, tier_set_find_tier(set, target));

	/* 2. One after the other; one that fails does not stop the others. */
	foreach(cell, relations)
	{
		TierMoveRequest request;

		request.relation_oid = lfirst_oid(cell);
		request.tablespace_oid = tablespace_oid;
		request.requester_oid = GetUserId();
		request.policy_id = 0;
		request.reason = "requested";
		request.limit_lock_time = false;
		report = tier_move_one(&request, set);
		if (report.state != TIER_STATE_SKIPPED && report.state != TIER_STATE_FAILED)
			continue;
		if (failed++ == 0)
			first_failure = report;
	}

	/* 3. All moves that succeeded are committed; now say what did not. */
	if (failed > 0)
		ereport(ERROR,
				(errcode(MAKE_SQLSTATE(first_failure.sqlstate[0], first_failure.sqlstate[1], first_failure.sqlstate[2],
									   first_failure.sqlstate[3], first_failure.sqlstate[4])),
				 errmsg("could not move %s: %s", first_failure.relation_name, first_failure.error),
				 failed == 1 ? 0 : errdetail("%d of %d relations could not be moved; see tiered_storage.moves.",
											 failed, list_length(relations)),
				 first_failure.hint ? errhint("%s", first_failure.hint) : 0));
	SPI_finish();
	PG_RETURN_NULL();
}

Datum
tier_migrate(PG_FUNCTION_ARGS)
{
	bool		dry_run = !PG_ARGISNULL(0) && PG_GETARG_BOOL(0);
	TierMigrateSummary summary;

	if (dry_run)
	{
		summary = tier_migrate_run(true, false, NULL);
		ereport(NOTICE,
				(errmsg_plural("%d partition is due", "%d partitions are due", summary.due, summary.due)));
		PG_RETURN_NULL();
	}
	connect_nonatomic(fcinfo, "CALL tiered_storage.migrate");
	summary = tier_migrate_run(false, false, NULL);
	SPI_finish();
	ereport(NOTICE,
			(errmsg("partitions due: %d; relations moved: %d, not moved: %d",
					summary.due, summary.moved, summary.not_moved)));
	PG_RETURN_NULL();
}
