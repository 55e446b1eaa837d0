/*-------------------------------------------------------------------------
 *
 * decide/advice_rules.c
 *		Where a relation may be, whatever it costs: rules, and the room that there is.
 *
 * One whose tablespace belongs to no tier is left alone; one that is pinned belongs to the
 * pin's tier, for which no observation is needed; one that is of the age of a policy stays where
 * the policy wants it; one that was moved lately stays for tiered_storage.cooldown; one that has
 * not been observed for tiered_storage.observation_period is never sent to a slower tier.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "src/decide/advice.h"

/* ---------------------------------------------------------------------
 * Permitted tiers
 * ---------------------------------------------------------------------
 */

const char *
tier_advice_why_not(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	if (unit->current_tier < 0)
		return tier == unit->current_tier ? NULL : "is in no tier";
	if (!unit->is_selected)
		return tier == unit->current_tier ? NULL : "is not among the requested relations";
	if (unit->immovable != NULL)
		return tier == unit->current_tier ? NULL : "cannot be moved";
	if (unit->pinned_tier >= 0 && tier != unit->pinned_tier)
		return "is pinned to another tier";
	if (tier == unit->current_tier)
		return NULL;
	if (advice->why_closed[tier] != NULL)
		return "would have to go to a tier that cannot be used";
	if (unit->pinned_tier >= 0)
		return NULL;
	if (OidIsValid(unit->extension_oid))
		return "belongs to an extension";
	if (unit->policy_tier >= 0)
		return "is kept on its tier by a tiering policy";
	if (tier < unit->policy_floor)
		return "is kept from faster tiers by a tiering policy";
	if (!advice->takes[tier])
		return "would have to go to a tier that was not requested";
	if (advice->options.from_scratch)
		return NULL;
	if (unit->resides_s > 0.0)
		return "was moved recently and stays where it is";
	if (advice->is_urgent[tier])
		return "would have to go to a tier that is too full";
	if (advice->reserve_missing[tier] > 0.0)
		return "would have to go to a tier whose reserve is used by other files";
	if (unit->confidence == TIER_CONFIDENCE_PROVISIONAL &&
		!advice->is_urgent[unit->current_tier] &&
		advice->set->tiers[tier].rank > advice->set->tiers[unit->current_tier].rank)
		return "has not been observed for long enough to be sent to a slower tier";
	return NULL;
}

static void
mark_tiers(TierAdvice *advice)
{
	const TierSet *set = advice->set;
	ListCell   *cell;

	advice->takes = palloc0(sizeof(bool) * Max(set->ntiers, 1));
	advice->is_urgent = palloc0(sizeof(bool) * Max(set->ntiers, 1));
	advice->why_closed = palloc0(sizeof(char *) * Max(set->ntiers, 1));
	for (int t = 0; t < set->ntiers; t++)
	{
		advice->takes[t] = advice->options.tiers == NIL;
		advice->why_closed[t] = tier_set_why_closed(set, t);
	}
	foreach(cell, advice->options.tiers)
		advice->takes[tier_require_tier(set, lfirst(cell))] = true;
}

void
tier_advice_add_bytes(const TierAdvice *advice, double *bytes)
{
	for (int t = 0; t < advice->set->ntiers; t++)
		bytes[t] = 0.0;
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];

		if (unit->current_tier >= 0)
			bytes[unit->current_tier] += tier_advice_stored(advice, unit, unit->current_tier);
	}
}

static void
compute_used(TierAdvice *advice)
{
	advice->used_bytes = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));
	advice->available_bytes = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));
	advice->others_bytes = palloc(sizeof(double) * Max(advice->set->ntiers, 1));
	for (int t = 0; t < advice->set->ntiers; t++)
		advice->others_bytes[t] = NAN;
	advice->others_written_bytes = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));
	advice->reserve_missing = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));
	advice->now_bytes = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));
	tier_advice_add_bytes(advice, advice->used_bytes);
}

/* The bytes that other databases have of it; looked up once. */
static double
others_bytes(const TierAdvice *advice, int tier, double capacity_bytes)
{
	const TierTier *t = &advice->set->tiers[tier];

	if (capacity_bytes < 0 || (t->device_bytes >= 0 && capacity_bytes >= t->device_bytes))
		return 0.0;
	if (isnan(advice->others_bytes[tier]))
		advice->others_bytes[tier] = tier_set_others_bytes(advice->set, tier, capacity_bytes);
	return advice->others_bytes[tier];
}

/*
 * Bytes that may be added to a capacity that is less than the size of its disks, beside the bytes
 * of other databases; INFINITY: it is no less.
 */
static double
room_beside_others(const TierAdvice *advice, int tier, double capacity_bytes)
{
	const TierTier *t = &advice->set->tiers[tier];
	double		others = others_bytes(advice, tier, capacity_bytes);

	if (others <= 0.0)
		return INFINITY;
	return capacity_bytes * (1.0 - t->reserve_fraction) - others - advice->used_bytes[tier];
}

/*
 * The bytes that the units may take of a tier that a fullness policy empties.  Nothing is added
 * above its low watermark, or the policy would soon send away the relations that the advice has
 * brought; relations already there stay up to the high one.
 */
static double
within_watermarks(const TierAdvice *advice, int tier, double capacity_bytes)
{
	const TierTier *t = &advice->set->tiers[tier];
	double		used = advice->used_bytes[tier];
	double		others = t->free_bytes < 0 ? 0.0 :
	Max(capacity_bytes - t->free_bytes - Max(0.0, capacity_bytes - t->device_bytes) - used, 0.0);

	others = Max(others, others_bytes(advice, tier, capacity_bytes));
	if (!(t->emptied_to > 0.0 && t->emptied_to < t->emptied_above))
		return INFINITY;
	return Max(Min(Max(used, capacity_bytes * t->emptied_to - others),
				   capacity_bytes * t->emptied_above - others), 0.0);
}

double
tier_advice_taken(const TierAdvice *advice, int tier, const TierTier *today)
{
	double		unused = today->free_bytes - today->reserve_fraction * today->device_bytes;

	if (today->device_used_bytes < 0 || today->capacity_bytes < today->device_bytes)
		return 0.0;
	unused += (1.0 - today->reserve_fraction) *
		((double) today->capacity_bytes - (double) today->device_bytes);
	return Max((double) today->device_used_bytes - advice->used_bytes[tier] +
			   Min(unused, 0.0), 0.0);
}

double
tier_advice_available(const TierAdvice *advice, int tier, double capacity_bytes)
{
	double		room;

	if (advice->why_closed[tier] != NULL)
		return advice->used_bytes[tier];
	if (capacity_bytes < 0)
		return INFINITY;
	room = Min(tier_set_room_on_disk(advice->set, tier, capacity_bytes),
			   room_beside_others(advice, tier, capacity_bytes));
	return Min(Min(Max(capacity_bytes * (1.0 - advice->set->tiers[tier].reserve_fraction), 0.0),
				   within_watermarks(advice, tier, capacity_bytes)),
			   advice->used_bytes[tier] + Max(room, 0.0));
}

void
tier_advice_load_rules(TierAdvice *advice)
{
	mark_tiers(advice);
	compute_used(advice);
}
