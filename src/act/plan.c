/*-------------------------------------------------------------------------
 *
 * act/plan.c
 *		The plan: all moves that are wanted, in their order.
 *
 * See act/plan.h.  First what tiering policies ask for, in the order of act/due.c; in between,
 * as soon as a tier is too full, what leaves it; then what is advised.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/act/claims.h"
#include "src/act/level.h"
#include "src/act/plan.h"
#include "src/act/plan_source.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"

/*
 * So often a plan looks what leaves tiers that become too full in the course of it, which takes as
 * long as a piece of advice; the last time at its end.
 */
#define MOST_FORETOLD 8

/* While the plan is made.  On the stack of tier_plan_make(). */
typedef struct Making
{
	const TierPlanOptions *options;
	TierPlan   *plan;
	int			room;			/* for entries */
	HTAB	   *listed;			/* Listed, by OID: each relation is tried once */
	const TierSet *set;
	const TierPins *pins;
	TierFailedMove *failed;		/* by OID */
	int			nfailed;
	TierForesight *foresight;
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
	MemoryContext context;		/* of the plan */
} Making;

typedef struct Listed
{
	Oid			relation_oid;	/* the key */
	int			entry;			/* -1: none, since it was tried before */
	bool		in_vain;		/* a tiering policy cannot move it */
} Listed;

