/*-------------------------------------------------------------------------
 *
 * observe/attribute.c
 *		Splitting the reads of a period into use and maintenance, and by order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "utils/spccache.h"

#include "src/base/settings.h"
#include "src/observe/access.h"
#include "src/observe/attribute.h"

/* Random and sequential reads by the statistics. */
static TierCostAttribution
attribute_by_statistics(const TierRelationState *state, const TierCounters *delta)
{
	TierCostCounters counters;

	counters.is_index = state->id.kind == RELKIND_INDEX;
	counters.scans = delta->scans;
	counters.tuples_read = delta->tuples_read;
	counters.blocks_fetched = delta->blocks_fetched;
	counters.blocks_hit = delta->blocks_hit;
	counters.pages = (double) state->stored.size_bytes / BLCKSZ;
	counters.tuples = state->id.tuples;
	return tier_cost_attribute(&counters);
}

/*
 * Reads reported by the executor that exceed the growth of the counters may not have reached
 * them yet: they are kept for the next sample.  Reads that were kept before are used first.
 * They are kept again only while they are young and the counters have not grown: a remainder
 * after a growth may be an error of the estimate.
 */
static void
carry_plans(TierSplitPlans *rest, const TierAccessCount *count, double added, double used_share)
{
	const TierSplitPlans *all = &count->plans;
	const TierSplitPlans *young = &count->young;
	double		share = 1.0 - used_share;

	rest->random = Min(Max(all->random - added, 0.0) * share, young->random);
	rest->sequential = Min(all->sequential * share, young->sequential);
	if (rest->random + rest->sequential < 0.5)
	{
		rest->random = rest->sequential = 0.0;
		return;
	}
	rest->random_variance = Min(all->random_variance * share, young->random_variance);
	rest->sequential_variance = Min(all->sequential_variance * share, young->sequential_variance);
	rest->added = Min(Max(all->added - added, 0.0) * share, young->added);
	rest->measured = Min(all->measured * share, young->measured);
	rest->measured_device = Min(all->measured_device * share, young->measured_device);
	rest->shared = Min(all->shared * share, young->shared);
	rest->shared_device = Min(all->shared_device * share, young->shared_device);
	rest->bounded = Min(all->bounded * share, young->bounded);
	if (all->bounded > 0.0)
		tier_split_add_requests(&rest->requests, &all->requests, rest->bounded / all->bounded);
	rest->plans = Min(all->plans * share, young->plans);
}

void
tier_attribute_carry(const TierRelationPeriod *period, const TierAccessCount *count, double added,
					 double used_share)
{
	TierSplitPlans rest;

	memset(&rest, 0, sizeof(rest));
	if (used_share < 1.0)
		carry_plans(&rest, count, added, used_share);
	if (period->ignored_is_known)
		rest.ignored = tier_split_rest_of_ignored(&count->plans.ignored, &period->ignored,
												  &count->young.ignored);
	if (rest.random + rest.sequential > 0.0 || rest.ignored.plans > 0.0)
		tier_access_shared_carry(count->relation_oid, &rest,
								 period->active ? 0 : count->young_since_us);
}

static void
take_measured_shares(TierRelationPeriod *period, const TierSplitPlans *plans)
{
	if (plans->sequential <= 0.0)
		return;
	period->measured_part = Min(plans->measured / plans->sequential, 1.0);
	period->shared_part = Min(plans->shared / plans->sequential, 1.0 - period->measured_part);
	if (plans->measured > 0.0)
		period->measured_share = Min(plans->measured_device / plans->measured, 1.0);
	if (plans->shared > 0.0)
		period->shared_share = Min(plans->shared_device / plans->shared, 1.0);
}

/* Blocks from which on a plan is so expensive that it is always tracked. */
static double
certain_blocks(Oid tablespace_oid)
{
	double		sequential_cost;

	get_tablespace_page_costs(tablespace_oid, NULL, &sequential_cost);
	return TIER_COST_OF_CERTAINTY / Max(sequential_cost, 1e-6);
}

/*
 * The reads of a table before its plans were watched do not count as use where they are not
 * the work of its scans, and no index was scanned: loading, building indexes and vacuuming
 * leave such reads, and queries do not.
 */
