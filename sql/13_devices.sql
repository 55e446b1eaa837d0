-- Page cache, devices, heat by block range.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
CREATE TABLESPACE regress_ts_fast LOCATION '';
\set flush 'SELECT pg_stat_force_next_flush()'

---------------------------------------------------------------------------
-- block_heat(): exact numbers
---------------------------------------------------------------------------

-- 100 blocks of one row each.
CREATE TABLE regress_d (id int, t text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
ALTER TABLE regress_d ALTER t SET STORAGE PLAIN;
INSERT INTO regress_d SELECT i, repeat('x', 7000) FROM generate_series(0, 99) i;
CREATE INDEX regress_d_id ON regress_d (id);
VACUUM (FREEZE) regress_d;
CHECKPOINT;
-- Ranges are as equal as they can be, without a gap, and cover all of it.
SELECT bucket, first_block, last_block FROM tiered_storage.block_heat('regress_d', 7);
SELECT count(*) AS buckets, min(first_block), max(last_block), sum(last_block - first_block + 1) AS blocks
	FROM tiered_storage.block_heat('regress_d');
SELECT count(*) AS buckets FROM tiered_storage.block_heat('regress_d', 10000);
SELECT count(*) FILTER (WHERE h.first_block <> p.last_block + 1) AS gaps
	FROM generate_series(1, 120) n, LATERAL tiered_storage.block_heat('regress_d', n) h,
		LATERAL tiered_storage.block_heat('regress_d', n) p
	WHERE h.bucket = p.bucket + 1 AND n IN (1, 2, 3, 7, 33, 64, 99, 100, 120);
-- All of it was just written: it is in shared buffers, clean after the checkpoint.  An update of a row in the second
-- tenth makes that
-- block dirty, and adds one.
UPDATE regress_d SET id = -1 WHERE ctid = '(15,1)';
SELECT bucket, cached_buffers, dirty_buffers, usage_sum > 0 AS used, error
	FROM tiered_storage.block_heat('regress_d', 10) WHERE bucket IN (1, 2, 10);
SELECT abs(h.heat - h.expected) < 0.005 AS heat, h.heat > 0 AND h.heat <= 1 AS in_range
	FROM (SELECT max(heat) AS heat,
		max(CASE WHEN os_cached_bytes IS NULL THEN 1
			ELSE 0.75 END * (cached_buffers + usage_sum) / 6.0 / (last_block - first_block + 1)
			+ COALESCE(0.25 * os_cached_bytes / 8192.0 / (last_block - first_block + 1), 0))::float8 AS expected
		FROM tiered_storage.block_heat('regress_d', 1)) h;
-- A file just written is in the page cache, where that can be seen at all.
SELECT CASE WHEN os_cached_bytes IS NULL OR os_cached_bytes = pg_relation_size('regress_d') THEN 'unknown or all'
	ELSE os_cached_bytes::text END AS os_cached
	FROM tiered_storage.block_heat('regress_d', 1);
-- Without looking there, the heat is that of shared buffers alone.
SET tiered_storage.test_page_cache = off;
SELECT os_cached_bytes, abs(heat - (cached_buffers + usage_sum) / 6.0 / (last_block + 1)) < 0.005 AS heat
	FROM tiered_storage.block_heat('regress_d', 1);
\set ECHO none
RESET tiered_storage.test_page_cache;
-- Indexes, TOAST, materialized views, catalogs; nothing for what is empty.
CREATE TABLE regress_d_toast (t text);
ALTER TABLE regress_d_toast ALTER t SET STORAGE EXTERNAL;
INSERT INTO regress_d_toast VALUES (repeat('x', 100000));
SELECT reltoastrelid AS toast FROM pg_class WHERE oid = 'regress_d_toast'::regclass \gset
CREATE MATERIALIZED VIEW regress_d_mv AS SELECT 1 AS a;
CREATE UNLOGGED TABLE "regress_d Quoted" (a int);
INSERT INTO "regress_d Quoted" VALUES (1);
CREATE TABLE regress_d_empty (a int);
\set ECHO all
SELECT bucket, first_block, last_block, cached_buffers FROM tiered_storage.block_heat('regress_d_id', 1);
SELECT bucket, first_block, last_block, cached_buffers FROM tiered_storage.block_heat(:toast, 1);
SELECT bucket, first_block, last_block, cached_buffers FROM tiered_storage.block_heat('regress_d_mv');
SELECT bucket, first_block, last_block, cached_buffers FROM tiered_storage.block_heat('"regress_d Quoted"');
SELECT bucket, first_block, cached_buffers > 0 AS cached FROM tiered_storage.block_heat('pg_class', 1);
SELECT * FROM tiered_storage.block_heat('regress_d_empty');
-- No lock stays.
BEGIN;
SELECT count(*) FROM tiered_storage.block_heat('regress_d');
SELECT count(*) AS locks FROM pg_locks WHERE relation = 'regress_d'::regclass AND pid = pg_backend_pid();
COMMIT;

---------------------------------------------------------------------------
-- block_heat(): bad input
---------------------------------------------------------------------------

\set ECHO none
CREATE TABLE regress_d_p (a int) PARTITION BY RANGE (a);
CREATE INDEX regress_d_p_a ON regress_d_p (a);
CREATE VIEW regress_d_view AS SELECT 1 AS a;
CREATE SEQUENCE regress_d_sequence;
CREATE TEMP TABLE regress_d_temp (a int);
CREATE TYPE regress_d_type AS (a int);
CREATE FOREIGN DATA WRAPPER regress_fdw;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_fdw;
CREATE FOREIGN TABLE regress_d_foreign (a int) SERVER regress_server;
\set ECHO all
SELECT * FROM tiered_storage.block_heat(NULL);
SELECT * FROM tiered_storage.block_heat('regress_d', NULL);
SELECT * FROM tiered_storage.block_heat('regress_d', 0);
SELECT * FROM tiered_storage.block_heat('regress_d', -1);
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage.block_heat('regress_d', 10001)
SELECT * FROM tiered_storage.block_heat(4294967295)
SELECT * FROM tiered_storage.block_heat('regress_d_p')
$refused$);
\set ECHO all
SELECT * FROM tiered_storage.block_heat('regress_d_p_a');
SELECT * FROM tiered_storage.block_heat('regress_d_view');
SELECT * FROM tiered_storage.block_heat('regress_d_sequence');
SELECT * FROM tiered_storage.block_heat('regress_d_type'::regclass);
SELECT * FROM tiered_storage.block_heat('regress_d_foreign');
\set VERBOSITY sqlstate
SELECT * FROM tiered_storage.block_heat('regress_d_temp');
\set VERBOSITY default
SELECT * FROM tiered_storage.block_heat('pg_database');

