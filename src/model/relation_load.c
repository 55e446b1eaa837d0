/*-------------------------------------------------------------------------
 *
 * model/relation_load.c
 *		Derives the expected load of a relation from its stored state.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/heat.h"
#include "src/model/number.h"
#include "src/model/relation_load.h"

#define SECONDS_PER_HOUR 3600.0
#define US_PER_S 1e6

/* Two standard errors of a count. */
#define STANDARD_ERRORS 2.0

/* As pg_class has them. */
#define KIND_INDEX 'i'
#define PERSISTENCE_PERMANENT 'p'

static double
seconds_between(int64_t from, int64_t to)
{
	return to <= from ? 0.0 : (double) (to - from) / US_PER_S;
}

/* The rates were there at heat_at: if it is earlier now, the clock was set back. */
static int64_t
not_before_heat(const TierRelationStored *stored, int64_t now)
{
	return now > stored->heat_at ? now : stored->heat_at;
}

static double
observed_s(const TierRelationStored *stored, int64_t now)
{
	return seconds_between(stored->observed_since, not_before_heat(stored, now));
}

/* One of the smoothed rates of a relation as of now. */
static double
rate_now(const TierRelationStored *stored, double rate, int64_t now, double half_life_s)
{
	return tier_heat_read(rate, seconds_between(stored->heat_at, now), observed_s(stored, now),
						  half_life_s);
}

static double
fast_now(const TierRelationStored *stored, double rate, int64_t now)
{
	return rate_now(stored, rate, now, TIER_HALF_LIFE_FAST_S);
}

static double
slow_now(const TierRelationStored *stored, double rate, int64_t now)
{
	return rate_now(stored, rate, now, TIER_HALF_LIFE_SLOW_S);
}

/* The time that is covered by the slow rates. */
static double
remembered_s(double counted_s)
{
	return tier_smaller(counted_s, TIER_HALF_LIFE_SLOW_S / log(2.0));
}

/* How far the rate of so many events an hour may be off, relative to it. */
static double
relative_error(double per_hour, double counted_s, const TierEvidenceJudgement *judgement)
{
	if (!(per_hour > 0.0 && counted_s > 0.0))
		return 0.0;
	return hypot(STANDARD_ERRORS / sqrt(per_hour * remembered_s(counted_s) / SECONDS_PER_HOUR),
				 STANDARD_ERRORS * judgement->error);
}

/* The time for which the WAL was the source of page writes; 0: it is not. */
static double
writes_counted_s(const TierRelationState *state, const TierRelationLoadBasis *basis)
{
	int64_t		since = basis->writes_since > state->stored.observed_since ?
	basis->writes_since : state->stored.observed_since;

	if (basis->writes_since == 0 || state->id.persistence != PERSISTENCE_PERMANENT)
		return 0.0;
	return seconds_between(since, not_before_heat(&state->stored, basis->now));
}

/* A rate of page writes. */
static double
counted_now(const TierRelationStored *stored, const TierRelationLoadBasis *basis, double rate,
			double counted_s, double half_life_s)
{
	return tier_heat_read(rate, seconds_between(stored->heat_at, basis->now), counted_s,
						  half_life_s);
}

/* Pages, and of these requests, which are those that are not merged. */
typedef struct Writes
{
	double		pages;
	double		requests;
} Writes;

static Writes
writes_of(double pages, double merged)
{
	Writes		writes = {pages, tier_amount(pages - merged)};

	return writes;
}

/* Of the page writes that were counted, those that are requests, at most. */
static double
most_requests(const TierRelationStored *stored, const TierRelationLoadBasis *basis,
			  double counted_s)
{
	double		hours = remembered_s(counted_s) / SECONDS_PER_HOUR;
	double		pages = hours * counted_now(stored, basis, stored->rates.page_writes_slow,
											counted_s, TIER_HALF_LIFE_SLOW_S);
	double		merged = hours * counted_now(stored, basis, stored->rates.merged_writes_slow,
											 counted_s, TIER_HALF_LIFE_SLOW_S);
	double		requests = tier_amount(pages - merged);

	return pages > 0.0 ?
		tier_smaller((requests + STANDARD_ERRORS * sqrt(requests + 1.0)) / pages, 1.0) : 1.0;
}

/*
 * The pages an hour by which it has grown, over the time that the rate of changes covers: the
 * time before the first observation has changes and, as far as known, no growth.  The growth of
 * an index is not used: one with random keys grows as one with increasing ones.
 */
static double
grown_pages(const TierRelationState *state, const TierRelationLoadBasis *basis)
{
	const TierEvidence *evidence = &state->stored.evidence;
	double		growth[TIER_EVIDENCE_INTERVALS];
	double		covered_s;
	double		bytes = 0.0;
	int			n;

	if (state->id.kind == KIND_INDEX)
		return 0.0;
	n = tier_evidence_growth(evidence, basis->now, growth, &covered_s);
	for (int i = 0; i < n; i++)
		bytes += growth[i];
	covered_s = tier_larger(tier_smaller(observed_s(&state->stored, basis->now),
										 TIER_EVIDENCE_INTERVALS * TIER_EVIDENCE_LONGEST_S),
							covered_s);
	return covered_s > 0.0 ?
		tier_amount(bytes) / TIER_BLOCK_BYTES * SECONDS_PER_HOUR / covered_s : 0.0;
}

