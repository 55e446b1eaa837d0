/*-------------------------------------------------------------------------
 *
 * server/buffers.c
 *		Counting the blocks of relation files in shared buffers.
 *
 * Runs in any process attached to shared memory and connected to a database.  It only reads
 * the buffer headers and takes no lock, not even the spinlock in a header: a scan that locks
 * every header would slow down all processes that pin pages meanwhile.  Instead, the identity
 * of a buffer is believed when the state word is the same before and after reading it (see
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

#define INITIAL_FILES		256
#define BUFFERS_PER_INTERRUPT_CHECK	4096

/* Attempts to read a changing header before it is skipped. */
#define READ_ATTEMPTS		4

#define SH_PREFIX			files
#define SH_ELEMENT_TYPE		TierBufferCount
#define SH_KEY_TYPE			TierBufferFile
#define SH_KEY				file
#define SH_HASH_KEY(table, key) \
	hash_combine(murmurhash32((key).file_number), murmurhash32((key).tablespace_oid))
#define SH_EQUAL(table, a, b) \
	((a).file_number == (b).file_number && (a).tablespace_oid == (b).tablespace_oid)
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"	/* within the server's header, in
											 * 15 */
#include "lib/simplehash.h"
#pragma GCC diagnostic pop

struct TierBufferScan
{
	files_hash *counts;			/* by file */
	double		share;			/* of the buffers that were looked at */
};

/*
 * Which buffers a pass looks at: all of them, or one at random out of each of
 * `limit` equal parts.  One of each part, and not every k-th, because blocks
 * of a table may sit at regular distances; and not runs of neighbours, because
 * those are alike and say less than as many single ones.
 *
 * They are the same ones as long as the server runs, so that an unchanged relation has the
 * same count in each sample, and need not be stored again.
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

/*
 * Copies the tag and the state word of a buffer that holds a valid page.  Returns false if it
 * holds none, or was being changed at every attempt.
 *
 * A process that changes the tag holds the header's lock bit during the change, and a page
 * that has just been given a new identity is not valid until it has been read.  So a tag is
 * good if the word showed a valid, unlocked header and, apart from pins and content locks, is
 * the same afterwards.  That misses a buffer that was replaced, read in and used equally often
 * between the two looks, which takes a process that loses its CPU just there: one wrong count
 * among thousands, and nothing more.
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
	files_iterator at;
	TierBufferCount *count;

	files_start_iterate(scan->counts, &at);
	while ((count = files_iterate(scan->counts, &at)) != NULL)
	{
		count->cached = scale(count->cached, scan->share);
		count->dirty = scale(count->dirty, scan->share);
		count->usage = scale(count->usage, scan->share);
	}
}

/* Of the file, of zeros when there was none.  Where the others are may change. */
static TierBufferCount *
find_or_add(TierBufferScan *scan, TierBufferFile file)
{
	bool		found;
	TierBufferCount *count = files_insert(scan->counts, file, &found);

	if (!found)
		count->cached = count->dirty = count->usage = 0;
	return count;
}

TierBufferScan *
tier_buffers_scan(void)
{
	TierBufferScan *scan = palloc0(sizeof(TierBufferScan));
	TierBufferCount *current = NULL;
	BufferWalk	walk;

	start_walk(&walk, tier_test_buffer_scan_limit);
	scan->share = 1.0 / walk.part_size;
	scan->counts = files_create(CurrentMemoryContext, INITIAL_FILES, NULL);

	for (int i; (i = next_buffer(&walk)) >= 0;)
	{
		BufferTag	tag;
		uint64		state;
		TierBufferFile file;

		if (!read_buffer_tag(GetBufferDescriptor(i), &tag, &state) ||
			tier_compat_buffer_tag_database(&tag) != MyDatabaseId ||
			tier_compat_buffer_tag_fork(&tag) != MAIN_FORKNUM)
			continue;

		file.tablespace_oid = tier_compat_buffer_tag_tablespace(&tag);
		file.file_number = tier_compat_buffer_tag_file_number(&tag);
		if (current == NULL || current->file.file_number != file.file_number ||
			current->file.tablespace_oid != file.tablespace_oid)
			current = find_or_add(scan, file);
		add_buffer(current, state);
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
tier_buffers_find(const TierBufferScan *scan, Oid tablespace_oid, Oid file_number)
{
	TierBufferFile file = {tablespace_oid, file_number};

	return files_lookup(scan->counts, file);
}

void
tier_buffers_free(TierBufferScan *scan)
{
	files_destroy(scan->counts);
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
