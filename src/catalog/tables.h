/*-------------------------------------------------------------------------
 *
 * catalog/tables.h
 *		The only code that reads and writes the extension's own tables.
 *
 * The story of this room.  Everything that outlives a transaction is in a table
 * in the schema _tiered_storage; the C structs below are copies of rows, which
 * belong to whoever loaded them and are never shared between processes.  Our
 * tables belong to the owner of the extension, and nobody else may write them: a
 * function that a user calls checks the user, and then works on the tables
 * inside a scope, with the owner's rights, a fixed search_path and nothing of
 * the user's executed.  Rows are changed by
 *
 *		sampler, relation_state, relation_history, device_state, load_*
 *					a sample, which holds the sampler's lock to the end of its
 *					transaction; a move updates the relation_state of what it
 *					has moved, if no sample has these rows locked
 *		move, move_effect
 *					the process that moves; a sample measures effects later
 *		policy, pin	sessions, by SQL functions; policies are evaluated by migrate
 *		tier_*		sessions, by SQL functions
 *
 * and by tier_catalog_refresh_identities(), after renames and restores.
 *
 * Statements see the snapshot that was taken on entering; a decision that waited
 * for a lock calls tier_catalog_see_latest() first.  Row locks are taken in the
 * order relation_state, move_effect.
 *
 * Memory.  A scope is a connection to SPI.  After tier_catalog_enter(), and again
 * after each statement, CurrentMemoryContext is SPI's procedure context, which
 * tier_catalog_leave() frees when it returns to the context in which the scope
 * was entered.  So functions that return more than a number take the context in
 * which the result lives, for which callers pass one that they have taken
 * before they entered; what a function does not return is freed with the scope.
 * Unless a comment says otherwise, each function below that is about tables runs
 * inside a scope, runs at least one statement, and raises the errors of SQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_H
#define TIER_CATALOG_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "src/model/compression.h"
#include "src/model/cost.h"
#include "src/model/device_state.h"
#include "src/model/move_window.h"
#include "src/model/page_writes.h"
#include "src/model/policy.h"
#include "src/model/relation_state.h"
#include "src/model/solver/solver.h"
#include "src/model/volume.h"
#include "src/server/relation.h"
#include "src/storage/device.h"

#define TIER_EXTENSION_NAME "tiered_storage"

/* Where the tables are; it belongs to the extension.  What users call is elsewhere. */
#define TIER_CATALOG_SCHEMA "_tiered_storage"

/* ---------------------------------------------------------------------
 * Scope
 * ---------------------------------------------------------------------
 */

/*
 * On the stack of the function that enters.  Set by enter, read by leave; between
 * them only `caller` is of interest to others.
 */
typedef struct TierCatalogScope
{
	Oid			caller;			/* the user whose privileges are to be checked */
	int			caller_context; /* security context to restore */
	int			guc_level;		/* settings of the scope end with it */
	bool		entered;		/* if not, the other fields mean nothing, and
								 * leave does nothing */
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
 * updated while this transaction works on its tables.  Outside of a scope, in a
 * transaction; needs no snapshot.
 */
extern TierExtensionState tier_catalog_extension_state(void);

/*
 * Between enter and leave SPI is connected, a snapshot is active, search_path
 * is pg_catalog, pg_temp and the current user is the owner of the extension,
 * with SECURITY_RESTRICTED_OPERATION and SECURITY_LOCAL_USERID_CHANGE set; what
 * our SQL relies on is as it should be, whatever the session has set, and no
 * lock is waited for longer than 30 seconds.  No function of a user may run in
 * between.  An error needs no cleanup: the abort of the (sub)transaction undoes
 * everything.
 *
 * tier_catalog_enter raises an error when the extension is not there in this
 * version; tier_catalog_try_enter returns false instead.  Scopes do not nest; a
 * scope inside another connection to SPI, such as that of a procedure, is fine.
 */
extern void tier_catalog_enter(TierCatalogScope *scope);
extern bool tier_catalog_try_enter(TierCatalogScope *scope);
extern void tier_catalog_leave(TierCatalogScope *scope);

/*
 * From here to the end of the scope, statements see what others had committed by
 * now.  Does not change CurrentMemoryContext.
 */
extern void tier_catalog_see_latest(void);

/*
 * Runs one statement inside a scope; returns the number of rows.  values may
 * be NULL when nargs is 0; nulls as in SPI (' ' or 'n') or NULL.  Leaves
 * CurrentMemoryContext in SPI's procedure context, whatever it was before.
 */
extern uint64 tier_catalog_execute(const char *sql, int nargs, const Oid *types,
								   const Datum *values, const char *nulls);

/*
 * Field of the last result; rows count from 0, columns from 1.  A value that is
 * passed by reference points into the result: it lives until the next statement,
 * or until the end of the scope.
 */
extern Datum tier_catalog_datum(uint64 row, int column, bool *isnull);

/*
 * Inside a scope: when a prepared transaction of any database was prepared, and
 * its name, in the given context; false: it has ended.  And whether there is any.
 */
extern bool tier_catalog_prepared(MemoryContext context, TransactionId xid, const char **gid,
								  TimestampTz *prepared_at);
extern bool tier_catalog_any_prepared(void);

/*
 * Inside a scope: a publication of this database for all tables, in the given context; NULL:
 * there is none, or it was returned before.
 */
extern char *tier_catalog_new_publication_of_all(MemoryContext context);

/*
 * A copy of a message in the current context, cut after a whole character to the
 * 1000 bytes that one may take in our tables.  Inside a scope or outside.
 */
extern char *tier_catalog_clip(const char *message);

/*
 * What policies and pins store so that they find their relation, tier and roles
 * again after a rename or a restore: names beside OIDs.
 */
typedef struct TierIdentity
{
	NameData	schema;
	NameData	relation;
	NameData	tier;
	NameData	creator;		/* the caller of the scope */
	NameData	owner;			/* of the relation */
} TierIdentity;

/*
 * Fills *identity, and the first six of the values: relation_oid, schema_name,
 * relation_name, system_identifier, database_oid, tier_name.  They point into
 * *identity.  Raises an error if the relation has been dropped: nobody keeps it
 * from that.  Runs no statement.
 */
extern void tier_catalog_identify(const TierCatalogScope *scope, Oid relation_oid, Oid owner_oid,
								  const NameData *tier, TierIdentity *identity, Datum *values);

/* ---------------------------------------------------------------------
 * Columns: structs as rows
 * ---------------------------------------------------------------------
 */

/*
 * A column of a table and the field of a struct that it holds.  The type is one
 * of "char", int4, int8, float8, oid, timestamptz and bytea.  A table has a constant
 * array of these, which says all there is to know about its columns.
 */
typedef struct TierColumn
{
	const char *name;
	Oid			type;
	size_t		offset;			/* of the field in the struct */
	bool		null_if_zero;	/* times that may be unknown */
	size_t		bytes;			/* of the field, bytea only, an array of
								 * float: stored as it is in memory; of
								 * another length, read as zeros */
	bool		is_signed;		/* numbers in it may be negative; any other
								 * that is reads as 0, as do NaN and those
								 * that are too large */
	bool		is_amount;		/* float8 only: of bytes or operations, in all
								 * or in an hour; no square */
} TierColumn;

/*
 * An array of amounts as it is stored, for a field of so many bytes.  What cannot be is 0:
 * what is negative, unless they are signed, as where something may shrink, NaN and what is
 * too large; and all of it, if the stored value has another length.
 */
extern void tier_column_amounts(float *field, size_t bytes, bool is_signed,
								const bytea *stored);

/* Appends "a, b", and "a = EXCLUDED.a, b = EXCLUDED.b". */
extern void tier_columns_append(StringInfo sql, const TierColumn *columns, int ncolumns);
extern void tier_columns_append_update(StringInfo sql, const TierColumn *columns, int ncolumns);

/*
 * Sets the fields of the struct at `row` from a row of the last result, in which
 * the columns begin at first_column (from 1).  A field whose column is NULL
 * stays as it is.  Nothing is allocated.  The owner of the tables can write anything
 * into them, and a file may be damaged: a number that is not finite, or beyond all that
 * can be, is read as 0, as are negative amounts in a bytea where none may be, and a time
 * that is not finite as unknown, or where none may be, as now.
 */
extern void tier_columns_load(void *row, const TierColumn *columns, int ncolumns,
							  uint64 result_row, int first_column);

/* The fields of the struct at `row` as values, in the order of the columns. */
extern void tier_columns_get(const void *row, const TierColumn *columns, int ncolumns,
							 Datum *values, bool *nulls);

/* ---------------------------------------------------------------------
 * Bulk writes: one statement for many rows, as arrays
 * ---------------------------------------------------------------------
 */

typedef struct TierBulk TierBulk;

/*
 * sql takes one array parameter for each column.  It is not copied, nor are values
 * that are passed by reference: both have to stay until finish.  Rows are sent
 * in batches of 1000 as they come, so that add may run a statement, and may
 * leave CurrentMemoryContext in SPI's context.  nulls may be NULL.
 *
 * Lives in the memory context that is current at create; inside one scope.
 * finish sends the rest, and none if there is no row; the bulk ends with it.
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
	bool		discovered;		/* put there by discover_tiers(), not by a
								 * person */
	TierDevice *device;			/* as it was when the set was loaded; never
								 * NULL */
} TierTablespace;

