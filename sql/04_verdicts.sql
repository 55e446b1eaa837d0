-- What the policies say of each partition: verdict, bounds, reason.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none

SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
-- What a policy says of each partition, but for sizes.
CREATE VIEW regress_verdicts AS
	SELECT e.relation, e.verdict, e.lower_bound, e.upper_bound, e.from_tier, e.to_tier, e.reason
	FROM _tiered_storage.evaluate_policies() e
	ORDER BY e.policy_id, e.relation::text COLLATE "C";
SELECT * FROM _tiered_storage.evaluate_policies();
-- How many partitions are due is said by others.
SET client_min_messages = warning;

\echo '-- Types of keys'

-- date: now - 31 days is 2026-05-01.  The upper bound decides, and it is exclusive.
CREATE TABLE regress_date (at date NOT NULL, v int) PARTITION BY RANGE (at) TABLESPACE regress_ts_fast;
CREATE TABLE regress_date_a PARTITION OF regress_date FOR VALUES FROM (MINVALUE) TO ('2026-04-01');
CREATE TABLE regress_date_b PARTITION OF regress_date FOR VALUES FROM ('2026-04-01') TO ('2026-05-01');
CREATE TABLE regress_date_c PARTITION OF regress_date FOR VALUES FROM ('2026-05-01') TO ('2026-05-02');
CREATE TABLE regress_date_d PARTITION OF regress_date FOR VALUES FROM ('2026-05-02') TO ('infinity');
CREATE TABLE regress_date_e PARTITION OF regress_date FOR VALUES FROM ('infinity') TO (MAXVALUE);
CREATE TABLE regress_date_f PARTITION OF regress_date DEFAULT;
SELECT tiered_storage.add_tiering_policy('regress_date', '31 days', 'regress_slow') AS id \gset
SELECT * FROM regress_verdicts;
SELECT e.policy_id = :id AS this, relation, from_tablespace, to_tablespace, size_bytes
	FROM _tiered_storage.evaluate_policies() e ORDER BY relation::text COLLATE "C";
\echo '-- An hour earlier b is not due yet, a day later c is.'
SET tiered_storage.test_now = '2026-05-31 23:59:59.999999+00';
SELECT relation, verdict FROM regress_verdicts WHERE relation = 'regress_date_b'::regclass;
SET tiered_storage.test_now = '2026-06-02 00:00:00+00';
SELECT relation, verdict FROM regress_verdicts WHERE relation = 'regress_date_c'::regclass;
\echo '-- A date begins when it does in the policy''s time zone, whoever asks.'
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
SET timezone = 'America/New_York';
SELECT relation, verdict, upper_bound, reason FROM regress_verdicts WHERE relation = 'regress_date_b'::regclass;
SELECT current_setting('timezone') AS still_mine;
SELECT tiered_storage.remove_policy('regress_date') \gset
SELECT tiered_storage.add_tiering_policy('regress_date', '31 days', 'regress_slow') AS id \gset
SET timezone = 'UTC';
SELECT relation, verdict, upper_bound, reason FROM regress_verdicts WHERE relation = 'regress_date_b'::regclass;
SELECT tiered_storage.remove_policy('regress_date') \gset
SELECT tiered_storage.add_tiering_policy('regress_date', '31 days', 'regress_slow',
	options => '{"time_zone": "Asia/Tokyo"}')
	AS id \gset
SELECT relation, verdict, upper_bound, reason FROM regress_verdicts WHERE relation = 'regress_date_b'::regclass;
DROP TABLE regress_date;
-- A domain over such a type.
CREATE DOMAIN regress_day AS date;
CREATE TABLE regress_domain (at regress_day) PARTITION BY RANGE (at) TABLESPACE regress_ts_fast;
CREATE TABLE regress_domain_a PARTITION OF regress_domain FOR VALUES FROM (MINVALUE) TO ('2026-04-01');
CREATE TABLE regress_domain_b PARTITION OF regress_domain FOR VALUES FROM ('2026-04-01') TO ('infinity');
SELECT tiered_storage.add_tiering_policy('regress_domain', '31 days', 'regress_slow') AS id \gset
SELECT relation, verdict, upper_bound, reason FROM regress_verdicts;
SELECT tiered_storage.remove_policy('regress_domain') \gset
DROP TABLE regress_domain;
DROP DOMAIN regress_day;

