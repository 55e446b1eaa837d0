/*-------------------------------------------------------------------------
 *
 * compat.h
 *		The differences between PostgreSQL 15 and 19, and nothing else.
 *
 * Every PG_VERSION_NUM check of the project is in this file.  Each wrapper has
 * the signature of the newest version; its comment says what changed, and in
 * which version.  A leaf: it includes only headers of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COMPAT_H
#define TIER_COMPAT_H

#include "postgres.h"

#include "access/heapam_xlog.h"
#include "access/rmgr.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogreader.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_control.h"
#include "catalog/pg_database.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_tablespace.h"
#include "catalog/storage_xlog.h"
#include "common/relpath.h"
#include "datatype/timestamp.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/lock.h"
#include "storage/lockdefs.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/sinvaladt.h"
#include "storage/smgr.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/guc_tables.h"
#include "utils/pgstat_internal.h"
#include "utils/rel.h"
#include "utils/relmapper.h"
#include "utils/syscache.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/queryjumble.h"
#else
#include "utils/queryjumble.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "storage/aio.h"
#endif

#if PG_VERSION_NUM < 150000
#error "tiered_storage needs PostgreSQL 15 or newer"
#endif

/* ---------------------------------------------------------------------
 * Relation files
 * ---------------------------------------------------------------------
 */

/* 16 introduced RelFileNumber as the type of a relation's file number. */
#if PG_VERSION_NUM < 160000
typedef Oid RelFileNumber;
#endif

/*
 * 16 renamed RelFileNode and its fields.  The name of the newest is used
 * everywhere; its fields are read and made by the functions below.
 */
#if PG_VERSION_NUM < 160000
typedef RelFileNode RelFileLocator;
#define RelFileLocatorEquals(a, b) RelFileNodeEquals(a, b)
#endif

static inline RelFileLocator
tier_compat_locator(Oid tablespace_oid, Oid database_oid, RelFileNumber file_number)
{
	RelFileLocator locator;

#if PG_VERSION_NUM >= 160000
	locator.spcOid = tablespace_oid;
	locator.dbOid = database_oid;
	locator.relNumber = file_number;
#else
	locator.spcNode = tablespace_oid;
	locator.dbNode = database_oid;
	locator.relNode = file_number;
#endif
	return locator;
}

static inline Oid
tier_compat_locator_tablespace(RelFileLocator locator)
{
#if PG_VERSION_NUM >= 160000
	return locator.spcOid;
#else
	return locator.spcNode;
#endif
}

static inline Oid
tier_compat_locator_database(RelFileLocator locator)
{
#if PG_VERSION_NUM >= 160000
	return locator.dbOid;
#else
	return locator.dbNode;
#endif
}

static inline RelFileNumber
tier_compat_locator_file_number(RelFileLocator locator)
{
#if PG_VERSION_NUM >= 160000
	return locator.relNumber;
#else
	return locator.relNode;
#endif
}

static inline RelFileLocator
tier_compat_relation_locator(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_locator;
#else
	return rel->rd_node;
#endif
}

/* 16 renamed GetNewRelFileNode. */
static inline RelFileNumber
tier_compat_new_file_number(Oid tablespace_oid)
{
#if PG_VERSION_NUM >= 160000
	return GetNewRelFileNumber(tablespace_oid, NULL, RELPERSISTENCE_PERMANENT);
#else
	return GetNewRelFileNode(tablespace_oid, NULL, RELPERSISTENCE_PERMANENT);
#endif
}

/* 16 renamed RelationAssumeNewRelfilenode. */
static inline void
tier_compat_relation_assume_new_file(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	RelationAssumeNewRelfilelocator(rel);
#else
	RelationAssumeNewRelfilenode(rel);
#endif
}

/* 16 renamed RelationMapOidToFilenode. */
static inline RelFileNumber
tier_compat_relation_map_oid_to_filenumber(Oid relation_oid, bool shared)
{
#if PG_VERSION_NUM >= 160000
	return RelationMapOidToFilenumber(relation_oid, shared);
#else
	return RelationMapOidToFilenode(relation_oid, shared);
#endif
}

/* The relation of this database with that file, if it is a mapped one; 16 renamed it. */
static inline Oid
tier_compat_relation_map_filenumber_to_oid(RelFileNumber file_number, bool shared)
{
#if PG_VERSION_NUM >= 160000
	return RelationMapFilenumberToOid(file_number, shared);
#else
	return RelationMapFilenodeToOid(file_number, shared);
#endif
}

