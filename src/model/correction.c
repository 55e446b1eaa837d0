/*-------------------------------------------------------------------------
 *
 * model/correction.c
 *		By which factors a device differs from its profile, learned from what
 *		was measured after moves.
 *
 * The kernel says for how long a device worked, and not on which kind of request.  But the
 * mix differs from one measurement to the next.  Let x be the shares of the
 * expected time that are random reads, sequential reads and writes, and y the measured
 * time as a multiple of the expected one: y = f x, for the factors f.  Least squares
 * with a prior for f of (1, 1, 1), ridge regression (Hoerl and Kennard, 1970):
 *
 *		f - 1 = (sum of w x x' + p I)^-1  sum of w x (y - 1)
 *
 * Where the mix never changes, kinds cannot be told apart, and each takes its part of the
 * difference; what hardly occurs remains at 1.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "src/model/correction.h"
#include "src/model/number.h"

#define BYTES_PER_MB 1e6
#define MS_PER_S 1e3

#define KINDS 3

/* The profile counts as much as so many measurements of a single kind. */
#define PRIOR 2.0

/* A measurement of so many requests counts half. */
#define HALF_REQUESTS TIER_EFFECT_LEAST_REQUESTS

/* A symmetric system of equations. */
typedef struct Sums
{
	double		matrix[KINDS][KINDS];
	double		vector[KINDS];
} Sums;

static double
transfer_ms(double bytes, double mb_per_s)
{
	return mb_per_s > 0.0 ? tier_amount(bytes) / BYTES_PER_MB / mb_per_s * MS_PER_S : 0.0;
}

/* What the profile expects, by kind; returns the sum. */
static double
expect(const TierEffectParts *parts, const TierCostProfile *profile, double *expected)
{
	expected[0] = tier_amount(parts->random_reads) * tier_amount(profile->random_read_ms);
	expected[1] = transfer_ms(parts->sequential_read_bytes, profile->sequential_read_mb_per_s);
	expected[2] = tier_amount(parts->random_writes) * tier_amount(profile->random_write_ms) +
		transfer_ms(parts->sequential_write_bytes, profile->sequential_write_mb_per_s);
	return expected[0] + expected[1] + expected[2];
}

/* False for one that says nothing. */
static bool
add(const TierEffectParts *parts, const TierCostProfile *profile, Sums *sums)
{
	double		share[KINDS];
	double		sum = expect(parts, profile, share);
	double		requests = tier_amount(parts->requests);
	double		weight = requests / (requests + HALF_REQUESTS);
	double		difference;

	if (!(sum > 0.0 && sum <= DBL_MAX) || !(tier_amount(parts->device_ms) > 0.0) ||
		!(weight > 0.0))
		return false;

	/*
	 * Single ones that are far off are no more convincing than those at the
	 * bound.
	 */
	difference = tier_clamp(parts->device_ms / sum, TIER_CORRECTION_LEAST, TIER_CORRECTION_MOST) -
		1.0;
	for (int i = 0; i < KINDS; i++)
		share[i] /= sum;
	for (int i = 0; i < KINDS; i++)
	{
		sums->vector[i] += weight * share[i] * difference;
		for (int k = 0; k < KINDS; k++)
			sums->matrix[i][k] += weight * share[i] * share[k];
	}
	return true;
}

/* By elimination; the matrix is positive definite, thanks to the prior. */
static void
solve(Sums *sums)
{
	for (int i = 0; i < KINDS; i++)
		for (int row = 0; row < KINDS; row++)
		{
			double		factor = sums->matrix[row][i] / sums->matrix[i][i];

			if (row == i)
				continue;
			for (int k = i; k < KINDS; k++)
				sums->matrix[row][k] -= factor * sums->matrix[i][k];
			sums->vector[row] -= factor * sums->vector[i];
		}
	for (int i = 0; i < KINDS; i++)
		sums->vector[i] /= sums->matrix[i][i];
}

TierCostCorrection
tier_correction_learn(const TierEffectParts *measured, int n, const TierCostProfile *profile)
{
	TierCostCorrection correction = {0};
	double	   *factors[KINDS] = {&correction.random_reads, &correction.sequential_reads,
	&correction.writes};
	Sums		sums;

	memset(&sums, 0, sizeof(sums));
	for (int i = 0; i < KINDS; i++)
		sums.matrix[i][i] = PRIOR;
	for (int i = 0; i < n; i++)
		correction.measurements += add(&measured[i], profile, &sums);
	solve(&sums);
	for (int i = 0; i < KINDS; i++)
		*factors[i] = tier_clamp(1.0 + sums.vector[i], TIER_CORRECTION_LEAST,
								 TIER_CORRECTION_MOST);
	return correction;
}