---------------------------------------------------------------------------
-- Large shared buffers, by a sample
---------------------------------------------------------------------------

\set ECHO none
-- The headers of a quarter of the buffers, and what that makes of 1000 blocks: within five standard errors, which are
-- stated.
CREATE TABLE regress_d_large (t text) WITH (autovacuum_enabled = off);
ALTER TABLE regress_d_large ALTER t SET STORAGE PLAIN;
INSERT INTO regress_d_large SELECT repeat('x', 7000) FROM generate_series(1, 1000);
CHECKPOINT;
CREATE FUNCTION regress_cached() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT cached_buffers FROM tiered_storage.block_heat('regress_d_large', 1));
END
$$;
SELECT (setting::bigint / 4)::text AS quarter FROM pg_settings WHERE name = 'shared_buffers' \gset
SELECT cached_buffers AS exact, usage_sum AS exact_usage
	FROM tiered_storage.block_heat('regress_d_large', 1) \gset
\set ECHO all
SELECT :exact = 1000 AS all_of_it;
SET tiered_storage.test_buffer_scan_limit = :quarter;
SELECT abs(cached_buffers - :exact) <= 5 * error AS within, abs(error - sqrt(cached_buffers * 3)) < 1 AS stated,
	dirty_buffers, abs(usage_sum - :exact_usage) <= 25 * error AS usage_within
	FROM tiered_storage.block_heat('regress_d_large', 1);
SELECT abs(sum(cached_buffers) - :exact) <= 5 * sqrt(sum(error ^ 2)) AS within, bool_and(error > 0)
	AS stated, bool_and(heat BETWEEN 0 AND 1) AS heat
	FROM tiered_storage.block_heat('regress_d_large', 10);
-- The same buffers each time; but those of twenty limits differ, and the mean is right to within five of its standard
-- errors.
SELECT count(DISTINCT cached) = 1 AS same FROM (SELECT regress_cached() AS cached FROM generate_series(1, 5)) s;
SELECT count(DISTINCT cached) > 1 AS differ, abs(avg(cached) - :exact) <= 5 * sqrt(:exact * 3 / 20.0) AS unbiased
	FROM (SELECT set_config('tiered_storage.test_buffer_scan_limit', (:quarter + i)::text, false), regress_cached()
		AS cached FROM generate_series(1, 20) i) s;
RESET tiered_storage.test_buffer_scan_limit;
SELECT cached_buffers, error FROM tiered_storage.block_heat('regress_d_large', 1);

---------------------------------------------------------------------------
-- Samples: the page cache
---------------------------------------------------------------------------

SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT CASE WHEN os_cached_fraction IS NULL OR os_cached_fraction = 1 THEN 'unknown or all'
	ELSE os_cached_fraction::text END AS os_cached
	FROM _tiered_storage.heat WHERE relation = 'regress_d'::regclass;
