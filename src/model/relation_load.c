/*-------------------------------------------------------------------------
 *
 * model/relation_load.c
 *		From what is remembered of a relation to the load that is counted on.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/heat.h"
#include "src/model/number.h"
#include "src/model/relation_load.h"

#define SECONDS_PER_HOUR 3600.0
#define US_PER_S 1e6

/* Two standard errors of what is counted. */
#define STANDARD_ERRORS 2.0

/* As pg_class has them. */
#define KIND_INDEX 'i'
#define PERSISTENCE_PERMANENT 'p'

static double
seconds_between(int64_t from, int64_t to)
{
	return to <= from ? 0.0 : (double) (to - from) / US_PER_S;
}

/* Never so short that a single event would be extrapolated. */
static double
observed_s(const TierRelationStored *stored, int64_t now)
{
	return tier_larger(seconds_between(stored->observed_since, now), TIER_SHORTEST_OBSERVATION_S);
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

static TierEvidenceJudgement
judge(const TierRelationLoadBasis *basis, const TierEvidence *evidence, const float *amounts)
{
	TierEvidenceJudgement known = {.weight = 1.0};

	return basis->are_means ? known : tier_evidence_judge(evidence, amounts, basis->now);
}

/*
 * Page writes as the WAL had them.  False: they have not been counted for a day,
 * without which the hour of the day says more than the relation, or cannot be.
 */
static bool
counted_page_writes(const TierRelationState *state, const TierRelationLoadBasis *basis,
					double *page_writes)
{
	const TierRelationStored *stored = &state->stored;
	const TierRates *rates = &stored->rates;
	int64_t		since = basis->writes_since > stored->observed_since ?
	basis->writes_since : stored->observed_since;
	double		idle_s = seconds_between(stored->heat_at, basis->now);
	double		counted_s = seconds_between(since, basis->now);

	if (basis->writes_since == 0 || state->id.persistence != PERSISTENCE_PERMANENT ||
		counted_s < TIER_HALF_LIFE_FAST_S)
		return false;

	/* Means know nothing of forgetting. */
	*page_writes = basis->are_means ?
		tier_larger(rates->page_writes_fast, rates->page_writes_slow) :
		tier_larger(tier_heat_read(rates->page_writes_fast, idle_s, counted_s,
								   TIER_HALF_LIFE_FAST_S),
					tier_heat_read(rates->page_writes_slow, idle_s, counted_s,
								   TIER_HALF_LIFE_SLOW_S));
	return true;
}

static void
add_writes(TierRelationLoad *load, const TierRelationState *state,
		   const TierRelationLoadBasis *basis)
{
	const TierRelationStored *stored = &state->stored;
	double		weight = judge(basis, &stored->evidence, stored->evidence.writes).weight;
	double		page_writes;

	if (!counted_page_writes(state, basis, &page_writes))
	{
		double		changes =
		tier_larger(fast_now(stored, stored->rates.changes_fast, basis->now),
					slow_now(stored, stored->rates.changes_slow, basis->now));

		page_writes = tier_cost_page_writes_per_hour(changes,
													 tier_amount((double) stored->size_bytes) /
													 TIER_BLOCK_BYTES,
													 basis->checkpoints_per_hour);
		load->writes_estimated = true;
	}
	load->middle.page_writes += weight * page_writes;
	load->event_writes += (1.0 - weight) * page_writes;
}

/* How far the rate may be off that a relation's reads tell, relative to it. */
static double
relative_error(const TierRelationStored *stored, const TierEvidenceJudgement *read, double reads,
			   int64_t now)
{
	double		counted_s = tier_smaller(observed_s(stored, now),
										 TIER_HALF_LIFE_SLOW_S / log(2.0));

	if (!(reads > 0.0))
		return 0.0;
	return hypot(STANDARD_ERRORS / sqrt(reads * counted_s / SECONDS_PER_HOUR),
				 STANDARD_ERRORS * read->error);
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
	TierEvidenceJudgement read = judge(basis, &stored->evidence, stored->evidence.reads);
	double		error = relative_error(stored, &read, larger, now);
	double		reads = read.weight * larger;

	/*
	 * What may not come again has no part in the middle, but bounds what may
	 * be.
	 */
	load->middle.random_reads += read.weight * (fast ? random_fast : random_slow);
	load->middle.sequential_reads += read.weight * (fast ? sequential_fast : sequential_slow);
	load->event_reads += (1.0 - read.weight) * larger;

	/* What lasts, and how well so few events tell a rate. */
	load->reads_low += read.weight * smaller * tier_larger(1.0 - error, 0.0);
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

void
tier_relation_load_add(TierRelationLoad *load, const TierRelationState *state,
					   const TierRelationLoadBasis *basis)
{
	add_reads(load, state, basis);
	add_writes(load, state, basis);
	load->middle.size_bytes += tier_amount((double) state->stored.size_bytes);
}
