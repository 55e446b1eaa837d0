-- What moves were worth: predicted before, measured after.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
CREATE TABLESPACE regress_ts_none LOCATION '';
SET client_min_messages = warning;
DO $$
BEGIN
	-- A random read takes 10 ms or 0.1 ms, a page write 5 ms or 0.2 ms.
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000000,
	device => '{"compressed": false, "random_read_ms": 0.1, "random_write_ms": 0.2}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 100000,
	device => '{"compressed": false, "random_read_ms": 10, "random_write_ms": 5}');
END
$$;
RESET client_min_messages;
-- What is counted is made up here: neither the executor nor the page cache knows of it.
SET tiered_storage.track_access = off;
SET tiered_storage.test_page_cache = off;
-- What was moved may move again.
SET tiered_storage.cooldown = 0;

-- Tables of 100 blocks that were asked for often enough that some of it can be made misses.
CREATE PROCEDURE regress_make(name text, place text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (a text) WITH (autovacuum_enabled = off) TABLESPACE %I', name, place);
	EXECUTE format('ALTER TABLE %I ALTER a SET STORAGE PLAIN', name);
	EXECUTE format('INSERT INTO %I SELECT repeat(''x'', 7000) FROM generate_series(1, 100)', name);
	FOR i IN 1..120 LOOP
		EXECUTE format('SELECT FROM %I', name);
	END LOOP;
	PERFORM pg_stat_force_next_flush();
END
$$;
-- What a relation is taken to do now, before a move: random reads per hour.
CREATE PROCEDURE regress_heat(relation regclass, reads float8) LANGUAGE sql AS $$
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; moves of
	-- another time, size or end.
	UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0,
		heat_at = current_setting('tiered_storage.test_now')::timestamptz, observed_since = '2020-01-01',
			sampled_since = '2029-12-01',
		random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
			sequential_high_slow = 0,
		hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0,
		device_random_fast = reads, device_random_slow = reads / 2, device_sequential_fast = 0,
			device_sequential_slow = 0
		WHERE relation_oid = relation;
$$;
-- What it has read since the last sample.
CREATE PROCEDURE regress_read(relation regclass, reads bigint) LANGUAGE sql AS $$
	UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - reads WHERE relation_oid = relation;
$$;
-- Moves are recorded by the real clock, which has nothing to do with that of the samples.
CREATE PROCEDURE regress_date() LANGUAGE sql AS $$
	UPDATE _tiered_storage.move SET started_at = '2030-01-01', finished_at = '2030-01-01' WHERE state = 'done';
$$;
CREATE VIEW regress_effects AS
	SELECT relation, from_tier AS "from", to_tier AS "to", round(before_io_s_per_hour::numeric, 3) AS before,
		round(predicted_saved_io_s_per_hour::numeric, 3) AS predicted_saved, round(unmoved_io_s_per_hour::numeric, 3)
			AS unmoved,
		round(measured_io_s_per_hour::numeric, 3) AS measured, round(measured_saved_io_s_per_hour::numeric, 3)
			AS measured_saved,
		effect_source AS source, measured_at, effect
	FROM _tiered_storage.moves ORDER BY move_id;
\set ECHO all

---------------------------------------------------------------------------
-- Verdicts
---------------------------------------------------------------------------

-- Predicted, measured: a factor of two either way, but for what is next to nothing.
SELECT p AS predicted, u AS unmoved, m AS measured, u - m AS saved, _tiered_storage.effect_verdict(p, u, m)
	FROM (VALUES (10::float8, 20::float8, 10::float8), (10, 20, 15), (10, 20, 17), (10, 20, 19.5), (10, 20, 21.5), (10,
		40, 10),
		(-10, 20, 30), (-10, 20, 39), (-10, 20, 45), (-10, 20, 24.1), (-10, 20, 16), (0, 0.05, 0.02), (0, 0.02, 0.05),
			(0, 0, 0.2),
		(0, 0.2, 0), (NULL, 20, 20.5), (NULL, 20, 10), (NULL, 20, 30), (NULL, NULL, NULL), (5, NULL, NULL), (5, 3,
			NULL)) v (p, u, m);

---------------------------------------------------------------------------
-- Before a move, after it, and long after it
---------------------------------------------------------------------------

\set ECHO none
CALL regress_make('regress_e_same', 'regress_ts_slow');
CALL regress_make('regress_e_more', 'regress_ts_slow');
CALL regress_make('regress_e_less', 'regress_ts_slow');
CALL regress_make('regress_e_idle', 'regress_ts_slow');
CALL regress_make('regress_e_cost', 'regress_ts_fast');
CALL regress_make('regress_e_new', 'regress_ts_slow');
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
CALL tiered_storage.sample();
DELETE FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_e_new'::regclass;
CALL regress_heat('regress_e_same', 100);
CALL regress_heat('regress_e_more', 100);
CALL regress_heat('regress_e_less', 100);
CALL regress_heat('regress_e_idle', 100);
CALL regress_heat('regress_e_cost', 100);
CALL tiered_storage.move_relation('regress_e_same', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_more', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_less', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_idle', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_cost', 'regress_slow');
CALL tiered_storage.move_relation('regress_e_new', 'regress_fast');
CALL regress_date();
\set ECHO all
SELECT * FROM regress_effects;
SELECT observed_since, totals FROM _tiered_storage.move_effect WHERE observed_since IS NOT NULL OR totals IS NOT NULL;
\set ECHO none
-- What was read until the first sample after the move does not count.
CALL regress_read('regress_e_same', 5000);
SET tiered_storage.test_now = '2030-01-01 01:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT count(*), min(observed_since), max(observed_since), max(totals[1]) FROM _tiered_storage.move_effect;
\set ECHO none
-- The time is not over.
CALL regress_read('regress_e_same', 1200);
SET tiered_storage.test_now = '2030-01-02 00:59:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT DISTINCT effect, measured_at FROM _tiered_storage.moves;
\set ECHO none
-- 24 hours with 100, 300, 20, no, 300 and 50 reads per hour.
CALL regress_read('regress_e_same', 1200);
CALL regress_read('regress_e_more', 7200);
CALL regress_read('regress_e_less', 480);
CALL regress_read('regress_e_cost', 7200);
CALL regress_read('regress_e_new', 1200);
SET tiered_storage.test_now = '2030-01-02 01:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT * FROM regress_effects;
\set ECHO none
-- Once.
CALL regress_read('regress_e_same', 5000);
SET tiered_storage.test_now = '2030-01-04 01:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT relation, measured_at, round(measured_io_s_per_hour::numeric, 3) AS measured FROM _tiered_storage.moves
	WHERE relation = 'regress_e_same';
-- No batch: nothing to warn of, nothing to undo.
SELECT count(*) FROM _tiered_storage.move_batches;

---------------------------------------------------------------------------
-- Writes, scans, TOAST, rewrites
---------------------------------------------------------------------------

\set ECHO none
TRUNCATE _tiered_storage.move, _tiered_storage.move_effect;
CREATE TABLE regress_e_toast (t text) WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)
	TABLESPACE regress_ts_slow;
