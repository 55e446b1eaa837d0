/*-------------------------------------------------------------------------
 *
 * model/relation_state.h
 *		The state of one relation: its identity, its stored history, and its last period.
 *
 * Plain data, which rooms hand to each other.  A state has three parts: the data of pg_class
 * (id), the data kept from sample to sample (stored), and the results of this sample
 * (period).  No lock guards it: a state is in the memory of the one process that takes the
 * sample or the advice.  It goes through these steps, in this order; tier_sample_look() has
 * the second to the fifth, for the sample and for the advice, which stores nothing:
 *
 *	load	 id and stored, as the last sample left them, in an array of their
 *			 own; period stays zero			(catalog/sample_rows.c)
 *	collect	 id, counters and buffers, as they are now; the rest is zero, and
 *			 size_bytes, maps_bytes and os_cached_bytes are -1	(observe/collect.c)
 *	take	 what happened elsewhere: on standbys, in the WAL; a sample only
 *			 (observe/standby.c, observe/writes.c)
 *	merge	 what was loaded comes to what was collected; the difference of the
 *			 counters becomes period, and that advances the rates
 *			 (observe/merge.c)
 *	correct	 which reads reached the device, and their rates
 *			 (observe/device_reads.c)
 *	add up	 the totals; a sample only		(observe/sample.c)
 *	store	 id and stored of what has changed; a row of history of what was
 *			 active; then period is gone	(catalog/sample_rows.c)
 *
 * Each field names the step that sets it; before that step it means nothing.
 * OIDs and times (microseconds since 2000-01-01 UTC; 0 is "never") are
 * PostgreSQL's, without its headers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RELATION_STATE_H
#define TIER_RELATION_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/cost.h"
#include "src/model/effect.h"
#include "src/model/evidence.h"
#include "src/model/split.h"

/* Half-lives of the two smoothed rates, in seconds. */
#define TIER_HALF_LIFE_FAST_S (24.0 * 3600.0)
#define TIER_HALF_LIFE_SLOW_S (14.0 * 24.0 * 3600.0)

/*
 * Rates that have been observed for a shorter time rest on too few samples: ten at the default
 * sample_interval.  A cache that fills after a start, or one report, may be the whole load of
 * that time.
 */
#define TIER_PROVISIONAL_S 600.0

/* Unreported use within at most this time is tolerated. */
#define TIER_LONGEST_GAP_S 3600.0

/* Cumulative counters as the statistics system has them. */
typedef struct TierCounters
{
	int64_t		scans;			/* heap: sequential scans; index: index scans */
	int64_t		tuples_read;
	int64_t		blocks_fetched;
	int64_t		blocks_hit;
	int64_t		row_changes;	/* heap: ins + upd + del; index: entries added */
	int64_t		maintenance;	/* vacuums and analyzes; index: of its table */
	int64_t		reset_at;		/* when they were reset; 0: never, or not
								 * known, as before 19 */
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
	double		merged_writes_fast; /* of these, merged with another one */
	double		merged_writes_slow;
	double		maintenance_writes_fast;
	double		wal_bytes_fast;
	double		image_bytes_fast;
	double		device_random_fast; /* the reads that reached the device */
	double		device_random_slow;
	double		device_sequential_fast;
	double		device_sequential_slow;
	double		maintenance_reads_fast; /* reads that are not use */
} TierRates;

/* The writes of a relation since the last sample, by the WAL. */
typedef struct TierWriteCounts
{
	int64_t		pages;			/* to be written by the next checkpoint */
	int64_t		merged;			/* of these, side by side with another one, so
								 * that they are one request less */
	int64_t		maintenance_pages;	/* the same, because of vacuum or a
									 * rewrite */
	int64_t		maintenance_merged;
	int64_t		wal_bytes;
	int64_t		image_bytes;	/* of these, full-page images */
} TierWriteCounts;

