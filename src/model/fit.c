/*-------------------------------------------------------------------------
 *
 * model/fit.c
 *		From what PostgreSQL asked for to what the device served.
 *
 * No input, however large, small or damaged, makes a result negative, infinite
 * or NaN: the sums are stored, and such a value would never fade.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "src/model/fit.h"
#include "src/model/number.h"

#define LN_2 0.693147180559945309417232121458

/* Sums of squares of bytes stay below this, and products of them finite. */
#define MAX_BYTES 1e30

/*
 * A cache that holds no more than the first of a file after a scan has not kept
 * what the scan read; one that holds the second has kept all of it.
 */
#define KEEPS_NOTHING 0.5
#define KEEPS_ALL 0.95

static double
share(double value)
{
	return tier_clamp(tier_amount(value), 0.0, 1.0);
}

void
tier_fit_add(TierFit *fit, double predicted, double seen, double weight,
			 double elapsed_s, double half_life_s)
{
	double		x = tier_clamp(tier_amount(predicted), 0.0, MAX_BYTES);
	double		y = tier_clamp(tier_amount(seen), 0.0, MAX_BYTES);
	double		w = share(weight);
	double		keep = 1.0;

	if (elapsed_s > 0.0)
		keep = half_life_s > 0.0 ? exp(-LN_2 * (elapsed_s / half_life_s)) : 0.0;
	if (!(keep >= 0.0 && keep <= 1.0))
		keep = 1.0;

	fit->xx = tier_clamp(tier_amount(fit->xx) * keep + w * x * x, 0.0, DBL_MAX);
	fit->xy = tier_clamp(tier_amount(fit->xy) * keep + w * x * y, 0.0, DBL_MAX);
	fit->yy = tier_clamp(tier_amount(fit->yy) * keep + w * y * y, 0.0, DBL_MAX);
	fit->periods = tier_clamp(tier_amount(fit->periods) * keep + w, 0.0, DBL_MAX);
}

/* The least-squares slope of a line through the origin. */
double
tier_fit_factor(const TierFit *fit)
{
	double		xx = tier_amount(fit->xx);

	if (!(xx > 0.0))
		return 1.0;
	return tier_clamp(tier_amount(fit->xy) / xx, 0.0, TIER_FIT_MAX_FACTOR);
}

/*
 * Sum of w (y - f x)^2 = yy - 2 f xy + f^2 xx, over yy.  Only rounding, or sums
 * that do not belong together, can make it negative.
 */
double
tier_fit_residual(const TierFit *fit)
{
	double		f = tier_fit_factor(fit);
	double		yy = tier_amount(fit->yy);
	double		left;

	if (!(yy > 0.0))
		return -1.0;
	left = 1.0 - 2.0 * f * (tier_amount(fit->xy) / yy) + f * f * (tier_amount(fit->xx) / yy);
	return tier_clamp(sqrt(tier_amount(left)), 0.0, MAX_BYTES);
}

bool
tier_fit_is_known(const TierFit *fit)
{
	double		periods = tier_amount(fit->periods);

	return periods >= TIER_FIT_LEAST_PERIODS &&
		(sqrt(tier_amount(fit->xx) / periods) >= TIER_FIT_LEAST_BYTES ||
		 sqrt(tier_amount(fit->yy) / periods) >= TIER_FIT_LEAST_BYTES);
}

bool
tier_fit_explains(const TierFit *fit)
{
	double		residual = tier_fit_residual(fit);

	return tier_fit_is_known(fit) && tier_amount(fit->xx) > 0.0 &&
		residual >= 0.0 && residual <= TIER_FIT_MAX_RESIDUAL;
}

