---------------------------------------------------------------------------
-- Which objects tiers, policies and pins mean after renames, drops and restores.
---------------------------------------------------------------------------

/* Whether a policy or a pin refers to the tier. */
CREATE FUNCTION _tiered_storage.tier_in_use(tier name) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT EXISTS (SELECT FROM _tiered_storage.policy p
			WHERE tier IN (p.tier_name, p.index_tier, p.return_tier))
		OR EXISTS (SELECT FROM _tiered_storage.pin p WHERE p.tier_name = tier)
		OR EXISTS (SELECT FROM _tiered_storage.fullness_policy f
			WHERE tier IN (f.tier_name, f.target_name))
$$;

/*
 * Removes discovered tiers that have no tablespace and that nothing refers to, except the named
 * one, and those that a restore has brought: their tablespaces may still come.
 *
 * A row that another session has locked is left for the next time.
 */
CREATE FUNCTION _tiered_storage.remove_unused_tiers(except_tier name) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	DELETE FROM _tiered_storage.tier t
		WHERE t.tier_name IN (SELECT x.tier_name FROM _tiered_storage.tier x
			WHERE x.discovered AND x.tier_name IS DISTINCT FROM except_tier
				AND x.restored IS NOT TRUE
				AND NOT EXISTS (SELECT FROM _tiered_storage.tier_tablespace tt
					WHERE tt.tier_name = x.tier_name)
				AND NOT _tiered_storage.tier_in_use(x.tier_name)
			FOR UPDATE OF x SKIP LOCKED)
$$;

/*
 * Discovered tablespaces that belong to a tier in another database and that no policy or pin
 * here relies on.
 *
 * A discovered tier follows the definition of another database, unless a policy or a pin
 * relies on it.
 */
CREATE FUNCTION _tiered_storage.claimed_elsewhere() RETURNS SETOF name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.tablespace_name
	FROM _tiered_storage.tier_tablespace t
	JOIN _tiered_storage.tablespace_claims() c ON c.tablespace_oid = t.tablespace_oid
	WHERE t.discovered AND c.tier_name <> t.tier_name
		AND c.database_oid <> (SELECT d.oid FROM pg_database d
			WHERE d.datname = current_database())
		AND NOT _tiered_storage.tier_in_use(t.tier_name)
$$;

/*
 * Updates the stored names and OIDs of the tablespaces of tiers.
 *
 * Brings the stored names and OIDs of tablespaces, policies and pins up to date after
 * renames and restores.  A row that a restore brought gives way to a row that this
 * cluster has for the same object.
 *
 * Policies and pins are refreshed by samples and migrations only, not by what
 * people do to a tier, a policy or a pin: their transactions may stay open, and would block
 * all others.  For the same reason a row that another session has locked is left for the next
 * time.
 */
CREATE FUNCTION _tiered_storage.refresh_tablespaces() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_control_system() c);
	stored name[];
	fresh _tiered_storage.tier_tablespace[];
