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
#include "src/model/device_state.h"
#include "src/model/relation_state.h"

/* Are the fits good, if they rest on enough? */
extern bool tier_device_is_explained(const TierDeviceState *state);

/*
 * What one request of a sequential read has, by the settings of the device as
 * they are now.
 */
extern double tier_device_request_bytes(const TierDeviceState *state);

/* The device of a tablespace, as of the last sample; NULL: not known. */
extern const TierDeviceState *tier_devices_find(const TierDevices *devices, Oid tablespace_oid);

/*
 * What the kernel has counted for a device since *instance, which tells one life of the
 * counters from the next.  False: it has none, or they cannot be read.
 */
extern bool tier_device_read_counters(const char *device, TierDeviceCounters *counters,
									  char **instance);

/*
 * Since the last sample: blocks that the server has read and these relations have not, from
 * whichever device; what others did is not known if that is -1.  Is a process at work that
 * has had counters still to come for more than a small part of that time?
 */
extern double tier_device_foreign_blocks(const TierDevices *devices,
										 const TierRelationState *states, int nstates);
extern bool tier_device_counters_are_late(double period_s);

/*
 * Reads the counters of the devices beneath all tablespaces, compares their
 * growth with what tier_device_reads_correct said of the relations on them, and
 * improves the fit.  Devices that are beneath no tablespace any more lose
 * theirs, and have no `present`.  Takes AccessShareLock on pg_tablespace and pg_database; results
 * in the current memory context.
 */
extern void tier_device_io_observe(TierDevices *devices, const TierRelationState *states,
								   int nstates, TimestampTz last_sample_at, TimestampTz now);

/*
 * Within a sample, after that: what the WAL says that relations have written to each device, if
 * it was counted, and where the WAL is.  For the wear of devices.
 */
extern void tier_device_io_note_writes(TierDevices *devices, const TierRelationState *states,
									   int nstates, bool counted);

/* Is pg_wal on it?  Its requests cannot be told from those of relations. */
extern bool tier_device_holds_wal(const TierDeviceState *device);

#endif							/* TIER_DEVICE_IO_H */
