/*
 * tiered_storage: catalog and SQL interface.  The Makefile concatenates the topics of
 * src/sql in the order of their numbers.
 *
 * Every name of ours is qualified, and outside of function bodies the script pins search_path;
 * every function in SQL or PL/pgSQL pins its own.  Its other settings are fixed by the library
 * (src/base/session_settings.h), for which it needs that one.  Nothing that changes anything is
 * granted to PUBLIC (see 90_rights.sql).
 */
\echo Use "CREATE EXTENSION tiered_storage" to load this file. \quit

SET LOCAL search_path TO pg_catalog, pg_temp;

/*
 * Two schemas: tiered_storage has what users call and read, _tiered_storage the tables and
 * helper functions.
 *
 * An unprivileged user may have created schemas of these names before.  The owner of a
 * schema could add functions beside ours, or rename it later and put tables where
 * functions with more rights look for ours.  CREATE EXTENSION creates the first schema if
 * it does not exist, and a dump includes it; the second one is created here and belongs to
 * the extension, so that no dump includes it.
 */
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
			JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
			WHERE n.nspname OPERATOR(pg_catalog.=) 'tiered_storage'
				AND NOT r.rolsuper AND r.rolname OPERATOR(pg_catalog.<>) CURRENT_USER)
		OR EXISTS (SELECT FROM pg_catalog.pg_depend d
			WHERE d.refclassid
					OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
				AND d.refobjid OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.regnamespace
				AND d.deptype OPERATOR(pg_catalog.=) 'n'
				AND d.classid
					OPERATOR(pg_catalog.<>) 'pg_catalog.pg_extension'::pg_catalog.regclass)
	THEN
		RAISE EXCEPTION 'schema "tiered_storage" exists already and is not empty, '
			'or its owner is not a superuser'
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
		WHERE n.nspname OPERATOR(pg_catalog.=) '_tiered_storage') THEN
		RAISE EXCEPTION 'schema "_tiered_storage" exists already'
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
END
$$;

CREATE SCHEMA _tiered_storage;
COMMENT ON SCHEMA _tiered_storage IS
'tables and helper functions of tiered_storage; internal: not for direct use, and any of it may '
'change';
COMMENT ON SCHEMA tiered_storage IS
'storage tiering: the functions to call and the views to read';

/*
 * Numbers of the batches of apply_placement(), migrate(), the worker and undo_move().
 *
 * Before all other relations, so that it is the guard (src/catalog/scope.h) where nothing else
 * decides: unlike a table, a sequence is not locked by VACUUM.
 */
CREATE SEQUENCE _tiered_storage.move_batch;

/*
 * Raises an error on a standby and in a read-only transaction; what is the name of the function
 * that changes something.
 */
CREATE FUNCTION _tiered_storage.require_writable(what text) RETURNS void
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_require_writable_sql';

/*
 * Raises an error for a function that is written in PL/pgSQL, without CONTEXT lines of ours: they
 * say nothing to the caller, whose own stay.  code is the name of a condition, as in RAISE.
 */
CREATE FUNCTION _tiered_storage.refuse(code text, message text, detail text DEFAULT NULL,
	hint text DEFAULT NULL) RETURNS void
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_refuse';
