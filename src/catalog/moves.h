/*-------------------------------------------------------------------------
 *
 * catalog/moves.h
 *		Moves and their effects.
 *
 * Part of catalog/tables.h, which says what holds for all of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_MOVES_H
#define TIER_CATALOG_MOVES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "src/catalog/policies.h"
#include "src/catalog/tiers.h"

/* ---------------------------------------------------------------------
 * Moves
 * ---------------------------------------------------------------------
 */

/* A move that begins.  Strings belong to the caller; no pointer to them is kept. */
typedef struct TierMoveRow
{
	Oid			relation_oid;
	const char *relation_name;	/* qualified */
	const char *kind;
	const char *from_tablespace;
	const char *to_tablespace;
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
	const char *from_tier;		/* NULL: none */
	const char *to_tier;		/* NULL: none */
	const char *requested_by;
	int			policy_id;		/* 0: none */
	TierPolicyKind policy_kind; /* if there is one */
	int64		batch_id;		/* 0: none */
	int64		undo_of;		/* the batch that is undone, 0: none */
	double		before_s_per_hour;	/* device time where it is; NaN: unknown */
	double		after_s_per_hour;	/* where it goes; NaN: unknown */
	double		predicted_s_per_hour;	/* that is saved; NaN: unknown */
	const char *reason;
	const char *method;
	int64		size_bytes;
} TierMoveRow;

/* How a move ended.  Strings as above. */
typedef struct TierMoveOutcome
{
	const char *state;			/* done, failed, skipped */
	int			attempts;		/* to get the strong lock */
	double		lock_wait_ms;
	double		lock_held_ms;	/* < 0: never held */
	double		lock_flush_ms;	/* of these, flushing WAL; < 0: unknown */
	int64		copied_bytes;	/* < 0: unknown */
	double		elapsed_ms;
	double		waited_ms;		/* of these: paused, or for a place */
	const char *error;			/* NULL: none */
	const char *sqlstate;		/* NULL: none */
	bool		is_tried_again; /* soon, by the same caller: not a failure yet */
	bool		found_no_room;	/* before anything was copied */
	bool		was_paused;		/* ended by a pause: it may begin at once
								 * after resume() */
} TierMoveOutcome;

/*
 * Starts a move's row, or starts the row of the same relation's last move anew,
 * if that had the same target and failed or was skipped; returns its id.  The row
 * says `running`, with the process that calls.  The caller commits before it
 * moves, so that others see it, and so that a crash leaves a row.
 */
extern int64 tier_catalog_begin_move(const TierMoveRow *row);

/*
 * Ends it.  Unless it is done, the backoff until the next attempt is one minute, doubled with
 * each failure in a row, at most one hour.  A move that was refused for lack of space waits
 * for at most ten minutes, and does not count for the doubling: a check of the space is cheap,
 * and no event signals free space.
 *
 * Records the time of a move in its row if no later sample will detect the move: after
 * tier_catalog_note_moved().
 */
extern void tier_catalog_finish_move(int64 move_id, const TierMoveOutcome *outcome);

/*
 * Bytes that moves by advice, and those of policies to a faster tier, have copied in this
 * database in the last 24 hours.  Includes moves that failed; running moves count in full.
 */
extern int64 tier_catalog_bytes_moved_by_advice(void);

/* The last move of a relation that was done, as far as it is recorded. */
typedef struct TierLastMove
{
	Oid			relation_oid;
	int			policy_id;		/* of the tiering policy that requested it; 0:
								 * requested otherwise */
	Oid			from_tablespace_oid;
	NameData	from_tier;		/* by its name then; empty: none */
	Oid			to_tablespace_oid;
	TimestampTz finished_at;
	bool		placed_since;	/* samples have seen it elsewhere after that */
} TierLastMove;

/* The last moves of these relations, by OID, in the given context. */
extern TierLastMove *tier_catalog_load_last_moves(MemoryContext context, const Oid *relations,
												  int nrelations, int *n);

