---------------------------------------------------------------------------
-- What the nodes of Citus say: their tiers, heat, moves and policies side by side.
---------------------------------------------------------------------------

/* One that has nothing to say has no row; one that cannot be asked has one with the error. */
CREATE FUNCTION _tiered_storage.node_rows(query text,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT error text,
	OUT entry jsonb)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT n.node_id, n.node_name, n.node_port, CASE WHEN NOT n.success THEN n.result END,
		NULLIF(e.entry, 'null')
	FROM _tiered_storage.on_all_nodes(
		format('SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(t)), ''[]'') FROM (%s) t',
			query), false) n
	CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN n.success THEN n.result::jsonb
		ELSE '[null]' END) WITH ORDINALITY e (entry, place)
	ORDER BY n.node_id, e.place
$$;
COMMENT ON FUNCTION _tiered_storage.node_rows(text) IS
'the rows of a query on each node of Citus, or why there are none';

CREATE VIEW tiered_storage.node_tiers AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.tier_name, e.rank, e.tablespaces, e.profile, e.capacity_bytes, e.used_bytes,
		e.free_bytes, e.relation_bytes, e.relations
	FROM _tiered_storage.node_rows($query$
		SELECT t.tier_name, t.rank, t.tablespaces, t.profile, t.capacity_bytes, t.used_bytes,
		t.free_bytes, t.relation_bytes, t.relations FROM tiered_storage.tiers t ORDER BY
		t.rank, t.tier_name
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		tier_name name, rank integer, tablespaces name[], profile text, capacity_bytes bigint,
		used_bytes bigint, free_bytes bigint, relation_bytes bigint, relations bigint) ON true;
COMMENT ON VIEW tiered_storage.node_tiers IS
'the tiers of all nodes of Citus, as the view tiers has them there; a node that does not '
'answer has a row with the error';
COMMENT ON COLUMN tiered_storage.node_tiers.node_id IS
'number of the node in pg_dist_node; 0: it is not there';
COMMENT ON COLUMN tiered_storage.node_tiers.node_name IS 'host name or address of the node';
COMMENT ON COLUMN tiered_storage.node_tiers.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage.node_tiers.error IS
'why there is no answer from it; null: there is one';
COMMENT ON COLUMN tiered_storage.node_tiers.tier_name IS
'name of the tier';
COMMENT ON COLUMN tiered_storage.node_tiers.rank IS
'its place in the order of tiers there';
COMMENT ON COLUMN tiered_storage.node_tiers.tablespaces IS
'its tablespaces there';
COMMENT ON COLUMN tiered_storage.node_tiers.profile IS
'its device profile there';
COMMENT ON COLUMN tiered_storage.node_tiers.capacity_bytes IS
'its capacity there; null: unknown';
COMMENT ON COLUMN tiered_storage.node_tiers.used_bytes IS
'bytes used on its file systems there';
COMMENT ON COLUMN tiered_storage.node_tiers.free_bytes IS
'bytes free on its file systems there';
COMMENT ON COLUMN tiered_storage.node_tiers.relation_bytes IS
'bytes of this database''s relations on it there, at the last sample';
COMMENT ON COLUMN tiered_storage.node_tiers.relations IS
'number of this database''s relations on it there';

CREATE VIEW tiered_storage.node_heat AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.distributed_table, e.tier_name, e.tables, e.size_bytes, e.random_reads_per_hour,
		e.sequential_reads_per_hour, e.writes_per_hour, e.last_used_at
	FROM _tiered_storage.node_rows($query$
		SELECT (SELECT pg_catalog.format('%I.%I', e.nspname, e.relname) FROM
		_tiered_storage.relation_entry(h.distributed_table) e) AS distributed_table,
		h.tier_name, pg_catalog.count(*) FILTER (WHERE h.kind = 'table') AS tables,
		pg_catalog.sum(h.size_bytes)::bigint AS size_bytes,
		pg_catalog.sum(h.random_reads_per_hour) AS random_reads_per_hour,
		pg_catalog.sum(h.sequential_reads_per_hour) AS sequential_reads_per_hour,
		pg_catalog.sum(h.writes_per_hour) AS writes_per_hour, pg_catalog.max(h.last_used_at) AS
		last_used_at FROM tiered_storage.heat h GROUP BY h.distributed_table, h.tier_name ORDER
		BY 1, 2
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		distributed_table text, tier_name name, tables bigint, size_bytes bigint,
		random_reads_per_hour float8, sequential_reads_per_hour float8, writes_per_hour float8,
		last_used_at timestamptz) ON true;
COMMENT ON VIEW tiered_storage.node_heat IS
'the heat of the shards of each table of Citus, summed up for each node and tier, and that of '
'all other relations there; a node that does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage.node_heat.node_id IS
'number of the node in pg_dist_node; 0: it is not there';
COMMENT ON COLUMN tiered_storage.node_heat.node_name IS 'host name or address of the node';
COMMENT ON COLUMN tiered_storage.node_heat.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage.node_heat.error IS
'why there is no answer from it; null: there is one';
COMMENT ON COLUMN tiered_storage.node_heat.distributed_table IS
'the table, qualified; null: what is no shard';
COMMENT ON COLUMN tiered_storage.node_heat.tier_name IS
'tier; null: none';
COMMENT ON COLUMN tiered_storage.node_heat.tables IS
'number of its shards on the tier there, or of other tables';
COMMENT ON COLUMN tiered_storage.node_heat.size_bytes IS
'bytes of them, with indexes and TOAST tables, at the last sample';
COMMENT ON COLUMN tiered_storage.node_heat.random_reads_per_hour IS
'blocks read at random per hour, half-life 1 day';
COMMENT ON COLUMN tiered_storage.node_heat.sequential_reads_per_hour IS
'blocks read sequentially per hour, half-life 1 day';
COMMENT ON COLUMN tiered_storage.node_heat.writes_per_hour IS
'rows changed per hour, half-life 1 day';
COMMENT ON COLUMN tiered_storage.node_heat.last_used_at IS
'when one of them was last used; null: not since it was first observed';