/*
 * In place of its name: the index is in the making, or is about to go and another one has its
 * name.  Hashes of names are odd.
 */
#define TIER_INDEX_IS_INVALID 2

/*
 * The row of pg_class.  Set by collect, and not changed afterwards; in a state that was loaded,
 * the row as of the last sample, or after the last move by the extension.
 */
typedef struct TierRelationId
{
	uint32_t	relation_oid;
	uint32_t	heap_oid;		/* of an index or TOAST table its table, else
								 * itself; 0 when loaded: not known */
	int32_t		name_hash;		/* of an index of its definition, too, or
								 * TIER_INDEX_IS_INVALID; 0 when loaded: not
								 * known */
	uint32_t	owner_oid;		/* role; not stored */
	uint32_t	tablespace_oid; /* never 0 */
	uint32_t	file_number;
	char		kind;			/* relkind: r, m, i, t */
	char		persistence;	/* not stored */
	double		tuples;			/* reltuples, -1: unknown */
} TierRelationId;

/*
 * The server's statistics of the time before the first sample, as reads per hour of that time.
 * All zero: none.
 */
typedef struct TierPast
{
	double		random_reads;	/* blocks */
	double		sequential_reads;
	double		scans;			/* of a table */
} TierPast;

/*
 * The columns of relation_state.  Unless stated otherwise, merge takes a field over from the
 * loaded state.
 */
typedef struct TierRelationStored
{
	/*
	 * As of now; set by collect, and compared by merge with the loaded
	 * values.
	 */
	TierCounters counters;		/* of an advice on a standby: as loaded */
	int64_t		vacuums;		/* how often it was vacuumed */
	int32_t		cached_buffers;
	int32_t		dirty_buffers;

	/* The file. */
	int64_t		size_bytes;		/* main fork; -1 before merge, which looks at
								 * the file of those that changed */
	int64_t		maps_bytes;		/* the other forks, likewise */
	int64_t		unclaimed_growth;	/* blocks that the file has grown by and
									 * that no counter has for misses yet;
									 * merge */
	int64_t		unclaimed_at;	/* when such growth was seen last, or a
								 * session that may have that counter; means
								 * nothing without unclaimed growth; merge */
	int64_t		maintained_at;	/* when a vacuum or analyze of it was seen
								 * last, or a session that may have counters
								 * of one; 0: these have arrived; merge */
	int64_t		os_cached_bytes;	/* in the page cache, -1: unknown; merge
									 * takes it over, correct looks anew */

	/*
	 * The file before a move since the last sample, 0: none.  Set by the
	 * move, in the catalog; only loaded states have it, and the next sample
	 * stores 0.
	 */
	uint32_t	previous_tablespace_oid;
	uint32_t	previous_file_number;

	/* Rates: advanced by merge; device_* by correct. */
	TierRates	rates;
	int64_t		heat_at;		/* merge: when the rates were advanced */
	int64_t		observed_since; /* start of the time that the rates cover */
	char		source;			/* merge: TIER_SOURCE_..., of the last
								 * activity */
	TierEvidence evidence;		/* merge: when the use came, and when the file
								 * grew; writes are rows changed and pages
								 * written, together */
	TierPast	past;			/* merge: before sampled_since; in no rate */

	/* When something happened last; advanced by merge. */
	int64_t		sampled_since;	/* never 0 after merge */
	int64_t		proven_since;	/* start of the time since which all use is in
								 * some counter; later than sampled_since if
								 * counters have gone back */
	int64_t		last_read_at;	/* last scan, of a table also by its indexes;
								 * 0: never seen */
	int64_t		last_used_at;	/* 0: never seen */
	int64_t		last_written_at;	/* 0: never seen */
	int64_t		rewritten_at;	/* 0: never seen */
	int64_t		placed_at;		/* seen in another tablespace than before; 0:
								 * always here; also set by a move */

	/*
	 * Grown by add up: of a table its TOAST table's, too; those have none.
	 */
	TierEffectTotals totals;
} TierRelationStored;

