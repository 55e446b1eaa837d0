-- Device profiles and their prices; and what a load would come to on another device.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
SET tiered_storage.track_access = off;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';

---------------------------------------------------------------------------
-- The price list
---------------------------------------------------------------------------

-- A disk that reads in 10 ms and a flash that reads in 0.1 ms, of 1,000,000 and 2,000,000 a GB: a block of 8192 bytes
-- costs 8.192 and
-- 16.384 a month.  So many requests at once that none waits in a queue.
SELECT tiered_storage.alter_device_profile('regress_disk',
	'{"price_per_gb_month": 1000000, "random_read_ms": 10, "random_write_ms": 10, "sequential_read_mb_per_s": 100,
	"sequential_write_mb_per_s": 100, "fsync_ms": 1, "parallelism": 1000000, "price_source": "test"}');
SELECT tiered_storage.alter_device_profile('regress_flash',
	'{"price_per_gb_month": 2000000, "random_read_ms": 0.1, "random_write_ms": 0.1, "sequential_read_mb_per_s": 1000,
	"sequential_write_mb_per_s": 1000, "fsync_ms": 1, "parallelism": 1000000, "endurance_dwpd": 1}');
SELECT profile, price_per_gb_month, random_read_ms, price_source, is_edited
	FROM _tiered_storage.device_profiles() WHERE profile IN ('regress_disk', 'cloud_gp3');
SELECT price_source = 'alter_device_profile(), ' || current_date AS today FROM _tiered_storage.device_profiles()
	WHERE profile = 'regress_flash';
-- What is sold has a price with a date and a source.
SELECT profile FROM _tiered_storage.device_profiles() WHERE price_source IS NULL OR profile ~ '^cloud_'
	AND price_source !~ ', 20[0-9-]+;';
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_device_profile('regress_new', '{"price_per_gb_month": 1, "random_read_ms": 1}')
SELECT tiered_storage.alter_device_profile('regress_disk', '{"price_per_gb_month": -1}')
SELECT tiered_storage.alter_device_profile('regress_disk', '{"price_per_gb_month": "NaN"}')
SELECT tiered_storage.alter_device_profile('regress_disk', '{"random_read_ms": "Infinity"}')
$refused$);
\set ECHO all
-- A key of an index that does not fit into it, and what nobody can show in a table.
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_device_profile((SELECT string_agg(md5(i::text), '') FROM generate_series(1, 512) i), '{}')
SELECT tiered_storage.alter_device_profile('regress_disk', jsonb_build_object('price_source', repeat('x', 1025)))
SELECT tiered_storage.alter_device_profile(NULL, '{}')
SELECT tiered_storage.alter_device_profile('regress_disk', '{"random_reed_ms": 1, "profile": "nvme"}')
SELECT tiered_storage.alter_device_profile('regress_disk', '[1]')
SELECT tiered_storage.alter_device_profile('regress_new', NULL)
$refused$);
\set ECHO all

\set ECHO none
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'regress_flash', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false, "capacity_bytes": 16384}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'regress_disk', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false, "capacity_bytes": 81920}');
END
$$;
RESET client_min_messages;
\set ECHO all
-- A tier without a price of its own follows the list, and so it does when that is forgotten.
SELECT tiered_storage.alter_device_profile('regress_flash', '{"price_per_gb_month": 3000000}');
SELECT price_per_gb_month, price_is_assumed FROM _tiered_storage.tiers WHERE tier_name = 'regress_fast';
SELECT tiered_storage.alter_device_profile('regress_flash', '{"price_per_gb_month": 2000000}');
SELECT price_per_gb_month FROM _tiered_storage.tiers WHERE tier_name = 'regress_fast';
SELECT tiered_storage.alter_device_profile('regress_flash', NULL); \echo :SQLSTATE
-- What comes with the extension is there again.
SELECT tiered_storage.alter_device_profile('cloud_gp3', '{"price_per_gb_month": 0.07}');
SELECT tiered_storage.alter_device_profile('cloud_gp3', NULL);
SELECT price_per_gb_month, price_source, is_edited FROM _tiered_storage.device_profiles() WHERE profile = 'cloud_gp3';

---------------------------------------------------------------------------
-- A load
---------------------------------------------------------------------------

