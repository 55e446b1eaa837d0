---------------------------------------------------------------------------
-- The library is there before a function of ours runs.
---------------------------------------------------------------------------

/*
 * Planner support of functions that are not in C: loads the library.
 *
 * It fixes the settings of a session while a function in SQL or PL/pgSQL runs.  Without
 * shared_preload_libraries it is loaded by the first function in C; so the planner asks one
 * about each of the others.  (A procedure has no planner.)
 */
CREATE FUNCTION _tiered_storage.load_library(internal) RETURNS internal
LANGUAGE C IMMUTABLE STRICT AS 'MODULE_PATHNAME', 'tier_load_library_sql';

DO $$
DECLARE
	ours pg_catalog.regprocedure;
BEGIN
	FOR ours IN
		SELECT p.oid
		FROM pg_catalog.pg_proc p
		JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
		JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
		WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage}')
			AND l.lanname OPERATOR(pg_catalog.=) ANY ('{sql,plpgsql}')
			AND p.prokind OPERATOR(pg_catalog.=) 'f'
	LOOP
		EXECUTE pg_catalog.format('ALTER FUNCTION %s SUPPORT _tiered_storage.load_library', ours);
	END LOOP;
END
$$;

DROP FUNCTION _tiered_storage.define_stored;
