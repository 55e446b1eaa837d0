/*-------------------------------------------------------------------------
 *
 * decide/growth.c
 *		What fills a tier until the horizon, and when it is full.
 *
 * A placement has to fit when the horizon ends, not just today: what grows takes
 * its growth along, and the rest of what comes to a tier stays with it
 * (model/growth.h).  Policies take some of it away, to where it is more.  But what
 * will leave makes no room before it has left.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "datatype/timestamp.h"
#include "miscadmin.h"

#include "src/decide/growth.h"
#include "src/decide/compression.h"
#include "src/decide/partition.h"
#include "src/decide/policy_group.h"

#define HOURS_PER_MONTH (30.0 * HOURS_PER_DAY)

/* Bytes, which may be negative, as they are stored on the tier. */
static double
stored_bytes(const TierAdvice *advice, int tier, double bytes)
{
	double		stored = tier_cost_stored_bytes(fabs(bytes), &advice->set->tiers[tier].profile);

	return bytes < 0.0 ? -stored : stored;
}

static double
interval_hours(const Interval *interval)
{
	return interval->month * HOURS_PER_MONTH + interval->day * (double) HOURS_PER_DAY +
		interval->time / (double) USECS_PER_HOUR;
}

static TierAdviceUnit *
find_unit(const TierAdvice *advice, Oid relation_oid)
{
	return unconstify(TierAdviceUnit *, tier_advice_find(advice, relation_oid));
}

/* A partition that its policy moves until then. */
static void
note_leaving(TierAdvice *advice, TierAdviceUnit *unit, int to_tier)
{
	if (unit->leaves_by_policy || unit->current_tier < 0 || unit->current_tier == to_tier)
		return;
	unit->leaves_by_policy = true;
	/* As what comes is: by main forks, of which it is known how they grow. */
	advice->growth[unit->current_tier].leaves += unit->load.size_bytes;
	advice->growth[to_tier].arrives += unit->load.size_bytes;
}

/* What grows now goes on to the policy's tier when it has reached its age. */
static void
note_age(TierAdviceUnit *unit, int to_tier, double age_hours)
{
	if (unit->current_tier == to_tier || age_hours >= unit->policy_hours)
		return;
	unit->policy_hours = age_hours;
	unit->growth_tier = to_tier;
}

/*
 * An age that counts from the newest partition says nothing about a time in which newer
 * ones will come: then only what grows is looked at.  The policy does not ask for use.
 */
static void
note_policy(TierAdvice *advice, const TierPolicyRow *policy, TimestampTz ends_at)
{
	TierEvaluation *evaluation = tier_partition_evaluate(policy, advice->set, advice->pins, NULL,
														 ends_at);

	if (evaluation->error != NULL || evaluation->to_tier < 0)
		return;
	for (int i = 0; i < evaluation->nleaves; i++)
	{
		const TierLeaf *leaf = &evaluation->leaves[i];
		ListCell   *cell;

		CHECK_FOR_INTERRUPTS();
		foreach(cell, leaf->pending)
		{
			TierAdviceUnit *unit = find_unit(advice, lfirst_oid(cell));
			int			to_tier;

			if (unit == NULL || unit->pinned_tier >= 0)
				continue;
			to_tier = tier_partition_target(evaluation, leaf, lfirst_oid(cell));
			note_age(unit, to_tier, interval_hours(&policy->move_after));
			if (leaf->verdict == TIER_VERDICT_DUE && !policy->age_from_newest)
				note_leaving(advice, unit, to_tier);
		}
	}
}

void
tier_advice_load_growth(TierAdvice *advice, TimestampTz now)
{
	for (int p = 0; p < advice->npolicies; p++)
		if (advice->policies[p].is_enabled && tier_policy_has_target(&advice->policies[p]) &&
			!tier_policy_asks_for_use(&advice->policies[p]))
			note_policy(advice, &advice->policies[p],
						now + (TimestampTz) (advice->growth_hours * USECS_PER_HOUR));
}

/* What the unit grows by until then, before any compression. */
static double
grown_bytes(const TierAdvice *advice, const TierAdviceUnit *unit, double most_hours)
{
	return unit->growth_per_hour *
		Min(Min(advice->growth_hours, unit->growth_hours), most_hours);
}

void
tier_advice_forecast(TierAdvice *advice)
{
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		TierAdviceGrowth *growth = &advice->growth[t];
		double		carried = 0.0;
		double		arrives = growth->arrives;

		for (int i = 0; i < advice->nunits; i++)
		{
			const TierAdviceUnit *unit = &advice->units[i];

			if (unit->current_tier == t)
				carried += grown_bytes(advice, unit, unit->policy_hours);
			else if (unit->growth_tier == t)
				arrives += grown_bytes(advice, unit, INFINITY) -
					grown_bytes(advice, unit, unit->policy_hours);
		}
		growth->forecast = tier_growth_forecast(stored_bytes(advice, t, carried),
												stored_bytes(advice, t, growth->beyond),
												stored_bytes(advice, t, arrives),
												stored_bytes(advice, t, growth->leaves));
	}
}

double
tier_advice_grown(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	TierCostProfile profile = tier_advice_profile(advice, unit, tier);

	/* What comes compresses as what is there. */
	if (tier != unit->current_tier)
		return tier_cost_stored_bytes(grown_bytes(advice, unit, INFINITY), &profile);
	return advice->growth[tier].forecast.share *
		stored_bytes(advice, tier, grown_bytes(advice, unit, unit->policy_hours));
}

double
tier_advice_growth_per_hour(const TierAdvice *advice, int tier)
{
	const TierGrowthForecast *forecast = &advice->growth[tier].forecast;

	return advice->growth_hours > 0.0 ?
		(forecast->carried + forecast->other) / advice->growth_hours : 0.0;
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
