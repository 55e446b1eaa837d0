/*-------------------------------------------------------------------------
 *
 * catalog/moves.h
 *		Moves, and what came of them.
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

/* A move that begins.  Strings belong to the caller, and are not kept. */
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
	bool		was_paused;		/* which resume() ends: it may begin at once
								 * then */
} TierMoveOutcome;

/*
 * Starts a move's row, or starts the row of the same relation's last move anew,
 * if that had the same target and failed or was skipped; returns its id.  The row
 * says `running`, with the process that calls.  The caller commits before it
 * moves, so that others see it, and so that a crash leaves a row.
 */
extern int64 tier_catalog_begin_move(const TierMoveRow *row);

/*
 * Ends it.  Unless it is done, the backoff until the next attempt is one minute,
 * doubled with each failure in a row, at most one hour.  What was refused for want of
 * room waits for ten minutes at most, and does not count for the doubling of others: to look
 * costs nothing, and nobody tells when there is room.
 */
extern void tier_catalog_finish_move(int64 move_id, const TierMoveOutcome *outcome);

/*
 * Bytes that moves by advice, and those of policies to a faster tier, have copied in this
 * database in the last 24 hours, what
 * came to nothing included, those that are under way counted in full.
 */
extern int64 tier_catalog_bytes_moved_by_advice(void);

/* The last move of a relation that was done, as far as it is recorded. */
typedef struct TierLastMove
{
	Oid			relation_oid;
	int			policy_id;		/* of the tiering policy that asked for it; 0:
								 * somebody else did */
	Oid			from_tablespace_oid;
	NameData	from_tier;		/* by its name then; empty: none */
	Oid			to_tablespace_oid;
	TimestampTz finished_at;
	bool		placed_since;	/* samples have seen that it was elsewhere
								 * after that */
} TierLastMove;

/* Those of these relations that were moved, by OID, in the given context. */
extern TierLastMove *tier_catalog_load_last_moves(MemoryContext context, const Oid *relations,
												  int nrelations, int *n);

typedef struct TierRecentMove
{
	Oid			relation_oid;	/* or of what an index was rebuilt as; may be
								 * gone */
	Oid			to_tablespace_oid;
	TimestampTz finished_at;
} TierRecentMove;

/*
 * What was moved after one time and not after another, in no order; a relation may be there more
 * than once.  Inside of a scope.
 */
extern TierRecentMove *tier_catalog_load_recent_moves(MemoryContext context, TimestampTz since,
													  TimestampTz until, int *n);

/*
 * When these relations were last placed, whoever did it, if that was after `since`; by OID, each
 * once, with no tablespace.  Inside of a scope.
 */
extern TierRecentMove *tier_catalog_load_placed(MemoryContext context, const Oid *relation_oids,
												int nrelations, TimestampTz since, int *n);

/* A number for moves that belong together; never used before, not even if rolled back. */
extern int64 tier_catalog_next_batch(void);

/*
 * The columns of _tiered_storage.move that have the identity of what was moved, for statements and
 * functions; how many; and how it is read from them, in the current context.  What is no index
 * has nulls but for the first.
 */
#define TIER_SQL_INDEX_IDENTITY "table_oid, index_name, definition_hash, other_indexes"
#define TIER_IDENTITY_COLUMNS 5
extern void tier_catalog_read_identity(const Datum *values, const bool *nulls,
									   TierIndexIdentity *identity);

typedef struct TierBatchMove
{
	TierIndexIdentity identity; /* as it was then; see tier_relation_present() */
	Oid			from_tablespace_oid;	/* InvalidOid: it does not exist any
										 * more */
	NameData	from_tablespace;	/* its name then */
	Oid			to_tablespace_oid;	/* may not exist any more */
	int64		batch_id;		/* 0: none */
} TierBatchMove;