-- 100 random reads in an hour: all of them miss shared buffers, and those that the page cache has do not reach the
-- device.  Where the cache was not known in time, what is set here stays.
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - 100, random_fast = 0, maintained_at = NULL,
	device_random_fast = 0, os_cached_bytes = size_bytes
	WHERE relation_oid = 'regress_d'::regclass AND os_cached_bytes >= 0;
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - 100, random_fast = 0, maintained_at = NULL,
	device_random_fast = 100
	WHERE relation_oid = 'regress_d'::regclass AND os_cached_bytes < 0;
SET tiered_storage.test_now = '2030-01-01 01:00:00+00';
CALL tiered_storage.sample();
SELECT random_fast > 2.8 AS random, CASE WHEN os_cached_bytes < 0 THEN 'unknown or none'
	WHEN device_random_fast = 0 OR device_random_fast > random_fast THEN 'unknown or none' ELSE device_random_fast::text END AS device
	FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_d'::regclass;
-- Without looking at the page cache each of them does.
SET tiered_storage.test_page_cache = off;
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - 100, random_fast = 0, maintained_at = NULL,
	device_random_fast = 0, random_slow = 0, device_random_slow = 0
	WHERE relation_oid = 'regress_d'::regclass;
SET tiered_storage.test_now = '2030-01-01 02:00:00+00';
CALL tiered_storage.sample();
SELECT random_fast > 2.8 AS random, device_random_fast = random_fast AS device_fast, device_random_slow = random_slow
	AS device_slow, os_cached_bytes
	FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_d'::regclass;
SELECT os_cached_fraction, random_reads_per_hour = random_misses_per_hour AS same FROM _tiered_storage.heat
	WHERE relation = 'regress_d'::regclass;
-- An idle relation's row stays as it is.
SET tiered_storage.test_now = '2030-01-01 03:00:00+00';
CALL tiered_storage.sample();
SELECT xmin AS version FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_d'::regclass \gset
SET tiered_storage.test_now = '2030-01-01 04:00:00+00';
CALL tiered_storage.sample();
SELECT xmin = :'version' AS untouched FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_d'::regclass;
RESET tiered_storage.test_page_cache;

---------------------------------------------------------------------------
-- Devices
---------------------------------------------------------------------------

-- Each tablespace is on one device at most, and those of the view exist.
SELECT count(*) AS twice FROM (SELECT unnest(tablespaces) AS tablespace FROM _tiered_storage.device_io) d
	GROUP BY tablespace HAVING count(*) > 1;
SELECT count(*) AS strange FROM _tiered_storage.device_io d WHERE device NOT IN (SELECT device
	FROM _tiered_storage.tablespace_devices() WHERE device IS NOT NULL)
	OR tablespaces IS NULL OR busy_fraction NOT BETWEEN 0 AND 1 OR fit_residual < 0 OR reads_per_s < 0
		OR read_bytes_per_s < 0;
-- The fit, from its sums: y = x / 2; too little data; nothing at all; garbage.
SELECT v.*, f.factor, round(f.residual::numeric, 6) AS residual, f.explained
	FROM (VALUES (1, 4e18, 2e18, 1e18, 4.0), (2, 4e18, 2e18, 4e18, 4), (3, 4e6, 2e6, 1e6, 4), (4, 0, 0, 0, 0), (5, 0,
		0,
		1e18, 4), (6, 'NaN', '-Infinity', -1, 'Infinity')) v (n, xx, xy, yy, periods),
		_tiered_storage.device_fit(xx, xy, yy, periods) f ORDER BY n;
SELECT * FROM _tiered_storage.device_fit(NULL, 1, 1, 1);

---------------------------------------------------------------------------
-- Rights
---------------------------------------------------------------------------

CREATE ROLE regress_nobody;
CREATE ROLE regress_monitor IN ROLE pg_monitor;
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO regress_nobody;
SET ROLE regress_nobody;
\set VERBOSITY terse
SELECT * FROM tiered_storage.block_heat('regress_d');
SELECT * FROM _tiered_storage.device_io;
SELECT * FROM _tiered_storage.device_state;
SET tiered_storage.test_page_cache = off;
SET ROLE regress_monitor;
SELECT count(*) FROM tiered_storage.block_heat('regress_d');
SELECT 1 AS readable FROM (SELECT count(*) FROM _tiered_storage.device_io) d;
\set ECHO none
RESET ROLE;
\set VERBOSITY default

SET client_min_messages = warning;
DROP OWNED BY regress_nobody;
DROP EXTENSION tiered_storage;
DROP FUNCTION regress_cached;
DROP TABLE regress_d, regress_d_toast, "regress_d Quoted", regress_d_empty, regress_d_p, regress_d_large;
DROP MATERIALIZED VIEW regress_d_mv;
DROP VIEW regress_d_view;
DROP SEQUENCE regress_d_sequence;
DROP TYPE regress_d_type;
DROP SERVER regress_server CASCADE;
DROP FOREIGN DATA WRAPPER regress_fdw;
DROP TABLESPACE regress_ts_fast;
DROP ROLE regress_nobody, regress_monitor;
\set ECHO all
