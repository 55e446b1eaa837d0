/*-------------------------------------------------------------------------
 *
 * move/preflight.c
 *		Is anything in the way of a move?
 *
 * Looks before a lock is asked for: rights, pins, the target's directory, room there
 * and for the WAL, how long the lock would last, and who uses the relation.  What
 * it says may be out of date a moment later; the move itself fails cleanly then.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_authid.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/move/online.h"
#include "src/move/preflight.h"
#include "src/move/space.h"
#include "src/base/sql.h"

/* A transaction that is younger is no obstacle. */
#define LEAST_AGE_MS (2 * 60 * 1000)

/* How fast a copy is that nothing limits; about that of a disk. */
#define ASSUMED_MB_PER_S 100.0

/* Room on the target, of which the tier keeps a part free, and for the WAL. */
static TierObstacle
check_space(Oid tablespace_oid, Oid from_tablespace_oid, double reserve_bytes, int64 size_bytes)
{
	TierShortage shortage = tier_space_admit(tablespace_oid, from_tablespace_oid, reserve_bytes,
											 size_bytes);
	TierObstacle obstacle = {shortage.message, shortage.hint, "53100"};

	return obstacle;
}

/* Bytes that this database's relations take on the tier, by the last sample. */
static int64
tier_relation_bytes(const char *tier_name)
{
	TierCatalogScope scope;
	int64		bytes;

	tier_catalog_enter(&scope);
	bytes = tier_catalog_tier_bytes(tier_name);
	tier_catalog_leave(&scope);
	return bytes;
}

/* Has somebody said that it belongs to another tier? */
static TierObstacle
check_pin(Oid relation_oid, Oid tablespace_oid, const TierSet *set)
{
	TierObstacle obstacle = {NULL, NULL, NULL};
	MemoryContext context = CurrentMemoryContext;
	const TierPinned *pinned;
	TierCatalogScope scope;
	TierPins   *pins;

	tier_catalog_enter(&scope);
	pins = tier_catalog_load_pin_of(context, relation_oid);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	pinned = tier_pins_against(pins, set, relation_oid,
							   tier_set_tier_of_tablespace(set, tablespace_oid));
	if (pinned == NULL)
		return obstacle;
	obstacle.message = psprintf("%s is pinned to tier \"%s\"", pinned->pinned_as,
								NameStr(pinned->tier_name));
	obstacle.hint = psprintf("Use SELECT tiered_storage.unpin(%s) first.",
							 quote_literal_cstr(pinned->pinned_as));
	obstacle.sqlstate = "55000";
	return obstacle;
}

/* How long the copy takes, by the limits of its rate. */
static int64
copy_ms(int64 size_bytes)
{
	double		mb_per_s = ASSUMED_MB_PER_S;

	if (tier_move_rate_limit_mb > 0)
		mb_per_s = Min(mb_per_s, tier_move_rate_limit_mb);
	if (tier_worker_rate_limit_mb > 0 && MyBackendType == B_BG_WORKER)
		mb_per_s = Min(mb_per_s, tier_worker_rate_limit_mb);
	return (int64) (size_bytes / Max(mb_per_s * 1048.576, 1e-3));
}

/* When a prepared transaction was prepared, and its name; false: it has ended. */
static bool
describe_prepared(TierHolder *holder)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	bool		found;

	tier_catalog_enter(&scope);
	found = tier_catalog_prepared(context, holder->xid, &holder->application, &holder->since);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	return found;
}

static char *
age_text(int64 ms)
{
	int64		minutes = ms / 60000;

	if (minutes < 2)
		return psprintf(INT64_FORMAT " s", ms / 1000);
	if (minutes < 120)
		return psprintf(INT64_FORMAT " min", minutes);
	return psprintf(INT64_FORMAT " h", minutes / 60);
}

/*
 * Is somebody using it who will not release it in time?  Nothing is known about
 * when a transaction ends, but one that has lasted for an hour does not end in the
 * next minute, as a rule.  So a move is begun when every transaction that has the
 * relation is younger than the copy and the patience for a lock take together; or
 * than LEAST_AGE_MS, as most of them are short and end while we copy.
 *
 * What pg_stat_activity does not show to the requester is not told.
 */
static TierObstacle
check_holders(const TierRelationInfo *info, Oid requester_oid, int64 size_bytes)
{
	TierObstacle obstacle = {NULL, NULL, NULL};
	int64		expected_ms = copy_ms(size_bytes);
	int64		limit_ms = tier_debug_skips("young_holders") ? 0 :
	Max(LEAST_AGE_MS, expected_ms + tier_online_patience_ms(expected_ms));
	TimestampTz now = GetCurrentTimestamp();
	TierHolder *oldest = NULL;
	ListCell   *part;
	ListCell   *cell;
	int64		age_ms;

	foreach(part, tier_relation_parts(info->relation_oid))
	{
		foreach(cell, tier_relation_holders(lfirst_oid(part)))
		{
			TierHolder *holder = lfirst(cell);

			if (holder->pid == 0 && !describe_prepared(holder))
				continue;
			if (oldest == NULL || holder->since < oldest->since)
				oldest = holder;
		}
	}
	if (oldest == NULL)
		return obstacle;
	age_ms = (now - oldest->since) / 1000;
	if (age_ms < limit_ms)
		return obstacle;

	obstacle.sqlstate = "55P03";
	if (oldest->pid == 0)
	{
		obstacle.message = psprintf("it is in use by prepared transaction \"%s\", "
									"which has been open for %s",
									oldest->application, age_text(age_ms));
		obstacle.hint = "COMMIT PREPARED or ROLLBACK PREPARED ends it.";
		return obstacle;
	}
	if (has_privs_of_role(requester_oid, ROLE_PG_READ_ALL_STATS) ||
		(OidIsValid(oldest->role_oid) && has_privs_of_role(requester_oid, oldest->role_oid)))
		obstacle.message = psprintf("it is in use by process %d (%s), "
									"whose transaction has been open for %s",
									oldest->pid,
									oldest->application[0] == '\0' ?
									"no application name" : oldest->application,
									age_text(age_ms));
	else
		obstacle.message = psprintf("it is in use by process %d, "
									"whose transaction has been open for too long", oldest->pid);
	obstacle.hint = "It would still be in use after the copy. "
		"Try again when that transaction has ended.";
	return obstacle;
}

