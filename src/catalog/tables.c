/*-------------------------------------------------------------------------
 *
 * catalog/tables.c
 *		Entering the extension's own tables, bulk writes, and the tiers.
 *
 * Runs in sessions and in workers.  Our tables belong to the owner of the
 * extension, and only he may write them; a user who calls one of our functions
 * is checked by the function and then acts on the tables with the owner's
 * rights, with a fixed search_path and with nothing of the user's executed in
 * between.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/server/wal.h"

#define BULK_BATCH_ROWS 1000

/* Nobody's open transaction stops us for longer; without a unit, see set_for_scope. */
#define LONGEST_LOCK_WAIT_MS 30000

/* Error messages are stored, and somebody else may have written them. */
#define MAX_MESSAGE_BYTES 1000

struct TierBulk
{
	const char *sql;
	int			ncolumns;
	Oid		   *types;			/* of the elements */
	Oid		   *array_types;
	int			nrows;
	Datum	  **values;			/* by column, BULK_BATCH_ROWS each */
	bool	  **nulls;
	MemoryContext batch_context;	/* copies of by-reference values */
};

/* Version and owner of the extension as installed in this database. */
static bool
read_extension(Oid extension_oid, char **version, Oid *owner)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension_oid));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		datum = heap_getattr(tuple, Anum_pg_extension_extversion,
										 RelationGetDescr(rel), &isnull);

		*version = isnull ? pstrdup("") : TextDatumGetCString(datum);
		*owner = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
		found = true;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * As tier_catalog_extension_state; *owner is valid unless it is absent.
 *
 * While CREATE EXTENSION runs, its script calls us: the row is there, with
 * the version being created.
 */
static TierExtensionState
lock_extension(Oid *owner)
{
	Oid			extension_oid = get_extension_oid(TIER_EXTENSION_NAME, true);
	char	   *version;

	if (!OidIsValid(extension_oid))
		return TIER_EXTENSION_ABSENT;
	LockDatabaseObject(ExtensionRelationId, extension_oid, 0, AccessShareLock);
	if (!read_extension(extension_oid, &version, owner))
		return TIER_EXTENSION_ABSENT;
	if (strcmp(version, TIER_VERSION) != 0)
		return TIER_EXTENSION_OTHER_VERSION;
	return TIER_EXTENSION_PRESENT;
}

TierExtensionState
tier_catalog_extension_state(void)
{
	Oid			owner;

	return lock_extension(&owner);
}

/*
 * What the statements on our tables rely on, or must not be hindered by, whatever
 * the session, its role or its database have set.
 */
static void
set_for_scope(void)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"session_replication_role", "origin"}, /* our keys and triggers count */
		{"row_security", "off"},	/* rather an error than fewer rows */
		{"standard_conforming_strings", "on"},
		{"transform_null_equals", "off"},
		{"array_nulls", "on"},
		{"quote_all_identifiers", "off"},	/* names that we store */
		{"TimeZone", "UTC"},	/* hours that are rolled up */
		{"jit", "off"},			/* small tables, many expressions */
		{"max_parallel_workers_per_gather", "0"},
	};

	for (int i = 0; i < (int) lengthof(settings); i++)
	{
		const char *value = GetConfigOption(settings[i][0], true, false);

		if (value == NULL || strcmp(value, settings[i][1]) == 0)
			continue;
		(void) set_config_option(settings[i][0], settings[i][1],
								 PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	}
	if (LockTimeout == 0 || LockTimeout > LONGEST_LOCK_WAIT_MS)
		(void) set_config_option("lock_timeout", CppAsString2(LONGEST_LOCK_WAIT_MS),
								 PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
}

static void
enter_as(TierCatalogScope *scope, Oid owner)
{
	GetUserIdAndSecContext(&scope->caller, &scope->caller_context);
	scope->guc_level = NewGUCNestLevel();
	set_for_scope();
	SetUserIdAndSecContext(owner, scope->caller_context |
						   SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	PushActiveSnapshot(GetTransactionSnapshot());
	scope->entered = true;
}

bool
tier_catalog_try_enter(TierCatalogScope *scope)
{
	Oid			owner;

	scope->entered = false;
	if (lock_extension(&owner) != TIER_EXTENSION_PRESENT)
		return false;
	enter_as(scope, owner);
	return true;
}

void
tier_catalog_enter(TierCatalogScope *scope)
{
	Oid			owner;

	scope->entered = false;
	switch (lock_extension(&owner))
	{
		case TIER_EXTENSION_ABSENT:
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("extension \"%s\" does not exist", TIER_EXTENSION_NAME)));
			break;
		case TIER_EXTENSION_OTHER_VERSION:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("extension \"%s\" is not at the version of its library, %s",
							TIER_EXTENSION_NAME, TIER_VERSION),
					 errhint("Run ALTER EXTENSION %s UPDATE.", TIER_EXTENSION_NAME)));
			break;
		case TIER_EXTENSION_PRESENT:
			enter_as(scope, owner);
			break;
	}
}

