/*-------------------------------------------------------------------------
 *
 * move/preflight.c
 *		Checking whether a move is possible.
 *
 * Checks, before a lock is requested: rights, pins, the target's directory, the space there
 * and for the WAL, the duration of the lock, and the users of the relation.  The result may be
 * out of date a moment later; then the move itself fails cleanly.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_authid.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/move/online.h"
#include "src/move/preflight.h"
#include "src/move/space.h"
#include "src/server/distributed.h"
#include "src/server/relation_pages.h"
#include "src/storage/store.h"
#include "src/base/sql.h"

/* A transaction that is younger is no obstacle. */
#define LEAST_AGE_MS (2 * 60 * 1000)

/* The assumed rate of a copy without limits; about that of a disk. */
#define ASSUMED_MB_PER_S 100.0

static const TierObstacle no_obstacle = {0};

static TierObstacle
check_rights(TierAdmission *admission)
{
	return tier_relation_refuse_role(admission->info, admission->where.requester_oid,
									 admission->where.tablespace_oid);
}

/* ---------------------------------------------------------------------
 * Pins
 * ---------------------------------------------------------------------
 */

static const TierPins *
pins_of(const TierAdmission *admission)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	const TierPins *pins;

	if (admission->pins != NULL)
		return admission->pins;
	tier_catalog_enter(&scope);
	pins = tier_catalog_load_pin_of(context, admission->info->relation_oid);
	tier_catalog_leave(&scope);
	return pins;
}

const TierPinned *
tier_preflight_pin(const TierPins *pins, const TierSet *set, const TierRelationInfo *info,
				   Oid tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(set, tablespace_oid);

	if (info->tablespace_oid == tablespace_oid ||
		(tier >= 0 && tier == tier_set_tier_of_tablespace(set, info->tablespace_oid)))
		return NULL;
	return tier_pins_against(pins, set, info->relation_oid, tier);
}

/*
 * A relation of an extension is moved only to the tier that it is pinned to.  If it is there,
 * its TOAST table may be elsewhere.
 */
static TierObstacle
check_extension(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;
	const TierRelationInfo *info = admission->info;
	const char *why = tier_relation_why_of_extension(info);
	const TierPinned *pinned = why == NULL ? NULL : tier_pins_find(pins_of(admission),
																   info->relation_oid);
	int			to = tier_set_tier_of_tablespace(admission->set, admission->where.tablespace_oid);
	const char *tier_name = to < 0 ? NULL : NameStr(admission->set->tiers[to].name);

	if (why == NULL || info->tablespace_oid == admission->where.tablespace_oid ||
		(pinned != NULL && tier_name != NULL &&
		 strcmp(NameStr(pinned->tier_name), tier_name) == 0))
		return obstacle;
	obstacle.sqlstate = ERRCODE_WRONG_OBJECT_TYPE;
	obstacle.message = psprintf("%s %s is not moved: %s", tier_relation_kind_name(info->kind),
								info->name, why);
	obstacle.detail = "The extension may drop, truncate or lock it at any time.";
	obstacle.hint = tier_name == NULL ?
		"It can be moved to a tier that it is pinned to; this tablespace is in none." :
		psprintf("To move it there anyway, pin it first: SELECT tiered_storage.pin(%s, "
				 "%s).", quote_literal_cstr(info->name),
				 quote_literal_cstr(tier_name));
	return obstacle;
}

static TierObstacle
check_object(TierAdmission *admission)
{
	TierObstacle obstacle = tier_relation_refuse_object(admission->info,
														admission->where.tablespace_oid);

	return obstacle.message != NULL ? obstacle : check_extension(admission);
}

char *
tier_preflight_unpin_hint(const TierPinned *pinned)
{
	return psprintf("Use SELECT tiered_storage.unpin(%s) first.",
					quote_literal_cstr(pinned->pinned_as));
}

/*
 * A pin also binds the requester of a move, who has to remove it first, by one statement:
 * otherwise the next advice would undo the move.
 */
