/*-------------------------------------------------------------------------
 *
 * model/relation_load.h
 *		Derives the expected load of a relation from its stored state.
 *
 * The load of a relation is the larger of its two smoothed rates, so that present heat counts at
 * once and recent heat is not forgotten.  The smaller one remains if the difference does not
 * last.  Reads that statistics cannot attribute to random or sequential reads have a separate
 * range, and reads that came in too few intervals to be a rate are kept apart.
 *
 * The advice and the prediction that is recorded with a move both come from
 * here, so that a move is judged by the load for which it was advised.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RELATION_LOAD_H
#define TIER_RELATION_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/cost.h"
#include "src/model/relation_state.h"

/* How the states are to be read; the same for all relations of one answer. */
typedef struct TierRelationLoadBasis
{
	int64_t		now;
	int64_t		writes_since;	/* page writes are counted since then; 0: not */
	double		checkpoints_per_hour;
	bool		memory_is_new;	/* the machine was started within the last
								 * day, with nothing in memory */
	bool		memory_fills;	/* memory is free that the page cache may
								 * take, and all that is read fits in it:
								 * nothing of that is pushed out */
} TierRelationLoadBasis;

/* The load of one relation or of several together; all of it per hour. */
typedef struct TierRelationLoad
{
	TierCostLoad middle;		/* of quantities that are not known exactly */
	double		sequential_low; /* blocks */
	double		sequential_high;
	double		reads_low;		/* blocks, both kinds together */
	double		reads_high;
	double		write_requests_low; /* page writes that are not merged */
	double		write_requests_high;
	double		event_reads;	/* blocks that are left out of middle, since
								 * they came in too few intervals to be a rate */
	double		event_sequential_reads; /* of these */
	double		event_writes;	/* pages, the same */
	double		filling_reads;	/* of event_reads, those that have filled
								 * memory */
	TierCostLoad past;			/* reads before the first sample; middle has
								 * none of it */
	double		misses;			/* reads: those of them that reached the
								 * device */
	double		hits;
} TierRelationLoad;

/*
 * Adds one relation to a load that was all zero at first.  Uses kind and persistence of
 * state->id, and state->stored.  Counted page writes are used once they cover TIER_PROVISIONAL_S.
 * Before, the counts stand for their part of the time, and row changes for the rest, merged like
 * the counted writes.
 */
extern void tier_relation_load_add(TierRelationLoad *load, const TierRelationState *state,
								   const TierRelationLoadBasis *basis);

/*
 * The blocks per hour that the device was asked for, as measured, whether that is counted on or
 * not: of the two smoothed rates the larger one, as in a load.  The same that heat shows.
 */
extern void tier_relation_measured(const TierRelationStored *stored, int64_t now,
								   double *random, double *sequential);

#endif							/* TIER_RELATION_LOAD_H */
