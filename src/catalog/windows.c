/*-------------------------------------------------------------------------
 *
 * catalog/windows.c
 *		The store of move windows, and the bytes and rates of past moves.
 *
 * See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

TierMoveWindowRow *
tier_catalog_load_move_windows(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT w.window_name, COALESCE((SELECT bit_or(1 << (d.n::int4 - 1)) "
	"FROM unnest('{mon,tue,wed,thu,fri,sat,sun}'::text[]) WITH ORDINALITY d (day, n) "
	"WHERE d.day = ANY (w.days)), 127), "
	"(EXTRACT(epoch FROM w.starts) * 1000000)::int8, "
	"(EXTRACT(epoch FROM w.ends) * 1000000)::int8, "
	"w.time_zone, COALESCE(w.max_bytes::float8, 'Infinity'), w.enabled "
	"FROM _tiered_storage.move_window w ORDER BY w.window_name";
	static const TierColumn fields[] = {
		TIER_FIELD(TierMoveWindowRow, name, NAMEOID),
		TIER_FIELD(TierMoveWindowRow, window.days, INT4OID),
		TIER_FIELD(TierMoveWindowRow, window.starts_us, INT8OID),
		TIER_FIELD(TierMoveWindowRow, window.ends_us, INT8OID),
		TIER_FIELD(TierMoveWindowRow, time_zone, TEXTOID),
		TIER_FIELD(TierMoveWindowRow, window.max_bytes, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierMoveWindowRow, is_enabled, BOOLOID),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierMoveWindowRow, fields, *n);
}

double
tier_catalog_bytes_moved_within(double seconds)
{
	/*
	 * A running move may have begun before the window; all of it is written
	 * by its end.  Failed attempts have written bytes, too.
	 */
	static const char sql[] =
	"SELECT COALESCE(sum(CASE WHEN m.state IN ('running', 'done') "
	"THEN greatest(m.size_bytes, m.copied_bytes) ELSE COALESCE(m.copied_bytes, 0) END "
	"+ COALESCE((SELECT sum(u.bytes) FROM unnest(m.failed_at, m.failed_bytes) u (at, bytes) "
	"WHERE u.at >= clock_timestamp() - make_interval(secs => $1)), 0)), 0)::float8 "
	"FROM _tiered_storage.move m "
	"WHERE m.state = 'running' OR m.started_at >= clock_timestamp() - make_interval(secs => $1)";

	tier_query(sql, tier_arg_float8(seconds));
	return tier_get_float8(0, 1);
}

TimestampTz
tier_catalog_rests_until(void)
{
	/* See tier_catalog_refresh_identities(). */
	static const char sql[] =
	"SELECT max(m.finished_at) + least(interval '1 hour', "
	"interval '1 minute' * power(2, least(sum(m.crashes), 10) - 3)) "
	"FROM _tiered_storage.move m "
	"WHERE m.sqlstate = '57P02' AND m.finished_at <= now() "
	"AND m.finished_at > COALESCE((SELECT max(d.finished_at) "
	"FROM _tiered_storage.move d WHERE d.state = 'done'), '-infinity') "
	"HAVING sum(m.crashes) > 2";

	return tier_query_plain(sql) == 0 ? 0 : tier_get_time(0, 1);
}
