-- Samples: what is counted, remembered, rolled up, forgotten.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
-- What is counted is made up here; the executor knows nothing of it.
SET tiered_storage.track_access = off;

-- Counters of this session arrive at once.
\set flush 'SELECT pg_stat_force_next_flush()'
\set history 'SELECT relation_oid::regclass AS relation, period_start, period_s, scans, random_reads, sequential_reads, hits > 0 AS hits, row_changes FROM _tiered_storage.history_rows WHERE relation_oid IN (SELECT oid FROM pg_class WHERE relname LIKE \'regress\\_o%\' AND relkind <> \'i\') ORDER BY period_start, relation_oid::regclass::text COLLATE "C"'

\echo '-- The first sample, and what it sees'

\echo '-- From a fresh start, by a clock of our own.'
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.relation_history, _tiered_storage.history_hour, _tiered_storage.state_snapshot;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
CREATE TABLE regress_o_first (a int) TABLESPACE regress_ts_slow;
INSERT INTO regress_o_first VALUES (1);
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT last_sample_at, last_duration_ms < 60000 AS duration, last_relations, last_active, samples, counter_resets
	FROM _tiered_storage.sampler;
SELECT relation_oid::regclass AS relation, kind, tuples, heat_at, sampled_since, observed_since < sampled_since
	AS from_statistics,
	last_used_at, last_written_at, rewritten_at FROM _tiered_storage.relation_state;
\echo '-- It is no history: its counters are all of the past.'
SELECT count(*) FROM _tiered_storage.history_rows;

