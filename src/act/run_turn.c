/*-------------------------------------------------------------------------
 *
 * act/run_turn.c
 *		The turn of one entry of the plan in a run.
 *
 * A turn begins with the steps that can fail without a record (check_step): whether the move may
 * begin, and whether it is still wanted.  Then the mover makes it (act/move.h).  The result is
 * counted for the source: tiering policies, fullness policies, or the advice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "src/act/plan_notice.h"
#include "src/act/batch.h"
#include "src/act/freeze.h"
#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/act/run.h"
#include "src/act/run_state.h"
#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/server/relation.h"
#include "src/storage/file_size.h"

/* ---------------------------------------------------------------------
 * Counts
 * ---------------------------------------------------------------------
 */

static TierMoveCounts *
counts_of(TierRun *run, const TierPlanEntry *entry)
{
	return entry->source == TIER_SOURCE_FULLNESS ? &run->summary->emptied.counts :
		entry->source == TIER_SOURCE_ADVICE ? &run->summary->applied.counts :
		&run->summary->counts;
}

/* The next plan checks waiting entries again. */
static void
note_waiting(TierRun *run, const TierPlanEntry *entry, const char *why)
{
	TierRunSummary *summary = run->summary;

	counts_of(run, entry)->waiting++;
	if (summary->why_waiting == NULL)
		summary->why_waiting = MemoryContextStrdup(run->context, why);
}

static void
note_tried(TierRun *run, const TierPlanEntry *entry, bool in_vain)
{
	MemoryContext old_context = MemoryContextSwitchTo(run->context);
	List	  **list = in_vain ? &run->options.in_vain : &run->options.tried;

	*list = lappend_oid(*list, entry->relation_oid);
	run->tried++;
	MemoryContextSwitchTo(old_context);
}

/* ---------------------------------------------------------------------
 * Which entries
 * ---------------------------------------------------------------------
 */

/*
 * An entry that waits for a move window is checked again.  The mover reports why a relation has
 * no room.
 */
bool
tier_run_is_to_try(const TierPlanEntry *entry)
{
	return !entry->is_void && !entry->is_left && entry->state != TIER_PLAN_FAILED;
}

/* ---------------------------------------------------------------------
 * Emptying
 * ---------------------------------------------------------------------
 */

/*
 * The server is under pressure, or no move window is open: that ends the emptying for this run.
 * It may be over in the next moment, when hotter ones would leave in place of those that have met
 * it.
 */
static void
hold_up(TierRun *run, const char *why)
{
	run->emptying->held_up = MemoryContextStrdup(run->context, why);
}

/* If relations that were planned to leave have not, others may have to. */
void
tier_run_end_emptying(TierRun *run)
{
	TierEmptying *emptying = run->emptying;

	if (emptying == NULL)
		return;
	run->emptying = NULL;
	if (emptying->missed == 0 || emptying->waiting > 0 || emptying->held_up != NULL ||
		run->is_over || run->tried == 0)
		return;
	MemoryContextReset(run->step);
	MemoryContextSwitchTo(run->step);
	run->is_stale = tier_recheck_fullness(&run->recheck, emptying->policy_id) || run->is_stale;
	tier_transaction_commit();
	MemoryContextSwitchTo(run->context);
}

/* That of a policy of the plan; made in the current memory context if there is none. */
static TierEmptying *
find_emptying(TierRun *run, int policy_id)
{
	TierEmptying *emptying;
	ListCell   *cell;

	foreach(cell, run->emptyings)
	{
		emptying = lfirst(cell);
		if (emptying->policy_id == policy_id)
			return emptying;
	}
	emptying = palloc0(sizeof(TierEmptying));
	emptying->policy_id = policy_id;
	for (int i = 0; i < run->plan->nfullness; i++)
		if (run->plan->fullness[i].policy.policy_id == policy_id)
			emptying->tier_name = run->plan->fullness[i].policy.tier_name;
	run->emptyings = lappend(run->emptyings, emptying);
	return emptying;
}

