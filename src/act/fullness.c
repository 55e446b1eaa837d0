/*-------------------------------------------------------------------------
 *
 * act/fullness.c
 *		Emptying tiers that are too full.
 *
 * Runs in the worker and in sessions that CALL migrate, before, between and after what tiering
 * policies move, which it sees.  The policies are evaluated once; then, before each move, it
 * is asked again how full the tier and its target are, and decided again what leaves next:
 * others may have freed or taken room meanwhile, or be about to.
 *
 * A tier is emptied by one process at a time: tablespaces belong to all databases, and
 * two workers that see the same tier too full would empty it twice.  So who begins takes
 * a lock of the session on each of the tier's tablespaces, known to nobody else.
 *
 * Whose rights?  Those of the owner of each relation, as where nobody asks for a move
 * (act/apply.c): a policy lends nobody the rights of who made it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_tablespace.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/act/batch.h"
#include "src/act/emptying.h"
#include "src/act/fullness.h"
#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/act/move.h"
#include "src/act/patience.h"
#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/server/relation.h"

/* Makes the lock differ from other locks of a tablespace. */
#define EMPTYING_LOCK_SUBID 1

/* In the log. */
#define CAUSE "fullness policies"

/* ---------------------------------------------------------------------
 * One process at a time
 * ---------------------------------------------------------------------
 */

static LOCKTAG
emptying_lock(Oid tablespace_oid)
{
	LOCKTAG		tag;

	/* A shared object: the same in all databases. */
	SET_LOCKTAG_OBJECT(tag, InvalidOid, TableSpaceRelationId, tablespace_oid, EMPTYING_LOCK_SUBID);
	tag.locktag_lockmethodid = USER_LOCKMETHOD;
	return tag;
}

static void
unlock_tablespaces(const Oid *tablespaces, int n)
{
	for (int i = 0; i < n; i++)
	{
		LOCKTAG		tag = emptying_lock(tablespaces[i]);

		LockRelease(&tag, ExclusiveLock, true);
	}
}

