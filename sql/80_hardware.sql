-- What other hardware is worth: the same load, placed best on other tiers, and what that costs.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET tiered_storage.track_access = off;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';

---------------------------------------------------------------------------
-- Nothing to place
---------------------------------------------------------------------------

SELECT * FROM tiered_storage.simulate_hardware();
SELECT * FROM tiered_storage.purchase_options;

---------------------------------------------------------------------------
-- The price list
---------------------------------------------------------------------------

-- A disk that reads in 10 ms and a flash that reads in 0.1 ms, of 1,000,000 and 2,000,000 a GB: a block of 8192 bytes costs 8.192 and
-- 16.384 a month.  So many requests at once that none waits in a queue.
SELECT tiered_storage.set_device_profile('regress_disk', 1000000, random_read_ms => 10, random_write_ms => 10, sequential_read_mb_per_s => 100,
	sequential_write_mb_per_s => 100, fsync_ms => 1, parallelism => 1000000, provider => 'regress', prices_as_of => '2029-01-01', price_source => 'test');
SELECT tiered_storage.set_device_profile('regress_flash', 2000000, random_read_ms => 0.1, random_write_ms => 0.1, sequential_read_mb_per_s => 1000,
	sequential_write_mb_per_s => 1000, fsync_ms => 1, parallelism => 1000000, provider => 'regress', most_gb => 0.001);
SELECT profile, price_per_gb_month, random_read_ms, provider, prices_as_of, price_source, is_edited FROM tiered_storage.device_profiles() WHERE profile IN ('regress_disk', 'cloud_gp3');
SELECT price_source, prices_as_of = current_date AS today FROM tiered_storage.device_profiles() WHERE profile = 'regress_flash';
-- What is sold has a price with a date and a source.
SELECT profile FROM tiered_storage.device_profiles() WHERE price_source IS NULL OR profile ~ '^cloud_' AND (prices_as_of IS NULL OR provider IS NULL);
SELECT tiered_storage.set_device_profile('regress_new', 1, random_read_ms => 1); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', -1); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', 'NaN'); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', random_read_ms => 'Infinity'); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', most_gb => 'NaN'); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', prices_as_of => 'infinity'); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', prices_as_of => '5874897-12-31'); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', prices_as_of => '4713-01-01 BC'); \echo :SQLSTATE
-- Most and least, of what is given, was given and comes with the extension.
SELECT tiered_storage.set_device_profile('regress_disk', least_gb => 2, most_gb => 1); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_flash', least_gb => 1); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('cloud_gp3', included_iops => 20000); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('cloud_gp3', most_mb_per_s => 100); \echo :SQLSTATE
-- A key of an index that does not fit into it, and what nobody can show in a table.
SELECT tiered_storage.set_device_profile((SELECT string_agg(md5(i::text), '') FROM generate_series(1, 512) i), 1); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', provider => repeat('é', 32)); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile('regress_disk', price_source => repeat('x', 1025)); \echo :SQLSTATE
SELECT tiered_storage.set_device_profile(NULL); \echo :SQLSTATE
SELECT tiered_storage.reset_device_profile('regress_new'); \echo :SQLSTATE
SELECT tiered_storage.reset_device_profile(NULL); \echo :SQLSTATE

SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'regress_flash', rank => 0, reserve_fraction => 0, compressed => false,
		capacity_bytes => 16384);
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'regress_disk', rank => 1, reserve_fraction => 0, compressed => false,
		capacity_bytes => 81920);
END
$$;
RESET client_min_messages;
-- A tier without a price of its own follows the list, and so it does when that is forgotten.
SELECT tiered_storage.set_device_profile('regress_flash', 3000000);
SELECT price_per_gb_month, price_is_assumed FROM tiered_storage.tiers WHERE tier_name = 'regress_fast';
SELECT tiered_storage.set_device_profile('regress_flash', 2000000);
SELECT price_per_gb_month FROM tiered_storage.tiers WHERE tier_name = 'regress_fast';
SELECT tiered_storage.reset_device_profile('regress_flash'); \echo :SQLSTATE
-- What comes with the extension is there again.
SELECT tiered_storage.set_device_profile('cloud_gp3', 0.07, least_gb => 20000, most_gb => 0);
SELECT tiered_storage.reset_device_profile('cloud_gp3');
SELECT price_per_gb_month, prices_as_of, is_edited FROM tiered_storage.device_profiles() WHERE profile = 'cloud_gp3';

---------------------------------------------------------------------------
-- A load
---------------------------------------------------------------------------

