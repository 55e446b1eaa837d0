/*-------------------------------------------------------------------------
 *
 * model/fit.h
 *		From what PostgreSQL asked for to what the device served.
 *
 * Pure.  A read of PostgreSQL that missed its buffers may still be served from
 * the page cache of the operating system.  Which share of them is estimated
 * from what the page cache holds of the relation, and the estimate is then
 * compared, device by device, with what the kernel counted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FIT_H
#define TIER_FIT_H

#include <stdbool.h>

/* The factor is never larger than this: beyond, something else reads. */
#define TIER_FIT_MAX_FACTOR 4.0

/* A fit whose residual is larger explains nothing. */
#define TIER_FIT_MAX_RESIDUAL 0.3

/*
 * The least basis of a fit: periods (three, which may have faded a little), and bytes predicted
 * or read in each of them.
 */
#define TIER_FIT_LEAST_PERIODS 2.5
#define TIER_FIT_LEAST_BYTES 8388608.0

/*
 * Exponentially weighted sums over periods of x, the bytes predicted, and y,
 * those counted by the device.  All zero: nothing is known.
 */
typedef struct TierFit
{
	double		xx;
	double		xy;
	double		yy;
	double		periods;		/* sum of the weights */
} TierFit;

/*
 * Decays the fit over elapsed_s, then adds one period.  The weight is within [0, 1]: how far
 * the period can be trusted.  A half-life <= 0 means no memory.  Values that are negative or
 * not finite count as 0.
 */
extern void tier_fit_add(TierFit *fit, double predicted, double seen, double weight,
						 double elapsed_s, double half_life_s);

/*
 * Bytes of the device for each byte predicted, by least squares: within [0,
 * TIER_FIT_MAX_FACTOR]; 1 when nothing was predicted yet.
 */
extern double tier_fit_factor(const TierFit *fit);

/*
 * The error of the factor in explaining the work of the device: the root mean square of the
 * residual over that of the counts, 0 for a perfect fit; 1 or more if the prediction is no better
 * than none.  Negative: the device did nothing yet.
 */
extern double tier_fit_residual(const TierFit *fit);

/* Returns true if the fit rests on enough periods with enough load for a verdict. */
extern bool tier_fit_is_known(const TierFit *fit);

/* Returns true if the fit is also good.  Only then the factor may be applied. */
extern bool tier_fit_explains(const TierFit *fit);

/*
 * The share of random reads that the page cache served in a period, when it
 * held the share `before` of the file at the start and `after` at the end, and
 * there were reads_per_block of them for each block of the file.  Between
 * before and after; within [0, 1].
 */
extern double tier_fit_random_hits(double before, double after, double reads_per_block);

/*
 * Requests that the kernel adds to each random read, hits included, by reading
 * ahead where it takes them for a run; `resident` is the share of the file
 * that is in the page cache.
 */
extern double tier_fit_read_ahead(double resident);

/*
 * Requests by which the kernel reads that many blocks of a file of file_blocks one after another,
 * from its start and over again as needed; the read-ahead starts small, and grows to most_blocks.
 */
extern double tier_fit_scan_requests(double blocks, double file_blocks, double most_blocks);

/*
 * The same as tier_fit_random_hits for sequential reads; passes is how often
 * the file was read from end to end, at least partly: sequential reads over its
 * blocks.
 */
extern double tier_fit_sequential_hits(double before, double after, double passes);

/*
 * Blocks that were read in sequence and were expected to come from the page cache: which
 * part of them came from the device after all, where so many blocks of all did and only so
 * many were expected to.  Within [0, 1].
 */
extern double tier_fit_unexpected_share(double from_device, double expected, double from_cache);

#endif							/* TIER_FIT_H */