/* 17 numbers backends by their PGPROC. */
#if PG_VERSION_NUM >= 170000
#define TIER_COMPAT_NO_BACKEND INVALID_PROC_NUMBER
#else
#define TIER_COMPAT_NO_BACKEND InvalidBackendId
#endif

/*
 * Path of a permanent relation's fork, relative to the data directory.  18
 * returns it by value, in a struct; before it was allocated.
 */
static inline void
tier_compat_relation_path(char *path, size_t path_size, Oid tablespace_oid,
						  Oid database_oid, RelFileNumber file_number, ForkNumber fork)
{
#if PG_VERSION_NUM >= 180000
	RelPathStr	relpath = GetRelationPath(database_oid, tablespace_oid, file_number,
										  TIER_COMPAT_NO_BACKEND, fork);

	strlcpy(path, relpath.str, path_size);
#else
	char	   *relpath = GetRelationPath(database_oid, tablespace_oid, file_number,
										  TIER_COMPAT_NO_BACKEND, fork);

	strlcpy(path, relpath, path_size);
	pfree(relpath);
#endif
}

/* Opens a permanent relation's file.  Not to be kept across transactions. */
static inline SMgrRelation
tier_compat_smgropen(RelFileLocator locator)
{
	return smgropen(locator, TIER_COMPAT_NO_BACKEND);
}

/* ---------------------------------------------------------------------
 * Blocks
 * ---------------------------------------------------------------------
 */

/* 19 renamed PageSetChecksumInplace. */
static inline void
tier_compat_page_set_checksum(Page page, BlockNumber block)
{
#if PG_VERSION_NUM >= 190000
	PageSetChecksum(page, block);
#else
	PageSetChecksumInplace(page, block);
#endif
}

/* 16 requires buffers of file I/O to be aligned for direct I/O. */
static inline char *
tier_compat_alloc_io(MemoryContext context, Size size)
{
#if PG_VERSION_NUM >= 160000
	return MemoryContextAllocAligned(context, size, PG_IO_ALIGN_SIZE, 0);
#else
	return MemoryContextAlloc(context, size);
#endif
}

/*
 * Adds blocks to a permanent file, which no other process may extend meanwhile, until `block`
 * is its last; returns that block pinned, zeroed and exclusively locked.  From 16 on
 * ExtendBufferedRelTo does this; before 16 a read of P_NEW adds one block, which 17 forbids.
 */
static inline Buffer
tier_compat_extend_to(RelFileLocator locator, ForkNumber fork, BlockNumber block,
					  BufferAccessStrategy strategy)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRelTo(BMR_SMGR(tier_compat_smgropen(locator), RELPERSISTENCE_PERMANENT),
							   fork, strategy, EB_SKIP_EXTENSION_LOCK, block + 1,
							   RBM_ZERO_AND_LOCK);
#else
	for (;;)
	{
		Buffer		buffer = ReadBufferWithoutRelcache(locator, fork, P_NEW, RBM_ZERO_AND_LOCK,
													   strategy, true);

		if (BufferGetBlockNumber(buffer) >= block)
			return buffer;
		UnlockReleaseBuffer(buffer);
	}
#endif
}

/* ---------------------------------------------------------------------
 * WAL
 * ---------------------------------------------------------------------
 */

/*
 * A server that knows XLOG2_CHECKSUMS (it is not in 19rc1) can switch data checksums on and
 * off while it runs, which takes a while.  Returns true if this process computes them for
 * pages that it writes, as of its last check for interrupts.
 */
static inline bool
tier_compat_writes_checksums(void)
{
#ifdef XLOG2_CHECKSUMS
	return DataChecksumsNeedWrite();
#else
	return DataChecksumsEnabled();
#endif
}

/* Returns true if the decoder's current record is a step of such a switch. */
static inline bool
tier_compat_switches_checksums(XLogReaderState *reader)
{
#ifdef XLOG2_CHECKSUMS
	return XLogRecGetRmid(reader) == RM_XLOG2_ID &&
		(XLogRecGetInfo(reader) & ~XLR_INFO_MASK) == XLOG2_CHECKSUMS;
#else
	return false;
#endif
}

/* The file that an XLOG_SMGR_TRUNCATE record is about; 16 renamed the field. */
static inline RelFileLocator
tier_compat_truncated_locator(const xl_smgr_truncate *record)
{
#if PG_VERSION_NUM >= 160000
	return record->rlocator;
#else
	return record->rnode;
#endif
}

