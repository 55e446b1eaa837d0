---------------------------------------------------------------------------
-- What samples remember of relations, and the view of it.
---------------------------------------------------------------------------

/*
 * One row per relation: the counters at the last look, and the smoothed rates
 * that were right at heat_at.  An idle relation's row is not touched: rates
 * decay by the clock when they are read.
 */
CREATE TABLE tiered_storage.relation_state
(
	relation_oid oid NOT NULL PRIMARY KEY,
	tablespace_oid oid NOT NULL,
	file_number oid NOT NULL,
	kind "char" NOT NULL,
	size_bytes bigint NOT NULL,
	tuples float8 NOT NULL,
	cached_buffers integer NOT NULL,
	dirty_buffers integer NOT NULL,
	os_cached_bytes bigint NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	row_changes bigint NOT NULL,
	heat_at timestamptz NOT NULL,
	observed_since timestamptz NOT NULL,
	sampled_since timestamptz NOT NULL,
	last_used_at timestamptz,
	last_written_at timestamptz,
	rewritten_at timestamptz,
	placed_at timestamptz,
	random_fast float8 NOT NULL,
	random_slow float8 NOT NULL,
	sequential_fast float8 NOT NULL,
	sequential_slow float8 NOT NULL,
	sequential_low_slow float8 NOT NULL,
	sequential_high_slow float8 NOT NULL,
	hits_slow float8 NOT NULL,
	scans_slow float8 NOT NULL,
	standby_fast float8 NOT NULL,
	changes_fast float8 NOT NULL,
	changes_slow float8 NOT NULL,
	previous_tablespace_oid oid NOT NULL,
	previous_file_number oid NOT NULL,
	vacuums bigint NOT NULL,
	page_writes_fast float8 NOT NULL,
	page_writes_slow float8 NOT NULL,
	maintenance_writes_fast float8 NOT NULL,
	wal_bytes_fast float8 NOT NULL,
	image_bytes_fast float8 NOT NULL,
	device_random_fast float8 NOT NULL,
	device_random_slow float8 NOT NULL,
	device_sequential_fast float8 NOT NULL,
	device_sequential_slow float8 NOT NULL,
	source "char" NOT NULL DEFAULT 's',
	maintenance bigint NOT NULL DEFAULT 0,
	other_fast float8 NOT NULL DEFAULT 0,
	other_slow float8 NOT NULL DEFAULT 0,
	total_random_reads float8 NOT NULL DEFAULT 0,
	total_sequential_reads float8 NOT NULL DEFAULT 0,
	total_scans float8 NOT NULL DEFAULT 0,
	total_page_writes float8 NOT NULL DEFAULT 0,
	total_row_changes float8 NOT NULL DEFAULT 0
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE tiered_storage.relation_state IS
'counters and smoothed rates of each relation at the last sample; use the view tiered_storage.heat';
COMMENT ON COLUMN tiered_storage.relation_state.observed_since IS
'begin of the time that the rates speak of, the time before the first sample included where the server''s statistics covered it';
COMMENT ON COLUMN tiered_storage.relation_state.sampled_since IS
'the first sample that saw this relation';
COMMENT ON COLUMN tiered_storage.relation_state.total_random_reads IS
'reads that are taken to have reached the device since the first sample; this and the other totals include those of a table''s TOAST table';
COMMENT ON COLUMN tiered_storage.relation_state.placed_at IS
'when it came to this tablespace, or was first seen there; NULL: it has been there since the first sample';
COMMENT ON COLUMN tiered_storage.relation_state.os_cached_bytes IS
'how much of the file was in the page cache of the operating system when it was last looked at; -1: unknown';

/*
 * Every table of ours has a key, also those that only grow at one end and are
 * emptied at the other: without one, UPDATE and DELETE fail as soon as somebody
 * makes a publication FOR ALL TABLES.  Here the key costs 28 bytes beside a row
 * of 92 and is written at its right end only.  REPLICA IDENTITY FULL would cost
 * nothing here, but a subscriber would read its whole table for each row that is
 * deleted.  The key also finds the first period, and what is too old.
 */
CREATE TABLE tiered_storage.relation_history
(
	period_start timestamptz NOT NULL,
	relation_oid oid NOT NULL,
	period_s integer NOT NULL,
	scans bigint NOT NULL,
	random_reads bigint NOT NULL,
	sequential_reads bigint NOT NULL,
	hits bigint NOT NULL,
	row_changes bigint NOT NULL,
	page_writes bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (period_start, relation_oid)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
COMMENT ON TABLE tiered_storage.relation_history IS
'what each active relation did in a period; idle relations have no row; recent rows are one sample, older ones are rolled up to an hour';

/* One row: when, how long, how much; what tells a reset from a slow hour. */
CREATE TABLE tiered_storage.sampler
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	last_sample_at timestamptz NOT NULL,
	last_duration_ms float8 NOT NULL,
	last_relations integer NOT NULL,
	last_active integer NOT NULL,
	samples bigint NOT NULL,
	counter_resets bigint NOT NULL,
	rolled_up_until timestamptz,
	wal_position pg_lsn,
	wal_since timestamptz,
	last_wal_bytes bigint,
	last_wal_read_bytes bigint,
	last_wal_scale float8,
	last_wal_unattributed_bytes bigint,
	changed_pages bytea
);
COMMENT ON TABLE tiered_storage.sampler IS 'the last sample: when, how long it took, how many relations were active';

COMMENT ON COLUMN tiered_storage.sampler.wal_position IS
'the WAL before this position was looked at, all or a part of it; NULL while tiered_storage.wal_sample_size is 0';
COMMENT ON COLUMN tiered_storage.sampler.wal_since IS
'since when the writes of the relations are counted from the WAL';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_bytes IS
'WAL that the server wrote between the last two samples';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_read_bytes IS
'as much of it as was read; tiered_storage.wal_sample_size is the limit';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_scale IS
'what was counted was multiplied by this, to stand for all of the WAL; NULL when none of it could be read any more';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_unattributed_bytes IS
'WAL that belongs to no relation that is sampled: catalogs, other databases, commits, new files that no relation had yet';
COMMENT ON COLUMN tiered_storage.sampler.changed_pages IS
'internal: a sample of the pages changed since the last checkpoint, while full_page_writes is off';

CREATE PROCEDURE tiered_storage.sample()
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_sample_sql';
COMMENT ON PROCEDURE tiered_storage.sample() IS
'reads the counters, sizes and cached blocks of all relations of this database and adds them to the history; the worker calls the same code';

CREATE FUNCTION tiered_storage.relation_buffers(
	OUT relation regclass, OUT tablespace_oid oid, OUT file_number oid,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT standard_error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_relation_buffers';
COMMENT ON FUNCTION tiered_storage.relation_buffers() IS
'how many blocks of each relation of this database are in shared buffers, and how many of them are dirty; of more than 4 million buffers a random sample is looked at, and standard_error says how sure cached_buffers is';

CREATE FUNCTION tiered_storage.smoothed_rate(rate float8, idle_s float8, observed_s float8, half_life_s float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_smoothed_rate';
COMMENT ON FUNCTION tiered_storage.smoothed_rate(float8, float8, float8, float8) IS
'an exponentially smoothed rate as it is idle_s seconds after it was last advanced, for something observed for observed_s seconds';

CREATE VIEW tiered_storage.heat AS
	SELECT s.relation_oid::pg_catalog.regclass AS relation,
		CASE s.kind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' WHEN 't' THEN 'toast table'
			WHEN 'm' THEN 'materialized view' ELSE s.kind::pg_catalog.text END AS kind,
		tt.tier_name,
		s.size_bytes,
		tiered_storage.smoothed_rate(s.random_fast, a.idle_s, a.observed_s, 86400) AS random_reads_per_hour,
		tiered_storage.smoothed_rate(s.sequential_fast, a.idle_s, a.observed_s, 86400) AS sequential_reads_per_hour,
		tiered_storage.smoothed_rate(s.device_random_fast, a.idle_s, a.observed_s, 86400) AS device_random_reads_per_hour,
		tiered_storage.smoothed_rate(s.device_sequential_fast, a.idle_s, a.observed_s, 86400) AS device_sequential_reads_per_hour,
		tiered_storage.smoothed_rate(s.changes_fast, a.idle_s, a.observed_s, 86400) AS writes_per_hour,
		tiered_storage.smoothed_rate(s.random_slow, a.idle_s, a.observed_s, 1209600) AS random_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.sequential_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.changes_slow, a.idle_s, a.observed_s, 1209600) AS writes_14d_per_hour,
		tiered_storage.smoothed_rate(s.sequential_low_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_low_14d_per_hour,
		tiered_storage.smoothed_rate(s.sequential_high_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_high_14d_per_hour,
		tiered_storage.smoothed_rate(s.other_fast, a.idle_s, a.observed_s, 86400) AS other_reads_per_hour,
		tiered_storage.smoothed_rate(s.other_slow, a.idle_s, a.observed_s, 1209600) AS other_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.hits_slow, a.idle_s, a.observed_s, 1209600) AS hits_14d_per_hour,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 THEN
			LEAST(1.0, s.cached_buffers OPERATOR(pg_catalog.*) 8192.0 OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS cached_fraction,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 AND s.os_cached_bytes OPERATOR(pg_catalog.>=) 0 THEN
			LEAST(1.0, s.os_cached_bytes OPERATOR(pg_catalog.*) 1.0 OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS os_cached_fraction,
		s.dirty_buffers,
		s.last_used_at, s.last_written_at, s.rewritten_at, s.placed_at,
		s.sampled_since, s.observed_since, s.heat_at,
		tiered_storage.smoothed_rate(s.standby_fast, a.idle_s, a.observed_s, 86400) AS standby_reads_per_hour,
		CASE s.source WHEN 'e' THEN 'executor' ELSE 'statistics' END AS source,
		tiered_storage.smoothed_rate(s.page_writes_fast, a.idle_s, w.observed_s, 86400) AS page_writes_per_hour,
		tiered_storage.smoothed_rate(s.page_writes_slow, a.idle_s, w.observed_s, 1209600) AS page_writes_14d_per_hour,
		tiered_storage.smoothed_rate(s.maintenance_writes_fast, a.idle_s, w.observed_s, 86400) AS maintenance_writes_per_hour,
		tiered_storage.smoothed_rate(s.wal_bytes_fast, a.idle_s, w.observed_s, 86400) AS wal_bytes_per_hour,
		tiered_storage.smoothed_rate(s.image_bytes_fast, a.idle_s, w.observed_s, 86400) AS full_page_image_bytes_per_hour,
		CASE WHEN w.observed_s IS NULL THEN 'statistics' ELSE 'wal' END AS write_source
	FROM tiered_storage.relation_state s
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) s.relation_oid
	LEFT JOIN tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=) s.tablespace_oid
	CROSS JOIN LATERAL (SELECT
		GREATEST(0, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.heat_at))::pg_catalog.float8 AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) a
	LEFT JOIN LATERAL (SELECT
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-)
			GREATEST(x.wal_since, s.observed_since)))::pg_catalog.float8 AS observed_s
		FROM tiered_storage.sampler x
		WHERE x.wal_since IS NOT NULL AND c.relpersistence OPERATOR(pg_catalog.=) 'p') w ON true;
