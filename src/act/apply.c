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

#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/act/apply.h"
#include "src/act/batch.h"
#include "src/act/gate.h"
#include "src/catalog/tables.h"
#include "src/base/settings.h"
#include "src/decide/forecast.h"
#include "src/decide/wear.h"
#include "src/act/move.h"
#include "src/model/order.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"
#include "src/base/sql.h"
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

static bool
is_advised(const TierAdviceUnit *unit, TierConfidence least)
{
	return unit->current_tier >= 0 && unit->recommended_tier >= 0 &&
		unit->recommended_tier != unit->current_tier && unit->confidence >= least;
}

/* Is anything, however little is known of it? */
static bool
is_advised_any(const TierAdvice *advice)
{
	for (int i = 0; i < advice->nunits; i++)
		if (is_advised(&advice->units[i], TIER_CONFIDENCE_INSUFFICIENT))
			return true;
	return false;
}

static double
gain_of(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	return tier_advice_busy(advice, unit, unit->current_tier) -
		tier_advice_busy(advice, unit, unit->recommended_tier);
}

/* A move that is advised and allowed; sorted by most gain for each byte first. */
typedef struct Candidate
{
	const TierAdviceUnit *unit;
	Oid			requester_oid;
	bool		for_owner;		/* which that is */
	Oid			tablespace_oid;
	double		density;
	double		seconds;		/* that its move is expected to take */
	double		disk_bytes;		/* that a move writes and needs room for, by
								 * the files of this moment */
} Candidate;

static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *left = a;
	const Candidate *right = b;

	if (left->density != right->density)
		return left->density > right->density ? -1 : 1;
	return left->unit->relation_oid < right->unit->relation_oid ? -1 : 1;
}

/* What the record of moves says of relations, each by OID. */
typedef struct Past
{
	Oid		   *backoff;		/* those that failed lately */
	int			nbackoff;
	TierMoveWait *waits;
	int			nwaits;
} Past;

/*
 * Where the unit may be moved to, and with whose rights; false: nowhere.  *is_others: these
 * do not suffice.  What fails again and again, or would lock it for the whole copy, is only
 * tried when a person asks.  *why and *hint, of false, may be NULL.
 */
static bool
may_move(const TierApplyRequest *request, const TierAdvice *advice, const Past *past,
		 Candidate *candidate, bool *is_others, char **why, char **hint)
{
	const TierAdviceUnit *unit = candidate->unit;
	const char *why_not_online;
	TierRelationInfo info;

	*is_others = false;
	*why = *hint = NULL;
	if (!tier_relation_lookup(unit->relation_oid, &info))
		return false;
	candidate->for_owner = request->for_owners;
	candidate->requester_oid = request->for_owners ? info.owner_oid : GetUserId();
	candidate->tablespace_oid = tier_set_usable_tablespace(advice->set, unit->recommended_tier,
														   candidate->requester_oid);
	*is_others = !OidIsValid(candidate->tablespace_oid) ||
		!tier_relation_may_move(&info, candidate->requester_oid, candidate->tablespace_oid,
								why, hint);
	if (*is_others)
		return false;
	candidate->disk_bytes = Max(tier_relation_disk_bytes(&info), unit->size_bytes);
	if (request->by_worker && !request->for_list &&
		bsearch(&unit->relation_oid, past->backoff, past->nbackoff, sizeof(Oid), oid_cmp) != NULL)
		return false;
	why_not_online = request->for_owners ? tier_relation_why_not_online(&info) : NULL;
	if (why_not_online == NULL)
		return true;
	*why = psprintf("it cannot be moved online: %s", why_not_online);
	*hint = psprintf("%s locks it for the whole copy.", tier_advice_command(advice, unit));
	return false;
}

static int
compare_waits(const void *a, const void *b)
{
	return oid_cmp(&((const TierMoveWait *) a)->relation_oid,
				   &((const TierMoveWait *) b)->relation_oid);
}

/*
 * How long it takes to move the unit: what both devices do for it, and as long a wait
 * for others who use it as the last time.
 */
