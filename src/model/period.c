/*-------------------------------------------------------------------------
 *
 * model/period.c
 *		The part of a row about a period that belongs to a part of that period.
 *
 * See model/period.h.
 *
 *-------------------------------------------------------------------------
 */
#include "src/model/period.h"

#define US_PER_S 1e6

/* From the first of two moments to the second; their difference need not be an int64_t. */
static double
passed(int64_t first_us, int64_t second_us)
{
	return (double) ((uint64_t) second_us - (uint64_t) first_us);
}

double
tier_period_share(int64_t start_us, double length_s, int64_t from_us, int64_t until_us)
{
	double		length_us = length_s > 0.0 ? length_s * US_PER_S : 0.0;
	double		begin = from_us > start_us ? passed(start_us, from_us) : 0.0;
	double		end = until_us > start_us ? passed(start_us, until_us) : 0.0;

	if (from_us >= until_us || until_us <= start_us)
		return 0.0;
	if (begin <= 0.0 && end >= length_us)
		return 1.0;
	if (begin >= length_us)
		return 0.0;
	return ((end < length_us ? end : length_us) - begin) / length_us;
}