/*
 * The writes of row changes: those that have made the table grow are adjacent, and each of the
 * others is on a separate page.  The WAL is a better source as soon as it has named some:
 * appended ones are adjacent, however many they are.
 */
static Writes
estimated_writes(const TierRelationState *state, const TierRelationLoadBasis *basis,
				 double grown_pages_per_hour)
{
	const TierRelationStored *stored = &state->stored;
	const TierRates *rates = &stored->rates;
	TierCostLoad load;
	double		changes = tier_larger(fast_now(stored, rates->changes_fast, basis->now),
									  slow_now(stored, rates->changes_slow, basis->now));

	tier_cost_estimate_table_writes(changes,
									tier_amount((double) stored->size_bytes) / TIER_BLOCK_BYTES,
									state->id.tuples, grown_pages_per_hour,
									basis->checkpoints_per_hour, &load);
	if (rates->page_writes_slow > 0.0)
		load.merged_writes = load.page_writes *
			tier_smaller(tier_amount(rates->merged_writes_slow) / rates->page_writes_slow, 1.0);
	return writes_of(load.page_writes, load.merged_writes);
}

/* Two parts of a time, of which the first is the share of it. */
static Writes
mix(Writes first, double share, Writes second)
{
	first.pages = share * first.pages + (1.0 - share) * second.pages;
	first.requests = share * first.requests + (1.0 - share) * second.requests;
	return first;
}

/*
 * The counts of the WAL are certain within their error.  During the first day, other hours of the
 * day may have more writes; row changes may know these, and raise the upper bound.  In the first
 * minutes, row changes also stand for the time that was not counted.  Their places are not known,
 * so the upper bound assumes that none was appended.
 */
static void
add_writes(TierRelationLoad *load, const TierRelationState *state,
		   const TierRelationLoadBasis *basis)
{
	const TierRelationStored *stored = &state->stored;
	const TierRates *rates = &stored->rates;
	TierEvidenceJudgement written = tier_evidence_judge(&stored->evidence,
														stored->evidence.writes, basis->now);
	Writes		estimate = estimated_writes(state, basis, grown_pages(state, basis));
	Writes		scattered = estimated_writes(state, basis, 0.0);
	double		counted_s = writes_counted_s(state, basis);
	Writes		middle = estimate;
	double		low = 0.0;
	double		high = scattered.pages;

	if (counted_s > 0.0)
	{
		double		share = counted_s < TIER_PROVISIONAL_S ?
		counted_s / observed_s(stored, basis->now) : 1.0;
		double		most = most_requests(stored, basis, counted_s);
		Writes		likely = writes_of(scattered.pages, (1.0 - most) * scattered.pages);
		Writes		fast = writes_of(counted_now(stored, basis, rates->page_writes_fast,
												 counted_s, TIER_HALF_LIFE_FAST_S),
									 counted_now(stored, basis, rates->merged_writes_fast,
												 counted_s, TIER_HALF_LIFE_FAST_S));
		Writes		slow = writes_of(counted_now(stored, basis, rates->page_writes_slow,
												 counted_s, TIER_HALF_LIFE_SLOW_S),
									 counted_now(stored, basis, rates->merged_writes_slow,
												 counted_s, TIER_HALF_LIFE_SLOW_S));
		Writes		counted = fast.pages > slow.pages ? fast : slow;
		double		error = relative_error(counted.requests, counted_s, &written);

		middle = mix(counted, share, estimate);
		low = written.weight * share * tier_smaller(fast.requests, slow.requests) *
			tier_larger(1.0 - error, 0.0);
		high = share * tier_larger(fast.requests, slow.requests) * (1.0 + error) +
			(1.0 - share) * likely.requests;
		if (counted_s < TIER_HALF_LIFE_FAST_S)
			high = tier_larger(high, scattered.requests);
	}
	load->middle.page_writes += written.weight * middle.pages;
	load->middle.merged_writes += written.weight * (middle.pages - middle.requests);
	load->event_writes += (1.0 - written.weight) * middle.pages;
	load->write_requests_low += low;
	load->write_requests_high += high;
}

void
tier_relation_measured(const TierRelationStored *stored, int64_t now, double *random,
					   double *sequential)
{
	const TierRates *rates = &stored->rates;
	double		random_slow = slow_now(stored, rates->device_random_slow, now);
	double		sequential_slow = slow_now(stored, rates->device_sequential_slow, now);

	*random = fast_now(stored, rates->device_random_fast, now);
	*sequential = fast_now(stored, rates->device_sequential_fast, now);
	if (*random + *sequential <= random_slow + sequential_slow)
	{
		*random = random_slow;
		*sequential = sequential_slow;
	}
}

