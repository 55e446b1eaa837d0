/*-------------------------------------------------------------------------
 *
 * model/heat.h
 *		Rates that forget: exponential smoothing of counters' growth.
 *
 * Pure.  A rate without new events needs no update: it decays by the clock when it is read, so
 * idle relations cost no write.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_HEAT_H
#define TIER_HEAT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Growth of a cumulative counter between two looks.  A counter that went
 * backwards was reset in between (statistics reset, crash restart): then what
 * it shows now is what happened since.  Never negative.
 */
extern int64_t tier_heat_counter_delta(int64_t before, int64_t now, bool reset);

/*
 * New smoothed rate (events per hour) after `events` happened in `elapsed_s`
 * seconds that directly follow the moment for which `rate` was valid.
 * elapsed_s <= 0 leaves the rate as it is.  A half-life <= 0 means no memory.
 * The result is always finite and never negative.
 */
extern double tier_heat_advance(double rate, double events, double elapsed_s,
								double half_life_s);

/*
 * The rate to show at a moment `idle_s` after the last advance, for a relation that has been
 * observed for `observed_s` altogether, the idle time included: decayed by the idle time, and
 * freed of the bias towards the zero that smoothing starts from.  A rate below one event in a
 * century is 0.
 */
extern double tier_heat_read(double rate, double idle_s, double observed_s,
							 double half_life_s);

#endif							/* TIER_HEAT_H */
