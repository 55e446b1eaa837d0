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

TierCheckpoints
tier_catalog_checkpoints_within(double seconds)
{
	static const char sql[] =
	"SELECT sum(l.checkpoints_requested)::float8, sum(l.checkpoints_timed)::float8, "
	"sum(l.wal_bytes)::float8, sum(l.period_s) FROM _tiered_storage.load_rows l "
	"WHERE l.hour > $1 - make_interval(hours => 1, secs => $2) "
	"AND l.period_start > $1 - make_interval(secs => $2) AND l.period_start <= $1";
	TierCheckpoints checkpoints;

	tier_query(sql, tier_arg_time(tier_clock_now()), tier_arg_float8(seconds));
	checkpoints.requested = tier_get_float8_or(0, 1, 0.0);
	checkpoints.timed = tier_get_float8_or(0, 2, 0.0);
	checkpoints.wal_bytes = tier_get_float8_or(0, 3, 0.0);
	checkpoints.seconds = tier_get_float8_or(0, 4, 0.0);
	return checkpoints;
}