/*
 * A row of tier, and what the file systems beneath its tablespaces said when the
 * set was loaded: device_bytes, free_bytes, device_used_bytes and, unless a person has set it,
 * capacity_bytes.  Nothing of it changes afterwards; free space that must be
 * right is looked up again (see move/space.h).
 */
typedef struct TierTier
{
	NameData	name;
	int			rank;			/* 0: fastest */
	TierCostProfile profile;	/* as defined or calibrated; the endurance per
								 * day is computed from the two below, the
								 * ratio of a compressed tier, unless a person
								 * has set it, by its file systems */
	bool		price_is_assumed;	/* the price is a prior, not a person's */
	bool		compressed;
	double		reserve_fraction;	/* of the capacity, kept free */
	double		high_watermark; /* fractions of the capacity */
	double		low_watermark;
	double		emptied_above;	/* those of its fullness policy, if one is */
	double		emptied_to;		/* enabled; else 0 */
	int64		capacity_bytes; /* given, else of the file systems; -1:
								 * unknown */
	int64		device_bytes;	/* size of its distinct file systems; -1:
								 * unknown */
	int64		free_bytes;		/* of these; -1: unknown */
	int64		device_used_bytes;	/* of these, by everything on them,
									 * without what they reserve; -1: unknown */
	double		endurance_tbw;	/* 10^12 bytes in TIER_ENDURANCE_DAYS; 0: not
								 * known */
	double		endurance_dwpd; /* times device_bytes in a day; 0: not known */
	int64		standby_bytes;	/* the least that a standby's device can hold;
								 * -1: none was told */
	NameData	smallest_standby;	/* whose device makes the capacity what it
									 * is; empty: none */
} TierTier;

/* Manufacturers state TBW for a warranty of usually five years. */
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
 * Loads the tiers and looks at their devices; the set lives in the given
 * context.  Takes no lock on a tablespace.  More than TIER_MAX_TIERS tiers are an
 * error.
 */
extern TierSet *tier_catalog_load_tiers(MemoryContext context);

/* A row of the price list; names are in the context that it was loaded into. */
typedef struct TierVolumeRow
{
	char	   *name;
	char	   *provider;		/* NULL: none is known */
	TierVolume	volume;
} TierVolumeRow;

extern TierVolumeRow *tier_catalog_load_volumes(MemoryContext context, int *n);

/* By tier of a set that was loaded before: the profile's place in the list; -1: it has none. */
extern int *tier_catalog_load_volume_of_tiers(MemoryContext context, const TierSet *set,
											  const TierVolumeRow *volumes, int n);

/*
 * Adds a tier that is not there as the last one, if there may be one more: without name,
 * tablespaces, or anything that is known of it; its figures are not to be used.
 */
extern void tier_set_add_spare(TierSet *set);

/*
 * Where there is one tier: statements that make two of the tablespaces that there are,
 * in the given context; NULL: there is no tablespace for a second one.
 */
extern char *tier_catalog_second_tier_statements(MemoryContext context);

/* Does the tier have this tablespace now? */
extern bool tier_catalog_tier_has(const char *tier_name, Oid tablespace_oid);

/*
 * Waits for those who remove or rename the tier, and keeps it from that until the end of
 * the transaction.  Error: it is gone.
 */
extern void tier_catalog_hold_tier(const NameData *tier_name);

/*
 * What follows works on a set that was loaded, inside a scope or outside of it,
 * runs no statement, and allocates nothing.
 */

/*
 * How many bytes of the tier's files its file systems store in one, as of some seconds ago
 * at most; see tier_cost_ratio_of_files().  Looks at the files of all databases.
 */
extern double tier_set_compression_ratio(const TierSet *set, int tier);

