/*-------------------------------------------------------------------------
 *
 * model/period.h
 *		What a row about a period says of a part of that period.
 *
 * Pure.  Whoever reads history over a window shares the rows that reach beyond it in
 * proportion, so that windows that lie side by side have together what they have as one.
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