/*
 * Let r be the share of the file that is in the page cache, x the number of
 * reads for each block of it, and blocks be chosen at random.  A read that
 * misses adds a block, so while nothing is evicted
 *
 *		r(x) = 1 - (1 - before) exp(-x)
 *
 * A cache fills first, and then stays as it is.  `after` is reached at
 *
 *		f = ln((1 - before) / (1 - after))
 *
 * and if that is within the period, the mean of r over it, which is the share of
 * reads that hit, is
 *
 *		(f - (after - before) + (x - f) * after) / x
 *
 * Else the file was brought in or pushed out by something beside these reads, at
 * a constant rate e as far as we know:
 *
 *		dr/dx = (1 - r) - e		so		r(x) = a + (before - a) exp(-x),  a = 1 - e
 *
 * r(x) = after gives a, and the mean is
 *
 *		before + (after - before) * (1 / (1 - exp(-x)) - 1 / x)
 *
 * which for few reads is the middle of both.
 */
double
tier_fit_random_hits(double before, double after, double reads_per_block)
{
	double		x = tier_amount(reads_per_block);
	double		weight = 0.5;

	before = share(before);
	after = share(after);
	if (after > before && after < 1.0)
	{
		double		f = log((1.0 - before) / (1.0 - after));

		if (f <= x)
			return tier_clamp((f - (after - before) + (x - f) * after) / x, before, after);
	}
	if (x >= 1e-3)
		weight = tier_clamp(1.0 / -expm1(-x) - 1.0 / x, 0.5, 1.0);
	return before + (after - before) * weight;
}

/*
 * Linux takes a read for the next of a run when more than its length before it is resident,
 * here two blocks, and reads ahead the missing ones of some blocks behind it.  Both figures
 * are measured: 8 kB reads of random blocks of a file, of which the page cache held r, took
 * 0.684 requests each at r = 0.379, and 0.418 at r = 0.76, where 1 - r would be 0.621 and
 * 0.24; without read-ahead they did.
 */
#define RUN_REQUESTS 0.45
#define RUN_BLOCKS 4.0

double
tier_fit_read_ahead(double resident)
{
	double		r = share(resident);

	return RUN_REQUESTS * r * r * (1.0 - pow(r, RUN_BLOCKS));
}

/* The blocks of 8 kB that Linux reads ahead at the begin of a file, at most `most`. */
static double
first_window(double most)
{
	if (most >= 32.0)
		return 4.0;
	return most >= 4.0 ? 2.0 : most;
}

/* ... and after that. */
static double
next_window(double window, double most)
{
	return tier_smaller(window * (window < most / 16.0 ? 4.0 : 2.0), most);
}

/* The last request may be for less. */
static double
run_requests(double blocks, double most)
{
	double		window = first_window(most);
	double		requests = 0.0;

	while (window < most && blocks > window)
	{
		blocks -= window;
		requests += 1.0;
		window = next_window(window, most);
	}
	return requests + ceil(blocks / window);
}

double
tier_fit_scan_requests(double blocks, double file_blocks, double most_blocks)
{
	double		n = tier_amount(blocks);
	double		passes = tier_larger(n / tier_larger(tier_amount(file_blocks), 1.0), 1.0);

	most_blocks = tier_larger(tier_amount(most_blocks), 1.0);
	return tier_smaller(n, passes * run_requests(n / passes, most_blocks));
}

/*
 * A scan of a file that does not fit evicts the blocks that it needs next: the cache then
 * holds a part of the file at any time, and no scan finds a block in it.  The part of the file
 * that is cached afterwards shows whether it fits.  If it does, the first pass finds the
 * blocks cached before, and further passes find all.
 */
double
tier_fit_sequential_hits(double before, double after, double passes)
{
	double		n = tier_amount(passes);
	double		kept;
	double		found;

	before = share(before);
	kept = tier_clamp((share(after) - KEEPS_NOTHING) / (KEEPS_ALL - KEEPS_NOTHING), 0.0, 1.0);
	found = n <= 1.0 ? before : (before + (n - 1.0)) / n;
	return kept * found;
}

double
tier_fit_unexpected_share(double from_device, double expected, double from_cache)
{
	double		unexpected = tier_amount(tier_amount(from_device) - tier_amount(expected));

	return unexpected > 0.0 && from_cache > 0.0 ?
		tier_smaller(unexpected / from_cache, 1.0) : 0.0;
}
