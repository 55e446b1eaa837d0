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
 * helper functions.  Both belong to the extension: no dump includes them, and DROP EXTENSION
 * removes them.
 *
 * An unprivileged user may have created schemas of these names before.  The owner of a
 * schema could add functions beside ours, or rename it later and put tables where
 * functions with more rights look for ours.
 */
DO $$
DECLARE
	name text := (SELECT pg_catalog.min(n.nspname) FROM pg_catalog.pg_namespace n
		WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage, _tiered_storage}'));
BEGIN
	IF name IS NOT NULL THEN
		RAISE EXCEPTION 'schema "%" already exists', name
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
END
$$;

CREATE SCHEMA tiered_storage;
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
