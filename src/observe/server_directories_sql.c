/*-------------------------------------------------------------------------
 *
 * observe/server_directories_sql.c
 *		Where the server has files that are in no tablespace, and on what device.
 *
 * Runs in the backend that calls it.  Nothing is kept between two calls, and no lock
 * is taken.  A directory that is not there, or cannot be looked at, is a row with
 * nothing known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/syslogger.h"

#include "src/base/debug.h"
#include "src/base/sql.h"
#include "src/observe/device_io.h"
#include "src/storage/device.h"

PG_FUNCTION_INFO_V1(tier_server_directories);

/* By the names that they have in the data directory; each may be a symbolic link. */
static const char *const directories[] = {
	"pg_wal", "pg_xact", "pg_subtrans", "pg_multixact/offsets", "pg_multixact/members",
	"pg_commit_ts", "pg_notify", "pg_serial"
};

static void
put_counters(TierResultRow *row, const char *device)
{
	TierDeviceCounters counters;
	char	   *instance;

	if (device == NULL || !tier_device_read_counters(device, &counters, &instance))
		return;
	tier_row_datum(row, 7, Int64GetDatum(counters.reads));
	tier_row_datum(row, 8, Int64GetDatum(counters.read_bytes));
}

static void
put_directory(TierResultRow *row, const char *name, const char *path)
{
	TierDevice *device = tier_device_of_directory(path, tier_debug_root());

	tier_row_clear(row);
	tier_row_text(row, 0, name);
	tier_row_text(row, 1, device->path);
	tier_row_text(row, 2, device->device);
	tier_row_text(row, 3, device->filesystem);
	tier_row_text(row, 4, device->mount_point);
	if (device->fs_id != 0)
		tier_row_datum(row, 5, Int64GetDatum((int64) device->fs_id));
	if (device->free_bytes >= 0)
		tier_row_datum(row, 6, Int64GetDatum(device->free_bytes));
	put_counters(row, device->device);
	tier_row_text(row, 9, tier_device_kind_name(device->kind));
	tier_row_datum(row, 10, BoolGetDatum(device->is_virtual));
	tier_row_put(row);
}

/* _tiered_storage.server_directories() */
Datum
tier_server_directories(PG_FUNCTION_ARGS)
{
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	for (int i = 0; i < (int) lengthof(directories); i++)
		put_directory(&row, directories[i], directories[i]);
	put_directory(&row, "data", "");
	if (Log_directory != NULL)
		put_directory(&row, "log", Log_directory);
	return (Datum) 0;
}
