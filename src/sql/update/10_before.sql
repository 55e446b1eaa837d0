/*
 * tiered_storage: from an older version to this one.  The Makefile makes this script: first
 * what is in src/sql/update/10_before.sql, then the install script without its first look at
 * the server, then src/sql/update/90_after.sql with what that older version wants.
 *
 * So what is updated has the same catalog as what is installed anew, since the same statements
 * made it.  The old schema of tables is renamed, and goes after its rows have been copied; all
 * in one transaction, so that nothing has changed if anything fails.
 */
\echo Use "ALTER EXTENSION tiered_storage UPDATE" to load this file. \quit

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
	pg_catalog.set_config('quote_all_identifiers', 'off', true);

/* Rows that are committed until nobody writes any more have to be seen, and copied. */
DO $$
BEGIN
	IF pg_catalog.current_setting('transaction_isolation')
			OPERATOR(pg_catalog.<>) 'read committed' THEN
		RAISE EXCEPTION 'extension "tiered_storage" cannot be updated by a transaction of '
				'isolation level "%"', pg_catalog.current_setting('transaction_isolation')
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Update it in a transaction of isolation level "read committed".';
	END IF;
END
$$;

/* Nobody writes there, nor creates a view on ours, until this ends. */
DO $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT n.nspname, c.relname FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
		JOIN pg_catalog.pg_depend d ON d.objid OPERATOR(pg_catalog.=) c.oid
			AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
			AND d.deptype OPERATOR(pg_catalog.=) 'e'
		JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
			AND d.refclassid
				OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
			AND e.extname OPERATOR(pg_catalog.=) 'tiered_storage'
		WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v}')
		ORDER BY c.relkind, n.nspname, c.relname
	LOOP
		EXECUTE pg_catalog.format('LOCK TABLE %I.%I IN ACCESS EXCLUSIVE MODE', t.nspname,
			t.relname);
	END LOOP;
END
$$;

/* What somebody else has created on our objects would go with them, or be in the way. */
DO $$
DECLARE
	others text;
	n bigint;
BEGIN
	SELECT pg_catalog.string_agg(o.object, pg_catalog.chr(10) ORDER BY o.object)
			FILTER (WHERE o.place OPERATOR(pg_catalog.<=) 20), pg_catalog.count(*)
		INTO others, n
		FROM (
			WITH RECURSIVE ours AS (
				SELECT d.classid, d.objid FROM pg_catalog.pg_depend d
				JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
					AND e.extname OPERATOR(pg_catalog.=) 'tiered_storage'
				WHERE d.refclassid
						OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
					AND d.deptype OPERATOR(pg_catalog.=) 'e'
				UNION
				SELECT d.classid, d.objid FROM ours o
				JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) o.classid
					AND d.refobjid OPERATOR(pg_catalog.=) o.objid
				WHERE d.deptype OPERATOR(pg_catalog.=) ANY ('{i,a,P,S}'::"char"[]))
			SELECT x.object, pg_catalog.row_number() OVER (ORDER BY x.object) AS place
			FROM (SELECT DISTINCT
					pg_catalog.pg_describe_object(d.classid, d.objid, 0) AS object
				FROM ours o
				JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) o.classid
					AND d.refobjid OPERATOR(pg_catalog.=) o.objid
				WHERE d.deptype OPERATOR(pg_catalog.=) 'n'
					AND NOT EXISTS (SELECT FROM ours x
						WHERE x.classid OPERATOR(pg_catalog.=) d.classid
							AND x.objid OPERATOR(pg_catalog.=) d.objid)) x) o;
	IF n OPERATOR(pg_catalog.>) 0 THEN
		RAISE EXCEPTION 'objects outside of extension "tiered_storage" depend on its objects'
			USING ERRCODE = 'dependent_objects_still_exist', DETAIL = others,
				HINT = 'Drop them, update the extension, and create them again.';
	END IF;
END
$$;

/*
 * Whoever updates, the objects belong to whom the extension belongs to; a function that is
 * written in C takes a superuser.
 */
SELECT pg_catalog.set_config('tiered_storage_update.role',
	pg_catalog.current_setting('role'), true);
DO $$
DECLARE
	owner_name name;
BEGIN
	SELECT r.rolname INTO owner_name
		FROM pg_catalog.pg_extension e
		JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) e.extowner
		WHERE e.extname OPERATOR(pg_catalog.=) 'tiered_storage' AND r.rolsuper
			AND r.rolname OPERATOR(pg_catalog.<>) CURRENT_USER;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	IF NOT pg_catalog.pg_has_role(SESSION_USER, owner_name, 'MEMBER') THEN
		RAISE EXCEPTION 'extension "tiered_storage" cannot be updated by a session of role "%"',
				SESSION_USER
			USING ERRCODE = 'insufficient_privilege',
				DETAIL = pg_catalog.format('Its objects belong to role "%s", which this session '
					'cannot become.', owner_name),
				HINT = 'Connect as that role, or as a superuser.';
	END IF;
	PERFORM pg_catalog.set_config('role', owner_name, true);
END
$$;

ALTER SCHEMA _tiered_storage RENAME TO _tiered_storage_before;

/*
 * Rights that were granted or revoked since the extension was installed, which the new
 * objects are to have as well.
 */
