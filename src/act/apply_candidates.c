/*-------------------------------------------------------------------------
 *
 * act/apply_candidates.c
 *		Selects the moves that the advice asks for, and orders them.
 *
 * An advised move may be too uncertain, not permitted, or have failed recently.  The others are
 * put into an order in which each has room when its turn comes (model/order.h), and a limit then
 * selects those that fit.  All of this is decided once, from one snapshot, and changes nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "src/act/apply_candidates.h"
#include "src/base/by_oid.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/catalog/tables.h"
#include "src/model/order.h"
#include "src/server/relation.h"
#include "src/storage/file_size.h"

bool
tier_candidate_is_advised(const TierAdviceUnit *unit, TierConfidence least)
{
	return unit->current_tier >= 0 && unit->recommended_tier >= 0 &&
		unit->recommended_tier != unit->current_tier && unit->confidence >= least;
}

bool
tier_candidate_is_moved_before(const TierApplyRequest *request, const TierAdviceUnit *unit)
{
	return request->foresight != NULL &&
		tier_foresight_has_moved(request->foresight, unit->relation_oid);
}

static double
gain_of(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	return tier_advice_busy(advice, unit, unit->current_tier) -
		tier_advice_busy(advice, unit, unit->recommended_tier);
}

char *
tier_candidate_name(const TierAdviceUnit *unit)
{
	TierRelationInfo info;

	return tier_relation_lookup(unit->relation_oid, &info) ? info.name :
		psprintf("%u", unit->relation_oid);
}

TierMoveRequest
tier_candidate_request(const TierAdvice *advice, const TierCandidate *candidate)
{
	TierMoveRequest move = {0};

	move.relation_oid = candidate->unit->relation_oid;
	move.tablespace_oid = candidate->tablespace_oid;
	move.requester_oid = candidate->requester_oid;
	move.for_owner = candidate->for_owner;
	move.predicted_s_per_hour = gain_of(advice, candidate->unit);
	move.reason = tier_advice_reason(advice, candidate->unit, TIER_REASON_CHARACTERS);
	move.is_optional = true;
	move.mark = TIER_MARK_EMPTIED;
	return move;
}

static int
compare_candidates(const void *a, const void *b)
{
	const TierCandidate *left = a;
	const TierCandidate *right = b;

	if (left->density != right->density)
		return left->density > right->density ? -1 : 1;
	return left->unit->relation_oid < right->unit->relation_oid ? -1 : 1;
}

bool
tier_candidate_may_move(const TierApplyRequest *request, const TierAdvice *advice,
						TierCandidate *candidate, TierObstacle *obstacle)
{
	const TierAdviceUnit *unit = candidate->unit;
	const char *why_not_online;
	TierRelationInfo info;

	*obstacle = (TierObstacle)
	{
		0
	};
	if (!tier_relation_lookup(unit->relation_oid, &info))
		return false;
	candidate->for_owner = request->for_owners;
	candidate->requester_oid = request->for_owners ? info.owner_oid : GetUserId();
	candidate->tablespace_oid = tier_set_usable_tablespace(advice->set, unit->recommended_tier,
														   candidate->requester_oid);
	if (OidIsValid(candidate->tablespace_oid))
		*obstacle = tier_relation_refuse(&info, candidate->requester_oid,
										 candidate->tablespace_oid);
	if (!OidIsValid(candidate->tablespace_oid) || obstacle->message != NULL)
	{
		obstacle->sqlstate = ERRCODE_INSUFFICIENT_PRIVILEGE;
		return false;
	}
	candidate->disk_bytes = Max(tier_relation_disk_bytes(&info), unit->size_bytes);
	why_not_online = request->for_owners ? tier_relation_why_not_online(&info) : NULL;
	if (why_not_online == NULL)
		return true;
	*obstacle = (TierObstacle)
	{
		.sqlstate = ERRCODE_FEATURE_NOT_SUPPORTED,
			.message = psprintf("it cannot be moved online: %s", why_not_online),
			.hint = psprintf("%s locks it for the whole copy.",
							 tier_advice_command(advice, unit))
	};
	return false;
}

/* The bytes that may be added to each tier now, or after the moves that policies make first. */
static double *
room_of(const TierApplyRequest *request, const TierAdvice *advice)
{
	const TierSet *set = advice->set;
	double	   *room = palloc(sizeof(double) * Max(set->ntiers, 1));

	for (int t = 0; t < set->ntiers; t++)
		room[t] = advice->available_bytes[t];
	for (int i = 0; i < set->ntablespaces && request->foresight != NULL; i++)
	{
		int			tier = set->tablespaces[i].tier;
		double		flow = tier_foresight_flow(request->foresight, set->tablespaces[i].oid);
		double		stored = tier_cost_stored_bytes(fabs(flow), &set->tiers[tier].profile);

		room[tier] -= flow < 0.0 ? -stored : stored;
	}
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];

		if (unit->current_tier >= 0)
			room[unit->current_tier] -= tier_advice_stored(advice, unit, unit->current_tier);
	}
	return room;
}

