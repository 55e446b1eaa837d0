-- Fullness policies: a tier above its high watermark is emptied down to its low one.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
CREATE TABLESPACE regress_ts_cold LOCATION '';
SET client_min_messages = warning;
-- A hundred blocks, four hundred, and a thousand: of the first one, a per cent is a block.
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => jsonb_build_object('compressed', false, 'capacity_bytes', 100 * 8192)),
	tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => jsonb_build_object('compressed', false, 'capacity_bytes', 400 * 8192)),
	tiered_storage.add_tier('regress_cold', '{regress_ts_cold}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0,
	device => jsonb_build_object('compressed', false, 'capacity_bytes', 1000 * 8192)) \g /dev/null
RESET client_min_messages;
SET tiered_storage.track_access = off;
SET tiered_storage.test_now = '2026-01-01 00:00:00+00';

-- Tables of some blocks, one row in each but those of the free space map; observed for a month, with so many random
-- reads an hour.
CREATE TABLE regress_heat (name text PRIMARY KEY, reads float8);
CREATE PROCEDURE regress_grow(name text, blocks int) LANGUAGE plpgsql AS $$
DECLARE
	size bigint := pg_table_size(name) + blocks * 8192;
BEGIN
	WHILE pg_table_size(name) < size LOOP
		EXECUTE format('INSERT INTO %I SELECT %s', name, (SELECT string_agg('''x''', ', ')
			FROM generate_series(1, 14)));
	END LOOP;
	PERFORM pg_stat_force_next_flush();
END
$$;
CREATE PROCEDURE regress_table(name text, blocks int, reads float8, tablespace text DEFAULT 'regress_ts_fast')
	LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (%s) WITH (autovacuum_enabled = off, fillfactor = 10) TABLESPACE %I', name,
		(SELECT string_agg('n' || i || ' name', ', ') FROM generate_series(1, 14) i), tablespace);
	INSERT INTO regress_heat VALUES (name,
		reads) ON CONFLICT ON CONSTRAINT regress_heat_pkey DO UPDATE SET reads = EXCLUDED.reads;
	CALL regress_grow(name, blocks);
END
$$;
CREATE PROCEDURE regress_observe(since timestamptz DEFAULT '2025-12-01') LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.sample();
	UPDATE _tiered_storage.relation_state SET heat_at = current_setting('tiered_storage.test_now')::timestamptz,
		evidence_interval_s = 0, observed_since = '2020-01-01',
		sampled_since = since, proven_since = since, random_fast = 0, random_slow = 0, device_random_fast = 0,
			device_random_slow = 0;
	UPDATE _tiered_storage.relation_state s SET random_fast = h.reads, random_slow = h.reads,
		device_random_fast = h.reads, device_random_slow = h.reads FROM regress_heat h
		WHERE relation_oid = to_regclass(h.name);
END
$$;
CREATE VIEW regress_fill AS SELECT t.tier_name, (sum(pg_table_size(c.oid)) / 8192)::int AS blocks,
	string_agg(c.relname,
	' ' ORDER BY c.relname COLLATE "C") AS relations
	FROM pg_class c JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = c.reltablespace
		WHERE c.relname ~ '^regress_[a-z][a-z0-9_]*$' GROUP BY 1 ORDER BY 1;
CREATE VIEW regress_says AS SELECT relation, verdict, place, to_tier, size_bytes / 8192 AS blocks,
	round(lost_io_s_per_hour::numeric, 1) AS lost, reason
	FROM _tiered_storage.evaluate_policies() WHERE policy_id IN (SELECT policy_id FROM _tiered_storage.fullness_policy)
	ORDER BY from_tier, place, relation::text COLLATE "C";
CREATE VIEW regress_result AS SELECT tier_name, round(last_fill::numeric, 3) AS fill, last_leaving AS leaving,
	last_result FROM _tiered_storage.fullness_policies ORDER BY policy_id;
\set ECHO all

---------------------------------------------------------------------------
-- What memory serves
---------------------------------------------------------------------------

\set ECHO none
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
\set ECHO all
-- None costs device time.  The one that is read from memory leaves last.
SELECT relation, verdict, place, lost FROM regress_says ORDER BY place;
\set ECHO none
SELECT tiered_storage.remove_policy(policy_id => :served);
DROP TABLE regress_scanned, regress_unread, regress_loaded;
DELETE FROM regress_heat;
SET tiered_storage.test_now = '2026-01-01 00:00:00+00';
\set ECHO all

