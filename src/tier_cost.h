/*-------------------------------------------------------------------------
 *
 * tier_cost.h
 *		What a relation costs on a tier: device time, money, moving there.
 *
 * Pure, like the solver: plain numbers in, plain numbers out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COST_H
#define TIER_COST_H

#include <stdbool.h>

#define TIER_BLOCK_BYTES 8192.0

/* A device profile; every field but the price is positive and finite. */
typedef struct TierCostProfile
{
	double		random_read_ms; /* one 8 kB read at depth 1 */
	double		random_write_ms;	/* one 8 kB write */
	double		sequential_read_mb_per_s;	/* 1 MB = 10^6 bytes */
	double		sequential_write_mb_per_s;
	double		fsync_ms;
	double		parallelism;	/* requests the device serves at once */
	double		price_per_gb_month; /* 0 where unknown; 1 GB = 10^9 bytes */
} TierCostProfile;

/* The load of one relation, at the device, per hour. */
typedef struct TierCostLoad
{
	double		random_reads;	/* 8 kB operations per hour */
	double		sequential_reads;	/* 8 kB blocks per hour */
	double		scans;			/* sequential scan starts per hour */
	double		page_writes;	/* 8 kB page writes per hour */
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
 * Device-seconds per hour: R * random_read + n * random_read +
 * sequential bytes / bandwidth + W * random_write.  n is scans, but at most
 * sequential_reads: a scan that reads nothing here moves no disk arm.
 */
extern double tier_cost_busy_s_per_hour(const TierCostLoad *load,
										const TierCostProfile *profile);

/*
 * Money per month for the bytes, reserve included: p * S / (1 - reserve); 0
 * where the price is unknown.  The reserve is taken as within [0, 0.99].
 */
extern double tier_cost_price_per_month(double size_bytes,
										const TierCostProfile *profile,
										double reserve_fraction);

/* Device-seconds of reading the relation here and writing it there, once. */
extern double tier_cost_move_s(double size_bytes,
							   const TierCostProfile *from,
							   const TierCostProfile *to);

/*
 * Pages written per hour from row changes per hour: a page that is changed
 * often is written once per checkpoint at most, so never more than pages *
 * checkpoints_per_hour, and never more than one page per row change.  Between
 * the two it assumes changes on random pages.  Without checkpoints nothing is
 * written: a caller that saw none in a short period passes the rate that
 * checkpoint_timeout implies.
 */
extern double tier_cost_page_writes_per_hour(double row_changes_per_hour,
											 double pages,
											 double checkpoints_per_hour);

#endif							/* TIER_COST_H */
