/*-------------------------------------------------------------------------
 *
 * model/split.h
 *		Divides the blocks seen by the executor into random and sequential reads, and computes
 *		the part of a relation's reads that they explain.
 *
 * Pure, like tier_cost: plain numbers in, plain numbers out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SPLIT_H
#define TIER_SPLIT_H

#include <stdbool.h>

#include "src/model/cost.h"

/* In which order a node of a plan asks for the blocks of a relation. */
typedef enum TierSplitOrder
{
	TIER_SPLIT_SCAN,			/* one after the other */
	TIER_SPLIT_GAPS,			/* ascending, but not all of them: bitmap
								 * scan, TABLESAMPLE SYSTEM */
	TIER_SPLIT_BY_INDEX,		/* a table, in the order of an index */
	TIER_SPLIT_INDEX,			/* an index */
	TIER_SPLIT_VALUES,			/* a TOAST table: the chunks of one value
								 * after the other */
	TIER_SPLIT_SINGLE,			/* here and there: by TID, and where rows are
								 * changed */
} TierSplitOrder;

#define TIER_SPLIT_ORDERS 6

/* The reads of a relation by one kind of node in one plan. */
typedef struct TierSplitReads
{
	TierSplitOrder order;
	double		fetched;		/* blocks asked for */
	double		misses;			/* of these, not found in shared buffers */
	double		scans;			/* times that it began somewhere: index scans,
								 * values; for GAPS passes over the table */
	double		pages;			/* size of the relation in blocks, 0: unknown */
	double		correlation;	/* BY_INDEX: between the order of the index
								 * and that of the table, -1 to 1 */
} TierSplitReads;

/*
 * How many of the misses were sequential; the others were random.
 *
 *		SCAN		all
 *		GAPS		sqrt(fetched / scans / pages) of them, as the planner
 *					charges bitmap scans; none when the size is unknown
 *		BY_INDEX	correlation ^ 2 of those beyond the first of each scan, as the
 *					planner charges index scans
 *		INDEX		all beyond the first leaf of each scan; the pages above the
 *					leaves, 2 and one in 100 and at most 4 for each scan, are
 *					random
 *		VALUES		all beyond the first of each value
 *		SINGLE		none
 *
 * Within [0, misses]; values that are negative or not finite count as 0.
 */
extern double tier_split_sequential(const TierSplitReads *reads);

/* Where a relation's split comes from; stored, so values never change. */
#define TIER_SOURCE_STATISTICS 's'
#define TIER_SOURCE_EXECUTOR 'e'

/* How many of some misses of a relation caused a request of a device: low <= mid <= high. */
typedef struct TierSplitRequests
{
	double		low;
	double		mid;
	double		high;
	double		ahead;			/* blocks that were read ahead of these misses */
} TierSplitRequests;

/*
 * The part of the server's counters, present or still to come, of reads of one relation that do
 * not count as use.  Exact: such reads are always watched.
 */
typedef struct TierSplitIgnored
{
	double		scans;
	double		tuples;			/* that scans have returned */
	double		hits;
	double		misses;
	double		plans;			/* or other statements */
} TierSplitIgnored;

/* Adds the ignored reads of others. */
extern void tier_split_add_ignored(TierSplitIgnored *sum, const TierSplitIgnored *more);

/* At most so much of each; plans as they are. */
extern TierSplitIgnored tier_split_least_ignored(const TierSplitIgnored *ignored,
												 const TierSplitIgnored *most);

/* The part of `all` that is left without `used`, if it is no older than `fresh`. */
extern TierSplitIgnored tier_split_rest_of_ignored(const TierSplitIgnored *all,
												   const TierSplitIgnored *used,
												   const TierSplitIgnored *fresh);

/*
 * The reads of one relation by tracked plans in one period.  Each plan weighs 1 / p, where p was
 * its probability of being tracked, so these are unbiased estimates for all plans; the variances
 * are those of the estimates.
 */
typedef struct TierSplitPlans
{
	double		random;
	double		sequential;
	double		random_variance;
	double		sequential_variance;
	double		added;			/* of the random ones: where rows were
								 * changed, so that they may be blocks that
								 * were added */
	double		hits;
	double		plans;			/* tracked ones, not weighted */
	TierSplitIgnored ignored;	/* by applications that do not count as use;
								 * in none of the others, nor in a split */

	/*
	 * Of the sequential ones, those in plans of which the kernel counted what
	 * they read from devices, and how many of these that were, or more when
	 * it was read ahead for others.  Shared: that is known of all relations
	 * of the plan together, and may be another share of this one.
	 */
	double		measured;
	double		measured_device;
	double		shared;
	double		shared_device;

	/*
	 * Of the random ones, those in plans whose reads from devices the kernel
	 * counted; and how many of these caused a request.
	 */
	double		bounded;
	TierSplitRequests requests;
} TierSplitPlans;

