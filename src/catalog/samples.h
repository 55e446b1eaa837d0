/*-------------------------------------------------------------------------
 *
 * catalog/samples.h
 *		Samples of relations, devices and the load, and their history.
 *
 * Part of catalog/tables.h, which says what holds for all of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_SAMPLES_H
#define TIER_CATALOG_SAMPLES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "src/base/idle.h"
#include "src/base/left_out.h"
#include "src/catalog/tiers.h"
#include "src/model/device_state.h"
#include "src/model/page_writes.h"
#include "src/model/relation_state.h"

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

/* The statistics that samples have read, and since when no count can have been lost. */
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

/*
 * Loads the stored state of all relations, ordered by OID, when the last sample was taken, and
 * what it has read (all 0: there was none).  Fields that are not stored are 0.  The array may
 * exceed 1 GB.
 */
extern TierRelationState *tier_catalog_load_states(MemoryContext context, int *nstates,
												   TimestampTz *last_sample_at,
												   TierCountsOrigin *origin);

/*
 * The same for one relation and, of a table, its TOAST table and the index of
 * that; none of those that were never sampled.
 */
extern TierRelationState *tier_catalog_load_unit(MemoryContext context, Oid relation_oid,
												 int *nstates);

/* The bytes of all relations with any reads since they are observed. */
extern double tier_catalog_read_bytes(void);

/* The time in which relations were read at or above a rate, together. */
typedef struct TierReadTime
{
	List	   *relations;		/* OIDs */
	TimestampTz since;
	double		reads_per_hour;
	double		seconds;		/* result: in hours that have it as the mean */
} TierReadTime;

/* Fills in the seconds from the history until now; in a scope. */
extern void tier_catalog_find_read_time(TierReadTime *times, int n, TimestampTz now);

/*
 * Keeps two samplers from interleaving: locks the table sampler in SHARE UPDATE EXCLUSIVE mode
 * to the end of the transaction.  Returns false if another process still has the lock after
 * patience_ms; meanwhile no process waits behind us.  -1: waits as for any lock.  Load states
 * after this call, as states that were loaded before may be out of date.  Runs no statement.
 */
extern bool tier_catalog_lock_sampler(int patience_ms);

typedef struct TierSampleSummary
{
	TimestampTz sampled_at;
	double		duration_ms;	/* until the sample was stored */
	int			relations;		/* that were looked at */
	int			active;			/* of these, used since the last sample */
	bool		saw_reset;		/* counters were reset meanwhile */
	TierCountsOrigin origin;
} TierSampleSummary;

/*
 * Stores a sample: states with their `changed` flag set, history rows for relations with reads
 * or writes, and the summary; deletes the states of `dropped`.  period_start: the time of the
 * last sample, or when the statistics were lost after it; 0: this is the first one, which has no
 * history.  The pass leaves out relations that cannot be stored.  Under the sampler's lock.
 */
extern void tier_catalog_store_sample(const TierRelationState *states, int nstates,
									  const Oid *dropped, int ndropped,
									  TimestampTz period_start,
									  const TierSampleSummary *summary, TierPass *pass);

/*
 * How long samples and runs may be left out if nothing happens in this database: without a
 * reason that comes from elsewhere, or from moves that are not yet done, until the hour ends.
 * Outside of a scope.
 */
extern TierRest tier_catalog_rest(void);

/*
 * Once an hour: rolls finished hours up, in the history of relations, of the load and of files,
 * takes a snapshot of the state, and once a day deletes old moves.  Returns at once in
 * between.  Under the sampler's lock.
 */
extern void tier_catalog_maintain_history(TimestampTz now);

/*
 * Restores the last snapshot of the state if the unlogged tables were emptied by a crash, a
 * restore or a promotion.  Under the sampler's lock.
 */
extern void tier_catalog_restore_state(void);

/*
 * The position up to which the WAL was read (see observe/writes.h).  The loaded struct is all
 * zero if nothing is known; it has no pointers.  Storing changes the row that
 * tier_catalog_store_sample has written; under the sampler's lock.
 */
extern void tier_catalog_load_writes(TierWritesMemory *memory);
extern void tier_catalog_store_writes(const TierWritesMemory *memory);

/* Since when writes are counted from the WAL; 0: they are not. */
extern TimestampTz tier_catalog_writes_since(void);

/* Sets the write rates of all relations to 0, after a period without counts. */
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

/* The growth of one tablespace; only the growth of the evidence is used. */
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
 * Adds to load_history the load of the database and the server since the last call, or since
 * `since` if that is later: what was counted before is lost.
 * by_another_server: adds nothing, because the counters are those of another server than at the
 * last call.  Under the sampler's lock.
 */
extern void tier_catalog_sample_load(TimestampTz since, TimestampTz now_at,
									 bool by_another_server);

/*
 * How the clients of this database spend their time, by samples of their wait events:
 * client-seconds per hour of the last day that was sampled.  peak is the number of active
 * clients, on average in the busiest hour of the last 14 days.  All zero if the samples do not
 * cover enough time.
 */
typedef struct TierClientTime
{
	double		peak;
	double		active_s;		/* of all that follows, and of other waits */
	double		device_s;		/* waiting for files of relations */
	double		processor_s;	/* in no wait */
} TierClientTime;

/* As it was at the last sample. */
extern TierClientTime tier_catalog_client_time(void);

/*
 * Adds to file_history the reads and writes since the last call, by class and place of files;
 * values that were not counted are null.  by_another_server as in tier_catalog_sample_load();
 * under the sampler's lock.
 */
extern void tier_catalog_sample_files(TimestampTz now_at, bool by_another_server);

#endif							/* TIER_CATALOG_SAMPLES_H */
