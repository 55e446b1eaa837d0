/*-------------------------------------------------------------------------
 *
 * act/freeze.c
 *		Freezing a table before the worker moves it to an object store.
 *
 * VACUUM begins and ends transactions of its own, which SPI does not allow.  Therefore a run only
 * notes one table, and the worker vacuums it after the run.  Meanwhile the worker
 * takes no sample and makes no move, and DDL on the table waits: so it stops when the next sample
 * is due, and goes on in the next cycle.  A vacuum skips the pages that an earlier one has frozen,
 * but begins anew with the indexes, so it may last twice as long after each failure.  Others, such
 * as vacuums in other databases, use up the room for WAL, so it is looked at all the time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

#include "src/act/freeze.h"
#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/catalog/moves.h"
#include "src/move/preflight.h"
#include "src/move/space.h"
#include "src/move/throttle.h"
#include "src/server/relation_pages.h"
#include "src/storage/file_size.h"

#define MOST_S 60
#define MOST_DOUBLINGS 6
#define LOOK_MS 200

/* Of the vacuum of this process: when it ends, by tier_clock_monotonic_us(); that it had to. */
static int64 ends_at;
static volatile sig_atomic_t is_cut;

/*
 * The most that a vacuum of the table logs: each page of it and of its indexes twice, if a
 * checkpoint comes between its passes.
 */
static int64
bytes_to_log(Oid table_oid)
{
	List	   *relations = lcons_oid(table_oid, tier_relation_indexes(table_oid));
	int64		bytes = 0;
	ListCell   *cell;

	foreach(cell, relations)
	{
		TierRelationInfo info;

		if (tier_relation_lookup(lfirst_oid(cell), &info))
			bytes += tier_relation_disk_bytes(&info);
	}
	return 2 * bytes;
}

/* Returns true if nothing keeps it from its target but that its table is not frozen. */
static bool
may_freeze(const TierMoveRequest *request, const TierRelationInfo *info, Oid table_oid,
		   const TierSet *set)
{
	TierMoveTarget where = tier_move_target(request);
	int64		size_bytes = tier_relation_disk_bytes(info);
	TierAdmission admission;

	tier_preflight_init(&admission, info, &where, set, size_bytes);
	if (tier_preflight_check(&admission, TIER_CHECK_FROZEN).sqlstate !=
		ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
		return false;
	for (int check = 0; check < TIER_CHECKS; check++)
	{
		admission.size_bytes = check != TIER_CHECK_WAL_SPACE ? size_bytes :
			bytes_to_log(table_oid);
		if (check != TIER_CHECK_FROZEN &&
			tier_preflight_check(&admission, (TierCheck) check).message != NULL)
			return false;
	}
	return true;
}

bool
tier_freeze_first(TierToFreeze *to_freeze, const TierMoveRequest *request,
				  const TierRelationInfo *info, const TierSet *set)
{
	Oid			table_oid = info->kind != RELKIND_INDEX ? info->relation_oid :
	IndexGetRelation(info->relation_oid, true);

	if ((to_freeze->is_done && to_freeze->table_oid == table_oid) ||
		!may_freeze(request, info, table_oid, set))
		return false;
	if (!OidIsValid(to_freeze->table_oid))
	{
		to_freeze->table_oid = table_oid;
		to_freeze->request = *request;
		to_freeze->request.reason = NULL;
	}
	to_freeze->is_awaited = true;
	return true;
}

static int
failures_of(Oid relation_oid)
{
	TierCatalogScope scope;
	int			failures;

	tier_catalog_enter(&scope);
	failures = tier_catalog_move_failures(relation_oid);
	tier_catalog_leave(&scope);
	return failures;
}

/* Its frozen pages and those of its TOAST table. */
static int64
count_frozen(Oid table_oid)
{
	TierRelationInfo table;
	int64		frozen = 0;

	if (!tier_relation_lookup(table_oid, &table))
		return 0;
	for (int i = 0; i < 2; i++)
	{
		const char *why;
		TierPages  *pages = tier_pages_open(i == 0 ? table_oid : table.toast_oid, &why);

		if (pages == NULL)
			continue;
		frozen += tier_pages_count_frozen(pages);
		tier_pages_close(pages);
	}
	return frozen;
}

/* In a signal handler: nothing here may allocate, lock or raise an error. */
static void
cut_if_needed(void)
{
	if (tier_clock_monotonic_us() < ends_at && !tier_space_wal_is_short())
		return;
	is_cut = true;
	QueryCancelPending = InterruptPending = true;
}

static TimeoutId
look_timeout(void)
{
	static TimeoutId id = MAX_TIMEOUTS;

	if (id == MAX_TIMEOUTS)
		id = RegisterTimeout(USER_TIMEOUT, cut_if_needed);
	return id;
}

/*
 * In a transaction, as at its end.  The run may have lasted for hours since it listed the table,
 * so what it was admitted by is asked again.
 */
static void
freeze(TierToFreeze *to_freeze)
{
	const TierMoveRequest *request = &to_freeze->request;
	TierRelationInfo info;
	const TierSet *set;
	bool		may;
	int			most_ms;

	PushActiveSnapshot(GetTransactionSnapshot());
	set = tier_catalog_tiers_now();
	may = set != NULL && !tier_throttle_is_paused() &&
		tier_gate_ask_any(set, TIER_PRESSING_NO).may_begin &&
		tier_relation_lookup(request->relation_oid, &info) &&
		tier_relation_refuse_owner(&info, request->requester_oid).message == NULL &&
		may_freeze(request, &info, to_freeze->table_oid, set);
	most_ms = (Min(tier_sample_interval_s, MOST_S) * 1000) <<
		(may ? Min(failures_of(request->relation_oid), MOST_DOUBLINGS) : 0);
	PopActiveSnapshot();
	if (!may)
		return;
	to_freeze->frozen = count_frozen(to_freeze->table_oid);
	ends_at = tier_clock_monotonic_us() + most_ms * INT64CONST(1000);
	enable_timeout_every(look_timeout(),
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LOOK_MS), LOOK_MS);
	tier_pages_freeze(to_freeze->table_oid);
}

/* After a vacuum that was cut. */
static void
recount_step(void *argument)
{
	TierToFreeze *to_freeze = argument;

	tier_debug_point("recounting");
	to_freeze->is_done = count_frozen(to_freeze->table_oid) <= to_freeze->frozen;
}

void
tier_freeze(TierToFreeze *to_freeze)
{
	is_cut = false;
	tier_transaction_start();
	tier_pages_yield(true);
	PG_TRY();
	{
		freeze(to_freeze);
		CommitTransactionCommand();
		to_freeze->is_done = true;
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		to_freeze->is_done = geterrcode() != ERRCODE_QUERY_CANCELED || !is_cut;
		if (to_freeze->is_done)
			EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	disable_timeout(look_timeout(), false);
	tier_pages_yield(false);

	/* A second one who waited must not cancel what comes next. */
	QueryCancelPending = false;
	if (!to_freeze->is_done)
	{
		to_freeze->is_done = true;	/* also if the attempt fails */
		tier_transaction_start();
		(void) tier_attempt(recount_step, to_freeze);
		CommitTransactionCommand();
	}
	MemoryContextSwitchTo(PortalContext);
	to_freeze->is_awaited = false;
}
