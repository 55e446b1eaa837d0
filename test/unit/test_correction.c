/*-------------------------------------------------------------------------
 *
 * test_correction.c
 *		Tests of what is learned of a device after moves, and of what that does to
 *		costs.  Prints TAP; run it by test/unit/run.
 *
 * Numbers in fixtures were computed by hand; the arithmetic is beside them.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/correction.h"

#define MANY 200

/* 10 ms, 5 ms, 100 MB/s, 50 MB/s */
static const TierCostProfile disk = {
	.random_read_ms = 10,.random_write_ms = 5,.sequential_read_mb_per_s = 100,
	.sequential_write_mb_per_s = 50,.parallelism = 1
};

/* So many seconds of each kind, by the profile, and the time that they took. */
static TierEffectParts
measured(double random_s, double sequential_s, double write_s, double device_s)
{
	TierEffectParts parts = {0};

	parts.random_reads = random_s * 100;
	parts.sequential_read_bytes = sequential_s * 100e6;
	parts.random_writes = write_s * 100;
	parts.sequential_write_bytes = write_s * 25e6;
	parts.requests = 1e9;
	parts.device_ms = device_s * 1000;
	return parts;
}

static void
test_evidence(void)
{
	TierEffectParts parts[MANY];
	TierCostCorrection correction = tier_correction_learn(NULL, 0, &disk);

	ok(correction.random_reads == 1 && correction.sequential_reads == 1 &&
	   correction.writes == 1 && correction.measurements == 0,
	   "evidence: none, nothing is corrected");

	/* 1 / (2 + 1) of the way to 2; 100 requests count half: 0.5 / (2 + 0.5). */
	parts[0] = measured(10, 0, 0, 20);
	correction = tier_correction_learn(parts, 1, &disk);
	ok(fabs(correction.random_reads - 4.0 / 3) < 1e-6 && correction.sequential_reads == 1 &&
	   correction.writes == 1 && correction.measurements == 1,
	   "evidence: one measurement, of random reads (%g)", correction.random_reads);
	parts[0].requests = 100;
	is(tier_correction_learn(parts, 1, &disk).random_reads, 1.2, "evidence: of few requests");
	parts[0] = measured(0, 10, 0, 5);
	ok(fabs(tier_correction_learn(parts, 1, &disk).sequential_reads - 5.0 / 6) < 1e-6,
	   "evidence: sequential reads twice as fast");

	/* 100 times as slow is no more than twice. */
	for (int i = 0; i < MANY; i++)
		parts[i] = measured(0, 0, 10, 1000);
	correction = tier_correction_learn(parts, MANY, &disk);
	ok(correction.writes > 1.98 && correction.writes <= 2 && correction.measurements == MANY,
	   "evidence: much, but bounded (%g)", correction.writes);
	for (int i = 0; i < MANY; i++)
		parts[i].device_ms = 1;
	correction = tier_correction_learn(parts, MANY, &disk);
	ok(correction.writes < 0.51 && correction.writes >= 0.5, "evidence: bounded below");

	/* One that is far off among many is no more than one. */
	for (int i = 0; i < MANY; i++)
		parts[i] = measured(10, 0, 0, i == 7 ? 1e6 : 10);
	ok(tier_correction_learn(parts, MANY, &disk).random_reads < 1.01, "evidence: an outlier");
}

static void
test_kinds(void)
{
	TierEffectParts parts[MANY];
	TierCostCorrection correction;
	int			out_of_range = 0;

	/* The mix differs: each kind has its factor. */
	random_state = 1;
	for (int i = 0; i < MANY; i++)
	{
		double		a = random_unit();
		double		b = random_unit();
		double		c = random_unit();

		parts[i] = measured(a, b, c, 1.7 * a + 1.0 * b + 0.7 * c);
	}
	correction = tier_correction_learn(parts, MANY, &disk);
	ok(fabs(correction.random_reads - 1.7) < 0.1 && fabs(correction.sequential_reads - 1) < 0.1 &&
	   fabs(correction.writes - 0.7) < 0.1, "kinds: told apart (%.3f %.3f %.3f)",
	   correction.random_reads, correction.sequential_reads, correction.writes);

	/*
	 * It does not: what is common is learned, and goes to what there is of
	 * it.
	 */
	for (int i = 0; i < MANY; i++)
		parts[i] = measured(5, 5, 0, 15);
	correction = tier_correction_learn(parts, MANY, &disk);
	ok(fabs(correction.random_reads - 1.5) < 0.02 && correction.writes == 1 &&
	   fabs(correction.random_reads - correction.sequential_reads) < 1e-12,
	   "kinds: not told apart (%.3f)", correction.random_reads);

	/* Whatever is measured. */
	for (int round = 0; round < 500; round++)
	{
		int			n = 1 + random_int(MANY);

		for (int i = 0; i < n; i++)
			parts[i] = measured(pow(10, 8 * random_unit() - 4), pow(10, 8 * random_unit() - 4),
								pow(10, 8 * random_unit() - 4), pow(10, 8 * random_unit() - 4));
		correction = tier_correction_learn(parts, n, &disk);
		if (!(correction.random_reads >= 0.5 && correction.random_reads <= 2 &&
			  correction.sequential_reads >= 0.5 && correction.sequential_reads <= 2 &&
			  correction.writes >= 0.5 && correction.writes <= 2))
			out_of_range++;
	}
	ok(out_of_range == 0, "kinds: always within the bounds (%d)", out_of_range);
}

