/*-------------------------------------------------------------------------
 *
 * act/move_sql.c
 *		The procedures that move relations: check, call, return.
 *
 * What a function may do is decided by its EXECUTE privilege (nothing here is
 * granted to PUBLIC) and, where it touches a relation of somebody, by the
 * checks of server/relation.c for the calling role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/model/effect.h"
#include "src/base/settings.h"
#include "src/act/migrate.h"
#include "src/act/move.h"
#include "src/move/pending_file.h"
#include "src/move/progress.h"
#include "src/server/relation.h"
#include "src/base/sql.h"
#include "src/move/throttle.h"
#include "src/base/transaction.h"

PG_FUNCTION_INFO_V1(tier_move_relation);
PG_FUNCTION_INFO_V1(tier_migrate);
PG_FUNCTION_INFO_V1(tier_mover_progress);
PG_FUNCTION_INFO_V1(tier_pause);
PG_FUNCTION_INFO_V1(tier_resume);
PG_FUNCTION_INFO_V1(tier_is_paused);
PG_FUNCTION_INFO_V1(tier_effect_verdict);

/* The tablespace that a tier's or tablespace's name means for this relation. */
static Oid
resolve_target(const TierSet *set, const char *target)
{
	int			tier = tier_set_find_tier(set, target);
	Oid			tablespace_oid = get_tablespace_oid(target, true);

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
	tablespace_oid = tier_set_roomiest_tablespace(set, tier);
	if (!OidIsValid(tablespace_oid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", target),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	return tablespace_oid;
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

/* Where tables, and where indexes go. */
typedef struct Destination
{
	Oid			tablespace_oid;
	int			tier;			/* -1: the tablespace alone was named */
} Destination;

static Destination
resolve_destination(const TierSet *set, const char *target)
{
	Destination destination;

	destination.tablespace_oid = resolve_target(set, target);
	destination.tier = tier_set_find_tier(set, target);
	return destination;
}

/* On which tablespace of the tier a relation is does not matter. */
static bool
is_there(const TierRelationInfo *info, const Destination *destination, const TierSet *set)
{
	return destination->tier >= 0 &&
		tier_set_tier_of_tablespace(set, info->tablespace_oid) == destination->tier;
}

/* An index that comes along with its table. */
static bool
is_secondary(const TierRelationInfo *member, const TierRelationInfo *asked)
{
	return member->kind == RELKIND_INDEX && asked->kind != RELKIND_INDEX;
}

/*
 * A pin is a promise to whoever relies on it, so that a person who wants
 * otherwise has to take it back first, which is one statement.  Else the next
 * advice would be to undo what he did.
 */
static void
check_pin(const TierPins *pins, const TierSet *set, const TierRelationInfo *member, Oid tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(set, tablespace_oid);
	const TierPinned *pinned = tier_pins_against(pins, set, member->relation_oid, tier);

	if (pinned == NULL || member->tablespace_oid == tablespace_oid ||
		(tier >= 0 && tier == tier_set_tier_of_tablespace(set, member->tablespace_oid)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s %s is pinned to tier \"%s\"", tier_relation_kind_name(member->kind), member->name,
					NameStr(pinned->tier_name)),
			 strcmp(member->name, pinned->pinned_as) == 0 ? 0 : errdetail("It is held by the pin of %s.", pinned->pinned_as),
			 errhint("Use SELECT tiered_storage.unpin(%s) first.", quote_literal_cstr(pinned->pinned_as))));
}

static void
report_failures(const TierMoveReport *first, int failed, int all)
{
	const char *code = first->sqlstate;

	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(code[0], code[1], code[2], code[3], code[4])),
			 errmsg("could not move %s: %s", first->relation_name, first->error),
			 failed == 1 ? 0 : errdetail("%d of %d relations could not be moved; see tiered_storage.moves.",
										 failed, all),
			 first->hint ? errhint("%s", first->hint) : 0));
}

