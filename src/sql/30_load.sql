---------------------------------------------------------------------------
-- What the database and the server did in a period.
---------------------------------------------------------------------------

/*
 * Activity of this database and of the server by sample, until the hour has ended; one in which
 * the database was idle has no row.  Statistics are of this database, waits of its backends;
 * WAL, checkpoints, written buffers and SLRU are of the whole server.
 */
CREATE UNLOGGED TABLE _tiered_storage.load_history
(
	period_start timestamptz NOT NULL PRIMARY KEY,
	period_s float8 NOT NULL CHECK (period_s OPERATOR(pg_catalog.>) 0
		AND period_s OPERATOR(pg_catalog.<) 1e10),
	commits bigint,
	rollbacks bigint,
	blocks_fetched bigint,
	blocks_hit bigint,
	rows_returned bigint,
	rows_fetched bigint,
	rows_inserted bigint,
	rows_updated bigint,
	rows_deleted bigint,
	temp_files bigint,
	temp_bytes bigint,
	deadlocks bigint,
	wal_records bigint,
	wal_full_page_images bigint,
	wal_bytes bigint,
	wal_writes bigint,
	checkpoints_timed bigint,
	checkpoints_requested bigint,
	buffers_checkpointer bigint,
	buffers_bgwriter bigint,
	buffers_backends bigint,
	slru_reads bigint,
	slru_writes bigint,
	-- time in ms within the period in which the waits of the backends were sampled
	wait_sampled_ms bigint,
	wait_cpu_ms bigint,
	wait_relations_ms bigint,
	wait_wal_ms bigint,
	wait_temp_ms bigint,
	wait_slru_ms bigint,
	wait_other_io_ms bigint,
	wait_lock_ms bigint,
	wait_lwlock_ms bigint,
	wait_other_ms bigint
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('load_history');

/*
 * Whether a sample can have written this row: nothing is negative, or more than there can be.
 *
 * What a sample cannot have written is not known.  All sums of what it can fit in a bigint; and
 * no wait is of more backends than there can ever be, 2^18, at once.
 */
CREATE FUNCTION _tiered_storage.load_is_possible(l _tiered_storage.load_history)
RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT LEAST(0, l.commits, l.rollbacks, l.blocks_fetched, l.blocks_hit, l.rows_returned,
		l.rows_fetched, l.rows_inserted, l.rows_updated, l.rows_deleted, l.temp_files,
		l.temp_bytes, l.deadlocks, l.wal_records, l.wal_full_page_images, l.wal_bytes,
		l.wal_writes, l.checkpoints_timed, l.checkpoints_requested, l.buffers_checkpointer,
		l.buffers_bgwriter, l.buffers_backends, l.slru_reads, l.slru_writes, l.wait_sampled_ms,
		w.lowest) >= 0
		AND GREATEST(0, l.commits, l.rollbacks, l.blocks_fetched, l.blocks_hit, l.rows_returned,
		l.rows_fetched, l.rows_inserted, l.rows_updated, l.rows_deleted, l.temp_files,
		l.temp_bytes, l.deadlocks, l.wal_records, l.wal_full_page_images, l.wal_bytes,
		l.wal_writes, l.checkpoints_timed, l.checkpoints_requested, l.buffers_checkpointer,
		l.buffers_bgwriter, l.buffers_backends, l.slru_reads, l.slru_writes, l.wait_sampled_ms,
		w.highest) <= 1e16::bigint
		AND COALESCE(w.highest, 0) <= 262144.0 * COALESCE(l.wait_sampled_ms, 0)
	FROM (SELECT min(ms) AS lowest, max(ms) AS highest FROM unnest(ARRAY[l.wait_cpu_ms,
		l.wait_relations_ms, l.wait_wal_ms, l.wait_temp_ms, l.wait_slru_ms, l.wait_other_io_ms,
		l.wait_lock_ms, l.wait_lwlock_ms, l.wait_other_ms]) ms) w
$$;

/* The same of all hours, see history_rows; use load_profile(). */
CREATE VIEW _tiered_storage.load_rows AS
	SELECT date_trunc('hour', m.period_start, 'UTC') AS hour, m.*
	FROM _tiered_storage.stored_load_history() m
	WHERE _tiered_storage.load_is_possible(m)
	UNION ALL
	SELECT h.hour, l.*
	FROM _tiered_storage.history_hour h
	CROSS JOIN LATERAL jsonb_populate_record(
		NULL::_tiered_storage.load_history, h.load) l
	WHERE h.load IS NOT NULL AND _tiered_storage.load_is_possible(l);

/* The cumulative counters at the last sample, in the order of the columns of load_history. */
CREATE UNLOGGED TABLE _tiered_storage.load_state
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	observed_since timestamptz NOT NULL,
	sampled_at timestamptz NOT NULL,
	counters bigint[] NOT NULL
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('load_state');

/* That row, see stored_TABLE(). */
CREATE VIEW _tiered_storage.last_load AS
	SELECT l.* FROM _tiered_storage.stored_load_state() l LIMIT 1;

/*
 * Seconds that the backends of this database have waited since the server started, by
 * class of file, sampled once a second; empty without shared_preload_libraries.
 */
CREATE FUNCTION _tiered_storage.wait_times(
	OUT wait_class text, OUT wait_s float8, OUT sampled_s float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_wait_times';

/* Checks a period and cuts it to the time that has been sampled. */
CREATE FUNCTION _tiered_storage.load_period(from_at timestamptz, to_at timestamptz,
	OUT begins_at timestamptz, OUT ends_at timestamptz)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	observed_since timestamptz;
	sampled_at timestamptz;
BEGIN
	IF NOT isfinite(from_at) OR NOT isfinite(to_at) THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'a period must have a finite begin and end');
	END IF;
	IF from_at >= to_at THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'the period must end after it has begun',
			detail => format('It would begin at %s and end at %s.', from_at, to_at));
	END IF;
	SELECT GREATEST(s.observed_since, s.sampled_at
		- current_setting('tiered_storage.history_retention', true)::interval), s.sampled_at
		INTO observed_since, sampled_at
		FROM _tiered_storage.last_load s;
	IF sampled_at IS NULL OR sampled_at <= observed_since THEN
		PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			'there are no two samples yet that a load could be computed from',
			hint => 'The worker takes one each tiered_storage.sample_interval; or use CALL '
				'tiered_storage.sample().');
	END IF;
	ends_at := LEAST(to_at, sampled_at);
	begins_at := GREATEST(COALESCE(from_at, GREATEST(COALESCE(to_at, sampled_at), observed_since)
		- interval '1 hour'), observed_since);
	IF begins_at >= ends_at THEN
		PERFORM _tiered_storage.refuse('no_data_found', 'the load of that period was not sampled',
			detail => format('The load is known from %s to %s.', observed_since, sampled_at));
	END IF;
	IF from_at < begins_at OR to_at > ends_at THEN
		RAISE NOTICE 'the load is known from % to % only', observed_since, sampled_at
			USING DETAIL = format('The figures are those from %s to %s.', begins_at, ends_at);
	END IF;