ALTER TABLE regress_e_toast ALTER t SET STORAGE EXTERNAL;
INSERT INTO regress_e_toast SELECT repeat('x', 1000000);
DO $$ BEGIN FOR i IN 1..120 LOOP PERFORM md5(t)
	FROM regress_e_toast; END LOOP; PERFORM pg_stat_force_next_flush(); END $$;
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('regress_e_same', 'regress_slow');
CALL tiered_storage.move_relation('regress_e_more', 'regress_slow');
CALL tiered_storage.move_relation('regress_e_toast', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_less', 'regress_slow');
CALL regress_date();
SET tiered_storage.test_now = '2030-01-05 00:00:00+00';
CALL tiered_storage.sample();
-- 24 scans that read 2400 blocks: per hour one positioning and 0.8192 MB, at 150 and 6500 MB/s.
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - 2400, scans = scans - 24,
	tuples_read = tuples_read - 2400 WHERE relation_oid = 'regress_e_same'::regclass;
-- 480 page writes, that the WAL has told of.
UPDATE _tiered_storage.relation_state SET total_page_writes = total_page_writes + 480
	WHERE relation_oid = 'regress_e_more'::regclass;
-- 12000 reads of the TOAST table, then another TOAST table, and 12000 reads of that.
SELECT reltoastrelid AS toast FROM pg_class WHERE oid = 'regress_e_toast'::regclass \gset
CALL regress_read(:toast, 12000);
-- A table that is empty now has read what it has read.
CALL regress_read('regress_e_less', 2400);
SET tiered_storage.test_now = '2030-01-05 12:00:00+00';
CALL tiered_storage.sample();
VACUUM FULL regress_e_toast;
ALTER TABLE regress_e_toast ADD b float8 DEFAULT random();
DO $$ BEGIN FOR i IN 1..120 LOOP PERFORM md5(t)
	FROM regress_e_toast; END LOOP; PERFORM pg_stat_force_next_flush(); END $$;
TRUNCATE regress_e_less;
CALL tiered_storage.sample();
SELECT reltoastrelid <> :toast AS other_toast_table, reltoastrelid AS toast FROM pg_class
	WHERE oid = 'regress_e_toast'::regclass \gset
\set ECHO all
\echo :other_toast_table
CALL regress_read(:toast, 12000);
SET tiered_storage.test_now = '2030-01-06 00:00:00+00';
CALL tiered_storage.sample();
SELECT relation, CASE relation WHEN 'regress_e_toast' THEN round(unmoved_io_s_per_hour)
	ELSE round(unmoved_io_s_per_hour::numeric, 5) END AS unmoved,
	round(measured_io_s_per_hour::numeric, CASE relation WHEN 'regress_e_toast' THEN 1 ELSE 5 END) AS measured, effect
		FROM _tiered_storage.moves ORDER BY move_id;
\set ECHO none
-- Statistics that are reset in between take nothing away from what was seen before.
SET tiered_storage.test_now = '2030-01-07 00:00:00+00';
CALL tiered_storage.move_relation('regress_e_more', 'regress_fast');
TRUNCATE _tiered_storage.move, _tiered_storage.move_effect;
CALL tiered_storage.move_relation('regress_e_more', 'regress_slow');
CALL regress_date();
CALL tiered_storage.sample();
CALL regress_read('regress_e_more', 2400);
SET tiered_storage.test_now = '2030-01-07 12:00:00+00';
CALL tiered_storage.sample();
SELECT pg_stat_reset_single_table_counters('regress_e_more'::regclass) \g /dev/null
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2030-01-08 00:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT relation, unmoved_io_s_per_hour AS unmoved, measured_io_s_per_hour AS measured FROM _tiered_storage.moves;

---------------------------------------------------------------------------
-- Not measurable
---------------------------------------------------------------------------

\set ECHO none
TRUNCATE _tiered_storage.move, _tiered_storage.move_effect;
CALL regress_make('regress_e_dropped', 'regress_ts_slow');
CALL regress_make('regress_e_early', 'regress_ts_slow');
CALL regress_make('regress_e_again', 'regress_ts_slow');
CALL regress_make('regress_e_hand', 'regress_ts_slow');
CALL regress_make('regress_e_back', 'regress_ts_slow');
CALL regress_make('regress_e_lost', 'regress_ts_slow');
CALL regress_make('regress_e_gone', 'regress_ts_slow');
CALL regress_make('regress_e_none', 'regress_ts_none');
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('regress_e_dropped', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_early', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_again', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_hand', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_back', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_lost', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_gone', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_none', 'regress_fast');
-- Into no tier; and by somebody else, before it is looked at.
CALL tiered_storage.move_relation('regress_e_less', 'regress_ts_none');
DROP TABLE regress_e_early;
CREATE TABLE regress_e_unseen (a int) TABLESPACE regress_ts_slow;
CALL tiered_storage.move_relation('regress_e_unseen', 'regress_fast');
ALTER TABLE regress_e_unseen SET TABLESPACE regress_ts_slow;
CALL regress_date();
CALL tiered_storage.sample();
-- Again by us, by hand, and by hand there and back.
CALL tiered_storage.move_relation('regress_e_again', 'regress_slow');
CALL regress_date();
ALTER TABLE regress_e_hand SET TABLESPACE regress_ts_slow;
ALTER TABLE regress_e_back SET TABLESPACE regress_ts_slow;
DROP TABLE regress_e_dropped;
UPDATE _tiered_storage.relation_state SET total_random_reads = -1 WHERE relation_oid = 'regress_e_lost'::regclass;
SET tiered_storage.test_now = '2030-01-08 12:00:00+00';
CALL tiered_storage.sample();
ALTER TABLE regress_e_back SET TABLESPACE regress_ts_fast;
DELETE FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_e_gone'::regclass;
SET tiered_storage.test_now = '2030-01-08 13:00:00+00';
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET total_random_reads = total_random_reads + 1e6,
	total_sequential_reads = total_sequential_reads + 1e6, total_scans = total_scans + 1e6,
	total_page_writes = total_page_writes + 1e6, total_row_changes = total_row_changes + 1e6
		WHERE relation_oid = 'regress_e_gone'::regclass;
\set ECHO all
SELECT m.relation, e.settled_at, m.effect FROM _tiered_storage.moves m
	JOIN _tiered_storage.move_effect e USING (move_id) ORDER BY move_id;
SET tiered_storage.test_now = '2030-01-09 12:00:00+00';
CALL tiered_storage.sample();
SELECT m.relation, e.settled_at, m.measured_at, m.effect_source AS source, m.effect FROM _tiered_storage.moves m
	JOIN _tiered_storage.move_effect e USING (move_id) ORDER BY move_id;
\set ECHO none
-- A clock that went back: measuring begins again.
TRUNCATE _tiered_storage.move, _tiered_storage.move_effect;
CALL tiered_storage.move_relation('regress_e_hand', 'regress_fast');
CALL regress_date();
CALL tiered_storage.sample();
\set ECHO all
SELECT observed_since FROM _tiered_storage.move_effect;
SET tiered_storage.test_now = '2030-01-09 00:00:00+00';
CALL tiered_storage.sample();
SELECT observed_since FROM _tiered_storage.move_effect;

---------------------------------------------------------------------------
-- Batches
---------------------------------------------------------------------------

\set ECHO none
TRUNCATE _tiered_storage.move, _tiered_storage.move_effect;
DROP TABLE regress_e_same, regress_e_more, regress_e_less, regress_e_idle, regress_e_cost, regress_e_new,
	regress_e_toast,
	regress_e_again, regress_e_hand, regress_e_back, regress_e_lost, regress_e_gone, regress_e_none, regress_e_unseen;
CALL regress_make('regress_e_hot', 'regress_ts_slow');
CALL regress_make('regress_e_cold', 'regress_ts_fast');
CALL regress_make('regress_e_cool', 'regress_ts_fast');
SET tiered_storage.test_now = '2030-01-10 00:00:00+00';
CALL tiered_storage.sample();
CALL regress_heat('regress_e_hot', 300);
CALL regress_heat('regress_e_cold', 0);
CALL regress_heat('regress_e_cool', 0);
\set batches 'SELECT batch_id, kind, moves_done AS done, moves_failed AS failed, moves_skipped AS skipped, moves_running AS running, moved_bytes = (SELECT sum(size_bytes) FROM _tiered_storage.moves m WHERE m.batch_id = b.batch_id) AS bytes, finished_at >= started_at AS finished, round(predicted_saved_io_s_per_hour::numeric, 2) AS predicted_saved, round(measured_saved_io_s_per_hour::numeric, 2) AS measured_saved, measured_moves AS measured, effect, undo_command, undo_of, undone_by FROM _tiered_storage.move_batches b ORDER BY 1'
-- There is room for one of them.
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 1600000}') \g /dev/null
\set ECHO all
CALL tiered_storage.apply_placement();
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
CALL regress_date();
:batches;
\set ECHO none
CALL tiered_storage.sample();
UPDATE _tiered_storage.move_effect SET observed_since = observed_since + interval '1 hour'
	WHERE relation_oid = 'regress_e_cool'::regclass;
-- What was cold is hot now.
CALL regress_read('regress_e_hot', 7200);
CALL regress_read('regress_e_cold', 12000);
SET tiered_storage.test_now = '2030-01-11 00:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT measured_moves, effect FROM _tiered_storage.move_batches;
-- A batch is judged when all of it is known.
SET tiered_storage.test_now = '2030-01-11 01:00:00+00';
CALL tiered_storage.sample();
SELECT relation, predicted_saved, measured_saved, effect FROM regress_effects ORDER BY relation COLLATE "C";
:batches;
-- Who monitors sees it.
CREATE ROLE regress_effect_monitor IN ROLE pg_monitor;
SET ROLE regress_effect_monitor;
SELECT relation, effect FROM _tiered_storage.moves ORDER BY relation COLLATE "C";
SELECT batch_id, effect, undo_command FROM _tiered_storage.move_batches;
\set ECHO none
RESET ROLE;
DROP ROLE regress_effect_monitor;
-- That is said once.
SET tiered_storage.test_now = '2030-01-12 00:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT DISTINCT batch_effect FROM _tiered_storage.move_effect;
-- Half of it is taken back by hand, the rest by the command.
CALL tiered_storage.move_relation('regress_e_cool', 'regress_fast');
SELECT batch_id, effect, undo_command, undone_by FROM _tiered_storage.move_batches;
CALL tiered_storage.undo_move(1);
CALL regress_date();
:batches;
SELECT relation, batch_id, undo_of, effect FROM _tiered_storage.moves WHERE undo_of IS NOT NULL ORDER BY move_id;
\set ECHO none
-- What is measured of it is nothing to be warned of.
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2030-01-13 00:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
:batches;
\set ECHO none
-- A move of it that is settled later, and worse too, is no second warning.
UPDATE _tiered_storage.move_effect SET settled_at = NULL, unmoved_io_s_per_hour = NULL, measured_io_s_per_hour = NULL,
	batch_effect = NULL
	WHERE batch_id = 1 AND relation_oid = 'regress_e_cool'::regclass;
\set ECHO all
SELECT effect FROM _tiered_storage.move_batches WHERE batch_id = 1;
CALL tiered_storage.move_relation('regress_e_cold', 'regress_slow');
CALL tiered_storage.sample();
SELECT effect, undo_command FROM _tiered_storage.move_batches WHERE batch_id = 1;
SELECT DISTINCT batch_effect FROM _tiered_storage.move_effect WHERE batch_id = 1;
\set ECHO none
CALL tiered_storage.move_relation('regress_e_cold', 'regress_fast');
-- Nothing is said of a batch before all of it is known, nor of one that was undone by then.
CALL tiered_storage.sample();
CALL regress_heat('regress_e_cold', 0);
CALL regress_heat('regress_e_cool', 0);
CALL regress_heat('regress_e_hot', 300);
-- There is room for one of them.
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 1600000}') \g /dev/null
\set ECHO all
CALL tiered_storage.apply_placement();
\set ECHO none
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
CALL regress_date();
CALL tiered_storage.sample();
UPDATE _tiered_storage.move_effect SET observed_since = observed_since + interval '1 hour'
	WHERE batch_id = 3 AND relation_oid = 'regress_e_cool'::regclass;
