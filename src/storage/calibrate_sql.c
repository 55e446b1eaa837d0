/*-------------------------------------------------------------------------
 *
 * storage/calibrate_sql.c
 *		The SQL function beneath calibrate_tier().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/storage/calibrate.h"
#include "src/storage/device.h"
#include "src/base/refuse.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_measure_device);

#define LEAST_BYTES (8 * 1024 * 1024)

/* Where the main fork of a relation is, by what pg_class says; NULL: nowhere. */
static char *
path_of_relation(Oid relation_oid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation_oid));
	char	   *path = NULL;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		Oid			tablespace_oid = OidIsValid(form->reltablespace) ?
		form->reltablespace : MyDatabaseTableSpace;

		if (OidIsValid(form->relfilenode) && form->relpersistence == RELPERSISTENCE_PERMANENT)
		{
			path = palloc(MAXPGPATH);
			tier_compat_relation_path(path, MAXPGPATH, tablespace_oid,
									  MyDatabaseId, form->relfilenode, MAIN_FORKNUM);
		}
		ReleaseSysCache(tuple);
	}
	return path;
}

static void
put(TierResultRow *row, const char *measurement, double value, const char *unit)
{
	if (!(value >= 0) || isinf(value))
		return;					/* not measured */
	tier_row_clear(row);
	tier_row_text(row, 0, measurement);
	tier_row_datum(row, 1, Float8GetDatum(value));
	tier_row_text(row, 2, unit);
	tier_row_put(row);
}

static void
check_place(const TierDevice *device, const char *name, int64 max_bytes, double reserve_fraction)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot calibrate a tier during recovery"),
				 errhint("Calibrate on the primary; a standby may have other devices.")));
	if (tier_device_why_not(device) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tablespace \"%s\" cannot be written", name),
				 errdetail("Its directory \"%s\" is %s.", device->path,
						   tier_device_why_not(device))));
	if (device->free_bytes >= 0 &&
		device->free_bytes - max_bytes < reserve_fraction * Max(device->total_bytes, 0))
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space in tablespace \"%s\" to calibrate it", name),
				 errdetail("A scratch file of " INT64_FORMAT
						   " bytes would go into the tier's reserve; "
						   INT64_FORMAT " bytes are free.",
						   max_bytes, device->free_bytes),
				 errhint("Free space there, or calibrate with a smaller max_bytes.")));
}

/*
 * The cost of one page written alone, for the cost model.  Checkpoints write those, so it is
 * such that parallelism of them take the device as long as was measured, and at most as long
 * as one at a time.  Less than 0: neither was measured.
 */
static double
random_write_ms(const TierCalibration *found, double parallelism)
{
	double		ms = found->checkpoint_write_ms * parallelism;

	if (found->checkpoint_write_ms < 0)
		return found->random_write_ms;
	return found->random_write_ms < 0 ? ms : Min(found->random_write_ms, ms);
}

/*
 * measure_device(tablespace_oid, max_seconds, max_bytes, reserve_fraction,
 * compressed, parallelism, sample_relation): rows of measurement, value, unit.
 */
static Datum
measure_device(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	Oid			tablespace_oid = PG_GETARG_OID(0);
	double		max_seconds = PG_GETARG_FLOAT8(1);
	int64		max_bytes = PG_GETARG_INT64(2);
	double		reserve_fraction = PG_GETARG_FLOAT8(3);
	bool		compressed = PG_GETARG_BOOL(4);
	double		parallelism = PG_GETARG_FLOAT8(5);
	Oid			sample_oid = PG_GETARG_OID(6);
	char	   *name = get_tablespace_name(tablespace_oid);
	TierCalibration *found;

	tier_result_start(fcinfo, &row);
	tier_calibrate_check_limits(max_seconds, max_bytes, LEAST_BYTES);
	if (name == NULL || tablespace_oid == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tablespace with OID %u cannot be calibrated", tablespace_oid)));

	/*
	 * In an expression of an index, say, that ANALYZE evaluates: the outer
	 * user is who runs ANALYZE, and not the role that wrote the expression.
	 */
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot calibrate a tier within a security-restricted operation")));

	/*
	 * The caller of calibrate_tier(), which runs as the owner of the
	 * extension.
	 */
	if (tablespace_oid != MyDatabaseTableSpace &&
		!tier_compat_may_create_in_tablespace(tablespace_oid, GetOuterUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLESPACE, name);
	check_place(tier_device_lookup(tablespace_oid, ""), name, max_bytes, reserve_fraction);

	found = tier_calibrate(tablespace_oid, max_seconds, max_bytes, compressed,
						   OidIsValid(sample_oid) ? path_of_relation(sample_oid) : NULL);

	put(&row, "random_read_ms", found->random_read_ms, "ms");
	if (found->read_iops_32 >= 0)
		parallelism = Max(1.0, found->read_iops_32 * found->random_read_ms / 1000.0);
	put(&row, "random_write_ms", random_write_ms(found, parallelism), "ms");
	put(&row, "sequential_read_mb_per_s", found->sequential_read_mb_per_s, "MB/s");
	put(&row, "sequential_write_mb_per_s", found->sequential_write_mb_per_s, "MB/s");
	put(&row, "fsync_ms", found->fsync_ms, "ms");
	if (found->read_iops_32 >= 0)
		put(&row, "parallelism", parallelism, "requests");
	put(&row, "checkpoint_write_ms", found->checkpoint_write_ms, "ms");
	put(&row, "read_iops_depth_1", 1000.0 / Max(found->random_read_ms, 1e-6), "1/s");
	put(&row, "read_iops_depth_32", found->read_iops_32, "1/s");
	put(&row, "past the page cache", found->is_direct ? 1 : 0, "boolean");
	put(&row, "scratch_file_bytes", found->file_bytes, "bytes");
	put(&row, "written_bytes", found->written_bytes, "bytes");
	put(&row, "elapsed_s", found->elapsed_s, "s");
	return (Datum) 0;
}

Datum
tier_measure_device(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(measure_device, fcinfo);
}
