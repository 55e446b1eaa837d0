/*-------------------------------------------------------------------------
 *
 * catalog/pressure.c
 *		What the last samples say of checkpoints and of how busy devices are.
 *
 * See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/catalog/tables.h"

static double
number_of(int column)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(0, column, &isnull);

	return isnull ? 0.0 : DatumGetFloat8(value);
}

TierCheckpoints
tier_catalog_checkpoints_within(double seconds)
{
	static const char sql[] =
	"SELECT sum(l.checkpoints_requested)::float8, sum(l.checkpoints_timed)::float8, "
	"sum(l.wal_bytes)::float8, sum(l.period_s) FROM _tiered_storage.load_history l "
	"WHERE l.period_start > $1 - make_interval(secs => $2) AND l.period_start <= $1";
	static const Oid types[] = {TIMESTAMPTZOID, FLOAT8OID};
	Datum		values[2];
	TierCheckpoints checkpoints;

	values[0] = TimestampTzGetDatum(tier_clock_now());
	values[1] = Float8GetDatum(seconds);
	tier_catalog_execute(sql, 2, types, values, NULL);
	checkpoints.requested = number_of(1);
	checkpoints.timed = number_of(2);
	checkpoints.wal_bytes = number_of(3);
	checkpoints.seconds = number_of(4);
	return checkpoints;
}

TierBusy *
tier_catalog_load_busy(MemoryContext context, double lately_s, int *n)
{
	static const char sql[] =
	"SELECT t.oid, max(least(1.0, d.last_busy_ms / 1000.0 / d.period_s))::float8 "
	"FROM _tiered_storage.device_state d CROSS JOIN LATERAL unnest(d.tablespaces) t (oid) "
	"WHERE d.period_s > 0 AND d.counters_at >= $1 - make_interval(secs => $2) "
	"GROUP BY t.oid ORDER BY t.oid";
	static const Oid types[] = {TIMESTAMPTZOID, FLOAT8OID};
	Datum		values[2];
	TierBusy   *busy;
	bool		isnull;

	values[0] = TimestampTzGetDatum(tier_clock_now());
	values[1] = Float8GetDatum(lately_s);
	*n = (int) tier_catalog_execute(sql, 2, types, values, NULL);
	busy = MemoryContextAlloc(context, sizeof(TierBusy) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		busy[i].tablespace_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		busy[i].fraction = DatumGetFloat8(tier_catalog_datum(i, 2, &isnull));
	}
	return busy;
}
