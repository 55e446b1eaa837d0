/*-------------------------------------------------------------------------
 *
 * act/apply.c
 *		From advice to moves: one batch, in an order that always has room.
 *
 * Runs in sessions that CALL apply_placement, and, with auto_migrate =
 * placement, in the worker and in sessions that CALL migrate.  The advice is
 * made once, from one snapshot; then each move is a series of transactions of
 * its own and checks again what it needs, so what has changed meanwhile makes a
 * move fail or be needless, never wrong.  A relation that fails does not stop
 * the others; those that needed its room are refused by the check of space, at
 * worst.
 *
 * Whose rights?  Those of the caller, if a person asks.  Where nobody asks
 * there is no policy and no creator, so the owner of each relation counts: who
 * has no CREATE on a tablespace gets no room there by heating his table, and
 * GRANT CREATE ON TABLESPACE says who may be moved where.  Nothing of an owner
 * is executed by a move, as server/relation.c has it.
 *
 * A batch holds a lock of the session, on the extension and known to nobody
 * else, so that two of them do not fill the same room.
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

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/act/apply.h"
#include "src/act/apply_candidates.h"
#include "src/act/apply_notice.h"
#include "src/act/batch.h"
#include "src/act/gate.h"
#include "src/catalog/tables.h"
#include "src/base/settings.h"
#include "src/act/move.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"
#include "src/base/transaction.h"

/*
 * How often a batch tries what is busy, the first time included.  Each time others
 * have been moved, which makes room, and relieves the device on which the
 * transactions wait that have it locked.
 */
#define MOST_ROUNDS 5

/* In the log. */
#define CAUSE "advice"

/* Makes the lock of the batches differ from that of the extension itself. */
#define BATCH_LOCK_SUBID 1

/* ---------------------------------------------------------------------
 * One move
 * ---------------------------------------------------------------------
 */

/* What runs as one. */
typedef struct Batch
{
	const TierApplyRequest *request;
	TierApplySummary *summary;
	const TierAdvice *advice;	/* this and what follows: of run_rounds() */
	TierPass	plan;			/* what fails before its move, */
	TierPass	moves;			/* and what fails in it without a record */
	char	  **held;			/* by tier: for what those wait that have no
								 * room there, as something that leaves it
								 * waits; NULL: nothing does */
} Batch;

/* It does not begin now, so that what it would make room for does not, either. */
static void
count_waiting(Batch *batch, const TierCandidate *candidate, char *reason)
{
	int			tier = candidate->unit->current_tier;

	if (batch->summary->counts.waiting++ == 0)
		batch->summary->why_waiting = reason;
	if (batch->held[tier] == NULL)
		batch->held[tier] = tier_foresee_room_text(NameStr(batch->advice->set->tiers[tier].name),
												   tier_candidate_name(candidate->unit), reason);
}

/* Has it to wait for a move window?  Then it is counted as such. */
static bool
has_to_wait(Batch *batch, const TierCandidate *candidate)
{
	const TierApplyRequest *request = batch->request;
	TierPlannedMove planned = {0};
	TierRelationInfo info;
	TierMoveStart start;

	if (!request->for_owners || request->ignore_windows ||
		!tier_relation_lookup(candidate->unit->relation_oid, &info))
		return false;
	planned.from_tablespace_oid = info.tablespace_oid;
	planned.to_tablespace_oid = candidate->tablespace_oid;
	planned.bytes = candidate->disk_bytes;
	planned.by_worker = request->by_worker;
	planned.is_optional = true;
	start = tier_gate_ask(batch->advice->set, &planned);
	if (!start.may_begin)
		count_waiting(batch, candidate, start.reason);
	return !start.may_begin;
}

/*
 * A batch may take hours.  What somebody has moved or pinned meanwhile is where
 * he wants it, a tier may have been given other tablespaces, or removed, and what has
 * got another owner is no more to be moved with the rights of the former one.
 */
static bool
is_still_advised(const TierAdvice *advice, const TierCandidate *candidate)
{
	const TierAdviceUnit *unit = candidate->unit;
	bool		wanted;
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	TierPins   *pins;

	if (!tier_relation_lookup(unit->relation_oid, &info) ||
		tier_set_tier_of_tablespace(advice->set, info.tablespace_oid) != unit->current_tier ||
		(candidate->for_owner && info.owner_oid != candidate->requester_oid) ||
		!tier_catalog_try_enter(&scope))
		return false;
	wanted = tier_catalog_tier_has(NameStr(advice->set->tiers[unit->recommended_tier].name),
								   candidate->tablespace_oid);
	pins = tier_catalog_load_pin_of(context, unit->relation_oid);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	return wanted &&
		tier_pins_against(pins, advice->set, unit->relation_oid, unit->recommended_tier) == NULL;
}

