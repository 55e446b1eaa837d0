---------------------------------------------------------------------------
-- Settings of the server that fit what its devices can do, and what it does.
---------------------------------------------------------------------------

/* Rows of recommend_settings(), whose columns are these. */
CREATE TYPE _tiered_storage.setting_advice AS (
	tier_name name, tablespace_name name, setting text, current_value text,
	recommended_value text, calibrated_at timestamptz, reason text, command text,
	effect text, expected_ratio float8, requires text, is_assumed boolean);

/*
 * The planner needs the average cost of a page read at random relative to one read
 * sequentially.  The server's default of 4 stands for a disk that is 40 times slower at
 * random, with nine of ten reads found in memory.  The same rule gives the other costs,
 * with two limits: a backend needs 5 us for a page however fast it arrives, and above 10
 * no plan gets better.
 */
CREATE FUNCTION _tiered_storage.settings_of_tablespaces()
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH figures AS (
		SELECT t.*,
			GREATEST(0.005, 8192 / 1e3 / t.sequential_read_mb_per_s) AS sequential_page_ms,
			(SELECT GREATEST(0.005, min(8192 / 1e3 / f.sequential_read_mb_per_s))
				FROM tiered_storage.tiers f) AS fastest_page_ms
		FROM tiered_storage.tiers t),
	costs AS (
		SELECT f.*,
			/* One read of ten reaches the device, on each tier. */
			round((1 + 0.1 * (f.sequential_page_ms / f.fastest_page_ms - 1))::numeric, 2)
				AS seq_page_cost,
			round(LEAST(10, GREATEST(1.1, 0.1 * f.random_read_ms / f.sequential_page_ms))::numeric
				* (1 + 0.1 * (f.sequential_page_ms / f.fastest_page_ms - 1))::numeric, 2)
					AS random_page_cost,
			LEAST(1000, GREATEST(1, round(f.parallelism)))::integer AS io_concurrency
		FROM figures f),
	advice AS (
		SELECT c.tier_name, tt.tablespace_name, s.spcoptions, c.calibrated_at, a.setting, a.value,
			a.reason
		FROM costs c
		JOIN _tiered_storage.tier_tablespaces tt ON tt.tier_name = c.tier_name
		JOIN pg_tablespace s ON s.oid = tt.tablespace_oid
		CROSS JOIN LATERAL (VALUES
			('seq_page_cost', c.seq_page_cost::text,
				format('a page in sequence takes %s us, on the fastest tier %s us; one of ten is '
					'taken to come from the device',
					round((c.sequential_page_ms * 1000)::numeric, 1),
					round((c.fastest_page_ms * 1000)::numeric, 1))),
			('random_page_cost', c.random_page_cost::text,
				format('a page at random takes %s ms, that is %s times as long as one in '
					'sequence; one of ten is taken to come from the device',
					round(c.random_read_ms::numeric, 3),
					round((c.random_read_ms / c.sequential_page_ms)::numeric))),
			('effective_io_concurrency', c.io_concurrency::text,
				format('the device serves %s requests at once',
					round(c.parallelism::numeric, 1))),
			('maintenance_io_concurrency', c.io_concurrency::text,
				format('the device serves %s requests at once',
					round(c.parallelism::numeric, 1)))
		) a (setting, value, reason)),
	compared AS (
		SELECT a.*, COALESCE(
			(SELECT o.option_value FROM pg_options_to_table(a.spcoptions) o
				WHERE o.option_name = a.setting),
			current_setting(a.setting)) AS current_value
		FROM advice a)
	SELECT c.tier_name, c.tablespace_name, c.setting, c.current_value, c.value, c.calibrated_at,
		c.reason || CASE WHEN c.calibrated_at IS NULL THEN ' (by its profile: not calibrated)'
			ELSE '' END,
		format('ALTER TABLESPACE %I SET (%s = %s);', c.tablespace_name, c.setting, c.value),
		CASE WHEN c.setting LIKE '%cost' THEN 'other plans, where costs decide; not predicted'
			ELSE 'more reads at once in bitmap scans and maintenance; not predicted' END,
		NULL::float8, 'nothing', c.calibrated_at IS NULL
	FROM compared c
	WHERE c.current_value::numeric <> c.value::numeric
