/*-------------------------------------------------------------------------
 *
 * model/device_state.h
 *		The state of one block device, and its work.
 *
 * Plain data, in the memory of one process.  catalog/device_counters.c loads it as the
 * last sample left it, and that is how the advice reads it.  A sample, which
 * has the sampler locked, brings it up to date by tier_device_io_observe() when
 * the relations' reads are known, and stores it:
 *
 *	find	 which devices are beneath tablespaces now: device, tablespaces,
 *			 present; one that is another by its name starts from zero
 *	count	 the growth of the kernel's counters: period_s, last, rates, totals
 *	compare	 with what the relations should have read: predicted_*, foreign_bytes,
 *			 summed up in the window
 *	fit		 the window, as soon as it is complete, goes into the two fits
 *
 * OIDs and times as in model/relation_state.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_STATE_H
#define TIER_DEVICE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/effect.h"
#include "src/model/fit.h"

/* The kernel's counters of a block device since it appeared. */
typedef struct TierDeviceCounters
{
	int64_t		reads;
	int64_t		read_bytes;
	int64_t		writes;
	int64_t		write_bytes;
	int64_t		busy_ms;		/* with at least one request in flight */
	int64_t		read_ms;		/* of all requests together; these two are of */
	int64_t		write_ms;		/* 32 bits, and start again from 0 */
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

/* One device with tablespaces of this cluster on it; the steps: see above. */
typedef struct TierDeviceState
{
	/* find */
	char	   *device;			/* the disk's name, as in TierDevice */
	int			ntablespaces;
	uint32_t   *tablespaces;	/* ascending */
	bool		present;		/* this sample found it; else it will be
								 * forgotten.  Not stored, and false before
								 * find */

	/* count: the kernel's counters. */
	char	   *instance;		/* changes when the counters become other
								 * ones: with a boot, or another disk of that
								 * name */
	int64_t		counters_at;	/* 0: it has no counters that we can read */
	TierDeviceCounters counters;	/* means nothing without counters_at */

	/*
	 * count: the last period; of 0 seconds, and then all of it 0, if the
	 * counters do not go on where those of the last sample ended.
	 */
	double		period_s;
	TierDeviceCounters last;	/* growth */

	/*
	 * count: for the ledger of wear (catalog/device_wear.c), not stored here.
	 * Written since the counters were last read, whenever that was; or since
	 * the counter was reset, if it was.
	 */
	double		wear_s;			/* 0: not known, nor the other */
	double		wear_bytes;

	/* compare: in the last period. */
	double		predicted_bytes;	/* read, by this database */
	double		predicted_reads;	/* requests that this takes */
	double		foreign_bytes;	/* read by others, from whichever device */

	/* count: since it was first seen. */
	TierDeviceRates rates;
	TierEffectWork totals;		/* of all periods since observed_since */
	int64_t		observed_since; /* 0: there was no period yet */

	/* compare: added to the fits as soon as it is complete. */
	int64_t		window_since;	/* 0: nothing; then the others mean nothing */
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
	TierFit		request_fit;
	int64_t		fit_at;			/* 0: never */

	/* compare: of the whole cluster at this sample, the same for all devices. */
	int64_t		cluster_blocks_read;
	int64_t		cluster_temp_bytes;
} TierDeviceState;

/* All devices by name. */
typedef struct TierDevices
{
	int			ndevices;
	TierDeviceState *devices;
} TierDevices;

#endif							/* TIER_DEVICE_STATE_H */
