/*-------------------------------------------------------------------------
 *
 * move/preflight_standby.c
 *		Checking whether a move is possible on the standbys.
 *
 *
 * By the reports of the last pulls: does not ask the standbys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "src/compat.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/move/preflight.h"
#include "src/move/space.h"

TierStandbyRoom *
tier_preflight_standby_rooms(TierAdmission *admission)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	if (admission->facts->rooms != NULL)
		return admission->facts->rooms;
	tier_catalog_enter(&scope);
	admission->facts->rooms = tier_catalog_standby_rooms(context, admission->where.tablespace_oid,
														 &admission->facts->nrooms);
	tier_catalog_leave(&scope);
	return admission->facts->rooms;
}

/* Roles without pg_read_all_stats do not see the name of the standby. */
static char *
standby_text(Oid role_oid, const char *standby_name)
{
	return !has_privs_of_role(role_oid, ROLE_PG_READ_ALL_STATS) ?
		pstrdup("a standby") : psprintf("standby \"%s\"", standby_name);
}

/* Of this tablespace, by moves of other databases; and by those that come first. */
static double
bytes_on_the_way(const TierAdmission *admission)
{
	TierSpaceFlight flight = tier_space_flight(admission->where.tablespace_oid);

	return flight.to_write_bytes - flight.to_write_own_bytes +
		(admission->facts->space == NULL ? 0.0 : admission->facts->space->earlier_bytes);
}

/* The hint for a standby that has changed since, or was removed for good. */
#define STANDBY_HINT \
	"The worker asks it again at the next sample. If the standby no longer exists, " \
	"tiered_storage.remove_standby() removes it; its last report counts for a day."

/*
 * A standby replays the move; if it cannot, its replay stops.  None is asked now: the report
 * of the last pull, which may be a minute old, must suffice.
 */
TierObstacle
tier_preflight_check_standbys(TierAdmission *admission)
{
	TierObstacle obstacle = {0};
	Oid			tablespace_oid = admission->where.tablespace_oid;
	const TierStandbyRoom *rooms = tier_preflight_standby_rooms(admission);
	Oid			requester_oid = admission->where.requester_oid;
	int			tier = tier_set_tier_of_tablespace(admission->set, tablespace_oid);
	double		needed = tier_preflight_logged_bytes(admission);

	if (admission->facts->nrooms > 0)
		needed += bytes_on_the_way(admission);
	for (int i = 0; i < admission->facts->nrooms && obstacle.message == NULL; i++)
	{
		const TierStandbyRoom *room = &rooms[i];
		double		reserve_bytes = tier < 0 ? 0.0 :
		admission->set->tiers[tier].reserve_fraction * room->total_bytes;

		if (!room->is_usable)
		{
			obstacle.sqlstate = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
			obstacle.message = psprintf("%s has no directory that it can write to for "
										"tablespace \"%s\"",
										standby_text(requester_oid, room->standby_name),
										get_tablespace_name(tablespace_oid));
			obstacle.detail = psprintf("Replay on the standby would stop. It reported this at %s.",
									   room->looked_at);
			obstacle.hint = "Make sure that the directory exists, is mounted, and belongs to "
				"the server's user. " STANDBY_HINT;
		}
		else if (room->free_bytes >= 0 && room->free_bytes - needed < reserve_bytes)
		{
			obstacle.sqlstate = ERRCODE_DISK_FULL;
			obstacle.message = psprintf("not enough space on %s: %s are needed and %s "
										"reserved, %s are free",
										standby_text(requester_oid, room->standby_name),
										tier_size_text(needed), tier_size_text(reserve_bytes),
										tier_size_text(room->free_bytes));
			obstacle.detail = psprintf("Replay stops on a standby whose disk is full. The "
									   "figures are its report at %s, and later moves.",
									   room->looked_at);
			obstacle.hint = "Free space there. " STANDBY_HINT;
		}
	}
	return obstacle;
}

/* A standby has them in tables that it cannot read, and moves nothing. */
TierStandbyUser *
tier_preflight_standby_users(TierAdmission *admission)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	if (admission->facts->users != NULL)
		return admission->facts->users;
	if (RecoveryInProgress())
		return admission->facts->users = palloc(sizeof(TierStandbyUser));
	tier_catalog_enter(&scope);
	admission->facts->users = tier_catalog_standby_users(context, &admission->facts->nusers);
	tier_catalog_leave(&scope);
	return admission->facts->users;
}

const TierStandbyUser *
tier_preflight_standby_user(TierAdmission *admission)
{
	const TierStandbyUser *users = tier_preflight_standby_users(admission);
	List	   *parts = admission->facts->nusers == 0 ? NIL :
	tier_relation_parts(admission->info->relation_oid);

	for (int i = 0; i < admission->facts->nusers; i++)
		if (list_member_oid(parts, users[i].relation_oid))
			return &users[i];
	return NULL;
}

char *
tier_preflight_standby_use_text(const TierStandbyUser *user, Oid role_oid)
{
	return psprintf("it is in use on %s by a transaction that has been open for %s",
					standby_text(role_oid, user->standby_name),
					tier_preflight_age_text(user->open_ms));
}

char *
tier_preflight_standby_conflict_text(const TierStandbyUser *user)
{
	if (user->delay_ms < 0)
		return pstrdup("The standby would replay nothing until that has ended.");
	return psprintf("It would be canceled there after " INT64_FORMAT " ms, which is "
					"max_standby_streaming_delay.", user->delay_ms);
}

TierObstacle
tier_preflight_check_standby_users(TierAdmission *admission)
{
	TierObstacle obstacle = {0};
	const TierStandbyUser *user = admission->where.yields_to_standbys ?
	tier_preflight_standby_user(admission) : NULL;

	if (user == NULL)
		return obstacle;
	obstacle.message = tier_preflight_standby_use_text(user, admission->where.requester_oid);
	obstacle.detail = tier_preflight_standby_conflict_text(user);
	obstacle.hint = "It is moved when that has ended; CALL tiered_storage.move_relation() "
		"does not wait for it.";
	obstacle.sqlstate = ERRCODE_OBJECT_IN_USE;
	obstacle.passes = true;
	return obstacle;
}