typedef struct TierRecentMove
{
	Oid			relation_oid;	/* or of the index that has replaced it; may
								 * not exist */
	Oid			to_tablespace_oid;
	TimestampTz finished_at;
} TierRecentMove;

/*
 * Moves between two times, in no order; a relation may occur more than once.  Inside of a
 * scope.
 */
extern TierRecentMove *tier_catalog_load_recent_moves(MemoryContext context, TimestampTz since,
													  TimestampTz until, int *n);

/*
 * When these relations were last placed, by any means, if that was after `since`; by OID, each
 * once, without the tablespace.  Inside of a scope.
 */
extern TierRecentMove *tier_catalog_load_placed(MemoryContext context, const Oid *relation_oids,
												int nrelations, TimestampTz since, int *n);

/* A number for moves that belong together; never used before, not even if rolled back. */
extern int64 tier_catalog_next_batch(void);

/*
 * The columns of _tiered_storage.move with the identity of the moved relation, for statements
 * and functions; their number; and the function that reads them, in the current memory
 * context.  All columns but the first are null unless it is an index.
 */
#define TIER_SQL_INDEX_IDENTITY "table_oid, index_name, definition_hash, other_indexes"
#define TIER_IDENTITY_COLUMNS 5
extern void tier_catalog_read_identity(const Datum *values, const bool *nulls,
									   TierIndexIdentity *identity);

typedef struct TierBatchMove
{
	TierIndexIdentity identity; /* as it was then; see tier_relation_present() */
	Oid			from_tablespace_oid;	/* InvalidOid: it was dropped */
	NameData	from_tablespace;	/* its name then */
	Oid			to_tablespace_oid;	/* may have been dropped */
	int64		batch_id;		/* 0: none */
} TierBatchMove;

/* The moves of a batch that were done, the last one first, in the given context. */
extern TierBatchMove *tier_catalog_load_batch(MemoryContext context, int64 batch_id, int *n);
extern bool tier_catalog_batch_exists(int64 batch_id);

/*
 * The moves of these relations by one batch, or by one statement: the one that has moved any
 * of them last.
 */
extern TierBatchMove *tier_catalog_load_last_call(MemoryContext context, const Oid *relations,
												  int nrelations, int *n);

/*
 * The policies that asked for some of its moves and are still enabled, *n of them:
 * "1, 2", in the given context; NULL: none.  A batch has policies of one kind.
 */
extern char *tier_catalog_policies_of_batch(MemoryContext context, int64 batch_id, int *n,
											TierPolicyKind *kind);

/* The last batch that has undone a move of this batch; 0: none. */
extern int64 tier_catalog_undone_by(int64 batch_id);

/* Deletes the row of a move that turned out not to be needed. */
extern void tier_catalog_forget_move(int64 move_id);

/*
 * Brings the stored state of a relation and its TOAST table up to date after a move, so that
 * the next move sees the current use of the tier.  Never waits: rows that a sample has locked
 * are left to the next sample.
 */
extern void tier_catalog_note_moved(Oid relation_oid, Oid tablespace_oid);

/* A relation whose last move failed or was skipped, and the time of the next attempt. */
typedef struct TierBackoff
{
	Oid			relation_oid;
	TimestampTz next_attempt_at;
} TierBackoff;

/*
 * The relations whose next attempt is not due, by the clock of the moves; by OID, in the given
 * context.
 */
extern TierBackoff *tier_catalog_load_backoff(MemoryContext context, int *n);

/* How often the last move of a relation has failed. */
extern int	tier_catalog_move_failures(Oid relation_oid);

/* OIDs of relations with running moves of any requester. */
extern Oid *tier_catalog_load_running(MemoryContext context, int *n);

/* A move of the plan (act/plan.h) as stored for the view. */
typedef struct TierStoredMove
{
	Oid			relation_oid;
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;	/* 0: none */
	const char *from_tier;		/* NULL: none */
	const char *to_tier;		/* the same */
	int			source;			/* a TierPlanSource */
	int			policy_id;		/* 0: none */
	const char *waits_for;		/* NULL: nothing */
} TierStoredMove;

