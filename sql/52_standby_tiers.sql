-- Devices of standbys: a layout that suits all servers.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, compressed => false),
	tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, compressed => false) \g /dev/null
SET tiered_storage.track_access = off;
SET tiered_storage.cooldown = 0;

---------------------------------------------------------------------------
-- Telling
---------------------------------------------------------------------------

SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', 'hdd_7200');
-- As add_standby() leaves it; nobody is asked in what follows.
INSERT INTO _tiered_storage.standby (standby_name, conninfo, added_by, added_by_oid) VALUES
	('regress_r1', 'host=/nowhere', 'nobody', 0), ('regress "r2"', 'host=/nowhere', 'nobody', 0);
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_none', 'hdd_7200');
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', 'floppy');
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', random_read_ms => 0);
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', random_read_ms => 'NaN');
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', sequential_read_mb_per_s => 'Infinity');
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', parallelism => -1);
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', capacity_bytes => 0);
SELECT tiered_storage.set_standby_tier(NULL, 'regress_fast');
SELECT tiered_storage.set_standby_tier('regress_r1', NULL);
SELECT count(*) FROM tiered_storage.standby_tiers;
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', 'hdd_7200', parallelism => 2, capacity_bytes => 1000000);
SELECT tiered_storage.set_standby_tier('regress "r2"', 'regress_fast');
SELECT * FROM tiered_storage.standby_tiers ORDER BY 1, 2;
-- Told anew, nothing of before is left; a tier that is renamed keeps what was told.
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', random_read_ms => 3);
SELECT tiered_storage.alter_tier('regress_fast', new_name => 'regress_quick');
SELECT * FROM tiered_storage.standby_tiers ORDER BY 1, 2;
SELECT tiered_storage.alter_tier('regress_quick', new_name => 'regress_fast');
SELECT tiered_storage.remove_standby_tier('regress "r2"', 'regress_fast');
SELECT tiered_storage.remove_standby_tier('regress "r2"', 'regress_fast');
SELECT tiered_storage.remove_standby_tier('regress "r2"', 'regress_fast', if_exists => true);
SELECT tiered_storage.set_standby_tier('regress "r2"', 'regress_slow');
SELECT tiered_storage.remove_standby('regress "r2"');
SELECT standby_name, tier_name FROM tiered_storage.standby_tiers ORDER BY 1, 2;
SELECT tiered_storage.remove_standby_tier('regress_r1', 'regress_fast');

---------------------------------------------------------------------------
-- Which layout
---------------------------------------------------------------------------

