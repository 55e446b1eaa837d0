-- OLTP or analytics, by what was measured.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
SET tiered_storage.track_access = off;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
SELECT schema_name, workload, reason FROM tiered_storage.workload_profile;

-- A schema of each kind, and one of which it is not known.
CREATE SCHEMA regress_orders;
CREATE SCHEMA regress_facts;
CREATE SCHEMA "regress V";
CREATE SCHEMA regress_idle;
CREATE TABLE regress_orders.o (a int PRIMARY KEY, b text) WITH (autovacuum_enabled = off);
CREATE TABLE regress_facts.f (a int) WITH (autovacuum_enabled = off);
CREATE TABLE regress_facts.loaded (a int) WITH (autovacuum_enabled = off);
CREATE TABLE "regress V".v (a int) WITH (autovacuum_enabled = off);
CREATE TABLE regress_idle.i (a int) WITH (autovacuum_enabled = off);
INSERT INTO regress_orders.o VALUES (1);
INSERT INTO regress_facts.f VALUES (1);
INSERT INTO regress_facts.loaded VALUES (1);
INSERT INTO "regress V".v VALUES (1);
INSERT INTO regress_idle.i VALUES (1);
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
CREATE FUNCTION regress_workload() RETURNS TABLE (schema name, workload text, random numeric, sequential numeric, writes numeric,
	fraction numeric, low numeric, high numeric, written numeric, tps numeric, blocks numeric, temp numeric, reason text) LANGUAGE sql AS $$
	SELECT schema_name, workload, round(random_reads_per_hour::numeric), round(sequential_reads_per_hour::numeric), round(page_writes_per_hour::numeric),
		round(sequential_fraction::numeric, 2), round(sequential_fraction_low::numeric, 2), round(sequential_fraction_high::numeric, 2),
		round(write_fraction::numeric, 2), round(transactions_per_s::numeric, 1), round(blocks_per_transaction::numeric), round(temp_bytes_per_transaction::numeric), reason
	FROM tiered_storage.workload_profile
$$;
UPDATE _tiered_storage.sampler SET wal_since = '2020-01-01';
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00', observed_since = '2020-01-01', sampled_since = '2029-12-31 23:30:00+00',
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0, sequential_high_slow = 0,
	hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0;
-- Orders: 7000 blocks at random, 1000 in sequence, 2000 written; the key's are the schema's, too.  Facts: 90000 of 100000 in sequence.  V: 5000 of
-- 10000, or all, or none.  Idle: 60 blocks an hour.
UPDATE _tiered_storage.relation_state s SET random_slow = v.random, sequential_slow = v.sequential, sequential_low_slow = v.low, sequential_high_slow = v.high, page_writes_slow = v.writes
	FROM (VALUES ('regress_orders.o', 4000, 1000, 1000, 1000, 2000), ('regress_orders.o_pkey', 3000, 0, 0, 0, 0), ('regress_facts.f', 10000, 90000, 85000, 95000, 0),
	('"regress V".v', 5000, 5000, 0, 10000, 0), ('regress_idle.i', 60, 0, 0, 0, 0)) v (name, random, sequential, low, high, writes)
	WHERE s.relation_oid = v.name::regclass;
-- Half an hour is not enough.
SELECT schema, workload, reason FROM regress_workload();
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-01';
UPDATE _tiered_storage.load_state SET observed_since = sampled_at - interval '10 hours';
TRUNCATE _tiered_storage.load_history;
SELECT * FROM regress_workload();
-- What was read once is no workload: a million blocks of a load.
UPDATE _tiered_storage.relation_state SET random_slow = 1000000, evidence_interval_s = 3600, evidence_began_at = '2029-12-31 08:00:00+00',
	evidence_reads = decode('00247449' || repeat('00000000', 15), 'hex') WHERE relation_oid = 'regress_facts.loaded'::regclass;
SELECT read_pattern FROM tiered_storage.heat WHERE relation = 'regress_facts.loaded'::regclass;
SELECT schema, workload, random FROM regress_workload() WHERE schema = 'regress_facts';
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, random_slow = 0 WHERE relation_oid = 'regress_facts.loaded'::regclass;
-- 72000 transactions in ten hours are 2 a second; 50 blocks each are many small ones, so the whole is no analytics alone.
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks, blocks_fetched, blocks_hit, temp_bytes)
	SELECT sampled_at - interval '10 hours', 36000, 72000, 0, 3600000, 3000000, 7200000 FROM _tiered_storage.load_state;
UPDATE _tiered_storage.relation_state SET random_slow = 0, sequential_slow = 0, sequential_low_slow = 0, sequential_high_slow = 0 WHERE relation_oid = '"regress V".v'::regclass;
SELECT workload, fraction, tps, blocks, temp, reason FROM regress_workload() WHERE schema IS NULL;
-- Of 1000000 blocks each they are.
UPDATE _tiered_storage.load_history SET commits = 36, blocks_fetched = 36000000, blocks_hit = 36000000;
SELECT workload, tps, blocks, reason FROM regress_workload() WHERE schema IS NULL;
-- The WAL is not read.
UPDATE _tiered_storage.sampler SET wal_since = NULL;
SELECT schema, writes, written, reason FROM regress_workload() WHERE schema = 'regress_orders';

SET client_min_messages = warning;
DROP FUNCTION regress_workload;
DROP SCHEMA regress_orders, regress_facts, "regress V", regress_idle CASCADE;
DROP EXTENSION tiered_storage;
