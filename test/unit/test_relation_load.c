/*-------------------------------------------------------------------------
 *
 * test_relation_load.c
 *		Tests of the load that is counted on.  Prints TAP; run it by
 *		test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tap.h"
#include "src/model/relation_load.h"

#define S INT64_C(1000000)
#define HOUR (3600 * S)
#define DAY (24 * HOUR)
#define NOW (700000 * HOUR)

static TierRelationLoadBasis
basis_now(void)
{
	TierRelationLoadBasis basis = {.now = NOW,.checkpoints_per_hour = 12.0};

	return basis;
}

/* A table of 1000 blocks that was observed for long enough to forget nothing. */
static TierRelationState
state_of(char kind)
{
	TierRelationState state;

	memset(&state, 0, sizeof(state));
	state.id.kind = kind;
	state.id.persistence = 'p';
	state.stored.size_bytes = 1000 * 8192;
	state.stored.observed_since = NOW - 1000 * DAY;
	state.stored.heat_at = NOW;
	return state;
}

static TierRelationLoad
load_of(const TierRelationState *state, TierRelationLoadBasis basis)
{
	TierRelationLoad load = {0};

	tier_relation_load_add(&load, state, &basis);
	return load;
}

/* Reads and writes in the last n of 16 intervals of half a day. */
static void
used_in(TierEvidence *evidence, int n)
{
	evidence->began_at = NOW - 8 * DAY + HOUR;
	evidence->interval_s = 12.0 * 3600.0;
	for (int i = 0; i < TIER_EVIDENCE_INTERVALS; i++)
		evidence->reads[i] = evidence->writes[i] = i >= TIER_EVIDENCE_INTERVALS - n ? 1.0f : 0.0f;
}

static void
test_rates(void)
{
	TierRelationState state = state_of('r');
	TierRelationLoad load = load_of(&state, basis_now());
	TierRates  *rates = &state.stored.rates;

	ok(load.middle.random_reads == 0.0 && load.middle.page_writes == 0.0 &&
	   load.reads_high == 0.0,
	   "of what does nothing the load is zero");
	is(load.middle.size_bytes, 1000 * 8192.0, "size");
	state.stored.size_bytes = -1;
	load = load_of(&state, basis_now());
	ok(load.middle.size_bytes == 0.0, "a size that is not known is none");

	state = state_of('r');
	rates->random_fast = rates->device_random_fast = 200;
	rates->random_slow = rates->device_random_slow = 80;
	rates->sequential_slow = rates->device_sequential_slow = 100;
	load = load_of(&state, basis_now());
	is(load.middle.random_reads, 200, "the fast rate where it is the larger one altogether");
	ok(load.middle.sequential_reads == 0.0, "both kinds of the same rate");
	ok(load.reads_low < 180 && load.reads_low > 170, "what lasts is the smaller rate");
	ok(load.reads_high > 200 && load.reads_high < 210, "what may be has the larger one");

	rates->device_random_slow = 150;
	load = load_of(&state, basis_now());
	is(load.middle.random_reads, 150, "the slow rate where it is the larger one");
	is(load.middle.sequential_reads, 100, "both kinds of it");
}

static void
test_kinds(void)
{
	TierRelationLoadBasis basis = basis_now();
	TierRelationState table = state_of('r');
	TierRelationState index;
	TierRelationLoad load;

	table.stored.rates.random_slow = 30;
	table.stored.rates.sequential_slow = 50;
	table.stored.rates.device_random_slow = 10;
	table.stored.rates.device_sequential_slow = 10;
	table.stored.rates.hits_slow = 20;
	table.stored.rates.scans_slow = 5;
	table.stored.rates.sequential_low_slow = 40;
	table.stored.rates.sequential_high_slow = 160;
	load = load_of(&table, basis_now());
	is(load.middle.scans, 5 * 20 / 100.0, "scans: the share of them that the device sees");
	is(load.sequential_low, 20 * 40 / 80.0, "bounds of the attribution, of what is read");
	is(load.sequential_high, 20, "which are never more than that");
	index = table;
	index.id.kind = 'i';
	tier_relation_load_add(&load, &index, &basis);
	is(load.middle.scans, 1, "an index has no sequential scans");
	is(load.middle.random_reads, 20, "loads add up");
	is(load.misses, 160, "so do misses");
	is(load.hits, 40, "and hits");
}

