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

#include "catalog/pg_tablespace.h"
#include "common/relpath.h"
#include "datatype/timestamp.h"
#include "funcapi.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/buf_internals.h"
#include "utils/acl.h"
#include "utils/relmapper.h"

#if PG_VERSION_NUM < 150000
#error "tiered_storage needs PostgreSQL 15 or newer"
#endif

/* ---------------------------------------------------------------------
 * Relation files
 * ---------------------------------------------------------------------
 */

/* 16 gave the number of a relation's file a type of its own. */
#if PG_VERSION_NUM < 160000
typedef Oid RelFileNumber;
#endif

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

/* ---------------------------------------------------------------------
 * Cumulative statistics
 * ---------------------------------------------------------------------
 */

/* What we read of a table's or index's entry. */
typedef struct TierCompatTableStats
{
	int64		scans;
	int64		tuples_returned;
	int64		tuples_inserted;
	int64		tuples_updated;
	int64		tuples_deleted;
	int64		tuples_hot_updated;
	int64		blocks_fetched;
	int64		blocks_hit;
} TierCompatTableStats;

/*
 * False when there is no entry.  15 to 19 keep tables and indexes in entries of
 * one kind; is_index is for the day when they do not.  19 says whether the
 * entry may be freed; before, it goes with the caller's memory context.
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
	stats->scans = entry->numscans;
	stats->tuples_returned = entry->tuples_returned;
	stats->tuples_inserted = entry->tuples_inserted;
	stats->tuples_updated = entry->tuples_updated;
	stats->tuples_deleted = entry->tuples_deleted;
	stats->tuples_hot_updated = entry->tuples_hot_updated;
	stats->blocks_fetched = entry->blocks_fetched;
	stats->blocks_hit = entry->blocks_hit;
#if PG_VERSION_NUM >= 190000
	if (may_free)
		pfree(entry);
#endif
	return true;
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

/* ---------------------------------------------------------------------
 * Privileges
 * ---------------------------------------------------------------------
 */

/* 16 replaced pg_tablespace_aclcheck and pg_class_ownercheck by general functions. */
static inline bool
tier_compat_may_create_in_tablespace(Oid tablespace_oid, Oid role_oid)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(TableSpaceRelationId, tablespace_oid, role_oid, ACL_CREATE) == ACLCHECK_OK;
#else
	return pg_tablespace_aclcheck(tablespace_oid, role_oid, ACL_CREATE) == ACLCHECK_OK;
#endif
}

static inline bool
tier_compat_owns_relation(Oid relation_oid, Oid role_oid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation_oid, role_oid);
#else
	return pg_class_ownercheck(relation_oid, role_oid);
#endif
}

static inline bool
tier_compat_may_execute(Oid function_oid, Oid role_oid)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function_oid, role_oid, ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function_oid, role_oid, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/* ---------------------------------------------------------------------
 * Times
 * ---------------------------------------------------------------------
 */

/* 17 brought infinite intervals. */
static inline bool
tier_compat_interval_is_infinite(const Interval *interval)
{
#if PG_VERSION_NUM >= 170000
	return INTERVAL_NOT_FINITE(interval);
#else
	return false;
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
 * The part of the state word that does not change merely because somebody
 * pins, unpins or locks the page.  19 moved the content lock into the word.
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