/* What was found of how a relation would compress: the last estimate of it. */
typedef struct TierEstimateRow
{
	Oid			relation_oid;
	NameData	algorithm;
	TimestampTz estimated_at;
	TierCompressionEstimate estimate;
	int64		size_bytes;
	int64		pieces;			/* that it was cut into */
	int64		sampled_pieces; /* and that were compressed */
	bool		counts;			/* of one that was loaded: the relation has
								 * not grown much, or been rewritten, since */
} TierEstimateRow;

/*
 * Keeps estimates, in place of earlier ones that nobody has locked, unless the transaction
 * cannot see what others have committed since it began.  Waits for nobody.
 */
extern void tier_catalog_add_estimates(const TierEstimateRow *rows, int n);

/* The last of each relation and algorithm, by relation, *n of them. */
extern TierEstimateRow *tier_catalog_load_estimates(MemoryContext context, int *n);

/* Removes what later estimates have replaced, and those of relations that are gone. */
extern void tier_catalog_maintain_estimates(void);

/*
 * Bytes, stored, that other databases have of a tier, as of some seconds ago at most, if its
 * capacity is that; 0 where the capacity is that of the file systems, whose free space says
 * it all.  Looks at their files.
 */
extern double tier_set_others_bytes(const TierSet *set, int tier, double capacity_bytes);

/* Is the tier's capacity less than its file systems have, so that the others' bytes count? */
extern bool tier_set_counts_others(const TierSet *set, int tier);

/*
 * Bytes that may be added to its file systems if the tier had this capacity; negative: so much of
 * the reserve is taken.  A capacity beyond the file systems' size is that of larger ones.
 * INFINITY: not known.
 */
extern double tier_set_room_on_disk(const TierSet *set, int tier, double capacity_bytes);

/*
 * Bytes, stored, that relations have of the tier's capacity at this moment, by their files,
 * whether a sample or anybody's catalogs know of them or not: all forks of this database's,
 * temporary ones included, and what other databases have, as above.
 */
extern double tier_set_bytes_now(const TierSet *set, int tier);

/* Index of a tier by its name, or by the OID of a tablespace; -1: none. */
extern int	tier_set_find_tier(const TierSet *set, const char *name);
extern int	tier_set_tier_of_tablespace(const TierSet *set, Oid tablespace_oid);

/* Index of the tier of that name, or an error. */
extern int	tier_require_tier(const TierSet *set, const char *name);

/*
 * Raises an error unless the current user may create on at least one of the
 * tier's tablespaces, or if it has none.  Outside of a scope, in which the
 * current user is another one.
 */
extern void tier_require_tier_rights(const TierSet *set, int tier);

/* The tablespace entry of this OID, or NULL. */
extern const TierTablespace *tier_set_tablespace(const TierSet *set, Oid tablespace_oid);

/* The tablespace of the tier with the most free space, or InvalidOid. */
extern Oid	tier_set_roomiest_tablespace(const TierSet *set, int tier);

/* Does it exist, is it writable, and may the role create something there? */
extern bool tier_set_may_use_tablespace(const TierTablespace *tablespace, Oid role_oid);

/*
 * The same of those that exist, are writable, and that the role may use; if
 * there is none, any of the tier, or InvalidOid.
 */
extern Oid	tier_set_usable_tablespace(const TierSet *set, int tier, Oid role_oid);

/*
 * Why nothing can be put on the tier, in words after its name ("has no tablespace"), a
 * constant; NULL: it has a tablespace that is there and can be written to.
 */
extern const char *tier_set_why_closed(const TierSet *set, int tier);

/*
 * Brings stored names and OIDs of tablespaces, policies and pins up to date with
 * the cluster (renames, restores), deletes tablespaces that were dropped, and
 * records moves as failed whose process has ended.  Locks the rows that it
 * changes to the end of the transaction.
 */
extern void tier_catalog_refresh_identities(void);

/* ---------------------------------------------------------------------
 * Samples
 * ---------------------------------------------------------------------
 */

/*
 * The relation $1 and, of a table, its TOAST table and the index of that: the
 * relations that move together.  For statements of this room.
 */
#define TIER_SQL_UNIT_OF_RELATION \
	"(SELECT $1 UNION SELECT h.reltoastrelid FROM _tiered_storage.relation_entry($1) h " \
	"UNION SELECT i.indexrelid FROM pg_catalog.pg_index i, _tiered_storage.relation_entry($1) h " \
	"WHERE i.indrelid = h.reltoastrelid)"

/*
 * Loads the stored state of all relations, ordered by OID, and when the last
 * sample was taken (0: never).  Fields that are not stored are 0.  The array may
 * exceed 1 GB.
 */
extern TierRelationState *tier_catalog_load_states(MemoryContext context, int *nstates,
												   TimestampTz *last_sample_at);

/*
 * The same for one relation and, of a table, its TOAST table and the index of
 * that; none of those that were never sampled.
 */
extern TierRelationState *tier_catalog_load_unit(MemoryContext context, Oid relation_oid,
												 int *nstates);

/* The bytes of all relations of which anything was read since they are observed. */
extern double tier_catalog_read_bytes(void);

/* The same for the table that it is, or is an index of, and all indexes of that. */
extern TierRelationState *tier_catalog_load_table(MemoryContext context, Oid relation_oid,
												  int *nstates);

/* What a relation did before some moment.  The other rates are 0. */
typedef struct TierHistoryLoad
{
	Oid			relation_oid;
	TierRates	rates;			/* per hour; *_fast: mean of the day before;
								 * *_slow: of 14 days, as far as known */
} TierHistoryLoad;

/*
 * From the history, ordered by OID; nothing of it is corrected for the page
 * cache, so that what reached the device is taken to be all that missed shared
 * buffers.  *writes_since is as tier_catalog_writes_since().
 */
extern TierHistoryLoad *tier_catalog_load_history(MemoryContext context, TimestampTz as_of,
												  int *nloads, TimestampTz *writes_since);

/* When the oldest period of the history of relations began; 0: there is none. */
extern TimestampTz tier_catalog_history_begin(void);

/* A relation of which there is a state, and since when its history would be known. */
typedef struct TierWatched
{
	Oid			relation_oid;
	TimestampTz since;			/* its first sample, or begin of the history */
} TierWatched;

/*
 * All relations that exist and have a state, or this one if it does, by qualified
 * name.  *last_sample_at is set if there is any.
 */
extern TierWatched *tier_catalog_load_watched(MemoryContext context, Oid only_relation,
											  int *nwatched, TimestampTz *last_sample_at);

