-- CALL move_relation(): what moves, what goes along, what is refused.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none

-- Where relations are: the database's own tablespace has no entry in pg_class.
CREATE VIEW regress_where AS
	SELECT c.oid::regclass::text AS relation, c.relkind AS kind, COALESCE(t.spcname, '(default)') AS tablespace,
		CASE WHEN c.reltoastrelid <> 0 THEN (SELECT COALESCE(tt.spcname, '(default)') FROM pg_class x
			LEFT JOIN pg_tablespace tt ON tt.oid = x.reltablespace WHERE x.oid = c.reltoastrelid) END AS toast
	FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname LIKE 'regress\_m%' AND c.relkind IN ('r', 'i', 'm', 'p', 'I');
\set where 'SELECT * FROM regress_where ORDER BY relation COLLATE "C"'
\set moves 'SELECT relation, kind, from_tier, to_tier, from_tablespace, to_tablespace, state, reason, method, attempts > 0 AS attempted, failures, error, sqlstate FROM _tiered_storage.moves ORDER BY move_id'

\echo '-- What moves'

CREATE TABLE regress_m (id int PRIMARY KEY, t text, u int) TABLESPACE regress_ts_fast;
CREATE INDEX "regress_m Idx" ON regress_m (u);
ALTER TABLE regress_m ALTER t SET STORAGE EXTERNAL;
INSERT INTO regress_m SELECT i, repeat('x', 5000), i FROM generate_series(1, 20) i;
:where;
\echo '-- To a tier, with the indexes; TOAST goes along.'
CALL tiered_storage.move_relation('regress_m', 'regress_slow');
:where;
:moves;
SELECT requested_by = current_user AS by_me, policy_id, size_bytes > 20 * 5000 AS toast_is_in,
	finished_at >= started_at AS finished,
	next_attempt_at, lock_wait_ms < elapsed_ms AS waited, lock_held_ms < elapsed_ms AS held
	FROM _tiered_storage.moves WHERE kind = 'table';
SELECT * FROM _tiered_storage.move_progress;
SELECT count(*), sum(length(t)) FROM regress_m;
\echo '-- It is there: nothing to do, nothing to record.'
CALL tiered_storage.move_relation('regress_m', 'regress_slow');
CALL tiered_storage.move_relation('regress_m', 'regress_ts_slow');
SELECT count(*) FROM _tiered_storage.moves;
\echo '-- To a tablespace by its name, without the indexes.'
CALL tiered_storage.move_relation('regress_m', 'regress_ts_fast', include_indexes => false);
:where;
\echo '-- What was left behind comes after it.'
CALL tiered_storage.move_relation('regress_m', 'regress_fast');
:where;
\echo '-- An index by itself.'
CALL tiered_storage.move_relation('"regress_m Idx"', 'regress_slow');
:where;
\echo '-- To the database''s own tablespace, and back; that is 0 in pg_class.'
CALL tiered_storage.move_relation('regress_m', 'pg_default');
:where;
CALL tiered_storage.move_relation('regress_m', 'pg_default');
SELECT from_tablespace, to_tablespace, from_tier, to_tier, state FROM _tiered_storage.moves
	ORDER BY move_id DESC LIMIT 3;
CALL tiered_storage.move_relation('regress_m', 'regress_slow');
SELECT count(*), sum(length(t)) FROM regress_m;
SET enable_seqscan = off;
SELECT id FROM regress_m WHERE u = 7;
RESET enable_seqscan;
DROP TABLE regress_m;
\echo '-- The history knows it still.'
SELECT relation, count(*) FROM _tiered_storage.moves GROUP BY relation ORDER BY relation COLLATE "C";
-- Made up, since no call makes it in the time of a test: an empty record of moves.
TRUNCATE _tiered_storage.move;

