-- What the advice comes to, tier by tier, and what it would come to if things were different.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
DO $$
BEGIN
	-- A block of 8192 bytes costs 8.192 a month on one and 0.8192 on the other.
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000000,
	device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 100000,
	device => '{"compressed": false}');
END
$$;
SET tiered_storage.track_access = off;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';

-- Four tables of one block, with a primary key of two: 40000, 20000, 10000 and 5000 random
-- reads an hour; and one in a schema of its own, with as many as the last.
CREATE SCHEMA "regress L";
CREATE TABLE regress_l1 (a int PRIMARY KEY USING INDEX TABLESPACE regress_ts_slow) WITH (autovacuum_enabled = off)
	TABLESPACE regress_ts_slow;
CREATE TABLE regress_l2 (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_l3 (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_l4 (a int) PARTITION BY RANGE (a);
CREATE TABLE regress_l4_1 PARTITION OF regress_l4 FOR VALUES
	FROM (0) TO (10) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE "regress L".regress_l5 (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
INSERT INTO regress_l1 VALUES (1);
INSERT INTO regress_l2 VALUES (1);
INSERT INTO regress_l3 VALUES (1);
INSERT INTO regress_l4 VALUES (1);
INSERT INTO "regress L".regress_l5 VALUES (1);
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, the load of hours;
-- what devices were measured to do.
TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour;
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00',
	observed_since = '2020-01-01', sampled_since = '2029-12-01',
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
		sequential_high_slow = 0,
	hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0;
UPDATE _tiered_storage.relation_state s SET random_slow = v.reads FROM (VALUES
	('regress_l1', 40000), ('regress_l2', 20000), ('regress_l3', 10000), ('regress_l4_1', 5000),
		('"regress L".regress_l5', 5000)) v (name, reads)
	WHERE s.relation_oid = v.name::regclass;
UPDATE _tiered_storage.relation_state SET random_fast = random_slow,
	device_random_fast = random_slow, device_random_slow = random_slow, device_sequential_fast = 0,
		device_sequential_slow = 0;
-- Four clients were active in the hour before: two of them waited for relations, one for WAL, one
-- for locks, and they worked for six minutes.
UPDATE _tiered_storage.load_state SET observed_since = sampled_at - interval '1 hour';
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks, wait_sampled_ms, wait_cpu_ms,
	wait_relations_ms, wait_wal_ms,
	wait_temp_ms, wait_slru_ms, wait_other_io_ms, wait_lock_ms, wait_lwlock_ms, wait_other_ms)
	SELECT sampled_at - interval '1 hour', 3600, 36000, 0, 3600000, 360000, 7200000, 3600000, 0, 0, 0, 3240000, 0, 0
		FROM _tiered_storage.load_state;

\echo '-- placement_summary()'

\echo '-- 80000 reads of 12.4 ms are 992 s on the disk, and 7.2 s on the fast device.'
CREATE FUNCTION regress_summary(capacity bigint DEFAULT NULL) RETURNS TABLE (tier name, n int, n_after int,
	bytes bigint, bytes_after bigint, io numeric, io_after numeric,
	busy numeric, busy_after numeric, price numeric, price_after numeric, limited_by text) LANGUAGE sql
		AS $$
	SELECT tier_name, relations, advised_relations, used_bytes, advised_bytes, round(io_s_per_hour::numeric, 2),
		round(advised_io_s_per_hour::numeric, 2),
		round(busy_fraction::numeric, 3), round(advised_busy_fraction::numeric, 3),
		round(price_per_month::numeric, 2), round(advised_price_per_month::numeric, 2), limited_by
	FROM _tiered_storage.placement_summary(overrides => CASE
		WHEN $1 IS NOT NULL THEN format('{"regress_fast": {"capacity_bytes": %s}}', $1)::jsonb END)
$$;
SELECT * FROM regress_summary();
\echo '-- Room for two blocks: the hottest two, 744 s of the 992.'
SELECT * FROM regress_summary(16384);
\echo '-- It is the sum of what recommend_placement() says.'
SELECT s.io_s_per_hour - s.advised_io_s_per_hour - r.saved < 1e-6 AS same_io,
	s.advised_price_per_month - s.price_per_month - r.price < 1e-6 AS same_price
	FROM _tiered_storage.placement_summary() s,
		(SELECT sum(saved_io_s_per_hour) AS saved, sum(price_delta_per_month) AS price
			FROM tiered_storage.recommend_placement()) r
	WHERE s.tier_name IS NULL;
SELECT count(*) FILTER (WHERE e.is_recommended AND e.tier_name = r.recommended_tier) AS same,
	count(DISTINCT r.relation) AS units
	FROM tiered_storage.recommend_placement(true) r, LATERAL _tiered_storage.explain_placement(r.relation) e;

\echo '-- Options'

CREATE FUNCTION regress_advised(options text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SELECT concat_ws('': '', count(*), string_agg(relation::text, '', '' ORDER BY relation::text COLLATE "C"))
		FROM tiered_storage.recommend_placement(%s)', options) INTO answer;
	RETURN answer;
END
$f$;
\echo '-- Not: a tier or schema where nothing is to do; a tier without a known price changes nothing; for money, what is'
\echo '-- on the disk stays there; a move of 8 kB takes 57 us and pays at once, whatever the horizon.'
SELECT options, regress_advised(options) AS advised FROM (VALUES (''), ($$tiers => '{regress_slow}'$$),
	($$schemas => '{regress L}'$$), ($$relations => '{regress_l4,regress_l2}'$$), ($$true, relations => '{regress_l1}'$$),
	($$relations => '{regress_l1_pkey}'$$), ($$overrides => '{"regress_fast": {"capacity_bytes": 8192}}'$$),
	($$overrides => '{"regress_fast": {"random_read_ms": 12.5}}'$$), ($$overrides => '{}'$$),
	('tiers => NULL, horizon => NULL, objective => NULL, schemas => NULL'),
	($$overrides => '{"regress_fast": {"price_per_gb_month": 0}, "regress_slow": {"price_per_gb_month": 0}}'$$),
	($$objective => 'money'$$), ($$horizon => '1 hour'$$)) v (options);
\echo '-- At 10 bytes a second it takes 819 s; twice that is 68 s an hour within a day: too much for 5000 reads, and 1638 s'
\echo '-- within an hour.'
SELECT v.horizon, (SELECT count(*) FROM tiered_storage.recommend_placement(horizon => v.horizon,
	overrides => '{"regress_fast": {"sequential_write_mb_per_s": 0.00001}}'))
	FROM (VALUES ('30 days'::interval), ('1 day'), ('1 hour')) v (horizon);

\echo '-- No more clients wait in a queue than there are'

-- A disk that needs a minute and a half for each read: it serves one of the four and the one that writes for the
-- server, all others wait.
CREATE FUNCTION regress_waiting() RETURNS numeric LANGUAGE sql AS $$
	SELECT round(queue_s_per_hour::numeric / 3600, 2)
		FROM _tiered_storage.placement_summary(overrides => '{"regress_slow": {"random_read_ms": 100000}}')
			WHERE tier_name = 'regress_slow'
$$;
SELECT regress_waiting();
-- As many as in the busiest hour; not of another month, nor one in which hardly anybody looked.
BEGIN;
INSERT INTO _tiered_storage.load_history (period_start, period_s, wait_sampled_ms, wait_cpu_ms, wait_relations_ms,
	wait_wal_ms, wait_temp_ms, wait_slru_ms, wait_other_io_ms,
	wait_lock_ms, wait_lwlock_ms, wait_other_ms)
	SELECT sampled_at - v.ago, 3600, v.sampled, 0, v.waited, 0, 0, 0, 0, 0, 0, 0 FROM _tiered_storage.load_state,
		(VALUES (interval '30 days', 3600000, 360000000), (interval '20 hours', 30000, 3000000), (interval '10 hours',
			600000, 4500000)) v (ago, sampled, waited);
SELECT regress_waiting();
ROLLBACK;
-- Where nobody has looked, as many as may connect.
BEGIN;
UPDATE _tiered_storage.load_history SET wait_sampled_ms = NULL;
SELECT abs(regress_waiting() - current_setting('max_connections')::int) < 0.1 AS as_many_as_may_connect;
ROLLBACK;

\echo '-- What clients gain'

-- Half of their time is waiting for relations, which nearly all goes: at most twice as much gets done.
CREATE FUNCTION regress_gain(changes jsonb DEFAULT '{}', factor float8 DEFAULT 1) RETURNS TABLE (tier name,
	wait_fraction numeric, saved_low numeric, saved_high numeric,
	speedup_low numeric, speedup_high numeric) LANGUAGE sql AS $$
	SELECT tier_name, round(device_wait_fraction::numeric, 3), round(simulated_saved_wait_s_per_hour_low::numeric),
		round(simulated_saved_wait_s_per_hour_high::numeric),
		round(simulated_speedup_low::numeric, 3), round(simulated_speedup_high::numeric, 3)
			FROM _tiered_storage.simulate_placement($1, $2)
$$;
SELECT * FROM regress_gain();
SELECT (device_wait_fraction, advised_saved_wait_s_per_hour_low, advised_saved_wait_s_per_hour_high,
	advised_speedup_low, advised_speedup_high)
	= (SELECT device_wait_fraction, simulated_saved_wait_s_per_hour_low, simulated_saved_wait_s_per_hour_high,
		simulated_speedup_low, simulated_speedup_high
		FROM _tiered_storage.simulate_placement() WHERE tier_name IS NULL) AS same
			FROM _tiered_storage.placement_summary() WHERE tier_name IS NULL;
\echo '-- Room for one block of six: half of the reads stay on the disk.'
SELECT * FROM regress_gain('{"regress_fast": {"capacity_bytes": 8192}}') WHERE tier IS NULL;
\echo '-- A fast tier that takes as long as the disk saves nothing; figures of the disk do not matter, their share does.'
SELECT * FROM regress_gain('{"regress_fast": {"random_read_ms": 12.4}}') WHERE tier IS NULL;
\echo '-- Twice as much work by twice as many clients: twice the seconds.'
SELECT * FROM regress_gain('{}', 2) WHERE tier IS NULL;
SELECT * FROM regress_gain('{}', 0) WHERE tier IS NULL;
\echo '-- If the disk were three times as slow as it is, what stays there is slower than now.'
SELECT * FROM regress_gain('{"regress_slow": {"random_read_ms": 37.2}, "regress_fast": {"capacity_bytes": 0}}')
	WHERE tier IS NULL;
\echo '-- Reads that there may be, or not: the range is wider.'
BEGIN;
UPDATE _tiered_storage.relation_state SET device_random_fast = 0 WHERE relation_oid = 'regress_l1'::regclass;
SELECT * FROM regress_gain('{"regress_fast": {"capacity_bytes": 8192}}') WHERE tier IS NULL;
ROLLBACK;
\echo '-- Nobody has looked: nothing is promised.'
BEGIN;
UPDATE _tiered_storage.load_history SET wait_sampled_ms = NULL;
SELECT * FROM regress_gain() WHERE tier IS NULL;
ROLLBACK;

\echo '-- simulate_placement()'

CREATE FUNCTION regress_simulate(jsonb, float8 DEFAULT 1) RETURNS TABLE (tier name, bytes bigint, advised bigint,
	simulated bigint, io numeric, io_advised numeric, io_simulated numeric,
	price_advised numeric, price_simulated numeric, limited_by text) LANGUAGE sql AS $$
	SELECT tier_name, used_bytes, advised_bytes, simulated_bytes, round(io_s_per_hour::numeric, 2),
		round(advised_io_s_per_hour::numeric, 2),
		round(simulated_io_s_per_hour::numeric, 2), round(advised_price_per_month::numeric, 2),
			round(simulated_price_per_month::numeric, 2), limited_by
	FROM _tiered_storage.simulate_placement($1, $2)
$$;
SELECT * FROM regress_simulate('{}');
SELECT * FROM regress_simulate('{"regress_fast": {"capacity_bytes": 8192, "price_per_gb_month": 500000}}');
SELECT * FROM regress_simulate('{}', 2);
SELECT * FROM regress_simulate('{}', 0);
\echo '-- The tier compresses: half the bytes.'
SELECT tier, simulated FROM regress_simulate('{"regress_slow": {"compression_ratio": 2}, "regress_fast": {"capacity_bytes": 0}}');

\echo '-- tier_size_curve()'

SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 16384}') \g /dev/null
SELECT capacity_bytes, used_bytes, round(io_s_per_hour::numeric, 1) AS io, round(saved_s_per_hour::numeric, 1)
	AS saved,
	round(price_per_month::numeric, 2) AS price,
	is_current
	FROM _tiered_storage.tier_size_curve('regress_fast', points => 7);
\echo '-- The same as the summary says for what it has now.'
SELECT abs(c.io_s_per_hour - s.advised_io_s_per_hour) < 1e-6 AS same_io
	FROM _tiered_storage.tier_size_curve('regress_fast', points => 3) c, _tiered_storage.placement_summary() s
		WHERE c.is_current AND s.tier_name IS NULL;
\echo '-- What is saved is saved compared with how it is now.'
SELECT bool_and(abs(c.saved_s_per_hour + c.io_s_per_hour + c.queue_s_per_hour - s.io_s_per_hour - s.queue_s_per_hour) < 1e-6) AS adds_up
	FROM _tiered_storage.tier_size_curve('regress_fast') c, _tiered_storage.placement_summary() s
		WHERE s.tier_name IS NULL;
\echo '-- Each step has another answer than the one before, and begins where that fits; there are no more than asked for.'
SELECT points, count(*) <= points AS bounded, NULLIF(count(*), points) AS all_of_them,
	count(*) FILTER (WHERE is_current) AS current, bool_and(used_bytes > before OR is_current OR is_first) AS steps,
		bool_and(capacity_bytes = used_bytes OR is_current) AS tight
	FROM (VALUES (3), (4), (5), (100)) p (points), LATERAL (SELECT *, row_number() OVER w = 1 AS is_first,
		max(used_bytes) FILTER (WHERE NOT is_current) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
			AS before
		FROM _tiered_storage.tier_size_curve('regress_fast', points) WINDOW w AS (ORDER BY capacity_bytes,
			is_current)) c GROUP BY points ORDER BY points;
\echo '-- At the capacity of a step the advice is the step''s.'
SELECT count(*) > 3 AS steps, count(*) FILTER (WHERE s.advised_bytes IS DISTINCT FROM c.used_bytes) AS others
	FROM _tiered_storage.tier_size_curve('regress_fast') c, LATERAL _tiered_storage.placement_summary(
		overrides => pg_catalog.jsonb_build_object('regress_fast', pg_catalog.jsonb_build_object('capacity_bytes',
			GREATEST(c.capacity_bytes, 1)))) s
	WHERE s.tier_name = 'regress_fast';
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null

\echo '-- What does not add up, and what cannot be'

SELECT array_agg(tier_name) = array_agg(tier_name ORDER BY rank, tier_name) AS by_rank FROM _tiered_storage.tiers;
CREATE VIEW regress_sums AS
	WITH s AS MATERIALIZED (SELECT * FROM _tiered_storage.placement_summary()),
	v AS (SELECT s.tier_name IS NULL AS is_total, j.key, sum(j.value::float8) AS value
		FROM s, jsonb_each_text(to_jsonb(s)) j
		WHERE j.key ~ '^(advised_)?(relations|used_bytes|bytes|io_s_per_hour|queue_s_per_hour|wait_s_per_hour|price_per_month|written_bytes_per_day)$' GROUP BY 1, 2),
	r AS (SELECT sum(saved_io_s_per_hour) AS io, sum(saved_wait_s_per_hour) AS wait, sum(price_delta_per_month)
		AS price, count(*) AS n FROM tiered_storage.recommend_placement())
	SELECT r.n AS moves,
		(SELECT count(*) FROM v a JOIN v b USING (key) WHERE a.is_total AND NOT b.is_total
			AND abs(a.value - b.value) <= 1e-9 * (1 + abs(a.value))) AS columns_that_add_up,
		(SELECT count(*) FROM s WHERE tier_name IS NOT NULL AND advised_bytes > available_bytes
			AND NOT COALESCE(missing_bytes >= advised_bytes - available_bytes, false)) AS wrong_missing,
		(SELECT count(*) FROM s WHERE advised_bytes > available_bytes) AS too_full,
		(SELECT count(*) FROM s JOIN _tiered_storage.tiers t USING (tier_name) WHERE s.used_bytes <> t.relation_bytes
			OR s.available_bytes > t.capacity_bytes * (1 - t.reserve_fraction)) AS unlike_tiers,
		abs(s.io_s_per_hour - s.advised_io_s_per_hour - r.io) < 1e-6
			AND abs(s.advised_price_per_month - s.price_per_month - r.price) < 1e-6
			AND abs(s.wait_s_per_hour - s.advised_wait_s_per_hour - r.wait) < 1e-6 AS as_advised
	FROM s, r WHERE s.tier_name IS NULL;
SELECT * FROM regress_sums;
\echo '-- Also when moves are left out, and where there is no room for what is pinned.'
BEGIN;
UPDATE _tiered_storage.relation_state SET device_random_fast = 50, device_random_slow = 50
	WHERE relation_oid = 'regress_l3'::regclass;
SELECT * FROM regress_sums;
ROLLBACK;
SELECT tiered_storage.alter_tier('regress_fast',
	device => '{"capacity_bytes": 8192}'), tiered_storage.pin('regress_l1',
	'regress_fast'), tiered_storage.pin('regress_l2', 'regress_fast') \g /dev/null
SELECT * FROM regress_sums;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 8192}') \g /dev/null
SELECT * FROM regress_sums;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": null}') \g /dev/null
SELECT tiered_storage.unpin('regress_l1'), tiered_storage.unpin('regress_l2'),
	tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
-- No device is busy for more than all of its time, so then its figures are wrong; and one that is written to too much
-- is said to be.
SELECT tiered_storage.alter_tier('regress_slow', device => '{"random_read_ms": 100}') \g /dev/null
SELECT tier_name, round(busy_fraction::numeric, 2) AS busy, regexp_replace(reason, '^.*; regress_slow',
	'... regress_slow') AS reason FROM _tiered_storage.placement_summary();
SET client_min_messages = notice;
SELECT count(*) AS moves FROM tiered_storage.recommend_placement();
SET client_min_messages = warning;
SELECT tier_name, reason FROM _tiered_storage.explain_placement('"regress L".regress_l5') WHERE reason ~ 'used to';
SELECT tiered_storage.alter_tier('regress_slow',
	device => '{"random_read_ms": 12.4, "endurance_tbw": 0.001}') \g /dev/null
UPDATE _tiered_storage.relation_state SET changes_fast = 1000, changes_slow = 1000, page_writes_fast = 1000,
	page_writes_slow = 1000 WHERE relation_oid = 'regress_l2'::regclass;
-- Without what others write to the device of this machine, if it is known; all tiers are on it, and share its life
-- then.
DELETE FROM _tiered_storage.device_wear;
SELECT tier_name, limited_by, written_bytes_per_day > endurance_bytes_per_day AS too_much, regexp_replace(reason,
	'^.*; regress_slow', '... regress_slow') AS reason
	FROM _tiered_storage.placement_summary(tiers => '{regress_slow}') WHERE tier_name IS DISTINCT FROM 'regress_fast';
SET client_min_messages = notice;
SELECT count(*) AS moves FROM tiered_storage.recommend_placement(tiers => '{regress_slow}');
SET client_min_messages = warning;
UPDATE _tiered_storage.relation_state SET changes_fast = 0, changes_slow = 0, page_writes_fast = 0,
	page_writes_slow = 0;
DROP VIEW regress_sums;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"endurance_tbw": null}') \g /dev/null

