/*-------------------------------------------------------------------------
 *
 * catalog/sample_rows.c
 *		The store of samples: relation states, history, roll-up, limits.
 *
 * See catalog/tables.h, and sql/06_state.sql for the tables that are logged.  Sizes are
 * bounded: one state row for each relation, history rows for active ones only, and the history
 * as a whole by tiered_storage.history_max_size.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"
#include "src/base/attempt.h"
#include "src/base/debug.h"
#include "src/base/settings.h"

/*
 * The parts of history_max_size that each of the eight members of the ring of hours may have,
 * and each of the two of snapshots; and of how many moves there is a record, for each MB.
 */
#define HOURS_MEMBER_PART (7.0 / 64)
#define SNAPSHOTS_MEMBER_PART (1.0 / 16)
#define MOVES_PER_MB 128

/* Of eight members one is being filled: the others have all of the time to be kept. */
#define FULL_MEMBERS 7

/*
 * The columns of relation_state and the fields of TierRelationState that they
 * hold.  All there is to know about a column is its line here: statements,
 * loading and storing are made from it.
 */
#define COLUMN(name, type, field) \
	{name, type, offsetof(TierRelationState, field), false, 0, false, true, 0}
#define NULLABLE_TIME(name) \
	{#name, TIMESTAMPTZOID, offsetof(TierRelationState, stored.name), true, 0, false, false, 0}
#define BYTES(name, field, is_signed) \
	{name, BYTEAOID, offsetof(TierRelationState, field), false, \
		sizeof(((TierRelationState *) NULL)->field), is_signed, false, 0}

static const TierColumn state_columns[] = {
	COLUMN("relation_oid", OIDOID, id.relation_oid),
	COLUMN("heap_oid", OIDOID, id.heap_oid),
	COLUMN("name_hash", INT4OID, id.name_hash),
	COLUMN("tablespace_oid", OIDOID, id.tablespace_oid),
	COLUMN("file_number", OIDOID, id.file_number),
	COLUMN("kind", CHAROID, id.kind),
	COLUMN("size_bytes", INT8OID, stored.size_bytes),
	COLUMN("maps_bytes", INT8OID, stored.maps_bytes),
	{"tuples", FLOAT8OID, offsetof(TierRelationState, id.tuples), false, 0, true, true, 0},
	COLUMN("cached_buffers", INT4OID, stored.cached_buffers),
	COLUMN("dirty_buffers", INT4OID, stored.dirty_buffers),
	COLUMN("os_cached_bytes", INT8OID, stored.os_cached_bytes),
	COLUMN("heat_at", TIMESTAMPTZOID, stored.heat_at),
	COLUMN("observed_since", TIMESTAMPTZOID, stored.observed_since),
	COLUMN("sampled_since", TIMESTAMPTZOID, stored.sampled_since),
	COLUMN("proven_since", TIMESTAMPTZOID, stored.proven_since),
	NULLABLE_TIME(last_read_at),
	NULLABLE_TIME(last_used_at),
	NULLABLE_TIME(last_written_at),
	NULLABLE_TIME(rewritten_at),
	NULLABLE_TIME(placed_at),

	/* Counters of the statistics system. */
	COLUMN("scans", INT8OID, stored.counters.scans),
	COLUMN("tuples_read", INT8OID, stored.counters.tuples_read),
	COLUMN("blocks_fetched", INT8OID, stored.counters.blocks_fetched),
	COLUMN("blocks_hit", INT8OID, stored.counters.blocks_hit),
	COLUMN("row_changes", INT8OID, stored.counters.row_changes),
	{"counters_reset_at", TIMESTAMPTZOID,
	offsetof(TierRelationState, stored.counters.reset_at), true, 0, false, false, 0},

	/* Reads. */
	COLUMN("random_fast", FLOAT8OID, stored.rates.random_fast),
	COLUMN("random_slow", FLOAT8OID, stored.rates.random_slow),
	COLUMN("sequential_fast", FLOAT8OID, stored.rates.sequential_fast),
	COLUMN("sequential_slow", FLOAT8OID, stored.rates.sequential_slow),
	COLUMN("sequential_low_slow", FLOAT8OID, stored.rates.sequential_low_slow),
	COLUMN("sequential_high_slow", FLOAT8OID, stored.rates.sequential_high_slow),
	COLUMN("hits_slow", FLOAT8OID, stored.rates.hits_slow),
	COLUMN("scans_slow", FLOAT8OID, stored.rates.scans_slow),
	COLUMN("device_random_fast", FLOAT8OID, stored.rates.device_random_fast),
	COLUMN("device_random_slow", FLOAT8OID, stored.rates.device_random_slow),
	COLUMN("device_sequential_fast", FLOAT8OID, stored.rates.device_sequential_fast),
	COLUMN("device_sequential_slow", FLOAT8OID, stored.rates.device_sequential_slow),

	/* Writes. */
	COLUMN("changes_fast", FLOAT8OID, stored.rates.changes_fast),
	COLUMN("changes_slow", FLOAT8OID, stored.rates.changes_slow),

	/* Writes, from the WAL. */
	COLUMN("previous_tablespace_oid", OIDOID, stored.previous_tablespace_oid),
	COLUMN("previous_file_number", OIDOID, stored.previous_file_number),
	COLUMN("vacuums", INT8OID, stored.vacuums),
	COLUMN("page_writes_fast", FLOAT8OID, stored.rates.page_writes_fast),
	COLUMN("page_writes_slow", FLOAT8OID, stored.rates.page_writes_slow),
	COLUMN("merged_writes_fast", FLOAT8OID, stored.rates.merged_writes_fast),
	COLUMN("merged_writes_slow", FLOAT8OID, stored.rates.merged_writes_slow),
	COLUMN("maintenance_writes_fast", FLOAT8OID, stored.rates.maintenance_writes_fast),
	COLUMN("wal_bytes_fast", FLOAT8OID, stored.rates.wal_bytes_fast),
	COLUMN("image_bytes_fast", FLOAT8OID, stored.rates.image_bytes_fast),
	/* How the reads were classified, and maintenance reads. */
	COLUMN("source", CHAROID, stored.source),
	COLUMN("maintenance", INT8OID, stored.counters.maintenance),
	COLUMN("maintenance_reads_fast", FLOAT8OID, stored.rates.maintenance_reads_fast),
	COLUMN("unclaimed_growth", INT8OID, stored.unclaimed_growth),
	COLUMN("unclaimed_at", TIMESTAMPTZOID, stored.unclaimed_at),
	NULLABLE_TIME(maintained_at),

	/* When it was used. */
	COLUMN("evidence_began_at", TIMESTAMPTZOID, stored.evidence.began_at),
	COLUMN("evidence_interval_s", FLOAT8OID, stored.evidence.interval_s),
	BYTES("evidence_reads", stored.evidence.reads, false),
	BYTES("evidence_writes", stored.evidence.writes, false),
	BYTES("evidence_growth", stored.evidence.growth, true),
	COLUMN("past_random_reads_per_hour", FLOAT8OID, stored.past.random_reads),
	COLUMN("past_sequential_reads_per_hour", FLOAT8OID, stored.past.sequential_reads),
	COLUMN("past_scans_per_hour", FLOAT8OID, stored.past.scans),

	/* Since it was first sampled. */
	COLUMN("total_random_reads", FLOAT8OID, stored.totals.random_reads),
	COLUMN("total_sequential_reads", FLOAT8OID, stored.totals.sequential_reads),
	COLUMN("total_scans", FLOAT8OID, stored.totals.scans),
	COLUMN("total_page_writes", FLOAT8OID, stored.totals.page_writes),
	COLUMN("total_merged_writes", FLOAT8OID, stored.totals.merged_writes),
	COLUMN("total_row_changes", FLOAT8OID, stored.totals.row_changes),
};

static const TierTable states_table = {
	"relation_state", state_columns, lengthof(state_columns), sizeof(TierRelationState)
};

/* To be followed by a SELECT of these columns. */
#define INSERT_HISTORY \
	"INSERT INTO _tiered_storage.relation_history AS r " \
	"(period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, " \
	"row_changes, page_writes) "

/* Parameters are one array for each column. */
#define SELECT_ROWS \
	"SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7), " \
	"unnest($8), unnest($9)"

/* A row that is already there for the relation and the start of the period grows. */
#define ADD_TO_HISTORY \
	"ON CONFLICT (period_start, relation_oid) DO UPDATE SET " \
	"period_s = greatest(r.period_s, EXCLUDED.period_s), " \
	"scans = r.scans + EXCLUDED.scans, random_reads = r.random_reads + EXCLUDED.random_reads, " \
	"sequential_reads = r.sequential_reads + EXCLUDED.sequential_reads, " \
	"hits = r.hits + EXCLUDED.hits, row_changes = r.row_changes + EXCLUDED.row_changes, " \
	"page_writes = r.page_writes + EXCLUDED.page_writes"

TierRelationState *
tier_catalog_load_states(MemoryContext context, int *nstates, TimestampTz *last_sample_at,
						 TierCountsOrigin *origin)
{
	static const char sql[] =
	"SELECT last_sample_at, counts_since, clock_ahead_until, counts_lost_at, system_identifier, "
	"timeline FROM _tiered_storage.sampler";

	memset(origin, 0, sizeof(*origin));
	*last_sample_at = tier_query_plain(sql) == 0 ? 0 : tier_get_time(0, 1);
	if (*last_sample_at != 0)
	{
		origin->since = tier_get_time(0, 2);
		origin->ahead_until = tier_get_time(0, 3);
		origin->lost_at = tier_get_time(0, 4);
		origin->system_identifier = tier_get_int8(0, 5);
		origin->timeline = tier_get_int4(0, 6);
	}
	return tier_table_load(context, &states_table, "", InvalidOid, nstates);
}

double
tier_catalog_read_bytes(void)
{
	tier_query_plain("SELECT sum(size_bytes)::float8 FROM _tiered_storage.relation_state "
					 "WHERE random_slow + sequential_slow > 0");
	return tier_get_float8_or(0, 1, 0.0);
}

TierRelationState *
tier_catalog_load_unit(MemoryContext context, Oid relation_oid, int *nstates)
{
	return tier_table_load(context, &states_table,
						   " WHERE relation_oid IN " TIER_SQL_UNIT_OF_RELATION,
						   relation_oid, nstates);
}

bool
tier_catalog_lock_sampler(int patience_ms)
{
	Oid			schema_oid = get_namespace_oid(TIER_CATALOG_SCHEMA, false);
	Oid			table_oid = get_relname_relid("sampler", schema_oid);

	if (patience_ms >= 0)
		return tier_catalog_lock_within(table_oid, ShareUpdateExclusiveLock, &patience_ms);
	LockRelationOid(table_oid, ShareUpdateExclusiveLock);
	return true;
}

static void
bulk_add_history(TierBulk *bulk, const TierRelationState *state,
				 TimestampTz period_start, TimestampTz period_end)
{
	const TierCostAttribution *split = &state->period.attribution;
	int64		sequential = (int64) (split->sequential_mid + 0.5);
	int64		misses = (int64) (split->misses + 0.5);
	int64		period_s = (period_end - period_start + USECS_PER_SEC / 2) / USECS_PER_SEC;

	tier_bulk_row(bulk, tier_arg_time(period_start), tier_arg_oid(state->id.relation_oid),
				  tier_arg_int4((int32) Max(1, Min(period_s, PG_INT32_MAX))),
				  tier_arg_int8(state->period.delta.scans), tier_arg_int8(misses - sequential),
				  tier_arg_int8(sequential), tier_arg_int8(state->period.delta.blocks_hit),
				  tier_arg_int8(state->period.delta.row_changes),
				  tier_arg_int8((int64) state->period.writes.pages));
}

/*
 * Two periods begin at the same moment only if the clock was set back or stands
 * still: then the new period is added to the rows that are there.  In all other
 * cases there is no need for ON CONFLICT, which costs time for each row.
 */
static const char *
store_history_sql(TimestampTz period_start)
{
	static const char sql[] =
	"SELECT FROM _tiered_storage.relation_history WHERE period_start = $1 LIMIT 1";

	return tier_query(sql, tier_arg_time(period_start)) == 0 ? INSERT_HISTORY SELECT_ROWS :
		INSERT_HISTORY SELECT_ROWS " " ADD_TO_HISTORY;
}

/*
 * The history of an index that was rebuilt becomes that of the index in its place: samples are
 * changed, and for the hours that are rolled up it is noted.  While both were there, both were
 * written, so that there may be rows of both for one period: these are added up.  No index is
 * both the old one of a pair and the new one of another, because the old ones were valid at the
 * last sample, and the new ones were not.
 */
static void
follow_rebuilt(const TierRelationState *states, int from, int until, TimestampTz at)
{
	static const char sql[] =
	"WITH pair AS (SELECT * FROM unnest($1, $2, $3) x (relation_oid, rebuilt_from, at)), "
	"again AS (UPDATE _tiered_storage.rebuilt_index b SET new_oid = x.relation_oid FROM pair x "
	"WHERE b.new_oid = x.rebuilt_from AND b.old_oid <> x.rebuilt_from), "
	"noted AS (INSERT INTO _tiered_storage.rebuilt_index AS b (old_oid, new_oid, rebuilt_at) "
	"SELECT rebuilt_from, relation_oid, at FROM pair ON CONFLICT (old_oid) DO UPDATE "
	"SET new_oid = EXCLUDED.new_oid, rebuilt_at = EXCLUDED.rebuilt_at), "
	"of_before AS (DELETE FROM _tiered_storage.relation_history h "
	"USING pair x "
	"WHERE h.relation_oid = x.rebuilt_from RETURNING x.relation_oid AS new_oid, h.*) "
	INSERT_HISTORY
	"SELECT b.period_start, b.new_oid, b.period_s, b.scans, b.random_reads, b.sequential_reads, "
	"b.hits, b.row_changes, b.page_writes FROM of_before b " ADD_TO_HISTORY;
	TierBulk   *bulk = tier_bulk_create(sql);

	for (int i = from; i < until; i++)
		if (states[i].period.rebuilt_from != 0)
			tier_bulk_row(bulk, tier_arg_oid(states[i].id.relation_oid),
						  tier_arg_oid(states[i].period.rebuilt_from), tier_arg_time(at));
	tier_bulk_finish(bulk);
}

/* The states to store, and the range that is stored now. */
typedef struct StateStore
{
	const TierRelationState *states;
	int			from;
	int			until;
	TimestampTz period_start;
	TimestampTz period_end;
	TierPass   *pass;
} StateStore;

/* State and history of a relation are stored together, or neither. */
static void
store_step(void *argument)
{
	const StateStore *store = argument;
	const TierRelationState *states = store->states;
	TierBulk   *bulk = tier_table_store(&states_table);

	for (int i = store->from; i < store->until; i++)
	{
		if (!states[i].period.changed)
			continue;
		tier_debug_relation("store", states[i].id.relation_oid);
		tier_table_add(bulk, &states_table, &states[i]);
	}
	tier_bulk_finish(bulk);

	follow_rebuilt(states, store->from, store->until, store->period_end);

	/*
	 * The first sample's counters belong to no period: they are the whole
	 * past.  They count for the rates, but not for the history.
	 */
	if (store->period_start == 0)
		return;
	bulk = tier_bulk_create(store_history_sql(store->period_start));
	for (int i = store->from; i < store->until; i++)
		if (states[i].period.active || states[i].period.writes.pages > 0)
			bulk_add_history(bulk, &states[i], store->period_start, store->period_end);
	tier_bulk_finish(bulk);
}

/*
 * Stores all but what fails: a part in which something does is undone, and stored again by
 * halves.  A state that is not stored stays unchanged in our tables, and the next sample
 * measures from there.
 */
static void
store_states(StateStore *store, int from, int until)
{
	int			middle = from + (until - from) / 2;
	ErrorData  *error;

	store->from = from;
	store->until = until;
	error = tier_attempt(store_step, store);
	if (error == NULL)
		return;
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(error);	/* another process has locked our tables */
	if (until - from <= 1 || tier_error_is_about_all(error))
	{
		(void) tier_pass_failed(store->pass, store->states[from].id.relation_oid, NULL, error);
		return;
	}
	FreeErrorData(error);
	store_states(store, from, middle);
	store_states(store, middle, until);
}

void
tier_catalog_store_sample(const TierRelationState *states, int nstates,
						  const Oid *dropped, int ndropped,
						  TimestampTz period_start, const TierSampleSummary *summary,
						  TierPass *pass)
{
	static const char dropped_sql[] =
	"DELETE FROM _tiered_storage.relation_state WHERE relation_oid = ANY ($1)";
	static const char summary_sql[] =
	"INSERT INTO _tiered_storage.sampler AS s "
	"(last_sample_at, last_duration_ms, last_relations, last_active, samples, counter_resets, "
	"counts_since, system_identifier, timeline, clock_ahead_until, counts_lost_at) "
	"VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $10) "
	"ON CONFLICT (singleton) DO UPDATE SET last_sample_at = EXCLUDED.last_sample_at, "
	"last_duration_ms = EXCLUDED.last_duration_ms, last_relations = EXCLUDED.last_relations, "
	"last_active = EXCLUDED.last_active, samples = s.samples + 1, "
	"counter_resets = s.counter_resets + EXCLUDED.counter_resets, "
	"counts_since = EXCLUDED.counts_since, system_identifier = EXCLUDED.system_identifier, "
	"timeline = EXCLUDED.timeline, clock_ahead_until = EXCLUDED.clock_ahead_until, "
	"counts_lost_at = EXCLUDED.counts_lost_at";
	const TierCountsOrigin *origin = &summary->origin;
	StateStore	store = {
		.states = states,.period_start = period_start,.period_end = summary->sampled_at,
		.pass = pass
	};

	if (nstates > 0)
		store_states(&store, 0, nstates);
	if (ndropped > 0)
		tier_query(dropped_sql, tier_arg_oids(dropped, ndropped));
	tier_query(summary_sql, tier_arg_time(summary->sampled_at),
			   tier_arg_float8(summary->duration_ms), tier_arg_int4(summary->relations),
			   tier_arg_int4(summary->active), tier_arg_int8(summary->saw_reset ? 1 : 0),
			   tier_arg_time(origin->since), tier_arg_int8(origin->system_identifier),
			   tier_arg_int4(origin->timeline),
			   tier_arg_if(origin->ahead_until != 0, tier_arg_time(origin->ahead_until)),
			   tier_arg_if(origin->lost_at != 0, tier_arg_time(origin->lost_at)));
}

void
tier_catalog_restore_state(void)
{
	if (tier_query_plain("SELECT FROM _tiered_storage.sampler") == 0)
		tier_query_plain("SELECT _tiered_storage.restore_state()");
}

/*
 * The hour that has begun, before which all is rolled up now.  False when none has begun since
 * the last time.  (A clock that was set back is another hour, from which on they come again.)
 * *is_new_day: whether another day has, too.
 */
static bool
claim_hour(TimestampTz now, TimestampTz *hour, bool *is_new_day)
{
	static const char sql[] =
	"WITH before AS (SELECT rolled_up_until AS at FROM _tiered_storage.sampler) "
	"UPDATE _tiered_storage.sampler s SET rolled_up_until = date_trunc('hour', $1) "
	"FROM before b WHERE b.at IS DISTINCT FROM date_trunc('hour', $1) "
	"RETURNING s.rolled_up_until, "
	"date_trunc('day', b.at) IS DISTINCT FROM date_trunc('day', s.rolled_up_until)";

	if (tier_query(sql, tier_arg_time(now)) == 0)
		return false;
	*hour = tier_get_time(0, 1);
	*is_new_day = tier_get_bool(0, 2);
	return true;
}

TierRest
tier_catalog_rest(void)
{
	static const char sql[] =
	"SELECT CASE WHEN EXISTS (SELECT FROM _tiered_storage.standby) "
	"OR EXISTS (SELECT FROM _tiered_storage.fullness_policy) "
	"OR EXISTS (SELECT FROM _tiered_storage.planned_move) "
	"OR EXISTS (SELECT FROM _tiered_storage.move_file) "
	"OR EXISTS (SELECT FROM _tiered_storage.move_effect "
	"WHERE settled_at IS NULL AND observed_since IS NULL) THEN $1 "
	"WHEN EXISTS (SELECT FROM _tiered_storage.policy) THEN $2 ELSE $3 END";
	TierCatalogScope scope;
	TierRest	rest;

	if (!tier_catalog_try_enter(&scope))
		return TIER_REST_NONE;
	tier_query(sql, tier_arg_int4(TIER_REST_NONE), tier_arg_int4(TIER_REST_BETWEEN_RUNS),
			   tier_arg_int4(TIER_REST_IN_HOUR));
	rest = (TierRest) tier_get_int4(0, 1);
	tier_catalog_leave(&scope);
	return rest;
}

/*
 * Minutes for which the history of relations is kept: history_retention, or the longest time
 * over which a policy considers reads, plus a period of a day that began before it.
 */
static int
kept_minutes(void)
{
	static const char sql[] =
	"SELECT greatest($1, (SELECT ceil(max(extract(epoch FROM "
	"COALESCE(p.return_after, '3 days'))) / 60)::int4 + 1440 "
	"FROM _tiered_storage.policy p WHERE p.return_when_reads_per_hour IS NOT NULL))";

	tier_query(sql, tier_arg_int4(tier_history_retention_min));
	return tier_get_int4(0, 1);
}

/*
 * Deletes old rows once a day, and rows beyond the limit as soon as they exceed it by a
 * tenth.  Rows are deleted in bulk, because the cleanup of their space writes WAL.
 *
 * Moves that move_limit_per_day and move windows count are kept for a day, which has 25 hours
 * once a year, and moves that cooldown considers for that time.  Where a policy lets anything
 * return, the last move of each relation is kept, whatever its requester: it tells where the
 * relation came from, or that the policy did not move it.
 */
static void
forget_moves(TimestampTz now, bool is_new_day)
{
	static const char sql[] =
	"WITH most AS (SELECT max(l.move_id) AS move_id FROM (SELECT m.move_id "
	"FROM _tiered_storage.move m ORDER BY m.move_id DESC OFFSET $4) l "
	"WHERE (SELECT count(*) FROM _tiered_storage.move) > $4 * 1.1) "
	"DELETE FROM _tiered_storage.move m USING most WHERE state <> 'running' "
	"AND (m.move_id <= most.move_id OR $3 "
	"AND finished_at < $1 - make_interval(mins => greatest($2, 1560))) "
	"AND NOT (state = 'done' "
	"AND EXISTS (SELECT FROM _tiered_storage.policy p "
	"WHERE p.return_when_reads_per_hour IS NOT NULL) "
	"AND _tiered_storage.relation_persistence(m.relation_oid) IS NOT NULL "
	"AND NOT EXISTS (SELECT FROM _tiered_storage.move l WHERE l.relation_oid = m.relation_oid "
	"AND l.move_id > m.move_id AND l.state = 'done'))";
	static const char effects_sql[] =
	"DELETE FROM _tiered_storage.move_effect e "
	"WHERE NOT EXISTS (SELECT FROM _tiered_storage.move m WHERE m.move_id = e.move_id)";

	if (tier_query(sql, tier_arg_time(now),
				   tier_arg_int4(Max(tier_history_retention_min, tier_cooldown_min)),
				   tier_arg_bool(is_new_day),
				   tier_arg_int8((int64) tier_history_max_size_mb * MOVES_PER_MB)) > 0)
		tier_query_plain(effects_sql);
}

/* Deletes notes about indexes and policies that are in no history, or do not exist. */
static void
forget_notes(TimestampTz now, int kept_min)
{
	static const char indexes_sql[] =
	"DELETE FROM _tiered_storage.rebuilt_index "
	"WHERE rebuilt_at < $1 - 2 * make_interval(mins => $2)";
	static const char policies_sql[] =
	"DELETE FROM _tiered_storage.policy_result r WHERE NOT EXISTS "
	"(SELECT FROM _tiered_storage.policy p WHERE p.policy_id = r.policy_id) AND NOT EXISTS "
	"(SELECT FROM _tiered_storage.fullness_policy f WHERE f.policy_id = r.policy_id)";

	tier_query(indexes_sql, tier_arg_time(now), tier_arg_int4(kept_min));
	tier_query_plain(policies_sql);
	tier_query_plain("SELECT _tiered_storage.forget_standbys()");
}

void
tier_catalog_maintain_history(TimestampTz now)
{
	double		max_bytes = tier_history_max_size_mb * 1024.0 * 1024.0;
	TimestampTz hour;
	bool		is_new_day;
	int			kept_min;

	if (!claim_hour(now, &hour, &is_new_day))
		return;
	kept_min = kept_minutes();
	tier_query("SELECT _tiered_storage.roll_up($1, $2, $3, $4)", tier_arg_time(hour),
			   tier_arg_time(now), tier_arg_float8(max_bytes * HOURS_MEMBER_PART),
			   tier_arg_float8(kept_min * 60.0 / FULL_MEMBERS));
	forget_moves(now, is_new_day);
	forget_notes(now, kept_min);
	tier_query("SELECT _tiered_storage.take_snapshot($1, $2)", tier_arg_time(now),
			   tier_arg_float8(max_bytes * SNAPSHOTS_MEMBER_PART));
}
