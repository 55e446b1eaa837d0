/*-------------------------------------------------------------------------
 *
 * decide/wear.c
 *		Comparison of the writes to a tier's devices with their endurance.
 *
 * See decide/wear.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/bitmapset.h"

#include "src/base/shmem.h"
#include "src/base/sql.h"
#include "src/decide/wear.h"

TierWears *
tier_wears_load(MemoryContext context)
{
	TierWears  *wears = MemoryContextAllocZero(context, sizeof(TierWears));

	wears->rows = tier_catalog_load_wear(context, &wears->n);
	return wears;
}

static bool
is_of_tier(const TierWear *wear, const NameData *tier_name)
{
	return strcmp(NameStr(wear->tier_name), NameStr(*tier_name)) == 0;
}

/* The tier's device that is worn too fast; NULL: none is known to be. */
static const TierWear *
find_exceeded(const TierWears *wears, const NameData *tier_name)
{
	for (int i = 0; i < wears->n; i++)
		if (is_of_tier(&wears->rows[i], tier_name) && wears->rows[i].is_exceeded)
			return &wears->rows[i];
	return NULL;
}

/* In words, "device "sdb" receives ...", in the current memory context. */
static char *
wear_text(const TierWear *wear)
{
	if (wear->used_fraction >= 1.0)
		return psprintf("device \"%s\" has used up %.0f %% of its life", wear->device,
						wear->used_fraction * 100.0);
	return psprintf("device \"%s\" receives %s of writes a day and endures %s", wear->device,
					tier_size_text(wear->written_bytes_per_day),
					tier_size_text(wear->endurance_bytes_per_day));
}

static void
tell(const TierWear *wear, int level)
{
	char	   *sentence = wear_text(wear);

	sentence[0] = pg_toupper((unsigned char) sentence[0]);
	ereport(level,
			(errmsg("tier \"%s\" wears out", NameStr(wear->tier_name)),
			 errdetail_internal("%s.", sentence),
			 errhint("SELECT * FROM tiered_storage.devices shows how much is written to it%s.",
					 level < WARNING ? "" :
					 "; recommendations move nothing there")));
}

void
tier_wears_of(const TierWears *wears, const NameData *tier_name, double *written,
			  double *endures)
{
	bool		found = false;

	*written = *endures = NAN;
	for (int i = 0; i < wears->n; i++)
	{
		const TierWear *wear = &wears->rows[i];

		if (!is_of_tier(wear, tier_name))
			continue;
		if (!found)
			*written = *endures = 0.0;

		/* If one value is not known, the sum is not known. */
		*written += isnan(wear->written_bytes_per_day) ? NAN :
			Max(wear->written_bytes_per_day - wear->moved_bytes_per_day, 0.0);
		*endures += wear->endurance_bytes_per_day;
		found = true;
	}
}

char *
tier_wears_reason(const TierWears *wears, const TierSet *set, Oid to_tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(set, to_tablespace_oid);
	const TierWear *exceeded = tier < 0 ? NULL :
	find_exceeded(wears, &set->tiers[tier].name);

	if (exceeded == NULL)
		return NULL;
	return psprintf("waiting: tier \"%s\" wears out: %s", NameStr(set->tiers[tier].name),
					wear_text(exceeded));
}

/* Of any tier: tiers on one device share its life. */
static bool
has_endurance(const TierSet *set)
{
	for (int i = 0; i < set->ntiers; i++)
		if (set->tiers[i].endurance_tbw > 0 || set->tiers[i].endurance_dwpd > 0)
			return true;
	return false;
}

void
tier_wear_tell(const TierSet *set, const List *to_tablespaces)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierWears  *wears;
	Bitmapset  *told = NULL;
	ListCell   *cell;

	/* To sum the days of writes takes longer than a small move. */
	if (!has_endurance(set))
		return;
	tier_catalog_enter(&scope);
	wears = tier_wears_load(context);
	tier_catalog_leave(&scope);
	foreach(cell, to_tablespaces)
	{
		int			tier = tier_set_tier_of_tablespace(set, lfirst_oid(cell));
		const TierWear *exceeded;

		if (tier < 0 || bms_is_member(tier, told))
			continue;
		told = bms_add_member(told, tier);
		exceeded = find_exceeded(wears, &set->tiers[tier].name);
		if (exceeded != NULL)
			tell(exceeded, NOTICE);
	}
}

void
tier_wear_warn(void)
{
	TierWears  *wears = tier_wears_load(CurrentMemoryContext);

	for (int i = 0; i < wears->n; i++)
	{
		const TierWear *wear = &wears->rows[i];

		if (wear->is_exceeded && tier_catalog_wear_is_news(wear->device))
			tell(wear, WARNING);
	}
}
