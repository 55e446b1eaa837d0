-- Tiers and policies on all nodes of Citus, and what the nodes report.  Citus is made up here, so
-- that CREATE EXTENSION would fail; test/citus has the real one.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE ROLE regress_nodes_owner;
CREATE ROLE regress_nodes_other;
GRANT pg_monitor TO regress_nodes_owner;
CREATE SCHEMA "regress n";
GRANT USAGE, CREATE ON SCHEMA "regress n" TO regress_nodes_owner, regress_nodes_other;
SET search_path = "regress n";
CREATE TABLE plain (id bigint);
SET ROLE regress_nodes_owner;
CREATE TABLE "It's 100% ""x""" (id bigint, at date) PARTITION BY RANGE (at);
CREATE TABLE items (id bigint);
RESET ROLE;
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char",
	colocationid integer NOT NULL DEFAULT 0);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL, shardminvalue text);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint NOT NULL, groupid integer NOT NULL);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer NOT NULL);
INSERT INTO pg_dist_partition VALUES ('"It''s 100% ""x"""', 'h'), ('items', 'h');
INSERT INTO pg_dist_local_group VALUES (0);

-- Runs the command here in place of a node; port 3 is down, port 4 fails when it is done.
CREATE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port integer[], command text[], parallel boolean,
	OUT node_name text, OUT node_port integer, OUT success boolean, OUT result text) RETURNS SETOF record
		LANGUAGE plpgsql AS $f$
BEGIN
	FOR i IN 1 .. pg_catalog.cardinality(worker_name) LOOP
		node_name := worker_name[i];
		node_port := port[i];
		success := node_port <> 3 AND (node_port <> 4 OR command[i] LIKE '%''DO %');
		result := 'failed to connect';
		IF command[i] LIKE '%pg_extension%' THEN
			-- Whose is the schema?  That of port 8 is somebody's.
			success := node_port <> 3;
			result := CASE node_port WHEN 3 THEN result WHEN 8 THEN '0' ELSE '1' END;
		ELSIF node_port = 8 THEN
			RAISE EXCEPTION 'somebody''s function runs';
		ELSIF success AND node_port = 1 THEN
			BEGIN
				EXECUTE command[i] INTO result;
			EXCEPTION WHEN OTHERS THEN
				success := false;
				result := 'ERROR:  ' || SQLERRM;
			END;
		ELSIF success THEN
			result := CASE WHEN command[i] LIKE '%node_definitions%' THEN current_setting('regress.definitions', true)
				ELSE '[]' END;
		END IF;
		IF node_port <> 5 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END
$f$;
CREATE TABLE pg_catalog.pg_dist_node (nodeid integer, groupid integer, nodename text, nodeport integer,
	isactive boolean, noderole text, nodecluster text);
GRANT SELECT ON pg_dist_node, pg_dist_local_group, pg_dist_partition TO PUBLIC;
INSERT INTO pg_dist_node VALUES (1, 0, 'here', 1, true, 'primary', 'default'), (2, 2, 'there', 2, true, 'primary',
	'default'), (9, 0, 'copy', 9, true, 'secondary', 'default');
RESET allow_system_table_mods;

\set script `sed -e '/^\\echo/d' -e '/pg_extension_config_dump/d' -e 's/MODULE_PATHNAME/tiered_storage_citus/' "$PG_ABS_SRCDIR"/src/citus/[0-9]*.sql`
:script
\set SHOW_CONTEXT errors
SELECT * FROM tiered_storage_citus.add_tier_on_all_nodes('regress "new" $$ %', '{regress_nothing}'); \echo :SQLSTATE
\set SHOW_CONTEXT never
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.add_tier_on_all_nodes(NULL, NULL)
SELECT * FROM tiered_storage_citus.add_tier_on_all_nodes('regress_slow', '{regress_ts_slow}')
$refused$);
SELECT * FROM tiered_storage_citus.add_tier_on_all_nodes('regress_slow', '{regress_ts_slow}', if_not_exists => true);
SELECT tiered_storage.remove_tier('regress_slow') \gset
SET client_min_messages = warning;
SET extra_float_digits = -15;
SELECT * FROM tiered_storage_citus.add_tier_on_all_nodes('regress "new" $$ %', '{regress_ts_slow}',
	profile => 'hdd_7200', rank => 5, price_per_gb_month => 0.02, device => '{"random_read_ms": 1.23456789012345,
	"capacity_bytes": 1000000, "compressed": true, "compression_ratio": 2.5}');
