-- A tier of an object store takes only tables that are frozen, and their indexes.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = warning;
CREATE TABLESPACE regress_ts_store LOCATION '';
SELECT tiered_storage.add_tier('regress_local', '{pg_default}', profile => 'nvme'),
	tiered_storage.add_tier('regress_store', '{regress_ts_store}', profile => 'object_store') \g /dev/null
\set where 'SELECT c.relname, s.spcname, (SELECT x.spcname FROM pg_class y JOIN pg_tablespace x ON x.oid = y.reltablespace WHERE y.oid = c.reltoastrelid) AS toast FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE c.relname LIKE \'regress\\_o%\' AND c.relkind IN (\'r\', \'i\', \'m\') ORDER BY 1'
-- Rows that an open transaction may have to see as dead are not frozen.
CREATE PROCEDURE regress_quiet() LANGUAGE plpgsql AS $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '3 minutes';
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND
			(backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)) LOOP
		IF clock_timestamp() > give_up_at THEN
			RAISE EXCEPTION 'other transactions do not end';
		END IF;
		COMMIT;
		PERFORM pg_sleep(0.01);
	END LOOP;
END
$$;
-- Dead tuples on few pages: VACUUM passes indexes over, and then does not freeze those pages.
CREATE TABLE regress_o (id int PRIMARY KEY, t text, filler text) WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off);
ALTER TABLE regress_o ALTER t SET STORAGE EXTERNAL;
INSERT INTO regress_o SELECT i, CASE WHEN i = 1 THEN repeat('x', 5000) END, repeat('x', 1000) FROM generate_series(1, 3000) i;
\set ECHO all
CALL tiered_storage.move_relation('regress_o', 'regress_store', include_indexes => false);
CALL regress_quiet();
VACUUM (FREEZE) regress_o;
DELETE FROM regress_o WHERE id = 9;
CALL regress_quiet();
VACUUM (FREEZE) regress_o;
SELECT verdict, finding, remedy FROM tiered_storage.preflight('regress_o', 'regress_store') WHERE check_name = 'frozen';
-- An index goes with its table.
CALL tiered_storage.move_relation('regress_o_pkey', 'regress_store');
CALL regress_quiet();
VACUUM (FREEZE, INDEX_CLEANUP ON) regress_o;
CALL tiered_storage.move_relation('regress_o', 'regress_store');
:where;
-- What is written to there is reported.
CALL tiered_storage.sample();
INSERT INTO regress_o VALUES (0);
SELECT pg_stat_force_next_flush();
CALL tiered_storage.sample();
SELECT substring(now FROM 'tables written.*') AS now FROM _tiered_storage.activity_rows() WHERE name = 'regress_store';
-- One row in its TOAST table is enough; a move back needs nothing.
CALL tiered_storage.move_relation('regress_o', 'regress_local');
UPDATE regress_o SET t = repeat('y', 5000) WHERE id = 1;
CALL regress_quiet();
VACUUM (FREEZE, INDEX_CLEANUP ON, PROCESS_TOAST OFF) regress_o;
CALL tiered_storage.move_relation('regress_o', 'regress_store', include_indexes => false);
-- What is empty is not written.
CREATE MATERIALIZED VIEW regress_o_empty AS SELECT 1 AS a WITH NO DATA;
CALL tiered_storage.move_relation('regress_o_empty', 'regress_store');
:where;
-- Nor is it asked again under the lock of the copy: what needs one is not taken.
CREATE UNLOGGED TABLE regress_o_unlogged (a int);
CALL tiered_storage.move_relation('regress_o_unlogged', 'regress_store', allow_lock => true);
DROP TABLE regress_o_unlogged;
-- A policy waits until nothing is written.
CREATE TABLE regress_o_days (day date) PARTITION BY RANGE (day);
CREATE TABLE regress_o_1 PARTITION OF regress_o_days FOR VALUES FROM ('2020-01-01') TO ('2020-01-02');
INSERT INTO regress_o_days VALUES ('2020-01-01');
SELECT tiered_storage.add_tiering_policy('regress_o_days', tier => 'regress_store', move_after => '30 days');
SELECT tiered_storage.add_tiering_policy('regress_o_days', tier => 'regress_local', index_tier => 'regress_store',
	move_after => '30 days');
SET client_min_messages = notice;
SELECT tiered_storage.add_tiering_policy('regress_o_days', tier => 'regress_store', move_after => '30 days',
	options => '{"no_writes_for": "7 days"}', dry_run => true);
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_o_days', tier => 'regress_store', move_after => '30 days',
	options => '{"no_writes_for": "7 days"}') AS policy \gset
SELECT tiered_storage.alter_policy(policy_id => :policy, changes => '{"no_writes_for": null}');
SELECT tiered_storage.alter_policy(policy_id => :policy, changes => '{"move_after": "60 days"}');
-- It is the place neither for the WAL nor for temporary files, and the last tier.
SELECT count(*) FROM tiered_storage.recommend_settings() WHERE setting IN ('temp_tablespaces', 'pg_wal') AND value ~ 'regress_ts_store';
SELECT tier_name, rank FROM tiered_storage.tiers ORDER BY rank;
\set ECHO none
SET client_min_messages = warning;
DROP MATERIALIZED VIEW regress_o_empty;
DROP TABLE regress_o, regress_o_days;
DROP PROCEDURE regress_quiet();
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_store;
