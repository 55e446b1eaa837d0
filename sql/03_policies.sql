-- Tiering policies: made, refused, listed, removed.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql

SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE TABLE regress_t (at timestamptz NOT NULL, v int) PARTITION BY RANGE (at);
CREATE TABLE regress_t_2026_01 PARTITION OF regress_t FOR VALUES
	FROM ('2026-01-01') TO ('2026-02-01') TABLESPACE regress_ts_fast;

---------------------------------------------------------------------------
-- Made
---------------------------------------------------------------------------

SELECT tiered_storage.add_tiering_policy('regress_t', '90 days', 'regress_slow') \gset
SELECT tiered_storage.add_tiering_policy('regress_t', move_after => '1 year', tier => 'regress_cheap',
	options => '{"include_indexes": false}') \gset
SELECT policy_id, relation, relation_name, move_after, tier_name, include_indexes, key_unit, time_zone,
	created_by = current_user AS mine, last_evaluated_at, last_due, last_on_target, last_result
	FROM _tiered_storage.policies ORDER BY policy_id;
-- One for a tier.
SELECT tiered_storage.add_tiering_policy('regress_t', '10 days', 'regress_slow'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_t', '10 days', 'regress_slow', if_not_exists => true) \gset
SELECT policy_id, move_after, tier_name FROM _tiered_storage.policies ORDER BY policy_id;

-- A number without a unit is one of seconds.
SELECT tiered_storage.add_tiering_policy('regress_t', '90', 'regress_slow', dry_run => true) \gset
SELECT tiered_storage.alter_policy('regress_t', 'regress_slow', changes => '{"idle_for": "365"}') \gset
SELECT tiered_storage.alter_policy('regress_t', 'regress_slow', changes => '{"idle_for": null}') \gset

-- Zero is an age, and so is more than there was time; neither negative nor beyond the calendar.
SELECT tiered_storage.remove_policy('regress_t');
SELECT tiered_storage.add_tiering_policy('regress_t', '0', 'regress_slow') > 0 AS zero \gset
SELECT verdict, reason FROM _tiered_storage.evaluate_policies();
SELECT tiered_storage.remove_policy('regress_t') \gset
SELECT tiered_storage.add_tiering_policy('regress_t', '6000 years 1 month 1 day 00:00:00.000001', 'regress_slow') > 0
	AS huge \gset
SELECT verdict, reason LIKE '%only rows before 3975-04-29%BC%, 6000 years 1 mon%' AS says_bc
	FROM _tiered_storage.evaluate_policies();
SELECT tiered_storage.remove_policy('regress_t') \gset
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('regress_t', '-1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day -25 hours', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_t', '178000000 years', 'regress_slow')
$refused$);
\set ECHO all

---------------------------------------------------------------------------
-- Refused
---------------------------------------------------------------------------

\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy(NULL, '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_t', NULL, 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', NULL)
SELECT tiered_storage.add_tiering_policy(0, '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'no_such_tier')
-- A tablespace is no tier.
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_ts_slow')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow', options => '{"keyunit": "seconds"}')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow', options => '{"move_after": "1 day"}')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow', options => '{"key_unit": {}}')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow', options => '1')
$refused$);
\set ECHO all

