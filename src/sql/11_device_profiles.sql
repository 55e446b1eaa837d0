---------------------------------------------------------------------------
-- Device profiles: how fast kinds of devices and volumes are, and what they cost.
---------------------------------------------------------------------------

/*
 * Changes of profiles by alter_device_profile(); null: as in default_profiles().
 *
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
	price_source text,
	price_per_million_reads float8
);
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.device_profile', '');

/*
 * The profiles that come with the extension.
 *
 * Priors from published measurements, until calibration or the user replaces them.  The
 * time of a random operation is its latency; parallelism is how many operations the device
 * serves at the same time.  Prices of
 * one's own hardware only give the curves a shape until the user sets real ones; those of
 * volumes are what their providers list, and change.
 *
 * cloud_st1: 40 MiB/s for each TiB, from which each request takes 1 MiB if it is not merged with
 * one beside it, and what is smaller than 32 KiB never is (AWS, "Why isn't my SC1 or ST1
 * EBS volume achieving the rated throughput performance?").  So a random read or write is
 * 1 MiB at that rate.
 *
 * Where performance depends on the size or is sold by itself, figures and price are those of
 * the volume that price_source names.  Latencies of volumes are assumptions: providers promise
 * less than a millisecond, or nothing.
 */
CREATE FUNCTION _tiered_storage.default_profiles() RETURNS SETOF _tiered_storage.device_profile
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	VALUES
		('memory'::text, 0.001::float8, 0.001::float8, 8000::float8, 8000::float8,
			0.001::float8, 8::float8, 2.0::numeric, NULL::float8, 'assumed: no list price'::text,
			NULL::float8),
		('nvme', 0.09, 0.16, 6500, 3500, 0.1, 32, 0.10, 1.3, 'assumed: no list price', NULL),
		('sata_ssd', 0.15, 0.33, 530, 500, 0.5, 10, 0.08, 1.0, 'assumed: no list price', NULL),
		('cloud_gp3', 1.0, 1.0, 131, 131, 2.0, 3, 0.08, NULL,
			'AWS, EBS pricing, us-east-1, 2025-06-01; 3,000 IOPS', NULL),
		('cloud_st1', 26, 26, 40, 40, 10, 1, 0.045, NULL,
			'AWS, EBS pricing, us-east-1, 2025-06-01; of 1.1 TB', NULL),
		('hdd_15k', 4.9, 5.0, 200, 200, 5.0, 1, 0.05, NULL, 'assumed: no list price', NULL),
		('hdd_7200', 12.4, 10.0, 150, 150, 8.0, 1, 0.025, NULL, 'assumed: no list price', NULL),
		('object_store', 30, 60, 90, 90, 60, 8, 0.023, NULL,
			'AWS, S3 pricing, us-east-1, 2025-06-01', 0.4),
		('cloud_io2', 0.5, 0.5, 750, 750, 1.0, 1.5, 0.32, NULL,
			'AWS, EBS pricing, us-east-1, 2025-06-01; of 1 TB with 3,000 IOPS', NULL),
		('cloud_sc1', 83, 83, 12.6, 12.6, 20, 1, 0.015, NULL,
			'AWS, EBS pricing, us-east-1, 2025-06-01; of 1.1 TB', NULL),
		('cloud_pd_ssd', 0.7, 0.7, 480, 480, 1.5, 14.7, 0.17, NULL,
			'Google Cloud, disk pricing, us-central1, 2025-06-01; of 500 GB', NULL),
		('cloud_pd_balanced', 1.0, 1.0, 280, 280, 2.0, 6, 0.10, NULL,
			'Google Cloud, disk pricing, us-central1, 2025-06-01; of 500 GB', NULL),
		('cloud_pd_standard', 10, 5, 60, 60, 10, 3.75, 0.04, NULL,
			'Google Cloud, disk pricing, us-central1, 2025-06-01; of 500 GB', NULL),
		('cloud_hyperdisk', 0.7, 0.7, 140, 140, 1.5, 2.1, 0.08, NULL,
			'Google Cloud, Hyperdisk Balanced pricing, us-central1, 2025-06-01; 3,000 IOPS', NULL),
		('cloud_local_ssd', 0.1, 0.19, 660, 350, 0.2, 17, 0.08, NULL,
			'Google Cloud, Local SSD pricing, us-central1, 2025-06-01; lost when it stops', NULL),
		('cloud_premium_v2', 0.8, 0.8, 125, 125, 1.5, 2.4, 0.081, NULL,
			'Azure, managed disks, Premium SSD v2, East US, 2025-06-01; 3,000 IOPS', NULL),
		('cloud_premium_ssd', 2.0, 2.0, 200, 200, 3.0, 10, 0.132, NULL,
			'Azure, managed disks, Premium SSD (P30), East US, 2025-06-01; of 1 TB', NULL),
		('cloud_standard_ssd', 5, 5, 100, 100, 6.0, 2.5, 0.075, NULL,
			'Azure, managed disks, Standard SSD (E30), East US, 2025-06-01; operations extra',
			NULL),
		('cloud_standard_hdd', 10, 10, 60, 60, 12, 5, 0.04, NULL,
			'Azure, managed disks, Standard HDD (S30), East US, 2025-06-01; operations extra',
			NULL)
$$;

CREATE FUNCTION _tiered_storage.device_profiles(
	OUT profile text,
	OUT random_read_ms float8,
	OUT random_write_ms float8,
	OUT sequential_read_mb_per_s float8,
	OUT sequential_write_mb_per_s float8,
	OUT fsync_ms float8,
	OUT parallelism float8,
	OUT price_per_gb_month numeric,
	OUT endurance_dwpd float8,
	OUT price_source text,
	OUT price_per_million_reads float8,
	OUT is_edited boolean)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.*, e.profile IS NOT NULL
	FROM _tiered_storage.default_profiles() WITH ORDINALITY d
	FULL JOIN _tiered_storage.device_profile e ON e.profile = d.profile
	CROSS JOIN LATERAL jsonb_populate_record(NULL::_tiered_storage.device_profile,
		COALESCE(to_jsonb(d), '{}') || COALESCE(jsonb_strip_nulls(to_jsonb(e)), '{}')) f
	ORDER BY d.ordinality, e.profile
$$;
