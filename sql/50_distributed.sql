-- What Citus says of a relation.  Its catalog is made up here; test/citus has the real one.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE SCHEMA regress_d;
SET search_path = regress_d;
CREATE TABLE items (id bigint PRIMARY KEY, body text);
CREATE TABLE items_102008 (id bigint CONSTRAINT items_pkey_102008 PRIMARY KEY, body text);
CREATE TABLE items_102009 (id bigint);
CREATE TABLE items_ (id bigint);
CREATE TABLE items_0102008 (id bigint);
CREATE TABLE other_102008 (id bigint);
CREATE TABLE "It's 100%" (id bigint);
\set ECHO all
CREATE TABLE a_table_whose_name_is_as_long_as_the_name_of_a_table_can_be_here (id bigint);
CREATE TABLE a_table_whose_name_is_as_long_as_the_name_of__0a1b2c3d_102010 (id bigint);
CREATE TABLE another_table_whose_name_is_as_long_as_that_o_0a1b2c3d_102010 (id bigint);
CREATE TABLE parts (at date) PARTITION BY RANGE (at);
CREATE TABLE parts_2020 PARTITION OF parts FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');

-- Without Citus nothing is a shard, and nothing has shards.
SELECT _tiered_storage.distributed_table('items_102008'), _tiered_storage.distributed_table(NULL),
	_tiered_storage.distributed_table(0);
SELECT tiered_storage.add_tiering_policy('items', idle_for => '90 days', tier => 'regress_slow') > 0 AS added;
CALL tiered_storage.sample();
SELECT count(*), count(distributed_table) FROM _tiered_storage.heat WHERE relation = 'items_102008'::regclass;

-- Tables of these names that are not as those of Citus say nothing.
LOAD 'tiered_storage_citus';
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid text);
CREATE VIEW pg_catalog.pg_dist_shard AS SELECT 'regress_d.items'::regclass AS logicalrelid, 102008::bigint AS shardid;
SELECT _tiered_storage.distributed_table('items_102008');
CALL tiered_storage.move_relation('items', 'regress_slow', dry_run => true);
\set ECHO none
DROP VIEW pg_catalog.pg_dist_shard;
DROP TABLE pg_catalog.pg_dist_partition;

CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char");
CREATE UNIQUE INDEX pg_dist_partition_logical_relid_index ON pg_catalog.pg_dist_partition (logicalrelid);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint NOT NULL, groupid integer NOT NULL);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer NOT NULL);
INSERT INTO pg_dist_local_group VALUES (3);
INSERT INTO pg_dist_placement VALUES (102008, 2), (102008, 3);
INSERT INTO pg_dist_partition SELECT oid, 'h' FROM pg_class
	WHERE relnamespace = 'regress_d'::regnamespace AND relname IN ('items', 'It''s 100%', 'parts', 'parts_2020');
INSERT INTO pg_dist_shard VALUES ('items', 102008),
	('a_table_whose_name_is_as_long_as_the_name_of_a_table_can_be_here',
	102010);
\set ECHO all
SELECT c.reltoastrelid::regclass::text = 'pg_toast.pg_toast_' || c.oid AS named_so,
	_tiered_storage.distributed_table(c.reltoastrelid) FROM pg_class c WHERE c.oid = 'items_102008'::regclass;
SELECT c.oid::regclass AS relation, _tiered_storage.distributed_table(c.oid) FROM pg_class c
	WHERE c.relnamespace = 'regress_d'::regnamespace ORDER BY c.relname COLLATE "C";
-- With the index of Citus it is the same.
CREATE UNIQUE INDEX pg_dist_shard_shardid_index ON pg_catalog.pg_dist_shard (shardid);
SELECT c.oid::regclass AS relation, _tiered_storage.distributed_table(c.oid) FROM pg_class c
	WHERE c.relnamespace = 'regress_d'::regnamespace AND _tiered_storage.distributed_table(c.oid) IS NOT NULL
		ORDER BY c.relname COLLATE "C";
SELECT relation, distributed_table FROM _tiered_storage.heat WHERE relation = 'items_102008'::regclass;

