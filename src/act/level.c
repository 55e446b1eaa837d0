/*-------------------------------------------------------------------------
 *
 * act/level.c
 *		The current fullness of tiers, with the moves in progress.
 *
 * Runs in processes that move or ask about moves.  No locks are taken: the sources are files, the
 * free space of file systems, and the announcements of other processes (move/space.h).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "src/act/level.h"
#include "src/catalog/tables.h"
#include "src/move/space.h"

TierFullnessFlight
tier_fullness_flight(Oid tablespace_oid, const void *argument)
{
	TierSpaceFlight space = tier_space_flight(tablespace_oid);
	TierFullnessFlight flight;

	flight.own_bytes = space.to_write_own_bytes - space.leaving_own_bytes;
	flight.disk_bytes = space.to_write_bytes - space.leaving_bytes;
	return flight;
}

double
tier_level_above_bytes(const TierSet *set, int tier)
{
	TierFullnessQuestion question = {.flight = tier_fullness_flight};
	TierFullnessLevel level;

	if (tier < 0 || set->tiers[tier].capacity_bytes <= 0 || set->tiers[tier].emptied_above <= 0.0)
		return -INFINITY;
	level = tier_fullness_level(set, tier, &question);
	return tier_fullness_bytes(&level) - level.capacity_bytes * set->tiers[tier].emptied_above;
}

Bitmapset *
tier_levels_above(const TierSet *set)
{
	Bitmapset  *above = NULL;

	for (int i = 0; i < set->ntiers; i++)
		if (tier_level_above_bytes(set, i) > 0.0)
			above = bms_add_member(above, i);
	return above;
}

List *
tier_levels_above_now(void)
{
	const TierSet *set = tier_catalog_tiers_now();

	return set == NULL ? NIL : tier_level_names(set, tier_levels_above(set));
}

List *
tier_level_names(const TierSet *set, const Bitmapset *tiers)
{
	List	   *names = NIL;
	int			i = -1;

	while ((i = bms_next_member(tiers, i)) >= 0)
		names = lappend(names, pstrdup(NameStr(set->tiers[i].name)));
	return names;
}
