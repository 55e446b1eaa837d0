/*-------------------------------------------------------------------------
 *
 * act/move_admission.c
 *		Decides whether and when a move begins, and whether it is still wanted.
 *
 * A decision to move is based on the state at that time.  So the obstacles are checked again
 * before the move begins, and then it waits for its place among the movers.  After each wait, for
 * a place or for a lock, the move checks whether it is still requested.  No lock is held on a
 * relation of a user during these checks and waits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/memutils.h"

#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/act/move_state.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/sql.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/decide/tier_fullness.h"
#include "src/move/preflight.h"
#include "src/move/progress.h"
#include "src/move/space.h"
#include "src/move/throttle.h"
#include "src/observe/standby_reads.h"
#include "src/server/distributed.h"
#include "src/server/relation.h"

void
tier_move_pause_ms(long milliseconds)
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
		.yields_to_standbys = request->obeys_windows,
	};

	return where;
}

/* A definition of tiers that is younger, in microseconds, need not be loaded again. */
#define RECENT_TIERS_US 1000000

/*
 * The tiers that tier_move_load_tiers() has loaded last, and when; NULL: none.  Of the process,
 * which has one move at a time.
 */
static const TierSet *loaded;
static int64 loaded_at;
static MemoryContext loaded_context;

/* Those of the request, or of an earlier move of the same call; NULL: they are not recent. */
static const TierSet *
recent_tiers(const TierMoveRequest *request)
{
	int64		since = tier_clock_monotonic_us() - RECENT_TIERS_US;

	if (request->set == NULL || request->set_at > since)
		return request->set;
	return loaded_at > Max(since, request->set_at) ? loaded : NULL;
}

const TierSet *
tier_move_load_tiers(const TierMoveRequest *request)
{
	MemoryContext caller = CurrentMemoryContext;
	const TierSet *set = recent_tiers(request);

	if (set != NULL)
		return set;
	loaded = NULL;
	if (loaded_context == NULL)
		loaded_context = AllocSetContextCreate(TopMemoryContext, "tiered_storage tiers of a move",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(loaded_context);
	MemoryContextSwitchTo(loaded_context);
	loaded = tier_catalog_tiers_now();
	loaded_at = tier_clock_monotonic_us();
	MemoryContextSwitchTo(caller);
	return loaded;
}

/* Whether a tier has more than one tablespace, of which the one with most room is chosen. */
static bool
has_choice(const TierSet *set, int tier)
{
	int			n = 0;

	for (int i = 0; tier >= 0 && i < set->ntablespaces; i++)
		n += set->tablespaces[i].tier == tier;
	return n > 1;
}

double
tier_move_arriving(const TierTablespace *tablespace, const void *set)
{
	double		bytes = 0.0;

	for (int i = 0; i < ((const TierSet *) set)->ntablespaces; i++)
	{
		const TierTablespace *other = &((const TierSet *) set)->tablespaces[i];

		if (tier_set_same_file_system(other, tablespace))
			bytes += tier_space_flight(other->oid).to_write_bytes;
	}
	return bytes;
}

void
tier_move_choose(TierMoveRequest *request, const char *tier_name)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "tiered_storage choice",
												  ALLOCSET_DEFAULT_SIZES);
	const TierSet *set = recent_tiers(request);
	int			tier;
	Oid			chosen_oid;

	/* Each move changes how much room there is. */
	if (set == NULL || has_choice(set, tier_set_find_tier(set, tier_name)))
	{
		MemoryContextSwitchTo(context);
		set = tier_catalog_tiers_now();
		MemoryContextSwitchTo(caller);
	}
	tier = set == NULL ? -1 : tier_set_find_tier(set, tier_name);
	chosen_oid = tier < 0 ? InvalidOid :
		tier_set_usable_after(set, tier, request->requester_oid, tier_move_arriving, set);
	if (OidIsValid(chosen_oid))
		request->tablespace_oid = chosen_oid;
	MemoryContextDelete(context);
}