/* 18 takes the data of a record as const void *. */
static inline void
tier_compat_register_data(void *data, uint32 length)
{
	XLogRegisterData(data, length);
}

/*
 * The first record that begins at or after the position; Invalid: there is none yet, or
 * (*message) it cannot be read.  19 says why; before, the reader keeps the message of an
 * error, and an empty string if page_read has failed.
 */
static inline XLogRecPtr
tier_compat_find_next_record(XLogReaderState *reader, XLogRecPtr position, char **message)
{
	XLogRecPtr	found;

	*message = NULL;
	XLogReaderResetError(reader);
#if PG_VERSION_NUM >= 190000
	found = XLogFindNextRecord(reader, position, message);
#else
	found = XLogFindNextRecord(reader, position);
	if (found == InvalidXLogRecPtr && reader->errormsg_buf[0] != '\0')
		*message = reader->errormsg_buf;
#endif
	return found;
}

/* The reason why a record changes pages. */
typedef enum TierCompatWriteKind
{
	TIER_COMPAT_WRITE_LOAD,		/* use of the relation */
	TIER_COMPAT_WRITE_MAINTENANCE,	/* vacuum */
	TIER_COMPAT_WRITE_PRUNE,	/* use or vacuum */
} TierCompatWriteKind;

/*
 * For records of RM_HEAP2.  From 17 on they tell whether vacuum removes dead rows from a page;
 * before 17, only records of a transaction with an ID are certainly not from vacuum.  19 sets
 * bits of the visibility map with other records.
 */
static inline TierCompatWriteKind
tier_compat_heap2_write_kind(uint8 info, bool has_xid)
{
	switch (info & XLOG_HEAP_OPMASK)
	{
#if PG_VERSION_NUM >= 170000
		case XLOG_HEAP2_PRUNE_VACUUM_SCAN:
		case XLOG_HEAP2_PRUNE_VACUUM_CLEANUP:
#else
		case XLOG_HEAP2_PRUNE:
			return has_xid ? TIER_COMPAT_WRITE_LOAD : TIER_COMPAT_WRITE_PRUNE;
		case XLOG_HEAP2_VACUUM:
		case XLOG_HEAP2_FREEZE_PAGE:
#endif
#ifdef XLOG_HEAP2_VISIBLE
		case XLOG_HEAP2_VISIBLE:
#endif
			return TIER_COMPAT_WRITE_MAINTENANCE;
		default:
			return TIER_COMPAT_WRITE_LOAD;
	}
}

/* ---------------------------------------------------------------------
 * Cumulative statistics
 * ---------------------------------------------------------------------
 */

/* The part of the statistics of a table or index that the extension reads. */
typedef struct TierCompatTableStats
{
	int64		scans;
	int64		tuples_returned;
	int64		tuples_inserted;
	int64		tuples_updated;
	int64		tuples_deleted;
	int64		tuples_hot_updated;
	int64		live_tuples;	/* estimate of the present number */
	TimestampTz last_scan_at;	/* 0: never, or not recorded (before 16) */
	int64		blocks_fetched;
	int64		blocks_hit;
	int64		vacuums;		/* by hand or not */
	int64		maintenance;	/* vacuums and analyzes, by hand or not */
	TimestampTz reset_at;		/* of this entry alone; 0: never, or not known */
} TierCompatTableStats;

/*
 * False when there is no entry.  15 to 19 keep tables and indexes in entries of
 * one kind; is_index is for the day when they do not.  19 says whether the
 * entry may be freed; before, it goes with the caller's memory context.  16
 * renamed the counts of what autovacuum did, and of live rows.  19 knows when an
 * entry was reset.
 */
