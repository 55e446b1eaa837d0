/*-------------------------------------------------------------------------
 *
 * act/preflight_sql.c
 *		preflight(): the relations of a call, and where they would go.
 *
 * Runs in the session that asks, in any transaction, also on a standby and while others
 * have the relations locked.  Whether a move would be refused is asked of the mover's own
 * checks, for each relation of the call in its turn; a row sums up what one of the checks
 * said of all of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/act/call.h"
#include "src/act/foresee.h"
#include "src/act/preflight_rows.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/decide/advice.h"
#include "src/move/preflight.h"
#include "src/server/database_files.h"
#include "src/storage/device.h"

PG_FUNCTION_INFO_V1(tier_preflight_sql);

/* What one check said of all relations. */
typedef struct Tally
{
	int			blocked;
	TierObstacle first;			/* of these */
	char	   *name;			/* whose that is */
} Tally;

/* A device beneath a tablespace. */
typedef struct Beneath
{
	Oid			tablespace_oid;
	const TierDevice *device;
} Beneath;

typedef struct Survey
{
	const TierMoveCall *call;
	TierForesight *foresight;
	MemoryContext context;		/* of what outlives one relation */
	TierResultRow *row;
	Tally		tallies[TIER_CHECKS];
	TierCargo	cargo;
	Oid		   *moved;			/* relations that would be moved */

	/* Of these. */
	int			on_same_device;
	int			in_extensions;
	char	   *extension;		/* of the first */
	char	   *extension_name; /* of that relation */
	int			split;			/* whose TOAST tables are elsewhere than they */
	TierRelationInfo split_info;	/* of the first */
	int			without_create; /* their owners may not create there */
	TierRelationInfo without_create_info;
	Oid			without_create_in;
	int			used;			/* by others now */
	TierHolder	user;			/* who has used one of them for the longest
								 * time */
	char	   *user_of;
	bool		has_user;
	int			used_there;		/* for long, on a standby */
	TierStandbyUser there;		/* of the first */
	char	   *there_of;

	/* The one that needs most. */
	TierSpace	space;
	Oid			space_oid;		/* 0: none looked for room */
	double		space_bytes;
	double		logged_bytes;	/* of the largest that goes into the WAL */

	double	   *tier_bytes;		/* by tier: with all that comes; negative:
								 * nothing comes, or it has no capacity of its
								 * own */
	List	   *devices;		/* Beneath */
} Survey;

void
tier_preflight_put(TierResultRow *row, const char *check, TierPreflightVerdict verdict,
				   const char *finding, const char *remedy)
{
	static const char *const verdicts[] = {
		[TIER_PREFLIGHT_OK] = "ok",
		[TIER_PREFLIGHT_WARNING] = "warning",
		[TIER_PREFLIGHT_BLOCKS] = "blocks",
	};

	tier_row_clear(row);
	tier_row_text(row, 0, check);
	tier_row_text(row, 1, verdicts[verdict]);
	tier_row_text(row, 2, finding);
	if (verdict != TIER_PREFLIGHT_OK)
		tier_row_text(row, 3, remedy);
	tier_row_put(row);
}

static char *
place_name(Oid tablespace_oid)
{
	char	   *name = get_tablespace_name(tablespace_oid);

	return name == NULL ? "?" : name;
}

/* ---------------------------------------------------------------------
 * Looking at one relation
 * ---------------------------------------------------------------------
 */

static void
note_obstacle(Survey *survey, TierCheck check, const TierObstacle *obstacle, const char *name)
{
	Tally	   *tally = &survey->tallies[check];
	MemoryContext old_context;

	if (tally->blocked++ > 0)
		return;
	old_context = MemoryContextSwitchTo(survey->context);
	tally->first.message = pstrdup(obstacle->message);
	tally->first.detail = obstacle->detail == NULL ? NULL : pstrdup(obstacle->detail);
	tally->first.hint = obstacle->hint == NULL ? NULL : pstrdup(obstacle->hint);
	tally->name = pstrdup(name);
	MemoryContextSwitchTo(old_context);
}