static double
seconds_of(const TierAdvice *advice, const TierAdviceUnit *unit, const Past *past)
{
	const TierCostProfile *from = &advice->set->tiers[unit->current_tier].profile;
	const TierCostProfile *to = &advice->set->tiers[unit->recommended_tier].profile;
	const TierMoveWait key = {.relation_oid = unit->relation_oid};
	const TierMoveWait *wait = bsearch(&key, past->waits, past->nwaits, sizeof(TierMoveWait),
									   compare_waits);

	return tier_advice_move_s(advice, unit, unit->recommended_tier) +
		TIER_FLUSHES_PER_MOVE * Max(from->fsync_ms, to->fsync_ms) / 1000.0 +
		(wait != NULL ? wait->seconds : 0.0);
}

/* What may be added to each tier now. */
static double *
room_of(const TierAdvice *advice)
{
	double	   *room = palloc(sizeof(double) * Max(advice->set->ntiers, 1));

	for (int t = 0; t < advice->set->ntiers; t++)
		room[t] = advice->available_bytes[t];
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];

		if (unit->current_tier >= 0)
			room[unit->current_tier] -= tier_advice_stored(advice, unit, unit->current_tier);
	}
	return room;
}

/*
 * The candidates as plain numbers.  What they need is measured as the check before each
 * move measures it, which would refuse what was ordered by less.  What they free is
 * what the tier's use gets less by, which is as old as the advice.  What they copy is the
 * files as they are, however small the device makes them: the same that the record of a
 * move has.
 */
static TierOrderMove *
moves_of(const TierAdvice *advice, const Candidate *candidates, int n)
{
	TierOrderMove *moves = palloc_extended(sizeof(TierOrderMove) * Max(n, 1), MCXT_ALLOC_HUGE);

	for (int i = 0; i < n; i++)
	{
		moves[i].from = candidates[i].unit->current_tier;
		moves[i].to = candidates[i].unit->recommended_tier;
		moves[i].size = tier_cost_stored_bytes(candidates[i].disk_bytes,
											   &advice->set->tiers[moves[i].to].profile);
		moves[i].freed = tier_advice_stored(advice, candidates[i].unit, moves[i].from);
		moves[i].gain = gain_of(advice, candidates[i].unit);
		moves[i].seconds = candidates[i].seconds;
		moves[i].bytes = candidates[i].disk_bytes;
	}
	return moves;
}

/* What is to be moved, before there is an order or a limit; *ncandidates of them. */
static Candidate *
choose(const TierApplyRequest *request, const TierAdvice *advice, const Past *past,
	   int *ncandidates, TierApplySummary *summary)
{
	Candidate  *candidates = palloc_extended(sizeof(Candidate) * Max(advice->nunits, 1),
											 MCXT_ALLOC_HUGE);
	int			n = 0;

	for (int i = 0; i < advice->nunits; i++)
	{
		bool		is_others;
		char	   *why;
		char	   *hint;

		if (!is_advised(&advice->units[i], request->least))
		{
			summary->unsure += is_advised(&advice->units[i], TIER_CONFIDENCE_INSUFFICIENT);
			continue;
		}
		candidates[n].unit = &advice->units[i];
		candidates[n].density = gain_of(advice, &advice->units[i]) /
			Max(advice->units[i].size_bytes, 1.0);
		candidates[n].seconds = seconds_of(advice, &advice->units[i], past);
		if (may_move(request, advice, past, &candidates[n], &is_others, &why, &hint))
			n++;
		summary->others += is_others;
	}
	qsort(candidates, n, sizeof(Candidate), compare_candidates);
	*ncandidates = n;
	return candidates;
}

/*
 * Would nobody move it but for the room that it leaves?  What leaves a tier that has too
 * much of anything, or is where somebody wants it to be, or costs less, has a reason of
 * its own.
 */
static bool
only_helps(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	return advice->options.objective == TIER_OBJECTIVE_TIME && unit->pinned_tier < 0 &&
		!unit->makes_room && !(gain_of(advice, unit) > 0.0) &&
		!tier_advice_is_over(advice, unit->current_tier);
}

/*
 * To which tiers something is advised to go that is not in the order: it has no room, or is
 * not sure enough, or failed lately, or may not be moved.
 */
