/*-------------------------------------------------------------------------
 *
 * observe/sample.h
 *		Samples: the activity of each relation since the last sample.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SAMPLE_H
#define TIER_SAMPLE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/base/left_out.h"
#include "src/catalog/tables.h"
#include "src/model/device_state.h"
#include "src/model/relation_state.h"


/* The results of the last sample, by OID of the relation. */
typedef struct TierSampleMemory
{
	TierRelationState *states;
	int			nstates;
	TimestampTz sampled_at;		/* 0: there was none */
	TierCountsOrigin origin;	/* needed only if the origin of the view is
								 * used */
} TierSampleMemory;

/* The state of all relations at one moment. */
typedef struct TierSampleView
{
	TierRelationState *states;	/* by OID */
	int			nstates;
	TimestampTz since;			/* see TierMergeResult; 0: without memory */
	TimestampTz at;
	bool		saw_reset;		/* counters went backwards */
	TierCountsOrigin origin;
	TierPass	pass;			/* of the sample: failures so far */
} TierSampleView;

struct TierWrites;

/*
 * The steps from collect to correct (see model/relation_state.h), for all
 * relations that tier_collect finds.  After them the states can be stored, or an
 * advice be based on them.  Without memory, the counters are taken as what
 * happened since the statistics began.  Without devices, the last step is left
 * out, and the rates device_* stay as they were.
 *
 * With writes this is the sample itself, inside a scope and with the sampler locked:
 * what standbys and plans have read is taken, so that no other sample gets it.
 * Without, nothing is changed, and reads of standbys and page writes since the last
 * sample are not counted.
 *
 * AccessShareLock on pg_class and pg_index only; no lock on any relation of a
 * user.  Result in the current memory context.
 */
extern TierSampleView tier_sample_look(const TierSampleMemory *memory, const TierDevices *devices,
									   struct TierWrites *writes);

/* The input of the steps after a sample. */
typedef struct TierSampleResult
{
	TimestampTz sampled_at;
	TierDevices *devices;
	Oid		   *gone;			/* relations that were dropped, or moved since
								 * the last sample or our last move */
	int			ngone;
} TierSampleResult;

/*
 * Takes a sample of the current database inside the caller's transaction, outside
 * of any scope.  False when another transaction has the sampler locked and has not
 * ended after patience_ms; -1: waits for it as for any lock.  The sampler stays
 * locked to the end of the transaction.  Everything it has allocated, the result
 * included, stays in the current memory context.
 */
extern bool tier_sample_run(int patience_ms, TierSampleResult *result);

#endif							/* TIER_SAMPLE_H */
