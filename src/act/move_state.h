/*-------------------------------------------------------------------------
 *
 * act/move_state.h
 *		Declarations shared by the parts of tier_move_one().  For these only:
 *
 *		move.c				carries a move out, in its steps
 *		move_admission.c	whether and when it begins, and is still wanted
 *		move_record.c		what is recorded and said of it
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOVE_STATE_H
#define TIER_MOVE_STATE_H

#include "postgres.h"

#include "utils/palloc.h"

#include "src/act/move_request.h"
#include "src/catalog/tables.h"
#include "src/move/online.h"
#include "src/move/preflight.h"
#include "src/server/relation.h"

/* How often a move looks again whether it may begin. */
#define TIER_MOVE_QUEUE_INTERVAL_MS 200

/*
 * One move of one relation, from the creation of its record to its completion.  In the memory of
 * the process that moves; others see it only through the record and move/progress.h.  Values that
 * are set by a step that runs in a subtransaction (the functions called ..._step) are read after
 * it, also if it has failed.
 */
typedef struct TierMove
{
	/* Set when the move begins. */
	const TierMoveRequest *request;
	const TierSet *set;
	const TierRelationInfo *info;	/* as it was then */
	MemoryContext context;		/* of the report's strings */
	TierMoveReport *report;
	int64		size_bytes;
	int64		move_id;		/* of the record; 0: there is none */
	TierIndexIdentity identity; /* see tier_relation_present() */

	bool		is_unwanted;	/* the last time that it was asked */
	bool		has_entered;	/* by preflight_step() or queue_step(): the
								 * move does not wait for the queue */
	bool		has_told;		/* that it waits */
	bool		only_record;	/* finish_step() does nothing else */
	TierObstacle obstacle;		/* by preflight_step(); before it, nothing */
	Oid			extension_oid;	/* the same: that has it, and lets it be moved
								 * there; 0: none */
	bool		is_above_mark;	/* the same: that is why */
	bool		is_rebuilt;		/* by rebuilt_step(): another index has taken
								 * its place */

	/* Of the last attempt under one lock; online moves do not use them. */
	long		backoff_ms;		/* before the next attempt */
	TierMoveTiming timing;

	TierMoveResult result;		/* GONE until something was moved */
	TierMoveOutcome outcome;	/* for the record; its state is set last */
} TierMove;

/* ---------------------------------------------------------------------
 * The record, and messages
 * ---------------------------------------------------------------------
 */

/* It ends by that error. */
extern void tier_move_report_thrown(TierMoveReport *report, const ErrorData *error);

/* Reports that the move is not made; `message` says why, `hint` (NULL: none) how to proceed. */
extern void tier_move_report_skipped(TierMoveReport *report, int sqlstate, char *message,
									 char *hint);

/*
 * Logs that the move was made: a move changes pg_class, but event triggers and auditors of
 * commands do not see it, and there is no statement for a move of the worker.
 */
extern void tier_move_log_done(const TierMove *move);

/*
 * Adds the result to the counts of the request.  A relation that was already in place counts
 * neither as moved nor as not moved.
 */
extern void tier_move_count(const TierMoveRequest *request, const TierMoveReport *report);

/* Makes the record and commits it; 0 when the extension has gone. */
extern int64 tier_move_begin_record(const TierMoveRequest *request, const TierSet *set,
									const TierRelationInfo *info, int64 size_bytes,
									bool online);

/*
 * Completes the record.  An error at this point must not leave it incomplete: it is caught, and
 * returned to be thrown afterwards.  A cancel or a timeout may not come again; after any other
 * error, only the record is tried again.
 */
extern ErrorData *tier_move_finish_record(TierMove *move);

/* ---------------------------------------------------------------------
 * Whether and when to begin
 * ---------------------------------------------------------------------
 */

/*
 * Returns false with the report if the open window has not enough bytes left.  The caller has
 * asked the gate before, but other moves may have begun since.  Before the record is made, in the
 * same transaction; outside of a scope.
 */
extern bool tier_move_has_bytes_left(TierMove *move);

/* Waits with no locks and no snapshot, so that no other session is held up. */
extern void tier_move_pause_ms(long milliseconds);

/* Between two transactions: runs tasks that must not wait for a move to end, or to begin. */
extern void tier_move_run_idle(const TierMove *move);

/*
 * Returns false with the reason if there is an obstacle, or if the move is not wanted now.  Waits
 * for its place among the movers.  Outside of a scope; commits.
 */
extern bool tier_move_may_begin(TierMove *move, ErrorData **thrown);

/* Tries a step, and commits; an error is reported, and returned. */
extern ErrorData *tier_move_try(TierMove *move, void (*step) (void *move));

/*
 * Sets is_unwanted, with a report of the reason.  Makes all checks, also the slow ones.  In a
 * subtransaction, with no relation of a user locked.
 */
extern void tier_move_ask_step(void *move);

/* The same for tier_online_move(), whose argument is the move. */
extern bool tier_move_is_still_wanted(const TierOnlineRequest *request);

/* Likewise: the users of the relation on a standby.  Only a worker can ask there; commits. */
extern char *tier_move_why_wait(const TierOnlineRequest *request);

/*
 * The present tiers: those of the request if they are recent, or else loaded, since a batch may
 * have begun hours ago, and capacities and reserves may have been changed since.  Valid until it
 * is called for the next move.  NULL: the extension has gone.  In a transaction, outside of a
 * scope.
 */
extern const TierSet *tier_move_load_tiers(const TierMoveRequest *request);

#endif							/* TIER_MOVE_STATE_H */
