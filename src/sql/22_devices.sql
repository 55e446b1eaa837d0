---------------------------------------------------------------------------
-- What the kernel counts for the devices, and block ranges of a relation.
---------------------------------------------------------------------------

/*
 * Counters, smoothed rates and fit of each device at the last sample; use the view
 * _tiered_storage.device_io.
 *
 * One row per device beneath a tablespace: what the kernel had counted at the last sample,
 * and how well the reads and writes predicted for the relations explain it.  A fit is the
 * sums over periods of x * x, x * y and y * y, where x is the prediction and y what the
 * device did: fit_* in bytes, request_fit_* in requests of a block; write_* the same of
 * writes.
 */
CREATE UNLOGGED TABLE _tiered_storage.device_state
(
	device text NOT NULL PRIMARY KEY,
	instance text NOT NULL,
	tablespaces oid[] NOT NULL,
	counters_at timestamptz,	-- when the counters were read; null: the device has none
	observed_since timestamptz,
	window_since timestamptz,
	fit_at timestamptz,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	busy_ms bigint NOT NULL,
	read_ms bigint NOT NULL,
	write_ms bigint NOT NULL,
	period_s float8 NOT NULL,
	last_reads bigint NOT NULL,
	last_read_bytes bigint NOT NULL,
	last_writes bigint NOT NULL,
	last_write_bytes bigint NOT NULL,
	last_busy_ms bigint NOT NULL,
	predicted_bytes float8 NOT NULL,
	predicted_reads float8 NOT NULL,
	foreign_bytes float8 NOT NULL,
	reads_fast float8 NOT NULL,
	read_bytes_fast float8 NOT NULL,
	writes_fast float8 NOT NULL,
	write_bytes_fast float8 NOT NULL,
	busy_ms_fast float8 NOT NULL,
	device_ms_fast float8 NOT NULL,
	total_reads float8 NOT NULL,
	total_read_bytes float8 NOT NULL,
	total_writes float8 NOT NULL,
	total_write_bytes float8 NOT NULL,
	-- time in ms in which the device worked in all periods since observed_since: the shorter of
	-- its busy time and the sum of its request times
	total_device_ms float8 NOT NULL,
	window_predicted float8 NOT NULL,
	window_read float8 NOT NULL,
	window_predicted_reads float8 NOT NULL,
	window_reads float8 NOT NULL,
	window_foreign float8 NOT NULL,
	fit_xx float8 NOT NULL,
	fit_xy float8 NOT NULL,
	fit_yy float8 NOT NULL,
	fit_periods float8 NOT NULL,
	request_fit_xx float8 NOT NULL,
	request_fit_xy float8 NOT NULL,
	request_fit_yy float8 NOT NULL,
	request_fit_periods float8 NOT NULL,
	cluster_blocks_read bigint NOT NULL,
	cluster_temp_bytes bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('device_state');

/*
 * How well predicted and counted reads of a device agree, from the sums in device_state: bytes
 * read per byte predicted, how much the periods scatter around that (not a share of the reads),
 * and whether that is little enough; null: not known yet.
 */
CREATE FUNCTION _tiered_storage.device_fit(
	fit_xx float8, fit_xy float8, fit_yy float8, fit_periods float8,
	OUT factor float8, OUT residual float8, OUT explained boolean)
RETURNS record
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_device_fit';

CREATE VIEW _tiered_storage.device_io AS
	SELECT s.device,
		t.tier_name, t.tablespaces,
		s.counters_at AS sampled_at,
		NULLIF(s.period_s, 0) AS period_s,
		s.last_reads / p.period_s AS reads_per_s,
		s.last_read_bytes / p.period_s AS read_bytes_per_s,
		s.last_writes / p.period_s AS writes_per_s,
		s.last_write_bytes / p.period_s AS write_bytes_per_s,
		CASE WHEN s.period_s > 0 THEN LEAST(1.0, s.last_busy_ms / 1000.0
				/ s.period_s)::float8 END AS busy_fraction,
		_tiered_storage.smoothed_rate(s.reads_fast, p.idle_s, p.observed_s, 86400)
			/ 3600 AS reads_1d_per_s,
		CASE WHEN p.idle_s IS NOT NULL THEN
			LEAST(1.0, _tiered_storage.smoothed_rate(s.busy_ms_fast, p.idle_s, p.observed_s, 86400)
				/ 3600000)::float8 END AS busy_1d_fraction,
		CASE WHEN s.period_s > 0 THEN s.last_read_bytes END AS read_bytes,
		CASE WHEN s.period_s > 0 THEN s.predicted_bytes END AS predicted_read_bytes,
		CASE WHEN s.period_s > 0 THEN s.foreign_bytes END AS foreign_read_bytes,
		f.factor AS fit_factor, f.residual AS fit_residual,
		r.factor AS request_fit_factor, r.residual AS request_fit_residual, s.fit_periods,
		f.explained AND COALESCE(r.explained, true) AS explained
	FROM _tiered_storage.stored_device_state() s
	CROSS JOIN LATERAL _tiered_storage.device_fit(s.fit_xx, s.fit_xy, s.fit_yy, s.fit_periods) f
	CROSS JOIN LATERAL _tiered_storage.device_fit(s.request_fit_xx, s.request_fit_xy,
		s.request_fit_yy, s.request_fit_periods) r
	CROSS JOIN LATERAL (SELECT NULLIF(s.period_s, 0) AS period_s,
		CASE WHEN s.counters_at IS NOT NULL AND s.observed_since IS NOT NULL THEN
			GREATEST(0, EXTRACT(epoch FROM n.read_at - s.counters_at))::float8 END AS idle_s,
		EXTRACT(epoch FROM n.read_at - s.observed_since)::float8 AS observed_s
		-- As in _tiered_storage.heat.
		FROM (SELECT CASE WHEN pg_is_in_recovery() THEN
			(SELECT x.last_sample_at FROM _tiered_storage.last_sample x) ELSE now() END
			AS read_at) n) p
	LEFT JOIN LATERAL (
		SELECT array_agg(x.spcname::text ORDER BY x.spcname) AS tablespaces,
			CASE WHEN count(DISTINCT tt.tier_name) = 1 THEN min(tt.tier_name::text)::name END
				AS tier_name
		FROM pg_tablespace x
		LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid = x.oid
		WHERE x.oid = ANY (s.tablespaces)) t ON true;

CREATE FUNCTION tiered_storage.block_heat(
	relation regclass, buckets integer DEFAULT 100,
	OUT bucket integer, OUT first_block bigint, OUT last_block bigint,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT os_cached_bytes bigint, OUT heat float8, OUT error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_block_heat';
COMMENT ON FUNCTION tiered_storage.block_heat IS
'cached blocks of a relation in ranges of equal length; heat is between 0 (not cached) and 1 '
'(in shared buffers and page cache, and always used)';
