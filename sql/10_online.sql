-- Moving what is in use: which relations, with what, and what is left.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none

-- Where relations are, TOAST tables and their indexes too.
CREATE FUNCTION regress_name(c pg_class) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN c.relname !~ '^pg_toast' THEN c.oid::regclass::text
		ELSE 'TOAST' || CASE c.relkind WHEN 'i' THEN ' index' ELSE '' END || ' of ' || (SELECT t.oid::regclass
			FROM pg_class t
			WHERE t.reltoastrelid IN (c.oid, (SELECT indrelid FROM pg_index WHERE indexrelid = c.oid))) END
$$;
CREATE VIEW regress_where AS
	SELECT regress_name(c) AS relation, COALESCE(t.spcname, '(default)') AS tablespace
	FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relkind IN ('r', 'i', 'm', 't') AND regress_name(c) ~ 'regress_o';
-- How often a lock was asked for depends on who else is there.
\set moves 'SELECT to_tablespace, state, method, failures, error, sqlstate, string_agg(kind || \' \' || relation, \', \' ORDER BY move_id) AS relations FROM _tiered_storage.moves WHERE relation !~ \'bloom\' GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY min(move_id)'

\echo '-- Each kind of index'

CREATE TABLE regress_o (id int, h text, a int[], g point, s text, r int, l int, t text) WITH (autovacuum_enabled = off)
	TABLESPACE regress_ts_fast;
ALTER TABLE regress_o ALTER t SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX regress_o_btree ON regress_o (id);
CREATE INDEX regress_o_hash ON regress_o USING hash (h);
CREATE INDEX regress_o_gin ON regress_o USING gin (a);
CREATE INDEX regress_o_gist ON regress_o USING gist (g);
CREATE INDEX regress_o_spgist ON regress_o USING spgist (s);
CREATE INDEX regress_o_brin ON regress_o USING brin (r) WITH (pages_per_range = 4);
CREATE INDEX "regress_o %s '""" ON regress_o ((id + 1)) WHERE id % 2 = 0;
-- Contrib modules need not be there; nothing that is printed depends on them.
DO $$
DECLARE
	module text;
BEGIN
	FOR module IN SELECT name FROM pg_available_extensions WHERE name IN ('bloom', 'amcheck', 'pg_visibility') LOOP
		EXECUTE format('CREATE EXTENSION %I', module);
		IF module = 'bloom' THEN
			CREATE INDEX regress_o_bloom ON regress_o USING bloom (l);
		END IF;
	END LOOP;
