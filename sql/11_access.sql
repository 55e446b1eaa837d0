-- Random and sequential reads, by what the executor does.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';

\echo '-- Settings and their limits.'
SELECT name, setting, min_val, max_val, context FROM pg_settings
	WHERE name IN ('tiered_storage.ignore_applications', 'tiered_storage.track_access') ORDER BY name COLLATE "C";
SET tiered_storage.ignore_applications = 'psql';
SET ROLE pg_monitor;
SET tiered_storage.track_access = off;
RESET ROLE;

\echo '-- Without preload that is all: nothing is tracked, and nothing fails.'
SELECT current_setting('shared_preload_libraries') ~ 'tiered_storage' AS preloaded \gset
SELECT available = :'preloaded' AS available, enabled, complete = :'preloaded' AS complete, sample_rate, dropped_reads
	FROM _tiered_storage.access_tracking();
\if :preloaded
\else
SELECT * FROM _tiered_storage.access_statistics();
SET client_min_messages = warning;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
\quit
\endif

-- The same plans at costs that are all as high, so that each of them is tracked.
SET jit = off;
\set costly_plans 'SELECT set_config(name, (boot_val::float8 * 1e5)::text, false) FROM pg_settings WHERE name ~ ''^(seq_page|random_page|cpu.*|parallel.*)_cost$'' \\g /dev/null'
:costly_plans
SET max_parallel_workers_per_gather = 0;

-- A column in the order of the table, one in none.
CREATE TABLE regress_a (id int, k int, pad text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_a SELECT i, (i * 7919) % 10007, repeat('x', 100) FROM generate_series(1, 10000) i;
CREATE UNIQUE INDEX regress_a_id ON regress_a (id) TABLESPACE regress_ts_fast;
CREATE INDEX regress_a_k ON regress_a (k) TABLESPACE regress_ts_fast;
VACUUM ANALYZE regress_a;
-- Values of three blocks each.
CREATE TABLE regress_at (id int, v text) WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)
	TABLESPACE regress_ts_fast;
ALTER TABLE regress_at ALTER v SET STORAGE EXTERNAL;
INSERT INTO regress_at SELECT i, repeat(chr(64 + i % 26), 21000) FROM generate_series(1, 40) i;
VACUUM ANALYZE regress_at;

-- What is looked at.
CREATE VIEW regress_observed AS
	SELECT c.oid, CASE c.relname WHEN t.name THEN 'toast' WHEN t.name || '_index' THEN 'toast index' ELSE c.relname END
		AS name,
		pg_stat_get_blocks_fetched(c.oid) AS fetched, pg_stat_get_blocks_hit(c.oid) AS hit
	FROM pg_class c, (SELECT relname AS name FROM pg_class WHERE oid = (SELECT reltoastrelid FROM pg_class
		WHERE relname = 'regress_at')) t
	WHERE c.relkind IN ('r', 'i', 't') AND (c.relname LIKE 'regress\_a%' OR c.relname IN (t.name, t.name || '_index'));
CREATE TABLE regress_before AS SELECT * FROM regress_observed;
-- Nothing of the tables is in shared buffers, and nothing has been counted.
CREATE PROCEDURE regress_cold() LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT c.oid::regclass AS name, c.relkind, s.spcname AS now_in
		FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.relkind IN ('r', 'i') AND c.relname LIKE 'regress\_a%'
	LOOP
		EXECUTE format('ALTER %s %s SET TABLESPACE %I', CASE r.relkind WHEN 'i' THEN 'INDEX' ELSE 'TABLE' END, r.name,
			CASE r.now_in WHEN 'regress_ts_fast' THEN 'regress_ts_slow' ELSE 'regress_ts_fast' END);
	END LOOP;
END $$;
-- The planner reads an index's first page, if the session has not seen it yet.  That is no executor.
CREATE PROCEDURE regress_plan() LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'regress\_a%' LOOP
		EXECUTE format('EXPLAIN SELECT FROM %s', r.name);
	END LOOP;
