-- Fullness policies: a tier above its high watermark is emptied down to its low one.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/fullness.sql
\echo '-- What memory serves'

CALL regress_table('regress_scanned', 30, 0);
CALL regress_table('regress_unread', 32, 0);
CALL regress_table('regress_loaded', 32, 0);
CALL regress_observe();
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow') AS served \gset
SELECT count(*) FROM regress_scanned, generate_series(1, 3) \g /dev/null
SELECT count(*) FROM regress_scanned \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
SET tiered_storage.test_now = '2026-01-01 01:00:00+00';
CALL regress_observe();
\echo '-- None costs device time.  The one that is read from memory leaves last.'
SELECT relation, verdict, place, lost FROM regress_says ORDER BY place;
SELECT tiered_storage.remove_policy(policy_id => :served) \gset
DROP TABLE regress_scanned, regress_unread, regress_loaded;
DELETE FROM regress_heat;
SET tiered_storage.test_now = '2026-01-01 00:00:00+00';

\echo '-- Above the mark'

CALL regress_table('regress_a', 10, 1000);
CALL regress_table('regress_b', 10, 2000);
CALL regress_table('regress_c', 30, 9000);
CALL regress_table('regress_d', 40, 80000);
CALL regress_observe();
\echo '-- Off unless a policy asks for it.'
CALL tiered_storage.migrate();
SELECT * FROM _tiered_storage.evaluate_policies();
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow') AS fast \gset
\echo '-- 90 blocks: at the mark, not above it.'
SELECT * FROM regress_says;
CALL tiered_storage.migrate();
SELECT policy_id = :fast AS ours, tier_name, target_name, high_watermark, low_watermark, follows_tier,
	created_by = current_user AS by_us, created_by_oid = current_user::regrole AS by_our_oid,
	last_evaluated_at IS NOT NULL AS evaluated, last_fill, last_leaving, last_result, enabled
		FROM _tiered_storage.fullness_policies;
\echo '-- The same share everywhere, of a capacity that is a third of what is there.'
SELECT tiered_storage.alter_tier('regress_fast', device => jsonb_build_object('capacity_bytes', 30 * 8192)) \g /dev/null
SELECT t.used, (SELECT string_agg(DISTINCT substring(reason from 'is ([0-9.]+) % full'), ' ') FROM regress_says) AS policy,
	tiered_storage.report() ~ '<data value="3">' AS report
	FROM tiered_storage.tiers t WHERE t.tier_name = 'regress_fast';