static void
leave_out_loading(TierRelationPeriod *period)
{
	TierCostAttribution *use = &period->attribution;

	period->maintenance_reads += use->misses - use->sequential_mid;
	use->misses = use->sequential_high = use->sequential_mid;
}

/*
 * Hits in shared buffers are one number for use and maintenance: a load hits a hundred times
 * as often as it misses, and would count as a hundred thousand reads of an hour.  So the share
 * of use is that of the misses; if no index scan has found a row, it is at most what scans
 * have read.
 */
static double
hits_of_use(const TierRelationState *state, bool looked_up, bool is_maintenance)
{
	const TierRelationPeriod *period = &state->period;
	double		all = period->attribution.misses + period->maintenance_reads;
	double		hits = period->delta.blocks_hit;
	double		pages = Max(state->stored.size_bytes, 0) / (double) BLCKSZ;

	if (is_maintenance)
		return 0.0;
	if (all > 0.0)
		hits *= period->attribution.misses / all;
	if (!looked_up)
		hits = Min(hits, state->id.kind == RELKIND_INDEX ? 0.0 : period->delta.scans * pages);
	return hits;
}

bool
tier_attribute_reads(TierRelationState *state, const TierAccessTaken *taken,
					 const TierAccessCount *count, bool carry, bool is_first)
{
	TierRelationPeriod *period = &state->period;
	TierSplitPeriod input;
	TierSplitResult result;
	bool		is_maintenance;

	memset(&input, 0, sizeof(input));
	input.statistics = attribute_by_statistics(state, &period->delta);
	input.misses = input.statistics.misses;
	input.grown = period->added_blocks;
	input.covered = taken->covered && tier_track_access;
	input.complete = taken->dropped <= 0.0;
	input.maintained = state->stored.maintained_at != 0;

	input.is_index = state->id.kind == RELKIND_INDEX;
	input.looked_up = period->index_scanned || (input.is_index && period->delta.scans > 0);
	input.touched = input.looked_up || period->delta.scans > 0 ||
		period->delta.tuples_read > 0 || period->delta.row_changes > 0;
	input.sample_rate = TIER_TRACK_SHARE;
	input.certain_blocks = certain_blocks(state->id.tablespace_oid);
	if (count != NULL)
		input.plans = count->plans;
	period->random_requests = TIER_SPLIT_SHARE_UNKNOWN;
	if (taken->device_seen)
		take_measured_shares(period, &input.plans);

	result = tier_split_period(&input);
	if (taken->device_seen && result.source == TIER_SOURCE_EXECUTOR)
		period->random_requests = tier_split_request_share(&input.plans);
	period->attribution = result.use;
	period->maintenance_reads = result.maintenance;
	if (is_first && count == NULL && !input.is_index && !input.looked_up)
		leave_out_loading(period);
	is_maintenance = tier_split_is_maintenance(&input);
	period->use_hits = hits_of_use(state, input.looked_up, is_maintenance);
	state->stored.source = result.source;
	if (carry && count != NULL)
		tier_attribute_carry(period, count, result.added, input.covered ? result.used_share : 1.0);
	return is_maintenance;
}

void
tier_attribute_ignored(TierRelationState *state)
{
	TierRelationPeriod *period = &state->period;

	period->maintenance_reads += period->ignored.misses;
	if (period->only_ignored)
	{
		period->random_requests = TIER_SPLIT_SHARE_UNKNOWN;
		state->stored.source = TIER_SOURCE_EXECUTOR;
	}
}

void
tier_attribute_standby(TierRelationState *state)
{
	TierRelationPeriod *period = &state->period;
	const TierCounters *there = &period->standby;
	TierCostAttribution *split = &period->standby_attribution;

	if (there->scans <= 0 && there->blocks_fetched <= 0)
		return;
	*split = attribute_by_statistics(state, there);
	period->attribution.misses += split->misses;
	period->attribution.sequential_low += split->sequential_low;
	period->attribution.sequential_mid += split->sequential_mid;
	period->attribution.sequential_high += split->sequential_high;
	period->delta.scans += there->scans;
	period->delta.tuples_read += there->tuples_read;
	period->delta.blocks_fetched += there->blocks_fetched;
	period->delta.blocks_hit += there->blocks_hit;
	period->use_hits += there->blocks_hit;
}
