-- What a policy has moved returns when it is read again: for long enough, and to where it came from.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
-- However full the disks of this machine are.
SELECT tiered_storage.alter_tier(tier_name, device => '{"capacity_bytes": 1000000000}') FROM _tiered_storage.tiers
	WHERE tier_name LIKE 'regress%' \g /dev/null
SET tiered_storage.cooldown = 0;
SET tiered_storage.test_now = '2040-01-01 00:00:00+00';
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, moves of another
-- time, size or end; rows as a dump or another machine has left them.
DELETE FROM _tiered_storage.sampler; DELETE FROM _tiered_storage.state_snapshot;
DELETE FROM _tiered_storage.relation_state;
CREATE VIEW regress_verdicts AS
	SELECT relation::text COLLATE "C" AS relation, from_tier, to_tier, verdict, reason
		FROM _tiered_storage.evaluate_policies();
\set verdicts 'SELECT verdict, to_tier, string_agg(relation, \', \' ORDER BY relation) AS relations FROM regress_verdicts GROUP BY 1, 2 ORDER BY 3;'
\set reasons 'SELECT verdict, from_tier, to_tier, reason, string_agg(relation, \', \' ORDER BY relation) AS relations FROM regress_verdicts GROUP BY 1, 2, 3, 4 ORDER BY 5;'
\set at_least 'SELECT verdict, substring(reason FROM \'at least.*\') AS reason FROM regress_verdicts WHERE relation = \'regress_r_1\';'
SET regress.shown = '^regress_r_[123]';
CREATE VIEW regress_places AS
	SELECT t.tier_name, string_agg(relname, ', ' ORDER BY relname COLLATE "C") AS relations FROM pg_class c
		JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = c.reltablespace
			WHERE relname ~ current_setting('regress.shown') OR c.relnamespace = to_regnamespace('regress_r_s')
			GROUP BY 1 ORDER BY 1;
-- As if it had been read so often each hour, in hours that many ago; the last of them make the mean of a day.
CREATE FUNCTION regress_read(relation regclass, rate int, first_hour int, last_hour int) RETURNS void LANGUAGE plpgsql
	AS $$
DECLARE
	moment timestamptz := current_setting('tiered_storage.test_now');
BEGIN
	INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads,
		sequential_reads, hits, row_changes)
		SELECT moment - h * interval '1 hour', relation, 3600, 1, rate / 2, rate - rate / 2, 0, 0
			FROM generate_series(first_hour, last_hour) h;
	UPDATE _tiered_storage.relation_state SET heat_at = moment, observed_since = '2030-01-01',
		last_read_at = moment - interval '1 minute',
		random_fast = rate, random_slow = rate / 10, sequential_fast = 0, sequential_slow = 0
			WHERE relation_oid = relation;
END
$$;
CREATE FUNCTION regress_cool() RETURNS void LANGUAGE sql AS $$
	DELETE FROM _tiered_storage.relation_history;
	UPDATE _tiered_storage.relation_state SET random_fast = 0, random_slow = 0, sequential_fast = 0,
		sequential_slow = 0;
$$;

CREATE TABLE regress_r (k int, v text) PARTITION BY LIST (k);
CREATE TABLE regress_r_1 PARTITION OF regress_r FOR VALUES IN (1) TABLESPACE regress_ts_fast;
CREATE TABLE regress_r_2 PARTITION OF regress_r FOR VALUES IN (2) TABLESPACE regress_ts_fast;
CREATE TABLE regress_r_3 PARTITION OF regress_r FOR VALUES IN (3) TABLESPACE regress_ts_slow;
CREATE INDEX regress_r_1_k ON regress_r_1 (k) TABLESPACE regress_ts_fast;
INSERT INTO regress_r SELECT 1 + k % 3, repeat('x', 100) FROM generate_series(1, 3000) k;
SELECT tiered_storage.add_tiering_policy('regress_r', tier => 'regress_slow', idle_for => '7 days',
	options => '{"return_when_reads_per_hour": 100}') AS id \gset
