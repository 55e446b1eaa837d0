/*-------------------------------------------------------------------------
 *
 * model/evidence.c
 *		The number of separate intervals with activity, which distinguishes a rate from an
 *		event.
 *
 * The effective number of intervals is Kish's, (sum x)^2 / sum x^2: k intervals
 * of equal amounts give k, one that holds nearly everything gives nearly 1.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "src/model/evidence.h"
#include "src/model/number.h"

#define US_PER_S 1e6

/* Which interval a moment falls into, from the first one on; may be beyond the last. */
static double
interval_of(const TierEvidence *evidence, int64_t at)
{
	double		passed_s = ((double) at - (double) evidence->began_at) / US_PER_S;

	return passed_s > 0.0 ? floor(passed_s / evidence->interval_s) : 0.0;
}

/* Two intervals become one. */
static void
widen_amounts(float *amounts)
{
	for (int i = 0; i < TIER_EVIDENCE_INTERVALS; i++)
	{
		int			from = 2 * i;

		amounts[i] = from < TIER_EVIDENCE_INTERVALS ? amounts[from] + amounts[from + 1] : 0.0f;
	}
}

static void
widen(TierEvidence *evidence)
{
	widen_amounts(evidence->reads);
	widen_amounts(evidence->writes);
	widen_amounts(evidence->growth);
	evidence->interval_s *= 2.0;
}

/* Forgets the first n intervals. */
static void
forget_amounts(float *amounts, int n)
{
	int			kept = TIER_EVIDENCE_INTERVALS - n;

	memmove(amounts, amounts + n, sizeof(float) * kept);
	for (int i = kept; i < TIER_EVIDENCE_INTERVALS; i++)
		amounts[i] = 0.0f;
}

static void
forget(TierEvidence *evidence, double n)
{
	int			shift = n >= TIER_EVIDENCE_INTERVALS ? TIER_EVIDENCE_INTERVALS : (int) n;

	forget_amounts(evidence->reads, shift);
	forget_amounts(evidence->writes, shift);
	forget_amounts(evidence->growth, shift);
	evidence->began_at += (int64_t) (n * evidence->interval_s * US_PER_S);
}

/* Makes the intervals reach until `at`; returns the one that it falls into. */
static int
reach(TierEvidence *evidence, int64_t at)
{
	double		i = interval_of(evidence, at);

	while (i >= TIER_EVIDENCE_INTERVALS && evidence->interval_s * 2.0 <= TIER_EVIDENCE_LONGEST_S)
	{
		widen(evidence);
		i = interval_of(evidence, at);
	}
	if (i >= TIER_EVIDENCE_INTERVALS)
	{
		forget(evidence, i - (TIER_EVIDENCE_INTERVALS - 1));
		i = TIER_EVIDENCE_INTERVALS - 1;
	}
	return (int) i;
}

static void
begin(TierEvidence *evidence, int64_t since, int64_t at, double shortest_s)
{
	/*
	 * A clock that is set back a little does no harm: the amount counts for
	 * the first interval.  If the intervals begin later than their whole
	 * length from now, they were noted while the clock was wrong.
	 */
	if (evidence->began_at != 0 && evidence->interval_s > 0.0 &&
		((double) evidence->began_at - (double) at) / US_PER_S <=
		evidence->interval_s * TIER_EVIDENCE_INTERVALS)
		return;
	memset(evidence, 0, sizeof(*evidence));
	evidence->began_at = since < at ? since : at;
	evidence->interval_s = tier_clamp(shortest_s, 1e-3, TIER_EVIDENCE_LONGEST_S);
}

static void
add(float *amount, double more)
{
	*amount = (float) tier_clamp(*amount + tier_amount(more), 0.0, FLT_MAX);
}

void
tier_evidence_note(TierEvidence *evidence, int64_t since, int64_t at,
				   double shortest_s, double reads, double writes, double growth)
{
	int			i;

	begin(evidence, since, at, shortest_s);
	i = reach(evidence, at);
	add(&evidence->reads[i], reads);
	add(&evidence->writes[i], writes);
	if (isfinite(growth))
		evidence->growth[i] = (float) tier_clamp(evidence->growth[i] + growth, -FLT_MAX, FLT_MAX);
}

void
tier_evidence_begin(TierEvidence *evidence, int64_t at, double shortest_s)
{
	begin(evidence, at, at, shortest_s);
}

double
tier_evidence_weight(double active)
{
	return tier_clamp((active - TIER_EVIDENCE_EVENT) / (TIER_EVIDENCE_RATE - TIER_EVIDENCE_EVENT),
					  0.0, 1.0);
}

int
tier_evidence_growth(const TierEvidence *evidence, int64_t now,
					 double growth[TIER_EVIDENCE_INTERVALS], double *covered_s)
{
	TierEvidence then = *evidence;
	int			n;

	*covered_s = 0.0;
	if (evidence->began_at == 0 || !(evidence->interval_s > 0.0))
		return 0;
	n = reach(&then, now) + 1;
	for (int i = 0; i < n; i++)
		growth[i] = isfinite(then.growth[i]) ? then.growth[i] : 0.0;
	*covered_s = tier_amount(((double) now - (double) then.began_at) / US_PER_S);
	return n;
}

TierEvidenceJudgement
tier_evidence_judge(const TierEvidence *evidence, const float *amounts, int64_t now)
{
	TierEvidenceJudgement judgement = {.weight = 1.0};
	TierEvidence then;
	double		sum = 0.0;
	double		squares = 0.0;
	double		largest = 0.0;
	double		second = 0.0;
	double		rest;
	const float *seen;

	if (evidence->began_at == 0 || !(evidence->interval_s > 0.0))
		return judgement;

	/* As it would be if something happened now. */
	then = *evidence;
	judgement.intervals = reach(&then, now) + 1;
	seen = amounts == evidence->writes ? then.writes : then.reads;
	for (int i = 0; i < TIER_EVIDENCE_INTERVALS; i++)
	{
		sum += seen[i];
		squares += (double) seen[i] * seen[i];
		second = tier_clamp(seen[i], second, largest);
		largest = tier_larger(largest, seen[i]);
	}
	judgement.weight = 0.0;
	judgement.error = 1.0;
	if (!(squares > 0.0))
		return judgement;
	judgement.active = sum * sum / squares;
	judgement.weight = tier_evidence_weight(judgement.active);

	/* Without the two intervals that an event may fall into, as much goes on. */
	if (judgement.intervals > 2)
	{
		rest = tier_amount(sum - largest - second) / sum *
			judgement.intervals / (judgement.intervals - 2.0);
		judgement.weight = tier_clamp(rest, judgement.weight, 1.0);
	}

	/*
	 * The variance between n intervals is (n / active - 1) times the mean
	 * squared.
	 */
	if (judgement.intervals > 1)
		judgement.error = sqrt(tier_amount(1.0 / judgement.active - 1.0 / judgement.intervals));
	return judgement;
}
