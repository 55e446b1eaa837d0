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

#include "src/catalog/tables.h"

TierMoveWindowRow *
tier_catalog_load_move_windows(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT w.window_name, w.time_zone, w.enabled, o.opens_at, o.closes_at, "
	"COALESCE(w.max_bytes - COALESCE(o.moved_bytes, 0), 'Infinity')::float8 "
	"FROM _tiered_storage.move_window w "
	"LEFT JOIN _tiered_storage.move_window_openings() o ON o.window_name = w.window_name "
	"ORDER BY o.opens_at, o.closes_at, w.window_name";
	static const TierColumn fields[] = {
		TIER_FIELD(TierMoveWindowRow, name, NAMEOID),
		TIER_FIELD(TierMoveWindowRow, time_zone, TEXTOID),
		TIER_FIELD(TierMoveWindowRow, is_enabled, BOOLOID),
		TIER_FIELD(TierMoveWindowRow, opening.opens_us, TIMESTAMPTZOID),
		TIER_FIELD(TierMoveWindowRow, opening.closes_us, TIMESTAMPTZOID),
		TIER_FIELD(TierMoveWindowRow, opening.left_bytes, TIER_FLOAT8_OR_NAN),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierMoveWindowRow, fields, *n);
}

double
tier_catalog_bytes_moved_within(double seconds)
{
	tier_query("SELECT _tiered_storage.moved_within($1)", tier_arg_float8(seconds));
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
