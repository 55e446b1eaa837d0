/*-------------------------------------------------------------------------
 *
 * observe/access_report.c
 *		Splitting the reads of a plan into random and sequential ones.
 *
 * Runs when a watched plan has ended, once for each, also while a transaction aborts.
 * model/split.c computes which misses were sequential, by the order in which each relation was
 * read.
 *
 * The kernel counts for each process which of the reads came from a device and not from the
 * page cache.  For sequential reads that is their cost.  For random reads it is an upper
 * bound, because it includes read-ahead.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "port/pg_bitutils.h"

#include "src/observe/access_counts.h"
#include "src/observe/access_plan.h"
#include "src/observe/access_plan_private.h"
#include "src/observe/query_reads.h"
#include "src/storage/page_cache.h"

/* A plan's reads from devices count if at least this share of its misses was sequential. */
#define SEQUENTIAL_SHARE 0.9

/* See share_is_its_own(). */
#define OWN_SHARE 0.9

#define TABLESPACE_SLOTS 16

/* Relations of a query that are handed on at once. */
#define QUERY_SLOTS 16

/* The index that most scans of a table used tells how it was read. */
static void
summarize_index_scans(const TierAccessPlan *plan, int table, double *scans, double *correlation)
{
	int64		most = -1;

	*scans = *correlation = 0.0;
	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *index = &plan->uses[i];

		if (index->table_use != table)
			continue;
		*scans += index->own.scans;
		if (index->own.scans > most)
		{
			most = index->own.scans;
			*correlation = index->correlation;
		}
	}
}

/* The number of these blocks of a relation that were sequential misses. */
static double
sequential_part(const TierAccessPlan *plan, int use, TierSplitOrder order, int64 fetched,
				int64 hit)
{
	const RelationUse *relation = &plan->uses[use];
	TierSplitReads reads;

	memset(&reads, 0, sizeof(reads));
	reads.order = order;
	reads.fetched = fetched;
	reads.misses = fetched - hit;
	reads.pages = relation->pages;
	if (reads.misses <= 0.0)
		return 0.0;
	switch (order)
	{
		case TIER_SPLIT_BY_INDEX:
			summarize_index_scans(plan, use, &reads.scans, &reads.correlation);
			break;
		case TIER_SPLIT_INDEX:
			reads.scans = relation->own.scans;
			break;
		case TIER_SPLIT_VALUES:
		case TIER_SPLIT_GAPS:
			if (relation->index_use != NO_USE)
				reads.scans = plan->uses[relation->index_use].own.scans;
			break;
		default:
			break;
	}
	return tier_split_sequential(&reads);
}

static bool
is_mixed(const RelationUse *use)
{
	return (use->orders & (use->orders - 1)) != 0;
}

/* Misses that belong to none of its measured nodes. */
static int64
rest_misses(const RelationUse *use, int64 *fetched)
{
	int64		hit;

	*fetched = Max(use->own.fetched - use->measured_fetched, 0);
	hit = Max(Min(use->own.hit - use->measured_hit, *fetched), 0);
	return *fetched - hit;
}

/* Computes the sequential part of the misses of a relation. */
static void
split_misses(TierAccessPlan *plan, int use)
{
	RelationUse *relation = &plan->uses[use];
	bool		mixed = is_mixed(relation);
	TierSplitOrder rest_order = mixed ? TIER_SPLIT_SINGLE :
	(TierSplitOrder) pg_rightmost_one_pos32(relation->orders);
	int64		fetched;
	int64		misses = rest_misses(relation, &fetched);
	double		sequential = sequential_part(plan, use, rest_order, fetched, fetched - misses);

	if (mixed)
		for (int i = 0; i < plan->nmeasures; i++)
			if (plan->measures[i].use == use)
				sequential += sequential_part(plan, use, plan->measures[i].order,
											  plan->measures[i].fetched, plan->measures[i].hit);
	relation->sequential = Min(sequential, relation->own.fetched - relation->own.hit);
}

