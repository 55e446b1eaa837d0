-- Nothing is silent: what is said where there is nothing to do, or something to know.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
CREATE TABLESPACE regress_ts_a LOCATION '';
CREATE TABLESPACE regress_ts_b LOCATION '';
CREATE TABLESPACE regress_ts_c LOCATION '';

---------------------------------------------------------------------------
-- Without tiers, relations, or time
---------------------------------------------------------------------------

SELECT count(*) FROM _tiered_storage.simulate_placement();
SELECT count(*) FROM _tiered_storage.placement_summary();
CALL tiered_storage.apply_placement(dry_run => true);
CREATE TABLE regress_s (id int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_a;
INSERT INTO regress_s SELECT generate_series(1, 1000);
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_a}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
SELECT tiered_storage.add_tier('regress_slow', '{regress_ts_b}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
RESET client_min_messages;
SELECT count(*) > 0 AS answered FROM _tiered_storage.simulate_placement(schemas => '{pg_catalog}');
CALL tiered_storage.sample();
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, rows as a dump or
-- another machine has left them; what devices were measured to do.
UPDATE _tiered_storage.relation_state SET sampled_since = now() - interval '5 minutes',
	proven_since = now() - interval '5 minutes', observed_since = now() - interval '5 minutes';
SET tiered_storage.observation_period = '7d';
SELECT count(*) > 0 AS answered FROM _tiered_storage.simulate_placement(relations => '{regress_s}');
SELECT count(*) > 0 AS answered FROM _tiered_storage.tier_size_curve('regress_fast', 3, relations => '{regress_s}');
SELECT count(*) > 0 AS answered FROM _tiered_storage.placement_summary(relations => '{regress_s}');
SELECT count(*) AS answered FROM _tiered_storage.explain_placement('regress_s', relations => '{regress_s}');
-- It is known enough when that time is over.
UPDATE _tiered_storage.relation_state SET sampled_since = now() - interval '8 days',
	proven_since = now() - interval '8 days', observed_since = now() - interval '8 days';
SELECT count(*) > 0 AS answered FROM _tiered_storage.simulate_placement(relations => '{regress_s}');
SELECT count(*) AS answered FROM _tiered_storage.explain_placement('regress_s', relations => '{regress_s}');

---------------------------------------------------------------------------
-- Why there is no advice: each reason once
---------------------------------------------------------------------------

\set ECHO none
-- A relation that has been observed for so long, and is read at random so often an hour.
CREATE FUNCTION regress_known(relation regclass, observed interval, reads float8 DEFAULT 0,
	is_event boolean DEFAULT false) RETURNS void LANGUAGE sql AS $$
	UPDATE _tiered_storage.relation_state SET size_bytes = 1024 * 1024, heat_at = '2030-01-20 UTC',
		sampled_since = timestamptz '2030-01-20 UTC' - observed,
		proven_since = timestamptz '2030-01-20 UTC' - observed,
			observed_since = timestamptz '2030-01-20 UTC' - observed,
		evidence_interval_s = CASE WHEN is_event THEN 300 ELSE 0 END, last_read_at = CASE
			WHEN is_event THEN '2030-01-19 20:00 UTC'::timestamptz END,
		random_fast = reads, random_slow = reads, device_random_fast = reads, device_random_slow = reads,
		sequential_fast = 0, sequential_slow = 0, device_sequential_fast = 0, device_sequential_slow = 0,
			changes_fast = 0, changes_slow = 0,
		page_writes_fast = 0, page_writes_slow = 0
		WHERE relation_oid = $1
$$;
SET tiered_storage.test_now = '2030-01-20 UTC';
CREATE TABLE regress_t (id int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_a;
CREATE TABLE regress_u (id int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_b;
INSERT INTO regress_t VALUES (1);
INSERT INTO regress_u VALUES (1);
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
CREATE VIEW regress_advice AS SELECT relation, recommended_tier
	FROM tiered_storage.recommend_placement(relations => '{regress_t,regress_u}');
-- Observed for too short a time: what is seen is nothing, or happened once.
SELECT regress_known('regress_t', '20 minutes'), regress_known('regress_u', '20 minutes') \g /dev/null
\set ECHO all
SELECT * FROM regress_advice;
-- Four intervals of evidence are needed however short the period is.
SET tiered_storage.observation_period = '5min';
SELECT regress_known('regress_t', '10 minutes'), regress_known('regress_u', '10 minutes') \g /dev/null
SELECT * FROM regress_advice;
SELECT count(*) FROM _tiered_storage.placement_summary(relations => '{regress_t,regress_u}');
SET tiered_storage.observation_period = '7d';
SELECT regress_known('regress_t', '20 minutes') \g /dev/null
SELECT regress_known('regress_u', '20 minutes', 100000, true) \g /dev/null
SELECT * FROM regress_advice;
-- Known for long enough, but used only once.
SELECT regress_known('regress_t', '8 days', 100000, true), regress_known('regress_u', '8 days', 100000,
	true) \g /dev/null
SELECT * FROM regress_advice;
-- Everything is held, or everything that is not small.
SELECT tiered_storage.pin('regress_t'), tiered_storage.pin('regress_u') \g /dev/null
SELECT * FROM regress_advice;
SELECT tiered_storage.unpin('regress_t') \g /dev/null
SELECT * FROM regress_advice;
SELECT regress_known('regress_t', '8 days') \g /dev/null
UPDATE _tiered_storage.relation_state SET size_bytes = 1024 * 1023;
SET tiered_storage.cooldown = '90min';
SELECT * FROM regress_advice;
SELECT tiered_storage.unpin('regress_u') \g /dev/null
SELECT regress_known('regress_u', '8 days') \g /dev/null
UPDATE _tiered_storage.relation_state SET size_bytes = 1024 * 1023;
SELECT * FROM regress_advice;
UPDATE _tiered_storage.relation_state SET size_bytes = 1024 * 1024;
RESET tiered_storage.cooldown;
-- Idle, and cheaper elsewhere.
SELECT tiered_storage.alter_tier('regress_fast', price_per_gb_month => 1000), tiered_storage.alter_tier('regress_slow',
	price_per_gb_month => 1) \g /dev/null
SELECT * FROM regress_advice;
-- It would be advised if that goes on.
SELECT regress_known('regress_t', '20 minutes'), regress_known('regress_u', '20 minutes') \g /dev/null
SELECT relation FROM tiered_storage.recommend_placement(objective => 'money', relations => '{regress_t,regress_u}');
-- The hint has the tablespaces of the server, and their devices.
\set VERBOSITY terse
BEGIN;
SELECT tiered_storage.remove_tier('regress_fast') \g /dev/null
SELECT * FROM regress_advice;
SELECT tier_name FROM _tiered_storage.placement_summary();
SELECT count(*) FROM _tiered_storage.simulate_placement();
ROLLBACK;
\set VERBOSITY default
DROP VIEW regress_advice;
DROP FUNCTION regress_known(regclass, interval, float8, boolean);
DROP TABLE regress_t, regress_u;
RESET tiered_storage.test_now;

---------------------------------------------------------------------------
-- Moves
---------------------------------------------------------------------------

CALL tiered_storage.move_relation('regress_s', 'regress_fast');
CREATE TABLE regress_parent (id int) PARTITION BY RANGE (id);
CALL tiered_storage.move_relation('regress_parent', 'regress_slow');

---------------------------------------------------------------------------
-- Tiers
---------------------------------------------------------------------------

-- A discovered tier of which a person defines a part.
SELECT _tiered_storage.tier_insert_discovered('regress_found', 'sata_ssd', false, false);
INSERT INTO _tiered_storage.tier_tablespace (tablespace_name, tablespace_oid, system_identifier, tier_name, discovered)
	SELECT s.spcname, s.oid, c.system_identifier, 'regress_found', true FROM pg_tablespace s, pg_control_system() c
		WHERE s.spcname IN ('regress_ts_c', 'pg_default');
SELECT tiered_storage.add_tier('regress_found', '{regress_ts_c}', profile => 'sata_ssd', reserve_fraction => 0,
	device => '{"compressed": false}');
SELECT tablespace_name FROM _tiered_storage.tier_tablespaces WHERE tier_name = 'regress_found';
SELECT tiered_storage.remove_tier('regress_found');

-- A restore: CREATE EXTENSION has discovered a tier, and the dump has its tablespaces elsewhere.
SELECT _tiered_storage.tier_insert_discovered('regress_found', 'sata_ssd', false, false);
DO $$
BEGIN
	INSERT INTO _tiered_storage.tier_tablespace (tablespace_name, tablespace_oid, system_identifier, tier_name,
		discovered)
		SELECT s.spcname, s.oid, c.system_identifier, 'regress_found', true FROM pg_tablespace s, pg_control_system() c
			WHERE s.spcname IN ('regress_ts_c', 'pg_default');
END
$$;
COPY _tiered_storage.tier_tablespace FROM stdin;
regress_ts_c	1	1	regress_slow	f
\.
SELECT tier_name FROM _tiered_storage.tier ORDER BY rank;
COPY _tiered_storage.tier_tablespace FROM stdin;
pg_default	2	1	regress_slow	f
\.
SELECT tier_name FROM _tiered_storage.tier ORDER BY rank;

-- Measurements that contradict the order of the tiers.
SELECT _tiered_storage.calibration_warn(t, '{"random_read_ms": 0.01, "sequential_read_mb_per_s": 150}')
	FROM _tiered_storage.tier t WHERE tier_name = 'regress_slow';
INSERT INTO _tiered_storage.tier_calibration (tier_name, calibrated_at, measurement, unit, measured, tablespace_name)
	VALUES ('regress_slow', now(), 'random_read_ms', 'ms', 12.4, 'regress_ts_b');
SELECT _tiered_storage.calibration_warn(t, '{"random_read_ms": 30, "sequential_read_mb_per_s": 6500}')
	FROM _tiered_storage.tier t WHERE tier_name = 'regress_fast';
SELECT _tiered_storage.calibration_warn(t, '{"random_read_ms": 0.1, "sequential_read_mb_per_s": 6500}')
	FROM _tiered_storage.tier t WHERE tier_name = 'regress_fast';

\set ECHO none
-- No view is thought to be so dear that a query on it would be compiled, also before anything of it was analyzed.
CREATE FUNCTION regress_cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END
$$;
\set ECHO all
SELECT c.relname FROM pg_class c WHERE c.relkind = 'v' AND c.relnamespace = 'tiered_storage'::regnamespace
	AND regress_cost(format('SELECT * FROM %s', c.oid::regclass)) > 100000 ORDER BY 1;
DROP FUNCTION regress_cost(text);

DROP TABLE regress_s, regress_parent;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_a;
DROP TABLESPACE regress_ts_b;
DROP TABLESPACE regress_ts_c;