---------------------------------------------------------------------------
-- Above the mark
---------------------------------------------------------------------------

\set ECHO none
CALL regress_table('regress_a', 10, 1000);
CALL regress_table('regress_b', 10, 2000);
CALL regress_table('regress_c', 30, 9000);
CALL regress_table('regress_d', 40, 80000);
CALL regress_observe();
\set ECHO all
-- Off unless a policy asks for it.
CALL tiered_storage.migrate();
SELECT * FROM _tiered_storage.evaluate_policies();
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow') AS fast \gset
-- 90 blocks: at the mark, not above it.
SELECT * FROM regress_says;
CALL tiered_storage.migrate();
SELECT policy_id = :fast AS ours, tier_name, target_name, high_watermark, low_watermark, follows_tier,
	created_by = current_user AS by_us, created_by_oid = current_user::regrole AS by_our_oid,
	last_evaluated_at IS NOT NULL AS evaluated, last_fill, last_leaving, last_result, enabled
		FROM _tiered_storage.fullness_policies;
-- The same share everywhere, of a capacity that is a third of what is there.
SELECT tiered_storage.alter_tier('regress_fast', device => jsonb_build_object('capacity_bytes', 30 * 8192)) \g /dev/null
SELECT t.used, (SELECT string_agg(DISTINCT substring(reason from 'is ([0-9.]+)% full'), ' ') FROM regress_says) AS policy,
	tiered_storage.report() ~ '<data value="3">' AS report
	FROM tiered_storage.tiers t WHERE t.tier_name = 'regress_fast';
SELECT tiered_storage.alter_tier('regress_fast', device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
-- 91 blocks: the coldest two would be enough, or the third alone; not the hottest one, however small.
CALL regress_table('regress_e', 1, 100000);
CALL regress_observe();
SELECT * FROM regress_says;
CALL tiered_storage.migrate(dry_run => true);
SELECT * FROM regress_fill;
-- It says that moves are paused.
SELECT tiered_storage.pause();
CALL tiered_storage.migrate(dry_run => true);
SELECT tiered_storage.resume();
-- It knows what windows have left.  What waits for one leaves then, and nothing hotter in its place.
SELECT tiered_storage.add_move_window('little', NULL, '0:00', '24:00', 'UTC',
	max_bytes => pg_table_size('regress_b') + 8192) \g /dev/null
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate(dry_run => true, ignore_windows => true);
SELECT tiered_storage.remove_move_window('little') \g /dev/null
-- Nothing leaves while move windows are closed.
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
-- What it saves: the price of the storage, at a loss of device time.
BEGIN;
SELECT tiered_storage.alter_tier('regress_fast', price_per_gb_month => 20000),
	tiered_storage.alter_tier('regress_slow', price_per_gb_month => 10000) \g /dev/null
SELECT round(b.saved_price_per_month::numeric, 9) = round(b.moved_bytes / 1e9 * 10000, 9) AS is_price, p.predicted
	FROM _tiered_storage.move_batches b JOIN tiered_storage.move_batches p USING (batch_id);
ROLLBACK;

---------------------------------------------------------------------------
-- The advice and the policy do not work against each other
---------------------------------------------------------------------------

-- What has left is not brought back at once, though it would be faster.
SELECT relation, recommended_tier, reason FROM tiered_storage.recommend_placement(true)
	WHERE current_tier = 'regress_slow' ORDER BY 1;
-- Nor later: there is room for both below the capacity, but not below the low watermark, and above it they would soon
-- have to leave again.
SET tiered_storage.cooldown = 0;
SELECT tier_name, available_bytes / 8192 AS available, used_bytes / 8192 AS used, advised_bytes / 8192 AS advised
	FROM _tiered_storage.placement_summary() WHERE tier_name = 'regress_fast';
\set ECHO none
SET client_min_messages = warning;
CALL tiered_storage.apply_placement('tentative');
CALL tiered_storage.migrate();
CALL regress_observe();
CALL tiered_storage.apply_placement('tentative');
CALL tiered_storage.migrate();
\set ECHO all
SELECT * FROM regress_fill;
-- Without the policy they come, and with it they would leave again.
SELECT tiered_storage.alter_policy(tier => 'regress_fast', enabled => false) \gset
SELECT tier_name, available_bytes / 8192 AS available FROM _tiered_storage.placement_summary()
	WHERE tier_name = 'regress_fast';
SELECT * FROM regress_result;
RESET client_min_messages;
CALL tiered_storage.migrate();
-- Files have more than what the marks of this script count: their free space maps.
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 130 * 8192)) \g /dev/null
CALL tiered_storage.apply_placement('tentative');
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
SELECT relation, verdict FROM regress_says;
SELECT tiered_storage.alter_policy(policy_id => :fast, enabled => true) \gset
-- What is above the high watermark has to leave by the advice, too, but not more.
SELECT tier_name, available_bytes / 8192 AS available, used_bytes / 8192 AS used
	FROM _tiered_storage.placement_summary() WHERE tier_name = 'regress_fast';
