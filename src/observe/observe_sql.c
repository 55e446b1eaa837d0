/*-------------------------------------------------------------------------
 *
 * observe/observe_sql.c
 *		SQL functions that show what the observing modules see.
 *
 * Runs in the backend that calls the functions.  Nothing is kept between two
 * calls.  The only locks are AccessShareLocks on the catalogs that are read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_tablespace_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/server/buffers.h"
#include "src/storage/device.h"
#include "src/model/fit.h"
#include "src/model/period.h"

PG_FUNCTION_INFO_V1(tier_tablespace_devices);
PG_FUNCTION_INFO_V1(tier_relation_buffers);
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
	DEVICE_COLUMNS
};

/* Columns of _tiered_storage.relation_buffers(), in order */
enum
{
	BUFFERS_RELATION,
	BUFFERS_TABLESPACE_OID,
	BUFFERS_FILE_NUMBER,
	BUFFERS_CACHED,
	BUFFERS_DIRTY,
	BUFFERS_USAGE_SUM,
	BUFFERS_STANDARD_ERROR,
	BUFFERS_COLUMNS
};

typedef struct Tablespace
{
	Oid			oid;
	NameData	name;
} Tablespace;

/* Starts the result and checks that the SQL declaration fits this library. */
static ReturnSetInfo *
begin_result(FunctionCallInfo fcinfo, int columns)
{
	ReturnSetInfo *result;

	tier_compat_init_materialized_srf(fcinfo, 0);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (result->setDesc->natts != columns)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("function returns %d columns, "
						"but the library of extension \"%s\" provides %d",
						result->setDesc->natts, "tiered_storage", columns),
				 errhint("Run ALTER EXTENSION %s UPDATE.", "tiered_storage")));

	return result;
}

static void
set_text(Datum *values, bool *nulls, int column, const char *value)
{
	nulls[column] = (value == NULL);
	if (value != NULL)
		values[column] = CStringGetTextDatum(value);
}

static void
set_bytes(Datum *values, bool *nulls, int column, int64 bytes)
{
	nulls[column] = (bytes < 0);
	values[column] = Int64GetDatum(bytes);
}

/*
 * All tablespaces but pg_global.  A list first, so that no scan of a catalog
 * is open while a slow file system answers.
 */
static List *
list_tablespaces(void)
{
	List	   *tablespaces = NIL;
	Relation	catalog = table_open(TableSpaceRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL,
										  0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_tablespace form = (Form_pg_tablespace) GETSTRUCT(tuple);
		Tablespace *tablespace;

		if (form->oid == GLOBALTABLESPACE_OID)
			continue;

		tablespace = palloc(sizeof(Tablespace));
		tablespace->oid = form->oid;
		tablespace->name = form->spcname;
		tablespaces = lappend(tablespaces, tablespace);
	}

	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return tablespaces;
}

/*
 * What cannot be known is NULL: about the device without a block device,
 * about the file system when the directory is in none that we could find.
 */
static void
put_device(ReturnSetInfo *result, Tablespace *tablespace,
		   const TierDevice *device)
{
	Datum		values[DEVICE_COLUMNS] = {0};
	bool		nulls[DEVICE_COLUMNS] = {0};

	values[DEVICE_TABLESPACE_NAME] = NameGetDatum(&tablespace->name);
	values[DEVICE_TABLESPACE_OID] = ObjectIdGetDatum(tablespace->oid);
	set_text(values, nulls, DEVICE_PATH, device->path);
	values[DEVICE_PATH_EXISTS] = BoolGetDatum(device->exists);
	values[DEVICE_WRITABLE] = BoolGetDatum(device->writable);
	set_text(values, nulls, DEVICE_DEVICE, device->device);
	set_text(values, nulls, DEVICE_FILESYSTEM, device->filesystem);
	set_text(values, nulls, DEVICE_MOUNT_POINT, device->mount_point);
	set_text(values, nulls, DEVICE_KIND, tier_device_kind_name(device->kind));
	values[DEVICE_ROTATIONAL] = BoolGetDatum(device->rotational);
	nulls[DEVICE_ROTATIONAL] = (device->device == NULL);
	values[DEVICE_IS_VIRTUAL] = BoolGetDatum(device->is_virtual);
	nulls[DEVICE_IS_VIRTUAL] = (device->device == NULL);
	values[DEVICE_COMPRESSED] = BoolGetDatum(device->compressed);
	nulls[DEVICE_COMPRESSED] = (device->filesystem == NULL);
	values[DEVICE_FILE_SYSTEM_ID] = Int64GetDatum((int64) device->fs_id);
	nulls[DEVICE_FILE_SYSTEM_ID] = (device->fs_id == 0);
	set_bytes(values, nulls, DEVICE_TOTAL_BYTES, device->total_bytes);
	set_bytes(values, nulls, DEVICE_USED_BYTES, device->used_bytes);
	set_bytes(values, nulls, DEVICE_FREE_BYTES, device->free_bytes);
	set_text(values, nulls, DEVICE_PROFILE, tier_device_profile_name(device));

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

Datum
tier_tablespace_devices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = begin_result(fcinfo, DEVICE_COLUMNS);
	ListCell   *cell;

	foreach(cell, list_tablespaces())
	{
		Tablespace *tablespace = lfirst(cell);

		CHECK_FOR_INTERRUPTS();
		put_device(result, tablespace,
				   tier_device_lookup(tablespace->oid, tier_debug_root()));
	}

	return (Datum) 0;
}

