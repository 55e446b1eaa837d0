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
 * Where performance comes with the size, the figures are those of a volume of figures_for_gb,
 * and each GB brings iops_per_gb and mb_per_s_per_gb up to most_*.  Where it is sold, included_*
 * are in the price of the GB, and what the figures have beyond it is paid.  Latencies of volumes
 * are assumptions: providers promise less than a millisecond, or nothing.
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
			'Google Cloud, Local SSD pricing, us-central1; not kept when the machine stops'),
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
