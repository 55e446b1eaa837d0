-- What was moved lately stays for a while, whoever moved it.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
CREATE TABLESPACE regress_ts_slow_too LOCATION '';
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000000,
	device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow,regress_ts_slow_too}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 100000,
	device => '{"compressed": false}');
END
$$;
RESET client_min_messages;
\set ECHO all
SHOW tiered_storage.cooldown;
-- The message has units from 17 on.
\set VERBOSITY sqlstate
SET tiered_storage.cooldown = -1;
\set ECHO none
\set VERBOSITY default
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';

-- All are hot.
CREATE TABLE regress_r_stays (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_r_ours (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_r_hand (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_r_toast (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_stays_i ON regress_r_stays (a) TABLESPACE regress_ts_fast;
INSERT INTO regress_r_stays VALUES (1);
INSERT INTO regress_r_ours VALUES (1);
INSERT INTO regress_r_hand VALUES (1);
INSERT INTO regress_r_toast VALUES ('x');
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
CREATE PROCEDURE regress_heat() LANGUAGE sql AS $$
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; moves of
	-- another time, size or end.
	UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00',
		observed_since = '2020-01-01', sampled_since = '2029-12-01',
		random_fast = 20000, random_slow = 20000, device_random_fast = 20000, device_random_slow = 20000
$$;
CREATE VIEW regress_placed AS
	SELECT relation, tier_name, placed_at FROM _tiered_storage.heat WHERE relation::text ~ '^regress_r'
		ORDER BY relation::text COLLATE "C";
CREATE VIEW regress_advice AS
	SELECT relation, current_tier, recommended_tier, confidence FROM tiered_storage.recommend_placement()
		ORDER BY relation::text COLLATE "C";
CALL regress_heat();
\set ECHO all
SELECT * FROM regress_placed;
SELECT * FROM regress_advice;

-- By us.
CALL tiered_storage.move_relation('regress_r_ours', 'regress_slow');
CALL tiered_storage.move_relation('regress_r_toast', 'regress_slow');
CALL tiered_storage.move_relation('regress_r_stays_i', 'regress_slow');
SELECT * FROM regress_placed;
SELECT h.tier_name, h.placed_at FROM _tiered_storage.heat h JOIN pg_class c ON c.reltoastrelid = h.relation
	WHERE c.oid = 'regress_r_toast'::regclass;
-- By hand: seen by the next sample, and by the advice at once.
ALTER TABLE regress_r_hand SET TABLESPACE regress_ts_slow;
SELECT * FROM regress_advice;
SELECT relation, regexp_replace(reason, '^.*hour;', '...;') AS reason FROM tiered_storage.recommend_placement(true)
	WHERE relation = 'regress_r_hand'::regclass;
SET tiered_storage.test_now = '2030-01-01 03:00:00+00';
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT * FROM regress_placed;
SELECT * FROM regress_advice;
SELECT relation, regexp_replace(reason, '^.*hour;', '...;') AS reason FROM tiered_storage.recommend_placement(true)
	WHERE relation::text ~ 'regress_r' AND relation <> 'regress_r_stays'::regclass ORDER BY relation::text COLLATE "C";
SELECT tier_name, is_recommended, regexp_replace(reason, '^.*hour;', '...;') AS reason
	FROM _tiered_storage.explain_placement('regress_r_hand');
\set VERBOSITY terse
CALL tiered_storage.apply_placement(dry_run => true);
-- A rewrite is no move.
SET tiered_storage.test_now = '2030-01-01 05:00:00+00';
TRUNCATE regress_r_hand;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT * FROM regress_placed;
-- Also within a tier.
CALL tiered_storage.move_relation('regress_r_hand', 'regress_ts_slow_too');
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT * FROM regress_placed WHERE relation = 'regress_r_hand'::regclass;
-- The time is over, for some.
SET tiered_storage.test_now = '2030-01-01 23:59:00+00';
SELECT * FROM regress_advice;
SET tiered_storage.test_now = '2030-01-02 00:00:00+00';
SELECT * FROM regress_advice;
SET tiered_storage.test_now = '2030-01-02 05:00:00+00';
SELECT * FROM regress_advice;
-- Shorter, and not at all.
SET tiered_storage.test_now = '2030-01-01 06:00:00+00';
SET tiered_storage.cooldown = '90min';
SELECT * FROM regress_advice;
SELECT regexp_replace(reason, '^.*hour;', '...;') AS reason FROM tiered_storage.recommend_placement(true)
	WHERE relation = 'regress_r_hand'::regclass;
SET tiered_storage.cooldown = 0;
SELECT * FROM regress_advice;
RESET tiered_storage.cooldown;
-- A pin is said by a person, and does not wait.
SELECT tiered_storage.pin('regress_r_hand', 'regress_fast');
SELECT * FROM regress_advice WHERE relation = 'regress_r_hand'::regclass;
SELECT tiered_storage.unpin('regress_r_hand');
-- A clock that was set back does not keep it longer than that.
UPDATE _tiered_storage.relation_state SET placed_at = '2035-01-01' WHERE relation_oid = 'regress_r_hand'::regclass;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT * FROM regress_placed WHERE relation = 'regress_r_hand'::regclass;

-- Nor what no sample has seen where it was before, or an index that was rebuilt since.
RESET tiered_storage.test_now;
CREATE TABLE regress_r_new (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE INDEX regress_r_new_i ON regress_r_new (a) TABLESPACE regress_ts_fast;
INSERT INTO regress_r_new VALUES (1);
CALL tiered_storage.move_relation('regress_r_new', 'regress_slow');
REINDEX INDEX CONCURRENTLY regress_r_new_i;
SELECT relation, reason LIKE 'moved to regress\_slow % ago: stays for %' AS stays
	FROM tiered_storage.recommend_placement(true) WHERE relation::text ~ '^regress_r_new'
		ORDER BY relation::text COLLATE "C";
CALL tiered_storage.sample();
SELECT relation, reason LIKE 'moved to regress\_slow % ago: stays for %' AS stays
	FROM tiered_storage.recommend_placement(true) WHERE relation::text ~ '^regress_r_new'
		ORDER BY relation::text COLLATE "C";
-- What has been brought elsewhere since stays, too, also where a crash has lost the state that says so.
ALTER TABLE regress_r_new SET TABLESPACE regress_ts_fast;
DELETE FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_r_new'::regclass;
SELECT relation, reason LIKE '%moved to %' AS stays FROM tiered_storage.recommend_placement(true)
	WHERE relation = 'regress_r_new'::regclass;

-- What is asked is known for as long, also beyond history_retention, which is 90 days.
UPDATE _tiered_storage.move SET started_at = '2049-09-20', finished_at = '2049-09-20';
UPDATE _tiered_storage.sampler SET rolled_up_until = '2049-12-01';
SET tiered_storage.cooldown = '120d';
SELECT set_config('tiered_storage.test_now', '2050-01-01 01:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT count(*) > 0 AS known FROM _tiered_storage.move;
RESET tiered_storage.cooldown;
UPDATE _tiered_storage.sampler SET rolled_up_until = '2049-12-01';
SELECT set_config('tiered_storage.test_now', '2050-01-01 02:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT count(*) > 0 AS known FROM _tiered_storage.move;

\set ECHO none
SET client_min_messages = warning;
DROP VIEW regress_placed, regress_advice;
DROP TABLE regress_r_stays, regress_r_ours, regress_r_hand, regress_r_toast, regress_r_new;
DROP PROCEDURE regress_heat;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_slow_too;
\set ECHO all
