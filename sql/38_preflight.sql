-- preflight(), and dry runs of what moves: what is said is what would happen, and nothing does.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier(t, low_watermark => 0.999, high_watermark => 1)
	FROM unnest('{regress_fast,regress_slow,regress_cheap}'::name[]) t \g /dev/null
RESET client_min_messages;

-- How much there is differs from machine to machine, and so do devices.
CREATE FUNCTION regress_masked(text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(regexp_replace(replace($1, E'\n', ' '), '[0-9.]+ (bytes|kB|MB|GB|TB)', 'N', 'g'), 'be [0-9]+ %', 'be N %')
$$;
\set show 'SELECT check_name, verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy FROM tiered_storage.preflight'
\set blocks 'WHERE verdict = ''blocks'' AND check_name <> ''verdict'''

CREATE TABLE regress_p (id int PRIMARY KEY USING INDEX TABLESPACE regress_ts_fast, t text)
	WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_p VALUES (1, 'x');

\echo '-- Nothing is in the way'

SELECT check_name, verdict IN ('ok', 'warning') AS fine, finding <> '' AS found, (verdict = 'ok') = (remedy IS NULL)
	AS has_remedy
	FROM tiered_storage.preflight('regress_p', 'regress_slow', include_all => true) WHERE check_name <> 'verdict';
:show('regress_p', 'regress_slow', include_all => true)
	WHERE check_name ~ '^(relation|rights|pin|method|directory|capacity|locks)$'
		ORDER BY check_name COLLATE "C";
\echo '-- By default the verdict, and what is not ok.'
SELECT check_name, verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy
	FROM tiered_storage.preflight('regress_p', 'regress_slow') WHERE check_name IN ('verdict', 'rights', 'pin', 'method');
\echo '-- All tablespaces of tests are beside each other.'
SELECT check_name, verdict, regexp_replace(replace(finding, E'\n', ' '), ', \w+:', ':') AS finding
	FROM tiered_storage.preflight('regress_p_pkey', 'regress_ts_slow', include_all => true) WHERE check_name IN ('relation', 'place');
\echo '-- An index elsewhere.'
SELECT replace(finding, E'\n', ' ') AS finding FROM tiered_storage.preflight('regress_p', 'regress_slow', index_target => 'regress_fast', include_all => true)
	WHERE check_name = 'relation';
\echo '-- Where it is.'
:show('regress_p', 'regress_fast', include_all => true) WHERE check_name IN ('verdict', 'place', 'space', 'wal', 'time')
	ORDER BY check_name COLLATE "C";
\echo '-- Moves under a lock.'
CREATE UNLOGGED TABLE regress_p_unlogged (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_p_unlogged VALUES (1);
:show('regress_p_unlogged', 'regress_slow', include_all => true) WHERE check_name IN ('verdict', 'method')
	ORDER BY check_name COLLATE "C";
:show('regress_p_unlogged', 'regress_slow', allow_lock => true, include_all => true) WHERE check_name IN ('verdict', 'method', 'wal')
	ORDER BY check_name COLLATE "C";
\echo '-- No tier, so nothing is known of it.'
SET client_min_messages = warning;
CREATE TABLESPACE regress_x LOCATION '';
RESET client_min_messages;
:show('regress_p', 'regress_x', include_all => true) WHERE check_name IN ('capacity', 'time') ORDER BY check_name COLLATE "C";
\echo '-- Moves are paused.'
SELECT tiered_storage.pause();
SELECT verdict, regress_masked(finding) ~ '^moves are paused: a CALL waits until they are resumed; ' AS waits, remedy
	FROM tiered_storage.preflight('regress_p', 'regress_slow', include_all => true) WHERE check_name = 'start';
SELECT tiered_storage.resume();

\echo '-- What blocks is what a move is refused for'

CREATE VIEW regress_p_view AS SELECT 1;
CREATE SEQUENCE regress_p_sequence;
CREATE FOREIGN DATA WRAPPER regress_p_wrapper;
CREATE SERVER regress_p_server FOREIGN DATA WRAPPER regress_p_wrapper;
CREATE FOREIGN TABLE regress_p_foreign (a int) SERVER regress_p_server;
CREATE TABLE regress_p_dup (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_p_dup VALUES (1), (1);
CREATE UNIQUE INDEX CONCURRENTLY regress_p_dup_i ON regress_p_dup (a) TABLESPACE regress_ts_fast;
:show('regress_p_view', 'regress_slow');
:show('regress_p_sequence', 'regress_slow') :blocks;
:show('regress_p_foreign', 'regress_slow') :blocks;
:show('pg_class', 'regress_slow') :blocks;
:show('pg_database', 'regress_slow') :blocks;
:show('regress_p', 'pg_global') :blocks;
\echo '-- The name of the temporary schema differs.'
CREATE TEMP TABLE regress_p_temp (a int);
SELECT check_name, verdict, regress_masked(remedy) AS remedy FROM tiered_storage.preflight('regress_p_temp', 'regress_slow') :blocks;
:show('regress_p_unlogged', 'regress_slow') :blocks;
CALL tiered_storage.move_relation('regress_p_unlogged', 'regress_slow');
:show('regress_p_dup_i', 'regress_slow') :blocks;
CALL tiered_storage.move_relation('regress_p_dup_i', 'regress_slow');
:show('regress_p_dup', 'regress_slow') :blocks;

SELECT tiered_storage.pin('regress_p', 'regress_fast', include_indexes => true);
:show('regress_p', 'regress_slow') :blocks;
CALL tiered_storage.move_relation('regress_p', 'regress_slow');
CALL tiered_storage.move_relation('regress_p', 'regress_slow', dry_run => true);
:show('regress_p_pkey', 'regress_slow') :blocks;
CALL tiered_storage.move_relation('regress_p_pkey', 'regress_slow');
:show('regress_p', 'regress_fast') :blocks;
SELECT tiered_storage.unpin('regress_p') \gset
\echo '-- One thing in the way hides no other.'
SELECT tiered_storage.pin('regress_p_unlogged', 'regress_fast');
:show('regress_p_unlogged', 'regress_slow') :blocks;
SELECT tiered_storage.unpin('regress_p_unlogged') \gset

\echo '-- Full, by what somebody has said; what comes first is counted.'
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 8192}') \gset
:show('regress_p', 'regress_slow') :blocks;
CALL tiered_storage.move_relation('regress_p', 'regress_slow');
CALL tiered_storage.move_relation('regress_p', 'regress_slow', dry_run => true);
SELECT pg_total_relation_size('regress_p') - 8192 AS not_both \gset
SELECT tiered_storage.alter_tier('regress_slow', device => jsonb_build_object('capacity_bytes', :not_both)) \gset
SELECT check_name, verdict, regress_masked(finding) AS finding
	FROM tiered_storage.preflight('regress_p', 'regress_slow') :blocks;
SELECT check_name, verdict, regress_masked(finding) AS finding
	FROM tiered_storage.preflight('regress_p', 'regress_slow', include_indexes => false) :blocks;
SELECT tiered_storage.alter_tier('regress_slow', low_watermark => 0.01, high_watermark => 0.02,
	device => jsonb_build_object('capacity_bytes', :not_both * 10)) \gset
SELECT check_name, verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy
	FROM tiered_storage.preflight('regress_p', 'regress_slow', include_all => true) WHERE check_name = 'capacity';
SELECT tiered_storage.alter_tier('regress_slow', low_watermark => 0.999, high_watermark => 1,
	device => '{"capacity_bytes": 1000000000}') \gset
SELECT count(*) FROM tiered_storage.preflight('regress_p', 'regress_slow') :blocks;
\echo '-- What no sample has seen is there as well: two of three fit.'
CREATE TABLE regress_p_new (at date, v int) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE regress_p_new_%s PARTITION OF regress_p_new FOR VALUES FROM (%L) TO (%L) TABLESPACE regress_ts_fast', y, y || '-01-01', y + 1 || '-01-01') FROM generate_series(2001, 2003) y \gexec
INSERT INTO regress_p_new SELECT make_date(2001 + i % 3, 1, 1), i FROM generate_series(1, 30000) i;
SELECT tiered_storage.alter_tier('regress_cheap', low_watermark => 0.1, high_watermark => 0.7,
	device => jsonb_build_object('capacity_bytes', pg_table_size('regress_p_new_2001') * 5 / 2)) \g /dev/null
SELECT check_name, verdict, regress_masked(finding) AS finding
	FROM tiered_storage.preflight('regress_p_new', 'regress_cheap', include_all => true) WHERE check_name = 'capacity';
CALL tiered_storage.move_relation('regress_p_new_2001', 'regress_cheap');
SELECT check_name, verdict, replace(finding, E'\n', ' ') AS finding FROM tiered_storage.preflight('regress_p_new_2002', 'regress_cheap', include_all => true)
	WHERE check_name = 'capacity';
CALL tiered_storage.move_relation('regress_p_new_2002', 'regress_cheap');
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation('regress_p_new_2003', 'regress_cheap');
\set VERBOSITY default
SELECT count(*) FROM pg_class WHERE relname ~ '^regress_p_new_' AND reltablespace = (SELECT oid FROM pg_tablespace
	WHERE spcname = 'regress_ts_cheap');
\echo '-- Where nothing is left to be moved, what is there counts.'
SELECT check_name, verdict, replace(finding, E'\n', ' ') AS finding FROM tiered_storage.preflight('regress_p_new_2002', 'regress_cheap', include_all => true)
	WHERE check_name = 'capacity';
DROP TABLE regress_p_new;
SELECT tiered_storage.alter_tier('regress_cheap', low_watermark => 0.999, high_watermark => 1,
	device => '{"capacity_bytes": null}') \g /dev/null
RESET client_min_messages;

\echo '-- Partitions, of which one is foreign.'
CREATE TABLE regress_p_m (at date, v int) PARTITION BY RANGE (at);
CREATE TABLE regress_p_m_1 PARTITION OF regress_p_m FOR VALUES
	FROM ('2025-01-01') TO ('2026-01-01') TABLESPACE regress_ts_fast;
CREATE UNLOGGED TABLE regress_p_m_2 PARTITION OF regress_p_m FOR VALUES
	FROM ('2026-01-01') TO ('2027-01-01') TABLESPACE regress_ts_fast;
CREATE FOREIGN TABLE regress_p_m_3 PARTITION OF regress_p_m FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-01') SERVER regress_p_server;
CREATE INDEX regress_p_m_i ON regress_p_m_1 (at) TABLESPACE regress_ts_fast;
:show('regress_p_m', 'regress_slow', include_all => true) WHERE check_name IN ('relation', 'method') ORDER BY check_name COLLATE "C";
CALL tiered_storage.move_relation('regress_p_m', 'regress_slow', dry_run => true);
CREATE TABLE regress_p_none (a int) PARTITION BY LIST (a);
:show('regress_p_none', 'regress_slow', include_all => true) WHERE check_name IN ('relation', 'place') ORDER BY check_name COLLATE "C";
CALL tiered_storage.move_relation('regress_p_none', 'regress_slow', dry_run => true);
\echo '-- Of an extension: tables of ours are no exception.'
SELECT verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy FROM tiered_storage.preflight('_tiered_storage.pin', 'regress_slow', include_all => true)
	WHERE check_name = 'relation';

\echo '-- Whose rights'

CREATE ROLE regress_p_owner;
CREATE ROLE "regress p'monitor" IN ROLE pg_monitor;
GRANT USAGE ON SCHEMA tiered_storage TO regress_p_owner;
GRANT EXECUTE ON FUNCTION tiered_storage.preflight TO regress_p_owner;
CREATE TABLE regress_p_owned (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
ALTER TABLE regress_p_owned OWNER TO regress_p_owner;
\echo '-- An administrator can do what the owner cannot.'
:show('regress_p_owned', 'regress_slow', include_all => true) WHERE check_name = 'rights';
SET ROLE regress_p_owner;
SELECT check_name, verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy FROM tiered_storage.preflight('regress_p_owned', 'regress_slow', include_all => true)
	WHERE check_name IN ('rights', 'standbys') ORDER BY 1;
SELECT check_name, verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy FROM tiered_storage.preflight('regress_p', 'regress_slow', include_all => true)
	WHERE check_name = 'rights';
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_p_owner;
SET ROLE regress_p_owner;
SELECT check_name, verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy FROM tiered_storage.preflight('regress_p_owned', 'regress_slow', include_all => true)
	WHERE check_name = 'rights' OR (verdict = 'blocks' AND check_name <> 'verdict');
RESET ROLE;
SET ROLE "regress p'monitor";
SELECT check_name, verdict, regress_masked(finding) AS finding, regress_masked(remedy) AS remedy FROM tiered_storage.preflight('regress_p_owned', 'regress_slow', include_all => true)
	WHERE check_name = 'rights' OR (verdict = 'blocks' AND check_name <> 'verdict');
CALL tiered_storage.move_relation('regress_p_owned', 'regress_slow', dry_run => true);
RESET ROLE;
CREATE ROLE regress_p_nobody;
SET ROLE regress_p_nobody;
\set VERBOSITY sqlstate
SELECT * FROM tiered_storage.preflight('regress_p', 'regress_slow');
\set VERBOSITY default
RESET ROLE;

\echo '-- What makes no sense'

SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage.preflight(NULL, 'regress_slow')
SELECT * FROM tiered_storage.preflight('regress_p', NULL)
SELECT * FROM tiered_storage.preflight(0, 'regress_slow')
SELECT * FROM tiered_storage.preflight('regress_p', '')
SELECT * FROM tiered_storage.preflight('regress_p', 'no_such_place')
SELECT * FROM tiered_storage.preflight('regress_p', 'regress_slow', allow_lock => NULL)
SELECT * FROM tiered_storage.preflight('regress_p_pkey', 'regress_slow', index_target => 'regress_fast')
SELECT * FROM tiered_storage.preflight('regress_p', 'regress_slow', include_indexes => false, index_target => 'regress_fast')
CALL tiered_storage.move_relation('regress_p', 'regress_slow', dry_run => NULL)
CALL tiered_storage.move_relation('regress_p', 'no_such_place', dry_run => true)
CALL tiered_storage.move_relation('regress_p_view', 'regress_slow', dry_run => true)
CALL tiered_storage.undo_move(1, dry_run => NULL)
CALL tiered_storage.migrate(dry_run => NULL)
CALL tiered_storage.migrate(ignore_windows => NULL)
CALL tiered_storage.undo_move(-1, dry_run => true)
$refused$);

\echo '-- Dry runs'

CREATE VIEW regress_p_traces AS SELECT (SELECT count(*) FROM _tiered_storage.moves) AS moves, (SELECT count(*)
	FROM _tiered_storage.move_file) AS files,
	pg_relation_filepath('regress_p') AS file, pg_current_xact_id_if_assigned() AS xid;
-- Made up, since no call makes it in the time of a test: an empty record of moves.
TRUNCATE _tiered_storage.move;
SELECT moves, files, xid, file AS before FROM regress_p_traces \gset
BEGIN;
SELECT count(*) > 0 AS asked FROM tiered_storage.preflight('regress_p', 'regress_slow');
CALL tiered_storage.move_relation('regress_p', 'regress_slow', dry_run => true);
CALL tiered_storage.move_relation('regress_p', 'regress_slow', index_target => 'regress_cheap', dry_run => true);
CALL tiered_storage.move_relation('regress_p', 'regress_fast', dry_run => true);
CALL tiered_storage.move_relation('regress_p_unlogged', 'regress_slow', allow_lock => true, dry_run => true);
SELECT moves, files, file = :'before' AS same, xid FROM regress_p_traces;
COMMIT;
BEGIN READ ONLY;
SELECT count(*) > 0 AS asked FROM tiered_storage.preflight('regress_p', 'regress_slow');
CALL tiered_storage.move_relation('regress_p', 'regress_slow', dry_run => true);
COMMIT;
SET default_transaction_read_only = on;
:show('regress_p', 'regress_slow') :blocks;
CALL tiered_storage.move_relation('regress_p', 'regress_slow');
RESET default_transaction_read_only;

\echo '-- A batch, and what undoing it would do.'
CREATE TABLE regress_p_parts (at date NOT NULL, v int) PARTITION BY RANGE (at);
CREATE TABLE regress_p_parts_1 PARTITION OF regress_p_parts FOR VALUES
	FROM ('2001-01-01') TO ('2001-02-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_parts_2 PARTITION OF regress_p_parts FOR VALUES
	FROM ('2001-02-01') TO ('2001-03-01') TABLESPACE regress_ts_fast;
CREATE UNLOGGED TABLE regress_p_parts_3 PARTITION OF regress_p_parts FOR VALUES
	FROM ('2001-03-01') TO ('2001-04-01') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_p_parts', '1 day', 'regress_slow') AS policy \gset
\set VERBOSITY terse
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
RESET tiered_storage.test_now;
\set VERBOSITY default
SELECT DISTINCT batch_id AS batch FROM _tiered_storage.moves WHERE batch_id IS NOT NULL \gset
SELECT moves, files FROM regress_p_traces;
BEGIN READ ONLY;
CALL tiered_storage.undo_move(:batch, dry_run => true);
COMMIT;
SELECT moves, files FROM regress_p_traces;
SELECT tiered_storage.pin('regress_p_parts_1', 'regress_slow');
ALTER TABLE regress_p_parts_2 SET TABLESPACE regress_ts_cheap;
CALL tiered_storage.undo_move(:batch, dry_run => true);
GRANT EXECUTE ON PROCEDURE tiered_storage.undo_move TO regress_p_owner;
SET ROLE regress_p_owner;
CALL tiered_storage.undo_move(:batch, dry_run => true);
RESET ROLE;
DROP TABLE regress_p_parts;
\set VERBOSITY terse
CALL tiered_storage.undo_move(:batch, dry_run => true);
\set VERBOSITY default

SET client_min_messages = warning;
DROP VIEW regress_p_traces, regress_p_view;
DROP TABLE regress_p, regress_p_unlogged, regress_p_dup, regress_p_m, regress_p_none, regress_p_owned;
DROP SEQUENCE regress_p_sequence;
DROP FOREIGN DATA WRAPPER regress_p_wrapper CASCADE;
DROP FUNCTION regress_masked;
DROP OWNED BY regress_p_owner;
DROP ROLE regress_p_owner, regress_p_nobody, "regress p'monitor";
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
DROP TABLESPACE regress_x;
