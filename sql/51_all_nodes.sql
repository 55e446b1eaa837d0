-- Policies on shards, and statements for all nodes.  Citus is made up here; test/citus has the real one.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE ROLE regress_nodes_owner;
CREATE ROLE regress_nodes_other;
GRANT pg_monitor TO regress_nodes_owner;
CREATE SCHEMA "regress n";
GRANT USAGE, CREATE ON SCHEMA "regress n" TO regress_nodes_owner, regress_nodes_other;
SET search_path = "regress n";

---------------------------------------------------------------------------
-- Without Citus
---------------------------------------------------------------------------

CREATE TABLE plain (id bigint);
SELECT * FROM tiered_storage.add_tier_on_all_nodes('x', '{regress_ts_slow}'); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes('plain', idle_for => '1 day', tier => 'regress_slow'); \echo :SQLSTATE
SELECT * FROM tiered_storage.remove_tiering_policy_on_all_nodes('plain'); \echo :SQLSTATE
SELECT * FROM tiered_storage.node_tiers; \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.node_heat; \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.node_moves; \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.node_policies; \echo :SQLSTATE
SELECT count(*) FROM tiered_storage.node_gaps; \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('plain', idle_for => '1 day', tier => 'regress_slow', on_shards => true); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress n', idle_for => '1 day', tier => 'regress_slow', on_shards => true); \echo :SQLSTATE

---------------------------------------------------------------------------
-- A policy on the shards of a table
---------------------------------------------------------------------------

SET ROLE regress_nodes_owner;
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
SET ROLE regress_nodes_other;
CREATE TABLE items_102012 (id bigint);
RESET ROLE;
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char");
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint NOT NULL, groupid integer NOT NULL);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer NOT NULL);
INSERT INTO pg_dist_partition VALUES ('"It''s 100% ""x"""', 'h'), ('items', 'h');
INSERT INTO pg_dist_shard VALUES ('"It''s 100% ""x"""', 102008), ('"It''s 100% ""x"""', 102009), ('items', 102010), ('items', 102011), ('items', 102012);
INSERT INTO pg_dist_local_group VALUES (3);
INSERT INTO pg_dist_placement VALUES (102008, 3), (102009, 2), (102010, 3), (102011, 3), (102012, 3);

