---------------------------------------------------------------------------
-- Device profiles: how fast kinds of devices and volumes are, and what they cost.
---------------------------------------------------------------------------

/*
 * What a person has changed of a profile, or added.  Null is what default_profiles() says, so
 * that an update of the extension brings newer figures and keeps what was given.
 */
CREATE TABLE _tiered_storage.device_profile
(
	profile text NOT NULL PRIMARY KEY CHECK (profile OPERATOR(pg_catalog.<>) ''),
	random_read_ms float8,
	random_write_ms float8,
	sequential_read_mb_per_s float8,
	sequential_write_mb_per_s float8,
	fsync_ms float8,
	parallelism float8,
	price_per_gb_month numeric,
	endurance_dwpd float8,
	scan_start_ms float8,
	provider text,
	figures_for_gb float8,
	least_gb float8,
	most_gb float8,
	included_iops float8,
	iops_per_gb float8,
	most_iops float8,
	price_per_iops_month numeric,
	included_mb_per_s float8,
	mb_per_s_per_gb float8,
	most_mb_per_s float8,
	price_per_mb_per_s_month numeric,
	prices_as_of date,
	price_source text
);
COMMENT ON TABLE _tiered_storage.device_profile IS
'what set_device_profile() was told of profiles; null: as default_profiles() has it';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.device_profile', '');

/*
 * Priors from published measurements, until calibration or the user replaces them.  The
 * time of a random operation is its latency; parallelism is how many operations the device
 * serves at the same time.  Prices of
 * one's own hardware only give the curves a shape until the user sets real ones; those of
 * volumes are what their providers list, and change.
 *
 * The start of a scan (256 kB, see scan_start_ms of a tier) is longer than a random read
 * where requests are limited, not positions:
 *
 * cloud_gp3: 3,000 requests a second, 125 MiB/s.  Read-ahead that has grown asks for 128 kB
 * at a time, which is that rate with one request under way.  Until then its requests are
 * small: on an emulated volume of the same shape it took 4.7 times a random read.
 *
 * cloud_st1: 40 MiB/s for each TiB, from which each request takes 1 MiB if it is not merged with
 * one beside it, and what is smaller than 32 KiB never is (AWS, "Why isn't my SC1 or ST1
 * EBS volume achieving the rated throughput performance?").  So a random read or write is
 * 1 MiB at that rate, and a scan two of them, its first 16 kB and the rest, less its bytes.
 *
 * Where performance comes with the size, the figures are those of a volume of figures_for_gb, and
 * each GB brings iops_per_gb and mb_per_s_per_gb up to most_*.  Where it is sold, included_* are in
 * the price of the GB, and what the figures have beyond it is paid.  Latencies of volumes are
 * assumptions: providers promise less than a millisecond, or nothing.
 *
 * is_typical: one of its kind, with which a measured device is compared.
 */