COMMENT ON VIEW tiered_storage.heat IS
'each relation''s smoothed rates per hour as of now: reads are blocks that missed shared buffers, device reads those of them that the page cache did not have either, writes are changed rows; half-life 1 day, and 14 days in the *_14d columns; less than an hour of observation counts as an hour; placed_at is when it was moved where it is, NULL if it has not been moved; page writes (those of vacuum and rewrites are maintenance) and WAL are counted from the WAL, and NULL where write_source is not ''wal''; standby_reads_per_hour are those of the reads that came from standbys; other reads are those of maintenance, which no query needed; source says how random and sequential were told apart when the relation was last active';

CREATE FUNCTION tiered_storage.access_statistics(
	OUT relation regclass, OUT random_reads float8, OUT sequential_reads float8,
	OUT ignored_reads float8, OUT hits float8, OUT plans bigint, OUT standard_error float8,
	OUT measured_reads float8, OUT device_reads float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_statistics';
COMMENT ON FUNCTION tiered_storage.access_statistics() IS
'what tracked plans have read of each relation of this database since the last sample, in blocks, extrapolated to all plans: random, sequential, by applications that are ignored, and from shared buffers; the number of these plans, and the standard error of random + sequential reads; measured_reads are those of the sequential ones of which the kernel counted what came from a device, device_reads what did, both NULL until it has counted any';

CREATE FUNCTION tiered_storage.access_tracking(
	OUT available boolean, OUT enabled boolean, OUT complete boolean, OUT sample_rate float8,
	OUT relations integer, OUT max_relations integer, OUT dropped_reads float8)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_tracking';
COMMENT ON FUNCTION tiered_storage.access_tracking() IS
'whether the executor''s reads are tracked: available with shared_preload_libraries, enabled by tiered_storage.track_access, complete since the last sample; relations of all databases that are tracked now and that fit, and reads of this database that found no room since then';
