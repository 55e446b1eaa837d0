-- An index is the one that was known if it has taken the place of that: same table, name and definition.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', reserve_fraction => 0),
	tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200',
		reserve_fraction => 0) \g /dev/null
\set flush 'SELECT pg_stat_force_next_flush()'

-- Moves that are undone: one is what it was, of each other one a part of the definition has changed.
CREATE TABLE regress_i (a int, b int, c text, d text, g int[]) TABLESPACE regress_ts_fast;
INSERT INTO regress_i SELECT i, i, 'x', 'x', '{1}' FROM generate_series(1, 100) i;
-- With its maps, which some majors make sooner than others.
VACUUM regress_i;
CREATE PROCEDURE regress_create(tablespace name, method text, opclass text, direction text, is_unique text,
	include text, collation_name text, nulls text, filter text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX regress_i_same ON regress_i (a) TABLESPACE %I', tablespace);
	EXECUTE format('CREATE INDEX regress_i_method ON regress_i USING %s (a) TABLESPACE %I', method, tablespace);
	EXECUTE format('CREATE INDEX regress_i_opclass ON regress_i (c %s) TABLESPACE %I', opclass, tablespace);
	EXECUTE format('CREATE INDEX regress_i_direction ON regress_i (a %s) TABLESPACE %I', direction, tablespace);
	EXECUTE format('CREATE %s INDEX regress_i_unique ON regress_i (a) TABLESPACE %I', is_unique, tablespace);
	EXECUTE format('CREATE INDEX regress_i_include ON regress_i (%s) TABLESPACE %I', include, tablespace);
	EXECUTE format('CREATE INDEX regress_i_collation ON regress_i (d COLLATE %s) TABLESPACE %I', collation_name,
		tablespace);
	EXECUTE format('CREATE UNIQUE INDEX regress_i_nulls ON regress_i (b) %s TABLESPACE %I', nulls, tablespace);
	EXECUTE format('CREATE INDEX regress_i_filter ON regress_i (b) TABLESPACE %I WHERE a > %s', tablespace, filter);
END
$$;
CALL regress_create('regress_ts_fast', 'btree', 'text_ops', 'ASC', '', 'a, b', '"default"', '', '1');
CALL tiered_storage.sample();
SELECT tiered_storage.pin('regress_i', 'regress_slow') \g /dev/null
CALL tiered_storage.apply_placement();
SELECT tiered_storage.unpin('regress_i') \g /dev/null
SELECT max(batch_id) AS batch FROM _tiered_storage.move_batches \gset
\set ECHO all
SELECT count(*) AS moved FROM _tiered_storage.moves WHERE batch_id = :batch AND state = 'done' AND kind = 'index';
DROP INDEX regress_i_same, regress_i_method, regress_i_opclass, regress_i_direction, regress_i_unique,
	regress_i_include, regress_i_collation, regress_i_nulls, regress_i_filter;
CALL regress_create('regress_ts_slow', 'hash', 'text_pattern_ops', 'DESC', 'UNIQUE', 'a) INCLUDE (b', '"C"',
	'NULLS NOT DISTINCT', '2');
RESET client_min_messages;
CALL tiered_storage.undo_move(:batch, dry_run => true);
CALL tiered_storage.undo_move(:batch);
SELECT c.relname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname ~ '^regress_i' AND t.spcname = 'regress_ts_fast' ORDER BY 1;
\set ECHO none
DROP TABLE regress_i;
DROP PROCEDURE regress_create;

-- Pins: it is on the index that has taken the place of the pinned one, and never on another one.
CREATE VIEW regress_pins AS SELECT p.relation, p.relation_name, pg_get_indexdef(p.relation) AS definition
	FROM _tiered_storage.pins p ORDER BY p.pinned_at;
CREATE TABLE regress_i (a int, b int) TABLESPACE regress_ts_fast;
CREATE TABLE regress_other (a int) TABLESPACE regress_ts_fast;
CREATE INDEX regress_i_a ON regress_i (a) TABLESPACE regress_ts_fast;
CREATE INDEX regress_i_b ON regress_i (b) TABLESPACE regress_ts_fast;
\set ECHO all
SELECT tiered_storage.pin('regress_i_a', 'regress_fast');
REINDEX INDEX CONCURRENTLY regress_i_a;
SELECT * FROM regress_pins;
DROP INDEX regress_i_a;
SELECT * FROM regress_pins;
CALL tiered_storage.sample();
CREATE INDEX regress_i_a ON regress_i (a) TABLESPACE regress_ts_fast;
SELECT * FROM regress_pins;
CALL tiered_storage.sample();
-- Of another definition.
DROP INDEX regress_i_a;
CREATE INDEX regress_i_a ON regress_i (b) TABLESPACE regress_ts_fast;
SELECT * FROM regress_pins;
-- On another table.
DROP INDEX regress_i_a;
CREATE INDEX regress_i_a ON regress_other (a) TABLESPACE regress_ts_fast;
SELECT * FROM regress_pins;
CALL tiered_storage.move_relation('regress_i_a', 'regress_slow');
DROP INDEX regress_i_a;
CREATE INDEX regress_i_a ON regress_i (a) TABLESPACE regress_ts_fast;
SELECT * FROM regress_pins;
\set VERBOSITY terse
CALL tiered_storage.move_relation('regress_i_a', 'regress_slow');
\set VERBOSITY default
-- Names that were exchanged before the pinned one was rebuilt.
CALL tiered_storage.sample();
ALTER INDEX regress_i_a RENAME TO regress_i_c;
ALTER INDEX regress_i_b RENAME TO regress_i_a;
ALTER INDEX regress_i_c RENAME TO regress_i_b;
SELECT * FROM regress_pins;
CALL tiered_storage.sample();
REINDEX INDEX CONCURRENTLY regress_i_b;
SELECT * FROM regress_pins;
-- Without a sample between it is not known which of them it is: none.
ALTER INDEX regress_i_a RENAME TO regress_i_c;
ALTER INDEX regress_i_b RENAME TO regress_i_a;
ALTER INDEX regress_i_c RENAME TO regress_i_b;
REINDEX INDEX CONCURRENTLY regress_i_a;
SELECT * FROM regress_pins;
SELECT tiered_storage.pin('regress_i_a', 'regress_fast');
SELECT * FROM regress_pins;
\set ECHO none
-- A column of another type: of the same operator family it is the same index; not of another one, nor if its predicate
-- reads the column.
-- (All of them: unpin() finds none of an index that is gone.)
-- Made up, since no call makes it in the time of a test: rows as a dump or another machine has left them.
DELETE FROM _tiered_storage.pin;
CREATE TABLE regress_type (a int, b int, c text, d int) TABLESPACE regress_ts_fast;
INSERT INTO regress_type SELECT i, i, i, i FROM generate_series(1, 100) i;
CREATE INDEX regress_type_a ON regress_type (a, d) INCLUDE (b) TABLESPACE regress_ts_fast;
CREATE INDEX regress_type_b ON regress_type (b) TABLESPACE regress_ts_fast;
CREATE INDEX regress_type_c ON regress_type (c) TABLESPACE regress_ts_fast;
CREATE INDEX regress_type_d ON regress_type (d) TABLESPACE regress_ts_fast;
CREATE INDEX regress_type_part ON regress_type (d) TABLESPACE regress_ts_fast WHERE a > 1;
CREATE INDEX regress_type_expr ON regress_type ((a + 1)) TABLESPACE regress_ts_fast;
CALL tiered_storage.sample();
\set ECHO all
SELECT count(tiered_storage.pin(i, 'regress_fast'))
	FROM unnest('{regress_type_a,regress_type_b,regress_type_c,regress_type_d,regress_type_part,regress_type_expr}'::regclass[]) i;
CREATE TEMPORARY TABLE regress_oids AS SELECT oid, relname FROM pg_class WHERE relname ~ '^regress_type_';
ALTER TABLE regress_type ALTER a TYPE bigint, ALTER b TYPE numeric, ALTER c TYPE varchar(50);
-- Those of these columns are others by their OIDs.
SELECT o.relname FROM regress_oids o JOIN pg_class c USING (oid);
SELECT relation, relation_name FROM regress_pins ORDER BY relation_name;
CALL tiered_storage.move_relation('regress_type_a', 'regress_slow');
CALL tiered_storage.sample();
SELECT relation, relation_name FROM regress_pins ORDER BY relation_name;
-- It is what it is now that is compared with the next one.
ALTER TABLE regress_type ALTER a TYPE int, ALTER c TYPE text;
SELECT relation, relation_name FROM regress_pins WHERE relation IS NOT NULL ORDER BY relation_name;
-- Families of the same type.
DROP INDEX regress_type_c, regress_type_d;
CREATE INDEX regress_type_d ON regress_type USING hash (d) TABLESPACE regress_ts_fast;
CREATE INDEX regress_type_c ON regress_type (c text_pattern_ops) TABLESPACE regress_ts_fast;
SELECT relation, relation_name FROM regress_pins WHERE relation IS NOT NULL ORDER BY relation_name;
DROP INDEX regress_type_c, regress_type_d;
CREATE INDEX regress_type_c ON regress_type (c varchar_ops) TABLESPACE regress_ts_fast;
CREATE INDEX regress_type_d ON regress_type (d) TABLESPACE regress_ts_fast;
SELECT relation, relation_name FROM regress_pins WHERE relation IS NOT NULL ORDER BY relation_name;
DROP TABLE regress_type, regress_oids;

-- The pin goes with the table of the index; a restored one finds the index by its name.
DELETE FROM _tiered_storage.pin;
SELECT tiered_storage.pin('regress_i_a', 'regress_fast') \g /dev/null
CREATE TEMPORARY TABLE dumped_pin AS SELECT * FROM _tiered_storage.pin;
DROP TABLE regress_i;
SELECT * FROM regress_pins;
CREATE TABLE regress_i (a int, b int) TABLESPACE regress_ts_fast;
CREATE INDEX regress_i_a ON regress_i (a) TABLESPACE regress_ts_fast;
CALL tiered_storage.sample();
SELECT count(*) FROM _tiered_storage.pin;
INSERT INTO _tiered_storage.pin SELECT * FROM dumped_pin;
SELECT * FROM regress_pins;
CALL tiered_storage.sample();
SELECT * FROM regress_pins;
\set ECHO none
DROP VIEW regress_pins;
DROP TABLE regress_other;

-- The sampler: an index that takes the name of another one, with counters that could have grown from those.
SET tiered_storage.test_now = '2040-01-01 00:00:00+00';
INSERT INTO regress_i SELECT i, i FROM generate_series(1, 1000) i;
VACUUM ANALYZE regress_i;
:flush \g /dev/null
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-06-01 00:00:00+00';
DROP INDEX regress_i_a;
CREATE INDEX regress_i_a ON regress_i (b) TABLESPACE regress_ts_fast;
SET enable_seqscan = off;
\set ECHO all
SELECT sum((SELECT a FROM regress_i WHERE b = i)) FROM generate_series(1, 100) i;
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT scans, sampled_since = '2040-06-01 00:00:00+00' AS is_new FROM _tiered_storage.relation_state
	WHERE relation_oid = 'regress_i_a'::regclass;
RESET enable_seqscan;
-- The rates of one that is made anew for its column begin anew, as its counters do.
SET tiered_storage.test_now = '2040-12-01 00:00:00+00';
ALTER TABLE regress_i ALTER b TYPE bigint;
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT scans, sampled_since = '2040-12-01 00:00:00+00' AS is_new FROM _tiered_storage.relation_state
	WHERE relation_oid = 'regress_i_a'::regclass;

SET client_min_messages = warning;
DROP TABLE regress_i;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
