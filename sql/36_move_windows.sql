-- Move windows: what a person says of them, what the clock makes of it, and what waits.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_1 LOCATION '';
CREATE TABLESPACE regress_ts_2 LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_1}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_slow', '{regress_ts_2}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
SET client_min_messages = notice;
\set ECHO all

---------------------------------------------------------------------------
-- Definitions
---------------------------------------------------------------------------

\set ECHO none
CREATE FUNCTION regress_alter(name name, changes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	w _tiered_storage.move_window;
BEGIN
	SELECT * INTO STRICT w FROM _tiered_storage.move_window x WHERE x.window_name = name;
	w := jsonb_populate_record(w, changes);
	PERFORM tiered_storage.remove_move_window(name);
	PERFORM tiered_storage.add_move_window(w.window_name, w.days, w.starts, w.ends, w.time_zone, w.max_bytes,
		w.enabled);
END
$$;
\set ECHO all
SELECT * FROM _tiered_storage.move_windows;
SELECT tiered_storage.add_move_window('nightly', NULL, '22:00', '06:00', 'europe/berlin', max_bytes => 1000000) \g /dev/null
SELECT tiered_storage.add_move_window('week"end', '{SUN,sat,sat}', '00:00', '24:00') \g /dev/null
SELECT window_name, days, starts, ends, time_zone, max_bytes, enabled FROM _tiered_storage.move_windows
	ORDER BY 1;
\set VERBOSITY default
SELECT tiered_storage.add_move_window('nightly', NULL, '1:00', '2:00');
SELECT tiered_storage.add_move_window(NULL, NULL, '1:00', '2:00');
SELECT tiered_storage.add_move_window('', NULL, '1:00', '2:00');
SELECT tiered_storage.add_move_window('w', NULL, NULL, '2:00');
SELECT tiered_storage.add_move_window('w', NULL, '1:00', NULL);
SELECT tiered_storage.add_move_window('w', NULL, '1:00', '1:00');
SELECT tiered_storage.add_move_window('w', NULL, '24:00', '1:00');
SELECT tiered_storage.add_move_window('w', NULL, '1:00', '2:00', 'Europe/Nowhere');
SELECT tiered_storage.add_move_window('w', NULL, '1:00', '2:00', '<+02>-02');
SELECT tiered_storage.add_move_window('w', '{mon,monday}', '1:00', '2:00');
SELECT tiered_storage.add_move_window('w', '{mon,NULL}', '1:00', '2:00');
SELECT tiered_storage.add_move_window('w', '{}', '1:00', '2:00');
SELECT tiered_storage.add_move_window('w', NULL, '1:00', '2:00', max_bytes => 0);
SELECT tiered_storage.remove_move_window('w');
SELECT tiered_storage.remove_move_window('w', if_exists => true);
SELECT tiered_storage.remove_move_window(NULL, if_exists => true); \echo :SQLSTATE
\set VERBOSITY terse
SELECT regress_alter('nightly', jsonb_build_object('days', '{fri}', 'starts', '23:00', 'time_zone', 'UTC', 'enabled', false)) \g /dev/null
SELECT window_name, days, starts, ends, time_zone, max_bytes, enabled FROM _tiered_storage.move_windows
	WHERE window_name = 'nightly';
SELECT regress_alter('nightly', jsonb_build_object('days', NULL, 'max_bytes', NULL, 'enabled', true)) \g /dev/null
SELECT window_name, days, starts, ends, time_zone, max_bytes, enabled FROM _tiered_storage.move_windows
	WHERE window_name = 'nightly';
BEGIN;
SET LOCAL transaction_read_only = on;
SELECT tiered_storage.add_move_window('w', NULL, '1:00', '2:00');
\set ECHO none
ROLLBACK;
BEGIN;
SELECT tiered_storage.add_move_window('many_' || i, NULL, '1:00', '2:00', 'UTC') FROM generate_series(1, 62) i \g /dev/null
\set ECHO all
\set VERBOSITY default
SELECT tiered_storage.add_move_window('one_more', NULL, '1:00', '2:00');
\set VERBOSITY terse
ROLLBACK;
SELECT count(*) FROM _tiered_storage.move_windows;

\set ECHO none
-- Nobody but those who were granted it.
CREATE ROLE regress_nobody;
GRANT USAGE ON SCHEMA tiered_storage TO regress_nobody;
SET ROLE regress_nobody;
\set ECHO all
SELECT tiered_storage.add_move_window('w', NULL, '1:00', '2:00');
SELECT * FROM tiered_storage.move_windows;
RESET ROLE;
GRANT pg_monitor TO regress_nobody;
SET ROLE regress_nobody;
SELECT window_name FROM tiered_storage.move_windows ORDER BY 1;
\set ECHO none
RESET ROLE;
REVOKE USAGE ON SCHEMA tiered_storage FROM regress_nobody;
DROP ROLE regress_nobody;
SELECT tiered_storage.remove_move_window('week"end') \g /dev/null
\set ECHO all

---------------------------------------------------------------------------
-- What the clock says
---------------------------------------------------------------------------

\set ECHO none
SELECT regress_alter('nightly', jsonb_build_object('starts', '22:00', 'time_zone', 'Europe/Berlin')) \g /dev/null
SET timezone = 'Europe/Berlin';
CREATE FUNCTION regress_w(now text) RETURNS TABLE (is_open boolean, opens_at timestamptz, closes_at timestamptz)
	LANGUAGE sql AS $$
	SELECT set_config('tiered_storage.test_now', now, false);
	SELECT w.is_open, w.opens_at, w.closes_at FROM _tiered_storage.move_windows w WHERE w.window_name = 'nightly'
$$;
\set ECHO all
SELECT n, w.* FROM unnest('{2026-11-23 21:59:59.999999+01,2026-11-23 22:00+01,2026-11-24 05:59:59.999999+01,2026-11-24 06:00+01}'::text[]) WITH ORDINALITY t(n, o), regress_w(n) w ORDER BY o;
-- Seven hours, and nine.
SELECT n, w.* FROM unnest('{2026-03-28 12:00+01,2026-10-24 12:00+02}'::text[]) n, regress_w(n) w ORDER BY 1;
-- A zone with the name of an abbreviation, which has no daylight saving; where the server knows it.
UPDATE _tiered_storage.move_window SET time_zone = 'CET' WHERE window_name = 'nightly';
SELECT is_open OR NOT EXISTS (SELECT FROM pg_timezone_names WHERE name = 'CET') AS is_open
FROM regress_w('2026-07-15 22:30+02');
UPDATE _tiered_storage.move_window SET time_zone = 'Europe/Berlin' WHERE window_name = 'nightly';
-- A start that does not exist, and one that exists twice.
SELECT regress_alter('nightly', jsonb_build_object('starts', '02:30', 'ends', '05:00')) \g /dev/null
SELECT n, w.* FROM unnest('{2026-03-28 12:00+01,2026-10-24 12:00+02}'::text[]) n, regress_w(n) w ORDER BY 1;
-- A time that clocks skip on that day.
SELECT regress_alter('nightly', jsonb_build_object('starts', '02:15', 'ends', '02:45')) \g /dev/null
SELECT n, w.* FROM unnest('{2026-03-28 12:00+01}'::text[]) n, regress_w(n) w;
-- Disabled, and of a zone that this server does not have.
SELECT regress_alter('nightly', jsonb_build_object('days', '{mon}', 'starts', '01:00', 'ends', '06:00')) \g /dev/null
SELECT regress_alter('nightly', jsonb_build_object('enabled', false)) \g /dev/null
SELECT * FROM regress_w('2026-11-24 12:00+01');
SELECT regress_alter('nightly', jsonb_build_object('enabled', true)) \g /dev/null
-- Made up, since no call makes it in the time of a test: moves of another time, size or end; rows as a dump or
-- another machine has left them.
UPDATE _tiered_storage.move_window SET time_zone = 'Europe/Gone' \g /dev/null
SELECT * FROM regress_w('2026-11-24 12:00+01');

---------------------------------------------------------------------------
-- What waits
---------------------------------------------------------------------------

\set ECHO none
SET client_min_messages = warning;
CREATE TABLE regress_w (d date, a int, filler text) PARTITION BY RANGE (d);
CREATE TABLE regress_w_1 PARTITION OF regress_w FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_1;
CREATE TABLE regress_w_2 PARTITION OF regress_w FOR VALUES
	FROM ('2021-01-01') TO ('2022-01-01') TABLESPACE regress_ts_1;
INSERT INTO regress_w SELECT date '2020-01-01' + i % 700, i, repeat('x', 500) FROM generate_series(1, 1000) i;
VACUUM regress_w;
SELECT tiered_storage.add_tiering_policy('regress_w', '30 days', 'regress_slow') \g /dev/null
CREATE VIEW regress_places AS
	SELECT c.relname, t.tier_name FROM pg_class c
		JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = c.reltablespace
	WHERE c.relname ~ 'regress_w_.$';
SET client_min_messages = notice;
\set VERBOSITY default
SET tiered_storage.test_now = '2026-11-24 12:00+01';
\set ECHO all
CALL tiered_storage.migrate();
UPDATE _tiered_storage.move_window SET time_zone = 'Europe/Berlin' \g /dev/null
CALL tiered_storage.migrate();
CALL tiered_storage.migrate(dry_run => true);
\set ECHO none
-- Open, and nothing is known that would make it too short: one is moved, and then the bytes are used up.
SET tiered_storage.test_now = '2026-11-30 05:00+01';
SELECT regress_alter('nightly', jsonb_build_object('max_bytes', (SELECT max(pg_table_size(o)) + 8192
	FROM unnest('{regress_w_1,regress_w_2}'::regclass[]) o))) \g /dev/null
\set ECHO all
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_places ORDER BY 1;
SELECT is_open, moved_bytes > 0 AND moved_bytes < max_bytes AS "moved something" FROM _tiered_storage.move_windows
	WHERE window_name = 'nightly';
-- At the next opening there is room again; in none there is for more than may be moved in each.
SET tiered_storage.test_now = '2026-11-30 12:00+01';
SELECT regress_alter('nightly', jsonb_build_object('max_bytes', 8192)) \g /dev/null
CALL tiered_storage.migrate();
\set ECHO none
SELECT regress_alter('nightly', jsonb_build_object('max_bytes', NULL)) \g /dev/null

-- As slow as the last move between these tiers, in part: this is longer than what is left, but not than a window.
UPDATE _tiered_storage.move SET elapsed_ms = 6 * 3600.0 * 1000 \g /dev/null
SET tiered_storage.test_now = '2026-11-30 05:00+01';
\set ECHO all
CALL tiered_storage.migrate();
UPDATE _tiered_storage.move SET elapsed_ms = elapsed_ms * 4 \g /dev/null
CALL tiered_storage.migrate();
-- What it waited for the lock does not count.
UPDATE _tiered_storage.move SET lock_wait_ms = elapsed_ms \g /dev/null
CALL tiered_storage.migrate(dry_run => true);
-- Nor what moves were paused.
UPDATE _tiered_storage.move SET lock_wait_ms = 0, waited_ms = elapsed_ms \g /dev/null
CALL tiered_storage.migrate(dry_run => true);
-- All disabled: nothing may begin, which is not the same as no window.
SELECT regress_alter(window_name, jsonb_build_object('enabled', false)) FROM _tiered_storage.move_windows \g /dev/null
CALL tiered_storage.migrate();

-- Who asks does not wait.
CALL tiered_storage.move_relation('regress_w_1', 'regress_fast');
CALL tiered_storage.migrate(ignore_windows => true);
SELECT * FROM regress_places ORDER BY 1;
SELECT undo_command FROM _tiered_storage.move_batches ORDER BY batch_id DESC LIMIT 1 \gset
:undo_command;
SELECT * FROM regress_places ORDER BY 1;
-- Without windows nothing waits.
SELECT tiered_storage.remove_move_window(window_name) FROM _tiered_storage.move_windows \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_places ORDER BY 1;

\set ECHO none
DROP VIEW regress_places;
DROP FUNCTION regress_w;
DROP TABLE regress_w;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_1;
DROP TABLESPACE regress_ts_2;
\set ECHO all