SELECT tiered_storage.alter_tier('regress_fast', device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
\echo '-- 91 blocks: the coldest two would be enough, or the third alone; not the hottest one, however small.'
CALL regress_table('regress_e', 1, 100000);
CALL regress_observe();
SELECT * FROM regress_says;
CALL tiered_storage.migrate(dry_run => true);
SELECT * FROM regress_fill;
\echo '-- It says that moves are paused.'
SELECT tiered_storage.pause() \gset
CALL tiered_storage.migrate(dry_run => true);
SELECT tiered_storage.resume() \gset
\echo '-- It knows what windows have left.  What waits for one leaves then, and nothing hotter in its place.'
SELECT tiered_storage.add_move_window('little', NULL, '0:00', '24:00', 'UTC',
	max_bytes => pg_table_size('regress_b') + 8192) \g /dev/null
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate(dry_run => true, ignore_windows => true);
SELECT tiered_storage.remove_move_window('little') \g /dev/null
\echo '-- Nothing leaves while move windows are closed.'
SELECT tiered_storage.add_move_window('never', NULL, '1:00', '2:00', enabled => false) \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT * FROM regress_result;
SELECT tiered_storage.remove_move_window('never') \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT * FROM regress_result;
CALL tiered_storage.migrate();
SELECT relation, from_tier, to_tier, state, policy_id = :fast AS by_policy, policy_kind, size_bytes / 8192 AS blocks,
	round(predicted_saved_io_s_per_hour::numeric, 1) AS saved, reason
	FROM _tiered_storage.moves ORDER BY move_id;
SELECT batch_id AS batch, kind, moves_done FROM _tiered_storage.move_batches \gset
\echo :kind :moves_done
\echo '-- What it saves: the price of the storage, at a loss of device time.'
BEGIN;
SELECT tiered_storage.alter_tier('regress_fast', price_per_gb_month => 20000),
	tiered_storage.alter_tier('regress_slow', price_per_gb_month => 10000) \g /dev/null
SELECT round(b.saved_price_per_month::numeric, 9) = round(b.moved_bytes / 1e9 * 10000, 9) AS is_price, p.predicted
	FROM _tiered_storage.move_batches b JOIN tiered_storage.move_batches p USING (batch_id);
ROLLBACK;

\echo '-- The advice and the policy do not work against each other'

\echo '-- What has left is not brought back at once, though it would be faster.'
SELECT relation, recommended_tier, reason FROM tiered_storage.recommend_placement(true)
	WHERE current_tier = 'regress_slow' ORDER BY 1;
\echo '-- Nor later: there is room for both below the capacity, but not below the low watermark, and above it they would soon'
\echo '-- have to leave again.'
SET tiered_storage.cooldown = 0;
SELECT tier_name, available_bytes / 8192 AS available, used_bytes / 8192 AS used, advised_bytes / 8192 AS advised
	FROM _tiered_storage.placement_summary() WHERE tier_name = 'regress_fast';
SET client_min_messages = warning;
CALL tiered_storage.apply_placement('tentative');
CALL tiered_storage.migrate();
CALL regress_observe();
CALL tiered_storage.apply_placement('tentative');
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
\echo '-- Without the policy they come, and with it they would leave again.'
SELECT tiered_storage.alter_policy(tier => 'regress_fast', enabled => false) \gset
SELECT tier_name, available_bytes / 8192 AS available FROM _tiered_storage.placement_summary()
	WHERE tier_name = 'regress_fast';
SELECT * FROM regress_result;
RESET client_min_messages;
CALL tiered_storage.migrate();
\echo '-- Files have more than what the marks of this script count: their free space maps.'
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 130 * 8192)) \g /dev/null
CALL tiered_storage.apply_placement('tentative');
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
SELECT relation, verdict FROM regress_says;
SELECT tiered_storage.alter_policy(policy_id => :fast, enabled => true) \gset
\echo '-- What is above the high watermark has to leave by the advice, too, but not more.'
SELECT tier_name, available_bytes / 8192 AS available, used_bytes / 8192 AS used
	FROM _tiered_storage.placement_summary() WHERE tier_name = 'regress_fast';
CALL tiered_storage.migrate();

\echo '-- Taken back by a person: for the cooldown others leave.'
SET tiered_storage.cooldown = 1440;
SELECT max(batch_id) AS batch FROM _tiered_storage.moves \gset
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 130 * 8192)) \g /dev/null
CALL tiered_storage.undo_move(:batch);
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
SELECT * FROM regress_fill;
SELECT relation, verdict, place, reason FROM regress_says;
DROP TABLE regress_a, regress_b, regress_c, regress_d, regress_e;
SET client_min_messages = warning;

\echo '-- A tier that fills by one per cent a day'

\echo '-- A new table each week, the older the colder; four months, each day a sample and a run.'
SET tiered_storage.cooldown = 120;
CREATE TABLE regress_days (day int, before int, after int, moved int);
DO $$
DECLARE
	filled int;
BEGIN
	FOR day IN 0 .. 125 LOOP
		PERFORM set_config('tiered_storage.test_now', (timestamptz '2026-01-02' + day * interval '1 day')::text,
			false);
		IF day % 7 = 0 THEN
			CALL regress_table('regress_w' || day / 7, 0, 0);
		END IF;
		CALL regress_grow('regress_w' || day / 7, 1);
		UPDATE regress_heat SET reads = 50000 - 200 * (day - 7 * substring(name, 'regress_w(\d+)')::int)
			WHERE name ~ 'regress_w';
		COMMIT;
		CALL regress_observe('2025-12-01');
		SELECT blocks INTO filled FROM regress_fill WHERE tier_name = 'regress_fast';
		CALL tiered_storage.migrate();
		INSERT INTO regress_days SELECT day, filled, blocks, filled - blocks FROM regress_fill
			WHERE tier_name = 'regress_fast';
		COMMIT;
	END LOOP;
END
$$;
\echo '-- Never more above the mark than a day''s growth; never below the low one by a relation; and not every day.'
SELECT max(before) AS fullest, max(after) AS fullest_after, min(after) FILTER (WHERE moved > 0) AS emptiest_after,
	count(*) FILTER (WHERE moved > 0) AS times, sum(moved) AS moved FROM regress_days;
SELECT * FROM regress_fill;
SELECT count(*) FILTER (WHERE state <> 'done') AS failed FROM _tiered_storage.moves;
DO $$
BEGIN
	FOR n IN 0 .. 17 LOOP
		EXECUTE format('DROP TABLE regress_w%s', n);
	END LOOP;