static void
test_evidence(void)
{
	TierRelationLoadBasis basis = basis_now();
	TierRelationState state = state_of('r');
	TierRelationLoad load;

	basis.writes_since = NOW - 10 * DAY;
	state.stored.rates.random_slow = state.stored.rates.device_random_slow = 100;
	state.stored.rates.page_writes_slow = 60;
	used_in(&state.stored.evidence, 1);
	load = load_of(&state, basis);
	ok(load.middle.random_reads == 0.0 && load.middle.page_writes == 0.0 && load.reads_low == 0.0,
	   "what happened once is not counted on");
	is(load.event_reads, 100, "it is set apart, reads");
	ok(load.event_writes > 60, "and writes");
	ok(load.reads_high > 100, "and may come again");

	used_in(&state.stored.evidence, 16);
	load = load_of(&state, basis);
	is(load.middle.random_reads, 100, "what happens all the time is counted on");
	ok(load.middle.page_writes > 60 && load.event_reads == 0.0 && load.event_writes == 0.0,
	   "all of it");

	used_in(&state.stored.evidence, 3);
	load = load_of(&state, basis);
	ok(load.middle.random_reads > 10 && load.event_reads > 10, "between the two, a part of it");
	is(load.middle.random_reads + load.event_reads, 100, "and the rest is set apart");
}

/*
 * A minute ago the WAL began to be read.  Of a table that was there before it tells how the
 * pages lie, of one that is new, all.
 */
static void
test_first_minute(TierRelationState state, double estimated_pages)
{
	TierRelationLoadBasis basis = basis_now();
	TierRelationLoad load;
	TierCostLoad estimated;

	basis.writes_since = NOW - 60 * S;
	state.stored.rates.page_writes_slow = 40;
	state.stored.rates.merged_writes_slow = 39;
	load = load_of(&state, basis);
	ok(fabs(load.middle.page_writes / estimated_pages - 1.0) < 0.01,
	   "in the first minute there are as many as from row changes");
	ok(fabs(load.middle.merged_writes / load.middle.page_writes - 39.0 / 40.0) < 0.001,
	   "but appended if those that were counted are");
	ok(load.write_requests_high < estimated_pages && load.write_requests_high > 0.0,
	   "surely not each of them a request");
	state.stored.rates.merged_writes_slow = 0;
	load = load_of(&state, basis);
	ok(load.middle.merged_writes < 0.01 * load.middle.page_writes,
	   "and scattered if those are");

	state.stored.observed_since = basis.writes_since;
	state.stored.rates.changes_fast = state.stored.rates.changes_slow = 1000;
	state.stored.rates.page_writes_fast = state.stored.rates.page_writes_slow = 1e-5;
	load = load_of(&state, basis);
	tier_cost_estimate_writes(1000, 1000, 12.0, &estimated);
	ok(load.middle.page_writes > 0.0 && load.middle.page_writes < 1.0,
	   "of what was always counted, all is");
	ok(load.write_requests_high > 100.0 * load.middle.page_writes,
	   "on the first day changes may know of more than a sample of the WAL");
	state.stored.observed_since -= 60 * S;
	load = load_of(&state, basis);
	ok(load.middle.page_writes > 0.3 * estimated.page_writes,
	   "and of the time before row changes tell");
}

static void
test_writes(void)
{
	TierRelationLoadBasis basis = basis_now();
	TierRelationState state = state_of('r');
	TierRelationLoad load;
	TierCostLoad estimated;

	state.stored.rates.changes_fast = 5000;
	state.stored.rates.page_writes_fast = 40;
	state.stored.rates.merged_writes_fast = 39;
	tier_cost_estimate_writes(5000, 1000, 12.0, &estimated);
	load = load_of(&state, basis);
	is(load.middle.page_writes, estimated.page_writes, "from row changes");
	is(load.middle.merged_writes, estimated.merged_writes, "on pages that may be side by side");
	ok(load.write_requests_low == 0.0 && load.write_requests_high == estimated.page_writes,
	   "or all of them, or none");

	basis.writes_since = NOW - HOUR;
	load = load_of(&state, basis);
	ok(load.middle.page_writes > 40,
	   "after an hour they are counted");
	ok(near(load.middle.merged_writes, load.middle.page_writes * 39 / 40),
	   "with those that are merged");
	is(load.write_requests_high, estimated.page_writes - estimated.merged_writes,
	   "on the first day changes may know of more");
	test_first_minute(state, estimated.page_writes);
	basis.writes_since = NOW - 25 * HOUR;
	load = load_of(&state, basis);
	ok(load.write_requests_high < 10 && load.write_requests_low == 0.0,
	   "and then no more; the slow rate knew none");
	state.stored.rates.page_writes_slow = 100;
	state.stored.rates.merged_writes_slow = 20;
	basis.writes_since = NOW - 1000 * DAY;
	load = load_of(&state, basis);
	is(load.middle.page_writes, 100, "the rate with more pages counts,");
	is(load.middle.merged_writes, 20, "and what of these is merged");
	ok(load.write_requests_high > 80 && load.write_requests_high < 100 &&
	   load.write_requests_low > 0.5 && load.write_requests_low < 1,
	   "between the two, and the error of either");
	used_in(&state.stored.evidence, 1);
	load = load_of(&state, basis);
	ok(load.middle.page_writes == 0.0 && load.middle.merged_writes == 0.0 &&
	   load.write_requests_low == 0.0 && load.write_requests_high > 80,
	   "what was written once may be again");
	memset(&state.stored.evidence, 0, sizeof(TierEvidence));

	state.stored.observed_since = NOW - 300 * S;
	load = load_of(&state, basis);
	state.stored.observed_since = NOW - 1000 * DAY;
	state.id.persistence = 'u';
	load = load_of(&state, basis);
	is(load.middle.page_writes, estimated.page_writes, "of an unlogged one never");
}

