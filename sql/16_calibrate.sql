-- Calibration: what is measured, what becomes of it, what is refused. No figure
-- of this machine appears.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
SET client_min_messages = error;
CREATE TABLESPACE calibrate_a LOCATION '';
CREATE TABLESPACE calibrate_b LOCATION '';
SELECT tiered_storage.add_tier('measured', '{calibrate_a,calibrate_b}', profile => 'hdd_7200', reserve_fraction => 0);

-- What it shows. With a dry run nothing changes.
CREATE TEMP TABLE shown AS
	SELECT * FROM tiered_storage.calibrate_tier('measured', max_seconds => 0.5, max_bytes => 8388608, dry_run => true);
SELECT measurement, unit, prior, previous, measured > 0 AS has_value
FROM shown
WHERE measurement NOT IN ('parallelism', 'random_write_ms', 'checkpoint_write_ms', 'read_iops_depth_32',
	'past the page cache') AND measurement NOT LIKE 'pg_wal %'
ORDER BY measurement COLLATE "C";
SELECT count(*) AS remembered FROM _tiered_storage.tier_calibration;
SELECT random_read_ms, sequential_read_mb_per_s, fsync_ms FROM _tiered_storage.tiers WHERE tier_name = 'measured';

-- Rates and times are those of the same measurement, with three digits.
SELECT abs(i.measured * r.measured - 1000) < 11 AS consistent
FROM shown i, shown r WHERE i.measurement = 'read_iops_depth_1' AND r.measurement = 'random_read_ms';

-- A page that a checkpoint writes takes no longer than it took, and no longer than one alone.
SELECT w.measured <= c.measured * COALESCE((SELECT p.measured FROM shown p
	WHERE p.measurement = 'parallelism'), 1) * 1.02 AS as_checkpoints
FROM shown w, shown c WHERE w.measurement = 'random_write_ms' AND c.measurement = 'checkpoint_write_ms';

-- The file is within its limit, and gone.
SELECT measured <= 8388608 AS within_limit FROM shown WHERE measurement = 'scratch_file_bytes';
CREATE FUNCTION scratch_files() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM pg_tablespace s, pg_ls_tmpdir(s.oid) f
		WHERE s.spcname IN ('calibrate_a', 'calibrate_b', 'pg_default') AND f.name LIKE '%calibration%'
$$;
SELECT scratch_files();

-- The tier takes the figures, what they were is remembered.
SELECT count(*) > 6 AS measured FROM tiered_storage.calibrate_tier('measured', max_seconds => 0.5,
	max_bytes => 8388608);
SELECT t.random_read_ms = r.measured AS random_read, t.sequential_read_mb_per_s = s.measured AS sequential_read,
	t.fsync_ms = f.measured AS fsync,
	r.previous AS random_read_before, f.prior AS fsync_prior, t.profile
FROM _tiered_storage.tiers t, _tiered_storage.tier_calibration r, _tiered_storage.tier_calibration s,
	_tiered_storage.tier_calibration f
WHERE t.tier_name = 'measured' AND r.measurement = 'random_read_ms' AND s.measurement = 'sequential_read_mb_per_s'
	AND f.measurement = 'fsync_ms';
SELECT count(*) > 6 AS again FROM tiered_storage.calibrate_tier('measured', max_seconds => 0.5, max_bytes => 8388608);
SELECT count(*) AS times, bool_and(a.previous = b.measured) AS previous_is_the_one_before
FROM _tiered_storage.tier_calibration a JOIN _tiered_storage.tier_calibration b USING (tier_name, measurement)
WHERE a.calibrated_at > b.calibrated_at AND measurement = 'random_read_ms';

-- No more than ten are kept.
-- Made up, since no call makes it in the time of a test: what devices were measured to do.
INSERT INTO _tiered_storage.tier_calibration
	SELECT 'measured', '2001-01-01 UTC'::timestamptz + i * interval '1 day', 'random_read_ms', 'ms', i, NULL, NULL,
		'calibrate_a' FROM generate_series(1, 20) i;
SELECT count(*) > 6 AS once_more FROM tiered_storage.calibrate_tier('measured', max_seconds => 0.5,
	max_bytes => 8388608);
SELECT count(DISTINCT calibrated_at) AS kept, min(calibrated_at) AT TIME ZONE 'UTC' AS oldest
	FROM _tiered_storage.tier_calibration;

-- A device that is nothing like its profile, and one that is.
SELECT v.* FROM (VALUES ('hdd_7200', 12.4, 150), ('hdd_7200', 3, 35), ('hdd_7200', 0.1, 150), ('hdd_7200', 12, 29),
	('nvme', 0.1, 900),
	('nvme', 8, 120), ('sata_ssd', 0.1, 6000), ('custom', 8, 120)) f (profile, random_ms, mb)
	CROSS JOIN LATERAL _tiered_storage.calibration_verdict(f.profile, f.random_ms, f.mb) v;

-- Compressed: with pages of the database's own.
SELECT tiered_storage.add_tier('slowest', '{pg_default}', profile => 'cloud_st1', reserve_fraction => 0,
	device => '{"compressed": true}');