END $$;
CREATE PROCEDURE regress_flush() LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_stat_force_next_flush(); END $$;
CREATE PROCEDURE regress_remember() LANGUAGE plpgsql AS $$ BEGIN
	DELETE FROM regress_before;
	INSERT INTO regress_before SELECT * FROM regress_observed;
END $$;
\set forget 'CALL regress_flush(); CALL tiered_storage.sample(); CALL regress_remember();'
\set cold 'CALL regress_cold(); CALL regress_plan(); CALL regress_flush(); CALL tiered_storage.sample(); CALL regress_remember();'
-- What the executor was seen to read; and whether it is what the server has counted.
CREATE VIEW regress_seen AS
	SELECT b.name, COALESCE(round(s.random_reads), 0) AS random, COALESCE(round(s.sequential_reads), 0) AS sequential,
		pg_relation_size(b.oid) / current_setting('block_size')::int AS pages, COALESCE(s.ignored_reads, 0) AS ignored,
			COALESCE(s.plans, 0) AS plans,
		-- Now and then the planner looks for the ends of an index.
		abs(COALESCE(round(s.random_reads + s.sequential_reads + s.ignored_reads),
			0) - (o.fetched - o.hit) + (b.fetched - b.hit)) <= 2 AS reads_are_all,
		COALESCE(s.hits, 0) = o.hit - b.hit AS hits_are_all,
		(o.fetched - o.hit) - (b.fetched - b.hit) - COALESCE(round(s.random_reads + s.sequential_reads + s.ignored_reads), 0) AS missing
	FROM regress_before b JOIN regress_observed o USING (oid) LEFT
		JOIN _tiered_storage.access_statistics() s ON s.relation = b.oid
	WHERE s.relation IS NOT NULL OR o.fetched > b.fetched;
\set seen 'CALL regress_flush(); SELECT name, random, sequential, ignored, plans, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";'
\set sums 'CALL regress_flush(); SELECT name, plans, reads_are_all FROM regress_seen ORDER BY name COLLATE "C";'
-- From 17 on a scan that is given up still reads what it was about to, when it is closed.
\set stopped 'CALL regress_flush(); SELECT name, plans, missing BETWEEN 0 AND 32 AS reads_are_all_but_read_ahead FROM regress_seen ORDER BY name COLLATE "C";'
\set some 'CALL regress_flush(); SELECT name, random > 0 AS random, sequential > 0 AS sequential, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";'
\set whole 'CALL regress_flush(); SELECT name, random, sequential = pages AS all_pages, plans, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";'

\echo '-- One kind of node'

\echo '-- A whole table: every block in sequence.'
:cold
SELECT count(pad) FROM regress_a \g /dev/null
:whole
\echo '-- Again: nothing but hits.'
SELECT count(pad) FROM regress_a \g /dev/null
:whole

\echo '-- One row by the primary key: the way to the leaf, and one block.'
SET enable_seqscan = off;
SET enable_bitmapscan = off;
:cold
SELECT k FROM regress_a WHERE id = 5000 \g /dev/null
:seen
\echo '-- A range in the order of the table: the first block of it is random.'
:cold
SELECT count(pad) FROM regress_a WHERE id BETWEEN 1000 AND 9000 \g /dev/null
CALL regress_flush();
SELECT name, random, round((sequential / pages)::numeric, 1) AS sequential_per_page, reads_are_all, hits_are_all
	FROM regress_seen ORDER BY name COLLATE "C";
\echo '-- A range in no order of the table: the table at random, the index in sequence.'
:cold
SELECT count(pad) FROM regress_a WHERE k BETWEEN 1000 AND 4000 \g /dev/null
CALL regress_flush();
SELECT name, random > 0.9 * (random + sequential) AS random, sequential > random AS sequential, reads_are_all,
	hits_are_all
	FROM regress_seen ORDER BY name COLLATE "C";
\echo '-- The index alone.  Of the table its visibility map, and what that does not cover.'
VACUUM regress_a;
:cold
SELECT count(id) FROM regress_a WHERE id BETWEEN 1000 AND 9000 \g /dev/null
CALL regress_flush();
SELECT name, random, sequential > 0 AS sequential, reads_are_all, hits_are_all
	FROM regress_seen WHERE name = 'regress_a_id';
