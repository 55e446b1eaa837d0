---------------------------------------------------------------------------
-- Where new partitions are created: what was there before a policy said so.
---------------------------------------------------------------------------

/*
 * A partitioned table or index whose tablespace, in which the server creates what is new of
 * it, was set for a policy.  before_* is what it was until then, and what it will be when no
 * policy says so any more; set_* what it was set to: if it is anything else now, somebody
 * has changed it, and then it is left alone.  0 and null mean the database's own tablespace.
 * Relation and tablespaces are identified as those of policies and tiers.
 */
CREATE TABLE _tiered_storage.partition_default
(
	relation_oid oid NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	relation_kind "char" NOT NULL,
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	before_oid oid NOT NULL,
	before_name name,
	set_oid oid NOT NULL,
	set_name name,
	PRIMARY KEY (relation_oid, database_oid, system_identifier)
);
COMMENT ON TABLE _tiered_storage.partition_default IS
'partitioned tables and indexes whose tablespace was set for new_partitions_on of a policy, and '
'what it was before';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.partition_default', '');

/* Null: that does not exist here. */
CREATE VIEW _tiered_storage.partition_defaults AS
	SELECT p.relation_oid AS stored_oid, p.system_identifier, p.database_oid,
		c.oid AS relation_oid, n.nspname AS schema_name, c.relname AS relation_name,
		CASE WHEN p.before_name IS NULL THEN 0 ELSE b.oid END AS before_oid,
		b.spcname AS before_name,
		CASE WHEN p.set_name IS NULL THEN 0 ELSE s.oid END AS set_oid, s.spcname AS set_name,
		h.system_identifier AS this_system, h.database_oid AS this_database
	FROM _tiered_storage.partition_default p
	CROSS JOIN (SELECT cs.system_identifier, d.oid AS database_oid
		FROM pg_catalog.pg_control_system() cs
		JOIN pg_catalog.pg_database d
			ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()) h
	LEFT JOIN (pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
		ON n.oid OPERATOR(pg_catalog.=) c.relnamespace)
		ON c.relkind OPERATOR(pg_catalog.=) p.relation_kind
		AND CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) h.system_identifier
				AND p.database_oid OPERATOR(pg_catalog.=) h.database_oid
			THEN c.oid OPERATOR(pg_catalog.=) p.relation_oid
			ELSE n.nspname OPERATOR(pg_catalog.=) p.schema_name
				AND c.relname OPERATOR(pg_catalog.=) p.relation_name END
	LEFT JOIN pg_catalog.pg_tablespace b ON CASE
		WHEN p.system_identifier OPERATOR(pg_catalog.=) h.system_identifier
		THEN b.oid OPERATOR(pg_catalog.=) p.before_oid
		ELSE b.spcname OPERATOR(pg_catalog.=) p.before_name END
	LEFT JOIN pg_catalog.pg_tablespace s ON CASE
		WHEN p.system_identifier OPERATOR(pg_catalog.=) h.system_identifier
		THEN s.oid OPERATOR(pg_catalog.=) p.set_oid
		ELSE s.spcname OPERATOR(pg_catalog.=) p.set_name END;
COMMENT ON VIEW _tiered_storage.partition_defaults IS
'what partition_default means in this database';

/*
 * Of a relation that is gone nothing is to be given back.  Rows of another database stay
 * until their relation is found: a restore creates indexes after it has brought the rows.
 */
CREATE FUNCTION _tiered_storage.refresh_partition_defaults() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM _tiered_storage.partition_default) THEN
		RETURN;
	END IF;
	WITH gone AS MATERIALIZED (
		SELECT p.relation_oid, p.database_oid, p.system_identifier
		FROM _tiered_storage.partition_default p
		JOIN _tiered_storage.partition_defaults v ON v.stored_oid = p.relation_oid
			AND v.database_oid = p.database_oid AND v.system_identifier = p.system_identifier
		WHERE v.relation_oid IS NULL AND p.database_oid = v.this_database
			AND p.system_identifier = v.this_system
		FOR UPDATE OF p SKIP LOCKED)
	DELETE FROM _tiered_storage.partition_default p USING gone g
		WHERE (p.relation_oid, p.database_oid, p.system_identifier)
			= (g.relation_oid, g.database_oid, g.system_identifier);
	WITH changed AS MATERIALIZED (
		SELECT v.*
		FROM _tiered_storage.partition_default p
		JOIN _tiered_storage.partition_defaults v ON v.stored_oid = p.relation_oid
			AND v.database_oid = p.database_oid AND v.system_identifier = p.system_identifier
		WHERE v.relation_oid IS NOT NULL
			AND (p.before_name IS NULL OR v.before_name IS NOT NULL)
			AND (p.set_name IS NULL OR v.set_name IS NOT NULL)
			AND (p.relation_oid, p.schema_name, p.relation_name, p.system_identifier,
				p.database_oid, p.before_oid, p.before_name, p.set_oid, p.set_name)
			IS DISTINCT FROM (v.relation_oid, v.schema_name, v.relation_name, v.this_system,
				v.this_database, v.before_oid, v.before_name, v.set_oid, v.set_name)
			AND (v.relation_oid = p.relation_oid AND v.this_database = p.database_oid
					AND v.this_system = p.system_identifier
				OR NOT EXISTS (SELECT FROM _tiered_storage.partition_default o
					WHERE o.relation_oid = v.relation_oid AND o.database_oid = v.this_database
						AND o.system_identifier = v.this_system))
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.partition_default p
		SET relation_oid = c.relation_oid, schema_name = c.schema_name,
			relation_name = c.relation_name, system_identifier = c.this_system,
			database_oid = c.this_database, before_oid = c.before_oid,
			before_name = c.before_name, set_oid = c.set_oid, set_name = c.set_name
		FROM changed c
		WHERE (p.relation_oid, p.database_oid, p.system_identifier)
			= (c.stored_oid, c.database_oid, c.system_identifier);
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_partition_defaults() IS
'updates the stored names and OIDs of partitioned tables and indexes whose tablespace was set for '
'a policy';
