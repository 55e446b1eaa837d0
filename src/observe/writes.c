/*-------------------------------------------------------------------------
 *
 * observe/writes.c
 *		Page writes and WAL of relations, counted from the WAL.
 *
 * Runs in the process that takes a sample, on a primary.  The server has no statistics on how
 * often a relation's pages are written.  A changed page is written once for each checkpoint,
 * however often it is changed in between.  So the number of distinct pages that change between
 * two checkpoints is counted:
 *
 * - With full_page_writes on, the first change of a page after a checkpoint
 *	 began has an image of it in the WAL, unless the page is made anew
 *	 (WILL_INIT).  Images plus new pages are the pages that will be written, and
 *	 no memory of what changed is needed.
 * - With full_page_writes off, a set of pages of bounded size says which were
 *	 changed since the last checkpoint began (model/page_writes.h).  It is stored
 *	 between two samples.
 *
 * In either case the set tells which of the pages are adjacent, and so reach the device as one
 * request.
 *
 * Not counted: pages that no WAL record names, because only hints have changed in a cluster
 * without checksums and wal_log_hints; unlogged relations; repeated writes of a page between
 * two checkpoints because it was evicted from shared buffers.
 *
 * Causes.  Vacuum's records are known by their type.  Hint bits, and before 17 the removal of
 * dead rows from a page, can be of vacuum or of any reader; then the relation's count of
 * vacuums says whether one was there.  Images of whole pages (XLOG_FPI) come with a new file:
 * of an index build or VACUUM FULL, which is maintenance, or a move, which is no write of the
 * relation at all: before its end the file belongs to no relation, and then the stored state
 * knows of the move.
 *
 * Bounds.  Reading is bounded; if more was written, evenly spread stretches of the WAL stand
 * for all of it (model/page_writes.h).  A page that changes again and again is then counted
 * too often while full_page_writes is off, as each stretch may see it for the first time on
 * behalf of those that are not read.
 *
 * The stored position always belongs to this server's own history, even after a promotion, a
 * restore or pg_upgrade, because it comes with the table, which is as old as the rest of the
 * data.  So no timeline is stored with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/ginxlog.h"
#include "access/gistxlog.h"
#include "access/hash_xlog.h"
#include "access/nbtxlog.h"
#include "access/rmgr.h"
#include "access/spgxlog.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogreader.h"
#include "catalog/pg_control.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/memutils.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/base/idle.h"
#include "src/catalog/tables.h"
#include "src/server/processes.h"
#include "src/server/wal.h"
#include "src/observe/writes.h"

/*
 * WAL that a sample reads at most, in bytes: one segment of the default size, so that a
 * sample is short however much is written.  Of more, parts of it stand for all, which are
 * enough to tell the relations that write much.
 */
#define WAL_READ_LIMIT ((uint64) 16 * 1024 * 1024)

#define NO_RELATION PG_UINT32_MAX

typedef enum WriteKind
{
	WRITE_LOAD,					/* use of the relation */
	WRITE_MAINTENANCE,
	WRITE_BY_EITHER,			/* one of the two: pruning, hint bits */
	WRITE_NEW_FILE,				/* maintenance, or a move */
	WRITE_KINDS
} WriteKind;

/*
 * Of one relation, as read and not yet scaled.  note_record() adds to it;
 * conclude() decides what WRITE_BY_EITHER and WRITE_NEW_FILE were.
 */
typedef struct Counts
{
	int64		pages[WRITE_KINDS];
	int64		pairs[WRITE_KINDS]; /* of neighbours among the pages, */
	int64		far_pairs[WRITE_KINDS]; /* see TierPageAdded */
	int64		wal_bytes[WRITE_KINDS];
	int64		image_bytes[WRITE_KINDS];
} Counts;

/* A file that a relation has, or had at the last sample. */
typedef struct KnownFile
{
	Oid			tablespace_oid;
	Oid			file_number;	/* 0: empty slot */
	uint32		relation;		/* index of its counts */
} KnownFile;

/*
 * The writes of one sample, from tier_writes_begin() to tier_writes_end(), in the memory of
 * the process that has the sampler locked.  Only one sample exists at a time, so its memory
 * needs no other lock.
 *
 * begin	decides which WAL is read: begin, end, redo
 * count	knows the files, reads the WAL, counts by relation, and fills in
 *			period.writes; files and counts exist only meanwhile
 * end		stores memory
 */