CALL regress_read('regress_e_cold', 12000);
SET tiered_storage.test_now = '2030-01-14 00:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT relation, measured_saved, effect FROM regress_effects OFFSET 7;
SELECT measured_moves, effect, undo_command FROM _tiered_storage.move_batches WHERE batch_id = 3;
CALL tiered_storage.undo_move(3);
CALL tiered_storage.sample();
SELECT measured_moves, effect, undo_command FROM _tiered_storage.move_batches WHERE batch_id = 3;
-- A batch of which nothing was moved.
UPDATE _tiered_storage.move SET state = 'failed', batch_id = 5 WHERE batch_id = 3;
SELECT batch_id, moves_done, moves_failed, moved_bytes, predicted_saved_io_s_per_hour, measured_saved_io_s_per_hour,
	effect, undo_command FROM _tiered_storage.move_batches WHERE batch_id = 5;

---------------------------------------------------------------------------
-- An event is no rate, neither for the advice nor for what is promised of a move
---------------------------------------------------------------------------

\set ECHO none
TRUNCATE _tiered_storage.move, _tiered_storage.move_effect;
CALL regress_make('regress_e_once', 'regress_ts_slow');
CALL regress_make('regress_e_often', 'regress_ts_slow');
CALL tiered_storage.sample();
CALL regress_heat('regress_e_once', 100);
CALL regress_heat('regress_e_often', 100);
-- Within a week in one of 14 intervals, or in each.
UPDATE _tiered_storage.relation_state SET evidence_began_at = current_setting('tiered_storage.test_now')::timestamptz - interval '7 days', evidence_interval_s = 43200,
	evidence_reads = decode(repeat('00000000', 5) || '0000803f' || repeat('00000000', 10), 'hex'),
		evidence_writes = decode(repeat('00000000', 16), 'hex')
	WHERE relation_oid = 'regress_e_once'::regclass;