static TierObstacle
check_pin(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;
	const TierRelationInfo *info = admission->info;
	const TierPinned *pinned = tier_preflight_pin(pins_of(admission), admission->set, info,
												  admission->where.tablespace_oid);

	if (pinned == NULL)
		return obstacle;
	obstacle.message = psprintf("%s %s is pinned to tier \"%s\"",
								tier_relation_kind_name(info->kind), info->name,
								NameStr(pinned->tier_name));
	if (strcmp(info->name, pinned->pinned_as) != 0)
		obstacle.detail = psprintf("It is held by the pin of %s.", pinned->pinned_as);
	obstacle.hint = tier_preflight_unpin_hint(pinned);
	obstacle.sqlstate = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
	return obstacle;
}

/* ---------------------------------------------------------------------
 * How
 * ---------------------------------------------------------------------
 */

static TierObstacle
check_method(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;
	const char *why = tier_relation_why_not_online(admission->info);

	if (why != NULL && admission->where.allow_lock)
		return obstacle;
	if (why != NULL)
	{
		obstacle.message = psprintf("it cannot be moved online: %s", why);
		obstacle.hint = "CALL tiered_storage.move_relation(..., allow_lock => true) "
			"locks it for the whole copy.";
		obstacle.sqlstate = ERRCODE_FEATURE_NOT_SUPPORTED;
		return obstacle;
	}
	why = tier_relation_why_incomplete(admission->info);
	if (why != NULL)
	{
		obstacle.message = pstrdup(why);
		obstacle.hint = TIER_INCOMPLETE_HINT;
		obstacle.sqlstate = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
	}
	return obstacle;
}

/* Adds the pages of a table that are not frozen; false: it cannot be read now. */
static bool
count_unfrozen(Oid table_oid, Oid tablespace_oid, int64 *unfrozen, const char **why)
{
	TierPages  *pages;

	*why = "its file system does not answer";
	pages = tier_store_answers(tablespace_oid) ? tier_pages_open(table_oid, why) : NULL;
	if (pages == NULL)
		return false;
	*unfrozen += tier_pages_count(pages) - tier_pages_count_frozen(pages);
	tier_pages_close(pages);
	return true;
}

/*
 * An object store takes tables without writes: each page that changes there makes an
 * object anew.  Vacuum has nothing to do in a frozen table, and no reader sets hint bits.
 */
static TierObstacle
check_frozen(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;
	const TierRelationInfo *info = admission->info;
	int			tier = tier_set_tier_of_tablespace(admission->set,
												   admission->where.tablespace_oid);
	bool		is_index = info->kind == RELKIND_INDEX;
	TierRelationInfo table = *info;
	const char *why = tier_relation_why_not_online(info);
	int64		unfrozen = 0;

	if (tier < 0 || !admission->set->tiers[tier].is_object_store ||
		(is_index && !tier_relation_lookup(IndexGetRelation(info->relation_oid, true), &table)))
		return obstacle;

	/*
	 * A move that waits for its lock until writers have ended is not asked
	 * again under it.
	 */
	if (why != NULL)
	{
		obstacle.sqlstate = ERRCODE_FEATURE_NOT_SUPPORTED;
		obstacle.message = psprintf("tier \"%s\" is an object store, and %s cannot be moved "
									"online: %s", NameStr(admission->set->tiers[tier].name),
									info->name, why);
	}
	else if (!count_unfrozen(table.relation_oid, table.tablespace_oid, &unfrozen, &why) ||
			 (OidIsValid(table.toast_oid) &&
			  !count_unfrozen(table.toast_oid, table.tablespace_oid, &unfrozen, &why)))
	{
		obstacle.sqlstate = ERRCODE_LOCK_NOT_AVAILABLE;
		obstacle.message = psprintf("pages of %s cannot be read: %s", table.name, why);
	}
	else if (unfrozen > 0)
	{
		obstacle.sqlstate = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
		obstacle.message = psprintf("tier \"%s\" is an object store, and pages of %s are not "
									"frozen: " INT64_FORMAT,
									NameStr(admission->set->tiers[tier].name), table.name,
									unfrozen);
		obstacle.detail = "It takes only tables without writes.";
		obstacle.hint = psprintf("VACUUM (FREEZE, INDEX_CLEANUP ON) %s; freezes them. "
								 "For a tiering policy, the worker tries that first.",
								 table.name);
	}
	return obstacle;
}