/* Where it goes by what there is now: its tier may have more than one tablespace. */
static void
choose_tablespace(const TierAdvice *advice, TierCandidate *candidate)
{
	TierMoveRequest move = {
		.tablespace_oid = candidate->tablespace_oid,.requester_oid = candidate->requester_oid
	};

	tier_move_choose(&move, NameStr(advice->set->tiers[candidate->unit->recommended_tier].name));
	candidate->tablespace_oid = move.tablespace_oid;
}

/* What is_still_wanted() is asked about. */
typedef struct Advised
{
	const TierAdvice *advice;
	const TierCandidate *candidate;
} Advised;

/* For tier_move_one(), which asks while it waits and copies. */
static bool
is_still_wanted(const TierMoveRequest *request)
{
	const Advised *advised = request->argument;
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage decision",
												  ALLOCSET_DEFAULT_SIZES);
	bool		is_wanted;

	MemoryContextSwitchTo(context);
	is_wanted = is_still_advised(advised->advice, advised->candidate);
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return is_wanted;
}

/* By what is there now.  In a transaction, outside of a scope. */
static bool
has_no_room(const TierMoveRequest *move)
{
	const TierForeseenRun run = {.ignore_windows = true};
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage room",
												  ALLOCSET_DEFAULT_SIZES);
	TierProspect prospect = {0};
	TierCatalogScope scope;

	MemoryContextSwitchTo(context);
	if (tier_catalog_try_enter(&scope))
	{
		TierSet    *set = tier_catalog_load_tiers(context);

		tier_catalog_leave(&scope);
		MemoryContextSwitchTo(context);
		(void) tier_foresee_prospect(tier_foresight_create(set), move, NULL, &run, &prospect);
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return prospect.obstacle.sqlstate == ERRCODE_DISK_FULL;
}

/* What plan_step() is given, and what it finds. */
typedef struct Turn
{
	Batch	   *batch;
	TierCandidate *candidate;
	bool		is_last;
	TierMoveRequest move;
	bool		is_advised;		/* still */
	bool		moves;
	bool		is_tried_again;
} Turn;

/* Is it still advised, may its move begin, and does it have room? */
static void
plan_step(void *argument)
{
	Turn	   *turn = argument;
	Batch	   *batch = turn->batch;
	TierCandidate *candidate = turn->candidate;
	char	   *held = batch->held[candidate->unit->recommended_tier];

	tier_debug_relation("plan", candidate->unit->relation_oid);
	choose_tablespace(batch->advice, candidate);
	turn->is_advised = is_still_advised(batch->advice, candidate);
	if (!turn->is_advised || has_to_wait(batch, candidate))
		return;
	turn->move = tier_candidate_request(batch->advice, candidate);
	if (held == NULL || !has_no_room(&turn->move))
		turn->moves = true;
	else if (turn->is_last)
		count_waiting(batch, candidate, held);
	else
		turn->is_tried_again = true;
}

/*
 * One move; its outcome is added to the summary.  True: nothing came of it, and it is
 * to be tried again.
 */
static bool
move_one(Batch *batch, const TierCandidate *candidate, TierMoveRequest *move, bool is_last)
{
	const TierApplyRequest *request = batch->request;
	TierApplySummary *summary = batch->summary;
	Advised		advised = {batch->advice, candidate};
	TierMoveReport report;

	move->obeys_windows = request->for_owners && !request->ignore_windows;
	move->batch_id = summary->batch_id;
	move->is_wanted = is_still_wanted;
	move->argument = &advised;
	move->idle = request->idle;
	move->is_tried_again = !is_last;
	move->is_one_of_many = true;
	move->counts = &summary->counts;
	report = tier_move_one(move);
	if (report.state == TIER_STATE_WAITING)
		count_waiting(batch, candidate, report.error);
	if (report.unrecorded != NULL)
	{
		(void) tier_pass_failed(&batch->moves, candidate->unit->relation_oid, NULL,
								report.unrecorded);
		return false;
	}
	if (!is_last && tier_move_is_worth_retrying(&report))
	{
		tier_apply_tell_tried_again(&report, request->by_worker);
		return true;
	}
	tier_move_warn(&report, request->by_worker);
	return false;
}

