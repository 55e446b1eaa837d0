/*-------------------------------------------------------------------------
 *
 * catalog/tables.h
 *		The only code that reads and writes the extension's own tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_H
#define TIER_CATALOG_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/cost.h"
#include "src/model/device_state.h"
#include "src/model/page_writes.h"
#include "src/model/policy.h"
#include "src/model/relation_state.h"
#include "src/model/solver/solver.h"
#include "src/storage/device.h"

#define TIER_EXTENSION_NAME "tiered_storage"

/* Where the tables are; it belongs to the extension.  What users call is elsewhere. */
#define TIER_CATALOG_SCHEMA "_tiered_storage"

/* ---------------------------------------------------------------------
 * Scope
 * ---------------------------------------------------------------------
 */

typedef struct TierCatalogScope
{
	Oid			caller;			/* the user who called; privileges are his */
	int			caller_context;
	int			guc_level;
	bool		entered;
} TierCatalogScope;

typedef enum TierExtensionState
{
	TIER_EXTENSION_ABSENT,
	TIER_EXTENSION_OTHER_VERSION,	/* the SQL objects are not this library's */
	TIER_EXTENSION_PRESENT,
} TierExtensionState;

/*
 * Looks the extension up and locks it (AccessShareLock on the extension
 * object until the end of the transaction), so that it cannot be dropped or
 * updated while this transaction works on its tables.
 */
extern TierExtensionState tier_catalog_extension_state(void);

/*
 * Between enter and leave SPI is connected, a snapshot is active, search_path
 * is pg_catalog, pg_temp and the current user is the owner of the extension,
 * with SECURITY_RESTRICTED_OPERATION and SECURITY_LOCAL_USERID_CHANGE set; what
 * our SQL relies on is as it should be, whatever the session has set, and no
 * lock is waited for longer than 30 seconds.
 * No function of a user may run in between.  An error needs no cleanup: the
 * abort of the (sub)transaction undoes everything.
 *
 * tier_catalog_enter raises an error when the extension is not there in this
 * version; tier_catalog_try_enter returns false instead.  Scopes do not nest.
 */
extern void tier_catalog_enter(TierCatalogScope *scope);
extern bool tier_catalog_try_enter(TierCatalogScope *scope);
extern void tier_catalog_leave(TierCatalogScope *scope);

/* From here to the end of the scope, what others have committed meanwhile is seen. */
extern void tier_catalog_see_latest(void);

/*
 * Runs one statement inside a scope; returns the number of rows.  values may
 * be NULL when nargs is 0; nulls as in SPI (' ' or 'n') or NULL.
 */
extern uint64 tier_catalog_execute(const char *sql, int nargs, const Oid *types,
								   const Datum *values, const char *nulls);

/*
 * The names by which a row of ours finds its relation after a restore.  Raises an
 * error if it has been dropped: nobody keeps it from that.
 */
extern void tier_catalog_names_of(Oid relation_oid, NameData *schema, NameData *relation);

/* A copy in the current context, cut to what a message may take in our tables. */
extern char *tier_catalog_clip(const char *message);

/* Field of the last result; columns count from 1.  Pass-by-reference values
 * live until SPI's next statement or the end of the scope. */
extern Datum tier_catalog_datum(uint64 row, int column, bool *isnull);

/*
 * A column of a table and the field of a struct that it holds.  The type is one
 * of "char", int4, int8, float8, oid and timestamptz.
 */
typedef struct TierColumn
{
	const char *name;
	Oid			type;
	size_t		offset;
	bool		null_if_zero;	/* times that may be unknown */
} TierColumn;

/* The field of `row` as a value of the column; *isnull gets whether it is NULL. */
extern Datum tier_column_get(const void *row, const TierColumn *column, bool *isnull);

/* Stores a value, which is not NULL, in the field of `row`. */
extern void tier_column_set(void *row, const TierColumn *column, Datum value);