\echo '-- What is observed: what has storage and can be moved, and TOAST.'
CREATE TABLE regress_o (id int PRIMARY KEY, v int, t text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE MATERIALIZED VIEW regress_o_mv AS SELECT 1 AS a;
CREATE VIEW regress_o_view AS SELECT 1 AS a;
CREATE SEQUENCE regress_o_sequence;
CREATE TEMP TABLE regress_o_temp (a int);
CREATE UNLOGGED TABLE regress_o_unlogged (a int);
CREATE TABLE regress_o_p (a int) PARTITION BY RANGE (a);
CREATE TABLE regress_o_p1 PARTITION OF regress_o_p FOR VALUES FROM (0) TO (1);
INSERT INTO regress_o SELECT i, i, 'x' FROM generate_series(1, 1000) i;
:flush \g /dev/null
SET tiered_storage.test_now = '2030-01-01 01:00:00+00';
CALL tiered_storage.sample();
SELECT CASE WHEN kind = 'toast table' OR relation::text LIKE 'pg_toast.%' THEN 'pg_toast' ELSE relation::text END
	AS relation, kind, tier_name
	FROM _tiered_storage.heat ORDER BY relation::text COLLATE "C", kind;
SELECT last_relations = (SELECT count(*) FROM _tiered_storage.relation_state) AS all_of_them, samples
	FROM _tiered_storage.sampler;

\echo '-- Activity'

\echo '-- 1000 rows in an hour.  To write new blocks is not to read any.'
:history;
SELECT relation, round(writes_per_hour::numeric, 3) AS writes_per_hour,
	random_misses_per_hour AS random, sequential_misses_per_hour AS sequential, cached_fraction, last_used_at,
		last_written_at, heat_at, source
	FROM _tiered_storage.heat WHERE relation = 'regress_o'::regclass;
\echo '-- A scan is use, but no write; of two hours the older one weighs 0.5 ^ (1/24), also while it is not yet 2030.'
SELECT count(*) FROM regress_o;
:flush \g /dev/null
SET tiered_storage.test_now = '2030-01-01 02:00:00+00';
CALL tiered_storage.sample();
:history;
SELECT round(writes_per_hour::numeric, 3) AS writes_per_hour,
	round((1000 * 0.5 ^ (1/24.0) / (1 + 0.5 ^ (1/24.0)))::numeric, 3) AS expected, last_used_at, last_written_at
	FROM _tiered_storage.heat WHERE relation = 'regress_o'::regclass;
\echo '-- An idle relation costs nothing: no history, not even a new version of its row.'
SELECT xmin AS version FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_o'::regclass \gset
SELECT count(*) AS history FROM _tiered_storage.history_rows \gset
SET tiered_storage.test_now = '2030-01-01 03:00:00+00';
CALL tiered_storage.sample();
SELECT xmin = :'version' AS untouched FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_o'::regclass;
SELECT count(*) = :history AS no_history FROM _tiered_storage.history_rows;
SELECT last_sample_at, last_active, samples, counter_resets FROM _tiered_storage.sampler;
\echo '-- A HOT update is no change for the index; another one is.'
UPDATE regress_o SET t = 'y' WHERE id = 1000;
UPDATE regress_o SET id = -id WHERE id <= 10;
:flush \g /dev/null
SET tiered_storage.test_now = '2030-01-01 04:00:00+00';
CALL tiered_storage.sample();
SELECT relation_oid::regclass AS relation, row_changes FROM _tiered_storage.history_rows
	WHERE period_start = '2030-01-01 03:00:00+00' AND row_changes > 0
		ORDER BY relation_oid::regclass::text COLLATE "C";
\echo '-- Reads that missed: the counters of before are put back a little.  Without a'
\echo '-- scan they are random, of a complete scan they are sequential.'
ANALYZE regress_o;
SELECT pg_relation_size('regress_o') / current_setting('block_size')::int AS pages \gset
:flush \g /dev/null
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - 100, random_fast = 0
	WHERE relation_oid = 'regress_o_pkey'::regclass;
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - :pages, scans = scans - 1,
	tuples_read = tuples_read - 1000
	WHERE relation_oid = 'regress_o'::regclass;
SET tiered_storage.test_now = '2030-01-01 05:00:00+00';
CALL tiered_storage.sample();
SELECT relation_oid::regclass AS relation, scans, random_reads, sequential_reads / :pages
	AS sequential_reads_in_table_sizes, row_changes
	FROM _tiered_storage.history_rows WHERE period_start = '2030-01-01 04:00:00+00'
		ORDER BY relation_oid::regclass::text COLLATE "C", scans;
SELECT relation, round(random_misses_per_hour::numeric, 3) AS random, round(sequential_misses_per_hour::numeric / :pages,
	3) AS sequential_in_table_sizes
	FROM _tiered_storage.heat WHERE relation IN ('regress_o'::regclass, 'regress_o_pkey'::regclass)
		ORDER BY relation::text COLLATE "C";
\echo '-- A counter that went back has started from zero, and with it all of its table''s: what they show now is new.'
SELECT counter_resets FROM _tiered_storage.sampler;
UPDATE _tiered_storage.relation_state SET scans = scans + 1000000 WHERE relation_oid = 'regress_o'::regclass;
SET tiered_storage.test_now = '2030-01-01 06:00:00+00';
CALL tiered_storage.sample();
SELECT h.scans = pg_stat_get_numscans('regress_o'::regclass) AS all_scans, h.row_changes, s.counter_resets
	FROM _tiered_storage.history_rows h, _tiered_storage.sampler s
	WHERE h.relation_oid = 'regress_o'::regclass AND h.period_start = '2030-01-01 05:00:00+00';
\echo '-- A clock that goes back does no harm.'
SELECT count(*) FROM regress_o;
:flush \g /dev/null
SET tiered_storage.test_now = '2029-12-31 00:00:00+00';
CALL tiered_storage.sample();
SELECT count(*) AS strange FROM _tiered_storage.relation_state
	WHERE NOT (random_fast >= 0 AND random_fast < 'Infinity' AND changes_fast >= 0 AND changes_fast < 'Infinity');
SELECT count(*) AS strange FROM _tiered_storage.history_rows WHERE period_s < 0;

\echo '-- Moved, rewritten, dropped'

SET tiered_storage.test_now = '2030-01-01 08:00:00+00';
SELECT tier_name, relation_bytes, relations FROM _tiered_storage.tiers WHERE relations = 0;
CALL tiered_storage.move_relation('regress_o', 'regress_cheap');
SELECT count(*) AS moves FROM _tiered_storage.moves;
CALL tiered_storage.sample();
SELECT tier_name, relations, relation_bytes = (SELECT sum(pg_relation_size(c.oid, f))
	FROM pg_class c, unnest('{main,fsm,vm,init}'::text[]) f WHERE c.reltablespace = s.oid) AS bytes_are_right
	FROM _tiered_storage.tiers JOIN pg_tablespace s ON s.spcname = ANY (tablespaces) ORDER BY rank;
SELECT relation, tier_name, rewritten_at FROM _tiered_storage.heat WHERE relation = 'regress_o'::regclass;
VACUUM FULL regress_o;
CALL tiered_storage.sample();
SELECT relation, tier_name, rewritten_at FROM _tiered_storage.heat WHERE relation = 'regress_o'::regclass;
TRUNCATE regress_o;
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT relation, size_bytes, cached_fraction FROM _tiered_storage.heat WHERE relation = 'regress_o'::regclass;
\echo '-- The maps take room, too, also those of what was only vacuumed since.'
CREATE UNLOGGED TABLE regress_forks AS SELECT g FROM generate_series(1, 5000) g;
CREATE INDEX regress_forks_g ON regress_forks (g);
CALL tiered_storage.sample();
VACUUM regress_forks;
:flush \g /dev/null
CALL tiered_storage.sample();
CREATE VIEW regress_sizes AS
	SELECT h.relation, size_bytes = (SELECT sum(pg_relation_size(h.relation, f))
		FROM unnest('{main,fsm,vm,init}'::text[]) f) AS all_forks,
		size_bytes > pg_relation_size(h.relation) AS more_than_main, size_bytes = r.r AS as_advised
	FROM _tiered_storage.heat h, LATERAL (SELECT size_bytes AS r FROM tiered_storage.recommend_placement(true) a
		WHERE a.relation = h.relation) r
	WHERE h.relation::text ~ '^regress_forks' ORDER BY h.relation::text COLLATE "C";
SELECT * FROM regress_sizes;
DROP VIEW regress_sizes;
DROP TABLE regress_forks;
\echo '-- An index that is rebuilt concurrently goes on with the counters of the one before, and with what is known of that; a'
\echo '-- new one begins.'
CREATE TABLE regress_rebuilt (a int, b int, c int) WITH (autovacuum_enabled = off);
INSERT INTO regress_rebuilt SELECT i, i, i FROM generate_series(1, 5000) i;
CREATE INDEX regress_rebuilt_a ON regress_rebuilt (a);
CREATE INDEX regress_rebuilt_b ON regress_rebuilt (b);
CREATE INDEX regress_rebuilt_gone ON regress_rebuilt (c);
VACUUM ANALYZE regress_rebuilt;
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT set_config('tiered_storage.test_now', (last_sample_at + interval '10 minutes')::text, false)
	FROM _tiered_storage.sampler \g /dev/null
SET enable_seqscan = off;
SELECT sum((SELECT count(*) FROM regress_rebuilt WHERE a = i)) FILTER (WHERE i <= 20) AS a, sum((SELECT count(*)
	FROM regress_rebuilt WHERE b = i)) AS b,
	sum((SELECT count(*) FROM regress_rebuilt WHERE c = i)) FILTER (WHERE i <= 5) AS c FROM generate_series(1, 25) i;
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT set_config('tiered_storage.test_now', (last_sample_at + interval '10 minutes')::text, false)
	FROM _tiered_storage.sampler \g /dev/null
CREATE VIEW regress_known AS SELECT s.relation_oid::regclass::text AS relation, s.relation_oid AS id, s.sampled_since,
	s.scans, s.last_read_at,
		(SELECT array_agg(h.scans ORDER BY h.period_start) FROM _tiered_storage.history_rows h
			WHERE h.relation_oid = s.relation_oid) AS history
	FROM _tiered_storage.relation_state s JOIN pg_class c ON c.oid = s.relation_oid
		WHERE c.relname ~ '^regress_rebuilt_';
CREATE TABLE regress_before AS SELECT * FROM regress_known;
SELECT relation, scans, last_read_at IS NOT NULL AS was_read, history FROM regress_before ORDER BY 1;
REINDEX TABLE CONCURRENTLY regress_rebuilt;
DROP INDEX regress_rebuilt_gone;
CREATE INDEX regress_rebuilt_new ON regress_rebuilt (c);
\echo '-- Of what is new as much is left out as may be a copy of counters of what has gone: too little, never too much.'
SELECT sum((SELECT count(*) FROM regress_rebuilt WHERE a = i)) AS a, sum((SELECT count(*) FROM regress_rebuilt
	WHERE c = i)) FILTER (WHERE i <= 12) AS c FROM generate_series(1, 30) i;
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT k.relation, k.id <> b.id AS rebuilt, k.sampled_since = b.sampled_since AS known, k.scans,
	k.last_read_at >= b.last_read_at AS last_read, k.history
	FROM regress_known k LEFT JOIN regress_before b USING (relation) ORDER BY 1;
SELECT count(*) AS of_nobody FROM _tiered_storage.history_rows h JOIN regress_before b ON b.id = h.relation_oid
	WHERE b.relation <> 'regress_rebuilt_gone';
RESET enable_seqscan;
SET tiered_storage.test_now = '2030-01-01 08:00:00+00';
DROP VIEW regress_known;
DROP TABLE regress_rebuilt, regress_before;
\echo '-- Dropped: forgotten with the next sample; its history stays for its time.'
SELECT 'regress_o'::regclass::oid AS dropped \gset
SELECT count(*) > 0 AS history FROM _tiered_storage.history_rows WHERE relation_oid = :dropped;
DROP TABLE regress_o;
SELECT count(*) AS heat FROM _tiered_storage.heat WHERE relation::oid = :dropped;
SELECT count(*) AS state FROM _tiered_storage.relation_state WHERE relation_oid = :dropped;
CALL tiered_storage.sample();
SELECT count(*) AS state FROM _tiered_storage.relation_state WHERE relation_oid = :dropped;
SELECT count(*) > 0 AS history FROM _tiered_storage.history_rows WHERE relation_oid = :dropped;
SELECT count(*) AS of_nothing FROM _tiered_storage.relation_state s LEFT JOIN pg_class c ON c.oid = s.relation_oid
	WHERE c.oid IS NULL;

\echo '-- Roll-up and retention'

\echo '-- Samples of an hour that ended two hours ago become one row; later ones stay.'
TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour;
INSERT INTO _tiered_storage.relation_history
	SELECT t, 'regress_o_first'::regclass, 600, 1, 2, 3, 4, 5
	FROM generate_series('2030-01-01 08:00+00'::timestamptz, '2030-01-01 11:50+00', interval '10 minutes') t;
SET tiered_storage.test_now = '2030-01-01 12:05:00+00';
CALL tiered_storage.sample();
SELECT period_start, period_s, scans, random_reads, sequential_reads, hits, row_changes
	FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_o_first'::regclass ORDER BY 1 LIMIT 4;
SELECT count(*), sum(row_changes) FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_o_first'::regclass;
\echo '-- Once: the next sample finds it done.'
CALL tiered_storage.sample();
SELECT count(*), sum(row_changes) FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_o_first'::regclass;
SELECT rolled_up_until FROM _tiered_storage.sampler;
\echo '-- What is older than tiered_storage.history_retention goes, and so did the moves, which are of today.'
SELECT count(*) AS moves FROM _tiered_storage.moves;
\echo '-- A part of eight at a time, so that some is kept longer.'
CREATE PROCEDURE regress_kept(n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM set_config('tiered_storage.test_now', (last_sample_at + 1.001
			* current_setting('tiered_storage.history_retention')::interval / 7)::text, false)
			FROM _tiered_storage.sampler;
		INSERT INTO _tiered_storage.relation_history SELECT last_sample_at, 2, 60, 1, 1, 0, 0, 0, 0
			FROM _tiered_storage.sampler;
		CALL tiered_storage.sample();
	END LOOP;
END
$$;
CALL regress_kept(7);
SELECT min(period_start) FROM _tiered_storage.history_rows WHERE relation_oid = 'regress_o_first'::regclass;
CALL regress_kept(1);
SELECT min(period_start) FROM _tiered_storage.history_rows WHERE relation_oid = 'regress_o_first'::regclass;
SELECT history_since = (SELECT min(hour) FROM tiered_storage.history) AS since_then FROM _tiered_storage.sampler;

\echo '-- sample() and transactions'

SELECT samples AS before FROM _tiered_storage.sampler \gset
BEGIN;
CALL tiered_storage.sample();
CALL tiered_storage.sample();
SELECT samples - :before AS inside FROM _tiered_storage.sampler;
ROLLBACK;
SELECT samples - :before AS after FROM _tiered_storage.sampler;
DO $$ BEGIN CALL tiered_storage.sample(); EXCEPTION WHEN division_by_zero THEN END $$;
SELECT samples - :before AS after FROM _tiered_storage.sampler;
\set VERBOSITY sqlstate
BEGIN READ ONLY;
CALL tiered_storage.sample();
ROLLBACK;
\set VERBOSITY default

\echo '-- Functions that look'

\echo '-- A table that was just read is in shared buffers, clean after a checkpoint.'
CREATE TABLE regress_o_cached AS SELECT i FROM generate_series(1, 1000) i;
VACUUM regress_o_cached;
CHECKPOINT;
SELECT count(*) FROM regress_o_cached;
CHECKPOINT;
CALL tiered_storage.sample();
SELECT cached_fraction, dirty_buffers FROM _tiered_storage.heat WHERE relation = 'regress_o_cached'::regclass;

\echo '-- Half-lives: now, after one, after two; what was observed for one half-life only weighs half.'
SELECT round(_tiered_storage.smoothed_rate(r, idle, observed, 86400)::numeric, 6) AS rate
	FROM (VALUES (100, 0, 1e9), (100, 86400, 1e9), (100, 172800, 1e9), (100, 0, 86400), (100, 86400, 86400), (0, 0,
		86400)) v (r, idle, observed);
SELECT _tiered_storage.smoothed_rate(-5, 0, 1, 1) AS negative, _tiered_storage.smoothed_rate('NaN', 0, 1, 1) AS nan,
	_tiered_storage.smoothed_rate('Infinity', 0, 1, 1) AS infinite, _tiered_storage.smoothed_rate(5, 1, 1e9, 0)
		AS no_memory,
	_tiered_storage.smoothed_rate(5, -1, 1e9, 1) AS future, _tiered_storage.smoothed_rate(NULL, 0, 1, 1) AS unknown;

\echo '-- Tablespaces and their devices: what is the same everywhere.'
SELECT tablespace_name, tablespace_oid = (SELECT oid FROM pg_tablespace
	WHERE spcname = tablespace_name) AS oid_is_right,
	path IS NOT NULL AS path, path_exists, writable, free_bytes <= total_bytes AS space,
		file_system_id = (SELECT file_system_id FROM _tiered_storage.tablespace_devices()
			WHERE tablespace_name = 'pg_default') AS one_file_system
	FROM _tiered_storage.tablespace_devices() WHERE tablespace_name LIKE 'regress\_ts%'
		OR tablespace_name = 'pg_default' ORDER BY 1;

\echo '-- Each database has a row; what it says depends on the server.'
SELECT w.database_name = current_database() AS this, state IN ('starting', 'running', 'waiting', 'not running',
	'failed', 'idle') AS state, reason <> '' AS reason
	FROM _tiered_storage.worker_status() w WHERE w.database_name = current_database();
SELECT count(*) AS without_row FROM pg_database d WHERE NOT EXISTS (SELECT FROM _tiered_storage.worker_status() w
	WHERE w.database_name = d.datname);

SET client_min_messages = warning;
DROP VIEW regress_o_view;
DROP MATERIALIZED VIEW regress_o_mv;
DROP TABLE regress_o_first, regress_o_temp, regress_o_unlogged, regress_o_p, regress_o_cached;
DROP SEQUENCE regress_o_sequence;
DROP PROCEDURE regress_kept;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
