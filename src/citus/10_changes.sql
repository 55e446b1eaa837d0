/*
 * tiered_storage_citus: tiers and policies on all nodes of Citus, and what the nodes report.
 *
 * Every name outside a function body is qualified; every function pins its search_path.  Nodes
 * decide by themselves what the current role may do there.  Nothing here runs with other rights
 * than the caller's, but for node_definitions(), which only reads.
 */
\echo Use "CREATE EXTENSION tiered_storage_citus" to load this file. \quit

/* An unprivileged user may have created schemas of these names, and could change them. */
DO $$
DECLARE
	name text := (SELECT pg_catalog.min(n.nspname) FROM pg_catalog.pg_namespace n
		WHERE n.nspname OPERATOR(pg_catalog.=) ANY (
			'{tiered_storage_citus, _tiered_storage_citus}'));
BEGIN
	IF name IS NOT NULL THEN
		RAISE EXCEPTION 'schema "%" already exists', name
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
END
$$;

CREATE SCHEMA tiered_storage_citus;
CREATE SCHEMA _tiered_storage_citus;
COMMENT ON SCHEMA _tiered_storage_citus IS
'helper functions of tiered_storage_citus; internal, and any of it may change';
COMMENT ON SCHEMA tiered_storage_citus IS
'storage tiering on all nodes of Citus: the functions to call and the views to read';

---------------------------------------------------------------------------
-- Commands on nodes
---------------------------------------------------------------------------

/*
 * A node is sent this, and gives up by itself; nobody has to cancel from afar.  The owner of a
 * node's database sets the search_path of those who connect, but not of the command.
 */
CREATE FUNCTION _tiered_storage_citus.answer_within(timeout_ms integer, command text) RETURNS text
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'tier_citus_answer_within';
COMMENT ON FUNCTION _tiered_storage_citus.answer_within(integer, text) IS
'runs a command as the current role, and returns the first column of its first row; fails if '
'that takes longer';

