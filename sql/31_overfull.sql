-- Tiers that are too full, devices that would be too busy, and the way out.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
SET tiered_storage.track_access = off;
SET tiered_storage.cooldown = 0;

-- Nine tables of one block, the n-th read n times as often as the first; all of them observed for a month, or for no
-- time.
SELECT format('CREATE TABLE regress_o%s (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast', n)
	FROM generate_series(1, 9) n \gexec
SELECT format('INSERT INTO regress_o%s VALUES (1)', n) FROM generate_series(1, 9) n \gexec
SELECT pg_stat_force_next_flush() \g /dev/null
CREATE PROCEDURE regress_observe(reads float8, days int DEFAULT 30) LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.sample();
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
	UPDATE _tiered_storage.relation_state SET heat_at = clock_timestamp(),
		evidence_began_at = clock_timestamp() - interval '7 days', evidence_interval_s = 38400,
		evidence_reads = decode(repeat('0000803f', 16), 'hex'), evidence_writes = decode(repeat('0000803f', 16),
			'hex'),
		observed_since = clock_timestamp() - interval '1 year',
			sampled_since = clock_timestamp() - days * interval '1 day',
				proven_since = clock_timestamp() - days * interval '1 day',
		random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
			sequential_high_slow = 0,
		hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0,
			placed_at = NULL;
	UPDATE _tiered_storage.relation_state SET random_slow = reads * substring(relation_oid::regclass::text,
		'regress_o(\d+)$')::float8
		WHERE relation_oid::regclass::text ~ '^regress_o\d+$';
	UPDATE _tiered_storage.relation_state SET random_fast = random_slow, device_random_fast = random_slow,
		device_random_slow = random_slow,
		device_sequential_fast = 0, device_sequential_slow = 0;
END
$$;
CREATE FUNCTION regress_advice(include_unchanged bool DEFAULT false) RETURNS TABLE (relation text, goes_to name,
	confidence text, reason text) LANGUAGE sql AS $$
	SELECT relation::text, NULLIF(recommended_tier, current_tier), confidence, reason
		FROM tiered_storage.recommend_placement($1) ORDER BY relation::text COLLATE "C"
$$;
CREATE FUNCTION regress_tiers() RETURNS TABLE (tier name, used bigint, advised bigint, available bigint, busy numeric,
	limited_by text, missing bigint, reason text) LANGUAGE sql AS $$
	SELECT tier_name, used_bytes / 8192, advised_bytes / 8192, CASE
		WHEN tier_name = 'regress_fast' THEN available_bytes / 8192 END, round(advised_busy_fraction::numeric, 3),
			limited_by,
		missing_bytes / 8192, reason FROM _tiered_storage.placement_summary() WHERE tier_name IS NOT NULL
$$;
\set ECHO all

---------------------------------------------------------------------------
-- Too full
---------------------------------------------------------------------------

SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 4 * 8192)) \g /dev/null
RESET client_min_messages;
-- The disk carries it: what is read least goes.
CALL regress_observe(100);
SELECT * FROM regress_advice();
SELECT * FROM regress_tiers();
CALL tiered_storage.apply_placement(dry_run => true);
-- It would be busy for 62 % of its time: not as it should be, but room comes first.  Six blocks would be enough.
CALL regress_observe(12000);
SELECT relation, goes_to, confidence FROM regress_advice();
SELECT * FROM regress_tiers();
-- What one knows next to nothing of goes if it has to, which a person may want, and no worker does.
CALL regress_observe(100, 0);
SELECT * FROM regress_advice(true);
CALL tiered_storage.apply_placement(dry_run => true);
-- But not while there is something else.
CALL regress_observe(100);
UPDATE _tiered_storage.relation_state SET sampled_since = clock_timestamp(), proven_since = clock_timestamp()
	WHERE relation_oid IN ('regress_o1'::regclass, 'regress_o2'::regclass);
SELECT relation, goes_to, confidence FROM regress_advice();
-- Whatever it costs, nothing comes to a tier that is too full, and nobody saves money with what he does not know.
CALL regress_observe(100, 0);
SELECT count(*) FROM tiered_storage.recommend_placement(objective => 'money');
-- Pins, and what the options leave out.
CALL regress_observe(100);
SET client_min_messages = warning;
SELECT sum(tiered_storage.pin(('regress_o' || n)::regclass, 'regress_fast')) FROM generate_series(1, 6) n;
RESET client_min_messages;
SELECT relation, goes_to FROM regress_advice();
SELECT * FROM regress_tiers();
SELECT count(*) FROM tiered_storage.recommend_placement(relations => '{regress_o7}');
-- With room for what is pinned there it is not too full.
SELECT capacity_bytes / 8192 AS capacity, used_bytes / 8192 AS used, is_current, reason
	FROM _tiered_storage.tier_size_curve('regress_fast') WHERE capacity_bytes <= 6 * 8192;
