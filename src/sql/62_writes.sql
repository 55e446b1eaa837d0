---------------------------------------------------------------------------
-- Writes, moves included: what amplifies them.
---------------------------------------------------------------------------

/*
 * Bytes that the server has written of the WAL for each byte of its records over the last
 * sampled day; 1 where its writes are not counted.
 *
 * The WAL is written in blocks, and what a commit waits for begins in one that was written before
 * and ends in one that is not full: a block more for each write than what the records have.
 */
CREATE FUNCTION _tiered_storage.wal_written_ratio() RETURNS float8
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
	SELECT COALESCE((SELECT 1 + max(t.total) FILTER (WHERE t.metric = 'server_wal_writes')
				* current_setting('wal_block_size')::float8
				/ NULLIF(max(t.total) FILTER (WHERE t.metric = 'server_wal_bytes'), 0)
			FROM _tiered_storage.file_period() p
			CROSS JOIN LATERAL _tiered_storage.load_totals(p.begins_at, p.ends_at) t), 1)
$$;

CREATE VIEW _tiered_storage.write_amplification AS
	WITH relation AS (
		SELECT h.tier_name, CASE WHEN h.kind <> 'index' THEN h.writes_per_hour END AS row_changes,
			CASE WHEN h.kind <> 'index' AND s.tuples > 0 THEN h.writes_per_hour * s.size_bytes
					/ s.tuples END AS row_bytes,
			h.kind <> 'index' AND NOT s.tuples > 0 AS width_unknown,
			h.page_writes_per_hour * b.block_size AS page_bytes,
			h.maintenance_writes_per_hour * b.block_size AS maintenance_bytes,
			h.wal_bytes_per_hour, h.full_page_image_bytes_per_hour
		FROM _tiered_storage.heat h
		JOIN _tiered_storage.stored_relation_state() s ON s.relation_oid = h.relation::oid
		CROSS JOIN (SELECT current_setting('block_size')::float8 AS block_size) b
		WHERE h.write_source = 'wal'),
	summed AS (
		SELECT r.tier_name, GROUPING(r.tier_name) = 1 AS is_total,
			sum(r.row_changes) AS row_changes, sum(r.row_bytes) AS row_bytes,
			sum(r.row_changes) FILTER (WHERE r.width_unknown) AS unknown_changes,
			sum(r.page_bytes) AS page_bytes,
			sum(r.maintenance_bytes) AS maintenance_bytes,
			sum(r.wal_bytes_per_hour) AS wal_bytes,
			sum(r.full_page_image_bytes_per_hour) AS image_bytes
		FROM relation r GROUP BY GROUPING SETS ((r.tier_name), ()) HAVING count(*) > 0),
	tier AS (
		SELECT s.tier_name, s.is_total, s.row_changes,
			/* How wide one row in a hundred is may be unknown. */
			CASE WHEN s.unknown_changes > (0.01 * s.row_changes) THEN NULL
				ELSE COALESCE(s.row_bytes, 0) END AS row_bytes,
			s.page_bytes, s.maintenance_bytes, s.wal_bytes, s.image_bytes
		FROM summed s),
	moved AS (
		SELECT m.to_tier, sum(COALESCE(m.copied_bytes * _tiered_storage.period_share(m.started_at,
				EXTRACT(epoch FROM m.finished_at - m.started_at)::float8,
				now() - '1 day'::interval,
				now()), 0)
			+ COALESCE((SELECT sum(u.bytes)::float8
				FROM ROWS FROM (unnest(m.failed_at), unnest(m.failed_bytes)) u (at, bytes)
				WHERE u.at > (now() - '1 day'::interval)), 0)) AS bytes
		FROM _tiered_storage.move m
		WHERE m.finished_at > (now() - '1 day'::interval)
		GROUP BY m.to_tier)
	SELECT t.tier_name, t.is_total,
		COALESCE(t.row_changes, 0) AS row_changes_per_hour,
		t.row_bytes AS row_bytes_per_hour,
		COALESCE(t.page_bytes, 0) AS page_write_bytes_per_hour,
		COALESCE(t.maintenance_bytes, 0) AS maintenance_write_bytes_per_hour,
		COALESCE(m.bytes, 0) / 24 AS moved_bytes_per_hour,
		COALESCE(t.wal_bytes, 0) AS wal_bytes_per_hour,
		COALESCE(t.image_bytes, 0) AS full_page_image_bytes_per_hour,
		CASE WHEN w.bytes >= t.row_bytes THEN w.bytes / NULLIF(t.row_bytes, 0) END AS amplification
	FROM tier t
	CROSS JOIN (SELECT _tiered_storage.wal_written_ratio() AS ratio OFFSET 0) r
	CROSS JOIN LATERAL (SELECT t.page_bytes + t.maintenance_bytes
		+ (t.wal_bytes * r.ratio) AS bytes) w
	LEFT JOIN LATERAL (SELECT sum(x.bytes) AS bytes FROM moved x
		WHERE t.is_total OR NOT (x.to_tier IS DISTINCT FROM t.tier_name)) m ON true;

