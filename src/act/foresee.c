/*-------------------------------------------------------------------------
 *
 * act/foresee.c
 *		Predicts the result of moves without making them.
 *
 * Runs in sessions that ask for a dry run or call preflight(), in any transaction, also on a
 * standby.  A series may be tens of thousands of moves: facts that are the same for all moves to
 * one place are looked up once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/hsearch.h"

#include "src/act/foresee.h"
#include "src/act/level.h"
#include "src/act/move.h"
#include "src/base/sql.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"
#include "src/storage/file_size.h"

/* The bytes that the moves counted so far add to a tablespace, or take from it. */
typedef struct Flow
{
	Oid			tablespace_oid;
	double		bytes;			/* negative: it has fewer than before */
} Flow;

/* A tablespace that moves go to. */
typedef struct Place
{
	Oid			tablespace_oid;
	TierPlaceFacts facts;
	bool		has_level;
	TierFullnessLevel level;	/* of its tier, without the flows */
	List	   *flows;			/* Flow: those on its file system */
	int			nflows;			/* that were looked at for that */
} Place;

struct TierForesight
{
	MemoryContext context;
	const TierSet *set;
	List	   *places;
	List	   *flows;
	double	   *above_bytes;	/* by tier: by how much it is above the mark
								 * of its fullness policy without these; NULL:
								 * not looked at yet */
	HTAB	   *moved;			/* OIDs of the relations of the moves counted
								 * so far; NULL: none yet */
	double		bytes;			/* of the moves counted so far */
	double		seconds;		/* that these take, as far as is known */
};

TierForesight *
tier_foresight_create(const TierSet *set)
{
	TierForesight *foresight = palloc0(sizeof(TierForesight));

	foresight->context = CurrentMemoryContext;
	foresight->set = set;
	return foresight;
}

static Place *
find_place(TierForesight *foresight, Oid tablespace_oid)
{
	MemoryContext old_context;
	ListCell   *cell;
	Place	   *place;

	foreach(cell, foresight->places)
	{
		place = lfirst(cell);
		if (place->tablespace_oid == tablespace_oid)
			return place;
	}
	old_context = MemoryContextSwitchTo(foresight->context);
	place = palloc0(sizeof(Place));
	place->tablespace_oid = tablespace_oid;
	place->facts.tier_bytes = -1;
	foresight->places = lappend(foresight->places, place);
	MemoryContextSwitchTo(old_context);
	return place;
}

static Flow *
find_flow(const TierForesight *foresight, Oid tablespace_oid)
{
	ListCell   *cell;

	foreach(cell, foresight->flows)
		if (((Flow *) lfirst(cell))->tablespace_oid == tablespace_oid)
		return lfirst(cell);
	return NULL;
}

static void
add_flow(TierForesight *foresight, Oid tablespace_oid, double bytes)
{
	Flow	   *flow = find_flow(foresight, tablespace_oid);

	if (flow == NULL)
	{
		flow = palloc0(sizeof(Flow));
		flow->tablespace_oid = tablespace_oid;
		foresight->flows = lappend(foresight->flows, flow);
	}
	flow->bytes += bytes;
}

/* The bytes that earlier moves have put on the file system of the place. */
static double
earlier_bytes(const TierForesight *foresight, Place *place)
{
	double		bytes = 0;
	ListCell   *cell;

	for (; place->nflows < list_length(foresight->flows); place->nflows++)
	{
		Flow	   *flow = list_nth(foresight->flows, place->nflows);

		if (flow->tablespace_oid == place->tablespace_oid ||
			tier_space_shares_room(place->facts.space, flow->tablespace_oid))
			place->flows = lappend(place->flows, flow);
	}
	foreach(cell, place->flows)
		bytes += ((const Flow *) lfirst(cell))->bytes;
	return bytes;
}

/* The same for the tier that the tablespace belongs to. */
static double
earlier_tier_bytes(const TierForesight *foresight, Oid tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(foresight->set, tablespace_oid);
	double		bytes = 0;
	ListCell   *cell;

	foreach(cell, foresight->flows)
	{
		const Flow *flow = lfirst(cell);

		if (tier >= 0 && tier_set_tier_of_tablespace(foresight->set, flow->tablespace_oid) == tier)
			bytes += flow->bytes;
	}
	return bytes;
}

