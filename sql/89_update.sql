-- From each version that was released: what is updated has the catalog of what is installed
-- anew, its rows and the rights that were given; until then nothing is moved.
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
SET intervalstyle = 'postgres';
SET allow_in_place_tablespaces = true;
\set SHOW_CONTEXT never
SET client_min_messages = error;
CREATE ROLE regress_up_user;
CREATE ROLE regress_up_owner;
CREATE TABLESPACE regress_up_slow LOCATION '';

-- The catalog in words: all that belongs to the extension, and what belongs to that.
CREATE FUNCTION regress_catalog() RETURNS TABLE (object text, what text) LANGUAGE sql SET search_path = pg_catalog AS $$
	WITH RECURSIVE ours AS (
		SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tiered_storage'
			WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
		UNION
		SELECT d.classid, d.objid FROM ours o JOIN pg_depend d ON d.refclassid = o.classid AND d.refobjid = o.objid
			WHERE d.deptype IN ('i', 'a')),
	-- TOAST tables are called by the OID of their table.
	named AS (
		SELECT o.*, i.type, i.identity FROM ours o CROSS JOIN LATERAL pg_identify_object(o.classid, o.objid, 0) i
		WHERE i.identity !~ 'pg_toast')
	SELECT n.type || ' ' || n.identity, v.what FROM named n CROSS JOIN LATERAL (
		SELECT concat_ws(E'\n', p.prokind, pg_get_functiondef(p.oid), p.proacl, p.procost, p.prorows, pg_get_userbyid(p.proowner))
			FROM pg_proc p WHERE n.classid = 'pg_proc'::regclass AND p.oid = n.objid
		UNION ALL
		SELECT concat_ws(E'\n', c.relkind, c.relpersistence, c.relreplident, c.reloptions, c.relacl, pg_get_userbyid(c.relowner),
				CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) WHEN c.relkind = 'i' THEN pg_get_indexdef(c.oid) END)
			FROM pg_class c WHERE n.classid = 'pg_class'::regclass AND c.oid = n.objid
		UNION ALL
		SELECT concat_ws(' ', a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attstorage,
				a.attcollation::regcollation, a.attacl, col_description(c.oid, a.attnum))
			FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
			WHERE n.classid = 'pg_class'::regclass AND c.oid = n.objid
		UNION ALL
		SELECT concat_ws(' ', format_type(s.seqtypid, -1), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle)
			FROM pg_sequence s WHERE n.classid = 'pg_class'::regclass AND s.seqrelid = n.objid
		UNION ALL
		SELECT pg_get_expr(a.adbin, a.adrelid) FROM pg_attrdef a WHERE n.classid = 'pg_attrdef'::regclass AND a.oid = n.objid
		UNION ALL
		SELECT concat_ws(' ', pg_get_constraintdef(k.oid), k.convalidated, k.conislocal)
			FROM pg_constraint k WHERE n.classid = 'pg_constraint'::regclass AND k.oid = n.objid
		UNION ALL
		SELECT concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
			FROM pg_trigger t WHERE n.classid = 'pg_trigger'::regclass AND t.oid = n.objid AND NOT t.tgisinternal
		UNION ALL
		SELECT concat_ws(' ', t.typtype, t.typacl, pg_get_userbyid(t.typowner))
			FROM pg_type t WHERE n.classid = 'pg_type'::regclass AND t.oid = n.objid
		UNION ALL
		SELECT concat_ws(' ', s.nspacl, pg_get_userbyid(s.nspowner)) FROM pg_namespace s WHERE n.classid = 'pg_namespace'::regclass AND s.oid = n.objid
		UNION ALL
		SELECT 'comment ' || obj_description(n.objid, n.classid::regclass::name)
		UNION ALL
		SELECT concat_ws(' ', 'came with', p.objsubid, p.initprivs) FROM pg_init_privs p WHERE p.classoid = n.classid AND p.objoid = n.objid) v (what)
	WHERE v.what IS NOT NULL
	UNION ALL
	SELECT 'dumped ' || r::regclass, c FROM pg_extension e, unnest(e.extconfig, e.extcondition) u (r, c) WHERE e.extname = 'tiered_storage'
	UNION ALL
	SELECT 'schema', concat_ws(' ', s.nspacl, obj_description(s.oid, 'pg_namespace')) FROM pg_namespace s WHERE s.nspname = 'tiered_storage'
	UNION ALL
	SELECT 'extension', concat_ws(' ', e.extversion, e.extnamespace::regnamespace, obj_description(e.oid, 'pg_extension'))
		FROM pg_extension e WHERE e.extname = 'tiered_storage'
