---------------------------------------------------------------------------
-- I/O by file class: relations, WAL, temporary files and the rest.
---------------------------------------------------------------------------

/* Of the relations there may be less history than of the load: its size is limited. */
CREATE VIEW tiered_storage.file_class_io AS
	WITH span AS (
		SELECT p.ends_at, p.begins_at,
			NULLIF(EXTRACT(epoch FROM p.ends_at
				OPERATOR(pg_catalog.-) p.begins_at)::pg_catalog.float8 OPERATOR(pg_catalog./) 3600,
				0) AS hours
		FROM (SELECT s.sampled_at AS ends_at,
				GREATEST(s.observed_since, s.sampled_at
					OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval) AS begins_at
			FROM _tiered_storage.load_state s) p
	), load AS (
		SELECT t.metric, t.total OPERATOR(pg_catalog./) s.hours AS per_hour
		FROM span s CROSS JOIN LATERAL _tiered_storage.load_totals(s.begins_at, s.ends_at) t
		WHERE s.hours OPERATOR(pg_catalog.>) 0
	), kept AS (
		SELECT k.begins_at, s.ends_at, EXTRACT(epoch FROM s.ends_at
				OPERATOR(pg_catalog.-) k.begins_at)::pg_catalog.float8
				OPERATOR(pg_catalog./) 3600 AS hours,
			COALESCE((SELECT pg_catalog.max(b.period_start)
				FROM _tiered_storage.relation_history b
				WHERE b.period_start OPERATOR(pg_catalog.<) k.begins_at)
				OPERATOR(pg_catalog.-) '1 hour'::pg_catalog.interval, k.begins_at) AS first_start
		FROM span s
		CROSS JOIN LATERAL (SELECT GREATEST(s.begins_at, (SELECT p.history_since
			FROM _tiered_storage.sampler p)) AS begins_at) k
		WHERE k.begins_at OPERATOR(pg_catalog.<) s.ends_at
	), relations AS (
		SELECT tt.tier_name, GROUPING(tt.tier_name) AS is_total,
			pg_catalog.sum((h.random_reads OPERATOR(pg_catalog.+) h.sequential_reads)
				OPERATOR(pg_catalog.*) _tiered_storage.period_share(h.period_start, h.period_s,
					s.begins_at, s.ends_at))
				OPERATOR(pg_catalog./) pg_catalog.max(s.hours) AS per_hour
		FROM kept s
		JOIN _tiered_storage.relation_history h
			ON h.period_start OPERATOR(pg_catalog.>=) s.first_start
			AND h.period_start OPERATOR(pg_catalog.<) s.ends_at
		LEFT JOIN _tiered_storage.relation_state r
			ON r.relation_oid OPERATOR(pg_catalog.=) h.relation_oid
		LEFT JOIN _tiered_storage.tier_tablespaces tt
			ON tt.tablespace_oid OPERATOR(pg_catalog.=) r.tablespace_oid
		GROUP BY GROUPING SETS ((tt.tier_name), ())
	), block AS (
		SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8 AS bytes
	)
	SELECT 'relations'::pg_catalog.text AS file_class, r.tier_name,
		r.per_hour AS reads_per_hour, r.per_hour OPERATOR(pg_catalog.*) b.bytes
			AS read_bytes_per_hour,
		NULL::pg_catalog.float8 AS writes_per_hour,
			NULL::pg_catalog.float8 AS write_bytes_per_hour,
		NULL::pg_catalog.float8 AS wait_s_per_hour
	FROM relations r CROSS JOIN block b
	WHERE r.is_total OPERATOR(pg_catalog.=) 0 AND r.tier_name IS NOT NULL
	UNION ALL
	SELECT c.file_class, NULL,
		CASE c.file_class
			WHEN 'relations' THEN (SELECT COALESCE((SELECT pg_catalog.max(r.per_hour)
				FROM relations r WHERE r.is_total OPERATOR(pg_catalog.=) 1), 0) FROM kept)
			WHEN 'slru' THEN l.slru_reads END,
		CASE c.file_class
			WHEN 'relations' THEN (SELECT COALESCE((SELECT pg_catalog.max(r.per_hour)
				FROM relations r WHERE r.is_total OPERATOR(pg_catalog.=) 1), 0) FROM kept)
				OPERATOR(pg_catalog.*) b.bytes
			WHEN 'slru' THEN l.slru_reads OPERATOR(pg_catalog.*) b.bytes END,
		CASE c.file_class WHEN 'relations' THEN l.buffers
			WHEN 'wal' THEN l.wal_writes WHEN 'slru' THEN l.slru_writes END,
		CASE c.file_class WHEN 'relations' THEN l.buffers OPERATOR(pg_catalog.*) b.bytes
			WHEN 'wal' THEN l.wal_bytes
			WHEN 'temp' THEN l.temp_bytes
			WHEN 'slru' THEN l.slru_writes OPERATOR(pg_catalog.*) b.bytes END,
		CASE c.file_class WHEN 'relations' THEN l.wait_relations WHEN 'wal' THEN l.wait_wal
			WHEN 'temp' THEN l.wait_temp WHEN 'slru' THEN l.wait_slru END
	FROM (SELECT
			pg_catalog.sum(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.~~) E'server\\_buffers\\_%') AS buffers,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_wal_writes') AS wal_writes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_wal_bytes') AS wal_bytes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'temp_bytes') AS temp_bytes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_slru_reads') AS slru_reads,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_slru_writes') AS slru_writes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_relations') AS wait_relations,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_wal') AS wait_wal,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_temp') AS wait_temp,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_slru') AS wait_slru
		FROM load) l
	CROSS JOIN block b
	CROSS JOIN (VALUES ('relations'::pg_catalog.text), ('wal'), ('temp'), ('slru')) c (file_class);
COMMENT ON VIEW tiered_storage.file_class_io IS
'reads, writes and waits per hour by class of file over the last sampled day; all writes, and '
'wal and slru, are of the whole server, the rest of this database; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.file_class IS 'relations, wal, temp or slru';
COMMENT ON COLUMN tiered_storage.file_class_io.tier_name IS
'tier of these relations; null: the whole class';
COMMENT ON COLUMN tiered_storage.file_class_io.reads_per_hour IS
'blocks read per hour, for relations those that missed shared buffers; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.read_bytes_per_hour IS
'bytes read per hour; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.writes_per_hour IS
'blocks (relations, slru) or requests (wal) written per hour; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.write_bytes_per_hour IS
'bytes written per hour; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.wait_s_per_hour IS
'seconds per hour that backends of this database waited for this class; null: not sampled';
