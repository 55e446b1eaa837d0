/*-------------------------------------------------------------------------
 *
 * observe/device_reads.c
 *		The last step of a sample: estimating which reads of PostgreSQL reached the device.
 *
 * A read of PostgreSQL reaches the device if the page cache does not have the block.  The
 * cached part of each relation's file is known at the start and at the end of a period;
 * model/fit.c computes shares from it.  If the kernel has counted the device reads of a plan,
 * that count replaces the estimate for sequential reads, and bounds it for random ones.  The
 * fits of the device (observe/device_io.c) then correct the rest of the estimate.
 *
 * Bounded: the number of files that are examined, and the time for that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "portability/instr_time.h"

#include "src/compat.h"
#include "src/base/settings.h"
#include "src/observe/device_io.h"
#include "src/observe/device_reads.h"
#include "src/observe/merge.h"
#include "src/storage/page_cache.h"

/* Files to look at: of relations that read, and of others in turn. */
#define ACTIVE_FILES 1000
#define ACTIVE_MS 100.0
#define IDLE_FILES 100
#define IDLE_MS 10.0

/* A share of the page cache that changed by less does not justify a row version. */
#define RESIDENCY_TOLERANCE_BYTES (64 * BLCKSZ)

/* The number of files that may still be opened, and the deadline. */
typedef struct LookBudget
{
	instr_time	started;
	double		limit_ms;
	int			files;
} LookBudget;

static void
start_budget(LookBudget *budget, int files, double limit_ms)
{
	INSTR_TIME_SET_CURRENT(budget->started);
	budget->files = files;
	budget->limit_ms = limit_ms;
}

static bool
has_budget(const LookBudget *budget)
{
	instr_time	now;

	if (budget->files <= 0)
		return false;
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, budget->started);
	return INSTR_TIME_GET_MILLISEC(now) < budget->limit_ms;
}

/* Bytes of the relation in the page cache now; -1: not known. */
static int64
look(const TierRelationState *state, LookBudget *budget)
{
	RelFileLocator file = tier_compat_locator(state->id.tablespace_oid, MyDatabaseId,
											  state->id.file_number);
	BlockNumber nblocks;
	TierPagecacheLook result;

	if (state->stored.size_bytes <= 0)
		return state->stored.size_bytes;
	nblocks = (BlockNumber) Min(state->stored.size_bytes / BLCKSZ, MaxBlockNumber);
	if (!tier_pagecache_look(file, 0, nblocks, &result))
		result.cached_bytes = -1;
	budget->files -= Max(result.files, 1);
	return result.cached_bytes;
}

/*
 * The share of the blocks outside shared buffers that is in the page cache.  Blocks in shared
 * buffers were read through the page cache, and are assumed to be there still: they take room
 * there, and are not requested.
 */
static double
cached_share(const TierRelationStored *stored, int64 cached_bytes)
{
	double		size = Max(stored->size_bytes, 0);
	double		buffers = Min((double) stored->cached_buffers * BLCKSZ, size);

	if (cached_bytes <= buffers || size <= buffers)
		return cached_bytes >= size ? 1.0 : 0.0;
	return Min(1.0, (cached_bytes - buffers) / (size - buffers));
}

/* Reads of this server alone that are use: those in sequence, the random ones. */
static double
local_sequential(const TierRelationPeriod *period)
{
	return Max(period->attribution.sequential_mid -
			   period->standby_attribution.sequential_mid, 0.0);
}

static double
local_random(const TierRelationPeriod *period)
{
	return Max(period->attribution.misses - period->standby_attribution.misses -
			   local_sequential(period), 0.0);
}

static double
all_reads(const TierRelationPeriod *period)
{
	return period->attribution.misses + period->maintenance_reads;
}

static bool
has_read(const TierRelationPeriod *period)
{
	return period->active && all_reads(period) > 0;
}

/*
 * Splits its reads; before and after: bytes in the page cache, -1: unknown.
 * Maintenance (vacuum, dumps) reads one block after the other.
 */
static void
estimate_device_reads(TierRelationPeriod *period, const TierRelationStored *stored, int64 before,
					  int64 after)
{
	double		sequential = local_sequential(period);
	double		random = local_random(period);
	double		maintenance = period->maintenance_reads;
	double		blocks = Max(stored->size_bytes, 0) / (double) BLCKSZ;
	double		resident_before;
	double		resident_after;
	double		missing;
	double		read_ahead;
	double		missed;

	period->device_random = random;
	period->device_sequential = sequential;
	period->device_maintenance = maintenance;
	period->device_measured = 0.0;
	period->device_counted = 0.0;
	if (after < 0)
		after = before;
	if (after < 0 || blocks < 1)
		return;
	if (before < 0)
		before = after;
	resident_before = Min(1.0, before / (blocks * BLCKSZ));
	resident_after = Min(1.0, after / (blocks * BLCKSZ));
	missing = 1.0 - tier_fit_random_hits(cached_share(stored, before), cached_share(stored, after),
										 random / blocks);
	read_ahead = tier_fit_read_ahead((resident_before + resident_after) / 2);
	period->device_random = random * Min(missing + read_ahead, 1.0);

	/*
	 * A read may cause read-ahead in another request, which is not among the
	 * reads that are bounded.
	 */
	period->random_requests.high += Min(read_ahead, period->random_requests.high);
	period->random_requests.high = Min(period->random_requests.high, 1.0);
	missed = 1.0 - tier_fit_sequential_hits(resident_before, resident_after,
											(sequential + maintenance) / blocks);
	period->device_sequential = sequential * missed;
	period->device_maintenance = maintenance * missed;
}

