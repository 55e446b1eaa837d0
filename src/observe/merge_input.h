/*-------------------------------------------------------------------------
 *
 * observe/merge_input.h
 *		The input of the merge of a sample.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MERGE_INPUT_H
#define TIER_MERGE_INPUT_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/relation_state.h"
#include "src/observe/access_counts.h"

/* The data that the relations of a sample are merged with. */
typedef struct TierMergeInput
{
	const TierRelationState *last;	/* as the last sample left them, by OID */
	int			nlast;
	TimestampTz last_sample_at; /* 0: there was none */
	TimestampTz now;
	bool		by_another_server;	/* counted, since a failover, a restore or
									 * an upgrade: no counter has grown from
									 * that of the last sample */
	const TierAccessTaken *taken;	/* what plans read since the last sample */
	bool		carry;			/* what the counters do not know yet of that
								 * is kept for the next sample */
} TierMergeInput;

#endif							/* TIER_MERGE_INPUT_H */