END
$$;
TRUNCATE regress_heat;

\echo '-- What does not leave'

SET tiered_storage.test_now = '2026-08-01 00:00:00+00';
SET tiered_storage.cooldown = 1440;
CREATE ROLE regress_owner;
CREATE ROLE regress_tenant;
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_slow TO regress_owner;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_tenant;
CALL regress_table('regress_pinned', 20, 0);
CALL regress_table('regress_pinned_there', 5, 30);
CALL regress_table('regress_tenants', 5, 0);
CALL regress_table('regress_owners', 5, 20);
CALL regress_table('regress_unlogged', 0, 0);
ALTER TABLE regress_unlogged SET UNLOGGED;
CALL regress_grow('regress_unlogged', 5);
CALL regress_table('regress_lately', 5, 0, 'regress_ts_slow');
CALL regress_table('regress_small', 1, 10);
CALL regress_table('regress_none', 0, 0);
\echo '-- What an extension has made is its own.'
CALL regress_table('regress_member', 1, 0);
ALTER EXTENSION plpgsql ADD TABLE regress_member;
CALL regress_table('regress_hot', 20, 100000);
SELECT tiered_storage.pin('regress_pinned'), tiered_storage.pin('regress_pinned_there', 'regress_slow') \g /dev/null
ALTER TABLE regress_tenants OWNER TO regress_tenant;
ALTER TABLE regress_owners OWNER TO regress_owner;
\echo '-- Indexes and TOAST: an index leaves for itself, a TOAST table with its table.'
CREATE INDEX regress_hot_i ON regress_hot (n1) TABLESPACE regress_ts_fast;
INSERT INTO regress_heat VALUES ('regress_hot_i', 5);
CREATE TABLE regress_toast (t text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
ALTER TABLE regress_toast ALTER t SET STORAGE EXTERNAL;
INSERT INTO regress_toast SELECT repeat('x', 8000) FROM generate_series(1, 9);
INSERT INTO regress_heat VALUES ('regress_toast', 1);
\echo '-- A partitioned table: what is due by age is left to that policy.'
CREATE TABLE regress_p (d date, n name) PARTITION BY RANGE (d);
CREATE TABLE regress_p_old PARTITION OF regress_p FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_new PARTITION OF regress_p FOR VALUES
	FROM ('2026-01-01') TO ('2027-01-01') TABLESPACE regress_ts_fast;
INSERT INTO regress_p VALUES ('2020-02-02', 'x'), ('2026-02-02', 'x');
SELECT tiered_storage.add_tiering_policy('regress_p', '1 year', 'regress_cold') AS age \gset
SELECT :age <> :fast AS "numbers of their own";
\echo '-- What belongs to a session is none of it.'
CREATE TEMPORARY TABLE regress_temporary (a int) TABLESPACE regress_ts_fast;
INSERT INTO regress_temporary VALUES (1);
SELECT pg_stat_force_next_flush() \g /dev/null
CALL regress_observe();
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 130 * 8192)) \g /dev/null
CALL tiered_storage.move_relation('regress_lately', 'regress_fast');
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
RESET client_min_messages;
SELECT tiered_storage.alter_policy(tier => 'regress_fast',
	changes => '{"high_watermark": 0.6, "low_watermark": 0.3}') \gset
SELECT relation, verdict, place, blocks, lost, reason FROM regress_says;
SELECT high_watermark, low_watermark, follows_tier FROM _tiered_storage.fullness_policies;
CALL tiered_storage.migrate();
SELECT tier_name, relations FROM regress_fill;
SELECT relation, policy_kind, requested_by = current_user AS by_us, requested_by = 'regress_owner' AS by_owner
	FROM _tiered_storage.moves WHERE relation ~ '^regress_(owners|p_old|toast)' ORDER BY move_id;
SELECT last_result FROM _tiered_storage.fullness_policies;
\echo '-- Once more: what is left may not leave, and is not tried.'
CALL regress_observe();
CALL tiered_storage.migrate();
SELECT relation, verdict FROM regress_says WHERE place IS NULL;
\echo '-- The owner may now.'
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_tenant;
SELECT relation, verdict FROM regress_says WHERE relation = 'regress_tenants'::regclass;
SELECT tiered_storage.remove_policy('regress_p') \gset
ALTER EXTENSION plpgsql DROP TABLE regress_member;
DROP TABLE regress_member, regress_pinned, regress_pinned_there, regress_tenants, regress_owners, regress_unlogged,
	regress_lately, regress_small, regress_none, regress_hot, regress_toast, regress_p, regress_temporary;