SELECT return_when_reads_per_hour, return_after, return_tier FROM _tiered_storage.policies;
SELECT set_config('tiered_storage.test_now', '2040-01-01 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT set_config('tiered_storage.test_now', '2040-01-09 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
:verdicts
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places;

\set VERBOSITY terse
\echo '-- Read again'

SELECT set_config('tiered_storage.test_now', '2040-02-01 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
\echo '-- A report of less than a third of the time is none, however much it reads.'
SELECT regress_read('regress_r_1', 1000000, 1, 23) \g /dev/null
:verdicts
:at_least
SELECT regress_cool(), regress_read('regress_r_1', 1000000, 49, 71) \g /dev/null
:at_least
SELECT regress_cool(), regress_read('regress_r_1', 100, 1, 24) \g /dev/null
:at_least
\echo '-- Hours below the rate count for nothing, nor do those before return_after.'
SELECT regress_cool(), regress_read('regress_r_1', 99, 25, 48), regress_read('regress_r_1', 1000, 1, 23) \g /dev/null
:at_least
SELECT regress_cool(), regress_read('regress_r_1', 1000, 73, 100), regress_read('regress_r_1', 1000, 1, 1) \g /dev/null
:at_least
\echo '-- A part of an hour is no hour; what the roll-up makes of samples says the same.'
CREATE FUNCTION regress_nights(relation regclass, starts interval, minutes int, reads int) RETURNS void LANGUAGE sql
	AS $$
	INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads,
		sequential_reads, hits, row_changes)
		SELECT '2040-01-31 00:00+00'::timestamptz - d * interval '1 day' + starts + m * interval '1 minute', relation,
			60, 1, reads, 0, 0, 0
		FROM generate_series(0, 2) d, generate_series(0, minutes - 1) m;
	UPDATE _tiered_storage.relation_state SET random_fast = 1000000 WHERE relation_oid = 'regress_r_1'::regclass $$;
CREATE FUNCTION regress_rolled() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE rolled AS SELECT min(period_start) AS period_start, relation_oid, extract(epoch
		FROM max(period_start) - min(period_start))::int + 60 AS period_s,
			sum(scans)::bigint AS scans, sum(random_reads)::bigint AS reads
		FROM _tiered_storage.history_rows GROUP BY relation_oid, date_trunc('hour', period_start);
	DELETE FROM _tiered_storage.relation_history;
	INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads,
		sequential_reads, hits, row_changes)
		SELECT period_start, relation_oid, period_s, scans, reads, 0, 0, 0 FROM pg_temp.rolled;
	DROP TABLE rolled;
END
$$;
SELECT set_config('tiered_storage.test_now', '2040-01-31 12:00:00+00', false), regress_cool(),
	regress_nights('regress_r_1', '02:29', 440, 100000) \g /dev/null
:at_least
SELECT regress_rolled() \g /dev/null
:at_least
SELECT regress_cool(), regress_nights('regress_r_1', '02:29', 480, 100000) \g /dev/null
:at_least
SELECT regress_rolled() \g /dev/null
:at_least
\echo '-- A table and its index that are read in the same hours are read once; half of the rate each is the rate.'
SELECT regress_cool(), regress_nights('regress_r_1', '02:00', 300, 100000), regress_nights('regress_r_1_k', '02:10',
	290, 100000) \g /dev/null
:at_least
SELECT regress_rolled() \g /dev/null
:at_least
SELECT regress_cool(), regress_nights('regress_r_1', '02:00', 480, 1), regress_nights('regress_r_1_k', '02:00', 480,
	1) \g /dev/null
:at_least
\echo '-- A single hour is the last one.'
SELECT set_config('tiered_storage.test_now', '2040-01-31 09:30:00+00', false), regress_cool() \g /dev/null
INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads,
	sequential_reads, hits, row_changes)
	SELECT '2040-01-31 08:30+00'::timestamptz + m * interval '10 minutes', 'regress_r_1'::regclass, 600, 1, 25, 0, 0, 0
		FROM generate_series(0, 5) m;
UPDATE _tiered_storage.relation_state SET random_fast = 1000, heat_at = '2040-01-31 09:30+00'
	WHERE relation_oid = 'regress_r_1'::regclass;
SELECT tiered_storage.alter_policy('regress_r', changes => '{"return_after": "1 hour"}') \gset
:at_least
\echo '-- What had a shorter time before it was refused is looked at by that.'
UPDATE _tiered_storage.policy SET return_after = '1 microsecond';
SELECT verdict FROM regress_verdicts WHERE relation = 'regress_r_1';
SELECT tiered_storage.alter_policy('regress_r', changes => '{"return_after": null}') \gset
SELECT set_config('tiered_storage.test_now', '2040-02-01 00:00:00+00', false) \g /dev/null
\echo '-- At night nobody works.  What the policy has not moved stays where it is.'
SELECT regress_cool() \g /dev/null
SELECT regress_read('regress_r_1', 288, d * 24 + 8, d * 24 + 16), regress_read('regress_r_3', 288, d * 24 + 8,
	d * 24 + 16) FROM generate_series(0, 2) d \g /dev/null
