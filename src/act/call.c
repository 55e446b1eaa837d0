/*-------------------------------------------------------------------------
 *
 * act/call.c
 *		Interprets a CALL of move_relation: its relations and their target.
 *
 * Runs in the session that calls.  An error that refuses the whole call is found before anything
 * is moved, by the checks that the mover repeats before each move.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "miscadmin.h"

#include "src/base/clock.h"
#include "src/act/call.h"
#include "src/act/move.h"
#include "src/base/sql.h"

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
				 errhint("%s", tier_set_name_hint(set, target))));
	if (tier < 0)
		return tablespace_oid;
	if (OidIsValid(tablespace_oid))
	{
		if (tier_set_tier_of_tablespace(set, tablespace_oid) == tier)
			return tablespace_oid;
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_ALIAS),
				 errmsg("\"%s\" is the name of both a tier and a tablespace outside that tier",
						target),
				 errhint("Name a tablespace of the tier, or rename the tier with "
						 "tiered_storage.alter_tier().")));
	}
	tablespace_oid = tier_set_usable_tablespace(set, tier, GetUserId());
	if (!OidIsValid(tablespace_oid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", target),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	return tablespace_oid;
}

static TierDestination
resolve_destination(const TierSet *set, const char *target)
{
	TierDestination destination;

	destination.tablespace_oid = resolve_target(set, target);
	destination.tier = tier_set_find_tier(set, target);
	destination.is_chosen = destination.tier >= 0 && !OidIsValid(get_tablespace_oid(target, true));
	return destination;
}

/* On which tablespace of the tier a relation is does not matter. */
static bool
is_there(const TierRelationInfo *info, const TierDestination *destination, const TierSet *set)
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

static const TierDestination *
destination_of(const TierMoveCall *call, const TierRelationInfo *member)
{
	return &call->destination[is_secondary(member, &call->info)];
}

void
tier_call_read(FunctionCallInfo fcinfo, TierMoveCall *call)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 1, "target");
	tier_require_argument(fcinfo, 3, "allow_lock");
	call->include_indexes = PG_ARGISNULL(2) || PG_GETARG_BOOL(2);
	call->allow_lock = PG_GETARG_BOOL(3);
	tier_relation_require(PG_GETARG_OID(0), &call->info);
	tier_catalog_enter(&scope);
	call->set = tier_catalog_load_tiers(context);
	call->set_at = tier_clock_monotonic_us();
	call->pins = tier_catalog_load_pins(context);
	tier_catalog_leave(&scope);
	call->destination[0] = resolve_destination(call->set, NameStr(*PG_GETARG_NAME(1)));
	call->destination[1] = PG_ARGISNULL(4) ? call->destination[0] :
		resolve_destination(call->set, NameStr(*PG_GETARG_NAME(4)));
	if (!PG_ARGISNULL(4) && (call->info.kind == RELKIND_INDEX || !call->include_indexes))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index_target applies only to indexes that are moved with their table"),
				 call->info.kind == RELKIND_INDEX ?
				 errhint("For an index, use target.") :
				 errhint("Omit it, or use include_indexes => true.")));
	call->relations = tier_relation_members(&call->info, call->include_indexes, false);
}

TierObstacle
tier_call_refusal(const TierMoveCall *call)
{
	TierObstacle refusal = tier_relation_refuse_shell(&call->info, TIER_MOVE_OF_SHARD);

	/*
	 * Any other named relation is one of the relations to move, and is
	 * checked with them.
	 */
	if (refusal.message == NULL && call->info.kind == RELKIND_PARTITIONED_TABLE)
		refusal = tier_relation_refuse_owner(&call->info, GetUserId());
	return refusal;
}

TierObstacle
tier_call_refusal_of(const TierMoveCall *call, const TierRelationInfo *member, TierCheck check)
{
	TierMoveTarget where = {0};
	TierAdmission admission;

	where.tablespace_oid = destination_of(call, member)->tablespace_oid;
	where.requester_oid = GetUserId();
	tier_preflight_init(&admission, member, &where, call->set, 0);
	admission.pins = call->pins;
	return tier_preflight_check(&admission, check);
}

