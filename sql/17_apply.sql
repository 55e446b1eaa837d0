-- Advice that is carried out: the order, the batch, and the way back.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000000,
	device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 100000,
	device => '{"compressed": false}');
END
$$;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
SET tiered_storage.cooldown = 0;

-- Tables of 10 blocks but for the small one, hot ones on the slow tier, a cold one on the fast.
CREATE TABLE regress_p_cold (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_hot (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_p_warm (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_p_doubtful (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_p_small (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
DO $$
DECLARE
	r text;
BEGIN
	FOR r IN SELECT oid::regclass FROM pg_class WHERE relname LIKE 'regress\_p%' AND relkind = 'r' ORDER BY 1 LOOP
		EXECUTE format('ALTER TABLE %s ALTER a SET STORAGE PLAIN', r);
		EXECUTE format('INSERT INTO %s SELECT repeat(''x'', 7000) FROM generate_series(1, %s)', r, CASE
			WHEN r ~ 'small' THEN 1 ELSE 10 END);
	END LOOP;
END
$$;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
CREATE PROCEDURE regress_heat() LANGUAGE sql AS $$
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; moves of
	-- another time, size or end.
	UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00',
		observed_since = '2020-01-01', sampled_since = '2029-12-01',
		random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
			sequential_high_slow = 0,
		hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, placed_at = '2029-12-01';
	UPDATE _tiered_storage.relation_state SET random_slow = 20000 WHERE relation_oid = 'regress_p_hot'::regclass;
	UPDATE _tiered_storage.relation_state SET random_slow = 10000 WHERE relation_oid = to_regclass('regress_p_warm');
	UPDATE _tiered_storage.relation_state SET random_slow = 500, sequential_slow = 500, sequential_high_slow = 1000
		WHERE relation_oid = 'regress_p_doubtful'::regclass;
	UPDATE _tiered_storage.relation_state SET random_slow = 5000 WHERE relation_oid = 'regress_p_small'::regclass;
	UPDATE _tiered_storage.relation_state SET random_fast = random_slow, sequential_fast = sequential_slow,
		device_random_fast = random_slow, device_sequential_fast = sequential_slow,
		device_random_slow = random_slow, device_sequential_slow = sequential_slow;
$$;
CALL regress_heat();
CREATE VIEW regress_places AS
	SELECT c.relname, s.spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.relname LIKE 'regress\_p%' AND c.relkind = 'r' ORDER BY 1;
SELECT relation, recommended_tier, confidence FROM tiered_storage.recommend_placement()
	ORDER BY relation::text COLLATE "C";

\echo '-- What would be done'

RESET client_min_messages;
\set VERBOSITY terse
\echo '-- Most gain for each second first; what is not firm is left out.'
CALL tiered_storage.apply_placement(dry_run => true);
CALL tiered_storage.apply_placement(confidence => 'tentative', dry_run => true);
\echo '-- What had to wait for others the last time comes after what need not, if that is worth its time.'
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, state,
	requested_by, reason, method, size_bytes, started_at, finished_at, lock_wait_ms, elapsed_ms, sqlstate, error)
	VALUES ('regress_p_hot'::regclass, 'x', 'table', 'regress_ts_slow', 'regress_ts_fast', 'skipped', 'x', 'x',
		'online', 0, '2029-12-01', '2029-12-01', 10, 60000, '55P03', 'x'),
		('regress_p_small'::regclass, 'x', 'table', 'regress_ts_fast', 'regress_ts_slow', 'done', 'x', 'x', 'online',
			0,
			'2029-12-01', '2029-12-01', 100, 30000, NULL, NULL);
CALL tiered_storage.apply_placement(dry_run => true);
TRUNCATE _tiered_storage.move;
\echo '-- Three tables would be too much, what is small still fits.'
CALL tiered_storage.apply_placement(max_bytes => 100000, dry_run => true);
CALL tiered_storage.apply_placement(max_bytes => 1, dry_run => true);
\echo '-- A limit is of files as they are, however small the device makes them.'
SELECT tiered_storage.alter_tier('regress_fast',
	device => '{"compressed": true, "compression_ratio": 4}') \g /dev/null
SELECT tiered_storage.alter_tier('regress_slow',
	device => '{"compressed": true, "compression_ratio": 4}') \g /dev/null
CALL tiered_storage.apply_placement(max_bytes => 100000, dry_run => true);
SELECT tiered_storage.alter_tier('regress_fast', device => '{"compressed": false}') \g /dev/null
SELECT tiered_storage.alter_tier('regress_slow', device => '{"compressed": false}') \g /dev/null
\echo '-- The same questions as to recommend_placement(): what is not asked about stays.'
CALL tiered_storage.apply_placement(dry_run => true, relations => '{regress_p_hot,regress_p_cold}');
CALL tiered_storage.apply_placement(dry_run => true, schemas => '{pg_catalog}');
CALL tiered_storage.apply_placement(dry_run => true, tiers => '{regress_slow}');
CALL tiered_storage.apply_placement(dry_run => true, objective => 'money');
\echo '-- There is room for one of ten blocks: the cold one makes room for what comes next.'
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 21 * 8192)) \g /dev/null
SELECT relation, recommended_tier, confidence FROM tiered_storage.recommend_placement()
	ORDER BY relation::text COLLATE "C";
CALL tiered_storage.apply_placement(dry_run => true);
\echo '-- Within a limit nothing is chosen that would have no room without what is not.'
CALL tiered_storage.apply_placement(max_bytes => 250000, dry_run => true);
\echo '-- What it needs are all its forks, the free space map, too.  The advice counts with that, as the order does, and the'
\echo '-- check before the copy.'
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 12 * 8192)) \g /dev/null
SELECT relation, recommended_tier
	FROM tiered_storage.recommend_placement(relations => '{regress_p_hot,regress_p_cold}')
		ORDER BY relation::text COLLATE "C";