/* A row of relation_history. */
typedef struct TierHistoryPeriod
{
	Oid			relation_oid;
	TimestampTz start;
	int32		seconds;
	double		reads;			/* random and sequential ones */
} TierHistoryPeriod;

typedef void (*TierVisitHistory) (void *argument, const TierHistoryPeriod *period);

/*
 * Calls visit for each row, of all relations or one, in any order.  It is called
 * while the statement runs, in a memory context of the executor that is not its own;
 * it must not run a statement.
 */
extern void tier_catalog_visit_history(Oid only_relation, TierVisitHistory visit,
									   void *argument);

/* The same for rows of these relations that begin at that time or later. */
extern void tier_catalog_visit_history_since(const Oid *relations, int nrelations,
											 TimestampTz since, TierVisitHistory visit,
											 void *argument);

/*
 * Keeps two samplers from interleaving: locks the table sampler in SHARE UPDATE
 * EXCLUSIVE mode to the end of the transaction.  False if another process still
 * has the lock after patience_ms, of which nobody else waits behind us; -1: waits
 * as for any lock.  What was loaded before may be out of date: call
 * tier_catalog_see_latest() and load after this.  Runs no statement.
 */
extern bool tier_catalog_lock_sampler(int patience_ms);

typedef struct TierSampleSummary
{
	TimestampTz sampled_at;
	double		duration_ms;	/* until the sample was stored */
	int			relations;		/* that were looked at */
	int			active;			/* of these, used since the last sample */
	bool		saw_reset;		/* counters were reset meanwhile */
} TierSampleSummary;

/*
 * Writes what a sample found: states with their `changed` flag set, history
 * rows for those that were read or have written, and the summary; deletes the
 * states of `dropped`.  period_start: when the last sample was, 0: this is the
 * first, which has no history.  Under the sampler's lock.
 */
extern void tier_catalog_store_sample(const TierRelationState *states, int nstates,
									  const Oid *dropped, int ndropped,
									  TimestampTz period_start,
									  const TierSampleSummary *summary);

/* From the first to before the second; a row belongs to the hour in which it begins. */
typedef struct TierHours
{
	TimestampTz from;
	TimestampTz until;
} TierHours;

/*
 * For the statements that roll a table of history up.  Parameters are hours->from and
 * hours->until.  What is longer than an hour is as coarse already, and left alone; what
 * reaches into the next hour is split there in proportion: the first part gets a whole
 * number, and the second what is left, so that sums stay what they are.
 */
#define TIER_SQL_RAW_PARTS(table) \
	"WITH raw AS (DELETE FROM _tiered_storage." table " WHERE period_s <= 3600 " \
	"AND period_start >= $1 AND period_start < $2 RETURNING *) "

#define TIER_SQL_FROM_PARTS \
	"FROM raw h CROSS JOIN LATERAL (SELECT " \
	"h.period_start + h.period_s * interval '1 second' AS period_end, " \
	"date_trunc('hour', h.period_start) + interval '1 hour' AS hour_end) e " \
	"CROSS JOIN LATERAL (SELECT _tiered_storage.period_share(h.period_start, h.period_s, " \
	"h.period_start, e.hour_end) AS share) s " \
	"CROSS JOIN LATERAL (SELECT h.period_start AS starts, " \
	"least(e.period_end, e.hour_end) AS ends, false AS is_rest " \
	"UNION ALL SELECT e.hour_end, e.period_end, true WHERE e.period_end > e.hour_end) p "

#define TIER_SQL_PART_SUM(column) \
	"sum(CASE WHEN s.share >= 1 THEN h." column " " \
	"WHEN p.is_rest THEN h." column " - (h." column " * s.share)::int8 " \
	"ELSE (h." column " * s.share)::int8 END)::int8"

/* A row of history that has nothing to say of what came after a moment. */
#define TIER_SQL_ENDED_BEFORE(moment) \
	"period_start < " moment " AND period_start + period_s * interval '1 second' <= " moment

/*
 * No row of relation_history that reaches beyond a moment begins before this: the last
 * sample that began earlier, or another relation's part of the same hour.
 */
#define TIER_SQL_FIRST_PERIOD(moment) \
	"COALESCE((SELECT max(b.period_start) FROM _tiered_storage.relation_history b " \
	"WHERE b.period_start < " moment ") - interval '1 hour', " moment ")"

/* Which statistics samples have read, and since when no count can have been lost. */
typedef struct TierCountsOrigin
{
	TimestampTz since;			/* 0: not known */
	TimestampTz lost_at;		/* when counts of more than an hour were lost
								 * last; 0: they never were */
	TimestampTz ahead_until;	/* the clock was set back, and has been at
								 * this time before; 0: it was not, or has
								 * reached it again */
	int64		system_identifier;
	int			timeline;
} TierCountsOrigin;

/* As of the last sample; all zero before the first one. */
extern TierCountsOrigin tier_catalog_load_counts_origin(void);

/* Changes the row that tier_catalog_store_sample has written; under the sampler's lock. */
extern void tier_catalog_store_counts_origin(const TierCountsOrigin *origin);

/*
 * Rolls finished hours up, deletes what is older than the retention time or
 * beyond the size limit, in the history of relations, of the load and of moves.
 * Works once an hour, and returns at once in between.  Under the sampler's lock.
 */
extern void tier_catalog_maintain_history(TimestampTz now);

/*
 * How far the WAL was read (see observe/writes.h).  What is loaded is all zero
 * where nothing is known; it is a struct without pointers.  Storing changes the
 * row that tier_catalog_store_sample has written; under the sampler's lock.
 */
extern void tier_catalog_load_writes(TierWritesMemory *memory);
extern void tier_catalog_store_writes(const TierWritesMemory *memory);

/* Since when writes are counted from the WAL; 0: they are not. */
extern TimestampTz tier_catalog_writes_since(void);

/* Sets all relations' rates of writes to 0: nobody has counted for a while. */
extern void tier_catalog_forget_write_rates(void);

/* ---------------------------------------------------------------------
 * Devices
 * ---------------------------------------------------------------------
 */

/*
 * The stored state of all devices, by name.  The array and all that it points to
 * live in the given context, in which it can grow by repalloc.
 */
extern TierDevices *tier_catalog_load_devices(MemoryContext context);

/* Writes those that are present and deletes the others; under the sampler's lock. */
extern void tier_catalog_store_devices(const TierDevices *devices);

/* ---------------------------------------------------------------------
 * Growth
 * ---------------------------------------------------------------------
 */