/* The file of a relation as buffer tags name it; false: it has none there. */
static bool
relation_file(Form_pg_class form, Oid *tablespace_oid, Oid *file_number)
{
	/* Temporary relations are in local buffers; their numbers may clash. */
	if (form->relisshared || form->relpersistence == RELPERSISTENCE_TEMP)
		return false;

	*tablespace_oid = OidIsValid(form->reltablespace) ?
		form->reltablespace : MyDatabaseTableSpace;
	if (OidIsValid(form->relfilenode))
		*file_number = form->relfilenode;
	else if (RELKIND_HAS_STORAGE(form->relkind))
		*file_number = tier_compat_relation_map_oid_to_filenumber(form->oid,
																  false);
	else
		return false;

	return OidIsValid(*file_number);
}

/*
 * The relation of each count, InvalidOid where none is visible.  One pass over
 * pg_class: core's RelidByRelfilenode would have to probe an index for each
 * file, which costs as much as ten rows of the pass, and keep each answer until
 * the session ends.
 */
static Oid *
resolve_relations(const TierBufferScan *scan)
{
	int			n_counts;
	const TierBufferCount *counts = tier_buffers_all(scan, &n_counts);
	Oid		   *relations = palloc_extended(sizeof(Oid) * ((Size) n_counts + 1),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc catalog_scan = systable_beginscan(catalog, InvalidOid, false,
												  NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(catalog_scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		const TierBufferCount *count;
		Oid			tablespace_oid;
		Oid			file_number;

		CHECK_FOR_INTERRUPTS();

		if (!relation_file(form, &tablespace_oid, &file_number))
			continue;
		count = tier_buffers_find(scan, tablespace_oid, file_number);
		if (count != NULL)
			relations[count - counts] = form->oid;
	}

	systable_endscan(catalog_scan);
	table_close(catalog, AccessShareLock);
	return relations;
}

Datum
tier_relation_buffers(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = begin_result(fcinfo, BUFFERS_COLUMNS);
	TierBufferScan *scan = tier_buffers_scan();
	Oid		   *relations = resolve_relations(scan);
	int			n_counts;
	const TierBufferCount *counts = tier_buffers_all(scan, &n_counts);

	for (int i = 0; i < n_counts; i++)
	{
		Datum		values[BUFFERS_COLUMNS] = {0};
		bool		nulls[BUFFERS_COLUMNS] = {0};

		values[BUFFERS_RELATION] = ObjectIdGetDatum(relations[i]);
		nulls[BUFFERS_RELATION] = !OidIsValid(relations[i]);
		values[BUFFERS_TABLESPACE_OID] = ObjectIdGetDatum(counts[i].tablespace_oid);
		values[BUFFERS_FILE_NUMBER] = ObjectIdGetDatum(counts[i].file_number);
		values[BUFFERS_CACHED] = Int64GetDatum((int64) counts[i].cached);
		values[BUFFERS_DIRTY] = Int64GetDatum((int64) counts[i].dirty);
		values[BUFFERS_USAGE_SUM] = Int64GetDatum((int64) counts[i].usage);
		values[BUFFERS_STANDARD_ERROR] =
			Float8GetDatum(tier_buffers_error(counts[i].cached, tier_buffers_share(scan)));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}

	pfree(relations);
	tier_buffers_free(scan);
	return (Datum) 0;
}

/* What is not known is NULL. */
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
