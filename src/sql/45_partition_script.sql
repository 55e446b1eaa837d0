---------------------------------------------------------------------------
-- The script that partitions a table without rewriting it.
---------------------------------------------------------------------------

/*
 * Statements are generated while the table has its name, and most run once the new parent has
 * it: so the server's own definitions of indexes, constraints, triggers and views fit as they
 * are.  Names stand in statements only, quoted, never in a comment of the script, which a name
 * could end.
 */

/* The name of a relation with a suffix. */
CREATE FUNCTION _tiered_storage.spare_path(relation oid, suffix text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT format('%I.%I', nspname, relname || suffix)
	FROM _tiered_storage.relation_entry(relation)
$$;

/* The views on a table. */
CREATE FUNCTION _tiered_storage.partition_views(relation regclass) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT DISTINCT r.ev_class FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
	WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
		AND d.refobjid = relation ORDER BY 1
$$;

/* Names of a table and its parts that leave no room for those that the script needs. */
CREATE FUNCTION _tiered_storage.partition_name_obstacles(relation regclass)
RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	WITH t AS (SELECT * FROM pg_class WHERE oid = relation), own (name) AS (
		SELECT relname FROM pg_class WHERE oid IN (
			SELECT relation UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = relation
			UNION ALL SELECT objid FROM pg_depend JOIN pg_sequence ON seqrelid = objid
			WHERE refclassid = 'pg_class'::regclass AND refobjid = relation)
		UNION ALL SELECT stxname FROM pg_statistic_ext WHERE stxrelid = relation),
	taken (name) AS (SELECT c.relname FROM t JOIN pg_class c USING (relnamespace)
		UNION SELECT typname FROM t JOIN pg_type ON typnamespace = relnamespace
		UNION SELECT stxname FROM t JOIN pg_statistic_ext ON stxnamespace = relnamespace)
	SELECT format('the name %I has more than 59 bytes (rename that)', name)
	FROM own WHERE octet_length(name) > 59
	UNION ALL SELECT DISTINCT format('the name %I is in use (rename that)', t.name)
	FROM own o JOIN taken t ON starts_with(t.name, o.name)
	WHERE substr(t.name, length(o.name) + 1) ~ '^_(old|new|was|default|pm?[0-9]+)$'
$$;

/*
 * Why a table cannot be partitioned in place, and what would help; no row: it can.
 *
 * All that depends on the table without being a part of it is an obstacle, except views.
 */
CREATE FUNCTION _tiered_storage.partition_obstacles(relation regclass, key_column name)
RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	WITH t AS (SELECT c.*, y.typarray, (SELECT a.attnum FROM pg_attribute a
			WHERE a.attrelid = c.oid AND a.attname = key_column AND a.attnum > 0
				AND a.attgenerated = '' AND a.atttypid = ANY ('{date,timestamp,timestamptz,int2,
				int4,int8}'::regtype[])) AS key
		FROM pg_class c LEFT JOIN pg_type y ON y.oid = c.reltype WHERE c.oid = relation)
	SELECT v.obstacle FROM t CROSS JOIN LATERAL (VALUES
		(t.relkind <> 'r' OR t.relpersistence <> 'p' OR t.reloftype <> 0 OR t.oid < 16384,
			'it is not a permanent ordinary table (copy its rows into a partitioned table)'),
		(t.key IS NULL, format('%I is not a date, timestamp or integer (choose another)', $2)),
		(EXISTS (SELECT FROM pg_inherits WHERE inhrelid = t.oid), 'it has a parent (NO INHERIT)'),
		(EXISTS (SELECT FROM pg_constraint WHERE conrelid = t.oid AND confrelid = t.oid),
			'it references itself (drop the foreign key)'),
		(EXISTS (SELECT FROM pg_rewrite WHERE ev_class = t.oid), 'it has rules (drop them)'),
		(octet_length(t.relname) > 40, 'its name has more than 40 bytes (rename it)'),
		(t.relreplident <> 'd', 'it has a replica identity (REPLICA IDENTITY DEFAULT)'),
		(EXISTS (SELECT FROM pg_seclabel WHERE objoid = t.oid), 'it has a security label'),
		(EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = t.oid),
			'a subscription writes it (drop the subscription)'),
		(EXISTS (SELECT FROM pg_depend WHERE objid = t.oid AND deptype = 'e' UNION ALL
			SELECT FROM pg_trigger WHERE tgrelid = t.oid AND tgisinternal AND tgconstraint = 0),
			'it belongs to an extension (use the partitions of that)'),
		(EXISTS (SELECT FROM aclexplode(t.relacl) WHERE grantor <> t.relowner
			UNION ALL SELECT FROM pg_attribute, aclexplode(attacl)
			WHERE attrelid = t.oid AND grantor <> t.relowner),
			'roles other than its owner granted privileges on it (grant them as its owner)'),
		(EXISTS (SELECT FROM pg_attribute WHERE attrelid IN (
				SELECT t.oid UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = t.oid)
				AND attnum > 0 AND NOT attisdropped
				AND (attoptions::text ~ 'distinct' OR attstattarget >= 0)
			UNION ALL SELECT FROM pg_statistic_ext
			WHERE stxrelid = t.oid AND (stxstattarget >= 0 OR stxowner <> t.relowner)),
			'its columns or statistics objects have options or another owner (reset them)'),
		(EXISTS (SELECT FROM pg_depend i JOIN pg_sequence ON seqrelid = i.objid JOIN pg_attribute
			ON (attrelid, attnum) = (i.refobjid, i.refobjsubid) LEFT JOIN pg_depend d
			ON d.refclassid = i.refclassid AND d.refobjid = i.objid AND d.deptype = 'n'
			WHERE i.refclassid = 'pg_class'::regclass AND i.refobjid = t.oid AND i.deptype = 'i'
				AND (d.objid IS NOT NULL OR seqtypid <> atttypid)),
			'others depend on its identity sequence, or that has another type (drop them, or AS)'),
		(NOT has_schema_privilege(t.relowner, t.relnamespace, 'CREATE') OR EXISTS (SELECT
			FROM pg_constraint WHERE conrelid = t.oid AND contype = 'f' AND conparentid = 0
				AND NOT has_any_column_privilege(t.relowner, confrelid, 'REFERENCES')
			UNION ALL SELECT FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
			WHERE t.oid IN (c.oid, i.indrelid) AND c.reltablespace <> 0
				AND NOT has_tablespace_privilege(t.relowner, c.reltablespace, 'CREATE')
			UNION ALL SELECT FROM pg_trigger WHERE tgrelid = t.oid AND NOT tgisinternal
				AND NOT has_function_privilege(t.relowner, tgfoid, 'EXECUTE')
			UNION ALL SELECT FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0
				AND NOT has_type_privilege(t.relowner, atttypid, 'USAGE')),
			'its owner lacks CREATE, REFERENCES, EXECUTE or USAGE of what it uses (grant it)')
		) v (holds, obstacle) WHERE v.holds
	UNION ALL SELECT format(v.obstacle, c.relname, key_column)
		FROM t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
		CROSS JOIN LATERAL (VALUES
		(i.indisunique AND t.key <> ALL ((i.indkey::int2[])[0:i.indnkeyatts - 1]),
			'unique index %I does not contain %I (replace it by one that does)'),
		(i.indisexclusion, '%I is an exclusion constraint (drop it)'),
		(NOT i.indisvalid, 'index %I is invalid (REINDEX INDEX CONCURRENTLY)'),
		(c.reloptions IS NOT NULL AND EXISTS (SELECT FROM pg_constraint
			WHERE conindid = c.oid AND conrelid = t.oid),
			'the index of constraint %I has options (ALTER INDEX ... RESET)')
		) v (holds, obstacle) WHERE v.holds
	UNION ALL SELECT format('constraint %I is not valid, not inherited or has a whole row (drop '
			'it)', conname)
		FROM pg_constraint WHERE conrelid = relation AND CASE conname WHEN 'tiered_storage_bound'
			THEN NOT starts_with(pg_get_constraintdef(oid),
				format('CHECK (((%1$I IS NOT NULL) AND (%1$I < ', key_column))
			ELSE NOT convalidated
			OR contype IN ('c', 'n') AND (connoinherit OR 0 = ANY (conkey)) END
	UNION ALL SELECT _tiered_storage.partition_name_obstacles(relation)
	UNION ALL SELECT 'it is a shard (partition the distributed table)'
		WHERE _tiered_storage.distributed_table(relation) IS NOT NULL
	UNION ALL SELECT format('trigger %I of another table is FROM it (drop it)', tgname)
		FROM pg_trigger WHERE tgconstrrelid = relation AND NOT tgisinternal
	UNION ALL SELECT format('view %s is temporary, has ONLY or cannot be replaced (change it)',
		v::regclass) FROM t, pg_class c JOIN _tiered_storage.partition_views(relation) v ON v = oid
		WHERE c.relpersistence = 't' OR c.relowner <> t.relowner
			OR NOT has_schema_privilege(c.relowner, c.relnamespace, 'CREATE')
			OR c.relkind = 'v' AND position('ONLY ' IN pg_get_viewdef(v)) > 0
	UNION ALL SELECT format('trigger %I has transition tables (drop it)', tgname) FROM pg_trigger
		WHERE tgrelid = relation AND num_nonnulls(tgoldtable, tgnewtable) > 0
	UNION ALL SELECT format('publication %I publishes it (remove it from that)', p.pubname)
		FROM t JOIN pg_publication_tables p ON p.tablename = t.relname
			AND p.schemaname = t.relnamespace::regnamespace::name
	UNION ALL SELECT pg_describe_object(d.classid, d.objid, 0) || ' depends on it (drop it)'
		FROM t JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
			OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (t.reltype, t.typarray)
		GROUP BY d.classid, d.objid HAVING NOT bool_or(d.deptype IN ('a', 'i'))
			AND (bool_or(d.refclassid <> 'pg_class'::regclass) OR d.objid NOT IN (
				SELECT r.oid FROM pg_rewrite r JOIN pg_class v ON v.oid = r.ev_class
				WHERE v.relkind = 'v' AND r.rulename = '_RETURN'))
$$;

/*
 * The next partitions from a bound on.  Without one it is ahead of now and of the highest value
 * in the statistics, so that new rows fit until the script has ended.
 */
CREATE FUNCTION _tiered_storage.partition_bounds(
	relation regclass, key_column name, step text, bound text,
	OUT tag text, OUT lower text, OUT upper text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	type text;
	most text;
	highest text;
BEGIN
	SELECT format_type(a.atttypid, NULL), (2::numeric ^ (8 * y.typlen - 1))::text,
			(s.histogram_bounds::text::text[])[cardinality(s.histogram_bounds::text::text[])]
		INTO type, most, highest FROM _tiered_storage.relation_entry(relation) c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = key_column
		JOIN pg_type y ON y.oid = a.atttypid AND y.oid = ANY (
			'{date,timestamp,timestamptz,int2,int4,int8}'::regtype[])
		LEFT JOIN pg_stats s ON s.schemaname = c.nspname AND s.tablename = c.relname
			AND s.attname = a.attname AND NOT s.inherited;
	IF COALESCE(step !~ CASE WHEN type ~ 'int' THEN '^[1-9][0-9]*$' WHEN type = 'date'
		THEN '^[1-9][0-9]{0,3} (day|week|month|year)s?$'
		ELSE '^[1-9][0-9]{0,3} (hour|day|week|month|year)s?$' END, true) THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('step %L does not fit type %s', step, type), NULL,
			'A step is a number, or a number of hours, days, weeks, months or years.');
	END IF;
	IF type ~ 'int' THEN
		type := 'numeric';
		bound := COALESCE(bound,
			((floor(highest::numeric / step::numeric) + 2) * step::numeric)::text);
	ELSE
		most := 'infinity';
		bound := COALESCE(bound, (step::interval + date_trunc(CASE step WHEN '3 months'
			THEN 'quarter' ELSE split_part(step, ' ', 2) END, LEAST(step::interval, '7 days')
			+ GREATEST(now() + '1 day', NULLIF(highest, 'infinity')::timestamptz)))::text);
	END IF;
	RETURN QUERY EXECUTE format('SELECT regexp_replace(regexp_replace(b.l::text, ''^-'', ''m''), '
		'''%3$s[^m0-9]'', '''', ''g''), b.l::text, b.u::text FROM generate_series(0, 11) k'
		' CROSS JOIN LATERAL (SELECT ($1::%1$s + k * $2::%2$s)::%1$s, '
		'($1::%1$s + (k + 1) * $2::%2$s)::%1$s) b (l, u) WHERE b.l < b.u AND b.u < $3::%1$s', type,
		CASE type WHEN 'numeric' THEN type ELSE 'interval' END,
		/* There can be two midnights. */
		CASE WHEN step !~ 'hour' THEN ' 00:00:00.*|' END) USING bound, step, most;
END
$$;

/* Roles that default privileges name, each after a comma, but not this one. */
CREATE FUNCTION _tiered_storage.partition_grantees(owner oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT string_agg(DISTINCT ', ' || grantee::regrole, '')
	FROM pg_default_acl, aclexplode(defaclacl)
	WHERE grantee NOT IN (0, owner) AND defaclobjtype IN ('r', 'S')
$$;

/* Statements that give a table or sequence made anew the privileges of the one of this name. */
CREATE FUNCTION _tiered_storage.partition_grants(relation regclass) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	WITH t AS (SELECT c.*, CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
		FROM pg_class c WHERE c.oid = relation)
	SELECT concat_ws(E'\n', format('REVOKE ALL ON %s %s FROM PUBLIC, %s%s;', t.kind, relation,
			t.relowner::regrole, _tiered_storage.partition_grantees(t.relowner)),
		(SELECT string_agg(format('GRANT %s%s ON %s %s TO %s%s;', x.privilege_type,
			' (' || quote_ident(a.attname) || ')', t.kind, relation,
			CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END,
			CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' END), E'\n')
			FROM (SELECT NULL::name, COALESCE(t.relacl,
					acldefault(CASE t.kind WHEN 'TABLE' THEN "char" 'r' ELSE 's' END,
						t.relowner)) UNION ALL
				SELECT attname, attacl FROM pg_attribute WHERE attrelid = t.oid) a (attname, acl),
				aclexplode(a.acl) x))
	FROM t
$$;

/* Statements that rename a table, its indexes and statistics objects: other suffixes. */
CREATE FUNCTION _tiered_storage.partition_renames(relation regclass, was text, becomes text)
RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT format('ALTER %s %s.%I RENAME TO %I;', o.kind, o.namespace::regnamespace,
		o.name || was, o.name || becomes)
	FROM (SELECT CASE c.relkind WHEN 'r' THEN 'TABLE' ELSE 'INDEX' END, c.relnamespace, c.relname
		FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
		WHERE relation IN (c.oid, i.indrelid)
		UNION ALL SELECT 'STATISTICS', stxnamespace, stxname
		FROM pg_statistic_ext WHERE stxrelid = relation) o (kind, namespace, name)
	ORDER BY o.kind DESC, o.name
$$;

/* Statements that begin a transaction with all locks, in the order of queries: views first. */
CREATE FUNCTION _tiered_storage.partition_locks(relation regclass) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT concat_ws(E'\n', 'BEGIN ISOLATION LEVEL READ COMMITTED;',
		(SELECT string_agg(format('ALTER VIEW %s OWNER TO CURRENT_USER;', v::regclass), E'\n')
			FROM _tiered_storage.partition_views(relation) v),
		(SELECT string_agg(DISTINCT format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE;',
			confrelid::regclass), E'\n') FROM pg_constraint JOIN pg_class t ON t.oid = conrelid
			WHERE conrelid = relation AND contype = 'f' AND conparentid = 0
				AND has_table_privilege(relowner, confrelid, 'UPDATE, DELETE, TRUNCATE')),
		format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE;', relation))
$$;

/*
 * Statements that bring to the table that now has the name what only one table can have, or
 * what refers to it: both when it becomes partitioned and when that is undone.
 */
CREATE FUNCTION _tiered_storage.partition_companions(relation regclass, other text)
RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	WITH owned AS (SELECT c.oid::regclass AS seq, d.deptype, a.attname, a.attidentity, s.*,
			c.relname
		FROM pg_depend d JOIN pg_class c ON c.oid = d.objid JOIN pg_sequence s ON seqrelid = c.oid
		JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
		WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
			AND d.refobjid = relation AND d.deptype IN ('a', 'i')),
	lines (n, name, line) AS (
		SELECT 1, attname, CASE deptype WHEN 'a'
			THEN format('ALTER SEQUENCE %s OWNED BY %s.%I;', seq, relation, attname)
			ELSE format('ALTER SEQUENCE %1$s RENAME TO %2$s;
ALTER TABLE %4$s ALTER COLUMN %5$I ADD GENERATED %6$s AS IDENTITY (SEQUENCE NAME %1$s
INCREMENT BY %7$s MINVALUE %8$s MAXVALUE %9$s START WITH %10$s CACHE %11$s %12$s CYCLE);
SELECT setval(%1$L, last_value, is_called) FROM %3$s;
ALTER TABLE %13$s ALTER COLUMN %5$I DROP IDENTITY;
%14$s', seq, quote_ident(relname || '_was'), _tiered_storage.spare_path(seq, '_was'), relation,
			attname, CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, seqincrement,
			seqmin, seqmax, seqstart, seqcache, CASE WHEN NOT seqcycle THEN 'NO' END, other,
			_tiered_storage.partition_grants(seq)) END FROM owned
		UNION ALL SELECT 2, tgname, format('DROP TRIGGER %I ON %s;
%s;
ALTER TABLE %s %s TRIGGER %1$I;', tgname, other, pg_get_triggerdef(oid), relation,
			CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA'
				WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END)
			FROM pg_trigger WHERE tgrelid = relation AND NOT tgisinternal
		UNION ALL SELECT 3, i.identity, format('COMMENT ON %s %s IS %L;', CASE i.type
			WHEN 'statistics object' THEN 'STATISTICS' ELSE replace(i.type, 'table ', '') END,
			i.identity, d.description)
			FROM (SELECT 'pg_class'::regclass, relation::oid UNION ALL SELECT classid, objid
				FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = relation
					AND deptype IN ('a', 'i')
				UNION SELECT 'pg_class'::regclass, indexrelid FROM pg_index
				WHERE indrelid = relation) o (class, oid)
			JOIN pg_description d ON d.classoid = o.class AND d.objoid = o.oid
			JOIN LATERAL pg_identify_object(d.classoid, d.objoid, d.objsubid) i
				ON NOT starts_with(i.identity, 'tiered_storage_bound ')
		UNION ALL SELECT 4, v::text, format('CREATE OR REPLACE VIEW %s%s AS %s', v::regclass,
			(SELECT format(' WITH (%s)', string_agg(format('%I = %L', option_name, option_value),
				', ')) FROM pg_class, pg_options_to_table(reloptions) WHERE oid = v
				HAVING count(*) > 0), pg_get_viewdef(v))
			FROM _tiered_storage.partition_views(relation) v)
	SELECT line FROM lines ORDER BY n, name COLLATE "C"
$$;

/*
 * Statements that create the new parent and its parts, before partitions are attached:
 * constraints first, or an equal index takes that of one, and another one is built.
 */
CREATE FUNCTION _tiered_storage.partition_parent(relation regclass, key_column name, other text)
RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	WITH places (oid, line) AS (
		SELECT c.oid, format('SET LOCAL default_tablespace = %L;', COALESCE(s.spcname, ''))
		FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
		LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE relation IN (c.oid, i.indrelid)),
	lines (n, name, line) AS (
		SELECT 1, '', format('%s
CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS
INCLUDING STORAGE INCLUDING COMPRESSION) PARTITION BY RANGE (%I);
ALTER TABLE %2$s DROP CONSTRAINT tiered_storage_bound;
%5$s', p.line, relation, other, key_column, _tiered_storage.partition_grants(relation))
			FROM places p WHERE oid = relation
		UNION ALL SELECT CASE WHEN conname IS NULL THEN 3 ELSE 2 END,
			COALESCE(p.oid::regclass::text, conname), concat_ws(E'\n', p.line, COALESCE(
			format('ALTER TABLE %s ADD CONSTRAINT ', relation) || quote_ident(conname)
			|| ' ' || pg_get_constraintdef(o.oid), pg_get_indexdef(p.oid)) || ';')
			FROM places p FULL JOIN (SELECT oid, conname, CASE contype WHEN 'f' THEN 0::oid
				ELSE conindid END FROM pg_constraint
				WHERE conrelid = relation AND contype IN ('p', 'u', 'f')
					AND conparentid = 0) o (oid, conname, index)
				ON o.index = p.oid
			WHERE p.oid IS DISTINCT FROM relation
		UNION ALL SELECT 4, stxname, pg_get_statisticsobjdef(oid) || ';'
			FROM pg_statistic_ext WHERE stxrelid = relation
		UNION ALL SELECT 5, policyname, concat(format('CREATE POLICY %I ON %s AS %s FOR %s TO ',
			policyname, relation, permissive, cmd),
			(SELECT string_agg(quote_ident(r), ', ') FROM unnest(roles) r),
			' USING (' || qual || ')', ' WITH CHECK (' || with_check || ')', ';')
			FROM pg_policies WHERE format('%I.%I', schemaname, tablename) = relation::text
		UNION ALL VALUES (6, '', 'SET LOCAL default_tablespace = '''';'))
	SELECT line FROM lines ORDER BY n, name COLLATE "C"
$$;

/*
 * Statements that put a new parent in the place of a table and attach it, under its lock: the
 * same as long as the table is the same, which the script checks.
 */
CREATE FUNCTION _tiered_storage.partition_switch(
	relation regclass, key_column name, step text, bound text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	WITH t AS (SELECT c.*, _tiered_storage.spare_path(relation, '_old') AS old,
			(SELECT format(' WITH (%s)', string_agg(format('%s%I = %L', x.prefix, o.option_name,
				o.option_value), ', ' ORDER BY x.prefix, o.option_name))
				FROM (SELECT '', c.reloptions UNION ALL SELECT 'toast.', reloptions FROM pg_class
					WHERE oid = c.reltoastrelid) x (prefix, list), pg_options_to_table(x.list) o
				HAVING count(*) > 0) AS options,
			concat(CASE WHEN relrowsecurity THEN E'\nALTER TABLE %1$s ENABLE ROW LEVEL SECURITY;'
				END, CASE WHEN relforcerowsecurity
				THEN E'\nALTER TABLE %1$s FORCE ROW LEVEL SECURITY;' END) AS security
		FROM pg_class c WHERE c.oid = relation)
	SELECT string_agg(l, E'\n') FROM (
		SELECT _tiered_storage.partition_renames(relation, '', '_old')
		UNION ALL SELECT _tiered_storage.partition_parent(relation, key_column, old) FROM t
		UNION ALL SELECT _tiered_storage.partition_companions(relation, old) FROM t
		UNION ALL SELECT format('ALTER TABLE %s ATTACH PARTITION %s
FOR VALUES FROM (MINVALUE) TO (%L);
ALTER TABLE %2$s DROP CONSTRAINT tiered_storage_bound;', relation, old, bound)
			|| format(security, relation) FROM t
		UNION ALL SELECT format('CREATE TABLE %1$s PARTITION OF %2$s %3$s USING %4$I%5$s;
REVOKE ALL ON TABLE %1$s FROM PUBLIC%6$s;' || security,
			_tiered_storage.spare_path(relation, b.name), relation, b.bounds, amname, options,
			_tiered_storage.partition_grantees(relowner))
			FROM t JOIN pg_am am ON am.oid = relam CROSS JOIN LATERAL (
				SELECT '_p' || tag, format('FOR VALUES FROM (%L) TO (%L)', lower, upper)
				FROM _tiered_storage.partition_bounds(relation, key_column, step, bound)
				UNION ALL VALUES ('_default', 'DEFAULT')) b (name, bounds)) x (l)
$$;

/*
 * Statements that put the table back in the place of its parent, unless that has rows elsewhere:
 * they could be copied only with the owner's expressions and triggers.
 */
CREATE FUNCTION _tiered_storage.partition_undo(relation regclass) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT _tiered_storage.partition_locks(relation)
	UNION ALL SELECT format('ALTER TABLE %s DETACH PARTITION %s;
ALTER TABLE %1$s DISABLE ROW LEVEL SECURITY;
DO %3$L;', relation, _tiered_storage.spare_path(relation, '_old'), format('BEGIN IF EXISTS '
		'(SELECT FROM %s) THEN RAISE EXCEPTION ''the new partitions have rows'' USING '
		'HINT = ''Move them to another table, undo, and insert them.''; END IF; END', relation))
	UNION ALL SELECT _tiered_storage.partition_renames(relation, '', '_new')
	UNION ALL SELECT _tiered_storage.partition_renames(relation, '_old', '')
	UNION ALL SELECT _tiered_storage.partition_companions(relation,
		_tiered_storage.spare_path(relation, '_new'))
	UNION ALL SELECT format('DROP TABLE %s;', _tiered_storage.spare_path(relation, '_new'))
$$;
