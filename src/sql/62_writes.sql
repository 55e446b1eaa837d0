---------------------------------------------------------------------------
-- Writes, moves included: amplification, and the writes of the whole server.
---------------------------------------------------------------------------

/* The server's own counters, from views that differ between versions. */
CREATE FUNCTION _tiered_storage.server_write_counters(
	OUT checkpoint_bytes bigint, OUT bgwriter_bytes bigint, OUT backend_bytes bigint,
	OUT buffers_since timestamptz, OUT wal_bytes bigint, OUT full_page_images bigint,
	OUT wal_since timestamptz,
	OUT temp_bytes bigint, OUT temp_since timestamptz)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	block_size bigint := pg_catalog.current_setting('block_size')::bigint;
	bgwriter jsonb := (SELECT pg_catalog.to_jsonb(b) FROM pg_catalog.pg_stat_bgwriter b);
	checkpointer jsonb;
BEGIN
	IF pg_catalog.to_regclass('pg_catalog.pg_stat_checkpointer') IS NULL THEN
		checkpoint_bytes := (bgwriter ->> 'buffers_checkpoint')::bigint * block_size;
		backend_bytes := (bgwriter ->> 'buffers_backend')::bigint * block_size;
		buffers_since := (bgwriter ->> 'stats_reset')::timestamptz;
	ELSE
		EXECUTE 'SELECT pg_catalog.to_jsonb(c) FROM pg_catalog.pg_stat_checkpointer c'
			INTO checkpointer;
		EXECUTE $sql$
			SELECT pg_catalog.sum(COALESCE((j ->> 'write_bytes')::numeric,
				(j ->> 'writes')::numeric * (j ->> 'op_bytes')::numeric, 0)
				+ COALESCE((j ->> 'extend_bytes')::numeric,
					(j ->> 'extends')::numeric * (j ->> 'op_bytes')::numeric, 0))::bigint
			FROM pg_catalog.pg_stat_io i, LATERAL pg_catalog.to_jsonb(i) j
			WHERE i.object = 'relation' AND i.backend_type NOT IN ('checkpointer',
				'background writer')$sql$
			INTO backend_bytes;
		checkpoint_bytes := (checkpointer ->> 'buffers_written')::bigint * block_size;
		buffers_since := GREATEST((checkpointer ->> 'stats_reset')::timestamptz,
			(bgwriter ->> 'stats_reset')::timestamptz);
	END IF;
	bgwriter_bytes := (bgwriter ->> 'buffers_clean')::bigint * block_size;
	SELECT LEAST(w.wal_bytes, 9223372036854775807)::bigint, w.wal_fpi, w.stats_reset
		INTO server_write_counters.wal_bytes, full_page_images, wal_since
		FROM pg_catalog.pg_stat_wal w;
	SELECT pg_catalog.sum(d.temp_bytes)::bigint, pg_catalog.max(d.stats_reset)
		INTO server_write_counters.temp_bytes, temp_since
		FROM pg_catalog.pg_stat_database d;
END
$$;
COMMENT ON FUNCTION _tiered_storage.server_write_counters() IS
'what the whole server has written since its counters were reset; see the view server_writes';

CREATE VIEW tiered_storage.write_amplification AS
	WITH relation AS (
		SELECT h.tier_name,
			CASE WHEN h.kind OPERATOR(pg_catalog.<>) 'index'
				THEN h.writes_per_hour END AS row_changes,
			CASE WHEN h.kind OPERATOR(pg_catalog.<>) 'index' AND s.tuples OPERATOR(pg_catalog.>) 0
				THEN h.writes_per_hour OPERATOR(pg_catalog.*) s.size_bytes
					OPERATOR(pg_catalog./) s.tuples END AS row_bytes,
			h.page_writes_per_hour OPERATOR(pg_catalog.*) b.block_size AS page_bytes,
			h.maintenance_writes_per_hour OPERATOR(pg_catalog.*) b.block_size AS maintenance_bytes,
			h.wal_bytes_per_hour, h.full_page_image_bytes_per_hour
		FROM tiered_storage.heat h
		JOIN _tiered_storage.relation_state s
			ON s.relation_oid OPERATOR(pg_catalog.=) h.relation::pg_catalog.oid
		CROSS JOIN (SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8
			AS block_size) b
		WHERE h.write_source OPERATOR(pg_catalog.=) 'wal'),
	tier AS (
		SELECT r.tier_name, false AS is_total, pg_catalog.sum(r.row_changes) AS row_changes,
			pg_catalog.sum(r.row_bytes) AS row_bytes,
			pg_catalog.sum(r.page_bytes) AS page_bytes,
			pg_catalog.sum(r.maintenance_bytes) AS maintenance_bytes,
			pg_catalog.sum(r.wal_bytes_per_hour) AS wal_bytes,
			pg_catalog.sum(r.full_page_image_bytes_per_hour) AS image_bytes
		FROM relation r GROUP BY r.tier_name
		UNION ALL
		SELECT NULL, true, pg_catalog.sum(r.row_changes), pg_catalog.sum(r.row_bytes),
			pg_catalog.sum(r.page_bytes), pg_catalog.sum(r.maintenance_bytes),
			pg_catalog.sum(r.wal_bytes_per_hour), pg_catalog.sum(r.full_page_image_bytes_per_hour)
		FROM relation r),
	moved AS (
		SELECT m.to_tier, pg_catalog.sum(COALESCE(m.copied_bytes
			OPERATOR(pg_catalog.*) _tiered_storage.period_share(m.started_at,
				EXTRACT(epoch FROM m.finished_at
					OPERATOR(pg_catalog.-) m.started_at)::pg_catalog.float8,
				pg_catalog.now() OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval,
				pg_catalog.now()), 0)
			OPERATOR(pg_catalog.+) COALESCE((SELECT pg_catalog.sum(u.bytes)::pg_catalog.float8
				FROM ROWS FROM (pg_catalog.unnest(m.failed_at),
					pg_catalog.unnest(m.failed_bytes)) u (at, bytes)
				WHERE u.at OPERATOR(pg_catalog.>) (pg_catalog.now()
					OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval)), 0)) AS bytes
		FROM _tiered_storage.move m
		WHERE m.finished_at OPERATOR(pg_catalog.>) (pg_catalog.now()
			OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval)
		GROUP BY m.to_tier)
	SELECT t.tier_name, t.is_total,
		COALESCE(t.row_changes, 0) AS row_changes_per_hour,
		COALESCE(t.row_bytes, 0) AS row_bytes_per_hour,
		COALESCE(t.page_bytes, 0) AS page_write_bytes_per_hour,
		COALESCE(t.maintenance_bytes, 0) AS maintenance_write_bytes_per_hour,
		COALESCE(m.bytes, 0) OPERATOR(pg_catalog./) 24 AS moved_bytes_per_hour,
		COALESCE(t.wal_bytes, 0) AS wal_bytes_per_hour,
		COALESCE(t.image_bytes, 0) AS full_page_image_bytes_per_hour,
		CASE WHEN w.bytes OPERATOR(pg_catalog.>=) t.row_bytes
			THEN w.bytes OPERATOR(pg_catalog./) NULLIF(t.row_bytes, 0) END AS amplification
	FROM tier t
	CROSS JOIN LATERAL (SELECT t.page_bytes OPERATOR(pg_catalog.+) t.maintenance_bytes
		OPERATOR(pg_catalog.+) t.wal_bytes AS bytes) w
	LEFT JOIN LATERAL (SELECT pg_catalog.sum(x.bytes) AS bytes FROM moved x
		WHERE t.is_total OR NOT (x.to_tier IS DISTINCT FROM t.tier_name)) m ON true;
