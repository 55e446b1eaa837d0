-- Policies by idleness and heat: what is not known to have been idle is not.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
-- The same plans at costs that are all as high, so that each of them is tracked.
SET jit = off;
SELECT set_config(name, (boot_val::float8 * 1e5)::text, false) FROM pg_settings
	WHERE name ~ '^(seq_page|random_page|cpu.*|parallel.*)_cost$' \g /dev/null
SET tiered_storage.cooldown = 0;
SET max_parallel_workers_per_gather = 0;
-- After all that has happened to the statistics of this server.
SET tiered_storage.test_now = '2040-01-01 00:00:00+00';
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; what a standby has
-- told.
DELETE FROM _tiered_storage.sampler; DELETE FROM _tiered_storage.state_snapshot;
DELETE FROM _tiered_storage.relation_state;
CREATE VIEW regress_verdicts AS
	SELECT relation::text COLLATE "C" AS relation, to_tier, verdict, reason FROM _tiered_storage.evaluate_policies();
\set reasons 'SELECT verdict, reason, string_agg(relation, \', \' ORDER BY relation) AS relations FROM regress_verdicts GROUP BY 1, 2 ORDER BY 3;'
\set verdicts 'SELECT verdict, string_agg(relation, \', \' ORDER BY relation) AS relations FROM regress_verdicts GROUP BY 1 ORDER BY 2;'

