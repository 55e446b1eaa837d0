/*-------------------------------------------------------------------------
 *
 * model/split.c
 *		Divides the blocks seen by the executor into random and sequential reads, and computes
 *		the part of a relation's reads that they explain.
 *
 * The executor knows which node of a plan asked for a block, and nodes differ
 * in the order in which they ask.  The device's view of that order is what
 * the planner's cost model estimates for each kind of node; the same
 * interpolations are used here, on counts that were measured.
 *
 * Besides the executor, vacuum, analyze, COPY of a whole table, index builds and moves read
 * blocks; they are in the statistics, but no query waits for them.  Reads that the plans do not
 * explain are therefore kept apart, as far as sampling allows.  In doubt a read is use: a
 * relation that is taken for colder than it is would be moved to a tier that is too slow for it.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "src/model/number.h"
#include "src/model/split.h"

/* Two-sided 95 % of the normal distribution. */
#define Z_95 1.96

/*
 * Beside its leaves an index has a first page about itself, a root, and below
 * that about one inner page for this many leaves, or fewer; and a descent passes no
 * more than so many of them that are not cached.
 */
#define PAGES_ABOVE 2.0
#define PAGES_PER_INNER_PAGE 100.0
#define PAGES_OF_DESCENT 4.0

/*
 * When no cheap plan was tracked, there were fewer than this many times
 * 1 / sample_rate of them (95 %, the rule of three), each reading about so
 * many blocks: a few rows and the way to them.
 */
#define UNSEEN_PLANS 3.0
#define BLOCKS_OF_CHEAP_PLAN 10.0

/* In reads, as that of the prior of Jeffreys (1946). */
#define WEIGHT_OF_EXPECTATION 1.0

/* An index plan may read so many times the blocks that the planner expects. */
#define MISESTIMATE 10.0

double
tier_split_sequential(const TierSplitReads *reads)
{
	double		misses = tier_amount(reads->misses);
	double		scans = tier_amount(reads->scans);
	double		pages = tier_amount(reads->pages);
	double		share;
	double		first;

	switch (reads->order)
	{
		case TIER_SPLIT_SCAN:
			return misses;

		case TIER_SPLIT_GAPS:
			if (pages <= 0.0)
				return 0.0;
			share = tier_amount(reads->fetched) / tier_larger(scans, 1.0) / pages;
			return misses * sqrt(tier_smaller(share, 1.0));

		case TIER_SPLIT_BY_INDEX:
			share = reads->correlation * reads->correlation;
			return tier_smaller(tier_amount(share), 1.0) * tier_amount(misses - scans);

		case TIER_SPLIT_INDEX:
			first = scans;
			if (pages > 1.0)
				first += tier_smaller(scans * PAGES_OF_DESCENT,
									  PAGES_ABOVE + floor(pages / PAGES_PER_INNER_PAGE));
			return tier_amount(misses - first);

		case TIER_SPLIT_VALUES:
			return tier_amount(misses - scans);

		case TIER_SPLIT_SINGLE:
			break;
	}
	return 0.0;
}

void
tier_split_add_ignored(TierSplitIgnored *sum, const TierSplitIgnored *more)
{
	tier_add_doubles(sum, more, sizeof(*sum), 1.0);
}

TierSplitIgnored
tier_split_least_ignored(const TierSplitIgnored *ignored, const TierSplitIgnored *most)
{
	TierSplitIgnored least = *ignored;

	least.scans = tier_smaller(ignored->scans, tier_amount(most->scans));
	least.tuples = tier_smaller(ignored->tuples, tier_amount(most->tuples));
	least.hits = tier_smaller(ignored->hits, tier_amount(most->hits));
	least.misses = tier_smaller(ignored->misses, tier_amount(most->misses));
	return least;
}

TierSplitIgnored
tier_split_rest_of_ignored(const TierSplitIgnored *all, const TierSplitIgnored *used,
						   const TierSplitIgnored *fresh)
{
	TierSplitIgnored rest = {0.0, 0.0, 0.0, 0.0, 0.0};

	rest.scans = tier_smaller(tier_amount(all->scans - used->scans), fresh->scans);
	rest.tuples = tier_smaller(tier_amount(all->tuples - used->tuples), fresh->tuples);
	rest.hits = tier_smaller(tier_amount(all->hits - used->hits), fresh->hits);
	rest.misses = tier_smaller(tier_amount(all->misses - used->misses), fresh->misses);
	if (rest.scans + rest.tuples + rest.hits + rest.misses > 0.0)
		rest.plans = fresh->plans;
	return rest;
}

