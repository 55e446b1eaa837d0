/*-------------------------------------------------------------------------
 *
 * act/gate.c
 *		Decides whether an automatic move may begin now, or when.
 *
 * A run asks for each of perhaps thousands of relations; so the state is cached for a second.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/decide/pressure.h"
#include "src/decide/wear.h"

/* Makes the lock differ from other locks of an extension. */
#define WINDOWS_LOCK_SUBID 1

/* The largest age of the cached state. */
#define LONGEST_AGE_US (1000 * 1000)

/*
 * Of this process; by load() and tier_gate_forget().  NULL: to be loaded.  An error while
 * it is loaded leaves it so.
 */
static TierMoveWindows *windows = NULL;
static TierPressure *pressure = NULL;	/* whenever there are windows; */
static TierWears *wears = NULL; /* so is this */
static const TierSet *tiers = NULL; /* since they were asked for; NULL: not
									 * yet */
static double *above_bytes;		/* by tier; NaN: to be looked at */
static MemoryContext gate_context = NULL;
static int64 loaded_at_us;		/* means nothing while there are none */

void
tier_gate_forget(void)
{
	windows = NULL;
}

/* False: the extension has gone. */
static bool
load(void)
{
	TierCatalogScope scope;
	TierMoveWindows *loaded;

	if (windows != NULL && tier_clock_monotonic_us() < loaded_at_us + LONGEST_AGE_US &&
		!tier_debug_skips("gate_age"))
		return true;
	windows = NULL;
	if (!tier_catalog_try_enter(&scope))
		return false;
	if (gate_context == NULL)
		gate_context = AllocSetContextCreate(TopMemoryContext, "tiered_storage gate",
											 ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(gate_context);
	tiers = NULL;
	loaded = tier_move_windows_load(gate_context);
	pressure = tier_pressure_load(gate_context);
	wears = tier_wears_load(gate_context);
	tier_catalog_leave(&scope);
	windows = loaded;
	loaded_at_us = tier_clock_monotonic_us();
	return true;
}

/*
 * The bytes of the tier above the mark of its fullness policy.  Computed on demand, since this
 * looks at the files of the tier.
 */
static double
above_mark_bytes(const TierSet *set, Oid tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(set, tablespace_oid);

	if (tier < 0 || set->tiers[tier].emptied_above <= 0.0)
		return 0.0;
	if (tiers == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(gate_context);

		tiers = tier_catalog_tiers_now();
		above_bytes = palloc(sizeof(double) * (tiers == NULL ? 1 : Max(tiers->ntiers, 1)));
		for (int i = 0; tiers != NULL && i < tiers->ntiers; i++)
			above_bytes[i] = NAN;
		MemoryContextSwitchTo(old_context);
	}
	tier = tiers == NULL ? -1 : tier_set_tier_of_tablespace(tiers, tablespace_oid);
	if (tier < 0)
		return 0.0;
	if (isnan(above_bytes[tier]))
		above_bytes[tier] = tier_level_above_bytes(tiers, tier);
	return above_bytes[tier];
}

static bool
is_pressing(const TierSet *set, const TierPlannedMove *move)
{
	if (move->pressing != TIER_PRESSING_BY_LEVEL)
		return move->pressing == TIER_PRESSING_YES;
	return !move->is_optional &&
		above_mark_bytes(set, move->from_tablespace_oid) + move->earlier_from_bytes > 0.0;
}

TierMoveStart
tier_gate_ask(const TierSet *set, const TierPlannedMove *move)
{
	TierMoveStart start = {true, 0, 0.0, NULL, false};

	if (!load())
		return start;			/* the mover finds out */
	start = tier_move_windows_ask(windows, set, move);
	if (!start.may_begin)
		return start;
	start.reason = tier_pressure_stops(pressure);
	if (start.reason == NULL)
	{
		start.reason = tier_pressure_slows(pressure);
		if (start.reason != NULL && is_pressing(set, move))
			start.reason = NULL;
	}
	if (start.reason == NULL && move->is_optional)
		start.reason = tier_wears_reason(wears, set, move->to_tablespace_oid);
	start.may_begin = start.reason == NULL;
	start.under_pressure = !start.may_begin;
	if (start.under_pressure)
		start.at = 0;
	return start;
}

TierMoveStart
tier_gate_ask_any(const TierSet *set, TierPressing pressing)
{
	TierPlannedMove nothing = {.pressing = pressing};

	return tier_gate_ask(set, &nothing);
}

/* Only this function takes this lock. */
static void
lock_windows(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId,
					   get_extension_oid(TIER_EXTENSION_NAME, true), WINDOWS_LOCK_SUBID);
	tag.locktag_lockmethodid = USER_LOCKMETHOD;
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

bool
tier_gate_take_turn(void)
{
	if (!load())
		return false;
	for (int i = 0; i < windows->nopenings; i++)
	{
		if (windows->openings[i].opens_us > windows->now || isinf(windows->openings[i].left_bytes))
			continue;
		lock_windows();
		tier_gate_forget();
		return true;
	}
	return false;
}

/* When the worker of this database does something the next time; 0: at once. */
static bool
next_cycle(TimestampTz *next_at)
{
	TierDatabaseSlot *slot;
	bool		found;

	*next_at = 0;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	slot = tier_shmem_slot(MyDatabaseId, false);
	found = slot != NULL && (slot->state == TIER_WORKER_WAITING ||
							 slot->state == TIER_WORKER_RUNNING ||
							 slot->state == TIER_WORKER_STARTING ||
							 slot->state == TIER_WORKER_NEVER_RUN);
	if (found && slot->state == TIER_WORKER_WAITING && slot->migrated_at != 0)
	{
		*next_at = slot->migrated_at + tier_migrate_interval_s * USECS_PER_SEC;
		*next_at = Max(*next_at, slot->next_run_at);
	}
	LWLockRelease(tier_shmem->lock);
	return found;
}

char *
tier_gate_worker_text(bool *moves)
{
	TimestampTz next_at;
	bool		ignored;

	if (moves == NULL)
		moves = &ignored;
	*moves = false;
	if (tier_shmem == NULL)
		return "there is no worker, as tiered_storage is not preloaded";
	if (tier_auto_migrate == TIER_AUTO_MIGRATE_OFF)
		return "the worker moves nothing, as auto_migrate is off";
	if (!next_cycle(&next_at))
		return "no worker runs in this database, see the view workers";
	*moves = true;
	if (next_at <= GetCurrentTimestamp())
		return "the worker plans moves within a sample_interval";
	return psprintf("the worker plans moves at %s",
					timestamptz_to_str(next_at - next_at % USECS_PER_SEC));
}
