/*-------------------------------------------------------------------------
 *
 * decide/units.h
 *		What is to be placed, and what is known of each.
 *
 * For decide/advice.c, but for what it says on its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_UNITS_H
#define TIER_UNITS_H

#include "src/decide/advice.h"

/*
 * Fills set, units and writes_since of an advice whose options are there:
 * everything but what depends on a decision.  Same expectations as
 * tier_advice_load().
 */
extern void tier_units_load(TierAdvice *advice);

/* As the server is set: more may be forced, by WAL or by hand. */
extern double tier_checkpoints_per_hour(void);

#endif							/* TIER_UNITS_H */