/* The same with what comes before it.  *is_advised: it was advised still, or has failed. */
static bool
take_turn(Batch *batch, TierCandidate *candidate, bool is_last, bool *is_advised)
{
	Oid			relation_oid = candidate->unit->relation_oid;
	Turn		turn = {.batch = batch,.candidate = candidate,.is_last = is_last};
	ErrorData  *error = NULL;

	*is_advised = true;
	if (tier_pass_skips(&batch->plan, relation_oid) ||
		tier_pass_skips(&batch->moves, relation_oid) ||
		(error = tier_attempt(plan_step, &turn)) != NULL)
	{
		if (error != NULL)
			(void) tier_pass_failed(&batch->plan, relation_oid, NULL, error);
		batch->summary->counts.not_moved++;
		tier_transaction_commit();
		return false;
	}
	*is_advised = turn.is_advised;
	tier_transaction_commit();
	return turn.moves ? move_one(batch, candidate, &turn.move, is_last) : turn.is_tried_again;
}

/* ---------------------------------------------------------------------
 * The batch
 * ---------------------------------------------------------------------
 */

/*
 * Goes over all that is left once.  What is to be tried again is kept, in its order;
 * returns how many these are, in the last round none.
 */
static int
run_round(Batch *batch, TierCandidate *candidates, int n, bool is_last)
{
	const TierApplyRequest *request = batch->request;
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		bool		is_advised;

		CHECK_FOR_INTERRUPTS();
		if (request->by_worker && tier_batch_is_switched_off(TIER_AUTO_MIGRATE_PLACEMENT))
			return 0;
		if (take_turn(batch, &candidates[i], is_last, &is_advised))
			candidates[kept++] = candidates[i];
		if (!is_advised && !tier_batch_may_go_on(request->by_worker))
			return 0;
		if (request->idle != NULL && request->idle->is_due())
			request->idle->run();
	}
	return kept;
}

/*
 * Round after round, as long as each of them gets something done, and then a last one
 * with all patience.  What waits for nobody is so not held up by what does.
 */
static void
run_rounds(Batch *batch, TierCandidate *candidates, int n)
{
	bool		got_on = true;
	bool		is_last = false;

	for (int round = 1; n > 0 && !is_last; round++)
	{
		int			moved = batch->summary->counts.moved;

		is_last = n == 1 || round == MOST_ROUNDS || !got_on;
		n = run_round(batch, candidates, n, is_last);
		got_on = batch->summary->counts.moved > moved;
	}
}

static void
run_batch(void *argument)
{
	Batch	   *batch = argument;
	const TierApplyRequest *request = batch->request;
	TierApplySummary *summary = batch->summary;
	MemoryContext context = CurrentMemoryContext;
	TierCandidate *candidates;
	TierAdvice *advice;
	double		bytes = 0.0;
	TierArrangement arrangement;
	int			possible;

	/* 1. What, and in which order? */
	advice = tier_candidates_prepare(request, summary, &candidates, &arrangement);
	possible = arrangement.possible;
	summary->counts.not_moved = arrangement.left_over - summary->beyond_limit + arrangement.spare;
	tier_apply_tell_nothing(request, advice, summary);
	tier_apply_tell_unsure(request, advice, summary);
	tier_apply_tell_wear(request, advice, candidates, arrangement.possible);
	tier_apply_tell_left(advice, candidates, &arrangement, request->by_worker);
	if (possible == 0)
		return;

	/* 2. One after the other; what is busy again, after the others. */
	for (int i = 0; i < possible; i++)
		bytes += candidates[i].disk_bytes;
	MemoryContextSwitchTo(context);
	summary->batch_id = tier_batch_begin(CAUSE, possible, bytes, &summary->counts);
	if (summary->batch_id == 0)
		return;					/* the extension has gone */
	tier_pending_sweep();
	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	batch->advice = advice;
	tier_pass_begin(&batch->plan, TIER_STEP_PLAN);
	tier_pass_begin(&batch->moves, TIER_STEP_MOVE);
	batch->held = palloc0(sizeof(char *) * Max(advice->set->ntiers, 1));
	run_rounds(batch, candidates, possible);
}

/*
 * User locks outlive the rollbacks that a batch consists of, which release all
 * other locks, those of the session included; and nobody can take an object's with
 * pg_advisory_lock().
 */
static LOCKTAG
batch_lock(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId,
					   get_extension_oid("tiered_storage", false), BATCH_LOCK_SUBID);
	tag.locktag_lockmethodid = USER_LOCKMETHOD;
	return tag;
}

bool
tier_apply_lock(LOCKTAG *tag)
{
	*tag = batch_lock();
	return LockAcquire(tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

TierApplySummary
tier_apply_run(const TierApplyRequest *request)
{
	TierApplySummary summary = {0};
	Batch		batch = {.request = request,.summary = &summary};
	LOCKTAG		tag;

	if (!tier_apply_lock(&tag))
	{
		summary.is_busy = true;
		return summary;
	}
	PG_TRY();
	{
		tier_batch_run(run_batch, &batch);
	}
	PG_FINALLY();
	{
		LockRelease(&tag, ExclusiveLock, true);
	}
	PG_END_TRY();
	return summary;
}
