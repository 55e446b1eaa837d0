/*-------------------------------------------------------------------------
 *
 * act/move.c
 *		Moving relations: the checks before, the record, what belongs together.
 *
 * Runs in the worker and in sessions that CALL move_relation or migrate.  A
 * table is moved with its TOAST table and the index of that, one after the
 * other and the table last, so that a table which is in its place has its TOAST
 * there, too.  Each is moved online (move/online.h), many transactions with a
 * strong lock for milliseconds at the end of the last; or, what cannot be moved
 * so and only when that is allowed, by SET TABLESPACE, one transaction with a
 * lock for the whole copy (server/relation.c).
 *
 * Before and after it there is a transaction that makes, and completes, the
 * record that others can see.  A crash leaves a record of a process that is
 * gone, which the next sample turns into a failure, and perhaps a file that
 * belongs to nobody, which move/pending_file.c removes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/move/online.h"
#include "src/move/preflight.h"
#include "src/move/progress.h"
#include "src/server/distributed.h"
#include "src/server/relation.h"
#include "src/move/space.h"
#include "src/move/throttle.h"
#include "src/base/transaction.h"
#include "src/act/verify.h"
#include "src/decide/fullness.h"

/* Backoff before the second attempt under one lock, doubled each time, and its limit. */
#define FIRST_BACKOFF_MS 100
#define LONGEST_BACKOFF_MS 5000

/* How often a move looks again whether it may begin. */
#define QUEUE_INTERVAL_MS 200

/* A table may get a new TOAST table while the old one is moved, but not always. */
#define MAX_PASSES 5

/*
 * One move of one relation, from its record to the end of that.  In the memory of
 * the process that moves; nobody else sees it but by the record and by
 * move/progress.h.  What is set by a step that runs in a subtransaction (the
 * functions called ..._step) is read after it, also if it has failed.
 */
typedef struct Move
{
	/* Set when the move begins. */
	const TierMoveRequest *request;
	const TierSet *set;
	const TierRelationInfo *info;	/* as it was then */
	MemoryContext context;		/* of the report's strings, and of parts */
	TierMoveReport *report;
	int64		size_bytes;
	int64		move_id;		/* of the record; 0: there is none */
	TierIndexIdentity identity; /* see tier_relation_present() */

	bool		is_unwanted;	/* the last time that it was asked */
	bool		has_entered;	/* by queue_step(): nothing keeps it waiting
								 * any more */
	bool		has_told;		/* that it waits */
	bool		only_record;	/* finish_step() does nothing else */
	TierObstacle obstacle;		/* by preflight_step(); before it, nothing */
	Oid			extension_oid;	/* the same: that has it, and lets it be moved
								 * there; 0: none */
	bool		is_above_mark;	/* the same: that is why */
	bool		is_locked;		/* the same: others have it, and it is for who
								 * waits for nobody */

	/*
	 * Online, by parts_step(): see parts_to_move(); and what else has become
	 * of it.
	 */
	List	   *parts;
	bool		is_gone;
	bool		is_rebuilt;		/* another index has taken its place */
	bool		is_in_place;	/* the relation itself, by this move */

	/* Of the last attempt under one lock; online moves do not use them. */
	long		backoff_ms;		/* before the next attempt */
	TierMoveTiming timing;

	TierMoveResult result;		/* GONE until something was moved */
	TierMoveOutcome outcome;	/* for the record; its state is set last */
	int64		moved_bytes;	/* by parts that are moved */
} Move;

/* By tier_clock_monotonic_us. */
static double
ms_since(int64 begin_us)
{
	return (double) (tier_clock_monotonic_us() - begin_us) / 1000.0;
}

/* ---------------------------------------------------------------------
 * What to say
 * ---------------------------------------------------------------------
 */

static void
report_thrown(TierMoveReport *report, const ErrorData *error)
{
	/* That another process is at it is no failure of ours. */
	report->state = error->sqlerrcode == ERRCODE_OBJECT_IN_USE ? TIER_STATE_SKIPPED :
		TIER_STATE_FAILED;
	report->error = tier_catalog_clip(error->message);
	report->detail = error->detail ? tier_catalog_clip(error->detail) : NULL;
	report->hint = error->hint ? tier_catalog_clip(error->hint) : NULL;
	strlcpy(report->sqlstate, unpack_sql_state(error->sqlerrcode), sizeof(report->sqlstate));
}

static void
report_skipped(TierMoveReport *report, char *error, char *hint, const char *sqlstate)
{
	report->state = TIER_STATE_SKIPPED;
	report->error = error;
	report->detail = NULL;
	report->hint = hint;
	strlcpy(report->sqlstate, sqlstate, sizeof(report->sqlstate));
}

/*
 * A move changes pg_class, but it is no command that event triggers or auditors of
 * commands would see, and what the worker does nobody has typed.
 */
static void
log_done(const Move *move)
{
	const TierRelationInfo *info = move->info;
	const char *from = get_tablespace_name(info->tablespace_oid);
	const char *to = get_tablespace_name(move->request->tablespace_oid);
	const char *requester = GetUserNameFromId(move->request->requester_oid, true);

	ereport(LOG_SERVER_ONLY,
			(errmsg("moved %s %s from tablespace \"%s\" to tablespace \"%s\" for role \"%s\" "
					"in %s, locked for %.3f ms",
					tier_relation_kind_name(info->kind), info->name, from ? from : "?",
					to ? to : "?",
					requester ? requester : "?",
					tier_progress_time_text(move->outcome.elapsed_ms, move->outcome.waited_ms),
					Max(move->outcome.lock_held_ms, 0.0)),
			 errdetail("Move " INT64_FORMAT ": %s.", move->move_id, move->request->reason)));
}

