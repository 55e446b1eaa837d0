/*-------------------------------------------------------------------------
 *
 * tier_catalog_sample.c
 *		Remembering samples: relation states, history, roll-up, limits.
 *
 * See tier_catalog.h.  Sizes are bounded: one state row for each relation,
 * history rows for active ones only, and the history as a whole by
 * tiered_storage.history_max_size.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "tier_catalog.h"
#include "tier_guc.h"

/* Single samples are kept this long before an hour of them becomes one row. */
#define RAW_RETENTION "2 hours"

/*
 * Bytes that one history row takes on disk: header, line pointer and columns.
 * Used to turn the size limit into a number of rows.
 */
#define HISTORY_ROW_BYTES 96

/* The columns of relation_state, in the order of its definition. */
#define STATE_COLUMNS \
	"relation_oid, tablespace_oid, file_number, kind, size_bytes, tuples, " \
	"cached_buffers, dirty_buffers, scans, tuples_read, blocks_fetched, blocks_hit, row_changes, " \
	"heat_at, observed_since, sampled_since, last_used_at, last_written_at, rewritten_at, " \
	"random_fast, random_slow, sequential_fast, sequential_slow, " \
	"sequential_low_slow, sequential_high_slow, hits_slow, scans_slow, changes_fast, changes_slow"
#define STATE_NCOLUMNS 29

static const Oid state_types[STATE_NCOLUMNS] = {
	OIDOID, OIDOID, OIDOID, CHAROID, INT8OID, FLOAT8OID,
	INT4OID, INT4OID, INT8OID, INT8OID, INT8OID, INT8OID, INT8OID,
	TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID,
	FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID,
	FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID
};

static const char store_states_sql[] =
"INSERT INTO tiered_storage.relation_state (" STATE_COLUMNS ") "
"SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
"$16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29) "
"ON CONFLICT (relation_oid) DO UPDATE SET "
"tablespace_oid = EXCLUDED.tablespace_oid, file_number = EXCLUDED.file_number, kind = EXCLUDED.kind, "
"size_bytes = EXCLUDED.size_bytes, tuples = EXCLUDED.tuples, "
"cached_buffers = EXCLUDED.cached_buffers, dirty_buffers = EXCLUDED.dirty_buffers, "
"scans = EXCLUDED.scans, tuples_read = EXCLUDED.tuples_read, "
"blocks_fetched = EXCLUDED.blocks_fetched, blocks_hit = EXCLUDED.blocks_hit, "
"row_changes = EXCLUDED.row_changes, heat_at = EXCLUDED.heat_at, "
"observed_since = EXCLUDED.observed_since, sampled_since = EXCLUDED.sampled_since, "
"last_used_at = EXCLUDED.last_used_at, last_written_at = EXCLUDED.last_written_at, "
"rewritten_at = EXCLUDED.rewritten_at, random_fast = EXCLUDED.random_fast, "
"random_slow = EXCLUDED.random_slow, sequential_fast = EXCLUDED.sequential_fast, "
"sequential_slow = EXCLUDED.sequential_slow, sequential_low_slow = EXCLUDED.sequential_low_slow, "
"sequential_high_slow = EXCLUDED.sequential_high_slow, hits_slow = EXCLUDED.hits_slow, "
"scans_slow = EXCLUDED.scans_slow, changes_fast = EXCLUDED.changes_fast, "
"changes_slow = EXCLUDED.changes_slow";

#define HISTORY_NCOLUMNS 8

static const Oid history_types[HISTORY_NCOLUMNS] = {
	TIMESTAMPTZOID, OIDOID, INT4OID, INT8OID, INT8OID, INT8OID, INT8OID, INT8OID
};

static const char store_history_sql[] =
"INSERT INTO tiered_storage.relation_history "
"(period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, row_changes) "
"SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)";

static TimestampTz
timestamp_column(uint64 row, int column)
{
	bool		isnull;
	Datum		datum = tier_catalog_datum(row, column, &isnull);

	return isnull ? 0 : DatumGetTimestampTz(datum);
}