SELECT sum(tiered_storage.unpin(('regress_o' || n)::regclass)) FROM generate_series(1, 6) n;
-- No device is large enough.
SELECT tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', 3 * 8192)) \g /dev/null
SELECT relation, goes_to FROM regress_advice();
SELECT * FROM regress_tiers();
-- Nor is there room for anything: not all is best where it is.
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 8191}') \g /dev/null
SELECT * FROM regress_advice();
ALTER TABLE regress_o1 SET TABLESPACE regress_ts_slow;
ALTER TABLE regress_o2 SET TABLESPACE regress_ts_slow;
CALL regress_observe(100);
SELECT * FROM regress_advice();
-- Both are too small for what has to be there.
SET client_min_messages = warning;
SELECT sum(tiered_storage.pin(('regress_o' || n)::regclass, CASE WHEN n < 3 THEN 'regress_fast'
	ELSE 'regress_slow' END::name)) FROM generate_series(1, 9) n;
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 8192}'), tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', 5 * 8192)) \g /dev/null
SELECT * FROM regress_tiers();
SELECT sum(tiered_storage.unpin(('regress_o' || n)::regclass)) FROM generate_series(1, 9) n;
RESET client_min_messages;
SELECT tiered_storage.alter_tier('regress_fast', device => jsonb_build_object('capacity_bytes', 4 * 8192)), tiered_storage.alter_tier('regress_slow',
	device => '{"capacity_bytes": null}') \g /dev/null
ALTER TABLE regress_o1 SET TABLESPACE regress_ts_fast;
ALTER TABLE regress_o2 SET TABLESPACE regress_ts_fast;

---------------------------------------------------------------------------
-- Before and after do not matter to what a size is worth
---------------------------------------------------------------------------

\set ECHO none
SET client_min_messages = warning;
CREATE FUNCTION regress_curve(objective text, OUT points text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', capacity_bytes / 8192, used_bytes / 8192, round(io_s_per_hour::numeric),
		is_current, reason), ', ' ORDER BY capacity_bytes, is_current)
	FROM _tiered_storage.tier_size_curve('regress_fast', objective => objective)
$$;
CALL regress_observe(8000);
CREATE TEMPORARY TABLE regress_from_fast AS SELECT o.objective, points, (SELECT string_agg(relation::text, ' '
	ORDER BY relation::text)
	FROM tiered_storage.recommend_placement(true, objective => o.objective)
		WHERE recommended_tier = 'regress_fast') AS fast FROM (VALUES ('time'), ('money')) o (objective),
			regress_curve(o.objective);
SELECT format('ALTER TABLE regress_o%s SET TABLESPACE regress_ts_slow', n) FROM generate_series(1, 9) n \gexec
\set ECHO all
CALL regress_observe(8000);
-- With the others a device may go on carrying what it carries, and what gains little stays where it is.
SELECT f.objective, f.points = c.points AS same_curve, CASE
	WHEN f.objective = 'time' THEN f.fast = (SELECT string_agg(relation::text, ' ' ORDER BY relation::text)
	FROM tiered_storage.recommend_placement(true, objective => f.objective)
		WHERE recommended_tier = 'regress_fast') END AS same_advice
			FROM regress_from_fast f, regress_curve(f.objective) c;
SELECT capacity_bytes / 8192 AS capacity, used_bytes / 8192 AS used, is_current, reason
	FROM _tiered_storage.tier_size_curve('regress_fast') WHERE capacity_bytes <= 5 * 8192;
-- A figure that no device can have.
SELECT tier_name, busy_fraction, reason FROM _tiered_storage.placement_summary() WHERE tier_name = 'regress_slow';
SELECT tier_name, advised_busy_fraction <= 1 AND simulated_busy_fraction <= 1 AS possible, reason
	FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity_bytes": 8192}, "regress_slow": {"random_read_ms": 40}}', 2) WHERE tier_name = 'regress_slow';

---------------------------------------------------------------------------
-- Other files have taken of the reserve
---------------------------------------------------------------------------