struct TierWrites
{
	/* begin */
	MemoryContext context;
	XLogRecPtr	begin;			/* to be read from here */
	XLogRecPtr	end;			/* to here */
	XLogRecPtr	redo;			/* of the newest checkpoint that began */
	TierWritesMemory memory;	/* of the last sample, then of this one; its
								 * pages and their redo follow the WAL while
								 * it is read */
	bool		full_page_writes;	/* as of the record that is read */

	/* count: means nothing before and after. */
	KnownFile  *files;			/* open addressing, at most half of it used */
	uint32		file_mask;
	const KnownFile *last_file; /* found by the last look-up; NULL: none */
	Counts	   *counts;			/* of each relation, in their order */
	int64		unattributed_bytes; /* of no relation */
};

/* ---------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------
 */

static KnownFile *
file_slot(const TierWrites *writes, Oid tablespace_oid, Oid file_number)
{
	uint32		position = hash_combine(murmurhash32(file_number),
										murmurhash32(tablespace_oid));

	for (;;)
	{
		KnownFile  *file = &writes->files[position & writes->file_mask];

		if (file->file_number == InvalidOid ||
			(file->file_number == file_number && file->tablespace_oid == tablespace_oid))
			return file;
		position++;
	}
}

static void
know_file(TierWrites *writes, Oid tablespace_oid, Oid file_number, int relation)
{
	KnownFile  *file;

	if (!OidIsValid(file_number))
		return;
	file = file_slot(writes, tablespace_oid, file_number);
	if (file->file_number != InvalidOid)
		return;
	file->tablespace_oid = tablespace_oid;
	file->file_number = file_number;
	file->relation = (uint32) relation;
}