/* The time that the copy takes, by the limits of its rate. */
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
	return found;
}

char *
tier_preflight_age_text(int64 ms)
{
	int64		minutes = ms / 60000;

	if (minutes < 2)
		return psprintf(INT64_FORMAT " s", ms / 1000);
	if (minutes < 120)
		return psprintf(INT64_FORMAT " min", minutes);
	return psprintf(INT64_FORMAT " h", minutes / 60);
}

TierHolder *
tier_preflight_oldest_user(Oid relation_oid, int *n)
{
	TierHolder *oldest = NULL;
	ListCell   *part;
	ListCell   *cell;

	*n = 0;
	foreach(part, tier_relation_parts(relation_oid))
	{
		foreach(cell, tier_relation_holders(lfirst_oid(part)))
		{
			TierHolder *holder = lfirst(cell);

			if (holder->pid == 0 && !describe_prepared(holder))
				continue;
			(*n)++;
			if (oldest == NULL || holder->since < oldest->since)
				oldest = holder;
		}
	}
	return oldest;
}

bool
tier_preflight_may_know_user(const TierHolder *holder, Oid role_oid)
{
	return holder->pid == 0 || has_privs_of_role(role_oid, ROLE_PG_READ_ALL_STATS) ||
		(OidIsValid(holder->role_oid) && has_privs_of_role(role_oid, holder->role_oid));
}

char *
tier_preflight_user_text(const TierHolder *holder, Oid role_oid)
{
	if (holder->pid == 0)
		return psprintf("prepared transaction \"%s\"", holder->application);
	if (!tier_preflight_may_know_user(holder, role_oid))
		return psprintf("process %d", holder->pid);
	return psprintf("process %d (%s)", holder->pid,
					holder->application[0] == '\0' ? "no application name" : holder->application);
}

/*
 * Checks for transactions that will not release the relation in time.  Nothing is known about
 * when a transaction ends, but one that has lasted for an hour does not end in the next
 * minute, as a rule.  So a move is begun when every transaction that has the relation is
 * younger than the copy and the patience for a lock take together; or than LEAST_AGE_MS, as
 * most of them are short and end while we copy.
 */
static TierObstacle
check_users(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;
	Oid			requester_oid = admission->where.requester_oid;
	int64		expected_ms = copy_ms(admission->size_bytes);
	int64		limit_ms = tier_debug_skips("young_holders") ? 0 :
	Max(LEAST_AGE_MS, expected_ms + tier_online_patience_ms(expected_ms));
	const char *why = tier_distributed->why_busy(admission->info->relation_oid);
	TierHolder *oldest;
	int64		age_ms;
	int			n;

	if (why != NULL)
	{
		obstacle.sqlstate = ERRCODE_OBJECT_IN_USE;
		obstacle.message = pstrdup(why);
		obstacle.hint = "Try again when Citus has finished with it.";
		return obstacle;
	}
	oldest = tier_preflight_oldest_user(admission->info->relation_oid, &n);
	if (oldest == NULL)
		return obstacle;
	age_ms = (GetCurrentTimestamp() - oldest->since) / 1000;
	if (age_ms < limit_ms)
		return obstacle;

	obstacle.sqlstate = ERRCODE_LOCK_NOT_AVAILABLE;
	if (oldest->pid == 0)
	{
		obstacle.message = psprintf("it is in use by %s, which has been open for %s",
									tier_preflight_user_text(oldest, requester_oid),
									tier_preflight_age_text(age_ms));
		obstacle.hint = "COMMIT PREPARED or ROLLBACK PREPARED ends it.";
		return obstacle;
	}
	obstacle.message = psprintf("it is in use by %s, whose transaction has been open for %s",
								tier_preflight_user_text(oldest, requester_oid),
								tier_preflight_may_know_user(oldest, requester_oid) ?
								tier_preflight_age_text(age_ms) : "too long");
	obstacle.hint = "It would still be in use after the copy. "
		"Try again when that transaction has ended.";
	return obstacle;
}