CREATE TABLE regress_timestamp (at timestamp) PARTITION BY RANGE (at);
CREATE TABLE regress_timestamp_a PARTITION OF regress_timestamp FOR VALUES
	FROM ('-infinity') TO ('2026-04-30 23:59:59.999999') TABLESPACE regress_ts_fast;
CREATE TABLE regress_timestamp_b PARTITION OF regress_timestamp FOR VALUES
	FROM ('2026-04-30 23:59:59.999999') TO ('2026-05-01 00:00:00.000001') TABLESPACE regress_ts_fast;
CREATE TABLE regress_timestamp_c PARTITION OF regress_timestamp FOR VALUES
	FROM ('2026-05-01 00:00:00.000001') TO ('infinity') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_timestamp', '31 days', 'regress_slow') AS id \gset
SELECT * FROM regress_verdicts;
DROP TABLE regress_timestamp;

-- timestamptz: the bound is an instant, wherever the session is.
CREATE TABLE regress_timestamptz (at timestamptz) PARTITION BY RANGE (at);
CREATE TABLE regress_timestamptz_a PARTITION OF regress_timestamptz FOR VALUES
	FROM (MINVALUE) TO ('2026-05-01 02:00+02') TABLESPACE regress_ts_fast;
CREATE TABLE regress_timestamptz_b PARTITION OF regress_timestamptz FOR VALUES
	FROM ('2026-05-01 02:00+02') TO (MAXVALUE) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_timestamptz', '31 days', 'regress_slow') AS id \gset
SET timezone = 'Asia/Kathmandu';
SELECT * FROM regress_verdicts;
SET timezone = 'UTC';
\echo '-- No tier, another database''s default: where it is now need not belong to a tier.'
ALTER TABLE regress_timestamptz_a SET TABLESPACE pg_default;
SELECT * FROM regress_verdicts WHERE relation = 'regress_timestamptz_a'::regclass;
DROP TABLE regress_timestamptz;

-- Integers in each unit: 2026-05-01 is 1777593600 seconds after the epoch.
CREATE TABLE regress_s (k bigint) PARTITION BY RANGE (k);
CREATE TABLE regress_s_1 PARTITION OF regress_s FOR VALUES FROM (0) TO (1777593600);
CREATE TABLE regress_s_2 PARTITION OF regress_s FOR VALUES FROM (1777593600) TO (1777593601);
CREATE TABLE regress_ms (k bigint) PARTITION BY RANGE (k);
CREATE TABLE regress_ms_1 PARTITION OF regress_ms FOR VALUES FROM (MINVALUE) TO (1777593600000);
CREATE TABLE regress_ms_2 PARTITION OF regress_ms FOR VALUES FROM (1777593600000) TO (1777593600001);
CREATE TABLE regress_us (k bigint) PARTITION BY RANGE (k);
CREATE TABLE regress_us_1 PARTITION OF regress_us FOR VALUES FROM (MINVALUE) TO (1777593600000000);
CREATE TABLE regress_us_2 PARTITION OF regress_us FOR VALUES FROM (1777593600000000) TO (1777593600000001);
CREATE TABLE regress_ns (k bigint) PARTITION BY RANGE (k);
CREATE TABLE regress_ns_1 PARTITION OF regress_ns FOR VALUES FROM (MINVALUE) TO (1777593600000000000);
CREATE TABLE regress_ns_2 PARTITION OF regress_ns FOR VALUES FROM (1777593600000000000) TO (1777593600000001000);
SELECT tiered_storage.add_tiering_policy('regress_s', '31 days', 'regress_slow',
	options => '{"key_unit": "seconds"}') > 0 AS s,
	tiered_storage.add_tiering_policy('regress_ms', '31 days', 'regress_slow',
	options => '{"key_unit": "milliseconds"}') > 0 AS ms,
	tiered_storage.add_tiering_policy('regress_us', '31 days', 'regress_slow',
	options => '{"key_unit": "microseconds"}') > 0 AS us,
	tiered_storage.add_tiering_policy('regress_ns', '31 days', 'regress_slow',
	options => '{"key_unit": "nanoseconds"}') > 0 AS ns \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