\echo '-- recommendations'

SET client_min_messages = notice;
SELECT * FROM tiered_storage.recommendations;
SET client_min_messages = warning;
SELECT count(*) = (SELECT count(*) FROM tiered_storage.recommend_placement()) AS all_of_them
	FROM tiered_storage.recommendations;
\echo '-- With ordinary names it is as wide as a terminal, whatever there is to say.'
CREATE FUNCTION regress_width() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(w.width) + 3 * (count(*) - 1) + 2 FROM (
		SELECT greatest(length(c.key), max(length(l.line))) AS width
		FROM tiered_storage.recommendations r, jsonb_each_text(to_jsonb(r)) c,
			string_to_table(c.value, E'\n') l (line) GROUP BY c.key) w
$$;
BEGIN;
SELECT tiered_storage.alter_tier('regress_fast', new_name => 'ssd'), tiered_storage.alter_tier('regress_slow',
	new_name => 'hdd') \g /dev/null
ALTER TABLE regress_l1 RENAME TO measurement_2026_05a;
UPDATE _tiered_storage.relation_state SET random_fast = 1e6, random_slow = 1e6, device_random_fast = 40000,
	device_random_slow = 40000, hits_slow = 123e6
	WHERE relation_oid = 'measurement_2026_05a'::regclass;
