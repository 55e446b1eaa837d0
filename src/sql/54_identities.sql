---------------------------------------------------------------------------
-- What tiers, policies and pins mean after renames, drops and restores.
---------------------------------------------------------------------------

/*
 * Names and OIDs of tablespaces and policies as they are now, after renames
 * and restores.  A row that a restore brought for what has a row of this
 * cluster already gives way to it.
 *
 * Policies and pins are refreshed by samples and migrations only, not by what
 * people do to a tier, a policy or a pin: their transactions may stay open, and
 * then nobody else could do it.  For the same reason a row that somebody has
 * locked is left for the next time.
 */
CREATE FUNCTION _tiered_storage.refresh_tablespaces() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_catalog.pg_control_system() c);
	this_database oid := (SELECT d.oid FROM pg_catalog.pg_database d
		WHERE d.datname = pg_catalog.current_database());
BEGIN
	DELETE FROM _tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM _tiered_storage.tier_tablespace x
			WHERE x.system_identifier = this_system
				AND NOT EXISTS (SELECT FROM pg_catalog.pg_tablespace s WHERE s.oid = x.tablespace_oid)
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM _tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM _tiered_storage.tier_tablespace x
			JOIN pg_catalog.pg_tablespace s ON s.spcname = x.tablespace_name
			JOIN _tiered_storage.tier_tablespace o ON o.system_identifier = this_system AND o.tablespace_oid = s.oid
			WHERE x.system_identifier <> this_system
			FOR UPDATE OF x SKIP LOCKED);
	/* Names may be exchanged, so it is all of them or none. */
	IF EXISTS (SELECT FROM _tiered_storage.tier_tablespace t
			JOIN _tiered_storage.tier_tablespaces r ON r.stored_name = t.tablespace_name
			WHERE (t.tablespace_oid, t.tablespace_name, t.system_identifier)
				IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system))
		AND (SELECT count(*) FROM (SELECT FROM _tiered_storage.tier_tablespace x FOR UPDATE SKIP LOCKED) l)
			= (SELECT count(*) FROM _tiered_storage.tier_tablespace) THEN
		UPDATE _tiered_storage.tier_tablespace t
			SET tablespace_oid = r.tablespace_oid, tablespace_name = r.tablespace_name,
				system_identifier = this_system
			FROM _tiered_storage.tier_tablespaces r
			WHERE t.tablespace_name = r.stored_name
				AND (t.tablespace_oid, t.tablespace_name, t.system_identifier)
					IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system);
	END IF;
	PERFORM _tiered_storage.refresh_claimed(this_database);
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_tablespaces() IS
'brings the names and OIDs that tiers remember up to date';

/*
 * What was only discovered here follows what somebody defines in another
 * database, unless a policy or a pin relies on it.
 */
CREATE FUNCTION _tiered_storage.refresh_claimed(this_database oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF EXISTS (SELECT FROM _tiered_storage.tier_tablespace t
			JOIN _tiered_storage.tablespace_claims() c ON c.tablespace_oid = t.tablespace_oid
			WHERE t.discovered AND c.database_oid <> this_database AND c.tier_name <> t.tier_name
				AND NOT EXISTS (SELECT FROM _tiered_storage.policy p WHERE p.tier_name = t.tier_name)
				AND NOT EXISTS (SELECT FROM _tiered_storage.pin p WHERE p.tier_name = t.tier_name)) THEN
		BEGIN
			LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE NOWAIT;
			DELETE FROM _tiered_storage.tier_tablespace t
				WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM _tiered_storage.tier_tablespace x
					JOIN _tiered_storage.tablespace_claims() c ON c.tablespace_oid = x.tablespace_oid
					WHERE x.discovered AND c.database_oid <> this_database AND c.tier_name <> x.tier_name
						AND NOT EXISTS (SELECT FROM _tiered_storage.policy p WHERE p.tier_name = x.tier_name)
						AND NOT EXISTS (SELECT FROM _tiered_storage.pin p WHERE p.tier_name = x.tier_name)
					FOR UPDATE OF x SKIP LOCKED);
			IF FOUND THEN
				PERFORM tiered_storage.discover_tiers();
				DELETE FROM _tiered_storage.tier t
					WHERE t.tier_name IN (SELECT x.tier_name FROM _tiered_storage.tier x
						WHERE x.discovered
							AND NOT EXISTS (SELECT FROM _tiered_storage.tier_tablespace tt WHERE tt.tier_name = x.tier_name)
							AND NOT EXISTS (SELECT FROM _tiered_storage.policy p WHERE p.tier_name = x.tier_name)
							AND NOT EXISTS (SELECT FROM _tiered_storage.pin p WHERE p.tier_name = x.tier_name)
						FOR UPDATE OF x SKIP LOCKED);
			END IF;
		EXCEPTION WHEN lock_not_available THEN
			NULL;	-- somebody changes the tiers just now
		END;
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_claimed(oid) IS
'gives up discovered tiers whose tablespaces belong to a tier in another database';

CREATE FUNCTION _tiered_storage.refresh_policies() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_catalog.pg_control_system() c);
	this_database oid := (SELECT d.oid FROM pg_catalog.pg_database d
		WHERE d.datname = pg_catalog.current_database());
	locked integer[];