/*
 * What is written for the changes of each table; see the view write_amplification.
 *
 * By table, with its TOAST table and the indexes of both.  What a user changed is rows of the
 * width that ANALYZE has found, and chunks of TOAST, of which a page has four or more.  A
 * table whose rows were counted before the WAL was has no row until three half-lives of their
 * rate are over.
 */
CREATE FUNCTION _tiered_storage.relation_write_amplification(
	OUT relation regclass, OUT tier_name name, OUT row_changes_per_hour float8,
	OUT row_width_bytes float8, OUT row_bytes_per_hour float8,
	OUT page_write_bytes_per_hour float8, OUT maintenance_write_bytes_per_hour float8,
	OUT wal_bytes_per_hour float8, OUT full_page_image_bytes_per_hour float8,
	OUT amplification float8)
RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
	WITH known AS MATERIALIZED (
		SELECT h.relation::oid AS oid, h.kind, h.tier_name, h.writes_per_hour,
			h.page_writes_per_hour * b.size AS page_bytes,
			h.maintenance_writes_per_hour * b.size AS maintenance_bytes,
			h.wal_bytes_per_hour AS wal_bytes,
			h.full_page_image_bytes_per_hour AS image_bytes,
			h.write_source = 'wal' AS is_counted,
			CASE WHEN s.tuples > 0 THEN LEAST(s.size_bytes / s.tuples, b.size / 4) END
				AS bytes_per_chunk,
			s.observed_since
		FROM _tiered_storage.heat h
		JOIN _tiered_storage.stored_relation_state() s
			ON s.relation_oid = h.relation::oid
		CROSS JOIN (SELECT current_setting('block_size')::float8 AS size) b),
	toast AS (
		SELECT k.oid AS table_oid, t.*
		FROM known k
		CROSS JOIN LATERAL _tiered_storage.relation_entry(k.oid) e
		JOIN known t ON t.oid = e.reltoastrelid
		WHERE k.kind IN ('table', 'materialized view')),
	member AS (
		SELECT k.oid AS table_oid, k.* FROM known k WHERE k.kind IN ('table', 'materialized view')
		UNION ALL
		SELECT t.* FROM toast t
		UNION ALL
		SELECT COALESCE(t.table_oid, i.indrelid), k.*
		FROM known k JOIN pg_index i ON i.indexrelid = k.oid
		LEFT JOIN toast t ON t.oid = i.indrelid
		WHERE k.kind = 'index'),
	whole AS (
		SELECT m.table_oid, bool_and(m.is_counted) AS is_counted,
			COALESCE(sum(m.writes_per_hour * m.bytes_per_chunk)
				FILTER (WHERE m.kind = 'toast table'), 0) AS chunk_bytes,
			sum(m.page_bytes) AS page_bytes, sum(m.maintenance_bytes) AS maintenance_bytes,
			sum(m.wal_bytes) AS wal_bytes, sum(m.image_bytes) AS image_bytes,
			min(m.observed_since) AS observed_since
		FROM member m GROUP BY m.table_oid),
	width AS (
		SELECT k.oid, (SELECT CASE WHEN count(s.starelid) = count(*)
				THEN sum(s.stawidth * (1 - s.stanullfrac)) END
			FROM pg_attribute a
			LEFT JOIN pg_statistic s ON s.starelid = a.attrelid AND s.staattnum = a.attnum
				AND NOT s.stainherit
			WHERE a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
				AND a.attgenerated <> 'v')::float8 AS bytes
		FROM known k WHERE k.kind IN ('table', 'materialized view')),
	factor AS (
		SELECT k.*, w.page_bytes AS all_page_bytes,
			w.maintenance_bytes AS all_maintenance_bytes, w.wal_bytes AS all_wal_bytes,
			w.image_bytes AS all_image_bytes, w.is_counted AS all_counted, d.bytes AS width,
			k.writes_per_hour * d.bytes + w.chunk_bytes AS row_bytes,
			w.page_bytes + w.maintenance_bytes + w.wal_bytes * r.ratio AS bytes,
			(SELECT x.wal_since FROM _tiered_storage.last_sample x) > w.observed_since
				AND (SELECT x.wal_since FROM _tiered_storage.last_sample x) + interval '3 days'
					> GREATEST(CASE WHEN NOT pg_is_in_recovery() THEN now() END,
						(SELECT x.last_sample_at FROM _tiered_storage.last_sample x))
				AS is_early
		FROM known k
		JOIN whole w ON w.table_oid = k.oid
		JOIN width d ON d.oid = k.oid
		CROSS JOIN (SELECT _tiered_storage.wal_written_ratio() AS ratio OFFSET 0) r)
	SELECT f.oid::regclass, f.tier_name, f.writes_per_hour, f.width, f.row_bytes,
		CASE WHEN f.all_counted THEN f.all_page_bytes END,
		CASE WHEN f.all_counted THEN f.all_maintenance_bytes END,
		CASE WHEN f.all_counted THEN f.all_wal_bytes END,
		CASE WHEN f.all_counted THEN f.all_image_bytes END,
		/* Null where rows were counted before the WAL was, or less was written than changed. */
		CASE WHEN f.all_counted AND f.writes_per_hour > 0 AND f.is_early IS NOT TRUE
			AND f.row_bytes > 0 AND f.bytes >= f.row_bytes THEN f.bytes / f.row_bytes END
	FROM factor f
$$;
