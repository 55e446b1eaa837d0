/*-------------------------------------------------------------------------
 *
 * server/buffers.c
 *		How many blocks of each relation file are in shared buffers.
 *
 * Runs in any process attached to shared memory and connected to a database.
 * It only reads the buffer headers and takes no lock, not even the spinlock
 * in a header: a scan that locks every header would slow down everybody who
 * pins pages meanwhile.  Instead, the identity of a buffer is believed when
 * the state word is the same before and after reading it (see
 * read_buffer_tag).
 *
 * A header is one cache line, so the pass is bound by memory bandwidth as
 * long as the work per header stays small.  Blocks of one relation tend to
 * sit in adjacent buffers; the count found last is therefore tried before the
 * hash table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/server/buffers.h"
#include "src/base/settings.h"

#define INITIAL_CAPACITY	256
#define BUFFERS_PER_INTERRUPT_CHECK	4096

/* How often a header in flux is looked at before it is left out. */
#define READ_ATTEMPTS		4

#define SLOT_EMPTY			PG_UINT32_MAX
#define NO_COUNT			(-1)

/*
 * The counts are a dense array.  An open-addressing table of twice its
 * capacity, a power of two, holds indexes into it; both grow together.
 */
struct TierBufferScan
{
	TierBufferCount *counts;
	int			n_counts;		/* of these, filled in order of appearance */
	int			capacity;		/* of counts, a power of two */
	uint32	   *slots;			/* index in counts, or SLOT_EMPTY */
	uint32		slot_mask;		/* number of slots - 1 */
	double		share;			/* of the buffers that were looked at */
};

/*
 * Which buffers a pass looks at: all of them, or one at random out of each of
 * `limit` equal parts.  One of each part, and not every k-th, because blocks
 * of a table may sit at regular distances; and not runs of neighbours, because
 * those are alike and say less than as many single ones.
 *
 * They are the same ones as long as the server runs, so that what did not change
 * is counted the same in each sample, and need not be stored again.
 */
typedef struct BufferWalk
{
	int			next;			/* part to look at */
	int			parts;
	double		part_size;		/* buffers; 1: all are looked at */
	uint64		random;
} BufferWalk;

static void
start_walk(BufferWalk *walk, int limit)
{
	walk->next = 0;
	walk->parts = Min(NBuffers, limit);
	walk->part_size = (double) NBuffers / walk->parts;
	walk->random = (uint64) PgStartTime | 1;
}

/* The number of the next buffer; negative at the end. */
static inline int
next_buffer(BufferWalk *walk)
{
	int			part = walk->next;
	int			buffer;

	if (part == walk->parts)
		return -1;
	if (part % BUFFERS_PER_INTERRUPT_CHECK == 0)
		CHECK_FOR_INTERRUPTS();
	walk->next++;
	if (walk->parts == NBuffers)
		return part;

	/* xorshift64: a place within the part needs no better randomness. */
	walk->random ^= walk->random << 13;
	walk->random ^= walk->random >> 7;
	walk->random ^= walk->random << 17;
	buffer = (int) (walk->part_size *
					((double) part + (walk->random >> 11) * (1.0 / 9007199254740992.0)));
	return Min(buffer, NBuffers - 1);
}

static void
allocate_slots(TierBufferScan *scan)
{
	Size		n_slots = (Size) scan->capacity * 2;

	scan->slots = MemoryContextAllocHuge(CurrentMemoryContext,
										 n_slots * sizeof(uint32));
	memset(scan->slots, 0xFF, n_slots * sizeof(uint32));
	scan->slot_mask = (uint32) (n_slots - 1);
}

/*
 * The slot that holds the file's index, or the empty one where it belongs.
 * Ends because at most half of the slots are in use.
 */
