-- What a relation reads from its device is one number, wherever it is shown: in heat, recommendations, explain_placement(),
-- the report and the metrics, of a table together with its TOAST table; misses of shared buffers are another one.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = error;
CREATE TABLESPACE regress_ts_a LOCATION '';
CREATE TABLESPACE regress_ts_b LOCATION '';
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_a}', profile => 'nvme', rank => 0, reserve_fraction => 0,
		device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_slow', '{regress_ts_b}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
		device => '{"compressed": false}') \g /dev/null
CREATE TABLE regress_n (id int, v text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_b;
ALTER TABLE regress_n ALTER v SET STORAGE EXTERNAL;
INSERT INTO regress_n SELECT i, repeat('x', 3000) FROM generate_series(1, 1000) i;
CREATE INDEX regress_n_id ON regress_n (id) TABLESPACE regress_ts_b;
CREATE TABLE regress_m (id int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_b;
INSERT INTO regress_m VALUES (1);
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
-- Observed for three hours, quiet for one; the rates are what is left of a day's and a fortnight's smoothing.
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
UPDATE _tiered_storage.relation_state s SET random_fast = 12 * n, random_slow = 4 * n, sequential_fast = 7 * n,
	sequential_slow = 2 * n, device_random_fast = n, device_sequential_fast = n / 3, device_random_slow = n / 100,
	device_sequential_slow = n / 300, observed_since = now() - interval '3 hours', sampled_since = now() - interval '3 hours',
	proven_since = now() - interval '3 hours', heat_at = now() - interval '1 hour', evidence_interval_s = 0
	FROM (VALUES ('regress_n'::regclass::oid, 123.456), ((SELECT reltoastrelid FROM pg_class WHERE relname = 'regress_n'), 777),
		('regress_n_id'::regclass, 98765.4321), ('regress_m'::regclass, 0.0123)) v (relation_oid, n)
	WHERE s.relation_oid = v.relation_oid;
-- One that is hot by the fortnight, and not today.
UPDATE _tiered_storage.relation_state SET device_random_slow = 54321 WHERE relation_oid = 'regress_m'::regclass;
\set ECHO all
BEGIN ISOLATION LEVEL REPEATABLE READ;
-- Views decay rates until the transaction began, C code until the moment of the call: they are one here, however long it takes.
SELECT set_config('tiered_storage.test_now', now()::text, true) \g /dev/null
CREATE TEMP VIEW regress_numbers AS
	SELECT h.relation, h.random_reads_per_hour AS random, h.sequential_reads_per_hour AS sequential
	FROM tiered_storage.heat h WHERE h.relation ~ '^regress_[mn]';
SELECT count(*), bool_and(random > 0 AND sequential >= 0) AS any,
	bool_and(random = _tiered_storage.significant(random) AND sequential = _tiered_storage.significant(sequential)) AS rounded
	FROM regress_numbers;
SELECT n.relation, n.random = r.random_reads_per_hour::numeric AS random, n.sequential = r.sequential_reads_per_hour::numeric
	AS sequential
	FROM regress_numbers n JOIN tiered_storage.recommend_placement(true) r ON r.relation::text = n.relation ORDER BY 1;
SELECT n.relation, bool_and(n.random = e.random_reads_per_hour::numeric AND
	n.sequential = e.sequential_reads_per_hour::numeric) AS explained
	FROM regress_numbers n CROSS JOIN LATERAL _tiered_storage.explain_placement(n.relation::regclass) e GROUP BY 1 ORDER BY 1;
SELECT n.relation, n.random = _tiered_storage.significant(r.value * 3600) AS random,
	n.sequential = _tiered_storage.significant(s.value * 3600) AS sequential
	FROM regress_numbers n
	JOIN tiered_storage.metrics r ON r.name = 'tiered_storage_relation_device_random_reads_per_second'
		AND r.labels ->> 'relation' = 'public.' || n.relation
	JOIN tiered_storage.metrics s ON s.name = 'tiered_storage_relation_device_sequential_reads_per_second'
		AND s.labels = r.labels ORDER BY 1;
-- Sentences, too.
SELECT n.relation, r.reason LIKE to_char(n.random, 'FM999,999,999') || ' random reads/h%' AS advised,
	s.reason LIKE to_char(n.random, 'FM999,999,999') || ' random%' AS in_short
	FROM regress_numbers n JOIN tiered_storage.recommend_placement() r ON r.relation::text = n.relation
	JOIN tiered_storage.recommendations s ON s.relation = r.relation ORDER BY 1;
SELECT bool_and(position(to_char(n.random, 'FM999,999,999') IN tiered_storage.report()) > 0) AS reported
	FROM regress_numbers n JOIN tiered_storage.recommendations r ON r.relation::text = n.relation;
COMMIT;
-- What shared buffers missed is another one.
SELECT bool_and(random_misses_per_hour > 2 * random_reads_per_hour) AS more_misses FROM _tiered_storage.heat
	WHERE relation::text = 'regress_n_id';
-- If half of what was measured is counted on, the seconds are of that half, and the reason says so.
UPDATE _tiered_storage.relation_state SET evidence_began_at = now() - interval '25 minutes', evidence_interval_s = 300,
	evidence_reads = decode(repeat('0000803f', 3) || repeat('00000000', 13), 'hex') WHERE relation_oid = 'regress_n_id'::regclass;
SELECT substring(reason FROM 'random reads/h, 50 % likely to continue: ') FROM tiered_storage.recommend_placement()
	WHERE relation = 'regress_n_id'::regclass;
-- What is recommended of the first minutes has the same seconds in all answers.
UPDATE _tiered_storage.relation_state SET evidence_began_at = now() - interval '3 minutes', sampled_since = now() - interval '3 minutes',
	evidence_reads = decode('0000803f' || repeat('00000000', 15), 'hex') WHERE relation_oid = 'regress_n_id'::regclass;
UPDATE _tiered_storage.relation_state SET device_random_slow = 0, device_random_fast = 0 WHERE relation_oid = 'regress_m'::regclass;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(x.id) FROM generate_series(1, 40) g, LATERAL (SELECT n.id FROM regress_n n WHERE n.id = g OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT r.confidences, s.io_s_per_hour - s.advised_io_s_per_hour > r.saved * 0.99 AS summarized,
	s.io_s_per_hour - m.simulated_io_s_per_hour > r.saved * 0.99 AS simulated,
	(SELECT max(c.saved_s_per_hour) > r.saved * 0.99 FROM _tiered_storage.tier_size_curve('regress_fast') c) AS in_curve
	FROM (SELECT string_agg(DISTINCT confidence, ', ') AS confidences, sum(saved_io_s_per_hour) AS saved
			FROM tiered_storage.recommend_placement()) r,
		_tiered_storage.placement_summary() s, _tiered_storage.simulate_placement() m
	WHERE s.tier_name IS NULL AND m.tier_name IS NULL;
\set ECHO none
DROP VIEW regress_numbers;
DROP TABLE regress_n, regress_m;
DROP EXTENSION tiered_storage CASCADE;
DROP TABLESPACE regress_ts_a;
DROP TABLESPACE regress_ts_b;
