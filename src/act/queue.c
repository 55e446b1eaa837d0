/*-------------------------------------------------------------------------
 *
 * act/queue.c
 *		All that wants to move, in the order in which it will be tried.
 *
 * See act/queue.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/act/apply.h"
#include "src/act/claims.h"
#include "src/act/dry_run.h"
#include "src/act/due.h"
#include "src/act/emptying.h"
#include "src/act/foresee.h"
#include "src/act/fullness_foretell.h"
#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/act/queue.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/move/progress.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"

/* While the queue is made.  Of this file, on the stack of tier_queue_load(). */
typedef struct Making
{
	TierQueue	queue;
	int			room;			/* for entries */
	HTAB	   *listed;			/* Listed, by OID: each relation is tried once */
	TierSet    *set;
	TierPins   *pins;
	TierFailedMove *failed;		/* by OID */
	int			nfailed;
	TierForesight *foresight;
	double		left_bytes;		/* of the day, for what returns and for
								 * advice; INFINITY: no limit */
	bool		worker_moves;
	const char *worker_text;
	const char *held_up;		/* why nothing at all begins; NULL: it may */
	List	   *begun;			/* OIDs of what tiering policies would move
								 * now */
	List	   *returning;		/* of what they bring back, now or later */
	List	   *in_vain;		/* and of what they cannot move */
	Bitmapset  *first;			/* tiers from which something goes first */
	bool		has_emptied;	/* tiers that are too full have had their turn */
	Bitmapset  *stuck;			/* and these have stayed so */
	int			emptied_begun;	/* length of `begun` after that */
	int			nforetold;		/* how often */
	MemoryContext context;		/* of the queue */
} Making;

typedef struct Listed
{
	Oid			relation_oid;	/* the key */
	int			entry;
	bool		in_vain;		/* a tiering policy cannot move it */
} Listed;

static int
compare_failed(const void *a, const void *b)
{
	return oid_cmp(&((const TierFailedMove *) a)->relation_oid,
				   &((const TierFailedMove *) b)->relation_oid);
}

static const TierFailedMove *
find_failed(const Making *making, Oid relation_oid)
{
	TierFailedMove key = {.relation_oid = relation_oid};

	return bsearch(&key, making->failed, making->nfailed, sizeof(TierFailedMove),
				   compare_failed);
}

/*
 * An empty one.  NULL: the relation has one already, unless that is of a tiering policy that
 * cannot move it: then that one is void.
 */
static TierQueueEntry *
add_entry(Making *making, Oid relation_oid)
{
	TierQueue  *queue = &making->queue;
	bool		found;
	Listed	   *listed = hash_search(making->listed, &relation_oid, HASH_ENTER, &found);

	if (found && !listed->in_vain)
		return NULL;
	if (found)
		queue->entries[listed->entry].relation_oid = InvalidOid;
	else
		listed->in_vain = false;
	if (queue->n == making->room)
	{
		making->room *= 2;
		queue->entries = repalloc_huge(queue->entries, sizeof(TierQueueEntry) * making->room);
	}
	listed->entry = queue->n;
	memset(&queue->entries[queue->n], 0, sizeof(TierQueueEntry));
	queue->entries[queue->n].relation_oid = relation_oid;
	return &queue->entries[queue->n++];
}

static void
set_in_vain(Making *making, Oid relation_oid)
{
	Listed	   *listed = hash_search(making->listed, &relation_oid, HASH_FIND, NULL);

	listed->in_vain = true;
	making->in_vain = lappend_oid(making->in_vain, relation_oid);
}

static void
leave_out_void(TierQueue *queue)
{
	int			kept = 0;

	for (int i = 0; i < queue->n; i++)
		if (OidIsValid(queue->entries[i].relation_oid))
			queue->entries[kept++] = queue->entries[i];
	queue->n = kept;
}

/* ---------------------------------------------------------------------
 * What a relation waits for
 * ---------------------------------------------------------------------
 */

static const char *
backoff_text(const TierFailedMove *failed)
{
	const char *error = failed->error == NULL ? "" : psprintf(": %s", failed->error);

	if (failed->failures == 0)
		return psprintf("next attempt at %s%s", timestamptz_to_str(failed->next_attempt_at),
						error);
	return psprintf("next attempt at %s after %d failure%s%s",
					timestamptz_to_str(failed->next_attempt_at), failed->failures,
					failed->failures == 1 ? "" : "s", error);
}