static inline bool
tier_compat_fetch_table_stats(Oid relation_oid, bool is_index, TierCompatTableStats *stats)
{
#if PG_VERSION_NUM >= 190000
	bool		may_free = false;
	PgStat_StatTabEntry *entry = pgstat_fetch_stat_tabentry_ext(false, relation_oid, &may_free);
#else
	PgStat_StatTabEntry *entry = pgstat_fetch_stat_tabentry_ext(false, relation_oid);
#endif

	if (entry == NULL)
		return false;
	stats->reset_at = 0;
	stats->scans = entry->numscans;
	stats->tuples_returned = entry->tuples_returned;
	stats->tuples_inserted = entry->tuples_inserted;
	stats->tuples_updated = entry->tuples_updated;
	stats->tuples_deleted = entry->tuples_deleted;
	stats->tuples_hot_updated = entry->tuples_hot_updated;
	stats->blocks_fetched = entry->blocks_fetched;
	stats->blocks_hit = entry->blocks_hit;
#if PG_VERSION_NUM >= 160000
	stats->live_tuples = entry->live_tuples;
	stats->last_scan_at = entry->lastscan;
	stats->vacuums = entry->vacuum_count + entry->autovacuum_count;
	stats->maintenance = stats->vacuums + entry->analyze_count + entry->autoanalyze_count;
#else
	stats->live_tuples = entry->n_live_tuples;
	stats->last_scan_at = 0;
	stats->vacuums = entry->vacuum_count + entry->autovac_vacuum_count;
	stats->maintenance = stats->vacuums + entry->analyze_count + entry->autovac_analyze_count;
#endif
#if PG_VERSION_NUM >= 190000
	stats->reset_at = entry->stat_reset_time;
	if (may_free)
		pfree(entry);
#endif
	return true;
}

/* 16 renamed the counters of a database. */
static inline int64
tier_compat_database_blocks_read(const PgStat_StatDBEntry *entry)
{
#if PG_VERSION_NUM >= 160000
	return entry->blocks_fetched - entry->blocks_hit;
#else
	return entry->n_blocks_fetched - entry->n_blocks_hit;
#endif
}

static inline int64
tier_compat_database_temp_bytes(const PgStat_StatDBEntry *entry)
{
#if PG_VERSION_NUM >= 160000
	return entry->temp_bytes;
#else
	return entry->n_temp_bytes;
#endif
}

/*
 * Up to 15 the counters take a block that is added to a relation for one that
 * was read and missed the buffers; 16 extends relations without counting.
 */
#if PG_VERSION_NUM >= 160000
#define TIER_COMPAT_EXTENSION_COUNTS_AS_MISS false
#else
#define TIER_COMPAT_EXTENSION_COUNTS_AS_MISS true
#endif

/* Blocks of a relation that this process has asked for, and not yet handed on. */
typedef struct TierCompatBlockCounts
{
	int64		fetched;
	int64		hit;
	int64		scans;
	int64		tuples;			/* that scans have returned */
} TierCompatBlockCounts;

/* 16 took the prefixes off the names of the fields. */
static inline void
tier_compat_block_counts(const PgStat_TableStatus *status, TierCompatBlockCounts *counts)
{
#if PG_VERSION_NUM >= 160000
	counts->fetched = status->counts.blocks_fetched;
	counts->hit = status->counts.blocks_hit;
	counts->scans = status->counts.numscans;
	counts->tuples = status->counts.tuples_returned;
#else
	counts->fetched = status->t_counts.t_blocks_fetched;
	counts->hit = status->t_counts.t_blocks_hit;
	counts->scans = status->t_counts.t_numscans;
	counts->tuples = status->t_counts.t_tuples_returned;
#endif
}

/* All 0 when the relation is not connected with its counters. */
static inline void
tier_compat_relation_block_counts(Relation rel, TierCompatBlockCounts *counts)
{
	if (rel->pgstat_info != NULL)
		tier_compat_block_counts(rel->pgstat_info, counts);
	else
		memset(counts, 0, sizeof(TierCompatBlockCounts));
}

/*
 * The same by OID, for a relation of this database that need not be open.  (16
 * made find_tabstat_entry() return a copy that it allocates.)
 */
static inline void
tier_compat_pending_block_counts(Oid relation_oid, TierCompatBlockCounts *counts)
{
	PgStat_EntryRef *entry = pgstat_fetch_pending_entry(PGSTAT_KIND_RELATION, MyDatabaseId,
														relation_oid);

	if (entry != NULL)
		tier_compat_block_counts(entry->pending, counts);
	else
		memset(counts, 0, sizeof(TierCompatBlockCounts));
}

/*
 * Whether the buffer counts of a session grow at the same time as those of the relation, or
 * earlier.  From 17 on a read that has only begun is counted for the relation alone.
 */
#define TIER_COMPAT_BUFFER_USAGE_IS_PROMPT (PG_VERSION_NUM < 170000)

/*
 * Returns true if the kernel counts the reads of a session for the session itself.  From 18 on
 * other processes read ahead for it (in a read stream), unless io_method says otherwise.  With
 * io_uring the kernel reads on behalf of the session.
 */
