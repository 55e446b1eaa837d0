-- new_partitions_on: what is new is created where it belongs.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
-- However full the disks of this machine are.
SELECT count(tiered_storage.alter_tier(tier_name, capacity_bytes => 1000000000)) FROM tiered_storage.tiers WHERE tier_name LIKE 'regress%';
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE VIEW regress_n_places AS
	SELECT c.relname, c.relkind, COALESCE(t.spcname, 'of the database') AS tablespace
	FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname LIKE 'regress\_n\_%' AND c.relkind IN ('p', 'I', 'r', 'i') AND c.relname NOT LIKE '%places';
CREATE VIEW regress_n_says AS
	SELECT relation, verdict, from_tier, from_tablespace, to_tier, to_tablespace, reason
	FROM tiered_storage.evaluate_policies() WHERE relation::text LIKE 'regress\_n\_%';
CREATE TABLE regress_n_t (at timestamptz NOT NULL, v int, PRIMARY KEY (at, v)) PARTITION BY RANGE (at);
CREATE TABLE regress_n_t_old PARTITION OF regress_n_t FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE regress_n_t_sub PARTITION OF regress_n_t FOR VALUES FROM ('2026-05-01') TO ('2026-06-01') PARTITION BY HASH (v) TABLESPACE regress_ts_cheap;
CREATE TABLE regress_n_plain (a int);

---------------------------------------------------------------------------
-- Refused
---------------------------------------------------------------------------

SELECT tiered_storage.add_tiering_policy('regress_n_plain', tier => 'regress_slow', idle_for => '1 day', new_partitions_on => 'regress_fast'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_n_t', '90 days', 'regress_slow', new_partitions_on => 'regress_nothing'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_n_t', '90 days', 'regress_slow', new_partitions_on => 'regress_slow'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_n_t', '90 days', 'regress_slow', new_partitions_on => 'regress_cheap'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_n_t', '90 days', 'regress_slow', new_partitions_on => ''); \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.policies;

---------------------------------------------------------------------------
-- In force: not by who adds the policy, but by migrate() or the worker
---------------------------------------------------------------------------