Datum
tier_move_relation(PG_FUNCTION_ARGS)
{
	TierCatalogScope scope;
	TierRelationInfo info;
	TierMoveReport report;
	TierSet    *set;
	TierPins   *pins;
	MemoryContext context;
	Destination destination[2]; /* of tables, of indexes */
	List	   *relations;
	ListCell   *cell;
	bool		include_indexes;
	int			failed = 0;
	TierMoveReport first_failure = {0};

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 1, "target");
	tier_require_argument(fcinfo, 3, "allow_lock");
	tier_connect_nonatomic(fcinfo, "CALL tiered_storage.move_relation");
	context = CurrentMemoryContext;
	include_indexes = PG_ARGISNULL(2) || PG_GETARG_BOOL(2);

	/* 1. What, and where to?  Refuse before anything is moved. */
	if (!tier_relation_lookup(PG_GETARG_OID(0), &info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", PG_GETARG_OID(0))));
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	pins = tier_catalog_load_pins(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	destination[0] = resolve_destination(set, NameStr(*PG_GETARG_NAME(1)));
	destination[1] = PG_ARGISNULL(4) ? destination[0] :
		resolve_destination(set, NameStr(*PG_GETARG_NAME(4)));
	if (!PG_ARGISNULL(4) && (info.kind == RELKIND_INDEX || !include_indexes))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index_target is for the indexes that are moved along with a table"),
				 info.kind == RELKIND_INDEX ?
				 errhint("Name the place of an index as the target.") :
				 errhint("Leave it out, or set include_indexes.")));
	relations = expand_relation(info.relation_oid, info.kind, include_indexes);
	if (info.kind == RELKIND_PARTITIONED_TABLE)
		tier_relation_check_rights(&info, GetUserId());
	else
		tier_relation_check_move(&info, GetUserId(), destination[0].tablespace_oid);
	foreach(cell, relations)
	{
		TierRelationInfo member;
		Oid			tablespace_oid;

		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		tablespace_oid = destination[is_secondary(&member, &info)].tablespace_oid;
		tier_relation_check_move(&member, GetUserId(), tablespace_oid);
		check_pin(pins, set, &member, tablespace_oid);
	}

	tier_transaction_commit();
	tier_pending_sweep();
	tier_transaction_commit();

	/* 2. One after the other; one that fails does not stop the others. */
	foreach(cell, relations)
	{
		TierMoveRequest request;
		TierRelationInfo member;
		const Destination *to;

		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		to = &destination[is_secondary(&member, &info)];
		request.relation_oid = member.relation_oid;

		/* What is there may have left its TOAST table elsewhere. */
		request.tablespace_oid = is_there(&member, to, set) ? member.tablespace_oid : to->tablespace_oid;
		request.requester_oid = GetUserId();
		request.policy_id = 0;
		request.batch_id = 0;
		request.undo_of = 0;
		request.predicted_s_per_hour = NAN;
		request.reason = "requested";
		request.allow_lock = PG_GETARG_BOOL(3);
		request.limit_lock_time = false;
		request.idle = NULL;
		report = tier_move_one(&request, set);
		if (report.state != TIER_STATE_SKIPPED && report.state != TIER_STATE_FAILED)
			continue;
		if (failed++ == 0)
			first_failure = report;
	}

	/* 3. All moves that succeeded are committed; now say what did not. */
	if (failed > 0)
		report_failures(&first_failure, failed, list_length(relations));
	tier_disconnect_nonatomic();
	PG_RETURN_NULL();
}

/* What auto_migrate = placement has added to the policies. */
static void
report_placement(const TierMigrateSummary *summary, bool dry_run)
{
	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
		return;
	if (!summary->placement)
		ereport(NOTICE,
				(errmsg("nothing is moved as advised: tiered_storage.move_limit_per_day is used up")));
	else if (summary->applied.is_busy)
		ereport(NOTICE,
				(errmsg("nothing is moved as advised: another batch of moves is under way in this database")));
	else if (dry_run)
		ereport(NOTICE,
				(errmsg_plural("%d relation is advised to move", "%d relations are advised to move",
							   summary->applied.advised, summary->applied.advised)));
	else
		tier_apply_report(&summary->applied);
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
		report_placement(&summary, true);
		PG_RETURN_NULL();
	}
	tier_connect_nonatomic(fcinfo, "CALL tiered_storage.migrate");
	summary = tier_migrate_run(false, false, NULL);
	tier_disconnect_nonatomic();
	ereport(NOTICE,
			(errmsg("partitions due: %d; relations moved: %d, not moved: %d",
					summary.due, summary.moved, summary.not_moved)));
	report_placement(&summary, false);
	PG_RETURN_NULL();
}

Datum
tier_mover_progress(PG_FUNCTION_ARGS)
{
	int64		fields[TIER_PROGRESS_FIELDS];
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	if (PG_ARGISNULL(0) || !tier_progress_read(PG_GETARG_INT32(0), fields))
		return (Datum) 0;
	tier_row_clear(&row);
	tier_row_datum(&row, 0, ObjectIdGetDatum((Oid) fields[TIER_PROGRESS_RELATION]));
	tier_row_text(&row, 1, tier_progress_phase_name((TierPhase) fields[TIER_PROGRESS_PHASE]));
	tier_row_datum(&row, 2, Int64GetDatum(fields[TIER_PROGRESS_BLOCKS_TOTAL]));
	tier_row_datum(&row, 3, Int64GetDatum(fields[TIER_PROGRESS_BLOCKS_DONE]));
	tier_row_datum(&row, 4, Int64GetDatum(fields[TIER_PROGRESS_BYTES_COPIED]));
	tier_row_datum(&row, 5, Int32GetDatum((int32) fields[TIER_PROGRESS_ROUNDS]));
	tier_row_datum(&row, 6, Int32GetDatum((int32) fields[TIER_PROGRESS_ATTEMPTS]));
	tier_row_datum(&row, 7, Int32GetDatum((int32) fields[TIER_PROGRESS_RESTARTS]));
	tier_row_time(&row, 8, (TimestampTz) fields[TIER_PROGRESS_STARTED]);
	tier_row_put(&row);
	return (Datum) 0;
}

Datum
tier_pause(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tier_throttle_set_paused(true));
}

Datum
tier_resume(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tier_throttle_set_paused(false));
}

Datum
tier_is_paused(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tier_throttle_is_paused());
}

Datum
tier_effect_verdict(PG_FUNCTION_ARGS)
{
	double		predicted_saved = PG_ARGISNULL(0) ? NAN : PG_GETARG_FLOAT8(0);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
		PG_RETURN_TEXT_P(cstring_to_text(tier_effect_text(tier_effect_judge(predicted_saved, PG_GETARG_FLOAT8(1),
																			PG_GETARG_FLOAT8(2)))));
	if (tier_effect_after_min == 0)
		PG_RETURN_TEXT_P(cstring_to_text("not measured: tiered_storage.effect_after is 0"));
	PG_RETURN_TEXT_P(cstring_to_text("not measured yet"));
}