END
$$;
CREATE FUNCTION regress_fill(first int, last int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO regress_o SELECT i, 'h' || i % 50, ARRAY[i % 7, i], point(i, i % 100), 's' || i, i, i % 300, CASE
		WHEN i % 100 = 0 THEN repeat(md5(i::text), 200) END
	FROM generate_series(first, last) i
$$;
SELECT regress_fill(1, 6000) \g /dev/null

-- What each index finds, and what is there.
CREATE FUNCTION regress_by_index(OUT method text, OUT used boolean, OUT hits bigint,
	OUT same boolean) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	condition text;
	line text;
	present bigint;
BEGIN
	FOR method, condition IN SELECT * FROM (VALUES ('btree', 'id BETWEEN 100 AND 250'), ('hash', $c$h = 'h7'$c$),
		('gin', 'a @> ARRAY[3]'),
		('gist', $c$g <@ box '(100,0),(900,50)'$c$), ('spgist', $c$s >= 's15' AND s < 's16'$c$), ('brin',
			'r BETWEEN 300 AND 500'), ('bloom', 'l = 17'),
		('%s', 'id + 1 = 1001 AND id % 2 = 0')) v (m, c)
		WHERE m <> 'bloom' OR EXISTS (SELECT FROM pg_am WHERE amname = 'bloom')
	LOOP
		SET LOCAL enable_indexscan = off;
		SET LOCAL enable_bitmapscan = off;
		EXECUTE 'SELECT count(*) FROM regress_o WHERE ' || condition INTO present;
		RESET enable_indexscan;
		RESET enable_bitmapscan;
		SET LOCAL enable_seqscan = off;
		used := false;
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT count(*) FROM regress_o WHERE ' || condition LOOP
			used := used OR strpos(line, 'Index') > 0 AND strpos(line, method) > 0;
		END LOOP;
		EXECUTE 'SELECT count(*) FROM regress_o WHERE ' || condition INTO hits;
		same := hits = present;
		IF method <> 'bloom' THEN
			RETURN NEXT;
		ELSIF NOT (used AND same AND hits > 0) THEN
			RAISE EXCEPTION 'bloom: used %, found % of %', used, hits, present;
		END IF;
		RESET enable_seqscan;
	END LOOP;
	IF EXISTS (SELECT FROM pg_extension WHERE extname = 'amcheck') THEN
		PERFORM bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			JOIN pg_am m ON m.oid = c.relam
			WHERE m.amname = 'btree' AND indrelid IN (SELECT oid FROM pg_class
				WHERE relname = 'regress_o' UNION SELECT reltoastrelid FROM pg_class WHERE relname = 'regress_o');
		FOR line IN SELECT msg FROM verify_heapam('regress_o', check_toast => true) LOOP
			RAISE EXCEPTION '%', line;
		END LOOP;
	END IF;
	IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_visibility') THEN
		FOR line IN SELECT t_ctid FROM pg_check_visible('regress_o') LOOP
			RAISE EXCEPTION 'not visible to all: %', line;
		END LOOP;
	END IF;
END
$$;
\set found 'SELECT bool_and(used) AS used, bool_and(same) AS same, string_agg(method || \' \' || hits, \', \') AS hits FROM regress_by_index()'
CREATE VIEW regress_forks AS
	SELECT regress_name(c) AS relation, f.fork, pg_relation_size(c.oid, f.fork) AS size
	FROM pg_class c, unnest('{main,fsm,vm,init}'::text[]) f (fork)
	WHERE c.relkind IN ('r', 'i', 'm', 't') AND regress_name(c) ~ 'regress_o';
CREATE FUNCTION regress_heap_fetches() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	FOR line IN EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(id) FROM regress_o
		WHERE id BETWEEN 1000 AND 5000 LOOP
		IF line LIKE '%Heap Fetches: %' THEN
			RETURN substring(line FROM 'Heap Fetches: (\d+)');
		END IF;
	END LOOP;
	RETURN -1;
END
$$;

\echo '-- All forks: rows that are gone make free space, the rest is visible to all.'
DELETE FROM regress_o WHERE id BETWEEN 2000 AND 2500;
VACUUM (FREEZE, INDEX_CLEANUP on) regress_o;
:found;
CREATE TEMP TABLE forks_before AS TABLE regress_forks;
SELECT relation, string_agg(fork, ' ' ORDER BY fork) AS forks FROM forks_before
	WHERE size > 0 AND relation IN ('regress_o', 'TOAST of regress_o') GROUP BY 1 ORDER BY relation COLLATE "C";
SELECT count(*) AS rows, count(t) AS toasted, md5(string_agg(o::text, ',' ORDER BY id)) AS digest
	FROM regress_o o \gset before_
SELECT regress_heap_fetches() AS fetches \gset before_
CALL tiered_storage.move_relation('regress_o', 'regress_slow');
SELECT count(*) AS left_behind FROM regress_where WHERE tablespace <> 'regress_ts_slow';
SELECT b.relation, b.fork, b.size AS before, a.size AS after FROM forks_before b FULL
	JOIN regress_forks a USING (relation, fork) WHERE a.size IS DISTINCT FROM b.size;
SELECT count(*) = :before_rows AS rows, count(t) = :before_toasted AS toasted, md5(string_agg(o::text, ','
	ORDER BY id)) = :'before_digest' AS digest FROM regress_o o;
SELECT regress_heap_fetches() = :before_fetches AS visibility_map;
:found;
:moves;
SELECT attempts > 0 AS attempts, lock_wait_ms < elapsed_ms AS waited, lock_held_ms > 0 AS held,
	lock_flush_ms <= lock_held_ms AS flushed, copied_bytes >= size_bytes - 65536 AS copied, count(*) > 7 AS all_of_them
	FROM _tiered_storage.moves GROUP BY 1, 2, 3, 4, 5;
\echo '-- It goes on to work.'
SELECT regress_fill(6001, 7000) \g /dev/null
UPDATE regress_o SET h = 'h7', a = a || 3, g = point(200, 20), s = s || 'x', r = 400, t = repeat('y', 9000)
	WHERE id BETWEEN 3000 AND 3100;
DELETE FROM regress_o WHERE id BETWEEN 4000 AND 4100;
:found;
VACUUM regress_o;
BEGIN;
TRUNCATE regress_o;
ROLLBACK;
CALL tiered_storage.move_relation('regress_o', 'regress_fast');
:found;
REINDEX TABLE regress_o;
VACUUM FULL regress_o;
:found;
SELECT count(*) AS left_behind FROM regress_where WHERE tablespace <> 'regress_ts_fast';
CALL tiered_storage.move_relation('regress_o', 'pg_default');
:found;
SELECT count(*) AS left_behind FROM regress_where WHERE tablespace <> '(default)';
TRUNCATE regress_o;
\echo '-- No rows, no blocks; then some.'
CALL tiered_storage.move_relation('regress_o', 'regress_slow');
SELECT count(*) AS left_behind FROM regress_where WHERE tablespace <> 'regress_ts_slow';
SELECT sum(size) AS all_forks FROM regress_forks WHERE relation = 'regress_o';
SELECT regress_fill(1, 1000) \g /dev/null
:found;
SELECT state, method, count(*) > 30 AS all_of_them FROM _tiered_storage.moves GROUP BY 1, 2;
-- Made up, since no call makes it in the time of a test: an empty record of moves.
TRUNCATE _tiered_storage.move;

\echo '-- Tables here, indexes there'

CREATE TABLE regress_oi (id int PRIMARY KEY) TABLESPACE regress_ts_fast;
CREATE TABLE regress_op (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE regress_op_1 PARTITION OF regress_op FOR VALUES FROM (0) TO (10) TABLESPACE regress_ts_fast;
CREATE TABLE regress_op_2 PARTITION OF regress_op FOR VALUES FROM (10) TO (20) TABLESPACE regress_ts_slow;
\set oi 'SELECT tablespace, string_agg(relation, \', \' ORDER BY relation COLLATE "C") AS relations FROM regress_where WHERE relation ~ \'regress_o[ip]\' GROUP BY 1 ORDER BY 1'
CALL tiered_storage.move_relation('regress_oi', 'regress_slow', index_target => 'regress_fast');
:oi;
CALL tiered_storage.move_relation('regress_op', 'regress_slow', index_target => 'regress_ts_cheap');
:oi;
CALL tiered_storage.move_relation('regress_oi', 'regress_slow', index_target => NULL);
:oi;
CALL tiered_storage.move_relation('regress_oi_pkey', 'regress_cheap', index_target => 'regress_fast'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_op', 'regress_cheap', include_indexes => false,
	index_target => 'regress_fast'); \echo :SQLSTATE
:oi;
CALL tiered_storage.move_relation('regress_oi', 'regress_fast', index_target => 'no_such_place'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_oi', 'regress_fast', index_target => 'pg_global'); \echo :SQLSTATE
:oi;
:moves;
DROP TABLE regress_oi, regress_op;
TRUNCATE _tiered_storage.move;

\echo '-- What was left behind'

\echo '-- A superuser can move the index of a TOAST table away.  The next move of the table'
\echo '-- brings it along, also one to where the table is.'
SELECT format('ALTER INDEX %s SET TABLESPACE regress_ts_fast', i.indexrelid::regclass) AS fetch_it FROM pg_class c
	JOIN pg_index i ON i.indrelid = c.reltoastrelid
	WHERE c.relname = 'regress_o' \gset
SET allow_system_table_mods = on;
:fetch_it;
\set parts 'SELECT tablespace, string_agg(relation, \', \' ORDER BY relation COLLATE "C") AS relations FROM regress_where WHERE relation ~ \'regress_o$\' GROUP BY 1 ORDER BY 1'
:parts;
CALL tiered_storage.move_relation('regress_o', 'regress_ts_slow', include_indexes => false);
:parts;
:fetch_it;
CALL tiered_storage.move_relation('regress_o', 'regress_slow', include_indexes => false);
:parts;
:fetch_it;
CALL tiered_storage.move_relation('regress_o', 'regress_fast', include_indexes => false);
:parts;
RESET allow_system_table_mods;
SELECT count(t) AS toasted, sum(length(t)) AS length FROM regress_o;
:moves;
TRUNCATE _tiered_storage.move;

\echo '-- What cannot be moved online'

CREATE UNLOGGED TABLE "regress_o u%s" (id int PRIMARY KEY, t text) TABLESPACE regress_ts_fast;
INSERT INTO "regress_o u%s" SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 20) i;
CREATE ACCESS METHOD regress_gist TYPE INDEX HANDLER gisthandler;
CREATE OPERATOR CLASS regress_ops DEFAULT FOR TYPE box USING regress_gist AS OPERATOR 3 &&,
	FUNCTION 1 gist_box_consistent(internal, box, smallint, oid, internal), FUNCTION 2 gist_box_union(internal,
		internal),
	FUNCTION 5 gist_box_penalty(internal, internal, internal), FUNCTION 6 gist_box_picksplit(internal, internal),
		FUNCTION 7 gist_box_same(box, box, internal);
CREATE ACCESS METHOD regress_heap TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE regress_o_am (id int, b box, t text) TABLESPACE regress_ts_fast;
CREATE INDEX regress_o_am_known ON regress_o_am USING brin (id) TABLESPACE regress_ts_fast;
CREATE INDEX regress_o_am_unknown ON regress_o_am USING regress_gist (b) TABLESPACE regress_ts_fast;
INSERT INTO regress_o_am SELECT i, box(point(i, i), point(i, i)), repeat(md5(i::text), 200)
	FROM generate_series(1, 20) i;
CREATE TABLE regress_o_heap (id int, t text) USING regress_heap TABLESPACE regress_ts_fast;
INSERT INTO regress_o_heap SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 20) i;
CREATE TABLE regress_o_invalid (id int) TABLESPACE regress_ts_fast;
INSERT INTO regress_o_invalid VALUES (1), (1);
CREATE UNIQUE INDEX CONCURRENTLY regress_o_invalid_i ON regress_o_invalid (id) TABLESPACE regress_ts_fast;
\set these 'SELECT tablespace, string_agg(relation, \', \' ORDER BY relation COLLATE "C") AS relations FROM regress_where WHERE relation ~ \'regress_o( u|_am|_heap|_invalid|_u)\' GROUP BY 1 ORDER BY 1'
CALL tiered_storage.move_relation('"regress_o u%s"', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_o_am', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_o_heap', 'regress_slow'); \echo :SQLSTATE
\echo '-- An index that is not valid is not a part of its table; nor does a lock help.'
CALL tiered_storage.move_relation('regress_o_invalid', 'regress_slow');
CALL tiered_storage.move_relation('regress_o_invalid_i', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_o_invalid_i', 'regress_slow', allow_lock => true); \echo :SQLSTATE
:these;
:moves;
\echo '-- With leave to lock it.'
CALL tiered_storage.move_relation('"regress_o u%s"', 'regress_slow', allow_lock => true);
CALL tiered_storage.move_relation('regress_o_am', 'regress_slow', allow_lock => true);
CALL tiered_storage.move_relation('regress_o_heap', 'regress_slow', allow_lock => true);
:these;
:moves;
SELECT attempts, count(*) FROM _tiered_storage.moves WHERE method = 'set tablespace' AND state = 'done'
	AND lock_held_ms > 0 GROUP BY 1;
SELECT count(*), sum(length(t)) FROM "regress_o u%s" UNION ALL SELECT count(*), sum(length(t)) FROM regress_o_am
	UNION ALL SELECT count(*), sum(length(t)) FROM regress_o_heap;
SET enable_seqscan = off;
SELECT id FROM regress_o_am WHERE b && box '(7,7),(7,7)';
RESET enable_seqscan;
\echo '-- When the index is valid, it can be moved like others.'
DELETE FROM regress_o_invalid WHERE ctid = '(0,1)';
REINDEX INDEX regress_o_invalid_i;
CALL tiered_storage.move_relation('regress_o_invalid', 'regress_slow');
SELECT tablespace FROM regress_where WHERE relation = 'regress_o_invalid_i';
\echo '-- What has no place to be moved to has none with a lock either.'
CREATE TEMP TABLE regress_temp (a int);
CREATE SEQUENCE regress_o_sequence;
CREATE VIEW regress_o_view AS SELECT 1;
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation('regress_temp', 'regress_slow', allow_lock => true);
CALL tiered_storage.move_relation('pg_class', 'regress_slow', allow_lock => true);
CALL tiered_storage.move_relation('regress_o_sequence', 'regress_slow', allow_lock => true);
CALL tiered_storage.move_relation('regress_o_view', 'regress_slow', allow_lock => true);
\set VERBOSITY default
CALL tiered_storage.move_relation('regress_o_am', 'regress_fast', allow_lock => NULL); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_o_invalid', 'regress_fast', include_indexes => NULL);
:these;
DROP TABLE "regress_o u%s", regress_o_am, regress_o_heap, regress_o_invalid;
DROP SEQUENCE regress_o_sequence;
DROP VIEW regress_o_view;
TRUNCATE _tiered_storage.move;

\echo '-- A policy leaves such a partition where it is, unless it may lock it.'
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE TABLE regress_o_p (at date PRIMARY KEY) PARTITION BY RANGE (at);
CREATE UNLOGGED TABLE regress_o_p_1 PARTITION OF regress_o_p FOR VALUES
	FROM ('2024-01-01') TO ('2024-02-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_o_p_2 PARTITION OF regress_o_p FOR VALUES
	FROM ('2024-02-01') TO ('2024-03-01') TABLESPACE regress_ts_fast;
INSERT INTO regress_o_p VALUES ('2024-01-15'), ('2024-02-15');
SELECT tiered_storage.add_tiering_policy('regress_o_p', '1 day', 'regress_slow') AS id \gset
\set these 'SELECT tablespace, string_agg(relation, \', \' ORDER BY relation COLLATE "C") AS relations FROM regress_where WHERE relation ~ \'regress_o_p\' GROUP BY 1 ORDER BY 1'
SELECT relation, verdict, reason FROM _tiered_storage.evaluate_policies() ORDER BY relation::text COLLATE "C";
CALL tiered_storage.migrate();
:these;
:moves;
SELECT last_due, last_on_target FROM _tiered_storage.policies;
CALL tiered_storage.move_relation('regress_o_p_1', 'regress_slow', allow_lock => true);
:these;
:moves;
SELECT count(*) FROM regress_o_p;
SELECT tiered_storage.remove_policy(policy_id => :id) \gset
DROP TABLE regress_o_p;
RESET tiered_storage.test_now;
TRUNCATE _tiered_storage.move;

\echo '-- Shared buffers'

CREATE TABLE regress_o_cache (id int, filler char(1000)) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_o_cache SELECT i, 'x' FROM generate_series(1, 700) i;
CREATE VIEW regress_cached AS
	SELECT cached_buffers AS cached FROM tiered_storage.block_heat('regress_o_cache', 1);
SELECT pg_relation_size('regress_o_cache') / current_setting('block_size')::int AS blocks;
SELECT cached FROM regress_cached;
\echo '-- All of it was there, and is.'
CALL tiered_storage.move_relation('regress_o_cache', 'regress_slow');
SELECT cached FROM regress_cached;
\echo '-- What was not there is not fetched; a file that is new has nothing there.'
ALTER TABLE regress_o_cache SET TABLESPACE regress_ts_fast;
SET enable_seqscan = off;
SELECT id FROM regress_o_cache WHERE ctid IN ('(3,1)', '(50,1)', '(99,1)') ORDER BY id;
RESET enable_seqscan;
SELECT cached FROM regress_cached;
CALL tiered_storage.move_relation('regress_o_cache', 'regress_slow');
SELECT cached FROM regress_cached;
SELECT count(*), sum(id) FROM regress_o_cache;
DROP VIEW regress_cached;

\echo '-- Pause'

TRUNCATE _tiered_storage.move;
SELECT _tiered_storage.is_paused();
SELECT tiered_storage.resume();
\echo '-- At once and for all, whatever becomes of the transaction.'
BEGIN;
SELECT tiered_storage.pause();
ROLLBACK;
SELECT tiered_storage.pause();
SELECT _tiered_storage.is_paused();
SET statement_timeout = '5s';
CALL tiered_storage.move_relation('regress_o_cache', 'regress_fast'); \echo :SQLSTATE
RESET statement_timeout;
SELECT tablespace FROM regress_where WHERE relation = 'regress_o_cache';
:moves;
SELECT * FROM _tiered_storage.mover_progress(pg_backend_pid());
SELECT tiered_storage.resume();
SELECT tiered_storage.resume();
SELECT _tiered_storage.is_paused();
CALL tiered_storage.move_relation('regress_o_cache', 'regress_fast');
SELECT tablespace FROM regress_where WHERE relation = 'regress_o_cache';
:moves;
SELECT * FROM _tiered_storage.move_progress;
SELECT * FROM _tiered_storage.mover_progress(pg_backend_pid());
SELECT * FROM _tiered_storage.mover_progress(NULL);
SELECT * FROM _tiered_storage.mover_progress(-1);

\echo '-- The session'

\echo '-- Its settings are its own; a move does not depend on them.'
SET lock_timeout = '7s';
SET synchronous_commit = remote_apply;
SET default_transaction_isolation = 'serializable';
CALL tiered_storage.move_relation('regress_o_cache', 'regress_slow');
SET default_transaction_isolation = 'repeatable read';
DO $$
BEGIN
	CALL tiered_storage.move_relation('regress_o_cache', 'regress_fast');
	RAISE NOTICE 'lock_timeout %, synchronous_commit %', current_setting('lock_timeout'),
		current_setting('synchronous_commit');
END
$$;
SELECT current_setting('lock_timeout') AS lock_timeout, current_setting('synchronous_commit') AS synchronous_commit,
	current_setting('transaction_isolation') AS isolation;
SET default_transaction_read_only = on;
CALL tiered_storage.move_relation('regress_o_cache', 'regress_slow'); \echo :SQLSTATE
RESET default_transaction_read_only;
RESET default_transaction_isolation;
RESET synchronous_commit;
RESET lock_timeout;
SELECT tablespace FROM regress_where WHERE relation = 'regress_o_cache';
\echo '-- It may have a cursor on the table, or a prepared statement.'
PREPARE regress_count AS SELECT count(*) FROM regress_o_cache;
EXECUTE regress_count;
BEGIN;
DECLARE regress_cursor CURSOR WITH HOLD FOR SELECT id FROM regress_o_cache ORDER BY id;
COMMIT;
CALL tiered_storage.move_relation('regress_o_cache', 'regress_slow');
FETCH 2 FROM regress_cursor;
CLOSE regress_cursor;
EXECUTE regress_count;
DO $$
DECLARE
	n int := 0;
	i int;
BEGIN
	FOR i IN SELECT id FROM regress_o_cache LOOP
		n := n + 1;
		IF n = 100 THEN
			CALL tiered_storage.move_relation('regress_o_cache', 'regress_fast');
		END IF;
	END LOOP;
	RAISE NOTICE '% rows', n;
END
$$;
SELECT tablespace FROM regress_where WHERE relation = 'regress_o_cache';

\echo '-- Nothing is left behind: neither a record of a file, nor a file that nobody has.'
SELECT count(*) AS files FROM _tiered_storage.move_file;
CHECKPOINT;
SELECT s.spcname, f.file
	FROM pg_tablespace s, pg_database d,
		LATERAL pg_ls_dir(format('pg_tblspc/%s', s.oid)) version,
		LATERAL pg_ls_dir(format('pg_tblspc/%s/%s/%s', s.oid, version, d.oid), true, false) AS f (file)
	WHERE s.spcname ~ '^regress_ts_' AND d.datname = current_database()
		AND pg_filenode_relation(s.oid, substring(f.file FROM '^\d+')::oid) IS NULL;

SET client_min_messages = warning;
DROP TABLE regress_o, regress_o_cache;
DROP VIEW regress_where, regress_forks;
DROP FUNCTION regress_name, regress_fill, regress_by_index, regress_heap_fetches;
DROP ACCESS METHOD regress_heap;
DROP ACCESS METHOD regress_gist CASCADE;
DROP EXTENSION IF EXISTS bloom, amcheck, pg_visibility;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
