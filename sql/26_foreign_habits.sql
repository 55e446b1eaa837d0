\set ECHO none
-- What other tools do to all tables of a database, and what sessions have set.
SET client_min_messages = error;
DROP EXTENSION IF EXISTS tiered_storage;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_h_slow LOCATION '';
CREATE TABLE regress_h (id int PRIMARY KEY, value text);
INSERT INTO regress_h SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i;
CREATE UNLOGGED TABLE regress_h_unlogged (id int);
CREATE TABLE regress_h_parted (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_h_old PARTITION OF regress_h_parted FOR VALUES FROM ('2001-01-01') TO ('2001-02-01');

-- Tiers of one's own, whatever there is on this machine.
CREATE PROCEDURE regress_h_begin() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
	PERFORM tiered_storage.add_tier('regress_fast', '{pg_default}', profile => 'nvme', reserve_fraction => 0);
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_h_slow}', profile => 'hdd_7200', reserve_fraction => 0);
END $$;
CREATE FUNCTION regress_h_state() RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
	RETURN concat_ws('; ',
		(SELECT string_agg(format('%s %s %s', t.tier_name, t.rank, t.random_read_ms = 12.3456789), ', '
			ORDER BY t.rank) FROM _tiered_storage.tiers t
			WHERE t.tier_name ~ 'regress'),
		(SELECT string_agg(format('%s on %s', p.relation_name, p.tier_name), ', ') FROM _tiered_storage.pins p),
		(SELECT string_agg(format('%s %s', e.relation::oid = 'public.regress_h_old'::regclass, e.verdict), ', ')
			FROM _tiered_storage.evaluate_policies() e),
		(SELECT s.samples > 2 FROM _tiered_storage.sampler s));
END $$;
-- Everything that writes, but moves; what came of it, as text.
CREATE FUNCTION regress_h_everything() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	CALL tiered_storage.sample();
	PERFORM count(*) FROM regress_h;
	CALL tiered_storage.sample();
	PERFORM tiered_storage.alter_tier('regress_slow', price_per_gb_month => 0.0123456789,
	device => '{"random_read_ms": 12.3456789}');
	PERFORM tiered_storage.alter_tier('regress_slow', new_name => 'regress "cold"');
	PERFORM count(*) FROM tiered_storage.discover_tiers();
	PERFORM tiered_storage.add_tiering_policy('regress_h_parted', '1 day', 'regress "cold"',
	options => '{"time_zone": "UTC"}');
	PERFORM tiered_storage.pin('regress_h', until => clock_timestamp() + interval '1 hour');
	PERFORM tiered_storage.pin('regress_h');
	PERFORM count(*) FROM tiered_storage.recommend_placement(true);
	PERFORM count(*) FROM _tiered_storage.placement_summary();
	PERFORM count(*) FROM _tiered_storage.recommend_settings();
	PERFORM count(*) FROM tiered_storage.load_profile();
	CALL tiered_storage.sample();
	answer := public.regress_h_state();
	PERFORM tiered_storage.unpin('regress_h');
	PERFORM tiered_storage.remove_policy('regress_h_parted');
	PERFORM tiered_storage.alter_tier('regress "cold"', new_name => 'regress_slow');
	RETURN answer;
END $$;
\set ECHO all

---------------------------------------------------------------------------
-- Rights by default
---------------------------------------------------------------------------

ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON ROUTINES TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO PUBLIC;
CREATE EXTENSION tiered_storage;
SELECT c.relname, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a
	WHERE c.relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND a.grantee = 0;
SELECT p.proname FROM pg_proc p, aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a
	WHERE p.pronamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND a.grantee = 0;
SELECT a.privilege_type FROM pg_namespace n, aclexplode(n.nspacl) a
	WHERE n.nspname IN ('tiered_storage', '_tiered_storage') AND a.grantee = 0;
DROP EXTENSION tiered_storage;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON ROUTINES TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO PUBLIC;

---------------------------------------------------------------------------
-- An event trigger that lets nobody change anything
---------------------------------------------------------------------------

CREATE EXTENSION tiered_storage;
CALL regress_h_begin();
SELECT regress_h_everything() AS usual \gset
SELECT :'usual' AS usual;
CREATE FUNCTION regress_h_no() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no %',
	tg_tag; END $$;
CREATE EVENT TRIGGER regress_h_start ON ddl_command_start EXECUTE FUNCTION regress_h_no();
CREATE EVENT TRIGGER regress_h_end ON ddl_command_end EXECUTE FUNCTION regress_h_no();
CREATE EVENT TRIGGER regress_h_rewrite ON table_rewrite EXECUTE FUNCTION regress_h_no();
CREATE TABLE regress_h_not (id int);
SELECT regress_h_everything() = :'usual' AS as_usual;
CALL tiered_storage.move_relation('regress_h', 'regress_slow');
CALL tiered_storage.move_relation('regress_h_unlogged', 'regress_slow', allow_lock => true);
CALL tiered_storage.move_relation('regress_h', 'regress_fast');
CALL tiered_storage.migrate();
SELECT relation, state, error FROM _tiered_storage.moves ORDER BY relation COLLATE "C";
DROP EVENT TRIGGER regress_h_start;
DROP EVENT TRIGGER regress_h_end;
DROP EVENT TRIGGER regress_h_rewrite;

