/*-------------------------------------------------------------------------
 *
 * observe/writes.h
 *		Page writes and WAL of relations, counted from the WAL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WRITES_H
#define TIER_WRITES_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/page_writes.h"
#include "src/model/relation_state.h"

typedef struct TierWrites TierWrites;

/*
 * Inside a scope and with the sampler locked, before the states are loaded and the relations
 * collected: flushes the WAL, up to where it will be read, and looks up where the last sample
 * ended.  If there is no such position, all rates of writes start again from zero.  The result
 * is in the current memory context.
 */
extern TierWrites *tier_writes_begin(TimestampTz now);

/*
 * Reads the WAL between, or a part of it, and fills in period.writes of the current relations;
 * `last`: their states after the last sample.  Both arrays by OID.  WAL that was removed is no
 * error: the rest of it then stands for all.  Checks for interrupts.
 */
extern void tier_writes_count(TierWrites *writes,
							  TierRelationState *current, int ncurrent,
							  const TierRelationState *last, int nlast);

/* Inside the scope, after the sample's row was written: remembers the place. */
extern void tier_writes_end(TierWrites *writes);

#endif							/* TIER_WRITES_H */