/* ---------------------------------------------------------------------
 * Room
 * ---------------------------------------------------------------------
 */

double
tier_preflight_reserve(const TierSet *set, Oid tablespace_oid)
{
	const TierTablespace *target = tier_set_tablespace(set, tablespace_oid);

	if (target == NULL)
		return 0;
	return set->tiers[target->tier].reserve_fraction * Max(target->device->total_bytes, 0);
}

/* Checks that both file systems answer, and that the directory there is writable. */
static TierObstacle
check_directory(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;
	Oid			from_oid = admission->info->tablespace_oid;
	Oid			to_oid = admission->where.tablespace_oid;
	const TierTablespace *target = tier_set_tablespace(admission->set, to_oid);

	if (!tier_store_answers(from_oid) || !tier_store_answers(to_oid))
	{
		obstacle.sqlstate = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
		obstacle.message = psprintf("the file system of tablespace \"%s\" does not answer",
									tier_tablespace_name(tier_store_answers(from_oid) ?
														 to_oid : from_oid));
		obstacle.detail = "A move would hang with it.";
		obstacle.hint = "Try again when its mount and the server behind it work.";
		return obstacle;
	}
	if (target == NULL || tier_device_why_not(target->device) == NULL)
		return obstacle;
	obstacle.message = psprintf("directory \"%s\" of tablespace \"%s\" is %s",
								target->device->path, NameStr(target->name),
								tier_device_why_not(target->device));
	obstacle.hint = "Check that its file system is mounted read-write and accessible.";
	obstacle.sqlstate = ERRCODE_UNDEFINED_FILE;
	return obstacle;
}

TierSpace *
tier_preflight_space(TierAdmission *admission)
{
	Oid			tablespace_oid = admission->where.tablespace_oid;
	int64		announced_us;

	if (admission->facts->space != NULL)
		return admission->facts->space;
	announced_us = admission->announces ?
		tier_space_announce(tablespace_oid, admission->info->tablespace_oid,
							admission->size_bytes) : tier_clock_monotonic_us();
	admission->facts->space = palloc(sizeof(TierSpace));
	*admission->facts->space = tier_space_measure(tablespace_oid, announced_us);
	return admission->facts->space;
}

/* The bytes of it that go into the WAL. */
double
tier_preflight_logged_bytes(const TierAdmission *admission)
{
	return admission->info->persistence == RELPERSISTENCE_PERMANENT ?
		(double) admission->size_bytes : 0.0;
}

/* Outside of all tiers it has no reserve, but can be full like any other. */
static TierObstacle
check_space(TierAdmission *admission)
{
	return tier_space_shortage(tier_preflight_space(admission),
							   tier_preflight_reserve(admission->set,
													  admission->where.tablespace_oid),
							   admission->size_bytes, tier_preflight_logged_bytes(admission));
}

static TierObstacle
check_wal_space(TierAdmission *admission)
{
	return tier_space_wal_shortage(tier_preflight_space(admission),
								   tier_preflight_logged_bytes(admission));
}

/* Returns true if the tier has a capacity that is less than the size of its disks. */
static bool
has_capacity(const TierSet *set, Oid tablespace_oid)
{
	const TierTablespace *target = tier_set_tablespace(set, tablespace_oid);
	const TierTier *tier = target == NULL ? NULL : &set->tiers[target->tier];

	return tier != NULL && tier->capacity_bytes > 0 &&
		(tier->device_bytes <= 0 || tier->capacity_bytes < tier->device_bytes);
}

