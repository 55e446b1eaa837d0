-- Policies on shards.  Citus is made up here; test/citus has the real one.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE ROLE regress_shards_owner;
CREATE ROLE regress_shards_other;
CREATE SCHEMA "regress n";
GRANT USAGE, CREATE ON SCHEMA "regress n" TO regress_shards_owner, regress_shards_other;
SET search_path = "regress n";

-- Without Citus no table has shards.
CREATE TABLE plain (id bigint);
\set ECHO all
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('plain', idle_for => '1 day', tier => 'regress_slow', options => '{"on_shards": true}')
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress n', idle_for => '1 day', tier => 'regress_slow', options => '{"on_shards": true}')
$refused$);
\set ECHO all

\set ECHO none
SET ROLE regress_shards_owner;
CREATE TABLE "It's 100% ""x""" (id bigint, at date) PARTITION BY RANGE (at);
CREATE TABLE "It's 100% ""x""_102008" (id bigint, at date) PARTITION BY RANGE (at);
CREATE TABLE part_102020 PARTITION OF "It's 100% ""x""_102008" FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE "It's 100% ""x""_102009" (id bigint, at date) PARTITION BY RANGE (at);
CREATE TABLE part_102021 PARTITION OF "It's 100% ""x""_102009" FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE part PARTITION OF "It's 100% ""x""" FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE items (id bigint);
CREATE TABLE items_102010 (id bigint);
CREATE TABLE items_102011 (id bigint);
RESET ROLE;
SET ROLE regress_shards_other;
CREATE TABLE items_102012 (id bigint);
RESET ROLE;
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char");
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint NOT NULL, groupid integer NOT NULL);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer NOT NULL);
INSERT INTO pg_dist_partition VALUES ('"It''s 100% ""x"""', 'h'), ('items', 'h');
INSERT INTO pg_dist_shard VALUES ('"It''s 100% ""x"""', 102008), ('"It''s 100% ""x"""', 102009), ('items', 102010),
	('items', 102011), ('items', 102012);
INSERT INTO pg_dist_local_group VALUES (3);
INSERT INTO pg_dist_placement VALUES (102008, 3), (102009, 2), (102010, 3), (102011, 3), (102012, 3);
\set ECHO all

-- Without tiered_storage_citus the tables that have shards are known, and no shard is.
SELECT count(_tiered_storage.distributed_table(oid)) FROM pg_class WHERE relname LIKE 'items%';
CALL tiered_storage.move_relation('items', 'regress_slow');
LOAD 'tiered_storage_citus';
SELECT count(_tiered_storage.distributed_table(oid)) FROM pg_class WHERE relname LIKE 'items%';
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy('items', move_after => '90 days', tier => 'regress_slow', options => '{"on_shards": true}')
SELECT tiered_storage.add_tiering_policy('part_102020', idle_for => '90 days', tier => 'regress_slow', options => '{"on_shards": true}')
$refused$);
\set ECHO all
SELECT tiered_storage.add_tiering_policy('"It''s 100% ""x"""', move_after => '90 days', tier => 'regress_slow',
	options => '{"on_shards": true}') AS aged \gset
SELECT tiered_storage.add_tiering_policy('items', tier => 'regress_slow',
	options => '{"no_writes_for": "90 days", "on_shards": true}') AS used \gset
-- Not what Citus has not placed here, and not what somebody else has given a shard's name.
SELECT policy_id = :aged AS aged, relation, verdict FROM _tiered_storage.evaluate_policies()
	ORDER BY relation::text COLLATE "C";
-- They are nearer than a policy on a schema.
SELECT tiered_storage.add_tiering_policy(in_schema => current_schema(), tier => 'regress_cheap',
	options => '{"no_writes_for": "90 days"}')
	AS schema \gset
SELECT relation, CASE policy_id WHEN :used THEN 'shards' ELSE 'schema' END AS policy
	FROM _tiered_storage.evaluate_policies()
	WHERE policy_id <> :aged ORDER BY relation::text COLLATE "C";
SELECT tiered_storage.remove_policy(policy_id => :schema);
CALL tiered_storage.migrate();
SELECT relation, from_tier, verdict FROM _tiered_storage.evaluate_policies() WHERE policy_id = :aged;
SELECT relation, last_result FROM _tiered_storage.policies ORDER BY policy_id;
-- A partition that is distributed itself may have a policy of its own, on its shards.
INSERT INTO pg_dist_partition VALUES ('part', 'h');
INSERT INTO pg_dist_shard VALUES ('part', 102020), ('part', 102021);
INSERT INTO pg_dist_placement VALUES (102020, 3), (102021, 2);
SELECT tiered_storage.add_tiering_policy('part', tier => 'regress_slow',
	options => '{"no_writes_for": "90 days", "on_shards": true}')
	AS of_part \gset
SELECT relation, verdict FROM _tiered_storage.evaluate_policies() WHERE policy_id = :of_part;
SELECT tiered_storage.remove_policy(policy_id => :of_part);
UPDATE pg_dist_placement SET groupid = 5 - groupid WHERE shardid IN (102020, 102021);
-- A shard that has come is moved; one that has gone is not, nor is it by hand.
UPDATE pg_dist_placement SET groupid = 5 - groupid WHERE shardid IN (102008, 102009);
SELECT relation, from_tier, verdict FROM _tiered_storage.evaluate_policies() WHERE policy_id = :aged;
CALL tiered_storage.migrate();
SELECT relation, from_tier, verdict FROM _tiered_storage.evaluate_policies() WHERE policy_id = :aged;
DELETE FROM pg_dist_placement WHERE shardid = 102010;
CALL tiered_storage.move_relation('items_102010', 'regress_slow');
SELECT verdict, replace(finding, E'\n', ' ') AS finding, replace(remedy, E'\n', ' ') AS remedy FROM tiered_storage.preflight('items_102010', 'regress_slow') WHERE verdict = 'blocks';
SELECT relation, state, failures, sqlstate FROM _tiered_storage.moves WHERE relation = 'items_102010';
INSERT INTO pg_dist_placement VALUES (102010, 3);
-- One that Citus copies waits, by its publication there.
SET client_min_messages = error;
CREATE PUBLICATION citus_shard_move_publication_10_2_1 FOR TABLE items_102010;
CREATE PUBLICATION citus_shard_ FOR TABLE items_102011;
RESET client_min_messages;
CALL tiered_storage.move_relation('items_102010', 'regress_slow');
CALL tiered_storage.move_relation('items_102011', 'regress_slow');
DROP PUBLICATION citus_shard_move_publication_10_2_1, citus_shard_;
CALL tiered_storage.move_relation('items_102010', 'regress_slow');
-- Without a shard here nothing is wrong.
DELETE FROM pg_dist_placement WHERE groupid = 3;
CALL tiered_storage.migrate();
SELECT relation, last_due, last_result FROM _tiered_storage.policies ORDER BY policy_id;
SELECT tiered_storage.remove_policy(policy_id => :aged),
	tiered_storage.remove_policy(policy_id => :used);

\set ECHO none
SET allow_system_table_mods = on;
DROP TABLE pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement,
	pg_catalog.pg_dist_local_group;
RESET allow_system_table_mods;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA "regress n" CASCADE;
DROP EXTENSION tiered_storage;
DROP OWNED BY regress_shards_owner, regress_shards_other;
DROP ROLE regress_shards_owner, regress_shards_other;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all