END
$$;

/*
 * Sums of the load in a period; a sample that reaches beyond the period counts in
 * proportion, prorated_s is how much of it does.
 *
 * A sample that reaches beyond the period counts in proportion.  Where there is no row,
 * the database was idle.
 */
CREATE FUNCTION _tiered_storage.load_sums(
	begins_at timestamptz, ends_at timestamptz,
	OUT commits float8, OUT rollbacks float8, OUT blocks_read float8, OUT blocks_hit float8,
	OUT rows_returned float8, OUT rows_fetched float8, OUT rows_inserted float8,
	OUT rows_updated float8, OUT rows_deleted float8, OUT temp_files float8,
	OUT temp_bytes float8, OUT deadlocks float8, OUT wal_records float8,
	OUT wal_full_page_images float8, OUT wal_bytes float8, OUT wal_writes float8,
	OUT checkpoints_timed float8, OUT checkpoints_requested float8,
	OUT buffers_checkpointer float8, OUT buffers_bgwriter float8, OUT buffers_backends float8,
	OUT slru_reads float8, OUT slru_writes float8, OUT cpu_ms float8, OUT relations_ms float8,
	OUT wal_ms float8, OUT temp_ms float8, OUT slru_ms float8, OUT other_io_ms float8,
	OUT lock_ms float8, OUT lwlock_ms float8, OUT other_ms float8, OUT prorated_s float8)