RESET extra_float_digits;
RESET client_min_messages;
SELECT tier_name, tablespaces, profile, rank, random_read_ms, price_per_gb_month, capacity_bytes, reserve_fraction,
	compressed, compression_ratio
	FROM _tiered_storage.tiers WHERE tier_name LIKE '%new%';

SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes(NULL, tier => 'regress_cheap')
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes(0, tier => 'regress_cheap')
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('plain', idle_for => '1 day', tier => 'regress_cheap')
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('items', tier => 'regress_cheap')
$refused$);
SET "IntervalStyle" = sql_standard;
SET "DateStyle" = 'SQL, DMY';
SET "TimeZone" = 'Asia/Tokyo';
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('"It''s 100% ""x"""',
	move_after => '1 mon 2 days -03:00', tier => 'regress_cheap', options => '{"include_indexes": false,
	"below_reads_per_hour": 0.1, "return_when_reads_per_hour": 5, "return_after": "2 days",
	"return_tier": "regress_fast"}');
RESET "IntervalStyle";
RESET "DateStyle";
RESET "TimeZone";
SELECT relation, move_after, tier_name, include_indexes, time_zone, below_reads_per_hour,
	return_when_reads_per_hour, return_after, return_tier
	FROM _tiered_storage.policies;
SELECT * FROM pg_temp.refused($refused$
SELECT node_id, success FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('"It''s 100% ""x"""', move_after => '1 day', tier => 'regress_cheap')
$refused$);
SELECT node_id, success FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('"It''s 100% ""x"""',
	move_after => '1 day', tier => 'regress_cheap', if_not_exists => true);
SELECT node_id, error, relation_name, tier_name, enabled FROM tiered_storage_citus.node_policies;
\echo '-- What the other node lacks: tiers that a user has defined, policies on shards.'
SET regress.definitions = '[{"tier_name": null}]';
SET "TimeZone" = 'UTC';
SELECT tiered_storage.add_tiering_policy('items', idle_for => '1 day', tier => 'regress_cheap',
	options => '{"on_shards": true}') > 0
	AS on_shards,
	tiered_storage.add_tiering_policy('plain', idle_for => '1 day', tier => 'regress_cheap') > 0 AS not_on_shards;
SET "IntervalStyle" = sql_standard;
SET extra_float_digits = -15;
SELECT node_id, error, relation_name, tier_name, gap, replace(command, ', ', E',\n') AS command, definition
	FROM tiered_storage_citus.node_gaps;
RESET "IntervalStyle";
RESET extra_float_digits;
\echo '-- The statements change nothing where that is, and define the same where it is not.'
SET client_min_messages = warning;
CREATE TEMP TABLE command AS SELECT row_number() OVER () AS place, command FROM tiered_storage_citus.node_gaps;
CREATE TEMP VIEW definition AS SELECT (to_jsonb(t))::text AS defined FROM _tiered_storage.tier t WHERE NOT discovered
	UNION ALL SELECT to_jsonb(t)::text FROM _tiered_storage.tier_tablespaces t WHERE NOT discovered
	UNION ALL SELECT (to_jsonb(p) - '{created_at,policy_id,last_evaluated_at,last_due,last_on_target,last_result}'::text[])::text FROM _tiered_storage.policies p;
CREATE TEMP TABLE before AS SELECT * FROM definition;
SELECT format('SELECT count(*), bool_and(success) FROM (%s) s', command) FROM command ORDER BY place
\gexec
TABLE definition EXCEPT TABLE before;
SELECT defined::jsonb -> 'relation_name' AS relation_name FROM (TABLE before EXCEPT TABLE definition) d;
SELECT count(tiered_storage.remove_policy(policy_id => p.policy_id)) FROM _tiered_storage.policies p
	WHERE relation_name NOT LIKE '%plain';