void
tier_move_warn(const TierMoveReport *report, bool by_worker)
{
	if (report->state != TIER_STATE_SKIPPED && report->state != TIER_STATE_FAILED)
		return;
	ereport(by_worker ? LOG : WARNING,
			(errcode(MAKE_SQLSTATE(report->sqlstate[0], report->sqlstate[1], report->sqlstate[2],
								   report->sqlstate[3], report->sqlstate[4])),
			 errmsg("could not move %s: %s", report->relation_name, report->error),
			 report->detail ? errdetail_internal("%s", report->detail) : 0,
			 report->hint ? errhint("%s", report->hint) : 0));
}

bool
tier_move_was_busy(const TierMoveReport *report)
{
	return (report->state == TIER_STATE_SKIPPED || report->state == TIER_STATE_FAILED) &&
		strcmp(report->sqlstate, "55P03") == 0;
}

bool
tier_move_is_worth_retrying(const TierMoveReport *report)
{
	int			sqlstate;

	if (report->state != TIER_STATE_SKIPPED)
		return false;
	sqlstate = MAKE_SQLSTATE(report->sqlstate[0], report->sqlstate[1], report->sqlstate[2],
							 report->sqlstate[3], report->sqlstate[4]);
	return sqlstate == ERRCODE_LOCK_NOT_AVAILABLE || sqlstate == ERRCODE_DISK_FULL;
}

/* What was in its place already is neither moved nor not moved. */
static void
count_move(const TierMoveRequest *request, const TierMoveReport *report)
{
	TierMoveCounts *counts = request->counts;

	if (counts == NULL)
		return;
	if (report->state == TIER_STATE_DONE)
	{
		counts->moved++;
		counts->moved_bytes += report->size_bytes;
	}
	else if ((report->state == TIER_STATE_SKIPPED || report->state == TIER_STATE_FAILED) &&
			 !(request->is_tried_again && tier_move_is_worth_retrying(report)))
		counts->not_moved++;
}

/* ---------------------------------------------------------------------
 * The record
 * ---------------------------------------------------------------------
 */

static const char *
tier_name_or_null(const TierSet *set, int tier)
{
	return tier < 0 ? NULL : NameStr(set->tiers[tier].name);
}

/* Makes the record and commits it; 0 when the extension has gone. */
static int64
begin_record(const TierMoveRequest *request, const TierSet *set,
			 const TierRelationInfo *info, int64 size_bytes, bool online)
{
	TierCatalogScope scope;
	TierMoveRow row;
	int64		move_id = 0;

	row.relation_oid = info->relation_oid;
	row.relation_name = info->name;
	row.kind = tier_relation_kind_name(info->kind);
	row.from_tablespace = get_tablespace_name(info->tablespace_oid);
	row.to_tablespace = get_tablespace_name(request->tablespace_oid);
	row.from_tablespace_oid = info->tablespace_oid;
	row.to_tablespace_oid = request->tablespace_oid;
	row.from_tier = tier_name_or_null(set, tier_set_tier_of_tablespace(set, info->tablespace_oid));
	row.to_tier = tier_name_or_null(set,
									tier_set_tier_of_tablespace(set, request->tablespace_oid));
	row.requested_by = GetUserNameFromId(request->requester_oid, true);
	row.policy_id = request->policy_id;
	row.policy_kind = request->policy_kind;
	row.batch_id = request->batch_id;
	row.undo_of = request->undo_of;
	row.reason = request->reason;
	row.method = online ? "online" : "set tablespace";
	row.size_bytes = size_bytes;
	if (row.from_tablespace == NULL || row.to_tablespace == NULL || row.requested_by == NULL)
		return 0;				/* dropped in this moment */

	if (tier_catalog_try_enter(&scope))
	{
		tier_verify_expect(set, info, request->tablespace_oid,
						   &row.before_s_per_hour, &row.after_s_per_hour);
		row.predicted_s_per_hour = isnan(request->predicted_s_per_hour) ?
			row.before_s_per_hour - row.after_s_per_hour : request->predicted_s_per_hour;
		move_id = tier_catalog_begin_move(&row);
		tier_catalog_leave(&scope);
	}
	return move_id;
}

/* What else is to be known of what has moved. */
static void
note_consequences(const Move *move)
{
	tier_debug_point("recorded");
	if (move->result == TIER_MOVE_DONE)
		tier_catalog_note_moved(move->request->relation_oid, move->request->tablespace_oid);

	/* The table itself has moved, and not a part of it only. */
	if (move->outcome.state != NULL && strcmp(move->outcome.state, "done") == 0 &&
		move->info->tablespace_oid != move->request->tablespace_oid)
		tier_verify_begin(move->move_id,
						  move->request->policy_id != 0 ? 0 : move->request->batch_id,
						  move->set, move->info->relation_oid,
						  move->info->tablespace_oid, move->request->tablespace_oid);
}

static void
finish_step(void *argument)
{
	Move	   *move = argument;
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	if (move->outcome.state == NULL)
		tier_catalog_forget_move(move->move_id);
	else
		tier_catalog_finish_move(move->move_id, &move->outcome);
	if (!move->only_record)
		note_consequences(move);
	tier_catalog_leave(&scope);
}

