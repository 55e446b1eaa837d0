/*
 * Lengths of forks and the visibility map, from the first block that is copied to the
 * swap.
 *
 * The source is a heap of up to four blocks; a page of its visibility map is about
 * two of them.  Its sessions extend it, vacuum it (a bit of the map is set, which makes
 * the map longer when it has to be), delete from it (the bit is cleared) and, under a
 * strong lock, truncate it, which cuts the maps.  What the rows are is left out: a
 * block is copied again when the WAL names it or it is beyond the end.  What counts at
 * the swap: no bit of the target's map says more than the source's, and no fork is longer
 * or shorter than it should be.
 *
 * The target's free space map is copied once; it may be shorter than the source's, and
 * must not be longer.  Rules are numbered, and counted, as in pending_file.pml.
 */

/* Rules, and what goes wrong without each.  "run" reads the comments. */
#define NOTHING 0				/* expect: */
#define OLD_TRUNCATION 1		/* expect: stale_map map_past_end */
#define CUT_MAPS 2				/* expect: */
#define COMPARE_LENGTHS 3		/* expect: */
#define CUT_AND_COMPARE 4		/* expect: stale_map map_past_end */
#define NOTE_GROWTH 5			/* expect: */
#define GROWTH_AND_COMPARE 6	/* expect: blocks_missing */
#define MAP_WITH_HEAP 7			/* expect: stale_map */
#define FOLLOW_TRUNCATION 8		/* expect: stale_map */
#define READ_UNDER_LOCK 9		/* expect: stale_map */
#define READ_FROM_START 10		/* expect: stale_map */
#define LAST_RULE 10

#define has(rule) (without != rule)
#define cuts_maps (has(CUT_MAPS) && has(CUT_AND_COMPARE) && has(OLD_TRUNCATION))
#define compares (has(COMPARE_LENGTHS) && has(CUT_AND_COMPARE) && has(GROWTH_AND_COMPARE) && \
	has(OLD_TRUNCATION))
#define notes_growth (has(NOTE_GROWTH) && has(GROWTH_AND_COMPARE))

#ifndef EXTENDS
#define EXTENDS 3
#endif
#ifndef VACUUMS
#define VACUUMS 2
#endif
#ifndef DELETES
#define DELETES 1
#endif
#ifndef TRUNCATIONS
#define TRUNCATIONS 2
#endif

#define MAX_BLOCKS 4
#define NONE 15					/* no truncation */
#define map_page(block) ((block) / 2)
#define map_pages(blocks) (((blocks) + 1) / 2)
#define bit(n) (1 << (n))
#define bits_of_page(page) (3 << (2 * (page)))
#define below(n) (bit(n) - 1)	/* bits of the blocks 0 .. n - 1, or of pages */
#define smaller(a, b) ((a) < (b) -> (a) : (b))
#define greater(a, b) ((a) > (b) -> (a) : (b))

mtype = {
	begin, copy_map, copy_fsm, copied, gap, catching_up, copying_again, gap_before_swap,
	locked, locked_copying, swapped
};

byte without;
byte world;						/* there is one only */
byte extends, vacuums, deletes, truncations;	/* that may still come */

/* The source; lengths in blocks and pages, the map's bits by heap block. */
byte blocks, map_length, map_bits, fsm_length;

/* The target. */
byte t_blocks, t_map_length, t_map_bits, t_fsm_length;

/* WAL that was not read yet, and what was read and not copied; by map page. */
byte unread_map, changed_map;
byte unread_truncation, truncation;

mtype mover;
bool share_lock, strong_lock;

#include "report.pml"

/* ---- sessions that use the relation ---- */

inline extend()
{
	extends--;
	blocks++;
	reached(extended)
}

/* A block is all visible; its record names the page of the map. */
inline vacuum(b)
{
	vacuums--;
	map_length = greater(map_length, map_page(b) + 1);
	map_bits = map_bits | bit(b);
	fsm_length = greater(fsm_length, map_page(b) + 1);
	unread_map = unread_map | bit(map_page(b))
}

/* The record names the heap block alone. */
inline delete(b)
{
	deletes--;
	map_bits = map_bits & (15 - bit(b));
	if
	:: has(MAP_WITH_HEAP) -> unread_map = unread_map | bit(map_page(b))
	:: else
	fi
}

/* What visibilitymap_prepare_truncate() and its like do. */
inline cut(n, length, bits, fsm)
{
	bits = bits & below(n);
	length = smaller(length, map_pages(n));
	fsm = smaller(fsm, map_pages(n))
}

inline truncate(n)
{
	truncations--;
	blocks = n;
	cut(n, map_length, map_bits, fsm_length);
	unread_truncation = smaller(unread_truncation, n);
	reached(truncated)
}

/* ---- the mover ---- */

/* A page of the map: the bits of its two blocks; beyond the source's end none. */
inline copy_map_page(p)
{
	t_map_bits = (t_map_bits & (15 - bits_of_page(p))) | (map_bits & bits_of_page(p));
	t_map_length = greater(t_map_length, p + 1)
}

inline read_wal()
{
	changed_map = changed_map | unread_map;
	if
	:: has(FOLLOW_TRUNCATION) -> truncation = smaller(truncation, unread_truncation)
	:: else
	fi;
	unread_map = 0;
	unread_truncation = NONE
}

inline follow_truncation()
{
	if
	:: truncation < t_blocks || (truncation != NONE && cuts_maps) ->
		t_blocks = smaller(t_blocks, truncation);
		cut(t_blocks, t_map_length, t_map_bits, t_fsm_length)
	:: else
	fi;
	if
	:: truncation != NONE -> changed_map = changed_map | below(map_length)
	:: else
	fi;
	truncation = NONE
}

