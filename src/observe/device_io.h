/*-------------------------------------------------------------------------
 *
 * observe/device_io.h
 *		What devices did, what PostgreSQL asked of them, and how that fits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_IO_H
#define TIER_DEVICE_IO_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/fit.h"
#include "src/observe/sample.h"

/* What the kernel has counted of a block device since it came. */
typedef struct TierDeviceCounters
{
	int64		reads;
	int64		read_bytes;
	int64		writes;
	int64		write_bytes;
	int64		busy_ms;		/* with at least one request in flight */
	int64		read_ms;		/* of all requests together; these two are of */
	int64		write_ms;		/* 32 bits, and begin again from 0 */
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
	Oid		   *tablespaces;	/* ascending */

	TimestampTz counters_at;	/* 0: it has no counters that we can read */
	TierDeviceCounters counters;

	/* The last period; of 0 seconds if there was none. */
	double		period_s;
	TierDeviceCounters last;
	double		predicted_bytes;	/* read, by this database */
	double		predicted_reads;	/* requests that this takes */
	double		foreign_bytes;	/* read by others, from whichever device */

	TierDeviceRates rates;
	TierEffectWork totals;		/* of all periods since observed_since */
	TimestampTz observed_since;

	/* What is to be added to the fit, as soon as it is complete. */
	TimestampTz window_since;	/* 0: nothing */
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
	TimestampTz fit_at;			/* 0: never */

	/* Of the whole cluster, the same in all rows. */
	int64		cluster_blocks_read;
	int64		cluster_temp_bytes;

	bool		present;		/* this sample found it */
} TierDeviceState;

/* All devices by name. */
typedef struct TierDevices
{
	int			ndevices;
	TierDeviceState *devices;
} TierDevices;

/* Do the fits rest on enough to be believed or not, and are they good? */
extern bool tier_device_is_known(const TierDeviceState *state);
extern bool tier_device_is_explained(const TierDeviceState *state);

/* The larger of the residuals. */
extern double tier_device_residual(const TierDeviceState *state);

/*
 * What one request of a sequential read has, by the settings of the device as
 * they are now.
 */
extern double tier_device_request_bytes(const TierDeviceState *state);

/* The device of a tablespace, as of the last sample; NULL: not known. */
extern const TierDeviceState *tier_devices_find(const TierDevices *devices, Oid tablespace_oid);

/*
 * Of the relations that were active, estimates which of their reads reached the
 * device, and advances the rates device_*; after tier_sample_merge, once.
 * Looks at the page cache of those that read most, and of some others in turn,
 * as far as the time allows.  Relations whose share of it moved noticeably get
 * `changed`.  Where the page cache cannot be seen, only the fit says what reached
 * the device; without tiered_storage.track_page_cache all reads did.
 */
extern void tier_device_io_correct(const TierDevices *devices,
								   TierRelationState *states, int nstates);

/*
 * Reads the counters of the devices beneath all tablespaces, compares their
 * growth with what tier_device_io_correct said of the relations on them, and
 * improves the fit.  Devices that are beneath no tablespace any more lose
 * theirs, and have no `present`.  Takes AccessShareLock on pg_tablespace and pg_database; results
 * in the current memory context.
 */
extern void tier_device_io_observe(TierDevices *devices, const TierRelationState *states,
								   int nstates, TimestampTz last_sample_at, TimestampTz now);

#endif							/* TIER_DEVICE_IO_H */
