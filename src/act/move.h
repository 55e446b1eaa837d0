/*-------------------------------------------------------------------------
 *
 * act/move.h
 *		Moving relations: checks before, one transaction each, record after.
 *
 * The room act/ carries out decisions.  A worker (worker.h), which the launcher (launcher.h)
 * starts by the clock, takes a sample (verify.h) and then carries out the plan (plan.h, run.h)
 * of moves for policies and the load; a session does the same with CALL (move_sql.c,
 * apply_sql.c).  Each chooses the moves by one snapshot, and hands relation after relation to
 * tier_move_one(), where all ways meet: it records the move, asks again whether anything is in
 * the way, moves it online or, if that is allowed, under a lock, and completes the record.  A
 * day later a sample measures the effect of the move (verify.h).
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

/* Returns true if the relation, or a catalog row that the move needs, could not be locked. */
extern bool tier_move_was_busy(const TierMoveReport *report);

/*
 * Moves one relation, a table with its TOAST table; see tier_online_move and tier_relation_move
 * for locks and rights.  Must be called with SPI connected non-atomically and no scope, snapshot
 * or subtransaction open, since it commits: before the move, so that it can be seen, after each
 * attempt, and after the record.  Ordinary errors of the move are caught, recorded and reported;
 * a cancel is recorded, counted and thrown again.  So are errors of the record itself, unless the
 * request is one of many.  If an index is rebuilt concurrently (REINDEX CONCURRENTLY), the new
 * index is moved; it is skipped if the request is decided again (is_wanted). Strings of the
 * report live in the current memory context, which must outlive transactions.
 */
extern TierMoveReport tier_move_one(const TierMoveRequest *request);

/*
 * Returns true if the relation, or a part of it, is elsewhere, so that a move has something to
 * do.  False if it is gone.
 */
extern bool tier_move_is_needed(Oid relation_oid, Oid tablespace_oid);

/*
 * The obstacle if the tier of the target, at this level, would be above the mark with so many
 * more bytes.
 */
extern TierObstacle tier_move_mark_obstacle(TierMoveMark mark, const TierTier *tier,
											const TierFullnessLevel *level, int64 size_bytes);

/* The arguments of the checks that tier_move_one() makes. */
extern TierMoveTarget tier_move_target(const TierMoveRequest *request);

/* The bytes that moves of others have still to write to its file system; a TierAddedBytes. */
extern double tier_move_arriving(const TierTablespace *tablespace, const void *set);

/*
 * Chooses the tablespace of the request again: of those that the tier has at this moment, the one
 * with most room that its requester may use.  Leaves the request unchanged if there is no such
 * tier.  In a transaction, outside of a scope.
 */
extern void tier_move_choose(TierMoveRequest *request, const char *tier_name);

/* Reports a failure, if there was one: in the log for a worker, else as a warning. */
extern void tier_move_warn(const TierMoveReport *report, bool by_worker);

#endif							/* TIER_MOVE_H */
