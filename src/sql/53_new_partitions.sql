---------------------------------------------------------------------------
-- Where new partitions are created: what was there before a policy said so.
---------------------------------------------------------------------------

/*
 * A partitioned table or index whose tablespace, in which the server creates what is new of
 * it, was set for a policy.  before_* is what it was until then, and what it will be when no
 * policy says so any more; set_* what it was set to: if it is anything else now, somebody
 * has changed it, and then it is left alone.  0 and null mean the database's own tablespace.
 *
 * In this table (store_oid), database and cluster the OID identifies the relation, and if that
 * is gone, there is nothing to be given back: another of its name is another.  A row that a
 * restore brought has no OID that means anything; it is of the relation of that name and kind
 * if the owner is the same, by OID in this cluster and by name in another.
 */
CREATE TABLE _tiered_storage.partition_default
(
	relation_oid oid NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	relation_kind "char" NOT NULL,
	owner_name name NOT NULL,
	owner_oid oid NOT NULL,
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	store_oid oid NOT NULL,
	before_oid oid NOT NULL,
	before_name name,
	set_oid oid NOT NULL,
	set_name name,
	is_changed boolean NOT NULL DEFAULT false,
	missing_since timestamptz,
	PRIMARY KEY (relation_oid, database_oid, system_identifier, store_oid)
);
COMMENT ON TABLE _tiered_storage.partition_default IS
'partitioned tables and indexes whose tablespace was set for new_partitions_on of a policy, and '
'what it was before';
COMMENT ON COLUMN _tiered_storage.partition_default.store_oid IS
'the OID that this table had when the row was written: another one, if a restore brought it';
COMMENT ON COLUMN _tiered_storage.partition_default.is_changed IS
'whether somebody had changed the tablespace when that was last looked at';
COMMENT ON COLUMN _tiered_storage.partition_default.missing_since IS
'since when the relation of a row that a restore brought is not found; deleted after 30 days';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.partition_default', '');

/*
 * Null: that does not exist here.  Void is a row that a restore brought without what it
 * tells of: the relation was restored into another tablespace (--no-tablespaces), or it is
 * another relation of that name.  Unless somebody had changed it before: so it stays changed.
 * No tablespace has the OID 1, which stands for one that is gone.
 */
CREATE VIEW _tiered_storage.partition_defaults AS
	SELECT p.relation_oid AS stored_oid, p.system_identifier, p.database_oid, p.store_oid,
		h.is_own, c.oid AS relation_oid, c.nspname AS schema_name, c.relname AS relation_name,
		pg_catalog.pg_get_userbyid(c.relowner) AS owner_name, c.relowner AS owner_oid,
		l.before_oid, b.spcname AS before_name, l.set_oid, s.spcname AS set_name,
		l.tablespace_oid OPERATOR(pg_catalog.<>) COALESCE(l.set_oid, 1) AS is_changed,
		(NOT h.is_own AND NOT p.is_changed
			AND l.tablespace_oid OPERATOR(pg_catalog.<>) COALESCE(l.set_oid, 1)) IS TRUE
			AS is_void,
		h.this_system, h.this_database
	FROM _tiered_storage.partition_default p
	CROSS JOIN LATERAL (SELECT cs.system_identifier AS this_system, d.oid AS this_database,
			d.dattablespace AS own_oid,
			p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier AS is_of_cluster,
			p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
				AND p.database_oid OPERATOR(pg_catalog.=) d.oid
				AND p.store_oid OPERATOR(pg_catalog.=) p.tableoid AS is_own
		FROM pg_catalog.pg_control_system() cs
		JOIN pg_catalog.pg_database d
			ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()) h
	LEFT JOIN LATERAL _tiered_storage.relation_entry(CASE WHEN h.is_own THEN p.relation_oid
			ELSE (SELECT x.oid
				FROM _tiered_storage.relation_entry(p.schema_name, p.relation_name) x
				WHERE CASE WHEN h.is_of_cluster
						THEN x.relowner OPERATOR(pg_catalog.=) p.owner_oid
						ELSE pg_catalog.pg_get_userbyid(x.relowner)
							OPERATOR(pg_catalog.=) p.owner_name END) END) c
		ON c.relkind OPERATOR(pg_catalog.=) p.relation_kind
	LEFT JOIN pg_catalog.pg_tablespace b ON CASE WHEN h.is_of_cluster
		THEN b.oid OPERATOR(pg_catalog.=) p.before_oid
		ELSE b.spcname OPERATOR(pg_catalog.=) p.before_name END
	LEFT JOIN pg_catalog.pg_tablespace s ON CASE WHEN h.is_of_cluster
		THEN s.oid OPERATOR(pg_catalog.=) p.set_oid
		ELSE s.spcname OPERATOR(pg_catalog.=) p.set_name END
	CROSS JOIN LATERAL (SELECT
		CASE WHEN c.reltablespace OPERATOR(pg_catalog.=) h.own_oid THEN 0
			ELSE c.reltablespace END AS tablespace_oid,
		CASE WHEN p.before_name IS NULL OR b.oid OPERATOR(pg_catalog.=) h.own_oid THEN 0
			ELSE b.oid END AS before_oid,
		CASE WHEN p.set_name IS NULL OR s.oid OPERATOR(pg_catalog.=) h.own_oid THEN 0
			ELSE s.oid END AS set_oid) l;
