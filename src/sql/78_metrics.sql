---------------------------------------------------------------------------
-- Metrics, for programs that ask every minute: few rows, nothing that is placed or planned.
---------------------------------------------------------------------------

/*
 * Columns of type text are labels, all others are values.  They are called as Prometheus
 * would call them, behind the prefix that the view metrics gives them: base units, _total for
 * what only grows.  What is not known is null, and no value at all for Prometheus.
 */

CREATE VIEW tiered_storage.server_metrics AS
	SELECT
		CASE WHEN a.available THEN 1 ELSE 0 END AS preloaded,
		CASE WHEN _tiered_storage.is_paused() THEN 1 ELSE 0 END AS paused,
		CASE WHEN pg_catalog.pg_is_in_recovery() THEN 1 ELSE 0 END AS in_recovery,
		CASE WHEN w.state OPERATOR(pg_catalog.=)
				ANY ('{waiting,starting,running}'::pg_catalog.text[])
			THEN 1 ELSE 0 END AS worker_up,
		COALESCE(w.failures, 0) AS worker_failures,
		EXTRACT(epoch FROM s.last_sample_at)::pg_catalog.float8 AS last_sample_timestamp_seconds,
		s.last_duration_ms OPERATOR(pg_catalog./) 1000 AS sample_duration_seconds,
		s.last_relations AS sampled_relations,
		s.samples AS samples_total
	FROM _tiered_storage.access_tracking() a
	LEFT JOIN tiered_storage.sampler s ON true
	LEFT JOIN tiered_storage.workers w
		ON w.database_name OPERATOR(pg_catalog.=) pg_catalog.current_database();
COMMENT ON VIEW tiered_storage.server_metrics IS
'metrics of the worker and the sampler of this database, in one row';
COMMENT ON COLUMN tiered_storage.server_metrics.preloaded IS
'1: the library is in shared_preload_libraries; 0: it is not, so there is no worker';
COMMENT ON COLUMN tiered_storage.server_metrics.paused IS '1: moves are paused';
COMMENT ON COLUMN tiered_storage.server_metrics.in_recovery IS
'1: the server is a standby, which neither samples nor moves';
COMMENT ON COLUMN tiered_storage.server_metrics.worker_up IS
'1: the worker of this database works, or waits for its next cycle; 0: see the view workers';
COMMENT ON COLUMN tiered_storage.server_metrics.worker_failures IS
'failed cycles of the worker in a row';
COMMENT ON COLUMN tiered_storage.server_metrics.last_sample_timestamp_seconds IS
'when the last sample was taken, in seconds since 1970';
COMMENT ON COLUMN tiered_storage.server_metrics.sample_duration_seconds IS
'duration of the last sample in seconds';
COMMENT ON COLUMN tiered_storage.server_metrics.sampled_relations IS
'relations in the last sample';
COMMENT ON COLUMN tiered_storage.server_metrics.samples_total IS 'samples taken so far';

CREATE VIEW tiered_storage.tier_metrics AS
	SELECT t.tier_name::pg_catalog.text AS tier, t.rank,
		t.capacity_bytes, t.used_bytes, t.free_bytes, t.relation_bytes, t.relations,
		t.used_bytes OPERATOR(pg_catalog./) NULLIF(t.used_bytes
			OPERATOR(pg_catalog.+) t.free_bytes, 0)::pg_catalog.float8 AS used_ratio,
		t.relation_bytes OPERATOR(pg_catalog./) NULLIF(t.capacity_bytes, 0)::pg_catalog.float8
			AS relation_ratio,
		t.reserve_fraction AS reserve_ratio,
		t.high_watermark AS high_watermark_ratio, t.low_watermark AS low_watermark_ratio,
		(SELECT pg_catalog.max(d.busy_fraction) FROM tiered_storage.device_io d
			WHERE d.device OPERATOR(pg_catalog.=) ANY (t.devices)) AS busy_ratio,
		CASE WHEN t.wear_exceeded THEN 1 WHEN NOT t.wear_exceeded THEN 0 END AS wear_exceeded,
		(SELECT pg_catalog.max(w.used_fraction) FROM tiered_storage.wear w
			WHERE w.tier_name OPERATOR(pg_catalog.=) t.tier_name) AS wear_used_ratio
	FROM tiered_storage.tiers t;
