/*-------------------------------------------------------------------------
 *
 * model/volume.h
 *		What a device or volume does and costs, by its size and by what is bought of it.
 *
 * Pure.  GB are of 10^9 bytes, rates of 10^6 bytes per second.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_VOLUME_H
#define TIER_VOLUME_H

#include "src/model/cost.h"

/*
 * What comes with the size, what is in the price, and what is sold beyond it: of requests a
 * second, or of MB per second.
 */
typedef struct TierVolumeRate
{
	double		per_gb;			/* that each GB brings; 0: none */
	double		most;			/* 0: no limit is known */
	double		included;		/* in the price of the GB */
	double		price;			/* per month, of each beyond it; NaN: it is
								 * not sold, and what there is costs nothing */
} TierVolumeRate;

/*
 * A profile of the price list.  The figures are those of a volume of figures_for_gb.  What is
 * not positive and finite of the rest means that it is not limited, or does not depend on
 * the size.
 */
typedef struct TierVolume
{
	TierCostProfile figures;	/* with its price_per_gb_month */
	double		endurance_dwpd; /* 0: not known */
	double		figures_for_gb; /* 0: of any size */
	double		least_gb;		/* that are sold at once */
	double		most_gb;
	TierVolumeRate requests;
	TierVolumeRate throughput;
} TierVolume;

/* Random reads a second, and MB per second, of a volume of this size without more bought. */
extern double tier_volume_requests(const TierVolume *volume, double gb);
extern double tier_volume_throughput(const TierVolume *volume, double gb);

/*
 * The figures of a volume of this size.  requests and throughput: as bought; NaN: what comes with
 * it.  Where there are fewer requests than one at a time could make, each takes longer.
 */
extern TierCostProfile tier_volume_profile(const TierVolume *volume, double gb, double requests,
										   double throughput);

/*
 * What becomes of figures that were measured or given of such a volume, if it gets another size
 * or more is bought: they change as those of the price list do.
 */
extern TierCostProfile tier_volume_grown(const TierVolume *volume, const TierCostProfile *now,
										 double gb_now, double gb, double requests,
										 double throughput);

/* Money per month of a volume of this size, at least of the size that is sold. */
extern double tier_volume_price(const TierVolume *volume, double gb, double requests,
								double throughput);

#endif							/* TIER_VOLUME_H */