SELECT tiered_storage.remove_policy('plain') \gset
SELECT count(tiered_storage.remove_tier(tier_name)) FROM _tiered_storage.tiers WHERE NOT discovered;
SELECT count(*) FROM tiered_storage_citus.node_gaps;
SELECT format('SELECT count(*), bool_and(success) FROM (%s) s', command) FROM command ORDER BY place
\gexec
TABLE definition EXCEPT TABLE before;
SELECT defined::jsonb -> 'relation_name' AS relation_name FROM (TABLE before EXCEPT TABLE definition) d;
\echo '-- A policy that the other node defines differently, and a tier that only that node has.'
SET regress.definitions = '[{"tier_name": null}, {"relation_name": "\"regress n\".items", "tier_name": "regress_cheap", "command": "other"}, {"tier_name": "only_there", "command": "add"}]';
SELECT node_id, relation_name, tier_name, gap, command, definition FROM tiered_storage_citus.node_gaps
	WHERE gap = 'different' OR node_id = 1;
SELECT tiered_storage.alter_policy('items', enabled => false) \gset
SELECT count(*) FROM tiered_storage_citus.node_gaps WHERE gap = 'different';
SET regress.definitions = '[{"tier_name": null}]';
SELECT tiered_storage.remove_policy('items') \gset
DROP TABLE command, before;
DROP VIEW definition;
RESET client_min_messages;
RESET "TimeZone";

\echo '-- A node that is down: nothing is done, and it is named.'
INSERT INTO pg_dist_node VALUES (3, 5, 'down', 3, true, 'primary', 'default'), (7, 7, 'disabled', 7, false, 'primary',
	'default');
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""')
$refused$);
SELECT node_id, node_name, node_port, error, tier_name FROM tiered_storage_citus.node_tiers;
SELECT node_id, error, relation_name FROM tiered_storage_citus.node_policies;
DELETE FROM pg_dist_node WHERE nodeid IN (3, 7);
\echo '-- One that does not answer at all is named all the same.'
INSERT INTO pg_dist_node VALUES (5, 5, 'silent', 5, true, 'primary', 'default');
SELECT node_id, error, relation_name FROM tiered_storage_citus.node_policies;
DELETE FROM pg_dist_node WHERE nodeid = 5;
\echo '-- One that does not have the extension may have somebody''s functions in its place.'
INSERT INTO pg_dist_node VALUES (8, 8, 'foreign', 8, true, 'primary', 'default');
SELECT node_id, error, relation_name FROM tiered_storage_citus.node_policies;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""')
$refused$);
DELETE FROM pg_dist_node WHERE nodeid = 8;
\echo '-- One that goes down in between is reported.'
INSERT INTO pg_dist_node VALUES (4, 4, 'broken', 4, true, 'primary', 'default');
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""');
DELETE FROM pg_dist_node WHERE nodeid = 4;
SELECT count(*) FROM _tiered_storage.policies;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""', 'regress_cheap')
$refused$);
SELECT node_id, success FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('"It''s 100% ""x"""',
	'regress_cheap', if_exists => true);

\echo '-- A policy goes with its table, as when undistribute_table() drops it on workers.'
CREATE TABLE gone (id bigint);
INSERT INTO pg_dist_partition VALUES ('gone', 'h');
SELECT tiered_storage.add_tiering_policy('gone', idle_for => '1 day', tier => 'regress_cheap',
	options => '{"on_shards": true}') > 0
	AS added;
DELETE FROM pg_dist_partition WHERE logicalrelid = 'gone'::regclass;
DROP TABLE gone;
SELECT node_id, relation_name, last_result FROM tiered_storage_citus.node_policies;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes()
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes(relation_name => '"regress n".gone')
$refused$);
SELECT tiered_storage.add_tiering_policy('plain', idle_for => '1 day', tier => 'regress_cheap') > 0 AS added;
SELECT node_id, success, result FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('plain');

\echo '-- Changes are for the coordinator, and not for a read-only transaction.'
UPDATE pg_dist_local_group SET groupid = 2;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('items', if_exists => true)
$refused$);
UPDATE pg_dist_local_group SET groupid = 0;
BEGIN READ ONLY;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.remove_tiering_policy_on_all_nodes('items', if_exists => true)
$refused$);
ROLLBACK;