:reasons
SELECT tiered_storage.alter_policy('regress_r', enabled => false) \gset
:verdicts
SELECT tiered_storage.alter_policy('regress_r', enabled => true) \gset
\echo '-- Neither what is pinned, nor what was moved lately.'
SELECT tiered_storage.pin('regress_r_1') \g /dev/null
SELECT verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_1';
SELECT tiered_storage.unpin('regress_r_1') \g /dev/null
SET tiered_storage.cooldown = '1d';
UPDATE _tiered_storage.move SET finished_at = '2040-01-31 12:00:00+00';
SELECT verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_1';
UPDATE _tiered_storage.move SET finished_at = '2040-01-30 12:00:00+00';
SELECT verdict FROM regress_verdicts WHERE relation = 'regress_r_1';
\echo '-- Nor to where there is no room: to the low watermark of a tier that a fullness policy empties.'
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 8192}') \g /dev/null
SELECT verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_1';
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
\echo '-- Nor to where another policy would take it from again, but to where that one wants it.'
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_r', tier => 'regress_cheap',
	options => '{"below_reads_per_hour": 100000}')
	AS other \gset
RESET client_min_messages;
UPDATE _tiered_storage.relation_state SET sampled_since = '2030-01-01', proven_since = '2030-01-01';
UPDATE _tiered_storage.sampler SET counts_since = '2030-01-01';
SELECT to_tier, verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_1' ORDER BY 1;
SELECT tiered_storage.remove_policy(policy_id => :other) \gset
CALL tiered_storage.migrate(dry_run => true);
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places;
CALL tiered_storage.migrate();
SET tiered_storage.cooldown = 0;
SELECT relation, verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_1';
\echo '-- It is read a little less, and stays: it leaves below half of the rate at which it returns.'
SELECT regress_cool(), regress_read('regress_r_1', 60, 1, 72) \g /dev/null
SELECT tiered_storage.alter_policy('regress_r', changes => '{"idle_for": "1 minute"}') \gset
UPDATE _tiered_storage.relation_state SET last_read_at = '2040-01-30', last_written_at = '2040-01-01';
SELECT verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_1';
UPDATE _tiered_storage.relation_state SET random_fast = 49;
SELECT verdict FROM regress_verdicts WHERE relation = 'regress_r_1';
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places;

\echo '-- Where to'

\echo '-- Somebody else was the last to move it: the policy has nothing to take back.'
SELECT regress_cool(), regress_read('regress_r_1', 150, 1, 72), regress_read('regress_r_1_k', 150, 1, 72),
	regress_read('regress_r_2', 150, 1, 72), regress_read('regress_r_3', 150, 1, 72) \g /dev/null
:verdicts
SET client_min_messages = warning;
CALL tiered_storage.move_relation('regress_r_1', 'regress_ts_fast', include_indexes => false);
CALL tiered_storage.move_relation('regress_r_1', 'regress_ts_slow', include_indexes => false);
RESET client_min_messages;
\echo '-- Its index has been moved by the policy all the same.'
:verdicts
SELECT tiered_storage.pin('regress_r_1_k', 'regress_slow') \g /dev/null
:reasons
SELECT tiered_storage.unpin('regress_r_1_k') \g /dev/null
\echo '-- To a tier that is named, from where it is not known; after a restore, too.'
SELECT tiered_storage.alter_policy('regress_r',
	changes => '{"return_tier": "regress_fast", "return_after": "12 hours"}') \gset
DELETE FROM _tiered_storage.move;
:reasons
\echo '-- What somebody has put there an hour ago, by a way that leaves no record, stays for the cooldown.'
BEGIN;
SET LOCAL tiered_storage.cooldown = '2h';
UPDATE _tiered_storage.relation_state SET placed_at = current_setting('tiered_storage.test_now')::timestamptz - interval '1 hour' WHERE relation_oid = 'regress_r_2'::regclass;
:reasons
ROLLBACK;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places;
CALL tiered_storage.migrate();
\set VERBOSITY default
\echo '-- A tier to return to is in use, and renamed like the others.'
SELECT tiered_storage.remove_tier('regress_fast'); \echo :SQLSTATE
SELECT tiered_storage.alter_tier('regress_fast', new_name => 'regress_Fast') \g /dev/null
SELECT tier_name, return_tier FROM _tiered_storage.policies;
SELECT tiered_storage.alter_tier('regress_Fast', new_name => 'regress_fast') \g /dev/null
SELECT tiered_storage.remove_policy('regress_r') \gset
SET regress.shown = '^regress_r_[dexz]';

\set VERBOSITY terse
\echo '-- An age is no reason to stay: what is old and read returns, and leaves when it is not read any more.'
CREATE TABLE regress_a (d date) PARTITION BY RANGE (d);
CREATE TABLE regress_r_old PARTITION OF regress_a FOR VALUES
	FROM ('2039-01-01') TO ('2040-01-01') TABLESPACE regress_ts_fast;
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_a', '7 days', 'regress_slow',
	options => '{"return_when_reads_per_hour": 100, "below_reads_per_hour": 10, "return_after": "1 day"}') AS id \gset
