/*-------------------------------------------------------------------------
 *
 * model/device_state.h
 *		What is known of one block device, and what it did.
 *
 * Plain data: observe/device_io.c reads the counters and advances the rates,
 * catalog/ stores it.  OIDs and times as in model/relation_state.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_STATE_H
#define TIER_DEVICE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/effect.h"
#include "src/model/fit.h"

/* What the kernel has counted of a block device since it came. */
typedef struct TierDeviceCounters
{
	int64_t		reads;
	int64_t		read_bytes;
	int64_t		writes;
	int64_t		write_bytes;
	int64_t		busy_ms;		/* with at least one request in flight */
	int64_t		read_ms;		/* of all requests together; these two are of */
	int64_t		write_ms;		/* 32 bits, and begin again from 0 */
} TierDeviceCounters;

/* Smoothed with TIER_HALF_LIFE_FAST_S, per hour, right at counters_at. */
typedef struct TierDeviceRates
{
	double		reads;
	double		read_bytes;
	double		writes;
	double		write_bytes;
	double		busy_ms;
	double		device_ms;		/* see tier_effect_device_ms */
} TierDeviceRates;

/*
 * One device with tablespaces of this cluster on it: what is remembered of it,
 * and after tier_device_io_observe what it does now.
 */
typedef struct TierDeviceState
{
	char	   *device;			/* the disk's name, as in TierDevice */
	char	   *instance;		/* changes when the counters become other
								 * ones: with a boot, or another disk of that
								 * name */
	int			ntablespaces;
	uint32_t   *tablespaces;	/* ascending */

	int64_t		counters_at;	/* 0: it has no counters that we can read */
	TierDeviceCounters counters;

	/* The last period; of 0 seconds if there was none. */
	double		period_s;
	TierDeviceCounters last;
	double		predicted_bytes;	/* read, by this database */
	double		predicted_reads;	/* requests that this takes */
	double		foreign_bytes;	/* read by others, from whichever device */

	TierDeviceRates rates;
	TierEffectWork totals;		/* of all periods since observed_since */
	int64_t		observed_since;

	/* What is to be added to the fit, as soon as it is complete. */
	int64_t		window_since;	/* 0: nothing */
	double		window_predicted;
	double		window_read;
	double		window_predicted_reads;
	double		window_reads;
	double		window_foreign;

	/*
	 * Two fits: of bytes, which is what sequential reads cost, and of
	 * requests, which is what random reads cost; in units of a block.
	 */
	TierFit		fit;
	TierFit		random_fit;
	int64_t		fit_at;			/* 0: never */

	/* Of the whole cluster, the same in all rows. */
	int64_t		cluster_blocks_read;
	int64_t		cluster_temp_bytes;

	bool		present;		/* this sample found it */
} TierDeviceState;

/* All devices by name. */
typedef struct TierDevices
{
	int			ndevices;
	TierDeviceState *devices;
} TierDevices;

#endif							/* TIER_DEVICE_STATE_H */
