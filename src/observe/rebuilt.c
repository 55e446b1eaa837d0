/*-------------------------------------------------------------------------
 *
 * observe/rebuilt.c
 *		Remembered states of indexes that were rebuilt under another OID.
 *
 * REINDEX CONCURRENTLY makes a new index beside the old one, and gives it the name and
 * the counters of that in the end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"

#include "src/observe/collect.h"
#include "src/observe/rebuilt.h"

/* Returns true if the index cannot be used: not yet, or not after its rebuild. */
static bool
is_invalid(const TierRelationState *state)
{
	return state->id.kind == RELKIND_INDEX && state->id.name_hash == TIER_INDEX_IS_INVALID;
}

TierGoneIndexes
tier_rebuilt_gone(TierRelationState *states, int nstates, const TierMergeInput *input)
{
	TierGoneIndexes gone = {NULL, 0};

	for (int j = 0; j < input->nlast; j++)
	{
		const TierRelationState *last = &input->last[j];
		const TierRelationState *now;

		if (last->id.kind != RELKIND_INDEX)
			continue;
		now = tier_collect_find(states, nstates, last->id.relation_oid);
		if (now != NULL && (!is_invalid(now) || is_invalid(last)))
			continue;
		if (gone.states == NULL)
			gone.states = palloc_extended(sizeof(TierRelationState *) * input->nlast,
										  MCXT_ALLOC_HUGE);
		gone.states[gone.n++] = last;
	}
	return gone;
}

/* By how much these counters have grown to those; negative: they cannot have. */
static double
distance(const TierCounters *then, const TierCounters *now)
{
	if (then->reset_at != now->reset_at || then->scans > now->scans ||
		then->tuples_read > now->tuples_read || then->blocks_fetched > now->blocks_fetched ||
		then->blocks_hit > now->blocks_hit)
		return -1.0;
	return (double) (now->scans - then->scans) + (double) (now->tuples_read - then->tuples_read) +
		(double) (now->blocks_fetched - then->blocks_fetched) +
		(double) (now->blocks_hit - then->blocks_hit);
}

/*
 * Returns true if the new index has the name of the gone one, and its counters may continue
 * those of the gone one.
 */
static bool
is_in_place_of(const TierRelationState *state, const TierRelationState *gone)
{
	return state->id.name_hash == gone->id.name_hash &&
		(state->stored.counters.reset_at != gone->stored.counters.reset_at ||
		 distance(&gone->stored.counters, &state->stored.counters) >= 0.0);
}

/*
 * Finds the remembered state of an index that the last sample has not seen, or NULL.  REINDEX
 * CONCURRENTLY replaces an index by a new one with its name and its counters; the state of the
 * old one is then that of the new one.  *copied gets the counters of an index with another name
 * that this one may have copied, or else zeros: these counts do not belong to this period.
 */
static const TierRelationState *
find_rebuilt(TierRelationState *state, TierGoneIndexes *gone, const TierCounters **copied)
{
	double		least = -1.0;

	for (int i = 0; i < gone->n; i++)
	{
		const TierRelationState *candidate = gone->states[i];
		double		grown;

		if (candidate == NULL || candidate->id.heap_oid != state->id.heap_oid)
			continue;
		if (is_in_place_of(state, candidate))
		{
			gone->states[i] = NULL;
			state->period.rebuilt_from = candidate->id.relation_oid;
			return candidate;
		}
		grown = distance(&candidate->stored.counters, &state->stored.counters);
		if (grown >= 0.0 && (least < 0.0 || grown < least))
		{
			least = grown;
			*copied = &candidate->stored.counters;
		}
	}
	return NULL;
}

const TierRelationState *
tier_rebuilt_before(TierRelationState *state, const TierRelationState *same, TierGoneIndexes *gone,
					const TierCounters **origin)
{
	const TierRelationState *rebuilt;
	const TierCounters *copied = NULL;

	if (state->id.kind != RELKIND_INDEX)
		return same;
	if (same != NULL && !is_invalid(same) && is_invalid(state))
	{
		/* Its reads since then are counted for the index that replaces it. */
		*origin = &state->stored.counters;
		return NULL;
	}
	if (gone->n == 0 || is_invalid(state) || (same != NULL && !is_invalid(same)))
		return same;
	rebuilt = find_rebuilt(state, gone, &copied);
	if (rebuilt != NULL)
		return rebuilt;
	if (copied == NULL)
		return same;
	*origin = copied;
	return NULL;
}
