---------------------------------------------------------------------------
-- What the nodes report
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage_citus.node_rows(query text,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT error text,
	OUT entry jsonb)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT n.node_id, n.node_name, n.node_port, CASE WHEN NOT n.success THEN n.result END,
		NULLIF(e.entry, 'null')
	FROM _tiered_storage_citus.ask_all_nodes(
		format('SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(t)), ''[]'') FROM (%s) t',
			query)) n
	CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN n.success THEN n.result::jsonb
		ELSE '[null]' END) WITH ORDINALITY e (entry, place)
	ORDER BY n.node_id, e.place
$$;
COMMENT ON FUNCTION _tiered_storage_citus.node_rows(text) IS
'the rows of a query on each node; a node that does not answer has one row, with the error';

CREATE VIEW tiered_storage_citus.node_tiers AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.tier_name, e.rank, e.tablespaces, e.profile, e.capacity_bytes, e.used_bytes,
		e.free_bytes, e.relation_bytes, e.relations
	FROM _tiered_storage_citus.node_rows($query$
		SELECT t.tier_name, t.rank, t.tablespaces, t.profile, t.capacity_bytes, t.used_bytes,
		t.free_bytes, t.relation_bytes, t.relations FROM _tiered_storage.tiers t ORDER BY
		t.rank, t.tier_name
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		tier_name name, rank integer, tablespaces text[], profile text, capacity_bytes bigint,
		used_bytes bigint, free_bytes bigint, relation_bytes bigint, relations bigint) ON true;
COMMENT ON VIEW tiered_storage_citus.node_tiers IS
'the tiers of all nodes; a node that does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.node_id IS
'number of the node in pg_dist_node; 0: not listed there';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.node_name IS 'its host name or address';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.error IS
'error of a node that does not answer; null: it has answered';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.tier_name IS 'name of the tier';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.rank IS 'its rank';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.tablespaces IS 'its tablespaces';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.profile IS 'its device profile';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.capacity_bytes IS 'its capacity; null: unknown';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.used_bytes IS 'bytes used on its file systems';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.free_bytes IS 'bytes free on its file systems';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.relation_bytes IS
'bytes of the relations of this database on it, at the last sample';
COMMENT ON COLUMN tiered_storage_citus.node_tiers.relations IS
'number of relations of this database on it';

CREATE VIEW tiered_storage_citus.node_heat AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.distributed_table, e.tier_name, e.tables, e.size_bytes, e.random_reads_per_hour,
		e.sequential_reads_per_hour, e.writes_per_hour, e.last_used_at
	FROM _tiered_storage_citus.node_rows($query$
		SELECT (SELECT pg_catalog.format('%I.%I', e.nspname, e.relname) FROM
		_tiered_storage.relation_entry(h.distributed_table) e) AS distributed_table,
		h.tier_name, pg_catalog.count(*) FILTER (WHERE h.kind = 'table') AS tables,
		pg_catalog.sum(h.size_bytes)::bigint AS size_bytes,
		pg_catalog.sum(h.random_reads_per_hour) AS random_reads_per_hour,
		pg_catalog.sum(h.sequential_reads_per_hour) AS sequential_reads_per_hour,
		pg_catalog.sum(h.writes_per_hour) AS writes_per_hour, pg_catalog.max(h.last_used_at) AS
		last_used_at FROM _tiered_storage.heat h GROUP BY h.distributed_table, h.tier_name ORDER
		BY 1, 2
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		distributed_table text, tier_name name, tables bigint, size_bytes bigint,
		random_reads_per_hour float8, sequential_reads_per_hour float8, writes_per_hour float8,
		last_used_at timestamptz) ON true;
COMMENT ON VIEW tiered_storage_citus.node_heat IS
'heat of the shards of each distributed table, by node and tier, and of all other relations; a '
'node that does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage_citus.node_heat.node_id IS
'number of the node in pg_dist_node; 0: not listed there';
COMMENT ON COLUMN tiered_storage_citus.node_heat.node_name IS 'its host name or address';
COMMENT ON COLUMN tiered_storage_citus.node_heat.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage_citus.node_heat.error IS
'error of a node that does not answer; null: it has answered';
COMMENT ON COLUMN tiered_storage_citus.node_heat.distributed_table IS
'qualified name of the distributed table; null: the sum of all that is no shard';
COMMENT ON COLUMN tiered_storage_citus.node_heat.tier_name IS 'tier; null: on no tier';
COMMENT ON COLUMN tiered_storage_citus.node_heat.tables IS
'number of its shards, or of other tables, on the tier';
COMMENT ON COLUMN tiered_storage_citus.node_heat.size_bytes IS
'their bytes, with indexes and TOAST tables, at the last sample';
COMMENT ON COLUMN tiered_storage_citus.node_heat.random_reads_per_hour IS
'blocks per hour read at random that reached the device, half-life 1 day';
COMMENT ON COLUMN tiered_storage_citus.node_heat.sequential_reads_per_hour IS
'blocks per hour read sequentially that reached the device, half-life 1 day';
COMMENT ON COLUMN tiered_storage_citus.node_heat.writes_per_hour IS
'rows changed per hour, half-life 1 day';
COMMENT ON COLUMN tiered_storage_citus.node_heat.last_used_at IS
'last use of any of them; null: not used since they are observed';

