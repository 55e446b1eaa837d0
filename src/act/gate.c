/*-------------------------------------------------------------------------
 *
 * act/gate.c
 *		May a move begin now that nobody has asked for, or when?
 *
 * A run asks for each of perhaps thousands of relations, so that the windows are not
 * loaded each time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "src/compat.h"
#include "src/act/gate.h"
#include "src/base/clock.h"

/* So old may be what is known. */
#define LONGEST_AGE_US (1000 * 1000)

/*
 * Of this process; by load_windows() and tier_gate_forget().  NULL: to be loaded.  An
 * error while it is loaded leaves it so.
 */
static TierMoveWindows *windows = NULL;
static MemoryContext windows_context = NULL;
static int64 loaded_at_us;		/* means nothing while there are none */

void
tier_gate_forget(void)
{
	windows = NULL;
}

/* False: the extension has gone. */
static bool
load_windows(void)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierMoveWindows *loaded;

	if (windows != NULL && tier_clock_monotonic_us() < loaded_at_us + LONGEST_AGE_US)
		return true;
	windows = NULL;
	if (!tier_catalog_try_enter(&scope))
		return false;
	if (windows_context == NULL)
		windows_context = AllocSetContextCreate(TopMemoryContext, "tiered_storage move windows",
												ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(windows_context);
	loaded = tier_move_windows_load(windows_context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	windows = loaded;
	loaded_at_us = tier_clock_monotonic_us();
	return true;
}

TierMoveStart
tier_gate_ask(const TierSet *set, const TierPlannedMove *move)
{
	TierMoveStart free_to_go = {true, 0, 0.0, NULL};

	if (!load_windows())
		return free_to_go;		/* whoever moves finds out */
	return tier_move_windows_ask(windows, set, move);
}

TierMoveStart
tier_gate_ask_any(const TierSet *set)
{
	TierPlannedMove nothing = {0};

	return tier_gate_ask(set, &nothing);
}
