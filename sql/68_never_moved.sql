-- What nobody can move, or only who has said so: tables of Citus' columnar access method (here
-- heap by that name) and what belongs to an extension.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
SET tiered_storage.test_now = '2040-01-01 00:00:00+00';
CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE regress_n (at date, v int) PARTITION BY RANGE (at);
CREATE TABLE regress_n_1 PARTITION OF regress_n FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') USING columnar TABLESPACE regress_ts_fast;
CREATE TABLE regress_n_2 PARTITION OF regress_n FOR VALUES
	FROM ('2021-01-01') TO ('2022-01-01') TABLESPACE regress_ts_fast;
CREATE INDEX regress_n_1_at ON regress_n_1 (at) TABLESPACE regress_ts_fast;
INSERT INTO regress_n VALUES ('2020-02-02', 1), ('2021-02-02', 2);
-- A policy leaves it alone, with its index, and is not due for ever.
SELECT tiered_storage.add_tiering_policy('regress_n', move_after => '1 year', tier => 'regress_slow') > 0 AS added \gset
SELECT relation, verdict, reason FROM _tiered_storage.evaluate_policies() WHERE verdict <> 'due';
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT relation, last_due, last_result FROM _tiered_storage.policies;
SELECT relation, state FROM _tiered_storage.moves ORDER BY move_id;
CALL tiered_storage.migrate();
-- Whatever is asked: refused, with a lock and without one.
CALL tiered_storage.move_relation('regress_n_1', 'regress_slow');
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation('regress_n_1', 'regress_slow', allow_lock => true);
\set VERBOSITY default
SELECT check_name, verdict, replace(finding, E'\n', ' ') AS finding FROM tiered_storage.preflight('regress_n_1', 'regress_slow')
	WHERE verdict = 'blocks';
CALL tiered_storage.sample();
SELECT relation, current_tier = recommended_tier AS stays, reason
	FROM tiered_storage.recommend_placement(include_unchanged => true, relations => '{regress_n_1}')
		WHERE kind = 'table';
-- Its index may go where somebody wants it.
CALL tiered_storage.move_relation('regress_n_1_at', 'regress_slow');
DROP TABLE regress_n;
DROP ACCESS METHOD columnar;

-- What belongs to an extension is moved only to where it is pinned.
CREATE TABLE regress_n (at date PRIMARY KEY, v int) TABLESPACE regress_ts_fast;
ALTER EXTENSION plpgsql ADD TABLE regress_n;
CALL tiered_storage.move_relation('regress_n', 'regress_slow');
CALL tiered_storage.move_relation('regress_n_pkey', 'regress_slow', dry_run => true);
CREATE TABLESPACE regress_ts_none LOCATION '';
CALL tiered_storage.move_relation('regress_n', 'regress_ts_none', allow_lock => true);
SELECT check_name, verdict, replace(finding, E'\n', ' ') AS finding, replace(remedy, E'\n', ' ') AS remedy FROM tiered_storage.preflight('regress_n', 'regress_slow', include_all => true)
	WHERE check_name = 'relation';
SELECT tiered_storage.add_tiering_policy('regress_n', idle_for => '1 year', tier => 'regress_slow');
SELECT tiered_storage.pin('regress_n', 'regress_cheap');
CALL tiered_storage.move_relation('regress_n', 'regress_slow');
SELECT tiered_storage.pin('regress_n', 'regress_slow');
SELECT check_name, verdict, replace(finding, E'\n', ' ') AS finding FROM tiered_storage.preflight('regress_n', 'regress_slow', include_all => true)
	WHERE check_name = 'relation';
CALL tiered_storage.move_relation('regress_n', 'regress_slow');
SELECT c.relname, t.spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname LIKE 'regress\_n%' ORDER BY 1;
SELECT tiered_storage.unpin('regress_n');
ALTER EXTENSION plpgsql DROP TABLE regress_n;
DROP TABLE regress_n;
-- The same of one that is partitioned, and of a partition alone.
CREATE TABLE regress_n (at date, v int) PARTITION BY RANGE (at);
CREATE TABLE regress_n_1 PARTITION OF regress_n FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
ALTER EXTENSION plpgsql ADD TABLE regress_n;
SELECT tiered_storage.add_tiering_policy('regress_n', move_after => '1 year', tier => 'regress_slow');
ALTER EXTENSION plpgsql DROP TABLE regress_n;
SELECT tiered_storage.add_tiering_policy('regress_n', move_after => '1 year', tier => 'regress_slow') \g /dev/null
ALTER EXTENSION plpgsql ADD TABLE regress_n_1;
SELECT relation, verdict, reason FROM _tiered_storage.evaluate_policies();
CALL tiered_storage.migrate();
SELECT tiered_storage.pin('regress_n_1', 'regress_slow');
SELECT relation, verdict FROM _tiered_storage.evaluate_policies();
ALTER EXTENSION plpgsql DROP TABLE regress_n_1;
DROP TABLE regress_n;

-- Who names a table that others inherit from is told that they stay.
CREATE TABLE regress_n (at date) TABLESPACE regress_ts_fast;
CREATE TABLE regress_n_1 () INHERITS (regress_n) TABLESPACE regress_ts_fast;
CREATE TABLE regress_n_2 () INHERITS (regress_n_1) TABLESPACE regress_ts_fast;
CALL tiered_storage.move_relation('regress_n', 'regress_slow', dry_run => true);
CALL tiered_storage.move_relation('regress_n', 'regress_slow');
CALL tiered_storage.move_relation('regress_n_1', 'regress_slow');
CALL tiered_storage.move_relation('regress_n_2', 'regress_slow');
DROP TABLE regress_n CASCADE;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
DROP TABLESPACE regress_ts_none;