UPDATE _tiered_storage.relation_state SET evidence_began_at = current_setting('tiered_storage.test_now')::timestamptz - interval '7 days', evidence_interval_s = 43200,
	evidence_reads = decode(repeat('0000803f', 16), 'hex'), evidence_writes = decode(repeat('00000000', 16), 'hex')
	WHERE relation_oid = 'regress_e_often'::regclass;
CALL tiered_storage.move_relation('regress_e_once', 'regress_fast');
CALL tiered_storage.move_relation('regress_e_often', 'regress_fast');
\set ECHO all
SELECT relation, before, predicted_saved FROM regress_effects;

---------------------------------------------------------------------------
-- Bounds
---------------------------------------------------------------------------

\set ECHO none
-- A thousand in one sample, and no more.
TRUNCATE _tiered_storage.move, _tiered_storage.move_effect;
INSERT INTO _tiered_storage.move (move_id, relation_oid, relation_name, kind, from_tablespace, to_tablespace, state,
	requested_by, reason, method, size_bytes, started_at, finished_at)
	SELECT 1000000 + i, 'regress_e_hot'::regclass, 'x', 'table', 'regress_ts_fast', 'regress_ts_slow', 'done', 'x',
		'x',
		'online', 0, '2030-01-01', '2030-01-01' FROM generate_series(1, 1003) i;