-- Four tables of one block on the disk: 40000, 20000, 10000 and 5000 reads an hour.
CREATE TABLE regress_l1 (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_l2 (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_l3 (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_l4 (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
INSERT INTO regress_l1 VALUES (1);
INSERT INTO regress_l2 VALUES (1);
INSERT INTO regress_l3 VALUES (1);
INSERT INTO regress_l4 VALUES (1);
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
TRUNCATE _tiered_storage.relation_history;
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00', observed_since = '2020-01-01', sampled_since = '2029-12-31 23:00:00+00',
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0, sequential_high_slow = 0,
	hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0;
UPDATE _tiered_storage.relation_state s SET random_slow = v.reads FROM (VALUES
	('regress_l1', 40000), ('regress_l2', 20000), ('regress_l3', 10000), ('regress_l4', 5000)) v (name, reads)
	WHERE s.relation_oid = v.name::regclass;
UPDATE _tiered_storage.relation_state SET random_fast = random_slow,
	device_random_fast = random_slow, device_random_slow = random_slow, device_sequential_fast = 0, device_sequential_slow = 0;
CREATE FUNCTION regress_hardware(changes jsonb DEFAULT NULL) RETURNS TABLE (option text, price numeric, delta numeric, io numeric, saved_io numeric,
	saved_wait numeric, less numeric, speedup numeric, performance numeric, bound text, verdict text) LANGUAGE sql AS $$
	SELECT option, round(simulated_price_per_month::numeric, 3), round(price_delta_per_month::numeric, 3), round(simulated_io_s_per_hour::numeric, 1),
		round(saved_io_s_per_hour_high::numeric, 1),
		round(saved_wait_s_per_hour_high::numeric), round(less_waiting_high::numeric, 3), round(speedup_high::numeric, 3), round(price_performance::numeric, 3),
		simulated_bound_by, verdict
	FROM tiered_storage.simulate_hardware(changes) WITH ORDINALITY h ORDER BY h.ordinality
$$;

-- An hour of seven days: nothing is said of it but what it costs.
SELECT * FROM regress_hardware('{"regress_fast": {"capacity_gb": 0.000024576}}');
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-01';
-- Nobody has looked what clients wait for: device time alone.  75000 reads of 10 ms are 750 s an hour on the disk; with the
-- two hottest on the flash, 15000 * 10 ms + 60000 * 0.1 ms = 156; with three, 5000 * 10 ms + 70000 * 0.1 ms = 57.
SELECT * FROM regress_hardware('{"regress_fast": {"capacity_gb": 0.000024576}}');
-- Two blocks cost 2 * 16.384 and ten of the disk 10 * 8.192: 114.688; a third one 16.384 more.
-- Four clients: two of them waited for relations, 7200 s an hour; one worked, one waited for a lock.  Of 7200 s,
-- 750 - 156 of 750 are saved by moving, and of the rest, 1497.6 s, 99 of 156, 63.5 %, are saved by the third block: 950.4 s.  The speed-up
-- is at most (14400 - 5702.4) / (14400 - 6652.8) = 8697.6 / 7747.2 = 1.123, but one processor is enough for that many only; and
-- the work for the price 1.123 * 114.688 / 131.072 = 0.982 of today's.
TRUNCATE _tiered_storage.load_history;
UPDATE _tiered_storage.load_state SET observed_since = sampled_at - interval '1 hour';
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks, wait_sampled_ms, wait_cpu_ms, wait_relations_ms, wait_wal_ms,
	wait_temp_ms, wait_slru_ms, wait_other_io_ms, wait_lock_ms, wait_lwlock_ms, wait_other_ms)
	SELECT sampled_at - interval '1 hour', 3600, 36000, 0, 3600000, 360000, 7200000, 0, 0, 0, 0, 6840000, 0, 0 FROM _tiered_storage.load_state;
SELECT * FROM regress_hardware('{"regress_fast": {"capacity_gb": 0.000024576}}');

---------------------------------------------------------------------------
-- Options side by side
---------------------------------------------------------------------------

-- Their order stays.  All on the flash: 75000 * 0.1 ms = 7.5.  All on the disk: 750, which is how it is: clients wait 7200 s instead of
-- 1497.6, 3.8 times as long more.  A disk of 0.1 ms at its old price, a second flash of four blocks beside it.
SELECT * FROM regress_hardware('[{"regress_fast": {"add_gb": 0.000016384}}, {"regress_fast": {"remove": true}}, {"regress_slow": {"profile": "regress_flash"}},
	{"regress_slow": {"profile": "regress_flash", "price_per_gb_month": 1000000}}, {"regress_more": {"profile": "regress_flash", "capacity_gb": 0.000032768}},
	{"regress_fast": {"remove": true}, "regress_slow": {"profile": "regress_flash", "capacity_gb": 0.000032768}},
	{"regress_slow": {"remove": true}}, {"regress_slow": {"price_per_gb_month": 0}}]');
-- What changed can be asked for again.
SELECT h.option, a.option = h.option AND a.verdict = h.verdict AS same
	FROM tiered_storage.simulate_hardware('{"regress_fast": {"remove": true}, "regress_slow": {"profile": "regress_flash", "capacity_gb": 0.000032768}}') h,
		LATERAL tiered_storage.simulate_hardware(h.changed) a WHERE h.option <> 'today' AND a.option <> 'today';
-- Twice the load is twice the time.
SELECT option, round(simulated_io_s_per_hour::numeric) AS io FROM tiered_storage.simulate_hardware('{"regress_fast": {"remove": true}}', 2);

-- Ranges: from the least to the most, and what there is today comes out the same however it is asked.
SELECT count(*) > 5 AS several, bool_and(saved_io_s_per_hour_low <= saved_io_s_per_hour_high AND less_waiting_low <= less_waiting_high
	AND saved_wait_s_per_hour_low <= saved_wait_s_per_hour_high AND speedup_low <= speedup_high) AS ranges, count(DISTINCT price_per_month) AS todays,
	bool_and(abs(simulated_price_per_month - price_per_month - price_delta_per_month) < 1e-9) AS deltas
	FROM tiered_storage.simulate_hardware();
-- The usual options by work per price; all that gains from the flash is two blocks more: a half, and 20 kB.
SELECT option, price, less, performance, verdict FROM regress_hardware();
SELECT option, price, less_waiting, price_performance, bound_by, verdict FROM tiered_storage.purchase_options LIMIT 2;

---------------------------------------------------------------------------
-- Who waits for something else
---------------------------------------------------------------------------

-- They work for 13000 of 14400 s and wait 200 s for devices, of which moving saves 158.4 s: 1.1 %, and a third block 26.4 s more.
UPDATE _tiered_storage.load_history SET wait_cpu_ms = 13000000, wait_relations_ms = 200000, wait_lock_ms = 1200000;
SELECT * FROM regress_hardware('[{"regress_fast": {"capacity_gb": 0.000024576}}, {"regress_fast": {"remove": true}}, {"regress_slow": {"profile": "regress_flash"}}]');
-- For WAL, temporary files, each other, or something else.
UPDATE _tiered_storage.load_history SET wait_cpu_ms = 1000, wait_wal_ms = 13000000;
SELECT bound, verdict FROM regress_hardware('{"regress_fast": {"capacity_gb": 0.000024576}}') WHERE option <> 'today';
UPDATE _tiered_storage.load_history SET wait_wal_ms = 0, wait_temp_ms = 13000000;
SELECT bound, verdict FROM regress_hardware('{"regress_fast": {"capacity_gb": 0.000024576}}') WHERE option <> 'today';
UPDATE _tiered_storage.load_history SET wait_temp_ms = 0, wait_other_ms = 13000000;
SELECT bound, verdict FROM regress_hardware('{"regress_fast": {"capacity_gb": 0.000024576}}') WHERE option <> 'today';
-- Nobody but those who wait for the disk.
UPDATE _tiered_storage.load_history SET wait_other_ms = 0, wait_lock_ms = 0, wait_relations_ms = 7200000;
SELECT bound, less, speedup, verdict FROM regress_hardware('{"regress_fast": {"capacity_gb": 0.000024576}}') WHERE option <> 'today';

---------------------------------------------------------------------------
-- Volumes whose performance comes with the size, or is sold
---------------------------------------------------------------------------

-- 100 requests a second and 100 MB/s at 0.0001 GB, 1000000 requests and MB/s more with each GB; and 100 requests in the price, each further
-- one 0.5 a month.  Twice the size: 200 requests a second, at 0.1 at once.
SELECT tiered_storage.set_device_profile('regress_sized', 1000, random_read_ms => 10, random_write_ms => 10, sequential_read_mb_per_s => 100,
	sequential_write_mb_per_s => 100, fsync_ms => 1, parallelism => 1, figures_for_gb => 0.0001, iops_per_gb => 1000000, mb_per_s_per_gb => 1000000, provider => 'regress_2');
SELECT tiered_storage.set_device_profile('regress_sold', 1000, random_read_ms => 10, random_write_ms => 10, sequential_read_mb_per_s => 100,
	sequential_write_mb_per_s => 100, fsync_ms => 1, parallelism => 1, included_iops => 100, price_per_iops_month => 0.5, most_iops => 1000, provider => 'regress_2',
	least_gb => 0.01);
-- 10 of the least size, and 0.5 for each of 100 requests.
SELECT option, round(simulated_price_per_month::numeric, 3) AS price, round(simulated_io_s_per_hour::numeric) AS io FROM tiered_storage.simulate_hardware('[
	{"regress_slow": {"profile": "regress_sized", "capacity_gb": 0.0001}}, {"regress_slow": {"profile": "regress_sized", "capacity_gb": 0.0002}},
	{"regress_slow": {"profile": "regress_sold"}}, {"regress_slow": {"profile": "regress_sold", "iops": 200}}]');

---------------------------------------------------------------------------
-- What cannot be meant
---------------------------------------------------------------------------

SELECT count(*) FROM tiered_storage.simulate_hardware('{}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('[]'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('1'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('[1]'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('[{}]'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware((SELECT jsonb_agg('{"regress_fast": {"add_gb": 1}}'::jsonb) FROM generate_series(1, 49))); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": 1}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"size": 1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"add_gb": -1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"add_gb": "NaN"}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"add_gb": 1e400}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"capacity_gb": 0}}'); \echo :SQLSTATE
-- A size in which no block has room.
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"capacity_gb": 0.000008191}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"add_gb": 1e-9}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_more": {"profile": "regress_flash", "capacity_gb": 1e-300}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"add_gb": null}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": null}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"add_gb": 1, "capacity_gb": 2}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"add_gb": 1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"remove": false}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"remove": true, "add_gb": 1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_fast": {"remove": true}, "regress_slow": {"remove": true}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"profile": "regress_none"}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"profile": 1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"iops": 100}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"profile": "regress_sold", "iops": 2000}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"price_per_gb_month": -1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_none": {"add_gb": 1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_none": {"profile": "regress_disk"}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_a": {"profile": "regress_disk", "capacity_gb": 1}, "regress_b": {"profile": "regress_disk", "capacity_gb": 1}}'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware(load_factor => 'NaN'); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware(load_factor => 0); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.simulate_hardware(load_factor => NULL); \echo :SQLSTATE
-- What is pinned there must have room; too little for the rest is said.
SELECT tiered_storage.pin('regress_l1', 'regress_slow') \g /dev/null
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"remove": true}}'); \echo :SQLSTATE
SELECT tiered_storage.pin('regress_l2', 'regress_slow') \g /dev/null
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"capacity_gb": 0.00001}}'); \echo :SQLSTATE
SELECT tiered_storage.unpin('regress_l2') \g /dev/null
SELECT option, less, reason IS NOT NULL AS says_why, h.verdict FROM regress_hardware('{"regress_slow": {"capacity_gb": 0.000008192}}') h
	JOIN tiered_storage.simulate_hardware('{"regress_slow": {"capacity_gb": 0.000008192}}') s USING (option);