void
tier_foresight_ask(TierForesight *foresight, const TierMoveRequest *request,
				   const TierRelationInfo *info, const TierPins *pins, int64 size_bytes,
				   TierAdmission *admission)
{
	MemoryContext old_context = MemoryContextSwitchTo(foresight->context);
	TierMoveTarget where = tier_move_target(request);
	Place	   *place = find_place(foresight, request->tablespace_oid);

	tier_preflight_init(admission, info, &where, foresight->set, size_bytes);
	admission->pins = pins;

	admission->facts = &place->facts;
	admission->earlier_bytes = earlier_tier_bytes(foresight, place->tablespace_oid);

	/* Looked up for the first that goes there, in this context. */
	(void) tier_preflight_standby_rooms(admission);
	(void) tier_preflight_standby_users(admission);
	(void) tier_preflight_tier_bytes(admission);
	tier_preflight_space(admission)->earlier_bytes = earlier_bytes(foresight, place);
	MemoryContextSwitchTo(old_context);
}

/*
 * The obstacle to the request, including the watermark up to which it may fill its target, with
 * the effect of the moves counted so far.
 */
static TierObstacle
obstacle_to(TierForesight *foresight, const TierMoveRequest *request, TierAdmission *admission)
{
	TierObstacle obstacle = tier_preflight(admission);
	const TierSet *set = foresight->set;
	int			to = tier_set_tier_of_tablespace(set, request->tablespace_oid);
	Place	   *place = find_place(foresight, request->tablespace_oid);
	TierFullnessQuestion question = {.flight = tier_fullness_flight};
	TierFullnessLevel level;

	if (obstacle.message != NULL || request->mark == TIER_MARK_NONE || to < 0 ||
		to == tier_set_tier_of_tablespace(set, admission->info->tablespace_oid) ||
		set->tiers[to].capacity_bytes <= 0)
		return obstacle;
	if (!place->has_level)
		place->level = tier_fullness_level(set, to, &question);
	place->has_level = true;
	level = place->level;
	level.own_bytes += earlier_tier_bytes(foresight, place->tablespace_oid);
	level.disk_bytes += earlier_tier_bytes(foresight, place->tablespace_oid);
	return tier_move_mark_obstacle(request->mark, &set->tiers[to], &level, admission->size_bytes);
}

void
tier_foresight_count(TierForesight *foresight, const TierAdmission *admission)
{
	MemoryContext old_context = MemoryContextSwitchTo(foresight->context);

	add_flow(foresight, admission->where.tablespace_oid, admission->size_bytes);
	add_flow(foresight, admission->info->tablespace_oid, -(double) admission->size_bytes);
	foresight->bytes += admission->size_bytes;
	if (foresight->moved == NULL)
		foresight->moved = tier_relation_set();
	hash_search(foresight->moved, &admission->info->relation_oid, HASH_ENTER, NULL);
	MemoryContextSwitchTo(old_context);
}

/* A TierAddedBytes. */
static double
added_bytes(const TierTablespace *tablespace, const void *argument)
{
	const TierForesight *foresight = argument;
	double		bytes = tier_move_arriving(tablespace, foresight->set);
	ListCell   *cell;

	foreach(cell, foresight->flows)
	{
		const Flow *flow = lfirst(cell);
		const TierTablespace *other = tier_set_tablespace(foresight->set, flow->tablespace_oid);

		if (other != NULL && tier_set_same_file_system(other, tablespace))
			bytes += flow->bytes;
	}
	return bytes;
}

void
tier_foresight_choose(const TierForesight *foresight, TierMoveRequest *request)
{
	const TierSet *set = foresight->set;
	int			to = tier_set_tier_of_tablespace(set, request->tablespace_oid);
	TierRelationInfo info;

	if (to >= 0 && tier_relation_lookup(request->relation_oid, &info) &&
		tier_set_tier_of_tablespace(set, info.tablespace_oid) != to)
		request->tablespace_oid = tier_set_usable_after(set, to, request->requester_oid,
														added_bytes, foresight);
}

bool
tier_foresight_has_moved(const TierForesight *foresight, Oid relation_oid)
{
	return foresight->moved != NULL &&
		hash_search(foresight->moved, &relation_oid, HASH_FIND, NULL) != NULL;
}

double
tier_foresight_flow(const TierForesight *foresight, Oid tablespace_oid)
{
	const Flow *flow = find_flow(foresight, tablespace_oid);

	return flow == NULL ? 0 : flow->bytes;
}

TierFullnessFlight
tier_foresight_flight(Oid tablespace_oid, const void *foresight)
{
	TierFullnessFlight flight = tier_fullness_flight(tablespace_oid, NULL);
	double		bytes = tier_foresight_flow(foresight, tablespace_oid);

	flight.own_bytes += bytes;
	flight.disk_bytes += bytes;
	return flight;
}

