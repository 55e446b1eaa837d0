-- Tiers where nothing can be put: without a tablespace, or with one whose directory is not there.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.track_access = off;
SET tiered_storage.cooldown = 0;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
-- A hot table and a cold one, each taken to have 1 MB, observed for a month.
CREATE TABLE regress_c_hot (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_c_cold (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
INSERT INTO regress_c_hot VALUES (1);
INSERT INTO regress_c_cold VALUES (1);
CREATE PROCEDURE regress_observe() LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.sample();
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
	UPDATE _tiered_storage.relation_state SET size_bytes = 128 * size_bytes, evidence_interval_s = 0,
		heat_at = '2030-01-01 00:00:00+00', observed_since = '2020-01-01', sampled_since = '2029-12-01',
		random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
			sequential_high_slow = 0, device_sequential_fast = 0, device_sequential_slow = 0,
		hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, placed_at = NULL, device_random_fast = 0,
			device_random_slow = 0;
	UPDATE _tiered_storage.relation_state SET random_fast = 10000, random_slow = 10000, device_random_fast = 10000,
		device_random_slow = 10000 WHERE relation_oid = 'regress_c_hot'::regclass;
END
$$;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_observe();
CREATE VIEW regress_moves AS SELECT relation, recommended_tier, confidence, command
	FROM tiered_storage.recommend_placement();
CREATE VIEW regress_says AS SELECT tier_name, advised_relations, available_bytes, limited_by, reason
	FROM _tiered_storage.placement_summary() WHERE tier_name = 'regress_fast';
CREATE VIEW regress_explains AS SELECT tier_name, is_recommended, available_bytes > 0 AS room, fits, reason
	FROM _tiered_storage.explain_placement('regress_c_hot') WHERE tier_name = 'regress_fast';
\set ECHO all
SELECT relation, recommended_tier, confidence FROM regress_moves;

---------------------------------------------------------------------------
-- The directory is not there: what the file system of the mount point has is not the tier's
---------------------------------------------------------------------------

SELECT 'pg_tblspc/' || oid AS directory FROM pg_tablespace WHERE spcname = 'regress_ts_fast' \gset
SELECT pg_ls_dir AS version FROM pg_ls_dir(:'directory') \gset
\set away 'COPY (SELECT WHERE false) TO PROGRAM ''mv ' :directory / :version ' ' :directory '/away'''
:away;
SELECT tablespaces, capacity_bytes, used_bytes, free_bytes FROM _tiered_storage.tiers WHERE tier_name = 'regress_fast';
SELECT path_exists, total_bytes, free_bytes FROM _tiered_storage.tablespace_devices()
	WHERE tablespace_name = 'regress_ts_fast';
SELECT * FROM regress_moves;
SELECT * FROM regress_says;
SELECT * FROM regress_explains;
SELECT tier_name, simulated_bytes, reason
	FROM _tiered_storage.simulate_placement('{"regress_fast": {"capacity_bytes": 1000000000}}')
		WHERE tier_name = 'regress_fast';
SELECT capacity_bytes, used_bytes, is_current, reason FROM _tiered_storage.tier_size_curve('regress_fast');
CALL tiered_storage.apply_placement(dry_run => true);
\set VERBOSITY sqlstate
CALL tiered_storage.move_relation('regress_c_hot', 'regress_fast');
\set VERBOSITY default
-- Not even what is pinned there.
SELECT tiered_storage.pin('regress_c_cold', 'regress_fast') \g /dev/null
SELECT relation, recommended_tier, reason, command FROM tiered_storage.recommend_placement(true)
	ORDER BY relation::text COLLATE "C";
SELECT tier_name, is_recommended, fits, reason FROM _tiered_storage.explain_placement('regress_c_cold')
	ORDER BY tier_name;
SELECT tiered_storage.unpin('regress_c_cold') \g /dev/null
-- Money is no reason either.
SELECT tiered_storage.alter_tier('regress_fast', price_per_gb_month => 0), tiered_storage.alter_tier('regress_slow',
	price_per_gb_month => 10000), tiered_storage.alter_tier('regress_cheap', price_per_gb_month => 1000) \g /dev/null
SELECT DISTINCT recommended_tier FROM tiered_storage.recommend_placement(true, objective => 'money');
SELECT count(*) AS to_nowhere FROM _tiered_storage.unused_relations('0') WHERE cheapest_tier = 'regress_fast';
\set back 'COPY (SELECT WHERE false) TO PROGRAM ''mv ' :directory '/away ' :directory / :version ''''
:back;
SELECT relation, recommended_tier, confidence FROM regress_moves;
-- One of two is enough.
CREATE TABLESPACE regress_ts_second LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{regress_ts_fast, regress_ts_second}') \g /dev/null
RESET client_min_messages;
:away;
SELECT relation, recommended_tier, confidence FROM regress_moves;
CALL tiered_storage.apply_placement(dry_run => true);
:back;
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{regress_ts_fast}') \g /dev/null
RESET client_min_messages;
DROP TABLESPACE regress_ts_second;

---------------------------------------------------------------------------
-- No tablespace
---------------------------------------------------------------------------

DROP TABLESPACE regress_ts_fast;
SELECT * FROM regress_moves;
SELECT * FROM regress_says;
SELECT * FROM regress_explains;
CALL tiered_storage.apply_placement(dry_run => true);
SELECT tiered_storage.remove_tier('regress_fast') \g /dev/null
SELECT * FROM regress_moves;

---------------------------------------------------------------------------
-- What is said of those that stay
---------------------------------------------------------------------------

-- What is only scanned is not read at random.
UPDATE _tiered_storage.relation_state SET sequential_fast = 1000000, sequential_slow = 1000000,
	sequential_low_slow = 1000000, sequential_high_slow = 1000000,
	device_sequential_fast = 1000000, device_sequential_slow = 1000000, scans_slow = 100
		WHERE relation_oid = 'regress_c_cold'::regclass;
SELECT relation, recommended_tier, reason FROM tiered_storage.recommend_placement(true)
	ORDER BY relation::text COLLATE "C";
-- What was not read for long enough, and what is in the way of a row.
UPDATE _tiered_storage.relation_state SET last_read_at = '2029-12-01', proven_since = '2029-12-01';
SELECT count(*) FROM _tiered_storage.unused_relations('1 day');
SELECT count(*) FROM _tiered_storage.unused_relations('2 months');
UPDATE _tiered_storage.relation_state SET size_bytes = size_bytes / 2;
SELECT count(*) FROM _tiered_storage.unused_relations('1 day');
UPDATE _tiered_storage.relation_state SET size_bytes = size_bytes * 2;
SELECT tiered_storage.remove_tier('regress_slow'), tiered_storage.remove_tier('regress_cheap') \g /dev/null
SELECT count(*) FROM _tiered_storage.unused_relations('1 day');
UPDATE _tiered_storage.relation_state SET last_read_at = '2029-12-31 23:59:00+00';
SELECT count(*) FROM _tiered_storage.unused_relations('8 minutes');

SET client_min_messages = warning;
DROP VIEW regress_moves, regress_says, regress_explains;
DROP PROCEDURE regress_observe;
DROP TABLE regress_c_hot, regress_c_cold;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