/* By OID, since a reader of all moves need not have USAGE on the schema of each table. */
CREATE VIEW _tiered_storage_citus.move_shards AS
	SELECT m.move_id, _tiered_storage.distributed_table(
		_tiered_storage.present_relation(m)::pg_catalog.regclass) AS table_oid
	FROM _tiered_storage.move m;
COMMENT ON VIEW _tiered_storage_citus.move_shards IS 'the distributed table of a moved shard';

CREATE VIEW tiered_storage_citus.node_moves AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.distributed_table, e.to_tier, e.state, e.moves, e.size_bytes, e.last_started_at,
		e.longest_lock_ms, e.an_error
	FROM _tiered_storage_citus.node_rows($query$
		SELECT (SELECT pg_catalog.format('%I.%I', e.nspname, e.relname) FROM
		_tiered_storage.relation_entry(m.table_oid) e) AS distributed_table, m.to_tier,
		m.state, pg_catalog.count(*) AS moves, pg_catalog.sum(m.size_bytes)::bigint AS
		size_bytes, pg_catalog.max(m.started_at) AS last_started_at,
		pg_catalog.max(m.lock_held_ms) AS longest_lock_ms, pg_catalog.max(m.error) AS an_error
		FROM (SELECT x.*, s.table_oid FROM _tiered_storage.moves x JOIN
		_tiered_storage_citus.move_shards s ON s.move_id = x.move_id) m GROUP BY m.table_oid,
		m.to_tier, m.state ORDER BY 1, 2, 3
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		distributed_table text, to_tier name, state text, moves bigint, size_bytes bigint,
		last_started_at timestamptz, longest_lock_ms float8, an_error text) ON true;
COMMENT ON VIEW tiered_storage_citus.node_moves IS
'moves of the shards of each distributed table, by node, tier and state, and of all other '
'relations; a node that does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage_citus.node_moves.node_id IS
'number of the node in pg_dist_node; 0: not listed there';
COMMENT ON COLUMN tiered_storage_citus.node_moves.node_name IS 'its host name or address';
COMMENT ON COLUMN tiered_storage_citus.node_moves.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage_citus.node_moves.error IS
'error of a node that does not answer; null: it has answered';
COMMENT ON COLUMN tiered_storage_citus.node_moves.distributed_table IS
'qualified name of the distributed table; null: relations that are not shards on the node now';
COMMENT ON COLUMN tiered_storage_citus.node_moves.to_tier IS 'target tier; null: none';
COMMENT ON COLUMN tiered_storage_citus.node_moves.state IS
'running, done, skipped, failed or interrupted';
COMMENT ON COLUMN tiered_storage_citus.node_moves.moves IS 'number of moves';
COMMENT ON COLUMN tiered_storage_citus.node_moves.size_bytes IS 'their bytes';
COMMENT ON COLUMN tiered_storage_citus.node_moves.last_started_at IS 'start of the latest move';
COMMENT ON COLUMN tiered_storage_citus.node_moves.longest_lock_ms IS
'longest time that a move locked its relation, in ms';
COMMENT ON COLUMN tiered_storage_citus.node_moves.an_error IS
'error of one of the moves; null: none';

CREATE VIEW tiered_storage_citus.node_policies AS
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		e.policy_id, e.relation_name, e.tier_name, e.enabled, e.last_evaluated_at, e.last_due,
		e.last_on_target, e.last_result
	FROM _tiered_storage_citus.node_rows($query$
		SELECT p.policy_id, p.relation_name, p.tier_name, p.enabled, p.last_evaluated_at,
		p.last_due, p.last_on_target, p.last_result FROM _tiered_storage.policies p ORDER BY
		p.policy_id
	$query$) n
	LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry) AS e (
		policy_id integer, relation_name text, tier_name name, enabled boolean,
		last_evaluated_at timestamptz, last_due integer, last_on_target integer, last_result
		text) ON true;