\set ECHO none
-- Nobody has to leave for that, and nobody comes, though nothing else is missing: not even for one that leaves.
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
ALTER TABLE regress_o1 SET TABLESPACE regress_ts_fast;
CALL regress_observe(8000);
CREATE FUNCTION regress_where() RETURNS TABLE (fast text, missing bigint, reason text) LANGUAGE sql AS $$
	SELECT (SELECT string_agg(relation::text, ' ' ORDER BY relation::text)
		FROM tiered_storage.recommend_placement(true) WHERE recommended_tier = 'regress_fast'),
		missing_bytes, regexp_replace(reason, '[0-9.,]+ [kMGTP]?B', '(some)', 'g')
			FROM _tiered_storage.placement_summary() WHERE tier_name = 'regress_fast'
$$;
\set ECHO all
SELECT * FROM regress_where();
SELECT tiered_storage.alter_tier('regress_fast', reserve_fraction => (1 + free_bytes::float8 / total_bytes) / 2)
	FROM _tiered_storage.tablespace_devices() WHERE tablespace_name = 'regress_ts_fast' \g /dev/null
SELECT * FROM regress_where();
SELECT tier_name, reason FROM _tiered_storage.explain_placement('regress_o9') WHERE tier_name = 'regress_fast';
-- What it would be worth is another question.
SELECT max(used_bytes) / 8192 AS used FROM _tiered_storage.tier_size_curve('regress_fast');
SELECT tiered_storage.alter_tier('regress_fast', reserve_fraction => 0) \g /dev/null
SELECT * FROM regress_where();
ALTER TABLE regress_o1 SET TABLESPACE regress_ts_slow;

---------------------------------------------------------------------------
-- Small savings add up; equals stay where they are
---------------------------------------------------------------------------

-- Fifty tables, each taken to have 1 MB, on the fast tier, each of which costs little more there than on the slow one.
SELECT tiered_storage.alter_tier('regress_fast', price_per_gb_month => 1562.5, device => '{"capacity_bytes": null}'),
	tiered_storage.alter_tier('regress_slow', price_per_gb_month => 15.625) \g /dev/null
\set ECHO none
SELECT format('CREATE TABLE regress_small%s (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast', n)
	FROM generate_series(1, 50) n \gexec
SELECT format('INSERT INTO regress_small%s VALUES (1)', n) FROM generate_series(1, 50) n \gexec
\set ECHO all
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_observe(0);
BEGIN;
UPDATE _tiered_storage.relation_state SET size_bytes = 128 * size_bytes
	WHERE relation_oid::regclass::text ~ '^regress_small';
SELECT count(*), round(sum(price_delta_per_month)::numeric, 2) AS price
	FROM tiered_storage.recommend_placement(objective => 'money');
ROLLBACK;
-- Half of them have room, all are read alike: those that are there are as good as the others.
\set ECHO none
SELECT format('ALTER TABLE regress_small%s SET TABLESPACE regress_ts_slow', n) FROM generate_series(1, 25) n \gexec
\set ECHO all
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 25 * 8192)) \g /dev/null
CALL regress_observe(0);
UPDATE _tiered_storage.relation_state SET random_slow = 1000, random_fast = 1000, device_random_slow = 1000,
	device_random_fast = 1000 WHERE relation_oid::regclass::text ~ '^regress_small';
SELECT count(*) AS moves FROM tiered_storage.recommend_placement();
-- The n-th hottest is read 1 / n as often: each further one is a step of the curve, up to the number asked for.
UPDATE _tiered_storage.relation_state SET random_slow = 1e5 / n, random_fast = 1e5 / n, device_random_slow = 1e5 / n,
	device_random_fast = 1e5 / n
	FROM (SELECT c.oid, substring(c.relname FROM '\d+$')::int AS n FROM pg_class c
		WHERE c.relname ~ '^regress_small') c
	WHERE relation_oid = c.oid;
SELECT points, count(*) AS steps, min(used_bytes) / 8192 AS least, max(used_bytes) / 8192 AS most
	FROM (VALUES (5), (21), (100)) p (points), _tiered_storage.tier_size_curve('regress_fast', points)
	GROUP BY points ORDER BY points;

DROP FUNCTION regress_advice, regress_tiers, regress_curve, regress_where;
DROP PROCEDURE regress_observe;
\set ECHO none
SELECT format('DROP TABLE regress_o%s', n) FROM generate_series(1, 9) n \gexec
SELECT format('DROP TABLE regress_small%s', n) FROM generate_series(1, 50) n \gexec
\set ECHO all
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
