---------------------------------------------------------------------------
-- What the planner would do with another layout, in one session.
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.suppose(
	relation regclass, tier name, include_indexes boolean DEFAULT true)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_suppose_sql';
COMMENT ON FUNCTION tiered_storage.suppose IS
'plans the queries of this session as if move_relation() had moved a relation to a tier; '
'nothing is moved or stored; ends like SET, or by suppose_reset(); returns the number of '
'relations';

CREATE FUNCTION tiered_storage.suppose_recommended()
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_suppose_recommended';
COMMENT ON FUNCTION tiered_storage.suppose_recommended IS
'supposes the moves in the view recommendations, in place of earlier suppositions; returns the '
'number of relations';

CREATE FUNCTION tiered_storage.suppose_reset()
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_suppose_reset';
COMMENT ON FUNCTION tiered_storage.suppose_reset IS
'ends all suppositions of this session; returns the number of relations';

/*
 * What this session supposes of relations that are there, and the planner costs that result.
 * The catalog is read in C: Citus hides shards from queries on pg_class.
 */
CREATE FUNCTION _tiered_storage.suppositions(
	OUT relation_oid oid, OUT current_tablespace_oid oid, OUT tablespace_oid oid,
	OUT seq_page_cost float8, OUT random_page_cost float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_suppositions';

CREATE VIEW tiered_storage.supposed AS
	SELECT s.relation_oid::regclass AS relation, f.tier_name AS current_tier,
		t.tier_name AS supposed_tier,
		s.seq_page_cost, s.random_page_cost
	FROM _tiered_storage.suppositions() s
	LEFT JOIN _tiered_storage.tier_tablespaces f ON f.tablespace_oid = s.current_tablespace_oid
	LEFT JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = s.tablespace_oid
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