/* Those of the tier, *n of them; NULL: another process has one, and none is locked. */
static Oid *
lock_tablespaces(const TierSet *set, int tier, int *n)
{
	Oid		   *locked = palloc(sizeof(Oid) * Max(set->ntablespaces, 1));

	*n = 0;
	for (int i = 0; i < set->ntablespaces; i++)
	{
		LOCKTAG		tag;

		if (set->tablespaces[i].tier != tier)
			continue;
		tag = emptying_lock(set->tablespaces[i].oid);
		if (LockAcquire(&tag, ExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		{
			unlock_tablespaces(locked, *n);
			return NULL;
		}
		locked[(*n)++] = set->tablespaces[i].oid;
	}
	return locked;
}

/* ---------------------------------------------------------------------
 * Before each move
 * ---------------------------------------------------------------------
 */

/* The emptying of one tier. */
typedef struct Emptying
{
	const TierFullnessRun *run;
	TierFullnessEvaluation *evaluation;
	TierFullnessEvaluation *evaluations;	/* of all policies; it is one of
											 * them */
	int			n;
	TierFullnessSummary *summary;
	const TierFullnessQuestion *question;
	MemoryContext context;		/* of what outlives a move */
	MemoryContext step;			/* reset before each move */
	const TierSet *set;			/* as of the last look_again(), in `step` */
	TierFullnessUnit to_come;	/* sums of what leaves as soon as a move
								 * window opens: nothing hotter has to */
	double		to_come_places[TIER_FULLNESS_PLACES];	/* the same, by where it
														 * goes to */
	int			ncoming;
	int			moved;
	int			stayed;			/* that were to leave, and have not; but for
								 * what held_up says */
	char	   *why_stayed;		/* the first of them; NULL: none */
	char	   *held_up;		/* what the server is under pressure of, so
								 * that nothing more leaves; NULL: it is not */
} Emptying;

/* Are the tiers what they were when the policy was evaluated? */
static bool
is_same_set(const TierFullnessEvaluation *evaluation, const TierSet *set)
{
	const TierSet *then = evaluation->advice->set;

	return evaluation->tier < set->ntiers && evaluation->target < set->ntiers &&
		strcmp(NameStr(then->tiers[evaluation->tier].name),
			   NameStr(set->tiers[evaluation->tier].name)) == 0 &&
		strcmp(NameStr(then->tiers[evaluation->target].name),
			   NameStr(set->tiers[evaluation->target].name)) == 0;
}

static void
add_unit(TierFullnessUnit *sum, const TierFullnessUnit *unit)
{
	sum->own_bytes += unit->own_bytes;
	sum->disk_bytes += unit->disk_bytes;
	sum->target_bytes += unit->target_bytes;
}

/* Does its policy ask for the same still, if with other marks?  In a catalog scope. */
static bool
asks_still(TierFullnessEvaluation *evaluation, const TierSet *set)
{
	return evaluation->error == NULL && is_same_set(evaluation, set) &&
		tier_catalog_fullness_wants(evaluation->policy) && tier_fullness_follow(evaluation, set);
}

/*
 * The tiers as they are by now, and how full the one that is emptied is, with what is about to
 * come to it; NULL: the policy, or a tier of it, is another one or gone.  In the current memory
 * context.
 */
static TierSet *
load_if_wanted(const Emptying *emptying)
{
	MemoryContext context = CurrentMemoryContext;
	int			this = (int) (emptying->evaluation - emptying->evaluations);
	bool	   *wanted = palloc0(sizeof(bool) * emptying->n);
	TierSet    *set;
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return NULL;
	set = tier_catalog_load_tiers(context);
	wanted[this] = asks_still(emptying->evaluation, set);
	for (int i = this + 1; i < emptying->n && wanted[this]; i++)
		wanted[i] = asks_still(&emptying->evaluations[i], set);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (!wanted[this])
		return NULL;
	tier_fullness_look_at_arriving(emptying->evaluations, emptying->n, this, wanted, set,
								   emptying->question);
	return set;
}

/*
 * Asks how full the tiers are, and decides what leaves next.  False: nothing does, or the
 * policy has been changed.  In a transaction; ends it.
 */
static bool
look_again(Emptying *emptying)
{
	TierFullnessEvaluation *evaluation = emptying->evaluation;
	TierFullnessProblem *problem = &evaluation->problem;
	MemoryContext old_context = MemoryContextSwitchTo(emptying->step);
	TierSet    *set = load_if_wanted(emptying);

	if (set != NULL)
	{
		tier_fullness_find_room(evaluation, set, emptying->question);
		problem->has_begun = emptying->moved > 0;
		if (emptying->ncoming > 0)
			tier_emptying_take_away(problem, &emptying->to_come);
		for (int p = 0; p < problem->nplaces; p++)
			problem->place_bytes[p] -= emptying->to_come_places[p];
		tier_fullness_decide_again(evaluation, set);
	}
	emptying->set = set;
	tier_transaction_commit();
	MemoryContextSwitchTo(old_context);
	return set != NULL && evaluation->result.nleaving > 0;
}

/*
 * For tier_move_one(), which asks while it waits and copies: is the tier, with what leaves,
 * still above its low watermark?
 */
static bool
is_still_wanted(const TierMoveRequest *request)
{
	const Emptying *emptying = request->argument;
	TierFullnessEvaluation *evaluation = emptying->evaluation;
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage decision",
												  ALLOCSET_DEFAULT_SIZES);
	TierSet    *set;
	bool		is_wanted = false;

	MemoryContextSwitchTo(context);
	set = load_if_wanted(emptying);
	if (set != NULL)
	{
		const TierFullnessLevel *level = &evaluation->problem.level;

		is_wanted = tier_fullness_bytes(level) >
			level->capacity_bytes * evaluation->problem.low;
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return is_wanted;
}

/* ---------------------------------------------------------------------
 * The moves
 * ---------------------------------------------------------------------
 */

/* The batch of all tiers begins with its first move; of others it is not known yet. */
static void
begin_batch(Emptying *emptying)
{
	const TierFullnessResult *result = &emptying->evaluation->result;
	double		bytes = 0.0;

	for (int i = 0; i < result->norder; i++)
		if (result->verdicts[result->order[i]] == TIER_FULLNESS_LEAVES)
			bytes += emptying->evaluation->members[result->order[i]].unit->size_bytes;
	emptying->summary->batch_id = tier_batch_begin(CAUSE, result->nleaving, bytes,
												   &emptying->summary->counts);
	emptying->summary->batches = emptying->summary->batch_id != 0;
}

static TierMoveReport
move_member(Emptying *emptying, int i)
{
	TierMoveRequest request;

	if (emptying->summary->batch_id == 0)
		begin_batch(emptying);
	request = tier_emptying_request(emptying->evaluation, i);
	request.batch_id = emptying->summary->batch_id;
	request.obeys_windows = !emptying->run->ignore_windows;
	request.only_if_free = emptying->run->by_worker &&
		tier_patience_is_over(emptying->run->patience, request.requester_oid);
	request.is_wanted = is_still_wanted;
	request.argument = emptying;
	request.idle = emptying->run->idle;
	request.counts = &emptying->summary->counts;
	request.is_one_of_many = true;
	return tier_move_one(&request);
}

static void
note_waiting(Emptying *emptying, const char *why, int n)
{
	if (emptying->summary->counts.waiting == 0)
		emptying->summary->why_waiting = MemoryContextStrdup(emptying->context, why);
	emptying->summary->counts.waiting += n;
}

/* One that was to leave stays for now. */
static void
note_stayed(Emptying *emptying, const char *why)
{
	if (emptying->stayed++ == 0)
		emptying->why_stayed = MemoryContextStrdup(emptying->context, why);
}

/* It leaves later, if that is known: what is hotter does not leave in its place. */
static void
let_come(Emptying *emptying, int i, TimestampTz at)
{
	if (at == 0)
		return;
	add_unit(&emptying->to_come, &emptying->evaluation->units[i]);
	if (emptying->evaluation->result.places[i] >= 0)
		emptying->to_come_places[emptying->evaluation->result.places[i]] +=
			emptying->evaluation->units[i].place_bytes;
	emptying->ncoming++;
}

/*
 * The server is under pressure, which ends the emptying for this time: it may be over in the
 * next moment, when hotter ones would leave in place of those that have met it.
 */
static void
hold_up(Emptying *emptying, const char *why, int nwaiting)
{
	if (nwaiting > 0)
		note_waiting(emptying, why, nwaiting);
	emptying->held_up = MemoryContextStrdup(emptying->context, why);
}

/* Has it to wait, for a move window or because of pressure?  Then it is counted as such. */
static bool
has_to_wait(Emptying *emptying, int i, const TierRelationInfo *info)
{
	TierPlannedMove planned = {0};
	TierMoveStart start;

	if (emptying->run->ignore_windows)
		return false;
	planned.from_tablespace_oid = info->tablespace_oid;
	planned.to_tablespace_oid = emptying->evaluation->members[i].to_tablespace;
	planned.bytes = (double) tier_relation_disk_bytes(info);
	planned.by_worker = emptying->run->by_worker;
	planned.pressing = tier_emptying_pressing(emptying->evaluation);
	start = tier_gate_ask(emptying->evaluation->advice->set, &planned);
	if (start.may_begin)
		return false;
	if (start.under_pressure)
		hold_up(emptying, start.reason, emptying->evaluation->result.nleaving);
	else
	{
		note_waiting(emptying, start.reason, 1);
		note_stayed(emptying, start.reason);
		let_come(emptying, i, start.at);
	}
	return true;
}

/* Is no move window open at all?  Then nobody need look at what leaves one by one. */
static bool
is_closed(Emptying *emptying)
{
	TierMoveStart start;

	if (emptying->run->ignore_windows)
		return false;
	start = tier_gate_ask_any(emptying->evaluation->advice->set, TIER_PRESSING_YES);
	if (!start.may_begin)
		note_waiting(emptying, start.reason, emptying->evaluation->result.nleaving);
	return !start.may_begin;
}

/*
 * Owners, places and rights may have changed since all was looked at, which may be hours
 * ago.  False: it stays, and it is to be decided again what leaves.
 */
static bool
looks_movable(Emptying *emptying, int i)
{
	TierFullnessEvaluation *evaluation = emptying->evaluation;
	MemoryContext old_context = MemoryContextSwitchTo(emptying->context);
	bool		is_movable;

	PushActiveSnapshot(GetTransactionSnapshot());
	is_movable = tier_fullness_look_again(evaluation, emptying->question, emptying->set, i);
	PopActiveSnapshot();
	MemoryContextSwitchTo(old_context);
	if (!is_movable)
		tier_fullness_arrange(&evaluation->problem, &evaluation->result);
	return is_movable;
}

static List *
note_tried(List *tried, MemoryContext context, Oid relation_oid)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);

	tried = lappend_oid(tried, relation_oid);
	MemoryContextSwitchTo(old_context);
	return tried;
}

