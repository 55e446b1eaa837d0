/*-------------------------------------------------------------------------
 *
 * act/apply_request.h
 *		What of the advice is to be done, and what has come of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_APPLY_REQUEST_H
#define TIER_APPLY_REQUEST_H

#include "postgres.h"

#include "src/act/foresee.h"
#include "src/act/move.h"
#include "src/decide/advice.h"

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
	TierForesight *foresight;	/* of the plan: what it has moved before */
} TierApplyRequest;

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

#endif							/* TIER_APPLY_REQUEST_H */
