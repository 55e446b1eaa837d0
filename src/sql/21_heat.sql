---------------------------------------------------------------------------
-- Heat: what relations do per hour.
---------------------------------------------------------------------------

/*
 * An exponentially smoothed rate idle_s seconds after its last update, for a relation observed
 * for observed_s seconds.
 */
CREATE FUNCTION _tiered_storage.smoothed_rate(rate float8, idle_s float8, observed_s float8,
	half_life_s float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_smoothed_rate';

CREATE VIEW _tiered_storage.heat AS
	SELECT s.relation_oid::regclass AS relation,
		CASE s.kind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' WHEN 't' THEN 'toast table'
			WHEN 'm' THEN 'materialized view' ELSE s.kind::text END AS kind,
		s.heap_oid, tt.tier_name,
		s.size_bytes + s.maps_bytes AS size_bytes,
		_tiered_storage.smoothed_rate(s.random_fast, a.idle_s, a.observed_s, 86400)
			AS random_misses_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_fast, a.idle_s, a.observed_s, 86400)
			AS sequential_misses_per_hour,
		-- As tier_relation_measured().
		CASE WHEN d.fast > d.slow
			THEN d.random_fast ELSE d.random_slow END AS random_reads_per_hour,
		CASE WHEN d.fast > d.slow THEN d.fast - d.random_fast
			ELSE d.slow - d.random_slow END AS sequential_reads_per_hour,
		_tiered_storage.smoothed_rate(s.changes_fast, a.idle_s, a.observed_s, 86400)
			AS writes_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_reads_fast, a.idle_s, a.observed_s, 86400)
			AS maintenance_reads_per_hour,
		_tiered_storage.smoothed_rate(s.hits_slow, a.idle_s, a.observed_s, 1209600)
			AS hits_14d_per_hour,
		_tiered_storage.smoothed_rate(s.random_slow + s.sequential_slow, a.idle_s, a.observed_s,
			1209600) AS misses_14d_per_hour,
		d.slow AS reads_14d_per_hour,
		CASE WHEN s.size_bytes > 0 THEN LEAST(1.0, s.cached_buffers * 8192.0
				/ s.size_bytes)::float8 END AS cached_fraction,
		CASE WHEN s.size_bytes > 0 AND s.os_cached_bytes >= 0 THEN
			LEAST(1.0, s.os_cached_bytes * 1.0 / s.size_bytes)::float8 END AS os_cached_fraction,
		s.dirty_buffers,
		s.last_used_at, s.last_written_at, s.rewritten_at, s.placed_at,
		s.sampled_since, s.observed_since, s.heat_at,
		CASE s.source WHEN 'e' THEN 'executor' ELSE 'statistics' END AS source,
		_tiered_storage.smoothed_rate(s.page_writes_fast, a.idle_s, w.observed_s, 86400)
			AS page_writes_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_writes_fast, a.idle_s, w.observed_s, 86400)
			AS maintenance_writes_per_hour,
		_tiered_storage.smoothed_rate(s.wal_bytes_fast, a.idle_s, w.observed_s, 86400)
			AS wal_bytes_per_hour,
		_tiered_storage.smoothed_rate(s.image_bytes_fast, a.idle_s, w.observed_s, 86400)
			AS full_page_image_bytes_per_hour,
		CASE WHEN w.observed_s IS NULL THEN 'statistics' ELSE 'wal' END AS write_source,
		_tiered_storage.distributed_table(s.relation_oid) AS distributed_table
	FROM _tiered_storage.stored_relation_state() s
	CROSS JOIN LATERAL (SELECT _tiered_storage.relation_persistence(s.relation_oid)
		AS relpersistence) c
	LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid = s.tablespace_oid
	-- A standby knows nothing of the time since the last snapshot, which is not idle time.
	-- The rates were there at heat_at: if it is earlier now, the clock was set back.
	CROSS JOIN LATERAL (SELECT GREATEST(CASE WHEN pg_is_in_recovery() THEN
		(SELECT x.last_sample_at FROM _tiered_storage.last_sample x) ELSE now() END,
		s.heat_at) AS read_at) n
	CROSS JOIN LATERAL (SELECT
		EXTRACT(epoch FROM n.read_at - s.heat_at)::float8 AS idle_s,
		EXTRACT(epoch FROM n.read_at - s.observed_since)::float8 AS observed_s) a
	CROSS JOIN LATERAL (SELECT
		_tiered_storage.smoothed_rate(s.device_random_fast, a.idle_s, a.observed_s, 86400)
			AS random_fast,
		_tiered_storage.smoothed_rate(s.device_random_fast
			+ s.device_sequential_fast, a.idle_s, a.observed_s, 86400)
			AS fast,
		_tiered_storage.smoothed_rate(s.device_random_slow, a.idle_s, a.observed_s, 1209600)
			AS random_slow,
		_tiered_storage.smoothed_rate(s.device_random_slow
			+ s.device_sequential_slow, a.idle_s, a.observed_s, 1209600)
			AS slow) d
	LEFT JOIN LATERAL (SELECT
		EXTRACT(epoch FROM n.read_at -
			GREATEST(x.wal_since, s.observed_since))::float8 AS observed_s
		FROM _tiered_storage.last_sample x
		WHERE x.wal_since IS NOT NULL AND c.relpersistence = 'p') w ON true
	WHERE c.relpersistence IS NOT NULL;

/* Of the pages of a tier, and of those not in shared buffers, what devices were read for. */
CREATE VIEW _tiered_storage.observed_shares AS
	SELECT h.tier_name, LEAST(sum(h.reads_14d_per_hour)
			/ sum(h.hits_14d_per_hour + h.misses_14d_per_hour), 1) AS of_pages,
		LEAST(sum(h.reads_14d_per_hour) / NULLIF(sum(h.misses_14d_per_hour), 0), 1) AS of_misses
	FROM _tiered_storage.heat h
	GROUP BY h.tier_name
	HAVING sum(h.hits_14d_per_hour + h.misses_14d_per_hour) >= 1000;

/*
 * What each table with its TOAST table, and each index, reads: as advice has it, which moves
 * these together.
 */
CREATE VIEW _tiered_storage.placed_heat AS
	SELECT p.table_oid::regclass AS relation, max(h.kind) FILTER (WHERE h.relation::oid
			= p.table_oid) AS kind, h.tier_name,
		sum(h.size_bytes)::int8 AS size_bytes,
		sum(h.random_reads_per_hour) AS random_reads_per_hour,
		sum(h.sequential_reads_per_hour) AS sequential_reads_per_hour,
		sum(h.page_writes_per_hour) AS page_writes_per_hour,
		sum(h.writes_per_hour) AS writes_per_hour
	FROM _tiered_storage.heat h
	LEFT JOIN _tiered_storage.stored_relation_state() t ON t.relation_oid = h.heap_oid
		AND t.kind = 't'
	CROSS JOIN LATERAL (SELECT COALESCE(NULLIF(CASE WHEN h.kind
			= 'toast table' THEN h.heap_oid ELSE t.heap_oid END, 0),
		h.relation::oid) AS table_oid) p
	GROUP BY 1, 3;