\echo '-- What the rebalancer is told a shard costs, with those that are colocated.'
UPDATE pg_dist_partition SET colocationid = 5;
INSERT INTO pg_dist_partition VALUES ('plain', 'h', 6);
INSERT INTO pg_dist_shard VALUES ('items', 1, '0'), ('items', 2, '100'), ('"It''s 100% ""x"""', 3, '0'),
	('"It''s 100% ""x"""', 4, '100'), ('plain', 5, '0');
CREATE TABLE items_1 (id bigint CONSTRAINT items_pkey_1 PRIMARY KEY, body text);
INSERT INTO items_1 SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i;
ALTER TABLE items_1 SET TABLESPACE regress_ts_fast;
CALL tiered_storage.sample();
SELECT tiered_storage_citus.refresh_shard_sizes();
SELECT shard_id, tier_name, size_bytes = (SELECT sum(size_bytes) FROM _tiered_storage.heat h
	WHERE distributed_table IS NOT NULL AND h.tier_name IS NOT DISTINCT FROM s.tier_name) AS as_observed
	FROM _tiered_storage_citus.shard_size s ORDER BY 1, 2;
TRUNCATE _tiered_storage_citus.shard_size;
INSERT INTO _tiered_storage_citus.shard_size VALUES (1, 'regress_fast', 1000), (1, NULL, 100), (2, 'regress_fast', 10),
	(3, 'regress_slow', 7), (5, 'regress_slow', 5);
INSERT INTO tiered_storage_citus.tier_weight VALUES ('regress_slow', 2);
SELECT s AS shard_id, tiered_storage_citus.shard_cost(s) FROM generate_series(1, 6) s;
INSERT INTO pg_dist_node VALUES (3, 5, 'down', 3, true, 'primary', 'default');
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage_citus.refresh_shard_sizes()
$refused$);
DELETE FROM pg_dist_node WHERE nodeid = 3;
SELECT count(*) FROM _tiered_storage_citus.shard_size;

\echo '-- A node that is at it for too long gives up by itself.'
SELECT _tiered_storage_citus.answer_within(100, 'SELECT pg_sleep(3600)'); \echo :SQLSTATE
SELECT * FROM pg_temp.refused($refused$
SELECT _tiered_storage_citus.answer_within(600000, 'SELECT 1 / 0')
$refused$);
SELECT _tiered_storage_citus.answer_within(600000, 'SELECT x FROM generate_series(7, 8) x') AS first_row,
	_tiered_storage_citus.answer_within(600000, 'DO $d$ BEGIN NULL; END $d$') IS NULL AS is_null,
	_tiered_storage_citus.answer_within(600000, NULL) IS NULL AS not_asked;
SELECT * FROM pg_temp.refused($refused$
SELECT _tiered_storage_citus.answer_within(600000, 'COMMIT')
$refused$);
\echo '-- Whatever names mean to those who connect to the node.'
CREATE FUNCTION "regress n".now() RETURNS timestamptz LANGUAGE plpgsql
	AS $$ BEGIN RAISE 'somebody''s function runs'; END $$;
SET search_path = "regress n", pg_catalog;
SELECT _tiered_storage_citus.answer_within(600000, 'SELECT now()') IS NOT NULL AS answered;
SET search_path = "regress n";
DROP FUNCTION "regress n".now();

\echo '-- Who waits for a node can end that.'
CREATE OR REPLACE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port integer[], command text[],
	parallel boolean,
	OUT node_name text, OUT node_port integer, OUT success boolean, OUT result text) RETURNS SETOF record
		LANGUAGE plpgsql AS $f$
