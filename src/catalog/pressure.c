/*-------------------------------------------------------------------------
 *
 * catalog/pressure.c
 *		What the last samples say of checkpoints.
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
	"sum(l.wal_bytes)::float8, sum(l.period_s) FROM _tiered_storage.load_rows l "
	"WHERE l.hour > $1 - make_interval(hours => 1, secs => $2) "
	"AND l.period_start > $1 - make_interval(secs => $2) AND l.period_start <= $1";
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
