/*-------------------------------------------------------------------------
 *
 * observe/sample.h
 *		From the server's counters to what each relation did since last time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SAMPLE_H
#define TIER_SAMPLE_H

#include "postgres.h"

#include "common/relpath.h"
#include "datatype/timestamp.h"
#include "src/observe/access_counts.h"
#include "src/model/cost.h"
#include "src/model/effect.h"

/* Half-lives of the two smoothed rates, in seconds. */
#define TIER_HALF_LIFE_FAST_S (24.0 * 3600.0)
#define TIER_HALF_LIFE_SLOW_S (14.0 * 24.0 * 3600.0)

/*
 * Rates per hour of what has been seen for a shorter time are not extrapolated:
 * what happened until now is taken for all that happens in the hour.
 */
#define TIER_SHORTEST_OBSERVATION_S 3600.0

/* Cumulative counters as the statistics system has them. */
typedef struct TierCounters
{
	int64		scans;			/* heap: sequential scans; index: index scans */
	int64		tuples_read;
	int64		blocks_fetched;
	int64		blocks_hit;
	int64		row_changes;	/* heap: ins + upd + del; index: entries added */
	int64		maintenance;	/* vacuums and analyzes; index: of its table */
} TierCounters;

/* Smoothed events per hour, right at heat_at. */
typedef struct TierRates
{
	double		random_fast;
	double		random_slow;
	double		sequential_fast;
	double		sequential_slow;
	double		sequential_low_slow;	/* bounds of the attribution */
	double		sequential_high_slow;
	double		hits_slow;
	double		scans_slow;
	double		changes_fast;
	double		changes_slow;
	double		page_writes_fast;	/* from the WAL, see observe/writes.h */
	double		page_writes_slow;
	double		maintenance_writes_fast;
	double		wal_bytes_fast;
	double		image_bytes_fast;
	double		device_random_fast; /* what is left of the reads at the device */
	double		device_random_slow;
	double		device_sequential_fast;
	double		device_sequential_slow;
	double		standby_fast;	/* misses on standbys, part of the above */
	double		other_fast;		/* reads that are not use */
	double		other_slow;
} TierRates;

/* What the WAL says that a relation wrote since the last sample. */
typedef struct TierWriteCounts
{
	int64		pages;			/* to be written by the next checkpoint */
	int64		maintenance_pages;	/* the same, because of vacuum or a
									 * rewrite */
	int64		wal_bytes;
	int64		image_bytes;	/* of these, full-page images */
} TierWriteCounts;

/*
 * One relation: what pg_class, the file and the counters say now, and what is
 * remembered of it.  A relation that was never sampled has sampled_since = 0.
 */
typedef struct TierRelationState
{
	Oid			relation_oid;
	Oid			heap_oid;		/* of an index or TOAST table, else itself;
								 * known after tier_sample_collect only */
	Oid			owner_oid;		/* role; after tier_sample_collect only */
	Oid			tablespace_oid; /* never 0 */
	Oid			file_number;
	char		kind;			/* relkind: r, m, i, t */
	char		persistence;	/* after tier_sample_collect only */
	int64		size_bytes;		/* main fork; -1: not looked at yet */
	Oid			previous_tablespace_oid;	/* the file before a move since */
	Oid			previous_file_number;	/* the last sample; 0: none */
	double		tuples;			/* pg_class.reltuples, -1: unknown */
	int32		cached_buffers;
	int32		dirty_buffers;
	int64		os_cached_bytes;	/* in the page cache, -1: unknown */
	TierCounters counters;
	int64		vacuums;		/* how often it was vacuumed */
	TierRates	rates;
	TimestampTz heat_at;
	TimestampTz observed_since;
	TimestampTz sampled_since;
	TimestampTz last_used_at;	/* 0: never seen */
	TimestampTz last_written_at;
	TimestampTz rewritten_at;
	TimestampTz placed_at;		/* seen in another tablespace than before; 0:
								 * always here */
	char		source;			/* TIER_SOURCE_..., of the last activity */
	TierEffectTotals totals;	/* of a table its TOAST table's, too; those
								 * have none */

	/* What this sample found. */
	bool		active;			/* some counter grew */
	bool		changed;		/* worth storing */
	bool		index_scanned;	/* a table: one of its indexes was scanned */
	TierCounters delta;			/* standbys included */
	TierCounters standby;		/* of these; see tier_standby_take */
	TierCostAttribution attribution;	/* reads that are use, standbys
										 * included */
	TierCostAttribution standby_attribution;	/* of these */
	double		other_reads;	/* misses here that are not use */

	/*
	 * Of the sequential reads of plans, the part of which the kernel counted
	 * what came from devices, and how much of it did; the same where that is
	 * known of several relations together.
	 */
	float4		measured_part;
	float4		measured_share;
	float4		shared_part;
	float4		shared_share;
	TierWriteCounts writes;		/* after tier_writes_count only */
	int64		added_blocks;	/* that the counters took for misses; not in
								 * delta */
	double		idle_s;			/* since heat_at, before the period */
	double		active_s;		/* in the period */

	/* Of this server's reads, in blocks, before the factor of the device. */
	double		device_random;
	double		device_sequential;
	double		device_other;
	double		device_measured;	/* of the sequential ones, as the kernel
									 * counted */

	/* What is taken to have reached the device in the end, standbys included. */
	double		load_random;
	double		load_sequential;
} TierRelationState;

/*
 * Reads pg_class, the statistics and the buffer headers: all permanent and
 * unlogged tables, indexes, TOAST tables and materialized views of the current
 * database that are neither system catalogs nor our own, ordered by OID.  Sizes are
 * not looked at (tier_sample_file_size).  AccessShareLock on pg_class and
 * pg_index only; no lock on any relation of a user.  Result in the current
 * memory context.
 */
extern TierRelationState *tier_sample_collect(int *nrelations);

/*
 * Bytes of one fork by stat() of its segments, without lock or open; 0 when
 * the file is gone.  The tablespace's OID is never 0.
 */
extern int64 tier_sample_file_size(Oid tablespace_oid, Oid file_number, ForkNumber fork);

/*
 * Merges what is remembered into what was just collected, and advances the
 * rates of the relations that were active; both arrays ordered by OID.
 * `last_sample_at` 0 means that there is no memory: then the counters are
 * taken as what happened since statistics_since.  `taken` is what the executor
 * did since the last sample.  Returns whether counters
 * went backwards.  After it `current` can be stored or advised upon.  With
 * `carry`, what the executor has read and the counters do not know yet is given
 * back for the next sample.
 */
extern bool tier_sample_merge(TierRelationState *current, int ncurrent,
							  const TierRelationState *stored, int nstored,
							  TimestampTz last_sample_at, TimestampTz now,
							  TimestampTz statistics_since,
							  const TierAccessTaken *taken, bool carry);

/*
 * Since when the cumulative statistics of this database count: their last
 * reset, else the creation of the database's directory.
 */
extern TimestampTz tier_sample_statistics_since(void);

/*
 * Takes a sample of the current database inside the caller's transaction.  False
 * when another transaction has taken one and has not ended after patience_ms; -1:
 * waits for it as for any lock.
 */
extern bool tier_sample_run(int patience_ms);

#endif							/* TIER_SAMPLE_H */