void
tier_catalog_leave(TierCatalogScope *scope)
{
	if (!scope->entered)
		return;
	PopActiveSnapshot();
	SPI_finish();
	AtEOXact_GUC(false, scope->guc_level);
	SetUserIdAndSecContext(scope->caller, scope->caller_context);
	scope->entered = false;
}

void
tier_catalog_see_latest(void)
{
	PopActiveSnapshot();
	PushActiveSnapshot(GetLatestSnapshot());
}

uint64
tier_catalog_execute(const char *sql, int nargs, const Oid *types,
					 const Datum *values, const char *nulls)
{
	int			rc;

	rc = SPI_execute_with_args(sql, nargs, unconstify(Oid *, types),
							   unconstify(Datum *, values), nulls, false, 0);
	if (rc < 0)
		elog(ERROR, "statement on the tiering catalog failed: %s: %s",
			 SPI_result_code_string(rc), sql);
	return SPI_processed;
}

void
tier_catalog_names_of(Oid relation_oid, NameData *schema, NameData *relation)
{
	char	   *relation_name = get_rel_name(relation_oid);
	char	   *schema_name = get_namespace_name(get_rel_namespace(relation_oid));

	if (schema_name == NULL || relation_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation_oid)));
	namestrcpy(schema, schema_name);
	namestrcpy(relation, relation_name);
}

char *
tier_catalog_clip(const char *message)
{
	return pnstrdup(message, pg_mbcliplen(message, (int) Min(strlen(message), MAX_MESSAGE_BYTES * 2), MAX_MESSAGE_BYTES));
}