$$;
CREATE FUNCTION regress_rows() RETURNS TABLE (place text, content jsonb) LANGUAGE plpgsql AS $$
DECLARE
	t text;
BEGIN
	FOR t IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r' LOOP
		RETURN QUERY EXECUTE format('SELECT %L::text, to_jsonb(x) FROM _tiered_storage.%I x', t, t);
	END LOOP;
	FOR t IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'S' LOOP
		RETURN QUERY EXECUTE format('SELECT %L::text, jsonb_build_object(''last_value'', x.last_value, ''is_called'', x.is_called) FROM _tiered_storage.%I x', t, t);
	END LOOP;
END
$$;
-- A row with what is given, and something in each other column that wants a value.
CREATE FUNCTION regress_fill(target text, given jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	entry jsonb;
	relation regclass := format('_tiered_storage.%I', target);
BEGIN
	SELECT COALESCE(jsonb_object_agg(a.attname, CASE WHEN t.typcategory = 'A' THEN '"{}"'::jsonb
			WHEN t.typname IN ('timestamptz', 'time') THEN to_jsonb(CASE t.typname WHEN 'time' THEN '10:00' ELSE '2026-01-02 03:04:05+00' END)
			WHEN t.typcategory = 'B' THEN 'false' WHEN t.typcategory = 'T' THEN '"00:00:00"' WHEN t.typname = 'bytea' THEN '"\\x"'
			WHEN t.typcategory = 'S' OR t.typname IN ('char', 'name') THEN '"r"' ELSE '1' END), '{}') || given
		INTO entry FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '';
	EXECUTE format('INSERT INTO %s (%s) SELECT %2$s FROM jsonb_populate_record(NULL::%1$s, $1)', relation,
		(SELECT string_agg(quote_ident(key), ', ') FROM jsonb_object_keys(entry) key)) USING entry;
END
$$;

CREATE EXTENSION tiered_storage;
CREATE TEMP TABLE fresh AS SELECT * FROM regress_catalog();
SELECT count(*) > 1000 AS is_described FROM fresh;
DROP EXTENSION tiered_storage;
DROP SCHEMA tiered_storage;

-- 0.1.0 -------------------------------------------------------------
CREATE EXTENSION tiered_storage VERSION '0.1.0';
DELETE FROM _tiered_storage.tier_tablespace;
DELETE FROM _tiered_storage.tier;
CREATE TABLE regress_up_moved (i integer) TABLESPACE regress_up_slow;
INSERT INTO regress_up_moved SELECT generate_series(1, 1000);
CREATE TABLE regress_up_parts (i integer) PARTITION BY RANGE (i) TABLESPACE regress_up_slow;
ALTER TABLE regress_up_parts OWNER TO regress_up_owner;
SELECT set_config('regress.system', (SELECT system_identifier::text FROM pg_control_system()), false),
	set_config('regress.database', (SELECT oid::text FROM pg_database WHERE datname = current_database()), false) \g /dev/null
SELECT tiered_storage.add_tier('fast', '{pg_default}', profile => 'nvme'), tiered_storage.add_tier('slow', '{regress_up_slow}', profile => 'hdd_7200') \g /dev/null
SELECT regress_fill('tier_calibration', '{"tier_name": "fast", "measured": 0.5}');
SELECT regress_fill('relation_state', jsonb_build_object('relation_oid', 'regress_up_moved'::regclass::oid, 'evidence_reads', '\x01', 'random_slow', 7.25));
SELECT regress_fill('sampler', jsonb_build_object('singleton', true, 'samples', 42, 'last_sample_at', now(), 'system_identifier', current_setting('regress.system')::bigint));
SELECT regress_fill('device_state', '{"device": "8:0", "tablespaces": "{1663}"}');
SELECT regress_fill('relation_history', jsonb_build_object('relation_oid', 'regress_up_moved'::regclass::oid, 'period_s', 3600));
SELECT regress_fill('load_history', '{"commits": 5}');
SELECT regress_fill('load_state', '{"singleton": true, "counters": "{1,2,3}"}');
SELECT regress_fill('standby', '{"standby_name": "regress_up_standby", "server_name": "far"}');
SELECT regress_fill(t, '{"standby_name": "regress_up_standby"}') FROM unnest('{standby_state,standby_counters}'::text[]) t;
SELECT regress_fill('standby_reads');
SELECT regress_fill('policy', jsonb_build_object('relation_oid', 'regress_up_parts'::regclass::oid, 'schema_name', 'public', 'relation_name', 'regress_up_parts', 'relation_kind', 'p',
	'system_identifier', current_setting('regress.system')::bigint, 'database_oid', current_setting('regress.database')::bigint, 'tier_name', 'slow', 'move_after', '30 days',
	'age_from', 'now', 'time_zone', 'UTC', 'owner_name', 'regress_up_owner', 'owner_oid', 'regress_up_owner'::regrole::oid, 'created_by', current_user,
	'return_reads_per_hour', 10, 'return_after', '1 year', 'key_unit', 'seconds', 'enabled', true));
SELECT regress_fill('fullness_policy', '{"tier_name": "fast", "target_name": "slow", "high_watermark": 0.9, "low_watermark": 0.8}');
SELECT regress_fill('pin', jsonb_build_object('relation_oid', 'regress_up_moved'::regclass::oid, 'schema_name', 'public', 'relation_name', 'regress_up_moved', 'tier_name', 'slow', 'until', '2999-01-01',
	'system_identifier', current_setting('regress.system')::bigint, 'database_oid', current_setting('regress.database')::bigint, 'owner_name', current_user, 'owner_oid', current_user::regrole::oid));
SELECT regress_fill('partition_default', jsonb_build_object('relation_oid', 'regress_up_parts'::regclass::oid, 'schema_name', 'public', 'relation_name', 'regress_up_parts', 'relation_kind', 'p',
	'system_identifier', current_setting('regress.system')::bigint, 'database_oid', current_setting('regress.database')::bigint, 'before_oid', 0,
	'set_oid', (SELECT oid FROM pg_tablespace WHERE spcname = 'regress_up_slow'), 'set_name', 'regress_up_slow'));
SELECT regress_fill('move_window', '{"window_name": "nights", "days": "{mon,tue}", "starts": "22:00", "ends": "04:00", "time_zone": "UTC", "max_bytes": 1000000}');
SELECT nextval('_tiered_storage.move_batch'), nextval('_tiered_storage.move_batch') \g /dev/null
SELECT regress_fill('move', jsonb_build_object('relation_oid', 'regress_up_moved'::regclass::oid, 'relation_name', 'regress_up_moved', 'kind', 'table', 'from_tablespace', 'pg_default',
	'to_tablespace', 'regress_up_slow', 'from_tier', 'fast', 'to_tier', 'slow', 'state', 'done', 'from_tablespace_oid', 1663,
	'to_tablespace_oid', (SELECT oid FROM pg_tablespace WHERE spcname = 'regress_up_slow'), 'requested_by', current_user, 'batch_id', 2, 'method', 'online', 'finished_at', '2026-01-02 03:05:00+00'));
SELECT regress_fill('move_effect', '{"move_id": 1, "batch_id": 2}');
SELECT regress_fill('move_file', '{"tablespace_oid": 1663, "file_number": 4000000000}');
SELECT regress_fill('tablespace_growth');
SELECT count(*) AS empty_tables FROM pg_class c WHERE relnamespace = '_tiered_storage'::regnamespace AND relkind = 'r' AND relname NOT IN (SELECT place FROM regress_rows());

-- What somebody has given and taken.
GRANT USAGE ON SCHEMA tiered_storage TO regress_up_user;
GRANT EXECUTE ON FUNCTION tiered_storage.pause() TO regress_up_user WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tier TO regress_up_user;
GRANT SELECT (relation, tier_name) ON tiered_storage.heat TO regress_up_user;
REVOKE SELECT ON tiered_storage.tiers FROM pg_monitor;
CREATE TEMP TABLE old_rows AS SELECT * FROM regress_rows();
CREATE TEMP TABLE old_catalog AS SELECT * FROM regress_catalog();

-- The library says that the catalog is another, and moves nothing.
RESET client_min_messages;
CALL tiered_storage.move_relation('regress_up_moved', 'fast');
CALL tiered_storage.migrate();
CALL tiered_storage.sample();
SELECT tiered_storage.pin('regress_up_moved');
SELECT count(*) AS moved FROM _tiered_storage.move WHERE started_at > '2026-02-01';

-- What others have made of it is in the way, and then nothing changes.
CREATE VIEW regress_up_view AS SELECT tier_name FROM tiered_storage.tiers;
CREATE FUNCTION regress_up_function() RETURNS SETOF tiered_storage.heat LANGUAGE sql AS 'SELECT * FROM tiered_storage.heat';
ALTER EXTENSION tiered_storage UPDATE;
SELECT count(*) AS changed FROM (TABLE old_catalog EXCEPT SELECT * FROM regress_catalog()) c;
DROP VIEW regress_up_view;
DROP FUNCTION regress_up_function;

-- Nor would what others commit meanwhile be lost: it has to be seen.
BEGIN ISOLATION LEVEL REPEATABLE READ;
ALTER EXTENSION tiered_storage UPDATE;
ROLLBACK;

-- What was granted on is not in the way.
CREATE ROLE regress_up_first;
CREATE ROLE regress_up_second;
GRANT USAGE ON SCHEMA tiered_storage TO regress_up_first WITH GRANT OPTION;
SET ROLE regress_up_first;
GRANT USAGE ON SCHEMA tiered_storage TO regress_up_second;
RESET ROLE;
BEGIN;
SET LOCAL client_min_messages = error;
ALTER EXTENSION tiered_storage UPDATE;
SELECT has_schema_privilege('regress_up_first', 'tiered_storage', 'USAGE WITH GRANT OPTION') AS first,
	has_schema_privilege('regress_up_second', 'tiered_storage', 'USAGE') AS second;
ROLLBACK;
REVOKE ALL ON SCHEMA tiered_storage FROM regress_up_first CASCADE;
DROP ROLE regress_up_first;
DROP ROLE regress_up_second;

-- All of the rows, with all that was in them; a worker comes only afterwards.
SET client_min_messages = error;
BEGIN;
ALTER EXTENSION tiered_storage UPDATE;
SELECT e.extversion = v.default_version AS is_current FROM pg_extension e JOIN pg_available_extensions v ON v.name = e.extname WHERE e.extname = 'tiered_storage';
SELECT o.place, o.content FROM old_rows o WHERE NOT EXISTS (SELECT FROM regress_rows() n WHERE n.place = o.place AND n.content @> o.content) ORDER BY 1;
SELECT o.place, count(*) AS rows_before, (SELECT count(*) FROM regress_rows() n WHERE n.place = o.place) AS rows_after FROM old_rows o GROUP BY 1
	HAVING count(*) <> (SELECT count(*) FROM regress_rows() n WHERE n.place = o.place) ORDER BY 1;
SELECT relation_name, owner_name, owner_oid = 'regress_up_owner'::regrole AS is_owner, store_oid = '_tiered_storage.partition_default'::regclass AS is_own,
	before_oid, set_name FROM _tiered_storage.partition_default;
COMMIT;

-- The same catalog, but for the rights that somebody has given and taken.
CREATE TEMP TABLE updated AS SELECT * FROM regress_catalog();
SELECT left(object, 80) AS object, left(what, 80) AS only_if_new FROM (TABLE fresh EXCEPT ALL TABLE updated) d
	WHERE object !~ '^(function tiered_storage\.(pause|add_tier)\(|view tiered_storage\.(tiers|heat)$|schema$)' ORDER BY 1, 2;
SELECT left(object, 80) AS object, left(what, 80) AS only_if_updated FROM (TABLE updated EXCEPT ALL TABLE fresh) d
	WHERE object !~ '^(function tiered_storage\.(pause|add_tier)\(|view tiered_storage\.(tiers|heat)$|schema$)' ORDER BY 1, 2;
SELECT count(*) AS differences FROM (TABLE fresh EXCEPT ALL TABLE updated) d;
SELECT has_schema_privilege('regress_up_user', 'tiered_storage', 'USAGE') AS schema,
	has_function_privilege('regress_up_user', 'tiered_storage.pause()', 'EXECUTE WITH GRANT OPTION') AS pause,
	(SELECT has_function_privilege('regress_up_user', p.oid, 'EXECUTE') FROM pg_proc p WHERE proname = 'add_tier' AND pronamespace = 'tiered_storage'::regnamespace) AS add_tier,
	has_column_privilege('regress_up_user', 'tiered_storage.heat', 'relation', 'SELECT') AS heat_relation,
	has_column_privilege('regress_up_user', 'tiered_storage.heat', 'size_bytes', 'SELECT') AS heat_size,
	has_table_privilege('pg_monitor', 'tiered_storage.tiers', 'SELECT') AS monitor_tiers,
	has_table_privilege('pg_monitor', 'tiered_storage.heat', 'SELECT') AS monitor_heat;
-- A dump has them, since the extension did not come with them.
SELECT count(*) AS came_with FROM pg_init_privs i CROSS JOIN LATERAL aclexplode(i.initprivs) a WHERE a.grantee = 'regress_up_user'::regrole;

-- It works: what was there, and the way back.
SELECT policy_id, relation, tier_name, move_after, return_after, enabled FROM tiered_storage.policies;
SELECT relation, tier_name, until FROM tiered_storage.pins;
SELECT tiered_storage.unpin('regress_up_moved');
CALL tiered_storage.undo_move(2);
SELECT relation, to_tier, state, undo_of FROM tiered_storage.moves ORDER BY move_id;
SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = COALESCE(NULLIF(c.reltablespace, 0), (SELECT dattablespace FROM pg_database WHERE datname = current_database()))
	WHERE c.oid = 'regress_up_moved'::regclass AND spcname <> 'regress_up_slow';
-- Nothing of an extension's script may give rights for it.
SELECT _tiered_storage.change_right('GRANT USAGE ON SCHEMA tiered_storage TO regress_up_user');

DROP EXTENSION tiered_storage;
DROP SCHEMA tiered_storage;
SELECT nspname FROM pg_namespace WHERE nspname ~ 'tiered_storage';
DROP TABLE regress_up_moved, regress_up_parts;
DROP FUNCTION regress_catalog, regress_rows, regress_fill;
DROP TABLESPACE regress_up_slow;
DROP ROLE regress_up_user, regress_up_owner;