COMMENT ON VIEW tiered_storage.tier_metrics IS 'metrics of each tier';
COMMENT ON COLUMN tiered_storage.tier_metrics.tier IS 'label: name of the tier';
COMMENT ON COLUMN tiered_storage.tier_metrics.rank IS
'place in the order of tiers; 0 is the fastest';
COMMENT ON COLUMN tiered_storage.tier_metrics.capacity_bytes IS
'capacity in bytes as given, otherwise the size of its file systems';
COMMENT ON COLUMN tiered_storage.tier_metrics.used_bytes IS
'bytes used on its file systems, by everything on them';
COMMENT ON COLUMN tiered_storage.tier_metrics.free_bytes IS 'bytes free on its file systems';
COMMENT ON COLUMN tiered_storage.tier_metrics.relation_bytes IS
'bytes of the relations of this database on the tier, at the last sample';
COMMENT ON COLUMN tiered_storage.tier_metrics.relations IS
'relations of this database on the tier, at the last sample';
COMMENT ON COLUMN tiered_storage.tier_metrics.used_ratio IS
'used share of its file systems, 0 to 1';
COMMENT ON COLUMN tiered_storage.tier_metrics.relation_ratio IS
'what the relations of this database take of the capacity; 1 is all of it';
COMMENT ON COLUMN tiered_storage.tier_metrics.reserve_ratio IS
'share of the capacity that is to stay free';
COMMENT ON COLUMN tiered_storage.tier_metrics.high_watermark_ratio IS
'share of the capacity above which the tier is too full';
COMMENT ON COLUMN tiered_storage.tier_metrics.low_watermark_ratio IS
'share of the capacity down to which a tier that is too full is emptied';
COMMENT ON COLUMN tiered_storage.tier_metrics.busy_ratio IS
'share of the time between the last two samples in which its busiest device had a request in '
'flight, 0 to 1';
COMMENT ON COLUMN tiered_storage.tier_metrics.wear_exceeded IS
'1: more is written to one of its devices than its endurance allows';
COMMENT ON COLUMN tiered_storage.tier_metrics.wear_used_ratio IS
'used share of the life of the device that is worn most, 0 to 1 and above';

/*
 * The most expensive relations by name, and what is left of each tier as one: how many rows
 * there are is bounded whatever the database holds.
 */
CREATE VIEW tiered_storage.relation_metrics AS
	WITH cost AS (
		SELECT h.relation, h.kind, h.tier_name, h.size_bytes,
			h.device_random_reads_per_hour, h.device_sequential_reads_per_hour,
			h.page_writes_per_hour, h.writes_per_hour,
			(h.device_random_reads_per_hour OPERATOR(pg_catalog.*) t.random_read_ms
				OPERATOR(pg_catalog.+) h.device_sequential_reads_per_hour
				OPERATOR(pg_catalog.*) b.block_size OPERATOR(pg_catalog./) 1000
				OPERATOR(pg_catalog./) t.sequential_read_mb_per_s) OPERATOR(pg_catalog./) 3600000
				AS read_busy_ratio
		FROM tiered_storage.heat h
		CROSS JOIN (SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8
			AS block_size) b
		LEFT JOIN _tiered_storage.tier t ON t.tier_name OPERATOR(pg_catalog.=) h.tier_name),
	place AS (
		SELECT c.*, pg_catalog.row_number() OVER (ORDER BY c.read_busy_ratio DESC NULLS LAST,
			c.size_bytes DESC, c.relation) AS place
		FROM cost c)
	SELECT pg_catalog.format('%I.%I', e.nspname, e.relname) AS relation, p.kind,
		COALESCE(p.tier_name::pg_catalog.text, '') AS tier,
		1::pg_catalog.int8 AS relations, p.size_bytes::pg_catalog.numeric AS size_bytes,
		p.device_random_reads_per_hour OPERATOR(pg_catalog./) 3600
			AS device_random_reads_per_second,
		p.device_sequential_reads_per_hour OPERATOR(pg_catalog./) 3600
			AS device_sequential_reads_per_second,
		p.page_writes_per_hour OPERATOR(pg_catalog./) 3600 AS page_writes_per_second,
		p.writes_per_hour OPERATOR(pg_catalog./) 3600 AS row_changes_per_second,
		p.read_busy_ratio
	FROM place p
	CROSS JOIN LATERAL _tiered_storage.relation_entry(p.relation::pg_catalog.oid) e
	WHERE p.place OPERATOR(pg_catalog.<=) 50
	UNION ALL
	SELECT '', 'others', COALESCE(p.tier_name::pg_catalog.text, ''),
		pg_catalog.count(*), pg_catalog.sum(p.size_bytes),
		pg_catalog.sum(p.device_random_reads_per_hour) OPERATOR(pg_catalog./) 3600,
		pg_catalog.sum(p.device_sequential_reads_per_hour) OPERATOR(pg_catalog./) 3600,
		pg_catalog.sum(p.page_writes_per_hour) OPERATOR(pg_catalog./) 3600,
		pg_catalog.sum(p.writes_per_hour) OPERATOR(pg_catalog./) 3600,
		pg_catalog.sum(p.read_busy_ratio)
	FROM place p
	WHERE p.place OPERATOR(pg_catalog.>) 50
	GROUP BY p.tier_name;
