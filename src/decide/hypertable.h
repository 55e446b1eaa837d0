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

#include "nodes/primnodes.h"
#include "utils/hsearch.h"

/*
 * The column by whose time chunks are made.  False: this is no hypertable, or a function of the
 * column makes them.
 */
extern bool tier_hypertable_column(Oid relation_oid, NameData *column);

/*
 * The constants (Const) of a base type that CHECK constraints of a chunk have a column at or
 * above, and below, in no order: a user's own constraint of the hypertable is among them.  NIL:
 * unbounded.  Current memory context.
 */
extern void tier_hypertable_bounds(Oid chunk_oid, const char *column, Oid type_oid,
								   List **lowers,
								   List **uppers);

/* The table with the compressed rows of a chunk. */
typedef struct TierCompressedChunk
{
	Oid			chunk_oid;		/* hash key */
	Oid			table_oid;
} TierCompressedChunk;

/* All of them, in the current memory context; NULL: there is no TimescaleDB. */
extern HTAB *tier_hypertable_compressed(void);

#endif							/* TIER_HYPERTABLE_H */
