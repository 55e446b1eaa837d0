/*-------------------------------------------------------------------------
 *
 * model/purchase.h
 *		What other hardware is worth to those who wait for it.
 *
 * Pure.  Three placements are compared: where everything is now, which is what was measured;
 * the best one on the hardware that there is, which costs no money; and the best one on
 * other hardware.  What is bought is worth what the third has over the second.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PURCHASE_H
#define TIER_PURCHASE_H

#include "src/model/prediction.h"

/* A share of clients' time that nobody notices. */
#define TIER_PURCHASE_NOTICED 0.02

/*
 * Per hour, at least and at most, what the other hardware saves; negative: what it costs.  NaN:
 * not known.
 */
typedef struct TierPurchaseGain
{
	double		io_s_low;		/* device time, and time in queues by the
								 * model */
	double		io_s_high;
	double		wait_s_low;		/* of clients, for the same work */
	double		wait_s_high;
	double		less_low;		/* the same as a share of what they would wait
								 * for the devices that there are */
	double		less_high;
	double		noticed_low;	/* and of all their time */
	double		noticed_high;
	double		speedup_low;	/* see TierPrediction */
	double		speedup_high;
	double		speedup;		/* if each goes on as soon as it has its
								 * answer: what the first that was added says */
} TierPurchaseGain;

#define TIER_PURCHASE_UNKNOWN {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}

/* Widens it by what comes of one load; of clients, nothing if active_s is not positive. */
extern void tier_purchase_add(const TierPredictionClients *clients,
							  const TierPlacementTotals *now, const TierPlacementTotals *best,
							  const TierPlacementTotals *then, int ntiers,
							  TierPurchaseGain *gain);

/* What clients' time is spent on. */
typedef enum TierPurchaseBound
{
	TIER_BOUND_CPU,
	TIER_BOUND_DEVICE,
	TIER_BOUND_WAL,
	TIER_BOUND_TEMP,
	TIER_BOUND_LOCK,
	TIER_BOUND_OTHER,
} TierPurchaseBound;

#define TIER_PURCHASE_BOUNDS (TIER_BOUND_OTHER + 1)

/* On what most of it is; the first of equals, -1: nothing was seen. */
extern int	tier_purchase_bound(const double *seconds);

/* Work per price of a stored GB, which are as many, against that of today; NaN: not known. */
extern double tier_purchase_performance(double speedup, double price_now, double price_then);

typedef enum TierPurchaseVerdict
{
	TIER_PURCHASE_NOT_OBSERVED, /* the load is not known */
	TIER_PURCHASE_TOO_SMALL,	/* it does not hold what has to be there */
	TIER_PURCHASE_DEVICES_ONLY, /* what clients wait for is not known */
	TIER_PURCHASE_ENOUGH,		/* nobody notices, and it costs less */
	TIER_PURCHASE_NOTHING,		/* nobody notices, and it does not */
	TIER_PURCHASE_FASTER,
	TIER_PURCHASE_SLOWER,
	TIER_PURCHASE_EITHER,		/* faster or slower */
} TierPurchaseVerdict;

extern TierPurchaseVerdict tier_purchase_verdict(const TierPurchaseGain *gain, bool is_observed,
												 bool fits, double price_delta);

#endif							/* TIER_PURCHASE_H */
