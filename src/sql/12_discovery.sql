---------------------------------------------------------------------------
-- Tiers that are found, not defined: by the devices beneath the tablespaces.
---------------------------------------------------------------------------

/* Makes room in the order of ranks for a tier of that speed, and says where. */
CREATE FUNCTION tiered_storage.tier_make_rank(name name, random_read_ms float8, compressed boolean) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	new_rank integer;
BEGIN
	/* Where there is no room for one more, they are numbered anew in their order. */
	IF EXISTS (SELECT FROM tiered_storage.tier t WHERE t.rank >= 1000000) THEN
		UPDATE tiered_storage.tier t SET rank = r.place
			FROM (SELECT x.tier_name, dense_rank() OVER (ORDER BY x.rank) - 1 AS place FROM tiered_storage.tier x) r
			WHERE r.tier_name = t.tier_name;
	END IF;
	SELECT COALESCE(max(t.rank) + 1, 0) INTO new_rank
		FROM tiered_storage.tier t
		WHERE (t.compressed, t.random_read_ms) <= (tier_make_rank.compressed, tier_make_rank.random_read_ms)
			AND t.tier_name <> tier_make_rank.name;
	UPDATE tiered_storage.tier t SET rank = t.rank + 1
		WHERE t.rank >= new_rank
			AND EXISTS (SELECT FROM tiered_storage.tier o
				WHERE o.rank = new_rank AND o.tier_name <> tier_make_rank.name);
	RETURN new_rank;
END
$$;
COMMENT ON FUNCTION tiered_storage.tier_make_rank(name, float8, boolean) IS
'internal: the rank at which a new tier of this speed belongs; slower tiers are shifted by one';

CREATE FUNCTION tiered_storage.discover_tiers(
	OUT tier_name name, OUT tablespace_name name, OUT device text,
	OUT kind text, OUT action text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
#variable_conflict use_column
DECLARE
	d record;
	p record;
	has_sata boolean;
	is_new boolean;
BEGIN
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_tablespaces();

	has_sata := EXISTS (SELECT FROM tiered_storage.tablespace_devices() x
		WHERE x.kind = 'sata_ssd' AND NOT x.compressed);

	FOR d IN
		SELECT x.*, r.tier_name AS known_tier, c.tier_name AS claimed_tier
		FROM tiered_storage.tablespace_devices() x
		LEFT JOIN tiered_storage.tier_tablespaces r ON r.tablespace_oid = x.tablespace_oid
		LEFT JOIN LATERAL (
			SELECT k.tier_name FROM tiered_storage.tablespace_claims() k
			WHERE k.tablespace_oid = x.tablespace_oid
				AND k.database_oid <> (SELECT b.oid FROM pg_catalog.pg_database b
					WHERE b.datname = pg_catalog.current_database())
			LIMIT 1) c ON true
		ORDER BY x.tablespace_oid
	LOOP
		tablespace_name := d.tablespace_name;
		device := d.device;
		kind := d.kind;

		IF d.known_tier IS NOT NULL THEN
			tier_name := d.known_tier;
			action := 'known';
			RETURN NEXT;
			CONTINUE;
		END IF;
		IF NOT d.path_exists THEN
			tier_name := NULL;
			action := pg_catalog.format('skipped: directory "%s" cannot be read', d.path);
			RETURN NEXT;
			CONTINUE;
		END IF;

		/* What another database of the cluster calls it, else by the device. */
		tier_name := COALESCE(d.claimed_tier,
			CASE
				WHEN d.compressed THEN 'compressed'
				WHEN d.kind = 'hdd' THEN 'hdd'
				WHEN d.kind = 'sata_ssd' THEN 'ssd'
				WHEN d.kind = 'nvme' AND has_sata THEN 'nvme'
				WHEN d.kind = 'nvme' THEN 'ssd'
				WHEN d.kind = 'memory' THEN 'memory'
				ELSE 'unknown'
			END);

		is_new := NOT EXISTS (SELECT FROM tiered_storage.tier t
			WHERE t.tier_name = discover_tiers.tier_name);
		IF is_new THEN
			/* A device of unknown kind is taken for a decent one until somebody says. */
			SELECT * INTO STRICT p FROM tiered_storage.device_profiles() q
				WHERE q.profile = COALESCE(d.profile, CASE WHEN d.is_virtual THEN 'cloud_gp3' ELSE 'sata_ssd' END);
			INSERT INTO tiered_storage.tier
				VALUES (discover_tiers.tier_name,
					tiered_storage.tier_make_rank(discover_tiers.tier_name, p.random_read_ms, COALESCE(d.compressed, false)),
					p.profile, p.random_read_ms, p.random_write_ms,
					p.sequential_read_mb_per_s, p.sequential_write_mb_per_s,
					p.fsync_ms, p.parallelism, p.price_per_gb_month, true,
					NULL, 0.15, 0.80, 0.90, NULL, NULL, COALESCE(d.compressed, false), NULL, true);
		END IF;
		INSERT INTO tiered_storage.tier_tablespace
			SELECT d.tablespace_name, d.tablespace_oid, c.system_identifier, discover_tiers.tier_name,
				(SELECT t.discovered FROM tiered_storage.tier t
					WHERE t.tier_name = discover_tiers.tier_name)
			FROM pg_catalog.pg_control_system() c;
		action := CASE WHEN is_new THEN 'tier created' ELSE 'added to tier' END
			|| CASE WHEN d.is_virtual
				THEN '; virtual disk: what is beneath cannot be known, set its profile with alter_tier()'
				ELSE '' END;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tiered_storage.discover_tiers() IS
'puts each tablespace that belongs to no tier yet into one by the device beneath it, creating the tier where needed; returns what it found and did';
