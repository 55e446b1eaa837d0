/*-------------------------------------------------------------------------
 *
 * decide/growth.c
 *		How fast tiers fill, and when they are full.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "datatype/timestamp.h"
#include "miscadmin.h"

#include "src/decide/growth.h"
#include "src/model/growth.h"

double
tier_advice_growth_per_hour(const TierAdvice *advice, int tier)
{
	return tier_cost_stored_bytes(advice->growth_per_hour[tier],
								  &advice->set->tiers[tier].profile);
}

/* Bytes until nothing more fits, reserve included. */
static double
physical_room(const TierAdvice *advice, int tier)
{
	const TierTier *t = &advice->set->tiers[tier];
	double		others = isnan(advice->others_bytes[tier]) ? 0.0 : advice->others_bytes[tier];
	double		room = t->capacity_bytes >= 0 ?
	t->capacity_bytes - others - advice->now_bytes[tier] : INFINITY;

	return t->free_bytes >= 0 ? Min(room, (double) t->free_bytes) : room;
}

double
tier_advice_days_until_full(const TierAdvice *advice, int tier)
{
	return tier_growth_hours_until(physical_room(advice, tier),
								   tier_advice_growth_per_hour(advice, tier)) / HOURS_PER_DAY;
}

double
tier_advice_days_until_reserve(const TierAdvice *advice, int tier)
{
	return tier_growth_hours_until(advice->available_bytes[tier] - advice->now_bytes[tier],
								   tier_advice_growth_per_hour(advice, tier)) / HOURS_PER_DAY;
}
