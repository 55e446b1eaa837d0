---------------------------------------------------------------------------
-- Calibration: measuring the devices of a tier, and the planner settings that fit.
---------------------------------------------------------------------------

/*
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
COMMENT ON TABLE _tiered_storage.tier_calibration IS
'results of the last ten calibrations of each tier, with the figures that the tier had before '
'and those of its device profile';

CREATE VIEW tiered_storage.tier_calibration AS
	SELECT c.tier_name, c.calibrated_at, c.measurement, c.unit, c.measured, c.previous, c.prior,
		c.tablespace_name
	FROM _tiered_storage.tier_calibration c;
COMMENT ON VIEW tiered_storage.tier_calibration IS
'results of the last ten calibrations of each tier, with the figures that the tier had before '
'and those of its device profile';
COMMENT ON COLUMN tiered_storage.tier_calibration.tier_name IS 'name of the tier';
COMMENT ON COLUMN tiered_storage.tier_calibration.calibrated_at IS 'time of the measurement';
COMMENT ON COLUMN tiered_storage.tier_calibration.measurement IS
'what was measured: the name of a figure in the view tiers, or another result of calibrate_tier()';
COMMENT ON COLUMN tiered_storage.tier_calibration.unit IS 'unit of measured, previous and prior';
COMMENT ON COLUMN tiered_storage.tier_calibration.measured IS 'measured value';
COMMENT ON COLUMN tiered_storage.tier_calibration.previous IS
'value that the tier had before; null: it had none, or the measurement is no figure of a tier';
COMMENT ON COLUMN tiered_storage.tier_calibration.prior IS
'value in the device profile of the tier; null: the profile has none';
COMMENT ON COLUMN tiered_storage.tier_calibration.tablespace_name IS
'tablespace in which the scratch file was written';

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
 * Random reads distinguish devices best, so they weigh most.  A figure that differs by
 * more than a factor of five does not come from a device of the same kind.
 */