SELECT tiered_storage.add_tiering_policy('"It''s 100% ""x"""', move_after => '90 days', tier => 'regress_slow', on_shards => true, new_partitions_on => 'regress_fast'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('items', move_after => '90 days', tier => 'regress_slow', on_shards => true); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('part_102020', idle_for => '90 days', tier => 'regress_slow', on_shards => true); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('"It''s 100% ""x"""', move_after => '90 days', tier => 'regress_slow', on_shards => true) AS aged \gset
SELECT tiered_storage.alter_tiering_policy(policy_id => :aged, new_partitions_on => 'regress_fast'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('items', no_writes_for => '90 days', tier => 'regress_slow', on_shards => true) AS used \gset
-- Not what Citus has not placed here, and not what somebody else has given a shard's name.
SELECT policy_id = :aged AS aged, relation, verdict FROM tiered_storage.evaluate_policies() ORDER BY relation::text COLLATE "C";
-- They are nearer than a policy on a pattern.
SELECT tiered_storage.add_tiering_policy(names_like => 'i%', no_writes_for => '90 days', tier => 'regress_cheap') AS pattern \gset
SELECT relation, CASE policy_id WHEN :used THEN 'shards' ELSE 'pattern' END AS policy FROM tiered_storage.evaluate_policies()
	WHERE policy_id <> :aged ORDER BY relation::text COLLATE "C";
SELECT tiered_storage.remove_tiering_policy(policy_id => :pattern);
CALL tiered_storage.migrate();
SELECT relation, from_tier, verdict FROM tiered_storage.evaluate_policies() WHERE policy_id = :aged;
SELECT relation, last_result FROM tiered_storage.policies ORDER BY policy_id;
-- A partition that is distributed itself may have a policy of its own, on its shards.
INSERT INTO pg_dist_partition VALUES ('part', 'h');
INSERT INTO pg_dist_shard VALUES ('part', 102020), ('part', 102021);
INSERT INTO pg_dist_placement VALUES (102020, 3), (102021, 2);
SELECT tiered_storage.add_tiering_policy('part', no_writes_for => '90 days', tier => 'regress_slow', on_shards => true) AS of_part \gset
SELECT relation, verdict FROM tiered_storage.evaluate_policies() WHERE policy_id = :of_part;
SELECT tiered_storage.remove_tiering_policy(policy_id => :of_part);
UPDATE pg_dist_placement SET groupid = 5 - groupid WHERE shardid IN (102020, 102021);
-- A shard that has come is moved; one that has gone is not, nor is it by hand.
UPDATE pg_dist_placement SET groupid = 5 - groupid WHERE shardid IN (102008, 102009);
SELECT relation, from_tier, verdict FROM tiered_storage.evaluate_policies() WHERE policy_id = :aged;
CALL tiered_storage.migrate();
SELECT relation, from_tier, verdict FROM tiered_storage.evaluate_policies() WHERE policy_id = :aged;
DELETE FROM pg_dist_placement WHERE shardid = 102010;
CALL tiered_storage.move_relation('items_102010', 'regress_slow');
SELECT verdict, finding, remedy FROM tiered_storage.preflight('items_102010', 'regress_slow') WHERE verdict = 'blocks';
SELECT relation, state, failures, sqlstate FROM tiered_storage.moves WHERE relation = 'items_102010';
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
SELECT relation, last_due, last_result FROM tiered_storage.policies ORDER BY policy_id;
SELECT tiered_storage.remove_tiering_policy(policy_id => :aged), tiered_storage.remove_tiering_policy(policy_id => :used);

---------------------------------------------------------------------------
-- On all nodes: what is sent, by whom, and what is said of those that fail
---------------------------------------------------------------------------

-- Runs the command here in place of a node; port 3 is down, port 4 fails when it is done.
CREATE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port integer[], command text[], parallel boolean,
	OUT node_name text, OUT node_port integer, OUT success boolean, OUT result text) RETURNS SETOF record LANGUAGE plpgsql AS $f$
BEGIN
	FOR i IN 1 .. pg_catalog.cardinality(worker_name) LOOP
		node_name := worker_name[i];
		node_port := port[i];
		success := node_port <> 3 AND (node_port <> 4 OR command[i] LIKE '%''DO %');
		result := 'failed to connect';
		IF success AND node_port = 1 THEN
			BEGIN
				EXECUTE command[i] INTO result;
			EXCEPTION WHEN OTHERS THEN
				success := false;
				result := 'ERROR:  ' || SQLERRM;
			END;
		ELSIF success THEN
			result := CASE WHEN command[i] LIKE '%node_definitions%' THEN '[{"tier_name": null}]' ELSE '[]' END;
		END IF;
		IF node_port <> 5 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END
$f$;
CREATE TABLE pg_catalog.pg_dist_node (nodeid integer, groupid integer, nodename text, nodeport integer, isactive boolean, noderole text, nodecluster text);
GRANT SELECT ON pg_dist_node, pg_dist_local_group, pg_dist_partition TO PUBLIC;
INSERT INTO pg_dist_node VALUES (1, 3, 'here', 1, true, 'primary', 'default'), (2, 2, 'there', 2, true, 'primary', 'default'), (9, 3, 'copy', 9, true, 'secondary', 'default');
RESET allow_system_table_mods;
-- The errors name PL/pgSQL functions with their lines.
\set SHOW_CONTEXT never
SELECT * FROM tiered_storage.add_tier_on_all_nodes('regress "new" $$ %', '{regress_nothing}'); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tier_on_all_nodes(NULL, NULL); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tier_on_all_nodes('regress_slow', '{regress_ts_slow}'); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tier_on_all_nodes('regress_slow', '{regress_ts_slow}', if_not_exists => true);
SELECT tiered_storage.remove_tier('regress_slow');
SET extra_float_digits = -15;
SELECT * FROM tiered_storage.add_tier_on_all_nodes('regress "new" $$ %', '{regress_ts_slow}', profile => 'hdd_7200', rank => 5, random_read_ms => 1.23456789012345,
	price_per_gb_month => 0.02, capacity_bytes => 1000000, compressed => true, compression_ratio => 2.5);
RESET extra_float_digits;
SELECT tier_name, tablespaces, profile, rank, random_read_ms, price_per_gb_month, capacity_bytes, reserve_fraction, compressed, compression_ratio
	FROM tiered_storage.tiers WHERE tier_name LIKE '%new%';

SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes(NULL, tier => 'regress_cheap'); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes(0, tier => 'regress_cheap'); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes('plain', idle_for => '1 day', tier => 'regress_cheap'); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes('items', tier => 'regress_cheap'); \echo :SQLSTATE
SET "IntervalStyle" = sql_standard;
SET "DateStyle" = 'SQL, DMY';
SET "TimeZone" = 'Asia/Tokyo';
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes('"It''s 100% ""x"""', move_after => '1 mon 2 days -03:00', tier => 'regress_cheap', include_indexes => false,
	age_from => 'newest', below_reads_per_hour => 0.1, return_when_reads_per_hour => 5, return_after => '2 days', return_tier => 'regress_fast');
RESET "IntervalStyle";
RESET "DateStyle";
RESET "TimeZone";
SELECT relation, move_after, tier_name, include_indexes, age_from, time_zone, below_reads_per_hour, return_when_reads_per_hour, return_after, return_tier
	FROM tiered_storage.policies;
SELECT node_id, success FROM tiered_storage.add_tiering_policy_on_all_nodes('"It''s 100% ""x"""', move_after => '1 day', tier => 'regress_cheap'); \echo :SQLSTATE
SELECT node_id, success FROM tiered_storage.add_tiering_policy_on_all_nodes('"It''s 100% ""x"""', move_after => '1 day', tier => 'regress_cheap', if_not_exists => true);
SELECT node_id, error, relation_name, tier_name, enabled FROM tiered_storage.node_policies;
-- What the other node lacks: tiers that somebody has defined, policies on shards.
SET "TimeZone" = 'UTC';
SELECT tiered_storage.add_tiering_policy('items', idle_for => '1 day', tier => 'regress_cheap', on_shards => true) > 0 AS on_shards,
	tiered_storage.add_tiering_policy('plain', idle_for => '1 day', tier => 'regress_cheap') > 0 AS not_on_shards;
SET "IntervalStyle" = sql_standard;
SET extra_float_digits = -15;
SELECT node_id, error, relation_name, tier_name, command FROM tiered_storage.node_gaps;
RESET "IntervalStyle";
RESET extra_float_digits;
-- The statements change nothing where that is, and define the same where it is not.
SET client_min_messages = warning;
CREATE TEMP TABLE command AS SELECT row_number() OVER () AS place, command FROM tiered_storage.node_gaps;
CREATE TEMP VIEW definition AS SELECT (to_jsonb(t))::text AS defined FROM _tiered_storage.tier t WHERE NOT discovered
	UNION ALL SELECT t::text FROM _tiered_storage.tier_tablespaces t WHERE NOT discovered
	UNION ALL SELECT (to_jsonb(p) - '{created_at,policy_id,last_evaluated_at,last_due,last_on_target,last_result}'::text[])::text FROM tiered_storage.policies p;
CREATE TEMP TABLE before AS SELECT * FROM definition;
SELECT format('SELECT count(*), bool_and(success) FROM (%s) s', command) FROM command ORDER BY place
\gexec
TABLE definition EXCEPT TABLE before;
TABLE before EXCEPT TABLE definition;
SELECT count(tiered_storage.remove_tiering_policy(policy_id => p.policy_id)) FROM tiered_storage.policies p WHERE relation_name NOT LIKE '%plain';
SELECT tiered_storage.remove_tiering_policy('plain');
SELECT count(tiered_storage.remove_tier(tier_name)) FROM tiered_storage.tiers WHERE NOT discovered;
SELECT count(*) FROM tiered_storage.node_gaps;
SELECT format('SELECT count(*), bool_and(success) FROM (%s) s', command) FROM command ORDER BY place
\gexec
TABLE definition EXCEPT TABLE before;
TABLE before EXCEPT TABLE definition;
SELECT tiered_storage.remove_tiering_policy('items');
DROP TABLE command, before;
DROP VIEW definition;
RESET client_min_messages;
RESET "TimeZone";

-- A node that is down: nothing is done, and it is named.
INSERT INTO pg_dist_node VALUES (3, 5, 'down', 3, true, 'primary', 'default'), (7, 7, 'disabled', 7, false, 'primary', 'default');
SELECT * FROM tiered_storage.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""'); \echo :SQLSTATE
SELECT node_id, node_name, node_port, error, tier_name FROM tiered_storage.node_tiers;
SELECT node_id, error, relation_name FROM tiered_storage.node_policies;
DELETE FROM pg_dist_node WHERE nodeid IN (3, 7);
-- One that does not answer at all is asked once more by itself.
INSERT INTO pg_dist_node VALUES (5, 5, 'silent', 5, true, 'primary', 'default');
SELECT node_id, error, relation_name FROM tiered_storage.node_policies;
DELETE FROM pg_dist_node WHERE nodeid = 5;
-- One that goes down in between is reported.
INSERT INTO pg_dist_node VALUES (4, 4, 'broken', 4, true, 'primary', 'default');
SELECT * FROM tiered_storage.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""');
DELETE FROM pg_dist_node WHERE nodeid = 4;
SELECT count(*) FROM tiered_storage.policies;
SELECT * FROM tiered_storage.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""', 'regress_cheap'); \echo :SQLSTATE
SELECT node_id, success FROM tiered_storage.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""', 'regress_cheap', if_exists => true);

-- A node that is at it for too long gives up by itself.
SELECT _tiered_storage.answer_within(100, 'SELECT pg_sleep(3600)'); \echo :SQLSTATE
SELECT _tiered_storage.answer_within(600000, 'SELECT 1 / 0'); \echo :SQLSTATE
SELECT _tiered_storage.answer_within(600000, 'SELECT x FROM generate_series(7, 8) x') AS first_row, _tiered_storage.answer_within(600000, 'DO $d$ BEGIN NULL; END $d$') IS NULL AS is_null,
	_tiered_storage.answer_within(600000, NULL) IS NULL AS not_asked;
SELECT _tiered_storage.answer_within(600000, 'COMMIT'); \echo :SQLSTATE

-- What waits too long is ended; what somebody else has cancelled is.
CREATE OR REPLACE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port integer[], command text[], parallel boolean,
	OUT node_name text, OUT node_port integer, OUT success boolean, OUT result text) RETURNS SETOF record LANGUAGE plpgsql AS $f$