static bool *
missed_by(const TierAdvice *advice, const Candidate *candidates, const int *order, int n)
{
	bool	   *missed = palloc0(sizeof(bool) * Max(advice->set->ntiers, 1));
	bool	   *taken = palloc_extended(Max(advice->nunits, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (int i = 0; i < n; i++)
		taken[candidates[order[i]].unit - advice->units] = true;
	for (int i = 0; i < advice->nunits; i++)
		if (!taken[i] && is_advised(&advice->units[i], TIER_CONFIDENCE_INSUFFICIENT))
			missed[advice->units[i].recommended_tier] = true;
	pfree(taken);
	return missed;
}

/* The candidates in an order that was found, and what is not in it. */
typedef struct Arrangement
{
	int			possible;		/* can be moved, in their order */
	int			left_over;		/* come next: no room, or beyond the limit */
	int			spare;			/* come last: would make room for nobody */
} Arrangement;

/* `order` of n, the first `found` of which are to be moved, and what is not spare next. */
static void
put_in_order(Candidate *candidates, int n, const int *order, int found, const bool *is_spare)
{
	Candidate  *arranged = palloc_extended(sizeof(Candidate) * Max(n, 1), MCXT_ALLOC_HUGE);
	bool	   *taken = palloc_extended(Max(n, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	int			last = found;

	for (int i = 0; i < found; i++)
	{
		arranged[i] = candidates[order[i]];
		taken[order[i]] = true;
	}
	for (int spare = 0; spare < 2; spare++)
		for (int i = 0; i < n; i++)
			if (!taken[i] && is_spare[i] == (spare == 1))
				arranged[last++] = candidates[i];
	memcpy(candidates, arranged, sizeof(Candidate) * n);
	pfree(arranged);
	pfree(taken);
}

/*
 * Puts the candidates into an order.  Of a limit is what fits: what would exceed it is passed
 * over, and what comes after it may still fit; with what goes to a full tier, what has to
 * leave it first is kept, else it would have no room today, and the same tomorrow.  So what
 * is spare is judged without the limit: what others cannot come for today they may tomorrow.
 */
static Arrangement
arrange(const TierAdvice *advice, Candidate *candidates, int n, double max_bytes)
{
	TierOrderMove *moves = moves_of(advice, candidates, n);
	double	   *room = room_of(advice);
	int			ntiers = advice->set->ntiers;
	int		   *order = palloc_extended(sizeof(int) * Max(n, 1), MCXT_ALLOC_HUGE);
	int		   *scratch = palloc_extended(sizeof(int) * 3 * Max(n, 1), MCXT_ALLOC_HUGE);
	bool	   *helps = palloc_extended(Max(n, 1), MCXT_ALLOC_HUGE);
	bool	   *is_spare = palloc_extended(Max(n, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	Arrangement arrangement = {0};
	int			found;

	for (int i = 0; i < n; i++)
		helps[i] = only_helps(advice, candidates[i].unit);

	/* 1. What room is made for nobody? */
	found = tier_order(moves, n, room, ntiers, order, scratch);
	arrangement.possible = tier_order_spare(moves, order, found, room, ntiers, helps,
											missed_by(advice, candidates, order, found));
	arrangement.spare = found - arrangement.possible;
	for (int i = arrangement.possible; i < found; i++)
		is_spare[order[i]] = true;
	put_in_order(candidates, n, order, arrangement.possible, is_spare);
	n -= arrangement.spare;

	/* 2. And what of the others is within the limit? */
	if (!isinf(max_bytes))
	{
		bool	   *none_missed = palloc0(sizeof(bool) * Max(ntiers, 1));

		moves = moves_of(advice, candidates, n);
		for (int i = 0; i < n; i++)
		{
			helps[i] = only_helps(advice, candidates[i].unit);
			is_spare[i] = false;
		}
		found = tier_order_choose(moves, n, room, ntiers, max_bytes, order, scratch);
		arrangement.possible = tier_order_spare(moves, order, found, room, ntiers, helps,
												none_missed);
		put_in_order(candidates, n, order, arrangement.possible, is_spare);
	}
	arrangement.left_over = n - arrangement.possible;
	return arrangement;
}

static char *
name_of(const TierAdviceUnit *unit)
{
	TierRelationInfo info;

	return tier_relation_lookup(unit->relation_oid, &info) ? info.name :
		psprintf("%u", unit->relation_oid);
}

/* waiting: for what it would wait now; NULL: for nothing. */
static void
announce(const TierAdvice *advice, const Candidate *candidate, const char *waiting)
{
	const TierAdviceUnit *unit = candidate->unit;

	ereport(NOTICE,
			(errmsg("would move %s (%s) from %s to %s", name_of(unit),
					tier_size_text(candidate->disk_bytes),
					NameStr(advice->set->tiers[unit->current_tier].name),
					NameStr(advice->set->tiers[unit->recommended_tier].name)),
			 errdetail("%s.%s", tier_advice_reason(advice, unit),
					   waiting == NULL ? "" : psprintf(" Now it would be %s.", waiting))));
}

static void
complain_of_room(const TierAdvice *advice, const Candidate *candidate, int level)
{
	const TierAdviceUnit *unit = candidate->unit;

	ereport(level,
			(errcode(ERRCODE_DISK_FULL),
			 errmsg("cannot move %s: tier \"%s\" has no room for it while the other "
					"moves are made", name_of(unit),
					NameStr(advice->set->tiers[unit->recommended_tier].name)),
			 errdetail("It takes %s, and what has to leave that tier first has no room either.",
					   tier_size_text(candidate->disk_bytes)),
			 errhint("Move something to a third place meanwhile, "
					 "or lower the reserve_fraction of a tier.")));
}

/* What would be moved for what cannot come is not: that it would be lost where it is now. */
static void
tell_spare(const TierAdvice *advice, const Candidate *candidate, int level)
{
	const TierAdviceUnit *unit = candidate->unit;

	ereport(level,
			(errmsg("%s is not moved: the room that it would make on tier \"%s\" would stay empty",
					name_of(unit), NameStr(advice->set->tiers[unit->current_tier].name)),
			 errdetail("What is advised to come there has no room even so, is not sure enough, "
					   "failed lately, or may not be moved.")));
}

/* For a person; what is tried again is no news in a log. */
static void
tell_tried_again(const TierMoveReport *report, bool by_worker)
{
	ereport(by_worker ? DEBUG1 : NOTICE,
			(errmsg("%s is moved later in this batch: %s", report->relation_name,
					report->error)));
}

/* Has it to wait for a move window?  Then it is counted as such. */
static bool
has_to_wait(const TierApplyRequest *request, TierApplySummary *summary, const TierAdvice *advice,
			const Candidate *candidate)
{
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
	start = tier_gate_ask(advice->set, &planned);
	if (start.may_begin)
		return false;
	if (summary->counts.waiting++ == 0)
		summary->why_waiting = start.reason;
	return true;
}

static TierMoveRequest
request_of(const TierAdvice *advice, const Candidate *candidate)
{
	TierMoveRequest move = {0};

	move.relation_oid = candidate->unit->relation_oid;
	move.tablespace_oid = candidate->tablespace_oid;
	move.requester_oid = candidate->requester_oid;
	move.for_owner = candidate->for_owner;
	move.predicted_s_per_hour = gain_of(advice, candidate->unit);
	move.reason = tier_advice_reason(advice, candidate->unit);
	move.is_optional = true;
	move.mark = TIER_MARK_EMPTIED;
	return move;
}

/*
 * A batch may take hours.  What somebody has moved or pinned meanwhile is where
 * he wants it, a tier may have been given other tablespaces, or removed, and what has
 * got another owner is no more to be moved with the rights of the former one.
 */
static bool
is_still_advised(const TierAdvice *advice, const Candidate *candidate)
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

/* What is_still_wanted() is asked about. */
typedef struct Advised
{
	const TierAdvice *advice;
	const Candidate *candidate;
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

/*
 * One move; its outcome is added to the summary.  True: nothing came of it, and it is
 * to be tried again.
 */
static bool
move_one(const TierApplyRequest *request, TierApplySummary *summary, const TierAdvice *advice,
		 const Candidate *candidate, bool is_last)
{
	Advised		advised = {advice, candidate};
	TierMoveRequest move;
	TierMoveReport report;

	if (has_to_wait(request, summary, advice, candidate))
		return false;
	move = request_of(advice, candidate);
	move.obeys_windows = request->for_owners && !request->ignore_windows;
	move.batch_id = summary->batch_id;
	move.is_wanted = is_still_wanted;
	move.argument = &advised;
	move.idle = request->idle;
	move.is_tried_again = !is_last;
	move.counts = &summary->counts;
	report = tier_move_one(&move);
	if (!is_last && tier_move_is_worth_retrying(&report))
	{
		tell_tried_again(&report, request->by_worker);
		return true;
	}
	tier_move_warn(&report, request->by_worker);
	return false;
}

/*
 * What is promised of a move takes the plans to stay what they are.  Where index-only
 * scans have to look into the table, less of it is the index's, and a vacuum would
 * change more than the move.
 */
static void
tell_unvacuumed(const Candidate *candidates, int n)
{
	MemoryContext context = CurrentMemoryContext;
	Oid		   *tables = palloc_extended(sizeof(Oid) * Max(n, 1), MCXT_ALLOC_HUGE);
	TierUnvacuumed *unvacuumed;
	TierCatalogScope scope;
	int			nunvacuumed;

	for (int i = 0; i < n; i++)
		tables[i] = candidates[i].unit->heap_oid;
	tier_catalog_enter(&scope);
	unvacuumed = tier_catalog_load_unvacuumed(context, tables, n,
											  tier_advice_min_size_kb * 1024.0 / BLCKSZ,
											  &nunvacuumed);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	for (int i = 0; i < nunvacuumed; i++)
		ereport(NOTICE,
				(errmsg("%s is not vacuumed enough for index-only scans: "
						"%.0f %% of its pages are known to be all visible",
						unvacuumed[i].name, unvacuumed[i].visible_fraction * 100.0),
				 errdetail("Such scans have to look into the table for all other pages, "
						   "so that moving an index saves less than it could."),
				 errhint("VACUUM (ANALYZE) %s, and autovacuum more often.",
						 unvacuumed[i].name)));
}

/* The advice, with what of it is to be done, in order. */
static TierAdvice *
prepare(const TierApplyRequest *request, TierApplySummary *summary, Candidate **candidates,
		Arrangement *arrangement)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierAdvice *advice;
	Past		past;
	int			n;

	PushActiveSnapshot(GetTransactionSnapshot());
	tier_catalog_enter(&scope);
	past.backoff = tier_catalog_load_backoff(context, &past.nbackoff);
	past.waits = tier_catalog_load_move_waits(context, &past.nwaits);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	advice = tier_advice_make(request->options);
	*candidates = choose(request, advice, &past, &n, summary);
	*arrangement = arrange(advice, *candidates, n, request->max_bytes);
	if (!isinf(request->max_bytes))
		summary->beyond_limit = arrangement->left_over;
	if (!request->by_worker && !request->for_list)
		tell_unvacuumed(*candidates, arrangement->possible);
	PopActiveSnapshot();
	summary->advised = n - summary->beyond_limit;
	summary->for_owners = request->for_owners;
	return advice;
}

/*
 * What a person has to know of what is left out; nothing, if nothing is.  The surest
 * of what is not sure enough says what to ask for.
 */
static void
tell_unsure(const TierApplyRequest *request, const TierAdvice *advice, TierApplySummary *summary)
{
	TierConfidence best = TIER_CONFIDENCE_INSUFFICIENT;

	if (request->by_worker)
		return;
	if (summary->beyond_limit > 0 && summary->advised > 0)
		ereport(NOTICE,
				(errmsg_plural("%d more relation is advised to move, but beyond the limit of %s",
							   "%d more relations are advised to move, but beyond the limit of %s",
							   summary->beyond_limit, summary->beyond_limit,
							   tier_size_text(request->max_bytes))));
	if (summary->unsure == 0)
		return;
	for (int i = 0; i < advice->nunits; i++)
		if (!is_advised(&advice->units[i], request->least) &&
			is_advised(&advice->units[i], TIER_CONFIDENCE_INSUFFICIENT))
			best = Max(best, advice->units[i].confidence);
	ereport(NOTICE,
			(errmsg_plural("%d more relation is advised to move, but not \"%s\" yet",
						   "%d more relations are advised to move, but not \"%s\" yet",
						   summary->unsure, summary->unsure,
						   tier_advice_confidence_text(request->least)),
			 request->for_owners ? 0 :
			 errhint("CALL tiered_storage.apply_placement(%s) includes what is %s.",
					 quote_literal_cstr(tier_advice_confidence_text(best)),
					 best == TIER_CONFIDENCE_TENTATIVE ? "tentative" :
					 "advised on insufficient data")));
}

/* Why there is nothing to do.  Not for a worker, to whom that is nothing new. */
static void
tell_nothing(const TierApplyRequest *request, const TierAdvice *advice, TierApplySummary *summary)
{
	if (request->by_worker || summary->others > 0 || summary->advised > 0)
		return;
	if (summary->beyond_limit > 0)
		ereport(NOTICE,
				(errmsg_plural("nothing is moved: the %d relation that is advised to move "
							   "exceeds the limit of %s",
							   "nothing is moved: each of the %d relations "
							   "that are advised to move exceeds the limit of %s",
							   summary->beyond_limit, summary->beyond_limit,
							   tier_size_text(request->max_bytes)),
				 request->for_owners ?
				 errhint("It is what tiered_storage.move_limit_per_day leaves for today.") :
				 errhint("Raise max_bytes.")));
	else if (summary->unsure > 0)
		ereport(NOTICE,
				(errmsg("nothing is moved: no recommendation is \"%s\"",
						tier_advice_confidence_text(request->least))));
	else if (!is_advised_any(advice))
		tier_advice_notice_empty(advice);
	else
		ereport(NOTICE,
				(errmsg("nothing is moved: what is advised cannot be moved online"),
				 errhint("recommend_placement() has the commands "
						 "that lock it for the whole copy.")));
	summary->is_told = true;
}

/* What a dry run is about, and what it has come to. */
typedef struct Foretelling
{
	const TierApplyRequest *request;
	const TierAdvice *advice;
	TierApplySummary *summary;
} Foretelling;

/* Why the run would skip it, or nothing.  There may be room by then: others come first. */
static TierObstacle
obstacle_of(const TierAdvice *advice, const Candidate *candidate)
{
	TierMoveRequest request = {0};
	TierObstacle none = {0};
	TierObstacle obstacle;

	request.relation_oid = candidate->unit->relation_oid;
	request.tablespace_oid = candidate->tablespace_oid;
	request.requester_oid = candidate->requester_oid;
	obstacle = tier_move_foresee(&request, advice->set);
	if (obstacle.sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED)
		obstacle.hint = psprintf("%s locks it for the whole copy.",
								 tier_advice_command(advice, candidate->unit));
	return obstacle.sqlstate == ERRCODE_DISK_FULL ? none : obstacle;
}

/* Of what is not moved, why; for a person or a log. */
static void
tell_left(const TierAdvice *advice, const Candidate *candidates, const Arrangement *arrangement,
		  bool for_limit, bool by_worker)
{
	const Candidate *left_over = &candidates[arrangement->possible];
	const Candidate *spare = &left_over[arrangement->left_over];

	for (int i = 0; i < arrangement->left_over && !for_limit; i++)
		complain_of_room(advice, &left_over[i], by_worker ? DEBUG1 : WARNING);
	for (int i = 0; i < arrangement->spare; i++)
		tell_spare(advice, &spare[i], by_worker ? DEBUG1 : NOTICE);
}

/*
 * The same, with the room that the moves before have left.  *start: whether it would begin
 * now, and, if so, it is counted as moved.
 */
static TierObstacle
foresee(const Foretelling *foretelling, const Candidate *candidate, TierMoveStart *start)
{
	TierForesight *foresight = foretelling->request->foresight;
	const TierForeseenRun how = {.ignore_windows = foretelling->request->ignore_windows};
	TierObstacle obstacle = obstacle_of(foretelling->advice, candidate);
	TierMoveRequest request = request_of(foretelling->advice, candidate);
	TierProspect prospect;

	*start = (TierMoveStart)
	{
		.may_begin = true,.seconds = NAN
	};
	if (obstacle.message != NULL || foresight == NULL ||
		!tier_foresee_prospect(foresight, &request, NULL, &how, &prospect))
		return obstacle;
	*start = prospect.start;
	return prospect.obstacle;
}

/*
 * What the run would do with it.  False: there is no room, of which nothing is said unless
 * is_last; it is asked again after the others.
 */
static bool
foretell(const Foretelling *foretelling, const Candidate *candidate, bool is_last)
{
	TierApplySummary *summary = foretelling->summary;
	TierMoveStart start;
	TierObstacle obstacle = foresee(foretelling, candidate, &start);

	if (obstacle.sqlstate == ERRCODE_DISK_FULL && !is_last)
		return false;
	if (obstacle.message != NULL)
	{
		summary->counts.not_moved++;
		ereport(WARNING,
				(errcode(obstacle.sqlstate),
				 errmsg("would not move %s: %s", name_of(candidate->unit), obstacle.message),
				 obstacle.detail == NULL ? 0 : errdetail_internal("%s", obstacle.detail),
				 obstacle.hint == NULL ? 0 : errhint("%s", obstacle.hint)));
		return true;
	}
	announce(foretelling->advice, candidate,
			 foretelling->request->foresight == NULL ? NULL : tier_foresee_waiting(&start));
	if (start.may_begin)
	{
		summary->counts.moved++;
		summary->counts.moved_bytes += (int64) candidate->disk_bytes;
	}
	else if (summary->counts.waiting++ == 0)
		summary->why_waiting = start.reason;
	return true;
}

/* Round after round as run_rounds(): who has no room yet may have it after the others. */
static void
foretell_all(const Foretelling *foretelling, Candidate *candidates, int n)
{
	bool		got_on = true;
	bool		is_last = false;

	while (n > 0 && !is_last)
	{
		int			moved = foretelling->summary->counts.moved;
		int			kept = 0;

		is_last = !got_on;
		for (int i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!foretell(foretelling, &candidates[i], is_last))
				candidates[kept++] = candidates[i];
		}
		n = kept;
		got_on = foretelling->summary->counts.moved > moved;
	}
}

/* Without those that the dry run has moved before, by a policy. */
static int
leave_out_moved(const TierForesight *foresight, Candidate *candidates, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
		if (foresight == NULL ||
			!tier_foresight_has_moved(foresight, candidates[i].unit->relation_oid))
			candidates[kept++] = candidates[i];
	return kept;
}

/* What a person asks for is done, but not in silence. */
static void
tell_wear(const TierApplyRequest *request, const TierAdvice *advice, const Candidate *candidates,
		  int n)
{
	List	   *to_tablespaces = NIL;

	for (int i = 0; i < n; i++)
		to_tablespaces = list_append_unique_oid(to_tablespaces, candidates[i].tablespace_oid);
	if (!request->for_owners)
		tier_wear_tell(advice->set, to_tablespaces);
}

/*
 * What is advised, but not with the rights that count, or only under a lock that nobody has
 * asked for: a dry run lists it, too.
 */
static void
tell_others(const TierApplyRequest *request, const TierAdvice *advice)
{
	for (int i = 0; i < advice->nunits; i++)
	{
		Candidate	candidate = {.unit = &advice->units[i]};
		const Past	no_past = {0};
		bool		is_others;
		char	   *why;
		char	   *hint;

		CHECK_FOR_INTERRUPTS();
		if (!is_advised(candidate.unit, request->least) ||
			may_move(request, advice, &no_past, &candidate, &is_others, &why, &hint) ||
			why == NULL)
			continue;
		ereport(WARNING,
				(errmsg("would not move %s: %s", name_of(candidate.unit), why),
				 errdetail("It is advised to move to tier \"%s\".",
						   NameStr(advice->set->tiers[candidate.unit->recommended_tier].name)),
				 hint == NULL ? 0 : errhint("%s", hint)));
	}
}

TierApplySummary
tier_apply_announce(const TierApplyRequest *request)
{
	TierApplySummary summary = {0};
	Candidate  *candidates;
	TierAdvice *advice;
	Arrangement arrangement;
	Foretelling foretelling = {request, NULL, &summary};

	advice = prepare(request, &summary, &candidates, &arrangement);
	tell_nothing(request, advice, &summary);
	tell_wear(request, advice, candidates, arrangement.possible);
	foretelling.advice = advice;
	foretell_all(&foretelling, candidates,
				 leave_out_moved(request->foresight, candidates, arrangement.possible));
	tell_left(advice, candidates, &arrangement, summary.beyond_limit > 0, false);
	tell_others(request, advice);
	summary.counts.not_moved += arrangement.left_over - summary.beyond_limit + arrangement.spare;
	tell_unsure(request, advice, &summary);
	return summary;
}

TierAdvisedMove *
tier_apply_list(double max_bytes, int *n)
{
	TierApplyRequest request = {0};
	TierApplySummary summary = {0};
	TierAdvisedMove *moves;
	Candidate  *candidates;
	TierAdvice *advice;
	Arrangement arrangement;
	int			past_limit;

	request.least = TIER_CONFIDENCE_FIRM;
	request.max_bytes = max_bytes;
	request.for_owners = true;
	request.by_worker = true;
	request.for_list = true;
	advice = prepare(&request, &summary, &candidates, &arrangement);
	past_limit = arrangement.possible + arrangement.left_over;
	*n = past_limit + arrangement.spare;
	moves = palloc_extended(sizeof(TierAdvisedMove) * Max(*n, 1), MCXT_ALLOC_HUGE);
	for (int i = 0; i < *n; i++)
	{
		bool		is_left_over = i >= arrangement.possible && i < past_limit;

		moves[i].request = request_of(advice, &candidates[i]);
		moves[i].is_beyond_limit = is_left_over && !isinf(max_bytes);
		moves[i].has_no_room = is_left_over && isinf(max_bytes);
		moves[i].is_spare = i >= past_limit;
	}
	return moves;
}

/*
 * Goes over all that is left once.  What is to be tried again is kept, in its order;
 * returns how many these are, in the last round none.
 */
static int
run_round(const TierApplyRequest *request, TierApplySummary *summary, const TierAdvice *advice,
		  Candidate *candidates, int n, bool is_last)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		bool		wanted;

		CHECK_FOR_INTERRUPTS();
		if (request->by_worker && tier_auto_migrate != TIER_AUTO_MIGRATE_PLACEMENT)
			return 0;
		wanted = is_still_advised(advice, &candidates[i]);
		tier_transaction_commit();
		if (!wanted && !tier_batch_may_go_on(request->by_worker))
			return 0;
		if (wanted && move_one(request, summary, advice, &candidates[i], is_last))
			candidates[kept++] = candidates[i];
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
run_rounds(const TierApplyRequest *request, TierApplySummary *summary, const TierAdvice *advice,
		   Candidate *candidates, int n)
{
	bool		got_on = true;
	bool		is_last = false;

	for (int round = 1; n > 0 && !is_last; round++)
	{
		int			moved = summary->counts.moved;

		is_last = n == 1 || round == MOST_ROUNDS || !got_on;
		n = run_round(request, summary, advice, candidates, n, is_last);
		got_on = summary->counts.moved > moved;
	}
}

/* What runs as one. */
typedef struct Batch
{
	const TierApplyRequest *request;
	TierApplySummary *summary;
} Batch;

static void
run_batch(void *argument)
{
	const TierApplyRequest *request = ((Batch *) argument)->request;
	TierApplySummary *summary = ((Batch *) argument)->summary;
	MemoryContext context = CurrentMemoryContext;
	Candidate  *candidates;
	TierAdvice *advice;
	double		bytes = 0.0;
	Arrangement arrangement;
	int			possible;

	/* 1. What, and in which order? */
	advice = prepare(request, summary, &candidates, &arrangement);
	possible = arrangement.possible;
	summary->counts.not_moved = arrangement.left_over - summary->beyond_limit + arrangement.spare;
	tell_nothing(request, advice, summary);
	tell_unsure(request, advice, summary);
	tell_wear(request, advice, candidates, arrangement.possible);
	tell_left(advice, candidates, &arrangement, summary->beyond_limit > 0, request->by_worker);
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
	run_rounds(request, summary, advice, candidates, possible);
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
	Batch		batch = {request, &summary};
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
