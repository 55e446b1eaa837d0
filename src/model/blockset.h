/*-------------------------------------------------------------------------
 *
 * model/blockset.h
 *		A set of block numbers.
 *
 * Pure.  A bitmap that grows with the highest block added: 16 MB for a
 * relation of 1 TB.  The caller brings the allocator, so that it can outlive
 * transactions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_BLOCKSET_H
#define TIER_BLOCKSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns `old` enlarged to `size` bytes, or new memory when it is NULL. */
typedef void *(*TierBlockSetResize) (void *argument, void *old, size_t size);

/* All zero but for resize and argument: empty. */
typedef struct TierBlockSet
{
	uint64_t   *words;
	size_t		nwords;
	uint64_t	count;			/* members */
	size_t		first;			/* no member is in a word before this */
	TierBlockSetResize resize;
	void	   *argument;
} TierBlockSet;

/* Not a block: what tier_blockset_next says at the end. */
#define TIER_NO_BLOCK UINT32_MAX

extern void tier_blockset_add(TierBlockSet *set, uint32_t block);
extern void tier_blockset_remove(TierBlockSet *set, uint32_t block);
extern bool tier_blockset_has(const TierBlockSet *set, uint32_t block);

/* The lowest member that is not below `from`, or TIER_NO_BLOCK. */
extern uint32_t tier_blockset_next(TierBlockSet *set, uint32_t from);

/* Removes all members from `from` on. */
extern void tier_blockset_truncate(TierBlockSet *set, uint32_t from);

/* Empties it; the memory stays. */
extern void tier_blockset_clear(TierBlockSet *set);

#endif							/* TIER_BLOCKSET_H */