Datum
tier_catalog_datum(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

Datum
tier_column_get(const void *row, const TierColumn *column, bool *isnull)
{
	const char *field = (const char *) row + column->offset;

	*isnull = column->null_if_zero && *(const TimestampTz *) field == 0;
	switch (column->type)
	{
		case CHAROID:
			return CharGetDatum(*field);
		case INT4OID:
			return Int32GetDatum(*(const int32 *) field);
		case INT8OID:
			return Int64GetDatum(*(const int64 *) field);
		case OIDOID:
			return ObjectIdGetDatum(*(const Oid *) field);
		case TIMESTAMPTZOID:
			return TimestampTzGetDatum(*(const TimestampTz *) field);
		default:
			Assert(column->type == FLOAT8OID);
			return Float8GetDatum(*(const double *) field);
	}
}

void
tier_column_set(void *row, const TierColumn *column, Datum value)
{
	char	   *field = (char *) row + column->offset;

	switch (column->type)
	{
		case CHAROID:
			*field = DatumGetChar(value);
			break;
		case INT4OID:
			*(int32 *) field = DatumGetInt32(value);
			break;
		case INT8OID:
			*(int64 *) field = DatumGetInt64(value);
			break;
		case OIDOID:
			*(Oid *) field = DatumGetObjectId(value);
			break;
		case TIMESTAMPTZOID:
			*(TimestampTz *) field = DatumGetTimestampTz(value);
			break;
		default:
			Assert(column->type == FLOAT8OID);
			*(double *) field = DatumGetFloat8(value);
			break;
	}
}

/* ---------------------------------------------------------------------
 * Bulk writes
 * ---------------------------------------------------------------------
 */

TierBulk *
tier_bulk_create(const char *sql, int ncolumns, const Oid *types)
{
	TierBulk   *bulk = palloc0(sizeof(TierBulk));

	bulk->sql = sql;
	bulk->ncolumns = ncolumns;
	bulk->types = palloc(sizeof(Oid) * ncolumns);
	bulk->array_types = palloc(sizeof(Oid) * ncolumns);
	bulk->values = palloc(sizeof(Datum *) * ncolumns);
	bulk->nulls = palloc(sizeof(bool *) * ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		bulk->types[i] = types[i];
		bulk->array_types[i] = get_array_type(types[i]);
		bulk->values[i] = palloc(sizeof(Datum) * BULK_BATCH_ROWS);
		bulk->nulls[i] = palloc(sizeof(bool) * BULK_BATCH_ROWS);
	}
	bulk->batch_context = AllocSetContextCreate(CurrentMemoryContext,
												"tiered_storage bulk write",
												ALLOCSET_DEFAULT_SIZES);
	return bulk;
}

static void
bulk_send(TierBulk *bulk)
{
	MemoryContext old_context;
	Datum	   *arrays;

	if (bulk->nrows == 0)
		return;

	old_context = MemoryContextSwitchTo(bulk->batch_context);
	arrays = palloc(sizeof(Datum) * bulk->ncolumns);
	for (int i = 0; i < bulk->ncolumns; i++)
	{
		int			lower = 1;
		int16		length;
		bool		by_value;
		char		align;

		get_typlenbyvalalign(bulk->types[i], &length, &by_value, &align);
		arrays[i] = PointerGetDatum(construct_md_array(bulk->values[i], bulk->nulls[i],
													   1, &bulk->nrows, &lower,
													   bulk->types[i], length, by_value, align));
	}
	MemoryContextSwitchTo(old_context);

	tier_catalog_execute(bulk->sql, bulk->ncolumns, bulk->array_types, arrays, NULL);
	bulk->nrows = 0;
	MemoryContextReset(bulk->batch_context);
	CHECK_FOR_INTERRUPTS();
	tier_wal_keep_up();
}

void
tier_bulk_add(TierBulk *bulk, const Datum *values, const bool *nulls)
{
	for (int i = 0; i < bulk->ncolumns; i++)
	{
		bulk->values[i][bulk->nrows] = values[i];
		bulk->nulls[i][bulk->nrows] = nulls != NULL && nulls[i];
	}
	if (++bulk->nrows == BULK_BATCH_ROWS)
		bulk_send(bulk);
}

void
tier_bulk_finish(TierBulk *bulk)
{
	bulk_send(bulk);
	MemoryContextDelete(bulk->batch_context);
}

/* ---------------------------------------------------------------------
 * Tiers
 * ---------------------------------------------------------------------
 */

static void
read_tier(TierTier *tier, uint64 row)
{
	bool		isnull;

	tier->name = *DatumGetName(tier_catalog_datum(row, 1, &isnull));
	tier->rank = DatumGetInt32(tier_catalog_datum(row, 2, &isnull));
	tier->profile.random_read_ms = DatumGetFloat8(tier_catalog_datum(row, 3, &isnull));
	tier->profile.random_write_ms = DatumGetFloat8(tier_catalog_datum(row, 4, &isnull));
	tier->profile.sequential_read_mb_per_s = DatumGetFloat8(tier_catalog_datum(row, 5, &isnull));
	tier->profile.sequential_write_mb_per_s = DatumGetFloat8(tier_catalog_datum(row, 6, &isnull));
	tier->profile.fsync_ms = DatumGetFloat8(tier_catalog_datum(row, 7, &isnull));
	tier->profile.parallelism = DatumGetFloat8(tier_catalog_datum(row, 8, &isnull));
	tier->profile.price_per_gb_month = DatumGetFloat8(tier_catalog_datum(row, 9, &isnull));
	tier->price_is_assumed = DatumGetBool(tier_catalog_datum(row, 10, &isnull));
	tier->reserve_fraction = DatumGetFloat8(tier_catalog_datum(row, 11, &isnull));
	tier->high_watermark = DatumGetFloat8(tier_catalog_datum(row, 12, &isnull));
	tier->compressed = DatumGetBool(tier_catalog_datum(row, 13, &isnull));
	tier->capacity_bytes = DatumGetInt64(tier_catalog_datum(row, 14, &isnull));
	if (isnull)
		tier->capacity_bytes = -1;
	tier->free_bytes = -1;
	if (tier->compressed)
	{
		tier->profile.compression_ratio = DatumGetFloat8(tier_catalog_datum(row, 15, &isnull));
		if (isnull)
			tier->profile.compression_ratio = TIER_PRIOR_COMPRESSION_RATIO;
	}
	tier->endurance_tbw = DatumGetFloat8(tier_catalog_datum(row, 16, &isnull));
	if (isnull)
		tier->endurance_tbw = 0;
	tier->endurance_dwpd = DatumGetFloat8(tier_catalog_datum(row, 17, &isnull));
	if (isnull)
		tier->endurance_dwpd = 0;
	tier->profile.calibrated = DatumGetBool(tier_catalog_datum(row, 18, &isnull));
}

/* What the devices may be written in a day: TBW over five years, DWPD, or the less of them. */
static void
set_endurance(TierTier *tier, int64 device_bytes)
{
	double		per_day = INFINITY;

	if (tier->endurance_tbw > 0)
		per_day = tier->endurance_tbw * 1e12 / TIER_ENDURANCE_DAYS;
	if (tier->endurance_dwpd > 0 && device_bytes > 0)
		per_day = Min(per_day, tier->endurance_dwpd * device_bytes);
	tier->profile.endurance_bytes_per_day = isinf(per_day) ? 0.0 : per_day;
}

/* Sums the distinct file systems beneath a tier into its capacity and free space. */
static void
add_up_file_systems(TierSet *set, int tier_index)
{
	TierTier   *tier = &set->tiers[tier_index];
	int64		total = -1;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierDevice *device = set->tablespaces[i].device;
		bool		seen = false;

		if (set->tablespaces[i].tier != tier_index || device->total_bytes < 0)
			continue;
		for (int j = 0; j < i && !seen; j++)
			seen = set->tablespaces[j].tier == tier_index &&
				set->tablespaces[j].device->total_bytes >= 0 &&
				set->tablespaces[j].device->fs_id == device->fs_id;
		if (seen)
			continue;
		total = Max(total, 0) + device->total_bytes;
		tier->free_bytes = Max(tier->free_bytes, 0) + Max(device->free_bytes, 0);
	}
	tier->device_bytes = total;
	if (tier->capacity_bytes < 0)
		tier->capacity_bytes = total;
	set_endurance(tier, total >= 0 ? total : tier->capacity_bytes);
}

