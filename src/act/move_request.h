/*-------------------------------------------------------------------------
 *
 * act/move_request.h
 *		One relation to move, and the result.
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
 * The watermark up to which a move may fill its target.  The sources of moves respect it, too,
 * but others may decide at the same moment; of several moves, the mover admits the first.
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

/* The result of a series of moves. */
typedef struct TierMoveCounts
{
	int			moved;
	int			not_moved;		/* skipped or failed; without those to be
								 * tried again */
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
	double		predicted_s_per_hour;	/* expected saving of device time;
										 * NaN: not estimated, computed from
										 * the current load */
	const char *reason;
	bool		allow_lock;		/* a relation that cannot be moved online may
								 * be locked for the whole copy */
	bool		is_one_of_many; /* an error without a record is reported, not
								 * thrown, unless it is about all of them */
	bool		obeys_windows;	/* automatic move: begins while a move window
								 * is open, which the caller has checked
								 * (act/gate.h), and waits for readers of the
								 * WAL that lag behind */
	bool		only_if_free;	/* ends as if it could not be locked if any
								 * session has it locked as it begins, since
								 * other relations of its owner were
								 * (act/run_turn.c) */
	bool		is_optional;	/* requested only because of the load: not
								 * moved to a device that wears out */
	TierPressing pressing;
	TierMoveMark mark;
	bool		for_owner;		/* the requester is the owner: not moved if
								 * the owner was changed */

	/*
	 * Returns true if the move is still requested.  Called after the move has
	 * waited for others, and before each attempt to swap: both may take
	 * hours. Runs in a transaction, which it must not end, with no relation
	 * of a user locked.  NULL: always requested.
	 */
	bool		(*is_wanted) (const TierMoveRequest *request);
	void	   *argument;		/* the caller's */
	const TierIdle *idle;		/* NULL: nothing else to do */

	/*
	 * The tiers as loaded by the caller at that monotonic time; NULL: not
	 * loaded.
	 */
	const TierSet *set;
	int64		set_at;

	/*
	 * The counts to which the result is added, also when a cancel is thrown;
	 * the decider counts waiting moves itself.  NULL: not counted.
	 */
	TierMoveCounts *counts;
};

typedef enum TierMoveState
{
	TIER_STATE_DONE,
	TIER_STATE_NOT_NEEDED,		/* gone, or there already: nothing to record */
	TIER_STATE_SKIPPED,			/* not tried, or the lock was not granted */
	TIER_STATE_WAITING,			/* not tried: no move window was open when it
								 * could begin */
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
	double		worked_ms;		/* duration, without waits for other moves,
								 * resume() or readers of the WAL */
	double		lock_held_ms;	/* the longest strong lock; 0: none */
	ErrorData  *unrecorded;		/* before the move has a record, or when it
								 * was completed; NULL: none */
} TierMoveReport;

#endif							/* TIER_MOVE_REQUEST_H */