/*
 * The candidates as plain numbers.  The bytes needed are measured as the check before each move
 * measures them; with a smaller number, the check would refuse moves that the order allows.  The
 * bytes freed are those by which the use of the tier shrinks, and are as old as the advice.  The
 * bytes copied are the sizes of the files, even on a device that compresses; the record of a move
 * has the same number.
 */
static TierOrderMove *
moves_of(const TierAdvice *advice, const TierCandidate *candidates, int n)
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
		moves[i].bytes = candidates[i].disk_bytes;
	}
	return moves;
}

/* How far choose() is. */
typedef struct Choice
{
	const TierApplyRequest *request;
	const TierAdvice *advice;
	TierApplySummary *summary;
	TierCandidate *candidates;
	int			n;				/* from the first one on */
	int			last;			/* from there on, those that failed lately */
} Choice;

static Oid
unit_oid(const void *argument, int i)
{
	return ((const Choice *) argument)->advice->units[i].relation_oid;
}

static void
choose_unit(void *argument, int i)
{
	Choice	   *choice = argument;
	const TierAdviceUnit *unit = &choice->advice->units[i];
	TierCandidate *candidate = &choice->candidates[choice->n];
	TierObstacle obstacle;

	if (tier_candidate_is_moved_before(choice->request, unit))
		return;
	if (!tier_candidate_is_advised(unit, choice->request->least))
	{
		choice->summary->unsure += tier_candidate_is_advised(unit, TIER_CONFIDENCE_PROVISIONAL);
		return;
	}
	tier_debug_relation("choose", unit->relation_oid);
	candidate->unit = unit;
	candidate->density = gain_of(choice->advice, unit) / Max(unit->size_bytes, 1.0);
	if (tier_candidate_may_move(choice->request, choice->advice, candidate, &obstacle))
	{
		if (tier_by_oid_find(unit->relation_oid, choice->request->backoff,
							 choice->request->nbackoff, sizeof(TierBackoff)) != NULL)
			choice->candidates[--choice->last] = *candidate;
		else
			choice->n++;
	}
	else
		choice->summary->others += obstacle.sqlstate == ERRCODE_INSUFFICIENT_PRIVILEGE;
}

static void
leave_out_unit(void *argument, int i, char *message)
{
	Choice	   *choice = argument;

	choice->summary->counts.not_moved++;
}

/*
 * The candidates to move, before they are ordered and limited; *ncandidates of them.  Candidates
 * that are left out only because they have failed recently follow: *nfailed.
 */
static TierCandidate *
choose(const TierApplyRequest *request, const TierAdvice *advice, int *ncandidates, int *nfailed,
	   TierApplySummary *summary)
{
	Choice		choice = {request, advice, summary,.last = advice->nunits};
	const TierEach each = {advice->nunits, unit_oid, choose_unit, leave_out_unit, &choice};
	TierCandidate *candidates = palloc_extended(sizeof(TierCandidate) * Max(advice->nunits, 1),
												MCXT_ALLOC_HUGE);
	TierPass	pass;

	choice.candidates = candidates;
	tier_pass_begin(&pass, TIER_STEP_PLAN);
	tier_pass_each(&pass, &each);
	*ncandidates = choice.n;
	*nfailed = advice->nunits - choice.last;
	memmove(&candidates[choice.n], &candidates[choice.last], sizeof(TierCandidate) * *nfailed);
	qsort(candidates, choice.n, sizeof(TierCandidate), compare_candidates);
	qsort(&candidates[choice.n], *nfailed, sizeof(TierCandidate), compare_candidates);
	return candidates;
}

/*
 * Whether the only use of the move is the room that it leaves.  A unit has another reason to move
 * if it leaves a tier with too much of anything, if it is pinned to its target, or if it costs
 * less there.
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
missed_by(const TierApplyRequest *request, const TierAdvice *advice,
		  const TierCandidate *candidates, const int *order, int n)
{
	bool	   *missed = palloc0(sizeof(bool) * Max(advice->set->ntiers, 1));
	bool	   *taken = palloc_extended(Max(advice->nunits, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (int i = 0; i < n; i++)
		taken[candidates[order[i]].unit - advice->units] = true;
	for (int i = 0; i < advice->nunits; i++)
		if (!taken[i] &&
			tier_candidate_is_advised(&advice->units[i], TIER_CONFIDENCE_PROVISIONAL) &&
			!tier_candidate_is_moved_before(request, &advice->units[i]))
			missed[advice->units[i].recommended_tier] = true;
	pfree(taken);
	return missed;
}

/*
 * Arranges n candidates: the first `found` of `order` come first, to be moved; of the others,
 * those that are not spare come first.
 */
