/*-------------------------------------------------------------------------
 *
 * tier_move.h
 *		Moving relations: checks before, one transaction each, record after.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOVE_H
#define TIER_MOVE_H

#include "postgres.h"

#include "tier_catalog.h"

/* One relation to move.  The mover knows no policy, only an id to record. */
typedef struct TierMoveRequest
{
	Oid			relation_oid;
	Oid			tablespace_oid;
	Oid			requester_oid;	/* whose rights count */
	int			policy_id;		/* 0: none */
	const char *reason;
	bool		limit_lock_time;	/* heed tiered_storage.move_max_lock_time */
} TierMoveRequest;

typedef enum TierMoveState
{
	TIER_STATE_DONE,
	TIER_STATE_NOT_NEEDED,		/* gone, or there already: nothing to record */
	TIER_STATE_SKIPPED,			/* not tried, or the lock was not granted */
	TIER_STATE_FAILED,			/* tried, and undone by an error */
} TierMoveState;

typedef struct TierMoveReport
{
	TierMoveState state;
	char	   *relation_name;	/* NULL when it was gone from the start */
	char	   *error;			/* NULL when done or not needed */
	char	   *hint;			/* NULL: none */
	char		sqlstate[6];
	int64		size_bytes;
} TierMoveReport;

/*
 * Moves one relation; see tier_relation_move for locks and rights.  Must be
 * called with SPI connected non-atomically and no scope, snapshot or
 * subtransaction open, since it commits: before the move, so that it can be
 * seen, after each attempt, and after the record.  Ordinary errors of the move
 * are caught, recorded and reported; a cancel is recorded and thrown again.
 * Strings of the report live in the current memory context, which must outlive
 * transactions.
 */
extern TierMoveReport tier_move_one(const TierMoveRequest *request, const TierSet *set);

/*
 * Tells the other databases what this one calls its tablespaces.  NULL, or,
 * when another database was first with another name for one of them, a
 * message that says so; then nothing may be moved here.
 */
extern char *tier_move_publish_claims(const TierSet *set);

/* Counts of one run. */
typedef struct TierMigrateSummary
{
	int			due;
	int			moved;
	int			not_moved;		/* skipped or failed */
	int64		moved_bytes;
} TierMigrateSummary;

/*
 * What CALL migrate() and the worker do: evaluates all policies and moves what
 * is due.  With dry_run nothing is changed or committed and each move is a
 * NOTICE.  by_worker limits lock times, respects back-off, and returns without
 * an error when the extension has gone.  between_moves, if not NULL, is called
 * between two relations, with a transaction but nothing else open.  Else as
 * tier_move_one.
 */
extern TierMigrateSummary tier_move_migrate(bool dry_run, bool by_worker,
											void (*between_moves) (void));

#endif							/* TIER_MOVE_H */
