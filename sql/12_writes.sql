-- Writes: which relations they are of, counted from the WAL.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{pg_default}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}');
END
$$;
RESET client_min_messages;

-- Checkpoints come when we say so.  The setting is the server's own when a
-- checkpoint has it in its record.
CREATE PROCEDURE regress_w_checkpoint(full_page_writes boolean)
LANGUAGE plpgsql
AS $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '1 minute';
BEGIN
	LOOP
		CHECKPOINT;
		EXIT WHEN (SELECT c.full_page_writes = regress_w_checkpoint.full_page_writes FROM pg_control_checkpoint() c);
		IF clock_timestamp() > give_up_at THEN
			RAISE EXCEPTION 'the setting does not arrive';
		END IF;
	END LOOP;
END
$$;
ALTER SYSTEM SET checkpoint_timeout = '1d';
ALTER SYSTEM SET max_wal_size = '2GB';
ALTER SYSTEM SET full_page_writes = on;
SELECT pg_reload_conf();
CALL regress_w_checkpoint(true);

-- What a relation has written since the last call.  From rates of 0 one hour
-- ago, a half-life of a day leaves of each event 1 - 0.5 ^ (1/24) per hour.
CREATE FUNCTION regress_w_writes(relations text DEFAULT 'regress_w',
	OUT relation regclass, OUT pages int, OUT maintenance int, OUT wal_bytes int, OUT image_bytes int)
RETURNS SETOF record LANGUAGE plpgsql
AS $$
DECLARE
	hour CONSTANT float8 := 1 - 0.5 ^ (1 / 24.0);
BEGIN
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
	UPDATE _tiered_storage.relation_state SET page_writes_fast = 0, page_writes_slow = 0,
		merged_writes_fast = 0, merged_writes_slow = 0,
		maintenance_writes_fast = 0, wal_bytes_fast = 0, image_bytes_fast = 0;
	PERFORM set_config('tiered_storage.test_now', (s.last_sample_at + interval '1 hour')::text, false)
		FROM _tiered_storage.sampler s;
	CALL tiered_storage.sample();
	RETURN QUERY SELECT s.relation_oid::regclass, round(s.page_writes_fast / hour)::int,
		round(s.maintenance_writes_fast / hour)::int,
			round(s.wal_bytes_fast / hour)::int, round(s.image_bytes_fast / hour)::int
		FROM _tiered_storage.relation_state s JOIN pg_class c ON c.oid = s.relation_oid
		WHERE c.relname ~ ('^(' || relations || ')$') ORDER BY c.relname COLLATE "C";
END
$$;
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.relation_history, _tiered_storage.history_hour, _tiered_storage.state_snapshot;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
CALL tiered_storage.sample();

\echo '-- Pages: each once between two checkpoints'

\echo '-- Four rows on a page, and room for more.'
CREATE TABLE regress_w (id int, v int, filler char(900)) WITH (fillfactor = 50, autovacuum_enabled = off);
INSERT INTO regress_w SELECT i, 0, 'x' FROM generate_series(1, 400) i;
SELECT pg_relation_size('regress_w') / current_setting('block_size')::int AS pages \gset
SELECT :pages BETWEEN 90 AND 110 AS about_100_pages;
CREATE VIEW regress_w_first AS SELECT min(id) AS id FROM regress_w GROUP BY (ctid::text::point)[0];
\echo '-- New pages; they have no image.'
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance, wal_bytes > 400 * 900 AS wal, image_bytes
	FROM regress_w_writes();
\echo '-- Nothing happened.'
SELECT * FROM regress_w_writes();
\echo '-- The first change of each page after a checkpoint has an image; what comes later, only WAL.'
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance, wal_bytes > image_bytes AS wal, image_bytes > :pages * 3600
	AS images FROM regress_w_writes();
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, pages, maintenance, wal_bytes > :pages * 40 AS wal, image_bytes FROM regress_w_writes();
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance FROM regress_w_writes();
SELECT pg_relation_size('regress_w') / current_setting('block_size')::int - :pages AS grown;
\echo '-- In the history, too, and in the view.'
SELECT period_start, abs(page_writes - :pages) < 5 AS each_once FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_w'::regclass AND page_writes > 0 ORDER BY 1;
SELECT write_source, page_writes_per_hour > 0 AS pages,
	maintenance_writes_per_hour AS maintenance,
	wal_bytes_per_hour > full_page_image_bytes_per_hour AS wal, full_page_image_bytes_per_hour > 0 AS images
	FROM _tiered_storage.heat WHERE relation = 'regress_w'::regclass;

