/*-------------------------------------------------------------------------
 *
 * act/move.h
 *		Moving relations: checks before, one transaction each, record after.
 *
 * The room act/ does what others have decided.  A worker (worker.h), which the
 * launcher (launcher.h) starts by the clock, takes a sample (cycle.h) and then does
 * what the policies ask for (migrate.h) and what the load asks for (apply.h); a
 * person does the same with CALL (move_sql.c, apply_sql.c).  Each decides on one
 * snapshot what is to be moved, and hands relation after relation to tier_move_one(),
 * where all ways meet: it records the move, asks again whether anything is in the
 * way, moves it online or, if that is allowed, under a lock, and completes the
 * record.  A day later a sample measures what it was good for (verify.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOVE_H
#define TIER_MOVE_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/fullness.h"
#include "src/decide/move_window.h"
#include "src/move/online.h"
#include "src/move/preflight.h"

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
	bool		limit_lock_time;	/* that: tiered_storage.move_max_lock_time */
	bool		is_tried_again; /* if it is busy, by the caller and soon:
								 * patience is short, and such an end counts
								 * as no failure */
	bool		obeys_windows;	/* nobody asked for it: it begins while a move
								 * window is open, which the caller has made
								 * sure of (act/gate.h), and waits for readers
								 * of the WAL that do not keep up with it */
	bool		only_if_free;	/* it ends as if it could not be locked when
								 * anybody has it locked as it begins, since
								 * others of its owner were (act/patience.h) */
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
	int64		moved_bytes;	/* of what is_wanted is asked with: of this
								 * relation, by parts that have left already */
	void	   *argument;		/* the caller's */
	const TierIdle *idle;		/* NULL: nothing else to do */

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
	char	   *error;			/* NULL when done or not needed; why it waits */
	char	   *detail;			/* NULL: none */
	char	   *hint;			/* NULL: none */
	char		sqlstate[6];
	bool		under_pressure; /* of WAITING and SKIPPED: the server was, so
								 * that others would not begin either */
	TimestampTz may_begin_at;	/* of WAITING; 0: nobody knows */
	int64		size_bytes;
	double		worked_ms;		/* that it took, without what it has waited
								 * for other moves, resume() or readers of the
								 * WAL */
	double		lock_held_ms;	/* the longest strong lock; 0: none */
} TierMoveReport;

/*
 * Was it not possible for what may have changed when other moves have been made:
 * others use the relation, or there was no room?
 */
extern bool tier_move_is_worth_retrying(const TierMoveReport *report);

/* Could it not be locked, or what it needs of the catalogs? */
extern bool tier_move_was_busy(const TierMoveReport *report);

/*
 * Moves one relation, a table with its TOAST table; see tier_online_move and
 * tier_relation_move for locks and rights.  Must be called with SPI connected
 * non-atomically and no scope, snapshot or subtransaction open, since it commits:
 * before the move, so that it can be seen, after each attempt, and after the
 * record.  Ordinary errors of the move are caught, recorded and reported; a
 * cancel is recorded, counted and thrown again.  An index that is rebuilt as another
 * one meanwhile (REINDEX CONCURRENTLY) is moved as what it is by then, unless
 * somebody decides on that again anyway (is_wanted): then it is skipped.
 * Strings of the report live in the current memory context, which must outlive
 * transactions.
 */
extern TierMoveReport tier_move_one(const TierMoveRequest *request);

/*
 * Would it have anything to do: is the relation, or a part of it, elsewhere?  Not if it is
 * gone.
 */
extern bool tier_move_is_needed(Oid relation_oid, Oid tablespace_oid);

/* Would the tier of the target, which is as full as that, be above the mark with so much more? */
extern TierObstacle tier_move_mark_obstacle(TierMoveMark mark, const TierTier *tier,
											const TierFullnessLevel *level, int64 size_bytes);

/*
 * Why it would not be tried now, by the checks that tier_move_one() itself makes; for a dry
 * run, so it announces and changes nothing.  Outside of a scope.  And what these checks are
 * asked with.
 */
extern TierObstacle tier_move_foresee(const TierMoveRequest *request, const TierSet *set);
extern TierMoveTarget tier_move_target(const TierMoveRequest *request);

/* Says what went wrong, if anything did: in the log for a worker, else as a warning. */
extern void tier_move_warn(const TierMoveReport *report, bool by_worker);

#endif							/* TIER_MOVE_H */
