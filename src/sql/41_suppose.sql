---------------------------------------------------------------------------
-- What the planner would do with another layout, in one session.
---------------------------------------------------------------------------

/*
 * What this session supposes of relations that are there.  No query of ours on pg_class: Citus
 * hides shards from these.
 */
CREATE VIEW _tiered_storage.suppositions AS
	SELECT c.oid AS relation_oid,
		COALESCE(NULLIF(c.reltablespace, 0), d.dattablespace) AS current_tablespace_oid,
		split_part(e.entry, ':', 2)::oid AS tablespace_oid
	FROM regexp_split_to_table(NULLIF(current_setting('tiered_storage.supposed', true), ''), ',')
		e(entry)
	CROSS JOIN LATERAL _tiered_storage.relation_entry(split_part(e.entry, ':', 1)::oid) c
	JOIN pg_database d ON d.datname = current_database();

CREATE VIEW _tiered_storage.planner_costs AS
	SELECT t.oid AS tablespace_oid, t.spcname,
		COALESCE(max(o.option_value) FILTER (WHERE o.option_name = 'seq_page_cost'),
			current_setting('seq_page_cost'))::float8 AS seq_page_cost,
		COALESCE(max(o.option_value) FILTER (WHERE o.option_name = 'random_page_cost'),
			current_setting('random_page_cost'))::float8 AS random_page_cost
	FROM pg_tablespace t LEFT JOIN LATERAL pg_options_to_table(t.spcoptions) o ON true
	GROUP BY t.oid, t.spcname;

/* Where what is supposed cannot change plans, with the statements that let it. */
CREATE FUNCTION _tiered_storage.warn_of_equal_costs()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	equal bigint;
	every bigint;
	places name[];
	statements text;
BEGIN
	SELECT count(*) FILTER (WHERE e.is_equal), count(*), array_agg(DISTINCT f.spcname)
			FILTER (WHERE e.is_equal) || array_agg(DISTINCT t.spcname) FILTER (WHERE e.is_equal)
		INTO equal, every, places
		FROM _tiered_storage.suppositions s
		JOIN _tiered_storage.planner_costs f ON f.tablespace_oid = s.current_tablespace_oid
		JOIN _tiered_storage.planner_costs t ON t.tablespace_oid = s.tablespace_oid
		CROSS JOIN LATERAL (SELECT f.tablespace_oid <> t.tablespace_oid
			AND f.seq_page_cost = t.seq_page_cost
			AND f.random_page_cost = t.random_page_cost AS is_equal) e;
	IF equal > 0 THEN
		WITH wanted AS (
			SELECT w.* FROM _tiered_storage.settings_of_tablespaces() w
			WHERE w.tablespace_name = ANY (places) AND w.setting LIKE '%page_cost')
		SELECT string_agg(w.command, ' ' ORDER BY w.tablespace_name, w.setting)
			INTO statements FROM wanted w
			WHERE EXISTS (SELECT FROM wanted d GROUP BY d.setting
				HAVING count(*) < (SELECT count(DISTINCT p) FROM unnest(places) p)
					OR count(DISTINCT d.recommended_value) > 1);
		RAISE WARNING '% of % suppositions change no plan', equal, every
			USING DETAIL = 'The planner costs of the tablespaces are the same.',
				HINT = COALESCE(statements, (SELECT CASE count(DISTINCT COALESCE(d.device,
						d.file_system_id::text)) WHEN 1 THEN 'They are on one device'
						ELSE 'By their figures the devices are equally fast' END
					FROM pg_tablespace s
					JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_oid = s.oid
					WHERE s.spcname = ANY (places))
					|| ', so recommend_settings() has no other costs for them.');
	END IF;
END
$$;

/* Returns the number of relations. */
CREATE FUNCTION _tiered_storage.suppose_moves(
	relations oid[], tiers name[], include_indexes boolean, instead boolean)
RETURNS integer
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_suppose_moves';

CREATE FUNCTION tiered_storage.suppose(
	relation regclass, tier name, include_indexes boolean DEFAULT true)
RETURNS integer
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN _tiered_storage.suppose_moves(ARRAY[relation::oid], ARRAY[tier],
	COALESCE(include_indexes, true), false);
COMMENT ON FUNCTION tiered_storage.suppose IS
'plans the queries of this session as if move_relation() had moved a relation to a tier; '
'nothing is moved or stored; ends like SET, or by suppose_reset(); returns the number of '
'relations';

CREATE FUNCTION tiered_storage.suppose_recommended()
RETURNS integer
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT _tiered_storage.suppose_moves(COALESCE(array_agg(r.relation::oid), '{}'),
		COALESCE(array_agg(r.recommended_tier), '{}'), false, true)
	FROM tiered_storage.recommend_placement() r);
COMMENT ON FUNCTION tiered_storage.suppose_recommended IS
'supposes the moves in the view recommendations, in place of earlier suppositions; returns the '
'number of relations';

/* They are counted before. */
CREATE FUNCTION tiered_storage.suppose_reset()
RETURNS integer
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT s.n FROM (SELECT count(*)::integer AS n FROM _tiered_storage.suppositions) s
	WHERE set_config('tiered_storage.supposed', repeat('', s.n), false) = '');
COMMENT ON FUNCTION tiered_storage.suppose_reset IS
'ends all suppositions of this session; returns the number of relations';

CREATE VIEW tiered_storage.supposed AS
	SELECT s.relation_oid::regclass AS relation, f.tier_name AS current_tier,
		t.tier_name AS supposed_tier, c.seq_page_cost, c.random_page_cost
	FROM _tiered_storage.suppositions s
	LEFT JOIN _tiered_storage.tier_tablespaces f
		ON f.tablespace_oid = s.current_tablespace_oid
	LEFT JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = s.tablespace_oid
	LEFT JOIN _tiered_storage.planner_costs c ON c.tablespace_oid = s.tablespace_oid
	ORDER BY s.relation_oid::regclass::text;
COMMENT ON VIEW tiered_storage.supposed IS
'relations that this session plans as if they were on another tier; see suppose()';
COMMENT ON COLUMN tiered_storage.supposed.relation IS 'table, index or materialized view';
COMMENT ON COLUMN tiered_storage.supposed.current_tier IS 'present tier';
COMMENT ON COLUMN tiered_storage.supposed.supposed_tier IS
'tier for planning; null: its tablespace has left all tiers';
COMMENT ON COLUMN tiered_storage.supposed.seq_page_cost IS
'planner cost of a sequential page read there';
COMMENT ON COLUMN tiered_storage.supposed.random_page_cost IS
'planner cost of a random page read there';
