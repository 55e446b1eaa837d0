/*-------------------------------------------------------------------------
 *
 * catalog/wear.c
 *		The store of what devices were written: device_wear, by days.
 *
 * Counted with each sample, in its transaction.  What that means for the life of a
 * device is computed in SQL (sql/23_wear.sql), for the view and for us alike.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/catalog/tables.h"

static void
count_device(const TierDeviceState *device, TimestampTz at)
{
	static const Oid types[] = {TIMESTAMPTZOID, TEXTOID, FLOAT8OID, FLOAT8OID, FLOAT8OID, BOOLOID};
	Datum		values[lengthof(types)];
	char		nulls[lengthof(types)];

	memset(nulls, ' ', sizeof(nulls));
	values[0] = TimestampTzGetDatum(at);
	values[1] = CStringGetTextDatum(device->device);
	values[2] = Float8GetDatum(device->wear_bytes);
	values[3] = Float8GetDatum(device->wear_s);
	values[4] = Float8GetDatum(device->wear_page_bytes);
	if (device->wear_page_bytes < 0)
		nulls[4] = 'n';
	values[5] = BoolGetDatum(device->has_wal);
	if (!device->knows_wal)
		nulls[5] = 'n';
	tier_catalog_execute("SELECT _tiered_storage.count_wear($1, $2, $3, $4, $5, $6)",
						 lengthof(types), types, values, nulls);
}

void
tier_catalog_count_wear(const TierDevices *devices, TimestampTz at)
{
	for (int i = 0; i < devices->ndevices; i++)
		if (devices->devices[i].present && devices->devices[i].counters_at != 0)
			count_device(&devices->devices[i], at);
	tier_catalog_execute("SELECT _tiered_storage.forget_wear()", 0, NULL, NULL, NULL);
}

static double
number_of(uint64 row, int column)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);

	return isnull ? NAN : DatumGetFloat8(value);
}

TierWear *
tier_catalog_load_wear(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT w.tier_name, w.device, w.written_bytes_per_day, w.moved_bytes_per_day, "
	"w.endurance_bytes_per_day, w.used_fraction, coalesce(w.wear_exceeded, false) "
	"FROM _tiered_storage.wear_state() w "
	"WHERE w.tier_name IS NOT NULL AND w.device IS NOT NULL ORDER BY w.tier_name, w.device";
	TierWear   *wears;
	bool		isnull;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	wears = MemoryContextAllocZero(context, sizeof(TierWear) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		Datum		device = tier_catalog_datum(i, 2, &isnull);

		wears[i].tier_name = *DatumGetName(tier_catalog_datum(i, 1, &isnull));
		wears[i].device = MemoryContextStrdup(context, TextDatumGetCString(device));
		wears[i].written_bytes_per_day = number_of(i, 3);
		wears[i].moved_bytes_per_day = number_of(i, 4);
		wears[i].endurance_bytes_per_day = number_of(i, 5);
		wears[i].used_fraction = number_of(i, 6);
		wears[i].is_exceeded = DatumGetBool(tier_catalog_datum(i, 7, &isnull));
	}
	return wears;
}

bool
tier_catalog_wear_is_news(const char *device)
{
	static const char sql[] =
	"UPDATE _tiered_storage.device_wear SET warned_at = $2 WHERE device = $1 "
	"AND (warned_at IS NULL OR warned_at NOT BETWEEN $2 - interval '1 day' AND $2)";
	static const Oid types[] = {TEXTOID, TIMESTAMPTZOID};
	Datum		values[2];

	values[0] = CStringGetTextDatum(device);
	values[1] = TimestampTzGetDatum(tier_clock_now());
	return tier_catalog_execute(sql, 2, types, values, NULL) > 0;
}