/* The maximum of stored moves, which keeps the table small. */
#define TIER_MOST_STORED_MOVES 1000

/* Replaces the stored plan by these n moves; unchanged rows are not written. */
extern void tier_catalog_store_plan(const TierStoredMove *moves, int n);

/* Statistics of past moves between two places. */
typedef struct TierMovePace
{
	int			moves;			/* 0: none, and nothing below means anything */
	double		bytes;			/* of all of them */
	double		seconds;		/* of all, without waits for the strong lock */
} TierMovePace;

/*
 * Of the last 100 moves that were done from a tablespace to another one, or between others
 * of their tiers.
 */
extern TierMovePace tier_catalog_move_pace(Oid from_tablespace_oid, Oid to_tablespace_oid);


/* ---------------------------------------------------------------------
 * Effects of moves, see act/verify.h
 * ---------------------------------------------------------------------
 */

/*
 * A row of move_effect, which has three lives.  Begun, in the transaction that completes the
 * move: the first group is set.  Started, by the first sample after that: the second, too, and
 * the row is open.  Settled, once, by a later sample: either not_measurable or the measured
 * values are set.
 */
typedef struct TierEffect
{
	int64		move_id;
	int64		batch_id;		/* 0: none; not loaded */
	Oid			relation_oid;
	Oid			to_tablespace_oid;
	Oid			from_tablespace_oid;	/* by the record of the move; loaded
										 * only */
	double		from_factor;	/* see tier_effect_device_factor; NaN: unknown */

	/* When measuring began, after the move. */
	TimestampTz since;			/* 0: not yet */
	TierEffectTotals before;
	const char *device;			/* NULL: not known */
	TierEffectWork device_before;

	/* Now; loaded only. */
	bool		exists;
	Oid			tablespace_oid;
	bool		is_permanent;
	TimestampTz sampled_since;
	double		size_bytes;		/* with its TOAST table */
	TierEffectTotals after;

	/* The result. */
	const char *not_measurable; /* why; NULL: it is */
	double		unmoved_s_per_hour; /* this load's cost on the old tier */
	double		measured_s_per_hour;
	bool		by_device;		/* by measured device I/O, not by profiles */
} TierEffect;

/*
 * Adds a row for a move that is done, and settles older ones of the relation that
 * are still open as not measurable.
 */
extern void tier_catalog_begin_effect(const TierEffect *effect, TimestampTz now);

/* Assigns open rows of rebuilt indexes to the indexes that have replaced them. */
extern void tier_catalog_follow_rebuilt(void);

/* Settles the open rows of these relations if they are not where they were moved to. */
extern void tier_catalog_settle_gone(const Oid *gone, int ngone, TimestampTz now);

/*
 * At most `most` rows that are open, without the `first` ones of them: started at or
 * before `until`, or else not started yet, or later than that by a clock that went
 * back.  With their strings in the given context.
 */
extern TierEffect *tier_catalog_load_effects(MemoryContext context, bool started,
											 TimestampTz until, int first, int most, int *n);

/* Stores since, before and device_before, or that it is not measurable. */
extern void tier_catalog_start_effect(const TierEffect *effect, TimestampTz now);

/* Stores the measured effect, or the reason why it is not measurable. */
extern void tier_catalog_settle_effect(const TierEffect *effect, TimestampTz now);

typedef struct TierWorseBatch
{
	int64		batch_id;
	double		predicted_s_per_hour;	/* saved; NaN: unknown */
	double		measured_s_per_hour;
	int			measured_moves;
	int			moves;
} TierWorseBatch;

/* The batches without open rows whose verdict is not stored; *n of them. */
extern int64 *tier_catalog_complete_batches(MemoryContext context, int *n);

/*
 * Stores the verdict on such a batch.  True if it has made things worse and can be undone, for
 * the first time; then *worse is set.
 */
extern bool tier_catalog_judge_batch(int64 batch_id, TierWorseBatch *worse);

#endif							/* TIER_CATALOG_MOVES_H */