UPDATE _tiered_storage.relation_state SET random_fast = 0, random_slow = 0, device_random_fast = 0,
	device_random_slow = 0, scans_slow = 1000,
	sequential_fast = 1e7, sequential_slow = 1e7, sequential_low_slow = 1e7, sequential_high_slow = 1e7,
		device_sequential_fast = 1e7, device_sequential_slow = 1e7
	WHERE relation_oid = 'regress_l2'::regclass;
UPDATE _tiered_storage.relation_state SET random_fast = 0, random_slow = 0, device_random_fast = 0,
	device_random_slow = 0, page_writes_fast = 12345, page_writes_slow = 12345
	WHERE relation_oid = 'regress_l3'::regclass;
SELECT * FROM tiered_storage.recommendations;
SELECT regress_width() BETWEEN 60 AND 120 AS fits;
SET tiered_storage.observation_period = '3650d';
SET client_min_messages = notice;
SELECT DISTINCT confidence FROM tiered_storage.recommendations;
SET client_min_messages = warning;
\echo '-- Sizes in bytes, which matter to nobody, are three characters wider than others.'
ALTER TABLE "regress L".regress_l5 SET SCHEMA public;
SELECT regress_width() BETWEEN 60 AND 123 AS fits FROM tiered_storage.recommendations LIMIT 1;
ROLLBACK;
RESET tiered_storage.observation_period;
DROP FUNCTION regress_width();
\echo '-- Whatever the reason is, its first clause tells what decides.'
SELECT r.reason, r.reason !~ '[^\n]{42}' AS fits FROM (VALUES
	('12,300,000 random reads/h, under 1 % of the blocks requested: 1,230 s/h here, 12 s/h on ssd; if that goes on, 1 to 2 reads/h'),
	('scans read 12 GB/h: 120 s/h here, 3 s/h on ssd, mostly of standby a'),
		('12,300 pages/h written: 12 s/h here, 0.1 s/h on ssd; if 1 to 2 writes/h stay apart'),
	('not read since 12 September 2024: 12.34 cheaper a month, 0.01 s/h more'),
		('not read since 12 September 2024: under 0.01 cheaper a month, 0 s/h more'),
	('reads are served from the page cache: makes room for hotter relations on ssd, 0 s/h more'),
	('scans read 1.2 MB/h: makes room on ssd, which is too full, 0.2 s/h more; observed for 5 hours of 7 days'),
		('makes room on ssd, which is too full'),
	('pinned to ssd; unlogged, so the move locks it for 12 s'),
		('makes room for hotter relations on a_tier_with_a_very_long_name, 3 s/h more'),
	('its shards are read by all of the nodes that there are'),
		('its shards are read by all of the node that there are'), (repeat('x', 50)), ('')) v (long),
	_tiered_storage.short_reason(v.long, 41) r (reason);
