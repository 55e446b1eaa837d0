/*-------------------------------------------------------------------------
 *
 * model/relation_load.h
 *		From what is remembered of a relation to the load that is counted on.
 *
 * The load of a relation is the larger of its two smoothed rates, so that what
 * is hot now counts at once and what was hot lately is not forgotten.  The
 * smaller one is what is left if the difference does not last.  What statistics
 * cannot attribute to random or sequential reads has a range of its own, and what
 * came in too few intervals to be a rate is set apart.
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
	TierCostLoad middle;		/* of what is not known exactly */
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
	double		misses;			/* of which reads are what reached the device */
	double		hits;
} TierRelationLoad;

/*
 * Adds one relation to a load that was all zero at first.  Uses kind and
 * persistence of state->id, and state->stored.  Page writes are counted where
 * that has gone on for TIER_PROVISIONAL_S.  Before, what was counted stands for its part of
 * the time, and row changes for the rest, merged as what was counted is.
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
