-- Settings: what is recommended from what was measured, and nothing where nothing is known.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
-- Of the server's, not of a session's.
RESET synchronous_commit;
-- Without tiers it says so.
SELECT count(*) FROM _tiered_storage.recommend_settings();
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.test_now = '2030-02-01 02:00+00';
CALL tiered_storage.sample();
SELECT current_database() AS db \gset
CREATE VIEW advice AS SELECT setting, tier_name, recommended_value AS value, reason, command, effect,
	round(expected_ratio::numeric, 3) AS ratio, requires
	FROM _tiered_storage.recommend_settings() WHERE tablespace_name IS NULL;

-- Nobody has written anything or measured anything: nothing but why.
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, the load of hours;
-- what devices were measured to do.
TRUNCATE _tiered_storage.load_history, _tiered_storage.relation_history, _tiered_storage.file_state,
	_tiered_storage.file_history, _tiered_storage.history_hour;
UPDATE _tiered_storage.load_state SET observed_since = '2030-02-01 00:00+00', sampled_at = '2030-02-01 02:00+00';
\set ECHO all
SELECT * FROM advice;
SELECT setting, recommended_value, command, reason FROM _tiered_storage.recommend_settings(true)
	WHERE setting IN ('wal_sync_method', 'fsync', 'full_page_writes', 'synchronous_commit') ORDER BY setting;
SELECT count(*) AS of_the_server FROM _tiered_storage.recommend_settings(NULL) WHERE tablespace_name IS NULL;

-- Temporary files on the slow tier: 1 GB an hour takes 13.3 s there and 0.4 s on the fast one, if that has room.
INSERT INTO _tiered_storage.file_state VALUES
	('temp', '2030-02-01 00:00+00', '2030-02-01 02:00+00', '{regress_ts_slow}', NULL, NULL, NULL, 0, NULL,
		NULL, NULL, NULL);
INSERT INTO _tiered_storage.file_history VALUES ('2030-02-01 00:00+00', 7200, 'temp', 'regress_ts_slow',
	NULL,
	NULL, NULL, 2e9, NULL, NULL);
SELECT * FROM advice \gx
-- Sessions waited 8 s in two hours for them: no more can be saved, and nothing where most is in memory.
INSERT INTO _tiered_storage.load_history (period_start, period_s, wait_sampled_ms,
	wait_temp_ms) VALUES ('2030-02-01 00:00+00', 7200, 7200000, 8000);
SELECT effect, reason, ratio FROM advice;
UPDATE _tiered_storage.load_history SET wait_temp_ms = 3000;
SELECT setting, recommended_value, reason, command FROM _tiered_storage.recommend_settings(true)
	WHERE setting = 'temp_tablespaces';
UPDATE _tiered_storage.load_history SET wait_temp_ms = 1e8;
SELECT effect FROM advice;
TRUNCATE _tiered_storage.load_history, _tiered_storage.history_hour;
SELECT command FROM advice \gset
:command
SELECT c FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase AND s.setrole = 0 CROSS
	JOIN unnest(s.setconfig) c WHERE d.datname = current_database() AND c ~ '^temp';
ALTER DATABASE :"db" RESET temp_tablespaces;
SELECT effect FROM advice;
SET client_min_messages = warning;
-- Roles that may not create there go on as before, and are named.
CREATE ROLE regress_s_app LOGIN;
CREATE ROLE "regress_s Web" LOGIN;
CREATE ROLE regress_s_group;
SELECT effect FROM advice;
:command
SELECT * FROM advice;
\set ECHO none
DROP ROLE regress_s_app, "regress_s Web", regress_s_group;
ALTER DATABASE :"db" RESET temp_tablespaces;
RESET client_min_messages;
-- On two tiers, and on one.
UPDATE _tiered_storage.file_state SET places = '{regress_ts_fast,regress_ts_slow}';
UPDATE _tiered_storage.file_history SET place = 'regress_ts_slow', write_bytes = 1e9;
INSERT INTO _tiered_storage.file_history VALUES ('2030-02-01 00:00+00', 7200, 'temp', 'regress_ts_fast',
	NULL,
	NULL, NULL, 1e9, NULL, NULL);
\set ECHO all
SELECT * FROM advice;
SELECT current_value, reason FROM _tiered_storage.recommend_settings(true) WHERE setting = 'temp_tablespaces';
DELETE FROM _tiered_storage.file_history WHERE place = 'regress_ts_fast';
UPDATE _tiered_storage.file_state SET places = '{regress_ts_slow}';
UPDATE _tiered_storage.file_history SET write_bytes = 2e9;
-- No room: nothing.
UPDATE _tiered_storage.file_history SET write_bytes = 1e18;
SELECT * FROM advice;
SELECT reason FROM _tiered_storage.recommend_settings(true) WHERE setting = 'temp_tablespaces';
-- Already on the fastest, or too little to matter.
UPDATE _tiered_storage.file_history SET write_bytes = 2e9, place = 'regress_ts_fast';
UPDATE _tiered_storage.file_state SET places = '{regress_ts_fast}';
SELECT * FROM advice;
UPDATE _tiered_storage.file_history SET write_bytes = 1e6, place = 'regress_ts_slow';
UPDATE _tiered_storage.file_state SET places = '{regress_ts_slow}';
SELECT * FROM advice;
DELETE FROM _tiered_storage.file_state;