---------------------------------------------------------------------------
-- Row-level security, and audit triggers, on all tables
---------------------------------------------------------------------------

\set ECHO none
CREATE TABLE regress_h_audit (what text, was jsonb);
CREATE FUNCTION regress_h_log() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
	INSERT INTO regress_h_audit VALUES (TG_OP || ' ' || TG_TABLE_NAME, CASE TG_LEVEL
		WHEN 'ROW' THEN to_jsonb(COALESCE(NEW, OLD)) END);
	RETURN NULL;
END $$;
DO $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT c.oid::regclass AS name FROM pg_class c WHERE c.relnamespace = '_tiered_storage'::regnamespace
		AND c.relkind = 'r' LOOP
		EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t.name);
		EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t.name);
		EXECUTE format('CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION regress_h_log()', t.name);
		EXECUTE format('CREATE TRIGGER audit_statement AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION regress_h_log()', t.name);
	END LOOP;
END $$;
\set ECHO all
SELECT regress_h_everything() = :'usual' AS as_usual;
CALL tiered_storage.move_relation('regress_h', 'regress_slow');
SELECT state, count(*) FROM _tiered_storage.moves WHERE relation ~ '^regress_h(_pkey)?$' GROUP BY 1;
SELECT count(*) > 20 AS audited FROM regress_h_audit;
-- Who owns no table of ours sees what the views show, as before.
CREATE ROLE regress_h_reader IN ROLE pg_monitor;
SET ROLE regress_h_reader;
SELECT count(*) = 2 AS both FROM _tiered_storage.tiers WHERE tier_name ~ 'regress';
SELECT count(*) > 0 AS some FROM _tiered_storage.heat;
RESET ROLE;
-- A trigger that refuses is obeyed: its error is what one sees.
CREATE FUNCTION regress_h_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'read-only'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON _tiered_storage.pin FOR EACH STATEMENT EXECUTE FUNCTION regress_h_refuse();
SELECT tiered_storage.pin('regress_h');
DROP TRIGGER refuse ON _tiered_storage.pin;
CALL tiered_storage.move_relation('regress_h', 'regress_fast');
DROP EXTENSION tiered_storage;

---------------------------------------------------------------------------
-- Settings of the session
---------------------------------------------------------------------------

\set ECHO none
CREATE SCHEMA regress_h_hostile;
DO $$
DECLARE
	o record;
BEGIN
	FOR o IN SELECT t, n FROM unnest('{name,oid,bigint,text,boolean,double precision}'::text[]) t,
		unnest('{=,<>,<,>}'::text[]) n LOOP
		EXECUTE format('CREATE OR REPLACE FUNCTION regress_h_hostile.hostile(%s, %1$s) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''hostile operator''; END $f$', o.t);
		EXECUTE format('CREATE OPERATOR regress_h_hostile.%s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = regress_h_hostile.hostile)', o.n, o.t);
	END LOOP;
END $$;
CREATE FUNCTION regress_h_hostile.now() RETURNS timestamptz LANGUAGE plpgsql
	AS $$ BEGIN RAISE EXCEPTION 'hostile function'; END $$;
CREATE FUNCTION regress_h_hostile.format(text, VARIADIC "any") RETURNS text LANGUAGE internal AS 'text_format';
CREATE TABLE regress_h_hostile.pg_class (oid oid);
CREATE TABLE regress_h_setting (name text, value text, made boolean, round bigint, before text);
INSERT INTO regress_h_setting (name, value) VALUES
	('default_tablespace', 'regress_h_slow'), ('default_toast_compression', 'pglz'), ('row_security', 'off'),
	('session_replication_role', 'replica'), ('session_replication_role', 'local'), ('standard_conforming_strings',
		'off'),
	('quote_all_identifiers', 'on'), ('DateStyle', 'German, DMY'), ('DateStyle', 'SQL, YMD'), ('IntervalStyle',
		'sql_standard'),
	('IntervalStyle', 'iso_8601'), ('TimeZone', 'Asia/Kolkata'), ('TimeZone', 'Pacific/Apia'), ('extra_float_digits',
		'-15'),
	('extra_float_digits', '3'), ('bytea_output', 'escape'), ('xmlbinary', 'hex'), ('array_nulls', 'off'),
		('transform_null_equals', 'on'),
	('check_function_bodies', 'off'), ('plan_cache_mode', 'force_generic_plan'), ('plan_cache_mode',
		'force_custom_plan'),
	('plpgsql.extra_errors', 'all'), ('plpgsql.print_strict_params', 'on'), ('constraint_exclusion', 'on'),
		('from_collapse_limit', '1'), ('join_collapse_limit', '1'),
	('enable_seqscan', 'off'), ('enable_hashjoin', 'off'), ('enable_nestloop', 'off'), ('enable_sort', 'off'),
		('work_mem', '64kB'),
	('default_statistics_target', '1'), ('parallel_setup_cost', '0'), ('max_parallel_workers_per_gather', '8'),
		('stats_fetch_consistency', 'snapshot'),
	('lock_timeout', '1h'), ('idle_in_transaction_session_timeout', '1h'), ('client_encoding', 'LATIN1'),
		('lc_monetary', 'C'), ('lc_numeric', 'C'),
	('backslash_quote', 'off'), ('escape_string_warning', 'on'), ('lo_compat_privileges', 'on'), ('xmloption',
		'document'),
	('search_path', 'regress_h_hostile, pg_catalog, public, pg_temp'), ('search_path',
		'pg_temp, regress_h_hostile, public, pg_catalog'), ('search_path', 'public');
