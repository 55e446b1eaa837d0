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
#include "src/act/foresee.h"
#include "src/act/fullness.h"
#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/act/migrate.h"
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
	List	   *in_vain;		/* and of what they cannot move */
} Making;

typedef struct Listed
{
	Oid			relation_oid;	/* the key */
	int			entry;
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

	if (found && !list_member_oid(making->in_vain, relation_oid))
		return NULL;
	if (found)
		queue->entries[listed->entry].relation_oid = InvalidOid;
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
 * What was given up without a failure is tried again soon, unless a window has to open before: a
 * move that waited for resume() until its window had closed.
 */
static void
wait_for_opening(Making *making, TierQueueEntry *entry, const TierMoveRequest *request,
				 const TierRelationInfo *info)
{
	TierMoveStart start;

	if (entry->state != TIER_QUEUE_FAILED || entry->failures > 0)
		return;
	start = tier_foresee_start(making->foresight, info, request, true);
	if (start.may_begin || start.at <= entry->next_attempt_at)
		return;
	entry->state = TIER_QUEUE_WAITING;
	entry->reason = start.reason;
	entry->next_attempt_at = 0;
}

/*
 * Its reason: what it waits for, as things will be when its turn comes; NULL: nothing.  What is
 * advised waits for no room: others leave first.  *prospect stays empty of what is never asked.
 */
static const char *
waits_for(Making *making, const TierQueueEntry *entry, const TierMoveRequest *request,
		  TierProspect *prospect)
{
	const TierForeseenRun run = {
		.by_worker = true,.room_comes = entry->cause == TIER_CAUSE_ADVICE
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
		wait_for_opening(making, entry, request, info);
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

static char *
limit_text(const Making *making)
{
	return psprintf("waiting: of move_limit_per_day (%s) %s are left today",
					tier_size_text(tier_move_limit_per_day_mb * 1048576.0),
					tier_size_text(making->left_bytes));
}

static void
add_due(Making *making)
{
	int			n;
	TierDueMove *due = tier_migrate_due(making->set, making->pins, &n);

	for (int i = 0; i < n; i++)
	{
		TierRelationInfo info;
		TierQueueEntry *entry = begin_entry(making, &due[i].request, TIER_CAUSE_TIERING,
											due[i].to_tier, &info);

		bool		is_beyond = entry != NULL && due[i].returns &&
		entry->bytes > making->left_bytes;
		TierProspect prospect;

		if (entry == NULL)
			continue;
		prospect = judge(making, entry, &due[i].request, &info,
						 is_beyond ? limit_text(making) : NULL);
		if (prospect.obstacle.message != NULL)
			making->in_vain = lappend_oid(making->in_vain, entry->relation_oid);
		if (!prospect.begins)
			continue;
		making->begun = lappend_oid(making->begun, entry->relation_oid);

		/* What does not begin takes nothing of the limit, as in a pause. */
		if (due[i].returns && making->held_up == NULL)
			making->left_bytes -= entry->bytes;
	}
}

/* A TierFullnessTell. */
static bool
add_leaving(void *argument, const TierFullnessEvaluation *evaluation, int i, const char *closed)
{
	Making	   *making = argument;
	TierMoveRequest request = tier_fullness_request(evaluation, i);
	TierRelationInfo info;
	TierQueueEntry *entry = begin_entry(making, &request, TIER_CAUSE_FULLNESS,
										tier_set_tier_of_tablespace(making->set,
																	request.tablespace_oid),
										&info);

	return entry != NULL && judge(making, entry, &request, &info, closed).comes;
}

static void
add_all_leaving(Making *making)
{
	TierFullnessRun run = {.by_worker = true};
	TierCatalogScope scope;
	MemoryContext context = CurrentMemoryContext;

	tier_catalog_enter(&scope);
	run.backoff = tier_catalog_load_backoff(context, &run.nbackoff);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	run.moved = tier_migrate_sorted_oids(making->begun, &run.nmoved);
	run.in_vain = tier_migrate_sorted_oids(making->in_vain, &run.nin_vain);
	(void) tier_fullness_foretell(&run, making->foresight, add_leaving, making);
}

static void
add_advised(Making *making)
{
	TierAdvisedMove *moves;
	int			n;

	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
		return;
	moves = tier_apply_list(making->left_bytes, &n);
	for (int i = 0; i < n; i++)
	{
		TierRelationInfo info;
		const TierMoveRequest *request = &moves[i].request;
		const char *reason = NULL;
		TierQueueEntry *entry =
		begin_entry(making, request, TIER_CAUSE_ADVICE,
					tier_set_tier_of_tablespace(making->set, request->tablespace_oid), &info);

		if (entry == NULL)
			continue;
		if (moves[i].is_beyond_limit)
			reason = limit_text(making);
		else if (moves[i].has_no_room)
			reason = "waiting: what has to leave its new tier first has no room either";
		else if (moves[i].is_spare)
			reason = "waiting: what it would make room for cannot be moved now";
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
held_up_text(void)
{
	if (RecoveryInProgress())
		return "waiting: the server is a standby, or recovers";
	if (tier_throttle_is_paused())
		return "waiting: moves are paused, see resume()";
	return NULL;
}

TierQueue
tier_queue_load(void)
{
	MemoryContext context = CurrentMemoryContext;
	Making		making = {0};
	TierCatalogScope scope;
	TierRunningMove *running;
	int			nrunning;

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
	making.held_up = held_up_text();
	making.worker_text = tier_gate_worker_text(&making.worker_moves);
	if (!making.worker_moves)
		making.worker_text = psprintf("waiting for CALL tiered_storage.migrate(): %s",
									  making.worker_text);
	tier_gate_forget();

	add_running(&making, running, nrunning);
	add_due(&making);
	add_all_leaving(&making);
	add_advised(&making);
	leave_out_void(&making.queue);
	return making.queue;
}