\echo '-- Rolled up with the rest, as if it had not been done yet.'
UPDATE _tiered_storage.sampler SET rolled_up_until = NULL;
INSERT INTO _tiered_storage.relation_history
	SELECT t, 'regress_w'::regclass, 600, 1, 2, 3, 4, 5, 6 FROM generate_series('2029-12-31 08:00+00'::timestamptz,
		'2029-12-31 08:50+00', interval '10 minutes') t;
SELECT relation FROM regress_w_writes();
SELECT period_start, period_s, row_changes, page_writes FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_w'::regclass AND period_start < '2030-01-01' ORDER BY 1;

\echo '-- Indexes, and what is no use of the relation'

\echo '-- To build an index is maintenance, all of its pages.'
CREATE INDEX regress_w_idx ON regress_w (id);
SELECT w.relation, pages, maintenance - pg_relation_size(w.relation) / current_setting('block_size')::int AS off_by
	FROM regress_w_writes('regress_w_idx') w;
CHECKPOINT;
SET enable_seqscan = off;
UPDATE regress_w SET id = -id WHERE id = 100;
RESET enable_seqscan;
SELECT relation, pages, maintenance FROM regress_w_writes('regress_w|regress_w_idx');
\echo '-- Vacuum finds dead rows on each page.  The map has a page, too.'
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation FROM regress_w_writes();
CHECKPOINT;
VACUUM regress_w;
SELECT relation, pages, maintenance - :pages BETWEEN 0 AND 1 AS all_pages FROM regress_w_writes();
\echo '-- The same work, done by who reads and writes, is use.'
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation FROM regress_w_writes();
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, pages >= :pages AS all_pages, maintenance FROM regress_w_writes();

\echo '-- New files'

\echo '-- A move writes nothing of the relation, and what was written before it is not lost.'
SELECT relation FROM regress_w_writes();
CALL tiered_storage.move_relation('regress_w', 'regress_slow');
SELECT sum(copied_bytes) BETWEEN :pages * 8192 AND :pages * 8192 * 2 AS moved FROM _tiered_storage.move;
SELECT tier_name, is_total, round((moved_bytes_per_hour * 24)::numeric) = (SELECT sum(copied_bytes)
	FROM _tiered_storage.move) AS moved
	FROM _tiered_storage.write_amplification ORDER BY is_total, tier_name;
SELECT relation, pages, maintenance, wal_bytes FROM regress_w_writes('regress_w|regress_w_idx');
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
CALL tiered_storage.move_relation('regress_w', 'regress_fast');
SELECT relation, pages >= :pages AS all_pages, maintenance FROM regress_w_writes();
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, pages >= :pages AS all_pages, maintenance FROM regress_w_writes();
ALTER TABLE regress_w SET TABLESPACE regress_ts_slow;
SELECT relation, pages, maintenance FROM regress_w_writes();
\echo '-- A rewrite is maintenance; what came before it is use.'
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
VACUUM FULL regress_w;
SELECT relation, pages >= :pages AS all_pages,
	maintenance - pg_relation_size('regress_w') / current_setting('block_size')::int AS off_by FROM regress_w_writes();
TRUNCATE regress_w;
INSERT INTO regress_w SELECT i, 0, 'x' FROM generate_series(1, 400) i;
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance FROM regress_w_writes();
DROP TABLE regress_w CASCADE;
SELECT relation FROM regress_w_writes();
\echo '-- Of an unlogged table nothing is known.'
CREATE UNLOGGED TABLE regress_w_unlogged AS SELECT i FROM generate_series(1, 1000) i;
SELECT relation FROM regress_w_writes();
SELECT page_writes_per_hour, write_source FROM _tiered_storage.heat WHERE relation = 'regress_w_unlogged'::regclass;

\echo '-- More WAL than is read'

CREATE TABLE regress_w_large (filler char(900)) WITH (autovacuum_enabled = off);
INSERT INTO regress_w_large SELECT 'x' FROM generate_series(1, 20000);
SELECT relation, abs(pages * current_setting('block_size')::float8 / pg_relation_size(relation) - 1) < 0.1
	AS pages_within_a_tenth, maintenance,
	abs(wal_bytes / (20000 * 950.0) - 1) < 0.1 AS wal_within_a_tenth FROM regress_w_writes('regress_w_large');
SELECT last_wal_read_bytes <= 16 * 1024 * 1024 + 32768 AS bounded, last_wal_bytes > 20000 * 900 AS all_of_it,
	abs(last_wal_scale * last_wal_read_bytes / last_wal_bytes - 1) < 0.001 AS scale_fits FROM _tiered_storage.sampler;
