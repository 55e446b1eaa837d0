/*-------------------------------------------------------------------------
 *
 * catalog/device_counters.c
 *		The store of devices (counters, smoothed rates, fit) and of the growth of tablespaces.
 *
 * See catalog/tables.h.  One row for each device beneath a tablespace, written by
 * each sample, and one for each tablespace, written by those that find a change; under the
 * lock on _tiered_storage.sampler.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

/* The columns of device_state after the first three, and their fields. */
#define COLUMN(name, type, field) \
	{name, type, offsetof(TierDeviceState, field), false, 0, false, false, 0}
#define NULLABLE_TIME(name) \
	{#name, TIMESTAMPTZOID, offsetof(TierDeviceState, name), true, 0, false, false, 0}

static const TierColumn device_columns[] = {
	/* Times that are not known are NULL. */
	NULLABLE_TIME(counters_at),
	NULLABLE_TIME(observed_since),
	NULLABLE_TIME(window_since),
	NULLABLE_TIME(fit_at),

	/* Counters of the kernel. */
	COLUMN("reads", INT8OID, counters.reads),
	COLUMN("read_bytes", INT8OID, counters.read_bytes),
	COLUMN("writes", INT8OID, counters.writes),
	COLUMN("write_bytes", INT8OID, counters.write_bytes),
	COLUMN("busy_ms", INT8OID, counters.busy_ms),
	COLUMN("read_ms", INT8OID, counters.read_ms),
	COLUMN("write_ms", INT8OID, counters.write_ms),

	/* The last period. */
	COLUMN("period_s", FLOAT8OID, period_s),
	COLUMN("last_reads", INT8OID, last.reads),
	COLUMN("last_read_bytes", INT8OID, last.read_bytes),
	COLUMN("last_writes", INT8OID, last.writes),
	COLUMN("last_write_bytes", INT8OID, last.write_bytes),
	COLUMN("last_busy_ms", INT8OID, last.busy_ms),
	COLUMN("predicted_bytes", FLOAT8OID, predicted_bytes),
	COLUMN("predicted_reads", FLOAT8OID, predicted_reads),
	COLUMN("foreign_bytes", FLOAT8OID, foreign_bytes),

	/* Smoothed. */
	COLUMN("reads_fast", FLOAT8OID, rates.reads),
	COLUMN("read_bytes_fast", FLOAT8OID, rates.read_bytes),
	COLUMN("writes_fast", FLOAT8OID, rates.writes),
	COLUMN("write_bytes_fast", FLOAT8OID, rates.write_bytes),
	COLUMN("busy_ms_fast", FLOAT8OID, rates.busy_ms),
	COLUMN("device_ms_fast", FLOAT8OID, rates.device_ms),

	/* All periods together. */
	COLUMN("total_reads", FLOAT8OID, totals.reads),
	COLUMN("total_read_bytes", FLOAT8OID, totals.read_bytes),
	COLUMN("total_writes", FLOAT8OID, totals.writes),
	COLUMN("total_write_bytes", FLOAT8OID, totals.write_bytes),
	COLUMN("total_device_ms", FLOAT8OID, totals.device_ms),

	/* The fit. */
	COLUMN("window_predicted", FLOAT8OID, window_predicted),
	COLUMN("window_read", FLOAT8OID, window_read),
	COLUMN("window_predicted_reads", FLOAT8OID, window_predicted_reads),
	COLUMN("window_reads", FLOAT8OID, window_reads),
	COLUMN("window_foreign", FLOAT8OID, window_foreign),
	COLUMN("fit_xx", FLOAT8OID, fit.xx),
	COLUMN("fit_xy", FLOAT8OID, fit.xy),
	COLUMN("fit_yy", FLOAT8OID, fit.yy),
	COLUMN("fit_periods", FLOAT8OID, fit.periods),
	COLUMN("request_fit_xx", FLOAT8OID, request_fit.xx),
	COLUMN("request_fit_xy", FLOAT8OID, request_fit.xy),
	COLUMN("request_fit_yy", FLOAT8OID, request_fit.yy),
	COLUMN("request_fit_periods", FLOAT8OID, request_fit.periods),

	COLUMN("cluster_blocks_read", INT8OID, cluster_blocks_read),
	COLUMN("cluster_temp_bytes", INT8OID, cluster_temp_bytes),
};

#define NCOLUMNS ((int) lengthof(device_columns))
#define FIRST_COLUMN 3			/* device, instance, tablespaces */

static void
append_columns(StringInfo buf)
{
	appendStringInfoString(buf, "device, instance, tablespaces, ");
	tier_columns_append(buf, "", device_columns, NCOLUMNS);
}

/* They were sorted when they were written. */
static void
read_oids(Datum value, TierDeviceState *state, MemoryContext context)
{
	Datum	   *oids;

	deconstruct_array(DatumGetArrayTypeP(value), OIDOID, sizeof(Oid), true, TYPALIGN_INT,
					  &oids, NULL, &state->ntablespaces);
	state->tablespaces = MemoryContextAlloc(context, sizeof(Oid) * Max(state->ntablespaces, 1));
	for (int i = 0; i < state->ntablespaces; i++)
		state->tablespaces[i] = DatumGetObjectId(oids[i]);
}

TierDevices *
tier_catalog_load_devices(MemoryContext context)
{
	TierDevices *devices = MemoryContextAllocZero(context, sizeof(TierDevices));
	StringInfoData sql;
	uint64		n;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT ");
	append_columns(&sql);
	appendStringInfoString(&sql, " FROM _tiered_storage.device_state ORDER BY device");
	n = tier_query_plain(sql.data);

	/* Never of size 0: it grows by repalloc. */
	devices->devices = MemoryContextAllocZero(context, sizeof(TierDeviceState) * Max(n, 1));
	devices->ndevices = (int) n;
	for (uint64 i = 0; i < n; i++)
	{
		TierDeviceState *state = &devices->devices[i];
		bool		isnull;

		state->device = tier_get_text(context, i, 1);
		state->instance = tier_get_text(context, i, 2);
		read_oids(tier_catalog_datum(i, 3, &isnull), state, context);
		tier_columns_load(state, device_columns, NCOLUMNS, i, FIRST_COLUMN + 1);
	}
	SPI_freetuptable(SPI_tuptable);
	return devices;
}

static void
store_device(const char *sql, const TierDeviceState *state)
{
	TierValue	values[FIRST_COLUMN + lengthof(device_columns)] = {
		tier_arg_text(state->device), tier_arg_text(state->instance),
		tier_arg_oids(state->tablespaces, state->ntablespaces)
	};

	tier_columns_args(state, device_columns, NCOLUMNS, values + FIRST_COLUMN);
	tier_catalog_run(sql, values, lengthof(values));
}

void
tier_catalog_store_devices(const TierDevices *devices)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "INSERT INTO _tiered_storage.device_state (");
	append_columns(&sql);
	appendStringInfoString(&sql, ") VALUES (");
	tier_columns_append_parameters(&sql, 1, FIRST_COLUMN + NCOLUMNS);
	appendStringInfoString(&sql, ") ON CONFLICT (device) DO UPDATE SET "
						   "instance = EXCLUDED.instance, tablespaces = EXCLUDED.tablespaces, ");
	tier_columns_append_update(&sql, device_columns, NCOLUMNS);

	for (int i = 0; i < devices->ndevices; i++)
	{
		const TierDeviceState *state = &devices->devices[i];

		if (state->present)
			store_device(sql.data, state);
		else
			tier_query("DELETE FROM _tiered_storage.device_state WHERE device = $1",
					   tier_arg_text(state->device));
	}
}

