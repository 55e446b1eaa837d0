---------------------------------------------------------------------------
-- Calibration: measuring the devices of a tier, and the planner settings that fit.
---------------------------------------------------------------------------

/*
 * Results of the last ten calibrations of each tier, with the figures that the tier had before
 * and those of its device profile.
 *
 * Results describe this machine and are not dumped; previous is the figure that the tier
 * had at the time of the measurement.
 */
CREATE TABLE _tiered_storage.tier_calibration
(
	tier_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE ON DELETE CASCADE,
	calibrated_at timestamptz NOT NULL,
	measurement text NOT NULL,
	unit text NOT NULL,
	measured float8 NOT NULL CHECK (measured OPERATOR(pg_catalog.>=) 0
		AND measured OPERATOR(pg_catalog.<) 'Infinity'),
	previous float8,
	prior float8,
	tablespace_name name NOT NULL,
	PRIMARY KEY (tier_name, calibrated_at, measurement)
);

CREATE FUNCTION _tiered_storage.measure_device(
	tablespace_oid oid, max_seconds float8, max_bytes bigint, reserve_fraction float8,
	compressed boolean, parallelism float8, sample_relation oid,
	OUT measurement text, OUT value float8, OUT unit text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_measure_device';
COMMENT ON FUNCTION
_tiered_storage.measure_device(oid, float8, bigint, float8, boolean, float8, oid) IS
'measures reads, writes and syncs with a scratch file in a tablespace; see calibrate_tier()';

/*
 * The device profile nearest to the measured figures, and how they contradict the given
 * profile; contradiction is null if they do not.
 *
 * Random reads distinguish devices best, so they weigh most.  A figure that differs by
 * more than a factor of five does not come from a device of the same kind.
 */
CREATE FUNCTION _tiered_storage.calibration_verdict(
	profile text, random_read_ms float8, sequential_read_mb_per_s float8,
	OUT nearest_profile text, OUT contradiction text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	WITH compared AS (
		SELECT q.*,
			abs(ln(q.random_read_ms / calibration_verdict.random_read_ms)) AS random_distance,
			abs(ln(q.sequential_read_mb_per_s / calibration_verdict.sequential_read_mb_per_s))
				AS sequential_distance
		FROM _tiered_storage.device_profiles() q
		WHERE q.profile = calibration_verdict.profile OR q.profile = ANY (
			'{memory,nvme,sata_ssd,cloud_gp3,cloud_st1,hdd_15k,hdd_7200}')),
	nearest AS (
		SELECT c.profile FROM compared c ORDER BY c.random_distance + c.sequential_distance / 4,
			c.profile LIMIT 1)
	SELECT n.profile, CASE WHEN n.profile <> c.profile THEN NULLIF(concat_ws(' ',
		CASE WHEN c.random_distance > ln(5) THEN format('A random read takes %s ms, not %s.',
			round(calibration_verdict.random_read_ms::numeric, 3), c.random_read_ms) END,
		CASE WHEN c.sequential_distance > ln(5)
			THEN format('Sequential reads reach %s MB/s, not %s.',
			round(calibration_verdict.sequential_read_mb_per_s::numeric, 1),
			c.sequential_read_mb_per_s) END), '') END
	FROM nearest n LEFT JOIN compared c ON c.profile = calibration_verdict.profile
$$;

/*
 * Stores the measured figures of a tier and deletes all but its last ten calibrations.
 *
 * The figures that were not measured stay unchanged.
 */
CREATE FUNCTION _tiered_storage.calibration_store(name name, figures jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t _tiered_storage.tier;
BEGIN
	SELECT * INTO t FROM _tiered_storage.tier x WHERE x.tier_name = calibration_store.name
		FOR NO KEY UPDATE;
	PERFORM _tiered_storage.tier_overwrite(jsonb_populate_record(t, figures), false);
	DELETE FROM _tiered_storage.tier_calibration x
		WHERE x.tier_name = calibration_store.name AND x.calibrated_at < (
			SELECT min(k.calibrated_at) FROM (SELECT DISTINCT y.calibrated_at
				FROM _tiered_storage.tier_calibration y WHERE y.tier_name = calibration_store.name
				ORDER BY 1 DESC LIMIT 10) k);
END
$$;

/*
 * Raises a warning if the measured figures contradict the profile of the tier, or the order of
 * the tiers.
 */
CREATE FUNCTION _tiered_storage.calibration_warn(t _tiered_storage.tier, figures jsonb)
RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	verdict record;
	other record;
BEGIN
	SELECT * INTO verdict FROM _tiered_storage.calibration_verdict(t.profile,
		(figures ->> 'random_read_ms')::float8, (figures ->> 'sequential_read_mb_per_s')::float8);
	IF verdict.contradiction IS NOT NULL THEN
		RAISE WARNING 'measurement contradicts profile "%" of tier "%"', t.profile, t.tier_name
			USING DETAIL = verdict.contradiction,
				HINT = pg_catalog.format('It is more like "%s". A cache in the device or a limit '
					'of a virtual machine can be the reason.', verdict.nearest_profile);
	END IF;
	/* Ranks say which tier is the faster one; so do the figures. */
	FOR other IN
		SELECT o.tier_name, o.rank, o.random_read_ms,
			(figures ->> 'random_read_ms')::float8 AS measured_ms,
			EXISTS (SELECT FROM _tiered_storage.tier_calibration c
				WHERE c.tier_name = o.tier_name) AS is_measured
		FROM _tiered_storage.tier o
		WHERE o.tier_name <> t.tier_name AND o.compressed = t.compressed
			AND CASE WHEN o.rank < t.rank
				THEN o.random_read_ms > (figures ->> 'random_read_ms')::float8 * 1.5
				WHEN o.rank > t.rank
				THEN o.random_read_ms * 1.5 < (figures ->> 'random_read_ms')::float8 END
		ORDER BY o.rank
	LOOP
		RAISE WARNING 'measurement contradicts the order of the tiers: "%" is %, but has rank %, '
			'and "%" has rank %', t.tier_name,
			CASE WHEN other.rank < t.rank THEN 'faster' ELSE 'slower' END, t.rank,
			other.tier_name, other.rank
			USING DETAIL = pg_catalog.format(
				'A random read takes %s ms there, and %s ms on "%s"%s.',
				round(other.measured_ms::numeric, 3), round(other.random_read_ms::numeric, 3),
				other.tier_name, CASE WHEN other.is_measured THEN ''
					ELSE ', which has not been calibrated' END),
				HINT = CASE WHEN other.is_measured THEN pg_catalog.format(
					'If that is what the devices can do, SELECT tiered_storage.alter_tier(%L, '
					'rank => %s), tiered_storage.alter_tier(%L, rank => %s); if not, calibrate '
					'both while nothing else uses them.',
					t.tier_name, other.rank, other.tier_name, t.rank)
				ELSE pg_catalog.format('Calibrate the other one, too: SELECT * FROM '
					'tiered_storage.calibrate_tier(%L).', other.tier_name) END;
	END LOOP;
END
$$;

/*
 * What the last ten calls of calibrate_tier() that measured the WAL have found.
 *
 * Describes this machine, as tier_calibration does.
 */
CREATE TABLE _tiered_storage.wal_calibration
(
	calibrated_at timestamptz NOT NULL,
	method text NOT NULL,
	write_ms float8 NOT NULL CHECK (write_ms OPERATOR(pg_catalog.>) 0
		AND write_ms OPERATOR(pg_catalog.<) 'Infinity'),
	error_ms float8 NOT NULL CHECK (error_ms OPERATOR(pg_catalog.>=) 0
		AND error_ms OPERATOR(pg_catalog.<) 'Infinity'),
	writes bigint NOT NULL,
	path text NOT NULL,
	device text,
	PRIMARY KEY (calibrated_at, method)
);

/* Measures each wal_sync_method with a scratch file in pg_wal. */
CREATE FUNCTION _tiered_storage.measure_wal_sync(
	max_seconds float8, max_bytes bigint,
	OUT method text, OUT write_ms float8, OUT error_ms float8, OUT writes bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_measure_wal_sync';

/*
 * Measures each wal_sync_method, and keeps the results if asked to.
 *
 * Where pg_wal has no room, or does not let itself be measured, the tier is measured all the same.
 */
CREATE FUNCTION _tiered_storage.calibrate_wal(max_seconds float8, max_bytes bigint, keep boolean,
	at timestamptz, OUT method text, OUT write_ms float8, OUT previous_ms float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	m record;
	place record;
BEGIN
	SELECT d.path, d.device INTO place FROM _tiered_storage.server_directories() d
		WHERE d.directory = 'pg_wal';
	FOR m IN
		SELECT x.*, (SELECT c.write_ms FROM _tiered_storage.wal_calibration c
			WHERE c.method = x.method ORDER BY c.calibrated_at DESC LIMIT 1) AS before
		FROM _tiered_storage.measure_wal_sync(calibrate_wal.max_seconds,
			calibrate_wal.max_bytes) x
		WHERE x.method = ANY ((SELECT s.enumvals FROM pg_settings s
			WHERE s.name = 'wal_sync_method')::text[])
		ORDER BY x.write_ms
	LOOP
		method := m.method;
		write_ms := m.write_ms;
		previous_ms := m.before;
		IF keep THEN
			INSERT INTO _tiered_storage.wal_calibration
				VALUES (calibrate_wal.at, m.method, m.write_ms, m.error_ms, m.writes, place.path,
					place.device);
		END IF;
		RETURN NEXT;
	END LOOP;
	DELETE FROM _tiered_storage.wal_calibration x
		WHERE keep AND x.calibrated_at < (SELECT min(k.calibrated_at)
			FROM (SELECT DISTINCT y.calibrated_at FROM _tiered_storage.wal_calibration y
				ORDER BY 1 DESC LIMIT 10) k);
EXCEPTION WHEN insufficient_resources OR system_error OR insufficient_privilege
	OR invalid_parameter_value THEN
	RAISE WARNING 'wal_sync_method was not measured: %', SQLERRM;
END
$$;

CREATE FUNCTION tiered_storage.calibrate_tier(
	name name,
	max_seconds float8 DEFAULT 20,
	max_bytes bigint DEFAULT 268435456,
	dry_run boolean DEFAULT false,
	OUT measurement text, OUT unit text, OUT prior numeric, OUT previous numeric,
	OUT measured numeric)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
#variable_conflict use_column
DECLARE
	t _tiered_storage.tier;
	prior_figures jsonb;
	spc record;
	m record;
	has_wal boolean;
	sample_oid oid := 0;
	now_at timestamptz := pg_catalog.clock_timestamp();
	figures jsonb;
BEGIN
	IF calibrate_tier.name IS NULL OR calibrate_tier.max_seconds IS NULL
		OR calibrate_tier.max_bytes IS NULL OR calibrate_tier.dry_run IS NULL THEN
		PERFORM _tiered_storage.refuse('null_value_not_allowed',
			'arguments of calibrate_tier() must not be null');
	END IF;
	t := _tiered_storage.tier_require(calibrate_tier.name);
	/*
	 * The scratch file is where most is free.  Free bytes of one file system may differ between
	 * two looks at it, hence the maximum.
	 */
	SELECT tt.tablespace_oid, tt.tablespace_name INTO spc
		FROM _tiered_storage.tier_tablespaces tt
		JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid
		WHERE tt.tier_name = t.tier_name
		ORDER BY d.path_exists AND d.writable DESC,
			max(d.free_bytes) OVER (PARTITION BY d.file_system_id) DESC NULLS LAST,
			tt.tablespace_name LIMIT 1;
	IF NOT FOUND THEN
		PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			format('tier "%s" has no tablespace', t.tier_name),
			hint => 'Give it one with tiered_storage.alter_tier().');
	END IF;
	IF t.compressed THEN
		/* As compressible as the largest table of this database. */
		sample_oid := COALESCE((SELECT r.relation_oid FROM _tiered_storage.relation_state r
			WHERE r.kind IN ('r', 'm', 't') AND r.size_bytes > 0
			ORDER BY r.size_bytes DESC LIMIT 1), 'pg_catalog.pg_proc'::regclass);
	END IF;

	/* The WAL is measured with its tier, or with any if it is on none. */
	has_wal := EXISTS (SELECT FROM _tiered_storage.directory_tiers() d
		WHERE d.directory = 'pg_wal' AND COALESCE(d.tier_name, t.tier_name) = t.tier_name);
	prior_figures := (SELECT pg_catalog.to_jsonb(q) FROM _tiered_storage.device_profiles() q
		WHERE q.profile = t.profile);
	FOR m IN
		SELECT * FROM _tiered_storage.measure_device(spc.tablespace_oid,
			calibrate_tier.max_seconds * CASE WHEN has_wal AND max_seconds > 0
				THEN 0.8 ELSE 1 END,
			calibrate_tier.max_bytes, t.reserve_fraction, t.compressed, t.parallelism, sample_oid)
	LOOP
		measurement := m.measurement;
		unit := m.unit;
		measured := _tiered_storage.readable(m.value);
		prior := (prior_figures ->> m.measurement)::numeric;
		previous := _tiered_storage.readable(
			(pg_catalog.to_jsonb(t) ->> m.measurement)::float8);
		IF NOT dry_run THEN
			INSERT INTO _tiered_storage.tier_calibration
					(tier_name, calibrated_at, measurement, unit, measured, previous, prior,
						tablespace_name)
				VALUES (t.tier_name, now_at, measurement, unit, m.value,
					(pg_catalog.to_jsonb(t) ->> m.measurement)::float8, prior,
					spc.tablespace_name);
		END IF;
		IF pg_catalog.to_jsonb(t) ? m.measurement THEN
			figures := COALESCE(figures, '{}')
				|| pg_catalog.jsonb_build_object(measurement, m.value);
		END IF;
		RETURN NEXT;
	END LOOP;

	PERFORM _tiered_storage.calibration_warn(t, figures);
	IF NOT dry_run THEN
		PERFORM _tiered_storage.calibration_store(t.tier_name, figures);
	END IF;
	IF has_wal THEN
		FOR m IN
			SELECT w.* FROM _tiered_storage.calibrate_wal(calibrate_tier.max_seconds * 0.2,
				LEAST(calibrate_tier.max_bytes, 67108864), NOT dry_run, now_at) w
		LOOP
			measurement := 'pg_wal ' || m.method;
			unit := 'ms';
			prior := NULL;
			previous := _tiered_storage.readable(m.previous_ms);
			measured := _tiered_storage.readable(m.write_ms);
			RETURN NEXT;
		END LOOP;
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.calibrate_tier IS
'measures the devices of a tier with a scratch file of at most max_bytes in about max_seconds, '
'and stores the results as figures of the tier unless dry_run is set; on the tier of pg_wal, '
'also measures durable writes by wal_sync_method';
