---------------------------------------------------------------------------
-- I/O by file class and place: relations, WAL, temporary files and the rest.
---------------------------------------------------------------------------

/*
 * The period of file_class_io.
 *
 * The last day that was sampled, or the part of it that was.
 */
CREATE FUNCTION _tiered_storage.file_period(
	OUT begins_at timestamptz, OUT ends_at timestamptz, OUT hours float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.begins_at, s.sampled_at,
		EXTRACT(epoch FROM s.sampled_at - p.begins_at)::float8 / 3600
	FROM _tiered_storage.last_load s
	CROSS JOIN LATERAL (SELECT GREATEST(s.observed_since, s.sampled_at - interval '1 day')
		AS begins_at) p
	WHERE p.begins_at < s.sampled_at
$$;

/*
 * Blocks of relations of this database read and written per hour, by tier and in total; no
 * rows: there is no history of them.
 *
 * Of the relations there may be less history than of the load: its size is limited.
 */
CREATE FUNCTION _tiered_storage.relation_file_io(
	OUT tier_name name, OUT is_total boolean, OUT random_reads float8,
	OUT sequential_reads float8, OUT page_writes float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH kept AS (
		SELECT k.begins_at, s.ends_at,
			EXTRACT(epoch FROM s.ends_at - k.begins_at)::float8 / 3600 AS hours,
			_tiered_storage.first_hour(k.begins_at) AS first_hour
		FROM _tiered_storage.file_period() s
		CROSS JOIN LATERAL (SELECT GREATEST(s.begins_at, (SELECT p.history_since
			FROM _tiered_storage.last_sample p)) AS begins_at) k
		WHERE k.begins_at < s.ends_at)
	SELECT tt.tier_name, GROUPING(tt.tier_name) = 1,
		sum(h.random_reads * x.share) / max(s.hours),
		sum(h.sequential_reads * x.share) / max(s.hours),
		CASE WHEN (SELECT p.wal_since
				FROM _tiered_storage.last_sample p) < max(s.ends_at)
			THEN sum(h.page_writes * x.share) / max(s.hours) END
	FROM kept s
	JOIN _tiered_storage.history_rows h
		ON h.hour >= (SELECT k.first_hour FROM kept k) AND h.period_start < s.ends_at
	CROSS JOIN LATERAL (SELECT _tiered_storage.period_share(h.period_start, h.period_s,
		s.begins_at, s.ends_at) AS share) x
	LEFT JOIN _tiered_storage.stored_relation_state() r
		ON r.relation_oid = h.relation_oid
	LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid = r.tablespace_oid
	GROUP BY GROUPING SETS ((tt.tier_name), ())
	HAVING count(*) > 0
	UNION ALL
	SELECT NULL, true, 0, 0, NULL FROM kept s
	WHERE NOT EXISTS (SELECT FROM _tiered_storage.history_rows h
		WHERE h.hour >= (SELECT k.first_hour FROM kept k) AND h.period_start < s.ends_at)
$$;

/*
 * What the server has counted per hour by class and place of files, see file_class_io.
 *
 * One row per class and place; null: not counted, or not during all of the period.
 */
CREATE FUNCTION _tiered_storage.counted_file_io(
	OUT file_class text, OUT place text, OUT reads float8, OUT read_bytes float8,
	OUT writes float8, OUT write_bytes float8, OUT fsyncs float8, OUT io_s float8,
	OUT null_reason text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH class AS (
		SELECT f.*, w.begins_at, s.ends_at, _tiered_storage.first_hour(w.begins_at) AS first_hour,
			EXTRACT(epoch FROM s.ends_at - w.begins_at)::float8 / 3600 AS hours
		FROM _tiered_storage.file_period() s
		JOIN _tiered_storage.stored_file_state() f
			ON f.observed_since < s.ends_at
		CROSS JOIN LATERAL (SELECT GREATEST(s.begins_at, f.observed_since) AS begins_at) w),
	part AS (
		SELECT h.*, x.share
		FROM class s
		JOIN _tiered_storage.file_rows h ON h.file_class = s.file_class
			AND h.hour >= (SELECT min(x.first_hour) FROM class x)
			AND h.period_start < s.ends_at
			AND h.period_start + h.period_s * interval '1 second' > s.begins_at
		CROSS JOIN LATERAL (SELECT _tiered_storage.period_share(h.period_start, h.period_s,
			s.begins_at, s.ends_at) AS share) x),
	place AS (
		SELECT s.file_class, unnest(CASE WHEN cardinality(s.places) = 0
			THEN '{""}'::text[] ELSE s.places END) AS place FROM class s
		UNION
		SELECT p.file_class, p.place FROM part p),
	summed AS (
		SELECT l.file_class, l.place, count(p.share) AS n,
			count(p.reads) AS n_reads, COALESCE(sum(p.reads * p.share), 0) AS reads,
			count(p.read_bytes) AS n_read_bytes,
			COALESCE(sum(p.read_bytes * p.share), 0) AS read_bytes,
			count(p.writes) AS n_writes, COALESCE(sum(p.writes * p.share), 0) AS writes,
			count(p.write_bytes) AS n_write_bytes,
			COALESCE(sum(p.write_bytes * p.share), 0) AS write_bytes,
			count(p.fsyncs) AS n_fsyncs, COALESCE(sum(p.fsyncs * p.share), 0) AS fsyncs,
			count(p.io_ms) AS n_io_ms, COALESCE(sum(p.io_ms * p.share), 0) AS io_ms
		FROM place l LEFT JOIN part p USING (file_class, place)
		GROUP BY 1, 2)
	SELECT file_class, t.place,
		CASE WHEN s.reads IS NOT NULL AND n_reads = n THEN t.reads / s.hours END,
		CASE WHEN s.read_bytes IS NOT NULL AND n_read_bytes = n THEN t.read_bytes / s.hours END,
		CASE WHEN s.writes IS NOT NULL AND n_writes = n THEN t.writes / s.hours END,
		CASE WHEN s.write_bytes IS NOT NULL AND n_write_bytes = n
			THEN t.write_bytes / s.hours END,
		CASE WHEN s.fsyncs IS NOT NULL AND n_fsyncs = n THEN t.fsyncs / s.hours END,
		CASE WHEN s.io_ms IS NOT NULL AND n_io_ms = n THEN t.io_ms / s.hours / 1000 END,
		concat_ws('; ', NULLIF(s.null_reason, ''),
			CASE WHEN (s.reads IS NOT NULL AND n_reads < n)
				OR (s.writes IS NOT NULL AND n_writes < n)
				OR (s.write_bytes IS NOT NULL AND n_write_bytes < n)
				OR (s.fsyncs IS NOT NULL AND n_fsyncs < n)
				OR (s.io_ms IS NOT NULL AND n_io_ms < n)
				THEN 'others: not counted all the time' END)
	FROM class s JOIN summed t USING (file_class)
$$;

/*
 * Milliseconds that I/O of a class of files takes on a tier, by its figures.
 *
 * How long the figures of a tier say that this I/O takes.  What a temporary file is written
 * for is read again; a block of an SLRU is read and written at random; a write of the WAL takes
 * a sync, which a method that is no call of its own does not count; none with fsync off.
 */
CREATE FUNCTION _tiered_storage.file_io_ms(file_class text, t _tiered_storage.tier,
	random_reads float8, sequential_reads float8, writes float8, write_bytes float8,
	fsyncs float8)
RETURNS float8
LANGUAGE sql STABLE
RETURN
	CASE file_class
		WHEN 'relations' THEN random_reads * t.random_read_ms
			+ sequential_reads * current_setting('block_size')::float8 / 1e3
				/ t.sequential_read_mb_per_s
		WHEN 'wal' THEN CASE WHEN current_setting('fsync')::boolean
				THEN COALESCE(fsyncs, writes) * t.fsync_ms ELSE 0 END
			+ write_bytes / 1e3 / t.sequential_write_mb_per_s
		WHEN 'temp' THEN write_bytes / 1e3
			* (1 / t.sequential_write_mb_per_s + 1 / t.sequential_read_mb_per_s)
		WHEN 'slru' THEN random_reads * t.random_read_ms + writes * t.random_write_ms END;

/*
 * The parts of file_class_io: what was read and written in each place, and how long that takes
 * there and on the fastest tier by their figures.
 *
 * Every part of a class, with what the figures of its tier and of the fastest one say of it.
 */
CREATE FUNCTION _tiered_storage.file_io_parts(
	OUT file_class text, OUT place text, OUT tier_name name, OUT device text,
	OUT reads float8, OUT read_bytes float8, OUT writes float8, OUT write_bytes float8,
	OUT fsyncs float8, OUT io_s float8, OUT here_ms float8, OUT fastest_ms float8,
	OUT null_reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	WITH directory AS MATERIALIZED (SELECT * FROM _tiered_storage.directory_tiers()),
	tablespace AS MATERIALIZED (
		SELECT d.tablespace_name::text AS name, d.device, tt.tier_name
		FROM _tiered_storage.tablespace_devices() d
		LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid = d.tablespace_oid),
	fastest AS (
		SELECT t AS figures FROM _tiered_storage.tier t
		WHERE EXISTS (SELECT FROM _tiered_storage.tier_tablespaces tt
			WHERE tt.tier_name = t.tier_name)
		ORDER BY t.rank, t.random_read_ms, t.tier_name LIMIT 1),
	part AS (
		SELECT 'relations' AS file_class, k.place, r.tier_name, k.device,
			r.random_reads, r.sequential_reads, r.random_reads + r.sequential_reads AS reads,
			(r.random_reads + r.sequential_reads) * b.bytes AS read_bytes,
			r.page_writes AS writes, r.page_writes * b.bytes AS write_bytes,
			NULL::float8 AS fsyncs, NULL::float8 AS io_s,
			concat_ws('; ', CASE WHEN r.page_writes IS NULL
				THEN 'writes: the WAL was not read yet' END,
				'fsyncs, time: not counted by tablespace') AS null_reason
		FROM _tiered_storage.relation_file_io() r
		CROSS JOIN (SELECT current_setting('block_size')::float8 AS bytes) b
		CROSS JOIN LATERAL (SELECT string_agg(s.name, ', ' ORDER BY s.name) AS place,
			string_agg(DISTINCT s.device, ', ') AS device
			FROM tablespace s WHERE s.tier_name = r.tier_name) k
		WHERE NOT r.is_total AND r.tier_name IS NOT NULL
		UNION ALL
		SELECT c.file_class, NULLIF(c.place, ''), COALESCE(s.tier_name, d.tier_name),
			COALESCE(s.device, d.device), c.reads, 0, c.reads, c.read_bytes, c.writes,
			c.write_bytes, c.fsyncs, c.io_s, c.null_reason
		FROM _tiered_storage.counted_file_io() c
		LEFT JOIN tablespace s ON c.file_class = 'temp' AND s.name = c.place
		LEFT JOIN directory d ON c.file_class <> 'temp' AND d.directory = c.place
		WHERE c.file_class <> 'relations')
	SELECT p.file_class, p.place, p.tier_name, p.device, p.reads, p.read_bytes, p.writes,
		p.write_bytes, p.fsyncs, p.io_s,
		_tiered_storage.file_io_ms(p.file_class, t, p.random_reads, p.sequential_reads,
			p.writes, p.write_bytes, p.fsyncs),
		_tiered_storage.file_io_ms(p.file_class, f.figures, p.random_reads, p.sequential_reads,
			p.writes, p.write_bytes, p.fsyncs),
		concat_ws('; ', NULLIF(p.null_reason, ''), CASE WHEN p.tier_name IS NULL
			THEN 'tier: none, or more than one, is on its device' END)
	FROM part p
	LEFT JOIN _tiered_storage.tier t ON t.tier_name = p.tier_name
	LEFT JOIN fastest f ON true
$$;

/*
 * The rows of the view file_class_io.
 *
 * Waits are sampled by class.  A part has its share by how long the figures of its tier say
 * that its I/O takes, and would be waited for on the fastest tier in that proportion.
 * Relations on no tier are no part, and have their share by blocks.
 *
 * On a standby the figures are the primary's, and the devices are not.
 */
CREATE FUNCTION _tiered_storage.file_class_io(
	OUT file_class text, OUT tier_name name, OUT reads_per_hour float8,
	OUT read_bytes_per_hour float8, OUT writes_per_hour float8, OUT write_bytes_per_hour float8,
	OUT wait_s_per_hour float8, OUT place text, OUT is_total boolean, OUT device text,
	OUT fsyncs_per_hour float8, OUT io_s_per_hour float8, OUT saved_s_per_hour float8,
	OUT null_reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
	WITH part AS MATERIALIZED (SELECT * FROM _tiered_storage.file_io_parts()),
	waits AS MATERIALIZED (
		SELECT substr(t.metric, 6) AS file_class, t.total / s.hours AS wait_s
		FROM _tiered_storage.file_period() s
		CROSS JOIN LATERAL _tiered_storage.load_totals(s.begins_at, s.ends_at) t
		WHERE starts_with(t.metric, 'wait_')),
	class AS (
		SELECT c.file_class, p.*, w.wait_s
		FROM (VALUES ('relations'), ('wal'), ('temp'), ('slru')) c (file_class)
		LEFT JOIN waits w USING (file_class)
		CROSS JOIN LATERAL (SELECT count(*) AS n, count(x.here_ms) AS n_here,
				sum(x.here_ms) AS here_ms, CASE WHEN count(*) = count(x.reads)
					THEN sum(x.reads) END AS reads,
				CASE WHEN count(*) = count(x.read_bytes) THEN sum(x.read_bytes) END AS read_bytes,
				CASE WHEN count(*) = count(x.writes) THEN sum(x.writes) END AS writes,
				CASE WHEN count(*) = count(x.write_bytes)
					THEN sum(x.write_bytes) END AS write_bytes,
				CASE WHEN count(*) = count(x.fsyncs) THEN sum(x.fsyncs) END AS fsyncs,
				CASE WHEN count(*) = count(x.io_s) THEN sum(x.io_s) END AS io_s,
				string_agg(x.place, ', ' ORDER BY x.place) AS place,
				CASE WHEN count(DISTINCT x.tier_name) = 1 AND count(*) = count(x.tier_name)
					THEN min(x.tier_name::text)::name END AS tier_name,
				CASE WHEN count(DISTINCT x.device) = 1 AND count(*) = count(x.device)
					THEN min(x.device) END AS device,
				(SELECT string_agg(DISTINCT r.reason, '; ') FROM part y
					CROSS JOIN LATERAL string_to_table(y.null_reason, '; ') r (reason)
					WHERE y.file_class = c.file_class AND r.reason <> '') AS null_reason
			FROM part x WHERE x.file_class = c.file_class) p),
	total AS (
		SELECT c.file_class, c.n, c.n_here, c.here_ms, c.wait_s,
			CASE WHEN c.file_class = 'relations' THEN r.reads ELSE c.reads END AS reads,
			CASE WHEN c.file_class = 'relations' THEN r.reads * b.bytes
				ELSE c.read_bytes END AS read_bytes,
			CASE WHEN c.file_class = 'relations' THEN s.writes ELSE c.writes END AS writes,
			CASE WHEN c.file_class = 'relations' THEN s.write_bytes
				ELSE c.write_bytes END AS write_bytes,
			CASE WHEN c.file_class = 'relations' THEN s.fsyncs ELSE c.fsyncs END AS fsyncs,
			CASE WHEN c.file_class = 'relations' THEN s.io_s ELSE c.io_s END AS io_s,
			CASE WHEN c.file_class <> 'relations' THEN c.place END AS place,
			CASE WHEN c.file_class <> 'relations' THEN c.tier_name END AS tier_name,
			CASE WHEN c.file_class <> 'relations' THEN c.device END AS device,
			CASE WHEN c.file_class = 'relations' THEN s.null_reason
				ELSE c.null_reason END AS null_reason,
			/* The share of its I/O that the parts have. */
			CASE WHEN c.file_class = 'relations' THEN c.reads / NULLIF(r.reads, 0)
				ELSE 1 END AS partial
		FROM class c
		CROSS JOIN (SELECT current_setting('block_size')::float8 AS bytes) b
		LEFT JOIN _tiered_storage.counted_file_io() s
			ON c.file_class = 'relations' AND s.file_class = 'relations'
		LEFT JOIN LATERAL (SELECT x.random_reads + x.sequential_reads AS reads
			FROM _tiered_storage.relation_file_io() x WHERE x.is_total) r ON true),
	shared AS (
		SELECT p.*, CASE WHEN t.n_here = t.n
				THEN t.wait_s * t.partial * p.here_ms / NULLIF(t.here_ms, 0) END AS wait_s,
			GREATEST(0, 1 - p.fastest_ms / NULLIF(p.here_ms, 0)) AS gain
		FROM part p JOIN total t USING (file_class)),
	recovery AS (
		SELECT CASE WHEN pg_is_in_recovery()
			THEN 'all: measured on the primary, whose devices this '
			'standby does not know' END AS of_whom)
	SELECT t.file_class, t.tier_name, t.reads, t.read_bytes, t.writes, t.write_bytes, t.wait_s,
		t.place, true, CASE WHEN r.of_whom IS NULL THEN t.device END, t.fsyncs,
		t.io_s,
		(SELECT CASE WHEN count(*) = count(s.wait_s * s.gain) THEN sum(s.wait_s * s.gain) END
			FROM shared s WHERE s.file_class = t.file_class),
		NULLIF(concat_ws('; ', NULLIF(t.null_reason, ''),
			CASE WHEN t.n = 0 AND t.file_class <> 'relations'
				OR NOT EXISTS (SELECT FROM _tiered_storage.file_period())
				THEN 'all: there are fewer than two samples'
			WHEN t.wait_s IS NULL THEN 'waits: not sampled yet, or without preload' END,
			r.of_whom), '')
	FROM total t CROSS JOIN recovery r
	UNION ALL
	SELECT s.file_class, s.tier_name, s.reads, s.read_bytes, s.writes, s.write_bytes, s.wait_s,
		s.place, false, CASE WHEN r.of_whom IS NULL THEN s.device END,
		s.fsyncs, s.io_s, s.wait_s * s.gain,
		NULLIF(concat_ws('; ', NULLIF(s.null_reason, ''),
			CASE WHEN s.wait_s IS NULL THEN 'waits: not known of this part' END, r.of_whom), '')
	FROM shared s CROSS JOIN recovery r
	WHERE s.file_class = 'relations'
		OR s.file_class = 'temp' AND (SELECT t.n FROM total t WHERE t.file_class = 'temp') > 1
$$;