static inline bool
tier_compat_reads_ahead_are_own(void)
{
#if PG_VERSION_NUM >= 180000
#ifdef IOMETHOD_IO_URING_ENABLED
	if (io_method == IOMETHOD_IO_URING)
		return true;
#endif
	return io_method == IOMETHOD_SYNC;
#else
	return true;
#endif
}

/* From 18 on: processes that read for others, if io_method says so. */
#if PG_VERSION_NUM >= 180000
#define TIER_COMPAT_HAS_IO_WORKERS
#endif

/*
 * The status of a process in shared memory, 0 to MaxBackends - 1; from 17 on those of
 * auxiliary processes follow.  The array is known by our own entry only; 17 numbers
 * backends by their PGPROC.
 */
static inline volatile PgBackendStatus *
tier_compat_backend_entry(int i)
{
#if PG_VERSION_NUM >= 170000
	return MyBEEntry - MyProcNumber + i;
#else
	return MyBEEntry - (MyBackendId - 1) + i;
#endif
}

/* Whether a slot is invalidated and retains no WAL.  From 16 on there is more than one cause. */
#if PG_VERSION_NUM >= 160000
#define TIER_COMPAT_SLOT_IS_INVALID(slot) ((slot)->data.invalidated != RS_INVAL_NONE)
#else
#define TIER_COMPAT_SLOT_IS_INVALID(slot) (!XLogRecPtrIsInvalid((slot)->data.invalidated_at))
#endif

/*
 * SQL expressions for counters of the server.  17 added pg_stat_checkpointer and left writes
 * by backends to pg_stat_io; 18 moved writes of WAL there.  In the first of these expressions
 * w is pg_stat_get_wal().
 */
#if PG_VERSION_NUM >= 180000
#define TIER_COMPAT_SQL_WAL_WRITES \
	"SELECT sum(writes) FROM pg_catalog.pg_stat_io WHERE object = 'wal'"
#else
#define TIER_COMPAT_SQL_WAL_WRITES "w.wal_write"
#endif
#if PG_VERSION_NUM >= 170000
#define TIER_COMPAT_SQL_CHECKPOINTS_TIMED "pg_catalog.pg_stat_get_checkpointer_num_timed()"
#define TIER_COMPAT_SQL_CHECKPOINTS_REQUESTED "pg_catalog.pg_stat_get_checkpointer_num_requested()"
#define TIER_COMPAT_SQL_BUFFERS_CHECKPOINTER \
	"pg_catalog.pg_stat_get_checkpointer_buffers_written()"
#define TIER_COMPAT_SQL_BUFFERS_BACKENDS \
	"SELECT sum(COALESCE(writes, 0) + COALESCE(extends, 0)) FROM pg_catalog.pg_stat_io " \
	"WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer')"
#else
#define TIER_COMPAT_SQL_CHECKPOINTS_TIMED "pg_catalog.pg_stat_get_bgwriter_timed_checkpoints()"
#define TIER_COMPAT_SQL_CHECKPOINTS_REQUESTED \
	"pg_catalog.pg_stat_get_bgwriter_requested_checkpoints()"
#define TIER_COMPAT_SQL_BUFFERS_CHECKPOINTER \
	"pg_catalog.pg_stat_get_bgwriter_buf_written_checkpoints()"
#define TIER_COMPAT_SQL_BUFFERS_BACKENDS "pg_catalog.pg_stat_get_buf_written_backend()"
#endif

/* ---------------------------------------------------------------------
 * Executor
 * ---------------------------------------------------------------------
 */

/* 18 dropped execute_once from ExecutorRun. */
#if PG_VERSION_NUM >= 180000
#define TIER_COMPAT_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count
#define TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS query, direction, count
#define TIER_COMPAT_EXECUTOR_RUN_NOTHING query, NoMovementScanDirection, 0
#else
#define TIER_COMPAT_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once
#define TIER_COMPAT_EXECUTOR_RUN_ARGUMENTS query, direction, count, execute_once
#define TIER_COMPAT_EXECUTOR_RUN_NOTHING query, NoMovementScanDirection, 0, false
#endif

#if PG_VERSION_NUM >= 180000
#define tier_compat_executor_run(query) ExecutorRun(query, ForwardScanDirection, 0)
#else
#define tier_compat_executor_run(query) ExecutorRun(query, ForwardScanDirection, 0, true)
#endif

