-- Fullness policies of several tiers: what leaves one comes to the next, which has room, or makes it.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/fullness.sql

\echo '-- A chain, and room'

SET client_min_messages = warning;
SET tiered_storage.cooldown = 0;
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow') AS fast \gset
\echo '-- 95 of 100, and 355 of 400 blocks: the second one is below its mark, but not with what comes.'
CALL regress_table('regress_f1', 20, 1000);
CALL regress_table('regress_f2', 75, 50000);
CALL regress_table('regress_s1', 100, 10, 'regress_ts_slow');
CALL regress_table('regress_s2', 255, 500, 'regress_ts_slow');
CALL regress_observe();
RESET client_min_messages;
\echo '-- Nothing may come to it beyond its mark.'
SELECT relation, verdict, to_tier, reason FROM regress_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_result;
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress_cold') AS slow \gset
SELECT relation, verdict, to_tier, reason FROM regress_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT * FROM regress_result;
SELECT relation, policy_id = :fast AS fast, policy_id = :slow AS slow FROM _tiered_storage.moves
	WHERE batch_id = (SELECT max(batch_id) FROM _tiered_storage.moves) ORDER BY move_id;
\echo '-- Ranks are changed under a policy.'
SELECT tiered_storage.alter_tier('regress_cold', rank => 1) \gset
SELECT policy_id = :slow AS slow, relation, verdict, place, reason FROM _tiered_storage.evaluate_policies()
	WHERE from_tier = 'regress_slow';
CALL tiered_storage.migrate();
SELECT last_fill, last_leaving, last_result FROM _tiered_storage.fullness_policies WHERE policy_id = :slow;
SELECT tiered_storage.alter_tier('regress_cold', rank => 2) \gset
\echo '-- And marks under one that has given one of them.'
SELECT tiered_storage.alter_policy(tier => 'regress_slow', changes => '{"low_watermark": 0.85}') \gset
SELECT tiered_storage.alter_tier('regress_slow', low_watermark => 0.05, high_watermark => 0.1) \gset
SELECT verdict, reason FROM _tiered_storage.evaluate_policies() WHERE policy_id = :slow;
SELECT tier_name, available_bytes / 8192 AS available FROM _tiered_storage.placement_summary()
	WHERE tier_name = 'regress_slow';
SELECT tiered_storage.remove_policy(tier => 'regress_slow') \gset