void
tier_call_check(const TierMoveCall *call)
{
	TierObstacle obstacle = tier_call_refusal(call);
	ListCell   *cell;

	tier_obstacle_throw(&obstacle);
	foreach(cell, call->relations)
	{
		TierRelationInfo member;

		CHECK_FOR_INTERRUPTS();
		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		for (int check = 0; check <= TIER_CALL_LAST_CHECK; check++)
		{
			obstacle = tier_call_refusal_of(call, &member, (TierCheck) check);
			tier_obstacle_throw(&obstacle);
		}
	}
}

/* It is moved alone: what inherits from it are tables of their own. */
void
tier_call_notice_inheritors(const TierMoveCall *call)
{
	int			n = call->info.kind != RELKIND_RELATION ? 0 :
	list_length(tier_relation_inheritors(call->info.relation_oid)) - 1;

	if (n > 0)
		ereport(NOTICE,
				(n == 1 ?
				 errmsg("only table %s is moved, not the table that inherits from it",
						call->info.name) :
				 errmsg("only table %s is moved, not the %d tables that inherit from it",
						call->info.name, n),
				 errhint("Move the others by name, or add a policy on %s, which includes them.",
						 call->info.name)));
}

/* Where to exactly: of a table that is there already the TOAST table may be elsewhere. */
static Oid
tablespace_for(const TierMoveCall *call, const TierRelationInfo *member)
{
	const TierDestination *to = destination_of(call, member);

	return is_there(member, to, call->set) ? member->tablespace_oid : to->tablespace_oid;
}

TierMoveRequest
tier_call_request(const TierMoveCall *call, const TierRelationInfo *member,
				  const TierForesight *foresight)
{
	const TierDestination *to = destination_of(call, member);
	TierMoveRequest request = {
		.relation_oid = member->relation_oid,
		.tablespace_oid = tablespace_for(call, member),
		.requester_oid = GetUserId(),
		.predicted_s_per_hour = NAN,
		.reason = "requested",
		.allow_lock = call->allow_lock,
		.set = call->set,
		.set_at = call->set_at
	};

	/*
	 * If a table is on the tier already, only its TOAST table has to follow.
	 */
	if (!to->is_chosen || is_there(member, to, call->set))
		return request;
	if (foresight == NULL)
		tier_move_choose(&request, NameStr(call->set->tiers[to->tier].name));
	else
		tier_foresight_choose(foresight, &request);
	return request;
}

List *
tier_call_left(const TierMoveCall *call, const List *tried)
{
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, tier_relation_members(&call->info, call->include_indexes, true))
	{
		TierRelationInfo member;

		CHECK_FOR_INTERRUPTS();
		if (!list_member_oid(tried, lfirst_oid(cell)) &&
			tier_relation_lookup(lfirst_oid(cell), &member) &&
			tier_move_is_needed(member.relation_oid, tablespace_for(call, &member)))
			left = lappend_oid(left, member.relation_oid);
	}
	return left;
}

const TierDevice *
tier_call_device(const TierMoveCall *call, Oid tablespace_oid)
{
	const TierTablespace *tablespace = tier_set_tablespace(call->set, tablespace_oid);

	return tablespace != NULL ? tablespace->device : tier_device_lookup(tablespace_oid, "");
}

char *
tier_call_nothing_text(const TierMoveCall *call)
{
	TierRelationInfo info;
	const char *what = !tier_relation_lookup(call->info.relation_oid, &info) ?
	"was dropped concurrently" :
	call->relations == NIL ? "has no partitions" :
	list_length(call->relations) == 1 ? "is already there" :
	"and its indexes or partitions are already there";

	return psprintf("%s %s %s", tier_relation_kind_name(call->info.kind), call->info.name, what);
}