RETURNS record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH part AS (
		SELECT h.*, p.share, p.share * h.period_s AS inside_s
		FROM _tiered_storage.load_rows h
		CROSS JOIN LATERAL (SELECT _tiered_storage.period_share(h.period_start, h.period_s,
			begins_at, ends_at) AS share) p
		WHERE h.hour >= _tiered_storage.first_hour(begins_at) AND h.hour < ends_at
			AND h.period_start < ends_at AND p.share > 0
	)
	SELECT
		sum(commits * share), sum(rollbacks * share),
		sum(GREATEST(blocks_fetched - blocks_hit, 0) * share), sum(blocks_hit * share),
		sum(rows_returned * share), sum(rows_fetched * share), sum(rows_inserted * share),
		sum(rows_updated * share), sum(rows_deleted * share), sum(temp_files * share),
		sum(temp_bytes * share), sum(deadlocks * share), sum(wal_records * share),
		sum(wal_full_page_images * share), sum(wal_bytes * share), sum(wal_writes * share),
		sum(checkpoints_timed * share), sum(checkpoints_requested * share),
		sum(buffers_checkpointer * share), sum(buffers_bgwriter * share),
		sum(buffers_backends * share), sum(slru_reads * share), sum(slru_writes * share),
		sum(wait_cpu_ms * share), sum(wait_relations_ms * share), sum(wait_wal_ms * share),
		sum(wait_temp_ms * share), sum(wait_slru_ms * share), sum(wait_other_io_ms * share),
		sum(wait_lock_ms * share), sum(wait_lwlock_ms * share), sum(wait_other_ms * share),
		COALESCE(sum(inside_s) FILTER (WHERE share < 1), 0)
	FROM part
$$;