\set ECHO none
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
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
-- What others write to this machine's devices must not count.
TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour, _tiered_storage.device_wear,
	_tiered_storage.device_wear_day;
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00',
	observed_since = '2020-01-01', sampled_since = '2029-12-31 23:00:00+00',
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
		sequential_high_slow = 0,
	hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0;
UPDATE _tiered_storage.relation_state s SET random_slow = v.reads FROM (VALUES
	('regress_l1', 40000), ('regress_l2', 20000), ('regress_l3', 10000), ('regress_l4', 5000)) v (name, reads)
	WHERE s.relation_oid = v.name::regclass;
UPDATE _tiered_storage.relation_state SET random_fast = random_slow,
	device_random_fast = random_slow, device_random_slow = random_slow, device_sequential_fast = 0,
		device_sequential_slow = 0;
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-01';
CREATE FUNCTION regress_simulate(changes jsonb DEFAULT '{}') RETURNS TABLE (tier_name name, bytes bigint,
	simulated_bytes bigint, available bigint, io numeric,
	simulated_io numeric, price numeric, simulated_price numeric) LANGUAGE sql AS $$
	SELECT tier_name, advised_bytes, simulated_bytes, simulated_available_bytes, round(advised_io_s_per_hour::numeric,
		1), round(simulated_io_s_per_hour::numeric, 1),
		round(advised_price_per_month::numeric, 3), round(simulated_price_per_month::numeric, 3)
	FROM _tiered_storage.simulate_placement(changes)
$$;
\set ECHO all

-- 75000 reads of 10 ms are 750 s an hour on the disk; with the two hottest on the flash, 15000 * 10 ms + 60000 * 0.1
-- ms = 156.
SELECT * FROM regress_simulate();
-- Flash instead of the disk, at the flash's price: 75000 * 0.1 ms = 7.5 wherever they are.
SELECT * FROM regress_simulate('{"regress_slow": {"profile": "regress_flash"}}');
-- The price that is given counts, wherever it stands; so does any other figure.
SELECT * FROM regress_simulate('{"regress_slow": {"price_per_gb_month": 1000000, "profile": "regress_flash"}}');
SELECT * FROM regress_simulate('{"regress_slow": {"profile": "regress_flash", "random_read_ms": 1}}');
-- A disk instead of the flash, with more room: nothing gains from it.
SELECT * FROM regress_simulate('{"regress_fast": {"profile": "regress_disk", "capacity_bytes": 24576}}');
-- Reads of an object store are paid for: 40000 an hour, 730 hours, 1000 per million.
SELECT tiered_storage.alter_tier('regress_slow', device => '{"price_per_million_reads": 1000}');
SELECT tier_name, round(price_per_month) AS price FROM _tiered_storage.explain_placement('regress_l1');
SELECT tiered_storage.alter_tier('regress_slow', device => '{"price_per_million_reads": null}');
SELECT tier_name, round(price_per_month) AS price FROM _tiered_storage.explain_placement('regress_l1');
-- So it is with those of a profile.
SELECT tiered_storage.alter_device_profile('regress_flash', '{"price_per_million_reads": 1000}');
SELECT regexp_replace(source, '\s+', ' ', 'g') ~ '; 1000 per million reads$' AS is_said
	FROM tiered_storage.device_profiles() WHERE profile = 'regress_flash';
SELECT simulated_price > 4000 AS is_paid FROM regress_simulate('{"regress_slow": {"profile": "regress_flash"}}') WHERE tier_name = 'regress_slow';
-- As an override of any advice, too.
SELECT count(*) FROM tiered_storage.recommend_placement(overrides => '{"regress_slow": {"profile": "regress_flash"}}')
	WHERE recommended_tier <> current_tier;
SELECT count(*) FROM tiered_storage.recommend_placement() WHERE recommended_tier <> current_tier;
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_slow": {"profile": "regress_none"}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_slow": {"profile": 1}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_slow": {"profile": null}}')
SELECT count(*) FROM _tiered_storage.simulate_placement('{"regress_slow": {"profil": "nvme"}}')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"price_per_million_reads": -1}')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"price_per_million_reads": "NaN"}')
$refused$);
\set ECHO all

SET client_min_messages = warning;
DROP FUNCTION regress_simulate;
DROP TABLE regress_l1, regress_l2, regress_l3, regress_l4;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