double
tier_preflight_tier_bytes(TierAdmission *admission)
{
	const TierSet *set = admission->set;
	const TierTablespace *target = tier_set_tablespace(set, admission->where.tablespace_oid);
	const TierSpace *space;
	double		bytes = 0;

	if (target == NULL || !has_capacity(set, admission->where.tablespace_oid))
		return -1;
	if (admission->facts->tier_bytes >= 0)
		return admission->facts->tier_bytes;
	space = tier_preflight_space(admission);
	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].tier == target->tier)
			bytes += tier_space_taken(space, set->tablespaces[i].oid);
	admission->facts->tier_bytes = bytes;
	return bytes;
}

/* Checks the capacity that is set for the tier, which may be less than the disk. */
static TierObstacle
check_capacity(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;
	const TierSet *set = admission->set;
	const TierTablespace *target = tier_set_tablespace(set, admission->where.tablespace_oid);
	const TierTier *tier;
	double		bytes = tier_preflight_tier_bytes(admission);
	double		used;
	double		needed;
	double		usable;

	if (bytes < 0)
		return obstacle;
	tier = &set->tiers[target->tier];
	used = tier_cost_stored_bytes(Max(bytes + admission->earlier_bytes, 0), &tier->profile);
	needed = tier_cost_stored_bytes(admission->size_bytes, &tier->profile);
	usable = tier->capacity_bytes * (1.0 - tier->reserve_fraction);
	if (tier_set_tier_of_tablespace(set, admission->info->tablespace_oid) == target->tier)
		used = Max(used - needed, 0);
	if (used + needed > usable)
	{
		obstacle.message = psprintf("tier \"%s\" is full: %s are needed, %s of the usable %s "
									"are in use",
									NameStr(tier->name), tier_size_text(needed),
									tier_size_text(used), tier_size_text(usable));
		obstacle.hint = "Raise capacity_bytes of the tier, or move something else away.";
		obstacle.sqlstate = ERRCODE_DISK_FULL;
	}
	return obstacle;
}

/* ---------------------------------------------------------------------
 * All of it
 * ---------------------------------------------------------------------
 */

void
tier_preflight_init(TierAdmission *admission, const TierRelationInfo *info,
					const TierMoveTarget *where, const TierSet *set, int64 size_bytes)
{
	memset(admission, 0, sizeof(TierAdmission));
	admission->info = info;
	admission->where = *where;
	admission->set = set;
	admission->size_bytes = size_bytes;
	admission->own.tier_bytes = -1;
	admission->facts = &admission->own;
}

TierObstacle
tier_preflight_check(TierAdmission *admission, TierCheck check)
{
	static TierObstacle (*const checks[TIER_CHECKS]) (TierAdmission *admission) = {
		[TIER_CHECK_OBJECT] = check_object,
		[TIER_CHECK_RIGHTS] = check_rights,
		[TIER_CHECK_PIN] = check_pin,
		[TIER_CHECK_METHOD] = check_method,
		[TIER_CHECK_FROZEN] = check_frozen,
		[TIER_CHECK_DIRECTORY] = check_directory,
		[TIER_CHECK_SPACE] = check_space,
		[TIER_CHECK_WAL_SPACE] = check_wal_space,
		[TIER_CHECK_CAPACITY] = check_capacity,
		[TIER_CHECK_STANDBYS] = tier_preflight_check_standbys,
		[TIER_CHECK_USERS] = check_users,
		[TIER_CHECK_STANDBY_USERS] = tier_preflight_check_standby_users,
	};

	return checks[check] (admission);
}

TierObstacle
tier_preflight(TierAdmission *admission)
{
	TierObstacle obstacle = no_obstacle;

	for (int check = 0; check < TIER_CHECKS && obstacle.message == NULL; check++)
		obstacle = tier_preflight_check(admission, (TierCheck) check);
	return obstacle;
}
