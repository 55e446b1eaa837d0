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
		tier_name name, rank integer, tablespaces text[], profile text, capacity_bytes bigint,
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

/* By OID: whoever may see all moves may not use the schema of each name. */
CREATE VIEW _tiered_storage.move_shards AS
	SELECT m.move_id, tiered_storage.distributed_table(
		_tiered_storage.present_relation(m)::pg_catalog.regclass) AS table_oid
	FROM _tiered_storage.move m;
COMMENT ON VIEW _tiered_storage.move_shards IS
'the table of Citus that the relation of a move is a shard of';

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
		FROM (SELECT x.*, s.table_oid FROM tiered_storage.moves x JOIN
		_tiered_storage.move_shards s ON s.move_id = x.move_id) m GROUP BY m.table_oid,
		m.to_tier, m.state ORDER BY 1, 2, 3
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

/* Arguments of a call: what is null, or would be the same if it were not given, is left out. */
CREATE FUNCTION _tiered_storage.node_arguments(names text[], given text[], defaults text[])
RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT string_agg(format('%s => %L', a.name, a.given), ', ' ORDER BY a.place)
	FROM unnest(names, given, defaults) WITH ORDINALITY a (name, given, default_value, place)
	WHERE a.given IS NOT NULL AND a.given IS DISTINCT FROM a.default_value
$$;
COMMENT ON FUNCTION _tiered_storage.node_arguments(text[], text[], text[]) IS
'arguments of a call by name';

/*
 * With the rights of the extension, as no view has what a tier was given: what is returned is
 * nothing that pg_monitor could not read.
 */
CREATE FUNCTION _tiered_storage.node_definitions(
	OUT relation_name text, OUT tier_name name, OUT command text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1 SET "DateStyle" = 'ISO' SET "IntervalStyle" = 'postgres'
AS $$
BEGIN
	RETURN QUERY SELECT NULL::text, t.tier_name, format(
		'SELECT * FROM tiered_storage.add_tier_on_all_nodes(%s, if_not_exists => true)',
		_tiered_storage.node_arguments(
			'{name,tablespaces,profile,rank,random_read_ms,random_write_ms,
				sequential_read_mb_per_s,sequential_write_mb_per_s,fsync_ms,parallelism,
				price_per_gb_month,capacity_bytes,reserve_fraction,low_watermark,
				high_watermark,endurance_tbw,endurance_dwpd,compressed,compression_ratio,
				scan_start_ms}',
			ARRAY[t.tier_name::text, COALESCE(s.tablespaces, '{}')::text, t.profile,
				t.rank::text, t.random_read_ms::text, t.random_write_ms::text,
				t.sequential_read_mb_per_s::text, t.sequential_write_mb_per_s::text,
				t.fsync_ms::text, t.parallelism::text,
				CASE WHEN NOT t.price_is_assumed THEN t.price_per_gb_month::text END,
				t.capacity_bytes::text, t.reserve_fraction::text, t.low_watermark::text,
				t.high_watermark::text, t.endurance_tbw::text, t.endurance_dwpd::text,
				t.compressed::text, t.compression_ratio::text, t.scan_start_ms::text],
			ARRAY[NULL, NULL, NULL, NULL, p.random_read_ms::text, p.random_write_ms::text,
				p.sequential_read_mb_per_s::text, p.sequential_write_mb_per_s::text,
				p.fsync_ms::text, p.parallelism::text, NULL, NULL, '0.15', '0.8', '0.9',
				NULL, p.endurance_dwpd::text, s.compressed::text, NULL,
				p.scan_start_ms::text]))
		FROM _tiered_storage.tier t
		LEFT JOIN tiered_storage.device_profiles() p ON p.profile = t.profile
		LEFT JOIN LATERAL (SELECT array_agg(d.tablespace_name ORDER BY d.tablespace_name)
					AS tablespaces, bool_or(d.compressed) AS compressed
			FROM _tiered_storage.tier_tablespaces x
			JOIN tiered_storage.tablespace_devices() d ON d.tablespace_oid = x.tablespace_oid
			WHERE x.tier_name = t.tier_name) s ON true
		WHERE NOT t.discovered;
	IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
		RETURN;
	END IF;
	RETURN QUERY EXECUTE $query$
		SELECT p.relation_name, p.tier_name, CASE WHEN NOT p.enabled THEN '' ELSE format(
			'SELECT * FROM '
			'tiered_storage.add_tiering_policy_on_all_nodes(%s, if_not_exists => true)',
			_tiered_storage.node_arguments(
				'{relation,move_after,tier,include_indexes,age_from,key_unit,key_epoch,
					key_shift,time_zone,idle_for,no_writes_for,below_reads_per_hour,
					index_tier,return_when_reads_per_hour,return_after,return_tier}',
				ARRAY[p.relation_name, p.move_after::text, p.tier_name::text,
					p.include_indexes::text, p.age_from, p.key_unit, p.key_epoch::text,
					p.key_shift::text, p.time_zone, p.idle_for::text, p.no_writes_for::text,
					p.below_reads_per_hour::text, p.index_tier::text,
					p.return_when_reads_per_hour::text, p.return_after::text,
					p.return_tier::text],
				ARRAY[NULL, NULL, NULL, 'true', 'now', NULL, NULL, '0', NULL, NULL, NULL,
					NULL, NULL, NULL, NULL, NULL])) END
		FROM tiered_storage.policies p
		WHERE EXISTS (SELECT FROM pg_catalog.pg_dist_partition d
			WHERE d.logicalrelid = p.relation)
	$query$;
