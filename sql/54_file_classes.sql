-- I/O by class and place of files: what is counted, what it is shared among, what nobody knows,
-- and what moving them would save. No counter of this server appears.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.test_now = '2030-02-01 00:00+00';
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2030-02-01 02:00+00';
CALL tiered_storage.sample();
SELECT file_class, sampled_at, writes IS NOT NULL AS writes, write_bytes IS NOT NULL AS write_bytes
FROM _tiered_storage.file_state ORDER BY 1;

\echo '-- A counter that grew, that went back, that was reset, that is not known, and one that cannot be.'
SELECT f.*, _tiered_storage.counter_growth(f.before, f.after, f.was_reset)
	FROM (VALUES (10::float8, 15::float8, false), (10, 4, false), (10, 15, true),
	(NULL, 15, false), (10, NULL, false), (10, 'NaN', false), (10, 'Infinity', false), (10, -1, false), (10, 10,
		false)) f (before, after, was_reset);
SELECT directory, path = (SELECT setting FROM pg_settings
	WHERE name = 'data_directory') || '/pg_wal' OR path !~ '/pg_wal$' AS found
FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal';

\echo '-- A write of the WAL waits for a sync, if there are any.'
SELECT _tiered_storage.file_io_ms('wal', t, NULL, NULL, 1000, 0, NULL) = CASE current_setting('fsync')
	WHEN 'on' THEN 1000 * t.fsync_ms ELSE 0 END AS by_write,
	_tiered_storage.file_io_ms('wal', t, NULL, NULL, 1000, 0, 10) = CASE current_setting('fsync')
		WHEN 'on' THEN 10 * t.fsync_ms ELSE 0 END AS by_sync
FROM _tiered_storage.tier t WHERE tier_name = 'regress_slow';

\echo '-- Where temporary files are: default, a list with a name that needs quotes, and roles with a setting of their own.'
CREATE TABLESPACE "regress Temp" LOCATION '';
SELECT current_database() AS db \gset
SELECT (_tiered_storage.temp_places()).places = ARRAY[(SELECT t.spcname::text FROM pg_tablespace t
	JOIN pg_database d ON d.dattablespace = t.oid WHERE d.datname = current_database())] AS of_the_database;
ALTER DATABASE :"db" SET temp_tablespaces = regress_ts_slow, "regress Temp", regress_ts_fast;
SELECT places, null_reason FROM _tiered_storage.temp_places();
SET temp_tablespaces = '';
SELECT places, null_reason FROM _tiered_storage.temp_places();
CREATE ROLE regress_f_role;
ALTER ROLE regress_f_role IN DATABASE :"db" SET temp_tablespaces = regress_ts_fast;
SELECT places, null_reason FROM _tiered_storage.temp_places();
\echo '-- A role that may log in has them where it may create.'
ALTER ROLE regress_f_role IN DATABASE :"db" RESET ALL;
SELECT places, null_reason FROM _tiered_storage.temp_places();
ALTER ROLE regress_f_role LOGIN;
GRANT CREATE ON TABLESPACE "regress Temp" TO regress_f_role;
SELECT 'regress_f_role' = ANY (_tiered_storage.roles_without_create('regress_ts_fast')) AS lacks,
	'regress_f_role' = ANY (_tiered_storage.roles_without_create('regress Temp')) AS has,
	_tiered_storage.roles_without_create((SELECT t.spcname FROM pg_tablespace t
		JOIN pg_database d ON d.dattablespace = t.oid WHERE d.datname = current_database())) AS never;
SELECT places, null_reason FROM _tiered_storage.temp_places();
REVOKE CREATE ON TABLESPACE "regress Temp" FROM regress_f_role;
DROP ROLE regress_f_role;
SET client_min_messages = warning;
ALTER DATABASE :"db" SET temp_tablespaces = regress_f_nowhere;
RESET client_min_messages;
SELECT places = ARRAY[(SELECT t.spcname::text FROM pg_tablespace t JOIN pg_database d ON d.dattablespace = t.oid
	WHERE d.datname = current_database())] AS of_the_database, null_reason FROM _tiered_storage.temp_places();
ALTER DATABASE :"db" RESET temp_tablespaces;
DROP TABLESPACE "regress Temp";

