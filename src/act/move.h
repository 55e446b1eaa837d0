/*-------------------------------------------------------------------------
 *
 * act/move.h
 *		Moving relations: checks before, one transaction each, record after.
 *
 * The room act/ does what others have decided.  A worker (worker.h), which the
 * launcher (launcher.h) starts by the clock, takes a sample (verify.h) and then carries
 * out the plan (plan.h, run.h) of what policies and the load ask for; a person does the
 * same with CALL (move_sql.c, apply_sql.c).  Each decides on one snapshot what is to be
 * moved, and hands relation after relation to tier_move_one(),
 * where all ways meet: it records the move, asks again whether anything is in the
 * way, moves it online or, if that is allowed, under a lock, and completes the
 * record.  A day later a sample measures what it was good for (verify.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOVE_H
#define TIER_MOVE_H

#include "postgres.h"

#include "src/act/move_request.h"
#include "src/catalog/tables.h"
#include "src/decide/tier_fullness.h"
#include "src/move/preflight.h"

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
 * cancel is recorded, counted and thrown again, and so are errors of the record itself, unless
 * the request is one of many.  An index that is rebuilt as another
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

/* What the checks that tier_move_one() makes are asked with. */
extern TierMoveTarget tier_move_target(const TierMoveRequest *request);

/*
 * Chooses the tablespace of the request anew: of those that the tier has by now, the one with
 * most free space that its requester may use.  Unchanged, if there is no such tier any more.  In
 * a transaction, outside of a scope.
 */
extern void tier_move_choose(TierMoveRequest *request, const char *tier_name);

/* Says what went wrong, if anything did: in the log for a worker, else as a warning. */
extern void tier_move_warn(const TierMoveReport *report, bool by_worker);

#endif							/* TIER_MOVE_H */