inline note_growth()
{
	if
	:: notes_growth ->
		/* The blocks themselves are copied at once here. */
		t_blocks = greater(t_blocks, blocks);
		changed_map = changed_map | (below(map_length) & (15 - below(t_map_length)))
	:: else
	fi;
	changed_map = changed_map & below(map_length)
}

inline start_again()
{
	t_blocks = 0; t_map_length = 0; t_map_bits = 0; t_fsm_length = 0;
	changed_map = 0; truncation = NONE;
	share_lock = false; strong_lock = false;
	mover = begin
}

#define lengths_differ (t_blocks != blocks || t_map_length != map_length || t_fsm_length > fsm_length)

inline step_mover()
{
	if
	/* The bulk copy: main fork; time passes, as it is synced; then the maps. */
	:: mover == begin ->
		share_lock = true;
		if
		:: has(READ_FROM_START) -> unread_map = 0; unread_truncation = NONE
		:: else
		fi;
		t_blocks = blocks;
		mover = copy_map
	:: mover == copy_map && t_map_length < map_length && share_lock -> copy_map_page(t_map_length)
	:: mover == copy_map && t_map_length >= map_length && share_lock -> mover = copy_fsm
	:: mover == copy_fsm && share_lock ->
		t_fsm_length = fsm_length;
		if
		:: !has(READ_FROM_START) -> unread_map = 0; unread_truncation = NONE
		:: else
		fi;
		mover = copied

	/* Somebody waits for the relation and is let in.  In bulk: begin again. */
	:: (mover == copy_map || mover == copy_fsm) && share_lock -> share_lock = false
	:: (mover == copy_map || mover == copy_fsm) && !share_lock ->
		read_wal();
		if
		:: truncation != NONE -> start_again()
		:: else -> share_lock = true
		fi
	:: (mover == copied || mover == catching_up) && share_lock -> share_lock = false; mover = gap
	:: mover == gap -> share_lock = true; mover = copied

	/* Catching up. */
	:: mover == copied && share_lock ->
		read_wal();
		mover = catching_up
	:: mover == catching_up && share_lock ->
		follow_truncation();
		note_growth();
		mover = copying_again
	:: mover == copying_again ->
		if
		:: changed_map & 1 -> changed_map = changed_map & 2; copy_map_page(0)
		:: !(changed_map & 1) && (changed_map & 2) -> changed_map = changed_map & 1; copy_map_page(1)
		:: changed_map == 0 -> mover = (unread_map == 0 -> gap_before_swap : copied)
		:: changed_map == 0 -> mover = gap_before_swap
		fi;
		share_lock = (mover != gap_before_swap)

	/* With nothing locked; then the strong lock. */
	:: mover == gap_before_swap ->
		strong_lock = true;
		mover = locked
	:: mover == locked ->
		if
		:: has(READ_UNDER_LOCK) -> read_wal()
		:: else
		fi;
		if
		:: truncation != NONE ->
			strong_lock = false;
			share_lock = true;
			mover = copied
		:: else ->
			note_growth();
			mover = locked_copying
		fi
	:: mover == locked_copying && (changed_map & 1) -> changed_map = changed_map & 2; copy_map_page(0)
	:: mover == locked_copying && (changed_map & 2) -> changed_map = changed_map & 1; copy_map_page(1)
	:: mover == locked_copying && changed_map == 0 ->
		if
		:: lengths_differ && compares ->
			reached(refused);
			start_again()
		:: else ->
			reached(swapped);
			mover = swapped
		fi
	fi
}

#define has_stale_map ((t_map_bits & (15 - map_bits)) != 0)

inline check()
{
	if
	:: mover == swapped && has_stale_map -> note(stale_map)
	:: else
	fi;
	if
	:: mover == swapped && (t_map_length > map_pages(blocks) || t_fsm_length > map_pages(blocks)) ->
		note(map_past_end)
	:: else
	fi;
	if
	:: mover == swapped && t_blocks != blocks -> note(blocks_missing)
	:: else
	fi;
	mover != swapped
}

init {
	atomic {
#ifdef WITHOUT
		without = WITHOUT;
#else
		select(without : NOTHING .. LAST_RULE);
#endif
		extends = EXTENDS; vacuums = VACUUMS; deletes = DELETES; truncations = TRUNCATIONS;
		blocks = 2;
		map_length = 1;
		map_bits = 1;
		fsm_length = 1;
		unread_truncation = NONE;
		truncation = NONE;
		mover = begin
	}
	do
	:: atomic { step_mover(); check() }
	:: atomic { !strong_lock && extends > 0 && blocks < MAX_BLOCKS; extend() }
	:: atomic {
			!strong_lock && vacuums > 0;
			if
			:: blocks > 0 && !(map_bits & 1) -> vacuum(0)
			:: blocks > 1 && !(map_bits & 2) -> vacuum(1)
			:: blocks > 2 && !(map_bits & 4) -> vacuum(2)
			:: blocks > 3 && !(map_bits & 8) -> vacuum(3)
			fi
		}
	:: atomic {
			!strong_lock && deletes > 0;
			if
			:: map_bits & 1 -> delete(0)
			:: map_bits & 2 -> delete(1)
			:: map_bits & 4 -> delete(2)
			:: map_bits & 8 -> delete(3)
			fi
		}
	:: atomic {
			!strong_lock && !share_lock && truncations > 0;
			if
			:: blocks > 1 -> truncate(1)
			:: blocks > 2 -> truncate(2)
			:: blocks > 3 -> truncate(3)
			fi
		}
	od
}