COMMENT ON VIEW tiered_storage.write_amplification IS
'bytes that the permanent relations of this database write per hour, by tier and in total; empty '
'while the WAL is not read';
COMMENT ON COLUMN tiered_storage.write_amplification.tier_name IS
'tier; null: relations that are on no tier, or the total, see is_total';
COMMENT ON COLUMN tiered_storage.write_amplification.is_total IS
'whether the row is the total of all relations';
COMMENT ON COLUMN tiered_storage.write_amplification.row_changes_per_hour IS
'rows changed per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.row_bytes_per_hour IS
'size of the changed rows in bytes per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.page_write_bytes_per_hour IS
'pages written for them, in bytes per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.maintenance_write_bytes_per_hour IS
'pages written by vacuum and rewrites, in bytes per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.moved_bytes_per_hour IS
'bytes per hour copied to the tier by moves, mean of the last day';
COMMENT ON COLUMN tiered_storage.write_amplification.wal_bytes_per_hour IS
'bytes of WAL per hour for all of this';
COMMENT ON COLUMN tiered_storage.write_amplification.full_page_image_bytes_per_hour IS
'part of wal_bytes_per_hour that is full-page images';
COMMENT ON COLUMN tiered_storage.write_amplification.amplification IS
'bytes of pages, maintenance and WAL per byte of changed rows, at least 1; null: no rows changed, '
'or not all that was written for them has been counted';

CREATE VIEW tiered_storage.server_writes AS
	SELECT c.checkpoint_bytes, c.bgwriter_bytes, c.backend_bytes, c.buffers_since,
		c.wal_bytes, c.full_page_images, c.wal_since, c.temp_bytes, c.temp_since,
		m.bytes AS moved_bytes, m.since AS moved_since
	FROM _tiered_storage.server_write_counters() c
	CROSS JOIN (SELECT COALESCE(pg_catalog.sum(x.copied_bytes), 0)::pg_catalog.int8 AS bytes,
			pg_catalog.min(x.started_at) AS since FROM _tiered_storage.move x) m;
COMMENT ON VIEW tiered_storage.server_writes IS
'bytes that the whole server has written, each kind since the time beside it, and bytes that '
'moves of this database have copied';
COMMENT ON COLUMN tiered_storage.server_writes.checkpoint_bytes IS
'bytes of buffers written by checkpoints';
COMMENT ON COLUMN tiered_storage.server_writes.bgwriter_bytes IS
'bytes of buffers written by the background writer';
COMMENT ON COLUMN tiered_storage.server_writes.backend_bytes IS
'bytes of buffers written by backends and other processes';
COMMENT ON COLUMN tiered_storage.server_writes.buffers_since IS
'when these three counters were reset; null: never';
COMMENT ON COLUMN tiered_storage.server_writes.wal_bytes IS 'bytes of WAL written';
COMMENT ON COLUMN tiered_storage.server_writes.full_page_images IS
'number of full-page images in that WAL';
COMMENT ON COLUMN tiered_storage.server_writes.wal_since IS
'when these two counters were reset; null: never';
COMMENT ON COLUMN tiered_storage.server_writes.temp_bytes IS 'bytes of temporary files written';
COMMENT ON COLUMN tiered_storage.server_writes.temp_since IS
'when this counter was last reset in a database; null: never';
COMMENT ON COLUMN tiered_storage.server_writes.moved_bytes IS
'bytes copied by those moves of this database that the view moves shows';
COMMENT ON COLUMN tiered_storage.server_writes.moved_since IS
'when the first of these moves started; null: there are none';