static void
put_in_order(TierCandidate *candidates, int n, const int *order, int found, const bool *is_spare)
{
	TierCandidate *arranged = palloc_extended(sizeof(TierCandidate) * Max(n, 1), MCXT_ALLOC_HUGE);
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
	memcpy(candidates, arranged, sizeof(TierCandidate) * n);
	pfree(arranged);
	pfree(taken);
}

/*
 * Puts the numbers of the candidates that can be moved within a limit into `order`, in a
 * possible order, and their count into *found.  Returns how many of them are not spare; the
 * spare ones come last.  A candidate is spare if it only makes room, no move in the order
 * needs that room, and a move that should use it cannot be made.
 */
static int
find_order(const TierApplyRequest *request, const TierAdvice *advice,
		   const TierCandidate *candidates, int n, double max_bytes, int *order, int *found)
{
	TierOrderMove *moves = moves_of(advice, candidates, n);
	double	   *room = room_of(request, advice);
	int			ntiers = advice->set->ntiers;
	void	   *scratch = palloc_extended(TIER_ORDER_SCRATCH(Max(n, 1)), MCXT_ALLOC_HUGE);
	bool	   *helps = palloc_extended(Max(n, 1), MCXT_ALLOC_HUGE);
	bool	   *missed;

	for (int i = 0; i < n; i++)
		helps[i] = only_helps(advice, candidates[i].unit);
	*found = tier_order(moves, n, room, ntiers, max_bytes, order, scratch);
	missed = isinf(max_bytes) ? missed_by(request, advice, candidates, order, *found) :
		palloc0(sizeof(bool) * Max(ntiers, 1));
	return tier_order_spare(moves, order, *found, room, ntiers, helps, missed);
}

/*
 * Puts the candidates into an order.  A limit selects those that fit: a candidate that would
 * exceed it is passed over, and a later one may still fit.  A candidate for a full tier is kept
 * together with the moves that make room for it; without them, it would have no room today, and
 * the same tomorrow.  Spare candidates are determined without the limit: room that others cannot
 * use today may be used tomorrow.
 */
static TierArrangement
arrange(const TierApplyRequest *request, const TierAdvice *advice, TierCandidate *candidates,
		int n)
{
	int		   *order = palloc_extended(sizeof(int) * Max(n, 1), MCXT_ALLOC_HUGE);
	bool	   *is_spare = palloc_extended(Max(n, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	TierArrangement arrangement = {0};
	double		bytes = 0.0;
	int			found;

	/* 1.  Without a limit: which candidates have room, and which are spare. */
	arrangement.possible = find_order(request, advice, candidates, n, INFINITY, order, &found);
	arrangement.spare = found - arrangement.possible;
	for (int i = 0; i < n; i++)
		candidates[i].has_room = false;
	for (int i = 0; i < found; i++)
	{
		candidates[order[i]].has_room = true;
		is_spare[order[i]] = i >= arrangement.possible;
	}
	put_in_order(candidates, n, order, arrangement.possible, is_spare);
	n -= arrangement.spare;

	/* 2. If not all fit, those of the others that are within the limit. */
	for (int i = 0; i < arrangement.possible; i++)
		bytes += candidates[i].disk_bytes;
	if (bytes > request->max_bytes)
	{
		arrangement.possible = find_order(request, advice, candidates, n, request->max_bytes,
										  order, &found);
		memset(is_spare, 0, n);
		put_in_order(candidates, n, order, arrangement.possible, is_spare);
	}
	arrangement.left_over = n - arrangement.possible;
	return arrangement;
}

TierAdvice *
tier_candidates_prepare(const TierApplyRequest *request, TierApplySummary *summary,
						TierCandidate **candidates, TierArrangement *arrangement)
{
	TierAdvice *advice;
	int			n;
	int			nfailed;

	PushActiveSnapshot(GetTransactionSnapshot());
	advice = tier_advice_make(request->options);
	*candidates = choose(request, advice, &n, &nfailed, summary);
	*arrangement = arrange(request, advice, *candidates, n);
	arrangement->failed = nfailed;
	for (int i = 0; i < arrangement->left_over; i++)
		summary->beyond_limit += (*candidates)[arrangement->possible + i].has_room;
	if (!request->by_worker)
	{
		TierAdvice *provisional = tier_advice_provisional(advice);

		summary->advice_text = tier_advice_moves_text(advice, provisional, &summary->unsure);
	}
	PopActiveSnapshot();
	summary->advised = n - summary->beyond_limit;
	summary->for_owners = request->for_owners;
	return advice;
}
