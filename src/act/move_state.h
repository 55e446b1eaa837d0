/*-------------------------------------------------------------------------
 *
 * act/move_state.h
 *		What the parts of tier_move_one() share.  For these only:
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
 * One move of one relation, from its record to the end of that.  In the memory of
 * the process that moves; nobody else sees it but by the record and by
 * move/progress.h.  What is set by a step that runs in a subtransaction (the
 * functions called ..._step) is read after it, also if it has failed.
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
	bool		has_entered;	/* by queue_step(): nothing keeps it waiting
								 * any more */
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
 * The record, and what to say
 * ---------------------------------------------------------------------
 */

/* It ends by that error. */
extern void tier_move_report_thrown(TierMoveReport *report, const ErrorData *error);

/* It is not made; `message` says why, `hint` (NULL: none) what to do about it. */
extern void tier_move_report_skipped(TierMoveReport *report, int sqlstate, char *message,
									 char *hint);

/*
 * That it was made, in the log: a move changes pg_class, but it is no command that event triggers
 * or auditors of commands would see, and what the worker does nobody has typed.
 */
extern void tier_move_log_done(const TierMove *move);

/*
 * Adds its end to the counts of who asked for it.  What was in its place already is neither moved
 * nor not moved.
 */
extern void tier_move_count(const TierMoveRequest *request, const TierMoveReport *report);

/* Makes the record and commits it; 0 when the extension has gone. */
extern int64 tier_move_begin_record(const TierMoveRequest *request, const TierSet *set,
									const TierRelationInfo *info, int64 size_bytes,
									bool online);

/*
 * Completes the record.  An error that comes just now must not leave it incomplete: it is
 * caught, and returned to be thrown afterwards.  A cancel, or what has timed out, may not
 * come again; with any other error, nothing but the record is tried again.
 */
extern ErrorData *tier_move_finish_record(TierMove *move);

/* ---------------------------------------------------------------------
 * Whether and when to begin
 * ---------------------------------------------------------------------
 */

/*
 * Whoever asks for the move has asked the gate before, but others may have begun since: does an
 * open window have the bytes left for it?  False with the report.  Before the record is made, in
 * the same transaction; outside of a scope.
 */
extern bool tier_move_has_bytes_left(TierMove *move);

/* Waits with nothing locked and no snapshot to hold anybody up. */
extern void tier_move_pause_ms(long milliseconds);

/* Between two transactions: what must not wait for a move to end, or to begin. */
extern void tier_move_run_idle(const TierMove *move);

/*
 * Is anything in the way, or is it not wanted any more?  False with the reason.  Waits for its
 * place among the movers.  Outside of a scope; commits.
 */
extern bool tier_move_may_begin(TierMove *move, ErrorData **thrown);

/* Tries a step, and commits; what it throws is reported, and returned. */
extern ErrorData *tier_move_try(TierMove *move, void (*step) (void *move));

/*
 * Sets is_unwanted, with a report why: everything for which it may be, also what takes longer to
 * find out.  In a subtransaction, with nothing of a user locked.
 */
extern void tier_move_ask_step(void *move);

/* The same for tier_online_move(), whose argument is the move. */
extern bool tier_move_is_still_wanted(const TierOnlineRequest *request);

/* Likewise: who uses the relation on a standby?  Only a worker can ask there; commits. */
extern char *tier_move_why_wait(const TierOnlineRequest *request);

/*
 * The tiers as they are now: those of the request, if they are recent, or in a context of their
 * own, since a batch may have begun hours ago, and what a tier holds and keeps free may have been
 * changed since.  NULL: the extension has gone.  In a transaction, outside of a scope.
 */
extern const TierSet *tier_move_load_tiers(const TierMoveRequest *request,
										   MemoryContext *tiers_context);

#endif							/* TIER_MOVE_STATE_H */
