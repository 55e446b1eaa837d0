/*-------------------------------------------------------------------------
 *
 * test_evidence.c
 *		Tests of what tells a rate from an event.  Prints TAP; run it by
 *		test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/evidence.h"

#define S INT64_C(1000000)
#define MINUTE (60 * S)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define START (700000 * HOUR)

/* The worker's samples: something each `every` from `from` to before `to`. */
static void
work(TierEvidence *evidence, int64_t from, int64_t to, int64_t every, double reads)
{
	for (int64_t at = from; at < to; at += every)
		tier_evidence_note(evidence, START, at, 300.0, reads, 0.0, 0.0);
}

static TierEvidenceJudgement
judge(const TierEvidence *evidence, int64_t now)
{
	return tier_evidence_judge(evidence, evidence->reads, now);
}

static void
test_nothing(void)
{
	TierEvidence evidence = {0};
	TierEvidenceJudgement judgement = judge(&evidence, START);

	ok(judgement.weight == 1.0 && judgement.active == 0.0 && judgement.error == 0.0 &&
	   judgement.intervals == 0,
	   "nothing noted: nothing speaks against a rate");
	tier_evidence_note(&evidence, START, START + HOUR, 300.0, 0.0, 0.0, 0.0);
	judgement = judge(&evidence, START + HOUR);
	ok(judgement.weight == 0.0 && judgement.active == 0.0 && judgement.intervals > 1,
	   "nothing but zeros: no rate");
	tier_evidence_note(&evidence, START, START + HOUR, 300.0, NAN, -5.0, NAN);
	tier_evidence_note(&evidence, START, START + HOUR, 300.0, INFINITY, 1e300, INFINITY);
	judgement = judge(&evidence, START + HOUR);
	ok(judgement.active == 0.0, "what is no amount is not counted");
	ok(isfinite(tier_evidence_judge(&evidence, evidence.writes, START + HOUR).active),
	   "a huge amount stays finite");
}

static void
test_load(void)
{
	TierEvidence evidence = {0};
	TierEvidenceJudgement judgement;
	double		most = 0.0;

	/* Four minutes of loading, a sample each minute, then nothing. */
	work(&evidence, START, START + 4 * MINUTE, MINUTE, 1000.0);
	for (int64_t now = START + 4 * MINUTE; now < START + 60 * DAY;
		 now += now < START + DAY ? MINUTE : HOUR)
		most = fmax(most, judge(&evidence, now).weight);
	ok(most == 0.0, "a load of four minutes is never a rate, whenever it is looked at");

	/* Twenty minutes of it, over the borders of intervals. */
	memset(&evidence, 0, sizeof(evidence));
	work(&evidence, START, START + 20 * MINUTE, MINUTE, 1000.0);
	most = 0.0;
	for (int64_t now = START + 3 * HOUR; now < START + 60 * DAY; now += 10 * MINUTE)
		most = fmax(most, judge(&evidence, now).weight);
	ok(most == 0.0, "nor is one of twenty minutes, three hours later");

	/* One day of work after months of none. */
	memset(&evidence, 0, sizeof(evidence));
	work(&evidence, START, START + MINUTE, MINUTE, 1.0);
	work(&evidence, START + 60 * DAY, START + 60 * DAY + 8 * HOUR, MINUTE, 100.0);
	ok(judge(&evidence, START + 60 * DAY + 12 * HOUR).weight == 0.0,
	   "a day's burst at the end of the month is no rate");
	work(&evidence, START + 61 * DAY, START + 64 * DAY, MINUTE, 100.0);
	ok(judge(&evidence, START + 64 * DAY).weight == 1.0,
	   "what goes on for three days is one");
	judgement = judge(&evidence, START + 90 * DAY);
	ok(judgement.active == 0.0 && judgement.weight == 0.0, "what is long ago is no rate any more");
}

