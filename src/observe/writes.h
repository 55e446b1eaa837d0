/*-------------------------------------------------------------------------
 *
 * observe/writes.h
 *		Which relations write: pages and WAL, as the WAL tells it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WRITES_H
#define TIER_WRITES_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "src/model/page_writes.h"
#include "src/observe/sample.h"

/* What one sample leaves for the next: a part of the only row of sampler. */
typedef struct TierWritesMemory
{
	XLogRecPtr	position;		/* what was written before was looked at;
								 * invalid: the WAL is not looked at */
	TimestampTz since;			/* looked at since then; 0: it is not */

	/* Of the last sample. */
	int64		wal_bytes;		/* written by the server */
	int64		read_bytes;		/* of these, read */
	double		scale;			/* counts were multiplied by this; 0: nothing
								 * was read */
	int64		unattributed_bytes; /* of no relation that is sampled */

	/*
	 * Pages changed since the checkpoint that began at `redo`, while
	 * full_page_writes is off; else has_pages is false.
	 */
	bool		has_pages;
	XLogRecPtr	redo;
	TierPageSet pages;
} TierWritesMemory;

typedef struct TierWrites TierWrites;

/*
 * Inside a scope and with the sampler locked, before the states are loaded and
 * the relations collected: flushes the WAL, up to where it will be read, and
 * looks up where the last sample ended.  With tiered_storage.wal_sample_size =
 * 0 it forgets that.  Where there is no such place, all rates of writes start
 * anew from zero.  Lives in the current context.
 */
extern TierWrites *tier_writes_begin(TimestampTz now);

/*
 * Reads the WAL between, or the part of it that tiered_storage.wal_sample_size
 * allows, and fills in `writes` of the current relations.  Both arrays by OID.
 * WAL that cannot be read any more is no error: what is left of it then stands
 * for all.  Checks for interrupts.
 */
extern void tier_writes_count(TierWrites *writes,
							  TierRelationState *current, int ncurrent,
							  const TierRelationState *stored, int nstored);

/* Inside the scope, after the sample's row was written: remembers the place. */
extern void tier_writes_end(TierWrites *writes);

#endif							/* TIER_WRITES_H */
