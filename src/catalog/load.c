/*-------------------------------------------------------------------------
 *
 * catalog/load.c
 *		The store of the load of the database and of the server: load_history, file_history.
 *
 * Runs with each sample, in its transaction: one statement reads the server's counters and
 * those of the last sample, one writes the differences and the counters.  A period without a
 * row in the history was not sampled.
 *
 * load_state holds the counters of the last sample, in one array in the order of the table of
 * metrics below; load_history holds the differences between samples. Counters of one group are
 * reset together.  If one of a group went back, the values of the group count as the
 * difference.  Those of GROUP_SLRU are sums, of counters that are reset one by one: if a sum went
 * back, the difference is unknown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/catalog/tables.h"
#include "src/model/heat.h"
#include "src/server/waits.h"

/* Within an hour, to tell how many clients are active in it: a minute of looks. */
#define LEAST_LOOKED_MS 60000

typedef enum LoadGroup
{
	GROUP_DATABASE,
	GROUP_WAL,
	GROUP_WAL_WRITES,
	GROUP_CHECKPOINTER,
	GROUP_BGWRITER,
	GROUP_BACKENDS,
	GROUP_SLRU,
	GROUP_WAITS,
	LOAD_GROUPS
} LoadGroup;

/*
 * The columns of load_history, and where their counters come from; those of
 * GROUP_WAITS from shared memory, in the order of TierWaitClass.  load_state
 * keeps the counters in this order: new ones go to the end of the table.
 */
typedef struct LoadMetric
{
	const char *name;
	LoadGroup	group;
	const char *expression;		/* an int8, or NULL */
} LoadMetric;

#define OF_DATABASE(function) "pg_catalog.pg_stat_get_db_" function "(d.oid)"

static const LoadMetric metrics[] = {
	{"commits", GROUP_DATABASE, OF_DATABASE("xact_commit")},
	{"rollbacks", GROUP_DATABASE, OF_DATABASE("xact_rollback")},
	{"blocks_fetched", GROUP_DATABASE, OF_DATABASE("blocks_fetched")},
	{"blocks_hit", GROUP_DATABASE, OF_DATABASE("blocks_hit")},
	{"rows_returned", GROUP_DATABASE, OF_DATABASE("tuples_returned")},
	{"rows_fetched", GROUP_DATABASE, OF_DATABASE("tuples_fetched")},
	{"rows_inserted", GROUP_DATABASE, OF_DATABASE("tuples_inserted")},
	{"rows_updated", GROUP_DATABASE, OF_DATABASE("tuples_updated")},
	{"rows_deleted", GROUP_DATABASE, OF_DATABASE("tuples_deleted")},
	{"temp_files", GROUP_DATABASE, OF_DATABASE("temp_files")},
	{"temp_bytes", GROUP_DATABASE, OF_DATABASE("temp_bytes")},
	{"deadlocks", GROUP_DATABASE, OF_DATABASE("deadlocks")},
	{"wal_records", GROUP_WAL, "w.wal_records"},
	{"wal_full_page_images", GROUP_WAL, "w.wal_fpi"},
	{"wal_bytes", GROUP_WAL, "w.wal_bytes::int8"},
	{"wal_writes", GROUP_WAL_WRITES, TIER_COMPAT_SQL_WAL_WRITES},
	{"checkpoints_timed", GROUP_CHECKPOINTER, TIER_COMPAT_SQL_CHECKPOINTS_TIMED},
	{"checkpoints_requested", GROUP_CHECKPOINTER, TIER_COMPAT_SQL_CHECKPOINTS_REQUESTED},
	{"buffers_checkpointer", GROUP_CHECKPOINTER, TIER_COMPAT_SQL_BUFFERS_CHECKPOINTER},
	{"buffers_bgwriter", GROUP_BGWRITER, "pg_catalog.pg_stat_get_bgwriter_buf_written_clean()"},
	{"buffers_backends", GROUP_BACKENDS, TIER_COMPAT_SQL_BUFFERS_BACKENDS},
	{"slru_reads", GROUP_SLRU, "s.blks_read"},
	{"slru_writes", GROUP_SLRU, "s.blks_written"},
	{"wait_sampled_ms", GROUP_WAITS, NULL},
	{"wait_cpu_ms", GROUP_WAITS, NULL},
	{"wait_relations_ms", GROUP_WAITS, NULL},
	{"wait_wal_ms", GROUP_WAITS, NULL},
	{"wait_temp_ms", GROUP_WAITS, NULL},
	{"wait_slru_ms", GROUP_WAITS, NULL},
	{"wait_other_io_ms", GROUP_WAITS, NULL},
	{"wait_lock_ms", GROUP_WAITS, NULL},
	{"wait_lwlock_ms", GROUP_WAITS, NULL},
	{"wait_other_ms", GROUP_WAITS, NULL},
};

