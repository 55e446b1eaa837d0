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
#include "src/base/clock.h"
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
				 errmsg("\"%s\" is the name of a tier and of a tablespace outside of that tier",
						target),
				 errhint("Name the tablespace that is meant, "
						 "or rename the tier with tiered_storage.alter_tier().")));
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
	List	   *heaps;

	List	   *all = NIL;
	ListCell   *cell;

	heaps = kind == RELKIND_PARTITIONED_TABLE ? tier_relation_leaves(relation_oid) :
		list_make1_oid(relation_oid);
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
 * A pin is a promise to whoever relies on it.  A person who wants otherwise has to
 * remove it first, which is one statement; else the next advice would be to undo
 * what he did.
 */
static void
check_pin(const TierPins *pins, const TierSet *set, const TierRelationInfo *member,
		  Oid tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(set, tablespace_oid);
	const TierPinned *pinned = tier_pins_against(pins, set, member->relation_oid, tier);

	if (pinned == NULL || member->tablespace_oid == tablespace_oid ||
		(tier >= 0 && tier == tier_set_tier_of_tablespace(set, member->tablespace_oid)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s %s is pinned to tier \"%s\"", tier_relation_kind_name(member->kind),
					member->name,
					NameStr(pinned->tier_name)),
			 strcmp(member->name, pinned->pinned_as) == 0 ? 0 :
			 errdetail("It is held by the pin of %s.", pinned->pinned_as),
			 errhint("Use SELECT tiered_storage.unpin(%s) first.",
					 quote_literal_cstr(pinned->pinned_as))));
}

static void
report_failures(const TierMoveReport *first, int failed, int all)
{
	const char *code = first->sqlstate;

	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(code[0], code[1], code[2], code[3], code[4])),
			 errmsg("could not move %s: %s", first->relation_name, first->error),
			 failed == 1 ? 0 :
			 errdetail("%d of %d relations could not be moved; see tiered_storage.moves.",
					   failed, all),
			 first->hint ? errhint("%s", first->hint) : 0));
}

/* What a CALL of move_relation asks for. */
typedef struct Call
{
	TierRelationInfo info;		/* of the relation that was named */
	TierSet    *set;
	Destination destination[2]; /* of tables, of indexes */
	bool		include_indexes;
	bool		allow_lock;
	List	   *relations;		/* tables before their indexes */
} Call;

static const Destination *
destination_of(const Call *call, const TierRelationInfo *member)
{
	return &call->destination[is_secondary(member, &call->info)];
}

/* The relation and the places that are named.  In a context that outlives transactions. */
static void
read_call(FunctionCallInfo fcinfo, Call *call, TierPins **pins)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	call->include_indexes = PG_ARGISNULL(2) || PG_GETARG_BOOL(2);
	call->allow_lock = PG_GETARG_BOOL(3);
	if (!tier_relation_lookup(PG_GETARG_OID(0), &call->info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", PG_GETARG_OID(0))));
	tier_catalog_enter(&scope);
	call->set = tier_catalog_load_tiers(context);
	*pins = tier_catalog_load_pins(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	call->destination[0] = resolve_destination(call->set, NameStr(*PG_GETARG_NAME(1)));
	call->destination[1] = PG_ARGISNULL(4) ? call->destination[0] :
		resolve_destination(call->set, NameStr(*PG_GETARG_NAME(4)));
	if (!PG_ARGISNULL(4) && (call->info.kind == RELKIND_INDEX || !call->include_indexes))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index_target is for the indexes that are moved along with a table"),
				 call->info.kind == RELKIND_INDEX ?
				 errhint("Name the place of an index as the target.") :
				 errhint("Leave it out, or set include_indexes.")));
	call->relations = expand_relation(call->info.relation_oid, call->info.kind,
									  call->include_indexes);
}