static HTAB *
create_listed(void)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(Listed);
	control.hcxt = CurrentMemoryContext;
	return hash_create("tiered_storage plan", 256, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static int
compare_failed(const void *a, const void *b)
{
	return oid_cmp(&((const TierFailedMove *) a)->relation_oid,
				   &((const TierFailedMove *) b)->relation_oid);
}

/*
 * An empty one.  NULL: the relation has one already, unless that is of a tiering policy that
 * cannot move it: then that one is void.
 */
static TierPlanEntry *
add_entry(Making *making, Oid relation_oid)
{
	TierPlan   *plan = making->plan;
	bool		found;
	Listed	   *listed = hash_search(making->listed, &relation_oid, HASH_ENTER, &found);

	if (found && !listed->in_vain)
		return NULL;
	if (found && listed->entry >= 0)
		plan->entries[listed->entry].is_void = true;
	listed->in_vain = false;
	if (plan->n == making->room)
	{
		making->room *= 2;
		plan->entries = repalloc_huge(plan->entries, sizeof(TierPlanEntry) * making->room);
	}
	listed->entry = plan->n;
	memset(&plan->entries[plan->n], 0, sizeof(TierPlanEntry));
	plan->entries[plan->n].relation_oid = relation_oid;
	return &plan->entries[plan->n++];
}

/* What was tried in this run is not listed again, unless for another source. */
static void
add_tried(Making *making, const List *oids, bool in_vain)
{
	const ListCell *cell;

	foreach(cell, oids)
	{
		Listed	   *listed = hash_search(making->listed, &lfirst_oid(cell), HASH_ENTER, NULL);

		listed->entry = -1;
		listed->in_vain = in_vain;
		if (in_vain)
			making->in_vain = lappend_oid(making->in_vain, lfirst_oid(cell));
	}
}

static bool
was_tried(const Making *making, Oid relation_oid)
{
	const Listed *listed = hash_search(making->listed, &relation_oid, HASH_FIND, NULL);

	return listed != NULL && listed->entry < 0;
}

static void
set_in_vain(Making *making, Oid relation_oid)
{
	Listed	   *listed = hash_search(making->listed, &relation_oid, HASH_FIND, NULL);

	listed->in_vain = true;
	making->in_vain = lappend_oid(making->in_vain, relation_oid);
}

/* ---------------------------------------------------------------------
 * What a relation waits for
 * ---------------------------------------------------------------------
 */

static const char *
tier_name(const TierSet *set, int tier)
{
	return tier < 0 ? NULL : NameStr(set->tiers[tier].name);
}

/* With all but what it waits for; NULL: it is listed already, or gone. */
static TierPlanEntry *
begin_entry(Making *making, const TierMoveRequest *request, TierPlanSource source, int to_tier,
			TierRelationInfo *info)
{
	TierFailedMove key = {.relation_oid = request->relation_oid};
	const TierFailedMove *failed;
	TierPlanEntry *entry;

	CHECK_FOR_INTERRUPTS();
	if (!tier_relation_lookup(request->relation_oid, info))
		return NULL;
	entry = add_entry(making, request->relation_oid);
	if (entry == NULL)
		return NULL;
	entry->from_tablespace_oid = info->tablespace_oid;
	entry->to_tablespace_oid = request->tablespace_oid;
	entry->from_tier = tier_name(making->set, tier_set_tier_of_tablespace(making->set,
																		  info->tablespace_oid));
	entry->to_tier = tier_name(making->set, to_tier);
	entry->bytes = (double) tier_relation_disk_bytes(info);
	entry->source = source;
	entry->policy_id = request->policy_id;
	entry->why = request->reason;
	entry->request = *request;
	entry->state = TIER_PLAN_READY;
	failed = bsearch(&key, making->failed, making->nfailed, sizeof(TierFailedMove),
					 compare_failed);
	if (failed == NULL)
		return entry;
	entry->failures = failed->failures;
	entry->last_error = failed->error;
	if (failed->backs_off && making->options->by_worker)
	{
		entry->state = TIER_PLAN_FAILED;
		entry->next_attempt_at = failed->next_attempt_at;
	}
	return entry;
}

static void
set_waiting(TierPlanEntry *entry, const char *reason)
{
	entry->state = TIER_PLAN_WAITING;
	entry->reason = reason;
	entry->next_attempt_at = 0;
}

/*
 * What has failed is not tried again at its time if nothing begins then: all are held up, or a
 * window opens later.
 */
static void
wait_for_more(Making *making, TierPlanEntry *entry, const TierMoveRequest *request,
			  const TierRelationInfo *info)
{
	TierMoveStart start;

	if (making->held_up != NULL)
	{
		set_waiting(entry, making->held_up);
		return;
	}
	start = tier_foresee_start(making->foresight, info, request, true);
	if (!start.may_begin && start.at > entry->next_attempt_at)
		set_waiting(entry, start.reason);
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
 * Sets its state, unless it has failed lately, as things will be when its turn comes.  What would
 * become of it in a run; empty for what is not asked.
 */
static TierProspect
judge(Making *making, TierPlanEntry *entry, const TierMoveRequest *request,
	  const TierRelationInfo *info)
{
	const TierForeseenRun run = {
		.by_worker = making->options->by_worker,
		.ignore_windows = making->options->ignore_windows,
		.room_may_come = entry->source == TIER_SOURCE_ADVICE
	};
	TierProspect prospect = {0};

	if (entry->state == TIER_PLAN_FAILED)
	{
		wait_for_more(making, entry, request, info);
		return prospect;
	}
	if (!OidIsValid(entry->to_tablespace_oid))
		prospect.obstacle = no_tablespace(entry);
	else if (!RecoveryInProgress())
		(void) tier_foresee_prospect(making->foresight, request, making->pins, &run, &prospect);
	entry->obstacle = prospect.obstacle;
	entry->waits_for_room = prospect.waits_for_room;
	if (prospect.obstacle.message != NULL)
		set_waiting(entry, psprintf("waiting: %s", prospect.obstacle.message));
	if (prospect.start.reason != NULL && !prospect.start.may_begin)
		set_waiting(entry, prospect.start.reason);
	if (making->held_up != NULL && OidIsValid(entry->to_tablespace_oid))
		set_waiting(entry, making->held_up);
	return prospect;
}

/* left_bytes: of the day, when its turn comes. */
static char *
limit_text(const TierPlanEntry *entry, double left_bytes)
{
	return psprintf("waiting: of move_limit_per_day (%s) %s are left today%s",
					tier_size_text(tier_move_limit_per_day_mb * 1048576.0),
					tier_size_text(Max(left_bytes, 0.0)),
					entry->bytes > left_bytes ? "" :
					", too few for it with what has to leave its new tier first");
}

/* ---------------------------------------------------------------------
 * The sources
 * ---------------------------------------------------------------------
 */

static void
add_running(Making *making, const TierRunningMove *moves, int n)
{
	for (int i = 0; i < n; i++)
	{
		TierPlanEntry *entry = add_entry(making, moves[i].relation_oid);

		if (entry != NULL)
			entry->state = TIER_PLAN_RUNNING;
	}
}

/* Tiers that are above the marks of their fullness policies after the last entry. */
static void
note_above(Making *making)
{
	TierPlan   *plan = making->plan;
	Bitmapset  *above = tier_foresight_above(making->foresight);

	if (plan->n > 1 && bms_equal(above, plan->entries[plan->n - 2].above))
		plan->entries[plan->n - 1].above = plan->entries[plan->n - 2].above;
	else
		plan->entries[plan->n - 1].above = bms_copy(above);
	bms_free(above);
}

/* A TierFullnessAdd. */
static bool
add_leaving(void *argument, const TierFullnessEvaluation *evaluation, int i, const char *closed)
{
	Making	   *making = argument;
	MemoryContext old_context = MemoryContextSwitchTo(making->context);
	TierMoveRequest request = tier_plan_fullness_request(evaluation, i);
	int			to_tier = tier_set_tier_of_tablespace(making->set, request.tablespace_oid);
	TierRelationInfo info;
	TierPlanEntry *entry = begin_entry(making, &request, TIER_SOURCE_FULLNESS, to_tier, &info);
	bool		comes = false;

	if (entry != NULL && closed != NULL && entry->state == TIER_PLAN_READY)
		set_waiting(entry, making->held_up == NULL ? pstrdup(closed) : making->held_up);
	else if (entry != NULL)
		comes = judge(making, entry, &request, &info).comes;
	if (entry != NULL)
		note_above(making);
	MemoryContextSwitchTo(old_context);
	return comes;
}

/* What is looked at for that is no longer needed after it, and it may be often. */
static void
add_all_leaving(Making *making)
{
	MemoryContext context = AllocSetContextCreate(making->context, "tiered_storage emptying",
												  ALLOCSET_DEFAULT_SIZES);
	TierFullnessSource source = {
		.question = {.flight = tier_foresight_flight,.argument = making->foresight,
		.begun = making->options->begun},
		.ignore_windows = making->options->ignore_windows,
		.add = add_leaving,.argument = making
	};
	TierFullnessQuestion *question = &source.question;
	TierCatalogScope scope;
	List	   *leaving;

	MemoryContextSwitchTo(context);
	if (making->options->by_worker)
	{
		tier_catalog_enter(&scope);
		source.backoff = tier_catalog_load_backoff(context, &source.nbackoff);
		tier_catalog_leave(&scope);
		MemoryContextSwitchTo(context);
	}
	question->moved = tier_due_sorted_oids(making->begun, &question->nmoved);
	question->returning = tier_due_sorted_oids(making->returning, &question->nreturning);
	question->in_vain = tier_due_sorted_oids(making->in_vain, &question->nin_vain);
	question->not_yet = tier_level_names(making->set, making->first);
	leaving = tier_plan_add_fullness(&source, making->plan);
	MemoryContextSwitchTo(making->context);
	making->nforetold++;
	making->has_emptied = making->first == NULL;
	making->stuck = bms_difference(tier_foresight_above(making->foresight), making->first);
	making->begun = list_concat(making->begun, list_copy(leaving));
	making->emptied_begun = list_length(making->begun);
	MemoryContextDelete(context);
}

/* What waits for tiers that are too full comes after what leaves these. */
static bool
is_too_full(const Making *making)
{
	if (making->options->begun != NIL && making->nforetold == 0)
		return true;
	return bms_nonempty_difference(bms_difference(tier_foresight_above(making->foresight),
												  making->first), making->stuck);
}

static TierPlanSource
source_of(const TierDueJob *job)
{
	if (job->leaf->verdict == TIER_VERDICT_RETURNS)
		return TIER_SOURCE_RETURN;
	return tier_policy_asks_for_use(job->evaluation->policy) ? TIER_SOURCE_USE : TIER_SOURCE_AGE;
}

static void
add_member(Making *making, const TierDueJob *job, Oid relation_oid)
{
	TierPlan   *plan = making->plan;
	TierMoveRequest request = tier_due_request(job, making->set, relation_oid);
	TierPlanSource source = source_of(job);
	TierPlanEntry *entry;
	TierRelationInfo info;
	TierProspect prospect;

	if (source == TIER_SOURCE_RETURN)
		making->returning = lappend_oid(making->returning, relation_oid);
	if (was_tried(making, relation_oid))
		return;
	tier_foresight_choose(making->foresight, &request);
	entry = begin_entry(making, &request, source,
						tier_partition_target(job->evaluation, job->leaf, relation_oid), &info);
	if (entry == NULL)
		return;
	entry->job = job;
	if (source == TIER_SOURCE_RETURN && entry->state == TIER_PLAN_READY &&
		entry->bytes > plan->left_bytes)
	{
		entry->is_beyond_limit = true;
		set_waiting(entry, limit_text(entry, plan->left_bytes));
		note_above(making);
		return;
	}
	prospect = judge(making, entry, &request, &info);
	note_above(making);
	if (prospect.obstacle.message != NULL)
		set_in_vain(making, relation_oid);
	if (!prospect.begins)
		return;
	making->begun = lappend_oid(making->begun, relation_oid);

	/* What does not begin takes nothing of the limit, as in a pause. */
	if (source == TIER_SOURCE_RETURN && making->held_up == NULL)
		plan->left_bytes -= entry->bytes;
}

static void
add_due(Making *making, const TierDue *due)
{
	for (int i = 0; i < due->njobs; i++)
	{
		ListCell   *cell;

		if (!due->jobs[i].comes_first)
			making->first = NULL;
		if (is_too_full(making))
		{
			if (making->nforetold < MOST_FORETOLD - 1)
				add_all_leaving(making);
			else if (making->plan->cut_at < 0)
				making->plan->cut_at = making->plan->n;
		}
		foreach(cell, due->jobs[i].members)
			add_member(making, &due->jobs[i], lfirst_oid(cell));
	}
}

/* Of what is advised, the move that a run would try. */
static TierPlanEntry *
begin_advised(Making *making, const TierCandidate *candidate, TierMoveRequest *request,
			  TierRelationInfo *info)
{
	*request = tier_candidate_request(making->plan->advice, candidate);
	tier_foresight_choose(making->foresight, request);
	return begin_entry(making, request, TIER_SOURCE_ADVICE,
					   tier_set_tier_of_tablespace(making->set, request->tablespace_oid), info);
}

/*
 * Foresees one.  False: it has no room yet, and is asked again after the others; then it is not
 * listed.
 */
static bool
add_candidate(Making *making, const TierCandidate *candidate, bool is_last)
{
	TierPlan   *plan = making->plan;
	TierApplySummary *applied = &plan->applied;
	TierMoveRequest request;
	TierRelationInfo info;
	TierProspect prospect;
	TierPlanEntry *entry = begin_advised(making, candidate, &request, &info);

	if (entry == NULL)
		return true;
	entry->candidate = candidate;
	prospect = judge(making, entry, &request, &info);
	note_above(making);
	if (!is_last &&
		(prospect.obstacle.sqlstate == ERRCODE_DISK_FULL || prospect.waits_for_room))
	{
		(void) hash_search(making->listed, &entry->relation_oid, HASH_REMOVE, NULL);
		plan->n--;
		return false;
	}
	if (entry->obstacle.message != NULL)
	{
		applied->counts.not_moved++;
		if (entry->obstacle.sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED)
			entry->obstacle.hint = psprintf("%s locks it for the whole copy.",
											tier_advice_command(plan->advice, candidate->unit));
	}
	else if (prospect.begins)
	{
		applied->counts.moved++;
		applied->counts.moved_bytes += (int64) candidate->disk_bytes;
	}
	else if (applied->counts.waiting++ == 0 && entry->reason != NULL)
		applied->why_waiting = pstrdup(entry->reason);
	return true;
}

/* What is advised and left out: `reason` says why; NULL: it has failed lately. */
static void
add_left(Making *making, const TierCandidate *candidate, const char *reason, bool is_beyond_limit)
{
	TierMoveRequest request;
	TierRelationInfo info;
	TierPlanEntry *entry = begin_advised(making, candidate, &request, &info);

	if (entry == NULL)
		return;
	entry->is_left = true;
	if (entry->state == TIER_PLAN_FAILED)
		(void) judge(making, entry, &request, &info);
	else if (is_beyond_limit)
		set_waiting(entry, limit_text(entry, making->plan->left_bytes));
	else
		set_waiting(entry, reason);
	if (making->held_up != NULL)
		set_waiting(entry, making->held_up);
}

/* Round after round, as a run: what has no room yet may have it after the others. */
static void
add_candidates(Making *making)
{
	TierPlan   *plan = making->plan;
	int			n = plan->arrangement.possible;
	int		   *left = palloc_extended(sizeof(int) * Max(n, 1), MCXT_ALLOC_HUGE);
	bool		got_on = true;
	bool		is_last = false;

	for (int i = 0; i < n; i++)
		left[i] = i;
	while (n > 0 && !is_last)
	{
		int			moved = plan->applied.counts.moved;
		int			kept = 0;

		is_last = !got_on;
		for (int i = 0; i < n; i++)
			if (!add_candidate(making, &plan->candidates[left[i]], is_last))
				left[kept++] = left[i];
		n = kept;
		got_on = plan->applied.counts.moved > moved;
	}
	pfree(left);
}

static void
add_advised(Making *making)
{
	TierPlan   *plan = making->plan;
	TierArrangement *arrangement = &plan->arrangement;
	const TierCandidate *candidate;

	plan->request.foresight = making->foresight;
	plan->advice = tier_candidates_prepare(&plan->request, &plan->applied, &plan->candidates,
										   arrangement);
	plan->left_out = plan->applied.counts.not_moved;
	add_candidates(making);
	plan->left_bytes = Max(plan->left_bytes - (double) plan->applied.counts.moved_bytes, 0.0);
	candidate = &plan->candidates[arrangement->possible];
	for (int i = 0; i < arrangement->left_over; i++, candidate++)
		add_left(making, candidate, "waiting: its new tier has no room for it, and nothing that "
				 "may leave that first makes enough", candidate->has_room);
	for (int i = 0; i < arrangement->spare; i++)
		add_left(making, candidate++, "waiting for a dependent move", false);
	for (int i = 0; i < arrangement->failed; i++)
		add_left(making, candidate++, NULL, false);
	plan->applied.counts.not_moved += arrangement->left_over - plan->applied.beyond_limit +
		arrangement->spare;
}

/* ---------------------------------------------------------------------
 * The plan
 * ---------------------------------------------------------------------
 */

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

/* What the record of moves says; with the bytes that may still be moved today. */
static void
load_record(Making *making)
{
	TierCatalogScope scope;
	TierRunningMove *running;
	int			nrunning;

	tier_catalog_enter(&scope);
	making->failed = tier_catalog_load_failed_moves(making->context, &making->nfailed);
	running = tier_catalog_load_running_moves(making->context, &nrunning);
	if (tier_move_limit_per_day_mb >= 0)
		making->plan->left_bytes = Max(tier_due_left_of_limit(), 0.0);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(making->context);
	if (making->options->apply == NULL)
		add_running(making, running, nrunning);
}

static void
add_wanted(Making *making, const TierDue *due)
{
	TierPlan   *plan = making->plan;

	making->first = tier_foresight_above(making->foresight);
	add_due(making, due);
	making->first = NULL;
	if (list_length(making->begun) != making->emptied_begun)
		making->stuck = NULL;
	if (!making->has_emptied || is_too_full(making))
		add_all_leaving(making);
	if (tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
		return;
	plan->request = (TierApplyRequest)
	{
		.least = TIER_CONFIDENCE_FIRM,.max_bytes = plan->left_bytes,.for_owners = true,
			.by_worker = making->options->by_worker
	};
	add_advised(making);
}

/* The tiers and pins; false: the extension has gone. */
static bool
load_tiers(Making *making)
{
	const TierPlanOptions *options = making->options;
	TierCatalogScope scope;

	if (!options->by_worker)
		tier_catalog_enter(&scope);
	else if (!tier_catalog_try_enter(&scope))
		return false;
	if (options->refreshes)
		tier_catalog_refresh_identities();
	making->plan->set = making->set = tier_catalog_load_tiers(making->context);
	making->pins = tier_catalog_load_pins(making->context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(making->context);
	return true;
}

TierPlan *
tier_plan_make(const TierPlanOptions *options)
{
	TierPlan   *plan = palloc0(sizeof(TierPlan));
	Making		making = {
		.options = options,.plan = plan,.room = 64,.context = CurrentMemoryContext
	};

	tier_gate_forget();
	if (!load_tiers(&making))
		return NULL;
	if (options->apply == NULL)
		plan->due = tier_due_load(plan->set, making.pins);
	plan->entries = palloc(sizeof(TierPlanEntry) * making.room);
	plan->cut_at = -1;
	plan->left_bytes = INFINITY;
	making.listed = create_listed();
	add_tried(&making, options->tried, false);
	add_tried(&making, options->in_vain, true);
	making.foresight = tier_foresight_create(plan->set);
	making.held_up = options->apply == NULL ? held_up_text(plan->set) : NULL;
	plan->paused = tier_throttle_is_paused() ? making.held_up : NULL;
	PushActiveSnapshot(GetTransactionSnapshot());
	load_record(&making);
	if (options->apply == NULL)
		add_wanted(&making, plan->due);
	else
	{
		plan->request = *options->apply;
		add_advised(&making);
	}
	PopActiveSnapshot();
	hash_destroy(making.listed);
	return plan;
}

/* ---------------------------------------------------------------------
 * What is stored
 * ---------------------------------------------------------------------
 */

void
tier_plan_store(const TierPlan *plan)
{
	MemoryContext context = CurrentMemoryContext;

	/* A pause is looked up when the plan is shown. */
	TierStoredMove *moves = palloc_extended(sizeof(TierStoredMove) * Max(plan->n, 1),
											MCXT_ALLOC_HUGE);
	TierCatalogScope scope;
	int			n = 0;

	for (int i = 0; i < plan->n && n < TIER_MOST_STORED_MOVES; i++)
	{
		const TierPlanEntry *entry = &plan->entries[i];

		if (entry->is_void || entry->state == TIER_PLAN_RUNNING)
			continue;
		moves[n++] = (TierStoredMove)
		{
			.relation_oid = entry->relation_oid,
				.from_tablespace_oid = entry->from_tablespace_oid,
				.to_tablespace_oid = entry->to_tablespace_oid,
				.from_tier = entry->from_tier,.to_tier = entry->to_tier,
				.source = (int) entry->source,.policy_id = entry->policy_id,
				.waits_for = entry->reason == plan->paused ? NULL : entry->reason
		};
	}
	if (tier_catalog_try_enter(&scope))
	{
		tier_catalog_store_plan(moves, n);
		tier_catalog_leave(&scope);
	}
	MemoryContextSwitchTo(context);
	pfree(moves);
}