COMMENT ON VIEW tiered_storage.relation_metrics IS
'metrics of the 50 relations whose reads take most device time, and the sum of all others of '
'each tier';
COMMENT ON COLUMN tiered_storage.relation_metrics.relation IS
'label: name with schema; empty: all that are not among the 50';
COMMENT ON COLUMN tiered_storage.relation_metrics.kind IS
'label: table, index, toast table or materialized view; others';
COMMENT ON COLUMN tiered_storage.relation_metrics.tier IS
'label: tier that it is on; empty: none';
COMMENT ON COLUMN tiered_storage.relation_metrics.relations IS 'relations that the row is about';
COMMENT ON COLUMN tiered_storage.relation_metrics.size_bytes IS 'size in bytes';
COMMENT ON COLUMN tiered_storage.relation_metrics.device_random_reads_per_second IS
'random reads per second that reached the device, half-life one day';
COMMENT ON COLUMN tiered_storage.relation_metrics.device_sequential_reads_per_second IS
'blocks per second that scans read from the device, half-life one day';
COMMENT ON COLUMN tiered_storage.relation_metrics.page_writes_per_second IS
'pages per second that checkpoints write, half-life one day';
COMMENT ON COLUMN tiered_storage.relation_metrics.row_changes_per_second IS
'changed rows, or new entries of an index, per second, half-life one day';
COMMENT ON COLUMN tiered_storage.relation_metrics.read_busy_ratio IS
'share of the time that its reads keep the device of its tier busy, by the figures of the tier';

/* From the record alone: what the queue would have to decide anew is not asked. */
CREATE VIEW tiered_storage.move_metrics AS
	SELECT k.kind,
		pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'running') AS running,
		pg_catalog.count(*) FILTER (WHERE m.failures OPERATOR(pg_catalog.>) 0
			AND m.state OPERATOR(pg_catalog.=) ANY ('{failed,interrupted}'::pg_catalog.text[]))
			AS failing,
		pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done'
			AND m.is_of_day) AS done_last_day,
		pg_catalog.count(*) FILTER (WHERE m.is_of_day
			AND m.state OPERATOR(pg_catalog.=) ANY ('{failed,interrupted}'::pg_catalog.text[]))
			AS failed_last_day,
		COALESCE(pg_catalog.sum(m.copied_bytes) FILTER (WHERE m.is_of_day), 0)
			AS copied_bytes_last_day,
		COALESCE(pg_catalog.max(m.lock_held_ms) FILTER (WHERE m.is_of_day), 0)
			OPERATOR(pg_catalog./) 1000 AS lock_held_seconds_max_last_day,
		COALESCE(pg_catalog.sum(m.predicted_saved_io_s_per_hour) FILTER (WHERE m.is_measured), 0)
			OPERATOR(pg_catalog./) 3600 AS predicted_saved_busy_ratio_last_week,
		COALESCE(pg_catalog.sum(m.measured_saved_io_s_per_hour) FILTER (WHERE m.is_measured), 0)
			OPERATOR(pg_catalog./) 3600 AS measured_saved_busy_ratio_last_week
	FROM (VALUES ('tiering'), ('fullness'), ('placement'), ('request'), ('undo')) k(kind)
	LEFT JOIN LATERAL (
		SELECT r.*,
			r.finished_at OPERATOR(pg_catalog.>) (pg_catalog.now()
				OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval) AS is_of_day,
			r.measured_saved_io_s_per_hour IS NOT NULL
				AND r.predicted_saved_io_s_per_hour IS NOT NULL
				AND r.finished_at OPERATOR(pg_catalog.>) (pg_catalog.now()
					OPERATOR(pg_catalog.-) '7 days'::pg_catalog.interval) AS is_measured
		FROM tiered_storage.moves r
		WHERE CASE WHEN r.undo_of IS NOT NULL THEN 'undo'
				WHEN r.policy_kind IS NOT NULL THEN r.policy_kind
				WHEN r.batch_id IS NOT NULL THEN 'placement'
				ELSE 'request' END OPERATOR(pg_catalog.=) k.kind) m ON true
	GROUP BY k.kind;