/* What is known of one tablespace; only the growth of the evidence is used. */
typedef struct TierTablespaceGrowth
{
	Oid			tablespace_oid;
	TierEvidence evidence;		/* changed by tier_growth_observe() */
	int64		change;			/* bytes since the last sample; not stored */
	bool		changed;		/* to be stored */
} TierTablespaceGrowth;

typedef struct TierGrowths
{
	int			ntablespaces;
	TierTablespaceGrowth *tablespaces;
} TierGrowths;

/*
 * All that is stored, in the given context, in which the array can grow by
 * repalloc.
 */
extern TierGrowths *tier_catalog_load_growths(MemoryContext context);

/*
 * Writes those that have changed, and forgets tablespaces that are gone; under the
 * sampler's lock.
 */
extern void tier_catalog_store_growths(const TierGrowths *growths);

/* ---------------------------------------------------------------------
 * Load
 * ---------------------------------------------------------------------
 */

/*
 * Adds to load_history what the database and the server did since the last call,
 * unless the database was idle: no relation active, and at most ten transactions.
 * Under the sampler's lock.
 */
extern void tier_catalog_sample_load(TimestampTz now_at, bool relations_active);

/*
 * What the clients of this database do with their time, by looks at what they wait for:
 * client-seconds per hour of the last day that was sampled.  peak is how many are active
 * at once, on average in the busiest hour of the last 14 days.  0 of all, if nobody
 * has looked for long enough.
 */
typedef struct TierClientTime
{
	double		peak;
	double		active_s;		/* of all that follows, and of other waits */
	double		device_s;		/* waiting for files of relations */
	double		processor_s;	/* in no wait */
	double		wal_s;			/* waiting for WAL */
	double		temp_s;			/* for temporary files */
	double		lock_s;			/* for each other */
} TierClientTime;

/* As it was at until; 0: at the last sample. */
extern TierClientTime tier_catalog_client_time(TimestampTz until);

/*
 * Rolls these hours of the load's history up, and deletes what is older than
 * retention_min minutes.  Under the sampler's lock.
 */
extern void tier_catalog_maintain_load(TimestampTz now, const TierHours *hours,
									   int retention_min);

/*
 * Adds to file_history what has been read and written since the last call, by class and
 * place of files; what was not counted is null there.  Under the sampler's lock.
 */
extern void tier_catalog_sample_files(TimestampTz now_at);

/* As tier_catalog_maintain_load() does with the load's. */
extern void tier_catalog_maintain_files(TimestampTz now, const TierHours *hours,
										int retention_min);

/* ---------------------------------------------------------------------
 * Policies
 * ---------------------------------------------------------------------
 */

/* What a policy moves by.  One number means one policy, whatever its kind. */
typedef enum TierPolicyKind
{
	TIER_POLICY_TIERING,
	TIER_POLICY_FULLNESS,
} TierPolicyKind;

typedef struct TierPolicyRow
{
	int			policy_id;
	Oid			relation_oid;	/* InvalidOid: does not exist any more; or the
								 * policy is on a group of tables */
	Oid			owner_oid;		/* of the relation, as far as it was seen;
								 * InvalidOid: that of another cluster */
	char	   *relation_name;	/* qualified, for messages; loaded only */
	bool		is_group;		/* on all tables of a schema, or with such
								 * names, that no other policy is on */
	bool		has_schema;		/* if so: only of this one */
	Oid			schema_oid;		/* if it has one; InvalidOid: does not exist */
	char	   *names_like;		/* NULL: whatever their names */
	bool		on_shards;		/* the rows of the relation are in shards of
								 * Citus: it is on those that are here; set by
								 * decide/policy_group.c */
	struct TierGroup *group;	/* of a group, and of shards: the tables, as
								 * found by decide/policy_group.c; else NULL */
	char		relation_kind;	/* to add */
	NameData	tier_name;
	bool		has_move_after;
	Interval	move_after;
	bool		has_idle_for;
	Interval	idle_for;
	bool		has_no_writes_for;
	Interval	no_writes_for;
	double		below_reads_per_hour;	/* NaN: they do not matter */
	double		return_reads_per_hour;	/* NaN: nothing returns */
	bool		has_return_after;
	Interval	return_after;	/* if not the default */
	bool		has_return_tier;
	NameData	return_tier;	/* if not where it came from */
	bool		include_indexes;
	bool		has_index_tier;
	NameData	index_tier;		/* if not that of the table */
	bool		has_new_partitions_on;
	NameData	new_partitions_on;	/* the tier that they are created on */
	bool		age_from_newest;	/* from the newest partition, not from now */
	TierKeyConversion key;
	bool		key_counts;		/* units since an epoch; to add only */
	char	   *time_zone;		/* of dates and intervals */
	Oid			created_by;		/* or altered; InvalidOid: that role is gone */
	bool		is_enabled;		/* loaded, and to change */
} TierPolicyRow;

/* Ordered by policy_id; strings, too, are in the given context. */
extern TierPolicyRow *tier_catalog_load_policies(MemoryContext context, int *npolicies);

/*
 * At least those of this number (0: any) and of this relation (0: any), which a restored policy
 * knows by its name; with thousands of policies that is much less.
 */
extern TierPolicyRow *tier_catalog_load_policies_of(MemoryContext context, int policy_id,
													Oid relation_oid, int *npolicies);

/*
 * Adds a policy for the caller of the scope.  Returns its id; *existed says
 * that relation and tier had one already, whose id is then returned.  Errors:
 * the relation was dropped; another session adds the same policy at this moment.
 */
extern int	tier_catalog_add_policy(const TierCatalogScope *scope, const TierPolicyRow *row,
									bool *existed);

/*
 * Gives the policy with the id of the row what the row has, and the rights of the
 * caller of the scope.  False: it has been removed.  Error: the relation has a policy
 * for that tier already.
 */
extern bool tier_catalog_change_policy(const TierCatalogScope *scope, const TierPolicyRow *row);

/* Waits until nobody else changes the policy, until the end of the transaction. */
extern void tier_catalog_lock_policy(int policy_id);

/*
 * Waits until nobody else has a policy of the relation say where new partitions are created,
 * until the end of the transaction: no key forbids two that differ.  And then: another policy
 * of the relation that says otherwise than this one, and what; 0: none, whatever this
 * transaction's isolation level lets others see.
 */
extern void tier_catalog_lock_new_partitions(Oid relation_oid);
extern int	tier_catalog_other_new_partitions(const TierPolicyRow *row, NameData *tier);

/* Enables or disables a policy by id, whose rights stay the same.  False: as above. */
extern bool tier_catalog_enable_policy(int policy_id, bool enabled);

