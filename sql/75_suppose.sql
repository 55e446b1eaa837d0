-- What the planner would do with another layout: in one session, with nothing moved.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
CREATE SCHEMA regress_suppose;
SET search_path = regress_suppose;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
-- In an order in which each row is on another block than the one before.
CREATE TABLE orders (id int, filler text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO orders SELECT (i * 7919) % 20000, repeat('x', 100) FROM generate_series(1, 20000) i;
CREATE UNIQUE INDEX orders_id ON orders (id) TABLESPACE regress_ts_fast;
CREATE TABLE parted (at int, filler text) PARTITION BY RANGE (at);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (20000) TABLESPACE regress_ts_fast;
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (20000) TO (40000) TABLESPACE regress_ts_slow;
CREATE INDEX parted_at ON parted (at);
INSERT INTO parted SELECT (i * 7919) % 40000, repeat('x', 100) FROM generate_series(1, 40000) i;
VACUUM (ANALYZE) orders, parted;
-- The node that reads, of the first line that names one.
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Scan' THEN
			RETURN NEXT regexp_replace(line, '^[ >-]*', '');
		END IF;
	END LOOP;
END
$$;
CREATE FUNCTION cost_of(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END
$$;
CREATE FUNCTION few() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(filler) FROM orders WHERE id < 200);
END
$$;
\set QUERY '$$SELECT count(filler) FROM orders WHERE id < 200$$'

\echo '-- Without planner costs nothing can change; tiers on one device have none.'
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
-- As calibrate_tier() would have measured them.
-- Made up, since no call makes it in the time of a test: what devices were measured to do.
INSERT INTO _tiered_storage.tier_calibration SELECT tier_name, now(), 'random_read_ms', 'ms', 1, 1, 1, 'x' FROM _tiered_storage.tier;
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SELECT tiered_storage.suppose_reset();
ALTER TABLESPACE regress_ts_fast SET (seq_page_cost = 1, random_page_cost = 1.1);
ALTER TABLESPACE regress_ts_slow SET (seq_page_cost = 1, random_page_cost = 100);

\echo '-- A plan flips, and flips back.'
SELECT plan_of(:QUERY);
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SELECT plan_of(:QUERY);
SELECT * FROM tiered_storage.supposed;
SELECT tiered_storage.suppose_reset();
SELECT plan_of(:QUERY);
SELECT * FROM tiered_storage.supposed;

\echo '-- The table without its index, and the index by itself: each has the costs of its own tier.'
SELECT cost_of(:QUERY) AS here \gset
SELECT tiered_storage.suppose('orders', 'regress_slow', include_indexes => false) \gset
SET enable_seqscan = off;
SELECT cost_of(:QUERY) > :here * 10 AS table_is_slow, cost_of(:QUERY) AS table_slow \gset
SELECT tiered_storage.suppose('orders_id', 'regress_slow') \gset
SELECT cost_of(:QUERY) > :table_slow AS and_index_too \gset
SELECT :'table_is_slow' AS table_is_slow, :'and_index_too' AS and_index_too;
SELECT tiered_storage.suppose('orders', 'regress_fast', include_indexes => false) \gset
SELECT cost_of(:QUERY) > :here AND cost_of(:QUERY) < :table_slow AS index_is_slow;
SELECT * FROM tiered_storage.supposed;
SELECT tiered_storage.suppose_reset();
SELECT cost_of(:QUERY) = :here AS as_before;
RESET enable_seqscan;

\echo '-- Prepared statements, generic and custom, and what PL/pgSQL keeps.'
SET plan_cache_mode = force_generic_plan;
PREPARE generic AS SELECT count(filler) FROM orders WHERE id < 200;
SELECT plan_of('EXECUTE generic');
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SELECT plan_of('EXECUTE generic');
SELECT tiered_storage.suppose_reset();
SELECT plan_of('EXECUTE generic');
RESET plan_cache_mode;
PREPARE custom(int) AS SELECT count(filler) FROM orders WHERE id < $1;
SELECT plan_of('EXECUTE custom(200)');
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SELECT plan_of('EXECUTE custom(200)');
SELECT tiered_storage.suppose_reset();
SELECT plan_of('EXECUTE custom(200)');
CREATE FUNCTION scans() RETURNS bigint LANGUAGE sql AS $$ SELECT pg_stat_get_xact_numscans('orders_id'::regclass) $$;
BEGIN;
SELECT few(), scans() AS by_index;
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SELECT few(), scans() AS by_index;
SELECT tiered_storage.suppose_reset();
SELECT few(), scans() AS by_index;
COMMIT;

\echo '-- It ends like a SET: by rollback, of a part as well, and by DISCARD ALL.'
BEGIN;
SELECT tiered_storage.suppose('orders_id', 'regress_slow') \gset
SAVEPOINT s;
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SELECT plan_of(:QUERY);
ROLLBACK TO s;
SELECT relation FROM tiered_storage.supposed;
SELECT plan_of('EXECUTE generic');
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
ROLLBACK;
SELECT relation FROM tiered_storage.supposed;
SELECT plan_of('EXECUTE generic');
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
BEGIN;
SELECT tiered_storage.suppose_reset();
SELECT plan_of('EXECUTE generic');
ROLLBACK;
SELECT plan_of('EXECUTE generic');
DISCARD ALL;
\i :abs_srcdir/sql/include/refused.sql
SET client_min_messages = warning;
SET search_path = regress_suppose;
SET enable_bitmapscan = off;
SET allow_in_place_tablespaces = true;
SELECT relation FROM tiered_storage.supposed;
SELECT plan_of(:QUERY);

\echo '-- All partitions that there are; one of them; what is there already stays.'
SELECT plan_of($$SELECT count(filler) FROM parted WHERE at BETWEEN 100 AND 300 OR at BETWEEN 20100 AND 20300$$);
SELECT plan_of($$SELECT count(filler) FROM parted WHERE at < 200$$);
SELECT tiered_storage.suppose('parted', 'regress_slow') \gset
SELECT plan_of($$SELECT count(filler) FROM parted WHERE at < 200$$);
SELECT * FROM tiered_storage.supposed;
SELECT tiered_storage.suppose('parted_1', 'regress_fast') \gset
SELECT relation, supposed_tier FROM tiered_storage.supposed;
SELECT plan_of($$SELECT count(filler) FROM parted WHERE at < 200$$);
CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (40000) TO (50000) TABLESPACE regress_ts_fast;
SELECT count(*) FROM tiered_storage.supposed WHERE relation::text LIKE 'parted_3%';
DROP TABLE parted_2;
SELECT relation FROM tiered_storage.supposed;
SELECT tiered_storage.suppose('parted_3', 'regress_slow', false) \gset
SELECT tiered_storage.suppose_reset();

\echo '-- Parallel workers plan what functions execute: they suppose the same.'
CREATE FUNCTION planned() RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
BEGIN
	RETURN (SELECT string_agg(p, ',') FROM plan_of('SELECT count(filler) FROM orders WHERE id < 200') p);
END
$$;
ALTER FUNCTION plan_of(text) PARALLEL SAFE;
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SET max_parallel_workers_per_gather = 1;
SELECT DISTINCT planned() FROM parted_1 WHERE at < 3;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;
SET max_parallel_workers_per_gather = 0;

\echo '-- What takes its place, or has gone: a tier, a tablespace, a relation.'
SELECT tiered_storage.suppose('orders', 'regress_cheap') \gset
SELECT tiered_storage.remove_tier('regress_cheap') \gset
SELECT * FROM tiered_storage.supposed WHERE relation = 'orders'::regclass;
DROP TABLESPACE regress_ts_cheap;
SELECT relation, supposed_tier, random_page_cost FROM tiered_storage.supposed;
SELECT plan_of(:QUERY);
SELECT tiered_storage.suppose_reset();

\echo '-- Everything that is advised; what there is none of has its reason.'
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SET client_min_messages = notice;
SELECT tiered_storage.suppose_recommended();
SET client_min_messages = warning;
SELECT * FROM tiered_storage.supposed;
SELECT tiered_storage.pin('orders', 'regress_slow', include_indexes => false);
SELECT tiered_storage.suppose_recommended();
SELECT relation, current_tier, supposed_tier FROM tiered_storage.supposed;
SELECT relation, move FROM tiered_storage.recommendations;
SELECT tiered_storage.unpin('orders') \gset
SELECT tiered_storage.suppose_reset();

\echo '-- Nothing that could not be moved, and no tier that is not there.'
CREATE VIEW orders_view AS SELECT * FROM orders;
CREATE TEMP TABLE orders_temp (a int PRIMARY KEY);
CREATE SEQUENCE orders_sequence;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.suppose(NULL, 'regress_slow')
SELECT tiered_storage.suppose('orders', NULL)
SELECT tiered_storage.suppose('orders', 'regress_slwo')
SELECT tiered_storage.suppose('orders', '')
SELECT tiered_storage.suppose(1::regclass, 'regress_slow')
SELECT tiered_storage.suppose('orders_view', 'regress_slow')
SELECT tiered_storage.suppose('orders_sequence', 'regress_slow')
SELECT tiered_storage.suppose('parted_at', 'regress_slow')
SELECT tiered_storage.suppose('pg_class', 'regress_slow')
$refused$);
\echo '-- Names with numbers that differ from run to run.'
\set VERBOSITY sqlstate
SELECT tiered_storage.suppose('orders_temp', 'regress_slow');
SELECT tiered_storage.suppose(reltoastrelid, 'regress_slow') FROM pg_class WHERE oid = 'orders'::regclass;
\set VERBOSITY default
\echo '-- The setting that holds it is the session''s alone, and no value of it does harm.'
SET tiered_storage.supposed = '1:1,2:3';
SELECT * FROM tiered_storage.supposed;
EXPLAIN (COSTS OFF) SELECT * FROM pg_class;
SET tiered_storage.supposed = '1:1,';
SET tiered_storage.supposed = '1';
RESET tiered_storage.supposed;
ALTER ROLE CURRENT_USER SET tiered_storage.supposed = '1:1';
SELECT count(*) FROM pg_settings WHERE name = 'tiered_storage.supposed';
SELECT * FROM tiered_storage.supposed;