\echo '-- Two tiers that are emptied to one, which has room for what leaves one of them.'
SET client_min_messages = warning;
DROP TABLE regress_f1, regress_f2, regress_s1, regress_s2;
SELECT tiered_storage.alter_tier('regress_slow', low_watermark => 0.8, high_watermark => 0.9),
	tiered_storage.alter_tier('regress_cold', device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
CALL regress_table('regress_f1', 20, 1000);
CALL regress_table('regress_f2', 75, 50000);
CALL regress_table('regress_s1', 80, 10, 'regress_ts_slow');
CALL regress_table('regress_s2', 290, 500, 'regress_ts_slow');
CALL regress_observe();
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": "regress_cold"}'),
	tiered_storage.add_fullness_policy('regress_slow', 'regress_cold') \g /dev/null
SELECT relation, verdict, place, to_tier FROM regress_says;
\echo '-- A policy that is not enabled takes none of it.'
SELECT tiered_storage.alter_policy(tier => 'regress_slow', enabled => false) \g /dev/null
SELECT relation, verdict, place, to_tier FROM regress_says;
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": "regress_slow"}'),
	tiered_storage.remove_policy(tier => 'regress_slow'), tiered_storage.alter_tier('regress_cold',
	device => jsonb_build_object('capacity_bytes', 1000 * 8192)) \g /dev/null

\echo '-- What finds no room there, whatever leaves for it, lets nothing leave.'
SET client_min_messages = warning;
DROP TABLE regress_f1, regress_f2, regress_s1, regress_s2;
SELECT tiered_storage.alter_tier('regress_slow', device => jsonb_build_object('capacity_bytes', 150 * 8192)),
	tiered_storage.add_fullness_policy('regress_slow', 'regress_cold') \g /dev/null
CALL regress_table('regress_f1', 80, 0);
CALL regress_table('regress_f2', 15, 50000);
CALL regress_table('regress_s0', 75, 0, 'regress_ts_slow');
CALL regress_table('regress_s1', 10, 100, 'regress_ts_slow');
CALL regress_table('regress_s2', 10, 200, 'regress_ts_slow');
CALL regress_observe();
SELECT tiered_storage.pin('regress_s0', 'regress_slow'), tiered_storage.pin('regress_f2', 'regress_fast') \g /dev/null
SELECT relation, verdict, place, to_tier, reason FROM regress_says;
RESET client_min_messages;
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT * FROM regress_result;
\echo '-- What does, lets as much leave as it takes.'
SELECT tiered_storage.unpin('regress_f2'), tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', 110 * 8192)) \g /dev/null
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT * FROM regress_result;

\echo '-- What waits for what is due on its tier is not about to come yet.'
SET client_min_messages = warning;
DROP TABLE regress_f1, regress_f2, regress_s0, regress_s1, regress_s2;
SELECT tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', 50 * 8192)) \g /dev/null
CREATE TABLE regress_o (day date, value text) PARTITION BY RANGE (day);
CREATE TABLE regress_o_2023 PARTITION OF regress_o FOR VALUES
	FROM ('2023-01-01') TO ('2024-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_o_2020 PARTITION OF regress_o FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
ALTER TABLE regress_o_2020 ALTER value SET STORAGE plain;
ALTER TABLE regress_o_2023 ALTER value SET STORAGE plain;
INSERT INTO regress_o SELECT '2020-02-02', repeat('x', 7900) FROM generate_series(1, 31);
INSERT INTO regress_o SELECT '2023-02-02', repeat('x', 7900) FROM generate_series(1, 4);
CALL regress_table('regress_f1', 30, 10);
CALL regress_table('regress_f2', 27, 50000);
DO $$ BEGIN FOR i IN 1 .. 8 LOOP CALL regress_table('regress_s' || i, 5, 100 * i, 'regress_ts_slow'); END LOOP; END $$;
CALL regress_observe();
SELECT tiered_storage.add_tiering_policy('regress_o', '1 year', 'regress_slow'),
	tiered_storage.add_tiering_policy('regress_o', '5 years', 'regress_cold') \g /dev/null
RESET client_min_messages;
SELECT * FROM regress_fill;
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT relation, from_tier, to_tier, state FROM _tiered_storage.moves WHERE batch_id >= (SELECT max(batch_id) - 1
	FROM _tiered_storage.moves) ORDER BY move_id;
SET client_min_messages = warning;
SELECT tiered_storage.remove_policy('regress_o', 'regress_slow'),
	tiered_storage.remove_policy('regress_o', 'regress_cold') \g /dev/null
SELECT tiered_storage.remove_policy(tier => 'regress_slow'), tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', 400 * 8192)) \g /dev/null
DROP TABLE regress_o, regress_s1, regress_s2, regress_s3, regress_s4, regress_s5, regress_s6, regress_s7, regress_s8;

\echo '-- Days before'

\echo '-- It grows, and the target has room for less.'
SET client_min_messages = warning;
DROP TABLE regress_f1, regress_f2;
CALL regress_table('regress_s1', 355, 500, 'regress_ts_slow');
CALL regress_table('regress_f1', 40, 1000);
CALL regress_table('regress_f2', 30, 50000);
SET tiered_storage.test_now = '2026-09-01 00:00:00+00';
CALL tiered_storage.sample();
DO $$
BEGIN
	FOR day IN 1 .. 12 LOOP
		PERFORM set_config('tiered_storage.test_now', (timestamptz '2026-09-01' + day * interval '1 day')::text,
			false);
		CALL regress_grow('regress_f2', 1);
		COMMIT;
		CALL tiered_storage.sample();
		CALL tiered_storage.migrate();
	END LOOP;
END
$$;
RESET client_min_messages;
SELECT * FROM regress_result;
\echo '-- The next policy of a chain will make room.'
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress_cold') \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_result;
SELECT tiered_storage.remove_policy(tier => 'regress_slow') \gset
SELECT tiered_storage.pin('regress_f1'), tiered_storage.pin('regress_f2') \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_result;
SELECT tiered_storage.unpin('regress_f1'), tiered_storage.unpin('regress_f2') \g /dev/null
DROP TABLE regress_s1;
CALL tiered_storage.migrate();
SELECT * FROM regress_result;
DROP TABLE regress_f1, regress_f2;

SET client_min_messages = warning;
DROP VIEW regress_fill, regress_says, regress_result;
DROP EXTENSION tiered_storage;
DROP TABLE regress_heat;
DROP PROCEDURE regress_grow, regress_table, regress_observe;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cold;
