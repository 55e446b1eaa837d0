/*-------------------------------------------------------------------------
 *
 * observe/collect.h
 *		The first step of a sample: the current counters of all relations.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COLLECT_H
#define TIER_COLLECT_H

#include "postgres.h"

#include "src/model/relation_state.h"

/*
 * All permanent and unlogged tables, indexes, TOAST tables and materialized views of the
 * current database that are neither system catalogs nor our own, ordered by OID: id, counters,
 * vacuums and buffers.  See relation_state.h for the other fields.  AccessShareLock on
 * pg_class and pg_index only.  Result in the current memory context.
 */
extern TierRelationState *tier_collect(int *nstates);

/* The relation in an array that is ordered by OID; NULL: it is not there. */
extern TierRelationState *tier_collect_find(TierRelationState *states, int nstates,
											Oid relation_oid);

#endif							/* TIER_COLLECT_H */