/* The device of a tablespace, also of one that belongs to no tier. */
static const TierDevice *
device_of(Survey *survey, Oid tablespace_oid)
{
	const TierTablespace *tablespace = tier_set_tablespace(survey->call->set, tablespace_oid);
	MemoryContext old_context;
	Beneath    *beneath;
	ListCell   *cell;

	if (tablespace != NULL)
		return tablespace->device;
	foreach(cell, survey->devices)
		if (((Beneath *) lfirst(cell))->tablespace_oid == tablespace_oid)
		return ((Beneath *) lfirst(cell))->device;
	old_context = MemoryContextSwitchTo(survey->context);
	beneath = palloc(sizeof(Beneath));
	beneath->tablespace_oid = tablespace_oid;
	beneath->device = tier_device_lookup(tablespace_oid, "");
	survey->devices = lappend(survey->devices, beneath);
	MemoryContextSwitchTo(old_context);
	return beneath->device;
}

static void
add_to_route(Survey *survey, const TierRelationInfo *info, Oid to_oid, int64 size_bytes)
{
	MemoryContext old_context;
	TierRoute  *route = NULL;
	ListCell   *cell;

	foreach(cell, survey->cargo.routes)
	{
		TierRoute  *known = lfirst(cell);

		if (known->from_tablespace_oid == info->tablespace_oid &&
			known->to_tablespace_oid == to_oid)
			route = known;
	}
	if (route == NULL)
	{
		old_context = MemoryContextSwitchTo(survey->context);
		route = palloc0(sizeof(TierRoute));
		route->from_tablespace_oid = info->tablespace_oid;
		route->to_tablespace_oid = to_oid;
		survey->cargo.routes = lappend(survey->cargo.routes, route);
		MemoryContextSwitchTo(old_context);
	}
	route->moves++;
	route->bytes += size_bytes;
	route->largest_bytes = Max(route->largest_bytes, size_bytes);
	if (info->persistence == RELPERSISTENCE_PERMANENT)
		survey->cargo.wal_bytes += tier_space_wal_bytes(size_bytes);
	if (tier_relation_why_not_online(info) != NULL)
	{
		route->locked_moves++;
		route->largest_locked_bytes = Max(route->largest_locked_bytes, size_bytes);
	}
}

/* Of those who use it now, whoever has done so for the longest time. */
static void
note_users(Survey *survey, const TierRelationInfo *info)
{
	int			n;
	TierHolder *oldest = tier_preflight_oldest_user(info->relation_oid, &n);

	if (oldest == NULL)
		return;
	survey->used++;
	if (survey->has_user && survey->user.since <= oldest->since)
		return;
	survey->has_user = true;
	survey->user = *oldest;
	survey->user.application = MemoryContextStrdup(survey->context, oldest->application);
	survey->user_of = MemoryContextStrdup(survey->context, info->name);
}

static void
note_standby_user(Survey *survey, TierAdmission *admission)
{
	const TierStandbyUser *user = tier_preflight_standby_user(admission);

	if (user == NULL || survey->used_there++ > 0)
		return;
	survey->there = *user;
	survey->there_of = MemoryContextStrdup(survey->context, admission->info->name);
}

static void
note_extension(Survey *survey, const TierRelationInfo *info)
{
	Oid			extension_oid = getExtensionOfObject(RelationRelationId, info->relation_oid);
	char	   *name = OidIsValid(extension_oid) ? get_extension_name(extension_oid) : NULL;

	if (name == NULL || survey->in_extensions++ > 0)
		return;
	survey->extension = MemoryContextStrdup(survey->context, name);
	survey->extension_name = MemoryContextStrdup(survey->context, info->name);
}

/* Where only its TOAST table has to follow, nobody needs to create anything new. */
static void
note_owner(Survey *survey, const TierRelationInfo *info, Oid to_oid)
{
	if (tier_relation_may_create(info->owner_oid, to_oid) || survey->without_create++ > 0)
		return;
	survey->without_create_info = *info;
	survey->without_create_info.name = MemoryContextStrdup(survey->context, info->name);
	survey->without_create_in = to_oid;
}

/* A state that PostgreSQL never makes, and that pg_upgrade --swap loses. */
static void
note_split(Survey *survey, const TierRelationInfo *info)
{
	if (tier_relation_parts_elsewhere(info->relation_oid, info->tablespace_oid) == NIL ||
		survey->split++ > 0)
		return;
	survey->split_info = *info;
	survey->split_info.name = MemoryContextStrdup(survey->context, info->name);
}

/* Which checks are in the way of one relation. */
typedef bool Blocked[TIER_CHECKS];