RESET client_min_messages;
INSERT INTO regress_a VALUES ('2039-02-02');
SELECT set_config('tiered_storage.test_now', '2040-02-02 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET sampled_since = '2030-01-01', proven_since = '2030-01-01';
UPDATE _tiered_storage.sampler SET counts_since = '2030-01-01';
SELECT regress_cool(), regress_read('regress_r_old', 10, 1, 24) \g /dev/null
SELECT verdict, reason FROM regress_verdicts;
SELECT regress_cool() \g /dev/null
SELECT verdict FROM regress_verdicts;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT regress_read('regress_r_old', 100, 1, 24) \g /dev/null
SELECT verdict, to_tier, reason FROM regress_verdicts;
\echo '-- Where it came from is remembered as long as it may return.'
UPDATE _tiered_storage.move SET finished_at = '2038-01-01', started_at = '2038-01-01';
UPDATE _tiered_storage.sampler SET rolled_up_until = '2038-01-01';
SELECT set_config('tiered_storage.test_now', '2040-02-02 02:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT from_tier, to_tier, string_agg(relation_name, ', ' ORDER BY move_id) AS moved FROM _tiered_storage.move GROUP BY 1, 2 ORDER BY 1;
SELECT regress_cool(), regress_read('regress_r_old', 100, 1, 24) \g /dev/null
SELECT verdict, to_tier FROM regress_verdicts;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
CALL tiered_storage.migrate();
SELECT verdict, reason FROM regress_verdicts;

\echo '-- What a person has moved does not return later either, nor what another policy has moved: who'
\echo '-- was the last is remembered though the record is old.'
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_tier": "regress_fast"}') \gset
SET client_min_messages = warning;
CALL tiered_storage.move_relation('regress_r_old', 'regress_ts_slow');
RESET client_min_messages;
UPDATE _tiered_storage.move SET finished_at = '2038-01-01', started_at = '2038-01-01';
UPDATE _tiered_storage.sampler SET rolled_up_until = '2038-01-01';
SELECT set_config('tiered_storage.test_now', '2040-02-02 05:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT from_tier, to_tier, policy_id IS NULL AS by_hand, state, string_agg(relation_name, ', ' ORDER BY move_id) AS moved
	FROM _tiered_storage.move GROUP BY 1, 2, 3, 4 ORDER BY 1;
SELECT regress_cool(), regress_read('regress_r_old', 100, 1, 24) \g /dev/null
SELECT verdict, reason FROM regress_verdicts;
CALL tiered_storage.migrate();
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_tier": null}') \gset
\echo '-- Once nothing returns any more, nothing old is kept.'
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_when_reads_per_hour": null}') \gset
UPDATE _tiered_storage.sampler SET rolled_up_until = '2038-01-01';
SELECT set_config('tiered_storage.test_now', '2040-02-02 07:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT count(*) FROM _tiered_storage.move;
SELECT tiered_storage.alter_policy('regress_a',
	changes => '{"return_when_reads_per_hour": 100, "return_after": "1 day"}') \gset

\set VERBOSITY default
\echo '-- Rebuilt'

\echo '-- The index of that name on that table is what was moved, though it is another relation by now; and'
\echo '-- what is left behind is said.'
CREATE TABLE regress_r_x (k int, v int) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_x_k ON regress_r_x (k) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_x_v ON regress_r_x (v) TABLESPACE regress_ts_fast;
INSERT INTO regress_r_x SELECT k, k FROM generate_series(1, 1000) k;
VACUUM regress_r_x;
SELECT tiered_storage.alter_policy('regress_a', enabled => false) \gset
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_r_x', tier => 'regress_slow',
	options => '{"below_reads_per_hour": 10, "return_when_reads_per_hour": 100, "return_after": "1 day"}') \gset
RESET client_min_messages;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET observed_since = '2030-01-01', sampled_since = '2030-01-01',
	proven_since = '2030-01-01';
SELECT regress_cool() \g /dev/null
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places;
SELECT max(batch_id) AS batch FROM _tiered_storage.move_batches \gset
SELECT 'regress_r_x_k'::regclass::oid AS first_oid \gset
REINDEX INDEX CONCURRENTLY regress_r_x_k;
ALTER INDEX regress_r_x_v RENAME TO regress_r_x_old;
CREATE INDEX regress_r_x_v2 ON regress_r_x (v) TABLESPACE regress_ts_slow;
DROP INDEX regress_r_x_old;
BEGIN;
CALL tiered_storage.undo_move(:batch, dry_run => true);
ROLLBACK;
\echo '-- Before any sample knows of that, and after one does.'
SELECT regress_read('regress_r_x', 1000, 1, 24) \g /dev/null
SELECT relation, verdict, reason FROM regress_verdicts WHERE relation ~ 'x';
SELECT regress_cool() \g /dev/null
SET client_min_messages = warning;
CALL tiered_storage.sample();
RESET client_min_messages;
SELECT regress_read('regress_r_x', 1000, 1, 24) \g /dev/null
SELECT relation, verdict, reason FROM regress_verdicts WHERE relation ~ 'x';
SELECT DISTINCT relation_oid = :first_oid AS is_first, relation_oid = 'regress_r_x_k'::regclass AS is_rebuilt
	FROM _tiered_storage.move WHERE relation_name = 'public.regress_r_x_k';
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places;
\echo '-- Once more, by undo_move().'
SELECT regress_cool() \g /dev/null
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT max(batch_id) AS batch FROM _tiered_storage.move_batches \gset
REINDEX TABLE CONCURRENTLY regress_r_x;
SELECT tiered_storage.remove_policy('regress_r_x') \gset
CALL tiered_storage.undo_move(:batch);
SELECT * FROM regress_places;
DROP TABLE regress_r_x;

\echo '-- Renamed, or in another schema, before it is rebuilt; and moved by a session that quotes all names.'
CREATE SCHEMA regress_r_s;
CREATE TABLE regress_r_y (k int, v int, w int) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_y_k ON regress_r_y (k) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_y_v ON regress_r_y (v) TABLESPACE regress_ts_fast;
CREATE INDEX "Regress ""r"".y" ON regress_r_y (w) TABLESPACE regress_ts_fast;
INSERT INTO regress_r_y SELECT k, k, k FROM generate_series(1, 1000) k;
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_r_y', tier => 'regress_slow',
	options => '{"below_reads_per_hour": 10}') \gset
RESET client_min_messages;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET observed_since = '2030-01-01', sampled_since = '2030-01-01',
	proven_since = '2030-01-01';
SELECT regress_cool() \g /dev/null
SET client_min_messages = warning;
SET quote_all_identifiers = on;
CALL tiered_storage.migrate();
RESET quote_all_identifiers;
SELECT tiered_storage.remove_policy('regress_r_y') \gset
SELECT max(batch_id) AS batch FROM _tiered_storage.move_batches \gset
SELECT string_agg(concat_ws(' is ', relation_name, index_name), ', ' ORDER BY relation_name COLLATE "C") AS moved
	FROM _tiered_storage.move WHERE batch_id = :batch;
CALL tiered_storage.move_relation('regress_r_y', 'regress_fast', include_indexes => false);
ALTER INDEX regress_r_y_k RENAME TO regress_r_y_key;
CALL tiered_storage.sample();
SELECT string_agg(concat_ws(' is ', relation_name, index_name), ', ' ORDER BY relation_name COLLATE "C") AS moved
	FROM _tiered_storage.move WHERE batch_id = :batch;
ALTER TABLE regress_r_y SET SCHEMA regress_r_s;
REINDEX TABLE CONCURRENTLY regress_r_s.regress_r_y;
\echo '-- Before any sample knows of that, and after one does.'
SELECT undo_command IS NOT NULL AS can_be_undone FROM _tiered_storage.move_batches WHERE batch_id = :batch;
SELECT string_agg(relation, ', ' ORDER BY relation COLLATE "C") AS moved FROM _tiered_storage.moves WHERE batch_id = :batch;
CALL tiered_storage.sample();
SELECT string_agg(concat_ws(' is ', relation_name, index_name), ', ' ORDER BY relation_name COLLATE "C") AS moved
	FROM _tiered_storage.move WHERE batch_id = :batch;
SELECT set_config('tiered_storage.test_now', '2040-02-04 08:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT effect, string_agg(relation, ', ' ORDER BY relation COLLATE "C") AS moved FROM _tiered_storage.moves
	WHERE batch_id = :batch GROUP BY 1;
RESET client_min_messages;
CALL tiered_storage.undo_move(:batch);
SELECT * FROM regress_places;
CALL tiered_storage.undo_move(:batch);
\echo '-- What is gone for good costs nothing, and cannot be moved again.'
DROP TABLE regress_r_s.regress_r_y;
SELECT string_agg(concat(xmin, ' ', xmax), ', ' ORDER BY move_id) AS versions FROM _tiered_storage.move
	WHERE batch_id >= :batch \gset
CALL tiered_storage.sample();
SELECT count(*), string_agg(concat(xmin, ' ', xmax), ', ' ORDER BY move_id) = :'versions' AS is_untouched
	FROM _tiered_storage.move WHERE batch_id >= :batch;
CALL tiered_storage.undo_move(:batch);
DROP SCHEMA regress_r_s;

\echo '-- Names that were exchanged before one of the two was rebuilt: what was another index has not taken its place.'
CREATE TABLE regress_r_z (k int, v int) TABLESPACE regress_ts_slow;
INSERT INTO regress_r_z SELECT k, k FROM generate_series(1, 1000) k;
CREATE FUNCTION regress_moved(index regclass) RETURNS bigint LANGUAGE sql AS $$
	UPDATE _tiered_storage.move SET batch_id = nextval('_tiered_storage.move_batch')
		WHERE relation_oid = index RETURNING batch_id;
$$;
CREATE PROCEDURE regress_exchange() LANGUAGE plpgsql AS $$
BEGIN
	ALTER INDEX regress_r_z_a RENAME TO regress_r_z_c;
	ALTER INDEX regress_r_z_b RENAME TO regress_r_z_a;
	ALTER INDEX regress_r_z_c RENAME TO regress_r_z_b;
END
$$;
SET client_min_messages = warning;
CREATE INDEX regress_r_z_a ON regress_r_z (k) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_z_b ON regress_r_z (k) TABLESPACE regress_ts_slow;
CALL tiered_storage.move_relation('regress_r_z_a', 'regress_slow');
SELECT regress_moved('regress_r_z_a') AS batch \gset
CALL regress_exchange();
REINDEX INDEX CONCURRENTLY regress_r_z_b;
RESET client_min_messages;
SELECT undo_command FROM _tiered_storage.move_batches WHERE batch_id = :batch;
CALL tiered_storage.undo_move(:batch, dry_run => true);
CALL tiered_storage.undo_move(:batch);
CALL tiered_storage.sample();
CALL tiered_storage.undo_move(:batch);
SELECT * FROM regress_places;
DROP INDEX regress_r_z_a, regress_r_z_b;
\echo '-- It has come after the move, but a sample knows it.'
SET client_min_messages = warning;
CREATE INDEX regress_r_z_a ON regress_r_z (k) TABLESPACE regress_ts_fast;
CALL tiered_storage.move_relation('regress_r_z_a', 'regress_slow');
SELECT regress_moved('regress_r_z_a') AS batch \gset
CREATE INDEX regress_r_z_b ON regress_r_z (k) TABLESPACE regress_ts_slow;
CALL tiered_storage.sample();
CALL regress_exchange();
DROP INDEX regress_r_z_b;
CREATE INDEX regress_r_z_b ON regress_r_z (k) TABLESPACE regress_ts_slow;
RESET client_min_messages;
CALL tiered_storage.undo_move(:batch);
SELECT * FROM regress_places;
DROP INDEX regress_r_z_a, regress_r_z_b;
\echo '-- Both are rebuilt: the definition tells them apart, and finds the right one where names stay.'
SET client_min_messages = warning;
CREATE INDEX regress_r_z_a ON regress_r_z (k) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_z_b ON regress_r_z (v) TABLESPACE regress_ts_slow;
CALL tiered_storage.move_relation('regress_r_z_a', 'regress_slow');
SELECT regress_moved('regress_r_z_a') AS columns \gset
CALL regress_exchange();
REINDEX TABLE CONCURRENTLY regress_r_z;
RESET client_min_messages;
CALL tiered_storage.undo_move(:columns);
SELECT * FROM regress_places;
DROP INDEX regress_r_z_a, regress_r_z_b;
SET client_min_messages = warning;
CREATE INDEX regress_r_z_a ON regress_r_z (k) TABLESPACE regress_ts_fast WHERE v < 500;
CREATE INDEX regress_r_z_b ON regress_r_z (k) TABLESPACE regress_ts_slow WHERE v >= 500;
CREATE INDEX regress_r_z_d ON regress_r_z ((k + v), (k - v)) TABLESPACE regress_ts_fast WHERE v < 500 OR v IS NULL;
CREATE INDEX regress_r_z_e ON regress_r_z ((k + v), (k - v)) TABLESPACE regress_ts_fast WHERE v < 500 OR v IS NULL;
CALL tiered_storage.move_relation('regress_r_z_a', 'regress_slow');
CALL tiered_storage.move_relation('regress_r_z_d', 'regress_slow');
CALL tiered_storage.move_relation('regress_r_z_e', 'regress_slow');
SELECT regress_moved('regress_r_z_a') AS predicate, regress_moved('regress_r_z_d') AS rebuilt,
	regress_moved('regress_r_z_e') AS replaced \gset
CALL regress_exchange();
DROP INDEX regress_r_z_e;
REINDEX TABLE CONCURRENTLY regress_r_z;
CREATE INDEX regress_r_z_e ON regress_r_z
	((k   +   v), (k - v)) TABLESPACE regress_ts_slow WHERE (v < 500) OR (v IS NULL);
RESET client_min_messages;
CALL tiered_storage.undo_move(:predicate);
CALL tiered_storage.undo_move(:rebuilt);
CALL tiered_storage.undo_move(:replaced);
SELECT * FROM regress_places;
DROP TABLE regress_r_z;
DROP FUNCTION regress_moved;
DROP PROCEDURE regress_exchange;

\echo '-- What is due first takes the room below the mark'

\echo '-- The queue and a dry run say what the run then does.'
CREATE TABLE regress_d (d date, v text) PARTITION BY RANGE (d);
CREATE TABLE regress_r_d PARTITION OF regress_d FOR VALUES
	FROM ('2039-01-01') TO ('2040-02-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_r_e (k int, v text) TABLESPACE regress_ts_slow;
INSERT INTO regress_d SELECT '2039-02-02', repeat('x', 500) FROM generate_series(1, 3000);
INSERT INTO regress_r_e SELECT 1, repeat('x', 500) FROM generate_series(1, 3000);
VACUUM regress_d, regress_r_e;
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_r_e', tier => 'regress_cheap',
	options => '{"below_reads_per_hour": 10, "return_when_reads_per_hour": 100, "return_after": "1 day"}') \gset
RESET client_min_messages;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET observed_since = '2030-01-01', sampled_since = '2030-01-01',
	proven_since = '2030-01-01';
SELECT regress_cool() \g /dev/null
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
CHECKPOINT;
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_d', '1 hour', 'regress_slow') \gset
RESET client_min_messages;
SELECT tiered_storage.alter_tier('regress_slow', high_watermark => 0.6, low_watermark => 0.3,
	device => jsonb_build_object('capacity_bytes', ((pg_tablespace_size('regress_ts_slow') + 1.5 * pg_table_size('regress_r_e')) / 0.6)::bigint)) \g /dev/null
SELECT regress_read('regress_r_e', 1000, 1, 24) \g /dev/null
SELECT relation, to_tier, verdict FROM regress_verdicts WHERE relation ~ '_[de]$' ORDER BY 1;
SELECT relation, reason LIKE '%above its watermark%' AS held_back FROM _tiered_storage.plan_moves() ORDER BY place;
\set VERBOSITY terse
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
\set VERBOSITY default
SELECT * FROM regress_places;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": null}') \g /dev/null
DROP TABLE regress_d, regress_r_e;

\echo '-- Refused'

\echo '-- A year, however long it is, and no more.'
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "1 year"}') \gset
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "365 days"}') \gset
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "366 days"}') \gset
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "366 days 1 microsecond"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "1 year 7 days"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_when_reads_per_hour": 10}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"below_reads_per_hour": 100}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_when_reads_per_hour": "NaN"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_when_reads_per_hour": "Infinity"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_when_reads_per_hour": -1}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "0"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "1 microsecond"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "59.999999 seconds"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "-1 day"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "13 months"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_tier": "regress_slow"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_tier": "regress_cheap"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_tier": "regress_nowhere"}')
SELECT tiered_storage.add_tiering_policy('regress_a', '1 day', 'regress_cheap', options => '{"return_after": "1 day"}')
SELECT tiered_storage.add_tiering_policy('regress_a', '1 day', 'regress_cheap', options => '{"return_tier": "regress_fast"}')
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_a', tier => 'regress_cheap', options => '{"return_when_reads_per_hour": 10}')
$refused$);
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "1 minute"}') \gset
RESET client_min_messages;
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": "1 day"}') \gset