/* The files that the relations have now, had then, and had before a move. */
static void
know_files(TierWrites *writes, const TierRelationState *current, int ncurrent,
		   const TierRelationState *last, int nlast)
{
	uint64		slots = 1024;
	int			j = 0;

	while (slots < (uint64) ncurrent * 6)
		slots *= 2;
	writes->files = MemoryContextAllocExtended(writes->context, sizeof(KnownFile) * slots,
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	writes->file_mask = (uint32) (slots - 1);
	for (int i = 0; i < ncurrent; i++)
		know_file(writes, current[i].id.tablespace_oid, current[i].id.file_number, i);
	for (int i = 0; i < ncurrent; i++)
	{
		while (j < nlast && last[j].id.relation_oid < current[i].id.relation_oid)
			j++;
		if (j == nlast || last[j].id.relation_oid != current[i].id.relation_oid)
			continue;
		know_file(writes, last[j].id.tablespace_oid, last[j].id.file_number, i);
		know_file(writes, last[j].stored.previous_tablespace_oid,
				  last[j].stored.previous_file_number, i);
	}
}

static uint32
relation_of(TierWrites *writes, const RelFileLocator *locator)
{
	Oid			tablespace_oid = tier_compat_locator_tablespace(*locator);
	Oid			file_number = tier_compat_locator_file_number(*locator);
	const KnownFile *file = writes->last_file;

	if (tier_compat_locator_database(*locator) != MyDatabaseId)
		return NO_RELATION;
	if (file == NULL || file->file_number != file_number || file->tablespace_oid != tablespace_oid)
		file = file_slot(writes, tablespace_oid, file_number);
	if (file->file_number == InvalidOid)
		return NO_RELATION;
	writes->last_file = file;
	return file->relation;
}

/* ---------------------------------------------------------------------
 * Records
 * ---------------------------------------------------------------------
 */

static WriteKind
kind_of_record(XLogReaderState *record)
{
	uint8		info = XLogRecGetInfo(record) & ~XLR_INFO_MASK;

	switch (XLogRecGetRmid(record))
	{
		case RM_XLOG_ID:
			return info == XLOG_FPI ? WRITE_NEW_FILE :
				info == XLOG_FPI_FOR_HINT ? WRITE_BY_EITHER : WRITE_LOAD;
		case RM_HEAP2_ID:
			switch (tier_compat_heap2_write_kind(info,
												 TransactionIdIsValid(XLogRecGetXid(record))))
			{
				case TIER_COMPAT_WRITE_MAINTENANCE:
					return WRITE_MAINTENANCE;
				case TIER_COMPAT_WRITE_PRUNE:
					return WRITE_BY_EITHER;
				case TIER_COMPAT_WRITE_LOAD:
					break;
			}
			return WRITE_LOAD;
		case RM_BTREE_ID:
			return info == XLOG_BTREE_VACUUM || info == XLOG_BTREE_MARK_PAGE_HALFDEAD ||
				info == XLOG_BTREE_UNLINK_PAGE || info == XLOG_BTREE_UNLINK_PAGE_META ||
				info == XLOG_BTREE_META_CLEANUP ? WRITE_MAINTENANCE : WRITE_LOAD;
		case RM_GIN_ID:
			return info == XLOG_GIN_VACUUM_PAGE || info == XLOG_GIN_VACUUM_DATA_LEAF_PAGE ||
				info == XLOG_GIN_DELETE_PAGE ? WRITE_MAINTENANCE : WRITE_LOAD;
		case RM_GIST_ID:
			return info == XLOG_GIST_PAGE_DELETE ? WRITE_MAINTENANCE : WRITE_LOAD;
		case RM_SPGIST_ID:
			return info == XLOG_SPGIST_VACUUM_LEAF || info == XLOG_SPGIST_VACUUM_ROOT ||
				info == XLOG_SPGIST_VACUUM_REDIRECT ? WRITE_MAINTENANCE : WRITE_LOAD;
		case RM_HASH_ID:
			return info == XLOG_HASH_DELETE || info == XLOG_HASH_UPDATE_META_PAGE ?
				WRITE_MAINTENANCE : WRITE_LOAD;
		default:
			return WRITE_LOAD;
	}
}

static void
begin_cycle(TierWrites *writes, XLogRecPtr redo)
{
	writes->memory.redo = redo;
	tier_page_set_clear(&writes->memory.pages);
}

/*
 * Notices where a checkpoint began and full_page_writes changed.  A checkpoint's
 * record comes at its end, too late; so of the newest one the server is asked
 * where it began.  For the ones between, pages that were changed while it ran
 * count twice.
 */
static void
follow_checkpoints(TierWrites *writes, XLogReaderState *record)
{
	uint8		info = XLogRecGetInfo(record) & ~XLR_INFO_MASK;

	if (record->ReadRecPtr >= writes->redo && writes->memory.redo < writes->redo)
		begin_cycle(writes, writes->redo);
	if (XLogRecGetRmid(record) != RM_XLOG_ID)
		return;
	if (info == XLOG_FPW_CHANGE)
		memcpy(&writes->full_page_writes, XLogRecGetData(record), sizeof(bool));
	else if (info == XLOG_CHECKPOINT_ONLINE || info == XLOG_CHECKPOINT_SHUTDOWN)
	{
		CheckPoint	checkpoint;

		memcpy(&checkpoint, XLogRecGetData(record), sizeof(CheckPoint));
		writes->full_page_writes = checkpoint.fullPageWrites;
		if (writes->memory.redo < checkpoint.redo)
			begin_cycle(writes, checkpoint.redo);
	}
}

/* Counts a page of the main fork, if it will have to be written once more. */
static void
note_page(TierWrites *writes, Counts *counts, WriteKind kind,
		  const DecodedBkpBlock *reference, const RelFileLocator *locator, BlockNumber block)
{
	bool		is_first = (reference->has_image && reference->apply_image) ||
	(reference->flags & BKPBLOCK_WILL_INIT) != 0;
	TierPageAdded added;
	uint32		group[3];

	if (writes->full_page_writes && !is_first)
		return;
	group[0] = tier_compat_locator_tablespace(*locator);
	group[1] = tier_compat_locator_file_number(*locator);
	group[2] = block / TIER_PAGE_GROUP;
	added = tier_page_set_add(&writes->memory.pages,
							  hash_bytes((const unsigned char *) group, sizeof(group)),
							  (int) (block % TIER_PAGE_GROUP));
	counts->pages[kind] += writes->full_page_writes ? 1 : added.pages;
	counts->pairs[kind] += added.pairs;
	counts->far_pairs[kind] += added.far_pairs;
}

static void
note_record(void *argument, XLogReaderState *record)
{
	TierWrites *writes = argument;
	WriteKind	kind = kind_of_record(record);
	int64		rest = XLogRecGetTotalLen(record);
	int			nblocks = 0;
	int			n = 0;

	follow_checkpoints(writes, record);
	for (int id = 0; id <= XLogRecMaxBlockId(record); id++)
	{
		if (!XLogRecHasBlockRef(record, id))
			continue;
		nblocks++;
		if (XLogRecGetBlock(record, id)->has_image)
			rest -= XLogRecGetBlock(record, id)->bimg_len;
	}
	if (nblocks == 0)
		writes->unattributed_bytes += rest;

	for (int id = 0; id <= XLogRecMaxBlockId(record); id++)
	{
		const DecodedBkpBlock *reference = XLogRecGetBlock(record, id);
		RelFileLocator locator;
		ForkNumber	fork;
		BlockNumber block;
		uint32		relation;
		int64		image_bytes;
		int64		wal_bytes;
		Counts	   *counts;

		if (!XLogRecGetBlockTagExtended(record, id, &locator, &fork, &block, NULL))
			continue;
		image_bytes = reference->has_image ? reference->bimg_len : 0;
		wal_bytes = tier_fair_part(rest, nblocks, n++) + image_bytes;
		relation = relation_of(writes, &locator);
		if (relation == NO_RELATION)
		{
			writes->unattributed_bytes += wal_bytes;
			continue;
		}
		counts = &writes->counts[relation];
		counts->wal_bytes[kind] += wal_bytes;

		/*
		 * A page of the visibility map stands for 250 MB; 19 logs more of
		 * them.
		 */
		if (fork != MAIN_FORKNUM)
			continue;
		counts->image_bytes[kind] += image_bytes;
		note_page(writes, counts, kind, reference, &locator, block);
	}
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/*
 * Reads [begin, end) or the rest of it, segment by segment if a part was removed.  Returns the
 * bytes read; *position gets the position at which reading can continue.
 */
static uint64
read_stretch(TierWal *wal, XLogRecPtr begin, XLogRecPtr end, XLogRecPtr *position)
{
	uint64		read = 0;

	while (begin < end)
	{
		XLogRecPtr	first;
		XLogRecPtr	last;
		TierWalResult result = tier_wal_read_stretch(wal, begin, end, &first, &last);

		CHECK_FOR_INTERRUPTS();
		tier_debug_point("reading_wal");
		tier_wal_keep_up();
		read += last - first;
		*position = last;
		if (result == TIER_WAL_OK)
			return read;
		begin = tier_wal_next_segment(last);
	}
	*position = end;
	return read;
}

static void
read_wal(TierWrites *writes)
{
	TierWalObserver observer = {.argument = writes,.record = note_record};
	TierWal    *wal = tier_wal_open(writes->context, &observer);
	XLogRecPtr	begin = writes->begin;
	XLogRecPtr	end = writes->end;
	int			nstretches = tier_stretch_count(begin, end, WAL_READ_LIMIT);
	uint64		read = 0;
	TierWritesMemory *memory = &writes->memory;

	memory->position = end;
	for (int i = 0; i < nstretches; i++)
	{
		TierStretch stretch = tier_stretch(begin, end, WAL_READ_LIMIT, i,
										   pg_prng_double(&pg_global_prng_state));
		XLogRecPtr	position;

		/* The WAL that was not read may have changed it. */
		if (i > 0)
			writes->full_page_writes = fullPageWrites;
		tier_page_set_next_stretch(&memory->pages);
		read += read_stretch(wal, stretch.begin, stretch.end, &position);

		/* The rest of a record that is not yet flushed comes next time. */
		if (nstretches == 1 && stretch.begin == begin && stretch.end == end)
			memory->position = position;
	}
	tier_wal_end(wal);

	memory->wal_bytes = memory->position - begin;
	memory->read_bytes = Min((int64) read, memory->wal_bytes);

	/* Between the last record of then and the first one a page may begin. */
	if (memory->wal_bytes - memory->read_bytes <= (int64) SizeOfXLogLongPHD)
		memory->read_bytes = memory->wal_bytes;
	memory->scale = tier_stretch_scale(memory->wal_bytes, memory->read_bytes);
	memory->unattributed_bytes = tier_stretch_scaled(writes->unattributed_bytes, memory->scale);
	memory->full_page_writes = memory->read_bytes < memory->wal_bytes ? fullPageWrites :
		writes->full_page_writes;
}

/*---------------------------------------------------------------------
 * Evaluation
 *---------------------------------------------------------------------
 */

/* Returns true if the relation is being vacuumed at this moment.  Looks only when it matters. */
static bool
is_being_vacuumed(Oid relation_oid)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;

		if (tier_processes_read(i, &status) &&
			status.st_progress_command == PROGRESS_COMMAND_VACUUM &&
			status.st_databaseid == MyDatabaseId &&
			status.st_progress_command_target == relation_oid)
			return true;
	}
	return false;
}