/*
 * The checks that the mover will make in its turn, but those that have said so already; what
 * is blocked is not moved.
 */
static void
survey_move(Survey *survey, const TierRelationInfo *info, const TierMoveRequest *request,
			bool *blocked)
{
	int64		size_bytes = tier_relation_disk_bytes(info);
	int			to = tier_set_tier_of_tablespace(survey->call->set, request->tablespace_oid);
	TierAdmission admission;
	bool		is_blocked = false;

	tier_foresight_ask(survey->foresight, request, info, survey->call->pins, size_bytes,
					   &admission);
	for (int check = 0; check < TIER_CHECKS; check++)
	{
		TierObstacle obstacle = tier_preflight_check(&admission, (TierCheck) check);

		if (obstacle.message != NULL && !blocked[check])
			note_obstacle(survey, (TierCheck) check, &obstacle, info->name);
		is_blocked |= blocked[check] || obstacle.message != NULL;
	}
	if (!OidIsValid(survey->space_oid) || size_bytes > survey->space_bytes)
	{
		survey->space = *admission.space;
		survey->space_oid = request->tablespace_oid;
		survey->space_bytes = size_bytes;
	}
	if (info->persistence == RELPERSISTENCE_PERMANENT)
		survey->logged_bytes = Max(survey->logged_bytes, (double) size_bytes);
	if (to >= 0 && admission.tier_bytes >= 0)
		survey->tier_bytes[to] = Max(survey->tier_bytes[to], admission.tier_bytes + size_bytes);
	if (tier_device_is_shared(device_of(survey, info->tablespace_oid),
							  device_of(survey, request->tablespace_oid)))
		survey->on_same_device++;
	note_users(survey, info);
	note_standby_user(survey, &admission);
	note_extension(survey, info);
	note_owner(survey, info, request->tablespace_oid);
	add_to_route(survey, info, request->tablespace_oid, size_bytes);
	survey->moved[survey->cargo.moves++] = info->relation_oid;
	survey->cargo.bytes += size_bytes;
	if (!is_blocked)
		tier_foresight_count(survey->foresight, &admission);
}

static void
survey_relation(Survey *survey, Oid relation_oid)
{
	const TierMoveCall *call = survey->call;
	Blocked		blocked = {false};
	TierRelationInfo info;
	TierMoveRequest request;

	if (!tier_relation_lookup(relation_oid, &info))
		return;
	survey->cargo.relations++;
	for (int check = 0; check <= TIER_CALL_LAST_CHECK; check++)
	{
		TierObstacle obstacle = tier_call_refusal_of(call, &info, (TierCheck) check);

		blocked[check] = obstacle.message != NULL;
		if (blocked[check])
			note_obstacle(survey, (TierCheck) check, &obstacle, info.name);

		/* Of what nobody can move there is nothing more to ask. */
		if (blocked[check] && check == TIER_CHECK_OBJECT)
			return;
	}
	note_split(survey, &info);
	request = tier_call_request_after(call, &info, survey->foresight);
	if (tier_move_is_needed(relation_oid, request.tablespace_oid))
		survey_move(survey, &info, &request, blocked);
}

static void
survey_call(Survey *survey)
{
	MemoryContext each = AllocSetContextCreate(survey->context, "tiered_storage preflight",
											   ALLOCSET_DEFAULT_SIZES);
	TierObstacle obstacle = tier_call_refusal(survey->call);
	ListCell   *cell;

	if (obstacle.message != NULL)
		note_obstacle(survey, TIER_CHECK_RIGHTS, &obstacle, survey->call->info.name);
	foreach(cell, survey->call->relations)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(each);
		survey_relation(survey, lfirst_oid(cell));
		MemoryContextSwitchTo(survey->context);
		MemoryContextReset(each);
	}
	MemoryContextDelete(each);
}

/* ---------------------------------------------------------------------
 * Rows
 * ---------------------------------------------------------------------
 */

/*
 * Behind what is true of so many of them, of which one is named.  The partitioned table that is
 * in the call is none of them, and is counted if it is refused, too.
 */
static char *
count_text(int n, int of)
{
	return n <= 1 ? "" : psprintf(" (%d of %d)", Min(n, of), of);
}

/* "It is so." goes on as "; it is so". */
static char *
detail_text(const char *detail)
{
	return detail == NULL ? "" :
		psprintf("; %c%.*s", pg_tolower((unsigned char) detail[0]), (int) strlen(detail) - 2,
				 detail + 1);
}