\echo '-- What need not be there can be taken away again: one by one, or all of the way back at once.'
CREATE VIEW regress_r_properties AS
	SELECT move_after, idle_for, no_writes_for, below_reads_per_hour, index_tier, return_when_reads_per_hour,
		return_after, return_tier FROM _tiered_storage.policies;
SELECT tiered_storage.alter_policy('regress_a',
	changes => '{"return_tier": "regress_fast", "return_after": "2 days", "idle_for": "1 day",
	"no_writes_for": "2 days", "index_tier": "regress_cheap"}') \gset
TABLE regress_r_properties;
SELECT tiered_storage.alter_policy('regress_a',
	changes => '{"return_tier": null, "index_tier": null, "move_after": null}') \gset
TABLE regress_r_properties;
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_after": null, "no_writes_for": null}') \gset
TABLE regress_r_properties;
SELECT tiered_storage.alter_policy('regress_a',
	changes => '{"return_tier": "regress_fast", "return_after": "2 days"}') \gset
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy('regress_a', changes => '{"return_when_reads_per_hour": null, "return_after": "3 days"}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"tier": null}')
SELECT tiered_storage.alter_policy('regress_a', changes => '{"idle_for": null, "below_reads_per_hour": null}')
$refused$);
SELECT tiered_storage.alter_policy('regress_a',
	changes => '{"return_when_reads_per_hour": null, "below_reads_per_hour": null}') \gset
