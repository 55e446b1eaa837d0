---------------------------------------------------------------------------
-- Which queries read what.
---------------------------------------------------------------------------

/*
 * What the queries of this database have missed, as far as the caller may see it.  A NOTICE, with
 * `aloud`, where none is counted.
 */
CREATE FUNCTION _tiered_storage.query_reads(
	aloud boolean, OUT user_oid oid, OUT query_id bigint, OUT calls float8, OUT relation_oid oid,
	OUT random float8, OUT sequential float8)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_query_reads_sql';

/*
 * The texts of queries, from pg_stat_statements as the caller sees it; none where it is not
 * there or not loaded.  The view is the member of that extension, wherever it is, and a
 * superuser's: any other owner could replace it, and what it calls would run as the caller.
 */
CREATE FUNCTION _tiered_storage.query_texts()
RETURNS TABLE (user_oid oid, query_id bigint, query text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	source regclass := (SELECT d.objid FROM pg_extension e
		JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
			AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
		CROSS JOIN LATERAL _tiered_storage.relation_entry(d.objid) c
		JOIN pg_roles r ON r.oid = c.relowner AND r.rolsuper
		WHERE e.extname = 'pg_stat_statements' AND c.relname = 'pg_stat_statements');
BEGIN
	IF source IS NOT NULL THEN
		RETURN QUERY EXECUTE format('SELECT s.userid, s.queryid, min(s.query) FROM %s s '
			'WHERE s.queryid IS NOT NULL AND s.dbid = (SELECT d.oid FROM pg_database d '
			'WHERE d.datname = current_database()) GROUP BY 1, 2', source);
	END IF;
EXCEPTION
	WHEN object_not_in_prerequisite_state OR insufficient_privilege THEN
		RETURN;
END
$$;

/*
 * Which queries read each relation that can be placed, as far as the caller may see it: blocks,
 * and what they would take if all came from the devices.  A TOAST table goes where its table does.
 */
CREATE FUNCTION _tiered_storage.relation_queries()
RETURNS TABLE (relation_oid oid, query text, random float8, sequential float8, ms float8)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	WITH reads AS MATERIALIZED (SELECT * FROM _tiered_storage.query_reads(false)),
	texts AS MATERIALIZED (
		SELECT t.* FROM _tiered_storage.query_texts() t WHERE EXISTS (SELECT FROM reads)),
	state AS MATERIALIZED (SELECT * FROM _tiered_storage.stored_relation_state())
	SELECT p.table_oid, COALESCE(regexp_replace(min(t.query), E'\\s+', ' ', 'g'),
			r.query_id::text),
		sum(r.random), sum(r.sequential),
		sum(r.random * d.random_read_ms + r.sequential * 8.192 / d.sequential_read_mb_per_s)
	FROM reads r
	JOIN state s ON s.relation_oid = r.relation_oid
	LEFT JOIN state h ON h.relation_oid = s.heap_oid AND h.kind = 't'
	CROSS JOIN LATERAL (SELECT CASE WHEN s.kind = 't' THEN s.heap_oid
		ELSE COALESCE(h.heap_oid, s.relation_oid) END AS table_oid) p
	JOIN _tiered_storage.tier_tablespaces f ON f.tablespace_oid = s.tablespace_oid
	JOIN _tiered_storage.tiers d ON d.tier_name = f.tier_name
	LEFT JOIN texts t ON t.query_id = r.query_id AND t.user_oid = r.user_oid
	GROUP BY p.table_oid, r.query_id
$$;

/* The query that most of the reads of a relation are for, where there is one. */
CREATE FUNCTION _tiered_storage.main_queries()
RETURNS TABLE (relation_oid oid, query text)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT q.relation_oid, q.query
	FROM (SELECT r.*, sum(r.ms) OVER (PARTITION BY r.relation_oid) AS all_ms
		FROM _tiered_storage.relation_queries() r) q
	WHERE q.ms > 0.5 * q.all_ms
$$;
