/*-------------------------------------------------------------------------
 *
 * act/freeze.c
 *		Freezing tables before the worker moves them to an object store.
 *
 * VACUUM begins and ends transactions of its own, which SPI does not allow.  So a run only makes
 * a list, and the worker vacuums when it has ended.  A second run moves what is frozen by then;
 * for it a table that is not has failed, and is not tried again for a while.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/act/freeze.h"
#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/base/transaction.h"
#include "src/move/preflight.h"
#include "src/move/throttle.h"
#include "src/server/relation_pages.h"
#include "src/storage/file_size.h"

bool
tier_freeze_add(List **requests, const TierMoveRequest *request, const TierRelationInfo *info,
				const TierSet *set)
{
	TierMoveTarget where = tier_move_target(request);
	Oid			table_oid = info->kind != RELKIND_INDEX ? info->relation_oid :
	IndexGetRelation(info->relation_oid, true);
	MemoryContext old_context;
	TierMoveRequest *copy;
	ListCell   *cell;
	TierAdmission admission;

	tier_preflight_init(&admission, info, &where, set, tier_relation_disk_bytes(info));
	for (int check = 0; check < TIER_CHECKS; check++)
		if (check != TIER_CHECK_FROZEN &&
			tier_preflight_check(&admission, (TierCheck) check).message != NULL)
			return false;
	if (tier_preflight_check(&admission, TIER_CHECK_FROZEN).sqlstate !=
		ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
		return false;
	foreach(cell, *requests)
		if (((TierMoveRequest *) lfirst(cell))->relation_oid == table_oid)
		return true;
	old_context = MemoryContextSwitchTo(PortalContext);
	copy = palloc(sizeof(TierMoveRequest));
	*copy = *request;
	copy->relation_oid = table_oid;
	*requests = lappend(*requests, copy);
	MemoryContextSwitchTo(old_context);
	return true;
}

/*
 * In a transaction, as at its end.  The run may have lasted for hours since the request was
 * listed, so what it was admitted by is asked again.
 */
static void
freeze(const TierMoveRequest *request)
{
	TierRelationInfo info;
	const TierSet *set;
	bool		may_freeze;

	PushActiveSnapshot(GetTransactionSnapshot());
	set = tier_catalog_tiers_now();
	may_freeze = set != NULL && !tier_throttle_is_paused() &&
		tier_gate_ask_any(set, TIER_PRESSING_NO).may_begin &&
		tier_relation_lookup(request->relation_oid, &info) &&
		tier_relation_refuse_owner(&info, request->requester_oid).message == NULL;
	PopActiveSnapshot();
	if (may_freeze)
		tier_pages_freeze(request->relation_oid);
}

void
tier_freeze(const List *requests)
{
	ListCell   *cell;

	foreach(cell, requests)
	{
		tier_transaction_start();
		tier_pages_yield(true);
		PG_TRY();
		{
			freeze(lfirst(cell));
			CommitTransactionCommand();
		}
		PG_CATCH();
		{
			HOLD_INTERRUPTS();
			EmitErrorReport();
			AbortOutOfAnyTransaction();
			FlushErrorState();
			RESUME_INTERRUPTS();
		}
		PG_END_TRY();
		tier_pages_yield(false);

		/* A second one who waited must not cancel what comes next. */
		QueryCancelPending = false;
		MemoryContextSwitchTo(PortalContext);
	}
}
