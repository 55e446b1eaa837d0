/*-------------------------------------------------------------------------
 *
 * act/plan_entry.c
 *		One entry of the plan, and the reason for which it waits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"

#include "src/act/plan_state.h"
#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/base/by_oid.h"
#include "src/base/sql.h"
#include "src/server/relation.h"
#include "src/storage/file_size.h"

typedef struct Listed
{
	Oid			relation_oid;	/* the key */
	int			entry;			/* -1: none, since it was tried before */
	bool		in_vain;		/* a tiering policy cannot move it */
} Listed;

HTAB *
tier_plan_create_list(void)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(Listed);
	control.hcxt = CurrentMemoryContext;
	return hash_create("tiered_storage plan", 256, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * An empty one.  NULL: the relation has one already, unless that is of a tiering policy that
 * cannot move it: then that one is void.
 */
static TierPlanEntry *
add_entry(TierPlanning *planning, Oid relation_oid)
{
	TierPlan   *plan = planning->plan;
	bool		found;
	Listed	   *listed = hash_search(planning->listed, &relation_oid, HASH_ENTER, &found);

	if (found && !listed->in_vain)
		return NULL;
	if (found && listed->entry >= 0)
		plan->entries[listed->entry].is_void = true;
	listed->in_vain = false;
	if (plan->n == planning->room)
	{
		planning->room *= 2;
		plan->entries = repalloc_huge(plan->entries, sizeof(TierPlanEntry) * planning->room);
	}
	listed->entry = plan->n;
	return &plan->entries[plan->n++];
}

/* A relation that was tried in this run is listed again only for another source. */
void
tier_plan_add_tried(TierPlanning *planning, const List *oids, bool in_vain)
{
	const ListCell *cell;

	foreach(cell, oids)
	{
		Listed	   *listed = hash_search(planning->listed, &lfirst_oid(cell), HASH_ENTER, NULL);

		listed->entry = -1;
		listed->in_vain = in_vain;
		if (in_vain)
			planning->in_vain = lappend_oid(planning->in_vain, lfirst_oid(cell));
	}
}

bool
tier_plan_was_tried(const TierPlanning *planning, Oid relation_oid)
{
	const Listed *listed = hash_search(planning->listed, &relation_oid, HASH_FIND, NULL);

	return listed != NULL && listed->entry < 0;
}

void
tier_plan_set_in_vain(TierPlanning *planning, Oid relation_oid)
{
	Listed	   *listed = hash_search(planning->listed, &relation_oid, HASH_FIND, NULL);

	listed->in_vain = true;
	planning->in_vain = lappend_oid(planning->in_vain, relation_oid);
}

/* ---------------------------------------------------------------------
 * Waits
 * ---------------------------------------------------------------------
 */

bool
tier_plan_add(TierPlanItem *item, void (*add) (void *item))
{
	TierPlanning *planning = item->planning;
	Oid			relation_oid = item->relation_oid;
	int			n = planning->plan->n;
	MemoryContext old_context;
	ErrorData  *error;

	item->answer = false;
	if (tier_pass_skips(&planning->pass, relation_oid))
		return false;
	old_context = MemoryContextSwitchTo(planning->context);
	error = tier_attempt(add, item);
	MemoryContextSwitchTo(old_context);
	if (error == NULL)
		return item->answer;
	item->answer = false;
	(void) tier_pass_failed(&planning->pass, relation_oid, NULL, error);
	if (planning->plan->n > n)
		(void) hash_search(planning->listed, &relation_oid, HASH_REMOVE, NULL);
	planning->plan->n = n;
	return false;
}

TierPlanEntry *
tier_plan_begin_entry(TierPlanning *planning, const TierMoveRequest *request,
					  TierPlanSource source, int to_tier, TierRelationInfo *info)
{
	const TierBackoff *backoff;
	TierPlanEntry *entry;

	CHECK_FOR_INTERRUPTS();
	tier_debug_relation("list", request->relation_oid);
	if (!tier_relation_lookup(request->relation_oid, info))
		return NULL;
	entry = add_entry(planning, request->relation_oid);
	if (entry == NULL)
		return NULL;
	*entry = (TierPlanEntry)
	{
		.relation_oid = request->relation_oid,.file_number = info->file_number,
			.from_tablespace_oid = info->tablespace_oid,
			.to_tablespace_oid = request->tablespace_oid,
			.from_tier = tier_set_tier_name(planning->set,
											tier_set_tier_of_tablespace(planning->set,
																		info->tablespace_oid)),
			.to_tier = tier_set_tier_name(planning->set, to_tier),
			.bytes = (double) tier_relation_disk_bytes(info),
			.source = source,.policy_id = request->policy_id,.why = request->reason,
			.request = *request,.state = TIER_PLAN_READY
	};
	backoff = tier_by_oid_find(request->relation_oid, planning->backoff, planning->nbackoff,
							   sizeof(TierBackoff));
	if (backoff != NULL)
	{
		entry->state = TIER_PLAN_FAILED;
		entry->next_attempt_at = backoff->next_attempt_at;
	}
	return entry;
}

void
tier_plan_set_waiting(TierPlanEntry *entry, const char *reason)
{
	entry->state = TIER_PLAN_WAITING;
	entry->reason = reason;
	entry->next_attempt_at = 0;
}

/*
 * An entry that has failed recently waits beyond its next attempt if no move begins then: all are
 * held up, or a window opens later.
 */
static void
wait_for_more(TierPlanning *planning, TierPlanEntry *entry, const TierMoveRequest *request,
			  const TierRelationInfo *info)
{
	TierMoveStart start;

	if (planning->held_up != NULL)
	{
		tier_plan_set_waiting(entry, planning->held_up);
		return;
	}
	start = tier_foresee_start(planning->foresight, info, request, true);
	if (!start.may_begin && start.at > entry->next_attempt_at)
		tier_plan_set_waiting(entry, start.reason);
}

static TierObstacle
no_tablespace(const TierPlanEntry *entry)
{
	TierObstacle obstacle = {
		.message = psprintf("tier \"%s\" has no tablespace that it may use",
							entry->to_tier == NULL ? "?" : entry->to_tier),
		.hint = "Give it one with tiered_storage.alter_tier().",
		.sqlstate = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE
	};

	return obstacle;
}

/*
 * Sets the state of the entry, unless it has failed recently, as of its turn.  Returns the
 * predicted result of a run; empty if it was not asked for.
 */
TierProspect
tier_plan_judge(TierPlanning *planning, TierPlanEntry *entry, const TierMoveRequest *request,
				const TierRelationInfo *info)
{
	TierProspect prospect = {0};

	if (entry->state == TIER_PLAN_FAILED)
	{
		wait_for_more(planning, entry, request, info);
		return prospect;
	}
	if (!OidIsValid(entry->to_tablespace_oid))
		prospect.obstacle = no_tablespace(entry);
	else if (!RecoveryInProgress())
		(void) tier_foresee_prospect(planning->foresight, request, planning->pins,
									 planning->options->by_worker,
									 planning->options->ignore_windows, &prospect);
	if (entry->source == TIER_SOURCE_ADVICE && planning->options->apply == NULL &&
		prospect.obstacle.sqlstate == ERRCODE_DISK_FULL)
	{
		/* It is not tried, and so does not fail, until others have left. */
		entry->waits_for_room = prospect.start.may_begin;
		if (entry->waits_for_room)
			tier_plan_set_waiting(entry, psprintf("waiting: %s", prospect.obstacle.message));
		prospect.obstacle = (TierObstacle)
		{
			0
		};
	}
	entry->obstacle = prospect.obstacle;
	if (prospect.obstacle.message != NULL)
		tier_plan_set_waiting(entry, psprintf("waiting: %s", prospect.obstacle.message));
	if (prospect.start.reason != NULL && !prospect.start.may_begin)
		tier_plan_set_waiting(entry, prospect.start.reason);
	if (planning->held_up != NULL && OidIsValid(entry->to_tablespace_oid))
		tier_plan_set_waiting(entry, planning->held_up);
	return prospect;
}

/* left_bytes: of the day, when its turn comes. */
char *
tier_plan_limit_text(const TierPlanEntry *entry, double left_bytes)
{
	return psprintf("waiting: move_limit_per_day (%s) has %s left today%s",
					tier_size_text(tier_move_limit_per_day_mb * 1048576.0),
					tier_size_text(Max(left_bytes, 0.0)),
					entry->bytes > left_bytes ? "" :
					", too little for it and the moves that make room for it");
}

/* Tiers that are above the marks of their fullness policies after the last entry. */
void
tier_plan_note_above(TierPlanning *planning)
{
	TierPlan   *plan = planning->plan;
	Bitmapset  *above = tier_foresight_above(planning->foresight);

	if (plan->n > 1 && bms_equal(above, plan->entries[plan->n - 2].above))
		plan->entries[plan->n - 1].above = plan->entries[plan->n - 2].above;
	else
		plan->entries[plan->n - 1].above = bms_copy(above);
	bms_free(above);
}