RESET enable_bitmapscan;
RESET enable_seqscan;

\echo '-- Bitmaps: by the share of the table.'
SET enable_indexscan = off;
SET enable_seqscan = off;
:cold
SELECT count(pad) FROM regress_a WHERE k BETWEEN 2000 AND 2100 \g /dev/null
CALL regress_flush();
SELECT name, abs(sequential / (random + sequential) - sqrt((random + sequential) / pages)) < 0.05 AS by_share,
	random > 0 AND sequential > 0 AS both, reads_are_all, hits_are_all
	FROM regress_seen WHERE name = 'regress_a';
SELECT name, random > 0 AS random, reads_are_all, hits_are_all FROM regress_seen WHERE name <> 'regress_a';
:cold
SELECT count(pad) FROM regress_a WHERE k >= 0 \g /dev/null
CALL regress_flush();
SELECT name, random <= 1 AS random, pages - sequential BETWEEN 0 AND 2 AS all_pages FROM regress_seen
	WHERE name = 'regress_a';
RESET enable_indexscan;
RESET enable_seqscan;

\echo '-- By TID, and ranges of them.'
:cold
SELECT id > 0 AS found FROM regress_a WHERE ctid IN ('(3,1)', '(9,1)') \g /dev/null
:seen
:cold
SELECT count(*) > 0 AS found FROM regress_a WHERE ctid >= '(10,0)' AND ctid < '(20,0)' \g /dev/null
:seen

\echo '-- Samples: of rows, in all blocks; of blocks.'
:cold
SELECT count(*) > 0 AS found FROM regress_a TABLESAMPLE bernoulli (10) REPEATABLE (1) \g /dev/null
:whole
:cold
SELECT count(*) > 0 AS found FROM regress_a TABLESAMPLE system (25) REPEATABLE (1) \g /dev/null
CALL regress_flush();
SELECT abs(sequential / (random + sequential) - sqrt((random + sequential) / pages)) < 0.05 AS by_share, random > 0
	AND sequential > 0 AS both, reads_are_all, hits_are_all
	FROM regress_seen WHERE name = 'regress_a';

\echo '-- Large values: the first block of each at random, the others after it.'
:cold
SELECT count(*) FROM regress_at WHERE length(v) = 21000 \g /dev/null
CALL regress_flush();
SELECT name, CASE WHEN name = 'toast' THEN random = 40 AND sequential = pages - 40 END AS first_and_rest,
	reads_are_all,
	hits_are_all
	FROM regress_seen ORDER BY name COLLATE "C";

\echo '-- Parallel: whoever of them reads.  How many plans these are depends on the workers that there were.'
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS off) SELECT count(pad) FROM regress_a;
:cold
SELECT count(pad) FROM regress_a \g /dev/null
CALL regress_flush();
SELECT name, random, sequential = pages AS all_pages, reads_are_all, hits_are_all FROM regress_seen;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

\echo '-- Several kinds on one relation'

\echo '-- A scan, and rows of the same table by its key.'
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_bitmapscan = off;
:cold
SELECT count(b.pad) FROM regress_a a JOIN regress_a b ON b.id = a.k WHERE a.pad <> 'y' AND a.id % 2 = 0 \g /dev/null
:some
\echo '-- A subquery in a scan, both of the same table.'
:cold
SELECT count((SELECT pad FROM regress_a b WHERE b.id = a.k)) FROM regress_a a WHERE a.pad <> 'y' \g /dev/null
:some
RESET enable_bitmapscan;
RESET enable_hashjoin;
RESET enable_mergejoin;

\echo '-- Changes.  What is scanned is as before, what is changed is random.'
:cold
UPDATE regress_a SET pad = repeat('y', 100) WHERE id = 77;
CALL regress_flush();
SELECT name, sequential, random > 0 AS random, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";
:cold
UPDATE regress_a SET pad = pad || 'z' WHERE k % 100 = 3;
CALL regress_flush();
SELECT name, CASE name WHEN 'regress_a' THEN sequential BETWEEN pages - 5 AND pages ELSE sequential = 0 END
	AS sequential, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";