/*
 * True, with the row, if the check is in the way of some relation.  In the words with which
 * the move will be refused; what could be about any relation says which.
 */
static bool
put_blocked(Survey *survey, const char *name, TierCheck check)
{
	const Tally *tally = &survey->tallies[check];
	bool		names = check > TIER_CHECK_PIN && survey->cargo.relations > 1;

	if (tally->blocked == 0)
		return false;
	tier_preflight_put(survey->row, name, TIER_PREFLIGHT_BLOCKS,
					   psprintf("%s%s%s%s%s", names ? tally->name : "", names ? ": " : "",
								tally->first.message, detail_text(tally->first.detail),
								count_text(tally->blocked, survey->cargo.relations)),
					   tally->first.hint);
	return true;
}

static void
put_server(Survey *survey)
{
	if (RecoveryInProgress())
		tier_preflight_put(survey->row, "server", TIER_PREFLIGHT_BLOCKS,
						   "the server is a standby; the primary moves, and this server follows",
						   "Call it on the primary, which knows its disks and its load.");
	else if (DefaultXactReadOnly)
		tier_preflight_put(survey->row, "server", TIER_PREFLIGHT_BLOCKS,
						   "default_transaction_read_only is on in this session",
						   "SET default_transaction_read_only = off;");
	else
		tier_preflight_put(survey->row, "server", TIER_PREFLIGHT_OK,
						   "it is a primary that can be written to", NULL);
}

/* What is meant, in words. */
static char *
cargo_text(const Survey *survey)
{
	const TierRelationInfo *info = &survey->call->info;
	int			n = survey->cargo.relations;
	char	   *size = tier_size_text(survey->cargo.bytes);

	if (n <= 1 && info->kind != RELKIND_PARTITIONED_TABLE)
		return psprintf("%s %s, %s", tier_relation_kind_name(info->kind), info->name, size);
	return psprintf("%s %s: %d %s, %s to move", tier_relation_kind_name(info->kind), info->name, n,
					n == 1 ? "relation" : "relations", size);
}

static void
put_relation(Survey *survey)
{
	if (put_blocked(survey, "relation", TIER_CHECK_OBJECT))
		return;
	if (survey->split > 0)
	{
		const TierRelationInfo *info = &survey->split_info;

		tier_preflight_put(survey->row, "relation", TIER_PREFLIGHT_WARNING,
						   psprintf("the TOAST table of %s is in another tablespace than the "
									"table: pg_upgrade --swap would lose it%s", info->name,
									count_text(survey->split, survey->cargo.relations)),
						   psprintf("CALL tiered_storage.move_relation(%s, %s);",
									quote_literal_cstr(info->name),
									quote_literal_cstr(place_name(info->tablespace_oid))));
	}
	else if (survey->in_extensions > 0)
		tier_preflight_put(survey->row, "relation", TIER_PREFLIGHT_WARNING,
						   psprintf("%s belongs to extension \"%s\": "
									"no dump contains where it is%s",
									survey->extension_name, survey->extension,
									count_text(survey->in_extensions, survey->cargo.relations)),
						   "Move it again after a restore.");
	else
		tier_preflight_put(survey->row, "relation", TIER_PREFLIGHT_OK, cargo_text(survey), NULL);
}

static void
put_rights(Survey *survey)
{
	const TierRelationInfo *info = &survey->without_create_info;

	if (put_blocked(survey, "rights", TIER_CHECK_RIGHTS))
		return;
	if (survey->without_create > 0)
		tier_preflight_put(survey->row, "rights", TIER_PREFLIGHT_WARNING,
						   psprintf("its owner %s may not create in tablespace \"%s\", "
									"so nothing is moved there as advised%s",
									quote_identifier(GetUserNameFromId(info->owner_oid, false)),
									place_name(survey->without_create_in),
									count_text(survey->without_create, survey->cargo.relations)),
						   tier_relation_grant_hint(info->owner_oid, survey->without_create_in));
	else
		tier_preflight_put(survey->row, "rights", TIER_PREFLIGHT_OK,
						   psprintf("role %s may move it there",
									quote_identifier(GetUserNameFromId(GetUserId(), false))),
						   NULL);
}

