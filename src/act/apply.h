/*-------------------------------------------------------------------------
 *
 * act/apply.h
 *		From advice to moves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_APPLY_H
#define TIER_APPLY_H

#include "postgres.h"

#include "storage/lock.h"

#include "src/decide/advice.h"
#include "src/act/foresee.h"
#include "src/act/move.h"
#include "src/move/online.h"

typedef struct TierApplyRequest
{
	const TierAdviceOptions *options;	/* of the advice; NULL: the default.
										 * Without overrides and as_of: moves
										 * are about what there is now. */
	TierConfidence least;		/* at least this sure */
	double		max_bytes;		/* together; INFINITY: no limit */
	bool		for_owners;		/* nobody asked for these moves: they are made
								 * with the rights of the owners, and only
								 * online.  Else for the current user. */
	bool		ignore_windows; /* of for_owners: also while move windows are
								 * closed */
	bool		by_worker;		/* respects backoff and auto_migrate, and says
								 * in the log what went wrong */
	bool		for_list;		/* nothing is moved: what failed lately is
								 * listed, too, and nothing is told */
	TierForesight *foresight;	/* of a dry run of for_owners: what it has
								 * moved before; else NULL */
	const TierIdle *idle;		/* NULL: nothing else to do */
} TierApplyRequest;

typedef struct TierApplySummary
{
	bool		is_busy;		/* another process has a batch under way here:
								 * nothing was done */
	int64		batch_id;		/* 0: there was nothing to do */
	int			advised;		/* and allowed, within max_bytes */
	TierMoveCounts counts;		/* waiting: advised, but not now */
	int			others;			/* advised, but the role may not move them */
	int			unsure;			/* advised, but with less confidence */
	int			beyond_limit;	/* advised and sure enough, but with the
								 * others more than max_bytes */
	char	   *why_waiting;	/* of the first of them; NULL: none waits */
	bool		is_told;		/* why nothing is moved */
	bool		for_owners;		/* of the request */
} TierApplySummary;

/*
 * Does what the advice says, as one batch, in an order that always has room; in
 * a database one batch at a time.  The caller has made sure of the claims, and
 * that the extension is there; else as tier_move_one.
 */
extern TierApplySummary tier_apply_run(const TierApplyRequest *request);

/*
 * Takes the lock that lets one batch at a time run in this database; false when
 * another session has it.  It is the session's, outlives transactions, and is to
 * be released with LockRelease(tag, ExclusiveLock, true).
 */
extern bool tier_apply_lock(LOCKTAG *tag);

/* Raises the error that another session has it. */
extern void tier_apply_raise_busy(void);

/*
 * Says what it would do and what not, each with its reason, and changes nothing.
 * Needs no SPI.  moved and not_moved of the answer are what would become of them.
 */
extern TierApplySummary tier_apply_announce(const TierApplyRequest *request);

/* A move that the advice would have made, with auto_migrate = placement. */
typedef struct TierAdvisedMove
{
	TierMoveRequest request;
	bool		is_beyond_limit;	/* of max_bytes */
	bool		has_no_room;	/* what has to leave first has none either */
	bool		is_spare;		/* would make room for nothing that comes */
} TierAdvisedMove;

/*
 * All that it is sure of, *n of them, in the order of a run; of a limit of so many bytes
 * first what is within it.  Outside of a scope, in a transaction; changes nothing.
 */
extern TierAdvisedMove *tier_apply_list(double max_bytes, int *n);

/* What became of it, for a person, in a NOTICE; an error if it was busy. */
extern void tier_apply_report(const TierApplySummary *summary);

/* For ereport: how much is advised that may not be moved; nothing, if nothing is. */
extern int	tier_apply_others_detail(const TierApplySummary *summary);

#endif							/* TIER_APPLY_H */