Bitmapset *
tier_foresight_above(TierForesight *foresight)
{
	const TierSet *set = foresight->set;
	Bitmapset  *above = NULL;

	if (foresight->above_bytes == NULL)
	{
		foresight->above_bytes = MemoryContextAlloc(foresight->context,
													sizeof(double) * Max(set->ntiers, 1));
		for (int i = 0; i < set->ntiers; i++)
			foresight->above_bytes[i] = tier_level_above_bytes(set, i);
	}
	for (int i = 0; i < set->ntiers; i++)
	{
		double		bytes = foresight->above_bytes[i];

		for (int t = 0; t < set->ntablespaces; t++)
			if (set->tablespaces[t].tier == i)
				bytes += tier_foresight_flow(foresight, set->tablespaces[t].oid);
		if (bytes > 0.0)
			above = bms_add_member(above, i);
	}
	return above;
}

TierMoveStart
tier_foresee_start(const TierForesight *foresight, const TierRelationInfo *info,
				   const TierMoveRequest *request, bool by_worker)
{
	TierPlannedMove planned = {
		.from_tablespace_oid = info->tablespace_oid,
		.to_tablespace_oid = request->tablespace_oid,
		.bytes = (double) tier_relation_disk_bytes(info),
		.by_worker = by_worker,
		.is_optional = request->is_optional,
		.pressing = request->pressing,
		.earlier_bytes = foresight->bytes,
		.earlier_from_bytes =
		earlier_tier_bytes(foresight, info->tablespace_oid),
		.earlier_s = foresight->seconds
	};

	return tier_gate_ask(foresight->set, &planned);
}

static void
announce(const TierMoveRequest *request, const TierRelationInfo *info, int64 size_bytes)
{
	if (info->tablespace_oid == request->tablespace_oid)
		ereport(NOTICE,
				(errmsg("would move the TOAST table of %s (%s) to tablespace \"%s\"", info->name,
						tier_size_text(size_bytes),
						tier_tablespace_name(request->tablespace_oid))));
	else
		ereport(NOTICE,
				(errmsg("would move %s %s (%s) from tablespace \"%s\" to tablespace \"%s\"",
						tier_relation_kind_name(info->kind), info->name,
						tier_size_text(size_bytes), tier_tablespace_name(info->tablespace_oid),
						tier_tablespace_name(request->tablespace_oid)),
				 tier_relation_why_not_online(info) == NULL ? 0 :
				 errdetail("It would be locked for the whole copy.")));
}

bool
tier_foresee_prospect(TierForesight *foresight, const TierMoveRequest *request,
					  const TierPins *pins, bool by_worker, bool ignore_windows,
					  TierProspect *prospect)
{
	TierAdmission admission;

	*prospect = (TierProspect)
	{
		.start =
		{
			.may_begin = true,.seconds = NAN
		}
	};
	if (!tier_relation_lookup(request->relation_oid, &prospect->info))
		return false;
	prospect->bytes = tier_relation_disk_bytes(&prospect->info);
	if (!ignore_windows)
		prospect->start = tier_foresee_start(foresight, &prospect->info, request, by_worker);
	tier_foresight_ask(foresight, request, &prospect->info, pins, prospect->bytes, &admission);
	admission.where.yields_to_standbys = !ignore_windows;
	prospect->obstacle = obstacle_to(foresight, request, &admission);
	if (prospect->obstacle.message != NULL)
		return true;
	prospect->begins = prospect->start.may_begin;
	prospect->comes = prospect->begins || prospect->start.at != 0 ||
		prospect->start.under_pressure;
	if (prospect->begins)
	{
		tier_foresight_count(foresight, &admission);
		foresight->seconds += isnan(prospect->start.seconds) ? 0.0 : prospect->start.seconds;
	}
	return true;
}

void
tier_foresee(TierForesight *foresight, const TierMoveRequest *request, const TierPins *pins,
			 TierMoveCounts *counts)
{
	TierProspect prospect;

	if (!tier_foresee_prospect(foresight, request, pins, false, true, &prospect))
		return;
	if (prospect.obstacle.message != NULL)
	{
		tier_obstacle_warn(&prospect.obstacle, prospect.info.name);
		counts->not_moved++;
		return;
	}
	announce(request, &prospect.info, prospect.bytes);
	counts->moved++;
	counts->moved_bytes += prospect.bytes;
}

void
tier_foresee_report(const TierMoveCounts *counts, const char *detail)
{
	ereport(NOTICE,
			(errmsg("dry run: relations that would be moved: %d (%s), not moved: %d",
					counts->moved, tier_size_text(counts->moved_bytes), counts->not_moved),
			 detail == NULL ? 0 : errdetail_internal("%s", detail),
			 !tier_throttle_is_paused() ? 0 :
			 errhint("Moves are paused: they would wait for tiered_storage.resume().")));
}