/* What plan_step() is given, and what it finds. */
typedef struct Leaving
{
	Emptying   *emptying;
	int			i;
	Oid			owner_oid;
	bool		moves;			/* else it stays, at least for now, */
	bool		waits;			/* because it has to wait */
} Leaving;

/* May it be moved, does it fit, and may its move begin? */
static void
plan_step(void *argument)
{
	Leaving    *leaving = argument;
	Emptying   *emptying = leaving->emptying;
	TierFullnessEvaluation *evaluation = emptying->evaluation;
	Oid			relation_oid = evaluation->members[leaving->i].unit->relation_oid;
	TierRelationInfo info;

	tier_debug_relation("plan", relation_oid);
	if (!looks_movable(emptying, leaving->i) || !tier_relation_lookup(relation_oid, &info))
		return;
	leaving->owner_oid = evaluation->members[leaving->i].owner_oid;
	if (!tier_emptying_fits(evaluation, emptying->set, leaving->i, &info))
		return;
	leaving->waits = has_to_wait(emptying, leaving->i, &info);
	leaving->moves = !leaving->waits;
}

/*
 * Moves one, which is set aside whatever comes of it; unless it is to be decided again, with
 * what it takes.
 */
static void
move_next(Emptying *emptying, int i)
{
	TierFullnessEvaluation *evaluation = emptying->evaluation;
	Oid			relation_oid = evaluation->members[i].unit->relation_oid;
	Leaving		leaving = {.emptying = emptying,.i = i};
	TierMoveReport report;
	ErrorData  *error = NULL;

	if (tier_pass_skips(emptying->run->plan, relation_oid) ||
		tier_pass_skips(emptying->run->moves, relation_oid) ||
		(error = tier_attempt(plan_step, &leaving)) != NULL)
	{
		if (error != NULL)
			(void) tier_pass_failed(emptying->run->plan, relation_oid, NULL, error);
		tier_emptying_set_aside(evaluation, i, "it is left out after an error");
		return;
	}
	if (leaving.waits)
		tier_emptying_set_aside(evaluation, i, "it waits for a move window");
	if (!leaving.moves)
		return;
	report = move_member(emptying, i);
	emptying->summary->tried = note_tried(emptying->summary->tried, emptying->context,
										  relation_oid);
	if (report.under_pressure)
		hold_up(emptying, report.error, evaluation->result.nleaving -
				(report.state == TIER_STATE_WAITING ? 0 : 1));
	else if (report.state == TIER_STATE_WAITING)
	{
		note_waiting(emptying, report.error, 1);
		let_come(emptying, i, report.may_begin_at);
	}
	if (report.unrecorded != NULL)
		(void) tier_pass_failed(emptying->run->moves, relation_oid, NULL, report.unrecorded);
	else
		tier_move_warn(&report, emptying->run->by_worker);
	if (report.state == TIER_STATE_DONE)
		emptying->moved++;
	else if (report.state != TIER_STATE_NOT_NEEDED && !report.under_pressure)
		note_stayed(emptying, report.error);
	if (tier_move_was_busy(&report))
		tier_patience_spend(emptying->run->patience, leaving.owner_oid, report.worked_ms);
	tier_emptying_set_aside(evaluation, i, "it was moved, or could not be moved");
}

