/*-------------------------------------------------------------------------
 *
 * decide/compression.c
 *		How each unit compresses on each tier.
 *
 * See decide/compression.h.  A unit of which nothing was estimated compresses as well as all
 * that is on the tier.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/decide/compression.h"
#include "src/model/cost.h"

/* What is compressed by something that no file system tells of. */
#define ALGORITHM_UNKNOWN "lz4"

/* Of the first of its tablespaces; others should be alike. */
static const char *
algorithm_of(const TierSet *set, int tier)
{
	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].tier == tier && set->tablespaces[i].device->algorithm != NULL)
			return set->tablespaces[i].device->algorithm;
	return ALGORITHM_UNKNOWN;
}

/* Sums of what was estimated of the parts of each unit on one tier. */
typedef struct Parts
{
	double		size_bytes;
	double		stored_bytes;
	bool		has_outdated;	/* one of them is not any more what it was */
} Parts;

/*
 * Its ratio where its parts are added up; false: nothing is known of it.  The others are not
 * taken for one that is outdated: it may be most of it.
 */
static bool
set_ratio(TierAdvice *advice, TierAdviceUnit *unit, int tier, const Parts *parts)
{
	if (parts->has_outdated || !(parts->stored_bytes > 0.0))
		return false;
	if (unit->ratios == NULL)
		unit->ratios = palloc0(sizeof(double) * advice->set->ntiers);
	unit->ratios[tier] = Max(parts->size_bytes / parts->stored_bytes, 1.0);
	return true;
}

/*
 * What is on the tier now takes what its file systems say, or a person: relations have their
 * share of that by what was estimated of them, and the others by what is said of all.
 */
static void
fit_to_tier(TierAdvice *advice, int tier)
{
	double		of_all = Max(advice->set->tiers[tier].profile.compression_ratio, 1.0);
	double		by_all = 0.0;
	double		by_each = 0.0;

	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		if (unit->current_tier != tier)
			continue;
		if (unit->ratios == NULL)
			unit->ratios = palloc0(sizeof(double) * advice->set->ntiers);
		if (unit->ratios[tier] <= 0.0)
			unit->ratios[tier] = of_all;
		by_all += unit->size_bytes / of_all;
		by_each += unit->size_bytes / unit->ratios[tier];
	}
	for (int i = 0; i < advice->nunits && by_all > 0.0; i++)
		if (advice->units[i].current_tier == tier)
			advice->units[i].ratios[tier] *= by_each / by_all;
}

static void
mark_tier(TierAdvice *advice, int tier)
{
	const char *algorithm = algorithm_of(advice->set, tier);
	Parts	   *parts = palloc0(sizeof(Parts) * Max(advice->nunits, 1));
	bool		is_known_there = false;

	for (int i = 0; i < advice->nestimates; i++)
	{
		const TierEstimateRow *row = &advice->estimates[i];
		const TierAdviceUnit *unit = tier_advice_find(advice, row->relation_oid);

		if (unit == NULL || strcmp(NameStr(row->algorithm), algorithm) != 0)
			continue;
		parts[unit - advice->units].size_bytes += (double) row->size_bytes;
		parts[unit - advice->units].stored_bytes += (double) row->size_bytes /
			row->estimate.ratio;
		parts[unit - advice->units].has_outdated |= !row->counts;
	}
	for (int i = 0; i < advice->nunits; i++)
		if (set_ratio(advice, &advice->units[i], tier, &parts[i]) &&
			advice->units[i].current_tier == tier)
			is_known_there = true;
	if (is_known_there)
		fit_to_tier(advice, tier);
	pfree(parts);
}

void
tier_compression_mark(TierAdvice *advice)
{
	for (int t = 0; t < advice->set->ntiers && advice->nestimates > 0; t++)
		if (advice->set->tiers[t].compressed)
			mark_tier(advice, t);
}

void
tier_compression_forget(TierAdvice *advice, int tier)
{
	for (int i = 0; i < advice->nunits; i++)
		if (advice->units[i].ratios != NULL)
			advice->units[i].ratios[tier] = 0.0;
}

TierCostProfile
tier_advice_profile(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	TierCostProfile profile = advice->set->tiers[tier].profile;

	if (unit->ratios != NULL && unit->ratios[tier] > 0.0)
		profile.compression_ratio = unit->ratios[tier];
	return profile;
}