/* The bytes that moves announced earlier have still to write, for each tablespace of a set. */
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
	TierObstacle obstacle = {0};
	double		share = mark_of(mark, tier);
	double		needed = tier_cost_stored_bytes(size_bytes, &tier->profile);

	if (share <= 0.0 || tier_fullness_bytes(level) + needed <= share * level->capacity_bytes)
		return obstacle;
	obstacle.sqlstate = ERRCODE_DISK_FULL;
	obstacle.message = psprintf("tier \"%s\" would be above its watermark of %g %%",
								NameStr(tier->name), 100.0 * share);
	obstacle.detail = psprintf("%s are needed, and %s of %s are used or reserved by "
							   "earlier moves.", tier_size_text(needed),
							   tier_size_text(tier_fullness_bytes(level)),
							   tier_size_text(level->capacity_bytes));
	obstacle.hint = "The next run makes a new plan.";
	return obstacle;
}

/*
 * The tier of the target as it will be with the move, and how full; NULL: it is filled up to no
 * mark.  Announcements are read before the files and the free space of the file systems: bytes
 * written in between are counted twice rather than missed.  A relation that leaves the target is
 * counted until it has left.
 */
static const TierTier *
level_of_target(const TierMove *move, int64 announced_us, TierFullnessLevel *level)
{
	Arriving	arriving = {.set = move->set};
	TierFullnessQuestion question = {.flight = arriving_of,.argument = &arriving};
	const TierSet *set;
	int			to;

	arriving.bytes = palloc(sizeof(double) * Max(move->set->ntablespaces, 1));
	for (int i = 0; i < move->set->ntablespaces; i++)
		arriving.bytes[i] = tier_space_arriving(move->set->tablespaces[i].oid, announced_us);
	set = tier_catalog_tiers_now();
	if (set == NULL)
		return NULL;
	to = tier_set_tier_of_tablespace(set, move->request->tablespace_oid);
	if (to < 0 || to == tier_set_tier_of_tablespace(set, move->info->tablespace_oid) ||
		set->tiers[to].capacity_bytes <= 0)
		return NULL;
	*level = tier_fullness_level(set, to, &question);
	return &set->tiers[to];
}

/*
 * The obstacle if the target would be above the mark.  Checked once the move is announced: of
 * several moves that were decided on at the same moment, maybe in several databases, all but the
 * first see another one.
 */
static TierObstacle
mark_obstacle(const TierMove *move, int64 announced_us)
{
	TierObstacle obstacle = {0};
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

/* For a session that has named the relation: warns of the effect on a standby. */
static void
warn_standby_user(TierAdmission *admission)
{
	const TierStandbyUser *user = tier_preflight_standby_user(admission);

	if (user == NULL)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("%s is moved although %s", admission->info->name,
					tier_preflight_standby_use_text(user, admission->where.requester_oid)),
			 errdetail_internal("%s", tier_preflight_standby_conflict_text(user))));
}

/*
 * Returns true if the relation was moved since its place was recorded.  Then the decision to
 * move, and the place to which undo_move() would return it, are outdated.
 */
static bool
is_moved_meanwhile(TierMove *move)
{
	TierRelationInfo now;

	if (!tier_relation_lookup(move->request->relation_oid, &now) ||
		now.tablespace_oid == move->info->tablespace_oid ||
		now.tablespace_oid == move->request->tablespace_oid)
		return false;
	tier_move_report_skipped(move->report, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							 "it was moved to another tablespace concurrently", NULL);
	return true;
}

static bool
idle_is_due(const TierMove *move)
{
	return move->request->idle != NULL && move->request->idle->is_due();
}

/* Takes a place among the movers if it may begin at once. */
static bool
enter(const TierMove *move)
{
	Oid			requester_oid = move->request->requester_oid;

	return !tier_throttle_is_paused() &&
		tier_throttle_enter(requester_oid, tier_is_administrator(requester_oid));
}

static void
preflight_step(void *argument)
{
	TierMove   *move = argument;
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
	if (move->obstacle.message == NULL && !where.yields_to_standbys)
		warn_standby_user(&admission);
	if (move->obstacle.message == NULL && move->request->only_if_free &&
		tier_relation_count_lockers(move->request->relation_oid, AccessExclusiveLock) > 0)
		move->obstacle = (TierObstacle)
	{
		.sqlstate = ERRCODE_LOCK_NOT_AVAILABLE,
			.message = "it is in use, and the worker has spent its waiting time on other "
			"relations of its owner",
			.hint = "It is tried again later."
	};
	if (move->obstacle.message != NULL)
		return;
	move->is_unwanted = is_moved_meanwhile(move);
	move->has_entered = !move->is_unwanted && !idle_is_due(move) && enter(move);
}