/* Errors for everything that could be refused later: before anything is moved. */
static void
check_call(const Call *call, const TierPins *pins)
{
	ListCell   *cell;

	if (call->info.kind == RELKIND_PARTITIONED_TABLE)
		tier_relation_check_rights(&call->info, GetUserId());
	else
		tier_relation_check_move(&call->info, GetUserId(), call->destination[0].tablespace_oid);
	foreach(cell, call->relations)
	{
		TierRelationInfo member;
		Oid			tablespace_oid;

		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		tablespace_oid = destination_of(call, &member)->tablespace_oid;
		tier_relation_check_move(&member, GetUserId(), tablespace_oid);
		check_pin(pins, call->set, &member, tablespace_oid);
	}
}

/* Where to exactly: what is there may have left its TOAST table elsewhere. */
static Oid
tablespace_for(const Call *call, const TierRelationInfo *member)
{
	const Destination *to = destination_of(call, member);

	return is_there(member, to, call->set) ? member->tablespace_oid : to->tablespace_oid;
}

/* Moves one of them. */
static TierMoveReport
move_member(const Call *call, const TierRelationInfo *member)
{
	TierMoveRequest request = {0};

	request.relation_oid = member->relation_oid;
	request.tablespace_oid = tablespace_for(call, member);
	request.requester_oid = GetUserId();
	request.predicted_s_per_hour = NAN;
	request.reason = "requested";
	request.allow_lock = call->allow_lock;
	return tier_move_one(&request);
}

/* What a CALL has moved. */
typedef struct Moved
{
	int			relations;
	char	   *first;			/* "table s.t"; NULL: nothing was moved */
	Oid			from_oid;		/* tablespaces; 0: more than one */
	Oid			to_oid;
	double		bytes;
	double		lock_held_ms;	/* the longest */
} Moved;

static void
add_moved(Moved *moved, const TierRelationInfo *member, Oid to_oid, const TierMoveReport *report)
{
	if (moved->relations++ == 0)
	{
		moved->first = psprintf("%s %s", tier_relation_kind_name(member->kind), member->name);
		moved->from_oid = member->tablespace_oid;
		moved->to_oid = to_oid;
	}
	if (moved->from_oid != member->tablespace_oid)
		moved->from_oid = InvalidOid;
	if (moved->to_oid != to_oid)
		moved->to_oid = InvalidOid;
	moved->bytes += report->size_bytes;
	moved->lock_held_ms = Max(moved->lock_held_ms, report->lock_held_ms);
}

static char *
place_text(Oid tablespace_oid)
{
	char	   *name = OidIsValid(tablespace_oid) ? get_tablespace_name(tablespace_oid) : NULL;

	return name == NULL ? "several tablespaces" : psprintf("tablespace \"%s\"", name);
}

/*
 * One line for the whole call, which may be one of many in a script.  It is that of
 * the server's log, for whoever sees only one of them.
 */
static void
report_moved(const Call *call, const Moved *moved, int failed, double elapsed_s)
{
	TierRelationInfo info;

	if (moved->relations > 0 && tier_log_moves)
		ereport(NOTICE,
				(errmsg("moved %s%s from %s to %s: %s in %.3f s, locked for %s%.3f ms",
						moved->first,
						moved->relations == 1 ? "" :
						psprintf(" and %d more", moved->relations - 1),
						place_text(moved->from_oid), place_text(moved->to_oid),
						tier_size_text(moved->bytes),
						elapsed_s, moved->relations == 1 ? "" : "at most ", moved->lock_held_ms)));
	if (moved->relations == 0 && failed == 0 &&
		!tier_relation_lookup(call->info.relation_oid, &info))
		ereport(NOTICE,
				(errmsg("nothing is moved: %s %s was dropped meanwhile",
						tier_relation_kind_name(call->info.kind),
						call->info.name)));
	else if (moved->relations == 0 && failed == 0)
		ereport(NOTICE,
				(errmsg("nothing is moved: %s %s %s",
						tier_relation_kind_name(call->info.kind), call->info.name,
						call->relations == NIL ? "has no partitions" :
						list_length(call->relations) == 1 ? "is there already" :
						"and what goes with it are there already")));
}