static void
add_kind(TierWriteCounts *to, const Counts *counts, WriteKind from, WriteKind kind, double scale)
{
	int64		pages = tier_stretch_scaled(counts->pages[from], scale);
	int64		merged = tier_page_merged(pages, counts->pairs[from], counts->far_pairs[from],
										  scale);

	if (kind == WRITE_LOAD)
	{
		to->pages += pages;
		to->merged += merged;
	}
	else
	{
		to->maintenance_pages += pages;
		to->maintenance_merged += merged;
	}
	to->wal_bytes += tier_stretch_scaled(counts->wal_bytes[from], scale);
	to->image_bytes += tier_stretch_scaled(counts->image_bytes[from], scale);
}

static void
conclude(TierWrites *writes, TierRelationState *state, const TierRelationState *before,
		 const Counts *counts)
{
	double		scale = writes->memory.scale;
	bool		is_moved = before != NULL &&
	(before->id.tablespace_oid != state->id.tablespace_oid ||
	 OidIsValid(before->stored.previous_file_number));

	add_kind(&state->period.writes, counts, WRITE_LOAD, WRITE_LOAD, scale);
	add_kind(&state->period.writes, counts, WRITE_MAINTENANCE, WRITE_MAINTENANCE, scale);
	if (counts->wal_bytes[WRITE_BY_EITHER] > 0)
	{
		int64		vacuums_before = before == NULL ? 0 : before->stored.vacuums;
		bool		by_vacuum = state->stored.vacuums > vacuums_before ||
		is_being_vacuumed(state->id.relation_oid);

		add_kind(&state->period.writes, counts, WRITE_BY_EITHER,
				 by_vacuum ? WRITE_MAINTENANCE : WRITE_LOAD, scale);
	}
	if (!is_moved)
		add_kind(&state->period.writes, counts, WRITE_NEW_FILE, WRITE_MAINTENANCE, scale);
}

