/*-------------------------------------------------------------------------
 *
 * tier_catalog.h
 *		The only code that reads and writes the extension's own tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_H
#define TIER_CATALOG_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "tier_cost.h"
#include "tier_device.h"
#include "tier_sample.h"
#include "tier_solver.h"

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
 * with SECURITY_RESTRICTED_OPERATION and SECURITY_LOCAL_USERID_CHANGE set.
 * No function of a user may run in between.  An error needs no cleanup: the
 * abort of the (sub)transaction undoes everything.
 *
 * tier_catalog_enter raises an error when the extension is not there in this
 * version; tier_catalog_try_enter returns false instead.  Scopes do not nest.
 */
extern void tier_catalog_enter(TierCatalogScope *scope);
extern bool tier_catalog_try_enter(TierCatalogScope *scope);
extern void tier_catalog_leave(TierCatalogScope *scope);

/*
 * Runs one statement inside a scope; returns the number of rows.  values may
 * be NULL when nargs is 0; nulls as in SPI (' ' or 'n') or NULL.
 */
extern uint64 tier_catalog_execute(const char *sql, int nargs, const Oid *types,
								   const Datum *values, const char *nulls);

/* A copy in the current context, cut to what a message may take in our tables. */
extern char *tier_catalog_clip(const char *message);

/* Field of the last result; columns count from 1.  Pass-by-reference values
 * live until SPI's next statement or the end of the scope. */
extern Datum tier_catalog_datum(uint64 row, int column, bool *isnull);

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
	int64		free_bytes;		/* of its distinct file systems; -1 unknown */
} TierTier;

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

/* The tablespace entry of this OID, or NULL. */
extern const TierTablespace *tier_set_tablespace(const TierSet *set, Oid tablespace_oid);

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

/* Keeps two samplers from interleaving: held to the end of the transaction. */
extern void tier_catalog_lock_sampler(void);

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

/* ---------------------------------------------------------------------
 * Policies
 * ---------------------------------------------------------------------
 */

typedef struct TierPolicyRow
{
	int			policy_id;
	Oid			relation_oid;	/* InvalidOid: does not exist any more */
	char	   *relation_name;	/* qualified, for messages */
	NameData	tier_name;
	Interval	move_after;
	bool		include_indexes;
	bool		age_from_newest;
	char	   *key_unit;		/* NULL: none */
	char	   *key_function;	/* regprocedure as text, NULL: none */
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

/* Forgets a move that turned out not to be needed. */
extern void tier_catalog_forget_move(int64 move_id);

/*
 * Brings the stored state of a relation and its TOAST table up to date after
 * a move, so that the next move finds the tier as full as it is now.
 */
extern void tier_catalog_note_moved(Oid relation_oid, Oid tablespace_oid);

/* Relations that failed and must not be tried again yet; sorted by OID. */
extern Oid *tier_catalog_load_backoff(MemoryContext context, int *n);

#endif							/* TIER_CATALOG_H */
