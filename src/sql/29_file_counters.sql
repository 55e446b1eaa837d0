---------------------------------------------------------------------------
-- What the server, or the kernel, has counted for each class of files.
---------------------------------------------------------------------------

/*
 * Where the server has its files that are in no tablespace, symbolic links resolved, and what
 * is beneath; null: not known.
 */
CREATE FUNCTION _tiered_storage.server_directories(
	OUT directory text, OUT path text, OUT device text, OUT filesystem text,
	OUT mount_point text, OUT file_system_id bigint, OUT free_bytes bigint, OUT kind text,
	OUT is_virtual boolean)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_server_directories';

/*
 * The tier that each directory of the server is on, whether a tablespace is on the same device,
 * and the kind of that; tier_name is null if no tier, or more than one, is, kind if it is not
 * known.
 *
 * A directory belongs to the tier on whose file system it is; if that has tablespaces of more
 * than one, or none, to the only one on its device.
 */
CREATE FUNCTION _tiered_storage.directory_tiers(
	OUT directory text, OUT path text, OUT device text, OUT mount_point text,
	OUT free_bytes bigint, OUT tier_name name, OUT shares_device boolean, OUT kind text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT t.device, t.file_system_id, tt.tier_name
		FROM _tiered_storage.tablespace_devices() t
		LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid = t.tablespace_oid)
	SELECT d.directory, d.path, d.device, d.mount_point, d.free_bytes,
		COALESCE(
			(SELECT CASE WHEN count(DISTINCT p.tier_name) = 1 THEN min(p.tier_name::text) END
				FROM place p WHERE p.file_system_id = d.file_system_id),
			(SELECT CASE WHEN count(DISTINCT p.tier_name) = 1 THEN min(p.tier_name::text) END
				FROM place p WHERE p.device = d.device))::name,
		EXISTS (SELECT FROM place p
			WHERE p.device = d.device OR p.file_system_id = d.file_system_id),
		CASE WHEN d.kind <> 'unknown' THEN d.kind WHEN d.is_virtual THEN 'virtual disk' END
	FROM _tiered_storage.server_directories() d
$$;

/*
 * Writes, fsyncs and time in files of relations of the whole server, as far as this version
 * counts them.
 *
 * The names of columns differ between versions, hence JSON.
 */
CREATE FUNCTION _tiered_storage.relation_file_counters(version integer,
	OUT writes float8, OUT write_bytes float8, OUT fsyncs float8, OUT io_ms float8,
	OUT reset_at timestamptz, OUT null_reason text)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	is_timed boolean := pg_catalog.current_setting('track_io_timing')::boolean;
BEGIN
	IF version >= 160000 THEN
		EXECUTE $sql$
			SELECT sum((j ->> 'writes')::float8) + sum((j ->> 'extends')::float8),
				sum(COALESCE((j ->> 'write_bytes')::float8,
					(j ->> 'writes')::float8 * (j ->> 'op_bytes')::float8)
				+ COALESCE((j ->> 'extend_bytes')::float8,
					(j ->> 'extends')::float8 * (j ->> 'op_bytes')::float8, 0)),
				sum((j ->> 'fsyncs')::float8),
				sum(COALESCE((j ->> 'read_time')::float8, 0)
				+ COALESCE((j ->> 'write_time')::float8, 0)
				+ COALESCE((j ->> 'writeback_time')::float8, 0)
				+ COALESCE((j ->> 'extend_time')::float8, 0)
				+ COALESCE((j ->> 'fsync_time')::float8, 0)), max(i.stats_reset)
			FROM pg_stat_io i CROSS JOIN LATERAL to_jsonb(i) j
			WHERE i.object = 'relation'$sql$
			INTO writes, write_bytes, fsyncs, io_ms, reset_at;
	ELSE
		SELECT (j ->> 'buffers_checkpoint')::float8 + (j ->> 'buffers_clean')::float8
				+ (j ->> 'buffers_backend')::float8, b.stats_reset
			INTO writes, reset_at
			FROM pg_stat_bgwriter b CROSS JOIN LATERAL to_jsonb(b) j;
		write_bytes := writes * pg_catalog.current_setting('block_size')::float8;
		SELECT sum(d.blk_read_time + d.blk_write_time) INTO io_ms FROM pg_stat_database d;
		null_reason := 'fsyncs: counted from PostgreSQL 16 on';
	END IF;
	IF NOT is_timed THEN
		io_ms := NULL;
		null_reason := concat_ws('; ', null_reason, 'time: track_io_timing is off');
	END IF;