TierSet *
tier_catalog_load_tiers(MemoryContext context)
{
	TierSet    *set = MemoryContextAllocZero(context, sizeof(TierSet));
	MemoryContext old_context;
	int			nrows;
	bool		isnull;

	set->ntiers = (int) tier_catalog_execute("SELECT tier_name, rank, random_read_ms, random_write_ms, "
											 "sequential_read_mb_per_s, sequential_write_mb_per_s, "
											 "fsync_ms, parallelism, price_per_gb_month::float8, price_is_assumed, "
											 "reserve_fraction, high_watermark, compressed, capacity_bytes, "
											 "compression_ratio, endurance_tbw, endurance_dwpd, "
											 "EXISTS (SELECT FROM _tiered_storage.tier_calibration c WHERE c.tier_name = t.tier_name) "
											 "FROM _tiered_storage.tier t ORDER BY rank, tier_name",
											 0, NULL, NULL, NULL);
	if (set->ntiers > TIER_MAX_TIERS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there are too many tiers"),
				 errdetail("%d tiers are defined, at most %d are possible.",
						   set->ntiers, TIER_MAX_TIERS)));
	set->tiers = MemoryContextAllocZero(context, sizeof(TierTier) * Max(set->ntiers, 1));
	for (int i = 0; i < set->ntiers; i++)
		read_tier(&set->tiers[i], i);

	set->ntablespaces = (int) tier_catalog_execute("SELECT tier_name, tablespace_oid, tablespace_name, discovered "
												   "FROM _tiered_storage.tier_tablespaces ORDER BY tablespace_oid",
												   0, NULL, NULL, NULL);
	set->tablespaces = MemoryContextAllocZero(context, sizeof(TierTablespace) * Max(set->ntablespaces, 1));
	old_context = MemoryContextSwitchTo(context);
	nrows = set->ntablespaces;
	set->ntablespaces = 0;
	for (int i = 0; i < nrows; i++)
	{
		TierTablespace *tablespace = &set->tablespaces[set->ntablespaces];
		Name		tier_name = DatumGetName(tier_catalog_datum(i, 1, &isnull));

		/* The second statement may see a tier that the first did not. */
		tablespace->tier = tier_set_find_tier(set, NameStr(*tier_name));
		if (tablespace->tier < 0)
			continue;
		tablespace->oid = DatumGetObjectId(tier_catalog_datum(i, 2, &isnull));
		tablespace->name = *DatumGetName(tier_catalog_datum(i, 3, &isnull));
		tablespace->discovered = DatumGetBool(tier_catalog_datum(i, 4, &isnull));
		tablespace->device = tier_device_lookup(tablespace->oid, "");
		set->ntablespaces++;
	}
	MemoryContextSwitchTo(old_context);

	for (int i = 0; i < set->ntiers; i++)
		add_up_file_systems(set, i);
	return set;
}

