-- What a standby has told of its room: what counts since, and until when.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = error;
CREATE TABLESPACE regress_sr_slow LOCATION '';
SELECT tiered_storage.add_tier('slow', '{regress_sr_slow}', profile => 'hdd_7200', reserve_fraction => 0) \g /dev/null
SELECT tiered_storage.add_tier('fast', '{pg_default}', profile => 'nvme') \g /dev/null
CREATE TABLE regress_sr_1 AS SELECT i, repeat('x', 500) AS filler FROM generate_series(1, 15000) i;
CREATE TABLE regress_sr_2 AS SELECT * FROM regress_sr_1;

-- As a pull writes it.
SELECT tiered_storage.add_standby('elsewhere', 'host=/nowhere') \g /dev/null
-- Made up, since no call makes it in the time of a test: what a standby has told.
INSERT INTO _tiered_storage.standby_state (standby_name, last_attempt_at, last_pull_at, next_pull_at, failures)
	VALUES ('elsewhere', now(), now(), now() + interval '1 day', 0);
INSERT INTO _tiered_storage.standby_room (standby_name, tablespace_oid, is_usable, file_system_id, free_bytes,
	total_bytes, looked_at, replayed_until)
	SELECT 'elsewhere', oid, true, 1, 12 * 1048576, 1000 * 1048576, now(), now() FROM pg_tablespace
		WHERE spcname = 'regress_sr_slow';
CREATE FUNCTION regress_sr(what regclass) RETURNS TABLE (refused text, remedy_ends text) LANGUAGE sql AS $$
	SELECT regexp_replace(regexp_replace(replace(finding, E'\n', ' '), '[0-9.]+ (MB|kB)', 'N \1', 'g'), '[0-9]{4}-[-0-9 :+]+', 'TIME'),
		regexp_replace(replace(remedy, E'\n', ' '), '^.*\. ', '')
	FROM tiered_storage.preflight(what, 'slow', include_indexes => false) WHERE verdict = 'blocks'
$$;

-- There is room for one of 8 MB.
CALL tiered_storage.move_relation('regress_sr_1', 'slow');
\set VERBOSITY sqlstate
\set ECHO all
CALL tiered_storage.move_relation('regress_sr_2', 'slow');
\set VERBOSITY default
SELECT * FROM regress_sr('regress_sr_2');

-- What has left again leaves room, as often as it comes and goes.
CALL tiered_storage.move_relation('regress_sr_1', 'fast');
CALL tiered_storage.move_relation('regress_sr_1', 'slow');
CALL tiered_storage.move_relation('regress_sr_1', 'fast');
CALL tiered_storage.move_relation('regress_sr_2', 'slow');
SELECT * FROM regress_sr('regress_sr_1');

-- Who has not told for a day has gone, and so has who is no standby any more.
BEGIN;
UPDATE _tiered_storage.standby_room SET looked_at = looked_at - interval '23 hours';
SELECT count(*) AS refused FROM regress_sr('regress_sr_1');
UPDATE _tiered_storage.standby_room SET looked_at = looked_at - interval '2 hours';
SELECT count(*) AS refused FROM regress_sr('regress_sr_1');
ROLLBACK;
UPDATE _tiered_storage.standby_room SET is_usable = false;
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation('regress_sr_1', 'slow');
\set VERBOSITY default
SELECT tiered_storage.remove_standby('elsewhere') \g /dev/null
CALL tiered_storage.move_relation('regress_sr_1', 'slow');
SELECT count(*) AS moved FROM pg_class WHERE relname ~ '^regress_sr_[12]$' AND reltablespace = (SELECT oid
	FROM pg_tablespace WHERE spcname = 'regress_sr_slow');

DROP TABLE regress_sr_1, regress_sr_2;
DROP FUNCTION regress_sr;
DROP EXTENSION tiered_storage CASCADE;
DROP TABLESPACE regress_sr_slow;