DROP TABLE regress_s, regress_ms, regress_us, regress_ns;
-- Narrow ones, and values that are no times.
CREATE TABLE regress_int2 (k smallint) PARTITION BY RANGE (k);
CREATE TABLE regress_int2_1 PARTITION OF regress_int2 FOR VALUES FROM (-32768) TO (32767);
CREATE TABLE regress_int4 (k int) PARTITION BY RANGE (k);
CREATE TABLE regress_int4_1 PARTITION OF regress_int4 FOR VALUES FROM (-2147483648) TO (1777593600);
CREATE TABLE regress_int4_2 PARTITION OF regress_int4 FOR VALUES FROM (1777593600) TO (2147483647);
CREATE TABLE regress_int8 (k bigint) PARTITION BY RANGE (k);
CREATE TABLE regress_int8_1 PARTITION OF regress_int8 FOR VALUES FROM (-9223372036854775808) TO (-9223372036854775000);
CREATE TABLE regress_int8_2 PARTITION OF regress_int8 FOR VALUES FROM (-9223372036854775000) TO (0);
CREATE TABLE regress_int8_3 PARTITION OF regress_int8 FOR VALUES FROM (0) TO (9223372036854775807);
SELECT tiered_storage.add_tiering_policy('regress_int2', '31 days', 'regress_slow',
	options => '{"key_unit": "seconds"}') > 0 AS s,
	tiered_storage.add_tiering_policy('regress_int4', '31 days', 'regress_slow',
	options => '{"key_unit": "seconds"}') > 0 AS s,
	tiered_storage.add_tiering_policy('regress_int8', '31 days', 'regress_slow',
	options => '{"key_unit": "seconds"}') > 0 AS s \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
DROP TABLE regress_int2, regress_int4, regress_int8;

-- Several columns: rows may equal the bound of the first.
CREATE TABLE regress_multi (at date, v int) PARTITION BY RANGE (at, v);
CREATE TABLE regress_multi_a PARTITION OF regress_multi FOR VALUES
	FROM ('2026-01-01', 0) TO ('2026-04-30', 5) TABLESPACE regress_ts_fast;
CREATE TABLE regress_multi_b PARTITION OF regress_multi FOR VALUES
	FROM ('2026-04-30', 5) TO ('2026-05-01', MAXVALUE) TABLESPACE regress_ts_fast;
CREATE TABLE regress_multi_c PARTITION OF regress_multi FOR VALUES
	FROM ('2026-05-02', MINVALUE) TO (MAXVALUE, MAXVALUE) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_multi', '31 days', 'regress_slow') AS id \gset
SELECT * FROM regress_verdicts;
DROP TABLE regress_multi;
CREATE TABLE regress_multi (k bigint, v int) PARTITION BY RANGE (k, v);
CREATE TABLE regress_multi_a PARTITION OF regress_multi FOR VALUES
	FROM (0, 0) TO (1777593599, 5) TABLESPACE regress_ts_fast;
CREATE TABLE regress_multi_b PARTITION OF regress_multi FOR VALUES
	FROM (1777593599, 5) TO (1777593600, 5) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_multi', '31 days', 'regress_slow', options => '{"key_unit": "seconds"}') AS id \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
DROP TABLE regress_multi;