-- A table that has shards is empty: who wants it moved means those.
CALL tiered_storage.move_relation('items', 'regress_slow');
CALL tiered_storage.move_relation('items_pkey', 'regress_ts_slow', allow_lock => true);
CALL tiered_storage.move_relation('"It''s 100%"', 'regress_slow', dry_run => true);
CALL tiered_storage.move_relation('parts', 'regress_slow');
CALL tiered_storage.move_relation('items', 'regress_slow', include_indexes => false, dry_run => true);
CALL tiered_storage.move_relation('items', 'regress_ts_slow', index_target => 'regress_fast');
SELECT check_name, replace(finding, E'\n', ' ') AS finding, replace(remedy, E'\n', ' ') AS remedy FROM tiered_storage.preflight('items', 'regress_slow') WHERE verdict = 'blocks';
SELECT tiered_storage.pin('items');
SELECT tiered_storage.pin('parts', 'regress_slow');
SELECT tiered_storage.pin('parts', NULL, until => '2099-01-02 03:04:05+00', include_indexes => false);
SELECT tiered_storage.add_tiering_policy('parts', move_after => '90 days', tier => 'regress_slow');
SELECT tiered_storage.add_tiering_policy('"It''s 100%"', idle_for => '1 mon 2 days', tier => 'regress_slow',
	options => '{"below_reads_per_hour": 10}');
SELECT tiered_storage.add_tiering_policy('items', move_after => '90 days', index_tier => 'regress_fast', tier => 'regress_slow', if_not_exists => true,
	options => '{"no_writes_for": "1 day", "below_reads_per_hour": 0.1,
	"key_unit": "seconds", "time_zone": "Europe/Paris", "return_when_reads_per_hour": 1e6, "return_after": "2 days", "return_tier": "regress_fast"}');
SELECT tiered_storage.add_tiering_policy('items', idle_for => '90 days', tier => 'regress_slow',
	options => '{"include_indexes": false}');
-- What was there before it got shards is on those of them that are here.
SELECT relation, last_result FROM _tiered_storage.policies;
SELECT relation FROM _tiered_storage.evaluate_policies();
CALL tiered_storage.migrate();
SELECT relation, last_result FROM _tiered_storage.policies;
-- A policy on the schema is for what can be moved.
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_d', idle_for => '90 days', tier => 'regress_slow') > 0
	AS added;
SELECT relation FROM _tiered_storage.evaluate_policies() WHERE relation IS NOT NULL ORDER BY relation::text COLLATE "C";
-- A shard is a table like any other.
CALL tiered_storage.move_relation('items_102008', 'regress_slow');
SELECT relation, to_tier, state FROM _tiered_storage.moves ORDER BY move_id;
SELECT tiered_storage.pin('items_102008');
SELECT tiered_storage.partitioning_script('items_102008', 'id', '10', bound => '100');

\set ECHO none
-- No view of ours depends on a query on pg_class, which Citus would rewrite, be it by way of
-- another view; and no function of ours has one but for these: what is asked of pg_stats is
-- for tables that are no shards.
CREATE TEMP TABLE rewritten AS
	WITH RECURSIVE views AS MATERIALIZED (
		SELECT c.oid, c.relname, c.relnamespace::regnamespace AS schema, pg_get_viewdef(c.oid) AS definition
			FROM pg_class c
			WHERE c.relkind = 'v' AND c.relnamespace::regnamespace::text IN ('pg_catalog', 'tiered_storage',
				'_tiered_storage')
	), found (oid, relname, schema) AS (
		SELECT 'pg_class'::regclass::oid, 'pg_class'::name, 'pg_catalog'::regnamespace
		UNION
		SELECT v.oid, v.relname, v.schema FROM found f JOIN views v ON v.definition ~ ('\m' || f.relname || '\M')
			WHERE f.schema = 'pg_catalog'::regnamespace)
	SELECT * FROM found;
\set ECHO all
SELECT oid::regclass AS view FROM rewritten WHERE schema <> 'pg_catalog'::regnamespace;
SELECT p.proname, string_agg(r.relname, ', ' ORDER BY r.relname COLLATE "C") AS asks
	FROM pg_proc p JOIN rewritten r ON r.schema = 'pg_catalog'::regnamespace AND p.prosrc ~ ('\m' || r.relname || '\M')
	WHERE p.pronamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace)
	GROUP BY p.oid, p.proname ORDER BY p.proname COLLATE "C";
DROP TABLE rewritten;

DROP TABLE pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement,
	pg_catalog.pg_dist_local_group;
RESET allow_system_table_mods;
RESET search_path;
DROP SCHEMA regress_d CASCADE;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