/* ---------------------------------------------------------------------
 * Interface
 * ---------------------------------------------------------------------
 */

TierWrites *
tier_writes_begin(TimestampTz now)
{
	TierWrites *writes = palloc0(sizeof(TierWrites));
	TierWritesMemory *memory = &writes->memory;

	writes->context = CurrentMemoryContext;
	tier_catalog_load_writes(memory);
	writes->full_page_writes = memory->full_page_writes;
	writes->end = tier_wal_flush();
	writes->redo = GetRedoRecPtr();
	if (memory->position == InvalidXLogRecPtr || memory->position > writes->end)
	{
		tier_catalog_forget_write_rates();
		memset(memory, 0, sizeof(TierWritesMemory));
		memory->position = writes->end;
		memory->since = now;
		writes->full_page_writes = fullPageWrites;
	}
	if (memory->redo > writes->redo)
		begin_cycle(writes, InvalidXLogRecPtr);
	writes->begin = memory->position;

	/* What is skipped is not ours, but may have changed it. */
	(void) tier_idle_until(DT_NOBEGIN, &writes->begin);
	writes->begin = Min(writes->begin, writes->end);
	if (writes->begin > memory->position)
		writes->full_page_writes = fullPageWrites;

	return writes;
}

void
tier_writes_count(TierWrites *writes, TierRelationState *current, int ncurrent,
				  const TierRelationState *last, int nlast)
{
	int			j = 0;

	writes->counts = MemoryContextAllocExtended(writes->context, sizeof(Counts) * Max(ncurrent, 1),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	know_files(writes, current, ncurrent, last, nlast);
	read_wal(writes);

	for (int i = 0; i < ncurrent; i++)
	{
		const TierRelationState *before = NULL;

		while (j < nlast && last[j].id.relation_oid < current[i].id.relation_oid)
			j++;
		if (j < nlast && last[j].id.relation_oid == current[i].id.relation_oid)
			before = &last[j];
		conclude(writes, &current[i], before, &writes->counts[i]);
	}
	pfree(writes->counts);
	pfree(writes->files);
}

void
tier_writes_end(TierWrites *writes)
{
	tier_catalog_store_writes(&writes->memory);
}