/* ---------------------------------------------------------------------
 * Bulk writes: one statement for many rows, as arrays
 * ---------------------------------------------------------------------
 */

typedef struct TierBulk TierBulk;

/*
 * sql takes one array parameter for each column.  Rows are sent in batches of
 * a bounded size as they come.  Lives in the current memory context; use
 * inside one scope.
 */
extern TierBulk *tier_bulk_create(const char *sql, int ncolumns, const Oid *types);
extern void tier_bulk_add(TierBulk *bulk, const Datum *values, const bool *nulls);
extern void tier_bulk_finish(TierBulk *bulk);

/* ---------------------------------------------------------------------
 * Tiers
 * ---------------------------------------------------------------------
 */

#define TIER_MAX_TIERS TIER_SOLVER_MAX_TIERS

typedef struct TierTablespace
{
	Oid			oid;			/* never 0: the default one has its own OID */
	NameData	name;
	int			tier;			/* index into TierSet.tiers */
	bool		discovered;		/* put there by discover_tiers(), by nobody */
	TierDevice *device;
} TierTablespace;

typedef struct TierTier
{
	NameData	name;
	int			rank;
	TierCostProfile profile;
	bool		price_is_assumed;
	bool		compressed;
	double		reserve_fraction;
	double		high_watermark;
	int64		capacity_bytes; /* given, else of the file systems; -1 unknown */
	int64		device_bytes;	/* size of its distinct file systems; -1
								 * unknown */
	int64		free_bytes;		/* of these; -1 unknown */
	double		endurance_tbw;	/* 0: not known */
	double		endurance_dwpd; /* 0: not known */
} TierTier;

/* A compressed tier of which nobody has said how much fits into it. */
#define TIER_PRIOR_COMPRESSION_RATIO 2.0

/* TBW is what manufacturers warrant for five years. */
#define TIER_ENDURANCE_DAYS (5 * 365.25)

/* All tiers by rank, then name; all their tablespaces by OID. */
typedef struct TierSet
{
	int			ntiers;
	TierTier   *tiers;
	int			ntablespaces;
	TierTablespace *tablespaces;
} TierSet;

/*
 * Loads the tiers and looks at their devices; inside a scope.  The result
 * lives in the given context.  Tiers beyond TIER_MAX_TIERS are an error.
 */
extern TierSet *tier_catalog_load_tiers(MemoryContext context);

/* Index of a tier by name, or of a tablespace by OID (never 0); -1: none. */
extern int	tier_set_find_tier(const TierSet *set, const char *name);
extern int	tier_set_tier_of_tablespace(const TierSet *set, Oid tablespace_oid);

/* Index of the tier of that name, or an error. */
extern int	tier_require_tier(const TierSet *set, const char *name);

/*
 * Raises an error unless the current user may create on one of the tier's
 * tablespaces at least; outside of a scope, since it is about the user.
 */
extern void tier_require_tier_rights(const TierSet *set, int tier);

/* The tablespace entry of this OID, or NULL. */
extern const TierTablespace *tier_set_tablespace(const TierSet *set, Oid tablespace_oid);

/* The tablespace of the tier with the most free space, or InvalidOid. */
extern Oid	tier_set_roomiest_tablespace(const TierSet *set, int tier);

/*
 * The same of those that exist, are writable, and that the role may use; if
 * there is none, any of the tier, or InvalidOid.
 */
extern Oid	tier_set_usable_tablespace(const TierSet *set, int tier, Oid role_oid);

/*
 * Brings stored names and OIDs of tablespaces and policies up to date with the
 * cluster (renames, restores), forgets tablespaces that were dropped and moves
 * whose backend is gone; inside a scope.
 */
extern void tier_catalog_refresh_identities(void);

/* ---------------------------------------------------------------------
 * Samples
 * ---------------------------------------------------------------------
 */

/*
 * Loads the stored state of all relations, ordered by OID, and when the last
 * sample was (0: never); inside a scope.
 */