CALL tiered_storage.migrate();

\set ECHO none
-- Taken back by a person: for the cooldown others leave.
SET tiered_storage.cooldown = 1440;
SELECT max(batch_id) AS batch FROM _tiered_storage.moves \gset
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 130 * 8192)) \g /dev/null
\set ECHO all
CALL tiered_storage.undo_move(:batch);
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 100 * 8192)) \g /dev/null
SELECT * FROM regress_fill;
SELECT relation, verdict, place, reason FROM regress_says;
DROP TABLE regress_a, regress_b, regress_c, regress_d, regress_e;
SET client_min_messages = warning;

---------------------------------------------------------------------------
-- A tier that fills by one per cent a day
---------------------------------------------------------------------------

\set ECHO none
-- A new table each week, the older the colder; four months, each day a sample and a run.
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
\set ECHO all
-- Never more above the mark than a day's growth; never below the low one by a relation; and not every day.
SELECT max(before) AS fullest, max(after) AS fullest_after, min(after) FILTER (WHERE moved > 0) AS emptiest_after,
	count(*) FILTER (WHERE moved > 0) AS times, sum(moved) AS moved FROM regress_days;
SELECT * FROM regress_fill;
SELECT count(*) FILTER (WHERE state <> 'done') AS failed FROM _tiered_storage.moves;
\set ECHO none
DO $$
BEGIN
	FOR n IN 0 .. 17 LOOP
		EXECUTE format('DROP TABLE regress_w%s', n);
	END LOOP;
END
$$;
TRUNCATE regress_heat;
\set ECHO all

---------------------------------------------------------------------------
-- What does not leave
---------------------------------------------------------------------------