#define NMETRICS ((int) lengthof(metrics))
#define METRIC_WAIT_SAMPLED 23

StaticAssertDecl(lengthof(metrics) == METRIC_WAIT_SAMPLED + 1 + TIER_WAIT_CLASSES,
				 "each class of waits has a metric");

/* The values of the counters at one moment. */
typedef struct Counters
{
	int64		values[lengthof(metrics)];
	bool		known[lengthof(metrics)];
} Counters;

static const char *
read_sql(void)
{
	static const char from_sql[] =
	" FROM (SELECT $1 AS oid) d CROSS JOIN pg_catalog.pg_stat_get_wal() w "
	"CROSS JOIN (SELECT sum(blks_read) AS blks_read, sum(blks_written) AS blks_written "
	"FROM pg_catalog.pg_stat_get_slru()) s "
	"LEFT JOIN _tiered_storage.load_state l ON true";
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT l.sampled_at, l.counters");
	for (int i = 0; i < NMETRICS; i++)
		appendStringInfo(&buf, ", (%s)::int8",
						 metrics[i].expression == NULL ? "NULL" : metrics[i].expression);
	appendStringInfoString(&buf, from_sql);
	return buf.data;
}

static void
read_waits(Counters *now)
{
	int64		wait_ms[TIER_WAIT_CLASSES];
	int64		sampled_ms;
	bool		known = tier_waits_read(MyDatabaseId, wait_ms, &sampled_ms);

	for (int i = METRIC_WAIT_SAMPLED; i < NMETRICS; i++)
	{
		now->known[i] = known;
		if (known && i == METRIC_WAIT_SAMPLED)
			now->values[i] = sampled_ms;
		else if (known)
			now->values[i] = wait_ms[i - METRIC_WAIT_SAMPLED - 1];
	}
}

/* False when the stored counters are those of another version. */
static bool
read_array(Datum datum, Counters *before)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(datum), INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &values, &nulls, &n);
	if (n != NMETRICS)
		return false;
	for (int i = 0; i < n; i++)
	{
		before->known[i] = !nulls[i];
		before->values[i] = nulls[i] ? 0 : DatumGetInt64(values[i]);
	}
	return true;
}

/* Reads the server's counters; *sampled_at is 0 if there are no earlier ones to compare with. */
static void
read_counters(Counters *now, Counters *before, TimestampTz *sampled_at)
{
	bool		isnull;
	Datum		datum;

	if (tier_query(read_sql(), tier_arg_oid(MyDatabaseId)) != 1)
		elog(ERROR, "_tiered_storage.load_state has more than one row");

	memset(before, 0, sizeof(Counters));
	*sampled_at = tier_get_time(0, 1);
	datum = tier_catalog_datum(0, 2, &isnull);
	if (isnull || !read_array(datum, before))
		*sampled_at = 0;
	for (int i = 0; i < NMETRICS; i++)
	{
		datum = tier_catalog_datum(0, 3 + i, &isnull);
		now->known[i] = !isnull;
		now->values[i] = isnull ? 0 : DatumGetInt64(datum);
	}
	read_waits(now);
}

/* The differences; unknown if one of the two values is unknown. */
static void
compute_delta(const Counters *before, const Counters *now, Counters *delta)
{
	bool		reset[LOAD_GROUPS] = {false};

	for (int i = 0; i < NMETRICS; i++)
		if (before->known[i] && now->known[i] && now->values[i] < before->values[i])
			reset[metrics[i].group] = true;
	for (int i = 0; i < NMETRICS; i++)
	{
		delta->known[i] = before->known[i] && now->known[i] &&
			!(metrics[i].group == GROUP_SLRU && reset[GROUP_SLRU]);
		delta->values[i] = !delta->known[i] ? 0 :
			tier_heat_counter_delta(before->values[i], now->values[i], reset[metrics[i].group]);
	}

	/* Waits are unknown for a period without samples of them. */
	for (int i = METRIC_WAIT_SAMPLED; i < NMETRICS; i++)
		delta->known[i] = delta->known[i] && delta->values[METRIC_WAIT_SAMPLED] > 0;
}

static TierValue
make_array(const Counters *counters)
{
	Datum		values[lengthof(metrics)];
	bool		nulls[lengthof(metrics)];
	int			dims[1] = {NMETRICS};
	int			lower[1] = {1};

	for (int i = 0; i < NMETRICS; i++)
	{
		values[i] = Int64GetDatum(counters->values[i]);
		nulls[i] = !counters->known[i];
	}
	return (TierValue)
	{
		INT8ARRAYOID,
			PointerGetDatum(construct_md_array(values, nulls, 1, dims, lower, INT8OID,
											   sizeof(int64), FLOAT8PASSBYVAL,
											   TYPALIGN_DOUBLE)), false
	};
}

/* The names of all metrics, to follow other columns. */
static void
append_metrics(StringInfo buf)
{
	for (int i = 0; i < NMETRICS; i++)
		appendStringInfo(buf, ", %s", metrics[i].name);
}