-- Numbers that look like dates: days, months, years.  They need not be any: what
-- is above all of April 2026 ends with it.  Below the year 1 there is no time.
CREATE TABLE regress_yyyymmdd (k int) PARTITION BY RANGE (k);
CREATE TABLE regress_yyyymmdd_1 PARTITION OF regress_yyyymmdd FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE regress_yyyymmdd_2 PARTITION OF regress_yyyymmdd FOR VALUES FROM (0) TO (9999);
CREATE TABLE regress_yyyymmdd_3 PARTITION OF regress_yyyymmdd FOR VALUES FROM (9999) TO (20240229);
CREATE TABLE regress_yyyymmdd_4 PARTITION OF regress_yyyymmdd FOR VALUES FROM (20240229) TO (20240230);
CREATE TABLE regress_yyyymmdd_5 PARTITION OF regress_yyyymmdd FOR VALUES FROM (20240230) TO (20250229);
CREATE TABLE regress_yyyymmdd_6 PARTITION OF regress_yyyymmdd FOR VALUES FROM (20250229) TO (20251232);
CREATE TABLE regress_yyyymmdd_7 PARTITION OF regress_yyyymmdd FOR VALUES FROM (20251232) TO (20260000);
CREATE TABLE regress_yyyymmdd_8 PARTITION OF regress_yyyymmdd FOR VALUES FROM (20260000) TO (20260100);
CREATE TABLE regress_yyyymmdd_9 PARTITION OF regress_yyyymmdd FOR VALUES FROM (20260100) TO (20260431);
CREATE TABLE regress_yyyymmdd_a PARTITION OF regress_yyyymmdd FOR VALUES FROM (20260431) TO (20260501);
CREATE TABLE regress_yyyymmdd_b PARTITION OF regress_yyyymmdd FOR VALUES FROM (20260501) TO (20260502);
CREATE TABLE regress_yyyymmdd_c PARTITION OF regress_yyyymmdd FOR VALUES FROM (20260502) TO (99991231);
CREATE TABLE regress_yyyymmdd_d PARTITION OF regress_yyyymmdd FOR VALUES FROM (99991231) TO (2147483647);
CREATE TABLE regress_yyyymm (k int, v int) PARTITION BY RANGE (k, v);
CREATE TABLE regress_yyyymm_1 PARTITION OF regress_yyyymm FOR VALUES FROM (MINVALUE, MINVALUE) TO (202603, MINVALUE);
CREATE TABLE regress_yyyymm_2 PARTITION OF regress_yyyymm FOR VALUES FROM (202603, MINVALUE) TO (202604, 5);
CREATE TABLE regress_yyyymm_3 PARTITION OF regress_yyyymm FOR VALUES FROM (202604, 5) TO (202613, 0);
CREATE TABLE regress_yyyy (k smallint) PARTITION BY RANGE (k);
CREATE TABLE regress_yyyy_1 PARTITION OF regress_yyyy FOR VALUES FROM (MINVALUE) TO (2026);
CREATE TABLE regress_yyyy_2 PARTITION OF regress_yyyy FOR VALUES FROM (2026) TO (32767);
SELECT tiered_storage.add_tiering_policy('regress_yyyymmdd', '31 days', 'regress_slow',
	options => '{"key_unit": "yyyymmdd"}') > 0
	AS d,
	tiered_storage.add_tiering_policy('regress_yyyymm', '31 days', 'regress_slow',
	options => '{"key_unit": "yyyymm"}') > 0 AS m,
	tiered_storage.add_tiering_policy('regress_yyyy', '31 days', 'regress_slow',
	options => '{"key_unit": "yyyy", "time_zone": "Asia/Kathmandu"}') > 0 AS y \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
DROP TABLE regress_yyyymmdd, regress_yyyymm, regress_yyyy;
-- Numeric: what is between two numbers belongs to the smaller one.
CREATE TABLE regress_numeric (k numeric) PARTITION BY RANGE (k);
CREATE TABLE regress_numeric_1 PARTITION OF regress_numeric FOR VALUES FROM ('-infinity') TO (-1e30);
CREATE TABLE regress_numeric_2 PARTITION OF regress_numeric FOR VALUES FROM (-1e30) TO (20260430.5);
CREATE TABLE regress_numeric_3 PARTITION OF regress_numeric FOR VALUES FROM (20260430.5) TO (20260501.000);
CREATE TABLE regress_numeric_4 PARTITION OF regress_numeric FOR VALUES FROM (20260501) TO (20260501.5);
CREATE TABLE regress_numeric_5 PARTITION OF regress_numeric FOR VALUES FROM (20260501.5) TO (9223372036854775807);
CREATE TABLE regress_numeric_6 PARTITION OF regress_numeric FOR VALUES FROM (9223372036854775807) TO (1e30);
CREATE TABLE regress_numeric_7 PARTITION OF regress_numeric FOR VALUES FROM (1e30) TO ('infinity');
CREATE TABLE regress_numeric_8 PARTITION OF regress_numeric FOR VALUES FROM ('infinity') TO ('NaN');
SELECT tiered_storage.add_tiering_policy('regress_numeric', '31 days', 'regress_slow',
	options => '{"key_unit": "yyyymmdd"}')
	AS id \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
