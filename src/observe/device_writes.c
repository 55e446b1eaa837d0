/*-------------------------------------------------------------------------
 *
 * observe/device_writes.c
 *		What devices wrote, and how that fits what the WAL says of the relations.
 *
 * Runs within a sample, in one process for a database at a time (the lock on
 * _tiered_storage.sampler).
 *
 * The WAL names the pages that checkpoints have to write.  Which of them are written
 * more than once in between, because shared buffers are small or a new block is
 * written empty first, and which of those that are side by side are not written
 * together, only the device knows.  Least squares over periods give a factor for bytes
 * and one for requests, as for reads (observe/device_io.c).
 *
 * What was changed now is written minutes later.  So a period lasts until
 * WINDOW_CHECKPOINTS have begun: then what is late at its end is about as much as
 * what was late at its begin.
 *
 * Nothing is learned where pg_wal is on the same disk, since nobody tells how many
 * requests that takes.  What moves and other databases write in a period, as the WAL
 * has it, takes from its weight.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "postmaster/bgwriter.h"
#include "storage/bufmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/model/cost.h"
#include "src/observe/device_io.h"
#include "src/observe/device_writes.h"
#include "src/storage/device.h"

#define WINDOW_CHECKPOINTS 4

/* A server that has no more checkpoints than that in a day writes next to nothing. */
#define LONGEST_WINDOW_S 86400.0

/* Less than this is no load that a fit could learn from. */
#define QUIET_BYTES 1048576.0

/* What the kernel makes of pages in a row where checkpoints do not cut it. */
#define DEFAULT_RUN_BLOCKS 128.0

/* How many blocks in a row a checkpoint hands to the device at once. */
static double
run_blocks(void)
{
	return checkpoint_flush_after > 0 ? checkpoint_flush_after : DEFAULT_RUN_BLOCKS;
}

/* What the WAL says that the relations of a device have written. */
typedef struct Prediction
{
	double		pages;
	double		requests;
} Prediction;

static Prediction
predict(const TierDeviceState *device, const TierRelationState *states, int nstates)
{
	Prediction	prediction = {0};

	for (int i = 0; i < nstates; i++)
	{
		const TierWriteCounts *counts = &states[i].period.writes;
		double		pages = (double) counts->pages + counts->maintenance_pages;
		double		merged = (double) counts->merged + counts->maintenance_merged;
		bool		is_here = false;

		if (pages <= 0)
			continue;
		for (int j = 0; j < device->ntablespaces && !is_here; j++)
			is_here = device->tablespaces[j] == states[i].id.tablespace_oid;
		if (!is_here)
			continue;
		prediction.pages += pages;
		prediction.requests += tier_cost_write_requests(pages, merged, run_blocks());
	}
	return prediction;
}

static double
foreign_pages(const TierDeviceState *device, const TierWrites *writes)
{
	double		pages = 0.0;

	for (int j = 0; j < device->ntablespaces; j++)
		pages += tier_writes_foreign_pages(writes, device->tablespaces[j]);
	return pages;
}

/* The more others wrote, the less the window weighs. */
static void
close_window(TierDeviceWrites *writes, TimestampTz now)
{
	double		ours = writes->window_pages * BLCKSZ;
	double		all = ours + writes->window_foreign * BLCKSZ;

	if (ours >= QUIET_BYTES)
	{
		double		elapsed_s = writes->fit_at == 0 ? 0.0 :
		tier_seconds_between(writes->fit_at, now);

		tier_fit_add(&writes->fit, ours, writes->window_written, ours / all, elapsed_s,
					 TIER_HALF_LIFE_FAST_S);
		tier_fit_add(&writes->request_fit, writes->window_requests * BLCKSZ,
					 writes->window_writes * BLCKSZ, ours / all, elapsed_s,
					 TIER_HALF_LIFE_FAST_S);
		writes->fit_at = now;
	}
	writes->window_since = 0;
}

static void
observe_device(TierDeviceState *device, const Prediction *predicted, double foreign,
			   uint64 redo, TimestampTz now)
{
	TierDeviceWrites *writes = &device->writes_fit;
	double		window_s;

	if (writes->window_since == 0)
	{
		writes->window_since = now - (TimestampTz) (device->period_s * USECS_PER_SEC);
		writes->window_pages = writes->window_requests = writes->window_foreign = 0.0;
		writes->window_written = writes->window_writes = 0.0;
		writes->window_checkpoints = 0;
	}
	writes->window_pages += predicted->pages;
	writes->window_requests += predicted->requests;
	writes->window_foreign += foreign;
	writes->window_written += device->last.write_bytes;
	writes->window_writes += device->last.writes;
	if (redo != writes->redo)
		writes->window_checkpoints++;
	window_s = tier_seconds_between(writes->window_since, now);
	if (writes->window_checkpoints >= WINDOW_CHECKPOINTS)
		close_window(writes, now);
	else if (window_s >= LONGEST_WINDOW_S)
		writes->window_since = 0;
}

/* Nobody tells which of its requests are those of the WAL. */
static bool
holds_wal(const TierDeviceState *device, const char *wal)
{
	return wal != NULL && strcmp(wal, device->device) == 0;
}

static const char *
device_of_wal(void)
{
	return tier_device_beneath("pg_wal", tier_debug_root());
}

void
tier_device_writes_observe(TierDevices *devices, const TierRelationState *states,
						   int nstates, const TierWrites *writes, TimestampTz now)
{
	const char *wal = device_of_wal();
	uint64		redo = GetRedoRecPtr();

	for (int i = 0; i < devices->ndevices; i++)
	{
		TierDeviceState *device = &devices->devices[i];
		Prediction	predicted = {0};

		if (!device->present)
			continue;
		device->knows_wal = wal != NULL;
		device->has_wal = holds_wal(device, wal);
		if (tier_writes_counted(writes))
			predicted = predict(device, states, nstates);
		device->wear_page_bytes = tier_writes_counted(writes) ? predicted.pages * BLCKSZ : -1.0;
		if (device->period_s > 0 && tier_writes_counted(writes) && !device->has_wal)
			observe_device(device, &predicted, foreign_pages(device, writes), redo, now);
		else
			device->writes_fit.window_since = 0;
		device->writes_fit.redo = redo;
	}
}

/* Do the fits of writes rest on enough, and are they good? */
static bool
are_explained(const TierDeviceWrites *writes)
{
	return tier_fit_explains(&writes->fit) && tier_fit_explains(&writes->request_fit);
}

bool
tier_device_writes_are_known(const TierDeviceState *device)
{
	return are_explained(&device->writes_fit) &&
		!holds_wal(device, device_of_wal());
}

void
tier_device_writes_factors(const TierDevices *devices, Oid tablespace_oid,
						   const TierCostProfile *profile, TierRelationLoadBasis *basis)
{
	const TierDeviceState *device = tier_devices_find(devices, tablespace_oid);

	basis->write_factor = basis->write_request_factor = 1.0;
	if (device == NULL || !are_explained(&device->writes_fit) ||
		(profile != NULL && profile->compression_ratio > 1.0))
		return;
	basis->write_factor = tier_fit_factor(&device->writes_fit.fit);
	basis->write_request_factor = tier_fit_factor(&device->writes_fit.request_fit);
}