static inline uint32 *
find_slot(const TierBufferScan *scan, Oid tablespace_oid, Oid file_number)
{
	uint32		position = hash_combine(murmurhash32(file_number),
										murmurhash32(tablespace_oid));

	for (;;)
	{
		uint32	   *slot = &scan->slots[position & scan->slot_mask];
		const TierBufferCount *count;

		if (*slot == SLOT_EMPTY)
			return slot;

		count = &scan->counts[*slot];
		if (count->file_number == file_number &&
			count->tablespace_oid == tablespace_oid)
			return slot;

		position++;
	}
}

/*
 * Doubles the room.  There are never more files than buffers, and NBuffers is
 * at most INT_MAX / 2, so neither the capacity nor the number of slots can
 * overflow.
 */
static void
grow(TierBufferScan *scan)
{
	scan->capacity *= 2;
	scan->counts = repalloc_huge(scan->counts,
								 sizeof(TierBufferCount) * (Size) scan->capacity);

	pfree(scan->slots);
	allocate_slots(scan);
	for (int i = 0; i < scan->n_counts; i++)
		*find_slot(scan, scan->counts[i].tablespace_oid,
				   scan->counts[i].file_number) = (uint32) i;
}

/* Index of the file's count, a new one of zeros when there was none. */
static int
find_or_add(TierBufferScan *scan, Oid tablespace_oid, Oid file_number)
{
	uint32	   *slot = find_slot(scan, tablespace_oid, file_number);
	TierBufferCount *count;

	if (*slot != SLOT_EMPTY)
		return (int) *slot;

	if (scan->n_counts == scan->capacity)
	{
		grow(scan);
		slot = find_slot(scan, tablespace_oid, file_number);
	}

	*slot = (uint32) scan->n_counts;
	count = &scan->counts[scan->n_counts];
	memset(count, 0, sizeof(*count));
	count->tablespace_oid = tablespace_oid;
	count->file_number = file_number;
	return scan->n_counts++;
}

/*
 * Copies the tag and the state word of a buffer that holds a valid page.
 * False: it holds none, or somebody was changing it at every attempt.
 *
 * Who changes the tag holds the header's lock bit from before to after the
 * change, and a page that has just been given a new identity is not valid
 * until it has been read.  So a tag is good if the word showed a valid,
 * unlocked header and, apart from pins and content locks, is the same
 * afterwards.  That misses a buffer that was replaced, read in and used
 * equally often between the two looks, which takes a process that loses its
 * CPU just there: one wrong count among thousands, and nothing more.
 */
static inline bool
read_buffer_tag(BufferDesc *buffer, BufferTag *tag, uint64 *state)
{
	const uint64 valid = BM_VALID | BM_TAG_VALID;

	for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++)
	{
		uint64		before = tier_compat_buffer_state(buffer);
		uint64		after;

		if ((before & valid) != valid)
			return false;
		if (before & BM_LOCKED)
			continue;

		pg_read_barrier();
		*tag = buffer->tag;
		pg_read_barrier();

		after = tier_compat_buffer_state(buffer);
		if (tier_compat_buffer_state_without_users(before) ==
			tier_compat_buffer_state_without_users(after))
		{
			*state = after;
			return true;
		}
	}

	return false;
}

static inline void
add_buffer(TierBufferCount *count, uint64 state)
{
	uint32		usage = (uint32) BUF_STATE_GET_USAGECOUNT(state);

	count->cached++;
	if (state & BM_DIRTY)
		count->dirty++;
	count->usage = (count->usage > PG_UINT32_MAX - usage) ?
		PG_UINT32_MAX : count->usage + usage;
}

static uint32
scale(uint32 count, double share)
{
	double		scaled = rint(count / share);

	return scaled >= PG_UINT32_MAX ? PG_UINT32_MAX : (uint32) scaled;
}

static void
scale_counts(TierBufferScan *scan)
{
	for (int i = 0; i < scan->n_counts; i++)
	{
		TierBufferCount *count = &scan->counts[i];

		count->cached = scale(count->cached, scan->share);
		count->dirty = scale(count->dirty, scan->share);
		count->usage = scale(count->usage, scan->share);
	}
}