/*
 * Completes the record.  An error that comes just now must not leave it incomplete: it is
 * caught, and returned to be thrown afterwards.  A cancel, or what has timed out, may not
 * come again; with any other error, nothing but the record is tried again.
 */
static ErrorData *
finish_record(Move *move, const TierMoveReport *report)
{
	static const char *const states[] = {
		[TIER_STATE_DONE] = "done",
		[TIER_STATE_NOT_NEEDED] = NULL, /* somebody else was faster: no move */
		[TIER_STATE_SKIPPED] = "skipped",
		[TIER_STATE_WAITING] = "skipped",
		[TIER_STATE_FAILED] = "failed",
	};
	ErrorData  *thrown;

	move->outcome.state = states[report->state];
	move->outcome.error = report->error;
	move->outcome.sqlstate = report->error ? report->sqlstate : NULL;

	/* That another process is at it, or was faster, is no failure either. */
	move->outcome.is_tried_again = report->state == TIER_STATE_WAITING || move->is_above_mark ||
		(report->state == TIER_STATE_SKIPPED && strcmp(report->sqlstate, "55006") == 0) ||
		(move->request->is_tried_again && tier_move_is_worth_retrying(report));
	thrown = tier_attempt(finish_step, move);
	if (thrown != NULL)
	{
		move->only_record = thrown->sqlerrcode != ERRCODE_QUERY_CANCELED &&
			thrown->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE;
		(void) tier_attempt(finish_step, move);
	}
	tier_transaction_commit();
	return thrown;
}

/* ---------------------------------------------------------------------
 * Whether and when to begin
 * ---------------------------------------------------------------------
 */

