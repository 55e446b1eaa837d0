/*-------------------------------------------------------------------------
 *
 * model/page_writes.h
 *		Arithmetic of counting page writes: the stretches of the log to read, the weight of a
 *		part, the number of different pages, and the pages that are written together.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PAGE_WRITES_H
#define TIER_PAGE_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------------
 * Stretches
 * ---------------------------------------------------------------------
 */

#define TIER_MAX_STRETCHES 64
#define TIER_STRETCH_BYTES (256 * 1024)

typedef struct TierStretch
{
	uint64_t	begin;
	uint64_t	end;			/* exclusive */
} TierStretch;

/*
 * How many stretches of [begin, end) are read if no more than budget bytes may
 * be: one, all of it, if that is enough; else as many as are of
 * TIER_STRETCH_BYTES each, up to TIER_MAX_STRETCHES, which are then longer.  0
 * if there is nothing to read, or nothing may be.
 */
extern int	tier_stretch_count(uint64_t begin, uint64_t end, uint64_t budget);

/*
 * The i-th of them.  `random`, within [0, 1), chooses the place of each one in its n-th part
 * of the whole: so all parts have the same chance to be read, and bursts (images after a
 * checkpoint) are neither missed nor met by all of them together.  In order, without overlap.
 */
extern TierStretch tier_stretch(uint64_t begin, uint64_t end, uint64_t budget,
								int i, double random);

/*
 * The weight of one byte read: all / read; 1 if all was read, 0 if nothing was.  Never below 1
 * otherwise.
 */
extern double tier_stretch_scale(uint64_t all, uint64_t read);

/* A count times the scale, rounded; at most INT64_MAX, at least 0. */
extern int64_t tier_stretch_scaled(int64_t count, double scale);

/* Part i of n parts of a whole; they add up to it.  n > 0. */
extern int64_t tier_fair_part(int64_t whole, int n, int i);

/* ---------------------------------------------------------------------
 * Different pages, and which of them lie side by side
 * ---------------------------------------------------------------------
 */

/*
 * Pages that are side by side and are written in the same checkpoint reach the
 * device as one request: a checkpoint writes in the order of the blocks, and the
 * kernel merges what touches.  So of the pages written as many are merged as
 * there are pairs of neighbours among them.
 */

/*
 * A set of pages of bounded size.  It keeps groups of TIER_PAGE_GROUP neighbours,
 * of each of which it knows every page.  As long as it has room it knows all groups;
 * then it keeps every second one, and so on, chosen by their hashes, and each
 * stands for 2, 4 ... groups.  Plain data: may be copied.  All zero is the empty
 * set.
 */
#define TIER_PAGE_GROUP 16
#define TIER_PAGE_SET_MAX 1024
#define TIER_PAGE_SET_SLOTS (2 * TIER_PAGE_SET_MAX)
#define TIER_PAGE_SET_MAX_LEVEL 20

typedef struct TierPageGroup
{
	uint32_t	hash;			/* 0: empty slot */
	uint16_t	pages;			/* a bit for each page in the set */
	uint16_t	recent;			/* of these, added in the current stretch */
} TierPageGroup;

typedef struct TierPageSet
{
	uint32_t	level;			/* 2^level groups for each that is kept */
	uint32_t	count;
	TierPageGroup slots[TIER_PAGE_SET_SLOTS];
} TierPageSet;

/*
 * The weight of an added page: 0, or 2^level of the set, as pages that were not in it, and as
 * pairs of neighbours that they make with pages that were, by whether these came in the same
 * stretch.
 */
typedef struct TierPageAdded
{
	int64_t		pages;
	int64_t		pairs;
	int64_t		far_pairs;
} TierPageAdded;

extern void tier_page_set_clear(TierPageSet *set);

/* Pages added from now on belong to another stretch, or to another sample. */
extern void tier_page_set_next_stretch(TierPageSet *set);

/*
 * Adds a page: the hash (32 well mixed bits) of its relation's file and of its
 * group, block / TIER_PAGE_GROUP, and which one of it, block % TIER_PAGE_GROUP.  The
 * sum of `pages` over a series of calls is exact until the set is full for the
 * first time, and then right on average, with a standard error of less than
 * 1 / sqrt(TIER_PAGE_SET_MAX / 2) of itself (5 %).
 */
extern TierPageAdded tier_page_set_add(TierPageSet *set, uint32_t group_hash, int page);

/*
 * How many of `pages` written are merged, from sums of pairs where each byte read
 * of the log stands for `scale` (>= 1).  A pair in one stretch is read or not as a
 * whole; of one in two stretches each half must be.  And of the pairs of
 * neighbours one in TIER_PAGE_GROUP is in two groups, where it is not seen.
 */
extern int64_t tier_page_merged(int64_t pages, int64_t pairs, int64_t far_pairs, double scale);

/*
 * The members as an array of at most TIER_PAGE_SET_MAX, and back.  Members that
 * cannot be in a set of this level are left out, and so are too many.
 */
extern uint32_t tier_page_set_members(const TierPageSet *set, TierPageGroup *members);
extern void tier_page_set_restore(TierPageSet *set, uint32_t level,
								  const TierPageGroup *members, uint32_t count);

/* ---------------------------------------------------------------------
 * From one sample to the next
 * ---------------------------------------------------------------------
 */

/* The state that one sample leaves for the next: a part of the only row of sampler. */
typedef struct TierWritesMemory
{
	uint64_t	position;		/* the WAL before it was read; invalid: the
								 * WAL is not read */
	int64_t		since;			/* looked at since then; 0: it is not */

	/* Of the last sample. */
	int64_t		wal_bytes;		/* written by the server */
	int64_t		read_bytes;		/* of these, read */
	double		scale;			/* counts were multiplied by this; 0: nothing
								 * was read */
	int64_t		unattributed_bytes; /* of no relation that is sampled */

	bool		full_page_writes;	/* at `position` */

	/* Pages changed since the checkpoint that began at `redo`. */
	uint64_t	redo;
	TierPageSet pages;
} TierWritesMemory;

#endif							/* TIER_PAGE_WRITES_H */