/* The load of a period, one row per metric. */
CREATE FUNCTION _tiered_storage.load_totals(begins_at timestamptz, ends_at timestamptz,
	OUT place integer, OUT metric text, OUT unit text, OUT total float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT v.*
	FROM _tiered_storage.load_sums(begins_at, ends_at) t
	CROSS JOIN LATERAL (VALUES
		(1, 'period', 's', EXTRACT(epoch FROM ends_at - begins_at)::float8),
		(2, 'prorated', 's', t.prorated_s),
		(3, 'transactions', 'transactions', COALESCE(t.commits + t.rollbacks, 0)),
		(4, 'rollbacks', 'transactions', COALESCE(t.rollbacks, 0)),
		(5, 'block_reads', 'blocks', COALESCE(t.blocks_read, 0)),
		(6, 'block_hits', 'blocks', COALESCE(t.blocks_hit, 0)),
		(7, 'hit_ratio', 'ratio', t.blocks_hit / NULLIF(t.blocks_hit + t.blocks_read, 0)),
		(8, 'rows_returned', 'rows', COALESCE(t.rows_returned, 0)),
		(9, 'rows_fetched', 'rows', COALESCE(t.rows_fetched, 0)),
		(10, 'rows_inserted', 'rows', COALESCE(t.rows_inserted, 0)),
		(11, 'rows_updated', 'rows', COALESCE(t.rows_updated, 0)),
		(12, 'rows_deleted', 'rows', COALESCE(t.rows_deleted, 0)),
		(13, 'temp_files', 'files', COALESCE(t.temp_files, 0)),
		(14, 'temp_bytes', 'bytes', COALESCE(t.temp_bytes, 0)),
		(15, 'deadlocks', 'deadlocks', COALESCE(t.deadlocks, 0)),
		(16, 'server_wal_records', 'records', COALESCE(t.wal_records, 0)),
		(17, 'server_wal_full_page_images', 'images', COALESCE(t.wal_full_page_images, 0)),
		(18, 'server_wal_bytes', 'bytes', COALESCE(t.wal_bytes, 0)),
		(19, 'server_wal_writes', 'writes', t.wal_writes),
		(20, 'server_checkpoints_timed', 'checkpoints', COALESCE(t.checkpoints_timed, 0)),
		(21, 'server_checkpoints_requested', 'checkpoints', COALESCE(t.checkpoints_requested, 0)),
		(22, 'server_buffers_checkpointer', 'blocks', COALESCE(t.buffers_checkpointer, 0)),
		(23, 'server_buffers_bgwriter', 'blocks', COALESCE(t.buffers_bgwriter, 0)),
		(24, 'server_buffers_backends', 'blocks', COALESCE(t.buffers_backends, 0)),
		(25, 'server_slru_reads', 'blocks', COALESCE(t.slru_reads, 0)),
		(26, 'server_slru_writes', 'blocks', COALESCE(t.slru_writes, 0)),
		(27, 'wait_cpu', 's', t.cpu_ms / 1000),
		(28, 'wait_relations', 's', t.relations_ms / 1000),
		(29, 'wait_wal', 's', t.wal_ms / 1000),
		(30, 'wait_temp', 's', t.temp_ms / 1000),
		(31, 'wait_slru', 's', t.slru_ms / 1000),
		(32, 'wait_other_io', 's', t.other_io_ms / 1000),
		(33, 'wait_lock', 's', t.lock_ms / 1000),
		(34, 'wait_lwlock', 's', t.lwlock_ms / 1000),
		(35, 'wait_other', 's', t.other_ms / 1000)) v
$$;

CREATE FUNCTION tiered_storage.load_profile(
	from_at timestamptz DEFAULT NULL, to_at timestamptz DEFAULT NULL,
	OUT metric text, OUT total float8, OUT per_second float8, OUT per_transaction float8,
	OUT unit text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE ROWS 35 SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	period record;
	period_s float8;
	transactions float8;
BEGIN
	SELECT * INTO period FROM _tiered_storage.load_period(from_at, to_at);
	SELECT max(t.total) FILTER (WHERE t.metric = 'period'),
		NULLIF(max(t.total) FILTER (WHERE t.metric = 'transactions'), 0)
		INTO period_s, transactions FROM _tiered_storage.load_totals(period.begins_at,
			period.ends_at) t;
	RETURN QUERY
		SELECT t.metric, t.total,
			CASE WHEN t.unit <> 'ratio' AND t.place > 2 THEN t.total / period_s END,
			CASE WHEN t.unit <> 'ratio' AND t.place > 2 THEN t.total / transactions END,
			t.unit
		FROM _tiered_storage.load_totals(period.begins_at, period.ends_at) t
		ORDER BY t.place;
END
$$;
COMMENT ON FUNCTION tiered_storage.load_profile IS
'the load of this database in a period: in total, per second and per transaction; waits per '
'second are average active sessions; server_* metrics are of the whole server; without arguments '
'the last sampled hour';

CREATE FUNCTION tiered_storage.compare_load(
	from1 timestamptz, to1 timestamptz, from2 timestamptz, to2 timestamptz,
	OUT metric text, OUT first_per_s float8, OUT second_per_s float8, OUT per_second_ratio float8,
	OUT first_per_transaction float8, OUT second_per_transaction float8,
	OUT per_transaction_ratio float8, OUT unit text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE ROWS 35 SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF from1 IS NULL OR to1 IS NULL OR from2 IS NULL OR to2 IS NULL THEN
		PERFORM _tiered_storage.refuse('null_value_not_allowed',
			'both periods must have a begin and an end');
	END IF;
	RETURN QUERY
		SELECT f.metric, f.value, s.value, s.value / NULLIF(f.value, 0),
			f.per_transaction, s.per_transaction, s.per_transaction / NULLIF(f.per_transaction, 0),
			f.unit
		FROM (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from1, to1) WITH ORDINALITY) f
		JOIN (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from2, to2)) s USING (metric)
		ORDER BY f.ordinality;
END
$$;
COMMENT ON FUNCTION tiered_storage.compare_load IS
'the load of two periods side by side; ratios are second to first; metrics that are no rates '
'(length of the period, hit ratio) are compared by value';