/*
 * Is the policy still there, enabled and unaltered, with the rights of the same role; does
 * the tier, which is its own, that of its indexes or one to which something returns, have
 * this tablespace; and is the relation still in its table's tree?  Which tables a group has,
 * and which shards a table, is not asked: see tier_groups_find_above().
 */
extern bool tier_catalog_policy_wants(const TierPolicyRow *policy, Oid leaf_oid,
									  const NameData *tier, Oid tablespace_oid);

/* Deletes a policy by id.  False: somebody else has. */
extern bool tier_catalog_delete_policy(int policy_id);

/*
 * Records what an evaluation found: how many relations are due, how many are on
 * the tier already.  Nothing, if somebody has the row locked.
 */
extern void tier_catalog_policy_evaluated(int policy_id, int due, int on_target,
										  const char *result);

/* ---------------------------------------------------------------------
 * New partitions (catalog/partition_default.c)
 * ---------------------------------------------------------------------
 */

/* Of a partitioned table or index; tablespaces are never 0 for the database's own. */
typedef struct TierPartitionDefault
{
	Oid			relation_oid;
	Oid			before_oid;		/* what it was before any policy */
	Oid			set_oid;		/* what it was set to; 0: that is gone */
} TierPartitionDefault;

/* Those whose relation is there, by its OID, in the given context. */
extern TierPartitionDefault *tier_catalog_load_partition_defaults(MemoryContext context, int *n);

/*
 * In place of what is remembered of the relation; or only if nothing is, and it still has the
 * tablespace that was set.
 */
extern void tier_catalog_note_partition_default(const TierPartitionDefault *row);
extern void tier_catalog_note_new_default(const TierPartitionDefault *row);

/*
 * Whatever is remembered; or only if it is just that, and what the relation is below is
 * forgotten; or that the relation has got back what it had.  What was created below it
 * meanwhile, and has its tablespace from there, is remembered by itself.
 */
extern void tier_catalog_forget_partition_default(Oid relation_oid);
extern void tier_catalog_forget_unchanged_default(const TierPartitionDefault *row);
extern void tier_catalog_note_given_back(const TierPartitionDefault *row);

/* ---------------------------------------------------------------------
 * Move windows (catalog/move_window.c)
 * ---------------------------------------------------------------------
 */

/* delay_us of the window is 0: who loads it knows where that is. */
typedef struct TierMoveWindowRow
{
	NameData	name;
	TierWindow	window;
	int64		jitter_us;
	char	   *time_zone;		/* this server may not have it */
	bool		is_enabled;
} TierMoveWindowRow;

/* All of them, by name, in the given context. */
extern TierMoveWindowRow *tier_catalog_load_move_windows(MemoryContext context, int *n);

/* Bytes of moves that run, or were begun in the last seconds, whoever asked for them. */
extern double tier_catalog_bytes_moved_within(double seconds);

/* ---------------------------------------------------------------------
 * Fullness policies
 * ---------------------------------------------------------------------
 */

typedef struct TierFullnessRow
{
	int			policy_id;
	NameData	tier_name;
	NameData	target_name;
	double		high_watermark; /* NaN: that of the tier */
	double		low_watermark;
	bool		is_enabled;
} TierFullnessRow;

/* Ordered by policy_id, in the given context. */
extern TierFullnessRow *tier_catalog_load_fullness(MemoryContext context, int *n);

/*
 * Adds one for the caller of the scope.  Returns its id; *existed says that the tier
 * had one already, whose id is then returned.  Errors: a tier was removed; another
 * session adds one for this tier at this moment.
 */
extern int	tier_catalog_add_fullness(const TierCatalogScope *scope, const TierFullnessRow *row,
									  bool *existed);

/* Waits until nobody else changes it, until the end of the transaction. */
extern void tier_catalog_lock_fullness(int policy_id);

/*
 * Gives the policy with the id of the row what the row has; it is the caller's of the
 * scope then, unless he only disables it.  False: it has been removed.
 */
extern bool tier_catalog_change_fullness(const TierCatalogScope *scope,
										 const TierFullnessRow *row, bool disables_only);

/* Deletes one by id.  False: somebody else has. */
extern bool tier_catalog_delete_fullness(int policy_id);

/* Is it still there, enabled and unaltered? */
extern bool tier_catalog_fullness_wants(const TierFullnessRow *row);

/*
 * Records what an evaluation found; fill: NaN if it is not known.  Nothing, if somebody
 * has the row locked.
 */
extern void tier_catalog_fullness_evaluated(int policy_id, double fill, int leaving,
											const char *result);

/* ---------------------------------------------------------------------
 * Standbys (catalog/standby.c)
 * ---------------------------------------------------------------------
 */

/*
 * Takes what was pulled from standbys since the last sample out of
 * standby_reads and puts it into period.standby of the states, which are
 * ordered by OID; under the sampler's lock.  What belongs to none of them is
 * dropped.  Does not change CurrentMemoryContext.
 */
extern void tier_catalog_take_standby_reads(TierRelationState *states, int nstates);

/* What standbys whose reads count have told of them. */
typedef struct TierStandbyUse
{
	TimestampTz known_since;	/* when the last of them was added; 0: none */
	const char *silent;			/* one that has not told lately, and since
								 * when, in words; NULL: none */
	Oid		   *read;			/* sorted: read there since the last sample */
	int			nread;
} TierStandbyUse;

/* Strings in the given context.  Lately: within so many seconds. */
extern TierStandbyUse tier_catalog_load_standby_use(MemoryContext context, double lately_s);

/* What a standby says of the directory of a tablespace there, or why it does not. */
typedef struct TierStandbyRoom
{
	char	   *standby_name;
	char	   *problem;		/* NULL: the rest means something */
	Oid			tablespace_oid;
	char	   *path;
	bool		path_exists;
	bool		writable;
	double		free_bytes;		/* negative: not known; total_bytes, too */
	double		total_bytes;
	char	   *looked_at;		/* of what a pull was told: when; else NULL */
} TierStandbyRoom;

extern bool tier_catalog_has_standbys(void);

/*
 * How many standbys replay what this server sends them beyond those that were added, and the
 * name of one that is not called like any of these; NULL, and 0: there are no more.  One that
 * replays from another standby is not seen.
 */
extern char *tier_catalog_unknown_standby(MemoryContext context, int *n);

/*
 * Asks all standbys for these tablespaces; that takes some seconds at most, but for what a
 * foreign server has as its connect_timeout.  By standby; strings in the given context.
 */
extern TierStandbyRoom *tier_catalog_standby_rooms(MemoryContext context, const Oid *tablespaces,
												   int ntablespaces, int *nrooms);