int
tier_set_find_tier(const TierSet *set, const char *name)
{
	for (int i = 0; i < set->ntiers; i++)
		if (strcmp(NameStr(set->tiers[i].name), name) == 0)
			return i;
	return -1;
}

int
tier_require_tier(const TierSet *set, const char *name)
{
	int			tier = tier_set_find_tier(set, name);

	if (tier < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tier \"%s\" does not exist", name),
				 errhint("SELECT tier_name FROM tiered_storage.tiers lists the tiers; add_tier() defines one.")));
	return tier;
}

void
tier_require_tier_rights(const TierSet *set, int tier)
{
	bool		allowed = false;
	bool		any = false;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		Oid			tablespace_oid = set->tablespaces[i].oid;

		if (set->tablespaces[i].tier != tier)
			continue;
		any = true;
		allowed |= tablespace_oid == MyDatabaseTableSpace ||
			tier_compat_may_create_in_tablespace(tablespace_oid, GetUserId());
	}
	if (!any)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", NameStr(set->tiers[tier].name)),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for the tablespaces of tier \"%s\"", NameStr(set->tiers[tier].name)),
				 errhint("GRANT CREATE ON TABLESPACE allows it.")));
}

const TierTablespace *
tier_set_tablespace(const TierSet *set, Oid tablespace_oid)
{
	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].oid == tablespace_oid)
			return &set->tablespaces[i];
	return NULL;
}

Oid
tier_set_roomiest_tablespace(const TierSet *set, int tier)
{
	const TierTablespace *best = NULL;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierTablespace *candidate = &set->tablespaces[i];

		if (candidate->tier == tier &&
			(best == NULL || candidate->device->free_bytes > best->device->free_bytes))
			best = candidate;
	}
	return best == NULL ? InvalidOid : best->oid;
}

Oid
tier_set_usable_tablespace(const TierSet *set, int tier, Oid role_oid)
{
	const TierTablespace *best = NULL;
	bool		best_allowed = false;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierTablespace *candidate = &set->tablespaces[i];
		bool		allowed;

		if (candidate->tier != tier)
			continue;
		allowed = candidate->device->exists && candidate->device->writable &&
			(candidate->oid == MyDatabaseTableSpace ||
			 tier_compat_may_create_in_tablespace(candidate->oid, role_oid));
		if (best == NULL || (allowed && !best_allowed) ||
			(allowed == best_allowed && candidate->device->free_bytes > best->device->free_bytes))
		{
			best = candidate;
			best_allowed = allowed;
		}
	}
	return best == NULL ? InvalidOid : best->oid;
}

int
tier_set_tier_of_tablespace(const TierSet *set, Oid tablespace_oid)
{
	const TierTablespace *tablespace = tier_set_tablespace(set, tablespace_oid);

	return tablespace == NULL ? -1 : tablespace->tier;
}

void
tier_catalog_refresh_identities(void)
{
	tier_catalog_execute("SELECT _tiered_storage.refresh_identities()", 0, NULL, NULL, NULL);
	tier_catalog_execute("UPDATE _tiered_storage.move m SET state = 'failed', finished_at = now(), "
						 "failures = failures + 1, next_attempt_at = now(), pid = NULL, backend_start = NULL, "
						 "error = 'the process that moved it ended before it was done' "
						 "WHERE m.move_id IN (SELECT r.move_id FROM _tiered_storage.move r "
						 "WHERE r.state = 'running' AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a "
						 "WHERE a.pid = r.pid AND a.backend_start = r.backend_start) FOR UPDATE OF r SKIP LOCKED)",
						 0, NULL, NULL, NULL);
}
