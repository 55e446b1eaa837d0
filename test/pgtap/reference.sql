-- The reference (docs/reference) against the catalog, in both directions: a section for
-- each object that users call or read and for each setting, and no other; in it each
-- argument with type and default, each column with its type, that of a view with its comment,
-- the description and the limits of the setting.  .ci/reference writes the latter two.
SET client_min_messages = warning;
CREATE EXTENSION tiered_storage;

-- The sections: the lines below each heading of the second level.
\set pages `cat docs/reference/[a-z]*.md`
CREATE TEMP TABLE section AS
	SELECT trim(leading '# ' from min(line) FILTER (WHERE line ~ '^## ')) AS heading, array_agg(line ORDER BY n) AS lines
	FROM (SELECT n, line, count(*) FILTER (WHERE line ~ '^##? ') OVER (ORDER BY n) AS part
		FROM regexp_split_to_table(:'pages', '\n') WITH ORDINALITY l(line, n)) l
	GROUP BY part
	HAVING min(line) FILTER (WHERE line ~ '^## ') IS NOT NULL;

CREATE FUNCTION pg_temp.type_name(type oid) RETURNS text LANGUAGE sql AS $$
	SELECT replace(replace(replace(replace(format_type(type, NULL), 'double precision', 'float8'),
		'timestamp with time zone', 'timestamptz'), 'integer', 'int'), 'time without time zone', 'time')
$$;
CREATE FUNCTION pg_temp.default_of(routine oid, argument bigint) RETURNS text LANGUAGE sql AS $$
	SELECT COALESCE(' = `' || regexp_replace(replace(e, 'NULL', 'null'), '::[a-z ]+(\[\])?', '', 'g') || '`', '')
	FROM pg_get_function_arg_default(routine, argument::int) e
$$;

-- What has to be in which section: how a row of one of its tables begins, or a line.
CREATE TEMP TABLE wanted AS
	SELECT p.proname || '()' AS heading, a.name IN ('tiers', 'overrides', 'horizon', 'objective',
			'schemas', 'relations') AND is_in AND p.proname ~ 'placement|tier_size_curve' AS is_option,
		'`' || a.name || '` ' || pg_temp.type_name(a.type) ||
			CASE WHEN is_in THEN pg_temp.default_of(p.oid, a.n) ELSE '' END || ' |' AS line
	FROM pg_proc p
	LEFT JOIN LATERAL ROWS FROM (unnest(p.proargnames), unnest(p.proargmodes),
		unnest(COALESCE(p.proallargtypes, p.proargtypes::oid[]))) WITH ORDINALITY a(name, mode, type, n) ON true
	CROSS JOIN LATERAL (SELECT COALESCE(a.mode, 'i') IN ('i', 'b') AS is_in) m
	WHERE p.pronamespace = 'tiered_storage'::regnamespace
	UNION ALL
	SELECT c.relname, false, format('`%s` %s | %s', a.attname, pg_temp.type_name(a.atttypid), col_description(c.oid, a.attnum))
	FROM pg_class c
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE c.relnamespace = 'tiered_storage'::regnamespace AND c.relkind IN ('r', 'v')
	UNION ALL
	SELECT name, false, format('Default `%s`', boot_val) || COALESCE(' ' || unit, '') ||
		COALESCE(', `' || min_val || '` to `' || max_val || '`', '') ||
		COALESCE(', one of `' || array_to_string(enumvals, '`, `') || '`', '') || ', changed by ' ||
		CASE context WHEN 'sighup' THEN 'reload' WHEN 'user' THEN 'session' WHEN 'postmaster' THEN 'restart' ELSE context END || '.'
	FROM pg_settings WHERE name ~ '^tiered_storage\.' AND name !~ '^tiered_storage\.(debug_|test_)'
	UNION ALL
	SELECT name, false, replace(concat_ws(' ', short_desc, extra_desc), '  ', ' ')
	FROM pg_settings WHERE name ~ '^tiered_storage\.' AND name !~ '^tiered_storage\.(debug_|test_)';

SELECT plan(6);
SELECT isnt_empty($$ SELECT FROM section WHERE 'CALL tiered_storage.sample();' = ANY (lines) $$, 'the pages are read');
SELECT is_empty($$ SELECT heading FROM wanted EXCEPT SELECT heading FROM section $$, 'nothing is missing in the reference');
SELECT is_empty($$ SELECT heading FROM section WHERE heading <> 'Options' EXCEPT SELECT heading FROM wanted $$,
	'nothing in the reference does not exist');
SELECT is_empty($$ SELECT w.heading, w.line FROM wanted w WHERE w.line IS NOT NULL AND NOT EXISTS (SELECT FROM section s, unnest(s.lines) l
	WHERE s.heading = CASE WHEN w.is_option THEN 'Options' ELSE w.heading END AND starts_with(l, w.line)) $$,
	'each argument, column, description and limit is as in the catalog');
SELECT is_empty($$ SELECT s.heading, l FROM section s, unnest(s.lines) l WHERE l ~ '^`\w+` ' AND NOT EXISTS (SELECT FROM wanted w
	WHERE s.heading = CASE WHEN w.is_option THEN 'Options' ELSE w.heading END AND starts_with(l, w.line)) $$,
	'no argument or column is described that does not exist');
SELECT is_empty($$ SELECT heading FROM section WHERE heading ~ '\(\)$|^[a-z_]+$' AND NOT '```sql' = ANY (lines) $$,
	'each function, procedure and view has an example');
SELECT * FROM finish();