:cold
INSERT INTO regress_a VALUES (20000, 20000, 'x');
CALL regress_flush();
SELECT name, sequential, random > 0 AS random, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";
:cold
DELETE FROM regress_a WHERE id = 20000;
CALL regress_flush();
SELECT name, sequential, random > 0 AS random, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";
:cold
SELECT id FROM regress_a WHERE id = 78 FOR UPDATE \g /dev/null
CALL regress_flush();
SELECT name, sequential, random > 0 AS random, reads_are_all, hits_are_all FROM regress_seen ORDER BY name COLLATE "C";
:cold
UPDATE regress_at SET v = repeat('w', 21000) WHERE id = 1;
:sums

\echo '-- Partitions: chosen at run time, and found when rows come.'
CREATE TABLE regress_ap (id int, pad text) PARTITION BY RANGE (id);
CREATE TABLE regress_ap1 PARTITION OF regress_ap FOR VALUES
	FROM (0) TO (1000) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_ap2 PARTITION OF regress_ap FOR VALUES
	FROM (1000) TO (2000) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE INDEX regress_ap1_id ON regress_ap1 (id) TABLESPACE regress_ts_fast;
CREATE INDEX regress_ap2_id ON regress_ap2 (id) TABLESPACE regress_ts_fast;
INSERT INTO regress_ap SELECT i, repeat('x', 100) FROM generate_series(0, 1999) i;
VACUUM ANALYZE regress_ap;
:forget
:cold
PREPARE regress_part AS SELECT count(pad) FROM regress_ap WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE regress_part (1500) \g /dev/null
:sums
RESET plan_cache_mode;
DEALLOCATE regress_part;
:cold
INSERT INTO regress_ap VALUES (1500, 'x');
CALL regress_flush();
SELECT name, random > 0 AS random, sequential FROM regress_seen WHERE name LIKE 'regress\_ap%'
	ORDER BY name COLLATE "C";
\echo '-- What the same transaction has read before is not the insertion''s.'
:cold
BEGIN;
SELECT count(pad) FROM regress_ap2 \g /dev/null
SELECT random, sequential FROM regress_seen WHERE name = 'regress_ap2' \gset before_
INSERT INTO regress_ap VALUES (1501, 'x');
SELECT sequential - :before_sequential AS sequential, random - :before_random < 10 AS random FROM regress_seen
	WHERE name = 'regress_ap2';
COMMIT;
\echo '-- Nor when a plan that reads nothing runs between its rows.'
CREATE FUNCTION regress_nothing() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	PERFORM count(*) FROM (VALUES (1), (2)) v;
	RETURN 'x';
END $$;
:cold
BEGIN;
SELECT count(pad) FROM regress_ap2 \g /dev/null
SELECT random, sequential FROM regress_seen WHERE name = 'regress_ap2' \gset before_
INSERT INTO regress_ap SELECT 1501 + g, regress_nothing() FROM generate_series(1, 3) g;
SELECT sequential - :before_sequential AS sequential, random - :before_random < 10 AS random FROM regress_seen
	WHERE name = 'regress_ap2';
COMMIT;
DROP FUNCTION regress_nothing();
DROP TABLE regress_ap;

\echo '-- Plans within plans'

