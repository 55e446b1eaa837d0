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

/*
 * Rate, event or unclear, as evidence and past of relation_state say at that time; null: they
 * say nothing.
 */
CREATE FUNCTION _tiered_storage.activity_pattern(began_at timestamptz, interval_s float8,
	amounts bytea, at timestamptz, past_per_hour float8, past_events float8,
	sampled_since timestamptz)
RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_activity_pattern';

/*
 * Bytes per hour by which a relation goes on growing, as evidence of relation_state says at
 * that time; null: it says nothing.
 */
CREATE FUNCTION _tiered_storage.growth_per_hour(began_at timestamptz, interval_s float8,
	growth bytea, at timestamptz)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_growth_per_hour';

CREATE VIEW tiered_storage.heat AS
	SELECT s.relation_oid::pg_catalog.regclass AS relation,
		CASE s.kind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' WHEN 't' THEN 'toast table'
			WHEN 'm' THEN 'materialized view' ELSE s.kind::pg_catalog.text END AS kind,
		tt.tier_name,
		s.size_bytes OPERATOR(pg_catalog.+) s.maps_bytes AS size_bytes,
		_tiered_storage.smoothed_rate(s.random_fast, a.idle_s, a.observed_s, 86400)
			AS random_reads_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_fast, a.idle_s, a.observed_s, 86400)
			AS sequential_reads_per_hour,
		_tiered_storage.smoothed_rate(s.device_random_fast, a.idle_s, a.observed_s, 86400)
			AS device_random_reads_per_hour,
		_tiered_storage.smoothed_rate(s.device_sequential_fast, a.idle_s, a.observed_s, 86400)
			AS device_sequential_reads_per_hour,
		_tiered_storage.smoothed_rate(s.changes_fast, a.idle_s, a.observed_s, 86400)
			AS writes_per_hour,
		_tiered_storage.smoothed_rate(s.random_slow, a.idle_s, a.observed_s, 1209600)
			AS random_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_slow, a.idle_s, a.observed_s, 1209600)
			AS sequential_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.changes_slow, a.idle_s, a.observed_s, 1209600)
			AS writes_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_low_slow, a.idle_s, a.observed_s, 1209600)
			AS sequential_reads_low_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_high_slow, a.idle_s, a.observed_s, 1209600)
			AS sequential_reads_high_14d_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_reads_fast, a.idle_s, a.observed_s, 86400)
			AS maintenance_reads_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_reads_slow, a.idle_s, a.observed_s, 1209600)
			AS maintenance_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.hits_slow, a.idle_s, a.observed_s, 1209600)
			AS hits_14d_per_hour,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 THEN
			LEAST(1.0, s.cached_buffers OPERATOR(pg_catalog.*) 8192.0
				OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS cached_fraction,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0
			AND s.os_cached_bytes OPERATOR(pg_catalog.>=) 0 THEN
			LEAST(1.0, s.os_cached_bytes OPERATOR(pg_catalog.*) 1.0
				OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS os_cached_fraction,
		s.dirty_buffers,
		s.last_used_at, s.last_written_at, s.rewritten_at, s.placed_at,
		s.sampled_since, s.observed_since, s.heat_at,
		_tiered_storage.smoothed_rate(s.standby_fast, a.idle_s, a.observed_s, 86400)
			AS standby_reads_per_hour,
		CASE s.source WHEN 'e' THEN 'executor' ELSE 'statistics' END AS source,
		_tiered_storage.smoothed_rate(s.page_writes_fast, a.idle_s, w.observed_s, 86400)
			AS page_writes_per_hour,
		_tiered_storage.smoothed_rate(s.page_writes_slow, a.idle_s, w.observed_s, 1209600)
			AS page_writes_14d_per_hour,
		_tiered_storage.smoothed_rate(s.merged_writes_fast, a.idle_s, w.observed_s, 86400)
			AS merged_writes_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_writes_fast, a.idle_s, w.observed_s, 86400)
			AS maintenance_writes_per_hour,
		_tiered_storage.smoothed_rate(s.wal_bytes_fast, a.idle_s, w.observed_s, 86400)
			AS wal_bytes_per_hour,
		_tiered_storage.smoothed_rate(s.image_bytes_fast, a.idle_s, w.observed_s, 86400)
			AS full_page_image_bytes_per_hour,
		CASE WHEN w.observed_s IS NULL THEN 'statistics' ELSE 'wal' END AS write_source,
		_tiered_storage.activity_pattern(s.evidence_began_at, s.evidence_interval_s,
			s.evidence_reads, pg_catalog.now(), s.past_reads_per_hour, s.past_read_events,
			s.sampled_since) AS read_pattern,
		_tiered_storage.activity_pattern(s.evidence_began_at, s.evidence_interval_s,
			s.evidence_writes, pg_catalog.now(), s.past_writes_per_hour, s.past_write_events,
			s.sampled_since) AS write_pattern,
		24 OPERATOR(pg_catalog.*) COALESCE(_tiered_storage.growth_per_hour(s.evidence_began_at,
			s.evidence_interval_s, s.evidence_growth, pg_catalog.now()), 0)
			AS growth_bytes_per_day,
		_tiered_storage.distributed_table(s.relation_oid) AS distributed_table
	FROM _tiered_storage.relation_state s
	CROSS JOIN LATERAL (SELECT _tiered_storage.relation_persistence(s.relation_oid)
		AS relpersistence) c
	LEFT JOIN _tiered_storage.tier_tablespaces tt
		ON tt.tablespace_oid OPERATOR(pg_catalog.=) s.tablespace_oid
	-- The rates were there at heat_at: if it is earlier now, the clock was set back.
	CROSS JOIN LATERAL (SELECT GREATEST(pg_catalog.now(), s.heat_at) AS read_at) n
	CROSS JOIN LATERAL (SELECT
		EXTRACT(epoch FROM n.read_at
			OPERATOR(pg_catalog.-) s.heat_at)::pg_catalog.float8 AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM n.read_at
			OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) a
	LEFT JOIN LATERAL (SELECT
		GREATEST(3600, EXTRACT(epoch FROM n.read_at OPERATOR(pg_catalog.-)
			GREATEST(x.wal_since, s.observed_since)))::pg_catalog.float8 AS observed_s
		FROM _tiered_storage.sampler x
		WHERE x.wal_since IS NOT NULL AND c.relpersistence OPERATOR(pg_catalog.=) 'p') w ON true
	WHERE c.relpersistence IS NOT NULL;
COMMENT ON VIEW tiered_storage.heat IS
'smoothed activity of each relation per hour, as of now, with a half-life of 1 day, or of 14 '
'days in the *_14d columns; reads count blocks; less than an hour of observation counts as an '
'hour';
COMMENT ON COLUMN tiered_storage.heat.relation IS
'table, partition, materialized view, index or TOAST table';
COMMENT ON COLUMN tiered_storage.heat.kind IS
'kind of relation: table, index, toast table or materialized view';
COMMENT ON COLUMN tiered_storage.heat.tier_name IS
'current tier; null: its tablespace belongs to no tier';
COMMENT ON COLUMN tiered_storage.heat.size_bytes IS
'size of all forks in bytes at the last sample';
COMMENT ON COLUMN tiered_storage.heat.random_reads_per_hour IS
'blocks read at random per hour that missed shared buffers, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_per_hour IS
'blocks read sequentially per hour that missed shared buffers, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.device_random_reads_per_hour IS
'part of random_reads_per_hour that missed the page cache too and reached the device';
COMMENT ON COLUMN tiered_storage.heat.device_sequential_reads_per_hour IS
'part of sequential_reads_per_hour that missed the page cache too and reached the device';
COMMENT ON COLUMN tiered_storage.heat.writes_per_hour IS 'rows changed per hour, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.random_reads_14d_per_hour IS
'like random_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_14d_per_hour IS
'like sequential_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.writes_14d_per_hour IS
'like writes_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_low_14d_per_hour IS
'lower bound of sequential_reads_14d_per_hour';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_high_14d_per_hour IS
'upper bound of sequential_reads_14d_per_hour';
COMMENT ON COLUMN tiered_storage.heat.maintenance_reads_per_hour IS
'blocks read per hour by maintenance and dumps, not by queries, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.maintenance_reads_14d_per_hour IS
'like maintenance_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.hits_14d_per_hour IS
'blocks found in shared buffers per hour, but for those of loads and maintenance, half-life '
'14 days';
COMMENT ON COLUMN tiered_storage.heat.cached_fraction IS
'fraction of its blocks in shared buffers at the last sample; null: it is empty';
COMMENT ON COLUMN tiered_storage.heat.os_cached_fraction IS
'fraction of its file in the page cache when last examined; null: unknown, or it is empty';
COMMENT ON COLUMN tiered_storage.heat.dirty_buffers IS
'number of its dirty blocks in shared buffers at the last sample';
COMMENT ON COLUMN tiered_storage.heat.last_used_at IS
'end of the last period in which it was used; null: not used since it was first observed';
COMMENT ON COLUMN tiered_storage.heat.last_written_at IS
'end of the last period in which it was changed; null: not changed since it was first observed';
COMMENT ON COLUMN tiered_storage.heat.rewritten_at IS
'when it last got a new file in the same tablespace (TRUNCATE, VACUUM FULL, ...); null: not '
'since it was first observed';
COMMENT ON COLUMN tiered_storage.heat.placed_at IS
'when it was moved to its tablespace, or was first seen there; null: it has been there since the '
'first sample';
COMMENT ON COLUMN tiered_storage.heat.sampled_since IS 'time of the first sample that included it';
COMMENT ON COLUMN tiered_storage.heat.observed_since IS
'start of the time that the rates cover; before sampled_since if the server''s statistics reach '
'back further';
COMMENT ON COLUMN tiered_storage.heat.heat_at IS
'when the rates were last updated; they decay from then on';
COMMENT ON COLUMN tiered_storage.heat.standby_reads_per_hour IS
'part of its reads per hour that came from standbys, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.source IS
'how random and sequential reads were told apart: executor or statistics';
COMMENT ON COLUMN tiered_storage.heat.page_writes_per_hour IS
'pages that checkpoints write per hour, counted from the WAL, half-life 1 day; null: see '
'write_source';
COMMENT ON COLUMN tiered_storage.heat.page_writes_14d_per_hour IS
'like page_writes_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.merged_writes_per_hour IS
'of page_writes_per_hour those that lie beside another page that the same checkpoint writes, so '
'that one request writes both; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.maintenance_writes_per_hour IS
'pages written per hour by vacuum and rewrites, half-life 1 day; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.wal_bytes_per_hour IS
'bytes of WAL per hour for its changes, half-life 1 day; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.full_page_image_bytes_per_hour IS
'part of wal_bytes_per_hour that is full-page images; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.write_source IS
'where page writes come from: wal, or statistics if the WAL is not read or has nothing about it '
'(unlogged); page writes and WAL bytes are null then';
COMMENT ON COLUMN tiered_storage.heat.read_pattern IS
'whether its reads came again: rate, event (a load, a restore, one report: the numbers per hour '
'tell what it was, not what will be), or unclear; null: it was not read';
COMMENT ON COLUMN tiered_storage.heat.write_pattern IS
'the same for its writes; null: it was not written';
COMMENT ON COLUMN tiered_storage.heat.growth_bytes_per_day IS
'bytes by which it goes on growing per day; 0 of what was loaded once, or grows and shrinks again';
COMMENT ON COLUMN tiered_storage.heat.distributed_table IS
'the table of Citus that it is a shard of; null: it is no shard';