static void
put_place(Survey *survey)
{
	const TierMoveCall *call = survey->call;
	const TierRoute *route;
	const TierDevice *device;

	if (survey->cargo.moves == 0)
	{
		tier_preflight_put(survey->row, "place", TIER_PREFLIGHT_WARNING,
						   psprintf("nothing would be moved: %s", tier_call_nothing_text(call)),
						   "Name another tier or tablespace.");
		return;
	}
	route = linitial(survey->cargo.routes);
	device = device_of(survey, route->to_tablespace_oid);
	if (survey->on_same_device > 0)
		tier_preflight_put(survey->row, "place", TIER_PREFLIGHT_WARNING,
						   psprintf("tablespace \"%s\" is on the same device%s%s: "
									"nothing gets faster%s",
									place_name(route->to_tablespace_oid),
									device->device == NULL ? "" : ", ",
									device->device == NULL ? "" : device->device,
									count_text(survey->on_same_device, survey->cargo.relations)),
						   "See the view tiered_storage.devices.");
	else
		tier_preflight_put(survey->row, "place", TIER_PREFLIGHT_OK,
						   psprintf("from tablespace \"%s\" to tablespace \"%s\"%s",
									place_name(route->from_tablespace_oid),
									place_name(route->to_tablespace_oid),
									list_length(survey->cargo.routes) == 1 ? "" : ", and others"),
						   NULL);
}

static void
put_method(Survey *survey)
{
	double		largest = 0;
	int			locked = 0;
	ListCell   *cell;

	if (put_blocked(survey, "method", TIER_CHECK_METHOD))
		return;
	foreach(cell, survey->cargo.routes)
	{
		const TierRoute *route = lfirst(cell);

		locked += route->locked_moves;
		largest = Max(largest, route->largest_locked_bytes);
	}
	if (locked > 0)
		tier_preflight_put(survey->row, "method", TIER_PREFLIGHT_WARNING,
						   psprintf("%d of %d relations, of at most %s, would be locked "
									"for the whole copy", locked, survey->cargo.relations,
									tier_size_text(largest)),
						   "Leave allow_lock out to move only what can be moved online.");
	else
		tier_preflight_put(survey->row, "method", TIER_PREFLIGHT_OK,
						   "online: it stays in use while it is copied", NULL);
}

/* True, with the row, if it is asked on a server whose disks are not those that count. */
static bool
put_unknown(Survey *survey, const char *name)
{
	if (!RecoveryInProgress())
		return false;
	tier_preflight_put(survey->row, name, TIER_PREFLIGHT_WARNING,
					   "not known: a standby does not see it", "Ask the primary.");
	return true;
}

static void
put_directory(Survey *survey)
{
	const TierDevice *device = device_of(survey, survey->call->destination[0].tablespace_oid);

	if (put_unknown(survey, "directory") ||
		put_blocked(survey, "directory", TIER_CHECK_DIRECTORY))
		return;
	if (!device->exists || !device->writable)
		tier_preflight_put(survey->row, "directory", TIER_PREFLIGHT_WARNING,
						   psprintf("directory \"%s\" is %s", device->path,
									device->exists ? "not writable" : "missing"),
						   "Is its file system mounted, and mounted read-write, and may the "
						   "server look into it?");
	else
		tier_preflight_put(survey->row, "directory", TIER_PREFLIGHT_OK,
						   "the directory of the tablespace is there and can be written to", NULL);
}

static char *
others_text(double bytes)
{
	return bytes > 0 ?
		psprintf(", %s of them for other moves", tier_size_text(bytes)) : "";
}

static void
put_space(Survey *survey)
{
	const TierSpace *space = &survey->space;
	double		reserve_bytes = tier_preflight_reserve(survey->call->set, survey->space_oid);
	TierSpaceNeed need;

	if (put_unknown(survey, "space") || put_blocked(survey, "space", TIER_CHECK_SPACE))
		return;
	if (!OidIsValid(survey->space_oid))
		tier_preflight_put(survey->row, "space", TIER_PREFLIGHT_OK, "none is needed", NULL);
	else if (!space->target.known)
		tier_preflight_put(survey->row, "space", TIER_PREFLIGHT_WARNING,
						   psprintf("not known: the file system of tablespace \"%s\" "
									"does not answer", place_name(survey->space_oid)),
						   "Is it mounted?");
	else
	{
		need = tier_space_need(space, reserve_bytes, survey->space_bytes,
							   survey->logged_bytes);
		tier_preflight_put(survey->row, "space", TIER_PREFLIGHT_OK,
						   psprintf("%s are needed at most%s, %s are free%s, %s stay reserved",
									tier_size_text(need.bytes),
									space->together ? " (with WAL)" : "",
									tier_size_text(Max(space->target.free_bytes -
													   space->earlier_bytes, 0)),
									others_text(space->others_there_bytes),
									tier_size_text(need.reserve_bytes)),
						   NULL);
	}
}