void
tier_move_run_idle(const TierMove *move)
{
	if (idle_is_due(move))
		move->request->idle->run();
}

/* Reports once why the session waits; not for a worker, since no client reads its messages. */
static void
tell_waiting(TierMove *move, bool is_paused)
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
				(errmsg("%s waits to be moved: as many moves are running as "
						"tiered_storage.max_movers permits",
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
	TierMove   *move = argument;

	while (!(move->has_entered = enter(move)))
	{
		bool		is_paused = tier_throttle_is_paused();

		tier_throttle_check_pause();
		tier_progress_set(TIER_PROGRESS_PHASE, is_paused ? TIER_PHASE_PAUSED : TIER_PHASE_QUEUED);
		tell_waiting(move, is_paused);
		if (tier_transaction_is_old() || idle_is_due(move))
			return;
		tier_move_pause_ms(TIER_MOVE_QUEUE_INTERVAL_MS);
	}
	tier_progress_set(TIER_PROGRESS_PHASE, TIER_PHASE_STARTING);
}

/*
 * Returns true, and reports the move as skipped, if the relation was pinned to another tier since
 * the move was requested, which may be hours ago, or if the extension was replaced by a version
 * whose tables this library does not know.  In a transaction, with no relation of a user locked.
 */
static bool
is_forbidden_meanwhile(TierMove *move)
{
	const TierMoveRequest *request = move->request;
	MemoryContext old_context = MemoryContextSwitchTo(move->context);
	const TierPinned *pinned;
	TierCatalogScope scope;
	TierPins   *pins;

	if (!tier_catalog_try_enter(&scope))
	{
		MemoryContextSwitchTo(move->context);
		tier_move_report_skipped(move->report, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
								 "the extension was updated or dropped concurrently",
								 "Moves resume when the library has the version of the "
								 "extension.");
		MemoryContextSwitchTo(old_context);
		return true;
	}
	pins = tier_catalog_load_pin_of(move->context, request->relation_oid);
	tier_catalog_leave(&scope);
	pinned = tier_preflight_pin(pins, move->set, move->info, request->tablespace_oid);
	if (pinned != NULL)
		tier_move_report_skipped(move->report, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
								 psprintf("it was pinned to tier \"%s\" concurrently",
										  NameStr(pinned->tier_name)),
								 tier_preflight_unpin_hint(pinned));
	MemoryContextSwitchTo(old_context);
	return pinned != NULL;
}

/*
 * Reports the move as waiting if it may not begin now.  `counted_bytes` are those that its record
 * counts.
 */
static void
ask_gate(TierMove *move, int64 counted_bytes)
{
	MemoryContext old_context = MemoryContextSwitchTo(move->context);
	TierPlannedMove planned = {
		.from_tablespace_oid = move->info->tablespace_oid,
		.to_tablespace_oid = move->request->tablespace_oid,
		.bytes = (double) move->size_bytes,
		.by_worker = MyBackendType == B_BG_WORKER,
		.is_optional = move->request->is_optional,
		.pressing = move->request->pressing,
		.earlier_bytes = -(double) counted_bytes
	};
	TierMoveStart start = tier_gate_ask(move->set, &planned);

	if (!start.may_begin)
	{
		tier_move_report_skipped(move->report, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
								 start.reason, NULL);
		move->report->state = TIER_STATE_WAITING;
		move->report->under_pressure = start.under_pressure;
		move->is_unwanted = true;
	}
	MemoryContextSwitchTo(old_context);
}

bool
tier_move_has_bytes_left(TierMove *move)
{
	if (move->request->obeys_windows && tier_gate_take_turn())
		ask_gate(move, 0);
	return !move->is_unwanted;
}

/* Returns true, and reports the move as skipped, if it is not requested now. */
static bool
is_dropped_meanwhile(TierMove *move)
{
	const TierMoveRequest *request = move->request;

	if (request->is_wanted == NULL || request->is_wanted(request))
		return false;
	tier_move_report_skipped(move->report, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							 "the move is no longer requested", NULL);
	return true;
}

/* Returns true if Citus has begun to move, copy or split the shard.  Citus then goes first. */
static bool
is_transferred_meanwhile(TierMove *move)
{
	const char *why = tier_distributed->why_busy(move->request->relation_oid);

	if (why == NULL)
		return false;
	tier_move_report_skipped(move->report, ERRCODE_OBJECT_IN_USE,
							 MemoryContextStrdup(move->context, why), NULL);
	return true;
}

/* Returns true, and reports the move as skipped, if the target does not take it as it is now. */
static bool
is_written_meanwhile(TierMove *move)
{
	TierMoveTarget where = tier_move_target(move->request);
	MemoryContext old_context = MemoryContextSwitchTo(move->context);
	TierAdmission admission;
	TierObstacle obstacle;

	tier_preflight_init(&admission, move->info, &where, move->set, move->size_bytes);
	obstacle = tier_preflight_check(&admission, TIER_CHECK_FROZEN);
	if (obstacle.message != NULL)
		tier_move_report_skipped(move->report, obstacle.sqlstate, obstacle.message, obstacle.hint);
	MemoryContextSwitchTo(old_context);
	return obstacle.message != NULL;
}

void
tier_move_ask_step(void *argument)
{
	TierMove   *move = argument;

	move->is_unwanted = is_forbidden_meanwhile(move) || is_moved_meanwhile(move) ||
		is_transferred_meanwhile(move) || is_dropped_meanwhile(move) ||
		is_written_meanwhile(move);
}

/*
 * In a subtransaction: an error thrown in a scope leaves a connection to SPI open, with which the
 * online move could not roll back.
 */
bool
tier_move_is_still_wanted(const TierOnlineRequest *request)
{
	TierMove   *move = request->argument;
	ErrorData  *error = tier_attempt(tier_move_ask_step, move);

	if (error != NULL)
		ReThrowError(error);
	return !move->is_unwanted;
}

char *
tier_move_why_wait(const TierOnlineRequest *request)
{
	TierMove   *move = request->argument;
	TierMoveTarget where = tier_move_target(move->request);
	MemoryContext old_context;
	TierStandbyUser user;
	char	   *why = NULL;

	if (MyBackendType != B_BG_WORKER || !where.yields_to_standbys)
		return NULL;
	old_context = MemoryContextSwitchTo(move->context);
	user = tier_standby_ask_user(tier_relation_parts(request->relation_oid));
	if (user.standby_name != NULL)
		why = tier_preflight_standby_use_text(&user, request->requester_oid);
	MemoryContextSwitchTo(old_context);
	return why;
}

/*
 * Checks whether the move is still to be made, after a wait for others, for resume() or for what
 * was due first; a window may have ended, too.
 */
static void
turn_step(void *argument)
{
	TierMove   *move = argument;

	tier_move_ask_step(move);
	if (move->is_unwanted || !move->request->obeys_windows)
		return;
	tier_gate_forget();			/* it may be of before the record */
	ask_gate(move, move->size_bytes);
}

ErrorData *
tier_move_try(TierMove *move, void (*step) (void *move))
{
	ErrorData  *thrown = tier_attempt(step, move);

	tier_transaction_commit();
	if (thrown != NULL)
		tier_move_report_thrown(move->report, thrown);
	return thrown;
}

bool
tier_move_may_begin(TierMove *move, ErrorData **thrown)
{
	*thrown = tier_move_try(move, preflight_step);
	if (*thrown == NULL && move->obstacle.message != NULL)
	{
		move->report->state = move->obstacle.passes ? TIER_STATE_WAITING : TIER_STATE_SKIPPED;
		move->report->why = move->obstacle;
		return false;
	}
	if (*thrown != NULL || move->is_unwanted || move->has_entered)
		return *thrown == NULL && !move->is_unwanted;
	while (*thrown == NULL && !move->has_entered)
	{
		*thrown = tier_move_try(move, queue_step);
		if (*thrown == NULL)
			tier_move_run_idle(move);
	}
	if (*thrown == NULL)
		*thrown = tier_move_try(move, turn_step);
	return *thrown == NULL && !move->is_unwanted;
}