$$;
COMMENT ON FUNCTION _tiered_storage.settings_of_tablespaces() IS
'what recommend_settings() says of planner costs and concurrency';

/*
 * What is written to temporary files is read once.  They may take as much room as is written
 * in an hour, and never that of tables: not on a tier that has no more to spare.
 */
CREATE FUNCTION _tiered_storage.settings_of_temp(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH temp AS (
		SELECT f.place, f.tier_name, f.write_bytes_per_hour AS bytes
		FROM tiered_storage.file_class_io f
		WHERE f.file_class = 'temp' AND f.is_total AND f.write_bytes_per_hour > 0),
	cost AS (
		SELECT t.*, 1 / t.sequential_write_mb_per_s + 1 / t.sequential_read_mb_per_s AS s_per_mb
		FROM tiered_storage.tiers t
		WHERE NOT t.compressed AND cardinality(t.tablespaces) > 0),
	best AS (
		SELECT c.* FROM cost c CROSS JOIN temp p
		WHERE c.profile <> 'memory'
			AND c.free_bytes - c.reserve_fraction * c.capacity_bytes >= p.bytes
		ORDER BY c.s_per_mb, c.rank, c.tier_name LIMIT 1),
	compared AS (
		SELECT p.*, h.s_per_mb AS here, b.s_per_mb AS there, b.tier_name AS best_tier,
			b.tablespaces[1] AS best_place,
			CASE WHEN b.calibrated_at IS NOT NULL THEN h.calibrated_at END AS calibrated_at,
			p.bytes / 1e6 * (h.s_per_mb - b.s_per_mb) AS saved_s
		FROM temp p LEFT JOIN cost h ON h.tier_name = p.tier_name LEFT JOIN best b ON true)
	SELECT v.tier_name, NULL::name, 'temp_tablespaces', c.place,
		CASE WHEN v.worth THEN c.best_place END, c.calibrated_at,
		CASE WHEN c.here IS NULL THEN 'it is not known on which tier temporary files are'
			WHEN c.there IS NULL THEN
				format('no tier has room for the %s that are written in an hour',
					pg_size_pretty(c.bytes::bigint))
			WHEN NOT v.worth THEN 'no tier with room is faster by a fifth and a second an hour'
			ELSE format('%s an hour take %s s on "%s" and %s s on "%s"',
				pg_size_pretty(c.bytes::bigint), round((c.bytes / 1e6 * c.here)::numeric, 1),
				c.tier_name, round((c.bytes / 1e6 * c.there)::numeric, 1), c.best_tier) END,
		CASE WHEN v.worth THEN format('ALTER DATABASE %I SET temp_tablespaces = %I;',
			current_database(), c.best_place) END,
		CASE WHEN v.worth THEN format('temporary files take %s s an hour less; only for roles '
			'with CREATE on tablespace "%s"%s', round(c.saved_s::numeric, 1), c.best_place,
			CASE WHEN has_tablespace_privilege('public', c.best_place, 'CREATE') THEN ''
				ELSE ', which not all have' END) END,
		CASE WHEN v.worth THEN c.there / c.here END,
		CASE WHEN v.worth THEN 'new sessions' END, c.calibrated_at IS NULL
	FROM compared c
	CROSS JOIN LATERAL (SELECT COALESCE(c.there < 0.8 * c.here AND c.saved_s >= 1, false)
		AS worth, c.best_tier AS tier_name) v
	WHERE v.worth OR include_all
$$;
COMMENT ON FUNCTION _tiered_storage.settings_of_temp(boolean) IS
'what recommend_settings() says of temp_tablespaces';

/*
 * A commit waits for its write and sync, and before that for requests of others that the
 * device has to serve: rho / (1 - rho) of their service time, as in a queue with one server
 * (M/M/1), rho being how busy they keep it.  Only from what was measured.
 */
CREATE FUNCTION _tiered_storage.settings_of_wal_place(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH wal AS (
		SELECT f.tier_name, COALESCE(f.fsyncs_per_hour, f.writes_per_hour) AS syncs, d.path
		FROM tiered_storage.file_class_io f
		JOIN _tiered_storage.directory_tiers() d ON d.directory = 'pg_wal'
		WHERE f.file_class = 'wal' AND f.is_total
			AND COALESCE(f.fsyncs_per_hour, f.writes_per_hour) > 0
			AND current_setting('fsync')::boolean),
	load AS (
		SELECT t.tier_name, t.random_read_ms, t.fsync_ms, t.calibrated_at, t.rank,
			(SELECT min(x.mount_point) FROM tiered_storage.tablespace_devices() x
				WHERE x.tablespace_name::text = ANY (t.tablespaces) AND x.writable) AS mount_point,
			CASE WHEN b.busy IS NOT NULL THEN LEAST(0.95, GREATEST(0, b.busy
				- CASE WHEN t.tier_name = w.tier_name
					THEN w.syncs * t.fsync_ms / 3.6e6 ELSE 0 END)) END AS rho
		FROM tiered_storage.tiers t CROSS JOIN wal w
		CROSS JOIN LATERAL (SELECT max(i.busy_1d_fraction) AS busy
			FROM tiered_storage.device_io i WHERE i.device = ANY (t.devices)) b),
	cost AS (
		SELECT l.*, l.fsync_ms + l.rho / (1 - l.rho) * l.random_read_ms AS commit_ms
		FROM load l WHERE l.calibrated_at IS NOT NULL AND l.rho IS NOT NULL),
	compared AS (
		SELECT w.*, h.commit_ms AS here, h.rho AS rho_here, h.calibrated_at,
			b.commit_ms AS there, b.rho AS rho_there, b.tier_name AS best_tier, b.mount_point,
			w.syncs * (h.commit_ms - b.commit_ms) / 1000 AS saved_s
		FROM wal w LEFT JOIN cost h ON h.tier_name = w.tier_name
		LEFT JOIN LATERAL (SELECT c.* FROM cost c
			WHERE c.tier_name <> w.tier_name AND c.mount_point IS NOT NULL
			ORDER BY c.commit_ms, c.rank LIMIT 1) b ON true)
	SELECT CASE WHEN v.worth THEN c.best_tier ELSE c.tier_name END, NULL::name, 'pg_wal', c.path,
		CASE WHEN v.worth THEN v.target END, c.calibrated_at,
		CASE WHEN c.here IS NULL OR c.there IS NULL THEN
				'the WAL''s tier and another one must have been calibrated and sampled'
			WHEN NOT v.worth THEN 'no calibrated tier is faster by a fifth and ten seconds an hour'
			ELSE format('a sync takes %s ms on "%s" (busy %s %%), %s ms on "%s" (busy %s %%)',
				round(c.here::numeric, 2), c.tier_name, round((c.rho_here * 100)::numeric),
				round(c.there::numeric, 2), c.best_tier, round((c.rho_there * 100)::numeric)) END,
		CASE WHEN v.worth THEN format('-- with the server stopped: mv %s %s && ln -s %s %s',
			v.shell_path, v.shell_target, v.shell_target, v.shell_link) END,
		CASE WHEN v.worth THEN format('%s syncs an hour take %s s less',
			round(c.syncs::numeric), round(c.saved_s::numeric, 1)) END,
		CASE WHEN v.worth THEN c.there / c.here END, CASE WHEN v.worth THEN 'restart' END, false
	FROM compared c
	CROSS JOIN LATERAL (SELECT COALESCE(c.there < 0.8 * c.here AND c.saved_s >= 10, false)
		AS worth, rtrim(c.mount_point, '/') || '/pg_wal' AS target) w
	/* Backslashes are not the same with every standard_conforming_strings. */
	CROSS JOIN (SELECT '''' || chr(92) || '''''' AS inside) q
	CROSS JOIN LATERAL (SELECT w.worth, w.target,
		'''' || replace(c.path, '''', q.inside) || '''' AS shell_path,
		'''' || replace(w.target, '''', q.inside) || '''' AS shell_target,
		'''' || replace(current_setting('data_directory') || '/pg_wal', '''', q.inside) || ''''
			AS shell_link) v
	WHERE v.worth OR include_all
$$;
COMMENT ON FUNCTION _tiered_storage.settings_of_wal_place(boolean) IS
'what recommend_settings() says of the device of the WAL';

/* A difference counts from a tenth on, and from twice its standard error. */
CREATE FUNCTION _tiered_storage.settings_of_wal_sync(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH last AS (
		SELECT c.* FROM tiered_storage.wal_calibration c
		JOIN _tiered_storage.server_directories() d ON d.directory = 'pg_wal'
			AND d.path = c.path AND d.device IS NOT DISTINCT FROM c.device
		WHERE c.calibrated_at = (SELECT max(x.calibrated_at)
			FROM tiered_storage.wal_calibration x)),
	compared AS (
		SELECT s.method, h.write_ms AS here, h.calibrated_at, b.method AS best,
			b.write_ms AS there,
			COALESCE(b.write_ms < 0.9 * h.write_ms
				AND h.write_ms - b.write_ms > 2 * sqrt(h.error_ms ^ 2 + b.error_ms ^ 2)
				AND current_setting('fsync')::boolean, false) AS worth,
			(SELECT COALESCE(f.fsyncs_per_hour, f.writes_per_hour)
				FROM tiered_storage.file_class_io f
				WHERE f.file_class = 'wal' AND f.is_total) AS syncs
		FROM (SELECT current_setting('wal_sync_method') AS method) s
		LEFT JOIN last h ON h.method = s.method
		LEFT JOIN LATERAL (SELECT l.* FROM last l ORDER BY l.write_ms LIMIT 1) b ON true)
	SELECT NULL::name, NULL::name, 'wal_sync_method', c.method, CASE WHEN c.worth THEN c.best END,
		c.calibrated_at,
		CASE WHEN c.here IS NULL
			THEN 'not measured where the WAL is now: SELECT * FROM tiered_storage.calibrate_wal()'
			WHEN NOT c.worth THEN format('no method is faster than %s (%s ms) by a tenth and '
				'beyond the error', c.method, round(c.here::numeric, 3))
			ELSE format('a durable write of 8 kB takes %s ms with %s and %s ms with %s',
				round(c.here::numeric, 3), c.method, round(c.there::numeric, 3), c.best) END,
		CASE WHEN c.worth THEN format('ALTER SYSTEM SET wal_sync_method = %L;', c.best) END,
		CASE WHEN c.worth THEN format('commits that wait for a sync take %s of the time%s',
			to_char(c.there / c.here * 100, 'FM990%'),
			format(', %s s an hour less for %s syncs',
				round((c.syncs * (c.here - c.there) / 1000)::numeric, 1),
				round(c.syncs::numeric))) END,
		CASE WHEN c.worth THEN c.there / c.here END, CASE WHEN c.worth THEN 'reload' END, false
	FROM compared c
	WHERE c.worth OR include_all
$$;
COMMENT ON FUNCTION _tiered_storage.settings_of_wal_sync(boolean) IS
'what recommend_settings() says of wal_sync_method';

/*
 * The first change of a page after a checkpoint takes its image along.  With checkpoints
 * further apart there are at best as many images fewer as checkpoints; the server begins one
 * when the WAL since the last has reached max_wal_size / (1 + checkpoint_completion_target).
 */
CREATE FUNCTION _tiered_storage.settings_of_images(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH now_set AS (
		SELECT extract(epoch FROM current_setting('checkpoint_timeout')::interval)::float8
				AS timeout_s,
			pg_size_bytes(current_setting('max_wal_size'))::float8 AS max_bytes,
			1 + current_setting('checkpoint_completion_target')::float8 AS spread,
			current_setting('wal_compression') AS compression,
			(SELECT s.enumvals FROM pg_settings s WHERE s.name = 'wal_compression') AS methods,
			(SELECT d.free_bytes FROM _tiered_storage.directory_tiers() d
				WHERE d.directory = 'pg_wal')::float8 AS free_bytes),
	done AS (
		SELECT max(t.total) FILTER (WHERE t.metric = 'server_wal_bytes') / max(p.hours)
				AS wal_bytes,
			max(t.total) FILTER (WHERE t.metric = 'server_checkpoints_timed') / max(p.hours)
				AS timed,
			max(t.total) FILTER (WHERE t.metric = 'server_checkpoints_requested') / max(p.hours)
				AS requested
		FROM _tiered_storage.file_period() p
		CROSS JOIN LATERAL _tiered_storage.load_totals(p.begins_at, p.ends_at) t),
	images AS (
		SELECT w.full_page_image_bytes_per_hour / NULLIF(w.wal_bytes_per_hour, 0) AS share
		FROM tiered_storage.write_amplification w
		WHERE w.is_total AND w.wal_bytes_per_hour > 0),
	known AS (
		SELECT n.*, d.*, i.share, d.timed + d.requested AS checkpoints,
			CASE WHEN d.requested > d.timed THEN n.timeout_s
				ELSE LEAST(GREATEST(n.timeout_s, 1800), 4 * n.timeout_s) END AS new_timeout_s,
			COALESCE(i.share > 0.5 AND d.wal_bytes >= 1e8
				AND current_setting('full_page_writes')::boolean, false) AS dominate
		FROM now_set n CROSS JOIN done d CROSS JOIN images i),
	sized AS (
		SELECT k.*, ceil(k.wal_bytes * k.new_timeout_s / 3600 * k.spread * 1.1 / 1073741824)
			* 1073741824 AS new_max_bytes,
			1 - k.share * (1 - LEAST(1, 3600 / k.new_timeout_s / NULLIF(k.checkpoints, 0)))
				AS ratio,
			format('full-page images are %s %% of the WAL; %s checkpoints an hour',
				round((k.share * 100)::numeric), round(k.checkpoints::numeric, 1)) AS reason
		FROM known k)
	SELECT NULL::name, NULL::name, a.setting, a.current_value,
		CASE WHEN a.worth THEN a.value END, NULL::timestamptz,
		CASE WHEN s.dominate AND a.no_room THEN 'there is no room for twice as much more WAL'
			WHEN a.worth OR s.dominate THEN s.reason
			ELSE 'full-page images are no more than half of the WAL, or there is little WAL' END,
		CASE WHEN a.worth THEN format('ALTER SYSTEM SET %s = %L;', a.setting, a.value) END,
		CASE WHEN a.worth THEN a.effect END, CASE WHEN a.worth THEN a.ratio END,
		CASE WHEN a.worth THEN 'reload' END, true
	FROM sized s
	CROSS JOIN LATERAL (SELECT COALESCE(s.free_bytes < 2 * (s.new_max_bytes - s.max_bytes), true)
		AS no_room) r
	CROSS JOIN LATERAL (VALUES
		('checkpoint_timeout', current_setting('checkpoint_timeout'),
			round(s.new_timeout_s::numeric) || 's',
			s.dominate AND s.new_timeout_s > s.timeout_s
				AND (s.new_max_bytes <= s.max_bytes OR NOT r.no_room),
			s.new_max_bytes > s.max_bytes AND r.no_room, s.ratio,
			format('at best %s of the WAL; recovery after a crash takes up to %s times as long',
				to_char(s.ratio * 100, 'FM990%'),
				round((s.new_timeout_s / s.timeout_s)::numeric, 1))),
		('max_wal_size', current_setting('max_wal_size'),
			round(s.new_max_bytes / 1073741824) || 'GB',
			s.dominate AND s.new_max_bytes > s.max_bytes AND NOT r.no_room,
			s.new_max_bytes > s.max_bytes AND r.no_room, s.ratio,
			format('checkpoints each %s s, not before; at best %s of the WAL',
				round(s.new_timeout_s::numeric), to_char(s.ratio * 100, 'FM990%'))),
		('wal_compression', s.compression,
			CASE WHEN 'lz4' = ANY (s.methods) THEN 'lz4' ELSE 'pglz' END,
			s.dominate AND s.compression = 'off', false, 1 - s.share / 2,
			format('images are taken to become half as large: %s of the WAL, for CPU time',
				to_char((1 - s.share / 2) * 100, 'FM990%')))
		) a (setting, current_value, value, worth, no_room, ratio, effect)
	WHERE a.worth OR include_all
$$;
COMMENT ON FUNCTION _tiered_storage.settings_of_images(boolean) IS
'what recommend_settings() says of full-page images';

/* From 18 on; 19 has other settings for the number of workers. */
CREATE FUNCTION _tiered_storage.settings_of_io_method(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH device AS (
		SELECT t.tier_name, t.parallelism, t.calibrated_at FROM tiered_storage.tiers t
		WHERE t.calibrated_at IS NOT NULL ORDER BY t.parallelism DESC, t.tier_name LIMIT 1),
	advice AS (
		SELECT d.*, a.*
		FROM device d
		CROSS JOIN LATERAL (VALUES
			('io_method', current_setting('io_method', true), 'worker',
				current_setting('io_method', true) = 'sync' AND d.parallelism >= 2, 'restart'),
			('io_workers', current_setting('io_workers', true),
				LEAST(32, ceil(d.parallelism))::integer::text,
				current_setting('io_method', true) = 'worker'
				AND current_setting('io_workers', true)::float8 < LEAST(32, ceil(d.parallelism)),
				'reload')) a (setting, current_value, value, worth, requires)
		WHERE a.current_value IS NOT NULL)
	SELECT a.tier_name, NULL::name, a.setting, a.current_value, CASE WHEN a.worth THEN a.value END,
		a.calibrated_at, format('the devices of "%s" serve %s requests at once', a.tier_name,
			round(a.parallelism::numeric, 1)),
		CASE WHEN a.worth THEN format('ALTER SYSTEM SET %s = %L;', a.setting, a.value) END,
		CASE WHEN a.worth THEN 'more reads ahead at once; not predicted' END, NULL::float8,
		CASE WHEN a.worth THEN a.requires END, false
	FROM advice a WHERE a.worth OR include_all
$$;
COMMENT ON FUNCTION _tiered_storage.settings_of_io_method(boolean) IS
'what recommend_settings() says of asynchronous I/O';

/* Of the server as a whole only where it runs: a standby has other devices. */
CREATE FUNCTION tiered_storage.recommend_settings(
	include_all boolean DEFAULT false,
	OUT tier_name name, OUT tablespace_name name, OUT setting text,
	OUT current_value text, OUT recommended_value text, OUT calibrated_at timestamptz,
	OUT reason text, OUT command text, OUT effect text, OUT expected_ratio float8,
	OUT requires text, OUT is_assumed boolean)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH advice AS (
		SELECT 1 AS place, a.* FROM _tiered_storage.settings_of_tablespaces() a
		UNION ALL
		SELECT 2, a.* FROM (SELECT COALESCE(include_all, false) AS all_of_them) i
		CROSS JOIN LATERAL (
			SELECT * FROM _tiered_storage.settings_of_temp(i.all_of_them)
			UNION ALL SELECT * FROM _tiered_storage.settings_of_wal_place(i.all_of_them)
			UNION ALL SELECT * FROM _tiered_storage.settings_of_wal_sync(i.all_of_them)
			UNION ALL SELECT * FROM _tiered_storage.settings_of_images(i.all_of_them)
			UNION ALL SELECT * FROM _tiered_storage.settings_of_io_method(i.all_of_them)) a
		WHERE NOT pg_is_in_recovery()
		UNION ALL
		SELECT 3, NULL, NULL, s.name, s.setting, NULL, NULL,
			'not touched: it would trade safety of the data for time', NULL, NULL, NULL, NULL,
			false
		FROM pg_settings s
		WHERE include_all AND s.name IN ('fsync', 'full_page_writes', 'synchronous_commit'))
	SELECT a.tier_name, a.tablespace_name, a.setting, a.current_value, a.recommended_value,
		a.calibrated_at, a.reason, a.command, a.effect, a.expected_ratio, a.requires, a.is_assumed
	FROM advice a
	ORDER BY a.place, a.tier_name, a.tablespace_name, a.setting
$$;
COMMENT ON FUNCTION tiered_storage.recommend_settings(boolean) IS
'settings that do not fit the figures of the tiers and what the server does, the recommended '
'values, what they are expected to change, and the statements that set them; with include_all '
'also those that stay, and why; changes nothing';