/* What is asked for by the name of the tier, when it is emptied. */
static void
record(const TierFullnessEvaluation *evaluation, double share, int leaving, const char *result)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	tier_catalog_fullness_evaluated(evaluation->policy->policy_id, share, leaving,
									tier_catalog_clip(result));
	tier_catalog_leave(&scope);
	tier_transaction_commit();
	MemoryContextSwitchTo(context);
}

/*
 * "92.0% full, above 90.0%: ...; 3 relations have left, now 79.5% full; 2 relations have not:
 * ...", or what holds all of it up.
 */
static void
record_end(const Emptying *emptying, double share, int leaving, const char *before)
{
	const TierFullnessEvaluation *evaluation = emptying->evaluation;

	const char *rest = "";

	if (emptying->moved == 0 && emptying->stayed == 0 && emptying->held_up == NULL)
		return;
	if (emptying->held_up != NULL)
		rest = psprintf("; %s", emptying->held_up);
	else if (emptying->stayed > 0)
		rest = psprintf("; %d %s not left: %s", emptying->stayed,
						emptying->stayed == 1 ? "relation has" : "relations have",
						emptying->why_stayed);
	record(evaluation, share, leaving,
		   psprintf("%s%s%s", before,
					emptying->moved == 0 ? "" :
					psprintf("; %d %s left, now %.1f%% full", emptying->moved,
							 emptying->moved == 1 ? "relation has" : "relations have",
							 100.0 * tier_fullness_share(evaluation)), rest));
}