END
$$;

/* Reads, writes, fsyncs and time in files of the WAL, as far as this version counts them. */
CREATE FUNCTION _tiered_storage.wal_file_counters(version integer,
	OUT reads float8, OUT read_bytes float8, OUT writes float8, OUT write_bytes float8,
	OUT fsyncs float8, OUT io_ms float8, OUT reset_at timestamptz, OUT null_reason text)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	method text := pg_catalog.current_setting('wal_sync_method');
BEGIN
	IF version >= 180000 THEN
		EXECUTE $sql$
			SELECT sum((j ->> 'reads')::float8), sum((j ->> 'read_bytes')::float8),
				sum((j ->> 'writes')::float8), sum((j ->> 'write_bytes')::float8),
				sum((j ->> 'fsyncs')::float8),
				sum(COALESCE((j ->> 'write_time')::float8, 0)
				+ COALESCE((j ->> 'fsync_time')::float8, 0)), max(i.stats_reset)
			FROM pg_stat_io i CROSS JOIN LATERAL to_jsonb(i) j
			WHERE i.object = 'wal'$sql$
			INTO reads, read_bytes, writes, write_bytes, fsyncs, io_ms, reset_at;
	ELSE
		SELECT (j ->> 'wal_write')::float8, (j ->> 'wal_bytes')::float8,
				(j ->> 'wal_sync')::float8,
				(j ->> 'wal_write_time')::float8 + (j ->> 'wal_sync_time')::float8, w.stats_reset
			INTO writes, write_bytes, fsyncs, io_ms, reset_at
			FROM pg_stat_wal w CROSS JOIN LATERAL to_jsonb(w) j;
		null_reason := 'reads: counted from PostgreSQL 18 on';
	END IF;
	IF NOT pg_catalog.current_setting('track_wal_io_timing')::boolean THEN
		io_ms := NULL;
		null_reason := concat_ws('; ', null_reason, 'time: track_wal_io_timing is off');
	END IF;
	IF NOT pg_catalog.current_setting('fsync')::boolean THEN
		fsyncs := NULL;
		null_reason := concat_ws('; ', null_reason, 'fsyncs: fsync is off');
	ELSIF method IN ('open_sync', 'open_datasync') THEN
		fsyncs := NULL;
		null_reason := concat_ws('; ', null_reason,
			format('fsyncs: with %s each write is one', method));
	END IF;
END
$$;

/*
 * The cumulative counters of each class of files, and where the files are; null_reason says why
 * some are null.
 */
