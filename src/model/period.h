/*-------------------------------------------------------------------------
 *
 * model/period.h
 *		The part of a row about a period that belongs to a part of that period.
 *
 * Pure.  A reader of history over a window divides rows that reach beyond it in proportion, so
 * that the sum over adjacent windows equals the value of the combined window.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PERIOD_H
#define TIER_PERIOD_H

#include <stdint.h>

/*
 * The part of a period that lies from from_us to before until_us, between 0 and 1.  Times
 * are microseconds on one axis, and may be the ends of it.  A period without a length is
 * a moment.
 */
extern double tier_period_share(int64_t start_us, double length_s, int64_t from_us,
								int64_t until_us);

#endif							/* TIER_PERIOD_H */