CREATE FUNCTION _tiered_storage_citus.ask_all_nodes(command text,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 16 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'tier_citus_ask_all_nodes';
COMMENT ON FUNCTION _tiered_storage_citus.ask_all_nodes(text) IS
'runs a command that only reads on all nodes at once, as the current role; a node that does not '
'answer in time has a row with the error';

CREATE FUNCTION _tiered_storage_citus.change_all_nodes(statement text,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 16 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'tier_citus_change_all_nodes';
COMMENT ON FUNCTION _tiered_storage_citus.change_all_nodes(text) IS
'runs a statement on all nodes, if it would succeed on all of them; on the coordinator only, '
'one change at a time';

CREATE FUNCTION _tiered_storage_citus.require_shards(relation regclass) RETURNS text
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_citus_require_shards';
COMMENT ON FUNCTION _tiered_storage_citus.require_shards(regclass) IS
'the qualified name of a table that has shards; an error if it has none';

---------------------------------------------------------------------------
-- Tiers and policies
---------------------------------------------------------------------------

/* The settings make the statement independent of how the caller formats values. */
CREATE FUNCTION tiered_storage_citus.add_tier_on_all_nodes(
	name name,
	tablespaces name[],
	profile text DEFAULT NULL,
	rank integer DEFAULT NULL,
	price_per_gb_month numeric DEFAULT NULL,
	reserve_fraction float8 DEFAULT 0.15,
	low_watermark float8 DEFAULT 0.80,
	high_watermark float8 DEFAULT 0.90,
	device jsonb DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1 SET "DateStyle" = 'ISO' SET "IntervalStyle" = 'postgres'
AS $$
	SELECT * FROM _tiered_storage_citus.change_all_nodes(format(
		'SELECT tiered_storage.add_tier(name => %L, tablespaces => %L, profile => %L, '
		'rank => %L, price_per_gb_month => %L, reserve_fraction => %L, low_watermark => %L, '
		'high_watermark => %L, device => %L)',
		name, tablespaces, profile, rank, price_per_gb_month, reserve_fraction, low_watermark,
		high_watermark, device)
		|| CASE WHEN if_not_exists THEN format(' WHERE NOT EXISTS (SELECT FROM '
			'_tiered_storage.tier t WHERE t.tier_name = %L AND NOT t.discovered)', name)
			ELSE '' END)
$$;
COMMENT ON FUNCTION tiered_storage_citus.add_tier_on_all_nodes(
	name, name[], text, integer, numeric, float8, float8, float8, jsonb, boolean) IS
'defines a tier on all nodes, with the arguments of add_tier(): if one node cannot, on none; '
'if_not_exists: nodes that have a tier of this name keep it';

CREATE FUNCTION tiered_storage_citus.add_tiering_policy_on_all_nodes(
	relation regclass,
	move_after interval DEFAULT NULL,
	tier name DEFAULT NULL,
	idle_for interval DEFAULT NULL,
	index_tier name DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	options jsonb DEFAULT NULL,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1 SET "DateStyle" = 'ISO' SET "IntervalStyle" = 'postgres'
AS $$
	SELECT * FROM _tiered_storage_citus.change_all_nodes(format(
		'SELECT tiered_storage.add_tiering_policy(relation => %L, move_after => %L, tier => %L, '
		'idle_for => %L, index_tier => %L, if_not_exists => %L, options => %L)',
		_tiered_storage_citus.require_shards(relation), move_after, tier, idle_for, index_tier,
		if_not_exists, jsonb_build_object('time_zone', current_setting('TimeZone'))
			|| COALESCE(options, '{}') || '{"on_shards": true}'))
$$;
COMMENT ON FUNCTION tiered_storage_citus.add_tiering_policy_on_all_nodes(
	regclass, interval, name, interval, name, boolean, jsonb) IS
'puts a tiering policy on the shards of a table on all nodes, with the arguments of '
'add_tiering_policy(): if one node cannot, on none; each node moves the shards that Citus has '
'placed there, whenever they arrive';

/* By name: undistribute_table() leaves policies on tables that no longer exist on a node. */
CREATE FUNCTION _tiered_storage_citus.remove_policies(
	relation_name text, tier name, if_exists boolean)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	removed bigint;
BEGIN
	SELECT count(tiered_storage.remove_policy(policy_id => p.policy_id)) INTO removed
		FROM _tiered_storage.policies p
		WHERE p.relation_name = remove_policies.relation_name
			AND p.in_schema IS NULL
			AND (tier IS NULL OR p.tier_name = tier);
	IF removed = 0 AND NOT if_exists THEN
		RAISE EXCEPTION 'there is no such policy on %', relation_name
			USING ERRCODE = 'undefined_object';
	END IF;
	RETURN removed;
END
$$;
COMMENT ON FUNCTION _tiered_storage_citus.remove_policies(text, name, boolean) IS
'removes the policies of a table on this node, by its name in the view policies';

CREATE FUNCTION _tiered_storage_citus.table_name(relation regclass, relation_name text)
RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF num_nonnulls(relation, relation_name) <> 1 THEN
		RAISE EXCEPTION 'either "relation" or "relation_name" must be given'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN COALESCE(relation_name, (SELECT format('%I.%I', e.nspname, e.relname)
		FROM _tiered_storage.relation_entry(relation) e));
END
$$;
COMMENT ON FUNCTION _tiered_storage_citus.table_name(regclass, text) IS
'the qualified name of a table, as in the view policies';

CREATE FUNCTION tiered_storage_citus.remove_tiering_policy_on_all_nodes(
	relation regclass DEFAULT NULL,
	tier name DEFAULT NULL,
	if_exists boolean DEFAULT false,
	relation_name text DEFAULT NULL,
	OUT node_id integer, OUT node_name text, OUT node_port integer, OUT success boolean,
	OUT result text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT * FROM _tiered_storage_citus.change_all_nodes(format(
		'SELECT _tiered_storage_citus.remove_policies(%L, %L, %L)',
		_tiered_storage_citus.table_name(relation, relation_name), tier, if_exists))
$$;
COMMENT ON FUNCTION tiered_storage_citus.remove_tiering_policy_on_all_nodes(
	regclass, name, boolean, text) IS
'removes the policies of a table on all nodes, only the policy for this tier if given; '
'relation_name names a table that no longer exists, as node_policies does';