/* With all but what it waits for; NULL: it is listed already, or gone. */
static TierQueueEntry *
begin_entry(Making *making, const TierMoveRequest *request, TierQueueCause cause, int to_tier,
			TierRelationInfo *info)
{
	TierQueueEntry *entry;
	const TierFailedMove *failed;

	CHECK_FOR_INTERRUPTS();
	if (!tier_relation_lookup(request->relation_oid, info))
		return NULL;
	entry = add_entry(making, request->relation_oid);
	if (entry == NULL)
		return NULL;
	failed = find_failed(making, request->relation_oid);
	entry->from_tablespace_oid = info->tablespace_oid;
	entry->to_tablespace_oid = request->tablespace_oid;
	entry->from_tier = tier_set_tier_of_tablespace(making->set, info->tablespace_oid);
	entry->to_tier = to_tier;
	entry->bytes = (double) tier_relation_disk_bytes(info);
	entry->cause = cause;
	entry->policy_id = request->policy_id;
	if (failed != NULL)
	{
		entry->failures = failed->failures;
		entry->last_error = failed->error;
	}
	if (failed != NULL && failed->backs_off)
	{
		entry->state = TIER_QUEUE_FAILED;
		entry->next_attempt_at = failed->next_attempt_at;
		entry->reason = backoff_text(failed);
	}
	return entry;
}

/*
 * What has failed is not tried again at its time if nothing begins then: all are held up, a window
 * opens later, or the worker moves nothing.
 */
static void
wait_for_more(Making *making, TierQueueEntry *entry, const TierMoveRequest *request,
			  const TierRelationInfo *info)
{
	const char *reason = making->held_up;

	if (reason == NULL)
	{
		TierMoveStart start = tier_foresee_start(making->foresight, info, request, true);

		if (!start.may_begin && start.at > entry->next_attempt_at)
			reason = start.reason;
	}
	if (reason == NULL && !making->worker_moves)
		reason = making->worker_text;
	if (reason == NULL)
		return;
	entry->state = TIER_QUEUE_WAITING;
	entry->reason = reason;
	entry->next_attempt_at = 0;
}

/*
 * Its reason: what it waits for, as things will be when its turn comes; NULL: nothing.  What is
 * advised may wait for others to leave first.  *prospect stays empty of what is never asked.
 */
static const char *
waits_for(Making *making, const TierQueueEntry *entry, const TierMoveRequest *request,
		  TierProspect *prospect)
{
	const TierForeseenRun run = {
		.by_worker = true,.room_may_come = entry->cause == TIER_CAUSE_ADVICE
	};

	if (!OidIsValid(entry->to_tablespace_oid))
		return psprintf("waiting: tier \"%s\" has no tablespace that it may use",
						entry->to_tier < 0 ? "?" :
						NameStr(making->set->tiers[entry->to_tier].name));
	if (RecoveryInProgress() ||
		!tier_foresee_prospect(making->foresight, request, making->pins, &run, prospect))
		return making->held_up;
	if (making->held_up != NULL)
		return making->held_up;
	if (!prospect->start.may_begin)
		return prospect->start.reason;
	return prospect->obstacle.message == NULL ? NULL :
		psprintf("waiting: %s", prospect->obstacle.message);
}

/* Sets its state, unless it has failed lately.  What would become of it in a run. */
static TierProspect
judge(Making *making, TierQueueEntry *entry, const TierMoveRequest *request,
	  const TierRelationInfo *info, const char *reason)
{
	TierProspect prospect = {0};

	if (entry->reason != NULL)
	{
		wait_for_more(making, entry, request, info);
		return prospect;
	}
	if (reason == NULL)
		reason = waits_for(making, entry, request, &prospect);
	entry->state = reason != NULL || !making->worker_moves ? TIER_QUEUE_WAITING :
		TIER_QUEUE_READY;
	entry->reason = reason != NULL ? reason : making->worker_text;
	return prospect;
}

/* ---------------------------------------------------------------------
 * What wants to move
 * ---------------------------------------------------------------------
 */

/* How far it is, and what it waits for. */
static const char *
running_text(const TierRunningMove *move)
{
	bool		is_waiting = strcmp(move->phase,
									tier_progress_phase_name(TIER_PHASE_WAITING)) == 0;
	char	   *waits_for = is_waiting ? tier_progress_waits_for(TIER_PHASE_WAITING) : NULL;

	if (waits_for != NULL)
		return move->blocks == NULL ? psprintf("waiting: %s", waits_for) :
			psprintf("waiting: %s; %s", waits_for, move->blocks);
	return move->blocks == NULL ? move->phase : psprintf("%s: %s", move->phase, move->blocks);
}