static void
test_steady(void)
{
	int64_t		lengths[] = {20 * MINUTE, HOUR, 5 * HOUR, DAY, 10 * DAY, 100 * DAY};
	bool		rate = true;
	bool		sure = true;
	TierEvidence evidence = {0};
	TierEvidenceJudgement judgement;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		memset(&evidence, 0, sizeof(evidence));
		work(&evidence, START, START + lengths[i], MINUTE, 7.0);
		judgement = judge(&evidence, START + lengths[i]);
		rate &= judgement.weight > (i == 0 ? 0.9 : 0.999);
		sure &= judgement.error < 0.25;
		printf("# %.1f hours: error %.3f\n", (double) lengths[i] / HOUR, judgement.error);
	}
	ok(rate, "steady work is a rate after twenty minutes");
	ok(sure, "and known well");

	/* Eight hours of each day, for ten days. */
	memset(&evidence, 0, sizeof(evidence));
	for (int day = 0; day < 10; day++)
		work(&evidence, START + day * DAY, START + day * DAY + 8 * HOUR, MINUTE, 7.0);
	judgement = judge(&evidence, START + 10 * DAY);
	ok(judgement.weight == 1.0, "work by day is a rate");
	ok(judgement.error > 0.1 && judgement.error < 0.35, "known less well: %.2f", judgement.error);

	/* A nightly job of two minutes. */
	memset(&evidence, 0, sizeof(evidence));
	for (int day = 0; day < 10; day++)
		work(&evidence, START + day * DAY, START + day * DAY + 2 * MINUTE, MINUTE, 7.0);
	ok(judge(&evidence, START + 10 * DAY).weight == 1.0, "a nightly job is one");
}

static void
test_intervals(void)
{
	TierEvidence evidence = {0};
	double		sum = 0.0;

	/* Amounts survive the widening. */
	work(&evidence, START, START + 6 * DAY, 7 * MINUTE, 1.0);
	for (int i = 0; i < TIER_EVIDENCE_INTERVALS; i++)
		sum += evidence.reads[i];
	ok(fabs(sum - ceil(6.0 * 24 * 60 / 7)) < 1.0,
	   "nothing is lost while intervals grow: %.0f", sum);
	ok(evidence.interval_s <= TIER_EVIDENCE_LONGEST_S, "they do not grow beyond the longest");

	/* The clock goes back. */
	tier_evidence_note(&evidence, START, START - DAY, 300.0, 1.0, 0.0, 0.0);
	ok(evidence.began_at >= START, "a moment before the first interval counts for that");

	work(&evidence, START + 365 * DAY, START + 365 * DAY, DAY, 1.0);
	work(&evidence, START + 7 * DAY, START + 14 * DAY, HOUR, 1.0);
	ok(judge(&evidence, START + 14 * DAY).weight == 1.0,
	   "a moment in which the clock was wrong does not matter later");

	/* Very long ago. */
	memset(&evidence, 0, sizeof(evidence));
	tier_evidence_note(&evidence, 1, 1, 1.0, 1.0, 0.0, 0.0);
	tier_evidence_note(&evidence, 1, INT64_MAX / 2, 1.0, 5.0, 0.0, 0.0);
	is(judge(&evidence, INT64_MAX / 2).active, 1.0, "an interval of 146,000 years");
}

static void
test_random(void)
{
	bool		sane = true;

	for (int i = 0; i < 2000; i++)
	{
		TierEvidence evidence = {0};
		int64_t		now = START;

		for (int k = random_int(40); k >= 0; k--)
		{
			TierEvidenceJudgement judgement;

			now += (int64_t) (random_unit() * random_unit() *
							  (double) (random_int(2) ? DAY : HOUR));
			tier_evidence_note(&evidence, START - random_int(2) * DAY, now, 1.0 + random_int(600),
							   exp(random_unit() * 40.0 - 5.0), random_unit(), 0.0);
			judgement = judge(&evidence, now);
			sane &= judgement.active >= 1.0 - 1e-6 &&
				judgement.active <= judgement.intervals + 1e-6 &&
				judgement.intervals <= TIER_EVIDENCE_INTERVALS &&
				judgement.weight >= 0.0 && judgement.weight <= 1.0 &&
				judgement.error >= 0.0 && judgement.error <= 1.0;
		}
	}
	ok(sane, "random events: as many intervals as there are at most");
}

int
main(void)
{
	test_nothing();
	test_random();
	test_load();
	test_steady();
	test_intervals();
	return done();
}