/* False: it is not the turn of this tier, in this run. */
bool
tier_run_begin_emptying(TierRun *run, const TierPlanEntry *entry)
{
	TierEmptying *emptying;
	TierMoveStart start;

	MemoryContextSwitchTo(run->context);
	emptying = find_emptying(run, entry->policy_id);
	if (emptying->held_up != NULL)
		note_waiting(run, entry, emptying->held_up);
	if (emptying == run->emptying || emptying->held_up != NULL)
		return emptying->held_up == NULL;
	run->emptying = emptying;
	emptying->missed = 0;
	if (run->options.ignore_windows)
		return true;
	start = tier_gate_ask_any(run->plan->set, TIER_PRESSING_YES);
	if (!start.may_begin)
	{
		hold_up(run, start.reason);
		note_waiting(run, entry, start.reason);
	}
	return start.may_begin;
}

/* ---------------------------------------------------------------------
 * Advice
 * ---------------------------------------------------------------------
 */

/* Reports the advised moves and those left out; checks whether any of them may begin. */
void
tier_run_begin_advice(TierRun *run)
{
	TierRunSummary *summary = run->summary;
	TierPlan   *plan = run->plan;
	TierMoveStart start;

	if (run->has_told)
		return;
	run->has_told = true;
	summary->placement = plan->request.max_bytes > 0;
	run->skips_advice = !summary->placement;
	if (run->skips_advice)
		return;
	summary->applied.for_owners = plan->request.for_owners;
	if (!run->options.ignore_windows)
	{
		start = tier_gate_ask_any(plan->set, TIER_PRESSING_NO);
		summary->placement_waits = !start.may_begin;
		if (summary->placement_waits)
			summary->applied.why_waiting = MemoryContextStrdup(run->context, start.reason);
	}
	if (!summary->placement_waits && !run->is_alone)
	{
		run->is_alone = tier_batch_lock_alone(&run->alone);
		summary->applied.is_busy = !run->is_alone;
	}
	run->skips_advice = summary->placement_waits || summary->applied.is_busy;
	if (run->skips_advice)
		return;
	MemoryContextSwitchTo(run->plan_context);
	tier_apply_tell(plan, false);
	summary->applied = plan->applied;
	summary->applied.counts = (TierMoveCounts)
	{
		.not_moved = plan->left_out
	};
	summary->applied.why_waiting = NULL;
	tier_transaction_commit();
	MemoryContextSwitchTo(run->context);
}

/* ---------------------------------------------------------------------
 * Locked relations
 * ---------------------------------------------------------------------
 */

/*
 * An owner may keep all its relations locked, and the worker has others to serve.  So in each
 * run, which comes every few minutes, the worker waits only so long for locked relations of one
 * owner.  After that it tries only relations that no session has locked, so that locked relations
 * do not delay the others.
 */
#define PATIENCE_MS 60000.0

typedef struct LockWait
{
	Oid			owner_oid;
	double		ms;				/* in vain */
} LockWait;

/* Of that owner; NULL: none yet. */
static LockWait *
find_lock_wait(const TierRun *run, Oid owner_oid)
{
	ListCell   *cell;

	foreach(cell, run->lock_waits)
		if (((LockWait *) lfirst(cell))->owner_oid == owner_oid)
		return lfirst(cell);
	return NULL;
}

static void
add_lock_wait(TierRun *run, Oid owner_oid, double ms)
{
	MemoryContext old_context = MemoryContextSwitchTo(run->context);
	LockWait   *wait = find_lock_wait(run, owner_oid);

	if (wait == NULL)
	{
		wait = palloc0(sizeof(LockWait));
		wait->owner_oid = owner_oid;
		run->lock_waits = lappend(run->lock_waits, wait);
	}
	wait->ms += ms;
	MemoryContextSwitchTo(old_context);
}

/* Returns true if only unlocked relations of this owner are still to be tried. */
static bool
is_patience_spent(const TierRun *run, Oid owner_oid)
{
	const LockWait *wait = find_lock_wait(run, owner_oid);

	return wait != NULL && (wait->ms >= PATIENCE_MS || tier_debug_skips("owner_patience"));
}