-- A device that finds a page at random sooner than it reads one in sequence.
SELECT tiered_storage.alter_tier('regress_slow',
	device => '{"random_read_ms": 0.002, "sequential_read_mb_per_s": 100}') \g /dev/null
SELECT substring(reason FROM '^.* in sequence') AS reason FROM _tiered_storage.recommend_settings()
	WHERE setting = 'random_page_cost' AND tier_name = 'regress_slow';

-- How many pages come from the device is what was observed; nothing is cut off for a slow one.
SELECT tiered_storage.alter_tier('regress_slow',
	device => '{"random_read_ms": 8, "sequential_read_mb_per_s": 160}') \g /dev/null
INSERT INTO _tiered_storage.tier_calibration SELECT 'regress_slow', now(), 'random_read_ms', 'ms', 8, 8, 8, 'x';
CREATE TABLE regress_s_cached (a int) TABLESPACE regress_ts_slow;
CALL tiered_storage.sample();
CREATE VIEW costs AS SELECT setting, recommended_value, substring(reason FROM 'times.*$') AS reason
	FROM _tiered_storage.recommend_settings() WHERE setting LIKE '%_page_cost' AND tablespace_name = 'regress_ts_slow';
SELECT * FROM costs;
UPDATE _tiered_storage.relation_state SET hits_slow = 400, random_slow = 200, device_random_slow = 100, heat_at = now(),
	sequential_slow = 100, device_sequential_slow = 50, observed_since = now() - interval '300 days'
	WHERE relation_oid = 'regress_s_cached'::regclass;
SELECT * FROM costs;
UPDATE _tiered_storage.relation_state SET hits_slow = 4000, random_slow = 5000, device_random_slow = 4000,
	sequential_slow = 1000, device_sequential_slow = 1000 WHERE relation_oid = 'regress_s_cached'::regclass;
SELECT * FROM costs;
-- What is right to a fifth stays.
ALTER TABLESPACE regress_ts_slow SET (seq_page_cost = 5, random_page_cost = 400);
SELECT * FROM costs;
ALTER TABLESPACE regress_ts_slow SET (random_page_cost = 200);
SELECT setting, recommended_value FROM costs;
ALTER TABLESPACE regress_ts_slow RESET (seq_page_cost, random_page_cost);
DROP VIEW costs;
DROP TABLE regress_s_cached;

-- Measuring the methods. (What becomes of it needs fsync: test/t/076_settings.pl.)
\set VERBOSITY default
\set VERBOSITY terse
SELECT count(*) AS kept FROM _tiered_storage.wal_calibration;
SELECT method, write_ms > 0 AS measured FROM _tiered_storage.calibrate_wal(0.2, 4194304, false, now())
	WHERE method IN ('fsync', 'fdatasync') ORDER BY method;
SELECT count(*) AS kept FROM _tiered_storage.wal_calibration;
SELECT count(*) > 1 AS measured FROM _tiered_storage.calibrate_wal(60, 4194304, true, now());
-- Within its bytes: half are the file, and each of 20 turns may begin with two writes.
SELECT sum(writes) * 8192 <= 2097152 + 20 * 2 * 8192 AS within, bool_and(error_ms >= 0 AND error_ms < 'Infinity') AS has_error,
	bool_and(writes >= 10) AS each_turn, count(DISTINCT calibrated_at) AS kept, bool_and(path = (SELECT path
	FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal')) AS here FROM _tiered_storage.wal_calibration;
SELECT count(*) AS left_over FROM pg_ls_dir('pg_wal') f WHERE f ~ 'calibration';
INSERT INTO _tiered_storage.wal_calibration SELECT '2001-01-01 UTC'::timestamptz + i * interval '1 day', 'fsync', 1, 0,
	1, 'x', NULL FROM generate_series(1, 20) i;
-- With the tier that pg_wal is on, or any if it is on none; what was measured before is beside it.
SET client_min_messages = error;
SELECT bool_and(previous > 0 AND measured > 0 AND unit = 'ms' AND prior IS NULL) AS again
	FROM tiered_storage.calibrate_tier(COALESCE((SELECT tier_name FROM _tiered_storage.directory_tiers()
	WHERE directory = 'pg_wal'), (SELECT min(tier_name) FROM _tiered_storage.tiers)), 0.5, 8388608)
	WHERE measurement LIKE 'pg_wal %';
SELECT count(DISTINCT calibrated_at) AS kept FROM _tiered_storage.wal_calibration;
RESET client_min_messages;
-- A place that does not let itself be measured leaves the tier measured.
SELECT * FROM _tiered_storage.calibrate_wal(0.5, 0, true, now());
TRUNCATE _tiered_storage.wal_calibration;
DROP VIEW advice;
SET client_min_messages = warning;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
