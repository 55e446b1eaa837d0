/*-------------------------------------------------------------------------
 *
 * observe/device_io.h
 *		I/O of devices, compared with the requests of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_IO_H
#define TIER_DEVICE_IO_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/device_state.h"
#include "src/model/relation_state.h"

/* Returns true if the fits are good and rest on enough observations. */
extern bool tier_device_is_explained(const TierDeviceState *state);

/* Bytes of one request of a sequential read, by the current settings of the device. */
extern double tier_device_request_bytes(const TierDeviceState *state);

/* The device of a tablespace, as of the last sample; NULL: not known. */
extern const TierDeviceState *tier_devices_find(const TierDevices *devices, Oid tablespace_oid);

/*
 * Blocks that the server has read since the last sample and that do not belong to these
 * relations, from any device; -1: not known.  The second function returns true if a process is
 * active that has had unreported counters for more than a small part of the period.
 */
extern double tier_device_foreign_blocks(const TierDevices *devices,
										 const TierRelationState *states, int nstates);
extern bool tier_device_counters_are_late(double period_s);

/*
 * Reads the counters of the devices beneath all tablespaces, compares their growth with what
 * tier_device_reads_correct said of the relations on them, and improves the fit.  Devices
 * without a tablespace lose their fit, and have `present` unset.  Takes AccessShareLock on
 * pg_tablespace and pg_database; results in the current memory context.
 */
extern void tier_device_io_observe(TierDevices *devices, const TierRelationState *states,
								   int nstates, TimestampTz last_sample_at, TimestampTz now);

/* Returns true if pg_wal is on the device: its requests cannot be told from those of relations. */
extern bool tier_device_holds_wal(const TierDeviceState *device);

#endif							/* TIER_DEVICE_IO_H */