/*
 * Nothing is counted yet.  A table of ten rows on a page has had 6000 changes in an hour, and has
 * grown by as many pages as the WAL has named of such a one (order_line of bench/heldout).
 */
static void
test_appends(void)
{
	TierRelationLoadBasis basis = basis_now();
	TierRelationState state = state_of('r');
	TierRelationLoad load;
	TierRelationLoad scattered;

	state.id.tuples = 10000;
	state.stored.observed_since = state.stored.sampled_since = NOW - HOUR;
	state.stored.rates.changes_fast = 6000 * -expm1(-log(2) / 24);
	scattered = load_of(&state, basis);
	ok(scattered.middle.page_writes > 4000 && scattered.middle.page_writes < 6000,
	   "changes of a table that does not grow are on pages of their own");
	state.stored.evidence.began_at = NOW - HOUR;
	state.stored.evidence.interval_s = 300;
	for (int i = 0; i < 12; i++)
	{
		state.stored.evidence.writes[i] = 500;
		state.stored.evidence.growth[i] = 50 * 8192;
	}
	load = load_of(&state, basis);
	ok(load.middle.page_writes > 550 && load.middle.page_writes < 650,
	   "those that have made it grow are on as many as it has grown by");
	ok(load.middle.page_writes - load.middle.merged_writes < 30, "side by side");
	is(load.write_requests_high, scattered.write_requests_high, "what may be knows of no appends");

	for (int i = 0; i < 12; i++)
		state.stored.evidence.growth[i] = 25 * 8192;
	load = load_of(&state, basis);
	ok(load.middle.page_writes - load.middle.merged_writes > 2000 &&
	   load.middle.page_writes - load.middle.merged_writes < 3000,
	   "the others are scattered: half, if it has grown by half as much");
	state.id.tuples = -1;
	is(load_of(&state, basis).middle.page_writes, scattered.middle.page_writes,
	   "of a table that was never analyzed it is not known how many rows are appended");
	state.id.tuples = 10000;
	state.id.kind = 'i';
	is(load_of(&state, basis).middle.page_writes, scattered.middle.page_writes,
	   "and of an index not where");
	state.id.kind = 'r';
	state.stored.observed_since = NOW - 100 * DAY;
	ok(load_of(&state, basis).middle.merged_writes <
	   0.5 * load_of(&state, basis).middle.page_writes,
	   "growth of an hour says nothing of the months before it");
}

/* Whatever is remembered, what is counted on is within what may be. */
static void
test_bounds(void)
{
	TierRelationLoadBasis basis = basis_now();
	int			wrong = 0;

	random_state = 20300101;
	basis.writes_since = NOW - 10 * DAY;
	for (int i = 0; i < 10000; i++)
	{
		TierRelationState state = state_of(random_int(2) == 0 ? 'r' : 'i');
		double	   *rates = (double *) &state.stored.rates;
		TierRelationLoad load;
		double		reads;

		for (size_t k = 0; k < sizeof(TierRates) / sizeof(double); k++)
			rates[k] = random_int(4) == 0 ? 0.0 : exp(20.0 * random_unit() - 5.0);
		state.stored.heat_at = NOW - random_int(20) * DAY;
		state.stored.observed_since = NOW - random_int(40) * DAY / 2;
		if (random_int(3) > 0)
			used_in(&state.stored.evidence, random_int(TIER_EVIDENCE_INTERVALS + 1));
		load = load_of(&state, basis);
		reads = load.middle.random_reads + load.middle.sequential_reads;
		wrong += !(load.reads_low >= 0.0 && load.reads_low <= reads * (1.0 + 1e-12) &&
				   reads <= load.reads_high * (1.0 + 1e-12) && load.reads_high <= DBL_MAX &&
				   load.sequential_high <= reads * (1.0 + 1e-12) &&
				   load.middle.merged_writes >= 0.0 &&
				   load.middle.merged_writes <= load.middle.page_writes &&
				   load.write_requests_low >= 0.0 && load.write_requests_high <= DBL_MAX &&
				   load.write_requests_low <=
				   (load.middle.page_writes - load.middle.merged_writes) * (1.0 + 1e-9) + 1e-9 &&
				   load.write_requests_high * (1.0 + 1e-9) + 1e-9 >=
				   load.middle.page_writes - load.middle.merged_writes &&
				   load.middle.page_writes >= 0.0 && load.middle.page_writes <= DBL_MAX &&
				   load.event_reads >= 0.0 && load.event_writes >= 0.0);
	}
	ok(wrong == 0, "what is counted on is within its bounds, %d of 10000 are not", wrong);
}

