-- What is written for one changed byte of a row, by table.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = warning;
ALTER SYSTEM SET checkpoint_timeout = '1d';
ALTER SYSTEM SET max_wal_size = '2GB';
SELECT pg_reload_conf() \g /dev/null
SELECT tiered_storage.add_tier('regress_main', '{pg_default}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.relation_history, _tiered_storage.history_hour, _tiered_storage.state_snapshot;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
CALL tiered_storage.sample();

-- An hour later, with the rates of what was done since alone.
CREATE PROCEDURE regress_hour() LANGUAGE plpgsql AS $$
BEGIN
	UPDATE _tiered_storage.relation_state SET page_writes_fast = 0, page_writes_slow = 0, merged_writes_fast = 0,
		merged_writes_slow = 0,
		maintenance_writes_fast = 0, wal_bytes_fast = 0, image_bytes_fast = 0, changes_fast = 0, changes_slow = 0;
	PERFORM set_config('tiered_storage.test_now', (s.last_sample_at + interval '1 hour')::text, false)
		FROM _tiered_storage.sampler s;
	CALL tiered_storage.sample();
	-- Each write of the WAL had four blocks of records: one more was written.
	UPDATE _tiered_storage.history_hour SET load = load || '{"wal_bytes": 32768, "wal_writes": 1}' WHERE load IS NOT NULL;
END
$$;

-- Rows of 188 and of 512 bytes, of which 8 are two numbers and 4 the length of a text; there is room on each page.
CREATE PROCEDURE regress_create(width int, operation text) LANGUAGE plpgsql AS $$
DECLARE
	name text := format('regress_a_%s_%s', operation, width);
BEGIN
	EXECUTE format('CREATE TABLE %I (id int, v int, filler text) WITH (fillfactor = 50, autovacuum_enabled = off)',
		name);
	EXECUTE format('ALTER TABLE %I ALTER filler SET STORAGE PLAIN', name);
	EXECUTE format('INSERT INTO %I SELECT i, i, repeat(''x'', %s) FROM generate_series(1, 20000) i', name, width - 12);
	EXECUTE format('CREATE INDEX ON %I (v)', name);
END
$$;
\set ECHO all
SELECT format('CALL regress_create(%s, %L)', w, o) FROM unnest('{188,512}'::int[]) w,
	unnest('{insert,hot,update}'::text[]) o \gexec
SELECT format('VACUUM ANALYZE %I', relname) FROM pg_class WHERE relname ~ '^regress_a_.*[0-9]$' ORDER BY 1 \gexec
\set ECHO none
CHECKPOINT;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_hour();

-- 200 rows of each: new ones, and on pages far from each other, of a column with an index and of one without.
INSERT INTO regress_a_insert_188 SELECT i, i, repeat('x', 176) FROM generate_series(20001, 20200) i;
INSERT INTO regress_a_insert_512 SELECT i, i, repeat('x', 500) FROM generate_series(20001, 20200) i;
UPDATE regress_a_hot_188 SET filler = repeat('y', 176) WHERE id % 100 = 0;
UPDATE regress_a_hot_512 SET filler = repeat('y', 500) WHERE id % 100 = 0;
UPDATE regress_a_update_188 SET v = v + 1 WHERE id % 100 = 0;
UPDATE regress_a_update_512 SET v = v + 1 WHERE id % 100 = 0;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_hour();
CREATE VIEW regress_shape AS
	SELECT split_part(relation::text, '_', 3) AS operation, row_width_bytes AS width, a.*
		FROM _tiered_storage.relation_write_amplification() a
	WHERE relation::text ~ '^regress_a_';
\set ECHO all
SELECT operation, width, tier_name, round((row_bytes_per_hour / row_changes_per_hour)::numeric, 3) AS row_bytes,
	abs(amplification - (page_write_bytes_per_hour + maintenance_write_bytes_per_hour
		+ wal_bytes_per_hour * 1.25) / row_bytes_per_hour) < 1e-9 AS adds_up,
	full_page_image_bytes_per_hour <= wal_bytes_per_hour AS images
	FROM regress_shape ORDER BY operation, width;
-- Small rows amplify more than large ones, and updates more than inserts; those that touch no index write none of it,
-- see above.
SELECT operation, array_agg(width ORDER BY amplification DESC) AS order_of_widths FROM regress_shape GROUP BY operation
	ORDER BY operation;
SELECT width, min(amplification) FILTER (WHERE operation <> 'insert') > max(amplification) FILTER (WHERE operation = 'insert') AS updates_more
	FROM regress_shape GROUP BY width ORDER BY width;

\set ECHO none
-- TOAST and its index belong to their table.
CREATE TABLE regress_toast (id int, t text) WITH (autovacuum_enabled = off);
ALTER TABLE regress_toast ALTER t SET STORAGE EXTERNAL;
INSERT INTO regress_toast SELECT i, repeat('x', 10000) FROM generate_series(1, 100) i;
VACUUM ANALYZE regress_toast;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_hour();
INSERT INTO regress_toast SELECT i, repeat('y', 10000) FROM generate_series(101, 200) i;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_hour();
\set ECHO all
SELECT relation, row_width_bytes < 100 AS pointers, row_bytes_per_hour / row_changes_per_hour BETWEEN 10000 AND 15000
	AS row_bytes,
	page_write_bytes_per_hour > 2 * pg_relation_size(relation) AS toast, amplification BETWEEN 1 AND 5 AS amplification
	FROM _tiered_storage.relation_write_amplification() WHERE relation = 'regress_toast'::regclass;
SELECT count(*) AS others FROM _tiered_storage.relation_write_amplification() a JOIN pg_class c ON c.oid = a.relation
	WHERE c.relkind NOT IN ('r', 'm');

\set ECHO none
-- What nobody can tell is null.
CREATE TABLE regress_new WITH (autovacuum_enabled = off) AS SELECT i FROM generate_series(1, 1000) i;
CREATE UNLOGGED TABLE regress_unlogged WITH (autovacuum_enabled = off) AS SELECT i FROM generate_series(1, 1000) i;
CREATE TABLE "regress ""Empty" (a int);
ANALYZE regress_unlogged, "regress ""Empty";
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_hour();
PREPARE reasons AS
	SELECT relation, amplification > 1 AS amplifies, wal_bytes_per_hour IS NULL
		AS not_counted FROM _tiered_storage.relation_write_amplification()
	WHERE relation::text ~ 'regress_(new|unlogged|a_insert_188)|regress ""Empty' ORDER BY relation::text COLLATE "C";
\set ECHO all
EXECUTE reasons;
-- More rows than the WAL has; rows that were changed before it was read; none read.
UPDATE _tiered_storage.relation_state SET changes_fast = 1e9 WHERE relation_oid = 'regress_a_insert_188'::regclass;
ANALYZE regress_new;
EXECUTE reasons;
UPDATE _tiered_storage.relation_state SET observed_since = '2029-01-01', changes_fast = 1
	WHERE relation_oid = 'regress_a_insert_188'::regclass;
EXECUTE reasons;
UPDATE _tiered_storage.sampler SET wal_since = last_sample_at - interval '4 days';
SELECT amplification > 0 AS known FROM _tiered_storage.relation_write_amplification() WHERE relation = 'regress_a_insert_188'::regclass;

ALTER SYSTEM RESET checkpoint_timeout;
ALTER SYSTEM RESET max_wal_size;
SELECT pg_reload_conf() \g /dev/null
DROP EXTENSION tiered_storage CASCADE;
DROP TABLE regress_a_insert_188, regress_a_insert_512, regress_a_hot_188, regress_a_hot_512, regress_a_update_188,
	regress_a_update_512, regress_toast, regress_new, regress_unlogged, "regress ""Empty";
DROP PROCEDURE regress_create(int, text);
DROP PROCEDURE regress_hour();