\set ECHO none
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
-- What an extension has made is its own.
CALL regress_table('regress_member', 1, 0);
ALTER EXTENSION plpgsql ADD TABLE regress_member;
CALL regress_table('regress_hot', 20, 100000);
\set ECHO all
SELECT tiered_storage.pin('regress_pinned'), tiered_storage.pin('regress_pinned_there', 'regress_slow');
\set ECHO none
ALTER TABLE regress_tenants OWNER TO regress_tenant;
ALTER TABLE regress_owners OWNER TO regress_owner;
-- Indexes and TOAST: an index leaves for itself, a TOAST table with its table.
CREATE INDEX regress_hot_i ON regress_hot (n1) TABLESPACE regress_ts_fast;
INSERT INTO regress_heat VALUES ('regress_hot_i', 5);
CREATE TABLE regress_toast (t text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
ALTER TABLE regress_toast ALTER t SET STORAGE EXTERNAL;
INSERT INTO regress_toast SELECT repeat('x', 8000) FROM generate_series(1, 9);
INSERT INTO regress_heat VALUES ('regress_toast', 1);
-- A partitioned table: what is due by age is left to that policy.
CREATE TABLE regress_p (d date, n name) PARTITION BY RANGE (d);
CREATE TABLE regress_p_old PARTITION OF regress_p FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_new PARTITION OF regress_p FOR VALUES
	FROM ('2026-01-01') TO ('2027-01-01') TABLESPACE regress_ts_fast;
INSERT INTO regress_p VALUES ('2020-02-02', 'x'), ('2026-02-02', 'x');
SELECT tiered_storage.add_tiering_policy('regress_p', '1 year', 'regress_cold') AS age \gset
\set ECHO all
SELECT :age <> :fast AS "numbers of their own";
\set ECHO none
-- What belongs to a session is none of it.
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
\set ECHO all
SELECT tiered_storage.alter_policy(tier => 'regress_fast',
	changes => '{"high_watermark": 0.6, "low_watermark": 0.3}') \gset
SELECT relation, verdict, place, blocks, lost, reason FROM regress_says;
SELECT high_watermark, low_watermark, follows_tier FROM _tiered_storage.fullness_policies;
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT tier_name, relations FROM regress_fill;
SELECT relation, policy_kind, requested_by = current_user AS by_us, requested_by = 'regress_owner' AS by_owner
	FROM _tiered_storage.moves WHERE relation ~ '^regress_(owners|p_old|toast)' ORDER BY move_id;
SELECT last_result FROM _tiered_storage.fullness_policies;
-- Once more: what is left may not leave, and is not tried.
CALL regress_observe();
CALL tiered_storage.migrate();
SELECT relation, verdict FROM regress_says WHERE place IS NULL;
-- The owner may now.
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_tenant;
SELECT relation, verdict FROM regress_says WHERE relation = 'regress_tenants'::regclass;
SELECT tiered_storage.remove_policy('regress_p') \gset
\set ECHO none
ALTER EXTENSION plpgsql DROP TABLE regress_member;
DROP TABLE regress_member, regress_pinned, regress_pinned_there, regress_tenants, regress_owners, regress_unlogged,
	regress_lately, regress_small, regress_none, regress_hot, regress_toast, regress_p, regress_temporary;
TRUNCATE regress_heat;
\set ECHO all

---------------------------------------------------------------------------
-- A tiering policy that can do nothing
---------------------------------------------------------------------------

\set ECHO none
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
\set ECHO all
SELECT tiered_storage.alter_policy(tier => 'regress_fast',
	changes => '{"high_watermark": null, "low_watermark": null}') \gset
SELECT relation, verdict, reason FROM regress_says;
-- It has no rights any more, and keeps the partition from nothing.
REVOKE CREATE ON TABLESPACE regress_ts_cold FROM regress_owner;
SELECT relation, verdict FROM regress_says;
-- It has, and there is no room: what it tries in vain leaves in the same run.
GRANT CREATE ON TABLESPACE regress_ts_cold TO regress_owner;
SELECT tiered_storage.alter_tier('regress_cold', device => '{"capacity_bytes": 1}') \g /dev/null
SELECT relation, verdict FROM regress_says;
CALL tiered_storage.migrate();
SELECT tier_name, relations FROM regress_fill;
SELECT tiered_storage.alter_tier('regress_cold',
	device => jsonb_build_object('capacity_bytes', 1000 * 8192)) \g /dev/null
-- Nothing to say, and why.
SELECT tiered_storage.remove_policy('regress_q') \gset
DROP TABLE regress_q, regress_filler;
REVOKE CREATE ON TABLESPACE regress_ts_cold FROM regress_owner;
SELECT * FROM _tiered_storage.evaluate_policies();
SELECT * FROM _tiered_storage.evaluate_policies();
TRUNCATE regress_heat;

---------------------------------------------------------------------------
-- A move window that has room for one
---------------------------------------------------------------------------

\set ECHO none
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
\set ECHO all
-- The next one leaves when it opens again, and meanwhile no hotter one that has room in it.
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT tier_name, last_result FROM _tiered_storage.fullness_policies;
SELECT tiered_storage.remove_move_window('little') \g /dev/null
DROP TABLE regress_k1, regress_k2, regress_k3, regress_k4;
TRUNCATE regress_heat;

---------------------------------------------------------------------------
-- A chain, and room
---------------------------------------------------------------------------

SET client_min_messages = warning;
SET tiered_storage.cooldown = 0;
SELECT tiered_storage.alter_policy(tier => 'regress_fast',
	changes => '{"high_watermark": null, "low_watermark": null}') \gset
SELECT high_watermark, low_watermark, follows_tier FROM _tiered_storage.fullness_policies;
\set ECHO none
-- 95 of 100, and 355 of 400 blocks: the second one is below its mark, but not with what comes.
CALL regress_table('regress_f1', 20, 1000);
CALL regress_table('regress_f2', 75, 50000);
CALL regress_table('regress_s1', 100, 10, 'regress_ts_slow');
CALL regress_table('regress_s2', 255, 500, 'regress_ts_slow');
CALL regress_observe();
RESET client_min_messages;
\set ECHO all
-- Nothing may come to it beyond its mark.
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
-- Ranks are changed under a policy.
SELECT tiered_storage.alter_tier('regress_cold', rank => 1) \gset
SELECT policy_id = :slow AS slow, relation, verdict, place, reason FROM _tiered_storage.evaluate_policies()
	WHERE from_tier = 'regress_slow';
CALL tiered_storage.migrate();
SELECT last_fill, last_leaving, last_result FROM _tiered_storage.fullness_policies WHERE policy_id = :slow;
SELECT tiered_storage.alter_tier('regress_cold', rank => 2) \gset
-- And marks under one that has given one of them.
SELECT tiered_storage.alter_policy(tier => 'regress_slow', changes => '{"low_watermark": 0.85}') \gset
SELECT tiered_storage.alter_tier('regress_slow', low_watermark => 0.05, high_watermark => 0.1) \gset
SELECT verdict, reason FROM _tiered_storage.evaluate_policies() WHERE policy_id = :slow;
SELECT tier_name, available_bytes / 8192 AS available FROM _tiered_storage.placement_summary()
	WHERE tier_name = 'regress_slow';
SELECT tiered_storage.remove_policy(tier => 'regress_slow') \gset

\set ECHO none
-- Two tiers that are emptied to one, which has room for what leaves one of them.
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
\set ECHO all
SELECT relation, verdict, place, to_tier FROM regress_says;
-- A policy that is not enabled takes none of it.
SELECT tiered_storage.alter_policy(tier => 'regress_slow', enabled => false) \g /dev/null
SELECT relation, verdict, place, to_tier FROM regress_says;
\set ECHO none
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": "regress_slow"}'),
	tiered_storage.remove_policy(tier => 'regress_slow'), tiered_storage.alter_tier('regress_cold',
	device => jsonb_build_object('capacity_bytes', 1000 * 8192)) \g /dev/null

-- What finds no room there, whatever leaves for it, lets nothing leave.
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
\set ECHO all
SELECT relation, verdict, place, to_tier, reason FROM regress_says;
RESET client_min_messages;
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT * FROM regress_result;
-- What does, lets as much leave as it takes.
SELECT tiered_storage.unpin('regress_f2'), tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', 110 * 8192)) \g /dev/null
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT * FROM regress_result;

\set ECHO none
-- What waits for what is due on its tier is not about to come yet.
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
\set ECHO all
SELECT * FROM regress_fill;
CALL tiered_storage.migrate();
SELECT * FROM regress_fill;
SELECT relation, from_tier, to_tier, state FROM _tiered_storage.moves WHERE batch_id >= (SELECT max(batch_id) - 1
	FROM _tiered_storage.moves) ORDER BY move_id;
\set ECHO none
SET client_min_messages = warning;
SELECT tiered_storage.remove_policy('regress_o', 'regress_slow'),
	tiered_storage.remove_policy('regress_o', 'regress_cold') \g /dev/null
SELECT tiered_storage.remove_policy(tier => 'regress_slow'), tiered_storage.alter_tier('regress_slow',
	device => jsonb_build_object('capacity_bytes', 400 * 8192)) \g /dev/null
DROP TABLE regress_o, regress_s1, regress_s2, regress_s3, regress_s4, regress_s5, regress_s6, regress_s7, regress_s8;
\set ECHO all

---------------------------------------------------------------------------
-- Days before
---------------------------------------------------------------------------

\set ECHO none
-- It grows, and the target has room for less.
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
\set ECHO all
SELECT * FROM regress_result;
-- The next policy of a chain will make room.
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress_cold') \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_result;
SELECT tiered_storage.remove_policy(tier => 'regress_slow') \gset
SELECT tiered_storage.pin('regress_f1'), tiered_storage.pin('regress_f2');
CALL tiered_storage.migrate();
SELECT * FROM regress_result;
SELECT tiered_storage.unpin('regress_f1'), tiered_storage.unpin('regress_f2');
DROP TABLE regress_s1;
CALL tiered_storage.migrate();
SELECT * FROM regress_result;
DROP TABLE regress_f1, regress_f2;

---------------------------------------------------------------------------
-- What is refused
---------------------------------------------------------------------------

SELECT tiered_storage.remove_policy(tier => 'regress_fast') \gset
\set ECHO none
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
\set ECHO all
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', 1, 0.99) AS fast \gset
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_cold'); \echo :SQLSTATE
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_cold', if_not_exists => true) = :fast AS the_same;
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy(tier => 'regress_fast')
SELECT tiered_storage.alter_policy(enabled => false)
SELECT tiered_storage.alter_policy(tier => 'regress_slow', enabled => false)
$refused$);
\set ECHO all
SELECT tiered_storage.alter_policy(policy_id => -1, enabled => false, if_exists => true);
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": "regress_fast"}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": "regress_not_there"}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"low_watermark": 2}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"high_watermark": "NaN"}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"target": null}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"move_after": "1 day"}')
SELECT tiered_storage.alter_policy(tier => 'regress_fast')
$refused$);
\set ECHO all
SELECT tiered_storage.alter_policy(tier => 'regress_fast', changes => '{"low_watermark": null}'),
	tiered_storage.alter_policy(tier => 'regress_fast',
	changes => '{"target": "regress_cold", "high_watermark": 0.95}');