/*
 * The same with counts of the kernel, for sequential reads: the count for this relation
 * replaces the estimate, and a count for several relations together can only raise it.
 */
static void
use_measured_reads(TierRelationPeriod *period, Oid tablespace_oid)
{
	double		sequential = local_sequential(period);
	double		estimated;

	if (sequential <= 0.0 || period->measured_part + period->shared_part <= 0.0 ||
		!tier_pagecache_counts_readers(tablespace_oid))
		return;
	estimated = period->device_sequential / sequential;
	period->device_measured = sequential * period->measured_part * period->measured_share;
	period->device_sequential = period->device_measured + sequential *
		(period->shared_part * Max(period->shared_share, estimated) +
		 (1.0 - period->measured_part - period->shared_part) * estimated);
}

static double
resident_share(const TierRelationStored *stored)
{
	if (stored->size_bytes <= 0 || stored->os_cached_bytes < 0)
		return 0.0;
	return Min((double) stored->os_cached_bytes / stored->size_bytes, 1.0);
}

static double
within_bounds(const TierRelationPeriod *period, double random)
{
	double		all = local_random(period);

	return Min(Max(random, all * period->random_requests.low),
			   all * period->random_requests.high);
}

/*
 * The same for random reads: the kernel's counts for plans replace the estimate, if there were
 * enough of them, and bound the rest.  A few rows that many ask for are in the page cache more
 * often than its share of the file says.
 *
 * Read-ahead around a block is a separate request if resident blocks lie in between.
 */
static void
use_counted_reads(TierRelationPeriod *period, double resident)
{
	const TierSplitRequestShare *requests = &period->random_requests;
	double		share = Min(requests->counted + requests->ahead * resident, 1.0);

	period->random_requests.high = Max(requests->high, share);
	period->device_counted = local_random(period) * requests->known * share;
	period->device_random = within_bounds(period, period->device_counted +
										  period->device_random * (1.0 - requests->known));
}

/* A read of PostgreSQL is at most one of the device, whatever the factor. */
static double
apply_fit(double reads, const TierFit *fit, double most)
{
	return tier_fit_explains(fit) ? Min(reads * tier_fit_factor(fit), most) : reads;
}

static void
advance_device_rates(TierRates *rates, TierRelationPeriod *period, const TierDeviceState *device)
{
	const TierCostAttribution *there = &period->standby_attribution;
	double		all_sequential = local_sequential(period);
	double		all_random = local_random(period);
	double		random = period->device_random;
	double		sequential = period->device_sequential;

	if (tier_test_page_cache && device != NULL && tier_device_is_explained(device))
	{
		random = within_bounds(period, period->device_counted +
							   apply_fit(Max(random - period->device_counted, 0.0),
										 &device->request_fit,
										 all_random * (1.0 - period->random_requests.known)));
		sequential = period->device_measured +
			apply_fit(sequential - period->device_measured, &device->fit,
					  all_sequential - period->device_measured);
	}

	/* The part of a standby's reads that its page cache served is not known. */
	random += Max(there->misses - there->sequential_mid, 0.0);
	sequential += there->sequential_mid;
	period->load_random = random;
	period->load_sequential = sequential;
	rates->device_random_fast = tier_merge_advance(rates->device_random_fast, period, random,
												   TIER_HALF_LIFE_FAST_S);
	rates->device_random_slow = tier_merge_advance(rates->device_random_slow, period, random,
												   TIER_HALF_LIFE_SLOW_S);
	rates->device_sequential_fast = tier_merge_advance(rates->device_sequential_fast, period,
													   sequential, TIER_HALF_LIFE_FAST_S);
	rates->device_sequential_slow = tier_merge_advance(rates->device_sequential_slow, period,
													   sequential, TIER_HALF_LIFE_SLOW_S);
}

/*
 * I/O workers read for all relations, and their reads are not counted by relation.  But the
 * sequential reads of all relations on devices that count reads, and all other reads that the
 * workers may have made, are at least the reads of the workers.  The missing part belongs to
 * reads that were expected from the page cache, and may be of any relation: each relation gets
 * the same share of it.  So the sum is right; of a relation that was read alone so is its
 * part, and no other one is raised by more than the whole was too low.
 *
 * It never lowers: a process may read by itself, and a worker that has ended is not seen.
 */