static void
add_running(Making *making, const TierRunningMove *moves, int n)
{
	for (int i = 0; i < n; i++)
	{
		TierQueueEntry *entry;

		entry = add_entry(making, moves[i].relation_oid);
		if (entry == NULL)
			continue;
		entry->from_tablespace_oid = moves[i].from_tablespace_oid;
		entry->to_tablespace_oid = moves[i].to_tablespace_oid;
		entry->from_tier = tier_set_tier_of_tablespace(making->set, entry->from_tablespace_oid);
		entry->to_tier = tier_set_tier_of_tablespace(making->set, entry->to_tablespace_oid);
		entry->bytes = moves[i].bytes;
		entry->policy_id = moves[i].policy_id;
		if (moves[i].policy_id != 0)
			entry->cause = moves[i].policy_kind == TIER_POLICY_FULLNESS ? TIER_CAUSE_FULLNESS :
				TIER_CAUSE_TIERING;
		else
			entry->cause = moves[i].is_advised ? TIER_CAUSE_ADVICE : TIER_CAUSE_REQUEST;
		entry->state = TIER_QUEUE_RUNNING;
		entry->reason = running_text(&moves[i]);
		entry->failures = moves[i].failures;
	}
}

/* left_bytes: of the day, when its turn comes. */
static char *
limit_text(const TierQueueEntry *entry, double left_bytes)
{
	return psprintf("waiting: of move_limit_per_day (%s) %s are left today%s",
					tier_size_text(tier_move_limit_per_day_mb * 1048576.0),
					tier_size_text(left_bytes),
					entry->bytes > left_bytes ? "" :
					", too few for it with what has to leave its new tier first");
}

/* A TierFullnessTell. */
static bool
add_leaving(void *argument, const TierFullnessEvaluation *evaluation, int i, const char *closed)
{
	Making	   *making = argument;
	MemoryContext old_context = MemoryContextSwitchTo(making->context);
	TierMoveRequest request = tier_emptying_request(evaluation, i);
	int			to_tier = tier_set_tier_of_tablespace(making->set, request.tablespace_oid);
	TierRelationInfo info;
	TierQueueEntry *entry = begin_entry(making, &request, TIER_CAUSE_FULLNESS, to_tier, &info);
	bool		comes = entry != NULL &&
	judge(making, entry, &request, &info, closed == NULL ? NULL : pstrdup(closed)).comes;

	MemoryContextSwitchTo(old_context);
	return comes;
}

/* What is looked at for that is no longer needed after it, and it may be often. */
static void
add_all_leaving(Making *making)
{
	MemoryContext context = AllocSetContextCreate(making->context, "tiered_storage emptying",
												  ALLOCSET_DEFAULT_SIZES);
	TierFullnessRun run = {.by_worker = true};
	TierFullnessSummary emptied;
	TierCatalogScope scope;

	MemoryContextSwitchTo(context);
	tier_catalog_enter(&scope);
	run.backoff = tier_catalog_load_backoff(context, &run.nbackoff);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	run.moved = tier_due_sorted_oids(making->begun, &run.nmoved);
	run.returning = tier_due_sorted_oids(making->returning, &run.nreturning);
	run.in_vain = tier_due_sorted_oids(making->in_vain, &run.nin_vain);
	run.not_yet = tier_level_names(making->set, making->first);
	emptied = tier_fullness_foretell(&run, making->foresight, add_leaving, making);
	MemoryContextSwitchTo(making->context);
	making->nforetold++;
	making->has_emptied = making->first == NULL;
	making->stuck = bms_difference(tier_foresight_above(making->foresight), making->first);
	making->begun = list_concat(making->begun, list_copy(emptied.tried));
	making->emptied_begun = list_length(making->begun);
	MemoryContextDelete(context);
}

/* As in a run: what waits for tiers that are too full comes after these. */
static bool
is_too_full(const Making *making)
{
	return bms_nonempty_difference(bms_difference(tier_foresight_above(making->foresight),
												  making->first), making->stuck);
}