/* From 18 on extensions add options to EXPLAIN; 19 also has them checked for settings. */
#define TIER_COMPAT_HAS_EXPLAIN_OPTIONS (PG_VERSION_NUM >= 180000)
#if PG_VERSION_NUM >= 190000
#define tier_compat_register_explain_option(name, handler) \
	RegisterExtensionExplainOption(name, handler, GUCCheckBooleanExplainOption)
#elif PG_VERSION_NUM >= 180000
#define tier_compat_register_explain_option(name, handler) \
	RegisterExtensionExplainOption(name, handler)
#endif

/* Of what a node, or one worker's part of it, was measured by.  19 nests it. */
#if PG_VERSION_NUM >= 190000
#define TIER_COMPAT_BUFFER_USAGE(instrument) ((instrument)->instr.bufusage)
#else
#define TIER_COMPAT_BUFFER_USAGE(instrument) ((instrument)->bufusage)
#endif

/* ---------------------------------------------------------------------
 * Planner
 * ---------------------------------------------------------------------
 */

/*
 * The hook that changes the planner's data on a relation and its indexes.  19 calls it for
 * every entry of the range table; before 19, only for relations.
 */
#if PG_VERSION_NUM >= 190000
#define TierCompatRelationHook build_simple_rel_hook_type
#define tier_compat_relation_hook build_simple_rel_hook
#define TIER_COMPAT_RELATION_HOOK_PARAMETERS \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *entry
#define TIER_COMPAT_RELATION_HOOK_ARGUMENTS root, rel, entry
#define TIER_COMPAT_RELATION_HOOK_OID (entry->rtekind == RTE_RELATION ? entry->relid : InvalidOid)
#else
#define TierCompatRelationHook get_relation_info_hook_type
#define tier_compat_relation_hook get_relation_info_hook
#define TIER_COMPAT_RELATION_HOOK_PARAMETERS \
	PlannerInfo *root, Oid relation_oid, bool inhparent, RelOptInfo *rel
#define TIER_COMPAT_RELATION_HOOK_ARGUMENTS root, relation_oid, inhparent, rel
#define TIER_COMPAT_RELATION_HOOK_OID relation_oid
#endif

/*
 * Memory for the data that a check hook passes to its assign hook; NULL: out of memory.  From
 * 16 on the server frees it.
 */
static inline void *
tier_compat_setting_extra(Size size)
{
#if PG_VERSION_NUM >= 160000
	return guc_malloc(LOG, size);
#else
	return malloc(size);
#endif
}

/* ---------------------------------------------------------------------
 * Catalogs
 * ---------------------------------------------------------------------
 */

/*
 * The lock that an updater of pg_class takes on a row before reading it; since 15.9, 16.5, 17.1.
 */
#ifndef InplaceUpdateTupleLock
#define InplaceUpdateTupleLock ExclusiveLock
#endif

/*
 * datconnlimit of the remains of an interrupted DROP DATABASE; since 15.4 such a database
 * accepts no connections.
 */
#ifdef DATCONNLIMIT_INVALID_DB
#define TIER_COMPAT_INVALID_DATABASE DATCONNLIMIT_INVALID_DB
#else
#define TIER_COMPAT_INVALID_DATABASE (-2)
#endif

/* ---------------------------------------------------------------------
 * Locks
 * ---------------------------------------------------------------------
 */

/*
 * Returns true if this process holds the lock in exactly that mode.  17 can check for stronger
 * modes, too.
 */
static inline bool
tier_compat_lock_is_held(const LOCKTAG *tag, LOCKMODE mode)
{
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(tag, mode, false);
#else
	return LockHeldByMe(tag, mode);
#endif
}

/* ---------------------------------------------------------------------
 * Privileges
 * ---------------------------------------------------------------------
 */

/*
 * 16 replaced pg_tablespace_aclcheck, pg_class_ownercheck and pg_proc_aclcheck by general
 * functions, which take an object that has been dropped for an internal error.  These
 * functions return false for such an object.
 */
static inline bool
tier_compat_may_create_in_tablespace(Oid tablespace_oid, Oid role_oid)
{
	if (!SearchSysCacheExists1(TABLESPACEOID, ObjectIdGetDatum(tablespace_oid)))
		return false;
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(TableSpaceRelationId, tablespace_oid, role_oid,
						   ACL_CREATE) == ACLCHECK_OK;
#else
	return pg_tablespace_aclcheck(tablespace_oid, role_oid, ACL_CREATE) == ACLCHECK_OK;
#endif
}