/* ---------------------------------------------------------------------
 * Growth and shrinkage of each tablespace; see model/growth.h
 * ---------------------------------------------------------------------
 */

#define GROWTH(name, type, field) \
	{name, type, offsetof(TierTablespaceGrowth, field), false, 0, false, false, 0}

static const TierColumn growth_columns[] = {
	GROWTH("tablespace_oid", OIDOID, tablespace_oid),
	GROWTH("evidence_began_at", TIMESTAMPTZOID, evidence.began_at),
	GROWTH("evidence_interval_s", FLOAT8OID, evidence.interval_s),
	{"evidence_growth", BYTEAOID, offsetof(TierTablespaceGrowth, evidence.growth), false,
	sizeof(((TierTablespaceGrowth *) NULL)->evidence.growth), true, false, 0},
};

static const TierTable growth_table = {
	"tablespace_growth", growth_columns, lengthof(growth_columns), sizeof(TierTablespaceGrowth)
};

TierGrowths *
tier_catalog_load_growths(MemoryContext context)
{
	TierGrowths *growths = MemoryContextAllocZero(context, sizeof(TierGrowths));

	growths->tablespaces = tier_table_load(context, &growth_table, "", InvalidOid,
										   &growths->ntablespaces);
	return growths;
}

void
tier_catalog_store_growths(const TierGrowths *growths)
{
	static const char gone_sql[] =
	"DELETE FROM _tiered_storage.tablespace_growth g WHERE NOT EXISTS "
	"(SELECT FROM pg_catalog.pg_tablespace t WHERE t.oid = g.tablespace_oid)";
	TierBulk   *bulk = tier_table_store(&growth_table);
	bool		any = false;

	for (int i = 0; i < growths->ntablespaces; i++)
	{
		if (!growths->tablespaces[i].changed)
			continue;
		any = true;
		tier_table_add(bulk, &growth_table, &growths->tablespaces[i]);
	}
	tier_bulk_finish(bulk);
	if (any)
		tier_query_plain(gone_sql);
}