BEGIN
	/* A restore with --disable-triggers adds its rows to those that are there. */
	DELETE FROM _tiered_storage.tier_tablespace t
		WHERE t.ctid IN (SELECT x.ctid FROM _tiered_storage.tier_tablespace x
			JOIN _tiered_storage.tier_tablespace o ON o.tablespace_name = x.tablespace_name
				AND o.ctid <> x.ctid AND (NOT o.discovered OR o.ctid > x.ctid)
			WHERE x.discovered
			FOR UPDATE OF x SKIP LOCKED)
			OR NOT EXISTS (SELECT FROM _tiered_storage.tier n WHERE n.tier_name = t.tier_name);
	DELETE FROM _tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM _tiered_storage.tier_tablespace x
			WHERE x.system_identifier = this_system
				AND NOT EXISTS (SELECT FROM pg_tablespace s WHERE s.oid = x.tablespace_oid)
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM _tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM _tiered_storage.tier_tablespace x
			JOIN pg_tablespace s ON s.spcname = x.tablespace_name
			JOIN _tiered_storage.tier_tablespace o
				ON o.system_identifier = this_system AND o.tablespace_oid = s.oid
			WHERE x.system_identifier <> this_system
			FOR UPDATE OF x SKIP LOCKED);
	/*
	 * Names may be exchanged, so all rows are changed or none, and first removed: keys that are
	 * only checked at the end would make "ON CONFLICT DO NOTHING" of a dump an error.
	 */
	SELECT array_agg(r.stored_name), array_agg(ROW(r.tablespace_name, r.tablespace_oid,
			this_system, t.tier_name, t.discovered)::_tiered_storage.tier_tablespace)
		INTO stored, fresh
		FROM _tiered_storage.tier_tablespace t
		JOIN _tiered_storage.tier_tablespaces r ON r.stored_name = t.tablespace_name
		WHERE (t.tablespace_oid, t.tablespace_name, t.system_identifier)
			IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system);
	IF stored IS NOT NULL AND (SELECT count(*)
			FROM (SELECT FROM _tiered_storage.tier_tablespace x FOR UPDATE SKIP LOCKED) l)
			= (SELECT count(*) FROM _tiered_storage.tier_tablespace) THEN
		DELETE FROM _tiered_storage.tier_tablespace t WHERE t.tablespace_name = ANY (stored);
		INSERT INTO _tiered_storage.tier_tablespace SELECT f.* FROM unnest(fresh) f;
	END IF;
	/* Discovered tiers whose tablespaces belong to a tier in another database are given up. */
	IF EXISTS (SELECT FROM _tiered_storage.claimed_elsewhere()) THEN
		BEGIN
			LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE NOWAIT;
			DELETE FROM _tiered_storage.tier_tablespace t
				WHERE t.tablespace_name IN (SELECT x.tablespace_name
					FROM _tiered_storage.tier_tablespace x
					WHERE x.tablespace_name IN (SELECT _tiered_storage.claimed_elsewhere())
					FOR UPDATE OF x SKIP LOCKED);
			IF FOUND THEN
				PERFORM tiered_storage.discover_tiers();
				PERFORM _tiered_storage.remove_unused_tiers(NULL);
			END IF;
		EXCEPTION WHEN lock_not_available THEN
			NULL; -- another session is changing the tiers
		END;
	END IF;
END
$$;

/* What policies and pins store of a relation: names, owner, cluster and database. */
CREATE FUNCTION _tiered_storage.relation_identity(
	relation oid, OUT relation_oid oid, OUT schema_name name, OUT relation_name name,
	OUT owner_name name, OUT owner_oid oid, OUT system_identifier bigint, OUT database_oid oid)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 1 SET search_path = pg_catalog, pg_temp
AS $$
	SELECT c.oid, c.nspname, c.relname, pg_get_userbyid(c.relowner), c.relowner,
		cs.system_identifier, d.oid
	FROM _tiered_storage.relation_entry(relation) c
	CROSS JOIN pg_control_system() cs
	JOIN pg_database d ON d.datname = current_database()
$$;

/*
 * Removes policies and pins whose relation, schema or table is gone: the views have no row for
 * them.
 *
 * A row that another transaction has locked is left for the next time.
 */
CREATE FUNCTION _tiered_storage.remove_ownerless() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	DELETE FROM _tiered_storage.policy p
		WHERE p.policy_id IN (SELECT x.policy_id FROM _tiered_storage.policy x
			WHERE NOT EXISTS (SELECT FROM _tiered_storage.policies v
				WHERE v.policy_id = x.policy_id)
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM _tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM _tiered_storage.pin x
			WHERE NOT EXISTS (SELECT FROM _tiered_storage.pin_targets v
				WHERE v.pin_id = x.pin_id)
			FOR UPDATE OF x SKIP LOCKED);
$$;