CREATE VIEW tiered_storage.node_moves AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.distributed_table, e.to_tier, e.state, e.moves, e.size_bytes, e.last_started_at,
		e.longest_lock_ms, e.an_error
	FROM _tiered_storage.node_rows($query$
		SELECT (SELECT pg_catalog.format('%I.%I', e.nspname, e.relname) FROM
		_tiered_storage.relation_entry(m.table_oid) e) AS distributed_table, m.to_tier,
		m.state, pg_catalog.count(*) AS moves, pg_catalog.sum(m.size_bytes)::bigint AS
		size_bytes, pg_catalog.max(m.started_at) AS last_started_at,
		pg_catalog.max(m.lock_held_ms) AS longest_lock_ms, pg_catalog.max(m.error) AS an_error
		FROM (SELECT x.*, tiered_storage.distributed_table(pg_catalog.to_regclass(x.relation))
		AS table_oid FROM tiered_storage.moves x) m GROUP BY m.table_oid, m.to_tier, m.state
		ORDER BY 1, 2, 3
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		distributed_table text, to_tier name, state text, moves bigint, size_bytes bigint,
		last_started_at timestamptz, longest_lock_ms float8, an_error text) ON true;
COMMENT ON VIEW tiered_storage.node_moves IS
'the moves of the shards of each table of Citus, counted for each node, and those of all '
'other relations there; a node that does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage.node_moves.node_id IS
'number of the node in pg_dist_node; 0: it is not there';
COMMENT ON COLUMN tiered_storage.node_moves.node_name IS 'host name or address of the node';
COMMENT ON COLUMN tiered_storage.node_moves.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage.node_moves.error IS
'why there is no answer from it; null: there is one';
COMMENT ON COLUMN tiered_storage.node_moves.distributed_table IS
'the table, qualified; null: what is no shard, or no longer one there';
COMMENT ON COLUMN tiered_storage.node_moves.to_tier IS
'tier that was moved to; null: none';
COMMENT ON COLUMN tiered_storage.node_moves.state IS
'running, done, skipped, failed or interrupted';
COMMENT ON COLUMN tiered_storage.node_moves.moves IS
'number of moves';
COMMENT ON COLUMN tiered_storage.node_moves.size_bytes IS
'bytes of them';
COMMENT ON COLUMN tiered_storage.node_moves.last_started_at IS
'when the last of them began';
COMMENT ON COLUMN tiered_storage.node_moves.longest_lock_ms IS
'longest time that one of them locked its relation, in ms';
COMMENT ON COLUMN tiered_storage.node_moves.an_error IS
'error of one of them; null: none';

CREATE VIEW tiered_storage.node_policies AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.policy_id, e.relation_name, e.tier_name, e.enabled, e.last_evaluated_at, e.last_due,
		e.last_on_target, e.last_result
	FROM _tiered_storage.node_rows($query$
		SELECT p.policy_id, p.relation_name, p.tier_name, p.enabled, p.last_evaluated_at,
		p.last_due, p.last_on_target, p.last_result FROM tiered_storage.policies p ORDER BY
		p.policy_id
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		policy_id integer, relation_name text, tier_name name, enabled boolean,
		last_evaluated_at timestamptz, last_due integer, last_on_target integer, last_result
		text) ON true;
COMMENT ON VIEW tiered_storage.node_policies IS
'the tiering policies of all nodes of Citus, as the view policies has them there; a node that '
'does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage.node_policies.node_id IS
'number of the node in pg_dist_node; 0: it is not there';
COMMENT ON COLUMN tiered_storage.node_policies.node_name IS 'host name or address of the node';
COMMENT ON COLUMN tiered_storage.node_policies.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage.node_policies.error IS
'why there is no answer from it; null: there is one';
COMMENT ON COLUMN tiered_storage.node_policies.policy_id IS
'number of the policy there';
COMMENT ON COLUMN tiered_storage.node_policies.relation_name IS
'which tables it is on';
COMMENT ON COLUMN tiered_storage.node_policies.tier_name IS
'tier that is moved to';
COMMENT ON COLUMN tiered_storage.node_policies.enabled IS
'whether it is obeyed there';
COMMENT ON COLUMN tiered_storage.node_policies.last_evaluated_at IS
'when it was last evaluated there; null: never';
COMMENT ON COLUMN tiered_storage.node_policies.last_due IS
'number of partitions or tables that were due then';
COMMENT ON COLUMN tiered_storage.node_policies.last_on_target IS
'number of those that were on the tier already';
COMMENT ON COLUMN tiered_storage.node_policies.last_result IS
'result of the last evaluation there; null: never evaluated';
