/*-------------------------------------------------------------------------
 *
 * observe/rebuilt.h
 *		Remembered states of indexes that were rebuilt under another OID.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_REBUILT_H
#define TIER_REBUILT_H

#include "postgres.h"

#include "src/model/relation_state.h"
#include "src/observe/merge_input.h"

/* Indexes of the last sample that have gone since, or are about to go. */
typedef struct TierGoneIndexes
{
	const TierRelationState **states;
	int			n;				/* NULL among them: it was found again */
} TierGoneIndexes;

/* Both are by OID; in the current memory context. */
extern TierGoneIndexes tier_rebuilt_gone(TierRelationState *states, int nstates,
										 const TierMergeInput *input);

/*
 * The remembered state of a relation, of which the last sample has seen `same` (NULL:
 * nothing).  Returns NULL if there is none; its counters have then grown from those of
 * *origin, which the caller has set to zeros.
 *
 * While an index is being rebuilt, there are two: the new one is invalid until it takes over
 * the name and the counters of the old one, which is invalid from then on.  An index whose
 * successor has been found is removed from `gone`, and named in state->period.rebuilt_from.
 */
extern const TierRelationState *tier_rebuilt_before(TierRelationState *state,
													const TierRelationState *same,
													TierGoneIndexes *gone,
													const TierCounters **origin);

#endif							/* TIER_REBUILT_H */