/* Updates the stored names and OIDs of policies. */
CREATE FUNCTION _tiered_storage.refresh_policies() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _tiered_storage.remove_ownerless();
	/*
	 * Of several policies that have come to mean the same, the first stays.  One that is locked
	 * cannot be deleted now; until then the others keep the key that they have.
	 */
	DELETE FROM _tiered_storage.policy p
		WHERE p.policy_id IN (SELECT x.policy_id FROM _tiered_storage.policy x
			WHERE x.policy_id IN (SELECT d.policy_id FROM (
				SELECT v.policy_id, row_number() OVER (
						PARTITION BY v.relation, v.tier_name ORDER BY v.policy_id) AS place
				FROM _tiered_storage.policies v WHERE v.relation IS NOT NULL
				UNION ALL
				SELECT g.policy_id, row_number() OVER (
						PARTITION BY s.schema_oid, g.tier_name ORDER BY g.policy_id)
				FROM _tiered_storage.policy g
				JOIN _tiered_storage.policy_schemas s ON s.policy_id = g.policy_id
				WHERE s.schema_oid IS NOT NULL) d WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	WITH changed AS MATERIALIZED (
		SELECT p.policy_id, o.*, v.created_by, COALESCE(v.created_by_oid, 0) AS created_by_oid
		FROM _tiered_storage.policy p
		JOIN _tiered_storage.policies v ON v.policy_id = p.policy_id
		CROSS JOIN LATERAL _tiered_storage.relation_identity(v.relation::oid) o
		WHERE (p.relation_oid, p.schema_name, p.relation_name, p.owner_name, p.owner_oid,
				p.system_identifier, p.database_oid, p.created_by, p.created_by_oid)
			IS DISTINCT FROM (o.relation_oid, o.schema_name, o.relation_name, o.owner_name,
				o.owner_oid,
				o.system_identifier, o.database_oid, v.created_by, COALESCE(v.created_by_oid, 0))
			AND NOT EXISTS (SELECT FROM _tiered_storage.policy x
				WHERE x.policy_id <> p.policy_id
					AND (x.relation_oid, x.tier_name, x.database_oid, x.system_identifier)
						= (o.relation_oid, p.tier_name, o.database_oid, o.system_identifier))
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.policy p
		SET relation_oid = c.relation_oid, schema_name = c.schema_name,
			relation_name = c.relation_name, owner_name = c.owner_name, owner_oid = c.owner_oid,
			system_identifier = c.system_identifier, database_oid = c.database_oid,
			created_by = c.created_by, created_by_oid = c.created_by_oid
		FROM changed c WHERE c.policy_id = p.policy_id;
	WITH changed AS MATERIALIZED (
		SELECT p.policy_id, v.created_by, COALESCE(v.created_by_oid, 0) AS created_by_oid,
			cs.system_identifier, d.oid AS database_oid, g.schema_oid, g.schema_name,
			pg_get_userbyid(g.owner_oid) AS owner_name, g.owner_oid
		FROM _tiered_storage.policy p
		JOIN _tiered_storage.policies v ON v.policy_id = p.policy_id
		JOIN _tiered_storage.policy_schemas g ON g.policy_id = p.policy_id
		CROSS JOIN pg_control_system() cs
		JOIN pg_database d ON d.datname = current_database()
		WHERE g.schema_oid IS NOT NULL
			AND NOT EXISTS (SELECT FROM _tiered_storage.policy o
				WHERE o.policy_id <> p.policy_id AND o.tier_name = p.tier_name
					AND o.schema_oid = g.schema_oid)
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.policy p
		SET created_by = c.created_by, created_by_oid = c.created_by_oid,
			system_identifier = c.system_identifier, database_oid = c.database_oid,
			schema_oid = c.schema_oid, schema_name = c.schema_name,
			owner_name = c.owner_name, owner_oid = c.owner_oid
		FROM changed c WHERE c.policy_id = p.policy_id
			AND (p.created_by, p.created_by_oid, p.system_identifier, p.database_oid, p.schema_oid,
				p.schema_name, p.owner_name, p.owner_oid)
			IS DISTINCT FROM (c.created_by, c.created_by_oid, c.system_identifier, c.database_oid,
				c.schema_oid, c.schema_name, c.owner_name, c.owner_oid);
	WITH changed AS MATERIALIZED (
		SELECT p.policy_id, v.created_by, COALESCE(v.created_by_oid, 0) AS created_by_oid,
			cs.system_identifier
		FROM _tiered_storage.fullness_policy p
		JOIN _tiered_storage.fullness_policies v ON v.policy_id = p.policy_id
		CROSS JOIN pg_control_system() cs
		WHERE (p.created_by, p.created_by_oid, p.system_identifier)
			IS DISTINCT FROM (v.created_by, COALESCE(v.created_by_oid, 0), cs.system_identifier)
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.fullness_policy p
		SET created_by = c.created_by, created_by_oid = c.created_by_oid,
			system_identifier = c.system_identifier
		FROM changed c WHERE c.policy_id = p.policy_id;
END
$$;

/*
 * Updates the stored names and OIDs of pins and deletes pins that have ended.
 *
 * REINDEX CONCURRENTLY renames the old index, which is invalid from then on.
 *
 * Pins that have ended are deleted, and those whose table is gone.  The pin of an index stays
 * with the table: the index may be created again.  Of several that have come to mean the same,
 * the latest stays.  One that is locked cannot be deleted now; until then the others keep the key
 * that they have.
 */
CREATE FUNCTION _tiered_storage.refresh_pins() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM _tiered_storage.pin) THEN
		RETURN;
	END IF;
	PERFORM _tiered_storage.remove_ownerless();
	DELETE FROM _tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM _tiered_storage.pin x
			WHERE x.until <= now()
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM _tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM _tiered_storage.pin x
			WHERE x.pin_id IN (SELECT d.pin_id FROM (
				SELECT v.pin_id, row_number() OVER (
						PARTITION BY v.relation_oid ORDER BY v.pinned_at DESC, v.pin_id DESC)
							AS place
				FROM _tiered_storage.pin_targets v WHERE v.relation_oid IS NOT NULL) d
				WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	WITH changed AS MATERIALIZED (
		SELECT p.pin_id, o.*, v.pinned_by, COALESCE(v.pinned_by_oid, 0) AS pinned_by_oid,
			i.table_oid, i.definition_hash, i.other_indexes
		FROM _tiered_storage.pin p
		JOIN _tiered_storage.pin_targets v ON v.pin_id = p.pin_id
		CROSS JOIN LATERAL _tiered_storage.relation_identity(v.relation_oid) o
		CROSS JOIN LATERAL _tiered_storage.index_identity(v.relation_oid) i
		LEFT JOIN pg_index x ON x.indexrelid = v.relation_oid
		WHERE x.indisvalid IS DISTINCT FROM false
			AND NOT EXISTS (SELECT FROM _tiered_storage.pin y WHERE y.pin_id <> p.pin_id
				AND (y.relation_oid, y.database_oid, y.system_identifier)
					= (o.relation_oid, o.database_oid, o.system_identifier))
			AND (p.relation_oid, p.schema_name, p.relation_name, p.owner_name, p.owner_oid,
				p.system_identifier, p.database_oid, p.pinned_by, p.pinned_by_oid,
				p.table_oid, p.definition_hash, p.other_indexes)
			IS DISTINCT FROM (o.relation_oid, o.schema_name, o.relation_name, o.owner_name,
				o.owner_oid,
				o.system_identifier, o.database_oid, v.pinned_by, COALESCE(v.pinned_by_oid, 0),
				i.table_oid, i.definition_hash, i.other_indexes)
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.pin p
		SET relation_oid = c.relation_oid, schema_name = c.schema_name,
			relation_name = c.relation_name, owner_name = c.owner_name, owner_oid = c.owner_oid,
			system_identifier = c.system_identifier, database_oid = c.database_oid,
			pinned_by = c.pinned_by, pinned_by_oid = c.pinned_by_oid,
			table_oid = c.table_oid, definition_hash = c.definition_hash,
			other_indexes = c.other_indexes
		FROM changed c WHERE c.pin_id = p.pin_id;
END
$$;