/* ---------------------------------------------------------------------
 * One move
 * ---------------------------------------------------------------------
 */

/* The action of a run on a relation at its turn. */
typedef enum TurnState
{
	TURN_MOVES,
	TURN_WAITS,
	TURN_STAYS,					/* counted as not moved */
	TURN_UNWANTED				/* at present, or nothing is wanted */
} TurnState;

/* The input and the result of check_step(). */
typedef struct Turn
{
	TierRun    *run;
	TierPlanEntry *entry;
	TierMoveRequest request;
	Oid			owner_oid;
	TierMoveStart start;
	TurnState	state;
} Turn;

static bool
may_begin(Turn *turn, const TierRelationInfo *info)
{
	const TierRun *run = turn->run;
	TierPlannedMove planned = {
		.from_tablespace_oid = info->tablespace_oid,
		.to_tablespace_oid = turn->request.tablespace_oid,
		.bytes = (double) tier_relation_disk_bytes(info),
		.by_worker = run->options.by_worker,
		.is_optional = turn->request.is_optional,
		.pressing = turn->request.pressing
	};

	if (run->options.ignore_windows)
		return true;
	turn->start = tier_gate_ask(run->plan->set, &planned);
	return turn->start.may_begin;
}

static void
warn_no_tablespace(const Turn *turn, const TierRelationInfo *info)
{
	ereport(turn->run->options.by_worker ? LOG : WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not move %s: tier \"%s\" has no tablespace", info->name,
					turn->entry->to_tier),
			 errhint("Give it one with tiered_storage.alter_tier().")));
}

/*
 * Returns true if only the load asks for the move.  Then move_limit_per_day applies, and may be
 * reached.
 */
static bool
is_for_load(const TierRun *run, const TierPlanEntry *entry)
{
	return entry->job != NULL ? entry->job->leaf->verdict == TIER_VERDICT_RETURNS :
		entry->candidate != NULL && run->plan->request.for_owners;
}

/*
 * Checks whether there is a tablespace for it, whether its move may begin, and whether it is
 * still wanted.
 */
static void
check_step(void *argument)
{
	Turn	   *turn = argument;
	TierRun    *run = turn->run;
	const TierPlanEntry *entry = turn->entry;
	TierRelationInfo info;

	tier_debug_relation("plan", entry->relation_oid);
	MemoryContextReset(run->step);
	MemoryContextSwitchTo(run->step);
	turn->request = entry->request;
	turn->state = TURN_UNWANTED;
	if (!tier_relation_lookup(entry->relation_oid, &info))
		return;
	turn->owner_oid = info.owner_oid;
	turn->state = TURN_STAYS;
	if (!OidIsValid(entry->to_tablespace_oid))
	{
		warn_no_tablespace(turn, &info);
		return;
	}
	turn->state = TURN_WAITS;
	if (entry->source != TIER_SOURCE_FULLNESS && !may_begin(turn, &info))
		return;
	turn->state = TURN_UNWANTED;
	if (!tier_recheck(&run->recheck, entry, &turn->request))
		return;
	turn->state = TURN_STAYS;
	if (!OidIsValid(turn->request.tablespace_oid))
		return;
	if (is_for_load(run, entry) &&
		!tier_return_is_within_limit(entry->relation_oid,
									 entry->job != NULL && !run->options.by_worker))
		return;
	turn->state = may_begin(turn, &info) ? TURN_MOVES : TURN_WAITS;
	if (turn->state == TURN_MOVES && run->options.to_freeze != NULL && entry->job != NULL &&
		tier_freeze_first(run->options.to_freeze, &turn->request, &info, run->plan->set))
	{
		turn->state = TURN_WAITS;
		turn->start.reason = "waiting: it is frozen first";
	}
}

/* It may not begin now. */
static void
wait_for_start(Turn *turn)
{
	TierRun    *run = turn->run;
	const TierPlanEntry *entry = turn->entry;

	note_waiting(run, entry, turn->start.reason);
	if (run->emptying != NULL && turn->start.under_pressure)
		hold_up(run, turn->start.reason);
	else if (run->emptying != NULL)
		run->emptying->waiting++;

	/* Other moves count on the room of this one: they wait, too. */
	if (entry->source == TIER_SOURCE_ADVICE && entry->state == TIER_PLAN_READY)
		run->is_stale = run->tried > 0;
}