COMMENT ON VIEW tiered_storage.move_metrics IS 'metrics of moves, by who asked for them';
COMMENT ON COLUMN tiered_storage.move_metrics.kind IS
'label: tiering or fullness (policies), placement (advice that is applied), request '
'(move_relation()), or undo';
COMMENT ON COLUMN tiered_storage.move_metrics.running IS 'moves that run now';
COMMENT ON COLUMN tiered_storage.move_metrics.failing IS
'relations whose last move has failed, and will be tried again';
COMMENT ON COLUMN tiered_storage.move_metrics.done_last_day IS
'moves that were completed in the last 24 hours';
COMMENT ON COLUMN tiered_storage.move_metrics.failed_last_day IS
'moves that last failed in the last 24 hours';
COMMENT ON COLUMN tiered_storage.move_metrics.copied_bytes_last_day IS
'bytes copied by moves that ended in the last 24 hours';
COMMENT ON COLUMN tiered_storage.move_metrics.lock_held_seconds_max_last_day IS
'longest time in seconds that one of these held the strong lock';
COMMENT ON COLUMN tiered_storage.move_metrics.predicted_saved_busy_ratio_last_week IS
'share of the devices'' time that the measured moves of the last 7 days were predicted to save';
COMMENT ON COLUMN tiered_storage.move_metrics.measured_saved_busy_ratio_last_week IS
'share of the devices'' time that these moves have saved; below 0: they have cost some';

/* All of them, one value in each row. */
CREATE VIEW tiered_storage.metrics AS
	SELECT pg_catalog.concat('tiered_storage_', s.prefix, '_', v.key) AS metric,
		CASE WHEN v.key OPERATOR(pg_catalog.~) '_total$' THEN 'counter' ELSE 'gauge' END AS type,
		COALESCE((SELECT pg_catalog.jsonb_object_agg(l.key, l.value)
			FROM pg_catalog.jsonb_each(s.of_row) l
			WHERE l.key OPERATOR(pg_catalog.=) ANY (s.labels)), '{}') AS labels,
		(v.value OPERATOR(pg_catalog.#>>) '{}')::pg_catalog.float8 AS value,
		pg_catalog.col_description(s.of_view, (SELECT a.attnum FROM pg_catalog.pg_attribute a
			WHERE a.attrelid OPERATOR(pg_catalog.=) s.of_view
				AND a.attname OPERATOR(pg_catalog.=) v.key)::pg_catalog.int4) AS help
	FROM (
		SELECT 'server' AS prefix, 'tiered_storage.server_metrics'::pg_catalog.regclass AS of_view,
			'{}'::pg_catalog.text[] AS labels, pg_catalog.to_jsonb(m) AS of_row
		FROM tiered_storage.server_metrics m
		UNION ALL
		SELECT 'tier', 'tiered_storage.tier_metrics', '{tier}', pg_catalog.to_jsonb(m)
		FROM tiered_storage.tier_metrics m
		UNION ALL
		SELECT 'relation', 'tiered_storage.relation_metrics', '{relation,kind,tier}',
			pg_catalog.to_jsonb(m)
		FROM tiered_storage.relation_metrics m
		UNION ALL
		SELECT 'move', 'tiered_storage.move_metrics', '{kind}', pg_catalog.to_jsonb(m)
		FROM tiered_storage.move_metrics m) s
	CROSS JOIN LATERAL pg_catalog.jsonb_each(s.of_row) v
	WHERE v.key OPERATOR(pg_catalog.<>) ALL (s.labels)
		AND pg_catalog.jsonb_typeof(v.value) OPERATOR(pg_catalog.<>) 'null';
COMMENT ON VIEW tiered_storage.metrics IS
'all metrics in the shape of Prometheus: one value in each row, of the views server_metrics, '
'tier_metrics, relation_metrics and move_metrics';
COMMENT ON COLUMN tiered_storage.metrics.metric IS 'name of the metric';
COMMENT ON COLUMN tiered_storage.metrics.type IS 'gauge or counter';
COMMENT ON COLUMN tiered_storage.metrics.labels IS 'labels and their values';
COMMENT ON COLUMN tiered_storage.metrics.value IS 'the value';
COMMENT ON COLUMN tiered_storage.metrics.help IS 'what it is, with its unit';