BEGIN
	FOR i IN 1 .. pg_catalog.cardinality(worker_name) LOOP
		IF port[i] = 6 THEN
			PERFORM pg_catalog.pg_sleep(3600);
		END IF;
		node_name := worker_name[i];
		node_port := port[i];
		success := true;
		result := '[{"tier_name": "t", "rank": 1}]';
		IF port[i] = 8 THEN
			BEGIN
				EXECUTE command[i];
			EXCEPTION WHEN OTHERS THEN
				success := false;
				result := 'ERROR:  ' || SQLERRM;
			END;
		END IF;
		RETURN NEXT;
	END LOOP;
END
$f$;
INSERT INTO pg_dist_node VALUES (6, 6, 'hangs', 6, true, 'primary', 'default');
SELECT node_id, error, tier_name, rank FROM tiered_storage.node_tiers;
SELECT node_id, success, result FROM tiered_storage.remove_tiering_policy_on_all_nodes('items', if_exists => true); \echo :SQLSTATE
SET statement_timeout = '300ms';
SELECT node_id, error, tier_name, rank FROM tiered_storage.node_tiers; \echo :SQLSTATE
RESET statement_timeout;
DELETE FROM pg_dist_node WHERE nodeid = 6;

-- Rights: of the caller, and no more.
SET ROLE regress_nodes_owner;
SELECT * FROM tiered_storage.add_tier_on_all_nodes('x', '{regress_ts_slow}'); \echo :SQLSTATE
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes('items', idle_for => '1 day', tier => 'regress_cheap'); \echo :SQLSTATE
SELECT count(*) > 0 AS seen FROM tiered_storage.node_tiers;
RESET ROLE;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy_on_all_nodes, tiered_storage.add_tiering_policy TO regress_nodes_owner;
UPDATE pg_dist_node SET nodeport = 8 WHERE nodeid = 1;
SET ROLE regress_nodes_owner;
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes('items', idle_for => '1 day', tier => 'regress_cheap'); \echo :SQLSTATE
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_ts_cheap TO regress_nodes_owner;
SET ROLE regress_nodes_owner;
SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes('items', idle_for => '1 day', tier => 'regress_cheap');
RESET ROLE;
SELECT relation, created_by FROM tiered_storage.policies;
SET ROLE regress_nodes_other;
SELECT count(*) FROM tiered_storage.node_tiers; \echo :SQLSTATE
RESET ROLE;

SET allow_system_table_mods = on;
DROP FUNCTION pg_catalog.master_run_on_worker(text[], integer[], text[], boolean);
DROP TABLE pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement, pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_node;
RESET allow_system_table_mods;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA "regress n" CASCADE;
DROP EXTENSION tiered_storage;
DROP OWNED BY regress_nodes_owner, regress_nodes_other;
DROP ROLE regress_nodes_owner, regress_nodes_other;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