SELECT measured AS past_the_page_cache FROM tiered_storage.calibrate_tier('slowest', max_seconds => 0.5,
	max_bytes => 8388608) WHERE measurement = 'past the page cache';
SELECT tiered_storage.remove_tier('slowest');

-- Removing a tier forgets what was measured of it; renaming does not.
SELECT tiered_storage.alter_tier('measured', new_name => 'known');
SELECT count(DISTINCT calibrated_at) FROM _tiered_storage.tier_calibration WHERE tier_name = 'known';

-- What is refused, and changes nothing.
\set VERBOSITY default
SELECT tiered_storage.calibrate_tier('nowhere');
SELECT tiered_storage.calibrate_tier(NULL);
SELECT tiered_storage.calibrate_tier('known', max_seconds => NULL);
SELECT tiered_storage.calibrate_tier('known', max_seconds => 0);
SELECT tiered_storage.calibrate_tier('known', max_seconds => -1);
SELECT tiered_storage.calibrate_tier('known', max_seconds => 'NaN');
SELECT tiered_storage.calibrate_tier('known', max_seconds => 'Infinity');
SELECT tiered_storage.calibrate_tier('known', max_bytes => 0);
SELECT tiered_storage.calibrate_tier('known', max_bytes => -8388608);
\set VERBOSITY terse
SELECT tiered_storage.calibrate_tier('known', max_bytes => 9223372036854775807);
SELECT _tiered_storage.measure_device(1664, 1, 8388608, 0, false, 1, 0);
SELECT _tiered_storage.measure_device(4, 1, 8388608, 0, false, 1, 0);
SELECT count(DISTINCT calibrated_at) FROM _tiered_storage.tier_calibration;

-- What the planner should know.
SELECT tiered_storage.alter_tier('known',
	device => '{"random_read_ms": 12.4, "sequential_read_mb_per_s": 150, "parallelism": 1}');
SELECT tiered_storage.add_tier('fast', '{pg_default}', price_per_gb_month => 1,
	device => '{"random_read_ms": 0.1, "random_write_ms": 0.1, "sequential_read_mb_per_s": 500,
	"sequential_write_mb_per_s": 500, "fsync_ms": 1, "parallelism": 32}');
SET random_page_cost = 4;
SET seq_page_cost = 1;
SET effective_io_concurrency = 1;
SET maintenance_io_concurrency = 10;
SELECT tier_name, tablespace_name, setting, current_value, recommended_value, calibrated_at IS NULL AS by_profile,
	command
FROM _tiered_storage.recommend_settings();
SELECT reason FROM _tiered_storage.recommend_settings() WHERE tier_name = 'fast';
ALTER TABLESPACE calibrate_a SET (random_page_cost = 10, seq_page_cost = 1.23);
SELECT tablespace_name, setting, current_value, recommended_value FROM _tiered_storage.recommend_settings()
	WHERE tier_name = 'known';

-- Nobody but who is allowed to.
CREATE ROLE calibrate_nobody;
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO calibrate_nobody;
SET ROLE calibrate_nobody;
SELECT tiered_storage.calibrate_tier('known');
SELECT _tiered_storage.measure_device(1663, 1, 8388608, 0, false, 1, 0);
SELECT * FROM _tiered_storage.recommend_settings();
RESET ROLE;
-- Nor an administrator who may not create in the tablespace: the scratch file takes its room.
GRANT EXECUTE ON FUNCTION tiered_storage.calibrate_tier TO calibrate_nobody;
SET ROLE calibrate_nobody;
SELECT tiered_storage.calibrate_tier('known', 0.1, 8388608, dry_run => true);
RESET ROLE;
GRANT CREATE ON TABLESPACE calibrate_a, calibrate_b TO calibrate_nobody;
SET ROLE calibrate_nobody;
SELECT DISTINCT unit FROM tiered_storage.calibrate_tier('known', 0.1, 8388608, dry_run => true) WHERE unit = 'MB/s';
RESET ROLE;
-- Nor through what a superuser evaluates as the owner: he has the right, the owner may not.
CREATE MATERIALIZED VIEW calibrate_view AS
	SELECT unit FROM tiered_storage.calibrate_tier('known', 0.1, 8388608, dry_run => true) WITH NO DATA;
ALTER MATERIALIZED VIEW calibrate_view OWNER TO calibrate_nobody;
REFRESH MATERIALIZED VIEW calibrate_view;
DROP MATERIALIZED VIEW calibrate_view;
REVOKE CREATE ON TABLESPACE calibrate_a, calibrate_b FROM calibrate_nobody;
REVOKE EXECUTE ON FUNCTION tiered_storage.calibrate_tier FROM calibrate_nobody;
REVOKE USAGE ON SCHEMA tiered_storage, _tiered_storage FROM calibrate_nobody;
DROP ROLE calibrate_nobody;
DROP EXTENSION tiered_storage;
DROP TABLESPACE calibrate_a;
DROP TABLESPACE calibrate_b;
