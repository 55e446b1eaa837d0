---------------------------------------------------------------------------
-- Settings of the server that fit what its devices can do, and what it does.
---------------------------------------------------------------------------

/*
 * What recommend_settings() says of planner costs and concurrency.
 *
 * The planner needs the average cost of a page read at random relative to one read
 * sequentially.  The server's default of 4 stands for a disk that is 40 times slower at
 * random, with nine of ten reads found in memory.  The same rule gives the other costs, with the
 * share of pages that were read from the tier's devices, where a thousand an hour or more were
 * looked for in the last two weeks.  A backend needs 5 us for a page however fast it arrives.
 * That share changes from day to day: costs that are right to a fifth stay.
 *
 * Tiers on one device are equally fast, whatever their profiles say: they get the figures of the
 * fastest.  Measured figures are believed.
 */
CREATE FUNCTION _tiered_storage.settings_of_tablespaces()
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT tt.tier_name, tt.tablespace_name, tt.tablespace_oid, d.device, d.file_system_id
		FROM _tiered_storage.tier_tablespaces tt
		LEFT JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid),
	figures AS (
		SELECT p.tier_name, p.tablespace_name, p.tablespace_oid, t.calibrated_at, s.others, f.*,
			GREATEST(0.005, 8192 / 1e3 / f.sequential_read_mb_per_s) AS sequential_page_ms,
			(SELECT GREATEST(0.005, min(8192 / 1e3 / f.sequential_read_mb_per_s))
				FROM _tiered_storage.tiers f) AS fastest_page_ms
		FROM place p
		JOIN _tiered_storage.tiers t ON t.tier_name = p.tier_name
		CROSS JOIN LATERAL (
			SELECT array_agg(DISTINCT q.tier_name ORDER BY q.tier_name) AS others
			FROM place q
			WHERE q.tier_name <> p.tier_name AND t.calibrated_at IS NULL
				AND (q.device = p.device OR q.file_system_id = p.file_system_id)) s
		CROSS JOIN LATERAL (
			SELECT min(o.random_read_ms) AS random_read_ms,
				max(o.sequential_read_mb_per_s) AS sequential_read_mb_per_s,
				max(o.parallelism) AS parallelism
			FROM _tiered_storage.tiers o
			WHERE o.tier_name = p.tier_name OR o.tier_name = ANY (s.others)) f),
	costs AS (
		SELECT f.*, s.sequential AS seq_page_cost,
			round((GREATEST(1.1, s.share * f.random_read_ms / f.sequential_page_ms)
				* s.sequential)::numeric, 2) AS random_page_cost,
			CASE WHEN o.of_pages IS NULL THEN 'assumes a 90 % cache hit rate'
				ELSE format('%s %% of the pages were found in memory',
					round((100 * (1 - o.of_pages))::numeric)) END AS cached,
			LEAST(1000, GREATEST(1, round(f.parallelism)))::integer AS io_concurrency
		FROM figures f
		LEFT JOIN _tiered_storage.observed_shares o ON o.tier_name = f.tier_name
		CROSS JOIN LATERAL (SELECT COALESCE(o.of_pages, 0.1) AS share, round((1
			+ COALESCE(o.of_pages, 0.1) * (f.sequential_page_ms / f.fastest_page_ms - 1))
				::numeric, 2) AS sequential) s),
	advice AS (
		SELECT c.tier_name, c.tablespace_name, s.spcoptions, c.calibrated_at, a.setting, a.value,
			a.reason || COALESCE(' (on one device with ' || array_to_string(c.others, ', ')
				|| ')', '') AS reason
		FROM costs c
		JOIN pg_tablespace s ON s.oid = c.tablespace_oid
		CROSS JOIN LATERAL (VALUES
			('seq_page_cost', c.seq_page_cost::text,
				format('a page in sequence takes %s us, on the fastest tier %s us; %s',
					round((c.sequential_page_ms * 1000)::numeric, 1),
					round((c.fastest_page_ms * 1000)::numeric, 1), c.cached)),
			('random_page_cost', c.random_page_cost::text,
				format('a page at random takes %s ms, %s times one in sequence; %s',
					trim_scale(round(c.random_read_ms::numeric, 3)),
					round((c.random_read_ms / c.sequential_page_ms)::numeric,
						CASE WHEN c.random_read_ms < c.sequential_page_ms THEN 2 ELSE 0 END),
					c.cached)),
			('effective_io_concurrency', c.io_concurrency::text,
				format('the device serves %s requests at once',
					trim_scale(round(c.parallelism::numeric, 1)))),
			('maintenance_io_concurrency', c.io_concurrency::text,
				format('the device serves %s requests at once',
					trim_scale(round(c.parallelism::numeric, 1))))
		) a (setting, value, reason)),
	compared AS (
		SELECT a.*, COALESCE(
			(SELECT o.option_value FROM pg_options_to_table(a.spcoptions) o
				WHERE o.option_name = a.setting),
			/* Planner costs are not the session's here: what it began with. */
			CASE WHEN a.setting LIKE '%cost'
				THEN (SELECT s.reset_val FROM pg_settings s WHERE s.name = a.setting)
				ELSE current_setting(a.setting) END) AS current_value
		FROM advice a)
	SELECT c.tier_name, c.tablespace_name, c.setting, c.current_value, c.value, c.calibrated_at,
		c.reason || CASE WHEN c.calibrated_at IS NULL THEN ' (profile, not calibrated)'
			ELSE '' END,
		format('ALTER TABLESPACE %I SET (%s = %s);', c.tablespace_name, c.setting, c.value),
		CASE WHEN c.setting LIKE '%cost' THEN 'other plans, where costs decide; not predicted'
			ELSE CASE WHEN c.current_value ~ '^[0-9]+$'
					AND c.current_value::numeric > c.value::numeric
					THEN 'fewer reads at once, as the device serves no more, in '
					ELSE 'more reads at once in ' END
				|| CASE WHEN c.setting LIKE 'maintenance%' THEN 'maintenance'
					ELSE 'bitmap scans' END
				|| '; not predicted' END,
		NULL::float8, 'nothing'
	FROM compared c
	/* What is set in another way, as a hexadecimal number is, is not compared. */
	WHERE CASE WHEN c.current_value ~ '^[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$'
		THEN CASE WHEN c.setting LIKE '%cost'
			THEN abs(c.current_value::numeric - c.value::numeric)
				> 0.2 * LEAST(c.current_value::numeric, c.value::numeric)
			ELSE c.current_value::numeric <> c.value::numeric END
		ELSE true END
