---------------------------------------------------------------------------
-- Tiers that are discovered by the devices beneath the tablespaces.
---------------------------------------------------------------------------

/* What begins each change of tiers; returns the ranks, for tier_say_ranks(). */
CREATE FUNCTION _tiered_storage.tier_begin_change(what text) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable(what);
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM _tiered_storage.refresh_tablespaces();
	RETURN (SELECT jsonb_object_agg(t.tier_name, t.rank) FROM _tiered_storage.tier t);
END
$$;

/* A NOTICE with all ranks, if one has changed, or a new tier has that of another. */
CREATE FUNCTION _tiered_storage.tier_say_ranks(ranks jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	said text := (SELECT string_agg(format('"%s" is %s', t.tier_name, t.rank), ', '
			ORDER BY t.rank, t.tier_name) FROM _tiered_storage.tier t
		HAVING bool_or(t.rank <> (ranks ->> t.tier_name::text)::integer
			OR NOT ranks ? t.tier_name::text AND EXISTS (SELECT FROM _tiered_storage.tier x
				WHERE x.rank = t.rank AND x.tier_name <> t.tier_name)));
BEGIN
	IF said IS NOT NULL THEN
		RAISE NOTICE 'ranks of tiers: %', said;
	END IF;
END
$$;

/*
 * Returns the rank of a new tier of this speed, after those that are as fast; slower tiers move
 * down by one.
 */
CREATE FUNCTION _tiered_storage.tier_make_rank(name name, random_read_ms float8,
	compressed boolean) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	new_rank integer;
BEGIN
	/* If the highest rank is taken, the ranks are numbered from 0 again, in the same order. */
	IF EXISTS (SELECT FROM _tiered_storage.tier t WHERE t.rank >= 1000000) THEN
		UPDATE _tiered_storage.tier t SET rank = r.place
			FROM (SELECT x.tier_name, dense_rank() OVER (ORDER BY x.rank) - 1 AS place
				FROM _tiered_storage.tier x) r
			WHERE r.tier_name = t.tier_name;
	END IF;
	SELECT COALESCE(max(t.rank) + 1, 0) INTO new_rank
		FROM _tiered_storage.tier t
		WHERE (t.compressed, t.random_read_ms) <= (tier_make_rank.compressed,
			tier_make_rank.random_read_ms)
			AND t.tier_name <> tier_make_rank.name;
	UPDATE _tiered_storage.tier t SET rank = t.rank + 1
		WHERE t.rank >= new_rank
			AND EXISTS (SELECT FROM _tiered_storage.tier o
				WHERE o.rank = new_rank AND o.tier_name <> tier_make_rank.name);
	RETURN new_rank;
END
$$;

/*
 * Trigger: discovered tiers find their places in the order of tiers that were restored.
 *
 * A restore brings ranks, which are an order of all tiers of the database that was dumped,
 * and of those that were only discovered there it leaves out those that were not named.  Those
 * that are discovered here have ranks among themselves: they get new ones, as if they had been
 * discovered before the others.  After each statement of the restore all ranks are made anew,
 * from those that it has brought so far: which of them move down by one is known when all have
 * come.  Functions that give a tier its tablespaces have chosen its rank.
 */
CREATE FUNCTION _tiered_storage.tier_rank_discovered() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	names name[];
	speeds bigint[];	-- the lower the faster, in this order
	ranks integer[];
	found boolean[];	-- discovered here
	n integer;
	new_rank integer;
BEGIN
	IF NOT _tiered_storage.is_restore() THEN
		RETURN NULL;
	END IF;
	/* Without those that only have a row for the time being. */
	SELECT array_agg(o.tier_name ORDER BY o.speed, o.rank, o.tier_name),
			array_agg(o.speed ORDER BY o.speed, o.rank, o.tier_name),
			array_agg(COALESCE(o.restored_rank, o.rank) ORDER BY o.speed, o.rank, o.tier_name),
			array_agg(o.discovered AND o.restored_rank IS NULL
				ORDER BY o.speed, o.rank, o.tier_name), count(*)
		INTO names, speeds, ranks, found, n
		FROM (SELECT t.*, dense_rank() OVER (ORDER BY t.compressed, t.random_read_ms) AS speed
			FROM _tiered_storage.tier t WHERE t.profile <> '') o;
	FOR i IN 1 .. n LOOP
		/* One that has moved down for another is where it belongs. */
		CONTINUE WHEN NOT found[i] OR NOT EXISTS (SELECT FROM generate_series(1, n) j
			WHERE j <> i AND CASE WHEN speeds[j] < speeds[i] THEN ranks[j] >= ranks[i]
				WHEN speeds[j] > speeds[i] THEN ranks[j] <= ranks[i]
				ELSE ranks[j] = ranks[i] END);
		SELECT COALESCE(max(ranks[j]) + 1, 0) INTO new_rank FROM generate_series(1, n) j
			WHERE speeds[j] < speeds[i];
		ranks[i] := -1;
		IF new_rank = ANY (ranks) THEN
			ranks := ARRAY(SELECT CASE WHEN r.rank >= new_rank THEN r.rank + 1 ELSE r.rank END
				FROM unnest(ranks) WITH ORDINALITY r (rank, place) ORDER BY r.place);
		END IF;
		ranks[i] := new_rank;
	END LOOP;
	/* Numbered from 0 again, in the same order, if there is no room for one more. */
	IF 1000000 < ANY (ranks) THEN
		ranks := ARRAY(SELECT dense_rank() OVER (ORDER BY r.rank) - 1
			FROM unnest(ranks) WITH ORDINALITY r (rank, place) ORDER BY r.place);
	END IF;
	UPDATE _tiered_storage.tier t SET rank = r.rank FROM unnest(names, ranks) r (tier_name, rank)
		WHERE r.tier_name = t.tier_name AND r.rank <> t.rank;
	RETURN NULL;
END
$$;
CREATE TRIGGER tier_tablespace_rank_discovered AFTER INSERT ON _tiered_storage.tier_tablespace
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.tier_rank_discovered();
CREATE TRIGGER tier_rank_discovered AFTER INSERT ON _tiered_storage.tier
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.tier_rank_discovered();

/*
 * A tier with this name and the default values; its rank, profile and figures are still
 * missing.
 */
CREATE FUNCTION _tiered_storage.tier_new(name name, compressed boolean, discovered boolean)
RETURNS _tiered_storage.tier
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t _tiered_storage.tier;
BEGIN
	t.tier_name := name;
	t.price_is_assumed := true;
	t.reserve_fraction := 0.15;
	t.low_watermark := 0.80;
	t.high_watermark := 0.90;
	t.compressed := COALESCE(tier_new.compressed, false);
	t.discovered := tier_new.discovered;
	RETURN t;
END
$$;

/*
 * Creates the tier of a device that was found.
 *
 * A device of unknown kind is assumed to be a decent one until its profile is set.
 */
CREATE FUNCTION _tiered_storage.tier_insert_discovered(
	name name, profile text, is_virtual boolean, compressed boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t _tiered_storage.tier := _tiered_storage.tier_new(name, compressed, true);
BEGIN
	t := _tiered_storage.tier_with_profile(t, COALESCE(tier_insert_discovered.profile,
		CASE WHEN is_virtual THEN 'cloud_gp3' ELSE 'sata_ssd' END));
	t.rank := _tiered_storage.tier_make_rank(name, t.random_read_ms, t.compressed);
	INSERT INTO _tiered_storage.tier SELECT t.*;
END
$$;

CREATE FUNCTION tiered_storage.discover_tiers(
	OUT tier_name name, OUT tablespace_name name, OUT device text,
	OUT kind text, OUT action text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
#variable_conflict use_column
DECLARE
	d record;
	ranks jsonb := _tiered_storage.tier_begin_change('tiered_storage.discover_tiers()');
	has_sata boolean := EXISTS (SELECT FROM _tiered_storage.tablespace_devices() x
		WHERE x.kind = 'sata_ssd' AND NOT x.compressed);
BEGIN
	FOR d IN
		SELECT x.*, r.tier_name AS known_tier, c.tier_name AS claimed_tier
		FROM _tiered_storage.tablespace_devices() x
		LEFT JOIN _tiered_storage.tier_tablespaces r ON r.tablespace_oid = x.tablespace_oid
		LEFT JOIN LATERAL (
			SELECT k.tier_name FROM _tiered_storage.tablespace_claims() k
			WHERE k.tablespace_oid = x.tablespace_oid
				AND k.database_oid <> (SELECT b.oid FROM pg_catalog.pg_database b
					WHERE b.datname = pg_catalog.current_database())
			LIMIT 1) c ON true
		ORDER BY x.tablespace_oid
	LOOP
		tablespace_name := d.tablespace_name;
		device := _tiered_storage.clip(d.device, 20);
		kind := d.kind;
		IF d.known_tier IS NOT NULL THEN
			tier_name := d.known_tier;
			action := 'known';
		ELSIF NOT d.path_exists THEN
			tier_name := NULL;
			action := pg_catalog.format('skipped: directory "%s" cannot be read', d.path);
		ELSE
			/*
			 * The name that another database of the cluster uses, otherwise by the device: an NVMe
			 * tier is called ssd unless the server has SATA SSDs, too.
			 */
			tier_name := COALESCE(d.claimed_tier, CASE
				WHEN d.compressed THEN 'compressed'
				WHEN d.kind IN ('hdd', 'memory', 'remote') THEN d.kind
				WHEN d.kind = 'nvme' AND has_sata THEN 'nvme'
				WHEN d.kind IN ('nvme', 'sata_ssd') THEN 'ssd'
				ELSE 'unknown' END);
			action := 'added to tier';
			IF NOT EXISTS (SELECT FROM _tiered_storage.tier t
				WHERE t.tier_name = discover_tiers.tier_name) THEN
				PERFORM _tiered_storage.tier_insert_discovered(discover_tiers.tier_name,
					d.profile, d.is_virtual, d.compressed);
				action := 'tier created';
			END IF;
			INSERT INTO _tiered_storage.tier_tablespace
					(tablespace_name, tablespace_oid, system_identifier, tier_name, discovered)
				SELECT d.tablespace_name, d.tablespace_oid, c.system_identifier, t.tier_name,
					t.discovered
				FROM _tiered_storage.tier t, pg_catalog.pg_control_system() c
				WHERE t.tier_name = discover_tiers.tier_name;
			action := concat(action, CASE WHEN d.kind = 'remote'
				THEN '; its storage is unknown, set its profile with alter_tier()' END,
				CASE WHEN d.is_virtual THEN '; virtual disk: the device beneath is unknown, set '
					'its profile with alter_tier()' END);
		END IF;
		action := _tiered_storage.wrap(action, 28);
		RETURN NEXT;
	END LOOP;
	PERFORM _tiered_storage.tier_say_ranks(ranks);
END
$$;
COMMENT ON FUNCTION tiered_storage.discover_tiers IS
'assigns each tablespace without a tier to one by its device, creating tiers as needed; returns'
' all tablespaces and the action taken';