SELECT tiered_storage.remove_policy(policy_id => :id) \gset
SELECT tiered_storage.add_tiering_policy('regress_numeric', '31 days', 'regress_slow',
	options => '{"key_unit": "nanoseconds"}')
	AS id \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
SELECT tiered_storage.remove_policy(policy_id => :id) \gset
DROP TABLE regress_numeric;
\echo '-- Negative counts, units that are finer than a time.'
CREATE TABLE regress_count (k bigint) PARTITION BY RANGE (k);
CREATE TABLE regress_count_1 PARTITION OF regress_count FOR VALUES FROM (-1999) TO (-1001);
CREATE TABLE regress_count_2 PARTITION OF regress_count FOR VALUES FROM (-1001) TO (1001);
CREATE TABLE regress_count_3 PARTITION OF regress_count FOR VALUES FROM (1001) TO (2000);
SELECT tiered_storage.add_tiering_policy('regress_count', '31 days', 'regress_slow',
	options => '{"key_unit": "nanoseconds"}') AS id \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
SELECT tiered_storage.remove_policy(policy_id => :id) \gset
SELECT tiered_storage.add_tiering_policy('regress_count', '31 days', 'regress_slow',
	options => '{"key_unit": "seconds"}') AS id \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
DROP TABLE regress_count;

-- A uuid of version 7, of which bounds have the time and then zeros, ones, or all of it;
-- those of another version have no time.  2026-05-01 is 019de0d5-c800.
CREATE TABLE "regress Uuid" (k uuid, v text) PARTITION BY RANGE (k);
CREATE TABLE regress_uuid_0 PARTITION OF "regress Uuid" FOR VALUES
	FROM (MINVALUE) TO ('00000000-0000-0000-0000-000000000000') TABLESPACE regress_ts_fast;
CREATE TABLE regress_uuid_1 PARTITION OF "regress Uuid" FOR VALUES
	FROM ('00000000-0000-0000-0000-000000000000') TO ('019de0d5-c7ff-ffff-ffff-ffffffffffff')
		TABLESPACE regress_ts_fast;
CREATE TABLE regress_uuid_2 PARTITION OF "regress Uuid" FOR VALUES
	FROM ('019de0d5-c7ff-ffff-ffff-ffffffffffff') TO ('019de0d5-c800-0000-0000-000000000000')
		TABLESPACE regress_ts_fast;
CREATE TABLE regress_uuid_3 PARTITION OF "regress Uuid" FOR VALUES
	FROM ('019de0d5-c800-0000-0000-000000000000') TO ('019de0d5-c800-4000-8000-000000000000')
		TABLESPACE regress_ts_fast;
CREATE TABLE regress_uuid_4 PARTITION OF "regress Uuid" FOR VALUES
	FROM ('019de0d5-c800-4000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000')
		TABLESPACE regress_ts_fast;
CREATE TABLE regress_uuid_5 PARTITION OF "regress Uuid" FOR VALUES
	FROM ('019de0d5-c800-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000001')
		TABLESPACE regress_ts_fast;
CREATE TABLE regress_uuid_6 PARTITION OF "regress Uuid" FOR VALUES
	FROM ('019de0d5-c800-7000-8000-000000000001') TO ('ffffffff-fffe-0000-0000-000000000000')
		TABLESPACE regress_ts_fast;
CREATE TABLE regress_uuid_7 PARTITION OF "regress Uuid" FOR VALUES
	FROM ('ffffffff-fffe-0000-0000-000000000000') TO ('ffffffff-ffff-ffff-ffff-ffffffffffff')
		TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('"regress Uuid"', '31 days', 'regress_slow',
	options => '{"key_unit": "uuidv7"}') AS id \gset