extern TierRelationState *tier_catalog_load_states(MemoryContext context, int *nstates,
												   TimestampTz *last_sample_at);

/*
 * The same for one relation and, of a table, its TOAST table and the index of
 * that; none of those that were never sampled.
 */
extern TierRelationState *tier_catalog_load_unit(MemoryContext context, Oid relation_oid,
												 int *nstates);

/* What a relation did before some moment; rates of which only part is filled in. */
typedef struct TierHistoryLoad
{
	Oid			relation_oid;
	TierRates	rates;			/* *_fast: mean of the day before; *_slow: of
								 * 14 days, as far as known */
} TierHistoryLoad;

/*
 * From the history, ordered by OID; nothing of it is corrected for the page
 * cache.  *writes_since is as tier_catalog_writes_since().  Inside a scope;
 * result in the given context.
 */
extern TierHistoryLoad *tier_catalog_load_history(MemoryContext context, TimestampTz as_of,
												  int *nloads, TimestampTz *writes_since);

/*
 * Keeps two samplers from interleaving: held to the end of the transaction.
 * False when another one has it and has not ended after patience_ms; -1: waits as
 * for any lock.
 */
extern bool tier_catalog_lock_sampler(int patience_ms);

typedef struct TierSampleSummary
{
	TimestampTz sampled_at;
	double		duration_ms;
	int			relations;
	int			active;
	bool		saw_reset;
} TierSampleSummary;

/*
 * Writes what a sample found: states with their `changed` flag set, history
 * rows for those with `active` set, and the summary; deletes `dropped`.
 */
extern void tier_catalog_store_sample(const TierRelationState *states, int nstates,
									  const Oid *dropped, int ndropped,
									  TimestampTz period_start,
									  const TierSampleSummary *summary);

/*
 * Rolls finished hours up, deletes what is older than the retention time or
 * beyond the size limit; inside a scope.  Works once an hour, and returns at
 * once in between.
 */
extern void tier_catalog_maintain_history(TimestampTz now);

/*
 * How far the WAL was looked at (see observe/writes.h); inside a scope.  What is
 * loaded is all zero where nothing is known.  Storing changes the row that
 * tier_catalog_store_sample has written.
 */
extern void tier_catalog_load_writes(TierWritesMemory *memory);
extern void tier_catalog_store_writes(const TierWritesMemory *memory);

/* Since when writes are counted from the WAL, 0: they are not; inside a scope. */
extern TimestampTz tier_catalog_writes_since(void);

/* All relations' rates of writes, which nobody has counted for a while, are 0. */
extern void tier_catalog_forget_write_rates(void);

/* ---------------------------------------------------------------------
 * Devices
 * ---------------------------------------------------------------------
 */

/* What is remembered of devices; inside a scope; result in the given context. */
extern TierDevices *tier_catalog_load_devices(MemoryContext context);

/* Writes those that are present, and forgets the others; inside a scope. */
extern void tier_catalog_store_devices(const TierDevices *devices);

/* ---------------------------------------------------------------------
 * Load
 * ---------------------------------------------------------------------
 */

/*
 * Adds what the database and the server did since the last call to
 * load_history, unless the database was idle: no relation of it active, hardly
 * a transaction; inside a scope.
 */
extern void tier_catalog_sample_load(TimestampTz now_at, bool relations_active);

/*
 * Rolls samples older than raw_retention (an interval as text) up to hours and
 * deletes what is older than retention_min; inside a scope.
 */
extern void tier_catalog_maintain_load(TimestampTz now, const char *raw_retention,
									   int retention_min);

/* ---------------------------------------------------------------------
 * Policies
 * ---------------------------------------------------------------------
 */

typedef struct TierPolicyRow
{
	int			policy_id;
	Oid			relation_oid;	/* InvalidOid: does not exist any more */
	Oid			owner_oid;		/* of the relation; to add only */
	char	   *relation_name;	/* qualified, for messages */
	NameData	tier_name;
	Interval	move_after;
	bool		include_indexes;
	bool		age_from_newest;
	TierKeyConversion key;
	bool		key_counts;		/* units since an epoch; to add only */
	char	   *time_zone;		/* of dates and intervals */
	Oid			created_by;		/* InvalidOid: that role is gone */
} TierPolicyRow;

