---------------------------------------------------------------------------
-- Changes of device profiles and prices.
---------------------------------------------------------------------------

/* An error if a device cannot have these figures, or nobody asks these prices. */
CREATE FUNCTION _tiered_storage.profile_check(p _tiered_storage.device_profile) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	bad text;
	missing text;
BEGIN
	/* The name is the key of an index, and all three are shown in tables; before they are
	 * part of a message. */
	SELECT format('It has %s bytes, and may have %s.', octet_length(v.value), v.most), v.property
		INTO bad, missing
	FROM (VALUES
		('profile', p.profile, 63), ('provider', p.provider, 63),
		('price_source', p.price_source, 1024)) v (property, value, most)
	WHERE octet_length(v.value) > v.most
	LIMIT 1;
	IF bad IS NOT NULL THEN
		RAISE EXCEPTION '% is too long', missing
			USING ERRCODE = 'invalid_parameter_value', DETAIL = bad;
	END IF;
	SELECT format('%s is %s, and must be between %s and %s.', v.property, left(v.value::text, 40),
		l.lowest, l.highest) INTO bad
	FROM (VALUES
		('random_read_ms', 'random_read_ms', p.random_read_ms::numeric),
		('random_write_ms', 'random_write_ms', p.random_write_ms::numeric),
		('sequential_read_mb_per_s', 'sequential_read_mb_per_s',
			p.sequential_read_mb_per_s::numeric),
		('sequential_write_mb_per_s', 'sequential_write_mb_per_s',
			p.sequential_write_mb_per_s::numeric),
		('fsync_ms', 'fsync_ms', p.fsync_ms::numeric),
		('parallelism', 'parallelism', p.parallelism::numeric),
		('scan_start_ms', 'scan_start_ms', p.scan_start_ms::numeric),
		('endurance_dwpd', 'endurance_dwpd', p.endurance_dwpd::numeric),
		('price_per_gb_month', 'price_per_gb_month', p.price_per_gb_month))
		v (property, limited_as, value)
	JOIN _tiered_storage.tier_limits() l ON l.property = v.limited_as
	WHERE NOT _tiered_storage.tier_value_fits(v.limited_as, v.value)
	LIMIT 1;
	IF bad IS NULL AND NOT isfinite(p.prices_as_of) THEN
		bad := 'prices_as_of is no day.';
	END IF;
	/* A contract may begin later; a year that nobody lives in is a slip of the keyboard. */
	IF bad IS NULL AND p.prices_as_of NOT BETWEEN '1970-01-01' AND '2199-12-31' THEN
		bad := format('prices_as_of is %s, and must be between %s and %s.', p.prices_as_of,
			date '1970-01-01', date '2199-12-31');
	END IF;
	IF bad IS NOT NULL THEN
		RAISE EXCEPTION 'invalid device profile "%"', p.profile
			USING ERRCODE = 'invalid_parameter_value', DETAIL = bad;
	END IF;
	SELECT string_agg(v.property, ', ') INTO missing
	FROM (VALUES
		('random_read_ms', p.random_read_ms), ('random_write_ms', p.random_write_ms),
		('sequential_read_mb_per_s', p.sequential_read_mb_per_s),
		('sequential_write_mb_per_s', p.sequential_write_mb_per_s),
		('fsync_ms', p.fsync_ms), ('parallelism', p.parallelism),
		('price_per_gb_month', p.price_per_gb_month::float8)) v (property, value)
	WHERE v.value IS NULL
		AND NOT EXISTS (SELECT FROM _tiered_storage.default_profiles() d
			WHERE d.profile = p.profile);
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION 'device profile "%" is new, and not all of its figures are given',
			p.profile
			USING ERRCODE = 'null_value_not_allowed', DETAIL = format('Missing: %s.', missing),
				HINT = 'SELECT * FROM tiered_storage.device_profiles() shows those of others.';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.profile_check(_tiered_storage.device_profile) IS
'raises an error for figures and prices that a device profile cannot have';

