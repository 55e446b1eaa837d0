/*-------------------------------------------------------------------------
 *
 * model/effect.h
 *		The effect of a move: the load after it, on the old and the new tier.
 *
 * Pure, like model/cost.h: plain numbers in, plain numbers out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_EFFECT_H
#define TIER_EFFECT_H

#include <stdbool.h>

#include "src/model/cost.h"

/*
 * The work of a relation, with its TOAST table, since it was first sampled.  Only ever grows, so
 * that the difference of two moments is the work between them.
 */
typedef struct TierEffectTotals
{
	double		random_reads;	/* at the device, 8 kB operations */
	double		sequential_reads;	/* at the device, 8 kB blocks */
	double		scans;			/* those that found something at the device */
	double		page_writes;	/* as counted in the WAL */
	double		merged_writes;	/* of these, merged with another one */
	double		row_changes;
} TierEffectTotals;

/* The work of a device since it was first seen; only ever grows, too. */
typedef struct TierEffectWork
{
	double		reads;			/* requests */
	double		read_bytes;
	double		writes;
	double		write_bytes;
	double		device_ms;		/* in which it worked on them */
} TierEffectWork;

typedef enum TierEffectVerdict
{
	TIER_EFFECT_AS_PREDICTED,
	TIER_EFFECT_BETTER,
	TIER_EFFECT_LESS,			/* it saves something, but less than predicted */
	TIER_EFFECT_WORSE,
	TIER_EFFECT_NO_DIFFERENCE,	/* nothing was predicted, nothing came of it */
} TierEffectVerdict;

/* Both are the same, or indistinguishable, below the larger of these. */
#define TIER_EFFECT_NOISE_S_PER_HOUR 0.1
#define TIER_EFFECT_NOISE_SHARE 0.05

/*
 * Milliseconds in which a device worked: no more than it had a request in
 * flight, and no more than its requests took together.  The kernel rounds the
 * first up to its ticks, which is much for a fast device that has little to do;
 * the second counts the queue, which is much for a slow one that has a lot.
 * request_ms of 0 means that only the first is known.
 */
extern double tier_effect_device_ms(double busy_ms, double request_ms);

/*
 * Into *load the mean load per hour between two moments that are seconds > 0
 * apart.  Without writes_counted, page writes are estimated from row changes
 * (see tier_cost_estimate_writes) for a relation of size_bytes.  False,
 * and *load untouched, if a total went back, so that these are totals of
 * different lives, or if one is not a number.
 */
extern bool tier_effect_load(const TierEffectTotals *before, const TierEffectTotals *after,
							 double seconds, bool writes_counted, double size_bytes,
							 double checkpoints_per_hour, TierCostLoad *load);

/* The work between two moments; false if a total decreased. */
extern bool tier_effect_work_between(const TierEffectWork *before, const TierEffectWork *after,
									 TierEffectWork *work);

/*
 * Removes the writes from the work if their figures are not plausible.  Writes of a WAL are small
 * and sequential, not random writes of pages, and their device time is not known.  So the result
 * is false, and the work is not usable, if the profile expects more than that share of its time
 * to be writes.
 */
#define TIER_EFFECT_MOST_DOUBT 0.1

extern bool tier_effect_drop_writes(TierEffectWork *work, const TierCostProfile *profile,
									double request_bytes);

/*
 * How many times as long as its profile says a device took for this work, with all that may
 * be wrong with either.  NaN: too little work to tell.  Else within [0.001, 1000].
 */
extern double tier_effect_device_factor(const TierEffectWork *work, const TierCostProfile *profile,
										double request_bytes);

/* The least difference from 0 that means something, for a load that costs this much. */
extern double tier_effect_noise(double cost_s_per_hour);

/*
 * Compares the measured with the predicted effect, all in device-seconds per hour.  "As
 * predicted" is within a factor of two, give or take the noise; unmoved is the cost of the
 * measured load without the move.
 *
 * predicted_saved NaN: there was no prediction, and only the sign counts.
 */
extern TierEffectVerdict tier_effect_judge(double predicted_saved, double unmoved,
										   double measured);

extern const char *tier_effect_text(TierEffectVerdict verdict);

#endif							/* TIER_EFFECT_H */