static inline bool
tier_compat_owns_relation(Oid relation_oid, Oid role_oid)
{
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation_oid)))
		return false;
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation_oid, role_oid);
#else
	return pg_class_ownercheck(relation_oid, role_oid);
#endif
}

static inline bool
tier_compat_may_execute(Oid function_oid, Oid role_oid)
{
	if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function_oid)))
		return false;
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function_oid, role_oid,
						   ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function_oid, role_oid, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/* ---------------------------------------------------------------------
 * Background workers
 * ---------------------------------------------------------------------
 */

/*
 * 19 lets CREATE, ALTER and DROP DATABASE end a worker that is in their way,
 * if it says that it does not mind.
 */
#ifdef BGWORKER_INTERRUPTIBLE
#define TIER_COMPAT_WORKER_FLAGS BGWORKER_INTERRUPTIBLE
#else
#define TIER_COMPAT_WORKER_FLAGS 0
#endif

/* 17 can limit transactions, and a long move is one. */
#if PG_VERSION_NUM >= 170000
#define TIER_COMPAT_TRANSACTION_TIMEOUT "transaction_timeout"
#else
#define TIER_COMPAT_TRANSACTION_TIMEOUT "statement_timeout"
#endif

/* The current value; 0: no limit. */
static inline int
tier_compat_transaction_timeout_ms(void)
{
#if PG_VERSION_NUM >= 170000
	return TransactionTimeout;
#else
	return 0;
#endif
}

/* ---------------------------------------------------------------------
 * Processes
 * ---------------------------------------------------------------------
 */

/*
 * The process that had this virtual transaction ID; it may have another one by
 * now.  NULL when it has ended.  17 numbers backends by their PGPROC.
 */
static inline PGPROC *
tier_compat_process_of(VirtualTransactionId vxid)
{
#if PG_VERSION_NUM >= 170000
	return ProcNumberGetProc(vxid.procNumber);
#else
	return BackendIdGetProc(vxid.backendId);
#endif
}

/* ---------------------------------------------------------------------
 * Shared buffers
 * ---------------------------------------------------------------------
 */

/* 16 replaced the RelFileNode in the tag by its three parts. */
static inline Oid
tier_compat_buffer_tag_tablespace(const BufferTag *tag)
{
#if PG_VERSION_NUM >= 160000
	return tag->spcOid;
#else
	return tag->rnode.spcNode;
#endif
}

static inline Oid
tier_compat_buffer_tag_database(const BufferTag *tag)
{
#if PG_VERSION_NUM >= 160000
	return tag->dbOid;
#else
	return tag->rnode.dbNode;
#endif
}

static inline RelFileNumber
tier_compat_buffer_tag_file_number(const BufferTag *tag)
{
#if PG_VERSION_NUM >= 160000
	return BufTagGetRelNumber(tag);
#else
	return tag->rnode.relNode;
#endif
}

static inline ForkNumber
tier_compat_buffer_tag_fork(const BufferTag *tag)
{
#if PG_VERSION_NUM >= 160000
	return BufTagGetForkNum(tag);
#else
	return tag->forkNum;
#endif
}

/* 19 widened the state word to 64 bits. */
static inline uint64
tier_compat_buffer_state(BufferDesc *buffer)
{
#if PG_VERSION_NUM >= 190000
	return pg_atomic_read_u64(&buffer->state);
#else
	return pg_atomic_read_u32(&buffer->state);
#endif
}

/*
 * The part of the state word that pins, unpins and content locks do not change.  19 moved the
 * content lock into the word.
 */
static inline uint64
tier_compat_buffer_state_without_users(uint64 state)
{
#if PG_VERSION_NUM >= 190000
	return state & ~(uint64) (BUF_REFCOUNT_MASK | BM_LOCK_MASK |
							  BM_LOCK_HAS_WAITERS | BM_LOCK_WAKE_IN_PROGRESS |
							  BM_PIN_COUNT_WAITER);
#else
	return state & ~(uint64) (BUF_REFCOUNT_MASK | BM_PIN_COUNT_WAITER);
#endif
}

/* ---------------------------------------------------------------------
 * Transactions
 * ---------------------------------------------------------------------
 */

/* 17 put it into a struct. */
#if PG_VERSION_NUM >= 170000
#define TIER_COMPAT_LXID(proc) ((proc)->vxid.lxid)
#else
#define TIER_COMPAT_LXID(proc) ((proc)->lxid)
#endif

/*
 * The number of transactions with an ID that have ended since the start; 17 renamed the
 * variable.
 */