/* Ordered by policy_id; inside a scope; result in the given context. */
extern TierPolicyRow *tier_catalog_load_policies(MemoryContext context, int *npolicies);

/*
 * Adds a policy for the caller of the scope.  Returns its id; *existed says
 * that relation and tier had one already, whose id is then returned.
 */
extern int	tier_catalog_add_policy(const TierCatalogScope *scope, const TierPolicyRow *row,
									bool *existed);

/* Deletes a policy by id. */
extern void tier_catalog_delete_policy(int policy_id);

/* Records what an evaluation found. */
extern void tier_catalog_policy_evaluated(int policy_id, int due, int on_target,
										  const char *result);

/* ---------------------------------------------------------------------
 * Pins
 * ---------------------------------------------------------------------
 */

/* A relation that has to be on a tier. */
typedef struct TierPinned
{
	Oid			relation_oid;
	NameData	tier_name;
	char	   *pinned_as;		/* qualified name of what was pinned: itself,
								 * its table, or a partitioned table above */
} TierPinned;

/* All that is pinned now, by OID: tables, partitions, indexes. */
typedef struct TierPins
{
	int			nrelations;
	TierPinned *relations;
} TierPins;

/*
 * Loads what the pins in force hold, or only what holds one relation; inside a
 * scope; result in the given context.  Takes no lock on anything of a user.
 */
extern TierPins *tier_catalog_load_pins(MemoryContext context);
extern TierPins *tier_catalog_load_pin_of(MemoryContext context, Oid relation_oid);

/*
 * The pin that keeps the relation from going to a tier (index into the set,
 * -1: none of them), or NULL when there is none.
 */
extern const TierPinned *tier_pins_against(const TierPins *pins, const TierSet *set,
										   Oid relation_oid, int tier);

/* The pin that holds the relation, or NULL. */
extern const TierPinned *tier_pins_find(const TierPins *pins, Oid relation_oid);

typedef struct TierPinRow
{
	Oid			relation_oid;
	Oid			owner_oid;
	char		kind;
	NameData	tier_name;
	TimestampTz until;			/* 0: for ever */
	bool		include_indexes;
} TierPinRow;

/*
 * Sets a pin for the caller of the scope, in place of the one that the
 * relation has.  The caller has brought identities up to date.
 */
extern void tier_catalog_set_pin(const TierCatalogScope *scope, const TierPinRow *row);

/* Removes the pin that a relation has of its own; false: it has none. */
extern bool tier_catalog_remove_pin(Oid relation_oid);

/* The same question; *include_indexes of the pin. */
extern bool tier_catalog_has_pin(Oid relation_oid, bool *include_indexes);

/* ---------------------------------------------------------------------
 * Moves
 * ---------------------------------------------------------------------
 */

typedef struct TierMoveRow
{
	Oid			relation_oid;
	const char *relation_name;	/* qualified */
	const char *kind;
	const char *from_tablespace;
	const char *to_tablespace;
	const char *from_tier;		/* NULL: none */
	const char *to_tier;		/* NULL: none */
	const char *requested_by;
	int			policy_id;		/* 0: none */
	int64		batch_id;		/* 0: none */
	int64		undo_of;		/* the batch that is taken back, 0: none */
	double		before_s_per_hour;	/* device time where it is; NaN: unknown */
	double		after_s_per_hour;	/* where it goes */
	double		predicted_s_per_hour;	/* that is saved */
	const char *reason;
	const char *method;
	int64		size_bytes;
} TierMoveRow;

