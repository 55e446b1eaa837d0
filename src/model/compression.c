/*-------------------------------------------------------------------------
 *
 * model/compression.c
 *		Estimates the stored size on a file system that compresses, from some pieces.
 *
 * See model/compression.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "src/model/compression.h"
#include "src/model/number.h"

/* Of the ratio, on both sides. */
#define WANTED_PRECISION 0.05

/* The quantile of the normal distribution that 5 % are above. */
#define NORMAL_95 1.6449

/* A piece is stored in at least one sector. */
#define MOST_RATIO ((double) TIER_PIECE_BYTES / TIER_SECTOR_BYTES)

double
tier_piece_stored(double piece_bytes, double compressed_bytes, double least_saved)
{
	double		stored = ceil(compressed_bytes / TIER_SECTOR_BYTES) * TIER_SECTOR_BYTES;

	if (!(compressed_bytes > 0.0) || !(stored + least_saved <= piece_bytes))
		return piece_bytes;
	return stored;
}

/* A number that looks random for each different pair (splitmix64, Steele et al. 2014). */
static uint64_t
scramble(uint64_t seed, uint64_t value)
{
	uint64_t	x = seed + (value + 1) * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/*
 * The sequence of van der Corput, the binary digits of i in reverse order, with each digit
 * exchanged or not by what chance says for those before it (Owen 1995).
 */
int64_t
tier_piece_at(uint64_t n, uint64_t i, uint64_t seed)
{
	uint64_t	prefix = 1;
	int			digits = 0;

	while (digits < 62 && (UINT64_C(1) << digits) < n)
		digits++;
	for (int d = 0; d < digits; d++)
		prefix = prefix << 1 | (((i >> d) ^ scramble(seed, prefix)) & 1);
	prefix -= UINT64_C(1) << digits;
	return prefix < n ? (int64_t) prefix : -1;
}

void
tier_piece_add(TierPieceSums *sums, double bytes, double stored)
{
	sums->n += 1.0;
	sums->bytes += bytes;
	sums->stored += stored;
	sums->bytes_bytes += bytes * bytes;
	sums->stored_stored += stored * stored;
	sums->bytes_stored += bytes * stored;
}

/* Student's distribution by the first term of its expansion (Abramowitz, Stegun 26.7.5). */
static double
student_95(double degrees)
{
	return NORMAL_95 + NORMAL_95 * (NORMAL_95 * NORMAL_95 + 1.0) / (4.0 * degrees);
}

/*
 * Half of the interval of the fraction that is stored: a ratio of two means, of a sample
 * without replacement (Cochran 1977, 6.4 and 2.6).  That pieces are spread evenly makes it
 * better than this.
 */
static double
half_width(const TierPieceSums *sums, double pieces)
{
	double		fraction = sums->stored / sums->bytes;
	double		squares = sums->stored_stored - 2.0 * fraction * sums->bytes_stored +
	fraction * fraction * sums->bytes_bytes;
	double		mean = sums->bytes / sums->n;

	if (sums->n >= pieces)
		return 0.0;
	if (sums->n < 2.0)
		return INFINITY;
	return student_95(sums->n - 1.0) *
		sqrt(tier_amount(squares) / (sums->n - 1.0) / sums->n * (1.0 - sums->n / pieces)) / mean;
}

TierCompressionEstimate
tier_compression_estimate(const TierPieceSums *sums, double pieces)
{
	double		fraction = sums->stored / sums->bytes;
	double		half = half_width(sums, pieces);
	TierCompressionEstimate estimate;

	estimate.ratio = tier_clamp(1.0 / fraction, 1.0, MOST_RATIO);
	estimate.low = tier_clamp(1.0 / (fraction + half), 1.0, estimate.ratio);
	estimate.high = fraction > half ? 1.0 / (fraction - half) : MOST_RATIO;
	estimate.high = tier_clamp(estimate.high, estimate.ratio, MOST_RATIO);
	return estimate;
}

bool
tier_compression_is_sure(const TierPieceSums *sums, double pieces)
{
	if (sums->n >= tier_smaller(pieces, TIER_PIECES_MOST))
		return true;
	return sums->n >= TIER_PIECES_LEAST &&
		half_width(sums, pieces) <= WANTED_PRECISION * sums->stored / sums->bytes;
}