#if PG_VERSION_NUM >= 170000
#define TIER_COMPAT_XACT_COMPLETION_COUNT (TransamVariables->xactCompletionCount)
#else
#define TIER_COMPAT_XACT_COMPLETION_COUNT (ShmemVariableCache->xactCompletionCount)
#endif

/* ---------------------------------------------------------------------
 * Settings
 * ---------------------------------------------------------------------
 */

/* 17 renamed the group of settings for other platforms. */
#if PG_VERSION_NUM >= 170000
#define TIER_COMPAT_OPTIONS_OTHER COMPAT_OPTIONS_OTHER
#else
#define TIER_COMPAT_OPTIONS_OTHER COMPAT_OPTIONS_CLIENT
#endif

/* 16 keeps them in a hash table, and returns a copy. */
static inline struct config_generic **
tier_compat_guc_variables(int *n)
{
#if PG_VERSION_NUM >= 160000
	return get_guc_variables(n);
#else
	*n = GetNumConfigOptions();
	return get_guc_variables();
#endif
}

/*
 * The value that the server is built with, as GetConfigOption() would have it; in the
 * current memory context, or NULL.  19 made the type's struct a part of the generic one.
 */
#if PG_VERSION_NUM >= 190000
#define TIER_COMPAT_GUC(setting, type) (&(setting)->_##type)
#else
#define TIER_COMPAT_GUC(setting, type) ((struct config_##type *) (setting))
#endif
static inline const char *
tier_compat_boot_value(struct config_generic *setting)
{
	switch (setting->vartype)
	{
		case PGC_BOOL:
			return TIER_COMPAT_GUC(setting, bool)->boot_val ? "on" : "off";
		case PGC_INT:
			return psprintf("%d", TIER_COMPAT_GUC(setting, int)->boot_val);
		case PGC_REAL:
			return psprintf("%g", TIER_COMPAT_GUC(setting, real)->boot_val);
		case PGC_STRING:
			return TIER_COMPAT_GUC(setting, string)->boot_val;
		case PGC_ENUM:
#if PG_VERSION_NUM >= 190000
			return config_enum_lookup_by_value(setting, setting->_enum.boot_val);
#else
			return config_enum_lookup_by_value((struct config_enum *) setting,
											   ((struct config_enum *) setting)->boot_val);
#endif
	}
	return NULL;
}

/* ---------------------------------------------------------------------
 * Emptying a table
 * ---------------------------------------------------------------------
 */

/*
 * Puts an empty file in place of that of a relation, which is locked; and builds the indexes of
 * a table and of its TOAST table anew, with a ReindexParams.
 */
#if PG_VERSION_NUM >= 160000
#define tier_compat_new_file(relation) \
	RelationSetNewRelfilenumber(relation, (relation)->rd_rel->relpersistence)
#else
#define tier_compat_new_file(relation) \
	RelationSetNewRelfilenode(relation, (relation)->rd_rel->relpersistence)
#endif
#if PG_VERSION_NUM >= 170000
#define tier_compat_reindex(relation_oid, params) \
	((void) reindex_relation(NULL, relation_oid, REINDEX_REL_PROCESS_TOAST, params))
#else
#define tier_compat_reindex(relation_oid, params) \
	((void) reindex_relation(relation_oid, REINDEX_REL_PROCESS_TOAST, params))
#endif

/* ---------------------------------------------------------------------
 * Publications
 * ---------------------------------------------------------------------
 */

/* Those that name the relation, by OID; 19 knows publications that except some, too. */
#if PG_VERSION_NUM >= 190000
#define tier_compat_relation_publications(relation_oid) \
	GetRelationIncludedPublications(relation_oid)
#else
#define tier_compat_relation_publications(relation_oid) GetRelationPublications(relation_oid)
#endif

/* ---------------------------------------------------------------------
 * Functions that return sets
 * ---------------------------------------------------------------------
 */

/*
 * 15.1 renamed SetSingleFuncCall.  All of 15 has the old name, so that a
 * library built with 15.1 or newer loads into 15.0, too.  19 spells the type
 * of the flags uint32.
 */
static inline void
tier_compat_init_materialized_srf(FunctionCallInfo fcinfo, uint32 flags)
{
#if PG_VERSION_NUM >= 160000
	InitMaterializedSRF(fcinfo, flags);
#else
	SetSingleFuncCall(fcinfo, flags);
#endif
}

#endif							/* TIER_COMPAT_H */
