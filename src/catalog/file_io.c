/*-------------------------------------------------------------------------
 *
 * catalog/file_io.c
 *		The store of what is read and written by class of file: file_history.
 *
 * Runs with each sample, in its transaction.  What is counted, and where, is read by
 * SQL, since the server's views differ between versions (sql/29_file_counters.sql).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

/* Counted in all parts, or not known. */
#define PART_SUM(column) \
	"CASE WHEN count(h." column ") = count(*) THEN sum(h." column " * CASE WHEN s.share >= 1 " \
	"THEN 1 WHEN p.is_rest THEN 1 - s.share ELSE s.share END) END"

#define BOTH(column) ", " column " = l." column " + EXCLUDED." column

void
tier_catalog_sample_files(TimestampTz now_at)
{
	static const Oid types[] = {TIMESTAMPTZOID};
	Datum		value = TimestampTzGetDatum(now_at);

	tier_catalog_execute("SELECT _tiered_storage.file_sample($1)", 1, types, &value, NULL);
}

void
tier_catalog_maintain_files(TimestampTz now, const TierHours *hours, int retention_min)
{
	static const char roll_up_sql[] =
	TIER_SQL_RAW_PARTS("file_history")
	"INSERT INTO _tiered_storage.file_history AS l (period_start, period_s, file_class, source, "
	"place, reads, read_bytes, writes, write_bytes, fsyncs, io_ms) "
	"SELECT min(p.starts), extract(epoch FROM max(p.ends) - min(p.starts))::float8, "
	"h.file_class, h.source, h.place, " PART_SUM("reads") ", " PART_SUM("read_bytes") ", "
	PART_SUM("writes") ", " PART_SUM("write_bytes") ", " PART_SUM("fsyncs") ", "
	PART_SUM("io_ms") " " TIER_SQL_FROM_PARTS
	"GROUP BY date_trunc('hour', p.starts), h.file_class, h.source, h.place "
	"ON CONFLICT (period_start, file_class, source, place) DO UPDATE SET "
	"period_s = greatest(l.period_s, EXCLUDED.period_s)"
	BOTH("reads") BOTH("read_bytes") BOTH("writes") BOTH("write_bytes") BOTH("fsyncs")
	BOTH("io_ms");
	static const char old_sql[] =
	"DELETE FROM _tiered_storage.file_history "
	"WHERE " TIER_SQL_ENDED_BEFORE("$1 - make_interval(mins => $2)");
	static const Oid hour_types[] = {TIMESTAMPTZOID, TIMESTAMPTZOID};
	static const Oid types[] = {TIMESTAMPTZOID, INT4OID};
	Datum		values[2];

	values[0] = TimestampTzGetDatum(hours->from);
	values[1] = TimestampTzGetDatum(hours->until);
	tier_catalog_execute(roll_up_sql, 2, hour_types, values, NULL);
	values[0] = TimestampTzGetDatum(now);
	values[1] = Int32GetDatum(retention_min);
	tier_catalog_execute(old_sql, 2, types, values, NULL);
}