CALL tiered_storage.apply_placement(dry_run => true, relations => '{regress_p_hot,regress_p_cold}');
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 14 * 8192)) \g /dev/null
CALL tiered_storage.apply_placement(dry_run => true, relations => '{regress_p_hot,regress_p_cold}');
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 21 * 8192)) \g /dev/null
SELECT * FROM regress_places;

\echo '-- Done'

CALL tiered_storage.apply_placement();
SELECT * FROM regress_places;
SELECT batch_id AS batch, relation, from_tier, to_tier, state, round(predicted_saved_io_s_per_hour::numeric, 1)
	AS predicted
	FROM _tiered_storage.moves ORDER BY move_id;
\echo '-- Nothing is left to do.'
CALL regress_heat();
CALL tiered_storage.apply_placement();
\echo '-- What is asked about alone is moved alone.'
CALL tiered_storage.move_relation('regress_p_hot', 'regress_slow');
CALL tiered_storage.move_relation('regress_p_small', 'regress_slow');
CALL tiered_storage.apply_placement(relations => '{regress_p_hot}');
SELECT * FROM regress_places;
CALL tiered_storage.move_relation('regress_p_small', 'regress_fast');

\echo '-- Back again, the last first, but for what somebody has moved since, and what is gone.'
CALL tiered_storage.move_relation('regress_p_small', 'regress_slow');
DROP TABLE regress_p_warm;
CALL tiered_storage.undo_move(1);
\echo '-- Twice: there is nothing to do, which makes no batch.'
CALL tiered_storage.undo_move(1);
SELECT * FROM regress_places;
SELECT batch_id AS batch, relation, to_tier, state, reason, round(predicted_saved_io_s_per_hour::numeric, 1)
	AS predicted
	FROM _tiered_storage.moves WHERE reason ~ 'undo' ORDER BY move_id;
\echo '-- What was undone can be undone, whatever tablespaces are named by now.'
ALTER TABLESPACE regress_ts_fast RENAME TO regress_ts_renamed;
SELECT undo_command FROM _tiered_storage.move_batches WHERE batch_id = 3;
CALL tiered_storage.undo_move(3);
SELECT DISTINCT from_tablespace, to_tablespace FROM _tiered_storage.moves WHERE undo_of = 3 ORDER BY 1;
ALTER TABLESPACE regress_ts_renamed RENAME TO regress_ts_fast;

\echo '-- Two full tiers cannot exchange anything'

CALL regress_heat();
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', (SELECT sum(pg_table_size(c.oid))::bigint
	FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.relkind = 'r' AND s.spcname = 'regress_ts_fast'))),
	tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', (SELECT sum(pg_table_size(c.oid))::bigint
		FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
			WHERE c.relkind = 'r' AND s.spcname = 'regress_ts_slow'))) \g /dev/null
