/*-------------------------------------------------------------------------
 *
 * model/cost.h
 *		The cost of a relation on a tier: device time, money, and the move there.
 *
 * Pure, like the solver: plain numbers in, plain numbers out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COST_H
#define TIER_COST_H

#include <stdbool.h>

#define TIER_BLOCK_BYTES 8192.0

/*
 * A device profile; every field but the price and those after it is positive and finite.
 * Compressed data takes 1 / compression_ratio of its size.  The figures of a calibrated
 * tier were measured through the compression, those of a profile are the bare device's.
 */
typedef struct TierCostProfile
{
	double		random_read_ms; /* one 8 kB read at depth 1 */
	double		random_write_ms;	/* one 8 kB write */
	double		sequential_read_mb_per_s;	/* 1 MB = 10^6 bytes */
	double		sequential_write_mb_per_s;
	double		fsync_ms;
	double		parallelism;	/* requests the device serves at once */
	double		price_per_gb_month; /* 0 where unknown; 1 GB = 10^9 bytes */
	double		price_per_million_reads;	/* of requests; 0: none */
	double		endurance_bytes_per_day;	/* 0: not limited, or not known */
	double		compression_ratio;	/* at most 1: not compressed */
	bool		calibrated;
} TierCostProfile;

/* The cost of a load on a tier, per hour. */
typedef struct TierCost
{
	double		busy_s;			/* sum of the times that its requests take */
	double		occupied_s;		/* of the device: with nothing to spare for
								 * others; busy_s, but requests that are
								 * served at once share the time */
	double		wait_s;			/* of clients, as long as no others are before
								 * them */
	double		written_bytes;	/* to the device, amplification included */
} TierCost;

/* The load of one relation, at the device, per hour. */
typedef struct TierCostLoad
{
	double		random_reads;	/* 8 kB operations per hour */
	double		sequential_reads;	/* 8 kB blocks per hour */
	double		scans;			/* sequential scan starts per hour */
	double		page_writes;	/* 8 kB page writes per hour */
	double		merged_writes;	/* of these, written together with the page
								 * before them; at most page_writes */
	double		size_bytes;
} TierCostLoad;

/*
 * Counters of one relation over one period, as the cumulative statistics know
 * them: they do not tell random from sequential, so the answer is a range.
 */
typedef struct TierCostCounters
{
	bool		is_index;
	double		scans;			/* heap: sequential scans; index: index scans */
	double		tuples_read;	/* heap: live rows fetched by sequential
								 * scans; index: entries returned by index
								 * scans */
	double		blocks_fetched; /* buffer requests, hits included */
	double		blocks_hit;		/* found in shared buffers */
	double		pages;			/* size in 8 kB blocks */
	double		tuples;			/* rows or entries; <= 0: never analyzed */
} TierCostCounters;

/* Reads that missed shared buffers, split; random + sequential = misses. */
typedef struct TierCostAttribution
{
	double		misses;
	double		sequential_low;
	double		sequential_mid;
	double		sequential_high;
} TierCostAttribution;

/*
 * Splits the misses of a relation into random and sequential.
 *
 * Heap: blocks that sequential scans asked for are tuples_read * pages /
 * tuples, but at least one for each scan, at most (scans + 1) * pages and never
 * more than blocks_fetched; without a row count these bounds are the range, and
 * mid takes each scan for a complete one.
 *
 * Index: the descent to the first leaf of a scan is random, the further leaves
 * of a range are sequential: (tuples_read - scans) * pages / tuples.  Without
 * an entry count mid takes all of it for random.
 *
 * mid gives the misses the same share of sequential as the requests have; low
 * and high give all the hits to the sequential or to the random requests.
 * All results are within [0, misses]; low <= mid <= high.  Values that are
 * negative or not finite count as 0.
 */
extern TierCostAttribution tier_cost_attribute(const TierCostCounters *counters);