COMMENT ON VIEW _tiered_storage.partition_defaults IS
'what partition_default means in this database';

/*
 * What was created below a relation since its tablespace was set has it from there, and will
 * be given back what that relation had: of the one, or of all (null) that have a row.
 */
CREATE FUNCTION _tiered_storage.remember_partitions_below(relation oid) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH RECURSIVE known AS MATERIALIZED (
		SELECT v.* FROM _tiered_storage.partition_defaults v
		WHERE v.relation_oid IS NOT NULL AND NOT v.is_void
	), below AS (
		SELECT k.relation_oid, k.before_oid, k.before_name, k.set_oid, k.set_name,
			k.this_system, k.this_database, true AS is_known
		FROM known k WHERE (relation IS NULL OR k.relation_oid = relation)
			AND k.before_oid <> k.set_oid
		UNION ALL
		SELECT c.oid, b.before_oid, b.before_name, b.set_oid, b.set_name,
			b.this_system, b.this_database, false
		FROM below b
		JOIN pg_inherits i ON i.inhparent = b.relation_oid AND NOT i.inhdetachpending
		JOIN LATERAL _tiered_storage.relation_entry(i.inhrelid) c ON c.relkind IN ('p', 'I')
		JOIN pg_database d ON d.oid = b.this_database
		WHERE b.set_oid = CASE WHEN c.reltablespace = d.dattablespace THEN 0
				ELSE c.reltablespace END
			AND NOT EXISTS (SELECT FROM known k WHERE k.relation_oid = c.oid)
	)
	INSERT INTO _tiered_storage.partition_default (relation_oid, schema_name, relation_name,
		relation_kind, owner_name, owner_oid, system_identifier, database_oid, store_oid,
		before_oid, before_name, set_oid, set_name)
	SELECT c.oid, c.nspname, c.relname, c.relkind, pg_get_userbyid(c.relowner), c.relowner,
		b.this_system, b.this_database, '_tiered_storage.partition_default'::regclass,
		b.before_oid, b.before_name, b.set_oid, b.set_name
	FROM below b
	CROSS JOIN LATERAL _tiered_storage.relation_entry(b.relation_oid) c
	WHERE NOT b.is_known
	ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION _tiered_storage.remember_partitions_below(oid) IS
'remembers of partitioned tables and indexes below one in partition_default that they have their '
'tablespace from there';

/*
 * Rows of another database stay until their relation is found: a restore creates indexes after
 * it has brought the rows.  Of several that mean the same relation one stays, this database's
 * own before others.
 */