SELECT n, _tiered_storage.short_number(n) FROM (VALUES (0), (-0.001), (0.05), (0.099), (-1.25), (9.96), (1234.5),
	('1e308'::float8)) v (n);

\echo '-- Pins, nothing to store, and numbers without measure'

\echo '-- Two pins for one block, and an index of two blocks along with the first.'
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 8192}') \g /dev/null
SELECT tiered_storage.pin('regress_l1', 'regress_fast'), tiered_storage.pin('regress_l2', 'regress_fast') \g /dev/null
SELECT relation, current_tier, recommended_tier, confidence, regexp_replace(reason, '^.*it (stays|is pinned)',
	'... it \1') AS reason
	FROM tiered_storage.recommend_placement(true, relations => '{regress_l1,regress_l2}')
		ORDER BY relation::text COLLATE "C";
SELECT tier_name, advised_bytes, limited_by, missing_bytes > 0 AS missing FROM _tiered_storage.placement_summary();
SELECT tier_name, fits, reason FROM _tiered_storage.explain_placement('regress_l2');
CALL tiered_storage.apply_placement(dry_run => true);
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
\echo '-- Everybody is pinned where he is.'
SELECT tiered_storage.unpin('regress_l1'), tiered_storage.unpin('regress_l2') \g /dev/null
SELECT sum(tiered_storage.pin(relation)) AS pinned FROM tiered_storage.recommend_placement(true) WHERE kind = 'table';
SELECT regress_advised('') AS for_time, regress_advised($$objective => 'money'$$) AS for_money;
SELECT tiered_storage.unpin(relation) FROM tiered_storage.recommend_placement(true) WHERE kind = 'table' \g /dev/null
CREATE TABLE regress_l0 (a int) TABLESPACE regress_ts_slow;
SELECT relation, size_bytes, current_tier, recommended_tier, move_cost_s
	FROM tiered_storage.recommend_placement(true, relations => '{regress_l0}');