static void
add_due(Making *making)
{
	int			n;
	TierDueMove *due = tier_due_list(making->set, making->pins, &n);

	for (int i = 0; i < n; i++)
	{
		TierMoveRequest *request = &due[i].request;
		TierRelationInfo info;
		TierQueueEntry *entry;
		TierProspect prospect;

		if (!due[i].comes_first)
			making->first = NULL;
		if (making->nforetold < TIER_MOST_FORETOLD - 1 && is_too_full(making))
			add_all_leaving(making);
		if (due[i].returns)
			making->returning = lappend_oid(making->returning, request->relation_oid);
		tier_foresight_choose(making->foresight, request);
		entry = begin_entry(making, request, TIER_CAUSE_TIERING, due[i].to_tier, &info);
		if (entry == NULL)
			continue;
		prospect = judge(making, entry, request, &info,
						 due[i].returns && entry->bytes > making->left_bytes ?
						 limit_text(entry, making->left_bytes) : NULL);
		if (prospect.obstacle.message != NULL)
			set_in_vain(making, entry->relation_oid);
		if (!prospect.begins)
			continue;
		making->begun = lappend_oid(making->begun, entry->relation_oid);

		/* What does not begin takes nothing of the limit, as in a pause. */
		if (due[i].returns && making->held_up == NULL)
			making->left_bytes -= entry->bytes;
	}
}

static void
add_advised(Making *making)
{
	TierAdvisedMove *moves;
	double		left_bytes = making->left_bytes;
	int			n;

	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
		return;
	moves = tier_apply_list(making->foresight, making->left_bytes, &n);
	for (int i = 0; i < n; i++)
	{
		TierRelationInfo info;
		TierMoveRequest *request = &moves[i].request;
		const char *reason = NULL;
		TierQueueEntry *entry;

		tier_foresight_choose(making->foresight, request);
		entry = begin_entry(making, request, TIER_CAUSE_ADVICE,
							tier_set_tier_of_tablespace(making->set, request->tablespace_oid),
							&info);
		if (entry == NULL)
			continue;
		if (moves[i].is_beyond_limit)
			reason = limit_text(entry, left_bytes);
		else if (moves[i].has_no_room)
			reason = "waiting: its new tier has no room for it, and nothing that may leave that "
				"first makes enough";
		else if (moves[i].is_spare)
			reason = "waiting: what it would make room for cannot be moved now";
		else if (!moves[i].is_backed_off)
			left_bytes = Max(left_bytes - entry->bytes, 0.0);
		(void) judge(making, entry, request, &info, reason);
	}
}

static HTAB *
create_listed(void)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(Listed);
	control.hcxt = CurrentMemoryContext;
	return hash_create("tiered_storage move queue", 256, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static const char *
held_up_text(const TierSet *set)
{
	char	   *conflict;

	if (RecoveryInProgress())
		return "waiting: the server is a standby, or recovers";
	if (tier_throttle_is_paused())
		return "waiting: moves are paused, see resume()";
	conflict = tier_claims_find_conflict(set);
	return conflict == NULL ? NULL : psprintf("waiting: %s", conflict);
}

TierQueue
tier_queue_load(void)
{
	MemoryContext context = CurrentMemoryContext;
	Making		making = {0};
	TierCatalogScope scope;
	TierRunningMove *running;
	int			nrunning;

	making.context = context;
	making.room = 64;
	making.queue.entries = palloc(sizeof(TierQueueEntry) * making.room);
	making.listed = create_listed();
	making.left_bytes = INFINITY;
	tier_catalog_enter(&scope);
	making.set = tier_catalog_load_tiers(context);
	making.pins = tier_catalog_load_pins(context);
	making.failed = tier_catalog_load_failed_moves(context, &making.nfailed);
	running = tier_catalog_load_running_moves(context, &nrunning);
	if (tier_move_limit_per_day_mb >= 0)
		making.left_bytes = Max(tier_move_limit_per_day_mb * 1048576.0 -
								tier_catalog_bytes_moved_by_advice(), 0.0);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	making.queue.set = making.set;
	making.foresight = tier_foresight_create(making.set);
	making.held_up = held_up_text(making.set);
	making.worker_text = tier_gate_worker_text(&making.worker_moves);
	if (!making.worker_moves)
		making.worker_text = psprintf("waiting for CALL tiered_storage.migrate(): %s",
									  making.worker_text);
	tier_gate_forget();

	add_running(&making, running, nrunning);
	making.first = tier_foresight_above(making.foresight);
	add_due(&making);
	making.first = NULL;
	if (list_length(making.begun) != making.emptied_begun)
		making.stuck = NULL;
	if (!making.has_emptied || is_too_full(&making))
		add_all_leaving(&making);
	add_advised(&making);
	leave_out_void(&making.queue);
	return making.queue;
}