TABLE regress_r_properties;
DROP VIEW regress_r_properties;

DROP TABLE regress_r, regress_a;
\echo '-- What somebody has moved away and back, by a way that leaves no record'

SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
CREATE TABLE regress_r_h (k int) TABLESPACE regress_ts_fast;
CREATE TABLE regress_r_i (k int) TABLESPACE regress_ts_fast;
INSERT INTO regress_r_h SELECT generate_series(1, 1000);
INSERT INTO regress_r_i SELECT generate_series(1, 1000);
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_r_h', tier => 'regress_slow', idle_for => '7 days',
	options => '{"return_when_reads_per_hour": 100, "return_after": "1 day"}'),
	tiered_storage.add_tiering_policy('regress_r_i', tier => 'regress_slow', idle_for => '7 days',
	options => '{"return_when_reads_per_hour": 100, "return_after": "1 day"}') \g /dev/null
RESET client_min_messages;
CREATE PROCEDURE regress_look(day int) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('tiered_storage.test_now', ('2041-01-01 00:00+00'::timestamptz + day * interval '1 day')::text,
		false);
	CALL tiered_storage.sample();
END
$$;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_look(0);
UPDATE _tiered_storage.relation_state SET observed_since = '2030-01-01', sampled_since = '2030-01-01',
	proven_since = '2030-01-01';
