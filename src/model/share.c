/*-------------------------------------------------------------------------
 *
 * model/share.c
 *		How databases share a tier that is too small for all of them: by price.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/share.h"

static int
compare_steps(const void *a, const void *b)
{
	const TierShareStep *left = a;
	const TierShareStep *right = b;

	if (left->price != right->price)
		return left->price > right->price ? -1 : 1;
	return left->bytes > right->bytes ? -1 : left->bytes < right->bytes;
}

static bool
is_wanted(const TierShareStep *step)
{
	return step->bytes > 0.0 && step->bytes <= DBL_MAX && step->price > 0.0 &&
		step->price <= DBL_MAX;
}

/* Two as one, which saves as much in all. */
static TierShareStep
merge(TierShareStep a, TierShareStep b)
{
	TierShareStep merged;

	merged.bytes = a.bytes + b.bytes;
	merged.price = a.price + (b.price - a.price) * (b.bytes / merged.bytes);
	merged.largest = fmax(a.largest, b.largest);
	return merged;
}

/* How far the price of some bytes would be from what it is, if the two were one. */
static double
error_of(TierShareStep a, TierShareStep b)
{
	return (a.price - b.price) * (a.bytes / (a.bytes + b.bytes)) * b.bytes;
}

/*
 * Down to many times the steps that are wanted, by equal bytes, in one pass; from there on
 * the pair that differs least is merged, each time.
 */
static int
thin_out(TierShareStep *steps, int n, int wanted)
{
	double		total = 0.0;
	double		sum = 0.0;
	int			kept = 0;

	if (n <= wanted)
		return n;
	for (int i = 0; i < n; i++)
		total += steps[i].bytes;
	for (int i = 0; i < n; i++)
	{
		bool		same = kept > 0 && (int) (sum / total * (wanted - 1)) ==
		(int) ((sum + steps[i].bytes) / total * (wanted - 1));

		sum += steps[i].bytes;
		if (same || kept == wanted)
			steps[kept - 1] = merge(steps[kept - 1], steps[i]);
		else
			steps[kept++] = steps[i];
	}
	return kept;
}

void
tier_share_gather(TierShareDemand *demand, double kept_bytes, TierShareStep *steps, int nsteps)
{
	int			n = 0;

	demand->kept_bytes = kept_bytes > 0.0 && kept_bytes <= DBL_MAX ? kept_bytes : 0.0;
	for (int i = 0; i < nsteps; i++)
		if (is_wanted(&steps[i]))
			steps[n++] = steps[i];
	qsort(steps, n, sizeof(TierShareStep), compare_steps);
	n = thin_out(steps, n, 32 * TIER_SHARE_STEPS);
	while (n > TIER_SHARE_STEPS)
	{
		int			best = 0;

		for (int i = 1; i < n - 1; i++)
			if (error_of(steps[i], steps[i + 1]) < error_of(steps[best], steps[best + 1]))
				best = i;
		steps[best] = merge(steps[best], steps[best + 1]);
		for (int i = best + 1; i < n - 1; i++)
			steps[i] = steps[i + 1];
		n--;
	}
	demand->nsteps = n;
	for (int i = 0; i < n; i++)
		demand->steps[i] = steps[i];
}

double
tier_share_wanted(const TierShareDemand *demand)
{
	double		bytes = demand->kept_bytes;

	for (int s = 0; s < demand->nsteps; s++)
		bytes += demand->steps[s].bytes;
	return bytes;
}

/* What all want at this price and above. */
static double
wanted_from(const TierShareDemand *demands, int n, double price)
{
	double		bytes = 0.0;

	for (int i = 0; i < n; i++)
		for (int s = 0; s < demands[i].nsteps && demands[i].steps[s].price >= price; s++)
			bytes += demands[i].steps[s].bytes;
	return bytes;
}

/* Positive numbers are in the order of their bits. */
static double
number_of(uint64_t bits)
{
	double		number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static uint64_t
bits_of(double number)
{
	uint64_t	bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/*
 * The highest price at which not everything fits that is wanted from there on; 0: all fits.
 * By bisection of all positive numbers, which ends at one of the prices exactly.
 */
static double
clearing_price(const TierShareDemand *demands, int n, double room)
{
	uint64_t	too_low = 0;
	uint64_t	enough = bits_of(DBL_MAX) + 1;

	while (enough - too_low > 1)
	{
		uint64_t	middle = too_low + (enough - too_low) / 2;

		if (wanted_from(demands, n, number_of(middle)) > room)
			too_low = middle;
		else
			enough = middle;
	}
	return number_of(too_low);
}

/*
 * What a step can use of so much room: all that it wants; or a part in which its largest piece
 * is; or what it has beside that.
 */
static double
usable(const TierShareStep *step, double room)
{
	if (room >= step->bytes)
		return step->bytes;
	return room >= step->largest ? room : fmin(room, fmax(step->bytes - step->largest, 0.0));
}

/* The highest price below this one; 0: there is none. */
static double
next_price(const TierShareDemand *demands, int n, double price)
{
	double		next = 0.0;

	for (int i = 0; i < n; i++)
		for (int s = 0; s < demands[i].nsteps; s++)
			if (demands[i].steps[s].price < price)
			{
				next = fmax(next, demands[i].steps[s].price);
				break;			/* they fall */
			}
	return next;
}

/* What all want at this price, and not above or below it. */
static double
wanted_at(const TierShareDemand *demands, int n, double price)
{
	double		bytes = 0.0;

	for (int i = 0; i < n; i++)
		for (int s = 0; s < demands[i].nsteps; s++)
			bytes += demands[i].steps[s].price == price ? demands[i].steps[s].bytes : 0.0;
	return bytes;
}

/* From the highest price on, until there is no room, or nobody who could use what is left. */
static void
give(const TierShareDemand *demands, int n, double room, double *shares)
{
	double		price = INFINITY;

	for (int i = 0; i < n; i++)
		shares[i] = demands[i].kept_bytes;
	while (room > 0.0 && (price = next_price(demands, n, price)) > 0.0)
	{
		double		fraction = fmin(room / wanted_at(demands, n, price), 1.0);
		double		given = 0.0;

		for (int i = 0; i < n; i++)
			for (int s = 0; s < demands[i].nsteps; s++)
			{
				const TierShareStep *step = &demands[i].steps[s];
				double		part;

				if (step->price != price)
					continue;
				part = usable(step, fraction < 1.0 ? step->bytes * fraction : step->bytes);
				shares[i] += part;
				given += part;
			}
		room -= given;
	}
}

double
tier_share_clear(const TierShareDemand *demands, int n, double capacity_bytes, double *shares)
{
	double		kept = 0.0;
	double		wanted = 0.0;
	double		room;
	double		price;

	for (int i = 0; i < n; i++)
	{
		kept += demands[i].kept_bytes;
		shares[i] = tier_share_wanted(&demands[i]);
		wanted += shares[i];
	}
	if (wanted <= capacity_bytes || wanted <= kept)
		return 0.0;
	room = capacity_bytes * (1.0 - TIER_SHARE_SLACK) - kept;
	room = room > 0.0 ? room : 0.0;
	price = clearing_price(demands, n, room);
	give(demands, n, room, shares);
	return price;
}

double
tier_share_allows(double used_bytes, double share_bytes)
{
	if (used_bytes > share_bytes / (1.0 - TIER_SHARE_SLACK) || used_bytes < share_bytes)
		return share_bytes;
	return used_bytes;
}