typedef struct TierMoveOutcome
{
	const char *state;			/* done, failed, skipped */
	int			attempts;
	double		lock_wait_ms;
	double		lock_held_ms;	/* < 0: never held */
	double		lock_flush_ms;	/* of these, flushing WAL; < 0: unknown */
	int64		copied_bytes;	/* < 0: unknown */
	double		elapsed_ms;
	const char *error;			/* NULL: none */
	const char *sqlstate;		/* NULL: none */
} TierMoveOutcome;

/*
 * Starts a move's row, or takes up the row of the same relation's last failed
 * move to the same place; returns its id.  The caller commits before moving.
 */
extern int64 tier_catalog_begin_move(const TierMoveRow *row);

/*
 * Ends it.  A failure sets the time before which migrate does not try again:
 * one minute, doubled with each failure in a row, one hour at most.
 */
extern void tier_catalog_finish_move(int64 move_id, const TierMoveOutcome *outcome);

/*
 * Bytes that moves by advice have copied in this database in the last 24 hours,
 * those that are under way counted in full.
 */
extern int64 tier_catalog_bytes_moved_by_advice(void);

/* A number for moves that belong together. */
extern int64 tier_catalog_next_batch(void);

typedef struct TierBatchMove
{
	Oid			relation_oid;
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
} TierBatchMove;

/*
 * The moves of a batch that were done, the last one first; in the given
 * context.  Those are left out whose tablespaces do not exist any more.
 */
extern TierBatchMove *tier_catalog_load_batch(MemoryContext context, int64 batch_id, int *n);
extern bool tier_catalog_batch_exists(int64 batch_id);

/* Forgets a move that turned out not to be needed. */
extern void tier_catalog_forget_move(int64 move_id);

/*
 * Brings the stored state of a relation and its TOAST table up to date after
 * a move, so that the next move finds the tier as full as it is now.
 */
extern void tier_catalog_note_moved(Oid relation_oid, Oid tablespace_oid);

/* Relations that failed and must not be tried again yet; sorted by OID. */
extern Oid *tier_catalog_load_backoff(MemoryContext context, int *n);

/* ---------------------------------------------------------------------
 * Effects of moves, see act/verify.h
 * ---------------------------------------------------------------------
 */

typedef struct TierEffect
{
	int64		move_id;
	int64		batch_id;		/* 0: none; not loaded */
	Oid			relation_oid;
	Oid			to_tablespace_oid;

	/* As they were when it was moved; prices are not kept. */
	TierCostProfile from_profile;
	TierCostProfile to_profile;
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
 * Remembers a move that is done, and settles older ones of the relation that
 * are still open as not measurable.  All inside a scope.
 */
extern void tier_catalog_begin_effect(const TierEffect *effect, TimestampTz now);

/* Settles those of these relations that are not where they were moved to. */
extern void tier_catalog_settle_gone(const Oid *gone, int ngone, TimestampTz now);

/*
 * Those that are open and were started until then, or were not started yet or,
 * by a clock that went back, later; at most so many, in the given context.
 */
extern TierEffect *tier_catalog_load_effects(MemoryContext context, bool started,
											 TimestampTz until, int most, int *n);

/* Stores since, before and device_before, or that it is not measurable. */
extern void tier_catalog_start_effects(const TierEffect *effects, int n, TimestampTz now);

/* Stores what was measured, or that it is not measurable. */
extern void tier_catalog_settle_effects(const TierEffect *effects, int n, TimestampTz now);

/* Deletes those whose moves are not remembered any more. */
extern void tier_catalog_forget_effects(void);

typedef struct TierWorseBatch
{
	int64		batch_id;
	double		predicted_s_per_hour;	/* saved; NaN: unknown */
	double		measured_s_per_hour;
	int			measured_moves;
	int			moves;
} TierWorseBatch;

/*
 * Notes the verdict on batches of which nothing is open any more, and returns
 * those that have become worse and can be undone; each of them once.
 */
extern TierWorseBatch *tier_catalog_judge_batches(MemoryContext context, int *n);

#endif							/* TIER_CATALOG_H */
