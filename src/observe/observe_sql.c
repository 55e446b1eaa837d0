/*-------------------------------------------------------------------------
 *
 * observe/observe_sql.c
 *		SQL functions that show the results of the observing modules.
 *
 * Runs in the backend that calls the functions.  Nothing is kept between two
 * calls.  The only locks are AccessShareLocks on the catalogs that are read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/tablespace.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/pg_list.h"
#include "utils/timestamp.h"

#include "src/base/debug.h"
#include "src/base/sql.h"
#include "src/observe/device_io.h"
#include "src/storage/database_files.h"
#include "src/storage/device.h"
#include "src/storage/file_size.h"
#include "src/model/fit.h"
#include "src/model/period.h"

PG_FUNCTION_INFO_V1(tier_tablespace_devices);
PG_FUNCTION_INFO_V1(tier_server_directories);
PG_FUNCTION_INFO_V1(tier_relation_bytes);
PG_FUNCTION_INFO_V1(tier_device_fit);
PG_FUNCTION_INFO_V1(tier_period_share_sql);

/* Columns of _tiered_storage.tablespace_devices(), in order */
enum
{
	DEVICE_TABLESPACE_NAME,
	DEVICE_TABLESPACE_OID,
	DEVICE_PATH,
	DEVICE_PATH_EXISTS,
	DEVICE_WRITABLE,
	DEVICE_DEVICE,
	DEVICE_FILESYSTEM,
	DEVICE_MOUNT_POINT,
	DEVICE_KIND,
	DEVICE_ROTATIONAL,
	DEVICE_IS_VIRTUAL,
	DEVICE_COMPRESSED,
	DEVICE_FILE_SYSTEM_ID,
	DEVICE_TOTAL_BYTES,
	DEVICE_USED_BYTES,
	DEVICE_FREE_BYTES,
	DEVICE_PROFILE,
};

static void
set_bytes(TierResultRow *row, int column, int64 bytes)
{
	if (bytes >= 0)
		tier_row_datum(row, column, Int64GetDatum(bytes));
}

/*
 * Unknown values are NULL: those of the device without a block device, and those of the file
 * system if that of the directory was not found.
 */
static void
put_device(TierResultRow *row, Oid tablespace_oid, const char *name, const TierDevice *device)
{
	tier_row_clear(row);
	tier_row_name(row, DEVICE_TABLESPACE_NAME, name);
	tier_row_datum(row, DEVICE_TABLESPACE_OID, ObjectIdGetDatum(tablespace_oid));
	tier_row_text(row, DEVICE_PATH, device->path);
	tier_row_datum(row, DEVICE_PATH_EXISTS, BoolGetDatum(device->exists));
	tier_row_datum(row, DEVICE_WRITABLE, BoolGetDatum(device->writable));
	tier_row_text(row, DEVICE_DEVICE, device->device);
	tier_row_text(row, DEVICE_FILESYSTEM, device->filesystem);
	tier_row_text(row, DEVICE_MOUNT_POINT, device->mount_point);
	tier_row_text(row, DEVICE_KIND, tier_device_kind_name(device->kind));
	if (device->device != NULL)
	{
		tier_row_datum(row, DEVICE_ROTATIONAL, BoolGetDatum(device->rotational));
		tier_row_datum(row, DEVICE_IS_VIRTUAL, BoolGetDatum(device->is_virtual));
	}
	if (device->filesystem != NULL)
		tier_row_datum(row, DEVICE_COMPRESSED, BoolGetDatum(device->compressed));
	if (device->fs_id != 0)
		tier_row_datum(row, DEVICE_FILE_SYSTEM_ID, Int64GetDatum((int64) device->fs_id));
	set_bytes(row, DEVICE_TOTAL_BYTES, device->total_bytes);
	set_bytes(row, DEVICE_USED_BYTES, device->used_bytes);
	set_bytes(row, DEVICE_FREE_BYTES, device->free_bytes);
	tier_row_text(row, DEVICE_PROFILE, tier_device_profile_name(device));
	tier_row_put(row);
}

Datum
tier_tablespace_devices(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	ListCell   *cell;

	tier_result_start(fcinfo, &row);
	foreach(cell, tier_tablespaces())
	{
		char	   *name = get_tablespace_name(lfirst_oid(cell));

		if (name != NULL)
			put_device(&row, lfirst_oid(cell), name,
					   tier_device_lookup(lfirst_oid(cell), tier_debug_root()));
	}
	return (Datum) 0;
}

/* One that is not there, or cannot be looked at, is a row with nothing known. */
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
	set_bytes(row, 6, device->free_bytes);
	tier_row_text(row, 7, tier_device_kind_name(device->kind));
	tier_row_datum(row, 8, BoolGetDatum(device->is_virtual));
	tier_row_put(row);
}

/* _tiered_storage.server_directories() */
Datum
tier_server_directories(PG_FUNCTION_ARGS)
{
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	put_directory(&row, "pg_wal", "pg_wal");
	put_directory(&row, "data", "");
	return (Datum) 0;
}

/* Unknown values are NULL. */
Datum
tier_device_fit(PG_FUNCTION_ARGS)
{
	TierFit		fit;
	double		residual;
	TupleDesc	descriptor;
	Datum		values[3];
	bool		nulls[3];

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE ||
		descriptor->natts != lengthof(values))
		elog(ERROR, "wrong result type");
	fit.xx = PG_GETARG_FLOAT8(0);
	fit.xy = PG_GETARG_FLOAT8(1);
	fit.yy = PG_GETARG_FLOAT8(2);
	fit.periods = PG_GETARG_FLOAT8(3);
	residual = tier_fit_residual(&fit);
	values[0] = Float8GetDatum(tier_fit_factor(&fit));
	nulls[0] = !(fit.xx > 0.0);
	values[1] = Float8GetDatum(residual);
	nulls[1] = residual < 0.0;
	values[2] = BoolGetDatum(tier_fit_explains(&fit));
	nulls[2] = !tier_fit_is_known(&fit);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls));
}

/* _tiered_storage.period_share(period_start, period_s, from_at, until_at) */
Datum
tier_period_share_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(tier_period_share(PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_FLOAT8(1),
									   PG_GETARG_TIMESTAMPTZ(2), PG_GETARG_TIMESTAMPTZ(3)));
}

/* _tiered_storage.relation_bytes(oid) */
Datum
tier_relation_bytes(PG_FUNCTION_ARGS)
{
	TierRelationInfo info;

	if (!tier_relation_lookup(PG_GETARG_OID(0), &info))
		PG_RETURN_NULL();
	PG_RETURN_INT64(tier_relation_disk_bytes(&info));
}
