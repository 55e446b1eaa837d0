/*-------------------------------------------------------------------------
 *
 * act/apply_candidates.h
 *		What of the advice is to be moved, and in which order.
 *
 * For the plan (act/plan.h), and for act/plan_notice.c, which says what of it is left out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_APPLY_CANDIDATES_H
#define TIER_APPLY_CANDIDATES_H

#include "postgres.h"

#include "src/act/foresee.h"
#include "src/act/move.h"
#include "src/decide/advice.h"

/* What of the advice is to be done. */
typedef struct TierApplyRequest
{
	const TierAdviceOptions *options;	/* of the advice; NULL: the default.
										 * Without overrides: moves are about
										 * what there is now. */
	TierConfidence least;		/* at least this sure */
	double		max_bytes;		/* together; INFINITY: no limit */
	bool		for_owners;		/* nobody asked for these moves: they are made
								 * with the rights of the owners, and only
								 * online.  Else for the current user. */
	bool		by_worker;		/* respects backoff, and says in the log what
								 * went wrong */

	/* Of the plan that asks. */
	TierForesight *foresight;	/* what it has moved before; NULL: nothing */
	const TierBackoff *backoff; /* relations that failed lately, by OID */
	int			nbackoff;
} TierApplyRequest;

/* What has come of it. */
typedef struct TierApplySummary
{
	bool		is_busy;		/* another process has a batch under way here:
								 * nothing was done */
	int			advised;		/* and allowed, within max_bytes */
	TierMoveCounts counts;		/* waiting: advised, but not now */
	int			others;			/* advised, but the role may not move them */
	int			unsure;			/* advised, but with less confidence */
	char	   *advice_text;	/* all that is advised, for a person */
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

/* The candidates in an order that was found, and what is not in it. */
typedef struct TierArrangement
{
	int			possible;		/* can be moved, in their order */
	int			left_over;		/* come next: no room, or beyond the limit,
								 * each says which */
	int			spare;			/* come next: would make room for nobody */
	int			failed;			/* come last: lately, so they take nothing */
} TierArrangement;

/* Is it advised to move, at least as surely as that? */
extern bool tier_candidate_is_advised(const TierAdviceUnit *unit, TierConfidence least);

/* Would policies have moved it before?  Then it is decided on anew by what there is then. */
extern bool tier_candidate_is_moved_before(const TierApplyRequest *request,
										   const TierAdviceUnit *unit);

/*
 * Where the unit may be moved to, and with whose rights; false: nowhere.  Of the obstacle, which
 * may have no message, sqlstate is INSUFFICIENT_PRIVILEGE if these do not suffice.  What would
 * lock it for the whole copy is only tried when a person asks.
 */
extern bool tier_candidate_may_move(const TierApplyRequest *request, const TierAdvice *advice,
									TierCandidate *candidate, TierObstacle *obstacle);

/* What the mover is asked for; the rest of it is for who asks to fill in. */
extern TierMoveRequest tier_candidate_request(const TierAdvice *advice,
											  const TierCandidate *candidate);

/* For messages; its OID, if it is gone. */
extern char *tier_candidate_name(const TierAdviceUnit *unit);

/*
 * The advice, with what of it is to be done, in order.  In a transaction, outside of a scope; all
 * lives in the current memory context.  Of the summary it sets what is known before anything is
 * moved.
 */
extern TierAdvice *tier_candidates_prepare(const TierApplyRequest *request,
										   TierApplySummary *summary, TierCandidate **candidates,
										   TierArrangement *arrangement);

#endif							/* TIER_APPLY_CANDIDATES_H */