\echo '-- Enough for what is written now.'
UPDATE regress_w_large SET filler = 'y' WHERE ctid = '(0,1)';
SELECT relation, pages > 0 AS pages FROM regress_w_writes('regress_w_large');
SELECT last_wal_read_bytes = last_wal_bytes AS all_of_it, last_wal_scale FROM _tiered_storage.sampler;
\echo '-- Where the last sample ended is not known: anew, without what was known before.'
UPDATE _tiered_storage.sampler SET wal_position = NULL;
UPDATE _tiered_storage.relation_state SET page_writes_fast = 1000, wal_bytes_fast = 1000;
CALL tiered_storage.sample();
SELECT max(page_writes_fast), max(wal_bytes_fast) FROM _tiered_storage.relation_state;
SELECT wal_since = last_sample_at AS begins, last_wal_bytes, last_wal_scale FROM _tiered_storage.sampler;

\echo '-- Without full_page_writes'

ALTER SYSTEM SET full_page_writes = off;
SELECT pg_reload_conf();
CALL regress_w_checkpoint(false);
CREATE TABLE regress_w (id int, v int, filler char(900)) WITH (fillfactor = 50, autovacuum_enabled = off);
INSERT INTO regress_w SELECT i, 0, 'x' FROM generate_series(1, 400) i;
\echo '-- Also if the change is in WAL that is not read.'
INSERT INTO regress_w SELECT i, 0, 'x' FROM generate_series(1, 40000) i;
CALL tiered_storage.sample();
SELECT last_wal_scale > 2 AS a_part, substring(changed_pages, 17, 4) AS full_page_writes FROM _tiered_storage.sampler;
TRUNCATE regress_w;
INSERT INTO regress_w SELECT i, 0, 'x' FROM generate_series(1, 400) i;
CREATE VIEW regress_w_first AS SELECT min(id) AS id FROM regress_w GROUP BY (ctid::text::point)[0];
\echo '-- By the pages that are different ones: in this sample, and in another one.'
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance, image_bytes FROM regress_w_writes();
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, pages, wal_bytes > :pages * 40 AS wal, image_bytes FROM regress_w_writes();
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance FROM regress_w_writes();
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, pages, maintenance FROM regress_w_writes();
\echo '-- The checkpoint was before some of it and after the rest.'
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
CHECKPOINT;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance FROM regress_w_writes();
SELECT pg_column_size(changed_pages) > 0 AS remembered FROM _tiered_storage.sampler;
\echo '-- What is remembered may be anything.  Then each page is new again, also those that are only pruned.'
UPDATE _tiered_storage.sampler SET changed_pages = '\xdeadbeef';
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT relation, abs(pages - :pages) < 5 AS each_once, maintenance FROM regress_w_writes();

\echo '-- Pages side by side reach the device together'

\echo '-- Of what was found last, which part is merged, in steps of a twentieth.'
CREATE FUNCTION regress_w_merged(OUT relation regclass, OUT merged numeric) RETURNS SETOF record
LANGUAGE sql AS $$
	SELECT s.relation_oid::regclass, round(round((20 * s.merged_writes_fast / s.page_writes_fast)::numeric) / 20, 2)
	FROM _tiered_storage.relation_state s JOIN pg_class c ON c.oid = s.relation_oid
	WHERE c.relname ~ '^regress_w' AND s.page_writes_fast > 0 ORDER BY c.relname COLLATE "C"
$$;
CREATE TABLE regress_w_log (id int, filler char(900)) WITH (autovacuum_enabled = off);
SELECT * FROM regress_w_writes('regress_w|regress_w_log') \g /dev/null
\echo '-- Rows at the end of a table, and a row on every fifth page of another one: with an image each, and by'
\echo '-- the pages that were changed since.'
CREATE VIEW regress_w_fifth AS SELECT min(id) AS id FROM regress_w GROUP BY (ctid::text::point)[0]
	HAVING (ctid::text::point)[0]::int % 5 = 0;
INSERT INTO regress_w_log SELECT i, 'x' FROM generate_series(1, 4000) i;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_fifth);
SELECT count(*) FROM regress_w_writes('regress_w|regress_w_log');
SELECT * FROM regress_w_merged();
CHECKPOINT;
\echo '-- Two samples between two checkpoints: the pages between the others come later.'
INSERT INTO regress_w_log SELECT i, 'x' FROM generate_series(1, 4000) i;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_fifth);
SELECT count(*) FROM regress_w_writes('regress_w|regress_w_log');
SELECT * FROM regress_w_merged();
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT count(*) FROM regress_w_writes('regress_w|regress_w_log');
SELECT * FROM regress_w_merged();
ALTER SYSTEM SET full_page_writes = on;
SELECT pg_reload_conf();
VACUUM regress_w;
CALL regress_w_checkpoint(true);
SELECT * FROM regress_w_writes('regress_w|regress_w_log') \g /dev/null
INSERT INTO regress_w_log SELECT i, 'x' FROM generate_series(1, 4000) i;
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_fifth);
SELECT count(*) FROM regress_w_writes('regress_w|regress_w_log');
SELECT * FROM regress_w_merged();
UPDATE regress_w SET v = v + 1 WHERE id IN (SELECT id FROM regress_w_first);
SELECT count(*) FROM regress_w_writes('regress_w|regress_w_log');
SELECT * FROM regress_w_merged();