CREATE FUNCTION _tiered_storage.file_counters(
	OUT file_class text, OUT places text[],
	OUT reads float8, OUT read_bytes float8, OUT writes float8, OUT write_bytes float8,
	OUT fsyncs float8, OUT io_ms float8, OUT reset_at timestamptz, OUT null_reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	WITH server AS MATERIALIZED (
		SELECT current_setting('server_version_num')::integer AS version,
			current_setting('block_size')::float8 AS block_size)
	SELECT 'relations', '{}'::text[], NULL::float8, NULL::float8, r.writes, r.write_bytes,
		r.fsyncs, r.io_ms, r.reset_at, r.null_reason
	FROM server s CROSS JOIN LATERAL _tiered_storage.relation_file_counters(s.version) r
	UNION ALL
	SELECT 'wal', '{pg_wal}', w.reads, w.read_bytes, w.writes, w.write_bytes, w.fsyncs, w.io_ms,
		w.reset_at, w.null_reason
	FROM server s CROSS JOIN LATERAL _tiered_storage.wal_file_counters(s.version) w
	UNION ALL
	SELECT 'temp', p.places, NULL, NULL, NULL, pg_stat_get_db_temp_bytes(d.oid), NULL, NULL,
		pg_stat_get_db_stat_reset_time(d.oid), concat_ws('; ',
			'reads, writes, time: not counted by the server',
			CASE WHEN cardinality(p.places) > 1 THEN 'bytes: equal shares of the places' END,
			p.null_reason)
	FROM pg_database d CROSS JOIN _tiered_storage.temp_places() p
	WHERE d.datname = current_database()
	UNION ALL
	SELECT 'slru', '{data}', sum(l.blks_read), sum(l.blks_read) * min(s.block_size),
		sum(l.blks_written), sum(l.blks_written) * min(s.block_size), NULL, NULL,
		max(l.stats_reset), 'fsyncs, time: not counted by the server'
	FROM server s CROSS JOIN pg_stat_slru l
$$;

/* By how much a counter has grown, from 0 if it was reset; null: it was not known, or is not. */
CREATE FUNCTION _tiered_storage.counter_growth(before float8, after float8, was_reset boolean)
RETURNS float8
LANGUAGE sql IMMUTABLE
RETURN
	CASE WHEN before IS NOT NULL AND after >= 0 AND after < 'Infinity' THEN
		LEAST(CASE WHEN was_reset OR after < before THEN after ELSE after - before END, 1e16) END;

/* The cumulative counters of each class of files at the last sample; null: not counted. */
CREATE UNLOGGED TABLE _tiered_storage.file_state
(
	file_class text NOT NULL PRIMARY KEY,
	observed_since timestamptz NOT NULL CHECK (pg_catalog.isfinite(observed_since)),
	sampled_at timestamptz NOT NULL CHECK (pg_catalog.isfinite(sampled_at)),
	places text[] NOT NULL,	-- among which places its files are spread evenly; empty: not known
	reads float8,
	read_bytes float8,
	writes float8,
	write_bytes float8,
	fsyncs float8,
	io_ms float8,
	reset_at timestamptz,
	null_reason text
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('file_state');

/*
 * I/O of each class of files by sample, until the hour has ended; no row: nothing was read or
 * written.
 *
 * What a sample cannot have written is refused.
 */
CREATE UNLOGGED TABLE _tiered_storage.file_history
(
	period_start timestamptz NOT NULL CHECK (pg_catalog.isfinite(period_start)),
	period_s float8 NOT NULL CHECK (period_s OPERATOR(pg_catalog.>) 0
		AND period_s OPERATOR(pg_catalog.<) 1e10),
	file_class text NOT NULL,
	place text NOT NULL,	-- tablespace or directory; empty: not known
	reads float8,
	read_bytes float8,
	writes float8,
	write_bytes float8,
	fsyncs float8,
	io_ms float8,
	PRIMARY KEY (period_start, file_class, place),
	CHECK (LEAST(reads, read_bytes, writes, write_bytes, fsyncs, io_ms)
		OPERATOR(pg_catalog.>=) 0
		AND GREATEST(reads, read_bytes, writes, write_bytes, fsyncs, io_ms)
		OPERATOR(pg_catalog.<=) 1e20)
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('file_history');

/* The same of all hours, see history_rows; use file_class_io. */
CREATE VIEW _tiered_storage.file_rows AS
	SELECT date_trunc('hour', m.period_start, 'UTC') AS hour, m.*
	FROM _tiered_storage.stored_file_history() m
	UNION ALL
	SELECT h.hour, f.*
	FROM _tiered_storage.history_hour h
	CROSS JOIN LATERAL jsonb_populate_recordset(
		NULL::_tiered_storage.file_history, h.files) f
	WHERE h.files IS NOT NULL;

/*
 * Reads the counters of all classes of files and adds what has come since the last call to
 * file_history.
 *
 * Counters that are read twice at one time, or after the clock was set back, make no period.
 */
CREATE FUNCTION _tiered_storage.file_sample(now_at timestamptz, by_another_server boolean)
RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	WITH counted AS MATERIALIZED (
		SELECT * FROM _tiered_storage.file_counters()),
	growth AS MATERIALIZED (
		SELECT s.sampled_at, c.file_class, c.places, g.*
		FROM counted c JOIN _tiered_storage.file_state s USING (file_class)
		CROSS JOIN LATERAL (SELECT c.reset_at IS NOT NULL
			AND s.reset_at IS DISTINCT FROM c.reset_at AS was_reset) r
		CROSS JOIN LATERAL (SELECT
			_tiered_storage.counter_growth(s.reads, c.reads, r.was_reset) AS reads,
			_tiered_storage.counter_growth(s.read_bytes, c.read_bytes, r.was_reset) AS read_bytes,
			_tiered_storage.counter_growth(s.writes, c.writes, r.was_reset) AS writes,
			_tiered_storage.counter_growth(s.write_bytes, c.write_bytes, r.was_reset)
				AS write_bytes,
			_tiered_storage.counter_growth(s.fsyncs, c.fsyncs, r.was_reset) AS fsyncs,
			_tiered_storage.counter_growth(s.io_ms, c.io_ms, r.was_reset) AS io_ms) g
		/*
		 * The first counters of a server are its whole past.  After the reset of one SLRU, what
		 * the others have grown by is not known.
		 */
		WHERE s.sampled_at < now_at AND NOT by_another_server AND NOT (c.file_class = 'slru'
			AND (r.was_reset OR c.reads < s.reads OR c.writes < s.writes))),
	state AS (
		INSERT INTO _tiered_storage.file_state AS s
		SELECT c.file_class, now_at, now_at, c.places, c.reads, c.read_bytes, c.writes,
			c.write_bytes, c.fsyncs, c.io_ms, c.reset_at, c.null_reason
		FROM counted c
		ON CONFLICT (file_class) DO UPDATE SET sampled_at = EXCLUDED.sampled_at,
			places = EXCLUDED.places, reads = EXCLUDED.reads, read_bytes = EXCLUDED.read_bytes,
			writes = EXCLUDED.writes, write_bytes = EXCLUDED.write_bytes,
			fsyncs = EXCLUDED.fsyncs, io_ms = EXCLUDED.io_ms, reset_at = EXCLUDED.reset_at,
			null_reason = EXCLUDED.null_reason)
	INSERT INTO _tiered_storage.file_history AS h
	SELECT g.sampled_at, EXTRACT(epoch FROM now_at - g.sampled_at)::float8, g.file_class,
		p.place, g.reads / n.n, g.read_bytes / n.n, g.writes / n.n,
		g.write_bytes / n.n, g.fsyncs / n.n, g.io_ms / n.n
	FROM growth g
	CROSS JOIN LATERAL (SELECT CASE WHEN cardinality(g.places) = 0 THEN '{""}'::text[]
		ELSE g.places END AS places) l
	CROSS JOIN LATERAL (SELECT cardinality(l.places)::float8 AS n) n
	CROSS JOIN LATERAL unnest(l.places) p (place)
	WHERE GREATEST(g.reads, g.read_bytes, g.writes, g.write_bytes, g.fsyncs, g.io_ms) > 0
	ON CONFLICT (period_start, file_class, place) DO UPDATE SET
		period_s = GREATEST(h.period_s, EXCLUDED.period_s), reads = h.reads + EXCLUDED.reads,
		read_bytes = h.read_bytes + EXCLUDED.read_bytes, writes = h.writes + EXCLUDED.writes,
		write_bytes = h.write_bytes + EXCLUDED.write_bytes, fsyncs = h.fsyncs + EXCLUDED.fsyncs,
		io_ms = h.io_ms + EXCLUDED.io_ms
$$;
