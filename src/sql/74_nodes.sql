---------------------------------------------------------------------------
-- All nodes of Citus at once: tiers and policies from one place, and what all say.
---------------------------------------------------------------------------

/*
 * Citus sends statements to its nodes as the current role, which is decided by its own rights
 * on that; what the role may do there, each node decides.  Nothing here is SECURITY DEFINER.
 */
CREATE FUNCTION _tiered_storage.ask_nodes(
	names text[], ports integer[], command text, one_by_one boolean,
	OUT place integer, OUT success boolean, OUT result text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 16
AS 'MODULE_PATHNAME', 'tier_ask_nodes';
COMMENT ON FUNCTION _tiered_storage.ask_nodes(text[], integer[], text, boolean) IS
'has Citus run a command on these nodes, each of which is waited for no longer than '
'five seconds; one row for each; one_by_one: never on a node twice';

/* What is sent to a node: it ends by itself, so that nothing has to be cancelled from afar. */
CREATE FUNCTION _tiered_storage.answer_within(timeout_ms integer, command text) RETURNS text
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_answer_within';
COMMENT ON FUNCTION _tiered_storage.answer_within(integer, text) IS
'runs a command as the current role, and returns the first column of its first row; fails if '
'that takes longer';

/* A coordinator that is not in its own metadata is a node as well. */
CREATE FUNCTION _tiered_storage.nodes(
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT is_active boolean)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	is_used boolean := false;
BEGIN
	IF to_regclass('pg_catalog.pg_dist_node') IS NULL
		OR to_regclass('pg_catalog.pg_dist_local_group') IS NULL
		OR to_regprocedure('pg_catalog.master_run_on_worker(text[],integer[],text[],boolean)')
			IS NULL THEN
		RAISE EXCEPTION 'there are no nodes of Citus in this database'
			USING ERRCODE = 'feature_not_supported',
				DETAIL = 'The extension citus has not been created.',
				HINT = 'On a single server, use the function or view without "_on_all_nodes" or '
					'"node_".';
	END IF;
	-- What Citus has open to a node for this transaction could not be given up without it.
	IF to_regprocedure('pg_catalog.get_current_transaction_id()') IS NOT NULL THEN
		EXECUTE 'SELECT t.transaction_number <> 0 FROM pg_catalog.get_current_transaction_id() t'
			INTO is_used;
	END IF;
	IF is_used THEN
		RAISE EXCEPTION 'nodes cannot be asked by a transaction that has used them already'
			USING ERRCODE = 'active_sql_transaction',
				DETAIL = 'It would have to wait for a node that does not answer, with its locks.',
				HINT = 'Ask in a transaction of its own.';
	END IF;
	RETURN QUERY EXECUTE
		'SELECT n.nodeid::integer, n.nodename::text, n.nodeport::integer, n.isactive
			FROM pg_catalog.pg_dist_node n
			WHERE n.noderole::text = ''primary''
				AND n.nodecluster = COALESCE(current_setting(''citus.cluster_name'', true),
					n.nodecluster)
		UNION ALL
		SELECT 0, COALESCE(current_setting(''citus.local_hostname'', true), ''localhost''),
			current_setting(''port'')::integer, true
		WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_dist_node n
			JOIN pg_catalog.pg_dist_local_group g ON g.groupid = n.groupid)';
END
$$;
COMMENT ON FUNCTION _tiered_storage.nodes() IS
'the nodes of Citus, with those that are disabled';