\echo '-- Views and advice'

ANALYZE regress_w;
CHECKPOINT;
UPDATE regress_w SET v = v + 1;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT relation FROM regress_w_writes();
UPDATE _tiered_storage.relation_state SET tuples = size_bytes / 100.0 WHERE NOT tuples > 0;
SELECT tier_name, is_total, row_changes_per_hour > 0 AS rows, row_bytes_per_hour > 0 AS row_bytes,
	page_write_bytes_per_hour > 0 AS pages,
	wal_bytes_per_hour > 0 AS wal
	FROM _tiered_storage.write_amplification ORDER BY is_total, tier_name;
\echo '-- How wide rows are is not known of a table that was never analyzed: null, not 0.'
BEGIN;
UPDATE _tiered_storage.relation_state SET tuples = -1;
SELECT tier_name, is_total, row_changes_per_hour > 0 AS rows, row_bytes_per_hour, amplification
	FROM _tiered_storage.write_amplification ORDER BY is_total, tier_name;
ROLLBACK;
\echo '-- Rows of one byte, of which more was written; and rows so large that not all that was written for them can have been'
\echo '-- counted.'
UPDATE _tiered_storage.relation_state SET tuples = size_bytes WHERE size_bytes > 0;
SELECT is_total, amplification > 1 AS amplification,
	amplification * row_bytes_per_hour - page_write_bytes_per_hour - maintenance_write_bytes_per_hour - wal_bytes_per_hour * _tiered_storage.wal_written_ratio() < 1 AS adds_up
	FROM _tiered_storage.write_amplification ORDER BY is_total, tier_name;
UPDATE _tiered_storage.relation_state SET tuples = 1 WHERE size_bytes > 0;
SELECT is_total, row_bytes_per_hour > page_write_bytes_per_hour + maintenance_write_bytes_per_hour + wal_bytes_per_hour
	AS impossible, amplification
	FROM _tiered_storage.write_amplification ORDER BY is_total, tier_name;
\echo '-- The advice takes what was counted for ten minutes at least; before, it counts for its part of the time; and for the'
\echo '-- unlogged table, what it can guess.'
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, page_writes_fast = 1234, page_writes_slow = 1234,
	changes_fast = 0, changes_slow = 0,
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, heat_at = '2030-02-01',
		observed_since = '2029-01-01', sampled_since = '2029-01-01'
			WHERE relation_oid IN ('regress_w'::regclass, 'regress_w_unlogged'::regclass);
UPDATE _tiered_storage.sampler SET last_sample_at = '2030-02-01',
	wal_since = '2030-02-01'::timestamptz - interval '9 minutes';
SET tiered_storage.test_now = '2030-02-01';
SELECT r.relation, round(e.write_s_per_hour::numeric, 3) AS write_s_per_hour
	FROM tiered_storage.recommend_placement(true) r, _tiered_storage.explain_placement(r.relation) e
	WHERE e.is_recommended AND r.relation::text ~ 'regress_w(_unlogged)?$' ORDER BY r.relation::text COLLATE "C";
UPDATE _tiered_storage.sampler SET wal_since = '2029-01-01';
SELECT r.relation, round(e.write_s_per_hour::numeric, 3) AS write_s_per_hour
	FROM tiered_storage.recommend_placement(true) r, _tiered_storage.explain_placement(r.relation) e
	WHERE e.is_recommended AND r.relation::text ~ 'regress_w(_unlogged)?$' ORDER BY r.relation::text COLLATE "C";

\echo '-- Nobody needs the rights of a superuser to look.'
CREATE ROLE regress_w_monitor IN ROLE pg_monitor;
SET ROLE regress_w_monitor;
SELECT count(*) > 0 AS tiers FROM _tiered_storage.write_amplification;
SELECT count(*) > 0 AS tables FROM tiered_storage.write_amplification WHERE relation IS NOT NULL;
RESET ROLE;

DROP ROLE regress_w_monitor;
DROP FUNCTION regress_w_merged();
DROP TABLE regress_w, regress_w_log, regress_w_large, regress_w_unlogged CASCADE;
DROP PROCEDURE regress_w_checkpoint(boolean);
DROP FUNCTION regress_w_writes(text);
ALTER SYSTEM RESET checkpoint_timeout;
ALTER SYSTEM RESET max_wal_size;
ALTER SYSTEM RESET full_page_writes;
SELECT pg_reload_conf();
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_slow;