Datum
tier_move_relation(PG_FUNCTION_ARGS)
{
	Call		call;
	TierPins   *pins;
	ListCell   *cell;
	TierMoveReport first_failure = {0};
	Moved		moved = {0};
	int			failed = 0;
	int64		started_us = tier_clock_monotonic_us();

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 1, "target");
	tier_require_argument(fcinfo, 3, "allow_lock");
	tier_connect_nonatomic(fcinfo, "CALL tiered_storage.move_relation");

	/* 1. What, and where to?  Refuse before anything is moved. */
	read_call(fcinfo, &call, &pins);
	check_call(&call, pins);
	tier_transaction_commit();
	tier_pending_sweep();
	tier_transaction_commit();

	/* 2. One after the other; one that fails does not stop the others. */
	foreach(cell, call.relations)
	{
		TierRelationInfo member;
		TierMoveReport report;

		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		report = move_member(&call, &member);
		if (report.state == TIER_STATE_DONE)
			add_moved(&moved, &member, tablespace_for(&call, &member), &report);
		if (report.state != TIER_STATE_SKIPPED && report.state != TIER_STATE_FAILED)
			continue;
		if (failed++ == 0)
			first_failure = report;
	}

	/*
	 * 3. All moves that succeeded are committed; now say so, and what did
	 * not.
	 */
	report_moved(&call, &moved, failed, (tier_clock_monotonic_us() - started_us) / 1e6);
	if (failed > 0)
		report_failures(&first_failure, failed, list_length(call.relations));
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
				(errmsg("nothing is moved as advised: "
						"tiered_storage.move_limit_per_day is used up")));
	else if (summary->placement_waits)
		ereport(NOTICE,
				(errmsg("nothing is moved as advised: no move window is open")));
	else if (summary->applied.is_busy)
		ereport(NOTICE,
				(errmsg("nothing is moved as advised: "
						"another batch of moves is under way in this database")));
	else if (dry_run)
		ereport(NOTICE,
				(errmsg_plural("%d relation is advised to move",
							   "%d relations are advised to move",
							   summary->applied.advised, summary->applied.advised)));
	else
		tier_apply_report(&summary->applied);
}

/* Why nothing is due; false if something is. */
static bool
report_not_due(const TierMigrateSummary *summary)
{
	if (summary->due > 0)
		return false;
	if (summary->policies == 0 && (tier_auto_migrate == TIER_AUTO_MIGRATE_PLACEMENT ||
								   summary->emptied.policies + summary->emptied.disabled > 0))
		return true;			/* nobody expects a tiering policy to be at
								 * work */
	if (summary->policies == 0)
		ereport(NOTICE,
				(errmsg("nothing is due: there is no tiering policy"),
				 errhint("Add one with tiered_storage.add_tiering_policy(), "
						 "or CALL tiered_storage.apply_placement() for what is advised.")));
	else if (summary->disabled == summary->policies)
		ereport(NOTICE,
				(errmsg("nothing is due: all tiering policies are disabled"),
				 errhint("SELECT tiered_storage.alter_tiering_policy("
						 "policy_id => ..., enabled => true) enables one.")));
	else
		ereport(NOTICE,
				(errmsg("nothing is due; tiering policies: %d, their partitions: %d",
						summary->policies - summary->disabled, summary->partitions),
				 summary->failed == 0 ?
				 errhint("SELECT * FROM tiered_storage.evaluate_policies() "
						 "says why not, for each.") :
				 errhint("%d of the policies cannot be evaluated; "
						 "see the view tiered_storage.policies.", summary->failed)));
	return true;
}

/* What has to wait for a move window. */
static void
report_waiting(const TierMigrateSummary *summary)
{
	int			waiting = summary->waiting + summary->emptied.waiting + summary->applied.waiting;

	if (summary->why_waiting == NULL)
		return;
	ereport(NOTICE,
			(waiting == 0 ? errmsg("move windows are closed") :
			 errmsg_plural("%d relation is not moved now", "%d relations are not moved now",
						   waiting, waiting),
			 errdetail("%c%s.", pg_toupper((unsigned char) summary->why_waiting[0]),
					   summary->why_waiting + 1),
			 errhint("CALL tiered_storage.migrate(ignore_windows => true) does not wait.")));
}