TRUNCATE regress_heat;

\echo '-- A tiering policy that can do nothing'

SET client_min_messages = warning;
CALL regress_table('regress_filler', 95, 100000);
CREATE TABLE regress_q (d date) PARTITION BY RANGE (d);
CREATE TABLE regress_q_old PARTITION OF regress_q FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
INSERT INTO regress_q VALUES ('2020-02-02');
ALTER TABLE regress_q OWNER TO regress_owner;
ALTER TABLE regress_q_old OWNER TO regress_owner;
GRANT USAGE ON SCHEMA tiered_storage TO regress_owner;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy TO regress_owner;
GRANT CREATE ON TABLESPACE regress_ts_cold TO regress_owner;
SET ROLE regress_owner;
SELECT tiered_storage.add_tiering_policy('regress_q', '1 year', 'regress_cold') AS age \gset
RESET ROLE;
REVOKE EXECUTE ON FUNCTION tiered_storage.add_tiering_policy FROM regress_owner;
REVOKE USAGE ON SCHEMA tiered_storage FROM regress_owner;
SELECT tiered_storage.pin('regress_filler') \g /dev/null
CALL regress_observe();
RESET client_min_messages;
SELECT tiered_storage.alter_policy(tier => 'regress_fast',
	changes => '{"high_watermark": null, "low_watermark": null}') \gset
SELECT relation, verdict, reason FROM regress_says;
\echo '-- It has no rights any more, and keeps the partition from nothing.'
REVOKE CREATE ON TABLESPACE regress_ts_cold FROM regress_owner;
SELECT relation, verdict FROM regress_says;
\echo '-- It has, and there is no room: what it tries in vain leaves in the same run.'
GRANT CREATE ON TABLESPACE regress_ts_cold TO regress_owner;
SELECT tiered_storage.alter_tier('regress_cold', device => '{"capacity_bytes": 1}') \g /dev/null
SELECT relation, verdict FROM regress_says;
CALL tiered_storage.migrate();
SELECT tier_name, relations FROM regress_fill;
SELECT tiered_storage.alter_tier('regress_cold',
	device => jsonb_build_object('capacity_bytes', 1000 * 8192)) \g /dev/null
\echo '-- Nothing to say, and why.'
SELECT tiered_storage.remove_policy('regress_q') \gset
DROP TABLE regress_q, regress_filler;
REVOKE CREATE ON TABLESPACE regress_ts_cold FROM regress_owner;
SELECT * FROM _tiered_storage.evaluate_policies();
SELECT * FROM _tiered_storage.evaluate_policies();
TRUNCATE regress_heat;

\echo '-- A move window that has room for one'

SET client_min_messages = warning;
SET tiered_storage.test_now = '2026-08-01 12:00:00+00';
CALL regress_table('regress_k1', 10, 1000);
CALL regress_table('regress_k2', 10, 2000);
CALL regress_table('regress_k3', 70, 80000);
CALL regress_table('regress_k4', 1, 100000);
CALL regress_observe();
SELECT tiered_storage.add_move_window('little', NULL, '0:00', '24:00', 'UTC',
	max_bytes => pg_table_size('regress_k1') + 8192 + (SELECT sum(CASE WHEN state = 'done' THEN greatest(size_bytes,
		copied_bytes) ELSE copied_bytes END)::bigint FROM _tiered_storage.move)) \g /dev/null
RESET client_min_messages;
\echo '-- The next one leaves when it opens again, and meanwhile no hotter one that has room in it.'
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT tier_name, last_result FROM _tiered_storage.fullness_policies;
SELECT tiered_storage.remove_move_window('little') \g /dev/null
DROP TABLE regress_k1, regress_k2, regress_k3, regress_k4;
TRUNCATE regress_heat;

\echo '-- What is refused'

