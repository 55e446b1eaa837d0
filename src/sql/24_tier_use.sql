---------------------------------------------------------------------------
-- How full the tiers are.
---------------------------------------------------------------------------

CREATE VIEW _tiered_storage.tiers AS
	SELECT t.tier_name, t.rank, s.tablespaces, t.profile, s.devices, t.compressed,
		t.random_read_ms, t.random_write_ms,
		t.sequential_read_mb_per_s, t.sequential_write_mb_per_s,
		t.fsync_ms, t.parallelism,
		t.price_per_gb_month, t.price_is_assumed,
		COALESCE(t.capacity_bytes, f.total_bytes) AS capacity_bytes,
		f.used_bytes,
		f.free_bytes,
		/* As fullness policies count: what is reserved for root is not free. */
		GREATEST(1 - f.free_bytes / NULLIF(COALESCE(t.capacity_bytes, f.total_bytes), 0)::float8,
			CASE WHEN t.capacity_bytes < 0.99 * (f.used_bytes + f.free_bytes)
				THEN COALESCE(r.relation_bytes, 0) / t.capacity_bytes::float8 END)
			AS used_fraction,
		COALESCE(r.relation_bytes, 0)::int8 AS relation_bytes,
		COALESCE(r.relations, 0) AS relations,
		t.reserve_fraction, t.low_watermark, t.high_watermark,
		t.endurance_tbw, t.endurance_dwpd, t.price_per_million_reads, t.discovered,
		t.compression_ratio,
		(SELECT max(k.calibrated_at) FROM _tiered_storage.tier_calibration k
			WHERE k.tier_name = t.tier_name) AS calibrated_at,
		(SELECT bool_or(w.wear_exceeded) FROM _tiered_storage.wear_state() w
			WHERE w.tier_name = t.tier_name) AS wear_exceeded,
		s.unreachable
	FROM _tiered_storage.tier t
	LEFT JOIN LATERAL (
		SELECT array_agg(tt.tablespace_name::text
			ORDER BY tt.tablespace_name) AS tablespaces,
			array_agg(DISTINCT d.device) FILTER (WHERE d.device IS NOT NULL) AS devices,
			string_agg(d.tablespace_name::text, ', ') FILTER (WHERE NOT d.path_exists)
				AS unreachable
		FROM _tiered_storage.tier_tablespaces tt
		JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid
		WHERE tt.tier_name = t.tier_name) s ON true
	LEFT JOIN LATERAL (
		SELECT sum(x.total_bytes)::int8 AS total_bytes, sum(x.used_bytes)::int8 AS used_bytes,
			sum(x.free_bytes)::int8 AS free_bytes
		FROM (SELECT DISTINCT ON (d.file_system_id) d.total_bytes, d.used_bytes, d.free_bytes
			FROM _tiered_storage.tier_tablespaces tt
			JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid
			WHERE tt.tier_name = t.tier_name AND d.total_bytes >= 0) x) f ON true
	LEFT JOIN LATERAL (
		SELECT sum(rs.size_bytes + rs.maps_bytes) AS relation_bytes, count(*) AS relations
		FROM _tiered_storage.tier_tablespaces tt
		JOIN _tiered_storage.stored_relation_state() rs ON rs.tablespace_oid = tt.tablespace_oid
		WHERE tt.tier_name = t.tier_name) r ON true
	ORDER BY t.rank, t.tier_name;
