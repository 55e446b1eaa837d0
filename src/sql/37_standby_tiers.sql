---------------------------------------------------------------------------
-- The devices of standbys.
---------------------------------------------------------------------------

/*
 * A figure that is null is that of the primary's tier.  A parallel restore may load it before the
 * standby, so that this is no foreign key.
 */
CREATE TABLE _tiered_storage.standby_tier
(
	standby_name name NOT NULL,
	tier_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE ON DELETE CASCADE,
	profile text,
	random_read_ms float8
		CHECK (_tiered_storage.tier_value_fits('random_read_ms',
			random_read_ms::pg_catalog.numeric)),
	random_write_ms float8
		CHECK (_tiered_storage.tier_value_fits('random_write_ms',
			random_write_ms::pg_catalog.numeric)),
	sequential_read_mb_per_s float8
		CHECK (_tiered_storage.tier_value_fits('sequential_read_mb_per_s',
			sequential_read_mb_per_s::pg_catalog.numeric)),
	sequential_write_mb_per_s float8
		CHECK (_tiered_storage.tier_value_fits('sequential_write_mb_per_s',
			sequential_write_mb_per_s::pg_catalog.numeric)),
	parallelism float8
		CHECK (_tiered_storage.tier_value_fits('parallelism', parallelism::pg_catalog.numeric)),
	capacity_bytes bigint
		CHECK (_tiered_storage.tier_value_fits('capacity_bytes',
			capacity_bytes::pg_catalog.numeric)),
	PRIMARY KEY (standby_name, tier_name)
);
COMMENT ON TABLE _tiered_storage.standby_tier IS
'the devices of standbys; use set_standby_tier() and the view tiered_storage.standby_tiers';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.standby_tier', '');
CREATE TRIGGER standby_tier_restore_in_turn BEFORE INSERT ON _tiered_storage.standby_tier
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.restore_in_turn();
CREATE TRIGGER standby_tier_expect_tiers BEFORE INSERT ON _tiered_storage.standby_tier
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.expect_tiers('tier_name');

CREATE FUNCTION _tiered_storage.standby_after_delete() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	DELETE FROM _tiered_storage.standby_tier t WHERE t.standby_name = OLD.standby_name;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_after_delete() IS
'trigger: what was told of the devices of a standby goes with it';
CREATE TRIGGER standby_after_delete AFTER DELETE ON _tiered_storage.standby
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.standby_after_delete();

CREATE VIEW tiered_storage.standby_tiers AS
	SELECT s.standby_name, s.tier_name, s.profile, s.random_read_ms, s.random_write_ms,
		s.sequential_read_mb_per_s, s.sequential_write_mb_per_s, s.parallelism, s.capacity_bytes
	FROM _tiered_storage.standby_tier s;
COMMENT ON VIEW tiered_storage.standby_tiers IS
'what was told of the devices that tiers have on standbys';
COMMENT ON COLUMN tiered_storage.standby_tiers.standby_name IS 'name given to add_standby()';
COMMENT ON COLUMN tiered_storage.standby_tiers.tier_name IS 'the tier';
COMMENT ON COLUMN tiered_storage.standby_tiers.profile IS
'device profile of the tier on the standby; null: none was told';
COMMENT ON COLUMN tiered_storage.standby_tiers.random_read_ms IS
'time of one random read of 8 kB; null: as on the primary';
COMMENT ON COLUMN tiered_storage.standby_tiers.random_write_ms IS
'time of one random write of 8 kB; null: as on the primary';
COMMENT ON COLUMN tiered_storage.standby_tiers.sequential_read_mb_per_s IS
'10^6 bytes per second; null: as on the primary';
COMMENT ON COLUMN tiered_storage.standby_tiers.sequential_write_mb_per_s IS
'10^6 bytes per second; null: as on the primary';
COMMENT ON COLUMN tiered_storage.standby_tiers.parallelism IS
'requests that are served at once; null: as on the primary';
COMMENT ON COLUMN tiered_storage.standby_tiers.capacity_bytes IS
'what the tier can hold there; null: no less than on the primary';

CREATE FUNCTION _tiered_storage.standby_require(name name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF name IS NULL THEN
		RAISE EXCEPTION 'the name of a standby must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	ELSIF NOT EXISTS (SELECT FROM _tiered_storage.standby s
			WHERE s.standby_name = standby_require.name) THEN
		RAISE EXCEPTION 'standby "%" does not exist', name
			USING ERRCODE = 'undefined_object',
				HINT = 'A superuser can add it with tiered_storage.add_standby().';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_require(name) IS