void
tier_split_add_plans(TierSplitPlans *sum, const TierSplitPlans *more)
{
	tier_add_doubles(sum, more, sizeof(*sum), 1.0);
}

double
tier_split_misses(const TierSplitPlans *plans)
{
	return plans->random + plans->sequential + plans->ignored.misses;
}

/* Of all that were missed together, the relation's part as the odds say. */
static double
likely_requests(double own, double odds, double others, double blocks)
{
	double		weight = own * odds;

	if (blocks >= own + others)
		return own;
	return weight + others > 0.0 ? blocks * (weight / (weight + others)) : 0.0;
}

TierSplitRequests
tier_split_bound_requests(double own, double misses, double device_blocks, double temp_blocks,
						  double odds)
{
	double		blocks = tier_amount(device_blocks);
	double		others = tier_amount(misses - own);
	double		at_least;
	TierSplitRequests requests;

	own = tier_amount(own);

	/* One request may have read all blocks: a part of them, ahead of others. */
	at_least = tier_smaller(ceil(tier_amount(blocks - tier_amount(temp_blocks))), 1.0);
	requests.low = tier_smaller(own, tier_amount(at_least - others));
	requests.high = tier_smaller(own, ceil(blocks));
	requests.mid = tier_clamp(likely_requests(own, tier_amount(odds), others, blocks),
							  requests.low, requests.high);
	requests.ahead = 0.0;
	return requests;
}

void
tier_split_add_requests(TierSplitRequests *sum, const TierSplitRequests *more, double factor)
{
	tier_add_doubles(sum, more, sizeof(*sum), factor);
}

/*
 * Bounds of a share that was found in a sample of n (Wilson 1927): unlike the normal
 * approximation, right where none or all of a few have it.
 */
static double
wilson_bound(double share, double n, double z)
{
	double		zz = z * z;

	if (!(n > 0.0))
		return z < 0.0 ? 0.0 : 1.0;
	return tier_clamp((share + zz / (2.0 * n) +
					   z * sqrt(share * (1.0 - share) / n + zz / (4.0 * n * n))) / (1.0 + zz / n),
					  0.0, 1.0);
}

/* A sample of so many reads against what one expects without it; all: weight 1. */
static double
weight_of_sample(double n, bool is_all)
{
	if (is_all)
		return 1.0;
	return n > 0.0 ? 1.0 / (1.0 + WEIGHT_OF_EXPECTATION / n) : 0.0;
}

/*
 * A sample of plans with different weights says as much as one of n = sum^2 / variance
 * reads that were drawn one by one (Kish 1965: the effective sample size); where each
 * plan was tracked, all is known.
 */
TierSplitRequestShare
tier_split_request_share(const TierSplitPlans *plans)
{
	TierSplitRequestShare share = TIER_SPLIT_SHARE_UNKNOWN;
	double		random = tier_amount(plans->random);
	double		bounded = tier_smaller(tier_amount(plans->bounded), random);
	double		variance = tier_amount(plans->random_variance);
	double		share_low;
	double		share_high;
	double		part;
	double		n;

	if (!(bounded > 0.0))
		return share;
	part = bounded / random;
	n = variance > 0.0 ? part * random * (random / variance) : 0.0;
	share.counted = tier_smaller(tier_amount(plans->requests.mid) / bounded, 1.0);
	share.ahead = tier_amount(plans->requests.ahead) / bounded;
	share.known = part * weight_of_sample(n, !(variance > 0.0));
	share_low = tier_smaller(tier_amount(plans->requests.low) / bounded, 1.0);
	share_high = tier_smaller(tier_amount(plans->requests.high) / bounded, 1.0);
	if (variance > 0.0)
	{
		share_low = wilson_bound(share_low, n, -Z_95);
		share_high = wilson_bound(share_high, n, Z_95);
	}
	share.low = part * share_low;
	share.high = tier_larger(1.0 - part * (1.0 - share_high), share.low);
	return share;
}

static TierSplitResult
by_statistics(const TierSplitPeriod *period)
{
	TierSplitResult result;

	result.source = TIER_SOURCE_STATISTICS;
	result.use = period->statistics;
	result.maintenance = 0.0;
	result.added = 0.0;
	result.used_share = 0.0;
	return result;
}

static TierSplitResult
no_use(double misses)
{
	TierSplitResult result = {TIER_SOURCE_EXECUTOR, {0.0, 0.0, 0.0, 0.0}, 0.0, 0.0, 0.0};

	result.maintenance = misses;
	return result;
}

