/*-------------------------------------------------------------------------
 *
 * observe/device_writes.h
 *		What devices wrote, and how that fits what the WAL says of the relations.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_WRITES_H
#define TIER_DEVICE_WRITES_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/device_state.h"
#include "src/model/relation_load.h"
#include "src/model/relation_state.h"
#include "src/observe/writes.h"

/*
 * Within a sample, after tier_device_io_observe: compares what each device wrote with
 * what the WAL says of the relations on it, and improves the fit.  `writes` has read
 * the WAL of the same time.
 */
extern void tier_device_writes_observe(TierDevices *devices, const TierRelationState *states,
									   int nstates, const TierWrites *writes, TimestampTz now);

/*
 * Are they the reason of all that the device writes, now?  Not where pg_wal is on it, whatever
 * was learned before it came there.
 */
extern bool tier_device_writes_are_known(const TierDeviceState *device);

/*
 * Sets the factors of *basis for a relation in this tablespace, on a tier with this
 * profile (NULL: none): those of its device if they explain what it wrote, else 1.  Where
 * the file system compresses they are 1, too, since the model's own figures know that.
 */
extern void tier_device_writes_factors(const TierDevices *devices, Oid tablespace_oid,
									   const TierCostProfile *profile,
									   TierRelationLoadBasis *basis);

#endif							/* TIER_DEVICE_WRITES_H */
