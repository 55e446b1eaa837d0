/*-------------------------------------------------------------------------
 *
 * observe/query_reads.h
 *		Reads from below shared buffers, by query and relation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_QUERY_READS_H
#define TIER_QUERY_READS_H

#include "postgres.h"

/* The misses of one query in one relation, in blocks. */
typedef struct TierQueryRead
{
	Oid			relation_oid;
	double		random;
	double		sequential;
} TierQueryRead;

/* Reserves and attaches to the shared memory; only while preloading. */
extern void tier_query_reads_init(void);

/*
 * Adds the misses of so many calls of a query of the current user (0: of a parallel worker of
 * a call).  A query without misses takes no entry.  If another process has the entry locked at
 * this moment, the reads are not counted.  Never waits; no error, no memory, no catalog: may
 * be called in an abort.  Does nothing without shared memory or a query identifier.
 */
extern void tier_query_reads_add(int64 query_id, double calls, const TierQueryRead *reads, int n);

#endif							/* TIER_QUERY_READS_H */