COMMENT ON VIEW tiered_storage_citus.node_policies IS
'the tiering policies of all nodes; a node that does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage_citus.node_policies.node_id IS
'number of the node in pg_dist_node; 0: not listed there';
COMMENT ON COLUMN tiered_storage_citus.node_policies.node_name IS 'its host name or address';
COMMENT ON COLUMN tiered_storage_citus.node_policies.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage_citus.node_policies.error IS
'error of a node that does not answer; null: it has answered';
COMMENT ON COLUMN tiered_storage_citus.node_policies.policy_id IS
'number of the policy on the node';
COMMENT ON COLUMN tiered_storage_citus.node_policies.relation_name IS
'qualified name of its table, or which tables it is on';
COMMENT ON COLUMN tiered_storage_citus.node_policies.tier_name IS 'target tier';
COMMENT ON COLUMN tiered_storage_citus.node_policies.enabled IS 'whether it is enabled';
COMMENT ON COLUMN tiered_storage_citus.node_policies.last_evaluated_at IS
'last evaluation; null: never';
COMMENT ON COLUMN tiered_storage_citus.node_policies.last_due IS
'number of partitions or tables that were due';
COMMENT ON COLUMN tiered_storage_citus.node_policies.last_on_target IS
'number of those that were on the tier already';
COMMENT ON COLUMN tiered_storage_citus.node_policies.last_result IS
'result of the last evaluation; null: never evaluated';

/* Null arguments, and those that equal the default, are left out. */
CREATE FUNCTION _tiered_storage_citus.node_arguments(names text[], given text[], defaults text[])
RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT string_agg(format('%s => %L', a.name, a.given), ', ' ORDER BY a.place)
	FROM unnest(names, given, defaults) WITH ORDINALITY a (name, given, default_value, place)
	WHERE a.given IS NOT NULL AND a.given IS DISTINCT FROM a.default_value
$$;
COMMENT ON FUNCTION _tiered_storage_citus.node_arguments(text[], text[], text[]) IS
'the arguments of a call, by name';

/*
 * With the rights of the owner, because no view shows how a tier was defined; pg_monitor can
 * read all of it elsewhere.
 */
CREATE FUNCTION _tiered_storage_citus.node_definitions(
	OUT relation_name text, OUT tier_name name, OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1 SET "DateStyle" = 'ISO' SET "IntervalStyle" = 'postgres'
AS $$
	SELECT NULL::text, t.tier_name, format(
		'SELECT * FROM tiered_storage_citus.add_tier_on_all_nodes(%s, if_not_exists => true)',
		_tiered_storage_citus.node_arguments(
			'{name,tablespaces,profile,rank,price_per_gb_month,reserve_fraction,low_watermark,
				high_watermark,device}',
			ARRAY[t.tier_name::text, COALESCE(s.tablespaces, '{}')::text, t.profile,
				t.rank::text, CASE WHEN NOT t.price_is_assumed THEN t.price_per_gb_month::text END,
				t.reserve_fraction::text, t.low_watermark::text, t.high_watermark::text,
				NULLIF(jsonb_strip_nulls(jsonb_build_object(
					'random_read_ms', NULLIF(t.random_read_ms, p.random_read_ms),
					'random_write_ms', NULLIF(t.random_write_ms, p.random_write_ms),
					'sequential_read_mb_per_s', NULLIF(t.sequential_read_mb_per_s,
						p.sequential_read_mb_per_s),
					'sequential_write_mb_per_s', NULLIF(t.sequential_write_mb_per_s,
						p.sequential_write_mb_per_s),
					'fsync_ms', NULLIF(t.fsync_ms, p.fsync_ms),
					'parallelism', NULLIF(t.parallelism, p.parallelism),
					'capacity_bytes', t.capacity_bytes, 'endurance_tbw', t.endurance_tbw,
					'endurance_dwpd', NULLIF(t.endurance_dwpd, p.endurance_dwpd),
					'price_per_million_reads',
						NULLIF(t.price_per_million_reads, p.price_per_million_reads),
					'compressed', NULLIF(t.compressed, s.compressed),
					'compression_ratio', t.compression_ratio)), '{}')::text],
			ARRAY[NULL, NULL, NULL, NULL, NULL, '0.15', '0.8', '0.9', NULL]))
		FROM _tiered_storage.tier t
		LEFT JOIN _tiered_storage.device_profiles() p ON p.profile = t.profile
		LEFT JOIN LATERAL (SELECT array_agg(d.tablespace_name ORDER BY d.tablespace_name)
					AS tablespaces, bool_or(d.compressed) AS compressed
			FROM _tiered_storage.tier_tablespaces x
			JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_oid = x.tablespace_oid
			WHERE x.tier_name = t.tier_name) s ON true
		WHERE NOT t.discovered
	UNION ALL
	SELECT p.relation_name, p.tier_name, CASE WHEN NOT p.enabled THEN '' ELSE format(
		'SELECT * FROM '
		'tiered_storage_citus.add_tiering_policy_on_all_nodes(%s, if_not_exists => true)',
		_tiered_storage_citus.node_arguments(
			'{relation,move_after,tier,idle_for,index_tier,options}',
			ARRAY[p.relation_name, p.move_after::text, p.tier_name::text, p.idle_for::text,
				p.index_tier::text,
				(jsonb_build_object('time_zone', p.time_zone)
				|| jsonb_strip_nulls(jsonb_build_object(
					'include_indexes', NULLIF(p.include_indexes, true),
					'key_unit', p.key_unit, 'no_writes_for', p.no_writes_for,
					'below_reads_per_hour', p.below_reads_per_hour,
					'return_when_reads_per_hour', p.return_when_reads_per_hour,
					'return_after', p.return_after, 'return_tier', p.return_tier)))::text],
			ARRAY[NULL, NULL, NULL, NULL, NULL, NULL]::text[])) END
		FROM _tiered_storage.policies p
		JOIN pg_dist_partition d ON d.logicalrelid = p.relation