INSERT INTO _tiered_storage.move_effect (move_id, relation_oid, to_tablespace_oid)
	SELECT move_id, relation_oid, (SELECT oid FROM pg_tablespace
		WHERE spcname = 'regress_ts_slow') FROM _tiered_storage.move;
SET tiered_storage.test_now = '2030-01-18 00:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT count(observed_since) FROM _tiered_storage.move_effect;
CALL tiered_storage.sample();
SELECT count(observed_since) FROM _tiered_storage.move_effect;
SET tiered_storage.test_now = '2030-01-19 00:00:00+00';
CALL tiered_storage.sample();
SELECT count(settled_at) FROM _tiered_storage.move_effect;
CALL tiered_storage.sample();
SELECT count(settled_at) FROM _tiered_storage.move_effect;
\set ECHO none
-- They go with their moves, when these are too old.
UPDATE _tiered_storage.move SET finished_at = '2029-01-01' WHERE move_id > 1000002;
SET tiered_storage.test_now = '2030-01-20 01:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
SELECT count(*) FROM _tiered_storage.move_effect;
-- Without effects a view is not at a loss.
DELETE FROM _tiered_storage.move_effect;
SELECT DISTINCT effect FROM _tiered_storage.moves;
-- What was not moved saves nothing, whatever was expected of it.
UPDATE _tiered_storage.move SET state = 'failed', error = 'x', predicted_saved_io_s_per_hour = 5, from_tier = 'regress_fast',
	to_tier = 'regress_slow', size_bytes = 1e12 WHERE move_id = 1000001;
SELECT state, predicted_saved_io_s_per_hour AS saves FROM _tiered_storage.moves WHERE move_id = 1000001;
SELECT DISTINCT note ~ 'saves' AS saves FROM tiered_storage.moves WHERE state = 'failed';

\set ECHO none
SET client_min_messages = warning;
DROP VIEW regress_effects;
DROP TABLE regress_e_hot, regress_e_cold, regress_e_cool, regress_e_once, regress_e_often;
DROP PROCEDURE regress_make, regress_heat, regress_read, regress_date;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_none;
\set ECHO all