/*
 * Returns true if the kernel counts reads from the tablespace for this process.  Looked up
 * once for each of the last few tablespaces.
 */
static bool
is_counted(Oid tablespace_oid)
{
	static struct
	{
		Oid			tablespace_oid;
		bool		is_counted;
	}			known[TABLESPACE_SLOTS];
	int			slot = tablespace_oid % TABLESPACE_SLOTS;

	if (known[slot].tablespace_oid != tablespace_oid)
	{
		known[slot].is_counted = tier_pagecache_counts_readers(tablespace_oid);
		known[slot].tablespace_oid = tablespace_oid;
	}
	return known[slot].is_counted;
}

/*
 * Reads of a plan from a device, for each of its misses; -1: not known.  More than 1 after
 * read-ahead for other processes, which have less then.
 *
 * Temporary files have just been written, so that few of their blocks do; if they did,
 * this is too much, and with more of them than misses it says nothing.
 */
static double
device_share(const TierAccessPlan *plan, double all_misses, double sequential)
{
	if (!tier_compat_reads_ahead_are_own() || plan->temp_blocks > all_misses ||
		sequential < SEQUENTIAL_SHARE * all_misses)
		return -1.0;
	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *use = &plan->uses[i];

		if (use->sequential > 0.0 &&
			(!OidIsValid(use->tablespace_oid) || !is_counted(use->tablespace_oid)))
			return -1.0;
	}
	return (double) plan->device_bytes / BLCKSZ / all_misses;
}

/*
 * Returns true if that share of the whole plan is also that of one of its relations: if the
 * relation has nearly all of the misses, or everything came from the device, or too little for
 * a large share of this relation.
 */
static bool
share_is_its_own(double share, double its_misses, double misses)
{
	return its_misses >= OWN_SHARE * misses || share >= OWN_SHARE ||
		share * misses <= (1.0 - OWN_SHARE) * its_misses;
}

/*
 * Returns true if this process has read its random blocks itself and the kernel counts that.
 * It has if the blocks were not read ahead, which scans of tables do; access methods of
 * extensions are not known.
 */
static bool
random_reads_are_counted(const RelationUse *use)
{
	if (use->is_late || !OidIsValid(use->tablespace_oid) || !is_counted(use->tablespace_oid))
		return false;
	return tier_compat_reads_ahead_are_own() ||
		((use->orders & (ORDER_BIT(TIER_SPLIT_SCAN) | ORDER_BIT(TIER_SPLIT_GAPS))) == 0 &&
		 !use->is_foreign_method);
}

/*
 * random: without blocks that may have been added, which were not read.  The reads that the
 * kernel was asked for call by call are known best; the others share the rest of what the plan
 * has read.
 */
static void
bound_requests(const TierAccessPlan *plan, const RelationUse *use, double random,
			   double all_misses, TierSplitPlans *plans)
{
	double		watched = Min((double) use->watched, random);
	double		blocks = (double) plan->device_bytes / BLCKSZ - plan->watched_blocks;
	TierSplitRequests requests;

	requests = tier_split_bound_requests(random - watched, all_misses - plan->watched_misses,
										 blocks, plan->temp_blocks, 1.0);
	if (watched > 0.0)
		tier_split_add_requests(&requests, &use->requests, watched / use->watched);
	plans->bounded = plan->weight * random;
	tier_split_add_requests(&plans->requests, &requests, plan->weight);
}

