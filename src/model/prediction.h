/*-------------------------------------------------------------------------
 *
 * model/prediction.h
 *		The gain of clients by another placement, at least and at most.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PREDICTION_H
#define TIER_PREDICTION_H

#include "src/model/placement_problem.h"

/* The time of all clients together in an hour, in seconds; measured. */
typedef struct TierPredictionClients
{
	double		active_s;		/* all that they do */
	double		device_s;		/* of it, they wait for the devices beneath
								 * tiers */
	double		processor_s;	/* of it, they work */
	double		processors;		/* that the server has; 0: not known */
	double		number;			/* of clients that may wait at once, for the
								 * queue */
} TierPredictionClients;

/*
 * saved_s is the reduction of the clients' waits per hour, as long as they ask for as much as
 * now.  speedup is the factor of their throughput: 1 at one end, if they ask for no more, and at
 * the other end the factor reached if each goes on as soon as it has its answer.  All NaN: not
 * known.
 */
typedef struct TierPrediction
{
	double		saved_s_low;
	double		saved_s_high;
	double		speedup_low;
	double		speedup_high;	/* INFINITY: nothing bounds it */
} TierPrediction;

#define TIER_PREDICTION_UNKNOWN {NAN, NAN, NAN, NAN}

/*
 * Widens a prediction by the outcome for one load, whose totals by tier are given for the
 * present and the new placement.  Changes nothing if active_s is not positive.
 *
 * A gain is limited to the share of the clients' present waits that the model saves.  A loss
 * is that share, or the seconds of the model if they are more, since waits that are too short
 * to be noticed become longer, too.
 */
extern void tier_prediction_add(const TierPredictionClients *clients,
								const TierPlacementTotals *now,
								const TierPlacementTotals *then,
								int ntiers, TierPrediction *prediction);

#endif							/* TIER_PREDICTION_H */