static int64
bigint_column(uint64 row, int column)
{
	bool		isnull;

	return DatumGetInt64(tier_catalog_datum(row, column, &isnull));
}

static double
float_column(uint64 row, int column)
{
	bool		isnull;

	return DatumGetFloat8(tier_catalog_datum(row, column, &isnull));
}

static void
read_state(TierRelationState *state, uint64 row)
{
	bool		isnull;

	state->relation_oid = DatumGetObjectId(tier_catalog_datum(row, 1, &isnull));
	state->tablespace_oid = DatumGetObjectId(tier_catalog_datum(row, 2, &isnull));
	state->file_number = DatumGetObjectId(tier_catalog_datum(row, 3, &isnull));
	state->kind = DatumGetChar(tier_catalog_datum(row, 4, &isnull));
	state->size_bytes = bigint_column(row, 5);
	state->tuples = float_column(row, 6);
	state->cached_buffers = DatumGetInt32(tier_catalog_datum(row, 7, &isnull));
	state->dirty_buffers = DatumGetInt32(tier_catalog_datum(row, 8, &isnull));
	state->counters.scans = bigint_column(row, 9);
	state->counters.tuples_read = bigint_column(row, 10);
	state->counters.blocks_fetched = bigint_column(row, 11);
	state->counters.blocks_hit = bigint_column(row, 12);
	state->counters.row_changes = bigint_column(row, 13);
	state->heat_at = timestamp_column(row, 14);
	state->observed_since = timestamp_column(row, 15);
	state->sampled_since = timestamp_column(row, 16);
	state->last_used_at = timestamp_column(row, 17);
	state->last_written_at = timestamp_column(row, 18);
	state->rewritten_at = timestamp_column(row, 19);
	state->rates.random_fast = float_column(row, 20);
	state->rates.random_slow = float_column(row, 21);
	state->rates.sequential_fast = float_column(row, 22);
	state->rates.sequential_slow = float_column(row, 23);
	state->rates.sequential_low_slow = float_column(row, 24);
	state->rates.sequential_high_slow = float_column(row, 25);
	state->rates.hits_slow = float_column(row, 26);
	state->rates.scans_slow = float_column(row, 27);
	state->rates.changes_fast = float_column(row, 28);
	state->rates.changes_slow = float_column(row, 29);
}

TierRelationState *
tier_catalog_load_states(MemoryContext context, int *nstates, TimestampTz *last_sample_at)
{
	TierRelationState *states;
	uint64		n;

	n = tier_catalog_execute("SELECT last_sample_at FROM tiered_storage.sampler", 0, NULL, NULL, NULL);
	*last_sample_at = n == 0 ? 0 : timestamp_column(0, 1);

	n = tier_catalog_execute("SELECT " STATE_COLUMNS " FROM tiered_storage.relation_state "
							 "ORDER BY relation_oid", 0, NULL, NULL, NULL);
	states = MemoryContextAllocExtended(context, sizeof(TierRelationState) * Max(n, 1),
										MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint64 i = 0; i < n; i++)
		read_state(&states[i], i);
	SPI_freetuptable(SPI_tuptable);
	*nstates = (int) n;
	return states;
}

void
tier_catalog_lock_sampler(void)
{
	tier_catalog_execute("LOCK TABLE tiered_storage.sampler IN SHARE UPDATE EXCLUSIVE MODE",
						 0, NULL, NULL, NULL);
}

