/*-------------------------------------------------------------------------
 *
 * model/blockset.c
 *		A set of block numbers.  Pure; see model/blockset.h.
 *
 *-------------------------------------------------------------------------
 */
#include "src/model/blockset.h"

#include <string.h>

#define BITS_PER_WORD 64

/* Growing by half as much again keeps the copying linear. */
static void
make_room(TierBlockSet *set, size_t word)
{
	size_t		nwords = set->nwords + set->nwords / 2;

	if (nwords < word + 1)
		nwords = word + 1;
	set->words = set->resize(set->argument, set->words, nwords * sizeof(uint64_t));
	memset(set->words + set->nwords, 0, (nwords - set->nwords) * sizeof(uint64_t));
	set->nwords = nwords;
}

void
tier_blockset_add(TierBlockSet *set, uint32_t block)
{
	size_t		word = block / BITS_PER_WORD;
	uint64_t	bit = UINT64_C(1) << (block % BITS_PER_WORD);

	if (word >= set->nwords)
		make_room(set, word);
	if (set->words[word] & bit)
		return;
	set->words[word] |= bit;
	if (set->count == 0 || word < set->first)
		set->first = word;
	set->count++;
}

void
tier_blockset_remove(TierBlockSet *set, uint32_t block)
{
	size_t		word = block / BITS_PER_WORD;
	uint64_t	bit = UINT64_C(1) << (block % BITS_PER_WORD);

	if (word >= set->nwords || (set->words[word] & bit) == 0)
		return;
	set->words[word] &= ~bit;
	set->count--;
}

bool
tier_blockset_has(const TierBlockSet *set, uint32_t block)
{
	size_t		word = block / BITS_PER_WORD;

	return word < set->nwords && (set->words[word] >> (block % BITS_PER_WORD) & 1) != 0;
}

uint32_t
tier_blockset_next(TierBlockSet *set, uint32_t from)
{
	size_t		word = from / BITS_PER_WORD;
	uint64_t	rest;

	if (set->count == 0)
		return TIER_NO_BLOCK;
	if (word < set->first)
	{
		word = set->first;
		from = (uint32_t) (word * BITS_PER_WORD);
	}
	if (word >= set->nwords)
		return TIER_NO_BLOCK;
	rest = set->words[word] & (UINT64_MAX << (from % BITS_PER_WORD));
	while (rest == 0)
	{
		if (++word >= set->nwords)
			return TIER_NO_BLOCK;
		rest = set->words[word];
	}
	for (uint32_t bit = 0;; bit++)
		if (rest >> bit & 1)
			return (uint32_t) (word * BITS_PER_WORD + bit);
}

void
tier_blockset_truncate(TierBlockSet *set, uint32_t from)
{
	uint32_t	block;

	while ((block = tier_blockset_next(set, from)) != TIER_NO_BLOCK)
		tier_blockset_remove(set, block);
}

void
tier_blockset_clear(TierBlockSet *set)
{
	if (set->nwords > 0)
		memset(set->words, 0, set->nwords * sizeof(uint64_t));
	set->count = 0;
	set->first = 0;
}