SELECT tiered_storage.remove_policy(tier => 'regress_fast') \gset
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_fullness_policy(NULL, 'regress_slow')
SELECT tiered_storage.add_fullness_policy('regress_fast', NULL)
SELECT tiered_storage.add_fullness_policy('regress_not_there', 'regress_slow')
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_"not" there')
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_fast')
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress_fast')
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 'NaN', 0.5)
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 0.5, 'NaN')
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 1.01, 0.5)
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 'Infinity', 0.5)
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 0.5, -0.1)
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 0.5, 0)
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 0.5, 0.5)
-- The low one is that of the tier, 0.8.
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 0.5)
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', low_watermark => 0.95)
$refused$);
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 1, 0.99) AS fast \gset
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_cold'); \echo :SQLSTATE
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_cold', if_not_exists => true) = :fast AS the_same;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy(tier => 'regress_fast')
SELECT tiered_storage.alter_policy(enabled => false)
SELECT tiered_storage.alter_policy(tier => 'regress_slow', enabled => false)
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": "regress_fast"}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": "regress_not_there"}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"low_watermark": 2}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"high_watermark": "NaN"}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": null}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"move_after": "1 day"}')
$refused$);
SELECT tiered_storage.alter_policy(policy_id => -1, enabled => false, if_exists => true) AS altered;
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"low_watermark": null}'),
	tiered_storage.alter_policy(tier => 'regress_fast',
	changes => '{"target": "regress_cold", "high_watermark": 0.95}') \g /dev/null
SELECT tier_name, target_name, high_watermark, low_watermark, follows_tier FROM _tiered_storage.fullness_policies;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.remove_policy()
SELECT tiered_storage.remove_policy(tier => 'regress_slow')
SELECT tiered_storage.remove_policy(to_regclass('regress_none'), 'regress_fast')
SELECT tiered_storage.alter_policy(to_regclass('regress_none'), 'regress_fast', enabled => false)
$refused$);
SELECT tiered_storage.remove_policy(tier => 'regress_slow', if_exists => true);
\echo '-- Its tiers cannot be removed, but renamed.'
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.remove_tier('regress_fast')
SELECT tiered_storage.remove_tier('regress_cold')
$refused$);
SELECT tiered_storage.alter_tier('regress_cold', new_name => 'regress "cold"'),
	tiered_storage.alter_tier('regress_fast', new_name => 'regress ''fast''') \g /dev/null
SELECT tier_name, target_name FROM _tiered_storage.fullness_policies;
BEGIN READ ONLY;
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"'); \echo :SQLSTATE
ROLLBACK;
\echo '-- It is for administrators, whatever else somebody may execute.'
GRANT USAGE ON SCHEMA tiered_storage TO regress_owner;
SET ROLE regress_owner;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"')
SELECT * FROM tiered_storage.evaluate_policies()
SELECT * FROM tiered_storage.policies
$refused$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION tiered_storage.add_fullness_policy, tiered_storage.alter_policy,
	tiered_storage.remove_policy TO regress_owner;
SET ROLE regress_owner;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"')
SELECT tiered_storage.alter_policy(tier => 'regress ''fast''', enabled => false)
SELECT tiered_storage.remove_policy(tier => 'regress ''fast''')
$refused$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION tiered_storage.alter_tier TO regress_owner;
SET ROLE regress_owner;
SELECT tiered_storage.alter_policy(tier => 'regress ''fast''', enabled => false) \gset
RESET ROLE;
SELECT created_by = current_user AS still_ours FROM _tiered_storage.fullness_policies;
SET ROLE regress_owner;
SELECT tiered_storage.alter_policy(tier => 'regress ''fast''', changes => '{"high_watermark": 0.96}') \gset
RESET ROLE;
SELECT created_by FROM _tiered_storage.fullness_policies;
\echo '-- Nobody knows how large it is, or where to go.'
SELECT tiered_storage.alter_policy(tier => 'regress ''fast''', enabled => true) \gset
SELECT tiered_storage.alter_tier('regress ''fast''', device => '{"capacity_bytes": null}') \gset
DROP TABLESPACE regress_ts_fast;
SELECT relation, verdict, place, from_tier, to_tier, reason FROM _tiered_storage.evaluate_policies();
CALL tiered_storage.migrate();
SELECT last_fill, last_leaving, last_result FROM _tiered_storage.fullness_policies;
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"') \g /dev/null
DROP TABLESPACE regress_ts_cold;
SELECT from_tier, verdict, reason FROM _tiered_storage.evaluate_policies();
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.fullness_policies \g /dev/null
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers \g /dev/null
SET client_min_messages = warning;
DROP OWNED BY regress_owner, regress_tenant;
DROP VIEW regress_fill, regress_says, regress_result;
DROP EXTENSION tiered_storage;
DROP TABLE regress_heat, regress_days;
DROP PROCEDURE regress_grow, regress_table, regress_observe;
DROP TABLESPACE regress_ts_slow;
DROP ROLE regress_owner, regress_tenant;
