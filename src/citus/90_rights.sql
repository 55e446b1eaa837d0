---------------------------------------------------------------------------
-- Rights: none but those granted here.  pg_monitor may use what only reads.
---------------------------------------------------------------------------

DO $$
DECLARE
	revoke_all text;
BEGIN
	FOR revoke_all IN
		SELECT pg_catalog.format('REVOKE ALL ON %s FROM %s', o.object,
			CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC'
				ELSE a.grantee::pg_catalog.regrole::pg_catalog.text END)
		FROM (
			SELECT pg_catalog.format('SCHEMA %I', n.nspname) AS object, n.nspacl AS acl,
				n.nspowner AS owner
			FROM pg_catalog.pg_namespace n
			WHERE n.nspname
				OPERATOR(pg_catalog.=) ANY ('{tiered_storage_citus,_tiered_storage_citus}')
			UNION ALL
			SELECT pg_catalog.format('TABLE %s', c.oid::pg_catalog.regclass), c.relacl, c.relowner
			FROM pg_catalog.pg_class c
			WHERE c.relnamespace OPERATOR(pg_catalog.=) ANY (
					'{tiered_storage_citus,_tiered_storage_citus}'::pg_catalog.regnamespace[])
				AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v}'::pg_catalog."char"[])
			UNION ALL
			SELECT pg_catalog.format('ROUTINE %s', p.oid::pg_catalog.regprocedure),
				COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner)), p.proowner
			FROM pg_catalog.pg_proc p
			WHERE p.pronamespace OPERATOR(pg_catalog.=) ANY (
				'{tiered_storage_citus,_tiered_storage_citus}'::pg_catalog.regnamespace[])
		) o
		CROSS JOIN LATERAL pg_catalog.aclexplode(o.acl) a
		WHERE a.grantee OPERATOR(pg_catalog.<>) o.owner
		GROUP BY o.object, a.grantee
	LOOP
		EXECUTE revoke_all;
	END LOOP;
END
$$;

GRANT USAGE ON SCHEMA tiered_storage_citus, _tiered_storage_citus TO pg_monitor;
GRANT SELECT ON tiered_storage_citus.node_tiers, tiered_storage_citus.node_heat,
	tiered_storage_citus.node_moves, tiered_storage_citus.node_policies,
	tiered_storage_citus.node_gaps, tiered_storage_citus.tier_weight,
	_tiered_storage_citus.move_shards, _tiered_storage_citus.shard_size TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage_citus.shard_cost(bigint),
	_tiered_storage_citus.answer_within(integer, text),
	_tiered_storage_citus.ask_all_nodes(text), _tiered_storage_citus.change_all_nodes(text),
	_tiered_storage_citus.require_shards(regclass),
	_tiered_storage_citus.table_name(regclass, text),
	_tiered_storage_citus.remove_policies(text, name, boolean),
	_tiered_storage_citus.node_rows(text), _tiered_storage_citus.node_definitions()
	TO pg_monitor;