/*
 * Of the capacity that somebody has given the tier, what databases will have there; negative:
 * nobody has.
 */
static double
declared_bytes(const Survey *survey, int tier)
{
	const TierSet *set = survey->call->set;
	double		bytes = 0;

	if (survey->tier_bytes[tier] >= 0)
		return survey->tier_bytes[tier];
	for (int i = 0; i < set->ntablespaces; i++)
	{
		if (set->tablespaces[i].tier != tier)
			continue;
		if (!tier_preflight_has_capacity(set, set->tablespaces[i].oid))
			return -1;
		bytes += tier_database_files_of_all(set->tablespaces[i].oid);
	}
	return bytes;
}

/*
 * How full the tier that most goes to will be: of the capacity that somebody has given it,
 * else of its file systems whatever is there.
 */
static double
fullness(const Survey *survey, int to)
{
	const TierSet *set = survey->call->set;
	const TierTier *tier = &set->tiers[to];
	double		used = tier->device_bytes - tier->free_bytes;
	double		declared;
	ListCell   *cell;

	if (tier->capacity_bytes <= 0)
		return NAN;
	declared = declared_bytes(survey, to);
	if (declared >= 0)
		return tier_cost_stored_bytes(declared, &tier->profile) / tier->capacity_bytes;
	if (tier->device_bytes <= 0 || tier->free_bytes < 0)
		return NAN;
	foreach(cell, survey->cargo.routes)
	{
		const TierRoute *route = lfirst(cell);
		double		bytes = tier_cost_stored_bytes(route->bytes, &tier->profile);

		if (&set->tiers[tier_set_tier_of_tablespace(set, route->to_tablespace_oid)] == tier)
			used += bytes;
		if (tier_space_shares_room(&survey->space, route->from_tablespace_oid))
			used -= bytes;
	}
	return used / tier->device_bytes;
}

static void
put_capacity(Survey *survey)
{
	const TierSet *set = survey->call->set;
	int			to = tier_set_tier_of_tablespace(set, OidIsValid(survey->space_oid) ?
												 survey->space_oid :
												 survey->call->destination[0].tablespace_oid);
	double		share;
	char	   *finding;

	if (put_unknown(survey, "capacity") || put_blocked(survey, "capacity", TIER_CHECK_CAPACITY))
		return;
	if (to < 0)
	{
		tier_preflight_put(survey->row, "capacity", TIER_PREFLIGHT_OK,
						   "the tablespace belongs to no tier, so no capacity limits it", NULL);
		return;
	}
	share = fullness(survey, to);
	if (isnan(share))
	{
		tier_preflight_put(survey->row, "capacity", TIER_PREFLIGHT_WARNING,
						   psprintf("not known: the capacity of tier \"%s\"",
									NameStr(set->tiers[to].name)),
						   "Set it: SELECT tiered_storage.alter_tier(..., "
						   "device => '{\"capacity_bytes\": ...}')");
		return;
	}
	finding = psprintf("tier \"%s\" would be %.0f %% full; its high_watermark is %.0f %%",
					   NameStr(set->tiers[to].name), Max(share, 0) * 100,
					   set->tiers[to].high_watermark * 100);
	tier_preflight_put(survey->row, "capacity",
					   share > set->tiers[to].high_watermark ? TIER_PREFLIGHT_WARNING :
					   TIER_PREFLIGHT_OK, finding,
					   "Move something else away, or give it more room.");
}