/* Tiers have copies of the figures, which may have been measured; an assumed price follows. */
CREATE FUNCTION _tiered_storage.profile_prices_changed(profile text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	UPDATE _tiered_storage.tier t SET price_per_gb_month = d.price_per_gb_month
		FROM tiered_storage.device_profiles() d
		WHERE d.profile = profile_prices_changed.profile AND t.profile = d.profile
			AND t.price_is_assumed AND t.price_per_gb_month <> d.price_per_gb_month
$$;
COMMENT ON FUNCTION _tiered_storage.profile_prices_changed(text) IS
'gives tiers without a price of their own the price of their profile';

CREATE FUNCTION tiered_storage.set_device_profile(
	profile text,
	price_per_gb_month numeric DEFAULT NULL,
	prices_as_of date DEFAULT NULL,
	price_source text DEFAULT NULL,
	provider text DEFAULT NULL,
	random_read_ms float8 DEFAULT NULL,
	random_write_ms float8 DEFAULT NULL,
	sequential_read_mb_per_s float8 DEFAULT NULL,
	sequential_write_mb_per_s float8 DEFAULT NULL,
	fsync_ms float8 DEFAULT NULL,
	parallelism float8 DEFAULT NULL,
	scan_start_ms float8 DEFAULT NULL,
	endurance_dwpd float8 DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
DECLARE
	p _tiered_storage.device_profile;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.set_device_profile()');
	IF COALESCE(profile, '') = '' THEN
		RAISE EXCEPTION 'profile must not be null or empty'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	SELECT d.* INTO p FROM _tiered_storage.device_profile d
		WHERE d.profile = set_device_profile.profile;
	p.profile := profile;
	p.price_per_gb_month := COALESCE(price_per_gb_month, p.price_per_gb_month);
	p.provider := COALESCE(provider, p.provider);
	p.random_read_ms := COALESCE(random_read_ms, p.random_read_ms);
	p.random_write_ms := COALESCE(random_write_ms, p.random_write_ms);
	p.sequential_read_mb_per_s := COALESCE(sequential_read_mb_per_s, p.sequential_read_mb_per_s);
	p.sequential_write_mb_per_s := COALESCE(sequential_write_mb_per_s,
		p.sequential_write_mb_per_s);
	p.fsync_ms := COALESCE(fsync_ms, p.fsync_ms);
	p.parallelism := COALESCE(parallelism, p.parallelism);
	p.scan_start_ms := COALESCE(scan_start_ms, p.scan_start_ms);
	p.endurance_dwpd := COALESCE(endurance_dwpd, p.endurance_dwpd);
	/* Another price is another list. */
	p.prices_as_of := COALESCE(prices_as_of, CASE WHEN price_per_gb_month IS NULL
		THEN p.prices_as_of ELSE current_date END);
	p.price_source := COALESCE(price_source, CASE WHEN price_per_gb_month IS NULL
		THEN p.price_source ELSE 'set_device_profile()' END);
	PERFORM _tiered_storage.profile_check(p);
	DELETE FROM _tiered_storage.device_profile d WHERE d.profile = set_device_profile.profile;
	INSERT INTO _tiered_storage.device_profile SELECT p.*;
	PERFORM _tiered_storage.profile_prices_changed(profile);
END
$$;
COMMENT ON FUNCTION tiered_storage.set_device_profile(
	text, numeric, date, text, text, float8, float8, float8, float8, float8, float8, float8,
	float8) IS
'changes figures and prices of a device profile, or adds one; null arguments leave theirs '
'unchanged; tiers whose price is that of the profile get the new one';

CREATE FUNCTION tiered_storage.reset_device_profile(profile text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
DECLARE
	users text;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.reset_device_profile()');
	IF profile IS NULL THEN
		RAISE EXCEPTION 'profile must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	IF NOT EXISTS (SELECT FROM tiered_storage.device_profiles() d
		WHERE d.profile = reset_device_profile.profile) THEN
		RAISE EXCEPTION 'device profile "%" does not exist', profile
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT profile FROM tiered_storage.device_profiles() lists the profiles.';
	END IF;
	SELECT string_agg(quote_ident(t.tier_name), ', ' ORDER BY t.tier_name) INTO users
		FROM _tiered_storage.tier t WHERE t.profile = reset_device_profile.profile
			AND NOT EXISTS (SELECT FROM _tiered_storage.default_profiles() d
				WHERE d.profile = reset_device_profile.profile);
	IF users IS NOT NULL THEN
		RAISE EXCEPTION 'device profile "%" is used by a tier', profile
			USING ERRCODE = 'dependent_objects_still_exist', DETAIL = format('Tiers: %s.', users),
				HINT = 'Give them another one with tiered_storage.alter_tier(profile => ...).';
	END IF;
	DELETE FROM _tiered_storage.device_profile d WHERE d.profile = reset_device_profile.profile;
	PERFORM _tiered_storage.profile_prices_changed(profile);
END
$$;
COMMENT ON FUNCTION tiered_storage.reset_device_profile(text) IS
'gives a device profile back the figures and prices that come with the extension; one that was '
'added is removed';