/*
 * What each standby has told of the tablespace at the last pull, in the given context; nobody
 * is asked.  Free bytes are without what this database has moved there since, or is moving
 * there in other sessions.  A directory that is of no use does not exist.
 */
extern TierStandbyRoom *tier_catalog_known_standby_rooms(MemoryContext context,
														 Oid tablespace_oid, int *nrooms);

/* Which part of a relation's reads on standbys one of them has. */
typedef struct TierStandbyReads
{
	Oid			relation_oid;
	int			standby;		/* index into the names */
	double		share;
} TierStandbyReads;

/* Standbys of whose devices something was told, and what is read there. */
typedef struct TierStandbyDevices
{
	int			n;
	NameData   *names;
	TierCostProfile *profiles;	/* [tier * n + standby] */
	int			nreads;
	TierStandbyReads *reads;	/* by relation */
} TierStandbyDevices;

extern TierStandbyDevices tier_catalog_load_standby_devices(MemoryContext context,
															const TierSet *set);

/* Pulls the counters of the standbys whose time has come, if there are any. */
extern void tier_catalog_pull_standbys(void);

/* Adds a standby for a role that may; nulls as in tier_catalog_execute(). */
extern void tier_catalog_add_standby(const Datum *name_server_connection, const char *nulls,
									 Oid added_by_oid);

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
 * Loads what the pins in force hold, or only what holds one relation.  The pins
 * and their strings live in the given context.  Takes no lock on anything of a
 * user.
 */
extern TierPins *tier_catalog_load_pins(MemoryContext context);
extern TierPins *tier_catalog_load_pin_of(MemoryContext context, Oid relation_oid);

/*
 * The pin that keeps the relation from going to a tier (index into the set,
 * -1: none of them), or NULL when there is none.  Inside a scope or outside; the
 * result points into the pins.
 */
extern const TierPinned *tier_pins_against(const TierPins *pins, const TierSet *set,
										   Oid relation_oid, int tier);

/* The same for whichever tier. */
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
 * relation has.  The caller has brought identities up to date.  Error: the
 * relation was dropped.
 */
extern void tier_catalog_set_pin(const TierCatalogScope *scope, const TierPinRow *row);

/* Removes the pin that a relation has of its own; false: it has none. */
extern bool tier_catalog_remove_pin(Oid relation_oid);

/* Has it one?  *include_indexes is set if it has. */
extern bool tier_catalog_has_pin(Oid relation_oid, bool *include_indexes);

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
 * doubled with each failure in a row, at most one hour.
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
 * When relations, of these, were placed last, by whomever, if that was after `since`; by OID, each
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
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
} TierBatchMove;

/*
 * The moves of a batch that were done, the last one first, in the given context;
 * without those whose tablespaces do not exist any more.
 */
extern TierBatchMove *tier_catalog_load_batch(MemoryContext context, int64 batch_id, int *n);
extern bool tier_catalog_batch_exists(int64 batch_id);

/*
 * The policies that asked for some of its moves and are still enabled, *n of them:
 * "1, 2", in the given context; NULL: none.  A batch has policies of one kind.
 */
extern char *tier_catalog_policies_of_batch(MemoryContext context, int64 batch_id, int *n,
											TierPolicyKind *kind);

/* The last batch that has undone something of it; 0: none. */
extern int64 tier_catalog_undone_by(int64 batch_id);

/* Is anything where this batch has put it? */
extern bool tier_catalog_can_undo(int64 batch_id);

/* Deletes the row of a move that turned out not to be needed. */
extern void tier_catalog_forget_move(int64 move_id);

/*
 * Brings the stored state of a relation and its TOAST table up to date after
 * a move, so that the next move finds the tier as full as it is now.  Waits for
 * nobody: rows that a sample has locked are left to the next sample.
 */
extern void tier_catalog_note_moved(Oid relation_oid, Oid tablespace_oid);

/* Relations whose last move failed and whose backoff has not ended; sorted by OID. */
extern Oid *tier_catalog_load_backoff(MemoryContext context, int *n);

/* A move that runs, whoever asked for it (catalog/move_queue.c). */
typedef struct TierRunningMove
{
	Oid			relation_oid;
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
	double		bytes;
	int			policy_id;		/* 0: none */
	TierPolicyKind policy_kind; /* if there is one */
	bool		is_advised;
	int			failures;		/* of tries before */
	char	   *phase;			/* see move_progress */
	char	   *blocks;			/* "10 of 100 blocks"; NULL: not known */
} TierRunningMove;

/* In the order in which they began; a crash has left nothing among them. */
extern TierRunningMove *tier_catalog_load_running_moves(MemoryContext context, int *n);

/* A relation whose last move came to nothing. */
typedef struct TierFailedMove
{
	Oid			relation_oid;
	int			failures;		/* in a row; 0: what it waited for was none */
	TimestampTz next_attempt_at;	/* 0: any time */
	bool		backs_off;		/* until then, by the clock of the moves */
	char	   *error;			/* NULL: none */
} TierFailedMove;

/* By OID, in the given context. */
extern TierFailedMove *tier_catalog_load_failed_moves(MemoryContext context, int *n);

/* For how long the last move of a relation had to wait for others. */
typedef struct TierMoveWait
{
	Oid			relation_oid;
	double		seconds;
} TierMoveWait;

/*
 * By OID; of a move that others have kept from being made all of its time, of others
 * what it waited for the strong lock.  Relations that waited for nobody are left out.
 */
extern TierMoveWait *tier_catalog_load_move_waits(MemoryContext context, int *n);

/* How past moves between two places went. */
typedef struct TierMovePace
{
	int			moves;			/* 0: none, and nothing below means anything */
	double		bytes;			/* of all of them */
	double		seconds;		/* of all, without waits for the strong lock */
	double		lock_held_ms;	/* of these half held it for no longer;
								 * negative: none was online */
	double		longest_lock_ms;
} TierMovePace;

/*
 * Of the last 100 moves that were done from a tablespace to another one, or between others
 * of their tiers.
 */
extern TierMovePace tier_catalog_move_pace(Oid from_tablespace_oid, Oid to_tablespace_oid);

/*
 * The relation, of these, that was moved last, if that was after `since`; and when.  False:
 * none of them was, as far as samples have seen and moves are recorded.
 */
extern bool tier_catalog_last_placed(const Oid *relation_oids, int n, TimestampTz since,
									 Oid *relation_oid, TimestampTz *placed_at);

