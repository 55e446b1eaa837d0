-- No view and no function that answers with rows is wider than 120 columns in psql, with names of 24 characters,
-- terabytes, and rates of nine digits: rows are formatted by psql, and counted. All are found in the catalog.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = error;
CREATE TABLESPACE regress_wide_tablespace1 LOCATION '';
CREATE TABLESPACE regress_wide_tablespace2 LOCATION '' WITH (random_page_cost = 123.45, seq_page_cost = 12.34);
CREATE ROLE regress_wide_role_of_24c SUPERUSER;
SET ROLE regress_wide_role_of_24c;
SELECT tiered_storage.add_tier('regress_wide_tier_fast_1', '{regress_wide_tablespace1}', profile => 'cloud_pd_balanced',
	rank => 0, price_per_gb_month => 0.1234567, reserve_fraction => 0,
	device => '{"random_read_ms": 0.123456789, "endurance_tbw": 1}'),
	tiered_storage.add_tier('regress_wide_tier_slow_1', '{regress_wide_tablespace2}', profile => 'cloud_pd_standard',
	rank => 1000000, reserve_fraction => 0, device => '{"compressed": false}') \g /dev/null
CREATE TABLE regress_wide_table_24_ch (at timestamptz, filler text) TABLESPACE regress_wide_tablespace1;
INSERT INTO regress_wide_table_24_ch SELECT now(), repeat('x', 500) FROM generate_series(1, 1000);
CREATE TABLE regress_wide_table_24_c2 AS SELECT * FROM regress_wide_table_24_ch;
ALTER TABLE regress_wide_table_24_c2 SET TABLESPACE regress_wide_tablespace1;
CREATE INDEX regress_wide_index_hot24 ON regress_wide_table_24_ch (at) TABLESPACE regress_wide_tablespace2;
CREATE INDEX regress_wide_index_24_ch ON regress_wide_table_24_ch (at) TABLESPACE regress_wide_tablespace1;
ANALYZE regress_wide_table_24_ch, regress_wide_table_24_c2;
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('regress_wide_index_24_ch', 'regress_wide_tier_slow_1');
CALL tiered_storage.move_relation('regress_wide_table_24_c2', 'regress_wide_tier_slow_1');
SELECT tiered_storage.add_tiering_policy('regress_wide_table_24_ch', tier => 'regress_wide_tier_slow_1',
	idle_for => '1 year 2 mons 3 days', options => '{"below_reads_per_hour": 123456789, "no_writes_for": "100 days"}'),
	tiered_storage.add_fullness_policy('regress_wide_tier_fast_1', 'regress_wide_tier_slow_1'),
	tiered_storage.pin('regress_wide_table_24_c2', until => now() + interval '100 years'),
	tiered_storage.add_move_window('regress_wide_window_24ch', '{mon,tue,wed,thu,fri,sat}', '22:00', '24:00',
	'America/Argentina/Buenos_Aires', max_bytes => 999 * 1099511627776) \g /dev/null
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, the load of hours,
-- moves of another time, size or end, what a standby has told, rows as a dump or another machine has left them;
-- what devices were measured to do.
INSERT INTO _tiered_storage.standby VALUES ('regress_wide_standby_24c', 'host=x', CURRENT_USER, CURRENT_USER::regrole, now());
INSERT INTO _tiered_storage.standby_state VALUES ('regress_wide_standby_24c', now(), now(), now(), 999999, 999999999,
	999999999, repeat('an error of many words ', 20));
SET ROLE NONE;

-- As large as it gets.
UPDATE _tiered_storage.tier SET capacity_bytes = 999 * 2 ^ 40;
UPDATE _tiered_storage.sampler SET wal_since = now() - interval '300 days';
UPDATE _tiered_storage.relation_state SET size_bytes = 98 * 2 ^ 40, device_random_fast = 999999999,
	device_sequential_fast = 999999999, random_fast = 999999999, sequential_fast = 999999999, page_writes_fast = 999999999,
	changes_fast = 999999999, maintenance_writes_fast = 999999999, wal_bytes_fast = 999e12, image_bytes_fast = 999e12,
	tuples = 1e6, observed_since = now() - interval '300 days', sampled_since = now() - interval '300 days',
	last_used_at = now(), heat_at = now(), random_slow = 999999999, device_random_slow = 999999999,
	evidence_began_at = now() - interval '7 days', evidence_interval_s = 38400, proven_since = now() - interval '300 days',
	evidence_reads = decode(repeat('0000803f', 16), 'hex'), evidence_writes = decode(repeat('0000803f', 16), 'hex'),
	placed_at = NULL
	WHERE relation_oid IN (SELECT oid FROM pg_class WHERE relname ~ '^regress_wide_');
-- Something that should move, and a record of moves as long ago as that.
UPDATE _tiered_storage.relation_state SET size_bytes = 8192, device_random_fast = 12345, random_fast = 12345,
	random_slow = 12345, device_random_slow = 12345, device_sequential_fast = 0, sequential_fast = 0, page_writes_fast = 0,
	changes_fast = 0, maintenance_writes_fast = 0
	WHERE relation_oid = 'regress_wide_index_hot24'::regclass;