/* all_misses: of the whole plan; share: see device_share() */
static void
report_misses(const TierAccessPlan *plan, const RelationUse *use, double all_misses, double share)
{
	double		misses = use->own.fetched - use->own.hit;
	double		random = misses - use->sequential;
	double		added = 0.0;
	double		weight = plan->weight;
	int64		fetched;
	TierSplitPlans plans;

	memset(&plans, 0, sizeof(plans));
	plans.plans = 1.0;
	plans.hits = weight * use->own.hit;
	plans.random = weight * random;
	plans.sequential = weight * use->sequential;
	plans.random_variance = weight * (weight - 1.0) * random * random;
	plans.sequential_variance = weight * (weight - 1.0) * use->sequential * use->sequential;
	if (use->is_changed && !use->is_late)
		added = Min(random, rest_misses(use, &fetched));
	plans.added = weight * added;
	if (random_reads_are_counted(use))
		bound_requests(plan, use, random - added, all_misses, &plans);
	if (share >= 0.0 && share_is_its_own(share, misses, all_misses))
	{
		plans.measured = weight * use->sequential;
		plans.measured_device = plans.measured * share;
	}
	else if (share < 0.0 && use->watched >= OWN_SHARE * misses &&
			 random_reads_are_counted(use))
	{
		plans.measured = weight * use->sequential;
		plans.measured_device = plans.measured * (use->requests.mid / use->watched);
	}
	else if (share >= 0.0)
	{
		plans.shared = weight * use->sequential;
		plans.shared_device = plans.shared * share;
	}
	tier_access_counts_add(use->relation_oid, &plans);
}

/*
 * Reports only certain reads: no inferred reads of partitions, and no misses that may be added
 * blocks, where the server counts these as misses.  The rest counts as use.
 */
static void
report_ignored(const TierAccessPlan *plan)
{
	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *use = &plan->uses[i];
		TierCompatBlockCounts own = use->own;

		if (use->is_late)
			continue;
		if (use->is_changed && TIER_COMPAT_EXTENSION_COUNTS_AS_MISS)
			own.fetched = own.hit;
		tier_access_counts_add_ignored(use->relation_oid, &own);
	}
}

/* Reports the reads of the plan's query, without added blocks, where these count as misses. */
static void
report_query(const TierAccessPlan *plan)
{
	TierQueryRead reads[QUERY_SLOTS];
	double		calls = IsParallelWorker() ? 0.0 : plan->weight;
	int			n = 0;

	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *use = &plan->uses[i];
		double		random = use->own.fetched - use->own.hit - use->sequential;
		int64		fetched;

		if (TIER_COMPAT_EXTENSION_COUNTS_AS_MISS && use->is_changed && use->rel != NULL)
			random -= rest_misses(use, &fetched);
		if (use->own.fetched <= use->own.hit || !(random + use->sequential > 0.0))
			continue;
		reads[n].relation_oid = use->relation_oid;
		reads[n].random = plan->weight * Max(random, 0.0);
		reads[n++].sequential = plan->weight * use->sequential;
		if (n < QUERY_SLOTS)
			continue;
		tier_query_reads_add(plan->query_id, calls, reads, n);
		calls = n = 0;
	}
	tier_query_reads_add(plan->query_id, calls, reads, n);
}

void
tier_access_report(TierAccessPlan *plan)
{
	double		misses = 0.0;
	double		sequential = 0.0;
	double		share;

	if (plan->ignored)
	{
		report_ignored(plan);
		return;
	}
	for (int i = 0; i < plan->nuses; i++)
	{
		const RelationUse *use = &plan->uses[i];

		if (use->own.fetched > use->own.hit)
		{
			split_misses(plan, i);
			misses += use->own.fetched - use->own.hit;
			sequential += use->sequential;
		}
		else if (use->own.fetched > 0)
			tier_access_counts_add_hits(use->relation_oid, plan->weight * use->own.hit);
	}
	report_query(plan);
	if (misses <= 0.0)
		return;
	if (plan->device_bytes > 0)
		tier_access_shared_saw_device();
	if (!plan->is_parallel)
		misses = Max(misses, plan->all_misses);
	share = device_share(plan, misses, sequential);
	for (int i = 0; i < plan->nuses; i++)
		if (plan->uses[i].own.fetched > plan->uses[i].own.hit)
			report_misses(plan, &plan->uses[i], misses, share);
}