/* Rates of 30 days, and then the clock is set back to before they were known. */
static void
test_clock_set_back(void)
{
	TierRelationState state = state_of('r');
	TierRelationLoadBasis basis = basis_now();
	TierRelationLoad before;
	TierRelationLoad after;

	state.stored.observed_since = NOW - 30 * DAY;
	state.stored.rates.device_random_fast = state.stored.rates.random_fast = 800.0;
	state.stored.rates.device_random_slow = state.stored.rates.random_slow = 1000.0;
	state.stored.rates.page_writes_fast = 80.0;
	state.stored.rates.page_writes_slow = 100.0;
	basis.writes_since = NOW - 30 * DAY;
	used_in(&state.stored.evidence, TIER_EVIDENCE_INTERVALS);
	before = load_of(&state, basis);
	ok(before.middle.random_reads > 1000.0 && before.middle.page_writes > 100.0,
	   "clock: there is a load");
	basis.now = NOW - 8 * DAY;
	after = load_of(&state, basis);
	is(after.misses, before.misses, "clock: set back for days, reads are as many");
	basis.now = NOW - 40 * DAY;
	after = load_of(&state, basis);
	is(after.misses, before.misses, "clock: set back to before it was observed, too");
	ok(after.middle.page_writes <= before.middle.page_writes * (1.0 + 1e-9),
	   "clock: nor are writes more (%g, %g)", after.middle.page_writes,
	   before.middle.page_writes);
}

/* As long as memory fills each block that is there may have been read for once. */
static void
test_warming(void)
{
	TierRelationState state = state_of('r');
	TierRelationLoadBasis basis = basis_now();
	TierRelationLoad load;
	TierRates  *rates = &state.stored.rates;

	rates->random_fast = rates->device_random_fast = 200;
	rates->random_slow = rates->device_random_slow = 1;
	state.stored.totals.random_reads = 900;
	state.stored.os_cached_bytes = 950 * 8192;
	is(load_of(&state, basis).middle.random_reads, 200, "once memory is full all reads count");
	basis.memory_fills = true;
	load = load_of(&state, basis);
	ok(load.middle.random_reads == 0.0 && load.reads_low == 0.0,
	   "what memory was filled by is not read again");
	is(load.event_reads, 200, "it is set apart");
	is(load.filling_reads, 200, "and it is known why");
	ok(load.reads_high >= 200, "and may come again");

	state.stored.totals.random_reads = 2375;
	is(load_of(&state, basis).middle.random_reads, 100, "what was read more often is, in part");
	state.stored.totals.random_reads = 3800;
	is(load_of(&state, basis).middle.random_reads, 200, "four times are a rate");
	state.stored.totals.random_reads = 900;
	rates->random_slow = rates->device_random_slow = 100;
	is(load_of(&state, basis).middle.random_reads, 200,
	   "what the rate knows beyond the totals counts");
	rates->random_slow = rates->device_random_slow = 1;
	state.stored.os_cached_bytes = 300 * 8192;
	state.stored.totals.random_reads = 290;
	rates->random_slow = rates->device_random_slow = 290 * log(2) / (14 * 24);
	is(load_of(&state, basis).middle.random_reads, 0,
	   "nor what a small part was filled by");
	state.stored.os_cached_bytes = -1;
	is(load_of(&state, basis).middle.random_reads, 200, "what may not be there is");

	/* On the day after a restart of the machine. */
	state.stored.os_cached_bytes = 950 * 8192;
	state.stored.totals.random_reads = 5000;
	rates->random_slow = rates->device_random_slow = 1000 * log(2) / (14 * 24);
	is(load_of(&state, basis).middle.random_reads, 200, "else all that was read counts");
	basis.memory_is_new = true;
	ok(load_of(&state, basis).middle.random_reads < 0.02 * 200,
	   "what was read for the memory before the restart says nothing of this one");
}

int
main(void)
{
	test_rates();
	test_warming();
	test_kinds();
	test_evidence();
	test_writes();
	test_appends();
	test_bounds();
	test_clock_set_back();
	return done();
}
