---------------------------------------------------------------------------
-- What the planner would do with another layout, in one session.
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.suppose(
	relation regclass, tier name, include_indexes boolean DEFAULT true)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_suppose_sql';
COMMENT ON FUNCTION tiered_storage.suppose IS
'plans the queries of this session as if move_relation() had moved a table, materialized view or '
'index, or all present partitions of a partitioned table, with their indexes, to a tier: with the '
'planner costs of its tablespace; nothing is moved or stored, other sessions see nothing of it; '
'ends like SET: by rollback, suppose_reset(), DISCARD ALL, and with the session; returns the '
'number of relations';

CREATE FUNCTION tiered_storage.suppose_recommended()
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_suppose_recommended';
COMMENT ON FUNCTION tiered_storage.suppose_recommended IS
'supposes what the view recommendations advises, in place of all that was supposed; returns the '
'number of relations';

CREATE FUNCTION tiered_storage.suppose_reset()
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_suppose_reset';
COMMENT ON FUNCTION tiered_storage.suppose_reset IS
'ends what is supposed in this session; returns the number of relations';

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
'what this session plans as if it were on another tier; see suppose()';
COMMENT ON COLUMN tiered_storage.supposed.relation IS 'table, index or materialized view';
COMMENT ON COLUMN tiered_storage.supposed.current_tier IS 'tier that it is on';
COMMENT ON COLUMN tiered_storage.supposed.supposed_tier IS
'tier that it is planned on; null: its tablespace was taken out of all tiers since';
COMMENT ON COLUMN tiered_storage.supposed.seq_page_cost IS
'planner cost of a page read in sequence there';
COMMENT ON COLUMN tiered_storage.supposed.random_page_cost IS
'planner cost of a page read at random there';
