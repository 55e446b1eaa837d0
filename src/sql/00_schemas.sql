/*
 * tiered_storage: catalog and SQL interface.  The topics of src/sql are put
 * together, in the order of their numbers, when the extension is built.
 *
 * Every name outside a function body is qualified; every function that is not
 * a C function pins its search_path.  Nothing that changes anything is granted
 * to PUBLIC (see the end).
 */
\echo Use "CREATE EXTENSION tiered_storage" to load this file. \quit

/*
 * Two schemas: tiered_storage has what users call and read, _tiered_storage has the
 * tables and what else is beneath.
 *
 * Schemas of these names may have been prepared by somebody who owns them: he could put
 * his own functions beside ours, or rename the schema later and put tables of his own
 * where functions with more rights than his look for ours.  CREATE EXTENSION has made
 * the first one if it was not there, and a dump brings it along; the second one is made
 * here and belongs to the extension, so that no dump does.
 */
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
			JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
			WHERE n.nspname OPERATOR(pg_catalog.=) 'tiered_storage'
				AND NOT r.rolsuper AND r.rolname OPERATOR(pg_catalog.<>) CURRENT_USER)
		OR EXISTS (SELECT FROM pg_catalog.pg_depend d
			WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
				AND d.refobjid OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.regnamespace
				AND d.deptype OPERATOR(pg_catalog.=) 'n'
				AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_extension'::pg_catalog.regclass)
	THEN
		RAISE EXCEPTION 'schema "tiered_storage" exists already and is not empty or belongs to a user who is no superuser'
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname OPERATOR(pg_catalog.=) '_tiered_storage') THEN
		RAISE EXCEPTION 'schema "_tiered_storage" exists already'
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
END
$$;

CREATE SCHEMA _tiered_storage;
COMMENT ON SCHEMA _tiered_storage IS
'tables of tiered_storage and what is beneath its functions; not for use, and no promise that any of it stays';
COMMENT ON SCHEMA tiered_storage IS
'storage tiering: what to call and to read';
