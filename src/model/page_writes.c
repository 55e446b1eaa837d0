/*-------------------------------------------------------------------------
 *
 * model/page_writes.c
 *		Arithmetic of counting page writes: the stretches of the log to read, the weight of a
 *		part, the number of different pages, and the pages that are written together.
 *
 * The set of different pages is Gibbons' distinct sampling, of groups of neighbours.  A group
 * belongs to level L if the upper L bits of its hash are zero, which one of 2^L does.  Its hash
 * alone decides whether it is kept.  So a group that was left out, or thrown out when the level
 * rose, is left out again however often it comes, and each page of a group that is kept is
 * counted once.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "src/model/page_writes.h"

/* ---------------------------------------------------------------------
 * Stretches
 * ---------------------------------------------------------------------
 */

int
tier_stretch_count(uint64_t begin, uint64_t end, uint64_t budget)
{
	uint64_t	n;

	if (end <= begin || budget == 0)
		return 0;
	if (end - begin <= budget)
		return 1;
	n = budget / TIER_STRETCH_BYTES;
	return n < 1 ? 1 : n > TIER_MAX_STRETCHES ? TIER_MAX_STRETCHES : (int) n;
}

TierStretch
tier_stretch(uint64_t begin, uint64_t end, uint64_t budget, int i, double random)
{
	TierStretch stretch = {begin, end};
	uint64_t	n = (uint64_t) tier_stretch_count(begin, end, budget);
	uint64_t	part;
	uint64_t	length;

	if (n == 0 || end - begin <= budget)
		return stretch;
	if (!(random >= 0.0 && random < 1.0))
		random = 0.0;
	part = (end - begin) / n;
	length = budget / n;
	stretch.begin = begin + (uint64_t) i * part + (uint64_t) (random * (double) (part - length));
	stretch.end = stretch.begin + length;
	return stretch;
}

double
tier_stretch_scale(uint64_t all, uint64_t read)
{
	if (read == 0)
		return all == 0 ? 1.0 : 0.0;
	return all <= read ? 1.0 : (double) all / (double) read;
}

int64_t
tier_stretch_scaled(int64_t count, double scale)
{
	double		scaled = (double) count * scale + 0.5;

	if (!(scaled > 0.0) || count <= 0)
		return 0;
	if (scale == 1.0)
		return count;
	return scaled >= 9223372036854775807.0 ? INT64_MAX : (int64_t) scaled;
}

int64_t
tier_fair_part(int64_t whole, int n, int i)
{
	return whole / n + (i < whole % n ? 1 : 0);
}

/* ---------------------------------------------------------------------
 * Different pages, and which of them lie side by side
 * ---------------------------------------------------------------------
 */

static bool
belongs(uint32_t hash, uint32_t level)
{
	return level == 0 || hash >> (32 - level) == 0;
}

/*
 * The slot of this hash, or the empty one where it belongs.  There always is
 * one: at most half of them are in use.  The upper bits of the members are
 * alike, so the lower ones choose.
 */
static TierPageGroup *
find_slot(TierPageSet *set, uint32_t hash)
{
	uint32_t	position = hash % TIER_PAGE_SET_SLOTS;

	while (set->slots[position].hash != 0 && set->slots[position].hash != hash)
		position = (position + 1) % TIER_PAGE_SET_SLOTS;
	return &set->slots[position];
}

void
tier_page_set_clear(TierPageSet *set)
{
	memset(set, 0, sizeof(*set));
}

void
tier_page_set_next_stretch(TierPageSet *set)
{
	for (uint32_t i = 0; i < TIER_PAGE_SET_SLOTS; i++)
		set->slots[i].recent = 0;
}

void
tier_page_set_restore(TierPageSet *set, uint32_t level, const TierPageGroup *members,
					  uint32_t count)
{
	tier_page_set_clear(set);
	set->level = level > TIER_PAGE_SET_MAX_LEVEL ? TIER_PAGE_SET_MAX_LEVEL : level;
	for (uint32_t i = 0; i < count && set->count < TIER_PAGE_SET_MAX; i++)
	{
		TierPageGroup *slot;

		if (members[i].hash == 0 || !belongs(members[i].hash, set->level))
			continue;
		slot = find_slot(set, members[i].hash);
		if (slot->hash != 0)
			continue;
		*slot = members[i];
		set->count++;
	}
}

uint32_t
tier_page_set_members(const TierPageSet *set, TierPageGroup *members)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < TIER_PAGE_SET_SLOTS && n < TIER_PAGE_SET_MAX; i++)
		if (set->slots[i].hash != 0)
			members[n++] = set->slots[i];
	return n;
}

/* Keeps every second member.  A full set at the highest level is begun anew. */
static void
thin_out(TierPageSet *set)
{
	TierPageGroup members[TIER_PAGE_SET_MAX];
	uint32_t	count = tier_page_set_members(set, members);

	if (set->level < TIER_PAGE_SET_MAX_LEVEL)
		tier_page_set_restore(set, set->level + 1, members, count);
	else
		tier_page_set_restore(set, set->level, members, 0);
}

/* How many of these neighbours are there. */
static int64_t
count_of(uint16_t pages, uint16_t neighbours)
{
	uint16_t	both = pages & neighbours;
	int64_t		n = 0;

	for (; both != 0; both &= both - 1)
		n++;
	return n;
}

TierPageAdded
tier_page_set_add(TierPageSet *set, uint32_t group_hash, int page)
{
	TierPageAdded added = {0, 0, 0};
	uint16_t	bit = (uint16_t) (1u << (page % TIER_PAGE_GROUP));
	uint16_t	neighbours = (uint16_t) (bit << 1 | bit >> 1);
	TierPageGroup *slot;

	if (group_hash == 0)
		group_hash = 1;			/* 0 is the empty slot */
	if (!belongs(group_hash, set->level))
		return added;
	slot = find_slot(set, group_hash);
	if ((slot->pages & bit) != 0)
		return added;
	added.pages = (int64_t) 1 << set->level;
	added.pairs = added.pages * count_of(slot->recent, neighbours);
	added.far_pairs = added.pages * count_of(slot->pages & ~slot->recent, neighbours);
	if (slot->hash == 0)
	{
		slot->hash = group_hash;
		set->count++;
	}
	slot->pages |= bit;
	slot->recent |= bit;
	while (set->count >= TIER_PAGE_SET_MAX)
		thin_out(set);
	return added;
}

int64_t
tier_page_merged(int64_t pages, int64_t pairs, int64_t far_pairs, double scale)
{
	double		seen = ((double) pairs + (double) far_pairs * scale) *
	(TIER_PAGE_GROUP / (TIER_PAGE_GROUP - 1.0));
	int64_t		merged = tier_stretch_scaled((int64_t) (seen + 0.5), scale);

	return merged < pages ? merged : pages;
}