CREATE FUNCTION regress_sql(int) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT pad FROM regress_a WHERE id = $1';
CREATE FUNCTION regress_loop(low int, high int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	r record;
	total bigint := 0;
BEGIN
	FOR r IN SELECT id FROM regress_a WHERE id BETWEEN low AND high LOOP
		total := total + length(regress_sql(r.id));
		-- An error that is caught leaves all as it was.
		BEGIN
			PERFORM 1 / (id - r.id) FROM regress_a WHERE id = r.id;
		EXCEPTION WHEN division_by_zero THEN
			total := total + 1;
		END;
	END LOOP;
	RETURN total;
END $$;
\echo '-- A cheap plan that calls what reads much.'
:cold
SELECT regress_loop(1000, 1300) AS done \g /dev/null
:sums
\echo '-- The same table in the outer and in the inner plan: each block counts once.'
:cold
SELECT count(regress_sql(k)) FROM regress_a WHERE id % 5 = 0 \g /dev/null
:sums
:cold
SELECT count(regress_loop(id, id + 2)) FROM regress_a WHERE k BETWEEN 5000 AND 5030 \g /dev/null
:sums
\echo '-- The inner plans are not tracked, and do not count for the outer one either.'
CREATE FUNCTION regress_untracked(int) RETURNS text LANGUAGE sql VOLATILE SET tiered_storage.track_access = off
	AS 'SELECT pad FROM regress_a WHERE id = $1';
:cold
SELECT regress_untracked(9000) IS NOT NULL AS found FROM regress_a WHERE ctid = '(0,1)';
CALL regress_flush();
SELECT random, sequential, plans, missing > 0 AS missing FROM regress_seen WHERE name = 'regress_a';
DROP FUNCTION regress_untracked;
\echo '-- Triggers.  (From 19 on some checks of foreign keys do without plans.)'
CREATE TABLE regress_ar (id int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE FUNCTION regress_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM regress_a WHERE id = NEW.id FOR KEY SHARE;
	RETURN NEW;
END $$;
CREATE TRIGGER regress_trigger BEFORE INSERT ON regress_ar FOR EACH ROW EXECUTE FUNCTION regress_trigger();
:cold
INSERT INTO regress_ar SELECT i FROM generate_series(1, 500) i;
CALL regress_flush();
SELECT name, reads_are_all FROM regress_seen WHERE name = 'regress_a_id' OR name = 'regress_a'
	ORDER BY name COLLATE "C";
DROP TABLE regress_ar;
DROP FUNCTION regress_trigger;

\echo '-- Plans that stop and go on'

\echo '-- Two cursors on the same table: each has what it has read itself.'
SET enable_bitmapscan = off;
:cold
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM regress_a WHERE pad <> 'a';
SET LOCAL enable_seqscan = off;
DECLARE b CURSOR FOR SELECT pad FROM regress_a WHERE id > 5000 ORDER BY id;
RESET enable_seqscan;
MOVE 1000 IN a;
MOVE 1000 IN b;
SELECT count(*) FROM regress_at \g /dev/null
MOVE 1000 IN a;
MOVE 1000 IN b;
CLOSE a;
CLOSE b;
COMMIT;
:stopped
RESET enable_bitmapscan;
\echo '-- A cursor that is never closed; one that outlives its transaction; one whose transaction fails.'
:cold
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM regress_a;
MOVE 2000 IN a;
COMMIT;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT id FROM regress_at;
MOVE 3 IN h;
COMMIT;
MOVE 3 IN h;
CLOSE h;
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM regress_a;
MOVE 4000 IN a;
ROLLBACK;
:stopped
\echo '-- A savepoint that is rolled back beside a cursor.'
:cold
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM regress_a;
MOVE 2000 IN a;
SAVEPOINT s;
DECLARE b CURSOR FOR SELECT id FROM regress_at;
MOVE 5 IN b;
SELECT 1 / 0;
ROLLBACK TO s;
MOVE 2000 IN a;
COMMIT;
:stopped

\echo '-- Prepared statements, as often as they run.'
:cold
PREPARE regress_prepared AS SELECT count(*) FROM regress_a WHERE id = $1;
EXECUTE regress_prepared (1) \g /dev/null
EXECUTE regress_prepared (5000) \g /dev/null
EXECUTE regress_prepared (9999) \g /dev/null
DEALLOCATE regress_prepared;
:sums
\echo '-- A limit.'
:cold
SELECT id FROM regress_a LIMIT 1 \g /dev/null
CALL regress_flush();
SELECT name, random, sequential <= pages AS part, plans, reads_are_all, hits_are_all FROM regress_seen;

\echo '-- An error in the middle counts what was read until then; the next plan counts right.'
:cold
SELECT count(1 / (id - 5000)) FROM regress_a \g /dev/null
CALL regress_flush();
SELECT name, random, sequential <= pages AS part, plans, reads_are_all, hits_are_all FROM regress_seen;
:cold
SELECT count(pad) FROM regress_a \g /dev/null
:whole
\echo '-- In a function within a plan.'
:cold
SELECT count(regress_sql(k)), count(1 / (id - 1000)) FROM regress_a \g /dev/null
:sums

\echo '-- What does not count'

:cold
EXPLAIN (COSTS off) SELECT count(*) FROM regress_a WHERE pad <> '';
CREATE TABLE regress_no_data AS SELECT * FROM regress_a WITH NO DATA;
DROP TABLE regress_no_data;
:seen
\echo '-- Unlike EXPLAIN, this runs it.'
DO $$ BEGIN EXECUTE $e$EXPLAIN (ANALYZE) SELECT count(pad) FROM regress_a$e$; END $$;
:whole
SET tiered_storage.track_access = off;
:cold
SELECT count(pad) FROM regress_a \g /dev/null
SELECT count(*) FROM _tiered_storage.access_statistics() WHERE relation = 'regress_a'::regclass;
SET tiered_storage.track_access = on;
\echo '-- Programs that the administrator has named: their reads are kept apart.'
:cold
SET application_name = 'pg_dump';
SELECT count(pad) FROM regress_a \g /dev/null
SET application_name = 'pg_dump2';
SELECT count(*) FROM regress_at \g /dev/null
RESET application_name;
CALL regress_flush();
SELECT name, random + sequential > 0 AS counts, ignored > 0 AS ignored, reads_are_all, hits_are_all FROM regress_seen
	WHERE name IN ('regress_a', 'regress_at') ORDER BY name COLLATE "C";
\echo '-- Catalogs and temporary tables are not observed.'
CREATE TEMP TABLE regress_temp AS SELECT 1 AS a;
SELECT count(*) FROM regress_temp \g /dev/null
SELECT count(*) FROM pg_class \g /dev/null
SELECT count(*) FROM _tiered_storage.access_statistics() WHERE relation IN ('regress_temp'::regclass,
	'pg_class'::regclass);

\echo '-- A sample of plans'

\echo '-- At half of the cost of which each is tracked, about half of the plans, each counting twice; off by six standard'
\echo '-- errors once in 10^9.'
SET enable_seqscan = off;
SET random_page_cost = 0;
SET seq_page_cost = 0;
SET cpu_operator_cost = 0;
SET cpu_index_tuple_cost = 0;
SET cpu_tuple_cost = 500;
SELECT k FROM regress_a WHERE id = 5000 \g /dev/null
:forget
DO $$ BEGIN FOR i IN 1 .. 4000 LOOP PERFORM k FROM regress_a WHERE id = 5000; END LOOP; END $$;
CALL regress_flush();
SELECT s.plans BETWEEN 1810 AND 2190 AS half, s.hits = 2 * s.plans * (o.hit - b.hit) / 4000 AS twice
	FROM _tiered_storage.access_statistics() s JOIN regress_before b ON b.oid = s.relation
		JOIN regress_observed o ON o.oid = s.relation
	WHERE s.relation = 'regress_a'::regclass;
:costly_plans
RESET enable_seqscan;

\echo '-- The sample'

\echo '-- Random, sequential, other, as what an hour brought.'
VACUUM ANALYZE regress_a;
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.relation_history, _tiered_storage.history_hour, _tiered_storage.state_snapshot;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
:cold
SELECT source FROM _tiered_storage.heat WHERE relation = 'regress_a'::regclass;
SET tiered_storage.test_now = '2030-01-01 01:00:00+00';
:cold
UPDATE _tiered_storage.relation_state SET random_fast = 0, sequential_fast = 0, sequential_slow = 0,
	sequential_low_slow = 0, sequential_high_slow = 0, maintenance_reads_fast = 0;
SELECT count(pad) FROM regress_a \g /dev/null
CALL regress_flush();
SET tiered_storage.test_now = '2030-01-01 02:00:00+00';
CALL tiered_storage.sample();
SELECT source, round(random_misses_per_hour) AS random, sequential_misses_per_hour > 0 AS sequential,
	round(maintenance_reads_per_hour) AS other
	FROM _tiered_storage.heat WHERE relation = 'regress_a'::regclass;
SELECT sequential_low_slow = sequential_slow AS low, sequential_high_slow = sequential_slow AS high
	FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_a'::regclass;
SELECT random_reads, sequential_reads = pg_relation_size(relation_oid::regclass) / current_setting('block_size')::int
	AS all_pages FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_a'::regclass AND period_start = '2030-01-01 01:00:00+00';
\echo '-- Taken: the next sample begins anew.'
SELECT count(*) FROM _tiered_storage.access_statistics() WHERE relation = 'regress_a'::regclass;
\echo '-- Blocks that were added are no reads, and nothing of them is kept for the next sample.'
CREATE TABLE regress_added (id int, pad text) WITH (autovacuum_enabled = off);
:forget
INSERT INTO regress_added SELECT i, repeat('x', 100) FROM generate_series(1, 10000) i;
CALL regress_flush();
CALL tiered_storage.sample();
SELECT count(*) FROM _tiered_storage.access_statistics() WHERE relation = 'regress_added'::regclass;
SELECT sum(random_reads + sequential_reads) AS reads FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_added'::regclass;
DROP TABLE regress_added;
\echo '-- A sample does not go by the costs of its session, but by those of the tablespace.'
ALTER TABLESPACE regress_ts_fast SET (seq_page_cost = 100000, random_page_cost = 400000);
ALTER TABLESPACE regress_ts_slow SET (seq_page_cost = 100000, random_page_cost = 400000);
\echo '-- Vacuum, analyze and dumps are no use.'
CALL regress_cold();
VACUUM (DISABLE_PAGE_SKIPPING) regress_a;
CALL regress_cold();
ANALYZE regress_a;
CALL regress_cold();
COPY regress_a TO '/dev/null';
CALL regress_flush();
SET tiered_storage.test_now = '2030-01-01 03:00:00+00';
CALL tiered_storage.sample();
SELECT random_reads, sequential_reads FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_a'::regclass AND period_start = '2030-01-01 02:00:00+00';
SELECT source, maintenance_reads_fast > 0 AS other
	FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_a'::regclass;
ALTER TABLESPACE regress_ts_fast RESET (seq_page_cost, random_page_cost);
ALTER TABLESPACE regress_ts_slow RESET (seq_page_cost, random_page_cost);
\echo '-- A sample that is rolled back takes what was counted with it; the next one says so, and believes the statistics.'
:cold
SELECT complete FROM _tiered_storage.access_tracking();
SELECT count(pad) FROM regress_a \g /dev/null
CALL regress_flush();
BEGIN;
SAVEPOINT s;
CALL tiered_storage.sample();
ROLLBACK TO s;
COMMIT;
SELECT complete FROM _tiered_storage.access_tracking();
SET tiered_storage.test_now = '2030-01-01 04:00:00+00';
CALL tiered_storage.sample();
SELECT source FROM _tiered_storage.heat WHERE relation = 'regress_a'::regclass;
SELECT complete FROM _tiered_storage.access_tracking();
\echo '-- Two in one transaction are fine.'
SELECT count(pad) FROM regress_a \g /dev/null
CALL regress_flush();
BEGIN;
CALL tiered_storage.sample();
CALL tiered_storage.sample();
COMMIT;
SELECT source FROM _tiered_storage.heat WHERE relation = 'regress_a'::regclass;
\echo '-- Switched off: the statistics.'
SELECT count(pad) FROM regress_a \g /dev/null
CALL regress_flush();
SET tiered_storage.track_access = off;
CALL tiered_storage.sample();
SELECT source FROM _tiered_storage.heat WHERE relation = 'regress_a'::regclass;
SET tiered_storage.track_access = on;

SET client_min_messages = warning;
DROP FUNCTION regress_loop, regress_sql;
DROP PROCEDURE regress_cold, regress_plan, regress_flush, regress_remember;
DROP VIEW regress_seen, regress_observed;
DROP TABLE regress_a, regress_at, regress_before;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