\set ECHO none
CREATE TABLE regress_plain (at timestamptz, v int);
CREATE INDEX regress_plain_at ON regress_plain (at);
CREATE VIEW regress_view AS SELECT * FROM regress_plain;
CREATE MATERIALIZED VIEW regress_matview AS SELECT * FROM regress_plain;
CREATE SEQUENCE regress_sequence;
CREATE FOREIGN DATA WRAPPER regress_fdw;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_fdw;
CREATE FOREIGN TABLE regress_foreign (at timestamptz, v int) SERVER regress_server;
CREATE TABLE regress_list (at timestamptz, v int) PARTITION BY LIST (v);
CREATE TABLE regress_list_1 PARTITION OF regress_list FOR VALUES IN (1) PARTITION BY RANGE (at);
CREATE TABLE regress_hash (at timestamptz, v int) PARTITION BY HASH (v);
CREATE TABLE regress_expression (at timestamptz, v int) PARTITION BY RANGE ((at AT TIME ZONE 'UTC'), v);
CREATE TABLE regress_second (at timestamptz, v int) PARTITION BY RANGE (v, (at AT TIME ZONE 'UTC'));
CREATE TABLE regress_text (k text) PARTITION BY RANGE (k);
CREATE TABLE regress_numeric (k numeric) PARTITION BY RANGE (k);
CREATE TABLE regress_int (k int) PARTITION BY RANGE (k);
CREATE TABLE regress_uuid (k uuid) PARTITION BY RANGE (k);
CREATE DOMAIN regress_domain AS text;
CREATE TABLE regress_of_domain (k regress_domain) PARTITION BY RANGE (k);
\set ECHO all
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('regress_plain', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_plain_at', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_view', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_matview', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_sequence', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_foreign', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_t_2026_01', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('pg_class', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_list', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_hash', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_expression', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_second', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_text', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_numeric', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_numeric', '1 day', 'regress_slow', options => '{"key_unit": "uuidv7"}')
SELECT tiered_storage.add_tiering_policy('regress_text', '1 day', 'regress_slow', options => '{"key_unit": "yyyymmdd"}')
SELECT tiered_storage.add_tiering_policy('regress_uuid', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_uuid', '1 day', 'regress_slow', options => '{"key_unit": "seconds"}')
SELECT tiered_storage.add_tiering_policy('regress_of_domain', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_int', '1 day', 'regress_slow')
SELECT tiered_storage.add_tiering_policy('regress_int', '1 day', 'regress_slow', options => '{"key_unit": "days"}')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow', options => '{"key_unit": "seconds"}')
$refused$);
\set ECHO all
-- The name of a temporary schema differs from session to session.
CREATE TEMP TABLE regress_temporary (at timestamptz) PARTITION BY RANGE (at);
\set VERBOSITY sqlstate
SELECT tiered_storage.add_tiering_policy('regress_temporary', '1 day', 'regress_slow');
\set VERBOSITY default
-- What the hint for a list-partitioned table says works.
SELECT tiered_storage.add_tiering_policy('regress_list_1', '1 day', 'regress_slow') > 0 AS added \gset
SELECT tiered_storage.remove_policy('regress_list_1') \gset

-- The zone in which a day begins.
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow', options => '{"time_zone": "Nowhere/Land"}')
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow', options => '{"time_zone": ""}')
$refused$);
\set ECHO all
SELECT count(*) AS policies FROM _tiered_storage.policies;
SELECT tiered_storage.add_tiering_policy('regress_int', '1 day', 'regress_slow',
	options => '{"key_unit": "seconds"}') > 0 AS added,
	tiered_storage.add_tiering_policy('regress_int', '1 day', 'regress_cheap',
	options => '{"key_unit": "seconds", "time_zone": "europe/berlin"}') > 0 AS added,
	tiered_storage.add_tiering_policy('regress_uuid', '1 day', 'regress_slow',
	options => '{"key_unit": "uuidv7"}') > 0 AS added \gset
SET timezone = '-3:30';
SELECT tiered_storage.add_tiering_policy('regress_numeric', '1 day', 'regress_slow',
	options => '{"key_unit": "yyyymm"}') > 0
	AS added \gset
SET timezone = 'UTC';
SELECT relation, key_unit, time_zone FROM _tiered_storage.policies ORDER BY policy_id;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies;

---------------------------------------------------------------------------
-- Removed
---------------------------------------------------------------------------

SELECT tiered_storage.add_tiering_policy('regress_t', '90 days', 'regress_slow') AS a \gset
SELECT tiered_storage.add_tiering_policy('regress_t', '1 year', 'regress_cheap') AS b \gset
SELECT tiered_storage.add_tiering_policy('regress_list_1', '1 year', 'regress_cheap') AS c \gset
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.remove_policy()
SELECT tiered_storage.remove_policy(tier => 'regress_slow')
SELECT tiered_storage.remove_policy('regress_t', 'regress_fast')
SELECT tiered_storage.remove_policy('regress_plain')
$refused$);
\set ECHO all
SELECT tiered_storage.remove_policy('regress_plain', if_exists => true);
SELECT tiered_storage.remove_policy(policy_id => -1); \echo :SQLSTATE
SELECT tiered_storage.remove_policy(policy_id => -1, if_exists => true);
SELECT tiered_storage.remove_policy('regress_list_1', policy_id => :a); \echo :SQLSTATE
SELECT count(*) AS policies FROM _tiered_storage.policies;
SELECT tiered_storage.remove_policy('regress_t', 'regress_slow') \gset
SELECT policy_id = :b AS is_b, tier_name FROM _tiered_storage.policies WHERE relation = 'regress_t'::regclass;
SELECT tiered_storage.remove_policy(policy_id => :b, tier => 'regress_cheap') \gset
SELECT tiered_storage.add_tiering_policy('regress_t', '90 days', 'regress_slow') > 0 AS again \gset
SELECT tiered_storage.add_tiering_policy('regress_t', '1 year', 'regress_cheap') > 0 AS again \gset
SELECT tiered_storage.remove_policy('regress_t');
SELECT relation FROM _tiered_storage.policies;
SELECT tiered_storage.remove_policy(policy_id => :c) \gset
-- Adding and removing are undone with their transaction.
BEGIN;
SELECT tiered_storage.add_tiering_policy('regress_t', '90 days', 'regress_slow') > 0 AS added \gset
ROLLBACK;
SELECT count(*) AS policies FROM _tiered_storage.policies;

---------------------------------------------------------------------------
-- The table is renamed, moved to another schema, dropped
---------------------------------------------------------------------------

\set ECHO none
SELECT tiered_storage.add_tiering_policy('regress_t', '90 days', 'regress_slow') AS a \gset
CREATE SCHEMA "regress schema";
ALTER TABLE regress_t RENAME TO "regress ""T""";
ALTER TABLE "regress ""T""" SET SCHEMA "regress schema";
\set ECHO all
SELECT relation, relation_name, tier_name, last_result FROM _tiered_storage.policies;
SELECT relation, verdict FROM _tiered_storage.evaluate_policies();
CALL tiered_storage.sample();
SELECT schema_name, relation_name FROM _tiered_storage.policy;
-- A new table of the old name is another one, and gets no policy from it.
CREATE TABLE regress_t (at timestamptz NOT NULL) PARTITION BY RANGE (at);
SELECT relation FROM _tiered_storage.policies;
SELECT tiered_storage.add_tiering_policy('regress_t', '1 day', 'regress_slow') > 0 AS added \gset
SELECT relation, move_after FROM _tiered_storage.policies ORDER BY policy_id;
DROP TABLE "regress schema"."regress ""T""";
SELECT policy_id = :a AS is_a, relation, relation_name, last_result FROM _tiered_storage.policies ORDER BY policy_id;
SELECT policy_id = :a AS is_a, relation, verdict, to_tier, reason FROM _tiered_storage.evaluate_policies()
	ORDER BY policy_id;
CALL tiered_storage.sample();
SELECT policy_id = :a AS is_a, relation, relation_name, last_result FROM _tiered_storage.policies ORDER BY policy_id;
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_policy(policy_id => :a); \echo :SQLSTATE
SELECT relation FROM _tiered_storage.policies;
\set ECHO none
-- A policy stays with its table while another one takes the name, and goes with it.
ALTER TABLE regress_t RENAME TO regress_before;
CREATE TABLE regress_t (at timestamptz NOT NULL) PARTITION BY RANGE (at);
\set ECHO all
SELECT relation, relation_name FROM _tiered_storage.policies;
DROP TABLE regress_before;
SELECT relation, relation_name FROM _tiered_storage.policies;

\set ECHO none
SET client_min_messages = warning;
DROP SCHEMA "regress schema" CASCADE;
DROP TABLE regress_t;
DROP TABLE regress_plain CASCADE;
DROP SEQUENCE regress_sequence;
DROP FOREIGN DATA WRAPPER regress_fdw CASCADE;
DROP TABLE regress_list, regress_hash, regress_expression, regress_second, regress_text, regress_numeric, regress_int,
	regress_uuid, regress_of_domain, regress_temporary;
DROP DOMAIN regress_domain;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all
