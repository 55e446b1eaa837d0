/*-------------------------------------------------------------------------
 *
 * act/apply_candidates.h
 *		Selects the moves that the advice asks for, and orders them.
 *
 * Used by the plan (act/plan.h), and by act/plan_notice.c, which reports the moves that are left
 * out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_APPLY_CANDIDATES_H
#define TIER_APPLY_CANDIDATES_H

#include "postgres.h"

#include "src/act/foresee.h"
#include "src/act/move.h"
#include "src/decide/advice.h"

/* The part of the advice that is to be carried out. */
typedef struct TierApplyRequest
{
	const TierAdviceOptions *options;	/* of the advice; NULL: the default.
										 * Without overrides: moves are about
										 * the present tiers. */
	TierConfidence least;		/* at least this sure */
	double		max_bytes;		/* together; INFINITY: no limit */
	bool		for_owners;		/* automatic: made with the rights of the
								 * owners, and only online; else for the
								 * current user */
	bool		by_worker;		/* respects backoff, and logs failures */

	/* Of the plan that asks. */
	TierForesight *foresight;	/* the moves of an earlier forecast; NULL:
								 * none */
	const TierBackoff *backoff; /* relations that failed lately, by OID */
	int			nbackoff;
} TierApplyRequest;

/* The result of applying an advice. */
typedef struct TierApplySummary
{
	bool		is_busy;		/* another process has a batch under way here:
								 * nothing was done */
	int			advised;		/* and allowed, within max_bytes */
	TierMoveCounts counts;		/* waiting: advised, but not now */
	int			others;			/* advised, but the role may not move them */
	int			unsure;			/* advised, but with less confidence */
	char	   *advice_text;	/* summary of all advised moves, for a session */
	int			beyond_limit;	/* advised and sure enough, but with the
								 * others more than max_bytes */
	char	   *why_waiting;	/* of the first of them; NULL: none waits */
	bool		is_told;		/* why nothing is moved */
	bool		for_owners;		/* of the request */
} TierApplySummary;

/* A move that is advised and allowed; sorted by most gain for each byte first. */
typedef struct TierCandidate
{
	const TierAdviceUnit *unit;
	Oid			requester_oid;
	bool		for_owner;		/* which that is */
	Oid			tablespace_oid; /* of the tier; chosen again when its turn
								 * comes */
	double		density;
	double		disk_bytes;		/* that a move writes and needs room for, by
								 * the files of this moment */
	bool		has_room;		/* without a limit there would be an order in
								 * which it can be moved; by arrange() */
} TierCandidate;

/* The candidates in the order that was found, followed by those not in it. */
typedef struct TierArrangement
{
	int			possible;		/* can be moved, in their order */
	int			left_over;		/* come next: no room, or beyond the limit,
								 * each says which */
	int			spare;			/* come next: would make room for no other
								 * move */
	int			failed;			/* come last: lately, so they take nothing */
} TierArrangement;

/* Returns true if a move of the unit is advised with at least this confidence. */
extern bool tier_candidate_is_advised(const TierAdviceUnit *unit, TierConfidence least);

/*
 * Returns true if policies would move the unit first.  It is then decided again on the state
 * after that move.
 */
extern bool tier_candidate_is_moved_before(const TierApplyRequest *request,
										   const TierAdviceUnit *unit);

/*
 * Finds where the unit may be moved to, and with whose rights; false: nowhere.  The sqlstate of
 * the obstacle, which may have no message, is INSUFFICIENT_PRIVILEGE if these rights do not
 * suffice.  A move that would lock the unit for the whole copy is only tried on request of a
 * session.
 */
extern bool tier_candidate_may_move(const TierApplyRequest *request, const TierAdvice *advice,
									TierCandidate *candidate, TierObstacle *obstacle);

/* The request for the mover; the caller fills in the rest. */
extern TierMoveRequest tier_candidate_request(const TierAdvice *advice,
											  const TierCandidate *candidate);

/* For messages; its OID, if it is gone. */
extern char *tier_candidate_name(const TierAdviceUnit *unit);

/*
 * Makes the advice, with its candidates in order.  In a transaction, outside of a scope; the
 * result lives in the current memory context.  Sets the fields of the summary that are known
 * before anything is moved.
 */
extern TierAdvice *tier_candidates_prepare(const TierApplyRequest *request,
										   TierApplySummary *summary, TierCandidate **candidates,
										   TierArrangement *arrangement);

#endif							/* TIER_APPLY_CANDIDATES_H */