CREATE FUNCTION _tiered_storage.refresh_partition_defaults() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM _tiered_storage.partition_default) THEN
		RETURN;
	END IF;
	WITH meant AS MATERIALIZED (
		SELECT v.*, row_number() OVER (PARTITION BY v.relation_oid
			ORDER BY v.is_own DESC, v.is_void, v.stored_oid, v.store_oid, v.database_oid,
				v.system_identifier) AS place
		FROM _tiered_storage.partition_defaults v
	), gone AS MATERIALIZED (
		SELECT p.relation_oid, p.database_oid, p.system_identifier, p.store_oid
		FROM _tiered_storage.partition_default p
		JOIN meant v
			ON (p.relation_oid, p.database_oid, p.system_identifier, p.store_oid)
				= (v.stored_oid, v.database_oid, v.system_identifier, v.store_oid)
		WHERE (v.relation_oid IS NULL
				AND (v.is_own OR p.missing_since < now() - interval '30 days'))
			OR (v.relation_oid IS NOT NULL AND (v.is_void OR v.place > 1))
		FOR UPDATE OF p SKIP LOCKED)
	DELETE FROM _tiered_storage.partition_default p USING gone g
		WHERE (p.relation_oid, p.database_oid, p.system_identifier, p.store_oid)
			= (g.relation_oid, g.database_oid, g.system_identifier, g.store_oid);
	WITH meant AS MATERIALIZED (
		SELECT v.* FROM _tiered_storage.partition_defaults v
	), changed AS MATERIALIZED (
		SELECT v.*
		FROM _tiered_storage.partition_default p
		JOIN meant v
			ON (p.relation_oid, p.database_oid, p.system_identifier, p.store_oid)
				= (v.stored_oid, v.database_oid, v.system_identifier, v.store_oid)
		WHERE v.relation_oid IS NOT NULL AND NOT v.is_void
			AND v.before_oid IS NOT NULL AND v.set_oid IS NOT NULL
			AND (NOT v.is_own
				OR (p.schema_name, p.relation_name, p.owner_name, p.owner_oid, p.before_oid,
					p.before_name, p.set_oid, p.set_name, p.is_changed)
				IS DISTINCT FROM (v.schema_name, v.relation_name, v.owner_name, v.owner_oid,
					v.before_oid, v.before_name, v.set_oid, v.set_name, v.is_changed))
			AND (v.is_own OR 1 = (SELECT count(*) FROM meant o
				WHERE o.relation_oid = v.relation_oid))
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.partition_default p
		SET relation_oid = c.relation_oid, schema_name = c.schema_name,
			relation_name = c.relation_name, owner_name = c.owner_name, owner_oid = c.owner_oid,
			system_identifier = c.this_system, database_oid = c.this_database,
			store_oid = p.tableoid, before_oid = c.before_oid, before_name = c.before_name,
			set_oid = c.set_oid, set_name = c.set_name, is_changed = c.is_changed,
			missing_since = NULL
		FROM changed c
		WHERE (p.relation_oid, p.database_oid, p.system_identifier, p.store_oid)
			= (c.stored_oid, c.database_oid, c.system_identifier, c.store_oid);
	UPDATE _tiered_storage.partition_default t SET missing_since = now()
		WHERE (t.relation_oid, t.database_oid, t.system_identifier, t.store_oid) IN (
			SELECT p.relation_oid, p.database_oid, p.system_identifier, p.store_oid
			FROM _tiered_storage.partition_default p
			JOIN _tiered_storage.partition_defaults v
				ON (p.relation_oid, p.database_oid, p.system_identifier, p.store_oid)
					= (v.stored_oid, v.database_oid, v.system_identifier, v.store_oid)
			WHERE v.relation_oid IS NULL AND p.missing_since IS NULL
			FOR UPDATE OF p SKIP LOCKED);
	PERFORM _tiered_storage.remember_partitions_below(NULL);
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_partition_defaults() IS
'updates the stored names and OIDs of partitioned tables and indexes whose tablespace was set for '
'a policy';