-- Its name depends on the version.
INSERT INTO regress_h_setting SELECT name, 'regress' FROM pg_settings
	WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
-- Not every version has them all.
UPDATE regress_h_setting SET before = current_setting(name, true);
DELETE FROM regress_h_setting WHERE before IS NULL;
-- Some of them also while the extension is made.  Several at a time, each name once.
UPDATE regress_h_setting SET made = name ~ 'conforming|replication_role|table_access|search_path|extra_errors|bodies|array_nulls';
UPDATE regress_h_setting x SET round = r.round
	FROM (SELECT s.ctid AS row, CASE WHEN s.made THEN s.nth ELSE 100 + (row_number() OVER (PARTITION BY s.made
		ORDER BY s.nth, s.name) - 1) / 8 END AS round
		FROM (SELECT ctid, name, made, row_number() OVER (PARTITION BY name ORDER BY ctid) AS nth
			FROM regress_h_setting) s) r
	WHERE x.ctid = r.row;
\set ECHO all
SELECT count(*) FROM (SELECT FROM regress_h_setting GROUP BY round, name HAVING count(*) > 1) twice;
\set ECHO none
CREATE EXTENSION tiered_storage;
CALL regress_h_begin();
CREATE TABLE regress_h_answer AS SELECT regress_h_everything() AS usual;
DO $$
DECLARE
	s record;
	x record;
	answer text;
	was_set text[];
BEGIN
	FOR s IN SELECT r.round, r.made, a.usual FROM public.regress_h_setting r, public.regress_h_answer a
		GROUP BY 1, 2, 3 ORDER BY 1 LOOP
		was_set := '{}';
		FOR x IN SELECT * FROM public.regress_h_setting r WHERE r.round OPERATOR(pg_catalog.=) s.round LOOP
			BEGIN
				PERFORM pg_catalog.set_config(x.name, x.value, false);
				was_set := pg_catalog.array_append(was_set, pg_catalog.concat(x.name, ' = ', x.value));
			EXCEPTION WHEN OTHERS THEN
				CONTINUE;
			END;
		END LOOP;
		IF s.made THEN
			DROP EXTENSION tiered_storage;
			CREATE EXTENSION tiered_storage;
			CALL public.regress_h_begin();
		END IF;
		answer := public.regress_h_everything();
		FOR x IN SELECT * FROM public.regress_h_setting r WHERE r.round OPERATOR(pg_catalog.=) s.round LOOP
			PERFORM pg_catalog.set_config(x.name, x.before, false);
		END LOOP;
		IF pg_catalog.replace(answer, '"public"."regress_h"', 'public.regress_h') OPERATOR(pg_catalog.<>) s.usual THEN
			RAISE WARNING '%: %', was_set, answer;
		END IF;
		COMMIT;
	END LOOP;
END $$;
DROP EXTENSION tiered_storage;
\set ECHO all
SELECT count(*) > 40 AS settings FROM regress_h_setting;

---------------------------------------------------------------------------
-- Where our own tables are
---------------------------------------------------------------------------

SET default_tablespace = 'regress_h_slow';
CREATE EXTENSION tiered_storage;
RESET default_tablespace;
SELECT count(*) > 10 AS tables_where_one_says FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
	WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r' AND s.spcname = 'regress_h_slow';
CALL regress_h_begin();
SELECT regress_h_everything() = :'usual' AS as_usual;

-- REINDEX DATABASE waits for a sample, and is in no deadlock with it: what the sample writes after it has read is
-- locked for writing from the beginning.
BEGIN;
CALL tiered_storage.sample();
SELECT c.relname FROM pg_class c WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r'
	AND c.relname NOT IN ('tier', 'move_window', 'restore_turn') AND NOT EXISTS (
	SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND l.relation = c.oid AND l.mode = 'RowExclusiveLock');
ROLLBACK;

DROP EXTENSION tiered_storage;
DROP SCHEMA regress_h_hostile CASCADE;
DROP TABLE regress_h, regress_h_unlogged, regress_h_parted, regress_h_audit, regress_h_setting, regress_h_answer;
DROP PROCEDURE regress_h_begin;
DROP FUNCTION regress_h_everything, regress_h_state, regress_h_no, regress_h_log, regress_h_refuse;
DROP ROLE regress_h_reader;
DROP TABLESPACE regress_h_slow;
