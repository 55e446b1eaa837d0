---------------------------------------------------------------------------
-- The rebalancer
---------------------------------------------------------------------------

CREATE TABLE tiered_storage_citus.tier_weight
(
	tier_name name PRIMARY KEY,
	weight float8 NOT NULL CHECK (weight OPERATOR(pg_catalog.>=) 0
		AND weight OPERATOR(pg_catalog.<) 'Infinity')
);
COMMENT ON TABLE tiered_storage_citus.tier_weight IS
'what a byte on a tier counts for the rebalancer in shard_cost(); 1 for tiers without a row';
COMMENT ON COLUMN tiered_storage_citus.tier_weight.tier_name IS 'name of the tier';
COMMENT ON COLUMN tiered_storage_citus.tier_weight.weight IS 'what a byte on it counts, from 0';
SELECT pg_catalog.pg_extension_config_dump('tiered_storage_citus.tier_weight', '');

CREATE TABLE _tiered_storage_citus.shard_size
(
	shard_id bigint NOT NULL,
	tier_name name,
	size_bytes bigint NOT NULL
);
CREATE INDEX shard_size_shard_id_idx ON _tiered_storage_citus.shard_size (shard_id);
COMMENT ON TABLE _tiered_storage_citus.shard_size IS
'bytes of each shard on each tier, at the last call of refresh_shard_sizes()';

CREATE FUNCTION tiered_storage_citus.refresh_shard_sizes() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	errors text;
	entries jsonb;
BEGIN
	SELECT string_agg(format('%s:%s: %s', n.node_name, n.node_port, n.error), E'\n')
			FILTER (WHERE n.error IS NOT NULL), jsonb_agg(n.entry)
		INTO errors, entries
		FROM _tiered_storage_citus.node_rows($query$
			SELECT pg_catalog.substring(e.relname, '_([0-9]+)$')::bigint AS shard_id,
			h.tier_name, pg_catalog.sum(h.size_bytes)::bigint AS size_bytes
			FROM _tiered_storage.heat h
			CROSS JOIN LATERAL _tiered_storage.relation_entry(h.relation) r
			CROSS JOIN LATERAL _tiered_storage.relation_entry(CASE r.nspname
				WHEN 'pg_toast' THEN pg_catalog.substring(r.relname, '[0-9]+')::pg_catalog.oid
				ELSE r.oid END) e
			WHERE h.distributed_table IS NOT NULL GROUP BY 1, 2
		$query$) n;
	IF errors IS NOT NULL THEN
		RAISE EXCEPTION 'the sizes of shards are unknown on some nodes'
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = errors,
				HINT = 'The sizes known before are kept.';
	END IF;
	LOCK TABLE _tiered_storage_citus.shard_size IN SHARE ROW EXCLUSIVE MODE;
	DELETE FROM _tiered_storage_citus.shard_size;
	INSERT INTO _tiered_storage_citus.shard_size (shard_id, tier_name, size_bytes)
		SELECT e.shard_id, e.tier_name, e.size_bytes
		FROM jsonb_to_recordset(entries)
			AS e (shard_id bigint, tier_name name, size_bytes bigint)
		WHERE e.shard_id IS NOT NULL AND e.size_bytes IS NOT NULL;
	RETURN (SELECT count(DISTINCT s.shard_id) FROM _tiered_storage_citus.shard_size s);
END
$$;
COMMENT ON FUNCTION tiered_storage_citus.refresh_shard_sizes() IS
'reads from all nodes how many bytes each shard has on which tier, for shard_cost(); returns the '
'number of shards';

/* As citus_shard_cost_by_disk_size, for a shard and all that are colocated with it. */
CREATE FUNCTION tiered_storage_citus.shard_cost(shardid bigint) RETURNS float4
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT (COALESCE(sum(z.size_bytes * COALESCE(w.weight, 1)), 0) + 1)::float4
	FROM pg_dist_shard s
	JOIN pg_dist_partition t ON t.logicalrelid = s.logicalrelid
	JOIN pg_dist_partition c ON c.logicalrelid = t.logicalrelid
		OR (c.colocationid = t.colocationid AND t.colocationid <> 0)
	JOIN pg_dist_shard x ON x.logicalrelid = c.logicalrelid
		AND (x.shardid = s.shardid OR x.shardminvalue = s.shardminvalue
			OR (x.shardminvalue IS NULL AND s.shardminvalue IS NULL))
	JOIN _tiered_storage_citus.shard_size z ON z.shard_id = x.shardid
	LEFT JOIN tiered_storage_citus.tier_weight w ON w.tier_name = z.tier_name
	WHERE s.shardid = shard_cost.shardid
$$;
COMMENT ON FUNCTION tiered_storage_citus.shard_cost(bigint) IS
'cost function for a rebalance strategy of Citus: bytes of the shard and those colocated with '
'it, weighted by tier';
