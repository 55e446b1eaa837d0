/*-------------------------------------------------------------------------
 *
 * act/move_request.h
 *		One relation to move, and what has become of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOVE_REQUEST_H
#define TIER_MOVE_REQUEST_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/window_schedule.h"
#include "src/move/online.h"

typedef struct TierMoveRequest TierMoveRequest;

/*
 * Up to which watermark its target may be filled by a move.  Who decides on moves goes by these,
 * too, but others may decide at the same moment; of several, the mover lets in the first.
 */
typedef enum TierMoveMark
{
	TIER_MARK_NONE,
	TIER_MARK_EMPTIED,			/* the high one, if a fullness policy empties
								 * the tier */
	TIER_MARK_HIGH,
	TIER_MARK_STAY,				/* the low one, if a fullness policy empties
								 * the tier, else the high one */
} TierMoveMark;

/* What a series of moves has come to. */
typedef struct TierMoveCounts
{
	int			moved;
	int			not_moved;		/* skipped or failed; not what is tried again */
	int			waiting;		/* may not begin now; not among not_moved */
	int64		moved_bytes;
	int64		batch_id;		/* 0: no move was begun */
} TierMoveCounts;

/* One relation to move.  The mover knows no policy, only an id to record. */
struct TierMoveRequest
{
	Oid			relation_oid;
	Oid			tablespace_oid;
	Oid			requester_oid;	/* whose rights count */
	int			policy_id;		/* 0: none */
	TierPolicyKind policy_kind; /* if there is one */
	int64		batch_id;		/* 0: none */
	int64		undo_of;		/* the batch that is undone, 0: none */
	double		predicted_s_per_hour;	/* device time that it is expected to
										 * save; NaN: nobody said, then by the
										 * load of the moment */
	const char *reason;
	bool		allow_lock;		/* what cannot be moved online may be locked
								 * for the whole copy */
	bool		is_tried_again; /* if it is busy, by the caller and soon:
								 * patience is short, and such an end counts
								 * as no failure */
	bool		is_one_of_many; /* an error without a record is reported, not
								 * thrown, unless it is about all of them */
	bool		obeys_windows;	/* nobody asked for it: it begins while a move
								 * window is open, which the caller has made
								 * sure of (act/gate.h), and waits for readers
								 * of the WAL that do not keep up with it */
	bool		only_if_free;	/* it ends as if it could not be locked when
								 * anybody has it locked as it begins, since
								 * others of its owner were (act/run_turn.c) */
	bool		is_optional;	/* nobody but the load asks for it: it is not
								 * moved to what wears out */
	TierPressing pressing;
	TierMoveMark mark;
	bool		for_owner;		/* who requests it is whoever owns it: it is
								 * not moved when that is somebody else by
								 * then */

	/*
	 * Is it still asked for?  What has decided so asks itself again, after
	 * the move has waited for others and before each attempt to swap: both
	 * may take hours.  In a transaction, that it must not end, with nothing
	 * of a user locked.  NULL: always.
	 */
	bool		(*is_wanted) (const TierMoveRequest *request);
	void	   *argument;		/* the caller's */
	const TierIdle *idle;		/* NULL: nothing else to do */

	/*
	 * The tiers as the caller has loaded them at that monotonic time; NULL:
	 * he has not.
	 */
	const TierSet *set;
	int64		set_at;

	/*
	 * To which its end is added, also when a cancel is thrown; waiting is for
	 * who has decided on it to count.  NULL: nobody counts.
	 */
	TierMoveCounts *counts;
};

typedef enum TierMoveState
{
	TIER_STATE_DONE,
	TIER_STATE_NOT_NEEDED,		/* gone, or there already: nothing to record */
	TIER_STATE_SKIPPED,			/* not tried, or the lock was not granted */
	TIER_STATE_WAITING,			/* not tried: by the time it could begin, no
								 * move window was open any more */
	TIER_STATE_FAILED,			/* tried, and undone by an error */
} TierMoveState;

typedef struct TierMoveReport
{
	TierMoveState state;
	char	   *relation_name;	/* NULL when it was gone from the start */
	bool		is_gone;		/* of NOT_NEEDED: that is why */
	TierObstacle why;			/* no message when done or not needed; why it
								 * waits */
	bool		under_pressure; /* of WAITING and SKIPPED: the server was, so
								 * that others would not begin either */
	int64		size_bytes;
	double		worked_ms;		/* that it took, without what it has waited
								 * for other moves, resume() or readers of the
								 * WAL */
	double		lock_held_ms;	/* the longest strong lock; 0: none */
	ErrorData  *unrecorded;		/* before the move has a record, or when it
								 * was completed; NULL: none */
} TierMoveReport;

#endif							/* TIER_MOVE_REQUEST_H */