/*
 * busy_s = (R + n) * read + B / bandwidth + (W - m) * write + M / write bandwidth,
 * with n the scans, but at most sequential_reads: a scan that reads nothing here
 * moves no disk arm.  B are the
 * bytes of sequential reads, M those of merged writes m: a write merged with a page
 * beside it adds bytes, but no request.
 * occupied_s has the times of single requests divided by the parallelism.
 * wait_s has no writes, which checkpoints do, and of the sequential reads only
 * the time beyond that in which a process looks at the pages.
 * On a compressed tier that was not calibrated, single reads fetch and unpack a
 * whole record, single writes rewrite one.
 */
extern TierCost tier_cost_on(const TierCostLoad *load, const TierCostProfile *profile);

/*
 * Client-seconds that requests wait for others while the work of an hour is done, on a device
 * that this work occupies for `utilisation` hours (>= 0), if so many clients send it requests.
 * By Little's law, the number of waiting clients is the length of the queue: with any number of
 * clients u * u / (1 - u) on average if they come at random.  But a client that waits sends
 * nothing, so with n of them the queue is shorter, and beyond 1 the work takes longer.  Convex in
 * the utilisation.
 *
 * per_hour is the part of it in each hour that the work takes then: the time seen on a clock,
 * always less than n - 1 hours.
 *
 * clients: at least 1; a number that is not finite, or exceeds the maximum of a server, counts as
 * that maximum.
 */
extern double tier_cost_queue_s(double utilisation, double clients);
extern double tier_cost_queue_s_per_hour(double utilisation, double clients);

/*
 * The compression ratio of files by the used space of their file systems: from 1 to 1e6.  Other
 * files on them only make it too low, so that the stored size is never underestimated.  If there
 * are certainly other files (shared), it is a lower bound for the assumption, which is 2; and
 * while a file system has little more used than it needs for itself, the assumption is the only
 * source.
 */
extern double tier_cost_ratio_of_files(double file_bytes, double used_bytes, bool shared);

/* Bytes that the relation takes on the device. */
extern double tier_cost_stored_bytes(double size_bytes, const TierCostProfile *profile);

/* busy_s alone. */
extern double tier_cost_busy_s_per_hour(const TierCostLoad *load,
										const TierCostProfile *profile);

/*
 * Money per month for the bytes stored, reserve included: p * S / (1 - reserve); 0
 * where the price is unknown.  The reserve is taken as within [0, 0.99].  Reads are paid for by
 * request: each random one, each start of a scan, and each 4 MB of a scan, which is an object.
 */
extern double tier_cost_price_per_month(double size_bytes, const TierCostLoad *load,
										const TierCostProfile *profile,
										double reserve_fraction);

/* Device-seconds of reading the relation here and writing it there, once. */
extern double tier_cost_move_s(double size_bytes,
							   const TierCostProfile *from,
							   const TierCostProfile *to);

/*
 * page_writes and merged_writes of *load from row changes per hour: a page that is
 * changed often is written once per checkpoint at most, so never more than pages *
 * checkpoints_per_hour, and never more than one page per row change.  Between
 * the two it assumes changes on random pages, of which those that are side by
 * side are merged.  Without checkpoints nothing is written: a caller that saw none
 * in a short period passes the rate that checkpoint_timeout implies.
 */
extern void tier_cost_estimate_writes(double row_changes_per_hour, double pages,
									  double checkpoints_per_hour, TierCostLoad *load);

/*
 * The same of a table of so many rows that grows by grown_pages_per_hour.  As many changes as
 * those have room for are rows that were appended: side by side, each page once, and the last
 * one of each checkpoint twice.  The others are on random pages.  With nothing known of rows
 * (not positive) or growth, all are.
 */
extern void tier_cost_estimate_table_writes(double row_changes_per_hour, double pages,
											double rows, double grown_pages_per_hour,
											double checkpoints_per_hour, TierCostLoad *load);

#endif							/* TIER_COST_H */
