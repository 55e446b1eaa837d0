/*-------------------------------------------------------------------------
 *
 * catalog/device_wear.c
 *		The store of writes to devices: device_wear, by days.
 *
 * Updated by each sample, in its transaction.  The wear is computed in SQL (sql/23_wear.sql),
 * for the view and for the C code.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/catalog/tables.h"

static void
count_device(const TierDeviceState *device, TimestampTz at)
{
	tier_query("SELECT _tiered_storage.count_wear($1, $2, $3, $4)",
			   tier_arg_time(at), tier_arg_text(device->device),
			   tier_arg_float8(device->wear_bytes), tier_arg_float8(device->wear_s));
}

/*
 * A disk that is away for a while finds its ledger again, but there is room for 64 of them.  The
 * given wear of a disk goes with its ledger: without the ledger it is unknown whether the next
 * disk of this name is the same one, and how much was written to it since.
 */
void
tier_catalog_count_wear(const TierDevices *devices, TimestampTz at)
{
	for (int i = 0; i < devices->ndevices; i++)
		if (devices->devices[i].present && devices->devices[i].counters_at != 0)
			count_device(&devices->devices[i], at);
	tier_query_plain("SELECT _tiered_storage.forget_wear(ARRAY(SELECT device FROM "
					 "_tiered_storage.device_wear WHERE device NOT IN (SELECT device FROM "
					 "_tiered_storage.device_state) ORDER BY counted_at DESC, device OFFSET 64))");
}

TierWear *
tier_catalog_load_wear(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT w.tier_name, w.device, w.written_bytes_per_day, w.moved_bytes_per_day, "
	"w.endurance_bytes_per_day, w.used_fraction, coalesce(w.wear_exceeded, false) "
	"FROM _tiered_storage.wear_state() w "
	"WHERE w.tier_name IS NOT NULL AND w.device IS NOT NULL ORDER BY w.tier_name, w.device";
	static const TierColumn fields[] = {
		TIER_FIELD(TierWear, tier_name, NAMEOID),
		TIER_FIELD(TierWear, device, TEXTOID),
		TIER_FIELD(TierWear, written_bytes_per_day, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierWear, moved_bytes_per_day, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierWear, endurance_bytes_per_day, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierWear, used_fraction, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierWear, is_exceeded, BOOLOID),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierWear, fields, *n);
}

bool
tier_catalog_wear_is_news(const char *device)
{
	static const char sql[] =
	"UPDATE _tiered_storage.device_wear SET warned_at = $2 WHERE device = $1 "
	"AND (warned_at IS NULL OR warned_at NOT BETWEEN $2 - interval '1 day' AND $2)";

	return tier_query(sql, tier_arg_text(device), tier_arg_time(tier_clock_now())) > 0;
}
