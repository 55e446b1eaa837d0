-- The way back of what came from a tablespace that does not exist any more.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_gone LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_fast,regress_ts_gone}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
CREATE VIEW regress_places AS
	SELECT c.relname, s.spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.relname LIKE 'regress\_u%' ORDER BY 1;
CREATE TABLE regress_u (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_u_1 PARTITION OF regress_u FOR VALUES
	FROM ('2021-01-01') TO ('2022-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_u_2 PARTITION OF regress_u FOR VALUES
	FROM ('2022-01-01') TO ('2023-01-01') TABLESPACE regress_ts_gone;
SELECT tiered_storage.add_tiering_policy('regress_u', '1 day', 'regress_slow') AS policy \gset
CALL tiered_storage.migrate();
SELECT tiered_storage.alter_policy(policy_id => :policy, enabled => false) \g /dev/null
RESET client_min_messages;
SELECT max(batch_id) AS batch FROM _tiered_storage.move_batches \gset
ALTER TABLESPACE regress_ts_gone RENAME TO regress_ts_renamed;
\set ECHO all
CALL tiered_storage.undo_move(:batch, dry_run => true);
DROP TABLESPACE regress_ts_renamed;

-- A part of the batch: that is said, and the rest is undone.
CALL tiered_storage.undo_move(:batch, dry_run => true);
CALL tiered_storage.undo_move(:batch);
SELECT * FROM regress_places;

-- All that is left of it: that is no failure of the relation, and makes no batch.
SELECT undo_command FROM _tiered_storage.move_batches WHERE batch_id = :batch;
CALL tiered_storage.undo_move(:batch, dry_run => true);
CALL tiered_storage.undo_move(:batch);
SELECT DISTINCT replace(split_part(note, E'\n', 1), :'batch', 'N') AS why FROM tiered_storage.moves WHERE note ~ '^undo';
SELECT batch_id - :batch AS batch, relation, from_tablespace, to_tablespace, state, failures FROM _tiered_storage.moves
	ORDER BY move_id;

-- Where it was put is gone: then it has been moved since, which is said.
SET client_min_messages = warning;
CREATE TABLE regress_u_3 PARTITION OF regress_u FOR VALUES
	FROM ('2023-01-01') TO ('2024-01-01') TABLESPACE regress_ts_fast;
SELECT tiered_storage.pin('regress_u_3', 'regress_slow') \g /dev/null
CALL tiered_storage.apply_placement();
SELECT max(batch_id) AS batch FROM _tiered_storage.move_batches \gset
SELECT * FROM regress_places WHERE relname = 'regress_u_3';
SELECT tiered_storage.unpin('regress_u_3') \g /dev/null
RESET client_min_messages;
ALTER TABLE regress_u_2 SET TABLESPACE regress_ts_fast;
ALTER TABLE regress_u_3 SET TABLESPACE regress_ts_fast;
SELECT tiered_storage.remove_policy('regress_u'), tiered_storage.remove_tier('regress_slow');
DROP TABLESPACE regress_ts_slow;
CALL tiered_storage.undo_move(:batch, dry_run => true);
CALL tiered_storage.undo_move(:batch);
DROP TABLE regress_u_3;
CALL tiered_storage.undo_move(:batch);

DROP TABLE regress_u;
DROP VIEW regress_places;

-- One relation by its name: with what the call has moved along with it, and nothing that was moved before or after that.
SELECT tiered_storage.add_tier('regress_slow', '{pg_default}', profile => 'hdd_7200') \g /dev/null
CREATE TABLE regress_named (a int PRIMARY KEY, b int);
CREATE INDEX regress_named_b ON regress_named (b);
CREATE VIEW regress_places AS SELECT relname, COALESCE(t.spcname, 'pg_default') AS place FROM pg_class c
	LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE relname ~ '^regress_named' AND relkind IN ('r', 'i')
	ORDER BY relname;
CALL tiered_storage.undo_move();
CALL tiered_storage.undo_move(1, relation => 'regress_named');
CALL tiered_storage.undo_move(relation => 'regress_named');
SET client_min_messages = warning;
CALL tiered_storage.move_relation('regress_named_b', 'regress_ts_fast');
CALL tiered_storage.move_relation('regress_named', 'regress_ts_fast');
RESET client_min_messages;
CALL tiered_storage.undo_move(relation => 'regress_named', dry_run => true);
CALL tiered_storage.undo_move(relation => 'regress_named');
SELECT * FROM regress_places;
-- Again: it undoes what it has done, also of indexes that were rebuilt since.
REINDEX TABLE CONCURRENTLY regress_named;
CALL tiered_storage.undo_move(relation => 'regress_named');
SELECT * FROM regress_places;
SELECT relation, batch, state, split_part(note, E'\n', 1) AS why FROM tiered_storage.moves WHERE relation ~ 'regress_named' ORDER BY relation, at, why;
-- What is gone is counted.
ALTER TABLE regress_named DROP CONSTRAINT regress_named_pkey;
CALL tiered_storage.undo_move(relation => 'regress_named');
DROP TABLE regress_named;
DROP VIEW regress_places;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
\set ECHO none
-- Done