/* Adds the reads of other plans. */
extern void tier_split_add_plans(TierSplitPlans *sum, const TierSplitPlans *more);

/* All that they read and did not find in shared buffers. */
extern double tier_split_misses(const TierSplitPlans *plans);

/*
 * A plan, or a part of it, missed `misses` blocks, of which `own` are random reads of one
 * relation, and had device_blocks read from devices, read-ahead included, temp_blocks of
 * which may be of temporary files.  How many of `own` caused a request, at least and at
 * most: each request reads something, and none but one of a miss reads anything, or a
 * temporary file's.  In between, each of the relation's misses is `odds` times as likely to
 * have caused one as each of the others.  `ahead` is 0.
 */
extern TierSplitRequests tier_split_bound_requests(double own, double misses,
												   double device_blocks, double temp_blocks,
												   double odds);

/* *sum grows by `factor` times as many of each. */
extern void tier_split_add_requests(TierSplitRequests *sum, const TierSplitRequests *more,
									double factor);

/* The share of a relation's random reads that caused a request, from all plans tracked. */
typedef struct TierSplitRequestShare
{
	double		low;			/* bounds of the share, wider than the known
								 * share by the sampling error (95 %); 0 and 1
								 * if nothing is known */
	double		high;
	double		counted;		/* of the plans; 0 if known is */
	double		ahead;			/* blocks read ahead for each read */
	double		known;			/* weight of `counted` against the estimate
								 * without it, 0 to 1 */
} TierSplitRequestShare;

#define TIER_SPLIT_SHARE_UNKNOWN ((TierSplitRequestShare) {0.0, 1.0, 0.0, 0.0, 0.0})

/*
 * A sample of n reads weighs n against 1 of any expectation without them, as much as the
 * prior of Jeffreys (1946) for a share; 1 if all was tracked.
 */
extern TierSplitRequestShare tier_split_request_share(const TierSplitPlans *plans);

/* One relation in one period, from both sides. */
typedef struct TierSplitPeriod
{
	double		misses;			/* by the statistics; without added blocks and
								 * ignored reads */
	double		grown;			/* blocks that were taken out */
	TierCostAttribution statistics; /* the attribution by statistics alone */
	bool		covered;		/* plans were tracked in all of the period */
	bool		complete;		/* nothing that was tracked got lost */
	bool		is_index;
	bool		touched;		/* the statistics show scans or changed rows */
	bool		looked_up;		/* of an index, or of one of the table's */
	bool		maintained;		/* vacuumed or analyzed in the period */
	double		sample_rate;	/* probability of tracking a cheap plan */
	double		certain_blocks; /* what a plan reads at most whose probability
								 * of being tracked is less than 1, if the
								 * planner is right; that probability is at
								 * least the share of it that it reads */
	TierSplitPlans plans;
} TierSplitPeriod;

typedef struct TierSplitResult
{
	char		source;			/* TIER_SOURCE_... */
	TierCostAttribution use;	/* reads that are heat */
	double		maintenance;	/* reads that are not */
	double		added;			/* of the plans' `added`, blocks that were */
	double		used_share;		/* of what else the plans read, 0 to 1: more
								 * than the misses cannot be used */
} TierSplitResult;

/*
 * The misses of a relation that were use, and their split.
 *
 * Not covered: the statistics' own split, all of it use.
 *
 * In no tracked plan: none is use, all is maintenance, in any of these cases: every plan is
 * tracked; the relation was vacuumed or analyzed and there is no sign of use; an index has no
 * sign of use, which every scan would leave: then the planner has looked at its first block; or
 * the misses are more than plans that were not tracked can explain.  Else the statistics' own
 * split.
 *
 * Otherwise the estimate, at most the misses; a rest of the misses is maintenance, unless the
 * sampling error explains it and the relation was neither vacuumed nor analyzed: then it is use
 * and split alike.  The bounds of the sequential part are those of the sampling error (95 %); a
 * rest that only plans that were not tracked can explain counts as all random or all sequential.
 *
 * use.misses + maintenance = misses.
 */
extern TierSplitResult tier_split_period(const TierSplitPeriod *period);

/*
 * Returns true if it is certain, as far as sampling allows, that only maintenance has read the
 * relation.  Scans of an index are use.  If all blocks were in shared buffers, the executor is no
 * evidence: its counts may not have been handed on yet.
 */
extern bool tier_split_is_maintenance(const TierSplitPeriod *period);

#endif							/* TIER_SPLIT_H */
