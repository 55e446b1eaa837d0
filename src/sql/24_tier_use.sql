---------------------------------------------------------------------------
-- How full the tiers are.
---------------------------------------------------------------------------

CREATE VIEW tiered_storage.tiers AS
	SELECT t.tier_name, t.rank, s.tablespaces, t.profile, s.devices, t.compressed,
		t.random_read_ms, t.random_write_ms,
		t.sequential_read_mb_per_s, t.sequential_write_mb_per_s,
		t.fsync_ms, t.parallelism,
		t.price_per_gb_month, t.price_is_assumed,
		COALESCE(t.capacity_bytes, f.total_bytes) AS capacity_bytes,
		f.used_bytes,
		f.free_bytes,
		COALESCE(r.relation_bytes, 0)::pg_catalog.int8 AS relation_bytes,
		COALESCE(r.relations, 0) AS relations,
		t.reserve_fraction, t.low_watermark, t.high_watermark,
		t.endurance_tbw, t.endurance_dwpd, t.discovered, t.compression_ratio,
		(SELECT pg_catalog.max(k.calibrated_at) FROM _tiered_storage.tier_calibration k
			WHERE k.tier_name OPERATOR(pg_catalog.=) t.tier_name) AS calibrated_at,
		t.scan_start_ms,
		(SELECT pg_catalog.bool_or(w.wear_exceeded) FROM _tiered_storage.wear_state() w
			WHERE w.tier_name OPERATOR(pg_catalog.=) t.tier_name) AS wear_exceeded
	FROM _tiered_storage.tier t
	LEFT JOIN LATERAL (
		SELECT pg_catalog.array_agg(tt.tablespace_name::pg_catalog.text
			ORDER BY tt.tablespace_name) AS tablespaces,
			pg_catalog.array_agg(DISTINCT d.device) FILTER (WHERE d.device IS NOT NULL) AS devices
		FROM _tiered_storage.tier_tablespaces tt
		JOIN _tiered_storage.tablespace_devices() d
			ON d.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
		WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name) s ON true
	LEFT JOIN LATERAL (
		SELECT pg_catalog.sum(x.total_bytes)::pg_catalog.int8 AS total_bytes,
			pg_catalog.sum(x.used_bytes)::pg_catalog.int8 AS used_bytes,
			pg_catalog.sum(x.free_bytes)::pg_catalog.int8 AS free_bytes
		FROM (SELECT DISTINCT ON (d.file_system_id) d.total_bytes, d.used_bytes, d.free_bytes
			FROM _tiered_storage.tier_tablespaces tt
			JOIN _tiered_storage.tablespace_devices() d
				ON d.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
			WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name
				AND d.total_bytes OPERATOR(pg_catalog.>=) 0) x) f ON true
	LEFT JOIN LATERAL (
		SELECT pg_catalog.sum(rs.size_bytes
				OPERATOR(pg_catalog.+) rs.maps_bytes) AS relation_bytes,
			pg_catalog.count(*) AS relations
		FROM _tiered_storage.tier_tablespaces tt
		JOIN _tiered_storage.relation_state rs
			ON rs.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
		WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name) r ON true
	ORDER BY t.rank, t.tier_name;
COMMENT ON VIEW tiered_storage.tiers IS
'the storage tiers: tablespaces, devices, performance figures, price and how full they are';
COMMENT ON COLUMN tiered_storage.tiers.tier_name IS 'name of the tier';
COMMENT ON COLUMN tiered_storage.tiers.rank IS 'place in the order of tiers; 0 is the fastest';
COMMENT ON COLUMN tiered_storage.tiers.tablespaces IS 'its tablespaces; null: none';
COMMENT ON COLUMN tiered_storage.tiers.profile IS
'device profile, the source of figures that are neither given nor measured';
COMMENT ON COLUMN tiered_storage.tiers.devices IS
'devices beneath its tablespaces; null: none known';
COMMENT ON COLUMN tiered_storage.tiers.compressed IS 'whether its file system compresses';
COMMENT ON COLUMN tiered_storage.tiers.random_read_ms IS 'latency of a random block read in ms';
COMMENT ON COLUMN tiered_storage.tiers.random_write_ms IS 'latency of a random block write in ms';
COMMENT ON COLUMN tiered_storage.tiers.sequential_read_mb_per_s IS
'sequential read rate in MB per second';
COMMENT ON COLUMN tiered_storage.tiers.sequential_write_mb_per_s IS
'sequential write rate in MB per second';
COMMENT ON COLUMN tiered_storage.tiers.scan_start_ms IS
'what a sequential scan takes beside its bytes in ms, until it reads at the full rate; null: as '
'long as one random read';
COMMENT ON COLUMN tiered_storage.tiers.fsync_ms IS 'duration of an fsync in ms';
COMMENT ON COLUMN tiered_storage.tiers.parallelism IS
'number of requests that the device serves at the same time';
COMMENT ON COLUMN tiered_storage.tiers.price_per_gb_month IS
'price per GB and month, in a currency of your choice';
COMMENT ON COLUMN tiered_storage.tiers.price_is_assumed IS
'whether the price is that of the profile because none was given';
COMMENT ON COLUMN tiered_storage.tiers.capacity_bytes IS
'capacity in bytes as given, otherwise the size of its file systems; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.used_bytes IS
'bytes used on its file systems, by everything on them; what these reserve is neither used nor '
'free; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.free_bytes IS
'bytes free on its file systems; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.relation_bytes IS
'bytes of this database''s relations on the tier at the last sample, all forks';
COMMENT ON COLUMN tiered_storage.tiers.relations IS
'number of this database''s relations on the tier at the last sample';
COMMENT ON COLUMN tiered_storage.tiers.reserve_fraction IS
'fraction of the capacity that is to stay free';
COMMENT ON COLUMN tiered_storage.tiers.low_watermark IS
'fraction of the capacity down to which a tier that is too full is to be emptied';
COMMENT ON COLUMN tiered_storage.tiers.high_watermark IS
'fraction of the capacity above which the tier is too full';
COMMENT ON COLUMN tiered_storage.tiers.endurance_tbw IS
'TB that may be written in the life of the device; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.endurance_dwpd IS
'how often the capacity may be written per day; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.wear_exceeded IS
'whether a device of the tier is written to faster than it endures, or its life is used up, see '
'the view wear; null: not known';
COMMENT ON COLUMN tiered_storage.tiers.discovered IS
'whether discover_tiers() created it and nobody has changed it since';
COMMENT ON COLUMN tiered_storage.tiers.compression_ratio IS
'bytes of data per byte stored on a compressed tier; null: not given';
COMMENT ON COLUMN tiered_storage.tiers.calibrated_at IS
'when calibrate_tier() last measured it; null: never';