static void
bulk_add_state(TierBulk *bulk, const TierRelationState *state)
{
	const TierRates *rates = &state->rates;
	bool		nulls[STATE_NCOLUMNS] = {false};
	Datum		values[STATE_NCOLUMNS] = {
		ObjectIdGetDatum(state->relation_oid), ObjectIdGetDatum(state->tablespace_oid),
		ObjectIdGetDatum(state->file_number), CharGetDatum(state->kind),
		Int64GetDatum(Max(state->size_bytes, 0)), Float8GetDatum(state->tuples),
		Int32GetDatum(state->cached_buffers), Int32GetDatum(state->dirty_buffers),
		Int64GetDatum(state->counters.scans), Int64GetDatum(state->counters.tuples_read),
		Int64GetDatum(state->counters.blocks_fetched), Int64GetDatum(state->counters.blocks_hit),
		Int64GetDatum(state->counters.row_changes), TimestampTzGetDatum(state->heat_at),
		TimestampTzGetDatum(state->observed_since), TimestampTzGetDatum(state->sampled_since),
		TimestampTzGetDatum(state->last_used_at), TimestampTzGetDatum(state->last_written_at),
		TimestampTzGetDatum(state->rewritten_at), Float8GetDatum(rates->random_fast),
		Float8GetDatum(rates->random_slow), Float8GetDatum(rates->sequential_fast),
		Float8GetDatum(rates->sequential_slow), Float8GetDatum(rates->sequential_low_slow),
		Float8GetDatum(rates->sequential_high_slow), Float8GetDatum(rates->hits_slow),
		Float8GetDatum(rates->scans_slow), Float8GetDatum(rates->changes_fast),
		Float8GetDatum(rates->changes_slow)
	};

	nulls[16] = state->last_used_at == 0;
	nulls[17] = state->last_written_at == 0;
	nulls[18] = state->rewritten_at == 0;
	tier_bulk_add(bulk, values, nulls);
}

static void
bulk_add_history(TierBulk *bulk, const TierRelationState *state,
				 TimestampTz period_start, TimestampTz period_end)
{
	const TierCostAttribution *split = &state->attribution;
	int64		sequential = (int64) (split->sequential_mid + 0.5);
	int64		misses = (int64) (split->misses + 0.5);
	Datum		values[HISTORY_NCOLUMNS] = {
		TimestampTzGetDatum(period_start), ObjectIdGetDatum(state->relation_oid),
		Int32GetDatum((int32) Max(1, Min((period_end - period_start) / USECS_PER_SEC, PG_INT32_MAX))),
		Int64GetDatum(state->delta.scans), Int64GetDatum(misses - sequential),
		Int64GetDatum(sequential), Int64GetDatum(state->delta.blocks_hit),
		Int64GetDatum(state->delta.row_changes)
	};

	tier_bulk_add(bulk, values, NULL);
}

void
tier_catalog_store_sample(const TierRelationState *states, int nstates,
						  const Oid *dropped, int ndropped,
						  TimestampTz period_start, const TierSampleSummary *summary)
{
	static const Oid dropped_types[] = {OIDOID};
	static const Oid summary_types[] = {TIMESTAMPTZOID, FLOAT8OID, INT4OID, INT4OID, INT8OID};
	Datum		summary_values[5];
	TierBulk   *bulk;

	bulk = tier_bulk_create(store_states_sql, STATE_NCOLUMNS, state_types);
	for (int i = 0; i < nstates; i++)
		if (states[i].changed)
			bulk_add_state(bulk, &states[i]);
	tier_bulk_finish(bulk);

	/*
	 * The first sample's counters belong to no period: they are the whole
	 * past.  They shape the rates, but are no history.
	 */
	if (period_start != 0)
	{
		bulk = tier_bulk_create(store_history_sql, HISTORY_NCOLUMNS, history_types);
		for (int i = 0; i < nstates; i++)
			if (states[i].active)
				bulk_add_history(bulk, &states[i], period_start, summary->sampled_at);
		tier_bulk_finish(bulk);
	}

	bulk = tier_bulk_create("DELETE FROM tiered_storage.relation_state "
							"WHERE relation_oid = ANY ($1)", 1, dropped_types);
	for (int i = 0; i < ndropped; i++)
	{
		Datum		value = ObjectIdGetDatum(dropped[i]);

		tier_bulk_add(bulk, &value, NULL);
	}
	tier_bulk_finish(bulk);

	summary_values[0] = TimestampTzGetDatum(summary->sampled_at);
	summary_values[1] = Float8GetDatum(summary->duration_ms);
	summary_values[2] = Int32GetDatum(summary->relations);
	summary_values[3] = Int32GetDatum(summary->active);
	summary_values[4] = Int64GetDatum(summary->saw_reset ? 1 : 0);
	tier_catalog_execute("INSERT INTO tiered_storage.sampler AS s "
						 "(last_sample_at, last_duration_ms, last_relations, last_active, samples, counter_resets) "
						 "VALUES ($1, $2, $3, $4, 1, $5) "
						 "ON CONFLICT (singleton) DO UPDATE SET last_sample_at = EXCLUDED.last_sample_at, "
						 "last_duration_ms = EXCLUDED.last_duration_ms, last_relations = EXCLUDED.last_relations, "
						 "last_active = EXCLUDED.last_active, samples = s.samples + 1, "
						 "counter_resets = s.counter_resets + EXCLUDED.counter_resets",
						 5, summary_types, summary_values, NULL);
}

