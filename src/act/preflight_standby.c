/*-------------------------------------------------------------------------
 *
 * act/preflight_standby.c
 *		preflight(): the same file on each standby.
 *
 * A move is replayed by all standbys, into the directory that the tablespace has there; one
 * whose disk is full, or that has no such directory, replays nothing any more.  The mover asks
 * none of them, and is refused by what they have told at the last pull (move/preflight.c);
 * these rows are what they say now, and warn.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "src/compat.h"
#include "src/act/preflight_rows.h"
#include "src/catalog/tables.h"

static const char check_name[] = "standby_space";

/* Where something comes to; returns how many. */
static int
find_destinations(const TierCargo *cargo, Oid *tablespaces)
{
	ListCell   *cell;
	int			n = 0;

	foreach(cell, cargo->routes)
	{
		const TierRoute *route = lfirst(cell);
		bool		known = route->moves == 0;

		for (int i = 0; i < n && !known; i++)
			known = tablespaces[i] == route->to_tablespace_oid;
		if (!known)
			tablespaces[n++] = route->to_tablespace_oid;
	}
	return n;
}

/* Bytes that come to a tablespace, while the old files are still there. */
static double
arriving_bytes(const TierCargo *cargo, Oid tablespace_oid)
{
	double		bytes = 0;
	ListCell   *cell;

	foreach(cell, cargo->routes)
	{
		const TierRoute *route = lfirst(cell);

		if (route->to_tablespace_oid == tablespace_oid)
			bytes += route->bytes;
	}
	return bytes;
}

static void
put_room(TierResultRow *row, const TierStandbyRoom *room, const TierSet *set, double bytes)
{
	int			tier = tier_set_tier_of_tablespace(set, room->tablespace_oid);
	double		reserve_bytes = tier < 0 || room->total_bytes < 0 ? 0.0 :
	set->tiers[tier].reserve_fraction * room->total_bytes;

	if (!room->path_exists || !room->writable)
		tier_preflight_put(row, check_name, TIER_PREFLIGHT_WARNING,
						   psprintf("standby \"%s\" %s \"%s\": it would replay nothing any more",
									room->standby_name, room->path_exists ?
									"cannot write to the directory" : "has no directory",
									room->path == NULL ? "" : room->path),
						   "See to it that it is there, mounted and the server's own.");
	else if (room->free_bytes < 0)
		tier_preflight_put(row, check_name, TIER_PREFLIGHT_WARNING,
						   psprintf("not known: what is free on standby \"%s\"",
									room->standby_name),
						   "Is it mounted there?");
	else if (room->free_bytes - bytes < reserve_bytes)
		tier_preflight_put(row, check_name, TIER_PREFLIGHT_WARNING,
						   psprintf("standby \"%s\" gets %s, and has %s free; %s should stay so",
									room->standby_name, tier_size_text(bytes),
									tier_size_text(room->free_bytes),
									tier_size_text(reserve_bytes)),
						   "Make room there: a standby whose disk is full stops.");
	else
		tier_preflight_put(row, check_name, TIER_PREFLIGHT_OK,
						   psprintf("standby \"%s\" gets %s, and has %s free",
									room->standby_name, tier_size_text(bytes),
									tier_size_text(room->free_bytes)),
						   NULL);
}

/* Nothing is asked with the rights of a superuser for who may not know of standbys. */
void
tier_preflight_standby_rows(TierResultRow *row, const TierMoveCall *call, const TierCargo *cargo)
{
	Oid		   *tablespaces = palloc(sizeof(Oid) * Max(list_length(cargo->routes), 1));
	int			ntablespaces = find_destinations(cargo, tablespaces);
	bool		may_know = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	MemoryContext context = CurrentMemoryContext;
	TierStandbyRoom *rooms = NULL;
	TierCatalogScope scope;
	bool		any;
	int			nrooms = 0;

	if (RecoveryInProgress() || ntablespaces == 0)
		return;
	tier_catalog_enter(&scope);
	any = tier_catalog_has_standbys();
	if (any && may_know)
		rooms = tier_catalog_standby_rooms(context, tablespaces, ntablespaces, &nrooms);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (any && !may_know)
		tier_preflight_put(row, check_name, TIER_PREFLIGHT_WARNING,
						   "not known: this role may not read pg_stat_replication",
						   "A member of pg_monitor is told.");
	for (int i = 0; i < nrooms; i++)
	{
		if (rooms[i].problem == NULL)
			put_room(row, &rooms[i], call->set,
					 arriving_bytes(cargo, rooms[i].tablespace_oid));
		else
			tier_preflight_put(row, check_name, TIER_PREFLIGHT_WARNING,
							   psprintf("not known: standby \"%s\": %s", rooms[i].standby_name,
										rooms[i].problem),
							   "See the view tiered_storage.standbys.");
	}
}