SELECT tiered_storage.add_tiering_policy('regress_n_t', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
SELECT new_partitions_on FROM tiered_storage.policies;
SELECT * FROM regress_n_places ORDER BY 1;
SELECT relation, verdict, from_tablespace, to_tier, to_tablespace, reason FROM regress_n_says ORDER BY relation::text;
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_n_places ORDER BY 1;
SELECT * FROM regress_n_says ORDER BY relation::text;
-- The second time nothing is done.
CALL tiered_storage.migrate();

-- What is new comes there, on each level, with its indexes.
CREATE TABLE regress_n_t_new PARTITION OF regress_n_t FOR VALUES FROM ('2026-06-01') TO ('2026-07-01');
CREATE TABLE regress_n_t_sub_0 PARTITION OF regress_n_t_sub FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE regress_n_t_next PARTITION OF regress_n_t FOR VALUES FROM ('2026-07-01') TO ('2026-08-01') PARTITION BY HASH (v);
CREATE TABLE regress_n_t_next_0 PARTITION OF regress_n_t_next FOR VALUES WITH (MODULUS 1, REMAINDER 0);
-- A later index of the whole table has to be set once more.
CREATE INDEX regress_n_t_v ON regress_n_t (v);
-- What somebody creates elsewhere, or attaches, is shown, and stays there.
CREATE TABLE regress_n_t_sub_1 PARTITION OF regress_n_t_sub FOR VALUES WITH (MODULUS 2, REMAINDER 1) TABLESPACE regress_ts_cheap;
CREATE TABLE regress_n_t_attached (at timestamptz NOT NULL, v int NOT NULL);
ALTER TABLE regress_n_t ATTACH PARTITION regress_n_t_attached FOR VALUES FROM ('2026-08-01') TO ('2026-09-01');
CALL tiered_storage.migrate();
SELECT * FROM regress_n_places ORDER BY 1;
SELECT relation, verdict, from_tier, right(reason, 61) AS reason FROM regress_n_says WHERE reason LIKE '%where new%' ORDER BY relation::text;
CALL tiered_storage.migrate();

---------------------------------------------------------------------------
-- Changed by hand: that is left alone, and said
---------------------------------------------------------------------------

ALTER TABLE regress_n_t SET TABLESPACE regress_ts_cheap;
CALL tiered_storage.migrate();
SELECT relation, verdict, from_tablespace, reason FROM regress_n_says WHERE verdict = 'changed by hand';
-- Until it is said again.
SELECT tiered_storage.alter_tiering_policy(policy_id => :id, new_partitions_on => 'regress_fast');
CALL tiered_storage.migrate();
-- Another tier: what is given back in the end is what was there in the beginning.
SELECT tiered_storage.alter_tiering_policy(policy_id => :id, new_tier => 'regress_cheap', new_partitions_on => 'regress_slow');
CALL tiered_storage.migrate();
SELECT tablespace, count(*) FROM regress_n_places WHERE relkind IN ('p', 'I') GROUP BY 1 ORDER BY 1;

---------------------------------------------------------------------------
-- Disabled: nothing is set, and nothing given back
---------------------------------------------------------------------------

SELECT tiered_storage.alter_tiering_policy(policy_id => :id, enabled => false);
CREATE INDEX regress_n_t_w ON regress_n_t (v, at);
CALL tiered_storage.migrate();
SELECT relation, verdict FROM regress_n_says WHERE relation::text IN ('regress_n_t', 'regress_n_t_w') ORDER BY relation::text;
SELECT tiered_storage.alter_tiering_policy(policy_id => :id, enabled => true);

---------------------------------------------------------------------------
-- Unset, and removed: given back, unless somebody has changed it
---------------------------------------------------------------------------

SELECT tiered_storage.alter_tiering_policy(policy_id => :id, unset => '{relation}'); \echo :SQLSTATE
SELECT tiered_storage.alter_tiering_policy(policy_id => :id, unset => '{NULL}'); \echo :SQLSTATE
SELECT tiered_storage.alter_tiering_policy(policy_id => :id, unset => '{}'); \echo :SQLSTATE
SELECT tiered_storage.alter_tiering_policy(policy_id => :id, unset => '{new_partitions_on}');
SELECT new_partitions_on FROM tiered_storage.policies;
ALTER TABLE regress_n_t_next SET TABLESPACE regress_ts_fast;
SELECT policy_id, relation, verdict, to_tablespace FROM tiered_storage.evaluate_policies() WHERE verdict LIKE '%any more' ORDER BY relation::text;
CALL tiered_storage.migrate();
-- Also of what was created below meanwhile, and has had it from there.
SELECT * FROM regress_n_places WHERE relkind IN ('p', 'I') ORDER BY 1;
SELECT count(*) FROM _tiered_storage.partition_default;
-- Without indexes.
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
SELECT tiered_storage.add_tiering_policy('regress_n_t', '90 days', 'regress_slow', include_indexes => false, new_partitions_on => 'regress_fast') AS id \gset
CALL tiered_storage.migrate();
SELECT * FROM regress_n_places WHERE relkind IN ('p', 'I') AND tablespace = 'regress_ts_fast' ORDER BY 1;
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
CALL tiered_storage.migrate();
SELECT * FROM regress_n_places WHERE relkind IN ('p', 'I') AND tablespace <> 'of the database' ORDER BY 1;
SELECT count(*) FROM _tiered_storage.partition_default;

---------------------------------------------------------------------------
-- Several policies
---------------------------------------------------------------------------

SELECT tiered_storage.add_tiering_policy('regress_n_t', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
SELECT tiered_storage.add_tiering_policy('regress_n_t', '1 year', 'regress_cheap', new_partitions_on => 'regress_slow'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_n_t', '1 year', 'regress_cheap') AS later \gset
SELECT tiered_storage.alter_tiering_policy(policy_id => :later, new_partitions_on => 'regress_slow'); \echo :SQLSTATE
SELECT tiered_storage.alter_tiering_policy(policy_id => :later, new_partitions_on => 'regress_fast');
-- The nearest table decides.
SELECT tiered_storage.add_tiering_policy('regress_n_t_sub', tier => 'regress_cheap', idle_for => '1 day', new_partitions_on => 'regress_slow') AS near \gset
CALL tiered_storage.migrate();
SELECT * FROM regress_n_places WHERE relkind = 'p' ORDER BY 1;
-- A disabled policy does not.
SELECT tiered_storage.alter_tiering_policy(policy_id => :near, enabled => false);
CALL tiered_storage.migrate();
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_tiering_policy(policy_id => :near), tiered_storage.remove_tiering_policy(policy_id => :later);

---------------------------------------------------------------------------
-- Tiers
---------------------------------------------------------------------------

-- A tier that is where new partitions are created is not removed, and its name may change.
SELECT tiered_storage.remove_tier('regress_fast'); \echo :SQLSTATE
SELECT tiered_storage.alter_tier('regress_fast', new_name => 'regress_quick');
SELECT new_partitions_on FROM tiered_storage.policies;
CALL tiered_storage.migrate();
SELECT tiered_storage.alter_tier('regress_quick', new_name => 'regress_fast');
-- It is given another tablespace: that is set.
CREATE TABLESPACE regress_ts_other LOCATION '';
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{regress_ts_other}');
CALL tiered_storage.migrate();
-- Of two, the one that is set stays.
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{regress_ts_fast,regress_ts_other}');
CALL tiered_storage.migrate();
-- The database's own: it counts if default_tablespace names no other.
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{pg_default}');
CALL tiered_storage.migrate();
SELECT relation, verdict, reason FROM regress_n_says WHERE relation = 'regress_n_t'::regclass;
SELECT tablespace, count(*) FROM regress_n_places WHERE relkind IN ('p', 'I') GROUP BY 1 ORDER BY 1;
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{regress_ts_fast}');
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
-- The table is dropped before it was given back.
DROP TABLE regress_n_t;
CALL tiered_storage.migrate();
SELECT count(*) FROM _tiered_storage.partition_default;

-- The last tablespace of the tier is dropped before it was set.
CREATE TABLESPACE regress_ts_gone LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_gone', '{regress_ts_gone}', profile => 'nvme', rank => 0, capacity_bytes => 1000000000);
RESET client_min_messages;
CREATE TABLE regress_n_v (at date NOT NULL) PARTITION BY RANGE (at);
SELECT tiered_storage.add_tiering_policy('regress_n_v', '90 days', 'regress_slow', new_partitions_on => 'regress_gone') AS id \gset
DROP TABLESPACE regress_ts_gone;
SELECT relation, verdict, to_tier, to_tablespace, reason FROM regress_n_says;
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
DROP TABLE regress_n_v;

---------------------------------------------------------------------------
-- Rights: the owner must be able to create partitions there
---------------------------------------------------------------------------

CREATE ROLE regress_n_owner;
CREATE TABLE regress_n_u (at date NOT NULL) PARTITION BY RANGE (at);
CREATE INDEX regress_n_u_at ON regress_n_u (at);
ALTER TABLE regress_n_u OWNER TO regress_n_owner;
SELECT tiered_storage.add_tiering_policy('regress_n_u', '90 days', 'regress_slow', new_partitions_on => 'regress_fast'); \echo :SQLSTATE
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_n_owner;
SELECT tiered_storage.add_tiering_policy('regress_n_u', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
REVOKE CREATE ON TABLESPACE regress_ts_fast FROM regress_n_owner;
SELECT relation, verdict, reason FROM regress_n_says ORDER BY relation::text;
CALL tiered_storage.migrate();
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_n_owner;
CALL tiered_storage.migrate();
-- It is taken back as well when the right is.
REVOKE CREATE ON TABLESPACE regress_ts_fast FROM regress_n_owner;
CALL tiered_storage.migrate();
SELECT * FROM regress_n_places WHERE relname LIKE 'regress\_n\_u%' ORDER BY 1;
CALL tiered_storage.migrate();
-- The role of the policy has lost the table: the owner's is not used for it.
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_slow TO regress_n_owner;
CREATE ROLE regress_n_other;
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_slow TO regress_n_other;
GRANT USAGE ON SCHEMA tiered_storage TO regress_n_owner;
GRANT EXECUTE ON FUNCTION tiered_storage.alter_tiering_policy TO regress_n_owner;
SET ROLE regress_n_owner;
SELECT tiered_storage.alter_tiering_policy('regress_n_u', enabled => true);
RESET ROLE;
ALTER TABLE regress_n_u OWNER TO regress_n_other;
SELECT relation, verdict, reason FROM regress_n_says ORDER BY relation::text;
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
DROP TABLE regress_n_u, regress_n_plain;
DROP OWNED BY regress_n_owner, regress_n_other;
DROP ROLE regress_n_owner, regress_n_other;
DROP VIEW regress_n_says, regress_n_places;
SET client_min_messages = warning;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
DROP TABLESPACE regress_ts_other;
DROP EXTENSION tiered_storage;