$$;

/*
 * What recommend_settings() says of wal_sync_method.
 *
 * A difference counts from a tenth on, from twice its standard error, and from a second an hour
 * that syncs take less, where it is known how many there are.
 */
CREATE FUNCTION _tiered_storage.settings_of_wal_sync(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH last AS (
		SELECT c.* FROM _tiered_storage.wal_calibration c
		JOIN _tiered_storage.server_directories() d ON d.directory = 'pg_wal'
			AND d.path = c.path AND d.device IS NOT DISTINCT FROM c.device
		WHERE c.calibrated_at = (SELECT max(x.calibrated_at)
			FROM _tiered_storage.wal_calibration x)),
	measured AS (
		SELECT s.method, h.write_ms AS here, h.calibrated_at, b.method AS best,
			b.write_ms AS there,
			COALESCE(b.write_ms < 0.9 * h.write_ms
				AND h.write_ms - b.write_ms > 2 * sqrt(h.error_ms ^ 2 + b.error_ms ^ 2)
				AND current_setting('fsync')::boolean, false) AS is_faster,
			(SELECT COALESCE(f.fsyncs_per_hour, f.writes_per_hour)
				FROM _tiered_storage.file_class_io() f
				WHERE f.file_class = 'wal' AND f.is_total) AS syncs
		FROM (SELECT current_setting('wal_sync_method') AS method) s
		LEFT JOIN last h ON h.method = s.method
		LEFT JOIN LATERAL (SELECT l.* FROM last l ORDER BY l.write_ms LIMIT 1) b ON true),
	compared AS (
		SELECT m.*, m.is_faster AND COALESCE(m.syncs * (m.here - m.there) >= 1000, true) AS worth
		FROM measured m)
	SELECT NULL::name, NULL::name, 'wal_sync_method', c.method, CASE WHEN c.worth THEN c.best END,
		c.calibrated_at,
		CASE WHEN c.here IS NULL
			THEN 'not measured where the WAL is now: SELECT * FROM '
				'tiered_storage.calibrate_tier(...)'
			WHEN NOT c.worth AND c.is_faster THEN format('%s syncs an hour would take %s s less '
				'with %s: too little', round(c.syncs::numeric),
				round((c.syncs * (c.here - c.there) / 1000)::numeric, 2), c.best)
			WHEN NOT c.worth THEN format('no method is faster than %s (%s ms) by a tenth and by '
				'more than the error', c.method, round(c.here::numeric, 3))
			ELSE format('a durable write of 8 kB takes %s ms with %s and %s ms with %s',
				round(c.here::numeric, 3), c.method, round(c.there::numeric, 3), c.best) END,
		CASE WHEN c.worth THEN format('ALTER SYSTEM SET wal_sync_method = %L;', c.best) END,
		CASE WHEN c.worth THEN format('commits that wait for a sync take %s of the time%s',
			to_char(c.there / c.here * 100, 'FM990%'),
			format(', %s s an hour less for %s syncs',
				round((c.syncs * (c.here - c.there) / 1000)::numeric, 1),
				round(c.syncs::numeric))) END,
		CASE WHEN c.worth THEN c.there / c.here END, CASE WHEN c.worth THEN 'reload' END
	FROM compared c
	WHERE c.worth OR include_all
$$;

/*
 * What recommend_settings() says of full-page images.
 *
 * The settings are of the server, and so are the bytes of WAL and the number of images in it;
 * only how large an image is is taken from this database, from the pages that it writes: a new
 * page has no image, so that they are larger, if anything.
 *
 * The first change of a page after a checkpoint takes its image along.  With checkpoints
 * further apart there are at best as many images fewer as checkpoints; the server begins one
 * when the WAL since the last has reached max_wal_size / (1 + checkpoint_completion_target).
 * Of those that were requested, the server tells not which were by CHECKPOINT or a base backup,
 * and stay: at least all for which there was too little WAL.
 * Where there are few already, that is not worth a longer recovery: a tenth of the WAL at least.
 */
CREATE FUNCTION _tiered_storage.settings_of_images(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
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
			max(t.total) FILTER (WHERE t.metric = 'server_wal_full_page_images') / max(p.hours)
				AS images,
			max(t.total) FILTER (WHERE t.metric = 'server_checkpoints_timed') / max(p.hours)
				AS timed,
			max(t.total) FILTER (WHERE t.metric = 'server_checkpoints_requested') / max(p.hours)
				AS requested
		FROM _tiered_storage.file_period() p
		CROSS JOIN LATERAL _tiered_storage.load_totals(p.begins_at, p.ends_at) t),
	image AS (
		SELECT (SELECT LEAST(1, w.full_page_image_bytes_per_hour / p.bytes)
			FROM _tiered_storage.write_amplification w
			CROSS JOIN LATERAL (SELECT w.page_write_bytes_per_hour
				+ w.maintenance_write_bytes_per_hour AS bytes) p
			WHERE w.is_total AND p.bytes > 0)
				* current_setting('block_size')::float8 AS bytes),
	known AS (
		SELECT n.*, d.*, i.share, d.timed + d.requested AS checkpoints,
			d.requested - i.forced AS commanded, CASE WHEN i.forced > d.timed THEN n.timeout_s
				ELSE LEAST(GREATEST(n.timeout_s, 1800), 4 * n.timeout_s) END AS new_timeout_s,
			COALESCE(i.share > 0.5 AND d.wal_bytes >= 1e8
				AND current_setting('full_page_writes')::boolean, false) AS dominate
		FROM now_set n CROSS JOIN done d CROSS JOIN image m
		CROSS JOIN LATERAL (SELECT CASE WHEN d.wal_bytes > 0 AND m.bytes >= 0
			THEN LEAST(1, d.images * m.bytes / d.wal_bytes) END AS share,
			LEAST(d.requested, d.wal_bytes * n.spread / n.max_bytes) AS forced) i),
	sized AS (
		SELECT k.*, ceil(k.wal_bytes * k.new_timeout_s / 3600 * k.spread * 1.1 / 1073741824)
			* 1073741824 AS new_max_bytes,
			r.ratio, k.dominate AND r.ratio <= 0.9 AS gains,
			format('full-page images are %s %% of the WAL, if they are as large in all databases; '
				'%s checkpoints an hour',
				round((k.share * 100)::numeric), round(k.checkpoints::numeric, 1)) AS reason
		FROM known k
		CROSS JOIN LATERAL (SELECT 1 - k.share * (1 - LEAST(1, (3600 / k.new_timeout_s
			+ k.commanded) / NULLIF(k.checkpoints, 0))) AS ratio) r)
	SELECT NULL::name, NULL::name, a.setting, a.current_value,
		CASE WHEN a.worth THEN a.value END, NULL::timestamptz,
		CASE WHEN s.gains AND a.no_room THEN 'there is no room for twice the additional WAL'
			WHEN s.dominate AND NOT s.gains AND a.setting <> 'wal_compression'
				THEN s.reason || '; fewer would reduce the WAL by less than a tenth'
			WHEN a.worth OR s.dominate THEN s.reason
			WHEN s.share IS NULL AND s.wal_bytes >= 1e8
				THEN 'the size of images is unknown: no WAL of this database was read'
			ELSE 'full-page images are no more than half of the WAL, or there is little WAL' END,
		CASE WHEN a.worth THEN format('ALTER SYSTEM SET %s = %L;', a.setting, a.value) END,
		CASE WHEN a.worth THEN a.effect END, CASE WHEN a.worth THEN a.ratio END,
		CASE WHEN a.worth THEN 'reload' END
	FROM sized s
	CROSS JOIN LATERAL (SELECT COALESCE(s.free_bytes < 2 * (s.new_max_bytes - s.max_bytes), true)
		AS no_room) r
	CROSS JOIN LATERAL (VALUES
		('checkpoint_timeout', current_setting('checkpoint_timeout'),
			round(s.new_timeout_s::numeric) || 's',
			s.gains AND s.new_timeout_s > s.timeout_s
				AND (s.new_max_bytes <= s.max_bytes OR NOT r.no_room),
			s.new_max_bytes > s.max_bytes AND r.no_room, s.ratio,
			format('at best %s of the WAL; recovery after a crash takes up to %s times as long',
				to_char(s.ratio * 100, 'FM990%'),
				round((s.new_timeout_s / s.timeout_s)::numeric, 1))),
		('max_wal_size', current_setting('max_wal_size'),
			round(s.new_max_bytes / 1073741824) || 'GB',
			s.gains AND s.new_max_bytes > s.max_bytes AND NOT r.no_room,
			s.new_max_bytes > s.max_bytes AND r.no_room, s.ratio,
			format('a checkpoint every %s s, not earlier; at best %s of the WAL',
				round(s.new_timeout_s::numeric), to_char(s.ratio * 100, 'FM990%'))),
		('wal_compression', s.compression,
			CASE WHEN 'lz4' = ANY (s.methods) THEN 'lz4' ELSE 'pglz' END,
			s.dominate AND s.compression = 'off', false, 1 - s.share / 2,
			format('assumes that images become half as large: %s of the WAL, for CPU time',
				to_char((1 - s.share / 2) * 100, 'FM990%')))
		) a (setting, current_value, value, worth, no_room, ratio, effect)
	WHERE a.worth OR include_all
$$;
