-- What CREATE EXTENSION makes, for whom, and what DROP EXTENSION leaves.
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
CREATE ROLE regress_install_user;

-- A plain user cannot install it.
SET ROLE regress_install_user;
\set VERBOSITY sqlstate
CREATE EXTENSION tiered_storage;
\set VERBOSITY default
RESET ROLE;

-- It lives in its own schema, and nowhere else.
CREATE SCHEMA regress_elsewhere;
\set VERBOSITY sqlstate
CREATE EXTENSION tiered_storage SCHEMA regress_elsewhere;
\set VERBOSITY default
DROP SCHEMA regress_elsewhere;

SET client_min_messages = error;
CREATE EXTENSION tiered_storage;
RESET client_min_messages;
SELECT e.extversion, n.nspname, e.extrelocatable
	FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
	WHERE e.extname = 'tiered_storage';
SET client_min_messages = error;
CREATE EXTENSION tiered_storage;
RESET client_min_messages;
CREATE EXTENSION IF NOT EXISTS tiered_storage;
ALTER EXTENSION tiered_storage SET SCHEMA public;

-- It has looked around: each tablespace that can be looked at has a tier, and
-- there has been a sample.
SELECT d.tablespace_name
	FROM _tiered_storage.tablespace_devices() d
	LEFT JOIN _tiered_storage.tier_tablespaces t USING (tablespace_oid)
	WHERE d.path_exists AND t.tier_name IS NULL;
SELECT count(*) AS tiers_of_pg_default FROM _tiered_storage.tiers
	WHERE 'pg_default' = ANY (tablespaces);
SELECT 'pg_global' = ANY (tablespaces) AS has_pg_global, discovered, price_is_assumed,
	reserve_fraction, low_watermark, high_watermark
	FROM _tiered_storage.tiers WHERE 'pg_default' = ANY (tablespaces);
SELECT count(*) AS sampler_rows FROM _tiered_storage.sampler;

-- Every object that a person meets says what it is.
CREATE VIEW pg_temp.members AS
	SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS object
	FROM pg_depend d
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tiered_storage'
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e';
SELECT m.object FROM pg_temp.members m
	WHERE obj_description(m.objid, (SELECT relname FROM pg_class WHERE oid = m.classid)) IS NULL
		AND m.object !~ '_tiered_storage[.]'
		AND (m.classid = 'pg_proc'::regclass
			OR m.classid = 'pg_class'::regclass
				AND (SELECT relkind FROM pg_class WHERE oid = m.objid) IN ('r', 'v', 'm', 'f'))
	ORDER BY 1;
SELECT obj_description(oid, 'pg_extension') AS extension FROM pg_extension
	WHERE extname = 'tiered_storage';

-- Nothing is granted to PUBLIC, not even the use of the schema.
SELECT p.oid::regprocedure AS executable_by_public
	FROM pg_temp.members m JOIN pg_proc p ON p.oid = m.objid AND m.classid = 'pg_proc'::regclass,
		LATERAL aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a
	WHERE a.grantee = 0
	ORDER BY 1;
SELECT c.oid::regclass AS granted_to_public, a.privilege_type
	FROM pg_temp.members m JOIN pg_class c ON c.oid = m.objid AND m.classid = 'pg_class'::regclass,
		LATERAL aclexplode(COALESCE(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END,
			c.relowner))) a
	WHERE a.grantee = 0
	ORDER BY 1, 2;
SELECT has_schema_privilege('public', 'tiered_storage', 'USAGE') AS usage,
	has_schema_privilege('public', 'tiered_storage', 'CREATE') AS "create",
	has_schema_privilege('public', '_tiered_storage', 'USAGE') AS usage_beneath,
	has_schema_privilege('public', '_tiered_storage', 'CREATE') AS create_beneath;

