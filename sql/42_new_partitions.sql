-- New partitions are created in the tablespace of their table: a policy says if that is where it moves them.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
RESET client_min_messages;
CREATE TABLE "Regress N" (d date) PARTITION BY RANGE (d) TABLESPACE regress_ts_slow;
CREATE TABLE regress_n_1 PARTITION OF "Regress N" FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
SELECT tiered_storage.add_tiering_policy('"Regress N"', '10 years', 'regress_slow') AS id;
-- The statement does what the hint says.
ALTER TABLE public."Regress N" SET TABLESPACE regress_ts_fast;
CREATE TABLE regress_n_2 PARTITION OF "Regress N" FOR VALUES FROM ('2021-01-01') TO ('2022-01-01');
SELECT relname, spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE relname ~ '^regress_n_'
	ORDER BY 1;
-- Nothing to say: they are on a faster tier, or none is; the owner may not create on one; the table has no partitions,
-- or is one of many.
SELECT tiered_storage.add_tiering_policy('"Regress N"', '20 years', 'regress_cheap') AS id;
SELECT tiered_storage.add_tiering_policy('"Regress N"', '5 years', 'regress_fast') AS id;
CREATE ROLE regress_n_owner;
CREATE TABLE regress_n_owned (d date) PARTITION BY RANGE (d) TABLESPACE regress_ts_slow;
ALTER TABLE regress_n_owned OWNER TO regress_n_owner;
SELECT tiered_storage.add_tiering_policy('regress_n_owned', '90 days', 'regress_slow') AS id;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_n_owner;
CREATE TABLE regress_n_plain (i int) TABLESPACE regress_ts_slow;
SELECT tiered_storage.add_tiering_policy('regress_n_plain', tier => 'regress_slow', idle_for => '90 days') AS id;
SELECT tiered_storage.add_tiering_policy(in_schema => 'public', tier => 'regress_slow', idle_for => '90 days')
	AS id;
-- Created on a slower tier than that of the policy; the nearest that is faster.
CREATE TABLE regress_n_slowest (d date) PARTITION BY RANGE (d) TABLESPACE regress_ts_cheap;
SELECT tiered_storage.add_tiering_policy('regress_n_slowest', tier => 'regress_slow', idle_for => '30 days') AS id;
-- Nothing can be on a faster tier than the fastest.
CREATE TABLE regress_n_fastest (d date) PARTITION BY RANGE (d) TABLESPACE regress_ts_fast;
CREATE TABLE regress_n_fastest_1 PARTITION OF regress_n_fastest FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')
	TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_n_fastest', move_after => '30 days', tier => 'regress_fast') AS id;
DROP TABLE regress_n_fastest;
CREATE TABLE regress_n_faster PARTITION OF regress_n_slowest FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')
	TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_n_slowest', tier => 'regress_cheap', idle_for => '90 days') AS id;
SELECT tiered_storage.add_tiering_policy('regress_n_slowest', tier => 'regress_slow', idle_for => '30 days') AS id;
SELECT tiered_storage.remove_policy('regress_n_owned') AS removed;
SELECT tiered_storage.add_tiering_policy('regress_n_owned', '90 days', 'regress_slow') AS id;
DROP TABLE "Regress N", regress_n_owned, regress_n_plain, regress_n_slowest;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
DROP ROLE regress_n_owner;