/* What fullness policies have added. */
static void
report_emptied(const TierFullnessSummary *emptied, bool dry_run)
{
	if (emptied->policies == 0)
	{
		if (emptied->disabled > 0)
			ereport(NOTICE,
					(errmsg("no tier is emptied: all fullness policies are disabled"),
					 errhint("SELECT tiered_storage.alter_fullness_policy("
							 "policy_id => ..., enabled => true) enables one.")));
	}
	else if (emptied->too_full == 0)
		ereport(NOTICE,
				(errmsg("no tier is too full; fullness policies: %d", emptied->policies),
				 emptied->failed == 0 ? 0 :
				 errhint("%d of them cannot be evaluated; "
						 "see the view tiered_storage.fullness_policies.", emptied->failed)));
	else if (dry_run || emptied->busy == emptied->too_full)
		ereport(NOTICE,
				(errmsg("tiers that are too full: %d; relations that have to leave: %d",
						emptied->too_full, emptied->leaving),
				 emptied->busy == 0 ? 0 :
				 errdetail("Another process is emptying them.")));
	else
		ereport(NOTICE,
				(errmsg("tiers that were too full: %d; relations moved: %d, not moved: %d",
						emptied->too_full, emptied->moved, emptied->not_moved),
				 emptied->moved == 0 ?
				 errhint("SELECT * FROM tiered_storage.evaluate_fullness() "
						 "says why not, for each.") :
				 errhint("To move them back, disable the policy, "
						 "then CALL tiered_storage.undo_move(" INT64_FORMAT ").",
						 emptied->batch_id)));
}

Datum
tier_migrate(PG_FUNCTION_ARGS)
{
	bool		dry_run = !PG_ARGISNULL(0) && PG_GETARG_BOOL(0);
	bool		ignore_windows = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	TierMigrateSummary summary;
	TierPolicyKind kind;
	char	   *policies;
	int			npolicies = 0;

	if (dry_run)
	{
		summary = tier_migrate_run(true, false, ignore_windows, NULL);
		if (!report_not_due(&summary))
			ereport(NOTICE,
					(errmsg_plural("%d partition is due", "%d partitions are due",
								   summary.due, summary.due)));
		report_emptied(&summary.emptied, true);
		report_placement(&summary, true);
		PG_RETURN_NULL();
	}
	tier_connect_nonatomic(fcinfo, "CALL tiered_storage.migrate");
	summary = tier_migrate_run(false, false, ignore_windows, NULL);
	report_waiting(&summary);
	tier_disconnect_nonatomic();
	policies = summary.moved == 0 ? NULL : tier_migrate_policies_of(summary.batch_id, &npolicies,
																	&kind);
	if (!report_not_due(&summary))
		ereport(NOTICE,
				(errmsg("partitions due: %d; relations moved: %d, not moved: %d",
						summary.due, summary.moved, summary.not_moved),
				 summary.moved == 0 ? 0 :
				 errhint("To move them back, %s%s, "
						 "then CALL tiered_storage.undo_move(" INT64_FORMAT ").",
						 npolicies > 1 ? "disable policies " : "disable the policy",
						 npolicies > 1 ? policies : "",
						 summary.batch_id)));
	report_emptied(&summary.emptied, false);
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
	{
		TierEffectVerdict verdict = tier_effect_judge(predicted_saved, PG_GETARG_FLOAT8(1),
													  PG_GETARG_FLOAT8(2));

		PG_RETURN_TEXT_P(cstring_to_text(tier_effect_text(verdict)));
	}
	if (tier_effect_period_min == 0)
		PG_RETURN_TEXT_P(cstring_to_text("not measured: tiered_storage.effect_period is 0"));
	PG_RETURN_TEXT_P(cstring_to_text("not measured yet"));
}