/*
 * Stores the counters ($2) and when they were read ($1); if $5 is true, also the differences
 * since $3 ($4).
 */
static const char *
store_sql(void)
{
	static const char insert_sql[] =
	"WITH state AS (INSERT INTO _tiered_storage.load_state AS l "
	"(observed_since, sampled_at, counters) VALUES ($1, $1, $2) "
	"ON CONFLICT (singleton) DO UPDATE SET "
	"sampled_at = EXCLUDED.sampled_at, counters = EXCLUDED.counters) "
	"INSERT INTO _tiered_storage.load_history (period_start, period_s";

	/* A clock that was set back does not bring the same period twice. */
	static const char select_sql[] =
	") SELECT (SELECT COALESCE(max(h.period_start) + interval '1 microsecond', $3) "
	"FROM _tiered_storage.load_history h "
	"WHERE h.period_start >= $3 AND h.period_start < $3 + interval '1 second'), "
	"EXTRACT(epoch FROM $1 - $3)::float8";
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, insert_sql);
	append_metrics(&buf);
	appendStringInfoString(&buf, select_sql);
	for (int i = 0; i < NMETRICS; i++)
		appendStringInfo(&buf, ", ($4)[%d]", i + 1);
	appendStringInfoString(&buf, " WHERE $5");
	return buf.data;
}

void
tier_catalog_sample_load(TimestampTz since, TimestampTz now_at, bool by_another_server)
{
	Counters	now;
	Counters	before;
	Counters	delta;
	TimestampTz sampled_at;
	bool		is_first;

	read_counters(&now, &before, &sampled_at);
	is_first = sampled_at == 0;
	since = Max(sampled_at, since);
	compute_delta(&before, &now, &delta);

	/*
	 * The first counters of a server are its whole past, and belong to no
	 * period.
	 */
	tier_query(store_sql(), tier_arg_time(now_at), make_array(&now), tier_arg_time(since),
			   make_array(&delta),
			   tier_arg_bool(!is_first && since < now_at && !by_another_server));
}

TierClientTime
tier_catalog_client_time(void)
{
	static const char sql[] =
	"WITH period AS (SELECT s.sampled_at AS ends_at, s.observed_since "
	"FROM _tiered_storage.load_state s), "
	"part AS (SELECT h.*, _tiered_storage.period_share(h.period_start, h.period_s, "
	"p.ends_at - interval '1 day', p.ends_at) AS in_day, "
	"wait_cpu_ms + wait_relations_ms + wait_wal_ms + wait_temp_ms + wait_slru_ms "
	"+ wait_other_io_ms + wait_lock_ms + wait_lwlock_ms + wait_other_ms AS active_ms "
	"FROM period p JOIN _tiered_storage.load_rows h ON h.period_start < p.ends_at "
	"AND h.period_start >= p.ends_at - interval '14 days' WHERE h.wait_sampled_ms > 0 "
	"AND h.hour >= (SELECT ends_at - interval '14 days 1 hour' FROM period)), "
	"hour AS (SELECT sum(active_ms) / sum(wait_sampled_ms) AS active FROM part "
	"GROUP BY date_trunc('hour', period_start) HAVING sum(wait_sampled_ms) >= $1), "
	"day AS (SELECT sum(active_ms * in_day) AS active_ms, "
	"sum(wait_relations_ms * in_day) AS device_ms, "
	"sum(wait_cpu_ms * in_day) AS processor_ms "
	"FROM part WHERE in_day > 0) "
	"SELECT (SELECT max(active) FROM hour)::float8, d.active_ms / n.hours / 1000, "
	"d.device_ms / n.hours / 1000, d.processor_ms / n.hours / 1000 "
	"FROM day d, (SELECT NULLIF(EXTRACT(epoch FROM ends_at - GREATEST(observed_since, "
	"ends_at - interval '1 day')), 0)::float8 / 3600 AS hours FROM period) n "
	"WHERE d.active_ms >= 0 AND n.hours > 0 AND EXISTS (SELECT FROM hour)";
	TierClientTime spent = {0};

	if (tier_query(sql, tier_arg_int4(LEAST_LOOKED_MS)) == 0)
		return spent;
	spent.peak = tier_get_float8_or(0, 1, 0.0);
	spent.active_s = tier_get_float8_or(0, 2, 0.0);
	spent.device_s = tier_get_float8_or(0, 3, 0.0);
	spent.processor_s = tier_get_float8_or(0, 4, 0.0);
	return spent;
}

/* The counters are read in SQL, because the server's views differ between versions. */
void
tier_catalog_sample_files(TimestampTz now_at, bool by_another_server)
{
	tier_query("SELECT _tiered_storage.file_sample($1, $2)", tier_arg_time(now_at),
			   tier_arg_bool(by_another_server));
}

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