SELECT tier_name, target_name, high_watermark, low_watermark, follows_tier FROM _tiered_storage.fullness_policies;
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.remove_policy()
SELECT tiered_storage.remove_policy(tier => 'regress_slow')
$refused$);
\set ECHO all
SELECT tiered_storage.remove_policy(tier => 'regress_slow', if_exists => true);
-- Its tiers cannot be removed, but renamed.
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.remove_tier('regress_fast')
SELECT tiered_storage.remove_tier('regress_cold')
$refused$);
\set ECHO all
SELECT tiered_storage.alter_tier('regress_cold', new_name => 'regress "cold"'),
	tiered_storage.alter_tier('regress_fast', new_name => 'regress ''fast''');
SELECT tier_name, target_name FROM _tiered_storage.fullness_policies;
BEGIN READ ONLY;
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"'); \echo :SQLSTATE
\set ECHO none
ROLLBACK;
-- It is for administrators, whatever else somebody may execute.
GRANT USAGE ON SCHEMA tiered_storage TO regress_owner;
SET ROLE regress_owner;
\set ECHO all
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"')
SELECT * FROM tiered_storage.evaluate_policies()
SELECT * FROM tiered_storage.policies
$refused$);
\set ECHO all
\set ECHO none
RESET ROLE;
GRANT EXECUTE ON FUNCTION tiered_storage.add_fullness_policy, tiered_storage.alter_policy,
	tiered_storage.remove_policy TO regress_owner;