SELECT * FROM regress_places;
UPDATE _tiered_storage.relation_state SET random_slow = CASE relation_oid
	WHEN 'regress_p_doubtful'::regclass THEN 90000 ELSE 0 END, sequential_slow = 0, sequential_high_slow = 0;
UPDATE _tiered_storage.relation_state SET random_fast = random_slow, sequential_fast = 0,
	device_random_fast = random_slow, device_random_slow = random_slow,
	device_sequential_fast = 0, device_sequential_slow = 0;
SELECT relation, recommended_tier, confidence FROM tiered_storage.recommend_placement()
	ORDER BY relation::text COLLATE "C";
CALL tiered_storage.apply_placement(dry_run => true);
CALL tiered_storage.apply_placement();
SELECT * FROM regress_places;

\echo '-- Refused'

\set VERBOSITY default
SELECT * FROM pg_temp.refused($refused$
CALL tiered_storage.apply_placement(confidence => 'sure')
CALL tiered_storage.apply_placement(confidence => 'provisional')
CALL tiered_storage.apply_placement(confidence => NULL)
CALL tiered_storage.apply_placement(dry_run => NULL)
CALL tiered_storage.apply_placement(max_bytes => 0)
CALL tiered_storage.apply_placement(max_bytes => -1)
$refused$);
CALL tiered_storage.apply_placement(tiers => '{regress_nowhere}');
CALL tiered_storage.apply_placement(horizon => '0');
CALL tiered_storage.apply_placement(objective => 'speed');
CALL tiered_storage.apply_placement(schemas => '{regress_nowhere}');
CALL tiered_storage.apply_placement(relations => '{}');
CALL tiered_storage.undo_move(NULL);
CALL tiered_storage.undo_move(0);
CALL tiered_storage.undo_move(999999999);
BEGIN;
CALL tiered_storage.apply_placement();
ROLLBACK;
BEGIN;
CALL tiered_storage.undo_move(1);
ROLLBACK;

\echo '-- To look is possible there, too.'
BEGIN;
CALL tiered_storage.apply_placement(dry_run => true);
ROLLBACK;

\echo '-- Only what the caller may move is moved.'
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}'),
	tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": null}') \g /dev/null
CREATE ROLE regress_placer;
GRANT USAGE ON SCHEMA tiered_storage TO regress_placer;
SET ROLE regress_placer;
SELECT * FROM pg_temp.refused($refused$
CALL tiered_storage.apply_placement()
CALL tiered_storage.undo_move(1)
$refused$);
RESET ROLE;
GRANT EXECUTE ON PROCEDURE tiered_storage.apply_placement TO regress_placer;
\echo '-- Nor is room made for what he may not move.'
ALTER TABLE regress_p_hot OWNER TO regress_placer;
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_placer;
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 18 * 8192)) \g /dev/null
SELECT relation, recommended_tier, confidence FROM tiered_storage.recommend_placement()
	ORDER BY relation::text COLLATE "C";
SET ROLE regress_placer;
CALL tiered_storage.apply_placement(dry_run => true);
RESET ROLE;
CALL tiered_storage.apply_placement(dry_run => true);
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
REVOKE CREATE ON TABLESPACE regress_ts_slow FROM regress_placer;
ALTER TABLE regress_p_hot OWNER TO CURRENT_USER;
ALTER TABLE regress_p_small OWNER TO regress_placer;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_placer;
UPDATE _tiered_storage.relation_state SET random_fast = 90000, random_slow = 90000, device_random_fast = 90000,
	device_random_slow = 90000 WHERE relation_oid = 'regress_p_small'::regclass;
SELECT count(*) AS advised FROM tiered_storage.recommend_placement();
SET ROLE regress_placer;
CALL tiered_storage.apply_placement();
RESET ROLE;
SELECT * FROM regress_places;

SET client_min_messages = warning;
DROP VIEW regress_places;
DROP TABLE regress_p_cold, regress_p_hot, regress_p_doubtful, regress_p_small;
DROP PROCEDURE regress_heat;
DROP EXTENSION tiered_storage;
REVOKE ALL ON TABLESPACE regress_ts_fast FROM regress_placer;
DROP ROLE regress_placer;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