\echo '-- Two hours of a server that counts all but the reads of its WAL. Temporary files are in two tablespaces, in turn.'
CREATE TABLE regress_f (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CALL tiered_storage.sample();
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, the load of hours;
-- rows as a dump or another machine has left them.
TRUNCATE _tiered_storage.load_history, _tiered_storage.relation_history, _tiered_storage.file_state,
	_tiered_storage.file_history, _tiered_storage.history_hour;
SELECT * FROM _tiered_storage.file_class_io() WHERE file_class = 'wal';
UPDATE _tiered_storage.load_state SET observed_since = '2030-02-01 00:00+00', sampled_at = '2030-02-01 02:00+00';
UPDATE _tiered_storage.sampler SET wal_since = '2030-02-01 00:00+00';
INSERT INTO _tiered_storage.file_state VALUES
	('relations', '2030-02-01 00:00+00', '2030-02-01 02:00+00', '{}', NULL, NULL, 0, 0, 0, 0, NULL, NULL),
	('wal', '2030-02-01 01:00+00', '2030-02-01 02:00+00', '{pg_wal}', NULL, NULL, 0, 0, 0, 0, NULL,
		'reads: not counted'),
	('temp', '2030-02-01 00:00+00', '2030-02-01 02:00+00', '{regress_ts_fast,regress_ts_slow}', NULL, NULL,
		NULL, 0, NULL, NULL, NULL, 'reads: not counted'),
	('slru', '2030-02-01 00:00+00', '2030-02-01 02:00+00', '{data}', 0, 0, 0, 0, NULL, NULL, NULL, '');
INSERT INTO _tiered_storage.file_history VALUES
	('2030-02-01 00:00+00', 7200, 'relations', '', NULL, NULL, 200, 1638400, 8, 14000),
	('2030-02-01 01:30+00', 1800, 'wal', 'pg_wal', NULL, NULL, 30, 300000, 10, 500),
	('2030-02-01 00:00+00', 7200, 'temp', 'regress_ts_fast', NULL, NULL, NULL, 2000000000, NULL, NULL),
	('2030-02-01 00:00+00', 7200, 'temp', 'regress_ts_slow', NULL, NULL, NULL, 2000000000, NULL, NULL),
	('2030-02-01 00:00+00', 7200, 'slru', 'data', 4, 32768, 6, 49152, NULL, NULL);
INSERT INTO _tiered_storage.relation_history VALUES
	('2030-02-01 00:00+00', 'regress_f'::regclass, 3600, 0, 100, 0, 0, 0, 30),
	('2030-02-01 01:00+00', 1, 3600, 0, 300, 0, 0, 0, 10);
\x on
SELECT file_class, tier_name, reads_per_hour AS reads, writes_per_hour AS writes, write_bytes_per_hour AS write_bytes,
	wait_s_per_hour AS wait_s, place, is_total,
	fsyncs_per_hour AS fsyncs, io_s_per_hour AS io_s, saved_s_per_hour AS saved_s, null_reason
FROM _tiered_storage.file_class_io() WHERE file_class IN ('relations', 'temp')
	ORDER BY file_class, is_total DESC, tier_name;
SELECT file_class, reads_per_hour AS reads, writes_per_hour AS writes, write_bytes_per_hour AS write_bytes, place,
	is_total, fsyncs_per_hour AS fsyncs, io_s_per_hour AS io_s,
	split_part(null_reason, ';', 1) AS null_reason
FROM _tiered_storage.file_class_io() WHERE file_class IN ('wal', 'slru') ORDER BY file_class, is_total DESC;
\x off
\echo '-- Both on one tier: that is it.'
SELECT tier_name, place FROM _tiered_storage.file_class_io() WHERE file_class = 'temp' AND is_total;
UPDATE _tiered_storage.tier_tablespace SET tier_name = 'regress_slow' WHERE tablespace_name = 'regress_ts_cheap';
UPDATE _tiered_storage.file_history SET place = 'regress_ts_cheap' WHERE place = 'regress_ts_fast';
UPDATE _tiered_storage.file_state SET places = '{regress_ts_cheap,regress_ts_slow}' WHERE file_class = 'temp';
SELECT tier_name, place FROM _tiered_storage.file_class_io() WHERE file_class = 'temp' AND is_total;
UPDATE _tiered_storage.file_history SET place = 'regress_ts_fast' WHERE place = 'regress_ts_cheap';
UPDATE _tiered_storage.file_state SET places = '{regress_ts_fast,regress_ts_slow}' WHERE file_class = 'temp';
UPDATE _tiered_storage.tier_tablespace SET tier_name = 'regress_cheap' WHERE tablespace_name = 'regress_ts_cheap';
\echo '-- Waits are shared by what the figures of the tiers say. A quarter of the reads is known to be on the slow tier.'
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, wait_sampled_ms, wait_relations_ms,
	wait_temp_ms)
	VALUES ('2030-02-01 00:00+00', 7200, 1, 7200000, 400000, 30000);