CALL regress_look(10);
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
\echo '-- What gets a new file where it is stays the policy''s.'
CALL regress_look(11);
ALTER TABLE regress_r_h SET TABLESPACE regress_ts_fast;
VACUUM FULL regress_r_i;
CALL regress_look(12);
ALTER TABLE regress_r_h SET TABLESPACE regress_ts_slow;
CALL regress_look(13);
CALL regress_look(20);
SELECT regress_cool(), regress_read('regress_r_h', 1000, 1, 24), regress_read('regress_r_i', 1000, 1, 24) \g /dev/null
SELECT relation, to_tier, verdict, reason FROM regress_verdicts WHERE relation ~ '[hi]$' ORDER BY 1;
\echo '-- Nor to a tier that is named.  Once the policy has moved it again, it returns again.'
SELECT tiered_storage.alter_policy('regress_r_h', changes => '{"return_tier": "regress_fast"}') \g /dev/null
SELECT relation, to_tier, verdict, reason FROM regress_verdicts WHERE relation ~ 'h$';
ALTER TABLE regress_r_h SET TABLESPACE regress_ts_fast;
SELECT regress_cool() \g /dev/null
CALL regress_look(30);
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
CALL regress_look(40);
SELECT regress_cool(), regress_read('regress_r_h', 1000, 1, 24) \g /dev/null
SELECT relation, to_tier, verdict FROM regress_verdicts WHERE relation ~ 'h$';