-- Four tables of one block, read as often; the first two by users of the standby, the first at random and the second in sequence, the others by those of the primary.
CREATE TABLE regress_s_there (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_s_scanned_there (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_s_here (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_s_both (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
INSERT INTO regress_s_there VALUES (1);
INSERT INTO regress_s_scanned_there VALUES (1);
INSERT INTO regress_s_here VALUES (1);
INSERT INTO regress_s_both VALUES (1);
SELECT pg_stat_force_next_flush() \g /dev/null
CREATE PROCEDURE regress_observe(reads float8) LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.sample();
	UPDATE _tiered_storage.standby SET added_at = now() - interval '30 days';
	INSERT INTO _tiered_storage.standby_state (standby_name, last_attempt_at, last_pull_at, next_pull_at, failures) SELECT standby_name, now(), now(), now(), 0 FROM _tiered_storage.standby
		ON CONFLICT (standby_name) DO UPDATE SET last_pull_at = now(), failures = 0;
	UPDATE _tiered_storage.relation_state SET heat_at = clock_timestamp(), evidence_began_at = clock_timestamp() - interval '7 days', evidence_interval_s = 38400,
		evidence_reads = decode(repeat('0000803f', 16), 'hex'), evidence_writes = decode(repeat('0000803f', 16), 'hex'),
		observed_since = clock_timestamp() - interval '1 year', sampled_since = clock_timestamp() - interval '30 days', proven_since = clock_timestamp() - interval '30 days',
		random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0, sequential_high_slow = 0,
		hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0, placed_at = NULL;
	-- No two are worth the same, or it is chance which of them finds room.
	UPDATE _tiered_storage.relation_state SET random_slow = reads * CASE relation_oid WHEN 'regress_s_here'::regclass THEN 0.9999 ELSE 1 END
		WHERE relation_oid IN ('regress_s_there'::regclass, 'regress_s_here'::regclass, 'regress_s_both'::regclass);
	UPDATE _tiered_storage.relation_state SET sequential_fast = 1000 * reads, sequential_slow = 1000 * reads, sequential_low_slow = 1000 * reads, sequential_high_slow = 1000 * reads, scans_slow = 1
		WHERE relation_oid = 'regress_s_scanned_there'::regclass;
	UPDATE _tiered_storage.relation_state SET random_fast = random_slow, device_random_fast = random_slow, device_random_slow = random_slow,
		device_sequential_fast = sequential_fast, device_sequential_slow = sequential_slow, standby_fast = 0, standby_sequential_fast = 0;
	UPDATE _tiered_storage.relation_state SET standby_fast = random_fast + sequential_fast, standby_sequential_fast = sequential_fast
		WHERE relation_oid IN ('regress_s_there'::regclass, 'regress_s_scanned_there'::regclass);
	UPDATE _tiered_storage.relation_state SET standby_fast = random_fast / 4
		WHERE relation_oid = 'regress_s_both'::regclass;
	DELETE FROM _tiered_storage.standby_heat;
	INSERT INTO _tiered_storage.standby_heat SELECT 'regress_r1', c.oid, 1, now() FROM pg_class c
		WHERE c.relname IN ('regress_s_there', 'regress_s_scanned_there', 'regress_s_both');
END
$$;
CREATE FUNCTION regress_advice() RETURNS TABLE (relation text, goes_to name, reason text) LANGUAGE sql AS $$
	SELECT relation::text, NULLIF(recommended_tier, current_tier), reason FROM tiered_storage.recommend_placement(true) WHERE relation::text LIKE 'regress%' ORDER BY relation::text COLLATE "C"
$$;
CALL regress_observe(1000);
-- Nothing is told: all reads are those of the devices here.
SELECT * FROM regress_advice();
-- There, what is fast here is slow: users of the standby are served best where they are.
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', 'hdd_7200'), tiered_storage.set_standby_tier('regress_r1', 'regress_slow', 'nvme');
SELECT * FROM regress_advice();
-- What each costs is the sum, here and there.
SELECT tier_name, round(io_s_per_hour::numeric, 2) AS busy, round(random_read_s_per_hour::numeric, 2) AS random, round(sequential_read_s_per_hour::numeric, 2) AS sequential
	FROM tiered_storage.explain_placement('regress_s_both') WHERE tier_name LIKE 'regress%' ORDER BY 1;
-- As fast as here: all of them go, and the reason names the standby where it gains most by that.
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast'), tiered_storage.set_standby_tier('regress_r1', 'regress_slow');
SELECT * FROM regress_advice();
-- Half of the reads are those of another standby, of which nothing was told: they count here.
INSERT INTO _tiered_storage.standby (standby_name, conninfo, added_by, added_by_oid) VALUES ('regress_r2', 'host=/nowhere', 'nobody', 0);
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_slow', 'nvme');
INSERT INTO _tiered_storage.standby_heat SELECT 'regress_r2', relation_oid, reads, reads_at FROM _tiered_storage.standby_heat;
SELECT tier_name, round(io_s_per_hour::numeric, 2) AS busy FROM tiered_storage.explain_placement('regress_s_there') WHERE tier_name LIKE 'regress%' ORDER BY 1;
-- What was read there long ago counts less than what was read lately.
UPDATE _tiered_storage.standby_heat SET reads_at = now() - interval '1 day' WHERE standby_name = 'regress_r2';
SELECT tier_name, round(io_s_per_hour::numeric, 1) AS busy FROM tiered_storage.explain_placement('regress_s_there') WHERE tier_name LIKE 'regress%' ORDER BY 1;
SELECT tiered_storage.remove_standby('regress_r2');

---------------------------------------------------------------------------
-- Limits
---------------------------------------------------------------------------

-- Where there is room for two blocks on the standby, there is room for two; the mover keeps to it, too.
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', capacity_bytes => 20000), tiered_storage.remove_standby_tier('regress_r1', 'regress_slow');
SELECT * FROM regress_advice();
SELECT tier_name, limited_by, reason FROM tiered_storage.placement_summary() WHERE tier_name LIKE 'regress%' ORDER BY 1;
CALL tiered_storage.move_relation('regress_s_here', 'regress_fast');
CALL tiered_storage.move_relation('regress_s_both', 'regress_fast');
CALL tiered_storage.move_relation('regress_s_there', 'regress_fast');
CALL tiered_storage.move_relation('regress_s_here', 'regress_slow');
CALL tiered_storage.move_relation('regress_s_both', 'regress_slow');
-- A device of the standby that would be too busy.
CALL regress_observe(100000);
SELECT tiered_storage.set_standby_tier('regress_r1', 'regress_fast', random_read_ms => 30, parallelism => 1), tiered_storage.set_standby_tier('regress_r1', 'regress_slow', random_read_ms => 60, parallelism => 1);
SELECT * FROM regress_advice();
SELECT tier_name, limited_by, reason FROM tiered_storage.placement_summary() WHERE tier_name LIKE 'regress%' ORDER BY 1;

DROP FUNCTION regress_advice;
DROP PROCEDURE regress_observe;
DROP TABLE regress_s_there, regress_s_scanned_there, regress_s_here, regress_s_both;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
