-- What statements read of each tier: by the plan, and executed.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
CREATE SCHEMA regress_explain;
SET search_path = regress_explain;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
ALTER TABLESPACE regress_ts_fast SET (seq_page_cost = 1, random_page_cost = 1.1);
ALTER TABLESPACE regress_ts_slow SET (seq_page_cost = 1, random_page_cost = 100);
CREATE TABLE orders (id int, filler text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO orders SELECT (i * 7919) % 20000, repeat('x', 100) FROM generate_series(1, 20000) i;
CREATE UNIQUE INDEX orders_id ON orders (id) TABLESPACE regress_ts_slow;
CREATE TABLE parted (at int, filler text) PARTITION BY RANGE (at);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (20000) TABLESPACE regress_ts_fast;
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (20000) TO (40000) TABLESPACE regress_ts_slow;
CREATE TABLE untiered (id int);
INSERT INTO parted SELECT (i * 7919) % 40000, repeat('x', 100) FROM generate_series(1, 40000) i;
INSERT INTO untiered SELECT generate_series(1, 1000);
VACUUM (ANALYZE) orders, parted, untiered;
SELECT relpages AS pages FROM pg_class WHERE oid = 'orders'::regclass \gset
-- The relations and tiers of a plan, and whether the blocks are what they should be.
CREATE FUNCTION tiers_of(query text, executed boolean DEFAULT false)
RETURNS TABLE (node text, relation regclass, tier name, random boolean, sequential boolean, costs boolean)
LANGUAGE sql AS $$
	SELECT node, relation, tier, random_reads > 0, sequential_reads > 0, device_ms > 0
	FROM tiered_storage.explain_tiers(query, executed)
$$;
SET client_min_messages = warning;
\set ECHO all

-- A table by its index, each on its tier; the sums are of the rows.
SELECT * FROM tiers_of('SELECT filler FROM orders WHERE id = 1');
SELECT node, relation, random_reads, sequential_reads FROM tiered_storage.explain_tiers('SELECT filler FROM orders WHERE id = 1') WHERE relation IS NOT NULL;
SELECT sum(device_ms) FILTER (WHERE relation IS NULL) BETWEEN 0.99 * sum(device_ms) FILTER (WHERE relation IS NOT NULL)
	AND 1.01 * sum(device_ms) FILTER (WHERE relation IS NOT NULL) AS sums_are_right
	FROM tiered_storage.explain_tiers('SELECT filler FROM orders WHERE id < 100');
-- What is asked of each row, what a LIMIT leaves, and what a bitmap does.
SET enable_sort = off;
SELECT r.random_reads + r.sequential_reads BETWEEN 0.1 AND 10 AS limited FROM tiered_storage.explain_tiers('SELECT filler FROM orders ORDER BY id LIMIT 10') r
	WHERE r.relation = 'orders'::regclass;
SELECT r.random_reads >= 300 AS all_of_it FROM tiered_storage.explain_tiers('SELECT filler FROM orders ORDER BY id') r WHERE r.relation = 'orders'::regclass;
RESET enable_sort;
\set NESTED 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;'
:NESTED
SELECT node, relation, random_reads BETWEEN 300 AND 400 AS many FROM tiered_storage.explain_tiers(
	'SELECT o.filler FROM untiered u JOIN orders o ON o.id = u.id') WHERE relation = 'orders'::regclass;
SELECT node, relation, random_reads > 100 AS many FROM tiered_storage.explain_tiers('SELECT (SELECT filler FROM orders o WHERE o.id = u.id) FROM untiered u')
	WHERE relation = 'orders'::regclass;
RESET enable_hashjoin;
RESET enable_mergejoin;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_seqscan = off;
SELECT * FROM tiers_of('SELECT filler FROM orders WHERE id < 2000') ORDER BY node;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_seqscan;
SET enable_bitmapscan = off;

-- What is supposed: the plan flips, and each relation has its time there as well.
SELECT tiered_storage.suppose('orders_id', 'regress_fast');
SELECT * FROM tiers_of('SELECT filler FROM orders WHERE id < 100');
SELECT tiered_storage.suppose('orders', 'regress_slow', false);
SELECT (max(device_ms) FILTER (WHERE node = 'supposed sum' AND tier = 'regress_slow')
	> 2 * max(device_ms) FILTER (WHERE node = 'sum' AND tier = 'regress_fast')) AS takes_longer
	FROM tiered_storage.explain_tiers('SELECT count(filler) FROM orders');
SELECT tiered_storage.suppose_reset();

-- Partitions by themselves, views, joins, writing, workers.
SELECT node, relation, tier FROM tiers_of('SELECT count(filler) FROM parted') WHERE relation IS NOT NULL;
CREATE VIEW pairs AS SELECT o.id FROM orders o JOIN untiered u ON u.id = o.id + length(o.filler);
SELECT node, relation, tier FROM tiers_of('SELECT * FROM pairs') WHERE relation IS NOT NULL;
SELECT node, relation FROM tiers_of('UPDATE orders SET filler = ''y'' WHERE id = 1') WHERE relation IS NOT NULL;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT sequential_reads BETWEEN :pages * 0.99 AND :pages * 1.01 AS once FROM tiered_storage.explain_tiers('SELECT count(filler) FROM orders')
	WHERE relation IS NOT NULL;
SELECT node, relation, tier FROM tiers_of('SELECT count(filler) FROM orders', true) WHERE relation IS NOT NULL;
SET max_parallel_workers_per_gather = 0;

-- Executed: with its effects, and with the rows that triggers and functions see.
SELECT FROM tiers_of('INSERT INTO untiered VALUES (0), (-1)', true) \g /dev/null
SELECT count(*) FROM untiered WHERE id < 1;
BEGIN;
SELECT count(*) FROM tiers_of('DELETE FROM untiered', true) WHERE node = 'Seq Scan';
SELECT count(*) FROM untiered;
ROLLBACK;
SELECT count(*) FROM untiered;
SELECT FROM tiers_of('SELECT count(*) FROM tiered_storage.explain_tiers(''SELECT * FROM orders'', true)', true) \g /dev/null
-- The query of a CTE runs in its scans, and is read once.
ALTER TABLE untiered SET TABLESPACE regress_ts_fast;
SELECT node, relation, random_reads + sequential_reads = pg_relation_size('untiered') / 8192 AS once FROM tiered_storage.explain_tiers(
	'WITH x AS MATERIALIZED (SELECT id FROM untiered) SELECT count(*) FROM x a, x b WHERE a.id = b.id', true);
ALTER TABLE untiered SET TABLESPACE pg_default;
-- What a scan reads beyond its table is TOAST.
CREATE TABLE toasted (v text) WITH (autovacuum_enabled = off);
ALTER TABLE toasted ALTER COLUMN v SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT repeat(md5(i::text), 200) FROM generate_series(1, 100) i;
ALTER TABLE toasted SET TABLESPACE regress_ts_fast;
SELECT node, relation = 'toasted'::regclass AS of_table, tier, random_reads + sequential_reads > 100 AS many
	FROM tiered_storage.explain_tiers('SELECT FROM toasted WHERE md5(v) < chr(1)', true) WHERE relation IS NOT NULL;
DROP TABLE toasted;
PREPARE explained(text) AS SELECT node, relation FROM tiers_of($1) WHERE relation IS NOT NULL;
EXECUTE explained('SELECT count(*) FROM untiered');

-- What it says of its figures; temporary tables; nothing to show.
SET client_min_messages = notice;
CREATE TEMP TABLE passing AS SELECT 1 AS id;
SELECT node, relation, tier FROM tiers_of('SELECT * FROM passing');
SELECT * FROM tiers_of('SELECT 1');
SELECT * FROM tiers_of('SELECT * FROM generate_series(1, 10)');
SET client_min_messages = warning;

-- Hostile, or no statement at all.
\set VERBOSITY terse
SELECT * FROM tiers_of(NULL);
SELECT * FROM tiers_of('');
SELECT * FROM tiers_of('SELECT 1; SELECT 2');
SELECT * FROM tiers_of('SELECT 1; DROP TABLE orders', true);
SELECT * FROM tiers_of('EXPLAIN SELECT 1');
SELECT * FROM tiers_of('EXECUTE explained(''SELECT 1'')');
SELECT * FROM tiers_of('SELECT * FROM orders WHERE id = $1');
SELECT * FROM tiers_of('SELECT * FROM nowhere');
CREATE TABLE ruled (id int);
CREATE RULE told AS ON INSERT TO ruled DO ALSO NOTIFY told;
SELECT * FROM tiers_of('INSERT INTO ruled VALUES (1)');
SELECT * FROM tiers_of('SELECT 1 / (id - id) FROM orders', true);
BEGIN READ ONLY;
SELECT * FROM tiers_of('DELETE FROM orders', true);
ROLLBACK;
SELECT count(*) FROM orders;

-- The statement has the rights of who asks, and no more; who may not see tiers may not ask.
CREATE ROLE regress_explain_reader IN ROLE pg_monitor;
CREATE ROLE regress_explain_nobody;
GRANT USAGE ON SCHEMA regress_explain, tiered_storage TO regress_explain_reader, regress_explain_nobody;
GRANT SELECT ON untiered TO regress_explain_reader, regress_explain_nobody;
GRANT EXECUTE ON FUNCTION tiers_of TO regress_explain_reader, regress_explain_nobody;
SET ROLE regress_explain_reader;
SELECT node, relation FROM tiers_of('SELECT * FROM untiered WHERE pg_has_role(current_user, ''regress_explain_reader'', ''usage'')', true) WHERE relation IS NOT NULL;
SELECT * FROM tiers_of('SELECT * FROM orders');
SELECT * FROM tiers_of('DELETE FROM untiered', true);
SELECT * FROM tiers_of('SELECT * FROM _tiered_storage.move', true);
SET ROLE regress_explain_nobody;
SELECT * FROM tiers_of('SELECT * FROM untiered');
RESET ROLE;

DROP SCHEMA regress_explain CASCADE;
DROP EXTENSION tiered_storage;
DROP ROLE regress_explain_reader;
DROP ROLE regress_explain_nobody;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