CREATE TABLE _tiered_storage_before.changed_right AS
	WITH object AS (
		SELECT 'pg_catalog.pg_namespace'::pg_catalog.regclass AS class_oid, n.oid, 0 AS column_no,
			'SCHEMA' AS kind, n.nspname AS schema_name, NULL::name AS name,
			NULL::name AS column_name, NULL::text AS arguments, n.nspowner AS owner_oid,
			COALESCE(n.nspacl, pg_catalog.acldefault('n', n.nspowner)) AS acl
		FROM pg_catalog.pg_namespace n
		WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage_before}')
		UNION ALL
		SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid, 0,
			CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, n.nspname, c.relname, NULL,
			NULL, c.relowner, COALESCE(c.relacl, pg_catalog.acldefault(CASE c.relkind
				WHEN 'S' THEN 's'::"char" ELSE 'r'::"char" END, c.relowner))
		FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
		WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage_before}')
			AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}')
		UNION ALL
		SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid, a.attnum, 'TABLE', n.nspname,
			c.relname, a.attname, NULL, c.relowner, a.attacl
		FROM pg_catalog.pg_attribute a
		JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
		JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
		WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage_before}')
			AND a.attacl IS NOT NULL AND NOT a.attisdropped
		UNION ALL
		SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, 0, 'ROUTINE', n.nspname,
			p.proname, NULL, pg_catalog.pg_get_function_identity_arguments(p.oid), p.proowner,
			COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner))
		FROM pg_catalog.pg_proc p
		JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
		WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage_before}')),
	held AS (
		SELECT o.kind, o.schema_name, o.name, o.column_name, o.arguments, o.owner_oid, x.is_now,
			a.grantee, a.privilege_type, a.is_grantable
		FROM object o
		LEFT JOIN pg_catalog.pg_init_privs i
			ON i.classoid OPERATOR(pg_catalog.=) o.class_oid
				AND i.objoid OPERATOR(pg_catalog.=) o.oid
				AND i.objsubid OPERATOR(pg_catalog.=) o.column_no
		CROSS JOIN LATERAL (VALUES (true, o.acl), (false, COALESCE(i.initprivs,
			CASE WHEN o.column_no OPERATOR(pg_catalog.=) 0 THEN CASE o.kind
				WHEN 'SCHEMA' THEN pg_catalog.acldefault('n', o.owner_oid)
				WHEN 'ROUTINE' THEN pg_catalog.acldefault('f', o.owner_oid)
				WHEN 'SEQUENCE' THEN pg_catalog.acldefault('s', o.owner_oid)
				ELSE pg_catalog.acldefault('r', o.owner_oid) END END))) x (is_now, acl)
		CROSS JOIN LATERAL pg_catalog.aclexplode(x.acl) a
		-- Of roles that are gone the server has kept what they had at first.
		WHERE a.grantee OPERATOR(pg_catalog.<>) o.owner_oid
			AND (a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid
				OR EXISTS (SELECT FROM pg_catalog.pg_roles r
					WHERE r.oid OPERATOR(pg_catalog.=) a.grantee)))
	SELECT h.kind, pg_catalog.replace(h.schema_name::text, '_before', '') AS schema_name, h.name,
		h.column_name, h.arguments, h.privilege_type,
		CASE WHEN h.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC'
			ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(h.grantee)::text) END
			AS grantee,
		h.is_grantable, h.is_now
	FROM held h
	WHERE NOT EXISTS (SELECT FROM held x
		WHERE ROW(x.kind, x.schema_name, x.grantee, x.privilege_type)
				OPERATOR(pg_catalog.=) ROW(h.kind, h.schema_name, h.grantee, h.privilege_type)
			AND x.is_now OPERATOR(pg_catalog.<>) h.is_now
			AND x.name IS NOT DISTINCT FROM h.name
			AND x.column_name IS NOT DISTINCT FROM h.column_name
			AND x.arguments IS NOT DISTINCT FROM h.arguments
			AND (NOT h.is_now OR x.is_grantable OPERATOR(pg_catalog.=) h.is_grantable));

/* The schema stays, and what was granted on from one role to another would be in the way. */
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT DISTINCT h.grantee FROM pg_catalog.pg_namespace n
		CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) a
		CROSS JOIN LATERAL (SELECT CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid
			THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(
				a.grantee)::text) END AS grantee) h
		WHERE n.nspname OPERATOR(pg_catalog.=) 'tiered_storage'
			AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner
			AND a.grantor OPERATOR(pg_catalog.=) n.nspowner
	LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA tiered_storage FROM %s CASCADE',
			r.grantee);
	END LOOP;
END
$$;

/*
 * What users call and read.  Views were locked when it was looked for what depends on them, and
 * take functions of ours along; what depends on a function by now does not go with it.
 */
DO $$
DECLARE
	o record;
BEGIN
	FOR o IN SELECT k.kind, pg_catalog.string_agg(i.identity, ', ') AS identities
		FROM pg_catalog.pg_depend d
		JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
			AND e.extname OPERATOR(pg_catalog.=) 'tiered_storage'
		CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, 0) i
		CROSS JOIN LATERAL (SELECT CASE i.type WHEN 'view' THEN 'VIEW' ELSE 'ROUTINE' END
			AS kind) k
		WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
			AND d.deptype OPERATOR(pg_catalog.=) 'e'
			AND (i.type OPERATOR(pg_catalog.=) 'view'
				OR i.schema OPERATOR(pg_catalog.=) 'tiered_storage'
					AND i.type OPERATOR(pg_catalog.=) ANY ('{function,procedure}'))
		GROUP BY k.kind ORDER BY k.kind DESC
	LOOP
		EXECUTE pg_catalog.format('DROP %s IF EXISTS %s%s', o.kind, o.identities,
			CASE o.kind WHEN 'VIEW' THEN ' CASCADE' ELSE '' END);
	END LOOP;
END
$$;

/*
 * What a new column of a table that was there before gets, if not its default: an expression
 * of the old row, x.  Filled for each older version by the file that bears its name.
 */
CREATE TABLE _tiered_storage_before.new_value
(
	table_name name NOT NULL,
	column_name name NOT NULL,
	expression text NOT NULL,
	PRIMARY KEY (table_name, column_name)
);