SELECT file_class, tier_name, is_total, round(wait_s_per_hour::numeric, 3) AS wait_s, round(saved_s_per_hour::numeric,
	3) AS saved_s
FROM _tiered_storage.file_class_io() WHERE file_class IN ('relations', 'temp')
	ORDER BY file_class, is_total DESC, tier_name;
SELECT tier_name, round((1/sequential_write_mb_per_s + 1/sequential_read_mb_per_s)::numeric, 6) AS s_per_mb,
	random_read_ms FROM _tiered_storage.tiers WHERE tier_name <> 'regress_cheap' ORDER BY 1;
\echo '-- Timed only since a while: not known. Nothing any more: 0.'
UPDATE _tiered_storage.file_history SET period_s = 3600 WHERE file_class = 'relations';
INSERT INTO _tiered_storage.file_history VALUES ('2030-02-01 01:00+00', 3600, 'relations', '', NULL, NULL,
	200, 1638400, 8, NULL);
SELECT fsyncs_per_hour, io_s_per_hour, null_reason FROM _tiered_storage.file_class_io()
	WHERE file_class = 'relations' AND is_total;
DELETE FROM _tiered_storage.file_history WHERE file_class = 'relations';
SELECT fsyncs_per_hour, io_s_per_hour, null_reason FROM _tiered_storage.file_class_io()
	WHERE file_class = 'relations' AND is_total;
\echo '-- The WAL is not read: by tier nothing is known of writes.'
UPDATE _tiered_storage.sampler SET wal_since = NULL;
SELECT tier_name, writes_per_hour, null_reason FROM _tiered_storage.file_class_io()
	WHERE file_class = 'relations' AND NOT is_total;

\echo '-- History cannot hold what no sample has written.'
SELECT * FROM pg_temp.refused($refused$
INSERT INTO _tiered_storage.file_history VALUES ('2030-02-01 00:00+00', 3600, 'wal', 'x', 'NaN')
INSERT INTO _tiered_storage.file_history VALUES ('2030-02-01 00:00+00', 3600, 'wal', 'x', -1)
INSERT INTO _tiered_storage.file_history VALUES ('infinity', 3600, 'wal', 'x', 1)
$refused$);

\echo '-- Rolled up, it is the same; a part that is not known stays unknown; what is old goes.'
TRUNCATE _tiered_storage.file_history, _tiered_storage.history_hour;
INSERT INTO _tiered_storage.file_history SELECT '2030-02-01 00:30+00'::timestamptz + i * interval '1 minute', 60,
	'wal',
	'x', 1, NULL, 2, i, CASE WHEN i >= 45 THEN 3 END
	FROM generate_series(0, 89) i;
SET tiered_storage.test_now = '2030-02-01 06:00+00';
CALL tiered_storage.sample();
SELECT period_start, period_s, reads, read_bytes, writes, write_bytes, fsyncs FROM _tiered_storage.file_rows
	WHERE place = 'x' ORDER BY 1;
\echo '-- One of the SLRUs was reset: what the others have grown by is not known.'
UPDATE _tiered_storage.file_state SET reads = reads + 1e9 WHERE file_class = 'slru';
SET tiered_storage.test_now = '2030-02-01 07:00+00';
CALL tiered_storage.sample();
SELECT count(*) AS slru FROM _tiered_storage.file_rows WHERE file_class = 'slru'
	AND period_start >= '2030-02-01 06:00+00';
\echo '-- A clock that was set back makes no period, and no error.'
CREATE TEMP TABLE before AS SELECT * FROM _tiered_storage.file_rows;
SET tiered_storage.test_now = '2030-02-01 05:00+00';
CALL tiered_storage.sample();
SELECT count(*) AS added FROM (TABLE _tiered_storage.file_rows EXCEPT ALL TABLE before) r;

SET client_min_messages = warning;
DROP TABLE regress_f;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
