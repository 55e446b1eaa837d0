---------------------------------------------------------------------------
-- Metrics, for programs that ask every minute: few rows, nothing that is placed or planned.
---------------------------------------------------------------------------

/*
 * One value in each row, called as Prometheus would call it: base units, _total for what only
 * grows.  What is not known has no row.
 *
 * Of relations the 50 whose reads take most device time by name, and what is left of each tier
 * as one: how many rows there are is bounded whatever the database holds.  Moves are those of
 * the record alone: what the queue would have to decide anew is not asked.
 */
CREATE FUNCTION _tiered_storage.metric_values(
	OUT name text, OUT labels jsonb, OUT value float8, OUT help text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT h.*, b.size,
			row_number() OVER (ORDER BY c.busy DESC NULLS LAST, h.size_bytes DESC,
				h.relation) <= 50 AS is_named, c.busy
		FROM _tiered_storage.placed_heat h
		CROSS JOIN (SELECT current_setting('block_size')::float8 AS size) b
		LEFT JOIN _tiered_storage.tiers t ON t.tier_name = h.tier_name
		CROSS JOIN LATERAL (SELECT (h.random_reads_per_hour * t.random_read_ms
			+ h.sequential_reads_per_hour * b.size / 1000 / t.sequential_read_mb_per_s)
			/ 3600000 AS busy) c),
	relation AS (
		SELECT jsonb_build_object('relation', CASE WHEN p.is_named
				THEN (SELECT format('%I.%I', e.nspname, e.relname)
					FROM _tiered_storage.relation_entry(p.relation::oid) e) ELSE '' END,
				'kind', CASE WHEN p.is_named THEN p.kind ELSE 'others' END,
				'tier', COALESCE(p.tier_name::text, '')) AS labels,
			count(*) AS relations, sum(p.size_bytes) AS size_bytes,
			sum(p.random_reads_per_hour) AS random_reads,
			sum(p.sequential_reads_per_hour) AS sequential_reads,
			sum(p.page_writes_per_hour) AS page_writes, sum(p.writes_per_hour) AS changes,
			sum(p.busy) AS busy
		FROM place p GROUP BY 1),
	move AS (
		SELECT jsonb_build_object('kind', k.kind) AS labels, m.*
		FROM (VALUES ('tiering'), ('fullness'), ('placement'), ('request'), ('undo')) k (kind)
		CROSS JOIN LATERAL (
			SELECT count(*) FILTER (WHERE r.state = 'running') AS running,
				count(*) FILTER (WHERE r.failures > 0 AND r.state IN ('failed', 'interrupted'))
					AS failing,
				count(*) FILTER (WHERE r.state = 'done' AND r.is_of_day) AS done,
				count(*) FILTER (WHERE r.state IN ('failed', 'interrupted') AND r.is_of_day)
					AS failed,
				COALESCE(sum(r.copied_bytes) FILTER (WHERE r.is_of_day), 0) AS copied,
				COALESCE(max(r.lock_held_ms) FILTER (WHERE r.is_of_day), 0) / 1000 AS lock_held,
				COALESCE(sum(r.predicted_saved_io_s_per_hour) FILTER (WHERE r.is_measured), 0)
					/ 3600 AS predicted,
				COALESCE(sum(r.measured_saved_io_s_per_hour) FILTER (WHERE r.is_measured), 0)
					/ 3600 AS measured
			FROM (SELECT x.*, x.finished_at > now() - interval '1 day' AS is_of_day,
					x.measured_saved_io_s_per_hour IS NOT NULL
						AND x.predicted_saved_io_s_per_hour IS NOT NULL
						AND x.finished_at > now() - interval '7 days' AS is_measured
				FROM _tiered_storage.moves x
				WHERE k.kind = CASE WHEN x.undo_of IS NOT NULL THEN 'undo'
					WHEN x.policy_kind IS NOT NULL THEN x.policy_kind
					WHEN x.batch_id IS NOT NULL THEN 'placement' ELSE 'request' END) r) m)
	SELECT 'server_' || v.name, '{}'::jsonb, v.value, v.help
	FROM _tiered_storage.access_tracking() a
	LEFT JOIN _tiered_storage.last_sample s ON true
	LEFT JOIN _tiered_storage.worker_status() w ON w.database_name = current_database()
	CROSS JOIN LATERAL (VALUES
		('preloaded', a.available::integer::float8,
			'1: the library is in shared_preload_libraries; 0: it is not, so there is no worker'),
		('paused', _tiered_storage.is_paused()::integer, '1: moves are paused'),
		('in_recovery', pg_is_in_recovery()::integer,
			'1: the server is a standby, which neither samples nor moves'),
		('worker_up', COALESCE(w.state IN ('waiting', 'starting', 'running'), false)::integer,
			'1: the worker of this database works, or waits for its next cycle; 0: see workers'),
		('worker_failures', COALESCE(w.failures, 0), 'failed cycles of the worker in a row'),
		('last_sample_timestamp_seconds', EXTRACT(epoch FROM s.last_sample_at),
			'when the last sample was taken, in seconds since 1970'),
		('sample_duration_seconds', s.last_duration_ms / 1000,
			'duration of the last sample in seconds'),
		('sampled_relations', s.last_relations, 'relations in the last sample'),
		('samples_total', s.samples, 'samples taken so far'),
		('statistics_resets_total', s.counter_resets, 'samples that found the statistics '
			'reset, by pg_stat_reset() or a crash: activity since the sample before was lost'))
			v (name, value, help)
	UNION ALL
	SELECT 'tier_' || v.name, jsonb_build_object('tier', t.tier_name), v.value, v.help
	FROM _tiered_storage.tiers t
	CROSS JOIN LATERAL (VALUES
		('rank', t.rank::float8, 'place in the order of tiers; 0 is the fastest'),
		('capacity_bytes', t.capacity_bytes,
			'capacity in bytes as given, otherwise the size of its file systems'),
		('used_bytes', t.used_bytes, 'bytes used on its file systems, by everything on them'),
		('free_bytes', t.free_bytes, 'bytes free on its file systems'),
		('relation_bytes', t.relation_bytes,
			'bytes of the relations of this database on the tier, at the last sample'),
		('relations', t.relations,
			'relations of this database on the tier, at the last sample'),
		('used_ratio', t.used_fraction,
			'used share of its file systems or of the given capacity, 0 to 1'),
		('relation_ratio', t.relation_bytes / NULLIF(t.capacity_bytes, 0)::float8,
			'what the relations of this database take of the capacity; 1 is all of it'),
		('reserve_ratio', t.reserve_fraction, 'share of the capacity that is to stay free'),
		('high_watermark_ratio', t.high_watermark,
			'share of the capacity above which the tier is too full'),
		('low_watermark_ratio', t.low_watermark,
			'share of the capacity down to which a tier that is too full is emptied'),
		('busy_ratio', (SELECT max(d.busy_fraction) FROM _tiered_storage.device_io d
				WHERE d.device = ANY (t.devices)),
			'share of the time between the last two samples in which its busiest device had a '
			'request in flight, 0 to 1'),
		('unreachable', (t.unreachable IS NOT NULL)::integer,
			'1: a tablespace of it is missing, or its file system does not answer'),
		('wear_exceeded', t.wear_exceeded::integer,
			'1: more is written to one of its devices than its endurance allows'),
		('wear_used_ratio', (SELECT max(w.used_fraction) FROM _tiered_storage.wear_state() w
				WHERE w.tier_name = t.tier_name),
			'used share of the life of the device that is worn most, 0 to 1 and above'))
		v (name, value, help)
	UNION ALL
	SELECT 'relation_' || v.name, r.labels, v.value, v.help
	FROM relation r
	CROSS JOIN LATERAL (VALUES
		('relations', r.relations::float8, 'relations that the row is about'),
		('size_bytes', r.size_bytes, 'size in bytes'),
		('device_random_reads_per_second', r.random_reads / 3600,
			'random reads per second that reached the device, half-life one day'),
		('device_sequential_reads_per_second', r.sequential_reads / 3600,
			'blocks per second that scans read from the device, half-life one day'),
		('page_writes_per_second', r.page_writes / 3600,
			'pages per second that checkpoints write, half-life one day'),
		('row_changes_per_second', r.changes / 3600,
			'changed rows, or new entries of an index, per second, half-life one day'),
		('read_busy_ratio', r.busy, 'share of the time that its reads keep the device of its '
			'tier busy, by the figures of the tier')) v (name, value, help)
	UNION ALL
	SELECT 'move_' || v.name, m.labels, v.value, v.help
	FROM move m
	CROSS JOIN LATERAL (VALUES
		('running', m.running::float8, 'moves that run now'),
		('failing', m.failing, 'relations whose last move has failed, and will be tried again'),
		('done_last_day', m.done, 'moves that were completed in the last 24 hours'),
		('failed_last_day', m.failed, 'moves that last failed in the last 24 hours'),
		('copied_bytes_last_day', m.copied,
			'bytes copied by moves that ended in the last 24 hours'),
		('lock_held_seconds_max_last_day', m.lock_held,
			'longest time in seconds that one of these held the strong lock'),
		('predicted_saved_busy_ratio_last_week', m.predicted, 'share of the devices'' time that '
			'the measured moves of the last 7 days were predicted to save'),
		('measured_saved_busy_ratio_last_week', m.measured, 'share of the devices'' time that '
			'these moves have saved; below 0: they have cost some')) v (name, value, help)
$$;