CREATE FUNCTION _tiered_storage.on_all_nodes(command text, one_by_one boolean,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH nodes AS MATERIALIZED (
		SELECT n.*, row_number() OVER (ORDER BY n.node_id) AS place
		FROM _tiered_storage.nodes() n WHERE n.is_active
	), asked AS (
		SELECT array_agg(n.node_name ORDER BY n.place) AS names,
			array_agg(n.node_port ORDER BY n.place) AS ports FROM nodes n
	)
	SELECT n.node_id, n.node_name, n.node_port, a.success, btrim(a.result, E' \n')
	FROM asked q CROSS JOIN _tiered_storage.ask_nodes(q.names, q.ports, command, one_by_one) a
	JOIN nodes n ON n.place = a.place
	UNION ALL
	SELECT n.node_id, n.node_name, n.node_port, false, 'Citus has disabled the node'
	FROM _tiered_storage.nodes() n WHERE NOT n.is_active
$$;
COMMENT ON FUNCTION _tiered_storage.on_all_nodes(text, boolean) IS
'runs a command on all nodes; one that cannot be asked says so in its row';

/*
 * A command on several nodes is no transaction.  So it is rehearsed first: run, and undone,
 * on each; and only if all can do it, it is done.  What comes between the two is reported.
 */
CREATE FUNCTION _tiered_storage.change_all_nodes(statement text,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	rehearsal text := format('DO %L', format('BEGIN EXECUTE %L; RAISE SQLSTATE ''TS001''; '
		'EXCEPTION WHEN SQLSTATE ''TS001'' THEN NULL; END', statement));
	reasons text;
	failed text;
	nfailed integer;
BEGIN
	IF current_setting('transaction_read_only')::boolean THEN
		RAISE EXCEPTION 'nodes cannot be changed by a read-only transaction'
			USING ERRCODE = 'read_only_sql_transaction';
	END IF;
	SELECT string_agg(format('%s:%s: %s', r.node_name, r.node_port, r.result), E'\n'
			ORDER BY r.node_id), count(*)
		INTO reasons, nfailed
		FROM _tiered_storage.on_all_nodes(rehearsal, false) r WHERE NOT r.success;
	IF nfailed > 0 THEN
		RAISE EXCEPTION 'it cannot be done on % of the nodes', nfailed
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = reasons,
				HINT = 'Nothing was changed on any node.';
	END IF;
	FOR node_id, node_name, node_port, success, result IN
		SELECT r.node_id, r.node_name, r.node_port, r.success, r.result
		FROM _tiered_storage.on_all_nodes(statement, true) r ORDER BY r.node_id
	LOOP
		IF NOT success THEN
			failed := concat_ws(', ', failed, format('%s:%s', node_name, node_port));
		END IF;
		RETURN NEXT;
	END LOOP;
	IF failed IS NOT NULL THEN
		RAISE WARNING 'it was not done on all nodes'
			USING DETAIL = format('Not, or it is not known whether, on %s.', failed),
				HINT = 'Repeat it with if_not_exists => true, or if_exists => true.';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.change_all_nodes(text) IS
'runs a statement on all nodes, if it would succeed on all of them';

/* What a node is sent is read there as it was written here, whatever the caller has set. */
CREATE FUNCTION tiered_storage.add_tier_on_all_nodes(
	name name,
	tablespaces name[],
	profile text DEFAULT NULL,
	rank integer DEFAULT NULL,
	random_read_ms float8 DEFAULT NULL,
	random_write_ms float8 DEFAULT NULL,
	sequential_read_mb_per_s float8 DEFAULT NULL,
	sequential_write_mb_per_s float8 DEFAULT NULL,
	fsync_ms float8 DEFAULT NULL,
	parallelism float8 DEFAULT NULL,
	price_per_gb_month numeric DEFAULT NULL,
	capacity_bytes bigint DEFAULT NULL,
	reserve_fraction float8 DEFAULT 0.15,
	low_watermark float8 DEFAULT 0.80,
	high_watermark float8 DEFAULT 0.90,
	endurance_tbw float8 DEFAULT NULL,
	endurance_dwpd float8 DEFAULT NULL,
	compressed boolean DEFAULT NULL,
	compression_ratio float8 DEFAULT NULL,
	scan_start_ms float8 DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1 SET "DateStyle" = 'ISO' SET "IntervalStyle" = 'postgres'
AS $$
DECLARE
	statement text := format(
		'SELECT tiered_storage.add_tier(name => %L, tablespaces => %L, profile => %L, '
		'rank => %L, '
		'random_read_ms => %L, random_write_ms => %L, '
		'sequential_read_mb_per_s => %L, sequential_write_mb_per_s => %L, '
		'fsync_ms => %L, parallelism => %L, price_per_gb_month => %L, '
		'capacity_bytes => %L, reserve_fraction => %L, low_watermark => %L, '
		'high_watermark => %L, endurance_tbw => %L, endurance_dwpd => %L, '
		'compressed => %L, compression_ratio => %L, scan_start_ms => %L)',
		name, tablespaces, profile, rank, random_read_ms, random_write_ms,
		sequential_read_mb_per_s, sequential_write_mb_per_s, fsync_ms, parallelism,
		price_per_gb_month, capacity_bytes, reserve_fraction, low_watermark, high_watermark,
		endurance_tbw, endurance_dwpd, compressed, compression_ratio, scan_start_ms);
BEGIN
	IF if_not_exists THEN
		statement := format('%s WHERE NOT EXISTS (SELECT FROM tiered_storage.tiers t '
			'WHERE t.tier_name = %L AND NOT t.discovered)', statement, name);
	END IF;
	RETURN QUERY SELECT * FROM _tiered_storage.change_all_nodes(statement);
END
$$;
COMMENT ON FUNCTION tiered_storage.add_tier_on_all_nodes(
	name, name[], text, integer, float8, float8, float8, float8, float8, float8, numeric,
	bigint, float8, float8, float8, float8, float8, boolean, float8, float8, boolean) IS
'defines a tier on all nodes of Citus, with the arguments of add_tier(): on all, or if one '
'cannot, on none; if_not_exists: nodes that have a tier of that name keep it';

CREATE FUNCTION _tiered_storage.require_shards(relation regclass) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	has_shards boolean;
	relation_name text;
BEGIN
	PERFORM FROM _tiered_storage.nodes();
	IF relation IS NULL THEN
		RAISE EXCEPTION '"relation" must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	SELECT format('%I.%I', c.nspname, c.relname) INTO relation_name
		FROM _tiered_storage.relation_entry(relation) c;
	IF relation_name IS NULL THEN
		RAISE EXCEPTION 'relation with OID % does not exist', relation::oid
			USING ERRCODE = 'undefined_table';
	END IF;
	EXECUTE 'SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition p WHERE p.logicalrelid = $1)'
		INTO has_shards USING relation;
	IF NOT has_shards THEN
		RAISE EXCEPTION '% has no shards of Citus', relation_name
			USING ERRCODE = 'wrong_object_type',
				HINT = 'Use the function without "_on_all_nodes", on the node where it is.';
	END IF;
	RETURN relation_name;
END
$$;
COMMENT ON FUNCTION _tiered_storage.require_shards(regclass) IS
'the qualified name of a table whose rows are in shards; an error if it is none';

CREATE FUNCTION tiered_storage.add_tiering_policy_on_all_nodes(
	relation regclass,
	move_after interval DEFAULT NULL,
	tier name DEFAULT NULL,
	include_indexes boolean DEFAULT true,
	age_from text DEFAULT 'now',
	key_unit text DEFAULT NULL,
	key_epoch timestamptz DEFAULT NULL,
	key_shift integer DEFAULT 0,
	time_zone text DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	idle_for interval DEFAULT NULL,
	no_writes_for interval DEFAULT NULL,
	below_reads_per_hour float8 DEFAULT NULL,
	index_tier name DEFAULT NULL,
	return_when_reads_per_hour float8 DEFAULT NULL,
	return_after interval DEFAULT NULL,
	return_tier name DEFAULT NULL,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1 SET "DateStyle" = 'ISO' SET "IntervalStyle" = 'postgres'
AS $$
BEGIN
	RETURN QUERY SELECT * FROM _tiered_storage.change_all_nodes(format(
		'SELECT tiered_storage.add_tiering_policy(on_shards => true, relation => %L, '
		'move_after => %L, tier => %L, include_indexes => %L, '
		'age_from => %L, key_unit => %L, key_epoch => %L, key_shift => %L, '
		'time_zone => %L, if_not_exists => %L, idle_for => %L, no_writes_for => %L, '
		'below_reads_per_hour => %L, index_tier => %L, '
		'return_when_reads_per_hour => %L, return_after => %L, return_tier => %L)',
		_tiered_storage.require_shards(relation), move_after, tier, include_indexes, age_from,
		key_unit, key_epoch, key_shift, COALESCE(time_zone, current_setting('TimeZone')),
		if_not_exists, idle_for, no_writes_for, below_reads_per_hour, index_tier,
		return_when_reads_per_hour, return_after, return_tier));
END
$$;
COMMENT ON FUNCTION tiered_storage.add_tiering_policy_on_all_nodes(
	regclass, interval, name, boolean, text, text, timestamptz, integer, text, boolean,
	interval, interval, float8, name, float8, interval, name) IS
'puts a tiering policy on all shards of a table of Citus, on all nodes, with the arguments of '
'add_tiering_policy(): on all nodes, or if one cannot, on none; each node moves the shards that '
'Citus has placed there, whenever they come';

CREATE FUNCTION tiered_storage.remove_tiering_policy_on_all_nodes(
	relation regclass,
	tier name DEFAULT NULL,
	if_exists boolean DEFAULT false,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN QUERY SELECT * FROM _tiered_storage.change_all_nodes(format(
		'SELECT tiered_storage.remove_tiering_policy(relation => %L, tier => %L, '
		'if_exists => %L)', _tiered_storage.require_shards(relation), tier, if_exists));
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_tiering_policy_on_all_nodes(regclass, name, boolean) IS
'removes the policies of a table of Citus on all nodes, only the one for this tier if given';