CREATE FUNCTION _tiered_storage.default_profiles(
	OUT profile text, OUT is_typical boolean,
	OUT random_read_ms float8,
	OUT random_write_ms float8,
	OUT sequential_read_mb_per_s float8,
	OUT sequential_write_mb_per_s float8,
	OUT fsync_ms float8,
	OUT parallelism float8,
	OUT price_per_gb_month numeric,
	OUT endurance_dwpd float8,
	OUT scan_start_ms float8,
	OUT provider text,
	OUT figures_for_gb float8,
	OUT least_gb float8,
	OUT most_gb float8,
	OUT included_iops float8,
	OUT iops_per_gb float8,
	OUT most_iops float8,
	OUT price_per_iops_month numeric,
	OUT included_mb_per_s float8,
	OUT mb_per_s_per_gb float8,
	OUT most_mb_per_s float8,
	OUT price_per_mb_per_s_month numeric,
	OUT prices_as_of date,
	OUT price_source text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	VALUES
		('memory'::text, true, 0.001::float8, 0.001::float8, 8000::float8, 8000::float8,
			0.001::float8, 8::float8, 2.0::numeric, NULL::float8, NULL::float8, NULL::text,
			NULL::float8, NULL::float8, NULL::float8, NULL::float8, NULL::float8, NULL::float8,
			NULL::numeric, NULL::float8, NULL::float8, NULL::float8, NULL::numeric, NULL::date,
			'assumed: no list price'::text),
		('nvme', true, 0.09, 0.16, 6500, 3500, 0.1, 32, 0.10, 1.3, NULL, 'local', NULL, NULL,
			NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'assumed: no list price'),
		('sata_ssd', true, 0.15, 0.33, 530, 500, 0.5, 10, 0.08, 1.0, NULL, 'local', NULL, NULL,
			NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'assumed: no list price'),
		('cloud_gp3', true, 1.0, 1.0, 131, 131, 2.0, 3, 0.08, NULL, 4.7, 'aws', NULL, 1, 16384,
			3000, NULL, 16000, 0.005, 131, NULL, 1049, 0.0381, '2025-06-01',
			'AWS, EBS pricing, us-east-1'),
		('cloud_st1', true, 26, 26, 40, 40, 10, 1, 0.045, NULL, 46, 'aws', 1100, 125, 16384,
			NULL, 0.035, 500, NULL, NULL, 0.0364, 524, NULL, '2025-06-01',
			'AWS, EBS pricing, us-east-1'),
		('hdd_15k', true, 4.9, 5.0, 200, 200, 5.0, 1, 0.05, NULL, NULL, 'local', NULL, NULL,
			NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'assumed: no list price'),
		('hdd_7200', true, 12.4, 10.0, 150, 150, 8.0, 1, 0.025, NULL, NULL, 'local', NULL, NULL,
			NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'assumed: no list price'),
		('cloud_io2', false, 0.5, 0.5, 750, 750, 1.0, 1.5, 0.125, NULL, NULL, 'aws', NULL, 4,
			65536, 0, NULL, 32000, 0.065, NULL, NULL, NULL, NULL, '2025-06-01',
			'AWS, EBS pricing, us-east-1, first 32,000 IOPS'),
		('cloud_sc1', false, 83, 83, 12.6, 12.6, 20, 1, 0.015, NULL, 145, 'aws', 1100, 125,
			16384, NULL, 0.011, 250, NULL, NULL, 0.01145, 201, NULL, '2025-06-01',
			'AWS, EBS pricing, us-east-1'),
		('cloud_pd_ssd', false, 0.7, 0.7, 480, 480, 1.5, 14.7, 0.17, NULL, NULL, 'google', 500,
			10, 65536, NULL, 30, 100000, NULL, NULL, 0.48, 1200, NULL, '2025-06-01',
			'Google Cloud, disk pricing, us-central1'),
		('cloud_pd_balanced', false, 1.0, 1.0, 280, 280, 2.0, 6, 0.10, NULL, NULL, 'google', 500,
			10, 65536, NULL, 6, 80000, NULL, NULL, 0.28, 1200, NULL, '2025-06-01',
			'Google Cloud, disk pricing, us-central1'),
		('cloud_pd_standard', false, 10, 5, 60, 60, 10, 3.75, 0.04, NULL, NULL, 'google', 500,
			10, 65536, NULL, 0.75, 7500, NULL, NULL, 0.12, 400, NULL, '2025-06-01',
			'Google Cloud, disk pricing, us-central1'),
		('cloud_hyperdisk', false, 0.7, 0.7, 140, 140, 1.5, 2.1, 0.08, NULL, NULL, 'google',
			NULL, 4, 65536, 3000, NULL, 160000, 0.005, 140, NULL, 2400, 0.04, '2025-06-01',
			'Google Cloud, Hyperdisk Balanced pricing, us-central1'),
		('cloud_local_ssd', false, 0.1, 0.19, 660, 350, 0.2, 17, 0.08, NULL, NULL, 'google',
			NULL, 375, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-06-01',
			'Google Cloud, Local SSD pricing, us-central1; its data is gone when the machine stops'),
		('cloud_premium_v2', false, 0.8, 0.8, 125, 125, 1.5, 2.4, 0.081, NULL, NULL, 'azure',
			NULL, 1, 65536, 3000, NULL, 80000, 0.0052, 125, NULL, 1200, 0.041, '2025-06-01',
			'Azure, managed disks, Premium SSD v2, East US'),
		('cloud_premium_ssd', false, 2.0, 2.0, 200, 200, 3.0, 10, 0.132, NULL, NULL, 'azure',
			1024, 4, 32767, NULL, 4.9, 20000, NULL, NULL, 0.2, 900, NULL, '2025-06-01',
			'Azure, managed disks, Premium SSD (P30), East US'),
		('cloud_standard_ssd', false, 5, 5, 100, 100, 6.0, 2.5, 0.075, NULL, NULL, 'azure', NULL,
			4, 32767, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-06-01',
			'Azure, managed disks, Standard SSD (E30), East US; without its price per operation'),
		('cloud_standard_hdd', false, 10, 10, 60, 60, 12, 5, 0.04, NULL, NULL, 'azure', NULL, 32,
			32767, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-06-01',
			'Azure, managed disks, Standard HDD (S30), East US; without its price per operation')
$$;
COMMENT ON FUNCTION _tiered_storage.default_profiles() IS
'the profiles that come with the extension';

CREATE FUNCTION tiered_storage.device_profiles(
	OUT profile text,
	OUT random_read_ms float8,
	OUT random_write_ms float8,
	OUT sequential_read_mb_per_s float8,
	OUT sequential_write_mb_per_s float8,
	OUT fsync_ms float8,
	OUT parallelism float8,
	OUT price_per_gb_month numeric,
	OUT endurance_dwpd float8,
	OUT scan_start_ms float8,
	OUT provider text,
	OUT figures_for_gb float8,
	OUT least_gb float8,
	OUT most_gb float8,
	OUT included_iops float8,
	OUT iops_per_gb float8,
	OUT most_iops float8,
	OUT price_per_iops_month numeric,
	OUT included_mb_per_s float8,
	OUT mb_per_s_per_gb float8,
	OUT most_mb_per_s float8,
	OUT price_per_mb_per_s_month numeric,
	OUT prices_as_of date,
	OUT price_source text,
	OUT is_edited boolean)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT COALESCE(d.profile, e.profile),
		COALESCE(e.random_read_ms, d.random_read_ms),
		COALESCE(e.random_write_ms, d.random_write_ms),
		COALESCE(e.sequential_read_mb_per_s, d.sequential_read_mb_per_s),
		COALESCE(e.sequential_write_mb_per_s, d.sequential_write_mb_per_s),
		COALESCE(e.fsync_ms, d.fsync_ms),
		COALESCE(e.parallelism, d.parallelism),
		COALESCE(e.price_per_gb_month, d.price_per_gb_month),
		COALESCE(e.endurance_dwpd, d.endurance_dwpd),
		COALESCE(e.scan_start_ms, d.scan_start_ms),
		COALESCE(e.provider, d.provider),
		COALESCE(e.figures_for_gb, d.figures_for_gb),
		COALESCE(e.least_gb, d.least_gb),
		COALESCE(e.most_gb, d.most_gb),
		COALESCE(e.included_iops, d.included_iops),
		COALESCE(e.iops_per_gb, d.iops_per_gb),
		COALESCE(e.most_iops, d.most_iops),
		COALESCE(e.price_per_iops_month, d.price_per_iops_month),
		COALESCE(e.included_mb_per_s, d.included_mb_per_s),
		COALESCE(e.mb_per_s_per_gb, d.mb_per_s_per_gb),
		COALESCE(e.most_mb_per_s, d.most_mb_per_s),
		COALESCE(e.price_per_mb_per_s_month, d.price_per_mb_per_s_month),
		COALESCE(e.prices_as_of, d.prices_as_of),
		COALESCE(e.price_source, d.price_source),
		e.profile IS NOT NULL
	FROM _tiered_storage.default_profiles() WITH ORDINALITY d
	FULL JOIN _tiered_storage.device_profile e ON e.profile = d.profile
	ORDER BY d.ordinality, e.profile
$$;
COMMENT ON FUNCTION tiered_storage.device_profiles() IS
'the device profiles that add_tier() accepts, with the figures that are assumed until they are '
'given or measured, and the price list that set_device_profile() changes';

/* An error if a device cannot have these figures, or nobody asks these prices. */
CREATE FUNCTION _tiered_storage.profile_check(p _tiered_storage.device_profile) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	bad text;
	missing text;
BEGIN
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
		-- These may be 0, like the price of a GB.
		('price_per_gb_month', 'price_per_gb_month', p.price_per_gb_month),
		('price_per_iops_month', 'price_per_gb_month', p.price_per_iops_month),
		('price_per_mb_per_s_month', 'price_per_gb_month', p.price_per_mb_per_s_month),
		('included_iops', 'price_per_gb_month', p.included_iops::numeric),
		('iops_per_gb', 'price_per_gb_month', p.iops_per_gb::numeric),
		('most_iops', 'price_per_gb_month', p.most_iops::numeric),
		('included_mb_per_s', 'price_per_gb_month', p.included_mb_per_s::numeric),
		('mb_per_s_per_gb', 'price_per_gb_month', p.mb_per_s_per_gb::numeric),
		('most_mb_per_s', 'price_per_gb_month', p.most_mb_per_s::numeric),
		('figures_for_gb', 'price_per_gb_month', p.figures_for_gb::numeric),
		('least_gb', 'price_per_gb_month', p.least_gb::numeric),
		('most_gb', 'price_per_gb_month', p.most_gb::numeric)) v (property, limited_as, value)
	JOIN _tiered_storage.tier_limits() l ON l.property = v.limited_as
	WHERE NOT _tiered_storage.tier_value_fits(v.limited_as, v.value)
	LIMIT 1;
	IF bad IS NULL AND NOT isfinite(p.prices_as_of) THEN
		bad := 'prices_as_of is no day.';
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
		RAISE EXCEPTION 'device profile "%" is new, and not all of its figures are given', p.profile
			USING ERRCODE = 'null_value_not_allowed', DETAIL = format('Missing: %s.', missing),
				HINT = 'SELECT * FROM tiered_storage.device_profiles() shows those of others.';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.profile_check(_tiered_storage.device_profile) IS