\echo '-- History is kept for as long as a policy looks back and a day, also beyond history_retention, which is 90 days: seven'
\echo '-- of eight parts have to last for 101 days, which is longer than 8 times 14 days.'
DELETE FROM _tiered_storage.history_hour;
CREATE PROCEDURE regress_days(n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM set_config('tiered_storage.test_now', (last_sample_at + interval '14 days')::text, false)
			FROM _tiered_storage.sampler;
		INSERT INTO _tiered_storage.relation_history SELECT last_sample_at, 2, 60, 1, 1, 0, 0, 0, 0
			FROM _tiered_storage.sampler;
		CALL tiered_storage.sample();
	END LOOP;
END
$$;
INSERT INTO _tiered_storage.relation_history SELECT last_sample_at, 1, 60, 1, 1, 0, 0, 0, 0 FROM _tiered_storage.sampler;
SELECT tiered_storage.alter_policy('regress_r_h', changes => '{"return_after": "100 days"}') \gset
CALL regress_days(8);
SELECT count(*) FROM tiered_storage.history WHERE relation_oid = 1;
SELECT tiered_storage.alter_policy('regress_r_h', changes => '{"return_after": "1 day"}') \gset
CALL regress_days(8);
SELECT count(*) FROM tiered_storage.history WHERE relation_oid = 1;
SELECT history_since = (SELECT min(hour) FROM tiered_storage.history) AS since_then FROM _tiered_storage.sampler;
DROP PROCEDURE regress_days;
DROP TABLE regress_r_h, regress_r_i;
DROP PROCEDURE regress_look;
DROP VIEW regress_verdicts, regress_places;
DROP FUNCTION regress_read, regress_cool, regress_nights, regress_rolled;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