BEGIN
	FOR i IN 1 .. pg_catalog.cardinality(worker_name) LOOP
		IF port[i] = 6 THEN
			PERFORM pg_catalog.pg_sleep(3600);
		END IF;
		node_name := worker_name[i];
		node_port := port[i];
		success := true;
		result := '[{"tier_name": "t", "rank": 1}]';
		IF command[i] LIKE '%pg_extension%' THEN
			result := '1';
		ELSIF port[i] = 8 THEN
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
SET statement_timeout = '300ms';
\set SHOW_CONTEXT never
SELECT * FROM pg_temp.refused($refused$
SELECT node_id, error, tier_name, rank FROM tiered_storage_citus.node_tiers
$refused$);
RESET statement_timeout;
\set VERBOSITY sqlstate
SET tiered_storage_citus.test_node_timeout = '99ms';
\set VERBOSITY default
RESET tiered_storage_citus.test_node_timeout;
DELETE FROM pg_dist_node WHERE nodeid = 6;

\echo '-- Rights: of the caller, and no more.'
SET ROLE regress_nodes_owner;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.add_tier_on_all_nodes('x', '{regress_ts_slow}')
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('items', idle_for => '1 day', tier => 'regress_cheap')
$refused$);
SELECT count(*) > 0 AS seen FROM tiered_storage_citus.node_tiers;
RESET ROLE;
GRANT EXECUTE ON FUNCTION tiered_storage_citus.add_tiering_policy_on_all_nodes,
	tiered_storage.add_tiering_policy TO regress_nodes_owner;
UPDATE pg_dist_node SET nodeport = 8 WHERE nodeid = 1;
SET ROLE regress_nodes_owner;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('items', idle_for => '1 day', tier => 'regress_cheap')
$refused$);
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_ts_cheap TO regress_nodes_owner;
SET ROLE regress_nodes_owner;
SELECT * FROM tiered_storage_citus.add_tiering_policy_on_all_nodes('items', idle_for => '1 day',
	tier => 'regress_cheap');
RESET ROLE;
SELECT relation, created_by FROM _tiered_storage.policies;
SET ROLE regress_nodes_other;
SELECT * FROM pg_temp.refused($refused$
SELECT count(*) FROM tiered_storage_citus.node_tiers
$refused$);
RESET ROLE;

\echo '-- All is described, and no role has rights but the owner and pg_monitor.'
WITH objects (object, oid, class, acl, owner) AS (
	SELECT p.oid::regprocedure::text, p.oid, 'pg_proc'::regclass, COALESCE(p.proacl, acldefault('f', p.proowner)),
		p.proowner
		FROM pg_proc p WHERE p.pronamespace IN ('tiered_storage_citus'::regnamespace,
			'_tiered_storage_citus'::regnamespace)
	UNION ALL
	SELECT c.oid::regclass::text, c.oid, 'pg_class', c.relacl, c.relowner FROM pg_class c
		WHERE c.relnamespace IN ('tiered_storage_citus'::regnamespace, '_tiered_storage_citus'::regnamespace)
			AND c.relkind IN ('r', 'v'))
SELECT split_part(object, '(', 1) AS object, obj_description(oid, class::name) IS NOT NULL AS is_described,
	(SELECT string_agg(format('%s %s', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
		privilege_type), ', ')
		FROM aclexplode(acl) WHERE grantee <> owner) AS granted
	FROM objects ORDER BY split_part(object, '(', 1) COLLATE "C";
SELECT attrelid::regclass, attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
	WHERE c.relnamespace = 'tiered_storage_citus'::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0
		AND col_description(c.oid, a.attnum) IS NULL;
SELECT p.proname FROM pg_proc p
	WHERE p.pronamespace IN ('tiered_storage_citus'::regnamespace, '_tiered_storage_citus'::regnamespace)
		AND p.prolang NOT IN (SELECT oid FROM pg_language WHERE lanname = 'c')
			AND p.proconfig[1] <> 'search_path=pg_catalog, pg_temp';

SET allow_system_table_mods = on;
DROP FUNCTION pg_catalog.master_run_on_worker(text[], integer[], text[], boolean);
DROP TABLE pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement,
	pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_node;
RESET allow_system_table_mods;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA tiered_storage_citus, _tiered_storage_citus, "regress n" CASCADE;
DROP EXTENSION tiered_storage;
DROP OWNED BY regress_nodes_owner, regress_nodes_other;
DROP ROLE regress_nodes_owner, regress_nodes_other;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