/*
 * A page in the page cache was read from its device once to get there, and is read again only if
 * it is evicted: a restart of the machine is followed by an hour of such reads, and by none after
 * that.  As long as there is free memory, no page is evicted, and if all pages that are read fit,
 * none will be.  So for each relation, as many reads as it has pages in the page cache are not a
 * rate, however small a part of the relation that is, since the use of the rest is not known;
 * like with intervals, four times as many are a rate.  Pages that do not fit are read again and
 * again, and their present number of reads is the best estimate.
 *
 * Reads before the first sample are missing from the totals, and the rate stands for them.  Reads
 * into memory that was lost are in the totals.
 */
static double
lasting_part(const TierRelationStored *stored, const TierRelationLoadBasis *basis)
{
	double		resident = (double) stored->os_cached_bytes;
	double		smoothed = (stored->rates.device_random_slow +
							stored->rates.device_sequential_slow) *
	TIER_HALF_LIFE_SLOW_S / SECONDS_PER_HOUR / log(2);
	double		total = stored->totals.random_reads + stored->totals.sequential_reads;
	double		read = basis->memory_is_new ? smoothed : tier_larger(total, smoothed);
	double		times;

	if (!basis->memory_fills || resident <= 0.0 || read <= 0.0)
		return 1.0;
	times = read / (resident / TIER_BLOCK_BYTES);
	return tier_smaller(tier_larger(times - 1.0, 0.0) / (TIER_EVIDENCE_RATE - 1.0), 1.0);
}

static void
add_reads(TierRelationLoad *load, const TierRelationState *state,
		  const TierRelationLoadBasis *basis)
{
	const TierRelationStored *stored = &state->stored;
	const TierRates *rates = &stored->rates;
	int64_t		now = basis->now;
	double		random_fast = fast_now(stored, rates->device_random_fast, now);
	double		random_slow = slow_now(stored, rates->device_random_slow, now);
	double		sequential_fast = fast_now(stored, rates->device_sequential_fast, now);
	double		sequential_slow = slow_now(stored, rates->device_sequential_slow, now);
	double		misses_fast = fast_now(stored, rates->random_fast + rates->sequential_fast, now);
	double		misses_slow = slow_now(stored, rates->random_slow + rates->sequential_slow, now);
	double		hits = slow_now(stored, rates->hits_slow, now);
	double		misses = tier_larger(misses_fast, misses_slow);
	bool		fast = random_fast + sequential_fast > random_slow + sequential_slow;
	double		larger = fast ? random_fast + sequential_fast : random_slow + sequential_slow;
	double		smaller = fast ? random_slow + sequential_slow : random_fast + sequential_fast;
	TierEvidenceJudgement read = tier_evidence_judge(&stored->evidence, stored->evidence.reads,
													 now);
	double		error = relative_error(larger, observed_s(stored, now), &read);
	double		lasting = lasting_part(stored, basis);
	double		weight = read.weight * lasting;
	double		reads = weight * larger;

	/*
	 * Reads that may not come again are not part of the middle, but of the
	 * upper bound.
	 */
	load->middle.random_reads += weight * (fast ? random_fast : random_slow);
	load->middle.sequential_reads += weight * (fast ? sequential_fast : sequential_slow);
	load->event_reads += (1.0 - weight) * larger;
	load->event_sequential_reads += (1.0 - weight) * (fast ? sequential_fast : sequential_slow);
	load->filling_reads += read.weight * (1.0 - lasting) * larger;

	/* The reads that last, within the error of a rate of so few events. */
	load->reads_low += weight * smaller * tier_larger(1.0 - error, 0.0);
	load->reads_high += larger * (1.0 + error);

	/* The bounds as shares of the slow rate, applied to the rate in use. */
	if (misses_slow > 0)
	{
		double		low = slow_now(stored, rates->sequential_low_slow, now);
		double		high = slow_now(stored, rates->sequential_high_slow, now);

		load->sequential_low += reads * tier_smaller(low / misses_slow, 1.0);
		load->sequential_high += reads * tier_smaller(high / misses_slow, 1.0);
	}
	if (state->id.kind != KIND_INDEX)
		load->middle.scans += slow_now(stored, rates->scans_slow, now) *
			tier_smaller(reads / tier_larger(misses + hits, 1.0), 1.0);
	load->misses += misses;
	load->hits += hits;
}

/* Adds the statistics of the time before the first sample. */
static void
add_past(TierRelationLoad *load, const TierPast *past)
{
	load->past.random_reads += past->random_reads;
	load->past.sequential_reads += past->sequential_reads;
	load->past.scans += past->scans;
}

void
tier_relation_load_add(TierRelationLoad *load, const TierRelationState *state,
					   const TierRelationLoadBasis *basis)
{
	add_reads(load, state, basis);
	add_writes(load, state, basis);
	add_past(load, &state->stored.past);
	load->middle.size_bytes += tier_amount((double) state->stored.size_bytes);
}