BEGIN
	/* Of several policies that have come to mean the same, the first stays. */
	DELETE FROM _tiered_storage.policy p
		WHERE p.policy_id IN (SELECT x.policy_id FROM _tiered_storage.policy x
			WHERE x.policy_id IN (SELECT d.policy_id FROM (
				SELECT v.policy_id, row_number() OVER (PARTITION BY v.relation, v.tier_name ORDER BY v.policy_id) AS place
				FROM tiered_storage.policies v WHERE v.relation IS NOT NULL) d WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	locked := ARRAY(SELECT p.policy_id
		FROM _tiered_storage.policy p, tiered_storage.policies v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
		WHERE v.policy_id = p.policy_id AND c.oid = v.relation::pg_catalog.oid
			AND n.oid = c.relnamespace
			AND (p.relation_oid, p.schema_name, p.relation_name, p.system_identifier, p.database_oid,
					p.created_by, p.created_by_oid, p.owner_name, p.owner_oid)
				IS DISTINCT FROM (c.oid, n.nspname, c.relname, this_system, this_database,
					v.created_by, COALESCE(v.created_by_oid, 0), pg_get_userbyid(c.relowner), c.relowner)
		FOR UPDATE OF p SKIP LOCKED);
	IF locked <> '{}' THEN
		UPDATE _tiered_storage.policy p
			SET relation_oid = c.oid, schema_name = n.nspname, relation_name = c.relname,
				system_identifier = this_system, database_oid = this_database,
				created_by = v.created_by, created_by_oid = COALESCE(v.created_by_oid, 0),
				owner_name = pg_get_userbyid(c.relowner), owner_oid = c.relowner
			FROM tiered_storage.policies v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
			WHERE v.policy_id = p.policy_id AND c.oid = v.relation::pg_catalog.oid
				AND n.oid = c.relnamespace AND p.policy_id = ANY (locked);
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_policies() IS
'brings the names and OIDs that policies remember up to date';

CREATE FUNCTION _tiered_storage.refresh_pins() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_catalog.pg_control_system() c);
	this_database oid := (SELECT d.oid FROM pg_catalog.pg_database d
		WHERE d.datname = pg_catalog.current_database());
	locked integer[];
BEGIN
	/*
	 * Pins that have expired go, and those of a relation that has not been
	 * there for long enough: until then it may be made anew.  Of several that
	 * have come to mean the same, the latest stays.
	 */
	IF NOT EXISTS (SELECT FROM _tiered_storage.pin) THEN
		RETURN;
	END IF;
	DELETE FROM _tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM _tiered_storage.pin x
			WHERE x.until <= now() OR x.missing_since < now() - interval '30 days'
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM _tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM _tiered_storage.pin x
			WHERE x.pin_id IN (SELECT d.pin_id FROM (
				SELECT v.pin_id, row_number() OVER (PARTITION BY v.relation_oid ORDER BY v.pinned_at DESC, v.pin_id DESC) AS place
				FROM _tiered_storage.pin_targets v WHERE v.relation_oid IS NOT NULL) d WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	locked := ARRAY(SELECT p.pin_id
		FROM _tiered_storage.pin p, _tiered_storage.pin_targets v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
		WHERE v.pin_id = p.pin_id AND c.oid = v.relation_oid
			AND n.oid = c.relnamespace
			AND (p.relation_oid, p.schema_name, p.relation_name, p.system_identifier, p.database_oid,
					p.pinned_by, p.pinned_by_oid, p.owner_name, p.owner_oid, p.missing_since)
				IS DISTINCT FROM (c.oid, n.nspname, c.relname, this_system, this_database,
					v.pinned_by, COALESCE(v.pinned_by_oid, 0), pg_get_userbyid(c.relowner), c.relowner, NULL)
		FOR UPDATE OF p SKIP LOCKED);
	IF locked <> '{}' THEN
		UPDATE _tiered_storage.pin p
			SET relation_oid = c.oid, schema_name = n.nspname, relation_name = c.relname,
				system_identifier = this_system, database_oid = this_database,
				pinned_by = v.pinned_by, pinned_by_oid = COALESCE(v.pinned_by_oid, 0),
				owner_name = pg_get_userbyid(c.relowner), owner_oid = c.relowner, missing_since = NULL
			FROM _tiered_storage.pin_targets v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
			WHERE v.pin_id = p.pin_id AND c.oid = v.relation_oid
				AND n.oid = c.relnamespace AND p.pin_id = ANY (locked);
	END IF;
	locked := ARRAY(SELECT p.pin_id
		FROM _tiered_storage.pin p, _tiered_storage.pin_targets v
		WHERE v.pin_id = p.pin_id AND v.relation_oid IS NULL AND p.missing_since IS NULL
		FOR UPDATE OF p SKIP LOCKED);
	UPDATE _tiered_storage.pin p SET missing_since = now()
		WHERE p.pin_id = ANY (locked);
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_pins() IS
'brings the names and OIDs that pins remember up to date, and forgets pins that have expired';

CREATE FUNCTION _tiered_storage.refresh_identities() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _tiered_storage.refresh_tablespaces();
	PERFORM _tiered_storage.refresh_policies();
	PERFORM _tiered_storage.refresh_pins();
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_identities() IS
'brings the names and OIDs that tiers, policies and pins remember up to date, and forgets pins that have expired';
