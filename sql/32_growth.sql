-- How fast tiers fill, and when they are full.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0.2,
	device => jsonb_build_object('capacity_bytes', 200 * 8192, 'compressed', false)),
	tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
RESET client_min_messages;
SET tiered_storage.track_access = off;
SET tiered_storage.test_page_cache = off;
SET tiered_storage.cooldown = 0;
-- The intervals of evidence begin with a sample, and that is to be at noon.
SET tiered_storage.test_now = '2029-12-31 12:00:00+00';
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';

-- One row is one block.
CREATE TABLE regress_g_grows (a char(7000)) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_g_loaded (a char(7000)) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_g_emptied (a char(7000)) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_g_log (day date, a char(7000)) PARTITION BY RANGE (day);
CREATE TABLE regress_g_hot (a char(7000)) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
ALTER TABLE regress_g_grows ALTER a SET STORAGE PLAIN;
ALTER TABLE regress_g_loaded ALTER a SET STORAGE PLAIN;
ALTER TABLE regress_g_emptied ALTER a SET STORAGE PLAIN;
ALTER TABLE regress_g_log ALTER a SET STORAGE PLAIN;
ALTER TABLE regress_g_hot ALTER a SET STORAGE PLAIN;
INSERT INTO regress_g_hot SELECT '' FROM generate_series(1, 60);
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();

-- Twelve days, in halves: two blocks a day; twenty at once on the second day; five, of which none is left in the
-- morning;
-- and a partition of four blocks a day, of which only the last three days are kept.
CREATE PROCEDURE regress_days(first int, last int) LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := '2030-01-01 00:00:00+00';
BEGIN
	FOR day IN first..last LOOP
		EXECUTE format('CREATE TABLE regress_g_log_%s PARTITION OF regress_g_log FOR VALUES FROM (%L) TO (%L) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast',
			day, date '2029-12-31' + day, date '2029-12-31' + day + 1);
		IF day > 3 THEN
			EXECUTE format('DROP TABLE regress_g_log_%s', day - 3);
		END IF;
		TRUNCATE regress_g_emptied;
		INSERT INTO regress_g_grows VALUES ('');
		INSERT INTO regress_g_log SELECT date '2029-12-31' + day, '' FROM generate_series(1, 2);
		PERFORM set_config('tiered_storage.test_now', (started + day * interval '1 day' - interval '12 hours')::text,
			false);
		COMMIT;
		PERFORM pg_stat_force_next_flush();
		CALL tiered_storage.sample();
		INSERT INTO regress_g_grows VALUES ('');
		INSERT INTO regress_g_emptied SELECT '' FROM generate_series(1, 5);
		INSERT INTO regress_g_log SELECT date '2029-12-31' + day, '' FROM generate_series(1, 2);
		IF day = 2 THEN
			INSERT INTO regress_g_loaded SELECT '' FROM generate_series(1, 20);
		END IF;
		PERFORM set_config('tiered_storage.test_now', (started + day * interval '1 day')::text, false);
		COMMIT;
		PERFORM pg_stat_force_next_flush();
		CALL tiered_storage.sample();
	END LOOP;
END
$$;
SET client_min_messages = warning;
CALL regress_days(1, 12);
RESET client_min_messages;
CREATE VIEW regress_tier_growth AS
	SELECT tier_name, used_bytes / 8192 AS used, CASE WHEN tier_name = 'regress_fast' THEN available_bytes / 8192 END
		AS available, round((growth_bytes_per_day / 8192)::numeric, 1) AS growth,
		round(days_until_reserve) AS days_until_reserve, CASE
			WHEN tier_name = 'regress_fast' THEN round(days_until_full) END AS days_until_full, reason
	FROM _tiered_storage.placement_summary() WHERE tier_name IS NOT NULL;
\set ECHO all
-- Of the partitions each grew, and all together do not.
SELECT * FROM regress_tier_growth;

-- The tier is nearly full; then it is.
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 128 * 8192)) \g /dev/null
SELECT * FROM regress_tier_growth;
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 98 * 8192)) \g /dev/null
SELECT tier_name, growth, days_until_reserve, days_until_full FROM regress_tier_growth;
-- Before a day was observed, only that is known that there is no room.
SET tiered_storage.test_now = '2030-01-01 23:59:00+00';
SELECT tier_name, growth, days_until_reserve, days_until_full FROM regress_tier_growth;
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 8192)) \g /dev/null
SELECT tier_name, growth, days_until_reserve, days_until_full FROM regress_tier_growth;

---------------------------------------------------------------------------
-- Moves are no growth, and what is damaged is not believed
---------------------------------------------------------------------------

SET client_min_messages = warning;
CALL tiered_storage.move_relation('regress_g_loaded', 'regress_slow');
ALTER TABLE regress_g_emptied SET TABLESPACE regress_ts_slow;
SET tiered_storage.test_now = '2030-01-13 06:00:00+00';
CALL tiered_storage.sample();
RESET client_min_messages;
SELECT tier_name, used, growth FROM regress_tier_growth;
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
UPDATE _tiered_storage.tablespace_growth SET evidence_growth = decode(repeat('0000c07f', 16), 'hex');
SELECT tier_name, growth FROM regress_tier_growth;
UPDATE _tiered_storage.tablespace_growth SET evidence_growth = 'x', evidence_interval_s = 'NaN';
SELECT tier_name, growth FROM regress_tier_growth;
\set ECHO none
CALL tiered_storage.sample();
-- A tablespace that is gone is forgotten.
DROP TABLE regress_g_grows, regress_g_loaded, regress_g_emptied, regress_g_log, regress_g_hot;
DROP TABLESPACE regress_ts_slow;
CREATE TABLE regress_g_new (a char(7000)) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_g_new VALUES ('');
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
\set ECHO all
SELECT spcname, evidence_interval_s > 0 AS noted FROM _tiered_storage.tablespace_growth g LEFT
	JOIN pg_tablespace t ON t.oid = tablespace_oid WHERE spcname IS DISTINCT FROM 'pg_default';
DROP TABLE regress_g_new;
DROP VIEW regress_tier_growth;
DROP PROCEDURE regress_days;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
