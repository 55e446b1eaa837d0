---------------------------------------------------------------------------
-- Where temporary files and the WAL should be.
---------------------------------------------------------------------------

/* Rows of recommend_settings(), whose columns are these. */
CREATE TYPE _tiered_storage.setting_advice AS (
	tier_name name, tablespace_name name, setting text, current_value text,
	recommended_value text, calibrated_at timestamptz, reason text, command text,
	effect text, expected_ratio float8, requires text);

/*
 * Of each tier the tablespace on whose file system is most room, without the reserve of the
 * tier.
 *
 * What is written to one place needs room on one file system, however much all those of a
 * tier have together.  What a tier is limited to may be less than is free.
 */
CREATE FUNCTION _tiered_storage.roomiest_places(
	OUT tier_name name, OUT tablespace_name name, OUT mount_point text, OUT room_bytes float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT DISTINCT ON (t.tier_name) t.tier_name, d.tablespace_name, d.mount_point, r.room_bytes
	FROM _tiered_storage.tiers t
	JOIN _tiered_storage.tier_tablespaces tt ON tt.tier_name = t.tier_name
	JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid
	CROSS JOIN LATERAL (SELECT LEAST(
		d.free_bytes - t.reserve_fraction * LEAST(d.total_bytes, t.capacity_bytes),
		t.capacity_bytes * (1 - t.reserve_fraction) - t.relation_bytes)::float8
			AS room_bytes) r
	WHERE d.writable AND d.free_bytes IS NOT NULL
	ORDER BY t.tier_name, r.room_bytes DESC, d.tablespace_name
$$;

/* The first three of these roles. */
CREATE FUNCTION _tiered_storage.role_list(roles name[]) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN
	CASE WHEN cardinality(roles) = 1 THEN 'role ' ELSE 'roles ' END
		|| array_to_string(roles[1:3], ', ')
		|| CASE WHEN cardinality(roles) > 3 THEN format(' and %s more', cardinality(roles) - 3)
			ELSE '' END;

/*
 * Seconds that temporary files of so many bytes take less on another tier, if sessions wait so
 * long for them now; null: waits are not sampled.
 *
 * Sessions do not wait for a device when reads come from the page cache, or writes happen
 * while the sort continues.  No more can be saved than sessions were seen to wait, beyond the
 * 5 us that a page takes however fast it arrives.
 */
CREATE FUNCTION _tiered_storage.temp_saved_s(bytes float8, here_s_per_mb float8,
	there_s_per_mb float8, wait_s float8) RETURNS float8
LANGUAGE sql STABLE
RETURN
	LEAST(bytes / 1e6 * (here_s_per_mb - there_s_per_mb),
		CASE WHEN wait_s IS NOT NULL THEN GREATEST(0, wait_s
			- 2 * bytes / current_setting('block_size')::float8 * 5e-6)
			* (1 - there_s_per_mb / here_s_per_mb) END);

/*
 * What recommend_settings() says of temp_tablespaces.
 *
 * What is written to temporary files is read once.  They may take as much room as is written
 * in an hour, and never that of tables: not on a tier that has no more to spare.
 */
CREATE FUNCTION _tiered_storage.settings_of_temp(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH temp AS (
		SELECT f.place, f.tier_name, f.write_bytes_per_hour AS bytes,
			f.wait_s_per_hour AS wait_s
		FROM _tiered_storage.file_class_io() f
		WHERE f.file_class = 'temp' AND f.is_total AND f.write_bytes_per_hour > 0),
	cost AS (
		SELECT t.*, 1 / t.sequential_write_mb_per_s + 1 / t.sequential_read_mb_per_s AS s_per_mb
		FROM _tiered_storage.tiers t
		WHERE NOT t.compressed AND cardinality(t.tablespaces) > 0),
	best AS (
		SELECT c.*, r.tablespace_name FROM cost c CROSS JOIN temp p
		JOIN _tiered_storage.roomiest_places() r ON r.tier_name = c.tier_name
		WHERE c.profile NOT IN ('memory', 'object_store') AND r.room_bytes >= p.bytes
		ORDER BY c.s_per_mb, c.rank, c.tier_name LIMIT 1),
	compared AS (
		SELECT p.*, h.s_per_mb AS here, b.s_per_mb AS there, b.tier_name AS best_tier,
			b.tablespace_name::text AS best_place,
			CASE WHEN b.calibrated_at IS NOT NULL THEN h.calibrated_at END AS calibrated_at,
			_tiered_storage.temp_saved_s(p.bytes, h.s_per_mb, b.s_per_mb, p.wait_s) AS saved_s,
			p.bytes / 1e6 * (h.s_per_mb - b.s_per_mb) AS most_s
		FROM temp p LEFT JOIN cost h ON h.tier_name = p.tier_name LEFT JOIN best b ON true)
	SELECT v.tier_name, NULL::name, 'temp_tablespaces', c.place,
		CASE WHEN v.worth THEN c.best_place END, c.calibrated_at,
		CASE WHEN c.tier_name IS NULL AND c.place ~ ', '
				THEN 'temporary files are on more than one tier; how many on each is not measured'
			WHEN c.here IS NULL THEN 'the tier of temporary files is not known'
			WHEN c.there IS NULL THEN
				format('no tier has room for the %s that are written in an hour',
					pg_size_pretty(c.bytes::bigint))
			WHEN NOT v.worth AND c.there < 0.8 * c.here AND c.most_s >= 1
				THEN format('most of %s an hour is served from memory: sessions wait %s s for it',
					pg_size_pretty(c.bytes::bigint), round(c.wait_s::numeric, 1))
			WHEN NOT v.worth THEN 'no tier with room saves a fifth, and a second an hour'
			ELSE format('%s an hour take %s s on "%s" and %s s on "%s"',
				pg_size_pretty(c.bytes::bigint), round((c.bytes / 1e6 * c.here)::numeric, 1),
				c.tier_name, round((c.bytes / 1e6 * c.there)::numeric, 1), c.best_tier)
				|| CASE WHEN c.wait_s IS NULL THEN '' ELSE format('; sessions wait %s s for them',
					round(c.wait_s::numeric, 1)) END END,
		CASE WHEN v.worth THEN format('ALTER DATABASE %I SET temp_tablespaces = %I;',
			current_database(), c.best_place) END,
		CASE WHEN v.worth THEN format('temporary files take %s s an hour less',
			round(c.saved_s::numeric, 1)) || CASE WHEN cardinality(l.roles) > 0
				THEN format(', but not those of %s without GRANT CREATE ON TABLESPACE %I TO '
					'PUBLIC',
					_tiered_storage.role_list(l.roles), c.best_place) ELSE '' END END,
		CASE WHEN v.worth THEN c.there / c.here END,
		CASE WHEN v.worth THEN 'new sessions' END
	FROM compared c
	CROSS JOIN LATERAL (SELECT COALESCE(c.there < 0.8 * c.here AND c.saved_s >= 1, false)
		AS worth, c.best_tier AS tier_name) v
	CROSS JOIN LATERAL (SELECT _tiered_storage.roles_without_create(c.best_place::name)
		AS roles) l
	WHERE v.worth OR include_all
$$;

/*
 * The command for a shell that copies the WAL to a new directory and makes pg_wal a link to it;
 * null: a path has characters that do not fit into a line.
 *
 * Nothing is changed before all has been copied, and nothing that is there already is touched:
 * another cluster may have its WAL on the same file system, and a standby on the same machine has
 * the same system identifier.  A link is replaced, a directory is kept beside it, for ln would
 * follow it.
 */
CREATE FUNCTION _tiered_storage.wal_move_command(target text) RETURNS text
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $$
	/* Backslashes are not the same with every standard_conforming_strings. */
	WITH quoted AS (
		SELECT n.name, '''' || replace(n.path, '''', '''' || chr(92) || '''''') || '''' AS path
		FROM (SELECT current_setting('data_directory') AS data) d
		CROSS JOIN LATERAL (VALUES ('running', d.data || '/postmaster.pid'),
			('link', d.data || '/pg_wal'), ('contents', d.data || '/pg_wal/.'),
			('old', d.data || '/pg_wal.old'), ('target', target)) n (name, path)),
	paths AS (
		SELECT jsonb_object_agg(q.name, q.path) AS p FROM quoted q)
	SELECT c.command
	FROM paths CROSS JOIN LATERAL (SELECT format('-- with the server stopped, in a shell: '
		'test ! -e %1$s && { test -L %5$s || test ! -e %2$s; } && mkdir -m 700 %3$s && '
		'cp -a %4$s %3$s && sync && { test -L %5$s || mv %5$s %2$s; } && ln -sfn %3$s %5$s',
		p ->> 'running', p ->> 'old', p ->> 'target', p ->> 'contents', p ->> 'link')
			AS command) c
	/* The second line would be no comment any more. */
	WHERE c.command !~ '[[:cntrl:]]'
$$;

/*
 * Where the WAL is, how long a sync takes there, and how long reads wait for syncs and syncs
 * for reads an hour; for each other place that was measured the same; one row at least.
 *
 * A commit waits for its write and sync, and before that for requests of others that the
 * device has to serve: rho / (1 - rho) of their service time, as in a queue with one server
 * (M/M/1), rho being how busy they keep it.  Reads there wait for syncs in the same way.  Only
 * from what was measured: by calibrate_tier(), or, of a device that no tier is on, by
 * calibrate_tier() in place, with whatever else there is.  Where the WAL is now, the server itself
 * measures both with track_wal_io_timing, also what waits for a limit that the kernel puts on
 * the device, which does not make it busy.  If that is less than what calibration found of syncs
 * without a pause between them, no sync needs more than that here, and as much less on a device
 * of the same kind: these two are compared by what was measured of both in the same way.  What
 * pauses do for another kind was not measured; a disk turns meanwhile, flash does not.
 */
CREATE FUNCTION _tiered_storage.wal_places(
	OUT wal_tier name, OUT path text, OUT device text, OUT kind text, OUT shares_device boolean,
	OUT syncs float8, OUT here_ms float8, OUT here_at timestamptz, OUT data_wait_s float8,
	OUT sync_wait_s float8, OUT tier_name name, OUT rank integer, OUT there_ms float8,
	OUT read_wait_s float8, OUT rho float8, OUT mount_point text, OUT room_bytes float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH wal AS (
		SELECT f.tier_name, c.syncs, f.io_s_per_hour * 1000 / NULLIF(c.syncs, 0) AS timed_ms,
			COALESCE((SELECT LEAST(1, f.io_s_per_hour * 1000 / c.syncs / t.fsync_ms)
				FROM _tiered_storage.tiers t
				WHERE t.tier_name = f.tier_name AND t.calibrated_at IS NOT NULL
					AND f.io_s_per_hour > 0 AND c.syncs > 0), 1) AS of_calibrated,
			(SELECT t.profile FROM _tiered_storage.tiers t WHERE t.tier_name = f.tier_name)
				AS profile,
			d.path, d.device, d.kind, d.shares_device, m.write_ms, m.calibrated_at
		FROM _tiered_storage.file_class_io() f
		CROSS JOIN LATERAL (SELECT COALESCE(f.fsyncs_per_hour, f.writes_per_hour) AS syncs) c
		JOIN _tiered_storage.directory_tiers() d ON d.directory = 'pg_wal'
		/* What calibrate_tier() measures. */
		LEFT JOIN LATERAL (SELECT c.write_ms, c.calibrated_at
			FROM _tiered_storage.wal_calibration c
			WHERE c.method = 'fdatasync' AND c.path = d.path
				AND c.device IS NOT DISTINCT FROM d.device
			ORDER BY c.calibrated_at DESC LIMIT 1) m ON true
		WHERE f.file_class = 'wal' AND f.is_total AND current_setting('fsync')::boolean),
	load AS (
		SELECT t.tier_name, t.random_read_ms, s.fsync_ms, t.calibrated_at, t.rank, t.devices,
			b.reads_per_hour, CASE WHEN w.syncs >= 0
				THEN LEAST(0.95, w.syncs * s.fsync_ms / 3.6e6) END AS sync_rho,
			CASE WHEN b.busy IS NOT NULL THEN LEAST(0.95, GREATEST(0, b.busy
				- CASE WHEN t.tier_name = w.tier_name
					THEN COALESCE(w.syncs, 0) * s.fsync_ms / 3.6e6 ELSE 0 END)) END AS rho
		FROM _tiered_storage.tiers t CROSS JOIN wal w
		CROSS JOIN LATERAL (SELECT t.fsync_ms
			* CASE WHEN t.profile = w.profile THEN w.of_calibrated ELSE 1 END AS fsync_ms) s
		CROSS JOIN LATERAL (SELECT max(i.busy_1d_fraction) AS busy,
				sum(i.reads_1d_per_s) * 3600 AS reads_per_hour
			FROM _tiered_storage.device_io i WHERE i.device = ANY (t.devices)) b),
	cost AS (
		SELECT l.*, l.rho / (1 - l.rho) * l.random_read_ms AS wait_ms,
			COALESCE(l.reads_per_hour, 0) * l.sync_rho / (1 - l.sync_rho) * l.fsync_ms / 1000
				AS read_wait_s
		FROM load l WHERE l.calibrated_at IS NOT NULL AND l.rho IS NOT NULL)
	SELECT w.tier_name, w.path, w.device, w.kind, w.shares_device, w.syncs,
		COALESCE(w.timed_ms,
			CASE WHEN w.tier_name IS NULL THEN w.write_ms ELSE h.fsync_ms + h.wait_ms END),
		CASE WHEN w.tier_name IS NULL THEN w.calibrated_at ELSE h.calibrated_at END,
		COALESCE(h.read_wait_s, 0), w.syncs / 1000
			* CASE WHEN w.timed_ms > 0 THEN GREATEST(0, w.timed_ms - h.fsync_ms)
				ELSE h.wait_ms END,
		b.tier_name, b.rank,
		b.fsync_ms + b.wait_ms, b.read_wait_s, b.rho, r.mount_point, r.room_bytes
	FROM wal w LEFT JOIN cost h ON h.tier_name = w.tier_name
	LEFT JOIN cost b ON b.tier_name IS DISTINCT FROM w.tier_name
		AND NOT COALESCE(w.device = ANY (b.devices), false)
	LEFT JOIN _tiered_storage.roomiest_places() r ON r.tier_name = b.tier_name
$$;

/* What recommend_settings() says of the device of the WAL. */
CREATE FUNCTION _tiered_storage.settings_of_wal_place(include_all boolean)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	/* Segments are kept until checkpoints, standbys and the archiver have done with them. */
	WITH need AS (
		SELECT GREATEST(pg_size_bytes(current_setting('max_wal_size'))
			+ pg_size_bytes(current_setting('wal_keep_size')),
			(SELECT sum(f.size) FROM pg_ls_waldir() f))::float8 AS bytes),
	compared AS (
		SELECT p.*, n.bytes AS need_bytes, count(p.tier_name) OVER () AS others,
			p.room_bytes >= n.bytes AND p.mount_point IS NOT NULL AS fits,
			p.syncs * (p.here_ms - p.there_ms) / 1000 AS saved_s,
			p.syncs * p.here_ms / 1000 + p.data_wait_s AS here_s,
			p.syncs * p.there_ms / 1000 + p.read_wait_s AS there_s
		FROM _tiered_storage.wal_places() p CROSS JOIN need n),
	best AS (
		SELECT c.*, (SELECT u.tier_name FROM compared u
			/* Where the best is not worth it, none of these has room. */
			WHERE u.there_s < 0.8 * u.here_s AND u.here_s - u.there_s >= 10
			ORDER BY u.there_s, u.tier_name LIMIT 1) AS full_tier
		FROM compared c
		ORDER BY c.fits DESC NULLS LAST, c.there_s, c.there_ms, c.rank, c.tier_name LIMIT 1)
	SELECT CASE WHEN v.worth THEN c.tier_name ELSE c.wal_tier END, NULL::name, 'pg_wal', c.path,
		CASE WHEN v.worth THEN v.target END, c.here_at,
		CASE WHEN v.worth THEN format('a sync takes %s ms on %s, %s ms on "%s" (busy %s %%)',
				round(c.here_ms::numeric, 2), v.place, round(c.there_ms::numeric, 2), c.tier_name,
				round((c.rho * 100)::numeric))
			ELSE concat_ws('; ', format('the WAL is on %s', v.place),
				CASE WHEN c.here_ms > 0 AND c.syncs >= 0
					THEN format('a sync takes %s ms, and those of an hour %s %% of it',
						round(c.here_ms::numeric, 2),
						round((c.syncs * c.here_ms / 3.6e4)::numeric, 1)) END,
				CASE WHEN c.sync_wait_s + c.data_wait_s >= 0.1
					THEN format('since data are there, syncs wait %s s an hour for them, and '
						'reads %s s for syncs', round(c.sync_wait_s::numeric, 1),
						round(c.data_wait_s::numeric, 1)) END,
				CASE WHEN c.here_ms IS NULL AND c.wal_tier IS NULL
					THEN 'no sync was measured there: SELECT * FROM '
						'tiered_storage.calibrate_tier(...)'
				WHEN (c.here_ms IS NULL OR c.others = 0) AND k.is_hidden THEN
					'how busy devices are is not known: the kernel''s counters are not to be seen'
				WHEN c.here_ms IS NULL OR c.others = 0 THEN
					'the WAL''s tier and another one must have been calibrated and sampled'
				WHEN NOT COALESCE(c.fits, false) THEN
					format('no other calibrated tier has room for %s of WAL',
						pg_size_pretty(c.need_bytes::bigint))
				ELSE format('no calibrated tier with room is faster by a fifth and ten seconds an '
						'hour, with the waits of reads: the best is "%s", a sync would take '
						'%s ms there', c.tier_name, round(c.there_ms::numeric, 2))
					|| CASE WHEN c.full_tier IS NULL THEN '' ELSE
						format('; "%s" would be, and has no room for %s', c.full_tier,
							pg_size_pretty(c.need_bytes::bigint)) END
				END) END,
		CASE WHEN v.worth THEN _tiered_storage.wal_move_command(v.target) END,
		CASE WHEN v.worth THEN format('%s syncs an hour take %s s %s%s; there is room for %s, '
			'and the WAL may need %s; remove what was copied when the server has started%s',
			round(c.syncs::numeric), round(abs(c.saved_s)::numeric, 1),
			CASE WHEN c.saved_s < 0 THEN 'more' ELSE 'less' END,
			CASE WHEN c.data_wait_s + c.read_wait_s >= 0.1 THEN
				format(', reads wait for them %s s less here and %s s more there',
					round(c.data_wait_s::numeric, 1), round(c.read_wait_s::numeric, 1))
				ELSE '' END,
			pg_size_pretty(c.room_bytes::bigint), pg_size_pretty(c.need_bytes::bigint),
			CASE WHEN _tiered_storage.wal_move_command(v.target) IS NULL
				THEN '; no command, since a name has control characters' END) END,
		CASE WHEN v.worth THEN c.there_ms / c.here_ms END,
		CASE WHEN v.worth THEN 'restart' END
	FROM best c
	CROSS JOIN (SELECT count(*) > 0 AND count(i.sampled_at) = 0
			AND EXISTS (SELECT FROM _tiered_storage.file_period()) AS is_hidden
		FROM _tiered_storage.tiers t
		LEFT JOIN _tiered_storage.device_io i ON i.device = ANY (t.devices)
		WHERE t.calibrated_at IS NOT NULL) k
	CROSS JOIN LATERAL (SELECT
		COALESCE(c.fits AND c.there_s < 0.8 * c.here_s AND c.here_s - c.there_s >= 10, false)
			AS worth,
		rtrim(c.mount_point, '/') || '/pg_wal-'
			|| (SELECT s.system_identifier FROM pg_control_system() s) AS target,
		CASE WHEN c.wal_tier IS NOT NULL THEN format('"%s"', c.wal_tier)
			ELSE format('%s (%s), %s', COALESCE(c.device, 'a device that is not known'),
				COALESCE(c.kind, 'of a kind that is not known'),
				CASE WHEN c.shares_device THEN 'where no tier is, or more than one'
					ELSE 'where no tablespace is' END) END AS place) v
	WHERE v.worth OR include_all
$$;