double
tier_preflight_reserve(const TierSet *set, Oid tablespace_oid)
{
	const TierTablespace *target = tier_set_tablespace(set, tablespace_oid);

	if (target == NULL)
		return 0;
	return set->tiers[target->tier].reserve_fraction * Max(target->device->total_bytes, 0);
}

/* Is the directory of the tablespace there, and can it be written to? */
static TierObstacle
check_directory(const TierTablespace *target)
{
	TierObstacle obstacle = {NULL, NULL, NULL};

	if (target->device->exists && target->device->writable)
		return obstacle;
	obstacle.message = psprintf("directory \"%s\" of tablespace \"%s\" is %s",
								target->device->path, NameStr(target->name),
								target->device->exists ? "not writable" : "missing");
	obstacle.hint = "Is its file system mounted, and mounted read-write?";
	obstacle.sqlstate = "58P01";
	return obstacle;
}

/* What somebody has set as the capacity of the tier, which may be less than the disk. */
static TierObstacle
check_capacity(const TierTier *tier, double device_bytes, bool is_in_tier, int64 size_bytes)
{
	TierObstacle obstacle = {NULL, NULL, NULL};
	double		used;
	double		needed;
	double		usable;

	if (tier->capacity_bytes <= 0 || tier->capacity_bytes >= Max(device_bytes, 0))
		return obstacle;
	used = tier_cost_stored_bytes(tier_relation_bytes(NameStr(tier->name)), &tier->profile);
	needed = tier_cost_stored_bytes(size_bytes, &tier->profile);
	usable = tier->capacity_bytes * (1.0 - tier->reserve_fraction);
	if (is_in_tier)
		used = Max(used - needed, 0);
	if (used + needed > usable)
	{
		obstacle.message = psprintf("tier \"%s\" is full: %s are needed, "
									"%s of %s usable are taken",
									NameStr(tier->name), tier_size_text(needed),
									tier_size_text(used), tier_size_text(usable));
		obstacle.hint = "Raise capacity_bytes of the tier, or move something else away.";
		obstacle.sqlstate = "53100";
	}
	return obstacle;
}

/* How long a copy under the lock takes: tiered_storage.move_max_lock_time. */
static TierObstacle
check_lock_time(const TierTier *to, const TierTier *from, int64 size_bytes)
{
	TierObstacle obstacle = {NULL, NULL, NULL};
	double		slowest = to->profile.sequential_write_mb_per_s;
	double		seconds;

	if (from != NULL)
		slowest = Min(slowest, from->profile.sequential_read_mb_per_s);
	seconds = size_bytes / (slowest * 1e6);
	if (seconds > tier_move_max_lock_time_s)
	{
		obstacle.message = psprintf("moving it would lock it for about %.0f seconds", seconds);
		obstacle.hint = "Raise tiered_storage.move_max_lock_time, "
			"or CALL tiered_storage.move_relation(..., allow_lock => true) at a quiet time.";
		obstacle.sqlstate = "55000";
	}
	return obstacle;
}

TierObstacle
tier_preflight(const TierRelationInfo *info, const TierMoveTarget *where,
			   const TierSet *set, int64 size_bytes)
{
	TierObstacle obstacle = {NULL, NULL, NULL};
	const TierTablespace *target = tier_set_tablespace(set, where->tablespace_oid);
	const TierTablespace *source = tier_set_tablespace(set, info->tablespace_oid);
	const TierTier *tier = target == NULL ? NULL : &set->tiers[target->tier];

	if (!tier_relation_may_move(info, where->requester_oid, where->tablespace_oid,
								&obstacle.message, &obstacle.hint))
	{
		obstacle.sqlstate = "42501";
		return obstacle;
	}
	obstacle = check_pin(info->relation_oid, where->tablespace_oid, set);
	if (obstacle.message == NULL && target != NULL)
		obstacle = check_directory(target);

	/* Outside of all tiers it has no reserve, but can be full like any other. */
	if (obstacle.message == NULL)
		obstacle = check_space(where->tablespace_oid, info->tablespace_oid,
							   tier_preflight_reserve(set, where->tablespace_oid), size_bytes);
	if (obstacle.message == NULL && tier != NULL)
		obstacle = check_capacity(tier, target->device->total_bytes,
								  source != NULL && source->tier == target->tier, size_bytes);
	if (obstacle.message == NULL && tier != NULL && tier_relation_why_not_online(info) != NULL &&
		where->limit_lock_time && tier_move_max_lock_time_s > 0)
		obstacle = check_lock_time(tier, source == NULL ? NULL : &set->tiers[source->tier],
								   size_bytes);
	return obstacle.message != NULL ? obstacle :
		check_holders(info, where->requester_oid, size_bytes);
}