'raises an error for figures and prices that a device profile cannot have';

/* Tiers have copies of the figures, which may have been measured; an assumed price follows. */
CREATE FUNCTION _tiered_storage.profile_prices_changed(profile text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
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
	price_per_iops_month numeric DEFAULT NULL,
	price_per_mb_per_s_month numeric DEFAULT NULL,
	included_iops float8 DEFAULT NULL,
	most_iops float8 DEFAULT NULL,
	included_mb_per_s float8 DEFAULT NULL,
	most_mb_per_s float8 DEFAULT NULL,
	iops_per_gb float8 DEFAULT NULL,
	mb_per_s_per_gb float8 DEFAULT NULL,
	figures_for_gb float8 DEFAULT NULL,
	least_gb float8 DEFAULT NULL,
	most_gb float8 DEFAULT NULL,
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
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	p _tiered_storage.device_profile;
	has_price boolean := num_nonnulls(price_per_gb_month, price_per_iops_month,
		price_per_mb_per_s_month) > 0;
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
	p.price_per_iops_month := COALESCE(price_per_iops_month, p.price_per_iops_month);
	p.price_per_mb_per_s_month := COALESCE(price_per_mb_per_s_month, p.price_per_mb_per_s_month);
	p.included_iops := COALESCE(included_iops, p.included_iops);
	p.most_iops := COALESCE(most_iops, p.most_iops);
	p.included_mb_per_s := COALESCE(included_mb_per_s, p.included_mb_per_s);
	p.most_mb_per_s := COALESCE(most_mb_per_s, p.most_mb_per_s);
	p.iops_per_gb := COALESCE(iops_per_gb, p.iops_per_gb);
	p.mb_per_s_per_gb := COALESCE(mb_per_s_per_gb, p.mb_per_s_per_gb);
	p.figures_for_gb := COALESCE(figures_for_gb, p.figures_for_gb);
	p.least_gb := COALESCE(least_gb, p.least_gb);
	p.most_gb := COALESCE(most_gb, p.most_gb);
	p.provider := COALESCE(provider, p.provider);
	p.random_read_ms := COALESCE(random_read_ms, p.random_read_ms);
	p.random_write_ms := COALESCE(random_write_ms, p.random_write_ms);
	p.sequential_read_mb_per_s := COALESCE(sequential_read_mb_per_s, p.sequential_read_mb_per_s);
	p.sequential_write_mb_per_s := COALESCE(sequential_write_mb_per_s, p.sequential_write_mb_per_s);
	p.fsync_ms := COALESCE(fsync_ms, p.fsync_ms);
	p.parallelism := COALESCE(parallelism, p.parallelism);
	p.scan_start_ms := COALESCE(scan_start_ms, p.scan_start_ms);
	p.endurance_dwpd := COALESCE(endurance_dwpd, p.endurance_dwpd);
	/* Another price is another list. */
	p.prices_as_of := COALESCE(prices_as_of, CASE WHEN has_price THEN current_date
		ELSE p.prices_as_of END);
	p.price_source := COALESCE(price_source, CASE WHEN has_price THEN 'set_device_profile()'
		ELSE p.price_source END);
	PERFORM _tiered_storage.profile_check(p);
	DELETE FROM _tiered_storage.device_profile d WHERE d.profile = set_device_profile.profile;
	INSERT INTO _tiered_storage.device_profile SELECT p.*;
	PERFORM _tiered_storage.profile_prices_changed(profile);
END
$$;
COMMENT ON FUNCTION tiered_storage.set_device_profile(
	text, numeric, numeric, numeric, float8, float8, float8, float8, float8, float8, float8,
	float8, float8, date, text, text, float8, float8, float8, float8, float8, float8,
	float8, float8) IS
'changes figures and prices of a device profile, or adds one; null arguments leave theirs '
'unchanged; tiers whose price is that of the profile get the new one';

CREATE FUNCTION tiered_storage.reset_device_profile(profile text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	users text;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.reset_device_profile()');
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