static void
put_wal(Survey *survey)
{
	const TierSpace *space = &survey->space;
	TierSpaceNeed need;

	if (put_unknown(survey, "wal") || put_blocked(survey, "wal", TIER_CHECK_WAL_SPACE))
		return;
	if (survey->cargo.wal_bytes <= 0)
	{
		tier_preflight_put(survey->row, "wal", TIER_PREFLIGHT_OK,
						   OidIsValid(survey->space_oid) ?
						   "what is copied is not logged" : "no WAL is written", NULL);
		return;
	}
	if (!space->wal.known)
	{
		tier_preflight_put(survey->row, "wal", TIER_PREFLIGHT_WARNING,
						   "not known: the file system of pg_wal does not answer",
						   "Look at the server's log.");
		return;
	}
	need = tier_space_need(space, 0, survey->space_bytes, survey->logged_bytes);

	/* Each move is let in by what it writes itself; all that is kept adds up. */
	if (tier_space_wal_is_retained() &&
		space->wal.free_bytes - survey->cargo.wal_bytes < need.wal_reserve_bytes)
		tier_preflight_put(survey->row, "wal", TIER_PREFLIGHT_WARNING,
						   psprintf("%s of WAL in all, if nobody reads or archives it meanwhile; "
									"%s are free", tier_size_text(survey->cargo.wal_bytes),
									tier_size_text(space->wal.free_bytes)),
						   "Move less at once, or see to it that WAL is read and archived.");
	else
		tier_preflight_put(survey->row, "wal", TIER_PREFLIGHT_OK,
						   psprintf("%s of WAL at once%s, %s are free, %s stay reserved",
									tier_size_text(need.wal_bytes),
									others_text(need.wal_bytes - need.own_wal_bytes),
									tier_size_text(space->wal.free_bytes),
									tier_size_text(need.wal_reserve_bytes)),
						   NULL);
}

/* Since when the user has it, for whom pg_stat_activity tells that. */
static char *
open_text(const TierHolder *user)
{
	double		open_s = Max((GetCurrentTimestamp() - user->since) / 1e6, 0);

	return !tier_preflight_may_know_user(user, GetUserId()) ? "" :
		psprintf(", open for %.0f s", open_s);
}

/*
 * A move is replayed by every standby, into the directory that the tablespace has there.  The
 * mover refuses by what the last pull has told; no row where there is no standby.
 */
static void
put_standby_space(Survey *survey)
{
	TierCatalogScope scope;
	ListCell   *cell;
	int			known = INT_MAX;
	int			n = 0;

	if (put_blocked(survey, "standby_space", TIER_CHECK_STANDBYS) || RecoveryInProgress())
		return;
	tier_catalog_enter(&scope);
	foreach(cell, survey->cargo.routes)
	{
		const TierRoute *route = lfirst(cell);
		int			known_there;

		if (route->moves == 0)
			continue;
		n = tier_catalog_count_standbys(route->to_tablespace_oid, &known_there);
		known = Min(known, known_there);
	}
	tier_catalog_leave(&scope);
	if (n > known)
		tier_preflight_put(survey->row, "standby_space", TIER_PREFLIGHT_WARNING,
						   psprintf("not known for %d of %d standbys: the last pull failed, or is "
									"older than a day", n - known, n),
						   "See the view tiered_storage.standbys.");
	else if (n > 0)
		tier_preflight_put(survey->row, "standby_space", TIER_PREFLIGHT_OK,
						   psprintf("%d of %d standbys have room, as of the last pull", known, n),
						   NULL);
}

/*
 * The swap is replayed like an ALTER TABLE: it waits for who uses the relation there, and cancels
 * him.  No row where there is no standby.
 */
static void
put_standby_users(Survey *survey)
{
	const TierStandbyUser *there = &survey->there;
	TierCatalogScope scope;
	int			known = 0;
	int			n;

	if (RecoveryInProgress() || survey->cargo.moves == 0)
		return;
	if (survey->used_there > 0)
	{
		tier_preflight_put(survey->row, "standby_users", TIER_PREFLIGHT_WARNING,
						   psprintf("%s: %s%s%s", survey->there_of,
									tier_preflight_standby_use_text(there, GetUserId()),
									detail_text(tier_preflight_standby_conflict_text(there)),
									count_text(survey->used_there, survey->cargo.relations)),
						   "Wait until it has ended; the worker and CALL migrate() do.");
		return;
	}
	tier_catalog_enter(&scope);
	n = tier_catalog_standbys_telling(&known);
	tier_catalog_leave(&scope);
	if (n > known)
		tier_preflight_put(survey->row, "standby_users", TIER_PREFLIGHT_WARNING,
						   psprintf("not known for %d of %d standbys: the last pull failed, is "
									"older than 10 minutes, or its role is no member of "
									"pg_monitor", n - known, n),
						   "See the view tiered_storage.standbys.");
	else if (n > 0)
		tier_preflight_put(survey->row, "standby_users", TIER_PREFLIGHT_OK,
						   psprintf("nobody used it for long on %d of %d standbys, as of the last "
									"pull", known, n),
						   NULL);
}

