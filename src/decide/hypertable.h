/*-------------------------------------------------------------------------
 *
 * decide/hypertable.h
 *		Hypertables of TimescaleDB: key, bounds of chunks, compressed rows.
 *
 * All functions read catalogs only.  Error: a catalog of TimescaleDB is locked, or is not as
 * expected.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_HYPERTABLE_H
#define TIER_HYPERTABLE_H

#include "postgres.h"

#include "utils/hsearch.h"

#include "src/decide/partition_key.h"

/*
 * The column by whose time chunks are made.  False: this is no hypertable, or a function of the
 * column makes them.
 */
extern bool tier_hypertable_read_key(Oid relation_oid, TierTableKey *key);

/*
 * The constants that the CHECK constraints of a chunk have its key at or above, and below; the
 * tightest is not sought, since TimescaleDB makes one of each.  NULL: unbounded.  Current memory
 * context.
 */
extern void tier_hypertable_bounds(Oid chunk_oid, const TierPartitionKey *key,
								   const Const **lower, const Const **upper);

/* The table with the compressed rows of a chunk. */
typedef struct TierCompressedChunk
{
	Oid			chunk_oid;		/* hash key */
	Oid			table_oid;
} TierCompressedChunk;

/* All of them, in the current memory context; NULL: there is no TimescaleDB. */
extern HTAB *tier_hypertable_compressed(void);

#endif							/* TIER_HYPERTABLE_H */