INSERT INTO _tiered_storage.policy_result (policy_id, last_evaluated_at, last_result)
	SELECT policy_id, now(), repeat('a result of many words ', 20) FROM _tiered_storage.policy
	ON CONFLICT (policy_id) DO UPDATE SET last_result = EXCLUDED.last_result;
INSERT INTO _tiered_storage.policy_result (policy_id, last_evaluated_at, last_result)
	SELECT policy_id, now(), repeat('a result of many words ', 20) FROM _tiered_storage.fullness_policy
	ON CONFLICT (policy_id) DO UPDATE SET last_result = EXCLUDED.last_result;
UPDATE _tiered_storage.device_state SET period_s = 60, last_busy_ms = 60000, busy_ms = 60000;
UPDATE _tiered_storage.device_wear SET written_bytes = 999e12;
INSERT INTO _tiered_storage.device_wear_day AS w SELECT d.device, now()::date, 86400, 999e12, 1
	FROM _tiered_storage.device_wear d
	ON CONFLICT (device, day) DO UPDATE SET period_s = 86400, written_bytes = 999e12;
INSERT INTO _tiered_storage.tier_calibration SELECT tier_name, now(), 'random_read_ms', 'ms', 1, 1, 1, 'x' FROM _tiered_storage.tier;
UPDATE _tiered_storage.move SET batch_id = 123456789, size_bytes = 98 * 2 ^ 40, elapsed_ms = 999 * 3600e3, lock_held_ms = 9.99e6,
	predicted_saved_io_s_per_hour = 123456.789;
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, from_tier, to_tier, state,
	requested_by, reason, method, size_bytes, started_at, finished_at, batch_id, error)
	SELECT 1, 'regress_wide_gone_24_cha', 'table', 'regress_wide_tablespace1', 'regress_wide_tablespace2',
		'regress_wide_tier_fast_1', 'regress_wide_tier_slow_1', s, CURRENT_USER, 'why', 'online', 98 * 2 ^ 40, now(), now(),
		123456789, repeat('an error of many words ', 20)
	FROM unnest('{failed,skipped,running}'::text[]) s, generate_series(1, 3);
UPDATE _tiered_storage.move m SET pid = a.pid, backend_start = a.backend_start FROM pg_stat_activity a
	WHERE a.pid = pg_backend_pid() AND m.state = 'running' AND m.move_id IN (SELECT max(move_id) FROM _tiered_storage.move);

-- The load of two hours.
TRUNCATE _tiered_storage.load_history, _tiered_storage.history_hour;
UPDATE _tiered_storage.load_state SET observed_since = '2030-02-01 00:00+00', sampled_at = '2030-02-01 02:00+00';
INSERT INTO _tiered_storage.load_history
	SELECT at, 3600, 36e11, 36e11, 36e11, 18e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11, 3e11,
		3e11, 3e11, 3e11, 3e11, 3e11, 3600000, 7200000, 3600000, 1800000, 900000, 360, 3600, 36, 0, 1
	FROM unnest('{2030-02-01 00:00+00,2030-02-01 01:00+00}'::timestamptz[]) at;
SELECT tiered_storage.alter_device_profile('regress_wide_profile_24c', '{"random_read_ms": 0.123456789, "random_write_ms": 1234.56789,
	"sequential_read_mb_per_s": 9999.987, "sequential_write_mb_per_s": 9999.987, "fsync_ms": 12.3456789, "parallelism": 1.23456789,
	"price_per_gb_month": 0.0123456789, "endurance_dwpd": 1.23456789}') \g /dev/null
SELECT tiered_storage.suppose('regress_wide_index_hot24', 'regress_wide_tier_fast_1') \g /dev/null

-- Queries that were counted, and a file that a crash has left: what C functions answer.
CREATE OR REPLACE FUNCTION _tiered_storage.query_reads(aloud boolean, OUT user_oid oid, OUT query_id bigint, OUT calls float8,
	OUT relation_oid oid, OUT random float8, OUT sequential float8) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT c.relowner, -9223372036854775808, 123456789, c.oid, 123456789 * 1e6, 123456789 * 1e3 FROM pg_class c WHERE relname ~ '^regress_wide_' $$;
CREATE OR REPLACE FUNCTION _tiered_storage.query_texts() RETURNS TABLE (user_oid oid, query_id bigint, query text) LANGUAGE sql AS $$
	SELECT relowner, -9223372036854775808, repeat('a query of many words ', 20) FROM pg_class WHERE relname = 'regress_wide_index_hot24' $$;
CREATE OR REPLACE FUNCTION _tiered_storage.orphaned_files(OUT tablespace_name name, OUT file_number oid, OUT path text,
	OUT size_bytes bigint, OUT written_at timestamptz, OUT is_registered boolean) RETURNS SETOF record LANGUAGE sql AS $$ VALUES
	('regress_wide_tablespace1'::name, 123456::oid, 'pg_tblspc/123456/PG_15_202209061/123456/123456_fsm', (98 * 2 ^ 40)::bigint, now(), true) $$;