/* The moves of a batch that were done, the last one first, in the given context. */
extern TierBatchMove *tier_catalog_load_batch(MemoryContext context, int64 batch_id, int *n);
extern bool tier_catalog_batch_exists(int64 batch_id);

/*
 * Of these relations the moves of one batch, or of one statement: that which has moved any of them
 * last.
 */
extern TierBatchMove *tier_catalog_load_last_call(MemoryContext context, const Oid *relations,
												  int nrelations, int *n);

/*
 * The policies that asked for some of its moves and are still enabled, *n of them:
 * "1, 2", in the given context; NULL: none.  A batch has policies of one kind.
 */
extern char *tier_catalog_policies_of_batch(MemoryContext context, int64 batch_id, int *n,
											TierPolicyKind *kind);

/* The last batch that has undone something of it; 0: none. */
extern int64 tier_catalog_undone_by(int64 batch_id);

/* Deletes the row of a move that turned out not to be needed. */
extern void tier_catalog_forget_move(int64 move_id);

/*
 * Brings the stored state of a relation and its TOAST table up to date after
 * a move, so that the next move finds the tier as full as it is now.  Waits for
 * nobody: rows that a sample has locked are left to the next sample.  Notes when that was
 * in the row of the move, if no later sample will find it.
 */
extern void tier_catalog_note_moved(int64 move_id, Oid relation_oid, Oid tablespace_oid);

/* A relation whose last move came to nothing, and when it is tried again. */
typedef struct TierBackoff
{
	Oid			relation_oid;
	TimestampTz next_attempt_at;
} TierBackoff;

/* Those whose time has not come, by the clock of the moves; by OID, in the given context. */
extern TierBackoff *tier_catalog_load_backoff(MemoryContext context, int *n);

/* OIDs of relations whose moves run, whoever asked for them. */
extern Oid *tier_catalog_load_running(MemoryContext context, int *n);

/* What is stored of a move of the plan (act/plan.h), for the view. */
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

/* No more are stored: nobody reads more, and the table stays small. */
#define TIER_MOST_STORED_MOVES 1000

/* Stores these n in place of what is stored; a row that stays the same is not written. */
extern void tier_catalog_store_plan(const TierStoredMove *moves, int n);

/* How past moves between two places went. */
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
 * A row of move_effect, which has three lives.  Begun, in the transaction that
 * completes the move: the first group is set.  Started, by the first sample
 * after that: the second, too, and the row is open.  Settled, once, by a later
 * sample: either not_measurable or what was measured is set.
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

	/* What came of it. */
	const char *not_measurable; /* why; NULL: it is */
	double		unmoved_s_per_hour; /* this load's cost on the old tier */
	double		measured_s_per_hour;
	bool		by_device;		/* by what the devices did, not by profiles */
} TierEffect;

/*
 * Adds a row for a move that is done, and settles older ones of the relation that
 * are still open as not measurable.
 */
extern void tier_catalog_begin_effect(const TierEffect *effect, TimestampTz now);

/* Open rows of indexes that were rebuilt become those of what is in their place. */
extern void tier_catalog_follow_rebuilt(void);

/* Settles those of these relations that are not where they were moved to. */
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

/* Stores what was measured, or that it is not measurable. */
extern void tier_catalog_settle_effect(const TierEffect *effect, TimestampTz now);

typedef struct TierWorseBatch
{
	int64		batch_id;
	double		predicted_s_per_hour;	/* saved; NaN: unknown */
	double		measured_s_per_hour;
	int			measured_moves;
	int			moves;
} TierWorseBatch;

/* The batches of which nothing is open any more and the verdict is not stored; *n of them. */
extern int64 *tier_catalog_complete_batches(MemoryContext context, int *n);

/*
 * Stores the verdict on such a batch.  True if it has made things worse and can be undone, for
 * the first time; then *worse is set.
 */
extern bool tier_catalog_judge_batch(int64 batch_id, TierWorseBatch *worse);

#endif							/* TIER_CATALOG_MOVES_H */