SELECT * FROM regress_verdicts;
-- A policy that cannot be evaluated does no harm to another one, nor to the session.
-- Made up, since no call makes it in the time of a test: rows as a dump or another machine has left them.
UPDATE _tiered_storage.policy SET time_zone = 'Nowhere/Land' WHERE policy_id = :id;
CREATE TABLE regress_other (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_other_a PARTITION OF regress_other FOR VALUES
	FROM (MINVALUE) TO ('2026-01-01') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_other', '1 month', 'regress_slow') AS other \gset
SELECT relation, verdict, to_tier, reason FROM regress_verdicts;
SELECT current_user = session_user AS still_me, current_setting('search_path') AS search_path,
	current_setting('timezone') AS time_zone;
SELECT tiered_storage.remove_policy(policy_id => :other) \gset
DROP TABLE regress_other, "regress Uuid";

\echo '-- Trees'

CREATE TABLE regress_tree (at date, v int, at2 date) PARTITION BY RANGE (at);
-- The same column again: the tightest bounds count.
CREATE TABLE regress_tree_same PARTITION OF regress_tree FOR VALUES
	FROM ('2026-01-01') TO ('2026-07-01') PARTITION BY RANGE (at);
CREATE TABLE regress_tree_same_1 PARTITION OF regress_tree_same FOR VALUES
	FROM (MINVALUE) TO ('2026-03-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_tree_same_2 PARTITION OF regress_tree_same FOR VALUES
	FROM ('2026-03-01') TO (MAXVALUE) TABLESPACE regress_ts_fast;
CREATE TABLE regress_tree_same_d PARTITION OF regress_tree_same DEFAULT TABLESPACE regress_ts_fast;
-- Hash and list pass the bounds on.
CREATE TABLE regress_tree_hash PARTITION OF regress_tree FOR VALUES
	FROM ('2025-07-01') TO ('2026-01-01') PARTITION BY HASH (v);
CREATE TABLE regress_tree_hash_0 PARTITION OF regress_tree_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0)
	TABLESPACE regress_ts_fast;
CREATE TABLE regress_tree_hash_1 PARTITION OF regress_tree_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1)
	TABLESPACE regress_ts_slow;
CREATE TABLE regress_tree_list PARTITION OF regress_tree FOR VALUES
	FROM ('2025-01-01') TO ('2025-07-01') PARTITION BY LIST (v);
CREATE TABLE regress_tree_list_1 PARTITION OF regress_tree_list FOR VALUES IN (1) TABLESPACE regress_ts_fast;
CREATE TABLE regress_tree_list_d PARTITION OF regress_tree_list DEFAULT TABLESPACE regress_ts_fast;
-- Ranges of another column say nothing, even of the same type.
CREATE TABLE regress_tree_range PARTITION OF regress_tree FOR VALUES
	FROM ('2024-07-01') TO ('2025-01-01') PARTITION BY RANGE (at2);
CREATE TABLE regress_tree_range_1 PARTITION OF regress_tree_range FOR VALUES
	FROM ('2030-01-01') TO ('2031-01-01') TABLESPACE regress_ts_cheap;
CREATE TABLE regress_tree_range_2 PARTITION OF regress_tree_range FOR VALUES
	FROM ('2031-01-01') TO (MAXVALUE) TABLESPACE regress_ts_fast;
-- Below a default partition only its own bounds tell the age.
CREATE TABLE regress_tree_default PARTITION OF regress_tree DEFAULT PARTITION BY RANGE (at);
CREATE TABLE regress_tree_default_1 PARTITION OF regress_tree_default FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_tree_default_d PARTITION OF regress_tree_default DEFAULT TABLESPACE regress_ts_fast;
-- An empty sub-tree has no leaf.
CREATE TABLE regress_tree_empty PARTITION OF regress_tree FOR VALUES
	FROM ('2023-07-01') TO ('2024-01-01') PARTITION BY RANGE (at);
-- Columns may be in another order in a partition that was attached.
CREATE TABLE regress_tree_attached (at2 date, dropped int, v int, at date) TABLESPACE regress_ts_fast;
ALTER TABLE regress_tree_attached DROP COLUMN dropped;
ALTER TABLE regress_tree ATTACH PARTITION regress_tree_attached FOR VALUES FROM ('2024-01-01') TO ('2024-07-01');
SELECT tiered_storage.add_tiering_policy('regress_tree', '31 days', 'regress_slow') AS id \gset
SELECT relation, verdict, lower_bound, upper_bound, from_tier, reason FROM regress_verdicts;
\echo '-- Only what is attached counts.'
ALTER TABLE regress_tree DETACH PARTITION regress_tree_attached;
SELECT count(*) FROM regress_verdicts WHERE relation = 'regress_tree_attached'::regclass;
\echo '-- A policy on a branch concerns the branch.'
SELECT tiered_storage.remove_policy('regress_tree') \gset
SELECT tiered_storage.add_tiering_policy('regress_tree_same', '31 days', 'regress_slow') AS id \gset
SELECT relation, verdict, lower_bound, upper_bound FROM regress_verdicts;
DROP TABLE regress_tree, regress_tree_attached;