DROP TABLE regress_l0;
SELECT objective, what, (SELECT count(*) FROM tiered_storage.recommend_placement(objective => objective,
		overrides => pg_catalog.jsonb_build_object('regress_fast', pg_catalog.jsonb_build_object(what, 1e308))))
			AS moves
	FROM (VALUES ('time'), ('money')) o (objective),
		(VALUES ('price_per_gb_month'), ('random_read_ms'), ('random_write_ms'), ('parallelism'),
			('compression_ratio')) w (what);
SELECT tier_name, simulated_bytes
	FROM _tiered_storage.simulate_placement('{"regress_fast": {"sequential_read_mb_per_s": 1e-300, "sequential_write_mb_per_s": 1e-300}}', 1e6);

\echo '-- What cannot be meant'

SELECT * FROM pg_temp.refused($refused$
SELECT count(*) FROM tiered_storage.recommend_placement(tiers => '{}')
SELECT count(*) FROM tiered_storage.recommend_placement(tiers => '{NULL}')
SELECT count(*) FROM tiered_storage.recommend_placement(tiers => '{regress_fast,no_such}')
SELECT count(*) FROM tiered_storage.recommend_placement(horizon => '0')
SELECT count(*) FROM tiered_storage.recommend_placement(horizon => '-1 day')
SELECT count(*) FROM tiered_storage.recommend_placement(horizon => '1000 years')
SELECT count(*) FROM tiered_storage.recommend_placement(objective => 'speed')
SELECT count(*) FROM tiered_storage.recommend_placement(objective => '')
SELECT count(*) FROM tiered_storage.recommend_placement(schemas => '{no_such}')
SELECT count(*) FROM tiered_storage.recommend_placement(relations => '{0}')
SELECT count(*) FROM tiered_storage.recommend_placement(relations => '{pg_catalog.pg_tables}')
SELECT count(*) FROM _tiered_storage.simulate_placement(NULL)
SELECT count(*) FROM _tiered_storage.simulate_placement('{}', NULL)
SELECT count(*) FROM _tiered_storage.simulate_placement('{}', -1)
SELECT count(*) FROM _tiered_storage.simulate_placement('{}', 'NaN')
SELECT count(*) FROM _tiered_storage.simulate_placement('{}', 1e300)
SELECT count(*) FROM _tiered_storage.simulate_placement('{"no_such": {}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('[]')
SELECT count(*) FROM _tiered_storage.simulate_placement('1')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": 1}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": [1]}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity": 1}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity_bytes": "1"}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity_bytes": {}}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity_bytes": -1}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity_bytes": 1e19}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity_bytes": 1e400}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"random_read_ms": 0}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_fast": {"compression_ratio": 0.5}}')
SELECT count(*) FROM _tiered_storage.tier_size_curve(NULL)
SELECT count(*) FROM _tiered_storage.tier_size_curve('no_such')
SELECT count(*) FROM _tiered_storage.tier_size_curve('regress_fast', 1)
SELECT count(*) FROM _tiered_storage.tier_size_curve('regress_fast', 1000000)
SELECT tiered_storage.alter_tier('regress_fast', device => '{"compression_ratio": 2}')
SELECT tiered_storage.alter_tier('regress_fast', device => '{"compressed": true, "compression_ratio": 0.9}')
SELECT tiered_storage.alter_tier('regress_fast', device => '{"compressed": true, "compression_ratio": "NaN"}')
$refused$);
\echo '-- One tier, and none.'
SELECT tiered_storage.remove_tier('regress_fast') \gset
SELECT count(*) FROM tiered_storage.recommend_placement();
SELECT tier_name, relations, advised_relations FROM _tiered_storage.placement_summary();
SELECT tier_name, limited_by FROM _tiered_storage.simulate_placement();
SELECT count(*) > 0 AS flat FROM _tiered_storage.tier_size_curve('regress_slow', 3);
SELECT tiered_storage.remove_tier('regress_slow') \gset
SELECT tier_name, relations, advised_relations FROM _tiered_storage.placement_summary();
SELECT count(*) FROM _tiered_storage.simulate_placement();
SELECT count(*) FROM tiered_storage.recommend_placement(objective => 'money');

SET client_min_messages = warning;
DROP FUNCTION regress_advised, regress_summary, regress_simulate;
DROP TABLE regress_l1, regress_l2, regress_l3, regress_l4;
DROP SCHEMA "regress L" CASCADE;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