TierBufferScan *
tier_buffers_scan(void)
{
	TierBufferScan *scan = palloc0(sizeof(TierBufferScan));
	int			current = NO_COUNT;
	BufferWalk	walk;

	start_walk(&walk, tier_test_buffer_scan_limit);
	scan->share = 1.0 / walk.part_size;
	scan->capacity = INITIAL_CAPACITY;
	scan->counts = palloc(sizeof(TierBufferCount) * INITIAL_CAPACITY);
	allocate_slots(scan);

	for (int i; (i = next_buffer(&walk)) >= 0;)
	{
		BufferTag	tag;
		uint64		state;
		Oid			tablespace_oid;
		Oid			file_number;

		if (!read_buffer_tag(GetBufferDescriptor(i), &tag, &state) ||
			tier_compat_buffer_tag_database(&tag) != MyDatabaseId ||
			tier_compat_buffer_tag_fork(&tag) != MAIN_FORKNUM)
			continue;

		tablespace_oid = tier_compat_buffer_tag_tablespace(&tag);
		file_number = tier_compat_buffer_tag_file_number(&tag);
		if (current == NO_COUNT ||
			scan->counts[current].file_number != file_number ||
			scan->counts[current].tablespace_oid != tablespace_oid)
			current = find_or_add(scan, tablespace_oid, file_number);

		add_buffer(&scan->counts[current], state);
	}

	if (scan->share < 1.0)
		scale_counts(scan);
	return scan;
}

double
tier_buffers_share(const TierBufferScan *scan)
{
	return scan->share;
}

/*
 * Of `count` buffers of a file among N, n were to be looked at, each with the
 * chance p = n / N.  Those that were found are binomial, if they are spread at
 * random over the parts, and less scattered otherwise; divided by p, that is
 *
 *		count * (1 / p - 1)		[variance]
 */
double
tier_buffers_error(double count, double share)
{
	if (!(share > 0.0 && share < 1.0))
		return 0.0;

	/* That none was found does not mean that there is none. */
	return sqrt(Max(count, 1.0 / share) * (1.0 / share - 1.0));
}

const TierBufferCount *
tier_buffers_find(const TierBufferScan *scan, Oid tablespace_oid,
				  Oid file_number)
{
	uint32		index = *find_slot(scan, tablespace_oid, file_number);

	return (index == SLOT_EMPTY) ? NULL : &scan->counts[index];
}

const TierBufferCount *
tier_buffers_all(const TierBufferScan *scan, int *count)
{
	*count = scan->n_counts;
	return scan->counts;
}

void
tier_buffers_free(TierBufferScan *scan)
{
	pfree(scan->counts);
	pfree(scan->slots);
	pfree(scan);
}

double
tier_buffers_visit(RelFileLocator file, int limit,
				   void (*visit) (void *argument, BlockNumber block, int usage, bool dirty),
				   void *argument)
{
	Oid			tablespace_oid = tier_compat_locator_tablespace(file);
	RelFileNumber file_number = tier_compat_locator_file_number(file);
	BufferWalk	walk;

	start_walk(&walk, limit);
	for (int i; (i = next_buffer(&walk)) >= 0;)
	{
		BufferTag	tag;
		uint64		state;

		if (read_buffer_tag(GetBufferDescriptor(i), &tag, &state) &&
			tier_compat_buffer_tag_file_number(&tag) == file_number &&
			tier_compat_buffer_tag_database(&tag) == MyDatabaseId &&
			tier_compat_buffer_tag_tablespace(&tag) == tablespace_oid &&
			tier_compat_buffer_tag_fork(&tag) == MAIN_FORKNUM)
			visit(argument, tag.blockNum, (int) BUF_STATE_GET_USAGECOUNT(state),
				  (state & BM_DIRTY) != 0);
	}
	return 1.0 / walk.part_size;
}