/* The moves of one tier, which is locked. */
static void
empty_locked(Emptying *emptying)
{
	TierFullnessEvaluation *evaluation = emptying->evaluation;
	double		share = tier_fullness_share(evaluation);
	int			leaving = evaluation->result.nleaving;
	char	   *before = tier_fullness_summary(evaluation);

	for (;;)
	{
		int			next;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(emptying->step);
		if (emptying->run->by_worker && tier_batch_is_switched_off(TIER_AUTO_MIGRATE_POLICIES))
			break;
		if (!look_again(emptying) || (next = tier_emptying_next(&evaluation->result)) < 0)
		{
			emptying->summary->is_over = emptying->set == NULL &&
				!tier_batch_may_go_on(emptying->run->by_worker);
			break;
		}
		MemoryContextSwitchTo(emptying->step);
		tier_debug_point("leaving");
		move_next(emptying, next);
		tier_debug_point("looked_at");
		MemoryContextSwitchTo(emptying->context);
		if (emptying->held_up != NULL)
			break;
		if (emptying->run->idle != NULL && emptying->run->idle->is_due())
			emptying->run->idle->run();
		MemoryContextSwitchTo(emptying->context);
	}
	evaluation->problem.level.own_bytes += emptying->to_come.own_bytes;
	evaluation->problem.level.disk_bytes += emptying->to_come.disk_bytes;
	record_end(emptying, share, leaving, before);
}

static void
empty_tier(Emptying *emptying)
{
	const TierFullnessEvaluation *evaluation = emptying->evaluation;
	int			n;
	Oid		   *tablespaces;

	if (is_closed(emptying))
	{
		record(evaluation, tier_fullness_share(evaluation), evaluation->result.nleaving,
			   psprintf("%s; %s", tier_fullness_summary(evaluation),
						emptying->summary->why_waiting));
		return;
	}
	tablespaces = lock_tablespaces(evaluation->advice->set, evaluation->tier, &n);
	if (tablespaces == NULL)
	{
		emptying->summary->busy++;
		record(evaluation, tier_fullness_share(evaluation), evaluation->result.nleaving,
			   psprintf("%s; another process is emptying it", tier_fullness_summary(evaluation)));
		return;
	}
	PG_TRY();
	{
		empty_locked(emptying);
	}
	PG_FINALLY();
	{
		unlock_tablespaces(tablespaces, n);
	}
	PG_END_TRY();
}

/* ---------------------------------------------------------------------
 * The run
 * ---------------------------------------------------------------------
 */

