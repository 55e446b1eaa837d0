---------------------------------------------------------------------------
-- From an older version: its rows and rights, and then it goes.
---------------------------------------------------------------------------

/* Tables in an order in which each finds those that it refers to. */
DO $$
DECLARE
	t record;
BEGIN
	FOR t IN
		WITH RECURSIVE depth AS (
			SELECT c.oid, 0 AS n FROM pg_catalog.pg_class c
			WHERE c.relnamespace OPERATOR(pg_catalog.=) '_tiered_storage'::pg_catalog.regnamespace
				AND c.relkind OPERATOR(pg_catalog.=) 'r'
			UNION
			SELECT k.conrelid, d.n OPERATOR(pg_catalog.+) 1 FROM depth d
			JOIN pg_catalog.pg_constraint k ON k.confrelid OPERATOR(pg_catalog.=) d.oid
				AND k.contype OPERATOR(pg_catalog.=) 'f'
				AND k.conrelid OPERATOR(pg_catalog.<>) k.confrelid)
		SELECT c.relname, l.names, l.expressions
		FROM (SELECT d.oid, pg_catalog.max(d.n) AS n FROM depth d GROUP BY d.oid) d
		JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.oid
		JOIN pg_catalog.pg_class old ON old.relname OPERATOR(pg_catalog.=) c.relname
			AND old.relnamespace
				OPERATOR(pg_catalog.=) '_tiered_storage_before'::pg_catalog.regnamespace
		CROSS JOIN LATERAL (
			SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname::text), ', '
					ORDER BY a.attnum) AS names,
				pg_catalog.string_agg(COALESCE(v.expression, 'x.'
					OPERATOR(pg_catalog.||) pg_catalog.quote_ident(a.attname::text)), ', '
					ORDER BY a.attnum) AS expressions
			FROM pg_catalog.pg_attribute a
			LEFT JOIN pg_catalog.pg_attribute o ON o.attrelid OPERATOR(pg_catalog.=) old.oid
				AND o.attname OPERATOR(pg_catalog.=) a.attname
				AND o.attnum OPERATOR(pg_catalog.>) 0 AND NOT o.attisdropped
			LEFT JOIN _tiered_storage_before.new_value v
				ON v.table_name OPERATOR(pg_catalog.=) c.relname
				AND v.column_name OPERATOR(pg_catalog.=) a.attname
			WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid
				AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
				AND a.attgenerated OPERATOR(pg_catalog.=) ''
				AND (o.attname IS NOT NULL OR v.expression IS NOT NULL)) l
		ORDER BY d.n, c.relname
	LOOP
		EXECUTE pg_catalog.format('INSERT INTO _tiered_storage.%I (%s) OVERRIDING SYSTEM VALUE '
			'SELECT %s FROM _tiered_storage_before.%1$I x', t.relname, t.names, t.expressions);
		EXECUTE pg_catalog.format('ANALYZE _tiered_storage.%I', t.relname);
	END LOOP;
	FOR t IN
		SELECT c.relname FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_class old ON old.relname OPERATOR(pg_catalog.=) c.relname
			AND old.relkind OPERATOR(pg_catalog.=) 'S' AND old.relnamespace
				OPERATOR(pg_catalog.=) '_tiered_storage_before'::pg_catalog.regnamespace
		WHERE c.relnamespace OPERATOR(pg_catalog.=) '_tiered_storage'::pg_catalog.regnamespace
			AND c.relkind OPERATOR(pg_catalog.=) 'S'
	LOOP
		EXECUTE pg_catalog.format('SELECT pg_catalog.setval(''_tiered_storage.%I'', '
			'x.last_value, x.is_called) FROM _tiered_storage_before.%1$I x', t.relname);
	END LOOP;
END
$$;

/*
 * What a script of an extension grants counts as granted by the extension, and no dump has
 * it; these are the user's.
 */
DO $$
DECLARE
	r record;
	object text;
	gone text[] := '{}';
BEGIN
	FOR r IN
		SELECT b.*, pg_catalog.to_regclass(pg_catalog.quote_ident(b.schema_name)
				OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||)
				pg_catalog.quote_ident(b.name::text)) AS relation,
			(SELECT pg_catalog.min(p.oid::pg_catalog.regprocedure::text) FROM pg_catalog.pg_proc p
				WHERE p.pronamespace
						OPERATOR(pg_catalog.=) pg_catalog.to_regnamespace(b.schema_name)
					AND p.proname OPERATOR(pg_catalog.=) b.name
					AND (pg_catalog.pg_get_function_identity_arguments(p.oid)
							OPERATOR(pg_catalog.=) b.arguments
						OR NOT EXISTS (SELECT FROM pg_catalog.pg_proc x
							WHERE x.pronamespace OPERATOR(pg_catalog.=) p.pronamespace
								AND x.proname OPERATOR(pg_catalog.=) p.proname
								AND x.oid OPERATOR(pg_catalog.<>) p.oid))) AS routine
		FROM _tiered_storage_before.changed_right b
		ORDER BY b.is_now, b.schema_name, b.name, b.column_name, b.grantee, b.privilege_type
	LOOP
		object := CASE r.kind WHEN 'SCHEMA' THEN pg_catalog.quote_ident(r.schema_name)
			WHEN 'ROUTINE' THEN r.routine
			WHEN 'SEQUENCE' THEN r.relation::text
			ELSE CASE WHEN r.column_name IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_attribute a
				WHERE a.attrelid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
					AND a.attname OPERATOR(pg_catalog.=) r.column_name AND NOT a.attisdropped)
				THEN r.relation::text END END;
		IF object IS NULL THEN
			IF r.is_now THEN
				gone := gone OPERATOR(pg_catalog.||) pg_catalog.format('%s on %I.%I of %s',
					r.privilege_type, r.schema_name, r.name, r.grantee);
			END IF;
			CONTINUE;
		END IF;
		PERFORM _tiered_storage.change_right(pg_catalog.format(
			CASE WHEN r.is_now THEN 'GRANT %s%s ON %s %s TO %s%s'
				ELSE 'REVOKE %s%s ON %s %s FROM %s' END, r.privilege_type,
			COALESCE(' (' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(r.column_name::text)
				OPERATOR(pg_catalog.||) ')', ''), r.kind, object, r.grantee,
			CASE WHEN r.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END));
	END LOOP;
	IF pg_catalog.cardinality(gone) OPERATOR(pg_catalog.>) 0 THEN
		RAISE WARNING 'rights that were granted on what this version does not have are gone'
			USING DETAIL = pg_catalog.array_to_string(gone, pg_catalog.chr(10));
	END IF;
END
$$;

/* Dropping a table does not take it from what a dump includes; leaving the extension does. */
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT c.relname, CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
		FROM pg_catalog.pg_extension e
		CROSS JOIN LATERAL pg_catalog.unnest(e.extconfig) u (relation)
		JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) u.relation
		WHERE e.extname OPERATOR(pg_catalog.=) 'tiered_storage' AND c.relnamespace
			OPERATOR(pg_catalog.=) '_tiered_storage_before'::pg_catalog.regnamespace
	LOOP
		EXECUTE pg_catalog.format('ALTER EXTENSION tiered_storage DROP %s '
			'_tiered_storage_before.%I', r.kind, r.relname);
	END LOOP;
END
$$;
DROP SCHEMA _tiered_storage_before CASCADE;
SELECT pg_catalog.set_config('role',
	pg_catalog.current_setting('tiered_storage_update.role'), true);
SELECT _tiered_storage.notify_launcher();
