---------------------------------------------------------------------------
-- What the database and the server did in a period.
---------------------------------------------------------------------------

/*
 * Activity of this database and of the server by sample, until the hour has ended.  Statistics
 * are of this database, waits of its backends; WAL, checkpoints, written buffers and SLRU are of
 * the whole server.
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
	SELECT COALESCE(min(v.value) >= 0 AND max(v.value) <= 1e16, true)
		AND COALESCE(max(v.value) FILTER (WHERE v.is_wait), 0)
			<= 262144.0 * COALESCE(l.wait_sampled_ms, 0)
	FROM (SELECT e.value::numeric AS value, starts_with(e.key, 'wait_')
			AND e.key <> 'wait_sampled_ms' AS is_wait
		FROM jsonb_each_text(to_jsonb(l) - '{period_start,period_s}'::text[]) e) v
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

/*
 * The parts of a period that were not sampled: before the first sample, after the last one, and
 * what a crash has lost.
 */
CREATE FUNCTION _tiered_storage.unsampled(begins_at timestamptz, ends_at timestamptz,
	OUT from_at timestamptz, OUT to_at timestamptz)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT g.known_to, g.known_from
	FROM (SELECT k.known_from, max(k.known_to) OVER (ORDER BY k.known_from, k.known_to
			ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS known_to
		FROM (SELECT GREATEST(h.period_start, begins_at), LEAST(ends_at,
				h.period_start + h.period_s * interval '1 second')
			FROM _tiered_storage.load_rows h
			WHERE h.hour >= (SELECT _tiered_storage.first_hour(begins_at)) AND h.hour < ends_at
				AND h.period_start < ends_at
				AND h.period_start + h.period_s * interval '1 second' > begins_at
			UNION ALL VALUES (begins_at, begins_at), (ends_at, ends_at))
			k (known_from, known_to)) g
	WHERE g.known_from > g.known_to + interval '1 second'
$$;

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

/*
 * The load of a period, one row per metric.
 *
 * A sample that reaches beyond the period counts in proportion; prorated is how much of it
 * does.  What was not sampled is no part of the period.
 */
CREATE FUNCTION _tiered_storage.load_totals(begins_at timestamptz, ends_at timestamptz,
	OUT place integer, OUT metric text, OUT unit text, OUT total float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH part AS MATERIALIZED (
		SELECT h, p.share
		FROM _tiered_storage.load_rows h
		CROSS JOIN LATERAL (SELECT _tiered_storage.period_share(h.period_start, h.period_s,
			begins_at, ends_at) AS share) p
		WHERE h.hour >= (SELECT _tiered_storage.first_hour(begins_at)) AND h.hour < ends_at
			AND h.period_start < ends_at AND p.share > 0),
	summed AS (
		SELECT jsonb_object_agg(s.key, s.total) AS t
		FROM (SELECT e.key, sum(e.value::float8 * p.share) AS total FROM part p
			CROSS JOIN LATERAL jsonb_each_text(to_jsonb(p.h) - '{hour,period_start}'::text[]
				|| jsonb_build_object('transactions', (p.h).commits + (p.h).rollbacks,
					'block_reads', GREATEST((p.h).blocks_fetched - (p.h).blocks_hit, 0),
					'block_hits', (p.h).blocks_hit,
					'prorated', CASE WHEN p.share < 1 THEN (p.h).period_s END)) e
			GROUP BY e.key) s)
	SELECT m.place::integer, m.metric, m.unit, CASE
		WHEN m.metric = 'period' THEN EXTRACT(epoch FROM ends_at - begins_at
			- COALESCE((SELECT sum(u.to_at - u.from_at)
				FROM _tiered_storage.unsampled(begins_at, ends_at) u), '0'))::float8
		WHEN m.metric = 'hit_ratio' THEN (s.t ->> 'block_hits')::float8
			/ NULLIF((s.t ->> 'block_hits')::float8 + (s.t ->> 'block_reads')::float8, 0)
		WHEN starts_with(m.metric, 'wait_') THEN (s.t ->> (m.metric || '_ms'))::float8 / 1000
		WHEN m.metric = 'server_wal_writes' THEN (s.t ->> 'wal_writes')::float8
		ELSE COALESCE((s.t ->> replace(m.metric, 'server_', ''))::float8, 0) END
	FROM summed s CROSS JOIN ROWS FROM (
		unnest('{period,prorated,transactions,rollbacks,block_reads,block_hits,hit_ratio,
			rows_returned,rows_fetched,rows_inserted,rows_updated,rows_deleted,temp_files,
			temp_bytes,deadlocks,server_wal_records,server_wal_full_page_images,server_wal_bytes,
			server_wal_writes,server_checkpoints_timed,server_checkpoints_requested,
			server_buffers_checkpointer,server_buffers_bgwriter,server_buffers_backends,
			server_slru_reads,server_slru_writes,wait_cpu,wait_relations,wait_wal,wait_temp,
			wait_slru,wait_other_io,wait_lock,wait_lwlock,wait_other}'::text[]),
		unnest('{s,s,transactions,transactions,blocks,blocks,ratio,rows,rows,rows,rows,rows,files,
			bytes,deadlocks,records,images,bytes,writes,checkpoints,checkpoints,blocks,blocks,
			blocks,blocks,blocks,s,s,s,s,s,s,s,s,s}'::text[]))
		WITH ORDINALITY m (metric, unit, place)
$$;

CREATE FUNCTION tiered_storage.load_profile(
	from_at timestamptz DEFAULT NULL, to_at timestamptz DEFAULT NULL,
	OUT metric text, OUT total numeric, OUT per_second numeric, OUT per_transaction numeric,
	OUT unit text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE ROWS 35 SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	observed_since timestamptz;
	sampled_at timestamptz;
	begins_at timestamptz;
	ends_at timestamptz;
	period_s float8;
	transactions float8;
BEGIN
	IF NOT isfinite(from_at) OR NOT isfinite(to_at) THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'a period must have a finite begin and end');
	END IF;
	IF from_at >= to_at THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'the period must end after it begins',
			detail => format('It would begin at %s and end at %s.', from_at, to_at));
	END IF;
	SELECT GREATEST(s.observed_since, s.sampled_at
		- current_setting('tiered_storage.history_retention', true)::interval), s.sampled_at
		INTO observed_since, sampled_at
		FROM _tiered_storage.last_load s;
	IF sampled_at IS NULL OR sampled_at <= observed_since THEN
		PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			'there are fewer than two samples to compute a load from',
			hint => 'The worker takes one every tiered_storage.sample_interval, CALL '
				'tiered_storage.sample() one at once.');
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
	SELECT max(t.total) FILTER (WHERE t.metric = 'period'),
		NULLIF(max(t.total) FILTER (WHERE t.metric = 'transactions'), 0)
		INTO period_s, transactions FROM _tiered_storage.load_totals(begins_at, ends_at) t;
	IF period_s <= 0 THEN
		PERFORM _tiered_storage.refuse('no_data_found', 'the load of that period was not sampled',
			detail => 'No sample was taken, or a crash lost those since the last full hour.');
	ELSIF period_s < EXTRACT(epoch FROM ends_at - begins_at) - 1 THEN
		RAISE NOTICE 'the load of % of these % was not sampled', date_trunc('second',
				ends_at - begins_at - period_s * interval '1 second'), ends_at - begins_at
			USING DETAIL = 'No sample was taken, or a crash lost those since the last full hour. '
				'The figures are those of the remaining time.';
	END IF;
	RETURN QUERY
		SELECT t.metric, _tiered_storage.readable(t.total),
			CASE WHEN t.unit <> 'ratio' AND t.place > 2
				THEN _tiered_storage.readable(t.total / period_s) END,
			CASE WHEN t.unit <> 'ratio' AND t.place > 2
				THEN _tiered_storage.readable(t.total / transactions) END,
			t.unit
		FROM _tiered_storage.load_totals(begins_at, ends_at) t
		ORDER BY t.place;
END
$$;
COMMENT ON FUNCTION tiered_storage.load_profile IS
'load of this database in a period: in total, per second and per transaction; waits per second '
'are average active sessions; server_* metrics cover the whole server; default: the last '
'sampled hour';

CREATE FUNCTION tiered_storage.compare_load(
	from1 timestamptz, to1 timestamptz, from2 timestamptz, to2 timestamptz,
	OUT metric text, OUT first_per_s numeric, OUT second_per_s numeric, OUT ratio numeric,
	OUT first_per_xact numeric, OUT second_per_xact numeric, OUT unit text)
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
		SELECT f.metric, f.value, s.value,
			_tiered_storage.significant((s.value / NULLIF(f.value, 0))::float8),
			f.per_transaction, s.per_transaction, f.unit
		FROM (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from1, to1) WITH ORDINALITY) f
		JOIN (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from2, to2)) s USING (metric)
		ORDER BY f.ordinality;
END
$$;
COMMENT ON FUNCTION tiered_storage.compare_load IS
'load of two periods side by side, with the ratio of the second rate to the first; metrics that '
'are not rates are compared by value';