/* Counts the result of a move for the policy whose tier is emptied. */
static void
note_emptying(TierRun *run, const TierMoveReport *report)
{
	if (report->under_pressure)
		hold_up(run, report->why.message);
	else if (report->state == TIER_STATE_WAITING)
		run->emptying->waiting++;
	else if (report->state != TIER_STATE_DONE && report->state != TIER_STATE_NOT_NEEDED)
		run->emptying->missed++;
}

static void
move_one(Turn *turn)
{
	TierRun    *run = turn->run;
	const TierPlanEntry *entry = turn->entry;
	TierMoveRequest *request = &turn->request;
	TierMoveCounts *counts = counts_of(run, entry);
	TierMoveReport report;
	bool		in_vain;

	if (run->emptying != NULL && !list_member_int(run->options.begun, entry->policy_id))
		run->options.begun = lappend_int(run->options.begun, entry->policy_id);
	run->recheck.begun = run->options.begun;
	if (counts->batch_id == 0)
		counts->batch_id = tier_batch_begin();
	request->batch_id = counts->batch_id;
	request->obeys_windows = !run->options.ignore_windows;
	request->only_if_free = run->options.by_worker &&
		is_patience_spent(run, turn->owner_oid);
	request->is_wanted = tier_recheck_is_wanted;
	request->argument = &run->recheck;
	request->idle = run->idle;
	request->counts = counts;
	request->is_one_of_many = true;
	MemoryContextSwitchTo(run->step);
	report = tier_move_one(request);
	run->ended++;
	if (tier_move_was_busy(&report))
		add_lock_wait(run, turn->owner_oid, report.worked_ms);
	if (run->emptying != NULL)
		note_emptying(run, &report);
	if (report.state == TIER_STATE_WAITING)
		note_waiting(run, entry, report.why.message);
	in_vain = entry->job != NULL &&
		(report.state == TIER_STATE_SKIPPED || report.state == TIER_STATE_FAILED);
	if (report.unrecorded != NULL)
		(void) tier_pass_failed(&run->moves, entry->relation_oid, NULL, report.unrecorded);
	else
		tier_move_warn(&report, run->options.by_worker);
	note_tried(run, entry, in_vain);
}

/* The same with the steps before it. */
void
tier_run_take_turn(TierRun *run, TierPlanEntry *entry)
{
	Turn		turn = {.run = run,.entry = entry};
	ErrorData  *error;

	if (entry->waits_for_room)
	{
		note_waiting(run, entry, entry->reason);
		return;
	}
	if (tier_pass_skips(&run->checks, entry->relation_oid) ||
		tier_pass_skips(&run->moves, entry->relation_oid))
	{
		counts_of(run, entry)->not_moved++;
		note_tried(run, entry, false);
		return;
	}
	error = tier_attempt(check_step, &turn);
	if (error != NULL)
	{
		MemoryContextSwitchTo(run->step);
		(void) tier_pass_failed(&run->checks, entry->relation_oid, NULL, error);
		turn.state = TURN_STAYS;
	}
	tier_transaction_commit();
	MemoryContextSwitchTo(run->context);
	switch (turn.state)
	{
		case TURN_MOVES:
			move_one(&turn);
			break;
		case TURN_WAITS:
			wait_for_start(&turn);
			break;
		case TURN_STAYS:
			counts_of(run, entry)->not_moved++;
			note_tried(run, entry, false);
			if (run->emptying != NULL)
				run->emptying->missed++;
			break;
		case TURN_UNWANTED:
			if (run->emptying != NULL)
				run->emptying->missed++;
			run->is_over = !tier_batch_may_go_on(run->options.by_worker);
			if (!run->is_over && entry->job != NULL)
				run->summary->no_longer_due++;
			break;
	}
	MemoryContextSwitchTo(run->context);
}