-- Foreign and unlogged partitions; with two policies; what is slower stays there.
CREATE FOREIGN DATA WRAPPER regress_fdw;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_fdw;
CREATE TABLE regress_mix (at date) PARTITION BY RANGE (at);
CREATE FOREIGN TABLE regress_mix_2020 PARTITION OF regress_mix FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') SERVER regress_server;
CREATE UNLOGGED TABLE regress_mix_2024 PARTITION OF regress_mix FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_mix_2025 PARTITION OF regress_mix FOR VALUES
	FROM ('2025-01-01') TO ('2026-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_mix_2026 PARTITION OF regress_mix FOR VALUES
	FROM ('2026-01-01') TO ('2027-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_mix_2023 PARTITION OF regress_mix FOR VALUES
	FROM ('2023-01-01') TO ('2024-01-01') TABLESPACE regress_ts_cheap;
CREATE TABLE regress_mix_2022 PARTITION OF regress_mix FOR VALUES
	FROM ('2022-01-01') TO ('2023-01-01') TABLESPACE regress_ts_slow;
SELECT tiered_storage.add_tiering_policy('regress_mix', '90 days', 'regress_slow') AS a \gset
SELECT tiered_storage.add_tiering_policy('regress_mix', '1 year', 'regress_cheap') AS b \gset
SELECT relation, verdict, from_tier, to_tier, reason FROM regress_verdicts;
SELECT relation, verdict, from_tablespace, to_tablespace, size_bytes FROM _tiered_storage.evaluate_policies()
	WHERE relation = 'regress_mix_2020'::regclass;
\echo '-- An index that was left behind, or came later, is due with its table.'
CREATE INDEX regress_mix_2023_at ON regress_mix_2023 (at) TABLESPACE regress_ts_fast;
SELECT relation, verdict, from_tier, to_tier, size_bytes = pg_relation_size('regress_mix_2023_at') AS size_of_index
	FROM _tiered_storage.evaluate_policies() WHERE relation = 'regress_mix_2023'::regclass ORDER BY policy_id;
\echo '-- But not where the policy leaves indexes alone.'
SELECT tiered_storage.remove_policy('regress_mix');
SELECT tiered_storage.add_tiering_policy('regress_mix', '1 year', 'regress_cheap',
	options => '{"include_indexes": false}') AS b \gset
SELECT relation, verdict FROM regress_verdicts WHERE relation = 'regress_mix_2023'::regclass;
DROP TABLE regress_mix;
SET client_min_messages = warning;
DROP FOREIGN DATA WRAPPER regress_fdw CASCADE;
RESET client_min_messages;

\echo '-- Bounds that are no time'

CREATE TABLE regress_odd (k bigint) PARTITION BY RANGE (k);
CREATE TABLE regress_odd_a PARTITION OF regress_odd FOR VALUES FROM (1) TO (202401) TABLESPACE regress_ts_fast;
CREATE TABLE regress_odd_b PARTITION OF regress_odd FOR VALUES
	FROM (202401) TO (1000000000) TABLESPACE regress_ts_fast;
CREATE TABLE regress_odd_c PARTITION OF regress_odd FOR VALUES
	FROM (1000000000) TO (MAXVALUE) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_odd', '1 year', 'regress_slow',
	options => '{"key_unit": "yyyymm"}') > 0 AS added \gset
SELECT relation, verdict, upper_bound, reason FROM regress_verdicts;
-- Nor what is behind the calendar; what is infinite has no end.
CREATE TABLE regress_odd_date (d date) PARTITION BY RANGE (d);
CREATE TABLE regress_odd_date_a PARTITION OF regress_odd_date FOR VALUES
	FROM ('2020-01-01') TO ('5000000-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_odd_date_b PARTITION OF regress_odd_date FOR VALUES
	FROM ('5000000-01-01') TO ('infinity') TABLESPACE regress_ts_fast;
CREATE TABLE regress_odd_uuid (id uuid) PARTITION BY RANGE (id);
CREATE TABLE regress_odd_uuid_a PARTITION OF regress_odd_uuid FOR VALUES
	FROM (MINVALUE) TO ('12345678-1234-4234-8234-123456789abc') TABLESPACE regress_ts_fast;
CREATE TABLE regress_odd_uuid_b PARTITION OF regress_odd_uuid FOR VALUES
	FROM ('12345678-1234-4234-8234-123456789abc') TO ('ffffffff-ffff-ffff-ffff-ffffffffffff')
		TABLESPACE regress_ts_fast;
CREATE TABLE regress_odd_numeric (n numeric) PARTITION BY RANGE (n);
CREATE TABLE regress_odd_numeric_a PARTITION OF regress_odd_numeric FOR VALUES
	FROM (0) TO (1e30) TABLESPACE regress_ts_fast;
CREATE TABLE regress_odd_numeric_b PARTITION OF regress_odd_numeric FOR VALUES
	FROM (1e30) TO ('Infinity') TABLESPACE regress_ts_fast;
SELECT tiered_storage.remove_policy('regress_odd') \g /dev/null
SELECT tiered_storage.add_tiering_policy('regress_odd_date', '1 year', 'regress_slow'),
	tiered_storage.add_tiering_policy('regress_odd_uuid', '1 year', 'regress_slow',
	options => '{"key_unit": "uuidv7"}'),
	tiered_storage.add_tiering_policy('regress_odd_numeric', '1 year', 'regress_slow',
	options => '{"key_unit": "seconds"}') \g /dev/null
SELECT relation, verdict, upper_bound, reason FROM regress_verdicts;
DROP TABLE regress_odd, regress_odd_date, regress_odd_uuid, regress_odd_numeric;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null

-- Months have different lengths: the calendar counts, not 30 days.
CREATE TABLE regress_month (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_month_a PARTITION OF regress_month FOR VALUES
	FROM ('2026-01-01') TO ('2026-02-28') TABLESPACE regress_ts_fast;
CREATE TABLE regress_month_b PARTITION OF regress_month FOR VALUES
	FROM ('2026-02-28') TO ('2026-03-01') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_month', '1 month', 'regress_slow') AS id \gset
SET tiered_storage.test_now = '2026-03-31 00:00:00+00';
SELECT relation, verdict FROM regress_verdicts;
DROP TABLE regress_month;

-- An age that may be less than nothing makes nothing due in the future: in February a month is 28 days.
CREATE TABLE regress_month (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_month_a PARTITION OF regress_month FOR VALUES
	FROM ('2026-02-01') TO ('2026-03-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_month_b PARTITION OF regress_month FOR VALUES
	FROM ('2026-03-01') TO ('2026-03-02') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_month', '1 month -30 days', 'regress_slow') AS id \gset
SET tiered_storage.test_now = '2026-03-01 00:00:00+00';
SELECT relation, verdict FROM regress_verdicts;
DROP TABLE regress_month;

-- A key that is ordered in another way: its later bound comes first.
CREATE FUNCTION regress_later(a date, b date) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT date_cmp(b, a)';
CREATE OPERATOR CLASS regress_date_descending FOR TYPE date USING btree AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 regress_later(date, date);
CREATE TABLE regress_later (at date) PARTITION BY RANGE (at regress_date_descending);
CREATE TABLE regress_later_a PARTITION OF regress_later FOR VALUES
	FROM ('2030-01-01') TO ('2020-01-01') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_later', '1 month', 'regress_slow');
-- As a level below it only passes bounds on.
CREATE TABLE regress_month (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_month_a PARTITION OF regress_month FOR VALUES
	FROM ('2025-01-01') TO ('2026-01-01') PARTITION BY RANGE (at regress_date_descending);
CREATE TABLE regress_month_b PARTITION OF regress_month_a FOR VALUES
	FROM ('2026-01-01') TO ('2020-01-01') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_month', '1 month', 'regress_slow') \g /dev/null
SELECT relation, verdict, upper_bound FROM _tiered_storage.evaluate_policies();
DROP TABLE regress_month, regress_later;
DROP OPERATOR FAMILY regress_date_descending USING btree CASCADE;
DROP FUNCTION regress_later;

DROP VIEW regress_verdicts;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