/* The blocks that so many cheap plans read of which none was tracked. */
static double
unseen_blocks(const TierSplitPeriod *period)
{
	return UNSEEN_PLANS / tier_larger(period->sample_rate, 1e-6) * BLOCKS_OF_CHEAP_PLAN;
}

/*
 * The most blocks that plans can have read if none of them was tracked (95 %).  A plan that
 * reads the share s of certain_blocks is tracked with a probability of s at least.  If none
 * was tracked, the sum of the probabilities is at most 3, and so is the sum of the shares: 3
 * times certain_blocks, whatever the sample rate, if the planner knew the number of blocks.
 * It knows that for scans of tables, except for those that end early (LIMIT).  Without any
 * sign of use, only access by TID was possible, which leaves no trace.
 */
static double
explained_by_unseen(const TierSplitPeriod *period)
{
	double		few = unseen_blocks(period);
	double		more = UNSEEN_PLANS * tier_amount(period->certain_blocks);

	if (!period->touched)
		return few;
	return tier_larger(few, period->looked_up ? more * MISESTIMATE : more);
}

/* In no tracked plan. */
static TierSplitResult
without_plans(const TierSplitPeriod *period, double misses)
{
	if (!period->touched && (period->maintained || period->is_index))
		return no_use(misses);
	if (period->complete &&
		(period->sample_rate >= 1.0 || misses > explained_by_unseen(period)))
		return no_use(misses);
	return by_statistics(period);
}

bool
tier_split_is_maintenance(const TierSplitPeriod *period)
{
	double		misses = tier_amount(period->misses);

	if (period->looked_up || period->plans.plans > 0.0)
		return false;
	if (!period->touched && (period->maintained || period->is_index))
		return true;
	return misses > 0.0 && period->covered && period->complete &&
		(period->sample_rate >= 1.0 || misses > explained_by_unseen(period));
}

TierSplitResult
tier_split_period(const TierSplitPeriod *period)
{
	const TierSplitPlans *plans = &period->plans;
	TierSplitResult result = {TIER_SOURCE_EXECUTOR, {0.0, 0.0, 0.0, 0.0}, 0.0, 0.0, 1.0};
	double		misses = tier_amount(period->misses);
	bool		is_sample = !(period->sample_rate >= 1.0);
	double		random = tier_amount(plans->random);
	double		sequential = tier_amount(plans->sequential);
	double		error;
	double		unseen;
	double		seen;
	double		rest;
	double		factor = 1.0;
	double		margin;

	if (!period->covered)
		return by_statistics(period);
	if (!(plans->plans > 0.0))
		return without_plans(period, misses);

	/*
	 * Blocks that were added count as read where rows are inserted.  Their
	 * number by plans has the error of the sample: what is within it is none
	 * that were read.
	 */
	if (period->grown > 0.0)
		result.added = tier_smaller(tier_smaller(tier_amount(plans->added), random),
									period->grown +
									Z_95 * sqrt(tier_amount(plans->random_variance)));
	random -= result.added;

	seen = random + sequential;
	if (seen > misses)
	{
		/* More than there was: sampling, or counted after the others. */
		factor = misses / seen;
		result.used_share = factor;
		rest = 0.0;
	}
	else
		rest = misses - seen;

	error = Z_95 *
		sqrt(tier_amount(plans->random_variance) + tier_amount(plans->sequential_variance));
	margin = Z_95 * sqrt(tier_amount(plans->sequential_variance));
	unseen = is_sample ? unseen_blocks(period) : 0.0;

	result.use.sequential_mid = sequential;
	result.use.sequential_low = tier_amount(sequential - margin);
	result.use.sequential_high = sequential + margin;
	result.use.misses = seen;
	if (rest > 0.0 && !period->maintained && rest <= tier_larger(error, unseen))
	{
		result.use.misses = seen + rest;
		if (seen > 0.0)
			factor = result.use.misses / seen;
		if (rest > error)
		{
			result.use.sequential_low = result.use.sequential_low / factor;
			result.use.sequential_high = (result.use.sequential_high + rest) / factor;
		}
		rest = 0.0;
	}
	else if (factor < 1.0)
		result.use.misses = seen * factor;

	result.use.sequential_mid = tier_smaller(result.use.sequential_mid * factor,
											 result.use.misses);
	result.use.sequential_low = tier_smaller(result.use.sequential_low * factor,
											 result.use.sequential_mid);
	result.use.sequential_high =
		tier_smaller(tier_larger(result.use.sequential_high * factor, result.use.sequential_mid),
					 result.use.misses);
	result.maintenance = tier_amount(misses - result.use.misses);
	return result;
}