SET ROLE regress_owner;
\set ECHO all
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"')
SELECT tiered_storage.alter_policy(tier => 'regress ''fast''', enabled => false)
SELECT tiered_storage.remove_policy(tier => 'regress ''fast''')
$refused$);
\set ECHO all
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
-- Nobody knows how large it is, or where to go.
SELECT tiered_storage.alter_policy(tier => 'regress ''fast''', enabled => true) \gset
SELECT tiered_storage.alter_tier('regress ''fast''', device => '{"capacity_bytes": null}') \gset
DROP TABLESPACE regress_ts_fast;
SELECT relation, verdict, place, from_tier, to_tier, reason FROM _tiered_storage.evaluate_policies();
CALL tiered_storage.migrate();
SELECT last_fill, last_leaving, last_result FROM _tiered_storage.fullness_policies;
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress "cold"') \g /dev/null
DROP TABLESPACE regress_ts_cold;
SELECT from_tier, verdict, reason FROM _tiered_storage.evaluate_policies();
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.fullness_policies;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers ORDER BY tier_name;
\set ECHO none
SET client_min_messages = warning;
DROP OWNED BY regress_owner, regress_tenant;
DROP VIEW regress_fill, regress_says, regress_result;
DROP EXTENSION tiered_storage;
DROP TABLE regress_heat, regress_days;
DROP PROCEDURE regress_grow, regress_table, regress_observe;
DROP TABLESPACE regress_ts_slow;
DROP ROLE regress_owner, regress_tenant;
\set ECHO all