static void
test_feedback(void)
{
	TierEffectParts parts[MANY];
	TierCostProfile profile = disk;
	TierCostCorrection first;
	TierCostCorrection second;

	for (int i = 0; i < MANY; i++)
		parts[i] = measured(i + 1, MANY - i, 3, 1.5 * (i + 1) + MANY - i + 3);
	first = tier_correction_learn(parts, MANY, &profile);
	profile.correction = first;
	second = tier_correction_learn(parts, MANY, &profile);
	ok(memcmp(&first, &second, sizeof(first)) == 0,
	   "feedback: what was learned is not learned again");

	/* Somebody calibrates, and the figure is what was measured. */
	profile.random_read_ms = 15;
	second = tier_correction_learn(parts, MANY, &profile);
	ok(fabs(second.random_reads - 1) < 1e-9 && fabs(second.sequential_reads - 1) < 1e-9 &&
	   first.random_reads > 1.3, "feedback: nothing is left to correct");
}

static void
test_nonsense(void)
{
	static const double values[] = {NAN, INFINITY, -1, 0};
	const TierEffectParts parts = {1000, 10, 10, 0, 0, 5};
	TierCostProfile profile = disk;
	TierCostCorrection correction;
	int			wrong = 0;

	for (int i = 0; i < 4; i++)
		for (int field = 0; field < 6; field++)
		{
			TierEffectParts odd = measured(1, 0, 0, 2);

			((double *) &odd)[field] = values[i];
			correction = tier_correction_learn(&odd, 1, &disk);
			if (!(correction.random_reads >= 1 && correction.random_reads < 1.34) ||
				correction.sequential_reads != 1 || correction.writes != 1)
				wrong++;
		}
	ok(wrong == 0, "nonsense: is none of it evidence (%d)", wrong);
	profile.random_read_ms = profile.sequential_read_mb_per_s = 0;
	ok(tier_correction_learn(&parts, 1, &profile).measurements == 0,
	   "nonsense: a profile that expects nothing");
}

/* 3600 reads, 3600 blocks in sequence, 1800 single writes and 1800 merged ones. */
static void
test_costs(void)
{
	const TierCostLoad load = {3600, 3600, 0, 3600, 1800, 0};
	const double sequential_s = 3600 * 8192 / 100e6;
	const double merged_s = 1800 * 8192 / 50e6;
	const TierCostCorrection none = {NAN, -1, INFINITY, 3};
	TierCostProfile profile = disk;

	is(tier_cost_on(&load, &profile).busy_s, 36 + sequential_s + 9 + merged_s,
	   "costs: as they are");
	profile.correction.random_reads = 2;
	profile.correction.sequential_reads = 0.5;
	profile.correction.writes = 1.5;
	is(tier_cost_on(&load, &profile).busy_s,
	   72 + 0.5 * sequential_s + 1.5 * (9 + merged_s), "costs: corrected");
	is(tier_cost_on(&load, &profile).occupied_s,
	   72 + 0.5 * sequential_s + 1.5 * (9 + merged_s), "costs: occupation, corrected");
	is(tier_cost_on(&load, &profile).wait_s, 72 + 0.5 * sequential_s - 3600 * 5e-6,
	   "costs: waits, corrected");
	is(tier_cost_move_s(100e6, &profile, &profile), 0.5 + 1.5 * 2, "costs: moves, corrected");
	profile.correction = none;
	is(tier_cost_on(&load, &profile).busy_s, 36 + sequential_s + 9 + merged_s,
	   "costs: by nothing");
}

int
main(void)
{
	test_evidence();
	test_kinds();
	test_feedback();
	test_nonsense();
	test_costs();
	return done();
}