END
$$;
COMMENT ON FUNCTION _tiered_storage.node_definitions() IS
'the tiers that somebody has defined here and the policies on shards, each with the statement '
'that gives it to all nodes; an empty one: a policy that is disabled, and wanted nowhere else';

CREATE FUNCTION _tiered_storage.node_gaps(
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT error text,
	OUT relation_name text, OUT tier_name name, OUT command text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH said AS MATERIALIZED (
		SELECT n.node_id, n.node_name, n.node_port, n.error,
			e.relation_name, e.tier_name, e.command
		FROM _tiered_storage.node_rows(
			'SELECT NULL::text AS relation_name, NULL::name AS tier_name, NULL::text AS command '
			'UNION ALL SELECT * FROM _tiered_storage.node_definitions()') n
		LEFT JOIN LATERAL jsonb_to_record(n.entry)
			AS e (relation_name text, tier_name name, command text) ON true
	), wanted AS (
		SELECT DISTINCT ON (s.relation_name, s.tier_name)
			s.relation_name, s.tier_name, s.command
		FROM said s WHERE s.command <> ''
		ORDER BY s.relation_name, s.tier_name, s.node_id
	)
	SELECT n.node_id, n.node_name, n.node_port, n.error,
		w.relation_name, w.tier_name, w.command
	FROM (SELECT s.* FROM said s WHERE s.command IS NULL) n
	LEFT JOIN wanted w ON n.error IS NULL
	WHERE n.error IS NOT NULL OR (w.command IS NOT NULL AND NOT EXISTS (
		SELECT FROM said s WHERE s.node_id = n.node_id AND s.tier_name = w.tier_name
			AND s.relation_name IS NOT DISTINCT FROM w.relation_name))
	ORDER BY n.node_id, w.relation_name COLLATE "C" NULLS FIRST, w.tier_name
$$;
COMMENT ON FUNCTION _tiered_storage.node_gaps() IS
'the rows of the view node_gaps';

CREATE VIEW tiered_storage.node_gaps AS
	SELECT * FROM _tiered_storage.node_gaps();
COMMENT ON VIEW tiered_storage.node_gaps IS
'tiers and policies on shards that a node of Citus lacks and others have, as one that was added '
'later (a policy that is enabled there), and the statement that gives them to it; a node that '
'does not answer has a row with the error';
COMMENT ON COLUMN tiered_storage.node_gaps.node_id IS
'number of the node in pg_dist_node; 0: it is not there';
COMMENT ON COLUMN tiered_storage.node_gaps.node_name IS 'host name or address of the node';
COMMENT ON COLUMN tiered_storage.node_gaps.node_port IS 'its port';
COMMENT ON COLUMN tiered_storage.node_gaps.error IS
'why there is no answer from it; null: there is one';
COMMENT ON COLUMN tiered_storage.node_gaps.relation_name IS
'the table whose policy it lacks; null: it lacks the tier';
COMMENT ON COLUMN tiered_storage.node_gaps.tier_name IS
'the tier that it lacks, or that the policy moves to';
COMMENT ON COLUMN tiered_storage.node_gaps.command IS
'statement that gives it to all nodes that lack it, as it is defined on the first that has it; '
'tiers come before the policies that need them';