static void
put_locks(Survey *survey)
{
	if (put_unknown(survey, "locks") || put_blocked(survey, "locks", TIER_CHECK_USERS))
		return;
	if (!survey->has_user)
	{
		tier_preflight_put(survey->row, "locks", TIER_PREFLIGHT_OK, "nobody uses it now", NULL);
		return;
	}
	tier_preflight_put(survey->row, "locks", TIER_PREFLIGHT_WARNING,
					   psprintf("%s is in use by %s%s%s", survey->user_of,
								tier_preflight_user_text(&survey->user, GetUserId()),
								open_text(&survey->user),
								count_text(survey->used, survey->cargo.relations)),
					   survey->user.pid == 0 ?
					   "COMMIT PREPARED or ROLLBACK PREPARED ends it." :
					   "The move waits for it at its end, and gives up after some attempts.");
}

/* As the advice has it: what was moved lately stays where it is. */
static void
put_cooldown(Survey *survey)
{
	double		cooldown_s = tier_cooldown_min * 60.0;
	TimestampTz now = tier_clock_now();
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	TimestampTz placed_at;
	Oid			relation_oid;
	bool		found;

	tier_catalog_enter(&scope);
	found = tier_catalog_last_placed(survey->moved, survey->cargo.moves,
									 now - (TimestampTz) (cooldown_s * USECS_PER_SEC),
									 &relation_oid, &placed_at);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (found && tier_relation_lookup(relation_oid, &info))
		tier_preflight_put(survey->row, "cooldown", TIER_PREFLIGHT_WARNING,
						   psprintf("%s was moved %s ago: advice leaves it there for %s",
									info.name,
									tier_advice_duration(tier_seconds_between(placed_at, now)),
									tier_advice_duration(cooldown_s -
														 tier_seconds_between(placed_at, now))),
						   "A CALL moves it all the same.");
	else
		tier_preflight_put(survey->row, "cooldown", TIER_PREFLIGHT_OK,
						   tier_cooldown_min == 0 ? "tiered_storage.cooldown is 0" :
						   "it was not moved lately", NULL);
}

static void
put_pin(Survey *survey)
{
	if (!put_blocked(survey, "pin", TIER_CHECK_PIN))
		tier_preflight_put(survey->row, "pin", TIER_PREFLIGHT_OK, "no pin is against it", NULL);
}

Datum
tier_preflight_sql(PG_FUNCTION_ARGS)
{
	TierMoveCall call;
	TierResultRow row;
	Survey		survey = {0};

	tier_result_start(fcinfo, &row);
	tier_call_read(fcinfo, &call);
	survey.call = &call;
	survey.row = &row;
	survey.context = CurrentMemoryContext;
	survey.foresight = tier_foresight_create(call.set);
	survey.moved = palloc_extended(sizeof(Oid) * Max(list_length(call.relations), 1),
								   MCXT_ALLOC_HUGE);
	survey.tier_bytes = palloc(sizeof(double) * Max(survey.call->set->ntiers, 1));
	for (int i = 0; i < survey.call->set->ntiers; i++)
		survey.tier_bytes[i] = -1;
	survey_call(&survey);

	put_server(&survey);
	put_relation(&survey);

	/* Of what cannot be moved by anybody there is nothing more to say. */
	if (survey.tallies[TIER_CHECK_OBJECT].blocked > 0)
		return (Datum) 0;
	put_rights(&survey);
	put_pin(&survey);
	put_place(&survey);
	put_method(&survey);
	put_directory(&survey);
	put_space(&survey);
	put_capacity(&survey);
	put_wal(&survey);
	put_locks(&survey);
	put_cooldown(&survey);
	tier_preflight_server_rows(&row, &call, &survey.cargo);
	put_standby_space(&survey);
	put_standby_users(&survey);
	tier_preflight_forecast_rows(&row, &call, &survey.cargo);
	return (Datum) 0;
}