/* A table whose index-only scans have to look into it. */
typedef struct TierUnvacuumed
{
	Oid			relation_oid;
	char	   *name;			/* qualified and quoted */
	double		visible_fraction;	/* of its pages, known to be all visible */
} TierUnvacuumed;

/*
 * Those of the tables, of at least so many pages, that have index-only scans by
 * their statistics and less than half of their pages marked as all visible, as of
 * their last vacuum or analyze.  By OID, each once.
 */
extern TierUnvacuumed *tier_catalog_load_unvacuumed(MemoryContext context, const Oid *tables,
													int ntables, double least_pages, int *n);

/* ---------------------------------------------------------------------
 * Who reads the server's WAL (catalog/wal_readers.c): not on a standby
 * ---------------------------------------------------------------------
 */

/* Replication slots, and the one that is in most trouble, else furthest behind. */
typedef struct TierSlots
{
	int			n;
	int			idle;			/* of these: keep WAL, and nobody reads it */
	char	   *name;			/* NULL: there is none */
	char	   *wal_status;		/* as in pg_replication_slots; NULL: keeps
								 * none */
	bool		is_idle;
	double		lag_bytes;		/* of WAL that it keeps; 0: none */
} TierSlots;

/* Standbys that are connected, and the one that is furthest behind. */
typedef struct TierReplicas
{
	int			n;
	int			synchronous;	/* of these */
	char	   *name;			/* NULL: there is none */
	double		lag_bytes;		/* of WAL to replay; negative: not known */
} TierReplicas;

typedef struct TierArchive
{
	TimestampTz archived_at;	/* the last that was; 0: never */
	TimestampTz failed_at;		/* the last that was not; 0: never */
	int64		failures;
	char	   *failed_wal;		/* NULL: none */
} TierArchive;

/* Base backups under way by pg_basebackup and the like; *pid of one, *phase or NULL. */
extern int	tier_catalog_backups(MemoryContext context, int *pid, char **phase);

/* Strings in the given context. */
extern TierSlots tier_catalog_slots(MemoryContext context);
extern TierReplicas tier_catalog_replicas(MemoryContext context);
extern TierArchive tier_catalog_archive(MemoryContext context);

/* ---------------------------------------------------------------------
 * What samples say of the last minutes (catalog/pressure.c)
 * ---------------------------------------------------------------------
 */

typedef struct TierCheckpoints
{
	double		requested;
	double		timed;
	double		wal_bytes;		/* of the whole server */
	double		seconds;		/* in which all of this was; 0: not known */
} TierCheckpoints;

/* Of the samples that began in the last seconds. */
extern TierCheckpoints tier_catalog_checkpoints_within(double seconds);

/* How busy the device beneath a tablespace was in the last period. */
typedef struct TierBusy
{
	Oid			tablespace_oid;
	double		fraction;		/* 0 to 1 */
} TierBusy;

/* Of devices that were looked at in the last seconds; *n of them, in the given context. */
extern TierBusy *tier_catalog_load_busy(MemoryContext context, double lately_s, int *n);

/* ---------------------------------------------------------------------
 * Wear: catalog/wear.c
 * ---------------------------------------------------------------------
 */

/* What a tier's device is written and endures, as of the last sample; NaN: not known. */
typedef struct TierWear
{
	NameData	tier_name;
	char	   *device;
	double		written_bytes_per_day;	/* by everybody */
	double		moved_bytes_per_day;	/* of these by our moves */
	double		endurance_bytes_per_day;
	double		used_fraction;	/* of its life */
	bool		is_exceeded;	/* false if that is not known */
} TierWear;

/* Puts what devices were written into the ledger.  Under the sampler's lock. */
extern void tier_catalog_count_wear(const TierDevices *devices, TimestampTz at);

/* *n of them, by tier and device, in the given context. */
extern TierWear *tier_catalog_load_wear(MemoryContext context, int *n);

/* True once a day for each device: then somebody is to be told. */
extern bool tier_catalog_wear_is_news(const char *device);

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
	Oid			from_tablespace_oid;	/* not loaded */
	Oid			to_tablespace_oid;

	/*
	 * As they were when it was moved, with their corrections; prices are not
	 * kept.
	 */
	TierCostProfile from_profile;
	TierCostProfile to_profile;
	double		from_factor;	/* see tier_effect_device_factor; NaN: unknown */
	TierEffectParts from_work;	/* what that was of; not loaded */

	/* Scans of its table before the move, smoothed, in so many hours. */
	TierEffectScans scans_before;
	double		scans_hours;	/* 0: not known */

	/* When measuring began, after the move. */
	TimestampTz since;			/* 0: not yet */
	TierEffectScans scans_then; /* counters of the table and its indexes */
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
	TierEffectScans scans_now;

	/* What came of it. */
	const char *not_measurable; /* why; NULL: it is */
	double		unmoved_s_per_hour; /* this load's cost on the old tier */
	double		measured_s_per_hour;
	bool		by_device;		/* by what the devices did, not by profiles */
	TierEffectParts to_work;	/* what the new one did, if so */
	const char *plan_change;	/* in words; NULL: none seen */
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
 * At most `most` rows that are open: started at or before `until`, or else not
 * started yet, or later than that by a clock that went back.  With their strings
 * in the given context.
 */
extern TierEffect *tier_catalog_load_effects(MemoryContext context, bool started,
											 TimestampTz until, int most, int *n);

/* Stores since, before and device_before, or that it is not measurable. */
extern void tier_catalog_start_effects(const TierEffect *effects, int n, TimestampTz now);

/* Stores what was measured, or that it is not measurable. */
extern void tier_catalog_settle_effects(const TierEffect *effects, int n, TimestampTz now);

/* Deletes those whose moves have been deleted. */
extern void tier_catalog_forget_effects(void);

/*
 * What the devices of tiers did and in what time, as measured with effects: `tiers` are
 * indexes into the set, parallel to the answer.  Of all moves of a day from or to a tablespace
 * there is one, since they have seen the same device.
 */
extern TierEffectParts *tier_catalog_load_device_work(MemoryContext context, const TierSet *set,
													  int **tiers, int *n);

typedef struct TierWorseBatch
{
	int64		batch_id;
	double		predicted_s_per_hour;	/* saved; NaN: unknown */
	double		measured_s_per_hour;
	int			measured_moves;
	int			plan_changes;	/* of these */
	int			moves;
} TierWorseBatch;

/*
 * Stores the verdict on batches of which nothing is open any more, and returns
 * those that have made things worse and can be undone, each of them once; in the
 * given context.
 */
extern TierWorseBatch *tier_catalog_judge_batches(MemoryContext context, int *n);

#endif							/* TIER_CATALOG_H */