'raises an error if there is no standby of that name';

/* A tier of which somebody knows that much is one that somebody has defined. */
CREATE FUNCTION tiered_storage.set_standby_tier(
	standby name,
	tier name,
	profile text DEFAULT NULL,
	random_read_ms float8 DEFAULT NULL,
	random_write_ms float8 DEFAULT NULL,
	sequential_read_mb_per_s float8 DEFAULT NULL,
	sequential_write_mb_per_s float8 DEFAULT NULL,
	parallelism float8 DEFAULT NULL,
	capacity_bytes bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	t _tiered_storage.tier;
	p record;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.set_standby_tier()');
	/* Who removes it is waited for: nothing may be told of one that has gone. */
	PERFORM FROM _tiered_storage.standby s WHERE s.standby_name = standby FOR KEY SHARE;
	PERFORM _tiered_storage.standby_require(standby);
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	t := _tiered_storage.tier_require(tier);
	IF set_standby_tier.profile IS NOT NULL THEN
		t := _tiered_storage.tier_with_profile(t, set_standby_tier.profile);
	END IF;
	SELECT d.* INTO p FROM tiered_storage.device_profiles() d
		WHERE d.profile = set_standby_tier.profile;
	t.random_read_ms := COALESCE(set_standby_tier.random_read_ms, t.random_read_ms);
	t.random_write_ms := COALESCE(set_standby_tier.random_write_ms, t.random_write_ms);
	t.sequential_read_mb_per_s := COALESCE(set_standby_tier.sequential_read_mb_per_s,
		t.sequential_read_mb_per_s);
	t.sequential_write_mb_per_s := COALESCE(set_standby_tier.sequential_write_mb_per_s,
		t.sequential_write_mb_per_s);
	t.parallelism := COALESCE(set_standby_tier.parallelism, t.parallelism);
	t.capacity_bytes := set_standby_tier.capacity_bytes;
	PERFORM _tiered_storage.tier_check_values(t);
	UPDATE _tiered_storage.tier x SET discovered = false
		WHERE x.tier_name = set_standby_tier.tier AND x.discovered;
	UPDATE _tiered_storage.tier_tablespace x SET discovered = false
		WHERE x.tier_name = set_standby_tier.tier AND x.discovered;
	INSERT INTO _tiered_storage.standby_tier (standby_name, tier_name, profile, random_read_ms,
		random_write_ms, sequential_read_mb_per_s, sequential_write_mb_per_s, parallelism,
		capacity_bytes)
		VALUES (standby, tier, set_standby_tier.profile,
			COALESCE(set_standby_tier.random_read_ms, p.random_read_ms),
			COALESCE(set_standby_tier.random_write_ms, p.random_write_ms),
			COALESCE(set_standby_tier.sequential_read_mb_per_s, p.sequential_read_mb_per_s),
			COALESCE(set_standby_tier.sequential_write_mb_per_s, p.sequential_write_mb_per_s),
			COALESCE(set_standby_tier.parallelism, p.parallelism),
			set_standby_tier.capacity_bytes)
		ON CONFLICT ON CONSTRAINT standby_tier_pkey DO UPDATE SET
			profile = EXCLUDED.profile, random_read_ms = EXCLUDED.random_read_ms,
			random_write_ms = EXCLUDED.random_write_ms,
			sequential_read_mb_per_s = EXCLUDED.sequential_read_mb_per_s,
			sequential_write_mb_per_s = EXCLUDED.sequential_write_mb_per_s,
			parallelism = EXCLUDED.parallelism, capacity_bytes = EXCLUDED.capacity_bytes;
END
$$;
COMMENT ON FUNCTION tiered_storage.set_standby_tier(
	name, name, text, float8, float8, float8, float8, float8, bigint) IS
'tells which device a tier has on a standby, so that the advice suits both servers; figures that '
'are not given come from the device profile, or else are those of the tier here; replaces what '
'was told before';

CREATE FUNCTION tiered_storage.remove_standby_tier(standby name, tier name,
	if_exists boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.remove_standby_tier()');
	DELETE FROM _tiered_storage.standby_tier s
		WHERE s.standby_name = remove_standby_tier.standby
			AND s.tier_name = remove_standby_tier.tier;
	IF NOT FOUND AND remove_standby_tier.if_exists IS NOT TRUE THEN
		RAISE EXCEPTION 'nothing was told of tier "%" on standby "%"', tier, standby
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT * FROM tiered_storage.standby_tiers shows what was.';
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_standby_tier(name, name, boolean) IS
'takes back what set_standby_tier() has told';