\echo '-- Who reads the tiers may suppose, of any relation; nobody else.'
CREATE ROLE regress_suppose_reader IN ROLE pg_monitor;
CREATE ROLE regress_suppose_nobody;
GRANT USAGE ON SCHEMA regress_suppose, tiered_storage TO regress_suppose_reader, regress_suppose_nobody;
SELECT tiered_storage.pin('orders', 'regress_slow', include_indexes => false) \gset
SET ROLE regress_suppose_reader;
SELECT tiered_storage.suppose('orders', 'regress_slow') \gset
SELECT count(*) FROM tiered_storage.supposed;
SELECT tiered_storage.suppose_recommended();
SELECT relation, supposed_tier FROM tiered_storage.supposed;
SELECT tiered_storage.suppose_reset() \g /dev/null
SET ROLE regress_suppose_nobody;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.suppose('orders', 'regress_slow')
SELECT tiered_storage.suppose_recommended()
SELECT tiered_storage.suppose_reset()
SELECT count(*) FROM tiered_storage.supposed
$refused$);
RESET ROLE;

\echo '-- In a function that is called while an index is built the session''s own stays.'
CREATE FUNCTION hidden(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM tiered_storage.suppose('regress_suppose.orders', 'regress_slow');
	RETURN id;
END
$$;
CREATE TABLE trap (id int);
INSERT INTO trap VALUES (1);
CREATE INDEX ON trap (hidden(id));
SELECT count(*) FROM tiered_storage.supposed;

DROP SCHEMA regress_suppose CASCADE;
DROP EXTENSION tiered_storage;
DROP ROLE regress_suppose_reader;
DROP ROLE regress_suppose_nobody;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