/*
 * The findings of this sample, since the last one or, without a last one, since the statistics
 * began.  Zero after load and collect, but for live_rows, last_scan_at and known_pages.
 */
typedef struct TierRelationPeriod
{
	/*
	 * collect: rows that are there, by the statistics; of an index its
	 * table's.
	 */
	int64_t		live_rows;
	int64_t		last_scan_at;	/* of the relation itself; 0: never, or the
								 * server does not tell */

	/* collect: blocks that it had when it was vacuumed or analyzed last. */
	int64_t		known_pages;

	/* take; zero in the advice. */
	TierCounters standby;		/* reads on standbys, taken with the sample */
	bool		held_on_standby;	/* it was read there, or locked by a
									 * transaction that may have read it */
	TierWriteCounts writes;		/* see tier_writes_count */

	/* merge: the index that this one has replaced; 0: none. */
	uint32_t	rebuilt_from;

	/*
	 * merge: it has failed, and remains as of the last sample; the rest of
	 * the period is zero.
	 */
	bool		left_out;

	/* merge: whether it is to be split, advanced, stored. */
	bool		active;			/* some counter grew; if not, the fields below
								 * up to load_* stay zero, except delta and
								 * those set by take */
	bool		changed;		/* to be stored; also set by correct and add
								 * up */
	bool		lost_scans;		/* merge: its counters went back, and had
								 * scans */
	bool		index_scanned;	/* a table: one of its indexes was scanned, */
	bool		was_scanned;	/* merge: its own counters show a scan, here
								 * or on a standby */

	/* merge: from the counters. */
	TierCounters delta;			/* growth, without added blocks and ignored
								 * use; standbys included once the reads are
								 * split */
	int64_t		added_blocks;	/* that the counters took for misses */
	TierSplitIgnored ignored;	/* by applications that do not count as use:
								 * taken out of delta */
	bool		ignored_is_known;	/* else all that was ignored is in delta */
	bool		only_ignored;	/* it is active because of that alone */

	/* merge: from the executor and the statistics. */
	TierCostAttribution attribution;	/* reads that are use, standbys
										 * included */
	TierCostAttribution standby_attribution;	/* of these */
	double		maintenance_reads;	/* misses here that are not use; those
									 * that were ignored included in the end */
	double		use_hits;		/* found in shared buffers, as far as the
								 * misses were use; standbys included */

	/*
	 * merge: the part of the sequential reads of plans for which the kernel
	 * counted reads of devices, and the share of these that came from
	 * devices; the same where that is known of several relations together.
	 */
	float		measured_part;
	float		measured_share;
	float		shared_part;
	float		shared_share;

	/*
	 * merge: the share of the random reads that reached a device, as the
	 * kernel counted for plans; correct adds blocks that were read ahead to
	 * `high`.
	 */
	TierSplitRequestShare random_requests;

	int64_t		size_change;	/* merge: bytes of the file, negative if it
								 * shrank; of one that was not there at the
								 * last sample all of them */

	/* merge: the input for advancing a rate; also set if it only wrote. */
	double		idle_s;			/* since heat_at, before the period */
	double		active_s;		/* in the period */

	/*
	 * correct: of this server's reads those that reached the device, in
	 * blocks, before the factor of the device.
	 */
	double		device_random;
	double		device_sequential;
	double		device_maintenance;
	double		device_measured;	/* of the sequential ones, as the kernel
									 * counted */
	double		device_counted; /* of the random ones, the same */

	/*
	 * correct: the reads that are estimated to have reached the device,
	 * standbys included; use only.
	 */
	double		load_random;
	double		load_sequential;
} TierRelationPeriod;

typedef struct TierRelationState
{
	TierRelationId id;
	TierRelationStored stored;
	TierRelationPeriod period;
} TierRelationState;

#endif							/* TIER_RELATION_STATE_H */