-- What a function is called with. One that is not here is found, and not measured: add it.
CREATE TEMP TABLE arguments (name text, list text);
INSERT INTO arguments VALUES
	('block_heat', $$'regress_wide_table_24_ch', 3$$),
	('calibrate_tier', $$'regress_wide_tier_fast_1', 0.1, 8388608, dry_run => true$$),
	('compare_load', $$'2030-02-01 00:00+00', '2030-02-01 01:00+00', '2030-02-01 01:00+00', '2030-02-01 02:00+00'$$),
	('device_profiles', ''),
	('discover_tiers', ''),
	('estimate_compression', $$'regress_wide_table_24_ch'$$),
	('evaluate_policies', ''),
	('explain_placement', $$'regress_wide_table_24_ch'$$),
	('explain_tiers', $$'SELECT * FROM regress_wide_table_24_ch ORDER BY at'$$),
	('load_profile', $$'2030-02-01 00:00+00', '2030-02-01 01:00+00'$$),
	('orphaned_files', ''),
	('placement_summary', ''),
	('preflight', $$'regress_wide_table_24_ch', 'regress_wide_tier_slow_1', include_all => true$$),
	('recommend_partitioning', '0, include_all => true'),
	('recommend_settings', 'include_all => true'),
	('simulate_placement', $${"regress_wide_tier_fast_1": {"capacity_bytes": 99999999999999}}$$),
	('tier_size_curve', $$'regress_wide_tier_fast_1'$$),
	('unused_relations', $$'1 microsecond'$$);
UPDATE arguments SET list = quote_literal(list) WHERE name = 'simulate_placement';
-- For programs: many rows for a chart or a monitoring system, and all numbers of the advice with the statement.
CREATE TEMP TABLE for_programs (name text);
INSERT INTO for_programs VALUES ('history'), ('metrics'), ('recommend_placement');

-- A statement for each; psql formats the rows, a program counts, and says so if a number has too many digits.
CREATE TEMP VIEW measured AS
	SELECT o.name, CASE WHEN p.name IS NOT NULL THEN format('\echo %s: for programs', o.name)
		WHEN o.has_arguments AND a.name IS NULL THEN format('\echo %s: not measured', o.name)
		ELSE format('SELECT * FROM tiered_storage.%I%s \g | awk -v name=%s "$WIDEST"', o.name, '(' || a.list || ')', o.name) END AS line
	FROM (SELECT relname, false FROM pg_class WHERE relnamespace = 'tiered_storage'::regnamespace AND relkind <> 'c'
		UNION ALL SELECT proname, true FROM pg_proc WHERE pronamespace = 'tiered_storage'::regnamespace AND proretset)
		o (name, has_arguments)
	LEFT JOIN arguments a ON a.name = o.name AND o.has_arguments LEFT JOIN for_programs p ON p.name = o.name;
\setenv WIDEST '{if (length > m) m = length; if (/[1-9][.][0-9]{7}/ || /[.]0*[1-9][0-9]{6}/) n = ", long numbers"} END {print name ": " (m <= 120 ? "fits" : m " columns") (NR > 4 ? ", with rows" : ", no row") n}'
\getenv abs_builddir PG_ABS_BUILDDIR
\set script :abs_builddir '/results/69_widths.psql'
\pset tuples_only on
SELECT line FROM measured ORDER BY name COLLATE "C" \g :script
\pset tuples_only off
\pset format aligned
\pset footer on
-- As large as it gets.
BEGIN;
\i :script
ROLLBACK;
-- Nothing is advised for a tier that wears out, or has too much to do: with little of either.
UPDATE _tiered_storage.relation_state SET device_random_fast = 0, random_fast = 0, random_slow = 0, device_random_slow = 0,
	device_sequential_fast = 0, sequential_fast = 0, page_writes_fast = 0, page_writes_slow = 0, changes_fast = 0,
	maintenance_writes_fast = 0 WHERE relation_oid <> 'regress_wide_index_hot24'::regclass;
UPDATE _tiered_storage.tier SET endurance_tbw = NULL;
BEGIN;
\i :script
ROLLBACK;
-- A month in which nothing was read, by no standby either.
SELECT tiered_storage.remove_standby('regress_wide_standby_24c') \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
SET tiered_storage.test_now = '2040-02-01';
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-03-01';
UPDATE _tiered_storage.relation_state SET size_bytes = 98 * 2 ^ 40, page_writes_fast = 999999999;
SELECT * FROM tiered_storage.unused_relations('0') \g | awk -v name=unused_relations "$WIDEST"
\pset format unaligned
\pset footer off
DROP EXTENSION tiered_storage CASCADE;
DROP TABLE regress_wide_table_24_ch, regress_wide_table_24_c2;
DROP ROLE regress_wide_role_of_24c;
DROP TABLESPACE regress_wide_tablespace1;
DROP TABLESPACE regress_wide_tablespace2;