-- No function looks names up where a user can put his own.
SELECT p.oid::regprocedure AS unpinned_search_path, l.lanname, p.proconfig
	FROM pg_temp.members m
	JOIN pg_proc p ON p.oid = m.objid AND m.classid = 'pg_proc'::regclass
	JOIN pg_language l ON l.oid = p.prolang
	WHERE l.lanname <> 'c'
		AND p.prosqlbody IS NULL
		AND NOT COALESCE('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)
	ORDER BY 1;
SELECT p.oid::regprocedure AS strange_library
	FROM pg_temp.members m
	JOIN pg_proc p ON p.oid = m.objid AND m.classid = 'pg_proc'::regclass
	JOIN pg_language l ON l.oid = p.prolang
	WHERE l.lanname = 'c' AND p.probin <> 'tiered_storage';

-- Settings: none for the whole server can be changed in a session.
SELECT name, boot_val, unit, min_val, max_val, enumvals, context FROM pg_settings
	WHERE name LIKE 'tiered\_storage.%'
	ORDER BY name;
\set VERBOSITY sqlstate
SET tiered_storage.move_lock_timeout = 0;
\set VERBOSITY default
SET tiered_storage.move_lock_timeout = '1min';
SHOW tiered_storage.move_lock_timeout;
RESET tiered_storage.move_lock_timeout;
\set VERBOSITY sqlstate
SET tiered_storage.auto_migrate = 'off';
SET tiered_storage.move_rate_limit = 1;
SET tiered_storage.max_movers = 1;
SET tiered_storage.no_such_setting = 1;
SET ROLE regress_install_user;
SET tiered_storage.test_now = '2026-06-01';
RESET ROLE;
\set VERBOSITY default

-- A plain user gets nothing.
SET ROLE regress_install_user;
\set VERBOSITY terse
SELECT * FROM tiered_storage.tiers;
SELECT * FROM tiered_storage.recommend_placement();
CALL tiered_storage.sample();
\set VERBOSITY default
RESET ROLE;

-- DROP EXTENSION takes everything with it, and it can come again.
DROP VIEW pg_temp.members;
DROP EXTENSION tiered_storage;
SELECT count(*) AS left_in_schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname IN ('tiered_storage', '_tiered_storage');
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS tiered_storage;
RESET client_min_messages;
\set VERBOSITY terse
SELECT * FROM tiered_storage.heat;
\set VERBOSITY default
SELECT count(*) AS tiers_of_pg_default FROM _tiered_storage.tiers
	WHERE 'pg_default' = ANY (tablespaces);

-- Not while somebody's view needs it, unless told so.
CREATE VIEW regress_uses_it AS SELECT tier_name FROM tiered_storage.tiers;
DROP EXTENSION tiered_storage;
SET client_min_messages = warning;
DROP EXTENSION tiered_storage CASCADE;
RESET client_min_messages;
SELECT to_regclass('regress_uses_it') AS the_view;

-- What a transaction undoes is undone.
BEGIN;
SET LOCAL client_min_messages = error;
CREATE EXTENSION tiered_storage;
ROLLBACK;
SELECT count(*) AS extensions FROM pg_extension WHERE extname = 'tiered_storage';

-- A schema of the name that already exists is not used: its owner could put functions beside
-- ours that fit better what an administrator calls.
\set VERBOSITY terse
CREATE SCHEMA tiered_storage AUTHORIZATION regress_install_user;
CREATE EXTENSION tiered_storage;
ALTER SCHEMA tiered_storage OWNER TO CURRENT_USER;
CREATE EXTENSION tiered_storage;
DROP SCHEMA tiered_storage;
CREATE SCHEMA _tiered_storage AUTHORIZATION regress_install_user;
CREATE EXTENSION tiered_storage;
DROP SCHEMA _tiered_storage;
SET client_min_messages = error;
CREATE EXTENSION tiered_storage;
RESET client_min_messages;
DROP SCHEMA tiered_storage, _tiered_storage CASCADE;
\set VERBOSITY default
-- Nothing of it is left.
DROP EXTENSION tiered_storage;
SELECT nspname FROM pg_namespace WHERE nspname ~ 'tiered_storage';

DROP ROLE regress_install_user;
