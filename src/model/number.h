/*-------------------------------------------------------------------------
 *
 * model/number.h
 *		Small arithmetic of the pure modules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_NUMBER_H
#define TIER_NUMBER_H

#include <float.h>
#include <stddef.h>

/* A value that is positive and finite, or else 0; NaN is neither. */
static inline double
tier_amount(double value)
{
	return (value > 0.0 && value <= DBL_MAX) ? value : 0.0;
}

static inline double
tier_smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline double
tier_larger(double a, double b)
{
	return a > b ? a : b;
}

/* Within [low, high]; NaN is low. */
static inline double
tier_clamp(double value, double low, double high)
{
	if (value > high)
		return high;
	return value > low ? value : low;
}

/* Adds one struct that consists of doubles to another one, each of them that many times. */
static inline void
tier_add_doubles(void *sum, const void *more, size_t size, double times)
{
	for (size_t i = 0; i < size / sizeof(double); i++)
		((double *) sum)[i] += ((const double *) more)[i] * times;
}

#endif							/* TIER_NUMBER_H */
