/*-------------------------------------------------------------------------
 *
 * model/page_writes.h
 *		Arithmetic of counting page writes: which stretches of the log to
 *		read, what a part stands for, how many pages are different ones.
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
 * The i-th of them.  Where in its n-th part of the whole each one lies is
 * chosen by `random`, within [0, 1): so everything has the same chance to be
 * read, and what comes in bursts (images after a checkpoint) is not missed or
 * met by all of them together.  In order, without overlap.
 */
extern TierStretch tier_stretch(uint64_t begin, uint64_t end, uint64_t budget,
								int i, double random);

/*
 * What one byte read stands for: all / read; 1 if everything was, 0 if nothing
 * was.  Never below 1 otherwise.
 */
extern double tier_stretch_scale(uint64_t all, uint64_t read);

/* A count times the scale, rounded; at most INT64_MAX, at least 0. */
extern int64_t tier_stretch_scaled(int64_t count, double scale);

/* Part i of n parts of a whole; they add up to it.  n > 0. */
extern int64_t tier_fair_part(int64_t whole, int n, int i);

/* ---------------------------------------------------------------------
 * Different pages
 * ---------------------------------------------------------------------
 */

/*
 * A set of pages of bounded size.  As long as it has room it knows all of them;
 * then it keeps every second one, and so on, chosen by their hashes, and each
 * stands for 2, 4 ... pages.  Plain data: may be copied and stored as it is.
 * All zero is the empty set.
 */
#define TIER_PAGE_SET_MAX 2048
#define TIER_PAGE_SET_SLOTS (2 * TIER_PAGE_SET_MAX)
#define TIER_PAGE_SET_MAX_LEVEL 20

typedef struct TierPageSet
{
	uint32_t	level;			/* 2^level pages for each that is kept */
	uint32_t	count;
	uint32_t	slots[TIER_PAGE_SET_SLOTS]; /* 0: empty */
} TierPageSet;

extern void tier_page_set_clear(TierPageSet *set);

/*
 * Adds a page by its hash (32 well mixed bits).  Returns how many pages that
 * were not in the set before it stands for: 0 for one that was, or that is not
 * among the kept ones; else 2^level.  The sum over a series of calls is exact
 * until the set is full for the first time, and then right on average, with a
 * standard error of less than 1 / sqrt(TIER_PAGE_SET_MAX / 2) of itself (3 %).
 */
extern int64_t tier_page_set_add(TierPageSet *set, uint32_t hash);

/*
 * The members as an array of at most TIER_PAGE_SET_MAX, and back.  Members that
 * cannot be in a set of this level are left out, and so are too many.
 */
extern uint32_t tier_page_set_members(const TierPageSet *set, uint32_t *members);
extern void tier_page_set_restore(TierPageSet *set, uint32_t level,
								  const uint32_t *members, uint32_t count);

/* ---------------------------------------------------------------------
 * From one sample to the next
 * ---------------------------------------------------------------------
 */

/* What one sample leaves for the next: a part of the only row of sampler. */
typedef struct TierWritesMemory
{
	uint64_t	position;		/* what was written before was looked at;
								 * invalid: the WAL is not looked at */
	int64_t		since;			/* looked at since then; 0: it is not */

	/* Of the last sample. */
	int64_t		wal_bytes;		/* written by the server */
	int64_t		read_bytes;		/* of these, read */
	double		scale;			/* counts were multiplied by this; 0: nothing
								 * was read */
	int64_t		unattributed_bytes; /* of no relation that is sampled */

	/*
	 * Pages changed since the checkpoint that began at `redo`, while
	 * full_page_writes is off; else has_pages is false.
	 */
	bool		has_pages;
	uint64_t	redo;
	TierPageSet pages;
} TierWritesMemory;

#endif							/* TIER_PAGE_WRITES_H */