static void
raise_to_workers(const TierDevices *devices, TierRelationState *states, int nstates,
				 double worker_blocks)
{
	double		expected = tier_device_foreign_blocks(devices, states, nstates);
	double		from_cache = 0.0;
	double		share;

	if (expected < 0.0)
		return;
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationPeriod *period = &states[i].period;

		if (!has_read(period))
			continue;
		if (!tier_pagecache_counts_readers(states[i].id.tablespace_oid))
		{
			expected += all_reads(period);
			continue;
		}
		expected += period->device_random + period->device_sequential +
			period->device_maintenance;
		from_cache += local_sequential(period) - period->device_sequential +
			period->maintenance_reads - period->device_maintenance;
	}
	share = tier_fit_unexpected_share(worker_blocks, expected, from_cache);
	for (int i = 0; i < nstates && share > 0.0; i++)
	{
		TierRelationPeriod *period = &states[i].period;

		if (!has_read(period) || !tier_pagecache_counts_readers(states[i].id.tablespace_oid))
			continue;
		period->device_sequential +=
			share * Max(local_sequential(period) - period->device_sequential, 0.0);
		period->device_maintenance +=
			share * Max(period->maintenance_reads - period->device_maintenance, 0.0);
	}
}

static int
compare_misses(const void *a, const void *b)
{
	double		left = all_reads(&(*(TierRelationState *const *) a)->period);
	double		right = all_reads(&(*(TierRelationState *const *) b)->period);

	return left > right ? -1 : left < right ? 1 : 0;
}

static bool
residency_moved(int64 before, int64 now)
{
	return (before < 0) != (now < 0) ||
		Max(before, now) - Min(before, now) > Max(RESIDENCY_TOLERANCE_BYTES, before / 16);
}

/*
 * Relations that did not read, from a random place on: after some samples all
 * of them have been looked at.  That costs no row of one whose share stays.
 */
static void
look_at_idle(TierRelationState *states, int nstates)
{
	LookBudget	budget;
	int			start = (int) (pg_prng_double(&pg_global_prng_state) * nstates);

	start_budget(&budget, IDLE_FILES, IDLE_MS);
	for (int i = 0; i < nstates && has_budget(&budget); i++)
	{
		TierRelationState *state = &states[(start + i) % nstates];
		int64		now;

		if (has_read(&state->period))
			continue;
		CHECK_FOR_INTERRUPTS();
		now = look(state, &budget);
		if (residency_moved(state->stored.os_cached_bytes, now))
		{
			state->stored.os_cached_bytes = now;
			state->period.changed = true;
		}
	}
}

void
tier_device_reads_correct(const TierDevices *devices, TierRelationState *states, int nstates,
						  double worker_bytes, double period_s)
{
	TierRelationState **readers = palloc_extended(sizeof(TierRelationState *) * Max(nstates, 1),
												  MCXT_ALLOC_HUGE);
	bool		looks = tier_test_page_cache && tier_pagecache_method() != NULL;
	LookBudget	budget;
	int			n = 0;

	for (int i = 0; i < nstates; i++)
	{
		if (!looks)
		{
			states[i].stored.os_cached_bytes = -1;
			states[i].period.random_requests = TIER_SPLIT_SHARE_UNKNOWN;
		}
		if (has_read(&states[i].period))
			readers[n++] = &states[i];
	}
	qsort(readers, n, sizeof(TierRelationState *), compare_misses);

	start_budget(&budget, ACTIVE_FILES, ACTIVE_MS);
	for (int i = 0; i < n; i++)
	{
		TierRelationState *state = readers[i];
		int64		before = state->stored.os_cached_bytes;

		CHECK_FOR_INTERRUPTS();
		if (looks && has_budget(&budget))
			state->stored.os_cached_bytes = look(state, &budget);
		estimate_device_reads(&state->period, &state->stored, before,
							  state->stored.os_cached_bytes);
		if (looks)
			use_measured_reads(&state->period, state->id.tablespace_oid);
		use_counted_reads(&state->period, resident_share(&state->stored));
	}
	pfree(readers);

	/* Reads of late counters would be assigned to other relations. */
	if (looks && worker_bytes > 0.0 && !tier_device_counters_are_late(period_s))
		raise_to_workers(devices, states, nstates, worker_bytes / BLCKSZ);

	for (int i = 0; i < nstates; i++)
		if (states[i].period.active)
			advance_device_rates(&states[i].stored.rates, &states[i].period,
								 tier_devices_find(devices, states[i].id.tablespace_oid));
	if (looks && nstates > 0)
		look_at_idle(states, nstates);
}