\echo '-- Materialized views, unlogged and empty tables; hostile names.'
CREATE SCHEMA "regress mv schema";
CREATE UNLOGGED TABLE "regress mv schema"."regress_m""t" (a int, b text) TABLESPACE regress_ts_fast;
INSERT INTO "regress mv schema"."regress_m""t" SELECT i, 'x' FROM generate_series(1, 1000) i;
CREATE INDEX "regress_m'i" ON "regress mv schema"."regress_m""t" (a);
CREATE MATERIALIZED VIEW "regress_m%s" TABLESPACE regress_ts_fast AS SELECT a FROM "regress mv schema"."regress_m""t";
CREATE UNIQUE INDEX "regress_m%d" ON "regress_m%s" (a);
CREATE TABLE regress_m_empty () TABLESPACE regress_ts_fast;
CALL tiered_storage.move_relation('"regress mv schema"."regress_m""t"', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('"regress mv schema"."regress_m""t"', 'regress_slow', allow_lock => true);
CALL tiered_storage.move_relation('"regress_m%s"', 'regress_slow');
CALL tiered_storage.move_relation('regress_m_empty', 'regress_slow');
SELECT relation, kind, tablespace FROM regress_where ORDER BY relation COLLATE "C";
SELECT relation, kind, state, method, size_bytes > 0 AS has_bytes, error FROM _tiered_storage.moves ORDER BY move_id;
SELECT count(*), sum(a) FROM "regress mv schema"."regress_m""t";
REFRESH MATERIALIZED VIEW CONCURRENTLY "regress_m%s";
SELECT count(*), sum(a) FROM "regress_m%s";
SELECT tablespace FROM regress_where WHERE relation = '"regress_m%s"';
SET client_min_messages = warning;
DROP SCHEMA "regress mv schema" CASCADE;
RESET client_min_messages;
DROP TABLE regress_m_empty;
TRUNCATE _tiered_storage.move;

\echo '-- A partitioned table means its leaves; foreign ones are not ours.'
CREATE FOREIGN DATA WRAPPER regress_fdw;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_fdw;
CREATE TABLE regress_m (at date, v int) PARTITION BY RANGE (at);
CREATE TABLE regress_m_1 PARTITION OF regress_m FOR VALUES FROM ('2025-01-01') TO ('2026-01-01') PARTITION BY LIST (v);
CREATE TABLE regress_m_1_1 PARTITION OF regress_m_1 FOR VALUES IN (1) TABLESPACE regress_ts_fast;
CREATE TABLE regress_m_1_2 PARTITION OF regress_m_1 DEFAULT TABLESPACE regress_ts_slow;
CREATE TABLE regress_m_2 PARTITION OF regress_m FOR VALUES
	FROM ('2026-01-01') TO ('2027-01-01') TABLESPACE regress_ts_fast;
CREATE INDEX regress_m_at ON regress_m (at);
CREATE FOREIGN TABLE regress_m_3 PARTITION OF regress_m FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-01') SERVER regress_server;
INSERT INTO regress_m VALUES ('2025-01-01', 1), ('2025-01-01', 2), ('2026-01-01', 3);
CALL tiered_storage.move_relation('regress_m', 'regress_slow');
:where;
SELECT relation, kind FROM _tiered_storage.moves ORDER BY relation COLLATE "C";
CALL tiered_storage.move_relation('regress_m_1', 'regress_cheap', include_indexes => false);
:where;
SELECT tableoid::regclass, * FROM ONLY regress_m_1_1 UNION ALL SELECT tableoid::regclass, * FROM ONLY regress_m_2;
\echo '-- An inheritance parent is a table of its own.'
CREATE TABLE regress_m_parent (a int) TABLESPACE regress_ts_fast;
CREATE TABLE regress_m_child () INHERITS (regress_m_parent) TABLESPACE regress_ts_fast;
CALL tiered_storage.move_relation('regress_m_parent', 'regress_slow');
SELECT relation, tablespace FROM regress_where WHERE relation IN ('regress_m_parent', 'regress_m_child') ORDER BY 1;

\echo '-- What is refused'

TRUNCATE _tiered_storage.move;
CREATE VIEW regress_m_view AS SELECT 1;
CREATE SEQUENCE regress_m_sequence;
CREATE TYPE regress_m_type AS (a int);
CREATE TEMP TABLE regress_m_temp (a int);
CREATE TABLE regress_toast (t text);
SELECT reltoastrelid AS toast FROM pg_class WHERE oid = 'regress_toast'::regclass \gset
SELECT indexrelid AS toast_index FROM pg_index WHERE indrelid = :toast \gset
CALL tiered_storage.move_relation(NULL, 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m', NULL); \echo :SQLSTATE
CALL tiered_storage.move_relation(0, 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m', ''); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m', 'Regress_Slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m_2', 'no_such_place'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m_2', 'pg_global'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m_view', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m_sequence', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m_type', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m_3', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_m_at', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('pg_class', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('pg_class_oid_index', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('information_schema.sql_features', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('pg_database', 'regress_slow'); \echo :SQLSTATE
\echo '-- Names with oids in them.'
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation(:toast, 'regress_slow');
CALL tiered_storage.move_relation(:toast_index, 'regress_slow');
CALL tiered_storage.move_relation('regress_m_temp', 'regress_slow');
\set VERBOSITY default
SELECT count(*) AS recorded FROM _tiered_storage.moves;

\echo '-- In a transaction block, a function, a subtransaction: it could not commit.'
BEGIN;
CALL tiered_storage.move_relation('regress_m_2', 'regress_fast'); \echo :SQLSTATE
ROLLBACK;
CREATE FUNCTION regress_move() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.move_relation('regress_m_2', 'regress_fast');
END
$$;
SELECT regress_move(); \echo :SQLSTATE
DO $$
BEGIN
	CALL tiered_storage.move_relation('regress_m_2', 'regress_fast');
EXCEPTION WHEN division_by_zero THEN
END
$$; \echo :SQLSTATE
SELECT tablespace FROM regress_where WHERE relation = 'regress_m_2';
SELECT count(*) AS recorded FROM _tiered_storage.moves;
\echo '-- But in a DO block or a procedure that may commit it can.'
DO $$
DECLARE
	place text;
BEGIN
	FOREACH place IN ARRAY ARRAY['regress_fast', 'regress_cheap'] LOOP
		CALL tiered_storage.move_relation('regress_m_2', place);
	END LOOP;
END
$$;
SELECT relation, tablespace FROM regress_where WHERE relation LIKE 'regress\_m\_2%' ORDER BY 1;
SELECT relation, to_tier, state FROM _tiered_storage.moves ORDER BY move_id;

\echo '-- Which place is meant'

\echo '-- A tier and a tablespace of one name: well, if they are the same place.'
SET client_min_messages = warning;
CREATE TABLESPACE regress_x LOCATION '';
CREATE TABLESPACE regress_y LOCATION '';
SELECT tiered_storage.add_tier('regress_x', '{regress_x}', profile => 'hdd_7200', reserve_fraction => 0) \g /dev/null
SELECT tiered_storage.add_tier('regress_y', '{pg_default}', profile => 'hdd_7200', reserve_fraction => 0) \g /dev/null
RESET client_min_messages;
CALL tiered_storage.move_relation('regress_m_2', 'regress_x', include_indexes => false);
CALL tiered_storage.move_relation('regress_m_2', 'regress_y', include_indexes => false); \echo :SQLSTATE
SELECT tablespace FROM regress_where WHERE relation = 'regress_m_2';
\echo '-- A tablespace that belongs to no tier is a place, too.'
SELECT tiered_storage.remove_tier('regress_y') \g /dev/null
CALL tiered_storage.move_relation('regress_m_2', 'regress_y', include_indexes => false);
SELECT relation, from_tier, to_tier, from_tablespace, to_tablespace, state FROM _tiered_storage.moves
	ORDER BY move_id DESC LIMIT 1;
\echo '-- A tier of several tablespaces: a relation that is in one of them is there.'
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_x', tablespaces => '{regress_x,regress_y}') \g /dev/null
SELECT tiered_storage.alter_tier('regress_x', new_name => 'regress_two') \g /dev/null
RESET client_min_messages;
TRUNCATE _tiered_storage.move;
CALL tiered_storage.move_relation('regress_m_parent', 'regress_two');
SELECT t.tier_name FROM regress_where w JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_name = w.tablespace
	WHERE w.relation = 'regress_m_parent';
ALTER TABLE regress_m_parent SET TABLESPACE regress_x;
ALTER TABLE regress_m_2 SET TABLESPACE regress_y;
CALL tiered_storage.move_relation('regress_m_parent', 'regress_two');
CALL tiered_storage.move_relation('regress_m_2', 'regress_two', include_indexes => false);
SELECT relation, tablespace FROM regress_where WHERE relation IN ('regress_m_parent', 'regress_m_2') ORDER BY 1;
SELECT relation, state FROM _tiered_storage.moves;

\echo '-- A tier that is full takes nothing; the relation stays where it is, and works.'
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_cheap', device => '{"capacity_bytes": 16384}') \g /dev/null
RESET client_min_messages;
CREATE TABLE regress_m_big TABLESPACE regress_ts_fast AS SELECT i, repeat('x', 100) AS t
	FROM generate_series(1, 1000) i;
CREATE INDEX regress_m_big_i ON regress_m_big (i) TABLESPACE regress_ts_fast;
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation('regress_m_big', 'regress_cheap');
\set VERBOSITY default
SELECT relation, tablespace FROM regress_where WHERE relation LIKE 'regress\_m\_big%' ORDER BY 1;
SELECT relation, state, attempts, failures, next_attempt_at > finished_at AS later, left(error, 28) AS error, sqlstate
	FROM _tiered_storage.moves WHERE relation LIKE 'regress\_m\_big%' ORDER BY 1;
\echo '-- Once more: the same row.  With room: done, in the same row.'
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation('regress_m_big', 'regress_cheap', include_indexes => false);
\set VERBOSITY default
SELECT relation, state, failures FROM _tiered_storage.moves WHERE relation = 'regress_m_big';
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_cheap', device => '{"capacity_bytes": null}') \g /dev/null
RESET client_min_messages;
CALL tiered_storage.move_relation('regress_m_big', 'regress_cheap', include_indexes => false);
SELECT relation, state, attempts > 0 AS attempted, failures, next_attempt_at, error, sqlstate FROM _tiered_storage.moves
	WHERE relation = 'regress_m_big';

\echo '-- A row that somebody keeps out of the record: an error of its own, and no move.'
CREATE FUNCTION regress_no_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER regress_no_row BEFORE INSERT ON _tiered_storage.move FOR EACH ROW EXECUTE FUNCTION regress_no_row();
CREATE TABLE regress_m_unrecorded (id int) TABLESPACE regress_ts_fast;
CALL tiered_storage.move_relation('regress_m_unrecorded', 'regress_slow');
SELECT tablespace FROM regress_where WHERE relation = 'regress_m_unrecorded';
DROP TRIGGER regress_no_row ON _tiered_storage.move;
DROP FUNCTION regress_no_row;
DROP TABLE regress_m_unrecorded;

DROP TABLE regress_m, regress_m_parent, regress_m_child, regress_m_big, regress_toast, regress_m_temp;
DROP VIEW regress_m_view, regress_where;
DROP SEQUENCE regress_m_sequence;
DROP TYPE regress_m_type;
DROP FUNCTION regress_move;
SET client_min_messages = warning;
DROP FOREIGN DATA WRAPPER regress_fdw CASCADE;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_x;
DROP TABLESPACE regress_y;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