CREATE TABLE regress_l (k int, v text) PARTITION BY LIST (k);
CREATE TABLE regress_l_1 PARTITION OF regress_l FOR VALUES IN (1) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_l', tier => 'regress_slow', idle_for => '7 days') \gset
\echo '-- Nobody has looked.'
SELECT relation, verdict, reason FROM regress_verdicts;
SELECT set_config('tiered_storage.test_now', '2040-01-01 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
CREATE TABLE regress_l_2 PARTITION OF regress_l FOR VALUES IN (2) TABLESPACE regress_ts_fast;
CREATE INDEX regress_l_2_k ON regress_l_2 (k) TABLESPACE regress_ts_fast;
CREATE TABLE regress_l_3 PARTITION OF regress_l FOR VALUES IN (3) TABLESPACE regress_ts_fast;
CREATE TABLE regress_l_rest PARTITION OF regress_l DEFAULT TABLESPACE regress_ts_fast;
INSERT INTO regress_l SELECT k, repeat('x', 100) FROM generate_series(1, 4) k, generate_series(1, 100);
DROP TABLE regress_l_1;
SELECT set_config('tiered_storage.test_now', '2040-01-02 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();

\echo '-- Idle'

\echo '-- What was loaded was written, and a default partition has no age that would matter.'
SET tiered_storage.test_now = '2040-01-05 00:00:00+00';
:reasons
\echo '-- A look sees what no sample has seen yet.'
SET tiered_storage.test_now = '2040-01-09 00:00:00+00';
:reasons
SELECT count(*) FROM regress_l_3 \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
:reasons
\echo '-- Reading an index is reading its table, and it does not matter whether that was in the buffers.'
SET enable_seqscan = off;
SELECT count(k) FROM regress_l_2 WHERE k = 2 \g /dev/null
RESET enable_seqscan;
SELECT set_config('tiered_storage.test_now', '2040-01-10 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
:reasons
\echo '-- So does a row that is found by its place.'
SELECT count(*) FROM regress_l_rest WHERE ctid = '(0,1)' \g /dev/null
SELECT set_config('tiered_storage.test_now', '2040-01-11 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
:reasons
\echo '-- Vacuum and analyze are no use, and neither is planning.'
VACUUM regress_l_2, regress_l_3;
ANALYZE regress_l_2, regress_l_3;
EXPLAIN (COSTS OFF) SELECT FROM regress_l_3;
SELECT set_config('tiered_storage.test_now', '2040-01-12 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-01-17 00:00:00+00';
:reasons
\echo '-- TRUNCATE writes.'
TRUNCATE regress_l_3;
SELECT set_config('tiered_storage.test_now', '2040-01-18 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT relation, verdict, reason FROM regress_verdicts WHERE relation = 'regress_l_3';

\echo '-- What is due is moved, with its index; the second time nothing is.'
SET tiered_storage.test_now = '2040-01-26 00:00:00+00';
CALL tiered_storage.migrate(dry_run => true);
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
CALL tiered_storage.migrate();
:verdicts
SELECT relname, reltablespace::regclass IS NULL OR spcname = 'regress_ts_slow' AS is_slow FROM pg_class c
	JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE relname LIKE 'regress\_l\_%' ORDER BY 1;
\echo '-- It was a move, and no use.'
SELECT set_config('tiered_storage.test_now', '2040-01-26 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
:verdicts
\echo '-- Nothing is brought back by this policy; the advice may do that when it is used again.'
SELECT count(*) FROM regress_l_2 \g /dev/null
SELECT set_config('tiered_storage.test_now', '2040-01-27 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
:verdicts
CALL tiered_storage.migrate();

\echo '-- What nobody has seen'

SET tiered_storage.test_now = '2040-03-01 00:00:00+00';
:verdicts
\echo '-- Another server''s statistics: a failover, a restore, an upgrade.'
UPDATE _tiered_storage.sampler SET timeline = timeline + 1;
:reasons
UPDATE _tiered_storage.sampler SET timeline = timeline - 1, system_identifier = 1;
SELECT DISTINCT verdict FROM regress_verdicts;
\echo '-- A sample remembers that.'
SELECT set_config('tiered_storage.test_now', '2040-03-01 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-03-07 00:00:00+00';
:reasons
SET tiered_storage.test_now = '2040-03-08 00:00:00+00';
SELECT DISTINCT verdict FROM regress_verdicts;
\echo '-- A crash or a reset after the last sample, by the clock of the server.'
UPDATE _tiered_storage.sampler SET last_sample_at = '2001-01-01';
SELECT DISTINCT verdict, reason FROM regress_verdicts;
UPDATE _tiered_storage.sampler SET last_sample_at = '2040-03-01';
\echo '-- A standby that does not tell, and one that has told, and was read.'
SELECT tiered_storage.add_standby('regress_sb', 'host=/nowhere') \g /dev/null
SELECT DISTINCT verdict, reason FROM regress_verdicts;
INSERT INTO _tiered_storage.standby_state (standby_name, last_attempt_at, last_pull_at, next_pull_at,
	failures) VALUES ('regress_sb', now(), now(), 'infinity', 0);
SELECT DISTINCT verdict FROM regress_verdicts;
INSERT INTO _tiered_storage.standby_reads VALUES ('regress_l_3'::regclass, 1, 1, 1, 1);
:reasons
DELETE FROM _tiered_storage.standby_reads;
UPDATE _tiered_storage.standby SET added_at = '2040-03-06';
SELECT relation, verdict, reason FROM regress_verdicts WHERE relation = 'regress_l_3';
SELECT tiered_storage.remove_standby('regress_sb') \g /dev/null
\echo '-- A clock that was set back: what is used meanwhile is not idle when it is corrected.'
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-02-01 00:00:00+00';
SELECT count(*) FROM regress_l_3 \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT relation, verdict, reason FROM regress_verdicts WHERE relation = 'regress_l_3';
SET tiered_storage.test_now = '2040-02-02 00:00:00+00';
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-03-08 00:05:00+00';
:reasons
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-03-14 00:00:00+00';
SELECT DISTINCT verdict FROM regress_verdicts;
SET tiered_storage.test_now = '2040-03-15 00:00:00+00';
SELECT DISTINCT verdict FROM regress_verdicts;
\echo '-- One that was ahead, and is right now.'
UPDATE _tiered_storage.sampler SET last_sample_at = '2099-01-01 00:00:00+00';
UPDATE _tiered_storage.relation_state SET last_read_at = '2099-01-01 00:00:00+00'
	WHERE relation_oid = 'regress_l_3'::regclass;
CALL tiered_storage.sample();
SELECT DISTINCT verdict FROM regress_verdicts WHERE relation <> 'regress_l_3';
SET tiered_storage.test_now = '2040-03-22 00:00:00+00';
SELECT DISTINCT verdict FROM regress_verdicts;
\echo '-- Statistics that do not count.'
SET track_counts = off;
SELECT DISTINCT verdict, reason FROM regress_verdicts;
SELECT count(*) FROM _tiered_storage.unused_relations('1 minute');
\set VERBOSITY terse
SELECT count(*) FROM tiered_storage.recommend_placement();
\set VERBOSITY default
RESET track_counts;

\echo '-- Writes and heat; all conditions together'

SELECT tiered_storage.alter_policy('regress_l', enabled => false) \gset
CREATE TABLE regress_r (d date, a int) PARTITION BY RANGE (d);
CREATE TABLE regress_r_old PARTITION OF regress_r FOR VALUES
	FROM ('2039-01-01') TO ('2040-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_r_new PARTITION OF regress_r FOR VALUES
	FROM ('2040-01-01') TO ('2041-01-01') TABLESPACE regress_ts_fast;
INSERT INTO regress_r SELECT '2039-01-01'::date + (n % 500), n FROM generate_series(1, 20000) n;
SELECT set_config('tiered_storage.test_now', '2040-03-08 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT tiered_storage.add_tiering_policy('regress_r', '30 days', 'regress_slow',
	options => '{"no_writes_for": "10 days"}'),
	tiered_storage.add_tiering_policy('regress_r', tier => 'regress_cheap', move_after => '30 days',
	options => '{"below_reads_per_hour": 20}') \g /dev/null
SELECT relation, move_after, idle_for, no_writes_for, below_reads_per_hour FROM _tiered_storage.policies
	ORDER BY policy_id;
SELECT * FROM regress_verdicts WHERE relation LIKE 'regress\_r%' ORDER BY relation, to_tier;
SET tiered_storage.test_now = '2040-03-18 00:00:00+00';
SELECT count(*) FROM regress_r_old \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT relation, to_tier, verdict FROM regress_verdicts WHERE relation LIKE 'regress\_r%' ORDER BY relation, to_tier;
SELECT set_config('tiered_storage.test_now', '2040-03-18 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
\echo '-- The rate of a day or that of a fortnight, whichever is greater.'
UPDATE _tiered_storage.relation_state SET heat_at = '2040-03-18', observed_since = '2030-01-01', random_fast = 0,
	sequential_fast = 0, random_slow = 25, sequential_slow = 0
	WHERE relation_oid = 'regress_r_old'::regclass;
SELECT relation, to_tier, verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_old' ORDER BY to_tier;
UPDATE _tiered_storage.relation_state SET random_fast = 30, random_slow = 2
	WHERE relation_oid = 'regress_r_old'::regclass;
SELECT relation, to_tier, verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_old' ORDER BY to_tier;
UPDATE _tiered_storage.relation_state SET random_fast = 2 WHERE relation_oid = 'regress_r_old'::regclass;
SELECT relation, to_tier, verdict, reason FROM regress_verdicts WHERE relation = 'regress_r_old' ORDER BY to_tier;
\echo '-- The slowest tier decides; the advice does not bring back what a policy has moved.'
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
CALL tiered_storage.migrate();
SELECT relation, current_tier, recommended_tier FROM tiered_storage.recommend_placement(true)
	WHERE relation = 'regress_r_old'::regclass;
SELECT tier_name, reason LIKE '%policy%' AS by_policy FROM _tiered_storage.explain_placement('regress_r_old')
	WHERE tier_name LIKE 'regress%' ORDER BY 1;
\echo '-- Altered.'
SELECT tiered_storage.alter_policy('regress_r', 'regress_cheap',
	changes => '{"idle_for": "1 day", "below_reads_per_hour": 0.5}') \gset
SELECT move_after, idle_for, no_writes_for, below_reads_per_hour FROM _tiered_storage.policies
	WHERE tier_name = 'regress_cheap';

\echo '-- Whatever else there is'

CREATE TABLE regress_plain (a int) TABLESPACE regress_ts_fast;
CREATE MATERIALIZED VIEW regress_matview TABLESPACE regress_ts_fast AS SELECT 1 AS a;
CREATE TABLE "Regress parent" (a int) TABLESPACE regress_ts_fast;
INSERT INTO "Regress parent" VALUES (1);
CREATE TABLE regress_child () INHERITS ("Regress parent") TABLESPACE regress_ts_fast;
CREATE TABLE regress_grandchild () INHERITS (regress_child, "Regress parent") TABLESPACE regress_ts_slow;
CREATE FOREIGN DATA WRAPPER regress_fdw;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_fdw;
CREATE FOREIGN TABLE regress_foreign () INHERITS ("Regress parent") SERVER regress_server;
CREATE TABLE regress_hash (a int) PARTITION BY HASH (a);
CREATE TABLE regress_hash_0 PARTITION OF regress_hash FOR VALUES WITH (MODULUS 1, REMAINDER 0)
	TABLESPACE regress_ts_fast;
CREATE TABLE regress_text (a text) PARTITION BY RANGE (a);
CREATE TABLE regress_text_a PARTITION OF regress_text FOR VALUES FROM ('a') TO ('b') TABLESPACE regress_ts_fast;
CREATE TEMPORARY TABLE regress_temporary (a int);
CREATE UNLOGGED TABLE regress_unlogged (a int);
CREATE VIEW regress_view AS SELECT 1 AS a;
CREATE SEQUENCE regress_sequence;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
SELECT set_config('tiered_storage.test_now', '2040-04-01 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT tiered_storage.add_tiering_policy(r, tier => 'regress_slow', idle_for => '3 days')
	FROM unnest('{regress_plain,regress_matview,"\"Regress parent\"",regress_hash,regress_text}'::regclass[]) r \g /dev/null
:reasons
SET tiered_storage.test_now = '2040-04-04 00:00:00+00';
:verdicts
REFRESH MATERIALIZED VIEW regress_matview;
CREATE TABLE regress_child_2 () INHERITS ("Regress parent") TABLESPACE regress_ts_fast;
SELECT set_config('tiered_storage.test_now', '2040-04-04 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
:verdicts
SELECT count(*) AS with_bounds FROM _tiered_storage.evaluate_policies() WHERE lower_bound IS NOT NULL OR upper_bound IS NOT NULL;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
CALL tiered_storage.migrate();
:verdicts
\echo '-- Detached, it is not the policy''s any more; renamed, it is.'
ALTER TABLE regress_child NO INHERIT "Regress parent";
ALTER TABLE regress_plain RENAME TO regress_renamed;
SELECT relation, verdict FROM regress_verdicts WHERE relation ~ 'child|renamed' ORDER BY relation;
DROP MATERIALIZED VIEW regress_matview;
SELECT count(*) FROM _tiered_storage.policies WHERE relation IS NULL;

\echo '-- Indexes on a tier of their own, and several steps'

SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
CREATE TABLE regress_s (d date, a int) PARTITION BY RANGE (d);
CREATE TABLE regress_s_old PARTITION OF regress_s FOR VALUES
	FROM ('2038-01-01') TO ('2039-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_s_mid PARTITION OF regress_s FOR VALUES
	FROM ('2039-01-01') TO ('2040-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_s_new PARTITION OF regress_s FOR VALUES
	FROM ('2040-01-01') TO ('2041-01-01') TABLESPACE regress_ts_fast;
CREATE INDEX regress_s_a ON regress_s (a);
ALTER INDEX regress_s_old_a_idx SET TABLESPACE regress_ts_fast;
ALTER INDEX regress_s_mid_a_idx SET TABLESPACE regress_ts_fast;
ALTER INDEX regress_s_new_a_idx SET TABLESPACE regress_ts_fast;
CREATE VIEW regress_places AS SELECT relname, spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE relname LIKE 'regress\_s\_%';
SELECT tiered_storage.add_tiering_policy('regress_s', '30 days', 'regress_slow', index_tier => 'regress_fast') > 0,
	tiered_storage.add_tiering_policy('regress_s', '365 days', 'regress_cheap', index_tier => 'regress_slow') > 0;
SELECT relation, tier_name, index_tier FROM _tiered_storage.policies ORDER BY policy_id;
CALL tiered_storage.migrate(dry_run => true);
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT spcname, string_agg(relname, ', ' ORDER BY relname COLLATE "C") AS relations FROM regress_places GROUP BY 1 ORDER BY 1;
CALL tiered_storage.migrate();
SELECT relation, to_tier, verdict FROM regress_verdicts ORDER BY relation, to_tier;
\echo '-- The advice leaves an index where the policy has put it, or on a slower tier.'
SELECT tier_name, reason LIKE '%policy%' AS by_policy FROM _tiered_storage.explain_placement('regress_s_old_a_idx')
	WHERE tier_name LIKE 'regress%' ORDER BY 1;
\echo '-- A year later.'
SET tiered_storage.test_now = '2041-04-04 00:00:00+00';
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT spcname, string_agg(relname, ', ' ORDER BY relname COLLATE "C") AS relations FROM regress_places GROUP BY 1 ORDER BY 1;
CALL tiered_storage.migrate();
\echo '-- An index that is pinned stays; one that somebody has moved away follows.'
SELECT tiered_storage.pin('regress_s_mid_a_idx', 'regress_fast') \g /dev/null
ALTER INDEX regress_s_mid_a_idx SET TABLESPACE regress_ts_fast;
ALTER INDEX regress_s_old_a_idx SET TABLESPACE regress_ts_fast;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places WHERE relname LIKE '%idx' ORDER BY relname;
\echo '-- A tier of indexes is in use, is renamed and altered like the other one.'
SELECT tiered_storage.remove_policy('regress_s', 'regress_slow') \gset
SELECT tiered_storage.remove_tier('regress_slow'); \echo :SQLSTATE
SELECT tiered_storage.alter_tier('regress_slow', new_name => 'regress_Slow') \gset
SELECT tier_name, index_tier FROM _tiered_storage.policies;
SELECT tiered_storage.alter_policy('regress_s', changes => '{"index_tier": "regress_cheap"}') \gset
SELECT tier_name, index_tier FROM _tiered_storage.policies;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy('regress_s', changes => '{"index_tier": "regress_nowhere"}')
SELECT tiered_storage.alter_policy('regress_s', changes => '{"include_indexes": false}')
SELECT tiered_storage.add_tiering_policy('regress_s', '1 day', 'regress_Slow', index_tier => 'regress_fast', options => '{"include_indexes": false}')
SELECT tiered_storage.add_tiering_policy('regress_s', '1 day', 'regress_Slow', index_tier => 'regress_nowhere')
$refused$);
SELECT tiered_storage.alter_tier('regress_Slow', new_name => 'regress_slow') \gset
DROP TABLE regress_s;
DROP VIEW regress_places;

\echo '-- Refused.'
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_slow', idle_for => '3 days') \gset
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', move_after => '1 day')
SELECT tiered_storage.add_tiering_policy('regress_hash', tier => 'regress_cheap', move_after => '1 day', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('regress_renamed', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', idle_for => '0')
-- What a session has used is in the statistics a minute later.
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', idle_for => '59.9 seconds')
$refused$);
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap',
	options => '{"no_writes_for": "1 second"}'); \echo :SQLSTATE
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', idle_for => '-1 day')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', idle_for => '2 mon -29 days')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', options => '{"no_writes_for": "1 day -1 hour"}')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', options => '{"no_writes_for": "178000000 years"}')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', options => '{"below_reads_per_hour": 0}')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', options => '{"below_reads_per_hour": "NaN"}')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', options => '{"below_reads_per_hour": "Infinity"}')
SELECT tiered_storage.add_tiering_policy('regress_renamed', tier => 'regress_cheap', idle_for => '1 day', options => '{"key_unit": "seconds"}')
SELECT tiered_storage.alter_policy('regress_renamed', changes => '{"move_after": "1 day"}')
SELECT tiered_storage.alter_policy('regress_renamed', changes => '{"below_reads_per_hour": "-1"}')
$refused$);
\set VERBOSITY sqlstate
SELECT tiered_storage.add_tiering_policy('regress_temporary', tier => 'regress_cheap', idle_for => '1 day');
\set VERBOSITY default
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('regress_unlogged', tier => 'regress_cheap', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('regress_view', tier => 'regress_cheap', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('regress_sequence', tier => 'regress_cheap', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('regress_foreign', tier => 'regress_cheap', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('regress_l_2_k', tier => 'regress_cheap', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('pg_class', tier => 'regress_cheap', idle_for => '1 day')
SELECT tiered_storage.add_tiering_policy('_tiered_storage.tier', tier => 'regress_cheap', idle_for => '1 day')
$refused$);

DROP TABLE regress_l, regress_r, regress_renamed, "Regress parent", regress_child, regress_grandchild, regress_hash,
	regress_text, regress_unlogged CASCADE;
DROP VIEW regress_verdicts, regress_view;
DROP SEQUENCE regress_sequence;
DROP FOREIGN DATA WRAPPER regress_fdw CASCADE;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
