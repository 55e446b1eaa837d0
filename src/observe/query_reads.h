/*-------------------------------------------------------------------------
 *
 * observe/query_reads.h
 *		Which queries read from below shared buffers, and of which relations.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_QUERY_READS_H
#define TIER_QUERY_READS_H

#include "postgres.h"

/* What one query has missed of one relation, in blocks. */
typedef struct TierQueryRead
{
	Oid			relation_oid;
	double		random;
	double		sequential;
} TierQueryRead;

/* Reserves and attaches to the shared memory; only while preloading. */
extern void tier_query_reads_init(void);

/*
 * So many calls of a query of the current user (0: a parallel worker of one) have missed that.
 * A query that has never missed anything takes no place.  Where somebody else is at the same
 * place at this moment, it is not counted.  Never waits; no error, no memory, no catalog:
 * may be called in an abort.  Nothing without shared memory or a query identifier.
 */
extern void tier_query_reads_add(int64 query_id, double calls, const TierQueryRead *reads, int n);

#endif							/* TIER_QUERY_READS_H */