SELECT option FROM tiered_storage.simulate_hardware() WHERE option ~ '^no ';
SELECT tiered_storage.unpin('regress_l1') \g /dev/null

---------------------------------------------------------------------------
-- One tier
---------------------------------------------------------------------------

SET client_min_messages = warning;
SELECT tiered_storage.remove_tier('regress_fast') \g /dev/null
RESET client_min_messages;
SELECT option, verdict FROM regress_hardware() WHERE option !~ 'regress_slow:';
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_slow": {"remove": true}}'); \echo :SQLSTATE

---------------------------------------------------------------------------
-- The tier of the system catalogs
---------------------------------------------------------------------------

-- It cannot be done without, empty of tables as it is; the other one can.
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_base', '{pg_default}', profile => 'regress_disk', rank => 2, reserve_fraction => 0, compressed => false, capacity_bytes => 81920) \g /dev/null
RESET client_min_messages;
SELECT option FROM tiered_storage.simulate_hardware() WHERE option ~ '^no ';
SELECT count(*) FROM tiered_storage.simulate_hardware('{"regress_base": {"remove": true}}'); \echo :SQLSTATE
SELECT option FROM tiered_storage.simulate_hardware('{"regress_base": {"profile": "regress_flash"}}') WHERE option <> 'today';
-- A smaller one has to hold what else is on it.
SELECT tiered_storage.alter_tier('regress_base', unset => '{capacity_bytes}') \g /dev/null
SET client_min_messages = warning;
SELECT COALESCE(bool_and((h.changed->'regress_base'->>'capacity_gb')::float8 * 1e9 >= t.used_bytes), true) AS holds_all
	FROM tiered_storage.simulate_hardware() h, tiered_storage.tiers t WHERE t.tier_name = 'regress_base' AND h.option ~ '^regress_base - ';
RESET client_min_messages;
SELECT tiered_storage.remove_tier('regress_base', true) \g /dev/null
SELECT tiered_storage.alter_tier('regress_slow', unset => '{capacity_bytes}') \g /dev/null

SET client_min_messages = warning;
DROP FUNCTION regress_hardware;
DROP TABLE regress_l1, regress_l2, regress_l3, regress_l4;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