$$;
COMMENT ON FUNCTION _tiered_storage_citus.node_definitions() IS
'the tiers that a user has defined on this node and its policies on shards, each with the '
'statement that defines it on all nodes, which is empty for a disabled policy';

/* The definition on the first node that has one counts. */
CREATE VIEW tiered_storage_citus.node_gaps AS
	WITH reported AS MATERIALIZED (
		SELECT n.node_id, n.node_name, n.node_port, n.error,
			e.relation_name, e.tier_name, e.command
		FROM _tiered_storage_citus.node_rows(
			'SELECT NULL::text AS relation_name, NULL::name AS tier_name, NULL::text AS command '
			'UNION ALL SELECT * FROM _tiered_storage_citus.node_definitions()') n
		LEFT JOIN LATERAL pg_catalog.jsonb_to_record(n.entry)
			AS e (relation_name text, tier_name name, command text) ON true
	), wanted AS (
		SELECT DISTINCT ON (r.relation_name, r.tier_name)
			r.relation_name, r.tier_name, r.command
		FROM reported r WHERE r.command OPERATOR(pg_catalog.<>) ''
		ORDER BY r.relation_name, r.tier_name, r.node_id
	)
	SELECT n.node_id, n.node_name, n.node_port, n.error, w.relation_name, w.tier_name,
		CASE WHEN o.command IS NOT NULL THEN 'different'
			WHEN w.command IS NOT NULL THEN 'missing' END AS gap,
		CASE WHEN o.command IS NULL THEN w.command END AS command,
		o.command AS definition
	FROM reported n
	LEFT JOIN wanted w ON n.error IS NULL
	LEFT JOIN reported o ON o.node_id OPERATOR(pg_catalog.=) n.node_id
		AND o.tier_name OPERATOR(pg_catalog.=) w.tier_name
		AND COALESCE(o.relation_name, '') OPERATOR(pg_catalog.=)
			COALESCE(w.relation_name, '')
	WHERE n.command IS NULL AND (n.error IS NOT NULL OR (w.command IS NOT NULL
		AND (o.command IS NULL OR (o.command OPERATOR(pg_catalog.<>) ''
			AND o.command OPERATOR(pg_catalog.<>) w.command))))
	ORDER BY n.node_id, w.relation_name COLLATE "C" NULLS FIRST, w.tier_name;
COMMENT ON VIEW tiered_storage_citus.node_gaps IS
'tiers and enabled policies on shards that a node does not have and another node has, such as a '
'node that was added later, or that the node defines differently; a node that does not answer '
'has a row with the error';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.node_id IS
'number of the node in pg_dist_node; 0: not listed there';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.node_name IS 'its host name or address';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.error IS
'error of a node that does not answer; null: it has answered';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.relation_name IS
'table of the policy; null: the row is about the tier';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.tier_name IS
'the tier, or the tier that the policy moves to';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.gap IS
'missing, or different: not defined as on the first node that has it';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.command IS
'statement that defines a missing one on all nodes that lack it, as on the first node that has '
'it; run those of tiers before those of policies';
COMMENT ON COLUMN tiered_storage_citus.node_gaps.definition IS
'statement that corresponds to a different definition on this node';