/* Waits with nothing locked and no snapshot to hold anybody up. */
static void
pause_ms(long milliseconds)
{
	int64		until = tier_clock_monotonic_us() + (int64) milliseconds * 1000;

	for (;;)
	{
		int64		left = until - tier_clock_monotonic_us();

		CHECK_FOR_INTERRUPTS();
		if (left <= 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 (long) (left / 1000 + 1), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

TierMoveTarget
tier_move_target(const TierMoveRequest *request)
{
	TierMoveTarget where = {
		.tablespace_oid = request->tablespace_oid,
		.requester_oid = request->requester_oid,
		.allow_lock = request->allow_lock,
		.limit_lock_time = request->limit_lock_time,
	};

	return where;
}

TierObstacle
tier_move_foresee(const TierMoveRequest *request, const TierSet *set)
{
	TierObstacle gone = {"it does not exist any more", NULL, NULL, ERRCODE_UNDEFINED_TABLE};
	TierMoveTarget where = tier_move_target(request);
	TierAdmission admission;
	TierRelationInfo info;

	if (!tier_relation_lookup(request->relation_oid, &info))
		return gone;
	tier_preflight_init(&admission, &info, &where, set, tier_relation_disk_bytes(&info));
	return tier_preflight(&admission);
}

/* What moves that were announced before have still to write, of each tablespace of a set. */
typedef struct Arriving
{
	const TierSet *set;
	double	   *bytes;
} Arriving;

static TierFullnessFlight
arriving_of(Oid tablespace_oid, const void *argument)
{
	const Arriving *arriving = argument;
	TierFullnessFlight flight = {0};

	for (int i = 0; i < arriving->set->ntablespaces; i++)
		if (arriving->set->tablespaces[i].oid == tablespace_oid)
			flight.own_bytes = flight.disk_bytes = arriving->bytes[i];
	return flight;
}

/* A share of the tier's capacity; 0: there is none. */
static double
mark_of(TierMoveMark mark, const TierTier *tier)
{
	switch (mark)
	{
		case TIER_MARK_NONE:
			break;
		case TIER_MARK_EMPTIED:
			return Max(tier->emptied_above, 0.0);
		case TIER_MARK_HIGH:
			return tier_fullness_high_mark(tier);
		case TIER_MARK_STAY:
			return tier_fullness_stay_mark(tier);
	}
	return 0.0;
}

TierObstacle
tier_move_mark_obstacle(TierMoveMark mark, const TierTier *tier, const TierFullnessLevel *level,
						int64 size_bytes)
{
	TierObstacle obstacle = {NULL};
	double		share = mark_of(mark, tier);
	double		needed = tier_cost_stored_bytes(size_bytes, &tier->profile);

	if (share <= 0.0 || tier_fullness_bytes(level) + needed <= share * level->capacity_bytes)
		return obstacle;
	obstacle.sqlstate = ERRCODE_DISK_FULL;
	obstacle.message = psprintf("tier \"%s\" would be above its watermark of %g %%",
								NameStr(tier->name), 100.0 * share);
	obstacle.detail = psprintf("%s are needed, and %s of %s are taken, with what moves that "
							   "began before have still to write.", tier_size_text(needed),
							   tier_size_text(tier_fullness_bytes(level)),
							   tier_size_text(level->capacity_bytes));
	obstacle.hint = "The next run decides again what is moved.";
	return obstacle;
}

/*
 * The tier of the target as it will be with the move, and how full; NULL: it is filled up to no
 * mark.  Announcements are looked at before the files and what the file systems have free: what
 * somebody writes in between is counted twice and not missed.  What leaves the target is not
 * counted before it has left.
 */
static const TierTier *
level_of_target(const Move *move, int64 announced_us, TierFullnessLevel *level)
{
	MemoryContext context = CurrentMemoryContext;
	Arriving	arriving = {.set = move->set};
	TierFullnessQuestion question = {.flight = arriving_of,.argument = &arriving};
	TierCatalogScope scope;
	const TierSet *set;
	int			to;

	arriving.bytes = palloc(sizeof(double) * Max(move->set->ntablespaces, 1));
	for (int i = 0; i < move->set->ntablespaces; i++)
		arriving.bytes[i] = tier_space_arriving(move->set->tablespaces[i].oid, announced_us);
	if (!tier_catalog_try_enter(&scope))
		return NULL;
	set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	to = tier_set_tier_of_tablespace(set, move->request->tablespace_oid);
	if (to < 0 || to == tier_set_tier_of_tablespace(set, move->info->tablespace_oid) ||
		set->tiers[to].capacity_bytes <= 0)
		return NULL;
	*level = tier_fullness_level(set, to, &question);
	return &set->tiers[to];
}

/*
 * Would the target be above the mark?  Asked once the move is announced, so that of several
 * which were decided on at the same moment, maybe in several databases, all but the first
 * know of another.
 */
static TierObstacle
mark_obstacle(const Move *move, int64 announced_us)
{
	TierObstacle obstacle = {NULL};
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context;
	TierFullnessLevel level;
	const TierTier *tier;

	if (move->request->mark == TIER_MARK_NONE)
		return obstacle;
	context = AllocSetContextCreate(old_context, "tiered_storage mark", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	tier = level_of_target(move, announced_us, &level);
	MemoryContextSwitchTo(old_context);
	if (tier != NULL)
		obstacle = tier_move_mark_obstacle(move->request->mark, tier, &level, move->size_bytes);
	MemoryContextDelete(context);
	return obstacle;
}

static void
preflight_step(void *argument)
{
	Move	   *move = argument;
	TierMoveTarget where = tier_move_target(move->request);
	TierAdmission admission;

	tier_preflight_init(&admission, move->info, &where, move->set, move->size_bytes);
	admission.announces = true;
	move->extension_oid = tier_relation_table_extension(move->info);
	move->obstacle = tier_preflight(&admission);
	if (move->obstacle.message == NULL)
	{
		move->obstacle = mark_obstacle(move, tier_preflight_space(&admission)->announced_us);
		move->is_above_mark = move->obstacle.message != NULL;
	}
	move->is_locked = move->request->only_if_free &&
		tier_relation_count_lockers(move->request->relation_oid) > 0;
}

static bool
idle_is_due(const Move *move)
{
	return move->request->idle != NULL && move->request->idle->is_due();
}

/* Between two transactions: what must not wait for a move to end, or to begin. */
static void
run_idle(const Move *move)
{
	if (idle_is_due(move))
		move->request->idle->run();
}

/* Tells once what a person is waiting for; nobody reads what a worker says. */
static void
tell_waiting(Move *move, bool is_paused)
{
	if (move->has_told)
		return;
	move->has_told = true;
	if (is_paused)
		ereport(NOTICE,
				(errmsg("%s waits to be moved: moves are paused", move->info->name),
				 errhint("SELECT tiered_storage.resume() lets them continue.")));
	else
		ereport(NOTICE,
				(errmsg("%s waits to be moved: "
						"others move as much as tiered_storage.max_movers permits",
						move->info->name),
				 errhint("SELECT * FROM tiered_storage.move_progress shows what they do.")));
}

/*
 * Waits until moves are not paused, and not too many others are at it; or until
 * the transaction is too old for waiting, or something else is due.
 */
static void
queue_step(void *argument)
{
	Move	   *move = argument;
	Oid			requester_oid = move->request->requester_oid;
	bool		is_administrator = tier_is_administrator(requester_oid);

	while (tier_throttle_is_paused() ||
		   !(move->has_entered = tier_throttle_enter(requester_oid, is_administrator)))
	{
		bool		is_paused = tier_throttle_is_paused();

		if (tier_transaction_is_old() || idle_is_due(move))
			return;
		tier_progress_set(TIER_PROGRESS_PHASE, is_paused ? TIER_PHASE_PAUSED : TIER_PHASE_QUEUED);
		tell_waiting(move, is_paused);
		pause_ms(QUEUE_INTERVAL_MS);
	}
	tier_progress_set(TIER_PROGRESS_PHASE, TIER_PHASE_STARTING);
}

/*
 * Has somebody pinned it to another tier since the move was asked for, which may
 * be hours ago?  Or is the extension another one by now, of whose tables this library
 * knows nothing?  Then it is reported as skipped.  In a transaction, with nothing of a
 * user locked.
 */
static bool
is_forbidden_meanwhile(Move *move)
{
	const TierMoveRequest *request = move->request;
	MemoryContext old_context = MemoryContextSwitchTo(move->context);
	const TierPinned *pinned;
	TierCatalogScope scope;
	TierPins   *pins;

	if (!tier_catalog_try_enter(&scope))
	{
		MemoryContextSwitchTo(move->context);
		report_skipped(move->report, pstrdup("the extension was updated or dropped meanwhile"),
					   "It can be moved when the library is that of the extension.", "55000");
		MemoryContextSwitchTo(old_context);
		return true;
	}
	pins = tier_catalog_load_pin_of(move->context, request->relation_oid);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(move->context);
	pinned = tier_preflight_pin(pins, move->set, move->info, request->tablespace_oid);
	if (pinned != NULL)
		report_skipped(move->report,
					   psprintf("it was pinned to tier \"%s\" meanwhile",
								NameStr(pinned->tier_name)),
					   tier_preflight_unpin_hint(pinned), "55000");
	MemoryContextSwitchTo(old_context);
	return pinned != NULL;
}

/* After it has waited for others, or for resume(): windows have an end. */
static void
window_step(void *argument)
{
	Move	   *move = argument;
	MemoryContext old_context = MemoryContextSwitchTo(move->context);
	TierPlannedMove planned = {
		.from_tablespace_oid = move->info->tablespace_oid,
		.to_tablespace_oid = move->request->tablespace_oid,
		.bytes = (double) move->size_bytes,
		.by_worker = MyBackendType == B_BG_WORKER,
		.is_optional = move->request->is_optional,
		.pressing = move->request->pressing
	};
	TierMoveStart start = tier_gate_ask(move->set, &planned);

	if (!start.may_begin)
	{
		report_skipped(move->report, start.reason, NULL, "55000");
		move->report->state = TIER_STATE_WAITING;
		move->report->under_pressure = start.under_pressure;
		move->report->may_begin_at = start.at;
		move->is_unwanted = true;
	}
	MemoryContextSwitchTo(old_context);
}

/* Does what has asked for it do so no longer?  Then it is reported as skipped. */
static bool
is_dropped_meanwhile(Move *move)
{
	TierMoveRequest asked = *move->request;

	asked.moved_bytes = move->moved_bytes;
	if (asked.is_wanted == NULL || asked.is_wanted(&asked))
		return false;
	report_skipped(move->report,
				   MemoryContextStrdup(move->context,
									   "what has asked for the move does so no longer"),
				   NULL, "55000");
	return true;
}

/* Has Citus begun to move, copy or split it?  Then that goes first. */
static bool
is_transferred_meanwhile(Move *move)
{
	const char *why = tier_distributed_why_busy(move->request->relation_oid);

	if (why == NULL)
		return false;
	report_skipped(move->report, MemoryContextStrdup(move->context, why), NULL, "55006");
	return true;
}

static void
pin_step(void *argument)
{
	Move	   *move = argument;

	move->is_unwanted = is_forbidden_meanwhile(move);
}

/* Everything for which it may be unwanted, also what takes longer to find out. */
static void
ask_step(void *argument)
{
	Move	   *move = argument;

	move->is_unwanted = is_forbidden_meanwhile(move) || is_transferred_meanwhile(move) ||
		is_dropped_meanwhile(move);
}

/* Is anything in the way, or is it not wanted any more?  False with the reason. */
static bool
may_begin(Move *move, TierMoveReport *report, ErrorData **thrown)
{
	TierObstacle *obstacle = &move->obstacle;

	*thrown = tier_attempt(preflight_step, move);
	tier_transaction_commit();
	if (*thrown != NULL)
	{
		report_thrown(report, *thrown);
		return false;
	}
	if (obstacle->message != NULL)
	{
		report_skipped(report, obstacle->message, obstacle->hint,
					   unpack_sql_state(obstacle->sqlstate));
		report->detail = obstacle->detail;
		return false;
	}
	if (move->is_locked)
	{
		report_skipped(report,
					   "others use it, and the worker has waited long enough for other "
					   "relations of its owner that are in use",
					   "It is tried again later.", "55P03");
		return false;
	}
	do
	{
		*thrown = tier_attempt(queue_step, move);
		tier_transaction_commit();
		if (*thrown == NULL)
			run_idle(move);
	} while (*thrown == NULL && !move->has_entered);
	if (*thrown == NULL)
	{
		/* Whoever asks for it has just decided, unless it has waited since. */
		*thrown = tier_attempt(move->has_told ? ask_step : pin_step, move);
		tier_transaction_commit();
	}
	if (*thrown == NULL && !move->is_unwanted && move->has_told && move->request->obeys_windows)
	{
		*thrown = tier_attempt(window_step, move);
		tier_transaction_commit();
	}
	if (*thrown != NULL)
		report_thrown(report, *thrown);
	return *thrown == NULL && !move->is_unwanted;
}

/* ---------------------------------------------------------------------
 * Online: each part by itself
 * ---------------------------------------------------------------------
 */

/*
 * In a subtransaction: what is thrown in a scope leaves a connection to SPI
 * open, with which the online move could not roll back.
 */
static bool
is_still_wanted(const TierOnlineRequest *request)
{
	Move	   *move = request->argument;
	ErrorData  *error = tier_attempt(ask_step, move);

	if (error != NULL)
		ReThrowError(error);
	return !move->is_unwanted;
}

/* Parts of the relation that are not yet in the tablespace, itself the last. */
static List *
parts_to_move(Oid relation_oid, Oid tablespace_oid)
{
	List	   *parts = NIL;
	ListCell   *cell;

	foreach(cell, tier_relation_parts(relation_oid))
	{
		TierRelationInfo info;

		if (tier_relation_lookup(lfirst_oid(cell), &info) && info.tablespace_oid != tablespace_oid)
			parts = lappend_oid(parts, info.relation_oid);
	}
	return parts;
}

/* May wait for the locks of catalogs, and so be cancelled. */
static void
parts_step(void *argument)
{
	Move	   *move = argument;
	Oid			relation_oid = move->request->relation_oid;
	MemoryContext old_context = MemoryContextSwitchTo(move->context);
	TierRelationInfo info;

	move->parts = parts_to_move(relation_oid, move->request->tablespace_oid);
	move->is_gone = !tier_relation_lookup(relation_oid, &info);
	move->is_rebuilt = tier_relation_present(&move->identity, NULL) != relation_oid;
	MemoryContextSwitchTo(old_context);
}

bool
tier_move_is_needed(Oid relation_oid, Oid tablespace_oid)
{
	return parts_to_move(relation_oid, tablespace_oid) != NIL;
}

static void
add_online_report(TierMoveOutcome *outcome, const TierOnlineReport *part)
{
	outcome->attempts += part->attempts;
	outcome->lock_wait_ms += part->lock_wait_ms;
	outcome->copied_bytes += part->copied_bytes;
	if (part->lock_held_ms > outcome->lock_held_ms)
	{
		outcome->lock_held_ms = part->lock_held_ms;
		outcome->lock_flush_ms = part->flush_ms;
	}
}

/*
 * A part is moved; what came after its swap does not undo it.  A cancel ends
 * the move, which is done only if this was the last part.
 */
static bool
go_on_after(Move *move, TierMoveReport *report, ErrorData **thrown)
{
	if (*thrown == NULL)
		return true;
	if ((*thrown)->sqlerrcode == ERRCODE_QUERY_CANCELED)
	{
		if (!move->is_in_place)
			report_thrown(report, *thrown);
		return false;
	}
	ereport(LOG,
			(errmsg("error after the move of %s: %s", report->relation_name, (*thrown)->message),
			 (*thrown)->detail == NULL ? 0 : errdetail_internal("%s", (*thrown)->detail)));
	*thrown = NULL;
	return true;
}

/* It has failed between two parts: that is no failure if the relation itself has moved. */
static void
end_after(Move *move, TierMoveReport *report, ErrorData **thrown)
{
	if (!move->is_in_place)
		report_thrown(report, *thrown);
	else
		(void) go_on_after(move, report, thrown);
}

/* Finds what is left to move; false: that has failed, or there is no use in going on. */
static bool
find_parts(Move *move, TierMoveReport *report, ErrorData **thrown)
{
	*thrown = tier_attempt(parts_step, move);
	tier_transaction_commit();
	if (*thrown == NULL)
		return true;
	end_after(move, report, thrown);
	return false;
}

/*
 * It was not moved, but has been rebuilt meanwhile.  Where somebody decides again what is moved,
 * he is told; else tier_move_one() goes on with the index that there is now.
 */
static void
report_rebuilt(const Move *move, TierMoveReport *report)
{
	if (move->request->is_wanted != NULL)
		report_skipped(report, pstrdup("it was rebuilt meanwhile, and is another index by now"),
					   "The next run decides whether that one is moved.", "55006");
	else
		report->state = TIER_STATE_NOT_NEEDED;
}

/* Moves one part; true to go on. */
static bool
move_part(Move *move, Oid part_oid, TierMoveReport *report, ErrorData **thrown)
{
	TierOnlineRequest request;
	TierOnlineReport part;
	TierOnlineResult result;

	memset(&request, 0, sizeof(request));
	memset(&part, 0, sizeof(part));
	part.lock_held_ms = -1;
	request.relation_oid = part_oid;
	request.rights_oid = move->request->relation_oid;
	request.tablespace_oid = move->request->tablespace_oid;
	request.requester_oid = move->request->requester_oid;
	request.for_owner = move->request->for_owner;
	request.extension_oid = move->extension_oid;
	request.register_file = true;
	request.reserve_bytes = tier_preflight_reserve(move->set, move->request->tablespace_oid);
	request.is_wanted = is_still_wanted;
	request.argument = move;
	request.idle = move->request->idle;
	request.is_tried_again = move->request->is_tried_again;
	request.waits_for_wal_readers = move->request->obeys_windows;
	result = tier_online_move(&request, &part);
	add_online_report(&move->outcome, &part);
	*thrown = part.error;
	switch (result)
	{
		case TIER_ONLINE_DONE:
			move->result = TIER_MOVE_DONE;
			report->state = TIER_STATE_DONE;
			move->moved_bytes += Max(part.copied_bytes, 0);
			move->is_in_place = move->is_in_place || part_oid == move->request->relation_oid;
			return go_on_after(move, report, thrown);
		case TIER_ONLINE_NOT_NEEDED:
			return true;
		case TIER_ONLINE_BUSY:
			report_skipped(report, part.why, pstrdup(part.hint), "55P03");
			return false;
		case TIER_ONLINE_HELD_UP:
			report_skipped(report, part.why, pstrdup(part.hint), "55000");
			report->under_pressure = true;
			return false;
		case TIER_ONLINE_REFUSED:
			if (part.is_incomplete && !find_parts(move, report, thrown))
				return false;
			if (part.is_incomplete && move->is_rebuilt)
				report_rebuilt(move, report);
			else if (part.is_incomplete)
				report_skipped(report, part.why, TIER_INCOMPLETE_HINT, "55000");
			else
				report_skipped(report, psprintf("it cannot be moved online: %s", part.why),
							   NULL, "0A000");
			return false;
		case TIER_ONLINE_UNWANTED:
			return false;		/* reported by is_still_wanted() */
		case TIER_ONLINE_FAILED:
			report_thrown(report, part.error);
			return false;
	}
	return false;
}

/*
 * Moves the relation and what belongs to it.  A table that is rewritten
 * meanwhile has another TOAST table, hence the passes.
 */
static ErrorData *
move_online(Move *move, TierMoveReport *report)
{
	ErrorData  *thrown = NULL;

	for (int pass = 0;; pass++)
	{
		ListCell   *cell;

		if (!find_parts(move, report, &thrown))
			return thrown;
		if (move->parts == NIL || move->is_rebuilt || pass == MAX_PASSES)
			break;
		foreach(cell, move->parts)
			if (!move_part(move, lfirst_oid(cell), report, &thrown))
			return thrown;
	}

	/* What it was rebuilt as after its move is where that was. */
	if (move->is_rebuilt)
	{
		if (report->state != TIER_STATE_DONE)
			report_rebuilt(move, report);
		return thrown;
	}

	/* Dropped after its TOAST table was moved. */
	if (report->state == TIER_STATE_DONE && move->is_gone)
	{
		report->state = TIER_STATE_NOT_NEEDED;
		move->result = TIER_MOVE_GONE;
	}
	return thrown;
}

/* ---------------------------------------------------------------------
 * Under one lock
 * ---------------------------------------------------------------------
 */

/* One attempt after a pause; a cancel, also during the pause, is an error. */
static void
attempt_step(void *argument)
{
	Move	   *move = argument;

	if (move->backoff_ms > 0)
		tier_throttle_yield();
	pause_ms(move->backoff_ms);
	while (!tier_throttle_resume())
	{
		tier_progress_set(TIER_PROGRESS_PHASE, tier_throttle_is_paused() ? TIER_PHASE_PAUSED :
						  TIER_PHASE_QUEUED);
		pause_ms(QUEUE_INTERVAL_MS);
	}
	tier_progress_set(TIER_PROGRESS_PHASE, TIER_PHASE_LOCKED);
	tier_transaction_obey_timeout();
	move->result = tier_relation_move(move->request->relation_oid, move->request->requester_oid,
									  move->request->for_owner, move->extension_oid,
									  move->request->tablespace_oid, &move->timing);
}

/* Attempts until one succeeds, fails, or enough have waited in vain. */
static ErrorData *
move_with_retries(Move *move, TierMoveReport *report)
{
	TierMoveOutcome *outcome = &move->outcome;

	for (outcome->attempts = 1;; outcome->attempts++)
	{
		ErrorData  *thrown;

		memset(&move->timing, 0, sizeof(move->timing));
		thrown = tier_attempt(attempt_step, move);

		/* Ends the transaction at once: that is what releases the lock. */
		tier_transaction_commit();
		tier_relation_release_row();
		outcome->lock_wait_ms += move->timing.lock_wait_ms;
		if (move->timing.locked_at != 0)
			outcome->lock_held_ms = ms_since(move->timing.locked_at);

		if (thrown != NULL && thrown->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		{
			report_thrown(report, thrown);
			return thrown;
		}
		if (thrown == NULL && move->result != TIER_MOVE_LOCK_TIMEOUT)
		{
			report->state = move->result == TIER_MOVE_DONE ? TIER_STATE_DONE :
				TIER_STATE_NOT_NEEDED;
			return NULL;
		}
		if (outcome->attempts >= tier_move_lock_attempts)
		{
			report_skipped(report,
						   psprintf("could not lock the relation within %d ms in %d %s",
									tier_move_lock_timeout_ms, outcome->attempts,
									outcome->attempts == 1 ? "attempt" : "attempts"),
						   "Others are using it. Raise tiered_storage.move_lock_timeout or "
						   "move_lock_attempts, or try again later.",
						   "55P03");
			return NULL;
		}
		move->backoff_ms = move->backoff_ms == 0 ? FIRST_BACKOFF_MS :
			Min(move->backoff_ms * 2, LONGEST_BACKOFF_MS);
		thrown = tier_attempt(ask_step, move);
		tier_transaction_commit();
		if (thrown != NULL)
		{
			report_thrown(report, thrown);
			return thrown;
		}
		if (move->is_unwanted)
			return NULL;		/* reported by ask_step() */
		run_idle(move);
	}
}

/* ---------------------------------------------------------------------
 * The move
 * ---------------------------------------------------------------------
 */

/*
 * A cancel goes on to the caller.  With a statement_timeout that may be a surprise, as
 * no statement of a move takes long by itself.
 */
static void
throw_cancel(ErrorData *error)
{
	if (StatementTimeout > 0 && error->hint == NULL &&
		TimestampDifferenceExceeds(GetCurrentStatementStartTimestamp(), GetCurrentTimestamp(),
								   StatementTimeout))
		error->hint = "statement_timeout is for the whole CALL. What was moved before stays "
			"where it is now; SET statement_timeout = 0 lets the next one take its time.";
	ThrowErrorData(error);
}

/*
 * The tiers as they are now, in a context of their own: a batch may have begun hours
 * ago, and what a tier holds and keeps free may have been changed since.  NULL: the
 * extension has gone.
 */
static const TierSet *
load_tiers(MemoryContext *tiers_context)
{
	MemoryContext caller = CurrentMemoryContext;
	TierCatalogScope scope;
	const TierSet *set;

	*tiers_context = NULL;
	if (!tier_catalog_try_enter(&scope))
		return NULL;
	*tiers_context = AllocSetContextCreate(caller, "tiered_storage tiers of a move",
										   ALLOCSET_DEFAULT_SIZES);
	set = tier_catalog_load_tiers(*tiers_context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(caller);
	return set;
}

/* Step 3: moves it, unless something is in the way.  What it returns was reported. */
static ErrorData *
carry_out(Move *move, bool online)
{
	ErrorData  *thrown = NULL;

	if (!may_begin(move, move->report, &thrown))
		return thrown;
	if (online)
		return move_online(move, move->report);
	tier_progress_set(TIER_PROGRESS_PHASE, TIER_PHASE_LOCKED);
	return move_with_retries(move, move->report);
}

/*
 * The same, whatever fails: what can is tried in subtransactions, but there is something
 * between them, and at the end of each transaction.
 */
static ErrorData *
carry_out_safely(Move *move, bool online)
{
	int			level = GetCurrentTransactionNestLevel();
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	ErrorData  *volatile thrown = NULL;

	PG_TRY();
	{
		thrown = carry_out(move, online);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(move->context);
		error = tier_attempt_take_error();
		while (GetCurrentTransactionNestLevel() > level)
			RollbackAndReleaseCurrentSubTransaction();
		while (ActiveSnapshotSet() && GetActiveSnapshot() != snapshot)
			PopActiveSnapshot();	/* SPI wants to know of all */
		tier_transaction_rollback();
		tier_relation_release_row();
		MemoryContextSwitchTo(move->context);
		end_after(move, move->report, &error);
		thrown = error;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(move->context);
	return thrown;
}

/* Nobody waits for us any more.  Does nothing the second time. */
static void
step_aside(void)
{
	tier_throttle_leave();
	tier_progress_end();
	tier_gate_forget();
}

/* Steps 3 and 4; *late is what has failed when it was over. */
static void
run_move(Move *move, bool online, int64 started_at, ErrorData **thrown, ErrorData **late)
{
	double		waited_ms = tier_progress_waited_ms();

	tier_progress_start(move->request->relation_oid);
	PG_TRY();
	{
		/* 3. Move it, unless something is in the way. */
		*thrown = carry_out_safely(move, online);
		step_aside();

		/* 4. What became of it. */
		move->outcome.elapsed_ms = ms_since(started_at);
		move->outcome.waited_ms = tier_progress_waited_ms() - waited_ms;
		move->report->worked_ms = Max(move->outcome.elapsed_ms - move->outcome.waited_ms, 0.0);
		move->report->lock_held_ms = Max(move->outcome.lock_held_ms, 0.0);
		*late = finish_record(move, move->report);
	}
	PG_FINALLY();
	{
		step_aside();

		/*
		 * Not before: until the record says what is where, others must count
		 * it.
		 */
		tier_space_done();
	}
	PG_END_TRY();
}

/* *present is the relation, or what it was rebuilt as meanwhile. */
static TierMoveReport
move_as_it_is(const TierMoveRequest *request, Oid *present)
{
	TierMoveReport report;
	MemoryContext tiers_context;
	const TierSet *set;
	TierRelationInfo info;
	int64		started_at = tier_clock_monotonic_us();
	const char *why_not_online;
	ErrorData  *thrown = NULL;
	ErrorData  *late = NULL;
	Move		move;

	memset(&report, 0, sizeof(report));
	memset(&move, 0, sizeof(move));
	move.result = TIER_MOVE_GONE;
	report.state = TIER_STATE_NOT_NEEDED;
	*present = request->relation_oid;

	/* 1. Is it still there, and is there anything to do? */
	report.is_gone = !tier_relation_lookup(request->relation_oid, &info);
	if (report.is_gone)
		return report;
	report.relation_name = info.name;
	report.size_bytes = tier_relation_disk_bytes(&info);
	if (!tier_move_is_needed(request->relation_oid, request->tablespace_oid))
		return report;
	why_not_online = tier_relation_why_not_online(&info);
	set = load_tiers(&tiers_context);
	if (set == NULL)
		return report;

	/* 2. Record it, so that others see it. */
	move.request = request;
	move.set = set;
	move.info = &info;
	move.context = CurrentMemoryContext;
	move.report = &report;
	move.size_bytes = report.size_bytes;
	tier_relation_identify(info.relation_oid, &move.identity);
	move.outcome.lock_held_ms = -1;
	move.outcome.lock_flush_ms = -1;
	move.outcome.copied_bytes = why_not_online == NULL ? 0 : -1;
	move.move_id = begin_record(request, set, &info, report.size_bytes,
								why_not_online == NULL || !request->allow_lock);
	tier_transaction_commit();
	if (move.move_id == 0)
	{
		MemoryContextDelete(tiers_context);
		return report;
	}

	run_move(&move, why_not_online == NULL, started_at, &thrown, &late);
	count_move(request, &report);
	if (report.state == TIER_STATE_DONE && tier_log_moves)
		log_done(&move);
	MemoryContextDelete(tiers_context);
	if (thrown != NULL && thrown->sqlerrcode == ERRCODE_QUERY_CANCELED)
		throw_cancel(thrown);
	if (late != NULL && late->sqlerrcode == ERRCODE_QUERY_CANCELED)
		throw_cancel(late);
	if (late != NULL)
		ThrowErrorData(late);
	*present = tier_relation_present(&move.identity, NULL);
	report.is_gone = report.state == TIER_STATE_NOT_NEEDED &&
		!tier_relation_lookup(*present, &info);
	return report;
}

TierMoveReport
tier_move_one(const TierMoveRequest *request)
{
	TierMoveRequest now = *request;

	for (;;)
	{
		Oid			present;
		TierMoveReport report = move_as_it_is(&now, &present);

		if (present == now.relation_oid || report.state != TIER_STATE_NOT_NEEDED ||
			request->is_wanted != NULL)
			return report;
		CHECK_FOR_INTERRUPTS();
		now.relation_oid = present;
	}
}