void
tier_fullness_count(TierFullnessSummary *summary, const TierFullnessEvaluation *evaluation)
{
	if (!evaluation->policy->is_enabled)
	{
		summary->disabled++;
		return;
	}
	summary->policies++;
	if (evaluation->error != NULL)
		summary->failed++;
	else if (evaluation->result.is_needed)
	{
		summary->too_full++;
		summary->leaving += evaluation->result.nleaving;
	}
}

void
tier_fullness_add(TierFullnessSummary *sum, const TierFullnessSummary *more)
{
	TierFullnessSummary first = *sum;

	*sum = *more;
	sum->too_full = Max(first.too_full, more->too_full);
	sum->busy = Max(first.busy, more->busy);
	sum->leaving += first.leaving;
	sum->counts.moved += first.counts.moved;
	sum->counts.moved_bytes += first.counts.moved_bytes;
	sum->counts.not_moved += first.counts.not_moved;
	sum->counts.waiting += first.counts.waiting;
	if (sum->why_waiting == NULL)
		sum->why_waiting = first.why_waiting;
	if (sum->batch_id == 0)
		sum->batch_id = first.batch_id;
	sum->batches += first.batches;
	sum->tried = list_concat(first.tried, more->tried);
	sum->is_over = first.is_over || more->is_over;
}

/* What the policies say, and what comes of it. */
typedef struct Acting
{
	const TierFullnessRun *run;
	const TierFullnessQuestion *question;
	TierFullnessEvaluation *evaluations;
	int			n;
	TierFullnessSummary *summary;
} Acting;

/* The batch: from the slowest tier on, which makes room for the next. */
static void
empty_tiers(void *argument)
{
	const Acting *acting = argument;
	MemoryContext context = CurrentMemoryContext;
	MemoryContext step = AllocSetContextCreate(context, "tiered_storage step",
											   ALLOCSET_DEFAULT_SIZES);

	for (int i = 0; i < acting->n && !acting->summary->is_over; i++)
	{
		TierFullnessEvaluation *evaluation = &acting->evaluations[i];
		Emptying	emptying = {0};

		emptying.run = acting->run;
		emptying.evaluation = evaluation;
		emptying.evaluations = acting->evaluations;
		emptying.n = acting->n;
		emptying.summary = acting->summary;
		emptying.question = acting->question;
		emptying.context = context;
		emptying.step = step;
		if (tier_emptying_has_turn(acting->question, evaluation))
			empty_tier(&emptying);
	}
	MemoryContextDelete(step);
}

TierFullnessSummary
tier_fullness_run(const TierFullnessRun *run)
{
	TierFullnessSummary summary = {0};
	TierFullnessQuestion question = {
		.flight = tier_fullness_flight,
		.moved = run->moved,.nmoved = run->nmoved,
		.returning = run->returning,.nreturning = run->nreturning,
		.in_vain = run->in_vain,.nin_vain = run->nin_vain,
		.backoff = run->backoff,.nbackoff = run->nbackoff,
		.not_yet = run->not_yet
	};
	MemoryContext context = CurrentMemoryContext;
	Acting		acting = {run, &question, NULL, 0, &summary};
	TierFullnessEvaluation *evaluations;
	int			n;

	/* 1. Look and decide. */
	if (tier_catalog_extension_state() != TIER_EXTENSION_PRESENT)
	{
		tier_transaction_commit();
		MemoryContextSwitchTo(context);
		return summary;
	}
	PushActiveSnapshot(GetTransactionSnapshot());
	evaluations = tier_fullness_evaluate(&question, &n);
	PopActiveSnapshot();
	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	for (int i = 0; i < n; i++)
	{
		tier_fullness_count(&summary, &evaluations[i]);
		if (evaluations[i].policy->is_enabled)
			record(&evaluations[i], tier_fullness_share(&evaluations[i]),
				   evaluations[i].error != NULL ? 0 : evaluations[i].result.nleaving,
				   tier_fullness_summary(&evaluations[i]));
	}

	/* 2. Act. */
	acting.evaluations = evaluations;
	acting.n = n;
	tier_batch_run(empty_tiers, &acting);
	return summary;
}