/*
 * Hours that ended more than RAW_RETENTION ago become one row per relation.
 * A sample belongs to the hour in which it began.  False when no hour has
 * ended since the last time.  (A clock that was set back is another hour.)
 */
static bool
roll_up(TimestampTz now)
{
	static const Oid types[] = {TIMESTAMPTZOID};
	Datum		value = TimestampTzGetDatum(now);

	if (tier_catalog_execute("UPDATE tiered_storage.sampler SET rolled_up_until = date_trunc('hour', $1 - interval '" RAW_RETENTION "') "
							 "WHERE rolled_up_until IS DISTINCT FROM date_trunc('hour', $1 - interval '" RAW_RETENTION "')",
							 1, types, &value, NULL) == 0)
		return false;

	tier_catalog_execute("WITH hour AS (DELETE FROM tiered_storage.relation_history "
						 "WHERE period_s < 3600 AND period_start < date_trunc('hour', $1 - interval '" RAW_RETENTION "') "
						 "RETURNING *) "
						 "INSERT INTO tiered_storage.relation_history "
						 "(period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, row_changes) "
						 "SELECT date_trunc('hour', period_start), relation_oid, 3600, "
						 "sum(scans), sum(random_reads), sum(sequential_reads), sum(hits), sum(row_changes) "
						 "FROM hour GROUP BY 1, 2",
						 1, types, &value, NULL);
	return true;
}

/*
 * Deletes the oldest periods until the rows that are left fit the limit.  The
 * space of deleted rows is used again after autovacuum has been there.  Called
 * once an hour, so the limit can be exceeded by what one hour brings.
 */
static void
enforce_size_limit(void)
{
	static const Oid types[] = {INT8OID};
	int64		max_bytes = (int64) tier_history_max_size_mb * 1024 * 1024;
	Datum		value = Int64GetDatum(max_bytes / HISTORY_ROW_BYTES);
	uint64		n;
	bool		isnull;

	n = tier_catalog_execute("SELECT pg_catalog.pg_relation_size('tiered_storage.relation_history')",
							 0, NULL, NULL, NULL);
	if (n != 1 || DatumGetInt64(tier_catalog_datum(0, 1, &isnull)) <= max_bytes)
		return;

	/*
	 * Whole periods go, since a period with half its relations would lie.
	 */
	tier_catalog_execute("DELETE FROM tiered_storage.relation_history WHERE period_start <= "
						 "(SELECT period_start FROM tiered_storage.relation_history "
						 "ORDER BY period_start DESC OFFSET $1 * 9 / 10 LIMIT 1)",
						 1, types, &value, NULL);
}

void
tier_catalog_maintain_history(TimestampTz now)
{
	static const Oid types[] = {TIMESTAMPTZOID, INT4OID};
	Datum		values[2];

	if (!roll_up(now))
		return;

	values[0] = TimestampTzGetDatum(now);
	values[1] = Int32GetDatum(tier_history_retention_min);
	tier_catalog_execute("DELETE FROM tiered_storage.relation_history "
						 "WHERE period_start < $1 - make_interval(mins => $2)",
						 2, types, values, NULL);
	tier_catalog_execute("DELETE FROM tiered_storage.move "
						 "WHERE state <> 'running' AND finished_at < $1 - make_interval(mins => $2)",
						 2, types, values, NULL);
	enforce_size_limit();
}
