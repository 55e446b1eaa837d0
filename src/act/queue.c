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
	HTAB	   *listed;			/* OIDs: each relation is tried once */
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
} Making;

static bool
is_listed(Making *making, Oid relation_oid)
{
	bool		found;

	(void) hash_search(making->listed, &relation_oid, HASH_ENTER, &found);
	return found;
}

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

static TierQueueEntry *
add_entry(Making *making)
{
	TierQueue  *queue = &making->queue;

	if (queue->n == making->room)
	{
		making->room *= 2;
		queue->entries = repalloc_huge(queue->entries, sizeof(TierQueueEntry) * making->room);
	}
	memset(&queue->entries[queue->n], 0, sizeof(TierQueueEntry));
	return &queue->entries[queue->n++];
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

/*
 * What the mover's checks have against it, as things will be when its turn comes; NULL:
 * nothing.  What is advised waits for no room: others leave first.
 */
static const char *
obstacle_text(Making *making, const TierMoveRequest *request, const TierRelationInfo *info,
			  bool others_leave, double seconds)
{
	TierAdmission admission;
	TierObstacle obstacle;

	tier_foresight_ask(making->foresight, request, info, making->pins,
					   tier_relation_disk_bytes(info), &admission);
	obstacle = tier_foresight_obstacle(making->foresight, request, &admission);
	if (obstacle.message == NULL ||
		(others_leave && obstacle.sqlstate == ERRCODE_DISK_FULL))
	{
		tier_foresight_count(making->foresight, &admission);
		tier_foresight_spend(making->foresight, seconds);
		return NULL;
	}
	return psprintf("waiting: %s", obstacle.message);
}

/* NULL: nothing. */
static const char *
waits_for(Making *making, const TierQueueEntry *entry, const TierMoveRequest *request,
		  const TierRelationInfo *info)
{
	TierMoveStart start;

	if (!OidIsValid(entry->to_tablespace_oid))
		return psprintf("waiting: tier \"%s\" has no tablespace that it may use",
						entry->to_tier < 0 ? "?" :
						NameStr(making->set->tiers[entry->to_tier].name));
	if (making->held_up != NULL)
		return making->held_up;
	start = tier_foresee_start(making->foresight, info, request, true);
	if (!start.may_begin)
		return start.reason;
	return obstacle_text(making, request, info, entry->cause == TIER_CAUSE_ADVICE, start.seconds);
}

/* With all but what it waits for; NULL: it is listed already, or gone. */
static TierQueueEntry *
begin_entry(Making *making, const TierMoveRequest *request, TierQueueCause cause, int to_tier,
			TierRelationInfo *info)
{
	TierQueueEntry *entry;
	const TierFailedMove *failed;

	CHECK_FOR_INTERRUPTS();
	if (!tier_relation_lookup(request->relation_oid, info) ||
		is_listed(making, request->relation_oid))
		return NULL;
	failed = find_failed(making, request->relation_oid);
	entry = add_entry(making);
	entry->relation_oid = request->relation_oid;
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

/* Sets its state, unless it has failed lately.  True: nothing keeps it from being moved. */
static bool
judge(Making *making, TierQueueEntry *entry, const TierMoveRequest *request,
	  const TierRelationInfo *info, const char *reason)
{
	if (entry->reason != NULL)
	{
		wait_for_opening(making, entry, request, info);
		return false;
	}
	if (reason == NULL)
		reason = waits_for(making, entry, request, info);
	entry->state = reason != NULL || !making->worker_moves ? TIER_QUEUE_WAITING :
		TIER_QUEUE_READY;
	entry->reason = reason != NULL ? reason : making->worker_text;
	return reason == NULL;
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

		if (is_listed(making, moves[i].relation_oid))
			continue;
		entry = add_entry(making);
		entry->relation_oid = moves[i].relation_oid;
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

		/* What does not begin takes nothing of the limit. */
		if (entry != NULL &&
			judge(making, entry, &due[i].request, &info, is_beyond ? limit_text(making) : NULL) &&
			due[i].returns)
			making->left_bytes -= entry->bytes;
	}
}

static void
add_leaving_of(Making *making, TierFullnessEvaluation *evaluation)
{
	const TierFullnessResult *result = &evaluation->result;

	for (int i = 0; i < result->norder; i++)
	{
		int			member = result->order[i];
		TierMoveRequest request = {0};
		TierRelationInfo info;
		TierQueueEntry *entry;

		if (result->verdicts[member] != TIER_FULLNESS_LEAVES)
			continue;
		request = tier_fullness_request(evaluation, member);
		entry = begin_entry(making, &request, TIER_CAUSE_FULLNESS,
							tier_set_tier_of_tablespace(making->set, request.tablespace_oid),
							&info);
		if (entry != NULL && judge(making, entry, &request, &info, NULL))
			tier_fullness_foretold(evaluation, member);
	}
}

static void
add_leaving(Making *making)
{
	TierFullnessQuestion question = {0};
	TierFullnessEvaluation *evaluations;
	int			n;

	question.flight = tier_fullness_flight;
	question.due_leave = true;
	evaluations = tier_fullness_evaluate(&question, &n);
	for (int i = 0; i < n; i++)
		if (evaluations[i].policy->is_enabled && evaluations[i].error == NULL)
			add_leaving_of(making, &evaluations[i]);
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
	control.entrysize = sizeof(Oid);
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
	add_leaving(&making);
	add_advised(&making);
	return making.queue;
}
