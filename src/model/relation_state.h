/*-------------------------------------------------------------------------
 *
 * model/relation_state.h
 *		What is known of one relation, and what it did.
 *
 * Plain data, which rooms hand to each other: observe/sample.c collects it and
 * advances the rates, catalog/ stores it, decide/ reads it.  OIDs and times (microseconds
 * since 2000-01-01 UTC; 0 is "never") are PostgreSQL's, without its headers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RELATION_STATE_H
#define TIER_RELATION_STATE_H

#include <stdbool.h>
#include <stdint.h>

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
	int64_t		scans;			/* heap: sequential scans; index: index scans */
	int64_t		tuples_read;
	int64_t		blocks_fetched;
	int64_t		blocks_hit;
	int64_t		row_changes;	/* heap: ins + upd + del; index: entries added */
	int64_t		maintenance;	/* vacuums and analyzes; index: of its table */
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
	int64_t		pages;			/* to be written by the next checkpoint */
	int64_t		maintenance_pages;	/* the same, because of vacuum or a
									 * rewrite */
	int64_t		wal_bytes;
	int64_t		image_bytes;	/* of these, full-page images */
} TierWriteCounts;

/*
 * One relation: what pg_class, the file and the counters say now, and what is
 * remembered of it.  A relation that was never sampled has sampled_since = 0.
 */
typedef struct TierRelationState
{
	uint32_t	relation_oid;
	uint32_t	heap_oid;		/* of an index or TOAST table, else itself;
								 * known after tier_sample_collect only */
	uint32_t	owner_oid;		/* role; after tier_sample_collect only */
	uint32_t	tablespace_oid; /* never 0 */
	uint32_t	file_number;
	char		kind;			/* relkind: r, m, i, t */
	char		persistence;	/* after tier_sample_collect only */
	int64_t		size_bytes;		/* main fork; -1: not looked at yet */
	uint32_t	previous_tablespace_oid;	/* the file before a move since */
	uint32_t	previous_file_number;	/* the last sample; 0: none */
	double		tuples;			/* pg_class.reltuples, -1: unknown */
	int32_t		cached_buffers;
	int32_t		dirty_buffers;
	int64_t		os_cached_bytes;	/* in the page cache, -1: unknown */
	TierCounters counters;
	int64_t		vacuums;		/* how often it was vacuumed */
	TierRates	rates;
	int64_t		heat_at;
	int64_t		observed_since;
	int64_t		sampled_since;
	int64_t		last_used_at;	/* 0: never seen */
	int64_t		last_written_at;
	int64_t		rewritten_at;
	int64_t		placed_at;		/* seen in another tablespace than before; 0:
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
	float		measured_part;
	float		measured_share;
	float		shared_part;
	float		shared_share;
	TierWriteCounts writes;		/* after tier_writes_count only */
	int64_t		added_blocks;	/* that the counters took for misses; not in
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

#endif							/* TIER_RELATION_STATE_H */