CREATE FUNCTION _tiered_storage.calibration_verdict(
	profile text, random_read_ms float8, sequential_read_mb_per_s float8,
	OUT nearest_profile text, OUT contradiction text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH compared AS (
		SELECT q.*,
			abs(ln(q.random_read_ms / calibration_verdict.random_read_ms)) AS random_distance,
			abs(ln(q.sequential_read_mb_per_s / calibration_verdict.sequential_read_mb_per_s))
				AS sequential_distance
		FROM tiered_storage.device_profiles() q),
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
COMMENT ON FUNCTION _tiered_storage.calibration_verdict(text, float8, float8) IS
'the device profile nearest to the measured figures, and how they contradict the given profile; '
'contradiction is null if they do not';

CREATE FUNCTION _tiered_storage.calibration_tablespace(tier name, OUT tablespace_oid oid,
	OUT tablespace_name name)
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	/* Free bytes of one file system may differ between two looks at it, hence the maximum. */
	SELECT tt.tablespace_oid, tt.tablespace_name
		INTO calibration_tablespace.tablespace_oid, calibration_tablespace.tablespace_name
		FROM _tiered_storage.tier_tablespaces tt
		JOIN tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid
		WHERE tt.tier_name = calibration_tablespace.tier
		ORDER BY d.path_exists AND d.writable DESC,
			max(d.free_bytes) OVER (PARTITION BY d.file_system_id) DESC NULLS LAST,
			tt.tablespace_name LIMIT 1;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'tier "%" has no tablespace', tier
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Give it one with tiered_storage.alter_tier(name, tablespaces => ...).';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.calibration_tablespace(name) IS
'the tablespace for the scratch file of a calibration: the writable one with the most free space';

/* The figures that were not measured stay unchanged. */
CREATE FUNCTION _tiered_storage.calibration_store(name name, figures jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	UPDATE _tiered_storage.tier x SET
			random_read_ms = COALESCE((figures ->> 'random_read_ms')::float8, x.random_read_ms),
			random_write_ms = COALESCE((figures ->> 'random_write_ms')::float8, x.random_write_ms),
			sequential_read_mb_per_s = COALESCE((figures ->> 'sequential_read_mb_per_s')::float8,
				x.sequential_read_mb_per_s),
			sequential_write_mb_per_s = COALESCE((figures ->> 'sequential_write_mb_per_s')::float8,
				x.sequential_write_mb_per_s),
			scan_start_ms = COALESCE((figures ->> 'scan_start_ms')::float8, x.scan_start_ms),
			fsync_ms = COALESCE((figures ->> 'fsync_ms')::float8, x.fsync_ms),
			parallelism = COALESCE((figures ->> 'parallelism')::float8, x.parallelism)
		WHERE x.tier_name = calibration_store.name;
	DELETE FROM _tiered_storage.tier_calibration x
		WHERE x.tier_name = calibration_store.name AND x.calibrated_at < (
			SELECT min(k.calibrated_at) FROM (SELECT DISTINCT y.calibrated_at
				FROM _tiered_storage.tier_calibration y WHERE y.tier_name = calibration_store.name
				ORDER BY 1 DESC LIMIT 10) k);
END
$$;
COMMENT ON FUNCTION _tiered_storage.calibration_store(name, jsonb) IS
'stores the measured figures of a tier and deletes all but its last ten calibrations';

CREATE FUNCTION _tiered_storage.calibration_warn(t _tiered_storage.tier, figures jsonb)
RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
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
COMMENT ON FUNCTION _tiered_storage.calibration_warn(_tiered_storage.tier, jsonb) IS
'raises a warning if the measured figures contradict the profile of the tier, or the order of the '
'tiers';

CREATE FUNCTION tiered_storage.calibrate_tier(
	name name,
	max_seconds float8 DEFAULT 20,
	max_bytes bigint DEFAULT 268435456,
	dry_run boolean DEFAULT false,
	OUT measurement text, OUT unit text, OUT prior float8, OUT previous float8,
	OUT measured float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin SET extra_float_digits = 1
AS $$
#variable_conflict use_column
DECLARE
	t _tiered_storage.tier;
	prior_figures jsonb;
	spc record;
	m record;
	sample_oid oid := 0;
	now_at timestamptz := pg_catalog.clock_timestamp();
	figures jsonb;
BEGIN
	IF calibrate_tier.name IS NULL OR calibrate_tier.max_seconds IS NULL
		OR calibrate_tier.max_bytes IS NULL OR calibrate_tier.dry_run IS NULL THEN
		RAISE EXCEPTION 'arguments of calibrate_tier() must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	t := _tiered_storage.tier_require(calibrate_tier.name);
	spc := _tiered_storage.calibration_tablespace(t.tier_name);
	IF t.compressed THEN
		/* As compressible as the largest table of this database. */
		sample_oid := COALESCE((SELECT r.relation_oid FROM _tiered_storage.relation_state r
			WHERE r.kind IN ('r', 'm', 't') AND r.size_bytes > 0
			ORDER BY r.size_bytes DESC LIMIT 1), 'pg_catalog.pg_proc'::regclass);
	END IF;

	prior_figures := (SELECT pg_catalog.to_jsonb(q) FROM tiered_storage.device_profiles() q
		WHERE q.profile = t.profile);
	FOR m IN
		SELECT * FROM _tiered_storage.measure_device(spc.tablespace_oid,
			calibrate_tier.max_seconds,
			calibrate_tier.max_bytes, t.reserve_fraction, t.compressed, t.parallelism, sample_oid)
	LOOP
		measurement := m.measurement;
		unit := m.unit;
		measured := m.value;
		prior := (prior_figures ->> m.measurement)::float8;
		previous := (pg_catalog.to_jsonb(t) ->> m.measurement)::float8;
		IF NOT dry_run THEN
			INSERT INTO _tiered_storage.tier_calibration
					(tier_name, calibrated_at, measurement, unit, measured, previous, prior,
						tablespace_name)
				VALUES (t.tier_name, now_at, measurement, unit, measured, previous, prior,
					spc.tablespace_name);
		END IF;
		IF pg_catalog.to_jsonb(t) ? m.measurement THEN
			figures := COALESCE(figures, '{}')
				|| pg_catalog.jsonb_build_object(measurement, measured);
		END IF;
		RETURN NEXT;
	END LOOP;

	PERFORM _tiered_storage.calibration_warn(t, figures);
	IF NOT dry_run THEN
		PERFORM _tiered_storage.calibration_store(t.tier_name, figures);
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.calibrate_tier(name, float8, bigint, boolean) IS
'measures the devices of a tier with a scratch file of at most max_bytes in about max_seconds, '
'and stores the results as figures of the tier unless dry_run is set; returns them beside the '
'previous figures and those of the profile';

/*
 * The planner needs the average cost of a page read at random relative to one read
 * sequentially.  The server's default of 4 stands for a disk that is 40 times slower at
 * random, with nine of ten reads found in memory.  The same rule gives the other costs,
 * with two limits: a backend needs 5 us for a page however fast it arrives, and above 10
 * no plan gets better.
 */
CREATE FUNCTION tiered_storage.recommend_settings(
	OUT tier_name name, OUT tablespace_name name, OUT setting text,
	OUT current_value text, OUT recommended_value text, OUT calibrated_at timestamptz,
	OUT reason text, OUT command text)
RETURNS SETOF record
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
				format('the device serves %s requests at once', round(c.parallelism::numeric, 1)))
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
		format('ALTER TABLESPACE %I SET (%s = %s);', c.tablespace_name, c.setting, c.value)
	FROM compared c
	WHERE c.current_value::numeric <> c.value::numeric
	ORDER BY c.tier_name, c.tablespace_name, c.setting
$$;
COMMENT ON FUNCTION tiered_storage.recommend_settings() IS
'planner settings of each tablespace that do not fit the figures of its tier, the recommended '
'values, and the statements that set them; changes nothing';
